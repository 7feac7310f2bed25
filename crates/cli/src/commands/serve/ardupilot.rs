//! ArduPilot's JSON interface: every frame of pulse widths is a step, and the state after it the answer.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use fly_mavlink::hil::json::{ServoFrame, State};
use fly_mavlink::hil::{Inertial, Motion, Sensed};

use super::served::{Served, Until};
use crate::commands::pace::Pace;
use crate::exit::{Exit, Failure};

/// How often the socket is left to look at the user.
const LOOK: Duration = Duration::from_millis(50);
/// After this silence of its autopilot another one is answered.
const SILENCE: Duration = Duration::from_secs(2);

/// Answers frames until the end.
pub fn serve(
    address: SocketAddr,
    served: &mut Served,
    pace: Pace,
    until: Until,
) -> Result<(), Failure> {
    let open = |error: io::Error| {
        Failure::new(
            Exit::Internal,
            format_args!("cannot listen on {address}: {error}"),
        )
    };
    let socket = UdpSocket::bind(address).map_err(open)?;
    socket.set_read_timeout(Some(LOOK)).map_err(open)?;
    let address = socket.local_addr().map_err(open)?;
    tracing::info!("waiting for ArduPilot on UDP {address}");
    let mut session = Session {
        served,
        pace,
        peer: None,
        count: None,
        origin: 0.0,
        samples: Sensed::default(),
        known: None,
        line: String::with_capacity(1024),
    };
    // Room for whatever a stranger sends.
    let mut buffer = vec![0; 1 << 16];
    while !session.served.is_over(&until) {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            // Nothing came; or what was sent before found nobody.
            Err(error) if is_usual(&error) => continue,
            Err(error) => return Err(open(error)),
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
        // One that vanishes asks again, or comes back.
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
    /// Who is answered, and when it was last heard.
    peer: Option<(SocketAddr, Instant)>,
    /// The number of the last frame.
    count: Option<u32>,
    /// When the autopilot began, simulated s.
    origin: f64,
    samples: Sensed,
    /// The last inertial sample and motion.
    known: Option<(Inertial, Motion)>,
    /// The last answer.
    line: String,
}

impl Session<'_, '_> {
    /// Whether it is the autopilot that is answered.
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
            }
        }
        self.peer = Some((from, now));
        true
    }

    /// Makes the answer to a frame. Returns false where there will be no more.
    fn answer(&mut self, frame: &ServoFrame) -> Result<bool, Failure> {
        match self.count {
            // It has not had our answer.
            Some(count) if frame.count == count && !self.line.is_empty() => {
                self.served.counts.repeated += 1;
                return Ok(true);
            }
            Some(count) if frame.count < count => {
                self.served.counts.restarts += 1;
                // Its clock begins anew, and so does what it is told.
                self.origin = self.served.time();
                tracing::warn!(
                    "ArduPilot began anew at frame {} after {count}",
                    frame.count
                );
            }
            Some(count) => self.served.counts.lost += u64::from(frame.count - count - 1),
            None => {}
        }
        self.count = Some(frame.count);
        self.served.pulses(&frame.pulses);
        // Without both there is no answer yet.
        loop {
            if !self.served.step(&mut self.samples)? {
                return Ok(false);
            }
            let samples = std::mem::take(&mut self.samples);
            let inertial = samples
                .inertial
                .or(self.known.map(|(inertial, _)| inertial));
            let motion = samples.motion.or(self.known.map(|(_, motion)| motion));
            let Some((inertial, motion)) = inertial.zip(motion) else {
                self.samples = samples;
                continue;
            };
            self.known = Some((inertial, motion));
            let time = self.served.time();
            self.pace.wait(time);
            self.line.clear();
            let state = State {
                time: time - self.origin,
                inertial,
                motion,
                distance: samples.distance,
                airspeed: samples.airspeed,
            };
            return match state.write(&mut self.line) {
                Ok(()) => Ok(true),
                Err(error) => Err(Failure::new(Exit::Internal, error)),
            };
        }
    }
}
