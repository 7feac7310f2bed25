//! Particles against bodies, against derivatives of their energies, and against themselves in maximal coordinates.

#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::geometry::{
    self, AccelerationConstraint, Coordinates, CoordinatesError, EulerAngles, Minimal,
    ParticleSystem, Particles, Pose, connection_coefficients,
};
use fly_mechanics::{EqualityQp, PointSpring, PseudoInertia, SecondMoment, Stiffness};
use nalgebra::{
    DMatrix, DVector, Matrix3, Matrix3xX, RealField, Vector3, Vector6, convert, dvector,
};
use num_dual::HyperDual64;

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

/// Points of two bodies that move freely, and of the world.
#[derive(Clone, Debug)]
struct Bodies {
    /// The body of each, 0 or 1, or 2 for the world, and where it is there.
    points: Vec<(usize, Vector3<f64>)>,
}

impl Coordinates for Bodies {
    fn config_dim(&self) -> usize {
        24
    }
    fn dof(&self) -> usize {
        12
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        (Pose, Pose).kinematic_matrix(x)
    }
}

impl Particles for Bodies {
    fn count(&self) -> usize {
        self.points.len()
    }
    fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
        let places = self.points.iter().map(|(body, point)| {
            let point: Vector3<T> = point.map(convert);
            match body {
                2 => point,
                body => {
                    let x = x.rows(12 * body, 12);
                    Matrix3::from_column_slice(x.rows(3, 9).into_owned().as_slice()) * point
                        + x.fixed_rows::<3>(0)
                }
            }
        });
        Matrix3xX::from_columns(&places.collect::<Vec<_>>())
    }
}

/// Five points of each body and two of the world, with all that can act on them.
fn system(seed: usize) -> ParticleSystem<Bodies> {
    let point = |i| Vector3::new(wave(seed + i, 0), wave(seed + i, 1), wave(2 * i + seed, 2));
    let points: Vec<_> = (0..12).map(|i| (i / 5, point(i))).collect();
    let mass = |i| {
        if i < 10 {
            0.5 + 0.4 * wave(seed + i, 3)
        } else {
            0.0
        }
    };
    let masses = (0..12).map(mass).collect();
    let drags = (0..12).map(|i| 0.3 + 0.2 * wave(i, 4)).collect();
    let system = ParticleSystem::new(Bodies { points }, masses).expect("masses");
    let mut system = system
        .with_drag(drags)
        .expect("drags")
        .with_gravity(Vector3::new(0.3, -0.2, -9.81));
    for i in 0..9 {
        let ends = [i, (5 * i + 7) % 12];
        system = system
            .with_link(ends, 3.0 + wave(i, 5), 1.0 + 0.5 * wave(i, 6))
            .expect("a link");
    }
    system
}

fn state(seed: usize) -> (DVector<f64>, DVector<f64>, DVector<f64>) {
    let mut x = DVector::zeros(24);
    for body in 0..2 {
        let pose = SE3::exp(&Vector6::from_fn(|k, _| 1.5 * wave(seed + 7 * body, k)));
        x.fixed_rows_mut::<3>(12 * body)
            .copy_from(&pose.translation);
        x.rows_mut(12 * body + 3, 9)
            .copy_from_slice(pose.rotation.matrix().as_slice());
    }
    let numbers = |k: usize| DVector::from_fn(12, |i, _| wave(seed + i, k));
    (x, numbers(8), numbers(9))
}

