//! One actuator at a time, on a bench: a vehicle that is not armed moves it for some seconds, by its own clock.
//!
//! The actuators are the commands of the vehicle's description, and [`OutputMap`] says which output drives each. What
//! is sent and what the autopilots make of it is told in the table of `docs/vehicles.md`.

mod drive;
mod error;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fly_hal::{Configuration, Deadline, Error, monotonic_now};
use fly_mechanics::actuators::Inputs;

use super::autopilot::Autopilot;
use super::hil;
use super::preflight::{Health, read_parameters};
use super::settings::Settings;
use super::vehicle::OTHERS_WAIT;
use crate::outputs::{Output, OutputMap};
use crate::{Address, Command, Outcome, Vehicle, VehicleSettings, autopilot_name, type_name};
use drive::{ActuatorNumber, Drive, places};

pub use error::BenchError;

const MS: i64 = 1_000_000;

/// How long a command may wait for its acknowledgement, ns.
const ANSWER: i64 = 1_200 * MS;

/// A vehicle that is silent for so long is lost, ns: `ArduPilot`'s heartbeat comes once a second.
const SILENCE: i64 = 2_500 * MS;

/// For how long what the vehicle says besides is waited for after a refusal, ns.
const REASONS: i64 = 300 * MS;

/// A vehicle that has just been switched on has so long to begin, ns, and is asked again after this.
const INITIALISING: i64 = 15_000 * MS;
const AGAIN: i64 = 500 * MS;

/// Between two looks.
const NAP: Duration = Duration::from_millis(5);

/// The longest test of one actuator, s: PX4's own limit.
pub const LONGEST: f64 = 3.0;

/// One actuator.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its command: `rotor.0.thrust`, `rotor.0.tilt`.
    pub command: String,
    /// The rotor that it drives, in words.
    pub rotor: Option<String>,
    /// What drives it.
    pub output: Output,
    place: ActuatorNumber,
}

impl Actuator {
    /// Whether it spins, rather than turns.
    pub fn is_motor(&self) -> bool {
        self.place.is_motor
    }

    /// Whether it turns a rotor's axis.
    pub fn is_tilt(&self) -> bool {
        self.rotor.is_some() && !self.is_motor()
    }

    /// Whether it may be moved.
    ///
    /// # Errors
    /// [`BenchError::Reversed`].
    pub fn is_testable(&self) -> Result<(), BenchError> {
        // A little of its thrust is nearly the full pulse, and nothing tells whether its motor is wired so.
        if self.output.is_reversed() && !self.output.is_two_sided() {
            return Err(BenchError::Reversed(self.command.clone()));
        }
        Ok(())
    }

    /// What is sent for this part of full output: PX4 gets a value, `ArduPilot` a pulse.
    pub fn sent(&self, part: f64) -> String {
        let (value, pulse) = (
            self.output.control_of_part(part),
            self.output.pulse_of_part(part),
        );
        format!("{value:+.2} to PX4, {pulse} us to ArduPilot")
    }

    /// What PX4 calls it: `Motor 1`, `Servo 1`.
    pub fn px4(&self) -> String {
        let kind = if self.is_motor() { "Motor" } else { "Servo" };
        format!("{kind} {}", self.place.number)
    }

    /// How `ArduPilot` counts it: a motor clockwise from the nose, a servo by its output.
    pub fn ardupilot(&self) -> String {
        if self.is_motor() {
            format!("motor test {}", self.place.sequence)
        } else {
            format!("SERVO{}", self.output.channel())
        }
    }

    /// Whether a name refers to this actuator: its command, or a rotor's name, followed by `tilt` for the tilt.
    fn is_named(&self, name: &str) -> bool {
        let rotor = self.rotor.as_deref();
        let named = if self.is_motor() {
            rotor == Some(name)
        } else {
            name.strip_suffix(" tilt")
                .is_some_and(|name| rotor == Some(name))
        };
        named || self.command == name
    }
}

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestMove {
    /// The part of full output.
    pub part: f64,
    /// For how long it was moved, s.
    pub seconds: f64,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
}

