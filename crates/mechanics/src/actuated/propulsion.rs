//! The rotors of a system with their motors, on a common battery.

use fly_lie::operators::{angular, join};
use nalgebra::{Vector3, Vector6};

use crate::System;
use crate::multibody::{BodyId, Workspace};
use crate::propulsion::{Battery, Circuit, MotorDynamics, RotorMotor, Supply};

/// All rotors with a motor, and the battery. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct Propulsion {
    drives: Vec<Drive>,
    battery: Option<Battery>,
    /// The remaining fraction of its open-circuit voltage.
    battery_fraction: f64,
    circuit: Circuit,
    /// The supply in the last state evaluated.
    supply: Supply,
}

/// Without a battery motors get any voltage.
const UNLIMITED: Supply = Supply {
    voltage: f64::INFINITY,
    current: 0.0,
    given: 1.0,
};
/// An empty battery is switched off: no current flows.
const EMPTY: Supply = Supply {
    voltage: 0.0,
    current: 0.0,
    given: 0.0,
};

/// A rotor with its motor.
#[derive(Clone, Debug)]
struct Drive {
    motor: RotorMotor,
    /// The index of its thrust command; that of its tilt is the next.
    command: usize,
    /// `k_eta`, N/(rad/s)^2.
    thrust_coefficient: f64,
    /// `k_m`, N m/(rad/s)^2.
    drag: f64,
    /// The speed of the largest thrust, rad/s.
    fastest: f64,
    body: BodyId,
    /// Its axis; for a tilting rotor the tilt axis, and the direction towards which the thrust tilts.
    axis: Vector3<f64>,
    tilt: Option<[Vector3<f64>; 2]>,
    /// J, with the sign of the rotation about the thrust, kg m^2.
    spin_inertia: f64,
    /// Speed and acceleration in the last state evaluated, rad/s and rad/s^2; then the direction of its thrust, and its tilt
    /// rate.
    speed: f64,
    speed_rate: f64,
    direction: Vector3<f64>,
    tilt_rate: Vector3<f64>,
}

impl Drive {
    fn speed_of(&self, thrust: f64) -> f64 {
        (thrust.abs() / self.thrust_coefficient)
            .sqrt()
            .copysign(thrust)
    }

    fn thrust_of(&self, speed: f64) -> f64 {
        self.thrust_coefficient * speed * speed.abs()
    }

    /// The sense of rotation about the thrust: 1 or -1.
    fn sense(&self) -> f64 {
        1.0_f64.copysign(self.spin_inertia)
    }
}

impl Propulsion {
    /// `None` if no rotor has a motor.
    pub(crate) fn new(system: &System) -> Option<Self> {
        let rotors = system.inputs.rotors();
        let all = rotors.as_slice().iter().zip(rotors.rotor_ranges());
        let drives = all.zip(system.inputs.carriers()).enumerate();
        let drives: Vec<Drive> = drives
            .filter_map(|(index, ((rotor, range), body))| {
                let motor = rotor.propeller.motor?;
                // A servo-driven body carries the rotor, which then has no tilt of its own.
                let mut servos = system.servos.iter();
                let servo = servos.find(|servo| servo.rotor == index);
                let thrust_coefficient = rotor.propeller.thrust_coefficient?;
                let [low, high] = rotor.thrust;
                let (side, mut along) = rotor.directions();
                if let Some(placement) = servo.and_then(|servo| system.model.placement(servo.joint))
                {
                    along = placement.rotation.inverse().act(&along);
                }
                Some(Drive {
                    motor,
                    command: range.start,
                    thrust_coefficient,
                    drag: rotor.drag_ratio.abs() * thrust_coefficient,
                    fastest: (low.abs().max(high.abs()) / thrust_coefficient).sqrt(),
                    body: servo.map_or(*body, |servo| servo.joint),
                    axis: along,
                    tilt: rotor
                        .tilt
                        .as_ref()
                        .filter(|_| servo.is_none())
                        .zip(side)
                        .map(|(tilt, side)| [tilt.axis, side]),
                    spin_inertia: motor.inertia.copysign(-rotor.drag_ratio),
                    speed: 0.0,
                    speed_rate: 0.0,
                    direction: along,
                    tilt_rate: Vector3::zeros(),
                })
            })
            .collect();
        (!drives.is_empty()).then(|| Self {
            circuit: Circuit::with_capacity(drives.len()),
            drives,
            battery: system.battery.clone(),
            battery_fraction: 1.0,
            supply: UNLIMITED,
        })
    }

