//! One output: between the value of its actuator and an autopilot's control or pulse width.

use serde::Deserialize;

/// Most outputs that an autopilot has: those of ArduPilot's larger frames.
pub const MOST_OUTPUTS: usize = 32;

/// One output as it is written. What is left out follows from the vehicle.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSettings {
    /// The command that it drives: `rotor.0.thrust`, `rotor.0.tilt`, `motor.0.effort`.
    pub command: String,
    /// The autopilot's output, from 1.
    pub channel: usize,
    /// Whether its direction is reversed.
    #[serde(default)]
    pub reversed: bool,
    /// Value at full output, N, rad, N m. Default: the limit of the command.
    pub full: Option<f64>,
    /// c of the curve `full ((1 - c) u + c u^2)`, 0 to 1. Default: the autopilot's for thrusts, 0 for others.
    pub curve: Option<f64>,
    /// Pulse width at the lowest control, µs. Default 1000.
    pub min: Option<f64>,
    /// Pulse width at full output, µs. Default 2000.
    pub max: Option<f64>,
    /// Pulse width at u = 0 of an output that drives in two directions, µs. Default: half way.
    pub trim: Option<f64>,
}

/// Why a channel map is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutputError(pub String);

/// One output, and how it drives its actuator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// Channel, from 0.
    pub(super) channel: usize,
    /// Whether u is -1 to 1.
    two_sided: bool,
    reversed: bool,
    full: f64,
    curve: f64,
    /// µs: lowest, u = 0, full.
    pulse: [f64; 3],
    limits: [f64; 2],
}
/// # A single actuator
///
/// A *part* is a fraction of full output in the model's convention: 0 to 1, or -1 to 1 for an actuator that drives in
/// two directions. Parts beyond the limits of the command are clamped to them.
impl Output {
    /// The autopilot's output, from 1.
    pub fn channel(&self) -> usize {
        self.channel + 1
    }

    /// Whether it drives in two directions, as a tilt does.
    pub fn is_two_sided(&self) -> bool {
        self.two_sided
    }

    /// Whether it drives in the opposite direction.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Smallest and largest value of the command: N, rad, N m.
    pub fn limits(&self) -> [f64; 2] {
        self.limits
    }

    /// The part clamped to the limits.
    pub fn within_limits(&self, part: f64) -> f64 {
        // Every actuator may be at rest.
        let [low, high] = self.limits;
        let part = if part.is_finite() { part } else { 0.0 };
        let part = part.clamp(self.part(low.min(0.0)), self.part(high.max(0.0)));
        part.clamp(self.lowest(), 1.0)
    }

    /// The autopilot's control of a part: 0 to 1, or -1 to 1.
    pub fn control_of_part(&self, part: f64) -> f64 {
        self.turned(self.within_limits(part))
    }

    /// Pulse width of a part, µs.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 500 to 2500
    pub fn pulse_of_part(&self, part: f64) -> u16 {
        self.pulse_of_control(self.control_of_part(part)).round() as u16
    }

    /// Value of a part, from the curve: N, rad, N m.
    pub fn value_of_part(&self, part: f64) -> f64 {
        self.on_curve(self.within_limits(part))
    }
}

impl Output {
    pub(super) fn new(
        settings: &OutputSettings,
        limits: [f64; 2],
        usual: f64,
    ) -> Result<Self, OutputError> {
        let name = &settings.command;
        let fail = |what: String| Err(OutputError(format!("the output of `{name}`: {what}")));
        let is_thrust = name.ends_with(".thrust");
        let curve = settings
            .curve
            .unwrap_or(if is_thrust { usual } else { 0.0 });
        if !(0.0..=1.0).contains(&curve) {
            return fail(format!("`curve` is {curve}, expected 0 to 1"));
        }
        let most = limits[0].abs().max(limits[1].abs());
        let full = settings.full.unwrap_or(most);
        if !(full > 0.0 && full.is_finite()) {
            return fail(match settings.full {
                Some(full) => format!("`full` is {full}, expected more than 0"),
                None => "it has no limit: set `full` to its value at full output".to_owned(),
            });
        }
        let two_sided = !is_thrust || limits[0] < 0.0;
        let (min, max) = (
            settings.min.unwrap_or(1000.0),
            settings.max.unwrap_or(2000.0),
        );
        let middle = if two_sided {
            f64::midpoint(min, max)
        } else {
            min
        };
        let trim = settings.trim.unwrap_or(middle);
        let in_range = [min, trim, max]
            .iter()
            .all(|p| (500.0..=2500.0).contains(p));
        if !in_range || min >= max || trim < min || trim >= max || (two_sided && trim <= min) {
            return fail(format!(
                "`min`, `trim`, `max` are {min}, {trim}, {max} µs, expected rising numbers from 500 to 2500"
            ));
        }
        Ok(Self {
            channel: settings.channel - 1,
            two_sided,
            reversed: settings.reversed,
            full,
            curve,
            pulse: [min, if two_sided { trim } else { min }, max],
            limits,
        })
    }

    fn turned(&self, u: f64) -> f64 {
        match (self.reversed, self.two_sided) {
            (false, _) => u,
            (true, true) => -u,
            (true, false) => 1.0 - u,
        }
    }

    fn lowest(&self) -> f64 {
        if self.two_sided { -1.0 } else { 0.0 }
    }

    pub(super) fn value(&self, control: f64) -> f64 {
        let u = if control.is_finite() {
            self.turned(control.clamp(self.lowest(), 1.0))
        } else {
            // At rest, whatever its direction.
            0.0
        };
        self.on_curve(u).clamp(self.limits[0], self.limits[1])
    }

    /// Value of a u before reversal, -1 to 1.
    fn on_curve(&self, u: f64) -> f64 {
        let c = self.curve;
        self.full * u * (1.0 - c + c * u.abs())
    }

    pub(super) fn control(&self, value: f64) -> f64 {
        self.turned(self.part(value).clamp(self.lowest(), 1.0))
    }

    /// The u of a value before reversal, -1 to 1.
    fn part(&self, value: f64) -> f64 {
        let wanted = (value.abs() / self.full).min(1.0);
        command_of(self.curve, wanted) * value.signum()
    }

    pub(super) fn control_of_pulse(&self, pulse: f64) -> f64 {
        let [min, zero, max] = self.pulse;
        if pulse >= zero {
            (pulse - zero) / (max - zero)
        } else if self.two_sided {
            (pulse - zero) / (zero - min)
        } else {
            0.0
        }
    }

    pub(super) fn pulse_of_control(&self, control: f64) -> f64 {
        let [min, zero, max] = self.pulse;
        let pulse = if control >= 0.0 {
            zero + control * (max - zero)
        } else {
            zero + control * (zero - min)
        };
        pulse.clamp(min, max)
    }
}

/// The command u from 0 on with `f u² + (1 - f) u = part`; 0 unless the part is positive.
pub(crate) fn command_of(f: f64, part: f64) -> f64 {
    if part > 0.0 {
        // In a form that holds at f = 0.
        let linear = 1.0 - f;
        2.0 * part / (linear + (linear * linear + 4.0 * f * part).sqrt())
    } else {
        0.0
    }
}
