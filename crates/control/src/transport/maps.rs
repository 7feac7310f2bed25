//! Transport maps of systems of bodies.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::multibody::{BodyId, JointKind, Model, Workspace};
use nalgebra::{DVector, Matrix6xX, Vector3, Vector6};

use super::jacobian::{PointJacobian, left_inverse};
use super::{Map, Transport, adjoint, centred};
use crate::system::SystemPair;

/// Why a transport map does not exist or does not match.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The task's Jacobian is rank-deficient in this configuration.
    #[error(
        "the transport map needs a Jacobian with independent columns, but that of `{body}` relative to `{base}` is singular here; keep away from \
         this configuration, or use another map"
    )]
    Singular {
        /// The body a.
        base: String,
        /// The body b.
        body: String,
    },
    /// The Jacobian of the error coordinates is rank-deficient.
    #[error(
        "the error coordinates determine only {rank} of {dof} degrees of freedom here: keep away from this configuration, or use more of them, Konz (B.41)"
    )]
    ErrorCoordinates {
        /// The rank of their Jacobian.
        rank: usize,
        /// n.
        dof: usize,
    },
    /// The map does not match the potential: (5.43) is violated.
    #[error(
        "the transport map does not fit the potential: grad_R V + Q^T grad V should vanish, but reaches {error:e} where the gradient is {scale:e} \
         (Konz (5.43)); the total energy would not decrease"
    )]
    Mismatch {
        /// The largest entry of `grad_R V + Q^T grad V`.
        error: f64,
        /// The largest entry of `grad V`.
        scale: f64,
    },
}

/// The data for a transport map: the system, its pairs, and the kinematics of state and reference, Jacobians included.
pub struct TransportContext<'a> {
    /// The system.
    pub model: &'a Model<f64>,
    /// The pairs of the template.
    pub pairs: &'a [SystemPair],
    /// The kinematics of the state.
    pub actual: &'a Workspace<f64>,
    /// The kinematics of the reference.
    pub reference: &'a Workspace<f64>,
}

impl TransportContext<'_> {
    /// `grad V`, n entries: the gradient of the desired potential with respect to the state.
    pub fn gradient(&self) -> DVector<f64> {
        self.gradient_of(self.actual, self.reference)
    }

    /// `grad_R V`, n entries: its gradient with respect to the reference.
    pub fn reference_gradient(&self) -> DVector<f64> {
        // V is symmetric in the two poses.
        self.gradient_of(self.reference, self.actual)
    }

    /// Checks that a map matches the potential, `grad_R V = -Q^T grad V`, Konz (5.43), to this relative tolerance. Allocates: for analysis, not for
    /// the control step.
    ///
    /// # Errors
    /// [`TransportError::Mismatch`].
    pub fn check(&self, map: &Map, tolerance: f64) -> Result<(), TransportError> {
        let gradient = self.gradient();
        let error = (self.reference_gradient() + map.Q.transpose() * &gradient).amax();
        let scale = gradient.amax();
        if error <= tolerance * scale.max(f64::MIN_POSITIVE) {
            Ok(())
        } else {
            Err(TransportError::Mismatch { error, scale })
        }
    }

    fn gradient_of(&self, moved: &Workspace<f64>, fixed: &Workspace<f64>) -> DVector<f64> {
        let n = self.model.dof();
        let (mut J, mut gradient) = (Matrix6xX::zeros(n), DVector::zeros(n));
        for pair in self.pairs {
            moved.jacobian(pair.a, pair.b, &mut J);
            let E = moved.pose(pair.a, pair.b).inverse() * fixed.pose(pair.a, pair.b);
            gradient.gemv_tr(1.0, &J, &pair.energies.stiffness_force(&E), 1.0);
        }
        gradient
    }
}

