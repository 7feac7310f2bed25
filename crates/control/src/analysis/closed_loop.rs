//! The closed loop for small errors: plant, law and the lag of the actuators.
#![allow(non_snake_case)]

use fly_lie::operators::{hat3, vee_matrix6};
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, Vehicle};
use nalgebra::{Complex, DMatrix, DVector, Matrix6, Vector3, Vector6};

use crate::Controller;
use crate::eigenvalues::eigenvalues;
use crate::linearisation::Linearisation;
use crate::template::Pair;

/// A vehicle of one body under its controller, limits aside, for small errors about a reference at rest.
///
/// With the pose `G_R exp(delta)` and `x = [delta; xi]`, at rest exactly to first order:
///
/// ```text
/// delta' = xi,   M xi' = B u - b_delta delta - D xi,   u = u_R + K x              the model and the law, Konz (5.73), (5.86b)
/// K: bbar = K0 delta + D0 xi                                                      the same for all approaches, Konz (5.71)
/// T_i v_i' + v_i = (K x)_i                                                        actuators with a first-order lag T_i
/// ```
///
/// The lag acts on commands: thrust and tilt of each rotor, as rotors and servos have it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoop {
    /// d xi' / d delta with the inputs held.
    gravity: Matrix6<f64>,
    /// d xi' / d xi with the inputs held.
    drag: Matrix6<f64>,
    /// `M^-1 B` from commands to accelerations, 6 x p.
    effect: DMatrix<f64>,
    /// From `[delta; xi]` to commands, p x 12.
    gain: DMatrix<f64>,
    /// u_R.
    input: DVector<f64>,
}

/// Why a closed loop cannot be analysed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// The vehicle cannot rest there.
    #[error(
        "the vehicle cannot rest at this attitude: {0:.3} N or N m of its weight stay unbalanced; expected an attitude that its inputs \
         can hold"
    )]
    Equilibrium(f64),
    /// Not stable even with immediate actuators.
    #[error(
        "the closed loop is not stable even without a lag: expected all poles to the left of the imaginary axis, found one with \
         real part {0:.3} 1/s"
    )]
    Unstable(f64),
    /// The eigenvalues could not be computed.
    #[error(
        "the poles of the closed loop could not be computed: expected finite parameters within a few powers of ten of each other"
    )]
    Poles,
}

/// A weight that the inputs miss by more than this part of it is out of their reach, not rounded.
const REACH: f64 = 1e-6;

/// # Construction
impl ClosedLoop {
    /// About rest at an attitude that the vehicle can hold: upright, whatever the heading, for an underactuated one.
    ///
    /// # Errors
    /// [`AnalysisError::Equilibrium`].
    pub fn new(
        vehicle: &Vehicle,
        controller: &Controller,
        attitude: &SO3<f64>,
    ) -> Result<Self, AnalysisError> {
        let body = &vehicle.body;
        let B = vehicle.rotors.input_matrix();
        let p = B.ncols();
        let rest = body.bias(&State::at_rest(SE3::new(*attitude, Vector3::zeros())));
        let mut input = DVector::zeros(p);
        // At rest on the reference bbar = 0.
        let mut law = controller.law().clone();
        law.unconstrained(&rest, &Vector6::zeros(), &mut input);
        let missing = (B * &input - rest).norm();
        if missing.is_nan() || missing > REACH * rest.norm() {
            return Err(AnalysisError::Equilibrium(missing));
        }

        let turn = turn_of_weight(vehicle, attitude);
        let damping = body.damping_matrix();
        let template = desired(controller.template().pair());
        let to_commands = commands_of_inputs(vehicle, &input);
        let mut gain = DMatrix::zeros(p, 12);
        let mut du = DVector::zeros(p);
        for column in 0..12 {
            let (db, db_bar) = if column < 6 {
                (turn.column(column).into_owned(), &template.stiffness)
            } else {
                let resistance = damping.column(column - 6);
                (resistance.into_owned(), &template.damping)
            };
            let db_bar = Vector6::from_iterator(db_bar.column(column % 6).iter().copied());
            law.unconstrained(&db, &db_bar, &mut du);
            gain.set_column(column, &(&to_commands * &du));
        }
        // The map to commands is orthogonal.
        let effect = body.inverse_mass_matrix() * B;
        let effect = DMatrix::from_fn(6, p, |i, j| effect[(i, j)]) * to_commands.transpose();
        Ok(Self {
            gravity: -body.inverse_mass_matrix() * turn,
            drag: -body.inverse_mass_matrix() * damping,
            effect,
            gain,
            input,
        })
    }

