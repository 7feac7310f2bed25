//! Writing and reading a description preserves it.

#![allow(non_snake_case)]

#[path = "../golden_model/description.rs"]
#[allow(dead_code)] // states are not read here
mod golden_model;
use crate::random_tree;

use std::path::{Path, PathBuf};

use fly_lie::{SE3, SO3};
use fly_mechanics::description::{UrdfMotors, UrdfOptions, UrdfRoot};
use fly_mechanics::multibody::constraints::{
    Coupling, Disc, Ellipsoid, LoopClosure, LoopKind, Rolling, RollingKind, RollingSurface,
};
use fly_mechanics::multibody::{Joint, JointKind, Model};
use fly_mechanics::{Inputs, Motor, Rotors, SecondMoment, System};
use fly_testing::golden;
use random_tree::{Random, tree, tree_with_springs};

/// Some roundings of numbers of this size.
fn near(found: f64, expected: f64, size: f64) -> bool {
    (found - expected).abs() <= 1e-14 * size.max(1e-3)
}

#[track_caller]
fn same_pose(found: &SE3<f64>, expected: &SE3<f64>, what: &str) {
    assert_eq!(found.translation, expected.translation, "{what}");
    let error = (found.rotation.matrix() - expected.rotation.matrix()).amax();
    assert!(error < 1e-14, "{what}: {error}");
}

#[track_caller]
fn same_moment(found: &SecondMoment<f64>, expected: &SecondMoment<f64>, what: &str) {
    let size = expected.matrix4().amax();
    for (a, b) in found.matrix4().iter().zip(expected.matrix4()) {
        assert!(near(*a, *b, size), "{what}: {found:?} {expected:?}");
    }
}

#[track_caller]
fn same_joint(found: &Joint<f64>, expected: &Joint<f64>, what: &str) {
    match (found.kind(), expected.kind()) {
        (JointKind::Universal { second: a }, JointKind::Universal { second: b }) => {
            assert!((a - b).amax() < 1e-14, "{what}");
        }
        (a, b) => assert_eq!(a, b, "{what}"),
    }
    let error = (found.axes().matrix() - expected.axes().matrix()).amax();
    assert!(error < 1e-14, "{what}: {error}");
}

#[track_caller]
fn same_model(found: &Model<f64>, expected: &Model<f64>) {
    assert_eq!(found.gravity(), expected.gravity());
    assert_eq!(found.body_count(), expected.body_count());
    for (a, b) in found.bodies().zip(expected.bodies()) {
        let name = expected.name(b);
        assert_eq!(found.name(a), name);
        assert_eq!(found.parent(a), expected.parent(b), "{name}");
        let joint = expected.joint(b).unwrap();
        same_joint(found.joint(a).unwrap(), joint, name);
        let (mut pose, mut other) = (
            *found.placement(a).unwrap(),
            *expected.placement(b).unwrap(),
        );
        if joint.is_absolute() {
            // The attitude is relative to the world, whatever the placement.
            (pose.rotation, other.rotation) = (SO3::identity(), SO3::identity());
        }
        same_pose(&pose, &other, name);
        match (found.inertia(a), expected.inertia(b)) {
            (Some(a), Some(b)) => same_moment(a.second_moment(), b.second_moment(), name),
            (a, b) => assert!(a.is_none() && b.is_none(), "{name}: {a:?} {b:?}"),
        }
        assert_eq!(found.drag(a), expected.drag(b), "{name}");
    }
    assert_eq!(found.springs().len(), expected.springs().len());
    for (a, b) in found.springs().zip(expected.springs()) {
        assert_eq!((&a.a, &a.b), (&b.a, &b.b));
        same_pose(&a.rest, &b.rest, "a spring");
        same_moment(&a.stiffness, &b.stiffness, "a spring");
    }
    assert_eq!(found.dampers().len(), expected.dampers().len());
    for (a, b) in found.dampers().zip(expected.dampers()) {
        assert_eq!((&a.a, &a.b), (&b.a, &b.b));
        same_moment(&a.damping, &b.damping, "a damper");
    }
}

