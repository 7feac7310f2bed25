//! The writer thread: sends our heartbeat and the queued messages.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mavlink::{MAVLinkV2MessageRaw, MavHeader};

use super::outbox::{Inlet, Outbox, Outgoing};
use super::{LinkSettings, Shared, count, lock};
use crate::clock::monotonic;
use crate::dialect::{HEARTBEAT_DATA, MavAutopilot, MavMessage, MavModeFlag, MavState, MavType};
use crate::signing::Signing;

/// Our ids on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// System number; ground stations use 255, a companion computer its vehicle's number.
    pub system: u8,
    /// Component number; ground stations use 190 (`MAV_COMP_ID_MISSIONPLANNER`), companion computers 191.
    pub component: u8,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            system: 255,
            component: 190,
        }
    }
}

impl Identity {
    fn heartbeat(self) -> MavMessage {
        // 191 to 194 are MAV_COMP_ID_ONBOARD_COMPUTER to ..4.
        let companion = (191..=194).contains(&self.component);
        MavMessage::HEARTBEAT(HEARTBEAT_DATA {
            custom_mode: 0,
            mavtype: if companion {
                MavType::MAV_TYPE_ONBOARD_CONTROLLER
            } else {
                MavType::MAV_TYPE_GCS
            },
            autopilot: MavAutopilot::MAV_AUTOPILOT_INVALID,
            base_mode: MavModeFlag::empty(),
            system_status: MavState::MAV_STATE_ACTIVE,
            mavlink_version: 3,
        })
    }
}

/// Without a heartbeat, the writer still wakes at this period.
const IDLE: Duration = Duration::from_secs(1);

/// How much written data the system may hold back. The rest waits here, where a newer setpoint can replace an older one
/// and late messages are dropped.
const MOST_BACKLOG: Duration = Duration::from_millis(5);

/// The writer's polling period while an urgent message is pending.
const URGENT: Duration = Duration::from_millis(20);

pub(super) struct Writer {
    pub shared: Arc<Shared>,
    pub inlets: Vec<Inlet>,
    pub settings: LinkSettings,
    pub signing: Option<Arc<Signing>>,
}

impl Writer {
    /// Runs until the link is dropped.
    pub fn run(mut self) {
        let mut outbox = Outbox::new(Arc::clone(&self.shared));
        let mut raw = MAVLinkV2MessageRaw::new();
        let mut sequence = 0;
        let mut next_heartbeat = self.settings.heartbeat_period.map(|_| Instant::now());
        loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                return;
            }
            for inlet in &mut self.inlets {
                outbox.take(inlet);
            }
            if let (Some(at), Some(period)) = (next_heartbeat, self.settings.heartbeat_period)
                && at <= Instant::now()
            {
                next_heartbeat = Some(Instant::now() + period);
                outbox.add(Outgoing {
                    message: self.settings.identity.heartbeat(),
                    deadline: None,
                    replaces: true,
                });
            }
            if self.shared.urgent.is_begun() {
                outbox.drop_setpoints();
            }
            let urgent = self.shared.urgent.due(monotonic()).cloned();
            if urgent.is_none() && outbox.is_empty() {
                let wait =
                    next_heartbeat.map_or(IDLE, |at| at.saturating_duration_since(Instant::now()));
                let pending = self.shared.urgent.is_pending();
                std::thread::park_timeout(if pending { wait.min(URGENT) } else { wait });
                continue;
            }
            let mut writer = lock(&self.shared.writer);
            let backlog = writer.as_mut().map_or(Duration::ZERO, |w| w.backlog());
            if urgent.is_none() && backlog > MOST_BACKLOG {
                drop(writer);
                std::thread::sleep(backlog.saturating_sub(MOST_BACKLOG).min(MOST_BACKLOG));
                continue;
            }
            let done = monotonic() + i64::try_from(backlog.as_nanos()).unwrap_or(i64::MAX);
            let is_urgent = urgent.is_some();
            let Some(message) = urgent.or_else(|| outbox.next(done).map(|out| out.message)) else {
                continue;
            };
            let header = MavHeader {
                system_id: self.settings.identity.system.into(),
                component_id: self.settings.identity.component,
                sequence,
            };
            encode(&mut raw, header, &message, self.signing.as_deref());
            // The frame is sent in one write, which makes it one datagram.
            let sent = match writer
                .as_mut()
                .map(|writer| writer.write_all(raw.raw_bytes()))
            {
                Some(Ok(())) => true,
                Some(Err(error)) => {
                    tracing::debug!(%error, "a MAVLink message could not be sent");
                    false
                }
                None => false,
            };
            drop(writer);
            if is_urgent {
                // A link that is down is tried again as one that loses it.
                self.shared.urgent.tried(monotonic(), sent);
            }
            if sent {
                sequence = sequence.wrapping_add(1);
                count(&self.shared.counters.sent, 1);
            } else {
                count(&self.shared.counters.unsent, 1);
            }
        }
    }
}

/// Encodes the frame, signed if there is a key.
fn encode(
    raw: &mut MAVLinkV2MessageRaw,
    header: MavHeader,
    message: &MavMessage,
    signing: Option<&Signing>,
) {
    *raw = MAVLinkV2MessageRaw::new();
    match signing {
        Some(signing) => {
            raw.serialize_message_for_signing(header, message);
            signing.sign(raw);
        }
        None => raw.serialize_message(header, message),
    }
}
