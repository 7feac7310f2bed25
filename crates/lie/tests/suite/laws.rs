//! The laws of every group, once for all groups and scalars, and the Jacobians against dual numbers.

#![allow(non_snake_case)]
// One range of coordinates is what a group with one rotation has.
#![allow(clippy::single_range_in_vec_init)]

use std::f64::consts::PI;
use std::ops::Range;

use fly_lie::{
    CoordinateVector, Coriolis, LieGroup, Operator, Pitch, Product, Rn, SE2, SE3, SE23, SO2, SO3,
    Schoenflies, Screw, UnitQuaternion, swap,
};
use nalgebra::{RealField, convert};
use num_dual::Dual64;

/// Rotation angles: none, tiny, ordinary, near and at a half turn, on both sides of the polynomials' end, 3.146, and beyond it.
const ANGLES: [f64; 16] = [
    0.0,
    1e-300,
    1e-12,
    1e-9,
    1e-4,
    0.2,
    1.0,
    1.57,
    1.58,
    2.0,
    3.0,
    PI - 1e-3,
    PI - 1e-7,
    PI - 1e-12,
    PI,
    4.0,
];

const DIRECTIONS: [[f64; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.6, 0.0, -0.8],
    [-0.48, 0.6, 0.64],
    [0.576, -0.168, -0.8],
];

/// The fewest samples with which a law counts as tested, and one that holds for part of the angles only.
const ENOUGH: usize = 90;
const ENOUGH_IN_PART: usize = 30;

/// Over how many samples a suite ran, and those of its laws that not all samples can have: the fewest.
struct Ran {
    all: usize,
    in_part: usize,
}

impl Ran {
    fn is_enough(&self) -> bool {
        self.all >= ENOUGH && self.in_part >= ENOUGH_IN_PART
    }
}

/// A sample: its coordinates and the largest rotation angle in them.
type Sample<C> = (C, f64);

/// Every angle in every direction; `rotations` says which coordinates are rotation vectors (of one or three entries).
fn samples<T: RealField + Copy, C: CoordinateVector<T>>(
    rotations: &[Range<usize>],
) -> Vec<Sample<C>> {
    let mut all = Vec::new();
    for (i, angle) in ANGLES.into_iter().enumerate() {
        for (j, direction) in DIRECTIONS.into_iter().enumerate() {
            let x = C::from_fn(|k| {
                let value = match rotations.iter().find(|range| range.contains(&k)) {
                    Some(range) if range.len() == 1 => angle * if j % 2 == 0 { 1.0 } else { -1.0 },
                    Some(range) => angle * direction[k - range.start],
                    None => 1.5 * ((7 * i + 3 * j + 2 * k) as f64).sin(),
                };
                convert(value)
            });
            let angle = if rotations.is_empty() { 0.0 } else { angle };
            all.push((x, angle));
        }
    }
    all
}

#[track_caller]
fn near<T: RealField + Copy>(what: &str, a: T, b: T, tolerance: f64) {
    let error = (a - b).abs();
    assert!(error <= convert(tolerance), "{what}: {a} is not {b}");
}

#[track_caller]
fn same<T: RealField + Copy, C: CoordinateVector<T>>(what: &str, a: &C, b: &C, tolerance: f64) {
    for i in 0..C::DIM {
        near(what, a.entry(i), b.entry(i), tolerance);
    }
}

#[track_caller]
fn same_map<T: RealField + Copy, O: Operator<T>>(what: &str, a: &O, b: &O, tolerance: f64) {
    for i in 0..O::Coordinates::DIM {
        for j in 0..O::Coordinates::DIM {
            near(what, a.entry(i, j), b.entry(i, j), tolerance);
        }
    }
}

/// Corners that tell any two elements apart: the origin and the unit points.
fn corners<T: RealField + Copy, C: CoordinateVector<T>>() -> impl Iterator<Item = C> {
    (0..=C::DIM).map(|k| C::from_fn(|i| if i == k { T::one() } else { T::zero() }))
}

#[track_caller]
fn same_element<T: RealField + Copy, G: LieGroup<T>>(what: &str, a: &G, b: &G, tolerance: f64) {
    for point in corners() {
        same(what, &a.act(&point), &b.act(&point), tolerance);
    }
}

