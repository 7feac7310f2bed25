//! Which bodies are near enough to each other to touch soon.

use nalgebra::Vector3;

use crate::contact::ContactShape;
use crate::multibody::{BodyId, Workspace};

/// A broad phase: a sphere around the contact shapes of each body.
///
/// A [search](Self::search) finds the pairs of spheres that overlap once each is enlarged by a margin. Until a sphere has moved by its margin, no two others
/// can touch, whatever their speeds. So searches are rare, and bodies that are far apart cost nothing between them. A search sorts the spheres along one
/// axis and compares only those that overlap there (sweep and prune), so its cost does not grow with the number of pairs. Only the construction allocates.
#[derive(Clone, Debug)]
pub(super) struct BroadPhase {
    spheres: Vec<Sphere>,
    /// Their indices, by their lower ends along the axis of the last search.
    order: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Sphere {
    body: BodyId,
    /// m, body frame.
    center: Vector3<f64>,
    /// m.
    radius: f64,
    /// How far the centre may go from its place, m.
    margin: f64,
    /// Where it was in the last search, m, world.
    place: Vector3<f64>,
    /// The farthest that it has been from there since, m.
    way: f64,
}

/// The margin at first, relative to the radius: wider ones are searched less often, and find more pairs.
const MARGIN: f64 = 0.5;

impl Sphere {
    fn new(body: BodyId, shapes: &[ContactShape]) -> Self {
        let own = shapes.iter().filter(|shape| shape.body == body);
        let ends = || own.clone().flat_map(|shape| shape.ends);
        let corner = |pick: fn(f64, f64) -> f64| ends().reduce(|a, b| a.zip_map(&b, pick));
        let (low, high) = (corner(f64::min), corner(f64::max));
        let center = (low.unwrap_or_default() + high.unwrap_or_default()) * 0.5;
        let reach = |shape: &ContactShape| {
            let ends = shape.ends.iter().map(|end| (end - center).norm());
            ends.fold(0.0, f64::max) + shape.radius
        };
        let radius = own.clone().map(reach).fold(0.0, f64::max);
        Self {
            body,
            center,
            radius,
            margin: MARGIN * radius,
            place: Vector3::zeros(),
            way: 0.0,
        }
    }

    /// Its centre, m, world.
    fn in_world(&self, workspace: &Workspace<f64>) -> Vector3<f64> {
        workspace.pose(BodyId::WORLD, self.body).act(&self.center)
    }

    /// With its margin.
    fn enlarged(&self) -> f64 {
        self.radius + self.margin
    }
}

impl BroadPhase {
    /// For these bodies with their shapes.
    pub fn new(bodies: &[BodyId], shapes: &[ContactShape]) -> Self {
        let spheres = bodies.iter().map(|body| Sphere::new(*body, shapes));
        Self {
            spheres: spheres.collect(),
            order: (0..bodies.len()).collect(),
        }
    }

    /// Takes over the places and margins of the same bodies.
    pub fn copy_from(&mut self, other: &Self) {
        for (sphere, other) in self.spheres.iter_mut().zip(&other.spheres) {
            (sphere.margin, sphere.place, sphere.way) = (other.margin, other.place, other.way);
        }
    }

    /// Notes how far the bodies in the workspace's state are from their places.
    pub fn follow(&mut self, workspace: &Workspace<f64>) {
        for sphere in &mut self.spheres {
            let way = (sphere.in_world(workspace) - sphere.place).norm();
            sphere.way = sphere.way.max(way);
        }
    }

    /// Whether a body has gone farther than this part of its margin in a state followed since the last search.
    pub fn has_moved(&self, part: f64) -> bool {
        let mut all = self.spheres.iter();
        all.any(|sphere| sphere.way > part * sphere.margin)
    }

    /// Passes all pairs of bodies in the workspace's state that may touch before one has moved by its margin, by their indices in increasing order. The margin
    /// of a body that went farther than it becomes twice that way: it is fast.
    pub fn search(&mut self, workspace: &Workspace<f64>, mut found: impl FnMut([usize; 2])) {
        for sphere in &mut self.spheres {
            if sphere.way > sphere.margin {
                sphere.margin = 2.0 * sphere.way;
            }
            sphere.way = 0.0;
            sphere.place = sphere.in_world(workspace);
        }
        let (spheres, axis) = (&self.spheres, self.longest_axis());
        let low = |i: usize| spheres[i].place[axis] - spheres[i].enlarged();
        self.order
            .sort_unstable_by(|a, b| low(*a).total_cmp(&low(*b)));
        for (k, &i) in self.order.iter().enumerate() {
            let a = &spheres[i];
            let high = a.place[axis] + a.enlarged();
            for &j in self.order[k + 1..].iter().take_while(|j| low(**j) <= high) {
                let b = &spheres[j];
                if (b.place - a.place).norm() <= a.enlarged() + b.enlarged() {
                    found([i.min(j), i.max(j)]);
                }
            }
        }
    }

    /// The axis of the world along which the spheres extend farthest: there the fewest overlap.
    fn longest_axis(&self) -> usize {
        let places = || self.spheres.iter().map(|sphere| sphere.place);
        let corner = |pick: fn(f64, f64) -> f64| places().reduce(|a, b| a.zip_map(&b, pick));
        let (low, high) = (corner(f64::min), corner(f64::max));
        (high.unwrap_or_default() - low.unwrap_or_default()).imax()
    }
}
