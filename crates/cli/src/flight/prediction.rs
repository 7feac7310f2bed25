//! The state that the model expects while nobody measures it.

use fly_mechanics::integrate::Integrator;
use fly_mechanics::{State, Vehicle};

/// Longest step of the integration, s: well below the time constants of rotors.
const STEP: f64 = 2e-3;
/// A gap longer than this many steps tells nothing about the vehicle any more; the rest of it is skipped.
const MOST_STEPS: u32 = 500;

/// Follows the actuators through their lags, and the body when it is asked to.
#[derive(Debug, Clone)]
pub struct Predictor {
    vehicle: Vehicle,
    /// Thrusts and tilts that the model believes to act, after the lag.
    actual: Vec<f64>,
    integrator: Integrator<f64>,
    started: bool,
}

impl Predictor {
    /// A predictor for this vehicle; its actuators take the value of the first commands at once.
    pub fn new(vehicle: &Vehicle) -> Self {
        let commands = vehicle.actuators.command_names().len();
        Self {
            vehicle: vehicle.clone(),
            actual: vec![0.0; commands],
            integrator: Integrator::new(commands),
            started: false,
        }
    }

    /// The commands were in force for `duration` s and the state was measured at its end: only the actuators move on,
    /// by the exact solution of their first-order lags.
    pub fn follow(&mut self, commands: &[f64], duration: f64) {
        self.begin(commands);
        let lags = self.vehicle.actuators.time_constants();
        for ((actual, command), lag) in self.actual.iter_mut().zip(commands).zip(lags) {
            let remaining = if *lag > 0.0 {
                (-duration / lag).exp()
            } else {
                0.0
            };
            *actual = command + (*actual - command) * remaining;
        }
    }

    /// The state after the commands were in force for `duration` s, by Runge-Kutta steps of the model.
    pub fn predict(&mut self, state: &State<f64>, commands: &[f64], duration: f64) -> State<f64> {
        self.begin(commands);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // between 1 and the limit
        let steps = (duration / STEP).ceil().clamp(1.0, f64::from(MOST_STEPS)) as u32;
        let step = (duration / f64::from(steps)).min(STEP);
        let mut state = *state;
        let Self {
            vehicle,
            actual,
            integrator,
            ..
        } = self;
        let lags = vehicle.actuators.time_constants();
        for _ in 0..steps {
            // Without a lag the command acts as it is; with one it is integrated along with the body.
            for ((actual, command), lag) in actual.iter_mut().zip(commands).zip(lags) {
                if *lag <= 0.0 {
                    *actual = *command;
                }
            }
            integrator.step(&mut state, actual, step, |state, actual, rates| {
                for (((rate, actual), command), lag) in
                    rates.iter_mut().zip(actual).zip(commands).zip(lags)
                {
                    *rate = if *lag > 0.0 {
                        (command - actual) / lag
                    } else {
                        0.0
                    };
                }
                vehicle
                    .body
                    .acceleration(state, &vehicle.actuators.wrench(actual))
            });
        }
        state
    }

    fn begin(&mut self, commands: &[f64]) {
        if !self.started {
            self.actual.copy_from_slice(commands);
            self.started = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use fly_lie::{SE3, SO3};
    use nalgebra::Vector3;

    use super::*;

    const VEHICLE: &str = r#"
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

    fn predictor() -> Predictor {
        Predictor::new(&Vehicle::from_toml(VEHICLE).expect("a good description"))
    }

    #[test]
    fn a_rise_of_thrust_is_predicted_with_its_lag() {
        let mut predictor = predictor();
        predictor.follow(&[9.81], 1.0);
        let (thrust, duration, lag) = (12.0, 0.2, 0.05);
        let state = predictor.predict(&State::at_rest(SE3::identity()), &[thrust], duration);
        // z'' = (thrust - 9.81) (1 - exp(-t / lag)), integrated twice.
        let decayed = (-duration / lag).exp();
        let velocity = (thrust - 9.81) * (duration - lag * (1.0 - decayed));
        let height = (thrust - 9.81)
            * (duration * duration / 2.0 - lag * duration + lag * lag * (1.0 - decayed));
        assert!(
            (state.twist[2] - velocity).abs() < 1e-7,
            "{} against {velocity}",
            state.twist[2]
        );
        assert!(
            (state.pose.translation.z - height).abs() < 1e-8,
            "{} against {height}",
            state.pose.translation.z
        );
    }

    #[test]
    fn following_and_predicting_agree_on_the_actuators() {
        let (mut follower, mut predictor) = (predictor(), predictor());
        follower.follow(&[5.0], 0.1);
        predictor.predict(&State::at_rest(SE3::identity()), &[5.0], 0.1);
        for (command, duration) in [(9.0, 0.01), (2.0, 0.03), (7.0, 0.002)] {
            follower.follow(&[command], duration);
            predictor.predict(&State::at_rest(SE3::identity()), &[command], duration);
        }
        // Each Runge-Kutta step of h = 2 ms errs by (h / lag)^5 / 120 = 8.5e-10 of a change of up to 7 N.
        assert!((follower.actual[0] - predictor.actual[0]).abs() < 1e-7);
    }

    #[test]
    fn many_short_predictions_are_one_long_one() {
        let spin = State {
            twist: [0.3, 0.0, 0.0, 0.1, -0.2, 1.0].into(),
            pose: SE3::new(SO3::exp(&Vector3::new(0.1, 0.2, 0.3)), Vector3::zeros()),
        };
        let (mut many, mut one) = (predictor(), predictor());
        let mut state = spin;
        for _ in 0..50 {
            state = many.predict(&state, &[10.0], 2e-3);
        }
        let long = one.predict(&spin, &[10.0], 0.1);
        assert!((state.pose.translation - long.pose.translation).norm() < 1e-12);
        assert!((state.twist - long.twist).norm() < 1e-12);
    }

    #[test]
    fn a_gap_without_end_ends() {
        let state = predictor().predict(&State::at_rest(SE3::identity()), &[9.81], 1e9);
        assert!(state.twist.iter().all(|value| value.is_finite()));
    }
}
