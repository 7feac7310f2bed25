//! A system as described in a file.

use crate::contact::{Compliance, ContactShape};
use crate::multibody::constraints::{
    ConstraintSet, ConstraintSetBuilder, Coupling, LoopClosure, Rolling,
};
use crate::multibody::{BodyId, JointKind, Model, ModelBuilder, ModelError};
use crate::text::some;
use crate::visual::Visual;
use crate::{Battery, Inputs, QuadraticDrag, Rope};

/// A system of rigid bodies with its actuators: the complete content of a description.
///
/// ```
/// use fly_mechanics::System;
///
/// let system = System::from_toml(
///     r#"
///     name = "double pendulum"
///
///     [bodies.upper]
///     joint = { type = "revolute", axis = [0, 1, 0], damping = 0.01 }
///     shape = { box = [0.04, 0.04, 1.0] }
///     mass = 0.5
///     center_of_mass = [0, 0, -0.5]
///
///     [bodies.lower]
///     parent = "upper"
///     position = [0, 0, -1]
///     joint = { type = "revolute", axis = [0, 1, 0], limits = { position_deg = [-150, 150], effort = 2 } }
///     shape = { box = [0.04, 0.04, 1.0] }
///     mass = 0.5
///     center_of_mass = [0, 0, -0.5]
///
///     [[motors]]
///     joint = "lower"
///     "#,
/// )?;
/// assert_eq!((system.model.body_count(), system.model.dof()), (2, 2));
/// assert_eq!(system.inputs.command_limits(), [[-2.0, 2.0]]);
/// let lower = system.model.body_id("lower").unwrap();
/// assert_eq!(system.joint(lower).unwrap().limits.effort, Some(2.0));
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// The system's name.
    pub name: String,
    /// Its bodies, joints, springs and dampers.
    pub model: Model<f64>,
    /// Name and limits of each body's joint, in the order of [`Model::bodies`].
    pub joints: Vec<JointData>,
    /// Its rotors and motors.
    pub inputs: Inputs,
    /// The quadratic drag of bodies. It acts if the dynamics have [`Air`](crate::Air); controllers and references ignore it.
    pub quadratic_drag: Vec<(BodyId, QuadraticDrag)>,
    /// The contact shapes of its bodies, active if the dynamics have a [`Ground`](crate::Ground) or [contact between
    /// bodies](crate::contact::BodyContact); controllers and references ignore them.
    pub contacts: Vec<ContactShape>,
    /// The servos that tilt rotors through joints, in simulations; controllers use the lag of the tilt.
    pub servos: Vec<TiltServo>,
    /// The battery of its rotors' motors, in simulations; `None` for unlimited voltage.
    pub battery: Option<Battery>,
    /// Its loop closures; see [`constraints`](Self::constraints).
    pub loops: Vec<LoopClosure<f64>>,
    /// Its gears and belts; see [`constraints`](Self::constraints).
    pub couplings: Vec<Coupling<f64>>,
    /// Its wheels, skates and rolling bodies; see [`constraints`](Self::constraints).
    pub rolling: Vec<Rolling<f64>>,
    /// Its ropes, which act in [`ActuatedDynamics`](crate::ActuatedDynamics); controllers and references ignore them.
    pub ropes: Vec<Rope>,
    /// What its bodies look like, as far as that is described; see [`Scene`](crate::scene::Scene).
    pub visuals: Vec<Visual>,
    /// What the description says and the system leaves out, and what looks like a mistake but need not be one.
    pub notes: Vec<String>,
}

/// Why a joint cannot be released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The joint is free already.
    #[error("joint `{joint}` is free in the world already")]
    Free {
        /// Its name.
        joint: String,
    },
    /// A motor or servo drives the joint.
    #[error("joint `{joint}` cannot be released: a motor or a servo drives it")]
    Driven {
        /// Its name.
        joint: String,
    },
    /// It is in a coupling.
    #[error("joint `{joint}` cannot be released: it is coupled with others")]
    Coupled {
        /// Its name.
        joint: String,
    },
    /// The system after the release is invalid.
    #[error(transparent)]
    Model(ModelError),
}

