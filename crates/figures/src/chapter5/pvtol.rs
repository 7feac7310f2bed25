//! A planar aircraft as a mechanical system: Konz 5.8.2.

use anyhow::{Context, Result};
use fly_flight::Configuration;
use fly_lie::SE3;
use fly_plot::{Color, Curve, Dots, Figure, Panel};
use nalgebra::Vector3;

use crate::flights::Trace;
use crate::scenery::{Look, View, bodies, zigzag};

/// Height of a centre of the first pair, m.
fn center(configuration: &Configuration, of: &str) -> Result<f64> {
    let table: toml::Table = configuration.document.text().parse()?;
    let pair = table
        .get("controller")
        .and_then(|it| it.get("pairs")?.get(0)?.get(of)?.get("center")?.get(2));
    pair.and_then(toml::Value::as_float)
        .with_context(|| format!("no centre of {of}"))
}

/// Konz, Fig. 5.17 over a flight: where the desired inertia is, and where the springs pull at it.
pub fn interpretation() -> Result<Figure> {
    let trace = Trace::fly("examples/pvtol.toml", &[])?;
    let system = &trace.configuration.system;
    let view = View::side();
    let mut panel = Panel::new("x [m]", "z [m]").equal();
    let origin = |pose: &SE3<f64>| view.at(&pose.translation);
    let reference = trace.path(|tick| origin(&trace.poses(&tick.reference[0])[0]));
    panel.add(
        Curve::new(reference, Color::Faint)
            .width(5.0)
            .labelled("reference"),
    );
    panel.add(
        Curve::new(trace.path(|tick| origin(&tick.poses[0])), Color::Series(0)).labelled("flown"),
    );
    let heights = [
        center(&trace.configuration, "inertia")?,
        center(&trace.configuration, "stiffness")?,
    ];
    let mut centers: [Vec<[f64; 2]>; 2] = Default::default();
    for i in 0..8 {
        let tick = trace.at(0.75 * f64::from(i));
        let look = Look {
            view,
            color: Color::Soft,
            bar: 2.5,
            opacity: 0.8,
        };
        bodies(&mut panel, system, &tick.poses, &look);
        let above = |pose: &SE3<f64>, height: f64| {
            view.at(&(pose.rotation.act(&(Vector3::z() * height)) + pose.translation))
        };
        let (pose, goal) = (&tick.poses[0], &trace.poses(&tick.reference[0])[0]);
        let pulled = above(pose, heights[1]);
        panel.add(Curve::new(vec![origin(pose), pulled], Color::Faint).width(1.0));
        let rest = above(goal, heights[1]);
        if (rest[0] - pulled[0]).hypot(rest[1] - pulled[1]) > 0.05 {
            panel.add(Curve::new(zigzag(rest, pulled, 0.025), Color::Series(2)).width(1.2));
        }
        centers[0].push(above(pose, heights[0]));
        centers[1].push(pulled);
    }
    let [inertia, stiffness] = centers;
    panel
        .add(Dots::new(inertia, Color::Series(1)).labelled("centre of the desired inertia"))
        .add(Dots::new(stiffness, Color::Series(2)).labelled("where spring and damper pull"));
    Ok(Figure {
        width: 820.0,
        ..Figure::of(panel)
    })
}
