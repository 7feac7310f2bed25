//! The plant: `M xi_dot + b = B u`.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::constraints::{ConstraintSetError, EvaluatedState};
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{FreeBody, Inputs, State, System};
use nalgebra::{
    Const, DMatrix, DVector, DefaultAllocator, Dim, Dyn, Matrix3, Matrix6, Matrix6xX, OMatrix,
    OVector, Vector3, Vector6,
};

use crate::ReferencePoint;
use crate::constrained::Projection;
use crate::disturbance::Lean;
use crate::kinematics::OneBody;
use crate::law::{Law, LawError};
use crate::sizes::Sizes;
use crate::step_error::StepError;
use crate::strategy::Strategy;
use crate::system::{SystemPoint, SystemReference};
use crate::template::{DesiredMotion, Template};

/// The plant model of a [`Controller`](crate::Controller): the current M, b and B, with n degrees of freedom and p inputs.
pub trait Plant: Clone
where
    DefaultAllocator: Sizes<Self::Dof, Dyn>,
{
    /// n.
    type Dof: Dim;
    /// Configuration and velocity.
    type State<'a>: Copy;
    /// The goal: the reference's configuration and motion.
    type Goal<'a>: Copy;
    /// The control strategy: what defines the desired motion.
    type Strategy;
    /// Owned storage for a state and a goal.
    type Snapshot;

    /// Whether M, Mbar and B are constant, so that everything derived from them is factorised once.
    const CONSTANT: bool;

    /// The law, with all constant matrices factorised.
    ///
    /// # Errors
    /// [`LawError`], if the matrices are constant.
    fn law(&self, strategy: &Self::Strategy) -> Result<Law<f64, Self::Dof, Dyn>, LawError>;

    /// n.
    fn dof(&self) -> Self::Dof;

    /// p.
    fn input_dim(&self) -> usize;

    /// Indices, in the velocity, of the angular velocities about x and y of the only body that is free in the world; `None` if there is
    /// none, or more than one.
    fn tilt_indices(&self) -> Option<[usize; 2]>;

    /// Holds inputs, from now on, at fixed values whatever is demanded, for example failed ones: `Some(value)` for each such input (p entries, in its unit). Their columns
    /// of B become zero, and their forces join b.
    ///
    /// # Panics
    /// If the number of entries is not p.
    fn fix_inputs(&mut self, fixed: &[Option<f64>]);

    /// Updates kinematics, M and B for a state.
    fn update(&mut self, state: Self::State<'_>);

    /// Evaluates the strategy in the state of the last update, `elapsed` s after the previous one: it writes the desired motion,
    /// or u0 itself.
    ///
    /// # Errors
    /// [`StepError`] where the strategy is not defined.
    fn evaluate(
        &mut self,
        elapsed: f64,
        strategy: &mut Self::Strategy,
        state: Self::State<'_>,
        goal: Self::Goal<'_>,
        desired: &mut DesiredMotion<f64, Self::Dof>,
        u0: &mut DVector<f64>,
    ) -> Result<StrategyOutput, StepError>;

    /// M, n x n.
    fn mass_matrix(&self) -> &OMatrix<f64, Self::Dof, Self::Dof>;

    /// B, n x p.
    fn input_matrix(&self) -> &OMatrix<f64, Self::Dof, Dyn>;

    /// Adds the force of these inputs (p entries) to `force` (n entries); of a [fixed](Self::fix_inputs) input what it lacks of its own.
    fn add_force(&self, input: &DVector<f64>, force: &mut OVector<f64, Self::Dof>) {
        force.gemv(1.0, self.input_matrix(), input, 1.0);
    }

    /// b in the state of the last update: Coriolis, damping and potential forces.
    fn bias(&mut self, state: Self::State<'_>) -> &OVector<f64, Self::Dof>;

    /// The b that [`bias`](Self::bias) returned last.
    fn last_bias(&self) -> &OVector<f64, Self::Dof>;

    /// xi, n entries.
    fn velocity<'s>(state: &'s Self::State<'_>) -> &'s [f64];

    /// The rate of xi_R, n entries.
    fn goal_acceleration<'s>(goal: &'s Self::Goal<'_>) -> &'s [f64];

    /// Storage for a state and a goal.
    fn snapshot(&self) -> Self::Snapshot;

    /// The state and the goal stored in `moment`.
    fn at(snapshot: &Self::Snapshot) -> (Self::State<'_>, Self::Goal<'_>);

    /// Writes state and goal a short `time` later, s, to second order in time, given the acceleration of the state and the rate of the goal's
    /// acceleration (n entries each). Allocates nothing.
    fn advance(
        &self,
        time: f64,
        state: Self::State<'_>,
        acceleration: &OVector<f64, Self::Dof>,
        goal: Self::Goal<'_>,
        rate: &OVector<f64, Self::Dof>,
        out: &mut Self::Snapshot,
    );

    /// Whether the strategy has no internal state: the same question always gets the same answer.
    fn is_stateless(_strategy: &Self::Strategy) -> bool {
        true
    }

    /// The attitude of the only body that is free in the world, in the state of the last update; the identity if there is none, or more than
    /// one.
    fn attitude(&self, state: Self::State<'_>) -> Matrix3<f64>;

    /// Tilts the goal against this force (N, world) and moment (N m, body axes) on the only free body, where the inputs cannot oppose them directly.
    fn lean(&mut self, _force: &Vector3<f64>, _moment: &Vector3<f64>) {}

    /// How a reference at rest tilts under a small disturbance r: the derivative of the configuration with respect to r, n x n; `None`
    /// if it does not tilt.
    fn linear_lean(&self) -> Option<DMatrix<f64>> {
        None
    }
}

/// The output of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyOutput {
    /// The desired motion.
    DesiredMotion,
    /// u0.
    Input,
}

/// A vehicle: one free body. M and B are constant.
#[derive(Clone, Debug)]
pub struct FreeBodyPlant {
    body: FreeBody<f64>,
    input_matrix: Matrix6xX<f64>,
    /// B of all inputs, if some are fixed, and their wrench.
    fixed: Option<(Matrix6xX<f64>, Vector6<f64>)>,
    bias: Vector6<f64>,
    /// `None` if the inputs can produce every wrench.
    lean: Option<Lean>,
    /// The disturbance to lean against: force in the world, moment in the body.
    load: [Vector3<f64>; 2],
    /// The tilted reference that was pursued last, if any.
    leaned: Option<ReferencePoint>,
}

impl FreeBodyPlant {
    /// For a body with the input matrix B, 6 x p.
    pub fn new(body: &FreeBody<f64>, input_matrix: &Matrix6xX<f64>) -> Self {
        Self {
            body: *body,
            input_matrix: input_matrix.clone(),
            fixed: None,
            bias: Vector6::zeros(),
            lean: Lean::of_vehicle(body, input_matrix),
            load: [Vector3::zeros(); 2],
            leaned: None,
        }
    }

    /// The body.
    pub fn body(&self) -> &FreeBody<f64> {
        &self.body
    }

    /// The tilted reference pursued last in place of the given one; `None` if that needed no tilt against a
    /// disturbance.
    pub fn leaned(&self) -> Option<&ReferencePoint> {
        self.leaned.as_ref()
    }

    /// The tilted reference that would replace this one; `None` if it needs no tilt.
    pub fn leaning(&self, goal: &ReferencePoint) -> Option<ReferencePoint> {
        let [force, moment] = &self.load;
        (self.lean.as_ref())
            .filter(|_| self.load != [Vector3::zeros(); 2])
            .map(|lean| lean.against(goal, force, moment))
    }

    /// The lean law; `None` if the inputs can produce every wrench.
    pub fn lean_law(&self) -> Option<&Lean> {
        self.lean.as_ref()
    }
}

impl Plant for FreeBodyPlant {
    type Dof = Const<6>;
    type State<'a> = &'a State<f64>;
    type Goal<'a> = &'a ReferencePoint;
    type Strategy = Template<OneBody>;
    type Snapshot = (State<f64>, ReferencePoint);

    const CONSTANT: bool = true;

    fn law(&self, template: &Self::Strategy) -> Result<Law<f64, Const<6>, Dyn>, LawError> {
        Law::constant(
            self.body.mass_matrix(),
            template.mass_matrix(),
            &self.input_matrix,
        )
    }

    fn dof(&self) -> Const<6> {
        Const
    }

    fn input_dim(&self) -> usize {
        self.input_matrix.ncols()
    }

    fn tilt_indices(&self) -> Option<[usize; 2]> {
        Some([3, 4])
    }

    fn fix_inputs(&mut self, fixed: &[Option<f64>]) {
        if let Some((all, _)) = self.fixed.take() {
            self.input_matrix = all;
        }
        if fixed.iter().any(Option::is_some) {
            let (all, mut wrench) = (self.input_matrix.clone(), Vector6::zeros());
            fix(&mut self.input_matrix, fixed, &mut wrench);
            self.fixed = Some((all, wrench));
        }
        self.lean = Lean::of_vehicle(&self.body, &self.input_matrix);
    }

    fn update(&mut self, _: &State<f64>) {}

    fn evaluate(
        &mut self,
        _: f64,
        template: &mut Self::Strategy,
        state: &State<f64>,
        goal: &ReferencePoint,
        desired: &mut DesiredMotion<f64, Const<6>>,
        _: &mut DVector<f64>,
    ) -> Result<StrategyOutput, StepError> {
        self.leaned = self.leaning(goal);
        template.evaluate(state, self.leaned.as_ref().unwrap_or(goal), desired);
        Ok(StrategyOutput::DesiredMotion)
    }

    fn mass_matrix(&self) -> &Matrix6<f64> {
        self.body.mass_matrix()
    }

    fn input_matrix(&self) -> &Matrix6xX<f64> {
        &self.input_matrix
    }

    fn bias(&mut self, state: &State<f64>) -> &Vector6<f64> {
        self.bias = self.body.bias(state);
        if let Some((_, wrench)) = &self.fixed {
            self.bias -= wrench;
        }
        &self.bias
    }

    fn last_bias(&self) -> &Vector6<f64> {
        &self.bias
    }

    fn velocity<'s>(state: &'s &State<f64>) -> &'s [f64] {
        state.twist.as_slice()
    }

    fn goal_acceleration<'s>(goal: &'s &ReferencePoint) -> &'s [f64] {
        goal.acceleration.as_slice()
    }

    fn snapshot(&self) -> Self::Snapshot {
        (State::at_rest(SE3::identity()), ReferencePoint::default())
    }

    fn at((state, goal): &Self::Snapshot) -> (&State<f64>, &ReferencePoint) {
        (state, goal)
    }

    fn advance(
        &self,
        time: f64,
        state: &State<f64>,
        acceleration: &Vector6<f64>,
        goal: &ReferencePoint,
        rate: &Vector6<f64>,
        (later, aim): &mut Self::Snapshot,
    ) {
        let half = 0.5 * time * time;
        *later = State {
            pose: state.pose * SE3::exp(&(state.twist * time + acceleration * half)),
            twist: state.twist + acceleration * time,
        };
        *aim = ReferencePoint {
            pose: goal.pose * SE3::exp(&(goal.twist * time + goal.acceleration * half)),
            twist: goal.twist + goal.acceleration * time + rate * half,
            acceleration: goal.acceleration + rate * time,
        };
    }

    fn attitude(&self, state: &State<f64>) -> Matrix3<f64> {
        *state.pose.rotation.matrix()
    }

    fn lean(&mut self, force: &Vector3<f64>, moment: &Vector3<f64>) {
        self.load = [*force, *moment];
    }

    fn linear_lean(&self) -> Option<DMatrix<f64>> {
        self.lean.as_ref().map(Lean::at_rest)
    }
}

