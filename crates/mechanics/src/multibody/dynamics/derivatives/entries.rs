//! The output matrices, and the closed forms of a free root node.

use nalgebra::{DMatrix, RealField};

use super::column::CarrierAcceleration;
use super::probe::Probe;
use crate::multibody::kinematics::NodeVelocity;
use crate::multibody::simd::{Mat3, Vec3};
use crate::multibody::spatial::{MomentumMoments, RigidInertia, SpatialVector};
use crate::multibody::tree::Tree;

/// Output matrices with `n` columns: derivatives of the forces with respect to configuration and velocity, and to acceleration if requested.
pub struct Entries<'a, T> {
    pub n: usize,
    pub mass: Option<&'a mut DMatrix<T>>,
    configuration: &'a mut [T],
    velocity: &'a mut [T],
}

impl<'a, T: RealField + Copy> Entries<'a, T> {
    /// From n x n matrices.
    pub fn new(
        tree: &Tree<T>,
        n: usize,
        configuration: &'a mut DMatrix<T>,
        velocity: &'a mut DMatrix<T>,
        mass: Option<&'a mut DMatrix<T>>,
    ) -> Self {
        if let Some(mass) = &mass {
            assert_eq!(mass.shape(), (n, n), "shape of the derivatives");
        }
        let cleared = |matrix: &'a mut DMatrix<T>| {
            assert_eq!(matrix.shape(), (n, n), "shape of the derivatives");
            tree.cleared(matrix)
        };
        Self {
            n,
            mass,
            configuration: cleared(configuration),
            velocity: cleared(velocity),
        }
    }

    /// Sets the derivatives of the force of coordinate `row` with respect to coordinate `column`.
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

/// # Free root nodes
///
/// The directions of a free root are the unit twists about the root's origin, which is its own, in its own axes: products with them are
/// entries. Its carrier accelerates with gravity alone, whose direction in the node rotates with it. `start` is its first coordinate.
impl<T: RealField + Copy> Entries<'_, T> {
    /// The derivatives of its own forces with respect to its own coordinates, in closed form: columns of `hat3(a)` and
    /// of `hat3(h) hat3(a) = a h^T - (h . a) I`.
    pub fn free(
        &mut self,
        start: usize,
        inertia: &RigidInertia<T>,
        momentum: &MomentumMoments<T>,
        node: &NodeVelocity<T>,
        carrier: &CarrierAcceleration<T>,
        absolute: Option<&MomentumMoments<T>>,
    ) {
        let SpatialVector {
            linear: v,
            angular: omega,
        } = node.twist;
        let (m, h, g) = (inertia.mass, inertia.first, carrier.linear);
        let of_first = |a: Vec3<T>| Mat3::scalar(-h.dot(a)).plus_outer(a, h);
        let trace = inertia.second.trace();
        let (twice, turned) = (T::one() + T::one(), of_first(omega));

        let drift = [Mat3::hat(omega * m), turned];
        let weight = [Mat3::hat(g * m), of_first(g)];
        // The wrench of the motion [v × e; ω × e], plus twice that of the momenta rotated about e.
        let momenta = Mat3::scalar(momentum.first.trace()).minus(&momentum.first);
        let rotation = Mat3::hat(omega * trace).minus(&inertia.second.matrix().times_hat(omega));
        let gyroscopic = [
            Mat3::hat(v * m - momentum.sum * twice).minus(&turned),
            (rotation.plus(&of_first(v))).plus(&momenta.plus(&momenta)),
        ];
        for k in 0..3 {
            let (along, about) = (
                (start + k) * self.n + start,
                (start + 3 + k) * self.n + start,
            );
            let column =
                |[linear, angular]: &[Mat3<T>; 2]| SpatialVector::new(linear.0[k], angular.0[k]);
            SpatialVector::zero().write(&mut self.configuration[along..]);
            column(&drift).write(&mut self.velocity[along..]);
            let mut weight = column(&weight);
            if let Some(absolute) = absolute {
                weight = weight - absolute.turned(Vec3::unit(k));
            }
            weight.write(&mut self.configuration[about..]);
            column(&gyroscopic).write(&mut self.velocity[about..]);
        }
    }

    /// The derivatives between it and a coordinate of a carried node, both ways.
    #[inline]
    pub fn on_free(
        &mut self,
        row: usize,
        start: usize,
        probe: &Probe<T>,
        node: &NodeVelocity<T>,
        carrier: &CarrierAcceleration<T>,
    ) {
        let at = row * self.n + start;
        probe.configuration.write(&mut self.configuration[at..]);
        probe.velocity.write(&mut self.velocity[at..]);
        let SpatialVector {
            linear: v,
            angular: omega,
        } = node.twist;
        let SpatialVector {
            linear: force,
            angular: torque,
        } = probe.inertia;
        let weight = force.cross(carrier.linear) + probe.absolute;
        let along = force.cross(omega);
        let about = torque.cross(omega) + force.cross(v) + probe.turning;
        for k in 0..3 {
            self.set(row, start + k, T::zero(), along.get(k));
            self.set(row, start + 3 + k, weight.get(k), about.get(k));
        }
    }
}
