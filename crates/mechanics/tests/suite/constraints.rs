//! Constraints: their equations against derivatives, their reactions, and the errors of invalid descriptions.

#![allow(non_snake_case)]

use crate::random_tree;

use fly_lie::SE3;
use fly_mechanics::integrate::{self, RungeKutta, Scheme, constrained};
use fly_mechanics::multibody::constraints::{
    ConstraintKind, ConstraintSet, ConstraintSetBuilder, ConstraintWorkspace, Coupling,
    EvaluatedState, LoopClosure, LoopKind, PlaneContact, PrescribedVelocity,
};
use fly_mechanics::multibody::constraints::{Disc, Ellipsoid};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use nalgebra::{DMatrix, DVector, RealField, Vector3, Vector6, convert};
use num_dual::Dual64;
use random_tree::{Random, cast, state};

fn kinds<T: RealField + Copy>() -> [LoopKind<T>; 11] {
    [
        LoopKind::Fixed,
        LoopKind::Revolute,
        LoopKind::Prismatic,
        LoopKind::Cylindrical,
        LoopKind::Universal,
        LoopKind::Spherical,
        LoopKind::Planar,
        LoopKind::Orientation,
        LoopKind::PointOnLine,
        LoopKind::PointOnPlane,
        LoopKind::Distance {
            length: convert(0.7),
        },
    ]
}

/// Two bodies on free joints, a third one on the first, with joints that can be coupled.
fn model<T: RealField + Copy>(seed: usize) -> Model<T> {
    let mut random = Random::new(seed);
    let mut body = |name: &str, joint: Joint<T>, parent: &str| {
        Body::new(name, joint)
            .parent(parent)
            .placed(random.pose())
            .inertia(random.inertia())
    };
    let axis = Vector3::new(0.3, -0.4, 0.8).map(convert);
    Model::builder()
        .body(body("a", Joint::free().with_quaternion(), "world"))
        .body(body("b", Joint::free(), "world"))
        .body(body("c", Joint::revolute(axis).expect("an axis"), "a"))
        .body(body("d", Joint::absolute_spherical(), "c"))
        .body(body("e", Joint::schoenflies(axis).expect("an axis"), "b"))
        .build()
        .expect("a system")
}

/// Every constraint there is, between frames anywhere.
fn all<T: RealField + Copy>(seed: usize) -> ConstraintSetBuilder<T> {
    let mut random = Random::new(100 + seed);
    let mut pose = || -> SE3<T> { random.pose() };
    let pairs = [
        ("a", "d"),
        ("world", "e"),
        ("c", "b"),
        ("d", "world"),
        ("e", "c"),
    ];
    let mut set = ConstraintSet::builder();
    for (i, kind) in kinds().into_iter().enumerate() {
        let (a, b) = pairs[(i + seed) % pairs.len()];
        let closure = LoopClosure::new(format!("loop {i}"), a, b, kind);
        set = set.with(closure.at(pose(), pose()));
    }
    let egg = Ellipsoid::new([0.2, 0.3, 0.5].map(convert)).expect("an egg");
    let wheel = Disc::with_rim(convert(0.3), convert(0.02)).expect("a wheel");
    let components = (0..4).map(|i| {
        let row = Vector6::from_fn(|k, _| convert(if k == i { 1.0 } else { -0.3 }));
        (row, convert(0.2))
    });
    let given = PrescribedVelocity {
        name: "given".to_owned(),
        a: "c".to_owned(),
        b: "e".to_owned(),
        frame_in_b: pose(),
        components: components.collect(),
    };
    set.with(PlaneContact::rolling("egg", "world", "d", egg).at(pose(), pose()))
        .with(PlaneContact::rolling("wheel", "b", "c", wheel).at(pose(), pose()))
        .with(PlaneContact::sliding("slider", "e", "a", egg).at(pose(), pose()))
        .with(given)
        .with(PrescribedVelocity::knife_edge("edge", "d", pose()))
        .with(
            Coupling::gear("gear", "c", "c", convert(0.4), convert(0.1)).term(
                "e",
                2,
                convert(-0.7),
            ),
        )
        .with(
            Coupling::new("sum", convert(0.3))
                .term("e", 3, convert(2.0))
                .term("c", 0, convert(0.5)),
        )
}

