//! A reference and the control law that follows it.
#![allow(non_snake_case)]

use std::ops::Range;
use std::sync::Arc;

use fly_control::analysis::{Attainable, LyapunovGuarantee};
use fly_control::disturbance::{Failure, HoverEstimate};
use fly_control::governor::Governor;
use fly_control::inputs::ReferenceInputs;
use fly_control::lead::{FastTurn, Lead};
use fly_control::plant::{PlantError, SystemPlant};
use fly_control::predictor::StatePredictor;
use fly_control::setpoints::Demand;
use fly_control::spin::{SpinDesign, SpinLaw};
use fly_control::{Controller, InputBoundsError, ReferencePoint, Step, SystemPoint, Trajectory};
use fly_hal::Frame;
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Joint, Model};
use fly_mechanics::{State, System, Vehicle};
use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use crate::descent::Descent;
use crate::disturbance::{BodyDisturbance, DisturbanceReport};
use crate::health::Spin;
use crate::reference::FlightReference;
use crate::supervisor::Fault;
use crate::yaw::{Yaw, without_yaw};

/// A vehicle that turns otherwise than planned by more than this within the longest lag of its rotors, rad, may tumble: they lose a part of their torque,
/// and push with another part about wrong axes.
const TUMBLE: f64 = 0.3;
/// One whose yaw is given up turns for long, and less is too much.
const SLOW_TURN: f64 = 0.1;

/// Lets the law lead the whole lag of the rotors while the vehicle turns fast.
fn lead_when_turning(controller: &mut Controller, vehicle: &Vehicle, holds_yaw: bool) {
    let fast = if holds_yaw {
        FastTurn::Unplanned(TUMBLE)
    } else {
        FastTurn::OfBody(SLOW_TURN)
    };
    if let Ok(lead) = Lead::of_rotors(&vehicle.rotors, 0.0) {
        controller.set_lead_when_turning(lead, fast);
    }
}

/// A reference and the control law that follows it.
///
/// Allocates only in the first call of a function, for error messages, and once to find a configuration that the inputs
/// can hold.
pub struct Guidance {
    plant: Plant,
    /// The last reference, in the model's coordinates.
    point: SystemPoint,
    /// Delay from now until the next commands act, s.
    delay: f64,
    /// The input that carries a level vehicle, or that holds a system where its failsafe holds it.
    rest_input: DVector<f64>,
    /// Whether an error of the reference and one of the law have been reported; each is reported once.
    reported: [bool; 2],
}

/// A system with one free body has constant matrices and follows poses; any other system follows configurations.
#[allow(clippy::large_enum_variant)] // there is one in a flight
enum Plant {
    Vehicle {
        reference: FlightReference,
        controller: Box<Controller>,
        governor: Option<Box<Governor>>,
        joint: Joint<f64>,
        /// The reference now, and when the next commands act.
        point: ReferencePoint,
        aim: ReferencePoint,
        /// The reference that the law has followed, now.
        followed: ReferencePoint,
        ahead: Option<FlightReference>,
        /// The displacement of a reference that does not begin where it is configured to.
        moved: Option<SE3<f64>>,
        vehicle: Box<Vehicle>,
        /// Descent rate of the failsafe, m/s.
        descent_rate: f64,
        failsafe: Option<Descent>,
        /// For each actuator without which the vehicle cannot hover at rest.
        spins: Vec<PreparedSpins>,
        yaw: Yaw,
        /// The spin that has begun by itself.
        begun: Option<Spin>,
    },
    System {
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Box<Controller<SystemPlant>>,
        /// The reference at the time when the next commands act, if that is later.
        ahead: Option<(Box<dyn Trajectory<SystemPoint>>, SystemPoint)>,
        rest_inputs: ReferenceInputs<SystemPlant>,
    },
}

/// The spins that are prepared for the loss of one actuator.
struct PreparedSpins {
    /// Its inputs.
    lost: Range<usize>,
    /// Whether it leaves nothing else, so that the vehicle spins at once.
    is_needed: bool,
    /// The slowest if it is needed, else those in both senses.
    designs: Vec<Arc<SpinDesign>>,
}

