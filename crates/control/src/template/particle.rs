//! The particle-based template, Konz (5.18).
//!
//! Every particle of the pair's mass, damping and stiffness distributions acts on the difference between its own velocity
//! (acceleration, position) and that of its reference particle. With `X = wed z - E wed z_R`:
//!
//! ```text
//! f_D = vee2(X D')                                                    R-bar = 1/2 tr(X D' X^T)
//! cbar = vee2((wed(Jdot xi) + wed(z)^2 - E (wed a_R + wed(z_R)^2)) M')   T-bar = 1/2 tr(X M' X^T)
//! ```
//!
//! The expanded form (5.15) in the dissertation is misprinted in four places; this form is shorter and right.
#![allow(non_snake_case)]

use fly_lie::operators::{double_vee6, hat6};
use nalgebra::{Matrix4, RealField, Vector6};

use crate::Energies;
use crate::pair::{Pair, Tracking, half_product};

/// `[cbar, f_D, f_K]` of one pair in its own coordinates, and its energies.
#[inline]
pub fn forces<T: RealField + Copy>(
    pair: &Pair<T>,
    at: &Tracking<'_, T>,
) -> ([Vector6<T>; 4], Energies<T>) {
    let (motion, desired, E4) = (at.motion, at.desired, at.error.matrix());
    let (Z, Z_R) = (hat6(&motion.twist), hat6(&desired.twist));
    let X: Matrix4<T> = Z - E4 * Z_R;
    let Y =
        hat6(&motion.bias_acceleration) + Z * Z - E4 * (hat6(&desired.acceleration) + Z_R * Z_R);
    let inertial = double_vee6(&(Y * pair.inertia()));
    let damped = X * pair.damping();
    let (stiffness, potential) = pair.elastic(&at.error);
    let moved = X * pair.inertia();
    let energies = Energies::new(
        half_product(&moved, &X),
        potential,
        half_product(&damped, &X),
    );
    let forces = [
        inertial,
        double_vee6(&damped),
        stiffness,
        double_vee6(&moved),
    ];
    (forces, energies)
}
