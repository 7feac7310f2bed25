//! Model-based prediction of a system's state between measurements.

use fly_lie::SE3;
use fly_mechanics::actuators::CommandDelay;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, ActuatedDynamicsError, System};
use nalgebra::{Vector3, Vector6};

mod past;

use past::Past;

/// Longest integration step, s: well below the time constants of rotors. Faster actuator lags are solved exactly instead.
const STEP: f64 = 2e-3;
/// The most steps of one prediction; the rest of a longer gap is skipped.
const MOST_STEPS: u32 = 500;
/// Relative tolerance of the step size, as times are sums and differences of others.
const ROUNDING: f64 = 1e-9;

/// Predicts a system's state between measurements: configuration x, velocity xi, and the actuators' outputs behind their first-order lags.
///
/// [`measure`](Self::measure) sets the measured part, [`predict`](Self::predict) integrates the model under the current commands, and
/// [`advance_actuators`](Self::advance_actuators) advances only the actuators when the rest was measured. Allocates only at construction.
///
/// With a [past](Self::with_past), [`measure_late`](Self::measure_late) and [`revise`](Self::revise) take measurements that have been on their way for long.
///
/// With a transport [delay](Self::with_delay) commands act later than they are sent, and [`look_ahead`](Self::look_ahead) predicts the state in which a command
/// sent now begins to act.
///
/// ```
/// use fly_control::predictor::StatePredictor;
/// use fly_mechanics::System;
///
/// let cart = System::from_toml(r#"
///     name = "cart"
///     [bodies.cart]
///     joint = { type = "prismatic", axis = [1, 0, 0] }
///     mass = 2.0
///     inertia = [1, 1, 1]
///     [[motors]]
///     joint = "cart"
/// "#)?;
/// let mut predictor = StatePredictor::new(&cart)?;
/// predictor.measure(0, &[0.5, 0.0]); // position in m and velocity in m/s of joint 0
/// predictor.predict(&[4.0], 0.1); // 4 N for 0.1 s
/// assert!((predictor.configuration()[0] - 0.51).abs() < 1e-12);
/// assert!((predictor.velocity()[0] - 0.2).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StatePredictor {
    system: System,
    measurements: Measurements,
    tracked: Option<BodyId>,
    /// Configuration; velocity, followed by the actuators' outputs.
    motion: SystemState<f64>,
    /// The actuators' mean outputs over their last advance.
    mean: Vec<f64>,
    decay: Decay,
    /// State before the last integration step.
    before: SystemState<f64>,
    /// Whether a command has been received.
    started: bool,
    /// Whether the first commands count as reached.
    starts_at_commands: bool,
    dynamics: ActuatedDynamics,
    integrator: RungeKutta<f64>,
    /// Scratch for the poses of bodies.
    workspace: Workspace<f64>,
    delay: Option<Delay>,
    past: Option<Past>,
}

/// Commands that act later than they are sent.
struct Delay {
    /// s.
    time: f64,
    on_their_way: CommandDelay,
    /// The commands acting at present.
    acting: Vec<f64>,
    /// The motion after the delay.
    ahead: SystemState<f64>,
}

/// A state of a system, with its actuators' outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedState<'a> {
    /// Configuration x, length `config_dim`.
    pub configuration: &'a [f64],
    /// Velocity xi, length `dof`.
    pub velocity: &'a [f64],
    /// Thrusts, tilts and efforts, in the order of the commands; `None` until a command has been received.
    pub actuators: Option<&'a [f64]>,
}

