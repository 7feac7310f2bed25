//! One control step.
#![allow(non_snake_case)]

use fly_mechanics::{FreeBody, State, Vehicle};
use nalgebra::{DMatrix, DVector, Vector6};

use crate::Energies;
#[cfg(feature = "osqp")]
use crate::allocation::Osqp;
use crate::allocation::{ActiveSet, Allocation, AllocationError, Allocator, Limited, Limits};
use crate::analysis::LyapunovGuarantee;
use crate::inputs::rank;
use crate::law::{InputMatrix, Law, LawError, projection_metric};
use crate::matching::{Matching, MatchingForce};
use crate::settings::{AllocationMethod, ControllerSettings, SettingsError};
use crate::template::{Desired, Motion, Template, TemplateForces};
use crate::trajectory::ReferencePoint;

/// The tracking controller of a vehicle of one body: template, law and allocation, Konz (5.85), (5.86).
///
/// What is constant (the mass matrices, the input matrix and all that follows from them) is factorised once. A step then is
/// the template's forces, two 6x6 products, one p x 6 product, and the allocation where the limits are met.
pub struct Controller {
    body: FreeBody<f64>,
    template: Template,
    law: Law,
    inputs: InputMatrix,
    metric: DMatrix<f64>,
    limited: Option<Limited>,
    step: Step,
}

/// The result of one control step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// u, p numbers, inside the limits: what to send.
    pub input: DVector<f64>,
    /// u0, p numbers: what the law (5.86b) asks for without limits.
    pub unconstrained: DVector<f64>,
    /// The desired energies.
    pub energies: Energies,
    /// What the allocation did.
    pub allocation: Allocation,
}

impl Step {
    /// How many limits are active.
    pub fn active(&self) -> usize {
        self.allocation.active
    }

    /// Whether the input had to be limited.
    pub fn saturated(&self) -> bool {
        self.allocation.active > 0
    }
}

/// Why a controller could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// A setting cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is no law for this vehicle.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The limits cannot be used.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// Nothing drives the system.
    #[error("nothing drives `{system}`: a controller needs rotors or motors in its description")]
    NoInputs {
        /// The system's name.
        system: String,
    },
    /// Loops are closed or joints coupled.
    #[error(
        "a controller's model is a tree of bodies, but `{system}` has {key}: leave them out of the model and describe them in the plant that is \
         simulated"
    )]
    Constrained {
        /// The system's name.
        system: String,
        /// `loops` or `couplings`.
        key: &'static str,
    },
}

/// # Construction
impl Controller {
    /// For a vehicle as its description gives it.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn new(vehicle: &Vehicle, settings: &ControllerSettings) -> Result<Self, ControllerError> {
        let rotors = &vehicle.rotors;
        let polytope = rotors.limits();
        let interior = DVector::from_column_slice(rotors.interior());
        let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
        Self::for_body(
            &vehicle.body,
            &vehicle.body_name,
            rotors.input_matrix(),
            Some(limits),
            settings,
        )
    }

    /// For any free body with this name, input matrix B (6 x p) and limits.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn for_body(
        body: &FreeBody<f64>,
        name: &str,
        inputs: &InputMatrix,
        limits: Option<Limits>,
        settings: &ControllerSettings,
    ) -> Result<Self, ControllerError> {
        let (approach, transport) = settings.of_free_body()?;
        let pair = settings.pair(name, body, inputs)?;
        let template = Template::new(approach, transport, pair);
        let (M, M_bar) = (body.mass_matrix(), template.mass_matrix());
        let law = Law::new(M, M_bar, inputs)?;
        let metric = projection_metric(M, M_bar, inputs, settings.projection_weight)?;
        let limited = match limits {
            Some(limits) if settings.allocation != AllocationMethod::None => Some(Limited::new(
                &limits,
                settings.rates(inputs.ncols())?,
                |limits| allocator(settings.allocation, limits, &metric),
            )?),
            _ => None,
        };
        let zero = DVector::zeros(inputs.ncols());
        Ok(Self {
            body: *body,
            template,
            law,
            inputs: inputs.clone(),
            metric,
            limited,
            step: Step {
                input: zero.clone(),
                unconstrained: zero,
                energies: Energies::default(),
                allocation: Allocation::FREE,
            },
        })
    }
}