/// Angle of the body's x axis about the world's z axis, rad.
fn heading(attitude: &SO3<f64>) -> f64 {
    let x = attitude.act(&Vector3::x());
    x.y.atan2(x.x)
}

/// The fraction of its weight that a vehicle carries in a descent without its law.
const CARRIED: f64 = 0.95;

/// # Construction
impl Guidance {
    /// For one free body, led by a governor when its reference is far away. Its failsafe levels the vehicle and holds
    /// its position or descends at `descent_rate`, m/s.
    ///
    /// # Panics
    /// If the model has no body.
    pub fn of_vehicle(
        vehicle: &Vehicle,
        model: &Model<f64>,
        reference: FlightReference,
        controller: Controller,
        governor: Option<Governor>,
        descent_rate: f64,
    ) -> Self {
        let joint = model.bodies().next().and_then(|body| model.joint(body));
        let mut controller = Box::new(controller);
        lead_when_turning(&mut controller, vehicle, true);
        let at_rest = ReferencePoint::at_rest(SE3::identity());
        Self {
            rest_input: ReferenceInputs::new(vehicle).at(&at_rest).input,
            plant: Plant::Vehicle {
                reference,
                controller,
                governor: governor.map(Box::new),
                joint: *joint.expect("a vehicle has a body"),
                point: at_rest,
                aim: at_rest,
                followed: at_rest,
                ahead: None,
                moved: None,
                vehicle: Box::new(vehicle.clone()),
                descent_rate,
                failsafe: None,
                spins: Vec::new(),
                yaw: Yaw::Followed,
                begun: None,
            },
            point: SystemPoint::new(model),
            delay: 0.0,
            reported: [false; 2],
        }
    }

    /// Accounts for a delay, known to the controller, between commands and their effect. `ahead` is the same vehicle
    /// reference again, evaluated for the time when commands act. A recorded reference is not known in advance and is
    /// followed as it is.
    ///
    /// # Panics
    /// If this is a system.
    #[must_use]
    pub fn with_delay(mut self, reference: FlightReference) -> Self {
        let Plant::Vehicle {
            controller, ahead, ..
        } = &mut self.plant
        else {
            panic!("the reference of a vehicle for a system");
        };
        self.delay = controller.delay();
        *ahead = matches!(reference, FlightReference::Planned(_)).then_some(reference);
        self
    }

    /// Prepares to hover while spinning: designs, for each actuator without which the vehicle cannot hover at rest, that
    /// hover now rather than in flight.
    #[must_use]
    pub fn with_spinning_hover(mut self) -> Self {
        if let Plant::Vehicle { vehicle, spins, .. } = &mut self.plant {
            let p = vehicle.rotors.input_dim();
            for lost in vehicle.rotors.rotor_ranges() {
                let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; p], vec![f64::INFINITY; p]);
                lower[lost.clone()].fill(0.0);
                upper[lost.clone()].fill(0.0);
                let bounds = [lower.as_slice(), upper.as_slice()];
                let attainable = Attainable::within(vehicle, bounds);
                if attainable == Attainable::Hover {
                    continue;
                }
                let is_needed = attainable == Attainable::Nothing;
                let most = if is_needed { 1 } else { usize::MAX };
                let found = SpinDesign::all(vehicle, bounds).take(most);
                let designs: Vec<_> = found.map(Arc::new).collect();
                if !designs.is_empty() {
                    spins.push(PreparedSpins {
                        lost,
                        is_needed,
                        designs,
                    });
                }
            }
        }
        self
    }

    /// [`with_delay`](Self::with_delay) for a system.
    ///
    /// # Panics
    /// If this is a vehicle.
    #[must_use]
    pub fn system_with_delay(mut self, reference: Box<dyn Trajectory<SystemPoint>>) -> Self {
        let Plant::System {
            controller, ahead, ..
        } = &mut self.plant
        else {
            panic!("the reference of a system for a vehicle");
        };
        self.delay = controller.delay();
        *ahead = Some((reference, SystemPoint::new(controller.model())));
        self
    }

    /// For any system. Its failsafe holds the current configuration, or the nearest one that the inputs can hold.
    ///
    /// # Errors
    /// [`PlantError`] if the system has no inputs or is constrained.
    pub fn of_system(
        system: &System,
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Controller<SystemPlant>,
    ) -> Result<Self, PlantError> {
        let mut rest_inputs = ReferenceInputs::of_system(system)?;
        let point = SystemPoint::new(controller.model());
        Ok(Self {
            rest_input: rest_inputs.at(&point.as_reference()).input,
            point,
            delay: 0.0,
            plant: Plant::System {
                reference,
                controller: Box::new(controller),
                ahead: None,
                rest_inputs,
            },
            reported: [false; 2],
        })
    }
}

