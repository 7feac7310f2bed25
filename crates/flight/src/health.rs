//! Actuator health, as bounds of the inputs.

use std::fmt;
use std::ops::Range;

use fly_control::allocation::InputBounds;
use fly_control::analysis::Attainable;
use fly_hal::{Description, Frame};
use fly_mechanics::{Inputs, System};

use super::binding::{GroupBinding, bind};

/// The source of an actuator's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The backend reports it.
    Reported,
    /// The controller detects it from the motion.
    Detected,
}

impl Source {
    /// Its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "told",
            Self::Detected => "motion",
        }
    }
}

/// How a vehicle hovers while spinning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spin {
    /// Rate about the spin axis, in either sense, rad/s.
    pub rate: f64,
    /// Angle of the spin axis from body z, rad.
    pub tilt: f64,
    /// Radius of the circle on which the centre of mass moves, m.
    pub radius: f64,
}

impl fmt::Display for Spin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, tilt, radius } = self;
        let (rate, tilt, radius) = (rate.abs(), tilt.to_degrees(), 1e3 * radius);
        write!(
            f,
            "hovers while spinning at {rate:.1} rad/s about an axis tilted by {tilt:.0} degrees in the body, on a circle of {radius:.0} mm"
        )
    }
}

/// A change in the known health of the actuators, or in how the vehicle copes with it.
#[derive(Debug, Clone, PartialEq)]
pub enum ActuatorEvent {
    /// An actuator's health has changed.
    Changed {
        /// Name of the actuator's command.
        command: String,
        /// Health: 1 works fully, 0 gives nothing.
        left: f64,
        /// The source of the health.
        source: Source,
        /// What is attainable with the remaining actuators; `None` for a system.
        attainable: Option<Attainable>,
        /// The spinning hover with the remaining actuators, if the vehicle needs it.
        spin: Option<Spin>,
        /// Why the law cannot compensate, if it cannot.
        refused: Option<String>,
    },
    /// A vehicle whose yaw is given up has begun to turn as fast as a prepared spin, and now hovers in that spin.
    Spins(Spin),
    /// A disturbance as large as a failed actuator acts, and no failure explains it.
    Unexplained,
}

impl fmt::Display for ActuatorEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Changed {
            command,
            left,
            source,
            attainable,
            spin,
            refused,
        } = self
        else {
            return match self {
                Self::Spins(spin) => write!(f, "the vehicle turns ever faster: {spin}"),
                _ => f.write_str(
                    "a disturbance as large as an actuator failure acts, but no failure of one or two actuators explains it",
                ),
            };
        };
        if *source == Source::Detected {
            f.write_str("actuator failure detected from the motion: ")?;
        }
        let left = 100.0 * left;
        write!(
            f,
            "the actuator of `{command}` has {left:.0} % of its effectiveness left"
        )?;
        if let Some(spin) = spin {
            write!(
                f,
                "; the remaining actuators cannot hover at rest: {spin}; yaw is given up"
            )?;
        }
        match attainable.filter(|_| spin.is_none()) {
            Some(Attainable::Spinning) => f.write_str(
                "; the remaining actuators cannot hover without a torque about the vertical: yaw is given up",
            )?,
            Some(Attainable::Nothing) => f.write_str(
                "; the remaining actuators cannot hover level: height, position or attitude is lost",
            )?,
            Some(Attainable::Hover) | None => {}
        }
        match refused {
            Some(error) => write!(f, "; the law cannot compensate: {error}"),
            None => Ok(()),
        }
    }
}

/// While a health keeps changing, bounds and law follow in steps of this size.
const STEP: f64 = 0.05;

/// Actuator health as the backend reports it (`actuator.{i}.health`) or the controller finds it, and the resulting
/// bounds of the inputs.
#[derive(Debug, Clone)]
pub struct Health {
    /// Commands with a health group, and where frames carry it.
    told: Vec<(usize, GroupBinding)>,
    /// Health of each command: 1 works fully, 0 gives nothing.
    left: Vec<f64>,
    /// The health last reported for each command.
    last: Vec<f64>,
    /// The reported health that the bounds hold for. A detected failure holds until the report changes from it.
    acted: Vec<f64>,
    bounds: InputBounds,
}

