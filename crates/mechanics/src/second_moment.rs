//! The 4x4 form that inertia, damping and stiffness share.

use fly_lie::SE3;
use fly_lie::operators::{angular, vee_matrix3, vee_matrix4, wed_matrix3, wed3};
use nalgebra::{Matrix3, Matrix4, Matrix6, RealField, Vector3, Vector6};

/// The second moment of points with weights, `sum k_p [h_p; 1] [h_p; 1]^T`: the matrix M', D' or K' of a mass, damping or
/// stiffness distribution, with weights in kg, N s/m or N/m. Konz (4.71), which prints the off-diagonal blocks exchanged.
///
/// ```text
/// X' = [[Wed(P), k h], [k hᵀ, k]]      P the moment about the frame's origin, h the centre, k the total weight
/// Vee(X') = [[k I, k wed(h)ᵀ], [k wed(h), P]]
/// ```
///
/// The moment `P` of a mass distribution is its moment of inertia. Nothing is checked here, since a matched K' may be
/// indefinite; what is true of mass alone is checked by [`PseudoInertia`](crate::PseudoInertia).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondMoment<T: RealField + Copy>(Matrix4<T>);

/// # Construction
impl<T: RealField + Copy> SecondMoment<T> {
    /// From the total weight, the centre (m) and the moment about that centre, in body axes.
    pub fn from_center(weight: T, center: Vector3<T>, moment_about_center: Matrix3<T>) -> Self {
        let second = wed_matrix3(&moment_about_center) + center * center.transpose() * weight;
        Self::assemble(weight, center, second)
    }

    /// From the total weight, the centre (m) and the moment about the frame's origin, in body axes.
    pub fn from_origin(weight: T, center: Vector3<T>, moment_about_origin: Matrix3<T>) -> Self {
        Self::assemble(weight, center, wed_matrix3(&moment_about_origin))
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
        let first = center * weight;
        let mut matrix = Matrix4::zeros();
        matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&second);
        matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(&first);
        matrix
            .fixed_view_mut::<1, 3>(3, 0)
            .copy_from(&first.transpose());
        matrix[(3, 3)] = weight;
        Self(matrix)
    }

    /// The same distribution described in frame b, whose pose in the present frame a is `pose`: `G^-1 X' G^-T`.
    #[must_use]
    pub fn in_frame(&self, pose: &SE3<T>) -> Self {
        let inverse = pose.inverse().matrix();
        Self(inverse * self.0 * inverse.transpose())
    }
}

/// # Reading
impl<T: RealField + Copy> SecondMoment<T> {
    /// The 4x4 matrix X'.
    pub fn matrix4(&self) -> &Matrix4<T> {
        &self.0
    }

    /// The 6x6 matrix `Vee(X')`, Konz (4.55b): for twists `[v; omega]` of the frame, `xi^T Vee(X') xi` is the weighted sum of
    /// squared point velocities.
    pub fn matrix6(&self) -> Matrix6<T> {
        vee_matrix4(&self.0)
    }

    /// The total weight: mass (kg), damping (N s/m) or stiffness (N/m).
    pub fn weight(&self) -> T {
        self.0[(3, 3)]
    }

    /// The weighted mean of the points (m); the origin where the total weight is zero.
    pub fn center(&self) -> Vector3<T> {
        if self.weight() == T::zero() {
            Vector3::zeros()
        } else {
            self.0.fixed_view::<3, 1>(0, 3) / self.weight()
        }
    }

    /// The moment about the frame's origin: of mass, the moment of inertia (kg m²).
    pub fn moment_about_origin(&self) -> Matrix3<T> {
        vee_matrix3(&self.second())
    }

    /// The moment about the centre.
    pub fn moment_about_center(&self) -> Matrix3<T> {
        let h = self.center();
        vee_matrix3(&(self.second() - h * h.transpose() * self.weight()))
    }

    /// The upper left block, `Wed(P)`: the points' second moments about the frame's origin.
    pub fn second(&self) -> Matrix3<T> {
        self.0.fixed_view::<3, 3>(0, 0).into_owned()
    }
}

/// # Forces of a moving distribution
impl<T: RealField + Copy> SecondMoment<T> {
    /// The skew-symmetric matrix `C(M', xi)` of Konz (5.85h), for which `C xi = -ad(xi)^T Vee(M') xi` and, for a body whose twist
    /// is `xi`, `dM/dt - 2 C` is skew-symmetric in any coordinates:
    ///
    /// ```text
    /// [[m wed(ω), -wed(ω) wed(m s)], [wed(m s) wed(ω), wed(Wed(Θ) ω)]]
    /// ```
    pub fn coriolis_matrix(&self, xi: &Vector6<T>) -> Matrix6<T> {
        let w = angular(xi);
        let W = wed3(&w);
        let S = wed3(&self.0.fixed_view::<3, 1>(0, 3).into_owned());
        let mut C = Matrix6::zeros();
        C.fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&(W * self.weight()));
        C.fixed_view_mut::<3, 3>(0, 3).copy_from(&-(W * S));
        C.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * W));
        C.fixed_view_mut::<3, 3>(3, 3)
            .copy_from(&wed3(&(self.second() * w)));
        C
    }
}