#[test]
fn matrices_and_forces_follow_from_the_energies() {
    for seed in 0..10 {
        let (system, (x, xi, xi_dot)) = (system(seed), state(seed));
        let M = system.mass_matrix(&x).expect("M");
        let T = system.kinetic_energy(&x, &xi).expect("T");
        assert!((T - 0.5 * xi.dot(&(&M * &xi))).abs() < 1e-12);
        let D = system.damping_matrix(&x).expect("D");
        let R = system.dissipation(&x, &xi).expect("R");
        assert!((R - 0.5 * xi.dot(&(&D * &xi))).abs() < 1e-12);

        // (3.61b) is the connection of M, (3.63): second derivatives of positions against first ones of M.
        let Gamma = system.connection_coefficients(&x).expect("Gamma");
        let metric = |x: &DVector<_>| system.mass_matrix(x).expect("M");
        let expected = connection_coefficients(system.particles(), metric, &x).expect("Gamma");
        for i in 0..12 {
            assert!((&Gamma[i] - &expected[i]).amax() < 1e-12);
        }
        let c = system.coriolis_force(&x, &xi).expect("c");
        assert!((&c - Gamma.contract(&xi, &xi)).amax() < 1e-12);

        // dS/dxi_dot = M xi_dot + c, by differences of a parabola, which are exact.
        let S = |xi_dot: &DVector<f64>| system.acceleration_energy(&x, &xi, xi_dot).expect("S");
        for (i, force) in (&M * &xi_dot + &c).iter().enumerate() {
            let unit = DVector::from_fn(12, |k, _| f64::from(u8::from(k == i)));
            let slope = 0.5 * (S(&(&xi_dot + &unit)) - S(&(&xi_dot - unit)));
            assert!((slope - force).abs() < 1e-11, "{i}: {slope} {force}");
        }

        let force = system.potential_force(&x).expect("force");
        let V = |x: &DVector<_>| system.potential_energy(x).expect("V");
        let expected = geometry::directional_derivatives(system.particles(), V, &x).expect("slope");
        assert!((&force - expected).amax() < 1e-12);
    }
}

/// d/dt (T + V) = -2 R + f xi along the motion, by differences over time.
#[test]
fn energy_falls_by_what_is_dissipated() {
    let (system, (x, xi, _)) = (system(3), state(3));
    let force = DVector::from_fn(12, |i, _| wave(i, 11));
    let xi_dot = system.acceleration(&x, &xi, &force).expect("regular");
    let x_dot = system.particles().kinematic_matrix(&x) * &xi;
    let x_ddot = geometry::acceleration(system.particles(), &x, &xi, &xi_dot).expect("sizes");
    let energy = |h: f64| {
        let x = &x + &x_dot * h + &x_ddot * (0.5 * h * h);
        let xi = &xi + &xi_dot * h;
        system.kinetic_energy(&x, &xi).expect("T") + system.potential_energy(&x).expect("V")
    };
    let h = 1e-3;
    // Fourth order.
    let rate = (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h);
    let expected = force.dot(&xi) - 2.0 * system.dissipation(&x, &xi).expect("R");
    assert!(
        (rate - expected).abs() < 1e-6 * expected.abs().max(1.0),
        "{rate} {expected}"
    );
}

/// Quantities of bodies equal the sums over their particles: (4.19), (4.22), (4.27), (4.41).
#[test]
fn a_body_is_its_particles() {
    for seed in 0..10 {
        let points: Vec<_> = (0..6)
            .map(|i| (0, Vector3::from_fn(|k, _| wave(seed + i, k))))
            .collect();
        let weights = |k| {
            (0..6)
                .map(|i| 0.6 + 0.5 * wave(seed + i, k))
                .collect::<Vec<_>>()
        };
        let (masses, drags) = (weights(4), weights(5));
        let moment = |weights: &[f64]| {
            SecondMoment::from_points(
                weights
                    .iter()
                    .copied()
                    .zip(points.iter().map(|(_, point)| *point)),
            )
        };
        let body = PseudoInertia::new(moment(&masses)).expect("masses");
        let system = ParticleSystem::new(
            Bodies {
                points: points.clone(),
            },
            masses.clone(),
        )
        .expect("masses");
        let system = system.with_drag(drags.clone()).expect("drags");
        let (x, xi, _) = state(seed);
        let twist = xi.fixed_rows::<6>(0).into_owned();

        let M = system.mass_matrix(&x).expect("M");
        assert!((M.view((0, 0), (6, 6)) - body.matrix6()).amax() < 1e-13);
        let c = system.coriolis_force(&x, &xi).expect("c");
        let expected = body
            .second_moment()
            .inertial_force(&twist, &Vector6::zeros());
        assert!((c.rows(0, 6) - expected).amax() < 1e-12);
        let D = system.damping_matrix(&x).expect("D");
        assert!((D.view((0, 0), (6, 6)) - moment(&drags).matrix6()).amax() < 1e-13);
    }
}

