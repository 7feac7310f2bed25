//! Shapes against particles, frames, principal axes, and invalid inertias.

#![allow(non_snake_case)]

use std::f64::consts::PI;

use fly_lie::{SE3, SO3};
use fly_mechanics::{FreeBody, InertiaError, PseudoInertia, SecondMoment, wrench_of_force};
use nalgebra::{Matrix3, Matrix4, Matrix6, Vector3, Vector6};
use num_dual::Dual64;

/// The nodes and weights of Gauss and Legendre on [0, 1], exact up to degree five.
fn gauss() -> [(f64, f64); 3] {
    let x = 0.5 * 0.6_f64.sqrt();
    [
        (0.5 - x, 5.0 / 18.0),
        (0.5, 8.0 / 18.0),
        (0.5 + x, 5.0 / 18.0),
    ]
}

/// Particles that have the exact second moment of `{ shape(u, v, w) : u, v, w in [0, 1] }`, where `density` is the volume of a cell.
fn particles(
    weight: f64,
    shape: impl Fn(f64, f64, f64) -> Vector3<f64>,
    density: impl Fn(f64, f64, f64) -> f64,
) -> SecondMoment<f64> {
    let mut points = Vec::new();
    for (u, a) in gauss() {
        for (v, b) in gauss() {
            // Around the circle five even steps are exact for the squares of sine and cosine.
            for k in 0..5 {
                let w = f64::from(k) / 5.0;
                points.push((a * b * density(u, v, w), shape(u, v, w)));
            }
        }
    }
    let volume: f64 = points.iter().map(|point| point.0).sum();
    SecondMoment::from_points(points.into_iter().map(|(m, h)| (weight * m / volume, h)))
}

fn assert_same(got: SecondMoment<f64>, expected: SecondMoment<f64>) {
    let error = got.matrix4() - expected.matrix4();
    assert!(error.amax() < 1e-14, "{got:?} {expected:?}");
}

#[test]
fn round_shapes_are_those_of_their_particles() {
    let circle = |radius: f64, w: f64| {
        let (sin, cos) = (2.0 * PI * w).sin_cos();
        Vector3::new(radius * cos, radius * sin, 0.0)
    };
    let (inner, outer, height) = (0.3, 0.7, 1.1);
    let radius = |u: f64| inner + (outer - inner) * u;
    assert_same(
        SecondMoment::hollow_cylinder(2.0, inner, outer, height),
        particles(
            2.0,
            |u, v, w| circle(radius(u), w) + Vector3::z() * (height * (v - 0.5)),
            |u, _, _| radius(u),
        ),
    );

    let ball = |radius: f64, v: f64, w: f64| {
        let z = 2.0 * v - 1.0;
        (circle((1.0 - z * z).sqrt(), w) + Vector3::z() * z) * radius
    };
    let semi_axes = Vector3::new(0.3, 0.5, 0.8);
    assert_same(
        SecondMoment::solid_ellipsoid(2.0, semi_axes.into()),
        particles(
            2.0,
            |u, v, w| ball(u, v, w).component_mul(&semi_axes),
            |u, _, _| u * u,
        ),
    );
    assert_same(
        SecondMoment::hollow_sphere(2.0, inner, outer),
        particles(
            2.0,
            |u, v, w| ball(radius(u), v, w),
            |u, _, _| radius(u).powi(2),
        ),
    );
    assert_same(
        SecondMoment::hollow_sphere(2.0, outer, outer),
        particles(2.0, |_, v, w| ball(outer, v, w), |_, _, _| 1.0),
    );
}

#[test]
fn straight_shapes_are_those_of_their_particles() {
    let lengths = Vector3::new(0.4, 1.0, 2.0);
    let mut points = Vec::new();
    for (u, a) in gauss() {
        for (v, b) in gauss() {
            for (w, c) in gauss() {
                let corner = Vector3::new(u, v, w).add_scalar(-0.5);
                points.push((3.0 * a * b * c, corner.component_mul(&lengths)));
            }
        }
    }
    assert_same(
        SecondMoment::solid_box(3.0, lengths.into()),
        SecondMoment::from_points(points),
    );
    let ends = [Vector3::new(0.1, -0.2, 0.3), Vector3::new(1.0, 0.5, 0.4)];
    assert_same(
        SecondMoment::rod(1.5, ends),
        SecondMoment::from_points(gauss().map(|(u, a)| (1.5 * a, ends[0].lerp(&ends[1], u)))),
    );
}

