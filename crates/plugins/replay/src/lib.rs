//! A recorded flight as a backend: the controller gets its frames again, together with the recorded commands.
//!
//! ```toml
//! [backend]
//! plugin = "replay"
//!
//! [backend.replay]
//! log = "flight.mcap"      # a log of this program, or a PX4 ULog
//! from = 2.0               # s after the first frame; optional, as all that follows
//! until = 10.0             # s after the first frame
//! allow_truncated = false  # whether the complete frames of a truncated log are replayed
//!
//! [backend.replay.motors]  # for a ULog without thrusts and positions of its motors
//! thrust_max = 8.0         # N at full output
//! hover = 0.5              # output at which the recorded vehicle hovers
//! order = [2, 1, 3, 0]     # for every configured rotor, the recorded motor
//! ```
//!
//! A log of this program comes back frame by frame, bit for bit, ticks without data included: a controller of the same
//! configuration gives the same commands. The commands of the log are the signals `recorded.<command>` of the same frame,
//! and the commands of the backend are those of the log.
//!
//! A ULog is resampled on a regular grid (see `fly_log::recording`); the reference is the one in the log
//! (`setpoint.*`), the commands are those of the configured vehicle, and the recorded motors are converted to them as the
//! [report](fly_hal::Backend::report) says.
//!
//! Everything is read and converted when the backend is configured; a tick copies a few numbers.

mod motors;
mod settings;

use std::ops::Range;
use std::path::Path;

use fly_hal::signal::{recorded, recorded_command};
use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, ErrorKind, FrameMut, GroupStatus,
    Info, ReadOutcome,
};
use fly_log::{Frames, Kind, LogError, Options, Recording, Status};
use fly_mechanics::Vehicle;
use toml::Spanned;

use settings::Settings;

/// A recording that is being replayed.
#[derive(Debug)]
pub struct Replay {
    description: Description,
    frames: Frames,
    next: usize,
    end: usize,
    report: Vec<(String, String)>,
}

impl Backend for Replay {
    const INFO: Info = Info {
        name: "replay",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a recorded flight: logs of fly and PX4 ULog",
        clock: Clock::Stepped,
        signals: "pose.* twist.* joint.{i}.* battery.* vehicle.armed setpoint.* recorded.rotor.{i}.* recorded.motor.{i}.effort \
                  rotor.{i}.thrust rotor.{i}.tilt motor.{i}.effort",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let settings: Settings = configuration.settings()?;
        let Some(log) = &settings.log else {
            return Err(
                Error::configuration("missing key `log`: the recorded flight to replay")
                    .in_configuration(0..configuration.text.len())
                    .with_help("set it with `--set backend.replay.log=PATH`"),
            );
        };
        let path = configuration.resolve_path(log.span().start, log.get_ref())?;
        let options = Options {
            allow_truncated: settings.allow_truncated,
        };
        let recording =
            Recording::open(&path, &options).map_err(|error| explain(&error, log.span()))?;
        for skipped in &recording.skipped {
            tracing::warn!("{}: {skipped}", path.display());
        }
        let mut report = describe(&recording, &path);
        let range = range(&recording, &settings)?;
        let recorded = (recording.header.as_ref()).map(|header| header.configuration.clone());
        let (mut description, frames) = match recording.kind {
            Kind::Own => own(recording, log.span())?,
            Kind::Ulog => ulog(recording, configuration, &settings, &mut report)?,
        };
        description.configuration = recorded;
        Ok(Self {
            description,
            frames,
            next: range.start,
            end: range.end,
            report,
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let Some(recorded) = self.frames.get(self.next).filter(|_| self.next < self.end) else {
            return Ok(ReadOutcome::End);
        };
        self.next += 1;
        *frame.time = recorded.time;
        frame.values.copy_from_slice(recorded.values);
        frame.groups.copy_from_slice(recorded.groups);
        Ok(match recorded.status {
            Status::Fresh => ReadOutcome::Fresh,
            Status::None => ReadOutcome::None,
        })
    }

    /// Drops the commands: a recording does not respond to them.
    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }

    fn report(&self) -> Vec<(String, String)> {
        self.report.clone()
    }
}

fly_hal::export_backend!(Replay);

/// Kind, length and defects of the recording, for the summary.
fn describe(recording: &Recording, path: &Path) -> Vec<(String, String)> {
    let mut report = Vec::new();
    let mut line = |name: &str, text: String| report.push((name.to_owned(), text));
    line(
        "recording",
        format!("{} `{}`", recording.kind.name(), path.display()),
    );
    let frames = recording.frames.len();
    line(
        "recorded",
        format!("{:.3} s, {frames} frames", recording.duration()),
    );
    if !recording.skipped.is_empty() {
        line("skipped", recording.skipped.join("; "));
    }
    report.extend(recording.notes.iter().cloned());
    report
}

/// The frames between `from` and `until`.
fn range(recording: &Recording, settings: &Settings) -> Result<Range<usize>, Error> {
    let times = recording.frames.times();
    let first = times.first().copied().unwrap_or_default();
    let duration = recording.duration();
    let check = |value: &Option<Spanned<f64>>| match value {
        Some(value) if !(0.0..=duration).contains(value.get_ref()) => {
            let found = value.get_ref();
            let message = format!(
                "expected a time within the recording, 0 to {duration:.3} s, found {found}"
            );
            Err(Error::configuration(message).in_configuration(value.span()))
        }
        // Whole nanoseconds, so that 0.7 s means the frame at 0.7 s.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be within the recording"
        )]
        Some(value) => Ok(Some(first + (value.get_ref() * 1e9).round() as i64)),
        None => Ok(None),
    };
    let start = check(&settings.from)?.map_or(0, |from| times.partition_point(|&time| time < from));
    let end = check(&settings.until)?.map_or(times.len(), |until| {
        times.partition_point(|&time| time <= until)
    });
    if start >= end {
        let span = settings.until.as_ref().map_or(0..0, Spanned::span);
        let message = "expected frames between `from` and `until`, found none";
        return Err(Error::configuration(message).in_configuration(span));
    }
    Ok(start..end)
}