/// All laws of one group on these samples; how many there were.
fn laws<T: RealField + Copy, G: Coriolis<T>>(xs: &[Sample<G::Tangent>], tolerance: f64) -> Ran {
    let mut logs = 0;
    let one = G::Operator::identity();
    for (i, (x, angle)) in xs.iter().enumerate() {
        let (y, _) = &xs[(7 * i + 5) % xs.len()];
        let (z, _) = &xs[(5 * i + 3) % xs.len()];
        let (g, h, k) = (G::exp(x), G::exp(y), G::exp(z));

        same_element("associative", &((g * h) * k), &(g * (h * k)), tolerance);
        same_element("neutral", &(g * G::identity()), &g, tolerance);
        same_element(
            "inverse",
            &g.compose(&g.inverse()),
            &G::identity(),
            tolerance,
        );
        for point in corners::<T, G::Point>() {
            same(
                "action",
                &(g * h).act(&point),
                &g.act(&h.act(&point)),
                tolerance,
            );
        }

        same("vee hat", &G::vee(&G::hat(x)), x, tolerance);
        same_element("exp(-x)", &G::exp(&-*x), &g.inverse(), tolerance);
        same_element("exp log", &G::exp(&g.log()), &g, tolerance);
        if *angle < PI - 10.0 * tolerance {
            same("log exp", &g.log(), x, tolerance);
            logs += 1;
        }

        same_map(
            "Ad g h",
            &(g * h).adjoint(),
            &(g.adjoint() * h.adjoint()),
            tolerance,
        );
        let conjugated = g * h * g.inverse();
        let moved = G::exp(&g.adjoint().apply(y));
        same_element("conjugation", &moved, &conjugated, 3.0 * tolerance);
        let (ad_x, ad_y) = (G::ad(x), G::ad(y));
        same("antisymmetric", &ad_x.apply(y), &-ad_y.apply(x), tolerance);
        let bracket = G::ad(&ad_x.apply(y));
        same_map(
            "Jacobi",
            &(ad_x * ad_y - ad_y * ad_x),
            &bracket,
            10.0 * tolerance,
        );

        let (left, right) = (G::left_jacobian(x), G::right_jacobian(x));
        same_map("Ad = Jl Jr^-1", &(g.adjoint() * right), &left, tolerance);
        same_map(
            "Jl^-1",
            &(left * G::left_jacobian_inverse(x)),
            &one,
            tolerance,
        );
        same_map(
            "Jr^-1",
            &(right * G::right_jacobian_inverse(x)),
            &one,
            tolerance,
        );
        same("Jl x", &left.apply(x), x, tolerance);

        let d = g.difference(&h);
        same_element("difference", &g.integrate(&d), &h, 2.0 * tolerance);
        same_element("start", &g.interpolate(&h, T::zero()), &g, tolerance);
        same_element("end", &g.interpolate(&h, T::one()), &h, 2.0 * tolerance);

        let C = G::coriolis(y);
        same(
            "C(p) v",
            &C.apply(x),
            &-ad_x.transpose().apply(y),
            tolerance,
        );
        same_map("no power", &C.transpose(), &-C, 0.0);
    }
    Ran {
        all: xs.len(),
        in_part: logs,
    }
}

/// The dual numbers `x + eps y`.
fn dual<C: CoordinateVector<f64>, D: CoordinateVector<Dual64>>(x: &C, y: &C) -> D {
    D::from_fn(|i| Dual64::new(x.entry(i), y.entry(i)))
}

/// The `eps` parts.
fn eps<C: CoordinateVector<f64>, D: CoordinateVector<Dual64>>(x: &D) -> C {
    C::from_fn(|i| x.entry(i).eps)
}

