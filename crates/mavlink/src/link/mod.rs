//! A MAVLink link: a reader thread, a writer thread, and their statistics.
//!
//! The reader hands every message to a closure and opens the connection again when the peer vanishes. The writer empties
//! a bounded queue and sends our heartbeat. Neither spins: the reader waits in the system's read, the writer on its
//! queue. Both end within some 100 ms when the [`Link`] is dropped (a TCP connection attempt: within a second).

mod reader;
mod writer;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tracing::dispatcher::{self, Dispatch};

use crate::address::Address;
use crate::dialect::MavMessage;
use crate::statistics::Statistics;
use crate::transport::Endpoint;

pub use writer::Identity;

/// Messages that may wait for the writer.
const QUEUE: usize = 64;

/// Options of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSettings {
    /// Our system and component ids.
    pub identity: Identity,
    /// Period of our heartbeat; `None` sends none. MAVLink expects 1 Hz.
    pub heartbeat_period: Option<Duration>,
    /// After this long without a byte a TCP connection is closed and reopened.
    pub silence: Duration,
}

impl Default for LinkSettings {
    /// A ground station (255/190) with a heartbeat every second; a TCP connection is made anew after 5 s of silence.
    fn default() -> Self {
        Self {
            identity: Identity::default(),
            heartbeat_period: Some(Duration::from_secs(1)),
            silence: Duration::from_secs(5),
        }
    }
}

/// A message as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// ns of `CLOCK_MONOTONIC` when its last byte was read.
    pub arrival: i64,
    /// The sender's system number.
    pub system: u32,
    /// The sender's component number.
    pub component: u8,
    /// The content.
    pub message: MavMessage,
}

/// Why a link could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the link `{address}`: {source}")]
pub struct LinkError {
    /// The link's address.
    pub address: Address,
    /// The system's reason.
    pub source: io::Error,
}

/// Why a message could not be handed to the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The writer is behind by 64 messages.
    #[error("the link's queue is full: the peer receives more slowly than we send")]
    Full,
    /// The writer has ended.
    #[error("the link is closed")]
    Closed,
}

/// An open link.
pub struct Link {
    shared: Arc<Shared>,
    sender: Option<Sender>,
    local_address: Option<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
}

/// Hands messages to a link's writer; cheap to clone, never blocks.
#[derive(Clone)]
pub struct Sender {
    /// `None` only wakes the writer.
    queue: SyncSender<Option<MavMessage>>,
    shared: Arc<Shared>,
}

/// Shared by both threads and the owner.
struct Shared {
    stop: AtomicBool,
    writer: Mutex<Option<Box<dyn io::Write + Send>>>,
    last_error: Mutex<Option<String>>,
    counters: Counters,
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
    reconnects: AtomicU64,
}

fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// A lock that outlives a panic of another thread: what it guards is replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Opens the link and starts its threads; `on_message` runs on the reader's thread and should be quick.
    ///
    /// # Errors
    /// A socket that cannot be bound, a host without an address, a serial port that cannot be opened. A TCP peer that
    /// does not answer yet is no error: it is tried again until it does ([`Link::last_error`] says why it does not).
    pub fn open(
        address: &Address,
        settings: &LinkSettings,
        on_message: impl FnMut(Received, &Sender) + Send + 'static,
    ) -> Result<Self, LinkError> {
        let failed = |source| LinkError {
            address: address.clone(),
            source,
        };
        let endpoint = Endpoint::open(address).map_err(failed)?;
        let local_address = endpoint.local_address();
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            writer: Mutex::new(None),
            last_error: Mutex::new(None),
            counters: Counters::default(),
        });
        let (queue, waiting) = sync_channel(QUEUE);
        let sender = Sender {
            queue,
            shared: Arc::clone(&shared),
        };

        let mut link = Self {
            shared: Arc::clone(&shared),
            sender: None,
            local_address,
            threads: Vec::new(),
        };
        // The events of its threads go where those of its maker go.
        let dispatch = dispatcher::get_default(Dispatch::clone);
        let mut spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            let dispatch = dispatch.clone();
            let thread = Builder::new()
                .name(name.to_owned())
                .spawn(move || dispatcher::with_default(&dispatch, body))
                .map_err(failed)?;
            link.threads.push(thread);
            Ok(())
        };
        let writer = writer::Writer {
            shared: Arc::clone(&shared),
            waiting,
            settings: settings.clone(),
        };
        spawn("mavlink-writer", Box::new(move || writer.run()))?;
        let reader = reader::Reader {
            shared,
            address: address.clone(),
            endpoint,
            silence: settings.silence,
            sender: sender.clone(),
        };
        spawn("mavlink-reader", Box::new(move || reader.run(on_message)))?;
        link.sender = Some(sender);
        Ok(link)
    }

    /// Hands a message to the writer.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send(&self, message: MavMessage) -> Result<(), SendError> {
        self.sender
            .as_ref()
            .map_or(Err(SendError::Closed), |sender| sender.send(message))
    }

    /// The address that a listening link got; useful where the port was 0.
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
            reconnects: read(&c.reconnects),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(sender) = self.sender.take() {
            // The writer may be asleep. Where its queue is full, it is not.
            let _ = sender.queue.try_send(None);
        }
        for thread in self.threads.drain(..).rev() {
            if thread.join().is_err() {
                tracing::error!("a thread of the MAVLink link panicked");
            }
        }
    }
}

impl Sender {
    /// Hands a message to the writer. Delivery is not confirmed.
    ///
    /// # Errors
    /// The queue is full, or the link is closed; the message is counted as unsent.
    pub fn send(&self, message: MavMessage) -> Result<(), SendError> {
        self.queue.try_send(Some(message)).map_err(|error| {
            count(&self.shared.counters.unsent, 1);
            match error {
                TrySendError::Full(_) => SendError::Full,
                TrySendError::Disconnected(_) => SendError::Closed,
            }
        })
    }
}
