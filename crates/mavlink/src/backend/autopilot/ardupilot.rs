//! ArduCopter.
//!
//! Read in ArduCopter's source (4.7): `SET_ATTITUDE_TARGET` counts in GUIDED only, needs thrust, all three rates or none, and a quaternion of
//! length one (or an ignored one); its thrust is a climb rate unless `GUID_OPTIONS` has bit 3, is divided by the cosine of the commanded
//! tilt (at least 0.1) where `ATC_ANGLE_BOOST` is 1, and linear in force, since the motors' curve (`MOT_THST_EXPO`) is taken out behind it.
//! A vehicle that is told an attitude before it has taken off takes off.

use fly_hal::CommandSet;

use super::Mode;
use crate::Command;
use crate::backend::preflight::{Requirement, Rule};
use crate::dialect::MavCmd;

/// Bit 3 of `GUID_OPTIONS`: "`SET_ATTITUDE_TARGET` interprets thrust as thrust".
const THRUST_IS_THRUST: i64 = 0b1000;

const INPUT_TIME: &str = "ATC_INPUT_TC";
const SHAPES: &str = "ATC_RATE_FF_ENAB";
const ROLL_GAIN: &str = "ATC_ANG_RLL_P";
const YAW_GAIN: &str = "ATC_ANG_YAW_P";

/// An attitude is approached by a target of its own within [`INPUT_TIME`], whose rates are fed forward: that is the gain from the commanded attitude to
/// the rates, and [`ROLL_GAIN`] only brings the vehicle to the target.
pub(super) fn attitude_gains(value: impl Fn(&str) -> Option<f64>) -> Option<[f64; 2]> {
    if value(SHAPES)? > 0.0 {
        let gain = value(INPUT_TIME)?.recip();
        return Some([gain, gain]);
    }
    Some([value(ROLL_GAIN)?, value(YAW_GAIN)?])
}

pub(super) fn mode(mode: Mode) -> u8 {
    match mode {
        Mode::Commanded => 4,
        Mode::Land => 9,
        // LOITER would take its throttle from a stick that may not be there.
        Mode::Hold => 17,
    }
}

/// `NAV_TAKEOFF`: up to so many m above home, which is where it was armed unless somebody has set and so locked it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "MAVLink's parameters are f32"
)]
pub(super) fn take_off(height: f64) -> Command {
    Command::long(
        MavCmd::MAV_CMD_NAV_TAKEOFF,
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, height as f32],
    )
}

pub(super) fn requirements(set: CommandSet) -> Vec<Requirement> {
    let mut all = vec![
        super::followed("GUID_TIMEOUT", set),
        Requirement::show(
            "FS_GCS_ENABLE",
            "what it does when its ground station's heartbeat is lost",
        ),
        Requirement::warn(
            "DISARM_DELAY",
            Rule::OffOrAtLeast(5.0),
            "s after arming until it disarms on the ground: the take-off needs some of them",
        ),
    ];
    for (name, why) in [
        (
            INPUT_TIME,
            "s in which it turns to an attitude: `setpoints.attitude_gain` and `yaw_gain` are 1 over it",
        ),
        (
            SHAPES,
            "0: it does not shape attitudes, and the two gains count",
        ),
        (ROLL_GAIN, "`setpoints.attitude_gain` where it does not"),
        (YAW_GAIN, "`setpoints.yaw_gain` where it does not"),
    ] {
        all.push(Requirement::show(name, why));
    }
    if set == CommandSet::Trajectory {
        return all;
    }
    all.insert(
        0,
        Requirement::refuse(
            "GUID_OPTIONS",
            Rule::Bits(THRUST_IS_THRUST),
            "without bit 3 the thrust of an attitude is taken for a climb rate",
        ),
    );
    all.push(Requirement::show(
        "MOT_THST_HOVER",
        "thrust in hover, until it is measured",
    ));
    all.push(Requirement::show(
        "MOT_THST_EXPO",
        "how it linearises its motors",
    ));
    all.push(Requirement::show(
        "ATC_ANGLE_BOOST",
        "1: it divides the thrust by the cosine of the tilt, which is taken out",
    ));
    all.push(Requirement::warn(
        "PILOT_THR_FILT",
        Rule::OffOrAtLeast(5.0),
        "Hz of a filter on the thrust; 0: none",
    ));
    all
}
