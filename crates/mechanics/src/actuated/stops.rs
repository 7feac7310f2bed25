//! The stops of joints.

use crate::System;
use crate::contact::Compliance;

/// All stops of a system. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct JointStops {
    stops: Vec<Stop>,
    /// In the last state, J and W.
    pub energy: f64,
    pub dissipation: f64,
    /// Two bits per stop, set in contact; the 33rd stop shares those of the first.
    pub touching: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    /// The index of its joint's coordinate in configuration and velocity.
    x: usize,
    xi: usize,
    range: [f64; 2],
    compliance: Compliance,
}

impl JointStops {
    pub fn new(system: &System) -> Self {
        let joints = system.model.bodies().zip(&system.joints);
        let stops = joints.filter_map(|(body, joint)| {
            Some(Stop {
                x: system.model.config_range(body).start,
                xi: system.model.velocity_range(body).start,
                range: joint.limits.position?,
                compliance: joint.limits.stop?,
            })
        });
        Self {
            stops: stops.collect(),
            energy: 0.0,
            dissipation: 0.0,
            touching: 0,
        }
    }

    /// The indices of the velocities with a stop, and its compliance.
    pub fn compliances(&self) -> impl Iterator<Item = (usize, &Compliance)> {
        (self.stops.iter()).map(|stop| (stop.xi, &stop.compliance))
    }

    pub fn is_empty(&self) -> bool {
        self.stops.is_empty()
    }

    /// Adds the forces of the stops in a state.
    #[inline]
    pub fn add_force(&mut self, x: &[f64], xi: &[f64], force: &mut [f64]) {
        if self.stops.is_empty() {
            return;
        }
        (self.energy, self.dissipation, self.touching) = (0.0, 0.0, 0);
        for (i, stop) in self.stops.iter().enumerate() {
            let [low, high] = stop.range;
            let (q, rate) = (x[stop.x], xi[stop.xi]);
            for (depth, rate, sign) in [(q - high, rate, -1.0), (low - q, -rate, 1.0)] {
                if depth > 0.0 {
                    self.touching ^= if sign > 0.0 { 1 } else { 2 } << (2 * i % 64);
                    force[stop.xi] += sign * stop.compliance.force(depth, rate);
                    self.energy += stop.compliance.energy(depth);
                    self.dissipation += stop.compliance.dissipation(depth, rate);
                }
            }
        }
    }
}
