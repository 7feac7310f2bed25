//! References of rolling systems.
#![allow(non_snake_case)]

use std::ops::Range;

use fly_mechanics::multibody::constraints::{ConstraintSetError, EvaluatedState};
use fly_mechanics::multibody::{Model, Workspace};
use fly_mechanics::{PseudoInverse, System};
use nalgebra::{DMatrix, DVector};

use super::{Infeasible, Trajectory};
use crate::SystemPoint;
use crate::constrained::Projection;

/// A rolling system along a trajectory of some of its joints: the others (its wheels) turn such that nothing slips, `Z xi_R = 0`, and have the integrated
/// positions.
///
/// The positions are integrated from the previous instant, by Simpson's rule in steps of at most 20 ms.
pub struct RollingTrajectory<T> {
    given: T,
    model: Model<f64>,
    workspace: Workspace<f64>,
    projection: Projection,
    /// The velocities determined by the constraints.
    led: Vec<usize>,
    columns: DMatrix<f64>,
    inverse: PseudoInverse<f64>,
    missing: DVector<f64>,
    follow: DVector<f64>,
    /// Time, configuration and velocity of the previous instant.
    last: Option<f64>,
    turned: Vec<f64>,
    room: SystemPoint,
    step: Vec<f64>,
}

/// The step of Simpson's rule, s.
const STEP: f64 = 0.02;
/// A slip below this fraction of the speed counts as rolling.
const ROLLS: f64 = 1e-9;

impl<T: Trajectory<SystemPoint>> RollingTrajectory<T> {
    /// For a system with rolling contacts, along `given`, which prescribes the velocities `moved`; `None` if nothing
    /// rolls.
    ///
    /// # Errors
    /// [`ConstraintSetError`].
    pub fn new(
        system: &System,
        given: T,
        moved: &Range<usize>,
    ) -> Result<Option<Self>, ConstraintSetError> {
        let Some(mut projection) = Projection::new(system)? else {
            return Ok(None);
        };
        let model = system.model.clone();
        let (n, mut workspace) = (model.dof(), Workspace::new(&model));
        let (x, rest) = (model.neutral_configuration(), vec![0.0; n]);
        projection.update(&EvaluatedState::new(&model, &mut workspace, &x, &rest, 0.0));
        let (Z, _) = projection.equations();
        let rolls = |j: &usize| Z.column(*j).amax() > 0.0;
        let led: Vec<_> = (0..n)
            .filter(|j| !moved.contains(j))
            .filter(rolls)
            .collect();
        let equations = Z.nrows();
        Ok(Some(Self {
            columns: DMatrix::zeros(equations, led.len()),
            inverse: PseudoInverse::new(equations, led.len()),
            missing: DVector::zeros(equations),
            follow: DVector::zeros(led.len()),
            last: None,
            turned: x,
            room: SystemPoint::new(&model),
            step: rest,
            given,
            led,
            projection,
            workspace,
            model,
        }))
    }

    /// Completes the point at this instant, with the integrated positions of the dependent joints.
    fn fill(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        self.given.at(t, point)?;
        for body in self.model.bodies() {
            let velocities = self.model.velocity_range(body);
            if velocities.clone().any(|j| self.led.contains(&j)) {
                let range = self.model.config_range(body);
                point.configuration[range.clone()].copy_from_slice(&self.turned[range]);
            }
        }
        for j in &self.led {
            (point.velocity[*j], point.acceleration[*j]) = (0.0, 0.0);
        }
        self.place(point);
        let (Z, _) = self.projection.equations();
        for (i, j) in self.led.iter().enumerate() {
            self.columns.set_column(i, &Z.column(*j));
        }
        self.inverse.decompose(&self.columns);
        self.missing.fill(0.0);
        for (j, xi) in point.velocity.iter().enumerate() {
            self.missing.axpy(-xi, &Z.column(j), 1.0);
        }
        let needed = self.missing.amax();
        self.inverse.apply(&self.missing, &mut self.follow);
        self.missing.gemv(-1.0, &self.columns, &self.follow, 1.0);
        let slip = self.missing.amax();
        if slip > ROLLS * (1.0 + needed) {
            return Err(Infeasible::Slips {
                time: t,
                speed: slip,
            });
        }
        for (j, xi) in self.led.iter().zip(&self.follow) {
            point.velocity[*j] = *xi;
        }
        // Z xi_dot = b at that velocity.
        self.place(point);
        let (Z, b) = self.projection.equations();
        self.missing.copy_from(b);
        for (j, xi_dot) in point.acceleration.iter().enumerate() {
            self.missing.axpy(-xi_dot, &Z.column(j), 1.0);
        }
        self.inverse.apply(&self.missing, &mut self.follow);
        for (j, xi_dot) in self.led.iter().zip(&self.follow) {
            point.acceleration[*j] = *xi_dot;
        }
        Ok(())
    }

    fn place(&mut self, point: &SystemPoint) {
        self.projection.update(&EvaluatedState::new(
            &self.model,
            &mut self.workspace,
            &point.configuration,
            &point.velocity,
            0.0,
        ));
    }

    /// Integrates the dependent joints from one instant to another.
    fn turn(&mut self, from: f64, to: f64) -> Result<(), Infeasible> {
        let mut room = std::mem::take(&mut self.room);
        self.step.fill(0.0);
        let mut found = Ok(());
        for (part, weight) in [(0.0, 1.0), (0.5, 4.0), (1.0, 1.0)] {
            found = found.and_then(|()| self.fill(from + part * (to - from), &mut room));
            for j in &self.led {
                self.step[*j] += weight / 6.0 * (to - from) * room.velocity[*j];
            }
        }
        self.room = room;
        found?;
        self.model.integrate(&mut self.turned, &self.step);
        Ok(())
    }
}

impl<T: Trajectory<SystemPoint>> Trajectory<SystemPoint> for RollingTrajectory<T> {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        if !t.is_finite() {
            return Err(Infeasible::NoTime { time: t });
        }
        let Some(mut from) = self.last else {
            // Initial positions.
            self.given.at(t, point)?;
            self.turned.copy_from_slice(&point.configuration);
            self.last = Some(t);
            return self.fill(t, point);
        };
        while from != t {
            let to = if (t - from).abs() > STEP {
                from + STEP.copysign(t - from)
            } else {
                t
            };
            self.turn(from, to)?;
            from = to;
            self.last = Some(to);
        }
        self.fill(t, point)
    }

    fn duration(&self) -> Option<f64> {
        self.given.duration()
    }

    fn restart(&mut self) {
        self.given.restart();
        self.last = None;
    }
}