/// A servo that drives a joint to the commanded tilt of a rotor, in simulations: the torque `K (command - q) - D q_dot`, within its limits, acts on the joint
/// and its opposite on the carrier. If the driven body has no inertia, `q` follows the command with the time constant `D / K`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiltServo {
    /// The index of the rotor.
    pub rotor: usize,
    /// The driven body: its joint's position is the tilt.
    pub joint: BodyId,
    /// `K`, N m/rad.
    pub stiffness: f64,
    /// `D`, N m s/rad.
    pub damping: f64,
    /// The largest torque to either side, N m; may be infinite.
    pub effort: f64,
}

/// The name and the limits of a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointData {
    /// Its name; by default that of the body that it carries.
    pub name: String,
    /// Its limits. The model does not enforce them; a stop does in [`ActuatedDynamics`](crate::ActuatedDynamics).
    pub limits: JointLimits,
}

/// The limits of a joint with one degree of freedom: rad and N m, or m and N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointLimits {
    /// The smallest and the largest position, rad or m.
    pub position: Option<[f64; 2]>,
    /// The stop at these positions; requires a joint whose coordinate is its position. `None` for no stop.
    pub stop: Option<Compliance>,
    /// The largest speed to either side, rad/s or m/s.
    pub velocity: Option<f64>,
    /// The largest effort to either side, N m or N.
    pub effort: Option<f64>,
}

/// # Construction
impl System {
    /// A model without actuators. Its joints have the names of the bodies that they carry, and no limits.
    pub fn new(name: impl Into<String>, model: Model<f64>) -> Self {
        let joints = model.bodies().map(|body| JointData {
            name: model.name(body).to_owned(),
            limits: JointLimits::default(),
        });
        Self {
            name: name.into(),
            joints: joints.collect(),
            notes: Self::remarks(&model),
            model,
            inputs: Inputs::none(),
            quadratic_drag: Vec::new(),
            contacts: Vec::new(),
            servos: Vec::new(),
            battery: None,
            loops: Vec::new(),
            couplings: Vec::new(),
            rolling: Vec::new(),
            ropes: Vec::new(),
            visuals: Vec::new(),
        }
    }
}

/// # Changes
impl System {
    /// The same system with additional bodies, springs and dampers: loads, tools, frames. Keeps its actuators and loops.
    ///
    /// ```
    /// use fly_mechanics::multibody::{Body, Joint};
    /// use fly_mechanics::{PseudoInertia, System};
    /// use nalgebra::Vector3;
    ///
    /// let crane = System::from_toml(
    ///     r#"
    ///     name = "crane"
    ///     [bodies.boom]
    ///     joint = { type = "revolute", axis = [0, 1, 0] }
    ///     shape = { box = [2, 0.1, 0.1] }
    ///     mass = 50
    ///     [[motors]]
    ///     joint = "boom"
    ///     effort = 500
    ///     "#,
    /// )?;
    /// // A load of 20 kg on a rope of 1 m.
    /// let load = PseudoInertia::point_mass(20.0, Vector3::new(0.0, 0.0, -1.0))?;
    /// let rope = Joint::universal(Vector3::x(), Vector3::y())?;
    /// let loaded = crane.with(|model| model.body(Body::new("load", rope).parent("boom").inertia(load)))?;
    /// assert_eq!((loaded.model.dof(), loaded.inputs.input_dim()), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error in the additions.
    pub fn with(
        self,
        add: impl FnOnce(ModelBuilder<f64>) -> ModelBuilder<f64>,
    ) -> Result<Self, ModelError> {
        let model = add(self.model.to_builder()).build()?;
        Ok(self.carried_to(model))
    }

