//! The energy-based template, Konz (5.56).
//!
//! The pairs give `Mbar = sum J^T Vee(M') J`, `Dbar = sum J^T Vee(D') J` and `Cbar = sum J^T (Vee(M') Jdot + C(M', z) J)`; the
//! error velocity `xi_E = xi - Q xi_R` belongs to the system as a whole:
//!
//! ```text
//! f_D = Dbar xi_E,   cbar = Cbar xi_E - Mbar (Q xidot_R + Qdot xi_R),   T-bar = 1/2 xi_E^T Mbar xi_E
//! ```
//!
//! The dissertation prints `Gamma_ijk xi_E^k xi_E^j` in (5.56) (and (5.33), (5.41), (5.46), (5.47)). The total energy decreases
//! only with the *actual* velocity in one of the two slots, `Gamma_ijk xi^k xi_E^j`, as in (5.40), (5.52), (5.85h) and
//! [`connection`].
#![allow(non_snake_case)]

use fly_lie::operators::{angular, hat3};
use nalgebra::{Matrix4, Matrix6, RealField, Vector6, convert};

use super::PairForces;
use crate::Energies;
use crate::pair::{Pair, Tracking, carry};

/// C(M', z) of one pair, 6x6 and skew-symmetric: the connection of the inertia M' along the twist z, Konz (5.66), (5.85h).
///
/// ```text
/// C = [[m wed w, -wed w wed(m s)], [wed(m s) wed w, wed(Wed(Theta) w)]],   z = [v; w]
/// ```
pub fn connection<T: RealField + Copy>(pair: &Pair<T>, z: &Vector6<T>) -> Matrix6<T> {
    let M: &Matrix4<T> = pair.inertia();
    let w = angular(z);
    let W = hat3(&w);
    let S = hat3(&M.fixed_view::<3, 1>(0, 3).into_owned());
    // The upper left block of M' is Wed(Theta).
    let second_moment = M.fixed_view::<3, 3>(0, 0).into_owned();
    let mut C = Matrix6::zeros();
    C.fixed_view_mut::<3, 3>(0, 0).copy_from(&(W * M[(3, 3)]));
    C.fixed_view_mut::<3, 3>(0, 3).copy_from(&(-W * S));
    C.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * W));
    C.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&hat3(&(second_moment * w)));
    C
}

/// The terms of one pair: `cbar = Vee(M') rate + C(M', z) z_E`, `f_D = Vee(D') z_E`, `f_K = vee2((I - E) K')`. Its reference power is that of f_K alone; the
/// system adds `grad V . Q xi_R`, which cancels it if the transport map matches, (5.43).
///
/// `z_E` is `J xi_E`; `rate` is its rate without `J xidot`: `Jdot xi_E - J (Q xidot_R + Qdot xi_R)`.
#[inline]
pub fn forces<T: RealField + Copy>(
    pair: &Pair<T>,
    at: &Tracking<'_, T>,
    z_E: &Vector6<T>,
    rate: &Vector6<T>,
) -> PairForces<T> {
    let half: T = convert(0.5);
    let inertial = pair.inertia_matrix() * rate + connection(pair, &at.motion.twist) * z_E;
    let damping = pair.damping_matrix() * z_E;
    let momentum = pair.inertia_matrix() * z_E;
    let (stiffness, potential) = pair.elastic(&at.error);
    let energies = Energies::new(
        half * z_E.dot(&momentum),
        potential,
        half * z_E.dot(&damping),
    );
    PairForces {
        reference_power: stiffness.dot(&carry(&at.error, &at.desired.twist)),
        reference_momentum: Vector6::zeros(),
        inertial,
        damping,
        stiffness,
        momentum,
        energies,
    }
}
