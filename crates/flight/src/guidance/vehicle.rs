//! A single free body: it follows poses, and its law has constant matrices.
#![allow(non_snake_case)]

use std::sync::Arc;

use fly_control::allocation::InputBounds;
use fly_control::analysis::Attainable;
use fly_control::disturbance::HoverEstimate;
use fly_control::governor::Governor;
use fly_control::inputs::ReferenceInputs;
use fly_control::lead::{FastTurn, Lead};
use fly_control::predictor::StatePredictor;
use fly_control::setpoints::Demand;
use fly_control::spin::{SpinDesign, SpinLaw};
use fly_control::{Controller, InputBoundsError, ReferencePoint, Step, SystemPoint};
use fly_hal::Frame;
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Joint, Model};
use fly_mechanics::{State, Vehicle};
use nalgebra::{DVector, Vector3, Vector6};

use super::descent::Descent;
use super::spins::PreparedSpins;
use super::yaw::{Yaw, without_yaw};
use crate::disturbance::BodyDisturbance;
use crate::health::Spin;
use crate::reference::FlightReference;

/// A vehicle may tumble if it deviates from its planned rotation by more than this within the longest lag of its rotors, rad: the
/// rotors lose a part of their torque, and another part acts about wrong axes.
const TUMBLE: f64 = 0.3;
/// The same for a vehicle whose yaw is given up, which turns for long.
const SLOW_TURN: f64 = 0.1;

/// The fraction of its weight that a vehicle carries in a descent without its law.
const CARRIED: f64 = 0.95;

/// The reference of a vehicle, and the control law that follows it.
pub(super) struct VehicleGuidance {
    pub reference: FlightReference,
    pub controller: Controller,
    pub vehicle: Vehicle,
    /// The last reference, in the model's coordinates.
    pub coordinates: SystemPoint,
    /// For each actuator without which the vehicle cannot hover at rest.
    pub spins: Vec<PreparedSpins>,
    pub yaw: Yaw,
    /// Whether commands reach the vehicle.
    pub hears: bool,
    /// Whether a governor leads it from where it is now.
    begins_here: bool,
    /// The spin that has begun by itself since it was last taken.
    pub begun: Option<Spin>,
    joint: Joint<f64>,
    governor: Option<Governor>,
    /// The reference now, and when the next commands act.
    point: ReferencePoint,
    aim: ReferencePoint,
    /// The reference that the law has followed, now.
    followed: ReferencePoint,
    /// The same reference again, for the time when the next commands act.
    ahead: Option<FlightReference>,
    /// Delay from now until the next commands act, s.
    delay: f64,
    /// The displacement of a reference that does not begin where it is configured to, or has followed jumps of the measured
    /// position.
    moved: Option<SE3<f64>>,
    /// Descent rate of the failsafe, m/s.
    descent_rate: f64,
    failsafe: Option<Descent>,
    /// The input that carries the level vehicle.
    rest_input: DVector<f64>,
    /// Whether an error of the reference has been reported; only the first is.
    has_reported: bool,
}

/// # Construction
impl VehicleGuidance {
    /// # Panics
    /// If the model has no body.
    pub fn new(
        vehicle: &Vehicle,
        model: &Model<f64>,
        reference: FlightReference,
        controller: Controller,
        governor: Option<Governor>,
        descent_rate: f64,
    ) -> Self {
        let joint = model.bodies().next().and_then(|body| model.joint(body));
        let at_rest = ReferencePoint::at_rest(SE3::identity());
        let mut guidance = Self {
            reference,
            controller,
            vehicle: vehicle.clone(),
            coordinates: SystemPoint::new(model),
            spins: Vec::new(),
            yaw: Yaw::Followed,
            hears: true,
            begins_here: false,
            begun: None,
            joint: *joint.expect("a vehicle has a body"),
            governor,
            point: at_rest,
            aim: at_rest,
            followed: at_rest,
            ahead: None,
            delay: 0.0,
            moved: None,
            descent_rate,
            failsafe: None,
            rest_input: ReferenceInputs::new(vehicle).at(&at_rest).input,
            has_reported: false,
        };
        guidance.lead_when_turning(true);
        guidance
    }