/// # Construction
impl StatePredictor {
    /// Starts at rest in the neutral configuration, with the actuators [at rest](fly_mechanics::Inputs::at_rest), too.
    ///
    /// # Errors
    /// [`ActuatedDynamicsError`] if the system has no dynamics.
    pub fn new(system: &System) -> Result<Self, ActuatedDynamicsError> {
        let model = &system.model;
        let tracked = Measurements::tracked(model);
        let mut motion = SystemState::at_rest(model);
        motion.velocity.extend(system.inputs.at_rest());
        let mut predictor = Self {
            measurements: Measurements::new(model, tracked),
            dynamics: ActuatedDynamics::new(system, STEP)?,
            integrator: RungeKutta::new(model, Scheme::RungeKutta4),
            workspace: Workspace::new(model),
            system: system.clone(),
            tracked,
            before: motion.clone(),
            mean: vec![0.0; system.inputs.input_dim()],
            decay: Decay::default(),
            motion,
            started: false,
            starts_at_commands: false,
            delay: None,
            past: None,
        };
        // The first step allocates.
        let start = predictor.motion.clone();
        predictor.predict(&vec![0.0; system.inputs.input_dim()], 0.0);
        (predictor.motion, predictor.started) = (start, false);
        Ok(predictor)
    }

    /// Starts the actuators at the first commands: for a recording, which may begin in flight.
    #[must_use]
    pub const fn from_first_commands(mut self) -> Self {
        self.starts_at_commands = true;
        self
    }

    /// Lets [errors](Self::errors) [count whole turns](Measurements::counting_turns) of angles, or not.
    #[must_use]
    pub fn counting_turns(mut self, counts: bool) -> Self {
        self.measurements = self.measurements.counting_turns(counts);
        self
    }

    /// Delays commands by this time, s; no delay unless it is positive and finite.
    #[must_use]
    pub fn with_delay(mut self, time: f64) -> Self {
        let p = self.system.inputs.input_dim();
        self.delay = (time > 0.0 && time.is_finite()).then(|| Delay {
            time,
            on_their_way: CommandDelay::new(vec![time; p]),
            acting: vec![0.0; p],
            ahead: self.motion.clone(),
        });
        self
    }
}

/// # State
impl StatePredictor {
    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Names of the signal groups that measure the state, in the order of [`measure`](Self::measure).
    pub fn groups(&self) -> Vec<String> {
        let groups = self.measurements.groups().iter();
        groups.map(|group| group.name.clone()).collect()
    }

    /// Configuration x, length `config_dim`.
    pub fn configuration(&self) -> &[f64] {
        &self.motion.configuration
    }

    /// Velocity coordinates xi, length `dof`.
    pub fn velocity(&self) -> &[f64] {
        &self.motion.velocity[..self.system.model.dof()]
    }

    /// The actuators' modelled outputs behind their lags: thrusts, tilts and efforts, in the order of the commands.
    pub fn actuators(&self) -> &[f64] {
        &self.motion.velocity[self.system.model.dof()..]
    }

    /// The transport delay of commands, s.
    pub fn delay(&self) -> f64 {
        self.delay.as_ref().map_or(0.0, |delay| delay.time)
    }

