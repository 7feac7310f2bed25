//! Templates of systems, with all that they need.

#![allow(non_snake_case)]

use super::common::Random;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Template};
use fly_control::transport::TransportMap;
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use nalgebra::{DVector, Matrix4, Vector3, Vector4};

/// A moment in the plane: a weight in the origin and a moment about z, Konz 5.7.2, (5.109).
pub fn planar(weight: f64, about_z: f64) -> Matrix4<f64> {
    let p = about_z / 2.0;
    Matrix4::from_diagonal(&Vector4::new(p, p, -p, weight))
}

/// A template with all that it needs.
pub struct Desired {
    pub model: Model<f64>,
    pub template: Template<Model<f64>>,
    pub actual: Workspace<f64>,
    pub reference: Workspace<f64>,
    pub motion: DesiredMotion,
}

impl Desired {
    pub fn new(
        model: Model<f64>,
        approach: Approach,
        pairs: Vec<SystemPair>,
        map: Box<dyn TransportMap>,
    ) -> Self {
        Self {
            template: Template::of_system(&model, approach, pairs, map),
            actual: Workspace::new(&model),
            reference: Workspace::new(&model),
            motion: DesiredMotion::new(&model),
            model,
        }
    }

    pub fn at(&mut self, x: &[f64], xi: &[f64], goal: &SystemReference<'_>) -> &DesiredMotion {
        self.actual.update(&self.model, x, xi);
        self.actual.update_jacobians(&self.model);
        self.template
            .evaluate(
                &self.model,
                &self.actual,
                xi,
                &mut self.reference,
                goal,
                &mut self.motion,
            )
            .expect("a map");
        &self.motion
    }

    pub fn acceleration(
        &mut self,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> DVector<f64> {
        let desired = self.at(x, xi, goal);
        let mass = desired.mass_matrix.clone().cholesky();
        -mass.expect("a desired mass").solve(&desired.bias)
    }
}

/// Hinges about parallel axes, one on the other, half a metre apart.
pub fn hinges(count: usize) -> Model<f64> {
    let apart = SE3::new(SO3::identity(), Vector3::new(0.5, 0.0, 0.0));
    let mut builder = Model::builder();
    for i in 0..count {
        let hinge = Joint::revolute(Vector3::z()).expect("an axis");
        let mut body = Body::new(i.to_string(), hinge);
        if i > 0 {
            body = body.parent((i - 1).to_string()).placed(apart);
        }
        builder = builder.body(body);
    }
    builder.build().expect("a model")
}

/// State and reference at random: configuration and velocity, and of the reference the acceleration, too.
pub struct Moment {
    pub x: Vec<f64>,
    pub xi: Vec<f64>,
    pub x_R: Vec<f64>,
    pub xi_R: Vec<f64>,
    pub xi_dot_R: Vec<f64>,
}

impl Moment {
    /// Configurations up to `size` from the neutral one.
    pub fn new(model: &Model<f64>, random: &mut Random, size: f64) -> Self {
        let mut numbers =
            |size: f64| -> Vec<f64> { (0..model.dof()).map(|_| random.next() * size).collect() };
        let [mut x, mut x_R] = [(); 2].map(|()| model.neutral_configuration());
        model.integrate(&mut x, &numbers(size));
        model.integrate(&mut x_R, &numbers(size));
        Self {
            x,
            xi: numbers(2.0),
            x_R,
            xi_R: numbers(2.0),
            xi_dot_R: numbers(3.0),
        }
    }

    pub fn goal(&self) -> SystemReference<'_> {
        SystemReference {
            configuration: &self.x_R,
            velocity: &self.xi_R,
            acceleration: &self.xi_dot_R,
        }
    }
}
