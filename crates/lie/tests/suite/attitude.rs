//! Attitude parameterisations: rates and accelerations both ways, against dual numbers and each other, in all sequences.

#![allow(non_snake_case)]

use fly_lie::attitude::{AxisAngle, Euler, EulerSequence, MinimalRotation, YawTilt, quaternion};
use fly_lie::operators::vee3;
use fly_lie::{SO3, Singularity};
use nalgebra::{Matrix3, Vector3, Vector4};
use num_dual::{Dual2_64, DualNum};

/// A moving quantity: value, rate, acceleration.
fn moving(k: usize, i: usize) -> (f64, f64, f64) {
    let phase = (5 * k + 3 * i + 1) as f64;
    (
        (1.3 * phase).sin(),
        (0.7 * phase).cos(),
        (2.1 * phase).sin(),
    )
}

/// The same as a dual number of second order in time.
fn dual((value, rate, acceleration): (f64, f64, f64)) -> Dual2_64 {
    Dual2_64::new(value, rate, acceleration)
}

/// The body's angular velocity and acceleration of a moving rotation: `W = Rᵀ R_dot`, `W_dot = Rᵀ R_ddot - W²`.
fn motion(R: &Matrix3<Dual2_64>) -> (Matrix3<f64>, Vector3<f64>, Vector3<f64>) {
    let (R0, R1, R2) = (R.map(|x| x.re), R.map(|x| x.v1), R.map(|x| x.v2));
    let W = R0.transpose() * R1;
    let A = R0.transpose() * R2 - W * W;
    (R0, vee3(&W), vee3(&A))
}

#[track_caller]
fn close(a: Vector3<f64>, b: Vector3<f64>, tolerance: f64) {
    assert!((a - b).amax() <= tolerance, "{a} is not {b}");
}

#[test]
fn euler_angles_of_all_sequences() {
    for sequence in EulerSequence::ALL {
        for k in 0..60 {
            let mut angles: [_; 3] = std::array::from_fn(|i| moving(k, i));
            for (i, angle) in angles.iter_mut().enumerate() {
                angle.0 *= if i == 1 { 1.4 } else { 3.1 };
            }
            if sequence.is_symmetric() {
                angles[1].0 = angles[1].0.abs() + 0.1;
            }
            let R = Euler::new(sequence, angles.map(dual)).rotation();
            let (R, omega, omega_dot) = motion(R.matrix());
            let R = SO3::from_matrix(R);
            let read = Euler::from_rotation(&R, sequence);
            for (i, angle) in angles.iter().enumerate() {
                let error = read.angles[i] - angle.0;
                assert!(
                    error.abs() < 2e-14,
                    "{sequence:?}: {} {}",
                    read.angles[i],
                    angle.0
                );
            }
            let (rates, accelerations) = (
                Vector3::from(angles.map(|a| a.1)),
                Vector3::from(angles.map(|a| a.2)),
            );
            close(read.angular_velocity(&rates), omega, 1e-13);
            close(
                read.angular_acceleration(&rates, &accelerations),
                omega_dot,
                1e-13,
            );
            let (back, again) = (read.rates(&omega), read.accelerations(&omega, &omega_dot));
            close(back.expect("regular"), rates, 1e-11);
            close(again.expect("regular"), accelerations, 1e-9);
        }
    }
}

#[test]
fn euler_angles_at_and_near_the_singularity() {
    for sequence in EulerSequence::ALL {
        let locks = if sequence.is_symmetric() {
            [0.0, std::f64::consts::PI]
        } else {
            [-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2]
        };
        for lock in locks {
            for off in [0.0, 1e-17, 1e-15, 1e-12, 1e-8, 1e-4] {
                let inward = if lock > 0.0 { -off } else { off };
                let R = Euler::new(sequence, [0.7, lock + inward, -1.9]).rotation();
                let read = Euler::from_rotation(&R, sequence);
                let error = (read.rotation().matrix() - R.matrix()).amax();
                assert!(error < 3e-15, "{sequence:?} {lock} {off}: {error}");
                if off <= 1e-16 {
                    assert!(read.singular, "{sequence:?} {lock} {off}");
                    assert_eq!(read.rates(&Vector3::x()), Err(Singularity::GimbalLock));
                }
                if off >= 1e-8 {
                    assert!(!read.singular, "{sequence:?} {lock} {off}");
                }
            }
        }
    }
}

