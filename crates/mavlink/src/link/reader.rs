//! The reader: connections, frames, counters.

use std::cell::Cell;
use std::convert::Infallible;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mavlink::error::{MessageReadError, ParserError};
use mavlink::{Dialect, MAVLinkMessageRaw, MavlinkReader, MavlinkVersion, Message};

use super::{Listener, Received, Sender, Shared, count, lock};
use crate::address::Address;
use crate::clock::monotonic;
use crate::dialect::MavMessage;
use crate::signing::{self, Accepted, Refusal, Signing};
use crate::statistics::Sequences;
use crate::transport::{Endpoint, Senders, Streams, nothing_came};

/// How long to wait for a peer, and between attempts.
const CONNECT_WAIT: Duration = Duration::from_millis(100);
/// A TCP connection may take longer over a radio than [`CONNECT_WAIT`].
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Room for the largest datagram after an incomplete frame.
const BUFFER: usize = 66 * 1024;

pub(super) struct Reader {
    pub shared: Arc<Shared>,
    pub address: Address,
    pub endpoint: Endpoint,
    pub silence: Duration,
    pub sender: Sender,
    pub signing: Option<Arc<Signing>>,
}

/// Why a connection ended.
pub(super) enum End {
    Stopped,
    Closed,
    Silent,
    Failed(io::Error),
}

impl Reader {
    /// Handles one connection after another, until the link is dropped.
    pub fn run(mut self, mut listener: impl Listener) {
        let mut connections = 0_u64;
        while !self.stopped() {
            let Some(streams) = self.connect() else {
                continue;
            };
            tracing::info!(link = %self.address, peer = %streams.peer, "MAVLink link open");
            if connections > 0 {
                count(&self.shared.counters.reconnects, 1);
            }
            connections += 1;
            *lock(&self.shared.writer) = Some(streams.writer);
            let end = self.read(streams.reader, streams.senders.as_deref(), &mut listener);
            *lock(&self.shared.writer) = None;
            let reason = match end {
                End::Stopped => return,
                End::Closed => "its peer closed it".to_owned(),
                End::Silent => format!("nothing came for {} s", self.silence.as_secs_f64()),
                End::Failed(error) => error.to_string(),
            };
            tracing::warn!(link = %self.address, %reason, "MAVLink link lost, opening it again");
            *lock(&self.shared.last_error) = Some(reason);
            // A peer that accepts and closes at once must not cause a busy loop.
            std::thread::sleep(CONNECT_WAIT);
        }
    }

    fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    fn connect(&mut self) -> Option<Streams> {
        let wait = match self.endpoint {
            Endpoint::TcpOut(_) => CONNECT_TIMEOUT,
            _ => CONNECT_WAIT,
        };
        match self.endpoint.connect(wait) {
            Ok(Some(streams)) => {
                *lock(&self.shared.last_error) = None;
                Some(streams)
            }
            Ok(None) => None,
            Err(error) => {
                let reason = error.to_string();
                let mut last = lock(&self.shared.last_error);
                if last.as_ref() != Some(&reason) {
                    tracing::warn!(link = %self.address, %reason, "MAVLink link not open, trying again");
                    *last = Some(reason);
                }
                drop(last);
                std::thread::sleep(CONNECT_WAIT);
                None
            }
        }
    }

    /// Handles one connection from beginning to end.
    pub(super) fn read(
        &mut self,
        stream: Box<dyn Read + Send>,
        senders: Option<&dyn Senders>,
        listener: &mut impl Listener,
    ) -> End {
        let shared = Arc::clone(&self.shared);
        let counters = &shared.counters;
        let mut sequences = Sequences::default();
        let dialect = CountingDialect::default();
        let mut reader = MavlinkReader::with_capacity(
            BUFFER,
            Counted {
                stream,
                shared: &shared,
            },
        );
        let mut last_byte = Instant::now();
        let mut bytes = counters.bytes.load(Ordering::Relaxed);
        while !self.stopped() {
            let outcome = reader.read_any_raw_message_with_dialect(&dialect);
            let [bad, unknown] = dialect.take(outcome.is_ok());
            count(&counters.bad_checksums, bad);
            count(&counters.unknown, unknown);
            let now = counters.bytes.load(Ordering::Relaxed);
            if now != bytes {
                (bytes, last_byte) = (now, Instant::now());
            }
            for heartbeat in senders.map(Senders::overheard).into_iter().flatten() {
                listener.overheard(&heartbeat);
            }
            match outcome {
                Ok(frame) => {
                    if let Some(proven) = self.accepts(&frame) {
                        let senders = senders.filter(|_| proven);
                        self.take(&frame, &mut sequences, senders, listener);
                    }
                }
                Err(MessageReadError::Io(error)) if nothing_came(&error) => {
                    if self.endpoint.reconnects_after_silence()
                        && last_byte.elapsed() > self.silence
                    {
                        return End::Silent;
                    }
                    listener.idle(&mut self.sender);
                }
                Err(MessageReadError::Io(error))
                    if error.kind() == io::ErrorKind::UnexpectedEof =>
                {
                    return End::Closed;
                }
                Err(MessageReadError::Io(error)) => return End::Failed(error),
                // Raw frames are not decoded here.
                Err(MessageReadError::Parse(_)) => count(&counters.undecodable, 1),
            }
        }
        End::Stopped
    }

