//! Differences between PX4 and ArduPilot: mode numbers, the stream that keeps them in the commanded mode, take-off, and
//! relevant parameters.

mod ardupilot;
mod px4;

use fly_hal::CommandSet;

use super::preflight::{Requirement, Rule};
use crate::Command;
use crate::dialect::{MavAutopilot, MavCmd};
pub(crate) use crate::outputs::Autopilot;
use crate::telemetry::Heartbeat;

/// A flight mode, by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Takes our setpoints.
    Commanded,
    /// Lands where it is.
    Land,
    /// Stops and stays, without a pilot's sticks.
    Hold,
}

/// `MAV_MODE_FLAG_CUSTOM_MODE_ENABLED`: the mode has the autopilot's own number.
const CUSTOM: f32 = 1.0;

/// With this number both autopilots disarm even in the air.
const FORCE: f32 = 21196.0;

/// The parameter that says for how many s the last setpoint is followed when no other comes.
///
/// An attitude that is held so long leads the vehicle aside; rates that are held turn it over, so that they need a short time.
fn followed(name: &'static str, set: CommandSet) -> Requirement {
    if set == CommandSet::Rates {
        let why = "s without setpoints for which it goes on turning at the last rates: longer may turn it over, shorter than a hiccup of the link ends flights";
        return Requirement::refuse(name, Rule::Within(0.2, 0.5), why);
    }
    let why = "s without setpoints until its failsafe acts: shorter than a hiccup of the link ends flights, longer leaves it uncommanded";
    Requirement::warn(name, Rule::Within(0.2, 5.0), why)
}

/// Gains of an attitude loop, 1/s.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=50.0;

/// # Commands
///
/// PX4 is commanded in OFFBOARD, ArduCopter in GUIDED.
impl Autopilot {
    /// Which one it is; `None` for those that are only read.
    pub(crate) fn of(heartbeat: &Heartbeat) -> Option<Self> {
        match heartbeat.autopilot {
            MavAutopilot::MAV_AUTOPILOT_PX4 => Some(Self::Px4),
            MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA => Some(Self::ArduPilot),
            _ => None,
        }
    }

    /// The command that changes the mode.
    pub(crate) fn set_mode(self, mode: Mode) -> Command {
        let [main, sub] = match self {
            Self::Px4 => px4::mode(mode),
            Self::ArduPilot => [ardupilot::mode(mode), 0],
        };
        Command::long(
            MavCmd::MAV_CMD_DO_SET_MODE,
            [CUSTOM, f32::from(main), f32::from(sub), 0.0, 0.0, 0.0, 0.0],
        )
    }

    /// Whether a heartbeat's `custom_mode` is this mode.
    pub(crate) fn is_in(self, mode: Mode, custom_mode: u32) -> bool {
        match self {
            Self::Px4 => custom_mode.to_le_bytes()[2..] == px4::mode(mode),
            Self::ArduPilot => custom_mode == u32::from(ardupilot::mode(mode)),
        }
    }