/// `psi_dot`, `Z` and `b` are the derivatives of `psi`, of the rate, and of `Z xi` along a motion, by dual numbers.
#[test]
fn equations_are_derivatives() {
    for seed in 0..20 {
        let fixed = model::<f64>(seed);
        let constraints = all(seed).build(&fixed).expect("constraints");
        let (x, xi) = state(&fixed, &mut Random::new(seed));
        let mut workspace = Workspace::new(&fixed);
        let mut constrained = ConstraintWorkspace::new(&constraints);
        let motion = EvaluatedState::new(&fixed, &mut workspace, &x, &xi, 0.0);
        constrained.update(&constraints, &motion);

        let moving = model::<Dual64>(seed);
        let mut rate = vec![0.0; fixed.config_dim()];
        fixed.configuration_rate(&x, &xi, &mut rate);
        let x_moving: Vec<_> = x
            .iter()
            .zip(&rate)
            .map(|(x, rate)| Dual64::new(*x, *rate))
            .collect();
        let dual_constraints = all(seed).build(&moving).expect("constraints");
        let mut dual_workspace = Workspace::new(&moving);
        let mut dual = ConstraintWorkspace::new(&dual_constraints);
        let xi_moving = cast(&xi);
        let motion = EvaluatedState::new(
            &moving,
            &mut dual_workspace,
            &x_moving,
            &xi_moving,
            Dual64::from(0.0),
        );
        dual.update(&dual_constraints, &motion);

        assert_eq!(constraints.equations(), 37 + 3 + 3 + 1 + 4 + 1 + 2);
        let Z_xi = constrained.jacobian() * DVector::from_vec(xi.clone());
        let given = constraints.rows(constraints.id("given").expect("it is there"));
        for row in 0..constraints.equations() {
            let target = if given.contains(&row) { 0.2 } else { 0.0 };
            let size = 1.0 + constrained.rate()[row].abs() + constrained.bias()[row].abs();
            let near = |got: f64, expected: f64| {
                let error = (got - expected).abs() / size;
                assert!(error < 1e-12, "{seed} row {row}: {got} {expected}");
            };
            near(Z_xi[row] - target, constrained.rate()[row]);
            near(-constrained.bias()[row], dual.rate()[row].eps);
            if constraints.kind(row) == ConstraintKind::Holonomic {
                near(constrained.rate()[row], dual.residual()[row].eps);
                near(constrained.residual()[row], dual.residual()[row].re);
            }
        }
    }
}

/// The wrenches on the bodies, through their Jacobians, are the generalised force; they balance each other.
#[test]
fn reactions_are_the_generalised_force() {
    for seed in 0..10 {
        let model = model::<f64>(seed);
        let constraints = all(seed).build(&model).expect("constraints");
        let (x, xi) = state(&model, &mut Random::new(seed));
        let mut workspace = Workspace::new(&model);
        let mut constrained = ConstraintWorkspace::new(&constraints);
        let tau = vec![0.0; model.dof()];
        // So many constraints contradict each other; the best acceleration has forces still.
        let solved =
            constrained.forward_dynamics(&constraints, &model, &mut workspace, &x, &xi, 0.0, &tau);
        assert!(solved.is_err());
        let motion = EvaluatedState::new(&model, &mut workspace, &x, &xi, 0.0);
        let mut sum = DVector::zeros(model.dof());
        for id in constraints.ids() {
            let name = constraints.name(id);
            let mut expected = DVector::zeros(model.dof());
            constrained.joint_force(&constraints, id, &mut expected);
            sum += &expected;
            let mut got = DVector::zeros(model.dof());
            let mut balance = Vector6::zeros();
            let mut count = 0;
            constrained.reactions(&constraints, id, &motion, |body, wrench| {
                motion
                    .workspace
                    .add_wrench(body, &wrench, got.as_mut_slice());
                let world = fly_mechanics::multibody::BodyId::WORLD;
                let pose = motion.workspace.pose(world, body);
                balance += pose.inverse().adjoint().transpose() * wrench;
                count += 1;
            });
            if name == "gear" || name == "sum" {
                assert_eq!(count, 0);
                continue;
            }
            let size = 1.0 + expected.amax();
            assert_eq!(count, 2, "{name}");
            assert!((&got - &expected).amax() < 1e-12 * size, "{name}");
            assert!(balance.amax() < 1e-11 * size, "{name} {balance}");
        }
        assert!((&sum - constrained.force()).amax() < 1e-11 * (1.0 + sum.amax()));
    }
}

