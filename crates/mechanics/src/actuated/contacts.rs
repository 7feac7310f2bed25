//! The contacts of a system with the ground in a state.

use std::ops::Range;

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{Cholesky, DMatrix, Matrix6xX, Vector2, Vector3, Vector6};

use super::stops::JointStops;
use crate::contact::{ContactPoint, Ground};
use crate::multibody::{BodyId, Frame, Model, Workspace};
use crate::{Rope, System, TiltServo, wrench_of_force};

/// All ground contacts of a system. Only the construction allocates.
#[derive(Clone, Debug)]
pub(crate) struct GroundContacts {
    ground: Ground,
    axes: [Vector3<f64>; 2],
    points: Vec<ContactPoint>,
    /// One per body with contact points.
    bodies: Vec<Touching>,
    /// Rates of the bristles, m/s, in the last state: two per point.
    pub rates: Vec<f64>,
    /// In the last state, J and W.
    pub energy: f64,
    pub dissipation: f64,
    /// A bit per point, set in contact; the 65th point shares the bit of the first.
    pub touching: u64,
}

/// The contact points of a body.
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
    /// `None` if the system has no contact points.
    pub fn new(system: &System, ground: Ground) -> Option<Self> {
        let points = system.contacts.clone();
        let mut bodies: Vec<Touching> = Vec::new();
        for (i, point) in points.iter().enumerate() {
            match bodies.last_mut() {
                Some(touching) if touching.body == point.body => touching.points.end = i + 1,
                _ => bodies.push(Touching {
                    body: point.body,
                    points: i..i + 1,
                    root: root(&system.model, point.body),
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
        let speeds = self.bodies.iter_mut().map(|touching| {
            let speed = std::mem::take(&mut touching.speed);
            if touching.root == carrier { speed } else { 0.0 }
        });
        speeds.fold(0.0, f64::max)
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
                let ContactPoint {
                    position, radius, ..
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

/// The highest angular frequency (rad/s) of the springs of all contacts, stops, ropes and servos of a system in this configuration, as if all of them acted at
/// once, with isotropic tangential stiffness equal to the stiffest direction, and isotropic ropes: `sqrt(max eig M^-1 J^T K J)`. Nonlinear ones count with
/// their stiffness in an impact at `speed` (m/s). `None` without any, and if no mass moves.
pub fn contact_frequency(
    system: &System,
    ground: Option<&Ground>,
    x: &[f64],
    speed: f64,
) -> Option<f64> {
    let stops = JointStops::new(system);
    let stops = (stops.compliances()).map(|(velocity, stop)| (velocity, stop.stiffness()));
    let servos = servos(system).map(|(velocity, servo)| (velocity, servo.stiffness));
    let joints: Vec<_> = stops.chain(servos).collect();
    let points = ground.map(|ground| {
        let normal = ground
            .compliance
            .tangent_stiffness(system.model.mass(), speed);
        (ground, normal.max(ground.friction.stiffness))
    });
    let ropes = |rope: &Rope| rope.compliance.stiffness();
    largest(system, points, &joints, ropes, x).map(f64::sqrt)
}

/// The fastest rate (1/s) of contacts, stops, ropes and servos: the step of RK4 times this rate should be at most 1. It is the largest of the
/// [frequency](contact_frequency) `w`, of `w sqrt(c v / 4)` (Hunt and Crossley's damping in an impact at `speed` v, m/s; for stops rad/s), of `1 / 2 tau` of
/// the bristles, and half of the largest eigenvalue of `M^-1 J^T C J` with the damping of bristles and servos. `None` as for the frequency.
pub fn contact_rate(
    system: &System,
    ground: Option<&Ground>,
    x: &[f64],
    speed: f64,
) -> Option<f64> {
    let frequency = contact_frequency(system, ground, x, speed)?;
    let touching = ground.filter(|_| !system.contacts.is_empty());
    let stops = JointStops::new(system);
    let dampings = (stops.compliances().map(|(_, stop)| stop.damping()))
        .chain(touching.map(|ground| ground.compliance.damping()))
        .chain((system.ropes.iter()).map(|rope| rope.compliance.damping()));
    let damping = dampings.fold(0.0, f64::max);
    let rate = frequency * (0.25 * damping * speed).sqrt().max(1.0);
    let relaxing = touching.map_or(0.0, |ground| 0.5 / ground.friction.relaxation);
    let joints: Vec<_> =
        (servos(system).map(|(velocity, servo)| (velocity, servo.damping))).collect();
    let points = ground.map(|ground| {
        let friction = ground.friction;
        (ground, friction.stiffness * friction.relaxation)
    });
    let damped = largest(system, points, &joints, |_| 0.0, x).map_or(0.0, |most| 0.5 * most);
    Some(rate.max(relaxing).max(damped))
}

/// The servos with the index of the velocity that each drives.
fn servos(system: &System) -> impl Iterator<Item = (usize, &TiltServo)> {
    let velocity = |servo: &TiltServo| system.model.velocity_range(servo.joint).start;
    system
        .servos
        .iter()
        .map(move |servo| (velocity(servo), servo))
}

/// The largest eigenvalue of `M^-1 J^T W J` with isotropic weights of all contact points, weights of velocities, and isotropic weights of ropes between their
/// ends; `None` unless positive.
fn largest(
    system: &System,
    points: Option<(&Ground, f64)>,
    joints: &[(usize, f64)],
    ropes: impl Fn(&Rope) -> f64,
    x: &[f64],
) -> Option<f64> {
    let model = &system.model;
    let n = model.dof();
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, &vec![0.0; n]);
    workspace.update_jacobians(model);
    let mut weights = DMatrix::zeros(n, n);
    for (velocity, weight) in joints {
        weights[(*velocity, *velocity)] += weight;
    }
    if let Some((ground, weight)) = points {
        let mut J = Matrix6xX::zeros(n);
        for point in &system.contacts {
            let pose = workspace.pose(BodyId::WORLD, point.body);
            let normal = pose.rotation.inverse().act(ground.normal());
            let offset = SE3::new(SO3::identity(), point.position - normal * point.radius);
            workspace.jacobian(BodyId::WORLD, Frame::new(point.body, offset), &mut J);
            let of_point = J.rows(0, 3);
            weights += of_point.transpose() * of_point * weight;
        }
    }
    let end = |body: BodyId, point: Vector3<f64>| {
        let mut J = Matrix6xX::zeros(n);
        if body == BodyId::WORLD {
            return J.fixed_rows::<3>(0).into_owned();
        }
        let offset = SE3::new(SO3::identity(), point);
        workspace.jacobian(BodyId::WORLD, Frame::new(body, offset), &mut J);
        let into_world = workspace.pose(BodyId::WORLD, body).rotation;
        into_world.matrix() * J.fixed_rows::<3>(0)
    };
    for rope in &system.ropes {
        let between = end(rope.b, rope.point_in_b) - end(rope.a, rope.point_in_a);
        weights += between.transpose() * &between * ropes(rope);
    }
    let mut mass_matrix = DMatrix::zeros(n, n);
    model.mass_matrix(&mut workspace, x, &mut mass_matrix);
    let factor = Cholesky::new(mass_matrix)?.unpack();
    // L^-1 W L^-T has the eigenvalues of M^-1 W.
    let half = factor.solve_lower_triangular(&weights)?;
    let whole = factor.solve_lower_triangular(&half.transpose())?;
    let largest = whole.symmetric_eigenvalues().max();
    (largest > 0.0).then_some(largest)
}
