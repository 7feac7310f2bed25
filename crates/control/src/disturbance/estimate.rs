//! What would explain a disturbance in hover.
#![allow(non_snake_case)]

use fly_mechanics::FreeBody;
use nalgebra::{Matrix3, Vector3, Vector6};

/// The mass and centre of mass that would explain the disturbance of a body that hovers: whether a force along gravity is weight, thrust or wind cannot
/// be told from the motion.
///
/// ```text
/// m_e = m + F . a_G / |a_G|^2,      tau = m_e s_e x g - m s x g  with  g = R^T a_G
/// ```
///
/// Of `s_e` only what is across gravity follows; along it the model's is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoverEstimate {
    /// kg.
    pub mass: f64,
    /// m, body coordinates.
    pub center_of_mass: Vector3<f64>,
}

impl HoverEstimate {
    /// Of a body at this attitude on which the wrench `[f; tau]` (body axes, about its origin) acts beside those of its model. `None` without gravity, or where no
    /// mass would be left.
    pub fn new(body: &FreeBody<f64>, R: &Matrix3<f64>, wrench: &Vector6<f64>) -> Option<Self> {
        let inertia = body.inertia();
        let g = R.tr_mul(body.gravity());
        let square = g.norm_squared();
        let (force, moment) = (
            wrench.fixed_rows::<3>(0).into_owned(),
            wrench.fixed_rows::<3>(3).into_owned(),
        );
        let mass = inertia.mass() + force.dot(&g) / square;
        if !(square > 0.0 && mass > 0.0) {
            return None;
        }
        let s = inertia.center_of_mass();
        let whole = moment + s.cross(&g) * inertia.mass();
        let across = g.cross(&whole) / (mass * square);
        Some(Self {
            mass,
            center_of_mass: across + g * (s.dot(&g) / square),
        })
    }
}
