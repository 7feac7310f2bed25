//! Nonholonomic constraints: whether they can be integrated, and the same motion in the forms of Appell, Hamel, Lagrange and d'Alembert; vakonomic curves are others.

#![allow(non_snake_case)]

use fly_mechanics::EqualityQp;
use fly_mechanics::geometry::{
    AccelerationConstraint, Basis, CoordinateDependence, DependentCoordinates, HamelEquation,
    LagrangeEquation, Lagrangian, Minimal, WithVelocities, appell, commutation_coefficients,
    constraint_curvature,
};
use nalgebra::{ComplexField, DMatrix, DVector, RealField, Vector2, convert, dmatrix, dvector};
use num_dual::{Dual64, HyperDual64};

fn wave(i: usize, k: usize) -> f64 {
    (1.7 * i as f64 + 2.3 * k as f64 + 0.6).sin()
}

fn numbers(i: usize, k: usize, n: usize, size: f64) -> DVector<f64> {
    DVector::from_fn(n, |j, _| size * wave(i, k + j))
}

/// A skate, position and heading: forwards, turning, and sideways, which it does not.
#[derive(Clone, Copy)]
struct Skate;

impl Basis for Skate {
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let ((s, c), o) = (x[2].sin_cos(), T::zero());
        dmatrix![c, o, -s; s, o, c; o, T::one(), o]
    }
}

/// `eta = e^(x z) (y' - 2 x x')`: y = x^2 + const, hidden behind a factor.
#[derive(Clone, Copy)]
struct Parabola;

impl Basis for Parabola {
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let (o, l) = (T::zero(), T::one());
        dmatrix![
            l,           o, o;
            x[0] + x[0], o, (-x[0] * x[2]).exp();
            o,           l, o
        ]
    }
}

fn basis<B: Basis>(basis: B) -> WithVelocities<Minimal, B> {
    let coordinates = Minimal(3);
    WithVelocities { coordinates, basis }
}

/// (B.2) asks too much: it fails for the parabola, whose constraint holds a configuration all the same.
#[test]
fn constraints_with_curvature_cannot_be_integrated() {
    for i in 0..20 {
        let x = numbers(i, 0, 3, 1.0);
        let skate = constraint_curvature(&basis(Skate), 2, &x).expect("regular");
        assert!((skate[0][(0, 1)].abs() - 1.0).abs() < 1e-14);
        let parabola = constraint_curvature(&basis(Parabola), 2, &x).expect("regular");
        assert!(parabola[0].amax() < 1e-14);
        // dN_y/dx - dN_x/dy of N = e^(x z) [-2 x, 1, 0].
        let N = |x: &DVector<Dual64>| {
            let factor = (x[0] * x[2]).exp();
            [-x[0] * Dual64::from(2.0) * factor, factor]
        };
        let along = |k: usize| {
            N(&DVector::from_fn(3, |j, _| {
                Dual64::new(x[j], f64::from(u8::from(j == k)))
            }))
        };
        let difference = along(0)[1].eps - along(1)[0].eps;
        assert!((difference - x[2] * (x[0] * x[2]).exp()).abs() < 1e-14);
    }
}

// ---- Lagrange and d'Alembert

/// Two coordinates that lead two others, each in a way that depends on all of them.
#[derive(Clone, Copy)]
struct Example;

impl CoordinateDependence for Example {
    fn independent(&self) -> usize {
        2
    }

    fn dependent(&self) -> usize {
        2
    }

    fn matrix<T: RealField + Copy>(&self, q: &DVector<T>) -> DMatrix<T> {
        let half: T = convert(0.5);
        dmatrix![
            q[1] * q[2],         q[0].sin() + q[3];
            q[0] * q[3] * half, (q[1] + q[2]).cos()
        ]
    }
}

impl Lagrangian for Example {
    fn lagrangian<T: RealField + Copy>(&self, q: &DVector<T>, v: &DVector<T>, _: T) -> T {
        let M = mass_matrix(q);
        (v.dot(&(M * v))) * convert(0.5) - potential(q)
    }
}

