//! Contact with planes: rolling, and sliding without friction.

use std::fmt::Debug;
use std::sync::Arc;

use fly_lie::SE3;
use fly_lie::operators::{angular, join, linear};
use nalgebra::RealField;

use super::pair::{Between, Equations, FramePair, PairKind, Relative};
use super::{Constraint, ConstraintDescription, ConstraintKind, ConstraintSetError, Surface};
use crate::multibody::Model;

/// A body's convex surface that stays in contact with a plane of another body or of the world.
///
/// Rolling has three equations: the contact point of the body has no velocity along the two axes of the plane, which is nonholonomic, and the height of the
/// lowest point is zero, which is holonomic. Sliding has only the latter. The multipliers are the contact force on the body in the axes of the plane, N:
/// `[x, y, z]`, or `z`. The constraint is bilateral, so the plane can also pull: [`ContactForce::condition`](super::ContactForce::condition) tells whether
/// the force is physical.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::multibody::constraints::{ConstraintSet, Disc, PlaneContact};
/// use fly_mechanics::multibody::{Body, Joint, Model};
///
/// let model = Model::<f64>::builder().body(Body::new("coin", Joint::free())).build()?;
/// let coin = PlaneContact::rolling("coin on table", "world", "coin", Disc::new(0.02)?);
/// let constraints = ConstraintSet::builder().with(coin).build(&model)?;
/// assert_eq!(constraints.equations(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneContact<T: RealField + Copy, S> {
    /// A unique name.
    pub name: String,
    /// The body that has the plane, or `world`.
    pub plane: String,
    /// The body that has the surface.
    pub body: String,
    /// The pose of the plane in its body: the plane is `z = 0` of this frame, and the surface is above it.
    pub frame_in_plane: SE3<T>,
    /// The pose of the surface's frame in its body.
    pub frame_in_body: SE3<T>,
    /// The surface.
    pub surface: S,
    /// Whether it rolls; otherwise it slides without friction.
    pub rolls: bool,
}

/// # Description
impl<T: RealField + Copy, S: Surface<T>> PlaneContact<T, S> {
    /// A body that rolls on the plane `z = 0` of another.
    pub fn rolling(
        name: impl Into<String>,
        plane: impl Into<String>,
        body: impl Into<String>,
        surface: S,
    ) -> Self {
        Self {
            name: name.into(),
            plane: plane.into(),
            body: body.into(),
            frame_in_plane: SE3::identity(),
            frame_in_body: SE3::identity(),
            surface,
            rolls: true,
        }
    }

    /// A body that slides without friction on the plane `z = 0` of another.
    pub fn sliding(
        name: impl Into<String>,
        plane: impl Into<String>,
        body: impl Into<String>,
        surface: S,
    ) -> Self {
        Self {
            rolls: false,
            ..Self::rolling(name, plane, body, surface)
        }
    }

    /// Sets the poses of plane and surface in their bodies.
    #[must_use]
    pub fn at(mut self, frame_in_plane: SE3<T>, frame_in_body: SE3<T>) -> Self {
        (self.frame_in_plane, self.frame_in_body) = (frame_in_plane, frame_in_body);
        self
    }
}

impl<T, S> ConstraintDescription<T> for PlaneContact<T, S>
where
    T: RealField + Copy,
    S: Surface<T> + Clone + Debug + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        let pair = FramePair::find(
            model,
            &self.name,
            (&self.plane, &self.frame_in_plane),
            (&self.body, &self.frame_in_body),
        )?;
        let kind = Touching {
            surface: self.surface.clone(),
            rolls: self.rolls,
        };
        Ok(Arc::new(Between { pair, kind }))
    }
}

#[derive(Clone, Debug)]
struct Touching<S> {
    surface: S,
    rolls: bool,
}

impl<T, S> PairKind<T> for Touching<S>
where
    T: RealField + Copy,
    S: Surface<T> + Debug + Send + Sync,
{
    fn equations(&self) -> usize {
        if self.rolls { 3 } else { 1 }
    }

    fn kind(&self, equation: usize) -> ConstraintKind {
        if self.rolls && equation < 2 {
            ConstraintKind::Nonholonomic
        } else {
            ConstraintKind::Holonomic
        }
    }

    /// The velocity `R (v + omega x p)` of the material point in contact. Its component along the normal is the rate of the height,
    /// because the contact point moves along the plane only.
    fn evaluate(&self, relative: &Relative<T>) -> Equations<T> {
        let (v, omega) = (linear(&relative.twist), angular(&relative.twist));
        let R = relative.pose.rotation.matrix();
        let up = R.row(2).transpose();
        let p = self.surface.contact(&up);
        let p_rate = self.surface.contact_rate(&up, &up.cross(&omega));
        let height = relative.pose.translation.z - self.surface.height(&up);

        let drift = omega.cross(&(v + omega.cross(&p) + p_rate));
        let mut equations = Equations::new();
        for k in if self.rolls { 0..3 } else { 2..3 } {
            let row = R.row(k).transpose();
            let residual = if k == 2 { height } else { T::zero() };
            equations.push(residual, join(&row, &p.cross(&row)), row.dot(&drift));
        }
        equations
    }
}
