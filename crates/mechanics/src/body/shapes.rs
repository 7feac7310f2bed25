//! Homogeneous solids, shells and rods.

use fly_lie::operators::vee_matrix3;
use nalgebra::{Matrix3, RealField, Vector3, convert};

use super::SecondMoment;

/// # Homogeneous shapes
///
/// Centred at the frame's origin unless stated otherwise; [`placed`](SecondMoment::placed) moves them. The weight is
/// distributed uniformly: a mass (kg), or the damping or stiffness of a bed of dampers or springs. Shapes can be added and
/// subtracted.
///
/// ```
/// use fly_mechanics::SecondMoment;
///
/// // A tube is what is left of a cylinder of the same material.
/// let whole = SecondMoment::solid_cylinder(4.0, 0.2, 1.0);
/// let bore = SecondMoment::solid_cylinder(1.0, 0.1, 1.0);
/// let tube = SecondMoment::hollow_cylinder(3.0, 0.1, 0.2, 1.0);
/// assert!(((whole - bore).matrix4() - tube.matrix4()).norm() < 1e-15);
/// ```
impl<T: RealField + Copy> SecondMoment<T> {
    /// A point.
    pub fn point(weight: T, position: Vector3<T>) -> Self {
        Self::from_points([(weight, position)])
    }

    /// A thin straight rod between two points (m).
    pub fn rod(weight: T, ends: [Vector3<T>; 2]) -> Self {
        let along = ends[1] - ends[0];
        let second = along * along.transpose() * (weight * convert(1.0 / 12.0));
        let center = (ends[0] + ends[1]) * convert::<f64, T>(0.5);
        Self::from_center(weight, center, vee_matrix3(&second))
    }

    /// A box with these lengths along the axes (m); one of them may be zero, for a plate.
    pub fn solid_box(weight: T, lengths: [T; 3]) -> Self {
        Self::centered(weight, lengths.map(|l| l * l * convert(1.0 / 12.0)))
    }

    /// A circular cylinder about the z axis (m); its height may be zero, for a disc.
    pub fn solid_cylinder(weight: T, radius: T, height: T) -> Self {
        Self::hollow_cylinder(weight, T::zero(), radius, height)
    }

    /// A tube about the z axis (m); equal radii make a thin wall, zero height a ring or hoop.
    pub fn hollow_cylinder(weight: T, inner_radius: T, outer_radius: T, height: T) -> Self {
        let radial = (inner_radius * inner_radius + outer_radius * outer_radius) * convert(0.25);
        Self::centered(
            weight,
            [radial, radial, height * height * convert(1.0 / 12.0)],
        )
    }

    /// An ellipsoid with these semi-axes (m).
    pub fn solid_ellipsoid(weight: T, semi_axes: [T; 3]) -> Self {
        Self::centered(weight, semi_axes.map(|a| a * a * convert(0.2)))
    }

    /// A ball (m).
    pub fn solid_sphere(weight: T, radius: T) -> Self {
        Self::solid_ellipsoid(weight, [radius; 3])
    }

    /// A hollow ball (m); equal nonzero radii make a thin shell.
    pub fn hollow_sphere(weight: T, inner_radius: T, outer_radius: T) -> Self {
        // (R^5 - r^5) / (5 (R^3 - r^3)) without the common factor R - r.
        let (r, R) = (inner_radius, outer_radius);
        let (r2, R2, rR) = (r * r, R * R, r * R);
        let fifth = R2 * R2 + R2 * rR + rR * rR + rR * r2 + r2 * r2;
        let third = R2 + rR + r2;
        Self::centered(weight, [fifth / (third * convert(5.0)); 3])
    }

    /// From the mean squares of the coordinates.
    fn centered(weight: T, squares: [T; 3]) -> Self {
        let second = Matrix3::from_diagonal(&(Vector3::from(squares) * weight));
        Self::from_center(weight, Vector3::zeros(), vee_matrix3(&second))
    }
}
