//! A reference governor: from far away a vehicle flies to its goal within limits of speed, acceleration, jerk and tilt.
//!
//! The law follows a reference from nearby. From far away its errors ask for more than the inputs have, and what the limits leave of them
//! may turn a vehicle over. The [`Governor`] stands between goal and law. Near the goal it passes it on, bit for bit. Further away the
//! reference is
//!
//! ```text
//! r_G = r_R + e          of the centre of mass, e with four derivatives
//! psi_G = psi_R + f      of the heading
//! ```
//!
//! and the offsets e and f go to zero along curves that are four times differentiable, within limits of the whole motion, by nested saturations of
//! `(d/dt + lambda)^4 e = 0`. The attitude follows from the motion as that of any path does ([`flat`](crate::trajectory::flat)), so an
//! underactuated vehicle can follow it exactly; a fully actuated one keeps the goal's attitude.
//!
//! | rule | |
//! |---|---|
//! | reach | The reference is never further from the vehicle than the [`Reach`], about where inputs saturate. Beyond it, position and velocity of the reference are drawn to the vehicle as far as that; its acceleration stays that of the goal, so that a vehicle which is left behind because it must tilt first goes on tilting. |
//! | half turn | An attitude error of more than 150 degrees is cut to 150 about the same axis. A half turn is an equilibrium of every smooth law; this leaves it, about the axis that the logarithm gives. |
//! | spin | While the vehicle turns about its thrust by more than 1.5 rad/s faster than the goal, reach and largest attitude error shrink in inverse proportion: large errors would take all that the actuators have, and the spin would go on for ever. |
//! | goals beyond the limits | are not slowed down: the limits are those of the way there, which may add a quarter to what such a goal asks for by itself. |
//!
//! W of the law is that of the error from r_G. It falls as the theory says between two times at which the reference is drawn to the vehicle.
#![allow(non_snake_case)]

mod limits;
mod offset;

use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::{FreeBody, State, Vehicle};
use nalgebra::{Vector1, Vector3, Vector6};

use crate::ReferencePoint;
use crate::analysis::ClosedLoop;
use crate::angle::wrapped;
use crate::trajectory::AttitudeMode;
use crate::trajectory::flat::{Attitude, ExternalForces, attitude, rigid_body};
use crate::trajectory::jet::{Jet, Jet3};

pub use limits::GovernorLimits;
use offset::Offset;

/// Leads a vehicle to its goal within limits. It allocates nothing.
///
/// ```
/// use fly_control::ReferencePoint;
/// use fly_control::governor::{Governor, GovernorLimits, Reach};
/// use fly_control::trajectory::AttitudeMode;
/// use fly_lie::{SE3, SO3};
/// use fly_mechanics::{State, Vehicle};
/// use nalgebra::Vector3;
///
/// let vehicle = Vehicle::from_toml(include_str!("../../../../configs/vehicles/quadcopter.toml"))?;
/// let limits = GovernorLimits::of_vehicle(&vehicle)?;
/// let reach = Reach { position: 1.3, heading: 0.5, time: 0.5 };
/// let mut governor = Governor::new(&vehicle.body, AttitudeMode::ThrustAligned, limits, reach);
///
/// // 100 m away the reference is no further than the reach; on the spot it is the goal.
/// let goal = ReferencePoint::at_rest(SE3::identity());
/// let far = State::at_rest(SE3::new(SO3::identity(), Vector3::new(100.0, 0.0, 0.0)));
/// let point = governor.govern(0.0, &far, &goal);
/// assert!((point.pose.translation.x - 98.7).abs() < 1e-12 && governor.is_active());
/// governor.restart();
/// assert_eq!(governor.govern(0.0, &State::at_rest(SE3::identity()), &goal), goal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Governor {
    limits: GovernorLimits,
    reach: Reach,
    mode: AttitudeMode,
    forces: ExternalForces,
    center_of_mass: Vector3<f64>,
    /// Offsets: horizontal (m), vertical (m), of the heading (rad).
    across: Offset<2>,
    along: Offset<1>,
    heading: Offset<1>,
    /// The goal's acceleration and jerk at the last step.
    last: Option<[Vector3<f64>; 2]>,
    jumped: bool,
}

/// The error left to the law, relative to the error that saturates the first input: the law still follows with a briefly saturated input. The shipped
/// quadcopter was lost in some of 600 starts from twice that error on.
const BEYOND: f64 = 1.5;
/// The heading error left to the law, degrees: limited inputs sacrifice torque about the vertical first.
const HEADING_REACH: f64 = 60.0;