    /// Whether the frame may prove who its sender is; `None` if a signed link refuses it.
    fn accepts(&self, frame: &MAVLinkMessageRaw) -> Option<bool> {
        let counters = &self.shared.counters;
        let Some(signing) = &self.signing else {
            count(&counters.signed, signing::is_signed(frame).into());
            return Some(true);
        };
        match signing.verify(frame) {
            Ok(accepted) => return Some(accepted == Accepted::Signed),
            Err(Refusal::Unsigned) => count(&counters.unsigned, 1),
            Err(Refusal::BadSignature) => count(&counters.bad_signatures, 1),
            Err(Refusal::Replayed) => count(&counters.replayed, 1),
        }
        None
    }

    fn take(
        &mut self,
        frame: &MAVLinkMessageRaw,
        sequences: &mut Sequences,
        senders: Option<&dyn Senders>,
        listener: &mut impl Listener,
    ) {
        let arrival = monotonic();
        let counters = &self.shared.counters;
        let (system, component) = (frame.system_id(), frame.component_id());
        count(
            &counters.lost,
            sequences
                .observe(system, component, frame.sequence())
                .into(),
        );
        match MavMessage::parse(frame.version(), frame.message_id(), frame.payload()) {
            Ok(message) => {
                count(&counters.messages, 1);
                let received = Received {
                    arrival,
                    system,
                    component,
                    sequence: frame.sequence(),
                    message,
                };
                // First, so that answers go there.
                if let Some(senders) = senders.filter(|_| listener.is_peer(&received)) {
                    senders.confirm();
                }
                listener.message(received, &mut self.sender);
            }
            Err(error) => {
                tracing::debug!(system, component, id = frame.message_id(), %error, "undecodable MAVLink message");
                count(&counters.undecodable, 1);
            }
        }
    }
}

/// Counts what is read.
struct Counted<'a> {
    stream: Box<dyn Read + Send>,
    shared: &'a Shared,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.shared.stop.load(Ordering::Relaxed) {
            // Frames with wrong checksums keep the parser reading while they arrive.
            return Err(io::ErrorKind::TimedOut.into());
        }
        let length = self.stream.read(buffer)?;
        count(&self.shared.counters.bytes, length as u64);
        Ok(length)
    }
}

/// The dialect, with counters. The parser requests a message's checksum seed once for everything that looks like a
/// frame, and does not report those whose checksum is wrong.
#[derive(Default)]
pub(crate) struct CountingDialect {
    candidates: Cell<u64>,
    unknown: Cell<u64>,
}

impl CountingDialect {
    /// Counts since the last call: frames with wrong checksums, and unknown messages. `framed` tells whether one
    /// candidate was a frame.
    pub(crate) fn take(&self, framed: bool) -> [u64; 2] {
        let bad = self.candidates.take().saturating_sub(u64::from(framed));
        [bad, self.unknown.take()]
    }
}

impl Dialect for CountingDialect {
    type Message = MavMessage;
    type EncodeError = Infallible;

    fn message_id(&self, message: &MavMessage) -> u32 {
        message.message_id()
    }

    fn extra_crc(&self, id: u32) -> Option<u8> {
        let seed = MavMessage::extra_crc(id);
        // The generated table returns 0 for unknown messages.
        if seed == 0 && MavMessage::default_message_from_id(id).is_none() {
            self.unknown.set(self.unknown.get() + 1);
            return None;
        }
        self.candidates.set(self.candidates.get() + 1);
        Some(seed)
    }

    fn decode(
        &self,
        version: MavlinkVersion,
        id: u32,
        payload: &[u8],
    ) -> Result<MavMessage, ParserError> {
        MavMessage::parse(version, id, payload)
    }

    fn encode(
        &self,
        version: MavlinkVersion,
        message: &MavMessage,
        payload: &mut [u8],
    ) -> Result<usize, Infallible> {
        Ok(message.ser(version, payload))
    }
}
