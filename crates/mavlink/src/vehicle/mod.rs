//! One vehicle on a link: found by its heartbeat, watched, and asked for the messages that it does not send by itself.
//!
//! By itself this sends our heartbeat, `TIMESYNC`, and requests for messages; with [`VehicleSettings::listen_only`],
//! not even those. Commands, parameters and setpoints are sent when their functions are called.
//!
//! The link's threads and the owner share no lock. The newest state comes through a triple buffer; answers and outgoing
//! messages go through wait-free queues. So no call here waits for another thread, except [`Vehicle::find`] and
//! [`Vehicle::wait`], whose purpose is to wait.

mod board;
mod commands;
mod error;
mod intervals;
mod monitor;
mod observer;
mod order;
mod parameters;
mod senders;
mod texts;
mod time_sync;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::thread::Thread;
use std::time::Duration;

use mavlink::Message;
use rtrb::{Consumer, Producer, RingBuffer};

use crate::address::Address;
use crate::clock::monotonic;
use crate::dialect::MavMessage;
use crate::link::{Link, LinkError, LinkSettings, Received, SendError, UrgentLine};
use crate::newest::{Newest, newest};
use crate::statistics::Statistics;
use crate::telemetry::{Heartbeat, Telemetry};

pub use board::Board;
pub use commands::{Command, CommandError, Outcome, Ticket, UnmatchedAcks};
pub use error::VehicleError;
pub use monitor::Rate;
pub use parameters::{Encoding, ParameterError, ParameterOutcome, ParameterValue, Parameters};
#[cfg(feature = "backend")]
pub(crate) use texts::Texts;
pub use time_sync::ClockOffset;

use commands::Commands;
use monitor::Monitor;
use observer::{Observed, Observer};
use order::Order;
use senders::listed;

/// How a vehicle is found, and the message rates requested from it.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleSettings {
    /// The link's own settings.
    pub link: LinkSettings,
    /// The vehicle's system id; `None` takes the first autopilot that is heard.
    pub system: Option<u8>,
    /// Requested rate of `ATTITUDE_QUATERNION`, Hz; 0 does not request it.
    pub attitude_rate: f64,
    /// Requested rate of `LOCAL_POSITION_NED`, Hz; 0 does not request it.
    pub position_rate: f64,
    /// Other messages to request: numbers and rates, Hz.
    pub messages: Vec<(u32, f64)>,
    /// Send nothing at all: no heartbeat and no requests. A vehicle that must hear us first is then not heard, and
    /// ArduPilot sends hardly more than its heartbeat.
    pub listen_only: bool,
}

impl Default for VehicleSettings {
    /// 50 Hz and 30 Hz, which a radio of 57600 baud can carry.
    fn default() -> Self {
        Self {
            link: LinkSettings::default(),
            system: None,
            attitude_rate: 50.0,
            position_rate: 30.0,
            messages: Vec::new(),
            listen_only: false,
        }
    }
}

/// A vehicle that has been heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Its system id.
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
    listen_only: bool,
    newest: RefCell<Newest<Observed>>,
    /// Threads that the reader thread wakes.
    waiters: RefCell<Waiters>,
    answers: Consumer<Received>,
    news: Consumer<Received>,
    commands: Commands,
    parameters: Option<Parameters>,
}

struct Waiters {
    ring: Producer<Thread>,
    last: Option<Thread>,
}

/// Number of answers that may wait for [`Vehicle::poll`]; a list of parameters arrives faster than a flight ticks.
const ANSWERS: usize = 512;

/// Number of messages that may wait for [`Vehicle::next_status`].
const NEWS: usize = 256;

/// Waiting threads check again after this in any case.
const NAP: Duration = Duration::from_millis(10);

impl Vehicle {
    /// Opens the link and begins to listen.
    ///
    /// # Errors
    /// As [`Link::open`].
    pub fn open(address: &Address, settings: &VehicleSettings) -> Result<Self, LinkError> {
        let mut link_settings = settings.link.clone();
        if settings.listen_only {
            link_settings.heartbeat_period = None;
        }
        let us = (
            settings.link.identity.system,
            settings.link.identity.component,
        );
        let (publisher, reader) = newest(Observed::default());
        let (waiters, woken) = RingBuffer::new(4);
        let (answered, answers) = RingBuffer::new(ANSWERS);
        let (told, news) = RingBuffer::new(NEWS);
        let observer = Observer {
            observed: Observed::default(),
            publisher,
            woken,
            waiter: None,
            answered,
            told,
            order: Order::default(),
            wanted: settings.system,
            monitor: Monitor::new(settings, us),
        };
        let link = Link::open(address, &link_settings, observer)?;
        Ok(Self {
            link,
            address: address.clone(),
            wanted: settings.system,
            listen_only: settings.listen_only,
            newest: RefCell::new(reader),
            waiters: RefCell::new(Waiters {
                ring: waiters,
                last: None,
            }),
            answers,
            news,
            commands: Commands::new(us, commands::RETRY),
            parameters: None,
        })
    }

