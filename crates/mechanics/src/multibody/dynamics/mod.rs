//! Dynamics in time proportional to the number of bodies.
//!
//! | file | algorithm | Featherstone, RBDA |
//! |---|---|---|
//! | `rnea` | recursive Newton-Euler: inverse dynamics, bias | 5.3 |
//! | `crba` | composite rigid body: mass matrix | 6.2 |
//! | `aba` | articulated body: forward dynamics, `M^-1` as an operator | 7.3 |
//! | `derivatives/rnea`, `derivatives/aba` | their derivatives with respect to the state | |
//! | `derivatives/inverse_mass` | `M^-1` from the factors of the articulated-body algorithm | |
//! | `regressor` | the forces as a linear function of the inertial parameters | |
//! | `loads` | springs, dampers, drag and external wrenches in all of them | |
//!
//! # Optimisations
//! - **Axes along the joint.** At compile time a node's axes are rotated such that the third is the joint's. A revolute joint then mixes two
//!   columns of a constant matrix, takes one entry of a wrench, and passes on an articulated inertia whose last row and column are zero; for ball
//!   and free joints whole blocks drop out, and no 6x6 matrix is ever multiplied. Fixed joints are not nodes at all.
//! - **Revolute joints inlined, the rest called.** Each pass has the single branch for revolute joints in its loop; other joints are separate
//!   functions. Each branch stores its own results: values passed from two branches to common code would go through memory.
//! - **Whole registers.** One instruction loads or stores three numbers in four lanes (`simd`). Compilers split triples of plain numbers into
//!   registers differently from one pass to the next, so that loads had to wait for earlier stores. With lanes the mass matrix of a six-axis arm
//!   takes 190 ns in place of 330, its forward dynamics 390 in place of 610, its inverse dynamics 175 in place of 240.
//! - **Six sines in the time of one.** The angles of all revolute joints are contiguous, and the series are evaluated for four at once: 20 ns
//!   for six in place of 60.
//! - **Classical accelerations** need no linear velocities in the passes, and a second moment is cheaper to transform than a 6x6 inertia.
//! - **The root's axes** for composite inertias, Jacobians and derivatives: between the joints of a branch only origins change.
//! - **One backward pass.** Forward dynamics is one forward pass with the wrenches that would keep the velocity constant, one backward pass
//!   that factors and accumulates the forces, and one forward pass with the differences: no sum over the bodies is computed twice. The
//!   contributions of leaves are constant.
//! - **Constants, then scratch, in arrays in the order of the passes,** allocated once; parents before children without pointers.
//!
//! Measured by `cargo xtask bench dynamics` on a shared Intel Xeon (Sapphire Rapids), compared with Pinocchio 4.1 compiled by clang 19: minimum of
//! five alternating runs, ns, and ratio to Pinocchio's.
//!
//! | | six-axis arm | free body | tricopter with load, 8 bodies |
//! |---|---|---|---|
//! | inverse dynamics | 251, 0.41 | 53, 0.47 | 302, 0.37 |
//! | bias | 247, 0.45 | 51, 0.51 | 300, 0.40 |
//! | mass matrix | 246, 0.63 | 10, 0.14 | 361, 0.64 |
//! | forward dynamics | 580, 0.47 | 155, 0.61 | 681, 0.38 |
//! | kinematics, Jacobians of all bodies, bias | 566, 0.54 | 100, 0.57 | 768, 0.47 |
//! | derivatives of the inverse dynamics | 1013, 0.51 | 149, 0.18 | 1413, 0.36 |
//! | derivatives of the forward dynamics | 1979, 0.62 | 460, 0.28 | 3792, 0.55 |
//!
//! In a long chain of 10 to 1000 bodies, each body costs 25 ns in the inverse dynamics and 70 ns in the forward
//! dynamics.

mod aba;
mod crba;
mod derivatives;
mod error;
mod loads;
mod regressor;
mod rnea;

pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub use error::MasslessJoint;
pub use loads::ExternalWrench;