/// The actuators of a vehicle, and where it is.
#[derive(Debug)]
pub struct Bench {
    address: Address,
    vehicle: VehicleSettings,
    connect_timeout: Duration,
    actuators: Vec<Actuator>,
    notes: Vec<String>,
}

/// # Construction
impl Bench {
    /// Of the table of `quadcopter` or `tricopter`, for a vehicle with these inputs.
    ///
    /// # Errors
    /// The table or its map of outputs cannot be.
    pub fn new(configuration: &Configuration, inputs: &Inputs) -> Result<Self, Error> {
        if hil::is_chosen(configuration)? {
            return Err(Error::configuration(
                "`command` is \"hil\": a simulator has no outputs that could be tested",
            )
            .with_help("name a real vehicle's link and another `command`"));
        }
        let settings = Settings::read(configuration)?;
        let map = settings.outputs(inputs)?;
        let rotors = inputs.rotors().as_slice();
        let rotor = |command: &str| {
            let number = command.strip_prefix("rotor.")?.split('.').next()?;
            Some(rotors.get(number.parse::<usize>().ok()?)?.name.clone())
        };
        let places = places(inputs, map.outputs());
        let actuators = (inputs.command_names().iter())
            .zip(map.outputs().iter().zip(places))
            .map(|(command, (output, place))| Actuator {
                command: command.clone(),
                rotor: rotor(command),
                output: *output,
                place,
            })
            .collect();
        Ok(Self {
            address: settings.address,
            vehicle: VehicleSettings {
                attitude_rate: 0.0,
                position_rate: 0.0,
                ..settings.vehicle
            },
            connect_timeout: settings.connect_timeout,
            actuators,
            notes: map.notes().to_owned(),
        })
    }

    /// The actuators, in the order of the vehicle's commands.
    pub fn actuators(&self) -> &[Actuator] {
        &self.actuators
    }

    /// The one that this names: a command, or a rotor (`rear`, `rear tilt`).
    pub fn find(&self, name: &str) -> Option<&Actuator> {
        self.actuators
            .iter()
            .find(|actuator| actuator.is_named(name))
    }

    /// What the user should know about the map.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Where the vehicle is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Waits for the vehicle.
    ///
    /// # Errors
    /// Nobody is heard, or several are, it is neither PX4 nor `ArduPilot`, or it is armed.
    pub fn connect(&self) -> Result<Connection, BenchError> {
        let vehicle = Vehicle::open(&self.address, &self.vehicle)
            .map_err(|error| BenchError::Link(error.to_string()))?;
        if self.vehicle.listen_only {
            return Err(BenchError::Command(crate::CommandError::ListenOnly));
        }
        let found = vehicle.find(Deadline::after(self.connect_timeout).0)?;
        vehicle.expect_alone(monotonic_now().saturating_add(OTHERS_WAIT))?;
        let make = autopilot_name(found.heartbeat.autopilot);
        let autopilot = Autopilot::of(&found.heartbeat)
            .ok_or_else(|| BenchError::Autopilot(make.to_string()))?;
        let mut connection = Connection {
            name: format!(
                "{make} {}, system {}",
                type_name(found.heartbeat.vehicle_type),
                found.system
            ),
            vehicle,
            autopilot,
            health: Health::default(),
            stopped: None,
        };
        connection.is_disarmed()?;
        Ok(connection)
    }
}

/// A vehicle on the bench.
pub struct Connection {
    name: String,
    vehicle: Vehicle,
    autopilot: Autopilot,
    health: Health,
    /// When the last one was told to stop, ns.
    stopped: Option<i64>,
}

