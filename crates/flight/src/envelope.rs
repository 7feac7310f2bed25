//! The limits of `[safety]` within which a flight stays.

/// A limit of `[safety]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Distance between state and reference.
    PositionError,
    /// Angle between the body's z axis and the vertical.
    Tilt,
    /// Speed of the body.
    Speed,
    /// Height of the body.
    Height,
    /// Distance from the place where the flight began.
    Area,
    /// Time for which a limit of the inputs was active.
    Saturation,
}

impl Limit {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositionError => "position error",
            Self::Tilt => "tilt",
            Self::Speed => "speed",
            Self::Height => "height",
            Self::Area => "area",
            Self::Saturation => "time in saturation",
        }
    }
}
