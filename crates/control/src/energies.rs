//! The energies of the desired closed loop.

/// Energies of the desired closed loop at one instant: what is left to dissipate, and how fast that happens.
///
/// `total` is a Lyapunov function for the body- and energy-based approaches of a single body: `d total/dt = -2
/// dissipation` as long as the closed loop is realised (fully actuated, inside the limits), Konz (5.23), (5.55).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// T-bar of the velocity error, J.
    pub kinetic: f64,
    /// V-bar of the pose error, J.
    pub potential: f64,
    /// R-bar, the dissipation function, W: half the power that the desired damping takes.
    pub dissipation: f64,
    /// W-bar = T-bar + V-bar, J.
    pub total: f64,
}

impl Energies {
    /// From kinetic energy, potential energy and dissipation function.
    pub fn new(kinetic: f64, potential: f64, dissipation: f64) -> Self {
        Self {
            kinetic,
            potential,
            dissipation,
            total: kinetic + potential,
        }
    }
}

/// Pair by pair.
impl std::ops::AddAssign for Energies {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.potential += other.potential;
        self.dissipation += other.dissipation;
        self.total += other.total;
    }
}
