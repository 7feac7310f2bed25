//! The model of what is flown, in the state that is known of it.

use fly_lie::SE3;
use fly_lie::operators::{angular, linear};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, ActuatedDynamicsError, System};
use nalgebra::Vector6;

/// Longest step of the integration, s: well below the time constants of rotors. Quicker actuators are not integrated.
const STEP: f64 = 2e-3;
/// A gap longer than this many steps tells nothing about the system any more; the rest of it is skipped.
const MOST_STEPS: u32 = 500;

/// A system of bodies with what is known of it: where its joints are, how they move, and what its actuators are believed to do.
///
/// What is measured is put into it; what is not is predicted. After construction nothing allocates.
pub struct Craft {
    system: System,
    measurements: Measurements,
    tracked: Option<BodyId>,
    /// Configuration, velocity, then what the actuators do behind their lags.
    motion: SystemState<f64>,
    /// Before the last step of a prediction.
    before: SystemState<f64>,
    started: bool,
    dynamics: ActuatedDynamics,
    integrator: RungeKutta<f64>,
    /// For poses of bodies.
    workspace: Workspace<f64>,
}

/// # Construction
impl Craft {
    /// In its neutral configuration, at rest. Its actuators take the value of the first commands at once.
    ///
    /// # Errors
    /// The system has no dynamics.
    pub fn new(system: &System) -> Result<Self, ActuatedDynamicsError> {
        let model = &system.model;
        let tracked = Measurements::tracked(model);
        let mut motion = SystemState::at_rest(model);
        motion
            .velocity
            .resize(model.dof() + system.inputs.input_dim(), 0.0);
        let mut craft = Self {
            measurements: Measurements::new(model, tracked),
            dynamics: ActuatedDynamics::new(system, STEP)?,
            integrator: RungeKutta::new(model, Scheme::RungeKutta4),
            workspace: Workspace::new(model),
            system: system.clone(),
            tracked,
            before: motion.clone(),
            motion,
            started: false,
        };
        // The first step allocates.
        let start = craft.motion.clone();
        craft.predict(&vec![0.0; system.inputs.input_dim()], 0.0);
        (craft.motion, craft.started) = (start, false);
        Ok(craft)
    }
}

/// # What is known
impl Craft {
    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The names of the groups that tell its state.
    pub fn groups(&self) -> Vec<String> {
        let groups = self.measurements.groups().iter();
        groups.map(|group| group.name.clone()).collect()
    }

    /// Where its joints are, x.
    pub fn configuration(&self) -> &[f64] {
        &self.motion.configuration
    }

    /// How they move, xi.
    pub fn velocity(&self) -> &[f64] {
        &self.motion.velocity[..self.system.model.dof()]
    }

    /// The one body that is free in the world.
    pub fn tracked(&self) -> Option<BodyId> {
        self.tracked
    }

    /// The pose that this body has in the world if it is free there, and else in its joint, in a configuration.
    pub fn pose(&self, body: BodyId, configuration: &[f64]) -> SE3<f64> {
        self.measurements
            .pose(&self.system.model, body, configuration)
    }

    /// Pose in the world and twist of the tracked body.
    pub fn tracked_motion(&self) -> Option<(SE3<f64>, Vector6<f64>)> {
        let body = self.tracked?;
        let range = self.system.model.velocity_range(body);
        let twist = Vector6::from_column_slice(&self.velocity()[range]);
        Some((self.pose(body, self.configuration()), twist))
    }

    /// The poses of all bodies in the world, in their order.
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

    /// Distance (m) and angle (rad) between the state and a reference, of all joints: roots of the sums of squares.
    pub fn errors(&self, reference: &[f64]) -> [f64; 2] {
        let mut squares = [0.0; 2];
        for body in self.system.model.bodies() {
            let to = self.pose(body, reference);
            let is = self.pose(body, self.configuration());
            squares[0] += (is.translation - to.translation).norm_squared();
            squares[1] += (is.rotation.inverse() * to.rotation).log().norm_squared();
        }
        squares.map(f64::sqrt)
    }
}

