//! The progress bar: the flight writes three numbers, and another thread draws them.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Terminal;

/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);

/// A bar on standard error, drawn by a separate thread so that the flight thread never waits for a terminal.
#[derive(Debug)]
pub struct Progress {
    shared: Arc<Shared>,
    /// Taken when the thread is joined.
    thread: Option<JoinHandle<()>>,
    terminal: Terminal,
}

/// Bits of `f64`; the drawing thread may see numbers of two neighbouring steps.
#[derive(Debug, Default)]
struct Shared {
    flight_time: AtomicU64,
    position_error: AtomicU64,
    attitude_error: AtomicU64,
    alarm: AtomicBool,
    done: AtomicBool,
}

impl Progress {
    /// A bar up to `duration` s, or a spinner; `None` if standard error is not a terminal.
    pub fn start(duration: Option<f64>, terminal: &Terminal) -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = bar(duration);
        let shared = Arc::new(Shared::default());
        let thread = {
            let (shared, bar) = (Arc::clone(&shared), bar.clone());
            let builder = thread::Builder::new().name("progress".to_owned());
            builder.spawn(move || draw(&shared, &bar)).ok()?
        };
        terminal.set_bar(Some(bar));
        Some(Self {
            shared,
            thread: Some(thread),
            terminal: terminal.clone(),
        })
    }

    /// Updates the flight time in s and the errors in m and rad; `alarm`: the supervisor has taken over. Never waits.
    pub fn update(
        &self,
        flight_time: f64,
        [position_error, attitude_error]: [f64; 2],
        alarm: bool,
    ) {
        let shared = &self.shared;
        shared
            .flight_time
            .store(flight_time.to_bits(), Ordering::Relaxed);
        shared
            .position_error
            .store(position_error.to_bits(), Ordering::Relaxed);
        shared
            .attitude_error
            .store(attitude_error.to_bits(), Ordering::Relaxed);
        shared.alarm.store(alarm, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread only draws: its panic does not affect the flight.
            let _ = thread.join();
        }
        self.terminal.set_bar(None);
    }
}

fn bar(duration: Option<f64>) -> ProgressBar {
    let (length, template) = match duration {
        Some(duration) => (Some(milliseconds(duration)), "  {bar:32} {msg}"),
        None => (None, "  {spinner} {msg}"),
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

fn draw(shared: &Shared, bar: &ProgressBar) {
    let duration = bar.length().map(|length| length as f64 / 1e3);
    let mut message = String::new();
    while !shared.done.load(Ordering::Acquire) {
        let read = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        let (time, position, attitude) = (
            read(&shared.flight_time),
            read(&shared.position_error),
            read(&shared.attitude_error),
        );
        message.clear();
        write_message(
            &mut message,
            time,
            duration,
            position,
            attitude,
            shared.alarm.load(Ordering::Relaxed),
        );
        bar.set_position(milliseconds(time));
        bar.set_message(message.clone());
        thread::park_timeout(PERIOD);
    }
    bar.finish_and_clear();
}

fn write_message(
    to: &mut String,
    time: f64,
    duration: Option<f64>,
    position: f64,
    attitude: f64,
    alarm: bool,
) {
    // Writing to a string cannot fail.
    let _ = match duration {
        Some(duration) => write!(to, "{time:.1} / {duration:.1} s"),
        None => write!(to, "{time:.1} s"),
    };
    let _ = write!(
        to,
        "  position {position:.3} m  attitude {:.2} deg",
        attitude.to_degrees()
    );
    if alarm {
        to.push_str("  SUPERVISOR");
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; negative times do not occur
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_tells_time_and_errors() {
        let check = |duration, alarm, expected: &str| {
            let mut text = String::new();
            write_message(
                &mut text,
                2.54,
                duration,
                0.0124,
                0.5_f64.to_radians(),
                alarm,
            );
            assert_eq!(text, expected);
        };
        check(
            Some(20.0),
            false,
            "2.5 / 20.0 s  position 0.012 m  attitude 0.50 deg",
        );
        check(
            None,
            true,
            "2.5 s  position 0.012 m  attitude 0.50 deg  SUPERVISOR",
        );
    }
}
