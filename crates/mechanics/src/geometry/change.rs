//! Changes of configuration or velocity coordinates (Konz A.3).

use nalgebra::{DMatrix, DVector, RealField};

use super::derivative::matrices_along;
use super::error::expect_size;
use super::{
    Coordinates, CoordinatesError, Differentiable, Symbols, derivative_along, directional_jacobian,
};

/// The Jacobian, between velocities, of a map from one configuration space to another: `η = J ξ`, with `y = χ(x)` and
///
/// ```text
/// J = Y_y(χ(x)) ∂χ/∂x A_x(x)     (A.186)
/// ```
///
/// - Two representations with the same velocities, such as rotation matrix and quaternion: `J = I`, Konz (A.81-A.82). Directional
///   derivatives, commutation and connection coefficients and Hessians are then equal (A.83-A.87). (A.80) holds for tangent vectors only.
/// - The pose of one body of a system: its body Jacobian.
///
/// ```
/// use fly_mechanics::geometry::{Minimal, PlanarPose, map_jacobian};
/// use nalgebra::{DVector, RealField, convert, dmatrix, dvector};
///
/// // The tip of an arm of length 2 that turns about the origin, as a frame in the plane.
/// fn tip<T: RealField + Copy>(q: &DVector<T>) -> DVector<T> {
///     let (s, c) = q[0].sin_cos();
///     let length: T = convert(2.0);
///     dvector![c * length, s * length, s, c]
/// }
/// let jacobian = map_jacobian(&Minimal(1), &PlanarPose, tip, &dvector![0.0])?;
/// assert_eq!(jacobian, dmatrix![0.0; 2.0; 1.0]);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`], and what [`Coordinates::kinematic_inverse`] of the image reports.
pub fn map_jacobian<S: Differentiable>(
    from: &impl Coordinates,
    to: &impl Coordinates,
    map: impl Fn(&DVector<S::Dual>) -> DVector<S::Dual>,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    expect_size("x", (from.config_dim(), 1), x)?;
    let y = derivative_along(&map, x, &DVector::zeros(x.len())).0;
    expect_size("the image of x", (to.config_dim(), 1), &y)?;
    Ok(to.kinematic_inverse(&y)? * directional_jacobian(from, map, x)?)
}

/// Other velocity coordinates, `ξ = W(x) ξ^`, by a matrix that may depend on the configuration.
pub trait Basis {
    /// `W(x)`, n x n, invertible.
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T>;
}

/// The same configuration coordinates with other velocities, `Â = A W`, Konz (A.88-A.90).
///
/// ```
/// use fly_lie::SO3;
/// use fly_mechanics::geometry::{Basis, RotationMatrix, WithVelocities, commutation_coefficients};
/// use nalgebra::{DMatrix, DVector, RealField, dvector};
///
/// /// The angular velocity in the world instead of in the body: ω = Rᵀ ω_world.
/// struct InWorld;
/// impl Basis for InWorld {
///     fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
///         DMatrix::from_column_slice(3, 3, x.as_slice()).transpose()
///     }
/// }
///
/// let world = WithVelocities { coordinates: RotationMatrix, basis: InWorld };
/// let x = DVector::from_column_slice(SO3::exp(&nalgebra::Vector3::new(0.3, -0.2, 0.9)).matrix().as_slice());
/// // The sign of the cross product turns around.
/// let gamma = commutation_coefficients(&world, &x)?;
/// let (a, b) = (dvector![1.0, 2.0, 3.0], dvector![0.5, -1.0, 2.0]);
/// assert!((gamma.contract(&a, &b) + a.cross(&b)).norm() < 1e-14);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithVelocities<C, W> {
    /// The configuration coordinates, with the velocities `ξ`.
    pub coordinates: C,
    /// `W`
    pub basis: W,
}

impl<C: Coordinates, W: Basis> Coordinates for WithVelocities<C, W> {
    fn config_dim(&self) -> usize {
        self.coordinates.config_dim()
    }

    fn dof(&self) -> usize {
        self.coordinates.dof()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        self.coordinates.constraint(x)
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        self.coordinates.kinematic_matrix(x) * self.basis.matrix(x)
    }
}

/// The transformation of all quantities under a change of velocity coordinates `ξ = W ξ^` at one configuration (Konz A.3.3), from old to
/// new components.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocityChange<S: Differentiable> {
    W: DMatrix<S>,
    Z: DMatrix<S>,
    /// `∂_k W` in the new directions.
    dW: Vec<DMatrix<S>>,
}

/// # Construction
impl<S: Differentiable> VelocityChange<S> {
    /// At the configuration `x`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Singular`] if `W` has no inverse.
    pub fn new(
        coordinates: &impl Coordinates,
        basis: &impl Basis,
        x: &DVector<S>,
    ) -> Result<Self, CoordinatesError> {
        let n = coordinates.dof();
        expect_size("x", (coordinates.config_dim(), 1), x)?;
        let W = basis.matrix(x);
        expect_size("W", (n, n), &W)?;
        let Z = super::kinematics::kinematic_pseudo_inverse(&W, x)?;
        let A = coordinates.kinematic_matrix(x) * &W;
        let dW = matrices_along(&|x| basis.matrix(x), x, &A);
        Ok(Self { W, Z, dW })
    }
}