/// Konz (A.162) to (A.165) as printed.
#[test]
fn roll_pitch_yaw_is_the_printed_one() {
    let (roll, pitch, yaw) = (0.4_f64, -0.9_f64, 2.2_f64);
    let ((sa, ca), (sb, cb)) = (roll.sin_cos(), pitch.sin_cos());
    let euler = Euler::new(EulerSequence::ZYX, [yaw, pitch, roll]);
    let R = euler.rotation();
    let last = R.matrix().row(2).transpose();
    close(last, Vector3::new(-sb, cb * sa, cb * ca), 1e-15);
    #[rustfmt::skip]
    let printed = Matrix3::new(
        1.0, 0.0, -sb,
        0.0, ca,  cb * sa,
        0.0, -sa, cb * ca,
    );
    let rates = Vector3::new(0.3, -0.2, 0.9);
    let reversed = Vector3::new(rates.z, rates.y, rates.x);
    close(euler.angular_velocity(&reversed), printed * rates, 1e-15);
}

#[test]
fn axis_and_angle() {
    for k in 0..60 {
        let direction = Vector3::from_fn(|i, _| dual(moving(k, i)));
        let axis = direction / direction.norm_squared().sqrt();
        let angle = moving(k, 7);
        let angle = (1.6 + 1.5 * angle.0, angle.1, angle.2);
        let R = AxisAngle {
            axis,
            angle: dual(angle),
        }
        .rotation();
        let (R, omega, omega_dot) = motion(R.matrix());
        let read = AxisAngle::from_rotation(&SO3::from_matrix(R)).expect("an angle");
        close(read.axis, axis.map(|x| x.re), 2e-14);
        assert!((read.angle - angle.0).abs() < 1e-15 * 4.0);
        let (a1, a2) = (axis.map(|x| x.v1), axis.map(|x| x.v2));
        let scale = 1.0 + a1.amax().powi(2) + a2.amax();
        close(read.angular_velocity(&a1, angle.1), omega, 1e-12 * scale);
        let turned = read.angular_acceleration((&a1, angle.1), (&a2, angle.2));
        close(turned, omega_dot, 1e-12 * scale);
        let (rate, angle_rate) = read.rates(&omega).expect("an angle");
        close(rate, a1, 1e-12 * scale);
        let (acceleration, angle_acceleration) =
            read.accelerations(&omega, &omega_dot).expect("an angle");
        close(acceleration, a2, 1e-11 * scale);
        let error = (angle_rate - angle.1).abs() + (angle_acceleration - angle.2).abs();
        assert!(error < 1e-11 * scale);
    }
    let none = AxisAngle::from_rotation(&SO3::<f64>::identity());
    assert_eq!(none, Err(Singularity::NoAngle));
    let tiny = SO3::exp(&Vector3::new(0.0, 3e-200, 4e-200));
    let tiny = AxisAngle::from_rotation(&tiny).expect("an angle");
    close(tiny.axis, Vector3::new(0.0, 0.6, 0.8), 1e-15);
}

#[test]
fn quaternions() {
    for k in 0..60 {
        let q = Vector4::from_fn(|i, _| dual(moving(k, i)));
        let q = q / q.norm_squared().sqrt();
        let (R, omega, omega_dot) = motion(SO3::from_quaternion(&q).matrix());
        let (q0, q1, q2) = (q.map(|x| x.re), q.map(|x| x.v1), q.map(|x| x.v2));
        let scale = 1.0 + q2.amax();
        close(quaternion::angular_velocity(&q0, &q1), omega, 1e-13 * scale);
        close(
            quaternion::angular_acceleration(&q0, &q2),
            omega_dot,
            1e-12 * scale,
        );
        assert!((quaternion::rates(&q0, &omega) - q1).amax() < 1e-13 * scale);
        let back = quaternion::accelerations(&q0, &omega, &omega_dot);
        assert!((back - q2).amax() < 1e-12 * scale);
        let read = SO3::from_matrix(R).to_quaternion();
        let sign = if read.dot(&q0) < 0.0 { -1.0 } else { 1.0 };
        assert!((read * sign - q0).amax() < 1e-15);
    }
}

/// A moving unit vector.
fn direction(k: usize, i: usize) -> Vector3<Dual2_64> {
    let v = Vector3::from_fn(|j, _| dual(moving(k, i + j)));
    v / v.norm_squared().sqrt()
}