fn mass_matrix<T: RealField + Copy>(q: &DVector<T>) -> DMatrix<T> {
    let factor = DMatrix::from_fn(4, 4, |i, j| {
        let twisted = (q[(i + j) % 4] + convert(0.7 * i as f64 - 0.4 * j as f64)).sin();
        let own = if i == j { 2.0 } else { 0.0 };
        twisted * convert(0.4) + convert(own)
    });
    factor.tr_mul(&factor)
}

fn potential<T: RealField + Copy>(q: &DVector<T>) -> T {
    q[0].cos() + q[1] * q[2] + (q[3] + q[0]).sin()
}

fn hamel(q: &DVector<f64>, v_F: &DVector<f64>) -> HamelEquation {
    let coordinates = DependentCoordinates(Example);
    let reduced = |q: &DVector<Dual64>| {
        use fly_mechanics::geometry::Coordinates;
        let A = coordinates.kinematic_matrix(q);
        A.tr_mul(&mass_matrix(q)) * A
    };
    HamelEquation::new(&coordinates, reduced, potential, q, v_F).expect("regular")
}

/// (B.15), (B.16), the multipliers of (B.6), and Hamel (B.13): one motion.
#[test]
fn lagrange_and_d_alembert_move_as_the_multipliers_say() {
    for i in 0..30 {
        let (q, v_F) = (numbers(i, 0, 4, 1.2), numbers(i, 5, 2, 2.0));
        let W = Example.matrix(&q);
        let v_C = -&W * &v_F;
        let v = DVector::from_fn(4, |k, _| if k < 2 { v_F[k] } else { v_C[k - 2] });
        let push = numbers(i, 9, 4, 3.0);

        let free = LagrangeEquation::new(&Minimal(4), &Example, &q, &v, 0.0).expect("regular");
        let eta = |q: &DVector<Dual64>, v: &DVector<Dual64>| {
            v.rows(2, 2) + Example.matrix(q) * v.rows(0, 2)
        };
        let constraint = AccelerationConstraint::kinematic(&Minimal(4), eta, &q, &v);
        let constraint = constraint.expect("sizes");
        assert!(constraint.value().amax() < 1e-14);
        let mut program = EqualityQp::new(4, 2);
        let rest = free.bias() - &push;
        program
            .solve(
                free.mass_matrix(),
                &rest,
                constraint.matrix(),
                constraint.bound(),
            )
            .expect("a solution");
        let expected = program.point();

        // Hamel, with the force of the multipliers.
        let equation = hamel(&q, &v_F);
        // Forces along xi~ and eta: A^T f.
        let force = DVector::from_fn(4, |k, _| {
            if k < 2 {
                push[k] - W.column(k).dot(&push.rows(2, 2))
            } else {
                push[k]
            }
        });
        let a_F = equation.acceleration(&force).expect("positive definite");
        assert!((&a_F - expected.rows(0, 2)).amax() < 1e-11);
        let reaction = equation.reaction(&a_F, &force).expect("sizes");
        assert!((reaction - program.multipliers()).amax() < 1e-10);

        // (B.15)
        let dW = |k: usize| {
            let along = q.map_with_location(|j, _, q| Dual64::new(q, f64::from(u8::from(j == k))));
            Example.matrix(&along).map(|w| w.eps)
        };
        let dW: Vec<_> = (0..4).map(dW).collect();
        let curvature = |a: usize, i: usize, j: usize| {
            let along_led =
                (0..2).map(|b| dW[2 + b][(a, j)] * W[(b, i)] - dW[2 + b][(a, i)] * W[(b, j)]);
            dW[j][(a, i)] - dW[i][(a, j)] + along_led.sum::<f64>()
        };
        let coordinates = DependentCoordinates(Example);
        let found = constraint_curvature(&coordinates, 2, &q).expect("regular");
        let all = commutation_coefficients(&coordinates, &q).expect("regular");
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for a in 0..2 {
                assert!((found[a][(i, j)] - curvature(a, i, j)).abs() < 1e-12);
                assert!(all[a][(i, j)].abs() < 1e-13);
            }
        }

        // (B.16), from the constrained Lagrangian alone.
        let constrained = |q: &DVector<HyperDual64>, v_F: &DVector<HyperDual64>| {
            let v_C = -Example.matrix(q) * v_F;
            let v = DVector::from_fn(4, |k, _| if k < 2 { v_F[k] } else { v_C[k - 2] });
            Example.lagrangian(q, &v, HyperDual64::from(0.0))
        };
        let still = |x: &DVector<f64>| x.map(HyperDual64::from);
        let unit = |k: usize, i: usize| f64::from(u8::from(k == i));
        let momentum_C = free.momentum().rows(2, 2).into_owned();
        let lacking = equation.nonholonomic_force();
        for i in 0..2 {
            let moved = constrained(
                &q.map_with_location(|k, _, q| HyperDual64::new(q, 0.0, v[k], 0.0)),
                &v_F.map_with_location(|k, _, v| HyperDual64::new(v, unit(k, i), a_F[k], 0.0)),
            );
            let slope = |k: usize| {
                let at = q.map_with_location(|j, _, q| HyperDual64::new(q, unit(j, k), 0.0, 0.0));
                constrained(&at, &still(&v_F)).eps1
            };
            let c: f64 = (0..2)
                .flat_map(|a| (0..2).map(move |j| (a, j)))
                .map(|(a, j)| curvature(a, i, j) * v_F[j] * momentum_C[a])
                .sum();
            assert!((c - lacking[i]).abs() < 1e-11 && c.abs() > 1e-9);
            let led: f64 = (0..2).map(|a| W[(a, i)] * slope(2 + a)).sum();
            let left = moved.eps1eps2 - slope(i) + c + led;
            assert!((left - force[i]).abs() < 1e-10, "{left} {}", force[i]);
        }
        // It takes no power.
        assert!(lacking.dot(&v_F).abs() < 1e-11);
    }
}

