//! The closed loop does not depend on the coordinates that describe it.
//!
//! The same system, with the same desired energies and the same reference, is described by other configurations and other velocities: rotation
//! matrices, unit quaternions, Euler angles (three hinges with massless bodies between), body and inertial velocities. Each description has its own
//! model, its own M, b, B, template and law; their closed loops are the same motion, and ask for the same forces.
//!
//! Everything that enters is a tensor, Konz 5.3: the template is made of poses and twists, the law is the nearest acceleration in the metric
//! Mbar, and a map Q of velocities must change with the coordinates as `Z(x) Q Z(x_R)^-1`. Maps that are made of twists do ([`PairMap`],
//! [`Twists`] below); [`JointMap`] does not where Euler angles stand for a ball joint.

#![allow(non_snake_case)]

use crate::common::Random;
use crate::solve::solve;
use fly_control::law::Law;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template, Transport};
use fly_control::transport::{
    JointMap, Map, PairMap, TransportContext, TransportError, TransportMap, adjoint,
};
use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, ModelBuilder, Workspace};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Matrix6xX, Vector3, Vector6};

/// The bound on what poses (m, rad) and inputs (relative to the largest) may differ by.
const SAME: f64 = 1e-10;
/// Steps of order eight: their errors are far below the bound, as half the step shows.
const STEP: f64 = 5e-3;
const TIME: f64 = 1.0;

/// How the attitude of a ball joint is described.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Attitude {
    Matrix,
    Quaternion,
    /// A rotation matrix and an angular velocity relative to the world, in body axes.
    Absolute,
    AbsoluteQuaternion,
    /// Three hinges about z, y and x: Euler angles and their rates.
    Euler,
}

impl Attitude {
    /// Adds a body on a ball joint.
    fn ball(
        self,
        builder: ModelBuilder<f64>,
        name: &str,
        parent: &str,
        placement: SE3<f64>,
    ) -> ModelBuilder<f64> {
        let body = |joint| {
            Body::new(name, joint)
                .parent(parent)
                .placed(placement)
                .inertia(inertia(name))
        };
        let hinge = |axis| Joint::revolute(axis).expect("an axis");
        match self {
            Self::Matrix => builder.body(body(Joint::spherical())),
            Self::Quaternion => builder.body(body(Joint::spherical().with_quaternion())),
            Self::Absolute => builder.body(body(Joint::absolute_spherical())),
            Self::AbsoluteQuaternion => {
                builder.body(body(Joint::absolute_spherical().with_quaternion()))
            }
            Self::Euler => {
                let [outer, inner] = ["outer", "inner"].map(|ring| format!("{name} {ring}"));
                builder
                    .body(
                        Body::new(outer.as_str(), hinge(Vector3::z()))
                            .parent(parent)
                            .placed(placement),
                    )
                    .body(Body::new(inner.as_str(), hinge(Vector3::y())).parent(outer.as_str()))
                    .body(
                        Body::new(name, hinge(Vector3::x()))
                            .parent(inner.as_str())
                            .inertia(inertia(name)),
                    )
            }
        }
    }

    /// Its coordinates where the body has this attitude relative to what carries it, and this one in the world.
    fn coordinates(self, relative: &SO3<f64>, in_world: &SO3<f64>) -> Vec<f64> {
        match self {
            Self::Matrix => relative.matrix().as_slice().to_vec(),
            Self::Quaternion => relative.to_quaternion().as_slice().to_vec(),
            Self::Absolute => in_world.matrix().as_slice().to_vec(),
            Self::AbsoluteQuaternion => in_world.to_quaternion().as_slice().to_vec(),
            Self::Euler => {
                let R = relative.matrix();
                vec![
                    R[(1, 0)].atan2(R[(0, 0)]),
                    (-R[(2, 0)]).asin(),
                    R[(2, 1)].atan2(R[(2, 2)]),
                ]
            }
        }
    }
}

/// Some inertia for the body of this name.
fn inertia(name: &str) -> PseudoInertia<f64> {
    let k = name.len() as f64;
    let moments = Matrix3::new(0.5, 0.02, -0.01, 0.02, 0.6, 0.03, -0.01, 0.03, 0.7) * (0.1 * k);
    PseudoInertia::from_center(0.4 * k, Vector3::new(0.1, -0.07, 0.12), moments)
        .expect("an inertia")
}

/// Full matrices with different centres: rates of a few 1/s.
fn energies(random: &mut Random) -> Pair {
    let [stiffness, damping, inertia] = [8.0, 4.0, 1.0].map(|w| random.moment(w));
    Pair::new(stiffness, damping, inertia)
}

