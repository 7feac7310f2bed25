//! Reading the systems of golden files.

use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, Damper, Joint, JointKind, Model, Spring};
use fly_mechanics::{PseudoInertia, SecondMoment};
use fly_testing::golden::{array, matrix, number, numbers, vector};
use nalgebra::{Matrix3, Vector3};
use serde_json::Value;

/// The model of a golden `system`: bodies are named by their numbers.
pub fn model(system: &Value) -> Model<f64> {
    let mut builder = Model::builder();
    if !system["gravity"].is_null() {
        builder = builder.gravity(vector(&system["gravity"]));
    }
    for index in order(system) {
        let joint = &array(&system["joints"])[index];
        let id = &joint["child"];
        let mut body = Body::new(name(id), joint_of(joint)).parent(name(&joint["parent"]));
        if !joint["G_pre"].is_null() {
            body = body.placed(pose(&joint["G_pre"]));
        }
        let described = array(&system["bodies"]).iter().find(|b| b["id"] == *id);
        if let Some(described) = described.filter(|body| number(&body["m"]) != 0.0) {
            let inertia = PseudoInertia::from_origin(
                number(&described["m"]),
                vector(&described["s"]),
                matrix(&described["Theta"]),
            );
            body = body.inertia(inertia.expect("an inertia"));
        }
        builder = builder.body(body);
    }
    for spring in array(&system["springs"]) {
        builder = builder.spring(Spring {
            a: name(&spring["a"]),
            b: name(&spring["b"]),
            rest: pose(&spring["G_R"]),
            stiffness: moment(spring, "k", "K_prime"),
        });
    }
    for damper in array(&system["dampers"]) {
        builder = builder.damper(Damper {
            a: name(&damper["a"]),
            b: name(&damper["b"]),
            damping: moment(damper, "d", "D_prime"),
        });
    }
    builder.build().expect("a system")
}

/// The joints in the order of their velocities, which need not be that of the file.
fn order(system: &Value) -> Vec<usize> {
    let joints = array(&system["joints"]);
    let mut order: Vec<_> = (0..joints.len()).collect();
    order.sort_by_key(|index| joints[*index]["xi_offset"].as_u64());
    order
}

/// Bodies are numbered from 1, or named; 0 is the world.
fn name(id: &Value) -> String {
    match id.as_str() {
        Some(name) => name.to_owned(),
        None if *id == 0 => "world".to_owned(),
        None => id.to_string(),
    }
}

fn pose(rows: &Value) -> SE3<f64> {
    SE3::try_from_matrix(&matrix(rows), 1e-12).expect("a pose")
}

fn moment(element: &Value, weight: &str, prime: &str) -> SecondMoment<f64> {
    if element["points"].is_null() {
        return SecondMoment::from_matrix4(matrix(&element[prime]));
    }
    let points = array(&element["points"]).iter();
    SecondMoment::from_points(points.map(|p| (number(&p[weight]), vector(&p["h"]))))
}

fn joint_of(joint: &Value) -> Joint<f64> {
    let described = |key: &str| !joint[key].is_null();
    let axis = if described("axis") && numbers(&joint["axis"]).len() == 3 {
        vector(&joint["axis"])
    } else if described("axes") {
        vector(&joint["axes"][0])
    } else {
        Vector3::z()
    };
    let second = ["axis2", "axis_2", "second_axis", "axis_b"];
    let second = || match second.iter().find(|key| described(key)) {
        Some(key) => vector(&joint[*key]),
        None => vector(&joint["axes"][1]),
    };
    let kind = joint["type"].as_str().expect("a joint's type");
    let plain: String = kind
        .to_lowercase()
        .replace('ö', "oe")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let made = match plain.as_str() {
        "fixed" | "weld" | "rigid" => Ok(Joint::fixed()),
        "revolute" | "hinge" | "continuous" | "rotational" => Joint::revolute(axis),
        "prismatic" | "slider" | "translational" => Joint::prismatic(axis),
        "screw" | "helical" => Joint::screw(axis, number(&joint["pitch"])),
        "cylindrical" => Joint::cylindrical(axis),
        "universal" | "cardan" => Joint::universal(axis, second()),
        "spherical" | "ball" => Ok(Joint::spherical()),
        "sphericalabs" | "sphericalabsolute" | "absolutespherical" => {
            Ok(Joint::absolute_spherical())
        }
        "planar" => Joint::planar(axis),
        "schoenflies" | "schonflies" | "scara" => Joint::schoenflies(axis),
        "free" | "floating" | "freeflyer" => Ok(Joint::free()),
        _ => panic!("a joint of the type `{kind}` is not known"),
    };
    made.expect("a joint")
}

/// The configuration of a golden `state`, one entry per joint.
pub fn configuration(system: &Value, state: &Value) -> Vec<f64> {
    let joints = array(&system["joints"]);
    assert_eq!(joints.len(), array(state).len(), "joints and their states");
    let mut x = Vec::new();
    for index in order(system) {
        let (joint, state) = (&joints[index], &array(state)[index]);
        let described = joint_of(joint);
        let start = x.len();
        if !state["q"].is_null() {
            x.extend(numbers(&state["q"]));
        } else if !state["R"].is_null() {
            x.extend(matrix::<3, 3>(&state["R"]).as_slice());
        } else if !state["G"].is_null() {
            of_pose(&described, &pose(&state["G"]), &mut x);
        }
        let (found, expected) = (x.len() - start, described.config_dim());
        assert_eq!(found, expected, "numbers in the state {state} of {joint}");
    }
    x
}

/// The coordinates of a joint whose moved frame is at this pose.
fn of_pose(joint: &Joint<f64>, pose: &SE3<f64>, x: &mut Vec<f64>) {
    let axes: &SO3<f64> = joint.axes();
    let r = axes.inverse().act(&pose.translation);
    let R: Matrix3<f64> = *(axes.inverse() * pose.rotation * *axes).matrix();
    let angle = R[(1, 0)].atan2(R[(0, 0)]);
    match joint.kind() {
        JointKind::Fixed => {}
        JointKind::Revolute(_) | JointKind::Screw { .. } => x.push(angle),
        JointKind::Prismatic => x.push(r.z),
        JointKind::Cylindrical(_) => x.extend([r.z, angle]),
        JointKind::Planar(_) => x.extend([r.x, r.y, angle]),
        JointKind::Schoenflies(_) => x.extend([r.x, r.y, r.z, angle]),
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {
            x.extend(pose.rotation.matrix().as_slice());
        }
        JointKind::Free(_) => {
            x.extend(pose.translation.as_slice());
            x.extend(pose.rotation.matrix().as_slice());
        }
        other => panic!("a pose as the state of a joint {other:?} is not known"),
    }
}
