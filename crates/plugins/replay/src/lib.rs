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
//! allow_truncated = false  # whether the whole frames of a truncated or damaged log are replayed
//! memory_mb = 512          # memory that reading the log may take
//!
//! [backend.replay.motors]  # for a ULog without thrusts and positions of its motors
//! thrust_max = 8.0         # N at full output
//! hover = 0.5              # output at which the recorded vehicle hovers
//! order = [2, 1, 3, 0]     # for every configured rotor, the recorded motor
//! ```
//!
//! A log of this program comes back frame by frame, bit for bit, ticks without data included: a controller of the same
//! configuration gives the same commands. The commands of the log are the signals `recorded.<command>` of the same frame,
//! and the commands of the backend are those of the log. Control begins where that of the flight began: the frames before, of a vehicle that
//! stands, is armed and takes off, only feed the estimator.
//!
//! A ULog is resampled on a regular grid (see `fly_log::recording`), as is a log that was converted from one; the reference is the one in the log
//! (`setpoint.*`), the commands are those of the configured vehicle, and the recorded motors are converted to them as the
//! [report](fly_hal::Backend::report) says.
//!
//! The whole log is checked when the backend is configured, and read again while it is replayed: a long log takes no more memory than a
//! short one.

mod ground;
mod motors;
mod settings;

use std::io;
use std::ops::Range;
use std::path::Path;

use fly_hal::Spanned;
use fly_hal::signal::{recorded, recorded_command};
use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, ErrorKind, FrameMut, GroupStatus,
    Info, ReadOutcome,
};
use fly_log::{LogError, Motors, Options, Recording, Status, Stream};
use fly_mechanics::Vehicle;

use motors::Thrusts;
use settings::Settings;

/// A recording being replayed.
#[derive(Debug)]
pub struct Replay {
    description: Description,
    stream: Stream,
    /// The next tick; `None` after the last one.
    next: Option<Tick>,
    /// Time of the last tick to replay, ns.
    until: i64,
    thrusts: Option<Thrusts>,
    report: Vec<(String, String)>,
}

/// An owned tick.
#[derive(Debug, Default)]
struct Tick {
    time: i64,
    status: Status,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
}

impl Backend for Replay {
    const INFO: Info = Info {
        name: "replay",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a recorded flight: logs of fly and PX4 ULog",
        clock: Clock::Stepped,
        signals: "pose.* twist.* joint.{i}.* imu.* motion_capture.* gnss.* barometer.* magnetometer.* airspeed.* range.* battery.* vehicle.armed setpoint.* recorded.rotor.{i}.* recorded.motor.{i}.effort \
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
        let mut options = Options {
            allow_truncated: settings.allow_truncated,
            ..Options::default()
        };
        if let Some(memory) = &settings.memory_mb {
            options.memory = u64::from(*memory.get_ref()) * 1_000_000;
        }
        let recording = Recording::stream(&path, &options)
            .map_err(|error| explain(&error, &settings, log.span()))?;
        for skipped in &recording.skipped {
            tracing::warn!("{}: {skipped}", path.display());
        }
        let mut report = describe(&recording, &path);
        let [from, until] = range(&recording, &settings)?;
        let [beginning, last] = [recording.frames.first(), recording.frames.last()];
        let (mut description, thrusts) = if recording.is_foreign() {
            foreign(&recording, configuration, &settings, &mut report)?
        } else {
            (own(&recording, log.span())?, None)
        };
        let own = recording.header.filter(|header| header.origin.is_none());
        let is_own = own.is_some();
        description.configuration = own.map(|header| header.configuration);
        let mut replay = Self {
            description,
            stream: recording.frames,
            next: Some(Tick::default()),
            until,
            thrusts,
            report,
        };
        replay.advance(from)?;
        let Some(first) = &replay.next else {
            let span = settings.until.as_ref().map_or(0..0, Spanned::span);
            let message = "expected frames between `from` and `until`, found none";
            return Err(Error::configuration(message).in_configuration(span));
        };
        // The reference of another program's log is in its frames.
        let began = (replay.description.control_began).filter(|began| is_own && *began <= last);
        match began {
            Some(began) if began > until => {
                return Err(late_control(began.saturating_sub(beginning), &settings));
            }
            Some(began) if began < first.time => {
                replay.description.starts_in_motion = true;
                let late = first.time.saturating_sub(began) as f64 * 1e-9;
                tracing::warn!(
                    "{}: the replay begins {late:.3} s after the control of the flight: what the law remembers begins anew there",
                    path.display()
                );
            }
            Some(_) => {}
            None => {
                if let Some(until) = ground::until(&path, &options, first.time) {
                    let until = until.saturating_sub(beginning) as f64 * 1e-9;
                    tracing::warn!(
                        "{}: it does not tell when control began, and its vehicle is not commanded until {until:.3} s: the replay controls from \
                         its first frame on; `backend.replay.from = {until:.3}` leaves out what was before",
                        path.display()
                    );
                }
            }
        }
        replay.description.control_began = began.filter(|began| *began != first.time);
        Ok(replay)
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let Some(tick) = &self.next else {
            return Ok(ReadOutcome::End);
        };
        *frame.time = tick.time;
        frame.values.copy_from_slice(&tick.values);
        frame.groups.copy_from_slice(&tick.groups);
        let outcome = match tick.status {
            Status::Fresh => ReadOutcome::Fresh,
            Status::None => ReadOutcome::None,
        };
        self.advance(i64::MIN)?;
        Ok(outcome)
    }

    /// Discards the commands: a recording does not respond to them.
    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }

    fn report(&self) -> Vec<(String, String)> {
        self.report.clone()
    }
}

fly_hal::export_backend!(Replay);

