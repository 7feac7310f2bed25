//! Hamilton's equations in configuration and momentum.

use nalgebra::DVector;
use num_dual::Dual64;

use super::{Forms, read};
use crate::multibody::{MasslessMotion, projection};

/// # Hamilton
impl Forms {
    /// Velocity and rate of the momentum `p = M xi` under the force `f`, which includes everything that is not in the potential
    /// energy, such as dampers: Konz (B.31),
    ///
    /// ```text
    /// ξ^i = dH/dp_i,     ṗ_i = f_i - γ^k_ij ξ^j p_k - ∂_i H,     H = 1/2 pᵀ M⁻¹ p + V
    /// ```
    ///
    /// # Errors
    /// [`MasslessMotion`] if the mass matrix is singular.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model.
    pub fn hamilton(
        &mut self,
        x: &[f64],
        p: &[f64],
        force: &[f64],
        xi: &mut [f64],
        p_dot: &mut [f64],
    ) -> Result<(), MasslessMotion> {
        read(x, &mut self.x);
        self.hamiltonian(p)?;
        for (xi, velocity) in xi.iter_mut().zip(&self.momentum) {
            *xi = velocity.re;
        }
        read(xi, &mut self.varied);
        read(p, self.momentum.as_mut_slice());
        let commutation = self.momentum.as_mut_slice();
        self.model.commutation_force(&self.varied, commutation);
        for (p_dot, (force, commutation)) in p_dot.iter_mut().zip(force.iter().zip(commutation)) {
            *p_dot = force - commutation.re;
        }
        for (i, p_dot) in p_dot.iter_mut().enumerate() {
            let mut solved = Ok(());
            *p_dot -= self.derivative_along(i, |forms| {
                forms.hamiltonian(p).unwrap_or_else(|error| {
                    solved = Err(error);
                    Dual64::from_re(0.0)
                })
            });
            solved?;
        }
        Ok(())
    }

    /// `H` at `self.x`; leaves `xi = M^-1 p` in `self.momentum`.
    fn hamiltonian(&mut self, p: &[f64]) -> Result<Dual64, MasslessMotion> {
        self.xi.fill(Dual64::from_re(0.0));
        self.workspace.update(&self.model, &self.x, &self.xi);
        self.workspace.update_jacobians(&self.model);
        let M = &mut self.equation.mass_matrix;
        projection::mass_matrix(&self.model, &self.workspace, M);
        let mut xi: DVector<Dual64> = std::mem::take(&mut self.momentum);
        read(p, xi.as_mut_slice());
        let solved = self.equation.solve(&mut xi);
        self.momentum = xi;
        solved?;
        let twice = self.momentum.iter().zip(p).map(|(xi, p)| *xi * *p);
        let kinetic = twice.fold(Dual64::from_re(0.0), |sum, product| sum + product) * 0.5;
        Ok(kinetic + self.workspace.potential_energy(&self.model))
    }
}
