//! Constraints between two frames, each fixed to a body.

use std::fmt::Debug;

use fly_lie::SE3;
use nalgebra::{Matrix6, RealField, Vector6};

use super::{Constraint, ConstraintKind, ConstraintSetError, EvaluatedState, Rows};
use crate::multibody::{BodyId, Model, UnknownBody, Workspace};

/// Frame A fixed to body a, frame B fixed to body b.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePair<T: RealField + Copy> {
    a: BodyId,
    b: BodyId,
    in_a: SE3<T>,
    in_b: SE3<T>,
}

/// The motion of B relative to A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relative<T: RealField + Copy> {
    /// The pose of B in A.
    pub pose: SE3<T>,
    /// The twist of B relative to A, in B.
    pub twist: Vector6<T>,
}

/// A scalar equation in the motion of B relative to A.
///
/// With the twist `X` the rate of the residual is `direction . X`, and its second derivative `direction . X_dot + drift`. As a wrench on B in
/// B, the direction is the reaction for a unit multiplier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equation<T: RealField + Copy> {
    pub residual: T,
    pub direction: Vector6<T>,
    pub drift: T,
    /// The required rate.
    pub target_rate: T,
}

/// At most six equations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equations<T: RealField + Copy> {
    all: [Equation<T>; 6],
    len: usize,
}

impl<T: RealField + Copy> Equations<T> {
    pub fn new() -> Self {
        let none = Equation {
            residual: T::zero(),
            direction: Vector6::zeros(),
            drift: T::zero(),
            target_rate: T::zero(),
        };
        Self {
            all: [none; 6],
            len: 0,
        }
    }

    pub fn push(&mut self, residual: T, direction: Vector6<T>, drift: T) {
        let equation = &mut self.all[self.len];
        (equation.residual, equation.direction, equation.drift) = (residual, direction, drift);
        self.len += 1;
    }

    pub fn push_rate(&mut self, direction: Vector6<T>, target_rate: T) {
        self.push(T::zero(), direction, T::zero());
        self.all[self.len - 1].target_rate = target_rate;
    }

    fn iter(&self) -> std::slice::Iter<'_, Equation<T>> {
        self.all[..self.len].iter()
    }
}

/// The equations between frames in terms of their relative motion.
pub(super) trait PairKind<T: RealField + Copy>: Debug + Send + Sync {
    fn equations(&self) -> usize;
    fn kind(&self, equation: usize) -> ConstraintKind;
    fn evaluate(&self, relative: &Relative<T>) -> Equations<T>;
}

/// A constraint between two frames.
#[derive(Clone, Debug)]
pub(super) struct Between<T: RealField + Copy, K> {
    pub pair: FramePair<T>,
    pub kind: K,
}

impl<T: RealField + Copy> FramePair<T> {
    /// Finds the bodies by name and places the frames on them.
    pub fn find(
        model: &Model<T>,
        constraint: &str,
        (a, in_a): (&str, &SE3<T>),
        (b, in_b): (&str, &SE3<T>),
    ) -> Result<Self, ConstraintSetError> {
        let constraint = || constraint.to_owned();
        if a == b {
            let body = a.to_owned();
            return Err(ConstraintSetError::SameBody {
                constraint: constraint(),
                body,
            });
        }
        for (body, frame) in [(a, in_a), (b, in_b)] {
            let mut numbers = frame
                .rotation
                .matrix()
                .iter()
                .chain(frame.translation.iter());
            if !numbers.all(nalgebra::ComplexField::is_finite) {
                return Err(ConstraintSetError::NotFinite {
                    constraint: constraint(),
                    what: format!("the frame in body `{body}`"),
                });
            }
        }
        let find = |name: &str| find_body(model, &constraint(), name);
        Ok(Self {
            a: find(a)?,
            b: find(b)?,
            in_a: *in_a,
            in_b: *in_b,
        })
    }

    fn relative(&self, workspace: &Workspace<T>) -> Relative<T> {
        let pose = workspace.pose(self.a, self.b);
        Relative {
            pose: self.in_a.inverse() * pose * self.in_b,
            twist: self.in_b.adjoint_inverse() * workspace.twist(self.a, self.b),
        }
    }

    /// The matrices that transform a wrench on B in B to the one on b in b, and to the opposite one on a in a.
    fn transports(&self, workspace: &Workspace<T>) -> (Matrix6<T>, Matrix6<T>) {
        let B_in_a = workspace.pose(self.a, self.b) * self.in_b;
        let transport = |G: &SE3<T>| G.adjoint_inverse().transpose();
        (transport(&self.in_b), -transport(&B_in_a))
    }
}

/// The body of this name.
pub(super) fn find_body<T: RealField + Copy>(
    model: &Model<T>,
    constraint: &str,
    name: &str,
) -> Result<BodyId, ConstraintSetError> {
    model.body_id(name).map_err(
        |UnknownBody { name, nearest }| ConstraintSetError::UnknownBody {
            constraint: constraint.to_owned(),
            name,
            nearest,
        },
    )
}

impl<T: RealField + Copy, K: PairKind<T>> Constraint<T> for Between<T, K> {
    fn equations(&self) -> usize {
        self.kind.equations()
    }

    fn kind(&self, equation: usize) -> ConstraintKind {
        self.kind.kind(equation)
    }

    fn evaluate(&self, motion: &EvaluatedState<'_, T>, rows: &mut Rows<'_, T>) {
        let FramePair { a, b, in_b, .. } = self.pair;
        let workspace = motion.workspace;
        let relative = self.pair.relative(workspace);
        let bias_acceleration = in_b.adjoint_inverse() * workspace.bias_acceleration(a, b);
        let (to_b, to_a) = self.pair.transports(workspace);
        let (J_a, J_b) = (workspace.body_jacobian(a), workspace.body_jacobian(b));
        for (k, equation) in self.kind.evaluate(&relative).iter().enumerate() {
            rows.residual[k] = equation.residual;
            rows.rate[k] = equation.direction.dot(&relative.twist) - equation.target_rate;
            rows.bias[k] = -(equation.direction.dot(&bias_acceleration) + equation.drift);
            rows.scale[k] = equation.direction.norm();
            let on_b = to_b * equation.direction;
            let on_a = to_a * equation.direction;
            for (j, column) in J_b.column_iter().enumerate() {
                rows.jacobian[(k, j)] = column.dot(&on_b);
            }
            if a != BodyId::WORLD {
                for (j, column) in J_a.column_iter().enumerate() {
                    rows.jacobian[(k, j)] += column.dot(&on_a);
                }
            }
        }
    }

    fn wrenches(
        &self,
        motion: &EvaluatedState<'_, T>,
        multipliers: &[T],
        apply: &mut dyn FnMut(BodyId, Vector6<T>),
    ) {
        let equations = self.kind.evaluate(&self.pair.relative(motion.workspace));
        let pairs = equations.iter().zip(multipliers);
        let wrench = pairs.fold(Vector6::zeros(), |sum, (equation, multiplier)| {
            sum + equation.direction * *multiplier
        });
        let (to_b, to_a) = self.pair.transports(motion.workspace);
        apply(self.pair.a, to_a * wrench);
        apply(self.pair.b, to_b * wrench);
    }
}