/// How far from its reference a vehicle is left to the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// m.
    pub position: f64,
    /// rad.
    pub heading: f64,
    /// An error of the velocity counts as that of the position to which it grows in this time, s.
    pub time: f64,
}

impl Reach {
    /// For a vehicle with this loop in hover: not much more than the errors of position and velocity that alone saturate no input. `None` if the
    /// loop is unstable, or an error of either saturates no input or always one.
    pub fn of_loop(closed: &ClosedLoop, vehicle: &Vehicle) -> Option<Self> {
        let limits = vehicle.rotors.limits();
        let [position, velocity] = [0..3, 6..9].map(|of| closed.unsaturated_error(limits, of));
        let is_stable = closed.poles().ok()?.iter().all(|pole| pole.re < 0.0);
        let known = [position, velocity]
            .iter()
            .all(|error| *error > 0.0 && error.is_finite());
        (is_stable && known).then_some(Self {
            position: BEYOND * position,
            heading: HEADING_REACH.to_radians(),
            time: position / velocity,
        })
    }

    /// The lambda of `(d/dt + lambda)^4 e = 0` whose position and velocity count as here, 1/s: no way is quicker than the law that follows it.
    fn quickness(&self) -> f64 {
        4.0 / self.time
    }

    /// The largest speed (m/s) and acceleration (m/s^2) of that way from rest at this distance to the reference at rest, which no [`GovernorLimits`] limit:
    /// at `lambda t = 3`, and at `3 - sqrt 3`.
    pub fn largest_motion(&self) -> [f64; 2] {
        let lambda = self.quickness();
        let rate = |t: f64| t * t * t / 6.0 * (-t).exp();
        let slope = |t: f64| (0.5 * t * t - t * t * t / 6.0) * (-t).exp();
        let within = lambda * self.position;
        [
            within * rate(3.0),
            lambda * within * slope(3.0 - 3.0_f64.sqrt()),
        ]
    }
}

/// Position of the centre of mass with two derivatives, in the world.
struct CenterMotion {
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    acceleration: Vector3<f64>,
}

/// The largest attitude error that the law is given, rad.
const LARGEST_TURN: f64 = 150.0 / 180.0 * std::f64::consts::PI;
/// A spin about the thrust, rad/s, faster than the goal's, with which other errors may still be large. What asks for all of the actuators leaves none to stop a
/// faster one, which turns the errors about the vehicle before it has followed them.
const CALM: f64 = 1.5;

/// # Construction
impl Governor {
    /// Of a vehicle with this body.
    pub fn new(
        body: &FreeBody<f64>,
        mode: AttitudeMode,
        limits: GovernorLimits,
        reach: Reach,
    ) -> Self {
        Self {
            limits,
            reach,
            mode,
            forces: ExternalForces::of_body(body),
            center_of_mass: body.inertia().center_of_mass(),
            across: Offset::zero(),
            along: Offset::zero(),
            heading: Offset::zero(),
            last: None,
            jumped: false,
        }
    }

    /// Forgets where it has been.
    pub fn restart(&mut self) {
        self.across = Offset::zero();
        self.along = Offset::zero();
        self.heading = Offset::zero();
        self.last = None;
        self.jumped = false;
    }
}

/// # Flight
impl Governor {
    /// Whether the reference is on its way to the goal.
    pub fn is_active(&self) -> bool {
        !(self.across.is_zero() && self.along.is_zero() && self.heading.is_zero())
    }

    /// Whether the last reference is not a continuation of the one before.
    pub fn has_jumped(&self) -> bool {
        self.jumped
    }

    /// The limits.
    pub fn limits(&self) -> &GovernorLimits {
        &self.limits
    }

    /// How far from its reference the vehicle is left to the law.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The reference for this state and goal, `elapsed` s after the last one; the goal itself unless all numbers of both are finite.
    pub fn govern(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        goal: &ReferencePoint,
    ) -> ReferencePoint {
        let elapsed = if elapsed.is_finite() { elapsed } else { 0.0 };
        self.jumped = false;
        if ![state.pose, goal.pose].iter().all(is_finite)
            || ![state.twist, goal.twist, goal.acceleration]
                .iter()
                .flatten()
                .all(|x| x.is_finite())
        {
            return *goal;
        }
        let motion = self.motion(&goal.pose, &goal.twist, &goal.acceleration);
        let present = self.motion(&state.pose, &state.twist, &Vector6::zeros());
        self.advance(elapsed, &motion);
        let calm = CALM / (state.twist[5] - goal.twist[5]).abs();
        self.draw_near(&motion, &present, self.reach.position * calm.min(1.0));
        self.turn_near(state, goal);
        let rates = self.rates(elapsed, &motion.acceleration);
        let mut point = if self.is_active() {
            self.on_the_way(goal, &motion, rates)
        } else {
            *goal
        };
        self.cut_turn(state, &mut point, calm);
        point
    }

