//! The energy-based template, Konz (5.56).
//!
//! The pairs give `Mbar = sum J^T Vee(M') J`, `Dbar = sum J^T Vee(D') J` and `Cbar = sum J^T (Vee(M') Jdot + C(M', z) J)`; the
//! error velocity `xi_E = xi - Q xi_R` is one of the whole system:
//!
//! ```text
//! f_D = Dbar xi_E,   cbar = Cbar xi_E - Mbar (Q xidot_R + Qdot xi_R),   T-bar = 1/2 xi_E^T Mbar xi_E
//! ```
//!
//! The dissertation prints `Gamma_ijk xi_E^k xi_E^j` in (5.56) (and (5.33), (5.41), (5.46), (5.47)); the total energy decreases
//! only with the *actual* velocity in one place, `Gamma_ijk xi^k xi_E^j`, as (5.40), (5.52), (5.85h) and [`connection`] have it.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, wed3};
use nalgebra::{Matrix4, Matrix6, Vector6};

use super::pair::Pair;
use super::transport::Map;
use crate::Energies;

/// C(M', z) of one pair, 6x6 and skew-symmetric: the connection of the inertia M' along the twist z, Konz (5.66), (5.85h).
///
/// ```text
/// C = [[m wed w, -wed w wed(m s)], [wed(m s) wed w, wed(Wed(Theta) w)]],   z = [v; w]
/// ```
pub fn connection(pair: &Pair, z: &Vector6<f64>) -> Matrix6<f64> {
    let M: &Matrix4<f64> = pair.inertia();
    let w = angular(z);
    let W = wed3(&w);
    let S = wed3(&M.fixed_view::<3, 1>(0, 3).into_owned());
    // The upper left block of M' is Wed(Theta) already.
    let second_moment = M.fixed_view::<3, 3>(0, 0).into_owned();
    let mut C = Matrix6::zeros();
    C.fixed_view_mut::<3, 3>(0, 0).copy_from(&(W * M[(3, 3)]));
    C.fixed_view_mut::<3, 3>(0, 3).copy_from(&(-W * S));
    C.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * W));
    C.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&wed3(&(second_moment * w)));
    C
}

/// What the energy-based template needs of a system of 6 degrees of freedom.
pub struct System<'a> {
    /// Mbar.
    pub inertia: &'a Matrix6<f64>,
    /// Dbar.
    pub damping: &'a Matrix6<f64>,
    /// Cbar.
    pub connection: &'a Matrix6<f64>,
    /// V-bar, J.
    pub potential: f64,
}

/// `[cbar, f_D]` of a system, and its energies, for the velocity and the reference's velocity and acceleration.
pub fn forces(
    system: &System,
    map: &Map,
    xi: &Vector6<f64>,
    xi_R: &Vector6<f64>,
    xi_dot_R: &Vector6<f64>,
) -> ([Vector6<f64>; 2], Energies) {
    let xi_E = xi - map.Q * xi_R;
    let damping = system.damping * xi_E;
    let inertial =
        system.connection * xi_E - system.inertia * (map.Q * xi_dot_R + map.Q_dot * xi_R);
    let kinetic = 0.5 * xi_E.dot(&(system.inertia * xi_E));
    (
        [inertial, damping],
        Energies::new(kinetic, system.potential, 0.5 * xi_E.dot(&damping)),
    )
}