    /// The same system on another model that contains all of its bodies.
    fn carried_to(self, model: Model<f64>) -> Self {
        let mut extended = Self::new(self.name, model);
        for (body, joint) in self.model.bodies().zip(self.joints) {
            if let Ok(body) = extended.model.body_id(self.model.name(body)) {
                extended.joints[body.index() - 1] = joint;
            }
        }
        extended.inputs = self.inputs.moved(&self.model, &extended.model);
        for (body, drag) in self.quadratic_drag {
            if let Ok(body) = extended.model.body_id(self.model.name(body)) {
                extended.quadratic_drag.push((body, drag));
            }
        }
        for mut servo in self.servos {
            if let Ok(body) = extended.model.body_id(self.model.name(servo.joint)) {
                servo.joint = body;
                extended.servos.push(servo);
            }
        }
        for mut shape in self.contacts {
            if let Ok(body) = extended.model.body_id(self.model.name(shape.body)) {
                shape.body = body;
                extended.contacts.push(shape);
            }
        }
        for mut visual in self.visuals {
            if let Ok(body) = extended.model.body_id(self.model.name(visual.body)) {
                visual.body = body;
                extended.visuals.push(visual);
            }
        }
        let moved = |body: BodyId| match body {
            BodyId::WORLD => Some(body),
            _ => extended.model.body_id(self.model.name(body)).ok(),
        };
        for mut rope in self.ropes {
            if let (Some(a), Some(b)) = (moved(rope.a), moved(rope.b)) {
                (rope.a, rope.b) = (a, b);
                extended.ropes.push(rope);
            }
        }
        (extended.loops, extended.couplings) = (self.loops, self.couplings);
        extended.rolling = self.rolling;
        extended.battery = self.battery;
        let found = std::mem::replace(&mut extended.notes, self.notes);
        let new = |note: &String| !extended.notes.contains(note);
        let found: Vec<_> = found.into_iter().filter(new).collect();
        extended.notes.extend(found);
        extended
    }

    /// The same system after the release of the joint that carries this body: the body is free in the world, and its former carrier continues without it.
    /// [`JointRelease`](crate::JointRelease) converts the states. The joint's spring, damping, limits and stops vanish with it, as do all dampers between the two bodies.
    ///
    /// # Errors
    /// [`ReleaseError`]: the joint is free already, driven by a motor or a servo, or coupled with others.
    pub fn with_released_joint(&self, body: BodyId) -> Result<Self, ReleaseError> {
        let joint = || {
            self.joint(body)
                .map(|it| it.name.clone())
                .unwrap_or_default()
        };
        let model = &self.model;
        let is_free = model.parent(body) == Some(BodyId::WORLD)
            && (model.joint(body)).is_some_and(|it| matches!(it.kind(), JointKind::Free(_)));
        if is_free {
            return Err(ReleaseError::Free { joint: joint() });
        }
        let mut motors = self.inputs.motors().iter();
        if motors.any(|motor| motor.joint == body)
            || self.servos.iter().any(|servo| servo.joint == body)
        {
            return Err(ReleaseError::Driven { joint: joint() });
        }
        let name = model.name(body);
        let mut terms = self.couplings.iter().flat_map(|coupling| &coupling.terms);
        if terms.any(|(of, ..)| of == name) {
            return Err(ReleaseError::Coupled { joint: joint() });
        }
        let freed = model.with_free(body).map_err(ReleaseError::Model)?;
        let mut released = self.clone().carried_to(freed);
        if let Some(data) = released
            .model
            .body_id(name)
            .ok()
            .and_then(|body| released.joints.get_mut(body.index() - 1))
        {
            data.limits = JointLimits::default();
        }
        Ok(released)
    }
}