    /// The reference for this state and goal of a vehicle that cannot follow: it has the vehicle's position, velocity and heading, and no
    /// acceleration, so that the law asks for no more than to carry the vehicle. The way to the goal begins there.
    pub fn wait(&mut self, state: &State<f64>, goal: &ReferencePoint) -> ReferencePoint {
        let motion = self.motion(&goal.pose, &goal.twist, &goal.acceleration);
        let present = self.motion(&state.pose, &state.twist, &Vector6::zeros());
        let e = present.position - motion.position;
        let v = present.velocity - motion.velocity;
        let derivatives = [e, v, -motion.acceleration, Vector3::zeros()];
        let turn = yaw_before_tilt(&(goal.pose.rotation.inverse() * state.pose.rotation));
        if derivatives.iter().flatten().all(|x| x.is_finite()) && turn.is_finite() {
            self.across = Offset::new(derivatives.map(|x| x.xy()));
            self.along = Offset::new(derivatives.map(|x| Vector1::new(x.z)));
            let turned = [turn, 0.0, 0.0, 0.0];
            self.heading = Offset::new(turned.map(Vector1::new));
            self.last = None;
        }
        let point = self.govern(0.0, state, goal);
        self.jumped = true;
        point
    }

    fn advance(&mut self, elapsed: f64, goal: &CenterMotion) {
        let (limits, v, a) = (&self.limits, &goal.velocity, &goal.acceleration);
        let vertical = |x: &Vector3<f64>| Vector1::new(x.z);
        let still = Vector1::zeros();
        let quickest = self.reach.quickness();
        (self.across).advance(elapsed, &limits.across(quickest), &v.xy(), &a.xy());
        (self.along).advance(elapsed, &limits.along(quickest), &vertical(v), &vertical(a));
        (self.heading).advance(elapsed, &limits.heading(), &still, &still);
    }

    /// Draws the reference to the vehicle as far as this reach, m.
    fn draw_near(&mut self, goal: &CenterMotion, present: &CenterMotion, reach: f64) {
        let position = goal.position + self.offset(0) - present.position;
        let velocity = goal.velocity + self.offset(1) - present.velocity;
        let distance = position.norm().max(velocity.norm() * self.reach.time);
        // A distance that is no number leaves the goal to the law, which refuses it.
        if distance <= reach || !distance.is_finite() {
            return;
        }
        let part = reach / distance;
        let e = present.position + position * part - goal.position;
        let v = present.velocity + velocity * part - goal.velocity;
        let derivatives = [e, v, self.offset(2), self.offset(3)];
        self.across = Offset::new(derivatives.map(|x| x.xy()));
        self.along = Offset::new(derivatives.map(|x| Vector1::new(x.z)));
        self.jumped = true;
    }

    /// The same for the heading.
    fn turn_near(&mut self, state: &State<f64>, goal: &ReferencePoint) {
        let apart = yaw_before_tilt(&(goal.pose.rotation.inverse() * state.pose.rotation));
        let error = wrapped(self.heading.derivatives[0][0] - apart);
        if error.abs() <= self.reach.heading || !error.is_finite() {
            return;
        }
        let mut derivatives = self.heading.derivatives;
        derivatives[0][0] = wrapped(apart + self.reach.heading.copysign(error));
        self.heading = Offset::new(derivatives);
        self.jumped = true;
    }

    /// The k-th derivative of the offset of the position.
    fn offset(&self, k: usize) -> Vector3<f64> {
        let (across, along) = (&self.across.derivatives[k], &self.along.derivatives[k]);
        Vector3::new(across.x, across.y, along.x)
    }

    /// Of the body's centre of mass.
    fn motion(
        &self,
        pose: &SE3<f64>,
        twist: &Vector6<f64>,
        acceleration: &Vector6<f64>,
    ) -> CenterMotion {
        let (c, R) = (&self.center_of_mass, &pose.rotation);
        let [v, w] = halves(twist);
        let [v_dot, w_dot] = halves(acceleration);
        let at_center = v + w.cross(c);
        CenterMotion {
            position: pose.translation + R.act(c),
            velocity: R.act(&at_center),
            acceleration: R.act(&(v_dot + w_dot.cross(c) + w.cross(&at_center))),
        }
    }