    /// Converts thrusts to speeds.
    pub(crate) fn speeds(&self, actuators: &mut [f64]) {
        for drive in &self.drives {
            actuators[drive.command] = drive.speed_of(actuators[drive.command]);
        }
    }

    /// The thrust at this speed of the rotor with this thrust command; `None` if it has no motor.
    pub(crate) fn thrust(&self, command: usize, speed: f64) -> Option<f64> {
        let mut drives = self.drives.iter();
        let drive = drives.find(|drive| drive.command == command)?;
        Some(drive.thrust_of(speed))
    }

    pub(crate) fn set_battery_fraction(&mut self, part: f64) {
        self.battery_fraction = part;
    }

    pub(crate) fn battery_fraction(&self) -> f64 {
        self.battery_fraction
    }

    pub(crate) fn has_battery(&self) -> bool {
        self.battery.is_some()
    }

    /// V, in the last state evaluated.
    pub(crate) fn voltage(&self) -> f64 {
        self.supply.voltage
    }

    /// The thrusts for the speeds in `states`, at constant speeds: N into `actual`.
    pub(crate) fn hold(&mut self, states: &[f64], actual: &mut [f64]) {
        for drive in &mut self.drives {
            drive.turn(states[drive.command], actual, 0.0);
            drive.speed_rate = 0.0;
        }
    }

    /// The same under commands, with the rates of the speeds and of the charge, which follows the actuators: rad/s^2 and 1/s into `rates`.
    /// `parts` are the actuators' effectiveness factors. The workspace holds the motion.
    pub(crate) fn drive(
        &mut self,
        workspace: &Workspace<f64>,
        command: &[f64],
        states: &[f64],
        parts: &[f64],
        actual: &mut [f64],
        rates: &mut [f64],
    ) {
        for drive in &mut self.drives {
            let tilt_rate = drive.tilt.map_or(0.0, |_| rates[drive.command + 1]);
            drive.turn(states[drive.command], actual, tilt_rate);
        }
        let charge = states.get(actual.len()).copied();
        self.power(workspace, command, parts, charge);
        let limit = self.share();
        // The speeds that the available power sustains.
        let held = self.supply.given.cbrt();
        let Supply {
            voltage: supplied, ..
        } = self.supply;
        let empty = self.supply == EMPTY;
        for drive in &mut self.drives {
            let wanted = drive.speed_of(command[drive.command]);
            let drag = drive.drag * parts[drive.command];
            let load = drag * drive.speed * drive.speed.abs();
            drive.speed_rate = match drive.motor.dynamics {
                MotorDynamics::Lag { time_constant, .. } => {
                    let mut fastest = limit * drive.fastest;
                    if held < 1.0 {
                        fastest = fastest.min(held * drive.speed.abs());
                    }
                    (wanted.clamp(-fastest, fastest) - drive.speed) / time_constant
                }
                MotorDynamics::Winding {
                    speed_constant,
                    resistance,
                    no_load_current,
                } => {
                    let friction = no_load_current
                        * (drive.speed / MotorDynamics::FRICTION_SPEED).clamp(-1.0, 1.0);
                    let voltage = (drive.motor.dynamics.voltage(wanted, drive.drag))
                        .clamp(-supplied, supplied);
                    let winding = if empty {
                        0.0
                    } else {
                        (voltage - drive.emf(workspace, speed_constant)) / resistance
                    };
                    ((winding - friction) / speed_constant - load) / drive.motor.inertia
                }
            };
            rates[drive.command] = drive.speed_rate;
        }
        if let (Some(battery), Some(rate)) = (&self.battery, rates.get_mut(actual.len())) {
            *rate = battery.rate_of_current() * self.supply.current;
        }
    }

