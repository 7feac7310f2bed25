//! Constraints equivalent to other models of the library: joints, rolling bodies, pendulums, geared wheels, sledges.

#![allow(non_snake_case)]

use crate::constrained;
use crate::random_tree;

use constrained::Simulation;
use fly_lie::operators::{angular, join, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, Coupling, Disc, Ellipsoid, EvaluatedState, LoopClosure, LoopKind, PlaneContact,
    PrescribedVelocity, Stabilization, Surface,
};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State};
use nalgebra::{Matrix3, Vector3, Vector6};
use random_tree::{Random, state};

/// The configuration of a free body.
fn free(pose: &SE3<f64>) -> Vec<f64> {
    let R = pose.rotation.matrix();
    pose.translation.iter().chain(R.iter()).copied().collect()
}

/// A joint, and the closure that allows a free body the same motions. Its axis is the z axis of the joint frame.
fn pairs() -> Vec<(Joint<f64>, LoopKind<f64>)> {
    let axis = Vector3::new(0.3, -0.5, 0.6);
    let across = axis.cross(&Vector3::x());
    let joint = |joint: Result<Joint<f64>, _>| joint.expect("an axis");
    vec![
        (Joint::fixed(), LoopKind::Fixed),
        (joint(Joint::revolute(axis)), LoopKind::Revolute),
        (joint(Joint::prismatic(axis)), LoopKind::Prismatic),
        (joint(Joint::cylindrical(axis)), LoopKind::Cylindrical),
        (joint(Joint::universal(axis, across)), LoopKind::Universal),
        (Joint::spherical(), LoopKind::Spherical),
        (joint(Joint::planar(axis)), LoopKind::Planar),
    ]
}

/// A body on a joint, and the same body set free and held by the closure of that joint: the same accelerations, and the reaction is what moves
/// the body beside gravity.
#[test]
fn closures_are_joints() {
    for (seed, (joint, kind)) in pairs().into_iter().enumerate() {
        let mut random = Random::new(seed);
        let (carrier, placement) = (random.inertia(), random.pose::<f64>());
        let inertia = random.inertia();
        let base = || Body::new("base", Joint::spherical()).inertia(carrier);
        let body = |joint| Body::new("body", joint).inertia(inertia);
        let build = |body| Model::builder().body(base()).body(body).build();

        let tree = build(body(joint).parent("base").placed(placement)).expect("a system");
        let (x, xi) = state(&tree, &mut random);
        let mut workspace = Workspace::new(&tree);
        let mut xi_dot = vec![0.0; tree.dof()];
        let tau = random.numbers(3, 4.0);
        let padded: Vec<_> = (0..tree.dof())
            .map(|i| *tau.get(i).unwrap_or(&0.0))
            .collect();
        tree.forward_dynamics(&mut workspace, &x, &xi, &padded, &mut xi_dot)
            .expect("mass everywhere");
        workspace.update(&tree, &x, &xi);
        workspace.update_jacobians(&tree);
        let id = tree.body_id("body").expect("it is there");
        let expected = workspace.acceleration(id, &xi_dot);
        let expected_base = xi_dot[..3].to_vec();

        // The same state in coordinates of the free body.
        let (pose, twist) = (
            workspace.pose(BodyId::WORLD, id),
            workspace.twist(BodyId::WORLD, id),
        );
        let free_tree = build(body(Joint::free())).expect("a system");
        let x: Vec<_> = x[..9].iter().copied().chain(free(&pose)).collect();
        let xi: Vec<_> = xi[..3].iter().chain(twist.iter()).copied().collect();
        let frame = |G: SE3<f64>, R: SO3<f64>| SE3::new(G.rotation * R, G.translation);
        let mut axes = *joint.axes();
        if kind == LoopKind::Universal {
            // The second axis is the y axis of the frame in the body.
            let x = axes.act(&Vector3::z()).cross(&Vector3::x()).normalize();
            let z = axes.act(&Vector3::z());
            axes = SO3::from_matrix(Matrix3::from_columns(&[x.cross(&z), x, z]));
        }
        let closure = LoopClosure::new("joint", "base", "body", kind);
        let set = ConstraintSet::builder()
            .with(closure.at(frame(placement, axes), frame(SE3::identity(), axes)))
            // Where nothing is violated this does nothing.
            .stabilized(Stabilization::critically_damped(5.0))
            .build(&free_tree)
            .expect("constraints");
        let mut held = Simulation::new(free_tree, set, x, xi);
        held.tau[..3].copy_from_slice(&tau);
        held.solve().expect("a solution");
        assert!(held.constrained.residual().amax() < 1e-13, "{kind:?}");
        assert!(held.constrained.rate().amax() < 1e-13, "{kind:?}");
        let got = held.constrained.acceleration();
        let error = (got.rows(3, 6) - expected).amax();
        assert!(error < 1e-11 * (1.0 + expected.amax()), "{kind:?} {error}");
        for (got, expected) in got.iter().zip(&expected_base) {
            assert!(
                (got - expected).abs() < 1e-11 * (1.0 + expected.abs()),
                "{kind:?}"
            );
        }

        // The reaction: the inertial force of the body minus gravity.
        let gravity = inertia.matrix6()
            * (pose.adjoint_inverse() * Vector6::new(0.0, 0.0, -9.81, 0.0, 0.0, 0.0));
        let force = inertia.second_moment().inertial_force(&twist, &expected);
        let (constraints, model) = (&held.constraints, &held.model);
        let motion = EvaluatedState::new(model, &mut held.workspace, &held.x, &held.xi, 0.0);
        let id = constraints.id("joint").expect("it is there");
        let body = model.body_id("body").expect("it is there");
        let reaction = held.constrained.reaction(constraints, id, &motion, body);
        let error = (reaction - (force - gravity)).amax();
        assert!(error < 1e-10 * (1.0 + reaction.amax()), "{kind:?} {error}");
    }
}

