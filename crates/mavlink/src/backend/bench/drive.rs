//! The messages that move one actuator of a vehicle that is not armed, and those that stop it.
//!
//! Read in the autopilots' sources:
//!
//! - PX4 (1.17, `Commander::handleCommandActuatorTest`): `ACTUATOR_TEST` names an output function, 1 to 12 motors, 33 to 40 servos; its timeout is
//!   at most 3 s, and one that is not positive gives the output back. Denied while the vehicle is armed, the safety button is not pressed, or
//!   `COM_MOT_TEST_EN` is not 1; unsupported for other functions. Nothing tells whether an output has that function.
//! - `ArduCopter` (4.7, `motor_test.cpp`, `AP_ServoRelayEvents.cpp`): `DO_MOTOR_TEST` counts motors clockwise from the nose, of its tricopter's the third
//!   number is the tail servo and the fourth the front left motor. `DO_REPEAT_SERVO` moves a servo for half of its period and then to its trim, by the
//!   autopilot's own clock; `DO_SET_SERVO` ends that. Both fail for outputs whose function is neither none nor passed through from a radio.

use fly_mechanics::actuators::Inputs;

use super::BenchError;
use crate::Command;
use crate::backend::autopilot::Autopilot;
use crate::dialect::MavCmd;
use crate::outputs::Output;

/// Motors and servos that PX4 tests, and their first functions.
const PX4_MOTORS: (usize, usize) = (12, 1);
const PX4_SERVOS: (usize, usize) = (8, 33);

/// Motors of `ArduPilot`'s largest frames.
const ARDUPILOT_MOTORS: usize = 12;

/// `MOTOR_TEST_THROTTLE_PWM`.
const PULSE: f32 = 1.0;

/// Which of its kind an actuator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ActuatorNumber {
    pub is_motor: bool,
    /// From 1: motors and servos each in the order of their channels.
    pub number: usize,
    /// Of a motor its number clockwise from the nose, as `ArduPilot` tests; else 0.
    pub sequence: usize,
}

/// The places of all commands of a vehicle with these outputs.
pub(super) fn places(inputs: &Inputs, outputs: &[Output]) -> Vec<ActuatorNumber> {
    let rotors = inputs.rotors().as_slice();
    let is_motor: Vec<bool> = (inputs.command_names().iter())
        .map(|name| name.ends_with(".thrust"))
        .collect();
    // Clockwise from above, in [0, 1) of a turn; coaxial rotors by their channels.
    let turn = |index: usize| {
        let p = rotors[index].position;
        ((-p.y).atan2(p.x) / std::f64::consts::TAU).rem_euclid(1.0)
    };
    let thrusts: Vec<usize> = (0..outputs.len()).filter(|i| is_motor[*i]).collect();
    (outputs.iter().enumerate())
        .map(|(index, output)| {
            let same = |other: &usize| is_motor[*other] == is_motor[index];
            let before = |other: &usize| outputs[*other].channel() < output.channel();
            let number = 1 + (0..outputs.len()).filter(same).filter(before).count();
            let rotor = thrusts.iter().position(|place| *place == index);
            let sequence = rotor.map_or(0, |rotor| {
                let key = |rotor: usize| (turn(rotor), outputs[thrusts[rotor]].channel());
                let mine = key(rotor);
                let earlier = (0..thrusts.len()).filter(|other| key(*other) < mine);
                let rank = 1 + earlier.count();
                // The tail servo of its tricopter stands between.
                if thrusts.len() == 3 && rank == 3 {
                    4
                } else {
                    rank
                }
            });
            ActuatorNumber {
                is_motor: is_motor[index],
                number,
                sequence,
            }
        })
        .collect()
}

/// How one actuator is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drive {
    /// PX4's output function.
    Function(f32),
    /// `ArduPilot`'s motor in the order of its test.
    Motor(f32),
    /// `ArduPilot`'s output.
    Servo(f32),
}

