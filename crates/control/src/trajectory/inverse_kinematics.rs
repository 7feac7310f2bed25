//! Inverse kinematics: the joint motion that moves a body, or a point of it, along a target.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{BodyId, Joint, Model, Workspace};
use nalgebra::{DVector, Matrix6xX, Vector3, Vector6};

use super::jet::{Jet, derivative};
use super::{Infeasible, Path, Trajectory};
use crate::SystemPoint;
use crate::transport::jacobian::{PointJacobian, left_inverse};

/// A body or point and its target motion.
pub enum Target {
    /// A point of a body, m in its frame, follows a path in the world.
    Point(Vector3<f64>, Box<dyn Path>),
    /// A body follows a trajectory in the world.
    Pose(Box<dyn Trajectory>),
}

/// A reference by inverse kinematics, including velocity and acceleration: `xi_R = J^+ z_R`, `xi_R_dot = J^+ (z_R_dot - J_dot xi_R)`.
///
/// Newton's method finds the configuration from the previous one, so that it stays on its branch (elbow up or down). The Jacobian must have
/// independent columns. Unreachable targets and singular configurations are errors.
pub struct InverseKinematics {
    model: Model<f64>,
    workspace: Workspace<f64>,
    body: BodyId,
    target: Target,
    start: Vec<f64>,
    configuration: Vec<f64>,
    /// The last one that reached its target.
    reached: Vec<f64>,
    step: Vec<f64>,
    velocity: DVector<f64>,
    point: PointJacobian,
    J: Matrix6xX<f64>,
    J_dot: Matrix6xX<f64>,
    /// The velocities free to move the body, whose columns of J are used.
    moving: Vec<usize>,
    /// Of these, where in `moving`, those that turn.
    turning: Vec<usize>,
    columns: Matrix6xX<f64>,
}

/// Why a target does not determine the joint motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDetermined {
    /// Only held joints move the body.
    #[error("no joint moves it")]
    Fixed,
    /// More velocities move the body than the target prescribes.
    #[error("the target prescribes {rows} of the {found} degrees of freedom that move it")]
    Redundant {
        /// Components that the target prescribes: 3 for a point, 6 for a pose.
        rows: usize,
        /// Velocities that move the body.
        found: usize,
    },
}

/// The most Newton steps; each doubles the digits near the solution.
const STEPS: usize = 50;

impl InverseKinematics {
    /// For this body (or a point of it), from a configuration near the first target.
    ///
    /// # Errors
    /// [`NotDetermined`] if too many joints move the body, or none.
    ///
    /// # Panics
    /// If the length of `start` is not that of the model's configuration.
    pub fn new(
        model: Model<f64>,
        body: BodyId,
        target: Target,
        start: &[f64],
    ) -> Result<Self, NotDetermined> {
        Self::holding(model, body, target, start, &[])
    }

    /// The same with the joints of these bodies held where they are in `start`, as are all joints that are not between
    /// the world and the body.
    ///
    /// # Errors
    /// As [`InverseKinematics::new`].
    ///
    /// # Panics
    /// As [`InverseKinematics::new`].
    pub fn holding(
        model: Model<f64>,
        body: BodyId,
        target: Target,
        start: &[f64],
        held: &[BodyId],
    ) -> Result<Self, NotDetermined> {
        assert_eq!(start.len(), model.config_dim(), "length of the start");
        let n = model.dof();
        let chain = std::iter::successors(Some(body), |body| model.parent(*body));
        let mut moving = Vec::new();
        for body in chain.filter(|body| !held.contains(body)) {
            let translations = model.joint(body).map_or(0, Joint::translations);
            let velocities = model.velocity_range(body).enumerate();
            moving.extend(velocities.map(|(k, velocity)| (velocity, k >= translations)));
        }
        moving.sort_unstable();
        let turning = (0..moving.len()).filter(|i| moving[*i].1).collect();
        let moving: Vec<usize> = moving.into_iter().map(|(velocity, _)| velocity).collect();
        let rows = match target {
            Target::Point(..) => 3,
            Target::Pose(_) => 6,
        };
        match moving.len() {
            0 => return Err(NotDetermined::Fixed),
            found if found > rows => return Err(NotDetermined::Redundant { rows, found }),
            _ => {}
        }
        Ok(Self {
            columns: Matrix6xX::zeros(moving.len()),
            moving,
            turning,
            workspace: Workspace::new(&model),
            body,
            target,
            start: start.to_vec(),
            configuration: start.to_vec(),
            reached: start.to_vec(),
            step: vec![0.0; n],
            velocity: DVector::zeros(n),
            point: PointJacobian::new(n),
            J: Matrix6xX::zeros(n),
            J_dot: Matrix6xX::zeros(n),
            model,
        })
    }

