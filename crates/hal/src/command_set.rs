//! The commands that a vehicle takes: rotor thrusts, an attitude, angular velocities, or a trajectory point.

use crate::{Description, Error};

/// The set of commands that a backend takes, determined by the names of its [commands](Description::commands).
///
/// ```
/// use fly_hal::{CommandSet, Description};
///
/// # fn main() -> Result<(), fly_hal::Error> {
/// let description = Description::new().with_commands(CommandSet::Rates)?;
/// assert_eq!(description.command_set()?, CommandSet::Rates);
/// assert_eq!(description.command_index("command.thrust"), Some(3));
///
/// let half = Description::new().with_signal("command.thrust")?;
/// assert!(half.command_set().is_err());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandSet {
    /// The actuators: `rotor.{i}.thrust`, `rotor.{i}.tilt`, `motor.{i}.effort`; or no commands at all.
    Actuators,
    /// Attitude and collective thrust: `command.quaternion`, `command.thrust`.
    Attitude,
    /// Angular velocity and collective thrust: `command.angular_velocity`, `command.thrust`.
    Rates,
    /// A trajectory point and a heading: `command.position`, `command.velocity`, `command.acceleration`, `command.yaw`,
    /// `command.yaw_rate`.
    Trajectory,
}

impl CommandSet {
    /// The sets with fixed names: all but [`Actuators`](Self::Actuators).
    pub const SETPOINTS: [Self; 3] = [Self::Attitude, Self::Rates, Self::Trajectory];

    /// Its name in messages and configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Actuators => "actuators",
            Self::Attitude => "attitude",
            Self::Rates => "rates",
            Self::Trajectory => "trajectory",
        }
    }

    /// The names of its commands, in the order in which [`with_commands`](Description::with_commands) adds them. Empty
    /// for actuators, whose names depend on the vehicle.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Actuators => &[],
            Self::Attitude => &[
                "command.quaternion.w",
                "command.quaternion.x",
                "command.quaternion.y",
                "command.quaternion.z",
                "command.thrust",
            ],
            Self::Rates => &[
                "command.angular_velocity.x",
                "command.angular_velocity.y",
                "command.angular_velocity.z",
                "command.thrust",
            ],
            Self::Trajectory => &[
                "command.position.x",
                "command.position.y",
                "command.position.z",
                "command.velocity.x",
                "command.velocity.y",
                "command.velocity.z",
                "command.acceleration.x",
                "command.acceleration.y",
                "command.acceleration.z",
                "command.yaw",
                "command.yaw_rate",
            ],
        }
    }
}

impl Description {
    /// Adds the commands of a set, in the order of its [names](CommandSet::names).
    ///
    /// # Errors
    /// One of them exists already.
    pub fn with_commands(self, set: CommandSet) -> Result<Self, Error> {
        self.with_signals(set.names())
    }

    /// The set that the commands form.
    ///
    /// # Errors
    /// They are a mixture of sets, or an incomplete set.
    pub fn command_set(&self) -> Result<CommandSet, Error> {
        let commands = || self.commands().map(|signal| signal.name.as_str());
        let Some(first) = commands().find(|name| name.starts_with("command.")) else {
            return Ok(CommandSet::Actuators);
        };
        if let Some(actuator) = commands().find(|name| !name.starts_with("command.")) {
            return Err(Error::unsupported(format!(
                "the backend takes both `{first}` and `{actuator}`: expected setpoints or commands of actuators, not both"
            )));
        }
        let fits = |set: &CommandSet| {
            commands().count() == set.names().len()
                && commands().all(|name| set.names().contains(&name))
        };
        CommandSet::SETPOINTS.into_iter().find(fits).ok_or_else(|| {
            let found: Vec<_> = commands().map(|name| format!("`{name}`")).collect();
            let sets = CommandSet::SETPOINTS
                .map(|set| format!("{}: `{}`", set.name(), set.names().join("`, `")));
            Error::unsupported(format!(
                "the backend's commands are not a complete set: found {}",
                found.join(", ")
            ))
            .with_help(format!("the sets are {}", sets.join("; ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_is_known_by_its_names_in_any_order() {
        for set in CommandSet::SETPOINTS {
            let description = Description::new()
                .with_signals(set.names().iter().rev())
                .unwrap();
            assert_eq!(description.faults(), Vec::<String>::new());
            assert_eq!(description.command_set(), Ok(set));
        }
        let names = ["rotor.0.thrust", "rotor.0.tilt", "motor.0.effort"];
        let actuators = Description::new().with_signals(names).unwrap();
        assert_eq!(actuators.command_set(), Ok(CommandSet::Actuators));
        assert_eq!(Description::new().command_set(), Ok(CommandSet::Actuators));
    }

    #[test]
    fn mixtures_and_parts_are_refused() {
        let message = |names: &[&str]| {
            let description = Description::new().with_signals(names).unwrap();
            description.command_set().unwrap_err().message
        };
        let mixture = message(&["command.thrust", "rotor.0.thrust"]);
        assert!(
            mixture.contains("both `command.thrust` and `rotor.0.thrust`"),
            "{mixture}"
        );
        let part = message(&CommandSet::Attitude.names()[1..]);
        assert!(part.contains("not a complete set"), "{part}");
        let two = [
            CommandSet::Attitude.names(),
            &CommandSet::Rates.names()[..3],
        ]
        .concat();
        assert!(message(&two).contains("not a complete set"));
    }
}
