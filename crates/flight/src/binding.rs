//! Resolves signal names to indices before the flight.

use fly_hal::{CommandSet, Description, GroupStatus};

/// The indices of one group's values and status in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupBinding {
    /// Index of the group in the frame's groups.
    pub group: usize,
    /// Indices of the values in the frame, in canonical order.
    pub values: [usize; 4],
    /// Number of values, 1 to 4.
    pub length: usize,
}

/// The last component of the names of groups that are unit quaternions.
const QUATERNION: &str = "quaternion";

impl GroupBinding {
    /// The first three values of the group.
    pub fn vector(&self, values: &[f64]) -> [f64; 3] {
        [
            values[self.values[0]],
            values[self.values[1]],
            values[self.values[2]],
        ]
    }

    /// Its values in canonical order, padded with zeros.
    pub fn numbers(&self, values: &[f64]) -> [f64; 4] {
        let mut numbers = [0.0; 4];
        for (number, index) in numbers.iter_mut().zip(&self.values[..self.length]) {
            *number = values[*index];
        }
        numbers
    }

    /// The four values of a quaternion, w, x, y, z.
    pub fn quaternion(&self, values: &[f64]) -> [f64; 4] {
        self.values.map(|index| values[index])
    }

    /// Whether every value of the group is finite.
    pub fn is_finite(&self, values: &[f64]) -> bool {
        self.values[..self.length]
            .iter()
            .all(|index| values[*index].is_finite())
    }

    /// Whether its first value is true, such as `vehicle.armed`; `None` if that is unknown: the group is invalid or the
    /// value is not finite.
    pub fn flag(&self, groups: &[GroupStatus], values: &[f64]) -> Option<bool> {
        let value = values[self.values[0]];
        (groups[self.group].valid && value.is_finite()).then_some(value > 0.5)
    }
}

/// A group that is a part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateBinding {
    /// Its indices in a frame.
    pub group: GroupBinding,
    /// Whether its four values are a unit quaternion.
    pub quaternion: bool,
    /// Index of its first velocity; its length if it has none.
    pub velocity: usize,
}

impl StateBinding {
    /// A group of this name.
    pub fn new(name: &str, group: GroupBinding) -> Self {
        let quantity = name.rsplit('.').next().unwrap_or(name);
        let velocity = match quantity {
            "linear" | "angular" => 0,
            // A joint with one coordinate: its position, then its velocity.
            number if number.bytes().all(|c| c.is_ascii_digit()) => 1,
            _ => group.length,
        };
        Self {
            group,
            quaternion: quantity == QUATERNION,
            velocity,
        }
    }
}

/// Maps a backend's signals to the state and the commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The groups of the state, in the order of the state predictor.
    pub state: Vec<StateBinding>,
    /// The set that the backend's commands belong to.
    pub set: CommandSet,
    /// For each command of the backend, the index of the vehicle's command, or of the [name](CommandSet::names) of a setpoint.
    pub commands: Vec<usize>,
}

/// A backend does not fit the vehicle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// Required measurements are missing.
    #[error(
        "the backend `{backend}` does not measure {}; it offers {}",
        list(missing),
        list(offered)
    )]
    Measurements {
        /// The backend's name.
        backend: String,
        /// The missing signals.
        missing: Vec<String>,
        /// The backend's signals.
        offered: Vec<String>,
    },
    /// The backend does not take some commands of the vehicle.
    #[error(
        "the backend `{backend}` does not take {}, which the vehicle is controlled by; it takes {}",
        list(missing),
        list(offered)
    )]
    Commands {
        /// The backend's name.
        backend: String,
        /// The missing commands.
        missing: Vec<String>,
        /// The commands that the backend takes.
        offered: Vec<String>,
    },
    /// The backend has commands that the vehicle does not have.
    #[error(
        "the backend `{backend}` expects {}, which the vehicle does not have; it has {}",
        list(unknown),
        list(vehicle)
    )]
    UnknownCommands {
        /// The backend's name.
        backend: String,
        /// Commands that the vehicle does not have.
        unknown: Vec<String>,
        /// The vehicle's commands.
        vehicle: Vec<String>,
    },
    /// The backend's commands do not form one set of setpoints.
    #[error("{message}; {help}", help = help.as_deref().unwrap_or("expected one kind of them"))]
    NoSet {
        /// What is wrong.
        message: String,
        /// What a set is.
        help: Option<String>,
    },
}

