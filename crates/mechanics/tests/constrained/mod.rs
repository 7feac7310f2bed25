//! Constrained systems in motion.

// Every test binary that includes this file uses some of it.
#![allow(dead_code)]

use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ConstraintError, ConstraintSet, ConstraintWorkspace, Motion,
};
use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{DMatrix, Vector3};

/// A system with its constraints and a state.
pub struct Simulation {
    pub model: Model<f64>,
    pub constraints: ConstraintSet<f64>,
    pub workspace: Workspace<f64>,
    pub constrained: ConstraintWorkspace<f64>,
    pub x: Vec<f64>,
    pub xi: Vec<f64>,
    pub time: f64,
    pub tau: Vec<f64>,
}

impl Simulation {
    pub fn new(
        model: Model<f64>,
        constraints: ConstraintSet<f64>,
        x: Vec<f64>,
        xi: Vec<f64>,
    ) -> Self {
        Self {
            workspace: Workspace::new(&model),
            constrained: ConstraintWorkspace::new(&constraints),
            tau: vec![0.0; model.dof()],
            time: 0.0,
            model,
            constraints,
            x,
            xi,
        }
    }

    /// Solves in the present state.
    pub fn solve(&mut self) -> Result<(), ConstraintError> {
        self.constrained.forward_dynamics(
            &self.constraints,
            &self.model,
            &mut self.workspace,
            &self.x,
            &self.xi,
            self.time,
            &self.tau,
        )
    }

    /// Moves the state onto the constraints.
    pub fn project(&mut self) -> Result<(), ConstraintError> {
        let (constraints, model) = (&self.constraints, &self.model);
        let workspace = &mut self.workspace;
        self.constrained.project_configuration(
            constraints,
            model,
            workspace,
            &mut self.x,
            self.time,
        )?;
        let mut M = DMatrix::zeros(model.dof(), model.dof());
        model.mass_matrix(workspace, &self.x, &mut M);
        self.constrained.project_velocity(
            constraints,
            model,
            workspace,
            &M,
            &self.x,
            &mut self.xi,
            self.time,
        )
    }

    /// The present motion; the workspace holds it.
    pub fn motion(&mut self) -> Motion<'_, f64> {
        Motion::new(
            &self.model,
            &mut self.workspace,
            &self.x,
            &self.xi,
            self.time,
        )
    }

    pub fn energy(&mut self) -> f64 {
        self.workspace.update(&self.model, &self.x, &self.xi);
        self.workspace.energy(&self.model)
    }

    /// The classical Runge-Kutta scheme in the redundant coordinates.
    pub fn step(&mut self, h: f64) {
        let (x, xi, time) = (self.x.clone(), self.xi.clone(), self.time);
        let (mut x_sum, mut xi_sum) = (vec![0.0; x.len()], vec![0.0; xi.len()]);
        let mut x_rate = vec![0.0; x.len()];
        let add = |to: &mut [f64], from: &[f64], by: f64| {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to += by * from);
        };
        for (ahead, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            if ahead > 0.0 {
                // The slopes of the stage before.
                let xi_rate = self.constrained.acceleration().clone();
                self.x.copy_from_slice(&x);
                add(&mut self.x, &x_rate, ahead * h);
                self.xi.copy_from_slice(&xi);
                add(&mut self.xi, xi_rate.as_slice(), ahead * h);
                self.time = time + ahead * h;
            }
            self.solve().expect("a solution");
            self.model
                .configuration_rate(&self.x, &self.xi, &mut x_rate);
            add(&mut x_sum, &x_rate, weight / 6.0);
            add(
                &mut xi_sum,
                self.constrained.acceleration().as_slice(),
                weight / 6.0,
            );
        }
        self.x.copy_from_slice(&x);
        add(&mut self.x, &x_sum, h);
        self.model.normalize(&mut self.x);
        self.xi.copy_from_slice(&xi);
        add(&mut self.xi, &xi_sum, h);
        self.time = time + h;
    }
}

pub fn at(x: f64, y: f64, z: f64) -> SE3<f64> {
    SE3::new(SO3::identity(), Vector3::new(x, y, z))
}
