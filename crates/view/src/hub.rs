//! The data of a flight, for all its viewers.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fly_log::{Channel, Encoder, Header, RunMetadata, Tapped};
use fly_report::ReportError;
use fly_report::flight::LiveFlight;

/// How long the thread sleeps when there are no rows.
const IDLE: Duration = Duration::from_millis(2);
/// Number of rows processed while other threads wait for the state.
const BURST: usize = 32;
/// Messages that wait for a viewer; while the queue is full, new ones are lost for it.
const QUEUE: usize = 4096;
/// The schema of messages that are sent once and stay valid.
const LASTING: &str = "foxglove.SceneUpdate";

/// A message for viewers.
#[derive(Debug)]
pub(crate) struct Packet {
    /// Its channel.
    pub channel: usize,
    /// Flight time, ns.
    pub time: u64,
    /// The message, protobuf.
    pub data: Vec<u8>,
}

/// The channels that a viewer wants, by their number, with what it calls them.
pub(crate) type Subscriptions = Arc<Mutex<HashMap<usize, u32>>>;

/// What has come of a flight, for everyone who watches it: pages, viewers, a terminal. A thread of its own takes the rows from the flight, which never waits.
#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<State>,
    over: AtomicBool,
    /// Number of pages that still have to be told that the flight is over.
    untold: AtomicUsize,
}

/// While this exists, a page waits to be told how the flight ended.
#[derive(Debug)]
pub(crate) struct EndListener<'a>(&'a Hub);

impl Drop for EndListener<'_> {
    fn drop(&mut self) {
        self.0.untold.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Debug, Default)]
struct State {
    live: Option<LiveFlight>,
    channels: Arc<[Channel]>,
    /// The last message of each channel whose messages stay valid.
    lasting: HashMap<usize, Arc<Packet>>,
    viewers: Vec<Viewer>,
    run: Option<RunMetadata>,
}

#[derive(Debug)]
struct Viewer {
    subscriptions: Subscriptions,
    queue: SyncSender<Arc<Packet>>,
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a flight: a thread processes its rows until it is over.
    ///
    /// # Errors
    /// There can be no thread.
    pub(crate) fn begin(self: &Arc<Self>, header: &Header, tapped: Tapped) -> io::Result<()> {
        let encoder = Encoder::new(header);
        let mut state = self.state();
        state.live = Some(LiveFlight::new(header));
        state.channels = encoder.channels().into();
        drop(state);
        let hub = Arc::clone(self);
        let thread = thread::Builder::new().name("fly-view".to_owned());
        thread.spawn(move || hub.take_all(encoder, tapped))?;
        Ok(())
    }

    fn take_all(&self, mut encoder: Encoder, mut tapped: Tapped) {
        loop {
            // Checked first, so that no row is left behind.
            let is_over = tapped.is_over();
            let mut count = 0;
            let mut state = self.state();
            while count < BURST
                && let Some(item) = tapped.take()
            {
                count += 1;
                let taken = encoder.encode(&item, &mut |message| {
                    state.message(message.channel, message.time, message.data)
                });
                if let Err(error) = taken {
                    tracing::debug!("not shown: {error}");
                }
            }
            drop(state);
            if is_over {
                break;
            }
            if count == 0 {
                thread::sleep(IDLE);
            } else {
                // Lets threads that wait for the state have it.
                thread::yield_now();
            }
        }
        let mut state = self.state();
        let run = state.run.take();
        if let Some(live) = &mut state.live {
            live.finish(run);
        }
        drop(state);
        self.over.store(true, Ordering::Release);
    }

    /// How the flight ended; its rows end after that.
    pub(crate) fn finish(&self, run: RunMetadata) {
        self.state().run = Some(run);
    }

    /// Whether the flight is over and all its rows were processed.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Someone who wants to know the end.
    pub(crate) fn end_listener(&self) -> EndListener<'_> {
        self.untold.fetch_add(1, Ordering::AcqRel);
        EndListener(self)
    }

    /// Whether all who want to know the end do.
    pub(crate) fn has_told_end(&self) -> bool {
        self.is_over() && self.untold.load(Ordering::Acquire) == 0
    }

    /// Reads the flight; `None` before it has begun.
    pub fn look<T>(&self, look: impl FnOnce(&LiveFlight) -> T) -> Option<T> {
        self.state().live.as_ref().map(look)
    }

    /// The channels of the flight; none before it has begun.
    pub(crate) fn channels(&self) -> Arc<[Channel]> {
        Arc::clone(&self.state().channels)
    }

    /// Someone who wants messages.
    pub(crate) fn view(&self) -> (Subscriptions, Receiver<Arc<Packet>>) {
        let (queue, packets) = sync_channel(QUEUE);
        let subscriptions = Subscriptions::default();
        self.state().viewers.push(Viewer {
            subscriptions: Arc::clone(&subscriptions),
            queue,
        });
        (subscriptions, packets)
    }

    /// The message of a channel that holds, if there is one.
    pub(crate) fn lasting(&self, channel: usize) -> Option<Arc<Packet>> {
        self.state().lasting.get(&channel).cloned()
    }
}

impl Viewer {
    fn wants(&self, channel: usize) -> bool {
        let subscriptions = self.subscriptions.lock();
        let subscriptions = subscriptions.unwrap_or_else(PoisonError::into_inner);
        subscriptions.contains_key(&channel)
    }
}

impl State {
    fn message(&mut self, channel: usize, time: u64, data: &[u8]) -> Result<(), ReportError> {
        let of = &self.channels[channel];
        if let Some(live) = &mut self.live {
            live.message(of.topic, data)?;
        }
        let lasts = of.schema == LASTING;
        if !lasts && !self.viewers.iter().any(|viewer| viewer.wants(channel)) {
            return Ok(());
        }
        let packet = Arc::new(Packet {
            channel,
            time,
            data: data.to_vec(),
        });
        if lasts {
            self.lasting.insert(channel, Arc::clone(&packet));
        }
        // A viewer that has gone is removed; a slow one loses the message.
        self.viewers.retain(|viewer| {
            if !viewer.wants(channel) {
                return true;
            }
            let sent = viewer.queue.try_send(Arc::clone(&packet));
            !matches!(sent, Err(TrySendError::Disconnected(_)))
        });
        Ok(())
    }
}
