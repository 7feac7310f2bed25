//! The desired closed loop: three formulations of how a system of bodies should approach its reference.
//!
//! Every controlled pair of frames (a, b) has three desired energies, given by 4x4 second moments: a stiffness K', a damping D'
//! and an inertia M' ([`Pair`]). From these, the motion of b relative to a ([`PairKinematics`]) and the desired motion
//! ([`ReferencePoint`](crate::ReferencePoint)) each approach forms its template
//!
//! ```text
//! Mbar xidot + bbar = 0,      bbar = cbar + f_D + f_K                                     Konz (5.72)
//! ```
//!
//! All three share `Mbar = sum J^T Vee(M') J` and `f_K = sum J^T vee2((I - E) K')` with `E = G^-1 G_R`. They differ in
//! their definition of the velocity error:
//!
//! - [`particle`]: the difference of the velocities of particles, (5.18). In the inertial frame every error decays along a straight line; the
//!   total energy need not decrease while the reference moves.
//! - [`body`]: the twist of the body relative to its reference, (5.26). For a single body the total energy decreases.
//! - [`energy`]: `xi_E = xi - Q xi_R` with a [`transport`](crate::transport) map Q, (5.56), for which the total energy of any system decreases.
//!   With the map (5.67) and one common centre of all three energies its paths are as straight as those of [`particle`].
//!
//! The functions in [`particle`], [`body`] and [`energy`] return the contribution of one pair in the pair's own
//! coordinates; `J^T` maps it to the system's coordinates, and the sum runs over the pairs, each unordered pair once:
//!
//! ```text
//! Mbar = sum J^T Vee(M') J      f_K = sum J^T vee2((I - E) K')      particle, body: sum J^T (cbar + f_D) of the pair
//! energy: f_D = sum J^T Vee(D') J xi_E,   cbar = sum J^T (Vee(M') (Jdot xi_E - J (Q xidot_R + Qdot xi_R)) + C(M', z) J xi_E)
//! ```
//!
//! [`Template`] does this for any [`Kinematics`]: a vehicle, whose only pair (world, body) has J = I, or a system of bodies. `general` has energies with more
//! parameters, and `MatrixTemplate` sums them. `FunctionTemplate` takes any potential, metric and damping as functions; any other template implements
//! `SystemTemplate`.
#![allow(non_snake_case)]

pub mod body;
#[cfg(feature = "geometry")]
mod controlled_particles;
mod desired_motion;
pub mod energy;
#[cfg(feature = "systems")]
pub mod general;
#[cfg(feature = "geometry")]
mod of_functions;
#[cfg(feature = "systems")]
mod of_matrices;
#[cfg(feature = "systems")]
mod of_model;
mod pair_forces;
pub mod particle;
#[cfg(feature = "systems")]
mod user;

pub use crate::pair::{Pair, PairKinematics, Tracking};
pub use crate::transport::Transport;
#[cfg(feature = "geometry")]
pub use controlled_particles::{ControlledParticles, ParticleState};
pub use desired_motion::DesiredMotion;
#[cfg(feature = "geometry")]
pub use of_functions::{
    EnergyBased, ErrorEnergies, ErrorMetric, FunctionTemplate, ParticleBased, PotentialError,
};
#[cfg(feature = "systems")]
pub use of_matrices::{MatrixPair, MatrixTemplate};
pub use pair_forces::PairForces;
#[cfg(feature = "systems")]
pub use user::SystemTemplate;

use core::borrow::Borrow;

use nalgebra::{DefaultAllocator, Matrix6, OVector, RealField, U1};

use crate::Energies;
use crate::kinematics::{Jacobian, Kinematics, OneBody};
use crate::sizes::Sizes;
use crate::transport::Map;

/// Which template forms the desired closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "settings", derive(serde::Deserialize))]
#[cfg_attr(feature = "settings", serde(rename_all = "snake_case"))]
pub enum Approach {
    /// Particle-based, Konz (5.18).
    Particle,
    /// Body-based, Konz (5.26).
    Body,
    /// Energy-based, Konz (5.56).
    #[default]
    Energy,
}

/// The desired closed loop of a vehicle or a system, Konz (5.18), (5.26) or (5.56) summed over its pairs.
#[derive(Clone)]
pub struct Template<K: Kinematics>
where
    DefaultAllocator: Sizes<K::Dof, K::Dof>,
{
    approach: Approach,
    pairs: K::Pairs,
    map: K::Map,
    jacobian: K::Jacobian,
    xi: OVector<K::Scalar, K::Dof>,
    xi_R: OVector<K::Scalar, K::Dof>,
    xi_dot_R: OVector<K::Scalar, K::Dof>,
    xi_E: OVector<K::Scalar, K::Dof>,
    /// `Q xi_R_dot + Q_dot xi_R`.
    carried: OVector<K::Scalar, K::Dof>,
    product: OVector<K::Scalar, K::Dof>,
}

