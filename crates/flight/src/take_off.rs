//! Whether a vehicle must take off by itself once it is armed, and how high.

use fly_hal::{Description, Frame};

use crate::binding::{GroupBinding, bind_part};
use crate::config::TakeOff;

/// Whether frames report that the vehicle is on the ground, and how high it must climb.
#[derive(Debug, Clone, Copy)]
pub struct StartHeight {
    take_off: TakeOff,
    /// The `vehicle.armed` signal, if frames carry it.
    armed: Option<GroupBinding>,
}

impl StartHeight {
    /// From the configuration and this backend's signals; `None` if the vehicle does not take off by itself.
    pub fn new(take_off: TakeOff, description: &Description) -> Option<Self> {
        (take_off != TakeOff::None).then(|| Self {
            take_off,
            armed: bind_part(description, "vehicle", "armed"),
        })
    }

    /// How far the vehicle must climb, m, from its height `from` to the height `to` at which the reference begins; 0
    /// unless it is on the ground. It counts as on the ground while it is not armed, and if it is `low`, at the known
    /// height of the ground.
    pub fn climb(&self, frame: &Frame, from: f64, to: f64, low: Option<bool>) -> f64 {
        let armed = (self.armed)
            .filter(|binding| frame.groups[binding.group].valid)
            .map(|binding| frame.values[binding.values[0]] > 0.5);
        let stands = match (armed, low) {
            (Some(false), _) | (_, Some(true)) | (None, None) => true,
            (Some(true), _) | (None, Some(false)) => false,
        };
        match self.take_off {
            _ if !stands => 0.0,
            TakeOff::None => 0.0,
            TakeOff::ToReference => (to - from).max(0.0),
            TakeOff::To(height) => height,
        }
    }
}
