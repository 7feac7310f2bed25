//! Heartbeats in datagrams that a listening socket drops, because their sender is not its peer.

use std::net::SocketAddr;

use mavlink::MavlinkReader;
use mavlink::error::MessageReadError;

use crate::dialect::{HEARTBEAT_DATA, MavMessage};

/// At most this many are kept until they are taken.
const MOST: usize = 8;

/// A heartbeat whose sender is not listened to.
#[derive(Clone, Debug)]
pub struct Overheard {
    /// Where it came from.
    pub from: SocketAddr,
    /// The sender's system id.
    pub system: u32,
    /// The sender's component number.
    pub component: u8,
    /// The content.
    pub heartbeat: HEARTBEAT_DATA,
}

/// Adds the heartbeats in a dropped datagram.
pub(super) fn overhear(list: &mut Vec<Overheard>, datagram: &[u8], from: SocketAddr) {
    let mut reader = MavlinkReader::new(datagram);
    while list.len() < MOST {
        match reader.read_any_message::<MavMessage>() {
            Ok((header, MavMessage::HEARTBEAT(heartbeat))) => list.push(Overheard {
                from,
                system: header.system_id,
                component: header.component_id,
                heartbeat,
            }),
            Ok(_) | Err(MessageReadError::Parse(_)) => {}
            // Its end.
            Err(MessageReadError::Io(_)) => return,
        }
    }
}
