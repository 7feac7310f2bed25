//! Descriptions of systems become the models that one would build by hand.

#![allow(non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintWorkspace, Coupling, Disc, Ellipsoid, EvaluatedState, LoopClosure,
    LoopKind, PlaneContact, PrescribedVelocity, RollingKind, RollingSurface,
};
use fly_mechanics::multibody::{Body, BodyId, Damper, Joint, Model, Spring, Workspace};
use fly_mechanics::{PointSpring, PseudoInertia, SecondMoment, Stiffness, System};
use nalgebra::{DMatrix, Matrix3, Matrix6xX, Vector3};

fn system(text: &str) -> System {
    System::from_toml(text)
        .unwrap_or_else(|error| panic!("{error}: {:?}", &text[error.span.clone()]))
}

/// A body on this joint that weighs something.
fn joint(joint: &str) -> Model<f64> {
    let text =
        format!("name = \"x\"\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\njoint = {joint}\n");
    system(&text).model
}

/// A body whose inertia this is.
fn inertia(keys: &str) -> PseudoInertia<f64> {
    let system = system(&format!("name = \"x\"\n[bodies.a]\n{keys}\n"));
    let body = system.model.body_id("a").unwrap();
    *system.model.inertia(body).unwrap()
}

#[track_caller]
fn assert_same(a: &PseudoInertia<f64>, b: &PseudoInertia<f64>) {
    let error = (a.second_moment().matrix4() - b.second_moment().matrix4()).amax();
    assert!(error < 1e-15, "{error}: {a:?} {b:?}");
}

#[test]
fn joints() {
    let one = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let cases: [(&str, Joint<f64>); 19] = [
        ("\"fixed\"", Joint::fixed()),
        ("{ type = \"fixed\" }", Joint::fixed()),
        ("\"spherical\"", Joint::spherical()),
        ("\"free\"", Joint::free()),
        (
            "{ type = \"free\", coordinates = \"quaternion\" }",
            Joint::free().with_quaternion(),
        ),
        (
            "{ type = \"free\", coordinates = \"matrix\" }",
            Joint::free(),
        ),
        (
            "{ type = \"revolute\", axis = [0, 2, 0] }",
            Joint::revolute(y).unwrap(),
        ),
        (
            "{ type = \"revolute\", axis = [0, 0, 1], coordinates = \"cos_sin\" }",
            Joint::revolute(z).unwrap().with_cos_sin(),
        ),
        (
            "{ type = \"prismatic\", axis = [1, 0, 0] }",
            Joint::prismatic(x).unwrap(),
        ),
        (
            "{ type = \"screw\", axis = [1, 0, 0], pitch = 0.5 }",
            Joint::screw(x, 0.5).unwrap(),
        ),
        (
            "{ type = \"screw\", axis = [1, 0, 0], lead = 0.5 }",
            Joint::screw(x, 0.5 / std::f64::consts::TAU).unwrap(),
        ),
        (
            "{ type = \"cylindrical\", axis = [1, 0, 0] }",
            Joint::cylindrical(x).unwrap(),
        ),
        (
            "{ type = \"universal\", axis = [1, 0, 0], second_axis = [0, 1, 0] }",
            Joint::universal(x, y).unwrap(),
        ),
        (
            "{ type = \"spherical\", velocity = \"relative\" }",
            Joint::spherical(),
        ),
        (
            "{ type = \"spherical\", velocity = \"absolute\", coordinates = \"quaternion\" }",
            Joint::absolute_spherical().with_quaternion(),
        ),
        (
            "{ type = \"planar\", axis = [0, 1, 0] }",
            Joint::planar(y).unwrap(),
        ),
        (
            "{ type = \"planar\", axis = [0, 1, 0], coordinates = \"cos_sin\" }",
            Joint::planar(y).unwrap().with_cos_sin(),
        ),
        (
            "{ type = \"schoenflies\", axis = [0, 0, 1] }",
            Joint::schoenflies(z).unwrap(),
        ),
        (
            "{ type = \"cylindrical\", axis = [0, 0, 1], coordinates = \"cos_sin\" }",
            Joint::cylindrical(z).unwrap().with_cos_sin(),
        ),
    ];
    for (text, expected) in cases {
        let by_hand = Model::builder().body(Body::new("a", expected).inertia(one));
        assert_eq!(joint(text), by_hand.build().unwrap(), "{text}");
    }
}

