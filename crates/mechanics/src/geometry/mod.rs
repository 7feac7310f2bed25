//! Configuration spaces without singularities: redundant coordinates for configurations, minimal ones for velocities.
//!
//! No three numbers describe every attitude smoothly, and no two every point of a sphere. So the configuration `x` has as many entries as
//! necessary and satisfies a constraint `φ(x) = 0`, while the velocity `ξ` has exactly one per degree of freedom (Konz ch. 2, 3.3, A.2, A.3):
//!
//! ```text
//! x in R^ν, φ(x) = 0          x_dot = A(x) ξ          ξ in R^n, n <= ν
//! ```
//!
//! Given `φ` and `A`, stated once as a [`Coordinates`], everything else follows by dual numbers, exact to rounding:
//!
//! | quantity | symbol | item |
//! |---|---|---|
//! | velocity of a given `x_dot`, left inverse | `ξ = Y x_dot`, `Y A = I` | [`velocity`], [`Coordinates::kinematic_inverse`] |
//! | constraint Jacobian, its inverse, projectors | `Φ`, `Ψ`, `A A⁺ + Ψ Φ = I` | [`constraint_jacobian`], [`constraint_inverse`], [`tangent_projector`], [`normal_projector`] |
//! | derivative of a function in each direction | `∂_i f` | [`directional_derivatives`], [`directional_jacobian`] |
//! | second derivatives, the Hessian | `∂_j ∂_i f`, `H_ij` | [`second_directional_derivatives`], [`hessian`] |
//! | all critical points of a function, and their kind | `∂V + Φᵀ λ = 0` | [`CriticalSearch`], [`CriticalPoint`] |
//! | commutation coefficients | `γ^k_ij` | [`commutation_coefficients`], [`lie_bracket`] |
//! | connection of a metric, geodesics | `Γ_ijk`, `Γ^i_jk` | [`connection_coefficients`], [`covariant_derivative`], [`geodesic_acceleration`] |
//! | curvature | `R_ijkl` | [`Curvature`] |
//! | Coriolis matrices, passive ones among them | `C ξ = c` | [`CoriolisMatrices`] |
//! | linearisation about a trajectory | `F⁰, F¹, F²`, `ε` | [`Linearization`], [`deviation`], [`deviation_rate`] |
//! | changes of coordinates | `χ`, `W` | [`map_jacobian`], [`WithVelocities`], [`VelocityChange`] |
//! | `A` from a constraint alone, charts, implicit functions | `A(x) = A₀ - N₀ (Φ N₀)⁺ Φ A₀` | [`Chart`], [`implicit_derivative`] |
//! | projection onto `φ(x) = 0`, stabilisation | | [`project`], [`stabilized_rate`] |
//! | equations of motion of any Lagrangian, momentum, Hamiltonian | `L(x, ξ, t)`, `p`, `H`, `G` | [`LagrangeEquation`] |
//! | particle systems with springs and dampers; a rigid body of particles | `r_p(x)` | [`ParticleSystem`], [`BodyPoints`], [`RigidParticles`] |
//! | nonholonomic constraints: motion, reactions, integrability, vakonomic curves | `η = 0`, `γ̂a_ij` | [`HamelEquation`], [`constraint_curvature`], [`appell`], [`DependentCoordinates`] |
//! | further constraints, for [`EqualityQp`](crate::EqualityQp) | `Z ξ_dot = b` | [`AccelerationConstraint`] |
//!
//! Predefined: [`Minimal`], [`PlanarPose`], [`RotationMatrix`], [`Quaternion`], [`EulerAngles`], [`Pose`]; pairs `(A, B)` and lists `Vec<C>` of coordinates are
//! coordinates, and so is a whole [`Model`](crate::multibody::Model). These are tools for analysis and tests: they allocate and are not meant for a control
//! loop.
//!
//! # A particle on a circle
//!
//! Konz, Example 7: two numbers for the position, one for the velocity, and no angle that jumps.
//!
//! ```
//! use fly_mechanics::geometry::{self, Coordinates};
//! use nalgebra::{DMatrix, DVector, RealField, convert, dmatrix, dvector};
//!
//! struct Circle {
//!     radius: f64,
//! }
//!
//! impl Coordinates for Circle {
//!     fn config_dim(&self) -> usize {
//!         2
//!     }
//!     fn dof(&self) -> usize {
//!         1
//!     }
//!     fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
//!         dvector![x.norm_squared() - convert(self.radius * self.radius)]
//!     }
//!     fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
//!         dmatrix![-x[1]; x[0]]
//!     }
//! }
//!
//! // The height of the particle, its slope at three o'clock, and its curvature at the top.
//! fn height<T: RealField + Copy>(x: &DVector<T>) -> T {
//!     x[1]
//! }
//! let circle = Circle { radius: 2.0 };
//! let slope = geometry::directional_derivatives(&circle, height, &dvector![2.0, 0.0])?;
//! assert_eq!(slope, dvector![2.0]);
//! let curvature = geometry::second_directional_derivatives(&circle, height, &dvector![0.0, 2.0])?;
//! assert_eq!(curvature, dmatrix![-2.0]); // a maximum
//! # Ok::<(), geometry::CoordinatesError>(())
//! ```
//!
//! # An attitude: matrix, quaternion, and why not three angles
//!
//! All three describe the same motion with the same velocity, the angular velocity in the body, so their commutation coefficients are the
//! same (Konz A.84): the cross product. They differ in where they are singular.
//!
//! ```
//! use std::f64::consts::FRAC_PI_2;
//!
//! use fly_lie::attitude::EulerSequence;
//! use fly_mechanics::geometry::{
//!     Coordinates, CoordinatesError, EulerAngles, Quaternion, RotationMatrix, condition_number,
//! };
//! use nalgebra::dvector;
//!
//! // Nose up by almost a right angle: quaternion and matrix do not mind, anywhere.
//! let half = 0.5 * (FRAC_PI_2 - 1e-3);
//! let quaternion = dvector![half.cos(), 0.0, half.sin(), 0.0];
//! assert!((condition_number(&Quaternion, &quaternion)? - 1.0).abs() < 1e-14);
//!
//! // Yaw and roll turn about almost the same axis, and their rates go to infinity ...
//! let angles = EulerAngles(EulerSequence::ZYX);
//! assert!(condition_number(&angles, &dvector![0.0, FRAC_PI_2 - 1e-3, 0.0])? > 1e3);
//!
//! // ... where they do not exist.
//! let error = angles.kinematic_inverse(&dvector![0.0, FRAC_PI_2, 0.0]).unwrap_err();
//! assert!(matches!(error, CoordinatesError::Singular { rank: 2, dof: 3, .. }));
//! # Ok::<(), CoordinatesError>(())
//! ```
//!
//! # Products
//!
//! ```
//! use fly_mechanics::geometry::{Coordinates, Minimal, Pose, RotationMatrix};
//!
//! // A body with a load on a spherical joint and three tilting rotors.
//! let vehicle = (Pose, (RotationMatrix, Minimal(3)));
//! assert_eq!((vehicle.config_dim(), vehicle.dof()), (12 + 9 + 3, 6 + 3 + 3));
//! ```

