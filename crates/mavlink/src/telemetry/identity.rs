//! The contents of a heartbeat: the kind of vehicle, its autopilot, mode and state.

use std::borrow::Cow;

use crate::dialect::{HEARTBEAT_DATA, MavAutopilot, MavModeFlag, MavState, MavType};

/// The heartbeat that a vehicle sends once a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heartbeat {
    /// The autopilot's type.
    pub autopilot: MavAutopilot,
    /// The kind of vehicle.
    pub vehicle_type: MavType,
    /// Flags, including armed.
    pub base_mode: MavModeFlag,
    /// The autopilot's number of its mode; see [`Heartbeat::mode`].
    pub custom_mode: u32,
    /// Booting, standing by, active, …
    pub state: MavState,
}

impl From<&HEARTBEAT_DATA> for Heartbeat {
    fn from(m: &HEARTBEAT_DATA) -> Self {
        Self {
            autopilot: m.autopilot,
            vehicle_type: m.mavtype,
            base_mode: m.base_mode,
            custom_mode: m.custom_mode,
            state: m.system_status,
        }
    }
}

impl Heartbeat {
    /// Whether the motors may turn.
    pub fn armed(&self) -> bool {
        self.base_mode
            .contains(MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED)
    }

    /// Whether this is a vehicle's autopilot (and not a ground station, a gimbal, a companion computer). What stands
    /// beside an autopilot may name the autopilot as its own.
    pub fn is_autopilot(&self) -> bool {
        use MavType as T;
        let is_beside = matches!(
            self.vehicle_type,
            T::MAV_TYPE_GCS
                | T::MAV_TYPE_ONBOARD_CONTROLLER
                | T::MAV_TYPE_GIMBAL
                | T::MAV_TYPE_ADSB
                | T::MAV_TYPE_CAMERA
                | T::MAV_TYPE_CHARGING_STATION
                | T::MAV_TYPE_FLARM
                | T::MAV_TYPE_SERVO
                | T::MAV_TYPE_ODID
                | T::MAV_TYPE_BATTERY
                | T::MAV_TYPE_PARACHUTE
                | T::MAV_TYPE_LOG
                | T::MAV_TYPE_OSD
                | T::MAV_TYPE_IMU
                | T::MAV_TYPE_GPS
                | T::MAV_TYPE_WINCH
        );
        self.autopilot != MavAutopilot::MAV_AUTOPILOT_INVALID && !is_beside
    }

    /// The flight mode's name, such as `OFFBOARD` or `GUIDED`; a number if it is unknown.
    pub fn mode(&self) -> Cow<'static, str> {
        let known = match self.autopilot {
            MavAutopilot::MAV_AUTOPILOT_PX4 => px4_mode(self.custom_mode),
            MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA if is_copter(self.vehicle_type) => {
                copter_mode(self.custom_mode)
            }
            _ => None,
        };
        known.map_or_else(
            || format!("mode {}", self.custom_mode).into(),
            Cow::Borrowed,
        )
    }
}

/// `PX4`, `ArduPilot`, or the rest of MAVLink's name in lower case.
pub fn autopilot_name(autopilot: MavAutopilot) -> Cow<'static, str> {
    match autopilot {
        MavAutopilot::MAV_AUTOPILOT_PX4 => "PX4".into(),
        MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA => "ArduPilot".into(),
        other => plain(&format!("{other:?}"), "MAV_AUTOPILOT_").into(),
    }
}

/// MAVLink's name of a vehicle type in lower case: `quadrotor`, `tricopter`, `fixed wing`, …
pub fn type_name(vehicle_type: MavType) -> String {
    plain(&format!("{vehicle_type:?}"), "MAV_TYPE_")
}

fn plain(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix)
        .unwrap_or(name)
        .replace('_', " ")
        .to_lowercase()
}