impl Connection {
    /// The autopilot, the kind of vehicle and its number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves one actuator to `part` of its full output for `seconds` s, at most [`LONGEST`], and stops it, sooner where `interrupted` becomes true.
    /// A vehicle that is lost meanwhile stops it by itself.
    ///
    /// # Errors
    /// The actuator [may not be moved](Actuator::is_testable), the vehicle is armed, a parameter is wrong, it refuses, it does not answer, or it is lost.
    pub fn test(
        &mut self,
        actuator: &Actuator,
        part: f64,
        seconds: f64,
        interrupted: &AtomicBool,
    ) -> Result<TestMove, BenchError> {
        actuator.is_testable()?;
        let seconds = seconds.clamp(0.0, LONGEST);
        let part = actuator.output.within_limits(part);
        let drive = Drive::new(
            self.autopilot,
            actuator.place,
            &actuator.command,
            &actuator.output,
        )?;
        self.is_disarmed()?;
        self.is_permitted(actuator)?;
        let stop = drive.stop(&actuator.output);
        if interrupted.load(Ordering::Relaxed) {
            return Ok(TestMove {
                part,
                seconds: 0.0,
                interrupted: true,
            });
        }
        let start = drive.start(&actuator.output, part, seconds);
        let told = self.begin(start, &actuator.command, drive, interrupted);
        if let Err(error) = told {
            // It may move all the same: an acknowledgement can be lost.
            if !matches!(error, BenchError::Refused { .. }) {
                let _ = self.tell(stop, &actuator.command, drive, None);
            }
            return Err(error);
        }
        let begun = monotonic_now();
        let ends = begun.saturating_add(nanoseconds(seconds));
        let mut lost = false;
        while monotonic_now() < ends && !interrupted.load(Ordering::Relaxed) && !lost {
            self.look();
            lost = self.silence() > SILENCE;
            std::thread::sleep(NAP);
        }
        let moved = monotonic_now().saturating_sub(begun) as f64 * 1e-9;
        let stopped = self.tell(stop, &actuator.command, drive, None);
        self.stopped = Some(monotonic_now());
        if lost {
            return Err(BenchError::Lost {
                command: actuator.command.clone(),
                seconds: SILENCE as f64 * 1e-9,
            });
        }
        match stopped {
            // Its own timeout may have come first.
            Ok(()) | Err(BenchError::Refused { .. }) => Ok(TestMove {
                part,
                seconds: moved,
                interrupted: interrupted.load(Ordering::Relaxed),
            }),
            Err(_) => Err(BenchError::NotStopped {
                command: actuator.command.clone(),
                seconds,
            }),
        }
    }

    /// ArduCopter arms its motors while it tests one; the heartbeat that says that it does no more may come a second later.
    fn is_disarmed(&mut self) -> Result<(), BenchError> {
        let until = self.stopped.map_or(0, |at| at.saturating_add(SILENCE));
        loop {
            let state = self.vehicle.telemetry();
            if !state.heartbeat().is_some_and(|h| h.value.armed()) {
                return Ok(());
            }
            if monotonic_now() >= until {
                return Err(BenchError::Armed);
            }
            self.look();
            std::thread::sleep(NAP);
        }
    }

    /// Since when (ns) nothing is heard.
    fn silence(&self) -> i64 {
        let state = self.vehicle.telemetry();
        let heard = state.heartbeat().map_or(i64::MIN, |h| h.arrival);
        monotonic_now().saturating_sub(heard)
    }

    fn look(&mut self) {
        self.vehicle.poll(monotonic_now());
        while let Some(received) = self.vehicle.next_status() {
            self.health.take(&received);
        }
    }