    /// Accounts for the delay that the controller knows; `reference` is the vehicle's reference again. A recorded
    /// reference is not known in advance and is followed as it is.
    pub fn look_ahead(&mut self, reference: FlightReference) {
        self.delay = self.controller.delay();
        self.ahead = matches!(reference, FlightReference::Planned(_)).then_some(reference);
    }

    /// Lets the law lead the whole lag of the rotors while the vehicle turns fast.
    fn lead_when_turning(&mut self, holds_yaw: bool) {
        let fast = if holds_yaw {
            FastTurn::Unplanned(TUMBLE)
        } else {
            FastTurn::OfBody(SLOW_TURN)
        };
        if let Ok(lead) = Lead::of_rotors(&self.vehicle.rotors, 0.0) {
            self.controller.set_lead_when_turning(lead, fast);
        }
    }
}

/// # References
impl VehicleGuidance {
    /// Evaluates the reference at this flight time, s. An infeasible one holds its last point.
    pub fn evaluate(&mut self, time: f64, frame: &Frame) {
        // After a failsafe the vehicle may be far from the reference, and moving.
        self.begins_here |= self.failsafe.take().is_some();
        // Twists and their rates are in body coordinates and do not change.
        let moved = self.moved;
        let moves = |point: &mut ReferencePoint| {
            if let Some(moved) = moved {
                point.pose = moved * point.pose;
            }
        };
        match self.reference.at(time, frame, &mut self.point) {
            Ok(()) => moves(&mut self.point),
            Err(error) => {
                if !std::mem::replace(&mut self.has_reported, true) {
                    tracing::warn!("{error}: the reference holds its last point meanwhile");
                }
            }
        }
        let ahead = self.ahead.as_mut();
        match ahead.map(|it| it.at(time + self.delay, frame, &mut self.aim)) {
            Some(Ok(())) => moves(&mut self.aim),
            // An error ahead is reported when its time comes.
            _ => self.aim = self.point,
        }
        self.write_coordinates();
    }

    /// Moves the reference, evaluated at its beginning, to this pose's position and heading.
    pub fn begin_at(&mut self, start: &SE3<f64>) {
        let turn = heading(&start.rotation) - heading(&self.point.pose.rotation);
        let turn = SO3::exp(&(Vector3::z() * turn));
        let from = turn.act(&self.point.pose.translation);
        let more = SE3::new(turn, start.translation - from);
        self.point.pose = more * self.point.pose;
        self.aim.pose = more * self.aim.pose;
        self.moved = Some(match self.moved {
            Some(moved) => more * moved,
            None => more,
        });
        self.write_coordinates();
    }

    /// Moves the reference, if it is known in advance, or the failsafe by this vector of the world, m. Returns whether the
    /// reference has moved.
    pub fn displace(&mut self, by: &Vector3<f64>, is_failsafe: bool) -> bool {
        if is_failsafe {
            self.failsafe = self.failsafe.map(|failsafe| failsafe.displaced(by));
            return false;
        }
        let is_known = matches!(self.reference, FlightReference::Planned(_));
        if is_known {
            let moved = self.moved.unwrap_or_else(SE3::identity);
            self.moved = Some(SE3::new(SO3::identity(), *by) * moved);
            // One that cannot be evaluated holds its last point.
            for point in [&mut self.point, &mut self.aim] {
                point.pose.translation += by;
            }
            self.write_coordinates();
        }
        is_known
    }

    /// Begins a failsafe in the current state.
    pub fn begin_failsafe(&mut self, descends: bool, predictor: &StatePredictor) {
        let rate = if descends { self.descent_rate } else { 0.0 };
        let state = state(predictor);
        self.failsafe = Some(match &mut self.governor {
            Some(governor) => {
                self.begins_here = true;
                Descent::where_it_stops(&state, rate, &self.point, governor)
            }
            None => Descent::new(&state, rate),
        });
    }

