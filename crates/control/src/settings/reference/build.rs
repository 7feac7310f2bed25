//! From the section `[reference]` to a trajectory.

use fly_lie::{SE3, SO3};
use fly_mechanics::{System, Vehicle};
use nalgebra::{Matrix3, Vector3};

use super::{
    HoverSettings, IndependentSettings, LissajousSettings, LoopSettings, PathSettings,
    ReferenceSettings, WaypointSettings, WaypointsSettings,
};
use crate::SystemPoint;
use crate::matching::fully_actuated;
use crate::settings::{MinimumSnapSettings, SettingsError};
use crate::trajectory::{
    AttitudeMode, Hover, Independent, Infeasible, JointTrajectory, Lissajous, OnFreeJoint, Path,
    PathTrajectory, Recorded, Sinusoid, Swing, Trajectory, VerticalLoop, Waypoint, Waypoints,
    merged_vehicle, preview, preview::Violation,
};

/// A reference ready to fly.
#[allow(clippy::large_enum_variant)] // There is one of it in a flight.
pub enum Reference {
    /// Known in advance.
    Planned(Box<dyn Trajectory>),
    /// Follows setpoints, which the flight loop hands to [`Recorded::update`].
    Recorded(Recorded),
}

/// # For vehicles
impl ReferenceSettings {
    /// The reference for this vehicle.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), and references that this vehicle cannot follow at all.
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
                let mode = s.posture.unwrap_or(AttitudeMode::ThrustAligned);
                follower.along(s.path(), Some(mode), s.point_height, "duration")?
            }
            Self::Waypoints(s) => {
                follower.along(s.path(), s.posture, s.point_height, "max_acceleration")?
            }
            Self::MinimumSnap(s) => follower.fastest(s)?,
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
                let mode = follower.mode(s.posture)?;
                return Ok(Reference::Recorded(
                    Recorded::new(mode, *vehicle.body.gravity(), SE3::identity())
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

/// # For systems
impl ReferenceSettings {
    /// The reference for this system.
    ///
    /// Kinds that prescribe how joints or bodies of a system move suit any system that has them. Those of vehicles suit a system that is one free
    /// body with bodies fixed to it; if it has springs or dampers, only if its inputs can produce every wrench, because its attitude would
    /// otherwise not follow from the motion. Feasibility is checked in advance, for 60 s if the reference has no end.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), references that this system cannot follow at all, and those infeasible at some instant: joints
    /// beyond their limits, targets out of reach.
    pub fn build_for_system(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
        self.validate()?;
        let model = &system.model;
        let mut trajectory: Box<dyn Trajectory<SystemPoint>> = match self {
            Self::Rest(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Joints(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Transfer(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Tool(s) => Box::new(s.trajectory(system)?),
            Self::TwoMasses(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Pvtol(s) => Box::new(JointTrajectory::new(model, s.motion(system)?)),
            Self::Planar(s) => s.trajectory(system)?,
            Self::Sampled(s) if !s.names_position()? => {
                Box::new(JointTrajectory::new(model, s.motion(system)?))
            }
            Self::Recorded(_) => {
                return Err(SettingsError::new(
                    "kind",
                    "expected a kind that is known in advance, found recorded, which only a vehicle follows",
                ));
            }
            _ => self.of_free_body(system)?,
        };
        preview::check(trajectory.as_mut(), system).map_err(|violation| {
            let key = match &violation {
                Violation::Infeasible(error) => at_fault(error, self.cause()),
                Violation::JointLimit { .. } => self.cause(),
            };
            SettingsError::new(key, violation.to_string())
        })?;
        Ok(trajectory)
    }

    /// Where the curve of a `sampled` path swings beyond its samples, if they are too coarse, with the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn swing(&self) -> Result<Option<(&std::path::Path, Swing)>, SettingsError> {
        let path = match self {
            Self::Tool(s) => &s.path,
            Self::TwoMasses(s) => &s.path,
            Self::Pvtol(s) => &s.path,
            Self::Planar(s) => &s.path,
            Self::Sampled(s) => return s.swing(),
            _ => return Ok(None),
        };
        match path {
            PathSettings::Sampled(s) => s.swing().map_err(|error| error.inside("path")),
            _ => Ok(None),
        }
    }

    /// The key at fault if the reference is infeasible.
    fn cause(&self) -> &'static str {
        match self {
            Self::Rest(_) | Self::Joints(_) => "joints",
            Self::Transfer(_) => "to",
            Self::Tool(_) | Self::TwoMasses(_) | Self::Pvtol(_) | Self::Planar(_) => "path",
            Self::Sampled(_) => "file",
            _ => "kind",
        }
    }

    fn of_free_body(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
        let unsuited = |why: &str| {
            let kind = self.kind();
            let kinds = Self::SYSTEM_KINDS.join(", ");
            SettingsError::new(
                "kind",
                format!(
                    "expected {kinds}; found {kind}, which needs one free body and no other moving bodies: {why}"
                ),
            )
        };
        let (body, vehicle) =
            merged_vehicle(system).map_err(|error| unsuited(&error.to_string()))?;
        let model = &system.model;
        let links = model.springs().len() + model.dampers().len();
        if links > 0 && !fully_actuated(vehicle.rotors.input_matrix()) {
            return Err(SettingsError::new(
                "kind",
                format!(
                    "expected a kind of reference that prescribes every joint, found {}, whose attitudes follow from gravity, drag and \
                     thrust alone, and springs or dampers act on `{}`",
                    self.kind(),
                    vehicle.body_name
                ),
            ));
        }
        let Reference::Planned(trajectory) = self.build(&vehicle)? else {
            return Err(unsuited("setpoints arrive in flight"));
        };
        match OnFreeJoint::new(&system.model, body, trajectory) {
            Some(reference) => Ok(Box::new(reference)),
            None => Err(unsuited("other joints move")),
        }
    }
}

/// A vehicle that follows paths.
struct Follower<'a> {
    vehicle: &'a Vehicle,
    /// Whether its inputs can produce every wrench.
    full: bool,
}

impl<'a> Follower<'a> {
    fn new(vehicle: &'a Vehicle) -> Self {
        Self {
            full: fully_actuated(vehicle.rotors.input_matrix()),
            vehicle,
        }
    }

    /// The attitude mode requested, or the default of this vehicle.
    fn mode(&self, asked: Option<AttitudeMode>) -> Result<AttitudeMode, SettingsError> {
        match asked {
            Some(AttitudeMode::Level) if !self.full => Err(SettingsError::new(
                "posture",
                "expected thrust, found level, which needs six independent inputs",
            )),
            Some(mode) => Ok(mode),
            None => Ok(AttitudeMode::of_inputs(self.vehicle.rotors.input_matrix())),
        }
    }

    /// The vehicle along a path, with the point at this height or where the motion is exact; or the key that makes it infeasible.
    fn along<P: Path + 'static>(
        &self,
        path: P,
        mode: Option<AttitudeMode>,
        height: Option<f64>,
        key: &str,
    ) -> Result<Box<dyn Trajectory>, SettingsError> {
        let mode = self.mode(mode)?;
        match PathTrajectory::for_vehicle(path, mode, height, self.vehicle) {
            Ok(trajectory) => Ok(Box::new(trajectory)),
            Err(error) => Err(SettingsError::new(at_fault(&error, key), error.to_string())),
        }
    }

    fn fastest(&self, s: &MinimumSnapSettings) -> Result<Box<dyn Trajectory>, SettingsError> {
        let (mode, curve) = (self.mode(s.posture)?, s.curve()?);
        match PathTrajectory::fastest(&curve, mode, s.point_height, self.vehicle, s.limits()) {
            Ok(trajectory) => Ok(Box::new(trajectory)),
            Err(error) => Err(SettingsError::new("points", error.to_string())),
        }
    }
}

/// The key at fault, usually this one. What is not finite may follow from any of them: the section itself is.
fn at_fault<'a>(error: &Infeasible, usual: &'a str) -> &'a str {
    match error {
        Infeasible::NotFinite { .. } => "",
        _ => usual,
    }
}

/// Roll, pitch and yaw in degrees: rotation about z, then y, then x.
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
