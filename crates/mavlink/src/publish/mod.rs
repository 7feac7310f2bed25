//! Shows a flight to ground stations: QGroundControl, MAVProxy, MAVSDK. It tells and answers, and obeys nobody.
//!
//! The flight's thread puts what is to be seen into a triple buffer and never waits. A thread of the publication reads the newest of it
//! tick by tick, makes messages of it at their own rates and hands them to the links, whose writers drop what nobody takes.

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

/// Between two looks at the flight.
const TICK: Duration = Duration::from_millis(20);
/// Texts that may wait.
const TEXTS: usize = 64;

/// What does not change during a flight.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The vehicle's number on the link.
    pub system: u8,
    /// Its kind.
    pub kind: MavType,
    /// Where the world's origin is.
    pub origin: Origin,
    /// The names of the modes, in the order of their numbers.
    pub modes: Vec<String>,
}

/// What is to be seen of a flight at one instant. World NWU, body FLU, SI.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Flight time, ns; `None` before the first frame.
    pub time: Option<i64>,
    /// Where it is.
    pub motion: Option<Motion>,
    /// Where it should be.
    pub target: Option<Target>,
    /// Collective thrust, 0 to 1.
    pub thrust: Option<f64>,
    /// Outputs, 0 to 1 or -1 to 1, and how many there are.
    pub outputs: [f32; 32],
    /// How many of them there are.
    pub output_count: usize,
    /// V and 0 to 1.
    pub battery: Option<[f64; 2]>,
    /// Of a receiver.
    pub fix: Option<Fix>,
    /// m/s, of a Pitot tube.
    pub airspeed: Option<f64>,
    /// Whether it is armed.
    pub armed: bool,
    /// How it fares.
    pub phase: Phase,
    /// The mode of the flight, the number of one of [`About::modes`].
    pub mode: u32,
}

/// Desired motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// m, world.
    pub position: [f64; 3],
    /// World from body.
    pub attitude: [f64; 4],
    /// m/s, world.
    pub velocity: [f64; 3],
    /// m/s², world.
    pub acceleration: [f64; 3],
    /// rad/s, body.
    pub angular_velocity: [f64; 3],
}

/// How a flight fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It waits.
    #[default]
    Standby,
    /// It flies.
    Flying,
    /// Something is wrong: a failsafe flies.
    Failsafe,
    /// It lands.
    Landing,
    /// It is over.
    Over,
}

/// A flight that is shown.
pub struct Publication {
    publisher: Publisher<Seen>,
    texts: Producer<Text>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<(Address, Statistics)>>>,
}

impl Publication {
    /// Opens links to ground stations, with the ids of the vehicle.
    ///
    /// # Errors
    /// A link cannot be opened.
    pub fn open(addresses: &[Address], about: &About) -> Result<Self, LinkError> {
        let settings = LinkSettings {
            identity: Identity {
                system: about.system,
                component: 1,
            },
            heartbeat_period: None,
            ..LinkSettings::default()
        };
        let mut links = Vec::with_capacity(addresses.len());
        for address in addresses {
            let link = Link::open(address, &settings, Answers::new(about.clone()))?;
            links.push((address.clone(), link));
        }
        let (publisher, mut seen) = newest(Seen::default());
        let (texts, mut waiting) = RingBuffer::<Text>::new(TEXTS);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let mut schedule = Schedule::new(about.clone());
        let run = move || {
            let began = Instant::now();
            loop {
                // What was said last is still sent.
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

    /// Shows the flight as it is now: `fill` writes all of it. Never waits, never allocates.
    pub fn show(&mut self, fill: impl FnOnce(&mut Seen)) {
        self.publisher.publish(fill);
    }

    /// Says something, as far as there is room. Never waits, never allocates.
    pub fn say(&mut self, severity: MavSeverity, text: &str) {
        // A flood is cut off; the log has all of it.
        let _ = self.texts.push(Text::new(severity, text));
    }

    /// Ends it: what was sent over each link.
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

/// A full queue has no room for this message; the next one is newer.
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
