//! Lie groups of rigid-body motion: SO(3), SE(3) and their operators.
//!
//! # Conventions
//!
//! Every crate of the workspace follows these; they are stated here once.
//!
//! | what | convention |
//! |---|---|
//! | **twist** | `xi = [v; omega]`, linear first, in components of the **body** frame: `G_dot = G wed6(xi)` |
//! | **wrench** | `[f; tau]`, force first, in the body frame, torque about the body frame's origin |
//! | **pose** | `G = [[R, r], [0, 1]]` of body b in frame a maps body coordinates to those of a: `p_a = R p_b + r` |
//! | **quaternion** | `w, x, y, z` in every text, file and signature; `w >= 0` where one is returned |
//! | **world frame** | z up; gravity `[0, 0, -9.81]` m/s² unless configured |
//! | **body frame** | x forward, y left, z up (FLU) |
//! | **units** | SI and radians |
//! | **Jacobians** | left: `d/dt exp(x) = hat(J_l x_dot) exp(x)`; right: `d/dt exp(x) = exp(x) hat(J_r x_dot)` |
//!
//! # Accuracy
//!
//! The exponential, the logarithm and the Jacobians are exact to rounding at every angle, 0 and π included: the scalar
//! functions in them are written in `θ²`, by series at small angles. Dual numbers and `f32` run through the same code;
//! the scalar is any [`nalgebra::RealField`].
//!
//! # Example
//!
//! A body flies along a twist; its pose, its pose error and its twist in the world are one line each.
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
//! `std` (default); without it the crate is `no_std` and needs `libm` for the trigonometric functions:
//! `--no-default-features --features libm`.
//!
//! # Sources
//!
//! J. Konz, *Energy-Based Modeling and Tracking Control of Rigid Body Systems* (2021): cited as Konz (4.52).
//! P. J. From, *An Explicit Formulation of Singularity-Free Dynamic Equations of Mechanical Systems in Lagrangian Form*,
//! parts one and two: cited as From I (29), From II (51).

#![cfg_attr(not(feature = "std"), no_std)]
// The sources' symbols are the local names here: R, W, J, M'.
#![allow(non_snake_case)]

mod coefficients;
mod error;
pub mod operators;
mod se3;
mod so3;

pub use error::NotInGroup;
pub use se3::SE3;
pub use so3::SO3;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