/// # Constraints
impl System {
    /// A builder with its loops, couplings and rolling bodies, for stabilisation and further constraints.
    ///
    /// ```
    /// use fly_mechanics::System;
    /// use fly_mechanics::multibody::constraints::Stabilization;
    ///
    /// let system = System::from_toml(
    ///     r#"
    ///     name = "slider-crank"
    ///
    ///     [bodies.crank]
    ///     joint = { type = "revolute", axis = [0, 1, 0] }
    ///     shape = { sphere = { radius = 0.1 } }
    ///     mass = 1
    ///
    ///     [bodies.slider]
    ///     joint = { type = "prismatic", axis = [0, 0, 1] }
    ///     shape = { box = [0.1, 0.1, 0.1] }
    ///     mass = 2
    ///
    ///     [[loops]]
    ///     name = "rod"
    ///     type = "distance"
    ///     length = 0.5
    ///     from = "crank"
    ///     from_frame = { position = [0.1, 0, 0] }
    ///     to = "slider"
    ///     "#,
    /// )?;
    /// let constraints = (system.constraints())
    ///     .stabilized(Stabilization::critically_damped(20.0))
    ///     .build(&system.model)?;
    /// assert_eq!(constraints.equations(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn constraints(&self) -> ConstraintSetBuilder<f64> {
        constraints(&self.loops, &self.couplings, &self.rolling)
    }
}

/// Loops, couplings and rolling bodies, in this order.
pub(crate) fn constraints(
    loops: &[LoopClosure<f64>],
    couplings: &[Coupling<f64>],
    rolling: &[Rolling<f64>],
) -> ConstraintSetBuilder<f64> {
    let builder = loops
        .iter()
        .fold(ConstraintSet::builder(), |builder, closure| {
            builder.with(closure.clone())
        });
    let builder =
        (couplings.iter()).fold(builder, |builder, coupling| builder.with(coupling.clone()));
    (rolling.iter()).fold(builder, |builder, rolling| builder.with(rolling.clone()))
}

/// # Air
impl System {
    /// Returns whether wind affects it: a body with drag, or a rotor with aerodynamics.
    pub fn feels_wind(&self) -> bool {
        let mut rotors = self.inputs.rotors().as_slice().iter();
        !self.quadratic_drag.is_empty()
            || (self.model.bodies()).any(|body| self.model.drag(body).is_some())
            || rotors.any(|rotor| rotor.propeller.aerodynamics.is_some())
    }

    /// Returns whether the air affects it, including ground effect on a rotor.
    pub fn feels_air(&self) -> bool {
        let mut rotors = self.inputs.rotors().as_slice().iter();
        self.feels_wind() || rotors.any(|rotor| rotor.propeller.feels_air())
    }
}

/// # Joints
impl System {
    /// The data of the joint that carries a body; `None` for the world.
    pub fn joint(&self, body: BodyId) -> Option<&JointData> {
        self.joints.get(body.index().checked_sub(1)?)
    }

    /// The body carried by the joint with this name.
    pub fn joint_named(&self, name: &str) -> Option<BodyId> {
        let mut both = self.model.bodies().zip(&self.joints);
        both.find_map(|(body, joint)| (joint.name == name).then_some(body))
    }

    /// Notes on joints that move no mass: the mass matrix is singular there.
    pub(crate) fn remarks(model: &Model<f64>) -> Vec<String> {
        let count = model.body_count() + 1;
        let mut heavy = vec![false; count];
        for body in model.bodies().collect::<Vec<_>>().into_iter().rev() {
            heavy[body.index()] |= model.inertia(body).is_some();
            if let Some(parent) = model.parent(body) {
                heavy[parent.index()] |= heavy[body.index()];
            }
        }
        let idle = model
            .bodies()
            .filter(|body| !heavy[body.index()] && !model.velocity_range(*body).is_empty());
        let idle: Vec<&str> = idle.map(|body| model.name(body)).collect();
        if idle.is_empty() {
            return Vec::new();
        }
        let names = some(&idle);
        vec![format!(
            "moving bodies without mass, whose accelerations are undetermined: {names}"
        )]
    }
}
