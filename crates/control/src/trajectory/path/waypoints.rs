//! Waypoints with a stop at each.

use nalgebra::Vector3;

use super::{Path, PathPoint, side_of_yaw};
use crate::trajectory::jet::Jet;
use crate::trajectory::{Leg, Transfer, shortest_duration};

/// A point to stop at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Position, m.
    pub position: Vector3<f64>,
    /// Yaw there, rad. The vehicle turns by the difference as given, not the shorter way.
    pub yaw: f64,
    /// How long it rests there, s.
    pub hold: f64,
}

/// Straight legs between waypoints, each from rest to rest along [`smooth`](crate::trajectory::smooth).
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoints(
    /// Of x, y, z and yaw.
    Transfer,
);

impl Waypoints {
    /// Through these points, as fast as a speed (m/s), an acceleration (m/s^2) and a yaw rate (rad/s) allow; with limits that are not positive it
    /// stays where it would have to move. Without points it rests at the origin.
    pub fn new(points: &[Waypoint], speed: f64, acceleration: f64, yaw_rate: f64) -> Self {
        let mut legs = Vec::with_capacity(points.len());
        let mut time = 0.0;
        for pair in points.windows(2) {
            let length = (pair[1].position - pair[0].position).norm();
            let turn = (pair[1].yaw - pair[0].yaw).abs();
            let duration = shortest_duration(length, speed, acceleration).max(shortest_duration(
                turn,
                yaw_rate,
                f64::INFINITY,
            ));
            time += pair[0].hold;
            legs.push(Leg {
                to: pair[1].coordinates(),
                start: time,
                duration,
            });
            time += duration;
        }
        Self(Transfer {
            from: (points.first()).map_or_else(|| vec![0.0; 4], Waypoint::coordinates),
            legs,
            hold: points.last().map_or(0.0, |last| last.hold),
        })
    }

    /// One straight leg that starts at `start` and takes `duration`, s, with this yaw, rad.
    pub fn line(from: Vector3<f64>, to: Vector3<f64>, yaw: f64, start: f64, duration: f64) -> Self {
        let [from, to] = [from, to].map(|position| {
            let hold = 0.0;
            Waypoint {
                position,
                yaw,
                hold,
            }
            .coordinates()
        });
        let legs = vec![Leg {
            to,
            start,
            duration,
        }];
        Self(Transfer {
            from,
            legs,
            hold: 0.0,
        })
    }

    /// Straight up or down to the height `to` (m), after `from.hold` seconds, as fast as a speed (m/s) and an acceleration (m/s^2) allow:
    /// take-off and landing.
    pub fn vertical(from: Waypoint, to: f64, speed: f64, acceleration: f64) -> Self {
        let end = Waypoint {
            position: Vector3::new(from.position.x, from.position.y, to),
            hold: 0.0,
            ..from
        };
        Self::new(&[from, end], speed, acceleration, f64::INFINITY)
    }

    /// The start and the duration of the leg from point `index` to the next, s.
    pub fn leg(&self, index: usize) -> Option<(f64, f64)> {
        let leg = self.0.legs.get(index)?;
        Some((leg.start, leg.duration))
    }
}

impl Waypoint {
    fn coordinates(&self) -> Vec<f64> {
        let p = self.position;
        vec![p.x, p.y, p.z, self.yaw]
    }
}

impl Path for Waypoints {
    fn at(&self, t: f64) -> PathPoint {
        let mut q = [Jet::constant(0.0); 4];
        self.0.coordinates(t, &mut q);
        let [x, y, z, yaw] = q;
        PathPoint {
            position: [x, y, z],
            side: side_of_yaw(yaw.truncate()),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.0.end()
    }
}