/// The poses of bodies in the world by their names.
type Poses<'a> = &'a dyn Fn(&str) -> SE3<f64>;

/// A system that can be described in several ways.
struct Plant {
    /// Builds the model.
    build: fn(Description) -> Model<f64>,
    /// Coordinates from the poses of the bodies in the world.
    coordinates: fn(Description, Poses<'_>) -> Vec<f64>,
    /// Pairs of bodies whose relative twists together tell the whole velocity, from the world on outwards.
    links: &'static [(&'static str, &'static str)],
    /// Pairs with desired energies.
    pairs: &'static [(&'static str, &'static str)],
    /// Inputs are wrenches in body axes between pairs: pair and direction (0 to 5).
    inputs: &'static [(usize, usize)],
    /// The reference in the coordinates with Euler angles: offset, amplitude, rate of a sine.
    reference: &'static [[f64; 3]],
    /// The start in the same coordinates: how far from the reference's, and velocities.
    start: &'static [[f64; 2]],
}

/// How a system is described.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Description {
    attitude: Attitude,
    /// A free body moves on three sliders of the world instead of along its own axes.
    inertial: bool,
    /// The velocity of a lone ball joint is its angular velocity in the axes of the world, which no joint has: the equations are transformed.
    angular_in_world: bool,
}

const fn described(attitude: Attitude) -> Description {
    Description {
        attitude,
        inertial: false,
        angular_in_world: false,
    }
}

const EULER: Description = Description {
    attitude: Attitude::Euler,
    inertial: true,
    angular_in_world: false,
};

/// A rigid body, held away from its centre of mass.
const BALL: Plant = Plant {
    build: |d| {
        let builder = d
            .attitude
            .ball(Model::builder(), "body", "world", SE3::identity());
        builder.build().expect("a model")
    },
    coordinates: |d, pose| {
        let R = pose("body").rotation;
        d.attitude.coordinates(&R, &R)
    },
    links: &[("world", "body")],
    pairs: &[("world", "body")],
    inputs: &[(0, 3), (0, 4), (0, 5)],
    reference: &[[0.3, 1.2, 1.1], [0.1, 0.5, 1.7], [-0.4, 0.9, 1.4]],
    start: &[[0.9, -0.3], [-0.4, 0.6], [1.1, 0.5]],
};

/// A free rigid body.
const FREE: Plant = Plant {
    build: |d| {
        if d.inertial {
            let slider = |axis| Joint::prismatic(axis).expect("an axis");
            let builder = Model::builder()
                .body(Body::new("x", slider(Vector3::x())))
                .body(Body::new("y", slider(Vector3::y())).parent("x"))
                .body(Body::new("z", slider(Vector3::z())).parent("y"));
            let builder = d.attitude.ball(builder, "body", "z", SE3::identity());
            return builder.build().expect("a model");
        }
        let joint = match d.attitude {
            Attitude::Matrix => Joint::free(),
            Attitude::Quaternion => Joint::free().with_quaternion(),
            other => panic!("no free joint with {other:?}"),
        };
        let body = Body::new("body", joint).inertia(inertia("body"));
        Model::builder().body(body).build().expect("a model")
    },
    coordinates: |d, pose| {
        let SE3 {
            rotation: R,
            translation: p,
        } = pose("body");
        let mut x = p.as_slice().to_vec();
        x.extend(d.attitude.coordinates(&R, &R));
        x
    },
    links: &[("world", "body")],
    pairs: &[("world", "body")],
    inputs: &[(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5)],
    reference: &[
        [0.0, 0.8, 1.3],
        [0.2, 0.5, 0.9],
        [1.0, 0.4, 1.6],
        [0.3, 1.2, 1.1],
        [0.1, 0.5, 1.7],
        [-0.4, 0.9, 1.4],
    ],
    start: &[
        [0.5, 0.2],
        [-0.4, 0.1],
        [0.3, -0.6],
        [0.9, -0.3],
        [-0.4, 0.6],
        [1.1, 0.5],
    ],
};

/// The arm's axes, and where its joints are (m).
const COLUMN: [f64; 3] = [0.2, -0.1, 1.0];
const HAND: [f64; 3] = [1.0, 0.3, -0.2];
const SHOULDER: [f64; 3] = [0.2, 0.1, 0.5];
const WRIST: [f64; 3] = [0.3, 0.0, 0.1];

