//! The rank of constraints does not depend on how light the bodies are that an equation moves, nor on the scale of the equation.

#![allow(non_snake_case)]

use fly_mechanics::PseudoInertia;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintSetBuilder, ConstraintWorkspace, Coupling, EvaluatedState,
    LoopClosure, LoopKind, PrescribedVelocity, Stabilization,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, Vector3, Vector6, convert};

fn inertia<T: RealField + Copy>(mass: f64, moment: f64) -> PseudoInertia<T> {
    let moment = Matrix3::identity() * convert::<f64, T>(moment);
    PseudoInertia::from_center(convert(mass), Vector3::zeros(), moment).expect("an inertia")
}

/// A slider of 50 kg and a drum that a rotor of 1e-6 kg m² turns by a gear of 100 : 1.
fn hoist() -> Model<f64> {
    let about_z = Joint::revolute(Vector3::z()).expect("an axis");
    let slider = Joint::prismatic(Vector3::x()).expect("an axis");
    Model::builder()
        .gravity(Vector3::new(-9.81, 0.0, 0.0))
        .body(Body::new("slider", slider).inertia(inertia(50.0, 1.0)))
        .body(Body::new("rotor", about_z).inertia(inertia(0.01, 1e-6)))
        .body(Body::new("drum", about_z).inertia(inertia(1.0, 0.01)))
        .build()
        .expect("a system")
}

