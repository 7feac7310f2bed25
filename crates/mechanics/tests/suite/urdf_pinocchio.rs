//! URDF robots agree with Pinocchio: the reference values are in `testdata/urdf`, with the program that wrote them.

#![allow(non_snake_case)]

use std::path::{Path, PathBuf};

use fly_lie::{SE3, SO3};
use fly_mechanics::System;
use fly_mechanics::description::{UrdfOptions, UrdfRoot};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_testing::golden::{array, count, json, matrix, numbers};
use nalgebra::{DMatrix, Matrix4, Vector4};
use serde_json::Value;

/// What Pinocchio leaves out of its dynamics: the dampers in the joints of `mobile_arm.urdf`, N m s.
const DAMPING: [(&str, f64); 2] = [("wheel", 0.05), ("roll", 0.02)];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/urdf")
}

fn read(robot: &Value) -> System {
    let file = robot["file"].as_str().expect("a file");
    let text = std::fs::read_to_string(folder().join(file)).expect("a readable file");
    let root = if robot["free"] == true {
        UrdfRoot::Free
    } else {
        UrdfRoot::Fixed
    };
    let options = UrdfOptions {
        root,
        ..UrdfOptions::default()
    };
    System::from_urdf(&text, &options).expect("a robot")
}

/// The body that a joint of Pinocchio's carries.
fn body(system: &System, joint: &Value) -> BodyId {
    let name = joint["name"].as_str().expect("a name");
    let name = if name == "root_joint" {
        "chassis"
    } else {
        name
    };
    system.joint_named(name).expect("a joint of this name")
}

/// For each of our velocities, Pinocchio's.
fn order(system: &System, robot: &Value) -> Vec<usize> {
    let mut order = vec![usize::MAX; system.model.dof()];
    for joint in array(&robot["joints"]) {
        let range = system.model.velocity_range(body(system, joint));
        assert_eq!(range.len(), count(&joint["dof"]));
        for (i, ours) in range.enumerate() {
            order[ours] = count(&joint["start"]) + i;
        }
    }
    assert!(!order.contains(&usize::MAX), "{order:?}");
    order
}

fn configuration(system: &System, robot: &Value, state: &Value) -> Vec<f64> {
    let mut x = system.model.neutral_configuration();
    for joint in array(&robot["joints"]) {
        let name = joint["name"].as_str().expect("a name");
        let place = &mut x[system.model.config_range(body(system, joint))];
        match numbers(&state["coordinates"][name]).as_slice() {
            [angle] => place.copy_from_slice(&[*angle]),
            [position @ .., w, x, y, z] => {
                let rotation = SO3::from_quaternion(&Vector4::new(*w, *x, *y, *z));
                place[..3].copy_from_slice(position);
                place[3..].copy_from_slice(rotation.matrix().as_slice());
            }
            other => panic!("coordinates {other:?} of `{name}`"),
        }
    }
    x
}

#[track_caller]
fn near(found: &[f64], expected: &[f64], what: &str) {
    let largest = expected.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    for (found, expected) in found.iter().zip(expected) {
        // Both programs round; 1e-13 of the largest entry is some hundred roundings.
        let error = (found - expected).abs();
        assert!(
            error <= 1e-13 * largest.max(1.0),
            "{what}: {found} {expected}"
        );
    }
}

#[test]
fn robots_are_what_pinocchio_makes_of_them() {
    let robots = json(&folder().join("pinocchio.json"));
    let mut states = 0;
    for robot in array(&robots) {
        let system = read(robot);
        let model = &system.model;
        let n = model.dof();
        let order = order(&system, robot);
        let ours = |theirs: &Value| -> Vec<f64> {
            let theirs = numbers(theirs);
            assert_eq!(theirs.len(), n);
            order.iter().map(|i| theirs[*i]).collect()
        };
        let mut workspace = Workspace::new(model);
        for state in array(&robot["states"]) {
            let x = configuration(&system, robot, state);
            let (xi, xi_dot) = (ours(&state["velocity"]), ours(&state["acceleration"]));
            workspace.update(model, &x, &xi);
            for (name, pose) in state["poses"].as_object().expect("poses") {
                let expected: Matrix4<f64> = matrix(pose);
                let link = match name.as_str() {
                    "world" => BodyId::WORLD,
                    name => model.body_id(name).expect("a link of this name"),
                };
                let found: SE3<f64> = workspace.pose(BodyId::WORLD, link);
                near(found.matrix().as_slice(), expected.as_slice(), name);
            }

            let mut M = DMatrix::zeros(n, n);
            model.mass_matrix(&mut workspace, &x, &mut M);
            for (row, theirs) in order.iter().enumerate() {
                let expected = ours(&state["mass_matrix"][*theirs]);
                let found: Vec<f64> = M.row(row).iter().copied().collect();
                near(&found, &expected, "the mass matrix");
            }

            let mut torque = ours(&state["torque"]);
            for (joint, damping) in DAMPING {
                if let Some(body) = system.joint_named(joint) {
                    let i = model.velocity_range(body).start;
                    torque[i] += damping * xi[i];
                }
            }
            let mut found = vec![0.0; n];
            model.inverse_dynamics(&mut workspace, &x, &xi, &xi_dot, &mut found);
            near(&found, &torque, "the torques");
            states += 1;
        }
    }
    assert_eq!(states, 9);
}