/// A system of bodies with rotors and motors. M and B change with the configuration.
///
/// [Rolling](fly_mechanics::multibody::constraints::Rolling) contacts are eliminated without a change of velocities: M, b and B become those of an
/// unconstrained system with the same motion, `P M P + I - P`, `P (b + M a) - a` and `P B`, with the projector P onto the slip-free velocities and the
/// acceleration a that rolling demands. The desired motion is projected likewise.
#[derive(Clone)]
pub struct SystemPlant {
    model: Model<f64>,
    inputs: Inputs,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    mass_matrix: DMatrix<f64>,
    bias: DVector<f64>,
    input_matrix: DMatrix<f64>,
    jacobian: Matrix6xX<f64>,
    /// The only body that is free in the world, and the force on it (N, world) that an observer has found.
    free: Option<BodyId>,
    load: Vector3<f64>,
    fixed: Option<Fixed>,
    /// `None` unless something rolls.
    projection: Option<Projection>,
}

/// Inputs of a system that are fixed.
#[derive(Clone)]
struct Fixed {
    /// Of each input, if it is.
    values: Vec<Option<f64>>,
    /// Their forces.
    force: DVector<f64>,
    /// B as if none were.
    whole: DMatrix<f64>,
}

/// Why a system cannot serve as a controller's model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlantError {
    /// The system has no rotors or motors.
    #[error("`{system}` has no actuators: a controller needs rotors or motors in the description")]
    NoInputs {
        /// The system's name.
        system: String,
    },
    /// An invalid constraint.
    #[error(transparent)]
    Constraint(#[from] ConstraintSetError),
    /// The system has closed loops or coupled joints.
    #[error(
        "a controller's model is a tree of bodies, but `{system}` has {key}: write `{key} = []` in `[vehicle]`, and name the whole system in `[backend.sim] vehicle`"
    )]
    Constrained {
        /// The system's name.
        system: String,
        /// `loops` or `couplings`.
        key: &'static str,
    },
}

