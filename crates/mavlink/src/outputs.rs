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

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fly_mechanics::actuators::Inputs;
use serde::Deserialize;

/// Most outputs that an autopilot has: those of ArduPilot's larger frames.
pub const MOST_OUTPUTS: usize = 32;

/// One output as it is written. What is left out follows from the vehicle.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSettings {
    /// The command that it drives: `rotor.0.thrust`, `rotor.0.tilt`, `motor.0.effort`.
    pub command: String,
    /// The autopilot's output, from 1.
    pub channel: usize,
    /// Whether its direction is reversed.
    #[serde(default)]
    pub reversed: bool,
    /// Value at full output, N, rad, N m. Default: the limit of the command.
    pub full: Option<f64>,
    /// c above, 0 to 1. Default: the autopilot's for thrusts, 0 for others.
    pub curve: Option<f64>,
    /// Pulse width at the lowest control, µs. Default 1000.
    pub min: Option<f64>,
    /// Pulse width at full output, µs. Default 2000.
    pub max: Option<f64>,
    /// Pulse width at u = 0 of an output that drives in two directions, µs. Default: half way.
    pub trim: Option<f64>,
}

/// Why a channel map is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutputError(pub String);

/// One output, and how it drives its actuator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// Channel, from 0.
    channel: usize,
    /// Whether u is -1 to 1.
    two_sided: bool,
    reversed: bool,
    full: f64,
    curve: f64,
    /// µs: lowest, u = 0, full.
    pulse: [f64; 3],
    limits: [f64; 2],
}

/// The outputs of all commands, in the order of the commands.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMap {
    outputs: Vec<Output>,
    /// Notes for the user.
    notes: Vec<String>,
}

/// An autopilot whose usual outputs are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autopilot {
    /// PX4.
    Px4,
    /// ArduPilot.
    Ardupilot,
}

impl Autopilot {
    /// The autopilot's default curve of thrusts: `THR_MDL_FAC`, `MOT_THST_EXPO`.
    pub fn curve(self) -> f64 {
        match self {
            Self::Px4 => 0.0,
            Self::Ardupilot => 0.65,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Px4 => "PX4",
            Self::Ardupilot => "ArduPilot",
        }
    }
}

/// Motors 1 to 4 of both autopilots: the angle to the right of the nose, degrees, and whether the rotor turns counter-clockwise seen from above.
const LAYOUTS: [(&str, [(f64, bool); 4]); 2] = [
    (
        "X",
        [(45.0, true), (-135.0, true), (-45.0, false), (135.0, false)],
    ),
    (
        "plus",
        [(90.0, true), (-90.0, true), (0.0, false), (180.0, false)],
    ),
];

/// Largest angle between a rotor and its place in a layout, degrees.
const TOLERANCE: f64 = 20.0;

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

/// # A single actuator
///
/// A *part* is a fraction of full output in the model's convention: 0 to 1, or -1 to 1 for an actuator that drives in
/// two directions. Parts beyond the limits of the command are clamped to them.
impl Output {
    /// The autopilot's output, from 1.
    pub fn channel(&self) -> usize {
        self.channel + 1
    }

    /// Whether it drives in two directions, as a tilt does.
    pub fn is_two_sided(&self) -> bool {
        self.two_sided
    }

    /// Whether it drives in the opposite direction.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Smallest and largest value of the command: N, rad, N m.
    pub fn limits(&self) -> [f64; 2] {
        self.limits
    }

    /// The part clamped to the limits.
    pub fn within_limits(&self, part: f64) -> f64 {
        // Every actuator may be at rest.
        let [low, high] = self.limits;
        let part = if part.is_finite() { part } else { 0.0 };
        let part = part.clamp(self.part(low.min(0.0)), self.part(high.max(0.0)));
        part.clamp(self.lowest(), 1.0)
    }

    /// The autopilot's control of a part: 0 to 1, or -1 to 1.
    pub fn control_of_part(&self, part: f64) -> f64 {
        self.turned(self.within_limits(part))
    }

    /// Pulse width of a part, µs.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 500 to 2500
    pub fn pulse_of_part(&self, part: f64) -> u16 {
        self.pulse_of_control(self.control_of_part(part)).round() as u16
    }

    /// Value of a part, from the curve: N, rad, N m.
    pub fn value_of_part(&self, part: f64) -> f64 {
        let (c, part) = (self.curve, self.within_limits(part));
        self.full * part * (1.0 - c + c * part.abs())
    }
}

