//! Constrained motion: a four-bar linkage against its closed form, energy, the decay of violations, projection, contradictions.

#![allow(non_snake_case)]

use crate::constrained;

use std::sync::Arc;

use constrained::{Simulation, at};
use fly_lie::SE3;
use fly_mechanics::multibody::constraints::{
    ConstrainedInverse, Constraint, ConstraintError, ConstraintKind, ConstraintSet,
    ConstraintSetBuilder, Coupling, Custom, EvaluatedState, LoopClosure, LoopKind,
    PrescribedVelocity, Rows, Stabilization,
};
use fly_mechanics::multibody::{Body, Joint, Model};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, DVector, RealField, Vector3, Vector6, convert};
use num_dual::HyperDual64;

/// Crank, coupler and rocker of a linkage in the xz plane, and the distance of its two fixed pivots, m.
const BARS: [f64; 3] = [0.3, 0.9, 0.7];
const BASE: f64 = 1.0;
const MASSES: [f64; 3] = [1.2, 2.0, 1.5];
/// Moments of inertia about the centres of mass, which are in the middle of the bars.
const MOMENTS: [f64; 3] = [0.02, 0.15, 0.07];
const GRAVITY: f64 = 9.81;

/// The bars one after the other as a tree; bar k lies along its x axis and turns about y, which is down for positive angles.
fn bars() -> Model<f64> {
    let mut builder = Model::builder();
    let names = ["crank", "coupler", "rocker"];
    for k in 0..3 {
        let inertia = nalgebra::Matrix3::from_diagonal(&Vector3::repeat(MOMENTS[k]));
        let center = Vector3::new(BARS[k] / 2.0, 0.0, 0.0);
        let inertia = PseudoInertia::from_center(MASSES[k], center, inertia).expect("an inertia");
        let joint = Joint::revolute(Vector3::y()).expect("an axis");
        let mut body = Body::new(names[k], joint).inertia(inertia);
        if k > 0 {
            body = body.parent(names[k - 1]).placed(at(BARS[k - 1], 0.0, 0.0));
        }
        builder = builder.body(body);
    }
    builder.build().expect("a system")
}

fn closure(kind: LoopKind<f64>) -> LoopClosure<f64> {
    LoopClosure::new("loop", "world", "rocker", kind)
        .between(
            Vector3::new(BASE, 0.0, 0.0),
            Vector3::new(BARS[2], 0.0, 0.0),
        )
        .along(Vector3::y(), Vector3::y())
        .expect("axes")
}

/// The linkage that is closed by these constraints, in the closed configuration of a crank angle.
fn linkage(set: ConstraintSetBuilder<f64>, crank: f64, rate: f64) -> Simulation {
    let model = bars();
    let constraints = set.build(&model).expect("constraints");
    let angles = closed(HyperDual64::new(crank, 1.0, 1.0, 0.0));
    let relative = |value: fn(&HyperDual64) -> f64| {
        let [a, b, c] = [value(&angles[0]), value(&angles[1]), value(&angles[2])];
        [a, b - a, c - b]
    };
    let x = relative(|angle| angle.re);
    let xi = relative(|angle| angle.eps1).map(|slope| slope * rate);
    Simulation::new(model, constraints, x.to_vec(), xi.to_vec())
}

fn closed_by(kind: LoopKind<f64>) -> ConstraintSetBuilder<f64> {
    ConstraintSet::builder().with(closure(kind))
}

/// The absolute angles of the bars, from the angle of the crank: two circles meet.
fn closed<T: RealField + Copy>(crank: T) -> [T; 3] {
    let number = |number: f64| convert::<f64, T>(number);
    // Counted about y: a bar at angle phi points to (cos, -sin) in the xz plane.
    let (x, z) = (
        crank.cos() * number(BARS[0]),
        -crank.sin() * number(BARS[0]),
    );
    let (dx, dz) = (number(BASE) - x, -z);
    let d = (dx * dx + dz * dz).sqrt();
    let cos = (d * d + number(BARS[1] * BARS[1] - BARS[2] * BARS[2])) / (d * number(2.0 * BARS[1]));
    let coupler = (-dz).atan2(dx) - cos.acos();
    let (pin_x, pin_z) = (
        x + coupler.cos() * number(BARS[1]),
        z - coupler.sin() * number(BARS[1]),
    );
    let rocker = pin_z.atan2(number(BASE) - pin_x);
    [crank, coupler, rocker]
}

