//! ArduPilot's JSON interface: every frame of pulse widths causes a step, whose resulting state is the answer.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use fly_mavlink::hil::Sensed;
use fly_mavlink::hil::json::{ServoFrame, State};

use super::served::{Served, Until};
use super::{broken, cannot_listen};
use crate::commands::pace::Pace;
use crate::exit::{Exit, Failure};

/// How often the socket is interrupted to check for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// After this silence of its autopilot, another one is accepted.
const SILENCE: Duration = Duration::from_secs(2);

/// Its sensors must come so many times as often as its loop runs (400 Hz by default), or it does not arm.
const LEAST: f64 = 1.8 * 400.0;

/// Listens for ArduPilot, whose simulation runs at `rate` Hz.
pub fn listen(address: SocketAddr, rate: f64) -> Result<UdpSocket, Failure> {
    if rate < LEAST {
        tracing::warn!(
            "ArduPilot does not arm with sensors of {rate} Hz unless its `SCHED_LOOP_RATE` is {:.0} or less: the usual 400 Hz need a `--rate` of at least {LEAST:.0}",
            rate / 1.8
        );
    }
    let open = cannot_listen(address);
    let socket = UdpSocket::bind(address).map_err(open)?;
    socket.set_read_timeout(Some(LOOK)).map_err(open)?;
    let address = socket.local_addr().map_err(open)?;
    tracing::info!("waiting for ArduPilot on UDP {address}");
    Ok(socket)
}

/// Answers frames until the end.
pub fn serve(
    socket: &UdpSocket,
    served: &mut Served,
    pace: Pace,
    until: Until,
) -> Result<(), Failure> {
    let mut session = Session {
        served,
        pace,
        until,
        peer: None,
        is_new: false,
        count: None,
        origin: 0.0,
        samples: Sensed::default(),
        known: Sensed::default(),
        line: String::with_capacity(1024),
    };
    // Large enough for any datagram.
    let mut buffer = vec![0; 1 << 16];
    while !session.served.is_over(&session.until) {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            // Nothing arrived, or an earlier answer was not received.
            Err(error) if is_usual(&error) => continue,
            Err(error) => return Err(broken(&error)),
        };
        let arrived = Instant::now();
        let frame = match ServoFrame::read(&buffer[..length]) {
            Ok(frame) => frame,
            Err(why) => {
                session.served.counts.bad(1, &why);
                continue;
            }
        };
        if !session.admit(from, arrived) {
            continue;
        }
        if !session.answer(&frame)? {
            return Ok(());
        }
        // An autopilot that has vanished asks again or reconnects.
        if let Err(error) = socket.send_to(session.line.as_bytes(), from)
            && !is_usual(&error)
        {
            tracing::debug!(%error, "an answer could not be sent");
        }
        let latency = u64::try_from(arrived.elapsed().as_nanos()).unwrap_or(u64::MAX);
        session.served.latency.record(latency);
    }
    Ok(())
}

fn is_usual(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    [WouldBlock, TimedOut, ConnectionRefused, Interrupted].contains(&error.kind())
}

struct Session<'a, 'b> {
    served: &'a mut Served<'b>,
    pace: Pace,
    until: Until<'a>,
    /// The autopilot that is answered, and when it was last heard.
    peer: Option<(SocketAddr, Instant)>,
    /// Whether it has not been answered yet: it does not number its frames on from those of another.
    is_new: bool,
    /// Number of the last frame.
    count: Option<u32>,
    /// Simulated time at which the autopilot began, s.
    origin: f64,
    samples: Sensed,
    /// The last sample of each sensor.
    known: Sensed,
    /// The last answer.
    line: String,
}

impl Session<'_, '_> {
    /// Whether this is the autopilot that is answered.
    fn admit(&mut self, from: SocketAddr, now: Instant) -> bool {
        match self.peer {
            Some((peer, last)) if peer != from && now - last < SILENCE => {
                self.served.counts.stranger(&from);
                return false;
            }
            Some((peer, _)) if peer == from => {}
            _ => {
                tracing::info!("ArduPilot sends from {from}");
                self.served.counts.connections += 1;
                self.is_new = true;
            }
        }
        self.peer = Some((from, now));
        true
    }

    /// Computes the answer to a frame. Returns false at the end of the frames.
    fn answer(&mut self, frame: &ServoFrame) -> Result<bool, Failure> {
        let is_new = std::mem::take(&mut self.is_new);
        if is_new {
            self.origin = self.served.time();
        }
        match self.count {
            // It did not receive our answer.
            Some(count) if frame.count == count && !is_new && !self.line.is_empty() => {
                self.served.counts.repeated += 1;
                return Ok(true);
            }
            Some(count) if frame.count < count => {
                self.served.counts.restarts += 1;
                // Its clock restarts, and so does the time in our answers.
                self.origin = self.served.time();
                tracing::warn!(
                    "ArduPilot began anew at frame {} after {count}",
                    frame.count
                );
            }
            Some(count) if !is_new => {
                self.served.counts.lost += u64::from(frame.count - count).saturating_sub(1);
            }
            _ => {}
        }
        self.count = Some(frame.count);
        self.served.pulses(&frame.pulses);
        // Before the first sample there is no answer.
        while !self.served.is_over(&self.until) {
            if !self.served.step(&mut self.samples)? {
                return Ok(false);
            }
            // ArduPilot takes an airspeed that is missing for one without wind, and keeps a distance that is missing.
            let samples = std::mem::take(&mut self.samples);
            let known = &mut self.known;
            known.update(&samples);
            let Some((inertial, motion)) = known.inertial.zip(known.motion) else {
                continue;
            };
            let time = self.served.time();
            self.pace.wait(time, self.until.interrupted);
            self.line.clear();
            let state = State {
                time: time - self.origin,
                inertial,
                motion,
                distance: self.known.distance,
                airspeed: self.known.airspeed,
            };
            return match state.write(&mut self.line) {
                Ok(()) => Ok(true),
                Err(error) => Err(Failure::new(Exit::Internal, error)),
            };
        }
        Ok(false)
    }
}