/// A ball, an egg and a disc rolling on an inclined plane: as by the rolling body's own equations, contact force included.
#[test]
fn rolling_is_rolling() {
    let mut random = Random::new(7);
    let gravity = Vector3::new(0.7, -0.4, -9.81);
    let inertia = random.inertia::<f64>();
    let compare = |surface: &dyn Fn() -> (Simulation, Vector6<f64>, Vector3<f64>)| {
        let (mut constrained, expected, force) = surface();
        constrained.solve().expect("a solution");
        assert!(constrained.constrained.residual()[2].abs() < 1e-14);
        assert!(constrained.constrained.rate().amax() < 1e-14);
        let got = constrained.constrained.acceleration();
        assert!((got - expected).amax() < 1e-11 * (1.0 + expected.amax()));
        let multipliers = constrained.constrained.multipliers();
        assert!((multipliers - force).amax() < 1e-11 * (1.0 + force.amax()));
    };
    let model = || {
        let body = Body::new("body", Joint::free()).inertia(inertia);
        let model = Model::builder().gravity(gravity).body(body);
        model.build().expect("a system")
    };
    for _ in 0..5 {
        let rotation = SO3::exp(&random.vector3(1.5));
        let omega = random.vector3(2.0);
        macro_rules! with {
            ($surface:expr) => {
                let surface = $surface.expect("a surface");
                compare(&|| {
                    let (state, expected, force) =
                        rolling(inertia, &surface, gravity, rotation, omega);
                    let model = model();
                    let contact_set = ConstraintSet::builder()
                        .with(PlaneContact::rolling("floor", "world", "body", surface))
                        .build(&model)
                        .expect("constraints");
                    let (x, xi) = (free(&state.pose), state.twist.iter().copied().collect());
                    (Simulation::new(model, contact_set, x, xi), expected, force)
                });
            };
        }
        with!(Ellipsoid::sphere(0.3));
        with!(Ellipsoid::new([0.2, 0.3, 0.5]));
        with!(Disc::new(0.4));
        with!(Disc::with_rim(0.4, 0.05));
    }
}

/// Hamel's equation with the velocities `omega` and `eta = v - p x omega`, and `eta = 0` put in last: `J^T (M xi_dot + b) = 0` with
/// `J = [wed(p); I]`, Konz (B.27); then the force at the contact point, in the world.
fn rolling(
    inertia: PseudoInertia<f64>,
    surface: &impl Surface<f64>,
    gravity: Vector3<f64>,
    rotation: SO3<f64>,
    omega: Vector3<f64>,
) -> (State<f64>, Vector6<f64>, Vector3<f64>) {
    let up = rotation.matrix().row(2).transpose();
    let (p, rate) = (
        surface.contact(&up),
        surface.contact_rate(&up, &up.cross(&omega)),
    );
    let state = State {
        pose: SE3::new(rotation, Vector3::new(0.3, -0.2, surface.height(&up))),
        twist: join(&p.cross(&omega), &omega),
    };
    let free = FreeBody::new(inertia, gravity);
    let drift = join(&rate.cross(&omega), &Vector3::zeros());
    let balance = -free.bias(&state) - free.mass_matrix() * drift;
    let torque = angular(&balance) - p.cross(&linear(&balance));
    let omega_dot = inertia.inertia_about(&p).try_inverse().expect("mass") * torque;
    let xi_dot = join(&p.cross(&omega_dot), &omega_dot) + drift;
    let force = linear(&(free.mass_matrix() * xi_dot + free.bias(&state)));
    (state, xi_dot, rotation.act(&force))
}

