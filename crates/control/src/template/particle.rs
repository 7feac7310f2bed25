//! The particle-based template, Konz (5.18).
//!
//! Every particle of the pair's mass, damping and stiffness distributions responds to the difference between its own
//! velocity (acceleration, position) and that of its reference particle. With `X = wed z - E wed z_R`:
//!
//! ```text
//! f_D = vee2(X D')                                                    R-bar = 1/2 tr(X D' X^T)
//! cbar = vee2((wed(Jdot xi) + wed(z)^2 - E (wed a_R + wed(z_R)^2)) M')   T-bar = 1/2 tr(X M' X^T)
//! ```
//!
//! The residual forces of the particles, `F = m r_E'' + d r_E' + k r_E`, do no work on any motion of the system, but on that of the reference: with
//! `X_R = E wed z_R` their power (5.10) is, see [`DesiredMotion::reference_power_at`](super::DesiredMotion::reference_power_at),
//!
//! ```text
//! P = <Y M' + X D' + (I - E) K', X_R> + z' . vee2(X_R M'),   Y = wed(Jdot xi) + wed(z)^2 - E (wed a_R + wed(z_R)^2)
//! ```
//!
//! The expanded form (5.15) has four misprints in the dissertation; this form is shorter and correct.
#![allow(non_snake_case)]

use fly_lie::operators::{double_vee6, hat6};
use nalgebra::{Matrix4, RealField};

use super::PairForces;
use crate::Energies;
use crate::pair::{Pair, Tracking, half_product};

/// The terms of one pair.
#[inline]
pub fn forces<T: RealField + Copy>(pair: &Pair<T>, at: &Tracking<'_, T>) -> PairForces<T> {
    let (motion, desired, E4) = (at.motion, at.desired, at.error.matrix());
    let (Z, Z_R) = (hat6(&motion.twist), hat6(&desired.twist));
    let X_R: Matrix4<T> = E4 * Z_R;
    let X = Z - X_R;
    let Y = hat6(&motion.bias_acceleration) + Z * Z - E4 * hat6(&desired.acceleration) - X_R * Z_R;
    let accelerated = Y * pair.inertia();
    let damped = X * pair.damping();
    let (pulled, potential) = pair.pulled(&E4);
    let moved = X * pair.inertia();
    let energies = Energies::new(
        half_product(&moved, &X),
        potential,
        half_product(&damped, &X),
    );
    PairForces {
        inertial: double_vee6(&accelerated),
        damping: double_vee6(&damped),
        stiffness: double_vee6(&pulled),
        momentum: double_vee6(&moved),
        reference_power: (accelerated + damped + pulled).dot(&X_R),
        reference_momentum: double_vee6(&(X_R * pair.inertia())),
        energies,
    }
}
