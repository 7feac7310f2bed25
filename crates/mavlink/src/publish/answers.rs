//! Answers to requests of ground stations: there are no parameters and no missions, and commands are not executed.

// Ground stations still ask for the version of the protocol.
#![allow(deprecated)]

use super::VehicleInfo;
use super::messages;
use crate::clock::monotonic;
#[allow(clippy::wildcard_imports)] // what is asked for, and the answers
use crate::dialect::*;
use crate::link::{Listener, Received, Sender};
use mavlink::MessageData;

/// Answers a link's questions.
pub(super) struct Answers {
    about: VehicleInfo,
}

impl Answers {
    pub fn new(about: VehicleInfo) -> Self {
        Self { about }
    }

    /// The answers to a message.
    fn answer(&self, received: &Received) -> Vec<MavMessage> {
        let asker = (
            u8::try_from(received.system).unwrap_or(0),
            received.component,
        );
        // 0 addresses all systems.
        let ours = |system: u8| system == 0 || system == self.about.system;
        match &received.message {
            MavMessage::COMMAND_LONG(it) if ours(it.target_system) => {
                self.command(it.command, [it.param1, it.param2], asker)
            }
            MavMessage::COMMAND_INT(it) if ours(it.target_system) => {
                self.command(it.command, [it.param1, it.param2], asker)
            }
            MavMessage::PARAM_REQUEST_LIST(it) if ours(it.target_system) => {
                vec![no_parameters()]
            }
            MavMessage::MISSION_REQUEST_LIST(it) if ours(it.target_system) => {
                vec![no_mission(asker, it.mission_type)]
            }
            MavMessage::LOG_REQUEST_LIST(it) if ours(it.target_system) => {
                vec![MavMessage::LOG_ENTRY(LOG_ENTRY_DATA::default())]
            }
            MavMessage::TIMESYNC(it) if it.tc1 == 0 => {
                let answer = TIMESYNC_DATA {
                    tc1: monotonic(),
                    ts1: it.ts1,
                    ..TIMESYNC_DATA::default()
                };
                vec![MavMessage::TIMESYNC(answer)]
            }
            _ => Vec::new(),
        }
    }

    /// The response to a command: its acknowledgement and the requested message.
    fn command(&self, command: MavCmd, parameters: [f32; 2], asker: (u8, u8)) -> Vec<MavMessage> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let [number, index] = parameters.map(|parameter| parameter as u32);
        let mut told = match command {
            MavCmd::MAV_CMD_REQUEST_MESSAGE => match number {
                AUTOPILOT_VERSION_DATA::ID => vec![self.version()],
                PROTOCOL_VERSION_DATA::ID => vec![protocol()],
                HOME_POSITION_DATA::ID => vec![messages::home(&self.about, None)],
                AVAILABLE_MODES_DATA::ID => self.modes(index),
                _ => Vec::new(),
            },
            MavCmd::MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES => vec![self.version()],
            MavCmd::MAV_CMD_REQUEST_PROTOCOL_VERSION => vec![protocol()],
            MavCmd::MAV_CMD_GET_HOME_POSITION => vec![messages::home(&self.about, None)],
            _ => Vec::new(),
        };
        let result = if told.is_empty() {
            MavResult::MAV_RESULT_UNSUPPORTED
        } else {
            MavResult::MAV_RESULT_ACCEPTED
        };
        let acknowledged = MavMessage::COMMAND_ACK(COMMAND_ACK_DATA {
            command,
            result,
            target_system: asker.0,
            target_component: asker.1,
            ..COMMAND_ACK_DATA::default()
        });
        told.insert(0, acknowledged);
        told
    }

    /// The mode with this index, from 1; 0: all.
    fn modes(&self, index: u32) -> Vec<MavMessage> {
        let all = messages::modes(&self.about);
        match usize::try_from(index) {
            Ok(0) => all.collect(),
            Ok(index) => all.skip(index - 1).take(1).collect(),
            Err(_) => Vec::new(),
        }
    }

    fn version(&self) -> MavMessage {
        let numbers = env!("CARGO_PKG_VERSION").split('.');
        let version = numbers.fold(0_u32, |all, number| {
            all << 8 | number.parse::<u32>().unwrap_or(0) & 0xff
        });
        MavMessage::AUTOPILOT_VERSION(AUTOPILOT_VERSION_DATA {
            capabilities: MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_MAVLINK2,
            uid: u64::from(self.about.system),
            // The last byte is the release type: 255, official.
            flight_sw_version: version << 8 | 0xff,
            ..AUTOPILOT_VERSION_DATA::default()
        })
    }
}

fn protocol() -> MavMessage {
    MavMessage::PROTOCOL_VERSION(PROTOCOL_VERSION_DATA {
        version: 200,
        min_version: 100,
        max_version: 200,
        ..PROTOCOL_VERSION_DATA::default()
    })
}

/// An empty list.
fn no_parameters() -> MavMessage {
    MavMessage::PARAM_VALUE(PARAM_VALUE_DATA {
        param_type: MavParamType::MAV_PARAM_TYPE_REAL32,
        param_count: 0,
        param_index: u16::MAX,
        ..PARAM_VALUE_DATA::default()
    })
}

