//! How fast the stiff parts of a system move: what the steps of its integration must resolve.

use fly_lie::{SE3, SO3};
use nalgebra::{Cholesky, DMatrix, Dyn, Matrix3xX, Matrix6xX, Vector3};

use super::mobility::Mobility;
use super::pairs::contact_pairs;
use super::stops::JointStops;
use crate::contact::{BodyContact, ContactShape, Ground, nearest_points};
use crate::multibody::{BodyId, Frame, Workspace};
use crate::{Rope, System, TiltServo};

/// What a system may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings<'a> {
    /// The ground below it.
    pub ground: Option<&'a Ground>,
    /// How its bodies act on each other.
    pub bodies: Option<&'a BodyContact>,
}

/// The highest angular frequency (rad/s) of the springs of all contacts with the ground, stops, ropes and servos of a system in this configuration, as if all
/// of them acted at once, with isotropic tangential stiffness equal to the stiffest direction, and isotropic ropes: `sqrt(max eig M^-1 J^T K J)`. Of the
/// contacts between bodies the stiffest counts beside all others. Nonlinear ones count with their stiffness in an impact at `speed` (m/s). `None` without
/// any, and if no mass moves.
pub fn contact_frequency(
    system: &System,
    surroundings: Surroundings<'_>,
    x: &[f64],
    speed: f64,
) -> Option<f64> {
    let about = Linearized::new(system, x)?;
    about.frequency(surroundings, about.of_pairs(surroundings), speed)
}

/// The fastest rate (1/s) of contacts, stops, ropes and servos: the step of RK4 times this rate should be at most 1. It is the largest of the
/// [frequency](contact_frequency) `w`, of `w sqrt(c v / 4)` (Hunt and Crossley's damping in an impact at `speed` v, m/s; for stops rad/s), of `1 / 2 tau` of
/// the bristles, and half of the largest eigenvalue of `M^-1 J^T C J` with the damping of bristles and servos. `None` as for the frequency.
pub fn contact_rate(
    system: &System,
    surroundings: Surroundings<'_>,
    x: &[f64],
    speed: f64,
) -> Option<f64> {
    let about = Linearized::new(system, x)?;
    let among = about.of_pairs(surroundings);
    let frequency = about.frequency(surroundings, among, speed)?;
    let ground = (surroundings.ground).filter(|_| !system.contacts.is_empty());
    let bodies = surroundings.bodies.filter(|_| among > 0.0);
    let stops = JointStops::new(system);
    let dampings = (stops.compliances().map(|(_, stop)| *stop))
        .chain(ground.map(|ground| ground.compliance))
        .chain(bodies.map(|contact| contact.compliance))
        .chain(system.ropes.iter().map(|rope| rope.compliance));
    let dampings = dampings.map(|compliance| compliance.damping());
    let damping = dampings.fold(0.0, f64::max);
    let rate = frequency * (0.25 * damping * speed).sqrt().max(1.0);
    let frictions = (ground.map(|ground| ground.friction).into_iter())
        .chain(bodies.map(|contact| contact.friction));
    let relaxing = frictions.map(|it| 0.5 / it.relaxation).fold(0.0, f64::max);
    let weights = Weights {
        joints: servos(system)
            .map(|(velocity, servo)| (velocity, servo.damping))
            .collect(),
        ground: ground.map(|ground| (ground, ground.friction.damping())),
        bodies: bodies.map_or(0.0, |contact| among * contact.friction.damping()),
        ropes: |_| 0.0,
    };
    let damped = about.largest(&weights);
    let damped = damped.map_or(0.0, |most| 0.5 * most);
    Some(rate.max(relaxing).max(damped))
}

