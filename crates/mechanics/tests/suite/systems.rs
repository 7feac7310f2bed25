//! Every system that comes with the project.

#![allow(non_snake_case)]

use std::path::Path;

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::constraints::{ConstraintWorkspace, Coupling, EvaluatedState};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
use fly_mechanics::{ActuatedDynamics, PseudoInertia, System};
use nalgebra::{DMatrix, Matrix3, Matrix6xX, Vector3};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/systems")
}

fn system(name: &str) -> System {
    let text = std::fs::read_to_string(folder().join(name)).expect("a readable file");
    System::from_toml(&text).unwrap_or_else(|error| {
        let (line, column) = error.line_column(&text);
        panic!("{name}:{line}:{column}: {error}")
    })
}

#[test]
fn every_system_is_read() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("the systems' folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.into_string().expect("a name");
        let system = system(&name);
        assert_eq!(system.notes, Vec::<String>::new(), "{name}");
        let limits = system.inputs.limits();
        assert!(limits.violation(system.inputs.interior()) < 0.0, "{name}");
        count += 1;
    }
    assert!(count >= 5, "only {count} systems");
}

/// Name, axis, placement, mass, centre of mass, principal moments.
type Row = (
    &'static str,
    Vector3<f64>,
    [f64; 3],
    f64,
    [f64; 3],
    [f64; 3],
);

/// The arm built by hand, from the same table of numbers as the benches' model.
#[test]
fn the_arm_is_the_one_built_by_hand() {
    let z = Vector3::z();
    let (x, y) = (Vector3::x(), Vector3::y());
    let links: [Row; 6] = [
        (
            "l1",
            z,
            [0.0, 0.0, 0.15],
            4.0,
            [0.0, 0.02, 0.05],
            [0.02, 0.018, 0.012],
        ),
        (
            "l2",
            y,
            [0.0, 0.05, 0.1],
            5.0,
            [0.01, 0.0, 0.2],
            [0.09, 0.085, 0.015],
        ),
        (
            "l3",
            y,
            [0.0, 0.0, 0.4],
            3.0,
            [0.02, -0.03, 0.15],
            [0.04, 0.038, 0.01],
        ),
        (
            "l4",
            x,
            [0.1, 0.0, 0.3],
            1.5,
            [0.07, 0.0, 0.01],
            [0.003, 0.008, 0.0075],
        ),
        (
            "l5",
            y,
            [0.15, 0.0, 0.0],
            1.0,
            [0.03, 0.01, 0.0],
            [0.0012, 0.002, 0.0018],
        ),
        (
            "l6",
            x,
            [0.08, 0.0, 0.0],
            0.4,
            [0.02, 0.0, 0.01],
            [0.0003, 0.0004, 0.0005],
        ),
    ];
    let mut builder = Model::builder();
    let mut parent = "world";
    for (name, axis, place, mass, center, inertia) in links {
        let inertia = Matrix3::from_diagonal(&inertia.into());
        let inertia = PseudoInertia::from_center(mass, center.into(), inertia).unwrap();
        let body = Body::new(name, Joint::revolute(axis).unwrap());
        let placement = SE3::new(SO3::identity(), place.into());
        builder = builder.body(body.parent(parent).placed(placement).inertia(inertia));
        parent = name;
    }
    let arm = system("arm6.toml");
    assert_eq!(arm.model, builder.build().unwrap());
    assert_eq!(arm.inputs.input_dim(), 6);
    assert_eq!(arm.joints[2].name, "elbow");
}

/// Konz Example 13: eight bodies, 15 velocities, 30 coordinates, nine inputs that act independently.
#[test]
fn the_tricopter_with_load_is_that_of_example_13() {
    let system = system("tricopter_with_load.toml");
    let (model, inputs) = (&system.model, &system.inputs);
    assert_eq!(
        (
            model.body_count(),
            model.dof(),
            model.config_dim(),
            inputs.input_dim()
        ),
        (8, 15, 30, 9)
    );
    let mut workspace = Workspace::new(model);
    workspace.update(model, &model.neutral_configuration(), &[0.0; 15]);
    workspace.update_jacobians(model);
    let mut B = DMatrix::zeros(15, 9);
    inputs.input_matrix(&workspace, &mut Matrix6xX::zeros(15), &mut B);
    assert_eq!(B.rank(1e-12), 9);

    // The propellers stand on a circle around the airframe, 0.35 m wide, and push upward.
    for i in 1..=3 {
        let propeller = model.body_id(&format!("propeller{i}")).unwrap();
        let at = workspace.pose(BodyId::WORLD, propeller).translation;
        assert!((at.xy().norm() - 0.35).abs() < 1e-15, "{at}");
        assert!((B[(2, i - 1)] - 1.0).abs() < 1e-15);
    }
    // The load's angular velocity is its own: nothing but a spring would act on it.
    let load = model.velocity_range(model.body_id("load").unwrap());
    assert_eq!(B.rows(load.start, 3).amax(), 0.0);
}

