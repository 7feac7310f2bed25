//! The flight envelope: the limits of `[safety.limits]`, checked in every step of the controller.
//!
//! Two of them apply by default, since a working loop never reaches them. T is the settling time: 4 divided by the
//! magnitude of the real part of the slowest pole. That a joint leaves the limits of its own is told as well.
//!
//! - **Position error**: at most `2 (e0 + v0 T + g T^2 / 2)`, twice the error that would arise if nothing held the
//!   vehicle during the settling time; e0 and v0 are the errors of position and velocity when the controller begins. After
//!   a failsafe it begins anew, but a flight that ends outside of its first bound has diverged.
//! - **Attitude error**: the attitude is lost if the root mean square of the error over T exceeds 1 rad, where no
//!   linearised loop holds, for 5 T, and the total error energy W has not settled either. Joints that settle in another
//!   configuration with the same tool pose are not lost.
//!
//! At the end of a flight, and for its verdict alone, an error counts as too large if it exceeds a bound and persists
//! or grows:
//!
//! - Position: `g T^2 / 16`. Poles at `-4/T` give a second-order loop the stiffness `16/T^2` per unit mass, so this is
//!   its deflection under its own uncompensated weight. The error persists unless its mean over T/2 twice fell below
//!   0.9 of the previous mean, or unless the error is within the bound and has exceeded it only once lately, which an oscillation does more often. With a governor, any two decreases suffice, but not while the governor has to wait for
//!   the vehicle.
//! - Attitude: 1 rad; it counts if it grows and W has not settled. It also counts if the attitude was lost for more
//!   than half of the flight, and for more than 2 T, all losses added up, and W has not settled.
//! - Position: the tracked body has not moved since the controller began, by 0.1 m or a tenth of its error, although it was away from the
//!   reference for more than 2 T: it never left the ground.
//! - Position: the tracked body has stood on the ground, at its known height, for more than 2 T while the reference was above it.
//! - In the first 2 T both bounds are larger by `e0 + v0 T`.
//!
//! In a failsafe the vehicle is judged where its true state is known: one that sinks faster than it descends by `g T / 2` has fallen.

mod carried;
mod exceeded;
mod fence;
mod ground;
mod joints;
mod lost;
mod motion;
mod still;
mod trend;
mod watched;

use fly_control::SystemPoint;
use fly_control::predictor::StatePredictor;
use fly_lie::operators::{angular, linear};
use fly_mechanics::System;
use nalgebra::Vector3;

use carried::Carried;
pub use exceeded::{Bound, Ending, Exceeded, Told};
pub use fence::Fence;
pub use ground::Ground;
use lost::{LOST, Lost};
use motion::Motion;
use still::Still;
pub use trend::Following;
use trend::Trend;
use watched::{Strongest, Watched};

use crate::supervisor::{Limit, Response};

/// A vehicle below this height above the known ground, m, may be standing on it.
pub(crate) const CLEARANCE: f64 = 0.05;
/// Range that the settling time is clamped to, s: a faster loop waits for its actuators, a slower one has its own
/// limits.
const SETTLING: [f64; 2] = [1.0, 5.0];
/// Factor on the position error that would arise without any control.
const FACTOR: f64 = 2.0;
/// Number of settling times for which the attitude may be lost, or inputs at their limits, before a response.
const SUSTAINED: f64 = 5.0;
/// Number of settling times after which a flight with lost attitude has diverged.
const TRANSIENT: f64 = 2.0;
/// Used if there is no gravity, m/s^2.
const STANDARD_GRAVITY: f64 = 9.806_65;

/// Quantities of a controller step besides the state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Time, s.
    pub time: f64,
    /// Distance (m) and angle (rad) from the reference.
    pub errors: [f64; 2],
    /// The total error energy W, J: infinite while the law has none, so that only the error itself can settle.
    pub energy: f64,
    /// Whether any input is at its limit.
    pub saturated: bool,
    /// How the reference is followed.
    pub following: Following,
    /// The body direction that should point up.
    pub upward: Vector3<f64>,
}

/// Watches the limits of a flight. Does not allocate after its construction.
#[derive(Debug, Clone)]
pub struct Envelope {
    watched: Vec<Watched>,
    fences: Vec<Fence>,
    /// T, s.
    settling: f64,
    /// g, m/s^2.
    gravity: f64,
    lost: Lost,
    /// Trends of position and attitude error.
    trends: [Trend; 2],
    /// Of the tracked body, or of all joints that slide and of all that turn.
    stills: [Still; 2],
    /// The configuration in which the controller began, once it has.
    start: Vec<f64>,
    has_begun: bool,
    carried: Carried,
    /// Time (s) of the first step, and the bounds that follow from its errors (m, rad) over T.
    began: (f64, [f64; 2]),
    /// What would count against the flight if it ended with the last step.
    ending: Option<Ending>,
    saturated_since: Option<f64>,
    started: bool,
    /// Why the loop had lost its reference in the last step.
    diverged: Option<Exceeded>,
    /// The bound of the position error when the controller first began, m. It does not grow with the errors after a failsafe, in which
    /// the vehicle may have been lost.
    first: Option<f64>,
    /// Added to the bounds of the position error, m.
    fix_error: f64,
}

