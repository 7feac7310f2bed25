//! Setpoints: the logged ones, else the smoothed flown path.

use std::ops::Range;

use fly_lie::UnitQuaternion;
use fly_mavlink::frames;

use super::Grid;
use super::series::{Attitude, Series, rotation};
use super::smooth::Smoother;
use super::topics::Topics;

/// Reach of the fit of positions to both sides, s.
const POSITION_REACH: f64 = 0.5;
/// Reach of the fit of attitudes to both sides, s.
const ATTITUDE_REACH: f64 = 0.25;

/// A part of the flown path on the grid; gaps are held so that there is a number everywhere.
pub struct Flown<'a> {
    /// Number of the first tick of the arrays.
    pub first: usize,
    /// Ticks of the whole grid.
    pub count: usize,
    pub times: &'a [i64],
    pub positions: &'a [[f64; 3]],
    /// Velocities in the world, m/s.
    pub velocities: &'a [[f64; 3]],
    pub attitudes: &'a [UnitQuaternion<f64>],
    /// First tick of every stretch without a jump of the estimator, in order, the first of all included: nothing is
    /// smoothed across a jump.
    pub stretches: &'a [usize],
}

impl Flown<'_> {
    /// The ticks of the stretch to which a tick belongs.
    fn stretch(&self, tick: usize) -> Range<usize> {
        let next = self.stretches.partition_point(|&first| first <= tick);
        let first = self.stretches[next.saturating_sub(1)];
        first..self.stretches.get(next).copied().unwrap_or(self.count)
    }

    /// The indices of those of these ticks that are in the arrays.
    fn part(&self, ticks: &Range<usize>) -> Range<usize> {
        let end = ticks.end.min(self.first + self.times.len());
        ticks.start.saturating_sub(self.first)..end - self.first
    }
}

/// Setpoint of one tick.
#[derive(Clone, Copy, Debug)]
pub struct Setpoint {
    /// World, m.
    pub position: [f64; 3],
    /// World, m/s.
    pub velocity: [f64; 3],
    /// World, m/s².
    pub acceleration: [f64; 3],
    /// World from body.
    pub rotation: UnitQuaternion<f64>,
    /// Body, rad/s.
    pub angular_velocity: [f64; 3],
    /// Whether position, velocity and acceleration are logged ones.
    pub position_logged: bool,
    /// Whether attitude and angular velocity are logged ones.
    pub attitude_logged: bool,
}

/// What setpoints are made of.
#[derive(Debug)]
pub struct Setpoints {
    path: Smoother,
    turn: Smoother,
    logged_path: Option<Series<Option<Path>>>,
    logged_attitudes: Option<Series<Attitude>>,
    /// In acro mode there are no attitude setpoints, only rates.
    rates: Option<Series<[f64; 3]>>,
}

impl Setpoints {
    /// Of a log whose frames are on this grid; `None` if there are too few ticks for a fit.
    pub fn new(topics: &Topics, grid: Grid) -> Option<Self> {
        let (step, ticks) = (grid.step as f64 * 1e-9, grid.len());
        let logged_attitudes = logged_attitudes(topics).filter(|series| {
            let mut times = (0..ticks).map(|k| grid.time(k));
            times.any(|time| series.place(time).is_some())
        });
        let rates = match &logged_attitudes {
            Some(_) => None,
            None => logged_rates(topics),
        };
        Some(Self {
            path: Smoother::new(step, POSITION_REACH, ticks)?,
            turn: Smoother::new(step, ATTITUDE_REACH, ticks)?,
            logged_path: logged_path(topics),
            logged_attitudes,
            rates,
        })
    }

    /// Ticks to both sides on which a setpoint depends.
    pub fn margin(&self) -> usize {
        2 * self.path.half().max(self.turn.half())
    }

    /// Whether position and attitude are logged at a time.
    pub fn logged(&self, time: i64) -> [bool; 2] {
        let path = self.logged_path.as_ref();
        let attitudes = self.logged_attitudes.as_ref();
        [
            path.and_then(|series| at(series, time)).is_some(),
            attitudes.is_some_and(|series| series.place(time).is_some()),
        ]
    }

    /// Appends the setpoints of these ticks; the flown path reaches [`margin`](Self::margin) further, where there is so much.
    pub fn of(&self, flown: &Flown, ticks: Range<usize>, setpoints: &mut Vec<Setpoint>) {
        // Gaps of the logged attitude hold the flown one.
        let wanted: Option<Vec<_>> = self.logged_attitudes.as_ref().map(|series| {
            let attitudes = flown.times.iter().zip(flown.attitudes);
            attitudes
                .map(|(&time, flown)| series.attitude(time).unwrap_or(*flown))
                .collect()
        });
        setpoints.extend(ticks.map(|tick| self.setpoint(flown, wanted.as_deref(), tick)));
    }