fn is_copter(vehicle_type: MavType) -> bool {
    use MavType as T;
    matches!(
        vehicle_type,
        T::MAV_TYPE_QUADROTOR
            | T::MAV_TYPE_TRICOPTER
            | T::MAV_TYPE_HEXAROTOR
            | T::MAV_TYPE_OCTOROTOR
            | T::MAV_TYPE_DECAROTOR
            | T::MAV_TYPE_DODECAROTOR
            | T::MAV_TYPE_COAXIAL
            | T::MAV_TYPE_HELICOPTER
            | T::MAV_TYPE_GENERIC_MULTIROTOR
    )
}

/// PX4 keeps its main mode in byte 2 and the automatic modes' kind in byte 3.
fn px4_mode(custom_mode: u32) -> Option<&'static str> {
    let [_, _, main, sub] = custom_mode.to_le_bytes();
    Some(match (main, sub) {
        (1, _) => "MANUAL",
        (2, _) => "ALTCTL",
        (3, _) => "POSCTL",
        (4, 1) => "AUTO.READY",
        (4, 2) => "AUTO.TAKEOFF",
        (4, 3) => "AUTO.LOITER",
        (4, 4) => "AUTO.MISSION",
        (4, 5) => "AUTO.RTL",
        (4, 6) => "AUTO.LAND",
        (4, 8) => "AUTO.FOLLOW_TARGET",
        (4, 9) => "AUTO.PRECLAND",
        (4, 10) => "AUTO.VTOL_TAKEOFF",
        (4, 11..=18) => "AUTO.EXTERNAL",
        (5, _) => "ACRO",
        (6, _) => "OFFBOARD",
        (7, _) => "STABILIZED",
        (10, _) => "TERMINATION",
        _ => return None,
    })
}

fn copter_mode(custom_mode: u32) -> Option<&'static str> {
    Some(match custom_mode {
        0 => "STABILIZE",
        1 => "ACRO",
        2 => "ALT_HOLD",
        3 => "AUTO",
        4 => "GUIDED",
        5 => "LOITER",
        6 => "RTL",
        7 => "CIRCLE",
        9 => "LAND",
        11 => "DRIFT",
        13 => "SPORT",
        14 => "FLIP",
        15 => "AUTOTUNE",
        16 => "POSHOLD",
        17 => "BRAKE",
        18 => "THROW",
        19 => "AVOID_ADSB",
        20 => "GUIDED_NOGPS",
        21 => "SMART_RTL",
        22 => "FLOWHOLD",
        23 => "FOLLOW",
        24 => "ZIGZAG",
        25 => "SYSTEMID",
        26 => "AUTOROTATE",
        27 => "AUTO_RTL",
        28 => "TURTLE",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_names() {
        let heartbeat = |autopilot, custom_mode| Heartbeat {
            autopilot,
            vehicle_type: MavType::MAV_TYPE_QUADROTOR,
            base_mode: MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED,
            custom_mode,
            state: MavState::MAV_STATE_ACTIVE,
        };
        let px4 = MavAutopilot::MAV_AUTOPILOT_PX4;
        let ardupilot = MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA;
        // 0x0006_0000 is what PX4 reports in offboard, 0x0304_0000 in "hold".
        assert_eq!(heartbeat(px4, 393_216).mode(), "OFFBOARD");
        assert_eq!(heartbeat(px4, 50_593_792).mode(), "AUTO.LOITER");
        assert_eq!(heartbeat(ardupilot, 4).mode(), "GUIDED");
        assert_eq!(heartbeat(ardupilot, 8).mode(), "mode 8");
        assert_eq!(
            heartbeat(MavAutopilot::MAV_AUTOPILOT_GENERIC, 4).mode(),
            "mode 4"
        );
        assert!(heartbeat(px4, 0).armed() && heartbeat(px4, 0).is_autopilot());
        let gimbal = Heartbeat {
            vehicle_type: MavType::MAV_TYPE_GIMBAL,
            ..heartbeat(ardupilot, 0)
        };
        assert!(!gimbal.is_autopilot());
        assert_eq!(type_name(MavType::MAV_TYPE_FIXED_WING), "fixed wing");
        assert_eq!(autopilot_name(MavAutopilot::MAV_AUTOPILOT_PPZ), "ppz");
    }
}
