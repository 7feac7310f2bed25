//! Watches the calls of a backend: one that hangs must not leave a vehicle without commands.
//!
//! An instance is called by one thread at a time, so no other thread can command the vehicle while a call hangs. The
//! ABI permits one thing meanwhile: the plugin's [`EmergencyLine`]. A separate thread uses it to tell the vehicle to
//! land and repeats this until it has been sent; the thread is separate because that call may hang as well. A call that
//! does not return even then is given up, and with it the process, if the caller [says how](crate::Flight::on_hang):
//! the vehicle's own failsafe then takes over.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use fly_hal::{EmergencyLine, Request, monotonic_now};
use tracing::dispatcher::{self, Dispatch};

/// No call is under way.
const NEVER: i64 = i64::MAX;

/// A backend function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    /// `read`.
    Read,
    /// `write`.
    Write,
    /// `arm`, or `poll` after it.
    Arm,
    /// `take_off`, or `poll` after it.
    TakeOff,
    /// `disarm`.
    Disarm,
    /// `request`, or `poll` after it.
    Request,
    /// `stop`.
    Stop,
}

impl Call {
    const ALL: [Self; 7] = [
        Self::Read,
        Self::Write,
        Self::Arm,
        Self::TakeOff,
        Self::Disarm,
        Self::Request,
        Self::Stop,
    ];

    /// Its name in the ABI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Arm => "arm",
            Self::TakeOff => "take_off",
            Self::Disarm => "disarm",
            Self::Request => "request",
            Self::Stop => "stop",
        }
    }
}

/// A call that hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hang {
    /// The call.
    pub call: Call,
    /// How long the call has been overdue.
    pub overdue: Duration,
    /// Whether the vehicle was told to land over the emergency line.
    pub landing: bool,
    /// Whether another pilot or program had taken control of the vehicle.
    pub taken_over: bool,
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.call.name();
        let told = if self.taken_over {
            "the vehicle was taken over before"
        } else if self.landing {
            "the vehicle was told to land"
        } else {
            "LAND failed: the vehicle may be airborne and uncommanded"
        };
        write!(f, "`{call}` of the backend does not return: {told}")
    }
}

/// Runs when a call is given up.
type GiveUp = Box<dyn FnOnce(Hang) + Send>;

/// The threads that watch the calls and tell the vehicle to land. Dropping it ends them.
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    watching: Option<JoinHandle<()>>,
    telling: Option<Thread>,
}

struct Shared {
    /// The number of the call.
    number: AtomicU64,
    /// When the call in progress must have returned, ns of the monotonic clock.
    due: AtomicI64,
    /// When the call is given up, ns of the monotonic clock.
    last: AtomicI64,
    call: AtomicU8,
    /// Whether the vehicle must be told to land.
    alarm: AtomicBool,
    /// Whether the vehicle was told to land.
    landing: AtomicBool,
    over: AtomicBool,
    /// Whether another pilot or program has control of the vehicle: it is sent nothing.
    taken_over: AtomicBool,
    give_up: Mutex<Option<GiveUp>>,
}

impl Watchdog {
    /// Starts to watch; `line` leads to the vehicle.
    ///
    /// # Errors
    /// The thread cannot be created.
    pub fn start(line: Option<EmergencyLine>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            number: AtomicU64::new(0),
            due: AtomicI64::new(NEVER),
            last: AtomicI64::new(NEVER),
            call: AtomicU8::new(Call::Read as u8),
            alarm: AtomicBool::new(false),
            landing: AtomicBool::new(false),
            over: AtomicBool::new(false),
            taken_over: AtomicBool::new(false),
            give_up: Mutex::new(None),
        });
        let named = |name: &str| thread::Builder::new().name(name.into());
        let told = Arc::clone(&shared);
        // The thread is not joined: the plugin's call may never return.
        let telling = line.map(|line| named("fly-emergency").spawn(move || told.tell(&line)));
        let telling = telling.transpose()?.map(|handle| handle.thread().clone());
        let (watched, teller) = (Arc::clone(&shared), telling.clone());
        let messages = dispatcher::get_default(Dispatch::clone);
        let watching = named("fly-watchdog").spawn(move || {
            dispatcher::with_default(&messages, || watched.watch(teller.as_ref()));
        })?;
        Ok(Self {
            shared,
            watching: Some(watching),
            telling,
        })
    }

    /// Sets the action to run, on the watchdog's thread, when a call is given up.
    pub fn on_hang(&self, give_up: GiveUp) {
        let mut slot = self
            .shared
            .give_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = Some(give_up);
    }

    /// Runs a call that must return by `due` and is given up at `last`, ns of the monotonic clock.
    pub fn watching<R>(&self, call: Call, due: i64, last: i64, run: impl FnOnce() -> R) -> R {
        self.shared.number.fetch_add(1, Ordering::Relaxed);
        self.shared.call.store(call as u8, Ordering::Relaxed);
        self.shared.last.store(last, Ordering::Relaxed);
        self.shared.due.store(due, Ordering::Release);
        let result = run();
        self.shared.due.store(NEVER, Ordering::Release);
        // After the call returned, the vehicle can be commanded again.
        self.shared.alarm.store(false, Ordering::Release);
        result
    }

    /// From now on the vehicle is sent nothing. Calls are still watched.
    pub fn release_control(&self) {
        self.shared.taken_over.store(true, Ordering::Release);
    }

    /// Whether the vehicle was told to land.
    pub fn is_landing(&self) -> bool {
        self.shared.landing.load(Ordering::Acquire)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(telling) = &self.telling {
            telling.unpark();
        }
        if let Some(watching) = self.watching.take() {
            watching.thread().unpark();
            // It cannot panic, and a panic could not be reported.
            let _ = watching.join();
        }
    }
}