impl Replay {
    /// Reads the next tick at or after this time.
    fn advance(&mut self, from: i64) -> Result<(), Error> {
        let Some(mut tick) = self.next.take() else {
            return Ok(());
        };
        let unreadable = |error: io::Error| {
            Error::new(
                ErrorKind::Io,
                format!("the log cannot be read any more: {error}"),
            )
        };
        while let Some(frame) = self.stream.read().map_err(unreadable)? {
            if frame.time < from {
                continue;
            }
            if frame.time > self.until {
                break;
            }
            (tick.time, tick.status) = (frame.time, frame.status);
            tick.values.clear();
            tick.values.extend_from_slice(frame.values);
            tick.groups.clear();
            tick.groups.extend_from_slice(frame.groups);
            if let Some(thrusts) = &mut self.thrusts {
                let first = tick.values.len();
                tick.values
                    .resize(self.description.frame_signals().count(), f64::NAN);
                let commands = &mut tick.values[first..];
                thrusts.commands(frame.motors, commands);
                let valid = commands.iter().all(|command| command.is_finite());
                tick.groups.push(GroupStatus {
                    stamp: frame.time,
                    valid,
                });
            }
            self.next = Some(tick);
            break;
        }
        Ok(())
    }
}

/// Kind, length and defects of the recording, for the summary.
fn describe(recording: &Recording<Stream>, path: &Path) -> Vec<(String, String)> {
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
    // A replay follows the recording to its end, however that was.
    let outcome = recording
        .run
        .as_ref()
        .map_or("", |run| run.outcome.as_str());
    if !outcome.is_empty() && !recording.is_foreign() {
        line("recorded outcome", outcome.to_owned());
    }
    if !recording.skipped.is_empty() {
        line("skipped", recording.skipped.join("; "));
    }
    report.extend(recording.notes.iter().cloned());
    report
}

/// Times of the first and the last frame to replay, ns.
fn range(recording: &Recording<Stream>, settings: &Settings) -> Result<[i64; 2], Error> {
    let first = recording.frames.first();
    let duration = recording.duration();
    let check = |value: &Option<Spanned<f64>>| match value {
        Some(value) if !(0.0..=duration).contains(value.get_ref()) => {
            let found = value.get_ref();
            let message = format!(
                "expected a time within the recording, 0 to {duration:.3} s, found {found}"
            );
            Err(Error::configuration(message).in_configuration(value.span()))
        }
        // Whole nanoseconds, so that 0.7 s selects the frame at 0.7 s.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be within the recording"
        )]
        Some(value) => Ok(Some(first + (value.get_ref() * 1e9).round() as i64)),
        None => Ok(None),
    };
    Ok([
        check(&settings.from)?.unwrap_or(i64::MIN),
        check(&settings.until)?.unwrap_or(i64::MAX),
    ])
}

/// The replay ends before the control of the flight begins, so long after the first frame (ns).
fn late_control(began: i64, settings: &Settings) -> Error {
    let span = settings.until.as_ref().map_or(0..0, Spanned::span);
    let message = format!(
        "expected a time after control of the recorded flight began, {:.3} s after its first frame, found {}",
        began as f64 * 1e-9,
        settings
            .until
            .as_ref()
            .map_or(0.0, |until| *until.get_ref()),
    );
    Error::configuration(message).in_configuration(span)
}

/// A log of this program: all frames as recorded.
fn own(recording: &Recording<Stream>, log: Range<usize>) -> Result<Description, Error> {
    let (path, description) = (&recording.path, recording.description.clone());
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
    description.with_signals(commands)
}

/// The log of another program: its motors become commands of the configured vehicle.
fn foreign(
    recording: &Recording<Stream>,
    configuration: &Configuration,
    settings: &Settings,
    report: &mut Vec<(String, String)>,
) -> Result<(Description, Option<Thrusts>), Error> {
    let vehicle = Vehicle::from_toml(configuration.vehicle)
        .map_err(|error| Error::configuration(error.to_string()).in_vehicle(error.span.clone()))?;
    let names = vehicle.rotors.command_names();
    let mut description = recording.description.clone();
    let motors = recording.motors.as_ref();
    let as_ordered = settings.motors.order.is_some();
    let comparable = |motors: &&Motors| as_ordered || motors::lift(motors);
    if let Some(motors) = motors.filter(|motors| !comparable(motors)) {
        let none = format!(
            "{} that do not lift: no thrusts of the configured rotors to compare with",
            motors.count
        );
        report.push(("recorded motors".into(), none));
    }
    let motors = motors.filter(comparable);
    let thrusts = motors.map(|motors| Thrusts::new(motors, &vehicle, &settings.motors));
    let thrusts = thrusts.transpose()?;
    if let Some(thrusts) = &thrusts {
        report.push(("recorded motors".into(), thrusts.words.clone()));
        description = description.with_signals(names.iter().map(|name| recorded(name)))?;
    }
    Ok((description.with_signals(names)?, thrusts))
}

/// Locates the log's error at the key with its path.
fn explain(error: &LogError, settings: &Settings, log: Range<usize>) -> Error {
    let kind = match error {
        LogError::Open { .. } => ErrorKind::Io,
        _ => ErrorKind::Configuration,
    };
    let ours = Error::new(kind, error.to_string()).in_configuration(log);
    match error {
        LogError::Truncated { .. } | LogError::Corrupt { .. } if settings.allow_truncated => {
            ours.with_help("`fly log check` shows what is left of it")
        }
        LogError::Truncated { .. } | LogError::Corrupt { .. } => ours.with_help(
            "set `backend.replay.allow_truncated = true` to replay the frames that are whole; `fly log check` shows the damage",
        ),
        _ => ours,
    }
}