    /// Evaluates the failsafe's reference `time` s after its beginning.
    pub fn failsafe(&mut self, time: f64) {
        if let Some(failsafe) = &self.failsafe {
            self.point = failsafe.at(time);
            self.followed = self.point;
            self.aim = failsafe.at(time + self.delay);
            self.write_coordinates();
        }
    }

    fn write_coordinates(&mut self) {
        write(&self.joint, &self.point, &mut self.coordinates);
    }
}

/// # The law
impl VehicleGuidance {
    /// The input that follows the last reference; it may not be finite.
    pub fn step(&mut self, elapsed: f64, predictor: &mut StatePredictor) -> &Step {
        if self.controller.delay() > 0.0 {
            (self.controller).observe_measured(elapsed, &state(predictor));
            let observer = self.controller.disturbance();
            predictor.look_ahead(observer.map(|found| found.force().as_slice()));
        }
        self.controller.set_actuators(predictor.ahead().actuators);
        let ahead = of_motion(predictor.tracked_motion_ahead());
        if self.yaw.is_given_up() && self.controller.spin().is_none() {
            self.follow_without_yaw(elapsed, &ahead, predictor);
        }
        let (followed, is_led) = self.govern(elapsed, &ahead);
        self.followed = if is_led { followed } else { self.point };
        self.controller.step_after(elapsed, &ahead, &followed);
        if let Some(adjusted) = self.adjusted(is_led, predictor) {
            write(&self.joint, &adjusted, &mut self.coordinates);
        }
        self.controller.last()
    }

    /// Begins the spin that takes over; until there is one, the reference turns with the vehicle.
    fn follow_without_yaw(&mut self, elapsed: f64, ahead: &State<f64>, predictor: &StatePredictor) {
        if let Some(design) = self.yaw.taken_over(elapsed, ahead) {
            self.begun = Some(self.numbers(&design));
            self.controller.set_spin(Some(design));
        } else {
            self.point = without_yaw(&self.point, &state(predictor));
            self.aim = without_yaw(&self.aim, ahead);
            self.write_coordinates();
        }
    }

    /// What the law follows, and whether the governor leads the vehicle.
    fn govern(&mut self, elapsed: f64, ahead: &State<f64>) -> (ReferencePoint, bool) {
        let is_governed = self.may_be_led();
        let (followed, is_led) = match self.governor.as_mut().filter(|_| is_governed) {
            Some(governor) => {
                let begins = std::mem::take(&mut self.begins_here) || !self.hears;
                let followed = if begins {
                    governor.wait(ahead, &self.aim)
                } else {
                    governor.govern(elapsed, ahead, &self.aim)
                };
                (followed, governor.is_active())
            }
            None => (self.aim, false),
        };
        if let (Some(failsafe), false) = (&mut self.failsafe, is_led) {
            failsafe.arrive();
        }
        (followed, is_led)
    }

    /// The reference that counters the disturbance found, or that of a spin, now; `None` where it is as it was.
    fn adjusted(&self, is_led: bool, predictor: &StatePredictor) -> Option<ReferencePoint> {
        if let Some(spin) = self.controller.spin() {
            return Some(spin.tracked_reference(&state(predictor), &self.point));
        }
        let plant = self.controller.plant();
        let leaned = if self.controller.delay() > 0.0 {
            plant.leaning(&self.point)
        } else {
            plant.leaned().copied()
        };
        leaned.filter(|_| !is_led)
    }

    /// Whether the governor, if there is one, leads the vehicle to a distant reference.
    fn may_be_led(&self) -> bool {
        self.failsafe.as_ref().is_none_or(Descent::is_led) && self.controller.spin().is_none()
    }

    /// The governor that leads the vehicle to a distant reference, if any.
    pub fn governor(&self) -> Option<&Governor> {
        self.governor.as_ref().filter(|_| self.may_be_led())
    }

    /// The law's demand in its last step.
    pub fn demand(&self, predictor: &StatePredictor) -> Demand {
        let ahead = of_motion(predictor.tracked_motion_ahead());
        Demand::new(&self.controller, &ahead, &self.followed)
    }

    /// The thrust of a failsafe whose law gives no result, N.
    pub fn thrust_without_law(&self) -> f64 {
        let body = &self.vehicle.body;
        CARRIED * body.inertia().mass() * body.gravity().norm()
    }