impl Binding {
    /// Binds a backend's signals to the state's groups, and its commands to the vehicle's `commands` or to a set of
    /// setpoints.
    ///
    /// # Errors
    /// A measurement or a command is missing, the backend expects a command that the vehicle does not have, or its
    /// commands are a mixture of sets.
    pub fn new(
        backend: &str,
        description: &Description,
        groups: &[String],
        commands: &[String],
    ) -> Result<Self, BindingError> {
        let state = state(backend, description, groups)?;
        let offered: Vec<String> = description
            .commands()
            .map(|signal| signal.name.clone())
            .collect();
        let set = description
            .command_set()
            .map_err(|error| BindingError::NoSet {
                message: format!("`{backend}`: {}", error.message),
                help: error.help,
            })?;
        if set != CommandSet::Actuators {
            let names = set.names();
            let place = |name: &String| names.iter().position(|known| known == name);
            return Ok(Self {
                state,
                set,
                commands: offered.iter().filter_map(place).collect(),
            });
        }
        let lacks = |of: &[String], from: &[String]| -> Vec<String> {
            of.iter()
                .filter(|name| !from.contains(name))
                .cloned()
                .collect()
        };
        let missing = lacks(commands, &offered);
        if !missing.is_empty() {
            return Err(BindingError::Commands {
                backend: backend.to_owned(),
                missing,
                offered,
            });
        }
        let unknown = lacks(&offered, commands);
        if !unknown.is_empty() {
            return Err(BindingError::UnknownCommands {
                backend: backend.to_owned(),
                unknown,
                vehicle: commands.to_vec(),
            });
        }
        let commands = offered
            .iter()
            .filter_map(|name| commands.iter().position(|command| command == name))
            .collect();
        Ok(Self {
            state,
            set,
            commands,
        })
    }

    /// Puts the vehicle's commands, or setpoints, into the backend's order.
    pub fn order_commands(&self, commands: &[f64], ordered: &mut [f64]) {
        for (to, from) in ordered.iter_mut().zip(&self.commands) {
            *to = commands[*from];
        }
    }
}

fn state(
    backend: &str,
    description: &Description,
    groups: &[String],
) -> Result<Vec<StateBinding>, BindingError> {
    let bound: Option<Vec<_>> = groups
        .iter()
        .map(|name| Some(StateBinding::new(name, bind(description, name)?)))
        .collect();
    bound.ok_or_else(|| BindingError::Measurements {
        backend: backend.to_owned(),
        missing: groups
            .iter()
            .flat_map(|group| fly_hal::signal::group_names(group))
            .filter(|name| description.value_index(name).is_none())
            .collect(),
        offered: description
            .frame_signals()
            .map(|signal| signal.name.clone())
            .collect(),
    })
}

/// Binds a canonical group; `None` unless the backend has all of its signals.
pub fn bind(description: &Description, group: &str) -> Option<GroupBinding> {
    let mut binding = GroupBinding {
        group: description.find_group(group)?,
        values: [0; 4],
        length: 0,
    };
    for (place, name) in binding
        .values
        .iter_mut()
        .zip(fly_hal::signal::group_names(group))
    {
        *place = description.value_index(&name)?;
        binding.length += 1;
    }
    Some(binding)
}

/// Binds one value of a canonical group; `None` unless the backend has it.
pub fn bind_part(description: &Description, group: &str, component: &str) -> Option<GroupBinding> {
    let value = description.value_index(&format!("{group}.{component}"))?;
    Some(GroupBinding {
        group: description.find_group(group)?,
        values: [value, 0, 0, 0],
        length: 1,
    })
}