/// A body of the world moves freely, unless it says otherwise.
#[test]
fn bodies_hang_on_any_other_in_any_order() {
    let text = "name = \"x\"\n\
        [bodies.hand]\nparent = \"arm\"\njoint = \"fixed\"\nposition = [1, 2, 3]\n\
        orientation = { axis = [0, 0, 2], angle_deg = 90 }\n\
        [bodies.arm]\nmass = 1\ninertia = [1, 1, 1]\n";
    let model = system(text).model;
    let (hand, arm) = (
        model.body_id("hand").unwrap(),
        model.body_id("arm").unwrap(),
    );
    assert_eq!(model.parent(hand), Some(arm));
    assert_eq!(model.joint(arm), Some(&Joint::free()));
    let placement = model.placement(hand).unwrap();
    assert_eq!(placement.translation, Vector3::new(1.0, 2.0, 3.0));
    assert!((placement.rotation.act(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
    assert!(model.inertia(hand).is_none());
}

#[test]
fn orientations_agree() {
    let rotation = |orientation: &str| {
        let text = format!(
            "name = \"x\"\n[bodies.a]\njoint = \"fixed\"\norientation = {{ {orientation} }}\n"
        );
        let model = system(&text).model;
        model
            .placement(model.bodies().next().unwrap())
            .unwrap()
            .rotation
    };
    // Roll first, yaw last, about fixed axes: x goes to y by yaw, and y to z by roll before.
    let rpy = rotation("rpy_deg = [90, 0, 90]");
    let expected = SO3::exp(&(Vector3::z() * std::f64::consts::FRAC_PI_2))
        * SO3::exp(&(Vector3::x() * std::f64::consts::FRAC_PI_2));
    assert!((rpy.matrix() - expected.matrix()).amax() < 1e-15);
    let third = std::f64::consts::TAU / 3.0 / 3.0_f64.sqrt();
    for same in [
        "quaternion = [0.5, 0.5, 0.5, 0.5]".to_owned(),
        "quaternion = [0.50001, 0.50001, 0.50001, 0.50001]".to_owned(),
        "axis = [1, 1, 1], angle_deg = 120".to_owned(),
        format!("rotation_vector = [{third}, {third}, {third}]"),
    ] {
        let error = (rotation(&same).matrix() - rpy.matrix()).amax();
        assert!(error < 1e-15, "{same}: {error}");
    }
}

#[test]
fn shapes() {
    let solid = |moment: SecondMoment<f64>| PseudoInertia::new(moment).unwrap();
    let cases = [
        (
            "box = [0.3, 0.2, 0.1]",
            SecondMoment::solid_box(2.0, [0.3, 0.2, 0.1]),
        ),
        (
            "cylinder = { radius = 0.1, height = 0.4 }",
            SecondMoment::solid_cylinder(2.0, 0.1, 0.4),
        ),
        (
            "cylinder = { radius = 0.1, inner_radius = 0.05, height = 0.4 }",
            SecondMoment::hollow_cylinder(2.0, 0.05, 0.1, 0.4),
        ),
        (
            "ellipsoid = [0.3, 0.2, 0.1]",
            SecondMoment::solid_ellipsoid(2.0, [0.3, 0.2, 0.1]),
        ),
        (
            "sphere = { radius = 0.1 }",
            SecondMoment::solid_sphere(2.0, 0.1),
        ),
        (
            "sphere = { radius = 0.1, inner_radius = 0.05 }",
            SecondMoment::hollow_sphere(2.0, 0.05, 0.1),
        ),
    ];
    for (shape, moment) in cases {
        let read = inertia(&format!("mass = 2\nshape = {{ {shape} }}"));
        assert_same(&read, &solid(moment));
        let turned = inertia(&format!(
            "mass = 2\ncenter_of_mass = [1, 2, 3]\nshape = {{ {shape}, orientation = {{ rpy_deg = [0, 90, 0] }} }}"
        ));
        let pose = SE3::new(
            SO3::exp(&(Vector3::y() * std::f64::consts::FRAC_PI_2)),
            Vector3::new(1.0, 2.0, 3.0),
        );
        let error = turned.second_moment().matrix4() - moment.placed(&pose).matrix4();
        assert!(error.amax() < 1e-14, "{shape}");
    }
}

/// Water weighs 1000 kg/m³: the masses are those of textbooks' volumes.
#[test]
fn densities() {
    let pi = std::f64::consts::PI;
    for (shape, volume) in [
        ("box = [0.3, 0.2, 0.1]", 0.006),
        (
            "cylinder = { radius = 0.1, inner_radius = 0.05, height = 0.4 }",
            pi * 0.0075 * 0.4,
        ),
        ("ellipsoid = [0.3, 0.2, 0.1]", pi * 0.008),
        (
            "sphere = { radius = 0.3, inner_radius = 0.1 }",
            4.0 / 3.0 * pi * 0.026,
        ),
    ] {
        let mass = inertia(&format!("density = 1000\nshape = {{ {shape} }}")).mass();
        assert!((mass - 1000.0 * volume).abs() < 1e-12, "{shape}: {mass}");
    }
}

#[test]
fn parts_add() {
    let read = inertia(
        "parts = [
            { mass = 0.3, position = [0, 0, 1] },
            { mass = 0.3, center_of_mass = [0, 0, -1] },
            { mass = 1, inertia = [1, 2, 3], position = [1, 0, 0], orientation = { rpy_deg = [90, 0, 0] } },
            { density = 10, shape = { box = [1, 1, 1] } },
        ]",
    );
    let points = SecondMoment::from_points([(0.3, Vector3::z()), (0.3, -Vector3::z())]);
    let turned = Matrix3::from_diagonal(&Vector3::new(1.0, 3.0, 2.0));
    let sum = points
        + SecondMoment::from_center(1.0, Vector3::x(), turned)
        + SecondMoment::solid_box(10.0, [1.0; 3]);
    assert_same(&read, &PseudoInertia::new(sum).unwrap());
}

/// Springs as K' with a rest, as points, and as points with anchors.
#[test]
fn springs_and_dampers() {
    let text = |elements: &str| {
        format!(
            "name = \"x\"\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n{elements}"
        )
    };
    let one = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let bodies = || {
        Model::builder()
            .body(Body::new("a", Joint::free()).inertia(one))
            .body(Body::new("b", Joint::free()).inertia(one))
    };
    let rest = SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, 1.0));
    let spring = |a: &str, stiffness, rest| Spring {
        a: a.to_owned(),
        b: "b".to_owned(),
        rest,
        stiffness,
    };
    let moment = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
    let cases = [
        (
            "stiffness = { weight = 5, center = [1, 0, 0], moment = [1, 2, 3] }\nrest = { position = [0, 0, 1] }",
            spring(
                "a",
                SecondMoment::from_center(5.0, Vector3::x(), moment),
                rest,
            ),
        ),
        (
            "stiffness = { moment_about_origin = [1, 2, 3] }",
            spring(
                "a",
                SecondMoment::from_origin(0.0, Vector3::zeros(), moment),
                SE3::identity(),
            ),
        ),
        (
            "points = [{ stiffness = 5, position = [1, 0, 0] }, { stiffness = -1, position = [0, 1, 0] }]\nrest = { position = [0, 0, 1] }",
            spring(
                "a",
                SecondMoment::from_points([(5.0, Vector3::x()), (-1.0, Vector3::y())]),
                rest,
            ),
        ),
    ];
    for (keys, expected) in cases {
        let model = system(&text(&format!(
            "[[springs]]\nfrom = \"a\"\nto = \"b\"\n{keys}"
        )))
        .model;
        assert_eq!(model, bodies().spring(expected).build().unwrap(), "{keys}");
    }

    let anchored = "[[springs]]\nto = \"b\"\npoints = [
        { stiffness = 5, position = [1, 0, 0], anchor = [2, 0, 1] },
        { stiffness = 3, position = [0, 1, 0], anchor = [0, 1.5, 1] },
        { stiffness = 2, position = [0, 0, 1] },
    ]";
    let point = |stiffness, point, anchor| PointSpring {
        stiffness,
        point,
        anchor,
    };
    let total = Stiffness::from_springs(&[
        point(5.0, Vector3::x(), Vector3::new(2.0, 0.0, 1.0)),
        point(3.0, Vector3::y(), Vector3::new(0.0, 1.5, 1.0)),
        point(2.0, Vector3::z(), Vector3::z()),
    ])
    .unwrap();
    let expected = spring("world", *total.moment(), *total.minimum());
    assert_eq!(
        system(&text(anchored)).model,
        bodies().spring(expected).build().unwrap()
    );

    let dampers = "[[dampers]]\nfrom = \"b\"\nto = \"a\"\npoints = [{ damping = 2, position = [0, 0, 1] }]\n\
        [[dampers]]\nto = \"a\"\ndamping = { weight = 2, moment = [1, 2, 3] }";
    let damper = |a: &str, damping| Damper {
        a: a.to_owned(),
        b: "a".to_owned(),
        damping,
    };
    let expected = bodies()
        .damper(damper("b", SecondMoment::point(2.0, Vector3::z())))
        .damper(damper(
            "world",
            SecondMoment::from_center(2.0, Vector3::zeros(), moment),
        ));
    assert_eq!(system(&text(dampers)).model, expected.build().unwrap());
}

