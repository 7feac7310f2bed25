//! All critical points of functions whose critical points are known.

#![allow(non_snake_case)]

use fly_lie::CriticalKind::{Constant, Maximum, Minimum, Saddle};
use fly_lie::{AttitudePotential, CriticalKind, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::geometry::{
    Coordinates, CoordinatesError, CriticalPoint, CriticalSearch, Embedded, Minimal, Quaternion,
    RotationMatrix, equilibria, second_directional_derivatives,
};
use fly_mechanics::multibody::{Body, Joint, Model};
use nalgebra::{ComplexField, DVector, Matrix3, RealField, Vector3, convert, dvector};
use num_dual::HyperDual64;

#[derive(Clone, Debug)]
struct Sphere(f64);

impl Embedded for Sphere {
    fn config_dim(&self) -> usize {
        3
    }
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        dvector![x.norm_squared() - convert(self.0 * self.0)]
    }
}

fn search<M: Embedded>(
    manifold: &M,
    size: f64,
    V: impl Fn(&DVector<HyperDual64>) -> HyperDual64,
) -> Vec<CriticalPoint> {
    let bounds = vec![[-size, size]; manifold.config_dim()];
    let search = CriticalSearch::new(manifold, bounds).expect("bounds");
    search.find(V).expect("finite")
}

fn kinds(points: &[CriticalPoint]) -> Vec<(usize, Option<CriticalKind>)> {
    points
        .iter()
        .map(|point| (point.dimension, point.kind))
        .collect()
}

/// `-tr(P R)`.
fn attitude(P: Matrix3<f64>) -> impl Fn(&DVector<HyperDual64>) -> HyperDual64 {
    move |x| {
        let R = Matrix3::from_column_slice(x.as_slice());
        -(P.map(HyperDual64::from_re) * R).trace()
    }
}

/// Against the closed form of the attitude potential, Konz (A.143): four points, or circles and spheres of them where eigenvalues are equal.
#[test]
fn attitude_potentials() {
    let (X, Y) = (
        SO3::<f64>::exp(&Vector3::new(0.3, -1.0, 0.5)),
        SO3::<f64>::exp(&Vector3::new(-0.7, 0.2, 1.9)),
    );
    // Five kinds of singular values, turned at will.
    for values in [
        [3.0, 2.0, 1.0],
        [3.0, 2.0, -0.5],
        [5.0, 1.0, 0.9],
        [3.0, 1.0, 1.0],
        [2.0, 2.0, 1.0],
        [1.0, 1.0, 1.0],
        [3.0, 1.0, -1.0],
    ] {
        let values = Vector3::from_column_slice(&values);
        let P = X.matrix() * Matrix3::from_diagonal(&values) * Y.matrix().transpose();
        let found = search(&RotationMatrix, 1.0, attitude(P));
        let potential = AttitudePotential::new(P).expect("finite");
        let known: Vec<_> = potential.critical_sets(1e-9).collect();
        assert_eq!(found.len(), known.len(), "{values}: {:?}", kinds(&found));
        for (point, set) in found.iter().zip(&known) {
            assert!((point.value - set.value).abs() < 1e-9, "{values}");
            assert_eq!(
                (point.dimension, point.kind),
                (set.dimension, Some(set.kind)),
                "{values}"
            );
            let R = SO3::from_matrix(Matrix3::from_column_slice(point.configuration.as_slice()));
            let nearest = set.nearest(&R).expect("near");
            assert!((nearest.matrix() - R.matrix()).amax() < 1e-6, "{values}");
            // |A omega|² = 2 |omega|²: half of the eigenvalues along angular velocities.
            let mut eigenvalues: Vec<_> = set.eigenvalues.iter().map(|l| 0.5 * l).collect();
            eigenvalues.sort_by(f64::total_cmp);
            assert!((&point.eigenvalues - DVector::from_vec(eigenvalues)).amax() < 1e-6);
        }
    }
}