/// "`a`, `b`", or "nothing" for an empty list.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vehicle() -> Vec<String> {
        ["rotor.0.thrust", "rotor.0.tilt", "rotor.1.thrust"]
            .map(str::to_owned)
            .to_vec()
    }

    /// The groups that measure the state of one body.
    fn body() -> [String; 4] {
        [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .map(str::to_owned)
    }

    fn describe(groups: &[&str], signals: &[&str]) -> Description {
        let description = groups
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            });
        description
            .and_then(|description| description.with_signals(signals))
            .expect("canonical names")
    }

    #[test]
    fn values_are_found_by_name_in_any_order() {
        let description = describe(
            &[
                "battery",
                "twist.angular",
                "pose.quaternion",
                "twist.linear",
                "pose.position",
            ],
            &["rotor.1.thrust", "rotor.0.thrust", "rotor.0.tilt"],
        );
        let binding =
            Binding::new("test", &description, &body(), &vehicle()).expect("everything is there");
        let values: Vec<f64> = (0..15).map(f64::from).collect();
        let numbers = [
            [12.0, 13.0, 14.0, 0.0],
            [5.0, 6.0, 7.0, 8.0],
            [9.0, 10.0, 11.0, 0.0],
            [2.0, 3.0, 4.0, 0.0],
        ];
        for ((state, numbers), group) in binding.state.iter().zip(numbers).zip([4, 2, 3, 1]) {
            assert_eq!(state.group.numbers(&values), numbers);
            assert_eq!(state.group.group, group);
            assert_eq!(state.quaternion, group == 2);
        }

        let mut ordered = [0.0; 3];
        binding.order_commands(&[10.0, 20.0, 30.0], &mut ordered);
        assert_eq!(ordered, [30.0, 10.0, 20.0]);
    }

    #[test]
    fn joints_are_bound_by_their_numbers() {
        let groups = ["joint.1", "joint.0.quaternion"];
        let description = describe(&groups, &["motor.0.effort"]);
        let asked = ["joint.0.quaternion", "joint.1"].map(str::to_owned);
        let commands = ["motor.0.effort".to_owned()];
        let binding = Binding::new("test", &description, &asked, &commands).expect("complete");
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        assert_eq!(
            binding.state[0].group.numbers(&values),
            [2.0, 3.0, 4.0, 5.0]
        );
        assert!(binding.state[0].quaternion);
        assert_eq!(
            binding.state[1].group.numbers(&values),
            [0.0, 1.0, 0.0, 0.0]
        );
        let asked = ["joint.2".to_owned()];
        let error = Binding::new("test", &description, &asked, &commands).expect_err("no joint 2");
        assert!(
            error.to_string().starts_with(
                "the backend `test` does not measure `joint.2.position`, `joint.2.velocity`;"
            ),
            "{error}"
        );
    }

    #[test]
    fn setpoints_are_bound_in_any_order() {
        let names: Vec<&str> = (CommandSet::Rates.names().iter().rev().copied()).collect();
        let description = describe(&body().each_ref().map(String::as_str), &names);
        let binding = Binding::new("test", &description, &body(), &vehicle()).expect("rates");
        assert_eq!(binding.set, CommandSet::Rates);
        let mut ordered = [0.0; 4];
        binding.order_commands(&[1.0, 2.0, 3.0, 9.0], &mut ordered);
        assert_eq!(ordered, [9.0, 3.0, 2.0, 1.0]);
    }

    #[test]
    fn half_a_set_and_a_mixture_are_refused() {
        let check = |signals: &[&str], expected: &str| {
            let description = describe(&body().each_ref().map(String::as_str), signals);
            let error = Binding::new("radio", &description, &body(), &vehicle());
            let error = error.expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        };
        check(
            &["command.thrust", "command.angular_velocity.x"],
            "`radio`: the backend's commands are not a complete set: found `command.thrust`, `command.angular_velocity.x`; the sets are attitude: ",
        );
        check(
            &["rotor.0.thrust", "command.thrust"],
            "`radio`: the backend takes both `command.thrust` and `rotor.0.thrust`",
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let all = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ];
        let check = |groups: &[&str], signals: &[&str], expected: &str| {
            let error = Binding::new("radio", &describe(groups, signals), &body(), &vehicle())
                .expect_err(expected);
            assert_eq!(error.to_string(), expected);
        };
        check(
            &all[1..3],
            &["twist.angular.x"],
            "the backend `radio` does not measure `pose.position.x`, `pose.position.y`, `pose.position.z`, `twist.angular.y`, \
             `twist.angular.z`; it offers `pose.quaternion.w`, `pose.quaternion.x`, `pose.quaternion.y`, `pose.quaternion.z`, \
             `twist.linear.x`, `twist.linear.y`, `twist.linear.z`, `twist.angular.x`",
        );
        check(
            &all,
            &["rotor.0.thrust"],
            "the backend `radio` does not take `rotor.0.tilt`, `rotor.1.thrust`, which the vehicle is controlled by; it takes \
             `rotor.0.thrust`",
        );
        check(
            &all,
            &[
                "rotor.0.thrust",
                "rotor.0.tilt",
                "rotor.1.thrust",
                "rotor.2.thrust",
            ],
            "the backend `radio` expects `rotor.2.thrust`, which the vehicle does not have; it has `rotor.0.thrust`, \
             `rotor.0.tilt`, `rotor.1.thrust`",
        );
    }
}