/// Attitudes and axes half a turn away do not count as coinciding.
#[test]
fn half_a_turn_is_not_closed() {
    let model = Model::<f64>::builder()
        .body(Body::new(
            "b",
            Joint::revolute(Vector3::x()).expect("an axis"),
        ))
        .build()
        .expect("a system");
    for kind in [LoopKind::Orientation, LoopKind::Planar] {
        let constraints = ConstraintSet::builder()
            .with(LoopClosure::new("loop", "world", "b", kind))
            .build(&model)
            .expect("constraints");
        let mut workspace = Workspace::new(&model);
        let mut constrained = ConstraintWorkspace::new(&constraints);
        let motion = EvaluatedState::new(&model, &mut workspace, &[3.1], &[0.0], 0.0);
        constrained.update(&constraints, &motion);
        assert!(constrained.residual().amax() > 1.9, "{kind:?}");
        let mut x = [2.8];
        let found =
            constrained.project_configuration(&constraints, &model, &mut workspace, &mut x, 0.0);
        assert!(
            found.is_ok() && x[0].abs() < 1e-11,
            "{kind:?} {x:?} {found:?}"
        );
    }
}

/// Invalid descriptions and their error messages.
#[test]
fn wrong_descriptions_are_explained() {
    let model = model::<f64>(0);
    let error = |set: ConstraintSetBuilder<f64>| set.build(&model).expect_err("wrong").to_string();
    let set = ConstraintSet::builder;
    let rod =
        |a: &str, b: &str, length| LoopClosure::new("rod", a, b, LoopKind::Distance { length });
    let cases = [
        (
            set().with(rod("a", "a", 1.0)),
            "constraint `rod` connects body `a` with itself; name two bodies, or `world`",
        ),
        (
            set().with(rod("a", "worlds", 1.0)),
            "constraint `rod` mentions `worlds`, but there is no body of this name; did you mean `world`?",
        ),
        (
            set().with(rod("a", "b", 0.0)),
            "constraint `rod`: its length must be a positive number, found 0 m",
        ),
        (
            set().with(rod("a", "b", 1.0)).with(rod("a", "c", 1.0)),
            "two constraints are named `rod`; every constraint needs a name of its own",
        ),
        (
            set().with(rod("a", "b", 1.0).between(Vector3::x() * f64::NAN, Vector3::x())),
            "constraint `rod`: the frame in body `a` must be finite",
        ),
        (
            set().with(Coupling::new("belt", 0.0)),
            "constraint `belt` couples nothing: give at least one term with a factor other than 0",
        ),
        (
            set().with(Coupling::lock("brake", "c", f64::INFINITY)),
            "constraint `brake`: factors and offset must be finite",
        ),
    ];
    for (set, message) in cases {
        assert_eq!(error(set), message);
    }
    let ball = error(set().with(Coupling::lock("brake", "d", 0.0)));
    assert!(
        ball.contains("coordinate 0 of the joint of body `d`"),
        "{ball}"
    );
    let components = PrescribedVelocity {
        components: Vec::new(),
        ..PrescribedVelocity::knife_edge("edge", "a", SE3::identity())
    };
    let none = error(set().with(components));
    assert!(none.contains("0 components of a twist"), "{none}");
}

