//! Rolling bodies: the contact's geometry, equations of motion derived independently, energy, known motions of the disc, limits of the contact.

#![allow(non_snake_case)]

use fly_lie::operators::{angular, hat3, join, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ContactCondition, Disc, Ellipsoid, Surface, SurfaceError,
};
use fly_mechanics::{PseudoInertia, SecondMoment, State, velocity_of_point};
use nalgebra::{Matrix3, RealField, SMatrix, SVector, Vector2, Vector3, Vector6, convert};
use num_dual::Dual64;

use crate::special_bodies::{Contact, RollingBody};

const GRAVITY: f64 = 9.81;

/// A surface for any scalar.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Ellipsoid([f64; 3]),
    Disc(f64, f64),
}

impl<T: RealField + Copy> Surface<T> for Shape {
    fn contact(&self, up: &Vector3<T>) -> Vector3<T> {
        match *self {
            Self::Ellipsoid(axes) => Ellipsoid::new(axes.map(convert)).expect("axes").contact(up),
            Self::Disc(a, b) => disc(a, b).contact(up),
        }
    }

    fn contact_rate(&self, up: &Vector3<T>, rate: &Vector3<T>) -> Vector3<T> {
        match *self {
            Self::Ellipsoid(axes) => {
                let ellipsoid = Ellipsoid::new(axes.map(convert)).expect("axes");
                ellipsoid.contact_rate(up, rate)
            }
            Self::Disc(a, b) => disc(a, b).contact_rate(up, rate),
        }
    }
}

fn disc<T: RealField + Copy>(radius: f64, rim: f64) -> Disc<T> {
    Disc::with_rim(convert(radius), convert(rim)).expect("a disc")
}

impl Shape {
    fn all() -> [Self; 5] {
        [
            Self::Ellipsoid([0.3, 0.45, 0.6]),
            Self::Ellipsoid([0.2, 0.2, 0.2]),
            Self::Ellipsoid([0.3, 0.3, 0.05]),
            Self::Disc(0.3, 0.0),
            Self::Disc(0.25, 0.05),
        ]
    }

    /// A point of the surface for each two numbers.
    fn point(self, u: f64, v: f64) -> Vector3<f64> {
        let around = Vector3::new(u.cos(), u.sin(), 0.0);
        match self {
            Self::Ellipsoid(axes) => {
                (around * v.cos() + Vector3::z() * v.sin()).component_mul(&Vector3::from(axes))
            }
            Self::Disc(a, b) => around * (a + b * v.cos()) + Vector3::z() * (b * v.sin()),
        }
    }

    /// A body with this surface and its centre of mass anywhere.
    fn body<T: RealField + Copy>(self) -> RollingBody<T, Self> {
        let inertia =
            Matrix3::new(0.02, 0.001, -0.002, 0.001, 0.03, 0.003, -0.002, 0.003, 0.04).map(convert);
        let center = Vector3::new(0.02, -0.03, 0.05).map(convert);
        let inertia = PseudoInertia::from_center(convert(1.5), center, inertia);
        RollingBody::new(
            inertia.expect("an inertia"),
            self,
            Vector3::new(0.7, -0.4, -GRAVITY).map(convert),
        )
    }
}

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

/// States and wrenches; none of a disc near to lying flat.
fn states<S: Surface<f64> + Copy + std::fmt::Debug + Send + Sync + 'static>(
    body: &RollingBody<f64, S>,
) -> Vec<(State<f64>, Vector6<f64>)> {
    let states = (0..40).filter_map(|i| {
        let rotation = SO3::exp(&Vector3::from_fn(|k, _| 3.0 * wave(i, k)));
        let omega = Vector3::from_fn(|k, _| 4.0 * wave(i, k + 6));
        let wrench = Vector6::from_fn(|k, _| 2.0 * wave(i, k + 9));
        let state = body.state(rotation, omega, Vector2::new(wave(i, 20), wave(i, 21)));
        (rotation.matrix()[(2, 2)].abs() < 0.9).then_some((state, wrench))
    });
    let states: Vec<_> = states.collect();
    assert!(states.len() >= 20);
    states
}

