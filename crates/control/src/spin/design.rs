//! The feedback about a steady spin.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, join, linear};
use fly_mechanics::{State, Vehicle};
use nalgebra::{
    Complex, DMatrix, DVector, Matrix3x2, Matrix6xX, SVector, Vector2, Vector3, Vector6,
};

use super::SteadySpin;
use super::steady::upright;
use crate::allocation::InputBounds;
use crate::design::riccati::riccati;
use crate::lead::Lead;
use crate::linear::eigenvalues;

/// The feedback about a [`SteadySpin`] with the least cost for small errors.
///
/// Errors are expressed in the body: the position and velocity error of the fixed point on the axis, the tilt of the axis from the vertical, the transverse
/// rates, and the thrusts. In these errors the linearisation is time-invariant although the body rotates:
///
/// ```text
/// e = [R^T (p - p_R); R^T (p' - p'_R); T^T n; T^T omega; u - u_s],   e' = A(s) e + B(s) (u_commanded - u_s),   s = omega . axis
/// ```
///
/// `T` spans the directions orthogonal to the axis, `n = R^T e_z`, and A contains the lags of the rotors. The angle about the vertical is not an error, and
/// neither is the spin rate s: A, the gains and the thrusts `u_s`, which keep the axis in place and carry the weight, are scheduled with s, from a third of the
/// steady rate on, so that a vehicle that has just lost a rotor is controlled as well as one in full spin. The spin rate's own dynamics are checked: under
/// feedback it must return to the steady rate.
#[derive(Clone, Debug)]
pub struct SpinDesign {
    spin: SteadySpin,
    /// The lags of all rotors, for the law that stops the spin; the fraction is 0.
    lead: Lead,
    /// The remaining inputs.
    pub(super) active: Vec<usize>,
    /// Their lags, s.
    pub(super) lags: Vec<f64>,
    pub(super) T: Matrix3x2<f64>,
    /// `u_s = held[0] + held[1] s + held[2] s^2`.
    pub(super) held: [DVector<f64>; 3],
    /// At equal steps of the spin rate, m x (10 + m).
    pub(super) gains: Vec<DMatrix<f64>>,
    poles: Vec<Complex<f64>>,
}

/// The number of errors: position, velocity, axis and rates.
pub(super) const ERRORS: usize = 10;
/// Gains are scheduled between these fractions of the steady rate.
pub(super) const SPAN: [f64; 2] = [0.3, 1.3];
/// The number of spin rates at which gains are computed.
const GAINS: usize = 11;
/// Errors of equal cost (Bryson's rule): m, m/s, 1, rad/s.
const ACCEPTABLE: [f64; 4] = [0.5, 1.0, 0.3, 3.0];
/// The change of thrust of the same cost, relative to the load on each rotor.
const THRUST: f64 = 1.0 / 3.0;
/// The least rotor lag assumed, s: about the effect of holding a command for some milliseconds.
const LEAST_LAG: f64 = 2e-3;
/// The step of the finite differences.
const STEP: f64 = 1e-5;

impl SpinDesign {
    /// For the first of the [steady spins](SteadySpin::find) within these bounds that can be stabilised; `None` if there is none. Allocates, and takes some
    /// milliseconds.
    ///
    /// # Panics
    /// If there is not one bound per input.
    pub fn find(vehicle: &Vehicle, bounds: &InputBounds) -> Option<Self> {
        Self::all(vehicle, bounds).next()
    }

    /// For each of the [steady spins](SteadySpin::find) within these bounds that can be stabilised, the slowest first,
    /// designed as it is asked for. Allocates, and takes some milliseconds.
    ///
    /// # Panics
    /// If there is not one bound per input.
    pub fn all(vehicle: &Vehicle, bounds: &InputBounds) -> impl Iterator<Item = Self> {
        let spins = SteadySpin::find(vehicle, bounds).into_iter();
        spins.filter_map(|spin| Self::new(vehicle, spin))
    }

    /// For this steady spin of a vehicle with fixed rotors. `None` if the remaining rotors cannot stabilise it, or if its rate does not return by itself.
    /// Allocates.
    ///
    /// # Panics
    /// If the spin does not belong to this vehicle.
    pub fn new(vehicle: &Vehicle, spin: SteadySpin) -> Option<Self> {
        let active: Vec<usize> = (0..spin.input.len())
            .filter(|j| spin.input[*j] != 0.0)
            .collect();
        let lags: Vec<f64> = (active.iter())
            .map(|j| vehicle.rotors.time_constants()[*j].max(LEAST_LAG))
            .collect();
        let lead = Lead::of_rotors(&vehicle.rotors, 0.0).ok()?;
        let motion = SpinErrorDynamics::new(vehicle, &spin, &active);
        let held = motion.held(&spin);
        let mut design = Self {
            lead,
            T: motion.T,
            active,
            lags,
            held,
            gains: Vec::with_capacity(GAINS),
            poles: Vec::new(),
            spin,
        };
        for k in 0..GAINS {
            let part = SPAN[0] + (SPAN[1] - SPAN[0]) * k as f64 / (GAINS - 1) as f64;
            let gains = design.gain(&motion, part * design.spin.rate)?;
            design.gains.push(gains);
        }
        design.poles = design.closed_loop(&motion)?;
        let is_stable = design.poles.iter().all(|pole| pole.re < 0.0);
        is_stable.then_some(design)
    }

