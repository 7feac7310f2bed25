//! What turns the rotors: motors with the speed as their state, and the battery that feeds them.
//!
//! Nothing here is part of the equation of motion that controllers and references know: they know the lag of the thrust that follows from
//! the motor. It acts where a simulation starts it, with [`ActuatedDynamics::start_propulsion`](crate::ActuatedDynamics::start_propulsion).
//!
//! | | model |
//! |---|---|
//! | motor | [`RotorMotor`]: a lag of the speed, or a winding with back-EMF |
//! | battery | [`Battery`]: open-circuit voltage by charge, internal resistance |
//! | both | [`Circuit`]: the voltage at which the battery gives what the motors take, a [`Supply`] |

mod battery;
mod circuit;
mod motor;

pub use battery::{Battery, BatteryError, OpenCircuit};
pub use circuit::{Circuit, Supply};
pub use motor::{MotorDynamics, RotorMotor};
