//! Comparison of recorded and recomputed commands.

use fly_hal::Description;
use fly_hal::signal::recorded_command;

use crate::statistics::Magnitude;

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

/// Compares a recording's commands with those that the controller computes from the recorded frames.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    commands: Vec<CommandDifference>,
    /// Number of recorded values that are not finite and therefore not compared.
    unrecorded: u64,
}

impl Comparison {
    /// Pairs each command with the frame's value `recorded.<command>`, if the backend provides it.
    pub fn new(description: &Description) -> Self {
        let pairs = description.commands().enumerate();
        let pairs = pairs.filter_map(|(index, command)| {
            let value = description.frame_signals().position(|signal| {
                recorded_command(&signal.name).is_some_and(|name| name == command.name)
            })?;
            Some(CommandDifference {
                name: command.name.clone(),
                unit: command.unit.clone(),
                difference: Magnitude::default(),
                command: index,
                value,
            })
        });
        Self {
            commands: pairs.collect(),
            unrecorded: 0,
        }
    }

    /// Compares one step: the frame's values and the commands computed from them.
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

    /// The differences of the recorded commands, in the order of the vehicle's commands.
    pub fn commands(&self) -> &[CommandDifference] {
        &self.commands
    }

    /// How many recorded values were not finite and therefore not compared.
    pub fn unrecorded(&self) -> u64 {
        self.unrecorded
    }

    /// Whether at least one value was compared and every difference was exactly 0.
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
        let signals = [
            "battery.voltage",
            "recorded.rotor.1.thrust",
            "recorded.rotor.0.thrust",
            "battery.remaining",
            "rotor.0.thrust",
            "rotor.0.tilt",
            "rotor.1.thrust",
        ];
        let description = Description::new().with_signals(signals);
        Comparison::new(&description.expect("canonical names"))
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
