//! The contacts between the bodies of a system in a state.

use fly_lie::SE3;
use fly_lie::operators::{angular, linear};
use nalgebra::{Vector3, Vector6};

use super::near::NearPairs;
use crate::contact::{BodyContact, ContactShape, nearest_points};
use crate::multibody::{BodyId, Workspace};
use crate::{System, wrench_of_force};

/// All contacts between bodies. Only the construction allocates.
///
/// The shapes `a` and `b` touch where their segments are nearest to each other, at `p_a` and `p_b`. With `n` from `p_a` to `p_b` and the depth
/// `d = r_a + r_b - |p_b - p_a|`, equal and opposite forces act at the point `p_a + (r_a - d / 2) n` of both bodies, so momentum and angular momentum are
/// conserved.
///
/// The bristle's deflection `z` has three components, in the frame of `a`; it deflects with the relative velocity across `n`, and of its force the part across
/// `n` acts. So the power that the contact takes from the bodies is what the bristle stores and dissipates, however the bodies turn.
#[derive(Clone, Debug)]
pub(crate) struct BodyContacts {
    contact: BodyContact,
    pairs: Vec<Pair>,
    near: NearPairs,
    /// Rates of the bristles, m/s, in the last state: three per near pair.
    pub rates: Vec<f64>,
    /// In the last state, J and W.
    pub energy: f64,
    pub dissipation: f64,
    /// A bit per pair, set in contact; the 65th pair shares the bit of the first.
    pub touching: u64,
}

#[derive(Clone, Debug)]
struct Pair {
    shapes: [ContactShape; 2],
    /// If the middles of the segments are farther apart than this, the shapes do not touch, m.
    reach: f64,
    /// The largest speed with which they went into each other, m/s; negative if they have not.
    speed: f64,
}

/// Where two shapes touch.
struct Touch {
    /// From `a` to `b`, world.
    normal: Vector3<f64>,
    /// m, world.
    point: Vector3<f64>,
    depth: f64,
}

impl Pair {
    fn new(shapes: [ContactShape; 2]) -> Self {
        let reach = shapes.map(|shape| {
            let [start, end] = shape.ends;
            0.5 * (end - start).norm() + shape.radius
        });
        Self {
            shapes,
            reach: reach.iter().sum(),
            speed: -1.0,
        }
    }

    /// `None` unless they touch.
    #[inline]
    fn touch(&self, poses: &[SE3<f64>; 2]) -> Option<Touch> {
        let [a, b] = &self.shapes;
        let ends = [
            a.ends.map(|end| poses[0].act(&end)),
            b.ends.map(|end| poses[1].act(&end)),
        ];
        let apart = (ends[1][0] + ends[1][1]) - (ends[0][0] + ends[0][1]);
        if apart.norm_squared() > 4.0 * self.reach * self.reach {
            return None;
        }
        let [p_a, p_b] = nearest_points(&ends[0], &ends[1]);
        let span = p_b - p_a;
        let distance = span.norm();
        let depth = a.radius + b.radius - distance;
        if depth <= 0.0 {
            return None;
        }
        // Segments that cross have no such direction; they do not come that deep unless they start so.
        let normal = span.try_normalize(0.0).unwrap_or_else(Vector3::z);
        Some(Touch {
            normal,
            point: p_a + normal * (a.radius - 0.5 * depth),
            depth,
        })
    }
}

impl BodyContacts {
    /// Of these pairs of the system's shapes; `None` if there are none.
    pub fn new(system: &System, contact: BodyContact, pairs: &[[usize; 2]]) -> Option<Self> {
        let shapes = |pair: &[usize; 2]| Pair::new(pair.map(|i| system.contacts[i]));
        (!pairs.is_empty()).then(|| Self {
            contact,
            rates: vec![0.0; 3 * pairs.len()],
            pairs: pairs.iter().map(shapes).collect(),
            near: NearPairs::new(&system.contacts, pairs),
            energy: 0.0,
            dissipation: 0.0,
            touching: 0,
        })
    }