/// # References
impl Guidance {
    /// Evaluates the reference at flight time `time` (s), to which `frame` belongs. An infeasible vehicle reference
    /// holds its last point.
    ///
    /// # Errors
    /// [`Fault::Reference`] if a system's reference is not feasible.
    pub fn evaluate(&mut self, time: f64, frame: &Frame) -> Result<(), Fault> {
        let is_first = !self.reported[0];
        match &mut self.plant {
            Plant::Vehicle {
                reference,
                joint,
                point,
                aim,
                ahead,
                moved,
                governor,
                failsafe,
                ..
            } => {
                // After a failsafe the vehicle may be far from the reference.
                if let (Some(_), Some(governor)) = (failsafe.take(), governor) {
                    governor.restart();
                }
                // Twists and their rates are in body coordinates and do not change.
                let moved = *moved;
                let moves = |point: &mut ReferencePoint| {
                    if let Some(moved) = moved {
                        point.pose = moved * point.pose;
                    }
                };
                match reference.at(time, frame, point) {
                    Ok(()) => moves(point),
                    Err(error) if is_first => {
                        self.reported[0] = true;
                        tracing::warn!("{error}: the reference holds its last point meanwhile");
                    }
                    Err(_) => {}
                }
                let ahead = ahead
                    .as_mut()
                    .map(|it| it.at(time + self.delay, frame, aim));
                match ahead {
                    Some(Ok(())) => moves(aim),
                    // An error ahead is reported when its time comes.
                    _ => *aim = *point,
                }
                write(joint, point, &mut self.point);
            }
            Plant::System {
                reference, ahead, ..
            } => {
                let mut result = reference.at(time, &mut self.point);
                if let (Some((ahead, aim)), true) = (ahead, result.is_ok()) {
                    result = ahead.at(time + self.delay, aim);
                }
                if let Err(error) = result {
                    if is_first {
                        self.reported[0] = true;
                        tracing::error!("{error}");
                    }
                    return Err(Fault::Reference);
                }
            }
        }
        Ok(())
    }

    /// Moves a vehicle's reference, [evaluated](Self::evaluate) at its beginning, so that it begins at this pose's
    /// position and heading, whatever the tilt. The reference of a system stays.
    pub fn begin_at(&mut self, start: &SE3<f64>) {
        let Plant::Vehicle {
            joint,
            point,
            aim,
            moved,
            ..
        } = &mut self.plant
        else {
            return;
        };
        let turn = heading(&start.rotation) - heading(&point.pose.rotation);
        let turn = SO3::exp(&(Vector3::z() * turn));
        let more = SE3::new(turn, start.translation - turn.act(&point.pose.translation));
        point.pose = more * point.pose;
        aim.pose = more * aim.pose;
        *moved = Some(match moved {
            Some(moved) => more * *moved,
            None => more,
        });
        write(joint, point, &mut self.point);
    }

