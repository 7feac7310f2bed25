//! Derivatives by dual numbers.

use nalgebra::allocator::Allocator;
use nalgebra::{DVector, DefaultAllocator, Dim, OMatrix, RealField};
use num_dual::{Dual64, HyperDual64, HyperHyperDual64};

/// A scalar that supports one more differentiation: `f64`, or the dual numbers over it for second and third derivatives.
///
/// A function generic over its scalar (`fn energy<T: RealField + Copy>(x: &DVector<T>) -> T`) can be passed wherever one
/// of `Differentiable::Dual` is required.
pub trait Differentiable: RealField + Copy + sealed::Sealed {
    /// The dual number over this scalar: [`Dual64`] for `f64`, [`HyperDual64`] for [`Dual64`], [`HyperHyperDual64`] for
    /// [`HyperDual64`].
    type Dual: RealField + Copy;

    /// Attaches a derivative to this value.
    fn with_derivative(self, derivative: Self) -> Self::Dual;

    /// Value and derivative.
    fn parts(dual: Self::Dual) -> (Self, Self);

    /// The real part.
    fn real(self) -> f64;
}

impl Differentiable for f64 {
    type Dual = Dual64;

    fn with_derivative(self, derivative: Self) -> Dual64 {
        Dual64::new(self, derivative)
    }

    fn parts(dual: Dual64) -> (Self, Self) {
        (dual.re, dual.eps)
    }

    fn real(self) -> f64 {
        self
    }
}

/// `(a + a' ε₁) + (b + b' ε₁) ε₂`
impl Differentiable for Dual64 {
    type Dual = HyperDual64;

    fn with_derivative(self, derivative: Self) -> HyperDual64 {
        HyperDual64::new(self.re, self.eps, derivative.re, derivative.eps)
    }

    fn parts(dual: HyperDual64) -> (Self, Self) {
        (
            Self::new(dual.re, dual.eps1),
            Self::new(dual.eps2, dual.eps1eps2),
        )
    }

    fn real(self) -> f64 {
        self.re
    }
}

/// `(a + ...) + (b + ...) ε₃`
impl Differentiable for HyperDual64 {
    type Dual = HyperHyperDual64;

    fn with_derivative(self, derivative: Self) -> HyperHyperDual64 {
        HyperHyperDual64::new(
            self.re,
            self.eps1,
            self.eps2,
            derivative.re,
            self.eps1eps2,
            derivative.eps1,
            derivative.eps2,
            derivative.eps1eps2,
        )
    }

    fn parts(dual: HyperHyperDual64) -> (Self, Self) {
        (
            Self::new(dual.re, dual.eps1, dual.eps2, dual.eps1eps2),
            Self::new(dual.eps3, dual.eps1eps3, dual.eps2eps3, dual.eps1eps2eps3),
        )
    }

    fn real(self) -> f64 {
        self.re
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for num_dual::Dual64 {}
    impl Sealed for num_dual::HyperDual64 {}
}

/// `f(x)` and its derivative in the direction `v`, `v^α ∂f/∂x^α`.
///
/// ```
/// use fly_mechanics::geometry::derivative_along;
/// use nalgebra::dvector;
///
/// let (value, slope) = derivative_along(|x| x.component_mul(x), &dvector![3.0, 1.0], &dvector![1.0, 0.0]);
/// assert_eq!((value, slope), (dvector![9.0, 1.0], dvector![6.0, 0.0]));
/// ```
pub fn derivative_along<S: Differentiable, R: Dim, C: Dim>(
    f: impl Fn(&DVector<S::Dual>) -> OMatrix<S::Dual, R, C>,
    x: &DVector<S>,
    v: &DVector<S>,
) -> (OMatrix<S, R, C>, OMatrix<S, R, C>)
where
    DefaultAllocator: Allocator<R, C>,
{
    parts(&f(&x.zip_map(v, S::with_derivative)))
}

/// Values and derivatives.
fn parts<S: Differentiable, R: Dim, C: Dim>(
    there: &OMatrix<S::Dual, R, C>,
) -> (OMatrix<S, R, C>, OMatrix<S, R, C>)
where
    DefaultAllocator: Allocator<R, C>,
{
    (
        there.map(|number| S::parts(number).0),
        there.map(|number| S::parts(number).1),
    )
}
