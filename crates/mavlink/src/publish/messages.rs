//! The shown state as messages, in NED, FRD and their units.

use super::{Phase, VehicleInfo, VehicleState};
#[allow(clippy::wildcard_imports)] // a message each
use crate::dialect::*;
use crate::frames::{
    Quaternion, Vector, euler_from_ned_frd, frd_from_flu, ned_frd_from_nwu_flu, ned_from_nwu,
    rotate_inverse,
};
use crate::hil::Motion;
use crate::hil::px4::{e7, ground_course, short, unsigned, whole};

/// Time since the zero of the flight's clock, ms.
pub(super) fn boot_ms(seen: &VehicleState) -> u32 {
    u32::try_from(boot_us(seen) / 1000).unwrap_or(u32::MAX)
}

fn boot_us(seen: &VehicleState) -> u64 {
    u64::try_from(seen.time.unwrap_or(0) / 1000).unwrap_or(0)
}

pub(super) fn heartbeat(about: &VehicleInfo, seen: &VehicleState) -> MavMessage {
    let custom = MavModeFlag::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
    let mut base_mode = custom | MavModeFlag::MAV_MODE_FLAG_GUIDED_ENABLED;
    if seen.armed {
        base_mode |= MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED;
    }
    MavMessage::HEARTBEAT(HEARTBEAT_DATA {
        custom_mode: seen.mode,
        mavtype: about.kind,
        autopilot: MavAutopilot::MAV_AUTOPILOT_GENERIC,
        base_mode,
        system_status: match seen.phase {
            Phase::Standby | Phase::Over => MavState::MAV_STATE_STANDBY,
            Phase::Flying | Phase::Landing => MavState::MAV_STATE_ACTIVE,
            Phase::Failsafe => MavState::MAV_STATE_CRITICAL,
        },
        mavlink_version: 3,
    })
}

/// The current mode; no other mode was requested.
pub(super) fn current_mode(seen: &VehicleState) -> MavMessage {
    MavMessage::CURRENT_MODE(CURRENT_MODE_DATA {
        custom_mode: seen.mode,
        intended_custom_mode: seen.mode,
        standard_mode: MavStandardMode::MAV_STANDARD_MODE_NON_STANDARD,
    })
}

/// The names of all modes, in order. None can be selected.
pub(super) fn modes(about: &VehicleInfo) -> impl Iterator<Item = MavMessage> + '_ {
    let number_modes = u8::try_from(about.modes.len()).unwrap_or(u8::MAX);
    (0..number_modes)
        .zip(&about.modes)
        .map(move |(number, name)| {
            MavMessage::AVAILABLE_MODES(AVAILABLE_MODES_DATA {
                custom_mode: number.into(),
                properties: MavModeProperty::MAV_MODE_PROPERTY_NOT_USER_SELECTABLE
                    | MavModeProperty::MAV_MODE_PROPERTY_AUTO_MODE,
                number_modes,
                mode_index: number + 1,
                standard_mode: MavStandardMode::MAV_STANDARD_MODE_NON_STANDARD,
                mode_name: name[..name.floor_char_boundary(34)].into(),
            })
        })
}

