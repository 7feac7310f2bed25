//! Constraints in addition to the joints of the tree: closed loops, rolling bodies, blades, gears, user-defined equations.
//!
//! A [`ConstraintSet`] is data, compiled once from descriptions that refer to bodies by name; a [`ConstraintWorkspace`] holds all
//! scratch arrays.
//!
//! ```text
//! holonomic     ψ(x, t) = 0         ┐                         [M  -Zᵀ] [ξ_dot]   [f]
//! nonholonomic  η(x, ξ, t) = 0      ┘   Z(x) ξ_dot = b        [Z   0 ] [  λ  ] = [b]      Konz (3.80), (3.83)
//! ```
//!
//! `Zᵀ λ` is the force of the constraints *on* the system. Equations may be redundant, and their rank may change with the configuration: the
//! acceleration and `Zᵀ λ` are unique for any rank; [`ConstraintSetBuilder::rank_tolerance`] sets when equations of a slightly open loop count
//! as redundant. ((B.6) and (A.118) have the opposite sign of `λ`.) [`integrate::constrained`](crate::integrate::constrained) integrates the
//! motion.
//!
//! | symbol | item |
//! |---|---|
//! | ψ; ψ_dot, η | [`ConstraintWorkspace::residual`], [`ConstraintWorkspace::rate`] |
//! | Z, b | [`ConstraintWorkspace::jacobian`], [`ConstraintWorkspace::bias`] |
//! | ξ_dot, λ, Zᵀ λ | [`ConstraintWorkspace::acceleration`], [`multipliers`](ConstraintWorkspace::multipliers), [`force`](ConstraintWorkspace::force) |
//! | u for a desired ξ_dot | [`ConstrainedInverse`] |
//! | I - Z⁺ Z, Z⁺ b | [`ConstraintWorkspace::split`] |
//! | Λ₀, Λ₁, Λ | [`Stabilization`] |
//!
//! # Example
//!
//! A slider-crank driven by a weight of 2 kg on the slider: configuration and velocity from the angle of the crank, then the acceleration
//! and the force in the rod.
//!
//! ```
//! use fly_mechanics::multibody::constraints::{
//!     ConstraintSet, ConstraintWorkspace, LoopClosure, LoopKind, EvaluatedState, Stabilization,
//! };
//! use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
//! use fly_mechanics::{PseudoInertia, SecondMoment};
//! use nalgebra::{DMatrix, DVector, Vector3};
//!
//! let wheel = PseudoInertia::new(SecondMoment::solid_sphere(1.0, 0.1))?;
//! let weight = PseudoInertia::new(SecondMoment::solid_sphere(2.0, 0.05))?;
//! let model = Model::<f64>::builder()
//!     .body(Body::new("crank", Joint::<f64>::revolute(Vector3::y())?).inertia(wheel))
//!     .body(Body::new("slider", Joint::prismatic(Vector3::z())?).inertia(weight))
//!     .build()?;
//! let rod = LoopClosure::new("rod", "crank", "slider", LoopKind::Distance { length: 0.5 })
//!     .between(Vector3::new(0.1, 0.0, 0.0), Vector3::zeros());
//! let constraints = ConstraintSet::builder()
//!     .with(rod)
//!     .stabilized(Stabilization::critically_damped(20.0))
//!     .build(&model)?;
//! let (mut workspace, mut constrained) = (Workspace::new(&model), ConstraintWorkspace::new(&constraints));
//!
//! // The pin is at the side, the slider some 0.5 m above.
//! let (mut x, mut xi) = ([0.0_f64, 0.5], [3.0, 0.0]);
//! let M = DMatrix::from_diagonal(&DVector::from_vec(vec![0.4 * 0.01, 2.0]));
//! constrained.project_configuration(&constraints, &model, &mut workspace, &mut x, 0.0)?;
//! constrained.project_velocity(&constraints, &model, &mut workspace, &M, &x, &mut xi, 0.0)?;
//!
//! let motion = EvaluatedState::new(&model, &mut workspace, &x, &xi, 0.0);
//! constrained.update(&constraints, &motion);
//! assert!(constrained.residual()[0].abs() < 1e-12 && constrained.rate()[0].abs() < 1e-12);
//! constrained.solve(&constraints, &M, &DVector::from_vec(vec![0.0, -2.0 * 9.81]))?;
//! // The rod pushes: it carries most of the weight, which is slowed by it.
//! let push = constrained.multipliers()[0];
//! let slider = model.body_id("slider")?;
//! let id = constraints.id("rod").expect("a constraint of this name");
//! let reaction = constrained.reaction(&constraints, id, &motion, slider);
//! assert!(push > 0.0 && reaction[2] > 0.0);
//! let fall = constrained.acceleration()[1];
//! assert!((2.0 * fall - (reaction[2] - 2.0 * 9.81)).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod closure;
mod constraint;
mod contact;
mod contact_force;
mod coupling;
mod error;
mod inverse;
mod pair;
mod projection;
mod rolling;
mod set;
mod stabilization;
mod surface;
mod velocity;
mod workspace;

pub use closure::{LoopClosure, LoopKind};
pub use constraint::{
    Constraint, ConstraintDescription, ConstraintKind, Custom, EvaluatedState, Rows,
};
pub use contact::PlaneContact;
pub use contact_force::{ContactCondition, ContactForce};
pub use coupling::Coupling;
pub use error::{ConstraintError, ConstraintSetError};
pub use inverse::ConstrainedInverse;
pub use rolling::{Rolling, RollingKind, RollingSurface};
pub use set::{ConstraintId, ConstraintSet, ConstraintSetBuilder};
pub use stabilization::Stabilization;
pub use surface::{Disc, Ellipsoid, Surface, SurfaceError};
pub use velocity::PrescribedVelocity;
pub use workspace::ConstraintWorkspace;
