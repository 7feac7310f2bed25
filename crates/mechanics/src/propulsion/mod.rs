//! Rotor propulsion: motors with the speed as their state, and the battery that feeds them.
//!
//! None of this is part of the equation of motion used by controllers and references: they use the lag of the thrust that follows from the
//! motor. It acts when a simulation starts it, with [`ActuatedDynamics::start_propulsion`](crate::ActuatedDynamics::start_propulsion).
//!
//! | | model |
//! |---|---|
//! | motor | [`RotorMotor`]: a first-order lag of the speed, or a winding with back-EMF |
//! | battery | [`Battery`]: open-circuit voltage over charge, internal resistance |
//! | both | [`Circuit`]: the voltage at which the battery supplies what the motors draw, a [`Supply`] |

mod battery;
mod circuit;
mod motor;

pub use battery::{Battery, BatteryError, OpenCircuit};
pub use circuit::{Circuit, Supply};
pub use motor::{MotorDynamics, RotorMotor};