/// The crank turns all the way round, and the loop stays closed: five equations of which two matter leave one degree of freedom.
#[test]
fn the_four_bar_turns() {
    let system = system("four_bar.toml");
    let model = &system.model;
    let constraints = system.constraints().build(model).unwrap();
    assert_eq!((model.dof(), constraints.equations()), (3, 5));
    let mut workspace = Workspace::new(model);
    let (coupler, rocker) = (
        model.body_id("coupler").unwrap(),
        model.body_id("rocker").unwrap(),
    );
    let mut x = model.neutral_configuration();
    let mut swing = [0.0_f64; 2];
    for step in 0..72 {
        // Held at its angle, the crank leaves nothing free.
        let crank = Coupling::lock("crank", "crank", f64::from(step) * 5_f64.to_radians());
        let held = system.constraints().with(crank).build(model).unwrap();
        let mut constrained = ConstraintWorkspace::new(&held);
        constrained
            .project_configuration(&held, model, &mut workspace, &mut x, 0.0)
            .unwrap();
        let motion = EvaluatedState::new(model, &mut workspace, &x, &[0.0; 3], 0.0);
        constrained.update(&held, &motion);
        assert_eq!(constrained.jacobian().rank(1e-9), 3);
        let tip = workspace.pose(BodyId::WORLD, coupler);
        let tip = tip.act(&Vector3::new(0.4, 0.0, 0.1));
        let end = workspace.pose(BodyId::WORLD, rocker);
        let end = end.act(&Vector3::new(0.0, 0.0, 0.2));
        // The projection ends at residuals of some 1e-12.
        assert!((tip - end).norm() < 1e-11, "{tip} {end}");
        swing = [swing[0].min(x[2]), swing[1].max(x[2])];
    }
    // Dead centres of a crank-rocker: crank and coupler in one line, by the law of cosines.
    let (ground, crank, bar, rod) = (0.4, 0.1, 0.17_f64.sqrt(), 0.2);
    let lean = |reach: f64| {
        let cosine: f64 = (ground * ground + rod * rod - reach * reach) / (2.0 * ground * rod);
        cosine.acos() - std::f64::consts::FRAC_PI_2
    };
    for (found, reach) in swing.iter().zip([bar - crank, bar + crank]) {
        // 5 degrees of the crank from a dead centre change it by less than that.
        assert!((found - lean(reach)).abs() < 0.005, "{swing:?} {reach}");
    }
}

/// Wherever the crank is to be, the loop closes on the branch that leads there from its description, which the equations of the
/// plane give in small steps.
#[test]
fn a_loop_closes_on_the_branch_of_its_description() {
    let system = system("four_bar.toml");
    let turned = |angle: f64, x: f64, z: f64| {
        let (s, c) = angle.sin_cos();
        [x * c + z * s, z * c - x * s]
    };
    let gap = |crank: f64, [coupler, rocker]: [f64; 2]| {
        let elbow = turned(crank, 0.0, 0.1);
        let bar = turned(crank + coupler, 0.4, 0.1);
        let rod = turned(rocker, 0.0, 0.2);
        [elbow[0] + bar[0] - 0.4 - rod[0], elbow[1] + bar[1] - rod[1]]
    };
    for goal in [-3.0, -2.0, -1.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 6.2] {
        let mut expected = [0.0; 2];
        for step in 1..=1000 {
            let crank = goal * f64::from(step) / 1000.0;
            for _ in 0..3 {
                let away = gap(crank, expected);
                let slope = [0, 1].map(|i| {
                    let mut moved = expected;
                    moved[i] += 1e-7;
                    let there = gap(crank, moved);
                    [0, 1].map(|k| (there[k] - away[k]) / 1e-7)
                });
                let [[a, c], [b, d]] = slope;
                let determinant = a * d - b * c;
                expected[0] -= (d * away[0] - b * away[1]) / determinant;
                expected[1] -= (a * away[1] - c * away[0]) / determinant;
            }
        }
        let mut motion = SystemState::at_rest(&system.model);
        motion.configuration[0] = goal;
        ActuatedDynamics::new(&system, 1e-3)
            .and_then(|mut dynamics| dynamics.close_loops(&system, &mut motion, [&[0], &[0]]))
            .unwrap();
        let found = &motion.configuration;
        assert!((found[0] - goal).abs() < 1e-9, "{goal}: {found:?}");
        for (found, expected) in found[1..].iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-6,
                "{goal}: {found} {expected}"
            );
        }
    }
}