    /// Waits for the vehicle's heartbeat until `deadline` (ns of `CLOCK_MONOTONIC`).
    ///
    /// # Errors
    /// [`VehicleError::NotHeard`], with what was heard instead.
    pub fn find(&self, deadline: i64) -> Result<Found, VehicleError> {
        let started = monotonic();
        let found = |observed: &Observed| {
            let (system, component) = observed.senders.vehicle?;
            let heartbeat = observed.telemetry.heartbeat()?.value;
            Some(Found {
                system,
                component,
                heartbeat,
            })
        };
        self.wait_for(deadline, |observed| found(observed).is_some());
        let (found, others) =
            self.look(|observed| (found(observed), observed.senders.others.clone()));
        found.ok_or_else(|| VehicleError::NotHeard {
            address: self.address.clone(),
            waited: Duration::from_nanos(deadline.saturating_sub(started).max(0).unsigned_abs()),
            instead: error::heard_instead(
                self.wanted,
                &others,
                &self.link.statistics(),
                self.link.last_error(),
            ),
        })
    }

    /// Waits for heartbeats of other autopilots until `deadline` (ns of `CLOCK_MONOTONIC`), where they may come:
    /// without [`VehicleSettings::system`], and on a UDP port, to which another vehicle of that system id may send.
    ///
    /// # Errors
    /// [`VehicleError::Several`], [`VehicleError::SameSystemId`]: which one is heard first is chance.
    pub fn expect_alone(&self, deadline: i64) -> Result<(), VehicleError> {
        if self.wanted.is_some() && !matches!(self.address, Address::UdpIn(_)) {
            return Ok(());
        }
        let are_there = |observed: &Observed| {
            (observed.senders.rivals.iter()).any(|rival| rival.is_there(monotonic()))
        };
        self.wait_for(deadline, are_there);
        let (first, mut rivals) =
            self.look(|observed| (observed.senders.vehicle, observed.senders.rivals.clone()));
        rivals.retain(|rival| rival.is_there(monotonic()));
        let Some((system, component)) = first.filter(|_| !rivals.is_empty()) else {
            return Ok(());
        };
        let (address, others) = (self.address.clone(), listed(&rivals));
        Err(if rivals.iter().any(|rival| rival.system == system) {
            VehicleError::SameSystemId {
                address,
                system,
                others,
            }
        } else {
            VehicleError::Several {
                address,
                first: format!("{system}/{component}"),
                others,
            }
        })
    }

    /// Returns the newest state as soon as it is `enough`, else the state at `deadline` (ns of `CLOCK_MONOTONIC`).
    /// Returns at once if the deadline has passed. Does not allocate.
    pub fn wait(&self, deadline: i64, mut enough: impl FnMut(&Telemetry) -> bool) -> Telemetry {
        self.wait_for(deadline, |observed| enough(&observed.telemetry));
        self.telemetry()
    }

    /// The newest state, without blocking.
    pub fn telemetry(&self) -> Telemetry {
        self.look(|observed| observed.telemetry.clone())
    }

    /// The vehicle's board, as soon as it has said which it is, until `deadline` (ns of `CLOCK_MONOTONIC`); `None` for firmware that does not.
    pub fn board(&self, deadline: i64) -> Option<Board> {
        self.wait_for(deadline, |observed| observed.version.is_some());
        self.look(|observed| observed.version)?.board
    }

    /// Rates of the vehicle's messages, over the last two seconds or so.
    pub fn rates(&self) -> Vec<Rate> {
        self.look(|observed| observed.rates.clone())
    }

    /// The vehicle's clock relative to ours, from `TIMESYNC`; `None` until it has answered.
    pub fn clock(&self) -> Option<ClockOffset> {
        self.look(|observed| observed.clock)
    }

    /// Since when the vehicle has not answered `TIMESYNC` any more, ns of `CLOCK_MONOTONIC`: what is sent may not reach it, whatever it sends.
    pub fn unheard_since(&self) -> Option<i64> {
        self.look(|observed| observed.unheard_since)
    }

    /// The link's statistics.
    pub fn statistics(&self) -> Statistics {
        self.link.statistics()
    }

