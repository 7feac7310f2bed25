//! A MAVLink link: a reader thread, a writer thread, and their statistics.
//!
//! The reader passes every message to a [`Listener`] and reconnects when the peer vanishes. The writer empties a
//! bounded queue and sends our heartbeat; messages with a deadline are sent in time or not at all. Neither spins: the
//! reader blocks in the system's read, the writer waits for its senders, which never wait for it. Both end within some
//! 100 ms when the [`Link`] is dropped (a TCP connection attempt: within a second).

mod outbox;
mod reader;
mod urgent;
mod writer;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tracing::dispatcher::{self, Dispatch};

use crate::address::Address;
use crate::dialect::MavMessage;
use crate::signing::{Signing, SigningError, SigningSettings};
use crate::statistics::Statistics;
use crate::transport::{Endpoint, Output};

pub use crate::transport::Overheard;

pub use outbox::Sender;
#[cfg(feature = "backend")]
pub(crate) use reader::CountingDialect;
pub use urgent::UrgentLine;
pub use writer::Identity;

/// Options of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSettings {
    /// Our system and component ids.
    pub identity: Identity,
    /// Period of our heartbeat; `None` sends none. MAVLink expects 1 Hz.
    pub heartbeat_period: Option<Duration>,
    /// A TCP connection is reopened after this long without a byte.
    pub silence: Duration,
    /// Signs outgoing messages and rejects unsigned ones.
    pub signing: Option<SigningSettings>,
}

impl Default for LinkSettings {
    /// A ground station (255/190) with a heartbeat every second; a TCP connection is reopened after 5 s of silence.
    fn default() -> Self {
        Self {
            identity: Identity::default(),
            heartbeat_period: Some(Duration::from_secs(1)),
            silence: Duration::from_secs(5),
            signing: None,
        }
    }
}

/// A received message.
#[derive(Clone, Debug)]
pub struct Received {
    /// ns of `CLOCK_MONOTONIC` when its last byte was read.
    pub arrival: i64,
    /// The sender's system id.
    pub system: u32,
    /// The sender's component number.
    pub component: u8,
    /// The sender's sequence number.
    pub sequence: u8,
    /// The content.
    pub message: MavMessage,
}

#[cfg(test)]
impl Received {
    /// A message of the vehicle with the system id 1.
    pub(crate) fn of_vehicle(arrival: i64, message: MavMessage) -> Self {
        Self {
            arrival,
            system: 1,
            component: 1,
            sequence: 0,
            message,
        }
    }
}

/// Receives a link's events, on its reader thread. A closure that takes messages is a listener.
pub trait Listener: Send {
    /// A message has arrived.
    fn message(&mut self, received: Received, sender: &mut Sender);

    /// Whether the sender of a message, which is passed on next, is the one to talk to. A listening UDP socket then
    /// answers the address that it came from, and without signatures ignores others until that is silent.
    fn is_peer(&self, _received: &Received) -> bool {
        true
    }

    /// A heartbeat has arrived on a listening UDP socket from another sender than the peer. Its other messages are
    /// dropped.
    fn overheard(&mut self, _heartbeat: &Overheard) {}

    /// Called after some 50 ms without a message.
    fn idle(&mut self, _sender: &mut Sender) {}
}

impl<F: FnMut(Received, &mut Sender) + Send> Listener for F {
    fn message(&mut self, received: Received, sender: &mut Sender) {
        self(received, sender);
    }
}

/// Why a link could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The socket, the port or a thread.
    #[error("cannot open the link `{address}`: {source}")]
    Open {
        /// The link's address.
        address: Address,
        /// The system's reason.
        source: io::Error,
    },
    /// The key or the state of a signed link.
    #[error(transparent)]
    Signing(#[from] SigningError),
}

/// Why a message could not be queued for the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The queue already holds 128 messages.
    #[error("the link's queue is full: the peer receives more slowly than we send")]
    Full,
    /// The writer has ended.
    #[error("the link is closed")]
    Closed,
    /// No vehicle has been heard yet.
    #[error("no vehicle has been heard yet; wait for its heartbeat")]
    NoVehicle,
    /// The link only listens.
    #[error("the link only listens (`listen_only`)")]
    ListenOnly,
}

/// An open link.
pub struct Link {
    shared: Arc<Shared>,
    sender: Option<Sender>,
    local_address: Option<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
}

/// Shared by both threads and the owner.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    writer: Mutex<Option<Box<dyn Output>>>,
    last_error: Mutex<Option<String>>,
    counters: Counters,
    urgent: urgent::Urgent,
}

#[derive(Default)]
struct Counters {
    bytes: AtomicU64,
    messages: AtomicU64,
    bad_checksums: AtomicU64,
    unknown: AtomicU64,
    undecodable: AtomicU64,
    lost: AtomicU64,
    sent: AtomicU64,
    unsent: AtomicU64,
    expired: AtomicU64,
    replaced: AtomicU64,
    signed: AtomicU64,
    unsigned: AtomicU64,
    bad_signatures: AtomicU64,
    replayed: AtomicU64,
    reconnects: AtomicU64,
}

fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// Locks despite another thread's panic: the guarded value is only ever replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Opens the link and starts its threads. The listener runs on the reader thread and should be fast.
    ///
    /// # Errors
    /// A socket that cannot be bound, a host without an address, a serial port that cannot be opened, or an invalid
    /// key. A TCP peer that does not answer yet is not an error: connecting is retried ([`Link::last_error`] tells why
    /// it fails).
    pub fn open(
        address: &Address,
        settings: &LinkSettings,
        listener: impl Listener + 'static,
    ) -> Result<Self, LinkError> {
        let failed = |source| LinkError::Open {
            address: address.clone(),
            source,
        };
        let signing = match &settings.signing {
            Some(signing) => Some(Arc::new(Signing::open(signing)?)),
            None => None,
        };
        let endpoint = Endpoint::open(address, signing.is_some()).map_err(failed)?;
        let local_address = endpoint.local_address();
        let shared = Arc::new(Shared::default());
        let mut link = Self {
            shared: Arc::clone(&shared),
            sender: None,
            local_address,
            threads: Vec::new(),
        };
        // Its threads log where their creator logs.
        let dispatch = dispatcher::get_default(Dispatch::clone);
        let mut spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let dispatch = dispatch.clone();
            let thread = Builder::new()
                .name(name.to_owned())
                .spawn(move || dispatcher::with_default(&dispatch, body))
                .map_err(failed)?;
            let handle = thread.thread().clone();
            link.threads.push(thread);
            Ok::<_, LinkError>(handle)
        };
        if let Some(signing) = &signing {
            let (signing, shared) = (Arc::clone(signing), Arc::clone(&shared));
            let keep = move || signing.keep(|| shared.stop.load(Ordering::Relaxed));
            spawn("mavlink-signing", Box::new(keep))?;
        }
        let (owners, readers) = (outbox::ring(), outbox::ring());
        let writer = writer::Writer {
            shared: Arc::clone(&shared),
            inlets: vec![owners.1, readers.1],
            settings: settings.clone(),
            signing: signing.clone(),
        };
        let writer = spawn("mavlink-writer", Box::new(move || writer.run()))?;
        let reader = reader::Reader {
            shared: Arc::clone(&shared),
            address: address.clone(),
            endpoint,
            silence: settings.silence,
            sender: Sender::new(readers.0, writer.clone(), Arc::clone(&shared)),
            signing,
        };
        spawn("mavlink-reader", Box::new(move || reader.run(listener)))?;
        link.sender = Some(Sender::new(owners.0, writer, shared));
        Ok(link)
    }

    /// Queues a message for the writer.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send(&mut self, message: MavMessage) -> Result<(), SendError> {
        self.sender()?.send(message)
    }

    /// The owner's sender, which supports deadlines.
    ///
    /// # Errors
    /// [`SendError::Closed`] for a link whose threads could not be started.
    pub fn sender(&mut self) -> Result<&mut Sender, SendError> {
        self.sender.as_mut().ok_or(SendError::Closed)
    }

    /// A line that bypasses everything that may hang.
    ///
    /// # Errors
    /// As [`Link::sender`].
    pub fn urgent(&self) -> Result<UrgentLine, SendError> {
        let sender = self.sender.as_ref().ok_or(SendError::Closed)?;
        Ok(UrgentLine::new(Arc::clone(&self.shared), sender.writer()))
    }

    /// The local address of a listening link, for example if the port was 0.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.local_address
    }

    /// Why the link is not connected; `None` while it is.
    pub fn last_error(&self) -> Option<String> {
        lock(&self.shared.last_error).clone()
    }

    /// The statistics since the link was opened.
    pub fn statistics(&self) -> Statistics {
        let c = &self.shared.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            bytes: read(&c.bytes),
            messages: read(&c.messages),
            bad_checksums: read(&c.bad_checksums),
            unknown: read(&c.unknown),
            undecodable: read(&c.undecodable),
            lost: read(&c.lost),
            sent: read(&c.sent),
            unsent: read(&c.unsent),
            expired: read(&c.expired),
            replaced: read(&c.replaced),
            signed: read(&c.signed),
            unsigned: read(&c.unsigned),
            bad_signatures: read(&c.bad_signatures),
            replayed: read(&c.replayed),
            reconnects: read(&c.reconnects),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(sender) = &self.sender {
            sender.wake();
        }
        for thread in self.threads.drain(..).rev() {
            if thread.join().is_err() {
                tracing::error!("a thread of the MAVLink link panicked");
            }
        }
    }
}

/// Reads a stream to its end, as a link's thread does, and returns what was counted.
#[cfg(test)]
pub(crate) fn feed(
    stream: impl io::Read + Send + 'static,
    signing: Option<&SigningSettings>,
    listener: &mut impl Listener,
) -> Statistics {
    let signing = signing.map(|settings| Arc::new(Signing::open(settings).unwrap()));
    let shared = Arc::new(Shared::default());
    let (ring, mut inlet) = outbox::ring();
    let address: Address = "udpin:127.0.0.1:0".parse().unwrap();
    let mut reader = reader::Reader {
        shared: Arc::clone(&shared),
        endpoint: Endpoint::open(&address, false).unwrap(),
        address,
        silence: Duration::from_secs(5),
        sender: Sender::new(ring, std::thread::current(), Arc::clone(&shared)),
        signing,
    };
    reader.read(Box::new(stream), None, listener);
    while inlet.pop().is_ok() {}
    let link = Link {
        shared,
        sender: None,
        local_address: None,
        threads: Vec::new(),
    };
    link.statistics()
}
