//! The inertia of a rigid body, validated.

use std::ops::Add;

use fly_lie::SE3;
use nalgebra::{Matrix3, Matrix6, RealField, Vector3, convert};

use super::inertia_error::{check_moments, check_numbers};
use super::{InertiaError, SecondMoment};

/// The mass distribution of a rigid body, M' of Konz (4.71a): a [`SecondMoment`] of some distribution of positive mass.
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

/// # Other scalars
impl PseudoInertia<f64> {
    /// The same inertia in another scalar type.
    pub fn cast<T: RealField + Copy>(&self) -> PseudoInertia<T> {
        PseudoInertia(SecondMoment::from_matrix4(self.0.matrix4().map(convert)))
    }
}

/// # Construction
impl<T: RealField + Copy> PseudoInertia<T> {
    /// The inertia of a mass distribution (kg): of particles, of a solid, or of a sum of them.
    ///
    /// ```
    /// use fly_lie::{SE3, SO3};
    /// use fly_mechanics::{InertiaError, PseudoInertia, SecondMoment};
    /// use nalgebra::Vector3;
    ///
    /// // A plate with a hole, and a motor that stands on it.
    /// let plate = SecondMoment::solid_box(0.8, [0.3, 0.2, 0.004]);
    /// let hole = SecondMoment::solid_cylinder(0.1, 0.03, 0.004);
    /// let motor = SecondMoment::solid_cylinder(0.2, 0.015, 0.03);
    /// let motor = motor.placed(&SE3::new(SO3::identity(), Vector3::new(0.1, 0.0, 0.017)));
    /// let body = PseudoInertia::new(plate - hole + motor)?;
    /// assert!((body.mass() - 0.9_f64).abs() < 1e-15);
    ///
    /// // Particles on a line do not resist a turn about it.
    /// let line = SecondMoment::from_points((0..3).map(|i| (1.0, Vector3::x() * f64::from(i))));
    /// let error = PseudoInertia::new(line).unwrap_err();
    /// assert!(matches!(error, InertiaError::NotPositive { .. }));
    /// # Ok::<(), InertiaError<f64>>(())
    /// ```
    ///
    /// # Errors
    /// See [`InertiaError`]. The triangle inequality may hold with equality (a flat plate), to a relative 1e-9.
    pub fn new(moment: SecondMoment<T>) -> Result<Self, InertiaError<T>> {
        InertiaError::check(&moment)?;
        Ok(Self(moment))
    }

    /// A point mass (kg) at this position (m), without moment of inertia about its centre.
    ///
    /// A [`Model`](crate::multibody::Model) accepts it if its joints only translate it, or in addition to other inertia. A [`FreeBody`] with only
    /// this mass has no angular acceleration, whatever the torque.
    ///
    /// ```
    /// use fly_mechanics::{InertiaError, PseudoInertia};
    /// use nalgebra::Vector3;
    ///
    /// // Two particles have the moment of inertia 2 m r² across their line.
    /// let [a, b] = [0.5, -0.5].map(|x| PseudoInertia::point_mass(2.0, Vector3::new(x, 0.0, 0.0)));
    /// let both = a? + b?;
    /// assert_eq!(both.inertia_about_center().diagonal(), Vector3::new(0.0, 1.0, 1.0));
    /// # Ok::<(), InertiaError<f64>>(())
    /// ```
    ///
    /// [`FreeBody`]: crate::FreeBody
    ///
    /// # Errors
    /// [`InertiaError::MassNotFinite`], [`InertiaError::MassNotPositive`], [`InertiaError::CenterNotFinite`].
    pub fn point_mass(mass: T, place: Vector3<T>) -> Result<Self, InertiaError<T>> {
        check_numbers(mass, &place, &Matrix3::zeros())?;
        Ok(Self(SecondMoment::from_points([(mass, place)])))
    }

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

    /// The same from the moment of inertia about the origin of the body frame.
    ///
    /// # Errors
    /// As [`PseudoInertia::from_center`]; the check applies to the moment about the centre of mass.
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

/// # Change of frame and sum
///
/// The result of a valid inertia is valid.
impl<T: RealField + Copy> PseudoInertia<T> {
    /// The same body in frame b, whose pose in the present frame a is `pose`, Konz (4.75): `G^-1 M' G^-T`, and for the 6x6 matrix
    /// `Ad(G)^T M Ad(G)`.
    #[must_use]
    pub fn in_frame(&self, pose: &SE3<T>) -> Self {
        Self(self.0.in_frame(pose))
    }

    /// The body at this pose in another frame, expressed there: `G M' G^T`, the inverse of [`in_frame`](Self::in_frame).
    #[must_use]
    pub fn placed(&self, pose: &SE3<T>) -> Self {
        Self(self.0.placed(pose))
    }
}

/// Two bodies fixed to each other, both in the same frame.
impl<T: RealField + Copy> Add for PseudoInertia<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// # Access
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

    /// The moment of inertia about a point of the body (m, body coordinates), kg m²; Steiner's theorem.
    pub fn inertia_about(&self, point: &Vector3<T>) -> Matrix3<T> {
        self.0.moment_about(point)
    }
}
