//! What a vehicle looks like, as far as its description tells, and where its bodies are: for logs, reports and live views alike.
//!
//! [`Scene`] has the shapes of all bodies, [`BodyPoses`] their poses in any configuration, [`single_joints`] the joints that have one position.
//!
//! A body whose description says what it looks like ([`Visual`]) looks like that. Most descriptions have masses and joints, not surfaces: then bars stand from a body's origin to what is fixed to it: its rotors and the joints of the bodies that
//! it carries. A body that carries nothing is the box of even density that has its inertia.

mod joints;
mod poses;

use nalgebra::{Matrix3, Vector3};
use serde::Serialize;

use crate::multibody::{BodyId, Joint, JointKind};
use crate::system::System;
use crate::visual::{Visual, VisualShape};

pub use joints::{SingleJoint, single_joints};
pub use poses::BodyPoses;

type Point = [f64; 3];

/// The shapes of all bodies, each in its body's frame, m.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scene {
    /// The bodies, in the order of the poses.
    pub bodies: Vec<BodyShapes>,
    /// What gives thrust.
    pub rotors: Vec<RotorShape>,
    /// What hangs between two bodies; `None` is the world.
    pub ropes: Vec<RopeShape>,
    /// A length that is typical of the vehicle, m.
    pub size: f64,
}

/// A body.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BodyShapes {
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub shapes: Vec<Part>,
}

/// A solid and its colour.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Part {
    /// The solid.
    #[serde(flatten)]
    pub shape: Shape,
    /// Red, green, blue and opacity, each from 0 to 1, if that is described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<[f64; 4]>,
}

impl From<Shape> for Part {
    fn from(shape: Shape) -> Self {
        Self { shape, color: None }
    }
}

/// A solid.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Shape {
    /// A rod between two points.
    Rod {
        /// One end.
        from: Point,
        /// The other end.
        to: Point,
        /// Its radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Its centre.
        center: Point,
        /// Its half edges, as vectors.
        edges: [Point; 3],
    },
    /// A sphere.
    Sphere {
        /// Its centre.
        center: Point,
        /// Its radius.
        radius: f64,
    },
    /// A cylinder, such as a joint.
    Cylinder {
        /// Its centre.
        center: Point,
        /// Its axis, of length one.
        axis: Point,
        /// Its radius.
        radius: f64,
        /// Its length.
        length: f64,
    },
    /// Triangles.
    Mesh {
        /// Their corners.
        vertices: Vec<Point>,
        /// Three corners each, from 0.
        triangles: Vec<[u32; 3]>,
    },
}

/// A rotor.
#[derive(Clone, Debug, Serialize)]
pub struct RotorShape {
    /// Its name.
    pub name: String,
    /// Number of the body that carries it.
    pub body: usize,
    /// Its centre.
    pub position: Point,
    /// Direction of its thrust without tilt, of length one.
    pub axis: Point,
    /// Axis of its tilt, of length one.
    pub tilt: Option<Point>,
    /// Radius of its disc.
    pub radius: f64,
    /// Its largest thrust, N.
    pub max_thrust: f64,
}

/// A rope.
#[derive(Clone, Debug, Serialize)]
pub struct RopeShape {
    /// Number of the body at each end; `None` is the world.
    pub bodies: [Option<usize>; 2],
    /// Where it is tied to them.
    pub points: [Point; 2],
}

/// Thickness of a bar by its length.
const SLENDER: f64 = 0.035;