fn tilted(position: [f64; 3]) -> SE3<f64> {
    SE3::new(SO3::exp(&Vector3::new(0.3, -0.2, 0.4)), position.into())
}

/// An arm: a turning column, a ball joint, and a hand that slides.
const ARM: Plant = Plant {
    build: |d| {
        let hinge = Joint::revolute(COLUMN.into()).expect("an axis");
        let slider = Joint::prismatic(HAND.into()).expect("an axis");
        let builder = Model::builder().body(Body::new("column", hinge).inertia(inertia("column")));
        let hand = Body::new("hand", slider).parent("forearm");
        d.attitude
            .ball(builder, "forearm", "column", tilted(SHOULDER))
            .body(hand.placed(tilted(WRIST)).inertia(inertia("hand")))
            .build()
            .expect("a model")
    },
    coordinates: |d, pose| {
        let along = |v: [f64; 3]| Vector3::from(v).normalize();
        let angle = pose("column").rotation.log().dot(&along(COLUMN));
        let forearm = pose("column").inverse() * pose("forearm");
        let relative = tilted(SHOULDER).rotation.inverse() * forearm.rotation;
        let hand = tilted(WRIST).inverse() * (pose("forearm").inverse() * pose("hand"));
        let mut x = vec![angle];
        x.extend(d.attitude.coordinates(&relative, &pose("forearm").rotation));
        x.push(hand.translation.dot(&along(HAND)));
        x
    },
    links: &[
        ("world", "column"),
        ("column", "forearm"),
        ("forearm", "hand"),
    ],
    pairs: &[
        ("world", "column"),
        ("column", "forearm"),
        ("forearm", "hand"),
        ("world", "hand"),
    ],
    inputs: &[(0, 5), (1, 3), (1, 4), (1, 5), (2, 0)],
    reference: &[
        [0.2, 0.7, 1.2],
        [0.3, 0.9, 1.1],
        [0.1, 0.4, 1.7],
        [-0.4, 0.7, 1.4],
        [0.3, 0.2, 1.9],
    ],
    start: &[
        [0.6, 0.4],
        [0.7, -0.3],
        [-0.3, 0.4],
        [0.8, 0.5],
        [0.1, -0.2],
    ],
};

/// Which transport map the energy-based approach takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Particle,
    Body,
    Pair(Transport),
    Twists,
    Joints,
}

impl Way {
    fn approach(self) -> Approach {
        match self {
            Self::Particle => Approach::Particle,
            Self::Body => Approach::Body,
            _ => Approach::Energy,
        }
    }
}

/// `Q = S^+ Ad(E) S_R` with the Jacobians S of several pairs below each other: the map of each joint's own twist, whatever coordinates the
/// joint has.
struct Twists {
    links: Vec<(BodyId, BodyId)>,
}

impl TransportMap for Twists {
    fn evaluate(&mut self, at: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError> {
        let n = at.model.dof();
        let rows = 6 * self.links.len();
        let (mut S, mut S_dot) = (DMatrix::zeros(rows, n), DMatrix::zeros(rows, n));
        let (mut carried, mut rate) = (S.clone(), S.clone());
        let [mut J, mut J_dot, mut J_R, mut J_R_dot] = [0; 4].map(|_| Matrix6xX::zeros(n));
        for (i, (a, b)) in self.links.iter().enumerate() {
            at.actual.jacobian(*a, *b, &mut J);
            at.actual.jacobian_rate(*a, *b, &mut J_dot);
            at.reference.jacobian(*a, *b, &mut J_R);
            at.reference.jacobian_rate(*a, *b, &mut J_R_dot);
            let E = at.actual.pose(*a, *b).inverse() * at.reference.pose(*a, *b);
            let (z, z_R) = (at.actual.twist(*a, *b), at.reference.twist(*a, *b));
            let of_twist = adjoint(&E, &z, &z_R);
            S.rows_mut(6 * i, 6).copy_from(&J);
            S_dot.rows_mut(6 * i, 6).copy_from(&J_dot);
            carried.rows_mut(6 * i, 6).copy_from(&(of_twist.Q * &J_R));
            let of_rate = of_twist.Q_dot * &J_R + of_twist.Q * &J_R_dot;
            rate.rows_mut(6 * i, 6).copy_from(&of_rate);
        }
        let inverse = left_inverse(&S);
        map.Q = &inverse * carried;
        map.Q_dot = inverse * (rate - S_dot * &map.Q);
        Ok(())
    }
}

fn left_inverse(S: &DMatrix<f64>) -> DMatrix<f64> {
    let gram = (S.transpose() * S).cholesky().expect("independent columns");
    gram.solve(&S.transpose())
}

/// The closed loop in one description.
struct Loop<'a> {
    plant: &'a Plant,
    description: Description,
    model: Model<f64>,
    template: Template<Model<f64>>,
    law: Law,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    desired: DesiredMotion,
    /// The same system with Euler angles, in which reference and start are given.
    source: Model<f64>,
    source_workspace: Workspace<f64>,
}