    /// u_R, p numbers: the input that holds the vehicle there.
    pub fn input(&self) -> &DVector<f64> {
        &self.input
    }
}

/// # Poles
impl ClosedLoop {
    /// The 12 poles with immediate actuators, 1/s.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with_lags(&vec![0.0; self.input.len()])
    }

    /// The poles with these time constants (s, >= 0) of the commands, in their order: 12 and one for each that is not zero.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`], also for a wrong number of time constants.
    pub fn poles_with_lags(&self, lags: &[f64]) -> Result<Vec<Complex<f64>>, AnalysisError> {
        if lags.len() != self.input.len() {
            return Err(AnalysisError::Poles);
        }
        let [held, rate] = self.with_commands(lags);
        eigenvalues(&(held + rate)).ok_or(AnalysisError::Poles)
    }

    /// The matrices of `[delta; xi; v]`, v the commands with a lag: what does not depend on the lags, and what is inverse to them.
    pub(super) fn with_commands(&self, lags: &[f64]) -> [DMatrix<f64>; 2] {
        let slow: Vec<usize> = (0..lags.len()).filter(|i| lags[*i] > 0.0).collect();
        let size = 12 + slow.len();
        let [mut held, mut rate] = [(); 2].map(|()| DMatrix::zeros(size, size));
        held.view_mut((0, 6), (6, 6)).fill_with_identity();
        held.view_mut((6, 0), (6, 6)).copy_from(&self.gravity);
        held.view_mut((6, 6), (6, 6)).copy_from(&self.drag);
        for i in (0..lags.len()).filter(|i| !slow.contains(i)) {
            let immediate = self.effect.column(i) * self.gain.row(i);
            let mut block = held.view_mut((6, 0), (6, 12));
            block += immediate;
        }
        for (k, &i) in slow.iter().enumerate() {
            held.view_mut((6, 12 + k), (6, 1))
                .copy_from(&self.effect.column(i));
            rate.view_mut((12 + k, 0), (1, 12))
                .copy_from(&(self.gain.row(i) / lags[i]));
            rate[(12 + k, 12 + k)] = -lags[i].recip();
        }
        [held, rate]
    }
}

/// The template of one pair about a reference at rest: `M0 delta'' + D0 delta' + K0 delta = 0`, the same for all approaches,
/// Konz (5.71).
pub fn desired(pair: &Pair) -> Linearisation {
    let dense = |X: &Matrix6<f64>| DMatrix::from_fn(6, 6, |i, j| X[(i, j)]);
    Linearisation {
        inertia: dense(pair.inertia_matrix()),
        damping: dense(pair.damping_matrix()),
        stiffness: dense(&vee_matrix6(pair.stiffness())),
    }
}

/// d b / d delta at rest: how the weight, seen from the body, changes as the body turns. `R^T a_G` becomes `(I - wed(delta))
/// R^T a_G`.
fn turn_of_weight(vehicle: &Vehicle, attitude: &SO3<f64>) -> Matrix6<f64> {
    let body = &vehicle.body;
    let fall = hat3(&attitude.inverse().act(body.gravity())) * -body.inertia().mass();
    let mut turn = Matrix6::zeros();
    turn.fixed_view_mut::<3, 3>(0, 3).copy_from(&fall);
    turn.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&(hat3(&body.inertia().center_of_mass()) * fall));
    turn
}

/// From small changes of the input to those of the commands, p x p: the change of thrust and that of the tilt times the
/// thrust, which makes the map orthogonal and leaves every lag what it is.
fn commands_of_inputs(vehicle: &Vehicle, input: &DVector<f64>) -> DMatrix<f64> {
    let mut map = DMatrix::identity(input.len(), input.len());
    for range in vehicle.rotors.rotor_ranges().filter(|r| r.len() == 2) {
        let i = range.start;
        let (sin, cos) = input[i].atan2(input[i + 1]).sin_cos();
        let block = [(0, 0, sin), (0, 1, cos), (1, 0, cos), (1, 1, -sin)];
        for (row, column, entry) in block {
            map[(i + row, i + column)] = entry;
        }
    }
    map
}