    /// The supply of the battery under these loads.
    fn power(
        &mut self,
        workspace: &Workspace<f64>,
        command: &[f64],
        parts: &[f64],
        charge: Option<f64>,
    ) {
        let (Some(battery), Some(charge)) = (&self.battery, charge) else {
            return;
        };
        let open = self.battery_fraction * battery.open_circuit_voltage(charge);
        if open == 0.0 {
            self.supply = EMPTY;
            return;
        }
        let mut power = 0.0;
        for drive in &self.drives {
            if let MotorDynamics::Lag { efficiency, .. } = drive.motor.dynamics {
                power += parts[drive.command] * drive.drag * drive.speed.abs().powi(3) / efficiency;
            }
        }
        self.circuit.begin(power);
        for drive in &self.drives {
            if let MotorDynamics::Winding {
                speed_constant,
                resistance,
                ..
            } = drive.motor.dynamics
            {
                let wanted = drive.speed_of(command[drive.command]);
                let voltage = drive.motor.dynamics.voltage(wanted, drive.drag);
                let emf = drive.emf(workspace, speed_constant);
                self.circuit.add(voltage, emf, resistance);
            }
        }
        self.supply = self.circuit.solve(open, battery.resistance);
    }

    /// Whether the battery at this charge lets all rotors hold this fraction of these thrusts (N, by command) at rest.
    pub(super) fn holds(&mut self, charge: f64, thrusts: &[f64], part: f64) -> bool {
        let Some(battery) = &self.battery else {
            return true;
        };
        let open = self.battery_fraction * battery.open_circuit_voltage(charge);
        if open == 0.0 {
            return false;
        }
        let speed = |drive: &Drive| drive.speed_of(part * thrusts[drive.command]);
        let power = self.drives.iter().map(|drive| match drive.motor.dynamics {
            MotorDynamics::Lag { efficiency, .. } => {
                drive.drag * speed(drive).abs().powi(3) / efficiency
            }
            MotorDynamics::Winding { .. } => 0.0,
        });
        self.circuit.begin(power.sum());
        let mut most = 0.0_f64;
        for drive in &self.drives {
            if let MotorDynamics::Winding {
                speed_constant,
                resistance,
                ..
            } = drive.motor.dynamics
            {
                let wanted = drive.motor.dynamics.voltage(speed(drive), drive.drag);
                most = most.max(wanted.abs());
                self.circuit
                    .add(wanted, speed(drive) / speed_constant, resistance);
            }
        }
        self.supply = self.circuit.solve(open, battery.resistance);
        let limit = self.share();
        let reached = |drive: &Drive| match drive.motor.dynamics {
            MotorDynamics::Lag { .. } => speed(drive).abs() <= limit * drive.fastest,
            MotorDynamics::Winding { .. } => true,
        };
        self.supply.given == 1.0 && most <= self.supply.voltage && self.drives.iter().all(reached)
    }

    /// The voltage relative to that of the full battery; 1 without one.
    fn share(&self) -> f64 {
        (self.battery.as_ref()).map_or(1.0, |battery| {
            (self.supply.voltage / battery.open_circuit_voltage(1.0)).min(1.0)
        })
    }

    /// The reaction torques of the rotors' angular momenta on their carriers, `-d/dt (J Omega d)`, in the last state evaluated, in addition to
    /// the drag torques, which belong to the thrusts: wrenches in the bodies' frames.
    pub(crate) fn wrenches(
        &self,
        workspace: &Workspace<f64>,
    ) -> impl Iterator<Item = (BodyId, Vector6<f64>)> {
        let heavy = self
            .drives
            .iter()
            .filter(|drive| drive.motor.inertia != 0.0);
        heavy.map(|drive| {
            let turning = angular(&workspace.twist(BodyId::WORLD, drive.body)) + drive.tilt_rate;
            let change =
                drive.direction * drive.speed_rate + turning.cross(&drive.direction) * drive.speed;
            let torque = change * -drive.spin_inertia;
            (drive.body, join(&Vector3::zeros(), &torque))
        })
    }
}

impl Drive {
    /// Stores the speed and direction of the rotor, and writes its thrust to the actuator outputs.
    fn turn(&mut self, speed: f64, actual: &mut [f64], tilt_rate: f64) {
        self.speed = speed;
        actual[self.command] = self.thrust_of(speed);
        if let Some([axis, side]) = self.tilt {
            let (sin, cos) = actual[self.command + 1].sin_cos();
            self.direction = side * sin + self.axis * cos;
            self.tilt_rate = axis * tilt_rate;
        }
    }

    /// The back-EMF, V, from the speed relative to the body.
    fn emf(&self, workspace: &Workspace<f64>, speed_constant: f64) -> f64 {
        let turning = angular(&workspace.twist(BodyId::WORLD, self.body)) + self.tilt_rate;
        (self.speed - self.sense() * turning.dot(&self.direction)) / speed_constant
    }
}
