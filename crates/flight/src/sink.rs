//! Destinations of a flight's rows: an MCAP file, memory, or nowhere.

use std::path::{Path, PathBuf};

use fly_hal::GroupStatus;
use fly_log::{
    Destination, Energies, Header, LogError, Pace, Pushed, Reference, Row, RunMetadata, State,
    Status, Writer,
};

use crate::messages::Message;
use crate::summary::LogSummary;

/// Receives the rows and messages of one flight.
///
/// [`begin`](Self::begin) comes first, [`finish`](Self::finish) last. [`row`](Self::row) is called on the flight thread at every
/// tick: it should neither allocate nor wait.
pub trait Sink {
    /// Begins the record.
    ///
    /// # Errors
    /// [`LogError`] if the record cannot be created; the flight does not begin.
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError>;

    /// Whether the sink wants rows; if not, none are built.
    fn wants_rows(&self) -> bool {
        true
    }

    /// Records one tick.
    fn row(&mut self, row: &Row);

    /// Records a message of the flight at `time`, ns of the backend's clock.
    fn message(&mut self, time: i64, message: Message);

    /// The vehicle has been handed back: whether it is armed now, if that is known.
    fn handed_back(&mut self, _armed: Option<bool>) {}

    /// Finishes the record. Returns the log, if it is a file.
    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary>;
}

/// Discards all rows and messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Sink for Discard {
    fn begin(&mut self, _: &Header, _: Pace) -> Result<(), LogError> {
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        false
    }

    fn row(&mut self, _: &Row) {}

    fn message(&mut self, _: i64, _: Message) {}

    fn finish(&mut self, _: RunMetadata) -> Option<LogSummary> {
        None
    }
}

/// Writes an MCAP file from its own thread.
#[derive(Debug)]
pub struct McapFile {
    destination: Destination,
    writer: Option<Writer>,
    /// Whether the failure was reported.
    failed: bool,
}

/// How many names are tried for a log that must be a new file.
const NAMES: u32 = 1000;

impl McapFile {
    /// A log at this path. If it must be [fresh](Destination::fresh) and the name is taken, a number is appended to the
    /// name.
    pub fn new(destination: impl Into<Destination>) -> Self {
        Self {
            destination: destination.into(),
            writer: None,
            failed: false,
        }
    }

    /// Creates the file under the first free name, or under the only one.
    fn create(&self, header: &Header, pace: Pace) -> Result<Writer, LogError> {
        let mut number = 1;
        loop {
            let path = numbered(&self.destination.path, number);
            let destination = Destination {
                path,
                ..self.destination.clone()
            };
            match Writer::create(destination, header, pace) {
                Err(error) if self.destination.fresh && error.is_taken() && number < NAMES => {
                    number += 1;
                }
                created => return created,
            }
        }
    }
}

/// `flight.mcap`, `flight-2.mcap`, `flight-3.mcap`, …
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

impl Sink for McapFile {
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError> {
        let writer = self.create(header, pace)?;
        if let Some(kept) = writer.kept() {
            tracing::warn!(
                "a flight was killed while it wrote `{}`: its log is kept as `{}`; a replay reads it with \
                 `backend.replay.allow_truncated = true`",
                writer.part().display(),
                kept.display()
            );
        }
        self.writer = Some(writer);
        Ok(())
    }

    fn row(&mut self, row: &Row) {
        if let Some(writer) = &mut self.writer
            && writer.push(row) == Pushed::Failed
            && !self.failed
        {
            self.failed = true;
            tracing::error!(
                "{}; the flight goes on without a log",
                writer
                    .failure()
                    .unwrap_or_else(|| "the log has ended".into())
            );
        }
    }

