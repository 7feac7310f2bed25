//! What a link's reader thread makes of the vehicle's messages.

use std::thread::Thread;

use rtrb::{Consumer, Producer};

use super::board::Board;
use super::monitor::{Monitor, Rate};
use super::order::Order;
use super::senders::Senders;
use super::time_sync::ClockOffset;
use crate::clock::monotonic;
use crate::dialect::{MavMessage, MavProtocolCapability};
use crate::link::{Listener, Overheard, Received, Sender};
use crate::newest::Publisher;
use crate::telemetry::Telemetry;

/// The state that the reader thread has assembled so far.
#[derive(Clone, Default)]
pub(super) struct Observed {
    pub telemetry: Telemetry,
    pub senders: Senders,
    pub rates: Vec<Rate>,
    pub clock: Option<ClockOffset>,
    /// Since when the vehicle has not answered any more, ns.
    pub unheard_since: Option<i64>,
    pub version: Option<Version>,
}

/// What `AUTOPILOT_VERSION` says.
#[derive(Clone, Copy)]
pub(super) struct Version {
    pub capabilities: MavProtocolCapability,
    pub board: Option<Board>,
}

/// Runs on the link's reader thread.
pub(super) struct Observer {
    pub observed: Observed,
    pub publisher: Publisher<Observed>,
    pub woken: Consumer<Thread>,
    pub waiter: Option<Thread>,
    pub answered: Producer<Received>,
    pub told: Producer<Received>,
    pub order: Order,
    pub wanted: Option<u8>,
    pub monitor: Monitor,
}

impl Listener for Observer {
    fn message(&mut self, received: Received, sender: &mut Sender) {
        if !self.observed.senders.is_of_vehicle(&received, self.wanted) {
            if matches!(received.message, MavMessage::HEARTBEAT(_)) {
                self.publish(true);
            }
            return;
        }
        let count = self.order.count(&received);
        if matches!(received.message, MavMessage::HEARTBEAT(_)) && self.order.is_outdated(count) {
            return;
        }
        let mut news = self.observed.telemetry.take(&received);
        let rolled = self.monitor.count(&received);
        if rolled {
            self.observed.rates.clear();
            self.observed.rates.extend_from_slice(self.monitor.rates());
        }
        match &received.message {
            MavMessage::TIMESYNC(m) => {
                if let Some(clock) = self.monitor.time_sync(m, &received, sender) {
                    self.observed.clock = Some(clock);
                    self.observed.telemetry.correct_clock(
                        clock.offset.saturating_neg(),
                        clock.round_trip / 2,
                        clock.at,
                    );
                    news = true;
                }
            }
            MavMessage::AUTOPILOT_VERSION(m) => {
                self.observed.version = Some(Version {
                    capabilities: m.capabilities,
                    board: Board::of(m),
                });
                news = true;
            }
            _ => {}
        }
        if news || rolled {
            self.publish(rolled);
        }
        self.monitor.lateness = self.observed.telemetry.lateness();
        self.monitor.act(&received, sender);
        // Published with the next message.
        self.observed.unheard_since = self.monitor.unheard_since();
        if matches!(
            received.message,
            MavMessage::COMMAND_ACK(_) | MavMessage::PARAM_VALUE(_) | MavMessage::PARAM_ERROR(_)
        ) {
            // If the queue is full, the answers are not being fetched.
            let _ = self.answered.push(received);
        } else if is_news(&received.message) {
            let _ = self.told.push(received);
        }
    }

    fn overheard(&mut self, heartbeat: &Overheard) {
        if self.observed.senders.overhear(heartbeat, self.wanted) {
            self.publish(true);
        }
    }

    fn is_peer(&self, received: &Received) -> bool {
        self.observed
            .senders
            .would_be_of_vehicle(received, self.wanted)
    }

    fn idle(&mut self, sender: &mut Sender) {
        self.monitor.poll(monotonic(), sender);
    }
}

/// The messages that [`next_status`](super::Vehicle::next_status) returns.
fn is_news(message: &MavMessage) -> bool {
    matches!(
        message,
        MavMessage::HEARTBEAT(_)
            | MavMessage::STATUSTEXT(_)
            | MavMessage::SYS_STATUS(_)
            | MavMessage::EXTENDED_SYS_STATE(_)
            | MavMessage::ESTIMATOR_STATUS(_)
            | MavMessage::EKF_STATUS_REPORT(_)
            | MavMessage::HOME_POSITION(_)
            | MavMessage::GLOBAL_POSITION_INT(_)
            | MavMessage::ATTITUDE_TARGET(_)
    )
}

impl Observer {
    fn publish(&mut self, lists: bool) {
        let observed = &self.observed;
        self.publisher.publish(|newest| {
            newest.telemetry.clone_from(&observed.telemetry);
            newest.senders.vehicle = observed.senders.vehicle;
            newest.clock = observed.clock;
            newest.unheard_since = observed.unheard_since;
            newest.version = observed.version;
            if lists || newest.rates != observed.rates {
                newest.rates.clone_from(&observed.rates);
            }
            if lists || newest.senders.others.len() != observed.senders.others.len() {
                newest.senders.others.clone_from(&observed.senders.others);
            }
            if lists || !observed.senders.rivals.is_empty() || !newest.senders.rivals.is_empty() {
                newest.senders.rivals.clone_from(&observed.senders.rivals);
            }
        });
        while let Ok(waiter) = self.woken.pop() {
            self.waiter = Some(waiter);
        }
        if let Some(waiter) = &self.waiter {
            waiter.unpark();
        }
    }
}