/// # Construction
impl<K: Kinematics> Template<K>
where
    DefaultAllocator: Sizes<K::Dof, K::Dof>,
{
    /// For these pairs. The map matters only for [`Approach::Energy`].
    pub fn new(of: &K, approach: Approach, pairs: K::Pairs, map: K::Map) -> Self {
        let zero = OVector::zeros_generic(of.dof(), U1);
        Self {
            approach,
            pairs,
            map,
            jacobian: of.jacobian(),
            xi: zero.clone(),
            xi_R: zero.clone(),
            xi_dot_R: zero.clone(),
            xi_E: zero.clone(),
            carried: zero.clone(),
            product: zero,
        }
    }

    /// Its pairs.
    pub fn pairs(&self) -> &[K::Pair] {
        self.pairs.as_ref()
    }

    /// Its approach.
    pub fn approach(&self) -> Approach {
        self.approach
    }

    /// Its transport map.
    pub fn map(&self) -> &K::Map {
        &self.map
    }

    /// Writes the transport map and its rate, whether or not the approach uses it.
    ///
    /// # Errors
    /// If the map is singular.
    pub fn transport_map(
        &mut self,
        at: &K::At<'_>,
        out: &mut Map<K::Scalar, K::Dof>,
    ) -> Result<(), K::MapError> {
        K::transport(&mut self.map, at, &self.pairs, out)
    }

    /// Writes the desired motion. Does not allocate.
    ///
    /// # Errors
    /// If the transport map is singular.
    pub fn form(
        &mut self,
        at: &K::At<'_>,
        out: &mut DesiredMotion<K::Scalar, K::Dof>,
    ) -> Result<(), K::MapError> {
        let (zero, one): (K::Scalar, K::Scalar) = (nalgebra::zero(), nalgebra::one());
        let (pairs, J) = (self.pairs.as_ref(), &mut self.jacobian);
        let energy_based = self.approach == Approach::Energy;
        if energy_based {
            K::transport(&mut self.map, at, &self.pairs, &mut out.map)?;
            let (Q, Q_dot) = (&out.map.Q, &out.map.Q_dot);
            let velocities = [&mut self.xi, &mut self.xi_R, &mut self.xi_dot_R];
            K::velocities(at, velocities);
            // xi_E = xi - Q xi_R
            self.product.gemv(one, Q, &self.xi_R, zero);
            self.xi_E.copy_from(&self.xi);
            self.xi_E -= &self.product;
            self.carried.gemv(one, Q, &self.xi_dot_R, zero);
            self.product.gemv(one, Q_dot, &self.xi_R, zero);
            self.carried += &self.product;
        }

        if pairs.is_empty() {
            out.clear();
        }
        out.energies = Energies::default();
        // The first pair overwrites the previous result, the others add to it.
        let (mut kept, mut storage, mut reference_power) = (zero, None, zero);
        for of_pair in pairs {
            let tracking = K::pair(at, of_pair, J, &mut storage);
            let pair: &Pair<K::Scalar> = of_pair.borrow();
            let of_pair = match self.approach {
                Approach::Particle => particle::forces(pair, &tracking),
                Approach::Body => body::forces(pair, &tracking),
                Approach::Energy => {
                    let (z_E, mut rate) = (J.times(&self.xi_E), -J.times(&self.carried));
                    if let Some(of_error) = K::rate_times(at, of_pair, &self.xi_E) {
                        rate += of_error;
                    }
                    energy::forces(pair, &tracking, &z_E, &rate)
                }
            };
            J.add_matrix(pair.inertia_matrix(), kept, &mut out.mass_matrix);
            out.add_forces(&of_pair, J, kept);
            reference_power += of_pair.reference_power;
            kept = one;
        }
        out.sum_up();
        if energy_based {
            // Q xi_R = xi - xi_E
            self.xi -= &self.xi_E;
            reference_power -= out.stiffness.dot(&self.xi);
        }
        out.reference_power = Some(reference_power);
        Ok(())
    }
}

/// # A vehicle
impl<T: RealField + Copy> Template<OneBody<T>> {
    /// For the pair (world, body) of one free body.
    pub fn of_body(approach: Approach, transport: Transport, pair: Pair<T>) -> Self {
        Self::new(&OneBody::default(), approach, [pair], transport)
    }

    /// The pair's desired energies.
    pub fn pair(&self) -> &Pair<T> {
        &self.pairs[0]
    }

    /// Mbar, constant.
    pub fn mass_matrix(&self) -> &Matrix6<T> {
        self.pair().inertia_matrix()
    }
}