/// A linear map Q from the velocities at the reference to those at the state that matches the potential, `grad_R V = -Q^T grad V`,
/// Konz (5.43).
pub trait TransportMap: Send {
    /// Writes Q and its rate along the motion of state and reference. Called in every control step: keep scratch memory in `self` rather than
    /// allocating.
    ///
    /// # Errors
    /// [`TransportError::Singular`] where the map is singular.
    fn evaluate(&mut self, at: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError>;
}

/// A map joint by joint: the identity for angles and distances, `R^T R_R` for a spherical joint, `Ad(E)` for a free one, (5.64).
///
/// It matches potentials between neighbouring bodies, unless they are connected by a universal joint, whose potential is not a function of the
/// differences of its angles. [`TransportContext::check`] verifies the match.
///
/// It depends on the choice of joints, and so does the closed loop: a body on three hinges (Euler angles) in place of a ball joint is controlled
/// differently, and worse, for the same desired energies. [`PairMap`] is independent of the coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JointMap;

impl TransportMap for JointMap {
    fn evaluate(&mut self, at: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError> {
        map.Q.fill_with_identity();
        map.Q_dot.fill(0.0);
        for b in at.model.bodies() {
            let (Some(joint), Some(parent)) = (at.model.joint(b), at.model.parent(b)) else {
                continue;
            };
            let own = match joint.kind() {
                JointKind::Spherical(_)
                | JointKind::Planar(_)
                | JointKind::Schoenflies(_)
                | JointKind::Free(_) => relative(at, parent, b),
                JointKind::AbsoluteSpherical(_) => relative(at, BodyId::WORLD, b).turning(),
                _ => continue,
            };
            let of_twist = adjoint(&own.E, &own.z, &own.z_R);
            // The axes of these joints are orthonormal and constant.
            let directions = joint.subspace(&[]);
            let start = at.model.velocity_range(b).start;
            for (j, s_R) in directions.columns().iter().enumerate() {
                for (i, s) in directions.columns().iter().enumerate() {
                    map.Q[(start + i, start + j)] = s.dot(&(of_twist.Q * s_R));
                    map.Q_dot[(start + i, start + j)] = s.dot(&(of_twist.Q_dot * s_R));
                }
            }
        }
        Ok(())
    }
}

/// The map of one pair with a Jacobian of full column rank (a tool, a free body, a planar one): `Q = J^+ Q_b J_R` with the map `Q_b` of the pair's twist,
/// Konz (5.134), which omits `Ad(E)`.
///
/// It uses twists alone. In other velocities `xi' = Z(x)^-1 xi` it becomes `Z(x)^-1 Q Z(x_R)`: the closed-loop motion is the same whether a rotation matrix,
/// a quaternion or Euler angles describe the attitude, and body or inertial velocities the motion. The same holds for the map of several pairs with stacked
/// Jacobians S, `Q = S^+ diag(Q_b) S_R`.
#[derive(Clone, Debug)]
pub struct PairMap {
    kind: Transport,
    pair: usize,
    J: Matrix6xX<f64>,
    J_dot: Matrix6xX<f64>,
    J_R: Matrix6xX<f64>,
    J_R_dot: Matrix6xX<f64>,
}

impl PairMap {
    /// For the pair with this index in the template. The system must have at most six degrees of freedom.
    pub fn new(model: &Model<f64>, kind: Transport, pair: usize) -> Self {
        let J = Matrix6xX::zeros(model.dof());
        Self {
            kind,
            pair,
            J_dot: J.clone(),
            J_R: J.clone(),
            J_R_dot: J.clone(),
            J,
        }
    }
}

impl TransportMap for PairMap {
    fn evaluate(&mut self, at: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError> {
        let pair = &at.pairs[self.pair];
        let (a, b) = (pair.a, pair.b);
        let Relative { E, z, z_R } = relative(at, a, b);
        let of_twist = match self.kind {
            Transport::Adjoint => adjoint(&E, &z, &z_R),
            Transport::Centred => centred(&E, &z, &z_R, pair.energies.stiffness_center()),
        };
        at.actual.jacobian(a, b, &mut self.J);
        at.actual.jacobian_rate(a, b, &mut self.J_dot);
        at.reference.jacobian(a, b, &mut self.J_R);
        at.reference.jacobian_rate(a, b, &mut self.J_R_dot);
        let n = map.Q.ncols();
        let inverse = left_inverse(&self.J.as_view()).ok_or_else(|| singular(at.model, a, b))?;
        for j in 0..n {
            let carried: Vector6<f64> = of_twist.Q * self.J_R.column(j);
            map.Q.set_column(j, &(inverse * carried).rows(0, n));
        }
        for j in 0..n {
            let rate: Vector6<f64> = of_twist.Q_dot * self.J_R.column(j)
                + of_twist.Q * self.J_R_dot.column(j)
                - &self.J_dot * map.Q.column(j);
            map.Q_dot.set_column(j, &(inverse * rate).rows(0, n));
        }
        Ok(())
    }
}

/// The map of a point on a body: `Q = J_T^+ J_T,R` with the point's velocity `J_T xi` in the axes of the reference body, Konz (5.129).
#[derive(Clone, Debug)]
pub struct PointMap {
    a: BodyId,
    b: BodyId,
    point: Vector3<f64>,
    actual: PointJacobian,
    reference: PointJacobian,
}

impl PointMap {
    /// For the point of `b` with these coordinates (m), relative to `a`. Its Jacobian must have independent columns: at most three degrees of
    /// freedom.
    pub fn new(model: &Model<f64>, a: BodyId, b: BodyId, point: Vector3<f64>) -> Self {
        let jacobian = PointJacobian::new(model.dof());
        Self {
            a,
            b,
            point,
            actual: jacobian.clone(),
            reference: jacobian,
        }
    }
}

impl TransportMap for PointMap {
    fn evaluate(&mut self, at: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError> {
        let (a, b) = (self.a, self.b);
        self.actual.update(at.actual, a, b, &self.point);
        self.reference.update(at.reference, a, b, &self.point);
        let (J, J_R) = (&self.actual, &self.reference);
        let n = map.Q.ncols();
        let inverse = left_inverse(&J.value.as_view()).ok_or_else(|| singular(at.model, a, b))?;
        let inverse = inverse.fixed_columns::<3>(0);
        for j in 0..n {
            map.Q
                .set_column(j, &(inverse * J_R.value.column(j)).rows(0, n));
        }
        for j in 0..n {
            let rate: Vector3<f64> = J_R.rate.column(j) - &J.rate * map.Q.column(j);
            map.Q_dot.set_column(j, &(inverse * rate).rows(0, n));
        }
        Ok(())
    }
}

fn singular(model: &Model<f64>, a: BodyId, b: BodyId) -> TransportError {
    TransportError::Singular {
        base: model.name(a).to_owned(),
        body: model.name(b).to_owned(),
    }
}

struct Relative {
    E: SE3<f64>,
    z: Vector6<f64>,
    z_R: Vector6<f64>,
}

impl Relative {
    /// Drops the translation.
    fn turning(mut self) -> Self {
        self.E.translation = Vector3::zeros();
        self.z.fixed_rows_mut::<3>(0).fill(0.0);
        self.z_R.fixed_rows_mut::<3>(0).fill(0.0);
        self
    }
}

fn relative(at: &TransportContext<'_>, a: BodyId, b: BodyId) -> Relative {
    Relative {
        E: at.actual.pose(a, b).inverse() * at.reference.pose(a, b),
        z: at.actual.twist(a, b),
        z_R: at.reference.twist(a, b),
    }
}
