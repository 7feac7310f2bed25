//! The geometry of the motors, from PX4's parameters.

use fly_mavlink::frames;

use crate::origin::MotorGeometry;
use crate::recording::ulog::topics::Topics;

/// Axes in FRD that PX4 gives all rotors of an airframe (`CA_AIRFRAME`), whatever their parameters.
const FORWARD: [f64; 3] = [1.0, 0.0, 0.0];
const UP: [f64; 3] = [0.0, 0.0, -1.0];

/// `CA_ROTOR{i}_PX`, `_PY`, `_PZ` from the centre of mass, `_AX`, `_AY`, `_AZ` and `_KM`: FRD, and the moment coefficient is
/// positive for a rotor that turns counter-clockwise seen from above, whose reaction torque is clockwise: the thrust
/// along `a` comes with the torque `-KM a`. `None` unless the log has all of them, with an axis each.
pub fn read(topics: &Topics, count: usize) -> Option<Vec<MotorGeometry>> {
    let fixed = topics.parameter("CA_AIRFRAME").and_then(fixed_axis);
    let motor = |i: usize| {
        let parameter = |name: &str| topics.parameter(&format!("CA_ROTOR{i}_{name}"));
        // The z coordinate does not matter for most vehicles, nor is the axis logged where it is fixed.
        let or = |name: &str, default: f64| parameter(name).unwrap_or(default);
        let position = [parameter("PX")?, parameter("PY")?, or("PZ", 0.0)];
        let [x, y, z] = frames::flu_from_frd(position);
        let [ux, uy, uz] = UP;
        let axis = fixed.unwrap_or_else(|| [or("AX", ux), or("AY", uy), or("AZ", uz)]);
        Some(MotorGeometry {
            x,
            y,
            z,
            axis: unit(frames::flu_from_frd(axis))?,
            yaw_ratio: -parameter("KM")?,
        })
    };
    (0..count).map(motor).collect()
}

/// The axis of all rotors of fixed wings (1), and of vehicles whose rotors tilt with servos or with the whole vehicle
/// (3, 4, 8): in hover they point up.
fn fixed_axis(airframe: f64) -> Option<[f64; 3]> {
    if airframe == 1.0 {
        return Some(FORWARD);
    }
    [3.0, 4.0, 8.0].contains(&airframe).then_some(UP)
}

/// PX4 ignores a rotor without an axis.
fn unit(axis: [f64; 3]) -> Option<[f64; 3]> {
    let norm = axis.iter().map(|c| c * c).sum::<f64>().sqrt();
    (norm > f64::from(f32::EPSILON) && norm.is_finite()).then(|| axis.map(|c| c / norm))
}