fn up<T: RealField + Copy>(state: &State<T>) -> Vector3<T> {
    state.pose.rotation.matrix().row(2).transpose()
}

/// The state a moment `eps` later.
fn moved(state: &State<f64>, acceleration: &Vector6<f64>) -> State<Dual64> {
    let pose = SE3::from_matrix(&state.pose.matrix().map(Dual64::from_re));
    State {
        pose: pose * SE3::exp(&state.twist.map(|x| Dual64::new(0.0, x))),
        twist: state.twist.zip_map(acceleration, Dual64::new),
    }
}

#[test]
fn the_contact_is_the_lowest_point() {
    for shape in Shape::all() {
        for (state, _) in states(&shape.body()) {
            let contact = state.pose.act(&shape.contact(&up(&state)));
            assert!(contact.z.abs() < 1e-15, "{shape:?}: on the plane");
            let mut lowest = f64::INFINITY;
            for i in 0..200 {
                for k in 0..200 {
                    let [u, v] = [i, k].map(|i| f64::from(i) * std::f64::consts::TAU / 200.0);
                    lowest = lowest.min(state.pose.act(&shape.point(u, v)).z);
                }
            }
            // The grid comes within half a cell, whose sagitta is (0.016)²/2 of the size.
            assert!(lowest > -1e-15 && lowest < 2e-4, "{shape:?}: {lowest}");
        }
    }
}

/// The contact's rate, the height and the velocity belong together.
#[test]
fn the_contact_wanders_as_the_body_turns() {
    for shape in Shape::all() {
        let body = shape.body();
        for (state, wrench) in states(&body) {
            let acceleration = body.acceleration(&state, &wrench);
            let next = moved(&state, &acceleration);
            let point = shape.contact(&up(&next));
            let contact = body.contact(&state, &wrench);
            assert!((point.map(|x| x.eps) - contact.point_rate).amax() < 1e-12);
            assert!((point.map(|x| x.re) - contact.point).amax() < 1e-15);
            let height: Dual64 = shape.height(&up(&next));
            let rise = next.pose.translation.z - height;
            assert!(rise.re.abs() < 1e-15 && rise.eps.abs() < 1e-13);
            // No slip, now and a moment later.
            let slip = velocity_of_point(&next.twist, &point);
            assert!(slip.map(|x| x.re).amax() < 1e-14);
            assert!(slip.map(|x| x.eps).amax() < 1e-11);
        }
    }
}

/// Lagrange's multipliers: the free body with the constraint `v - p x omega = 0`, whose derivative closes the system of nine equations.
#[test]
fn maximal_coordinates_give_the_same_motion_and_force() {
    for shape in Shape::all() {
        let body = shape.body();
        let free = body.free;
        for (state, wrench) in states(&body) {
            let next = moved(&state, &Vector6::zeros());
            let Z = |p: &Vector3<Dual64>| {
                let mut Z = SMatrix::<Dual64, 3, 6>::identity();
                Z.fixed_view_mut::<3, 3>(0, 3).copy_from(&-hat3(p));
                Z
            };
            let Z = Z(&shape.contact(&up(&next)));
            let drift = Z.map(|x| x.eps) * state.twist;
            let Z = Z.map(|x| x.re);
            let mut K = SMatrix::<f64, 9, 9>::zeros();
            K.fixed_view_mut::<6, 6>(0, 0).copy_from(free.mass_matrix());
            K.fixed_view_mut::<6, 3>(0, 6).copy_from(&-Z.transpose());
            K.fixed_view_mut::<3, 6>(6, 0).copy_from(&Z);
            let mut right = SVector::<f64, 9>::zeros();
            right
                .fixed_rows_mut::<6>(0)
                .copy_from(&(wrench - free.bias(&state)));
            right.fixed_rows_mut::<3>(6).copy_from(&-drift);
            let solution = K.lu().solve(&right).expect("regular");

            let xi_dot = body.acceleration(&state, &wrench);
            let error = (solution.fixed_rows::<6>(0) - xi_dot).amax();
            assert!(error < 1e-10 * xi_dot.amax(), "{shape:?}: {error}");
            let force = state.pose.rotation.act(&solution.fixed_rows::<3>(6).into());
            let contact = body.contact(&state, &wrench);
            let error = (force - contact.force.0).amax();
            assert!(error < 1e-10 * force.amax(), "{shape:?}: {error}");

            // The force acts at the contact point: it explains the torque too.
            let xi = state.twist;
            let balance = free.mass_matrix() * xi_dot
                + free.coriolis_force(&xi)
                + free.potential_force(&state.pose)
                - wrench;
            let torque = angular(&balance) - contact.point.cross(&linear(&balance));
            assert!(torque.amax() < 1e-11, "{shape:?}: {torque}");
        }
    }
}