fn body(model: &Model<f64>, name: &str) -> BodyId {
    match name {
        "world" => BodyId::WORLD,
        name => model.body_id(name).expect("a body"),
    }
}

impl<'a> Loop<'a> {
    fn new(plant: &'a Plant, description: Description, way: Way, inputs: usize) -> Self {
        let model = (plant.build)(description);
        let mut random = Random::new(2_021);
        let pairs: Vec<_> = (plant.pairs.iter())
            .map(|(a, b)| SystemPair {
                a: body(&model, a),
                b: body(&model, b),
                energies: energies(&mut random),
            })
            .collect();
        let links = plant.links.iter();
        let links = links.map(|(a, b)| (body(&model, a), body(&model, b)));
        let map: Box<dyn TransportMap> = match way {
            Way::Pair(kind) => Box::new(PairMap::new(&model, kind, 0)),
            Way::Twists => Box::new(Twists {
                links: links.collect(),
            }),
            _ => Box::new(JointMap),
        };
        let source = (plant.build)(EULER);
        Self {
            plant,
            description,
            template: Template::of_system(&model, way.approach(), pairs, map),
            law: Law::new(Dyn(model.dof()), Dyn(inputs)),
            actual: Workspace::new(&model),
            reference: Workspace::new(&model),
            desired: DesiredMotion::new(&model),
            source_workspace: Workspace::new(&source),
            source,
            model,
        }
    }

    /// A motion given with Euler angles, in these coordinates: configuration, velocity and acceleration.
    fn translate(&mut self, q: &[f64], q_dot: &[f64], q_ddot: &[f64]) -> [Vec<f64>; 3] {
        let (source, from) = (&self.source, &mut self.source_workspace);
        from.update(source, q, q_dot);
        from.update_jacobians(source);
        let pose = |name: &str| from.pose(BodyId::WORLD, body(source, name));
        let x = (self.plant.coordinates)(self.description, &pose);
        let q_ddot = DVector::from_column_slice(q_ddot);
        let n = self.model.dof();
        let rows = 6 * self.plant.links.len();
        let (mut z, mut z_dot) = (DVector::zeros(rows), DVector::zeros(rows));
        for (i, (a, b)) in self.plant.links.iter().enumerate() {
            let (a, b) = (body(source, a), body(source, b));
            let mut J = Matrix6xX::zeros(source.dof());
            from.jacobian(a, b, &mut J);
            z.rows_mut(6 * i, 6).copy_from(&from.twist(a, b));
            z_dot
                .rows_mut(6 * i, 6)
                .copy_from(&(J * &q_ddot + from.bias_acceleration(a, b)));
        }
        // z = S xi, z' = S xi' + S' xi
        let to = &mut self.reference;
        to.update(&self.model, &x, &vec![0.0; n]);
        to.update_jacobians(&self.model);
        let mut S = DMatrix::zeros(rows, n);
        let mut J = Matrix6xX::zeros(n);
        for (i, (a, b)) in self.plant.links.iter().enumerate() {
            to.jacobian(body(&self.model, a), body(&self.model, b), &mut J);
            S.rows_mut(6 * i, 6).copy_from(&J);
        }
        let inverse = left_inverse(&S);
        let xi = &inverse * &z;
        assert!((S * &xi - &z).amax() < 1e-12, "the links tell the velocity");
        to.update(&self.model, &x, xi.as_slice());
        for (i, (a, b)) in self.plant.links.iter().enumerate() {
            let bias: Vector6<f64> =
                to.bias_acceleration(body(&self.model, a), body(&self.model, b));
            let mut rows = z_dot.rows_mut(6 * i, 6);
            rows -= bias;
        }
        let xi_dot = inverse * z_dot;
        [x, xi.as_slice().to_vec(), xi_dot.as_slice().to_vec()]
    }

