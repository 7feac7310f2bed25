//! `ODOMETRY`: a complete state, in the frames that it names.

use crate::dialect::{MavFrame, ODOMETRY_DATA};
use crate::frames::{self, Quaternion, Vector};

/// Pose and twist: position and velocity in the world (NWU), attitude NWU-from-FLU, angular velocity in FLU.
#[derive(Debug, PartialEq)]
pub(super) struct State {
    pub position: Vector,
    pub velocity: Vector,
    pub attitude: Quaternion,
    pub angular_velocity: Vector,
}

/// Converts the message, or returns why it cannot be used.
///
/// The pose is in `frame_id`: local NED, or local FRD, which is NED with an arbitrary heading that is then the only one
/// available, or their z-up counterparts ENU and FLU. The twist is in `child_frame_id`: the body's FRD or, for its
/// linear part, the frame of the pose. `quality` -1 means that the estimate has failed.
pub(super) fn convert(m: &ODOMETRY_DATA) -> Result<State, &'static str> {
    use MavFrame as F;
    if m.quality < 0 {
        return Err("ODOMETRY of a failed estimate");
    }
    let position = [m.x, m.y, m.z].map(f64::from);
    let linear = [m.vx, m.vy, m.vz].map(f64::from);
    let angular = [m.rollspeed, m.pitchspeed, m.yawspeed].map(f64::from);
    if ![position, linear, angular]
        .iter()
        .flatten()
        .all(|c| c.is_finite())
    {
        return Err("ODOMETRY with numbers that are not finite");
    }
    let q = frames::normalized(m.q.map(f64::from)).ok_or("ODOMETRY without attitude")?;

    // FLU worlds come with FLU bodies, z-down worlds with FRD bodies.
    let z_down = match m.frame_id {
        F::MAV_FRAME_LOCAL_NED | F::MAV_FRAME_LOCAL_FRD => true,
        F::MAV_FRAME_LOCAL_ENU | F::MAV_FRAME_LOCAL_FLU => false,
        _ => return Err("ODOMETRY whose pose is in no local frame"),
    };
    let world = |v: Vector| match m.frame_id {
        F::MAV_FRAME_LOCAL_ENU => frames::nwu_from_enu(v),
        F::MAV_FRAME_LOCAL_FLU => v,
        _ => frames::nwu_from_ned(v),
    };
    let body = |v: Vector| if z_down { frames::flu_from_frd(v) } else { v };
    let attitude = match m.frame_id {
        F::MAV_FRAME_LOCAL_ENU => frames::nwu_flu_from_enu_flu(q),
        F::MAV_FRAME_LOCAL_FLU => q,
        _ => frames::nwu_flu_from_ned_frd(q),
    };
    #[expect(
        deprecated,
        reason = "older autopilots still say BODY_NED for BODY_FRD"
    )]
    let in_body = matches!(
        m.child_frame_id,
        F::MAV_FRAME_BODY_FRD | F::MAV_FRAME_BODY_NED
    );
    let velocity = if in_body {
        frames::rotate(attitude, frames::flu_from_frd(linear))
    } else if m.child_frame_id == m.frame_id {
        world(linear)
    } else {
        return Err("ODOMETRY whose velocity is in neither the body's nor the pose's frame");
    };
    let angular_velocity = if in_body {
        frames::flu_from_frd(angular)
    } else {
        body(angular)
    };
    Ok(State {
        position: world(position),
        velocity,
        attitude,
        angular_velocity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    /// Heading east, 2 m north, 3 m east, 10 m up, flying 5 m/s ahead and climbing at 1 m/s, turning left at 0.5 rad/s.
    fn expected() -> State {
        let h = FRAC_1_SQRT_2;
        State {
            position: [2.0, -3.0, 10.0],
            velocity: [0.0, -5.0, 1.0],
            attitude: [h, 0.0, 0.0, -h],
            angular_velocity: [0.0, 0.0, 0.5],
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the message holds f32")]
    fn message(
        frame: MavFrame,
        child: MavFrame,
        p: [f32; 3],
        v: [f32; 3],
        q: Quaternion,
        yaw_rate: f32,
    ) -> ODOMETRY_DATA {
        ODOMETRY_DATA {
            frame_id: frame,
            child_frame_id: child,
            x: p[0],
            y: p[1],
            z: p[2],
            vx: v[0],
            vy: v[1],
            vz: v[2],
            q: q.map(|c| c as f32),
            yawspeed: yaw_rate,
            ..ODOMETRY_DATA::default()
        }
    }

    #[test]
    fn the_same_state_in_four_pairs_of_frames() {
        use MavFrame as F;
        let h = FRAC_1_SQRT_2;
        let (ned, enu, frd) = (
            F::MAV_FRAME_LOCAL_NED,
            F::MAV_FRAME_LOCAL_ENU,
            F::MAV_FRAME_BODY_FRD,
        );
        let east_ned = [h, 0.0, 0.0, h];
        let east_flu = [h, 0.0, 0.0, -h];
        let one = [1.0, 0.0, 0.0, 0.0];
        for m in [
            message(
                ned,
                frd,
                [2.0, 3.0, -10.0],
                [5.0, 0.0, -1.0],
                east_ned,
                -0.5,
            ),
            message(
                ned,
                ned,
                [2.0, 3.0, -10.0],
                [0.0, 5.0, -1.0],
                east_ned,
                -0.5,
            ),
            message(enu, frd, [3.0, 2.0, 10.0], [5.0, 0.0, -1.0], one, -0.5),
            message(enu, enu, [3.0, 2.0, 10.0], [5.0, 0.0, 1.0], one, 0.5),
            message(
                F::MAV_FRAME_LOCAL_FLU,
                frd,
                [2.0, -3.0, 10.0],
                [5.0, 0.0, -1.0],
                east_flu,
                -0.5,
            ),
        ] {
            let (got, expected) = (convert(&m).unwrap(), expected());
            let flat = |s: &State| {
                let mut all = Vec::new();
                all.extend(s.position);
                all.extend(s.velocity);
                all.extend(s.attitude);
                all.extend(s.angular_velocity);
                all
            };
            for (a, b) in flat(&got).iter().zip(flat(&expected)) {
                assert!((a - b).abs() < 1e-6, "{got:?} of {m:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        use MavFrame as F;
        let (ned, frd) = (F::MAV_FRAME_LOCAL_NED, F::MAV_FRAME_BODY_FRD);
        let good = message(ned, frd, [0.0; 3], [0.0; 3], [1.0, 0.0, 0.0, 0.0], 0.0);
        assert!(convert(&good).is_ok());
        let bad = |change: fn(&mut ODOMETRY_DATA), reason: &str| {
            let mut m = good.clone();
            change(&mut m);
            assert!(
                convert(&m).unwrap_err().contains(reason),
                "{:?}",
                convert(&m)
            );
        };
        bad(|m| m.quality = -1, "failed");
        bad(|m| m.vy = f32::NAN, "not finite");
        bad(|m| m.q = [0.0; 4], "without attitude");
        bad(|m| m.frame_id = F::MAV_FRAME_GLOBAL, "no local frame");
        bad(|m| m.child_frame_id = F::MAV_FRAME_LOCAL_ENU, "neither");
    }
}
