//! Systems that are a single free body, with bodies fixed to it.

use fly_lie::SE3;
use fly_mechanics::multibody::{BodyId, JointKind, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, Rotor, Rotors, System, Vehicle};
use nalgebra::Vector3;

/// Why a system is not a single free body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOneBody {
    /// No joint moves.
    #[error("nothing moves")]
    NothingMoves,
    /// Other joints move.
    #[error("the joints that move are `{}`", .0.join("`, `"))]
    Joints(
        /// Their names.
        Vec<String>,
    ),
    /// Motors act on the free joint.
    #[error("motors act on its joint")]
    Motors,
    /// The body and all that is fixed to it have no mass.
    #[error("`{0}` has no mass")]
    Massless(
        /// Its name.
        String,
    ),
    /// The drag is not that of a free body.
    #[error("its drag acts beside the centre of mass of all that is fixed to it")]
    Drag,
    /// The rotors are not those of a vehicle.
    #[error("{0}")]
    Rotors(
        /// Why.
        String,
    ),
}

/// The single free body of a system without other moving joints, as a vehicle: the inertias and rotors of all bodies fixed to it are merged into its
/// own. Springs and dampers are ignored.
///
/// # Errors
/// [`NotOneBody`].
pub fn merged_vehicle(system: &System) -> Result<(BodyId, Vehicle), NotOneBody> {
    let model = &system.model;
    let moving: Vec<BodyId> = (model.bodies())
        .filter(|body| !model.velocity_range(*body).is_empty())
        .collect();
    let free = |body: &BodyId| {
        matches!(
            model.joint(*body).map(|j| *j.kind()),
            Some(JointKind::Free(_))
        )
    };
    let body = match moving.as_slice() {
        [body] if free(body) => *body,
        [] => return Err(NotOneBody::NothingMoves),
        several => {
            let joints = several.iter().map(|body| system.joint(*body));
            let names = joints.map(|joint| joint.map_or_else(String::new, |j| j.name.clone()));
            return Err(NotOneBody::Joints(names.collect()));
        }
    };
    if !system.inputs.motors().is_empty() {
        return Err(NotOneBody::Motors);
    }
    let mut workspace = Workspace::new(model);
    workspace.update(
        model,
        &model.neutral_configuration(),
        &vec![0.0; model.dof()],
    );
    // Avoids rounding for the body itself.
    let pose = |other: BodyId| {
        if other == body {
            SE3::identity()
        } else {
            workspace.pose(body, other)
        }
    };
    let fixed_to_it = |other: BodyId| {
        let mut carriers = std::iter::successors(Some(other), |other| model.parent(*other));
        carriers.any(|carrier| carrier == body)
    };
    let mut total: Option<PseudoInertia<f64>> = None;
    for other in model.bodies().filter(|other| fixed_to_it(*other)) {
        if let Some(inertia) = model.inertia(other) {
            let placed = inertia.placed(&pose(other));
            total = Some(total.map_or(placed, |sum| sum + placed));
        }
    }
    let inertia = total.ok_or_else(|| NotOneBody::Massless(model.name(body).to_owned()))?;
    let center = |inertia: &PseudoInertia<f64>| inertia.center_of_mass();
    let own = model.inertia(body).map_or_else(Vector3::zeros, center);
    let drag = model.drag(body).copied();
    let elsewhere = (model.bodies()).any(|other| other != body && model.drag(other).is_some());
    // Without other masses the two differ only by rounding.
    if elsewhere || (drag.is_some() && (own - center(&inertia)).amax() > 1e-12) {
        return Err(NotOneBody::Drag);
    }
    let carried = system
        .inputs
        .rotors()
        .as_slice()
        .iter()
        .zip(system.inputs.carriers());
    let rotors = carried.map(|(rotor, carrier)| placed(rotor, &pose(*carrier)));
    let rotors =
        Rotors::new(rotors.collect()).map_err(|error| NotOneBody::Rotors(error.to_string()))?;
    let vehicle = Vehicle {
        name: system.name.clone(),
        body_name: model.name(body).to_owned(),
        body: FreeBody::new(inertia, *model.gravity()).with_drag(drag),
        rotors,
    };
    Ok((body, vehicle))
}

/// A rotor of a body at this pose.
fn placed(rotor: &Rotor, pose: &SE3<f64>) -> Rotor {
    let mut rotor = rotor.clone();
    rotor.position = pose.act(&rotor.position);
    rotor.axis = pose.rotation.act(&rotor.axis);
    if let Some(tilt) = &mut rotor.tilt {
        tilt.axis = pose.rotation.act(&tilt.axis);
    }
    rotor
}
