//! The panels of a flight's report: their lines and bounds.

use fly_mechanics::scene::single_joints;
use serde::Serialize;

use crate::flight::Flight;

/// Key, title, unit and note of a panel, and its lines: column, label and number of the colour.
type Plain<'a> = (
    &'a str,
    &'a str,
    &'static str,
    &'static str,
    &'a [(&'a str, &'a str, usize)],
);

/// A plot over time, or of a spectrum.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Panel {
    /// Its key, for programs: panels of several flights with the same key are merged.
    pub key: String,
    /// Its title.
    pub title: String,
    /// The unit of its numbers.
    pub unit: &'static str,
    /// A sentence or two for the reader.
    pub note: &'static str,
    /// Whether its axis is logarithmic.
    pub log: bool,
    /// The area beyond these is shaded: the limits of the quantity.
    pub limits: Option<[f64; 2]>,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stroke {
    /// An actual quantity.
    #[default]
    Solid,
    /// A desired quantity.
    Dashed,
    /// An additional quantity.
    Dotted,
}

/// A line of a panel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line {
    /// The column.
    pub column: String,
    /// Its name in the legend.
    pub label: String,
    /// Its colour: index in the palette.
    pub color: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Factor applied to its numbers.
    pub scale: f64,
    /// Whether it is shown only on request.
    pub hidden: bool,
}

impl Line {
    fn new(column: impl Into<String>, label: impl Into<String>, color: usize) -> Self {
        Self {
            column: column.into(),
            label: label.into(),
            color,
            scale: 1.0,
            ..Self::default()
        }
    }

    fn dashed(mut self) -> Self {
        self.stroke = Stroke::Dashed;
        self
    }

    fn dotted(mut self) -> Self {
        self.stroke = Stroke::Dotted;
        self
    }

