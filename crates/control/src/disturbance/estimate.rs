//! The mass and centre of mass that explain a disturbance in hover.
#![allow(non_snake_case)]

use fly_mechanics::FreeBody;
use nalgebra::{Matrix3, Vector3, Vector6};

/// The mass and centre of mass that would explain the disturbance on a hovering body. From the motion alone, weight, thrust and wind along gravity are
/// indistinguishable.
///
/// ```text
/// m_e = m + F . a_G / |a_G|^2,      tau = m_e s_e x g - m s x g  with  g = R^T a_G
/// ```
///
/// Only the components of `s_e` orthogonal to gravity follow; the component along it is the model's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoverEstimate {
    /// kg.
    pub mass: f64,
    /// m, body coordinates.
    pub center_of_mass: Vector3<f64>,
}

impl HoverEstimate {
    /// For a body at this attitude on which the wrench `[f; tau]` (body axes, about its origin) acts in addition to its model. `None` without gravity, or if
    /// the mass would not be positive.
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
