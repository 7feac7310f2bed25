//! The accuracy that the crate promises, at every angle, against the Taylor series of the exponential in twice the precision:
//! `cargo test -p fly-lie --test suite exact -- --nocapture` prints the worst errors.

#![allow(non_snake_case)]

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::{Add, Mul, Sub};

use fly_lie::operators::{ad, hat3, hat6};
use fly_lie::{SE3, SE23, SO3, UnitQuaternion};
use fly_testing::Random;
use nalgebra::{Matrix3, Matrix4, SMatrix, SVector, Vector3, Vector4, Vector6};

/// A number as the sum of two, the second a correction of the first: 32 digits.
#[derive(Clone, Copy)]
struct Twice(f64, f64);

impl Add for Twice {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let b = sum - self.0;
        let lost = (self.0 - (sum - b)) + (other.0 - b);
        let rest = lost + self.1 + other.1;
        Self(sum + rest, rest - ((sum + rest) - sum))
    }
}

impl Mul for Twice {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product) + (self.0 * other.1 + self.1 * other.0);
        Self(product + rest, rest - ((product + rest) - product))
    }
}

/// A matrix of them.
#[derive(Clone, Copy)]
struct Exact<const N: usize>([[Twice; N]; N]);

impl<const N: usize> Exact<N> {
    fn new(entry: impl Fn(usize, usize) -> Twice) -> Self {
        Self(std::array::from_fn(|i| {
            std::array::from_fn(|j| entry(i, j))
        }))
    }

    fn from(A: &SMatrix<f64, N, N>) -> Self {
        Self::new(|i, j| Twice(A[(i, j)], 0.0))
    }

    fn rounded(&self) -> SMatrix<f64, N, N> {
        SMatrix::from_fn(|i, j| self.0[i][j].0)
    }

    /// `A / k`
    fn over(&self, k: f64) -> Self {
        let quotient = |x: Twice| {
            let q = x.0 / k;
            Twice(q, (-q).mul_add(k, x.0) / k + x.1 / k)
        };
        Self::new(|i, j| quotient(self.0[i][j]))
    }

    /// `Σ Aᵏ / (k + offset)!` for `offset` 0 or 1: the exponential of `A`, or of `ad` the left Jacobian.
    fn series(A: &SMatrix<f64, N, N>, offset: u32) -> Self {
        let A = Self::from(A);
        let mut term = Self::from(&SMatrix::identity());
        let mut sum = term;
        for k in 1..50 {
            term = (term * A).over(f64::from(k + offset));
            sum = sum + term;
        }
        sum
    }

    /// The inverse, from an estimate by Newton's method.
    fn inverse(&self, estimate: &SMatrix<f64, N, N>) -> Self {
        let two = Self::from(&(SMatrix::identity() * 2.0));
        let mut X = Self::from(estimate);
        for _ in 0..6 {
            X = X * (two - *self * X);
        }
        X
    }

    /// `A x`, rounded.
    fn apply(&self, x: &[Twice; N]) -> SVector<f64, N> {
        SVector::from_fn(|i, _| {
            let products = (0..N).map(|k| self.0[i][k] * x[k]);
            products.fold(Twice(0.0, 0.0), Add::add).0
        })
    }

    /// The largest difference of an entry.
    fn error(&self, A: &SMatrix<f64, N, N>) -> f64 {
        (*self - Self::from(A)).rounded().amax()
    }
}

impl<const N: usize> Add for Exact<N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(|i, j| self.0[i][j] + other.0[i][j])
    }
}

impl<const N: usize> Sub for Exact<N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(|i, j| self.0[i][j] + Twice(-other.0[i][j].0, -other.0[i][j].1))
    }
}

impl<const N: usize> Mul for Exact<N> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(|i, j| {
            let products = (0..N).map(|k| self.0[i][k] * other.0[k][j]);
            products.fold(Twice(0.0, 0.0), Add::add)
        })
    }
}