/// The textbook table of moments of inertia, copied.
#[test]
fn moments_are_those_of_the_textbooks() {
    let diagonal = |moment: SecondMoment<f64>| moment.moment_about_center().diagonal();
    let (m, r, h) = (2.0, 0.3, 0.8);
    let cylinder = Vector3::new(3.0 * r * r + h * h, 3.0 * r * r + h * h, 6.0 * r * r) * (m / 12.0);
    assert!((diagonal(SecondMoment::solid_cylinder(m, r, h)) - cylinder).amax() < 1e-15);
    let sphere = Vector3::from_element(0.4 * m * r * r);
    assert!((diagonal(SecondMoment::solid_sphere(m, r)) - sphere).amax() < 1e-15);
    let hoop = Vector3::new(0.5, 0.5, 1.0) * (m * r * r);
    assert!((diagonal(SecondMoment::hollow_cylinder(m, r, r, 0.0)) - hoop).amax() < 1e-15);
}

/// A dumbbell with its frame in a corner: the sum of bodies, each put in its place, is that of all their particles.
#[test]
fn bodies_add_up() {
    let frames = [
        SE3::exp(&Vector6::new(0.4, -0.1, 1.0, 0.3, 2.0, -1.0)),
        SE3::exp(&Vector6::new(-1.4, 0.7, 0.0, -0.8, 0.1, 0.5)),
    ];
    let points = [
        [
            (0.5, Vector3::x()),
            (1.0, Vector3::new(0.0, 2.0, 0.3)),
            (0.2, -Vector3::z()),
        ],
        [
            (1.5, Vector3::y()),
            (0.7, Vector3::new(1.0, -0.4, 0.0)),
            (0.9, Vector3::z()),
        ],
    ];
    let parts = [0, 1].map(|i: usize| {
        let body = PseudoInertia::new(SecondMoment::from_points(points[i])).expect("a body");
        body.placed(&frames[i])
    });
    let all = (0..2).flat_map(|i: usize| points[i].map(|(m, h)| (m, frames[i].act(&h))));
    let sum = parts[0] + parts[1];
    assert_same(*sum.second_moment(), SecondMoment::from_points(all));
    let moments = parts.map(|part| *part.second_moment());
    assert_same(moments.into_iter().sum(), *sum.second_moment());
    assert_same(*sum.second_moment() - moments[0], moments[1]);
    assert_same(moments[0] * 3.0 - moments[0] * 2.0, moments[0]);

    // Steiner: the moment about a point is the one about the origin of a frame there.
    let point = Vector3::new(0.3, -2.0, 0.5);
    let there = sum.in_frame(&SE3::new(SO3::identity(), point));
    assert!((sum.inertia_about(&point) - there.inertia_about_origin()).amax() < 1e-14);
    let least = sum.inertia_about(&sum.center_of_mass());
    assert!((least - sum.inertia_about_center()).amax() < 1e-14);
}

#[test]
fn principal_axes_are_found() {
    let frame = SE3::exp(&Vector6::new(0.4, -0.1, 1.0, 0.3, 2.0, -1.0));
    let shapes = [
        SecondMoment::solid_box(2.0, [0.3, 0.2, 1.0]),
        SecondMoment::solid_box(2.0, [0.3, 0.0, 1.0]),
        SecondMoment::solid_cylinder(2.0, 0.3, 0.1),
        SecondMoment::solid_cylinder(2.0, 0.1, 3.0),
        SecondMoment::solid_sphere(2.0, 0.1),
    ];
    for shape in shapes {
        let body = PseudoInertia::new(shape.placed(&frame)).expect("a body");
        let principal = body.principal();
        let expected = Matrix3::from_diagonal(&principal.moments);
        let seen = body.in_frame(&principal.pose);
        assert!((seen.inertia_about_origin() - expected).amax() < 1e-14);
        assert!(seen.center_of_mass().norm() < 1e-15);
        let R = principal.pose.rotation.matrix();
        assert!((R.determinant() - 1.0_f64).abs() < 1e-14);
        assert!(principal.moments[0] <= principal.moments[1]);
        assert!(principal.moments[1] <= principal.moments[2]);
        let radii = body.radii_of_gyration();
        assert!((radii.component_mul(&radii) * 2.0 - principal.moments).amax() < 1e-14);
    }
}