fn no_mission((system, component): (u8, u8), mission_type: MavMissionType) -> MavMessage {
    MavMessage::MISSION_COUNT(MISSION_COUNT_DATA {
        count: 0,
        target_system: system,
        target_component: component,
        mission_type,
        ..MISSION_COUNT_DATA::default()
    })
}

impl Listener for Answers {
    fn message(&mut self, received: Received, sender: &mut Sender) {
        for answer in self.answer(&received) {
            // A ground station will ask again.
            let _ = sender.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(message: MavMessage) -> Vec<MavMessage> {
        let answers = Answers::new(VehicleInfo {
            system: 3,
            kind: MavType::MAV_TYPE_QUADROTOR,
            origin: crate::hil::Origin::default(),
            modes: ["disarmed", "flying", "landing"].map(str::to_owned).into(),
        });
        let received = Received {
            arrival: 0,
            system: 255,
            component: 190,
            sequence: 0,
            message,
        };
        answers.answer(&received)
    }

    fn command(command: MavCmd, param1: f32, target_system: u8) -> Vec<MavMessage> {
        ask(MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
            command,
            param1,
            target_system,
            ..COMMAND_LONG_DATA::default()
        }))
    }

    #[test]
    fn nothing_is_obeyed_and_everything_is_answered() {
        for (what, number) in [
            (MavCmd::MAV_CMD_COMPONENT_ARM_DISARM, 1.0),
            (MavCmd::MAV_CMD_DO_SET_MODE, 1.0),
            (MavCmd::MAV_CMD_NAV_TAKEOFF, 0.0),
            (MavCmd::MAV_CMD_REQUEST_MESSAGE, 30.0),
            (MavCmd::MAV_CMD_REQUEST_MESSAGE, f32::NAN),
        ] {
            let answers = command(what, number, 3);
            let MavMessage::COMMAND_ACK(ack) = &answers[0] else {
                panic!("{answers:?}")
            };
            assert_eq!(
                (ack.command, ack.result),
                (what, MavResult::MAV_RESULT_UNSUPPORTED)
            );
            assert_eq!((ack.target_system, ack.target_component), (255, 190));
            assert_eq!(answers.len(), 1);
        }
        assert_eq!(
            command(MavCmd::MAV_CMD_DO_SET_MODE, 1.0, 4),
            [],
            "somebody else's"
        );
    }

    #[test]
    fn questions_have_answers() {
        let accepted = |answers: &[MavMessage]| matches!(&answers[0], MavMessage::COMMAND_ACK(ack) if ack.result == MavResult::MAV_RESULT_ACCEPTED);
        let version = command(MavCmd::MAV_CMD_REQUEST_MESSAGE, 148.0, 3);
        assert!(accepted(&version) && matches!(version[1], MavMessage::AUTOPILOT_VERSION(_)));
        let modes = |index: f32| {
            ask(MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
                command: MavCmd::MAV_CMD_REQUEST_MESSAGE,
                param1: 435.0,
                param2: index,
                ..COMMAND_LONG_DATA::default()
            }))
        };
        assert!(accepted(&modes(0.0)) && modes(0.0).len() == 4);
        let MavMessage::AVAILABLE_MODES(second) = &modes(2.0)[1] else {
            panic!("{:?}", modes(2.0))
        };
        assert_eq!(
            (second.custom_mode, second.number_modes, second.mode_index),
            (1, 3, 2)
        );
        assert_eq!(second.mode_name.to_str().unwrap(), "flying");
        assert!(!accepted(&modes(4.0)));
        let protocol = command(MavCmd::MAV_CMD_REQUEST_MESSAGE, 300.0, 0);
        assert!(accepted(&protocol) && matches!(protocol[1], MavMessage::PROTOCOL_VERSION(_)));
        let list = ask(MavMessage::PARAM_REQUEST_LIST(PARAM_REQUEST_LIST_DATA {
            target_system: 3,
            target_component: 1,
        }));
        let MavMessage::PARAM_VALUE(none) = &list[0] else {
            panic!("{list:?}")
        };
        assert_eq!((none.param_count, none.param_index), (0, u16::MAX));
        let mission = ask(MavMessage::MISSION_REQUEST_LIST(
            MISSION_REQUEST_LIST_DATA {
                target_system: 3,
                target_component: 1,
                mission_type: MavMissionType::MAV_MISSION_TYPE_FENCE,
            },
        ));
        let MavMessage::MISSION_COUNT(none) = &mission[0] else {
            panic!("{mission:?}")
        };
        assert_eq!(
            (none.count, none.mission_type),
            (0, MavMissionType::MAV_MISSION_TYPE_FENCE)
        );
        assert!(matches!(
            ask(MavMessage::TIMESYNC(TIMESYNC_DATA {
                ts1: 7,
                ..TIMESYNC_DATA::default()
            }))[0],
            MavMessage::TIMESYNC(TIMESYNC_DATA {
                ts1: 7,
                tc1: 1..,
                ..
            })
        ));
        assert_eq!(
            ask(MavMessage::TIMESYNC(TIMESYNC_DATA {
                tc1: 1,
                ..TIMESYNC_DATA::default()
            })),
            []
        );
    }
}