    /// The mode's name.
    pub(crate) fn mode_name(self, mode: Mode) -> &'static str {
        match (self, mode) {
            (Self::Px4, Mode::Commanded) => "OFFBOARD",
            (Self::Px4, Mode::Land) => "AUTO.LAND",
            (Self::Px4, Mode::Hold) => "AUTO.LOITER",
            (Self::ArduPilot, Mode::Commanded) => "GUIDED",
            (Self::ArduPilot, Mode::Land) => "LAND",
            (Self::ArduPilot, Mode::Hold) => "BRAKE",
        }
    }

    /// Whether it enters and keeps its mode only while setpoints arrive.
    pub(crate) fn needs_stream(self) -> bool {
        self == Self::Px4
    }

    /// Arms or disarms; `force` works in the air, too.
    pub(crate) fn arm(armed: bool, force: bool) -> Command {
        let force = if force { FORCE } else { 0.0 };
        Command::long(
            MavCmd::MAV_CMD_COMPONENT_ARM_DISARM,
            [f32::from(u8::from(armed)), force, 0.0, 0.0, 0.0, 0.0, 0.0],
        )
    }

    /// What lets it say which of its checks before arming fail; `None` where it does so when it refuses to arm.
    ///
    /// PX4 says that only when the result of a check changes, which may have been long ago.
    pub(crate) fn run_checks(self) -> Option<Command> {
        let command = Command::long(MavCmd::MAV_CMD_RUN_PREARM_CHECKS, [0.0; 7]);
        (self == Self::Px4).then_some(command)
    }

    /// What begins a take-off to `height` m above its home; `None` where it follows a setpoint up there.
    ///
    /// PX4 follows one in OFFBOARD: no second mode whose change may be refused in the air, no altitude above sea level, no global
    /// position. ArduCopter stays on the ground in GUIDED, whatever position it is told, until it is told to take off.
    pub(crate) fn take_off(self, height: f64) -> Option<Command> {
        match self {
            Self::Px4 => None,
            Self::ArduPilot => Some(ardupilot::take_off(height)),
        }
    }

    /// The parameters that matter for this command set.
    pub(crate) fn requirements(self, set: CommandSet) -> Vec<Requirement> {
        match self {
            Self::Px4 => px4::requirements(set),
            Self::ArduPilot => ardupilot::requirements(set),
        }
    }

    /// The gains of its attitude loop, of roll and pitch and of yaw, 1/s, as these parameters tell them.
    pub(crate) fn attitude_gains(self, value: impl Fn(&str) -> Option<f64>) -> Option<[f64; 2]> {
        let gains = match self {
            Self::Px4 => px4::attitude_gains(value),
            Self::ArduPilot => ardupilot::attitude_gains(value),
        };
        gains.filter(|gains| gains.iter().all(|gain| PLAUSIBLE.contains(gain)))
    }

    /// The parameter that holds the hover thrust.
    pub(crate) fn hover_thrust(self) -> &'static str {
        match self {
            Self::Px4 => "MPC_THR_HOVER",
            Self::ArduPilot => "MOT_THST_HOVER",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_parameters_that_act() {
        let gains = |autopilot: Autopilot, told: &[(&str, f64)]| {
            autopilot.attitude_gains(|name| Some(told.iter().find(|it| it.0 == name)?.1))
        };
        let px4 = [("MC_ROLL_P", 6.5), ("MC_YAW_P", 2.8)];
        assert_eq!(gains(Autopilot::Px4, &px4), Some([6.5, 2.8]));
        assert_eq!(gains(Autopilot::Px4, &px4[..1]), None);
        let shaped = |shapes, constant| {
            let told = [
                ("ATC_RATE_FF_ENAB", shapes),
                ("ATC_INPUT_TC", constant),
                ("ATC_ANG_RLL_P", 4.5),
                ("ATC_ANG_YAW_P", 4.0),
            ];
            gains(Autopilot::ArduPilot, &told)
        };
        assert_eq!(shaped(1.0, 0.125), Some([8.0, 8.0]));
        assert_eq!(shaped(0.0, 0.125), Some([4.5, 4.0]));
        assert_eq!(shaped(1.0, 0.0), None, "without an end");
    }

    /// A lost link turns a vehicle over that goes on with its last rates: 1 s (PX4) and 3 s (ArduCopter) are their defaults.
    #[test]
    fn rates_are_flown_only_where_they_are_soon_given_up() {
        for (autopilot, name) in [
            (Autopilot::Px4, "COM_OF_LOSS_T"),
            (Autopilot::ArduPilot, "GUID_TIMEOUT"),
        ] {
            let rule = |set| {
                let mut all = autopilot.requirements(set).into_iter();
                let it = all.find(|it| it.name == name).unwrap();
                (it.rule, it.refuses)
            };
            assert_eq!(rule(CommandSet::Rates), (Rule::Within(0.2, 0.5), true));
            for set in [CommandSet::Attitude, CommandSet::Trajectory] {
                assert_eq!(rule(set), (Rule::Within(0.2, 5.0), false));
            }
        }
    }

    #[test]
    fn modes_are_known_by_their_numbers() {
        let px4 = |main: u32, sub: u32| main << 16 | sub << 24;
        let check = |autopilot: Autopilot, mode, number| {
            assert!(autopilot.is_in(mode, number), "{autopilot:?} {mode:?}");
            let all = [Mode::Commanded, Mode::Land, Mode::Hold];
            assert_eq!(
                all.iter().filter(|m| autopilot.is_in(**m, number)).count(),
                1
            );
        };
        check(Autopilot::Px4, Mode::Commanded, 0x0006_0000);
        check(Autopilot::Px4, Mode::Hold, 0x0304_0000);
        check(Autopilot::Px4, Mode::Land, px4(4, 6));
        check(Autopilot::ArduPilot, Mode::Commanded, 4);
        check(Autopilot::ArduPilot, Mode::Land, 9);
        check(Autopilot::ArduPilot, Mode::Hold, 17);
        // RTL of both, and POSCTL.
        for number in [px4(4, 5), px4(3, 0), 6] {
            for autopilot in [Autopilot::Px4, Autopilot::ArduPilot] {
                assert!(!autopilot.is_in(Mode::Commanded, number));
            }
        }
    }
}
