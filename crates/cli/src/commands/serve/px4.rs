//! PX4's simulator interface: PX4 connects, receives samples, and replies with its outputs.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fly_mavlink::Identity;
use fly_mavlink::dialect::{
    HEARTBEAT_DATA, MavAutopilot, MavMessage, MavModeFlag, MavState, MavType,
};
use fly_mavlink::hil::px4::{self, Encoder};
use fly_mavlink::hil::{Origin, Sensed, Wire};

use super::served::{Served, Until};
use super::{broken, cannot_listen};
use crate::commands::pace::{Pace, sleep_until};
use crate::exit::Failure;

/// The plant's own ids.
const IDENTITY: Identity = Identity {
    system: 1,
    component: 51,
};

/// How often a connection is checked for.
const LOOK: Duration = Duration::from_millis(20);
/// How long a connected autopilot may take to identify itself before it receives samples.
const GREETING: Duration = Duration::from_millis(100);
/// How long a lockstepped autopilot may take to reply; after that, time continues without it.
const REPLY: Duration = Duration::from_secs(1);
/// How long another autopilot, or one without an inertial sample, may take if time is not paced.
const UNPACED: Duration = Duration::from_millis(4);
/// Period of our heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// PX4 treats the time 0 as missing: the simulation's 0 is this on its clock, µs.
const START: u64 = 1_000_000;

/// Listens for PX4.
pub fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let open = cannot_listen(address);
    let listener = TcpListener::bind(address).map_err(open)?;
    listener.set_nonblocking(true).map_err(open)?;
    let address = listener.local_addr().map_err(open)?;
    tracing::info!("waiting for PX4 on TCP {address}");
    Ok(listener)
}

/// Serves one connection after the other. Time stands still without a connection.
pub fn serve(
    listener: &TcpListener,
    origin: Origin,
    served: &mut Served,
    pace: Pace,
    until: Until,
) -> Result<(), Failure> {
    let mut session = Session {
        encoder: Encoder::new(origin, served.gravity),
        served,
        pace,
        until,
        samples: Sensed::default(),
        last: 0.0,
    };
    while !session.is_over() {
        let stream = match listener.accept() {
            Ok((stream, peer)) => {
                tracing::info!("PX4 has connected from {peer}");
                stream
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(LOOK);
                continue;
            }
            Err(error) => return Err(broken(&error)),
        };
        session.served.counts.connections += 1;
        match session.run(stream) {
            Ok(()) => return Ok(()),
            Err(Gone::Plant(failure)) => return Err(failure),
            Err(Gone::Autopilot(error)) => {
                session.served.release();
                let why = match error.kind() {
                    io::ErrorKind::UnexpectedEof => "closed the connection".to_owned(),
                    _ => format!("is gone: {error}"),
                };
                tracing::warn!("PX4 {why}; waiting for it to come back");
            }
        }
    }
    Ok(())
}

/// Why a connection ended early.
enum Gone {
    Autopilot(io::Error),
    Plant(Failure),
}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Self {
        Self::Autopilot(error)
    }
}

/// State that survives a connection.
struct Session<'a, 'b> {
    served: &'a mut Served<'b>,
    encoder: Encoder,
    pace: Pace,
    until: Until<'a>,
    /// Samples that have not been sent.
    samples: Sensed,
    /// Simulated time of the last exchange, s.
    last: f64,
}

/// One connection.
struct Connection {
    wire: Wire,
    /// Whether the autopilot and the plant wait for each other.
    lockstep: bool,
    heartbeat: Option<Instant>,
    /// Whether a missing reply was reported.
    told: bool,
    /// Number of invalid messages so far.
    bad: u64,
}

impl Session<'_, '_> {
    fn is_over(&self) -> bool {
        self.served.is_over(&self.until)
    }

    fn run(&mut self, stream: TcpStream) -> Result<(), Gone> {
        let mut connection = Connection {
            wire: Wire::new(stream, IDENTITY)?,
            lockstep: false,
            heartbeat: None,
            told: false,
            bad: 0,
        };
        // An autopilot may announce lockstep before the first samples.
        let greeting = Instant::now() + GREETING;
        if let Some(message) = connection.wire.receive(Some(greeting))? {
            self.take(&mut connection, &message, 0);
        }
        while !self.is_over() {
            let more = (self.served.step(&mut self.samples)).map_err(Gone::Plant)?;
            if !more {
                return Ok(());
            }
            self.exchange(&mut connection)?;
        }
        Ok(())
    }

