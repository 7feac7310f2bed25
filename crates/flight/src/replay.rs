//! Recorded against recomputed commands.

use crate::statistics::Magnitude;

/// Prefix of the auxiliary signals that carry the commands of a recorded flight.
pub const RECORDED: &str = "recorded.";

/// The difference of one command over a flight.
#[derive(Debug, Clone)]
pub struct CommandDifference {
    /// The command's canonical name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Recorded minus recomputed.
    pub difference: Magnitude,
    command: usize,
    value: usize,
}

/// Compares the commands of a recording with those the controller computes from the recorded frames.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    commands: Vec<CommandDifference>,
    /// Values of the recording that are not finite: nothing to compare with.
    unrecorded: u64,
}

impl Comparison {
    /// Pairs each command (name, unit; in the order of the commands) with the frame value named `recorded.<command>`, where the
    /// backend has one. `value_names` are the names of a frame's values in order.
    pub fn new<'a>(
        commands: impl IntoIterator<Item = (&'a str, &'a str)>,
        value_names: &[&str],
    ) -> Self {
        let pairs = commands
            .into_iter()
            .enumerate()
            .filter_map(|(command, (name, unit))| {
                let value = value_names
                    .iter()
                    .position(|value| value.strip_prefix(RECORDED) == Some(name))?;
                Some(CommandDifference {
                    name: name.to_owned(),
                    unit: unit.to_owned(),
                    difference: Magnitude::default(),
                    command,
                    value,
                })
            });
        Self {
            commands: pairs.collect(),
            unrecorded: 0,
        }
    }

    /// Compares one step: the frame's values and the commands that were computed from them.
    pub fn record(&mut self, values: &[f64], commands: &[f64]) {
        for pair in &mut self.commands {
            let recorded = values[pair.value];
            if recorded.is_finite() {
                pair.difference.record(recorded - commands[pair.command]);
            } else {
                self.unrecorded += 1;
            }
        }
    }

    /// The commands that the backend has recorded, in the order of the vehicle's commands.
    pub fn commands(&self) -> &[CommandDifference] {
        &self.commands
    }

    /// How many recorded values were not finite and therefore not compared.
    pub fn unrecorded(&self) -> u64 {
        self.unrecorded
    }

    /// Whether something was compared and every difference was exactly 0.
    pub fn exactly_equal(&self) -> bool {
        self.commands.iter().any(|pair| pair.difference.count() > 0)
            && self
                .commands
                .iter()
                .all(|pair| pair.difference.max() == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let commands = [
            ("rotor.0.thrust", "N"),
            ("rotor.0.tilt", "rad"),
            ("rotor.1.thrust", "N"),
        ];
        Comparison::new(
            commands,
            &[
                "pose.position.x",
                "recorded.rotor.1.thrust",
                "recorded.rotor.0.thrust",
                "rotor.0.tilt",
            ],
        )
    }

    #[test]
    fn commands_are_paired_by_name() {
        let mut comparison = comparison();
        comparison.record(&[7.0, 2.0, 1.0, 9.0], &[1.5, 0.0, 2.0]);
        comparison.record(&[7.0, 2.0, 1.0, 9.0], &[1.0, 0.0, 5.0]);
        let rows: Vec<_> = comparison
            .commands()
            .iter()
            .map(|pair| {
                (
                    pair.name.as_str(),
                    pair.difference.max(),
                    pair.difference.rms(),
                    pair.difference.count(),
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("rotor.0.thrust", 0.5, 0.125_f64.sqrt(), 2),
                ("rotor.1.thrust", 3.0, 4.5_f64.sqrt(), 2)
            ]
        );
        assert!(!comparison.exactly_equal());
    }

    #[test]
    fn exactly_equal_means_that_something_was_compared() {
        let mut comparison = comparison();
        assert!(!comparison.exactly_equal());
        comparison.record(&[0.0, f64::NAN, f64::NAN, 0.0], &[1.0, 0.0, 2.0]);
        assert!(!comparison.exactly_equal());
        assert_eq!(comparison.unrecorded(), 2);
        comparison.record(&[0.0, 2.0, 1.0, 0.0], &[1.0, 0.0, 2.0]);
        assert!(comparison.exactly_equal());
    }

    #[test]
    fn a_recomputed_command_that_is_not_a_number_is_not_equal() {
        let mut comparison = comparison();
        comparison.record(&[0.0, 2.0, 1.0, 0.0], &[f64::NAN, 0.0, 2.0]);
        assert!(!comparison.exactly_equal());
    }
}