pub(super) fn sys_status(seen: &VehicleState) -> MavMessage {
    let control = MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_ANGULAR_RATE_CONTROL
        | MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_ATTITUDE_STABILIZATION
        | MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS;
    let mut present = control
        | MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_3D_GYRO
        | MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_3D_ACCEL;
    if seen.fix.is_some() {
        present |= MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_GPS;
    }
    if seen.battery.is_some() {
        present |= MavSysStatusSensor::MAV_SYS_STATUS_SENSOR_BATTERY;
    }
    let [voltage, remaining] = seen.battery.unwrap_or([f64::NAN; 2]);
    MavMessage::SYS_STATUS(SYS_STATUS_DATA {
        onboard_control_sensors_present: present,
        onboard_control_sensors_enabled: present,
        // A missing sensor is reported as healthy: MAVProxy would report a breach otherwise.
        onboard_control_sensors_health: match seen.motion {
            Some(_) => MavSysStatusSensor::all(),
            None => MavSysStatusSensor::all() - control,
        },
        voltage_battery: if voltage.is_finite() {
            unsigned((voltage * 1e3).min(MOST_MILLIVOLTS))
        } else {
            u16::MAX
        },
        current_battery: -1,
        battery_remaining: percent(remaining),
        // The default of the flags is the first one.
        onboard_control_sensors_present_extended: MavSysStatusSensorExtended::empty(),
        onboard_control_sensors_enabled_extended: MavSysStatusSensorExtended::empty(),
        onboard_control_sensors_health_extended: MavSysStatusSensorExtended::empty(),
        ..SYS_STATUS_DATA::default()
    })
}

pub(super) fn battery(seen: &VehicleState) -> Option<MavMessage> {
    let [voltage, remaining] = seen.battery?;
    let mut voltages = [u16::MAX; 10];
    let millivolts = voltage * 1e3;
    voltages[0] = unsigned(millivolts.clamp(0.0, MOST_MILLIVOLTS));
    if millivolts > MOST_MILLIVOLTS {
        voltages[1] = unsigned((millivolts - MOST_MILLIVOLTS).min(MOST_MILLIVOLTS));
    }
    Some(MavMessage::BATTERY_STATUS(BATTERY_STATUS_DATA {
        current_consumed: -1,
        energy_consumed: -1,
        temperature: i16::MAX,
        voltages,
        current_battery: -1,
        battery_remaining: percent(remaining),
        fault_bitmask: MavBatteryFault::empty(),
        ..BATTERY_STATUS_DATA::default()
    }))
}

/// The most of a voltage: 65535 is unknown, and a battery of more goes on in the next cell.
const MOST_MILLIVOLTS: f64 = 65_534.0;

/// -1: unknown.
fn percent(part: f64) -> i8 {
    if !part.is_finite() {
        return -1;
    }
    i8::try_from(whole((part * 100.0).clamp(0.0, 100.0))).unwrap_or(-1)
}

#[allow(clippy::cast_possible_truncation)] // the wire has single precision
fn narrow<const N: usize>(values: [f64; N]) -> [f32; N] {
    values.map(|value| value as f32)
}

pub(super) fn attitude_quaternion(seen: &VehicleState, motion: &Motion) -> MavMessage {
    let [q1, q2, q3, q4] = narrow(ned_frd_from_nwu_flu(motion.attitude));
    let [rollspeed, pitchspeed, yawspeed] = narrow(frd_from_flu(motion.angular_velocity));
    MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
        time_boot_ms: boot_ms(seen),
        q1,
        q2,
        q3,
        q4,
        rollspeed,
        pitchspeed,
        yawspeed,
        ..ATTITUDE_QUATERNION_DATA::default()
    })
}

pub(super) fn attitude(seen: &VehicleState, motion: &Motion) -> MavMessage {
    let [roll, pitch, yaw] = narrow(angles(motion.attitude));
    let [rollspeed, pitchspeed, yawspeed] = narrow(frd_from_flu(motion.angular_velocity));
    MavMessage::ATTITUDE(ATTITUDE_DATA {
        time_boot_ms: boot_ms(seen),
        roll,
        pitch,
        yaw,
        rollspeed,
        pitchspeed,
        yawspeed,
    })
}

/// Roll, pitch and yaw (NED, FRD) of an attitude in NWU and FLU.
fn angles(attitude: Quaternion) -> Vector {
    euler_from_ned_frd(ned_frd_from_nwu_flu(attitude))
}

pub(super) fn local_position(seen: &VehicleState, motion: &Motion) -> MavMessage {
    let [x, y, z] = narrow(ned_from_nwu(motion.position));
    let [vx, vy, vz] = narrow(ned_from_nwu(motion.velocity));
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        time_boot_ms: boot_ms(seen),
        x,
        y,
        z,
        vx,
        vy,
        vz,
    })
}