    fn times(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];
const DEGREES: f64 = 180.0 / std::f64::consts::PI;

/// Lines of x, y and z, each with its reference.
fn axes(name: &str, reference: &str) -> Vec<Line> {
    let of = |i: usize, axis: &str| {
        [
            Line::new(format!("{name}.{axis}"), axis, i),
            Line::new(
                format!("{reference}.{axis}"),
                format!("{axis}, reference"),
                i,
            )
            .dashed(),
        ]
    };
    (0..3).flat_map(|i| of(i, AXES[i])).collect()
}

/// The panels of a flight over time: those with data in its log.
pub fn panels(flight: &Flight) -> Vec<Panel> {
    let mut panels = Vec::new();
    let mut position = axes("position", "reference");
    let of_body = flight.plots.find("position.x").is_some();
    for (i, axis) in AXES.iter().enumerate() {
        let line = Line::new(format!("true_position.{axis}"), format!("{axis}, true"), i).dotted();
        // Of a body that the controller does not know there is no other.
        position.push(if of_body { line.hidden() } else { line });
    }
    panels.push(Panel {
        key: "position".into(),
        title: "Position".into(),
        unit: "m",
        note: "In the world, z up. Dashed: the reference.",
        lines: position,
        ..Panel::default()
    });
    let mut error = vec![Line::new("error.norm", "distance", 3)];
    error.extend((0..3).map(|i| Line::new(format!("error.{}", AXES[i]), AXES[i], i)));
    panels.push(Panel {
        key: "error".into(),
        title: if of_body {
            "Position error"
        } else {
            "Error of prismatic joints"
        }
        .into(),
        unit: "m",
        note: "Of the true state if a simulation provides it.",
        lines: error,
        ..Panel::default()
    });
    let mut angles = vec![Line::new("attitude_error.angle", "angle", 3).times(DEGREES)];
    angles.extend(
        (0..3).map(|i| Line::new(format!("attitude_error.{}", AXES[i]), AXES[i], i).times(DEGREES)),
    );
    panels.push(Panel {
        key: "attitude_error".into(),
        title: if of_body { "Attitude error" } else { "Error of rotational joints" }.into(),
        unit: "°",
        note: "The rotation from the reference to the vehicle: its angle, and its vector about the reference's axes.",
        lines: angles,
        ..Panel::default()
    });
    panels.push(Panel {
        key: "velocity".into(),
        title: "Velocity".into(),
        unit: "m/s",
        note: "Of the body's origin, along the body's axes. Dashed: the reference.",
        lines: axes("velocity", "reference_velocity"),
        ..Panel::default()
    });
    panels.push(Panel {
        key: "rate".into(),
        title: "Angular velocity".into(),
        unit: "rad/s",
        note: "About the body's axes. Dashed: the reference.",
        lines: axes("rate", "reference_rate"),
        ..Panel::default()
    });
    panels.extend(joints(flight));
    panels.extend(inputs(flight));
    panels.extend(energies());
    panels.extend(beside(flight));
    for panel in &mut panels {
        let plots = &flight.plots;
        panel.lines.retain(|line| {
            let column = plots.find(&line.column);
            column.is_some_and(|column| column.low.iter().any(|value| !value.is_nan()))
        });
    }
    panels.retain(|panel| !panel.lines.is_empty() && !is_nothing(flight, panel));
    panels
}

/// Whether a panel is zero throughout, as is usual for its quantity: joints that do not slide, limits that were never
/// active.
fn is_nothing(flight: &Flight, panel: &Panel) -> bool {
    let usual = ["error", "attitude_error", "allocation", "age", "wind"];
    usual.contains(&panel.key.as_str())
        && (panel.lines.iter()).all(|line| {
            let column = flight.plots.find(&line.column);
            column.is_none_or(|column| {
                let mut values = column.low.iter().chain(&column.high);
                values.all(|value| value.is_nan() || value.abs() < 1e-9)
            })
        })
}

fn energies() -> [Panel; 2] {
    let energy = [
        Line::new("energy.W", "W = T + V", 3),
        Line::new("energy.T", "T, kinetic", 0),
        Line::new("energy.V", "V, potential", 1),
        Line::new("energy.allowed", "W by theory", 4).dashed(),
    ];
    let rate = [
        Line::new("energy_rate.measured", "dW/dt, measured", 3),
        Line::new("energy_rate.allowed", "dW/dt, theory", 4).dashed(),
    ];
    [
        Panel {
            key: "energy".into(),
            title: "Energy of the error".into(),
            unit: "J",
            note: "Dashed: W as predicted by the theory. Where W is larger, actuator lag, the held input or a disturbance supplies energy.",
            log: true,
            lines: energy.into(),
            ..Panel::default()
        },
        Panel {
            key: "energy_rate".into(),
            title: "Rate of the energy".into(),
            unit: "W",
            note: "Measured dW/dt and its prediction: −2R, the dissipation, minus the power that a moving reference extracts.",
            lines: rate.into(),
            ..Panel::default()
        },
    ]
}

/// The quantities besides the motion: disturbances, allocation, air, estimate, battery.
fn beside(flight: &Flight) -> Vec<Panel> {
    let mut panels = Vec::new();
    let columns = flight.plots.columns().iter();
    let count = columns
        .filter(|column| column.name.starts_with("disturbance."))
        .count();
    let names = |i: usize| {
        let of_body = [
            "force x", "force y", "force z", "moment x", "moment y", "moment z",
        ];
        let single = flight.body_count() == 1 && count == of_body.len();
        let name = of_body.get(i).filter(|_| single);
        name.map_or_else(|| format!("coordinate {i}"), |name| (*name).to_owned())
    };
    panels.push(Panel {
        key: "disturbance".into(),
        title: "Disturbance, estimated".into(),
        unit: "N, N m",
        note: "The force that the model does not explain, along the velocity coordinates.",
        lines: (0..count)
            .map(|i| Line::new(format!("disturbance.{i}"), names(i), i % 8))
            .collect(),
        ..Panel::default()
    });
    let plain: [Plain; 6] = [
        (
            "thrust_scale",
            "Thrust relative to the model",
            "",
            "As estimated by the disturbance observer.",
            &[("thrust.scale", "thrust scale", 3)],
        ),
        (
            "allocation",
            "Allocation",
            "",
            "How many limits were active in a step, and how many iterations the solver took.",
            &[
                ("allocation.active", "active limits", 2),
                ("allocation.iterations", "iterations", 0),
            ],
        ),
        (
            "wind",
            "Wind",
            "m/s",
            "Velocity of the air, in the world.",
            &[("wind.x", "x", 0), ("wind.y", "y", 1), ("wind.z", "z", 2)],
        ),
        (
            "deviation",
            "Standard deviations of the estimate",
            "rad, m/s, m",
            "Of three axes together, from the estimator.",
            &[
                ("deviation.attitude", "attitude", 0),
                ("deviation.velocity", "velocity", 1),
                ("deviation.position", "position", 2),
            ],
        ),
        (
            "battery",
            "Battery",
            "V",
            "",
            &[("battery.voltage", "voltage", 3)],
        ),
        (
            "age",
            "Age of the pose",
            "ms",
            "How old the measurement was when the controller used it.",
            &[("measurement.age", "age", 3)],
        ),
    ];
    for (key, title, unit, note, lines) in plain {
        let scale = if key == "age" { 1e3 } else { 1.0 };
        panels.push(Panel {
            key: key.into(),
            title: title.into(),
            unit,
            note,
            log: key == "deviation",
            lines: (lines.iter())
                .map(|(column, label, color)| Line::new(*column, *label, *color).times(scale))
                .collect(),
            ..Panel::default()
        });
    }
    panels
}

/// The joints with a position: revolute ones and prismatic ones.
fn joints(flight: &Flight) -> Vec<Panel> {
    let Some(system) = &flight.system else {
        return Vec::new();
    };
    let joints = single_joints(system);
    let mut panels = Vec::new();
    for slides in [false, true] {
        let own = || {
            joints
                .iter()
                .enumerate()
                .filter(move |(_, joint)| joint.slides == slides)
        };
        let scale = if slides { 1.0 } else { DEGREES };
        let lines = |name: &str, scale: f64| {
            let lines = own().enumerate().flat_map(|(color, (i, joint))| {
                [
                    Line::new(format!("{name}.{i}"), &joint.name, color % 8).times(scale),
                    Line::new(
                        format!("{name}_reference.{i}"),
                        format!("{}, reference", joint.name),
                        color % 8,
                    )
                    .times(scale)
                    .dashed(),
                ]
            });
            lines.collect::<Vec<_>>()
        };
        let mut limits = own().map(|(_, joint)| joint.limits);
        let first = limits.next().flatten();
        let common = first.filter(|first| limits.all(|other| other.as_ref() == Some(first)));
        let [position, rate, unit, rate_unit] = if slides {
            ["Joints, positions", "Joints, velocities", "m", "m/s"]
        } else {
            ["Joints, angles", "Joints, rates", "°", "rad/s"]
        };
        panels.push(Panel {
            key: format!("joint_{unit}"),
            title: position.into(),
            unit,
            note: "Dashed: the reference.",
            limits: common.map(|limits| limits.map(|limit| limit * scale)),
            lines: lines("joint", scale),
            ..Panel::default()
        });
        panels.push(Panel {
            key: format!("joint_rate_{unit}"),
            title: rate.into(),
            unit: rate_unit,
            note: "Dashed: the reference.",
            lines: lines("joint_rate", 1.0),
            ..Panel::default()
        });
    }
    panels
}

/// A command's name for readers: that of its rotor or motor.
pub fn command_label(flight: &Flight, command: &str) -> String {
    let named = || {
        let inputs = &flight.system.as_ref()?.inputs;
        let mut parts = command.split('.');
        let (kind, number) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        let name = match kind {
            "rotor" => &inputs.rotors().as_slice().get(number)?.name,
            "motor" => {
                let motor = inputs.motors().get(number)?;
                let system = flight.system.as_ref()?;
                let place = system.model.bodies().position(|body| body == motor.joint)?;
                &system.joints.get(place)?.name
            }
            _ => return None,
        };
        Some(
            if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) {
                format!("{kind} {number}")
            } else {
                name.clone()
            },
        )
    };
    named().unwrap_or_else(|| command.to_owned())
}