/// The centres of mass.
fn centers<T: RealField + Copy>(angles: &[T; 3]) -> [[T; 2]; 3] {
    let mut pin = [T::zero(); 2];
    std::array::from_fn(|k| {
        let length: T = convert(BARS[k]);
        let along = [angles[k].cos() * length, -angles[k].sin() * length];
        let half: T = convert(0.5);
        let center = [pin[0] + along[0] * half, pin[1] + along[1] * half];
        pin = [pin[0] + along[0], pin[1] + along[1]];
        center
    })
}

/// The second derivative of the crank angle by Lagrange's equation for it alone, `M q'' + M' q'^2 / 2 + V' = tau`.
fn crank_acceleration(crank: f64, rate: f64, tau: f64) -> f64 {
    let angles = closed(HyperDual64::new(crank, 1.0, 1.0, 0.0));
    let (mut mass, mut half_slope, mut weight) = (0.0, 0.0, 0.0);
    for (k, [x, z]) in centers(&angles).iter().enumerate() {
        for (amount, number) in [(MASSES[k], x), (MASSES[k], z), (MOMENTS[k], &angles[k])] {
            mass += amount * number.eps1 * number.eps1;
            half_slope += amount * number.eps1 * number.eps1eps2;
        }
        weight += MASSES[k] * GRAVITY * z.eps1;
    }
    (tau - half_slope * rate * rate - weight) / mass
}

/// However the loop is closed, with two equations, with one too many or with three, it moves as Lagrange's equation for the crank says.
#[test]
fn the_linkage_moves_as_its_closed_form() {
    let kinds = [
        (LoopKind::PointOnLine, 2),
        (LoopKind::Spherical, 3),
        (LoopKind::Revolute, 5),
    ];
    for (kind, equations) in kinds {
        for k in 0..12 {
            let (crank, rate) = (0.5 * f64::from(k) + 0.1, 3.0 - 0.7 * f64::from(k));
            let mut bars = linkage(closed_by(kind), crank, rate);
            bars.tau[0] = 4.0;
            bars.solve().expect("a solution");
            assert!(bars.constrained.residual().amax() < 1e-14);
            assert!(bars.constrained.rate().amax() < 1e-14);
            let ranks = (bars.constraints.equations(), bars.constrained.rank());
            assert_eq!(ranks, (equations, 2), "{kind:?}");
            let expected = crank_acceleration(crank, rate, 4.0);
            let got = bars.constrained.acceleration()[0];
            let error = (got - expected).abs() / (1.0 + expected.abs());
            assert!(error < 1e-12, "{kind:?} {got} {expected}");
        }
    }
}

/// The torque of the crank that a motion takes, from inverse dynamics: that of Lagrange's equation.
#[test]
fn the_crank_needs_its_torque() {
    for k in 0..12 {
        let (crank, rate) = (0.5 * f64::from(k) + 0.1, 3.0 - 0.7 * f64::from(k));
        let mut bars = linkage(closed_by(LoopKind::Revolute), crank, rate);
        bars.tau[0] = -1.7;
        bars.solve().expect("a solution");
        let xi_dot = bars.constrained.acceleration().clone();
        let mut force = DVector::zeros(3);
        bars.model.inverse_dynamics(
            &mut bars.workspace,
            &bars.x,
            &bars.xi,
            xi_dot.as_slice(),
            force.as_mut_slice(),
        );
        let mut inverse = ConstrainedInverse::new(&bars.constraints, 1);
        let B = DMatrix::from_row_slice(3, 1, &[1.0, 0.0, 0.0]);
        let mut solved = Ok(());
        let count =
            fly_testing::allocations(|| solved = inverse.solve(&bars.constrained, &B, &force));
        assert_eq!((count, solved), (0, Ok(())));
        assert!((inverse.input()[0] + 1.7).abs() < 1e-12);
        let error = (inverse.multipliers() - bars.constrained.multipliers()).amax();
        assert!(error < 1e-11 * (1.0 + force.amax()), "{error:e}");
    }
}

