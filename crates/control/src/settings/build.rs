//! From the section `[reference]` to what is flown.

use fly_lie::{SE3, SO3};
use fly_mechanics::Vehicle;
use nalgebra::{Matrix3, Vector3};

use super::SettingsError;
use super::reference::{
    HoverSettings, IndependentSettings, LissajousSettings, LoopSettings, ReferenceSettings,
    WaypointSettings, WaypointsSettings,
};
use crate::matching::fully_actuated;
use crate::trajectory::{
    Along, Hover, Independent, Lissajous, Path, Posture, Recorded, Trajectory, VerticalLoop,
    Waypoint, Waypoints,
};

/// A reference that is ready to be flown.
#[allow(clippy::large_enum_variant)] // There is one of it in a flight.
pub enum Reference {
    /// Known in advance.
    Planned(Box<dyn Trajectory>),
    /// Follows setpoints, which the flight loop hands to [`Recorded::update`].
    Recorded(Recorded),
}

impl ReferenceSettings {
    /// The reference for this vehicle.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), and what this vehicle cannot follow at all.
    pub fn build(&self, vehicle: &Vehicle) -> Result<Reference, SettingsError> {
        self.validate()?;
        let full = fully_actuated(vehicle.actuators.input_matrix());
        let usual = if full {
            Posture::Level
        } else {
            Posture::Thrust
        };
        Ok(Reference::Planned(match self {
            Self::Hover(s) => Box::new(s.hover(full)?),
            Self::Lissajous(s) => along(
                s.lissajous(),
                s.posture.unwrap_or(usual),
                full,
                vehicle,
                "amplitude",
            )?,
            Self::Loop(s) => along(
                s.path(),
                s.posture.unwrap_or(Posture::Thrust),
                full,
                vehicle,
                "duration",
            )?,
            Self::Waypoints(s) => along(
                s.path(),
                s.posture.unwrap_or(usual),
                full,
                vehicle,
                "max_acceleration",
            )?,
            Self::MinimumSnap(s) => {
                let posture = s.posture.unwrap_or(usual);
                check_posture(posture, full)?;
                s.trajectory(vehicle, posture)?
            }
            Self::Sampled(s) => {
                along(s.path()?, s.posture.unwrap_or(usual), full, vehicle, "file")?
            }
            Self::Circle(s) | Self::Helix(s) => along(
                s.path(),
                s.posture.unwrap_or(usual),
                full,
                vehicle,
                "period",
            )?,
            Self::Takeoff(s) => along(s.path(), usual, full, vehicle, "max_acceleration")?,
            Self::Landing(s) => along(s.path(), usual, full, vehicle, "max_acceleration")?,
            Self::Flip(s) => {
                let path = s.path(vehicle.body.gravity().norm());
                along(path, Posture::Thrust, full, vehicle, "distance")?
            }
            Self::BarrelRoll(s) => along(s.path(), Posture::Thrust, full, vehicle, "duration")?,
            Self::Independent(_) if !full => {
                return Err(SettingsError::new(
                    "kind",
                    "expected a kind that this vehicle can follow, found independent, which needs six independent inputs",
                ));
            }
            Self::Independent(s) => Box::new(s.independent()),
            Self::Recorded(s) => {
                let posture = s.posture.unwrap_or(usual);
                check_posture(posture, full)?;
                return Ok(Reference::Recorded(
                    Recorded::new(posture, *vehicle.body.gravity(), SE3::identity())
                        .of_body(&vehicle.body),
                ));
            }
            Self::Rest(_)
            | Self::Joints(_)
            | Self::Transfer(_)
            | Self::Tool(_)
            | Self::TwoMasses(_)
            | Self::Pvtol(_)
            | Self::Planar(_) => {
                let kind = self.kind();
                return Err(SettingsError::new(
                    "kind",
                    format!("expected a kind for vehicles, found {kind}, which is for systems"),
                ));
            }
        }))
    }
}

/// A body along a path, or the key that makes it impossible.
fn along<P: Path + 'static>(
    path: P,
    posture: Posture,
    full: bool,
    vehicle: &Vehicle,
    key: &str,
) -> Result<Box<dyn Trajectory>, SettingsError> {
    check_posture(posture, full)?;
    let along = Along::new(path, posture, &vehicle.body);
    Ok(Box::new(along.map_err(|error| {
        SettingsError::new(key, error.to_string())
    })?))
}

fn check_posture(posture: Posture, full: bool) -> Result<(), SettingsError> {
    if posture == Posture::Level && !full {
        return Err(SettingsError::new(
            "posture",
            "expected thrust, found level, which needs six independent inputs",
        ));
    }
    Ok(())
}

/// Roll, pitch and yaw in degrees: turned about z, then y, then x.
pub(super) fn attitude([roll, pitch, yaw]: [f64; 3]) -> SO3<f64> {
    let turn = |axis: Vector3<f64>, degrees: f64| SO3::exp(&(axis * degrees.to_radians()));
    turn(Vector3::z(), yaw) * turn(Vector3::y(), pitch) * turn(Vector3::x(), roll)
}

impl HoverSettings {
    fn hover(&self, full: bool) -> Result<Hover, SettingsError> {
        let [roll, pitch, yaw] =
            self.attitude_deg
                .unwrap_or([0.0, 0.0, self.yaw_deg.unwrap_or(0.0)]);
        if !full && (roll != 0.0 || pitch != 0.0) {
            return Err(SettingsError::new(
                "attitude_deg",
                format!(
                    "expected roll and pitch 0 for a vehicle without side thrust, found {roll}, {pitch}"
                ),
            ));
        }
        // An upright attitude is exactly upright.
        let attitude = if roll == 0.0 && pitch == 0.0 {
            upright(yaw.to_radians())
        } else {
            attitude([roll, pitch, yaw])
        };
        Ok(Hover::new(SE3::new(attitude, self.position.into())))
    }
}

impl LissajousSettings {
    pub(super) fn lissajous(&self) -> Lissajous {
        Lissajous {
            amplitude: self.amplitude.into(),
            angular_frequency: self.angular_frequency.into(),
            phase: self.phase.into(),
            offset: self.offset.into(),
            yaw_rate: self.yaw_rate,
        }
    }
}

impl LoopSettings {
    fn path(&self) -> VerticalLoop {
        VerticalLoop {
            radius: self.radius,
            duration: self.duration,
            start: self.start,
            position: self.position.into(),
            heading: self.heading_deg.to_radians(),
        }
    }
}

impl WaypointsSettings {
    pub(super) fn path(&self) -> Waypoints {
        let point = |p: &WaypointSettings| Waypoint {
            position: p.position.into(),
            yaw: p.yaw_deg.to_radians(),
            hold: p.hold,
        };
        let points = self.points.iter().map(point).collect();
        Waypoints::new(
            points,
            self.max_speed,
            self.max_acceleration,
            self.max_yaw_rate,
        )
    }
}

impl IndependentSettings {
    pub(super) fn independent(&self) -> Independent {
        Independent {
            position: Lissajous {
                amplitude: self.amplitude.into(),
                angular_frequency: self.angular_frequency.into(),
                phase: self.phase.into(),
                offset: self.offset.into(),
                yaw_rate: self.yaw_rate,
            },
            attitude_amplitude: Vector3::from(self.attitude_amplitude_deg.map(f64::to_radians)),
            attitude_angular_frequency: self.attitude_angular_frequency.into(),
            attitude_phase: self.attitude_phase.into(),
        }
    }
}

fn upright(yaw: f64) -> SO3<f64> {
    let (s, c) = yaw.sin_cos();
    SO3::from_matrix(Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))
}
