//! The messages of a flight in an MCAP file.

use std::io::{Seek, Write};

use mcap::records::{MessageHeader, Metadata};
use mcap::{Compression, McapError, WriteOptions};

use super::encode::Encoder;
use super::layout::Item;
use crate::Header;
use crate::metadata::{CHANNELS, PROFILE, RunMetadata, header_records};
use crate::schema::descriptor_of;

/// A chunk is closed at this size before compression.
const CHUNK_BYTES: u64 = 1 << 20;

/// The options with which every log of this program is written.
pub fn options() -> WriteOptions {
    WriteOptions::new()
        .compression(Some(Compression::Lz4))
        .profile(PROFILE)
        .library(concat!("fly-log ", env!("CARGO_PKG_VERSION")))
        .chunk_size(Some(CHUNK_BYTES))
        // It would cover the record of the run, while the rest of the file must be reproducible.
        .calculate_data_section_crc(false)
}

/// Writes the messages of rows and events to an MCAP file.
pub struct McapLog<W: Write + Seek> {
    mcap: mcap::Writer<W>,
    encoder: Encoder,
    head: Vec<Metadata>,
    channels: Vec<u16>,
}

impl<W: Write + Seek> McapLog<W> {
    /// Writes the header's records and declares the channels.
    pub fn new(writer: W, header: &Header) -> Result<Self, McapError> {
        let mut mcap = options().create(writer)?;
        let head = header_records(header);
        for record in &head {
            mcap.write_metadata(record)?;
        }
        let encoder = Encoder::new(header);
        let mut channels = Vec::new();
        for channel in encoder.channels() {
            let schema = descriptor_of(channel.schema);
            let schema = mcap.add_schema(channel.schema, "protobuf", &schema)?;
            channels.push(mcap.add_channel(
                schema,
                channel.topic,
                "protobuf",
                &channel.metadata,
            )?);
        }
        debug_assert_eq!(Encoder::NUMBERED.map(|place| channels[place]), CHANNELS);
        Ok(Self {
            mcap,
            encoder,
            head,
            channels,
        })
    }

    /// Rows and events written so far.
    pub const fn counts(&self) -> (u64, u64) {
        self.encoder.counts()
    }

    /// Closes the chunk, if one is open, and flushes the file.
    pub fn flush(&mut self) -> Result<(), McapError> {
        self.mcap.flush()
    }

    /// Writes the messages of one item.
    pub fn write(&mut self, item: &Item) -> Result<(), McapError> {
        let (mcap, channels) = (&mut self.mcap, &self.channels);
        self.encoder.encode(item, &mut |message| {
            let header = MessageHeader {
                channel_id: channels[message.channel],
                sequence: message.sequence,
                log_time: message.time,
                publish_time: message.time,
            };
            mcap.write_to_known_channel(&header, message.data)
        })
    }

    /// Writes the header's records again, in case the first ones are damaged, then the record of the run with the
    /// number of lost rows, if given, and the summary.
    pub fn finish(mut self, run: Option<&(RunMetadata, u64)>) -> Result<W, McapError> {
        for record in &self.head {
            self.mcap.write_metadata(record)?;
        }
        if let Some((run, dropped)) = run {
            for record in run.records(*dropped) {
                self.mcap.write_metadata(&record)?;
            }
        }
        self.mcap.finish()?;
        Ok(self.mcap.into_inner())
    }
}
