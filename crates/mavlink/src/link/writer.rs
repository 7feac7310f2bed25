//! The writer thread: our heartbeat and queued messages.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use mavlink::{MavHeader, write_v2_msg};

use super::{LinkSettings, Shared, count, lock};
use crate::dialect::{HEARTBEAT_DATA, MavAutopilot, MavMessage, MavModeFlag, MavState, MavType};

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

/// Without a heartbeat to send the writer still wakes this often.
const IDLE: Duration = Duration::from_hours(1);

pub(super) struct Writer {
    pub shared: Arc<Shared>,
    pub waiting: Receiver<Option<MavMessage>>,
    pub settings: LinkSettings,
}

impl Writer {
    /// Until the link is dropped.
    pub fn run(self) {
        let mut frame = Vec::with_capacity(mavlink::consts::MAX_FRAME_SIZE);
        let mut sequence = 0;
        let mut next_heartbeat = self.settings.heartbeat_period.map(|_| Instant::now());
        loop {
            let wait =
                next_heartbeat.map_or(IDLE, |at| at.saturating_duration_since(Instant::now()));
            let received = self.waiting.recv_timeout(wait);
            if self.shared.stop.load(Ordering::Relaxed) {
                return;
            }
            let message = match received {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => match self.settings.heartbeat_period {
                    Some(period) => {
                        next_heartbeat = Some(Instant::now() + period);
                        self.settings.identity.heartbeat()
                    }
                    None => continue,
                },
            };
            frame.clear();
            let header = MavHeader {
                system_id: self.settings.identity.system.into(),
                component_id: self.settings.identity.component,
                sequence,
            };
            if self.write(&mut frame, header, &message) {
                sequence = sequence.wrapping_add(1);
                count(&self.shared.counters.sent, 1);
            } else {
                count(&self.shared.counters.unsent, 1);
            }
        }
    }

    /// Whether the message went out. The frame goes out in one write: it is one datagram.
    fn write(&self, frame: &mut Vec<u8>, header: MavHeader, message: &MavMessage) -> bool {
        if let Err(error) = write_v2_msg(frame, header, message) {
            tracing::warn!(%error, "a MAVLink message could not be encoded");
            return false;
        }
        match lock(&self.shared.writer)
            .as_mut()
            .map(|writer| writer.write_all(frame))
        {
            Some(Ok(())) => true,
            Some(Err(error)) => {
                tracing::debug!(%error, "a MAVLink message could not be sent");
                false
            }
            None => false,
        }
    }
}
