//! Dynamics in time proportional to the number of bodies.
//!
//! | module | what |
//! |---|---|
//! | `tree` | the bodies compiled: joints and what is fixed to what they move, parents before children |
//! | `motion` | the kinds of joints |
//! | `lanes`, `spatial` | vectors, matrices and inertias, in registers and plain |
//! | `place`, `sines` | where the nodes are |
//! | `inverse` | the recursive Newton-Euler algorithm |
//! | `composite` | the mass matrix, from composite bodies |
//! | `articulated`, `release`, `forward` | the articulated body algorithm as a factorisation of the mass matrix |
//! | `jacobians`, `derivatives` | what else is asked for in a state |
//!
//! # What makes it fast
//! - **Axes along the joint.** A node's axes are turned once, when the model is compiled, so that the third is the joint's. A hinge then mixes two
//!   columns of a constant matrix, takes one entry of a wrench, and passes on an articulated inertia whose last row and column are zero; of
//!   ball joints and free ones whole blocks drop out, and no 6x6 matrix is ever multiplied. Fixed joints are no nodes at all.
//! - **Hinges inlined, the rest called.** Each pass has the one branch for hinges in its loop; other joints are functions of their own. Each
//!   branch stores its own results: what two branches hand to common code would go through memory.
//! - **Whole registers.** Three numbers in four lanes are loaded and stored by one instruction (`lanes`): against triples of plain numbers,
//!   which compilers cut into registers differently from one pass to the next, so that loads had to wait for earlier stores, the mass matrix
//!   of a six-axis arm takes 190 ns in place of 330, its forward dynamics 390 in place of 610, its inverse dynamics 175 in place of 240.
//! - **Six sines in the time of one.** The angles of all hinges stand side by side and four go through the series at once: 20 ns for six in
//!   place of 60.
//! - **Classical accelerations** spare the passes all linear velocities, and a second moment is cheaper to move than a 6x6 inertia.
//! - **One way up.** Forward dynamics is one pass down with the wrenches that would keep the velocity, one up that factorises and takes up the
//!   forces, and one down with the differences: no sum over the bodies is done twice. What leaves pass on is constant and computed once.
//! - **Constants, then scratch, in arrays in the order of the passes,** allocated once; parents before children without pointers.
//!
//! Measured by `cargo xtask bench dynamics` on an AMD EPYC (Zen 5), medians in ns, beside Pinocchio 4.1 compiled by GCC in the same run:
//!
//! | | inverse | mass matrix | forward | bias |
//! |---|---|---|---|---|
//! | six-axis arm | 169 (612) | 167 (310) | 374 (1153) | 165 (644) |
//! | free body | 45 (101) | 13 (60) | 89 (212) | 43 (97) |
//! | tricopter with load, 8 bodies | 215 (771) | 228 (417) | 484 (1761) | 211 (834) |
//!
//! A body of a long chain costs 25 ns in the inverse dynamics and 70 ns in the forward dynamics, from 10 bodies to 1000.

mod articulated;
mod composite;
mod derivatives;
mod error;
mod forward;
mod inverse;
mod jacobians;
mod lanes;
mod motion;
mod place;
mod release;
mod scratch;
mod sines;
mod spatial;
mod tree;

pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub use error::MasslessJoint;
pub use jacobians::BodyJacobians;
pub(super) use scratch::Scratch;
pub(super) use tree::Tree;