    /// The state found by [`look_ahead`](Self::look_ahead); without a delay the present one.
    pub fn ahead(&self) -> PredictedState<'_> {
        let motion = (self.delay.as_ref()).map_or(&self.motion, |delay| &delay.ahead);
        let (velocity, actuators) = motion.velocity.split_at(self.system.model.dof());
        PredictedState {
            configuration: &motion.configuration,
            velocity,
            actuators: self.started.then_some(actuators),
        }
    }

    /// The only body that is free in the world; `None` if there is none, or more than one.
    pub fn tracked(&self) -> Option<BodyId> {
        self.tracked
    }

    /// Pose of a body in a configuration: in the world for a free body, otherwise the displacement of its joint.
    pub fn pose(&self, body: BodyId, configuration: &[f64]) -> SE3<f64> {
        self.measurements
            .pose(&self.system.model, body, configuration)
    }

    /// Pose in the world and twist [v; omega] in the body frame of the [tracked](Self::tracked) body.
    pub fn tracked_motion(&self) -> Option<(SE3<f64>, Vector6<f64>)> {
        self.motion_in(self.configuration(), self.velocity())
    }

    /// The same for the state [ahead](Self::ahead).
    pub fn tracked_motion_ahead(&self) -> Option<(SE3<f64>, Vector6<f64>)> {
        let ahead = self.ahead();
        self.motion_in(ahead.configuration, ahead.velocity)
    }

    fn motion_in(&self, x: &[f64], xi: &[f64]) -> Option<(SE3<f64>, Vector6<f64>)> {
        let body = self.tracked?;
        let range = self.system.model.velocity_range(body);
        Some((self.pose(body, x), Vector6::from_column_slice(&xi[range])))
    }

    /// Poses of all bodies in the world, in the model's order.
    pub fn poses(&mut self) -> impl Iterator<Item = SE3<f64>> + '_ {
        let model = &self.system.model;
        let velocity = &self.motion.velocity[..model.dof()];
        self.workspace
            .update(model, &self.motion.configuration, velocity);
        let workspace = &self.workspace;
        model
            .bodies()
            .map(|body| workspace.pose(BodyId::WORLD, body))
    }

    /// Distance (m) and angle (rad) between the state and a reference configuration: root sums of squares over all joints.
    pub fn errors(&self, reference: &[f64]) -> [f64; 2] {
        self.measurements
            .errors(&self.system.model, self.configuration(), reference)
    }

    /// The error of a body's [pose](Self::pose) from a reference configuration: displacement (m), and the rotation vector (rad,
    /// body frame) from the body to the reference.
    pub fn body_error(
        &self,
        body: BodyId,
        configuration: &[f64],
        reference: &[f64],
    ) -> [Vector3<f64>; 2] {
        self.measurements
            .body_error(&self.system.model, body, configuration, reference)
    }
}

/// # Measurement and prediction
impl StatePredictor {
    /// Sets the part of the state measured by group number `group` of [`groups`](Self::groups). `numbers` may be longer than the
    /// group.
    ///
    /// # Panics
    /// If there is no such group, or `numbers` is shorter than it.
    pub fn measure(&mut self, group: usize, numbers: &[f64]) {
        if let Some(past) = &mut self.past {
            past.measure(group, numbers);
        }
        self.set(group, numbers);
    }

    fn set(&mut self, group: usize, numbers: &[f64]) {
        let model = &self.system.model;
        let length = self.measurements.groups()[group].range.len();
        let velocity = &mut self.motion.velocity[..model.dof()];
        let configuration = &mut self.motion.configuration;
        self.measurements
            .write(model, group, &numbers[..length], configuration, velocity);
    }

    /// Advances only the actuators, by the exact solution of their first-order lags under commands held for `duration` s; the
    /// rest of the state is measured at the end of it. A duration that is negative or NaN counts as 0.
    pub fn advance_actuators(&mut self, commands: &[f64], duration: f64) {
        let duration = duration.max(0.0);
        self.begin(commands);
        let Some(mut delay) = self.delay.take() else {
            self.mean.fill(0.0);
            return self.settle_all(commands, duration, 1.0);
        };
        delay.on_their_way.send(commands);
        self.mean.fill(0.0);
        let mut done = 0.0;
        loop {
            let left = duration - done;
            let time = (delay.on_their_way)
                .in_effect(done, &mut delay.acting)
                .min(left);
            let part = if duration > 0.0 { time / duration } else { 1.0 };
            self.settle_all(&delay.acting, time, part);
            done += time;
            if time >= left {
                break;
            }
        }
        delay.on_their_way.advance(duration);
        self.delay = Some(delay);
    }

    /// Advances all actuators, and adds this fraction of their mean to the mean.
    fn settle_all(&mut self, commands: &[f64], duration: f64, part: f64) {
        let lags = self.system.inputs.time_constants();
        let actual = &mut self.motion.velocity[self.system.model.dof()..];
        for (((mean, actual), command), lag) in
            (self.mean.iter_mut().zip(actual).zip(commands)).zip(lags)
        {
            let Decay { left, missing, .. } = *self.decay.of(*lag, duration);
            *mean += part * (command + (*actual - command) * missing);
            // Without lag they do what is commanded, whatever is noted of them.
            if *lag > 0.0 {
                *actual = command + (*actual - command) * left;
            }
        }
    }

