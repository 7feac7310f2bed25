//! This program as the autopilot of a PX4 simulator: `command = "hil"`.
//!
//! The simulator listens on TCP port 4560. Each `HIL_SENSOR` is a tick: its time is the frame's, and it is answered by
//! one `HIL_ACTUATOR_CONTROLS`. Samples of the same time are answered, too, and belong to the next tick; a clock that goes
//! back ends the flight. A simulator in lockstep waits for that answer, so a flight runs as fast as both can.
//! Pose and twist come from `HIL_STATE_QUATERNION` (1e-7 degrees, that is 1.1 cm, mm, cm/s), in addition to the
//! sensors.
//!
//! While the simulator is silent, simulated time stands still and ticks bring no frame. After [`SILENCE`] reads fail
//! and the flight ends.

mod frame;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io;
use std::marker::PhantomData;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fly_hal::{
    Backend, Configuration, Deadline, Description, Error, ErrorKind, FrameMut, Info, Progress,
    ReadOutcome, Request, monotonic_now,
};
use fly_mechanics::System;

use super::airframe::Airframe;
use crate::Identity;
use crate::dialect::{
    COMMAND_LONG_DATA, HEARTBEAT_DATA, HIL_STATE_QUATERNION_DATA, MavAutopilot, MavCmd, MavMessage,
    MavModeFlag, MavState,
};
use crate::hil::{Origin, Sensed, Wire, px4};
use crate::outputs::{Autopilot, OutputMap};
use mavlink::MessageData;
use settings::Settings;

pub(super) use settings::is_chosen;

/// How long after its deadline a read may return without a frame.
const LATE: Duration = Duration::from_millis(40);
/// A simulator that sends nothing for this long is considered dead.
const SILENCE: Duration = Duration::from_secs(5);
/// Pause between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(50);

/// The vehicle of a simulator, whose autopilot we are.
pub struct HilVehicle<A> {
    description: Description,
    settings: Settings,
    outputs: OutputMap,
    simulator: Option<Simulator>,
    controls: [f32; 16],
    armed: bool,
    /// Statistics for the report.
    frames: u64,
    gaps: u64,
    airframe: PhantomData<A>,
}

/// The connection.
struct Simulator {
    wire: Wire,
    origin: Origin,
    /// Its time at the first frame and at the last one, µs.
    first: Option<u64>,
    last_time: u64,
    /// The time of a tick that has not been answered, µs.
    unanswered: Option<u64>,
    /// New since the last tick.
    sensed: Sensed,
    last: Instant,
}

