//! UDP, listening and sending.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::overheard::{Overheard, heartbeats};
use super::{Output, READ_TIMEOUT, Senders, Streams, WRITE_TIMEOUT};

/// After this silence of its peer, a listening socket accepts another sender: a restarted autopilot uses another port.
const PEER_SILENCE: Duration = Duration::from_secs(2);

/// So many heartbeats of others may wait to be taken.
const MOST: usize = 8;

/// A bound socket.
pub(crate) struct Endpoint {
    socket: Arc<UdpSocket>,
    peer: Arc<Mutex<Peer>>,
}

/// The peer to reply to.
enum Peer {
    /// Always this one; others are ignored.
    Fixed(SocketAddr),
    /// The sender that proved to be the peer ([`Peer::confirm`]). Before, all are read and the first one is answered.
    Heard {
        /// Where it sends from, when that last sent, and whether it is confirmed.
        heard: Option<(SocketAddr, Instant, bool)>,
        /// Sender of the last datagram.
        last: Option<SocketAddr>,
        /// Signatures tell who is who: all are read at all times, and nobody is answered who has not signed.
        authenticated: bool,
        /// Whether a datagram of somebody else was dropped and reported.
        told: bool,
        /// Heartbeats in those that were dropped.
        overheard: Vec<Overheard>,
    },
}

impl Peer {
    fn listening(authenticated: bool) -> Self {
        Self::Heard {
            heard: None,
            last: None,
            authenticated,
            told: false,
            overheard: Vec::new(),
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Fixed(address) => Some(*address),
            Self::Heard { heard, .. } => heard.map(|(address, ..)| address),
        }
    }

    /// Whether to accept a datagram from there. Without signatures, those of others are dropped while the peer is
    /// there: they may have its numbers.
    fn admit(&mut self, from: SocketAddr, now: Instant) -> bool {
        let Self::Heard {
            heard,
            last,
            authenticated,
            told,
            ..
        } = self
        else {
            return self.address() == Some(from);
        };
        match heard {
            Some((address, at, _)) if *address == from => *at = now,
            Some((address, at, true))
                if !*authenticated && now.duration_since(*at) <= PEER_SILENCE =>
            {
                if !std::mem::replace(told, true) {
                    tracing::info!(
                        "{from} sends to this port as well and is not listened to, since {address} is the vehicle"
                    );
                }
                return false;
            }
            None if !*authenticated => *heard = Some((from, now, false)),
            _ => {}
        }
        *last = Some(from);
        true
    }

    /// Notes heartbeats in a datagram that was dropped.
    fn overhear(&mut self, heartbeats: Vec<Overheard>) {
        if let Self::Heard { overheard, .. } = self
            && overheard.len() < MOST
        {
            overheard.extend(heartbeats);
        }
    }

    /// Takes what was heard in them.
    fn take_overheard(&mut self) -> Vec<Overheard> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Heard { overheard, .. } => std::mem::take(overheard),
        }
    }

    /// The last datagram came from the peer.
    fn confirm(&mut self, now: Instant) {
        if let Self::Heard {
            heard,
            last: Some(from),
            ..
        } = self
        {
            if heard.is_none_or(|(address, _, confirmed)| address != *from || !confirmed) {
                tracing::info!(%from, "MAVLink peer heard");
            }
            *heard = Some((*from, now, true));
        }
    }
}

impl Endpoint {
    /// Listens on the first address that can be bound.
    pub fn listen(addresses: &[SocketAddr], authenticated: bool) -> io::Result<Self> {
        Self::new(UdpSocket::bind(addresses)?, Peer::listening(authenticated))
    }

    /// Sends to the first address, from a port that the system chooses.
    pub fn send_to(addresses: &[SocketAddr]) -> io::Result<Self> {
        let Some(&to) = addresses.first() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let any: SocketAddr = match to {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        Self::new(UdpSocket::bind(any)?, Peer::Fixed(to))
    }

    fn new(socket: UdpSocket, peer: Peer) -> io::Result<Self> {
        socket.set_read_timeout(Some(READ_TIMEOUT))?;
        socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self {
            socket: Arc::new(socket),
            peer: Arc::new(Mutex::new(peer)),
        })
    }

