//! Coordinates, metrics and functions that the laws are tested on.

use fly_lie::SO3;
use fly_lie::attitude::{Euler, EulerSequence};
use fly_mechanics::geometry::{Basis, Coordinates, Symbols};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, Vector3, Vector6, convert, dmatrix, dvector};

/// The same coordinates without their closed forms: everything has to be differentiated.
pub struct Unknown<C>(pub C);

impl<C: Coordinates> Coordinates for Unknown<C> {
    fn config_dim(&self) -> usize {
        self.0.config_dim()
    }
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        self.0.constraint(x)
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        self.0.kinematic_matrix(x)
    }
}

/// A sphere of any radius, off its poles: three numbers, and two velocities along meridian and parallel. Nothing about it is constant.
#[derive(Clone, Copy)]
pub struct Sphere(pub f64);

impl Coordinates for Sphere {
    fn config_dim(&self) -> usize {
        3
    }
    fn dof(&self) -> usize {
        2
    }
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        dvector![x.norm_squared() - convert(self.0 * self.0)]
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let h = (x[0] * x[0] + x[1] * x[1]).sqrt();
        dmatrix![
            -x[0] * x[2] / h, -x[1] * x[2];
            -x[1] * x[2] / h,  x[0] * x[2];
            h,                 T::zero()
        ]
    }
}

/// Velocities that turn and stretch with the configuration.
pub struct Skewed(pub usize);

impl Basis for Skewed {
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let n = self.0;
        DMatrix::from_fn(n, n, |i, j| {
            let wave = (x[(i + 2 * j) % x.len()] + convert((i * j) as f64)).sin();
            let on: T = if i == j { T::one() } else { T::zero() };
            on + wave * convert(0.3 / (1.0 + i as f64 + j as f64))
        })
    }
}

/// A mass matrix that changes with the configuration.
pub fn metric<T: RealField + Copy>(dof: usize) -> impl Fn(&DVector<T>) -> DMatrix<T> {
    move |x| {
        let root = DMatrix::from_fn(dof, dof, |i, j| {
            let wave = (x[(2 * i + j) % x.len()] * convert(1.0 + i as f64)).cos();
            let on: f64 = if i == j { 1.5 } else { 0.0 };
            wave * convert(0.3) + convert(on)
        });
        &root * root.transpose()
    }
}

/// Some function of any configuration.
pub fn function<T: RealField + Copy>(x: &DVector<T>) -> T {
    let mut sum = T::zero();
    for (i, &entry) in x.iter().enumerate() {
        let next = x[(i + 1) % x.len()];
        sum += (entry * convert(0.7 + i as f64)).sin() + entry * next * convert(0.4);
    }
    sum
}

pub fn rotation() -> SO3<f64> {
    SO3::exp(&Vector3::new(0.4, -0.9, 1.3))
}

pub fn matrix_entries() -> DVector<f64> {
    DVector::from_column_slice(rotation().matrix().as_slice())
}

pub fn quaternion_entries() -> DVector<f64> {
    DVector::from_column_slice(rotation().to_quaternion().as_slice())
}

pub fn euler_angles(sequence: EulerSequence) -> DVector<f64> {
    DVector::from_column_slice(&Euler::from_rotation(&rotation(), sequence).angles)
}

pub fn pose_entries() -> DVector<f64> {
    let position = [0.3, -1.2, 0.8];
    DVector::from_iterator(
        12,
        position.into_iter().chain(matrix_entries().iter().copied()),
    )
}

pub fn planar_entries() -> DVector<f64> {
    let (s, c) = 0.7_f64.sin_cos();
    dvector![0.4, -1.1, s, c]
}

pub fn on_sphere(radius: f64) -> DVector<f64> {
    dvector![0.48, -0.6, 0.64] * radius
}

/// The rotation matrix of a quaternion, its entries.
pub fn matrix_of_quaternion<T: RealField + Copy>(q: &DVector<T>) -> DVector<T> {
    let two: T = convert(2.0);
    let (w, v) = (q[0], Vector3::new(q[1], q[2], q[3]));
    let R = Matrix3::from_diagonal_element(w * w - v.norm_squared())
        + v * v.transpose() * two
        + SO3::hat(&v) * (w * two);
    DVector::from_column_slice(R.as_slice())
}

pub fn matrix_of_angles<T: RealField + Copy>(
    sequence: EulerSequence,
    x: &DVector<T>,
) -> DVector<T> {
    let R = Euler::new(sequence, [x[0], x[1], x[2]]).rotation();
    DVector::from_column_slice(R.matrix().as_slice())
}

/// The mass matrix of a rigid body about a point that is not its centre.
pub fn body_mass() -> DMatrix<f64> {
    use fly_mechanics::SecondMoment;
    let moment = SecondMoment::from_points([
        (1.0, Vector3::new(0.3, -0.1, 0.2)),
        (2.0, Vector3::new(-0.2, 0.4, 0.1)),
        (0.5, Vector3::new(0.1, 0.2, -0.6)),
        (0.7, Vector3::new(-0.5, -0.4, 0.3)),
    ]);
    DMatrix::from_column_slice(6, 6, moment.matrix6().as_slice())
}

/// A body's inertia force `M ξ_dot - ad_ξᵀ M ξ` at `ξ_dot = 0`, Konz (4.22) corrected.
pub fn body_force(M: &DMatrix<f64>, xi: &DVector<f64>) -> DVector<f64> {
    let xi = Vector6::from_column_slice(xi.as_slice());
    let M = nalgebra::Matrix6::from_column_slice(M.as_slice());
    let force = -fly_lie::operators::ad(&xi).transpose() * M * xi;
    DVector::from_column_slice(force.as_slice())
}

#[track_caller]
pub fn near(what: &str, a: &DMatrix<f64>, b: &DMatrix<f64>, tolerance: f64) {
    let error = (a - b).amax();
    assert!(error <= tolerance, "{what}: off by {error:e}\n{a}{b}");
}

#[track_caller]
pub fn same(what: &str, a: &Symbols<f64>, b: &Symbols<f64>, tolerance: f64) {
    for i in 0..a.dof() {
        near(what, &a[i], &b[i], tolerance);
    }
}