/// Two pins in one place share the force, as two equal springs would.
#[test]
fn dependent_constraints_share_the_reaction() {
    let mut one = linkage(closed_by(LoopKind::Revolute), 0.7, 2.0);
    one.solve().expect("a solution");
    let second = LoopClosure {
        name: "second".to_owned(),
        ..closure(LoopKind::Revolute)
    };
    let mut two = linkage(closed_by(LoopKind::Revolute).with(second), 0.7, 2.0);
    two.solve().expect("a solution");
    let close = |a: &DVector<f64>, b: &DVector<f64>| {
        let error = (a - b).amax() / (1.0 + b.amax());
        assert!(error < 1e-13, "{a} {b}");
    };
    close(
        two.constrained.acceleration(),
        one.constrained.acceleration(),
    );
    close(two.constrained.force(), one.constrained.force());
    let half = one.constrained.multipliers() * 0.5;
    close(
        &two.constrained.multipliers().rows(0, 5).into_owned(),
        &half,
    );
    close(
        &two.constrained.multipliers().rows(5, 5).into_owned(),
        &half,
    );
    // What the plane would not feel is not there: no force along y, no torque.
    let multipliers = one.constrained.multipliers();
    // The axes of A follow y cyclically: z, x, y.
    assert!(multipliers.rows(0, 2).norm() > 1.0 && multipliers.rows(2, 3).amax() < 1e-13);
}

/// Two seconds from rest, against the one equation of the crank; the energy stays.
#[test]
fn the_linkage_swings_as_its_closed_form() {
    let stabilization = Stabilization::critically_damped(50.0);
    let set = closed_by(LoopKind::Spherical).stabilized(stabilization);
    let mut bars = linkage(set, 0.4, 0.0);
    let before = bars.energy();
    let (mut crank, mut rate) = (0.4, 0.0);
    let h = 1e-3;
    for _ in 0..2000 {
        bars.step(h);
        // Runge and Kutta for the crank.
        let slope = |q: f64, w: f64| (w, crank_acceleration(q, w, 0.0));
        let k1 = slope(crank, rate);
        let k2 = slope(crank + h / 2.0 * k1.0, rate + h / 2.0 * k1.1);
        let k3 = slope(crank + h / 2.0 * k2.0, rate + h / 2.0 * k2.1);
        let k4 = slope(crank + h * k3.0, rate + h * k3.1);
        crank += h / 6.0 * (k1.0 + 2.0 * (k2.0 + k3.0) + k4.0);
        rate += h / 6.0 * (k1.1 + 2.0 * (k2.1 + k3.1) + k4.1);
    }
    assert!((crank - 0.4).abs() > 0.5, "it has moved: {crank}");
    assert!((bars.x[0] - crank).abs() < 1e-8, "{} {crank}", bars.x[0]);
    assert!((bars.xi[0] - rate).abs() < 1e-7, "{} {rate}", bars.xi[0]);
    // Against some 20 J that change hands.
    assert!((bars.energy() - before).abs() < 1e-7);
}

/// Without stabilisation an error of the start grows with the time; with it the loop closes.
#[test]
fn stabilisation_holds_what_drifts() {
    let gap = |stabilization| {
        let set = closed_by(LoopKind::PointOnLine).stabilized(stabilization);
        let mut bars = linkage(set, 0.4, 0.0);
        bars.xi[2] += 1e-4;
        for _ in 0..1000 {
            bars.step(1e-3);
        }
        bars.solve().expect("a solution");
        bars.constrained.residual().amax()
    };
    let (free, held) = (
        gap(Stabilization::none()),
        gap(Stabilization::critically_damped(40.0)),
    );
    // 1e-4 rad/s on a bar of 0.7 m for 1 s.
    assert!((free - 0.7e-4).abs() < 0.1e-4, "{free:e}");
    assert!(held < 1e-10, "{held:e}");
}

