//! Channels, and encoded messages for their receivers.

use std::collections::BTreeMap;

use prost::Message;

/// A topic of a flight: its messages are of one schema, encoded as protobuf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name, such as `/fly/control`.
    pub topic: &'static str,
    /// The schema of its messages, such as `fly.Control`; [`descriptor_of`](crate::schema::descriptor_of) returns its
    /// definition.
    pub schema: &'static str,
    /// The names of the values in its messages, if the schema does not contain them.
    pub metadata: BTreeMap<String, String>,
}

/// An encoded message.
#[derive(Clone, Copy, Debug)]
pub struct Encoded<'a> {
    /// Index of its channel.
    pub channel: usize,
    /// Number of the tick.
    pub sequence: u32,
    /// Flight time, ns.
    pub time: u64,
    /// The message, protobuf.
    pub data: &'a [u8],
}

/// Encodes messages in sequence.
pub(super) struct Output<'a, E> {
    pub bytes: &'a mut Vec<u8>,
    pub sequence: u32,
    pub take: &'a mut dyn FnMut(Encoded) -> Result<(), E>,
}

impl<E> Output<'_, E> {
    pub fn message(&mut self, channel: usize, time: u64, message: &impl Message) -> Result<(), E> {
        self.bytes.clear();
        self.bytes.reserve(message.encoded_len());
        message.encode_raw(self.bytes);
        (self.take)(Encoded {
            channel,
            sequence: self.sequence,
            time,
            data: self.bytes,
        })
    }
}
