//! The inputs of a system: rotors on any of its bodies, motors in its joints.

use std::ops::Range;

use fly_lie::operators::{angular, join, linear};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3, Vector6};

use super::{Motor, MotorError, Polytope, Rotors};
use crate::multibody::{BodyId, Joint, Model, Workspace};
use crate::{Air, velocity_of_point};

/// The actuators of a system, `M xi_dot + b = B(x) u`, and their limits, `W u <= l`.
///
/// The inputs are those of the rotors, see [`Rotors`], followed by one per motor: its effort. The commands are the same, except for
/// tilting rotors.
///
/// ```
/// use fly_mechanics::System;
/// use fly_mechanics::multibody::Workspace;
/// use nalgebra::{DMatrix, Matrix6xX};
///
/// // A rotor at the tip of a boom of 2 m that turns about y, with a motor in the hinge.
/// let system = System::from_toml(
///     r#"
///     name = "boom"
///
///     [bodies.boom]
///     joint = { type = "revolute", axis = [0, 1, 0] }
///     shape = { box = [2, 0.05, 0.05] }
///     mass = 1.5
///     center_of_mass = [1, 0, 0]
///
///     [[rotors]]
///     body = "boom"
///     position = [2, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 10]
///
///     [[motors]]
///     joint = "boom"
///     effort = [-3, 3]
///     "#,
/// )?;
/// let (model, inputs) = (&system.model, &system.inputs);
/// assert_eq!(inputs.command_names(), ["rotor.0.thrust", "motor.0.effort"]);
///
/// let mut workspace = Workspace::new(model);
/// workspace.update(model, &[0.3], &[0.0]);
/// workspace.update_jacobians(model);
/// let mut B = DMatrix::zeros(model.dof(), inputs.input_dim());
/// inputs.input_matrix(&workspace, &mut Matrix6xX::zeros(model.dof()), &mut B);
/// assert_eq!(B.as_slice(), [-2.0, 1.0]); // the rotor lifts the tip, which turns the boom about -y
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    rotors: Rotors,
    carriers: Vec<BodyId>,
    motors: Vec<Motor>,
    /// What each motor drives.
    driven: Vec<Driven>,
    limits: Polytope,
    interior: Vec<f64>,
    command_names: Vec<String>,
    command_limits: Vec<[f64; 2]>,
    time_constants: Vec<f64>,
}

/// What a motor drives.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Driven {
    /// The index of the velocity.
    velocity: usize,
    /// The body that carries an absolute joint, and the motor's axis on the body that it moves: that velocity is not relative to the
    /// carrier, so the reaction on it is an effect of its own.
    carrier: Option<(BodyId, Vector3<f64>)>,
}

impl Driven {
    fn of(model: &Model<f64>, motor: &Motor) -> Self {
        let absolute = model.joint(motor.joint).is_some_and(Joint::is_absolute);
        let carrier = model.parent(motor.joint).filter(|_| absolute);
        Self {
            velocity: model.velocity_range(motor.joint).start + motor.component,
            carrier: carrier.map(|body| (body, Vector3::ith(motor.component, 1.0))),
        }
    }

    /// The wrench of a unit of effort on the carrier of an absolute joint.
    fn reaction(
        &self,
        joint: BodyId,
        workspace: &Workspace<f64>,
    ) -> Option<(BodyId, Vector6<f64>)> {
        let (body, axis) = self.carrier?;
        let torque = workspace.pose(body, joint).rotation.act(&-axis);
        Some((body, join(&Vector3::zeros(), &torque)))
    }
}

/// # Construction
impl Inputs {
    /// Checks the motors and sets up the limits. `carriers` are the bodies of the rotors, one per rotor.
    ///
    /// # Errors
    /// The first invalid motor, see [`MotorError`].
    ///
    /// # Panics
    /// If there is not one carrier per rotor.
    pub fn new(
        model: &Model<f64>,
        rotors: Rotors,
        carriers: Vec<BodyId>,
        motors: Vec<Motor>,
    ) -> Result<Self, MotorError> {
        assert_eq!(
            carriers.len(),
            rotors.as_slice().len(),
            "carriers of rotors"
        );
        let mut driven = Vec::with_capacity(motors.len());
        for (index, motor) in motors.iter().enumerate() {
            motor.check(model)?;
            if motors[..index].iter().any(|other| other.name == motor.name) {
                return Err(MotorError::DuplicateName {
                    motor: motor.name.clone(),
                    index,
                });
            }
            driven.push(Driven::of(model, motor));
        }
        Ok(Self::of_checked(rotors, carriers, motors, driven))
    }

