//! Setpoints: the logged ones, else the smoothed flown path.

use std::ops::Range;

use fly_lie::UnitQuaternion;
use fly_mavlink::frames;

use super::series::{Attitude, Series, rotation};
use super::smooth::Smoother;
use super::topics::Topics;

/// Reach of the fit of positions to both sides, s.
const POSITION_REACH: f64 = 0.5;
/// Reach of the fit of attitudes to both sides, s.
const ATTITUDE_REACH: f64 = 0.25;

/// The flown path on the grid; gaps are held so that there is a number everywhere.
pub struct Flown<'a> {
    pub times: &'a [i64],
    /// Seconds between two ticks.
    pub step: f64,
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
        first
            ..self
                .stretches
                .get(next)
                .copied()
                .unwrap_or(self.times.len())
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

/// Setpoints of every tick; `None` if there are too few ticks for a fit.
pub fn setpoints(topics: &Topics, flown: &Flown) -> Option<Vec<Setpoint>> {
    let ticks = flown.times.len();
    let path = Smoother::new(flown.step, POSITION_REACH, ticks)?;
    let turn = Smoother::new(flown.step, ATTITUDE_REACH, ticks)?;
    let logged_path = logged_path(topics);
    let logged_attitudes = logged_attitudes(topics, flown);
    // In acro mode there are no attitude setpoints, only rates.
    let rates = if logged_attitudes.is_none() {
        logged_rates(topics)
    } else {
        None
    };
    let setpoint = |k: usize| {
        // The velocity is fitted to logged velocities: without a position fix the logged positions have another rate of
        // change, and the tracking error should be the vehicle's, not the estimator's.
        let stretch = flown.stretch(k);
        let (first, ticks) = (stretch.start, stretch.len());
        let mut position = flown.positions[k];
        let (mut velocity, mut acceleration) = (flown.velocities[k], [0.0; 3]);
        if path.fits(ticks) {
            [position, ..] = path.path(&flown.positions[stretch.clone()], k - first);
            [velocity, acceleration, _] = path.path(&flown.velocities[stretch.clone()], k - first);
        }
        let (mut rotation, mut angular_velocity) = (flown.attitudes[k], [0.0; 3]);
        if turn.fits(ticks) {
            (rotation, angular_velocity) = turn.attitude(&flown.attitudes[stretch], k - first);
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
        if let Some([p, v, a]) = logged_path
            .as_ref()
            .and_then(|series| at(series, flown.times[k]))
        {
            (setpoint.position, setpoint.velocity, setpoint.acceleration) = (p, v, a);
            setpoint.position_logged = true;
        }
        if let Some((attitudes, known)) = &logged_attitudes
            && known[k]
        {
            // The rate of the logged attitude, not `vehicle_rates_setpoint`: that one includes the attitude controller's
            // feedback.
            (setpoint.rotation, setpoint.angular_velocity) =
                (attitudes[k], turn.attitude(attitudes, k).1);
            setpoint.attitude_logged = true;
        } else if let Some(rates) = rates
            .as_ref()
            .and_then(|series| series.linear(flown.times[k]))
        {
            setpoint.angular_velocity = rates;
        }
        setpoint
    };
    Some((0..ticks).map(setpoint).collect())
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

/// `vehicle_attitude_setpoint` on the grid with a flag whether it is known; gaps hold the flown attitude.
fn logged_attitudes(
    topics: &Topics,
    flown: &Flown,
) -> Option<(Vec<UnitQuaternion<f64>>, Vec<bool>)> {
    let table = topics.table("vehicle_attitude_setpoint")?;
    let rows = table.rows(["q_d[0]", "q_d[1]", "q_d[2]", "q_d[3]"])?;
    let series = Series::new(&table.times, &rows, |q| {
        let rotation = rotation(q)?;
        Some(Attitude {
            rotation,
            resets: 0.0,
        })
    })?;
    let found: Vec<_> = flown
        .times
        .iter()
        .map(|&time| series.attitude(time))
        .collect();
    let known: Vec<bool> = found.iter().map(Option::is_some).collect();
    let filled = found
        .iter()
        .zip(flown.attitudes)
        .map(|(found, flown)| found.unwrap_or(*flown))
        .collect();
    known.contains(&true).then_some((filled, known))
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