impl Health {
    /// Binds the actuators of this system; `None` if the backend reports no health and the controller does not detect
    /// failures (`detects`).
    pub fn bind(description: &Description, system: &System, detects: bool) -> Option<Self> {
        let count = system.inputs.input_dim();
        let told: Vec<_> = (0..count)
            .filter_map(|i| Some((i, bind(description, &format!("actuator.{i}"))?)))
            .collect();
        (detects || !told.is_empty()).then(|| Self {
            told,
            left: vec![1.0; count],
            last: vec![1.0; count],
            acted: vec![1.0; count],
            bounds: InputBounds::free(count),
        })
    }

    /// Reads the health from a frame, which commands account for at once, and calls `changed` with each command for which bounds and law have to change:
    /// in steps of 0.05 while the health changes in every frame. Invalid or non-finite values change nothing.
    pub fn read(&mut self, frame: &Frame, inputs: &Inputs, mut changed: impl FnMut(usize)) {
        let mut has_changed = false;
        for (command, binding) in &self.told {
            let (command, health) = (*command, frame.values[binding.values[0]]);
            if !(frame.groups[binding.group].valid && health.is_finite()) {
                continue;
            }
            let health = health.clamp(0.0, 1.0);
            let before = std::mem::replace(&mut self.last[command], health);
            if self.left[command].total_cmp(&before).is_eq() {
                self.left[command] = health;
            }
            let moved = (health - self.acted[command]).abs();
            let rests = health.total_cmp(&before).is_eq() || health <= 0.0 || health >= 1.0;
            if moved >= STEP || (moved > 0.0 && rests) {
                (self.acted[command], self.left[command]) = (health, health);
                has_changed = true;
                changed(command);
            }
        }
        if has_changed {
            self.bound(inputs);
        }
    }

    /// Marks an actuator, by its number, as giving nothing. Returns its first command, unless it was marked already.
    pub fn mark_failed(&mut self, actuator: usize, inputs: &Inputs) -> Option<usize> {
        let range = inputs.actuator_ranges().nth(actuator)?;
        let first = range.start;
        if self.left[first] <= 0.0 {
            return None;
        }
        self.left[range].fill(0.0);
        self.bound(inputs);
        Some(first)
    }

    /// The commands of the only actuator that is weak, if no other one is or has failed.
    pub fn weak(&self, inputs: &Inputs) -> Option<Range<usize>> {
        let impaired =
            |range: &Range<usize>| self.left[range.clone()].iter().any(|left| *left < 1.0);
        let mut impaired = inputs.actuator_ranges().filter(impaired);
        let weak = impaired.next().filter(|_| impaired.next().is_none())?;
        (self.left[weak.start] > 0.0).then_some(weak)
    }

    /// Bounds the inputs of an actuator as if it had failed.
    pub fn give_up(&mut self, actuator: Range<usize>) {
        for input in actuator {
            self.fix_at_zero(input);
        }
    }

    /// Health of a command's actuator, 0 to 1.
    pub fn of(&self, command: usize) -> f64 {
        self.left[command]
    }

    /// The bounds of the inputs.
    pub fn bounds(&self) -> &InputBounds {
        &self.bounds
    }

    /// Replaces desired outputs of the actuators by the commands that produce them: a weak actuator needs a larger command, within its limits.
    pub fn command(&self, outputs: &mut [f64], inputs: &Inputs) {
        for range in inputs.actuator_ranges() {
            let part = self.part(range.start);
            outputs[range.start] /= part;
        }
        let commands = outputs.iter_mut().zip(inputs.command_limits());
        for ((command, [low, high]), health) in commands.zip(&self.left) {
            if *health < 1.0 && command.is_finite() {
                *command = command.clamp(*low, *high);
            }
        }
    }

