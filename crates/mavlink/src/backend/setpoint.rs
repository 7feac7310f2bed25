//! Setpoints, and the messages that carry them.

use fly_hal::{CommandSet, Error};

use super::thrust::ThrustMap;
use crate::dialect::{
    AttitudeTargetTypemask, MavFrame, MavMessage, PositionTargetTypemask, SET_ATTITUDE_TARGET_DATA,
    SET_POSITION_TARGET_LOCAL_NED_DATA,
};
use crate::frames::{self, Quaternion, Vector};

/// A setpoint, in this project's frames and units: world z-up, body FLU, rad, N.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Setpoint {
    /// Attitude (world from body, of length one) and collective thrust, N.
    Attitude { attitude: Quaternion, thrust: f64 },
    /// Angular velocity in the body frame and collective thrust, N.
    Rates {
        angular_velocity: Vector,
        thrust: f64,
    },
    /// A point of a trajectory, and the heading.
    Trajectory {
        position: Vector,
        velocity: Vector,
        acceleration: Vector,
        yaw: f64,
        yaw_rate: f64,
    },
    /// A position and heading to hold.
    Position { position: Vector, yaw: f64 },
}

impl Setpoint {
    /// The setpoint of the written commands, in the order of the set's names.
    ///
    /// # Errors
    /// A wrong number of commands, one that is not finite, a zero quaternion, or actuator commands.
    pub fn new(set: CommandSet, commands: &[f64]) -> Result<Self, Error> {
        if commands.iter().any(|command| !command.is_finite()) {
            return Err(Error::usage("a command is not finite"));
        }
        let three =
            |from: usize| -> Option<Vector> { commands.get(from..from + 3)?.try_into().ok() };
        let setpoint = match (set, commands) {
            (CommandSet::Attitude, &[w, x, y, z, thrust]) => {
                let attitude = frames::normalized([w, x, y, z])
                    .ok_or_else(|| Error::usage("the commanded quaternion has no length"))?;
                Some(Self::Attitude { attitude, thrust })
            }
            (CommandSet::Rates, &[x, y, z, thrust]) => Some(Self::Rates {
                angular_velocity: [x, y, z],
                thrust,
            }),
            (CommandSet::Trajectory, &[.., yaw, yaw_rate]) if commands.len() == 11 => {
                match (three(0), three(3), three(6)) {
                    (Some(position), Some(velocity), Some(acceleration)) => {
                        Some(Self::Trajectory {
                            position,
                            velocity,
                            acceleration,
                            yaw,
                            yaw_rate,
                        })
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        setpoint.ok_or_else(|| {
            Error::usage(format!(
                "expected {} commands ({}), found {}",
                set.names().len(),
                set.name(),
                commands.len()
            ))
        })
    }
}

/// Data for converting a thrust to the autopilot's.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    pub map: ThrustMap,
    /// Whether the autopilot divides the thrust by the cosine of the tilt (`ATC_ANGLE_BOOST`).
    pub boosts: bool,
}

/// The smallest cosine of the tilt that ArduPilot divides by.
const LEAST_COSINE: f64 = 0.1;

impl Setpoint {
    /// The message, whose target is still to be filled in. `attitude` is the measured one.
    #[expect(clippy::cast_possible_truncation, reason = "MAVLink's fields are f32")]
    pub fn message(
        &self,
        scaling: &Scaling,
        attitude: Option<Quaternion>,
        time_boot_ms: u32,
    ) -> MavMessage {
        use AttitudeTargetTypemask as A;
        use PositionTargetTypemask as P;
        let small = |v: Vector| v.map(|c| c as f32);
        let no_rates = A::ATTITUDE_TARGET_TYPEMASK_BODY_ROLL_RATE_IGNORE
            | A::ATTITUDE_TARGET_TYPEMASK_BODY_PITCH_RATE_IGNORE
            | A::ATTITUDE_TARGET_TYPEMASK_BODY_YAW_RATE_IGNORE;
        let thrust = |force: f64, attitude: Option<Quaternion>| {
            let cosine = if scaling.boosts {
                attitude
                    .map_or(1.0, cosine_of_tilt)
                    .clamp(LEAST_COSINE, 1.0)
            } else {
                1.0
            };
            (scaling.map.command(force) * cosine) as f32
        };
        let heading = |yaw: f64| frames::ned_yaw(yaw) as f32;
        match *self {
            Self::Attitude {
                attitude,
                thrust: force,
            } => MavMessage::SET_ATTITUDE_TARGET(SET_ATTITUDE_TARGET_DATA {
                time_boot_ms,
                q: frames::ned_frd_from_nwu_flu(attitude).map(|c| c as f32),
                thrust: thrust(force, Some(attitude)),
                type_mask: no_rates,
                ..SET_ATTITUDE_TARGET_DATA::default()
            }),
            Self::Rates {
                angular_velocity,
                thrust: force,
            } => {
                let [body_roll_rate, body_pitch_rate, body_yaw_rate] =
                    small(frames::frd_from_flu(angular_velocity));
                MavMessage::SET_ATTITUDE_TARGET(SET_ATTITUDE_TARGET_DATA {
                    time_boot_ms,
                    // Ignored, but of unit length nevertheless.
                    q: [1.0, 0.0, 0.0, 0.0],
                    body_roll_rate,
                    body_pitch_rate,
                    body_yaw_rate,
                    thrust: thrust(force, attitude),
                    type_mask: A::ATTITUDE_TARGET_TYPEMASK_ATTITUDE_IGNORE,
                    ..SET_ATTITUDE_TARGET_DATA::default()
                })
            }
            Self::Trajectory {
                position,
                velocity,
                acceleration,
                yaw,
                yaw_rate,
            } => {
                let [x, y, z] = small(frames::ned_from_nwu(position));
                let [vx, vy, vz] = small(frames::ned_from_nwu(velocity));
                let [afx, afy, afz] = small(frames::ned_from_nwu(acceleration));
                MavMessage::SET_POSITION_TARGET_LOCAL_NED(SET_POSITION_TARGET_LOCAL_NED_DATA {
                    time_boot_ms,
                    x,
                    y,
                    z,
                    vx,
                    vy,
                    vz,
                    afx,
                    afy,
                    afz,
                    yaw: heading(yaw),
                    yaw_rate: (0.0 - yaw_rate) as f32,
                    type_mask: P::empty(),
                    coordinate_frame: MavFrame::MAV_FRAME_LOCAL_NED,
                    ..SET_POSITION_TARGET_LOCAL_NED_DATA::default()
                })
            }
            Self::Position { position, yaw } => {
                let [x, y, z] = small(frames::ned_from_nwu(position));
                let place_only = P::POSITION_TARGET_TYPEMASK_VX_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_VY_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_VZ_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_AX_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_AY_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_AZ_IGNORE
                    | P::POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE;
                MavMessage::SET_POSITION_TARGET_LOCAL_NED(SET_POSITION_TARGET_LOCAL_NED_DATA {
                    time_boot_ms,
                    x,
                    y,
                    z,
                    yaw: heading(yaw),
                    type_mask: place_only,
                    coordinate_frame: MavFrame::MAV_FRAME_LOCAL_NED,
                    ..SET_POSITION_TARGET_LOCAL_NED_DATA::default()
                })
            }
        }
    }
}

/// Cosine of the angle between the body's z axis and the vertical.
fn cosine_of_tilt(attitude: Quaternion) -> f64 {
    frames::rotate(attitude, [0.0, 0.0, 1.0])[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::curve::Curve;

    fn scaling(boosts: bool) -> Scaling {
        Scaling {
            map: ThrustMap {
                weight: 10.0,
                hover: 0.5,
                curve: Curve::Quadratic(0.0),
                limits: [0.0, 1.0],
            },
            boosts,
        }
    }

    fn attitude_target(setpoint: &Setpoint, scaling: &Scaling) -> SET_ATTITUDE_TARGET_DATA {
        match setpoint.message(scaling, Some([1.0, 0.0, 0.0, 0.0]), 77) {
            MavMessage::SET_ATTITUDE_TARGET(m) => m,
            other => panic!("{other:?}"),
        }
    }

    fn position_target(setpoint: &Setpoint) -> SET_POSITION_TARGET_LOCAL_NED_DATA {
        match setpoint.message(&scaling(false), None, 77) {
            MavMessage::SET_POSITION_TARGET_LOCAL_NED(m) => m,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn attitudes_and_rates_are_theirs() {
        let px4 = scaling(false);
        // A quaternion of length two is normalised: a quarter turn to the left, which is a negative yaw in NED.
        let h = std::f64::consts::SQRT_2;
        let setpoint = Setpoint::new(CommandSet::Attitude, &[h, 0.0, 0.0, h, 15.0]).unwrap();
        let m = attitude_target(&setpoint, &px4);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        assert_eq!(m.q, [half, 0.0, 0.0, -half]);
        assert_eq!(
            (m.thrust, m.type_mask.bits(), m.time_boot_ms),
            (0.75, 7, 77)
        );

        let setpoint = Setpoint::new(CommandSet::Rates, &[1.0, 2.0, 3.0, 10.0]).unwrap();
        let m = attitude_target(&setpoint, &px4);
        assert_eq!(
            [m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate],
            [1.0, -2.0, -3.0]
        );
        assert_eq!((m.thrust, m.type_mask.bits()), (0.5, 128));
        assert_eq!(m.q, [1.0, 0.0, 0.0, 0.0]);
    }

    /// ArduPilot divides the thrust by the cosine of the commanded tilt, 60 degrees here.
    #[test]
    fn the_boost_of_ardupilot_is_taken_out() {
        let (s, c) = 30_f64.to_radians().sin_cos();
        let setpoint = Setpoint::new(CommandSet::Attitude, &[c, s, 0.0, 0.0, 12.0]).unwrap();
        let m = attitude_target(&setpoint, &scaling(true));
        assert!((f64::from(m.thrust) / 0.5 - 0.6).abs() < 1e-6);
        let m = attitude_target(&setpoint, &scaling(false));
        assert!((f64::from(m.thrust) - 0.6).abs() < 1e-6);
        // Upside down, the thrust stays positive.
        let over = Setpoint::Attitude {
            attitude: [0.0, 1.0, 0.0, 0.0],
            thrust: 10.0,
        };
        let m = attitude_target(&over, &scaling(true));
        assert!((m.thrust - 0.05).abs() < 1e-6);
    }

    #[test]
    fn trajectories_are_theirs() {
        let commands = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.5, 0.25];
        let m = position_target(&Setpoint::new(CommandSet::Trajectory, &commands).unwrap());
        assert_eq!([m.x, m.y, m.z], [1.0, -2.0, -3.0]);
        assert_eq!([m.vx, m.vy, m.vz], [4.0, -5.0, -6.0]);
        assert_eq!([m.afx, m.afy, m.afz], [7.0, -8.0, -9.0]);
        assert_eq!((m.yaw, m.yaw_rate, m.type_mask.bits()), (-0.5, -0.25, 0));
        assert_eq!(m.coordinate_frame as u32, 1);
        // Headings wrap around: 3.5 rad to the left is 2 pi - 3.5 to the right.
        let place = Setpoint::Position {
            position: [0.0, 0.0, 2.0],
            yaw: 3.5,
        };
        let m = position_target(&place);
        assert!((f64::from(m.yaw) - (std::f64::consts::TAU - 3.5)).abs() < 1e-6);
        assert_eq!((m.z, m.type_mask.bits()), (-2.0, 2552));
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for (set, commands) in [
            (CommandSet::Attitude, &[1.0, 0.0, 0.0, 0.0][..]),
            (CommandSet::Attitude, &[0.0, 0.0, 0.0, 0.0, 1.0]),
            (CommandSet::Attitude, &[1.0, 0.0, 0.0, 0.0, f64::NAN]),
            (CommandSet::Rates, &[1.0; 5]),
            (CommandSet::Trajectory, &[1.0; 10]),
            (CommandSet::Trajectory, &[1.0]),
            (CommandSet::Actuators, &[1.0]),
        ] {
            assert!(
                Setpoint::new(set, commands).is_err(),
                "{set:?} {commands:?}"
            );
        }
        for set in CommandSet::SETPOINTS {
            assert!(Setpoint::new(set, &vec![0.5; set.names().len()]).is_ok());
        }
    }
}