impl Scene {
    /// Of a described system.
    pub fn new(system: &System) -> Self {
        let model = &system.model;
        let inputs = &system.inputs;
        let rotors = || inputs.rotors().as_slice().iter().zip(inputs.carriers());
        let mut bodies = Vec::new();
        let mut size: f64 = 0.0;
        for body in model.bodies() {
            let seen: Vec<Part> = (system.visuals.iter())
                .filter(|visual| visual.body == body)
                .map(part)
                .collect();
            if !seen.is_empty() {
                let reaches = seen.iter().map(|part| part.shape.reach());
                size = reaches.fold(size, f64::max);
                bodies.push(BodyShapes {
                    name: model.name(body).to_owned(),
                    shapes: seen,
                });
                continue;
            }
            let carried: Vec<Vector3<f64>> = (model.bodies())
                .filter(|child| model.parent(*child) == Some(body))
                .filter_map(|child| Some(model.placement(child)?.translation))
                .collect();
            let lifted: Vec<Vector3<f64>> = rotors()
                .filter(|(_, carrier)| **carrier == body)
                .map(|(rotor, _)| rotor.position)
                .collect();
            let points: Vec<Vector3<f64>> = carried.iter().chain(&lifted).copied().collect();
            let longest = points.iter().map(Vector3::norm).fold(0.0, f64::max);
            let mut shapes = Vec::new();
            for point in points.iter().filter(|point| point.norm() > 1e-3 * longest) {
                let bar = Shape::Rod {
                    from: [0.0; 3],
                    to: (*point).into(),
                    radius: SLENDER * longest.max(point.norm()),
                };
                shapes.push(bar.into());
            }
            let free = model.parent(body) == Some(BodyId::WORLD)
                && matches!(model.joint(body).map(Joint::kind), Some(JointKind::Free(_)));
            let bulk = inertia_box(system, body);
            if free && longest > 0.0 {
                shapes.push(Shape::hub(longest).into());
            } else if points.iter().all(|point| point.norm() < 1e-6)
                && let Some((center, edges)) = bulk
            {
                let half = edges.iter().map(Vector3::norm).fold(0.0, f64::max);
                // What hangs far from its joint hangs by a bar.
                if center.norm() > 1.2 * half {
                    let bar = Shape::Rod {
                        from: [0.0; 3],
                        to: center.into(),
                        radius: 0.012 * center.norm(),
                    };
                    shapes.push(bar.into());
                }
                size = size.max(center.norm() + half);
                let bulk = Shape::Box {
                    center: center.into(),
                    edges: edges.map(Into::into),
                };
                shapes.push(bulk.into());
            }
            size = size.max(longest);
            bodies.push(BodyShapes {
                name: model.name(body).to_owned(),
                shapes,
            });
        }
        for (shapes, body) in bodies.iter_mut().zip(model.bodies()) {
            // What is described as it looks has its joints drawn already.
            if system.visuals.iter().all(|visual| visual.body != body) {
                let joint = joint(system, body, size);
                shapes.shapes.extend(joint.map(Part::from));
            }
        }
        let index = |body: BodyId| model.bodies().position(|other| other == body);
        Self {
            rotors: discs(system, size),
            ropes: (system.ropes.iter())
                .map(|rope| RopeShape {
                    bodies: [index(rope.a), index(rope.b)],
                    points: [rope.point_in_a.into(), rope.point_in_b.into()],
                })
                .collect(),
            bodies,
            size: if size > 0.0 { size } else { 1.0 },
        }
    }

    /// Where nothing describes the vehicle: a small craft with a nose.
    pub fn unknown(bodies: Vec<String>) -> Self {
        let craft = || {
            let hub = Shape::Box {
                center: [0.0; 3],
                edges: [[0.18, 0.0, 0.0], [0.0, 0.11, 0.0], [0.0, 0.0, 0.04]],
            };
            let nose = Shape::Rod {
                from: [0.0; 3],
                to: [0.3, 0.0, 0.0],
                radius: 0.02,
            };
            vec![hub.into(), nose.into()]
        };
        Self {
            bodies: (bodies.into_iter())
                .map(|name| BodyShapes {
                    name,
                    shapes: craft(),
                })
                .collect(),
            size: 0.3,
            ..Self::default()
        }
    }
}

impl Shape {
    /// A flat hub at the origin, of a vehicle whose arms are this long, m.
    pub fn hub(arm: f64) -> Self {
        let side = 0.22 * arm;
        Self::Box {
            center: [0.0; 3],
            edges: [
                [1.35 * side, 0.0, 0.0],
                [0.0, side, 0.0],
                [0.0, 0.0, 0.42 * side],
            ],
        }
    }

    /// How far it reaches from the origin, m.
    fn reach(&self) -> f64 {
        let norm = |point: &Point| Vector3::from(*point).norm();
        match self {
            Self::Rod { from, to, radius } => norm(from).max(norm(to)) + radius,
            Self::Box { center, edges } => {
                norm(center)
                    + edges
                        .map(Vector3::from)
                        .map(|edge| edge.norm_squared())
                        .iter()
                        .sum::<f64>()
                        .sqrt()
            }
            Self::Sphere { center, radius } => norm(center) + radius,
            Self::Cylinder {
                center,
                radius,
                length,
                ..
            } => norm(center) + radius.hypot(0.5 * length),
            Self::Mesh { vertices, .. } => vertices.iter().map(norm).fold(0.0, f64::max),
        }
    }
}

