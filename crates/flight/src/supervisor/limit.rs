//! The limits of a flight to which the supervisor answers.

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Distance from the reference, m.
    PositionError,
    /// Angle from the reference, rad.
    AttitudeError,
    /// The same, its root mean square over the settling time of the loop.
    LostAttitude,
    /// Angle between the body's z axis and the vertical, rad.
    Tilt,
    /// Speed, m/s.
    Speed,
    /// Height, m.
    Height,
    /// Minus the height, m.
    Floor,
    /// Distance outside of a region, by its index, m.
    Fence(usize),
    /// The largest velocity in a joint, rad/s or m/s.
    JointSpeed,
    /// Time for which inputs have been at their limits, s.
    Saturated,
    /// Speed towards the ground where it is touched, m/s.
    Touchdown,
    /// Depth below the ground, m.
    Depth,
}

impl Limit {
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
            Self::JointSpeed => "joint speed",
            Self::Saturated => "time at the limits of the inputs",
            Self::Touchdown => "speed of the touchdown",
            Self::Depth => "depth below the ground",
        }
    }
}
