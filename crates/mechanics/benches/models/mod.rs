//! The models and states of the benchmark, which tests use too.

#![allow(dead_code)]

use std::path::PathBuf;

use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{Body, Joint, JointKind, Model};
use nalgebra::{Matrix3, Vector3};
use serde_json::Value;

/// A state, with an acceleration and forces.
#[derive(Clone, Debug)]
pub struct Sample {
    pub x: Vec<f64>,
    pub xi: Vec<f64>,
    pub xi_dot: Vec<f64>,
    pub tau: Vec<f64>,
}

fn read(file: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/data");
    std::fs::read_to_string(folder.join(file)).expect("a data file")
}

/// `arm6`, `quad` or `tri`.
pub fn bench_model(name: &str) -> Model<f64> {
    let models: Value = serde_json::from_str(&read("models.json")).expect("models");
    let bodies = models[name].as_array().expect("bodies");
    let mut builder = Model::builder();
    for body in bodies {
        let vector = |key: &str| Vector3::from_fn(|i, _| number(&body[key][i]));
        let joint = match body["joint"].as_str() {
            Some("rev") => Joint::revolute(vector("axis")).expect("an axis"),
            Some("sph") => Joint::spherical().with_quaternion(),
            _ => Joint::free().with_quaternion(),
        };
        let R = Matrix3::from_fn(|i, j| number(&body["R"][i][j]));
        let place = SE3::new(SO3::from_matrix(R), vector("p"));
        let moments = Matrix3::from_diagonal(&vector("I"));
        let inertia = PseudoInertia::from_center(number(&body["m"]), vector("com"), moments);
        let name = body["name"].as_str().expect("a name");
        let mut body_of_model = Body::new(name, joint)
            .placed(place)
            .inertia(inertia.expect("an inertia"));
        if let Some(parent) = body["parent"].as_u64() {
            let parent = usize::try_from(parent).expect("an index");
            body_of_model = body_of_model.parent(bodies[parent]["name"].as_str().expect("a name"));
        }
        builder = builder.body(body_of_model);
    }
    builder.build().expect("a model")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The file's states, whose quaternions are `x, y, z, w`.
pub fn samples(name: &str, model: &Model<f64>) -> Vec<Sample> {
    let text = read(&format!("{name}.samples"));
    text.lines().map(|line| sample(line, model)).collect()
}

fn sample(line: &str, model: &Model<f64>) -> Sample {
    let mut numbers = line
        .split_whitespace()
        .map(|n| n.parse().expect("a number"));
    let mut take = |n: usize| -> Vec<f64> { numbers.by_ref().take(n).collect() };
    let n = model.dof();
    let mut sample = Sample {
        x: take(model.config_dim()),
        xi: take(n),
        xi_dot: take(n),
        tau: take(n),
    };
    assert!(sample.tau.len() == n && numbers.next().is_none());
    for body in model.bodies() {
        let x = &mut sample.x[model.config_range(body)];
        match model.joint(body).expect("a joint").kind() {
            JointKind::Free(_) => x[3..].rotate_right(1),
            JointKind::Spherical(_) => x.rotate_right(1),
            _ => {}
        }
    }
    sample
}
