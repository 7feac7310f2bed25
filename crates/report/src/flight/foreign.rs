//! Reads the log of another program, such as a PX4 ULog: the flown path, setpoints and motors, without energies or a verdict.

use std::path::Path;

use fly_log::{LogError, Motors, Options, Recording, Status};

use super::Flight;
use super::collect::Collector;
use super::places::Places;
use super::row::{Pose, Row};
use crate::error::ReportError;
use fly_mechanics::scene::{RotorShape, Scene, Shape};

/// Reads the whole log.
///
/// # Errors
/// As [`Flight::open`].
pub fn read(path: &Path) -> Result<Flight, ReportError> {
    let options = Options {
        allow_truncated: true,
        ..Options::default()
    };
    let mut recording = Recording::stream(path, &options)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (count, duration) = (recording.frames.len(), recording.duration());
    let rate = if duration > 0.0 {
        (count.saturating_sub(1)) as f64 / duration
    } else {
        1.0
    };
    let motors = recording.motors.as_ref();
    let scene = motors.map_or_else(
        || Scene::unknown(vec![name.to_string()]),
        |motors| of_motors(&name, motors),
    );
    let signals: Vec<_> = recording
        .description
        .signals
        .iter()
        .cloned()
        .enumerate()
        .collect();
    let places = Places::new(&signals, &recording.description.groups, &[]);
    let mut collector = Collector::new(path, recording.kind, rate, scene);
    let flight = &mut collector.flight;
    flight.name = name.to_string();
    let count = motors.map_or(0, |motors| motors.count);
    flight.commands = (0..count)
        .map(|i| (format!("motor {i}"), "1".to_owned()))
        .collect();
    flight.limits = vec![[0.0, 1.0]; count];
    flight.notes = (recording.notes.iter())
        .map(|(what, text)| format!("{what}: {text}"))
        .chain(
            recording
                .skipped
                .iter()
                .map(|line| format!("damaged: {line}")),
        )
        .collect();
    let start = recording.frames.first();
    let mut row = Row::default();
    let (mut valid, mut stamps) = (Vec::new(), Vec::new());
    loop {
        let frame = recording.frames.read().map_err(|source| LogError::Open {
            path: path.into(),
            source,
        })?;
        let Some(frame) = frame else { break };
        let seconds = |time: i64| time.saturating_sub(start) as f64 * 1e-9;
        row.clear(seconds(frame.time));
        row.fresh = frame.status == Status::Fresh;
        valid.clear();
        valid.extend(frame.groups.iter().map(|group| group.valid));
        stamps.clear();
        stamps.extend(frame.groups.iter().map(|group| seconds(group.stamp)));
        places.read(frame.values, &valid, &stamps, &mut row);
        places.read_state(frame.values, &valid, &mut row);
        row.bodies.extend(row.pose);
        // Only a whole pose can be drawn.
        let drawn = |pose: &Pose| pose.iter().all(|value| value.is_finite());
        row.reference_bodies.extend(row.reference.filter(drawn));
        row.commands.extend_from_slice(frame.motors);
        // Frames go on over a gap in the log, with nothing measured.
        let is_gap = row.pose.is_none() && row.twist.is_none();
        if !(is_gap && row.commands.iter().all(|motor| motor.is_nan())) {
            collector.row(&row);
        }
    }
    // The flight was not controlled by this program's law, but it followed setpoints.
    collector.finish()
}

/// The vehicle described by the autopilot's parameters: the positions and axes of its motors.
fn of_motors(name: &str, motors: &Motors) -> Scene {
    let mut scene = Scene::unknown(vec![name.to_owned()]);
    let reach = |x: f64, y: f64| x.hypot(y);
    let all = motors.geometry.iter().map(|motor| reach(motor.x, motor.y));
    let size = all.fold(0.0, f64::max);
    if size <= 0.0 || !size.is_finite() {
        return scene;
    }
    scene.size = size;
    let hub = Shape::hub(size);
    let bars = motors.geometry.iter().map(|motor| Shape::Rod {
        from: [0.0; 3],
        to: [motor.x, motor.y, motor.z],
        radius: 0.035 * size,
    });
    scene.bodies[0].shapes = (std::iter::once(hub).chain(bars)).map(Into::into).collect();
    let rotors = motors.geometry.iter().enumerate();
    scene.rotors = rotors
        .map(|(i, motor)| RotorShape {
            name: format!("motor {i}"),
            body: 0,
            position: [motor.x, motor.y, motor.z],
            axis: motor.axis,
            tilt: None,
            radius: 0.55 * size,
            max_thrust: 1.0,
        })
        .collect();
    scene
}