/// The derivatives of the difference and the interpolation from `g` to `h`, which move along `y`.
fn difference_derivatives<G: LieGroup<f64>, D: LieGroup<Dual64>>(
    g: &G,
    h: &G,
    (dg, dh): (D, D),
    y: &G::Tangent,
    tolerance: f64,
) {
    let moving = D::exp(&dual(&G::Tangent::from_fn(|_| 0.0), y));
    let column = |O: &G::Operator| O.apply(y);

    let (by_self, by_other) = g.difference_jacobians(h);
    let start: G::Tangent = eps(&(dg * moving).difference(&dh));
    same("difference, start", &start, &column(&by_self), tolerance);
    let end: G::Tangent = eps(&dg.difference(&(dh * moving)));
    same("difference, end", &end, &column(&by_other), tolerance);

    let t = 0.3;
    let (by_self, by_other) = g.interpolate_jacobians(h, t);
    let middle = dg.interpolate(&dh, t.into());
    let moved = (dg * moving).interpolate(&dh, t.into());
    let start: G::Tangent = eps(&middle.difference(&moved));
    same("interpolate, start", &start, &column(&by_self), tolerance);
    let moved = dg.interpolate(&(dh * moving), t.into());
    let end: G::Tangent = eps(&middle.difference(&moved));
    same("interpolate, end", &end, &column(&by_other), tolerance);
}

/// Everything that is a derivative, against dual numbers.
fn derivatives<G: LieGroup<f64>, D: LieGroup<Dual64>>(
    xs: &[Sample<G::Tangent>],
    tolerance: f64,
) -> Ran {
    let (mut logs, mut differences) = (0, 0);
    let zero = G::Tangent::from_fn(|_| 0.0);
    let still = |x: &G::Tangent| D::exp(&dual(x, &zero));
    let moving = |y: &G::Tangent| D::exp(&dual(&zero, y));
    for (i, (x, angle)) in xs.iter().enumerate() {
        let (other, _) = &xs[(7 * i + 5) % xs.len()];
        let (g, h) = (G::exp(x), G::exp(other));
        let (dg, dh) = (still(x), still(other));
        let apart = g.difference(&h);
        // At a half turn the logarithm jumps.
        let (has_log, has_difference) = (*angle < PI - 1e-4, largest_rotation::<G>(&apart) < 3.0);
        logs += usize::from(has_log);
        differences += usize::from(has_difference);
        for k in 0..G::DOF {
            let y = G::Tangent::from_fn(|i| f64::from(u8::from(i == k)));
            let column = |O: &G::Operator| O.apply(&y);

            // exp(x + eps y) = exp(x) exp(eps J_r y) = exp(eps J_l y) exp(x)
            let moved = D::exp(&dual(x, &y));
            let right = dg * moving(&column(&G::right_jacobian(x)));
            let left = moving(&column(&G::left_jacobian(x))) * dg;
            for point in corners::<Dual64, D::Point>() {
                for (what, by) in [("J_r", right), ("J_l", left)] {
                    let (a, b) = (moved.act(&point), by.act(&point));
                    for i in 0..D::Point::DIM {
                        near(what, a.entry(i).eps, b.entry(i).eps, tolerance);
                    }
                }
            }

            // d/dt Ad(g) = Ad(g) ad(y)
            let turned = (dg * moving(&y)).adjoint();
            let expected = g.adjoint() * G::ad(&y);
            for i in 0..G::DOF {
                for j in 0..G::DOF {
                    near(
                        "dAd/dt",
                        turned.entry(i, j).eps,
                        expected.entry(i, j),
                        tolerance,
                    );
                }
            }

            if has_log {
                let log: G::Tangent = eps(&(dg * moving(&y)).log());
                same(
                    "log",
                    &log,
                    &column(&G::right_jacobian_inverse(x)),
                    4.0 * tolerance,
                );
            }
            let (by_self, by_step) = G::integrate_jacobians(x);
            let from = still(other);
            let reached = from.integrate(&dual(x, &zero));
            let step: G::Tangent = eps(&reached.difference(&from.integrate(&dual(x, &y))));
            same("integrate, step", &step, &column(&by_step), 4.0 * tolerance);
            let (here, there) = (from, from * moving(&y));
            let start: G::Tangent = eps(&here
                .integrate(&dual(x, &zero))
                .difference(&there.integrate(&dual(x, &zero))));
            same(
                "integrate, start",
                &start,
                &column(&by_self),
                4.0 * tolerance,
            );

            if has_difference {
                difference_derivatives(&g, &h, (dg, dh), &y, 40.0 * tolerance);
            }
        }
    }
    Ran {
        all: xs.len(),
        in_part: logs.min(differences),
    }
}

