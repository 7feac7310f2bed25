//! Byte streams to a peer: a `Read` and a `Write` half for every kind of link.
//!
//! A read blocks for at most [`READ_TIMEOUT`] and then fails with `WouldBlock` or `TimedOut`; `Ok(0)` means that the
//! peer is gone. Writing a whole frame sends one datagram.

mod overheard;
mod serial;
mod tcp;
mod udp;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use crate::address::{Address, HostPort};

pub use overheard::Overheard;

/// Longest time that a read blocks; a link notices within this time that it must stop.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_millis(50);

/// Longest time that a write may block the writer.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_millis(200);

/// The write half.
pub(crate) trait Output: Write + Send {
    /// How long the system still needs for the data it has been given; zero if unknown.
    fn backlog(&mut self) -> Duration {
        Duration::ZERO
    }
}

/// The two halves of a connection.
pub(crate) struct Streams {
    pub reader: Box<dyn Read + Send>,
    pub writer: Box<dyn Output>,
    /// What a listening UDP socket knows of its senders.
    pub senders: Option<Box<dyn Senders>>,
    /// The peer's name, for the log.
    pub peer: String,
}

/// The senders of a listening UDP socket, which reads from one at a time.
pub(crate) trait Senders: Send {
    /// The data read last came from the peer, whom the socket replies to and reads from until it is silent.
    fn confirm(&self);

    /// Takes the heartbeats of the others.
    fn overheard(&self) -> Vec<Overheard>;
}

/// A source of connections.
pub(crate) enum Endpoint {
    Udp(udp::Endpoint),
    TcpIn(tcp::Listener),
    /// The addresses of the peer, found when the link was opened: a server of names that the network has lost takes seconds not to answer.
    TcpOut(Vec<SocketAddr>),
    Serial(serial::Port),
}

impl Endpoint {
    /// Binds sockets and opens the device, so that errors appear at once. A TCP peer may connect later.
    ///
    /// A listening UDP socket reads from the sender that [`Senders::confirm`] has named, until it is silent, and replies to
    /// it; with `authenticated` it reads from all senders.
    pub fn open(address: &Address, authenticated: bool) -> io::Result<Self> {
        let explain = |error: io::Error| match way_out(address, error.kind()) {
            "" => error,
            way_out => io::Error::new(error.kind(), format!("{error}; {way_out}")),
        };
        Self::open_found(address, authenticated, resolve).map_err(explain)
    }

    /// The same, with what finds the addresses of a host.
    fn open_found(
        address: &Address,
        authenticated: bool,
        find: impl Fn(&HostPort) -> io::Result<Vec<SocketAddr>>,
    ) -> io::Result<Self> {
        Ok(match address {
            Address::UdpIn(at) => Self::Udp(udp::Endpoint::listen(&find(at)?, authenticated)?),
            Address::UdpOut(at) => Self::Udp(udp::Endpoint::send_to(&find(at)?)?),
            Address::TcpIn(at) => Self::TcpIn(tcp::Listener::bind(&find(at)?)?),
            Address::TcpOut(at) => Self::TcpOut(find(at)?),
            Address::Serial { path, baud } => Self::Serial(serial::Port::open(path, *baud)?),
        })
    }

    /// The local address of a listening socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(socket) => socket.local_address(),
            Self::TcpIn(listener) => listener.local_address(),
            Self::TcpOut(_) | Self::Serial(_) => None,
        }
    }

    /// A new connection, or `None` if no peer connected within `wait`.
    pub fn connect(&mut self, wait: Duration) -> io::Result<Option<Streams>> {
        match self {
            Self::Udp(socket) => Ok(Some(socket.streams())),
            Self::TcpIn(listener) => listener.accept(wait),
            Self::TcpOut(addresses) => tcp::connect(addresses, wait).map(Some),
            Self::Serial(port) => port.streams().map(Some),
        }
    }

    /// Whether a long silence means that the peer is gone. A serial port is not reopened then, because that restarts
    /// many boards.
    pub fn reconnects_after_silence(&self) -> bool {
        matches!(self, Self::TcpIn(_) | Self::TcpOut(_))
    }
}

/// What to do about an address that cannot be opened; empty if its error says it.
fn way_out(address: &Address, kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => {
            "end the program that listens there, another `fly` or a ground station, or choose another port"
        }
        io::ErrorKind::AddrNotAvailable => {
            "to listen, name an address of this computer, or 0.0.0.0 for all of them"
        }
        io::ErrorKind::PermissionDenied if matches!(address, Address::Serial { .. }) => {
            "its owner and its group may open it: become a member of that group (of serial ports often `dialout`) and log in again"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for the system: choose a greater one"
        }
        _ => "",
    }
}

fn resolve(at: &HostPort) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<_> = (at.host.as_str(), at.port)
        .to_socket_addrs()
        .map_err(|error| io::Error::new(error.kind(), format!("host `{}`: {error}", at.host)))?
        .collect();
    if found.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("host `{}` has no address", at.host),
        ));
    }
    Ok(found)
}

/// Whether a read error is only a timeout.
pub(crate) fn nothing_came(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_says_what_to_do() {
        let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = format!("udpin:{}", taken.local_addr().unwrap());
        let opened = Endpoint::open(&address.parse().unwrap(), false);
        let error = opened.err().expect("the port is taken");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains("choose another port"), "{error}");
    }

    /// No server of names answers where the network is gone, and the link's end waits for who asks it.
    #[test]
    fn a_name_is_looked_up_only_when_a_link_is_opened() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let address = "tcpout:vehicle.invalid:5760".parse().unwrap();
        let opened = Endpoint::open_found(&address, false, |_| Ok(vec![at]));
        let mut endpoint = opened.unwrap();
        for _ in 0..2 {
            let streams = endpoint.connect(Duration::from_secs(5)).unwrap();
            assert_eq!(streams.unwrap().peer, at.to_string());
        }
    }
}
