//! The capacity of a serial line, and a flight's demand on it.
//!
//! A byte takes ten symbols: a start bit, eight data bits and a stop bit. A MAVLink 2 frame is its payload plus twelve
//! bytes, and thirteen more if it is signed. Trailing zeros of a payload are omitted, so the numbers here are upper
//! bounds.

use fly_hal::CommandSet;
use mavlink::MessageData;

#[allow(clippy::wildcard_imports)] // a message each
use crate::dialect::*;
use crate::{Address, VehicleSettings};

/// Fraction of a line that known traffic may use; the rest is for commands, parameters, texts, and unrequested messages
/// of the autopilot.
const USABLE: f64 = 0.9;

/// Setpoint rate, Hz, unless the user or the line's capacity sets a lower one.
const SETPOINTS: f64 = 200.0;

/// Lowest useful rate, Hz: PX4 needs 2.
const FEWEST: f64 = 5.0;

/// Header and checksum of a frame, and what signs it, bytes.
const FRAME: usize = 12;
const SIGNATURE: usize = 13;

/// A serial line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// Capacity, bytes per second.
    carries: f64,
    signed: bool,
}

impl Line {
    /// The line of a serial address; `None` for a network.
    pub fn of(address: &Address, settings: &VehicleSettings) -> Option<Self> {
        let Address::Serial { baud, .. } = address else {
            return None;
        };
        Some(Self {
            carries: f64::from(*baud) / 10.0,
            signed: settings.link.signing.is_some(),
        })
    }

    /// Bytes per second of messages with this payload.
    fn load(self, payload: usize, hz: f64) -> f64 {
        let signature = if self.signed { SIGNATURE } else { 0 };
        (payload + FRAME + signature) as f64 * hz
    }

    /// Bytes a second of so many setpoints a second, and of what else is sent all the time.
    fn up(self, set: CommandSet, hz: f64) -> f64 {
        self.load(HEARTBEAT_DATA::ENCODED_LEN, 1.0)
            + self.load(TIMESYNC_DATA::ENCODED_LEN, 1.0)
            + self.load(setpoint(set), hz)
    }

    /// The largest rate of a set's setpoints that the line carries, Hz.
    fn most_setpoints(self, set: CommandSet) -> f64 {
        (USABLE * self.carries - self.up(set, 0.0)) / self.load(setpoint(set), 1.0)
    }

    /// What the vehicle is asked for and cannot send; `None` if it can.
    pub fn too_much_telemetry(self, settings: &VehicleSettings) -> Option<String> {
        let asked = [
            (ATTITUDE_QUATERNION_DATA::ID, settings.attitude_rate),
            (LOCAL_POSITION_NED_DATA::ID, settings.position_rate),
            (TIMESYNC_DATA::ID, 1.0),
        ];
        let all = asked.iter().chain(&settings.messages);
        let needs: f64 = all.map(|(id, hz)| self.load(payload(*id), *hz)).sum();
        (needs > USABLE * self.carries).then(|| {
            format!(
                "the serial line carries {:.0} bytes a second, and what the vehicle is asked for takes {needs:.0}: it will come late or \
                 less often; lower `attitude_rate_hz` ({}) or `position_rate_hz` ({}), or raise the baud rate on both sides",
                self.carries, settings.attitude_rate, settings.position_rate
            )
        })
    }
}

/// How many setpoints are sent in a second: as `asked`, else as many as the `line` carries of what the flight makes.
///
/// # Errors
/// The line carries fewer than are asked for, or too few.
pub(super) fn setpoint_rate(
    line: Option<Line>,
    set: CommandSet,
    asked: Option<f64>,
    flight_rate: f64,
) -> Result<f64, String> {
    let wanted = asked.unwrap_or(SETPOINTS);
    let Some(line) = line else { return Ok(wanted) };
    let most = line.most_setpoints(set);
    let made = wanted.min(flight_rate);
    if made <= most {
        return Ok(wanted);
    }
    if asked.is_none() && most >= FEWEST {
        return Ok(most);
    }
    let advice = if most >= FEWEST {
        format!("at most {:.0} a second fit", most.floor())
    } else {
        "it is too slow for flying".to_owned()
    };
    Err(format!(
        "the serial line carries {:.0} bytes a second, and {made:.0} setpoints a second take {:.0}: {advice}",
        line.carries,
        line.up(set, made)
    ))
}

/// The payload of a setpoint, without the extension that is not used.
fn setpoint(set: CommandSet) -> usize {
    match set {
        CommandSet::Trajectory => SET_POSITION_TARGET_LOCAL_NED_DATA::ENCODED_LEN,
        _ => SET_ATTITUDE_TARGET_DATA::ENCODED_LEN - size_of::<[f32; 3]>(),
    }
}

