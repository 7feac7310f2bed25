//! The outputs that autopilots usually give to the actuators of a vehicle.

use std::fmt::Write as _;

use fly_mechanics::actuators::Inputs;

use super::MOST_OUTPUTS;

/// The make of an autopilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autopilot {
    /// PX4.
    Px4,
    /// ArduPilot.
    ArduPilot,
}

impl Autopilot {
    /// The autopilot's default curve of thrusts: `THR_MDL_FAC`, `MOT_THST_EXPO`.
    pub fn curve(self) -> f64 {
        match self {
            Self::Px4 => 0.0,
            Self::ArduPilot => 0.65,
        }
    }

    /// The most outputs that it has: `HIL_ACTUATOR_CONTROLS` has 16, the frames of `ArduPilot` up to 32.
    pub(super) fn most_outputs(self) -> usize {
        match self {
            Self::Px4 => 16,
            Self::ArduPilot => MOST_OUTPUTS,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Px4 => "PX4",
            Self::ArduPilot => "ArduPilot",
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
/// The default channels of the commands, from 0.
pub(super) fn numbered(
    inputs: &Inputs,
    autopilot: Autopilot,
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let rotors = inputs.rotors().as_slice();
    if let Some((layout, channels, wrong)) = layout(inputs) {
        // ArduPilot has a plus layout in which all rotors turn the opposite way.
        let reversed =
            autopilot == Autopilot::ArduPilot && layout == "plus" && wrong.len() == rotors.len();
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
            Autopilot::ArduPilot if layout == "X" => "; FRAME_TYPE is 1".to_owned(),
            Autopilot::ArduPilot if reversed => "; FRAME_TYPE is 6".to_owned(),
            Autopilot::ArduPilot => "; FRAME_TYPE is 0".to_owned(),
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
