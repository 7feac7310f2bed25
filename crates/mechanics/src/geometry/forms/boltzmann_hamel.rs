//! The Boltzmann-Hamel equations: Lagrange's equations in quasi-velocities.

use num_dual::Dual64;

use super::{Forms, read};

/// # Boltzmann-Hamel
impl Forms {
    /// `f_M = d/dt dT/dxi^i + gamma_ij^k xi^j dT/dxi^k - d_i T`, n, Konz (3.58), which prints `xi_dot` in the denominators.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model.
    pub fn boltzmann_hamel(&mut self, x: &[f64], xi: &[f64], xi_dot: &[f64], force: &mut [f64]) {
        // p = dT/dxi, with its rate, along the motion
        read(x, &mut self.x);
        for (varied, xi) in self.varied.iter_mut().zip(xi) {
            *varied = Dual64::new(0.0, *xi);
        }
        self.model.integrate(&mut self.x, &self.varied);
        for (dual, (xi, xi_dot)) in self.xi.iter_mut().zip(xi.iter().zip(xi_dot)) {
            *dual = Dual64::new(*xi, *xi_dot);
        }
        self.workspace.update(&self.model, &self.x, &self.xi);
        self.workspace.update_jacobians(&self.model);
        let p = self.momentum.as_mut_slice();
        self.workspace.generalized_momentum(&self.model, p);
        for (force, p) in force.iter_mut().zip(&*p) {
            *force = p.eps;
        }
        self.model.commutation_force(&self.xi, p);
        for (force, p) in force.iter_mut().zip(p) {
            *force += p.re;
        }

        read(x, &mut self.x);
        read(xi, &mut self.xi);
        for (i, force) in force.iter_mut().enumerate() {
            *force -= self.derivative_along(i, |forms| {
                forms.workspace.update(&forms.model, &forms.x, &forms.xi);
                forms.workspace.kinetic_energy(&forms.model)
            });
        }
    }
}
