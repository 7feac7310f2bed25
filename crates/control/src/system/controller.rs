//! One control step of a whole system.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{JointKind, Model, Workspace};
use fly_mechanics::{Inputs, System};
use nalgebra::{DMatrix, DVector, Matrix6xX};

use super::rest;
use super::trial::try_out;
use super::{DesiredMotion, Strategy, SystemLaw, SystemReference, TransportError};
use crate::Energies;
use crate::allocation::{Allocation, AllocationError, Limited, Limits};
use crate::analysis::{LyapunovGuarantee, input_rank};
use crate::controller::{ControllerError, Step, allocator};
use crate::design::{NotAtRest, PlacementError};
use crate::law::LawError;
use crate::settings::{AllocationMethod, ControllerSettings, SettingsError};

/// The tracking controller of a system with p inputs: desired motion, law and allocation in every step, as all matrices change with the
/// configuration, Konz (5.84)-(5.86).
///
/// ```
/// use fly_control::ControllerSettings;
/// use fly_control::system::{SystemController, SystemReference};
/// use fly_mechanics::System;
///
/// // A pendulum that a weak motor should hold out to the side.
/// let system = System::from_toml(
///     r#"
///     name = "pendulum"
///     [bodies.arm]
///     joint = { type = "revolute", axis = [0, 1, 0] }
///     shape = { sphere = { radius = 0.05 } }
///     mass = 1
///     center_of_mass = [0, 0, -1]
///     [[motors]]
///     joint = "arm"
///     effort = [-5, 5]
///     "#,
/// )?;
/// let settings: ControllerSettings = toml::from_str(
///     "allocation = 'active_set'
///      pairs = [{ to = 'arm', stiffness = 9, damping = 6, inertia = 1 }]",
/// )?;
/// let mut controller = SystemController::for_system(&system, &settings)?;
///
/// let goal = SystemReference { configuration: &[1.0], velocity: &[0.0], acceleration: &[0.0] };
/// let step = controller.step_after(0.0, &[0.2], &[0.0], &goal)?;
/// // The law asks for about 8 N m: for the weight's 2 and to speed up; the motor gives what it has.
/// assert_eq!((step.input[0], step.active()), (5.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SystemController {
    model: Model<f64>,
    inputs: Inputs,
    strategy: Strategy,
    law: SystemLaw,
    limited: Option<Limited>,
    projection: Option<Projection>,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    mass_matrix: DMatrix<f64>,
    bias: DVector<f64>,
    input_matrix: DMatrix<f64>,
    jacobian: Matrix6xX<f64>,
    desired: DesiredMotion,
    step: Step,
}

/// A weight on the turns of the free body about its x and y when inputs are limited, see [`projection_metric`](crate::law::projection_metric).
struct Projection {
    weight: f64,
    turns: [usize; 2],
    /// H', p x p.
    metric: DMatrix<f64>,
}

