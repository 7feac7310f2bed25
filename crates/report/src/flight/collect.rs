//! Collects rows into columns, statistics and spectra.

use std::collections::VecDeque;
use std::path::Path;

use fly_lie::SO3;
use fly_log::{Kind, Settling, longest_step};
use nalgebra::{Vector3, Vector4};

use super::row::{Pose, Row};
use super::{Event, Flight, Spectrum, Statistics};
use crate::error::ReportError;
use crate::grid::{Grid, Keep};
use crate::spectrum::Welch;
use fly_mechanics::scene::Scene;

/// Largest number of cells of a plot: many times the pixels of a screen, so that zooming in shows more.
const CELLS: usize = 1 << 15;
/// Largest number of poses of a body.
const POSES: usize = 1 << 14;
/// Largest number of messages kept.
const EVENTS: usize = 1000;
/// So many of those that follow are there while a flight is watched.
const LATE: usize = 100;
/// Modes in which the controller flies: its errors count.
const FLYING: [&str; 5] = ["disarmed", "armed", "flying", "holding", "paused"];

const AXES: [&str; 3] = ["x", "y", "z"];

/// The columns of a quantity with several components, added when its first value arrives.
#[derive(Debug)]
struct Series {
    name: &'static str,
    /// Names of its components, or their indices if they have none.
    parts: Vec<String>,
    columns: Vec<usize>,
}

impl Series {
    fn numbered(name: &'static str) -> Self {
        Self::named(name, &[])
    }

    fn named(name: &'static str, parts: &[&str]) -> Self {
        Self {
            name,
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            columns: Vec::new(),
        }
    }

    fn put(&mut self, grid: &mut Grid, values: &[f64]) {
        for i in self.columns.len()..values.len() {
            let number = i.to_string();
            let part = self.parts.get(i).unwrap_or(&number);
            self.columns
                .push(grid.column(&format!("{}.{part}", self.name)));
        }
        for (&column, &value) in self.columns.iter().zip(values) {
            grid.put(column, value);
        }
    }
}

/// All plotted quantities.
#[derive(Debug)]
struct Columns {
    position: Series,
    reference: Series,
    true_position: Series,
    error: Series,
    attitude_error: Series,
    velocity: Series,
    reference_velocity: Series,
    rates: Series,
    reference_rates: Series,
    joints: [Series; 2],
    joint_rates: [Series; 2],
    commands: Series,
    actual: Series,
    energy: Series,
    energy_rate: Series,
    disturbance: Series,
    thrust_scale: Series,
    allocation: Series,
    wind: Series,
    deviations: Series,
    voltage: Series,
    age: Series,
}

impl Columns {
    fn new() -> Self {
        let axes = |name| Series::named(name, &AXES);
        Self {
            position: axes("position"),
            reference: axes("reference"),
            true_position: axes("true_position"),
            error: Series::named("error", &["norm", "x", "y", "z"]),
            attitude_error: Series::named("attitude_error", &["angle", "x", "y", "z"]),
            velocity: axes("velocity"),
            reference_velocity: axes("reference_velocity"),
            rates: axes("rate"),
            reference_rates: axes("reference_rate"),
            joints: ["joint", "joint_reference"].map(Series::numbered),
            joint_rates: ["joint_rate", "joint_rate_reference"].map(Series::numbered),
            commands: Series::numbered("command"),
            actual: Series::numbered("actual"),
            energy: Series::named("energy", &["W", "T", "V", "allowed"]),
            energy_rate: Series::named("energy_rate", &["measured", "allowed"]),
            disturbance: Series::numbered("disturbance"),
            thrust_scale: Series::named("thrust", &["scale"]),
            allocation: Series::named("allocation", &["active", "iterations"]),
            wind: axes("wind"),
            deviations: Series::named("deviation", &["attitude", "velocity", "position"]),
            voltage: Series::named("battery", &["voltage"]),
            age: Series::named("measurement", &["age"]),
        }
    }
}

