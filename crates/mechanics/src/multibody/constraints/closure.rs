//! Loop closures: joints in addition to those of the tree.

use std::sync::Arc;

use fly_lie::operators::{angular, join, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{RealField, Vector3, Vector6, convert};

use super::pair::{Between, Equations, FramePair, PairKind, Relative};
use super::{Constraint, ConstraintDescription, ConstraintKind, ConstraintSetError};
use crate::multibody::{Joint, JointError, Model};

/// The joint between frame B of body b and frame A of body a. Its axis is the z axis of both frames, as for a [`Joint`];
/// residuals are in the axes of A, in m and rad.
///
/// | kind | equations | constraint |
/// |---|---|---|
/// | fixed | 6 | the frames coincide |
/// | revolute | 5 | the origins and the axes coincide |
/// | prismatic | 5 | the axes, as lines, and the attitudes coincide |
/// | cylindrical | 4 | the axes coincide as lines |
/// | universal | 4 | the origins coincide; the z axis of A and the y axis of B are orthogonal |
/// | spherical | 3 | the origins coincide |
/// | planar | 3 | the xy planes coincide |
/// | orientation | 3 | the attitudes coincide |
/// | point on line | 2 | the origin of B lies on the z axis of A |
/// | point on plane | 1 | the origin of B lies in the xy plane of A |
/// | distance | 1 | the origins are at a fixed distance, as the ends of a rod |
///
/// The residual of attitudes is twice the vector part of the quaternion of B in A (approximately the angle between them), that of axes the
/// stereographic projection of one axis relative to the other. Both vanish nowhere else, so that no projection ends half a turn away; half a
/// turn away they are singular.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoopKind<T: RealField + Copy> {
    /// A weld.
    Fixed,
    /// A revolute joint.
    Revolute,
    /// A prismatic joint.
    Prismatic,
    /// A cylindrical joint.
    Cylindrical,
    /// A cross: axis z of A is orthogonal to axis y of B.
    Universal,
    /// A ball joint: two points coincide.
    Spherical,
    /// A plate on a plate.
    Planar,
    /// Translation alone.
    Orientation,
    /// A bead on a wire.
    PointOnLine,
    /// A pin on a table.
    PointOnPlane,
    /// A rod between two ball joints: `(|r|^2 - L^2) / (2 L) = 0`, in m. Its multiplier is the force along the rod, N: positive in
    /// compression.
    Distance {
        /// `L`, m.
        length: T,
    },
}

/// A kinematic loop, closed by a joint between two frames in addition to those of the tree.
///
/// ```
/// use fly_mechanics::multibody::constraints::{ConstraintSet, LoopClosure, LoopKind};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// let model = Model::<f64>::builder()
///     .body(Body::new("crank", Joint::revolute(Vector3::y())?))
///     .body(Body::new("slider", Joint::prismatic(Vector3::x())?))
///     .build()?;
/// // A rod of 0.5 m from the crank's pin to the slider.
/// let rod = LoopClosure::new("rod", "crank", "slider", LoopKind::Distance { length: 0.5 })
///     .between(Vector3::new(0.1, 0.0, 0.0), Vector3::zeros());
/// let constraints = ConstraintSet::builder().with(rod).build(&model)?;
/// assert_eq!(constraints.equations(), 1);
///
/// let typo = LoopClosure::new("rod", "crnk", "slider", LoopKind::Spherical);
/// let error = ConstraintSet::builder().with(typo).build(&model).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "constraint `rod` mentions `crnk`, but there is no body of this name; did you mean `crank`?"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoopClosure<T: RealField + Copy> {
    /// A unique name.
    pub name: String,
    /// The body of frame A, or `world`.
    pub a: String,
    /// The body of frame B, or `world`.
    pub b: String,
    /// The pose of A in the frame of body a.
    pub frame_in_a: SE3<T>,
    /// The pose of B in the frame of body b.
    pub frame_in_b: SE3<T>,
    /// The joint between the frames.
    pub kind: LoopKind<T>,
}

