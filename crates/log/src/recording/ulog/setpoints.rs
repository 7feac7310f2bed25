//! Setpoints: the logged ones or, without them, the smoothed flown path.

use std::io;
use std::ops::Range;

use fly_lie::UnitQuaternion;
use fly_mavlink::frames;

use super::fields::{ATTITUDE_SETPOINT, OLD_TRAJECTORY, POSITION, RATES_SETPOINT, TRAJECTORY};
use super::series::{Attitude, Series, rotation};
use super::smooth::Smoother;
use super::topics::Topics;
use super::{Grid, finite};

/// Half-width of the position fit, s.
const POSITION_REACH: f64 = 0.5;
/// Half-width of the attitude fit, s.
const ATTITUDE_REACH: f64 = 0.25;

/// A part of the flown path on the grid; gaps hold the last value, so that there is a value everywhere.
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
    /// Logged attitude setpoints; the flown attitude where there are none.
    pub wanted: &'a [UnitQuaternion<f64>],
    /// Whether the attitude setpoint is logged.
    pub is_logged: &'a [bool],
    /// First tick of every section without an estimator reset and without a gap, in order, starting with the first tick of all: nothing
    /// is smoothed across either.
    pub stretches: &'a [usize],
}

impl Flown<'_> {
    /// The ticks of the section that a tick belongs to.
    fn stretch(&self, tick: usize) -> Range<usize> {
        let next = self.stretches.partition_point(|&first| first <= tick);
        let first = self.stretches[next.saturating_sub(1)];
        first..self.stretches.get(next).copied().unwrap_or(self.count)
    }

    /// The indices of these ticks in the arrays.
    fn part(&self, ticks: &Range<usize>) -> Range<usize> {
        let end = ticks.end.min(self.first + self.times.len());
        ticks.start.saturating_sub(self.first)..end - self.first
    }

    /// The indices around this one, within a part, of frames whose attitude setpoint is logged.
    fn logged_run(&self, part: &Range<usize>, k: usize) -> Range<usize> {
        let before = self.is_logged[part.start..k].iter().rev();
        let after = self.is_logged[k..part.end].iter();
        let count = |logged: &&bool| **logged;
        k - before.take_while(count).count()..k + after.take_while(count).count()
    }
}

/// Setpoint of one tick.
#[derive(Clone, Copy, Debug)]
pub struct Setpoint {
    /// Position, world frame, m.
    pub position: [f64; 3],
    /// Velocity, world frame, m/s; NaN if it is unknown.
    pub velocity: [f64; 3],
    /// Acceleration, world frame, m/s²; NaN if it is unknown.
    pub acceleration: [f64; 3],
    /// World from body.
    pub rotation: UnitQuaternion<f64>,
    /// Angular velocity, body frame, rad/s.
    pub angular_velocity: [f64; 3],
    /// Whether the position is logged, with velocity and acceleration as far as they are known.
    pub position_logged: bool,
    /// Whether attitude and angular velocity are logged.
    pub attitude_logged: bool,
}

impl Setpoint {
    /// The value of `setpoint.source`.
    pub const fn source(&self) -> f64 {
        match (self.position_logged, self.attitude_logged) {
            (true, true) => 0.0,
            (false, false) => 1.0,
            (false, true) => 2.0,
            (true, false) => 3.0,
        }
    }
}

/// Computes setpoints.
#[derive(Debug)]
pub struct Setpoints {
    path: Smoother,
    turn: Smoother,
    logged_path: Option<LoggedPath>,
    logged_attitudes: Option<Series<Attitude>>,
    /// Acro mode has rate setpoints only, no attitude setpoints.
    rates: Option<Series<[f64; 3]>>,
}

impl Setpoints {
    /// For a log whose frames are on this grid; `None` if there are too few ticks for a fit.
    pub fn new(topics: &Topics, grid: Grid) -> io::Result<Option<Self>> {
        let (step, ticks) = (grid.step as f64 * 1e-9, grid.len());
        let smoother = |reach: f64| Smoother::new(step, reach, ticks);
        let (Some(path), Some(turn)) = (smoother(POSITION_REACH), smoother(ATTITUDE_REACH)) else {
            return Ok(None);
        };
        let mut logged_attitudes = logged_attitudes(topics)?;
        if let Some(series) = &mut logged_attitudes {
            let mut is_there = false;
            for k in 0..ticks {
                is_there = series.place(grid.time(k))?.is_some();
                if is_there {
                    break;
                }
            }
            if !is_there {
                logged_attitudes = None;
            }
        }
        let rates = match &logged_attitudes {
            Some(_) => None,
            None => logged_rates(topics)?,
        };
        Ok(Some(Self {
            path,
            turn,
            logged_path: logged_path(topics)?,
            logged_attitudes,
            rates,
        }))
    }

    /// Number of ticks on both sides that a setpoint depends on.
    pub fn margin(&self) -> usize {
        2 * self.path.half().max(self.turn.half())
    }

    /// The logged attitude setpoint at a time.
    pub fn attitude(&mut self, time: i64) -> io::Result<Option<UnitQuaternion<f64>>> {
        let series = self.logged_attitudes.as_mut();
        series.map_or(Ok(None), |series| series.attitude(time))
    }

    /// The logged position, velocity and acceleration at a time.
    fn path(&mut self, time: i64) -> io::Result<Option<Path>> {
        let logged = self.logged_path.as_mut();
        logged.map_or(Ok(None), |logged| at(&mut logged.series, time))
    }

