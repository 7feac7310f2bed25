//! Reads back the logs of this program.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use mcap::records::Metadata;
use prost::Message as _;

use super::container::{Fault, Part, salvage, scan};
use super::frames::Frames;
use super::{Kind, Options, Recording};
use crate::error::LogError;
use crate::schema::fly;
use crate::signal::{Class, GroupStatus, Signal, Status};
use crate::writer::RunMetadata;
use crate::writer::metadata::{
    COMMANDS, CONFIGURATION, FORMAT, GROUPS, LOG, RUN, SIGNALS, VEHICLE, checksum, signals,
};

/// Group of the signals that repeat the recorded commands.
const RECORDED: &str = "recorded";

/// What a log of ours says of the flight before its first tick.
#[derive(Clone, Debug, Default)]
pub struct FlightHeader {
    /// The resolved configuration, TOML.
    pub configuration: String,
    /// The vehicle's description, TOML.
    pub vehicle: String,
    /// Name of the vehicle.
    pub vehicle_name: String,
    /// Name of the backend's plugin.
    pub backend: String,
    /// Ticks per second, Hz.
    pub rate_hz: f64,
    /// Seed of the flight.
    pub seed: u64,
    /// Time of the backend's clock at which the flight started, ns.
    pub start: i64,
    /// The record of the run; none when the flight was not finished.
    pub run: Option<RunMetadata>,
}

/// Reads an MCAP file of this program.
pub fn read(path: &Path, bytes: &[u8], options: &Options) -> Result<Recording, LogError> {
    let mut builder = Builder::default();
    let scanned = scan(bytes, &mut |part| builder.visit(part));
    if let Err(fault) = &scanned
        && fault.found.is_none()
    {
        salvage(bytes, fault.offset, &mut |part| builder.visit(part));
    }
    let mut skipped = Vec::new();
    if let Err(fault) = scanned {
        if let Some(found) = builder.other_format {
            return Err(LogError::Format {
                path: path.into(),
                expected: FORMAT,
                found,
            });
        }
        let frames = builder.frames.len();
        let usable = options.allow_truncated && frames > 0;
        let Fault {
            offset,
            expected,
            found,
        } = fault;
        let (path, offset) = (path.to_owned(), offset as u64);
        match found {
            Some(found) => {
                return Err(LogError::Corrupt {
                    path,
                    offset,
                    expected,
                    found,
                    frames,
                });
            }
            None if usable => {
                skipped.push(format!("truncated at byte {offset}: expected {expected}"));
            }
            None => {
                return Err(LogError::Truncated {
                    path,
                    offset,
                    expected,
                    frames,
                });
            }
        }
    }
    builder.finish(path, skipped)
}

/// Collects the parts of a file.
#[derive(Default)]
struct Builder {
    log: Option<Metadata>,
    head: BTreeMap<String, Metadata>,
    run: Option<RunMetadata>,
    other_format: Option<String>,
    topics: HashMap<u16, String>,
    shape: Option<Shape>,
    frames: Frames,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
}

/// What the header declares.
struct Shape {
    signals: Vec<Signal>,
    groups: Vec<String>,
    /// Indices into a frame's values of those that are kept.
    kept: Vec<usize>,
    declared_values: usize,
    declared_groups: usize,
    /// Index of the group of the recorded commands.
    recorded: usize,
    commands: usize,
}

type Refusal = (String, String);

impl Builder {
    fn visit(&mut self, part: Part) -> Result<(), Refusal> {
        match part {
            Part::Metadata(metadata) => self.metadata(metadata),
            Part::Channel(channel) => {
                self.topics.insert(channel.id, channel.topic);
                Ok(())
            }
            Part::Message { channel, data } => {
                match self.topics.get(&channel).map(String::as_str) {
                    Some("/fly/frame") => self.frame(data),
                    Some("/fly/command") => self.command(data),
                    Some(_) => Ok(()),
                    None => Err((
                        "a message of a declared channel".into(),
                        format!("channel {channel}"),
                    )),
                }
            }
        }
    }