// ---- Appell

/// Particles fixed to a skate, in its frame: kg, m.
const PARTICLES: [(f64, [f64; 2]); 4] = [
    (0.7, [0.3, 0.1]),
    (0.4, [-0.2, 0.25]),
    (1.1, [0.1, -0.3]),
    (0.5, [0.4, 0.2]),
];

/// (B.9): the gradient of the particles' acceleration energy with no acceleration across is Hamel's inertia force.
#[test]
fn the_acceleration_energy_says_the_same() {
    let moment = |weight: fn([f64; 2]) -> f64| -> f64 {
        PARTICLES.iter().map(|(m, at)| m * weight(*at)).sum()
    };
    let mass = moment(|_| 1.0);
    let (ahead, aside) = (moment(|[x, _]| x), moment(|[_, y]| y));
    let turning = moment(|[x, y]| x * x + y * y);
    let M = dmatrix![
        mass,   -aside,  0.0;
        -aside, turning, ahead;
        0.0,    ahead,   mass
    ];
    for i in 0..10 {
        let (x, xi, xi_dot) = (
            numbers(i, 0, 3, 2.0),
            numbers(i, 3, 2, 3.0),
            numbers(i, 6, 2, 4.0),
        );
        // Of a particle at p in the frame: a + w' x p - w^2 p, with a = [v' - w u, u' + w v] and the sideward velocity u = 0.
        let (v, w) = (xi[0], xi[1]);
        let energy = |rates: &DVector<Dual64>| {
            let each = PARTICLES.iter().map(|(m, [p, q])| {
                let a = Vector2::new(
                    rates[0] - rates[1] * *q - w * w * p,
                    rates[2] + rates[1] * *p + w * v - w * w * q,
                );
                a.dot(&a) * Dual64::from(0.5 * m)
            });
            each.fold(Dual64::from(0.0), |sum, part| sum + part)
        };
        let found = appell(energy, 3, &xi_dot);
        let mass_matrix = |_: &DVector<Dual64>| M.map(Dual64::from);
        let equation =
            HamelEquation::new(&basis(Skate), mass_matrix, |_| Dual64::from(0.0), &x, &xi);
        let equation = equation.expect("regular");
        let full = xi_dot.clone().resize_vertically(3, 0.0);
        let expected = equation.mass_matrix() * full + equation.bias();
        assert!((found - expected.rows(0, 2)).amax() < 1e-12);
    }
}

// ---- Vakonomic curves

/// A puck with a runner through its centre: mass and moment of inertia.
const PUCK: [f64; 2] = [2.0, 0.3];

