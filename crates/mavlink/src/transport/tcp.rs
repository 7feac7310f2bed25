//! TCP, listening and connecting.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::{Output, READ_TIMEOUT, Streams, WRITE_TIMEOUT};

/// How often a listener checks for a peer.
const ACCEPT_PERIOD: Duration = Duration::from_millis(20);

/// Bytes that the system may buffer for a peer that does not read. Linux doubles this and includes its own overhead:
/// some ten messages.
const SEND_BUFFER: usize = 4096;

/// Accepts peers one at a time; the next one waits in the system's queue until the first is gone.
pub(crate) struct Listener {
    socket: TcpListener,
}

impl Listener {
    pub fn bind(addresses: &[SocketAddr]) -> io::Result<Self> {
        let socket = TcpListener::bind(addresses)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    pub fn local_address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// The next peer, or `None` after `wait`.
    pub fn accept(&self, wait: Duration) -> io::Result<Option<Streams>> {
        let until = Instant::now() + wait;
        loop {
            match self.socket.accept() {
                Ok((stream, _)) => return streams(stream).map(Some),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(ACCEPT_PERIOD);
        }
    }
}

/// Connects to the first address that answers, each within `wait`.
pub(crate) fn connect(addresses: &[SocketAddr], wait: Duration) -> io::Result<Streams> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(address, wait) {
            Ok(stream) => return streams(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn streams(stream: TcpStream) -> io::Result<Streams> {
    // An accepted socket inherits the listener's mode on some systems.
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let peer = stream
        .peer_addr()
        .map_or_else(|_| "a TCP peer".to_owned(), |a| a.to_string());
    // Data that the system buffers while the peer does not read is sent late, whatever the deadlines.
    rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER)?;
    Ok(Streams {
        writer: Box::new(stream.try_clone()?),
        reader: Box::new(stream),
        senders: None,
        peer,
    })
}

impl Output for TcpStream {}
