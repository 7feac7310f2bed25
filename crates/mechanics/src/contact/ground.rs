//! The ground, and what of bodies touches it.

use nalgebra::Vector3;

use super::{Compliance, Friction};
use crate::multibody::BodyId;

/// A plane that stops what has [contact points](ContactPoint).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    height: f64,
    normal: Vector3<f64>,
    /// Along the normal.
    pub compliance: Compliance,
    /// Along the plane.
    pub friction: Friction,
}

/// Why numbers are not those of a [`Ground`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GroundError {
    /// The normal does not point upwards.
    #[error("expected a direction that points upwards, found {found:?}")]
    Normal {
        /// World.
        found: [f64; 3],
    },
    /// A number of the friction is out of its range.
    #[error("expected {expected}, found {found}")]
    Friction {
        /// `friction`, `friction_stiffness` or `relaxation`.
        key: &'static str,
        /// What was expected of it.
        expected: &'static str,
        /// What it was.
        found: f64,
    },
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
        let above = "a number above 0";
        for (key, is, expected, found) in [
            (
                "friction",
                friction.coefficient >= 0.0,
                "a coefficient of at least 0",
                friction.coefficient,
            ),
            (
                "friction_stiffness",
                friction.stiffness > 0.0,
                above,
                friction.stiffness,
            ),
            (
                "relaxation",
                friction.relaxation > 0.0,
                above,
                friction.relaxation,
            ),
        ] {
            if !is || !found.is_finite() {
                return Err(GroundError::Friction {
                    key,
                    expected,
                    found,
                });
            }
        }
        Ok(Self {
            height,
            normal: unit,
            compliance,
            friction,
        })
    }

    /// Where the plane crosses the world's z axis, m.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Its unit normal, world.
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// How far a point (m, world) is above it, m.
    #[inline]
    pub fn distance(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(point) - self.normal.z * self.height
    }

    /// Two unit vectors along it (world), the axes of the bristles: the first is that of the world's x axis on level ground.
    pub fn axes(&self) -> [Vector3<f64>; 2] {
        // The normal points upwards: it is not along y.
        let first = Vector3::y().cross(&self.normal).normalize();
        [first, self.normal.cross(&first)]
    }
}

/// What of a body touches the ground: a ball, or a point if it has no radius.
///
/// It touches the ground where its ball is deepest, also inside the ground: the ball does not become smaller, and rolls on its whole radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Its body.
    pub body: BodyId,
    /// The centre of the ball, m, body frame.
    pub position: Vector3<f64>,
    /// m.
    pub radius: f64,
}
