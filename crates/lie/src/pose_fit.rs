//! The pose of a body from the positions of some of its points.

use core::fmt;

use nalgebra::{Matrix3, RealField, Vector3, convert};

use crate::{NotInGroup, SE3, SO3, SpecialPolar, SpecialSvd};

/// The pose that best fits weighted points: minimises `1/2 Σ w |r + R h - p|²` over all poses `(r, R)`, Konz (4.4) to (4.6), the method of Kabsch and Umeyama
/// without scaling.
///
/// (4.4) prints it without the weights, and (4.5), (4.6) decompose `Σ w h pᵀ`; correct is the decomposition of the moment about both centres, (4.33).
///
/// The rotation is always proper. [`chirality`](Self::chirality) tells whether the points are a mirror image of the body, which no rigid motion can produce.
///
/// ```
/// use fly_lie::{Chirality, PoseFit, SE3};
/// use nalgebra::{Vector3, Vector6};
///
/// // Four markers of a body, as a camera sees them.
/// let markers = [Vector3::zeros(), Vector3::x(), Vector3::y() * 2.0, Vector3::z() * 0.5];
/// let pose = SE3::exp(&Vector6::new(1.0, 2.0, 3.0, 0.3, -1.0, 2.0));
/// let seen = markers.map(|h| (1.0, h, pose.act(&h)));
/// let fit = PoseFit::solve(seen)?;
/// assert!((fit.pose.matrix() - pose.matrix()).norm() < 1e-14);
/// assert_eq!(fit.chirality(1e-9), Chirality::Kept);
/// assert!(fit.residual(&markers[1], &seen[1].2).norm() < 1e-14);
///
/// // Taken for each other's mirror image: no rotation makes one of the other.
/// let mirrored = markers.map(|h| (1.0, h, Vector3::new(-h.x, h.y, h.z)));
/// assert_eq!(PoseFit::solve(mirrored)?.chirality(1e-9), Chirality::Mirrored);
/// # Ok::<(), fly_lie::PoseFitError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseFit<T: RealField + Copy> {
    /// From body coordinates to those of the observed points.
    pub pose: SE3<T>,
    /// `Σ w`
    pub weight: T,
    /// The weighted centre of the points in the body.
    pub center: Vector3<T>,
    /// The stiffness of the fit about each axis of the body: the Hessian of the loss with respect to rotation, about the centre. Its smallest eigenvalue is
    /// zero if the rotation is not unique, as for points on a line.
    pub rotation_stiffness: Matrix3<T>,
    /// `1/2 Σ w |r + R h - p|²`
    pub loss: T,
    /// The singular values of the points' scatter matrix, the last one with the sign of its determinant.
    spread: Vector3<T>,
}

/// Whether the points have the handedness of the body's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chirality {
    /// The same: a rotation maps one to the other.
    Kept,
    /// The opposite: a left hand observed for a right one, or two points exchanged.
    Mirrored,
    /// The points are coplanar, or nearly so: both are possible.
    Planar,
}

/// Why points have no best-fitting pose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoseFitError<T> {
    /// The weights sum to zero or less: there are no points, or the negative weights prevail.
    NotPositive {
        /// The sum.
        weight: T,
    },
    /// A weight or a coordinate is not finite, or a sum of their products is not.
    NotFinite,
}

impl<T: RealField> fmt::Display for PoseFitError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive { weight } => write!(
                f,
                "the weights of the points must sum to a positive number, found {weight}"
            ),
            Self::NotFinite => f.write_str(
                "the points' weights and coordinates must be finite, and so must their moments",
            ),
        }
    }
}

impl<T: RealField> core::error::Error for PoseFitError<T> {}

impl<T> From<NotInGroup<T>> for PoseFitError<T> {
    fn from(_: NotInGroup<T>) -> Self {
        Self::NotFinite
    }
}

impl<T: RealField + Copy> PoseFit<T> {
    /// Fits points `(w, h, p)`: `h` in the body, observed at `p`. For three points that are not collinear the pose is unique, unless they are mirrored.
    ///
    /// Weights may be negative, like those of repelling springs, as long as their sum is positive.
    ///
    /// # Errors
    /// See [`PoseFitError`].
    pub fn solve<P>(points: P) -> Result<Self, PoseFitError<T>>
    where
        P: IntoIterator<Item = (T, Vector3<T>, Vector3<T>)> + Clone,
    {
        let zero = (T::zero(), Vector3::zeros(), Vector3::zeros());
        let (weight, first_h, first_p) = (points.clone().into_iter())
            .fold(zero, |(k, first_h, first_p), (w, h, p)| {
                (k + w, first_h + h * w, first_p + p * w)
            });
        if !weight.is_finite() {
            return Err(PoseFitError::NotFinite);
        }
        if weight <= T::zero() {
            return Err(PoseFitError::NotPositive { weight });
        }
        let (h, p) = (first_h / weight, first_p / weight);
        // About both centres at once, so that no large numbers cancel.
        let products = points
            .clone()
            .into_iter()
            .map(|(w, body, seen)| (body - h) * (seen - p).transpose() * w);
        let svd = SpecialSvd::new(&products.sum::<Matrix3<T>>())?;
        let polar = SpecialPolar::from(svd);
        let rotation: SO3<T> = polar.rotation.inverse();
        let pose = SE3::new(rotation, p - rotation.act(&h));
        let half: T = convert(0.5);
        let loss = (points.into_iter()).fold(T::zero(), |sum, (w, body, seen)| {
            sum + w * (pose.act(&body) - seen).norm_squared() * half
        });
        if !loss.is_finite() {
            return Err(PoseFitError::NotFinite);
        }
        Ok(Self {
            pose,
            weight,
            center: h,
            rotation_stiffness: polar.left,
            loss,
            spread: svd.values,
        })
    }

    /// `r + R h - p`: the error of a point.
    pub fn residual(&self, body: &Vector3<T>, seen: &Vector3<T>) -> Vector3<T> {
        self.pose.act(body) - seen
    }

    /// The root of the weighted mean square of the residuals, in the unit of the points.
    pub fn root_mean_square(&self) -> T {
        let two: T = convert(2.0);
        (two * self.loss / self.weight).max(T::zero()).sqrt()
    }

    /// Whether the points have the handedness of the body's. For four points it is the sign of the signed volumes of (4.1),
    /// `<(r_q - r_p) x (r_s - r_p), r_t - r_p>`; this is their weighted sum over all points, the determinant of the scatter matrix. Its smallest singular value
    /// counts as zero up to `tolerance` times the largest.
    pub fn chirality(&self, tolerance: T) -> Chirality {
        let [largest, _, smallest] = self.spread.into();
        if smallest.abs() <= tolerance * largest {
            Chirality::Planar
        } else if smallest > T::zero() {
            Chirality::Kept
        } else {
            Chirality::Mirrored
        }
    }
}
