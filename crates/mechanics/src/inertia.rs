//! The inertia of a rigid body, checked to be one of real mass.

use nalgebra::{ComplexField, Matrix3, Matrix6, RealField, Vector3, convert};

use crate::SecondMoment;
use crate::text::short;

/// The mass distribution of a rigid body, M' of Konz (4.71a): a [`SecondMoment`] that some distribution of positive mass has.
///
/// ```
/// use fly_mechanics::{InertiaError, PseudoInertia};
/// use nalgebra::{Matrix3, Vector3};
///
/// let inertia = Matrix3::from_diagonal(&Vector3::new(0.012, 0.012, 0.022));
/// let body = PseudoInertia::from_center(1.0, Vector3::zeros(), inertia)?;
/// assert_eq!(body.mass(), 1.0);
///
/// // No distribution of mass has a moment larger than the sum of the two others.
/// let wrong = Matrix3::from_diagonal(&Vector3::new(0.012, 0.012, 0.030));
/// let error = PseudoInertia::from_center(1.0, Vector3::zeros(), wrong).unwrap_err();
/// assert!(matches!(error, InertiaError::Triangle { .. }));
/// # Ok::<(), InertiaError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudoInertia<T: RealField + Copy>(SecondMoment<T>);

/// Why numbers are not the inertia of a rigid body. Moments are about the centre of mass, in kg m².
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
        /// The entry that is not.
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

/// # Construction
impl<T: RealField + Copy> PseudoInertia<T> {
    /// From mass (kg), centre of mass (m) and moment of inertia about the centre of mass (kg m²), in body axes.
    ///
    /// # Errors
    /// See [`InertiaError`]. The triangle inequality may hold with equality (a flat plate), to a relative 1e-9.
    pub fn from_center(
        mass: T,
        center_of_mass: Vector3<T>,
        inertia: Matrix3<T>,
    ) -> Result<Self, InertiaError<T>> {
        check_numbers(mass, &center_of_mass, &inertia)?;
        check_moments(&inertia)?;
        Ok(Self(SecondMoment::from_center(
            mass,
            center_of_mass,
            inertia,
        )))
    }

    /// The same with the moment of inertia about the origin of the body frame.
    ///
    /// # Errors
    /// As [`PseudoInertia::from_center`]; what is checked is the moment about the centre of mass.
    pub fn from_origin(
        mass: T,
        center_of_mass: Vector3<T>,
        inertia: Matrix3<T>,
    ) -> Result<Self, InertiaError<T>> {
        check_numbers(mass, &center_of_mass, &inertia)?;
        let moment = SecondMoment::from_origin(mass, center_of_mass, inertia);
        check_moments(&moment.moment_about_center())?;
        Ok(Self(moment))
    }
}

/// # Reading
impl<T: RealField + Copy> PseudoInertia<T> {
    /// The second moment M'.
    pub fn second_moment(&self) -> &SecondMoment<T> {
        &self.0
    }

    /// The 6x6 spatial inertia `Vee(M')` for twists `[v; omega]` of the body frame, M of Konz (4.21).
    pub fn matrix6(&self) -> Matrix6<T> {
        self.0.matrix6()
    }

    /// The mass, kg.
    pub fn mass(&self) -> T {
        self.0.weight()
    }

    /// The centre of mass in the body frame, m.
    pub fn center_of_mass(&self) -> Vector3<T> {
        self.0.center()
    }

    /// The moment of inertia about the centre of mass, kg m².
    pub fn inertia_about_center(&self) -> Matrix3<T> {
        self.0.moment_about_center()
    }

    /// The moment of inertia about the origin of the body frame, kg m².
    pub fn inertia_about_origin(&self) -> Matrix3<T> {
        self.0.moment_about_origin()
    }
}

/// Relative slack of symmetry and of the triangle inequality, for moments written with few digits.
const SLACK: f64 = 1e-9;

fn check_numbers<T: RealField + Copy>(
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
    let slack = inertia.amax() * convert(SLACK);
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let (upper, lower) = (inertia[(i, j)], inertia[(j, i)]);
        if (upper - lower).abs() > slack {
            return Err(InertiaError::NotSymmetric {
                row: i + 1,
                column: j + 1,
                upper,
                lower,
            });
        }
    }
    Ok(())
}

fn check_moments<T: RealField + Copy>(inertia: &Matrix3<T>) -> Result<(), InertiaError<T>> {
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
    // A determinant that underflows is no positive definite matrix to compute with.
    if moments[0] <= T::zero() || symmetric.try_inverse().is_none() {
        return Err(InertiaError::NotPositive { moments });
    }
    if moments[2] > (moments[0] + moments[1]) * convert(1.0 + SLACK) {
        return Err(InertiaError::Triangle { moments });
    }
    Ok(())
}
