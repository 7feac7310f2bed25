//! One vehicle on a link: found by its heartbeat, watched, and asked for the messages that it does not send by itself.
//!
//! Nothing here commands a vehicle. What is sent is our heartbeat and `SET_MESSAGE_INTERVAL`, and not even that when
//! [`VehicleSettings::listen_only`] says so.

mod error;
mod monitor;

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::address::Address;
use crate::clock::monotonic;
use crate::dialect::{MavMessage, MavType};
use crate::link::{Link, LinkError, LinkSettings, Received, Sender};
use crate::statistics::Statistics;
use crate::telemetry::{Heartbeat, Telemetry};

pub use error::VehicleError;
use monitor::Monitor;
pub use monitor::Rate;

/// How a vehicle is found, and the message rates requested from it.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleSettings {
    /// The link's own settings.
    pub link: LinkSettings,
    /// The vehicle's system number; `None` takes the first autopilot that is heard.
    pub system: Option<u8>,
    /// How often `ATTITUDE_QUATERNION` is asked for, Hz; 0 does not ask.
    pub attitude_rate: f64,
    /// How often `LOCAL_POSITION_NED` is asked for, Hz; 0 does not ask.
    pub position_rate: f64,
    /// Sends nothing at all: no heartbeat, no request. A vehicle that has to hear us first is not heard then, and
    /// ArduPilot sends hardly more than its heartbeat.
    pub listen_only: bool,
}

impl Default for VehicleSettings {
    /// 50 Hz and 30 Hz, which a radio of 57600 baud still carries.
    fn default() -> Self {
        Self {
            link: LinkSettings::default(),
            system: None,
            attitude_rate: 50.0,
            position_rate: 30.0,
            listen_only: false,
        }
    }
}

/// A vehicle that has been heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Its system number.
    pub system: u32,
    /// Its autopilot's component number.
    pub component: u8,
    /// Its newest heartbeat.
    pub heartbeat: Heartbeat,
}

/// A link to one vehicle.
pub struct Vehicle {
    link: Link,
    address: Address,
    wanted: Option<u8>,
    watch: Arc<Watch>,
}

struct Watch {
    observed: Mutex<Observed>,
    changed: Condvar,
}

/// What the reader's thread has made of the messages so far.
#[derive(Default)]
struct Observed {
    telemetry: Telemetry,
    vehicle: Option<(u32, u8)>,
    /// Others that were heard before the vehicle was, for the error message.
    others: Vec<(u32, u8, MavType)>,
    rates: Vec<Rate>,
}

/// More others than this are not named.
const MOST_OTHERS: usize = 8;

impl Vehicle {
    /// Opens the link and begins to listen.
    ///
    /// # Errors
    /// As [`Link::open`].
    pub fn open(address: &Address, settings: &VehicleSettings) -> Result<Self, LinkError> {
        let watch = Arc::new(Watch {
            observed: Mutex::default(),
            changed: Condvar::new(),
        });
        let mut link_settings = settings.link.clone();
        if settings.listen_only {
            link_settings.heartbeat_period = None;
        }
        let observer = Observer {
            watch: Arc::clone(&watch),
            wanted: settings.system,
            monitor: Monitor::new(settings),
        };
        let link = Link::open(address, &link_settings, observer.into_closure())?;
        Ok(Self {
            link,
            address: address.clone(),
            wanted: settings.system,
            watch,
        })
    }

    /// Waits for the vehicle's heartbeat until `deadline` (ns of `CLOCK_MONOTONIC`).
    ///
    /// # Errors
    /// [`VehicleError::NotHeard`], which says what was heard instead.
    pub fn find(&self, deadline: i64) -> Result<Found, VehicleError> {
        let started = monotonic();
        let found = |observed: &Observed| {
            let (system, component) = observed.vehicle?;
            let heartbeat = observed.telemetry.heartbeat()?.value;
            Some(Found {
                system,
                component,
                heartbeat,
            })
        };
        let observed = self
            .watch
            .wait(deadline, |observed| found(observed).is_some());
        found(&observed).ok_or_else(|| VehicleError::NotHeard {
            address: self.address.clone(),
            waited: Duration::from_nanos(deadline.saturating_sub(started).max(0).unsigned_abs()),
            instead: error::heard_instead(
                self.wanted,
                &observed.others,
                &self.link.statistics(),
                self.link.last_error(),
            ),
        })
    }

    /// The newest state as soon as `enough` of it is known, else what there is at `deadline` (ns of
    /// `CLOCK_MONOTONIC`). A deadline that has passed returns at once. No allocation.
    pub fn wait(&self, deadline: i64, mut enough: impl FnMut(&Telemetry) -> bool) -> Telemetry {
        self.watch
            .wait(deadline, |observed| enough(&observed.telemetry))
            .telemetry
            .clone()
    }

    /// The newest state.
    pub fn telemetry(&self) -> Telemetry {
        self.watch.lock().telemetry.clone()
    }

    /// How often the messages came that matter here, over the last two seconds or so.
    pub fn rates(&self) -> Vec<Rate> {
        self.watch.lock().rates.clone()
    }

    /// What the link has counted.
    pub fn statistics(&self) -> Statistics {
        self.link.statistics()
    }

    /// The address that a listening link got.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.link.local_address()
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(
        &self,
        deadline: i64,
        mut enough: impl FnMut(&Observed) -> bool,
    ) -> MutexGuard<'_, Observed> {
        let mut observed = self.lock();
        loop {
            let left = deadline.saturating_sub(monotonic());
            if left <= 0 || enough(&observed) {
                return observed;
            }
            let left = Duration::from_nanos(left.unsigned_abs());
            (observed, _) = self
                .changed
                .wait_timeout(observed, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs on the link's reader thread.
struct Observer {
    watch: Arc<Watch>,
    wanted: Option<u8>,
    monitor: Monitor,
}

impl Observer {
    fn into_closure(mut self) -> impl FnMut(Received, &Sender) + Send + 'static {
        move |received, sender| self.observe(&received, sender)
    }

    fn observe(&mut self, received: &Received, sender: &Sender) {
        let mut observed = self.watch.lock();
        if !observed.is_of_vehicle(received, self.wanted) {
            return;
        }
        if observed.telemetry.take(received) {
            self.watch.changed.notify_all();
        }
        if let Some(rates) = self.monitor.count(received) {
            observed.rates.clear();
            observed.rates.extend_from_slice(rates);
        }
        drop(observed);
        // Without the lock: this logs, and the flight's thread may be waiting.
        self.monitor.act(received, sender);
    }
}

impl Observed {
    /// Whether the message is the vehicle's; the first heartbeat that may be its own decides who that is.
    fn is_of_vehicle(&mut self, received: &Received, wanted: Option<u8>) -> bool {
        let sender = (received.system, received.component);
        if let Some(vehicle) = self.vehicle {
            return vehicle == sender;
        }
        let MavMessage::HEARTBEAT(m) = &received.message else {
            return false;
        };
        let right_number = wanted.is_none_or(|wanted| u32::from(wanted) == received.system);
        if right_number && Heartbeat::from(m).is_autopilot() {
            self.vehicle = Some(sender);
            return true;
        }
        let other = (received.system, received.component, m.mavtype);
        if self.others.len() < MOST_OTHERS && !self.others.contains(&other) {
            self.others.push(other);
        }
        false
    }
}