    /// Where the logged positions are from, if not from `trajectory_setpoint`.
    pub fn path_words(&self) -> Option<&'static str> {
        let logged = self.logged_path.as_ref();
        (logged.is_some_and(|logged| logged.is_output)).then_some(
            "of vehicle_local_position_setpoint, whose velocity is the controller's output: velocity and acceleration are those of the smoothed flown path",
        )
    }

    /// Whether position and attitude are logged at a time.
    pub fn logged(&mut self, time: i64) -> io::Result<[bool; 2]> {
        Ok([self.path(time)?.is_some(), self.attitude(time)?.is_some()])
    }

    /// The setpoint of a tick; the flown path must extend [`margin`](Self::margin) ticks further, as far as it exists.
    pub fn of(&mut self, flown: &Flown, tick: usize) -> io::Result<Setpoint> {
        // The velocity is fitted to logged velocities. Without a position fix the logged positions have a different
        // rate of change, and the tracking error should be the vehicle's, not the estimator's.
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
            (rotation, angular_velocity) =
                self.turn.attitude(&flown.attitudes[part.clone()], at_part);
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
        if let Some([p, v, a]) = self.path(time)? {
            setpoint.position = p;
            // Of a position alone the motion is that of the flown path: a velocity of zero would be wrong.
            if v.iter().chain(&a).all(|x| x.is_finite()) {
                (setpoint.velocity, setpoint.acceleration) = (v, a);
            }
            setpoint.position_logged = true;
        }
        if flown.is_logged[k] {
            // The rate of the logged attitude. `vehicle_rates_setpoint` includes the attitude controller's feedback.
            let run = flown.logged_run(&part, k);
            let wanted = &flown.wanted[run.clone()];
            if self.turn.fits(wanted.len()) {
                setpoint.angular_velocity = self.turn.attitude(wanted, k - run.start).1;
            }
            setpoint.rotation = flown.wanted[k];
            setpoint.attitude_logged = true;
        } else if let Some(series) = &mut self.rates
            && let Some(rates) = series.linear(time)?
        {
            setpoint.angular_velocity = rates;
        }
        Ok(setpoint)
    }
}

type Path = [[f64; 3]; 3];

/// The logged positions.
#[derive(Debug)]
struct LoggedPath {
    series: Series<Option<Path>>,
    /// Whether they are an output of the position controller instead of its input.
    is_output: bool,
}

/// Position, velocity and acceleration from `trajectory_setpoint`, else the position from
/// `vehicle_local_position_setpoint`: the velocity of this includes the controller's feedback.
fn logged_path(topics: &Topics) -> io::Result<Option<LoggedPath>> {
    const TOPIC: &str = "trajectory_setpoint";
    let trajectory = match Series::new(topics, TOPIC, TRAJECTORY, |row| Some(path(row)))? {
        None => Series::with(topics, TOPIC, OLD_TRAJECTORY, 6, |row| Some(path(row)))?,
        found => found,
    };
    let some = |series: Option<Series<Option<Path>>>, is_output: bool| {
        let Some(mut series) = series else {
            return Ok(None);
        };
        let is_there = series.any(Option::is_some)?;
        io::Result::Ok(is_there.then_some(LoggedPath { series, is_output }))
    };
    if let Some(trajectory) = some(trajectory, false)? {
        return Ok(Some(trajectory));
    }
    let unknown = [f64::NAN; 3];
    let output = Series::new(
        topics,
        "vehicle_local_position_setpoint",
        POSITION,
        move |position: [f64; 3]| {
            let position = finite(&position).then(|| frames::nwu_from_ned(position));
            Some(position.map(|position| [position, unknown, unknown]))
        },
    )?;
    some(output, true)
}

/// A sample of `trajectory_setpoint` in our frames. One without a position is a gap; a velocity or acceleration that is not
/// finite is zero.
fn path(row: [f64; 9]) -> Option<Path> {
    let [x, y, z, rest @ ..] = row;
    let [vx, vy, vz, ax, ay, az] = rest.map(|c| if c.is_finite() { c } else { 0.0 });
    let ned = [[x, y, z], [vx, vy, vz], [ax, ay, az]];
    finite(&ned[0]).then(|| ned.map(frames::nwu_from_ned))
}

/// Linear between two samples that both have a position.
fn at(series: &mut Series<Option<Path>>, time: i64) -> io::Result<Option<Path>> {
    let Some(place) = series.place(time)? else {
        return Ok(None);
    };
    let (a, b, _) = series.around(place);
    Ok(a.zip(b).map(|(a, b)| {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| a[i][j] + place.fraction * (b[i][j] - a[i][j]))
        })
    }))
}

/// `vehicle_attitude_setpoint`.
fn logged_attitudes(topics: &Topics) -> io::Result<Option<Series<Attitude>>> {
    Series::new(
        topics,
        "vehicle_attitude_setpoint",
        ATTITUDE_SETPOINT,
        |q| {
            let rotation = rotation(q)?;
            Some(Attitude {
                rotation,
                resets: 0.0,
            })
        },
    )
}

/// `vehicle_rates_setpoint`, body rates.
fn logged_rates(topics: &Topics) -> io::Result<Option<Series<[f64; 3]>>> {
    Series::new(
        topics,
        "vehicle_rates_setpoint",
        RATES_SETPOINT,
        |row: [f64; 3]| {
            row.iter()
                .all(|c| c.is_finite())
                .then(|| frames::flu_from_frd(row))
        },
    )
}
