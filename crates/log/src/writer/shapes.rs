//! The shapes of a scene as Foxglove's entities.

use fly_mechanics::scene::{Part, RotorShape, Scene, Shape};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use super::parts::{timestamp, vector};
use crate::schema::foxglove::{
    ArrowPrimitive, Color, CubePrimitive, CylinderPrimitive, LinePrimitive, Point3, Pose,
    Quaternion, SceneEntity, SpherePrimitive, TriangleListPrimitive,
};

/// Colours that colour-blind readers can distinguish (Okabe and Ito), assigned to the bodies in turn.
const BODIES: [[f64; 3]; 6] = [
    [0.35, 0.42, 0.50],
    [0.90, 0.62, 0.00],
    [0.34, 0.71, 0.91],
    [0.80, 0.47, 0.65],
    [0.94, 0.89, 0.26],
    [0.84, 0.37, 0.00],
];
/// Colour of the reference.
const REFERENCE: [f64; 3] = [0.0, 0.62, 0.45];
/// Colour of the state, if the truth is shown as well.
const BELIEVED: [f64; 3] = [0.0, 0.45, 0.70];
/// Colour of thrusts.
const THRUST: [f64; 3] = [0.84, 0.37, 0.00];
/// Colour of ropes.
const ROPE: [f64; 3] = [0.25, 0.25, 0.25];

/// Colouring of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The vehicle itself.
    Solid,
    /// The controller's state, beside the truth.
    Estimated,
    /// The reference.
    Reference,
}

impl Look {
    fn color(self, body: usize) -> Color {
        match self {
            Self::Solid => color(BODIES[body % BODIES.len()], 1.0),
            Self::Estimated => color(BELIEVED, 0.35),
            Self::Reference => color(REFERENCE, 0.3),
        }
    }
}

/// The bodies with everything that is fixed to them, each in the frame of its name.
pub fn bodies(time: u64, scene: &Scene, frames: &[String], look: Look) -> Vec<SceneEntity> {
    let bodies = scene.bodies.iter().zip(frames).enumerate();
    let entity = |(i, (body, frame)): (usize, (&fly_mechanics::scene::BodyShapes, &String))| {
        let color = look.color(i);
        let described = |part: &Part| {
            let own = part.color.filter(|_| look == Look::Solid);
            own.map_or(color, |[r, g, b, a]| Color { r, g, b, a })
        };
        let mut entity = entity(time, frame, frame.clone());
        for part in &body.shapes {
            add(&part.shape, described(part), &mut entity);
        }
        for rotor in scene.rotors.iter().filter(|rotor| rotor.body == i) {
            if rotor.tilt.is_none() {
                entity.cylinders.push(disc(rotor, rotor.axis, color));
            }
        }
        entity
    };
    bodies.map(entity).collect()
}

/// The rotors' thrusts as arrows, N and rad, and the discs of those that tilt. `commands` has thrust and tilt of each
/// rotor; NaN is unknown.
pub fn thrusts(
    time: u64,
    scene: &Scene,
    frames: &[String],
    commands: &[[f64; 2]],
) -> Vec<SceneEntity> {
    let rotors = scene.rotors.iter().zip(commands).enumerate();
    let entities = rotors.filter_map(|(i, (rotor, [thrust, tilt]))| {
        let mut entity = entity(time, frames.get(rotor.body)?, format!("rotor.{i}"));
        let axis = match rotor.tilt {
            Some(about) if tilt.is_finite() => turned(rotor.axis, about, *tilt),
            _ => rotor.axis,
        };
        if rotor.tilt.is_some() {
            let color = Look::Solid.color(rotor.body);
            entity.cylinders.push(disc(rotor, axis, color));
        }
        // An arrow at maximum thrust is as long as the vehicle.
        let length = 1.25 * scene.size * thrust / rotor.max_thrust;
        if length.is_finite() && length.abs() > 1e-3 * scene.size {
            let direction = Vector3::from(axis) * length.signum();
            let along_x = UnitQuaternion::rotation_between(&Vector3::x(), &direction);
            // Half a turn about any perpendicular axis.
            let turn = along_x.unwrap_or_else(|| {
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI)
            });
            let head = (0.12 * scene.size).min(length.abs());
            entity.arrows.push(ArrowPrimitive {
                pose: Some(pose(rotor.position, &turn)),
                shaft_length: length.abs() - head,
                shaft_diameter: 0.035 * scene.size,
                head_length: head,
                head_diameter: 0.085 * scene.size,
                color: Some(color(THRUST, 1.0)),
            });
        }
        Some(entity)
    });
    entities.collect()
}

