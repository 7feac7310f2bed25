//! Which output of an autopilot drives which actuator, and how: between commands (N, rad, N m) and what autopilots send.
//!
//! An output carries a control u, 0 to 1 where it drives in one direction and -1 to 1 where it drives in two, or a pulse width. With `full`
//! the actuator's value at u = 1 and c the `curve`,
//!
//! ```text
//! value = full sign(u) ((1 - c) |u| + c u²)
//! ```
//!
//! c is what PX4 calls `THR_MDL_FAC` and ArduPilot `MOT_THST_EXPO`: 0, thrust grows with the output; 1, with its square.

mod numbering;
mod output;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fly_mechanics::actuators::Inputs;

pub use self::numbering::Autopilot;
use self::numbering::numbered;
pub(crate) use self::output::command_of;
pub use self::output::{MOST_OUTPUTS, Output, OutputError, OutputSettings};

/// The outputs of all commands, in the order of the commands.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMap {
    outputs: Vec<Output>,
    /// Notes for the user.
    notes: Vec<String>,
}

impl OutputMap {
    /// The map of a vehicle's commands: as `given` or, if nothing is given, according to the autopilot's motor numbers.
    /// `curve` applies to thrusts whose output does not specify one.
    ///
    /// Four fixed rotors in an X or plus layout get the outputs of that layout. The commands of any other vehicle get
    /// outputs in order, thrusts first.
    ///
    /// # Errors
    /// An output for no command or for one that already has one, two commands for one channel, a command without an
    /// output, or numbers out of range.
    pub fn new(
        inputs: &Inputs,
        autopilot: Autopilot,
        curve: Option<f64>,
        given: &[OutputSettings],
    ) -> Result<Self, OutputError> {
        let names = inputs.command_names();
        let usual = curve.unwrap_or(autopilot.curve());
        let mut notes = Vec::new();
        let settings: Vec<OutputSettings> = if given.is_empty() {
            let channels = numbered(inputs, autopilot, &mut notes);
            (names.iter().zip(channels))
                .map(|(name, channel)| OutputSettings {
                    command: name.clone(),
                    channel: channel + 1,
                    ..OutputSettings::default()
                })
                .collect()
        } else {
            in_order(names, given)?
        };
        let mut taken = BTreeSet::new();
        let mut outputs = Vec::with_capacity(names.len());
        for (settings, limits) in settings.iter().zip(inputs.command_limits()) {
            if !taken.insert(settings.channel) {
                return Err(OutputError(format!(
                    "channel {} drives two commands, one of them `{}`",
                    settings.channel, settings.command
                )));
            }
            let most = autopilot.most_outputs();
            if !(1..=most).contains(&settings.channel) {
                let name = autopilot.name();
                return Err(OutputError(format!(
                    "the output of `{}`: `channel` is {}, expected 1 to {most}, the outputs of {name}",
                    settings.command, settings.channel
                )));
            }
            outputs.push(Output::new(settings, *limits, usual)?);
        }
        Ok(Self { outputs, notes })
    }

    /// Notes for the user: rotors that turn opposite to the autopilot's convention, and outputs that were numbered in
    /// order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The channel of each command, from 1.
    pub fn channels(&self) -> impl Iterator<Item = usize> + '_ {
        self.outputs.iter().map(|output| output.channel + 1)
    }

    /// The outputs, in the order of the commands.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The commands for these controls (HIL: 0 to 1, -1 to 1), within the vehicle's limits. Where a control is missing or
    /// not finite, the actuator is at rest.
    pub fn commands_of_controls(&self, controls: &[f32], commands: &mut [f64]) {
        for (output, command) in self.outputs.iter().zip(commands) {
            let control = controls
                .get(output.channel)
                .map_or(f64::NAN, |u| f64::from(*u));
            *command = output.value(control);
        }
    }

    /// The controls for these commands; other controls are unchanged.
    pub fn controls_of_commands(&self, commands: &[f64], controls: &mut [f32]) {
        for (output, command) in self.outputs.iter().zip(commands) {
            if let Some(control) = controls.get_mut(output.channel) {
                #[allow(clippy::cast_possible_truncation)] // controls are f32 on the wire
                let narrow = output.control(*command) as f32;
                *control = narrow;
            }
        }
    }

    /// The commands for these pulse widths, µs, within the vehicle's limits. Without a pulse (0, or missing) the actuator
    /// is at rest.
    pub fn commands_of_pulses(&self, pulses: &[u16], commands: &mut [f64]) {
        for (output, command) in self.outputs.iter().zip(commands) {
            let pulse = pulses.get(output.channel).copied().unwrap_or(0);
            let control = if pulse == 0 {
                f64::NAN
            } else {
                output.control_of_pulse(f64::from(pulse))
            };
            *command = output.value(control);
        }
    }

    /// The pulse widths for these commands, µs; others are unchanged.
    pub fn pulses_of_commands(&self, commands: &[f64], pulses: &mut [u16]) {
        for (output, command) in self.outputs.iter().zip(commands) {
            if let Some(pulse) = pulses.get_mut(output.channel) {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 500 to 2500
                let width = output.pulse_of_control(output.control(*command)).round() as u16;
                *pulse = width;
            }
        }
    }
}

/// The given outputs, in the order of the commands.
fn in_order(
    names: &[String],
    given: &[OutputSettings],
) -> Result<Vec<OutputSettings>, OutputError> {
    for (index, output) in given.iter().enumerate() {
        if !names.contains(&output.command) {
            return Err(OutputError(format!(
                "there is no command `{}`; the vehicle has {}",
                output.command,
                names.join(", ")
            )));
        }
        if given[..index]
            .iter()
            .any(|other| other.command == output.command)
        {
            return Err(OutputError(format!("`{}` has two outputs", output.command)));
        }
    }
    (names.iter())
        .map(|name| {
            let found = given.iter().find(|output| output.command == *name);
            found
                .cloned()
                .ok_or_else(|| OutputError(format!("`{name}` has no output")))
        })
        .collect()
}
