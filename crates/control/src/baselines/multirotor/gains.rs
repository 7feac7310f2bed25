//! Gains of multirotor controllers from the poles of the horizontal motion.

use nalgebra::Vector3;

use crate::poles::Poles;

/// Gains of the laws on SE(3): accelerations per error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultirotorGains {
    /// Along the axes of the world, 1/s^2.
    pub position: Vector3<f64>,
    /// Along the axes of the world, 1/s.
    pub velocity: Vector3<f64>,
    /// About body x, y, z, 1/s^2.
    pub attitude: Vector3<f64>,
    /// About body x, y, z, 1/s.
    pub rate: Vector3<f64>,
}

impl MultirotorGains {
    /// The gains that RotorPy 3.0.0 uses in its simulations.
    pub const ROTORPY: Self = Self {
        position: Vector3::new(6.5, 6.5, 15.0),
        velocity: Vector3::new(4.0, 4.0, 9.0),
        attitude: Vector3::new(544.0, 544.0, 544.0),
        rate: Vector3::new(46.64, 46.64, 46.64),
    };

    /// The gains for which the horizontal motion has the polynomial `l^4 + p3 l^3 + p2 l^2 + p1 l + p0` for small errors, and yaw the given parameters.
    pub fn of_poles(poles: &Poles) -> Self {
        let [p0, p1, p2, p3] = poles.polynomial;
        let yaw = poles.yaw_inertia.recip();
        Self {
            position: Vector3::from_element(p0 / p2),
            velocity: Vector3::from_element(p1 / p2),
            attitude: Vector3::new(p2, p2, poles.yaw_stiffness * yaw),
            rate: Vector3::new(p3, p3, poles.yaw_damping * yaw),
        }
    }
}

/// Gains of the cascade: each loop commands the next one in proportion to its error, in 1/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CascadeGains {
    /// Velocity per position error, 1/s.
    pub position: f64,
    /// Acceleration per velocity error, 1/s.
    pub velocity: f64,
    /// Angular velocity per attitude error, 1/s.
    pub attitude: Vector3<f64>,
    /// Angular acceleration per angular velocity error, 1/s.
    pub rate: Vector3<f64>,
    /// Integral gain of the velocity error, relative to its proportional gain, 1/s; 0 for none.
    pub velocity_integral: f64,
    /// Integral gain of the angular velocity error, relative to its proportional gain, 1/s; 0 for none.
    pub rate_integral: f64,
    /// Fraction of the measured acceleration that is subtracted; 0 for none.
    pub velocity_derivative: f64,
    /// Fraction of the measured angular acceleration that is subtracted; 0 for none.
    pub rate_derivative: f64,
}

impl CascadeGains {
    /// The gains, without integrals and derivatives, for which the horizontal motion has these poles for small errors.
    pub fn of_poles(poles: &Poles) -> Self {
        let [p0, p1, p2, p3] = poles.polynomial;
        let (stiffness, damping) = (poles.yaw_stiffness, poles.yaw_damping);
        Self {
            position: p0 / p1,
            velocity: p1 / p2,
            attitude: Vector3::new(p2 / p3, p2 / p3, stiffness / damping),
            rate: Vector3::new(p3, p3, damping / poles.yaw_inertia),
            velocity_integral: 0.0,
            rate_integral: 0.0,
            velocity_derivative: 0.0,
            rate_derivative: 0.0,
        }
    }
}