impl Output {
    fn new(settings: &OutputSettings, limits: [f64; 2], usual: f64) -> Result<Self, OutputError> {
        let name = &settings.command;
        let fail = |what: String| Err(OutputError(format!("the output of `{name}`: {what}")));
        if !(1..=MOST_OUTPUTS).contains(&settings.channel) {
            return fail(format!(
                "`channel` is {}, expected 1 to {MOST_OUTPUTS}",
                settings.channel
            ));
        }
        let is_thrust = name.ends_with(".thrust");
        let curve = settings
            .curve
            .unwrap_or(if is_thrust { usual } else { 0.0 });
        if !(0.0..=1.0).contains(&curve) {
            return fail(format!("`curve` is {curve}, expected 0 to 1"));
        }
        let most = limits[0].abs().max(limits[1].abs());
        let full = settings.full.unwrap_or(most);
        if !(full > 0.0 && full.is_finite()) {
            return fail(match settings.full {
                Some(full) => format!("`full` is {full}, expected more than 0"),
                None => "it has no limit: set `full` to its value at full output".to_owned(),
            });
        }
        let two_sided = !is_thrust || limits[0] < 0.0;
        let (min, max) = (
            settings.min.unwrap_or(1000.0),
            settings.max.unwrap_or(2000.0),
        );
        let middle = if two_sided {
            f64::midpoint(min, max)
        } else {
            min
        };
        let trim = settings.trim.unwrap_or(middle);
        let in_range = [min, trim, max]
            .iter()
            .all(|p| (500.0..=2500.0).contains(p));
        if !in_range || min >= max || trim < min || trim >= max || (two_sided && trim <= min) {
            return fail(format!(
                "`min`, `trim`, `max` are {min}, {trim}, {max} µs, expected rising numbers from 500 to 2500"
            ));
        }
        Ok(Self {
            channel: settings.channel - 1,
            two_sided,
            reversed: settings.reversed,
            full,
            curve,
            pulse: [min, if two_sided { trim } else { min }, max],
            limits,
        })
    }

    fn turned(&self, u: f64) -> f64 {
        match (self.reversed, self.two_sided) {
            (false, _) => u,
            (true, true) => -u,
            (true, false) => 1.0 - u,
        }
    }

    fn lowest(&self) -> f64 {
        if self.two_sided { -1.0 } else { 0.0 }
    }

    fn value(&self, control: f64) -> f64 {
        let u = if control.is_finite() {
            self.turned(control.clamp(self.lowest(), 1.0))
        } else {
            // At rest, whatever its direction.
            0.0
        };
        let (c, size) = (self.curve, u.abs());
        let value = self.full * u.signum() * size * (1.0 - c + c * size);
        value.clamp(self.limits[0], self.limits[1])
    }

    fn control(&self, value: f64) -> f64 {
        self.turned(self.part(value).clamp(self.lowest(), 1.0))
    }

    /// The u of a value before reversal, -1 to 1.
    fn part(&self, value: f64) -> f64 {
        let wanted = (value.abs() / self.full).min(1.0);
        let c = self.curve;
        // The root of c u² + (1 - c) u = wanted in a form that holds at c = 0.
        let linear = 1.0 - c;
        let size = if wanted == 0.0 {
            0.0
        } else {
            2.0 * wanted / (linear + (linear * linear + 4.0 * c * wanted).sqrt())
        };
        size * value.signum()
    }

    fn control_of_pulse(&self, pulse: f64) -> f64 {
        let [min, zero, max] = self.pulse;
        if pulse >= zero {
            (pulse - zero) / (max - zero)
        } else if self.two_sided {
            (pulse - zero) / (zero - min)
        } else {
            0.0
        }
    }