pub(super) fn global_position(
    about: &VehicleInfo,
    seen: &VehicleState,
    motion: &Motion,
) -> MavMessage {
    let [latitude, longitude, altitude] = about.origin.global(ned_from_nwu(motion.position));
    let [vx, vy, vz] = ned_from_nwu(motion.velocity).map(|v| short(v * 1e2));
    MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
        time_boot_ms: boot_ms(seen),
        lat: e7(latitude),
        lon: e7(longitude),
        alt: whole(altitude * 1e3),
        relative_alt: whole(motion.position[2] * 1e3),
        vx,
        vy,
        vz,
        hdg: unsigned(heading(motion) * 1e2) % 36_000,
    })
}

/// Heading, degrees, 0 to 360.
fn heading(motion: &Motion) -> f64 {
    angles(motion.attitude)[2].to_degrees().rem_euclid(360.0)
}

pub(super) fn gps(about: &VehicleInfo, seen: &VehicleState) -> MavMessage {
    let unknown = GPS_RAW_INT_DATA {
        time_usec: boot_us(seen),
        eph: u16::MAX,
        epv: u16::MAX,
        vel: u16::MAX,
        cog: u16::MAX,
        fix_type: GpsFixType::GPS_FIX_TYPE_NO_GPS,
        satellites_visible: u8::MAX,
        ..GPS_RAW_INT_DATA::default()
    };
    let Some(fix) = &seen.fix else {
        return MavMessage::GPS_RAW_INT(unknown);
    };
    let [latitude, longitude, altitude] = about.origin.global(ned_from_nwu(fix.position));
    let [vel, cog] = ground_course(ned_from_nwu(fix.velocity));
    MavMessage::GPS_RAW_INT(GPS_RAW_INT_DATA {
        lat: e7(latitude),
        lon: e7(longitude),
        alt: whole(altitude * 1e3),
        vel,
        cog,
        fix_type: GpsFixType::GPS_FIX_TYPE_3D_FIX,
        ..unknown
    })
}

#[allow(clippy::cast_possible_truncation)] // the wire has single precision
pub(super) fn vfr_hud(about: &VehicleInfo, seen: &VehicleState, motion: &Motion) -> MavMessage {
    let [north, west, up] = motion.velocity;
    // Without a Pitot tube, the forward speed through still air.
    let ahead = rotate_inverse(motion.attitude, motion.velocity)[0].max(0.0);
    MavMessage::VFR_HUD(VFR_HUD_DATA {
        airspeed: seen.airspeed.unwrap_or(ahead) as f32,
        groundspeed: north.hypot(west) as f32,
        alt: (about.origin.altitude + motion.position[2]) as f32,
        climb: up as f32,
        heading: short(heading(motion)) % 360,
        throttle: unsigned(100.0 * seen.thrust.unwrap_or(0.0)).min(100),
    })
}

pub(super) fn home(about: &VehicleInfo, seen: Option<&VehicleState>) -> MavMessage {
    MavMessage::HOME_POSITION(HOME_POSITION_DATA {
        latitude: e7(about.origin.latitude),
        longitude: e7(about.origin.longitude),
        altitude: whole(about.origin.altitude * 1e3),
        q: [1.0, 0.0, 0.0, 0.0],
        time_usec: seen.map_or(0, boot_us),
        ..HOME_POSITION_DATA::default()
    })
}

