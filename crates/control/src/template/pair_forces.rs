//! The contribution of one pair of frames to the desired closed loop.

use nalgebra::{RealField, Vector6};

use crate::Energies;

/// The terms of one pair in its own coordinates: `Mbar z' + cbar + f_D + f_K = 0`, Konz (5.72). Wrenches `[N; N m]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PairForces<T: RealField + Copy = f64> {
    /// cbar.
    pub inertial: Vector6<T>,
    /// f_D.
    pub damping: Vector6<T>,
    /// f_K.
    pub stiffness: Vector6<T>,
    /// The gradient of T-bar along the pair's twist.
    pub momentum: Vector6<T>,
    /// The power of these forces on the motion of the reference at `z' = 0`, W: see
    /// [`DesiredMotion::reference_power`](super::DesiredMotion::reference_power).
    pub reference_power: T,
    /// Its derivative with respect to z'.
    pub reference_momentum: Vector6<T>,
    /// The energies.
    pub energies: Energies<T>,
}