    /// No actuators.
    pub fn none() -> Self {
        Self::of_checked(Rotors::none(), Vec::new(), Vec::new(), Vec::new())
    }

    fn of_checked(
        rotors: Rotors,
        carriers: Vec<BodyId>,
        motors: Vec<Motor>,
        driven: Vec<Driven>,
    ) -> Self {
        let efforts = || motors.iter().map(|motor| motor.effort);
        let names = (0..motors.len()).map(|i| format!("motor.{i}.effort"));
        let lags = motors.iter().map(|motor| motor.time_constant);
        Self {
            limits: limits(rotors.limits(), &motors),
            interior: (rotors.interior().iter().copied())
                .chain(efforts().map(middle))
                .collect(),
            command_names: rotors
                .command_names()
                .iter()
                .cloned()
                .chain(names)
                .collect(),
            command_limits: (rotors.command_limits().iter().copied())
                .chain(efforts())
                .collect(),
            time_constants: rotors
                .time_constants()
                .iter()
                .copied()
                .chain(lags)
                .collect(),
            rotors,
            carriers,
            motors,
            driven,
        }
    }
}

impl Inputs {
    /// The same rotors and motors on the bodies and joints with the same names in another model.
    pub(crate) fn moved(mut self, from: &Model<f64>, to: &Model<f64>) -> Self {
        let find = |body: BodyId| to.body_id(from.name(body)).unwrap_or(body);
        for carrier in &mut self.carriers {
            *carrier = find(*carrier);
        }
        for (motor, driven) in self.motors.iter_mut().zip(&mut self.driven) {
            motor.joint = find(motor.joint);
            *driven = Driven::of(to, motor);
        }
        self
    }
}

/// # Access
impl Inputs {
    /// The rotors. Their [`input_matrix`](Rotors::input_matrix) contains wrenches on the bodies that carry them.
    pub fn rotors(&self) -> &Rotors {
        &self.rotors
    }

    /// The bodies that carry the rotors, one per rotor.
    pub fn carriers(&self) -> &[BodyId] {
        &self.carriers
    }

    /// The motors.
    pub fn motors(&self) -> &[Motor] {
        &self.motors
    }

    /// The dimension p of the input `u`; the number of commands is the same.
    pub fn input_dim(&self) -> usize {
        self.rotors.input_dim() + self.motors.len()
    }

    /// The feasible inputs, `W u <= l`: the rows of the rotors, see [`Rotors::limits`], followed by those of the motors' largest and
    /// of their smallest efforts. A motor without a limit has no row.
    pub fn limits(&self) -> &Polytope {
        &self.limits
    }

    /// An input strictly inside the limits.
    pub fn interior(&self) -> &[f64] {
        &self.interior
    }

    /// The names of the commands: `rotor.0.thrust`, `rotor.0.tilt`, ..., `motor.0.effort`, ...
    pub fn command_names(&self) -> &[String] {
        &self.command_names
    }

    /// The input indices of each actuator, rotors before motors; also its command indices.
    pub fn actuator_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let motors = self.rotors.input_dim()..self.input_dim();
        (self.rotors.rotor_ranges()).chain(motors.map(|i| i..i + 1))
    }

    /// The smallest and largest value of every command: N, rad, N m.
    pub fn command_limits(&self) -> &[[f64; 2]] {
        &self.command_limits
    }

    /// The actuators' outputs before any command: the smallest thrust, zero tilt, and the effort closest to zero. N, rad, N m.
    pub fn at_rest(&self) -> impl Iterator<Item = f64> {
        let limits = self.command_limits.iter();
        limits.map(|[low, high]| 0.0_f64.clamp(*low, *high))
    }

    /// The time constant of every command's first-order lag, s; zero for none.
    pub fn time_constants(&self) -> &[f64] {
        &self.time_constants
    }
}