    /// The target at time `t`, compared with the body's pose in the workspace.
    fn goal(&mut self, t: f64) -> Result<Goal, Infeasible> {
        let pose = self.workspace.pose(BodyId::WORLD, self.body);
        match &mut self.target {
            Target::Point(point, path) => {
                let path = path.at(t).position;
                Infeasible::expect_finite(t, path.iter().all(Jet::is_finite))?;
                let pad = |v: Vector3<f64>| Vector6::new(v.x, v.y, v.z, 0.0, 0.0, 0.0);
                Ok(Goal {
                    error: pad(derivative(&path, 0) - pose.act(point)),
                    velocity: pad(derivative(&path, 1)),
                    acceleration: pad(derivative(&path, 2)),
                })
            }
            Target::Pose(trajectory) => {
                let goal = trajectory.sample(t)?;
                let E = pose.inverse() * goal.pose;
                Ok(Goal {
                    error: E.log(),
                    // On target the two frames coincide.
                    velocity: goal.twist,
                    acceleration: goal.acceleration,
                })
            }
        }
    }

    /// The Jacobian and its rate, 6 x n; only the first three rows for a point.
    fn jacobians(&mut self) {
        self.workspace.update_jacobians(&self.model);
        match &self.target {
            Target::Point(point, _) => {
                self.point
                    .update(&self.workspace, BodyId::WORLD, self.body, point);
                self.J.fill(0.0);
                self.J_dot.fill(0.0);
                self.J.fixed_rows_mut::<3>(0).copy_from(&self.point.value);
                self.J_dot
                    .fixed_rows_mut::<3>(0)
                    .copy_from(&self.point.rate);
            }
            Target::Pose(_) => {
                self.workspace
                    .jacobian(BodyId::WORLD, self.body, &mut self.J);
                self.workspace
                    .jacobian_rate(BodyId::WORLD, self.body, &mut self.J_dot);
            }
        }
        for (i, j) in self.moving.iter().enumerate() {
            self.columns.set_column(i, &self.J.column(*j));
        }
    }

    /// Expands the moving velocities to those of all joints.
    fn spread(moving: &[usize], from: &Vector6<f64>, to: &mut [f64]) {
        for (i, from) in moving.iter().zip(from.iter()) {
            to[*i] = *from;
        }
    }

    fn singular(&self, time: f64) -> Infeasible {
        Infeasible::Singular {
            time,
            body: self.model.name(self.body).to_owned(),
        }
    }
}

struct Goal {
    error: Vector6<f64>,
    velocity: Vector6<f64>,
    acceleration: Vector6<f64>,
}

impl InverseKinematics {
    /// Moves the configuration to the target, and writes the motion there.
    fn follow(&mut self, t: f64, out: &mut SystemPoint) -> Result<(), Infeasible> {
        self.velocity.fill(0.0);
        let mut distance = f64::INFINITY;
        for _ in 0..STEPS {
            self.workspace
                .update(&self.model, &self.configuration, self.velocity.as_slice());
            let error = self.goal(t)?.error;
            distance = error.norm();
            // The rounding error of lengths of a metre.
            if distance < 1e-14 || !distance.is_finite() {
                break;
            }
            self.jacobians();
            let inverse = left_inverse(&self.columns.as_view()).ok_or_else(|| self.singular(t))?;
            let step = inverse * error;
            Self::spread(&self.moving, &step, &mut self.step);
            // At most half a radian at once: far from the solution Newton steps are unreliable.
            let turn = self.turning.iter().map(|i| step[*i].abs());
            let turn = turn.fold(0.0, f64::max);
            if turn > 0.5 {
                self.step.iter_mut().for_each(|s| *s *= 0.5 / turn);
            }
            self.model.integrate(&mut self.configuration, &self.step);
            if step.amax() < 1e-15 {
                break;
            }
        }
        if distance.is_nan() || distance > 1e-10 {
            return Err(Infeasible::Unreachable {
                time: t,
                body: self.model.name(self.body).to_owned(),
                distance,
            });
        }

        self.workspace
            .update(&self.model, &self.configuration, self.velocity.as_slice());
        self.jacobians();
        let goal = self.goal(t)?;
        let inverse = left_inverse(&self.columns.as_view()).ok_or_else(|| self.singular(t))?;
        let velocity = inverse * goal.velocity;
        Self::spread(&self.moving, &velocity, self.velocity.as_mut_slice());
        // The Jacobian's rate along the motion.
        self.workspace
            .update(&self.model, &self.configuration, self.velocity.as_slice());
        self.jacobians();
        let acceleration = inverse * (goal.acceleration - &self.J_dot * &self.velocity);
        out.configuration.copy_from_slice(&self.configuration);
        out.velocity.copy_from_slice(self.velocity.as_slice());
        out.acceleration.fill(0.0);
        Self::spread(&self.moving, &acceleration, &mut out.acceleration);
        Ok(())
    }
}

impl Trajectory<SystemPoint> for InverseKinematics {
    fn at(&mut self, t: f64, out: &mut SystemPoint) -> Result<(), Infeasible> {
        self.reached.copy_from_slice(&self.configuration);
        let found = self.follow(t, out);
        if found.is_err() {
            // The search may have ended on another branch.
            self.configuration.copy_from_slice(&self.reached);
        }
        found
    }

    fn duration(&self) -> Option<f64> {
        match &self.target {
            Target::Point(_, path) => path.duration(),
            Target::Pose(trajectory) => trajectory.duration(),
        }
    }

    fn restart(&mut self) {
        self.configuration.copy_from_slice(&self.start);
        if let Target::Pose(trajectory) = &mut self.target {
            trajectory.restart();
        }
    }
}