/// The same as a function of unit quaternions, each rotation twice; and the Hessian in coordinates, Konz (A.116).
#[test]
fn quaternions_have_every_attitude_twice() {
    let V = |q: &DVector<HyperDual64>| {
        (0..4).fold(HyperDual64::from_re(0.0), |sum, k| {
            sum + q[k] * q[k] * f64::from(1 << k)
        })
    };
    let found = search(&Quaternion, 1.0, V);
    let expected = [
        Minimum, Minimum, Saddle, Saddle, Saddle, Saddle, Maximum, Maximum,
    ];
    assert_eq!(kinds(&found), expected.map(|kind| (0, Some(kind))));
    let indices: Vec<_> = found.iter().map(|point| point.index).collect();
    assert_eq!(indices, [0, 0, 1, 1, 2, 2, 3, 3]);
    for point in &found {
        let x = &point.configuration;
        let K = second_directional_derivatives(&Quaternion, V, x).expect("sizes");
        let J = point.tangent_basis.tr_mul(&Quaternion.kinematic_matrix(x));
        assert!((K - J.tr_mul(&point.hessian) * J).amax() < 1e-9);
        // V q = lambda q
        assert!((point.multipliers[0] + point.value).abs() < 1e-9);
    }
}

/// On a sphere a quadratic form has the eigenvectors as critical points; two equal values make a circle of them.
#[test]
fn quadratic_forms_on_a_sphere() {
    let form = |d: [f64; 3]| {
        move |x: &DVector<HyperDual64>| x[0] * x[0] * d[0] + x[1] * x[1] * d[1] + x[2] * x[2] * d[2]
    };
    let found = search(&Sphere(2.0), 2.0, form([1.0, 2.0, 3.0]));
    let expected = [Minimum, Minimum, Saddle, Saddle, Maximum, Maximum];
    assert_eq!(kinds(&found), expected.map(|kind| (0, Some(kind))));
    let values: Vec<_> = found.iter().map(|point| point.value.round()).collect();
    assert_eq!(values, [4.0, 4.0, 8.0, 8.0, 12.0, 12.0]);
    // Euler's characteristic: the points' signs sum to that of the sphere.
    let sum: i32 = found
        .iter()
        .map(|point| if point.index % 2 == 0 { 1 } else { -1 })
        .sum();
    assert_eq!(sum, 2);

    let circle = search(&Sphere(2.0), 2.0, form([1.0, 1.0, 3.0]));
    assert_eq!(
        kinds(&circle),
        [(1, Some(Minimum)), (0, Some(Maximum)), (0, Some(Maximum))]
    );
    let all = search(&Sphere(2.0), 2.0, form([2.0; 3]));
    assert_eq!(kinds(&all), [(2, Some(Constant))]);
    // Two circles of the same value are two.
    let ring = |x: &DVector<HyperDual64>| (x[2] * x[2] - HyperDual64::from_re(1.0)).powi(2);
    let rings = search(&Sphere(2.0), 2.0, ring);
    let mut found = kinds(&rings);
    found.sort_by_key(|(dimension, _)| *dimension);
    let (points, circles) = found.split_at(2);
    assert_eq!(points, [(0, Some(Maximum)); 2]);
    assert_eq!(
        circles,
        [(1, Some(Minimum)), (1, Some(Minimum)), (1, Some(Maximum))]
    );
}

/// The force of a rod by its multiplier.
#[test]
fn multipliers_are_forces() {
    let weight = |x: &DVector<HyperDual64>| x[2] * 9.81;
    let found = search(&Sphere(0.5), 0.5, weight);
    assert_eq!(kinds(&found), [(0, Some(Minimum)), (0, Some(Maximum))]);
    // grad V + lambda 2 x = 0
    assert!((found[0].multipliers[0] - 9.81).abs() < 1e-9);
    assert!((found[1].multipliers[0] + 9.81).abs() < 1e-9);
}

