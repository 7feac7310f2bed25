//! A reference and the control law that follows it.

mod descent;
mod spins;
mod system;
mod vehicle;
mod yaw;

use std::ops::Range;

use fly_control::allocation::InputBounds;
use fly_control::analysis::{Attainable, LyapunovGuarantee};
use fly_control::disturbance::Failure;
use fly_control::governor::Governor;
use fly_control::plant::{PlantError, SystemPlant};
use fly_control::predictor::StatePredictor;
use fly_control::setpoints::Demand;
use fly_control::spin::SpinDesign;
use fly_control::{Controller, InputBoundsError, Step, SystemPoint, Trajectory};
use fly_hal::Frame;
use fly_lie::SE3;
use fly_mechanics::multibody::Model;
use fly_mechanics::{System, Vehicle};
use nalgebra::{DMatrix, Vector3};

use self::spins::PreparedSpins;
use self::system::SystemGuidance;
use self::vehicle::VehicleGuidance;
use crate::disturbance::DisturbanceReport;
use crate::health::Spin;
use crate::reference::FlightReference;
use crate::supervisor::Fault;

/// A reference and the control law that follows it.
///
/// Allocates only in the first call of a function, for error messages, and once to find a configuration that the inputs
/// can hold.
pub struct Guidance {
    plant: Plant,
}

/// A system with one free body has constant matrices and follows poses; any other system follows configurations.
enum Plant {
    Vehicle(Box<VehicleGuidance>),
    System(Box<SystemGuidance>),
}

