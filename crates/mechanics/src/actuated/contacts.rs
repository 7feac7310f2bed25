//! The contacts of a system with the ground in a state.

use std::ops::Range;

use fly_lie::operators::{angular, linear};
use nalgebra::{Vector2, Vector3, Vector6};

use crate::contact::Ground;
use crate::multibody::{BodyId, Model, Workspace};
use crate::{System, wrench_of_force};

/// All ground contacts of a system. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct GroundContacts {
    ground: Ground,
    axes: [Vector3<f64>; 2],
    points: Vec<Ball>,
    /// One per body with contact shapes.
    bodies: Vec<Touching>,
    /// Rates of the bristles, m/s, in the last state: two per point.
    pub rates: Vec<f64>,
    /// In the last state, J and W.
    pub energy: f64,
    pub dissipation: f64,
    /// A bit per point, set in contact; the 65th point shares the bit of the first.
    pub touching: u64,
}

/// What touches the ground: the ball of a shape, or that at one of its ends.
#[derive(Clone, Copy, Debug)]
struct Ball {
    center: Vector3<f64>,
    radius: f64,
}

/// The balls of a body.
#[derive(Clone, Debug)]
struct Touching {
    body: BodyId,
    points: Range<usize>,
    /// The child of the world that carries it, or the body itself.
    root: BodyId,
    /// The largest penetration speed of one of them, m/s.
    speed: f64,
}

/// The body on a joint of the world that carries a body.
fn root(model: &Model<f64>, body: BodyId) -> BodyId {
    match model.parent(body) {
        Some(parent) if parent != BodyId::WORLD => root(model, parent),
        _ => body,
    }
}

impl GroundContacts {
    /// `None` if the system has no contact shapes.
    pub fn new(system: &System, ground: Ground) -> Option<Self> {
        let mut points = Vec::new();
        let mut bodies: Vec<Touching> = Vec::new();
        for shape in &system.contacts {
            let first = points.len();
            points.extend(shape.centers().iter().map(|center| Ball {
                center: *center,
                radius: shape.radius,
            }));
            match bodies.last_mut() {
                Some(touching) if touching.body == shape.body => touching.points.end = points.len(),
                _ => bodies.push(Touching {
                    body: shape.body,
                    points: first..points.len(),
                    root: root(&system.model, shape.body),
                    speed: 0.0,
                }),
            }
        }
        (!points.is_empty()).then(|| Self {
            axes: ground.axes(),
            ground,
            rates: vec![0.0; 2 * points.len()],
            points,
            bodies,
            energy: 0.0,
            dissipation: 0.0,
            touching: 0,
        })
    }

    /// The largest penetration speed (m/s) of a point of the bodies that move with this one, since the last call.
    pub fn take_speed(&mut self, model: &Model<f64>, body: BodyId) -> f64 {
        let carrier = root(model, body);
        let own = self.bodies.iter_mut();
        let own = own.filter(|touching| touching.root == carrier);
        own.map(|touching| std::mem::take(&mut touching.speed))
            .fold(0.0, f64::max)
    }

    /// Passes the wrenches of the ground on the bodies in the workspace's state to the caller, for these bristles, and computes the rates of the
    /// bristles.
    pub fn act(
        &mut self,
        workspace: &Workspace<f64>,
        bristles: &[f64],
        mut apply: impl FnMut(BodyId, &Vector6<f64>),
    ) {
        let Ground {
            compliance,
            friction,
            ..
        } = self.ground;
        (self.energy, self.dissipation, self.touching) = (0.0, 0.0, 0);
        for Touching {
            body,
            points,
            speed,
            ..
        } in &mut self.bodies
        {
            let pose = workspace.pose(BodyId::WORLD, *body);
            let into_body = pose.rotation.inverse();
            let normal = into_body.act(self.ground.normal());
            let height = self.ground.distance(&pose.translation);
            let mut motion: Option<(Vector6<f64>, [Vector3<f64>; 2])> = None;
            let mut wrench = Vector6::zeros();
            for i in points.clone() {
                let Ball {
                    center: position,
                    radius,
                } = self.points[i];
                let bristle = Vector2::new(bristles[2 * i], bristles[2 * i + 1]);
                let depth = radius - height - normal.dot(&position);
                let (mut velocity, mut pressure) = (Vector2::zeros(), 0.0);
                if depth > 0.0 {
                    self.touching ^= 1 << (i % 64);
                    let (twist, axes) = motion.get_or_insert_with(|| {
                        let axes = self.axes.map(|axis| into_body.act(&axis));
                        (workspace.twist(BodyId::WORLD, *body), axes)
                    });
                    let deepest = position - normal * radius;
                    let v = linear(twist) + angular(twist).cross(&deepest);
                    let rate = -normal.dot(&v);
                    *speed = speed.max(rate);
                    pressure = compliance.force(depth, rate);
                    velocity = Vector2::new(axes[0].dot(&v), axes[1].dot(&v));
                    self.energy += compliance.energy(depth);
                    self.dissipation += compliance.dissipation(depth, rate);
                }
                let bristles = friction.motion(&bristle, &velocity, pressure);
                self.rates[2 * i] = bristles.rate.x;
                self.rates[2 * i + 1] = bristles.rate.y;
                self.energy += friction.energy(&bristle);
                self.dissipation += bristles.dissipation;
                if let Some((_, axes)) = motion.filter(|_| pressure > 0.0) {
                    let deepest = position - normal * radius;
                    let f = bristles.force;
                    let push = normal * pressure - axes[0] * f.x - axes[1] * f.y;
                    wrench += wrench_of_force(&push, &deepest);
                }
            }
            if motion.is_some() {
                apply(*body, &wrench);
            }
        }
    }
}