/// The Coriolis matrices of Table 1 against their definitions: the bracket, and the derivatives of `S`, the right Jacobian.
fn coriolis_matrices<G: Coriolis<f64>, D: LieGroup<Dual64>>(
    xs: &[Sample<G::Tangent>],
    tolerance: f64,
) {
    let n = G::DOF;
    let unit = |k| G::Tangent::from_fn(|i| f64::from(u8::from(i == k)));
    let zero = G::Tangent::from_fn(|_| 0.0);
    // dS/dphi_k
    let derivatives = |phi: &G::Tangent| -> Vec<D::Operator> {
        let along = |k| D::right_jacobian(&dual(phi, &unit(k)));
        (0..n).map(along).collect()
    };
    let at_zero = derivatives(&zero);
    for (i, (phi, angle)) in xs.iter().enumerate() {
        let (p, _) = &xs[(7 * i + 5) % xs.len()];
        let (v, _) = &xs[(5 * i + 3) % xs.len()];
        let C = G::coriolis(p);
        let from_ad: G::Operator = swap(|v| -G::ad(v).transpose(), p);
        same_map("proposition 5.1", &C, &from_ad, 0.0);

        let sum = |entry: &dyn Fn(usize) -> f64| (0..n).map(|k| entry(k) * p.entry(k)).sum::<f64>();
        let d = |k: usize, i, j| at_zero[k].entry(i, j).eps;
        for i in 0..n {
            for j in 0..n {
                let (this, swapped) = (&|k| d(j, k, i), &|k| d(i, k, j));
                near("(57)", C.entry(i, j), sum(this) - sum(swapped), 2e-15);
                near("lemma 5.3", sum(this), -sum(swapped), 2e-15);
                // What was published before it: (33), (35) and (36), which is not C.
                let before = sum(&|k| d(k, j, i)) - sum(&|k| d(i, j, k));
                near("(36)", before, -G::ad(p).entry(j, i), 2e-15);
            }
        }

        // (54), which is the same at every phi where S has an inverse.
        if *angle < 3.5 {
            let dS = derivatives(phi);
            let inverse = G::right_jacobian_inverse(phi);
            let inner = |l: usize, m: usize| {
                let entry = |s: usize| dS[m].entry(s, l).eps - dS[l].entry(s, m).eps;
                (0..n).map(|s| entry(s) * p.entry(s)).sum::<f64>()
            };
            // S^-T inner S^-1 v
            let u = inverse.apply(v);
            let row = |l| (0..n).map(|m| inner(l, m) * u.entry(m)).sum();
            let force = inverse.transpose().apply(&G::Tangent::from_fn(row));
            same("(54)", &force, &C.apply(v), 300.0 * tolerance);
        }
    }
}

/// A bound of the rotation in `x`, from the trace of its adjoint's symmetric part.
fn largest_rotation<G: LieGroup<f64>>(x: &G::Tangent) -> f64 {
    let W = G::ad(x);
    let mut sum = 0.0;
    for i in 0..G::DOF {
        for j in 0..G::DOF {
            // ad² has -θ² twice per rotation on its diagonal.
            sum -= W.entry(i, j) * W.entry(j, i);
        }
    }
    (0.5 * sum).max(0.0).sqrt()
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Thread;

impl Pitch for Thread {
    const PITCH: f64 = 0.3;
}

/// A group that this crate does not have, for which nothing is stated but its bracket: Heisenberg's, by its exponential coordinates `[p, q, z]`, the matrices
/// `[[1, p, z + p q/2], [0, 1, q], [0, 0, 1]]`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Heisenberg<T>(nalgebra::Vector3<T>);

impl<T: RealField + Copy> std::ops::Mul for Heisenberg<T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0 + other.0 + Self::ad(&self.0) * other.0 * convert::<f64, T>(0.5))
    }
}

impl<T: RealField + Copy> LieGroup<T> for Heisenberg<T> {
    type Tangent = nalgebra::Vector3<T>;
    type Operator = nalgebra::Matrix3<T>;
    type Algebra = nalgebra::Vector3<T>;
    type Point = nalgebra::Vector2<T>;