/// Calls a method that the controllers of both plants have.
macro_rules! controller {
    ($plant:expr, $method:ident($($argument:expr)?)) => {
        match $plant {
            Plant::Vehicle(it) => it.controller.$method($($argument)?),
            Plant::System(it) => it.controller.$method($($argument)?),
        }
    };
}

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
        let (law, rate) = (controller, descent_rate);
        let guidance = VehicleGuidance::new(vehicle, model, reference, law, governor, rate);
        Self {
            plant: Plant::Vehicle(Box::new(guidance)),
        }
    }

    /// Accounts for a delay, known to the controller, between commands and their effect. `ahead` is the same vehicle
    /// reference again, evaluated for the time when commands act. A recorded reference is not known in advance and is
    /// followed as it is.
    ///
    /// # Panics
    /// If this is a system.
    #[must_use]
    pub fn with_delay(mut self, ahead: FlightReference) -> Self {
        let Plant::Vehicle(vehicle) = &mut self.plant else {
            panic!("the reference of a vehicle for a system");
        };
        vehicle.look_ahead(ahead);
        self
    }

    /// Prepares to hover while spinning: designs, for each actuator without which the vehicle cannot hover at rest, that
    /// hover now rather than in flight.
    #[must_use]
    pub fn with_spinning_hover(mut self) -> Self {
        if let Plant::Vehicle(it) = &mut self.plant {
            it.spins = PreparedSpins::all(&it.vehicle);
        }
        self
    }

    /// [`with_delay`](Self::with_delay) for a system.
    ///
    /// # Panics
    /// If this is a vehicle.
    #[must_use]
    pub fn system_with_delay(mut self, ahead: Box<dyn Trajectory<SystemPoint>>) -> Self {
        let Plant::System(system) = &mut self.plant else {
            panic!("the reference of a system for a vehicle");
        };
        system.look_ahead(ahead);
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
        let guidance = SystemGuidance::new(system, reference, controller)?;
        Ok(Self {
            plant: Plant::System(Box::new(guidance)),
        })
    }

    /// That of a vehicle of one body; `None` for any other system.
    fn vehicle(&self) -> Option<&VehicleGuidance> {
        match &self.plant {
            Plant::Vehicle(vehicle) => Some(vehicle),
            Plant::System(_) => None,
        }
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
        match &mut self.plant {
            Plant::Vehicle(vehicle) => vehicle.evaluate(time, frame),
            Plant::System(system) => system.evaluate(time)?,
        }
        Ok(())
    }

    /// Moves a vehicle's reference, [evaluated](Self::evaluate) at its beginning, so that it begins at this pose's
    /// position and heading, whatever the tilt. The reference of a system stays.
    pub fn begin_at(&mut self, start: &SE3<f64>) {
        if let Plant::Vehicle(vehicle) = &mut self.plant {
            vehicle.begin_at(start);
        }
    }

    /// The measured position has jumped by this vector of the world, m, and the vehicle has not: a reference that is known in
    /// advance moves along, and so does a failsafe, in which the reference stays. Returns whether the reference has moved.
    pub fn displace(&mut self, by: &Vector3<f64>, is_failsafe: bool) -> bool {
        match &mut self.plant {
            Plant::Vehicle(vehicle) => vehicle.displace(by, is_failsafe),
            Plant::System(system) => system.displace(by, is_failsafe),
        }
    }

    /// Whether commands reach the vehicle. A vehicle that does not hear them is not followed: a governor waits at it, and leads it back once it hears
    /// again. A vehicle without a governor and a system return as their laws do.
    pub fn set_uplink(&mut self, reaches: bool) {
        if let Plant::Vehicle(vehicle) = &mut self.plant {
            vehicle.hears = reaches;
        }
    }

    /// Whether commands reach the vehicle, as far as it is known.
    pub fn hears(&self) -> bool {
        self.vehicle().is_none_or(|vehicle| vehicle.hears)
    }

    /// Begins a failsafe in the current state: a vehicle is levelled where it can stop, and sinks if it `descends`; a system
    /// holds still.
    pub fn begin_failsafe(&mut self, descends: bool, predictor: &StatePredictor) {
        match &mut self.plant {
            Plant::Vehicle(vehicle) => vehicle.begin_failsafe(descends, predictor),
            Plant::System(system) => system.begin_failsafe(predictor),
        }
    }

    /// Evaluates the failsafe's reference `time` s after its [beginning](Self::begin_failsafe).
    pub fn failsafe(&mut self, time: f64) {
        if let Plant::Vehicle(vehicle) = &mut self.plant {
            vehicle.failsafe(time);
        }
    }

    /// Writes the input of a failsafe whose law gives no result. A vehicle carries a little less than its weight, as if
    /// it were level, and sinks; a system holds the forces of its failsafe configuration.
    pub fn input_without_law(&self, input: &mut [f64]) {
        match &self.plant {
            Plant::Vehicle(vehicle) => vehicle.input_without_law(input),
            Plant::System(system) => system.input_without_law(input),
        }
    }

    /// The fraction of its weight that the last step's input carries if the vehicle is level: 1 in hover. `None` for a
    /// system.
    pub fn weight_fraction(&self) -> Option<f64> {
        self.vehicle().map(VehicleGuidance::weight_fraction)
    }

    /// The last reference.
    pub fn point(&self) -> &SystemPoint {
        match &self.plant {
            Plant::Vehicle(vehicle) => &vehicle.coordinates,
            Plant::System(system) => &system.point,
        }
    }

    /// When the reference comes to rest, s, if known.
    pub fn duration(&self) -> Option<f64> {
        match &self.plant {
            Plant::Vehicle(vehicle) => vehicle.reference.duration(),
            Plant::System(system) => system.reference.duration(),
        }
    }

    /// Describes the reference; `kind` is its kind in the configuration.
    pub fn describe(&self, kind: &str) -> String {
        self.vehicle().map_or_else(
            || kind.to_owned(),
            |vehicle| vehicle.reference.describe(kind),
        )
    }
}