/// What a command in this unit is: its title, and its unit for readers with the factor to it.
fn quantity(name: &str, unit: &str) -> (&'static str, &'static str, f64) {
    if let Some(setpoint) = name.strip_prefix("command.") {
        match setpoint.split('.').next() {
            Some("quaternion") => return ("Attitude setpoint, quaternion", "", 1.0),
            Some("angular_velocity") => return ("Rate setpoint", "°/s", DEGREES),
            Some("position") => return ("Position setpoint", "m", 1.0),
            Some("velocity") => return ("Velocity setpoint", "m/s", 1.0),
            Some("acceleration") => return ("Acceleration setpoint", "m/s²", 1.0),
            Some("yaw") => return ("Heading setpoint", "°", DEGREES),
            Some("yaw_rate") => return ("Heading rate setpoint", "°/s", DEGREES),
            _ => {}
        }
    }
    match (name.rsplit('.').next(), unit) {
        (Some("thrust"), _) => ("Thrusts", "N", 1.0),
        (Some("tilt"), _) => ("Tilt angles", "°", DEGREES),
        (Some("effort"), "N") => ("Forces", "N", 1.0),
        (Some("effort"), _) => ("Torques", "N m", 1.0),
        (_, "1") => ("Motors", "of the largest thrust", 1.0),
        _ => ("Commands", "", 1.0),
    }
}

