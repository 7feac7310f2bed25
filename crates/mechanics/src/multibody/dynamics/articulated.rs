//! The articulated body algorithm, as a factorisation of the mass matrix along the tree.

use std::cmp::Ordering;

use nalgebra::{Matrix3, RealField, Vector3};

use super::MasslessJoint;
use super::motion::{Motion, Twist};
use super::scratch::{Place, Scratch};
use super::spatial::{
    MassMoments, Symmetric3, Wrench, cross, dot, fma, product, product_transposed, scaled, turn,
    turn_back,
};
use super::tree::Tree;
use crate::multibody::{BodyId, Model, Workspace};

/// # Forward dynamics
impl<T: RealField + Copy> Model<T> {
    /// `xi_dot = M^-1 (tau - c - D xi - grad V)`: the acceleration under these forces, by the articulated body algorithm. Its cost is
    /// proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] where a joint moves nothing that has mass.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn forward_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        tau: &[T],
        xi_dot: &mut [T],
    ) -> Result<(), MasslessJoint> {
        self.check(x, xi);
        assert_eq!(tau.len(), self.dof(), "length of the force");
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place(x, scratch);
        let factorized = self.tree.articulate(scratch);
        self.named(factorized)?;
        self.tree
            .newton_euler(self.gravity(), xi, None, scratch, xi_dot);
        for (xi_dot, tau) in xi_dot.iter_mut().zip(tau) {
            *xi_dot = *tau - *xi_dot;
        }
        self.tree.solve(scratch, xi_dot);
        Ok(())
    }

    /// Factorises the mass matrix in a configuration for [`solve_mass`](Self::solve_mass): the articulated inertias of all bodies. Its cost
    /// is proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] where a joint moves nothing that has mass.
    ///
    /// # Panics
    /// If the slice has another length than [`Model::config_dim`].
    pub fn factorize_mass(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
    ) -> Result<(), MasslessJoint> {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        self.tree.place(x, &mut workspace.dynamics);
        let factorized = self.tree.articulate(&mut workspace.dynamics);
        self.named(factorized)
    }

    /// `force` becomes `M^-1 force`, after [`factorize_mass`](Self::factorize_mass) or [`forward_dynamics`](Self::forward_dynamics); its cost
    /// is proportional to the number of bodies.
    ///
    /// # Panics
    /// If the slice has another length than [`Model::dof`].
    pub fn solve_mass(&self, workspace: &mut Workspace<T>, force: &mut [T]) {
        assert_eq!(force.len(), self.dof(), "length of the force");
        self.tree.solve(&mut workspace.dynamics, force);
    }

    fn named(&self, factorized: Result<(), usize>) -> Result<(), MasslessJoint> {
        factorized.map_err(|node| {
            let body = BodyId::at(self.tree.nodes[node].body);
            MasslessJoint {
                body,
                name: self.shared_name(body),
            }
        })
    }
}

/// What is known of a node after the factorisation.
#[derive(Clone, Copy, Debug)]
pub struct Articulated<T: RealField + Copy> {
    inertia: ArticulatedInertia<T>,
    /// `U = I_A S`: the wrenches for a unit of acceleration in each of the joint's directions.
    columns: [Wrench<T>; 6],
    /// `D = S^T U`, its factors `L d L^T`: `L` below the diagonal, the inverse of `d` on it.
    pivots: [[T; 6]; 6],
}

/// The inertia that a body seems to have when the joints that it carries are free to move: `[[A, B], [B^T, C]]`.
#[derive(Clone, Copy, Debug)]
struct ArticulatedInertia<T: RealField + Copy> {
    linear: Symmetric3<T>,
    coupling: Matrix3<T>,
    angular: Symmetric3<T>,
}

impl<T: RealField + Copy> Articulated<T> {
    pub fn zero() -> Self {
        Self {
            inertia: ArticulatedInertia::of(&MassMoments::zero()),
            columns: [Wrench::zero(); 6],
            pivots: [[T::zero(); 6]; 6],
        }
    }

