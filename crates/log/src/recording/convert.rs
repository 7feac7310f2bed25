//! Converts a ULog to a log of this program.

use std::io::{Seek, Write};

use fly_hal::{Class, GroupStatus, Signal};

use super::{Frame, Recording, Stream};
use crate::error::LogError;
use crate::writer::{Item, McapLog, Row, reason};
use crate::{FlightHeader, Header, Origin, RunMetadata};

/// Group and first component of the motors' signals.
pub const MOTOR: &str = "motor";

/// The signal of a motor.
pub fn motor(index: usize) -> String {
    format!("{MOTOR}.{index}")
}

/// The group of the motors in this tick, if there are any.
pub fn motors_status(frame: &Frame) -> Option<GroupStatus> {
    (!frame.motors.is_empty()).then(|| GroupStatus {
        stamp: frame.time,
        valid: frame.motors.iter().all(|value| value.is_finite()),
    })
}

/// Writes a recording as a log of this program: its ticks with their signals and groups, and the motors of a ULog as
/// the signals `motor.0`, `motor.1` and so on. Read again, it is the same recording, with its notes. A recording of this
/// program loses everything outside its ticks; [`copy`](super::copy) keeps it.
///
/// # Errors
/// [`LogError::Open`] if the recording cannot be read any more, [`LogError::Write`] if `to` cannot be written.
pub fn convert(mut recording: Recording<Stream>, to: impl Write + Seek) -> Result<(), LogError> {
    let path = recording.path.clone();
    let failed = |error: mcap::McapError| LogError::Write {
        path: path.clone(),
        reason: reason(&error),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let count = recording.frames.len();
    let duration = recording.duration();
    let rate = (count.saturating_sub(1)) as f64 / duration;
    let motors = recording.motors.as_ref().map_or(0, |motors| motors.count);
    let mut description = recording.description.clone();
    if motors > 0 {
        let group = description.groups.len();
        description.groups.push(MOTOR.to_owned());
        description.signals.extend((0..motors).map(|i| Signal {
            name: motor(i),
            unit: "1".to_owned(),
            class: Class::Auxiliary,
            group: Some(group),
        }));
    }
    let header = Header {
        flight: FlightHeader {
            vehicle_name: name.into_owned(),
            backend: recording.kind.name().to_owned(),
            rate_hz: if rate.is_finite() { rate } else { 0.0 },
            start: recording.frames.first(),
            origin: Some(Origin {
                skipped: recording.skipped,
                notes: recording.notes,
                motors: recording.motors,
            }),
            ..FlightHeader::default()
        },
        description,
        ..Header::default()
    };
    let mut log = McapLog::new(to, &header).map_err(failed)?;
    let (mut values, mut groups) = (Vec::new(), Vec::new());
    loop {
        let frame = recording.frames.read().map_err(|source| LogError::Open {
            path: path.clone(),
            source,
        })?;
        let Some(frame) = frame else { break };
        values.clear();
        values.extend_from_slice(frame.values);
        values.extend_from_slice(frame.motors);
        groups.clear();
        groups.extend_from_slice(frame.groups);
        groups.extend(motors_status(&frame));
        let row = Row {
            time: frame.time,
            status: frame.status,
            mode: 0,
            values: &values,
            groups: &groups,
            state: None,
            system: None,
            estimate: None,
            control: None,
            commands: None,
        };
        log.write(&Item::Row(row)).map_err(failed)?;
    }
    let run = RunMetadata {
        outcome: "recorded".to_owned(),
        ..RunMetadata::default()
    };
    log.finish(Some(&(run, 0))).map_err(failed)?;
    Ok(())
}
