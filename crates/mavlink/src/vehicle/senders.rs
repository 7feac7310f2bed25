//! Which sender on a link is the vehicle, and which others there are.

use std::net::SocketAddr;

use crate::clock::monotonic;
use crate::dialect::{MavMessage, MavType};
use crate::link::{Overheard, Received};
use crate::telemetry::{Heartbeat, type_name};

/// At most this many others are named.
const MOST_OTHERS: usize = 8;

/// The vehicle among the senders that were heard.
#[derive(Clone, Default)]
pub(super) struct Senders {
    /// Its system and component id.
    pub vehicle: Option<(u32, u8)>,
    /// Other senders heard before the vehicle, for the error message.
    pub others: Vec<Other>,
    /// Autopilots heard beside the vehicle that might be meant as well: any where it was taken because it was heard
    /// first, and those that have its system id.
    pub rivals: Vec<Other>,
}

/// A sender that is not the vehicle.
#[derive(Clone)]
pub(super) struct Other {
    pub system: u32,
    pub component: u8,
    pub kind: MavType,
    /// Its address, if that is not the vehicle's.
    pub from: Option<SocketAddr>,
    /// When its last heartbeat came, ns of `CLOCK_MONOTONIC`.
    pub heard: i64,
}

impl Other {
    fn is(&self, other: &Self) -> bool {
        (self.system, self.component, self.from) == (other.system, other.component, other.from)
    }

    /// Whether it is still there at `now`, ns of `CLOCK_MONOTONIC`.
    pub fn is_there(&self, now: i64) -> bool {
        self.from.is_none() || now.saturating_sub(self.heard) < THERE
    }
}

/// Another address whose last heartbeat is older than this, ns, has gone: an autopilot that has restarted may send from another port.
const THERE: i64 = 3_000_000_000;

impl Senders {
    /// Whether the message comes from the vehicle, or is the heartbeat that determines which one that is.
    pub fn would_be_of_vehicle(&self, received: &Received, wanted: Option<u8>) -> bool {
        if let Some(vehicle) = self.vehicle {
            return vehicle == (received.system, received.component);
        }
        let MavMessage::HEARTBEAT(m) = &received.message else {
            return false;
        };
        let right_number = wanted.is_none_or(|wanted| u32::from(wanted) == received.system);
        right_number && Heartbeat::from(m).is_autopilot()
    }

    /// Whether the message comes from the vehicle; the first heartbeat that qualifies determines which one that is.
    pub fn is_of_vehicle(&mut self, received: &Received, wanted: Option<u8>) -> bool {
        if self.would_be_of_vehicle(received, wanted) {
            self.vehicle = Some((received.system, received.component));
            return true;
        }
        let MavMessage::HEARTBEAT(m) = &received.message else {
            return false;
        };
        let other = Other {
            system: received.system,
            component: received.component,
            kind: m.mavtype,
            from: None,
            heard: received.arrival,
        };
        match self.vehicle {
            None if self.others.len() < MOST_OTHERS
                && !self.others.iter().any(|known| known.is(&other)) =>
            {
                self.others.push(other);
            }
            // Further autopilots of its own system share its flight.
            Some((system, _))
                if wanted.is_none()
                    && system != received.system
                    && Heartbeat::from(m).is_autopilot() =>
            {
                self.add_rival(other);
            }
            _ => {}
        }
        false
    }

    /// Whether the heartbeat of a sender that is not listened to shows another autopilot that might be meant.
    pub fn overhear(&mut self, overheard: &Overheard, wanted: Option<u8>) -> bool {
        let of_the_vehicle = self
            .vehicle
            .is_some_and(|(system, _)| system == overheard.system);
        let may_be_meant = wanted.is_none() || of_the_vehicle;
        may_be_meant
            && Heartbeat::from(&overheard.heartbeat).is_autopilot()
            && self.add_rival(Other {
                system: overheard.system,
                component: overheard.component,
                kind: overheard.heartbeat.mavtype,
                from: Some(overheard.from),
                heard: monotonic(),
            })
    }

    /// Returns whether it has been noted.
    fn add_rival(&mut self, rival: Other) -> bool {
        if let Some(known) = self.rivals.iter_mut().find(|known| known.is(&rival)) {
            known.heard = rival.heard;
            return true;
        }
        self.rivals.retain(|known| known.is_there(rival.heard));
        if self.rivals.len() >= MOST_OTHERS {
            return false;
        }
        if let Some((system, component)) = self.vehicle {
            let advice = if rival.system == system {
                "give each vehicle a system id and a port of its own"
            } else {
                "`system` says which one is meant"
            };
            tracing::warn!(
                "another autopilot is on this link, {}; {system}/{component} was heard first and is the vehicle: {advice}",
                listed(std::slice::from_ref(&rival))
            );
        }
        self.rivals.push(rival);
        true
    }
}

/// Senders: system and component id, kind, and address.
pub(super) fn listed(senders: &[Other]) -> String {
    let named = senders.iter().map(|other| {
        let (system, component, kind) = (other.system, other.component, type_name(other.kind));
        let from = other.from.map(|from| format!(" at {from}"));
        format!("{system}/{component} ({kind}){}", from.unwrap_or_default())
    });
    named.collect::<Vec<_>>().join(", ")
}
