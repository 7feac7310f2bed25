//! The energies of the desired closed loop.

use nalgebra::RealField;

/// Energies of the desired closed loop at one instant: what is left to dissipate, and how fast that happens.
///
/// `total` is a Lyapunov function for the body- and energy-based approaches of a single body: `d total/dt = -2
/// dissipation` as long as the closed loop is realised (fully actuated, inside the limits), Konz (5.23), (5.55).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies<T = f64> {
    /// T-bar of the velocity error, J.
    pub kinetic: T,
    /// V-bar of the pose error, J.
    pub potential: T,
    /// R-bar, the dissipation function, W: half the power that the desired damping takes.
    pub dissipation: T,
    /// W-bar = T-bar + V-bar, J.
    pub total: T,
}

impl<T: RealField + Copy> Energies<T> {
    /// From kinetic energy, potential energy and dissipation function.
    pub fn new(kinetic: T, potential: T, dissipation: T) -> Self {
        Self {
            kinetic,
            potential,
            dissipation,
            total: kinetic + potential,
        }
    }
}

impl<T: RealField + Copy> Default for Energies<T> {
    /// None.
    fn default() -> Self {
        Self::new(T::zero(), T::zero(), T::zero())
    }
}

/// Pair by pair.
impl<T: RealField + Copy> core::ops::AddAssign for Energies<T> {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.potential += other.potential;
        self.dissipation += other.dissipation;
        self.total += other.total;
    }
}
