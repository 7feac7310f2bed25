//! Reads the logs of this program.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use fly_hal::GroupStatus;
use prost::Message as _;

use super::container::{Container, Limits, Part, Refusal};
use super::frames::Frame;
use super::head::{Head, Shape};
use super::source::Source;
use super::stream::{Span, Stream, Ticks};
use super::{Kind, Options, Recording};
use crate::error::LogError;
use crate::metadata::{CHANNELS, FORMAT};
use crate::schema::fly;
use crate::{Origin, RunMetadata, Status};

/// One record may use this fraction of the memory: it is held compressed and decompressed, and the configuration
/// several times.
pub const RECORDS: u64 = 16;
/// Decompressed bytes per byte of a file: ten times what logs need.
pub const RATIO: u64 = 256;

/// Opens an MCAP file of this program and checks all of it once.
pub fn open(path: &Path, source: Source, options: &Options) -> Result<Recording<Stream>, LogError> {
    let unreadable = |source| LogError::Open {
        path: path.into(),
        source,
    };
    let limits = Limits {
        record: options.memory / RECORDS,
        ratio: RATIO,
    };
    let head = Head::read(&source, limits).map_err(unreadable)?;
    // Nothing of it need be unpacked to tell, which may be impossible. A damaged header may be ours.
    if head.is_foreign()
        && let Err(refusal) = head.shape()
    {
        return Err(LogError::other_mcap(path, refusal));
    }
    let header = head.flight();
    let shape = head.shape().and_then(|mut shape| {
        if let Some(origin) = &header.origin {
            shape.split_motors(origin)?;
        }
        Ok(Arc::new(shape))
    });
    let mut reader = Reader::new(source.clone(), limits, shape.clone());
    let mut span = Span::default();
    while reader.advance().map_err(unreadable)? {
        span.add(reader.frame().time);
    }
    if let Some(found) = head.other_format {
        return Err(LogError::Format {
            path: path.into(),
            expected: FORMAT,
            found,
        });
    }
    let damage = &reader.container.damage;
    if let Some(fault) = damage.faults.first()
        && (span.count == 0 || !options.allow_truncated)
    {
        return Err(match fault.found {
            Some(_) if !head.is_own() => {
                LogError::other_mcap(path, shape.err().unwrap_or_default())
            }
            _ => fault.refuse(path, reader.before_damage),
        });
    }
    let shape = shape.map_err(|refusal| LogError::other_mcap(path, refusal))?;
    if span.count == 0 {
        return Err(LogError::Unusable {
            path: path.into(),
            reason: "it holds no frame".into(),
        });
    }
    let mut skipped = damage.lines();
    let Origin {
        skipped: before,
        notes,
        motors,
    } = header.origin.clone().unwrap_or_default();
    skipped.extend(before);
    let mut description = shape.description.clone();
    description.control_began = description.control_began.or(reader.control_began);
    Ok(Recording {
        path: path.into(),
        kind: Kind::Own,
        frames: Stream::new(
            Box::new(Reader::new(source, limits, Ok(Arc::clone(&shape)))),
            span,
            &shape.description,
        ),
        description,
        header: Some(header),
        run: reader.run.take(),
        skipped,
        notes,
        motors,
    })
}

/// Reads the frames in order, each with the commands that follow it.
#[derive(Debug)]
struct Reader {
    container: Container,
    shape: Result<Arc<Shape>, Refusal>,
    topics: HashMap<u16, Topic>,
    run: Option<RunMetadata>,
    /// Number of frames before the first damage.
    before_damage: usize,
    /// Time of the first frame that was controlled.
    control_began: Option<i64>,
    /// The last decoded message, reused.
    message: fly::Frame,
    command: fly::Command,
    current: Tick,
    /// The frame after the current one, read when all commands of the current one are known.
    next: Tick,
    has_next: bool,
}

/// The topics that are read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Topic {
    Frame,
    Command,
    Control,
    Other,
}

/// A frame.
#[derive(Clone, Debug, Default)]
struct Tick {
    time: i64,
    stamp: Option<prost_types::Timestamp>,
    status: Status,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
    motors: Vec<f64>,
}

impl Ticks for Reader {
    fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        Ok(self.advance()?.then(|| self.frame()))
    }
}

impl Reader {
    fn new(source: Source, limits: Limits, shape: Result<Arc<Shape>, Refusal>) -> Self {
        Self {
            container: Container::new(source, limits),
            shape,
            topics: HashMap::from([(CHANNELS[0], Topic::Frame), (CHANNELS[1], Topic::Command)]),
            run: None,
            before_damage: 0,
            control_began: None,
            message: fly::Frame::default(),
            command: fly::Command::default(),
            current: Tick::default(),
            next: Tick::default(),
            has_next: false,
        }
    }