/// `dS/dxi_dot = M xi_dot + c`, and `Gamma_ijk xi^k` is the Coriolis matrix.
#[test]
fn inertia_wrench_is_the_gradient_of_the_acceleration_energy() {
    let points = [
        (0.5, Vector3::new(1.0, 0.2, 0.0)),
        (1.0, Vector3::new(0.0, 2.0, 0.3)),
        (0.2, Vector3::new(-0.7, 0.4, -1.0)),
    ];
    let moment = SecondMoment::from_points(points);
    let dual = SecondMoment::from_matrix4(moment.matrix4().map(Dual64::from_re));
    let twist = Vector6::new(0.3, -1.0, 0.4, 2.0, 0.7, -0.5);
    let acceleration = Vector6::new(-0.2, 0.9, 1.4, 0.1, -0.8, 0.6);
    let C = moment.coriolis_matrix(&twist);
    let force = moment.inertial_force(&twist, &acceleration);
    assert!((force - moment.matrix6() * acceleration - C * twist).amax() < 1e-14);
    for k in 0..6 {
        let mut moved = acceleration.map(Dual64::from_re);
        moved[k].eps = 1.0;
        let energy = dual.acceleration_energy(&twist.map(Dual64::from_re), &moved);
        assert!((energy.eps - force[k]).abs() < 1e-14);
    }
    let rows = moment.connection_coefficients().map(|row| row * twist);
    let contracted = Matrix6::from_fn(|i, j| rows[i][j]);
    assert!((contracted - C).amax() < 1e-14);
    assert!((contracted + contracted.transpose()).amax() < 1e-14, "skew");
}

#[test]
fn what_is_no_inertia_is_refused_with_the_reason() {
    let reason = |moment| {
        PseudoInertia::new(moment)
            .expect_err("no inertia")
            .to_string()
    };
    let cube = SecondMoment::solid_box(1.0, [1.0; 3]);
    assert_eq!(
        reason(cube - SecondMoment::solid_sphere(2.0, 0.1)),
        "the mass must be positive, found -1 kg",
    );
    assert_eq!(
        reason(SecondMoment::rod(1.0, [Vector3::zeros(), Vector3::x()])),
        "the principal moments of inertia must be positive, found 0, 0.0833333, 0.0833333 kg m^2 about the centre of mass",
    );
    assert_eq!(
        reason(cube - SecondMoment::solid_box(0.3, [0.0, 0.0, 2.0])),
        "the largest principal moment of inertia must not exceed the sum of the two others, but 0.166667 > 0.0666667 + 0.0666667 kg m^2 about the centre of mass",
    );
    let mut matrix = *cube.matrix4();
    matrix[(0, 3)] = 0.1;
    assert_eq!(
        reason(SecondMoment::from_matrix4(matrix)),
        "the matrix of inertia must be symmetric, but entry (1, 4) is 0.1 and entry (4, 1) is 0",
    );
    assert_eq!(
        reason(SecondMoment::from_matrix4(Matrix4::zeros())),
        "the mass must be positive, found 0 kg",
    );
    for bad in [f64::NAN, f64::INFINITY] {
        for i in 0..4 {
            let mut matrix = *cube.matrix4();
            matrix[(i, i)] = bad;
            let error = PseudoInertia::new(SecondMoment::from_matrix4(matrix));
            assert!(matches!(
                error,
                Err(InertiaError::MassNotFinite { .. } | InertiaError::MomentNotFinite { .. })
            ));
            let mut matrix = *cube.matrix4();
            (matrix[(i, 3)], matrix[(3, i)]) = (bad, bad);
            assert!(PseudoInertia::new(SecondMoment::from_matrix4(matrix)).is_err());
        }
    }
}

/// Without inertia about an axis nothing accelerates about it, wherever rounding leaves some.
#[test]
fn point_masses_have_no_inertia_about_their_line() {
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let point = |place: [f64; 3]| PseudoInertia::point_mass(0.28, Vector3::from(place)).unwrap();
    for place in [[0.0; 3], [-0.9, -0.27, 0.12], [12.3, 0.1, -7.7]] {
        let alone = FreeBody::new(point(place), gravity);
        let inverse = alone.inverse_mass_matrix().fixed_view::<3, 3>(3, 3);
        assert_eq!(inverse.amax(), 0.0, "at {place:?}");
        // A push through its centre moves it.
        let push = wrench_of_force(&Vector3::x(), &Vector3::from(place));
        let found = alone.inverse_mass_matrix() * push;
        assert!((found[0] * 0.28 - 1.0).abs() < 1e-12 && found.fixed_rows::<5>(1).amax() == 0.0);
    }
    // Two of them turn across their line: 2 m r^2 = 0.28.
    let (end, across) = (Vector3::new(0.6, 0.8, 0.0) * 0.5_f64.sqrt(), Vector3::z());
    let both = point(end.into()) + point((-end).into());
    let both = FreeBody::new(both, gravity);
    let turned = |torque: Vector3<f64>| -> Vector3<f64> {
        let inverse = both.inverse_mass_matrix().fixed_view::<3, 3>(3, 3);
        inverse * torque
    };
    assert!((turned(across) - across / 0.28).amax() < 1e-12);
    assert!(turned(end).amax() < 1e-12, "{}", turned(end));
}
