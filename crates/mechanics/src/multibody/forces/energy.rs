//! Energies of a whole system.

use nalgebra::{RealField, Vector6, convert};

use crate::multibody::{Model, Workspace};

/// # Energies and powers
///
/// After [`Workspace::update`].
impl<T: RealField + Copy> Workspace<T> {
    /// `T = 1/2 xi^T M xi`, J: the sum of the bodies' kinetic energies.
    pub fn kinetic_energy(&self, model: &Model<T>) -> T {
        let energies = model.massive().map(|(body, inertia)| {
            let twist = &self.kinematics.body_twist(body);
            inertia.second_moment().energy(twist)
        });
        energies.fold(T::zero(), |sum, energy| sum + energy)
    }

    /// `V_G = -sum m a_G . r`, J, with the centres of mass `r` in the world; Konz (4.103m) prints its opposite, and `wed`
    /// without the transpose of (4.73).
    pub fn gravity_energy(&self, model: &Model<T>) -> T {
        let energies = model.massive().map(|(body, inertia)| {
            let center = self
                .kinematics
                .body_pose(body)
                .act(&inertia.center_of_mass());
            -inertia.mass() * model.gravity().dot(&center)
        });
        energies.fold(T::zero(), |sum, energy| sum + energy)
    }

    /// `V_K = sum 1/2 tr((G - G_R) K' (G - G_R)^T) + sum 1/2 k (q - q_0)²`, J, Konz (4.103l) and the springs in joints.
    pub fn spring_energy(&self, model: &Model<T>) -> T {
        let energies = model.springs.iter().map(|s| self.spring_energy_of(s));
        energies.fold(self.joint_spring_energy(model), |sum, energy| sum + energy)
    }

    /// `V = V_K + V_G`, J.
    pub fn potential_energy(&self, model: &Model<T>) -> T {
        self.spring_energy(model) + self.gravity_energy(model)
    }

    /// `T + V`, J.
    pub fn energy(&self, model: &Model<T>) -> T {
        self.kinetic_energy(model) + self.potential_energy(model)
    }

    /// Rayleigh's dissipation function `R = 1/2 xi^T D xi`, W: half the power dissipated by dampers and drag.
    pub fn dissipation(&self, model: &Model<T>) -> T {
        let powers = model.resistances.iter().map(|r| self.dissipation_of(r));
        powers.fold(T::zero(), |sum, power| sum + power)
    }

    /// `xi^T D xi = 2 R`, W: the power dissipated by dampers and drag.
    pub fn dissipated_power(&self, model: &Model<T>) -> T {
        self.dissipation(model) * convert(2.0)
    }

    /// The Gibbs-Appell acceleration energy, `S = sum 1/2 sum m_p |r_p''|²`, Konz (4.94), including its part `S_0` that does not depend on
    /// `xi_dot`: `S = 1/2 xi_dot^T M xi_dot + c^T xi_dot + S_0`. After [`Workspace::update_jacobians`] too.
    ///
    /// # Panics
    /// If `xi_dot` does not have length n.
    pub fn acceleration_energy(&self, model: &Model<T>, xi_dot: &[T]) -> T {
        let energies = model.massive().map(|(body, inertia)| {
            let twist = &self.kinematics.body_twist(body);
            let acceleration = self.acceleration(body, xi_dot);
            inertia
                .second_moment()
                .acceleration_energy(twist, &acceleration)
        });
        energies.fold(T::zero(), |sum, energy| sum + energy)
    }

    /// `0J_b xi_dot + 0J_b_dot xi`: the rate of a body's twist, after [`Workspace::update_jacobians`] too.
    ///
    /// # Panics
    /// If `xi_dot` does not have length n.
    pub fn acceleration(&self, body: crate::multibody::BodyId, xi_dot: &[T]) -> Vector6<T> {
        let J = self.body_jacobian(body);
        assert_eq!(xi_dot.len(), J.ncols(), "length of the acceleration");
        let bias = self.kinematics.body_bias(body);
        let pairs = J.column_iter().zip(xi_dot);
        pairs.fold(bias, |sum, (column, xi_dot)| sum + column * *xi_dot)
    }
}
