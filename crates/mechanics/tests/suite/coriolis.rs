//! From's theorems on Coriolis matrices, index by index as they are stated, against the matrices of any coordinates.

#![allow(non_snake_case)]

use fly_lie::attitude::EulerSequence;
use fly_lie::{Coriolis, SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::geometry::{
    Coordinates, CoriolisMatrices, EulerAngles, LagrangeEquation, Lagrangian, Minimal, Pose,
    derivative_along,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace, projection};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, Vector3, Vector6, convert, dvector};
use num_dual::Dual64;

use crate::coordinates::examples::{body_mass, metric, near};
use crate::random_tree::Random;

/// Angles whose rates are not velocity coordinates, and two sliders.
type System = (EulerAngles, Minimal);

const ANGLES: System = (EulerAngles(EulerSequence::ZYX), Minimal(2));

/// `S(x)` with `v = S x_dot`.
fn transformation<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
    ANGLES.kinematic_inverse(x).expect("regular")
}

/// From II (51) with a sum for each index, from the derivatives of M and S along coordinates; with `swapped`, its second part by the momentum (60), (54).
fn theorem(
    [M, S]: [&DMatrix<f64>; 2],
    [dM, dS]: [&[DMatrix<f64>]; 2],
    v: &DVector<f64>,
    swapped: bool,
) -> DMatrix<f64> {
    let n = v.len();
    let inverse = S.clone().try_inverse().expect("regular");
    let p = M * v;
    DMatrix::from_fn(n, n, |i, j| {
        let mut sum = 0.0;
        for (k, l) in (0..n * n).map(|c| (c / n, c % n)) {
            let alpha = dM[l][(i, j)] * inverse[(l, k)] - 0.5 * inverse[(l, i)] * dM[l][(j, k)];
            sum += alpha * v[k];
            for (m, s) in (0..n * n).map(|c| (c / n, c % n)) {
                let curl = dS[m][(s, l)] - dS[l][(s, m)];
                sum += if swapped {
                    // k is not summed: once is enough.
                    f64::from(u8::from(k == 0)) * inverse[(l, i)] * curl * inverse[(m, j)] * p[s]
                } else {
                    inverse[(l, i)] * curl * inverse[(m, k)] * M[(s, j)] * v[k]
                };
            }
        }
        sum
    })
}

/// `∂f/∂x_l` for every l.
fn partial(
    f: impl Fn(&DVector<Dual64>) -> DMatrix<Dual64>,
    x: &DVector<f64>,
) -> (DMatrix<f64>, Vec<DMatrix<f64>>) {
    let unit = |l| DVector::from_fn(x.len(), |a, _| f64::from(u8::from(a == l)));
    let along = |l| derivative_along(&f, x, &unit(l)).1;
    (
        f(&x.map(Dual64::from_re)).map(|number| number.re),
        (0..x.len()).map(along).collect(),
    )
}

/// T in the rates of the coordinates: `1/2 x_dotᵀ Sᵀ M S x_dot`, From II (13).
struct InRates;

impl Lagrangian for InRates {
    fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, x_dot: &DVector<T>, _: T) -> T {
        let v = transformation(x) * x_dot;
        v.dot(&(metric::<T>(5)(x) * &v)) * convert(0.5)
    }
}

#[test]
fn theorem_2_1_holds_in_any_coordinates() {
    let mut random = Random::new(1);
    for _ in 0..10 {
        let x = dvector![
            random.next(),
            random.next(),
            random.next(),
            random.next(),
            random.next()
        ];
        let v = DVector::from_vec(random.numbers(5, 2.0));
        let matrices =
            CoriolisMatrices::new(&ANGLES, metric::<Dual64>(5), &x, &v).expect("regular");
        let (M, dM) = partial(metric::<Dual64>(5), &x);
        let (S, dS) = partial(transformation, &x);
        let local = theorem([&M, &S], [&dM, &dS], &v, false);
        near("(51)", matrices.local(), &local, 1e-12);
        let swapped = theorem([&M, &S], [&dM, &dS], &v, true);
        near("(60)", matrices.by_momentum(), &swapped, 1e-12);

        // Lagrange's equation in the rates, where x_ddot = 0: Sᵀ (M v_dot + C v), v_dot = S_dot x_dot.
        let x_dot = S.clone().try_inverse().expect("regular") * &v;
        let equation = LagrangeEquation::new(&Minimal(5), &InRates, &x, &x_dot, 0.0).expect("T");
        let S_dot = derivative_along(transformation, &x, &x_dot).1;
        for C in all(&matrices) {
            let force = S.tr_mul(&(&M * (&S_dot * &x_dot) + C * &v));
            assert!((force - equation.bias()).amax() < 1e-12);
        }
    }
}

fn all(matrices: &CoriolisMatrices) -> [&DMatrix<f64>; 4] {
    [
        matrices.local(),
        matrices.by_momentum(),
        matrices.passive(),
        matrices.of_connection(),
    ]
}

/// A body that floats, one on a ball joint on it, and one on a slider on that.
fn arm_in_space() -> Model<f64> {
    let inertia = |m: f64, along: Vector3<f64>| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.2, 0.3, 0.4));
        PseudoInertia::from_center(m, along, moments).expect("a body")
    };
    let pose = SE3::exp(&Vector6::new(0.3, -0.1, 0.2, 0.4, 0.5, -0.3));
    let axis = Vector3::new(0.6, 0.0, 0.8);
    Model::builder()
        .body(Body::new("base", Joint::free()).inertia(inertia(2.0, Vector3::x() * 0.2)))
        .body(
            Body::new("upper", Joint::spherical())
                .parent("base")
                .placed(pose)
                .inertia(inertia(1.0, Vector3::new(0.1, 0.4, -0.2))),
        )
        .body(
            Body::new("slider", Joint::prismatic(axis).expect("an axis"))
                .parent("upper")
                .placed(pose)
                .inertia(inertia(0.7, Vector3::z() * 0.3)),
        )
        .build()
        .expect("a tree")
}