#[test]
fn gains_and_tolerances_are_checked() {
    let model = hoist();
    let set = || ConstraintSet::<f64>::builder().with(Coupling::lock("lock", "slider", 0.0));
    for (set, what) in [
        (
            set().stabilized(Stabilization::critically_damped(-5.0)),
            "the velocity gain of the stabilization must be a number from 0 on",
        ),
        (
            set().stabilized(Stabilization::critically_damped(f64::NAN)),
            "the position gain of the stabilization",
        ),
        (set().rank_tolerance(2.0), "the rank tolerance must be"),
        (set().rank_tolerance(f64::NAN), "found NaN"),
        (
            set().consistency_tolerance(-1.0),
            "the consistency tolerance",
        ),
    ] {
        let error = set.build(&model).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// The slider stands still and the gear turns as it must, however far the gear is out of place.
#[test]
fn a_locked_slider_beside_a_light_geared_rotor() {
    let model = hoist();
    let set = ConstraintSet::builder()
        .with(Coupling::lock("lock", "slider", 0.0))
        .with(Coupling::gear("gear", "rotor", "drum", 100.0, 0.0));
    let constraints = set.build(&model).expect("constraints");
    let mut workspace = Workspace::new(&model);
    let mut constrained = ConstraintWorkspace::new(&constraints);
    for gap in [0.0, 1e-6, 1e-4, 1e-2] {
        let x = [0.0, gap, 0.0];
        constrained
            .forward_dynamics(
                &constraints,
                &model,
                &mut workspace,
                &x,
                &[0.0; 3],
                0.0,
                &[0.0, 1e-3, 0.0],
            )
            .expect("a solution");
        assert_eq!(constrained.rank(), 2, "gap {gap}");
        // 1e-3 N m at the rotor turn 1e-6 + 0.01 / 100² kg m².
        let alpha = 1e-3 / 2e-6;
        let expected = DVector::from_vec(vec![0.0, alpha, alpha / 100.0]);
        let error = (constrained.acceleration() - expected).amax();
        assert!(error < 1e-9 * alpha, "gap {gap}: {error:e}");
        let lock = constrained.multipliers()[0];
        assert!((lock - 50.0 * 9.81).abs() < 1e-9, "gap {gap}: {lock}");
    }
}

/// The same, with each equation scaled differently; the projections move the right bodies.
#[test]
fn equations_multiplied_with_numbers() {
    let model = hoist();
    for factors in [[1e-4, 1e2], [1e6, 1e-6], [1e-5, 1e-5]] {
        let lock = Coupling::new("lock", 0.0).term("slider", 0, factors[0]);
        let gear = Coupling::new("gear", 0.0)
            .term("rotor", 0, factors[1])
            .term("drum", 0, -100.0 * factors[1]);
        let constraints = ConstraintSet::builder().with(lock).with(gear);
        let constraints = constraints.build(&model).expect("constraints");
        let mut workspace = Workspace::new(&model);
        let mut constrained = ConstraintWorkspace::new(&constraints);
        let mut x = [0.2, 0.3, 0.1];
        constrained
            .project_configuration(&constraints, &model, &mut workspace, &mut x, 0.0)
            .expect("a configuration");
        assert!(x[0].abs() < 1e-5, "{factors:?}: {x:?}");
        assert!((x[1] - 100.0 * x[2]).abs() < 1e-5, "{factors:?}: {x:?}");
        let mut xi = [1.0, 2.0, 3.0];
        constrained
            .project_velocity(
                &constraints,
                &model,
                &mut workspace,
                &DMatrix::identity(3, 3),
                &x,
                &mut xi,
                0.0,
            )
            .expect("a velocity");
        assert_eq!(constrained.rank(), 2, "{factors:?}");
        assert!(
            xi[0].abs() < 1e-12 && (xi[1] - 100.0 * xi[2]).abs() < 1e-12,
            "{xi:?}"
        );
    }
}

/// A row far below all others that is not rounding of anything: a prescribed velocity in other units.
#[test]
fn a_small_row_of_its_own() {
    let model = hoist();
    let mut slow = PrescribedVelocity::knife_edge("slow", "slider", fly_lie::SE3::identity());
    slow.components = vec![(Vector6::x() * 1e-4, 2e-4)];
    let constraints = ConstraintSet::builder()
        .with(Coupling::gear("gear", "rotor", "drum", 100.0, 0.0))
        .with(slow)
        .build(&model)
        .expect("constraints");
    let mut workspace = Workspace::new(&model);
    let mut constrained = ConstraintWorkspace::new(&constraints);
    // The gear is out of place, so that much counts as dependent.
    let x = [0.0, 0.1, 0.0];
    let mut xi = [0.0; 3];
    let M = DMatrix::identity(3, 3);
    constrained
        .project_velocity(&constraints, &model, &mut workspace, &M, &x, &mut xi, 0.0)
        .expect("a velocity");
    assert!((xi[0] - 2.0).abs() < 1e-12, "{xi:?}");
}

/// Two hinges of a door depend on each other in five of ten equations, in single precision too.
fn door<T: RealField + Copy>() -> usize {
    let turn = Vector3::new(convert(0.3), convert(-0.2), convert(0.9));
    let body = Body::new("door", Joint::free().with_quaternion()).inertia(inertia(20.0, 2.0));
    let model = Model::<T>::builder().body(body).build().expect("a system");
    let hinge = |name: &str, height: f64| {
        let at = Vector3::new(convert(0.1), convert(0.2), convert(height));
        let hinge = LoopClosure::new(name, "world", "door", LoopKind::Revolute).between(at, at);
        hinge.along(turn, turn).expect("axes")
    };
    // The second hinge stands on the axis of the first.
    let axis = turn.normalize();
    let mut upper = hinge("upper", 0.0);
    let point = upper.frame_in_a.translation + axis;
    (upper.frame_in_a.translation, upper.frame_in_b.translation) = (point, point);
    let set: ConstraintSetBuilder<T> = ConstraintSet::builder()
        .with(hinge("lower", 0.0))
        .with(upper);
    let constraints = set.build(&model).expect("constraints");
    let (mut workspace, x) = (Workspace::new(&model), model.neutral_configuration());
    let xi = vec![T::zero(); 6];
    let mut constrained = ConstraintWorkspace::new(&constraints);
    let state = EvaluatedState::new(&model, &mut workspace, &x, &xi, T::zero());
    constrained.update(&constraints, &state);
    let mut M = DMatrix::zeros(6, 6);
    model.mass_matrix(&mut workspace, &x, &mut M);
    let force = DVector::from_element(6, T::one());
    constrained
        .solve(&constraints, &M, &force)
        .expect("a solution");
    constrained.rank()
}

#[test]
fn dependent_equations_in_both_precisions() {
    assert_eq!(door::<f64>(), 5);
    assert_eq!(door::<f32>(), 5);
}

/// What rounding of `f32` makes of physical inertias: those of plates stand at the limit of the triangle inequality.
#[test]
fn inertias_and_steps_in_single_precision() {
    use fly_lie::SO3;
    let mut plates = 0;
    for k in 0..200 {
        let angles = Vector3::new(0.01 * k as f32, 1.0 - 0.02 * k as f32, 0.7);
        let R = *SO3::exp(&angles).matrix();
        let (a, b) = (0.013 + 0.001 * k as f32, 0.31);
        let plate = R * Matrix3::from_diagonal(&Vector3::new(a, b, a + b)) * R.transpose();
        let found = PseudoInertia::<f32>::from_center(1.3, Vector3::new(0.1, -0.2, 0.3), plate);
        assert!(found.is_ok(), "{k}: {found:?}");
        plates += 1;
    }
    assert_eq!(plates, 200);

    let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y()).expect("an axis"));
    let pendulum = pendulum.inertia(
        PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 0.1)
            .expect("an inertia"),
    );
    let model = Model::<f32>::builder()
        .body(pendulum)
        .build()
        .expect("a system");
    let mut state = SystemState::at_rest(&model);
    state.configuration[0] = 0.5;
    let mut integrator = Adaptive::new(&model, Tolerance::default());
    let mut workspace = Workspace::new(&model);
    integrator
        .advance(&model, &mut state, 1.0, |state, xi_dot| {
            let (x, xi) = (&state.configuration, &state.velocity);
            model
                .forward_dynamics(&mut workspace, x, xi, &[0.0], xi_dot)
                .expect("mass");
        })
        .expect("steps longer than rounding");
    let energy = |q: f32, w: f32| 0.55 * w * w - 9.81 * q.cos();
    let change = energy(state.configuration[0], state.velocity[0]) - energy(0.5, 0.0);
    // Some twenty steps, each to 64 units of rounding; the energy changes by 10 J a radian.
    assert!(change.abs() < 2e-3, "{change}");
}
