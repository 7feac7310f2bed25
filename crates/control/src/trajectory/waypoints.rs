//! From point to point, resting at each.

use nalgebra::Vector3;

use super::jet::Jet;
use super::path::side_of_yaw;
use super::smooth::{shortest_duration, smooth};
use super::{Path, PathPoint};

/// A point to stop at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Where, m.
    pub position: Vector3<f64>,
    /// Yaw there, rad. The vehicle turns by the difference as written, not by the shorter way.
    pub yaw: f64,
    /// How long it rests there, s.
    pub hold: f64,
}

/// Straight ways between waypoints, each from rest to rest along [`smooth`], as fast as the limits allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Waypoints {
    points: Vec<Waypoint>,
    /// When the way to the next point begins and how long it takes, one entry less than points.
    ways: Vec<(f64, f64)>,
}

impl Waypoints {
    /// Through these points with at most this speed (m/s), acceleration (m/s^2) and yaw rate (rad/s).
    pub fn new(points: Vec<Waypoint>, speed: f64, acceleration: f64, yaw_rate: f64) -> Self {
        let mut ways = Vec::with_capacity(points.len());
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
            ways.push((time, duration));
            time += duration;
        }
        Self { points, ways }
    }

    /// When the way from point `index` to the next begins, and how long it takes, s.
    pub fn way(&self, index: usize) -> Option<(f64, f64)> {
        self.ways.get(index).copied()
    }
}

impl Path for Waypoints {
    fn at(&self, t: f64) -> PathPoint {
        let index = self
            .ways
            .iter()
            .take_while(|(start, _)| *start <= t)
            .count();
        // Before the first way starts: at the first point. No points at all: at the origin.
        let (from, to, s) = match (index.checked_sub(1), self.points.first()) {
            (Some(i), _) => {
                let (start, duration) = self.ways[i];
                let s = if duration > 0.0 {
                    Jet::linear((t - start) / duration, 1.0 / duration)
                } else {
                    Jet::constant(1.0)
                };
                (self.points[i], self.points[i + 1], s)
            }
            (None, Some(first)) => (*first, *first, Jet::constant(0.0)),
            (None, None) => {
                let origin = Waypoint {
                    position: Vector3::zeros(),
                    yaw: 0.0,
                    hold: 0.0,
                };
                (origin, origin, Jet::constant(0.0))
            }
        };
        let part = smooth(s);
        let step = to.position - from.position;
        let yaw = part.truncate::<3>().scale(to.yaw - from.yaw) + Jet::constant(from.yaw);
        PathPoint {
            position: std::array::from_fn(|i| {
                part.scale(step[i]) + Jet::constant(from.position[i])
            }),
            side: side_of_yaw(yaw),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        let arrival = self
            .ways
            .last()
            .map_or(0.0, |(start, duration)| start + duration);
        arrival + self.points.last().map_or(0.0, |last| last.hold)
    }
}