/// The fastest rate (1/s) of a system's own springs, dampers and drag in this configuration, the springs with their stiffness at rest: the step of RK4 times
/// this rate should be at most 1. It is the larger of `sqrt(max eig M^-1 K)` and of half of the largest eigenvalue of `M^-1 D`. `None` without any, if no
/// mass moves, and with loops or couplings: a gear may reflect a large mass to a light joint.
pub fn element_rate(system: &System, x: &[f64]) -> Option<f64> {
    if !(system.loops.is_empty() && system.couplings.is_empty()) {
        return None;
    }
    let about = Linearized::new(system, x)?;
    let stiff = about.eigenvalue(&about.spring_stiffness()).max(0.0).sqrt();
    let n = system.model.dof();
    let mut damping = DMatrix::zeros(n, n);
    (about.workspace).damping_matrix(&system.model, &mut damping);
    let rate = stiff.max(0.5 * about.eigenvalue(&damping));
    (rate > 0.0).then_some(rate)
}

/// The servos with the index of the velocity that each drives.
fn servos(system: &System) -> impl Iterator<Item = (usize, &TiltServo)> {
    let velocity = |servo: &TiltServo| system.model.velocity_range(servo.joint).start;
    system
        .servos
        .iter()
        .map(move |servo| (velocity(servo), servo))
}

/// Stiffnesses or dampings.
struct Weights<'a> {
    /// By the index of the velocity.
    joints: Vec<(usize, f64)>,
    /// Isotropic, of every contact with the ground.
    ground: Option<(&'a Ground, f64)>,
    /// Of contacts between bodies: the largest eigenvalue, of one pair.
    bodies: f64,
    /// Isotropic, between the ends of ropes.
    ropes: fn(&Rope) -> f64,
}