/// Springs from points of a body to points of another that turns as well, against the 4x4 stiffness between their frames, (4.99).
#[test]
fn springs_between_two_turning_bodies() {
    for seed in 0..10 {
        let point = |i: usize, k: usize| Vector3::from_fn(|row, _| wave(seed + i, 3 * k + row));
        let points: Vec<_> = (0..4)
            .map(|i| (0, point(i, 1)))
            .chain((0..4).map(|i| (1, point(i, 2))))
            .collect();
        let stiffness = |i| 2.0 + wave(seed + i, 9);
        let mut system = ParticleSystem::new(
            Bodies {
                points: points.clone(),
            },
            vec![1.0; 8],
        )
        .expect("masses");
        for i in 0..4 {
            system = system
                .with_link([i, i + 4], stiffness(i), 0.0)
                .expect("a link");
        }
        let (x, _, _) = state(seed);
        let springs: Vec<_> = (0..4)
            .map(|i| PointSpring {
                stiffness: stiffness(i),
                point: points[i + 4].1,
                anchor: points[i].1,
            })
            .collect();
        let together = Stiffness::from_springs(&springs).expect("springs");
        let pose = |body: usize| {
            let rotation = Matrix3::from_column_slice(&x.as_slice()[12 * body + 3..12 * body + 12]);
            let translation = Vector3::from_column_slice(&x.as_slice()[12 * body..12 * body + 3]);
            SE3::new(fly_lie::SO3::from_matrix(rotation), translation)
        };
        let relative = pose(0).inverse() * pose(1);
        let V = system.potential_energy(&x).expect("V");
        assert!((V - together.energy(&relative)).abs() < 1e-12);
        let force = system.potential_force(&x).expect("force");
        let second = together.force(&relative);
        assert!((force.rows(6, 6) - second).amax() < 1e-12);
        // The first body feels the opposite, in its own frame.
        let first = -relative.inverse().adjoint().tr_mul(&second);
        assert!((force.rows(0, 6) - first).amax() < 1e-12);
    }
}

/// Konz, Examples 5 and 6: three particles on the axes of a body, by roll, pitch and yaw.
struct Axes(Vector3<f64>);