/// # Construction
impl Envelope {
    /// With these limits and the fences that they refer to. `settling` is the loop's settling time, s, if known;
    /// `gravity` is the acceleration due to gravity, m/s^2; `usual` is the default response.
    pub fn new(
        limits: &[Bound],
        fences: Vec<Fence>,
        settling: Option<f64>,
        gravity: f64,
        usual: Response,
    ) -> Self {
        let settling = settling.filter(|settling| !settling.is_nan());
        let settling = settling.map_or(SETTLING[1], |t| t.clamp(SETTLING[0], SETTLING[1]));
        let given = limits.iter().map(|bound| Watched::new(*bound, false));
        let mut watched: Vec<Watched> = given.collect();
        // A configured limit replaces the default response; the verdict is unaffected.
        let given = |limit| limits.iter().any(|bound| bound.limit == limit);
        let unless = |given: bool| (!given).then_some(usual);
        let sustained = SUSTAINED * settling;
        let gravity = if gravity > 0.0 {
            gravity
        } else {
            STANDARD_GRAVITY
        };
        let defaults = [
            // The bound is set in the first step.
            (
                Limit::PositionError,
                f64::INFINITY,
                0.0,
                unless(given(Limit::PositionError)),
            ),
            (
                Limit::LostAttitude,
                LOST,
                sustained,
                unless(given(Limit::AttitudeError)),
            ),
        ];
        watched.extend(defaults.map(|(limit, max, after, then)| {
            let bound = Bound {
                limit,
                max,
                after,
                then,
            };
            Watched::new(bound, true)
        }));
        if !given(Limit::Saturated) {
            let bound = Bound {
                limit: Limit::Saturated,
                max: sustained,
                after: 0.0,
                then: Some(Response::Warn),
            };
            watched.push(Watched::new(bound, false));
        }
        Self {
            watched,
            fences,
            settling,
            gravity,
            lost: Lost::default(),
            trends: Default::default(),
            stills: Default::default(),
            start: Vec::new(),
            has_begun: false,
            carried: Carried::default(),
            began: (0.0, [0.0; 2]),
            ending: None,
            saturated_since: None,
            started: false,
            diverged: None,
            first: None,
            fix_error: 0.0,
        }
    }

    /// The same for a vehicle whose tracked body is at this height on the ground, m, if known.
    #[must_use]
    pub fn above_ground(mut self, height: Option<f64>) -> Self {
        self.carried.ground = height;
        self
    }

    /// The same for this system: that one of its joints leaves its own limits is told once.
    #[must_use]
    pub fn of_joints(mut self, system: &System) -> Self {
        let bounds = joints::bounds(system).map(|bound| Watched::new(bound, false).once());
        self.watched.extend(bounds);
        self
    }

    /// The same for the true state of a simulation and the verdict alone, without configured limits. A loop that holds
    /// its reference may be away from it by as much as its fixes of the position are from the truth, `fix_error` (m).
    #[must_use]
    pub fn of_truth(&self, fix_error: f64) -> Self {
        let mut own = self.clone();
        own.watched.retain(|watched| watched.diverged);
        own.fix_error = fix_error;
        own.carried.fix_error = fix_error;
        own
    }
}

