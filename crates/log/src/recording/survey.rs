//! The contents of a log of this program: its topics, their sizes, and the damage.

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
    /// Total size of the messages, decompressed, bytes.
    pub bytes: u64,
    /// Flight time of the first one, ns.
    pub first: u64,
    /// Flight time of the last one, ns.
    pub last: u64,
}

impl Topic {
    /// Messages per second; `None` for fewer than two.
    pub fn rate(&self) -> Option<f64> {
        let span = self.last.saturating_sub(self.first);
        (span > 0).then(|| (self.messages - 1) as f64 / (span as f64 * 1e-9))
    }
}

/// Lengths of the arrays in a log's messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Widths {
    /// Unconstrained inputs, inputs within the limits, components of the disturbance.
    pub control: [usize; 3],
    /// Configuration and velocity of the system.
    pub system: [usize; 2],
    /// Configuration, velocity and acceleration of its reference.
    pub system_reference: [usize; 3],
    /// Sensors of the estimator.
    pub innovations: usize,
}

/// A survey of a log of this program, read once from beginning to end.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Configuration and backend of the flight.
    pub header: FlightHeader,
    /// The record of the run: `None` for a flight that was killed or is still under way.
    pub run: Option<RunMetadata>,
    /// Its topics, in the order of their first messages.
    pub topics: Vec<Topic>,
    /// The damage.
    pub damage: Damage,
    /// Number of frames before the first damage.
    pub(super) before_damage: usize,
    /// Lengths of its arrays.
    pub(super) widths: Widths,
}

impl Survey {
    /// Reads a whole log. Damaged parts are skipped and reported.
    ///
    /// # Errors
    /// As [`Messages::open`], and [`LogError::Message`] for a message that does not match its topic.
    pub fn of(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        let mut messages = Messages::open(path, options)?;
        // Topic indices by channel number.
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut topics: Vec<Topic> = Vec::new();
        let mut widths = Widths::default();
        let mut before_damage = 0;
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
            // All messages of a flight have the widths of the first one.
            if topic.messages == 0 {
                let read = widths.read(message.topic, message.data);
                read.map_err(|error| LogError::Message {
                    path: path.into(),
                    topic: message.topic.to_owned(),
                    found: error.to_string(),
                })?;
            }
            topic.messages += 1;
            let is_frame = topic.name == "/fly/frame";
            topic.bytes += message.data.len() as u64;
            topic.last = topic.last.max(message.time);
            before_damage += usize::from(is_frame && messages.damage().hides_nothing());
        }
        Ok(Self {
            bytes: messages.bytes(),
            damage: messages.damage().clone(),
            before_damage,
            run: messages.run.take(),
            header: messages.header,
            topics,
            widths,
        })
    }

    /// The topic of this name, if it has any messages.
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
