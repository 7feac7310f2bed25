//! The flight limits that the supervisor responds to.

/// The limited quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Distance from the reference, m.
    PositionError,
    /// Angle from the reference, rad.
    AttitudeError,
    /// Root mean square of the angle from the reference over the loop's settling time, rad.
    LostAttitude,
    /// Angle between the body's z axis and the vertical, rad.
    Tilt,
    /// Speed, m/s.
    Speed,
    /// Height, m.
    Height,
    /// Negative height, m.
    Floor,
    /// Distance outside a region, by its index, m.
    Fence(usize),
    /// Distance by which the measured position jumps, m.
    PositionJump,
    /// The largest joint velocity, rad/s or m/s.
    JointSpeed,
    /// Distance of a joint beyond its own position limits, by the index of its body, rad or m.
    JointPosition(usize),
    /// Speed of a joint that has a velocity limit, by the index of its body, rad/s or m/s.
    JointVelocity(usize),
    /// Time for which inputs have been at their limits, s.
    Saturated,
    /// Vertical speed at touchdown, m/s.
    Touchdown,
    /// Speed along the ground when it is touched, m/s.
    Slide,
    /// Depth below the ground, m.
    Depth,
}

impl Limit {
    /// Whether it limits how a reference is followed, and not the motion itself.
    pub fn is_of_reference(self) -> bool {
        matches!(
            self,
            Self::PositionError | Self::AttitudeError | Self::LostAttitude | Self::Saturated
        )
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositionError => "position error",
            Self::AttitudeError => "attitude error",
            Self::LostAttitude => "rms attitude error",
            Self::Tilt => "tilt",
            Self::Speed => "speed",
            Self::Height | Self::Floor => "height",
            Self::Fence(_) => "fence",
            Self::PositionJump => "position jump",
            Self::JointSpeed => "joint speed",
            Self::JointPosition(_) => "joint position",
            Self::JointVelocity(_) => "joint velocity",
            Self::Saturated => "time at the limits of the inputs",
            Self::Touchdown => "speed of the touchdown",
            Self::Slide => "speed along the ground",
            Self::Depth => "depth below the ground",
        }
    }
}
