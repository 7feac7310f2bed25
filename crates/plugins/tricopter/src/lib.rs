//! A tricopter with tilting rotors over MAVLink, as a plugin: `[backend] plugin = "tricopter"`.
//!
//! It reads the vehicle's state and, armed, commands a PX4 or an ArduCopter: see [`fly_mavlink::backend`].

use fly_hal::{Clock, Info};
use fly_mavlink::backend::{Airframe, AnyVehicle, MavType};

/// Three tilting rotors.
pub struct Tricopter;

impl Airframe for Tricopter {
    const INFO: Info = Info {
        name: "tricopter",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a tricopter over MAVLink: PX4 in OFFBOARD, ArduCopter in GUIDED",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* battery.* vehicle.armed vehicle.control vehicle.uplink inner.* \
                  command.quaternion.* command.thrust command.angular_velocity.* command.position.* command.velocity.* \
                  command.acceleration.* command.yaw command.yaw_rate",
    };
    const TYPES: &'static [MavType] = &[MavType::MAV_TYPE_TRICOPTER];
    const ROTORS: Option<usize> = Some(3);
}

fly_hal::export_backend!(AnyVehicle<Tricopter>);
