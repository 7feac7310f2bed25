//! The result of one control step.

use nalgebra::DVector;

use crate::Energies;
use crate::allocation::Allocation;

/// The result of one control step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// u, p entries, inside the limits: the input to send.
    pub input: DVector<f64>,
    /// u0, p entries: the unconstrained input of the law (5.86b).
    pub unconstrained: DVector<f64>,
    /// p entries: the command, before limits, that makes the actuators produce u0; u0 itself without a [`lead`](crate::lead).
    pub demanded: DVector<f64>,
    /// The desired energies; `None` of a law that has none, such as state feedback.
    pub energies: Option<Energies>,
    /// The power that the motion of the reference extracts from the total energy while the actuators produce u0, W:
    /// [`DesiredMotion::reference_power_at`](crate::template::DesiredMotion::reference_power_at); `None` if the strategy does not compute it.
    pub reference_power: Option<f64>,
    /// The report of the allocation.
    pub allocation: Allocation,
}

impl Step {
    /// Allocates for p inputs.
    pub(super) fn new(p: usize) -> Self {
        Self {
            input: DVector::zeros(p),
            unconstrained: DVector::zeros(p),
            demanded: DVector::zeros(p),
            energies: None,
            reference_power: None,
            allocation: Allocation::FREE,
        }
    }

    /// The intended actuator outputs until the next step, p entries: the input without its lead, u0 inside the limits.
    pub fn intended(&self) -> impl Iterator<Item = f64> + '_ {
        let led = self.unconstrained.iter().zip(&self.demanded);
        let each = self.input.iter().zip(led);
        each.map(|(input, (u0, demanded))| input + (u0 - demanded))
    }

    /// The number of active limits.
    pub fn active(&self) -> usize {
        self.allocation.active
    }

    /// Returns whether the input was limited.
    pub fn saturated(&self) -> bool {
        self.allocation.active > 0
    }
}
