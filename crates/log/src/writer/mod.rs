//! Writes a flight to an MCAP file from a separate thread.

mod chunks;
mod claim;
mod encode;
mod file;
mod layout;
mod output;
mod parts;
mod row;
mod shapes;
mod tap;
mod truth;
mod viewer;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rtrb::{Consumer, Producer, RingBuffer};

pub use row::{
    Control, Energies, Level, Pace, Pushed, Reference, Row, State, Status, SystemReference,
    SystemState,
};

pub use tap::{Tap, Tapped, tap};

use crate::error::LogError;
use crate::{Header, RunMetadata};
use chunks::{Chunking, Written};
use claim::Claim;
pub use encode::Encoder;
pub(crate) use file::{McapLog, options as mcap_options};
pub use layout::Item;
use layout::{Buffers, Layout};
pub use output::{Channel, Encoded};

/// Rows that the queue holds.
const QUEUE_ROWS: usize = 1024;
/// How long the writing thread sleeps when there is nothing to write.
const IDLE: Duration = Duration::from_millis(1);
/// How long a stepped flight sleeps when the queue is full.
const FULL: Duration = Duration::from_micros(50);

/// A finished log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Its path.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// Events in it.
    pub events: u64,
    /// Rows and events that were lost because the queue was full.
    pub dropped: u64,
}

/// How long the writing thread of a real vehicle's flight waits for rows before it closes the open chunk.
const STALL: Duration = Duration::from_millis(50);

/// A log that is being written.
///
/// Rows pass through a fixed-size queue to a thread that encodes, compresses and writes them, so that
/// [`push`](Self::push) neither allocates nor touches the file. The file is `<path>.part`, created exclusively and
/// locked, until [`finish`](Self::finish) gives it its name.
///
/// A process that is killed loses at most 100 ms of flight time, or one row. The rest is in `<path>.part`, a truncated
/// log ([`Options::allow_truncated`](crate::Options::allow_truncated)). A writer that is dropped without `finish` keeps
/// everything that was pushed there; without any row it leaves no file.
#[derive(Debug)]
pub struct Writer {
    claim: Arc<Claim>,
    kept: Option<PathBuf>,
    pace: Pace,
    layout: Layout,
    words: Vec<u64>,
    chunking: Chunking,
    chunks: u64,
    rows: u64,
    dropped: u64,
    failure: Option<LogError>,
    running: Option<Running>,
}

/// The producer; dropping it ends the thread.
#[derive(Debug)]
struct Running {
    queue: Producer<u64>,
    finish: mpsc::Sender<(RunMetadata, u64)>,
    shared: Arc<Shared>,
    thread: JoinHandle<Result<Stats, LogError>>,
}

/// State that the writing thread shares with the flight.
#[derive(Debug, Default)]
struct Shared {
    written: Written,
    /// Why writing has stopped.
    failure: OnceLock<String>,
}

/// The destination of a log.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// Its path. A symbolic link is followed.
    pub path: PathBuf,
    /// Whether the file must be new; otherwise a finished flight log of this program is replaced.
    pub fresh: bool,
    /// Files that the flight reads and that its log therefore must not replace, under any name.
    pub reads: Vec<PathBuf>,
}

impl<P: Into<PathBuf>> From<P> for Destination {
    fn from(path: P) -> Self {
        Self {
            path: path.into(),
            ..Self::default()
        }
    }
}