/// The payload of a message that is asked for, without extensions that autopilots leave zero.
fn payload(id: u32) -> usize {
    match id {
        HEARTBEAT_DATA::ID => HEARTBEAT_DATA::ENCODED_LEN,
        ATTITUDE_QUATERNION_DATA::ID => {
            ATTITUDE_QUATERNION_DATA::ENCODED_LEN - size_of::<[f32; 4]>()
        }
        LOCAL_POSITION_NED_DATA::ID => LOCAL_POSITION_NED_DATA::ENCODED_LEN,
        TIMESYNC_DATA::ID => TIMESYNC_DATA::ENCODED_LEN,
        ATTITUDE_TARGET_DATA::ID => ATTITUDE_TARGET_DATA::ENCODED_LEN,
        EXTENDED_SYS_STATE_DATA::ID => EXTENDED_SYS_STATE_DATA::ENCODED_LEN,
        ESTIMATOR_STATUS_DATA::ID => ESTIMATOR_STATUS_DATA::ENCODED_LEN,
        EKF_STATUS_REPORT_DATA::ID => EKF_STATUS_REPORT_DATA::ENCODED_LEN,
        HOME_POSITION_DATA::ID => HOME_POSITION_DATA::ENCODED_LEN,
        GLOBAL_POSITION_INT_DATA::ID => GLOBAL_POSITION_INT_DATA::ENCODED_LEN,
        // The longest there is.
        _ => 255,
    }
}

#[cfg(test)]
mod tests {
    use mavlink::{MavlinkVersion, Message};

    use super::*;
    use crate::SigningSettings;

    fn line(baud: u32, signed: bool) -> Line {
        let address = Address::Serial {
            path: "/dev/ttyS0".to_owned(),
            baud,
        };
        let mut settings = VehicleSettings::default();
        settings.link.signing = signed.then(|| SigningSettings::new("key"));
        Line::of(&address, &settings).unwrap()
    }

    /// By hand: 5760 bytes a second, a tenth of it for others; a heartbeat of 21 and a TIMESYNC of 30 bytes; 51 bytes a setpoint by attitude, 65 by trajectory.
    #[test]
    fn a_radio_of_57600_baud_carries_a_hundred_setpoints() {
        let most = |signed, set| line(57_600, signed).most_setpoints(set);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        close(most(false, CommandSet::Attitude), (5184.0 - 51.0) / 51.0);
        close(most(false, CommandSet::Trajectory), (5184.0 - 51.0) / 65.0);
        close(most(true, CommandSet::Rates), (5184.0 - 77.0) / 64.0);
    }

    #[test]
    fn setpoints_are_counted_as_they_are_written() {
        let attitude = MavMessage::SET_ATTITUDE_TARGET(SET_ATTITUDE_TARGET_DATA {
            type_mask: AttitudeTargetTypemask::all(),
            ..SET_ATTITUDE_TARGET_DATA::default()
        });
        let position =
            MavMessage::SET_POSITION_TARGET_LOCAL_NED(SET_POSITION_TARGET_LOCAL_NED_DATA {
                coordinate_frame: MavFrame::MAV_FRAME_GLOBAL_RELATIVE_ALT,
                ..SET_POSITION_TARGET_LOCAL_NED_DATA::default()
            });
        for (set, message) in [
            (CommandSet::Attitude, attitude),
            (CommandSet::Trajectory, position),
        ] {
            let written = message.ser(MavlinkVersion::V2, &mut [0; 255]);
            assert_eq!(setpoint(set), written);
        }
    }

    #[test]
    fn what_fits_is_sent_and_what_does_not_is_said() {
        let attitude = CommandSet::Attitude;
        let slow = Some(line(57_600, false));
        assert_eq!(setpoint_rate(None, attitude, None, 500.0), Ok(200.0));
        assert_eq!(setpoint_rate(slow, attitude, None, 100.0), Ok(200.0));
        let most = setpoint_rate(slow, attitude, None, 500.0).unwrap();
        assert!((100.0..101.0).contains(&most), "{most}");
        assert_eq!(setpoint_rate(slow, attitude, Some(400.0), 50.0), Ok(400.0));
        assert_eq!(
            setpoint_rate(slow, attitude, Some(150.0), 500.0).unwrap_err(),
            "the serial line carries 5760 bytes a second, and 150 setpoints a second take 7701: at most 100 a second fit"
        );
        let hopeless = setpoint_rate(Some(line(1200, false)), attitude, None, 500.0);
        assert!(hopeless.unwrap_err().ends_with("too slow for flying"));
    }

    #[test]
    fn telemetry_that_does_not_fit_is_told() {
        let mut settings = VehicleSettings::default();
        settings.messages.extend(super::super::vehicle::MESSAGES);
        let slow = line(57_600, false);
        assert_eq!(slow.too_much_telemetry(&settings), None);
        settings.attitude_rate = 100.0;
        let said = slow.too_much_telemetry(&settings).unwrap();
        assert!(said.contains("`attitude_rate_hz` (100)"), "{said}");
        assert_eq!(line(921_600, true).too_much_telemetry(&settings), None);
    }
}
