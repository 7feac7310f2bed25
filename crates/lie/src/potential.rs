//! An attitude potential and all its critical points (Konz A.4.4).

use nalgebra::{Matrix3, RealField, Vector3, Vector4, convert};

use crate::operators::{double_vee3, vee_matrix3};
use crate::{NotInGroup, SO3, SpecialSvd};

/// The function `V(R) = -tr(P R)` on the rotations, Konz (A.137).
///
/// ```
/// use fly_lie::{AttitudePotential, CriticalKind, SO3};
/// use nalgebra::{Matrix3, Vector3};
///
/// let V = AttitudePotential::new(Matrix3::from_diagonal(&Vector3::new(3.0, 2.0, 1.0)))?;
/// assert!((V.minimum().matrix() - Matrix3::identity()).norm() < 1e-15);
/// let kinds: Vec<_> = V.critical_sets(1e-12).map(|set| set.kind).collect();
/// use CriticalKind::{Maximum, Minimum, Saddle};
/// assert_eq!(kinds, [Minimum, Saddle, Saddle, Maximum]);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttitudePotential<T: RealField + Copy> {
    parameter: Matrix3<T>,
    svd: SpecialSvd<T>,
}

impl<T: RealField + Copy> AttitudePotential<T> {
    /// The potential with the parameter `P`, any finite matrix.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`].
    pub fn new(P: Matrix3<T>) -> Result<Self, NotInGroup<T>> {
        let svd = SpecialSvd::new(&P)?;
        Ok(Self { parameter: P, svd })
    }

    /// `V(R) = -tr(P R)`, Konz (A.137).
    pub fn value(&self, R: &SO3<T>) -> T {
        -(self.parameter * R.matrix()).trace()
    }

    /// `vee2(P R)`, Konz (A.140): `V_dot = omega . gradient` with the body's angular velocity.
    ///
    /// ```
    /// use fly_lie::{AttitudePotential, SO3};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // A turn about the stiffest axis: the torque that it takes.
    /// let V = AttitudePotential::new(Matrix3::from_diagonal(&Vector3::new(3.0, 2.0, 1.0)))?;
    /// let R = SO3::exp(&(Vector3::z() * 0.1_f64));
    /// assert!((V.gradient(&R) - Vector3::z() * 5.0 * 0.1_f64.sin()).norm() < 1e-15);
    /// assert!((V.value(&R) - (-1.0 - 5.0 * 0.1_f64.cos())).abs() < 1e-15);
    /// # Ok::<(), fly_lie::NotInGroup<f64>>(())
    /// ```
    pub fn gradient(&self, R: &SO3<T>) -> Vector3<T> {
        double_vee3(&(self.parameter * R.matrix()))
    }

    /// `H_ij = d_j d_i V = Vee(P R)ᵀ`, Konz (A.141), symmetric at critical points.
    pub fn hessian(&self, R: &SO3<T>) -> Matrix3<T> {
        vee_matrix3(&(self.parameter * R.matrix())).transpose()
    }

    /// `λ₁ <= λ₂ <= λ₃`, Konz (A.142): the Hessian's eigenvalues at the minimum.
    pub fn eigenvalues(&self) -> Vector3<T> {
        self.svd.eigenvalues()
    }

    /// A rotation with the smallest value, `Y Xᵀ`; unique if `λ₁ > 0`.
    pub fn minimum(&self) -> SO3<T> {
        self.svd.rotation().inverse()
    }

    /// `K = Vee(P R₀) = X Λ Xᵀ`, Konz (A.144): the stiffness at the minimum `R₀`.
    ///
    /// ```
    /// use fly_lie::AttitudePotential;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let V = AttitudePotential::new(Matrix3::from_diagonal(&Vector3::new(3.0, 2.0, 1.0)))?;
    /// assert!((V.eigenvalues() - Vector3::new(3.0, 4.0, 5.0)).norm() < 1e-15);
    /// assert!((V.stiffness() - Matrix3::from_diagonal(&V.eigenvalues())).norm() < 1e-14);
    /// assert!((V.stiffness() - V.hessian(&V.minimum())).norm() < 1e-14);
    /// # Ok::<(), fly_lie::NotInGroup<f64>>(())
    /// ```
    pub fn stiffness(&self) -> Matrix3<T> {
        let X = self.svd.left.matrix();
        X * Matrix3::from_diagonal(&self.eigenvalues()) * X.transpose()
    }