/// # Lifecycle of a log
impl Writer {
    /// Creates `<path>.part` and starts the writing thread. An unfinished log that a killed flight left there is
    /// [kept](Self::kept).
    ///
    /// # Errors
    /// On an error, nothing is created or changed. [`LogError::Busy`] if another flight writes there,
    /// [`LogError::NotALog`] if a file exists that is not a flight log, [`LogError::Input`] if the flight reads the
    /// existing file, [`LogError::Create`] with the reason in all other cases.
    pub fn create(
        destination: impl Into<Destination>,
        header: &Header,
        pace: Pace,
    ) -> Result<Self, LogError> {
        let Destination { path, fresh, reads } = destination.into();
        let (claim, file, kept) = Claim::new(path, fresh, &reads)?;
        let claim = Arc::new(claim);
        let layout = Layout::new(header);
        let chunking = Chunking::new(header.flight.rate_hz);
        let start = || -> io::Result<Running> {
            let log = McapLog::new(BufWriter::new(file), header)
                .map_err(|error| io::Error::other(reason(&error)))?;
            let (queue, rows) =
                RingBuffer::new(QUEUE_ROWS * layout.row_words() + layout.max_words());
            let (finish, metadata) = mpsc::channel();
            let shared = Arc::new(Shared::default());
            let writing = Writing {
                layout,
                chunking,
                pace,
                claim: Arc::clone(&claim),
                shared: Arc::clone(&shared),
            };
            let thread = thread::Builder::new()
                .name("fly-log".into())
                .spawn(move || writing.run(log, rows, &metadata))?;
            Ok(Running {
                queue,
                finish,
                shared,
                thread,
            })
        };
        match start() {
            Ok(running) => Ok(Self {
                kept,
                pace,
                layout,
                words: Vec::with_capacity(layout.max_words()),
                chunking,
                chunks: 0,
                rows: 0,
                dropped: 0,
                failure: None,
                running: Some(running),
                claim,
            }),
            Err(source) => {
                claim.release();
                Err(LogError::Create {
                    path: claim.path().into(),
                    source,
                })
            }
        }
    }

    /// Writes the queued rows and the record of the run, closes the file and gives it its name.
    ///
    /// # Errors
    /// [`LogError::Write`] or [`LogError::Shape`], also if it occurred earlier in the flight. Everything written until
    /// then stays in the `.part` file.
    pub fn finish(mut self, run: RunMetadata) -> Result<Stats, LogError> {
        if let Some(failure) = self.failure.take() {
            // Rows pushed before are written when the writer is dropped.
            return Err(failure);
        }
        let Some(Running {
            queue,
            finish,
            thread,
            ..
        }) = self.running.take()
        else {
            return Err(self.lost("the writing thread is gone".into()));
        };
        // Sending fails only if the thread has ended; its own error is more informative.
        let _ = finish.send((run, self.dropped));
        drop((queue, finish));
        thread.thread().unpark();
        match thread.join() {
            Ok(result) => result,
            Err(_) => Err(self.lost("the writing thread panicked".into())),
        }
    }

    /// Final path of the log.
    pub fn path(&self) -> &Path {
        self.claim.path()
    }

    /// Path of the log until it is finished.
    pub fn part(&self) -> &Path {
        self.claim.part()
    }

    /// New path of the unfinished log that a killed flight left at [`part`](Self::part).
    pub fn kept(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// Why writing has stopped, once a [`push`](Self::push) has failed.
    pub fn failure(&self) -> Option<String> {
        let shared = self.running.as_ref().map(|running| &running.shared);
        let reason = shared.and_then(|shared| shared.failure.get().cloned());
        reason.or_else(|| self.failure.as_ref().map(ToString::to_string))
    }

    /// Rows and events lost so far because the queue was full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn lost(&self, reason: String) -> LogError {
        LogError::Write {
            path: self.claim.part().into(),
            reason,
        }
    }
}

/// # On the flight thread, without allocation
impl Writer {
    /// Records one tick.
    ///
    /// In a stepped flight this waits while the queue is full and drops nothing; in real time it drops and counts. A
    /// row whose slices do not have the declared lengths makes the writer fail, which [`finish`](Self::finish) reports.
    pub fn push(&mut self, row: &Row) -> Pushed {
        if self.failure.is_some() {
            return Pushed::Failed;
        }
        if let Err(error) = self.layout.encode_row(row, &mut self.words) {
            self.failure = Some(error);
            return Pushed::Failed;
        }
        let pushed = self.send();
        if pushed == Pushed::Queued {
            self.rows += 1;
            if self.chunking.ends(row.time) {
                self.chunks += 1;
                self.keep_pace();
            }
        }
        pushed
    }

    /// Records a message of the flight; `target` is its source. Texts longer than 4096
    /// bytes are cut.
    ///
    /// Events keep their order between the rows: a log is reproducible if its events are.
    pub fn event(&mut self, time: i64, level: Level, target: &str, message: &str) -> Pushed {
        if self.failure.is_some() {
            return Pushed::Failed;
        }
        Layout::encode_event(time, level, target, message, &mut self.words);
        self.send()
    }

    /// In a stepped flight, waits until all but the last chunks are on the disk: a fast simulation must not increase
    /// the possible loss.
    fn keep_pace(&self) {
        if let (Pace::Stepped, Some(running)) = (self.pace, &self.running) {
            running.thread.thread().unpark();
            let behind = self.chunking.slack();
            running
                .shared
                .written
                .wait(self.chunks.saturating_sub(behind));
        }
    }