/// What is described, in the frame of its body.
fn part(visual: &Visual) -> Part {
    let pose = &visual.pose;
    let center = pose.translation.into();
    let axis = |k: usize| pose.rotation.matrix().column(k).into_owned();
    let shape = match &visual.shape {
        VisualShape::Box(lengths) => Shape::Box {
            center,
            edges: [0, 1, 2].map(|k| (axis(k) * (0.5 * lengths[k])).into()),
        },
        VisualShape::Cylinder { radius, height } => Shape::Cylinder {
            center,
            axis: axis(2).into(),
            radius: *radius,
            length: *height,
        },
        VisualShape::Sphere { radius } => Shape::Sphere {
            center,
            radius: *radius,
        },
        VisualShape::Mesh(surface) => Shape::Mesh {
            vertices: (surface.vertices().iter())
                .map(|vertex| pose.act(&Vector3::from(*vertex)).into())
                .collect(),
            triangles: surface.triangles().to_vec(),
        },
    };
    Part {
        shape,
        color: visual.color,
    }
}

/// The discs of all rotors of a vehicle of this size: as large as described, else as their neighbours leave room for.
fn discs(system: &System, size: f64) -> Vec<RotorShape> {
    let (model, inputs) = (&system.model, &system.inputs);
    let index = |body: BodyId| model.bodies().position(|other| other == body);
    let rotors = || inputs.rotors().as_slice().iter().zip(inputs.carriers());
    let discs = rotors().map(|(rotor, carrier)| {
        let nearest = rotors()
            .filter(|(other, body)| *body == carrier && other.position != rotor.position)
            .map(|(other, _)| (other.position - rotor.position).norm())
            .filter(|distance| *distance > 0.05 * size)
            .fold(f64::INFINITY, f64::min);
        let free = if nearest.is_finite() {
            (0.42 * nearest).min(0.62 * size)
        } else {
            0.4 * size.max(rotor.position.norm())
        };
        let radius = rotor.propeller.radius.unwrap_or(free);
        RotorShape {
            name: rotor.name.clone(),
            body: index(*carrier).unwrap_or_default(),
            position: rotor.position.into(),
            axis: rotor.axis.normalize().into(),
            tilt: rotor.tilt.as_ref().map(|tilt| tilt.axis.normalize().into()),
            radius,
            max_thrust: rotor.thrust[1].abs().max(rotor.thrust[0].abs()),
        }
    });
    discs.collect()
}

/// Middle and half edges of the box of even density with a body's inertia; a small cube for a point mass, nothing without mass.
fn inertia_box(system: &System, body: BodyId) -> Option<(Vector3<f64>, [Vector3<f64>; 3])> {
    let inertia = system.model.inertia(body)?;
    let mass = inertia.mass();
    if mass <= 0.0 {
        return None;
    }
    let principal = inertia.principal();
    let moments = principal.moments;
    // m (b^2 + c^2) / 12 about the first axis, and so on; never thinner than a cube of water's density would be by five.
    let cube = (mass / 1000.0).cbrt() / 2.0;
    let axes: Matrix3<f64> = *principal.pose.rotation.matrix();
    let half = |i: usize| {
        let square = 6.0 * (moments.sum() - 2.0 * moments[i]) / mass;
        (square.max(0.0).sqrt() / 2.0).max(0.2 * cube)
    };
    let halves = [0, 1, 2].map(half);
    let is_point = halves.iter().all(|length| *length <= 0.2 * cube);
    let edges = [0, 1, 2].map(|i| axes.column(i) * if is_point { cube } else { halves[i] });
    Some((principal.pose.translation, edges))
}

/// A drum about the axis of a joint that turns, a ball for one that turns about any, in the frame of the body that it carries.
fn joint(system: &System, body: BodyId, size: f64) -> Option<Shape> {
    let joint = system.model.joint(body)?;
    let axis = joint.axes().matrix().column(2).into_owned();
    let radius = 0.055 * size;
    match joint.kind() {
        JointKind::Revolute(_) | JointKind::Screw { .. } | JointKind::Cylindrical(_) => {
            // A propeller's bearing is smaller than an arm's elbow.
            let carries = (system.inputs.carriers()).contains(&body);
            Some(Shape::Cylinder {
                center: [0.0; 3],
                axis: axis.into(),
                radius: if carries { 0.5 * radius } else { radius },
                length: if carries { radius } else { 2.2 * radius },
            })
        }
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) | JointKind::Universal { .. } => {
            Some(Shape::Sphere {
                center: [0.0; 3],
                radius: 0.6 * radius,
            })
        }
        _ => None,
    }
}