/// A bob on a rod of 2 m: the pendulum's equation, and the force of the rod.
#[test]
fn a_rod_makes_a_pendulum() {
    let (mass, length, g) = (3.0, 2.0, 9.81);
    let bob = PseudoInertia::new(SecondMoment::solid_sphere(mass, 0.1)).expect("a ball");
    let plane = Joint::planar(Vector3::y()).expect("an axis");
    let model = Model::builder()
        .body(Body::new("bob", plane).inertia(bob))
        .build()
        .expect("a system");
    let rod = LoopClosure::new("rod", "world", "bob", LoopKind::Distance { length });
    let constraints = ConstraintSet::builder()
        .with(rod.between(Vector3::new(0.1, 0.0, 0.4), Vector3::zeros()))
        .build(&model)
        .expect("constraints");
    for (angle, rate) in [(0.3_f64, 0.0), (2.5, -1.3), (-1.2, 4.0)] {
        let (sin, cos) = angle.sin_cos();
        // In the world: down is angle 0, x is to the side. The joint's axes follow y cyclically: z, x, y.
        let position = Vector3::new(0.1 + length * sin, 0.0, 0.4 - length * cos);
        let velocity = Vector3::new(cos, 0.0, sin) * (length * rate);
        let x = vec![position.z, position.x, 0.0];
        let xi = vec![velocity.z, velocity.x, 0.7];
        let mut pendulum = Simulation::new(model.clone(), constraints.clone(), x, xi);
        pendulum.solve().expect("a solution");
        assert!(pendulum.constrained.residual().amax() < 1e-14);
        let got = pendulum.constrained.acceleration();
        let angular = -g / length * sin;
        let along = Vector3::new(cos, 0.0, sin) * (length * angular);
        let inward = Vector3::new(-sin, 0.0, cos) * (length * rate * rate);
        let expected = along + inward;
        // The bob turns by 0.7 rad/s: its velocity's components in the body turn back.
        let turning = Vector3::new(0.0, 0.7, 0.0).cross(&velocity);
        let expected = expected - turning;
        assert!((got[0] - expected.z).abs() < 1e-12 && (got[1] - expected.x).abs() < 1e-12);
        assert!(got[2].abs() < 1e-12);
        let pull = mass * (g * cos + length * rate * rate);
        assert!((pendulum.constrained.multipliers()[0] + pull).abs() < 1e-11);
    }
}

/// Chaplygin's sledge: a knife edge and the centre of mass ahead of it. `u' = a w^2`, `w' = -m a u w / (J + m a^2)`.
#[test]
fn a_knife_edge_makes_a_sledge() {
    let (mass, ahead, moment) = (4.0, 0.3, 0.2);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.15, 0.15, moment));
    let sledge = PseudoInertia::from_center(mass, Vector3::new(ahead, 0.0, 0.05), inertia);
    let model = Model::builder()
        .body(
            Body::new("sledge", Joint::planar(Vector3::z()).expect("an axis"))
                .inertia(sledge.expect("an inertia")),
        )
        .build()
        .expect("a system");
    let edge = PrescribedVelocity::knife_edge("edge", "sledge", SE3::identity());
    let constraints = ConstraintSet::builder()
        .with(edge)
        .build(&model)
        .expect("constraints");
    let (u, w) = (1.3, -0.8);
    let mut sledge = Simulation::new(model, constraints, vec![2.0, 1.0, 0.6], vec![u, 0.0, w]);
    sledge.solve().expect("a solution");
    let turning = -mass * ahead * u * w / (moment + mass * ahead * ahead);
    let expected = [ahead * w * w, 0.0, turning];
    for (got, expected) in sledge.constrained.acceleration().iter().zip(expected) {
        assert!((got - expected).abs() < 1e-13, "{got} {expected}");
    }
    // The edge holds the sledge on its curve, whose centre of mass turns too.
    let side = mass * (u * w + ahead * turning);
    assert!((sledge.constrained.multipliers()[0] - side).abs() < 1e-12);
}