    /// The part of the inertia that the joint passes on: `I_A - U D^-1 U^T`.
    #[inline]
    fn release(&mut self, motion: &Motion<T>) -> Result<(), ()> {
        let dof = motion.dof();
        let mut unit = [T::zero(); 6];
        // A direction that moves nothing is found by rounding.
        let small = self.inertia.size() * T::default_epsilon() * nalgebra::convert(16.0);
        for k in 0..dof {
            unit[k] = T::one();
            let column = self.inertia.times(&motion.twist(&unit));
            unit[k] = T::zero();
            let mut pivot = [T::zero(); 6];
            motion.force(&column, &mut pivot);
            let d = pivot[k];
            // Not a number neither.
            if d.partial_cmp(&small) != Some(Ordering::Greater) {
                return Err(());
            }
            let inverse = T::one() / d;
            for (row, pivot) in self.pivots.iter_mut().zip(pivot) {
                row[k] = pivot * inverse;
            }
            self.pivots[k][k] = inverse;
            self.inertia.subtract(&column, inverse);
            self.columns[k] = column;
        }
        Ok(())
    }
}

impl<T: RealField + Copy> ArticulatedInertia<T> {
    #[inline]
    fn of(moments: &MassMoments<T>) -> Self {
        let (o, h) = (T::zero(), &moments.first);
        Self {
            linear: Symmetric3::scalar(moments.mass),
            coupling: Matrix3::new(o, h.z, -h.y, -h.z, o, h.x, h.y, -h.x, o),
            angular: moments.second.moment_of_inertia(),
        }
    }

    #[inline]
    fn size(&self) -> T {
        self.linear.trace() + self.angular.trace()
    }

    #[inline]
    fn times(&self, twist: &Twist<T>) -> Wrench<T> {
        let (v, w) = (&twist.linear, &twist.angular);
        Wrench {
            force: self.linear.times(v) + turn(&self.coupling, w),
            torque: turn_back(&self.coupling, v) + self.angular.times(w),
        }
    }

    /// `I - u s u^T`.
    #[inline]
    fn subtract(&mut self, u: &Wrench<T>, s: T) {
        let (f, n) = (&u.force, &u.torque);
        let (sf, sn) = (f * -s, n * -s);
        self.linear = self.linear.plus_outer(&sf, f);
        self.angular = self.angular.plus_outer(&sn, n);
        let B = &self.coupling;
        let column = |x, y, z, n| scaled(f, n, &Vector3::new(x, y, z));
        self.coupling = Matrix3::from_columns(&[
            column(B.m11, B.m21, B.m31, sn.x),
            column(B.m12, B.m22, B.m32, sn.y),
            column(B.m13, B.m23, B.m33, sn.z),
        ]);
    }

    #[inline]
    fn add(&mut self, other: &Self) {
        self.linear = self.linear.plus(&other.linear);
        self.coupling += other.coupling;
        self.angular = self.angular.plus(&other.angular);
    }

    /// As the parent feels it: `Ad(G^-1)^T I Ad(G^-1)`.
    #[inline]
    fn placed(&self, place: &Place<T>) -> Self {
        let (R, p) = (&place.rotation, &place.translation);
        let linear = self.linear.turned(R);
        let coupling = product_transposed(&product(R, &self.coupling), R);
        let angular = self.angular.turned(R);
        shifted(linear, &coupling, &angular, p)
    }

    /// Through an absolute joint: forces only.
    #[inline]
    fn placed_point(&self, place: &Place<T>) -> Self {
        let linear = self.linear.turned(&place.rotation);
        let zero = Symmetric3::scalar(T::zero());
        shifted(linear, &Matrix3::zeros(), &zero, &place.translation)
    }
}