/// The damping of a joint takes `d` times the square of its speed as power.
#[test]
fn joint_damping() {
    let cases = [
        (
            "type = \"revolute\", axis = [0, 0, 1], damping = 0.3",
            (0.0, 0.3),
        ),
        (
            "type = \"prismatic\", axis = [0, 0, 1], damping = 0.3",
            (0.3, 0.0),
        ),
        (
            "type = \"screw\", axis = [0, 0, 1], pitch = 2, damping = 0.3",
            (0.0, 0.3),
        ),
        ("type = \"spherical\", damping = 0.3", (0.0, 0.3)),
        (
            "type = \"free\", damping = { linear = 0.5, angular = 0.3 }",
            (0.5, 0.3),
        ),
        (
            "type = \"planar\", axis = [0, 0, 1], damping = { linear = 0.5 }",
            (0.5, 0.0),
        ),
    ];
    for (keys, (linear, angular)) in cases {
        let with = joint(&format!("{{ {keys} }}"));
        let without = keys.split(", damping").next().unwrap();
        let without = system(&format!(
            "name = \"x\"\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\njoint = {{ {without} }}\n\
             [[dampers]]\nto = \"a\"\ndamping = {{ weight = {linear}, moment = [{angular}, {angular}, {angular}] }}\n"
        ));
        assert_eq!(with, without.model, "{keys}");
    }
    // The 6x6 matrix of such a damper is d for every direction of rotation.
    let D = SecondMoment::from_center(0.0, Vector3::zeros(), Matrix3::identity() * 0.3).matrix6();
    let rate = nalgebra::Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 2.0);
    let power: f64 = rate.dot(&(D * rate));
    assert!((power - 0.3 * 4.0).abs() < 1e-15);
}