    /// Begins a failsafe in the current state: a vehicle is levelled where it can stop, and sinks if it `descends`; a system
    /// holds still.
    pub fn begin_failsafe(&mut self, descends: bool, predictor: &StatePredictor) {
        match &mut self.plant {
            Plant::Vehicle {
                descent_rate,
                failsafe,
                point,
                governor,
                ..
            } => {
                let rate = if descends { *descent_rate } else { 0.0 };
                let state = state(predictor);
                *failsafe = Some(match governor {
                    Some(governor) => {
                        let descent = Descent::where_it_stops(&state, rate, point, governor);
                        governor.restart();
                        descent
                    }
                    None => Descent::new(&state, rate),
                });
            }
            Plant::System {
                controller,
                rest_inputs,
                ahead,
                ..
            } => {
                let point = &mut self.point;
                let present = predictor.configuration();
                point.configuration.copy_from_slice(present);
                if !controller.nearest_equilibrium(&mut point.configuration) {
                    tracing::warn!(
                        "no equilibrium found near the current configuration: holding the current configuration"
                    );
                }
                point.velocity.fill(0.0);
                point.acceleration.fill(0.0);
                self.rest_input = rest_inputs.at(&point.as_reference()).input;
                if let Some((_, aim)) = ahead {
                    (aim.configuration).copy_from_slice(&point.configuration);
                    aim.velocity.fill(0.0);
                    aim.acceleration.fill(0.0);
                }
            }
        }
    }

    /// Evaluates the failsafe's reference `time` s after its [beginning](Self::begin_failsafe).
    pub fn failsafe(&mut self, time: f64) {
        if let Plant::Vehicle {
            joint,
            point,
            aim,
            followed,
            failsafe: Some(failsafe),
            ..
        } = &mut self.plant
        {
            *point = failsafe.at(time);
            *followed = *point;
            *aim = failsafe.at(time + self.delay);
            write(joint, point, &mut self.point);
        }
    }

    /// Writes the input of a failsafe whose law gives no result. A vehicle carries a little less than its weight, as if
    /// it were level, and sinks; a system holds the forces of its failsafe configuration.
    pub fn input_without_law(&self, input: &mut [f64]) {
        let part = match &self.plant {
            Plant::Vehicle { .. } => CARRIED,
            Plant::System { .. } => 1.0,
        };
        for (to, rest) in input.iter_mut().zip(&self.rest_input) {
            *to = part * rest;
        }
    }

    /// The fraction of its weight that the last step's input carries if the vehicle is level: 1 in hover. `None` for a
    /// system.
    pub fn weight_fraction(&self) -> Option<f64> {
        match &self.plant {
            Plant::Vehicle { controller, .. } => {
                let input = &controller.last().input;
                Some(input.dot(&self.rest_input) / self.rest_input.norm_squared())
            }
            Plant::System { .. } => None,
        }
    }

    /// The last reference.
    pub fn point(&self) -> &SystemPoint {
        &self.point
    }

    /// When the reference comes to rest, s, if known.
    pub fn duration(&self) -> Option<f64> {
        match &self.plant {
            Plant::Vehicle { reference, .. } => reference.duration(),
            Plant::System { reference, .. } => reference.duration(),
        }
    }

    /// Describes the reference; `kind` is its kind in the configuration.
    pub fn describe(&self, kind: &str) -> String {
        match &self.plant {
            Plant::Vehicle { reference, .. } => reference.describe(kind),
            Plant::System { .. } => kind.to_owned(),
        }
    }
}

