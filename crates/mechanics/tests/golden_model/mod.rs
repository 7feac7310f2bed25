//! The systems of golden files as models, and their kinematics.

use fly_lie::SE3;
use fly_mechanics::multibody::{Body, BodyId, Damper, Joint, Model, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use fly_testing::golden::{File, array, count, matrix, number, numbers, vector};
use nalgebra::{DMatrix, Matrix6xX};
use serde_json::Value;

/// The model of a golden `system`: bodies are named by their numbers, joints keep their order.
pub fn model(system: &Value) -> Model<f64> {
    let mut builder = Model::builder().gravity(vector(&system["gravity"]));
    for joint in array(&system["joints"]) {
        let id = &joint["child"];
        let mut body = Body::new(name(id), joint_of(joint))
            .parent(name(&joint["parent"]))
            .placed(pose(&joint["G_pre"]));
        let described = array(&system["bodies"]).iter().find(|b| b["id"] == *id);
        if let Some(described) = described {
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
            stiffness: points(spring, "k"),
        });
    }
    for damper in array(&system["dampers"]) {
        builder = builder.damper(Damper {
            a: name(&damper["a"]),
            b: name(&damper["b"]),
            damping: points(damper, "d"),
        });
    }
    builder.build().expect("a system")
}

fn name(id: &Value) -> String {
    match count(id) {
        0 => "world".to_owned(),
        id => id.to_string(),
    }
}

fn pose(rows: &Value) -> SE3<f64> {
    SE3::try_from_matrix(&matrix(rows), 1e-12).expect("a pose")
}

fn points(element: &Value, weight: &str) -> SecondMoment<f64> {
    let points = array(&element["points"]).iter();
    SecondMoment::from_points(points.map(|p| (number(&p[weight]), vector(&p["h"]))))
}

fn joint_of(joint: &Value) -> Joint<f64> {
    let axis = || vector(&joint["axis"]);
    match joint["type"].as_str().expect("a joint's type") {
        "fixed" => Joint::fixed(),
        "revolute" => Joint::revolute(axis()).expect("an axis"),
        "prismatic" => Joint::prismatic(axis()).expect("an axis"),
        "spherical" => Joint::spherical(),
        "spherical_abs" => Joint::absolute_spherical(),
        "planar" => Joint::planar([0.0, 0.0, 1.0].into()).expect("an axis"),
        "free" => Joint::free(),
        other => panic!("joint `{other}` is not known"),
    }
}

/// The configuration of a golden `state`, one entry per joint.
pub fn configuration(system: &Value, state: &Value) -> Vec<f64> {
    let mut x = Vec::new();
    for (joint, state) in array(&system["joints"]).iter().zip(array(state)) {
        if let Some(q) = state["q"].as_f64() {
            x.push(q);
        } else if joint["type"] == "planar" {
            let G = pose(&state["G"]);
            let R = G.rotation.matrix();
            x.extend([G.translation.x, G.translation.y, R[(1, 0)].atan2(R[(0, 0)])]);
        } else if !state["G"].is_null() {
            let G = pose(&state["G"]);
            x.extend(G.translation.as_slice());
            x.extend(G.rotation.matrix().as_slice());
        } else if !state["R"].is_null() {
            let R: nalgebra::Matrix3<f64> = matrix(&state["R"]);
            x.extend(R.as_slice());
        }
    }
    x
}

/// Poses, twists, Jacobians and their rates, of all bodies that a case lists.
pub fn kinematics(file: &mut File, data: &Value) {
    let model = model(&data["system"]);
    let mut workspace = Workspace::new(&model);
    let mut J = Matrix6xX::zeros(model.dof());
    for case in array(&data["cases"]) {
        let x = configuration(&data["system"], &case["state"]);
        workspace.update(&model, &x, &numbers(&case["xi"]));
        workspace.update_jacobians(&model);
        let expected = &case["expected"];
        for body in model.bodies() {
            let name = model.name(body);
            let mut compare = |what: &str, got: DMatrix<f64>| {
                let expected = &expected[what][name];
                if !expected.is_null() {
                    let scale = numbers(expected).iter().fold(1.0, |m, e| e.abs().max(m));
                    file.rows(what, &got, expected, 1e-11 * scale);
                }
            };
            let dynamic =
                |m: &Matrix6xX<f64>| DMatrix::from_column_slice(6, m.ncols(), m.as_slice());
            let G = workspace.pose(BodyId::WORLD, body).matrix();
            compare("G_0b", DMatrix::from_column_slice(4, 4, G.as_slice()));
            let xi = workspace.twist(BodyId::WORLD, body);
            compare("xi_0b", DMatrix::from_column_slice(6, 1, xi.as_slice()));
            workspace.jacobian(BodyId::WORLD, body, &mut J);
            compare("J_0b", dynamic(&J));
            workspace.jacobian_rate(BodyId::WORLD, body, &mut J);
            compare("Jdot_0b", dynamic(&J));
        }
    }
}
