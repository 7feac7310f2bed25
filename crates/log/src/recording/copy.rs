//! Copies a part of a log of this program, or the intact part of a damaged one, to a separate log.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use mcap::records::{Channel, MessageHeader, Metadata};

use super::Options;
use super::container::{Container, Limits, Part, Schema};
use super::head::Head;
use super::own::{RATIO, RECORDS};
use crate::error::LogError;
use crate::metadata::{CUT, FORMAT, RUN, TIMING, begin_part};
use crate::writer::{mcap_options, reason};

/// Statistics of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Messages in the copy.
    pub messages: u64,
    /// Ticks in the copy.
    pub ticks: u64,
    /// Messages of the log outside the copied time range.
    pub left_out: u64,
    /// Damaged parts that were skipped, one line each.
    pub skipped: Vec<String>,
}

/// Writes the messages of `log` within these flight times (ns) as a log: with its header, its record of the run, and a record of what it was cut from. Times
/// stay as they are.
///
/// # Errors
/// [`LogError::Open`] for a log that cannot be read, [`LogError::UnknownKind`] and [`LogError::OtherMcap`] for one that is no log of this program,
/// [`LogError::Format`] for one of a later version, [`LogError::Write`] if `to` cannot be written.
pub fn copy(
    log: &Path,
    options: &Options,
    times: &RangeInclusive<u64>,
    to: impl Write + Seek,
) -> Result<Copied, LogError> {
    let unreadable = |source| LogError::Open {
        path: log.into(),
        source,
    };
    let source = super::open(log)?;
    let limits = Limits {
        record: options.memory / RECORDS,
        ratio: RATIO,
    };
    let head = Head::read(&source, limits).map_err(unreadable)?;
    if let Some(found) = head.other_format {
        return Err(LogError::Format {
            path: log.into(),
            expected: FORMAT,
            found,
        });
    }
    let whole = head.shape().map(drop);
    whole.map_err(|refusal| LogError::other_mcap(log, refusal))?;
    let mut records: Vec<Metadata> = head.records().into_iter().flatten().cloned().collect();
    let mut container = Container::new(source.clone(), limits);
    let found = Survey::of(&mut container).map_err(unreadable)?;
    // Damage may have hidden an earlier one.
    let is_whole = container.damage.count == 0;
    let began = found.first(CONTROL).filter(|_| is_whole);
    let is_part = found.first(FRAME).is_some_and(|at| at < *times.start());
    if is_part {
        tell_part(&mut records, head.flight().start, *times.start(), began);
    }
    let mut copied = Copied {
        skipped: container.damage.lines(),
        ..Copied::default()
    };
    let failed = |error: mcap::McapError| LogError::Write {
        path: log.into(),
        reason: reason(&error),
    };
    let mut writer = mcap_options().create(to).map_err(failed)?;
    for record in &records {
        writer.write_metadata(record).map_err(failed)?;
    }
    found.write(&mut writer).map_err(failed)?;
    let mut container = Container::new(source, limits);
    let mut sequence = 0;
    while let Some(part) = container.next().map_err(unreadable)? {
        let Part::Message {
            channel,
            time,
            data,
        } = part
        else {
            continue;
        };
        let Some(known) = found.channels.get(&channel) else {
            continue;
        };
        // The shapes of the bodies are told once: the part begins with them.
        let time = if found.is_first_scene(channel, time) {
            time.max(*times.start())
        } else {
            time
        };
        if !times.contains(&time) {
            copied.left_out += 1;
            continue;
        }
        if known.topic == FRAME {
            sequence = u32::try_from(copied.ticks).unwrap_or(u32::MAX);
            copied.ticks += 1;
        }
        let header = MessageHeader {
            channel_id: channel,
            sequence,
            log_time: time,
            publish_time: time,
        };
        writer
            .write_to_known_channel(&header, container.data(data))
            .map_err(failed)?;
        copied.messages += 1;
    }
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let of = [
        ("log", name.into_owned()),
        ("from_ns", times.start().to_string()),
        ("to_ns", times.end().to_string()),
    ];
    let cut = Metadata {
        name: CUT.to_owned(),
        metadata: BTreeMap::from(of.map(|(key, text)| (key.to_owned(), text))),
    };
    for record in records.iter().chain(&found.run).chain([&cut]) {
        writer.write_metadata(record).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(copied)
}

/// Messages with shapes.
const SCENE: &str = "foxglove.SceneUpdate";
/// Topic of those that each tick replaces; the others stay in view.
const FORCES: &str = "/forces";

/// Topic of the ticks.
const FRAME: &str = "/fly/frame";
/// Topic of what the controller did.
const CONTROL: &str = "/fly/control";

/// What must be known of a log before its messages are copied: channels may be declared after their messages, at the end of a log whose
/// first chunk is damaged.
#[derive(Default)]
struct Survey {
    schemas: BTreeMap<u16, Schema>,
    channels: BTreeMap<u16, Channel>,
    /// The records of the run.
    run: Vec<Metadata>,
    /// Time of the first message of each channel.
    begins: BTreeMap<u16, u64>,
}

impl Survey {
    fn of(container: &mut Container) -> io::Result<Self> {
        let mut found = Self::default();
        while let Some(part) = container.next()? {
            match part {
                Part::Schema(schema) => drop(found.schemas.insert(schema.id, schema)),
                Part::Channel(channel) => drop(found.channels.insert(channel.id, channel)),
                Part::Metadata(record) if [RUN, TIMING].contains(&record.name.as_str()) => {
                    found.run.push(record);
                }
                Part::Metadata(_) => {}
                Part::Message { channel, time, .. } => {
                    let begin = found.begins.entry(channel).or_insert(time);
                    *begin = time.min(*begin);
                }
            }
        }
        Ok(found)
    }

    /// Flight time of the first message of this topic, ns.
    fn first(&self, topic: &str) -> Option<u64> {
        let mut channels = (self.channels.values()).filter(|channel| channel.topic == topic);
        self.begins.get(&channels.next()?.id).copied()
    }

    /// Whether a message of this time is the first with shapes on its channel, which stay in view.
    fn is_first_scene(&self, channel: u16, time: u64) -> bool {
        let declared = self.channels.get(&channel);
        let declared = declared.filter(|declared| declared.topic != FORCES);
        let schema = declared.and_then(|declared| self.schemas.get(&declared.schema_id));
        schema.is_some_and(|schema| schema.name == SCENE)
            && self.begins.get(&channel) == Some(&time)
    }

    /// Writes the same declarations, with the same numbers.
    fn write<W: Write + Seek>(&self, to: &mut mcap::Writer<W>) -> Result<(), mcap::McapError> {
        for (id, schema) in &self.schemas {
            to.add_schema_with_id(*id, &schema.name, &schema.encoding, &schema.data)?;
        }
        for (id, channel) in &self.channels {
            let Channel {
                schema_id,
                topic,
                message_encoding,
                metadata,
                ..
            } = channel;
            to.add_channel_with_id(*id, *schema_id, topic, message_encoding, metadata)?;
        }
        Ok(())
    }
}

/// Makes these records those of a part of a log whose flight begins at `first` (ns on the clock of the frames): the part begins, and control
/// of the flight began, at these flight times (ns).
fn tell_part(records: &mut [Metadata], first: i64, start: u64, began: Option<u64>) {
    let on_frame_clock = |time: u64| first.saturating_add(i64::try_from(time).unwrap_or(i64::MAX));
    begin_part(records, on_frame_clock(start), began.map(on_frame_clock));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part begins with the shapes of the bodies, which are written once, and not with old forces.
    #[test]
    fn only_shapes_that_stay_in_view_are_taken_along() {
        let mut found = Survey::default();
        let schema = Schema {
            id: 1,
            name: SCENE.into(),
            encoding: "protobuf".into(),
            data: Vec::new(),
        };
        found.schemas.insert(1, schema);
        for (id, topic) in [(1, "/truth/scene"), (2, FORCES)] {
            let channel = Channel {
                id,
                schema_id: 1,
                topic: topic.into(),
                message_encoding: "protobuf".into(),
                metadata: BTreeMap::new(),
            };
            found.channels.insert(id, channel);
            found.begins.insert(id, 7);
        }
        let first = [(1, 7), (1, 8), (2, 7)].map(|(id, time)| found.is_first_scene(id, time));
        assert_eq!(first, [true, false, false]);
    }
}