    fn identity() -> Self {
        Self(nalgebra::Vector3::zeros())
    }
    fn inverse(&self) -> Self {
        Self(-self.0)
    }
    fn act(&self, point: &Self::Point) -> Self::Point {
        let [p, q, z] = self.0.into();
        let half: T = convert(0.5);
        nalgebra::Vector2::new(point.x + p * point.y + z + p * q * half, point.y + q)
    }
    fn hat(x: &Self::Tangent) -> Self::Algebra {
        *x
    }
    fn vee(X: &Self::Algebra) -> Self::Tangent {
        *X
    }
    fn exp(x: &Self::Tangent) -> Self {
        Self(*x)
    }
    fn log(&self) -> Self::Tangent {
        self.0
    }
    fn left_jacobian(x: &Self::Tangent) -> Self::Operator {
        Self::Operator::identity() + Self::ad(x) * convert::<f64, T>(0.5)
    }
    fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
        Self::Operator::identity() - Self::ad(x) * convert::<f64, T>(0.5)
    }
    fn adjoint(&self) -> Self::Operator {
        Self::Operator::identity() + Self::ad(&self.0)
    }
    fn ad(x: &Self::Tangent) -> Self::Operator {
        let mut ad = Self::Operator::zeros();
        (ad[(2, 0)], ad[(2, 1)]) = (-x.y, x.x);
        ad
    }
}

impl<T: RealField + Copy> Coriolis<T> for Heisenberg<T> {}

/// The suite for one group: laws with three scalars, derivatives with dual numbers.
macro_rules! suite {
    ($name:ident, $scalar:ident => $group:ty, $rotations:expr, $tolerance:expr) => {
        mod $name {
            use super::*;

            type Double = Of<f64>;
            type Single = Of<f32>;
            type Dual = Of<Dual64>;
            type Of<$scalar> = $group;
            const ROTATIONS: &[Range<usize>] = &$rotations;

            #[test]
            fn laws_hold() {
                assert!(laws::<f64, Double>(&samples(ROTATIONS), $tolerance).is_enough());
            }

            #[test]
            fn laws_hold_in_single_precision() {
                // The precisions differ by 2^29.
                let tolerance = $tolerance * 5.4e8;
                assert!(laws::<f32, Single>(&samples(ROTATIONS), tolerance).is_enough());
            }

            #[test]
            fn laws_hold_for_dual_numbers() {
                assert!(laws::<Dual64, Dual>(&samples(ROTATIONS), $tolerance).is_enough());
            }

            #[test]
            fn jacobians_are_derivatives() {
                let tolerance = 5.0 * $tolerance;
                assert!(derivatives::<Double, Dual>(&samples(ROTATIONS), tolerance).is_enough());
            }

            #[test]
            fn coriolis_matrices_come_from_the_bracket() {
                coriolis_matrices::<Double, Dual>(&samples(ROTATIONS), $tolerance);
            }
        }
    };
}

suite!(so2, T => SO2<T>, [0..1], 4e-15);
suite!(se2, T => SE2<T>, [2..3], 3e-14);
suite!(so3, T => SO3<T>, [0..3], 6e-15);
suite!(unit_quaternion, T => UnitQuaternion<T>, [0..3], 6e-15);
suite!(se3, T => SE3<T>, [3..6], 4e-14);
suite!(se23, T => SE23<T>, [0..3], 4e-14);
suite!(schoenflies, T => Schoenflies<T>, [3..4], 3e-14);
suite!(r1, T => Rn<T, 1>, [], 1e-14);
suite!(r2, T => Rn<T, 2>, [], 1e-14);
suite!(r3, T => Rn<T, 3>, [], 1e-14);
suite!(heisenberg, T => Heisenberg<T>, [], 3e-14);
suite!(screw, T => Screw<T, Thread>, [], 1e-14);
suite!(cylindrical, T => Product<SO2<T>, Rn<T, 1>>, [0..1], 1e-14);
suite!(product, T => Product<SE3<T>, Product<SO2<T>, Product<SO3<T>, Rn<T, 2>>>>, [3..6, 6..7, 7..10], 4e-14);