#[test]
fn minimal_rotations() {
    for k in 0..60 {
        let (a, b) = (direction(k, 0), direction(k, 4));
        let R = MinimalRotation::new(a, b).expect("not opposite").rotation();
        let (R, omega, omega_dot) = motion(R.matrix());
        let (a0, a1, a2) = (a.map(|x| x.re), a.map(|x| x.v1), a.map(|x| x.v2));
        let (b0, b1, b2) = (b.map(|x| x.re), b.map(|x| x.v1), b.map(|x| x.v2));
        let minimal = MinimalRotation::new(a0, b0).expect("not opposite");
        close(R * a0, b0, 1e-14);
        let scale = (1.0 + a2.amax() + b2.amax() + omega.norm_squared()) * 1e-12;
        close(minimal.angular_velocity(&a1, &b1), omega, scale);
        let turned = minimal.angular_acceleration((&a1, &a2), (&b1, &b2));
        close(turned, omega_dot, 10.0 * scale);
        close(minimal.target_rate(&omega, &a1), b1, scale);
        let target = minimal.target_acceleration((&omega, &omega_dot), (&a1, &a2));
        close(target, b2, 10.0 * scale);
    }
    let up = Vector3::<f64>::z();
    assert_eq!(MinimalRotation::new(up, -up), Err(Singularity::Opposite));
    assert_eq!(
        MinimalRotation::new(up, up * f64::NAN),
        Err(Singularity::NotFinite)
    );
}

/// As exact as the small part of the matrix that tells it, at every distance from upside down.
#[test]
fn the_yaw_is_exact_near_upside_down() {
    for k in 0..60 {
        let yaw = moving(k, 9).0 * std::f64::consts::PI;
        for away in [1e-2, 1e-4, 1e-6] {
            let (y, x) = (f64::from(u8::try_from(k).unwrap()) * 0.7).sin_cos();
            let tilt = SO3::exp(&(Vector3::new(x, y, 0.0) * (std::f64::consts::PI - away)));
            let R = SO3::exp(&(Vector3::z() * yaw)) * tilt;
            let read = YawTilt::from_rotation(&R).expect("not upside down");
            let error = (read.yaw() - yaw).abs();
            assert!(error < 10.0 * f64::EPSILON / away, "{away}: {error}");
        }
    }
}

#[test]
fn yaw_and_tilt() {
    for k in 0..60 {
        let (yaw, p) = (moving(k, 9), direction(k, 2));
        let attitude = YawTilt::new(dual(yaw), p).expect("not upside down");
        let (R, omega, omega_dot) = motion(attitude.rotation().matrix());
        let read = YawTilt::from_rotation(&SO3::from_matrix(R)).expect("not upside down");
        assert!((read.yaw() - yaw.0).abs() < 1e-13);
        let (p0, p1, p2) = (p.map(|x| x.re), p.map(|x| x.v1), p.map(|x| x.v2));
        close(read.tilt(), p0, 1e-14);
        let scale = (1.0 + p2.amax() + omega.norm_squared()) * 1e-12;
        close(read.angular_velocity(yaw.1, &p1), omega, scale);
        close(
            read.angular_acceleration((yaw.1, &p1), (yaw.2, &p2)),
            omega_dot,
            10.0 * scale,
        );
        let (yaw_rate, rate) = read.rates(&omega);
        close(rate, p1, scale);
        let (yaw_acceleration, acceleration) = read.accelerations(&omega, &omega_dot);
        close(acceleration, p2, 10.0 * scale);
        let error = (yaw_rate - yaw.1).abs() + (yaw_acceleration - yaw.2).abs();
        assert!(error < 10.0 * scale, "{error}");
        // Konz (A.171): the yaw after the tilt is the yaw before a turned tilt.
        let Rz = SO3::exp(&(Vector3::z() * yaw.0));
        let turned = YawTilt::new(0.0, Rz.act(&p0)).expect("not upside down");
        let other = turned.tilt_rotation() * Rz;
        assert!((other.matrix() - R).amax() < 1e-13);
    }
    assert_eq!(
        YawTilt::new(0.0, -Vector3::z()),
        Err(Singularity::UpsideDown)
    );
}

/// The dual numbers themselves: `sin` of a moving number.
#[test]
fn dual_numbers_move() {
    let x = dual((0.3, 2.0, 5.0));
    let y = DualNum::sin(&x);
    assert!((y.v2 - (0.3_f64.cos() * 5.0 - 0.3_f64.sin() * 4.0)).abs() < 1e-15);
}
