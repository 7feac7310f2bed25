//! One control step of a whole system.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{DMatrix, DVector};

use super::{DesiredMotion, SystemLaw, SystemReference, SystemTemplate, TransportError};
use crate::allocation::{Allocation, Allocator, Limits};
use crate::law::LawError;

/// The tracking controller of a system with p inputs: template, law and allocation in every step, as all matrices change with the configuration,
/// Konz (5.84)-(5.86).
///
/// ```
/// use fly_control::allocation::{ActiveSet, Limits};
/// use fly_control::system::{JointMap, SystemController, SystemPair, SystemReference, SystemTemplate};
/// use fly_control::template::{Approach, Pair};
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
/// use nalgebra::{DMatrix, DVector, Matrix3, Matrix4, Vector3, Vector4};
///
/// // A pendulum that a weak motor should hold out to the side.
/// let bob = PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 1e-3)?;
/// let model = Model::builder().body(Body::new("arm", Joint::revolute(Vector3::y())?).inertia(bob)).build()?;
/// let about_y = |p: f64| Matrix4::from_diagonal(&Vector4::new(p / 2.0, -p / 2.0, p / 2.0, 0.0));
/// let pair = SystemPair { a: BodyId::WORLD, b: model.body_id("arm")?, energies: Pair::new(about_y(9.0), about_y(6.0), about_y(1.0)) };
/// let template = SystemTemplate::new(&model, Approach::Energy, vec![pair], Box::new(JointMap));
///
/// let limits = Limits::between(DMatrix::identity(1, 1), &DVector::from_element(1, -5.0), &DVector::from_element(1, 5.0), DVector::zeros(1))?;
/// let allocator = Box::new(ActiveSet::new(&limits, &DMatrix::identity(1, 1))?);
/// let mut controller = SystemController::new(model, template, 1).with_limits(limits, allocator);
///
/// let goal = SystemReference { configuration: &[1.0], velocity: &[0.0], acceleration: &[0.0] };
/// let u = controller.step(&[0.2], &[0.0], &DMatrix::identity(1, 1), &goal)?;
/// // The law asks for about 8 N m: for the weight's 2 and to speed up; the motor gives what it has.
/// assert_eq!(u[0], 5.0);
/// assert_eq!(controller.allocation().active, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SystemController {
    model: Model<f64>,
    template: SystemTemplate,
    law: SystemLaw,
    limited: Option<(Limits, Box<dyn Allocator>)>,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    mass_matrix: DMatrix<f64>,
    bias: DVector<f64>,
    desired: DesiredMotion,
    unconstrained: DVector<f64>,
    input: DVector<f64>,
    allocation: Allocation,
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
    Allocation(#[from] crate::allocation::AllocationError),
}

/// # Construction
impl SystemController {
    /// For p inputs without limits.
    pub fn new(model: Model<f64>, template: SystemTemplate, inputs: usize) -> Self {
        let n = model.dof();
        Self {
            template,
            law: SystemLaw::new(n, inputs),
            limited: None,
            actual: Workspace::new(&model),
            reference: Workspace::new(&model),
            mass_matrix: DMatrix::zeros(n, n),
            bias: DVector::zeros(n),
            desired: DesiredMotion::new(&model),
            unconstrained: DVector::zeros(inputs),
            input: DVector::zeros(inputs),
            allocation: Allocation::FREE,
            model,
        }
    }

    /// The same with inputs inside these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits, allocator: Box<dyn Allocator>) -> Self {
        self.limited = Some((limits, allocator));
        self
    }
}

/// # Control
impl SystemController {
    /// u, p numbers, for this state, input matrix B (n x p) and reference. No allocation with `ActiveSet`.
    ///
    /// # Errors
    /// [`SystemError`]; the input then is undefined.
    ///
    /// # Panics
    /// If an argument has another size than the system.
    pub fn step(
        &mut self,
        x: &[f64],
        xi: &[f64],
        B: &DMatrix<f64>,
        goal: &SystemReference<'_>,
    ) -> Result<&DVector<f64>, SystemError> {
        let model = &self.model;
        self.actual.update(model, x, xi);
        self.actual.update_jacobians(model);
        self.template.evaluate(
            model,
            &self.actual,
            xi,
            &mut self.reference,
            goal,
            &mut self.desired,
        )?;
        model.mass_matrix(&mut self.actual, x, &mut self.mass_matrix);
        model.bias(&mut self.actual, x, xi, self.bias.as_mut_slice());
        let u = self
            .law
            .solve(&self.mass_matrix, &self.bias, B, &self.desired)?;
        self.unconstrained.copy_from(u);
        match &mut self.limited {
            Some((limits, allocator)) if !limits.contain(self.unconstrained.as_slice()) => {
                allocator.set_metric(self.law.metric())?;
                self.allocation =
                    allocator.solve(self.unconstrained.as_slice(), self.input.as_mut_slice());
            }
            _ => {
                self.input.copy_from(&self.unconstrained);
                self.allocation = Allocation::FREE;
            }
        }
        Ok(&self.input)
    }
}

/// # The last step
impl SystemController {
    /// The system.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// u, inside the limits.
    pub fn input(&self) -> &DVector<f64> {
        &self.input
    }

    /// u0, what the law asks for without limits.
    pub fn unconstrained(&self) -> &DVector<f64> {
        &self.unconstrained
    }

    /// What the allocation did.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// The desired motion, with its energies.
    pub fn desired(&self) -> &DesiredMotion {
        &self.desired
    }

    /// M of the model, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        &self.mass_matrix
    }

    /// b of the model, n numbers: Coriolis, damping and potential forces.
    pub fn bias(&self) -> &DVector<f64> {
        &self.bias
    }
}