/// Writes the system, reads it, and compares everything.
#[track_caller]
fn round_trip(system: &System) {
    let text = system.to_toml();
    let read = System::from_toml(&text).unwrap_or_else(|error| {
        let (line, column) = error.line_column(&text);
        panic!("{line}:{column}: {error}\n{text}")
    });
    assert_eq!(read.name, system.name);
    same_model(&read.model, &system.model);
    assert_eq!(read.joints, system.joints);
    assert_eq!(read.inputs.carriers(), system.inputs.carriers());
    assert_eq!(read.inputs.motors(), system.inputs.motors());
    for (a, b) in (read.inputs.rotors().as_slice().iter()).zip(system.inputs.rotors().as_slice()) {
        assert_eq!(
            (&a.name, a.position, a.drag_ratio),
            (&b.name, b.position, b.drag_ratio)
        );
        assert_eq!((a.thrust, a.time_constant), (b.thrust, b.time_constant));
        assert!((a.axis - b.axis).amax() < 1e-15);
        assert_eq!(a.tilt.is_some(), b.tilt.is_some());
        if let (Some(a), Some(b)) = (&a.tilt, &b.tilt) {
            assert!((a.axis - b.axis).amax() < 1e-15 && (a.limit - b.limit).abs() < 1e-15);
            assert_eq!((a.time_constant, a.segments), (b.time_constant, b.segments));
        }
    }
    assert_eq!(read.loops.len(), system.loops.len());
    for (a, b) in read.loops.iter().zip(&system.loops) {
        assert_eq!((&a.name, &a.a, &a.b, a.kind), (&b.name, &b.a, &b.b, b.kind));
        same_pose(&a.frame_in_a, &b.frame_in_a, &b.name);
        same_pose(&a.frame_in_b, &b.frame_in_b, &b.name);
    }
    assert_eq!(read.couplings, system.couplings);
    assert_eq!(read.rolling.len(), system.rolling.len());
    for (a, b) in read.rolling.iter().zip(&system.rolling) {
        assert_eq!((&a.name, &a.a, &a.b, a.kind), (&b.name, &b.a, &b.b, b.kind));
        same_pose(&a.frame_in_a, &b.frame_in_a, &b.name);
        same_pose(&a.frame_in_b, &b.frame_in_b, &b.name);
    }
}

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = paths.map(|path| (path.clone(), std::fs::read_to_string(path).expect("a text")));
    read.collect()
}

#[test]
fn systems_and_vehicles() {
    let mut count = 0;
    for folder in ["../../configs/systems", "../../configs/vehicles"] {
        for (_, text) in files(folder) {
            round_trip(&System::from_toml(&text).expect("a system"));
            count += 1;
        }
    }
    assert!(count >= 8, "only {count}");
}

#[test]
fn robots() {
    let mut count = 0;
    for (path, text) in files("testdata/urdf") {
        if path.extension().is_none_or(|extension| extension != "urdf") {
            continue;
        }
        let fixed = UrdfOptions {
            motors: UrdfMotors::EveryJoint,
            ..UrdfOptions::default()
        };
        round_trip(&System::from_urdf(&text, &fixed).expect("a robot"));
        if !text.contains("\"world\"") {
            let root = UrdfRoot::Free;
            round_trip(&System::from_urdf(&text, &UrdfOptions { root, ..fixed }).expect("a robot"));
        }
        count += 1;
    }
    assert_eq!(count, 2);
}

/// All kinds of joints, bodies in any order, springs and dampers.
#[test]
fn random_trees() {
    for seed in 0..60 {
        round_trip(&System::new("tree", tree(seed, 1 + seed % 12)));
        round_trip(&System::new("tree", tree_with_springs(seed, 1 + seed % 12)));
    }
}

/// What is read from the text has the forces of the golden files, because it is the model that `golden` holds to them.
#[test]
fn golden_systems() {
    let mut count = 0;
    for path in golden::files(env!("CARGO_MANIFEST_DIR")) {
        let file = golden::json(&path);
        if file["kind"] == "system" {
            round_trip(&System::new("golden", golden_model::model(&file["system"])));
            count += 1;
        }
    }
    assert!(count > 0, "no system");
}

/// Names of all letters, motors without limits, loops of all kinds, gears.
#[test]
fn names_and_constraints() {
    let mut random = Random::new(3);
    let base = System::from_toml(
        r#"
        name = "a \"name\" with \\ and \u0007 and ü"
        [bodies."left arm"]
        joint = { name = "hinge.1", type = "revolute", axis = [1, 2, 3], limits = { position = [0, 0], effort = 0 } }
        [bodies.""]
        joint = { name = "", type = "prismatic", axis = [0, 0, -1] }
        "#,
    )
    .expect("a system");
    let kinds = [
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
        LoopKind::Distance { length: 0.1 },
    ];
    let loops = kinds.into_iter().enumerate().map(|(i, kind)| {
        let ends = [["world", "left arm"], ["left arm", ""]][i % 2];
        LoopClosure::new(format!("loop {i}"), ends[0], ends[1], kind)
            .at(random.pose(), random.pose())
    });
    let loops: Vec<_> = loops.collect();
    let wheel = RollingSurface::Disc(Disc::with_rim(0.3, 0.02).expect("a wheel"));
    let egg = RollingSurface::Ellipsoid(Ellipsoid::new([0.1, 0.2, 0.7]).expect("an egg"));
    let kinds = [
        RollingKind::Rolls(wheel),
        RollingKind::Slides(egg),
        RollingKind::Blade,
    ];
    let rolling = kinds.into_iter().enumerate().map(|(i, kind)| Rolling {
        name: format!("rolling {i}"),
        a: "world".to_owned(),
        b: "left arm".to_owned(),
        // A blade takes no notice of its plane, which is not written.
        frame_in_a: [random.pose(), random.pose(), SE3::identity()][i],
        frame_in_b: random.pose(),
        kind,
    });
    let rolling: Vec<_> = rolling.collect();
    let gear = Coupling::gear("gear", "", "left arm", -1.0 / 3.0, 0.1);
    let joint = base.model.body_id("left arm").expect("a body");
    let motor = |name: &str, effort| Motor {
        name: name.to_owned(),
        joint,
        component: 0,
        effort,
        time_constant: 0.02,
    };
    let motors = vec![
        motor("free", [f64::NEG_INFINITY, f64::INFINITY]),
        motor("pulls", [f64::NEG_INFINITY, 1e-3]),
    ];
    let inputs = Inputs::new(&base.model, Rotors::none(), Vec::new(), motors);
    round_trip(&System {
        loops,
        couplings: vec![gear],
        rolling,
        inputs: inputs.expect("motors"),
        ..base
    });
}