    /// Sends the current samples and applies the outputs that follow.
    fn exchange(&mut self, connection: &mut Connection) -> Result<(), Gone> {
        let samples = std::mem::take(&mut self.samples);
        let nanoseconds = u64::try_from(self.served.plant.frame().time).unwrap_or(0);
        let time = START + (nanoseconds + 500) / 1000;
        let seconds = self.served.time();
        let next = 2.0 * seconds - std::mem::replace(&mut self.last, seconds);
        let due = self.pace.due(seconds);
        if let (true, Some(due)) = (connection.lockstep, due) {
            sleep_until(due, self.until.interrupted);
        }
        // Messages received since then are older than these samples. They may arrive faster than they can be taken.
        let drained = Instant::now() + LOOK;
        while Instant::now() < drained
            && let Some(message) = connection.wire.receive(None)?
        {
            self.take(connection, &message, time);
        }
        let wire = &mut connection.wire;
        let now = Instant::now();
        if connection
            .heartbeat
            .is_none_or(|last| now - last >= HEARTBEAT)
        {
            connection.heartbeat = Some(now);
            wire.queue(&heartbeat());
        }
        // First: the state contains the acceleration of this sample.
        let sensor = self.encoder.sensor(time, &samples);
        // Messages that advance the time are sent after the others of the same time.
        if let Some(motion) = &samples.motion {
            wire.queue(&MavMessage::HIL_STATE_QUATERNION(
                self.encoder.state(time, motion),
            ));
        }
        if let Some(fix) = &samples.fix {
            wire.queue(&MavMessage::HIL_GPS(self.encoder.gps(time, fix)));
        }
        // Some take a message without a new field for one whose fields are all new.
        if !sensor.fields_updated.is_empty() {
            wire.queue(&MavMessage::HIL_SENSOR(sensor));
        }
        wire.flush()?;
        let has_inertial = samples.inertial.is_some();
        let due = match (connection.lockstep, has_inertial) {
            (true, false) => self.pace.due(next),
            _ => due,
        };
        let due = due.unwrap_or_else(|| Instant::now() + UNPACED);
        self.wait(connection, time, now, due, has_inertial)?;
        let bad = connection.wire.counts().bad;
        (self.served.counts).bad(bad - connection.bad, &"bytes that are not a MAVLink frame");
        connection.bad = bad;
        Ok(())
    }

    /// Waits for the reply to the samples at `time`. If the autopilot is not in lockstep, or may not reply because there
    /// is no inertial sample, this ends when the next ones are due.
    fn wait(
        &mut self,
        connection: &mut Connection,
        time: u64,
        sent: Instant,
        due: Instant,
        has_inertial: bool,
    ) -> Result<(), Gone> {
        let until = |lockstep: bool| {
            if lockstep && has_inertial {
                sent + REPLY
            } else {
                due
            }
        };
        loop {
            // Ctrl-C must work while an autopilot hangs, and while it sends without a pause.
            let look = until(connection.lockstep).min(Instant::now() + LOOK);
            let message = connection.wire.receive(Some(look))?;
            // What has arrived is taken, but not for ever.
            let more = if message.is_some() {
                LOOK
            } else {
                Duration::ZERO
            };
            if message.is_some_and(|message| self.take(connection, &message, time)) {
                let latency = sent.elapsed().as_nanos();
                (self.served.latency).record(u64::try_from(latency).unwrap_or(u64::MAX));
                return Ok(());
            }
            if self.until.interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            if Instant::now() < until(connection.lockstep) + more {
                continue;
            }
            if connection.lockstep && has_inertial {
                self.served.counts.unanswered += 1;
                if !std::mem::replace(&mut connection.told, true) {
                    tracing::warn!(
                        "no reply within {} s; the simulation continues without it",
                        REPLY.as_secs()
                    );
                }
            }
            return Ok(());
        }
    }

    /// Processes a message. Returns whether it is a lockstepped autopilot's reply to the samples at `time`.
    fn take(&mut self, connection: &mut Connection, message: &MavMessage, time: u64) -> bool {
        let MavMessage::HIL_ACTUATOR_CONTROLS(controls) = message else {
            return false;
        };
        (self.served).control(&controls.controls, px4::is_armed(controls));
        connection.lockstep = px4::is_lockstep(controls);
        // Clients that report no time reply in order.
        connection.lockstep && (controls.time_usec == 0 || controls.time_usec >= time)
    }
}

fn heartbeat() -> MavMessage {
    MavMessage::HEARTBEAT(HEARTBEAT_DATA {
        custom_mode: 0,
        mavtype: MavType::MAV_TYPE_GENERIC,
        autopilot: MavAutopilot::MAV_AUTOPILOT_INVALID,
        base_mode: MavModeFlag::MAV_MODE_FLAG_HIL_ENABLED,
        system_status: MavState::MAV_STATE_ACTIVE,
        mavlink_version: 3,
    })
}