/// # Flight
impl Controller {
    /// The input for this state and reference, without regard to how fast inputs may change: [`step_after`](Self::step_after)
    /// with all the time in the world.
    pub fn step(&mut self, state: &State<f64>, reference: &ReferencePoint) -> &Step {
        self.step_after(f64::INFINITY, state, reference)
    }

    /// The input for this state and reference, `elapsed` seconds after the one before.
    ///
    /// The time matters only with an [`input_rate_limit`](ControllerSettings::input_rate_limit): each input stays within that
    /// rate times the time of the one before. The first input has none before it.
    ///
    /// Allocates nothing with `active_set`; see `Osqp` for what that does. The same calls from the first on
    /// give the same bits. Where state or reference are not finite, so is u0, and the input stays the last one if there
    /// are limits; that an input may be sent is for the caller to check.
    pub fn step_after(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> &Step {
        let forces = self.forces(state, reference);
        let b = self.body.bias(state);
        let step = &mut self.step;
        step.energies = forces.energies;
        self.law
            .unconstrained(&b, &forces.bias(), &mut step.unconstrained);
        let desired = step.unconstrained.as_slice();
        step.allocation = if let Some(limited) = &mut self.limited {
            limited.allocate(desired, elapsed, step.input.as_mut_slice())
        } else {
            step.input.copy_from_slice(desired);
            Allocation::FREE
        };
        step
    }

    /// The result of the last step.
    pub fn last(&self) -> &Step {
        &self.step
    }

    /// Number of inputs p.
    pub fn input_dim(&self) -> usize {
        self.inputs.ncols()
    }
}

/// # Diagnosis
impl Controller {
    /// The desired closed loop.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// When the total error energy W is a Lyapunov function of this closed loop. Allocates.
    pub fn lyapunov_guarantee(&self) -> LyapunovGuarantee {
        let B = DMatrix::from_fn(6, self.input_dim(), |i, j| self.inputs[(i, j)]);
        LyapunovGuarantee::of_body(self.template.approach(), rank(&B))
    }

    /// The law.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// The metric in which limited inputs are nearest to what the law asks for, with rho in it: p x p.
    ///
    /// See [`projection_metric`].
    pub fn projection_metric(&self) -> &DMatrix<f64> {
        &self.metric
    }

    /// The template's forces at this state and reference.
    pub fn forces(&self, state: &State<f64>, reference: &ReferencePoint) -> TemplateForces {
        let (motion, desired) = pair_motion(state, reference);
        self.template.evaluate(&motion, &desired)
    }

    /// What the inputs cannot give of the desired closed loop, limits aside, Konz (5.78). Allocates.
    ///
    /// # Errors
    /// [`LawError`] if the desired mass matrix is singular.
    pub fn matching_force(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> Result<MatchingForce, LawError> {
        let matching = Matching::new(
            self.body.mass_matrix(),
            self.template.mass_matrix(),
            &self.inputs,
        )?;
        Ok(matching.force(
            &self.body.bias(state),
            &self.forces(state, reference).bias(),
        ))
    }
}

/// The pair (world, body) of a free body whose velocity is its twist: J = I.
pub fn pair_motion(state: &State<f64>, reference: &ReferencePoint) -> (Motion, Desired) {
    (
        Motion {
            pose: state.pose,
            twist: state.twist,
            drift: Vector6::zeros(),
        },
        Desired {
            pose: reference.pose,
            twist: reference.twist,
            acceleration: reference.acceleration,
        },
    )
}

/// The solver of this name.
pub(crate) fn allocator(
    method: AllocationMethod,
    limits: &Limits,
    metric: &DMatrix<f64>,
) -> Result<Box<dyn Allocator>, ControllerError> {
    match method {
        #[cfg(feature = "osqp")]
        AllocationMethod::Osqp => Ok(Box::new(Osqp::new(limits, metric)?)),
        #[cfg(not(feature = "osqp"))]
        AllocationMethod::Osqp => {
            let message =
                "expected active_set or none, found osqp, which this build does not contain";
            Err(SettingsError::new("allocation", message).into())
        }
        AllocationMethod::ActiveSet | AllocationMethod::None => {
            Ok(Box::new(ActiveSet::new(limits, metric)?))
        }
    }
}
