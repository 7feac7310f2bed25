//! A tricopter with tilting rotors over MAVLink, as a plugin: `[backend] plugin = "tricopter"`.
//!
//! It reads the vehicle's state and sends no commands: see [`fly_mavlink::backend`].

use fly_hal::{Clock, Info};
use fly_mavlink::backend::{Airframe, MavType, MavlinkVehicle};

/// Three rotors that tilt.
pub struct Tricopter;

impl Airframe for Tricopter {
    const INFO: Info = Info {
        name: "tricopter",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a tricopter over MAVLink (reads its state, sends no commands)",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* battery.* vehicle.armed \
                  rotor.{i}.thrust rotor.{i}.tilt",
    };
    const TYPES: &'static [MavType] = &[MavType::MAV_TYPE_TRICOPTER];
    const ROTORS: usize = 3;
    const TILTING: bool = true;
}

fly_hal::export_backend!(MavlinkVehicle<Tricopter>);