impl SystemPlant {
    /// From the system's description.
    ///
    /// # Errors
    /// [`PlantError`] without inputs, and with loops or couplings.
    pub fn new(system: &System) -> Result<Self, PlantError> {
        let name = || system.name.clone();
        for (key, count) in [
            ("loops", system.loops.len()),
            ("couplings", system.couplings.len()),
        ] {
            if count > 0 {
                let system = name();
                return Err(PlantError::Constrained { system, key });
            }
        }
        let (n, p) = (system.model.dof(), system.inputs.input_dim());
        if p == 0 {
            return Err(PlantError::NoInputs { system: name() });
        }
        let model = system.model.clone();
        let projection = Projection::new(system)?;
        Ok(Self {
            projection,
            inputs: system.inputs.clone(),
            actual: Workspace::new(&model),
            reference: Workspace::new(&model),
            mass_matrix: DMatrix::zeros(n, n),
            bias: DVector::zeros(n),
            input_matrix: DMatrix::zeros(n, p),
            jacobian: Matrix6xX::zeros(n),
            free: Measurements::tracked(&model),
            load: Vector3::zeros(),
            fixed: None,
            model,
        })
    }

    /// Its bodies and joints.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// Its actuators.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Updates B in the present state.
    fn update_inputs(&mut self) {
        self.inputs
            .input_matrix(&self.actual, &mut self.jacobian, &mut self.input_matrix);
        if let Some(fixed) = &mut self.fixed {
            fixed.force.fill(0.0);
            fixed.whole.copy_from(&self.input_matrix);
            fix(&mut self.input_matrix, &fixed.values, &mut fixed.force);
        }
        if let Some(projection) = &mut self.projection {
            projection.columns(&mut self.input_matrix);
            if let Some(fixed) = &mut self.fixed {
                projection.columns(&mut fixed.whole);
            }
        }
    }
}

