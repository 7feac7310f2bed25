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
    AttitudeMode, Hover, Independent, Infeasible, Lissajous, Path, PathTrajectory, Recorded,
    Sinusoid, Trajectory, VerticalLoop, Waypoint, Waypoints,
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
        let follower = Follower::new(vehicle);
        let full = follower.full;
        Ok(Reference::Planned(match self {
            Self::Hover(s) => Box::new(s.hover(full)?),
            Self::Lissajous(s) => {
                follower.along(s.lissajous(), s.posture, s.point_height, "amplitude")?
            }
            Self::Loop(s) => {
                let posture = s.posture.unwrap_or(AttitudeMode::ThrustAligned);
                follower.along(s.path(), Some(posture), s.point_height, "duration")?
            }
            Self::Waypoints(s) => {
                follower.along(s.path(), s.posture, s.point_height, "max_acceleration")?
            }
            Self::MinimumSnap(s) => s.trajectory(&follower)?,
            Self::Sampled(s) => follower.along(s.path()?, s.posture, s.point_height, "file")?,
            Self::Circle(s) | Self::Helix(s) => {
                follower.along(s.path(), s.posture, s.point_height, "period")?
            }
            Self::Takeoff(s) => follower.along(s.path(), None, None, "max_acceleration")?,
            Self::Landing(s) => follower.along(s.path(), None, None, "max_acceleration")?,
            Self::Flip(s) => {
                let path = s.path(vehicle.body.gravity().norm());
                follower.along(path, Some(AttitudeMode::ThrustAligned), None, "distance")?
            }
            Self::BarrelRoll(s) => follower.along(
                s.path(),
                Some(AttitudeMode::ThrustAligned),
                None,
                "duration",
            )?,
            Self::Independent(_) if !full => {
                return Err(SettingsError::new(
                    "kind",
                    "expected a kind that this vehicle can follow, found independent, which needs six independent inputs",
                ));
            }
            Self::Independent(s) => Box::new(s.independent()),
            Self::Recorded(s) => {
                let posture = follower.posture(s.posture)?;
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

/// A vehicle that is to follow paths.
pub(super) struct Follower<'a> {
    pub vehicle: &'a Vehicle,
    /// Whether its inputs can give every wrench.
    full: bool,
}

impl<'a> Follower<'a> {
    fn new(vehicle: &'a Vehicle) -> Self {
        Self {
            full: fully_actuated(vehicle.rotors.input_matrix()),
            vehicle,
        }
    }

    /// The posture that is asked for, or the usual one of this vehicle.
    pub fn posture(&self, asked: Option<AttitudeMode>) -> Result<AttitudeMode, SettingsError> {
        match asked {
            Some(AttitudeMode::Level) if !self.full => Err(SettingsError::new(
                "posture",
                "expected thrust, found level, which needs six independent inputs",
            )),
            Some(posture) => Ok(posture),
            None if self.full => Ok(AttitudeMode::Level),
            None => Ok(AttitudeMode::ThrustAligned),
        }
    }

    /// The vehicle along a path, with the point at this height or where that makes the motion exact.
    pub fn exactly<P: Path>(
        &self,
        path: P,
        posture: AttitudeMode,
        height: Option<f64>,
    ) -> Result<PathTrajectory<P>, Infeasible> {
        let along = PathTrajectory::new(path, posture, &self.vehicle.body)?;
        Ok(match height {
            Some(height) => along.with_point_height(height),
            None => along.exact_for(self.vehicle),
        })
    }

    /// The same, or the key that makes it impossible.
    fn along<P: Path + 'static>(
        &self,
        path: P,
        posture: Option<AttitudeMode>,
        height: Option<f64>,
        key: &str,
    ) -> Result<Box<dyn Trajectory>, SettingsError> {
        let along = self.exactly(path, self.posture(posture)?, height);
        Ok(Box::new(along.map_err(|error| {
            SettingsError::new(key, error.to_string())
        })?))
    }
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
            position: sinusoids(
                self.amplitude,
                self.angular_frequency,
                self.phase,
                self.offset,
            ),
            yaw: turning(self.yaw_rate),
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
        let points: Vec<_> = self.points.iter().map(point).collect();
        Waypoints::new(
            &points,
            self.max_speed,
            self.max_acceleration,
            self.max_yaw_rate,
        )
    }
}

impl IndependentSettings {
    pub(super) fn independent(&self) -> Independent {
        let [roll, pitch, yaw] = sinusoids(
            self.attitude_amplitude_deg.map(f64::to_radians),
            self.attitude_angular_frequency,
            self.attitude_phase,
            [0.0; 3],
        );
        Independent {
            position: sinusoids(
                self.amplitude,
                self.angular_frequency,
                self.phase,
                self.offset,
            ),
            attitude: [
                roll,
                pitch,
                Sinusoid {
                    rate: self.yaw_rate,
                    ..yaw
                },
            ],
        }
    }
}

fn sinusoids(
    amplitude: [f64; 3],
    angular_frequency: [f64; 3],
    phase: [f64; 3],
    offset: [f64; 3],
) -> [Sinusoid; 3] {
    std::array::from_fn(|i| Sinusoid {
        amplitude: amplitude[i],
        angular_frequency: angular_frequency[i],
        phase: phase[i],
        ..Sinusoid::constant(offset[i])
    })
}

fn turning(rate: f64) -> Sinusoid {
    Sinusoid {
        rate,
        ..Sinusoid::default()
    }
}

fn upright(yaw: f64) -> SO3<f64> {
    let (s, c) = yaw.sin_cos();
    SO3::from_matrix(Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0))
}