fn puck<B: Basis>(kind: B, x: &DVector<f64>, xi: &DVector<f64>) -> HamelEquation {
    let coordinates = basis(kind);
    let mass_matrix = |x: &DVector<Dual64>| {
        use fly_mechanics::geometry::Coordinates;
        let A = coordinates.kinematic_matrix(x);
        let M = DMatrix::from_diagonal(&dvector![PUCK[0], PUCK[0], PUCK[1]].map(Dual64::from));
        A.tr_mul(&M) * A
    };
    HamelEquation::new(&coordinates, mass_matrix, |_| Dual64::from(0.0), x, xi).expect("regular")
}

/// Configuration, free velocities and multiplier after a time, by Runge and Kutta.
fn vakonomic<B: Basis + Copy>(kind: B, start: &DVector<f64>, time: f64) -> DVector<f64> {
    use fly_mechanics::geometry::Coordinates;
    let rate = |s: &DVector<f64>| {
        let (x, xi) = (s.rows(0, 3).into_owned(), s.rows(3, 2).into_owned());
        let equation = puck(kind, &x, &xi);
        let multiplier = s.rows(5, 1).into_owned();
        let [xi_dot, rate] = equation
            .vakonomic(&multiplier, &DVector::zeros(3))
            .expect("positive definite");
        let x_dot = basis(kind).kinematic_matrix(&x) * xi.resize_vertically(3, 0.0);
        dvector![x_dot[0], x_dot[1], x_dot[2], xi_dot[0], xi_dot[1], rate[0]]
    };
    let steps = 2000;
    let h = time / f64::from(steps);
    let mut s = start.clone();
    for _ in 0..steps {
        let k1 = rate(&s);
        let k2 = rate(&(&s + &k1 * (h / 2.0)));
        let k3 = rate(&(&s + &k2 * (h / 2.0)));
        let k4 = rate(&(&s + &k3 * h));
        s += (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0);
    }
    s
}

/// Neither L nor the constraint depends on the puck's position: along stationary curves of `L + lambda eta` the momentum along x and y is constant.
/// A runner does not keep it: it moves in a circle.
#[test]
fn vakonomic_curves_are_not_the_motion_of_a_skate() {
    let start = dvector![0.3, -0.2, 0.4, 1.5, 2.0, 0.8];
    let end = vakonomic(Skate, &start, 1.5);
    let momentum = |s: &DVector<f64>| {
        let (sin, cos) = s[2].sin_cos();
        let along = PUCK[0] * s[3];
        [along * cos - s[5] * sin, along * sin + s[5] * cos]
    };
    let energy = |s: &DVector<f64>| PUCK[0] * s[3] * s[3] + PUCK[1] * s[4] * s[4];
    for (before, after) in momentum(&start).iter().zip(momentum(&end)) {
        assert!((before - after).abs() < 1e-10);
    }
    assert!((energy(&start) - energy(&end)).abs() < 1e-10);

    // The motion: constant velocities, v / w as the radius.
    let equation = puck(
        Skate,
        &start.rows(0, 3).into_owned(),
        &start.rows(3, 2).into_owned(),
    );
    let still = equation.acceleration(&DVector::zeros(3)).expect("regular");
    assert!(still.amax() < 1e-15);
    let (radius, turned) = (1.5 / 2.0, 0.4 + 2.0 * 1.5_f64);
    let circle = dvector![
        0.3 + radius * (turned.sin() - 0.4_f64.sin()),
        -0.2 - radius * (turned.cos() - 0.4_f64.cos()),
        turned
    ];
    assert!((circle - end.rows(0, 3)).norm() > 0.5);
}

/// What can be integrated is no different, whatever the multiplier.
#[test]
fn vakonomic_curves_of_a_configuration_are_its_motion() {
    let start = dvector![0.3, -0.2, 0.4, 1.5, 2.0, 0.8];
    let mut other = start.clone();
    other[5] = -3.0;
    let [one, two] = [&start, &other].map(|start| vakonomic(Parabola, start, 0.7));
    assert!((one.rows(0, 5) - two.rows(0, 5)).amax() < 1e-13);
    let equation = puck(
        Parabola,
        &start.rows(0, 3).into_owned(),
        &start.rows(3, 2).into_owned(),
    );
    let motion = equation.acceleration(&DVector::zeros(3)).expect("regular");
    let [curve, _] = equation
        .vakonomic(&dvector![5.0], &DVector::zeros(3))
        .expect("regular");
    assert!((motion - curve).amax() < 1e-14);
}
