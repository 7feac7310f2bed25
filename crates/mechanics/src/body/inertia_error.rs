//! Validation of inertias.

use nalgebra::{ComplexField, Matrix3, RealField, Vector3, convert};

use super::SecondMoment;
use crate::text::short;

/// Why an inertia is non-physical. Moments are about the centre of mass, in kg m².
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InertiaError<T: RealField + Copy> {
    /// The mass is not finite.
    #[error("the mass must be a finite number, found {mass}")]
    MassNotFinite {
        /// The mass, kg.
        mass: T,
    },
    /// The mass is zero or negative.
    #[error("the mass must be positive, found {mass} kg")]
    MassNotPositive {
        /// The mass, kg.
        mass: T,
    },
    /// A coordinate of the centre of mass is not finite.
    #[error("the centre of mass must be finite, found [{}, {}, {}]", center.x, center.y, center.z)]
    CenterNotFinite {
        /// The centre of mass, m.
        center: Vector3<T>,
    },
    /// An entry of the moment of inertia is not finite.
    #[error("the moments of inertia must be finite, found {entry}")]
    MomentNotFinite {
        /// The entry.
        entry: T,
    },
    /// The matrix is not symmetric.
    #[error(
        "the matrix of inertia must be symmetric, but entry ({row}, {column}) is {upper} and entry ({column}, {row}) is {lower}"
    )]
    NotSymmetric {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The entry above the diagonal.
        upper: T,
        /// Its mirror image.
        lower: T,
    },
    /// A principal moment is zero or negative.
    #[error(
        "the principal moments of inertia must be positive, found {}, {}, {} kg m^2 about the centre of mass",
        short(moments[0]), short(moments[1]), short(moments[2])
    )]
    NotPositive {
        /// The principal moments in ascending order.
        moments: [T; 3],
    },
    /// The largest principal moment exceeds the sum of the two others.
    #[error(
        "the largest principal moment of inertia must not exceed the sum of the two others, but {} > {} + {} kg m^2 about the centre of mass",
        short(moments[2]), short(moments[0]), short(moments[1])
    )]
    Triangle {
        /// The principal moments in ascending order.
        moments: [T; 3],
    },
}

/// # Checks
impl<T: RealField + Copy> InertiaError<T> {
    /// Checks that a distribution is one of positive mass: finite, symmetric, with positive moments that satisfy the triangle
    /// inequality.
    pub(super) fn check(moment: &SecondMoment<T>) -> Result<(), Self> {
        let X = moment.matrix4();
        let slack = X.amax() * slack::<T>();
        for (i, j) in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)] {
            check_mirrored(i, j, X[(i, j)], X[(j, i)], slack)?;
        }
        let inertia = moment.moment_about_center();
        check_numbers(moment.weight(), &moment.center(), &inertia)?;
        check_moments(&inertia)
    }
}

/// Relative tolerance of symmetry and of the triangle inequality: 1e-9, for moments written with few digits, or 32 units of
/// rounding.
fn slack<T: RealField + Copy>() -> T {
    convert::<f64, T>(1e-9).max(T::default_epsilon() * convert(32.0))
}

fn check_mirrored<T: RealField + Copy>(
    row: usize,
    column: usize,
    upper: T,
    lower: T,
    slack: T,
) -> Result<(), InertiaError<T>> {
    if (upper - lower).abs() > slack {
        return Err(InertiaError::NotSymmetric {
            row: row + 1,
            column: column + 1,
            upper,
            lower,
        });
    }
    Ok(())
}

pub(super) fn check_numbers<T: RealField + Copy>(
    mass: T,
    center: &Vector3<T>,
    inertia: &Matrix3<T>,
) -> Result<(), InertiaError<T>> {
    if !mass.is_finite() {
        return Err(InertiaError::MassNotFinite { mass });
    }
    if mass <= T::zero() {
        return Err(InertiaError::MassNotPositive { mass });
    }
    if !center.iter().all(ComplexField::is_finite) {
        return Err(InertiaError::CenterNotFinite { center: *center });
    }
    if let Some(entry) = inertia.iter().find(|x| !x.is_finite()) {
        return Err(InertiaError::MomentNotFinite { entry: *entry });
    }
    let slack = inertia.amax() * slack::<T>();
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        check_mirrored(i, j, inertia[(i, j)], inertia[(j, i)], slack)?;
    }
    Ok(())
}

pub(super) fn check_moments<T: RealField + Copy>(
    inertia: &Matrix3<T>,
) -> Result<(), InertiaError<T>> {
    let symmetric = (inertia + inertia.transpose()) * convert::<f64, T>(0.5);
    let eigenvalues = symmetric.symmetric_eigenvalues();
    let mut moments = [eigenvalues[0], eigenvalues[1], eigenvalues[2]];
    if moments[0] > moments[1] {
        moments.swap(0, 1);
    }
    if moments[1] > moments[2] {
        moments.swap(1, 2);
    }
    if moments[0] > moments[1] {
        moments.swap(0, 1);
    }
    // A matrix whose determinant underflows is not usable as positive definite.
    if moments[0] <= T::zero() || symmetric.try_inverse().is_none() {
        return Err(InertiaError::NotPositive { moments });
    }
    if moments[2] > (moments[0] + moments[1]) * (T::one() + slack()) {
        return Err(InertiaError::Triangle { moments });
    }
    Ok(())
}
