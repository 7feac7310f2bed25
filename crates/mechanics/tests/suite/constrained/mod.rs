//! Constrained systems in motion.

// Every test binary that includes this file uses some of it.
#![allow(dead_code, non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{self, RungeKutta, Scheme};
use fly_mechanics::multibody::constraints::{
    ConstraintError, ConstraintSet, ConstraintWorkspace, EvaluatedState,
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
    integrator: RungeKutta<f64>,
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
            integrator: RungeKutta::new(&model, Scheme::RungeKutta4),
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
    pub fn motion(&mut self) -> EvaluatedState<'_, f64> {
        EvaluatedState::new(
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

    /// The classical scheme of Runge and Kutta on the group.
    pub fn step(&mut self, h: f64) {
        let mut motion = integrate::SystemState {
            time: self.time,
            configuration: std::mem::take(&mut self.x),
            velocity: std::mem::take(&mut self.xi),
        };
        let (model, constraints, tau) = (&self.model, &self.constraints, &self.tau);
        let (workspace, constrained) = (&mut self.workspace, &mut self.constrained);
        let dynamics = |stage: &integrate::SystemState<f64>, xi_dot: &mut [f64]| {
            let (x, xi) = (&stage.configuration, &stage.velocity);
            constrained
                .forward_dynamics(constraints, model, workspace, x, xi, stage.time, tau)
                .expect("a solution");
            xi_dot.copy_from_slice(constrained.acceleration().as_slice());
        };
        self.integrator.step(model, &mut motion, h, dynamics);
        self.time = motion.time;
        (self.x, self.xi) = (motion.configuration, motion.velocity);
    }
}

pub fn at(x: f64, y: f64, z: f64) -> SE3<f64> {
    SE3::new(SO3::identity(), Vector3::new(x, y, z))
}