const ARM: &str = r#"
name = "arm"
[bodies.base]
mass = 2
inertia = [0.1, 0.1, 0.1]
[bodies.upper]
parent = "base"
position = [0.1, 0, 0.2]
joint = { name = "shoulder", type = "revolute", axis = [0, 1, 0], limits = { position_deg = [-90, 180], velocity = 3, effort = 40 } }
mass = 1
inertia = [0.1, 0.1, 0.1]
center_of_mass = [0.2, 0, 0]
[bodies.wrist]
parent = "upper"
position = [0.4, 0, 0]
joint = { type = "universal", axis = [1, 0, 0], second_axis = [0, 0, 1] }
mass = 0.5
inertia = [0.1, 0.1, 0.1]
[[rotors]]
body = "wrist"
position = [0.1, 0.2, 0.3]
axis = [0, 0, 1]
drag_ratio = 0.02
thrust = [1, 8]
tilt = { axis = [1, 0, 0], limit_deg = 30, segments = 2 }
[[rotors]]
body = "base"
position = [0, 0.2, 0]
axis = [0, 0, 1]
thrust = [0, 20]
[[motors]]
joint = "shoulder"
[[motors]]
name = "wrist pan"
joint = "wrist"
component = 1
effort = [-2, 3]
time_constant = 0.1
[[motors]]
joint = "base"
component = 3
"#;