/// # Description
impl<T: RealField + Copy> LoopClosure<T> {
    /// A closure between the frames of the bodies themselves.
    pub fn new(
        name: impl Into<String>,
        a: impl Into<String>,
        b: impl Into<String>,
        kind: LoopKind<T>,
    ) -> Self {
        Self {
            name: name.into(),
            a: a.into(),
            b: b.into(),
            frame_in_a: SE3::identity(),
            frame_in_b: SE3::identity(),
            kind,
        }
    }

    /// Sets the poses of the frames in a and in b.
    #[must_use]
    pub fn at(mut self, frame_in_a: SE3<T>, frame_in_b: SE3<T>) -> Self {
        (self.frame_in_a, self.frame_in_b) = (frame_in_a, frame_in_b);
        self
    }

    /// Sets the origins of the frames to these points of a and of b, m.
    #[must_use]
    pub fn between(mut self, point_in_a: Vector3<T>, point_in_b: Vector3<T>) -> Self {
        self.frame_in_a.translation = point_in_a;
        self.frame_in_b.translation = point_in_b;
        self
    }

    /// Sets the axis along these directions of a and of b.
    ///
    /// # Errors
    /// [`JointError::ZeroAxis`], [`JointError::NotFinite`].
    pub fn along(
        mut self,
        axis_in_a: Vector3<T>,
        axis_in_b: Vector3<T>,
    ) -> Result<Self, JointError> {
        self.frame_in_a.rotation = *Joint::revolute(axis_in_a)?.axes();
        self.frame_in_b.rotation = *Joint::revolute(axis_in_b)?.axes();
        Ok(self)
    }
}

impl<T: RealField + Copy> ConstraintDescription<T> for LoopClosure<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        if let LoopKind::Distance { length } = self.kind
            && !(length.is_finite() && length > T::zero())
        {
            return Err(ConstraintSetError::NotPositive {
                constraint: self.name.clone(),
                what: "length",
                found: length.to_string(),
            });
        }
        let (a, b) = (
            (self.a.as_str(), &self.frame_in_a),
            (self.b.as_str(), &self.frame_in_b),
        );
        let pair = FramePair::find(model, &self.name, a, b)?;
        let kind = self.kind;
        Ok(Arc::new(Between { pair, kind }))
    }
}

impl<T: RealField + Copy> PairKind<T> for LoopKind<T> {
    fn equations(&self) -> usize {
        match self {
            Self::Fixed => 6,
            Self::Revolute | Self::Prismatic => 5,
            Self::Cylindrical | Self::Universal => 4,
            Self::Spherical | Self::Planar | Self::Orientation => 3,
            Self::PointOnLine => 2,
            Self::PointOnPlane | Self::Distance { .. } => 1,
        }
    }

    fn kind(&self, _: usize) -> ConstraintKind {
        ConstraintKind::Holonomic
    }

    fn evaluate(&self, relative: &Relative<T>) -> Equations<T> {
        let mut equations = Equations::new();
        let out = &mut equations;
        match *self {
            Self::Fixed => {
                position(relative, [0, 1, 2], out);
                orientation(relative, out);
            }
            Self::Revolute => {
                position(relative, [0, 1, 2], out);
                axes(relative, out);
            }
            Self::Prismatic => {
                position(relative, [0, 1], out);
                orientation(relative, out);
            }
            Self::Cylindrical => {
                position(relative, [0, 1], out);
                axes(relative, out);
            }
            Self::Universal => {
                position(relative, [0, 1, 2], out);
                right_angle(relative, out);
            }
            Self::Spherical => position(relative, [0, 1, 2], out),
            Self::Planar => {
                position(relative, [2], out);
                axes(relative, out);
            }
            Self::Orientation => orientation(relative, out),
            Self::PointOnLine => position(relative, [0, 1], out),
            Self::PointOnPlane => position(relative, [2], out),
            Self::Distance { length } => distance(relative, length, out),
        }
        equations
    }
}

