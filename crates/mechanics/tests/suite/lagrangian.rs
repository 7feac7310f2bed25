//! Lagrange's and Hamilton's equations of any Lagrangian against closed forms, against particles, and against differences along the motion.

#![allow(non_snake_case)]

use fly_mechanics::geometry::{
    Coordinates, CoordinatesError, LagrangeEquation, Lagrangian, Minimal, Pose, RotationMatrix,
    commutation_coefficients, connection_coefficients, derivative_along, directional_derivatives,
};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, Vector3, convert, dmatrix, dvector};

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

fn rotation(seed: usize) -> DVector<f64> {
    let turn = fly_lie::SO3::exp(&Vector3::new(wave(seed, 0), wave(seed, 1), wave(seed, 2)));
    DVector::from_column_slice(turn.matrix().as_slice())
}

fn matrix<T: RealField + Copy>(x: &DVector<T>) -> Matrix3<T> {
    Matrix3::from_column_slice(x.as_slice())
}

/// Konz, Example 11 with the sign that (3.48) needs: `L = 1/2 w.Theta w - tr(Pi' (I - R))`.
struct Attitude {
    Theta: Matrix3<f64>,
    Pi: Matrix3<f64>,
}

impl Lagrangian for Attitude {
    fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, _: T) -> T {
        let w = Vector3::new(xi[0], xi[1], xi[2]);
        let cast = |m: &Matrix3<f64>| m.map(convert::<f64, T>);
        let kinetic = w.dot(&(cast(&self.Theta) * w)) * convert(0.5);
        kinetic - (cast(&self.Pi) * (Matrix3::identity() - matrix(x))).trace()
    }
}

fn attitude(seed: usize) -> Attitude {
    let square = |k: usize| {
        let A = Matrix3::from_fn(|i, j| wave(seed + i, 3 * k + j));
        A.transpose() * A + Matrix3::identity()
    };
    Attitude {
        Theta: square(1),
        Pi: square(2),
    }
}

#[test]
fn an_attitude_in_a_potential() {
    for seed in 0..20 {
        let (system, x) = (attitude(seed), rotation(seed));
        let xi = DVector::from_fn(3, |i, _| 2.0 * wave(seed + i, 9));
        let equation =
            LagrangeEquation::new(&RotationMatrix, &system, &x, &xi, 0.0).expect("regular");
        assert!((equation.mass_matrix() - system.Theta).amax() < 1e-13);
        let w = Vector3::new(xi[0], xi[1], xi[2]);
        let P = system.Pi * matrix(&x);
        let restoring = Vector3::new(
            P[(2, 1)] - P[(1, 2)],
            P[(0, 2)] - P[(2, 0)],
            P[(1, 0)] - P[(0, 1)],
        );
        let expected = w.cross(&(system.Theta * w)) + restoring; // (3.48)
        assert!((equation.bias() - expected).amax() < 1e-12, "{seed}");

        // G of (B.32): the momentum turns backwards in the body, p_dot = p x w - dH.
        let p = equation.momentum().clone();
        let G = equation.gyroscopic_matrix();
        assert!((G + G.transpose()).amax() == 0.0);
        let turned = Vector3::new(p[0], p[1], p[2]).cross(&w);
        assert!((G * &xi - turned).amax() < 1e-13);
    }
}

/// (B.35): all of a mass matrix that depends on place and time, a term linear in the velocity, and a potential, on the poses of a body.
struct General;

impl General {
    fn mass<T: RealField + Copy>(x: &DVector<T>, t: T) -> DMatrix<T> {
        let root = DMatrix::from_fn(6, 6, |i, j| {
            let phase =
                x[i] * convert(0.7) + x[(i + 2 * j) % 12] - t * convert(0.3 + 0.1 * j as f64);
            phase.sin() * convert(0.3) + convert(f64::from(u8::from(i == j)))
        });
        root.tr_mul(&root)
    }
    fn linear<T: RealField + Copy>(x: &DVector<T>, t: T) -> DVector<T> {
        DVector::from_fn(6, |i, _| {
            (x[i] + x[i + 5] * t + convert(0.2 * i as f64)).cos()
        })
    }
    fn rest<T: RealField + Copy>(x: &DVector<T>, t: T) -> T {
        (x[0] * x[4] - t * x[7]).sin() + x[2] * x[11]
    }
}

impl Lagrangian for General {
    fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, t: T) -> T {
        let kinetic = xi.dot(&(Self::mass(x, t) * xi)) * convert(0.5);
        kinetic + Self::linear(x, t).dot(xi) + Self::rest(x, t)
    }
}

