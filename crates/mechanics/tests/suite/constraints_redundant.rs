//! Spatial mechanisms with more equations than they need: Sarrus' linkage, six hinges that lift a platform straight up, and Bennett's, four
//! hinges that are not parallel and turn all the same, but only where they are closed.

#![allow(non_snake_case)]

use crate::constrained;

use constrained::{Simulation, at};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintSetBuilder, LoopClosure, LoopKind, Stabilization,
};
use fly_mechanics::multibody::{Body, Joint, Model};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{ComplexField, Matrix3, Vector3};
use num_dual::HyperDual64;

const PI: f64 = std::f64::consts::PI;
const GRAVITY: f64 = 9.81;
/// Lengths of the links of the two chains, m; masses of links and platform, kg; moment of inertia of a link about its middle, kg m^2.
const LENGTHS: [f64; 2] = [0.5, 0.45];
const LINK: f64 = 0.8;
const PLATFORM: f64 = 2.5;
const MOMENT: f64 = 0.02;
/// The hinges on the ground are at so much along x and along y, m.
const AT: [f64; 2] = [0.2, 0.3];

/// One chain along x, over the platform, and one down along y.
fn model() -> Model<f64> {
    let [a, b] = LENGTHS;
    let link = |along: Vector3<f64>| {
        let center = along / 2.0;
        let inertia = PseudoInertia::from_center(LINK, center, Matrix3::identity() * MOMENT);
        inertia.expect("an inertia")
    };
    let platform = PseudoInertia::from_center(
        PLATFORM,
        Vector3::new(-AT[0] / 2.0, AT[1] / 2.0, 0.1),
        Matrix3::identity() * 0.1,
    );
    let (x, y) = (Vector3::x(), Vector3::y());
    let (about_x, about_y) = (Joint::revolute(x), Joint::revolute(y));
    let (about_x, about_y) = (about_x.expect("an axis"), about_y.expect("an axis"));
    let body = |name: &str, parent: &str, joint, inertia, r: [f64; 3]| {
        let body = Body::new(name, joint).parent(parent).inertia(inertia);
        body.placed(at(r[0], r[1], r[2]))
    };
    let platform = platform.expect("an inertia");
    Model::builder()
        .body(body("a1", "world", about_y, link(x * a), [AT[0], 0.0, 0.0]))
        .body(body("a2", "a1", about_y, link(x * a), [a, 0.0, 0.0]))
        .body(body("platform", "a2", about_y, platform, [a, 0.0, 0.0]))
        .body(body(
            "b2",
            "platform",
            about_x,
            link(y * b),
            [-AT[0], AT[1], 0.0],
        ))
        .body(body("b1", "b2", about_x, link(y * b), [0.0, b, 0.0]))
        .build()
        .expect("a system")
}

fn set() -> ConstraintSetBuilder<f64> {
    let ground = LoopClosure::new("ground", "world", "b1", LoopKind::Revolute)
        .between(Vector3::y() * AT[1], Vector3::y() * LENGTHS[1])
        .along(Vector3::x(), Vector3::x());
    ConstraintSet::builder().with(ground.expect("axes"))
}

/// The angles of the links above the ground, from that of the first chain.
fn angles(q: f64) -> [HyperDual64; 2] {
    let q = HyperDual64::new(q, 1.0, 1.0, 0.0);
    [q, (q.sin() * (LENGTHS[0] / LENGTHS[1])).asin()]
}

/// The state with the first chain at this angle.
fn linkage(set: ConstraintSetBuilder<f64>, q: f64, rate: f64) -> Simulation {
    let model = model();
    let constraints = set.build(&model).expect("constraints");
    let [a, b] = angles(q);
    let x = vec![-a.re, PI + 2.0 * a.re, -(PI + a.re), -b.re, PI + 2.0 * b.re];
    let xi = [-a.eps1, 2.0 * a.eps1, -a.eps1, -b.eps1, 2.0 * b.eps1].map(|slope| slope * rate);
    Simulation::new(model, constraints, x, xi.to_vec())
}

/// By Lagrange's equation for the one angle.
fn angle_acceleration(q: f64, rate: f64) -> f64 {
    let angles = angles(q);
    let top = angles[0].sin() * (2.0 * LENGTHS[0]);
    let mut terms = vec![(PLATFORM, top)];
    let mut weight = PLATFORM * top.eps1;
    for (angle, length) in angles.into_iter().zip(LENGTHS) {
        // A lower link and an upper one.
        for height in [0.5, 1.5] {
            let (out, up) = (
                angle.cos() * (0.5 * length),
                angle.sin() * (height * length),
            );
            terms.extend([(LINK, out), (LINK, up), (MOMENT, angle)]);
            weight += LINK * up.eps1;
        }
    }
    let mass: f64 = terms.iter().map(|(m, r)| m * r.eps1 * r.eps1).sum();
    let slope: f64 = terms.iter().map(|(m, r)| m * r.eps1 * r.eps1eps2).sum();
    -(slope * rate * rate + GRAVITY * weight) / mass
}

