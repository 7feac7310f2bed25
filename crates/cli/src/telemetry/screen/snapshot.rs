//! What is known of a flight at one moment, in the units that people read.

use std::collections::VecDeque;
use std::time::Instant;

use fly_flight::Punctuality;
use fly_flight::supervisor::Mode;
use fly_lie::SO3;
use fly_lie::attitude::{Euler, EulerSequence};
use fly_mechanics::scene::single_joints;
use fly_report::flight::{Event, Flight, LiveFlight, Pose, Row};
use nalgebra::Vector4;

/// Messages that are looked at.
const MESSAGES: usize = 50;
/// How much of the past is looked at, s.
pub const PAST: f64 = 10.0;
/// Bodies that are listed where nothing else is known of the flight.
const BODIES: usize = 20;
/// Messages that are not shown.
const SILENT: &str = "debug";
/// How near its limit an input is at it, in parts of its range: OSQP comes no nearer.
const NEAR: f64 = 1e-3;

/// What does not change.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// s; `None`: until somebody ends it.
    pub duration: Option<f64>,
    /// For the last line.
    pub note: Option<String>,
}

/// A flight at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub name: String,
    /// Flight time, s.
    pub time: f64,
    pub duration: Option<f64>,
    pub mode: Option<ModeNow>,
    pub state: Vec<Quantity>,
    pub errors: Vec<ErrorNow>,
    pub inputs: Vec<Input>,
    /// Each a label and what is said of it.
    pub timing: Vec<[String; 2]>,
    /// Simulated seconds per second.
    pub pace: Option<f64>,
    /// The oldest first.
    pub messages: Vec<Event>,
    pub note: Option<String>,
}

/// Who flies.
#[derive(Clone, Debug)]
pub struct ModeNow {
    pub name: String,
    /// Flight time at which it began, s.
    pub since: f64,
    /// The supervisor has taken over.
    pub is_alarm: bool,
}

/// Numbers of one unit.
#[derive(Clone, Debug)]
pub struct Quantity {
    pub name: String,
    pub values: Vec<f64>,
    pub unit: &'static str,
}

/// A distance from the reference.
#[derive(Clone, Debug)]
pub struct ErrorNow {
    pub name: &'static str,
    pub value: f64,
    pub max: Option<f64>,
    pub unit: &'static str,
    /// What it was, the oldest first; NaN where it is not known.
    pub past: Vec<f64>,
}

/// An input and its limits; NaN where nobody says.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: String,
    pub value: f64,
    pub limits: [f64; 2],
    pub unit: String,
}

impl Input {
    /// `min` or `max` where it is at that limit.
    pub fn at(&self) -> Option<&'static str> {
        let [low, high] = self.limits;
        let near = NEAR * (high - low);
        if self.value >= high - near {
            Some("max")
        } else if self.value <= low + near {
            Some("min")
        } else {
            None
        }
    }
}

impl Snapshot {
    /// Before the flight has begun.
    pub fn waiting(about: &About) -> Self {
        Self {
            name: "the flight has not begun yet".to_owned(),
            duration: about.duration,
            note: about.note.clone(),
            ..Self::default()
        }
    }

    /// As it is now.
    pub fn new(live: &LiveFlight, about: &About, times: Punctuality) -> Self {
        let flight = live.flight();
        let mut messages: Vec<Event> = (live.messages().rev())
            .filter(|event| event.level != SILENT)
            .take(MESSAGES)
            .cloned()
            .collect();
        messages.reverse();
        let mut snapshot = Self {
            name: flight.name.clone(),
            messages,
            timing: timing(flight, live.latest(), times),
            ..Self::waiting(about)
        };
        if snapshot.name.is_empty() {
            "flight".clone_into(&mut snapshot.name);
        }
        let Some(row) = live.latest() else {
            return snapshot;
        };
        snapshot.time = row.time;
        snapshot.mode = mode(flight, row);
        snapshot.state = state(flight, row);
        snapshot.errors = errors(flight, live.errors());
        snapshot.inputs = inputs(flight, row);
        snapshot
    }
}

fn mode(flight: &Flight, row: &Row) -> Option<ModeNow> {
    let name = row.control.as_ref().map(|control| control.mode.clone());
    let name = name.or_else(|| Some(flight.modes.last()?.1.clone()))?;
    let since = flight.modes.last().filter(|(_, last)| *last == name);
    Some(ModeNow {
        since: since.map_or(row.time, |(since, _)| *since),
        is_alarm: (Mode::ALL.iter()).any(|mode| mode.name() == name && !mode.is_usual()),
        name,
    })
}

/// Roll, pitch and yaw of a pose, degrees.
pub fn roll_pitch_yaw(pose: &Pose) -> [f64; 3] {
    let attitude = SO3::from_quaternion(&Vector4::new(pose[3], pose[4], pose[5], pose[6]));
    let Euler { angles, .. } = Euler::from_rotation(&attitude, EulerSequence::ZYX);
    let [yaw, pitch, roll] = angles.map(f64::to_degrees);
    [roll, pitch, yaw]
}

