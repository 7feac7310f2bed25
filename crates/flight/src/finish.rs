//! The end of a flight: the backend stopped, the log finished, the summary made.

use fly_hal::{ErrorKind, Request};
use fly_log::RunMetadata;

use super::pilot::seconds;
use super::session::Flight;
use super::supervisor::{Mode, Report};
use super::{End, Outcome};
use crate::summary::Summary;

impl Flight {
    /// Stops the backend, finishes the log and sums up. What fails here is told in the outcome.
    pub fn finish(mut self, end: End) -> Outcome {
        let _messages = self.messages.enter();
        // A flight that was given up is none that was flown, whatever ended the descent.
        let given_up = self.pilot.supervisor().report().given_up.is_some();
        let end = match end {
            End::Completed | End::OutOfFrames | End::Interrupted if given_up => End::SafetyStop,
            end => end,
        };
        let wall_time = self.began.elapsed().as_secs_f64();
        let flight_time = self.flight_time();
        let rate = self.mean_rate();
        if let End::Backend(message) = &end {
            tracing::error!("the backend `{}` ended the flight: {message}", self.backend);
        }
        if self.sending {
            self.let_go();
        }
        if let Err(error) = self.instance.stop() {
            self.warn(format!("the backend did not stop in order: {error}"));
        }
        let backend_report = self.instance.report();
        let supervisor = self.supervisor_lines();
        let last = self.last.unwrap_or(0);
        self.messages
            .drain(|message| self.recorder.message(last, message));
        let run = RunMetadata {
            step_median: self.step_times.percentile(0.5).unwrap_or(0),
            step_p99: self.step_times.percentile(0.99).unwrap_or(0),
            step_max: self.step_times.max(),
            real_time_factor: if wall_time > 0.0 {
                flight_time / wall_time
            } else {
                0.0
            },
            wall_start: self.wall_start.to_string(),
            host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            versions: format!("fly {}, {}", env!("CARGO_PKG_VERSION"), self.backend),
            outcome: end.describe(),
        };
        let log = self.recorder.finish(run);
        if self.read_errors > 0 {
            self.notes
                .push(format!("{} reads of the backend failed", self.read_errors));
        }
        if self.write_errors > 0 {
            self.notes.push(format!(
                "{} commands were not passed on by the backend",
                self.write_errors
            ));
        }
        let [infeasible, unfinished] = self.not_optimal;
        if infeasible > 0 {
            self.notes.push(format!(
                "in {infeasible} steps no input was within all limits: the nearest to them was commanded"
            ));
        }
        if unfinished > 0 {
            self.notes.push(format!(
                "in {unfinished} steps the solver ran out of iterations: an input within the limits was commanded, but not the nearest"
            ));
        }
        let lost = self.messages.lost();
        if lost > 0 {
            self.notes.push(format!(
                "{lost} messages are missing in the log: too many at once"
            ));
        }
        let summary = Summary {
            name: self.name,
            end: end.describe(),
            flight_time,
            wall_time,
            rate,
            real_time: self.real_time,
            errors: self.pilot.craft().error_names(),
            statistics: self.statistics,
            energy: self.energy.map(|watch| watch.report().to_string()),
            step_times: self.step_times,
            solver_fallbacks: self.solver_fallbacks,
            reference: self.pilot.guidance().describe(&self.reference_kind),
            supervisor,
            backend: self.backend,
            backend_report,
            comparison: self.comparison,
            log,
            notes: self.notes,
        };
        Outcome { end, summary }
    }

    /// Says what becomes of a vehicle that nobody commands any more.
    fn let_go(&mut self) {
        if self.pilot.supervisor().mode() == Mode::Ended {
            // What `safety` says: the descent is over, or there was to be none.
            match self.instance.request(Request::Terminate) {
                Ok(()) => {}
                Err(error) if error.kind == ErrorKind::Unsupported => tracing::debug!("{error}"),
                Err(error) => self.warn(format!("the backend could not be terminated: {error}")),
            }
        } else if self.real_time && self.pilot.commands().is_none() {
            // Armed, and never flown.
            if let Err(error) = self.instance.disarm() {
                self.warn(format!("the vehicle could not be disarmed: {error}"));
            }
        } else if self.real_time
            && let Err(error) = self.instance.request(Request::Land)
        {
            // However the flight ended, it may be in the air: the motors are not for us to stop.
            self.warn(format!(
                "nobody commands the vehicle any more, and it was not told to land: {error}"
            ));
        }
    }

    /// Ticks per second, Hz; 0 when there was only one.
    fn mean_rate(&self) -> f64 {
        let span = self
            .first
            .zip(self.last)
            .map_or(0.0, |(first, last)| seconds(last.saturating_sub(first)));
        if span > 0.0 {
            (self.ticks - 1) as f64 / span
        } else {
            0.0
        }
    }

    fn warn(&mut self, message: String) {
        tracing::warn!("{message}");
        self.notes.push(message);
    }

    /// What the supervisor did, a line each.
    fn supervisor_lines(&self) -> Vec<String> {
        let Report {
            dropouts,
            longest_dropout,
            pauses,
            given_up,
        } = *self.pilot.supervisor().report();
        let mut lines = Vec::new();
        if dropouts > 0 {
            let plural = if dropouts == 1 { "dropout" } else { "dropouts" };
            lines.push(format!(
                "{dropouts} {plural} bridged, the longest of {:.0} ms",
                seconds(longest_dropout) * 1e3
            ));
        }
        if pauses > 0 {
            lines.push(format!("{pauses} gaps of the recording skipped"));
        }
        if let Some((time, fault)) = given_up {
            let at = seconds(time.saturating_sub(self.first.unwrap_or(time)));
            lines.push(format!("given up at {at:.3} s: {}", self.describe(fault)));
        }
        lines
    }
}
