//! Whether a vehicle that is to be armed must take off by itself, and how high.

use fly_hal::{Description, Frame};

use crate::binding::{GroupBinding, bind_part};
use crate::config::TakeOff;

/// Whether frames tell that a vehicle stands, and how high it is to climb.
#[derive(Debug, Clone, Copy)]
pub struct StartHeight {
    take_off: TakeOff,
    /// `vehicle.armed`, if frames tell it.
    armed: Option<GroupBinding>,
}

impl StartHeight {
    /// As the configuration says, with what this backend tells; `None` where nothing takes off by itself.
    pub fn new(take_off: TakeOff, description: &Description) -> Option<Self> {
        (take_off != TakeOff::None).then(|| Self {
            take_off,
            armed: bind_part(description, "vehicle", "armed"),
        })
    }

    /// How high the vehicle is to climb, m, from this height to that at which the reference begins; 0 if it does not stand. It stands while it is not armed, or
    /// where it is `low`: on the known ground.
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