/// Violations of geometric and kinematic equations decay exactly as stated, whatever the system does meanwhile.
#[test]
fn violations_decay_at_the_stated_rate() {
    let sledge = |stabilization| {
        let inertia = SecondMoment::solid_box(3.0, [0.8, 0.4, 0.1]);
        let inertia = PseudoInertia::new(inertia).expect("a box");
        let bob = PseudoInertia::new(SecondMoment::solid_sphere(1.0, 0.1)).expect("a ball");
        let plane = Joint::planar(Vector3::z()).expect("an axis");
        let model = Model::builder()
            .body(Body::new("sledge", plane).inertia(inertia))
            .body(Body::new("load", Joint::free()).inertia(bob))
            .build()
            .expect("a system");
        let rope = LoopClosure::new("rope", "sledge", "load", LoopKind::Distance { length: 0.6 })
            .between(Vector3::new(0.1, 0.2, 0.0), Vector3::new(0.0, 0.0, 0.1));
        let constraints = ConstraintSet::builder()
            .with(PrescribedVelocity::knife_edge(
                "edge",
                "sledge",
                at(-0.3, 0.0, 0.0),
            ))
            .with(rope)
            .stabilized(stabilization)
            .build(&model)
            .expect("constraints");
        let mut x = model.neutral_configuration();
        x[3..6].copy_from_slice(&[0.3, 0.1, -0.61]);
        let xi = vec![0.4, 0.3, -0.8, 0.2, -0.5, 0.1, 0.6, -0.9, 0.3];
        let mut sledge = Simulation::new(model, constraints, x, xi);
        sledge.solve().expect("a solution");
        sledge
    };
    // Critically damped at 8 / s; oscillating, with roots -3 +- 4 i; the nonholonomic one at a rate of its own.
    let oscillating = Stabilization {
        position: 25.0,
        velocity: 6.0,
        nonholonomic: 5.0,
    };
    for stabilization in [Stabilization::critically_damped(8.0), oscillating] {
        let mut moving = sledge(stabilization);
        let (slip, gap, gap_rate) = (
            moving.constrained.rate()[0],
            moving.constrained.residual()[1],
            moving.constrained.rate()[1],
        );
        assert!(slip.abs() > 0.1 && gap.abs() > 0.02 && gap_rate.abs() > 0.1);
        let h = 1e-3;
        for step in 1..=500 {
            moving.step(h);
            if step % 50 > 0 {
                continue;
            }
            moving.solve().expect("a solution");
            let t = h * f64::from(step);
            let expected = if stabilization == oscillating {
                let (sin, cos) = (4.0 * t).sin_cos();
                (-3.0 * t).exp() * (gap * cos + (gap_rate + 3.0 * gap) / 4.0 * sin)
            } else {
                (-8.0 * t).exp() * (gap + (gap_rate + 8.0 * gap) * t)
            };
            let got = moving.constrained.residual()[1];
            assert!((got - expected).abs() < 1e-9, "{t}: {got:e} {expected:e}");
            let expected = slip * (-stabilization.nonholonomic * t).exp();
            let got = moving.constrained.rate()[0];
            assert!((got - expected).abs() < 1e-9, "{t}: {got:e} {expected:e}");
        }
    }
}

/// A rough guess closes to rounding, the crank held by a lock; then the velocity follows from that of the crank.
#[test]
fn projections_close_the_loop() {
    let set = closed_by(LoopKind::Revolute).with(Coupling::lock("crank held", "crank", 0.9));
    let mut bars = linkage(set, 0.9, 0.0);
    let expected = bars.x.clone();
    bars.x = vec![0.7, expected[1] + 0.3, expected[2] - 0.4];
    bars.project().expect("it closes");
    for (got, expected) in bars.x.iter().zip(&expected) {
        assert!((got - expected).abs() < 1e-12);
    }

    let mut bars = linkage(closed_by(LoopKind::Revolute), 0.9, 2.0);
    let expected = bars.xi.clone();
    // An impulse at the end of the coupler: the loop closure absorbs the part that would open it.
    let before = vec![expected[0] + 0.2, expected[1] - 0.7, expected[2] + 0.1];
    bars.xi.clone_from(&before);
    bars.project().expect("it can move");
    let ratio = bars.xi[0] / expected[0];
    for (got, expected) in bars.xi.iter().zip(&expected) {
        assert!(
            (got - ratio * expected).abs() < 1e-13,
            "one degree of freedom"
        );
    }
    let mut M = DMatrix::zeros(3, 3);
    bars.model.mass_matrix(&mut bars.workspace, &bars.x, &mut M);
    let (before, after) = (DVector::from_vec(before), DVector::from(bars.xi.clone()));
    let impulse = &M * (&after - &before);
    assert!((bars.constrained.force() - &impulse).amax() < 1e-13);
    // What is lost is the energy of the velocity that was taken away: Carnot's theorem.
    let energy = |v: &DVector<f64>| 0.5 * v.dot(&(&M * v));
    let lost = energy(&before) - energy(&after);
    assert!(lost > 1e-3 && (lost - energy(&(&before - &after))).abs() < 1e-14);
}

/// `|v|^2 = s(t)^2` of a puck: nonlinear in the velocity (3.80c), and of the time.
#[derive(Debug)]
struct Speed;

/// `s = 1 + t / 2`
fn speed(time: f64) -> f64 {
    1.0 + 0.5 * time
}

impl Constraint<f64> for Speed {
    fn equations(&self) -> usize {
        1
    }

    fn kind(&self, _: usize) -> ConstraintKind {
        ConstraintKind::Nonholonomic
    }

