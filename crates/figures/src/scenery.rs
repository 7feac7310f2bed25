//! Drawings of systems: the shapes of reports, springs, joints and the ground, from a chosen viewpoint.

use std::f64::consts::TAU;

use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, JointKind};
use fly_mechanics::scene::{Scene, Shape};
use fly_plot::{Area, Arrow, Color, Curve, Dots, Panel, Stroke};
use nalgebra::Vector3;

/// A viewpoint.
#[derive(Clone, Copy, Debug)]
pub struct View {
    right: Vector3<f64>,
    up: Vector3<f64>,
}

impl View {
    /// From the side: x to the right, z up.
    pub fn side() -> Self {
        Self {
            right: Vector3::x(),
            up: Vector3::z(),
        }
    }

    /// From above: x to the right, y up.
    pub fn top() -> Self {
        Self {
            right: Vector3::x(),
            up: Vector3::y(),
        }
    }

    /// From the right, the rear and above.
    pub fn space() -> Self {
        let (turn, height) = (-1.05_f64, 0.42_f64);
        Self {
            right: Vector3::new(-turn.sin(), turn.cos(), 0.0),
            up: Vector3::new(
                -height.sin() * turn.cos(),
                -height.sin() * turn.sin(),
                height.cos(),
            ),
        }
    }

    /// Position of a point in the drawing.
    pub fn at(&self, point: &Vector3<f64>) -> [f64; 2] {
        [self.right.dot(point), self.up.dot(point)]
    }

    /// Distance of a point towards the viewer.
    fn nearness(&self, point: &Vector3<f64>) -> f64 {
        self.right.cross(&self.up).dot(point)
    }
}

/// How to draw bodies.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The viewpoint.
    pub view: View,
    /// Colour of moving bodies.
    pub color: Color,
    /// Width of a bar, px.
    pub bar: f64,
    /// Opacity of areas.
    pub opacity: f64,
}

/// Draws a system whose bodies have these poses.
pub fn bodies(panel: &mut Panel, system: &System, poses: &[SE3<f64>], look: &Look) {
    let scene = Scene::new(system);
    let mut order: Vec<usize> = (0..poses.len().min(scene.bodies.len())).collect();
    let nearness = |i: &usize| look.view.nearness(&poses[*i].translation);
    order.sort_by(|a, b| nearness(a).total_cmp(&nearness(b)));
    for i in order {
        for shape in &scene.bodies[i].shapes {
            draw_shape(panel, shape, &poses[i], look);
        }
        for rotor in scene.rotors.iter().filter(|rotor| rotor.body == i) {
            let center = act(&poses[i], rotor.position);
            let axis = poses[i].rotation.act(&Vector3::from(rotor.axis));
            let ring = circle(&center, &axis, rotor.radius, &look.view);
            panel
                .add(Area::new(ring.clone(), Color::Series(0)).opacity(0.35 * look.opacity))
                .add(Curve::new(ring, Color::Series(0)).width(1.0));
            let tip = center + axis * (0.45 * scene.size);
            let ends = [center, tip].map(|point| look.view.at(&point));
            panel.add(Arrow::new(ends[0], ends[1], Color::Series(1)));
        }
    }
    for rope in &scene.ropes {
        let ends = [0, 1].map(|end| {
            let point = rope.points[end];
            let pose = rope.bodies[end].and_then(|body| poses.get(body));
            let point = pose.map_or_else(|| Vector3::from(point), |pose| act(pose, point));
            look.view.at(&point)
        });
        panel.add(Curve::new(ends.to_vec(), Color::Ink).width(1.0));
    }
}

fn act(pose: &SE3<f64>, point: [f64; 3]) -> Vector3<f64> {
    pose.rotation.act(&Vector3::from(point)) + pose.translation
}

fn draw_shape(panel: &mut Panel, shape: &Shape, pose: &SE3<f64>, look: &Look) {
    let (view, color) = (&look.view, look.color);
    match shape {
        Shape::Bar { from, to, .. } => {
            let ends = [from, to].map(|point| view.at(&act(pose, *point)));
            panel.add(Curve::new(ends.to_vec(), color).width(look.bar));
        }
        Shape::Box { center, edges } => {
            let center = act(pose, *center);
            let edges = edges.map(|edge| pose.rotation.act(&Vector3::from(edge)));
            for axis in 0..3 {
                let (a, b) = (edges[(axis + 1) % 3], edges[(axis + 2) % 3]);
                // Of two opposite faces the nearer one is visible; seen edge-on, both are.
                let out = edges[axis]
                    * if view.nearness(&edges[axis]) < 0.0 {
                        -1.0
                    } else {
                        1.0
                    };
                let face = [a + b, b - a, -a - b, a - b, a + b];
                let face = face.map(|corner| view.at(&(center + out + corner)));
                panel
                    .add(Area::new(face.to_vec(), color).opacity(0.3 * look.opacity))
                    .add(Curve::new(face.to_vec(), color).width(1.0));
            }
        }
        Shape::Ball { center, .. } => {
            let at = view.at(&act(pose, *center));
            panel.add(Dots::new(vec![at], color).radius(4.0));
        }
        Shape::Drum {
            center,
            axis,
            radius,
            ..
        } => {
            let axis = pose.rotation.act(&Vector3::from(*axis));
            let ring = circle(&act(pose, *center), &axis, *radius, view);
            panel
                .add(Area::new(ring.clone(), color).opacity(0.5 * look.opacity))
                .add(Curve::new(ring, Color::Ink).width(1.0));
        }
    }
}

