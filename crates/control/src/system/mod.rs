//! Control of whole systems: any number of pairs of bodies, any transport map, any number of inputs.
//!
//! What [`template`](crate::template) says of one pair becomes, for a [`Model`](fly_mechanics::multibody::Model) with n degrees of freedom,
//! a sum over the pairs that carry desired energies: each contributes through its body Jacobian J (6 x n),
//!
//! ```text
//! Mbar = Σ Jᵀ Vee(M') J      f_K = Σ Jᵀ vee2((I - E) K')      particle, body: Σ Jᵀ (cbar + f_D) of the pair
//! energy: f_D = Dbar ξ_E,  cbar = Σ Jᵀ (Vee(M') J̇ + C(M', z) J) ξ_E - Mbar (Q ξ̇_R + Q̇ ξ_R),  ξ_E = ξ - Q ξ_R
//! ```
//!
//! - [`SystemTemplate`] forms the desired closed loop `Mbar xi_dot + bbar = 0` ([`DesiredMotion`]), with energies;
//! - a [`TransportMap`] Q carries the reference's velocity to where the system is: [`JointMap`], [`PairMap`], [`PointMap`] or one's own;
//! - [`mod@reference`] has references: sinusoids of joints, flat outputs, inverse kinematics;
//! - [`EuclideanTemplate`] has the textbook controllers of arms (joint PD, computed torque) for comparison;
//! - [`design`](crate::design) finds parameters and gains from poles;
//! - [`SystemController`] is the whole step, with limits;
//! - [`SystemLaw`] finds the input that comes nearest to it, and what is left over.
//!
//! ```
//! use fly_control::system::{DesiredMotion, JointMap, SystemLaw, SystemPair, SystemReference, SystemTemplate};
//! use fly_control::template::{Approach, Pair};
//! use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
//! use nalgebra::{DMatrix, DVector, Matrix4, Vector3};
//!
//! // A slider of 2 kg that should move like a mass of 1 kg on a spring of 4 N/m with a damper of 4 N s/m, Konz (5.90).
//! let inertia = fly_mechanics::PseudoInertia::from_center(2.0, Vector3::zeros(), nalgebra::Matrix3::identity())?;
//! let slider = Body::new("slider", Joint::prismatic(Vector3::x())?).inertia(inertia);
//! let model = Model::builder().body(slider).build()?;
//! let weight = |w: f64| Matrix4::from_diagonal(&nalgebra::Vector4::new(0.0, 0.0, 0.0, w));
//! let pair = SystemPair { a: BodyId::WORLD, b: model.body_id("slider")?, energies: Pair::new(weight(4.0), weight(4.0), weight(1.0)) };
//! let mut template = SystemTemplate::new(&model, Approach::Energy, vec![pair], Box::new(JointMap));
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
//! let mut law = SystemLaw::new(1, 1);
//! let u = law.solve(&M, &b, &B, &desired)?;
//! assert!((u[0] + 12.0).abs() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod controller;
mod euclidean;
mod feedback;
mod jacobian;
mod law;
mod linearisation;
mod matching;
pub mod reference;
mod rest;
mod settings;
mod strategy;
mod template;
mod transport;
mod trial;

pub use controller::{SystemController, SystemError};
pub use euclidean::{DesiredInertia, EuclideanTemplate, NotEuclidean};
pub use feedback::RestFeedback;
pub use law::SystemLaw;
pub use linearisation::Linearisation;
pub use matching::{SystemMatching, matching_force};
pub use strategy::Strategy;
pub use template::{DesiredMotion, SystemPair, SystemReference, SystemTemplate};
pub use transport::{
    JointMap, Map, PairMap, PairMapKind, PointMap, TransportError, TransportMap, Transported,
};
