//! Linear drag of a body in resting air.

use fly_lie::operators::{angular, hat3, join};
use nalgebra::{Matrix3, Matrix6, RealField, Vector3, Vector6, convert};

use super::velocity_of_point;

/// Drag proportional to the velocity, along and about the body's axes: on a body whose centre of mass has the velocity `R v_c` it
/// exerts the force `-R diag(linear) v_c` at that point and the torque `-R diag(angular) omega`.
///
/// This is the rotor drag of multicopters: blade flapping causes a force proportional to the velocity in the rotor plane, nearly
/// independent of the thrust near hover (M. Faessler, A. Franchi, D. Scaramuzza, *Differential flatness of quadrotor dynamics subject to
/// rotor drag for accurate tracking of high-speed trajectories*, RA-L 3(2), 2018, (7), (9), with `B = diag(angular)`). Its `d_x, d_y, d_z`
/// are per mass (1/s); here they are times the mass. Its torque `A` proportional to the velocity, of rotors away from the plane of the
/// centre of mass, is not in this model: it would imply a force proportional to the angular velocity, with which position and heading are
/// no longer flat outputs. A [`Damper`](crate::multibody::Damper) has both, isotropically.
///
/// ```
/// use fly_mechanics::Drag;
/// use nalgebra::{Vector3, Vector6};
///
/// let drag = Drag::new(Vector3::new(0.3, 0.2, 0.0), Vector3::zeros())?;
/// let center = Vector3::zeros();
/// // What has to be overcome at 10 m/s forwards, and twice the dissipation function is the power that it takes.
/// let twist = Vector6::new(10.0, 0.0, 0.0, 0.0, 0.0, 0.0);
/// assert_eq!(drag.force(&twist, &center)[0], 3.0);
/// assert_eq!(2.0 * drag.dissipation(&twist, &center), 30.0);
/// # Ok::<(), fly_mechanics::DragError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag<T: RealField + Copy> {
    linear: Vector3<T>,
    angular: Vector3<T>,
}

/// Why coefficients do not define a drag.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the {part} drag must be three finite numbers that are not negative, found {value}: negative drag would add energy"
)]
pub struct DragError<T: RealField + Copy> {
    /// `linear`, `angular` or `quadratic`.
    pub part: &'static str,
    /// The invalid coefficient.
    pub value: T,
}

impl<T: RealField + Copy> DragError<T> {
    /// Checks the coefficients of a part.
    pub(crate) fn check(part: &'static str, numbers: &Vector3<T>) -> Result<(), Self> {
        let right = |number: &T| number.is_finite() && *number >= T::zero();
        match numbers.iter().copied().find(|number| !right(number)) {
            Some(value) => Err(Self { part, value }),
            None => Ok(()),
        }
    }
}

/// # Other scalars
impl Drag<f64> {
    /// The same drag in another scalar type.
    pub fn cast<T: RealField + Copy>(&self) -> Drag<T> {
        Drag {
            linear: self.linear.map(convert),
            angular: self.angular.map(convert),
        }
    }
}

/// # Construction
impl<T: RealField + Copy> Drag<T> {
    /// From the coefficients along (N s/m) and about (N m s) the body's axes.
    ///
    /// # Errors
    /// [`DragError`] for a number that is negative or not finite.
    pub fn new(linear: Vector3<T>, angular: Vector3<T>) -> Result<Self, DragError<T>> {
        DragError::check("linear", &linear)?;
        DragError::check("angular", &angular)?;
        Ok(Self { linear, angular })
    }
}

/// # Access
impl<T: RealField + Copy> Drag<T> {
    /// Along the body's axes, N s/m.
    pub fn linear(&self) -> &Vector3<T> {
        &self.linear
    }

    /// About the body's axes, N m s.
    pub fn angular(&self) -> &Vector3<T> {
        &self.angular
    }
}

/// # Force and power
///
/// For a body with the twist `[v; omega]`; `center` is its centre of mass in its frame, m.
impl<T: RealField + Copy> Drag<T> {
    /// `D xi`, a left-hand side: the resisting wrench `[f; tau]` at the body frame's origin, to be overcome.
    #[inline]
    pub fn force(&self, twist: &Vector6<T>, center: &Vector3<T>) -> Vector6<T> {
        let force = (self.linear).component_mul(&velocity_of_point(twist, center));
        let torque = self.angular.component_mul(&angular(twist));
        join(&force, &(center.cross(&force) + torque))
    }

    /// `D = [[L, L S^T], [S L, S L S^T + A]]` with `S = hat(center)`, 6x6, symmetric and positive semidefinite.
    pub fn matrix6(&self, center: &Vector3<T>) -> Matrix6<T> {
        let S = hat3(center);
        let L = Matrix3::from_diagonal(&self.linear);
        let A = Matrix3::from_diagonal(&self.angular);
        let mut D = Matrix6::zeros();
        D.fixed_view_mut::<3, 3>(0, 0).copy_from(&L);
        D.fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(L * S.transpose()));
        D.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * L));
        D.fixed_view_mut::<3, 3>(3, 3)
            .copy_from(&(S * L * S.transpose() + A));
        D
    }

    /// `R = 1/2 xi^T D xi`, W: half the power that it dissipates.
    pub fn dissipation(&self, twist: &Vector6<T>, center: &Vector3<T>) -> T {
        twist.dot(&self.force(twist, center)) * convert::<f64, T>(0.5)
    }
}
