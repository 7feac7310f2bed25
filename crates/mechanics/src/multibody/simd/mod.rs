//! Vectors and matrices of three rows in vector registers.
//!
//! Three numbers in four lanes are loaded and stored by one instruction. The fourth lane is zero and stays zero. Triples without it would be
//! worse than no vectors at all: a register that is loaded across the border of two earlier stores has to wait until both have reached the
//! cache. For `f64` the operations are those of [`wide::f64x4`], for other scalars, dual numbers among them, the same lane by lane.

mod matrix3;
mod sines;
mod vector3;

pub use matrix3::Mat3;
pub use sines::sines_and_cosines;
pub use vector3::{Vec3, fma};