/// # Names
impl Craft {
    /// What [`errors`](Self::errors) are: of a vehicle of one body those of position and attitude; of a system those of the joints that slide
    /// and of those that turn, if there are any.
    pub fn error_names(&self) -> [Option<&'static str>; 2] {
        let model = &self.system.model;
        if self.tracked.is_some() && model.body_count() == 1 {
            return [Some("position error"), Some("attitude error")];
        }
        let mut moves = [false; 2];
        for body in model.bodies() {
            let Some(joint) = model.joint(body) else {
                continue;
            };
            let own = &self.motion.configuration[model.config_range(body)];
            for direction in joint.subspace(own).columns() {
                moves[0] |= linear(direction).norm() > 0.0;
                moves[1] |= angular(direction).norm() > 0.0;
            }
        }
        [
            moves[0].then_some("sliding error"),
            moves[1].then_some("turning error"),
        ]
    }
}

/// # Measuring and predicting
impl Craft {
    /// Believes the numbers of one group.
    pub fn take(&mut self, group: usize, numbers: &[f64]) {
        let model = &self.system.model;
        let length = self.measurements.groups()[group].range.len();
        let velocity = &mut self.motion.velocity[..model.dof()];
        let configuration = &mut self.motion.configuration;
        self.measurements
            .write(model, group, &numbers[..length], configuration, velocity);
    }

    /// The commands were in force for `duration` s and the state was measured at its end: only the actuators move on,
    /// by the exact solution of their first-order lags.
    pub fn follow(&mut self, commands: &[f64], duration: f64) {
        self.begin(commands);
        let lags = self.system.inputs.time_constants();
        let actual = &mut self.motion.velocity[self.system.model.dof()..];
        settle(actual, commands, lags, duration, f64::INFINITY);
    }

    /// Moves the state on by `duration` s under the commands, by Runge-Kutta steps of the model. Where the model has no motion, because its mass
    /// matrix is singular or its numbers leave all bounds, the bodies stay as they were: nothing better is known of them.
    pub fn predict(&mut self, commands: &[f64], duration: f64) {
        self.begin(commands);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // between 1 and the limit
        let steps = (duration / STEP).ceil().clamp(1.0, f64::from(MOST_STEPS)) as u32;
        let step = (duration / f64::from(steps)).min(STEP);
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
            // Not as a whole: that would allocate.
            (before.configuration).copy_from_slice(&motion.configuration);
            before.velocity.copy_from_slice(&motion.velocity);
            // With its lag an actuator is integrated along with the bodies, but where the scheme would not follow it.
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
        if !self.started {
            let n = self.system.model.dof();
            self.motion.velocity[n..].copy_from_slice(commands);
            self.started = true;
        }
    }
}

