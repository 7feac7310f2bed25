//! The spinning hovers that are designed before the flight, for the loss of an actuator.

use std::ops::Range;
use std::sync::Arc;

use fly_control::allocation::InputBounds;
use fly_control::analysis::Attainable;
use fly_control::spin::SpinDesign;
use fly_mechanics::Vehicle;

/// The spins that are prepared for the loss of one actuator.
pub(super) struct PreparedSpins {
    /// Its inputs.
    pub lost: Range<usize>,
    /// Whether the vehicle cannot hover in any other way, so that it spins at once.
    pub is_needed: bool,
    /// The slowest if it is needed, else those in both directions; at least one.
    pub designs: Vec<Arc<SpinDesign>>,
}

impl PreparedSpins {
    /// The spins of each actuator without which the vehicle cannot hover at rest but can hover spinning.
    pub fn all(vehicle: &Vehicle) -> Vec<Self> {
        let actuators = vehicle.rotors.rotor_ranges();
        actuators
            .filter_map(|lost| Self::new(vehicle, lost))
            .collect()
    }

    fn new(vehicle: &Vehicle, lost: Range<usize>) -> Option<Self> {
        let bounds = InputBounds::without(vehicle.rotors.input_dim(), lost.clone());
        let attainable = Attainable::within(vehicle, &bounds);
        if attainable == Attainable::Hover {
            return None;
        }
        let is_needed = attainable == Attainable::Nothing;
        let most = if is_needed { 1 } else { usize::MAX };
        let found = SpinDesign::all(vehicle, &bounds).take(most);
        let designs: Vec<_> = found.map(Arc::new).collect();
        (!designs.is_empty()).then_some(Self {
            lost,
            is_needed,
            designs,
        })
    }

    /// Whether these bounds fix this actuator's inputs at 0 and leave all others as they are.
    pub fn fits(&self, bounds: &InputBounds) -> bool {
        *bounds == InputBounds::without(bounds.lower.len(), self.lost.clone())
    }
}