    fn evaluate(&self, motion: &EvaluatedState<'_, f64>, rows: &mut Rows<'_, f64>) {
        let (xi, speed) = (motion.velocity, speed(motion.time));
        rows.rate[0] = 0.5 * (xi[0] * xi[0] + xi[1] * xi[1] - speed * speed);
        rows.jacobian[(0, 0)] = xi[0];
        rows.jacobian[(0, 1)] = xi[1];
        rows.bias[0] = 0.5 * speed;
    }
}

/// A user-defined constraint, nonlinear and time-dependent: the puck follows, and so does the projection, which then needs Newton's steps.
#[test]
fn speeds_can_be_prescribed() {
    let puck = PseudoInertia::new(SecondMoment::solid_cylinder(0.2, 0.1, 0.02)).expect("a puck");
    let plane = Joint::planar(Vector3::z()).expect("an axis");
    let model = Model::builder()
        .body(Body::new("puck", plane).inertia(puck))
        .build()
        .expect("a system");
    let constraints = ConstraintSet::builder()
        .with(Custom::new("speed", Arc::new(Speed)))
        .build(&model)
        .expect("constraints");
    let mut puck = Simulation::new(model, constraints, vec![0.0; 3], vec![0.3, -0.1, 2.0]);
    puck.project().expect("a speed");
    assert!((puck.xi[0].hypot(puck.xi[1]) - 1.0).abs() < 1e-12);
    assert!((puck.xi[0] / puck.xi[1] + 3.0).abs() < 1e-12 && puck.xi[2] == 2.0);
    puck.tau = vec![0.05, 0.1, 0.0];
    for _ in 0..1000 {
        puck.step(1e-3);
    }
    assert!((puck.xi[0].hypot(puck.xi[1]) - speed(1.0)).abs() < 1e-10);
}

/// Infeasible constraints are reported by name, and the result is still the best one found.
#[test]
fn contradictions_are_explained() {
    // Bars that are too short: 0.3 + 0.9 + 0.7 < 2.5.
    let far = LoopClosure {
        frame_in_a: at(2.5, 0.0, 0.0),
        ..closure(LoopKind::PointOnLine)
    };
    let mut bars = linkage(ConstraintSet::builder().with(far), 0.4, 0.0);
    let error = bars.project().expect_err("too short");
    assert!(
        matches!(&error, ConstraintError::NotConverged { constraint, residual, .. }
            if constraint == "loop" && *residual > 0.1),
        "{error}"
    );
    assert!(
        error.to_string().contains("no configuration that keeps"),
        "{error}"
    );

    // A free body, driven along x at two speeds: the mean is nearest.
    let ball = PseudoInertia::new(SecondMoment::solid_sphere(1.0, 0.1)).expect("a ball");
    let model = Model::builder()
        .gravity(Vector3::zeros())
        .body(Body::new("ball", Joint::free()).inertia(ball))
        .build()
        .expect("a system");
    let belt = |name: &str, speed: f64| PrescribedVelocity {
        name: name.to_owned(),
        a: "world".to_owned(),
        b: "ball".to_owned(),
        frame_in_b: SE3::identity(),
        components: vec![(Vector6::x(), speed)],
    };
    let constraints = ConstraintSet::builder()
        .with(belt("belt", 1.0))
        .with(belt("other belt", 2.0))
        .build(&model)
        .expect("constraints");
    let x = model.neutral_configuration();
    let mut ball = Simulation::new(model, constraints, x, vec![0.0; 6]);
    let error = ball.project().expect_err("two speeds").to_string();
    assert!(
        error.starts_with(
            "the constraints contradict each other: no velocity satisfies all of them; the best one misses equation 0 of `"
        ) && error.contains("belt` by 5.0e-1"),
        "{error}"
    );
    assert_eq!(ball.xi, [0.0; 6], "the velocity stays as it was");
    // Accelerations agree: both belts run evenly. Only their stabilisation does not.
    assert!(ball.solve().is_ok());
    ball.constraints = ConstraintSet::builder()
        .with(belt("belt", 1.0))
        .with(belt("other belt", 2.0))
        .stabilized(Stabilization::critically_damped(10.0))
        .build(&ball.model)
        .expect("constraints");
    let error = ball.solve().expect_err("two speeds");
    assert!(
        matches!(&error, ConstraintError::Inconsistent { what: "acceleration", residual, .. }
            if (residual - 5.0).abs() < 1e-12),
        "{error}"
    );
    assert!((ball.constrained.acceleration()[0] - 15.0).abs() < 1e-12);
}
