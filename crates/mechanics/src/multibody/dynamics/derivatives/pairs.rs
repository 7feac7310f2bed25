//! From the leaves to the root: how every joint's force changes along every coordinate on the same branch.

use nalgebra::{RealField, Vector3, Vector6};

use super::Scratch;
use super::column::lane_products;
use super::composite::{VectorMoments, momentum_about, power, shifted, wrench_at};
use super::entries::{Entries, MassEntries};
use super::probe::Probe;
use crate::multibody::dynamics::spatial::{MassMoments, Wrench, cross, dot, scaled};
use crate::multibody::dynamics::tree::Tree;

impl<T: RealField + Copy> Tree<T> {
    /// A node's composite body and its entries of the mass matrix, after [`carry`](Self::carry) and those that it carries; entries of
    /// coordinates on different branches are left as they are.
    #[inline]
    pub fn weigh(&self, i: usize, scratch: &mut Scratch<T>, entries: &mut MassEntries<'_, T>) {
        let (node, mass) = (&self.nodes[i], scratch.composites[i].mass);
        if node.is_free_root() {
            entries.free(node.xi, &mass);
            return;
        }
        let rotates = node.motion.is_rotation();
        for row in node.xi..node.xi + node.motion.dof() {
            let S = &scratch.columns[row].direction;
            let inertia = if rotates {
                momentum_about(&mass, &S.angular)
            } else {
                mass.momentum(S)
            };
            for other in node.xi..=row {
                let mass = power(&scratch.columns[other].direction, &inertia);
                entries.set(row, other, mass);
            }
            scratch.columns[row].inertia = inertia;
            self.weigh_below(i, row, scratch, entries);
        }
        if let Some(parent) = node.parent.checked_sub(1) {
            let passed = if node.motion.is_absolute() {
                MassMoments::of_point(mass.mass, &Vector3::zeros())
            } else {
                mass
            };
            let passed = shifted(&passed, &scratch.nodes[i].arm);
            let below = &mut scratch.composites[parent].mass;
            *below = below.plus(&passed);
        }
    }

    /// The mass that couples the coordinate `row` of node `i` with those of the joints below it.
    #[inline]
    fn weigh_below(
        &self,
        mut i: usize,
        row: usize,
        scratch: &Scratch<T>,
        entries: &mut MassEntries<'_, T>,
    ) {
        let mut inertia = wrench_at(&scratch.columns[row].inertia, &scratch.nodes[i].position);
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].motion.is_absolute() {
                inertia.torque = cross(&scratch.nodes[i].position, &inertia.force);
            }
            i = parent;
            let node = &self.nodes[i];
            if node.is_free_root() {
                entries.on_free(row, node.xi, &inertia);
                return;
            }
            for below in node.xi..node.xi + node.motion.dof() {
                let mass = power(&scratch.columns[below].at_root, &inertia);
                entries.set(row, below, mass);
            }
        }
    }

    /// What a joint transmits, and its forces, after [`accelerate`](Self::accelerate) and those that it carries.
    #[inline]
    pub fn transmit(&self, i: usize, scratch: &mut Scratch<T>, tau: &mut [T]) {
        let node = &self.nodes[i];
        let mut wrench = scratch.composites[i].wrench;
        if node.is_free_root() {
            node.motion.force(&wrench, &mut tau[node.xi..]);
            return;
        }
        let own = node.xi..node.xi + node.motion.dof();
        for (tau, column) in tau[own.clone()].iter_mut().zip(&scratch.columns[own]) {
            *tau = power(&column.direction, &wrench);
        }
        if let Some(parent) = node.parent.checked_sub(1) {
            if node.motion.is_absolute() {
                wrench.torque = Vector3::zeros();
            }
            let passed = wrench_at(&wrench, &scratch.nodes[i].arm);
            scratch.composites[parent].wrench.add(&passed);
        }
    }

    /// A node's derivatives, after [`weigh`](Self::weigh), [`transmit`](Self::transmit) and [`displace`](Self::displace); entries of coordinates
    /// on different branches are left as they are.
    #[inline]
    pub fn respond(&self, i: usize, scratch: &mut Scratch<T>, entries: &mut Entries<'_, T>) {
        let node = &self.nodes[i];
        if node.is_free_root() {
            let hanging = node.carries_absolute.then(|| &scratch.hanging[i]);
            entries.free(node.xi, &scratch.composites[i], &scratch.nodes[i], hanging);
        } else {
            self.respond_node(i, scratch, entries);
            self.pass_on(i, scratch);
        }
    }

    #[inline]
    fn respond_node(&self, i: usize, scratch: &Scratch<T>, entries: &mut Entries<'_, T>) {
        let (node, composite) = (&self.nodes[i], &scratch.composites[i]);
        let columns = &scratch.columns[node.xi..node.xi + node.motion.dof()];
        let rotates = node.motion.is_rotation();
        for (k, column) in columns.iter().enumerate() {
            let row = node.xi + k;
            let mut probe = if rotates {
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
            }
            if node.parent > 0 {
                self.descend(
                    i,
                    row,
                    probe.at_root(&scratch.nodes[i].position),
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
        mut probe: Probe<T>,
        scratch: &Scratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let mut lanes = probe.lanes();
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].motion.is_absolute() {
                probe.through_absolute(&scratch.nodes[i]);
                lanes = probe.lanes();
            }
            i = parent;
            let node = &self.nodes[i];
            if node.is_free_root() {
                entries.on_free(row, node.xi, &probe, &scratch.nodes[i]);
                return;
            }
            for below in node.xi..node.xi + node.motion.dof() {
                let column = &scratch.columns[below];
                let products = lane_products(&column.lanes, &lanes);
                let hanging = dot(&column.direction.angular, &probe.hanging);
                entries.set(row, below, products[0] + hanging, products[1]);
                entries.set(below, row, products[2], products[3]);
            }
        }
    }

    /// Adds the momenta that a node carries to its parent's, and what hangs on absolute joints.
    #[inline]
    fn pass_on(&self, i: usize, scratch: &mut Scratch<T>) {
        let node = &self.nodes[i];
        let Some(parent) = node.parent.checked_sub(1) else {
            return;
        };
        let (composite, carried) = (&scratch.composites[i], &scratch.nodes[i]);
        let (mut momentum, mass) = (composite.momentum, composite.mass.mass);
        if node.motion.is_absolute() {
            // A mass point in the joint; and what of the force does not come from the joint's acceleration.
            momentum = VectorMoments::at_origin(carried.twist.linear * mass);
            let force = scaled(&carried.acceleration, -mass, &composite.wrench.force);
            let hanging = VectorMoments::at_origin(force).shifted(&carried.arm);
            scratch.hanging[parent] = scratch.hanging[parent].plus(&hanging);
        } else if node.carries_absolute {
            let hanging = scratch.hanging[i].shifted(&carried.arm);
            scratch.hanging[parent] = scratch.hanging[parent].plus(&hanging);
        }
        let passed = momentum.shifted(&carried.arm);
        let below = &mut scratch.composites[parent].momentum;
        *below = below.plus(&passed);
    }

    /// Adds what springs and dampers take up, in the axes of the nodes, after [`accelerate`](Self::accelerate).
    pub fn add_elements(&self, applied: &[Vector6<T>], scratch: &mut Scratch<T>) {
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