    fn reference_at(&mut self, t: f64) -> [Vec<f64>; 3] {
        let at = |f: fn(&[f64; 3], f64) -> f64| -> Vec<f64> {
            self.plant.reference.iter().map(|s| f(s, t)).collect()
        };
        let q = at(|[offset, size, rate], t| offset + size * (rate * t).sin());
        let q_dot = at(|[_, size, rate], t| size * rate * (rate * t).cos());
        let q_ddot = at(|[_, size, rate], t| -size * rate * rate * (rate * t).sin());
        self.translate(&q, &q_dot, &q_ddot)
    }

    fn start(&mut self) -> SystemState<f64> {
        let zip = self.plant.reference.iter().zip(self.plant.start);
        let q: Vec<f64> = zip.map(|([offset, ..], [off, _])| offset + off).collect();
        let q_dot: Vec<f64> = self.plant.start.iter().map(|[_, rate]| *rate).collect();
        let [x, xi, _] = self.translate(&q, &q_dot, &vec![0.0; q.len()]);
        SystemState {
            time: 0.0,
            configuration: x,
            velocity: xi,
        }
    }

    /// Z with `xi = Z eta`, where eta is the angular velocity in the axes of the world: `Z = R^T`.
    fn turned(&self, x: &[f64]) -> Option<DMatrix<f64>> {
        let world = self.description.angular_in_world;
        world.then(|| DMatrix::from_row_slice(3, 3, x))
    }

    /// The input, and the rate of the velocity.
    fn evaluate(&mut self, at: &SystemState<f64>) -> (DVector<f64>, DVector<f64>) {
        let [x_R, xi_R, xi_dot_R] = self.reference_at(at.time);
        let (x, xi) = (&at.configuration, &at.velocity);
        let model = &self.model;
        let n = model.dof();
        self.actual.update(model, x, xi);
        self.actual.update_jacobians(model);
        let goal = SystemReference {
            configuration: &x_R,
            velocity: &xi_R,
            acceleration: &xi_dot_R,
        };
        self.template
            .evaluate(
                model,
                &self.actual,
                xi,
                &mut self.reference,
                &goal,
                &mut self.desired,
            )
            .expect("a map");
        let mut M = DMatrix::zeros(n, n);
        let mut b = DVector::zeros(n);
        model.mass_matrix(&mut self.actual, x, &mut M);
        model.bias(&mut self.actual, x, xi, b.as_mut_slice());
        let p = self.law.metric().ncols();
        let mut B = DMatrix::zeros(n, p);
        let mut J = Matrix6xX::zeros(n);
        for (j, (pair, direction)) in self.plant.inputs[..p].iter().enumerate() {
            let (a, b) = self.plant.links[*pair];
            self.actual.jacobian(body(model, a), body(model, b), &mut J);
            B.set_column(j, &J.row(*direction).transpose());
        }
        let turned = self.turned(x);
        if let Some(Z) = &turned {
            // xi' = Z eta', as Z' eta = -xi x xi = 0; forces go by Z^T.
            let desired = &mut self.desired;
            (M, b, B) = (Z.tr_mul(&M) * Z, Z.tr_mul(&b), Z.tr_mul(&B));
            desired.bias = Z.tr_mul(&desired.bias);
            desired.mass_matrix = Z.tr_mul(&desired.mass_matrix) * Z;
        }
        let u = solve(&mut self.law, &M, &b, &B, &self.desired);
        let rate = M.cholesky().expect("a mass").solve(&(B * &u - b));
        match turned {
            Some(Z) => (u, Z * rate),
            None => (u, rate),
        }
    }

    /// Flies, and tells twenty times in a second where the bodies are, and what the inputs and W are.
    fn fly(mut self, step: f64) -> Flight {
        let mut motion = self.start();
        let mut flight = Flight::default();
        let model = self.model.clone();
        let mut integrator = RungeKutta::new(&model, Scheme::DormandPrince8);
        let apart = (0.05 / step).round();
        let mut k = 0.0;
        while k * step < TIME + 0.5 * step {
            if k % apart == 0.0 {
                let (u, _) = self.evaluate(&motion);
                flight.inputs.extend(u.iter());
                flight.totals.push(self.desired.energies.total);
                for (_, b) in self.plant.links {
                    let pose = self.actual.pose(BodyId::WORLD, body(&model, b));
                    flight.poses.extend(pose.translation.iter());
                    flight.poses.extend(pose.rotation.matrix().iter());
                }
            }
            integrator.step(&model, &mut motion, step, |at, rates| {
                rates.copy_from_slice(self.evaluate(at).1.as_slice());
            });
            k += 1.0;
        }
        flight
    }
}

