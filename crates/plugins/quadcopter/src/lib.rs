//! A multicopter of any number of rotors over MAVLink, as a plugin: `[backend] plugin = "quadcopter"`.
//!
//! It reads the vehicle's state and, armed, commands a PX4 or an ArduCopter: see [`fly_mavlink::backend`].

use fly_hal::{Clock, Info};
use fly_mavlink::backend::{Airframe, AnyVehicle, MavType};

/// Any number of rotors that do not tilt, as in the model.
pub struct Quadcopter;

impl Airframe for Quadcopter {
    const INFO: Info = Info {
        name: "quadcopter",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a multicopter over MAVLink: PX4 in OFFBOARD, ArduCopter in GUIDED",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* battery.* vehicle.armed vehicle.control vehicle.uplink inner.* \
                  command.quaternion.* command.thrust command.angular_velocity.* command.position.* command.velocity.* \
                  command.acceleration.* command.yaw command.yaw_rate",
    };
    const TYPES: &'static [MavType] = &[
        MavType::MAV_TYPE_QUADROTOR,
        MavType::MAV_TYPE_HEXAROTOR,
        MavType::MAV_TYPE_OCTOROTOR,
        MavType::MAV_TYPE_DECAROTOR,
        MavType::MAV_TYPE_DODECAROTOR,
        MavType::MAV_TYPE_COAXIAL,
        MavType::MAV_TYPE_GENERIC_MULTIROTOR,
    ];
    const ROTORS: Option<usize> = None;
}

fly_hal::export_backend!(AnyVehicle<Quadcopter>);
