//! Heartbeats in datagrams that a listening socket drops, because their sender is not its peer.

use std::net::SocketAddr;

use mavlink::MavlinkReader;

use crate::dialect::{HEARTBEAT_DATA, MavMessage};

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

/// The heartbeats in a dropped datagram of whole frames. Whatever else it holds costs next to nothing.
pub(super) fn heartbeats(mut datagram: &[u8], from: SocketAddr) -> Vec<Overheard> {
    let mut found = Vec::new();
    while let Some((frame, rest)) = split(datagram) {
        datagram = rest;
        let is_heartbeat = match frame {
            [V1, _, _, _, _, id, ..] => *id == HEARTBEAT,
            [_, _, _, _, _, _, _, id @ ..] => id.starts_with(&[HEARTBEAT, 0, 0]),
            _ => false,
        };
        if is_heartbeat
            && let Ok((header, MavMessage::HEARTBEAT(heartbeat))) =
                MavlinkReader::new(frame).read_any_message::<MavMessage>()
        {
            found.push(Overheard {
                from,
                system: header.system_id,
                component: header.component_id,
                heartbeat,
            });
        }
    }
    found
}

const V1: u8 = 0xfe;
const V2: u8 = 0xfd;
/// The id of `HEARTBEAT`.
const HEARTBEAT: u8 = 0;

/// The first frame and what follows it; `None` if it is no frame, or not a whole one.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match bytes {
        [V1, payload, ..] => 8 + usize::from(*payload),
        [V2, payload, flags, ..] => 12 + usize::from(*payload) + usize::from(flags & 1) * 13,
        _ => return None,
    };
    bytes.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use mavlink::{MavHeader, MavlinkVersion, write_versioned_msg};

    use super::*;
    use crate::dialect::{ATTITUDE_DATA, MavType};

    #[test]
    fn heartbeats_are_found_among_whatever_is_sent() {
        let from: SocketAddr = ([127, 0, 0, 1], 1).into();
        let heartbeat = MavMessage::HEARTBEAT(HEARTBEAT_DATA {
            mavtype: MavType::MAV_TYPE_QUADROTOR,
            ..HEARTBEAT_DATA::DEFAULT
        });
        let other = MavMessage::ATTITUDE(ATTITUDE_DATA::DEFAULT);
        let mut datagram = Vec::new();
        for (version, system, message) in [
            (MavlinkVersion::V2, 1, &other),
            (MavlinkVersion::V2, 2, &heartbeat),
            (MavlinkVersion::V1, 3, &other),
            (MavlinkVersion::V1, 4, &heartbeat),
        ] {
            let header = MavHeader {
                system_id: system,
                component_id: 1,
                sequence: 0,
            };
            write_versioned_msg(&mut datagram, version, header, message).unwrap();
        }
        let systems = |datagram: &[u8]| -> Vec<u32> {
            let found = heartbeats(datagram, from);
            found.iter().map(|heard| heard.system).collect()
        };
        assert_eq!(systems(&datagram), [2, 4]);
        // Cut off, damaged, or no message at all.
        assert_eq!(systems(&datagram[..datagram.len() - 1]), [2]);
        *datagram.last_mut().unwrap() ^= 1;
        assert_eq!(systems(&datagram), [2]);
        assert!(systems(&vec![V1; 65_000]).is_empty() && systems(&[]).is_empty());
    }
}