    /// The actuators' modelled mean outputs over their last [advance](Self::advance_actuators), in the order of the commands.
    pub fn mean_actuators(&self) -> &[f64] {
        &self.mean
    }

    /// Integrates the state over `duration` s under these commands, by Runge-Kutta steps of at most 2 ms. If a step is not finite (singular mass
    /// matrix, overflow), the bodies keep their state. Predicts at most 1 s of a gap; a duration that is negative or NaN counts as 0.
    pub fn predict(&mut self, commands: &[f64], duration: f64) {
        let duration = duration.max(0.0);
        self.begin(commands);
        let Some(mut delay) = self.delay.take() else {
            return self.integrate(commands, duration, STEP);
        };
        delay.on_their_way.send(commands);
        self.integrate_delayed(&mut delay, duration.min(f64::from(MOST_STEPS) * STEP));
        delay.on_their_way.advance(duration);
        self.delay = Some(delay);
    }

    /// Predicts the state in which commands sent now begin to act, under the commands in transit and, if given, an unmodelled force (n entries
    /// along the velocity coordinates, N, N m; constant meanwhile). No effect without a delay.
    ///
    /// # Panics
    /// If the number of entries is not n.
    pub fn look_ahead(&mut self, force: Option<&[f64]>) {
        let Some(mut delay) = self.delay.take() else {
            return;
        };
        // Field by field: cloning would allocate.
        (delay.ahead.configuration).copy_from_slice(&self.motion.configuration);
        (delay.ahead.velocity).copy_from_slice(&self.motion.velocity);
        if self.started {
            if let Some(force) = force {
                self.dynamics.external_force_mut().copy_from_slice(force);
            }
            std::mem::swap(&mut delay.ahead, &mut self.motion);
            let time = delay.time;
            self.integrate_delayed(&mut delay, time);
            std::mem::swap(&mut delay.ahead, &mut self.motion);
            self.dynamics.external_force_mut().fill(0.0);
        }
        self.delay = Some(delay);
    }

    /// Integrates the state over `duration` s under the delayed commands.
    fn integrate_delayed(&mut self, delay: &mut Delay, duration: f64) {
        let mut done = 0.0;
        while done < duration {
            let left = duration - done;
            let time = (delay.on_their_way)
                .in_effect(done, &mut delay.acting)
                .min(left);
            self.integrate(&delay.acting, time, STEP);
            if time >= left {
                break;
            }
            done += time;
        }
    }

    /// Integrates the state over `duration` s under the acting commands, by steps of at most `longest` s.
    fn integrate(&mut self, commands: &[f64], duration: f64, longest: f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // between 1 and the limit
        let steps = (duration / longest - ROUNDING)
            .ceil()
            .clamp(1.0, f64::from(MOST_STEPS)) as u32;
        let step = (duration / f64::from(steps)).min(longest);
        let Self {
            system,
            motion,
            before,
            dynamics,
            integrator,
            ..
        } = self;
        let n = system.model.dof();
        let lags = system.inputs.time_constants();
        for _ in 0..steps {
            // Field by field: cloning would allocate.
            (before.configuration).copy_from_slice(&motion.configuration);
            before.velocity.copy_from_slice(&motion.velocity);
            // Integrate slow actuators along with the bodies; for fast ones the step would be too long.
            settle(&mut motion.velocity[n..], commands, lags, step, STEP);
            integrator.step(&system.model, motion, step, |motion, rates| {
                dynamics.rates(system, commands, motion, rates);
                for (rate, lag) in rates[n..].iter_mut().zip(lags) {
                    if *lag < STEP {
                        *rate = 0.0;
                    }
                }
            });
            let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
            if !(finite(&motion.configuration) && finite(&motion.velocity[..n])) {
                (motion.configuration).copy_from_slice(&before.configuration);
                motion.velocity[..n].copy_from_slice(&before.velocity[..n]);
            }
        }
    }