mod attitude;
mod body_points;
mod change;
mod chart;
mod commutation;
mod connection;
mod constraint;
mod coriolis;
mod critical;
mod curvature;
mod derivative;
mod error;
mod forms;
mod hamel;
mod kinematics;
mod lagrangian;
mod linearization;
mod model;
mod particles;
mod pose;
mod product;
mod projection;
mod rigid_particles;
mod scalar;
mod symbols;

use nalgebra::{DMatrix, DVector, RealField};

pub use attitude::{EulerAngles, Quaternion, RotationMatrix};
pub use body_points::BodyPoints;
pub use change::{Basis, VelocityChange, WithVelocities, map_jacobian};
pub use chart::{Chart, Embedded, implicit_derivative};
pub use commutation::{commutation_coefficients, commutation_derivative, lie_bracket};
pub use connection::{
    connection_coefficients, covariant_derivative, geodesic_acceleration, gradient, hessian,
    raised_connection_coefficients,
};
pub use constraint::AccelerationConstraint;
pub use coriolis::CoriolisMatrices;
pub use critical::{CriticalPoint, CriticalSearch, equilibria};
pub use curvature::Curvature;
pub use derivative::{
    directional_derivatives, directional_jacobian, second_directional_derivatives,
};
pub use error::CoordinatesError;
pub use forms::Forms;
pub use hamel::{
    CoordinateDependence, DependentCoordinates, HamelEquation, appell, constraint_curvature,
};
pub use kinematics::{
    acceleration, condition_number, constraint_inverse, constraint_jacobian, normal_projector,
    tangent_projector, velocity,
};
pub use lagrangian::{LagrangeEquation, Lagrangian};
pub use linearization::{Linearization, deviation, deviation_rate};
pub use particles::{ParticleSystem, Particles};
pub use pose::{Minimal, PlanarPose, Pose};
pub use projection::{project, stabilized_rate};
pub use rigid_particles::RigidParticles;
pub use scalar::{Differentiable, derivative_along};
pub use symbols::Symbols;

/// Configuration coordinates `x`, possibly redundant, and minimal velocity coordinates `ξ` of a system.
///
/// Requires three things: the dimensions `ν` and `n`, the constraint `φ` and the kinematic matrix `A`, with `Φ A = 0` and `rank A = n`
/// wherever `φ(x) = 0`. They are written once, generic over the scalar, so that dual numbers give the derivatives. See the [module](self) for
/// an example.
pub trait Coordinates {
    /// `ν`, the number of configuration coordinates.
    fn config_dim(&self) -> usize;

    /// `n`, the number of degrees of freedom and of velocity coordinates.
    fn dof(&self) -> usize;

    /// `φ(x)`, zero at valid configurations, Konz (3.12); it may have more entries than the `ν - n` independent ones. Empty by default.
    fn constraint<T: RealField + Copy>(&self, _x: &DVector<T>) -> DVector<T> {
        DVector::zeros(0)
    }

    /// `A(x)`, ν x n: `x_dot = A ξ`, Konz (3.14).
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T>;

    /// `Y(x)`, n x ν, with `Y A = I`: `ξ = Y x_dot`. Defaults to the pseudo-inverse `A⁺`; any left inverse will do.
    ///
    /// # Errors
    /// [`CoordinatesError::Singular`], [`CoordinatesError::NotFinite`].
    fn kinematic_inverse<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<DMatrix<T>, CoordinatesError> {
        kinematics::kinematic_pseudo_inverse(&self.kinematic_matrix(x), x)
    }

    /// `γ^k_ij`, if known to be constant; [`commutation_coefficients`] then uses it.
    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        None
    }
}
