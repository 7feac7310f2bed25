//! From the leaves to the root: the derivative of every joint's force along every coordinate on the same branch.

use nalgebra::{Matrix3, RealField, Vector3};

use super::Scratch;
use super::column::lane_products;
use super::composite::{VectorMoments, power};
use super::probe::Probe;
use crate::multibody::dynamics::motion::Motion;
use crate::multibody::dynamics::spatial::{Wrench, dot, scaled};
use crate::multibody::dynamics::tree::Tree;

/// Matrices of `n` columns that are written: derivatives of forces by configuration, velocity and acceleration.
pub struct Entries<'a, T> {
    pub n: usize,
    pub configuration: &'a mut [T],
    pub velocity: &'a mut [T],
    pub mass: &'a mut [T],
}

impl<T: RealField + Copy> Entries<'_, T> {
    /// How the force of coordinate `row` changes along `column`.
    #[inline]
    fn set(&mut self, row: usize, column: usize, configuration: T, velocity: T) {
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

    #[inline]
    fn set_mass(&mut self, row: usize, column: usize, mass: T) {
        self.mass[column * self.n + row] = mass;
        self.mass[row * self.n + column] = mass;
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The forces, and the entries of coordinates on one branch, after [`carry`](Self::carry); the others are left as they are.
    pub fn respond(&self, scratch: &mut Scratch<T>, tau: &mut [T], entries: &mut Entries<'_, T>) {
        for (hanging, node) in scratch.hanging.iter_mut().zip(&self.nodes) {
            if node.carries_absolute {
                *hanging = VectorMoments::zero();
            }
        }
        for i in (0..self.nodes.len()).rev() {
            self.respond_node(i, scratch, tau, entries);
            self.pass_on(i, scratch);
        }
    }

    fn respond_node(
        &self,
        i: usize,
        scratch: &Scratch<T>,
        tau: &mut [T],
        entries: &mut Entries<'_, T>,
    ) {
        let (node, composite) = (&self.nodes[i], &scratch.composites[i]);
        let columns = &scratch.columns[node.xi..node.xi + node.motion.dof()];
        let is_hinge = matches!(node.motion, Motion::Revolute(_));
        for (k, column) in columns.iter().enumerate() {
            let row = node.xi + k;
            tau[row] = power(&column.direction, &composite.wrench);
            let mut probe = if is_hinge {
                Probe::rotation(composite, column)
            } else {
                Probe::any(composite, column)
            };
            if node.carries_absolute {
                probe.add_hanging(&scratch.hanging[i], column);
            }
            for (j, other) in columns.iter().enumerate() {
                let S = &other.direction;
                let along_configuration = power(&other.configuration, &probe.inertia)
                    + dot(&other.turn, &probe.turning)
                    + dot(&S.angular, &probe.hanging);
                let along_velocity =
                    power(&other.velocity, &probe.inertia) + dot(&S.angular, &probe.turning);
                entries.set(row, node.xi + j, along_configuration, along_velocity);
                entries.mass[(node.xi + j) * entries.n + row] = power(S, &probe.inertia);
            }
            if node.parent > 0 {
                self.descend(
                    i,
                    row,
                    &probe.at_root(&scratch.nodes[i].position),
                    scratch,
                    entries,
                );
            }
        }
    }

    /// Both ways between the coordinate `row` of node `i` and all coordinates of the joints below it.
    #[inline]
    fn descend(
        &self,
        mut i: usize,
        row: usize,
        probe: &Probe<T>,
        scratch: &Scratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let mut probe = *probe;
        let mut lanes = probe.lanes();
        loop {
            let Some(parent) = self.nodes[i].parent.checked_sub(1) else {
                return;
            };
            if self.nodes[i].motion.is_absolute() {
                probe.through_absolute(&scratch.nodes[i]);
                lanes = probe.lanes();
            }
            i = parent;
            let start = self.nodes[i].xi;
            let columns = &scratch.columns[start..start + self.nodes[i].motion.dof()];
            for (k, column) in columns.iter().enumerate() {
                let below = start + k;
                let products = lane_products(&column.lanes, &lanes);
                let hanging = dot(&column.direction.angular, &probe.hanging);
                entries.set(row, below, products[0] + hanging, products[1]);
                entries.set(below, row, products[2], products[3]);
                let s = |k: usize| column.lanes[k][2] * lanes[k][0];
                let mass = s(0) + s(1) + s(2) + (s(3) + s(4) + s(5));
                entries.set_mass(row, below, mass);
            }
        }
    }

    /// Adds what a node carries to its parent.
    #[inline]
    fn pass_on(&self, i: usize, scratch: &mut Scratch<T>) {
        let node = &self.nodes[i];
        let Some(parent) = node.parent.checked_sub(1) else {
            return;
        };
        let (composite, carried) = (&scratch.composites[i], &scratch.nodes[i]);
        let passed = if node.motion.is_absolute() {
            let force = &composite.wrench.force;
            // What of the force does not come from the acceleration of the joint.
            let hanging = VectorMoments {
                sum: scaled(&carried.acceleration, -composite.mass.mass, force),
                first: Matrix3::zeros(),
            };
            let hanging = hanging.shifted(&carried.arm);
            scratch.hanging[parent] = scratch.hanging[parent].plus(&hanging);
            composite.point(&carried.velocity)
        } else {
            if node.carries_absolute {
                let hanging = scratch.hanging[i].shifted(&carried.arm);
                scratch.hanging[parent] = scratch.hanging[parent].plus(&hanging);
            }
            *composite
        };
        scratch.composites[parent] = scratch.composites[parent].plus(&passed.shifted(&carried.arm));
    }

    /// Adds what springs and dampers take up, in the axes of the nodes, after [`carry`](Self::carry).
    pub fn add_elements(&self, applied: &[nalgebra::Vector6<T>], scratch: &mut Scratch<T>) {
        for (mount, wrench) in self.mounts.iter().zip(applied) {
            if let Some(i) = mount.node.checked_sub(1) {
                let R = &scratch.nodes[i].rotation;
                let part = |k| R * wrench.fixed_rows::<3>(k);
                let (force, torque): (Vector3<T>, Vector3<T>) = (part(0), part(3));
                scratch.composites[i].wrench.add(&Wrench { force, torque });
            }
        }
    }
}