/// What a closed loop did.
#[derive(Default)]
struct Flight {
    /// Positions and rotation matrices.
    poses: Vec<f64>,
    inputs: Vec<f64>,
    totals: Vec<f64>,
}

impl Flight {
    /// The largest difference of a pose (m, rad), and of an input and of W by the largest.
    fn difference(&self, other: &Self) -> f64 {
        assert!(self.totals.len() == other.totals.len() && self.totals.len() > 10);
        let largest = |a: &[f64]| a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let apart = |a: &[f64], b: &[f64]| {
            assert_eq!(a.len(), b.len());
            let pairs = a.iter().zip(b);
            pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()))
        };
        let relative = |a: &[f64], b: &[f64]| apart(a, b) / largest(a);
        apart(&self.poses, &other.poses)
            .max(relative(&self.inputs, &other.inputs))
            .max(relative(&self.totals, &other.totals))
    }
}

const WAYS: [Way; 4] = [
    Way::Particle,
    Way::Body,
    Way::Pair(Transport::Adjoint),
    Way::Pair(Transport::Centred),
];

/// Flies in all descriptions, with all these ways, and compares with the first description.
fn compare(plant: &Plant, inputs: usize, descriptions: &[Description], ways: &[Way]) {
    for way in ways {
        let fly = |d: Description, step| Loop::new(plant, d, *way, inputs).fly(step);
        let first = fly(descriptions[0], STEP);
        // The motion is worth comparing, and the steps are short enough.
        let size = 12 * plant.links.len();
        let far = first.poses.iter().enumerate();
        let far = far.map(|(i, x)| (x - first.poses[i % size]).abs());
        let far = far.fold(0.0, f64::max);
        assert!(far > 0.3, "{way:?}: it hardly moves: {far}");
        let halved = first.difference(&fly(descriptions[0], STEP / 2.0));
        assert!(
            halved < 0.2 * SAME,
            "{way:?}: {halved:e} with half the step"
        );
        for description in &descriptions[1..] {
            let difference = first.difference(&fly(*description, STEP));
            assert!(
                difference < SAME,
                "{way:?}, {description:?}: {difference:e}"
            );
        }
    }
}

#[test]
fn a_body_on_a_ball_joint() {
    let descriptions = [
        described(Attitude::Matrix),
        described(Attitude::Quaternion),
        described(Attitude::Absolute),
        described(Attitude::AbsoluteQuaternion),
        EULER,
        Description {
            angular_in_world: true,
            ..described(Attitude::Matrix)
        },
    ];
    compare(&BALL, 3, &descriptions, &WAYS);
    // One moment too few: the law has to choose.
    compare(&BALL, 2, &descriptions, &WAYS);
    // The map of joints is that of the pair, as long as no Euler angles are at work.
    compare(&BALL, 3, &descriptions[..4], &[Way::Joints]);
}

#[test]
fn a_free_body() {
    let inertial = |attitude| Description {
        inertial: true,
        ..described(attitude)
    };
    let descriptions = [
        described(Attitude::Matrix),
        described(Attitude::Quaternion),
        inertial(Attitude::Matrix),
        inertial(Attitude::Quaternion),
        inertial(Attitude::Absolute),
        EULER,
    ];
    compare(&FREE, 6, &descriptions, &WAYS);
    compare(&FREE, 4, &descriptions, &WAYS);
}

#[test]
fn an_arm_with_a_ball_joint() {
    let descriptions = [
        described(Attitude::Matrix),
        described(Attitude::Quaternion),
        described(Attitude::Absolute),
        described(Attitude::AbsoluteQuaternion),
        EULER,
    ];
    let ways = [Way::Particle, Way::Body, Way::Twists];
    compare(&ARM, 5, &descriptions, &ways);
    compare(&ARM, 3, &descriptions, &ways);
    // Of joints relative to what carries them the map of joints is that of their twists.
    compare(&ARM, 5, &descriptions[..2], &[Way::Joints]);
}

/// Euler angles with the identity as map are another controller, as is an absolute joint with the map of its absolute attitude: so the test sees it.
#[test]
fn the_map_of_joints_depends_on_the_joints() {
    for (plant, other) in [
        (&BALL, EULER),
        (&ARM, EULER),
        (&ARM, described(Attitude::Absolute)),
    ] {
        let inputs = plant.inputs.len();
        let [first, other] = [described(Attitude::Matrix), other]
            .map(|d| Loop::new(plant, d, Way::Joints, inputs).fly(STEP));
        assert!(first.difference(&other) > 1e-3);
    }
}
