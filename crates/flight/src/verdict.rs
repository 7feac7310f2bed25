//! The verdict on a flight.

/// How a flight ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum End {
    /// The configured duration has passed.
    #[default]
    Completed,
    /// The backend has no more frames: the recording has ended.
    OutOfFrames,
    /// The user interrupted it.
    Interrupted,
    /// The supervisor ended it.
    SafetyStop,
    /// Another pilot or program took control of the vehicle, for example by changing its mode.
    TakenOver,
    /// The backend failed, with this message.
    Backend(String),
    /// The controller could not begin, for this reason: the state never became known (an estimate that does not
    /// converge), or the vehicle is not where its reference begins.
    NotFlown(String),
    /// This program failed, with this message: a defect.
    Panicked(String),
}

/// The result of a flight. Every flight has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The flight reached its end without losing the reference.
    #[default]
    Flown,
    /// The user ended the flight early.
    Interrupted,
    /// The supervisor gave up the flight: frames were lost, or a limit of `[safety.limits]` was exceeded.
    SafetyStop,
    /// The loop lost its reference: the default limit of the position error was exceeded, or the attitude was lost.
    Diverged,
    /// The vehicle hit the ground.
    Crashed,
    /// Another pilot or program took control of the vehicle.
    TakenOver,
    /// The backend failed.
    BackendFailed,
    /// The controller could not begin.
    NotFlown,
    /// This program failed: a defect.
    InternalError,
}

/// The evidence that a verdict is derived from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // independent conditions
pub(crate) struct Evidence {
    /// The vehicle hit the ground.
    pub crashed: bool,
    /// The loop had lost its reference when the flight ended or was given up.
    pub diverged: bool,
    /// The supervisor gave up the flight.
    pub given_up: bool,
    /// The flight would have ended without the user.
    pub has_end: bool,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 9] = [
        Self::Flown,
        Self::Interrupted,
        Self::SafetyStop,
        Self::Diverged,
        Self::Crashed,
        Self::TakenOver,
        Self::NotFlown,
        Self::BackendFailed,
        Self::InternalError,
    ];

    /// The verdict on a flight with this end: the worst that the evidence supports.
    pub(crate) fn of(end: &End, evidence: Evidence) -> Self {
        match end {
            _ if evidence.crashed => Self::Crashed,
            _ if evidence.diverged => Self::Diverged,
            End::Panicked(_) => Self::InternalError,
            End::Backend(_) => Self::BackendFailed,
            End::NotFlown(_) => Self::NotFlown,
            End::SafetyStop => Self::SafetyStop,
            End::TakenOver => Self::TakenOver,
            End::Completed | End::OutOfFrames | End::Interrupted if evidence.given_up => {
                Self::SafetyStop
            }
            End::Interrupted if evidence.has_end => Self::Interrupted,
            End::Completed | End::OutOfFrames | End::Interrupted => Self::Flown,
        }
    }

    /// Its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flown => "flown",
            Self::Interrupted => "interrupted",
            Self::SafetyStop => "safety_stop",
            Self::Diverged => "diverged",
            Self::Crashed => "crashed",
            Self::TakenOver => "taken_over",
            Self::BackendFailed => "backend_failed",
            Self::NotFlown => "not_flown",
            Self::InternalError => "internal_error",
        }
    }

    /// The verdict in words, to follow the description of how the flight ended.
    pub fn describe(self, end: &End) -> String {
        match (self, end) {
            (Self::Flown, End::OutOfFrames) => "flown to the last frame".to_owned(),
            (Self::Flown, End::Interrupted) => "flown until it was interrupted".to_owned(),
            (Self::Flown, _) => "flown".to_owned(),
            (Self::Interrupted, _) => "interrupted".to_owned(),
            (Self::SafetyStop, _) => "SAFETY STOP".to_owned(),
            (Self::Diverged, _) => "DIVERGED".to_owned(),
            (Self::Crashed, _) => "CRASHED".to_owned(),
            (Self::TakenOver, _) => {
                "TAKEN OVER: a pilot, another program or its own failsafe controls the vehicle"
                    .to_owned()
            }
            (Self::BackendFailed, End::Backend(message)) => format!("BACKEND FAILED ({message})"),
            (Self::BackendFailed, _) => "BACKEND FAILED".to_owned(),
            (Self::NotFlown, End::NotFlown(message)) => format!("NOT FLOWN ({message})"),
            (Self::NotFlown, _) => "NOT FLOWN".to_owned(),
            (Self::InternalError, End::Panicked(message)) => format!("INTERNAL ERROR ({message})"),
            (Self::InternalError, _) => "INTERNAL ERROR".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_that_was_seen_counts() {
        let none = Evidence {
            has_end: true,
            ..Evidence::default()
        };
        let given_up = Evidence {
            given_up: true,
            ..none
        };
        let diverged = Evidence {
            diverged: true,
            ..given_up
        };
        let crashed = Evidence {
            crashed: true,
            ..diverged
        };
        let backend = End::Backend("gone".to_owned());
        for (end, evidence, expected) in [
            (&End::Completed, none, Verdict::Flown),
            (&End::OutOfFrames, none, Verdict::Flown),
            (&End::Interrupted, none, Verdict::Interrupted),
            (&End::Interrupted, Evidence::default(), Verdict::Flown),
            (&End::SafetyStop, none, Verdict::SafetyStop),
            (&backend, none, Verdict::BackendFailed),
            (&End::Completed, given_up, Verdict::SafetyStop),
            (&End::Interrupted, given_up, Verdict::SafetyStop),
            (&backend, given_up, Verdict::BackendFailed),
            (
                &End::NotFlown("unsettled".to_owned()),
                none,
                Verdict::NotFlown,
            ),
            (&End::TakenOver, given_up, Verdict::TakenOver),
            (&End::SafetyStop, diverged, Verdict::Diverged),
            (&End::SafetyStop, crashed, Verdict::Crashed),
            (&backend, crashed, Verdict::Crashed),
        ] {
            assert_eq!(Verdict::of(end, evidence), expected, "{end:?} {evidence:?}");
        }
    }
}
