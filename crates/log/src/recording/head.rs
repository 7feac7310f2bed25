//! The header of a log of this program: the records before its first tick.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;

use fly_hal::signal::{RECORDED, recorded};
use fly_hal::{Class, Description, Signal};
use mcap::records::Metadata;

use super::container::{Container, Limits, Part, Refusal};
use super::convert::motor;
use super::described;
use super::source::Source;
use crate::metadata::{
    COMMANDS, CONFIGURATION, COUNTS_TURNS, FORMAT, GROUPS, LOG, ORIGIN, SIGNALS, VEHICLE, checksum,
    control_began, is_in_motion, signals,
};
use crate::{FlightHeader, Origin};

/// Largest number of signals, groups and commands in a log.
const MAX_SIGNALS: usize = 1 << 14;

/// The records of a header, in the order of their checksum.
const RECORDS: [&str; 6] = [LOG, CONFIGURATION, VEHICLE, SIGNALS, GROUPS, COMMANDS];

/// The metadata records read so far. Finished logs hold them twice: if one copy is damaged, the other may be intact.
#[derive(Default)]
pub struct Head {
    records: BTreeMap<String, Metadata>,
    /// The log's format, if it is not supported.
    pub other_format: Option<String>,
    /// Whether something outside of the chunks could not be read.
    is_damaged: bool,
}

/// The shape of every tick, from the header.
#[derive(Debug)]
pub struct Shape {
    /// The recorded signals, then the recorded commands as the group [`RECORDED`].
    pub description: Description,
    /// Indices of the recorded frame's values that are kept.
    pub kept: Vec<usize>,
    /// Values and groups of a recorded frame, and commands.
    pub declared: [usize; 3],
    /// Index of the group of the recorded commands.
    pub recorded: usize,
    /// Indices of the recorded frame's values that are outputs of motors, in a converted log.
    pub motors: Range<usize>,
}

impl Head {
    /// Reads the records before the first chunk or, if they are damaged, those after the last one.
    pub fn read(source: &Source, limits: Limits) -> io::Result<Self> {
        let mut container = Container::new(source.clone(), limits).without_chunks();
        let mut head = Self::default();
        let mut total = 0;
        let mut first = true;
        while let Some(part) = container.next()? {
            let Part::Metadata(record) = part else {
                continue;
            };
            total += size(&record);
            // Two copies of two texts.
            if total > 4 * limits.record {
                break;
            }
            // The last record of the header; if all are intact, nothing else is needed.
            let last = record.name == COMMANDS;
            head.add(record);
            if last && first && head.shape().is_ok() {
                break;
            }
            first &= !last;
        }
        head.is_damaged = container.damage.count > 0;
        Ok(head)
    }

    /// The copies of the header that are damaged, one line each, whether or not another one is intact.
    pub fn damaged_copies(source: &Source, limits: Limits) -> io::Result<Vec<String>> {
        let mut container = Container::new(source.clone(), limits).without_chunks();
        let (mut copies, mut copy) = (Vec::new(), Self::default());
        while let Some(part) = container.next()? {
            let Part::Metadata(record) = part else {
                continue;
            };
            if copy.records.contains_key(&record.name) {
                copies.push(std::mem::take(&mut copy));
            }
            // There are two.
            if copies.len() == 2 {
                break;
            }
            if RECORDS.contains(&record.name.as_str()) {
                copy.add(record);
            }
        }
        if !copy.records.is_empty() {
            copies.push(copy);
        }
        let refused = copies.iter().enumerate().filter_map(|(i, copy)| {
            let (expected, found) = copy.shape().err()?;
            let copy = ["header", "second header, after the frames"][i.min(1)];
            Some(format!(
                "damaged {copy}: expected {expected}, found {found}"
            ))
        });
        Ok(refused.collect())
    }

    /// Adds a metadata record.
    fn add(&mut self, record: Metadata) {
        if record.name == LOG {
            let format = record.metadata.get("format").cloned().unwrap_or_default();
            self.other_format = (format != FORMAT.to_string()).then_some(format);
        }
        self.records.insert(record.name.clone(), record);
    }

    /// The records that every log has, in the order of their checksum; `None` if one is missing.
    pub fn records(&self) -> Option<Vec<&Metadata>> {
        RECORDS.iter().map(|&name| self.records.get(name)).collect()
    }

    /// Whether this is a log of this program at all.
    pub fn is_own(&self) -> bool {
        self.records.contains_key(LOG)
    }

    /// Whether this is the file of another program: an intact one without any record of a header.
    pub fn is_foreign(&self) -> bool {
        let own = RECORDS.iter().any(|&name| self.records.contains_key(name));
        !self.is_damaged && !own
    }

    /// Whether this log was converted from one of another program.
    fn is_converted(&self) -> bool {
        let log = self.records.get(LOG);
        log.is_some_and(|log| log.metadata.contains_key(ORIGIN))
    }

