//! A bicopter: Konz 5.8.4.

use anyhow::{Context, Result};
use fly_flight::Configuration;
use fly_flight::config::Options;
use fly_plot::{Area, Color, Curve, Dots, Figure, Panel, Stroke};
use nalgebra::Vector3;

use crate::flights::Trace;

/// Konz, Fig. 5.20: what a tilting rotor can do, and the polygon that the allocation keeps it in.
pub fn limits() -> Result<Figure> {
    let configuration = Configuration::load(&Options {
        config: "examples/bicopter-hover.toml".into(),
        ..Options::default()
    })?;
    let inputs = &configuration.system.inputs;
    let rotor = inputs.rotors().as_slice().first().context("no rotor")?;
    let tilt = rotor.tilt.as_ref().context("no tilting rotor")?;
    let [low, high] = rotor.thrust;
    let arc = |radius: f64, from: f64, to: f64| {
        (0..=60).map(move |i| {
            let (sin, cos) = (from + (to - from) * f64::from(i) / 60.0).sin_cos();
            [radius * sin, radius * cos]
        })
    };
    let (a, b) = (-tilt.limit, tilt.limit);
    let ring: Vec<[f64; 2]> = arc(high, a, b)
        .chain(arc(low, b, a))
        .chain(arc(high, a, a).take(1))
        .collect();
    // The corners: where two of the rows W u <= l of this rotor's two inputs meet and all others hold.
    let limits = inputs.limits();
    let rows: Vec<[f64; 3]> = (limits.matrix.row_iter().zip(limits.bound.iter()))
        .filter(|(row, _)| row.iter().skip(2).all(|value| *value == 0.0))
        .map(|(row, bound)| [row[0], row[1], *bound])
        .collect();
    let mut corners = Vec::new();
    for (i, [a, b, l]) in rows.iter().enumerate() {
        for [c, d, m] in &rows[..i] {
            let determinant = a * d - b * c;
            if determinant.abs() < 1e-9 {
                continue;
            }
            let [u, v] = [(l * d - b * m) / determinant, (a * m - l * c) / determinant];
            if rows.iter().all(|[a, b, l]| a * u + b * v <= l + 1e-9) {
                corners.push([u, v]);
            }
        }
    }
    let middle = [0.0, 0.5 * (low + high)];
    let angle = |corner: &[f64; 2]| (corner[1] - middle[1]).atan2(corner[0]);
    corners.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    corners.extend(corners.first().copied());
    let mut panel = Panel::new("F sin θ [N]", "F cos θ [N]").equal();
    panel.y = panel.y.range(0.0, 15.0);
    panel
        .add(Area::new(ring.clone(), Color::Series(0)).labelled("what the rotor can do"))
        .add(Curve::new(ring, Color::Series(0)).width(1.0))
        .add(
            Curve::new(corners.clone(), Color::Series(1))
                .width(2.0)
                .labelled("polygon of the allocation"),
        )
        .add(Dots::new(corners, Color::Series(1)));
    Ok(Figure {
        width: 460.0,
        ..Figure::of(panel)
    })
}

/// Konz, Fig. 5.21 and 5.22: to hover from far away.
pub fn motion() -> Result<Figure> {
    let trace = Trace::fly("examples/bicopter-hover.toml", &[])?;
    let mut panels = [
        Panel::new("", "m").titled("Position"),
        Panel::new("", "").titled("Axes of the body, in the world"),
        Panel::new("", "J").titled("Energy of the error"),
        Panel::new("", "m, rad").titled("Errors"),
        Panel::new("t [s]", "N").titled("Thrusts"),
        Panel::new("t [s]", "°").titled("Tilt angles"),
    ];
    for panel in &mut panels {
        panel.x = panel.x.clone().tight();
    }
    for i in [2, 3] {
        panels[i].y = panels[i].y.clone().log();
    }
    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let own = |points| Curve::new(points, Color::Series(i)).labelled(axis);
        panels[0].add(own(trace.over_time(|tick| tick.poses[0].translation[i])));
        let leaning = |tick: &crate::flights::Tick| {
            let unit = Vector3::ith(i, 1.0);
            tick.poses[0].rotation.act(&unit)[i]
        };
        panels[1].add(own(trace.over_time(leaning)).labelled(format!("{axis} along its own")));
    }
    panels[2].add(Curve::new(
        trace.over_time(|tick| tick.energy),
        Color::Series(3),
    ));
    for (i, label) in ["distance", "angle"].into_iter().enumerate() {
        let points = trace.over_time(|tick| tick.errors[i]);
        panels[3].add(Curve::new(points, Color::Series(i)).labelled(label));
    }
    let rotors = trace.configuration.system.inputs.rotors().as_slice();
    for (k, (end, scale)) in [(".thrust", 1.0), (".tilt", 1_f64.to_degrees())]
        .into_iter()
        .enumerate()
    {
        let panel = &mut panels[4 + k];
        for (i, place) in trace.commands_ending(end).into_iter().enumerate() {
            let points = trace.over_time(|tick| tick.commands[place] * scale);
            let stroke = [Stroke::Solid, Stroke::Dashed][i % 2];
            panel.add(
                Curve::new(points, Color::Series(i))
                    .stroke(stroke)
                    .labelled(&rotors[i].name),
            );
        }
        let limit = trace
            .commands_ending(end)
            .first()
            .map(|place| trace.configuration.system.inputs.command_limits()[*place]);
        panel.limits = limit.map(|limit| limit.map(|one| one * scale));
    }
    Ok(Figure {
        panels: panels.into(),
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}