    /// The bodies that have touched, with the largest speed with which they went into each other, m/s.
    pub fn touched(&self) -> impl Iterator<Item = ([BodyId; 2], f64)> {
        let all = self.pairs.iter().filter(|pair| pair.speed >= 0.0);
        all.map(|pair| (pair.shapes.map(|shape| shape.body), pair.speed))
    }

    /// Continues the record of the same pairs, with the bristles of those that were near.
    pub fn continue_from(&mut self, other: &Self) {
        for (pair, other) in self.pairs.iter_mut().zip(&other.pairs) {
            pair.speed = pair.speed.max(other.speed);
        }
        self.near.copy_from(&other.near);
        self.rates.resize(other.rates.len(), 0.0);
    }

    /// The pairs that are looked at.
    pub fn near(&self) -> &NearPairs {
        &self.near
    }

    /// [Searches](NearPairs::search) for the pairs that are near.
    pub fn search(&mut self, workspace: &Workspace<f64>, states: &mut Vec<f64>, first: usize) {
        self.near.search(workspace, states, first);
        self.rates.resize(states.len() - first, 0.0);
    }

    /// Passes the wrenches on the bodies in the workspace's state to the caller, for these bristles of the near pairs, and computes the rates of the bristles.
    pub fn act(
        &mut self,
        workspace: &Workspace<f64>,
        bristles: &[f64],
        mut apply: impl FnMut(BodyId, &Vector6<f64>),
    ) {
        let BodyContact {
            compliance,
            friction,
        } = self.contact;
        (self.energy, self.dissipation, self.touching) = (0.0, 0.0, 0);
        self.near.follow(workspace);
        for (k, i) in self.near.iter().enumerate() {
            let (pair, states) = (&mut self.pairs[i], 3 * k..3 * k + 3);
            let deflection = Vector3::from_column_slice(&bristles[states.clone()]);
            let bodies = pair.shapes.map(|shape| shape.body);
            let poses = bodies.map(|body| workspace.pose(BodyId::WORLD, body));
            let touch = pair.touch(&poses);
            let (mut velocity, mut pressure) = (Vector3::zeros(), 0.0);
            if let Some(touch) = &touch {
                self.touching ^= 1 << (i % 64);
                let velocities = [0, 1].map(|k| {
                    let twist = workspace.twist(BodyId::WORLD, bodies[k]);
                    let arm = poses[k].inverse().act(&touch.point);
                    (poses[k].rotation).act(&(linear(&twist) + angular(&twist).cross(&arm)))
                });
                let relative = velocities[1] - velocities[0];
                let rate = -touch.normal.dot(&relative);
                // What touches and separates has touched.
                pair.speed = pair.speed.max(rate.max(0.0) + 0.0);
                pressure = compliance.force(touch.depth, rate);
                velocity = (poses[0].rotation.inverse()).act(&(relative + touch.normal * rate));
                self.energy += compliance.energy(touch.depth);
                self.dissipation += compliance.dissipation(touch.depth, rate);
            }
            let motion = friction.motion(&deflection, &velocity, pressure);
            self.rates[states].copy_from_slice(motion.rate.as_slice());
            self.energy += friction.energy(&deflection);
            self.dissipation += motion.dissipation;
            let Some(Touch { normal, point, .. }) = touch.filter(|_| pressure > 0.0) else {
                continue;
            };
            let f = poses[0].rotation.act(&motion.force);
            let on_b = normal * (pressure + normal.dot(&f)) - f;
            for ((body, pose), force) in bodies.into_iter().zip(&poses).zip([-on_b, on_b]) {
                let force = pose.rotation.inverse().act(&force);
                let arm = pose.inverse().act(&point);
                apply(body, &wrench_of_force(&force, &arm));
            }
        }
    }
}