/// Collects the rows of a flight.
#[derive(Debug)]
pub struct Collector {
    pub flight: Flight,
    /// The last messages of those that are not kept.
    pub late: VecDeque<Event>,
    columns: Columns,
    bodies: [Series; 2],
    /// Time of a step, s.
    step: f64,
    /// Spectra of the rates and of the commands.
    spectra: [Vec<Welch>; 2],
    rate: f64,
    before: Option<f64>,
    place: Option<[f64; 3]>,
    /// When the errors of distance and angle settled, while the law followed its reference.
    settling: [Settling; 2],
    /// Logarithm of the predicted bound of W, and its time.
    allowed: Option<(f64, f64)>,
}

impl Collector {
    /// For a flight with this rate, Hz.
    pub fn new(path: &Path, kind: Kind, rate: f64, scene: Scene) -> Self {
        let step = rate.recip();
        Self {
            flight: Flight {
                path: path.into(),
                kind,
                name: String::new(),
                header: None,
                run: None,
                system: None,
                scene,
                plots: Grid::new(Keep::Extremes, step, CELLS),
                track: Grid::new(Keep::First, step, POSES),
                commands: Vec::new(),
                limits: Vec::new(),
                spectra: Vec::new(),
                modes: Vec::new(),
                gaps: Vec::new(),
                events: Vec::new(),
                more_events: 0,
                span: [0.0; 2],
                statistics: Statistics::default(),
                notes: Vec::new(),
                is_live: false,
            },
            late: VecDeque::new(),
            columns: Columns::new(),
            bodies: ["pose", "reference"].map(Series::numbered),
            step,
            spectra: [Vec::new(), Vec::new()],
            rate,
            before: None,
            place: None,
            settling: [Settling::default(); 2],
            allowed: None,
        }
    }

    /// Adds a message of the flight.
    pub fn event(&mut self, event: Event) {
        if self.flight.events.len() < EVENTS {
            self.flight.events.push(event);
            return;
        }
        self.flight.more_events += 1;
        if self.late.len() == LATE {
            self.late.pop_front();
        }
        self.late.push_back(event);
    }

    /// Adds a tick.
    pub fn row(&mut self, row: &Row) {
        let time = row.time;
        self.flight.statistics.ticks += 1;
        self.flight.statistics.without_data += u64::from(!row.fresh);
        if let Some(before) = self.before {
            if time - before > longest_step(self.step) {
                self.flight.gaps.push([before, time]);
                self.spectra.iter_mut().flatten().for_each(Welch::gap);
                self.place = None;
            }
        } else {
            self.flight.span[0] = time;
        }
        self.before = Some(time);
        self.flight.span[1] = time;
        self.flight.plots.go_to(time);
        self.flight.track.go_to(time);

        self.poses(row);
        self.motion(row);
        self.inputs(row);
        self.control(row);
        let (columns, plots) = (&mut self.columns, &mut self.flight.plots);
        if let Some(wind) = &row.wind {
            columns.wind.put(plots, wind);
        }
        if let Some(deviations) = &row.deviations {
            columns.deviations.put(plots, deviations);
        }
        columns.voltage.put(plots, row.voltage.as_slice());
        columns.age.put(plots, row.age.as_slice());
    }

    fn poses(&mut self, row: &Row) {
        for (series, poses) in self
            .bodies
            .iter_mut()
            .zip([&row.bodies, &row.reference_bodies])
        {
            series.put(&mut self.flight.track, poses.as_flattened());
        }
    }