/// (B.27) word for word, with p of (B.24) corrected: the centre of mass in the ellipsoid's centre.
#[test]
fn the_dissertation_gives_the_same_motion() {
    let (m, axes) = (1.4, [0.3, 0.45, 0.6]);
    let inertia = PseudoInertia::new(SecondMoment::solid_ellipsoid(m, axes)).expect("a body");
    let a_G = Vector3::new(0.0, 0.0, -GRAVITY);
    let body = RollingBody::new(inertia, Ellipsoid::new(axes).expect("axes"), a_G);
    let Theta = inertia.inertia_about_center();
    let D = Matrix3::from_diagonal(&Vector3::from(axes).map(|a| a * a));
    for (state, wrench) in states(&body) {
        let tau = angular(&wrench);
        let (R, w, u) = (state.pose.rotation, angular(&state.twist), up(&state));
        let n = u.dot(&(D * u)).sqrt();
        let p = -D * u / n;
        let u_dot = u.cross(&w);
        let p_dot = -D * u_dot / n + D * u * (u.dot(&(D * u_dot)) / n.powi(3));
        let P = hat3(&p);
        let moved = Theta + P.transpose() * P * m;
        let right = tau
            - p.cross(&R.inverse().act(&(a_G * m)))
            - w.cross(&(moved * w))
            - P.transpose() * hat3(&p_dot) * w * m;
        let w_dot = moved.try_inverse().expect("regular") * right;
        let got = body.acceleration(&state, &join(&Vector3::zeros(), &tau));
        assert!((angular(&got) - w_dot).amax() < 1e-11);
    }
}

#[test]
fn energy_changes_by_the_power_of_the_wrench() {
    for shape in Shape::all() {
        let (body, dual) = (shape.body::<f64>(), shape.body::<Dual64>());
        for (state, wrench) in states(&body) {
            let next = moved(&state, &body.acceleration(&state, &wrench));
            let power = wrench.dot(&state.twist);
            assert!((dual.energy(&next).eps - power).abs() < 1e-11);
        }
    }
}

/// Seconds of rolling keep the energy; halving the step divides the error by sixteen.
#[test]
fn rolling_keeps_its_energy() {
    for shape in [Shape::all()[0], Shape::all()[4]] {
        let body = shape.body();
        let (start, _) = states(&body)[2];
        let run = |steps: u32| {
            let mut state = start;
            for _ in 0..steps {
                state = body.step(&state, 0.8 / f64::from(steps));
            }
            state
        };
        let exact = run(6400);
        assert!((body.energy(&exact) - body.energy(&start)).abs() < 1e-9);
        let error = |steps| (run(steps).pose.matrix() - exact.pose.matrix()).norm();
        let order = (error(200) / error(400)).log2();
        assert!((3.6..4.6).contains(&order), "{shape:?}: order {order}");
    }
}

/// A thin disc: mass, radius, moments about a diameter and about the axis.
const DISC: [f64; 4] = [0.8, 0.3, 0.8 * 0.09 / 4.0, 0.8 * 0.09 / 2.0];

fn thin_disc() -> RollingBody<f64, Disc<f64>> {
    let [m, a, ..] = DISC;
    let inertia = PseudoInertia::new(SecondMoment::solid_cylinder(m, a, 0.0)).expect("a body");
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    RollingBody::new(inertia, Disc::new(a).expect("a disc"), gravity)
}

