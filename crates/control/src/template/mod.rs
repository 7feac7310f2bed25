//! The desired closed loop: three ways to say how a system of bodies should move towards its reference.
//!
//! Every pair of frames (a, b) that matters carries three desired energies, given by 4x4 second moments: a stiffness
//! K', a damping D' and an inertia M' ([`Pair`]). From them, from how b moves seen from a ([`Motion`]) and how it should
//! move ([`Desired`]) each approach forms its template
//!
//! ```text
//! Mbar xidot + bbar = 0,      bbar = cbar + f_D + f_K                                     Konz (5.72)
//! ```
//!
//! and all three share `Mbar = sum J^T Vee(M') J` and `f_K = sum J^T vee2((I - E) K')` with `E = G^-1 G_R`. They differ in
//! what they call a velocity error:
//!
//! - [`particle`]: the difference of the velocities of particles, (5.18). In the inertial frame every error goes straight
//!   to zero; its total energy need not decrease while the reference moves.
//! - [`body`]: the twist of the body relative to its reference, (5.26). For one body the total energy decreases.
//! - [`energy`]: `xi_E = xi - Q xi_R` with a [`transport`] map Q, (5.56), for which the total energy of any system decreases.
//!   With the map (5.67) of a common centre of all three energies it moves as straight as [`particle`].
//!
//! The functions of [`particle`], [`body`] and [`energy`] give the contribution of one pair in the pair's own
//! coordinates; `J^T` takes it to those of the system and the sum runs over the pairs, each unordered pair once.
//! [`general`] has energies with more parameters.
//! [`Template`] does this for one free body seen from the world, where `J = I`.

pub mod body;
pub mod energy;
mod free_body;
pub mod general;
pub mod pair;
pub mod particle;
pub mod transport;

pub use free_body::{Template, TemplateForces};
pub use pair::{Desired, Motion, Pair};

use serde::Deserialize;

/// Which template forms the desired closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approach {
    /// Particle-based, Konz (5.18).
    Particle,
    /// Body-based, Konz (5.26).
    Body,
    /// Energy-based, Konz (5.56).
    #[default]
    Energy,
}

/// Which map carries the reference's velocity to the body in the energy-based approach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// `Q = Ad(E)`, Konz (5.64).
    Adjoint,
    /// About the centre of stiffness, Konz (5.67).
    #[default]
    Centred,
}
