//! Drawings of systems: the shapes of reports, springs, joints and the ground, from a chosen viewpoint.

use std::f64::consts::TAU;

use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::multibody::constraints::{Ellipsoid, RollingKind, RollingSurface, Surface};
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

    /// From the front: y to the right, z up.
    pub fn front() -> Self {
        Self {
            right: Vector3::y(),
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
        let wheels = surfaces(system, &scene.bodies[i].name);
        for part in &scene.bodies[i].shapes {
            // A wheel says more than the box of its inertia.
            if !(wheels.iter().any(|(_, surface)| is_disc(surface))
                && matches!(part.shape, Shape::Box { .. }))
            {
                draw_shape(panel, &part.shape, &poses[i], look);
            }
        }
        for (frame, surface) in wheels {
            // What carries it, should it be aside.
            let ends = [Vector3::zeros(), frame.translation];
            let ends = ends.map(|point| look.view.at(&act(&poses[i], point.into())));
            panel.add(Curve::new(ends.to_vec(), look.color).width(look.bar));
            draw_surface(panel, &(poses[i] * frame), &surface, look);
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
        Shape::Rod { from, to, .. } => {
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
        Shape::Mesh {
            vertices,
            triangles,
        } => {
            for triangle in triangles {
                let corners = triangle.map(|i| view.at(&act(pose, vertices[i as usize])));
                panel.add(Area::new(corners.to_vec(), color).opacity(0.3 * look.opacity));
            }
        }
        Shape::Sphere { center, .. } => {
            let at = view.at(&act(pose, *center));
            panel.add(Dots::new(vec![at], color).radius(4.0));
        }
        Shape::Cylinder {
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

/// What of a body rolls or slides, each in its frame.
fn surfaces(system: &System, body: &str) -> Vec<(SE3<f64>, RollingSurface<f64>)> {
    let own = system.rolling.iter().filter(|rolling| rolling.b == body);
    own.filter_map(|rolling| match rolling.kind {
        RollingKind::Rolls(surface) | RollingKind::Slides(surface) => {
            Some((rolling.frame_in_b, surface))
        }
        RollingKind::Blade => None,
    })
    .collect()
}

fn is_disc(surface: &RollingSurface<f64>) -> bool {
    matches!(surface, RollingSurface::Disc(_))
}

/// A wheel as its disc, a ball or an egg as its outline.
fn draw_surface(panel: &mut Panel, pose: &SE3<f64>, surface: &RollingSurface<f64>, look: &Look) {
    let view = &look.view;
    let ring = match surface {
        RollingSurface::Disc(disc) => {
            let axis = pose.rotation.act(&Vector3::z());
            circle(&pose.translation, &axis, disc.radius() + disc.rim(), view)
        }
        RollingSurface::Ellipsoid(ellipsoid) => outline(pose, ellipsoid, view),
    };
    panel
        .add(Area::new(ring.clone(), look.color).opacity(0.3 * look.opacity))
        .add(Curve::new(ring, look.color).width(1.5));
}

/// Where an ellipsoid ends for who looks: in each direction of the paper the farthest point.
fn outline(pose: &SE3<f64>, ellipsoid: &Ellipsoid<f64>, view: &View) -> Vec<[f64; 2]> {
    let points = (0..=36).map(|i| {
        let (sin, cos) = (TAU * f64::from(i) / 36.0).sin_cos();
        let direction = view.right * cos + view.up * sin;
        // The lowest point for who holds the opposite direction for up.
        let up = pose.rotation.inverse().act(&-direction);
        view.at(&(pose.rotation.act(&ellipsoid.contact(&up)) + pose.translation))
    });
    points.collect()
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
        let length =
            |ends: &[[f64; 2]; 2]| (ends[1][0] - ends[0][0]).hypot(ends[1][1] - ends[0][1]);
        let ends = [[from, to], between]
            .into_iter()
            .find(|ends| length(ends) > 0.1 * size);
        let line = match ends {
            Some(ends) => zigzag(ends[0], ends[1], (0.05 * size).max(0.06 * length(&ends))),
            None => coil(to, 0.13 * size),
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
        match joint.kind() {
            JointKind::Free(_) => {}
            JointKind::Prismatic | JointKind::Planar(_) => {
                let middle = poses
                    .get(i)
                    .map_or(placement.translation, |pose| pose.translation);
                // Along the axis, or along both directions of the plane.
                let axes = placement.rotation.matrix() * joint.axes().matrix();
                let along = match joint.kind() {
                    JointKind::Planar(_) => vec![axes.column(0), axes.column(1)],
                    _ => vec![axes.column(2)],
                };
                for axis in along {
                    let ends = [-1.0, 1.0].map(|end| view.at(&(middle + axis * (end * size))));
                    panel.add(Curve::new(ends.to_vec(), Color::Soft).stroke(Stroke::Dashed));
                }
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