/// Two geared wheels turn as one with the inertia `J1 ratio^2 + J2`; a locked joint does not turn, and its multiplier is the torque of the lock.
#[test]
fn gears_and_locks() {
    let wheel = |moment: f64| {
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.6 * moment, 0.6 * moment, moment));
        PseudoInertia::from_center(1.0, Vector3::zeros(), inertia).expect("an inertia")
    };
    let joint = Joint::revolute(Vector3::z()).expect("an axis");
    let model = Model::builder()
        .body(Body::new("wheel", joint).inertia(wheel(0.5)))
        .body(Body::new("motor", joint).inertia(wheel(0.02)))
        .body(Body::new("third", joint).inertia(wheel(0.1)))
        .build()
        .expect("a system");
    let constraints = ConstraintSet::builder()
        .with(Coupling::gear("gear", "motor", "wheel", -8.0, 0.3))
        .with(Coupling::lock("brake", "third", 0.4))
        .build(&model)
        .expect("constraints");
    let x = vec![0.2, -8.0 * 0.2 + 0.3, 0.4];
    let mut geared = Simulation::new(model, constraints, x, vec![1.0, -8.0, 0.0]);
    geared.tau = vec![0.0, 3.0, -7.0];
    geared.solve().expect("a solution");
    let (residual, rate) = (geared.constrained.residual(), geared.constrained.rate());
    assert!(residual.amax() < 1e-15 && rate.amax() < 1e-15);
    let expected = -8.0 * 3.0 / (0.5 + 64.0 * 0.02);
    let got = geared.constrained.acceleration();
    assert!((got[0] - expected).abs() < 1e-12 && (got[1] + 8.0 * expected).abs() < 1e-12);
    assert!(got[2].abs() < 1e-13);
    assert!((geared.constrained.multipliers()[1] - 7.0).abs() < 1e-13);
}

/// The reactions as external wrenches, and the torque of what couples joints, make the tree move as the constraints do: by the articulated
/// body algorithm, which has no constraints.
#[test]
fn the_tree_moves_under_the_reactions() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let hinge = || Joint::revolute(Vector3::new(0.2, 1.0, -0.3)).expect("an axis");
        let mut body = |name: &str, parent: &str, joint| {
            Body::new(name, joint)
                .parent(parent)
                .placed(random.pose())
                .inertia(random.inertia())
        };
        let model = Model::builder()
            .body(body("hub", "world", Joint::free()))
            .body(body("left", "hub", hinge()))
            .body(body("right", "hub", hinge()))
            .body(body("tip", "right", Joint::spherical()))
            .build()
            .expect("a system");
        let constraints = ConstraintSet::builder()
            .with(
                LoopClosure::new("pin", "left", "tip", LoopKind::Spherical)
                    .between(Vector3::new(0.3, 0.1, 0.0), Vector3::new(0.0, -0.2, 0.4)),
            )
            .with(Coupling::gear("gear", "left", "right", 0.5, 0.0))
            .with(PlaneContact::rolling(
                "floor",
                "world",
                "hub",
                Ellipsoid::new([0.2, 0.3, 0.4]).expect("an egg"),
            ))
            .build(&model)
            .expect("constraints");
        let (x, xi) = state(&model, &mut random);
        let mut simulation = Simulation::new(model, constraints, x, xi);
        simulation.tau = random.numbers(simulation.model.dof(), 3.0);
        simulation.solve().expect("a solution");

        let Simulation {
            model,
            constraints,
            constrained,
            workspace,
            x,
            xi,
            tau,
            ..
        } = &mut simulation;
        let motion = EvaluatedState::new(model, workspace, x, xi, 0.0);
        let mut wrenches = vec![Vector6::zeros(); model.body_count() + 1];
        constrained.add_wrenches(constraints, &motion, &mut wrenches);
        let mut force = nalgebra::DVector::zeros(model.dof());
        let gear = constraints.id("gear").expect("it is there");
        constrained.joint_force(constraints, gear, &mut force);
        force += nalgebra::DVector::from_column_slice(tau);
        for body in model.bodies() {
            motion
                .workspace
                .add_wrench(body, &wrenches[body.index()], force.as_mut_slice());
        }
        let mut xi_dot = vec![0.0; model.dof()];
        model
            .forward_dynamics(workspace, x, xi, force.as_slice(), &mut xi_dot)
            .expect("mass everywhere");
        let got = nalgebra::DVector::from_vec(xi_dot);
        let expected = constrained.acceleration();
        let error = (&got - expected).amax() / (1.0 + expected.amax());
        assert!(error < 1e-10, "{seed} {error}");
        // The floor pushes with the force that its multipliers say, in its axes.
        let world = linear(&wrenches[0]);
        let floor = constraints.id("floor").expect("it is there");
        let multipliers = &constrained.multipliers().as_slice()[constraints.rows(floor)];
        assert!((world + Vector3::from_column_slice(multipliers)).amax() < 1e-10);
    }
}
