//! The one conversion between the autopilots' frames (NED, FRD) and ours (NWU, FLU).
//!
//! | frame | x | y | z | used by |
//! |---|---|---|---|---|
//! | NED, world | north | east | down | MAVLink, PX4, ArduPilot |
//! | NWU, world | north | west | up | everything else of this project ("the world is z-up") |
//! | FRD, body | forward | right | down | MAVLink, PX4, ArduPilot |
//! | FLU, body | forward | left | up | everything else of this project |
//!
//! NWU seen from NED and FLU seen from FRD are the same half turn about x,
//!
//! ```text
//! F = diag(1, -1, -1),    F = F⁻¹ = Fᵀ,    det F = 1,    quaternion (0, 1, 0, 0)
//! ```
//!
//! so that every conversion here is a change of signs: exact, and its own inverse. An attitude is converted on
//! both sides, `R' = F R F`, which for quaternions is `(w, x, -y, -z)`. Roll keeps its sign, pitch and yaw change theirs:
//! nose up is a *negative* rotation about the left axis, and yaw counts counter-clockwise seen from above, from north.
//!
//! Quaternions are `[w, x, y, z]` and take body coordinates to world coordinates, in both conventions; MAVLink's
//! `ATTITUDE_QUATERNION` and `ODOMETRY` agree (their text calls it "rotation from the world to the body frame",
//! meaning that it turns the world's axes onto the body's).
//!
//! ```
//! use fly_mavlink::frames;
//! // 2 m north, 3 m east, 10 m above the origin:
//! assert_eq!(frames::nwu_from_ned([2.0, 3.0, -10.0]), [2.0, -3.0, 10.0]);
//! ```

/// A vector of three components, m, m/s, m/s² or rad/s.
pub type Vector = [f64; 3];
/// A quaternion `[w, x, y, z]`, body to world.
pub type Quaternion = [f64; 4];

/// `F v`: the half turn about x, which every vector conversion here is.
///
/// `0.0 - v` rather than `-v`: a zero stays a positive zero.
const fn half_turn(v: Vector) -> Vector {
    [v[0], 0.0 - v[1], 0.0 - v[2]]
}

/// World vector (position m, velocity m/s, acceleration m/s²): NED to NWU.
pub const fn nwu_from_ned(v: Vector) -> Vector {
    half_turn(v)
}

/// World vector (position m, velocity m/s, acceleration m/s²): NWU to NED.
pub const fn ned_from_nwu(v: Vector) -> Vector {
    half_turn(v)
}

/// Body vector (velocity m/s, angular velocity rad/s, acceleration, force or torque): FRD to FLU.
pub const fn flu_from_frd(v: Vector) -> Vector {
    half_turn(v)
}

/// Body vector (velocity m/s, angular velocity rad/s, acceleration, force or torque): FLU to FRD.
pub const fn frd_from_flu(v: Vector) -> Vector {
    half_turn(v)
}

/// Attitude: NED-from-FRD to NWU-from-FLU, `F R F`. The norm is kept.
pub const fn nwu_flu_from_ned_frd(q: Quaternion) -> Quaternion {
    let [w, x, y, z] = q;
    [w, x, 0.0 - y, 0.0 - z]
}

/// Attitude: NWU-from-FLU to NED-from-FRD, `F R F`. The norm is kept.
pub const fn ned_frd_from_nwu_flu(q: Quaternion) -> Quaternion {
    nwu_flu_from_ned_frd(q)
}

/// Heading: our angle of the body's x axis about world z up, from NWU's x, to theirs about down, from north. Between
/// -pi and pi.
pub fn ned_yaw(nwu: f64) -> f64 {
    let (sine, cosine) = (0.0 - nwu).sin_cos();
    sine.atan2(cosine)
}

/// Heading of an attitude NWU-from-FLU: the angle of the body's x axis about world z.
pub fn heading(nwu_flu: Quaternion) -> f64 {
    let [x, y, _] = rotate(nwu_flu, [1.0, 0.0, 0.0]);
    y.atan2(x)
}

/// World vector: ENU (x east, y north, z up; ROS, `MAV_FRAME_LOCAL_ENU`) to NWU, a quarter turn about z.
pub const fn nwu_from_enu(v: Vector) -> Vector {
    [v[1], 0.0 - v[0], v[2]]
}

/// Attitude: ENU-from-FLU to NWU-from-FLU. The norm is kept.
pub fn nwu_flu_from_enu_flu(q: Quaternion) -> Quaternion {
    let h = std::f64::consts::FRAC_1_SQRT_2;
    product([h, 0.0, 0.0, -h], q)
}

