//! Surfaces of bodies that roll on a plane.

use nalgebra::{RealField, Vector3};

/// A convex surface that touches a plane at one point, described in the body frame.
///
/// `up` is the plane's unit normal in body components, `R^T e_3`, which points from the plane to the body: the surface's outward
/// normal at the contact is `-up`.
pub trait Surface<T: RealField + Copy> {
    /// The contact point `p`, m.
    fn contact(&self, up: &Vector3<T>) -> Vector3<T>;

    /// `p_dot` when `up` changes with this rate, m/s.
    fn contact_rate(&self, up: &Vector3<T>, up_rate: &Vector3<T>) -> Vector3<T>;

    /// The height of the body frame's origin above the plane, m.
    fn height(&self, up: &Vector3<T>) -> T {
        -up.dot(&self.contact(up))
    }
}

/// Why dimensions do not define a surface.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError<T: RealField + Copy> {
    /// A length is not positive, or not finite.
    #[error("the {what} must be a positive number, found {length} m")]
    NotPositive {
        /// The length.
        what: &'static str,
        /// Its value, m.
        length: T,
    },
    /// A length is negative, or not finite.
    #[error("the {what} must be zero or a positive number, found {length} m")]
    Negative {
        /// The length.
        what: &'static str,
        /// Its value, m.
        length: T,
    },
    /// The rim of a disc is thicker than the disc, so it would reach beyond the axis.
    #[error("the rim of a disc must be at most its radius, {radius} m, found {rim} m")]
    ThickRim {
        /// The radius of the rim's section, m.
        rim: T,
        /// The radius of the disc, m.
        radius: T,
    },
}

fn positive<T: RealField + Copy>(what: &'static str, length: T) -> Result<T, SurfaceError<T>> {
    if length.is_finite() && length > T::zero() {
        Ok(length)
    } else {
        Err(SurfaceError::NotPositive { what, length })
    }
}

/// An ellipsoid centred at the body frame's origin, with its axes along the frame's.
///
/// ```
/// use fly_mechanics::multibody::constraints::{Ellipsoid, Surface};
/// use nalgebra::Vector3;
///
/// let egg = Ellipsoid::new([0.25, 0.25, 0.5])?;
/// // Upright it touches the plane with its tip.
/// assert_eq!(egg.contact(&Vector3::z()), Vector3::new(0.0, 0.0, -0.5));
/// assert_eq!(egg.height(&Vector3::x()), 0.25);
/// # Ok::<(), fly_mechanics::multibody::constraints::SurfaceError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid<T: RealField + Copy> {
    squares: Vector3<T>,
}

impl<T: RealField + Copy> Ellipsoid<T> {
    /// With these semi-axes (m).
    ///
    /// # Errors
    /// [`SurfaceError::NotPositive`].
    pub fn new(semi_axes: [T; 3]) -> Result<Self, SurfaceError<T>> {
        for length in semi_axes {
            positive("semi-axis of an ellipsoid", length)?;
        }
        Ok(Self {
            squares: Vector3::from(semi_axes).map(|a| a * a),
        })
    }

    /// Its semi-axes, m.
    pub fn semi_axes(&self) -> [T; 3] {
        self.squares.map(T::sqrt).into()
    }

    /// A ball of this radius (m).
    ///
    /// # Errors
    /// [`SurfaceError::NotPositive`].
    pub fn sphere(radius: T) -> Result<Self, SurfaceError<T>> {
        Self::new([positive("radius of a sphere", radius)?; 3])
    }
}

/// `p = -D u / sqrt(u . D u)` with the squares of the semi-axes in D. Konz (B.24) prints the opposite sign, which gives the
/// topmost point.
impl<T: RealField + Copy> Surface<T> for Ellipsoid<T> {
    fn contact(&self, up: &Vector3<T>) -> Vector3<T> {
        let Du = self.squares.component_mul(up);
        -Du / up.dot(&Du).sqrt()
    }

    fn contact_rate(&self, up: &Vector3<T>, up_rate: &Vector3<T>) -> Vector3<T> {
        let Du = self.squares.component_mul(up);
        let height = up.dot(&Du).sqrt();
        let height_rate = up_rate.dot(&Du) / height;
        (Du * (height_rate / height) - self.squares.component_mul(up_rate)) / height
    }
}

/// The rim of a disc, coin, hoop or wheel about the body frame's z axis, centred at the frame's origin.
///
/// The rim may be rounded, like a tyre: the surface is then a torus. A disc lying flat touches the plane all around, and the contact point is
/// `NaN`: [`ContactCondition::Undefined`](super::ContactCondition::Undefined), or
/// [`ConstraintError::NotFinite`](crate::multibody::constraints::ConstraintError::NotFinite) if it is a constraint.
///
/// ```
/// use fly_mechanics::multibody::constraints::{Disc, Surface};
/// use nalgebra::Vector3;
///
/// let wheel = Disc::with_rim(0.3, 0.02)?;
/// // Upright, it stands on its tyre.
/// assert_eq!(wheel.contact(&Vector3::y()), Vector3::new(0.0, -0.32, 0.0));
/// # Ok::<(), fly_mechanics::multibody::constraints::SurfaceError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc<T: RealField + Copy> {
    radius: T,
    rim: T,
}

impl<T: RealField + Copy> Disc<T> {
    /// With this radius (m) and a sharp edge.
    ///
    /// # Errors
    /// [`SurfaceError::NotPositive`].
    pub fn new(radius: T) -> Result<Self, SurfaceError<T>> {
        Self::with_rim(radius, T::zero())
    }

    /// With a rim of circular section, with radius `rim` (m) and centre at `radius` (m) from the axis.
    ///
    /// # Errors
    /// [`SurfaceError::NotPositive`] of the radius, [`SurfaceError::Negative`] of the rim, [`SurfaceError::ThickRim`].
    pub fn with_rim(radius: T, rim: T) -> Result<Self, SurfaceError<T>> {
        let radius = positive("radius of a disc", radius)?;
        if !rim.is_finite() || rim < T::zero() {
            return Err(SurfaceError::Negative {
                what: "rim of a disc",
                length: rim,
            });
        }
        if rim > radius {
            return Err(SurfaceError::ThickRim { rim, radius });
        }
        Ok(Self { radius, rim })
    }

    /// From the axis to the edge, or to the centre of the rim's section, m.
    pub fn radius(&self) -> T {
        self.radius
    }

    /// The radius of the rim's section, m; 0 for a sharp edge.
    pub fn rim(&self) -> T {
        self.rim
    }
}

/// `p = -a u_xy / |u_xy| - rho u` with `u_xy` the part of `u` in the disc's plane.
impl<T: RealField + Copy> Surface<T> for Disc<T> {
    fn contact(&self, up: &Vector3<T>) -> Vector3<T> {
        let inward = Vector3::new(up.x, up.y, T::zero());
        -inward * (self.radius / inward.norm()) - up * self.rim
    }

    fn contact_rate(&self, up: &Vector3<T>, up_rate: &Vector3<T>) -> Vector3<T> {
        let inward = Vector3::new(up.x, up.y, T::zero());
        // Only a rotation of the disc's horizontal moves the point along the edge.
        let square = inward.norm_squared();
        let turn = (up.x * up_rate.y - up.y * up_rate.x) / square;
        let along = Vector3::new(up.y, -up.x, T::zero());
        along * (turn * self.radius / square.sqrt()) - up_rate * self.rim
    }
}