    fn metadata(&mut self, record: Metadata) -> Result<(), Refusal> {
        match record.name.as_str() {
            RUN => self.run = Some(RunMetadata::from_map(&record.metadata)),
            LOG => {
                let format = record.metadata.get("format").cloned().unwrap_or_default();
                if format != FORMAT.to_string() {
                    self.other_format = Some(format.clone());
                    return Err((format!("log format {FORMAT}"), format!("format `{format}`")));
                }
                self.log = Some(record);
            }
            name => {
                self.head.insert(name.to_owned(), record);
            }
        }
        Ok(())
    }

    /// Made when the first frame comes: by then the whole head has passed.
    fn shape(&mut self) -> Result<&Shape, Refusal> {
        if self.shape.is_none() {
            let shape = self.declared()?;
            self.frames = Frames::new(shape.signals.len(), shape.groups.len());
            self.shape = Some(shape);
        }
        self.shape
            .as_ref()
            .ok_or_else(|| ("a header".into(), "none".into()))
    }

    fn declared(&self) -> Result<Shape, Refusal> {
        let missing = |name: &str| {
            (
                format!("the metadata record `{name}` before the frames"),
                "none".to_owned(),
            )
        };
        let log = self.log.as_ref().ok_or_else(|| missing(LOG))?;
        let head: Option<Vec<_>> = [CONFIGURATION, VEHICLE, SIGNALS, GROUPS, COMMANDS]
            .iter()
            .map(|&name| self.head.get(name))
            .collect();
        let head = head.ok_or_else(|| missing("fly.*"))?;
        let (expected, found) = (
            log.metadata.get("crc32").cloned().unwrap_or_default(),
            checksum(std::iter::once(log).chain(head)),
        );
        if expected != found {
            return Err((
                format!("metadata records with the checksum {expected}"),
                found,
            ));
        }
        let table = |name: &str| {
            let text = self
                .head
                .get(name)
                .and_then(|record| record.metadata.get("table"));
            text.ok_or_else(|| missing(name))
        };
        let list = |name: &str| {
            signals(table(name)?).ok_or_else(|| {
                (
                    format!("a list of signals in `{name}`"),
                    "something else".into(),
                )
            })
        };
        let declared = list(SIGNALS)?;
        let commands = list(COMMANDS)?;
        let mut groups: Vec<String> = table(GROUPS)?.lines().map(str::to_owned).collect();
        if let Some(bad) = declared.iter().find(|signal| signal.group >= groups.len()) {
            return Err((
                format!("a group below {}", groups.len()),
                format!("{} of `{}`", bad.group, bad.name),
            ));
        }
        // The flight may itself have been a replay: its own commands take the place of those it read.
        let replaced: Vec<_> = commands
            .iter()
            .map(|command| format!("{RECORDED}.{}", command.name))
            .collect();
        let kept: Vec<usize> = (0..declared.len())
            .filter(|&i| !replaced.contains(&declared[i].name))
            .collect();
        let mut signals: Vec<Signal> = kept.iter().map(|&i| declared[i].clone()).collect();
        let declared_groups = groups.len();
        let recorded = groups
            .iter()
            .position(|group| group == RECORDED)
            .unwrap_or(declared_groups);
        if recorded == declared_groups && !commands.is_empty() {
            groups.push(RECORDED.to_owned());
        }
        for (command, name) in commands.iter().zip(replaced) {
            signals.push(Signal::new(name, &command.unit, Class::Auxiliary, recorded));
        }
        Ok(Shape {
            signals,
            groups,
            kept,
            declared_values: declared.len(),
            declared_groups,
            recorded,
            commands: commands.len(),
        })
    }

