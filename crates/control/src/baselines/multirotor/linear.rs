//! The laws for small errors about level rest, by central differences.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_lie::operators::{angular, join, linear};
use fly_mechanics::State;
use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use super::{Multirotor, MultirotorLaw};
use crate::ReferencePoint;

/// What a law carries from step to step, for small errors `y = [eps; eps']` of n velocities: m integrals s, and the rates d of m velocities `nu = V eps'`
/// from one step to the next. r is a load, as a generalised force.
///
/// ```text
/// du = ... + U [s; d],   s' = S [y; s; d; r]
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMemory {
    /// U, p x 2m.
    pub input: DMatrix<f64>,
    /// S, m x (2n + 2m + n).
    pub rate: DMatrix<f64>,
    /// V, m x n.
    pub velocity: DMatrix<f64>,
}

/// The step of the finite differences: their relative error is its square.
const DIFFERENCE: f64 = 1e-5;
/// n, and m.
const N: usize = 6;
/// The first entry of s, d, and r.
const S: usize = 2 * N;
const D: usize = 3 * N;
const R: usize = 4 * N;

/// # For small errors
impl Multirotor {
    /// `[F_K, F_D]` (p x 6) of `du = -(F_K eps + F_D eps')` about level rest, by finite differences, without integrals and derivatives.
    /// Allocates.
    pub fn linear_gains(&self) -> [DMatrix<f64>; 2] {
        let p = self.mixer.input_dim();
        let of_errors = self.differences(0..S);
        [0, N].map(|first| -of_errors.view((0, first), (p, N)))
    }

    /// Its integrals and derivatives about level rest, if it has any. Allocates.
    pub fn linear_memory(&self) -> Option<LinearMemory> {
        let MultirotorLaw::Cascade(gains) = self.law else {
            return None;
        };
        let used = [
            gains.velocity_integral,
            gains.rate_integral,
            gains.velocity_derivative,
            gains.rate_derivative,
        ];
        if used.iter().all(|gain| *gain == 0.0) {
            return None;
        }
        let p = self.mixer.input_dim();
        let of_all = self.differences(0..R + 3);
        let mut velocity = DMatrix::identity(N, N);
        let about = self.body.inertia().center_of_mass();
        for i in 0..3 {
            let turn = Vector3::ith(i, 1.0).cross(&about);
            velocity.view_mut((0, 3 + i), (3, 1)).copy_from(&turn);
        }
        Some(LinearMemory {
            input: of_all.view((0, S), (p, R - S)).into_owned(),
            // A load is a force alone.
            rate: of_all
                .rows(p, N)
                .clone_owned()
                .resize_horizontally(R + N, 0.0),
            velocity,
        })
    }

    /// The derivative of the resting configuration with respect to a small load, due to leaning: 6 x 6, configuration by
    /// generalised force.
    pub fn linear_lean(&self) -> DMatrix<f64> {
        let weight = self.body.inertia().mass() * self.body.gravity().norm();
        let mut lean = DMatrix::zeros(6, 6);
        lean[(4, 0)] = -weight.recip();
        lean[(3, 1)] = weight.recip();
        lean
    }

    /// The derivatives of u0 (p rows) and of the integrals' rates (6 rows) with respect to these entries of `[eps; eps'; s; d; load]`.
    fn differences(&self, of: std::ops::Range<usize>) -> DMatrix<f64> {
        let mut found = DMatrix::zeros(self.mixer.input_dim() + N, of.len());
        for (i, mut column) in of.zip(found.column_iter_mut()) {
            let [after, before] = [DIFFERENCE, -DIFFERENCE].map(|step| {
                let mut at = [0.0; R + 3];
                at[i] = step;
                self.response(&at)
            });
            column.copy_from(&((after - before) / (2.0 * DIFFERENCE)));
        }
        found
    }

    fn response(&self, at: &[f64; R + 3]) -> DVector<f64> {
        let six = |first: usize| Vector6::from_column_slice(&at[first..first + N]);
        let state = State {
            pose: SE3::exp(&six(0)),
            twist: six(N),
        };
        let [s, d] = [S, D].map(|first| [linear(&six(first)), angular(&six(first))]);
        let (v, w) = (
            self.velocity(&state.pose.rotation, &state.twist),
            angular(&state.twist),
        );
        let mut fresh = Self {
            integral: s,
            last: Some([v - d[0], w - d[1]]),
            ..self.clone()
        };
        let (p, load) = (self.mixer.input_dim(), Vector3::from_column_slice(&at[R..]));
        let mut out = DVector::zeros(p);
        fresh.input(1.0, &state, &ReferencePoint::default(), &load, &mut out);
        let rate = join(&(fresh.integral[0] - s[0]), &(fresh.integral[1] - s[1]));
        let mut response = out.resize_vertically(p + N, 0.0);
        response.rows_mut(p, N).copy_from(&rate);
        response
    }
}