/// A system about a configuration.
struct Linearized<'a> {
    system: &'a System,
    workspace: Workspace<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl<'a> Linearized<'a> {
    /// `None` if the mass matrix is singular.
    fn new(system: &'a System, x: &[f64]) -> Option<Self> {
        let model = &system.model;
        let n = model.dof();
        let mut workspace = Workspace::new(model);
        workspace.update(model, x, &vec![0.0; n]);
        workspace.update_jacobians(model);
        let mut mass_matrix = DMatrix::zeros(n, n);
        model.mass_matrix(&mut workspace, x, &mut mass_matrix);
        Some(Self {
            system,
            workspace,
            factor: Cholesky::new(mass_matrix)?,
        })
    }

    /// The Jacobian of the velocity, along the body's axes, of a point of a body (m, body frame).
    fn in_body(&self, body: BodyId, point: &Vector3<f64>) -> Matrix3xX<f64> {
        let mut J = Matrix6xX::zeros(self.system.model.dof());
        if body != BodyId::WORLD {
            let frame = Frame::new(body, SE3::new(SO3::identity(), *point));
            self.workspace.jacobian(BodyId::WORLD, frame, &mut J);
        }
        J.fixed_rows::<3>(0).into_owned()
    }

    /// As [`in_body`](Self::in_body), along the world's axes.
    fn in_world(&self, body: BodyId, point: &Vector3<f64>) -> Matrix3xX<f64> {
        let into_world = self.workspace.pose(BodyId::WORLD, body).rotation;
        into_world.matrix() * self.in_body(body, point)
    }

    /// The [`contact_frequency`]; `among` is what [`of_pairs`](Self::of_pairs) gives.
    fn frequency(&self, surroundings: Surroundings<'_>, among: f64, speed: f64) -> Option<f64> {
        let mass = self.system.model.mass();
        let stops = JointStops::new(self.system);
        let stops = (stops.compliances()).map(|(velocity, stop)| (velocity, stop.stiffness()));
        let servos = servos(self.system).map(|(velocity, servo)| (velocity, servo.stiffness));
        let weights = Weights {
            joints: stops.chain(servos).collect(),
            ground: surroundings.ground.map(|ground| {
                let normal = ground.compliance.tangent_stiffness(mass, speed);
                (ground, normal.max(ground.friction.stiffness))
            }),
            bodies: surroundings.bodies.map_or(0.0, |contact| {
                let normal = contact.compliance.tangent_stiffness(mass, speed);
                among * normal.max(contact.friction.stiffness)
            }),
            ropes: |rope| rope.compliance.stiffness(),
        };
        self.largest(&weights).map(f64::sqrt)
    }

    /// The largest eigenvalue of `M^-1 J^T W J`, to which that of the largest pair of bodies is added; `None` unless positive.
    fn largest(&self, weights: &Weights<'_>) -> Option<f64> {
        let (system, n) = (self.system, self.system.model.dof());
        let mut sum = DMatrix::zeros(n, n);
        for (velocity, weight) in &weights.joints {
            sum[(*velocity, *velocity)] += weight;
        }
        if let Some((ground, weight)) = weights.ground {
            for shape in &system.contacts {
                let pose = self.workspace.pose(BodyId::WORLD, shape.body);
                let normal = pose.rotation.inverse().act(ground.normal());
                for center in shape.centers() {
                    let J = self.in_body(shape.body, &(center - normal * shape.radius));
                    sum += J.transpose() * &J * weight;
                }
            }
        }
        for rope in &system.ropes {
            let J =
                self.in_world(rope.b, &rope.point_in_b) - self.in_world(rope.a, &rope.point_in_a);
            sum += J.transpose() * &J * (weights.ropes)(rope);
        }
        let largest = self.eigenvalue(&sum) + weights.bodies;
        (largest > 0.0).then_some(largest)
    }

    /// The Hessian of the springs between bodies and in joints, as if all of them were at rest.
    fn spring_stiffness(&self) -> DMatrix<f64> {
        let model = &self.system.model;
        let n = model.dof();
        let mut sum = DMatrix::zeros(n, n);
        for spring in model.springs() {
            // The bodies of a model have their names.
            let [Ok(a), Ok(b)] = [&spring.a, &spring.b].map(|name| model.body_id(name)) else {
                continue;
            };
            let mut J = Matrix6xX::zeros(n);
            self.workspace.jacobian(a, b, &mut J);
            sum += J.transpose() * spring.stiffness.matrix6() * J;
        }
        for body in model.bodies() {
            if let Some(spring) = model.joint_spring(body) {
                let velocity = model.velocity_range(body).start;
                sum[(velocity, velocity)] += spring.stiffness;
            }
        }
        sum
    }

    /// The largest eigenvalue of `M^-1 J^T J` of a pair of shapes that can touch, with the Jacobian J of their relative velocity where they are nearest to each
    /// other; 0 without any.
    fn of_pairs(&self, surroundings: Surroundings<'_>) -> f64 {
        if surroundings.bodies.is_none() {
            return 0.0;
        }
        let shapes = &self.system.contacts;
        let mut bodies: Vec<_> = shapes.iter().map(|shape| shape.body).collect();
        bodies.dedup();
        let mobility = Mobility::new(&self.workspace, &self.factor, bodies);
        let pairs = contact_pairs(self.system);
        let each = pairs.iter().map(|pair| {
            let shapes = pair.map(|i| &shapes[i]);
            let of_pair = mobility.between(shapes, &self.points(shapes));
            // It has the eigenvalues of `M^-1 J^T J` that are not zero.
            of_pair.symmetric_eigenvalues().max()
        });
        each.fold(0.0, f64::max)
    }

    /// Where two shapes are nearest to each other: m, in the frames of their bodies.
    fn points(&self, pair: [&ContactShape; 2]) -> [Vector3<f64>; 2] {
        let poses = pair.map(|shape| self.workspace.pose(BodyId::WORLD, shape.body));
        let ends = [0, 1].map(|i| pair[i].ends.map(|end| poses[i].act(&end)));
        let [a, b] = nearest_points(&ends[0], &ends[1]);
        let normal = (b - a).try_normalize(0.0).unwrap_or_else(Vector3::z);
        let surface = [a + normal * pair[0].radius, b - normal * pair[1].radius];
        [0, 1].map(|i| poses[i].inverse().act(&surface[i]))
    }

    /// The largest eigenvalue of `M^-1 W`.
    fn eigenvalue(&self, weights: &DMatrix<f64>) -> f64 {
        if weights.iter().all(|weight| *weight == 0.0) {
            return 0.0;
        }
        // L^-1 W L^-T has the same.
        let L = self.factor.l_dirty();
        let half = L.solve_lower_triangular(weights);
        let whole = half.and_then(|half| L.solve_lower_triangular(&half.transpose()));
        whole.map_or(0.0, |whole| whole.symmetric_eigenvalues().max())
    }
}
