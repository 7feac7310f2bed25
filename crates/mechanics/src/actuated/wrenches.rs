//! Wrenches on the bodies of a system, one per body.

use nalgebra::Vector6;

use crate::multibody::{BodyId, ExternalWrench, Model, Workspace};

/// A wrench `[f; tau]` on the world and every body, in the body's frame, N and N m.
#[derive(Clone, Debug)]
pub(super) struct BodyWrenches(Vec<ExternalWrench<f64>>);

impl BodyWrenches {
    /// Zero.
    pub fn new(model: &Model<f64>) -> Self {
        let bodies = std::iter::once(BodyId::WORLD).chain(model.bodies());
        let zero = |body| ExternalWrench::new(body, Vector6::zeros());
        Self(bodies.map(zero).collect())
    }

    pub fn clear(&mut self) {
        for each in &mut self.0 {
            each.wrench.fill(0.0);
        }
    }

    pub fn add(&mut self, body: BodyId, wrench: &Vector6<f64>) {
        self.0[body.index()].wrench += wrench;
    }

    /// Adds all of these; consecutive wrenches on one body are summed first.
    #[inline]
    pub fn extend(&mut self, wrenches: impl Iterator<Item = (BodyId, Vector6<f64>)>) {
        let (mut body, mut sum) = (BodyId::WORLD, Vector6::zeros());
        for (next, wrench) in wrenches {
            if next != body {
                self.add(body, &sum);
                (body, sum) = (next, Vector6::zeros());
            }
            sum += wrench;
        }
        self.add(body, &sum);
    }

    /// Those that act beside this force along the velocity coordinates, the world's first. That on a system's one free body is such a force, and is added to it.
    #[inline]
    pub fn beside(&self, model: &Model<f64>, force: &mut [f64]) -> &[ExternalWrench<f64>] {
        let ([_, on_body], true) = (&self.0[..], model.is_one_free_body()) else {
            return &self.0;
        };
        for (force, wrench) in force.iter_mut().zip(&on_body.wrench) {
            *force += wrench;
        }
        &[]
    }

    /// Adds the generalised force, after [`Workspace::update_jacobians`].
    pub fn add_force(&self, workspace: &Workspace<f64>, force: &mut [f64]) {
        for each in &self.0 {
            workspace.add_wrench(each.frame.body(), &each.wrench, force);
        }
    }
}
