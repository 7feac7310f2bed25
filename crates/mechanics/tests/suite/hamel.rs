//! Hamel's equations against closed forms: rolling bodies with redundant coordinates, the disc with minimal ones, a constraint that can be
//! integrated.

#![allow(non_snake_case)]

use fly_lie::operators::{angular, hat3};
use fly_lie::{SE3, SO3};
use fly_mechanics::geometry::{
    Basis, Coordinates, CoordinatesError, HamelEquation, Minimal, Pose, WithVelocities,
};
use fly_mechanics::multibody::constraints::{Disc, Ellipsoid, Surface};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{
    ComplexField, DMatrix, DVector, Matrix3, RealField, Vector2, Vector3, Vector6, convert,
    dmatrix, dvector,
};
use num_dual::{Dual64, HyperDual64};

use crate::special_bodies::RollingBody;

const GRAVITY: f64 = 9.81;

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

#[derive(Clone, Copy)]
enum Shape {
    Ellipsoid([f64; 3]),
    Disc(f64, f64),
}

impl Shape {
    fn contact<T: RealField + Copy>(self, up: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Ellipsoid(axes) => Ellipsoid::new(axes.map(convert)).expect("axes").contact(up),
            Self::Disc(a, b) => {
                let disc = Disc::with_rim(convert(a), convert(b));
                disc.expect("a disc").contact(up)
            }
        }
    }
}

/// `[v; omega] = [[wed p, I], [I, 0]] [omega; eta]`
impl Basis for Shape {
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let up = Vector3::new(x[5], x[8], x[11]);
        let mut W = DMatrix::zeros(6, 6);
        W.view_mut((0, 0), (3, 3))
            .copy_from(&hat3(&self.contact(&up)));
        W.view_mut((0, 3), (3, 3)).fill_with_identity();
        W.view_mut((3, 0), (3, 3)).fill_with_identity();
        W
    }
}

/// A body that rolls: nothing but its 6x6 inertia, its potential and where it touches goes in; the motion and the contact force come out.
fn assert_rolls<S: Surface<f64> + Copy + std::fmt::Debug + Send + Sync + 'static>(
    shape: Shape,
    surface: S,
) {
    let inertia = Matrix3::new(0.02, 0.001, -0.002, 0.001, 0.03, 0.003, -0.002, 0.003, 0.04);
    let center = Vector3::new(0.02, -0.03, 0.05);
    let inertia = PseudoInertia::from_center(1.5, center, inertia).expect("an inertia");
    let gravity = Vector3::new(0.7, -0.4, -GRAVITY);
    let body = RollingBody::new(inertia, surface, gravity);
    let M = DMatrix::from_column_slice(6, 6, inertia.matrix6().as_slice()).map(Dual64::from_re);
    let mass_matrix = |x: &DVector<Dual64>| {
        let W = shape.matrix(x);
        W.tr_mul(&M) * W
    };
    let potential = |x: &DVector<Dual64>| {
        let G = SE3::new(
            SO3::from_matrix(Matrix3::from_column_slice(&x.as_slice()[3..])),
            Vector3::new(x[0], x[1], x[2]),
        );
        let center = G.act(&center.map(Dual64::from_re));
        -center.dot(&gravity.map(Dual64::from_re)) * Dual64::from_re(1.5)
    };
    let coordinates = WithVelocities {
        coordinates: Pose,
        basis: shape,
    };
    for i in 0..10 {
        let rotation = SO3::exp(&Vector3::from_fn(|k, _| 1.2 * wave(i, k) + 0.3));
        let omega = Vector3::from_fn(|k, _| 4.0 * wave(i, k + 6));
        let wrench = Vector6::from_fn(|k, _| 2.0 * wave(i, k + 9));
        let state = body.state(rotation, omega, Vector2::new(0.4, -0.2));
        let mut x = state.pose.translation.as_slice().to_vec();
        x.extend_from_slice(rotation.matrix().as_slice());
        let x = DVector::from_vec(x);
        let equation = HamelEquation::new(
            &coordinates,
            mass_matrix,
            potential,
            &x,
            &DVector::from_column_slice(omega.as_slice()),
        )
        .expect("regular");
        let force = shape
            .matrix(&x)
            .tr_mul(&DVector::from_column_slice(wrench.as_slice()));
        let acceleration = equation.acceleration(&force).expect("positive definite");
        let got = Vector3::from_column_slice(acceleration.as_slice());
        let expected = angular(&body.acceleration(&state, &wrench));
        assert!((got - expected).amax() < 1e-11 * expected.amax());
        let point = body.contact(&state, &wrench).point;
        let reduced = equation.mass_matrix().view((0, 0), (3, 3)).into_owned();
        assert!((reduced - inertia.inertia_about(&point)).amax() < 1e-14);

        let reaction = equation.reaction(&acceleration, &force).expect("sizes");
        let reaction = rotation.act(&Vector3::from_column_slice(reaction.as_slice()));
        let contact = body.contact(&state, &wrench).force.0;
        assert!((reaction - contact).amax() < 1e-11 * contact.amax());
    }
}

