//! Projection of configurations and velocities onto the constraints.

use std::borrow::Cow;

use nalgebra::{DMatrix, RealField, convert};

use super::workspace::to_f64;
use super::{ConstraintError, ConstraintKind, ConstraintSet, ConstraintWorkspace, EvaluatedState};
use crate::multibody::{BodyId, Model, Workspace};

const STEPS: usize = 50;

/// # Projection
///
/// For consistent initial conditions: project first the configuration, then the velocity. To hold coordinates while the others adapt,
/// [`hold`](Self::hold) them, or add a [`Coupling::lock`](super::Coupling::lock) to the constraints.
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// The velocity coordinates along which the following projections move nothing: none at first.
    ///
    /// # Panics
    /// The projections, if there is no such coordinate.
    pub fn hold(&mut self, coordinates: &[usize]) {
        self.held.clear();
        self.held.extend_from_slice(coordinates);
    }

    /// Moves a configuration onto the holonomic constraints by Newton's method, `x <- x exp(-Z^+ psi)`, shortening steps that do not reduce the
    /// violation; never leaves the joints' groups. Returns the number of steps.
    ///
    /// Each step has least norm in the velocity coordinates. Converges to round-off: a residual of some 1e-12 of the largest distance in the
    /// system (1 m at least).
    ///
    /// # Errors
    /// [`ConstraintError::NotConverged`], [`ConstraintError::NotFinite`], with the name of the most violated constraint. The configuration is
    /// then the best one found.
    ///
    /// # Panics
    /// If the length of `x` is not [`Model::config_dim`].
    pub fn project_configuration(
        &mut self,
        constraints: &ConstraintSet<T>,
        model: &Model<T>,
        workspace: &mut Workspace<T>,
        x: &mut [T],
        time: T,
    ) -> Result<usize, ConstraintError> {
        self.violation(constraints, model, workspace, x, time)?;
        for steps in 0..STEPS {
            if self.residual.amax() <= rounding(workspace) {
                return Ok(steps);
            }
            self.inverse.tolerance = self.tolerance;
            self.inverse
                .decompose_scaled(&self.holonomic, self.scale.as_slice());
            self.inverse
                .apply_transposed(&self.residual, &mut self.step);
            // Far from the target angle the linearised equation may point beyond several turns.
            let longest = size(workspace);
            let length = self.step.amax();
            let part = if length > longest {
                longest / length
            } else {
                T::one()
            };
            self.step.scale_mut(-part);
            if !self.descend(constraints, model, workspace, x, time)? {
                return Err(self.not_converged(constraints, "configuration", steps + 1));
            }
        }
        Err(self.not_converged(constraints, "configuration", STEPS))
    }

    /// Moves `x` along the step, shortened until the violation decreases; returns `false` if it never does.
    fn descend(
        &mut self,
        constraints: &ConstraintSet<T>,
        model: &Model<T>,
        workspace: &mut Workspace<T>,
        x: &mut [T],
        time: T,
    ) -> Result<bool, ConstraintError> {
        let before = self.residual.norm_squared();
        self.start.copy_from_slice(x);
        for _ in 0..30 {
            model.integrate(x, self.step.as_slice());
            let found = self.violation(constraints, model, workspace, x, time);
            if found.is_ok() && self.residual.norm_squared() < before {
                return Ok(true);
            }
            x.copy_from_slice(&self.start);
            self.step.scale_mut(convert(0.5));
        }
        self.violation(constraints, model, workspace, x, time)?;
        Ok(false)
    }

    /// `psi` and `Z` of the holonomic equations at rest in `x`, with zeros in all other rows.
    fn violation(
        &mut self,
        constraints: &ConstraintSet<T>,
        model: &Model<T>,
        workspace: &mut Workspace<T>,
        x: &[T],
        time: T,
    ) -> Result<(), ConstraintError> {
        let rest = std::mem::take(&mut self.rest);
        self.update(
            constraints,
            &EvaluatedState::new(model, workspace, x, &rest, time),
        );
        self.rest = rest;
        self.jacobian.transpose_to(&mut self.holonomic);
        for coordinate in &self.held {
            self.holonomic.row_mut(*coordinate).fill(T::zero());
        }
        for row in 0..constraints.equations() {
            if constraints.kind(row) == ConstraintKind::Nonholonomic {
                self.residual[row] = T::zero();
                self.holonomic.column_mut(row).fill(T::zero());
            }
            let mut numbers = self
                .holonomic
                .column(row)
                .into_iter()
                .chain([&self.residual[row]]);
            if !numbers.all(nalgebra::ComplexField::is_finite) {
                let (constraint, equation) = constraints.describe(row);
                return Err(ConstraintError::NotFinite {
                    constraint,
                    equation,
                });
            }
        }
        Ok(())
    }

    /// Replaces a velocity by the nearest one, in the metric `M`, that satisfies all constraints, holonomic and nonholonomic. With the mass matrix
    /// this is a plastic impact, and [`force`](ConstraintWorkspace::force) is then the impulse; with the identity, `xi - Z^+ (Z xi - r)`.
    ///
    /// # Errors
    /// [`ConstraintError`], with the constraint's name. Inconsistent constraints leave the velocity unchanged.
    ///
    /// # Panics
    /// If the size of `x`, `xi` or `M` is wrong.
    #[expect(clippy::too_many_arguments, reason = "a state is three of them")]
    pub fn project_velocity(
        &mut self,
        constraints: &ConstraintSet<T>,
        model: &Model<T>,
        workspace: &mut Workspace<T>,
        M: &DMatrix<T>,
        x: &[T],
        xi: &mut [T],
        time: T,
    ) -> Result<(), ConstraintError> {
        let mut M = Cow::Borrowed(M);
        for coordinate in &self.held {
            let M = M.to_mut();
            M.row_mut(*coordinate).fill(T::zero());
            M.column_mut(*coordinate).fill(T::zero());
            M[(*coordinate, *coordinate)] = T::one();
        }
        // One step for equations linear in the velocity; others, such as (3.80c), may need more.
        for _ in 0..STEPS {
            self.update(
                constraints,
                &EvaluatedState::new(model, workspace, x, xi, time),
            );
            for coordinate in &self.held {
                self.jacobian.column_mut(*coordinate).fill(T::zero());
            }
            self.vector.copy_from_slice(xi);
            self.target.copy_from(&self.rate);
            self.target.neg_mut();
            self.target
                .gemv(T::one(), &self.jacobian, &self.vector, T::one());
            let solved = self
                .program
                .nearest(&M, &self.vector, &self.jacobian, &self.target);
            self.check(constraints, solved, "velocity")?;
            xi.copy_from_slice(self.program.point().as_slice());
            self.update(
                constraints,
                &EvaluatedState::new(model, workspace, x, xi, time),
            );
            let fastest = xi.iter().fold(T::one(), |most, xi| most.max(xi.abs()));
            // If redundant equations are slightly inconsistent, a residual remains, which the check has accepted.
            let left = self.program.residual().amax();
            if self.rate.amax() <= left * convert(2.0) + rounding(workspace) * fastest {
                return Ok(());
            }
        }
        Err(self.not_converged(constraints, "velocity", STEPS))
    }

    fn not_converged(
        &self,
        constraints: &ConstraintSet<T>,
        what: &'static str,
        iterations: usize,
    ) -> ConstraintError {
        let violation = if what == "velocity" {
            &self.rate
        } else {
            &self.residual
        };
        let (constraint, equation) = constraints.describe(violation.iamax());
        ConstraintError::NotConverged {
            what,
            constraint,
            equation,
            residual: to_f64(violation.amax()),
            iterations,
        }
    }
}

/// The largest distance of a body from the origin, m, at least 1.
fn size<T: RealField + Copy>(workspace: &Workspace<T>) -> T {
    let kinematics = &workspace.kinematics;
    let bodies = (0..kinematics.tree.mounts.len()).map(BodyId::at);
    let distances = bodies.map(|body| kinematics.body_pose(body).translation.amax());
    distances.fold(T::one(), T::max)
}

/// The rounding error of a length in this configuration.
fn rounding<T: RealField + Copy>(workspace: &Workspace<T>) -> T {
    size(workspace) * T::default_epsilon() * convert(8192.0)
}
