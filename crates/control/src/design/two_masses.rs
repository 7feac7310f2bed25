//! Two masses on a line with a spring between them and a force on the first, Konz 5.8.1.

use fly_mechanics::SecondMoment;
use nalgebra::{Matrix3, Matrix4, Vector3};

use crate::pair::Pair;
use crate::poles::{PoleError, stable};

/// Desired mass (kg), damping (N s/m) and stiffness (N/m) of the pairs (world, first), (world, second) and (first, second).
///
/// Individual values may be negative; the sums (5.139) are positive definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoMassesEnergies {
    /// `[m, d, k]` between world and first body.
    pub first: [f64; 3],
    /// `[m, d, k]` between world and second body.
    pub second: [f64; 3],
    /// `[m, d, k]` between the bodies.
    pub between: [f64; 3],
}

impl TwoMassesEnergies {
    /// The matched parameters (5.144), (5.147) for the polynomial `s^4 + p3 s^3 + p2 s^2 + p1 s + p0` of `[p0, p1, p2, p3]` and w, the stiffness
    /// of the spring over the *second* mass, 1/s^2 (the text below (5.142) prints the first). Only ratios affect the motion: the desired mass
    /// between the bodies is 1 kg or, if `w p3 < p1`, -1 kg.
    ///
    /// # Errors
    /// [`PoleError::Unstable`] if a root has a real part that is not negative; [`PoleError::Uncoupled`] if `w p3 = p1`.
    pub fn place(ratio: f64, polynomial: [f64; 4]) -> Result<Self, PoleError> {
        let [p0, p1, _, p3] = polynomial;
        let stiff = stable(polynomial)?;
        let q = ratio * p3 - p1;
        let m12 = q.signum();
        let m01 = m12 * p1 / q;
        let m02 = m12 * (stiff - ratio * p1) / (ratio * q);
        if !(m01.is_finite() && m02.is_finite()) {
            return Err(PoleError::Uncoupled);
        }
        let (k01, d01) = (m01 * p0 * p3 / p1, m01 * p3);
        let (across, along) = (m12 / m01, -m12 / (m01 + m12));
        let products = m01 * m02 + m01 * m12 + m02 * m12;
        Ok(Self {
            first: [m01, d01, k01],
            second: [m02, along * d01, along * k01],
            between: [m12, across * d01, across * k01 + products / m01 * ratio],
        })
    }

    /// The desired energies of the pairs (world, first), (world, second), (first, second), for bodies that do not
    /// rotate.
    pub fn pairs(&self) -> [Pair; 3] {
        [self.first, self.second, self.between].map(|[m, d, k]| {
            let weight = |weight: f64| -> Matrix4<f64> {
                *SecondMoment::from_center(weight, Vector3::zeros(), Matrix3::zeros()).matrix4()
            };
            Pair::new(weight(k), weight(d), weight(m))
        })
    }
}
