//! Wahba's problem, solved by the minimum of an attitude potential.

use nalgebra::{Matrix3, RealField, Vector3, convert};

use crate::{AttitudePotential, NotInGroup, SO3};

/// The solution of Wahba's problem: the attitude that best fits measured directions.
///
/// ```
/// use fly_lie::{SO3, Wahba};
/// use nalgebra::Vector3;
///
/// // Up and north, seen from a body.
/// let R = SO3::exp(&Vector3::new(0.2, -0.4, 1.1));
/// let seen = [Vector3::z(), Vector3::y()].map(|known| (1.0, R.inverse().act(&known), known));
/// let fit = Wahba::solve(seen)?;
/// assert!((fit.rotation.matrix() - R.matrix()).norm() < 1e-14);
/// assert!(fit.stiffness > 0.5 && fit.loss < 1e-14);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wahba<T: RealField + Copy> {
    /// The `R` that minimises the loss.
    pub rotation: SO3<T>,
    /// `1/2 Σ w |r - R b|²`
    pub loss: T,
    /// `λ₁` of Konz (A.142): the stiffness of the fit about its least certain axis. Zero if the rotation is not unique, as for a single
    /// direction.
    pub stiffness: T,
}

impl<T: RealField + Copy> Wahba<T> {
    /// Fits observations `(weight, b, r)`: the direction `b` in the body, the same direction `r` in the reference frame.
    ///
    /// The loss is the attitude potential with `P = Σ w b rᵀ` plus a constant. Without observations the rotation is the
    /// identity.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`], also if sums overflow.
    pub fn solve(
        observations: impl IntoIterator<Item = (T, Vector3<T>, Vector3<T>)>,
    ) -> Result<Self, NotInGroup<T>> {
        let mut P = Matrix3::zeros();
        let mut constant = T::zero();
        for (weight, b, r) in observations {
            P += b * r.transpose() * weight;
            constant += weight * (b.norm_squared() + r.norm_squared()) * convert(0.5);
        }
        let potential = AttitudePotential::new(P)?;
        let rotation = if P.iter().all(T::is_zero) {
            SO3::identity()
        } else {
            potential.minimum()
        };
        let loss = constant + potential.value(&rotation);
        if !loss.is_finite() {
            return Err(NotInGroup::NotFinite);
        }
        Ok(Self {
            rotation,
            loss: loss.max(T::zero()),
            stiffness: potential.eigenvalues().x,
        })
    }
}