/// Through any format of serde: JSON here, which sorts no keys of a text.
#[test]
fn serde_keeps_systems_and_models() {
    let mut count = 0;
    for (path, text) in files("../../configs/systems") {
        let Ok(system) = System::from_toml(&text) else {
            continue;
        };
        let json = serde_json::to_string(&system).expect("a text");
        let read: System =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(
            read,
            System::from_toml(&system.to_toml()).expect("what was written")
        );
        same_model(&read.model, &system.model);
        let json = serde_json::to_string(&system.model).expect("a text");
        let read: Model<f64> = serde_json::from_str(&json).expect("a model");
        same_model(&read, &system.model);
        count += 1;
    }
    assert!(count >= 5, "only {count} systems");
    let error = serde_json::from_str::<System>(r#""name = 3""#).expect_err("no name");
    assert!(error.to_string().starts_with("1:"), "{error}");
}

/// A loaded system with a load and a spring more: existing bodies keep their coordinates, and their actuators still drive them.
#[test]
fn more_in_a_loaded_system() {
    use fly_mechanics::PseudoInertia;
    use fly_mechanics::multibody::{Body, Spring};
    use nalgebra::Vector3;
    let mut count = 0;
    for (path, text) in files("../../configs/systems") {
        let Ok(system) = System::from_toml(&text) else {
            continue;
        };
        same_model(
            &system.model.to_builder().build().expect("as it was"),
            &system.model,
        );
        let Some(last) = system.model.bodies().last() else {
            continue;
        };
        let carrier = system.model.name(last).to_owned();
        let load = PseudoInertia::point_mass(2.0, Vector3::new(0.1, 0.2, -0.3)).expect("a mass");
        let spring = Spring {
            a: "world".to_owned(),
            b: "one more".to_owned(),
            rest: SE3::identity(),
            stiffness: SecondMoment::from_points([(3.0, Vector3::zeros())]),
        };
        let body = Body::new("one more", Joint::free())
            .parent(carrier)
            .inertia(load);
        let more = system.clone().with(|model| model.body(body).spring(spring));
        let more = more.unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(more.model.dof(), system.model.dof() + 6);
        assert!((more.model.mass() - system.model.mass() - 2.0).abs() < 1e-12);
        round_trip(&more);
        for body in system.model.bodies() {
            let same = more
                .model
                .body_id(system.model.name(body))
                .expect("still there");
            assert_eq!(
                more.model.config_range(same),
                system.model.config_range(body)
            );
            assert_eq!(
                more.model.velocity_range(same),
                system.model.velocity_range(body)
            );
            assert_eq!(more.joint(same), system.joint(body));
        }
        for (a, b) in more.inputs.motors().iter().zip(system.inputs.motors()) {
            assert_eq!(more.model.name(a.joint), system.model.name(b.joint));
        }
        assert_eq!(more.inputs.command_names(), system.inputs.command_names());
        count += 1;
    }
    assert!(count >= 5, "only {count} systems");
}

/// A child may stand before its parent: the coordinates keep their order.
#[test]
fn coordinates_keep_their_order() {
    let text = "name = 'x'\n[bodies.hand]\nparent = 'arm'\njoint = { type = 'revolute', axis = [0, 1, 0] }\nmass = 1\ninertia = [1, 1, 1]\n\
         [bodies.arm]\njoint = { type = 'planar', axis = [1, 0, 0] }\nmass = 2\ninertia = [1, 1, 1]\n\
         [bodies.plate]\nparent = 'arm'\njoint = 'fixed'\nmass = 2\ninertia = [1, 1, 1]\n";
    let system = System::from_toml(text).unwrap();
    let again = System::from_toml(&system.to_toml()).unwrap();
    let names = |system: &System| -> Vec<String> {
        let bodies = system.model.bodies();
        bodies
            .map(|body| system.model.name(body).to_owned())
            .collect()
    };
    assert_eq!(names(&again), names(&system));
    for name in ["plate", "hand", "arm"] {
        let [range, expected] = [&again, &system].map(|system| {
            let body = system.model.body_id(name).unwrap();
            (
                system.model.velocity_range(body),
                system.model.config_range(body),
            )
        });
        assert_eq!(range, expected, "{name}");
    }
}
