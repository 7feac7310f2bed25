//! Vehicles in flight.

use anyhow::{Context, Result};
use fly_plot::{Color, Curve, Figure, Panel, Stroke};
use nalgebra::Vector3;

use crate::flights::{Tick, Trace, pose};
use crate::scenery::{Look, View, bodies};

fn over_time(title: &str, unit: &str) -> Panel {
    let mut panel = Panel::new("t [s]", unit).titled(title);
    panel.x = panel.x.tight();
    panel
}

/// The actual and the desired position.
fn position(trace: &Trace) -> Panel {
    let mut panel = over_time("Position; dashed: reference", "m");
    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let own = |points| Curve::new(points, Color::Series(i));
        panel.add(own(trace.over_time(|tick| tick.poses[0].translation[i])).labelled(axis));
        let goal = |tick: &Tick| tick.goal.map_or(f64::NAN, |goal| goal.pose[i]);
        panel.add(own(trace.over_time(goal)).stroke(Stroke::Dashed).width(1.0));
    }
    panel
}

fn errors(trace: &Trace) -> Panel {
    let mut panel = over_time("Errors", "m, rad");
    panel.y = panel.y.log();
    for (i, label) in ["distance", "angle"].into_iter().enumerate() {
        let points = trace.over_time(|tick| tick.errors[i]);
        panel.add(Curve::new(points, Color::Series(i)).labelled(label));
    }
    panel
}

/// The commands whose names have this suffix, with their limits.
fn commands(trace: &Trace, title: &str, unit: &str, end: &str, scale: f64) -> Panel {
    let mut panel = over_time(title, unit);
    let inputs = &trace.configuration.system.inputs;
    let rotors = inputs.rotors().as_slice();
    for (i, place) in trace.commands_ending(end).into_iter().enumerate() {
        let points = trace.over_time(|tick| tick.commands[place] * scale);
        let name = rotors.get(i).map_or("", |rotor| &rotor.name);
        panel.add(Curve::new(points, Color::Series(i)).labelled(name));
        panel.limits = Some(inputs.command_limits()[place].map(|limit| limit * scale));
    }
    panel
}

/// From the side, at a few times.
fn seen(trace: &Trace, view: View, times: &[f64], labels: [&str; 2]) -> Panel {
    let mut panel = Panel::new(labels[0], labels[1]).equal();
    let at = |position: &Vector3<f64>| view.at(position);
    let goal = |tick: &Tick| {
        let goal = tick.goal.map(|goal| pose(&goal.pose).translation);
        goal.map_or([f64::NAN; 2], |position| at(&position))
    };
    panel.add(
        Curve::new(trace.path(goal), Color::Faint)
            .width(5.0)
            .labelled("reference"),
    );
    panel.add(
        Curve::new(
            trace.path(|tick| at(&tick.poses[0].translation)),
            Color::Series(0),
        )
        .labelled("flown"),
    );
    for time in times {
        let look = Look {
            view,
            color: Color::Soft,
            bar: 2.5,
            opacity: 0.8,
        };
        bodies(
            &mut panel,
            &trace.configuration.system,
            &trace.at(*time).poses,
            &look,
        );
    }
    panel
}

/// A loop at the limits of thrust.
pub fn quadcopter_loop() -> Result<Figure> {
    let trace = Trace::fly("quadcopter-loop.toml", &[])?;
    // The loop itself.
    let times: Vec<f64> = (0..9).map(|i| 0.8 + 0.15 * f64::from(i)).collect();
    Ok(Figure {
        panels: vec![
            seen(&trace, View::side(), &times, ["x [m]", "z [m]"]).titled("From the side"),
            position(&trace),
            errors(&trace),
            commands(&trace, "Thrusts", "N", ".thrust", 1.0),
        ],
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}

/// Independent references of position and attitude.
pub fn tricopter() -> Result<Figure> {
    let trace = Trace::fly("tricopter.toml", &[])?;
    let mut leaning = over_time("Vertical axis of the body; dashed: reference", "");
    for (i, axis) in ["x", "y"].into_iter().enumerate() {
        let up = |pose: &fly_lie::SE3<f64>| pose.rotation.act(&Vector3::z())[i];
        let own = |points| Curve::new(points, Color::Series(i));
        leaning.add(
            own(trace.over_time(|tick| up(&tick.poses[0])))
                .labelled(format!("{axis} in the world")),
        );
        let goal = |tick: &Tick| tick.goal.map_or(f64::NAN, |goal| up(&pose(&goal.pose)));
        leaning.add(own(trace.over_time(goal)).stroke(Stroke::Dashed).width(1.0));
    }
    Ok(Figure {
        panels: vec![
            position(&trace),
            leaning,
            commands(&trace, "Thrusts", "N", ".thrust", 1.0),
            commands(&trace, "Tilt angles", "°", ".tilt", 1_f64.to_degrees()),
        ],
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}

/// A load swings below a vehicle whose controller knows only its weight.
pub fn tricopter_load() -> Result<Figure> {
    let trace = Trace::fly("examples/tricopter-eight-bodies.toml", &[])?;
    let plant = trace.plant.as_ref().context("a plant of its own")?;
    let load = plant.model.body_id("load")?.index() - 1;
    let rod = |tick: &Tick| tick.truth[load].rotation.act(&-Vector3::z());

    // It swings across the nose.
    let view = View::front();
    let mut seen = Panel::new("y [m]", "z [m]")
        .titled("From the front, at 0, 0.5 and 1 s")
        .equal();
    let center = plant.model.inertia(plant.model.body_id("load")?);
    let center = center.context("a load with a mass")?.center_of_mass();
    let path = trace.path(|tick| {
        let pose = &tick.truth[load];
        view.at(&(pose.rotation.act(&center) + pose.translation))
    });
    seen.add(
        Curve::new(path, Color::Series(0))
            .width(1.0)
            .labelled("path of the load"),
    );
    for (time, opacity) in [(0.0, 0.35), (0.5, 0.6), (1.0, 1.0)] {
        let look = Look {
            view,
            color: Color::Soft,
            bar: 2.0,
            opacity,
        };
        bodies(&mut seen, plant, &trace.at(time).truth, &look);
    }

    let mut swing = over_time("Swing of the load", "°");
    swing.height = 380.0;
    for (i, label) in ["across the nose", "along the nose"]
        .into_iter()
        .enumerate()
    {
        let angle = |tick: &Tick| {
            let down = rod(tick);
            [down.y, down.x][i].atan2(-down.z).to_degrees()
        };
        swing.add(Curve::new(trace.over_time(angle), Color::Series(i)).labelled(label));
    }
    Ok(Figure {
        panels: vec![
            seen,
            swing,
            position(&trace),
            errors(&trace),
            commands(&trace, "Thrusts", "N", ".thrust", 1.0),
            commands(&trace, "Tilt angles", "°", ".tilt", 1_f64.to_degrees()),
        ],
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}
