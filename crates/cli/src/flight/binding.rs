//! From signal names to places in slices, once, before the flight.

use fly_hal::Description;

/// The groups that make up the state of the vehicle, in the order of [`Binding::state`].
pub const STATE_GROUPS: [&str; 4] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
];
/// Index of `pose.position` in [`STATE_GROUPS`].
pub const POSITION: usize = 0;
/// Index of `pose.quaternion` in [`STATE_GROUPS`].
pub const QUATERNION: usize = 1;
/// Index of `twist.linear` in [`STATE_GROUPS`].
pub const LINEAR: usize = 2;
/// Index of `twist.angular` in [`STATE_GROUPS`].
pub const ANGULAR: usize = 3;

/// Where a frame carries one group: the places of its values and of its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupBinding {
    /// Index of the group in the frame's groups.
    pub group: usize,
    /// Indices of the values in the frame, in canonical order.
    pub values: [usize; 4],
    /// How many of these there are: 3 or 4.
    pub length: usize,
}

impl GroupBinding {
    /// The first three numbers of the group.
    pub fn vector(&self, values: &[f64]) -> [f64; 3] {
        [
            values[self.values[0]],
            values[self.values[1]],
            values[self.values[2]],
        ]
    }

    /// The four numbers of a quaternion.
    pub fn quaternion(&self, values: &[f64]) -> [f64; 4] {
        self.values.map(|index| values[index])
    }

    /// Whether every number of the group is finite.
    pub fn is_finite(&self, values: &[f64]) -> bool {
        self.values[..self.length]
            .iter()
            .all(|index| values[*index].is_finite())
    }
}

/// Which signals of a backend carry the state, the commands and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The four groups of the state, in the order of [`STATE_GROUPS`].
    pub state: [GroupBinding; 4],
    /// For each command of the backend, the vehicle's command that it is.
    pub commands: Vec<usize>,
}

/// A backend does not fit the vehicle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// Measurements that the controller needs are missing.
    #[error(
        "the backend `{backend}` does not measure {}; it offers {}",
        list(missing),
        list(offered)
    )]
    Measurements {
        /// The backend's name.
        backend: String,
        /// Signals that are missing.
        missing: Vec<String>,
        /// Measured signals that are there.
        offered: Vec<String>,
    },
    /// Commands of the vehicle that the backend does not take.
    #[error(
        "the backend `{backend}` does not take {}, which the vehicle is controlled by; it takes {}",
        list(missing),
        list(offered)
    )]
    Commands {
        /// The backend's name.
        backend: String,
        /// Commands that are missing.
        missing: Vec<String>,
        /// Commands that the backend takes.
        offered: Vec<String>,
    },
    /// Commands of the backend that the vehicle does not have.
    #[error(
        "the backend `{backend}` wants {}, which the vehicle does not have; it has {}",
        list(unknown),
        list(vehicle)
    )]
    UnknownCommands {
        /// The backend's name.
        backend: String,
        /// Commands that the vehicle has not.
        unknown: Vec<String>,
        /// The vehicle's commands.
        vehicle: Vec<String>,
    },
}

impl Binding {
    /// Finds the state's signals and the vehicle's `commands` among those of a backend.
    ///
    /// # Errors
    /// A measurement or a command is missing, or the backend wants a command that the vehicle does not have.
    pub fn new(
        backend: &str,
        description: &Description,
        commands: &[String],
    ) -> Result<Self, BindingError> {
        let state = state(backend, description)?;
        let offered: Vec<String> = description
            .commands()
            .map(|signal| signal.name.clone())
            .collect();
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
        Ok(Self { state, commands })
    }

    /// Puts the vehicle's commands into the backend's order.
    pub fn order_commands(&self, commands: &[f64], ordered: &mut [f64]) {
        for (to, from) in ordered.iter_mut().zip(&self.commands) {
            *to = commands[*from];
        }
    }
}

fn state(backend: &str, description: &Description) -> Result<[GroupBinding; 4], BindingError> {
    let bound = STATE_GROUPS.map(|group| bind(description, group));
    if let [
        Some(position),
        Some(quaternion),
        Some(linear),
        Some(angular),
    ] = bound
    {
        return Ok([position, quaternion, linear, angular]);
    }
    let missing = STATE_GROUPS
        .iter()
        .flat_map(|group| fly_hal::signal::group_names(group))
        .filter(|name| description.value_index(name).is_none())
        .collect();
    let offered = description
        .frame_signals()
        .map(|signal| signal.name.clone())
        .collect();
    Err(BindingError::Measurements {
        backend: backend.to_owned(),
        missing,
        offered,
    })
}

/// The binding of a canonical group; `None` unless all of it is there.
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

/// "`a`, `b`"; "nothing" when there is none.
fn list(names: &[String]) -> String {
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
        let binding = Binding::new("test", &description, &vehicle()).expect("everything is there");
        let values: Vec<f64> = (0..15).map(f64::from).collect();
        assert_eq!(binding.state[POSITION].vector(&values), [12.0, 13.0, 14.0]);
        assert_eq!(
            binding.state[QUATERNION].quaternion(&values),
            [5.0, 6.0, 7.0, 8.0]
        );
        assert_eq!(binding.state[LINEAR].vector(&values), [9.0, 10.0, 11.0]);
        assert_eq!(binding.state[ANGULAR].vector(&values), [2.0, 3.0, 4.0]);
        assert_eq!(binding.state.map(|state| state.group), [4, 2, 3, 1]);

        let mut ordered = [0.0; 3];
        binding.order_commands(&[10.0, 20.0, 30.0], &mut ordered);
        assert_eq!(ordered, [30.0, 10.0, 20.0]);
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
            let error =
                Binding::new("radio", &describe(groups, signals), &vehicle()).expect_err(expected);
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
            "the backend `radio` wants `rotor.2.thrust`, which the vehicle does not have; it has `rotor.0.thrust`, \
             `rotor.0.tilt`, `rotor.1.thrust`",
        );
    }
}
