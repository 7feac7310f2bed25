//! What is in a log of this program: its topics, how much of each, and what is damaged.

use std::path::Path;

use prost::Message as _;

use super::container::Damage;
use super::{Messages, Options};
use crate::error::LogError;
use crate::schema::fly;
use crate::{FlightHeader, RunMetadata};

/// The messages of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, such as `/fly/control`.
    pub name: String,
    /// Number of its messages.
    pub messages: u64,
    /// Bytes of all of them, unpacked.
    pub bytes: u64,
    /// Flight time of the first one, ns.
    pub first: u64,
    /// Flight time of the last one, ns.
    pub last: u64,
}

impl Topic {
    /// Messages per second; `None` for less than two.
    pub fn rate(&self) -> Option<f64> {
        let span = self.last.saturating_sub(self.first);
        (span > 0).then(|| (self.messages - 1) as f64 / (span as f64 * 1e-9))
    }
}

/// How long the arrays of a log's messages are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Widths {
    /// Inputs that the law asks for, inputs inside the limits, components of the disturbance.
    pub control: [usize; 3],
    /// Configuration and velocity of the system.
    pub system: [usize; 2],
    /// Configuration, velocity and acceleration of its reference.
    pub system_reference: [usize; 3],
    /// Sensors of the estimator.
    pub innovations: usize,
}

/// A log of this program, read once from its first byte to its last.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Configuration and backend of the flight.
    pub header: FlightHeader,
    /// The record of the run: `None` for a flight that was killed, or goes on.
    pub run: Option<RunMetadata>,
    /// Its topics, in the order of their first messages.
    pub topics: Vec<Topic>,
    /// What is damaged.
    pub damage: Damage,
    /// How long its arrays are.
    pub(super) widths: Widths,
}

impl Survey {
    /// Reads all of a log. What is damaged is passed over and told.
    ///
    /// # Errors
    /// As [`Messages::open`], and [`LogError::Message`] for a message that is not what its topic says.
    pub fn of(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        let mut messages = Messages::open(path, options)?;
        // Topics by the numbers of their channels.
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut topics: Vec<Topic> = Vec::new();
        let mut widths = Widths::default();
        while let Some(message) = messages.read()? {
            let channel = usize::from(message.channel);
            if places.len() <= channel {
                places.resize(channel + 1, None);
            }
            let place = *places[channel].get_or_insert_with(|| {
                topics.push(Topic {
                    name: message.topic.to_owned(),
                    messages: 0,
                    bytes: 0,
                    first: message.time,
                    last: message.time,
                });
                topics.len() - 1
            });
            let topic = &mut topics[place];
            // Every message of a flight is as wide as the first one.
            if topic.messages == 0 {
                let read = widths.read(message.topic, message.data);
                read.map_err(|error| LogError::Message {
                    path: path.into(),
                    topic: message.topic.to_owned(),
                    found: error.to_string(),
                })?;
            }
            topic.messages += 1;
            topic.bytes += message.data.len() as u64;
            topic.last = topic.last.max(message.time);
        }
        Ok(Self {
            bytes: messages.bytes(),
            damage: messages.damage().clone(),
            run: messages.run.take(),
            header: messages.header,
            topics,
            widths,
        })
    }

    /// The topic of this name, if it has a message.
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.name == name)
    }
}

impl Widths {
    fn read(&mut self, topic: &str, data: &[u8]) -> Result<(), prost::DecodeError> {
        match topic {
            "/fly/control" => {
                let control = fly::Control::decode(data)?;
                self.control = [&control.u0, &control.u, &control.disturbance].map(Vec::len);
            }
            "/fly/system/state" => {
                let motion = fly::SystemMotion::decode(data)?;
                self.system = [&motion.configuration, &motion.velocity].map(Vec::len);
            }
            "/fly/system/reference" => {
                let motion = fly::SystemMotion::decode(data)?;
                self.system_reference = [
                    &motion.configuration,
                    &motion.velocity,
                    &motion.acceleration,
                ]
                .map(Vec::len);
            }
            "/fly/estimate" => self.innovations = fly::Estimate::decode(data)?.innovations.len(),
            _ => {}
        }
        Ok(())
    }
}