/// `[[A, B - A p^], [., C + p^ B + (p^ B)^T - p^ A p^]]` with `p^ = wed(p)`.
#[inline]
fn shifted<T: RealField + Copy>(
    linear: Symmetric3<T>,
    B: &Matrix3<T>,
    angular: &Symmetric3<T>,
    p: &Vector3<T>,
) -> ArticulatedInertia<T> {
    // The rows of A p^ are a × p.
    let A = linear.matrix();
    let row = |k: usize| cross(&Vector3::new(A[(k, 0)], A[(k, 1)], A[(k, 2)]), p);
    let (r0, r1, r2) = (row(0), row(1), row(2));
    let Ap = Matrix3::new(r0.x, r0.y, r0.z, r1.x, r1.y, r1.z, r2.x, r2.y, r2.z);
    let coupling = B - Ap;
    // p^ B + (p^ B)^T - p^ A p^ = p^ (B - A p^) + (p^ B)^T
    let wed = |c: Vector3<T>| cross(p, &c);
    let (c0, c1, c2) = (
        wed(coupling.column(0).into_owned()),
        wed(coupling.column(1).into_owned()),
        wed(coupling.column(2).into_owned()),
    );
    let (b0, b1, b2) = (
        wed(B.column(0).into_owned()),
        wed(B.column(1).into_owned()),
        wed(B.column(2).into_owned()),
    );
    let angular = angular.plus(&Symmetric3 {
        xx: c0.x + b0.x,
        xy: c1.x + b0.y,
        xz: c2.x + b0.z,
        yy: c1.y + b1.y,
        yz: c2.y + b1.z,
        zz: c2.z + b2.z,
    });
    ArticulatedInertia {
        linear,
        coupling,
        angular,
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// Articulated inertias from the leaves to the root, after [`place`](Self::place); the error is the node that moves nothing.
    pub fn articulate(&self, scratch: &mut Scratch<T>) -> Result<(), usize> {
        for (articulated, node) in scratch.articulated.iter_mut().zip(&self.nodes) {
            articulated.inertia = ArticulatedInertia::of(&node.moments);
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            scratch.articulated[i]
                .release(&node.motion)
                .map_err(|()| i)?;
            if let Some(parent) = node.parent.checked_sub(1) {
                let (inertia, place) = (&scratch.articulated[i].inertia, &scratch.places[i]);
                let carried = if node.motion.is_absolute() {
                    inertia.placed_point(place)
                } else {
                    inertia.placed(place)
                };
                scratch.articulated[parent].inertia.add(&carried);
            }
        }
        Ok(())
    }

    /// `M^-1` times the forces, after [`articulate`](Self::articulate).
    pub fn solve(&self, scratch: &mut Scratch<T>, force: &mut [T]) {
        scratch.wrenches.fill(Wrench::zero());
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let mut wrench = scratch.wrenches[i + 1];
            let dof = node.motion.dof();
            let force = &mut force[node.xi..node.xi + dof];
            let mut taken = [T::zero(); 6];
            node.motion.force(&wrench, &mut taken);
            for (force, taken) in force.iter_mut().zip(taken) {
                *force -= taken;
            }
            let articulated = &scratch.articulated[i];
            for k in 0..dof {
                let s = force[k] * articulated.pivots[k][k];
                for j in k + 1..dof {
                    force[j] = fma(-articulated.pivots[j][k], force[k], force[j]);
                }
                let column = &articulated.columns[k];
                wrench.force = scaled(&column.force, s, &wrench.force);
                wrench.torque = scaled(&column.torque, s, &wrench.torque);
                force[k] = s;
            }
            if node.parent > 0 {
                let carried = scratch.places[i].carry_wrench(&wrench, node.motion.is_absolute());
                scratch.wrenches[node.parent].add(&carried);
            }
        }
        scratch.motions[0].acceleration = Vector3::zeros();
        for (i, node) in self.nodes.iter().enumerate() {
            let (place, articulated) = (&scratch.places[i], &scratch.articulated[i]);
            let parent = &scratch.motions[node.parent];
            let at_joint = parent.acceleration + cross(&parent.alpha, &place.translation);
            let mut acceleration = turn_back(&place.rotation, &at_joint);
            let mut alpha = if node.motion.is_absolute() {
                Vector3::zeros()
            } else {
                turn_back(&place.rotation, &parent.alpha)
            };
            let force = &mut force[node.xi..node.xi + node.motion.dof()];
            for k in (0..force.len()).rev() {
                let column = &articulated.columns[k];
                let taken = dot(&column.force, &acceleration) + dot(&column.torque, &alpha);
                let pivots = &articulated.pivots;
                let mut own = fma(-taken, pivots[k][k], force[k]);
                for j in k + 1..force.len() {
                    own = fma(-pivots[j][k], force[j], own);
                }
                force[k] = own;
            }
            let rate = node.motion.twist(force);
            acceleration += rate.linear;
            alpha += rate.angular;
            scratch.motions[i + 1].acceleration = acceleration;
            scratch.motions[i + 1].alpha = alpha;
        }
    }
}
