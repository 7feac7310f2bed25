#![doc = include_str!("../README.md")]
//!
//! # Groups
//!
//! | group | type | tangent vector | acts on |
//! |---|---|---|---|
//! | SO(2) | [`SO2`] | `[omega]` | plane |
//! | SE(2) | [`SE2`] | `[v_x, v_y, omega]` | plane |
//! | SO(3), matrix | [`SO3`] | `[omega]` | space |
//! | SO(3), quaternion | [`UnitQuaternion`] | `[omega]` | space |
//! | SE(3) | [`SE3`] | `[v; omega]` | space |
//! | SE_2(3), extended poses | [`SE23`] | `[omega; v; p]` | space and time |
//! | Schönflies X | [`Schoenflies`] | `[v_x, v_y, v_z, omega_z]` | space |
//! | R^n | [`Rn`] | `[v]` | R^n |
//! | helical H | [`Screw`] | `[omega_z]` | space |
//! | direct products | [`Product`] | [`Pair`] | [`Pair`] |
//!
//! All implement one trait, [`LieGroup`]; those that move rigid bodies are a [`Subgroup`], and all have a [`Coriolis`] matrix. In
//! addition: [`attitude`] parameterisations, the [`operators`], [`inner_product`]s, [`SpecialPolar`] decomposition, [`pseudo_inverse`],
//! the [`AttitudePotential`], [`Wahba`]'s problem, the [`PoseFit`] of points, and the other order of twists, [`angular_first`].
//!
//! # Conventions
//!
//! Every crate of the workspace follows these conventions, which are stated only here.
//!
//! | item | convention |
//! |---|---|
//! | **twist** | `xi = [v; omega]`, linear first, in components of the **body** frame: `G_dot = G hat6(xi)` |
//! | **wrench** | `[f; tau]`, force first, in the body frame, torque about the body frame's origin |
//! | **pose** | `G = [[R, r], [0, 1]]` of body b in frame a maps body coordinates to those of a: `p_a = R p_b + r` |
//! | **quaternion** | `w, x, y, z` in every text, file and signature; returned with `w >= 0` |
//! | **world frame** | z up; gravity `[0, 0, -9.81]` m/s² unless configured |
//! | **body frame** | x forward, y left, z up (FLU) |
//! | **units** | SI and radians |
//! | **Jacobians** | left: `d/dt exp(x) = hat(J_l x_dot) exp(x)`; right: `d/dt exp(x) = exp(x) hat(J_r x_dot)` |
//!
//! # Accuracy
//!
//! The exponential, the logarithm and the Jacobians are exact to rounding at every angle, including 0 and π: max-norm error at most `1e-15 max(1, |v|)`, for
//! the inverse Jacobians `3e-15 max(1, |v|)`, including the rounding of the arguments. `tests/exact.rs` verifies these bounds at two thousand rotations, in
//! twice the precision; beyond those, the largest errors found are 7e-16 for the exponential, 1.1e-15 for the logarithm (one in a million) and 4e-16 for the
//! Jacobians and their inverses. Their scalar functions are polynomials up to a half turn and closed forms in half angles beyond. Dual numbers and `f32` run
//! through the same code; the scalar is any [`nalgebra::RealField`].
//!
//! At exactly π both `±` rotation vectors are valid, and one of them is returned.
//!
//! # Non-finite numbers
//!
//! No number causes a panic. Checked functions return a typed error ([`NotInGroup`], [`Singularity`]); unchecked ones (exponentials, products,
//! Jacobians) return `NaN` in the entries affected by a non-finite number, or by an overflow of its square (beyond 1e154).
//!
//! # A pose along a twist
//!
//! A body flies along a twist; its pose, its pose error and its world twist take one line each.
//!
//! ```
//! use fly_lie::{SE3, SO3};
//! use nalgebra::{Vector3, Vector6};
//!
//! // Where is the body after 2 s with 1 m/s forward and 0.3 rad/s about its z axis?
//! let start = SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, 1.0));
//! let xi = Vector6::new(1.0, 0.0, 0.0, 0.0, 0.0, 0.3);
//! let end = start * SE3::exp(&(xi * 2.0));
//!
//! // The twist that leads from the start to the end in unit time is found again.
//! let error = (start.inverse() * end).log();
//! assert!((error - xi * 2.0).norm() < 1e-14);
//!
//! // The same twist, seen from the world.
//! let spatial = end.adjoint() * xi;
//! assert!((spatial - start.adjoint() * xi).norm() < 1e-14, "it is constant along its own motion");
//! ```
//!
//! # Features
//!
//! `std` (default); without it the crate is `no_std`, with the elementary functions of `libm`. `serde`: all groups;
//! deserialisation checks rotations, and normalises quaternions and [`SO2`]. Nothing allocates.
//!
//! # Sources
//!
//! M. Konz, *Energy-Based Modeling and Tracking Control of Rigid Body Systems* (2021): cited as Konz (4.52).
//! P. J. From, *An Explicit Formulation of Singularity-Free Dynamic Equations of Mechanical Systems in Lagrangian Form*,
//! parts one and two: cited as From I (29), From II (51).

#![cfg_attr(not(feature = "std"), no_std)]
// The sources' symbols are used as local names: R, W, J, M'.
#![allow(non_snake_case)]

pub mod angular_first;
pub mod attitude;
mod coefficients;
mod coordinates;
mod coriolis;
mod decomposition;
mod error;
mod group;
pub mod inner_product;
pub mod operators;
mod pairs;
mod pose_fit;
mod potential;
mod product;
mod quaternion;
mod rn;
mod schoenflies;
mod se2;
mod se23;
mod se3;
mod so2;
mod so3;
mod wahba;

pub use coordinates::{CoordinateVector, Operator};
pub use coriolis::{Coriolis, swap};
pub use decomposition::{
    SpecialPolar, SpecialSvd, kernel_projector, pseudo_inverse, range_projector, weighted_projector,
};
pub use error::{NotInGroup, Singularity};
pub use group::LieGroup;
pub use pairs::{Cylindrical, Pitch, Planar, Prismatic, Revolute, Screw, Spherical, Subgroup};
pub use pose_fit::{Chirality, PoseFit, PoseFitError};
pub use potential::{AttitudePotential, CriticalKind, CriticalSet};
pub use product::{Pair, Product};
pub use quaternion::UnitQuaternion;
pub use rn::Rn;
pub use schoenflies::Schoenflies;
pub use se2::SE2;
pub use se3::SE3;
pub use se23::SE23;
pub use so2::SO2;
pub use so3::SO3;
pub use wahba::Wahba;
