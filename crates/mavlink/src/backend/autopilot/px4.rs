//! PX4.
//!
//! Read in PX4's source (1.17): `SET_ATTITUDE_TARGET` takes the attitude where it is not ignored, else the rates, and goes to the
//! controllers in OFFBOARD only; on the ground a position setpoint begins a take-off where it is above the vehicle; `COMMAND_LONG` for modes
//! has main and sub mode in its second and third parameter.

use fly_hal::CommandSet;

use super::Mode;
use crate::backend::preflight::{Requirement, Rule};

/// Main and sub mode.
pub(super) fn mode(mode: Mode) -> [u8; 2] {
    match mode {
        Mode::Commanded => [6, 0],
        Mode::Land => [4, 6],
        Mode::Hold => [4, 3],
    }
}

const ROLL_GAIN: &str = "MC_ROLL_P";
const YAW_GAIN: &str = "MC_YAW_P";

pub(super) fn attitude_gains(value: impl Fn(&str) -> Option<f64>) -> Option<[f64; 2]> {
    Some([value(ROLL_GAIN)?, value(YAW_GAIN)?])
}

pub(super) fn requirements(set: CommandSet) -> Vec<Requirement> {
    let mut all = vec![
        super::followed("COM_OF_LOSS_T", set),
        Requirement::refuse(
            "COM_OBL_RC_ACT",
            Rule::NoneOf(&[6, 7]),
            "what it does without setpoints: 6 and 7 stop the motors in the air",
        ),
        Requirement::show(
            "COM_RC_IN_MODE",
            "4: no sticks, so that no pilot can take over",
        ),
        Requirement::warn(
            "COM_RCL_EXCEPT",
            Rule::WithoutRadio(0b100),
            "without a radio its failsafe ends OFFBOARD, unless bit 2 excepts it",
        ),
        Requirement::show("NAV_RCL_ACT", "what it does when the radio is lost"),
        Requirement::show(
            "NAV_DLL_ACT",
            "what it does when the ground station's heartbeat, ours, is lost",
        ),
        Requirement::warn(
            "COM_DISARM_PRFLT",
            Rule::OffOrAtLeast(5.0),
            "s after arming until it disarms on the ground: the take-off needs some of them",
        ),
    ];
    if set != CommandSet::Trajectory {
        all.push(Requirement::show(
            "MPC_THR_HOVER",
            "thrust in hover, until it is measured",
        ));
        all.push(Requirement::show(
            "THR_MDL_FAC",
            "how it linearises its motors; 0: not, see `thrust_curve`",
        ));
    }
    all.push(Requirement::show(
        ROLL_GAIN,
        "gain of its attitude loop: `setpoints.attitude_gain`",
    ));
    all.push(Requirement::show(
        YAW_GAIN,
        "its gain of yaw: `setpoints.yaw_gain`",
    ));
    all
}