#[test]
fn the_platform_falls_as_lagrange_says() {
    for (q, rate) in [(0.4, 0.0), (0.9, -1.3), (1.0, 2.0), (0.2, 3.0)] {
        let mut linkage = linkage(set(), q, rate);
        linkage.solve().expect("a solution");
        assert!(linkage.constrained.residual().amax() < 1e-14);
        assert!(linkage.constrained.rate().amax() < 1e-14);
        assert_eq!(linkage.constrained.rank(), 4);
        let expected = angle_acceleration(q, rate);
        let got = -linkage.constrained.acceleration()[0];
        assert!(
            (got - expected).abs() < 1e-11 * (1.0 + expected.abs()),
            "{got} {expected}"
        );
    }
}

/// Two lengths and two twists of the links, `a / sin(alpha) = b / sin(beta)`.
const A: f64 = 0.5;
const TWISTS: [f64; 2] = [0.5, 1.1];

/// Three links of Bennett's linkage one after the other, each from its hinge along x to the next; the fourth is the ground.
fn bennett(set: ConstraintSetBuilder<f64>) -> Simulation {
    let link = |length: f64, twist: f64| {
        let twist = SO3::exp(&(Vector3::x() * twist));
        SE3::new(twist, Vector3::x() * length)
    };
    let [alpha, beta] = TWISTS;
    let b = A * beta.sin() / alpha.sin();
    let (short, long) = (link(A, alpha), link(b, beta));
    let rod = |length: f64| {
        let rod = SecondMoment::rod(1.0, [Vector3::zeros(), Vector3::x() * length]);
        PseudoInertia::new(rod + SecondMoment::solid_sphere(0.3, 0.1)).expect("an inertia")
    };
    let hinge = Joint::revolute(Vector3::z()).expect("an axis");
    let body = |name, length| Body::new(name, hinge).inertia(rod(length));
    let model = Model::builder()
        .body(body("first", A))
        .body(body("second", b).parent("first").placed(short))
        .body(body("third", A).parent("second").placed(long))
        .build()
        .expect("a system");
    let ground = LoopClosure::new("ground", "world", "third", LoopKind::Revolute);
    let set = set.with(ground.at(long.inverse(), short));
    let constraints = set.build(&model).expect("constraints");
    let first = 1.0_f64;
    let second = 2.0 * (bennett_ratio() / (first / 2.0).tan()).atan();
    Simulation::new(
        model,
        constraints,
        vec![first, second, -first],
        vec![0.0; 3],
    )
}

/// Bennett's relation: the product of the tangents of half the first two angles.
fn bennett_ratio() -> f64 {
    let [alpha, beta] = TWISTS;
    (0.5 * (beta + alpha)).sin() / (0.5 * (beta - alpha)).sin()
}

/// Within a step, and after a start that is off, the linkage is never quite closed, and then all three of its velocities are tied by equations
/// that are independent: treating them as independent stops it, or worse. It turns by more than half a turn, keeps its energy and its relation.
#[test]
fn what_is_not_quite_closed_moves_all_the_same() {
    for (off, rate) in [
        (0.0, 0.0),
        (0.0, 20.0),
        (1e-6, 20.0),
        (1e-4, 20.0),
        (1e-6, 100.0),
    ] {
        let stabilization = Stabilization::critically_damped(rate);
        let mut linkage = bennett(ConstraintSet::builder().stabilized(stabilization));
        linkage.solve().expect("a solution");
        assert!(linkage.constrained.residual().amax() < 1e-14);
        assert_eq!(linkage.constrained.rank(), 2);
        let before = linkage.energy();
        linkage.x[1] += off;
        linkage.x[2] -= 0.4 * off;
        for _ in 0..1000 {
            linkage.step(1e-3);
            assert_eq!(linkage.constrained.rank(), 2);
        }
        assert!(linkage.x[0] < -2.0, "{}", linkage.x[0]);
        let change = (linkage.energy() - before).abs();
        assert!(change < 1e-7 + 8.0 * off, "{off:e} {rate} {change:e}");
        let relation = (linkage.x[0] / 2.0).tan() * (linkage.x[1] / 2.0).tan();
        let missed = (relation - bennett_ratio()).abs();
        assert!(
            missed < 2e-7 || (rate < 50.0 && missed < 8.0 * off),
            "{off:e} {rate} {missed:e}"
        );
    }
}