    fn motion(&mut self, row: &Row) {
        let (columns, plots) = (&mut self.columns, &mut self.flight.plots);
        let statistics = &mut self.flight.statistics;
        if let Some(pose) = &row.pose {
            columns.position.put(plots, &pose[..3]);
        }
        if let Some(pose) = &row.true_pose {
            columns.true_position.put(plots, &pose[..3]);
        }
        if let Some(reference) = &row.reference {
            columns.reference.put(plots, &reference[..3]);
        }
        let real = row.true_pose.or(row.pose);
        if let (Some(at), Some(to)) = (&real, &row.reference) {
            let (distance, angle) = difference(at, to);
            let [x, y, z] = distance;
            columns.error.put(plots, &[norm(&distance), x, y, z]);
            let [x, y, z] = angle;
            columns.attitude_error.put(plots, &[norm(&angle), x, y, z]);
        }
        if let Some(twist) = &row.twist {
            columns.velocity.put(plots, &twist[..3]);
            columns.rates.put(plots, &twist[3..]);
        }
        if let Some(twist) = &row.true_twist.or(row.twist) {
            statistics.speed.add(row.time, norm(&twist[..3]));
            statistics.rate.add(row.time, norm(&twist[3..]));
        }
        if let Some(twist) = &row.reference_twist {
            columns.reference_velocity.put(plots, &twist[..3]);
            columns.reference_rates.put(plots, &twist[3..]);
        }
        for i in 0..2 {
            columns.joints[i].put(plots, &row.joints[i]);
            columns.joint_rates[i].put(plots, &row.joint_rates[i]);
        }
        if let Some(at) = &real {
            let place = [at[0], at[1], at[2]];
            if let Some(before) = self.place.replace(place) {
                let way: [f64; 3] = std::array::from_fn(|i| place[i] - before[i]);
                let way = norm(&way);
                statistics.path += if way.is_finite() { way } else { 0.0 };
            }
            let up = attitude(at).act(&Vector3::z()).z;
            statistics.tilt.add(row.time, up.clamp(-1.0, 1.0).acos());
        } else {
            self.place = None;
        }
        match &row.twist {
            Some(twist) => self.spectrum(0, &twist[3..]),
            None => self.spectrum(0, &row.joint_rates[0]),
        }
    }

    fn inputs(&mut self, row: &Row) {
        let (columns, plots) = (&mut self.columns, &mut self.flight.plots);
        columns.commands.put(plots, &row.commands);
        columns.actual.put(plots, &row.actual);
        let mut thrust = None;
        for ((name, _), value) in self.flight.commands.iter().zip(&row.commands) {
            if name.ends_with(".thrust") {
                *thrust.get_or_insert(0.0) += value;
            }
        }
        if let Some(thrust) = thrust {
            self.flight.statistics.thrust.add(row.time, thrust);
        }
        self.spectrum(1, &row.commands);
    }

    /// Whether the vehicle is one body, whose pose says all of its errors.
    fn is_whole(&self, row: &Row) -> bool {
        self.flight.body_count() <= 1 && row.pose.is_some()
    }

    /// Distance (m) and angle (rad) from the reference: of one body of its true pose where that is told, of a system from its true configuration,
    /// else as its controller has them.
    pub fn errors(&self, row: &Row) -> Option<[f64; 2]> {
        if !self.is_whole(row) {
            let control = row.control.as_ref()?;
            let own = [control.position_error_norm, control.attitude_error];
            return Some(row.true_errors.unwrap_or(own));
        }
        let (at, to) = row.true_pose.or(row.pose).zip(row.reference)?;
        let (distance, angle) = difference(&at, &to);
        Some([norm(&distance), norm(&angle)])
    }

