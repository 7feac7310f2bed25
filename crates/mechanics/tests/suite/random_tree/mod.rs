//! Trees of bodies on all kinds of joints, at random, for any scalar: the same seed gives the same system for `f64` and for dual numbers.
//!
//! Bodies are named `b1`, `b2`, …; they are added out of order now and then, so that coordinates and tree have different orders. One in six
//! has no mass, but its mass matrix is always regular: such a frame is fixed, or carries a body with mass on a slider or a hinge.

// Every test binary that includes this file uses some of it.
#![allow(dead_code)]

use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, Damper, Joint, Model, ModelBuilder, Spring};
use fly_mechanics::{Drag, PseudoInertia, SecondMoment};
use nalgebra::{RealField, Vector3, convert};

/// Random parts of systems: the same on every run.
pub struct Random(fly_testing::Random);

impl Random {
    /// Numbers for this seed.
    pub fn new(seed: usize) -> Self {
        let seed = 0x9E37_79B9_7F4A_7C15 ^ (seed as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95);
        let mut random = Self(fly_testing::Random::new(seed));
        for _ in 0..8 {
            random.next();
        }
        random
    }

    /// Uniform in [-1, 1).
    pub fn next(&mut self) -> f64 {
        self.0.number()
    }

    /// Uniform in 0..n.
    #[allow(clippy::cast_possible_truncation)] // the remainder is below n
    pub fn index(&mut self, n: usize) -> usize {
        (self.0.bits() >> 11) as usize % n
    }

    pub fn vector3<T: RealField + Copy>(&mut self, size: f64) -> Vector3<T> {
        Vector3::from_fn(|_, _| convert(size * self.next()))
    }

    /// `n` numbers up to `size`.
    pub fn numbers(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| size * self.next()).collect()
    }

    /// A pose up to about a metre and two radians from the identity.
    pub fn pose<T: RealField + Copy>(&mut self) -> SE3<T> {
        let rotation = SO3::exp(&self.vector3(1.2));
        SE3::new(rotation, self.vector3(0.6))
    }

    /// An inertia of about a kilogram.
    pub fn inertia<T: RealField + Copy>(&mut self) -> PseudoInertia<T> {
        let points: Vec<_> = (0..5)
            .map(|_| (convert(0.3 + 0.2 * self.next()), self.vector3(0.4)))
            .collect();
        PseudoInertia::new(SecondMoment::from_points(points)).expect("five points are a body")
    }

    /// A drag of about 1 N s/m and 1 N m s along and about every axis.
    pub fn drag<T: RealField + Copy>(&mut self) -> Drag<T> {
        let mut numbers = || self.vector3(1.0).map(|x: T| x.abs());
        Drag::new(numbers(), numbers()).expect("not negative")
    }

    /// One of the [`KINDS`] of joints, with any axes and coordinates.
    pub fn joint<T: RealField + Copy>(&mut self, kind: usize) -> Joint<T> {
        let mut axis = || loop {
            // Coordinate axes too, and negative ones.
            let axis = match self.index(3) {
                0 => Vector3::ith(self.index(3), convert(1.0)),
                1 => Vector3::ith(self.index(3), convert(-2.0)),
                _ => self.vector3(1.0),
            };
            if axis.norm() > convert(0.1) {
                return axis;
            }
        };
        let joint = match kind {
            0 => Joint::fixed(),
            1 => Joint::revolute(axis()).expect("an axis"),
            2 => Joint::prismatic(axis()).expect("an axis"),
            3 => Joint::screw(axis(), convert(0.2)).expect("an axis"),
            4 => Joint::cylindrical(axis()).expect("an axis"),
            5 => {
                let first = axis();
                // Neither parallel nor at a right angle.
                let second = first.normalize()
                    + first
                        .cross(&Vector3::new(0.3, -0.5, 0.8).map(convert))
                        .normalize();
                Joint::universal(first, second).expect("two axes")
            }
            6 => Joint::spherical(),
            7 => Joint::absolute_spherical(),
            8 => Joint::planar(axis()).expect("an axis"),
            9 => Joint::schoenflies(axis()).expect("an axis"),
            _ => Joint::free(),
        };
        match self.index(4) {
            0 => joint.with_quaternion(),
            1 => joint.with_cos_sin(),
            2 => joint.with_quaternion().with_cos_sin(),
            _ => joint,
        }
    }
}

/// How many kinds of joints there are; a free one is the last.
pub const KINDS: usize = 11;