/// # Flight
impl Envelope {
    /// Checks a step of the controller. Returns the limit that is newly exceeded and has the strongest response.
    pub fn observe(
        &mut self,
        step: &Observed,
        state: &StatePredictor,
        reference: &SystemPoint,
    ) -> Option<Exceeded> {
        if !std::mem::replace(&mut self.started, true) {
            let rates = velocity_errors(state, reference);
            let begin = |i: usize| step.errors[i] + rates[i] * self.settling;
            self.began = (step.time, [begin(0), begin(1)]);
            let fall = 0.5 * self.gravity * self.settling * self.settling;
            let bound = FACTOR * (begin(0) + fall) + self.fix_error;
            self.first.get_or_insert(bound);
            for watched in self.watched.iter_mut().filter(|watched| watched.diverged) {
                if watched.bound.limit == Limit::PositionError {
                    watched.bound.max = bound;
                }
            }
        }
        self.record(step, state, reference);
        self.ending = self.judge(step);
        self.saturated_since = match (step.saturated, self.saturated_since) {
            (true, None) => Some(step.time),
            (true, since) => since,
            (false, _) => None,
        };
        self.diverged = None;
        let mut strongest = Strongest::default();
        let motion = Motion {
            state,
            upward: step.upward,
            fences: &self.fences,
            descends: false,
        };
        for watched in &mut self.watched {
            let limit = watched.bound.limit;
            let value = match limit {
                Limit::PositionError => step.errors[0],
                Limit::AttitudeError => step.errors[1],
                Limit::LostAttitude => self.lost.now(step.time).map_or(0.0, |[rms, _]| rms),
                Limit::Saturated => self.saturated_since.map_or(0.0, |since| step.time - since),
                _ => match motion.value(limit) {
                    Some(value) => value,
                    None => continue,
                },
            };
            // That of the verdict.
            let first = self
                .first
                .filter(|_| watched.diverged && limit == Limit::PositionError);
            if let Some(max) = first
                && (value > max || value.is_nan())
            {
                let mut exceeded = watched.exceeded(value);
                exceeded.bound.max = max;
                self.diverged = Some(exceeded);
            }
            let Some(lasting) = watched.lasting(step.time, value) else {
                continue;
            };
            let (lasting, transient) = match self.lost.now(step.time) {
                Some([_, lasting]) if limit == Limit::LostAttitude => {
                    (lasting, TRANSIENT * self.settling)
                }
                _ => (lasting, 0.0),
            };
            let settled = limit == Limit::LostAttitude && self.lost.has_settled(step.energy);
            if watched.diverged && lasting >= transient && !settled && first.is_none() {
                self.diverged = Some(watched.exceeded(value));
            }
            strongest.consider(watched, value, lasting);
        }
        strongest.take()
    }

    /// Checks the limits that need no reference, in a failsafe whose state is measured; `upward` is the body direction that should point up. Whatever
    /// is below the limits of the height of one that `descends` is on its way to the ground.
    pub fn observe_motion(
        &mut self,
        time: f64,
        upward: Vector3<f64>,
        state: &StatePredictor,
        descends: bool,
    ) -> Option<Exceeded> {
        let motion = Motion {
            state,
            upward,
            fences: &self.fences,
            descends,
        };
        let mut strongest = Strongest::default();
        for watched in &mut self.watched {
            if let Some(value) = motion.value(watched.bound.limit)
                && let Some(lasting) = watched.lasting(time, value)
            {
                strongest.consider(watched, value, lasting);
            }
        }
        strongest.take()
    }

    /// Nothing is known of the motion: how long its limits have been exceeded counts anew.
    pub fn interrupt(&mut self) {
        let of_motion = |watched: &&mut Watched| !watched.bound.limit.is_of_reference();
        for watched in self.watched.iter_mut().filter(of_motion) {
            watched.interrupt();
        }
    }

    /// Records what the verdict at the end depends on.
    fn record(&mut self, step: &Observed, state: &StatePredictor, reference: &SystemPoint) {
        self.lost.record(step, self.settling);
        let bounds = self.bounds(step.time);
        for ((trend, error), bound) in self.trends.iter_mut().zip(step.errors).zip(bounds) {
            trend.record(step.time, [error, bound], step.following, self.settling);
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            self.start.clear();
            self.start.extend_from_slice(state.configuration());
        }
        let moved = state.errors(&self.start);
        // The attitude of what flies is judged by other rules.
        let judged = if state.tracked().is_some() { 1 } else { 2 };
        for (i, still) in self.stills.iter_mut().enumerate().take(judged) {
            still.record(step.time, moved[i], step.errors[i]);
        }
        if let Some(((pose, _), body)) = state.tracked_motion().zip(state.tracked()) {
            let goal = state.pose(body, &reference.configuration).translation.z;
            (self.carried).record(step.time, pose.translation.z, goal);
        }
    }

    /// The bounds of the errors of position (m) and attitude (rad) at the end of a flight at this time, s.
    fn bounds(&self, time: f64) -> [f64; 2] {
        let (began, start) = self.began;
        let is_transient = time - began < TRANSIENT * self.settling;
        let sag = self.gravity * self.settling * self.settling / 16.0 + self.fix_error;
        [0, 1].map(|i| [sag, LOST][i] + if is_transient { start[i] } else { 0.0 })
    }