#[test]
fn rolling_bodies_obey_hamel() {
    let axes = [0.3, 0.45, 0.6];
    assert_rolls(Shape::Ellipsoid(axes), Ellipsoid::new(axes).expect("axes"));
    assert_rolls(Shape::Disc(0.3, 0.0), Disc::new(0.3).expect("a disc"));
    let wheel = Disc::with_rim(0.25, 0.05).expect("a wheel");
    assert_rolls(Shape::Disc(0.25, 0.05), wheel);
}

/// A thin disc with the centre's horizontal place, the heading, the angle between axis and vertical, and the spin, as minimal coordinates;
/// its velocities are `omega_1`, `omega_2`, `omega_3` in the frame that does not spin, and the slip along x and y.
struct ThinDisc {
    mass: f64,
    radius: f64,
}

impl ThinDisc {
    fn mass_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let (m, a): (T, T) = (convert(self.mass), convert(self.radius));
        let J = self.kinematic_matrix(x).rows(0, 2).into_owned();
        let across = m * a * a * convert(0.25);
        let rise = a * x[3].cos();
        let turning = [across + m * rise * rise, across, across + across];
        let mut M = J.tr_mul(&J) * m;
        for (i, moment) in turning.into_iter().enumerate() {
            M[(i, i)] += moment;
        }
        M
    }

    fn potential<T: RealField + Copy>(&self, x: &DVector<T>) -> T {
        x[3].sin() * convert(self.mass * GRAVITY * self.radius)
    }
}

impl Coordinates for ThinDisc {
    fn config_dim(&self) -> usize {
        5
    }

    fn dof(&self) -> usize {
        5
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let (o, i): (T, T) = (T::zero(), T::one());
        let a: T = convert(self.radius);
        let (sp, cp) = x[2].sin_cos();
        let (st, ct) = x[3].sin_cos();
        dmatrix![
            a * st * sp, o, -a * cp, i, o;
            -a * st * cp, o, -a * sp, o, i;
            o, i / st, o, o, o;
            i, o, o, o, o;
            o, -ct / st, i, o, o
        ]
    }
}

#[test]
fn the_disc_obeys_hamel_in_minimal_coordinates() {
    let disc = ThinDisc {
        mass: 0.8,
        radius: 0.3,
    };
    let (m, a) = (disc.mass, disc.radius);
    let inertia = PseudoInertia::new(SecondMoment::solid_cylinder(m, a, 0.0)).expect("a body");
    let surface = Disc::new(a).expect("a disc");
    let rolling = RollingBody::new(inertia, surface, Vector3::new(0.0, 0.0, -GRAVITY));
    let mut difference = 0.0_f64;
    for i in 0..20 {
        let (heading, theta, spun) = (3.0 * wave(i, 0), 1.5 + wave(i, 1), 3.0 * wave(i, 2));
        let w = Vector3::from_fn(|k, _| 5.0 * wave(i, k + 3));
        let x = dvector![0.2, 0.7, heading, theta, spun];
        let velocity = dvector![w.x, w.y, w.z];
        let equation = |mass_matrix: &dyn Fn(&DVector<Dual64>) -> DMatrix<Dual64>| {
            let equation =
                HamelEquation::new(&disc, mass_matrix, |x| disc.potential(x), &x, &velocity);
            equation.expect("regular")
        };
        let none = DVector::zeros(5);
        let full = equation(&|x| disc.mass_matrix(x));
        let rates = full.acceleration(&none).expect("positive definite");

        // The same state of the closed form; its components in the body differ by the spin relative to the frame.
        let about = |axis: Vector3<f64>, angle: f64| SO3::exp(&(axis * angle));
        let spin = about(Vector3::z(), spun);
        let rotation = about(Vector3::z(), heading) * about(Vector3::x(), theta) * spin;
        let state = rolling.state(rotation, spin.inverse().act(&w), Vector2::new(0.2, 0.7));
        let xi_dot = rolling.acceleration(&state, &Vector6::zeros());
        let relative = Vector3::new(0.0, 0.0, w.z - w.y * theta.cos() / theta.sin());
        let expected = spin.act(&angular(&xi_dot)) + relative.cross(&w);
        let got = Vector3::from_column_slice(rates.as_slice());
        assert!((got - expected).amax() < 1e-10 * expected.amax().max(1.0));

        // Friction keeps the slip zero.
        let friction = full.reaction(&rates, &none).expect("sizes");
        let contact = rolling.contact(&state, &Vector6::zeros()).force.0;
        assert!((Vector2::new(friction[0], friction[1]) - contact.xy()).amax() < 1e-10);

        // Whoever sets eta to zero first, and so loses how T depends on it, gets another motion.
        let constrained = equation(&|x| {
            let mut M = disc.mass_matrix(x);
            M.view_mut((0, 3), (3, 2)).fill(Dual64::from_re(0.0));
            M.view_mut((3, 0), (2, 3)).fill(Dual64::from_re(0.0));
            M
        });
        let wrong = constrained.acceleration(&none).expect("positive definite");
        difference = difference.max((wrong - rates).amax());
    }
    assert!(difference > 1.0, "{difference}");
}

