//! Ropes: pull two points together, and never push them apart.

use fly_lie::operators::{angular, linear};
use nalgebra::{Vector3, Vector6};

use crate::contact::Compliance;
use crate::multibody::{BodyId, Workspace};
use crate::wrench_of_force;

/// A massless rope from a point of body `a` to one of body `b`. With the distance `d` of the points and the stretch `e = d - length`, the tension is
/// that of a linear [`Compliance`]: `T = k e (1 + c e_dot)` for `e > 0`, clipped at 0, otherwise zero.
///
/// It stores `k e^2 / 2` and dissipates `(T - k e) e_dot >= 0`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Its name.
    pub name: String,
    /// The body at one end, or the world.
    pub a: BodyId,
    /// The body at the other end, or the world.
    pub b: BodyId,
    /// The attachment point on `a`, m, in the frame of `a`.
    pub point_in_a: Vector3<f64>,
    /// The attachment point on `b`, m, in the frame of `b`.
    pub point_in_b: Vector3<f64>,
    /// The unstretched length, m, above 0.
    pub length: f64,
    /// Its tension per stretch: N/m, linear; damping in s/m.
    pub compliance: Compliance,
}

/// All ropes of a system. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct RopeForces {
    ropes: Vec<Rope>,
    /// In the last state: N each; J and W of all.
    pub tensions: Vec<f64>,
    pub energy: f64,
    pub dissipation: f64,
    /// A bit per rope, set if taut; the 65th rope shares the bit of the first.
    pub touching: u64,
}

impl RopeForces {
    pub fn new(ropes: &[Rope]) -> Self {
        Self {
            ropes: ropes.to_vec(),
            tensions: vec![0.0; ropes.len()],
            energy: 0.0,
            dissipation: 0.0,
            touching: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.ropes.is_empty()
    }

    /// Passes the wrenches of taut ropes on bodies to the caller, in the workspace's state, in the frames of these
    /// bodies.
    pub fn act(
        &mut self,
        workspace: &Workspace<f64>,
        mut apply: impl FnMut(BodyId, &Vector6<f64>),
    ) {
        (self.energy, self.dissipation, self.touching) = (0.0, 0.0, 0);
        let all = self.ropes.iter().zip(&mut self.tensions);
        for (i, (rope, tension)) in all.enumerate() {
            *tension = 0.0;
            let (body_a, body_b) = (
                workspace.pose(BodyId::WORLD, rope.a),
                workspace.pose(BodyId::WORLD, rope.b),
            );
            let span = body_b.act(&rope.point_in_b) - body_a.act(&rope.point_in_a);
            let distance = span.norm();
            let stretch = distance - rope.length;
            if stretch <= 0.0 {
                continue;
            }
            self.touching ^= 1 << (i % 64);
            let direction = span / distance;
            let speed = |body: BodyId, point: &Vector3<f64>| {
                let twist = workspace.twist(BodyId::WORLD, body);
                let along =
                    (workspace.pose(BodyId::WORLD, body).rotation.inverse()).act(&direction);
                (linear(&twist) + angular(&twist).cross(point)).dot(&along)
            };
            let rate = speed(rope.b, &rope.point_in_b) - speed(rope.a, &rope.point_in_a);
            *tension = rope.compliance.force(stretch, rate);
            self.energy += rope.compliance.energy(stretch);
            self.dissipation += rope.compliance.dissipation(stretch, rate);
            let pull = direction * *tension;
            for (body, pose, point, force) in [
                (rope.a, &body_a, &rope.point_in_a, pull),
                (rope.b, &body_b, &rope.point_in_b, -pull),
            ] {
                if body != BodyId::WORLD {
                    let force = pose.rotation.inverse().act(&force);
                    apply(body, &wrench_of_force(&force, point));
                }
            }
        }
    }
}