fn unit<T: RealField + Copy>(k: usize) -> Vector3<T> {
    Vector3::from_fn(|i, _| if i == k { T::one() } else { T::zero() })
}

/// `r_k = 0`: `r_dot = R v`, `r_ddot = R (v_dot + omega x v)`.
fn position<T: RealField + Copy, const N: usize>(
    relative: &Relative<T>,
    components: [usize; N],
    out: &mut Equations<T>,
) {
    let (v, omega) = (linear(&relative.twist), angular(&relative.twist));
    let R = relative.pose.rotation.matrix();
    for k in components {
        let row = R.row(k).transpose();
        let direction = join(&row, &Vector3::zeros());
        let drift = row.dot(&omega.cross(&v));
        out.push(relative.pose.translation[k], direction, drift);
    }
}

/// `2 q_xyz = 0`, approximately the rotation vector: its rate is `q_w omega + q_xyz x omega`, and its second derivative the same
/// expression of `omega_dot`, less `|omega|^2 q_xyz / 2`.
fn orientation<T: RealField + Copy>(relative: &Relative<T>, out: &mut Equations<T>) {
    let omega = angular(&relative.twist);
    let q = relative.pose.rotation.to_quaternion();
    let vector = Vector3::new(q[1], q[2], q[3]);
    let half = omega.norm_squared() * convert(0.5);
    for k in 0..3 {
        let turn = unit(k) * q[0] + unit(k).cross(&vector);
        let direction = join(&Vector3::zeros(), &turn);
        out.push(vector[k] + vector[k], direction, -half * vector[k]);
    }
}

/// `2 (z_x, z_y) / (1 + z_z) = 0` with the axis `z` of B in A, approximately the angle between the axes. Differentiated from
/// `psi (1 + z_z) = 2 z_xy`.
fn axes<T: RealField + Copy>(relative: &Relative<T>, out: &mut Equations<T>) {
    let two: T = convert(2.0);
    let omega = angular(&relative.twist);
    let R = relative.pose.rotation.matrix();
    let turning = omega.cross(&Vector3::z());
    let (z, z_rate, z_drift) = (
        R * Vector3::z(),
        R * turning,
        // z_ddot = R (omega_dot x e_z) + this
        R * omega.cross(&turning),
    );
    let weight = T::one() + z.z;
    for k in 0..2 {
        let residual = two * z[k] / weight;
        let rate = (two * z_rate[k] - residual * z_rate.z) / weight;
        // The factor of the rate of z, in B: e . R (omega x e_z) = omega . (e_z x R^T e).
        let along = (unit(k) * two - Vector3::z() * residual) / weight;
        let turn = Vector3::z().cross(&(R.transpose() * along));
        let direction = join(&Vector3::zeros(), &turn);
        let drift = along.dot(&z_drift) - two * rate * z_rate.z / weight;
        out.push(residual, direction, drift);
    }
}

/// `e_z . R e_y = 0`
fn right_angle<T: RealField + Copy>(relative: &Relative<T>, out: &mut Equations<T>) {
    let omega = angular(&relative.twist);
    let R: &SO3<T> = &relative.pose.rotation;
    let up = R.matrix().row(2).transpose();
    let direction = join(&Vector3::zeros(), &Vector3::y().cross(&up));
    let drift = up.dot(&omega.cross(&omega.cross(&Vector3::y())));
    out.push(up.y, direction, drift);
}

/// `(|r|^2 - L^2) / (2 L) = 0`, a polynomial: no division by the length.
fn distance<T: RealField + Copy>(relative: &Relative<T>, length: T, out: &mut Equations<T>) {
    let (v, omega) = (linear(&relative.twist), angular(&relative.twist));
    let r = relative.pose.translation;
    let in_b = relative.pose.rotation.inverse().act(&r) / length;
    let residual = (r.norm_squared() / length - length) * convert(0.5);
    let direction: Vector6<T> = join(&in_b, &Vector3::zeros());
    let drift = in_b.dot(&omega.cross(&v)) + v.norm_squared() / length;
    out.push(residual, direction, drift);
}
