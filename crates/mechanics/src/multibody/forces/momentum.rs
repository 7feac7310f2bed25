//! Momenta of a whole system in the world, and its centre of mass.

use fly_lie::operators::{angular, join, linear};
use nalgebra::{RealField, Vector3, Vector6};

use crate::multibody::{Model, Workspace};

/// # Momenta and centre of mass
///
/// After [`Workspace::update`]; in world components. Of a system without any mass the centre is not a number.
impl<T: RealField + Copy> Workspace<T> {
    /// The centre of mass, m.
    pub fn center_of_mass(&self, model: &Model<T>) -> Vector3<T> {
        let moments = model.massive().map(|(body, inertia)| {
            let pose = &self.frames[body.index()].pose;
            pose.act(&inertia.center_of_mass()) * inertia.mass()
        });
        moments.fold(Vector3::zeros(), |sum, moment| sum + moment) / model.mass()
    }

    /// Its velocity, m/s.
    pub fn center_of_mass_velocity(&self, model: &Model<T>) -> Vector3<T> {
        linear(&self.momentum(model)) / model.mass()
    }

    /// Linear momentum and angular momentum about the world's origin, `[p; L]`, kg m/s and kg m²/s: `sum Ad(0G_b^-1)^T M_b 0XI_b`.
    ///
    /// A system on a free joint without gravity keeps both, whatever its joints, springs and dampers do.
    pub fn momentum(&self, model: &Model<T>) -> Vector6<T> {
        let momenta = model.massive().map(|(body, inertia)| {
            let frame = &self.frames[body.index()];
            let momentum = inertia.matrix6() * frame.twist;
            frame.pose.adjoint_inverse().tr_mul(&momentum)
        });
        momenta.fold(Vector6::zeros(), |sum, momentum| sum + momentum)
    }

    /// The same with the angular momentum about the centre of mass.
    pub fn centroidal_momentum(&self, model: &Model<T>) -> Vector6<T> {
        let momentum = self.momentum(model);
        let (p, L) = (linear(&momentum), angular(&momentum));
        join(&p, &(L - self.center_of_mass(model).cross(&p)))
    }
}
