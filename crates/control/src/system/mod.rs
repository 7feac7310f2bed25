//! Multibody systems: pairs of bodies, references of joints and tools, parameters from poles.
//!
//! - [`SystemPair`]s hold the desired energies that a [`Template`](crate::template::Template) sums;
//! - [`trajectory`](crate::trajectory) has references: sinusoids of joints, flat outputs, inverse kinematics;
//! - [`design`](crate::design) computes parameters and gains from poles.
//!
//! [`Controller`](crate::Controller) combines all steps, with limits. Step by step:
//!
//! ```
//! use fly_control::law::Law;
//! use fly_control::system::{SystemPair, SystemReference};
//! use fly_control::template::{Approach, DesiredMotion, Pair, Template};
//! use fly_control::transport::JointMap;
//! use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
//! use nalgebra::{DMatrix, DVector, Matrix4, Vector3};
//!
//! // A slider of 2 kg that should move like a mass of 1 kg on a spring of 4 N/m with a damper of 4 N s/m, Konz (5.90).
//! let inertia = fly_mechanics::PseudoInertia::from_center(2.0, Vector3::zeros(), nalgebra::Matrix3::identity())?;
//! let slider = Body::new("slider", Joint::prismatic(Vector3::x())?).inertia(inertia);
//! let model = Model::builder().body(slider).build()?;
//! let weight = |w: f64| Matrix4::from_diagonal(&nalgebra::Vector4::new(0.0, 0.0, 0.0, w));
//! let pair = SystemPair { a: BodyId::WORLD, b: model.body_id("slider")?, energies: Pair::new(weight(4.0), weight(4.0), weight(1.0)) };
//! let mut template = Template::of_system(&model, Approach::Energy, vec![pair], Box::new(JointMap));
//!
//! // 0.5 m beside a goal at rest, moving away from it at 1 m/s.
//! let (mut actual, mut reference) = (Workspace::new(&model), Workspace::new(&model));
//! actual.update(&model, &[0.5], &[1.0]);
//! actual.update_jacobians(&model);
//! let mut desired = DesiredMotion::new(&model);
//! let goal = SystemReference { configuration: &[0.0], velocity: &[0.0], acceleration: &[0.0] };
//! template.evaluate(&model, &actual, &[1.0], &mut reference, &goal, &mut desired)?;
//! assert_eq!(desired.energies.total, 0.5 * 4.0 * 0.25 + 0.5);
//!
//! // The force that makes it so: u = 2 kg * xi_dot with xi_dot = -(4 * 0.5 + 4 * 1).
//! let (M, b, B) = (DMatrix::from_element(1, 1, 2.0), DVector::zeros(1), DMatrix::identity(1, 1));
//! let mut law = Law::constant(&M, &desired.mass_matrix, &B)?;
//! let mut u = DVector::zeros(1);
//! law.unconstrained(&b, &desired.bias, &mut u);
//! assert!((u[0] + 12.0).abs() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use fly_mechanics::multibody::{BodyId, Joint, JointKind, Model};
use nalgebra::Vector3;

use crate::pair::Pair;

/// Two bodies, or the world and a body, with the desired energies between them. Each pair counts once: (a, b) and (b, a) have the same
/// stiffness energy, so that a sum over both would double it.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPair {
    /// The body, or the world, relative to which b is controlled.
    pub a: BodyId,
    /// The body in whose frame the energies are given.
    pub b: BodyId,
    /// K', D', M'.
    pub energies: Pair,
}

/// The reference of a system of bodies at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemPoint {
    /// `x_R`, nu entries.
    pub configuration: Vec<f64>,
    /// `xi_R`, n entries.
    pub velocity: Vec<f64>,
    /// The rate of `xi_R`, n entries.
    pub acceleration: Vec<f64>,
}

impl SystemPoint {
    /// At rest in the model's neutral configuration.
    pub fn new(model: &Model<f64>) -> Self {
        Self {
            configuration: model.neutral_configuration(),
            velocity: vec![0.0; model.dof()],
            acceleration: vec![0.0; model.dof()],
        }
    }

    /// The same as slices, the form that templates take.
    pub fn as_reference(&self) -> SystemReference<'_> {
        SystemReference {
            configuration: &self.configuration,
            velocity: &self.velocity,
            acceleration: &self.acceleration,
        }
    }
}

/// The reference of a system at one instant: configuration, velocity and acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemReference<'a> {
    /// `x_R`, nu entries.
    pub configuration: &'a [f64],
    /// `xi_R`, n entries.
    pub velocity: &'a [f64],
    /// `xi_R_dot`, n entries.
    pub acceleration: &'a [f64],
}

/// The axis of a joint with one rotational degree of freedom, in the frame of the body that it carries.
pub(crate) fn joint_axis(joint: &Joint<f64>) -> Option<Vector3<f64>> {
    match joint.kind() {
        JointKind::Revolute(_)
        | JointKind::Screw { .. }
        | JointKind::Cylindrical(_)
        | JointKind::Planar(_)
        | JointKind::Schoenflies(_) => Some(joint.axes().matrix().column(2).into_owned()),
        _ => None,
    }
}