    /// The flight; missing texts are empty.
    pub fn flight(&self) -> FlightHeader {
        let text = |record: &str, key: &str| {
            let record = self.records.get(record);
            let text = record.and_then(|record| record.metadata.get(key));
            text.cloned().unwrap_or_default()
        };
        FlightHeader {
            name: text(CONFIGURATION, "name"),
            configuration: text(CONFIGURATION, "toml"),
            vehicle: text(VEHICLE, "toml"),
            vehicle_name: text(VEHICLE, "name"),
            backend: text(LOG, "backend"),
            rate_hz: text(LOG, "rate_hz").parse().unwrap_or_default(),
            seed: text(LOG, "seed").parse().unwrap_or_default(),
            start: text(LOG, "start_ns").parse().unwrap_or_default(),
            counts_turns: text(LOG, COUNTS_TURNS) == "true",
            origin: toml::from_str(&text(LOG, ORIGIN))
                .ok()
                .filter(|_| self.is_converted()),
        }
    }

    /// The shape of every tick; an error if a record is missing or the checksum is wrong.
    pub fn shape(&self) -> Result<Shape, Refusal> {
        let missing = |name: &str| {
            (
                format!("the metadata record `{name}` before the frames"),
                "none".to_owned(),
            )
        };
        let log = self.records.get(LOG).ok_or_else(|| missing(LOG))?;
        let rest: Option<Vec<_>> = [CONFIGURATION, VEHICLE, SIGNALS, GROUPS, COMMANDS]
            .iter()
            .map(|&name| self.records.get(name))
            .collect();
        let rest = rest.ok_or_else(|| missing("fly.*"))?;
        let (expected, found) = (
            log.metadata.get("crc32").cloned().unwrap_or_default(),
            checksum(std::iter::once(log).chain(rest)),
        );
        if expected != found {
            return Err((
                format!("metadata records with the checksum {expected}"),
                found,
            ));
        }
        let table = |name: &str| {
            let record = self.records.get(name);
            let text = record.and_then(|record| record.metadata.get("table"));
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
        let groups: Vec<_> = table(GROUPS)?.lines().map(str::to_owned).collect();
        let count = declared.len() + commands.len() + groups.len();
        if count > MAX_SIGNALS {
            let expected = format!("at most {MAX_SIGNALS} signals, groups and commands");
            return Err((expected, count.to_string()));
        }
        let mut shape = Shape::new(&declared, &commands, groups)?;
        shape.description.starts_in_motion |= is_in_motion(log);
        shape.description.control_began = control_began(log);
        Ok(shape)
    }
}

impl Shape {
    /// For a log with these signals, commands and groups.
    fn new(
        declared: &[Signal],
        commands: &[Signal],
        mut groups: Vec<String>,
    ) -> Result<Self, Refusal> {
        let outside = |signal: &&Signal| signal.group.is_none_or(|group| group >= groups.len());
        if let Some(bad) = declared.iter().find(outside) {
            let found = bad.group.map_or("none".into(), |group| group.to_string());
            return Err((
                format!("a group below {}", groups.len()),
                format!("{found} of `{}`", bad.name),
            ));
        }
        // The flight may have been a replay itself: its own commands replace those that it read.
        let replaced: Vec<_> = commands.iter().map(|c| recorded(&c.name)).collect();
        let names: HashSet<&str> = replaced.iter().map(String::as_str).collect();
        let kept: Vec<usize> = (0..declared.len())
            .filter(|&i| !names.contains(declared[i].name.as_str()))
            .collect();
        let mut signals: Vec<Signal> = kept.iter().map(|&i| declared[i].clone()).collect();
        let declared = [declared.len(), groups.len(), commands.len()];
        let recorded = groups
            .iter()
            .position(|group| group == RECORDED)
            .unwrap_or(groups.len());
        if recorded == groups.len() && !commands.is_empty() {
            groups.push(RECORDED.to_owned());
        }
        signals.extend(commands.iter().zip(replaced).map(|(command, name)| Signal {
            name,
            unit: command.unit.clone(),
            class: Class::Auxiliary,
            group: Some(recorded),
        }));
        Ok(Self {
            description: described(signals, groups),
            kept,
            declared,
            recorded,
            motors: 0..0,
        })
    }

    /// Separates the outputs of the motors from the signals: they are the last ones of a converted log, and its last group.
    pub fn split_motors(&mut self, origin: &Origin) -> Result<(), Refusal> {
        let Some(motors) = &origin.motors else {
            return Ok(());
        };
        let Description {
            signals, groups, ..
        } = &mut self.description;
        let [values, _, commands] = self.declared;
        let first = values.saturating_sub(motors.count);
        let expected = (0..motors.count).map(motor);
        let found = signals[first.min(signals.len())..].iter();
        let found = found.map(|signal| signal.name.as_str());
        let has_motors = motors.count > 0 && expected.eq(found);
        if commands > 0 || !has_motors {
            let expected = format!("{} motors as the last signals", motors.count);
            return Err((expected, "others".to_owned()));
        }
        signals.truncate(first);
        groups.pop();
        self.kept.truncate(first);
        self.motors = first..values;
        Ok(())
    }
}

/// Bytes of a record.
fn size(record: &Metadata) -> u64 {
    let texts = record
        .metadata
        .iter()
        .map(|(key, text)| key.len() + text.len());
    (record.name.len() + texts.sum::<usize>()) as u64
}
