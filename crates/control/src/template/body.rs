//! The body-based template, Konz (5.26).
//!
//! The pair behaves like a body with inertia M', damping D' and stiffness K' that moves with the twist `z_E = z - Ad(E) z_R`
//! relative to its reference, as if the reference were at rest:
//!
//! ```text
//! f_D = Vee(D') z_E                                                              R-bar = 1/2 z_E^T Vee(D') z_E
//! cbar = Vee(M') (Jdot xi - Ad(E) a_R + ad(z_E) Ad(E) z_R) - ad(z_E)^T Vee(M') z_E   T-bar = 1/2 z_E^T Vee(M') z_E
//! ```
//!
//! The power (5.23) that the motion of the reference extracts is that of all these forces on `Ad(E) z_R`: zero for a single body, whose forces sum to
//! zero.
//!
//! (5.20) and (5.21) omit the Vee.
#![allow(non_snake_case)]

use fly_lie::operators::{bracket, coadjoint_bracket};
use nalgebra::{RealField, convert};

use super::PairForces;
use crate::Energies;
use crate::pair::{Pair, Tracking, carry};

/// The terms of one pair.
#[inline]
pub fn forces<T: RealField + Copy>(pair: &Pair<T>, at: &Tracking<'_, T>) -> PairForces<T> {
    let Tracking {
        motion,
        desired,
        error: E,
    } = at;
    let half: T = convert(0.5);
    let carried = carry(E, &desired.twist);
    let z_E = motion.twist - carried;
    let momentum = pair.inertia_matrix() * z_E;
    let rate = motion.bias_acceleration - carry(E, &desired.acceleration) + bracket(&z_E, &carried);
    let inertial = pair.inertia_matrix() * rate - coadjoint_bracket(&z_E, &momentum);
    let damping = pair.damping_matrix() * z_E;
    let (stiffness, potential) = pair.elastic(E);
    let energies = Energies::new(
        half * z_E.dot(&momentum),
        potential,
        half * z_E.dot(&damping),
    );
    PairForces {
        reference_power: carried.dot(&(inertial + damping + stiffness)),
        reference_momentum: pair.inertia_matrix() * carried,
        inertial,
        damping,
        stiffness,
        momentum,
        energies,
    }
}
