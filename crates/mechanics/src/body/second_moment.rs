//! The 4x4 second moment of inertia, damping and stiffness.

use std::iter::Sum;
use std::ops::{Add, Mul, Sub};

use fly_lie::SE3;
use fly_lie::inner_product::{twist_energy, twist_energy_gradient};
use fly_lie::operators::{angular, bracket, hat_matrix3, hat3, hat6, vee_matrix3, vee_matrix6};
use nalgebra::{Matrix3, Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

/// The second moment of weighted points, `sum k_p [h_p; 1] [h_p; 1]^T`: the matrix M', D' or K' of a mass, damping or
/// stiffness distribution, with weights in kg, N s/m or N/m. Konz (4.71), which prints the off-diagonal blocks exchanged.
///
/// ```text
/// X' = [[Wed(P), k h], [k hᵀ, k]]      P the moment about the frame's origin, h the centre, k the total weight
/// Vee(X') = [[k I, k hat(h)ᵀ], [k hat(h), P]]
/// ```
///
/// The moment `P` of a mass distribution is its moment of inertia. Nothing is checked here, since a matched K' may be
/// indefinite; [`PseudoInertia`](crate::PseudoInertia) checks the conditions on mass distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondMoment<T: RealField + Copy>(Matrix4<T>);

/// # Construction
impl<T: RealField + Copy> SecondMoment<T> {
    /// From the total weight, the centre (m) and the moment about that centre, in body axes.
    pub fn from_center(weight: T, center: Vector3<T>, moment_about_center: Matrix3<T>) -> Self {
        let second = hat_matrix3(&moment_about_center) + center * center.transpose() * weight;
        Self::assemble(weight, center, second)
    }

    /// From the total weight, the centre (m) and the moment about the frame's origin, in body axes.
    pub fn from_origin(weight: T, center: Vector3<T>, moment_about_origin: Matrix3<T>) -> Self {
        Self::assemble(weight, center, hat_matrix3(&moment_about_origin))
    }

    /// From points: each a weight and a position (m) in the frame.
    pub fn from_points(points: impl IntoIterator<Item = (T, Vector3<T>)>) -> Self {
        let mut sum = Matrix4::zeros();
        for (weight, point) in points {
            let h = point.push(T::one());
            sum += h * h.transpose() * weight;
        }
        Self(sum)
    }

    /// From its 4x4 matrix.
    pub fn from_matrix4(matrix: Matrix4<T>) -> Self {
        Self(matrix)
    }

    fn assemble(weight: T, center: Vector3<T>, second: Matrix3<T>) -> Self {
        Self::of_moments(weight, center * weight, second)
    }

    /// From the moments of order 0, 1 and 2 about the origin.
    pub(super) fn of_moments(weight: T, first: Vector3<T>, second: Matrix3<T>) -> Self {
        let mut matrix = Matrix4::zeros();
        matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&second);
        matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(&first);
        matrix
            .fixed_view_mut::<1, 3>(3, 0)
            .copy_from(&first.transpose());
        matrix[(3, 3)] = weight;
        Self(matrix)
    }
}

/// # Change of frame
impl<T: RealField + Copy> SecondMoment<T> {
    /// The same distribution in frame b, whose pose in the present frame a is `pose`, Konz (4.75), (4.76): `G^-1 X' G^-T`.
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use fly_mechanics::SecondMoment;
    /// use nalgebra::{Vector3, Vector6};
    ///
    /// let distribution = SecondMoment::from_points([(2.0, Vector3::x()), (0.5, Vector3::new(0.0, 1.0, 3.0))]);
    /// let G = SE3::exp(&Vector6::new(0.1, 0.4, -0.3, 1.0, 0.2, -0.5));
    /// let other = distribution.in_frame(&G);
    ///
    /// // The 6x6 matrix changes with the adjoint.
    /// let Ad = G.adjoint();
    /// assert!((other.matrix6() - Ad.transpose() * distribution.matrix6() * Ad).norm() < 1e-13);
    /// // And back.
    /// assert!((other.placed(&G).matrix4() - distribution.matrix4()).norm() < 1e-13);
    /// ```
    #[must_use]
    pub fn in_frame(&self, pose: &SE3<T>) -> Self {
        self.placed(&pose.inverse())
    }

    /// The distribution at this pose in another frame, expressed there: `G X' G^T`, the inverse of [`in_frame`](Self::in_frame).
    #[must_use]
    pub fn placed(&self, pose: &SE3<T>) -> Self {
        let G = pose.matrix();
        Self(G * self.0 * G.transpose())
    }
}

/// The sum of two distributions in the same frame.
impl<T: RealField + Copy> Add for SecondMoment<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// The difference of two distributions, for example after cutting a hole.
impl<T: RealField + Copy> Sub for SecondMoment<T> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// The same distribution with all weights scaled.
impl<T: RealField + Copy> Mul<T> for SecondMoment<T> {
    type Output = Self;

    fn mul(self, factor: T) -> Self {
        Self(self.0 * factor)
    }
}

/// The sum of all distributions in the same frame.
impl<T: RealField + Copy> Sum for SecondMoment<T> {
    fn sum<I: Iterator<Item = Self>>(moments: I) -> Self {
        Self(moments.map(|moment| moment.0).sum())
    }
}

/// # Access
impl<T: RealField + Copy> SecondMoment<T> {
    /// The 4x4 matrix X'.
    pub fn matrix4(&self) -> &Matrix4<T> {
        &self.0
    }