/// The ropes as lines in the world, between bodies at these poses.
pub fn ropes(time: u64, scene: &Scene, poses: &[[f64; 7]]) -> Option<SceneEntity> {
    let end = |body: Option<usize>, point: [f64; 3]| match body {
        None => Some(point),
        Some(body) => {
            let [x, y, z, qw, qi, qj, qk] = *poses.get(body)?;
            let turn = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(qw, qi, qj, qk));
            Some((turn * Vector3::from(point) + Vector3::new(x, y, z)).into())
        }
    };
    let mut ropes = entity(time, super::parts::WORLD, "ropes".to_owned());
    for rope in &scene.ropes {
        let ends = [0, 1].map(|k| end(rope.bodies[k], rope.points[k]));
        let points = ends.iter().flatten();
        ropes.lines.push(LinePrimitive {
            pose: Some(pose([0.0; 3], &UnitQuaternion::identity())),
            thickness: 0.01 * scene.size,
            points: points.map(|&[x, y, z]| Point3 { x, y, z }).collect(),
            color: Some(color(ROPE, 1.0)),
            ..LinePrimitive::default()
        });
    }
    (!ropes.lines.is_empty()).then_some(ropes)
}

fn entity(time: u64, frame: &str, id: String) -> SceneEntity {
    SceneEntity {
        timestamp: Some(timestamp(time)),
        frame_id: frame.to_owned(),
        id,
        frame_locked: true,
        ..SceneEntity::default()
    }
}

fn add(shape: &Shape, color: Color, entity: &mut SceneEntity) {
    match *shape {
        Shape::Mesh {
            ref vertices,
            ref triangles,
        } => entity.triangles.push(TriangleListPrimitive {
            pose: Some(pose([0.0; 3], &UnitQuaternion::identity())),
            points: (vertices.iter())
                .map(|&[x, y, z]| Point3 { x, y, z })
                .collect(),
            indices: triangles.iter().flatten().copied().collect(),
            color: Some(color),
        }),
        Shape::Rod { from, to, radius } => {
            let (from, to) = (Vector3::from(from), Vector3::from(to));
            let middle = (from + to) / 2.0;
            entity
                .cylinders
                .push(drum(middle.into(), (to - from).into(), radius, color));
        }
        Shape::Cylinder {
            center,
            axis,
            radius,
            length,
        } => {
            let along = Vector3::from(axis) * length;
            entity
                .cylinders
                .push(drum(center, along.into(), radius, color));
        }
        Shape::Box { center, edges } => {
            let edges = edges.map(Vector3::from);
            let lengths = edges.map(|edge| 2.0 * edge.norm());
            let [x, y] = [0, 1].map(|i| edges[i].normalize());
            // The third axis may point the other way: a box looks the same.
            let axes = Matrix3::from_columns(&[x, y, x.cross(&y)]);
            let turn =
                UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
            entity.cubes.push(CubePrimitive {
                pose: Some(pose(center, &turn)),
                size: Some(vector(lengths)),
                color: Some(color),
            });
        }
        Shape::Sphere { center, radius } => entity.spheres.push(SpherePrimitive {
            pose: Some(pose(center, &UnitQuaternion::identity())),
            size: Some(vector([2.0 * radius; 3])),
            color: Some(color),
        }),
    }
}

/// A rotor's disc.
fn disc(rotor: &RotorShape, axis: [f64; 3], color: Color) -> CylinderPrimitive {
    let along = Vector3::from(axis) * (0.04 * rotor.radius);
    let color = Color {
        a: 0.4 * color.a,
        ..color
    };
    drum(rotor.position, along.into(), rotor.radius, color)
}

/// A cylinder as long as this vector, and along it.
fn drum(center: [f64; 3], along: [f64; 3], radius: f64, color: Color) -> CylinderPrimitive {
    let along = Vector3::from(along);
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along);
    CylinderPrimitive {
        // Both directions are equivalent.
        pose: Some(pose(center, &turn.unwrap_or_default())),
        size: Some(vector([2.0 * radius, 2.0 * radius, along.norm()])),
        bottom_scale: 1.0,
        top_scale: 1.0,
        color: Some(color),
    }
}

/// A vector turned about an axis perpendicular to it, both of length one.
fn turned(vector: [f64; 3], about: [f64; 3], angle: f64) -> [f64; 3] {
    let (vector, about) = (Vector3::from(vector), Vector3::from(about));
    (vector * angle.cos() + about.cross(&vector) * angle.sin()).into()
}

fn pose(at: [f64; 3], turn: &UnitQuaternion<f64>) -> Pose {
    Pose {
        position: Some(vector(at)),
        orientation: Some(Quaternion {
            x: turn.i,
            y: turn.j,
            z: turn.k,
            w: turn.w,
        }),
    }
}

const fn color([r, g, b]: [f64; 3], a: f64) -> Color {
    Color { r, g, b, a }
}