/// Why there is no input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// The transport map does not exist here.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// There is no law here.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The metric of the limits is not positive definite.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// State feedback: nothing holds the system in its reference.
    #[error("state feedback is about a reference at rest: {0}")]
    NotAtRest(#[from] NotAtRest),
    /// State feedback: there are no gains.
    #[error("there is no state feedback with these poles: {0}")]
    Placement(#[from] PlacementError),
}

/// # Construction
impl SystemController {
    /// For a system as its description gives it, within the limits of its inputs.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn for_system(
        system: &System,
        settings: &ControllerSettings,
    ) -> Result<Self, ControllerError> {
        check(system)?;
        let mut strategy = settings.strategy(system)?;
        try_out(system, &mut strategy)?;
        let rates = settings.rates(system.inputs.input_dim())?;
        Self::new(system, strategy)?
            .weighted(settings.projection_weight)?
            .limited(settings.allocation, rates)
    }

    /// For a strategy of one's own, without limits.
    ///
    /// # Errors
    /// [`ControllerError::NoInputs`], [`ControllerError::Constrained`].
    pub fn new(system: &System, strategy: impl Into<Strategy>) -> Result<Self, ControllerError> {
        check(system)?;
        let model = system.model.clone();
        let (n, p) = (model.dof(), system.inputs.input_dim());
        Ok(Self {
            strategy: strategy.into(),
            law: SystemLaw::new(n, p),
            limited: None,
            projection: None,
            actual: Workspace::new(&model),
            reference: Workspace::new(&model),
            mass_matrix: DMatrix::zeros(n, n),
            bias: DVector::zeros(n),
            input_matrix: DMatrix::zeros(n, p),
            jacobian: Matrix6xX::zeros(n),
            desired: DesiredMotion::new(&model),
            step: Step {
                input: DVector::zeros(p),
                unconstrained: DVector::zeros(p),
                energies: Energies::default(),
                allocation: Allocation::FREE,
            },
            inputs: system.inputs.clone(),
            model,
        })
    }

    /// The same with inputs inside the limits of the system, and with rates (of each input, in its unit per second) if there are any.
    ///
    /// # Errors
    /// [`ControllerError::Allocation`], [`ControllerError::Settings`] where this build has no such solver.
    pub fn limited(
        mut self,
        method: AllocationMethod,
        rates: Option<Vec<f64>>,
    ) -> Result<Self, ControllerError> {
        self.limited = None;
        if method != AllocationMethod::None {
            let polytope = self.inputs.limits();
            let interior = DVector::from_column_slice(self.inputs.interior());
            let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
            let p = self.inputs.input_dim();
            self.limited = Some(Limited::new(&limits, rates, |limits| {
                allocator(method, limits, &DMatrix::identity(p, p))
            })?);
        }
        Ok(self)
    }

    /// The same with a weight rho (kg m^2) on the turns of the free body about its x and y when inputs are limited, see
    /// [`projection_metric`](crate::law::projection_metric).
    ///
    /// # Errors
    /// [`ControllerError::Settings`] if it is not zero and not exactly one body moves freely.
    pub fn weighted(mut self, weight: f64) -> Result<Self, ControllerError> {
        self.projection = None;
        if weight != 0.0 {
            let is_free = |body: &_| {
                let joint = self.model.joint(*body);
                joint.is_some_and(|joint| matches!(joint.kind(), JointKind::Free(_)))
            };
            let mut free = self.model.bodies().filter(is_free);
            let (Some(body), None) = (free.next(), free.next()) else {
                let message = "expected 0 (the default): it weighs the turns of the one body that moves freely, and this system has none or several";
                return Err(SettingsError::new("projection_weight", message).into());
            };
            let first = self.model.velocity_range(body).start + 3;
            let p = self.inputs.input_dim();
            self.projection = Some(Projection {
                weight,
                turns: [first, first + 1],
                metric: DMatrix::zeros(p, p),
            });
        }
        Ok(self)
    }

    /// Finds the gains of state feedback for rest in this configuration; other strategies know no such thing. The first step does it for its own
    /// reference otherwise. Allocates.
    ///
    /// # Errors
    /// [`SystemError::NotAtRest`], [`SystemError::Placement`].
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn rest_at(&mut self, configuration: &[f64]) -> Result<(), SystemError> {
        match &mut self.strategy {
            Strategy::Feedback(feedback) => {
                feedback.place(&self.model, &self.inputs, configuration)
            }
            Strategy::Template(_) | Strategy::Euclidean(_) => Ok(()),
        }
    }
}

/// # Places to rest
impl SystemController {
    /// Moves a configuration to one near by in which the inputs hold the system at rest within their limits: a tilted multicopter is levelled where
    /// it is, its heading kept; a system with an input for every way to move stays as it is. Answers whether one was found; if not, the
    /// configuration stays. Allocates.
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn rest_near(&self, configuration: &mut [f64]) -> bool {
        rest::nearest(&self.model, &self.inputs, configuration)
    }
}

/// Whether there is a controller for such a system at all.
fn check(system: &System) -> Result<(), ControllerError> {
    let name = || system.name.clone();
    for (key, count) in [
        ("loops", system.loops.len()),
        ("couplings", system.couplings.len()),
    ] {
        if count > 0 {
            let system = name();
            return Err(ControllerError::Constrained { system, key });
        }
    }
    if system.inputs.input_dim() == 0 {
        return Err(ControllerError::NoInputs { system: name() });
    }
    Ok(())
}