/// The disc at an angle between its axis and the vertical, with an angular velocity along the horizontal diameter, the diameter
/// that points up the slope, and the axis.
fn leaning(theta: f64, omega: Vector3<f64>, spun: f64) -> State<f64> {
    let disc = thin_disc();
    let about = |axis: Vector3<f64>, angle: f64| SO3::exp(&(axis * angle));
    // The horizontal diameter along x at first; then turned about the axis by `spun`.
    let rotation = about(Vector3::x(), theta) * about(Vector3::z(), spun);
    let in_body = about(Vector3::z(), -spun).act(&omega);
    disc.state(rotation, in_body, Vector2::zeros())
}

/// The textbooks' equations in the frame that takes no part in the spin, with `omega_1 = theta_dot`:
///
/// ```text
/// (A + m a²) ω₁' = A ω₂² cot θ - (C + m a²) ω₂ ω₃ - m g a cos θ
/// A ω₂' = C ω₁ ω₃ - A ω₁ ω₂ cot θ            (C + m a²) ω₃' = m a² ω₁ ω₂
/// ```
#[test]
fn the_disc_obeys_the_equations_of_the_textbooks() {
    let [m, a, A, C] = DISC;
    for i in 0..20 {
        let theta = 1.5 + wave(i, 0);
        let w = Vector3::from_fn(|k, _| 5.0 * wave(i, k + 1));
        let spun = 3.0 * wave(i, 5);
        let cot = theta.cos() / theta.sin();
        let rates = Vector3::new(
            (A * w.y * w.y * cot - (C + m * a * a) * w.y * w.z - m * GRAVITY * a * theta.cos())
                / (A + m * a * a),
            (C * w.x * w.z - A * w.x * w.y * cot) / A,
            m * a * a * w.x * w.y / (C + m * a * a),
        );
        let state = leaning(theta, w, spun);
        let body_rates = angular(&thin_disc().acceleration(&state, &Vector6::zeros()));
        // Components in the body differ by the spin relative to the frame, w_3 - w_2 cot theta, about the axis.
        let spin = Vector3::new(0.0, 0.0, w.z - w.y * cot);
        let in_frame = SO3::exp(&(Vector3::z() * spun)).act(&body_rates) + spin.cross(&w);
        assert!((in_frame - rates).amax() < 1e-10, "{in_frame} {rates}");
    }
}

/// The disc is the ellipsoid without thickness.
#[test]
fn the_disc_is_the_limit_of_ellipsoids() {
    let disc = Shape::Disc(0.3, 0.0).body::<f64>();
    let difference = |thickness: f64| {
        let other = Shape::Ellipsoid([0.3, 0.3, thickness]).body::<f64>();
        let pairs = states(&disc).into_iter().map(|(state, wrench)| {
            let same = other.state(state.pose.rotation, angular(&state.twist), Vector2::zeros());
            let a = disc.acceleration(&state, &wrench);
            (a - other.acceleration(&same, &wrench)).amax() / a.amax()
        });
        pairs.fold(0.0, f64::max)
    };
    assert!(difference(1e-7) < 1e-11);
    // It vanishes with the square of the thickness.
    let order = (difference(1e-3) / difference(1e-4)).log10();
    assert!((1.95..2.05).contains(&order), "{order}");
}

/// On its circle a leaning disc keeps its angle and its rates: `A Ω² sin θ cos θ = (C + m a²) Ω sin θ ω₃ + m g a cos θ`.
#[test]
fn a_leaning_disc_rolls_around_a_circle() {
    let [m, a, A, C] = DISC;
    let (theta, turn) = (1.1_f64, 2.0);
    let (sin, cos) = theta.sin_cos();
    let axial =
        (A * turn * turn * sin * cos - m * GRAVITY * a * cos) / ((C + m * a * a) * turn * sin);
    let disc = thin_disc();
    let start = leaning(theta, Vector3::new(0.0, turn * sin, axial), 0.3);
    let mut state = start;
    // Once around: the axis, the place and the angular velocity along the axis are the same again.
    let period = std::f64::consts::TAU / turn;
    for _ in 0..5000 {
        state = disc.step(&state, period / 5000.0);
        assert!((state.pose.rotation.matrix()[(2, 2)] - cos).abs() < 1e-8);
    }
    let axis = |state: &State<f64>| state.pose.rotation.act(&Vector3::z());
    assert!((axis(&state) - axis(&start)).norm() < 1e-7);
    assert!((state.pose.translation - start.pose.translation).norm() < 1e-7);
    assert!((state.twist[5] - axial).abs() < 1e-8);
}