impl Plant for SystemPlant {
    type Dof = Dyn;
    type State<'a> = (&'a [f64], &'a [f64]);
    type Goal<'a> = SystemReference<'a>;
    type Strategy = Strategy;
    type Snapshot = (SystemState<f64>, SystemPoint);

    const CONSTANT: bool = false;

    fn law(&self, _: &Strategy) -> Result<Law, LawError> {
        Ok(Law::new(self.dof(), Dyn(self.input_dim())))
    }

    fn dof(&self) -> Dyn {
        Dyn(self.model.dof())
    }

    fn input_dim(&self) -> usize {
        self.inputs.input_dim()
    }

    fn tilt_indices(&self) -> Option<[usize; 2]> {
        let first = self.model.velocity_range(self.free?).start + 3;
        Some([first, first + 1])
    }

    fn fix_inputs(&mut self, fixed: &[Option<f64>]) {
        assert_eq!(fixed.len(), self.input_dim(), "number of inputs");
        let some = fixed.iter().any(Option::is_some);
        self.fixed = some.then(|| Fixed {
            values: fixed.to_vec(),
            force: DVector::zeros(self.model.dof()),
            whole: self.input_matrix.clone(),
        });
        self.update_inputs();
    }

    fn update(&mut self, (x, xi): (&[f64], &[f64])) {
        let model = &self.model;
        self.actual.update(model, x, xi);
        self.actual.update_jacobians(model);
        model.mass_matrix(&mut self.actual, x, &mut self.mass_matrix);
        if let Some(projection) = &mut self.projection {
            projection.update(&EvaluatedState {
                model,
                workspace: &self.actual,
                configuration: x,
                velocity: xi,
                time: 0.0,
            });
            projection.mass_matrix(&mut self.mass_matrix);
        }
        self.update_inputs();
    }

