//! Principal axes.

use fly_lie::{SE3, SpecialSvd};
use nalgebra::{RealField, Vector3};

use super::PseudoInertia;

/// The frame in which a body's inertia is diagonal.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::{InertiaError, PseudoInertia, SecondMoment};
/// use nalgebra::Vector6;
///
/// let plate = PseudoInertia::new(SecondMoment::<f64>::solid_box(1.2, [0.1, 0.5, 0.3]))?;
/// let tilted = plate.placed(&SE3::exp(&Vector6::new(0.3, 0.0, 1.0, 0.2, -0.5, 2.0)));
/// let principal = tilted.principal();
/// assert!((principal.moments[0] - 0.1 * (0.01 + 0.09)).abs() < 1e-15, "about its longest side");
///
/// // Seen from there, it is the one with the ordered, diagonal moments about the origin.
/// let inertia = tilted.in_frame(&principal.pose).inertia_about_origin();
/// assert!((inertia.diagonal() - principal.moments).norm() < 1e-15);
/// assert!((inertia.sum() - principal.moments.sum()).abs() < 1e-15);
/// # Ok::<(), InertiaError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalInertia<T: RealField + Copy> {
    /// The pose of the principal frame in the body frame: its origin is the centre of mass, its axes the principal axes.
    pub pose: SE3<T>,
    /// The moments about these axes in ascending order, kg m².
    pub moments: Vector3<T>,
}

/// # Principal axes
impl<T: RealField + Copy> PseudoInertia<T> {
    /// The principal axes and moments. If two moments are equal, the axes are not unique.
    pub fn principal(&self) -> PrincipalInertia<T> {
        let S = self.second_moment().second_about_center();
        // The second moment is symmetric and positive semidefinite: the singular vectors are its axes, and the sums of two
        // singular values the moments of inertia. Its entries are finite, as checked before.
        let svd = SpecialSvd::new(&S).unwrap_or(SpecialSvd {
            left: fly_lie::SO3::identity(),
            values: S.diagonal(),
            right: fly_lie::SO3::identity(),
        });
        PrincipalInertia {
            pose: SE3::new(svd.left, self.center_of_mass()),
            moments: svd.eigenvalues(),
        }
    }

    /// The radii of gyration about the [principal](Self::principal) axes, m: the moments are those of rings of these radii.
    pub fn radii_of_gyration(&self) -> Vector3<T> {
        let mass = self.mass();
        self.principal()
            .moments
            .map(|moment| (moment / mass).sqrt())
    }
}