impl Drive {
    /// # Errors
    /// [`BenchError::TooMany`].
    #[expect(clippy::cast_precision_loss, reason = "below 100")]
    pub fn new(
        autopilot: Autopilot,
        place: ActuatorNumber,
        command: &str,
        output: &Output,
    ) -> Result<Self, BenchError> {
        let within = |most: usize, autopilot: &'static str| {
            if place.number <= most {
                return Ok(());
            }
            let (command, number) = (command.to_owned(), place.number);
            Err(BenchError::TooMany {
                command,
                number,
                autopilot,
                most,
            })
        };
        Ok(match (autopilot, place.is_motor) {
            (Autopilot::Px4, is_motor) => {
                let (most, first) = if is_motor { PX4_MOTORS } else { PX4_SERVOS };
                within(most, "PX4")?;
                Self::Function((first + place.number - 1) as f32)
            }
            (Autopilot::ArduPilot, true) => {
                within(ARDUPILOT_MOTORS, "ArduPilot")?;
                Self::Motor(place.sequence as f32)
            }
            (Autopilot::ArduPilot, false) => Self::Servo(output.channel() as f32),
        })
    }

    /// Moves it to this part of full output for so many s.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "MAVLink's parameters are f32"
    )]
    pub fn start(self, output: &Output, part: f64, seconds: f64) -> Command {
        let pulse = f32::from(output.pulse_of_part(part));
        let seconds = seconds as f32;
        match self {
            Self::Function(function) => {
                let control = output.control_of_part(part) as f32;
                Command::long(
                    MavCmd::MAV_CMD_ACTUATOR_TEST,
                    [control, seconds, 0.0, 0.0, function, 0.0, 0.0],
                )
            }
            Self::Motor(sequence) => Command::long(
                MavCmd::MAV_CMD_DO_MOTOR_TEST,
                [sequence, PULSE, pulse, seconds, 1.0, 0.0, 0.0],
            ),
            Self::Servo(channel) => Command::long(
                MavCmd::MAV_CMD_DO_REPEAT_SERVO,
                [channel, pulse, 1.0, 2.0 * seconds, 0.0, 0.0, 0.0],
            ),
        }
    }

    /// Stops a motor, or moves a servo to where it rests.
    pub fn stop(self, output: &Output) -> Command {
        let rest = f32::from(output.pulse_of_part(0.0));
        match self {
            Self::Function(function) => Command::long(
                MavCmd::MAV_CMD_ACTUATOR_TEST,
                [f32::NAN, 0.0, 0.0, 0.0, function, 0.0, 0.0],
            ),
            Self::Motor(sequence) => Command::long(
                MavCmd::MAV_CMD_DO_MOTOR_TEST,
                [sequence, PULSE, rest, 0.0, 1.0, 0.0, 0.0],
            ),
            Self::Servo(channel) => Command::long(
                MavCmd::MAV_CMD_DO_SET_SERVO,
                [channel, rest, 0.0, 0.0, 0.0, 0.0, 0.0],
            ),
        }
    }

    /// What may be wrong where the autopilot refuses.
    pub fn help(self) -> String {
        match self {
            Self::Function(function) => format!(
                "PX4 denies it while it is armed, while its safety button is not pressed, and unless COM_MOT_TEST_EN is 1; it does not support \
                 function {function} where the firmware has no such motor or servo, or is older than 1.13"
            ),
            Self::Motor(_) => "ArduCopter tests motors while it stands, with its safety switch pressed, its board initialised and \
                               SERVOn_FUNCTION of the output 33 or more"
                .to_owned(),
            Self::Servo(channel) => format!(
                "ArduPilot moves outputs whose SERVO{channel}_FUNCTION is 0 (none), 1 (pass through) or 51 to 66 (a radio's channel); it drives others itself"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::OutputMap;
    use fly_mechanics::System;

    fn of(text: &str) -> (OutputMap, Vec<ActuatorNumber>) {
        let system = System::from_toml(text).unwrap();
        let map = OutputMap::new(&system.inputs, Autopilot::Px4, None, &[]).unwrap();
        let places = places(&system.inputs, map.outputs());
        (map, places)
    }

    /// As `AP_MotorsTri` and `AP_MotorsMatrix` (plus: front 1, right 2, rear 3, left 4) count.
    #[test]
    fn motors_are_counted_clockwise_from_the_nose() {
        let (_, places) = of(include_str!(
            "../../../../../configs/vehicles/tricopter.toml"
        ));
        let found: Vec<_> = (places.iter())
            .map(|p| (p.is_motor, p.number, p.sequence))
            .collect();
        // Front left, rear, front right, each with its tilt.
        assert_eq!(
            found,
            [
                (true, 1, 4),
                (false, 1, 0),
                (true, 2, 2),
                (false, 2, 0),
                (true, 3, 1),
                (false, 3, 0)
            ]
        );
        let (map, places) = of(include_str!(
            "../../../../../configs/vehicles/quadcopter.toml"
        ));
        // Front, left, rear, right.
        let sequences: Vec<_> = places.iter().map(|p| p.sequence).collect();
        assert_eq!(sequences, [1, 4, 3, 2]);
        let numbers: Vec<_> = places.iter().map(|p| p.number).collect();
        assert_eq!(numbers, map.channels().collect::<Vec<_>>());
    }

    #[test]
    fn more_than_an_autopilot_tests_are_refused() {
        let (map, _) = of(include_str!(
            "../../../../../configs/vehicles/tricopter.toml"
        ));
        let place = ActuatorNumber {
            is_motor: false,
            number: 9,
            sequence: 0,
        };
        let output = &map.outputs()[1];
        let error = Drive::new(Autopilot::Px4, place, "rotor.8.tilt", output).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`rotor.8.tilt` is number 9 of its kind, and PX4 tests the first 8 alone"
        );
        let drive = Drive::new(Autopilot::ArduPilot, place, "rotor.8.tilt", output).unwrap();
        assert_eq!(drive, Drive::Servo(4.0));
    }
}