/// A log of this program: all frames as recorded.
fn own(recording: Recording, log: Range<usize>) -> Result<(Description, Frames), Error> {
    let Recording {
        path,
        description,
        frames,
        ..
    } = recording;
    let faults = description.faults();
    if !faults.is_empty() {
        let message = format!(
            "`{}` has unknown signals: {}",
            path.display(),
            faults.join("; ")
        );
        return Err(Error::configuration(message).in_configuration(log));
    }
    let names = description.signals.iter().map(|signal| &signal.name);
    let commands: Vec<_> = names
        .filter_map(|name| recorded_command(name).map(str::to_owned))
        .collect();
    Ok((description.with_signals(commands)?, frames))
}

/// A ULog: its motors become commands of the configured vehicle.
fn ulog(
    recording: Recording,
    configuration: &Configuration,
    settings: &Settings,
    report: &mut Vec<(String, String)>,
) -> Result<(Description, Frames), Error> {
    let vehicle = Vehicle::from_toml(configuration.vehicle)
        .map_err(|error| Error::configuration(error.to_string()).in_vehicle(error.span.clone()))?;
    let names = vehicle.rotors.command_names();
    let mut description = recording.description;
    let thrusts = match &recording.motors {
        Some(motors) => Some(motors::thrusts(motors, &vehicle, &settings.motors)?),
        None => None,
    };
    if let Some(thrusts) = &thrusts {
        report.push(("recorded motors".into(), thrusts.words.clone()));
        description = description.with_signals(names.iter().map(|name| recorded(name)))?;
    }
    description = description.with_signals(names)?;
    let Some(thrusts) = thrusts else {
        return Ok((description, recording.frames));
    };
    let mut frames = Frames::new(
        description.frame_signals().count(),
        description.groups.len(),
    );
    let (mut values, mut groups) = (Vec::new(), Vec::new());
    for (frame, commands) in recording
        .frames
        .iter()
        .zip(thrusts.commands.chunks_exact(names.len()))
    {
        values.clear();
        values.extend_from_slice(frame.values);
        values.extend_from_slice(commands);
        groups.clear();
        groups.extend_from_slice(frame.groups);
        let valid = commands.iter().all(|command| command.is_finite());
        groups.push(GroupStatus {
            stamp: frame.time,
            valid,
        });
        frames.push(frame.time, frame.status, &values, &groups);
    }
    Ok((description, frames))
}

/// The log's error, at the key with its path.
fn explain(error: &LogError, log: Range<usize>) -> Error {
    let kind = match error {
        LogError::Open { .. } => ErrorKind::Io,
        LogError::Truncated { .. } | LogError::Corrupt { .. } => ErrorKind::Protocol,
        _ => ErrorKind::Configuration,
    };
    let ours = Error::new(kind, error.to_string()).in_configuration(log);
    match error {
        LogError::Truncated { frames, .. } if *frames > 0 => {
            ours.with_help("set `allow_truncated = true` to replay the frames that are complete")
        }
        _ => ours,
    }
}
