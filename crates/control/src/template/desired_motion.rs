//! What a template asks for.

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1};

use crate::Energies;
use crate::sizes::DefaultDim;
use crate::transport::Map;

/// What a [`Template`](super::Template) asks for at one instant: `Mbar xi_dot + bbar = 0`, with n rows, Konz (5.72).
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredMotion<T: RealField + Copy = f64, N: Dim = DefaultDim>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N>,
{
    /// Mbar, n x n, the same for all approaches.
    pub mass_matrix: OMatrix<T, N, N>,
    /// cbar: all of the inertial force but `Mbar xi_dot`.
    pub inertial: OVector<T, N>,
    /// f_D.
    pub damping: OVector<T, N>,
    /// f_K, the gradient of V-bar.
    pub stiffness: OVector<T, N>,
    /// bbar = cbar + f_D + f_K.
    pub bias: OVector<T, N>,
    /// The gradient of T-bar: how much the kinetic energy of the error changes with each velocity coordinate.
    pub momentum: OVector<T, N>,
    /// The desired energies.
    pub energies: Energies<T>,
    /// Q and its rate, where the approach uses one.
    pub map: Map<T, N>,
}

impl<T: RealField + Copy, N: Dim> DesiredMotion<T, N>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N>,
{
    /// Room for n degrees of freedom.
    pub fn of_dof(n: N) -> Self {
        let zero = OVector::zeros_generic(n, U1);
        Self {
            mass_matrix: OMatrix::zeros_generic(n, n),
            inertial: zero.clone(),
            damping: zero.clone(),
            stiffness: zero.clone(),
            momentum: zero.clone(),
            bias: zero,
            energies: Energies::default(),
            map: Map::new(n),
        }
    }

    /// Of no pairs.
    pub(crate) fn clear(&mut self) {
        self.mass_matrix.fill(T::zero());
        self.inertial.fill(T::zero());
        self.damping.fill(T::zero());
        self.stiffness.fill(T::zero());
        self.momentum.fill(T::zero());
    }

    /// bbar from its three parts.
    pub(crate) fn sum_up(&mut self) {
        self.bias.copy_from(&self.inertial);
        self.bias += &self.damping;
        self.bias += &self.stiffness;
    }
}