/// `|V'|²` has a minimum at x = 0 that is not a critical point of V: a search that descends it stays there.
#[test]
fn slopes_that_almost_vanish_are_no_trap() {
    let V = |x: &DVector<HyperDual64>| {
        // V' = (x² + 0.01) (x - 3) (x + 2)
        let [a, b, c, d] = [0.2, -0.25, -5.99 / 3.0, -0.005].map(HyperDual64::from_re);
        let x = x[0];
        ((((a * x + b) * x + c) * x + d) * x - HyperDual64::from_re(0.06)) * x
    };
    let found = search(&Minimal(1), 4.0, V);
    assert_eq!(kinds(&found), [(0, Some(Minimum)), (0, Some(Maximum))]);
    assert!((found[0].configuration[0] - 3.0).abs() < 1e-9);
    assert!((found[1].configuration[0] + 2.0).abs() < 1e-9);

    // A wavy function: one point of each sine, 25 in all, none twice.
    let waves = |x: &DVector<HyperDual64>| x[0].sin() + x[1].cos() * 0.7;
    let found = search(&Minimal(2), 8.0, waves);
    assert_eq!(found.len(), 6 * 5, "{:?}", kinds(&found));
}

#[test]
fn what_second_derivatives_cannot_tell_is_left_open() {
    let V = |x: &DVector<HyperDual64>| x[0].powi(4) + x[1] * x[1];
    assert_eq!(kinds(&search(&Minimal(2), 1.0, V)), [(0, None)]);
    let flat = |x: &DVector<HyperDual64>| x[1] * x[1];
    assert_eq!(kinds(&search(&Minimal(2), 1.0, flat)), [(1, Some(Minimum))]);
    let slope = |x: &DVector<HyperDual64>| x[1] + x[0] * x[0];
    assert!(search(&Minimal(2), 1.0, slope).is_empty());

    let error = CriticalSearch::new(&Minimal(2), vec![[0.0, 1.0]]).expect_err("one bound");
    assert!(matches!(error, CoordinatesError::Size { .. }));
    for bounds in [
        vec![[-1.0, 1.0], [1.0, 1.0]],
        vec![[1.0, -1.0], [-1.0, 1.0]],
    ] {
        let error = CriticalSearch::new(&Minimal(2), bounds).expect_err("no space");
        assert!(matches!(error, CoordinatesError::NotFinite { .. }));
    }
    let search = CriticalSearch::new(&Minimal(1), vec![[0.0, 1.0]]).expect("bounds");
    let error = search.find(|_| HyperDual64::from_re(f64::NAN) * f64::NAN);
    assert!(matches!(error, Err(CoordinatesError::NotFinite { .. })));
}

fn rod(along: Vector3<f64>) -> PseudoInertia<f64> {
    PseudoInertia::from_center(1.5, along, Matrix3::from_diagonal_element(0.1)).expect("a body")
}

/// A double pendulum rests in four ways: as many directions to fall as rods that stand up.
#[test]
fn equilibria_of_pendulums() {
    let hinge = || {
        Joint::revolute(Vector3::y())
            .expect("an axis")
            .with_cos_sin()
    };
    let down = -Vector3::z();
    let model = Model::builder()
        .body(Body::new("upper", hinge()).inertia(rod(down * 0.5)))
        .body(
            Body::new("lower", hinge())
                .parent("upper")
                .placed(fly_lie::SE3::new(SO3::identity(), down))
                .inertia(rod(down * 0.5)),
        )
        .build()
        .expect("a tree");
    let found = equilibria(&model, vec![[-1.0, 1.0]; 4]).expect("finite");
    let indices: Vec<_> = found.iter().map(|point| point.index).collect();
    assert_eq!(indices, [0, 1, 1, 2]);
    let weight = 1.5 * 9.81;
    // 3/2 and 1/2 of a weight, a metre apart.
    for (point, height) in found.iter().zip([-2.0, -1.0, 1.0, 2.0]) {
        assert!(
            (point.value - weight * height).abs() < 1e-9,
            "{}",
            point.value
        );
    }

    // On a ball joint nothing holds the turn about the vertical: two circles.
    let top = Model::builder()
        .body(Body::new("top", Joint::spherical()).inertia(rod(down * 0.5)))
        .build()
        .expect("a tree");
    let bounds = vec![[-1.0, 1.0]; top.config_dim()];
    let found = equilibria(&top, bounds).expect("finite");
    assert_eq!(kinds(&found), [(1, Some(Minimum)), (1, Some(Maximum))]);
}