    fn control(&mut self, row: &Row) {
        let Some(control) = &row.control else {
            self.allowed = None;
            return;
        };
        let time = row.time;
        let errors = self.errors(row);
        let is_whole = self.is_whole(row);
        if self
            .flight
            .modes
            .last()
            .is_none_or(|(_, mode)| *mode != control.mode)
        {
            self.flight.modes.push((time, control.mode.clone()));
        }
        let (columns, plots) = (&mut self.columns, &mut self.flight.plots);
        // State feedback has no energies.
        let total = control.total_energy;
        if let (Some(total), Some(kinetic), Some(potential)) =
            (total, control.kinetic_energy, control.potential_energy)
        {
            columns.energy.put(plots, &[total, kinetic, potential]);
        }
        let rates = control.energy_rate.zip(control.expected_energy_rate);
        if let (Some((measured, expected)), Some(total)) =
            (rates, total.filter(|total| *total > 0.0))
        {
            // d ln W / dt <= expected / W: the value of W if it fell as predicted, from the time when the prediction
            // last began.
            let (logarithm, last) = self.allowed.unwrap_or((total.ln(), time));
            let logarithm = logarithm + expected / total * (time - last);
            self.allowed = Some((logarithm, time));
            columns
                .energy
                .put(plots, &[f64::NAN, f64::NAN, f64::NAN, logarithm.exp()]);
            columns.energy_rate.put(plots, &[measured, expected]);
        } else {
            self.allowed = None;
        }
        columns.disturbance.put(plots, &control.disturbance);
        columns
            .thrust_scale
            .put(plots, control.thrust_scale.as_slice());
        let counts = [control.active_limits, control.iterations].map(f64::from);
        columns.allocation.put(plots, &counts);

        let statistics = &mut self.flight.statistics;
        if is_whole {
            statistics.is_true = row.true_pose.is_some();
        } else if let Some(errors) = errors {
            statistics.is_true = row.true_errors.is_some();
            // That of a tracked body is drawn where there is one.
            if row.pose.is_none() || row.reference.is_none() {
                columns.error.put(plots, &[errors[0]]);
                columns.attitude_error.put(plots, &[errors[1]]);
            }
        }
        if !(row.fresh && FLYING.contains(&control.mode.as_str())) {
            return;
        }
        statistics.steps += 1;
        statistics.saturated += u64::from(control.saturated);
        statistics
            .iterations
            .add(time, f64::from(control.iterations));
        let [start, _] = statistics.energy;
        statistics.energy = [start.or(total), total];
        if let Some(errors) = errors {
            for (kind, error) in errors.into_iter().enumerate() {
                let magnitude = &mut statistics.errors[kind];
                magnitude.add(time, error);
                let band = Settling::BAND * magnitude.max().unwrap_or(0.0);
                self.settling[kind].record(time, error, band);
            }
        }
    }

    fn spectrum(&mut self, of: usize, values: &[f64]) {
        let spectra = &mut self.spectra[of];
        while spectra.len() < values.len() {
            spectra.push(Welch::new(self.rate));
        }
        let (known, missing) = spectra.split_at_mut(values.len());
        for (welch, value) in known.iter_mut().zip(values) {
            welch.add(*value);
        }
        missing.iter_mut().for_each(Welch::gap);
    }

    /// Names the errors that exist: some systems have only revolute joints, others only prismatic ones.
    pub fn name_errors(&mut self) {
        let names =
            if self.flight.body_count() > 1 || self.flight.plots.find("position.x").is_none() {
                [Some("sliding error"), Some("turning error")]
            } else {
                [Some("position error"), Some("attitude error")]
            };
        let statistics = &mut self.flight.statistics;
        for (kind, name) in names.into_iter().enumerate() {
            let largest = statistics.errors[kind].max();
            statistics.error_names[kind] = name.filter(|_| largest.is_some_and(|it| it > 0.0));
        }
    }