/// The commands, one panel for each kind with the same limits.
fn inputs(flight: &Flight) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for (i, ((name, unit), limits)) in flight.commands.iter().zip(&flight.limits).enumerate() {
        let (title, unit, scale) = quantity(name, unit);
        let limits = limits.map(|limit| limit * scale);
        let bounded = limits.iter().all(|limit| limit.is_finite());
        let limits = bounded.then_some(limits);
        let found =
            (panels.iter()).position(|panel| panel.title == title && panel.limits == limits);
        let place = found.unwrap_or_else(|| {
            panels.push(Panel {
                key: format!("input {title} {limits:?}"),
                title: title.into(),
                unit,
                note: if limits.is_some() {
                    "As commanded; beyond the limits the area is shaded. Dotted, on request: what the actuators did."
                } else {
                    "As commanded. Dotted, on request: what the actuators did."
                },
                limits,
                ..Panel::default()
            });
            panels.len() - 1
        });
        let lines = &mut panels[place].lines;
        let color = lines.len() / 2;
        let label = command_label(flight, name);
        lines.push(Line::new(format!("command.{i}"), &label, color % 8).times(scale));
        let actual = Line::new(format!("actual.{i}"), format!("{label}, actual"), color % 8);
        lines.push(actual.times(scale).dotted().hidden());
    }
    panels
}

/// The spectra of the rates, and of the inputs by kind. The columns are indices of the flight's spectra.
pub fn spectra(flight: &Flight) -> Vec<Panel> {
    let has = |column: &String| {
        flight
            .spectra
            .iter()
            .any(|spectrum| spectrum.name == *column)
    };
    let over_time = panels(flight).into_iter();
    let wanted = over_time.filter(|panel| {
        let of_rates = panel.key == "rate" || panel.key.starts_with("joint_rate");
        of_rates || panel.key.starts_with("input")
    });
    let spectra = wanted.map(|mut panel| {
        panel.lines.retain(|line| line.stroke == Stroke::Solid && has(&line.column));
        for line in &mut panel.lines {
            // A density scales with the square.
            line.scale *= line.scale;
        }
        Panel {
            key: format!("spectrum {}", panel.key),
            title: format!("Spectrum: {}", panel.title.to_lowercase()),
            note: "Power spectral density by Welch's method. Unit: the square of the shown unit by Hz.",
            log: true,
            limits: None,
            ..panel
        }
    });
    spectra.filter(|panel| !panel.lines.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use fly_hal::signal::{Class, TABLE};

    use super::*;

    #[test]
    fn every_command_is_named_after_what_it_is() {
        for row in TABLE.iter().filter(|row| row.class == Class::Command) {
            let name = format!("{}.{}", row.group, row.components[0]);
            let (title, unit, scale) = quantity(&name, row.unit);
            assert!(!matches!(title, "Motors" | "Commands"), "{name}: {title}");
            let expected = match row.unit {
                "1" => String::new(),
                of_table => of_table.replace("rad", "°").replace("^2", "²"),
            };
            let factor = if row.unit.starts_with("rad") {
                DEGREES
            } else {
                1.0
            };
            assert_eq!((unit, scale), (expected.as_str(), factor), "{name}");
        }
    }
}