    fn pulse_of_control(&self, control: f64) -> f64 {
        let [min, zero, max] = self.pulse;
        let pulse = if control >= 0.0 {
            zero + control * (max - zero)
        } else {
            zero + control * (zero - min)
        };
        pulse.clamp(min, max)
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

/// The default channels of the commands, from 0.
fn numbered(inputs: &Inputs, autopilot: Autopilot, notes: &mut Vec<String>) -> Vec<usize> {
    let rotors = inputs.rotors().as_slice();
    if let Some((layout, channels, wrong)) = layout(inputs) {
        // ArduPilot has a plus layout in which all rotors turn the opposite way.
        let reversed =
            autopilot == Autopilot::Ardupilot && layout == "plus" && wrong.len() == rotors.len();
        let turning = match wrong.as_slice() {
            _ if reversed => String::new(),
            [] => String::new(),
            [one] => format!(", but `{one}` turns the other way round"),
            several => format!(", but `{}` turn the other way round", several.join("`, `")),
        };
        let told = match autopilot {
            // Its usual quad X.
            _ if layout == "X" && wrong.is_empty() => return channels,
            Autopilot::Px4 => format!("; PX4 has to know {}", geometry(inputs, &channels)),
            Autopilot::Ardupilot if layout == "X" => "; FRAME_TYPE is 1".to_owned(),
            Autopilot::Ardupilot if reversed => "; FRAME_TYPE is 6".to_owned(),
            Autopilot::Ardupilot => "; FRAME_TYPE is 0".to_owned(),
        };
        let name = autopilot.name();
        notes.push(format!(
            "the rotors stand as in {name}'s quad {layout}{turning}{told}"
        ));
        return channels;
    }
    let names = inputs.command_names();
    let thrusts = names.iter().filter(|name| name.ends_with(".thrust"));
    let mut next = [0, thrusts.count()];
    let channels: Vec<usize> = (names.iter())
        .map(|name| {
            let kind = usize::from(!name.ends_with(".thrust"));
            next[kind] += 1;
            next[kind] - 1
        })
        .collect();
    let listed: Vec<String> = (names.iter().zip(&channels))
        .map(|(name, channel)| format!("{} {name}", channel + 1))
        .collect();
    let mut note = format!(
        "the vehicle is no quad X or plus: its outputs are numbered in order ({})",
        listed.join(", ")
    );
    if autopilot == Autopilot::Px4 && !rotors.is_empty() {
        let thrusts = names.iter().zip(&channels);
        let thrusts = thrusts.filter(|(name, _)| name.ends_with(".thrust"));
        let thrusts: Vec<usize> = thrusts.map(|(_, channel)| *channel).collect();
        let _ = write!(note, "; PX4 has to know {}", geometry(inputs, &thrusts));
    }
    notes.push(note);
    channels
}

/// The layout of four fixed rotors, the channel of each, and those that turn the opposite way; `None` if they are
/// arranged differently.
fn layout(inputs: &Inputs) -> Option<(&'static str, Vec<usize>, Vec<String>)> {
    let rotors = inputs.rotors().as_slice();
    if rotors.len() != 4 || !inputs.motors().is_empty() || inputs.input_dim() != 4 {
        return None;
    }
    LAYOUTS.iter().find_map(|(name, places)| {
        let (mut channels, mut wrong) = (Vec::new(), Vec::new());
        for rotor in rotors {
            if rotor.axis.normalize().z < 0.9 || rotor.position.xy().norm() < 1e-3 {
                return None;
            }
            let angle = (-rotor.position.y).atan2(rotor.position.x).to_degrees();
            let channel = places
                .iter()
                .position(|(place, _)| apart(angle, *place) < TOLERANCE)?;
            if channels.contains(&channel) {
                return None;
            }
            channels.push(channel);
            // The drag of the air turns the body in the opposite direction.
            if (rotor.drag_ratio < 0.0) != places[channel].1 {
                wrong.push(rotor.name.clone());
            }
        }
        Some((*name, channels, wrong))
    })
}

/// Angle between two directions, degrees, 0 to 180.
fn apart(a: f64, b: f64) -> f64 {
    let d = (a - b).rem_euclid(360.0);
    d.min(360.0 - d)
}

/// PX4's geometry parameters for rotors with these channels, from 0.
fn geometry(inputs: &Inputs, channels: &[usize]) -> String {
    let rotors = inputs.rotors().as_slice();
    let mut numbered: Vec<_> = channels.iter().zip(rotors).collect();
    numbered.sort_by_key(|(channel, _)| **channel);
    let mut text = format!("CA_ROTOR_COUNT {}", rotors.len());
    for (i, rotor) in numbered {
        let p = rotor.position;
        let _ = write!(
            text,
            ", CA_ROTOR{i}_PX {} CA_ROTOR{i}_PY {} CA_ROTOR{i}_KM {}",
            p.x,
            0.0 - p.y,
            -rotor.drag_ratio
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_mechanics::System;

    fn system(text: &str) -> System {
        System::from_toml(text).unwrap()
    }

    fn quadcopter() -> System {
        system(include_str!("../../../configs/vehicles/quadcopter.toml"))
    }

    fn tricopter() -> System {
        system(include_str!("../../../configs/vehicles/tricopter.toml"))
    }

    fn map(system: &System, autopilot: Autopilot, given: &[OutputSettings]) -> OutputMap {
        OutputMap::new(&system.inputs, autopilot, None, given).unwrap()
    }

    /// The same quadcopter with its arms at 45 degrees and these senses: front left, rear left, rear right, front right.
    fn quad_x(signs: [f64; 4]) -> System {
        let mut text =
            "name = 'x'\n[bodies.b]\nmass = 1.0\ninertia = [0.01, 0.01, 0.02]\njoint = 'free'\n"
                .to_owned();
        for (i, (x, y)) in [(1, 1), (-1, 1), (-1, -1), (1, -1)].iter().enumerate() {
            let ratio = 0.01 * signs[i];
            let _ = write!(
                text,
                "[[rotors]]\nname = 'r{i}'\nbody = 'b'\nposition = [{}, {}, 0.0]\naxis = [0.0, 0.0, 1.0]\n\
                 drag_ratio = {ratio}\nthrust = [0.0, 5.0]\n",
                0.1 * f64::from(*x),
                0.1 * f64::from(*y)
            );
        }
        system(&text)
    }

    /// Front right and rear left turn counter-clockwise: their drag turns the body clockwise, a negative ratio.
    #[test]
    fn a_quad_x_has_the_autopilots_numbers() {
        // Ours: front left, rear left, rear right, front right. Motors: 3, 2, 4, 1.
        let map = map(&quad_x([1.0, -1.0, 1.0, -1.0]), Autopilot::Px4, &[]);
        assert_eq!(map.channels().collect::<Vec<_>>(), [3, 2, 4, 1]);
        assert_eq!(map.notes(), [""; 0]);
        let mut commands = [0.0; 4];
        map.commands_of_controls(&[0.1, 0.2, 0.3, 0.4], &mut commands);
        for (found, expected) in commands.iter().zip([1.5, 1.0, 2.0, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{commands:?}");
        }
    }

    #[test]
    fn rotors_that_turn_the_other_way_round_are_named() {
        let map = map(&quadcopter(), Autopilot::Px4, &[]);
        // Front, left, rear, right.
        assert_eq!(map.channels().collect::<Vec<_>>(), [3, 2, 4, 1]);
        let note = &map.notes()[0];
        assert!(
            note.contains("quad plus") && note.contains("`front`, `left`, `rear`, `right` turn"),
            "{note}"
        );
        assert!(
            note.contains(
                "CA_ROTOR2_PX 0.18 CA_ROTOR2_PY 0 CA_ROTOR2_KM 0.016, CA_ROTOR3_PX -0.18"
            ),
            "{note}"
        );
        let all = OutputMap::new(&quadcopter().inputs, Autopilot::Ardupilot, None, &[]);
        let note = all.unwrap().notes()[0].clone();
        assert!(note.ends_with("quad plus; FRAME_TYPE is 6"), "{note}");
        let one = OutputMap::new(
            &quad_x([1.0, -1.0, 1.0, 1.0]).inputs,
            Autopilot::Ardupilot,
            None,
            &[],
        );
        let note = one.unwrap().notes()[0].clone();
        assert!(
            note.ends_with("but `r3` turns the other way round; FRAME_TYPE is 1"),
            "{note}"
        );
    }

    #[test]
    fn other_vehicles_are_numbered_thrusts_first() {
        let map = map(&tricopter(), Autopilot::Px4, &[]);
        assert_eq!(map.channels().collect::<Vec<_>>(), [1, 4, 2, 5, 3, 6]);
        assert!(
            map.notes()[0].contains("1 rotor.0.thrust, 4 rotor.0.tilt"),
            "{}",
            map.notes()[0]
        );
        assert!(
            map.notes()[0].contains("CA_ROTOR_COUNT 3"),
            "{}",
            map.notes()[0]
        );
    }

    #[test]
    fn controls_and_pulses_come_back_for_every_curve_and_direction() {
        let (quad, tri) = (quadcopter(), tricopter());
        for curve in [0.0, 0.3, 0.65, 1.0] {
            for reversed in [false, true] {
                for system in [&quad, &tri] {
                    let names = system.inputs.command_names();
                    let given: Vec<_> = (names.iter().enumerate())
                        .map(|(i, name)| OutputSettings {
                            command: name.clone(),
                            channel: names.len() - i,
                            reversed,
                            curve: Some(curve),
                            min: Some(1100.0),
                            ..OutputSettings::default()
                        })
                        .collect();
                    let map = map(system, Autopilot::Px4, &given);
                    for part in [0.05, 0.3, 0.77, 1.0] {
                        let commands: Vec<f64> = (system.inputs.command_limits().iter())
                            .map(|[low, high]| low + part * (high - low))
                            .collect();
                        let mut back = vec![0.0; commands.len()];
                        let mut controls = [f32::NAN; 16];
                        map.controls_of_commands(&commands, &mut controls);
                        map.commands_of_controls(&controls, &mut back);
                        for (a, b) in commands.iter().zip(&back) {
                            assert!(
                                (a - b).abs() < 1e-5,
                                "{curve} {reversed} {commands:?} {back:?}"
                            );
                        }
                        let mut pulses = [0; 16];
                        map.pulses_of_commands(&commands, &mut pulses);
                        map.commands_of_pulses(&pulses, &mut back);
                        for (a, b) in commands.iter().zip(&back) {
                            // Half a microsecond of 450.
                            assert!(
                                (a - b).abs() < 0.02,
                                "{curve} {reversed} {commands:?} {back:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_curve_is_that_of_the_formula() {
        let map = OutputMap::new(
            &quad_x([1.0; 4]).inputs,
            Autopilot::Ardupilot,
            Some(0.5),
            &[],
        )
        .unwrap();
        let mut commands = [0.0; 4];
        map.commands_of_pulses(&[1500; 4], &mut commands);
        // 5 (0.5 0.5 + 0.5 0.25)
        assert!(
            commands.iter().all(|thrust| (thrust - 1.875).abs() < 1e-12),
            "{commands:?}"
        );
        map.commands_of_pulses(&[0, 1000, 3000], &mut commands);
        // Motors 3, 2, 4, 1: too far is full, no pulse and no channel are none.
        assert_eq!(commands, [5.0, 0.0, 0.0, 0.0]);
        map.commands_of_controls(&[f32::NAN, -1.0, 7.0], &mut commands);
        assert_eq!(commands, [5.0, 0.0, 0.0, 0.0]);
    }

    /// A motor whose output falls while it speeds up does not start because its autopilot has not said anything yet.
    #[test]
    fn without_an_output_a_reversed_motor_rests() {
        let inputs = &quad_x([1.0; 4]).inputs;
        let names = inputs.command_names().iter().enumerate();
        let reversed: Vec<_> = names
            .map(|(i, name)| OutputSettings {
                command: name.clone(),
                channel: i + 1,
                reversed: true,
                ..OutputSettings::default()
            })
            .collect();
        let map = OutputMap::new(inputs, Autopilot::Ardupilot, None, &reversed).unwrap();
        let mut commands = [f64::NAN; 4];
        for pulses in [&[0; 4][..], &[]] {
            map.commands_of_pulses(pulses, &mut commands);
            assert_eq!(commands, [0.0; 4], "{pulses:?}");
        }
        for controls in [&[f32::NAN; 4][..], &[]] {
            map.commands_of_controls(controls, &mut commands);
            assert_eq!(commands, [0.0; 4], "{controls:?}");
        }
        map.commands_of_pulses(&[1000; 4], &mut commands);
        assert_eq!(commands, [5.0; 4], "the least pulse is full thrust");
    }

    #[test]
    fn wrong_maps_say_what_is_wrong() {
        let quad = quadcopter();
        let output = |command: &str, channel| OutputSettings {
            command: command.to_owned(),
            channel,
            ..OutputSettings::default()
        };
        let all = |change: &dyn Fn(&mut Vec<OutputSettings>)| {
            let mut given: Vec<_> = (0..4)
                .map(|i| output(&format!("rotor.{i}.thrust"), i + 1))
                .collect();
            change(&mut given);
            OutputMap::new(&quad.inputs, Autopilot::Px4, None, &given).map(drop)
        };
        let check = |change: &dyn Fn(&mut Vec<OutputSettings>), message: &str| {
            let error = all(change).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        };
        assert_eq!(all(&|_| {}), Ok(()));
        check(
            &|all| all[0].command = "rotor.4.thrust".into(),
            "there is no command `rotor.4.thrust`; the vehicle has rotor.0.thrust",
        );
        check(
            &|all| all[0].command = "rotor.1.thrust".into(),
            "`rotor.1.thrust` has two outputs",
        );
        check(&|all| drop(all.pop()), "`rotor.3.thrust` has no output");
        check(&|all| all[0].channel = 2, "channel 2 drives two commands");
        check(
            &|all| all[0].channel = 0,
            "`channel` is 0, expected 1 to 32",
        );
        check(
            &|all| all[0].curve = Some(1.5),
            "`curve` is 1.5, expected 0 to 1",
        );
        check(
            &|all| all[0].full = Some(f64::NAN),
            "`full` is NaN, expected more than 0",
        );
        check(&|all| all[0].min = Some(2000.0), "expected rising numbers");
    }
}