impl<A: Airframe> Backend for HilVehicle<A> {
    const INFO: Info = A::INFO;

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let settings = Settings::read(configuration)?;
        if configuration.vehicle.is_empty() {
            return Err(Error::configuration(
                "an autopilot needs the vehicle's description, and there is none",
            ));
        }
        let system = System::from_toml(configuration.vehicle).map_err(|error| {
            Error::configuration(error.to_string()).in_vehicle(error.span.clone())
        })?;
        let given = settings.outputs.get_ref();
        let outputs = OutputMap::new(&system.inputs, Autopilot::Px4, settings.curve, given)
            .map_err(|error| {
                let error = Error::configuration(error.to_string());
                if settings.outputs.span().is_empty() {
                    error
                } else {
                    error.in_configuration(settings.outputs.span())
                }
            })?;
        Ok(Self {
            description: frame::describe(system.inputs.command_names())?,
            settings,
            outputs,
            simulator: None,
            controls: [0.0; 16],
            armed: false,
            frames: 0,
            gaps: 0,
            airframe: PhantomData,
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    /// Connects; a simulator may be started later than we.
    fn start(&mut self) -> Result<(), Error> {
        let at = &self.settings.simulator;
        let until = Instant::now() + self.settings.connect_timeout;
        let stream = loop {
            match TcpStream::connect((at.host.as_str(), at.port)) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() >= until => {
                    let message = format!("no simulator answers at {at}: {error}");
                    return Err(Error::new(ErrorKind::Timeout, message)
                        .with_help("`fly serve --as px4` is one; docs/hil.md"));
                }
                Err(_) => std::thread::sleep(AGAIN),
            }
        };
        let failed = |error: io::Error| Error::io("the simulator", &error);
        let identity = Identity {
            system: 1,
            component: 1,
        };
        let mut wire = Wire::new(stream, identity).map_err(failed)?;
        wire.queue(&heartbeat(A::TYPES.first().copied().unwrap_or_default()));
        wire.queue(&ask_for_the_truth());
        // Lockstep from the first samples on.
        let controls = px4::controls(0, self.controls, false);
        wire.queue(&MavMessage::HIL_ACTUATOR_CONTROLS(controls));
        wire.flush().map_err(failed)?;
        for note in self.outputs.notes() {
            tracing::info!("{note}");
        }
        self.simulator = Some(Simulator {
            wire,
            origin: self.settings.origin,
            first: None,
            last_time: 0,
            unanswered: None,
            sensed: Sensed::default(),
            last: Instant::now(),
        });
        Ok(())
    }

    /// Waits for the next samples. Ticks without new commands are answered with the previous controls.
    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        self.answer()?;
        let left = deadline.0.saturating_sub(monotonic_now()).max(0);
        let left = Duration::from_nanos(u64::try_from(left).unwrap_or(0));
        let until = Instant::now() + left + LATE;
        let tick = self.tick(until)?;
        let Some(simulator) = &mut self.simulator else {
            return Err(Error::usage("read before start"));
        };
        let Some(time) = tick else {
            self.gaps += 1;
            if simulator.last.elapsed() > SILENCE {
                let message = format!("the simulator is silent for {} s", SILENCE.as_secs());
                return Err(Error::new(ErrorKind::Timeout, message));
            }
            // Simulated time stands still, but each tick needs its own time.
            *frame.time = frame.time.saturating_add(1);
            return Ok(ReadOutcome::None);
        };
        self.frames += 1;
        *frame.time = time.max(frame.time.saturating_add(1));
        let sensed = std::mem::take(&mut simulator.sensed);
        frame::fill(&sensed, *frame.time, frame);
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        if self.armed {
            (self.outputs).controls_of_commands(commands, &mut self.controls);
        }
        self.answer()
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.release();
        let is_answered = |it: &Simulator| it.unanswered.is_none();
        if self.simulator.as_ref().is_some_and(is_answered) {
            // The answer to the next tick stops the motors; a simulator without one, or whose clock went back, is told all the same.
            let has_next = matches!(self.tick(Instant::now() + LATE), Ok(Some(_)));
            if let (false, Some(simulator)) = (has_next, &mut self.simulator) {
                simulator.unanswered = Some(simulator.last_time);
            }
        }
        // A simulator that is gone needs no final message.
        let _ = self.answer();
        Ok(())
    }

    fn arm(&mut self) -> Result<(), Error> {
        self.armed = true;
        Ok(())
    }

    fn disarm(&mut self) -> Result<(), Error> {
        self.release();
        Ok(())
    }

    /// A simulated vehicle does not land: when a flight ends, its motors stop.
    fn request(&mut self, request: Request) -> Result<(), Error> {
        match request {
            Request::Land | Request::Terminate => {
                self.release();
                Ok(())
            }
            _ => Err(Error::unsupported(format!(
                "a simulator cannot {} by itself: this program is its autopilot",
                request.name()
            ))),
        }
    }

    fn poll(&mut self) -> Result<Progress, Error> {
        Ok(Progress::Done)
    }

    fn report(&self) -> Vec<(String, String)> {
        let mut lines = vec![("simulator".to_owned(), self.settings.simulator.to_string())];
        if let Some(simulator) = &self.simulator {
            let counts = simulator.wire.counts();
            let mut text = format!("{} ticks answered", self.frames);
            for (count, what) in [
                (self.gaps, "times nothing came in time"),
                (counts.bad, "frames were no message"),
            ] {
                if count > 0 {
                    let _ = write!(text, ", {count} {what}");
                }
            }
            lines.push(("lockstep".to_owned(), text));
        }
        lines
    }
}