    fn evaluate(
        &mut self,
        elapsed: f64,
        strategy: &mut Strategy,
        (x, xi): (&[f64], &[f64]),
        goal: SystemReference<'_>,
        desired: &mut DesiredMotion,
        u0: &mut DVector<f64>,
    ) -> Result<StrategyOutput, StepError> {
        let (model, M) = (&self.model, &self.mass_matrix);
        match strategy {
            Strategy::Template(template) => {
                let (actual, reference) = (&self.actual, &mut self.reference);
                template.evaluate(model, actual, xi, reference, &goal, desired)?;
            }
            Strategy::Matrices(template) => {
                let (actual, reference) = (&self.actual, &mut self.reference);
                template.evaluate(model, actual, xi, reference, &goal, desired);
            }
            Strategy::User(template) => {
                template.evaluate(model, &self.actual, (x, xi), &goal, desired)?;
            }
            Strategy::Euclidean(template) => {
                template.evaluate(model, &self.actual, M, (x, xi), &goal, desired);
            }
            Strategy::Feedback(feedback) => {
                feedback.input(model, &self.inputs, (x, xi), &goal, u0)?;
                return Ok(StrategyOutput::Input);
            }
            Strategy::Multirotor(multirotor) => {
                let body = self.free.ok_or(StepError::NoFreeBody)?;
                let joint = model.joint(body).ok_or(StepError::NoFreeBody)?;
                let range = model.velocity_range(body);
                let six = |of: &[f64]| Vector6::from_column_slice(&of[range.clone()]);
                let state = State {
                    pose: joint.pose(x),
                    twist: six(xi),
                };
                let goal = ReferencePoint {
                    pose: joint.pose(goal.configuration),
                    twist: six(goal.velocity),
                    acceleration: six(goal.acceleration),
                };
                multirotor.input(elapsed, &state, &goal, &self.load, u0);
                return Ok(StrategyOutput::Input);
            }
        }
        if let Some(projection) = &mut self.projection {
            projection.template(&mut desired.mass_matrix, &mut desired.bias);
        }
        Ok(StrategyOutput::DesiredMotion)
    }

    fn mass_matrix(&self) -> &DMatrix<f64> {
        &self.mass_matrix
    }

    fn input_matrix(&self) -> &DMatrix<f64> {
        &self.input_matrix
    }

