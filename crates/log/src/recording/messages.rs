//! All messages of a log of this program, in order.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fly_hal::Signal;
use fly_hal::signal::recorded_command;

use super::Options;
use super::container::{Container, Damage, Limits, Part};
use super::head::Head;
use super::own::{RATIO, RECORDS};
use crate::error::LogError;
use crate::metadata::FORMAT;
use crate::{FlightHeader, RunMetadata};

/// A message of a log: one of [`schema`](crate::schema), according to its topic.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its topic, such as `/fly/control`.
    pub topic: &'a str,
    /// Number of its channel, unique per topic in a log.
    pub channel: u16,
    /// Flight time, ns.
    pub time: u64,
    /// The message, encoded as protobuf.
    pub data: &'a [u8],
}

/// Reads all messages of a log of this program once, in order, for example to display a flight. A
/// [`Recording`](super::Recording) contains only the frames.
///
/// Damaged and truncated parts are skipped; [`skipped`](Self::skipped) lists them once everything has been read.
#[derive(Debug)]
pub struct Messages {
    path: PathBuf,
    container: Container,
    topics: HashMap<u16, String>,
    /// Configuration and backend of the flight.
    pub header: FlightHeader,
    /// The signals of a [frame](crate::schema::fly::Frame), each with its index in the frame's values, without the
    /// commands that the flight read from a recording and recomputed.
    pub signals: Vec<(usize, Signal)>,
    /// The groups of the signals, in the order of a frame's stamps.
    pub groups: Vec<String>,
    /// The commands, in the order of a [command](crate::schema::fly::Command)'s values.
    pub commands: Vec<Signal>,
    /// The record of the run, which is the last one of a log: `None` until it is read, and for a flight that was
    /// killed.
    pub run: Option<RunMetadata>,
}

/// What a log may need.
pub(super) fn limits(options: &Options) -> Limits {
    Limits {
        record: options.memory / RECORDS,
        ratio: RATIO,
    }
}

impl Messages {
    /// Opens a log and reads its header.
    ///
    /// # Errors
    /// [`LogError::Open`] for a file that cannot be read, [`LogError::UnknownKind`] and [`LogError::OtherMcap`] for one
    /// that is not a log of this program, [`LogError::Format`] for one of a later version.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        let unreadable = |source| LogError::Open {
            path: path.into(),
            source,
        };
        let (source, limits) = (super::open(path)?, limits(options));
        let head = Head::read(&source, limits).map_err(unreadable)?;
        if let Some(found) = head.other_format {
            return Err(LogError::Format {
                path: path.into(),
                expected: FORMAT,
                found,
            });
        }
        let shape = head.shape();
        let shape = shape.map_err(|refusal| LogError::other_mcap(path, refusal))?;
        let [.., commands] = shape.declared;
        let mut signals = shape.description.signals;
        let commands = signals.split_off(signals.len().saturating_sub(commands));
        let original = |mut signal: Signal| {
            if let Some(name) = recorded_command(&signal.name) {
                signal.name = name.to_owned();
            }
            signal
        };
        Ok(Self {
            path: path.into(),
            container: Container::new(source, limits),
            topics: HashMap::new(),
            header: head.flight(),
            signals: shape.kept.into_iter().zip(signals).collect(),
            groups: shape.description.groups,
            commands: commands.into_iter().map(original).collect(),
            run: None,
        })
    }

    /// The next message; `None` after the last one.
    ///
    /// # Errors
    /// [`LogError::Open`] if the file cannot be read any more.
    pub fn read(&mut self) -> Result<Option<Message<'_>>, LogError> {
        loop {
            let part = self.container.next().map_err(|source| LogError::Open {
                path: self.path.clone(),
                source,
            })?;
            match part {
                None => return Ok(None),
                Some(Part::Metadata(record)) => RunMetadata::take(&mut self.run, &record),
                Some(Part::Schema(_)) => {}
                Some(Part::Channel(channel)) => {
                    self.topics.insert(channel.id, channel.topic);
                }
                Some(Part::Message {
                    channel,
                    time,
                    data,
                }) => {
                    if self.topics.contains_key(&channel) {
                        let topic = &self.topics[&channel];
                        let data = self.container.data(data);
                        return Ok(Some(Message {
                            topic,
                            channel,
                            time,
                            data,
                        }));
                    }
                }
            }
        }
    }

    /// Size of the file, bytes.
    pub fn bytes(&self) -> u64 {
        self.container.len()
    }

    /// The parts skipped so far.
    pub const fn damage(&self) -> &Damage {
        &self.container.damage
    }

    /// The parts skipped so far, one line each; empty for an intact log.
    pub fn skipped(&self) -> Vec<String> {
        self.container.damage.lines()
    }
}
