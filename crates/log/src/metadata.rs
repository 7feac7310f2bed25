//! The metadata records of a log: the header's texts and the record of the run.

use std::collections::BTreeMap;

use fly_hal::{Class, Signal};
use mcap::records::Metadata;

use crate::{Header, Timing};

/// Version of the log's layout; a reader rejects others.
pub const FORMAT: u32 = 1;

/// Profile of the MCAP files that this program writes.
pub const PROFILE: &str = "fly";

/// Record that marks a log of this program.
pub const LOG: &str = "fly.log";
/// Key of the checksum over the header's records.
const CRC: &str = "crc32";
/// Key of the [`Origin`](crate::Origin) of a converted log, TOML.
pub const ORIGIN: &str = "origin";
/// Key of a log that begins in flight, `"true"`: its actuators move from the first tick on. Others do not have it.
const IN_MOTION: &str = "starts_in_motion";
/// Key of a part of a flight: when its control began, ns on the clock of the frames.
const CONTROL_BEGAN: &str = "control_began_ns";
/// Key of a flight whose errors of angles count whole turns, `"true"`. Others do not have it.
pub const COUNTS_TURNS: &str = "counts_turns";
/// Record with the configuration's text.
pub const CONFIGURATION: &str = "fly.configuration";
/// Record with the vehicle's text.
pub const VEHICLE: &str = "fly.vehicle";
/// Record with the signals, one per line: name, unit, class, index of the group, separated by tabs.
pub const SIGNALS: &str = "fly.signals";
/// Record with the groups' names, one per line.
pub const GROUPS: &str = "fly.groups";
/// Record with the commands, in the format of [`SIGNALS`].
pub const COMMANDS: &str = "fly.commands";
/// The record of the run, the only part that may differ between two runs of one configuration.
pub const RUN: &str = "fly.run";
/// Record with the histograms of a real-time flight, after [`RUN`].
pub const TIMING: &str = "fly.timing";

/// Record of a log that is a part of another one: which one, and from and to which flight time.
pub const CUT: &str = "fly.cut";

/// The record of the run: everything that depends on the machine. For a simulation its length is fixed, so that the
/// rest of the log depends only on configuration and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMetadata {
    /// Median time of one step, ns.
    pub step_median: u64,
    /// 99th percentile of the time of one step, ns.
    pub step_p99: u64,
    /// Longest step, ns.
    pub step_max: u64,
    /// Flight time over wall time; 0 where a real clock sets the pace.
    pub real_time_factor: f64,
    /// Wall time at the start, as text (RFC 3339).
    pub wall_start: String,
    /// The machine.
    pub host: String,
    /// Versions of the program and its plugins.
    pub versions: String,
    /// How the flight ended.
    pub outcome: String,
    /// Timing of a flight of a real vehicle; `None` for a simulation, which need not keep time.
    pub timing: Option<Timing>,
}

/// Numbers of the channels `/fly/frame` and `/fly/command`, for a log whose channel declarations are damaged.
pub const CHANNELS: [u16; 2] = [5, 9];

/// Bytes of a text in the record of the run, padded with spaces.
const TEXT_WIDTH: usize = 192;
/// Bytes of a number in the record of the run.
const NUMBER_WIDTH: usize = 24;

impl RunMetadata {
    /// The log's records of a run: the [record](Self::record), and that of its [`Timing`].
    pub(crate) fn records(&self, dropped: u64) -> impl Iterator<Item = Metadata> {
        let timing = self.timing.as_ref();
        let timing = timing.map(|timing| record(TIMING, timing.pairs()));
        std::iter::once(self.record(dropped)).chain(timing)
    }

    /// Reads a metadata record, if it belongs to the run.
    pub(crate) fn take(run: &mut Option<Self>, record: &Metadata) {
        match (record.name.as_str(), run) {
            (RUN, run) => *run = Some(Self::from_map(&record.metadata)),
            (TIMING, Some(run)) => run.timing = Some(Timing::from_map(&record.metadata)),
            _ => {}
        }
    }

    /// As an MCAP record whose length does not depend on its values: texts are padded with spaces or cut. `dropped` is
    /// the number of rows and events lost in real time.
    fn record(&self, dropped: u64) -> Metadata {
        let number = |text: String| fixed(&text, NUMBER_WIDTH);
        let text = |text: &str| fixed(text, TEXT_WIDTH);
        record(
            RUN,
            [
                ("step_median_ns", number(self.step_median.to_string())),
                ("step_p99_ns", number(self.step_p99.to_string())),
                ("step_max_ns", number(self.step_max.to_string())),
                (
                    "real_time_factor",
                    number(format!("{:.6}", self.real_time_factor)),
                ),
                ("dropped", number(dropped.to_string())),
                ("wall_start", text(&self.wall_start)),
                ("host", text(&self.host)),
                ("versions", text(&self.versions)),
                ("outcome", text(&self.outcome)),
            ],
        )
    }

    /// The inverse of [`Self::record`]; missing keys keep their defaults.
    fn from_map(map: &BTreeMap<String, String>) -> Self {
        let text = |key: &str| map.get(key).map_or("", |text| text.trim_end_matches(' '));
        let number = |key: &str| text(key).parse().unwrap_or_default();
        Self {
            step_median: number("step_median_ns"),
            step_p99: number("step_p99_ns"),
            step_max: number("step_max_ns"),
            real_time_factor: text("real_time_factor").parse().unwrap_or_default(),
            wall_start: text("wall_start").to_owned(),
            host: text("host").to_owned(),
            versions: text("versions").to_owned(),
            outcome: text("outcome").to_owned(),
            timing: None,
        }
    }
}

