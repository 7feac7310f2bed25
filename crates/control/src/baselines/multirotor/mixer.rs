//! From a wrench to inputs.
#![allow(non_snake_case)]

use fly_mechanics::Polytope;
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector6};

/// Least-squares inputs for a wrench, with the desaturation of open-source autopilots when they exceed their limits.
#[derive(Clone, Debug)]
pub(super) struct Mixer {
    /// B^+, p x 6.
    inverse: DMatrix<f64>,
    limits: Option<Polytope>,
    /// Inputs for roll and pitch, for thrust, and for yaw.
    parts: [DVector<f64>; 3],
    is_limited: bool,
}

/// Singular values below this fraction of the largest count as zero.
const SINGULAR: f64 = 1e-9;

impl Mixer {
    pub fn new(B: &Matrix6xX<f64>, limits: Option<&Polytope>) -> Self {
        let p = B.ncols();
        let dense = DMatrix::from_column_slice(6, p, B.as_slice());
        let largest = dense.singular_values().max();
        let inverse = dense.pseudo_inverse(SINGULAR * largest);
        Self {
            // A negative tolerance is the only error, and this one is positive.
            inverse: inverse.unwrap_or_else(|_| DMatrix::zeros(p, 6)),
            limits: limits.cloned(),
            parts: [(); 3].map(|()| DVector::zeros(p)),
            is_limited: false,
        }
    }

    /// p.
    pub fn input_dim(&self) -> usize {
        self.inverse.nrows()
    }

    /// Returns whether the last desaturation reduced the wrench.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Writes the inputs.
    pub fn mix(&self, wrench: &Vector6<f64>, out: &mut DVector<f64>) {
        out.gemv(1.0, &self.inverse, wrench, 0.0);
    }

    /// Writes the inputs within the limits: scales yaw down first, then shifts the thrust by the least amount that preserves roll and pitch, then scales these
    /// down.
    pub fn desaturated(&mut self, wrench: &Vector6<f64>, out: &mut DVector<f64>) {
        let part = |rows: &[usize]| {
            let mut part = Vector6::zeros();
            for &row in rows {
                part[row] = wrench[row];
            }
            part
        };
        for (to, rows) in self.parts.iter_mut().zip([&[3, 4][..], &[0, 1, 2], &[5]]) {
            to.gemv(1.0, &self.inverse, &part(rows), 0.0);
        }
        let [turn, thrust, yaw] = &self.parts;
        out.copy_from(turn);
        *out += thrust;
        *out += yaw;
        self.is_limited = false;
        let Some(Polytope { matrix, bound }) = &self.limits else {
            return;
        };
        // The slack of each limit is linear in the factors.
        let row = |i: usize, of: &DVector<f64>| -> f64 {
            matrix
                .row(i)
                .iter()
                .zip(of.iter())
                .map(|(w, u)| w * u)
                .sum()
        };
        let rows = 0..matrix.nrows();
        if rows.clone().all(|i| row(i, out) <= bound[i]) {
            return;
        }
        self.is_limited = true;
        // The range of thrust factors for which roll and pitch, scaled by `scale`, are within the limits.
        let thrusts = |scale: f64| {
            let mut range = [f64::NEG_INFINITY, f64::INFINITY];
            for i in rows.clone() {
                let (slope, left) = (row(i, thrust), bound[i] - scale * row(i, turn));
                let at = left / slope;
                if slope > 0.0 {
                    range[1] = range[1].min(at);
                } else if slope < 0.0 {
                    range[0] = range[0].max(at);
                } else if left < 0.0 {
                    return None;
                }
            }
            (range[0] <= range[1]).then_some(range)
        };
        let mut scale = 1.0;
        let mut range = thrusts(scale);
        // Twenty bisections: to a millionth.
        let mut step = 0.5;
        if range.is_none() {
            scale = 0.0;
            range = thrusts(scale);
            for _ in 0..20 {
                if let Some(wider) = thrusts(scale + step) {
                    (scale, range) = (scale + step, Some(wider));
                }
                step *= 0.5;
            }
        }
        let factor = range.map_or(1.0, |[low, high]| 1.0_f64.max(low).min(high));
        out.copy_from(turn);
        *out *= scale;
        out.axpy(factor, thrust, 1.0);
        let of_yaw = rows.fold(1.0, |most: f64, i| {
            let (slope, left) = (row(i, yaw), bound[i] - row(i, out));
            if slope > 0.0 {
                most.min((left / slope).max(0.0))
            } else {
                most
            }
        });
        out.axpy(of_yaw, yaw, 1.0);
    }
}
