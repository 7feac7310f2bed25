//! A rigid body that is nothing but particles at constant distances, against the body.

#![allow(non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::geometry::{
    Coordinates, CoordinatesError, ParticleSystem, RigidParticles, commutation_coefficients,
    constraint_jacobian, tangent_projector,
};
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State};
use nalgebra::{DVector, Matrix6, Vector3, Vector6};

fn points(count: usize) -> Vec<Vector3<f64>> {
    let wave = |i: usize, k: usize| (1.9 * i as f64 + 2.6 * k as f64 + 0.8 * (i * k) as f64).sin();
    (0..count)
        .map(|i| Vector3::from_fn(|k, _| wave(i, k)))
        .collect()
}

fn pose() -> SE3<f64> {
    SE3::exp(&Vector6::new(0.4, -1.0, 0.3, 0.7, -0.4, 1.1))
}

/// The distances and volumes alone leave six directions, which are those of rigid motion.
#[test]
fn distances_leave_six_ways_to_move() {
    for count in 4..8 {
        let body = RigidParticles::new(points(count)).expect("a body");
        let x = body.configuration(&pose());
        assert_eq!(
            body.constraint(&x).len(),
            count * (count - 1) / 2 + choose_four(count)
        );
        assert!(body.constraint(&x).amax() < 1e-14);
        let Phi = constraint_jacobian(&body, &x).expect("sizes");
        assert_eq!(Phi.rank(1e-9), 3 * count - 6);
        assert!((Phi * body.kinematic_matrix(&x)).amax() < 1e-14);
        // All of the tangent space: the projector has the rank 6.
        let P = tangent_projector(&body, &x).expect("regular");
        assert!((P.trace() - 6.0).abs() < 1e-12);
        let found = body.pose(&x).expect("a pose");
        assert!((found.matrix() - pose().matrix()).amax() < 1e-13);
    }
}

fn choose_four(n: usize) -> usize {
    n * (n - 1) * (n - 2) * (n - 3) / 24
}

/// Velocities of the world: the bracket of the angular ones has the other sign, `v = r_1_dot` commutes with nothing else.
#[test]
fn particles_move_as_the_body_does() {
    let points = points(5);
    let body = RigidParticles::new(points.clone()).expect("a body");
    let masses = vec![0.4, 1.1, 0.6, 0.9, 0.3];
    let gravity = Vector3::new(0.3, -0.2, -9.81);
    let system = ParticleSystem::new(body.clone(), masses.clone())
        .expect("masses")
        .with_gravity(gravity);
    let x = body.configuration(&pose());
    let xi = DVector::from_column_slice(&[0.3, -0.5, 0.8, 1.2, -0.7, 0.4]);
    let acceleration = system
        .acceleration(&x, &xi, &DVector::zeros(6))
        .expect("regular");

    // The same of the body with its origin in the first particle.
    let moment =
        SecondMoment::from_points(masses.iter().zip(&points).map(|(m, h)| (*m, h - points[0])));
    let inertia = PseudoInertia::new(moment).expect("an inertia");
    let vehicle = FreeBody::new(inertia, gravity);
    let origin = SE3::new(SO3::identity(), points[0]);
    let rotation = pose().rotation;
    let both = |a: &[f64], b: fn(&SO3<f64>, &Vector3<f64>) -> Vector3<f64>| {
        let of = |i| b(&rotation, &Vector3::new(a[i], a[i + 1], a[i + 2]));
        let (v, w) = (of(0), of(3));
        Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
    };
    let to_body: fn(&SO3<f64>, &Vector3<f64>) -> Vector3<f64> = |R, v| R.inverse().act(v);
    let state = State {
        pose: pose() * origin,
        twist: both(xi.as_slice(), to_body),
    };
    let twist_rate = vehicle.acceleration(&state, &Vector6::zeros());
    // r_1_ddot = R (v_dot + w x v), and w_dot is the same vector in both frames.
    let w = state.twist.fixed_rows::<3>(3).into_owned();
    let v = state.twist.fixed_rows::<3>(0).into_owned();
    let linear = rotation.act(&(twist_rate.fixed_rows::<3>(0) + w.cross(&v)));
    let angular = rotation.act(&twist_rate.fixed_rows::<3>(3).into_owned());
    assert!((acceleration.fixed_rows::<3>(0) - linear).amax() < 1e-12);
    assert!((acceleration.fixed_rows::<3>(3) - angular).amax() < 1e-12);

    // M is that of the body, its axes turned.
    let turn = {
        let mut turn = Matrix6::zeros();
        for k in [0, 3] {
            turn.fixed_view_mut::<3, 3>(k, k)
                .copy_from(rotation.matrix());
        }
        turn
    };
    let M = turn * moment.matrix6() * turn.transpose();
    let found = system.mass_matrix(&x).expect("sizes");
    assert!((Matrix6::from_column_slice(found.as_slice()) - M).amax() < 1e-13);
    let gamma = commutation_coefficients(&body, &x).expect("regular");
    let (a, b) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(0.5, -1.0, 2.0));
    let whole = |w: &Vector3<f64>| DVector::from_column_slice(&[0.0, 0.0, 0.0, w.x, w.y, w.z]);
    let bracket = gamma.contract(&whole(&a), &whole(&b));
    assert!((bracket + whole(&a.cross(&b))).amax() < 1e-13);
}

#[test]
fn what_is_no_body_is_told() {
    let flat = points(6)
        .into_iter()
        .map(|h| Vector3::new(h.x, h.y, 0.0))
        .collect();
    let error = RigidParticles::new(flat).expect_err("a plane");
    assert!(
        error.to_string().contains("that are not coplanar, found 6"),
        "{error}"
    );
    assert!(RigidParticles::new(points(3)).is_err());
    assert!(RigidParticles::new(Vec::new()).is_err());
    let mut wrong = points(5);
    wrong[2].y = f64::INFINITY;
    let error = RigidParticles::new(wrong).expect_err("infinite");
    assert!(matches!(
        error,
        CoordinatesError::Particle { particle: 2, .. }
    ));
    let body = RigidParticles::new(points(4)).expect("a body");
    assert!(body.pose(&DVector::zeros(11)).is_err());
    assert!(body.pose(&DVector::from_element(12, f64::NAN)).is_err());
}