/// The records at the head of a log. The first one holds a checksum of all, since MCAP protects only chunks.
pub fn header_records(header: &Header) -> Vec<Metadata> {
    let Header {
        flight,
        description,
        ..
    } = header;
    let mut records = vec![
        record(
            CONFIGURATION,
            [
                ("name", flight.name.clone()),
                ("toml", flight.configuration.clone()),
            ],
        ),
        record(
            VEHICLE,
            [
                ("name", flight.vehicle_name.clone()),
                ("toml", flight.vehicle.clone()),
            ],
        ),
        record(SIGNALS, [("table", table(description.frame_signals()))]),
        record(GROUPS, [("table", description.groups.join("\n"))]),
        record(COMMANDS, [("table", table(description.commands()))]),
    ];
    let mut log = record(
        LOG,
        [
            ("format", FORMAT.to_string()),
            ("backend", flight.backend.clone()),
            ("rate_hz", flight.rate_hz.to_string()),
            ("seed", flight.seed.to_string()),
            ("start_ns", flight.start.to_string()),
        ],
    );
    if let Some(origin) = &flight.origin {
        let text = toml::to_string(origin).expect("texts and numbers, which TOML can hold");
        log.metadata.insert(ORIGIN.to_owned(), text);
    }
    if flight.counts_turns {
        log.metadata
            .insert(COUNTS_TURNS.to_owned(), "true".to_owned());
    }
    if description.starts_in_motion {
        set_in_motion(&mut log);
    }
    if let Some(began) = description.control_began {
        set_control_began(&mut log, began);
    }
    records.insert(0, log);
    let crc = checksum(&records);
    records[0].metadata.insert(CRC.to_owned(), crc);
    records
}

/// Whether a log with this record [`LOG`] begins in flight.
pub fn is_in_motion(log: &Metadata) -> bool {
    log.metadata.get(IN_MOTION).is_some_and(|is| is == "true")
}

/// When control of the flight began, ns on the clock of the frames, if a log with this record [`LOG`] says so, as that of a part does.
pub fn control_began(log: &Metadata) -> Option<i64> {
    log.metadata.get(CONTROL_BEGAN)?.parse().ok()
}

fn set_in_motion(log: &mut Metadata) {
    log.metadata.insert(IN_MOTION.to_owned(), "true".to_owned());
}

fn set_control_began(log: &mut Metadata, began: i64) {
    log.metadata
        .insert(CONTROL_BEGAN.to_owned(), began.to_string());
}

/// Makes these records those of a part that begins at `start`, of a flight whose control began at `began` unless they know already
/// (both ns on the clock of the frames). It begins in motion unless control begins within it.
pub fn begin_part(records: &mut [Metadata], start: i64, began: Option<i64>) {
    for log in records.iter_mut().filter(|record| record.name == LOG) {
        let began = control_began(log).or(began);
        if began.is_none_or(|began| began < start) {
            set_in_motion(log);
        }
        if let Some(began) = began {
            set_control_began(log, began);
        }
    }
    let crc = checksum(&*records);
    for log in records.iter_mut().filter(|record| record.name == LOG) {
        log.metadata.insert(CRC.to_owned(), crc.clone());
    }
}

/// CRC-32 over names, keys and values of these records, except [`CRC`] itself, in hexadecimal.
pub fn checksum<'a>(records: impl IntoIterator<Item = &'a Metadata>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for record in records {
        let pairs = record.metadata.iter().filter(|(key, _)| *key != CRC);
        let pairs = pairs.flat_map(|(key, value)| [key, value]);
        for text in [&record.name].into_iter().chain(pairs) {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
    }
    format!("{:08x}", hasher.finalize())
}

fn record<const N: usize>(name: &str, pairs: [(&str, String); N]) -> Metadata {
    let metadata = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    Metadata {
        name: name.to_owned(),
        metadata,
    }
}

/// The inverse of [`table`]; `None` if a line has a different format.
pub fn signals(table: &str) -> Option<Vec<Signal>> {
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let (name, unit) = (parts.next()?, parts.next()?);
        let class = Class::from_name(parts.next()?)?;
        let group: usize = parts.next()?.parse().ok()?;
        parts.next().is_none().then(|| Signal {
            name: name.to_owned(),
            unit: unit.to_owned(),
            class,
            group: (class != Class::Command).then_some(group),
        })
    };
    table.lines().map(line).collect()
}

/// Commands belong to no group; their lines have a 0 there.
fn table<'a>(signals: impl Iterator<Item = &'a Signal>) -> String {
    let line = |s: &Signal| {
        let group = s.group.unwrap_or_default();
        format!("{}\t{}\t{}\t{group}", s.name, s.unit, s.class.name())
    };
    signals.map(line).collect::<Vec<_>>().join("\n")
}

/// `text` in exactly `width` bytes.
fn fixed(text: &str, width: usize) -> String {
    let mut text = text[..text.floor_char_boundary(width)].to_owned();
    while text.len() < width {
        text.push(' ');
    }
    text
}
