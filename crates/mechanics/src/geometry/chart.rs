//! Charts of a manifold given only by its constraint.

use std::any::Any;

use nalgebra::{DMatrix, DVector, RealField, convert};

use super::derivative::derivatives_along;
use super::error::{expect_finite, expect_size};
use super::kinematics::pseudo_inverse;
use super::{Coordinates, CoordinatesError, Differentiable, Symbols};

/// The configurations with `φ(x) = 0`, stated once for any scalar, Konz (A.33). All [`Coordinates`] implement it.
///
/// The rank of `Φ = ∂φ/∂x` must be constant on the manifold, (A.34); it may have more rows than that.
pub trait Embedded {
    /// `ν`, the number of configuration coordinates.
    fn config_dim(&self) -> usize;

    /// `φ(x)`
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T>;
}

impl<C: Coordinates> Embedded for C {
    fn config_dim(&self) -> usize {
        Coordinates::config_dim(self)
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        Coordinates::constraint(self, x)
    }
}

/// Local coordinates about one point of an [`Embedded`] manifold, from its constraint alone (Konz A.2.1).
///
/// With the orthonormal bases `A₀` of the tangent space at that point and `N₀` of its normals, the manifold is the graph of a function s of the tangent coordinates q:
///
/// ```text
/// x = x₀ + A₀ q + N₀ s(q),  φ(x) = 0          s exists by (A.31)
/// A(x) = ∂x/∂q = A₀ - N₀ (Φ N₀)⁺ Φ A₀         its Jacobian, (A.32)
/// ```
///
/// A chart is [`Coordinates`]: connection, Hessian, equations of motion follow. Its velocities are the rates of q, so they commute. It extends until a normal
/// of the manifold becomes a tangent of its origin ([`quality`](Self::quality)); before that, [`recentered`](Self::recentered) creates the next one, whose tangent
/// basis is as close as possible to this one's. This continues a tangent basis along a curve. Around a closed curve it need not return to itself, and on some
/// manifolds, such as the sphere, no global smooth basis exists (the hairy ball theorem): several charts are unavoidable.
///
/// It supports the scalars `f64`, [`Dual64`](num_dual::Dual64) and [`HyperDual64`](num_dual::HyperDual64), which this module uses; for others A is undefined
/// (`NaN`).
///
/// ```
/// use std::f64::consts::FRAC_PI_2;
///
/// use fly_mechanics::geometry::{Chart, Coordinates, Embedded};
/// use nalgebra::{DVector, RealField, dvector};
///
/// #[derive(Clone)]
/// struct Sphere;
/// impl Embedded for Sphere {
///     fn config_dim(&self) -> usize { 3 }
///     fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
///         dvector![x.norm_squared() - T::one()]
///     }
/// }
///
/// // One patch covers half of the sphere: at its equator it ends.
/// let north = Chart::new(Sphere, &dvector![0.0, 0.0, 1.0])?;
/// assert_eq!(north.dof(), 2);
/// assert!(north.point(&dvector![0.6, 0.0])?[2] > 0.79);
/// assert!(north.point(&dvector![1.01, 0.0]).is_err());
/// assert!(north.quality(&dvector![1.0, 0.0, 0.0])? < 1e-15);
///
/// // The tangent basis is followed around a triangle with three right angles, and comes back turned by one.
/// let around = north.recentered(&dvector![0.8, 0.0, 0.6])?.recentered(&dvector![1.0, 0.0, 0.0])?;
/// let around = around.recentered(&dvector![0.6, 0.8, 0.0])?.recentered(&dvector![0.0, 1.0, 0.0])?;
/// let around = around.recentered(&dvector![0.0, 0.6, 0.8])?.recentered(&dvector![0.0, 0.0, 1.0])?;
/// let turn = north.tangent_basis().tr_mul(around.tangent_basis());
/// assert!((turn[(1, 0)].atan2(turn[(0, 0)]).abs() - FRAC_PI_2).abs() < 1e-14);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chart<M> {
    manifold: M,
    origin: DVector<f64>,
    tangent: DMatrix<f64>,
    normal: DMatrix<f64>,
}

/// # Construction
impl<M: Embedded> Chart<M> {
    /// About a point of the manifold; [`project`](super::project) finds one.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::NotFinite`]; [`CoordinatesError::Projection`] if the point is off the manifold by more than 1e-6.
    pub fn new(manifold: M, origin: &DVector<f64>) -> Result<Self, CoordinatesError> {
        let nu = manifold.config_dim();
        let Phi = jacobian(&manifold, origin)?;
        let residual = manifold.constraint(origin).norm();
        if residual > 1e-6 {
            return Err(CoordinatesError::Projection {
                iterations: 0,
                residual,
            });
        }
        // The projectors onto both spaces, whose columns span them.
        let (inverse, rank) = pseudo_inverse(&Phi);
        let normals = inverse * &Phi;
        let tangent = orthonormal(&(DMatrix::identity(nu, nu) - &normals), nu - rank);
        Ok(Self {
            normal: orthonormal(&normals, rank),
            manifold,
            origin: origin.clone(),
            tangent,
        })
    }