    fn on_the_way(
        &self,
        goal: &ReferencePoint,
        motion: &CenterMotion,
        rates: [Vector3<f64>; 2],
    ) -> ReferencePoint {
        let derivatives = self.derivatives(motion, rates);
        let position: Jet3<5> =
            std::array::from_fn(|i| Jet::from_derivatives(derivatives.map(|x| x[i])));
        let turned = self.turned(goal);
        let aligned = match self.mode {
            AttitudeMode::Level => None,
            AttitudeMode::ThrustAligned => {
                attitude(&self.forces.specific_thrust_along(&position), &turned[1])
            }
        };
        rigid_body(&position, &aligned.unwrap_or(turned), &self.center_of_mass)
    }

    /// Jerk and snap of a goal with this acceleration, as differences: they matter only for the rates of the attitude on the way.
    fn rates(&mut self, elapsed: f64, acceleration: &Vector3<f64>) -> [Vector3<f64>; 2] {
        let (mut jerk, mut snap) = (Vector3::zeros(), Vector3::zeros());
        if let (Some([last, last_jerk]), true) = (self.last, elapsed > 0.0) {
            jerk = (acceleration - last) / elapsed;
            snap = (jerk - last_jerk) / elapsed;
        }
        self.last = Some([*acceleration, jerk]);
        [jerk, snap]
    }

    /// Of the reference of the centre of mass, up to the fourth.
    fn derivatives(
        &self,
        goal: &CenterMotion,
        [jerk, snap]: [Vector3<f64>; 2],
    ) -> [Vector3<f64>; 5] {
        let (across, along) = (&self.across.fourth, &self.along.fourth);
        [
            goal.position + self.offset(0),
            goal.velocity + self.offset(1),
            goal.acceleration + self.offset(2),
            jerk + self.offset(3),
            snap + Vector3::new(across.x, across.y, along.x),
        ]
    }

    /// The goal's attitude, turned about the vertical by the offset of the heading.
    fn turned(&self, goal: &ReferencePoint) -> Attitude {
        let R = goal.pose.rotation.matrix();
        let [_, w] = halves(&goal.twist);
        let [_, w_dot] = halves(&goal.acceleration);
        let [angle, rate, acceleration, _] = self.heading.derivatives.map(|x| x[0]);
        let (s, c) = Jet::<3>::from_derivatives([angle, rate, acceleration]).sin_cos();
        std::array::from_fn(|k| {
            let e = Vector3::ith(k, 1.0);
            let first = R * w.cross(&e);
            let second = R * (w_dot.cross(&e) + w.cross(&w.cross(&e)));
            let column = |i| Jet::from_derivatives([R[(i, k)], first[i], second[i]]);
            let [x, y, z]: Jet3<3> = std::array::from_fn(column);
            [c * x - s * y, s * x + c * y, z]
        })
    }

    /// Where the attitude error is larger than the law can use, the reference is as far away as that.
    fn cut_turn(&mut self, state: &State<f64>, point: &mut ReferencePoint, calm: f64) {
        let error = (state.pose.rotation.inverse() * point.pose.rotation).log();
        let angle = error.norm();
        let largest = LARGEST_TURN.min(calm);
        if angle > largest {
            let cut = state.pose.rotation * SO3::exp(&(error * (largest / angle)));
            let to_cut = cut.inverse() * point.pose.rotation;
            for vector in [&mut point.twist, &mut point.acceleration] {
                let [linear, angular] = halves(vector).map(|half| to_cut.act(&half));
                *vector = join(&linear, &angular);
            }
            point.pose.rotation = cut;
            self.jumped = true;
        }
    }
}

fn is_finite(pose: &SE3<f64>) -> bool {
    let numbers = pose.rotation.matrix().iter().chain(&pose.translation);
    numbers.into_iter().all(|x| x.is_finite())
}

fn halves(vector: &Vector6<f64>) -> [Vector3<f64>; 2] {
    [
        vector.fixed_rows::<3>(0).into(),
        vector.fixed_rows::<3>(3).into(),
    ]
}

/// The angle of the turn about the vertical that is nearest to a rotation, rad; zero for a half turn about a horizontal axis, to which all are
/// equally near.
fn yaw_before_tilt(rotation: &SO3<f64>) -> f64 {
    let R = rotation.matrix();
    (R[(1, 0)] - R[(0, 1)]).atan2(R[(0, 0)] + R[(1, 1)])
}