    /// The local address of a listening link.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.link.local_address()
    }

    /// Sends a setpoint before `deadline` (ns of `CLOCK_MONOTONIC`) or not at all, in place of a waiting older one of
    /// its kind. Fills in its target, if it has one.
    ///
    /// # Errors
    /// A full queue, a closed link, or one that only listens.
    pub fn send_setpoint(
        &mut self,
        mut message: MavMessage,
        deadline: i64,
    ) -> Result<(), SendError> {
        if self.listen_only {
            return Err(SendError::ListenOnly);
        }
        let (system, component) = self.target().ok_or(SendError::NoVehicle)?;
        if let Some(target) = message.target_system_id_mut() {
            *target = system;
        }
        if let Some(target) = message.target_component_id_mut() {
            *target = component;
        }
        self.link.sender()?.send_setpoint(message, deadline)
    }

    /// Begins a command. It is sent repeatedly until it is acknowledged, at most until `deadline` (ns of
    /// `CLOCK_MONOTONIC`). Call [`Vehicle::poll`] until [`Vehicle::outcome`] is final.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn begin(&mut self, command: Command, deadline: i64) -> Result<Ticket, CommandError> {
        if self.listen_only {
            return Err(CommandError::ListenOnly);
        }
        let target = self.target().ok_or(CommandError::NoVehicle)?;
        let now = monotonic();
        let ticket = self.commands.begin(command, target, now, deadline)?;
        self.poll(now);
        Ok(ticket)
    }

    /// The progress of a command.
    pub fn outcome(&self, ticket: Ticket) -> Outcome {
        self.commands.outcome(ticket)
    }

    /// Ends a command that is no longer wanted, such as one that the vehicle has carried out without acknowledging it: it is not sent again.
    pub fn cancel(&mut self, ticket: Ticket) {
        self.commands.cancel(ticket);
    }

    /// Acknowledgements that matched no command.
    pub fn unmatched_acks(&self) -> UnmatchedAcks {
        self.commands.unmatched_acks()
    }

    /// The next message of the vehicle about its status, in order: `HEARTBEAT` (except those overtaken by later
    /// ones), `STATUSTEXT`, `SYS_STATUS`, `EXTENDED_SYS_STATE`, `ESTIMATOR_STATUS`, `EKF_STATUS_REPORT`,
    /// `HOME_POSITION`, `GLOBAL_POSITION_INT`, `ATTITUDE_TARGET`. If they are not fetched, new ones are dropped.
    pub fn next_status(&mut self) -> Option<Received> {
        self.news.pop().ok()
    }

    /// A line to the vehicle that bypasses everything that may hang.
    ///
    /// # Errors
    /// The link is closed, or only listens.
    pub fn urgent(&self) -> Result<UrgentLine, SendError> {
        if self.listen_only {
            return Err(SendError::ListenOnly);
        }
        self.link.urgent()
    }

    /// The system and component numbers of the vehicle, once it was heard.
    pub fn target(&self) -> Option<(u8, u8)> {
        let (system, component) = self.look(|observed| observed.senders.vehicle)?;
        Some((u8::try_from(system).ok()?, component))
    }

    /// The vehicle's parameters. [`Vehicle::poll`] reads and sets them.
    ///
    /// # Errors
    /// No vehicle has been heard yet, or the link only listens.
    pub fn parameters(&mut self) -> Result<&mut Parameters, ParameterError> {
        if self.listen_only {
            return Err(ParameterError::ListenOnly);
        }
        let target = self.target().ok_or(ParameterError::NoVehicle)?;
        let encoding = self.encoding();
        let parameters = self
            .parameters
            .get_or_insert_with(|| Parameters::new(target, encoding));
        parameters.set_encoding(encoding);
        Ok(parameters)
    }

    /// Processes the answers that have arrived and sends what is due at `now` (ns of `CLOCK_MONOTONIC`). Never blocks.
    pub fn poll(&mut self, now: i64) {
        self.take_answers();
        let Ok(sender) = self.link.sender() else {
            return;
        };
        let mut send = |message, deadline| sender.send_until(message, deadline).is_ok();
        self.commands.poll(now, &mut send);
        if let Some(parameters) = &mut self.parameters {
            parameters.poll(now, &mut send);
        }
    }

    /// Processes the answers that have arrived.
    pub(crate) fn take_answers(&mut self) {
        while let Ok(received) = self.answers.pop() {
            let from = (received.system, received.component);
            match (&received.message, &mut self.parameters) {
                (MavMessage::COMMAND_ACK(m), _) => self.commands.take(from, m),
                (MavMessage::PARAM_VALUE(m), Some(parameters)) => {
                    parameters.take(m, received.arrival);
                }
                (MavMessage::PARAM_ERROR(m), Some(parameters)) => parameters.take_error(m),
                _ => {}
            }
        }
    }

    fn encoding(&self) -> Encoding {
        let (version, heartbeat) = self.look(|observed| {
            let heartbeat = observed.telemetry.heartbeat();
            (observed.version, heartbeat.copied())
        });
        let autopilot = heartbeat.map_or_else(Default::default, |newest| newest.value.autopilot);
        Encoding::of(version.map(|version| version.capabilities), autopilot)
    }

    fn look<R: Default>(&self, look: impl FnOnce(&Observed) -> R) -> R {
        self.newest.borrow_mut().with(look).unwrap_or_default()
    }

    fn wait_for(&self, deadline: i64, mut enough: impl FnMut(&Observed) -> bool) {
        loop {
            let left = deadline.saturating_sub(monotonic());
            if left <= 0 {
                return;
            }
            // Registered before the check, so that a message in between wakes us.
            self.waiters.borrow_mut().enter();
            if self.look(&mut enough) {
                return;
            }
            std::thread::park_timeout(Duration::from_nanos(left.unsigned_abs()).min(NAP));
        }
    }
}

impl Waiters {
    /// Registers this thread for the reader thread to wake.
    fn enter(&mut self) {
        let us = std::thread::current();
        if self.last.as_ref().is_none_or(|last| last.id() != us.id())
            && self.ring.push(us.clone()).is_ok()
        {
            self.last = Some(us);
        }
    }
}

#[cfg(test)]
mod tests;
