//! The matrices that are written, and the closed forms of a node that moves freely in the world.

use nalgebra::{RealField, Vector3};

use super::carried::Carried;
use super::composite::{Composite, VectorMoments};
use super::probe::Probe;
use crate::multibody::dynamics::motion::Twist;
use crate::multibody::dynamics::spatial::{MassMoments, Wrench, cross};

/// A mass matrix of `n` columns.
pub struct MassEntries<'a, T> {
    pub n: usize,
    pub entries: &'a mut [T],
}

impl<T: RealField + Copy> MassEntries<'_, T> {
    /// An entry and the one that is the same.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize, mass: T) {
        self.entries[column * self.n + row] = mass;
        self.entries[row * self.n + column] = mass;
    }

    /// The own mass of a node that moves freely in the world, whose first coordinate is `start`.
    #[inline]
    pub fn free(&mut self, start: usize, mass: &MassMoments<T>) {
        for (k, column) in mass.matrix().iter().enumerate() {
            let at = (start + k) * self.n + start;
            self.entries[at..at + 6].copy_from_slice(column);
        }
    }

    /// What couples such a node with a coordinate.
    #[inline]
    pub fn on_free(&mut self, row: usize, start: usize, inertia: &Wrench<T>) {
        write(self.entries, row * self.n + start, inertia);
        for k in 0..3 {
            self.entries[(start + k) * self.n + row] = inertia.force[k];
            self.entries[(start + 3 + k) * self.n + row] = inertia.torque[k];
        }
    }
}

/// Matrices of `n` columns: derivatives of forces along the configuration and by the velocity.
pub struct Entries<'a, T> {
    pub n: usize,
    pub configuration: &'a mut [T],
    pub velocity: &'a mut [T],
}

impl<T: RealField + Copy> Entries<'_, T> {
    /// How the force of coordinate `row` changes along `column`.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize, configuration: T, velocity: T) {
        let at = column * self.n + row;
        self.configuration[at] = configuration;
        self.velocity[at] = velocity;
    }

    #[inline]
    pub fn add(&mut self, row: usize, column: usize, configuration: T, velocity: T) {
        let at = column * self.n + row;
        self.configuration[at] += configuration;
        self.velocity[at] += velocity;
    }
}

/// # A node that moves freely in the world
///
/// Its directions are the unit twists about the root's origin, which is its own, in its own axes: products with them are entries. It carries
/// itself along with gravity alone, which only turns with it. `start` is its first coordinate.
impl<T: RealField + Copy> Entries<'_, T> {
    /// How its own forces change along its own coordinates.
    pub fn free(
        &mut self,
        start: usize,
        composite: &Composite<T>,
        node: &Carried<T>,
        hanging: Option<&VectorMoments<T>>,
    ) {
        let (v, omega) = (&node.twist.linear, &node.twist.angular);
        let zero = Wrench::zero();
        for k in 0..3 {
            let e = Vector3::from_fn(|i, _| if i == k { T::one() } else { T::zero() });
            let (along, about) = (
                (start + k) * self.n + start,
                (start + 3 + k) * self.n + start,
            );
            write(self.configuration, along, &zero);
            write(
                self.velocity,
                along,
                &translated(&composite.mass, &cross(omega, &e)),
            );

            let mut weight = translated(&composite.mass, &cross(&node.support, &e));
            if let Some(hanging) = hanging {
                let turned = hanging.turned(&e);
                weight.force -= turned.force;
                weight.torque -= turned.torque;
            }
            write(self.configuration, about, &weight);
            let turned = Twist {
                linear: cross(v, &e),
                angular: cross(omega, &e),
            };
            write(self.velocity, about, &composite.resistance(&turned, &e));
        }
    }

    /// Both ways between it and a coordinate of what it carries.
    #[inline]
    pub fn on_free(&mut self, row: usize, start: usize, probe: &Probe<T>, node: &Carried<T>) {
        write(
            self.configuration,
            row * self.n + start,
            &probe.configuration,
        );
        write(self.velocity, row * self.n + start, &probe.velocity);
        let (v, omega) = (&node.twist.linear, &node.twist.angular);
        let Wrench { force, torque } = &probe.inertia;
        let weight = cross(force, &node.support) + probe.hanging;
        let along = cross(force, omega);
        let about = cross(torque, omega) + cross(force, v) + probe.turning;
        for k in 0..3 {
            self.set(row, start + k, T::zero(), along[k]);
            self.set(row, start + 3 + k, weight[k], about[k]);
        }
    }
}

/// What acts on a body whose points all accelerate by `a`.
#[inline]
fn translated<T: RealField + Copy>(mass: &MassMoments<T>, a: &Vector3<T>) -> Wrench<T> {
    Wrench {
        force: a * mass.mass,
        torque: cross(&mass.first, a),
    }
}

#[inline]
fn write<T: RealField + Copy>(entries: &mut [T], at: usize, wrench: &Wrench<T>) {
    entries[at..at + 3].copy_from_slice(wrench.force.as_slice());
    entries[at + 3..at + 6].copy_from_slice(wrench.torque.as_slice());
}
