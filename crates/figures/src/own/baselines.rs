//! Flights compared with those of textbook controllers: docs/baselines.md.

use anyhow::Result;
use fly_plot::{Color, Curve, Figure, Panel};

use crate::flights::{Tick, Trace};

/// Label, configuration, and changes to it.
type Flown<'a> = (&'a str, &'a str, &'a [&'a str]);

/// Title, unit, and how to read it.
type Quantity<'a> = (&'a str, &'a str, &'a dyn Fn(&Tick) -> f64);

/// One panel for each quantity, one curve for each flight.
fn overlaid(flights: &[Flown], quantities: &[Quantity]) -> Result<Figure> {
    let mut panels: Vec<Panel> = quantities
        .iter()
        .map(|(title, unit, _)| {
            let mut panel = Panel::new("", *unit).titled(*title);
            panel.x = panel.x.tight();
            panel.height = 190.0;
            panel
        })
        .collect();
    for (i, (label, configuration, set)) in flights.iter().enumerate() {
        // Some of them crash.
        let (trace, _) = Trace::try_to_fly(configuration, set)?;
        for (k, (panel, (.., value))) in panels.iter_mut().zip(quantities).enumerate() {
            let curve = Curve::new(trace.over_time(value), Color::Series(i));
            panel.add(if k == 0 {
                curve.labelled(*label)
            } else {
                curve
            });
        }
    }
    if let Some(last) = panels.last_mut() {
        last.x.label = "t [s]".into();
    }
    Ok(Figure {
        panels,
        ..Figure::default()
    })
}

fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// A wheel more than half a turn from its goal.
pub fn half_turn() -> Result<Figure> {
    overlaid(
        &[
            ("pair of bodies", "baselines/pi-pair.toml", &[]),
            ("joint PD", "baselines/pi-joint-pd.toml", &[]),
        ],
        &[
            ("Angle", "rad", &|tick| tick.configuration[0]),
            ("Torque", "N m", &|tick| tick.commands[0]),
        ],
    )
}

/// Near the singularity of a gimbal's angles.
pub fn gimbal() -> Result<Figure> {
    let tilted = "vehicle.bodies.yaw.orientation.rpy_deg=[20, 0, 0]";
    overlaid(
        &[
            ("pair of bodies", "baselines/gimbal-pair.toml", &[]),
            (
                "computed torque, passing at 3°",
                "baselines/gimbal-computed-torque.toml",
                &[],
            ),
            ("at 20°", "baselines/gimbal-computed-torque.toml", &[tilted]),
        ],
        &[("Largest thrust of the jets", "N", &|tick| {
            largest(&tick.commands)
        })],
    )
}

/// A quadcopter that starts tilted by 126 degrees.
pub fn tilt() -> Result<Figure> {
    let start = "backend.sim.initial.attitude.rotation_vector=[1.55, 1.55, 0]";
    overlaid(
        &[
            ("energy", "baselines/tilt-energy.toml", &[start]),
            (
                "state feedback",
                "baselines/tilt-state-feedback.toml",
                &[start],
            ),
        ],
        &[
            ("Largest coordinate of the position", "m", &|tick| {
                largest(tick.poses[0].translation.as_slice())
            }),
            ("Largest thrust", "N", &|tick| largest(&tick.commands)),
        ],
    )
}