/// # Flight
impl SystemController {
    /// The input for this state and reference, without regard to how fast inputs may change: [`step_after`](Self::step_after)
    /// with all the time in the world.
    ///
    /// # Errors
    /// As [`step_after`](Self::step_after).
    ///
    /// # Panics
    /// As [`step_after`](Self::step_after).
    pub fn step(
        &mut self,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, SystemError> {
        self.step_after(f64::INFINITY, x, xi, goal)
    }

    /// The input for this state and reference, `elapsed` seconds after the one before.
    ///
    /// The time matters only with an [`input_rate_limit`](ControllerSettings::input_rate_limit): each input stays within that
    /// rate times the time of the one before. The first input has none before it.
    ///
    /// Allocates nothing with `active_set` (but for the first step of state feedback, see [`rest_at`](Self::rest_at)). The same calls from the first
    /// on give the same bits. Where state or reference are not finite, neither is u0, and the input stays the last one if there are limits;
    /// that an input may be sent is for the caller to check. State feedback has no energies: they are zero.
    ///
    /// # Errors
    /// [`SystemError`] where there is no law; the last step then stays.
    ///
    /// # Panics
    /// If an argument has another size than the system.
    pub fn step_after(
        &mut self,
        elapsed: f64,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, SystemError> {
        let parts = [x, xi, goal.configuration, goal.velocity, goal.acceleration];
        if parts
            .iter()
            .any(|part| part.iter().any(|number| !number.is_finite()))
        {
            return Ok(self.not_finite(elapsed));
        }
        let energies = self.desire(x, xi, goal)?;
        let step = &mut self.step;
        let desired = step.unconstrained.as_slice();
        step.allocation = if let Some(limited) = &mut self.limited {
            let metric = match &mut self.projection {
                Some(projection) => projection.metric(&self.law),
                None => self.law.metric(),
            };
            limited.allocate_in(metric, desired, elapsed, step.input.as_mut_slice())?
        } else {
            step.input.copy_from_slice(desired);
            Allocation::FREE
        };
        step.energies = energies;
        Ok(step)
    }

    /// Writes u0, and H to the law.
    fn desire(
        &mut self,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<Energies, SystemError> {
        let (model, M) = (&self.model, &mut self.mass_matrix);
        self.actual.update(model, x, xi);
        self.actual.update_jacobians(model);
        self.inputs
            .input_matrix(&self.actual, &mut self.jacobian, &mut self.input_matrix);
        model.mass_matrix(&mut self.actual, x, M);
        match &mut self.strategy {
            Strategy::Template(template) => {
                let (actual, reference) = (&self.actual, &mut self.reference);
                template.evaluate(model, actual, xi, reference, goal, &mut self.desired)?;
            }
            Strategy::Euclidean(template) => {
                template.evaluate(model, &self.actual, M, (x, xi), goal, &mut self.desired);
            }
            Strategy::Feedback(feedback) => {
                // No template, so no desired inertia: of the inputs within the limits the one counts whose acceleration is nearest to the wanted
                // one in the metric of the kinetic energy (Gauss's principle), which is the same in all coordinates and units.
                self.law.weigh(M, &self.input_matrix, M)?;
                let u0 = &mut self.step.unconstrained;
                feedback.input(model, &self.inputs, (x, xi), goal, u0)?;
                return Ok(Energies::default());
            }
        }
        model.bias(&mut self.actual, x, xi, self.bias.as_mut_slice());
        let u0 = self
            .law
            .solve(M, &self.bias, &self.input_matrix, &self.desired)?;
        self.step.unconstrained.copy_from(u0);
        Ok(self.desired.energies)
    }

    fn not_finite(&mut self, elapsed: f64) -> &Step {
        let step = &mut self.step;
        step.unconstrained.fill(f64::NAN);
        step.energies = Energies::new(f64::NAN, f64::NAN, f64::NAN);
        let desired = step.unconstrained.as_slice();
        step.allocation = if let Some(limited) = &mut self.limited {
            limited.allocate(desired, elapsed, step.input.as_mut_slice())
        } else {
            step.input.copy_from_slice(desired);
            Allocation::FREE
        };
        step
    }
}

impl Projection {
    /// `H' = H + A^T diag(.., rho, rho, ..) A`.
    fn metric(&mut self, law: &SystemLaw) -> &DMatrix<f64> {
        let A = law.effects();
        self.metric.copy_from(law.metric());
        for turn in self.turns {
            for i in 0..A.ncols() {
                for j in 0..A.ncols() {
                    self.metric[(i, j)] += self.weight * A[(turn, i)] * A[(turn, j)];
                }
            }
        }
        &self.metric
    }
}

/// # The Lyapunov function
impl SystemController {
    /// When the total error energy W is a Lyapunov function of this closed loop. Allocates.
    pub fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        let (dof, rank) = (self.model.dof(), input_rank(&self.model, &self.inputs));
        match &mut self.strategy {
            Strategy::Template(template) => {
                LyapunovGuarantee::of_system(&self.model, template, rank)
            }
            Strategy::Euclidean(_) if rank < dof => LyapunovGuarantee::Underactuated { rank, dof },
            // A quadratic potential, and the identity as the map that suits it.
            Strategy::Euclidean(_) => LyapunovGuarantee::Always,
            Strategy::Feedback(_) => LyapunovGuarantee::NoEnergies,
        }
    }
}

/// # The last step
impl SystemController {
    /// H, p x p: the metric of the inputs in the last step, without a weight of the projection.
    pub fn metric(&self) -> &DMatrix<f64> {
        self.law.metric()
    }

    /// The result of the last step.
    pub fn last(&self) -> &Step {
        &self.step
    }

    /// Number of inputs p.
    pub fn input_dim(&self) -> usize {
        self.inputs.input_dim()
    }

    /// The system's bodies and joints.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// What it pursues.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// The desired motion; state feedback has none.
    pub fn desired(&self) -> &DesiredMotion {
        &self.desired
    }

    /// The law, with H.
    pub fn law(&self) -> &SystemLaw {
        &self.law
    }

    /// M of the model, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        &self.mass_matrix
    }

    /// b of the model, n numbers: Coriolis, damping and potential forces. State feedback does not ask for it.
    pub fn bias(&self) -> &DVector<f64> {
        &self.bias
    }

    /// B, n x p.
    pub fn input_matrix(&self) -> &DMatrix<f64> {
        &self.input_matrix
    }
}
