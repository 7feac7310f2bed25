//! Why a tick has no new command, or why a flight was given up.

use std::fmt::{self, Display};

use super::limit::Limit;

/// Why a tick has no new command, or why the flight was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The tick passed without a frame.
    Missing,
    /// The frame's time did not advance.
    Time,
    /// The frame's time is far from that of the last one.
    TimeJump,
    /// The backend marks a group (by its index) as invalid.
    Invalid(usize),
    /// A group is older than `safety.stale_ms`.
    Stale(usize),
    /// A group is stamped later than its frame.
    Early(usize),
    /// Too much time since the last good frame, without a tick in between.
    Gap,
    /// A group holds a value that is not finite.
    NonFinite(usize),
    /// A quaternion is too far from unit length to be an attitude.
    NotUnit(usize),
    /// A group of a sensor or of the whole state repeats the same values with new stamps, too long to be true.
    Frozen(usize),
    /// The estimator is waiting for the measurements that it starts from, or its estimate has not converged.
    Unconverged,
    /// A standard deviation of the estimate is larger than `[estimator]` allows.
    Uncertain(Uncertain),
    /// No measurement has corrected the estimated position for longer than `estimator.correction_timeout`.
    Uncorrected,
    /// The controller's result is not finite; nothing was sent.
    Controller,
    /// The reference cannot be followed at this time.
    Reference,
    /// The computed command (by its index) is not finite or violates its limits, and was not sent.
    Command(usize),
    /// The backend reported an error instead of a frame.
    Backend,
    /// The backend did not send the commands.
    Unsent,
    /// A call of the backend did not return in time.
    Hung,
    /// A limit of `[safety]` is exceeded.
    Limit(Limit),
    /// The user or the end of the flight requests a landing.
    Requested,
    /// Another pilot or program took control of the vehicle.
    TakenOver,
}

/// A part of the estimated state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncertain {
    /// About any axis.
    Attitude,
    /// Along any axis.
    Velocity,
    /// Along any axis.
    Position,
}

impl Uncertain {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attitude => "attitude",
            Self::Velocity => "velocity",
            Self::Position => "position",
        }
    }
}

impl Fault {
    /// Whether the fault ends as soon as frames are complete again.
    pub fn is_of_frames(self) -> bool {
        match self {
            Self::Missing
            | Self::Time
            | Self::TimeJump
            | Self::Gap
            | Self::Invalid(_)
            | Self::Stale(_)
            | Self::Early(_)
            | Self::NonFinite(_)
            | Self::NotUnit(_)
            | Self::Frozen(_)
            | Self::Unconverged
            | Self::Uncertain(_)
            | Self::Uncorrected
            | Self::Backend => true,
            Self::Controller
            | Self::Reference
            | Self::Command(_)
            | Self::Unsent
            | Self::Hung
            | Self::Limit(_)
            | Self::Requested
            | Self::TakenOver => false,
        }
    }

    /// Describes the fault, with the names of groups and commands. Formatting does not allocate.
    pub fn describe<'a>(self, groups: &'a [String], commands: &'a [String]) -> impl Display + 'a {
        let name = |names: &'a [String], index: usize| names.get(index).map_or("?", String::as_str);
        fmt::from_fn(move |f| match self {
            Self::Missing => f.write_str("no frame"),
            Self::Time => f.write_str("the frame's time did not advance"),
            Self::TimeJump => f.write_str("the frame's time jumped"),
            Self::Invalid(index) => write!(f, "`{}` is marked invalid", name(groups, index)),
            Self::Stale(index) => write!(f, "`{}` is stale", name(groups, index)),
            Self::Early(index) => {
                write!(
                    f,
                    "`{}` is stamped later than its frame",
                    name(groups, index)
                )
            }
            Self::Gap => f.write_str("too much time passed without a tick"),
            Self::NonFinite(index) => write!(f, "`{}` is not finite", name(groups, index)),
            Self::NotUnit(index) => {
                write!(f, "`{}` is not a unit quaternion", name(groups, index))
            }
            Self::Frozen(index) => write!(f, "`{}` repeats itself", name(groups, index)),
            Self::Unconverged => f.write_str("the estimate has not converged"),
            Self::Uncertain(what) => write!(f, "the estimated {} is too uncertain", what.name()),
            Self::Uncorrected => {
                f.write_str("nothing has corrected the estimated position for too long")
            }
            Self::Controller => {
                f.write_str("the controller's result is not finite and was not sent")
            }
            Self::Reference => f.write_str("the reference cannot be followed"),
            Self::Command(index) => write!(
                f,
                "the computed `{}` violates its limits and was not sent",
                name(commands, index)
            ),
            Self::Backend => f.write_str("the backend reports an error"),
            Self::Unsent => f.write_str("the backend does not send the commands"),
            Self::Hung => f.write_str("a call of the backend did not return in time"),
            Self::Limit(limit) => write!(f, "the limit of the {} is exceeded", limit.name()),
            Self::Requested => f.write_str("a landing is requested"),
            Self::TakenOver => f.write_str(
                "a pilot, another program or its own failsafe took control of the vehicle",
            ),
        })
    }
}
