//! One step of inertial navigation: the mean, exact for constant measurements, and the propagation of errors.

use fly_lie::operators::hat3;
use fly_lie::{SE23, SO3};
use nalgebra::{ComplexField, Matrix3, SMatrix, Vector3};

/// A measurement of the IMU, raw or less its biases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imu {
    /// Angular velocity, rad/s, body frame.
    pub gyro: Vector3<f64>,
    /// Specific force (acceleration less gravity), m/s², body frame.
    pub accelerometer: Vector3<f64>,
}

/// `Γ_2(φ) = Σ hat(φ)^k / (k + 2)!`: the rotation averaged over a double integration.
fn gamma2(phi: &Vector3<f64>) -> Matrix3<f64> {
    let t2 = phi.norm_squared();
    let (c, d) = if t2 < 1.0 {
        // Σ (-θ²)^k / (2k + n)!, from the last term: ten terms reach rounding.
        let series = |n: u32| {
            (1..10).rev().fold(1.0, |sum, k| {
                let m = f64::from(2 * k + n);
                1.0 - t2 / (m * (m - 1.0)) * sum
            })
        };
        (series(3) / 6.0, series(4) / 24.0)
    } else {
        let t = ComplexField::sqrt(t2);
        (
            (t - ComplexField::sin(t)) / (t2 * t),
            (ComplexField::cos(t) - 1.0 + 0.5 * t2) / (t2 * t2),
        )
    };
    let W = hat3(phi);
    Matrix3::identity() * 0.5 + W * c + W * W * d
}

/// The extended pose after `dt` s of constant angular velocity and specific force, under `gravity`. Exact:
///
/// ```text
/// R' = R Γ_0(w dt),  v' = v + g dt + R Γ_1(w dt) a dt,  p' = p + v dt + g dt²/2 + R Γ_2(w dt) a dt²
/// ```
pub fn advance(X: &SE23<f64>, imu: &Imu, gravity: &Vector3<f64>, dt: f64) -> SE23<f64> {
    let phi = imu.gyro * dt;
    let R = &X.rotation;
    let force = R.act(&(SO3::left_jacobian(&phi) * imu.accelerometer));
    let twice = R.act(&(gamma2(&phi) * imu.accelerometer));
    SE23::new(
        *R * SO3::exp(&phi),
        X.velocity + (gravity + force) * dt,
        X.position + X.velocity * dt + (gravity * 0.5 + twice) * (dt * dt),
    )
}

/// The transition matrix of the extended pose's error over a step: `[[I, 0, 0], [ĝ dt, I, 0], [ĝ dt²/2, I dt, I]]`, exact
/// for errors of any size because the dynamics are group-affine (Barrau and Bonnabel 2017, Theorem 2).
pub fn transition(gravity: &Vector3<f64>, dt: f64) -> SMatrix<f64, 9, 9> {
    let mut F = SMatrix::<f64, 9, 9>::identity();
    let g = hat3(gravity);
    F.fixed_view_mut::<3, 3>(3, 0).copy_from(&(g * dt));
    F.fixed_view_mut::<3, 3>(6, 0)
        .copy_from(&(g * (0.5 * dt * dt)));
    F.fixed_view_mut::<3, 3>(6, 3)
        .copy_from(&(Matrix3::identity() * dt));
    F
}

/// The effect of bias errors `[b_g; b_a]` on the error of the extended pose over one step that ends at `X`: `-Ad(X) N` with
/// `N = Υ^-1 dΥ`, the derivative of the step's increment. Neglects terms of order dt³ in the velocity, dt⁴ in the position.
pub fn input_effect(X: &SE23<f64>, imu: &Imu, dt: f64) -> SMatrix<f64, 9, 6> {
    let phi = imu.gyro * dt;
    let back = SO3::exp(&-phi);
    let a = hat3(&imu.accelerometer);
    let mut N = SMatrix::<f64, 9, 6>::zeros();
    let mut set = |i, j, block: &Matrix3<f64>| N.fixed_view_mut::<3, 3>(i, j).copy_from(block);
    set(0, 0, &(SO3::right_jacobian(&phi) * dt));
    set(3, 0, &(a * (-0.5 * dt * dt)));
    set(6, 0, &(a * (-dt * dt * dt / 6.0)));
    set(3, 3, &(back.matrix() * SO3::left_jacobian(&phi) * dt));
    set(6, 3, &(back.matrix() * gamma2(&phi) * (dt * dt)));
    // Ad(X) by blocks.
    let R = X.rotation.matrix();
    let mut E = SMatrix::<f64, 9, 6>::zeros();
    let turned = R * N.fixed_rows::<3>(0);
    let v = hat3(&X.velocity) * turned + R * N.fixed_rows::<3>(3);
    let p = hat3(&X.position) * turned + R * N.fixed_rows::<3>(6);
    E.fixed_rows_mut::<3>(0).copy_from(&-turned);
    E.fixed_rows_mut::<3>(3).copy_from(&-v);
    E.fixed_rows_mut::<3>(6).copy_from(&-p);
    E
}
