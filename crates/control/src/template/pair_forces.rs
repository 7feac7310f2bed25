//! What one pair of frames adds to the desired closed loop.

use nalgebra::{RealField, Vector6};

use crate::Energies;

/// What one pair asks for, in its own coordinates: `Mbar z' + cbar + f_D + f_K = 0`, Konz (5.72). Wrenches `[N; N m]`.
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
    /// The power of these forces on the motion of the reference where `z' = 0`, W: see
    /// [`DesiredMotion::reference_power`](super::DesiredMotion::reference_power).
    pub reference_power: T,
    /// By how much it grows with each component of z'.
    pub reference_momentum: Vector6<T>,
    /// The energies.
    pub energies: Energies<T>,
}