/// # Input matrix
impl Inputs {
    /// `B(x)`, n x p, in the workspace's state, [`update_jacobians`](Workspace::update_jacobians) included: the generalised force per unit of
    /// each input. A rotor's wrench acts through its body's Jacobian, a motor on its own velocity; that of an absolute joint
    /// also on the body that carries it, the other way.
    ///
    /// `jacobian` is a scratch array, 6 x n.
    ///
    /// # Panics
    /// If the shape of an array is wrong.
    pub fn input_matrix(
        &self,
        workspace: &Workspace<f64>,
        jacobian: &mut Matrix6xX<f64>,
        B: &mut DMatrix<f64>,
    ) {
        assert_eq!(B.ncols(), self.input_dim(), "columns of the input matrix");
        let wrenches = self.rotors.input_matrix();
        let mut held = None;
        for (range, body) in self.rotors.rotor_ranges().zip(&self.carriers) {
            if held != Some(*body) {
                workspace.jacobian(BodyId::WORLD, *body, jacobian);
                held = Some(*body);
            }
            for i in range {
                B.column_mut(i)
                    .gemv_tr(1.0, jacobian, &wrenches.column(i), 0.0);
            }
        }
        let first = self.rotors.input_dim();
        for (i, (driven, motor)) in self.driven.iter().zip(&self.motors).enumerate() {
            let mut column = B.column_mut(first + i);
            column.fill(0.0);
            if let Some((body, wrench)) = driven.reaction(motor.joint, workspace) {
                column.gemv_tr(1.0, workspace.body_jacobian(body), &wrench, 0.0);
            }
            column[driven.velocity] += 1.0;
        }
    }

    /// Adds the generalised force of thrusts, tilt angles and efforts to `force`, n entries: `B u` without forming the matrix, in the
    /// workspace's state, [`update_jacobians`](Workspace::update_jacobians) included.
    ///
    /// # Panics
    /// If the length of a slice is wrong.
    pub fn add_force(&self, workspace: &Workspace<f64>, commands: &[f64], force: &mut [f64]) {
        let wrenches = self.wrenches(commands);
        for (body, wrench) in wrenches.chain(self.reactions(workspace, commands)) {
            workspace.add_wrench(body, &wrench, force);
        }
        self.add_efforts(commands, force);
    }

