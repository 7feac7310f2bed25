//! Vectors and matrices of three rows in vector registers.
//!
//! One instruction loads or stores three numbers in four lanes. The fourth lane is always zero. Triples without it would be worse than no
//! vectors at all: a register loaded across two earlier stores has to wait until both have reached the cache. For `f64` the operations are
//! those of [`wide::f64x4`]; other scalars, including dual numbers, do the same lane by lane.

mod matrix3;
mod sines;
mod symmetric3;
mod vector3;

pub use matrix3::Mat3;
pub use sines::sines_and_cosines;
pub use symmetric3::Symmetric3;
pub use vector3::{Vec3, fma};
