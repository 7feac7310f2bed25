//! Writes a flight to an MCAP file from a thread of its own.

mod encode;
mod layout;
mod row;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};

pub use row::{
    Control, Energies, Level, Pace, Pushed, Reference, Row, State, Status, SystemReference,
    SystemState,
};

use crate::error::LogError;
use crate::{Header, RunMetadata};
use encode::Encoder;
use layout::{Buffers, Layout};

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

/// A log that is being written.
///
/// Rows go through a queue of fixed size to a thread that encodes, compresses and writes them, so that
/// [`push`](Self::push) neither allocates nor touches the file. The file is `<path>.part` until
/// [`finish`](Self::finish) renames it; an existing file at `path` is replaced only then.
///
/// A writer that is dropped without `finish` leaves the `.part` file with all that was pushed, readable; without
/// any row it leaves nothing.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    part: PathBuf,
    pace: Pace,
    layout: Layout,
    words: Vec<u64>,
    rows: u64,
    dropped: u64,
    failure: Option<LogError>,
    running: Option<Running>,
}

/// The producer: dropping it ends the thread.
#[derive(Debug)]
struct Running {
    queue: Producer<u64>,
    finish: mpsc::Sender<(RunMetadata, u64)>,
    thread: JoinHandle<Result<Stats, LogError>>,
}

/// Refuses folders and devices at the log's path. Otherwise only the rename at the end would notice a folder,
/// and as root it would replace even a device.
fn replaceable(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if !found.is_file() => Err(io::Error::other(
            "expected a file or nothing there, found a device, a pipe or a socket",
        )),
        _ => Ok(()),
    }
}

/// # Life of a log
impl Writer {
    /// Creates `<path>.part` and starts the writing thread. A symbolic link is followed.
    ///
    /// # Errors
    /// [`LogError::Create`] with the path and the reason; nothing is left behind then.
    pub fn create(path: impl Into<PathBuf>, header: &Header, pace: Pace) -> Result<Self, LogError> {
        let mut path = path.into();
        if path.is_symlink() {
            // The target of the link is replaced, not the link.
            path = std::fs::canonicalize(&path).unwrap_or(path);
        }
        let part = part_of(&path);
        let create = |source| LogError::Create {
            path: path.clone(),
            source,
        };
        replaceable(&path).map_err(create)?;
        let file = File::create(&part).map_err(create)?;
        let layout = Layout::new(header);
        let start = || -> io::Result<Running> {
            let encoder = Encoder::new(BufWriter::new(file), header).map_err(io::Error::other)?;
            let (queue, rows) =
                RingBuffer::new(QUEUE_ROWS * layout.row_words() + layout.max_words());
            let (finish, metadata) = mpsc::channel();
            let places = (path.clone(), part.clone());
            let thread = thread::Builder::new()
                .name("fly-log".into())
                .spawn(move || run(encoder, layout, rows, &metadata, places))?;
            Ok(Running {
                queue,
                finish,
                thread,
            })
        };
        match start() {
            Ok(running) => Ok(Self {
                pace,
                layout,
                words: Vec::with_capacity(layout.max_words()),
                rows: 0,
                dropped: 0,
                failure: None,
                running: Some(running),
                path,
                part,
            }),
            Err(source) => {
                let _ = std::fs::remove_file(&part);
                Err(create(source))
            }
        }
    }

    /// Writes what is still queued and the record of the run, closes the file and gives it its name.
    ///
    /// # Errors
    /// [`LogError::Write`] or [`LogError::Shape`], also when it happened earlier in the flight. What was
    /// written up to then stays in the `.part` file.
    pub fn finish(mut self, run: RunMetadata) -> Result<Stats, LogError> {
        let Some(Running {
            queue,
            finish,
            thread,
        }) = self.running.take()
        else {
            return Err(self.lost("the writing thread is gone".into()));
        };
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        // The send fails only when the thread has ended, and then its own error says more.
        let _ = finish.send((run, self.dropped));
        drop((queue, finish));
        thread.thread().unpark();
        match thread.join() {
            Ok(result) => result,
            Err(_) => Err(self.lost("the writing thread panicked".into())),
        }
    }

    /// Where the log will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rows and events lost so far because the queue was full.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn lost(&self, reason: String) -> LogError {
        LogError::Write {
            path: self.part.clone(),
            reason,
        }
    }
}

/// # On the flight thread, without allocation
impl Writer {
    /// Records one tick.
    ///
    /// In a stepped flight this waits while the queue is full and drops nothing; in real time it drops and counts.
    /// A row whose slices do not have the declared lengths makes the writer fail, which
    /// [`finish`](Self::finish) reports.
    pub fn push(&mut self, row: &Row) -> Pushed {
        if self.failure.is_some() {
            return Pushed::Failed;
        }
        if let Err(error) = self.layout.encode_row(row, &mut self.words) {
            self.failure = Some(error);
            return Pushed::Failed;
        }
        let pushed = self.send();
        self.rows += u64::from(pushed == Pushed::Queued);
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
        }) = self.running.take()
        else {
            return;
        };
        drop((queue, finish));
        thread.thread().unpark();
        let _ = thread.join();
        if self.rows == 0 {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// `<path>.part`.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// The writing thread: takes items until the other end is dropped, then closes the file.
fn run(
    mut encoder: Encoder<BufWriter<File>>,
    layout: Layout,
    mut queue: Consumer<u64>,
    finish: &mpsc::Receiver<(RunMetadata, u64)>,
    (path, part): (PathBuf, PathBuf),
) -> Result<Stats, LogError> {
    let failed = |reason: String| LogError::Write {
        path: part.clone(),
        reason,
    };
    let mut words = vec![0; layout.max_words()];
    let mut buffers = Buffers::default();
    loop {
        // Tested before the queue is read, so that nothing pushed before the end is lost.
        let last = queue.is_abandoned();
        while let Ok(&first) = queue.peek() {
            let item = &mut words[..layout.item_words(first)];
            // The other side pushes whole items, so the rest of it is there.
            if queue.pop_entire_slice(item).is_err() {
                break;
            }
            encoder
                .write(&layout.decode(item, &mut buffers))
                .map_err(|error| failed(error.to_string()))?;
        }
        if last {
            break;
        }
        thread::park_timeout(IDLE);
    }
    // Without a record of the run `finish` was not called: the file is closed but keeps the name `.part`.
    let metadata = finish.recv().ok();
    let dropped = metadata.as_ref().map_or(0, |(_, dropped)| *dropped);
    let (rows, events) = encoder.counts();
    let file = encoder
        .finish(metadata.as_ref())
        .map_err(|error| failed(error.to_string()))?;
    let close = || -> io::Result<u64> {
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        if metadata.is_some() {
            std::fs::rename(&part, &path)?;
        }
        Ok(bytes)
    };
    let bytes = close().map_err(|error| failed(error.to_string()))?;
    Ok(Stats {
        path,
        bytes,
        rows,
        events,
        dropped,
    })
}