    /// The spin.
    pub fn spin(&self) -> &SteadySpin {
        &self.spin
    }

    /// The longest lag of the rotors that it uses, s.
    pub fn longest_lag(&self) -> f64 {
        self.lags.iter().copied().fold(0.0, f64::max)
    }

    /// The lags of all rotors, none of it compensated.
    pub(crate) fn lead(&self) -> &Lead {
        &self.lead
    }

    /// The poles of the closed loop about the steady spin, 1/s, including those of the spin rate and of the lags.
    pub fn poles(&self) -> &[Complex<f64>] {
        &self.poles
    }

    /// `u_s` at this spin rate.
    fn held_at(&self, s: f64) -> DVector<f64> {
        let [held, first, second] = &self.held;
        held + first * s + second * (s * s)
    }

    /// The gains at this spin rate.
    fn gain(&self, motion: &SpinErrorDynamics, s: f64) -> Option<DMatrix<f64>> {
        let m = self.active.len();
        let (E, _) = motion.linear(s, &self.held_at(s));
        let mut A = DMatrix::zeros(ERRORS + m, ERRORS + m);
        let mut B = DMatrix::zeros(ERRORS + m, m);
        A.view_mut((0, 0), (ERRORS, ERRORS))
            .copy_from(&E.columns(0, ERRORS));
        A.view_mut((0, ERRORS), (ERRORS, m))
            .copy_from(&E.columns(ERRORS + 1, m));
        for (k, lag) in self.lags.iter().enumerate() {
            (A[(ERRORS + k, ERRORS + k)], B[(ERRORS + k, k)]) = (-1.0 / lag, 1.0 / lag);
        }
        let [position, velocity, axis, rates] = ACCEPTABLE.map(|error| 1.0 / (error * error));
        let Q = DMatrix::from_diagonal(&DVector::from_fn(ERRORS + m, |i, _| match i {
            0..3 => position,
            3..6 => velocity,
            6..8 => axis,
            8..10 => rates,
            _ => 0.0,
        }));
        let thrust = THRUST * motion.weight / m as f64;
        let G = &B * B.transpose() * (thrust * thrust);
        let X = riccati(&A, &G, &Q)?;
        Some(B.tr_mul(&X) * (thrust * thrust))
    }

    /// The poles of errors, spin rate and thrusts about the steady spin.
    fn closed_loop(&self, motion: &SpinErrorDynamics) -> Option<Vec<Complex<f64>>> {
        let (m, s) = (self.active.len(), self.spin.rate);
        let (E, turn) = motion.linear(s, &self.held_at(s));
        let n = ERRORS + 1 + m;
        let mut A = DMatrix::zeros(n, n);
        A.view_mut((0, 0), (ERRORS, n)).copy_from(&E);
        A.row_mut(ERRORS).copy_from(&turn);
        // u_commanded = u_s - K [e; u - u_s], with u_s at the present rate.
        let K = self.gain(motion, s)?;
        let by_rate = &self.held[1] + &self.held[2] * (2.0 * s);
        for k in 0..m {
            let row = ERRORS + 1 + k;
            for i in 0..ERRORS {
                A[(row, i)] = -K[(k, i)];
            }
            A[(row, ERRORS)] = by_rate[k];
            for j in 0..m {
                A[(row, ERRORS + 1 + j)] -= K[(k, ERRORS + j)];
                A[(row, ERRORS)] += K[(k, ERRORS + j)] * by_rate[j];
            }
            A[(row, row)] -= 1.0;
            A.row_mut(row).scale_mut(1.0 / self.lags[k]);
        }
        eigenvalues(&A)
    }
}

/// The dynamics of the errors of a spin.
struct SpinErrorDynamics<'a> {
    vehicle: &'a Vehicle,
    B: Matrix6xX<f64>,
    axis: Vector3<f64>,
    pivot: Vector3<f64>,
    T: Matrix3x2<f64>,
    weight: f64,
}