    /// The chart about another point nearby, with the orthonormal tangent basis nearest to this one's: the polar factor of its projection.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`CoordinatesError::Singular`] if [`quality`](Self::quality) is zero.
    pub fn recentered(&self, x: &DVector<f64>) -> Result<Self, CoordinatesError>
    where
        M: Clone,
    {
        let mut next = Self::new(self.manifold.clone(), x)?;
        let n = self.tangent.ncols();
        if next.tangent.ncols() != n {
            return Err(singular(next.tangent.ncols(), n, x));
        }
        let overlap = next.tangent.tr_mul(&self.tangent);
        let svd = overlap.svd(true, true);
        let rank = svd.rank(1e-9);
        let (Some(U), Some(V)) = (svd.u, svd.v_t) else {
            return Err(singular(rank, n, x));
        };
        if rank < n {
            return Err(singular(rank, n, x));
        }
        next.tangent *= U * V;
        Ok(next)
    }
}

/// # Points and their coordinates
impl<M: Embedded> Chart<M> {
    /// `x₀`
    pub fn origin(&self) -> &DVector<f64> {
        &self.origin
    }

    /// `A₀`, ν x n, with orthonormal columns.
    pub fn tangent_basis(&self) -> &DMatrix<f64> {
        &self.tangent
    }

    /// `q = A₀ᵀ (x - x₀)`, n entries.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn coordinates(&self, x: &DVector<f64>) -> Result<DVector<f64>, CoordinatesError> {
        expect_size("x", self.origin.shape(), x)?;
        Ok(self.tangent.tr_mul(&(x - &self.origin)))
    }

    /// `x(q)`, the point of the manifold along the normals at `x₀ + A₀ q`, by Newton's method for `s`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Projection`] if there is none: q is beyond the chart.
    pub fn point(&self, q: &DVector<f64>) -> Result<DVector<f64>, CoordinatesError> {
        /// Convergence is quadratic.
        const MOST: usize = 50;
        expect_size("q", (self.tangent.ncols(), 1), q)?;
        let mut x = &self.origin + &self.tangent * q;
        let mut residual = f64::INFINITY;
        for _ in 0..MOST {
            let phi = self.manifold.constraint(&x);
            let along_normals = jacobian(&self.manifold, &x)? * &self.normal;
            let step = &self.normal * (pseudo_inverse(&along_normals).0 * &phi);
            residual = phi.norm();
            if step.norm() <= 8.0 * f64::EPSILON * x.norm().max(1.0) && residual < 1e-6 {
                return Ok(x);
            }
            x -= step;
        }
        Err(CoordinatesError::Projection {
            iterations: MOST,
            residual,
        })
    }

    /// The cosine of the largest angle between the tangent spaces at `x` and at the origin: 1 at the origin, 0 at the boundary of the
    /// chart.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::NotFinite`].
    pub fn quality(&self, x: &DVector<f64>) -> Result<f64, CoordinatesError> {
        let n = self.tangent.ncols();
        if n == 0 {
            return Ok(1.0);
        }
        let Phi = jacobian(&self.manifold, x)?;
        let (inverse, _) = pseudo_inverse(&Phi);
        // The projection of A₀ has the cosines as its singular values.
        let projected = &self.tangent - inverse * (Phi * &self.tangent);
        Ok(projected.singular_values().min())
    }

    /// `A(x)` for a scalar that is known to be supported.
    fn matrix<S: Differentiable>(&self, x: &DVector<S>) -> DMatrix<S> {
        let unit = DMatrix::identity(x.len(), x.len());
        let constraint = |x: &DVector<S::Dual>| self.manifold.constraint(x);
        let Phi = derivatives_along(&constraint, x, &unit);
        let (tangent, normal) = (self.tangent.map(convert), self.normal.map(convert));
        let (inverse, _) = pseudo_inverse(&(&Phi * &normal));
        let slope: DMatrix<S> = inverse * (Phi * &tangent);
        tangent - normal * slope
    }
}

impl<M: Embedded> Coordinates for Chart<M> {
    fn config_dim(&self) -> usize {
        self.origin.len()
    }

