//! Regions of space that a vehicle must not leave.

use nalgebra::Vector3;

/// A region of space that the vehicle must not leave, world frame, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fence {
    /// A box between two corners.
    Box {
        /// Smallest x, y and z.
        min: Vector3<f64>,
        /// Largest x, y and z.
        max: Vector3<f64>,
    },
    /// A cylinder about a vertical axis.
    Cylinder {
        /// x and y of the axis.
        center: [f64; 2],
        /// Radius.
        radius: f64,
        /// Smallest and largest height.
        height: [f64; 2],
    },
}

impl Fence {
    /// How far a position is outside, m; 0 inside.
    pub fn distance(&self, position: &Vector3<f64>) -> f64 {
        match self {
            Self::Box { min, max } => (min - position)
                .sup(&(position - max))
                .map(|beyond| beyond.max(0.0))
                .norm(),
            Self::Cylinder {
                center: [x, y],
                radius,
                height: [low, high],
            } => {
                let beside = (position.x - x).hypot(position.y - y) - radius;
                let above = (low - position.z).max(position.z - high);
                beside.max(0.0).hypot(above.max(0.0))
            }
        }
    }

    /// Its smallest height, m.
    pub fn bottom(&self) -> f64 {
        match self {
            Self::Box { min, .. } => min.z,
            Self::Cylinder { height, .. } => height[0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_as_far_away_as_its_nearest_point() {
        let corners = Fence::Box {
            min: Vector3::new(-1.0, -2.0, 0.0),
            max: Vector3::new(1.0, 2.0, 3.0),
        };
        let cylinder = Fence::Cylinder {
            center: [1.0, 0.0],
            radius: 2.0,
            height: [0.0, f64::INFINITY],
        };
        for (fence, position, expected) in [
            (corners, [0.5, -1.9, 2.9], 0.0),
            (corners, [4.0, 6.0, 1.0], 5.0),
            (corners, [0.0, 0.0, -0.5], 0.5),
            (cylinder, [2.9, 0.0, 1e9], 0.0),
            (cylinder, [1.0, -5.0, -4.0], 5.0),
        ] {
            let found = fence.distance(&Vector3::from(position));
            assert!(
                (found - expected).abs() < 1e-12,
                "{fence:?} {position:?}: {found}"
            );
        }
    }
}