/// An invalid mass matrix, and numbers that are not finite.
#[test]
fn wrong_numbers_are_explained() {
    let model = model::<f64>(0);
    let constraints = all(0).build(&model).expect("constraints");
    let (x, mut xi) = state(&model, &mut Random::new(0));
    let mut workspace = Workspace::new(&model);
    let mut constrained = ConstraintWorkspace::new(&constraints);
    let n = model.dof();
    let (M, mut force) = (DMatrix::identity(n, n), DVector::zeros(n));
    let mut solve = |xi: &[f64], M: &DMatrix<f64>, force: &DVector<f64>| {
        let motion = EvaluatedState::new(&model, &mut workspace, &x, xi, 0.0);
        constrained.update(&constraints, &motion);
        let solved = constrained.solve(&constraints, M, force);
        solved.expect_err("wrong numbers").to_string()
    };
    let text = solve(&xi, &(-&M), &force);
    assert!(text.contains("positive definite"), "{text}");
    force[0] = f64::NAN;
    let text = solve(&xi, &M, &force);
    assert!(text.contains("force must be finite"), "{text}");
    force[0] = 0.0;
    xi[0] = f64::INFINITY;
    let text = solve(&xi, &M, &force);
    assert!(text.starts_with("constraint `loop 0`, equation"), "{text}");
}

/// Nothing is allocated once there are workspaces.
#[test]
fn nothing_is_allocated() {
    let model = model::<f64>(3);
    let constraints = ConstraintSet::builder()
        .with(LoopClosure::new("pin", "a", "b", LoopKind::Revolute))
        .with(PlaneContact::rolling(
            "egg",
            "world",
            "d",
            Ellipsoid::sphere(0.3).expect("a ball"),
        ))
        .with(Coupling::lock("brake", "c", 0.0))
        .build(&model)
        .expect("constraints");
    let (mut x, mut xi) = state(&model, &mut Random::new(3));
    let mut workspace = Workspace::new(&model);
    let mut solution = ConstraintWorkspace::new(&constraints);
    let tau = vec![0.0; model.dof()];
    let M = DMatrix::identity(model.dof(), model.dof());
    let mut wrenches = vec![Vector6::zeros(); model.body_count() + 1];
    let mut all = |x: &mut [f64], xi: &mut [f64]| {
        let projected =
            solution.project_configuration(&constraints, &model, &mut workspace, x, 0.0);
        assert!(projected.is_ok(), "{projected:?}");
        let projected =
            solution.project_velocity(&constraints, &model, &mut workspace, &M, x, xi, 0.0);
        assert!(projected.is_ok(), "{projected:?}");
        let solved =
            solution.forward_dynamics(&constraints, &model, &mut workspace, x, xi, 0.0, &tau);
        assert!(solved.is_ok(), "{solved:?}");
        let motion = EvaluatedState::new(&model, &mut workspace, x, xi, 0.0);
        solution.add_wrenches(&constraints, &motion, &mut wrenches);
    };
    assert_eq!(fly_testing::allocations(|| all(&mut x, &mut xi)), 0);

    // Steps in time, too.
    let mut motion = integrate::SystemState {
        time: 0.0,
        configuration: x,
        velocity: xi,
    };
    let mut dynamics = constrained(&model, &constraints, |_, f| f[0] += 1.0);
    let mut integrator = RungeKutta::new(&model, Scheme::DormandPrince8);
    let steps = fly_testing::allocations(|| {
        for _ in 0..10 {
            integrator.step(&model, &mut motion, 1e-3, &mut dynamics);
        }
    });
    assert_eq!(steps, 0);
    assert!(motion.velocity.iter().all(|xi| xi.is_finite()));
}