/// # Tensors
impl<S: Differentiable> VelocityChange<S> {
    /// A velocity: `ξ^ = W⁻¹ ξ`, Konz (A.88).
    pub fn velocity(&self, xi: &DVector<S>) -> DVector<S> {
        &self.Z * xi
    }

    /// A force or the gradient of a function: `f^ = Wᵀ f`, Konz (A.91).
    pub fn force(&self, f: &DVector<S>) -> DVector<S> {
        self.W.tr_mul(f)
    }

    /// A metric, a Hessian tensor, a damping matrix: `M^ = Wᵀ M W`, Konz (A.97).
    pub fn metric(&self, M: &DMatrix<S>) -> DMatrix<S> {
        self.W.tr_mul(M) * &self.W
    }
}

/// # Quantities that are not tensors
impl<S: Differentiable> VelocityChange<S> {
    /// An acceleration along the velocity `ξ`: `d/dt ξ^ = W⁻¹ (ξ_dot - W_dot ξ^)`.
    pub fn acceleration(&self, xi: &DVector<S>, xi_dot: &DVector<S>) -> DVector<S> {
        let xi = self.velocity(xi);
        &self.Z * (xi_dot - self.rate(&xi) * &xi)
    }

    /// `γ^`, Konz (A.92): `Z (W W γ + ∂_i W_j - ∂_j W_i)`.
    #[must_use]
    pub fn commutation_coefficients(&self, gamma: &Symbols<S>) -> Symbols<S> {
        let n = gamma.dof();
        let moved = self.lower_indices(gamma);
        Symbols::from_fn(n, |k, i, j| {
            moved[k][(i, j)] + self.dW[i][(k, j)] - self.dW[j][(k, i)]
        })
        .premultiplied(&self.Z)
    }

    /// `Γ^_ijk = W W W Γ + W_i^l (∂_k W_j^m) M_lm`, Konz (A.100); the lines before its last one are garbled.
    #[must_use]
    pub fn connection_coefficients(&self, Gamma: &Symbols<S>, M: &DMatrix<S>) -> Symbols<S> {
        let moved = self.lower_indices(Gamma).premultiplied(&self.W.transpose());
        let turned: Vec<_> = self.dW.iter().map(|dW| self.W.tr_mul(M) * dW).collect();
        Symbols::from_fn(Gamma.dof(), |i, j, k| moved[i][(j, k)] + turned[k][(i, j)])
    }

    /// `Γ^^i_jk = Z (W W Γ + ∂_k W_j)`, Konz (A.101), for any connection.
    #[must_use]
    pub fn raised_connection_coefficients(&self, Gamma: &Symbols<S>) -> Symbols<S> {
        let moved = self.lower_indices(Gamma);
        Symbols::from_fn(Gamma.dof(), |i, j, k| moved[i][(j, k)] + self.dW[k][(i, j)])
            .premultiplied(&self.Z)
    }

    /// `∂_i ∂_j` of a function, from its first and second derivatives: `Wᵀ D W + (∂_j W_i) f`, as `[(i, j)]` with j last.
    #[must_use]
    pub fn second_derivatives(&self, first: &DVector<S>, second: &DMatrix<S>) -> DMatrix<S> {
        let mut moved = self.metric(second);
        for (mut column, dW) in moved.column_iter_mut().zip(&self.dW) {
            column += dW.tr_mul(first);
        }
        moved
    }

    /// `∂_k M^` for every k, from `∂_k M` in the old directions, Konz (A.98).
    pub fn metric_derivatives(&self, M: &DMatrix<S>, dM: &[DMatrix<S>]) -> Vec<DMatrix<S>> {
        let derivative = |(k, dW): (usize, &DMatrix<S>)| {
            let zero = DMatrix::zeros(M.nrows(), M.ncols());
            let along =
                (dM.iter().enumerate()).fold(zero, |sum, (l, dM)| sum + dM * self.W[(l, k)]);
            let turned = dW.tr_mul(M) * &self.W;
            self.metric(&along) + &turned + turned.transpose()
        };
        self.dW.iter().enumerate().map(derivative).collect()
    }

    /// `W^l_j W^m_k s_ilm`: transforms the last two indices.
    fn lower_indices(&self, s: &Symbols<S>) -> Symbols<S> {
        let moved: Vec<_> = (0..s.dof()).map(|i| self.metric(&s[i])).collect();
        Symbols::from_fn(s.dof(), |i, j, k| moved[i][(j, k)])
    }

    /// `W_dot` at the new velocity.
    fn rate(&self, xi: &DVector<S>) -> DMatrix<S> {
        let zero = DMatrix::zeros(xi.len(), xi.len());
        self.dW
            .iter()
            .zip(xi.iter())
            .fold(zero, |sum, (dW, &xi)| sum + dW * xi)
    }
}
