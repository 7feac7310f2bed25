//! The Gibbs-Appell equations: the gradient of the acceleration energy.

use num_dual::Dual64;

use super::{Forms, read};

/// # Gibbs-Appell
impl Forms {
    /// `f_M = dS/dxi_dot`, n, with the acceleration energy S, Konz (3.93), which prints `xi_dot^j` for the second velocity.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model.
    pub fn gibbs_appell(&mut self, x: &[f64], xi: &[f64], xi_dot: &[f64], force: &mut [f64]) {
        read(x, &mut self.x);
        read(xi, &mut self.xi);
        read(xi_dot, &mut self.varied);
        self.workspace.update(&self.model, &self.x, &self.xi);
        self.workspace.update_jacobians(&self.model);
        for (i, force) in force.iter_mut().enumerate() {
            self.varied[i] = Dual64::new(xi_dot[i], 1.0);
            let energy = self
                .workspace
                .acceleration_energy(&self.model, &self.varied);
            *force = energy.eps;
            self.varied[i] = Dual64::from_re(xi_dot[i]);
        }
    }
}