fn circle(center: &Vector3<f64>, axis: &Vector3<f64>, radius: f64, view: &View) -> Vec<[f64; 2]> {
    let aside = if axis.x.abs() < 0.7 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    let a = axis.cross(&aside).normalize();
    let b = axis.cross(&a);
    let points = (0..=36).map(|i| {
        let (sin, cos) = (TAU * f64::from(i) / 36.0).sin_cos();
        view.at(&(center + (a * cos + b * sin) * radius))
    });
    points.collect()
}

/// The springs of a description, from the rest point in one body to the attachment point in the other; a coil for a
/// purely rotational spring.
pub fn springs(panel: &mut Panel, system: &System, poses: &[SE3<f64>], size: f64, view: &View) {
    let model = &system.model;
    let pose = |name: &str| {
        let place = model.bodies().position(|body| model.name(body) == name);
        place
            .and_then(|place| poses.get(place))
            .copied()
            .unwrap_or_else(SE3::identity)
    };
    for spring in model.springs() {
        let (a, b) = (pose(&spring.a), pose(&spring.b));
        let point = if spring.stiffness.weight() == 0.0 {
            Vector3::zeros()
        } else {
            spring.stiffness.center()
        };
        let rest = a * spring.rest;
        let [from, to] =
            [rest, b].map(|pose| view.at(&(pose.rotation.act(&point) + pose.translation)));
        let between = [view.at(&a.translation), to];
        // A spring at rest is drawn between the bodies.
        let line = if (to[0] - from[0]).hypot(to[1] - from[1]) > 0.1 * size {
            zigzag(from, to, 0.05 * size)
        } else if (between[1][0] - between[0][0]).hypot(between[1][1] - between[0][1]) > 0.1 * size
        {
            zigzag(between[0], between[1], 0.05 * size)
        } else {
            coil(to, 0.13 * size)
        };
        panel.add(Curve::new(line, Color::Series(2)).width(1.5));
    }
}

/// A spring between two points.
pub fn zigzag(from: [f64; 2], to: [f64; 2], width: f64) -> Vec<[f64; 2]> {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let across = [-dy / length * width, dx / length * width];
    let mut points = vec![from];
    for i in 0..=12 {
        let part = 0.15 + 0.7 * f64::from(i) / 12.0;
        let side = match i {
            0 | 12 => 0.0,
            i if i % 2 == 1 => 1.0,
            _ => -1.0,
        };
        points.push([
            from[0] + part * dx + side * across[0],
            from[1] + part * dy + side * across[1],
        ]);
    }
    points.push(to);
    points
}

fn coil(center: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
    let points = (0..=100).map(|i| {
        let part = f64::from(i) / 100.0;
        let (sin, cos) = (2.5 * TAU * part).sin_cos();
        let r = radius * (0.3 + 0.7 * part);
        [center[0] + r * cos, center[1] + r * sin]
    });
    points.collect()
}

/// The supports of joints on the world: a rail for prismatic ones, a hatched line for revolute ones.
pub fn ground(panel: &mut Panel, system: &System, poses: &[SE3<f64>], size: f64, view: &View) {
    let model = &system.model;
    for (i, body) in model.bodies().enumerate() {
        let (Some(joint), Some(placement)) = (model.joint(body), model.placement(body)) else {
            continue;
        };
        if model.parent(body) != Some(BodyId::WORLD) {
            continue;
        }
        let axis = placement
            .rotation
            .act(&joint.axes().matrix().column(2).into_owned());
        match joint.kind() {
            JointKind::Free(_) | JointKind::Planar(_) => {}
            JointKind::Prismatic => {
                let middle = poses
                    .get(i)
                    .map_or(placement.translation, |pose| pose.translation);
                let ends = [-1.0, 1.0].map(|end| view.at(&(middle + axis * (end * size))));
                panel.add(Curve::new(ends.to_vec(), Color::Soft).stroke(Stroke::Dashed));
            }
            _ => {
                let [x, y] = view.at(&placement.translation);
                let [half, down] = [0.22 * size, 0.1 * size];
                let low = y - 0.1 * size;
                panel.add(Curve::new(
                    vec![[x - half, low], [x + half, low]],
                    Color::Soft,
                ));
                for k in 0..6 {
                    let from = x - half + 2.0 * half * (f64::from(k) + 0.5) / 6.0;
                    panel.add(
                        Curve::new(
                            vec![[from, low], [from - 0.6 * down, low - down]],
                            Color::Soft,
                        )
                        .width(1.0),
                    );
                }
            }
        }
    }
}
