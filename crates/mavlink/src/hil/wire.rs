//! A TCP connection that one thread writes and reads alternately. Lockstep needs no more, and more threads would cost
//! time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mavlink::error::MessageReadError;
use mavlink::{MAVLinkV2MessageRaw, MavHeader, MavlinkReader, Message};

use crate::dialect::MavMessage;
use crate::link::{CountingDialect, Identity};
use crate::transport::nothing_came;

/// How long a peer may leave data unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection in lockstep.
pub struct Wire {
    /// For writing; the reader has the same socket.
    stream: TcpStream,
    reader: MavlinkReader<Interrupted>,
    dialect: CountingDialect,
    identity: Identity,
    sequence: u8,
    raw: Box<MAVLinkV2MessageRaw>,
    /// Frames that are sent together.
    queue: Vec<u8>,
    timeout: Option<Duration>,
    counts: WireCounts,
}

/// Counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Messages read.
    pub received: u64,
    /// Messages sent.
    pub sent: u64,
    /// Apparent frames that were invalid: wrong checksum, unknown message, or impossible content.
    pub bad: u64,
}

impl Wire {
    /// A connection with this identity of ours.
    ///
    /// # Errors
    /// The socket cannot be set up.
    pub fn new(stream: TcpStream, identity: Identity) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self {
            reader: MavlinkReader::with_capacity(1 << 16, Interrupted::new(stream.try_clone()?)),
            stream,
            dialect: CountingDialect::default(),
            identity,
            sequence: 0,
            raw: Box::new(MAVLinkV2MessageRaw::new()),
            queue: Vec::with_capacity(4096),
            timeout: None,
            counts: WireCounts::default(),
        })
    }

    /// Adds a message to the queue.
    pub fn queue(&mut self, message: &MavMessage) {
        let header = MavHeader {
            system_id: self.identity.system.into(),
            component_id: self.identity.component,
            sequence: self.sequence,
        };
        self.sequence = self.sequence.wrapping_add(1);
        *self.raw = MAVLinkV2MessageRaw::new();
        self.raw.serialize_message(header, message);
        self.queue.extend_from_slice(self.raw.raw_bytes());
        self.counts.sent += 1;
    }

    /// Sends the queue in one write.
    ///
    /// # Errors
    /// The peer is gone, or does not read.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.timeout == Some(Duration::ZERO) {
            self.stream.set_nonblocking(false)?;
            self.timeout = None;
        }
        let written = self.stream.write_all(&self.queue);
        self.queue.clear();
        written
    }

    /// Returns the next message that arrives before `until`; without a time, only one that has arrived already.
    ///
    /// # Errors
    /// The peer is gone: [`io::ErrorKind::UnexpectedEof`] where it closed the connection.
    pub fn receive(&mut self, until: Option<Instant>) -> io::Result<Option<MavMessage>> {
        loop {
            let left = until.map_or(Duration::ZERO, |until| {
                until.saturating_duration_since(Instant::now())
            });
            self.wait_at_most(left)?;
            let outcome = self.reader.read_any_raw_message_with_dialect(&self.dialect);
            let [bad, unknown] = self.dialect.take(outcome.is_ok());
            self.counts.bad += bad + unknown;
            match outcome {
                Ok(frame) => {
                    match MavMessage::parse(frame.version(), frame.message_id(), frame.payload()) {
                        Ok(message) => {
                            self.counts.received += 1;
                            return Ok(Some(message));
                        }
                        Err(_) => self.counts.bad += 1,
                    }
                }
                Err(MessageReadError::Io(error)) if nothing_came(&error) => {
                    if until.is_none_or(|until| Instant::now() >= until) {
                        return Ok(None);
                    }
                }
                Err(MessageReadError::Io(error)) => return Err(error),
                Err(MessageReadError::Parse(_)) => self.counts.bad += 1,
            }
        }
    }

    /// Sets the read timeout, if it has changed.
    fn wait_at_most(&mut self, time: Duration) -> io::Result<()> {
        // A read checks the clock again soon enough.
        let time = if time.is_zero() {
            Duration::ZERO
        } else if time > LOOK {
            LOOK
        } else {
            SOON
        };
        if self.timeout == Some(time) {
            return Ok(());
        }
        let was_zero = self.timeout == Some(Duration::ZERO);
        self.timeout = Some(time);
        if time.is_zero() {
            return self.stream.set_nonblocking(true);
        }
        if was_zero {
            self.stream.set_nonblocking(false)?;
        }
        self.stream.set_read_timeout(Some(time))
    }

    /// The counts so far.
    pub fn counts(&self) -> WireCounts {
        self.counts
    }
}

/// Longest read, shortened if less time is left.
const LOOK: Duration = Duration::from_millis(20);
const SOON: Duration = Duration::from_millis(1);

/// A stream whose every so-many-th read brings nothing, so that a peer which sends without a pause and without a message cannot keep
/// the parser, and [`Wire::receive`] with it, from returning.
struct Interrupted {
    stream: TcpStream,
    /// Successful reads since then.
    reads: u8,
}

/// Reads of at most 64 kB each.
const MOST_READS: u8 = 16;

impl Interrupted {
    fn new(stream: TcpStream) -> Self {
        Self { stream, reads: 0 }
    }
}

impl Read for Interrupted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reads == MOST_READS {
            self.reads = 0;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let read = self.stream.read(buffer);
        self.reads = if read.is_ok() { self.reads + 1 } else { 0 };
        read
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire")
            .field("stream", &self.stream)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
