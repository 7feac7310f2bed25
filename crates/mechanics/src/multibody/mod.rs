//! Systems of rigid bodies: a tree of named bodies and joints, its kinematics, dynamics and energies.
//!
//! A [`Model`] is data, compiled once from [`Body`]s and immutable; a [`Workspace`] holds all scratch arrays, so that no function
//! that takes one allocates. A state is two plain slices: the configuration `x`, `nu` entries, and the velocity `xi`, `n` entries,
//! joint by joint in the order in which the bodies were added.
//!
//! ```text
//! x_dot = A(x) ξ          M(x) ξ̇ + c(x, ξ) + D(x) ξ + ∇V(x) = f
//! ```
//!
//! | symbol | item |
//! |---|---|
//! | x, ν; ξ, n | [`Model::config_dim`], [`Model::dof`]; [`Joint`] for their meaning |
//! | A(x) | [`Model::kinematic_matrix`], [`Model::configuration_rate`] |
//! | ᵃ_bG, ᵃ_bξ, ᵃ_bJ, d/dt ᵃ_bJ | [`Workspace::pose`], [`Workspace::twist`], [`Workspace::jacobian`], [`Workspace::jacobian_rate`] |
//! | M, c, D, ∇V | [`EquationOfMotion`]; [`Workspace::spring_force`], [`Workspace::gravity_force`], [`Workspace::add_wrench`] |
//! | ∂ξ̇, ∂f | [`Model::forward_dynamics_derivatives`], [`Model::inverse_dynamics_derivatives`] |
//! | ⁰_bJ of all bodies, d/dt ᵃ_bJ ξ | [`Workspace::body_jacobian`], [`Workspace::bias_acceleration`] |
//! | the same for points and tools, in world axes | [`Frame`], [`ReferenceFrame`] |
//! | T, V, R, S | [`Workspace::kinetic_energy`], [`potential_energy`](Workspace::potential_energy), [`dissipation`](Workspace::dissipation), [`acceleration_energy`](Workspace::acceleration_energy) |
//! | τ, M, ξ̇ along the tree | [`Model::inverse_dynamics`], [`Model::mass_matrix`], [`Model::forward_dynamics`], [`Model::bias`], [`Model::factorize_mass`] |
//! | the same with external wrenches | [`ExternalWrench`], [`Model::inverse_dynamics_with`], [`Model::forward_dynamics_with`] |
//! | Y p = τ | [`Model::regressor`], [`Model::inertial_parameters`] |
//! | ψ, η, Z, b, λ | [`constraints`]: loops, rolling, gears |
//! | p; momenta in the world | [`Workspace::generalized_momentum`]; [`momentum`](Workspace::momentum), [`center_of_mass`](Workspace::center_of_mass) |
//! | h_G, A_G | [`Workspace::centroidal_momentum`], [`Workspace::centroidal_momentum_matrix`] |
//! | x(t), ξ(t) | [`integrate`](crate::integrate) |
//!
//! Files; each builds on those above it:
//!
//! | file | content |
//! |---|---|
//! | `simd` | vectors and matrices of three rows in registers |
//! | `spatial` | spatial algebra: twists and wrenches, placements, inertias |
//! | `joint`, `tree`, `model` | joints, the joint tree of the recursive passes, the system with its names |
//! | `kinematics`, `frame`, `workspace`, `jacobian` | forward kinematics; poses, twists and Jacobians of any frame |
//! | `forces`, `projection` | springs, dampers, gravity, energies, momenta; the dense equation of motion |
//! | `dynamics` | `rnea`, `crba`, `aba`, their derivatives, `regressor` |
//! | [`constraints`] | loops, rolling, gears |
//! | `screw_chain` | chains from home poses and screws, [`ScrewChain`] |
//!
//! ```
//! use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
//! use fly_mechanics::PseudoInertia;
//! use fly_lie::{SE3, SO3};
//! use nalgebra::{Matrix3, Vector3};
//!
//! // A plane double pendulum: two rods of 1 m that turn about y, hanging down along -z.
//! let rod = PseudoInertia::from_center(0.3, Vector3::new(0.0, 0.0, -0.5), Matrix3::identity() * 0.025)?;
//! let at = |z| SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, z));
//! let model = Model::builder()
//!     .body(Body::new("upper", Joint::revolute(Vector3::y())?).inertia(rod))
//!     .body(Body::new("lower", Joint::revolute(Vector3::y())?).parent("upper").placed(at(-1.0)).inertia(rod))
//!     .build()?;
//! assert_eq!((model.config_dim(), model.dof()), (2, 2));
//!
//! // Stretched out to the side, the lower rod swinging: where is it, and how does it move?
//! let mut workspace = Workspace::new(&model);
//! let quarter = std::f64::consts::FRAC_PI_2;
//! workspace.update(&model, &[-quarter, 0.0], &[0.0, 2.0]);
//! let lower = model.body_id("lower")?;
//! assert!((workspace.pose(BodyId::WORLD, lower).translation - Vector3::x()).norm() < 1e-15);
//! assert_eq!(workspace.twist(BodyId::WORLD, lower)[4], 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod cast;
mod configuration;
pub mod constraints;
mod dynamics;
mod error;
mod fit;
mod forces;
mod frame;
mod group;
mod jacobian;
mod joint;
mod joint_spring;
mod kinematics;
mod model;
pub mod projection;
mod screw_chain;
mod simd;
mod spatial;
mod subspace;
mod tree;
mod workspace;

pub use body::{Body, Damper, Spring};
pub use dynamics::{
    ExternalWrench, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, MasslessJoint,
};
pub use error::{JointError, ModelError, UnknownBody};
pub(crate) use forces::Recursion;
pub use forces::{EquationOfMotion, MasslessMotion};
pub use frame::{Frame, ReferenceFrame};
pub(crate) use group::Map;
#[cfg(feature = "geometry")]
pub(crate) use joint::Rotation;
pub use joint::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind};
pub use joint_spring::JointSpring;
pub use model::{BodyId, Model, ModelBuilder};
pub use screw_chain::{BaseMotion, ChainForces, ScrewChain, ScrewChainError, ScrewLink};
pub use subspace::Subspace;
pub use workspace::Workspace;
