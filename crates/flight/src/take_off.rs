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
        let armed = (self.armed).and_then(|armed| armed.flag(&frame.groups, &frame.values));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of NaN is no report: the known height of the ground decides alone.
    #[test]
    fn an_armed_flag_without_a_number_does_not_put_the_vehicle_on_the_ground() {
        let description = Description::new().with_signals(["vehicle.armed"]);
        let description = description.expect("a canonical name");
        let start = StartHeight::new(TakeOff::To(2.0), &description).expect("it takes off");
        let climb = |armed: f64, valid: bool, low: Option<bool>| {
            let mut frame = Frame::new(1, 1);
            (frame.values[0], frame.groups[0].valid) = (armed, valid);
            start.climb(&frame, 0.0, 1.0, low)
        };
        assert_eq!(climb(0.0, true, Some(false)), 2.0, "it is not armed");
        for (armed, valid) in [(f64::NAN, true), (0.0, false)] {
            assert_eq!(climb(armed, valid, Some(false)), 0.0, "{armed}, {valid}");
            assert_eq!(climb(armed, valid, Some(true)), 2.0, "{armed}, {valid}");
            assert_eq!(climb(armed, valid, None), 2.0, "{armed}, {valid}");
        }
        assert_eq!(climb(1.0, true, None), 0.0, "it is in the air");
    }
}