fn pose(seed: usize) -> DVector<f64> {
    let mut x = DVector::from_fn(12, |i, _| wave(seed, i + 4));
    x.rows_mut(3, 9).copy_from(&rotation(seed));
    x
}

/// (B.36), where the print leaves `(∂_j b_i - ∂_i b_j) ξ^j` out.
#[test]
fn terms_linear_in_the_velocity_and_the_time() {
    for seed in 0..10 {
        let (x, t) = (pose(seed), 0.3 + 0.1 * seed as f64);
        let xi = DVector::from_fn(6, |i, _| wave(seed + i, 3));
        let equation = LagrangeEquation::new(&Pose, &General, &x, &xi, t).expect("regular");

        let Gamma =
            connection_coefficients(&Pose, |x| General::mass(x, convert(t)), &x).expect("Gamma");
        let gamma = commutation_coefficients(&Pose, &x).expect("gamma");
        // Derivatives with respect to time, as those of a function of one number.
        let in_time = |f: &dyn Fn(num_dual::Dual64) -> DVector<num_dual::Dual64>| {
            derivative_along(|t: &DVector<_>| f(t[0]), &dvector![t], &dvector![1.0]).1
        };
        let x_dual = x.map(num_dual::Dual64::from_re);
        let xi_dual = xi.map(num_dual::Dual64::from_re);
        let M_t = in_time(&|t| General::mass(&x_dual, t) * &xi_dual);
        let b_t = in_time(&|t| General::linear(&x_dual, t));
        let b = General::linear(&x, t);
        let A = Pose.kinematic_matrix(&x);
        let db: Vec<_> = (0..6)
            .map(|j| {
                derivative_along(
                    |x| General::linear(x, convert(t)),
                    &x,
                    &A.column(j).into_owned(),
                )
                .1
            })
            .collect();
        let slope =
            directional_derivatives(&Pose, |x| General::rest(x, convert(t)), &x).expect("slope");
        let expected = DVector::from_fn(6, |i, _| {
            let curl: f64 = (0..6).map(|j| (db[j][i] - db[i][j]) * xi[j]).sum();
            let brackets: f64 = (0..6)
                .map(|k| (0..6).map(|j| gamma[k][(i, j)] * xi[j]).sum::<f64>() * b[k])
                .sum();
            Gamma.contract(&xi, &xi)[i] + M_t[i] + b_t[i] + brackets + curl - slope[i]
        });
        assert!((equation.bias() - expected).amax() < 1e-12, "{seed}");
        assert!((equation.mass_matrix() - General::mass(&x, t)).amax() < 1e-12);
        // (B.37), (B.38)
        assert!((equation.momentum() - (General::mass(&x, t) * &xi + &b)).amax() < 1e-12);
        let H = 0.5 * xi.dot(&(General::mass(&x, t) * &xi)) - General::rest(&x, t);
        assert!((equation.hamiltonian() - H).abs() < 1e-12);
    }
}

/// (B.31), (B.34): momentum and Hamiltonian change along the motion as the equations say.
#[test]
fn momentum_and_hamiltonian_change_as_they_say() {
    for seed in 0..6 {
        let (x, t) = (pose(seed), 0.4);
        let xi = DVector::from_fn(6, |i, _| wave(seed + i, 3));
        let force = DVector::from_fn(6, |i, _| wave(seed + i, 5));
        let here = LagrangeEquation::new(&Pose, &General, &x, &xi, t).expect("regular");
        let xi_dot = here.acceleration(&force).expect("regular");
        let x_dot = Pose.kinematic_matrix(&x) * &xi;
        let x_ddot = fly_mechanics::geometry::acceleration(&Pose, &x, &xi, &xi_dot).expect("sizes");
        let at = |h: f64| {
            let x = &x + &x_dot * h + &x_ddot * (0.5 * h * h);
            let equation = LagrangeEquation::new(&Pose, &General, &x, &(&xi + &xi_dot * h), t + h)
                .expect("regular");
            (equation.momentum().clone(), equation.hamiltonian())
        };
        let h = 1e-3;
        let [(p1, H1), (p2, H2), (p3, H3), (p4, H4)] = [at(h), at(-h), at(2.0 * h), at(-2.0 * h)];
        let p_dot = ((p1 - p2) * 8.0 - (p3 - p4)) / (12.0 * h);
        let H_dot = (8.0 * (H1 - H2) - (H3 - H4)) / (12.0 * h);
        let expected = here.momentum_rate(&xi, &force).expect("sizes");
        assert!((p_dot - &expected).amax() < 1e-5 * expected.amax().max(1.0));
        let rate = here.hamiltonian_rate(&xi, &force).expect("sizes");
        assert!(
            (H_dot - rate).abs() < 1e-5 * rate.abs().max(1.0),
            "{H_dot} {rate}"
        );

        let (found, there) = LagrangeEquation::of_momentum(&Pose, &General, &x, here.momentum(), t)
            .expect("regular");
        assert!((found - &xi).amax() < 1e-12);
        assert!((there.hamiltonian() - here.hamiltonian()).abs() < 1e-12);
        // -∂_i L is how H changes with the place where p stays, (B.30a): another way, by the place.
        let A = Pose.kinematic_matrix(&x);
        for i in 0..6 {
            let moved = |h: f64| {
                let x = &x + A.column(i) * h;
                LagrangeEquation::of_momentum(&Pose, &General, &x, here.momentum(), t)
                    .expect("regular")
                    .1
                    .hamiltonian()
            };
            let slope =
                (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
            assert!((slope - here.hamiltonian_slope()[i]).abs() < 1e-8, "{i}");
        }
    }
}

/// A Lagrangian that is not quadratic in the velocity: its momentum is inverted in several steps.
struct Quartic;
impl Lagrangian for Quartic {
    fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, _: T) -> T {
        let square = xi.norm_squared();
        square * convert(0.5) + square * square * convert(0.25) - x[0] * x[0]
    }
}