    /// All critical points, in ascending order of the value: one to four connected sets.
    ///
    /// With the quaternion `q` of `Yᵀ R X`, `V = Σ Vₖ qₖ²` is diagonal (A.143 at the four basis quaternions `w, x, y, z`), so the critical
    /// points are the unit spheres of its eigenspaces: isolated rotations, circles or spheres of them. Values that differ by at most
    /// `tolerance λ₃` count as equal.
    ///
    /// This covers every case of Konz A.4.4 and corrects two: for `λ₃ = λ₂ > λ₁` the saddle is at R₁ (the print says R₄), and the second
    /// diagonal entry of (A.143g) is `q_y² - q_x² - q_z²`, the entry (3, 1) of (A.143i) `-2 q_w q_y`.
    pub fn critical_sets(&self, tolerance: T) -> impl Iterator<Item = CriticalSet<T>> {
        let l = self.eigenvalues();
        let half: T = convert(0.5);
        let lowest = -(l.x + l.y + l.z) * half;
        let two: T = convert(2.0);
        let values = Vector4::new(
            lowest,
            lowest + two * l.x,
            lowest + two * l.y,
            lowest + two * l.z,
        );
        let svd = self.svd;
        let same = move |a: usize, b: usize| values[b] - values[a] <= two * tolerance * l.z;
        let mut first = 0;
        core::iter::from_fn(move || {
            if first == 4 {
                return None;
            }
            let mut last = first;
            while last < 3 && same(last, last + 1) {
                last += 1;
            }
            let kind = match (first, last) {
                (0, 3) => CriticalKind::Constant,
                (0, _) => CriticalKind::Minimum,
                (_, 3) => CriticalKind::Maximum,
                _ => CriticalKind::Saddle,
            };
            let mut eigenvalues = Vector3::zeros();
            let others = (0..4).filter(|&k| k != first);
            for (entry, k) in eigenvalues.iter_mut().zip(others) {
                let equal = first <= k && k <= last;
                *entry = if equal {
                    T::zero()
                } else {
                    (values[k] - values[first]) * half
                };
            }
            let set = CriticalSet {
                kind,
                dimension: last - first,
                value: values[first],
                eigenvalues,
                first,
                svd,
            };
            first = last + 1;
            Some(set)
        })
    }
}

/// The kind of a critical point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CriticalKind {
    /// The potential is smallest here; strictly so if the set is one rotation.
    Minimum,
    /// It increases in some directions and decreases in others.
    Saddle,
    /// It is largest here; strictly so if the set is one rotation.
    Maximum,
    /// It is constant: `P = 0`.
    Constant,
}

/// A connected set of critical points of an [`AttitudePotential`] with their common value and kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalSet<T: RealField + Copy> {
    /// Their kind.
    pub kind: CriticalKind,
    /// 0 for a single rotation, 1 for a circle, 2 for a sphere with opposite points identified, 3 for all rotations.
    pub dimension: usize,
    /// The potential.
    pub value: T,
    /// The Hessian's eigenvalues, in no particular order; `dimension` of them are zero.
    pub eigenvalues: Vector3<T>,
    first: usize,
    svd: SpecialSvd<T>,
}

impl<T: RealField + Copy> CriticalSet<T> {
    /// One rotation of the set.
    pub fn rotation(&self) -> SO3<T> {
        let mut q = Vector4::zeros();
        q[self.first] = T::one();
        self.back(&q)
    }

    /// The rotation of the set that is nearest to `R`; `None` if all of them are a half turn away.
    ///
    /// ```
    /// use fly_lie::{AttitudePotential, SO3};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // Two directions weigh the same: the largest value is had on a circle of rotations.
    /// let V = AttitudePotential::new(Matrix3::from_diagonal(&Vector3::new(2.0, 1.0, 1.0)))?;
    /// let largest = V.critical_sets(1e-12).last().filter(|set| set.dimension == 1);
    /// let R = SO3::<f64>::exp(&Vector3::new(1.0, 2.0, 0.5));
    /// let nearest = largest.and_then(|set| set.nearest(&R)).unwrap_or(R);
    /// let value: f64 = V.value(&nearest);
    /// assert!((value - 2.0).abs() < 1e-14 && V.gradient(&nearest).norm() < 1e-14);
    /// # Ok::<(), fly_lie::NotInGroup<f64>>(())
    /// ```
    pub fn nearest(&self, R: &SO3<T>) -> Option<SO3<T>> {
        let (X, Y) = (self.svd.left, self.svd.right);
        let mut q = (Y.inverse() * *R * X).to_quaternion();
        for k in 0..4 {
            if k < self.first || k > self.first + self.dimension {
                q[k] = T::zero();
            }
        }
        (q.norm_squared() > T::zero()).then(|| self.back(&q))
    }

    fn back(&self, q: &Vector4<T>) -> SO3<T> {
        self.svd.right * SO3::from_quaternion(q) * self.svd.left.inverse()
    }
}
