//! The ground.

use nalgebra::Vector3;

use super::{Compliance, Friction, FrictionError};

/// A plane that supports bodies at their [contact shapes](super::ContactShape).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    height: f64,
    normal: Vector3<f64>,
    /// Along the normal.
    pub compliance: Compliance,
    /// Along the plane.
    pub friction: Friction,
}

/// Why parameters do not define a [`Ground`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GroundError {
    /// The normal does not point upwards.
    #[error("expected a direction that points upwards, found {found:?}")]
    Normal {
        /// World.
        found: [f64; 3],
    },
    /// The height is not finite.
    #[error("expected a finite height, found {found} m")]
    Height {
        /// m.
        found: f64,
    },
    /// A friction parameter is out of range.
    #[error(transparent)]
    Friction(#[from] FrictionError),
}

impl Ground {
    /// Through `[0, 0, height]` (m, world), with a normal of any length that points upwards (world).
    ///
    /// # Errors
    /// [`GroundError`].
    pub fn new(
        height: f64,
        normal: Vector3<f64>,
        compliance: Compliance,
        friction: Friction,
    ) -> Result<Self, GroundError> {
        let unit = normal.try_normalize(1e-9).filter(|unit| unit.z > 1e-3);
        let Some(unit) = unit.filter(|unit| unit.iter().all(|part| part.is_finite())) else {
            let found = normal.into();
            return Err(GroundError::Normal { found });
        };
        if !height.is_finite() {
            return Err(GroundError::Height { found: height });
        }
        friction.check()?;
        Ok(Self {
            height,
            normal: unit,
            compliance,
            friction,
        })
    }

    /// The height at which the plane intersects the world's z axis, m.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Its unit normal, world.
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// The distance of a point (m, world) above it, m.
    #[inline]
    pub fn distance(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(point) - self.normal.z * self.height
    }

    /// Two tangential unit vectors (world), the axes of the bristles: on level ground the first is the world's x axis.
    pub fn axes(&self) -> [Vector3<f64>; 2] {
        // The normal points upwards: it is not along y.
        let first = Vector3::y().cross(&self.normal).normalize();
        [first, self.normal.cross(&first)]
    }
}
