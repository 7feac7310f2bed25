//! The contact shapes of bodies.

use nalgebra::Vector3;

use crate::multibody::BodyId;

/// A contact shape of a body: all points within `radius` of a segment. A capsule; a ball if the ends coincide; a point if the radius is zero, too.
///
/// A plane touches a ball at its deepest point, also below the surface: the ball is not deformed, and rolls on its full radius. A capsule touches a plane with
/// the balls at its ends, which is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactShape {
    /// Its body.
    pub body: BodyId,
    /// The ends of the segment, m, body frame.
    pub ends: [Vector3<f64>; 2],
    /// m.
    pub radius: f64,
}

impl ContactShape {
    /// A ball, or a point if the radius (m) is zero.
    pub const fn ball(body: BodyId, center: Vector3<f64>, radius: f64) -> Self {
        let ends = [center, center];
        Self { body, ends, radius }
    }

    /// Whether the ends coincide.
    pub fn is_ball(&self) -> bool {
        self.ends[0] == self.ends[1]
    }

    /// The centres of the balls that touch a plane, m, body frame: one or two.
    pub fn centers(&self) -> &[Vector3<f64>] {
        &self.ends[..if self.is_ball() { 1 } else { 2 }]
    }
}

/// The points of two segments, given by their ends, that are nearest to each other; of parallel segments a pair among those that are.
///
/// C. Ericson, *Real-Time Collision Detection*, 2005, section 5.1.9.
pub(crate) fn nearest_points(
    [a, a_end]: &[Vector3<f64>; 2],
    [b, b_end]: &[Vector3<f64>; 2],
) -> [Vector3<f64>; 2] {
    let (along_a, along_b, from_b) = (a_end - a, b_end - b, a - b);
    let (length_a, length_b) = (along_a.norm_squared(), along_b.norm_squared());
    let (c, f) = (along_a.dot(&from_b), along_b.dot(&from_b));
    // Of a segment of no length every point is the first one.
    let part = |numerator: f64, denominator: f64| {
        if denominator > 0.0 {
            (numerator / denominator).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let (s, t) = if length_b == 0.0 {
        (part(-c, length_a), 0.0)
    } else {
        let across = along_a.dot(&along_b);
        // Of the lines; 0 for parallel ones.
        let s = part(
            across * f - c * length_b,
            length_a * length_b - across * across,
        );
        let t = (across * s + f) / length_b;
        if t < 0.0 {
            (part(-c, length_a), 0.0)
        } else if t > 1.0 {
            (part(across - c, length_a), 1.0)
        } else {
            (s, t)
        }
    };
    [a + along_a * s, b + along_b * t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_testing::Random;

    const PARTS: u32 = 60;

    /// Beside the smallest of all distances on a fine grid, for segments of all kinds: crossing, parallel, points.
    #[test]
    fn no_other_points_are_nearer() {
        let mut random = Random::new(7);
        let mut vector = || random.vector3(1.0);
        for case in 0..400 {
            let a = [vector(), vector()];
            let b = match case % 5 {
                0 => [vector(); 2],
                1 => {
                    let b = vector();
                    [b, b + (a[1] - a[0]) * 0.7]
                }
                2 => {
                    let (b, shift) = (vector(), vector() * 1e-9);
                    [b, b - (a[1] - a[0]) * 0.7 + shift]
                }
                _ => [vector(), vector()],
            };
            let a = if case % 7 == 0 { [a[0]; 2] } else { a };
            let [p, q] = nearest_points(&a, &b);
            let found = (p - q).norm();
            let at = |ends: &[Vector3<f64>; 2], i: u32| {
                ends[0] + (ends[1] - ends[0]) * (f64::from(i) / f64::from(PARTS))
            };
            for i in 0..=PARTS {
                for j in 0..=PARTS {
                    let distance = (at(&a, i) - at(&b, j)).norm();
                    assert!(
                        found <= distance + 1e-9,
                        "case {case}: {found} m, and {distance} m"
                    );
                }
            }
            for (point, ends) in [(p, a), (q, b)] {
                let (length, way) = ((ends[1] - ends[0]).norm(), (point - ends[0]).norm());
                let rest = (point - ends[1]).norm();
                assert!((way + rest - length).abs() < 1e-12, "case {case}");
            }
        }
    }
}
