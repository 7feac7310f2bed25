//! Connections.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};
use tungstenite::WebSocket;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::WebSocketConfig;

use crate::foxglove;
use crate::hub::Hub;
use crate::page;
use crate::request::{Head, Resource};

/// Largest number of simultaneous viewers.
const MOST: usize = 32;
/// How long a viewer may accept no data.
const STALLED: Duration = Duration::from_secs(10);
/// Longest message that a viewer may send.
const LONGEST: usize = 1 << 16;

/// Serves until dropped.
#[derive(Debug)]
pub struct Server {
    pub port: u16,
    pub token: String,
    closed: Arc<AtomicBool>,
}

impl Server {
    /// Listens only on this machine; port 0 selects a free port.
    pub fn open(port: u16, hub: &Arc<Hub>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let closed = Arc::new(AtomicBool::new(false));
        let accepting = Accepting {
            hub: Arc::clone(hub),
            port,
            token: token.as_str().into(),
            count: Arc::default(),
            closed: Arc::clone(&closed),
        };
        let thread = thread::Builder::new().name("fly-view-port".to_owned());
        thread.spawn(move || accepting.run(&listener))?;
        Ok(Self {
            port,
            token,
            closed,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // Wakes the thread, which is waiting for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

/// 128 random bits, in hexadecimal.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if filled < bytes.len() {
        return Err(io::Error::other("the system has no random numbers"));
    }
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

struct Accepting {
    hub: Arc<Hub>,
    port: u16,
    token: Arc<str>,
    count: Arc<AtomicUsize>,
    closed: Arc<AtomicBool>,
}

/// Counts a viewer while it exists.
struct CountedViewer(Arc<AtomicUsize>);

impl Drop for CountedViewer {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Accepting {
    fn run(&self, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else {
                // Out of file descriptors: retry later.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            let count = self.count.fetch_add(1, Ordering::AcqRel);
            let place = CountedViewer(Arc::clone(&self.count));
            if count >= MOST {
                // Not joined: no other viewer could connect meanwhile.
                drop(stream);
                continue;
            }
            let one = One {
                hub: Arc::clone(&self.hub),
                port: self.port,
                token: Arc::clone(&self.token),
                closed: Arc::clone(&self.closed),
            };
            let thread = thread::Builder::new().name("fly-view-one".to_owned());
            let _ = thread.spawn(move || {
                // A broken connection is closed without a message.
                let _ = one.serve(stream);
                drop(place);
            });
        }
    }
}

/// A viewer's connection.
struct One {
    hub: Arc<Hub>,
    port: u16,
    token: Arc<str>,
    closed: Arc<AtomicBool>,
}

impl One {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(STALLED))?;
        stream.set_nodelay(true)?;
        let (head, length) = Head::peek(&stream)?;
        let is_closed = || self.closed.load(Ordering::Acquire);
        match head.resource(self.port, &self.token) {
            Err((status, why)) => answer(stream, length, status, "text/plain", why),
            Ok(Resource::Page) => {
                let page = page::page(&self.hub)?;
                answer(stream, length, "200 OK", "text/html", &page)
            }
            Ok(Resource::Live) => page::live(socket(stream, None)?, &self.hub, &is_closed),
            Ok(Resource::Topics(name)) => {
                foxglove::serve(socket(stream, Some(name))?, &self.hub, &is_closed)
            }
        }
    }
}

/// Upgrades to a WebSocket with this subprotocol.
fn socket(stream: TcpStream, protocol: Option<&'static str>) -> io::Result<WebSocket<TcpStream>> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST));
    #[expect(clippy::result_large_err, reason = "tungstenite's own type")]
    let agree = |_: &Request, mut response: Response| {
        if let Some(protocol) = protocol {
            let protocol = HeaderValue::from_static(protocol);
            (response.headers_mut()).insert("Sec-WebSocket-Protocol", protocol);
        }
        Ok(response)
    };
    let socket = tungstenite::accept_hdr_with_config(stream, agree, Some(config));
    socket.map_err(|error| io::Error::other(error.to_string()))
}

/// Answers a request whose head has this length, and closes.
fn answer(
    mut stream: TcpStream,
    head: usize,
    status: &str,
    kind: &str,
    body: &str,
) -> io::Result<()> {
    // Unread data would reset the connection and lose the answer.
    stream.read_exact(&mut vec![0; head])?;
    let length = body.len();
    let headers = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(headers.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