    /// Whether the parameters of the autopilot let this one be moved; one that it does not tell is left to its answer.
    fn is_permitted(&mut self, actuator: &Actuator) -> Result<(), BenchError> {
        let channel = actuator.output.channel();
        let (name, expected, why) = match self.autopilot {
            Autopilot::Px4 => (
                "COM_MOT_TEST_EN".to_owned(),
                "1",
                "else PX4 tests no actuators",
            ),
            Autopilot::ArduPilot if actuator.is_motor() => (
                format!("SERVO{channel}_FUNCTION"),
                "33 to 40 or 82 to 85",
                "a motor's output",
            ),
            Autopilot::ArduPilot => (
                format!("SERVO{channel}_FUNCTION"),
                "0 (none), 1 (pass through) or 51 to 66 (a radio's channel)",
                "ArduPilot drives other outputs itself and accepts no commands for them",
            ),
        };
        let values = read_parameters(&mut self.vehicle, &[(name.as_str(), true)])
            .map_err(|error| BenchError::Link(error.message))?;
        let Some(value) = values.first().copied().flatten() else {
            return Ok(());
        };
        let value = value.number();
        let within = |low: f64, high: f64| (low..=high).contains(&value);
        let is_right = match self.autopilot {
            Autopilot::Px4 => within(1.0, 1.0),
            Autopilot::ArduPilot if actuator.is_motor() => within(33.0, 40.0) || within(82.0, 85.0),
            Autopilot::ArduPilot => within(0.0, 1.0) || within(51.0, 66.0),
        };
        if is_right {
            return Ok(());
        }
        Err(BenchError::Parameter {
            name,
            value,
            expected: expected.to_owned(),
            why: why.to_owned(),
        })
    }

    /// Begins to move it, once the autopilot has begun: a simulation begins when it is connected to.
    fn begin(
        &mut self,
        command: Command,
        name: &str,
        drive: Drive,
        interrupted: &AtomicBool,
    ) -> Result<(), BenchError> {
        let until = monotonic_now().saturating_add(INITIALISING);
        loop {
            match self.tell(command, name, drive, Some(interrupted)) {
                Err(BenchError::Refused { reasons, .. })
                    if is_initialising(&reasons)
                        && monotonic_now() < until
                        && !interrupted.load(Ordering::Relaxed) =>
                {
                    self.look_for(AGAIN);
                }
                told => return told,
            }
        }
    }

    /// Looks for so long, ns.
    fn look_for(&mut self, time: i64) {
        let until = monotonic_now().saturating_add(time);
        while monotonic_now() < until {
            self.look();
            std::thread::sleep(NAP);
        }
    }

    /// Sends a command until it is acknowledged.
    fn tell(
        &mut self,
        command: Command,
        name: &str,
        drive: Drive,
        interrupted: Option<&AtomicBool>,
    ) -> Result<(), BenchError> {
        let begun = monotonic_now();
        let ticket = (self.vehicle).begin(command, begun.saturating_add(ANSWER))?;
        loop {
            self.look();
            match self.vehicle.outcome(ticket) {
                Outcome::Accepted { .. } => return Ok(()),
                Outcome::Refused { result, .. } => {
                    self.look_for(REASONS);
                    return Err(BenchError::Refused {
                        command: name.to_owned(),
                        result,
                        reasons: self.health.reasons(begun),
                        help: drive.help(),
                    });
                }
                Outcome::Expired { sent } => {
                    return Err(BenchError::Silent {
                        command: name.to_owned(),
                        sent,
                    });
                }
                // The caller stops it: from now on it must not be sent again.
                _ if interrupted.is_some_and(|it| it.load(Ordering::Relaxed)) => {
                    self.vehicle.cancel(ticket);
                    return Ok(());
                }
                _ => std::thread::sleep(NAP),
            }
        }
    }
}

/// What ArduPilot says until it can test a motor: "Board initialising".
fn is_initialising(reasons: &str) -> bool {
    reasons.to_lowercase().contains("initialising")
}

#[expect(clippy::cast_possible_truncation, reason = "some seconds")]
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

impl Settings {
    /// The map of the outputs of a vehicle with these inputs.
    ///
    /// # Errors
    /// The map cannot be.
    pub(super) fn outputs(&self, inputs: &Inputs) -> Result<OutputMap, Error> {
        let given = self.outputs.get_ref();
        let map = OutputMap::new(inputs, Autopilot::Px4, None, given);
        // An ArduPilot has more outputs.
        let curve = Some(Autopilot::Px4.curve());
        let map = map.or_else(|_| OutputMap::new(inputs, Autopilot::ArduPilot, curve, given));
        map.map_err(|error| {
            let (error, span) = (Error::configuration(error.to_string()), self.outputs.span());
            if span.is_empty() {
                error
            } else {
                error.in_configuration(span)
            }
        })
    }
}
