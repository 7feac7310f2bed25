//! A recording that is read during its replay, in memory that does not grow with its length.

use std::fmt;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use fly_hal::Description;

use super::Recording;
use super::frames::{Frame, Frames};
use crate::error::LogError;

/// Number and times of the ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// How many there are.
    pub count: usize,
    /// Time of the first one, ns.
    pub first: i64,
    /// Time of the last one, ns.
    pub last: i64,
}

impl Span {
    /// Counts a tick.
    pub fn add(&mut self, time: i64) {
        if self.count == 0 {
            self.first = time;
        }
        self.last = time;
        self.count += 1;
    }
}

/// Memory of a block of ticks, bytes.
const BLOCK: usize = 1 << 16;

/// The ticks of a recording, read in order.
///
/// A separate thread reads and decompresses one block ahead, so that the next one is ready: [`read`](Self::read) does
/// not allocate.
#[derive(Debug)]
pub struct Stream {
    span: Span,
    state: State,
    block: Frames,
    /// Index of the next tick in the block.
    next: usize,
}

#[derive(Debug)]
enum State {
    /// No tick has been read yet.
    Begin(Box<dyn Ticks>),
    Running(Ahead),
    Ended,
}

/// The reading thread; dropping its channels ends it.
#[derive(Debug)]
struct Ahead {
    full: Receiver<io::Result<Frames>>,
    empty: SyncSender<Frames>,
    thread: JoinHandle<()>,
}

/// A source of ticks.
pub(super) trait Ticks: fmt::Debug + Send {
    /// The next tick; `None` after the last one.
    fn next(&mut self) -> io::Result<Option<Frame<'_>>>;
}

impl Stream {
    /// A stream of ticks with the widths of this description.
    pub(super) fn new(ticks: Box<dyn Ticks>, span: Span, description: &Description) -> Self {
        Self {
            span,
            state: State::Begin(ticks),
            block: Frames::new(description.signals.len(), description.groups.len()),
            next: 0,
        }
    }

    /// Number of ticks.
    pub const fn len(&self) -> usize {
        self.span.count
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.span.count == 0
    }

    /// Time of the first tick, ns.
    pub const fn first(&self) -> i64 {
        self.span.first
    }

    /// Time of the last tick, ns.
    pub const fn last(&self) -> i64 {
        self.span.last
    }

    /// The next tick; `None` after the last one.
    ///
    /// # Errors
    /// The file cannot be read any more.
    pub fn read(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.next == self.block.len() && !self.advance()? {
            return Ok(None);
        }
        self.next += 1;
        Ok(self.block.get(self.next - 1))
    }

    /// Reads all ticks; none may have been read before.
    fn read_into(&mut self, frames: &mut Frames) -> io::Result<()> {
        if let State::Begin(ticks) = &mut self.state {
            while let Some(frame) = ticks.next()? {
                frames.push(&frame);
            }
        }
        Ok(())
    }

    /// Takes the next block; `false` after the last one.
    fn advance(&mut self) -> io::Result<bool> {
        if let State::Begin(_) = self.state
            && let State::Begin(ticks) = std::mem::replace(&mut self.state, State::Ended)
        {
            self.state = State::Running(Ahead::start(ticks, &self.block)?);
        }
        let State::Running(ahead) = &self.state else {
            return Ok(false);
        };
        let Ok(block) = ahead.full.recv() else {
            self.end();
            return Ok(false);
        };
        // After all ticks were read, the buffer is not needed.
        let _ = ahead
            .empty
            .try_send(std::mem::replace(&mut self.block, block?));
        self.next = 0;
        Ok(true)
    }

    fn end(&mut self) {
        if let State::Running(ahead) = std::mem::replace(&mut self.state, State::Ended) {
            let Ahead {
                full,
                empty,
                thread,
            } = ahead;
            drop((full, empty));
            let _ = thread.join();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

impl Ahead {
    fn start(mut ticks: Box<dyn Ticks>, like: &Frames) -> io::Result<Self> {
        let (fill, full) = mpsc::sync_channel(1);
        let (empty, emptied) = mpsc::sync_channel::<Frames>(2);
        let like = like.clone();
        let read = move || {
            loop {
                let mut block = emptied.try_recv().unwrap_or_else(|_| like.clone());
                block.clear();
                let filled = loop {
                    match ticks.next() {
                        Ok(Some(frame)) => block.push(&frame),
                        Ok(None) => break Ok(true),
                        Err(error) => break Err(error),
                    }
                    if block.bytes() >= BLOCK {
                        break Ok(false);
                    }
                };
                let last = !matches!(filled, Ok(false));
                let sent = match filled {
                    Ok(_) if block.is_empty() => return,
                    Ok(_) => fill.send(Ok(block)),
                    Err(error) => fill.send(Err(error)),
                };
                if last || sent.is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new()
            .name("fly-log-read".into())
            .spawn(read)?;
        Ok(Self {
            full,
            empty,
            thread,
        })
    }
}

impl Recording<Stream> {
    /// Time from the first tick to the last, s.
    pub fn duration(&self) -> f64 {
        self.frames.last().saturating_sub(self.frames.first()) as f64 * 1e-9
    }

    /// Reads all ticks into memory of at most this size, bytes.
    pub(super) fn collect(mut self, most: u64) -> Result<Recording, LogError> {
        let description = &self.description;
        let motors = self.motors.as_ref().map_or(0, |motors| motors.count);
        let width = description.signals.len() + motors;
        let each = Frames::tick_bytes(width, description.groups.len());
        let all = self.frames.len() as u64 * each as u64;
        if all > most {
            return Err(LogError::Memory {
                path: self.path,
                most,
                what: format!("its {} frames are {all} bytes", self.frames.len()),
            });
        }
        let mut frames = Frames::new(description.signals.len(), description.groups.len());
        self.frames
            .read_into(&mut frames)
            .map_err(|source| LogError::Open {
                path: self.path.clone(),
                source,
            })?;
        let Self {
            path,
            kind,
            description,
            header,
            run,
            skipped,
            notes,
            motors,
            ..
        } = self;
        Ok(Recording {
            path,
            kind,
            description,
            frames,
            header,
            run,
            skipped,
            notes,
            motors,
        })
    }
}