    /// Returns everything collected.
    ///
    /// # Errors
    /// There was no row.
    pub fn finish(mut self) -> Result<Flight, ReportError> {
        if self.before.is_none() {
            return Err(ReportError::Empty {
                path: self.flight.path,
                reason: String::new(),
            });
        }
        let of_body = self.flight.plots.find("rate.x").is_some();
        let [rates, commands] = std::mem::take(&mut self.spectra);
        let rates = rates
            .into_iter()
            .enumerate()
            .map(|(i, welch)| match AXES.get(i) {
                Some(axis) if of_body => (format!("rate.{axis}"), welch),
                _ => (format!("joint_rate.{i}"), welch),
            });
        let commands = commands.into_iter().enumerate();
        let commands = commands.map(|(i, welch)| (format!("command.{i}"), welch));
        for (name, welch) in rates.chain(commands) {
            let (frequencies, densities) = welch.finish();
            if !frequencies.is_empty() {
                self.flight.spectra.push(Spectrum {
                    name,
                    frequencies,
                    densities,
                });
            }
        }
        self.name_errors();
        let statistics = &mut self.flight.statistics;
        for kind in 0..2 {
            let is_there = statistics.errors[kind].max().is_some_and(|it| it > 0.0);
            statistics.settled[kind] = self.settling[kind].time().filter(|_| is_there);
        }
        Ok(self.flight)
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The rotation of a pose.
fn attitude(pose: &Pose) -> SO3<f64> {
    SO3::from_quaternion(&Vector4::new(pose[3], pose[4], pose[5], pose[6]))
}

/// Difference between two poses: displacement in the world (m), and the rotation vector that turns the second pose into
/// the first (rad, in its own axes). NaN where one of them has no position or attitude.
fn difference(at: &Pose, to: &Pose) -> ([f64; 3], [f64; 3]) {
    let distance = std::array::from_fn(|i| at[i] - to[i]);
    let is_known = |pose: &Pose| pose[3..].iter().all(|value| value.is_finite());
    if !(is_known(at) && is_known(to)) {
        return (distance, [f64::NAN; 3]);
    }
    let turn = attitude(to).inverse() * attitude(at);
    (distance, turn.log().into())
}

#[cfg(test)]
mod tests {
    use fly_log::schema::fly;
    use fly_mechanics::scene::BodyShapes;

    use super::*;

    /// A flight along x at 1 m/s with 2 m/s measured, without data from 1 s to 2 s and without ticks from 3 s to 4 s: what was flown meanwhile is not known.
    #[test]
    fn gaps_are_left_out_and_truth_counts() {
        let mut collector = Collector::new(Path::new("log"), Kind::Own, 100.0, Scene::default());
        for k in (0..=300).chain(400..=500) {
            let time = f64::from(k) * 0.01;
            let mut row = Row::default();
            row.clear(time);
            if !(100..200).contains(&k) {
                row.pose = Some([time, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
                row.twist = Some([2.0, 0.0, 0.0, 0.0, 0.0, 0.2]);
                row.true_twist = Some([1.0, 0.0, 0.0, 0.0, 0.0, 0.1]);
            }
            collector.row(&row);
        }
        let statistics = collector.finish().unwrap().statistics;
        // 0.99 m until the data are lost, then 1 m twice.
        assert!((statistics.path - 2.99).abs() < 1e-9, "{}", statistics.path);
        assert_eq!(statistics.speed.max(), Some(1.0));
        assert_eq!(statistics.rate.max(), Some(0.1));
    }

    /// A vehicle whose own error is gone at once while its joints take 0.5 s and 1 s to a e-th.
    #[test]
    fn errors_of_a_vehicle_with_joints_settle_with_its_joints() {
        let scene = Scene {
            bodies: vec![BodyShapes::default(); 2],
            ..Scene::default()
        };
        let mut collector = Collector::new(Path::new("log"), Kind::Own, 100.0, scene);
        let still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        for k in 0..1000 {
            let time = f64::from(k) * 0.01;
            let mut row = Row::default();
            row.clear(time);
            row.fresh = true;
            (row.pose, row.reference) = (Some(still), Some(still));
            row.bodies = vec![still; 2];
            row.control = Some(fly::Control {
                mode: "flying".into(),
                position_error_norm: (-time / 0.5).exp(),
                attitude_error: (-time).exp(),
                ..fly::Control::default()
            });
            collector.row(&row);
        }
        let settled = collector.finish().unwrap().statistics.settled;
        for (time, constant) in settled.into_iter().zip([0.5, 1.0]) {
            let (time, expected) = (time.unwrap(), constant * 50.0_f64.ln());
            assert!(
                (0.0..=0.01).contains(&(time - expected)),
                "{time} {expected}"
            );
        }
    }
}