/// Attitude NED-from-FRD of MAVLink's `ATTITUDE`: roll, pitch, yaw in rad, turned in the order yaw, pitch, roll
/// (intrinsic z-y'-x'').
pub fn ned_frd_from_euler(roll: f64, pitch: f64, yaw: f64) -> Quaternion {
    let about = |axis: usize, angle: f64| {
        let (s, c) = (angle / 2.0).sin_cos();
        let mut q = [c, 0.0, 0.0, 0.0];
        q[axis] = s;
        q
    };
    product(product(about(3, yaw), about(2, pitch)), about(1, roll))
}

/// Roll, pitch and yaw in rad of an attitude NED-from-FRD: the inverse of [`ned_frd_from_euler`]. Pitch is from -π/2 to π/2.
pub fn euler_from_ned_frd([w, x, y, z]: Quaternion) -> Vector {
    [
        (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)),
        (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin(),
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)),
    ]
}

/// Hamilton product `a b`: rotates by `b` first, then by `a`.
pub fn product(a: Quaternion, b: Quaternion) -> Quaternion {
    let [aw, ax, ay, az] = a;
    let [bw, bx, by, bz] = b;
    [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
}

/// The inverse of a unit quaternion.
pub const fn conjugate(q: Quaternion) -> Quaternion {
    [q[0], -q[1], -q[2], -q[3]]
}

/// `R(q) v`: a body vector's world coordinates, `q` a unit quaternion.
pub fn rotate(q: Quaternion, v: Vector) -> Vector {
    let [_, x, y, z] = product(product(q, [0.0, v[0], v[1], v[2]]), conjugate(q));
    [x, y, z]
}

/// `R(q)ᵀ v`: a world vector's body coordinates, `q` a unit quaternion.
pub fn rotate_inverse(q: Quaternion, v: Vector) -> Vector {
    rotate(conjugate(q), v)
}

/// The quaternion scaled to unit length; `None` if it is not finite or shorter than 1e-6 (MAVLink encodes "unknown" as
/// zeros or NaN).
pub fn normalized(q: Quaternion) -> Option<Quaternion> {
    let norm = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    (norm.is_finite() && norm > 1e-6).then(|| q.map(|c| c / norm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_6, PI};

    /// Attitudes spread over the group: all combinations of some angles, gimbal lock and half turns among them.
    fn attitudes() -> Vec<[f64; 3]> {
        let angles = [-2.9, -FRAC_PI_2, -0.4, 0.0, 0.7, FRAC_PI_2, PI];
        let mut all = Vec::new();
        for roll in angles {
            for pitch in [-FRAC_PI_2, -1.0, 0.0, 0.3, FRAC_PI_2] {
                for yaw in angles {
                    all.push([roll, pitch, yaw]);
                }
            }
        }
        all
    }

    const VECTORS: [Vector; 4] = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.3, -1.7, 2.9],
    ];

    #[track_caller]
    fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
        let worst = a
            .iter()
            .zip(&b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-14, "{a:?} differs from {b:?} by {worst:e}");
    }

    #[test]
    fn the_way_through_either_world_is_the_same() {
        // FRD -> NED -> NWU equals FRD -> FLU -> NWU, for positions, velocities and rates alike.
        for [roll, pitch, yaw] in attitudes() {
            let q = ned_frd_from_euler(roll, pitch, yaw);
            for v in VECTORS {
                let through_ned = nwu_from_ned(rotate(q, v));
                let through_flu = rotate(nwu_flu_from_ned_frd(q), flu_from_frd(v));
                close(through_ned, through_flu);
            }
        }
    }

    #[test]
    fn composition_is_kept() {
        let all = attitudes();
        for (a, b) in all.iter().zip(all.iter().skip(17)) {
            let (a, b) = (
                ned_frd_from_euler(a[0], a[1], a[2]),
                ned_frd_from_euler(b[0], b[1], b[2]),
            );
            close(
                nwu_flu_from_ned_frd(product(a, b)),
                product(nwu_flu_from_ned_frd(a), nwu_flu_from_ned_frd(b)),
            );
        }
    }

    #[test]
    fn round_trips_are_exact() {
        for v in VECTORS {
            assert_eq!(ned_from_nwu(nwu_from_ned(v)), v);
            assert_eq!(frd_from_flu(flu_from_frd(v)), v);
        }
        for [roll, pitch, yaw] in attitudes() {
            let q = ned_frd_from_euler(roll, pitch, yaw);
            assert_eq!(ned_frd_from_nwu_flu(nwu_flu_from_ned_frd(q)), q);
        }
        assert!(nwu_from_ned([0.0; 3]).iter().all(|c| c.is_sign_positive()));
    }

    /// Over the sphere, also upside down.
    #[test]
    fn euler_angles_make_the_attitude() {
        for roll in [-3.0, -1.0, 0.2, 2.5] {
            for pitch in [-1.5, -0.3, 0.0, 1.4] {
                for yaw in [-2.9, 0.0, 1.3] {
                    let found = euler_from_ned_frd(ned_frd_from_euler(roll, pitch, yaw));
                    for (a, b) in found.iter().zip([roll, pitch, yaw]) {
                        assert!((a - b).abs() < 1e-9, "{found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn known_attitudes() {
        let forward_left_up = |roll, pitch, yaw| {
            let q = nwu_flu_from_ned_frd(ned_frd_from_euler(roll, pitch, yaw));
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| rotate(q, axis))
        };
        let check = |angles: [f64; 3], expected: [Vector; 3]| {
            let axes = forward_left_up(angles[0], angles[1], angles[2]);
            for (axis, expected) in axes.into_iter().zip(expected) {
                close(axis, expected);
            }
        };
        let (s, c) = FRAC_PI_6.sin_cos();
        // Level, nose to the north.
        check(
            [0.0; 3],
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        );
        // Heading east (yaw +90 degrees): forward = east = -west, left = north.
        check(
            [0.0, 0.0, FRAC_PI_2],
            [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        );
        // Nose up by 30 degrees: forward points up.
        check(
            [0.0, FRAC_PI_6, 0.0],
            [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        );
        // Right wing down by 30 degrees: left points up, up leans east.
        check(
            [FRAC_PI_6, 0.0, 0.0],
            [[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]],
        );
        // Upside down.
        check(
            [PI, 0.0, 0.0],
            [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]],
        );
    }

    #[test]
    fn a_positive_yaw_rate_in_frd_turns_clockwise_seen_from_above() {
        // The attitude's rate of change must agree with the converted angular velocity: qdot = q (0, w) / 2.
        let (yaw_rate, step) = (0.8, 1e-6);
        let at = |t: f64| nwu_flu_from_ned_frd(ned_frd_from_euler(0.0, 0.0, 0.3 + yaw_rate * t));
        let (before, now, after) = (at(-step), at(0.0), at(step));
        let w = flu_from_frd([0.0, 0.0, yaw_rate]);
        let rate = product(now, [0.0, w[0], w[1], w[2]]).map(|c| c / 2.0);
        for i in 0..4 {
            let difference = (after[i] - before[i]) / (2.0 * step);
            assert!(
                (difference - rate[i]).abs() < 1e-9,
                "component {i}: {difference} and {}",
                rate[i]
            );
        }
        assert!(w[2] < 0.0);
    }

    #[test]
    fn enu_agrees_with_ned() {
        // The same point: 2 m north, 3 m east, 10 m up.
        assert_eq!(
            nwu_from_enu([3.0, 2.0, 10.0]),
            nwu_from_ned([2.0, 3.0, -10.0])
        );
        // Heading east is no rotation in ENU.
        close(
            nwu_flu_from_enu_flu([1.0, 0.0, 0.0, 0.0]),
            nwu_flu_from_ned_frd(ned_frd_from_euler(0.0, 0.0, FRAC_PI_2)),
        );
        for v in VECTORS {
            let q = normalized([0.3, -0.2, 0.7, 0.1]).unwrap();
            close(
                rotate(nwu_flu_from_enu_flu(q), v),
                nwu_from_enu(rotate(q, v)),
            );
        }
    }

    #[test]
    fn rotating_back_and_forth() {
        let q = normalized([0.3, -0.2, 0.7, 0.1]).unwrap();
        for v in VECTORS {
            close(rotate_inverse(q, rotate(q, v)), v);
        }
    }

    #[test]
    fn unknown_quaternions_are_refused() {
        assert_eq!(normalized([0.0; 4]), None);
        assert_eq!(normalized([f64::NAN, 0.0, 0.0, 1.0]), None);
        assert_eq!(normalized([f64::INFINITY, 0.0, 0.0, 1.0]), None);
        assert_eq!(normalized([2.0, 0.0, 0.0, 0.0]), Some([1.0, 0.0, 0.0, 0.0]));
    }
}
