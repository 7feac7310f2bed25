//! Conversion to and from the order of twists `[omega; v]` used by Modern Robotics and the recursive Newton-Euler
//! notes.
//!
//! A permutation `P = [[0, I], [I, 0]]`, its own inverse, converts between the two: the functions here work both ways.
//!
//! ```
//! use fly_lie::{SE3, angular_first};
//! use nalgebra::Vector6;
//!
//! let xi = Vector6::<f64>::new(1.0, 2.0, 3.0, 0.4, 0.5, 0.6);
//! assert_eq!(angular_first::twist(&xi), Vector6::new(0.4, 0.5, 0.6, 1.0, 2.0, 3.0));
//! // Ad of the notes, [[R, 0], [hat(p) R, R]], is the other order's.
//! let G = SE3::exp(&xi);
//! let product = angular_first::matrix(&G.adjoint()) * angular_first::twist(&xi);
//! assert!((product - angular_first::twist(&(G.adjoint() * xi))).norm() < 1e-14);
//! ```

use nalgebra::{Matrix6, RealField, Vector6};

/// The index of an entry in the other order.
const fn other(i: usize) -> usize {
    (i + 3) % 6
}

/// `[omega; v]` from `[v; omega]`, or back; `[tau; f]` from a wrench `[f; tau]`, or back.
#[inline]
pub fn twist<T: RealField + Copy>(xi: &Vector6<T>) -> Vector6<T> {
    Vector6::from_fn(|i, _| xi[other(i)])
}

/// A 6x6 matrix (adjoint, inertia, Jacobian of the exponential) in the other order: `P A P`.
#[inline]
pub fn matrix<T: RealField + Copy>(A: &Matrix6<T>) -> Matrix6<T> {
    Matrix6::from_fn(|i, j| A[(other(i), other(j))])
}