pub(super) fn servos(seen: &VehicleState) -> MavMessage {
    MavMessage::SERVO_OUTPUT_RAW(SERVO_OUTPUT_RAW_DATA {
        time_usec: u32::try_from(boot_us(seen) % (1 << 32)).unwrap_or(0),
        servo1_raw: seen.pulses[0],
        servo2_raw: seen.pulses[1],
        servo3_raw: seen.pulses[2],
        servo4_raw: seen.pulses[3],
        servo5_raw: seen.pulses[4],
        servo6_raw: seen.pulses[5],
        servo7_raw: seen.pulses[6],
        servo8_raw: seen.pulses[7],
        port: 0,
        servo9_raw: seen.pulses[8],
        servo10_raw: seen.pulses[9],
        servo11_raw: seen.pulses[10],
        servo12_raw: seen.pulses[11],
        servo13_raw: seen.pulses[12],
        servo14_raw: seen.pulses[13],
        servo15_raw: seen.pulses[14],
        servo16_raw: seen.pulses[15],
    })
}

pub(super) fn actuators(seen: &VehicleState) -> MavMessage {
    MavMessage::ACTUATOR_OUTPUT_STATUS(ACTUATOR_OUTPUT_STATUS_DATA {
        time_usec: boot_us(seen),
        active: seen.channels,
        actuator: seen.outputs,
    })
}

pub(super) fn position_target(seen: &VehicleState) -> Option<MavMessage> {
    let target = seen.target.as_ref()?;
    let [x, y, z] = narrow(ned_from_nwu(target.position));
    let [vx, vy, vz] = narrow(ned_from_nwu(target.velocity));
    let [afx, afy, afz] = narrow(ned_from_nwu(target.acceleration));
    let [yaw] = narrow([angles(target.attitude)[2]]);
    Some(MavMessage::POSITION_TARGET_LOCAL_NED(
        POSITION_TARGET_LOCAL_NED_DATA {
            time_boot_ms: boot_ms(seen),
            coordinate_frame: MavFrame::MAV_FRAME_LOCAL_NED,
            type_mask: PositionTargetTypemask::POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE,
            x,
            y,
            z,
            vx,
            vy,
            vz,
            afx,
            afy,
            afz,
            yaw,
            yaw_rate: 0.0,
        },
    ))
}

#[allow(clippy::cast_possible_truncation)] // the wire has single precision
pub(super) fn attitude_target(seen: &VehicleState) -> Option<MavMessage> {
    let target = seen.target.as_ref()?;
    let [body_roll_rate, body_pitch_rate, body_yaw_rate] =
        narrow(frd_from_flu(target.angular_velocity));
    Some(MavMessage::ATTITUDE_TARGET(ATTITUDE_TARGET_DATA {
        time_boot_ms: boot_ms(seen),
        type_mask: AttitudeTargetTypemask::empty(),
        q: narrow(ned_frd_from_nwu_flu(target.attitude)),
        body_roll_rate,
        body_pitch_rate,
        body_yaw_rate,
        thrust: seen.thrust.unwrap_or(0.0) as f32,
    }))
}

pub(super) fn extended_state(seen: &VehicleState) -> MavMessage {
    MavMessage::EXTENDED_SYS_STATE(EXTENDED_SYS_STATE_DATA {
        vtol_state: MavVtolState::MAV_VTOL_STATE_UNDEFINED,
        landed_state: match seen.phase {
            Phase::Standby | Phase::Over => MavLandedState::MAV_LANDED_STATE_UNDEFINED,
            Phase::Flying | Phase::Failsafe => MavLandedState::MAV_LANDED_STATE_IN_AIR,
            Phase::Landing => MavLandedState::MAV_LANDED_STATE_LANDING,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_of_many_cells_is_known() {
        let seen = VehicleState {
            battery: Some([80.0, 0.5]),
            ..VehicleState::default()
        };
        let Some(MavMessage::BATTERY_STATUS(battery)) = battery(&seen) else {
            panic!("a battery");
        };
        assert_eq!(battery.voltages[..3], [65_534, 14_466, u16::MAX]);
        let MavMessage::SYS_STATUS(status) = sys_status(&seen) else {
            panic!("a status");
        };
        assert_eq!(status.voltage_battery, 65_534);
    }
}