/// A tree of this many bodies.
pub fn tree<T: RealField + Copy>(seed: usize, bodies: usize) -> Model<T> {
    let (builder, bodies) = parts(&mut Random::new(seed), bodies);
    let builder = bodies.into_iter().fold(builder, ModelBuilder::body);
    builder.build().expect("a tree")
}

/// A tree of this many bodies with springs and dampers between bodies that need not be neighbours, and drag on every third.
pub fn tree_with_springs<T: RealField + Copy>(seed: usize, bodies: usize) -> Model<T> {
    let mut random = Random::new(seed);
    let (mut builder, tree) = parts(&mut random, bodies);
    for (i, mut body) in tree.into_iter().enumerate() {
        if i % 3 == seed % 3 {
            body = body.drag(Random::new(seed + i).drag());
        }
        builder = builder.body(body);
    }
    for _ in 0..=bodies / 2 {
        let (a, b) = pair(&mut random, bodies);
        builder = builder.spring(Spring {
            a,
            b,
            rest: random.pose(),
            stiffness: points(&mut random, 40.0),
        });
        let (a, b) = pair(&mut random, bodies);
        builder = builder.damper(Damper {
            a,
            b,
            damping: points(&mut random, 2.0),
        });
    }
    builder.build().expect("a tree")
}

/// A configuration and a velocity of about one.
pub fn state<T: RealField + Copy>(model: &Model<T>, random: &mut Random) -> (Vec<T>, Vec<T>) {
    let mut x = model.neutral_configuration();
    let step: Vec<T> = cast(&random.numbers(model.dof(), 1.5));
    model.integrate(&mut x, &step);
    (x, cast(&random.numbers(model.dof(), 1.0)))
}

/// The same numbers of another kind.
pub fn cast<T: RealField + Copy>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|number| convert(*number)).collect()
}

/// The bodies, and the builder to which they are added.
fn parts<T: RealField + Copy>(
    random: &mut Random,
    count: usize,
) -> (ModelBuilder<T>, Vec<Body<T>>) {
    let mut bodies: Vec<Body<T>> = Vec::new();
    let mut is_massless = vec![false];
    for i in 1..=count {
        // Long chains and bushes.
        let parent = match random.index(3) {
            0 => random.index(i),
            _ => i - 1,
        };
        let kind = random.index(KINDS);
        // What a frame without mass carries must have some, and must not move as the frame does.
        let hinge = 1 + random.index(2);
        let massless = !is_massless[parent] && i < count && random.index(6) == 0;
        let joint = match (massless, is_massless[parent]) {
            (true, _) => random.joint([0, 1, 2, 3][kind % 4]),
            (_, true) => random.joint(hinge),
            _ => random.joint(kind),
        };
        let mut body = Body::new(format!("b{i}"), joint).placed(random.pose());
        if parent > 0 {
            body = body.parent(format!("b{parent}"));
        }
        if !massless {
            body = body.inertia(random.inertia());
        }
        // The next body is carried by this one if it needs one.
        is_massless.push(massless);
        bodies.push(body);
    }
    carry_massless(&mut bodies, random);
    for _ in 0..count / 5 {
        let (i, j) = (random.index(count), random.index(count));
        bodies.swap(i, j);
    }
    let gravity = Vector3::new(0.3, -0.8, -9.81).map(convert);
    (Model::builder().gravity(gravity), bodies)
}

/// Frames without mass that carry nothing and move become fixed.
fn carry_massless<T: RealField + Copy>(bodies: &mut [Body<T>], random: &mut Random) {
    for i in 0..bodies.len() {
        let carries = bodies.iter().any(|body| body.parent == bodies[i].name);
        if bodies[i].inertia.is_none() && !carries {
            bodies[i].joint = random.joint(0);
        }
    }
}

/// Two different bodies, or a body and the world.
fn pair(random: &mut Random, bodies: usize) -> (String, String) {
    let a = random.index(bodies + 1);
    let b = (a + 1 + random.index(bodies)) % (bodies + 1);
    let name = |i: usize| match i {
        0 => "world".to_owned(),
        i => format!("b{i}"),
    };
    (name(a), name(b))
}

fn points<T: RealField + Copy>(random: &mut Random, size: f64) -> SecondMoment<T> {
    let points: Vec<_> = (0..3)
        .map(|_| {
            (
                convert(size * (0.6 + 0.5 * random.next())),
                random.vector3(0.5),
            )
        })
        .collect();
    SecondMoment::from_points(points)
}