    pub fn local_address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// The two halves; the socket stays bound, so they can be created again.
    pub fn streams(&self) -> Streams {
        let half = || Half {
            socket: Arc::clone(&self.socket),
            peer: Arc::clone(&self.peer),
        };
        let peer = match lock(&self.peer).address() {
            Some(address) => address.to_string(),
            None => "whoever sends".to_owned(),
        };
        Streams {
            reader: Box::new(half()),
            writer: Box::new(half()),
            senders: Some(Box::new(half())),
            peer,
        }
    }
}

/// Locks despite another thread's panic: the peer is only ever replaced as a whole.
fn lock(peer: &Mutex<Peer>) -> MutexGuard<'_, Peer> {
    peer.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Half {
    socket: Arc<UdpSocket>,
    peer: Arc<Mutex<Peer>>,
}

impl Read for Half {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let until = Instant::now() + READ_TIMEOUT;
        loop {
            let received = match self.socket.recv_from(buffer) {
                Ok((length, from)) => {
                    let admitted = lock(&self.peer).admit(from, Instant::now());
                    if !admitted {
                        let heartbeats = heartbeats(&buffer[..length], from);
                        lock(&self.peer).overhear(heartbeats);
                    }
                    // An empty datagram is not the end of the stream.
                    (length > 0 && admitted).then_some(length)
                }
                // An ICMP "port unreachable" for an earlier datagram: no peer is listening yet.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => None,
                Err(error) => return Err(error),
            };
            match received {
                Some(length) => return Ok(length),
                None if Instant::now() >= until => return Err(io::ErrorKind::TimedOut.into()),
                None => {}
            }
        }
    }
}

impl Write for Half {
    fn write(&mut self, frame: &[u8]) -> io::Result<usize> {
        let to = lock(&self.peer).address();
        match to {
            Some(to) => self.socket.send_to(frame, to),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Half {}

impl Senders for Half {
    fn confirm(&self) {
        lock(&self.peer).confirm(Instant::now());
    }

    fn overheard(&self) -> Vec<Overheard> {
        lock(&self.peer).take_overheard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_kept_until_it_is_silent() {
        let [a, b]: [SocketAddr; 2] = [([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into()];
        let start = Instant::now();
        let mut peer = Peer::listening(false);
        assert!(peer.admit(a, start));
        peer.confirm(start);
        assert!(!peer.admit(b, start + PEER_SILENCE / 2));
        assert!(peer.admit(a, start + PEER_SILENCE));
        assert!(!peer.admit(b, start + PEER_SILENCE * 3 / 2));
        assert!(peer.admit(b, start + PEER_SILENCE * 5 / 2));
        assert_eq!(peer.address(), Some(a), "b has proved nothing");
        peer.confirm(start + PEER_SILENCE * 5 / 2);
        assert_eq!(peer.address(), Some(b));
        assert!(!peer.admit(a, start + PEER_SILENCE * 3));
        let mut fixed = Peer::Fixed(a);
        assert!(!fixed.admit(b, start) && fixed.admit(a, start));
    }

    #[test]
    fn a_stranger_who_sends_first_keeps_nobody_out() {
        let [a, b]: [SocketAddr; 2] = [([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into()];
        let start = Instant::now();
        let mut peer = Peer::listening(false);
        assert!(peer.admit(a, start));
        assert_eq!(peer.address(), Some(a), "it may wait for us");
        assert!(peer.admit(b, start));
        peer.confirm(start);
        assert_eq!(peer.address(), Some(b));
        assert!(!peer.admit(a, start + PEER_SILENCE));
    }

    #[test]
    fn on_a_signed_link_only_a_proven_vehicle_is_answered() {
        let [a, b]: [SocketAddr; 2] = [([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into()];
        let start = Instant::now();
        let mut peer = Peer::listening(true);
        assert!(peer.admit(a, start) && peer.address().is_none());
        assert!(peer.admit(b, start));
        peer.confirm(start);
        assert_eq!(peer.address(), Some(b));
        assert!(peer.admit(a, start + 2 * PEER_SILENCE));
        assert_eq!(peer.address(), Some(b), "a has proved nothing");
    }
}
