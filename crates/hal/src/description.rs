//! The signals of a configured backend.

use crate::signal::{self, Class, Signal};
use crate::{Error, Frame, nearest};

/// The source of the flight's reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferenceSource {
    /// The table `[reference]` of the configuration.
    #[default]
    Configured,
    /// The `setpoint.*` signals of the backend: a recording of another controller's flight.
    Recorded,
}

/// The signals of a configured backend, in the order in which their values cross the boundary.
///
/// ```
/// use fly_hal::Description;
///
/// # fn main() -> Result<(), fly_hal::Error> {
/// let description = Description::new()
///     .with_group("pose.position")?
///     .with_group("pose.quaternion")?
///     .with_signal("battery.voltage")?
///     .with_signals(["rotor.0.thrust", "rotor.1.thrust"])?;
/// assert_eq!(description.frame_signals().count(), 8);
/// assert_eq!(description.commands().count(), 2);
/// assert_eq!(description.groups, ["pose.position", "pose.quaternion", "battery"]);
///
/// let error = Description::new().with_signal("pose.positon.x").unwrap_err();
/// assert_eq!(error.help.as_deref(), Some("did you mean `pose.position.x`?"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// All signals. The values of a frame are the measurements and auxiliary signals in this order; the values of a
    /// write are the commands in this order.
    pub signals: Vec<Signal>,
    /// Names of the groups. The signals of a group share a time stamp and a validity.
    pub groups: Vec<String>,
    /// The source of the flight's reference.
    pub wants_reference: ReferenceSource,
    /// The configuration of a recorded flight, TOML. The host reports how it differs from its own.
    pub configuration: Option<String>,
    /// Whether the vehicle is already moving when the flight begins: its actuators then start at the first commands, while those of a
    /// vehicle at rest still have to spin up.
    pub starts_in_motion: bool,
    /// When control of the recorded flight began, ns on the clock of the frames, if that is not its first frame: the configured reference
    /// is evaluated from then on. Frames before then only feed the estimator.
    pub control_began: Option<i64>,
}

/// # Construction
impl Description {
    /// No signals; the reference comes from the configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one canonical signal; its unit, class and group come from the [table](signal::TABLE).
    ///
    /// # Errors
    /// The name is not canonical, or the signal exists already.
    pub fn with_signal(mut self, name: &str) -> Result<Self, Error> {
        let Some(meaning) = signal::meaning(name) else {
            let error = Error::internal(format!("`{name}` is not a canonical signal name"));
            return Err(match nearest(name, known()) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            });
        };
        if self.signals.iter().any(|signal| signal.name == name) {
            return Err(Error::internal(format!(
                "the signal `{name}` is declared twice"
            )));
        }
        let group = (meaning.class != Class::Command).then(|| self.group_index(&meaning.group));
        self.signals.push(Signal {
            name: name.into(),
            unit: meaning.unit.into(),
            class: meaning.class,
            group,
        });
        Ok(self)
    }

    /// Adds several canonical signals.
    ///
    /// # Errors
    /// As [`with_signal`](Self::with_signal).
    pub fn with_signals<N: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, Error> {
        names.into_iter().try_fold(self, |description, name| {
            description.with_signal(name.as_ref())
        })
    }

    /// Adds every signal of a canonical group, such as `pose.position`.
    ///
    /// # Errors
    /// There is no such group, or one of its signals exists already.
    pub fn with_group(self, group: &str) -> Result<Self, Error> {
        let names: Vec<_> = signal::group_names(group).collect();
        if names.is_empty() {
            return Err(Error::internal(format!(
                "`{group}` is not a canonical group of signals"
            )));
        }
        self.with_signals(names)
    }

    /// Sets the source of the flight's reference.
    #[must_use]
    pub fn with_reference(mut self, source: ReferenceSource) -> Self {
        self.wants_reference = source;
        self
    }

    fn group_index(&mut self, name: &str) -> usize {
        self.groups
            .iter()
            .position(|group| group == name)
            .unwrap_or_else(|| {
                self.groups.push(name.to_owned());
                self.groups.len() - 1
            })
    }
}

/// # Queries
impl Description {
    /// The signals whose values a frame carries, in the frame's order.
    pub fn frame_signals(&self) -> impl Iterator<Item = &Signal> {
        self.signals
            .iter()
            .filter(|signal| signal.class != Class::Command)
    }

    /// The commands, in the order in which [`write`](crate::Backend::write) takes them.
    pub fn commands(&self) -> impl Iterator<Item = &Signal> {
        self.signals
            .iter()
            .filter(|signal| signal.class == Class::Command)
    }

    /// Index of the signal `name` in a frame's values.
    pub fn value_index(&self, name: &str) -> Option<usize> {
        self.frame_signals().position(|signal| signal.name == name)
    }

    /// Index of the command `name` in a write.
    pub fn command_index(&self, name: &str) -> Option<usize> {
        self.commands().position(|signal| signal.name == name)
    }

