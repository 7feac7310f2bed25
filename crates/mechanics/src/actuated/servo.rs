//! Servos that tilt rotors through joints of the system.

use crate::System;
use crate::integrate::SystemState;

/// All servos of a system. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct Servos {
    servos: Vec<Servo>,
}

#[derive(Clone, Copy, Debug)]
struct Servo {
    /// The index of the tilt command.
    command: usize,
    /// The index of its joint's coordinate in configuration and velocity.
    x: usize,
    xi: usize,
    stiffness: f64,
    damping: f64,
    effort: f64,
    /// The torque on the joint, in the last state evaluated, N m.
    torque: f64,
}

impl Servos {
    pub fn new(system: &System) -> Self {
        let ranges: Vec<_> = system.inputs.rotors().rotor_ranges().collect();
        let servos = system.servos.iter().map(|servo| Servo {
            // The tilt command follows the thrust.
            command: ranges[servo.rotor].start + 1,
            x: system.model.config_range(servo.joint).start,
            xi: system.model.velocity_range(servo.joint).start,
            stiffness: servo.stiffness,
            damping: servo.damping,
            effort: servo.effort,
            torque: 0.0,
        });
        Self {
            servos: servos.collect(),
        }
    }

    /// The tilts with the servos commanded to hold their positions.
    pub fn hold(&mut self, x: &[f64], xi: &[f64], actual: &mut [f64]) {
        for servo in &mut self.servos {
            let q = x[servo.x];
            actual[servo.command] = q;
            servo.push(q, q, xi[servo.xi]);
        }
    }

    /// The tilts and their rates under commands.
    pub fn turn(
        &mut self,
        command: &[f64],
        state: &SystemState<f64>,
        n: usize,
        actual: &mut [f64],
        rates: &mut [f64],
    ) {
        for servo in &mut self.servos {
            let (q, rate) = (state.configuration[servo.x], state.velocity[..n][servo.xi]);
            actual[servo.command] = q;
            rates[servo.command] = rate;
            servo.push(command[servo.command], q, rate);
        }
    }

    /// Whether this command drives a servo.
    pub fn turns(&self, command: usize) -> bool {
        self.servos.iter().any(|servo| servo.command == command)
    }

    /// Adds the torques in the last state evaluated.
    pub fn add_force(&self, force: &mut [f64]) {
        for servo in &self.servos {
            force[servo.xi] += servo.torque;
        }
    }
}

impl Servo {
    fn push(&mut self, command: f64, q: f64, rate: f64) {
        let torque = self.stiffness * (command - q) - self.damping * rate;
        self.torque = torque.clamp(-self.effort, self.effort);
    }
}
