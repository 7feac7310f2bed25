//! Named numbers and the groups that share a time stamp.

/// What a signal is to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Measured; what the state is made of.
    Measurement,
    /// Everything else that a backend reports: battery, setpoints, recorded commands.
    Auxiliary,
    /// Sent to the backend.
    Command,
}

impl Class {
    /// The name in a log's list of signals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measurement => "measurement",
            Self::Auxiliary => "auxiliary",
            Self::Command => "command",
        }
    }

    /// The class of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Measurement, Self::Auxiliary, Self::Command]
            .into_iter()
            .find(|class| class.name() == name)
    }
}

/// A named number with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Canonical name, such as `pose.position.x`.
    pub name: String,
    /// Unit, such as `m/s`; `1` for a pure number.
    pub unit: String,
    /// What it is to the loop.
    pub class: Class,
    /// Index of its group in the list of groups; 0 for commands.
    pub group: usize,
}

impl Signal {
    /// A signal from its parts.
    pub fn new(
        name: impl Into<String>,
        unit: impl Into<String>,
        class: Class,
        group: usize,
    ) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            class,
            group,
        }
    }
}

/// Time stamp and validity that the signals of a group share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupStatus {
    /// When the group was measured, ns in the backend's clock.
    pub stamp: i64,
    /// Whether its values mean anything.
    pub valid: bool,
}

/// What a backend answered at a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// New data.
    #[default]
    Fresh,
    /// The tick passed without new data.
    None,
}