    /// Index of the group `name` in a frame's groups.
    pub fn find_group(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| group == name)
    }

    /// A frame of these signals: values NaN, groups invalid.
    pub fn frame(&self) -> Frame {
        Frame::new(self.frame_signals().count(), self.groups.len())
    }

    /// Violations of the rules, one sentence each: names, units and classes are canonical, no signal occurs twice, and
    /// every group exists, has the right name and has a signal. Empty for a valid description.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (index, signal) in self.signals.iter().enumerate() {
            self.signal_faults(signal, &mut faults);
            if self.signals[..index]
                .iter()
                .any(|other| other.name == signal.name)
            {
                faults.push(format!("the signal `{}` is declared twice", signal.name));
            }
        }
        for (index, group) in self.groups.iter().enumerate() {
            if !self
                .signals
                .iter()
                .any(|signal| signal.group == Some(index))
            {
                faults.push(format!("the group `{group}` has no signals"));
            }
            if self.groups[..index].contains(group) {
                faults.push(format!("the group `{group}` is declared twice"));
            }
        }
        faults
    }

    fn signal_faults(&self, signal: &Signal, faults: &mut Vec<String>) {
        let name = &signal.name;
        let Some(meaning) = signal::meaning(name) else {
            let near = nearest(name, known());
            let near = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
            faults.push(format!("`{name}` is not a canonical signal name{near}"));
            return;
        };
        let is_of_slider = signal::unit_if_prismatic(name).is_some_and(|unit| signal.unit == unit);
        if signal.unit != meaning.unit && !is_of_slider {
            faults.push(format!(
                "`{name}` is in `{}`, but its unit is `{}`",
                signal.unit, meaning.unit
            ));
        }
        if signal.class != meaning.class {
            faults.push(format!(
                "`{name}` is declared as {}, but it is {}",
                signal.class.name(),
                meaning.class.name()
            ));
            return;
        }
        match (signal.class, signal.group) {
            (Class::Command, None) => {}
            (Class::Command, Some(_)) => faults.push(format!(
                "the command `{name}` is in a group, commands have none"
            )),
            (_, None) => faults.push(format!(
                "`{name}` is in no group, it belongs to `{}`",
                meaning.group
            )),
            (_, Some(index)) => match self.groups.get(index) {
                None => faults.push(format!(
                    "`{name}` is in group {index}, but there are {}",
                    self.groups.len()
                )),
                Some(group) if *group != meaning.group => {
                    faults.push(format!(
                        "`{name}` is in the group `{group}`, it belongs to `{}`",
                        meaning.group
                    ));
                }
                Some(_) => {}
            },
        }
    }
}

/// The names of the table.
fn known() -> impl Iterator<Item = String> {
    (signal::TABLE.iter())
        .flat_map(|row| row.components.iter().map(|c| format!("{}.{c}", row.group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(name: &str, unit: &str, class: Class, group: Option<usize>) -> Signal {
        Signal {
            name: name.into(),
            unit: unit.into(),
            class,
            group,
        }
    }

    #[test]
    fn what_the_builder_makes_is_proper() {
        let description = Description::new()
            .with_group("pose.position")
            .and_then(|d| d.with_signal("rotor.0.thrust"))
            .and_then(|d| d.with_group("battery"))
            .and_then(|d| d.with_signals(["recorded.rotor.0.thrust", "recorded.rotor.1.tilt"]))
            .unwrap();
        assert_eq!(description.faults(), Vec::<String>::new());
        assert_eq!(description.groups, ["pose.position", "battery", "recorded"]);
        assert_eq!(
            description.value_index("battery.voltage"),
            Some(3),
            "commands take no place in a frame"
        );
        assert_eq!(description.command_index("rotor.0.thrust"), Some(0));
        let frame = description.frame();
        assert_eq!((frame.values.len(), frame.groups.len()), (7, 3));
    }

    #[test]
    fn each_fault_is_named() {
        let good = Description::new().with_group("pose.position").unwrap();
        let case = |signals: Vec<Signal>, groups: &[&str]| {
            let description = Description {
                signals,
                groups: groups.iter().map(ToString::to_string).collect(),
                ..Description::default()
            };
            description.faults().join("; ")
        };
        let x = good.signals[0].clone();
        for (signals, groups, expected) in [
            (
                vec![signal("speed", "m/s", Class::Measurement, Some(0))],
                &["a"][..],
                "`speed` is not a canonical signal name",
            ),
            (
                vec![signal("pose.position.x", "ft", Class::Measurement, Some(0))],
                &["pose.position"],
                "`pose.position.x` is in `ft`, but its unit is `m`",
            ),
            (
                vec![signal("pose.position.x", "m", Class::Command, None)],
                &[],
                "`pose.position.x` is declared as command, but it is measurement",
            ),
            (
                vec![signal("pose.position.x", "m", Class::Measurement, Some(4))],
                &[],
                "`pose.position.x` is in group 4, but there are 0",
            ),
            (
                vec![signal("pose.position.x", "m", Class::Measurement, Some(0))],
                &["here"],
                "`pose.position.x` is in the group `here`, it belongs to `pose.position`",
            ),
            (
                vec![x.clone(), x.clone()],
                &["pose.position"],
                "the signal `pose.position.x` is declared twice",
            ),
            (
                vec![x],
                &["pose.position", "empty"],
                "the group `empty` has no signals",
            ),
            (
                vec![signal("rotor.0.thrust", "N", Class::Command, Some(0))],
                &["rotor.0"],
                "the command `rotor.0.thrust` is in a group, commands have none",
            ),
        ] {
            assert_eq!(case(signals, groups), expected);
        }
    }
}