fn mass_matrix<T: RealField + Copy>(model: &Model<T>, x: &[T]) -> DMatrix<T> {
    let n = model.dof();
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, &vec![T::zero(); n]);
    workspace.update_jacobians(model);
    let mut M = DMatrix::zeros(n, n);
    projection::mass_matrix(model, &workspace, &mut M);
    M
}

/// A state of the arm.
fn state(model: &Model<f64>, random: &mut Random) -> (DVector<f64>, DVector<f64>) {
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &random.numbers(model.dof(), 1.5));
    (
        DVector::from_vec(x),
        DVector::from_vec(random.numbers(model.dof(), 2.0)),
    )
}

/// From II (51) in the exponential coordinates φ of every joint about the configuration, where S has the right Jacobians as its blocks, (24) and (54), and φ = 0 after the derivatives.
#[test]
fn theorem_2_2_holds_in_exponential_coordinates() {
    let model = arm_in_space();
    let (n, dual) = (model.dof(), model.cast::<Dual64>());
    let mut random = Random::new(2);
    for _ in 0..6 {
        let (x, v) = state(&model, &mut random);
        let near_here = |phi: &DVector<Dual64>| {
            let mut x: Vec<_> = x.iter().map(|x| Dual64::from_re(*x)).collect();
            dual.integrate(&mut x, phi.as_slice());
            mass_matrix(&dual, &x)
        };
        let blocks = |phi: &DVector<Dual64>| {
            let mut S = DMatrix::identity(n, n);
            let base = SE3::right_jacobian(&phi.fixed_rows::<6>(0).into_owned());
            S.view_mut((0, 0), (6, 6)).copy_from(&base);
            let ball = SO3::right_jacobian(&phi.fixed_rows::<3>(6).into_owned());
            S.view_mut((6, 6), (3, 3)).copy_from(&ball);
            S
        };
        let here = DVector::zeros(n);
        let (M, dM) = partial(near_here, &here);
        let (S, dS) = partial(blocks, &here);
        near("S", &S, &DMatrix::identity(n, n), 0.0);

        // The same in the entries of rotation matrices, which have no φ.
        let mass = |x: &DVector<Dual64>| mass_matrix(&dual, x.as_slice());
        let matrices = CoriolisMatrices::new(&model, mass, &x, &v).expect("regular");
        let local = theorem([&M, &S], [&dM, &dS], &v, false);
        near("(59)", matrices.local(), &local, 1e-12);
        let swapped = theorem([&M, &S], [&dM, &dS], &v, true);
        near("(60)", matrices.by_momentum(), &swapped, 1e-12);

        let mut workspace = Workspace::new(&model);
        workspace.update(&model, x.as_slice(), v.as_slice());
        workspace.update_jacobians(&model);
        let (mut C, mut c) = (DMatrix::zeros(n, n), vec![0.0; n]);
        projection::coriolis_matrix(&model, &workspace, &mut C);
        near("connection", matrices.of_connection(), &C, 1e-12);
        projection::coriolis_force(&model, &workspace, &mut c);
        for C in all(&matrices) {
            assert!((C * &v - DVector::from_column_slice(&c)).amax() < 1e-12);
        }
    }
}

/// The text after (59), (60) lets `M_dot - 2 C` be skew-symmetric of all of them. Only two are.
#[test]
fn only_two_are_passive() {
    let model = arm_in_space();
    let dual = model.cast::<Dual64>();
    let mut random = Random::new(3);
    for _ in 0..6 {
        let (x, v) = state(&model, &mut random);
        let mass = |x: &DVector<Dual64>| mass_matrix(&dual, x.as_slice());
        let matrices = CoriolisMatrices::new(&model, mass, &x, &v).expect("regular");
        let along = derivative_along(mass, &x, &(Coordinates::kinematic_matrix(&model, &x) * &v)).1;
        near("M_dot", matrices.mass_matrix_rate(), &along, 1e-12);
        let [local, by_momentum, passive, of_connection] =
            all(&matrices).map(|C| (&along - C * 2.0).symmetric_part().amax());
        assert!(passive < 1e-13 && of_connection < 1e-13);
        assert!(local > 0.1 && by_momentum > 0.1, "{local} {by_momentum}");
    }
}

/// From I: with the constant inertia of one body (60) is the matrix of the group, (109), skew-symmetric; (59), (52), is another one.
#[test]
fn one_body_has_that_of_its_group() {
    let x = crate::coordinates::examples::pose_entries();
    let v = Vector6::new(0.3, -0.2, 0.5, 1.0, -0.7, 0.4);
    let M = body_mass();
    let along = DVector::from_column_slice(v.as_slice());
    let metric = |_: &DVector<Dual64>| M.map(Dual64::from_re);
    let matrices = CoriolisMatrices::new(&Pose, metric, &x, &along).expect("regular");
    let p = Vector6::from_column_slice((&M * &along).as_slice());
    let expected = DMatrix::from_column_slice(6, 6, SE3::coriolis(&p).as_slice());
    near("(109)", matrices.by_momentum(), &expected, 1e-15);
    near("M_dot = 0", matrices.passive(), &expected, 1e-15);
    assert!((matrices.local() - &expected).amax() > 0.1);
    assert!((matrices.local() * &along - expected * along).amax() < 1e-14);
}
