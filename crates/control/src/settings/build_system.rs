//! From the section `[reference]` to what a whole system follows.

use fly_lie::SE3;
use fly_mechanics::multibody::{BodyId, JointKind, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, Rotor, Rotors, System, Vehicle};
use nalgebra::Vector3;

use super::{Reference, ReferenceSettings, SettingsError};
use crate::SystemPoint;
use crate::matching::fully_actuated;
use crate::trajectory::{Infeasible, JointTrajectory, OnFreeJoint, Trajectory};

/// A reference without an end is looked at for this long, s.
const LOOKED_AT: f64 = 60.0;
/// Between two instants at which it is looked at, s, unless it lasts very long.
const STEP: f64 = 0.02;
/// Instants at which a reference is looked at, at most.
const INSTANTS: f64 = 20_000.0;

impl ReferenceSettings {
    /// The reference for this system.
    ///
    /// Kinds that say how joints or bodies of a system move suit any system that has them. Those of vehicles suit a system that is one free body,
    /// with whatever is fixed to it; on springs or dampers only if its inputs can give every wrench, as its attitudes would not follow from the
    /// motion otherwise. What follows is looked at in advance, for 60 s if it has no end.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), what this system cannot follow at all, and what it cannot follow at some instant: joints beyond
    /// their limits, targets out of reach.
    pub fn build_for_system(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
        self.validate()?;
        let model = &system.model;
        let trajectory: Box<dyn Trajectory<SystemPoint>> = match self {
            Self::Rest(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Joints(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Transfer(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Tool(s) => Box::new(s.trajectory(system)?),
            Self::TwoMasses(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Pvtol(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Planar(s) => Box::new(s.trajectory(system)?),
            Self::Sampled(s) if !s.names_position()? => {
                Box::new(JointTrajectory::new(model, s.motion(system)?))
            }
            Self::Recorded(_) => {
                return Err(SettingsError::new(
                    "kind",
                    "expected a kind that is known in advance, found recorded, which only a vehicle follows",
                ));
            }
            _ => self.of_free_body(system)?,
        };
        looked_at(trajectory, system, self.cause())
    }

    /// The key at fault where what it describes cannot be followed.
    fn cause(&self) -> &'static str {
        match self {
            Self::Rest(_) | Self::Joints(_) => "joints",
            Self::Transfer(_) => "to",
            Self::Tool(_) | Self::TwoMasses(_) | Self::Pvtol(_) | Self::Planar(_) => "path",
            Self::Sampled(_) => "file",
            _ => "kind",
        }
    }

    fn of_free_body(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
        let unsuited = |why: &str| {
            let kind = self.kind();
            let kinds = Self::SYSTEM_KINDS.join(", ");
            SettingsError::new(
                "kind",
                format!(
                    "expected {kinds}; found {kind}, which needs one free body and nothing else that moves: {why}"
                ),
            )
        };
        let (body, vehicle) = free_body(system).map_err(|why| unsuited(&why))?;
        let model = &system.model;
        let links = model.springs().len() + model.dampers().len();
        if links > 0 && !fully_actuated(vehicle.rotors.input_matrix()) {
            return Err(SettingsError::new(
                "kind",
                format!(
                    "expected a kind of reference that says where every joint is, found {}, whose attitudes follow from gravity, drag and \
                     thrust alone, and springs or dampers act on `{}`",
                    self.kind(),
                    vehicle.body_name
                ),
            ));
        }
        let Reference::Planned(trajectory) = self.build(&vehicle)? else {
            return Err(unsuited("setpoints arrive in flight"));
        };
        match OnFreeJoint::new(&system.model, body, trajectory) {
            Some(reference) => Ok(Box::new(reference)),
            None => Err(unsuited("other joints move")),
        }
    }
}

/// The free body of a system that has no other joint that moves, as a vehicle with all that is fixed to it; or why there is none.
fn free_body(system: &System) -> Result<(BodyId, Vehicle), String> {
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
        [] => return Err("nothing moves".to_owned()),
        several => {
            let names = several.iter().map(|body| {
                let name = system.joint(*body).map_or("", |joint| joint.name.as_str());
                format!("`{name}`")
            });
            let names: Vec<_> = names.collect();
            return Err(format!("the joints that move are {}", names.join(", ")));
        }
    };
    if !system.inputs.motors().is_empty() {
        return Err("motors act on its joint".to_owned());
    }
    let mut workspace = Workspace::new(model);
    workspace.update(
        model,
        &model.neutral_configuration(),
        &vec![0.0; model.dof()],
    );
    // Of the body itself without rounding.
    let pose = |other: BodyId| {
        if other == body {
            SE3::identity()
        } else {
            workspace.pose(body, other)
        }
    };
    let fixed_to_it = |mut other: BodyId| loop {
        if other == body {
            break true;
        }
        match model.parent(other) {
            Some(parent) => other = parent,
            None => break false,
        }
    };
    let mut total: Option<PseudoInertia<f64>> = None;
    for other in model.bodies().filter(|other| fixed_to_it(*other)) {
        if let Some(inertia) = model.inertia(other) {
            let placed = inertia.placed(&pose(other));
            total = Some(total.map_or(placed, |sum| sum + placed));
        }
    }
    let inertia = total.ok_or_else(|| format!("`{}` has no mass", model.name(body)))?;
    let center = |inertia: &PseudoInertia<f64>| inertia.center_of_mass();
    let own = model.inertia(body).map_or_else(Vector3::zeros, center);
    let drag = model.drag(body).copied();
    let elsewhere = (model.bodies()).any(|other| other != body && model.drag(other).is_some());
    // Without other masses the two are the same number but for rounding.
    if elsewhere || (drag.is_some() && (own - center(&inertia)).amax() > 1e-12) {
        return Err(
            "its drag acts beside the centre of mass of all that is fixed to it".to_owned(),
        );
    }
    let carried = system
        .inputs
        .rotors()
        .as_slice()
        .iter()
        .zip(system.inputs.carriers());
    let rotors = carried.map(|(rotor, carrier)| placed(rotor, &pose(*carrier)));
    let rotors = Rotors::new(rotors.collect()).map_err(|error| error.to_string())?;
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

/// The same trajectory, if nothing on its way is out of reach or beyond a joint's limits.
fn looked_at(
    mut trajectory: Box<dyn Trajectory<SystemPoint>>,
    system: &System,
    key: &str,
) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
    let model = &system.model;
    let limited: Vec<_> = (model.bodies().zip(&system.joints))
        .filter(|(body, _)| model.config_range(*body).len() == 1)
        .filter_map(|(body, joint)| {
            Some((
                model.config_range(body).start,
                &joint.name,
                joint.limits.position?,
            ))
        })
        .collect();
    let mut point = SystemPoint::new(model);
    let end = trajectory.duration().unwrap_or(LOOKED_AT);
    let step = STEP.max(end / INSTANTS);
    let instants = (0_u32..).map(|i| f64::from(i) * step);
    for time in instants.take_while(|time| *time < end).chain([end]) {
        trajectory
            .at(time, &mut point)
            .map_err(|error: Infeasible| SettingsError::new(key, error.to_string()))?;
        for (place, name, [low, high]) in &limited {
            let x = point.configuration[*place];
            // Rounding of targets that are the limits.
            if x < low - 1e-9 || x > high + 1e-9 {
                return Err(SettingsError::new(
                    key,
                    format!(
                        "at {time} s joint `{name}` would be at {x:.6}: expected within its limits [{low:.6}, {high:.6}]"
                    ),
                ));
            }
        }
    }
    trajectory.restart();
    Ok(trajectory)
}