impl<A: Airframe> HilVehicle<A> {
    /// Answers the last tick, if that has not been done.
    fn answer(&mut self) -> Result<(), Error> {
        let Some(simulator) = &mut self.simulator else {
            return Ok(());
        };
        let Some(time) = simulator.unanswered.take() else {
            return Ok(());
        };
        let controls = px4::controls(time, self.controls, self.armed);
        (simulator.wire).queue(&MavMessage::HIL_ACTUATOR_CONTROLS(controls));
        simulator.wire.flush().map_err(|error| lost(&error))
    }

    /// Takes messages up to the next tick: its time, ns since the first one; `None` where none came.
    fn tick(&mut self, until: Instant) -> Result<Option<i64>, Error> {
        while let Some(simulator) = &mut self.simulator {
            let Some(time) = simulator.samples(until).map_err(|error| lost(&error))? else {
                break;
            };
            let (first, last) = (simulator.first, simulator.last_time);
            if first.is_some() && time < last {
                let [last, time] = [last, time].map(|time| time as f64 * 1e-6);
                return Err(Error::new(
                    ErrorKind::Io,
                    format!("the simulator's clock went back from {last:.3} s to {time:.3} s"),
                )
                .with_help("begin a new flight after a reset of the simulator"));
            }
            simulator.unanswered = Some(time);
            if first.is_some() && time == last {
                self.answer()?;
                continue;
            }
            simulator.last_time = time;
            let since = time - *simulator.first.get_or_insert(time);
            let time = i64::try_from(since).unwrap_or(i64::MAX);
            return Ok(Some(time.saturating_mul(1000)));
        }
        Ok(None)
    }

    fn release(&mut self) {
        self.armed = false;
        self.controls = [0.0; 16];
    }
}

impl Simulator {
    /// Takes messages up to the next samples: the simulator's time, µs; `None` where none came.
    fn samples(&mut self, until: Instant) -> io::Result<Option<u64>> {
        while let Some(message) = self.wire.receive(Some(until))? {
            match message {
                MavMessage::HIL_SENSOR(message) if message.id == 0 => {
                    self.last = Instant::now();
                    (self.sensed).update(&px4::sensed(&message, &self.origin));
                    return Ok(Some(message.time_usec));
                }
                MavMessage::HIL_STATE_QUATERNION(message) => {
                    let motion = px4::motion(&message, &self.origin);
                    self.sensed.motion = motion.or(self.sensed.motion);
                }
                MavMessage::HIL_GPS(message) if message.id == 0 => {
                    let fix = px4::fix(&message, &self.origin);
                    self.sensed.fix = fix.or(self.sensed.fix);
                }
                _ => {}
            }
            // Other messages may come without a pause.
            if Instant::now() >= until {
                break;
            }
        }
        Ok(None)
    }
}

fn lost(error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        Error::new(ErrorKind::Io, "the simulator closed the connection")
    } else {
        Error::io("the simulator", error)
    }
}

fn heartbeat(mavtype: crate::dialect::MavType) -> MavMessage {
    MavMessage::HEARTBEAT(HEARTBEAT_DATA {
        custom_mode: 0,
        mavtype,
        autopilot: MavAutopilot::MAV_AUTOPILOT_GENERIC,
        base_mode: MavModeFlag::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED,
        system_status: MavState::MAV_STATE_STANDBY,
        mavlink_version: 3,
    })
}

/// As PX4 asks: every 5 ms.
fn ask_for_the_truth() -> MavMessage {
    MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
        #[allow(clippy::cast_precision_loss)] // 115
        param1: HIL_STATE_QUATERNION_DATA::ID as f32,
        param2: 5000.0,
        command: MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL,
        ..COMMAND_LONG_DATA::default()
    })
}
