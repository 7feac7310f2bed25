//! The matrices that are written, and the closed forms of a node that moves freely in the world.

use nalgebra::{DMatrix, RealField};

use super::column::CarrierAcceleration;
use super::probe::{Composite, Probe};
use crate::multibody::kinematics::NodeVelocity;
use crate::multibody::simd::Vec3;
use crate::multibody::spatial::{MomentumMoments, SpatialVector};

/// Matrices of `n` columns: derivatives of forces along the configuration and by the velocity, and by the acceleration where they are asked for.
pub struct Entries<'a, T> {
    pub n: usize,
    pub mass: Option<&'a mut DMatrix<T>>,
    configuration: &'a mut [T],
    velocity: &'a mut [T],
}

impl<'a, T: RealField + Copy> Entries<'a, T> {
    /// Of matrices n x n, which become zero.
    pub fn new(
        n: usize,
        configuration: &'a mut DMatrix<T>,
        velocity: &'a mut DMatrix<T>,
        mass: Option<&'a mut DMatrix<T>>,
    ) -> Self {
        let zeros = |matrix: &'a mut DMatrix<T>| {
            assert_eq!(matrix.shape(), (n, n), "shape of the derivatives");
            let entries = matrix.as_mut_slice();
            entries.fill(T::zero());
            entries
        };
        Self {
            n,
            mass,
            configuration: zeros(configuration),
            velocity: zeros(velocity),
        }
    }

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
/// Its directions are the unit twists about the root's origin, which is its own, in its own axes: products with them are entries. Its carrier
/// accelerates with gravity alone, which only turns with it. `start` is its first coordinate.
impl<T: RealField + Copy> Entries<'_, T> {
    /// How its own forces change along its own coordinates.
    pub fn free(
        &mut self,
        start: usize,
        composite: &Composite<T>,
        node: &NodeVelocity<T>,
        carrier: &CarrierAcceleration<T>,
        absolute: Option<&MomentumMoments<T>>,
    ) {
        let SpatialVector {
            linear: v,
            angular: omega,
        } = node.twist;
        let inertia = &composite.inertia;
        for k in 0..3 {
            let e = Vec3::unit(k);
            let (along, about) = (
                (start + k) * self.n + start,
                (start + 3 + k) * self.n + start,
            );
            SpatialVector::zero().write(&mut self.configuration[along..]);
            (inertia.momentum_of_translation(omega.cross(e))).write(&mut self.velocity[along..]);

            let mut weight = inertia.momentum_of_translation(carrier.linear.cross(e));
            if let Some(absolute) = absolute {
                weight = weight - absolute.turned(e);
            }
            weight.write(&mut self.configuration[about..]);
            let turned = SpatialVector::new(v.cross(e), omega.cross(e));
            (composite.inertial_wrench(&turned, e)).write(&mut self.velocity[about..]);
        }
    }

    /// Both ways between it and a coordinate of what it carries.
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