/// From none to a half turn: these and their neighbours first, then all over the interval.
fn angles(random: &mut Random) -> Vec<f64> {
    let mut angles = vec![0.0, 5e-324, 1e-310, 1e-160, 1e-20];
    angles.extend([PI, PI.next_down()]);
    for k in 1..=16 {
        let beside = 10.0_f64.powi(-k);
        angles.extend([beside, PI / 2.0 - beside, PI / 2.0 + beside, PI - beside]);
    }
    angles.extend((0..1000).map(|_| PI * random.number().abs()));
    angles
}

/// The worst error of every function.
#[derive(Default)]
struct Worst(BTreeMap<&'static str, (f64, f64)>);

impl Worst {
    fn is(&mut self, what: &'static str, error: f64, allowed: f64) {
        let (worst, bound) = self.0.entry(what).or_insert((0.0, allowed));
        *bound = allowed;
        if error.is_nan() || error > *worst {
            *worst = error;
        }
    }
}

fn rotations(w: &Vector3<f64>, worst: &mut Worst) {
    let W = hat3(w);
    let R = Exact::series(&W, 0);
    let (J_l, J_r) = (Exact::series(&W, 1), Exact::series(&-W, 1));
    worst.is("SO3 exp", R.error(SO3::exp(w).matrix()), 1e-15);
    worst.is("SO3 J_l", J_l.error(&SO3::left_jacobian(w)), 1e-15);
    worst.is("SO3 J_r", J_r.error(&SO3::right_jacobian(w)), 1e-15);
    let inverse = SO3::left_jacobian_inverse(w);
    worst.is("SO3 J_l^-1", J_l.inverse(&inverse).error(&inverse), 3e-15);
    let inverse = SO3::right_jacobian_inverse(w);
    worst.is("SO3 J_r^-1", J_r.inverse(&inverse).error(&inverse), 3e-15);

    // At a half turn either sign is right.
    let error = |log: Vector3<f64>| {
        let other = if w.norm() > PI - 1e-15 { -w } else { *w };
        (log - w).amax().min((log - other).amax())
    };
    let log = SO3::from_matrix(R.rounded()).log();
    worst.is("SO3 log", error(log), 1e-15);

    // The matrix that multiplies a quaternion by [0, w/2] from the left; its exponential's first column is that of w.
    let (x, y, z) = (w.x / 2.0, w.y / 2.0, w.z / 2.0);
    #[rustfmt::skip]
    let L = Matrix4::new(
        0.0, -x, -y, -z,
        x, 0.0, -z, y,
        y, z, 0.0, -x,
        z, -y, x, 0.0,
    );
    let q = UnitQuaternion::exp(w);
    let expected = Exact::series(&L, 0).rounded().column(0).into_owned();
    // Of a half turn either sign is right.
    let error_of = |q: Vector4<f64>| (q - expected).amax().min((q + expected).amax());
    worst.is("quaternion exp", error_of(q.wxyz()), 1e-15);
    let q = UnitQuaternion::from_wxyz(&expected);
    worst.is("quaternion log", error(q.log()), 1e-15);
}

fn poses(xi: &Vector6<f64>, worst: &mut Worst) {
    let (v, w): (Vector3<f64>, Vector3<f64>) =
        (xi.fixed_rows::<3>(0).into(), xi.fixed_rows::<3>(3).into());
    let scale = v.amax().max(v.norm()).max(1.0);
    let G: Exact<4> = Exact::series(&hat6(xi), 0);
    let (J_l, J_r) = (Exact::series(&ad(xi), 1), Exact::series(&-ad(xi), 1));
    worst.is("SE3 exp", G.error(&SE3::exp(xi).matrix()) / scale, 1e-15);
    worst.is("SE3 J_l", J_l.error(&SE3::left_jacobian(xi)) / scale, 1e-15);
    worst.is(
        "SE3 J_r",
        J_r.error(&SE3::right_jacobian(xi)) / scale,
        1e-15,
    );
    let inverse = SE3::left_jacobian_inverse(xi);
    let error = J_l.inverse(&inverse).error(&inverse) / scale;
    worst.is("SE3 J_l^-1", error, 3e-15);
    let inverse = SE3::right_jacobian_inverse(xi);
    let error = J_r.inverse(&inverse).error(&inverse) / scale;
    worst.is("SE3 J_r^-1", error, 3e-15);

    let matrix: Matrix4<f64> = G.rounded();
    let log = SE3::from_matrix(&matrix).log();
    let turned: Vector3<f64> = log.fixed_rows::<3>(3).into();
    let expected = if turned.dot(&w) < 0.0 && w.norm() > PI - 1e-15 {
        // The other sign: another velocity leads to the same place.
        let J: Matrix3<f64> = SO3::left_jacobian_inverse(&-w);
        let J = Exact::series(&-hat3(&w), 1).inverse(&J);
        let v = J.apply(&[G.0[0][3], G.0[1][3], G.0[2][3]]);
        Vector6::new(v.x, v.y, v.z, -w.x, -w.y, -w.z)
    } else {
        *xi
    };
    worst.is("SE3 log", (log - expected).amax() / scale, 1e-15);
}

/// The velocity is `v`, the position another vector across it.
fn extended_poses(xi: &Vector6<f64>, worst: &mut Worst) {
    let (v, w): (Vector3<f64>, Vector3<f64>) =
        (xi.fixed_rows::<3>(0).into(), xi.fixed_rows::<3>(3).into());
    let scale = v.amax().max(v.norm()).max(1.0);
    let p = Vector3::new(-v.z, v.x, 0.5 * v.y);
    let x = SVector::<f64, 9>::from_fn(|i, _| [w, v, p][i / 3][i % 3]);
    let X: Exact<5> = Exact::series(&SE23::hat(&x), 0);
    let (J_l, J_r) = (
        Exact::series(&SE23::ad(&x), 1),
        Exact::series(&-SE23::ad(&x), 1),
    );
    worst.is("SE23 exp", X.error(&SE23::exp(&x).matrix()) / scale, 1e-15);
    let error = J_l.error(&SE23::left_jacobian(&x)) / scale;
    worst.is("SE23 J_l", error, 1e-15);
    let error = J_r.error(&SE23::right_jacobian(&x)) / scale;
    worst.is("SE23 J_r", error, 1e-15);
    let inverse = SE23::left_jacobian_inverse(&x);
    let error = J_l.inverse(&inverse).error(&inverse) / scale;
    worst.is("SE23 J_l^-1", error, 3e-15);
}

/// In one thousand angles and more, two thousand directions, velocities from 1e-3 to 1e3.
#[test]
fn exact_at_every_angle() {
    let mut random = Random::new(1);
    let mut worst = Worst::default();
    let mut samples = 0;
    for angle in angles(&mut random) {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let axis = axes[samples % 3] * if samples % 2 == 0 { 1.0 } else { -1.0 };
        for direction in [axis, random.vector3(1.0).normalize()] {
            let mut w = direction * angle;
            // Rounded to beyond a half turn it would be another rotation's.
            while w.norm() > PI {
                w *= 1.0 - f64::EPSILON;
            }
            rotations(&w, &mut worst);
            let v = random.vector3(1.0) * 10.0_f64.powf(3.0 * random.number());
            let xi = Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z);
            poses(&xi, &mut worst);
            extended_poses(&xi, &mut worst);
            samples += 1;
        }
    }
    for (what, (error, allowed)) in &worst.0 {
        println!("{what:<16} {error:.2e} of {allowed:.0e}");
    }
    println!("{samples} samples");
    assert!(samples >= 2000);
    assert_eq!(worst.0.len(), 18);
    for (what, (error, allowed)) in worst.0 {
        assert!(error <= allowed, "{what}: {error:e} > {allowed:e}");
    }
}