#[test]
fn the_momentum_of_a_quartic_lagrangian() {
    let xi = dvector![1.5, -0.7];
    let x = dvector![0.2, 0.1];
    let p = &xi * (1.0 + xi.norm_squared());
    let (found, equation) =
        LagrangeEquation::of_momentum(&Minimal(2), &Quartic, &x, &p, 0.0).expect("convex");
    assert!((found - &xi).amax() < 1e-14);
    assert!((equation.momentum() - p).amax() < 1e-14);
}

#[test]
fn what_has_no_answer_is_an_error() {
    /// The velocity enters linearly alone.
    struct Flat;
    impl Lagrangian for Flat {
        fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, _: T) -> T {
            x[0] * xi[0]
        }
    }
    let equation = LagrangeEquation::new(&Minimal(1), &Flat, &dvector![1.0], &dvector![1.0], 0.0)
        .expect("finite");
    assert_eq!(equation.mass_matrix(), &dmatrix![0.0]);
    assert!(matches!(
        equation.acceleration(&dvector![1.0]),
        Err(CoordinatesError::Metric { .. })
    ));
    assert!(
        LagrangeEquation::new(&Minimal(1), &Flat, &dvector![1.0], &dvector![1.0, 2.0], 0.0)
            .is_err()
    );
    assert!(
        LagrangeEquation::of_momentum(&Minimal(1), &Flat, &dvector![1.0], &dvector![2.0], 0.0)
            .is_err()
    );
}

/// Hamilton: along a motion `∫ (T - V) dt` does not change to first order with the path between two fixed ends, Konz (3.57) with `δ'W = -δV`; `∫ (T + V) dt`, as the sign of its print would have
/// it, does.
#[test]
fn the_action_is_stationary() {
    // A mass on a spring, m = 2, k = 8: q = sin 2t; varied by e η with η = 0 at both ends, t = 0 and 1.
    let path = |t: f64, e: f64| {
        let (s, c) = (std::f64::consts::PI * t).sin_cos();
        let (eta, eta_dot) = (
            s + 0.5 * s * c,
            std::f64::consts::PI * (c + 0.5 * (c * c - s * s)),
        );
        (
            (2.0 * t).sin() + e * eta,
            2.0 * (2.0 * t).cos() + e * eta_dot,
        )
    };
    let action = |e: f64, sign: f64| {
        let steps = 2000;
        let sum: f64 = (0..=steps)
            .map(|k| {
                let (q, q_dot) = path(f64::from(k) / f64::from(steps), e);
                // Simpson
                let weight = match k {
                    0 => 1.0,
                    k if k == steps => 1.0,
                    k if k % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * (q_dot * q_dot + sign * 4.0 * q * q)
            })
            .sum();
        sum / (3.0 * f64::from(steps))
    };
    let slope = |sign| (action(1e-3, sign) - action(-1e-3, sign)) / 2e-3;
    assert!(slope(-1.0).abs() < 1e-9, "{}", slope(-1.0));
    assert!(slope(1.0).abs() > 1.0, "{}", slope(1.0));
}