    /// The wrenches of the rotors, each `[f; tau]` on the body that carries it, in that body's frame, N and N m.
    ///
    /// # Panics
    /// If the length of the commands is wrong.
    pub fn wrenches<'a>(
        &'a self,
        commands: &'a [f64],
    ) -> impl Iterator<Item = (BodyId, Vector6<f64>)> + 'a {
        assert_eq!(commands.len(), self.input_dim(), "number of commands");
        let rotors = &commands[..self.rotors.input_dim()];
        let wrenches = self.rotors.rotor_wrenches(rotors);
        self.carriers.iter().copied().zip(wrenches)
    }

    /// Adds the efforts of the motors, which act along the velocity coordinates of their joints, but not their
    /// [`reactions`](Self::reactions).
    ///
    /// # Panics
    /// If the length of a slice is wrong.
    pub fn add_efforts(&self, commands: &[f64], force: &mut [f64]) {
        assert_eq!(commands.len(), self.input_dim(), "number of commands");
        let motors = &commands[self.rotors.input_dim()..];
        for (driven, effort) in self.driven.iter().zip(motors) {
            force[driven.velocity] += effort;
        }
    }

    /// Whether there are [`reactions`](Self::reactions).
    pub(crate) fn react(&self) -> bool {
        self.driven.iter().any(|driven| driven.carrier.is_some())
    }

    /// The wrenches of the motors in absolute joints on the bodies that carry these, each in that body's frame, N m, in the workspace's
    /// state: the velocities of all other joints are relative to the carrier, and their efforts act on it already. Does not allocate.
    ///
    /// # Panics
    /// If the length of the commands is wrong.
    pub fn reactions<'a>(
        &'a self,
        workspace: &'a Workspace<f64>,
        commands: &'a [f64],
    ) -> impl Iterator<Item = (BodyId, Vector6<f64>)> + 'a {
        assert_eq!(commands.len(), self.input_dim(), "number of commands");
        let efforts = &commands[self.rotors.input_dim()..];
        let motors = self.driven.iter().zip(&self.motors).zip(efforts);
        motors.filter_map(|((driven, motor), effort)| {
            let (body, wrench) = driven.reaction(motor.joint, workspace)?;
            Some((body, wrench * *effort))
        })
    }

    /// The aerodynamic wrenches on the rotors in addition to the thrusts of [`wrenches`](Self::wrenches): those of the flow and of the
    /// ground on each [`Propeller`](crate::Propeller), in the workspace's state. Does not allocate.
    ///
    /// # Panics
    /// If the length of the commands is wrong.
    pub fn air_wrenches<'a>(
        &'a self,
        workspace: &'a Workspace<f64>,
        air: &'a Air,
        commands: &'a [f64],
    ) -> impl Iterator<Item = (BodyId, Vector6<f64>)> + 'a {
        assert_eq!(commands.len(), self.input_dim(), "number of commands");
        let rotors = self.rotors.as_slice().iter();
        let rotors = rotors.zip(self.rotors.rotor_ranges()).zip(&self.carriers);
        let felt = rotors.filter(|((rotor, _), _)| rotor.propeller.feels_air());
        felt.map(move |((rotor, range), body)| {
            let (thrust, direction) = Rotors::thrust(rotor, &commands[range]);
            let pose = workspace.pose(BodyId::WORLD, *body);
            let height = pose.act(&rotor.position).z;
            let wind = pose.rotation.inverse().act(&air.velocity_at(height));
            let twist = workspace.twist(BodyId::WORLD, *body);
            let airspeed = velocity_of_point(&twist, &rotor.position) - wind;
            let flow = (rotor.propeller).wrench_of_flow(thrust, &direction, &airspeed);
            let upward = pose.rotation.act(&direction).z;
            let ground = (rotor.propeller).thrust_of_ground(air, thrust, upward, height);
            let at_hub = linear(&flow) + direction * ground;
            let torque = angular(&flow) + rotor.position.cross(&at_hub);
            (*body, join(&at_hub, &torque))
        })
    }

    /// The commands that produce the input `u`.
    ///
    /// # Panics
    /// If a slice is not of length [`input_dim`](Self::input_dim).
    pub fn commands_from_input(&self, u: &[f64], commands: &mut [f64]) {
        let rotors = self.rotors.input_dim();
        self.rotors
            .commands_from_input(&u[..rotors], &mut commands[..rotors]);
        commands[rotors..].copy_from_slice(&u[rotors..]);
    }

    /// The input that commands produce.
    ///
    /// # Panics
    /// If a slice is not of length [`input_dim`](Self::input_dim).
    pub fn input_from_commands(&self, commands: &[f64], u: &mut [f64]) {
        let rotors = self.rotors.input_dim();
        self.rotors
            .input_from_commands(&commands[..rotors], &mut u[..rotors]);
        u[rotors..].copy_from_slice(&commands[rotors..]);
    }
}

/// The limits of rotors and motors.
fn limits(rotors: &Polytope, motors: &[Motor]) -> Polytope {
    let upper = motors.iter().map(|motor| motor.effort[1]);
    let lower = motors.iter().map(|motor| -motor.effort[0]);
    let sides = (upper.enumerate().map(|(i, bound)| (i, 1.0, bound)))
        .chain(lower.enumerate().map(|(i, bound)| (i, -1.0, bound)));
    let rows: Vec<_> = sides.filter(|(.., bound)| bound.is_finite()).collect();
    let (first_row, first) = (rotors.rows(), rotors.dim());
    let mut matrix = DMatrix::zeros(first_row + rows.len(), first + motors.len());
    matrix
        .view_mut((0, 0), (first_row, first))
        .copy_from(&rotors.matrix);
    for (row, (motor, sign, _)) in rows.iter().enumerate() {
        matrix[(first_row + row, first + motor)] = *sign;
    }
    let bounds = rows.iter().map(|(.., bound)| *bound);
    Polytope {
        bound: DVector::from_iterator(
            first_row + rows.len(),
            rotors.bound.iter().copied().chain(bounds),
        ),
        matrix,
    }
}

/// A value strictly between two limits, either of which may be infinite.
fn middle([low, high]: [f64; 2]) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => f64::midpoint(low, high),
        (true, false) => low + 1.0,
        (false, true) => high - 1.0,
        (false, false) => 0.0,
    }
}