impl Coordinates for Axes {
    fn config_dim(&self) -> usize {
        3
    }
    fn dof(&self) -> usize {
        3
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> {
        DMatrix::identity(3, 3)
    }
}

impl Particles for Axes {
    fn count(&self) -> usize {
        3
    }
    fn positions<T: RealField + Copy>(&self, q: &DVector<T>) -> Matrix3xX<T> {
        let [(sa, ca), (sb, cb), (sp, cp)] = [q[0].sin_cos(), q[1].sin_cos(), q[2].sin_cos()];
        let columns = [
            Vector3::new(cp * cb, sp * cb, -sb),
            Vector3::new(cp * sb * sa - sp * ca, sp * sb * sa + cp * ca, cb * sa),
            Vector3::new(cp * sb * ca + sp * sa, sp * sb * ca - cp * sa, cb * ca),
        ];
        let along = |i: usize| columns[i] * convert::<f64, T>(self.0[i]);
        Matrix3xX::from_columns(&[along(0), along(1), along(2)])
    }
}

#[test]
fn the_inertia_matrix_of_three_angles_loses_its_rank() {
    let (lengths, masses) = (Vector3::new(0.4, 0.7, 1.1), [2.0, 0.8, 1.3]);
    let of = |i: usize| masses[i] * lengths[i] * lengths[i];
    let [x, y, z] = [of(1) + of(2), of(0) + of(2), of(0) + of(1)]; // (3.11)
    let system = ParticleSystem::new(Axes(lengths), masses.to_vec()).expect("masses");
    for seed in 0..20 {
        let q = DVector::from_fn(3, |k, _| 3.0 * wave(seed, k));
        let [(sa, ca), (sb, cb)] = [q[0].sin_cos(), q[1].sin_cos()];
        let mixed = (y - z) * ca * sa * cb;
        #[rustfmt::skip]
        let expected = Matrix3::new(
            x,       0.0,                         -x * sb,
            0.0,     y * ca * ca + z * sa * sa,   mixed,
            -x * sb, mixed,                       x * sb * sb + (y * sa * sa + z * ca * ca) * cb * cb,
        ); // (3.10)
        let M = system.mass_matrix(&q).expect("M");
        assert!((&M - expected).amax() < 1e-14);
        assert!((M.determinant() - x * y * z * cb * cb).abs() < 1e-13);
    }
    let upright = dvector![0.3, std::f64::consts::FRAC_PI_2, 0.2];
    let M = system.mass_matrix(&upright).expect("M");
    assert_eq!(M.rank(1e-12), 2);
    // The same particles by the velocities of the body have no such place.
    assert!(
        geometry::condition_number(
            &EulerAngles(fly_lie::attitude::EulerSequence::ZYX),
            &dvector![0.2, 1.57, 0.3]
        )
        .expect("finite")
            > 1e3
    );
}

/// A double pendulum in space: two particles on rods, by their directions as unit vectors, and as free particles with multipliers (3.50).
#[test]
fn multipliers_in_maximal_coordinates_say_the_same() {
    /// Each direction turns with the angular velocity of its rod about x and y of a frame that follows: here spherical angles suffice, away from the pole.
    struct Rods([f64; 2]);
    impl Coordinates for Rods {
        fn config_dim(&self) -> usize {
            4
        }
        fn dof(&self) -> usize {
            4
        }
        fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> {
            DMatrix::identity(4, 4)
        }
    }
    impl Particles for Rods {
        fn count(&self) -> usize {
            2
        }
        fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
            let rod = |i: usize| {
                let [(s, c), (sp, cp)] = [x[2 * i].sin_cos(), x[2 * i + 1].sin_cos()];
                Vector3::new(s * cp, s * sp, -c) * convert::<f64, T>(self.0[i])
            };
            Matrix3xX::from_columns(&[rod(0), rod(0) + rod(1)])
        }
    }
    struct Free;
    impl Coordinates for Free {
        fn config_dim(&self) -> usize {
            6
        }
        fn dof(&self) -> usize {
            6
        }
        fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
            Minimal(6).kinematic_matrix(x)
        }
    }
    impl Particles for Free {
        fn count(&self) -> usize {
            2
        }
        fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
            Matrix3xX::from_column_slice(x.as_slice())
        }
    }
    let (lengths, masses) = ([0.8, 1.3], vec![1.5, 0.6]);
    let build = |gravity| {
        let reduced = ParticleSystem::new(Rods(lengths), masses.clone()).expect("masses");
        let free = ParticleSystem::new(Free, masses.clone()).expect("masses");
        let reduced = reduced
            .with_drag(vec![0.2, 0.4])
            .expect("drags")
            .with_gravity(gravity);
        let free = free
            .with_drag(vec![0.2, 0.4])
            .expect("drags")
            .with_gravity(gravity);
        (
            reduced.with_link([0, 1], 3.0, 0.7).expect("a link"),
            free.with_link([0, 1], 3.0, 0.7).expect("a link"),
        )
    };
    let (reduced, free) = build(Vector3::new(0.0, 0.0, -9.81));
    let distances = |r: &DVector<HyperDual64>| {
        let square = |v: nalgebra::Vector3<HyperDual64>, l: f64| {
            v.norm_squared() - convert::<f64, HyperDual64>(l * l)
        };
        let (a, b) = (
            r.fixed_rows::<3>(0).into_owned(),
            r.fixed_rows::<3>(3).into_owned(),
        );
        dvector![square(a, lengths[0]), square(b - a, lengths[1])]
    };
    for seed in 0..10 {
        let x = DVector::from_fn(4, |i, _| 1.2 + wave(seed, i));
        let xi = DVector::from_fn(4, |i, _| 2.0 * wave(seed, i + 4));
        let xi_dot = reduced
            .acceleration(&x, &xi, &DVector::zeros(4))
            .expect("regular");
        let [velocities, accelerations] = reduced.motion(&x, &xi, &xi_dot).expect("sizes");

        let r = DVector::from_column_slice(reduced.particles().positions(&x).as_slice());
        let v = DVector::from_column_slice(velocities.as_slice());
        let rods =
            AccelerationConstraint::geometric(&Minimal(6), distances, &r, &v).expect("sizes");
        let inner =
            free.damping_matrix(&r).expect("D") * &v + free.potential_force(&r).expect("force");
        let mut motion = EqualityQp::new(6, 2);
        let M = free.mass_matrix(&r).expect("M");
        motion
            .solve(&M, &inner, rods.matrix(), rods.bound())
            .expect("independent");
        let expected = DVector::from_column_slice(accelerations.as_slice());
        assert!((motion.point() - expected).amax() < 1e-11, "{seed}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let points = vec![(0, Vector3::x()), (1, Vector3::y())];
    let new = |masses| {
        ParticleSystem::new(
            Bodies {
                points: points.clone(),
            },
            masses,
        )
    };
    let message = |error: CoordinatesError| error.to_string();
    assert_eq!(
        message(new(vec![1.0]).expect_err("one is missing")),
        "masses must be 2 x 1, found 1 x 1"
    );
    assert_eq!(
        message(new(vec![1.0, -1.0]).expect_err("negative")),
        "particle 1 has a mass of -1, expected a finite number that is not negative"
    );
    let system = new(vec![1.0, 0.0]).expect("masses");
    assert!(system.clone().with_link([0, 2], 1.0, 0.0).is_err());
    assert!(system.clone().with_link([0, 1], 1.0, -1.0).is_err());
    assert!(system.mass_matrix::<f64>(&dvector![1.0]).is_err());
    // The attitude of a body about its single particle carries no inertia.
    let (x, xi, _) = state(0);
    let error = system
        .acceleration(&x, &xi, &xi)
        .expect_err("a mass matrix without rank");
    assert!(matches!(error, CoordinatesError::Metric { .. }));
}

/// `d_i r = d(r_dot)/dxi^i = d(r_ddot)/dxi_dot^i`, Konz (3.4), (3.64), whose print has lost the dots; of a body it is `R [I, -hat(h)]`, the first term of (4.14).
#[test]
fn partial_velocities_are_partial_accelerations() {
    let (system, (x, xi, xi_dot)) = (system(5), state(5));
    let J = system.jacobians(&x).expect("sizes");
    let [v, a] = system.motion(&x, &xi, &xi_dot).expect("sizes");
    for (i, J) in J.iter().enumerate() {
        let more = |of: &DVector<f64>| {
            let mut more = of.clone();
            more[i] += 1.0;
            more
        };
        // Linear in xi and in xi_dot: a step of one is the derivative.
        let [faster, _] = system.motion(&x, &more(&xi), &xi_dot).expect("sizes");
        let [_, accelerated] = system.motion(&x, &xi, &more(&xi_dot)).expect("sizes");
        assert!((faster - &v - J).amax() < 1e-12);
        assert!((accelerated - &a - J).amax() < 1e-12);
        for (p, (body, h)) in system.particles().points.iter().enumerate() {
            let own = 6 * body..6 * body + 6;
            let expected = if *body < 2 && own.contains(&i) {
                let entries = x.rows(12 * body + 3, 9).into_owned();
                let R = Matrix3::from_column_slice(entries.as_slice());
                match i % 6 {
                    k @ 0..3 => R.column(k).into_owned(),
                    k => R * Vector3::ith(k - 3, 1.0).cross(h),
                }
            } else {
                Vector3::zeros()
            };
            assert!((J.column(p) - expected).amax() < 1e-14);
        }
    }
}
