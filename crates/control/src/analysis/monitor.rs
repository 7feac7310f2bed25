//! Whether the total energy of the errors falls as the theory says.
#![allow(non_snake_case)]

use fly_mechanics::{FreeBody, State, Vehicle};
use nalgebra::Matrix6;

use crate::law::InputMatrix;
use crate::template::Approach;
use crate::{Controller, ReferencePoint};

/// Compares in flight how fast the total energy W of the errors changes with what the theory expects.
///
/// ```text
/// dW/dt = -2 R    while  Mbar xidot + bbar = 0                                            Konz (5.23), (5.55)
/// ```
///
/// holds for the body-based approach of one body and for the energy-based one with either transport map, whatever the reference;
/// for the particle-based one only while the reference rests. It needs an input that realises the template: where limits are
/// active or the inputs cannot give the force (5.78) the theory gives no rate, and the monitor says so instead.
///
/// Expected and measured rates differ by what is held between two steps (of the order of the time between them), and by
/// everything that the model does not know: wind, a wrong mass, a lag, a broken rotor.
///
/// ```
/// # use fly_control::{Controller, ControllerSettings, ReferencePoint};
/// # use fly_control::analysis::{Balance, LyapunovMonitor};
/// # use fly_lie::SE3;
/// # use fly_mechanics::{State, Vehicle, integrate};
/// # use nalgebra::Vector6;
/// # let rotor = |x, y, drag| {
/// #     format!("[[rotors]]\nbody = 'frame'\nposition = [{x}, {y}, 0]\naxis = [0, 0, 1]\ndrag_ratio = {drag}\nthrust = [0.2, 7]\n")
/// # };
/// # let rotors = [rotor(0.18, 0.0, -0.016), rotor(0.0, 0.18, 0.016), rotor(-0.18, 0.0, -0.016), rotor(0.0, -0.18, 0.016)];
/// # let body = "name = 'quadcopter'\n[bodies.frame]\nmass = 0.9\ninertia = [0.006, 0.006, 0.011]\n";
/// # let vehicle = Vehicle::from_toml(&(body.to_owned() + &rotors.concat()))?;
/// # let settings: ControllerSettings = toml::from_str(
/// #     "allocation = 'active_set'
/// #      poles = { horizontal = [-5, -5, -5, -5], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }",
/// # )?;
/// # let mut controller = Controller::new(&vehicle, &settings)?;
/// let mut monitor = LyapunovMonitor::new(&vehicle, &controller);
/// let goal = ReferencePoint::at_rest(SE3::identity());
/// // A quadcopter too low: the inputs can give the force upwards.
/// let mut state = State::at_rest(SE3::exp(&Vector6::new(0.0, 0.0, -0.3, 0.0, 0.0, 0.0)));
/// for step in 0..100 {
///     let time = f64::from(step) * 1e-3;
///     controller.step(&state, &goal);
///     if let Balance::Rate { expected, measured } = monitor.observe(time, &state, &goal, &controller) {
///         assert!((measured - expected).abs() < 0.02, "{measured} {expected}");
///     }
///     let wrench = vehicle.actuators.input_matrix() * &controller.last().input;
///     state = integrate::rk4(&state, 1e-3, |state| vehicle.body.acceleration(state, &wrench));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LyapunovMonitor {
    body: FreeBody<f64>,
    inputs: InputMatrix,
    /// Mbar M^-1.
    ratio: Matrix6<f64>,
    last: Option<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    total: f64,
    dissipation: f64,
    silence: Option<Silence>,
}

/// What the monitor says about the time since the step before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Balance {
    /// The theory gives a rate.
    Rate {
        /// `-2 R`, the mean of both ends, W.
        expected: f64,
        /// The change of W by time, W.
        measured: f64,
    },
    /// It does not.
    Silent(Silence),
}

/// Why there is no expected rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Silence {
    /// There is no step before, or no time has passed since.
    First,
    /// Limits were active.
    Saturated,
    /// The inputs cannot give the force that the template needs: its norm, N and N m.
    Matching(f64),
    /// The particle-based approach while the reference moves.
    MovingReference,
}

/// A force below this part of those that it is the difference of is rounding.
const ROUNDING: f64 = 1e-9;

impl LyapunovMonitor {
    /// For a controller and the vehicle that it was built for.
    pub fn new(vehicle: &Vehicle, controller: &Controller) -> Self {
        Self {
            body: vehicle.body,
            inputs: vehicle.actuators.input_matrix().clone(),
            ratio: controller.template().mass_matrix() * vehicle.body.inverse_mass_matrix(),
            last: None,
        }
    }

    /// Takes the step that the controller has just made for this state and reference at this time (s), and judges the time since
    /// the step before. No allocation.
    pub fn observe(
        &mut self,
        time: f64,
        state: &State<f64>,
        reference: &ReferencePoint,
        controller: &Controller,
    ) -> Balance {
        let energies = controller.last().energies;
        let now = Sample {
            time,
            total: energies.total,
            dissipation: energies.dissipation,
            silence: self.silence(state, reference, controller),
        };
        let Some(before) = self.last.replace(now) else {
            return Balance::Silent(Silence::First);
        };
        let passed = now.time - before.time;
        // What was applied since is the input of the step before; the reference may have begun to move.
        let moves = now.silence.filter(|s| *s == Silence::MovingReference);
        match before.silence.or(moves) {
            _ if passed.is_nan() || passed <= 0.0 => Balance::Silent(Silence::First),
            Some(silence) => Balance::Silent(silence),
            None => Balance::Rate {
                expected: -(before.dissipation + now.dissipation),
                measured: (now.total - before.total) / passed,
            },
        }
    }

    fn silence(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
        controller: &Controller,
    ) -> Option<Silence> {
        let step = controller.last();
        let rests = reference.twist.amax() == 0.0 && reference.acceleration.amax() == 0.0;
        if controller.template().approach() == Approach::Particle && !rests {
            return Some(Silence::MovingReference);
        }
        if step.saturated() {
            return Some(Silence::Saturated);
        }
        // Mbar xidot + bbar with the acceleration of the model.
        let bias = self.ratio * self.body.bias(state);
        let wanted = controller.forces(state, reference).bias();
        let given = self.ratio * (&self.inputs * &step.input);
        let left = (given - bias + wanted).norm();
        (left > ROUNDING * (given.norm() + bias.norm() + wanted.norm()))
            .then_some(Silence::Matching(left))
    }
}