    fn begin(&mut self, commands: &[f64]) {
        if let Some(past) = &mut self.past {
            past.command(commands);
        }
        if !self.started {
            let actual = &mut self.motion.velocity[self.system.model.dof()..];
            if self.starts_at_commands {
                actual.copy_from_slice(commands);
            }
            if let Some(delay) = &mut self.delay {
                delay.on_their_way.start(actual);
            }
            self.started = true;
        }
    }
}

/// What a first-order lag leaves of a change, the last one that was asked for: actuators lag alike, mostly, and steps are equally long.
#[derive(Default)]
struct Decay {
    /// s.
    lag: f64,
    duration: f64,
    /// Of the change, at the end and in the mean.
    left: f64,
    missing: f64,
}

impl Decay {
    fn of(&mut self, lag: f64, duration: f64) -> &Self {
        if self.lag != lag || self.duration != duration {
            let ratio = duration / lag;
            *self = Self {
                lag,
                duration,
                left: (-ratio).exp(),
                missing: if ratio > 0.0 && lag > 0.0 {
                    -(-ratio).exp_m1() / ratio
                } else if lag > 0.0 {
                    // No time has passed.
                    1.0
                } else {
                    0.0
                },
            };
        }
        self
    }
}

/// The exact solution of the first-order lags, of those that are shorter than `slowest` s.
pub(crate) fn settle(
    actual: &mut [f64],
    commands: &[f64],
    lags: &[f64],
    duration: f64,
    slowest: f64,
) {
    let mut decay = Decay::default();
    for ((actual, command), lag) in actual.iter_mut().zip(commands).zip(lags) {
        // Without lag the output is the command.
        if *lag > 0.0 && *lag < slowest {
            let left = decay.of(*lag, duration).left;
            *actual = command + (*actual - command) * left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAM: &str = r#"
        name = "beam"
        [bodies.airframe]
        mass = 1.0
        inertia = [0.01, 0.01, 0.02]
        [[rotors]]
        body = "airframe"
        position = [0.0, 0.0, 0.0]
        axis = [0.0, 0.0, 1.0]
        drag_ratio = 0.0
        thrust = [0.0, 30.0]
        time_constant = 0.05
    "#;

    fn predictor() -> StatePredictor {
        let system = System::from_toml(BEAM).expect("a good description");
        StatePredictor::new(&system).expect("dynamics")
    }

    fn actual(predictor: &StatePredictor) -> f64 {
        predictor.motion.velocity[6]
    }

    /// As stamps out of order give them.
    #[test]
    fn time_that_does_not_pass_changes_nothing() {
        for delay in [0.0, 0.02] {
            let mut predictor = predictor().with_delay(delay);
            predictor.predict(&[5.0], 0.1);
            let before = predictor.motion.clone();
            for duration in [-1.0, f64::NAN, f64::NEG_INFINITY] {
                predictor.advance_actuators(&[20.0], duration);
                predictor.predict(&[20.0], duration);
                // But for the rounding of the lags.
                let is = predictor.motion.velocity.iter().zip(&before.velocity);
                let away = is.fold(0.0, |most: f64, (is, was)| most.max((is - was).abs()));
                assert!(away < 1e-12, "{delay} {duration}: {away}");
                let x = &predictor.motion.configuration;
                assert_eq!(x, &before.configuration, "{delay} {duration}");
            }
        }
    }

    /// The prediction starts like the simulation: rotors at their least thrust, without tilt.
    #[test]
    fn actuators_start_at_rest_unless_the_flight_is_under_way() {
        let tilting = BEAM.replace(
            "thrust = [0.0, 30.0]",
            "thrust = [1.5, 30.0]\ntilt = { axis = [0.0, 1.0, 0.0], limit_deg = 40.0, segments = 8, time_constant = 0.1 }",
        );
        let system = System::from_toml(&tilting).expect("a good description");
        let new = || StatePredictor::new(&system).expect("dynamics");
        let (command, duration) = ([20.0, 0.3], 0.02);
        let mut resting = new();
        resting.advance_actuators(&command, duration);
        let left = [(-duration / 0.05_f64).exp(), (-duration / 0.1_f64).exp()];
        let expected = [20.0 + (1.5 - 20.0) * left[0], 0.3 * (1.0 - left[1])];
        for (found, expected) in resting.actuators().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let mut delayed = new().with_delay(0.05);
        delayed.advance_actuators(&command, duration);
        assert_eq!(delayed.actuators(), [1.5, 0.0]);
        let mut flying = new().from_first_commands();
        flying.advance_actuators(&command, duration);
        assert_eq!(flying.actuators(), command);
    }

    #[test]
    fn a_rise_of_thrust_is_predicted_with_its_lag() {
        let mut predictor = predictor();
        predictor.advance_actuators(&[9.81], 1.0);
        let (thrust, duration, lag) = (12.0, 0.2, 0.05);
        predictor.predict(&[thrust], duration);
        // z'' = (thrust - 9.81) (1 - exp(-t / lag)), integrated twice.
        let decayed = (-duration / lag).exp();
        let velocity = (thrust - 9.81) * (duration - lag * (1.0 - decayed));
        let height = (thrust - 9.81)
            * (duration * duration / 2.0 - lag * duration + lag * lag * (1.0 - decayed));
        let (pose, twist) = predictor.tracked_motion().expect("a free body");
        assert!(
            (twist[2] - velocity).abs() < 1e-7,
            "{} against {velocity}",
            twist[2]
        );
        assert!(
            (pose.translation.z - height).abs() < 1e-8,
            "{} against {height}",
            pose.translation.z
        );
    }

    #[test]
    fn both_ways_of_advancing_agree_on_the_actuators() {
        let (mut follower, mut predictor) = (predictor(), predictor());
        follower.advance_actuators(&[5.0], 0.1);
        predictor.predict(&[5.0], 0.1);
        for (command, duration) in [(9.0, 0.01), (2.0, 0.03), (7.0, 0.002)] {
            follower.advance_actuators(&[command], duration);
            predictor.predict(&[command], duration);
        }
        // Each Runge-Kutta step of h = 2 ms errs by (h / lag)^5 / 120 = 8.5e-10 of a change of up to 7 N.
        assert!((actual(&follower) - actual(&predictor)).abs() < 1e-7);
    }

    #[test]
    fn many_short_predictions_equal_one_long_one() {
        let (mut many, mut one) = (predictor(), predictor());
        for predictor in [&mut many, &mut one] {
            predictor.measure(1, &[0.6, 0.0, 0.8, 0.0]);
            predictor.measure(2, &[0.3, 0.0, 0.0, 0.0]);
            predictor.measure(3, &[0.1, -0.2, 1.0, 0.0]);
        }
        for _ in 0..50 {
            many.predict(&[10.0], 2e-3);
        }
        one.predict(&[10.0], 0.1);
        let pairs = many.motion.velocity.iter().zip(&one.motion.velocity);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        let [distance, angle] = many.errors(one.configuration());
        assert!(distance < 1e-12 && angle < 1e-7, "{distance} {angle}");
    }

    #[test]
    fn actuators_faster_than_a_step_are_predicted() {
        let quick = BEAM.replace("time_constant = 0.05", "time_constant = 1e-4");
        let mut predictor =
            StatePredictor::new(&System::from_toml(&quick).expect("good")).expect("dynamics");
        predictor.advance_actuators(&[9.81], 1.0);
        let (thrust, duration) = (12.0, 0.2);
        predictor.predict(&[thrust], duration);
        assert!(
            (actual(&predictor) - thrust).abs() < 1e-12,
            "{}",
            actual(&predictor)
        );
        let (_, twist) = predictor.tracked_motion().expect("a free body");
        // But for the lag itself, 0.1 ms.
        let velocity = (thrust - 9.81) * duration;
        assert!(
            (twist[2] - velocity).abs() < 1e-3,
            "{} {velocity}",
            twist[2]
        );
    }

    #[test]
    fn bodies_stay_where_they_were_while_the_mass_matrix_is_singular() {
        // A body in three massless rings: while the middle one is straight, the share of a turn among the outer two is
        // undetermined.
        let text = r#"
            name = "gimbal"
            [bodies.outer]
            joint = { type = "revolute", axis = [0, 0, 1] }
            [bodies.middle]
            parent = "outer"
            joint = { type = "revolute", axis = [0, 1, 0] }
            [bodies.top]
            parent = "middle"
            joint = { type = "revolute", axis = [0, 0, 1] }
            mass = 1.0
            inertia = [0.1, 0.1, 0.1]
            [[motors]]
            joint = "outer"
            time_constant = 0.01
        "#;
        let mut predictor =
            StatePredictor::new(&System::from_toml(text).expect("good")).expect("dynamics");
        let known = [[0.3, 0.1], [0.0, 0.0], [0.5, 0.2]];
        for (joint, numbers) in known.iter().enumerate() {
            predictor.measure(joint, numbers);
        }
        predictor.advance_actuators(&[0.0], 0.0);
        predictor.predict(&[1.0], 0.05);
        assert_eq!(predictor.configuration(), [0.3, 0.0, 0.5]);
        assert_eq!(predictor.velocity(), [0.1, 0.0, 0.2]);
        // The motor still advances, and so does the body once a measurement turns the ring.
        let lagging = 1.0 - (-5.0_f64).exp();
        assert!((predictor.motion.velocity[3] - lagging).abs() < 1e-4);
        predictor.measure(1, &[1.0, 0.0]);
        predictor.predict(&[1.0], 0.01);
        assert!(predictor.configuration()[0] > 0.301 && predictor.velocity()[0].is_finite());
    }

    #[test]
    fn an_endless_gap_is_cut_off() {
        let mut predictor = predictor();
        predictor.predict(&[9.81], 1e9);
        assert!(predictor.velocity().iter().all(|value| value.is_finite()));
    }

    #[test]
    fn the_errors_of_all_joints_count() {
        let text = r#"
            name = "crane"
            [bodies.boom]
            joint = { type = "revolute", axis = [0, 0, 1] }
            mass = 1.0
            inertia = [1, 1, 1]
            [bodies.trolley]
            parent = "boom"
            joint = { type = "prismatic", axis = [1, 0, 0] }
            mass = 1.0
            inertia = [1, 1, 1]
            [bodies.load]
            parent = "trolley"
            joint = "spherical"
            center_of_mass = [0, 0, -1]
            mass = 1.0
            inertia = [1, 1, 1]
        "#;
        let mut predictor =
            StatePredictor::new(&System::from_toml(text).expect("a crane")).expect("dynamics");
        let reference = predictor.configuration().to_vec();
        let names = [
            "joint.0",
            "joint.1",
            "joint.2.quaternion",
            "joint.2.angular",
        ];
        assert_eq!(predictor.groups(), names);
        predictor.measure(0, &[0.3, 0.0]);
        predictor.measure(1, &[-0.25, 0.0]);
        let (sin, cos) = 0.2_f64.sin_cos();
        predictor.measure(2, &[cos, sin, 0.0, 0.0]);
        let [distance, angle] = predictor.errors(&reference);
        assert!((distance - 0.25).abs() < 1e-15 && (angle - 0.5).abs() < 1e-15);
        let poses: Vec<_> = predictor.poses().collect();
        let trolley = poses[1].translation;
        assert!((trolley.x + 0.25 * 0.3_f64.cos()).abs() < 1e-15);
        assert!((trolley.y + 0.25 * 0.3_f64.sin()).abs() < 1e-15);
    }
}