#[test]
fn limits_and_inputs() {
    let system = system(ARM);
    let shoulder = system.joint_named("shoulder").unwrap();
    assert_eq!(system.model.name(shoulder), "upper");
    let limits = system.joint(shoulder).unwrap().limits;
    let [low, high] = limits.position.unwrap();
    assert!((low + std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    assert!((high - std::f64::consts::PI).abs() < 1e-15);
    assert_eq!((limits.velocity, limits.effort), (Some(3.0), Some(40.0)));

    let inputs = &system.inputs;
    assert_eq!(
        inputs.command_names(),
        [
            "rotor.0.thrust",
            "rotor.0.tilt",
            "rotor.1.thrust",
            "motor.0.effort",
            "motor.1.effort",
            "motor.2.effort"
        ]
    );
    let tilt = 30.0_f64.to_radians();
    let free = [f64::NEG_INFINITY, f64::INFINITY];
    assert_eq!(
        inputs.command_limits(),
        [
            [1.0, 8.0],
            [-tilt, tilt],
            [0.0, 20.0],
            [-40.0, 40.0],
            [-2.0, 3.0],
            free
        ]
    );
    assert_eq!(inputs.time_constants(), [0.0, 0.0, 0.0, 0.0, 0.1, 0.0]);
    assert_eq!(inputs.motors()[1].name, "wrist pan");

    // The limits are those of the rotors, then the motors' that have some.
    let polytope = inputs.limits();
    assert_eq!(polytope.rows(), inputs.rotors().limits().rows() + 4);
    assert!(polytope.violation(inputs.interior()) < 0.0);
    let mut u = inputs.interior().to_vec();
    for (motor, at_limit) in [(3, 40.0), (3, -40.0), (4, 3.0), (4, -2.0)] {
        let inside = u[motor];
        u[motor] = at_limit;
        assert!(polytope.violation(&u).abs() < 1e-12);
        u[motor] = inside;
    }
    u[5] = 1e9;
    assert!(polytope.violation(&u) < 0.0);

    let commands = [5.0, 0.2, 3.0, 1.0, -1.0, 7.0];
    let (mut u, mut back) = ([0.0; 6], [0.0; 6]);
    inputs.input_from_commands(&commands, &mut u);
    assert_eq!(u[3..], commands[3..]);
    inputs.commands_from_input(&u, &mut back);
    for (back, command) in back.iter().zip(&commands) {
        assert!((back - command).abs() < 1e-15);
    }
}

/// The power of the inputs: `xi^T B u` is that of the rotors' forces at the points where they act, and of the motors' efforts.
#[test]
fn the_input_matrix_is_that_of_the_power() {
    let system = system(ARM);
    let (model, inputs) = (&system.model, &system.inputs);
    let mut x = model.neutral_configuration();
    let xi: Vec<f64> = (0..model.dof())
        .map(|i| 0.3 * (i as f64 + 1.0).sin())
        .collect();
    model.integrate(&mut x, &xi);
    let mut workspace = Workspace::new(model);
    workspace.update(model, &x, &xi);
    workspace.update_jacobians(model);
    let mut B = DMatrix::zeros(model.dof(), inputs.input_dim());
    inputs.input_matrix(&workspace, &mut Matrix6xX::zeros(model.dof()), &mut B);

    let commands = [5.0, 0.2, 3.0, 1.0, -1.0, 7.0];
    let mut u = [0.0; 6];
    inputs.input_from_commands(&commands, &mut u);
    let force = &B * DMatrix::from_column_slice(6, 1, &u);
    let power = DMatrix::from_row_slice(1, xi.len(), &xi) * &force;
    let mut direct = vec![0.0; model.dof()];
    inputs.add_force(&workspace, &commands, &mut direct);
    for (direct, force) in direct.iter().zip(&force) {
        assert!((direct - force).abs() < 1e-14);
    }

    let mut expected = 0.0;
    let twist_of = |name: &str| workspace.twist(BodyId::WORLD, model.body_id(name).unwrap());
    let velocity = |name: &str, point: Vector3<f64>| {
        let twist = twist_of(name);
        let (v, w) = (
            twist.fixed_rows::<3>(0).into_owned(),
            twist.fixed_rows::<3>(3).into_owned(),
        );
        (v + w.cross(&point), w)
    };
    let (v, w) = velocity("wrist", Vector3::new(0.1, 0.2, 0.3));
    // Tilted about x: cos z + sin (x x z) = cos z - sin y.
    let thrust = Vector3::new(0.0, -0.2_f64.sin(), 0.2_f64.cos()) * 5.0;
    expected += thrust.dot(&(v + w * 0.02));
    expected += 3.0 * velocity("base", Vector3::new(0.0, 0.2, 0.0)).0.z;
    let first = |name: &str| model.velocity_range(model.body_id(name).unwrap()).start;
    expected += xi[first("upper")] - xi[first("wrist") + 1] + 7.0 * xi[first("base") + 3];
    assert!(
        (power[0] - expected).abs() < 1e-12,
        "{} {expected}",
        power[0]
    );
}

#[test]
fn a_joint_that_moves_no_mass_is_noted() {
    let text = "name = \"x\"\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n[bodies.b]\nparent = \"a\"\njoint = \"spherical\"\n[bodies.c]\nparent = \"b\"\njoint = \"fixed\"\n";
    let notes = system(text).notes;
    assert_eq!(
        notes,
        ["moving bodies without mass, whose accelerations are undetermined: `b`"]
    );
}

#[test]
fn loops_and_couplings() {
    let system = system(
        r#"
        name = "x"
        [bodies.a]
        joint = { name = "hinge", type = "revolute", axis = [0, 1, 0] }
        [bodies.b]
        joint = { type = "universal", axis = [0, 1, 0], second_axis = [1, 0, 0] }
        [[loops]]
        type = "spherical"
        to = "a"
        [[loops]]
        name = "pin"
        type = "cylindrical"
        from = "b"
        from_frame = { position = [1, 2, 3], axis = [0, 1, 0] }
        to = "a"
        to_frame = { orientation = { rpy_deg = [0, 0, 90] } }
        [[loops]]
        type = "distance"
        length = 0.5
        from = "b"
        to = "a"
        [[couplings]]
        terms = [{ joint = "hinge" }, { joint = "b", component = 1, factor = -2.5 }]
        offset = 0.1
        "#,
    );
    let quarter = Vector3::z() * std::f64::consts::FRAC_PI_2;
    let mut pin = LoopClosure::new("pin", "b", "a", LoopKind::Cylindrical)
        .along(Vector3::y(), Vector3::z())
        .unwrap()
        .between(Vector3::new(1.0, 2.0, 3.0), Vector3::zeros());
    assert!(
        (system.loops[1].frame_in_b.rotation.matrix() - SO3::exp(&quarter).matrix()).amax() < 1e-15
    );
    pin.frame_in_b.rotation = system.loops[1].frame_in_b.rotation;
    let expected = [
        LoopClosure::new("loop 0", "world", "a", LoopKind::Spherical),
        pin,
        LoopClosure::new("loop 2", "b", "a", LoopKind::Distance { length: 0.5 }),
    ];
    assert_eq!(system.loops, expected);
    let coupling = Coupling::new("coupling 0", 0.1).term("a", 0, 1.0);
    assert_eq!(system.couplings, [coupling.term("b", 1, -2.5)]);
    let constraints = system.constraints().build(&system.model).unwrap();
    assert_eq!(constraints.equations(), 3 + 4 + 1 + 1);
}

#[test]
fn rolling_bodies() {
    let system = system(
        r#"
        name = "x"
        [bodies.a]
        joint = "free"
        [bodies.b]
        parent = "a"
        joint = { type = "revolute", axis = [0, 1, 0] }
        [[rolling]]
        type = "disc"
        radius = 0.3
        rim = 0.02
        to = "b"
        to_frame = { axis = [0, 1, 0] }
        [[rolling]]
        name = "castor"
        type = "sphere"
        radius = 0.05
        slides = true
        from_frame = { position = [0, 0, 1] }
        to = "a"
        [[rolling]]
        type = "ellipsoid"
        semi_axes = [0.1, 0.2, 0.3]
        from = "a"
        to = "b"
        [[rolling]]
        type = "blade"
        to = "a"
        to_frame = { position = [1, 0, 0] }
        "#,
    );
    let [wheel, castor, egg, blade] = system.rolling.as_slice() else {
        panic!("four");
    };
    let disc = RollingSurface::Disc(Disc::with_rim(0.3, 0.02).unwrap());
    let ball = RollingSurface::Ellipsoid(Ellipsoid::sphere(0.05).unwrap());
    let shell = RollingSurface::Ellipsoid(Ellipsoid::new([0.1, 0.2, 0.3]).unwrap());
    assert_eq!(
        (wheel.name.as_str(), wheel.kind),
        ("rolling 0", RollingKind::Rolls(disc))
    );
    let axle = wheel.frame_in_b.rotation.act(&Vector3::z());
    assert!((axle - Vector3::y()).amax() < 1e-15);
    assert_eq!(
        (castor.name.as_str(), castor.kind),
        ("castor", RollingKind::Slides(ball))
    );
    assert_eq!(castor.frame_in_a.translation, Vector3::z());
    assert_eq!((egg.a.as_str(), egg.kind), ("a", RollingKind::Rolls(shell)));
    assert_eq!((blade.b.as_str(), blade.kind), ("a", RollingKind::Blade));
    assert_eq!(blade.frame_in_b.translation, Vector3::x());
    let constraints = system.constraints().build(&system.model).unwrap();
    assert_eq!(constraints.equations(), 3 + 1 + 3 + 1);
}

/// A blade in a description is a knife edge in code, and a ball that rolls a contact: the same equations.
#[test]
fn rolling_bodies_are_the_constraints_of_the_same_name() {
    let system = system(
        r#"
        name = "x"
        [bodies.a]
        joint = "free"
        shape = { sphere = { radius = 0.2 } }
        mass = 1
        [[rolling]]
        type = "sphere"
        radius = 0.2
        to = "a"
        [[rolling]]
        type = "blade"
        to = "a"
        to_frame = { position = [0.5, 0, 0] }
        "#,
    );
    let edge = SE3::new(SO3::identity(), Vector3::new(0.5, 0.0, 0.0));
    let ball = Ellipsoid::sphere(0.2).unwrap();
    let in_code = ConstraintSet::builder()
        .with(PlaneContact::rolling("ball", "world", "a", ball))
        .with(PrescribedVelocity::knife_edge("edge", "a", edge));
    let model = &system.model;
    let sets = [system.constraints(), in_code].map(|set| set.build(model).unwrap());
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &[0.3, -0.2, 0.5, 0.7, -0.4, 1.1]);
    let xi = [0.5, 0.1, -0.3, 0.8, 0.2, -0.6];
    let found = sets.map(|set| {
        let mut workspace = Workspace::new(model);
        let mut constrained = ConstraintWorkspace::new(&set);
        let motion = EvaluatedState::new(model, &mut workspace, &x, &xi, 0.0);
        constrained.update(&set, &motion);
        (
            constrained.jacobian().clone(),
            constrained.bias().clone(),
            constrained.rate().clone(),
        )
    });
    assert_eq!(found[0], found[1]);
    assert!(found[0].0.amax() > 0.5);
}

/// Every type of loop is the kind of the same name.
#[test]
fn types_of_loops() {
    let kinds = [
        ("fixed", LoopKind::Fixed),
        ("revolute", LoopKind::Revolute),
        ("prismatic", LoopKind::Prismatic),
        ("cylindrical", LoopKind::Cylindrical),
        ("universal", LoopKind::Universal),
        ("spherical", LoopKind::Spherical),
        ("planar", LoopKind::Planar),
        ("orientation", LoopKind::Orientation),
        ("point_on_line", LoopKind::PointOnLine),
        ("point_on_plane", LoopKind::PointOnPlane),
    ];
    for (name, kind) in kinds {
        let text = format!(
            "name = \"x\"\n[bodies.a]\njoint = \"free\"\n[[loops]]\ntype = \"{name}\"\nto = \"a\"\n"
        );
        assert_eq!(system(&text).loops[0].kind, kind, "{name}");
    }
}
