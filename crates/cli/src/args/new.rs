//! The arguments of `fly new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{AsData, number};

/// What is asked for of the new vehicle; what is left out is asked on a terminal.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// Creates NAME.toml, the flight, and NAME-vehicle.toml, the vehicle [default: the frame's name]
    #[arg(value_name = "NAME")]
    pub name: Option<PathBuf>,

    /// The arrangement of the rotors
    #[arg(long, value_name = "FRAME")]
    pub frame: Option<Frame>,

    /// Take-off mass, kg, 0.01 to 1000
    #[arg(long, value_name = "KG", allow_negative_numbers = true, value_parser = mass)]
    pub mass: Option<f64>,

    /// Length of an arm, from the centre to the axis of its rotors, m, 0.02 to 10
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = length)]
    pub arm_length: Option<f64>,

    /// Largest thrust of one rotor, N [default: a thrust-to-weight ratio of 2.5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = thrust)]
    pub thrust: Option<f64>,

    /// Take mass, centre of mass, inertia and visuals from this URDF, which must be one rigid body
    #[arg(long, value_name = "FILE", conflicts_with = "mass")]
    pub urdf: Option<PathBuf>,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

/// How rotors are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Frame {
    /// Four rotors at front left, rear left, rear right, front right
    #[value(alias = "quadcopter")]
    QuadcopterX,
    /// Four rotors at front, left, rear, right
    QuadcopterPlus,
    /// Six rotors in a plane, one at the front
    Hexacopter,
    /// Eight rotors in a plane, one at the front
    Octocopter,
    /// Three arms, each with a rotor above and one below
    Y6,
    /// Four arms, each with a rotor above and one below
    X8,
    /// Three rotors that tilt about their arms: force and torque independent of each other
    Tricopter,
}

/// A mass, kg.
///
/// # Errors
/// What was expected.
pub fn mass(text: &str) -> Result<f64, String> {
    number(text, "a mass from 0.01 to 1000 kg", |kg| {
        (0.01..=1000.0).contains(&kg)
    })
}

/// The length of an arm, m.
///
/// # Errors
/// What was expected.
pub fn length(text: &str) -> Result<f64, String> {
    number(text, "a length from 0.02 to 10 m", |m| {
        (0.02..=10.0).contains(&m)
    })
}

fn thrust(text: &str) -> Result<f64, String> {
    number(text, "a thrust above 0, at most 100000 N", |n| {
        n > 0.0 && n <= 1e5
    })
}