    /// Writes the input of a failsafe whose law gives no result.
    pub fn input_without_law(&self, input: &mut [f64]) {
        for (to, rest) in input.iter_mut().zip(&self.rest_input) {
            *to = CARRIED * rest;
        }
    }

    /// The fraction of its weight that the last step's input carries if the vehicle is level.
    pub fn weight_fraction(&self) -> f64 {
        let input = &self.controller.last().input;
        input.dot(&self.rest_input) / self.rest_input.norm_squared()
    }

    /// The disturbance of the body by this wrench and change of thrust.
    pub fn disturbance(
        &self,
        wrench: &[f64],
        thrust_scale: f64,
        predictor: &StatePredictor,
    ) -> BodyDisturbance {
        let R = *state(predictor).pose.rotation.matrix();
        let wrench = Vector6::from_column_slice(wrench);
        let body = self.controller.plant().body();
        BodyDisturbance {
            force: R * wrench.fixed_rows::<3>(0),
            moment: wrench.fixed_rows::<3>(3).into_owned(),
            thrust_scale,
            model_mass: body.inertia().mass(),
            hover: HoverEstimate::new(body, &R, &wrench),
        }
    }
}

/// # Failed actuators
impl VehicleGuidance {
    /// Sets bounds of the inputs, within which this is attainable.
    pub fn set_input_bounds(
        &mut self,
        bounds: &InputBounds,
        attainable: Option<Attainable>,
    ) -> Result<(), InputBoundsError> {
        self.controller.set_input_bounds(bounds)?;
        let mut prepared = self.spins.iter();
        let prepared = prepared.find(|prepared| prepared.fits(bounds));
        let holds_yaw = attainable != Some(Attainable::Spinning);
        let was_given_up = self.yaw.is_given_up();
        self.yaw = if holds_yaw {
            Yaw::Followed
        } else {
            Yaw::GivenUp {
                spins: prepared.map_or(Vec::new(), |prepared| prepared.designs.clone()),
                since: 0.0,
            }
        };
        let needed = prepared.filter(|prepared| prepared.is_needed);
        let design = needed.map(|prepared| Arc::clone(&prepared.designs[0]));
        let was_spinning = self.controller.spin().is_some();
        if let (None, true, Some(governor)) =
            (&design, was_spinning || was_given_up, &mut self.governor)
        {
            // The vehicle may have moved far meanwhile.
            governor.restart();
        }
        self.controller.set_spin(design);
        self.lead_when_turning(holds_yaw);
        Ok(())
    }

    /// The design of the spinning hover; `None` unless the vehicle hovers spinning.
    pub fn spin(&self) -> Option<&SpinDesign> {
        self.controller.spin().map(SpinLaw::design)
    }

    /// The numbers of a spin of this vehicle.
    pub fn numbers(&self, design: &SpinDesign) -> Spin {
        let spin = design.spin();
        let center = self.vehicle.body.inertia().center_of_mass();
        Spin {
            rate: spin.rate,
            tilt: spin.tilt(),
            radius: spin.radius(&center),
        }
    }
}

/// Angle of the body's x axis about the world's z axis, rad.
fn heading(attitude: &SO3<f64>) -> f64 {
    let x = attitude.act(&Vector3::x());
    x.y.atan2(x.x)
}

/// Writes a reference in the coordinates of the vehicle's joint.
fn write(joint: &Joint<f64>, point: &ReferencePoint, to: &mut SystemPoint) {
    joint.coordinates(&point.pose, &mut to.configuration);
    to.velocity.copy_from_slice(point.twist.as_slice());
    to.acceleration
        .copy_from_slice(point.acceleration.as_slice());
}

/// Pose and twist of the single body.
fn state(predictor: &StatePredictor) -> State<f64> {
    of_motion(predictor.tracked_motion())
}

fn of_motion(motion: Option<(SE3<f64>, Vector6<f64>)>) -> State<f64> {
    motion.map_or_else(
        || State::at_rest(SE3::identity()),
        |(pose, twist)| State { pose, twist },
    )
}
