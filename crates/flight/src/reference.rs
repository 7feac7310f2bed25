//! The reference of a flight: the configured trajectory, or the setpoints of a recording.

use fly_control::trajectory::{Infeasible, Recorded, Setpoint};
use fly_control::{Reference, ReferencePoint, Trajectory};
use fly_hal::signal::UNIT_TOLERANCE;
use fly_hal::{Description, Frame};
use fly_lie::SO3;
use nalgebra::{Vector3, Vector4};

use super::binding::{GroupBinding, bind};

/// `setpoint.source` of setpoints that were given to the recorded controller.
const LOGGED: f64 = 0.0;

/// The reference of a flight.
pub enum FlightReference {
    /// A trajectory known in advance.
    Planned(Box<dyn Trajectory>),
    /// Follows the `setpoint.*` signals of the frames.
    Recorded(Box<Setpoints>),
}

/// The `setpoint.*` signals of a backend and the trajectory that follows them.
#[derive(Debug, Clone)]
pub struct Setpoints {
    trajectory: Recorded,
    position: Option<GroupBinding>,
    velocity: Option<GroupBinding>,
    acceleration: Option<GroupBinding>,
    quaternion: Option<GroupBinding>,
    angular_velocity: Option<GroupBinding>,
    source: Option<usize>,
    /// Number of steps that followed logged setpoints, and smoothed ones.
    used: [u64; 2],
}

impl FlightReference {
    /// Binds a reference to a backend; `None` if it follows setpoints and the backend has none.
    pub fn new(reference: Reference, description: &Description) -> Option<Self> {
        match reference {
            Reference::Planned(trajectory) => Some(Self::Planned(trajectory)),
            Reference::Recorded(trajectory) => Setpoints::new(trajectory, description)
                .map(Box::new)
                .map(Self::Recorded),
        }
    }

    /// Writes the reference at flight time `time` (s), to which `frame` belongs. Does not allocate.
    ///
    /// # Errors
    /// The reference cannot be followed at this time; the point is unchanged.
    pub fn at(
        &mut self,
        time: f64,
        frame: &Frame,
        point: &mut ReferencePoint,
    ) -> Result<(), Infeasible> {
        match self {
            Self::Planned(trajectory) => trajectory.at(time, point),
            Self::Recorded(setpoints) => setpoints.at(time, frame, point),
        }
    }

    /// When it comes to rest, s, if known.
    pub fn duration(&self) -> Option<f64> {
        match self {
            Self::Planned(trajectory) => trajectory.duration(),
            Self::Recorded(_) => None,
        }
    }

    /// Description for the summary; `kind` is that of the configuration.
    pub fn describe(&self, kind: &str) -> String {
        match self {
            Self::Planned(_) => kind.to_owned(),
            Self::Recorded(setpoints) => match setpoints.used {
                [_, 0] => "recorded: the logged setpoints".to_owned(),
                // The backend's report tells which setpoints were logged.
                [0, _] => "recorded: the flown path, smoothed".to_owned(),
                [logged, smoothed] => {
                    format!(
                        "recorded: {logged} steps along logged setpoints, {smoothed} along the smoothed flown path"
                    )
                }
            },
        }
    }
}

impl Setpoints {
    fn new(trajectory: Recorded, description: &Description) -> Option<Self> {
        let position = bind(description, "setpoint.position");
        let quaternion = bind(description, "setpoint.quaternion");
        // Setpoints without position and attitude cannot be followed.
        position.or(quaternion)?;
        Some(Self {
            trajectory,
            position,
            velocity: bind(description, "setpoint.velocity"),
            acceleration: bind(description, "setpoint.acceleration"),
            quaternion,
            angular_velocity: bind(description, "setpoint.angular_velocity"),
            source: description.value_index("setpoint.source"),
            used: [0; 2],
        })
    }

    fn at(
        &mut self,
        time: f64,
        frame: &Frame,
        point: &mut ReferencePoint,
    ) -> Result<(), Infeasible> {
        let vector = |group: Option<GroupBinding>| {
            usable(group, frame).map(|group| Vector3::from(group.vector(&frame.values)))
        };
        let attitude = usable(self.quaternion, frame).and_then(|group| {
            let quaternion = Vector4::from(group.quaternion(&frame.values));
            let norm = quaternion.norm();
            ((norm - 1.0).abs() <= UNIT_TOLERANCE)
                .then(|| SO3::from_quaternion(&(quaternion / norm)))
        });
        let setpoint = Setpoint {
            position: vector(self.position),
            velocity: vector(self.velocity),
            acceleration: vector(self.acceleration),
            attitude,
            angular_velocity: vector(self.angular_velocity),
        };
        let logged = self
            .source
            .is_none_or(|source| frame.values[source] == LOGGED);
        self.used[usize::from(!logged)] += 1;
        self.trajectory.update(time, &setpoint)?;
        self.trajectory.at(time, point)
    }
}

/// The group, if it is valid and finite in this frame.
fn usable(group: Option<GroupBinding>, frame: &Frame) -> Option<GroupBinding> {
    group.filter(|group| frame.groups[group.group].valid && group.is_finite(&frame.values))
}

#[cfg(test)]
mod tests {
    use fly_control::trajectory::AttitudeMode;
    use fly_hal::GroupStatus;
    use fly_lie::SE3;

    use super::*;

    fn recorded() -> Reference {
        Reference::Recorded(Recorded::new(
            AttitudeMode::Level,
            Vector3::new(0.0, 0.0, -9.81),
            SE3::identity(),
        ))
    }

    fn describe(groups: &[&str]) -> Description {
        groups
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })
            .expect("canonical")
    }

    #[test]
    fn setpoints_of_the_frame_are_followed_and_their_source_is_told() {
        let description = describe(&["setpoint.velocity", "setpoint.position", "setpoint"]);
        let mut reference =
            FlightReference::new(recorded(), &description).expect("there is a position");
        let mut frame = description.frame();
        frame
            .values
            .copy_from_slice(&[0.5, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
        frame.groups.fill(GroupStatus {
            stamp: 0,
            valid: true,
        });
        let mut point = ReferencePoint::default();
        reference.at(7.0, &frame, &mut point).expect("feasible");
        assert_eq!(point.pose.translation, Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(point.twist[0], 0.5);
        assert_eq!(
            reference.describe("recorded"),
            "recorded: the logged setpoints"
        );

        // An invalid position keeps its last value.
        frame.groups[1].valid = false;
        frame.values[3..6].copy_from_slice(&[9.0, 9.0, 9.0]);
        frame.values[6] = 1.0;
        reference.at(8.0, &frame, &mut point).expect("feasible");
        assert_eq!(point.pose.translation, Vector3::new(1.0, 2.0, 3.0));
        let told = "recorded: 1 steps along logged setpoints, 1 along the smoothed flown path";
        assert_eq!(reference.describe("recorded"), told);
    }

    #[test]
    fn without_setpoints_there_is_no_recorded_reference() {
        assert!(
            FlightReference::new(
                recorded(),
                &describe(&["pose.position", "setpoint.velocity"])
            )
            .is_none()
        );
        assert!(FlightReference::new(recorded(), &describe(&["setpoint.quaternion"])).is_some());
    }
}