    /// What would count against the flight if it ended with this step.
    fn judge(&self, step: &Observed) -> Option<Ending> {
        let (began, _) = self.began;
        let grows = |i: usize, max: f64| {
            let value = step.errors[i];
            (value > max && self.trends[i].grows(value)).then_some([value, max])
        };
        let [far, turned] = self.bounds(step.time);
        let is_inside = step.errors[0] <= far;
        let stays = Some([self.trends[0].stays(is_inside), far]).filter(|[value, max]| value > max);
        let turned = grows(1, turned).filter(|_| !self.lost.has_settled(step.energy));
        let ending = |limit, grows| {
            move |[value, max]: [f64; 2]| Ending::Error {
                limit,
                value,
                max,
                grows,
            }
        };
        (grows(0, far).map(ending(Limit::PositionError, true)))
            .or(stays.map(ending(Limit::PositionError, false)))
            .or(turned.map(ending(Limit::AttitudeError, true)))
            .or_else(|| self.mostly_lost(step.time - began, step.energy))
            .or_else(|| {
                let mut stayed =
                    (self.stills.iter().zip([false, true])).filter_map(|(still, turns)| {
                        let [error, moved] = still.has_stayed(TRANSIENT * self.settling)?;
                        Some(Ending::Stayed {
                            error,
                            moved,
                            turns,
                        })
                    });
                stayed.next()
            })
            .or_else(|| {
                let lasting = TRANSIENT * self.settling;
                let below = self.carried.stands_below(step.time, lasting)?;
                Some(Ending::Carried { below })
            })
    }

    /// A vehicle that tumbles, holds its attitude by chance for some seconds and tumbles again has lost its reference,
    /// even if the flight ends between two tumbles. A vehicle that has settled at its reference has regained it.
    fn mostly_lost(&self, flown: f64, energy: f64) -> Option<Ending> {
        let lost = self.lost.total();
        let most = lost > (0.5 * flown).max(TRANSIENT * self.settling);
        (most && !self.lost.has_settled(energy)).then_some(Ending::LostAttitude { lost, flown })
    }

    /// Whether the loop had lost its reference in the last step: too far away, tilted too far for a whole settling
    /// time, or [not returning](Self::ending).
    pub fn has_diverged(&self) -> bool {
        self.diverged.is_some() || self.ending.is_some()
    }

    /// What would count against the flight if it ended with the last step.
    pub fn ending(&self) -> Option<String> {
        let ending = self.ending.map(|ending| ending.to_string());
        ending.or_else(|| self.diverged.map(|exceeded| exceeded.to_string()))
    }

    /// Judges a vehicle in a failsafe, whose law does not follow the reference, by how fast it sinks beyond its descent, m/s: one that works
    /// holds it long before it has fallen for half of the settling time.
    pub fn observe_failsafe(&mut self, sinks: f64, descent: f64) {
        let max = descent + 0.5 * self.gravity * self.settling;
        // A NaN violates every limit.
        let falls = sinks.is_nan() || sinks > max;
        self.ending = falls.then_some(Ending::Fell { speed: sinks, max });
    }

    /// Heights are measured from elsewhere now: that of the ground is no longer known.
    pub fn forget_ground(&mut self) {
        self.carried.ground = None;
        self.carried.restart();
    }

    /// Makes room for configurations of this many coordinates.
    #[must_use]
    pub fn of_coordinates(mut self, count: usize) -> Self {
        self.start.resize(count, f64::NAN);
        self
    }

    /// Forgets the errors from the reference; call it when that jumps.
    pub fn restart(&mut self) {
        (self.started, self.diverged, self.saturated_since) = (false, None, None);
        (self.lost, self.trends) = (Lost::default(), Default::default());
        (self.stills, self.has_begun) = (Default::default(), false);
        self.carried.restart();
        self.ending = None;
        let of_reference = |watched: &&mut Watched| watched.bound.limit.is_of_reference();
        for watched in self.watched.iter_mut().filter(of_reference) {
            watched.restart();
        }
    }
}

/// Velocity errors over all bodies, m/s and rad/s: root sums of squares over all joints.
fn velocity_errors(state: &StatePredictor, reference: &SystemPoint) -> [f64; 2] {
    let model = &state.system().model;
    let mut squares = [0.0; 2];
    for body in model.bodies() {
        let Some(joint) = model.joint(body) else {
            continue;
        };
        let velocity = |x: &[f64], xi: &[f64]| {
            let subspace = joint.subspace(&x[model.config_range(body)]);
            let twist = subspace.twist(&xi[model.velocity_range(body)]);
            let rotation = state.pose(body, x).rotation;
            [linear(&twist), angular(&twist)].map(|part| rotation.act(&part))
        };
        let is = velocity(state.configuration(), state.velocity());
        let to = velocity(&reference.configuration, &reference.velocity);
        for (square, (is, to)) in squares.iter_mut().zip(is.iter().zip(&to)) {
            *square += (is - to).norm_squared();
        }
    }
    squares.map(f64::sqrt)
}
