//! What becomes of the covariance when measurements have been rejected for so long that the state must be wrong.

use fly_lie::SE23;
use fly_lie::operators::hat3;
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::covariance::{Covariance, inverse};
use super::measurement::{FIELD, HEIGHT, POSE, POSITION, VELOCITY};

/// A covariance with which an innovation passes its gate.
pub(super) struct Wider<const M: usize> {
    /// The least power of two for which it does.
    pub factor: f64,
    pub covariance: Covariance,
    /// The inverse of the innovation covariance.
    pub innovation: SMatrix<f64, M, M>,
}

/// An innovation `z = H [e; β] + n`, the noise n with covariance `N`, that exceeds its gate.
pub(super) struct Innovation<'a, const M: usize> {
    pub z: &'a SVector<f64, M>,
    pub H: &'a SMatrix<f64, M, 15>,
    pub N: &'a SMatrix<f64, M, M>,
    pub gate: f64,
}

/// The errors that a measurement shows directly have jumped, and nothing else: the vehicle was carried, a frame of reference or an offset has changed.
pub(super) struct Jump(Covariance);

impl Jump {
    /// For this [kind](super::Measurement::kind) of measurement, or a position whose height is `known`, at this pose, with the deviations of [`InvariantFilter`](super::InvariantFilter): the present
    /// variance of these errors, as the covariance of a jump independent of the state.
    pub fn of(
        kind: usize,
        known: bool,
        pose: &SE23<f64>,
        gravity: &Vector3<f64>,
        deviations: &[f64; 15],
    ) -> Self {
        let variance = |part: usize| {
            let largest = deviations[3 * part..3 * part + 3].iter();
            let largest = largest.fold(0.0, |most: f64, deviation| most.max(*deviation));
            largest * largest
        };
        let mut all = Covariance::zeros();
        let mut add = |row: usize, block: &Matrix3<f64>| {
            let mut sum = all.view_mut((row, row), (3, 3));
            sum += block;
        };
        let (attitude, velocity, position) = (0, 1, 2);
        let along_z = Vector3::z() * Vector3::z().transpose();
        match kind {
            POSITION => {
                let directions = if known {
                    Matrix3::identity() - along_z
                } else {
                    Matrix3::identity()
                };
                add(6, &(directions * variance(position)));
            }
            VELOCITY => add(3, &(Matrix3::identity() * variance(velocity))),
            HEIGHT => add(6, &(along_z * variance(position))),
            _ => {
                // A field that has changed is taken for another heading: the vertical is known from the accelerometer.
                let directions = match gravity.try_normalize(0.0) {
                    Some(up) if kind == FIELD => up * up.transpose(),
                    _ => Matrix3::identity(),
                };
                // Velocity and position stay: v - v̂ = e_v - hat(v̂) e_R.
                let mut T = SMatrix::<f64, 15, 3>::zeros();
                T.fixed_view_mut::<3, 3>(0, 0).fill_with_identity();
                T.fixed_view_mut::<3, 3>(3, 0)
                    .copy_from(&hat3(&pose.velocity));
                T.fixed_view_mut::<3, 3>(6, 0)
                    .copy_from(&hat3(&pose.position));
                if kind == POSE {
                    add(6, &(Matrix3::identity() * variance(position)));
                }
                all += T * directions * T.transpose() * variance(attitude);
            }
        }
        Self(all)
    }
}

impl<const M: usize> Innovation<'_, M> {
    /// The covariance after the least jump, by powers of two of its present variance, for which the innovation passes.
    pub fn after(&self, P: &Covariance, jump: &Jump) -> Option<Wider<M>> {
        self.least(|factor| P + jump.0 * (factor - 1.0))
    }

    /// The variances of the whole state multiplied, each at most to the square of its `largest` deviation (of attitude, velocity, position and the biases).
    pub fn scaled(&self, P: &Covariance, largest: [f64; 5]) -> Option<Wider<M>> {
        let most: [f64; 5] = core::array::from_fn(|part| {
            let variance = (3 * part..3 * part + 3).fold(0.0, |most: f64, i| most.max(P[(i, i)]));
            (largest[part] * largest[part] / variance).max(1.0)
        });
        self.least(|factor| {
            let scale = SVector::<f64, 15>::from_fn(|i, _| {
                nalgebra::ComplexField::sqrt(factor.min(most[i / 3]))
            });
            Covariance::from_fn(|i, j| P[(i, j)] * scale[i] * scale[j])
        })
    }

    /// For the least power of two up to 2^60.
    fn least(&self, wider: impl Fn(f64) -> Covariance) -> Option<Wider<M>> {
        let mut factor: f64 = 1.0;
        for _ in 0..60 {
            factor *= 2.0;
            let covariance = wider(factor);
            let innovation = inverse(&(self.H * covariance * self.H.transpose() + self.N))?;
            if self.z.dot(&(innovation * self.z)) <= self.gate {
                return Some(Wider {
                    factor,
                    covariance,
                    innovation,
                });
            }
        }
        None
    }
}