/// # Disturbances
impl Guidance {
    /// Passes the controller the mean input since its last step; `None` tells its disturbance observer to hold its
    /// estimate.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        match &mut self.plant {
            Plant::Vehicle { controller, .. } => controller.set_applied(input),
            Plant::System { controller, .. } => controller.set_applied(input),
        }
    }

    /// Tells the controller that the next step's state is predicted; see [`Controller::skip_observation`].
    pub fn skip_observation(&mut self) {
        match &mut self.plant {
            Plant::Vehicle { controller, .. } => controller.skip_observation(),
            Plant::System { controller, .. } => controller.skip_observation(),
        }
    }

    /// Whether a disturbance as large as a failed actuator acts that no failure explains.
    pub fn has_unexplained_disturbance(&self) -> bool {
        match &self.plant {
            Plant::Vehicle { controller, .. } => controller.has_unexplained_disturbance(),
            Plant::System { controller, .. } => controller.has_unexplained_disturbance(),
        }
    }

    /// Takes the failure that was detected since the last call.
    pub fn take_failure(&mut self) -> Option<Failure> {
        match &mut self.plant {
            Plant::Vehicle { controller, .. } => controller.take_failure(),
            Plant::System { controller, .. } => controller.take_failure(),
        }
    }

    /// The force that the model does not explain (n numbers), and the ratio of actual to modelled thrust; `None`
    /// without an observer.
    pub fn disturbance(&self) -> Option<(&[f64], f64)> {
        match &self.plant {
            Plant::Vehicle { controller, .. } => (controller.disturbance())
                .map(|observer| (observer.force().as_slice(), observer.thrust_scale())),
            Plant::System { controller, .. } => (controller.disturbance())
                .map(|observer| (observer.force().as_slice(), observer.thrust_scale())),
        }
    }

    /// The disturbances of the flight, in the predictor's state; `None` without an observer.
    pub fn disturbance_report(&self, predictor: &StatePredictor) -> Option<DisturbanceReport> {
        let (force, thrust_scale) = self.disturbance()?;
        let body = match &self.plant {
            Plant::Vehicle { controller, .. } => {
                let (R, wrench) = (
                    *state(predictor).pose.rotation.matrix(),
                    Vector6::from_column_slice(force),
                );
                let body = controller.plant().body();
                Some(BodyDisturbance {
                    force: R * wrench.fixed_rows::<3>(0),
                    moment: wrench.fixed_rows::<3>(3).into_owned(),
                    thrust_scale,
                    model_mass: body.inertia().mass(),
                    hover: HoverEstimate::new(body, &R, &wrench),
                })
            }
            Plant::System { .. } => None,
        };
        let force = force.to_vec();
        Some(DisturbanceReport { force, body })
    }
}

/// # The law
impl Guidance {
    /// Returns the input that follows the last reference, `elapsed` s after the previous step. If commands act with a
    /// delay, the predictor looks ahead.
    ///
    /// # Errors
    /// [`Fault::Controller`] if the law has no finite result in this state.
    pub fn step(&mut self, elapsed: f64, predictor: &mut StatePredictor) -> Result<&Step, Fault> {
        let step = match &mut self.plant {
            Plant::Vehicle {
                controller,
                governor,
                point,
                aim,
                followed: now,
                joint,
                failsafe,
                vehicle,
                yaw,
                begun,
                ..
            } => {
                if controller.delay() > 0.0 {
                    controller.observe_measured(elapsed, &state(predictor));
                    let force = controller
                        .disturbance()
                        .map(|found| found.force().as_slice());
                    predictor.look_ahead(force);
                }
                controller.set_actuators(predictor.ahead().actuators);
                let state = of_motion(predictor.tracked_motion_ahead());
                if yaw.is_given_up() && controller.spin().is_none() {
                    if let Some(design) = yaw.taken_over(elapsed, &state) {
                        *begun = Some(numbers(vehicle, &design));
                        controller.set_spin(Some(design));
                    } else {
                        *point = without_yaw(point, &self::state(predictor));
                        *aim = without_yaw(aim, &state);
                        write(joint, point, &mut self.point);
                    }
                }
                let is_led = failsafe.as_ref().is_none_or(Descent::is_led);
                let is_governed = is_led && controller.spin().is_none();
                let governor = governor.as_mut().filter(|_| is_governed);
                let (followed, is_led) = match governor {
                    Some(governor) => {
                        let followed = governor.govern(elapsed, &state, aim);
                        (followed, governor.is_active())
                    }
                    None => (*aim, false),
                };
                if let (Some(failsafe), false) = (failsafe, is_led) {
                    failsafe.arrive();
                }
                *now = if is_led { followed } else { *point };
                controller.step_after(elapsed, &state, &followed);
                // The reference is adjusted to counter the disturbance found.
                let plant = controller.plant();
                let leaned = if controller.delay() > 0.0 {
                    plant.leaning(point)
                } else {
                    plant.leaned().copied()
                };
                let followed = match controller.spin() {
                    Some(spin) => Some(spin.tracked_reference(&self::state(predictor), point)),
                    None => leaned.filter(|_| !is_led),
                };
                if let Some(followed) = followed {
                    write(joint, &followed, &mut self.point);
                }
                controller.last()
            }
            Plant::System {
                controller, ahead, ..
            } => {
                if controller.delay() > 0.0 {
                    let (x, xi) = (predictor.configuration(), predictor.velocity());
                    controller.observe_measured(elapsed, x, xi);
                    let force = controller
                        .disturbance()
                        .map(|found| found.force().as_slice());
                    predictor.look_ahead(force);
                }
                let state = predictor.ahead();
                controller.set_actuators(state.actuators);
                let aim = ahead
                    .as_ref()
                    .map_or(&self.point, |(_, aim)| aim)
                    .as_reference();
                match controller.step_after(elapsed, state.configuration, state.velocity, &aim) {
                    Ok(step) => step,
                    Err(error) => {
                        if !std::mem::replace(&mut self.reported[1], true) {
                            tracing::error!("{error}");
                        }
                        return Err(Fault::Controller);
                    }
                }
            }
        };
        // When the unconstrained input is not finite, the allocation repeats its last result, which would pass for a
        // command.
        if step.unconstrained.iter().all(|value| value.is_finite()) {
            Ok(step)
        } else {
            Err(Fault::Controller)
        }
    }