    /// The frame that [`advance`](Self::advance) has reached.
    fn frame(&self) -> Frame<'_> {
        Frame {
            time: self.current.time,
            status: self.current.status,
            values: &self.current.values,
            groups: &self.current.groups,
            motors: &self.current.motors,
        }
    }

    /// Advances to the next frame; `false` after the last one. Damaged parts are skipped.
    fn advance(&mut self) -> io::Result<bool> {
        let mut has_current = std::mem::take(&mut self.has_next);
        std::mem::swap(&mut self.current, &mut self.next);
        while let Some(part) = self.container.next()? {
            let taken = match part {
                Part::Metadata(record) => {
                    RunMetadata::take(&mut self.run, &record);
                    Ok(())
                }
                Part::Schema(_) => Ok(()),
                Part::Channel(channel) => {
                    let topic = match channel.topic.as_str() {
                        "/fly/frame" => Topic::Frame,
                        "/fly/command" => Topic::Command,
                        "/fly/control" => Topic::Control,
                        _ => Topic::Other,
                    };
                    self.topics.insert(channel.id, topic);
                    Ok(())
                }
                Part::Message { channel, data, .. } => match self.topics.get(&channel) {
                    Some(Topic::Frame) => self.decode(data).map(|()| {
                        self.has_next = true;
                        self.before_damage += usize::from(self.container.damage.hides_nothing());
                    }),
                    Some(Topic::Command) if has_current => self.attach(data),
                    Some(Topic::Control) if has_current => {
                        // Damage before may have hidden an earlier one.
                        if self.container.damage.count == 0 {
                            self.control_began.get_or_insert(self.current.time);
                        }
                        Ok(())
                    }
                    _ => Ok(()),
                },
            };
            if let Err(refusal) = taken {
                self.container.refuse(refusal);
            }
            if self.has_next {
                if has_current {
                    return Ok(true);
                }
                // The first frame; its commands follow.
                std::mem::swap(&mut self.current, &mut self.next);
                (has_current, self.has_next) = (true, false);
            }
        }
        Ok(has_current)
    }

    /// Decodes a frame into [`next`](Self::next).
    fn decode(&mut self, data: std::ops::Range<usize>) -> Result<(), Refusal> {
        let message = &mut self.message;
        message.clear();
        message
            .merge(self.container.data(data))
            .map_err(|error| ("a `fly.Frame`".to_owned(), error.to_string()))?;
        let shape = self.shape.as_ref().map_err(Clone::clone)?;
        let [values, groups, commands] = shape.declared;
        let declared = [values, groups, groups];
        let found = [
            message.values.len(),
            message.stamps_ns.len(),
            message.valid.len(),
        ];
        if declared != found {
            let text = |[v, s, f]: [usize; 3]| format!("{v} values, {s} stamps and {f} flags");
            return Err((format!("a frame of {}", text(declared)), text(found)));
        }
        let next = &mut self.next;
        next.time = message.time_ns;
        next.stamp = message.timestamp;
        next.status = match message.status() {
            fly::frame::Status::Fresh => Status::Fresh,
            fly::frame::Status::None => Status::None,
        };
        let description = &shape.description;
        next.values.clear();
        next.values
            .extend(shape.kept.iter().map(|&i| message.values[i]));
        next.values.resize(description.signals.len(), f64::NAN);
        next.motors.clear();
        next.motors
            .extend_from_slice(&message.values[shape.motors.clone()]);
        next.groups.clear();
        let groups = message.stamps_ns.iter().zip(&message.valid);
        next.groups
            .extend(groups.map(|(&stamp, &valid)| GroupStatus { stamp, valid }));
        // Adds that of the commands; drops that of the motors.
        next.groups
            .resize(description.groups.len(), GroupStatus::default());
        // The commands stay NaN and invalid until they arrive.
        if commands > 0
            && let Some(recorded) = next.groups.get_mut(shape.recorded)
        {
            *recorded = GroupStatus {
                stamp: message.time_ns,
                valid: false,
            };
        }
        Ok(())
    }

    /// Adds commands to the frame before them: a row writes both.
    fn attach(&mut self, data: std::ops::Range<usize>) -> Result<(), Refusal> {
        let command = &mut self.command;
        command.clear();
        command
            .merge(self.container.data(data))
            .map_err(|error| ("a `fly.Command`".to_owned(), error.to_string()))?;
        let shape = self.shape.as_ref().map_err(Clone::clone)?;
        let count = shape.declared[2];
        if command.values.len() != count {
            return Err((
                format!("{count} commands"),
                command.values.len().to_string(),
            ));
        }
        let current = &mut self.current;
        // Their own frame may be in a damaged chunk.
        if command.timestamp != current.stamp {
            return Ok(());
        }
        current.values[shape.kept.len()..].copy_from_slice(&command.values);
        if let Some(group) = current.groups.get_mut(shape.recorded) {
            *group = GroupStatus {
                stamp: current.time,
                valid: true,
            };
        }
        Ok(())
    }
}
