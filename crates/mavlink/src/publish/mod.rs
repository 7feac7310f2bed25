//! Shows a flight to ground stations: QGroundControl, MAVProxy, MAVSDK. It reports and answers, but executes no
//! commands.
//!
//! The flight thread writes the shown state to a triple buffer and never waits. A publishing thread reads the newest
//! state at each of its ticks, encodes messages at their own rates and passes them to the links, whose writers drop
//! messages that are not received.

mod answers;
mod messages;
mod schedule;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rtrb::{Producer, RingBuffer};

use crate::dialect::{MavSeverity, MavType};
use crate::hil::{Fix, Motion, Origin};
use crate::link::{Identity, Link, LinkError, LinkSettings};
use crate::newest::{Publisher, newest};
use crate::{Address, Statistics};
use answers::Answers;
use schedule::Schedule;
use text::Text;

/// Period at which the flight's state is read.
const TICK: Duration = Duration::from_millis(20);
/// Number of texts that may wait.
const TEXTS: usize = 64;

/// The constant facts of a flight.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleInfo {
    /// The vehicle's system id on the link.
    pub system: u8,
    /// Its vehicle type.
    pub kind: MavType,
    /// Position of the world's origin.
    pub origin: Origin,
    /// The names of the modes, in the order of their numbers.
    pub modes: Vec<String>,
}

/// The shown state of a flight at one instant. World NWU, body FLU, SI units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VehicleState {
    /// Flight time, ns; `None` before the first frame.
    pub time: Option<i64>,
    /// The actual motion.
    pub motion: Option<Motion>,
    /// The desired motion.
    pub target: Option<Target>,
    /// Collective thrust, 0 to 1.
    pub thrust: Option<f64>,
    /// Outputs, 0 to 1 or -1 to 1, by channel.
    pub outputs: [f32; 32],
    /// The channels that are outputs, a bit each.
    pub channels: u32,
    /// Their pulse widths, µs, by channel; 0 for unused channels.
    pub pulses: [u16; 16],
    /// Battery voltage, V, and charge, 0 to 1.
    pub battery: Option<[f64; 2]>,
    /// Satellite navigation fix.
    pub fix: Option<Fix>,
    /// Airspeed of a Pitot tube, m/s.
    pub airspeed: Option<f64>,
    /// Whether it is armed.
    pub armed: bool,
    /// The phase of the flight.
    pub phase: Phase,
    /// The flight's mode: index into [`VehicleInfo::modes`].
    pub mode: u32,
}

/// Desired motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// Position, m, world frame.
    pub position: [f64; 3],
    /// Attitude, world from body.
    pub attitude: [f64; 4],
    /// Velocity, m/s, world frame.
    pub velocity: [f64; 3],
    /// Acceleration, m/s², world frame.
    pub acceleration: [f64; 3],
    /// Angular velocity, rad/s, body frame.
    pub angular_velocity: [f64; 3],
}

/// The phase of a flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Waiting.
    #[default]
    Standby,
    /// Flying.
    Flying,
    /// A failsafe is active.
    Failsafe,
    /// Landing.
    Landing,
    /// Over.
    Over,
}

/// A published flight.
pub struct Publication {
    publisher: Publisher<VehicleState>,
    texts: Producer<Text>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<(Address, Statistics)>>>,
}

impl Publication {
    /// Opens links to ground stations, with the vehicle's identity.
    ///
    /// # Errors
    /// A link cannot be opened.
    pub fn open(addresses: &[Address], about: &VehicleInfo) -> Result<Self, LinkError> {
        let settings = LinkSettings {
            identity: Identity {
                system: about.system,
                component: 1,
            },
            heartbeat_period: None,
            // A reader need not say anything.
            silence: Duration::MAX,
            ..LinkSettings::default()
        };
        let mut links = Vec::with_capacity(addresses.len());
        for address in addresses {
            let link = Link::open(address, &settings, Answers::new(about.clone()))?;
            links.push((address.clone(), link));
        }
        let (publisher, mut seen) = newest(VehicleState::default());
        let (texts, mut waiting) = RingBuffer::<Text>::new(TEXTS);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let mut schedule = Schedule::new(about.clone());
        let run = move || {
            let began = Instant::now();
            loop {
                // The last texts are still sent.
                let last = stopped.load(Ordering::Relaxed);
                while let Ok(text) = waiting.pop() {
                    for message in text.messages() {
                        send(&mut links, &message);
                    }
                }
                let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                seen.with(|seen| {
                    schedule.due(milliseconds, seen, last, &mut |message| {
                        send(&mut links, message);
                    });
                });
                if last {
                    std::thread::sleep(2 * TICK);
                    return (links.iter())
                        .map(|(address, link)| (address.clone(), link.statistics()))
                        .collect();
                }
                std::thread::park_timeout(TICK);
            }
        };
        let thread = std::thread::Builder::new()
            .name("mavlink-publish".to_owned())
            .spawn(run)
            .map_err(|source| LinkError::Open {
                address: addresses.first().cloned().unwrap_or_else(nowhere),
                source,
            })?;
        Ok(Self {
            publisher,
            texts,
            stop,
            thread: Some(thread),
        })
    }

    /// Publishes the current state; `fill` must write all of it. Never blocks, never allocates.
    pub fn publish(&mut self, fill: impl FnOnce(&mut VehicleState)) {
        self.publisher.publish(fill);
    }

    /// Queues a text if there is room. Never blocks, never allocates.
    pub fn send_text(&mut self, severity: MavSeverity, text: &str) {
        // Excess texts are dropped; the log has all of them.
        let _ = self.texts.push(Text::new(severity, text));
    }

    /// Ends the publication. Returns the statistics of each link.
    pub fn finish(mut self) -> Vec<(Address, Statistics)> {
        self.end()
    }

    fn end(&mut self) -> Vec<(Address, Statistics)> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take();
        thread.map_or_else(Vec::new, |thread| {
            thread.thread().unpark();
            thread.join().unwrap_or_default()
        })
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        self.end();
    }
}

/// A full queue has no room for this message; the next one will be newer.
fn send(links: &mut [(Address, Link)], message: &crate::dialect::MavMessage) {
    for (_, link) in links {
        let _ = link.send(message.clone());
    }
}

fn nowhere() -> Address {
    Address::UdpOut(crate::HostPort {
        host: "nowhere".to_owned(),
        port: 0,
    })
}