    fn add_force(&self, input: &DVector<f64>, force: &mut DVector<f64>) {
        let Some(fixed) = &self.fixed else {
            return force.gemv(1.0, &self.input_matrix, input, 1.0);
        };
        let inputs = fixed.whole.column_iter().zip(input).zip(&fixed.values);
        for ((column, asked), own) in inputs {
            force.axpy(asked - own.unwrap_or(0.0), &column, 1.0);
        }
    }

    fn bias(&mut self, (x, xi): (&[f64], &[f64])) -> &DVector<f64> {
        self.model
            .bias(&mut self.actual, x, xi, self.bias.as_mut_slice());
        if let Some(fixed) = &self.fixed {
            self.bias -= &fixed.force;
        }
        if let Some(projection) = &mut self.projection {
            projection.bias(&mut self.bias);
        }
        &self.bias
    }

    fn last_bias(&self) -> &DVector<f64> {
        &self.bias
    }

    fn velocity<'s>(state: &'s (&[f64], &[f64])) -> &'s [f64] {
        state.1
    }

    fn goal_acceleration<'s>(goal: &'s SystemReference<'_>) -> &'s [f64] {
        goal.acceleration
    }

    fn snapshot(&self) -> Self::Snapshot {
        (
            SystemState::at_rest(&self.model),
            SystemPoint::new(&self.model),
        )
    }

    fn at((state, goal): &Self::Snapshot) -> (Self::State<'_>, SystemReference<'_>) {
        let state = (state.configuration.as_slice(), state.velocity.as_slice());
        (state, goal.as_reference())
    }

    fn advance(
        &self,
        time: f64,
        (x, xi): (&[f64], &[f64]),
        acceleration: &DVector<f64>,
        goal: SystemReference<'_>,
        rate: &DVector<f64>,
        (later, aim): &mut Self::Snapshot,
    ) {
        // The mean velocity advances the configuration to second order.
        let move_on = |x: &[f64], xi: &[f64], a: &[f64], to: (&mut [f64], &mut [f64])| {
            let (to_x, to_xi) = to;
            for ((to, xi), a) in to_xi.iter_mut().zip(xi).zip(a) {
                *to = time * (xi + 0.5 * time * a);
            }
            to_x.copy_from_slice(x);
            self.model.integrate(to_x, to_xi);
            for ((to, xi), a) in to_xi.iter_mut().zip(xi).zip(a) {
                *to = xi + time * a;
            }
        };
        let to = (&mut later.configuration[..], &mut later.velocity[..]);
        move_on(x, xi, acceleration.as_slice(), to);
        let to = (&mut aim.configuration[..], &mut aim.velocity[..]);
        move_on(goal.configuration, goal.velocity, goal.acceleration, to);
        let rates = goal.acceleration.iter().zip(rate);
        let aims = aim.velocity.iter_mut().zip(&mut aim.acceleration);
        for ((velocity, to), (a, rate)) in aims.zip(rates) {
            *velocity += 0.5 * time * time * rate;
            *to = a + time * rate;
        }
    }

    fn is_stateless(strategy: &Strategy) -> bool {
        !matches!(strategy, Strategy::Multirotor(_))
    }

    fn lean(&mut self, force: &Vector3<f64>, _: &Vector3<f64>) {
        self.load = *force;
    }

    fn attitude(&self, _: (&[f64], &[f64])) -> Matrix3<f64> {
        self.free.map_or_else(Matrix3::identity, |body| {
            *self.actual.pose(BodyId::WORLD, body).rotation.matrix()
        })
    }
}

/// Zeroes the columns of fixed inputs in B, and adds their forces to `force`.
fn fix<N: Dim>(B: &mut OMatrix<f64, N, Dyn>, fixed: &[Option<f64>], force: &mut OVector<f64, N>)
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    assert_eq!(fixed.len(), B.ncols(), "number of inputs");
    for (mut column, value) in B.column_iter_mut().zip(fixed) {
        if let Some(value) = value {
            force.axpy(*value, &column, 1.0);
            column.fill(0.0);
        }
    }
}