    /// A failure is reported with the next row, because the caller holds the message queue here.
    fn message(&mut self, time: i64, message: Message) {
        if let Some(writer) = &mut self.writer {
            writer.event(time, message.level.into(), message.target, message.text);
        }
    }

    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary> {
        let writer = self.writer.take()?;
        let path = writer.path().to_owned();
        Some(match writer.finish(run) {
            Ok(stats) => LogSummary {
                path: stats.path,
                bytes: stats.bytes,
                dropped: stats.dropped,
                failure: None,
            },
            Err(error) => LogSummary {
                path,
                failure: Some(error.to_string()),
                ..LogSummary::default()
            },
        })
    }
}

/// The metadata of a run on this machine. `durations` are those of the flight and of the clock, s, unless a real clock sets the pace.
pub(crate) fn run_metadata(
    wall_start: jiff::Timestamp,
    durations: Option<[f64; 2]>,
    backend: &str,
) -> RunMetadata {
    let computed = durations.filter(|[_, wall_time]| *wall_time > 0.0);
    RunMetadata {
        real_time_factor: computed.map_or(0.0, |[flight_time, wall_time]| flight_time / wall_time),
        wall_start: wall_start.to_string(),
        host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        versions: format!("fly {}, {backend}", env!("CARGO_PKG_VERSION")),
        ..RunMetadata::default()
    }
}

/// Keeps rows and messages in memory. Unlike the file, it allocates for every row.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Names of signals, commands and modes.
    pub header: Header,
    /// One for each tick.
    pub rows: Vec<MemoryRow>,
    /// Time (ns of the backend's clock), level, target and text of each message.
    pub messages: Vec<(i64, tracing::Level, String, String)>,
}

/// A recorded tick.
#[derive(Debug, Clone)]
pub struct MemoryRow {
    /// Time of the tick, ns of the backend's clock.
    pub time: i64,
    /// The result of the read.
    pub status: Status,
    /// The supervisor's mode: index into [`Header::modes`].
    pub mode: u8,
    /// The frame's values, in the order of the frame signals of [`Header::description`].
    pub values: Vec<f64>,
    /// Stamp and validity of each group of values.
    pub groups: Vec<GroupStatus>,
    /// State of the tracked body.
    pub state: Option<State>,
    /// Configuration and velocity of a system of several bodies.
    pub system: Option<[Vec<f64>; 2]>,
    /// The controller's step, if it ran.
    pub control: Option<MemoryControl>,
    /// Commands that were sent, in the order of the commands of [`Header::description`].
    pub commands: Option<Vec<f64>>,
}

/// A recorded step of the controller.
#[derive(Debug, Clone)]
pub struct MemoryControl {
    /// Reference of the tracked body.
    pub reference: Option<Reference>,
    /// Tracking errors: distance (m) and angle (rad).
    pub errors: [f64; 2],
    /// Input u, in the order of the vehicle's inputs.
    pub input: Vec<f64>,
    /// Template energies, J, and dissipation, W; `None` of a law that has none.
    pub energies: Option<Energies>,
    /// Whether a limit was active.
    pub saturated: bool,
}

impl Sink for Memory {
    fn begin(&mut self, header: &Header, _: Pace) -> Result<(), LogError> {
        *self = Self {
            header: header.clone(),
            ..Self::default()
        };
        Ok(())
    }

    fn row(&mut self, row: &Row) {
        self.rows.push(MemoryRow {
            time: row.time,
            status: row.status,
            mode: row.mode,
            values: row.values.to_vec(),
            groups: row.groups.to_vec(),
            state: row.state,
            system: (row.system.as_ref())
                .map(|system| [system.configuration.to_vec(), system.velocity.to_vec()]),
            control: row.control.as_ref().map(|control| MemoryControl {
                reference: control.reference,
                errors: control.errors,
                input: control.u.to_vec(),
                energies: control.energies,
                saturated: control.saturated,
            }),
            commands: row.commands.map(<[f64]>::to_vec),
        });
    }

    fn message(&mut self, time: i64, message: Message) {
        let (target, text) = (message.target.to_owned(), message.text.to_owned());
        self.messages.push((time, message.level, target, text));
    }

    fn finish(&mut self, _: RunMetadata) -> Option<LogSummary> {
        None
    }
}