    /// The law's demand on the vehicle in its last step, for which the `predictor` had [looked
    /// ahead](StatePredictor::look_ahead); `None` for a system.
    pub fn demand(&self, predictor: &StatePredictor) -> Option<Demand> {
        match &self.plant {
            Plant::Vehicle {
                controller,
                followed,
                ..
            } => {
                let state = of_motion(predictor.tracked_motion_ahead());
                Some(Demand::new(controller, &state, followed))
            }
            Plant::System { .. } => None,
        }
    }

    /// The thrust of a failsafe whose law gives no result, N: a little less than the weight. `None` for a system.
    pub fn thrust_without_law(&self) -> Option<f64> {
        match &self.plant {
            Plant::Vehicle { vehicle, .. } => {
                let body = &vehicle.body;
                Some(CARRIED * body.inertia().mass() * body.gravity().norm())
            }
            Plant::System { .. } => None,
        }
    }

    /// The governor that leads the vehicle to a distant reference, if any.
    pub fn governor(&self) -> Option<&Governor> {
        match &self.plant {
            Plant::Vehicle {
                governor,
                failsafe,
                controller,
                ..
            } if controller.spin().is_none() => {
                let is_led = failsafe.as_ref().is_none_or(Descent::is_led);
                governor.as_deref().filter(|_| is_led)
            }
            _ => None,
        }
    }

    /// Whether the reference turns with a vehicle that cannot hold its yaw.
    pub fn gives_up_yaw(&self) -> bool {
        match &self.plant {
            Plant::Vehicle { yaw, .. } => yaw.is_given_up(),
            Plant::System { .. } => false,
        }
    }

    /// The design of the spinning hover; `None` unless the vehicle hovers spinning.
    pub fn spin(&self) -> Option<&SpinDesign> {
        match &self.plant {
            Plant::Vehicle { controller, .. } => controller.spin().map(SpinLaw::design),
            Plant::System { .. } => None,
        }
    }

    /// Rate, tilt and radius of the spinning hover; `None` unless the vehicle hovers spinning.
    pub fn spin_in_numbers(&self) -> Option<Spin> {
        let (Plant::Vehicle { vehicle, .. }, Some(design)) = (&self.plant, self.spin()) else {
            return None;
        };
        Some(numbers(vehicle, design))
    }

    /// Takes the spin that the vehicle has begun since the last call because its body turned as fast.
    pub fn take_begun_spin(&mut self) -> Option<Spin> {
        match &mut self.plant {
            Plant::Vehicle { begun, .. } => begun.take(),
            Plant::System { .. } => None,
        }
    }

    /// The body direction that should point up: body z, or the spin axis.
    pub fn upward(&self) -> Vector3<f64> {
        self.spin()
            .map_or_else(Vector3::z, |design| design.spin().axis)
    }

