//! Reads the logs of this program.

use std::collections::HashMap;
use std::path::Path;

use fly_hal::GroupStatus;
use prost::Message as _;

use super::container::{Fault, Part, Refusal, salvage, scan};
use super::frames::Frames;
use super::head::{Head, Shape};
use super::{Kind, Options, Recording};
use crate::error::LogError;
use crate::metadata::{FORMAT, RUN};
use crate::schema::fly;
use crate::{RunMetadata, Status};

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
        if let Some(found) = builder.head.other_format {
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
    head: Head,
    run: Option<RunMetadata>,
    topics: HashMap<u16, String>,
    shape: Option<Shape>,
    frames: Frames,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
}

impl Builder {
    fn visit(&mut self, part: Part) -> Result<(), Refusal> {
        match part {
            Part::Metadata(metadata) if metadata.name == RUN => {
                self.run = Some(RunMetadata::from_map(&metadata.metadata));
                Ok(())
            }
            Part::Metadata(metadata) => self.head.add(metadata),
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

    /// Built at the first frame, after the whole head.
    fn shape(&mut self) -> Result<&Shape, Refusal> {
        if self.shape.is_none() {
            let shape = self.head.shape()?;
            let description = &shape.description;
            self.frames = Frames::new(description.signals.len(), description.groups.len());
            self.shape = Some(shape);
        }
        self.shape
            .as_ref()
            .ok_or_else(|| ("a header".into(), "none".into()))
    }

    fn frame(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let frame = fly::Frame::decode(data)
            .map_err(|error| ("a `fly.Frame`".to_owned(), error.to_string()))?;
        let mut values = std::mem::take(&mut self.values);
        let mut groups = std::mem::take(&mut self.groups);
        let shape = self.shape()?;
        let [values_declared, groups_declared, commands] = shape.declared;
        let declared = [values_declared, groups_declared, groups_declared];
        let found = [frame.values.len(), frame.stamps_ns.len(), frame.valid.len()];
        if declared != found {
            let text = |[v, s, f]: [usize; 3]| format!("{v} values, {s} stamps and {f} flags");
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
        if commands > 0
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
            (shape.declared[2], shape.kept.len(), shape.recorded)
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
        self.shape()
            .map_err(|refusal| LogError::other_mcap(path, refusal))?;
        if self.frames.is_empty() {
            return Err(LogError::Unusable {
                path: path.into(),
                reason: "it holds no frame".into(),
            });
        }
        Ok(Recording {
            path: path.into(),
            kind: Kind::Own,
            description: self
                .shape
                .map(|shape| shape.description)
                .unwrap_or_default(),
            frames: self.frames,
            header: Some(self.head.flight()),
            run: self.run,
            skipped,
            notes: Vec::new(),
            motors: None,
        })
    }
}