    fn send(&mut self) -> Pushed {
        let Some(running) = &mut self.running else {
            return Pushed::Failed;
        };
        while running.queue.push_entire_slice(&self.words).is_err() {
            if running.queue.is_abandoned() {
                return Pushed::Failed;
            }
            if self.pace == Pace::RealTime {
                self.dropped += 1;
                return Pushed::Dropped;
            }
            thread::sleep(FULL);
        }
        if running.queue.is_abandoned() {
            Pushed::Failed
        } else {
            Pushed::Queued
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Some(Running {
            queue,
            finish,
            thread,
            ..
        }) = self.running.take()
        else {
            return;
        };
        drop((queue, finish));
        thread.thread().unpark();
        let _ = thread.join();
        if self.rows == 0 {
            self.claim.release();
        }
    }
}

/// The writing thread.
struct Writing {
    layout: Layout,
    chunking: Chunking,
    pace: Pace,
    claim: Arc<Claim>,
    shared: Arc<Shared>,
}

/// Wakes the flight when the thread ends, and leaves the reason.
impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.written.close();
    }
}

impl Writing {
    /// Processes items until the other end is dropped, then closes the file.
    fn run(
        mut self,
        log: McapLog<BufWriter<File>>,
        mut queue: Consumer<u64>,
        finish: &mpsc::Receiver<(RunMetadata, u64)>,
    ) -> Result<Stats, LogError> {
        let result = self.write(log, &mut queue, finish);
        if let Err(error) = &result {
            // Set before the queue is abandoned, which tells the flight that something failed.
            let _ = self.shared.failure.set(error.to_string());
        }
        result
    }

    fn write(
        &mut self,
        mut log: McapLog<BufWriter<File>>,
        queue: &mut Consumer<u64>,
        finish: &mpsc::Receiver<(RunMetadata, u64)>,
    ) -> Result<Stats, LogError> {
        let part = self.claim.part().to_owned();
        let failed = |reason: String| LogError::Write {
            path: part.clone(),
            reason,
        };
        let mcap = |error: mcap::McapError| failed(reason(&error));
        // So that a flight that is killed before its first chunk leaves a log, too.
        log.flush().map_err(mcap)?;
        let mut words = vec![0; self.layout.max_words()];
        let mut buffers = Buffers::default();
        let mut open_since = None;
        loop {
            // Tested before reading the queue, so that nothing pushed before the end is lost.
            let last = queue.is_abandoned();
            while let Ok(&first) = queue.peek() {
                let words = &mut words[..self.layout.item_words(first)];
                // The other side pushes whole items, so the rest of the item is available.
                if queue.pop_entire_slice(words).is_err() {
                    break;
                }
                let item = self.layout.decode(words, &mut buffers);
                log.write(&item).map_err(mcap)?;
                if let Item::Row(row) = &item
                    && self.chunking.ends(row.time)
                {
                    log.flush().map_err(mcap)?;
                    self.shared.written.add();
                    open_since = None;
                } else {
                    open_since.get_or_insert_with(Instant::now);
                }
            }
            if last {
                break;
            }
            // The logs of stepped flights depend on the flight alone.
            if self.pace == Pace::RealTime
                && open_since.is_some_and(|since: Instant| since.elapsed() >= STALL)
            {
                log.flush().map_err(mcap)?;
                open_since = None;
            }
            thread::park_timeout(IDLE);
        }
        // Without a record of the run, `finish` was not called: the file is closed but keeps the name `.part`.
        let metadata = finish.recv().ok();
        let dropped = metadata.as_ref().map_or(0, |(_, dropped)| *dropped);
        let (rows, events) = log.counts();
        let file = log.finish(metadata.as_ref()).map_err(mcap)?;
        let close = || -> io::Result<u64> {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            if metadata.is_some() {
                self.claim.publish()?;
            }
            Ok(bytes)
        };
        let bytes = close().map_err(|error| failed(error.to_string()))?;
        Ok(Stats {
            path: self.claim.path().into(),
            bytes,
            rows,
            events,
            dropped,
        })
    }
}

/// The system's message, without `mcap`'s prefix.
pub(crate) fn reason(error: &mcap::McapError) -> String {
    match error {
        mcap::McapError::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}
