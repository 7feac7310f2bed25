//! Flies the flights that are missing in a journal, on several threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use fly_flight::config::Configuration;
use fly_flight::{Discard, Flight, FlightError, Summary, backend, panic_message};
use fly_hal::{Plugin, SearchPath};

use crate::error::SweepError;
use crate::journal::Journal;
use crate::outcome::{self, ExitCodes, Outcome};
use crate::plan::Plan;
use fly_table::Cell;

/// Rows are synced when there are this many,
const BATCH: usize = 64;
/// or when the first of them has waited for this long.
const PERIOD: Duration = Duration::from_millis(100);

/// Flies a plan.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Where to find plugins.
    pub search: &'a SearchPath,
    /// Number of threads that fly; at least one.
    pub jobs: usize,
    /// The exit codes of `fly`.
    pub codes: ExitCodes,
    /// Set this to stop the campaign: flights in progress are dropped, finished ones are synced.
    pub stop: &'a AtomicBool,
}

/// The speed of a campaign. Not part of any table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Speed {
    /// Number of flights flown in this run.
    pub flights: u64,
    /// Sum of their flight times, s.
    pub flight_time: f64,
    /// Wall-clock time, s.
    pub wall_time: f64,
    /// CPU time over all cores, s.
    pub cpu_time: f64,
}

/// A finished flight.
struct Finished {
    index: u64,
    cells: Vec<Cell>,
    flight_time: f64,
}

impl Campaign<'_> {
    /// Flies all flights of the journal's part of the plan that it does not contain yet. `progress` is called from time
    /// to time with the number of flights in the journal.
    ///
    /// # Errors
    /// The journal cannot be written; or, although the plan was checked, files of a flight cannot be read or its plugin
    /// cannot be loaded. Finished flights are in the journal.
    pub fn run(
        &self,
        journal: &mut Journal,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Speed, SweepError> {
        let (began, cpu) = (Instant::now(), cpu_time());
        let missing: Vec<u64> = journal
            .shard()
            .indices(self.plan.flights())
            .filter(|index| !journal.has(*index))
            .collect();
        let next = Mutex::new(missing.into_iter());
        // A write error also stops the flights.
        let failed = AtomicBool::new(false);
        let plugin = self.plugin();
        let (rows, finished) = mpsc::sync_channel(2 * BATCH);
        let mut speed = std::thread::scope(|scope| {
            for count in 0..self.jobs.max(1) {
                let rows = rows.clone();
                let (next, failed, plugin) = (&next, &failed, plugin.as_ref());
                let path = journal.path().to_owned();
                let work = move || self.work(next, failed, plugin, &path, &rows);
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(_) => {}
                    Err(error) if count == 0 => return Err(SweepError::Threads { error }),
                    Err(error) => {
                        tracing::warn!("{count} threads run, no more can be started: {error}");
                        break;
                    }
                }
            }
            drop(rows);
            let written = write(journal, &finished, progress);
            failed.store(written.is_err(), Ordering::Relaxed);
            // Threads waiting for room in the queue end.
            drop(finished);
            written
        })?;
        speed.wall_time = began.elapsed().as_secs_f64();
        speed.cpu_time = cpu_time() - cpu;
        Ok(speed)
    }

    /// The plugin of the plan's configuration, loaded once.
    fn plugin(&self) -> Option<(String, Plugin)> {
        let configuration = self.plan.configuration(0).ok()?;
        let plugin = backend::plugin(&configuration, self.search).ok()?;
        Some((configuration.backend.plugin.clone(), plugin))
    }

    fn work(
        &self,
        next: &Mutex<impl Iterator<Item = u64>>,
        failed: &AtomicBool,
        plugin: Option<&(String, Plugin)>,
        journal: &Path,
        rows: &SyncSender<Result<Finished, SweepError>>,
    ) {
        // The messages of thousands of flights are of no use; those of one appear when it is flown again.
        let _silent = tracing::dispatcher::set_default(&tracing::Dispatch::none());
        loop {
            let index = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(index) = index else { return };
            let flown = catch_unwind(AssertUnwindSafe(|| self.fly(index, failed, plugin)));
            let outcome = match flown {
                Ok(Ok(Some(summary))) => Outcome::Flown(Box::new(summary)),
                Ok(Ok(None)) => return,
                // The plan was checked, so the files that it names existed.
                Ok(Err(error)) if error.is_unreadable() => {
                    let _ = rows.send(Err(SweepError::Machine {
                        index,
                        path: journal.to_owned(),
                        error: Box::new(error),
                    }));
                    return;
                }
                Ok(Err(error)) => Outcome::NotFlown(error),
                Err(payload) => Outcome::Panicked(panic_message(&*payload)),
            };
            let flight_time = match &outcome {
                Outcome::Flown(summary) => summary.flight_time,
                _ => 0.0,
            };
            let row = Finished {
                index,
                cells: outcome::cells(&outcome, self.codes),
                flight_time,
            };
            if rows.send(Ok(row)).is_err() {
                return;
            }
        }
    }

    /// One flight; `None` if it was dropped.
    fn fly(
        &self,
        index: u64,
        failed: &AtomicBool,
        plugin: Option<&(String, Plugin)>,
    ) -> Result<Option<Summary>, FlightError> {
        let stopped = || self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        if stopped() {
            return Ok(None);
        }
        let configuration = self.plan.configuration(index)?;
        let backend = match plugin {
            Some((name, plugin)) if *name == configuration.backend.plugin => {
                backend::configure_plugin(&configuration, plugin, false)?
            }
            _ => backend::load(&configuration, self.search, false)?,
        };
        fly(&configuration, backend, stopped)
    }
}

fn fly(
    configuration: &Configuration,
    backend: backend::Backend,
    stopped: impl Fn() -> bool,
) -> Result<Option<Summary>, FlightError> {
    let mut sink = Discard;
    let mut flight = Flight::new(configuration, backend, &mut sink)?;
    loop {
        if let Some(end) = flight.tick() {
            return Ok(Some(flight.finish(end)));
        }
        if stopped() {
            return Ok(None);
        }
    }
}

/// Writes rows as they arrive, several at a time.
fn write(
    journal: &mut Journal,
    finished: &Receiver<Result<Finished, SweepError>>,
    progress: &mut dyn FnMut(u64),
) -> Result<Speed, SweepError> {
    let mut speed = Speed::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut due = Instant::now() + PERIOD;
    let (mut over, mut failure) = (false, None);
    while !over {
        match finished.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(Ok(row)) => {
                if batch.is_empty() {
                    due = Instant::now() + PERIOD;
                }
                speed.flights += 1;
                speed.flight_time += row.flight_time;
                batch.push((row.index, row.cells));
            }
            Ok(Err(error)) => (over, failure) = (true, Some(error)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => over = true,
        }
        if over || batch.len() >= BATCH || Instant::now() >= due {
            if !batch.is_empty() {
                journal.append(&batch)?;
                batch.clear();
            }
            due = Instant::now() + PERIOD;
            progress(journal.rows());
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(speed),
    }
}

/// CPU time of this process over all cores, s.
fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