    /// Replaces the limits of the inputs by bounds, infinite where nothing has changed; see
    /// [`Controller::set_input_bounds`]. Within them this is [attainable](Self::attainable): a vehicle that can hover only
    /// while spinning does so from the next step on, if it is [ready](Self::with_spinning_hover) for it, and one that
    /// cannot hold its yaw gives it up. Allocates.
    ///
    /// # Errors
    /// [`InputBoundsError`]; the previous bounds stay.
    pub fn set_input_bounds(
        &mut self,
        [lower, upper]: [&[f64]; 2],
        attainable: Option<Attainable>,
    ) -> Result<(), InputBoundsError> {
        match &mut self.plant {
            Plant::Vehicle {
                controller,
                governor,
                spins,
                vehicle,
                yaw,
                ..
            } => {
                controller.set_input_bounds(lower, upper)?;
                let is_lost = |j: usize| lower[j] == 0.0 && upper[j] == 0.0;
                let is_whole = |j: usize| lower[j].is_infinite() && upper[j].is_infinite();
                let mut fitting = spins.iter().filter(|prepared| {
                    (0..lower.len()).all(|j| {
                        if prepared.lost.contains(&j) {
                            is_lost(j)
                        } else {
                            is_whole(j)
                        }
                    })
                });
                let prepared = fitting.next();
                let holds_yaw = attainable != Some(Attainable::Spinning);
                let was_given_up = yaw.is_given_up();
                *yaw = if holds_yaw {
                    Yaw::Followed
                } else {
                    Yaw::GivenUp {
                        spins: prepared.map_or(Vec::new(), |prepared| prepared.designs.clone()),
                        since: 0.0,
                    }
                };
                let needed = prepared.filter(|prepared| prepared.is_needed);
                let design = needed.map(|prepared| prepared.designs[0].clone());
                let was_spinning = controller.spin().is_some();
                if let (None, true, Some(governor)) =
                    (&design, was_spinning || was_given_up, governor)
                {
                    // The vehicle may have moved far meanwhile.
                    governor.restart();
                }
                controller.set_spin(design);
                lead_when_turning(controller, vehicle, holds_yaw);
                Ok(())
            }
            Plant::System { controller, .. } => controller.set_input_bounds(lower, upper),
        }
    }

    /// Whether the vehicle has nothing but a spin without these inputs, and that is prepared.
    pub fn spins_without(&self, lost: &Range<usize>) -> bool {
        match &self.plant {
            Plant::Vehicle { spins, .. } => spins.iter().any(|it| it.is_needed && it.lost == *lost),
            Plant::System { .. } => false,
        }
    }

    /// What is attainable within these bounds; `None` for a system. Allocates.
    pub fn attainable(&self, bounds: [&[f64]; 2]) -> Option<Attainable> {
        match &self.plant {
            Plant::Vehicle { vehicle, .. } => Some(Attainable::within(vehicle, bounds)),
            Plant::System { .. } => None,
        }
    }

    /// The last step.
    pub fn last(&self) -> &Step {
        match &self.plant {
            Plant::Vehicle { controller, .. } => controller.last(),
            Plant::System { controller, .. } => controller.last(),
        }
    }

    /// H of the last step, p x p: the metric of the allocation.
    pub fn metric(&self) -> &DMatrix<f64> {
        match &self.plant {
            Plant::Vehicle { controller, .. } => controller.metric(),
            Plant::System { controller, .. } => controller.metric(),
        }
    }

    /// Writes the derivative of dW/dt, the rate of the total error energy W, with respect to each input: p numbers.
    pub fn energy_gradient(&self, gradient: &mut [f64]) {
        match &self.plant {
            Plant::Vehicle { controller, .. } => controller.energy_gradient(gradient),
            Plant::System { controller, .. } => controller.energy_gradient(gradient),
        }
    }

    /// When the total error energy W is a Lyapunov function.
    pub fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        match &mut self.plant {
            Plant::Vehicle { controller, .. } => controller.lyapunov_guarantee(),
            Plant::System { controller, .. } => controller.lyapunov_guarantee(),
        }
    }
}

/// The numbers of a spin of this vehicle.
fn numbers(vehicle: &Vehicle, design: &SpinDesign) -> Spin {
    let spin = design.spin();
    let center = vehicle.body.inertia().center_of_mass();
    Spin {
        rate: spin.rate,
        tilt: spin.tilt(),
        radius: spin.radius(&center),
    }
}

/// Writes a vehicle's reference in its joint's coordinates.
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
