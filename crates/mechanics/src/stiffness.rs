//! Any number of springs between two frames as one potential.

use fly_lie::inner_product::distance_squared;
use fly_lie::operators::{double_vee6, vee_matrix6};
use fly_lie::{PoseFit, PoseFitError, SE3};
use nalgebra::{Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

use crate::SecondMoment;

/// A linear zero-length spring between a point of frame b and a point of frame a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointSpring<T: RealField + Copy> {
    /// The stiffness, N/m; negative for a repelling spring.
    pub stiffness: T,
    /// Its end on the body, in frame b, m.
    pub point: Vector3<T>,
    /// Its other end, in frame a, m.
    pub anchor: Vector3<T>,
}

/// The potential of springs that pull frame b, with the pose G in frame a, towards the pose `G_R`, Konz (4.37),
/// (4.70d):
///
/// ```text
/// V(G) = V₀ + 1/2 |(G - G_R)ᵀ|²_K'        f = ∇V = vee2((I - G⁻¹ G_R) K')
/// ```
///
/// Seventeen numbers represent any set of springs: a pose of least energy, that energy `V₀`, and a [`SecondMoment`] K' with the
/// total stiffness, the centre of stiffness and the moment of stiffness. K' is the sum over the springs' points if all springs are
/// relaxed at `G_R`; if they are preloaded against each other, K' may be indefinite although the Hessian at the minimum,
/// `Vee(K')`, is not.
///
/// For dampers a [`SecondMoment`] of their points suffices: D' with the force `Vee(D') xi`.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::{PointSpring, Stiffness};
/// use nalgebra::Vector3;
///
/// // A load in three ropes of rubber that spread downward from one hook.
/// let corners = [Vector3::new(0.3, 0.0, 0.0), Vector3::new(-0.2, 0.2, 0.0), Vector3::new(-0.2, -0.2, 0.0)];
/// let springs = corners.map(|point| PointSpring { stiffness: 50.0, point, anchor: point * 0.1 + Vector3::z() });
/// let stiffness = Stiffness::from_springs(&springs)?;
///
/// // It rests level, below the hook and just at its height; the ropes keep some tension.
/// let rest = stiffness.minimum();
/// assert!((rest.translation - Vector3::new(-0.03, 0.0, 1.0)).norm() < 0.1);
/// assert!(stiffness.force(rest).norm() < 1e-13);
/// assert!(stiffness.residual_energy() > 0.0);
/// assert!(stiffness.energy(&SE3::identity()) > stiffness.residual_energy());
/// # Ok::<(), fly_mechanics::StiffnessError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness<T: RealField + Copy> {
    moment: SecondMoment<T>,
    minimum: SE3<T>,
    residual_energy: T,
}

/// Why springs have no pose of least energy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StiffnessError<T: RealField + Copy> {
    /// Their stiffnesses sum to zero or less, so that the potential has no minimum.
    #[error("the springs' stiffnesses must sum to a positive number, found {stiffness} N/m")]
    NotPositive {
        /// The sum, N/m.
        stiffness: T,
    },
    /// A stiffness or a coordinate is not finite, or a sum of their products is not.
    #[error("the springs' stiffnesses and coordinates must be finite, and so must their moments")]
    NotFinite,
}

/// # Construction
impl<T: RealField + Copy> Stiffness<T> {
    /// For springs that are all relaxed at the same pose, or for a controller: the minimum `G_R`, and K'.
    pub fn new(minimum: SE3<T>, moment: SecondMoment<T>) -> Self {
        Self {
            moment,
            minimum,
            residual_energy: T::zero(),
        }
    }

    /// For any springs, Konz (4.28) to (4.38).
    ///
    /// The pose of least energy is a global minimum, the [`PoseFit`] of the springs' ends. It is unique if `Pi_s`, the [moment
    /// about the centre](SecondMoment::moment_about_center) of [`moment`](Self::moment), is positive definite. Fewer than three
    /// springs, or points on a line, leave a free direction; it is then one of the minima.
    ///
    /// # Errors
    /// See [`StiffnessError`].
    pub fn from_springs(springs: &[PointSpring<T>]) -> Result<Self, StiffnessError<T>> {
        let points = springs
            .iter()
            .map(|spring| (spring.stiffness, spring.point, spring.anchor));
        let fit = PoseFit::solve(points)?;
        Ok(Self {
            moment: SecondMoment::from_center(fit.weight, fit.center, fit.rotation_stiffness),
            minimum: fit.pose,
            residual_energy: fit.loss,
        })
    }
}

impl<T: RealField + Copy> From<PoseFitError<T>> for StiffnessError<T> {
    fn from(error: PoseFitError<T>) -> Self {
        match error {
            PoseFitError::NotPositive { weight } => Self::NotPositive { stiffness: weight },
            _ => Self::NotFinite,
        }
    }
}

/// # Parameters
impl<T: RealField + Copy> Stiffness<T> {
    /// K': the total stiffness, the centre of stiffness in frame b, and the moment of stiffness. [`SecondMoment::matrix6`] is the
    /// Hessian at the minimum, Konz (4.40).
    pub fn moment(&self) -> &SecondMoment<T> {
        &self.moment
    }

    /// `G_R`, the pose of least energy.
    pub fn minimum(&self) -> &SE3<T> {
        &self.minimum
    }

    /// `V₀`, the energy that remains in the springs at the minimum, J.
    pub fn residual_energy(&self) -> T {
        self.residual_energy
    }
}

/// # Energy and force
impl<T: RealField + Copy> Stiffness<T> {
    /// The potential energy V, J.
    pub fn energy(&self, pose: &SE3<T>) -> T {
        let (G, G_R) = (pose.matrix().transpose(), self.minimum.matrix().transpose());
        let stretched: T = distance_squared(&G, &G_R, self.moment.matrix4());
        self.residual_energy + stretched * convert(0.5)
    }

    /// `f = ∇V`, Konz (4.39), (4.72a): the force on the left-hand side, at the origin of frame b; the springs' wrench on the body
    /// is its negative.
    pub fn force(&self, pose: &SE3<T>) -> Vector6<T> {
        let error = Matrix4::identity() - self.error(pose);
        double_vee6(&(error * self.moment.matrix4()))
    }

    /// `H_ij = d_j d_i V`, Konz (4.30), symmetric if the force is zero: the change of `force` along the twist `xi` is `H xi`.
    ///
    /// The print has the upper right block transposed, which contradicts its own (4.34).
    pub fn hessian(&self, pose: &SE3<T>) -> Matrix6<T> {
        vee_matrix6(&(self.error(pose) * self.moment.matrix4()))
    }

    /// `G⁻¹ G_R`
    fn error(&self, pose: &SE3<T>) -> Matrix4<T> {
        (pose.inverse() * self.minimum).matrix()
    }
}