    fn dof(&self) -> usize {
        self.tangent.ncols()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        self.manifold.constraint(x)
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        /// The result if this is the requested scalar.
        fn of<M: Embedded, S: Differentiable>(
            chart: &Chart<M>,
            x: &dyn Any,
        ) -> Option<Box<dyn Any>> {
            let x = x.downcast_ref::<DVector<S>>()?;
            Some(Box::new(chart.matrix(x)))
        }
        let found = of::<M, f64>(self, x)
            .or_else(|| of::<M, num_dual::Dual64>(self, x))
            .or_else(|| of::<M, num_dual::HyperDual64>(self, x));
        let found = found.and_then(|A| A.downcast::<DMatrix<T>>().ok());
        let (nu, n) = self.tangent.shape();
        let undefined = || DMatrix::from_element(nu, n, T::zero() / T::zero());
        found.map_or_else(undefined, |A| *A)
    }

    /// `Y = A₀ᵀ`.
    fn kinematic_inverse<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<DMatrix<T>, CoordinatesError> {
        expect_finite("the kinematic matrix", &self.kinematic_matrix(x), x)?;
        Ok(self.tangent.transpose().map(convert))
    }

    /// Zero: the velocities are the rates of q.
    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(Symbols::zeros(self.dof()))
    }
}

/// `∂g/∂p = -(∂f/∂x)⁻¹ ∂f/∂p` of the implicit function g with `f(p, g(p)) = 0`, at `x = g(p)`, Konz (A.32). With `f = F(x) - p` it is the Jacobian of the
/// inverse of F, (A.30).
///
/// ```
/// use fly_mechanics::geometry::implicit_derivative;
/// use nalgebra::{DVector, RealField, dvector};
///
/// // Kepler's equation E - e sin E = M: how E changes with e and M.
/// fn kepler<T: RealField + Copy>(p: &DVector<T>, x: &DVector<T>) -> DVector<T> {
///     dvector![x[0] - p[0] * x[0].sin() - p[1]]
/// }
/// let (e, E) = (0.3_f64, 1.2_f64);
/// let M = E - e * E.sin();
/// let slope = implicit_derivative(kepler, &dvector![e, M], &dvector![E])?;
/// assert!((slope[(0, 0)] - E.sin() / (1.0 - e * E.cos())).abs() < 1e-15);
/// assert!((slope[(0, 1)] - 1.0 / (1.0 - e * E.cos())).abs() < 1e-15);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`] if f does not have as many values as x; [`CoordinatesError::Singular`] if `∂f/∂x` is singular;
/// [`CoordinatesError::NotFinite`].
pub fn implicit_derivative<S: Differentiable>(
    f: impl Fn(&DVector<S::Dual>, &DVector<S::Dual>) -> DVector<S::Dual>,
    p: &DVector<S>,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    let still = |v: &DVector<S>| v.map(|v| v.with_derivative(S::zero()));
    let n = x.len();
    let by_x = derivatives_along(&|x| f(&still(p), x), x, &DMatrix::identity(n, n));
    expect_size("the values of f", (n, n), &by_x)?;
    let unit = DMatrix::identity(p.len(), p.len());
    let by_p = derivatives_along(&|p| f(p, &still(x)), p, &unit);
    Ok(-super::kinematics::kinematic_pseudo_inverse(&by_x, x)? * by_p)
}

fn jacobian(manifold: &impl Embedded, x: &DVector<f64>) -> Result<DMatrix<f64>, CoordinatesError> {
    let nu = manifold.config_dim();
    expect_size("x", (nu, 1), x)?;
    let constraint = |x: &DVector<num_dual::Dual64>| manifold.constraint(x);
    let Phi = derivatives_along(&constraint, x, &DMatrix::identity(nu, nu));
    expect_finite("the derivative of the constraint", &Phi, x)?;
    Ok(Phi)
}

/// An orthonormal basis of the range of a projector of known rank: orthonormalises its longest columns.
pub(super) fn orthonormal(projector: &DMatrix<f64>, rank: usize) -> DMatrix<f64> {
    let mut rest = projector.clone();
    let mut basis = DMatrix::zeros(projector.nrows(), rank);
    for mut found in basis.column_iter_mut() {
        let lengths = rest.column_iter().map(|column| column.norm_squared());
        let longest =
            lengths.enumerate().fold(
                (0, -1.0),
                |best, (j, length)| {
                    if length > best.1 { (j, length) } else { best }
                },
            );
        let unit = rest.column(longest.0).normalize();
        rest -= &unit * (unit.transpose() * &rest);
        found.copy_from(&unit);
    }
    basis
}

fn singular(rank: usize, dof: usize, x: &DVector<f64>) -> CoordinatesError {
    CoordinatesError::Singular {
        rank,
        dof,
        configuration: super::error::list(x),
    }
}