/// A suite that ran over too little would pass whatever the code does.
#[test]
fn too_few_samples_are_noticed() {
    let few = &samples::<f64, _>(&[0..3])[..12];
    assert!(!laws::<f64, SO3<f64>>(few, 6e-15).is_enough());
    assert!(!derivatives::<SO3<f64>, SO3<Dual64>>(few, 3e-14).is_enough());
    // Half turns alone have no logarithm that could be compared.
    let half_turns: Vec<_> = samples::<f64, _>(&[0..3])
        .into_iter()
        .filter(|(_, angle)| *angle >= PI)
        .cycle()
        .take(ENOUGH)
        .collect();
    assert!(!laws::<f64, SO3<f64>>(&half_turns, 6e-15).is_enough());
}

/// (33), (37): the result published before From I, and its error. A body moves without forces: in truth it keeps its energy and its momentum in
/// space, `Ad(g)^-T p`; by (37) it gains energy, and a spinning body's momentum turns the wrong way.
#[test]
fn the_historical_coriolis_matrix_is_wrong() {
    use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
    let M = Matrix6::from_diagonal(&[2.0, 2.5, 3.0, 0.3, 0.4, 0.5].into());
    let v = Vector6::<f64>::new(0.3, 0.2, 0.5, 1.0, -0.7, 0.4);
    let p = M * v;
    let before = -SE3::ad(&p).transpose() * v;
    let right = SE3::coriolis(&p) * v;
    // The rate of the energy is the power v . M v_dot = -v . C v.
    assert!(v.dot(&right).abs() < 1e-15);
    assert!(v.dot(&before).abs() > 0.1, "{}", v.dot(&before));

    let M = Matrix3::from_diagonal(&Vector3::new(0.3, 0.4, 0.5));
    let w = Vector3::new(1.0, -0.7, 0.4);
    // The rate of the momentum in space is R (p_dot + w × p), of which p_dot = -C w.
    let rate = |C: Matrix3<f64>| w.cross(&(M * w)) - C * w;
    assert_eq!(rate(SO3::coriolis(&(M * w))), Vector3::zeros());
    let before = rate(-SO3::ad(&(M * w)).transpose());
    assert!((before - w.cross(&(M * w)) * 2.0).norm() < 1e-16);
}

/// Written out, Euler's equations about principal axes: `I_z r_dot - I_x p q + I_y p q`, where From I 4.2 prints `I_y r q`.
#[test]
fn eulers_equations_written_out() {
    use nalgebra::Vector3;
    let (I, w) = (Vector3::new(0.3, 0.4, 0.5), Vector3::new(1.0, -0.7, 0.4));
    let force = SO3::coriolis(&I.component_mul(&w)) * w;
    let [p, q, r] = w.into();
    let expected = Vector3::new(
        (I.z - I.y) * q * r,
        (I.x - I.z) * r * p,
        (I.y - I.x) * p * q,
    );
    assert!((force - expected).norm() < 1e-16);
}

/// `V(R) - V(R0) = 1/2 |(R - R0)^T|²_Wed(K)`, Konz (A.145b), whose print lacks the transposition, which is another number.
#[test]
fn attitude_potentials_are_distances() {
    use fly_lie::AttitudePotential;
    use fly_lie::inner_product::norm_squared;
    use fly_lie::operators::hat_matrix3;
    use nalgebra::{Matrix3, Vector3};
    let P = Matrix3::new(3.0, 0.4, -0.2, 0.1, 2.0, 0.5, 0.3, -0.6, 1.2);
    let potential = AttitudePotential::new(P).expect("finite");
    let (R0, wed) = (potential.minimum(), hat_matrix3(&potential.stiffness()));
    let R = SO3::<f64>::exp(&Vector3::new(0.4, -1.0, 0.7));
    let apart = R.matrix() - R0.matrix();
    let higher = potential.value(&R) - potential.value(&R0);
    assert!((higher - 0.5 * norm_squared(&apart.transpose(), &wed)).abs() < 1e-14);
    assert!((higher - 0.5 * norm_squared(&apart, &wed)).abs() > 0.01);
}