fn state(flight: &Flight, row: &Row) -> Vec<Quantity> {
    let mut state = Vec::new();
    let mut add = |name: &str, values: &[f64], unit| {
        state.push(Quantity {
            name: name.to_owned(),
            values: values.to_vec(),
            unit,
        });
    };
    if let Some(pose) = &row.pose {
        add("position", &pose[..3], "m");
    }
    if let Some(pose) = &row.reference {
        add("  ref.", &pose[..3], "m");
    }
    if let Some(pose) = &row.pose {
        add("attitude", &roll_pitch_yaw(pose), "°");
    }
    if let Some(pose) = &row.reference {
        add("  ref.", &roll_pitch_yaw(pose), "°");
    }
    if let Some(twist) = &row.twist {
        add("velocity", &twist[..3], "m/s");
        let rates = [twist[3], twist[4], twist[5]].map(f64::to_degrees);
        add("rates", &rates, "°/s");
    }
    let joints = flight.system.as_ref().map(single_joints);
    for (i, joint) in joints.unwrap_or_default().iter().enumerate() {
        let of = |numbers: &[f64]| numbers.get(i).copied().unwrap_or(f64::NAN);
        let [is, to] = [0, 1].map(|kind| of(&row.joints[kind]));
        if joint.slides {
            add(&joint.name, &[is, to], "m");
        } else {
            add(&joint.name, &[is, to].map(f64::to_degrees), "°");
        }
    }
    if row.pose.is_none() && row.joints[0].is_empty() {
        let bodies = flight.scene.bodies.iter().zip(&row.bodies);
        for (body, pose) in bodies.take(BODIES) {
            add(&body.name, &pose[..3], "m");
        }
    }
    state
}

fn errors(flight: &Flight, now: Option<[f64; 2]>) -> Vec<ErrorNow> {
    let columns = ["error.norm", "attitude_error.angle"];
    let statistics = &flight.statistics;
    let errors = (0..2).filter_map(|kind| {
        let name = statistics.error_names[kind]?;
        let shown = |value: f64| {
            if kind == 0 { value } else { value.to_degrees() }
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates: all of it"
        )]
        let cells = (PAST / flight.plots.width()).ceil() as usize;
        let past = flight.plots.find(columns[kind]).map_or(&[][..], |column| {
            &column.high[column.high.len().saturating_sub(cells)..]
        });
        let value = shown(now?[kind]);
        // The last row is not yet among those that are added up.
        let max = statistics.errors[kind].max();
        Some(ErrorNow {
            name,
            value,
            max: max.map(|max| shown(max).max(value)),
            unit: ["m", "°"][kind],
            past: past.iter().map(|value| shown(f64::from(*value))).collect(),
        })
    });
    errors.collect()
}

fn inputs(flight: &Flight, row: &Row) -> Vec<Input> {
    let all = flight.commands.iter().zip(&flight.limits).enumerate();
    let inputs = all.map(|(i, ((name, unit), limits))| {
        let value = row.commands.get(i).copied().unwrap_or(f64::NAN);
        if unit == "rad" {
            return Input {
                name: name.clone(),
                value: value.to_degrees(),
                limits: limits.map(f64::to_degrees),
                unit: "°".to_owned(),
            };
        }
        Input {
            name: name.clone(),
            value,
            limits: *limits,
            unit: unit.clone(),
        }
    });
    inputs.collect()
}

/// Times of the steps and of the deadlines, where they matter.
pub fn punctuality(times: Punctuality) -> impl Iterator<Item = [String; 2]> {
    let [last, longest] =
        [times.last_step, times.longest_step].map(|time| time.as_secs_f64() * 1e6);
    let steps = format!("{last:.0} µs, longest {longest:.0} µs");
    let steps = (!times.longest_step.is_zero()).then(|| ["step".to_owned(), steps]);
    let missed = format!("{} missed", times.deadline_misses);
    let missed = times.is_real_time.then(|| ["deadlines".to_owned(), missed]);
    steps.into_iter().chain(missed)
}

fn timing(flight: &Flight, row: Option<&Row>, times: Punctuality) -> Vec<[String; 2]> {
    let mut timing: Vec<[String; 2]> = Vec::new();
    let mut add = |label: &str, text: String| timing.push([label.to_owned(), text]);
    let statistics = &flight.statistics;
    if let Some(header) = &flight.header {
        add("rate", format!("{} Hz", header.rate_hz));
    }
    timing.extend(punctuality(times));
    let mut add = |label: &str, text: String| timing.push([label.to_owned(), text]);
    if let Some(age) = row.and_then(|row| row.age) {
        add("data age", format!("{:.1} ms", age * 1e3));
    }
    if statistics.without_data > 0 {
        add("no data", format!("in {} ticks", statistics.without_data));
    }
    if let Some(control) = row.and_then(|row| row.control.as_ref()) {
        if let (Some(total), Some(kinetic), Some(potential)) = (
            control.total_energy,
            control.kinetic_energy,
            control.potential_energy,
        ) {
            add("energy W", format!("{total:.3e} J"));
            add("  = T + V", format!("{kinetic:.2e} + {potential:.2e}"));
        }
        let (active, iterations) = (control.active_limits, control.iterations);
        if iterations > 0 || active > 0 {
            add(
                "allocation",
                format!("{active} at limits, {iterations} iter."),
            );
        }
    }
    if let Some(voltage) = row.and_then(|row| row.voltage) {
        add("battery", format!("{voltage:.2} V"));
    }
    timing
}

/// Flight time beside the clock on the wall.
#[derive(Debug, Default)]
pub struct Pace {
    seen: VecDeque<(Instant, f64)>,
}

impl Pace {
    /// Over so many looks, about two seconds.
    const LOOKS: usize = 20;

    /// Simulated seconds per second over the last looks; `None` at first.
    pub fn of(&mut self, time: f64) -> Option<f64> {
        let now = Instant::now();
        if self.seen.len() > Self::LOOKS {
            self.seen.pop_front();
        }
        self.seen.push_back((now, time));
        let (since, from) = self.seen.front()?;
        let wall = now.duration_since(*since).as_secs_f64();
        (wall > 0.0).then(|| (time - from) / wall)
    }
}