/// Radius and angle of a particle; the angle may change, the radius must not.
struct Polar;
impl Coordinates for Polar {
    fn config_dim(&self) -> usize {
        2
    }
    fn dof(&self) -> usize {
        2
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> {
        dmatrix![T::zero(), T::one(); T::one(), T::zero()]
    }
}

/// A pendulum as a particle in polar coordinates whose radius must not change.
#[test]
fn an_integrable_constraint_is_no_different() {
    let (m, length, angle, rate) = (1.3, 0.7, 0.4_f64, 2.0);
    let mass_matrix = |x: &DVector<Dual64>| {
        DMatrix::from_diagonal(&dvector![x[0] * x[0], Dual64::from_re(1.0)]) * Dual64::from_re(m)
    };
    let potential = |x: &DVector<Dual64>| -x[0] * x[1].cos() * Dual64::from_re(m * GRAVITY);
    let (x, velocity) = (dvector![length, angle], dvector![rate]);
    let equation = HamelEquation::new(&Polar, mass_matrix, potential, &x, &velocity);
    let equation = equation.expect("regular");
    let acceleration = equation.acceleration(&DVector::zeros(2)).expect("positive");
    assert!((acceleration[0] + GRAVITY / length * angle.sin()).abs() < 1e-14);
    let pull = equation
        .reaction(&acceleration, &DVector::zeros(2))
        .expect("sizes");
    assert!((pull[0] + m * (length * rate * rate + GRAVITY * angle.cos())).abs() < 1e-13);
    assert!(
        (equation.bias()[1] - pull[0]).abs() < 1e-15,
        "nothing couples"
    );
}

/// With a dual configuration come the derivatives of the motion: the pendulum's stiffness.
#[test]
fn duals_run_through() {
    let (m, length, angle) = (1.3, 0.7, 0.4_f64);
    let mass_matrix = |x: &DVector<HyperDual64>| {
        let one = HyperDual64::from_re(1.0);
        DMatrix::from_diagonal(&dvector![x[0] * x[0], one]) * HyperDual64::from_re(m)
    };
    let potential =
        |x: &DVector<HyperDual64>| -x[0] * x[1].cos() * HyperDual64::from_re(m * GRAVITY);
    let x = dvector![Dual64::from(length), Dual64::from(angle).derivative()];
    let velocity = dvector![Dual64::from(2.0)];
    let equation = HamelEquation::new(&Polar, mass_matrix, potential, &x, &velocity);
    let acceleration = equation.expect("regular").acceleration(&DVector::zeros(2));
    let slope = acceleration.expect("positive")[0].eps;
    assert!((slope + GRAVITY / length * angle.cos()).abs() < 1e-14);
}

#[test]
fn sizes_are_checked() {
    let unit = |n: usize| move |_: &DVector<Dual64>| DMatrix::<Dual64>::identity(n, n);
    let flat = |_: &DVector<Dual64>| Dual64::from_re(0.0);
    let new = |n: usize, x: usize, free: usize| {
        let (x, velocity) = (DVector::<f64>::zeros(x), DVector::zeros(free));
        HamelEquation::new(&Minimal(3), unit(n), flat, &x, &velocity)
    };
    for (n, x, free) in [(2, 3, 1), (3, 2, 1), (3, 3, 4)] {
        assert!(matches!(
            new(n, x, free),
            Err(CoordinatesError::Size { .. })
        ));
    }
    let equation = new(3, 3, 1).expect("sizes");
    let error = equation
        .acceleration(&DVector::zeros(2))
        .expect_err("refused");
    assert_eq!(error.to_string(), "the force must be 3 x 1, found 2 x 1");
    let acceleration = DVector::zeros(2);
    assert!(
        equation
            .reaction(&acceleration, &DVector::zeros(3))
            .is_err()
    );
}
