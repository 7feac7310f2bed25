//! Rolling and sliding on a plane, and blades, as plain data for descriptions.

use std::sync::Arc;

use fly_lie::SE3;
use nalgebra::{RealField, Vector3};

use super::{
    Constraint, ConstraintDescription, ConstraintSetError, Disc, Ellipsoid, PlaneContact,
    PrescribedVelocity, Surface,
};
use crate::multibody::Model;

/// A wheel, a ball, another round body or a blade: a [`PlaneContact`], or a [knife edge](PrescribedVelocity::knife_edge), as plain data.
///
/// ```
/// use fly_mechanics::System;
/// use fly_mechanics::multibody::constraints::RollingKind;
///
/// let system = System::from_toml(
///     r#"
///     name = "sledge with a wheel"
///     [bodies.sledge]
///     joint = { type = "planar", axis = [0, 0, 1] }
///     position = [0, 0, 0.1]
///     shape = { box = [0.4, 0.2, 0.1] }
///     mass = 2
///     [bodies.wheel]
///     parent = "sledge"
///     joint = { type = "revolute", axis = [0, 1, 0] }
///     shape = { sphere = { radius = 0.1 } }
///     mass = 0.3
///     [[rolling]]
///     type = "disc"
///     radius = 0.1
///     to = "wheel"
///     to_frame = { axis = [0, 1, 0] }
///     "#,
/// )?;
/// assert!(matches!(system.rolling[0].kind, RollingKind::Rolls(_)));
/// // It goes where the wheel points, and turns.
/// let constraints = system.constraints().build(&system.model)?;
/// assert_eq!(constraints.equations(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rolling<T: RealField + Copy> {
    /// A unique name.
    pub name: String,
    /// The body that has the plane, or `world`.
    pub a: String,
    /// The rolling body.
    pub b: String,
    /// The plane is `z = 0` of this frame in a, with b above it. Ignored for a blade.
    pub frame_in_a: SE3<T>,
    /// The surface's frame in b: the axis of a disc is z; a blade points along x and does not move along y.
    pub frame_in_b: SE3<T>,
    /// The kind of contact.
    pub kind: RollingKind<T>,
}

/// The kind of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RollingKind<T: RealField + Copy> {
    /// It rolls without slipping: three equations.
    Rolls(RollingSurface<T>),
    /// It slides without friction: one equation.
    Slides(RollingSurface<T>),
    /// A skate or thin wheel that moves only along the x axis of its frame: one equation.
    Blade,
}

/// The surface in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RollingSurface<T: RealField + Copy> {
    /// A wheel.
    Disc(Disc<T>),
    /// A ball or an egg.
    Ellipsoid(Ellipsoid<T>),
}

impl<T: RealField + Copy> Surface<T> for RollingSurface<T> {
    fn contact(&self, up: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Disc(disc) => disc.contact(up),
            Self::Ellipsoid(ellipsoid) => ellipsoid.contact(up),
        }
    }

    fn contact_rate(&self, up: &Vector3<T>, up_rate: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Disc(disc) => disc.contact_rate(up, up_rate),
            Self::Ellipsoid(ellipsoid) => ellipsoid.contact_rate(up, up_rate),
        }
    }
}

impl<T: RealField + Copy> ConstraintDescription<T> for Rolling<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        let touching = |surface, rolls| PlaneContact {
            name: self.name.clone(),
            plane: self.a.clone(),
            body: self.b.clone(),
            frame_in_plane: self.frame_in_a,
            frame_in_body: self.frame_in_b,
            surface,
            rolls,
        };
        match self.kind {
            RollingKind::Rolls(surface) => touching(surface, true).compile(model),
            RollingKind::Slides(surface) => touching(surface, false).compile(model),
            RollingKind::Blade => PrescribedVelocity {
                a: self.a.clone(),
                ..PrescribedVelocity::knife_edge(&self.name, &self.b, self.frame_in_b)
            }
            .compile(model),
        }
    }
}