impl<'a> SpinErrorDynamics<'a> {
    fn new(vehicle: &'a Vehicle, spin: &SteadySpin, active: &[usize]) -> Self {
        let columns: Vec<Vector6<f64>> = (active.iter())
            .map(|j| vehicle.rotors.input_matrix().column(*j).into_owned())
            .collect();
        let axis = spin.axis;
        let first = axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize();
        Self {
            vehicle,
            B: Matrix6xX::from_columns(&columns),
            axis,
            pivot: spin.pivot(),
            T: Matrix3x2::from_columns(&[first, axis.cross(&first)]),
            weight: vehicle.body.inertia().mass() * vehicle.body.gravity().norm(),
        }
    }

    /// The rates of the errors and of the spin rate s, for these errors, spin rate and thrusts.
    fn rates(
        &self,
        e: &SVector<f64, ERRORS>,
        s: f64,
        u: &DVector<f64>,
    ) -> (SVector<f64, ERRORS>, f64) {
        let part = |at: usize| Vector3::new(e[at], e[at + 1], e[at + 2]);
        let (position, velocity) = (part(0), part(3));
        let n = (self.axis + self.T * Vector2::new(e[6], e[7])).normalize();
        let omega = self.axis * s + self.T * Vector2::new(e[8], e[9]);
        let state = State {
            pose: upright(&n),
            twist: join(&(velocity - omega.cross(&self.pivot)), &omega),
        };
        let rate = self.vehicle.body.acceleration(&state, &(&self.B * u));
        let (v_dot, omega_dot) = (linear(&rate), angular(&rate));
        let mut out = SVector::<f64, ERRORS>::zeros();
        out.fixed_rows_mut::<3>(0)
            .copy_from(&(velocity - omega.cross(&position)));
        out.fixed_rows_mut::<3>(3)
            .copy_from(&(v_dot + omega_dot.cross(&self.pivot)));
        out.fixed_rows_mut::<2>(6)
            .copy_from(&(self.T.tr_mul(&n.cross(&omega))));
        out.fixed_rows_mut::<2>(8)
            .copy_from(&(self.T.tr_mul(&omega_dot)));
        (out, self.axis.dot(&omega_dot))
    }

    /// The derivatives of both with respect to errors, spin rate and thrusts, at zero error.
    fn linear(&self, s: f64, u: &DVector<f64>) -> (DMatrix<f64>, nalgebra::RowDVector<f64>) {
        let n = ERRORS + 1 + u.len();
        let (mut E, mut turn) = (DMatrix::zeros(ERRORS, n), nalgebra::RowDVector::zeros(n));
        for i in 0..n {
            let at = |step: f64| {
                let (mut e, mut s, mut u) = (SVector::zeros(), s, u.clone());
                match i {
                    0..ERRORS => e[i] += step,
                    ERRORS => s += step,
                    _ => u[i - ERRORS - 1] += step,
                }
                self.rates(&e, s, &u)
            };
            let ((plus, turn_plus), (minus, turn_minus)) = (at(STEP), at(-STEP));
            E.set_column(i, &((plus - minus) / (2.0 * STEP)));
            turn[i] = (turn_plus - turn_minus) / (2.0 * STEP);
        }
        (E, turn)
    }

    /// The thrusts that keep the axis in place and carry the weight, as coefficients in powers of s: the load to balance is quadratic in s. If several exist,
    /// those nearest to the thrusts of the steady spin.
    fn held(&self, spin: &SteadySpin) -> [DVector<f64>; 3] {
        let m = self.B.ncols();
        let none = DVector::zeros(m);
        // Acceleration along the axis, angular accelerations orthogonal to it.
        let wanted = |s: f64, u: &DVector<f64>| {
            let (rates, _) = self.rates(&SVector::zeros(), s, u);
            let along = self.axis.dot(&rates.fixed_rows::<3>(3));
            DVector::from_column_slice(&[along, rates[8], rates[9]])
        };
        let rest = wanted(0.0, &none);
        let effect = DMatrix::from_fn(3, m, |i, j| {
            let mut unit = none.clone();
            unit[j] = 1.0;
            wanted(0.0, &unit)[i] - rest[i]
        });
        let steady: DVector<f64> =
            DVector::from_iterator(m, spin.input.iter().copied().filter(|u| *u != 0.0));
        let Ok(inverse) = effect.clone().pseudo_inverse(1e-9) else {
            return [steady, none.clone(), none];
        };
        let s = spin.rate;
        let (ahead, back) = (wanted(s, &none), wanted(-s, &none));
        let first = (&ahead - &back) / (2.0 * s);
        let second = (&ahead + &back - &rest * 2.0) / (2.0 * s * s);
        // Components without effect stay those of the steady spin; unattainable ones are not demanded.
        let kept = &steady - &inverse * (&effect * &steady);
        [
            kept - &inverse * &rest,
            -(&inverse * &first),
            -(&inverse * &second),
        ]
    }
}