/// # Disturbances
impl Guidance {
    /// Passes the controller the mean input since its last step; `None` tells its disturbance observer to hold its
    /// estimate.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        controller!(&mut self.plant, set_applied(input));
    }

    /// Tells the controller that the next step's state is predicted; see [`Controller::skip_observation`].
    pub fn skip_observation(&mut self) {
        controller!(&mut self.plant, skip_observation());
    }

    /// Whether a disturbance as large as a failed actuator acts that no failure explains.
    pub fn has_unexplained_disturbance(&self) -> bool {
        controller!(&self.plant, has_unexplained_disturbance())
    }

    /// Takes the failure that was detected since the last call.
    pub fn take_failure(&mut self) -> Option<Failure> {
        controller!(&mut self.plant, take_failure())
    }

    /// The force that the model does not explain (n numbers), and the ratio of actual to modelled thrust; `None`
    /// without an observer.
    pub fn disturbance(&self) -> Option<(&[f64], f64)> {
        match &self.plant {
            Plant::Vehicle(vehicle) => (vehicle.controller.disturbance())
                .map(|observer| (observer.force().as_slice(), observer.thrust_scale())),
            Plant::System(system) => (system.controller.disturbance())
                .map(|observer| (observer.force().as_slice(), observer.thrust_scale())),
        }
    }

    /// The disturbances of the flight, in the predictor's state; `None` without an observer.
    pub fn disturbance_report(&self, predictor: &StatePredictor) -> Option<DisturbanceReport> {
        let (force, thrust_scale) = self.disturbance()?;
        let vehicle = self.vehicle();
        Some(DisturbanceReport {
            force: force.to_vec(),
            body: vehicle.map(|it| it.disturbance(force, thrust_scale, predictor)),
        })
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
            Plant::Vehicle(vehicle) => vehicle.step(elapsed, predictor),
            Plant::System(system) => system.step(elapsed, predictor)?,
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
        self.vehicle().map(|vehicle| vehicle.demand(predictor))
    }

    /// The thrust of a failsafe whose law gives no result, N: a little less than the weight. `None` for a system.
    pub fn thrust_without_law(&self) -> Option<f64> {
        self.vehicle().map(VehicleGuidance::thrust_without_law)
    }

    /// The governor that leads the vehicle to a distant reference, if any.
    pub fn governor(&self) -> Option<&Governor> {
        self.vehicle().and_then(VehicleGuidance::governor)
    }

    /// Whether the reference turns with a vehicle that cannot hold its yaw.
    pub fn gives_up_yaw(&self) -> bool {
        self.vehicle()
            .is_some_and(|vehicle| vehicle.yaw.is_given_up())
    }

    /// The design of the spinning hover; `None` unless the vehicle hovers spinning.
    pub fn spin(&self) -> Option<&SpinDesign> {
        self.vehicle().and_then(VehicleGuidance::spin)
    }

    /// Rate, tilt and radius of the spinning hover; `None` unless the vehicle hovers spinning.
    pub fn spin_in_numbers(&self) -> Option<Spin> {
        let vehicle = self.vehicle()?;
        vehicle.spin().map(|design| vehicle.numbers(design))
    }

    /// Takes the spin that the vehicle has begun since the last call because its body turned as fast.
    pub fn take_begun_spin(&mut self) -> Option<Spin> {
        match &mut self.plant {
            Plant::Vehicle(vehicle) => vehicle.begun.take(),
            Plant::System(_) => None,
        }
    }

    /// The body direction that should point up: body z, or the spin axis.
    pub fn upward(&self) -> Vector3<f64> {
        self.spin()
            .map_or_else(Vector3::z, |design| design.spin().axis)
    }

    /// Replaces the limits of the inputs by bounds; see
    /// [`Controller::set_input_bounds`]. Within them this is [attainable](Self::attainable): a vehicle that can hover only
    /// while spinning does so from the next step on, if it is [ready](Self::with_spinning_hover) for it, and one that
    /// cannot hold its yaw gives it up. Allocates.
    ///
    /// # Errors
    /// [`InputBoundsError`]; the previous bounds stay.
    pub fn set_input_bounds(
        &mut self,
        bounds: &InputBounds,
        attainable: Option<Attainable>,
    ) -> Result<(), InputBoundsError> {
        match &mut self.plant {
            Plant::Vehicle(vehicle) => vehicle.set_input_bounds(bounds, attainable),
            Plant::System(system) => system.controller.set_input_bounds(bounds),
        }
    }

    /// Whether the vehicle cannot hover at rest without these inputs, and a spin is prepared for their loss.
    pub fn spins_without(&self, lost: &Range<usize>) -> bool {
        let mut spins = self.vehicle().into_iter().flat_map(|it| &it.spins);
        spins.any(|it| it.is_needed && it.lost == *lost)
    }

    /// What is attainable within these bounds; `None` for a system. Allocates.
    pub fn attainable(&self, bounds: &InputBounds) -> Option<Attainable> {
        self.vehicle()
            .map(|it| Attainable::within(&it.vehicle, bounds))
    }

    /// The last step.
    pub fn last(&self) -> &Step {
        controller!(&self.plant, last())
    }

    /// H of the last step, p x p: the metric of the allocation.
    pub fn metric(&self) -> &DMatrix<f64> {
        controller!(&self.plant, metric())
    }

    /// Writes the derivative of dW/dt, the rate of the total error energy W, with respect to each input: p numbers.
    pub fn energy_gradient(&self, gradient: &mut [f64]) {
        controller!(&self.plant, energy_gradient(gradient));
    }

    /// When the total error energy W is a Lyapunov function.
    pub fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        controller!(&mut self.plant, lyapunov_guarantee())
    }
}
