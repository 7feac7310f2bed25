//! A vehicle: a body with rotors.

use fly_lie::SE3;
use nalgebra::Vector3;

use crate::multibody::{Joint, JointKind};
use crate::{FreeBody, PseudoInertia, Rotors, System};

/// A vehicle from its description: one free rigid body with rotors.
///
/// ```
/// use fly_mechanics::Vehicle;
///
/// let vehicle = Vehicle::from_toml(
///     r#"
///     name = "seesaw"
///
///     [bodies.beam]
///     mass = 0.5
///     inertia = [1e-4, 2e-3, 2e-3]
///
///     [[rotors]]
///     body = "beam"
///     position = [0.2, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 5]
///
///     [[rotors]]
///     body = "beam"
///     position = [-0.2, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 5]
///     "#,
/// )?;
/// assert_eq!(vehicle.body.inertia().mass(), 0.5);
/// assert_eq!(vehicle.rotors.input_dim(), 2);
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vehicle {
    /// The vehicle's name.
    pub name: String,
    /// The name of its body.
    pub body_name: String,
    /// Its inertia, gravity and drag.
    pub body: FreeBody<f64>,
    /// Its rotors.
    pub rotors: Rotors,
}

/// Why a system is not a single free body with rotors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VehicleError {
    /// Not exactly one body: their names.
    #[error("expected exactly one body, found {}", bodies(.0))]
    Bodies(Vec<String>),
    /// The body is not free.
    #[error("expected a free joint, but body `{body}` has another joint")]
    NotFree {
        /// The body.
        body: String,
    },
    /// The body's joint is not at the world's origin.
    #[error("a free body has its `{key}` in its configuration, not in its description")]
    Placed {
        /// The body.
        body: String,
        /// `position` or `orientation`.
        key: &'static str,
    },
    /// The body has no mass.
    #[error("body `{body}` has no mass")]
    WithoutMass {
        /// The body.
        body: String,
    },
    /// A moment of inertia is zero, so that a torque would cause infinite acceleration.
    #[error(
        "body `{body}` is a point mass or a thin rod: a free body needs moments of inertia about all axes"
    )]
    WithoutMoments {
        /// The body.
        body: String,
    },
    /// Springs act on it.
    #[error("springs act on the body: the controller of a single free body does not model springs")]
    Springs,
    /// Dampers act on it.
    #[error(
        "dampers act on body `{body}`: the controller of a single free body models only the body's `drag`"
    )]
    Dampers {
        /// The body.
        body: String,
    },
    /// It has closed loops, coupled joints or rolling contacts.
    #[error("a free body cannot have `{key}`: nothing may constrain its motion")]
    Constraints {
        /// `loops`, `couplings` or `rolling`.
        key: &'static str,
    },
    /// It has motors in joints.
    #[error("a free body has no motors in its joint")]
    Motors,
}

fn bodies(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        format!("{}: `{}`", names.len(), names.join("`, `"))
    }
}

/// The view of a system that is one free body with rotors.
impl TryFrom<System> for Vehicle {
    type Error = VehicleError;

    fn try_from(system: System) -> Result<Self, VehicleError> {
        let model = &system.model;
        let mut ids = model.bodies();
        let (Some(id), None) = (ids.next(), ids.next()) else {
            let names = model.bodies().map(|body| model.name(body).to_owned());
            return Err(VehicleError::Bodies(names.collect()));
        };
        let body = model.name(id).to_owned();
        let free = |joint: &Joint<f64>| matches!(joint.kind(), JointKind::Free(_));
        if !model.joint(id).is_some_and(free) {
            return Err(VehicleError::NotFree { body });
        }
        if let Some(placement) = model.placement(id)
            && *placement != SE3::identity()
        {
            let moved = placement.translation != Vector3::zeros();
            let key = if moved { "position" } else { "orientation" };
            return Err(VehicleError::Placed { body, key });
        }
        if model.springs().len() > 0 {
            return Err(VehicleError::Springs);
        }
        if model.dampers().len() > 0 {
            return Err(VehicleError::Dampers { body });
        }
        if !system.inputs.motors().is_empty() {
            return Err(VehicleError::Motors);
        }
        for (key, count) in [
            ("loops", system.loops.len()),
            ("couplings", system.couplings.len()),
            ("rolling", system.rolling.len()),
        ] {
            if count > 0 {
                return Err(VehicleError::Constraints { key });
            }
        }
        let Some(inertia) = model.inertia(id) else {
            return Err(VehicleError::WithoutMass { body });
        };
        if PseudoInertia::new(*inertia.second_moment()).is_err() {
            return Err(VehicleError::WithoutMoments { body });
        }
        Ok(Self {
            body: FreeBody::new(*inertia, *model.gravity()).with_drag(model.drag(id).copied()),
            name: system.name,
            body_name: body,
            rotors: system.inputs.rotors().clone(),
        })
    }
}