impl Shared {
    fn watch(&self, teller: Option<&Thread>) {
        // The number of the call for which the alarm was raised; several may be due at the same time.
        let mut alarm = 0;
        while !self.over.load(Ordering::Acquire) {
            // If another call begins between the two, it is due soon: then the alarm is raised again.
            let number = self.number.load(Ordering::Relaxed);
            let (due, now) = (self.due.load(Ordering::Acquire), monotonic_now());
            if now < due {
                // A call that begins meanwhile may be due earlier.
                nap(due.saturating_sub(now).min(IDLE));
                continue;
            }
            if alarm != number {
                alarm = number;
                self.alarm(teller);
                tracing::error!("{}", self.hang(monotonic_now().saturating_sub(due)));
            }
            if now >= self.last.load(Ordering::Relaxed) {
                let mut slot = self.give_up.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(give_up) = slot.take() {
                    give_up(self.hang(now.saturating_sub(due)));
                }
                return;
            }
            nap(IDLE);
        }
    }

    /// Raises the alarm, so that the vehicle is told to land, and waits for a short time until it is landing.
    fn alarm(&self, teller: Option<&Thread>) {
        let Some(teller) = teller else {
            return;
        };
        if self.taken_over.load(Ordering::Acquire) {
            return;
        }
        self.alarm.store(true, Ordering::Release);
        teller.unpark();
        let until = monotonic_now().saturating_add(ANSWER);
        while !self.landing.load(Ordering::Acquire) && monotonic_now() < until {
            nap(ANSWER / 20);
        }
    }

    /// Tells the vehicle to land when the alarm is raised, and ends once it is landing.
    fn tell(&self, line: &EmergencyLine) {
        while !self.over.load(Ordering::Acquire) && !self.landing.load(Ordering::Acquire) {
            if !self.alarm.load(Ordering::Acquire) {
                thread::park();
            } else if !self.taken_over.load(Ordering::Acquire) && line.request(Request::Land) {
                self.landing.store(true, Ordering::Release);
            } else {
                nap(IDLE);
            }
        }
    }

    fn hang(&self, overdue: i64) -> Hang {
        let call = usize::from(self.call.load(Ordering::Relaxed));
        Hang {
            call: Call::ALL.get(call).copied().unwrap_or(Call::Read),
            overdue: Duration::from_nanos(overdue.unsigned_abs()),
            landing: self.landing.load(Ordering::Acquire),
            taken_over: self.taken_over.load(Ordering::Acquire),
        }
    }
}

/// Longest sleep of the threads, ns; calls are allowed more time than this.
const IDLE: i64 = 10_000_000;
/// How long the plugin's emergency function may take before it counts as failed, ns.
const ANSWER: i64 = 20_000_000;

fn nap(nanoseconds: i64) {
    thread::park_timeout(Duration::from_nanos(nanoseconds.unsigned_abs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_return_is_given_up() {
        let watchdog = Watchdog::start(None).expect("a thread");
        let (gone, told) = std::sync::mpsc::channel();
        watchdog.on_hang(Box::new(move |hang| gone.send(hang).expect("awaited")));
        let now = monotonic_now();
        let hang = watchdog.watching(Call::Read, now, now + 100_000_000, || {
            told.recv_timeout(Duration::from_secs(10))
                .expect("given up")
        });
        assert_eq!((hang.call, hang.landing), (Call::Read, false));
        assert!(hang.overdue >= Duration::from_millis(100));
    }

    #[test]
    fn numbers_of_calls() {
        for (number, call) in Call::ALL.into_iter().enumerate() {
            assert_eq!(call as usize, number);
        }
    }
}
