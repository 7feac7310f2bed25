//! The tracking controller: one control step.

mod advance;
mod bounds;
mod build;
mod metric;
mod observation;
mod step;
mod system;
mod vehicle;

use nalgebra::{DMatrix, DVector, DefaultAllocator, Dyn, OVector};

use crate::allocation::{Allocator, Limited, Limits};
use crate::disturbance::{DisturbanceObserver, Failure, FailureDetector};
use crate::law::Law;
use crate::lead::{Ahead, Lead};
use crate::plant::{FreeBodyPlant, Plant};
use crate::sizes::Sizes;
use crate::spin::SpinLaw;
use crate::template::DesiredMotion;
pub use bounds::InputBoundsError;
use metric::{TiltPriority, metric};
pub use step::Step;

/// The tracking controller of a vehicle or a system: desired motion, law and allocation, Konz (5.84)-(5.86).
///
/// For a vehicle (the default, [`FreeBodyPlant`]) all matrices are constant and factorised once: a step evaluates the template, two small products,
/// and the allocation if limits are violated. For a [system](crate::plant::SystemPlant) they are updated in every step.
///
/// `ControllerSettings::build` builds one from a configuration. In code:
///
/// ```
/// use fly_control::allocation::{ActiveSet, Limits};
/// use fly_control::plant::SystemPlant;
/// use fly_control::system::{SystemPair, SystemReference};
/// use fly_control::template::{Approach, Pair, Template};
/// use fly_control::transport::JointMap;
/// use fly_control::Controller;
/// use fly_mechanics::System;
/// use fly_mechanics::multibody::BodyId;
/// use nalgebra::{DVector, Matrix4, Vector4};
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
/// // Stiffness 9 N m, damping 6 N m s and inertia 1 kg m^2 about the joint.
/// let about_y = |moment: f64| Matrix4::from_diagonal(&Vector4::new(moment / 2.0, 0.0, moment / 2.0, 0.0));
/// let arm = system.model.body_id("arm")?;
/// let pair = SystemPair { a: BodyId::WORLD, b: arm, energies: Pair::new(about_y(9.0), about_y(6.0), about_y(1.0)) };
/// let template = Template::of_system(&system.model, Approach::Energy, vec![pair], Box::new(JointMap));
/// let (polytope, interior) = (system.inputs.limits(), DVector::from_column_slice(system.inputs.interior()));
/// let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
/// let mut controller = Controller::new(SystemPlant::new(&system)?, template)?
///     .limited(&limits, None, |limits, metric| Ok(Box::new(ActiveSet::new(limits, metric)?)))?;
///
/// let goal = SystemReference { configuration: &[1.0], velocity: &[0.0], acceleration: &[0.0] };
/// let step = controller.step_after(0.0, &[0.2], &[0.0], &goal)?;
/// // The law asks for about 8 N m: for the weight's 2 and to speed up; the motor gives what it has.
/// assert_eq!((step.input[0], step.active()), (5.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(clippy::struct_excessive_bools)] // independent conditions
pub struct Controller<P: Plant = FreeBodyPlant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: P,
    strategy: P::Strategy,
    law: Law<f64, P::Dof, Dyn>,
    desired: DesiredMotion<f64, P::Dof>,
    tilt_priority: Option<TiltPriority>,
    /// The metric of the limits, if it differs from the law's.
    metric: DMatrix<f64>,
    /// Its inverse factor, if there are redundant inputs, and scratch to compute it.
    factor: [DMatrix<f64>; 2],
    limited: Option<Limited<Box<dyn Allocator>>>,
    observer: Option<DisturbanceObserver<P::Dof>>,
    /// b - r.
    compensated: OVector<f64, P::Dof>,
    /// That of u0.
    acceleration: OVector<f64, P::Dof>,
    ahead: Option<Box<Ahead<P>>>,
    /// The delay made up for, s.
    delay: f64,
    failures: Option<FailureDetector<P::Dof>>,
    /// The failure detected since the last query.
    failed: Option<Failure>,
    /// Whether the attitude is controlled elsewhere, see [`with_inner_loop`](Self::with_inner_loop).
    has_inner_loop: bool,
    /// Whether the applied inputs are reported.
    is_told: bool,
    /// Whether the next step's state is predicted rather than measured, and the time since the last measurement, s.
    is_predicted: bool,
    unobserved: f64,
    /// Storage for a force, n entries.
    force: OVector<f64, P::Dof>,
    /// Storage for inputs, p entries.
    previous: DVector<f64>,
    /// The limits without and with changed bounds of inputs, see [`set_input_bounds`](Self::set_input_bounds).
    limits: Option<(Limits, Option<Vec<f64>>)>,
    bounded: Option<Limited<Box<dyn Allocator>>>,
    /// u_ref while no input is fixed.
    preferred: DVector<f64>,
    /// The values of fixed inputs.
    fixed: Vec<Option<f64>>,
    /// Whether redundant inputs prefer their previous values.
    prefers_previous: bool,
    /// The law of a vehicle that hovers while spinning, see [`set_spin`](Controller::set_spin).
    spin: Option<Box<SpinLaw>>,
    step: Step,
    /// Whether there was one.
    has_stepped: bool,
}

/// # The last step
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// The result of the last step.
    pub fn last(&self) -> &Step {
        &self.step
    }

    /// The number of inputs, p.
    pub fn input_dim(&self) -> usize {
        self.plant.input_dim()
    }

    /// The configured lead compensation; `None` without one.
    pub fn lead(&self) -> Option<&Lead> {
        let configured = self.ahead.as_ref().map(|ahead| ahead.lead());
        configured.filter(|lead| lead.fraction() > 0.0)
    }

    /// The delay between measurement and effect of the command that state and reference are predicted over, s.
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// The control strategy; for a vehicle the template.
    pub fn strategy(&self) -> &P::Strategy {
        &self.strategy
    }

    /// The plant model.
    pub fn plant(&self) -> &P {
        &self.plant
    }

    /// The law, with H.
    pub fn law(&self) -> &Law<f64, P::Dof, Dyn> {
        &self.law
    }

    /// H, p x p: the metric of the inputs in the last step, without the tilt priority; `H_N` if there are [redundant inputs](Law).
    pub fn metric(&self) -> &DMatrix<f64> {
        self.law.metric()
    }

    /// Writes the gradient of the rate of the total error energy W with respect to the inputs, p entries, W per unit of
    /// the input:
    ///
    /// ```text
    /// d(dW/dt)/du = (M^-1 B)^T dTbar/dxi
    /// ```
    /// A change d of the input changes dW/dt by `d(dW/dt)/du . d`. Zero for state feedback, which has no energies. Does not allocate.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn energy_gradient(&self, gradient: &mut [f64]) {
        let effect = self.law.control_effectiveness();
        assert_eq!(gradient.len(), effect.ncols(), "number of inputs");
        for (entry, column) in gradient.iter_mut().zip(effect.column_iter()) {
            *entry = column.dot(&self.desired.momentum);
        }
    }

    /// The metric of the allocation, with the tilt priority: p x p.
    ///
    /// See [`Law::metric_with_priority`].
    pub fn allocation_metric(&mut self) -> &DMatrix<f64> {
        metric(&self.law, self.tilt_priority, &mut self.metric)
    }
}