    fn frame(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let frame = fly::Frame::decode(data)
            .map_err(|error| ("a `fly.Frame`".to_owned(), error.to_string()))?;
        let mut values = std::mem::take(&mut self.values);
        let mut groups = std::mem::take(&mut self.groups);
        let shape = self.shape()?;
        let declared = (
            shape.declared_values,
            shape.declared_groups,
            shape.declared_groups,
        );
        let found = (frame.values.len(), frame.stamps_ns.len(), frame.valid.len());
        if declared != found {
            let text =
                |(v, s, f): (usize, usize, usize)| format!("{v} values, {s} stamps and {f} flags");
            return Err((format!("a frame of {}", text(declared)), text(found)));
        }
        values.clear();
        values.extend(shape.kept.iter().map(|&i| frame.values[i]));
        groups.clear();
        groups.extend(
            frame
                .stamps_ns
                .iter()
                .zip(&frame.valid)
                .map(|(&stamp, &valid)| GroupStatus { stamp, valid }),
        );
        let status = match frame.status() {
            fly::frame::Status::Fresh => Status::Fresh,
            fly::frame::Status::None => Status::None,
        };
        // The commands stay NaN and invalid until they come.
        if shape.commands > 0
            && let Some(recorded) = groups.get_mut(shape.recorded)
        {
            *recorded = GroupStatus {
                stamp: frame.time_ns,
                valid: false,
            };
        }
        self.frames.push(frame.time_ns, status, &values, &groups);
        (self.values, self.groups) = (values, groups);
        Ok(())
    }

    /// The commands belong to the frame before them: a row writes both.
    fn command(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let command = fly::Command::decode(data)
            .map_err(|error| ("a `fly.Command`".to_owned(), error.to_string()))?;
        let (count, first, group) = {
            let shape = self.shape()?;
            (shape.commands, shape.kept.len(), shape.recorded)
        };
        if command.values.len() != count {
            return Err((
                format!("{count} commands"),
                command.values.len().to_string(),
            ));
        }
        let time = self.frames.times().last().copied();
        let Some((values, groups)) = self.frames.last_mut() else {
            return Err(("a frame before its commands".into(), "none".into()));
        };
        values[first..].copy_from_slice(&command.values);
        let stamp = time.unwrap_or_default();
        if let Some(group) = groups.get_mut(group) {
            *group = GroupStatus { stamp, valid: true };
        }
        Ok(())
    }

    fn finish(mut self, path: &Path, skipped: Vec<String>) -> Result<Recording, LogError> {
        let foreign = |missing: Refusal| LogError::ForeignMcap {
            path: path.into(),
            missing: format!("expected {}, found {}", missing.0, missing.1),
        };
        self.shape().map_err(foreign)?;
        if self.frames.is_empty() {
            return Err(LogError::Unusable {
                path: path.into(),
                reason: "it holds no frame".into(),
            });
        }
        let text = |name: &str, key: &str| {
            self.head
                .get(name)
                .and_then(|record| record.metadata.get(key))
                .cloned()
                .unwrap_or_default()
        };
        let log = |key: &str| {
            self.log
                .as_ref()
                .and_then(|record| record.metadata.get(key))
                .cloned()
                .unwrap_or_default()
        };
        let header = FlightHeader {
            configuration: text(CONFIGURATION, "toml"),
            vehicle: text(VEHICLE, "toml"),
            vehicle_name: text(VEHICLE, "name"),
            backend: log("backend"),
            rate_hz: log("rate_hz").parse().unwrap_or_default(),
            seed: log("seed").parse().unwrap_or_default(),
            start: log("start_ns").parse().unwrap_or_default(),
            run: self.run,
        };
        let (signals, groups) = self
            .shape
            .map(|shape| (shape.signals, shape.groups))
            .unwrap_or_default();
        Ok(Recording {
            path: path.into(),
            kind: Kind::Own,
            signals,
            groups,
            frames: self.frames,
            header: Some(header),
            skipped,
            notes: Vec::new(),
            motors: None,
        })
    }
}
