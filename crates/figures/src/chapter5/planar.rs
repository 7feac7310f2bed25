//! A body in the plane that follows a spinning reference: Konz 5.7.5.

use anyhow::Result;
use fly_plot::{Color, Curve, Figure, Panel, Stroke};
use nalgebra::{Rotation2, Vector2};

use crate::flights::{Tick, Trace};

/// Mass and stiffness of the translation.
const MASS: f64 = 1.0;
const STIFFNESS: f64 = 4.0;
/// Rate of the reference, rad/s.
const RATE: f64 = std::f64::consts::PI;

/// The frame in which the translation error is at rest: the world, or the reference's frame.
#[derive(Clone, Copy, PartialEq)]
enum Frame {
    World,
    Reference,
}

struct Flown {
    label: &'static str,
    stroke: Stroke,
    frame: Frame,
    trace: Trace,
}

/// Position in the world, and its velocity.
fn motion(trace: &Trace, i: usize) -> [Vector2<f64>; 2] {
    let tick = &trace.ticks[i];
    let pose = &tick.poses[0];
    let velocity = pose.rotation.act(&nalgebra::Vector3::new(
        tick.velocity[0],
        tick.velocity[1],
        0.0,
    ));
    [pose.translation.xy(), velocity.xy()]
}

/// The energy of the translation error as each law defines it: with its velocity in the world, or in the frame that
/// rotates with the reference.
fn energy(flown: &Flown, i: usize) -> f64 {
    let [position, velocity] = motion(&flown.trace, i);
    let velocity = match flown.frame {
        Frame::World => velocity,
        Frame::Reference => velocity - Vector2::new(-position.y, position.x) * RATE,
    };
    0.5 * (MASS * velocity.norm_squared() + STIFFNESS * position.norm_squared())
}

/// Konz, Fig. 5.8, with the map `centred` beside it.
pub fn approaches() -> Result<Figure> {
    let all = [
        (
            "energy, adjoint",
            Stroke::Solid,
            Frame::Reference,
            "controller.transport=adjoint",
        ),
        (
            "particle",
            Stroke::Dashed,
            Frame::World,
            "controller.approach=particle",
        ),
        (
            "body",
            Stroke::Dotted,
            Frame::Reference,
            "controller.approach=body",
        ),
        (
            "energy, centred",
            Stroke::DashDotted,
            Frame::World,
            "controller.transport=centred",
        ),
    ];
    let all: Vec<Flown> = all
        .into_iter()
        .map(|(label, stroke, frame, set)| {
            let trace = Trace::fly("examples/planar-spinning.toml", &[set])?;
            Ok(Flown {
                label,
                stroke,
                frame,
                trace,
            })
        })
        .collect::<Result<_>>()?;
    let mut panels = [
        Panel::new("x [m]", "y [m]").titled("In the world").equal(),
        Panel::new("x [m]", "y [m]")
            .titled("In the reference's frame")
            .equal(),
        Panel::new("t [s]", "J").titled("Energy of the translation"),
        Panel::new("t [s]", "m").titled("Distance"),
    ];
    for panel in &mut panels[2..] {
        panel.x = panel.x.clone().tight();
        panel.y = panel.y.clone().log();
        panel.height = 220.0;
    }
    for (i, flown) in all.iter().enumerate() {
        let trace = &flown.trace;
        let count = trace.ticks.len();
        let over = |value: &dyn Fn(usize) -> f64| {
            (0..count)
                .map(|k| [trace.ticks[k].time, value(k)])
                .collect()
        };
        let turned = |tick: &Tick| {
            let position = tick.poses[0].translation.xy();
            let own = Rotation2::new(-RATE * tick.time) * position;
            [own.x, own.y]
        };
        let curves: [Vec<[f64; 2]>; 4] = [
            trace.path(|tick| tick.poses[0].translation.xy().into()),
            trace.path(turned),
            over(&|k| energy(flown, k)),
            over(&|k| motion(trace, k)[0].norm()),
        ];
        for (k, (panel, points)) in panels.iter_mut().zip(curves).enumerate() {
            let curve = Curve::new(points, Color::Series(i))
                .stroke(flown.stroke)
                .width(2.0);
            panel.add(if k % 2 == 0 {
                curve.labelled(flown.label)
            } else {
                curve
            });
        }
    }
    Ok(Figure {
        panels: panels.into(),
        columns: 2,
        width: 820.0,
        ..Figure::default()
    })
}