    fn setpoint(
        &self,
        flown: &Flown,
        wanted: Option<&[UnitQuaternion<f64>]>,
        tick: usize,
    ) -> Setpoint {
        // The velocity is fitted to logged velocities: without a position fix the logged positions have another rate of
        // change, and the tracking error should be the vehicle's, not the estimator's.
        let stretch = flown.stretch(tick);
        let part = flown.part(&stretch);
        let k = tick - flown.first;
        let (at_part, time) = (k - part.start, flown.times[k]);
        let mut position = flown.positions[k];
        let (mut velocity, mut acceleration) = (flown.velocities[k], [0.0; 3]);
        if self.path.fits(stretch.len()) {
            [position, ..] = self.path.path(&flown.positions[part.clone()], at_part);
            [velocity, acceleration, _] = self.path.path(&flown.velocities[part.clone()], at_part);
        }
        let (mut rotation, mut angular_velocity) = (flown.attitudes[k], [0.0; 3]);
        if self.turn.fits(stretch.len()) {
            (rotation, angular_velocity) = self.turn.attitude(&flown.attitudes[part], at_part);
        }
        let mut setpoint = Setpoint {
            position,
            velocity,
            acceleration,
            rotation,
            angular_velocity,
            position_logged: false,
            attitude_logged: false,
        };
        if let Some([p, v, a]) = self
            .logged_path
            .as_ref()
            .and_then(|series| at(series, time))
        {
            (setpoint.position, setpoint.velocity, setpoint.acceleration) = (p, v, a);
            setpoint.position_logged = true;
        }
        let [_, attitude_logged] = self.logged(time);
        if let (Some(wanted), true) = (wanted, attitude_logged) {
            // The rate of the logged attitude, not `vehicle_rates_setpoint`: that one includes the attitude controller's
            // feedback.
            (setpoint.rotation, setpoint.angular_velocity) =
                (wanted[k], self.turn.attitude(wanted, k).1);
            setpoint.attitude_logged = true;
        } else if let Some(rates) = self.rates.as_ref().and_then(|series| series.linear(time)) {
            setpoint.angular_velocity = rates;
        }
        setpoint
    }
}

type Path = [[f64; 3]; 3];

/// Position, velocity and acceleration from `trajectory_setpoint`, else position and velocity from
/// `vehicle_local_position_setpoint`. A sample counts if its position is finite; a velocity or acceleration that is not
/// finite is zero.
fn logged_path(topics: &Topics) -> Option<Series<Option<Path>>> {
    let finite = |v: [f64; 3]| v.iter().all(|c| c.is_finite());
    let or_zero = |v: [f64; 3]| v.map(|c| if c.is_finite() { c } else { 0.0 });
    let convert = |row: Path| {
        // A sample without a position is a gap.
        Some(
            finite(row[0])
                .then(|| [row[0], or_zero(row[1]), or_zero(row[2])].map(frames::nwu_from_ned)),
        )
    };
    let trajectory = || {
        let table = topics.table("trajectory_setpoint")?;
        let rows = table.rows([
            "position[0]",
            "position[1]",
            "position[2]",
            "velocity[0]",
            "velocity[1]",
            "velocity[2]",
            "acceleration[0]",
            "acceleration[1]",
            "acceleration[2]",
        ])?;
        let rows: Vec<Path> = rows
            .iter()
            .map(|r| [[r[0], r[1], r[2]], [r[3], r[4], r[5]], [r[6], r[7], r[8]]])
            .collect();
        Series::new(&table.times, &rows, convert)
    };
    let local = || {
        let table = topics.table("vehicle_local_position_setpoint")?;
        let rows = table.rows(["x", "y", "z", "vx", "vy", "vz"])?;
        let rows: Vec<Path> = rows
            .iter()
            .map(|r| [[r[0], r[1], r[2]], [r[3], r[4], r[5]], [0.0; 3]])
            .collect();
        Series::new(&table.times, &rows, convert)
    };
    let any = |series: &Series<Option<Path>>| series.values().iter().any(Option::is_some);
    trajectory().filter(any).or_else(|| local().filter(any))
}

/// Linear between two samples that both have a position.
fn at(series: &Series<Option<Path>>, time: i64) -> Option<Path> {
    let place = series.place(time)?;
    let (a, b, _) = series.around(place);
    let (a, b) = (a?, b?);
    Some(std::array::from_fn(|i| {
        std::array::from_fn(|j| a[i][j] + place.fraction * (b[i][j] - a[i][j]))
    }))
}

/// `vehicle_attitude_setpoint`.
fn logged_attitudes(topics: &Topics) -> Option<Series<Attitude>> {
    let table = topics.table("vehicle_attitude_setpoint")?;
    let rows = table.rows(["q_d[0]", "q_d[1]", "q_d[2]", "q_d[3]"])?;
    Series::new(&table.times, &rows, |q| {
        let rotation = rotation(q)?;
        Some(Attitude {
            rotation,
            resets: 0.0,
        })
    })
}

/// `vehicle_rates_setpoint`, body rates.
fn logged_rates(topics: &Topics) -> Option<Series<[f64; 3]>> {
    let table = topics.table("vehicle_rates_setpoint")?;
    let rows = table.rows(["roll", "pitch", "yaw"])?;
    let finite = |row: [f64; 3]| {
        row.iter()
            .all(|c| c.is_finite())
            .then(|| frames::flu_from_frd(row))
    };
    Series::new(&table.times, &rows, finite)
}