    /// Writes the outputs that the actuators produce from these commands.
    pub fn outputs(&self, commands: &[f64], inputs: &Inputs, outputs: &mut [f64]) {
        outputs.copy_from_slice(commands);
        for range in inputs.actuator_ranges() {
            outputs[range.start] *= self.part(range.start);
        }
        // A failed one is told its least command, and gives nothing.
        for (output, health) in outputs.iter_mut().zip(&self.left) {
            if *health <= 0.0 {
                *output = 0.0;
            }
        }
    }

    /// The fraction of its thrust or effort that an actuator still produces; 1 for a failed one, whose inputs are fixed at zero.
    fn part(&self, first: usize) -> f64 {
        Some(self.left[first])
            .filter(|health| *health > 0.0)
            .unwrap_or(1.0)
    }

    /// Sets the bounds: the inputs of a failed actuator are zero; the limits of a weak one shrink with its health (all thrusts of a rotor,
    /// both efforts of a motor). A failed tilt is zero.
    fn bound(&mut self, inputs: &Inputs) {
        self.bounds = InputBounds::free(self.left.len());
        for range in inputs.actuator_ranges() {
            let (first, health) = (range.start, self.left[range.start]);
            if health <= 0.0 {
                range.for_each(|input| self.fix_at_zero(input));
                continue;
            }
            if range.len() == 2 && self.left[first + 1] <= 0.0 {
                // Without its tilt a rotor has no side force, its first input.
                self.fix_at_zero(first);
            }
            self.bounds.effectiveness[range].fill(health);
        }
    }

    fn fix_at_zero(&mut self, input: usize) {
        let bounds = &mut self.bounds;
        (bounds.lower[input], bounds.upper[input]) = (0.0, 0.0);
        bounds.effectiveness[input] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use fly_hal::GroupStatus;

    use super::*;

    /// One rotor, whose health is reported in every frame.
    #[test]
    fn a_health_that_goes_on_changing_changes_the_law_in_steps() {
        let system = System::from_toml(
            r#"
            name = "rotor"
            [bodies.frame]
            joint = { type = "free" }
            mass = 1.0
            inertia = [0.01, 0.01, 0.01]
            [[rotors]]
            body = "frame"
            position = [0, 0, 0]
            axis = [0, 0, 1]
            thrust = [0.0, 20.0]
            "#,
        )
        .expect("a rotor");
        let description = Description::new().with_group("actuator.0");
        let description = description.expect("canonical");
        let mut health = Health::bind(&description, &system, false).expect("it is reported");
        let mut frame = description.frame();
        frame.groups[0] = GroupStatus {
            stamp: 0,
            valid: true,
        };
        let mut read = |health: &mut Health, value: f64| {
            frame.values[0] = value;
            let mut changes = 0;
            health.read(&frame, &system.inputs, |_| changes += 1);
            changes
        };
        assert_eq!(read(&mut health, 1.0), 0);
        // From 1 in 1000 steps: one change for each of eleven twentieths, and one for where it rests.
        let end = 1.0 - 0.58;
        let ramp = (1..=1000).map(|k| 1.0 - 0.58 * f64::from(k) / 1000.0);
        let mut changes = 0;
        for value in ramp {
            changes += read(&mut health, value);
            // Commands account for all of it at once.
            let mut commands = [4.0];
            health.command(&mut commands, &system.inputs);
            assert!((commands[0] - 4.0 / value).abs() < 1e-12);
        }
        assert_eq!(changes, 11);
        assert_eq!([read(&mut health, end), read(&mut health, end)], [1, 0]);
        assert_eq!(health.bounds().effectiveness, [end]);
        // Both ends count at once, and noise below a step does not bring back what the motion has shown to fail.
        assert_eq!([read(&mut health, 0.0), read(&mut health, 1.0)], [1, 1]);
        assert_eq!(health.mark_failed(0, &system.inputs), Some(0));
        assert_eq!([read(&mut health, 1.0), read(&mut health, 0.99)], [0, 0]);
        assert_eq!(health.of(0), 0.0);
        assert_eq!(read(&mut health, 0.6), 1);
        assert_eq!(health.of(0), 0.6);
    }
}