/// The exact solution of the first-order lags, of those that are shorter than `slowest` s.
fn settle(actual: &mut [f64], commands: &[f64], lags: &[f64], duration: f64, slowest: f64) {
    for ((actual, command), lag) in actual.iter_mut().zip(commands).zip(lags) {
        // Without lag they do what is commanded, whatever is noted of them.
        if *lag > 0.0 && *lag < slowest {
            *actual = command + (*actual - command) * (-duration / lag).exp();
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

    fn craft() -> Craft {
        let system = System::from_toml(BEAM).expect("a good description");
        Craft::new(&system).expect("dynamics")
    }

    fn actual(craft: &Craft) -> f64 {
        craft.motion.velocity[6]
    }

    #[test]
    fn a_rise_of_thrust_is_predicted_with_its_lag() {
        let mut craft = craft();
        craft.follow(&[9.81], 1.0);
        let (thrust, duration, lag) = (12.0, 0.2, 0.05);
        craft.predict(&[thrust], duration);
        // z'' = (thrust - 9.81) (1 - exp(-t / lag)), integrated twice.
        let decayed = (-duration / lag).exp();
        let velocity = (thrust - 9.81) * (duration - lag * (1.0 - decayed));
        let height = (thrust - 9.81)
            * (duration * duration / 2.0 - lag * duration + lag * lag * (1.0 - decayed));
        let (pose, twist) = craft.tracked_motion().expect("a free body");
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
    fn following_and_predicting_agree_on_the_actuators() {
        let (mut follower, mut predictor) = (craft(), craft());
        follower.follow(&[5.0], 0.1);
        predictor.predict(&[5.0], 0.1);
        for (command, duration) in [(9.0, 0.01), (2.0, 0.03), (7.0, 0.002)] {
            follower.follow(&[command], duration);
            predictor.predict(&[command], duration);
        }
        // Each Runge-Kutta step of h = 2 ms errs by (h / lag)^5 / 120 = 8.5e-10 of a change of up to 7 N.
        assert!((actual(&follower) - actual(&predictor)).abs() < 1e-7);
    }

    #[test]
    fn many_short_predictions_are_one_long_one() {
        let (mut many, mut one) = (craft(), craft());
        for craft in [&mut many, &mut one] {
            craft.take(1, &[0.6, 0.0, 0.8, 0.0]);
            craft.take(2, &[0.3, 0.0, 0.0, 0.0]);
            craft.take(3, &[0.1, -0.2, 1.0, 0.0]);
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
        let mut craft = Craft::new(&System::from_toml(&quick).expect("good")).expect("dynamics");
        craft.follow(&[9.81], 1.0);
        let (thrust, duration) = (12.0, 0.2);
        craft.predict(&[thrust], duration);
        assert!(
            (actual(&craft) - thrust).abs() < 1e-12,
            "{}",
            actual(&craft)
        );
        let (_, twist) = craft.tracked_motion().expect("a free body");
        // But for the lag itself, 0.1 ms.
        let velocity = (thrust - 9.81) * duration;
        assert!(
            (twist[2] - velocity).abs() < 1e-3,
            "{} {velocity}",
            twist[2]
        );
    }

    #[test]
    fn what_has_no_dynamics_stays_as_it_is_known() {
        // A body in three rings of no mass: while the middle one is straight, nothing says how the outer two share a turn.
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
        let mut craft = Craft::new(&System::from_toml(text).expect("good")).expect("dynamics");
        let known = [[0.3, 0.1], [0.0, 0.0], [0.5, 0.2]];
        for (joint, numbers) in known.iter().enumerate() {
            craft.take(joint, numbers);
        }
        craft.follow(&[0.0], 0.0);
        craft.predict(&[1.0], 0.05);
        assert_eq!(craft.configuration(), [0.3, 0.0, 0.5]);
        assert_eq!(craft.velocity(), [0.1, 0.0, 0.2]);
        // The motor goes on nevertheless, and so does the body once the ring is known to be turned.
        let lagging = 1.0 - (-5.0_f64).exp();
        assert!((craft.motion.velocity[3] - lagging).abs() < 1e-4);
        craft.take(1, &[1.0, 0.0]);
        craft.predict(&[1.0], 0.01);
        assert!(craft.configuration()[0] > 0.301 && craft.velocity()[0].is_finite());
    }

    #[test]
    fn a_gap_without_end_ends() {
        let mut craft = craft();
        craft.predict(&[9.81], 1e9);
        assert!(craft.velocity().iter().all(|value| value.is_finite()));
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
        let mut craft = Craft::new(&System::from_toml(text).expect("a crane")).expect("dynamics");
        assert!(craft.error_names().iter().all(Option::is_some));
        let reference = craft.configuration().to_vec();
        let names = [
            "joint.0",
            "joint.1",
            "joint.2.quaternion",
            "joint.2.angular",
        ];
        assert_eq!(craft.groups(), names);
        craft.take(0, &[0.3, 0.0]);
        craft.take(1, &[-0.25, 0.0]);
        let (sin, cos) = 0.2_f64.sin_cos();
        craft.take(2, &[cos, sin, 0.0, 0.0]);
        let [distance, angle] = craft.errors(&reference);
        assert!((distance - 0.25).abs() < 1e-15 && (angle - 0.5).abs() < 1e-15);
        let poses: Vec<_> = craft.poses().collect();
        let trolley = poses[1].translation;
        assert!((trolley.x + 0.25 * 0.3_f64.cos()).abs() < 1e-15);
        assert!((trolley.y + 0.25 * 0.3_f64.sin()).abs() < 1e-15);
    }
}
