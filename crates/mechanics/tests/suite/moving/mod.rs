//! Systems with dual numbers that move from a state.

// Every test binary that includes this file uses some of it.
#![allow(dead_code)]

use fly_mechanics::SecondMoment;
use fly_mechanics::multibody::{Body, Damper, Joint, Model, ModelBuilder, Spring, Workspace};
use nalgebra::{RealField, Vector3};
use num_dual::Dual64;

use crate::random_tree::Random;

/// A system with dual numbers whose state moves along a velocity and an acceleration.
pub struct Moving {
    pub model: Model<Dual64>,
    pub workspace: Workspace<Dual64>,
}

impl Moving {
    pub fn new(model: &Model<f64>) -> Self {
        let model = model.cast::<Dual64>();
        Self {
            workspace: Workspace::new(&model),
            model,
        }
    }

    /// The state `x exp(eps along)`, `xi + eps rate`.
    pub fn start(&mut self, x: &[f64], along: &[f64], xi: &[f64], rate: &[f64]) {
        let mut x: Vec<_> = x.iter().map(|x| Dual64::from_re(*x)).collect();
        let step: Vec<_> = along.iter().map(|v| Dual64::new(0.0, *v)).collect();
        self.model.integrate(&mut x, &step);
        let pairs = xi.iter().zip(rate);
        let xi: Vec<_> = pairs.map(|(xi, rate)| Dual64::new(*xi, *rate)).collect();
        self.workspace.update(&self.model, &x, &xi);
        self.workspace.update_jacobians(&self.model);
    }
}

/// The unit vector `i` of `n` numbers.
pub fn unit(n: usize, i: usize) -> Vec<f64> {
    (0..n).map(|j| f64::from(u8::from(i == j))).collect()
}

/// The largest difference, relative to the largest number (at least 1).
pub fn error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(1.0, |m: f64, b| m.max(b.abs()));
    let pairs = a.iter().zip(b);
    // NaN must win, which f64::max would hide.
    pairs.fold(0.0, |m: f64, (a, b)| {
        let e = (a - b).abs() / scale;
        if e.is_nan() || e > m { e } else { m }
    })
}

/// The same tree with other joints on other bodies; without springs and dampers.
pub fn rebuilt<T: RealField + Copy>(
    model: &Model<T>,
    gravity: Vector3<T>,
    mut change: impl FnMut(Body<T>) -> Body<T>,
) -> ModelBuilder<T> {
    // In the order of the coordinates, which is that of the description.
    let mut bodies: Vec<_> = model.bodies().collect();
    bodies.sort_by_key(|body| (model.velocity_range(*body).start, body.index()));
    let mut builder = Model::builder().gravity(gravity);
    for id in bodies {
        let joint: Joint<T> = *model.joint(id).expect("a joint");
        let mut body = Body::new(model.name(id), joint)
            .parent(model.name(model.parent(id).expect("a parent")))
            .placed(*model.placement(id).expect("a placement"));
        if let Some(inertia) = model.inertia(id) {
            body = body.inertia(*inertia);
        }
        body.drag = model.drag(id).copied();
        builder = builder.body(change(body));
    }
    builder
}

/// Springs and dampers between any bodies of these names, some springs with an indefinite `K'`.
pub fn connected(
    mut builder: ModelBuilder<f64>,
    names: &[String],
    random: &mut Random,
) -> ModelBuilder<f64> {
    for i in 0..names.len().saturating_sub(1) {
        let a = random.index(names.len());
        let b = (a + 1 + random.index(names.len() - 1)) % names.len();
        let (a, b) = (names[a].clone(), names[b].clone());
        let points: Vec<_> = (0..3)
            .map(|_| (8.0 * random.next(), random.vector3(0.5)))
            .collect();
        let positive = points.iter().map(|(weight, h)| (weight.abs(), *h));
        if i % 2 == 0 {
            let damping = SecondMoment::from_points(positive);
            builder = builder.damper(Damper { a, b, damping });
        } else {
            let stiffness = SecondMoment::from_points(points.iter().copied());
            let rest = random.pose();
            builder = builder.spring(Spring {
                a,
                b,
                rest,
                stiffness,
            });
        }
    }
    builder
}

/// A random tree with springs and dampers between its bodies and the world, some of them indefinite.
pub fn system(seed: usize, bodies: usize) -> Model<f64> {
    changed_system(seed, bodies, |body| body)
}

/// The same system with drag on every second body.
pub fn system_with_drag(seed: usize, bodies: usize) -> Model<f64> {
    let (mut dragged, mut random) = (false, Random::new(seed + 3000));
    changed_system(seed, bodies, |body| {
        dragged = !dragged;
        if dragged {
            body.drag(random.drag())
        } else {
            body
        }
    })
}

fn changed_system(
    seed: usize,
    bodies: usize,
    change: impl FnMut(Body<f64>) -> Body<f64>,
) -> Model<f64> {
    let tree = crate::random_tree::tree::<f64>(seed, bodies);
    let mut names: Vec<_> = tree
        .bodies()
        .map(|body| tree.name(body).to_owned())
        .collect();
    names.push("world".to_owned());
    let builder = rebuilt(&tree, *tree.gravity(), change);
    let mut random = Random::new(seed + 1000);
    connected(builder, &names, &mut random)
        .build()
        .expect("a system")
}
