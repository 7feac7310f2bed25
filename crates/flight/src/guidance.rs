//! A reference and the control law that follows it.

use fly_control::analysis::LyapunovGuarantee;
use fly_control::plant::SystemPlant;
use fly_control::predictor::StatePredictor;
use fly_control::{Controller, ReferencePoint, Step, SystemPoint, Trajectory};
use fly_hal::Frame;
use fly_lie::SE3;
use fly_mechanics::State;
use fly_mechanics::multibody::{Joint, Model};
use nalgebra::DMatrix;

use crate::descent::Descent;
use crate::reference::FlightReference;
use crate::supervisor::Fault;

/// A reference and the control law that follows it.
///
/// Its functions allocate only in their first call, for messages of errors, and once to find a configuration that can be held.
pub struct Guidance {
    plant: Plant,
    /// The last reference, in the coordinates of the model.
    point: SystemPoint,
    /// Whether an error of the reference, and one of the law, was reported: each is reported once.
    reported: [bool; 2],
}

/// A system with one free body has constant matrices and follows poses, any other follows configurations.
#[allow(clippy::large_enum_variant)] // there is one in a flight
enum Plant {
    Vehicle {
        reference: FlightReference,
        controller: Box<Controller>,
        joint: Joint<f64>,
        point: ReferencePoint,
        /// Descent rate of the failsafe, m/s; 0 to hold position.
        descent_rate: f64,
        descent: Option<Descent>,
    },
    System {
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Box<Controller<SystemPlant>>,
        holds_position: bool,
    },
}

/// # Construction
impl Guidance {
    /// Of one free body. Its failsafe levels it and descends at `descent_rate`, m/s.
    ///
    /// # Panics
    /// If the model has no body.
    pub fn of_vehicle(
        model: &Model<f64>,
        reference: FlightReference,
        controller: Controller,
        descent_rate: f64,
    ) -> Self {
        let joint = model.bodies().next().and_then(|body| model.joint(body));
        Self {
            plant: Plant::Vehicle {
                reference,
                controller: Box::new(controller),
                joint: *joint.expect("a vehicle has a body"),
                point: ReferencePoint::at_rest(SE3::identity()),
                descent_rate,
                descent: None,
            },
            point: SystemPoint::new(model),
            reported: [false; 2],
        }
    }

    /// Of any system. Its failsafe holds the present configuration, or the nearest one that the inputs can hold.
    pub fn of_system(
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Controller<SystemPlant>,
    ) -> Self {
        Self {
            point: SystemPoint::new(controller.model()),
            plant: Plant::System {
                reference,
                controller: Box::new(controller),
                holds_position: false,
            },
            reported: [false; 2],
        }
    }
}

/// # References
impl Guidance {
    /// Evaluates the reference at flight time `time` (s), to which `frame` belongs. Where a vehicle's reference is not feasible it
    /// holds its last point.
    ///
    /// # Errors
    /// [`Fault::Reference`] where that of a system is not feasible.
    pub fn evaluate(&mut self, time: f64, frame: &Frame) -> Result<(), Fault> {
        let is_first = !self.reported[0];
        match &mut self.plant {
            Plant::Vehicle {
                reference,
                joint,
                point,
                ..
            } => {
                if let Err(error) = reference.at(time, frame, point)
                    && is_first
                {
                    self.reported[0] = true;
                    tracing::warn!("{error}: the reference holds its last point meanwhile");
                }
                write(joint, point, &mut self.point);
            }
            Plant::System { reference, .. } => {
                if let Err(error) = reference.at(time, &mut self.point) {
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

    /// Evaluates the reference of the failsafe, `time` s after it began. The first call starts it from the present state.
    pub fn failsafe(&mut self, time: f64, predictor: &StatePredictor) {
        match &mut self.plant {
            Plant::Vehicle {
                joint,
                point,
                descent_rate,
                descent,
                ..
            } => {
                let start = || Descent::new(&state(predictor), *descent_rate);
                *point = descent.get_or_insert_with(start).at(time);
                write(joint, point, &mut self.point);
            }
            Plant::System {
                controller,
                holds_position,
                ..
            } => {
                if std::mem::replace(holds_position, true) {
                    return;
                }
                let point = &mut self.point;
                let present = predictor.configuration();
                point.configuration.copy_from_slice(present);
                if !controller.rest_near(&mut point.configuration) {
                    tracing::warn!(
                        "no configuration near here can be held at rest: holding the present one"
                    );
                }
                point.velocity.fill(0.0);
                point.acceleration.fill(0.0);
            }
        }
    }

    /// The last reference.
    pub fn point(&self) -> &SystemPoint {
        &self.point
    }

    /// When the reference comes to rest, s, if that is known.
    pub fn duration(&self) -> Option<f64> {
        match &self.plant {
            Plant::Vehicle { reference, .. } => reference.duration(),
            Plant::System { reference, .. } => reference.duration(),
        }
    }

    /// What is followed, in words; `kind` is that of the configuration.
    pub fn describe(&self, kind: &str) -> String {
        match &self.plant {
            Plant::Vehicle { reference, .. } => reference.describe(kind),
            Plant::System { .. } => kind.to_owned(),
        }
    }
}

/// # The law
impl Guidance {
    /// The input that follows the last reference, `elapsed` s after the one before.
    ///
    /// # Errors
    /// [`Fault::Controller`] if the law has no finite result here.
    pub fn step(&mut self, elapsed: f64, predictor: &StatePredictor) -> Result<&Step, Fault> {
        let step = match &mut self.plant {
            Plant::Vehicle {
                controller, point, ..
            } => controller.step_after(elapsed, &state(predictor), point),
            Plant::System { controller, .. } => {
                let (x, xi) = (predictor.configuration(), predictor.velocity());
                match controller.step_after(elapsed, x, xi, &self.point.as_reference()) {
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
        // Where the unconstrained input is not finite the allocation repeats its last result, which would pass for a command.
        if step.unconstrained.iter().all(|value| value.is_finite()) {
            Ok(step)
        } else {
            Err(Fault::Controller)
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

    /// When the total error energy W is a Lyapunov function.
    pub fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        match &mut self.plant {
            Plant::Vehicle { controller, .. } => controller.lyapunov_guarantee(),
            Plant::System { controller, .. } => controller.lyapunov_guarantee(),
        }
    }
}

/// A vehicle's reference in the coordinates of its joint.
fn write(joint: &Joint<f64>, point: &ReferencePoint, to: &mut SystemPoint) {
    joint.coordinates(&point.pose, &mut to.configuration);
    to.velocity.copy_from_slice(point.twist.as_slice());
    to.acceleration
        .copy_from_slice(point.acceleration.as_slice());
}

/// Pose and twist of the one body.
fn state(predictor: &StatePredictor) -> State<f64> {
    predictor.tracked_motion().map_or_else(
        || State::at_rest(SE3::identity()),
        |(pose, twist)| State { pose, twist },
    )
}
