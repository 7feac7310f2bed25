//! Why an actuator is not tested.

use crate::dialect::MavResult;
use crate::{CommandError, VehicleError};

/// Why an actuator is not tested, or its test ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BenchError {
    /// The link cannot be opened, or carries nothing.
    #[error("{0}")]
    Link(String),
    /// No autopilot was heard.
    #[error(transparent)]
    NotHeard(#[from] VehicleError),
    /// Neither PX4 nor ArduPilot.
    #[error(
        "the vehicle's autopilot is {0}; expected PX4 or ArduPilot, whose actuators can be tested"
    )]
    Autopilot(String),
    /// Its motors may turn.
    #[error(
        "the vehicle is armed; actuators are tested only while it is disarmed: disarm it, and remove its propellers"
    )]
    Armed,
    /// A parameter does not let the actuator be moved.
    #[error("{name} is {value}, expected {expected}: {why}")]
    Parameter {
        /// The autopilot's name of it.
        name: String,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: String,
        /// What for.
        why: String,
    },
    /// A motor whose pulse is inverted: its least pulse is full thrust.
    #[error(
        "the output of `{0}` is `reversed`, so that the least pulse is full thrust: such a motor is not moved. Its sense of rotation is not changed by that, \
         but by two of its wires or its speed controller"
    )]
    Reversed(String),
    /// The autopilot has no such function.
    #[error(
        "`{command}` is number {number} of its kind, and {autopilot} tests the first {most} alone"
    )]
    TooMany {
        /// The command of the actuator.
        command: String,
        /// Its number among the motors or the servos, from 1.
        number: usize,
        /// The autopilot.
        autopilot: &'static str,
        /// How many it tests.
        most: usize,
    },
    /// The autopilot refuses.
    #[error("the vehicle refused to move `{command}` ({}){}: {help}", words(*.result), said(.reasons))]
    Refused {
        /// The command of the actuator.
        command: String,
        /// How it refuses.
        result: MavResult,
        /// What it says besides.
        reasons: String,
        /// What may be wrong.
        help: String,
    },
    /// The autopilot did not acknowledge; it may have moved the actuator.
    #[error(
        "the vehicle did not acknowledge the request to move `{command}` (sent {sent} times); a motion that has begun ends by itself"
    )]
    Silent {
        /// The command of the actuator.
        command: String,
        /// Transmissions.
        sent: u32,
    },
    /// The vehicle is not heard any more.
    #[error(
        "the vehicle was not heard for {seconds} s while `{command}` moved; the autopilot stops it by itself"
    )]
    Lost {
        /// The command of the actuator.
        command: String,
        /// The silence, s.
        seconds: f64,
    },
    /// It moves, and the word to stop was not acknowledged.
    #[error(
        "the vehicle did not confirm that `{command}` stopped; the autopilot stops it by itself after {seconds} s"
    )]
    NotStopped {
        /// The command of the actuator.
        command: String,
        /// Its own timeout, s.
        seconds: f64,
    },
    /// The command could not be begun.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// `MAV_RESULT_TEMPORARILY_REJECTED` in words.
fn words(result: MavResult) -> String {
    let name = format!("{result:?}");
    let name = name.trim_start_matches("MAV_RESULT_").to_lowercase();
    name.replace('_', " ")
}

fn said(reasons: &str) -> String {
    if reasons.is_empty() {
        String::new()
    } else {
        format!(", saying: {reasons}")
    }
}
