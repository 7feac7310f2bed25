//! Estimates a vehicle's parameters from its mass and the length of its arms.

use std::f64::consts::{PI, TAU};

use crate::args::Frame;
use crate::commands::new::frame::Level;

/// Gravity, m/s^2.
const GRAVITY: f64 = 9.81;
/// Air density, kg/m^3, at sea level, ISA.
const AIR: f64 = 1.225;

/// Fractions of the mass: motors, propellers and speed controllers at the ends of the arms; the arms; the rest is in
/// the centre.
pub const AT_ENDS: f64 = 0.25;
pub const IN_ARMS: f64 = 0.10;
pub const IN_MIDDLE: f64 = 0.65;
/// The box in the centre: length and width, and height, relative to the length of an arm.
pub const WIDTH: f64 = 0.7;
pub const HEIGHT: f64 = 0.35;

/// Thrust of all rotors relative to the weight.
pub const THRUST_TO_WEIGHT: f64 = 2.5;
/// Thrust of a rotor in the wake of another, relative to the other's.
pub const IN_WAKE: f64 = 0.8;
/// Smallest thrust relative to the largest: idling motors.
pub const IDLE: f64 = 0.03;
/// Radius of a propeller relative to the distance between the axes of neighbours.
pub const RADIUS: f64 = 0.45;
/// Thrust and power coefficients of static propellers, T = C_T rho n^2 D^4 and P = C_P rho n^3 D^5 with n in 1/s.
pub const THRUST_COEFFICIENT: f64 = 0.11;
pub const POWER_COEFFICIENT: f64 = 0.045;
/// Time constant of a rotor relative to its diameter, s/m.
pub const LAG: f64 = 0.12;

/// Time constant of the servo that tilts a rotor, s.
pub const SERVO_LAG: f64 = 0.04;
/// Attitude bandwidth of a vehicle with tilting rotors, times its slowest lag.
const ATTITUDE: f64 = 0.16;

/// The estimated parameters, SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Largest thrust of a rotor outside a wake, N.
    pub thrust: f64,
    /// Radius of a propeller, m.
    pub radius: f64,
    /// Torque per thrust, m.
    pub drag_ratio: f64,
    /// Thrust per squared speed, N/(rad/s)^2.
    pub thrust_coefficient: f64,
    /// Time constant of a rotor, s.
    pub time_constant: f64,
}

impl Estimate {
    /// For a frame of this mass (kg) with arms of this length (m); `thrust` (N) if known.
    pub fn new(frame: Frame, mass: f64, arm: f64, thrust: Option<f64>) -> Self {
        let places = frame.places();
        let parts: f64 = places.iter().map(|place| part(place.level)).sum();
        let distance = 2.0 * arm * (PI / frame.arms_deg().len() as f64).sin();
        let radius = RADIUS * distance;
        let diameter = 2.0 * radius;
        Self {
            thrust: thrust.unwrap_or(THRUST_TO_WEIGHT * mass * GRAVITY / parts),
            radius,
            // Q / T = P / (2 pi n T).
            drag_ratio: POWER_COEFFICIENT / (TAU * THRUST_COEFFICIENT) * diameter,
            // With n = w / (2 pi).
            thrust_coefficient: THRUST_COEFFICIENT * AIR * diameter.powi(4) / (TAU * TAU),
            time_constant: (LAG * diameter).clamp(0.01, 0.2),
        }
    }

    /// Thrust of all rotors relative to the weight of this mass.
    pub fn thrust_to_weight(&self, frame: Frame, mass: f64) -> f64 {
        let parts: f64 = frame.places().iter().map(|place| part(place.level)).sum();
        self.thrust * parts / (mass * GRAVITY)
    }
}

