//! A quadcopter over MAVLink, as a plugin: `[backend] plugin = "quadcopter"`.
//!
//! It reads the vehicle's state and sends no commands: see [`fly_mavlink::backend`].

use fly_hal::{Clock, Info};
use fly_mavlink::backend::{Airframe, MavType, MavlinkVehicle};

/// Four rotors that do not tilt.
pub struct Quadcopter;

impl Airframe for Quadcopter {
    const INFO: Info = Info {
        name: "quadcopter",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a quadcopter over MAVLink (reads its state, sends no commands)",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* battery.* vehicle.armed \
                  rotor.{i}.thrust",
    };
    const TYPES: &'static [MavType] = &[MavType::MAV_TYPE_QUADROTOR];
    const ROTORS: usize = 4;
    const TILTING: bool = false;
}

fly_hal::export_backend!(MavlinkVehicle<Quadcopter>);