    /// The 6x6 matrix `Vee(X')`, Konz (4.55b): for twists `[v; omega]` of the frame, `xi^T Vee(X') xi` is the weighted sum of
    /// squared point velocities.
    pub fn matrix6(&self) -> Matrix6<T> {
        vee_matrix6(&self.0)
    }

    /// The total weight: mass (kg), damping (N s/m) or stiffness (N/m).
    pub fn weight(&self) -> T {
        self.0[(3, 3)]
    }

    /// The weighted mean of the points (m); the origin if the total weight is zero.
    pub fn center(&self) -> Vector3<T> {
        if self.weight() == T::zero() {
            Vector3::zeros()
        } else {
            self.0.fixed_view::<3, 1>(0, 3) / self.weight()
        }
    }

    /// The moment about the frame's origin: for mass, the moment of inertia (kg m²).
    pub fn moment_about_origin(&self) -> Matrix3<T> {
        vee_matrix3(&self.second())
    }

    /// The moment about the centre.
    pub fn moment_about_center(&self) -> Matrix3<T> {
        vee_matrix3(&self.second_about_center())
    }

    /// The moment about a point (m), by Steiner's theorem: `P + k (d . d I - d d^T)` with the moment `P` about the centre and the
    /// distance `d`.
    pub fn moment_about(&self, point: &Vector3<T>) -> Matrix3<T> {
        let d = self.center() - point;
        self.moment_about_center() + vee_matrix3(&(d * d.transpose() * self.weight()))
    }

    /// The upper left block, `Wed(P)`: the points' second moments about the frame's origin.
    pub fn second(&self) -> Matrix3<T> {
        self.0.fixed_view::<3, 3>(0, 0).into_owned()
    }

    /// The points' second moments about the centre.
    pub fn second_about_center(&self) -> Matrix3<T> {
        let h = self.center();
        self.second() - h * h.transpose() * self.weight()
    }
}

/// # Energies and forces of a moving distribution
impl<T: RealField + Copy> SecondMoment<T> {
    /// `1/2 xi^T Vee(X') xi`, Konz (4.70a), (4.70c): the kinetic energy of mass (J), or the dissipation function of dampers (W),
    /// which is half the power that they dissipate.
    pub fn energy(&self, twist: &Vector6<T>) -> T {
        twist.dot(&(self.matrix6() * twist)) * convert::<f64, T>(0.5)
    }

    /// `1/2 sum k_p |r_p''|²`, Konz (4.70b): the Gibbs-Appell acceleration energy, including its part without `xi_dot`.
    ///
    /// Konz (4.21), (4.22) print `ad` of the acceleration where `ad` of the twist is correct.
    pub fn acceleration_energy(&self, twist: &Vector6<T>, acceleration: &Vector6<T>) -> T {
        let W = hat6(twist);
        twist_energy(acceleration, &(W * W), &self.0)
    }

    /// `f = Vee(X') xi_dot + c`, Konz (4.72c): the gradient of the [`acceleration_energy`](Self::acceleration_energy), for mass
    /// the inertia wrench.
    pub fn inertial_force(&self, twist: &Vector6<T>, acceleration: &Vector6<T>) -> Vector6<T> {
        let W = hat6(twist);
        twist_energy_gradient(acceleration, &(W * W), &self.0)
    }

    /// The connection coefficients `Gamma_ijk`, Konz (4.18), (4.19), at `[i][(j, k)]`: `f_i = M_ij xi_dot^j + Gamma_ijk xi^j xi^k`.
    ///
    /// ```
    /// use fly_mechanics::SecondMoment;
    /// use nalgebra::{Vector3, Vector6};
    ///
    /// let mass = SecondMoment::from_points([(2.0, Vector3::x()), (0.5, Vector3::new(0.0, 1.0, 3.0))]);
    /// let xi = Vector6::new(0.1, 0.4, -0.3, 1.0, 0.2, -0.5);
    /// let c = mass.connection_coefficients().map(|row| xi.dot(&(row * xi)));
    /// assert!((Vector6::from(c) - mass.inertial_force(&xi, &Vector6::zeros())).norm() < 1e-14);
    /// ```
    pub fn connection_coefficients(&self) -> [Matrix6<T>; 6] {
        let M = self.matrix6();
        let e = Matrix6::identity();
        let unit = |i: usize| e.column(i).into_owned();
        // gamma_ij^s M_sk
        let lowered = |i, j, k| bracket(&unit(i), &unit(j)).dot(&M.column(k));
        std::array::from_fn(|i| {
            Matrix6::from_fn(|j, k| {
                (lowered(i, j, k) + lowered(i, k, j) - lowered(j, k, i)) * convert(0.5)
            })
        })
    }

    /// The skew-symmetric matrix `C(M', xi)` of Konz (5.85h), for which `C xi = -ad(xi)^T Vee(M') xi` and, for a body whose twist
    /// is `xi`, `dM/dt - 2 C` is skew-symmetric in any coordinates:
    ///
    /// ```text
    /// [[m hat(ω), -hat(ω) hat(m s)], [hat(m s) hat(ω), hat(Wed(Θ) ω)]]
    /// ```
    pub fn coriolis_matrix(&self, xi: &Vector6<T>) -> Matrix6<T> {
        let w = angular(xi);
        let W = hat3(&w);
        let S = hat3(&self.0.fixed_view::<3, 1>(0, 3).into_owned());
        let mut C = Matrix6::zeros();
        C.fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&(W * self.weight()));
        C.fixed_view_mut::<3, 3>(0, 3).copy_from(&-(W * S));
        C.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * W));
        C.fixed_view_mut::<3, 3>(3, 3)
            .copy_from(&hat3(&(self.second() * w)));
        C
    }
}