impl Estimate {
    /// The arguments with which `fly tune` finds the controller of such a vehicle.
    pub fn tuning(&self, frame: Frame) -> Vec<String> {
        let mut flags = vec!["--fastest".to_owned()];
        if frame.tilts() {
            // Attitude and motion are chosen separately: if the search began with an attitude slower than the motion,
            // it would find nothing for small vehicles.
            let bandwidth = ATTITUDE / self.time_constant.max(SERVO_LAG);
            flags.extend(["--attitude-bandwidth".to_owned(), format!("{bandwidth:.2}")]);
        }
        flags
    }

    /// Acceleration of the reference, m/s^2: gentler for slow rotors.
    pub fn acceleration(&self) -> f64 {
        (0.03 / self.time_constant).min(1.0)
    }
}

/// Thrust relative to that of a rotor outside a wake.
pub fn part(level: Level) -> f64 {
    match level {
        Level::Single | Level::Upper => 1.0,
        Level::Lower => IN_WAKE,
    }
}

/// Inertia about x, y and z through the centre, kg m^2: points at the ends, rods along the arms, a box in the centre.
/// At least three arms, evenly spaced.
pub fn inertia(mass: f64, arm: f64) -> [f64; 3] {
    let square = mass * arm * arm;
    let (ends, arms) = (AT_ENDS * square, IN_ARMS * square / 3.0);
    let [wide, high] = [WIDTH, HEIGHT].map(|part| part * part * IN_MIDDLE * square / 12.0);
    let across = 0.5 * (ends + arms) + wide + high;
    [across, across, ends + arms + 2.0 * wide]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sum is recomputed with points: the ends, a thousand along each arm, the box by its own formula.
    #[test]
    fn inertia_is_that_of_points() {
        let (mass, arm, count) = (1.5, 0.25, 6);
        let mut sum = [0.0; 3];
        let mut add = |m: f64, x: f64, y: f64| {
            sum[0] += m * y * y;
            sum[1] += m * x * x;
            sum[2] += m * (x * x + y * y);
        };
        for i in 0..count {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(count)).sin_cos();
            add(AT_ENDS * mass / f64::from(count), arm * cos, arm * sin);
            for j in 0..1000 {
                let r = arm * (f64::from(j) + 0.5) / 1000.0;
                add(IN_ARMS * mass / f64::from(count) / 1000.0, r * cos, r * sin);
            }
        }
        let (w, h, m) = (WIDTH * arm, HEIGHT * arm, IN_MIDDLE * mass);
        sum[0] += m * (w * w + h * h) / 12.0;
        sum[1] += m * (w * w + h * h) / 12.0;
        sum[2] += m * (w * w + w * w) / 12.0;
        for (ours, points) in inertia(mass, arm).iter().zip(sum) {
            assert!((ours / points - 1.0).abs() < 1e-5, "{ours} {points}");
        }
        assert!((AT_ENDS + IN_ARMS + IN_MIDDLE - 1.0).abs() < 1e-12);
    }

    /// A static ten-inch propeller: torque per thrust near 0.016 m, 8 N near 6000 1/min.
    #[test]
    fn a_rotor_is_one_that_can_be_bought() {
        // Neighbours whose propellers have a radius of 0.127 m.
        let arm = 0.127 / RADIUS / (2.0 * (PI / 4.0).sin());
        let estimate = Estimate::new(Frame::QuadcopterX, 1.0, arm, None);
        assert!((estimate.radius - 0.127).abs() < 1e-12);
        assert!(
            (0.014..0.019).contains(&estimate.drag_ratio),
            "{estimate:?}"
        );
        let rpm = (8.0 / estimate.thrust_coefficient).sqrt() * 60.0 / TAU;
        assert!((5000.0..8000.0).contains(&rpm), "{rpm}");
        assert!(
            (estimate.thrust_to_weight(Frame::QuadcopterX, 1.0) - THRUST_TO_WEIGHT).abs() < 1e-12
        );
        let eight = Estimate::new(Frame::X8, 2.0, 0.3, None);
        assert!((eight.thrust_to_weight(Frame::X8, 2.0) - THRUST_TO_WEIGHT).abs() < 1e-12);
    }
}