/// Upright it stays if it is faster than `v² = g a / 3`, and tumbles if it is slower.
#[test]
fn a_fast_disc_rolls_upright() {
    let [_, a, ..] = DISC;
    let critical = (GRAVITY * a / 3.0).sqrt() / a;
    let worst_lean = |spin: f64| {
        let disc = thin_disc();
        let upright = std::f64::consts::FRAC_PI_2;
        let mut state = leaning(upright + 1e-4, Vector3::new(0.0, 0.0, spin), 0.0);
        let mut worst = 0.0_f64;
        for _ in 0..6000 {
            state = disc.step(&state, 1e-3);
            worst = worst.max(state.pose.rotation.matrix()[(2, 2)].abs());
        }
        worst
    };
    // So near to the limit the righting is weak: what leans at first swings to (1.05² + 1) / (1.05² - 1) = 21 times as much.
    assert!(worst_lean(1.05 * critical) < 22e-4);
    assert!(worst_lean(0.95 * critical) > 0.1);
}

/// A loaded ball, turned about its horizontal middle with the load on top: its centrifugal force against its weight.
#[test]
fn a_fast_loaded_ball_lifts() {
    let (mass, radius, offset) = (2.0, 0.3, 0.1);
    let inertia = Matrix3::identity() * 0.05;
    let center = Vector3::new(0.0, 0.0, offset);
    let inertia = PseudoInertia::from_center(mass, center, inertia).expect("an inertia");
    let ball = RollingBody::new(
        inertia,
        Ellipsoid::sphere(radius).expect("a ball"),
        Vector3::new(0.0, 0.0, -GRAVITY),
    );
    let contact = |spin: f64| -> Contact<f64> {
        let omega = Vector3::new(0.0, spin, 0.0);
        let state = ball.state(SO3::identity(), omega, Vector2::zeros());
        ball.contact(&state, &Vector6::zeros())
    };
    // The centre moves on a level line, the load at `offset` around it.
    let spin = (GRAVITY / offset).sqrt();
    for (spin, expected) in [
        (0.0, ContactCondition::Rolling),
        (0.99 * spin, ContactCondition::Rolling),
        (1.01 * spin, ContactCondition::Lifting),
    ] {
        let contact = contact(spin);
        let normal = mass * (GRAVITY - spin * spin * offset);
        assert!((contact.force.normal() - normal).abs() < 1e-12);
        assert_eq!(contact.force.condition(0.5), expected);
    }
    let slanted = ball.state(
        SO3::exp(&Vector3::new(0.0, 1.0, 0.0)),
        Vector3::zeros(),
        Vector2::zeros(),
    );
    let contact = ball.contact(&slanted, &Vector6::zeros());
    let needed = contact.force.friction_ratio();
    assert!(needed > 0.05);
    assert_eq!(
        contact.force.condition(needed * 1.01),
        ContactCondition::Rolling
    );
    assert_eq!(
        contact.force.condition(needed * 0.99),
        ContactCondition::Slipping
    );
}

#[test]
fn a_flat_disc_has_no_contact() {
    let flat = SO3::identity();
    let state = thin_disc().state(flat, Vector3::zeros(), Vector2::zeros());
    let contact = thin_disc().contact(&state, &Vector6::zeros());
    assert_eq!(contact.force.condition(1.0), ContactCondition::Undefined);
}

#[test]
fn lengths_are_checked() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            Ellipsoid::new([1.0, bad, 1.0]),
            Err(SurfaceError::NotPositive { .. })
        ));
        assert!(Ellipsoid::sphere(bad).is_err() && Disc::new(bad).is_err());
    }
    assert!(Disc::with_rim(0.3, 0.3).is_ok());
    let thick = Disc::with_rim(0.3, 0.31);
    assert!(matches!(thick, Err(SurfaceError::ThickRim { .. })));
    let error = Disc::with_rim(0.3, -0.1).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the rim of a disc must be zero or a positive number, found -0.1 m",
    );
}
