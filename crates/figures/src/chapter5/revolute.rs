//! A body about an axis: Konz 5.7.2.

use std::f64::consts::PI;

use anyhow::Result;
use fly_plot::{Arrow, Axis, Color, Curve, Figure, Panel, Stroke};

use crate::flights::Trace;
use crate::trajectories::{on_circle, trajectory, wrapped};

/// Inertia, damping and stiffness of the portraits: weakly damped, so that it oscillates.
const INERTIA: f64 = 1.0;
const DAMPING: f64 = 0.8;
const STIFFNESS: f64 = 2.0;
/// Distance from the centre at which the thin curves end.
const CENTER: f64 = 0.35;
/// The largest rate shown.
const RATE: f64 = 4.0;

/// The error of the energy-based law, (5.98), and of the linear one, (5.99), whose angle is wrapped by a sensor.
fn law(linear: bool) -> impl Fn([f64; 2]) -> [f64; 2] + Copy {
    move |[angle, rate]| {
        let pull = if linear { wrapped(angle) } else { angle.sin() };
        [rate, -(DAMPING * rate + STIFFNESS * pull) / INERTIA]
    }
}

/// A short stretch of a curve where this part of its length is behind, for an arrow; none of a curve that is too short for one.
fn stretch(curve: &[[f64; 2]], part: f64) -> Option<[[f64; 2]; 2]> {
    let length = |from: &[f64; 2], to: &[f64; 2]| (to[0] - from[0]).hypot(to[1] - from[1]);
    let mut along = vec![0.0];
    for pair in curve.windows(2) {
        along.push(along[along.len() - 1] + length(&pair[0], &pair[1]));
    }
    let whole = along.last().filter(|whole| **whole > 1.5)?;
    let at = |distance: f64| curve.get(along.partition_point(|l| *l < distance)).copied();
    Some([at(part * whole)?, at(part * whole + 0.15)?])
}

/// Konz, Fig. 5.4.
pub fn phase_portraits() -> Figure {
    let panel = |linear: bool, title: &str| {
        let mut panel = Panel::new("error of the angle [rad]", "its rate [rad/s]").titled(title);
        panel.x = panel.x.range(-PI, PI);
        panel.y = panel.y.range(-RATE, RATE);
        panel.height = 340.0;
        let f = law(linear);
        for side in [1.0, -1.0] {
            // All curves that enter from above and from one side; the others follow by symmetry.
            let above = (0..10).map(|i| [-PI + 2.0 * PI * (f64::from(i) + 0.5) / 10.0, RATE]);
            let aside = (0..6).map(|i| [-PI, RATE * (f64::from(i) + 0.5) / 6.0]);
            for [angle, rate] in above.chain(aside) {
                let from = [side * angle, side * rate];
                let curve = trajectory(f, from, 12.0, 1200);
                // The part until it first leaves the picture, and before it reaches the centre.
                let inside = curve.iter().position(|[angle, rate]| {
                    angle.abs() > PI + 1e-9 || angle.hypot(*rate) < CENTER
                });
                let curve = &curve[..inside.unwrap_or(curve.len())];
                panel.add(Curve::new(curve.to_vec(), Color::Soft).width(0.8));
                for part in [0.25, 0.6] {
                    if let Some([from, to]) = stretch(curve, part) {
                        panel.add(Arrow {
                            width: 1.5,
                            ..Arrow::new(from, to, Color::Soft)
                        });
                    }
                }
            }
        }
        for side in [1.0, -1.0] {
            // From the upper equilibrium, along its unstable direction.
            let slope = (-DAMPING + (DAMPING * DAMPING + 4.0 * INERTIA * STIFFNESS).sqrt())
                / (2.0 * INERTIA);
            let from = if linear {
                [side * (PI - 1e-9), 0.0]
            } else {
                [side * (PI - 1e-3), -side * slope * 1e-3]
            };
            let curve = on_circle(&trajectory(f, from, 16.0, 3200));
            let curve = Curve::new(curve, Color::Series(1)).width(2.0);
            panel.add(if side > 0.0 {
                curve.labelled(if linear {
                    "from where the sensor jumps"
                } else {
                    "from the upper equilibrium"
                })
            } else {
                curve
            });
        }
        panel
    };
    Figure {
        panels: vec![
            panel(false, "On the circle (5.98)"),
            panel(true, "Linear (5.99)"),
        ],
        columns: 2,
        width: 820.0,
        ..Figure::default()
    }
}

/// Konz, Fig. 5.5.
pub fn approaches() -> Result<Figure> {
    let energy = Trace::fly("examples/revolute.toml", &[])?;
    let particle = Trace::fly("examples/revolute.toml", &["controller.approach=particle"])?;
    let linear = "controller={ approach='linear', gains={ wheel={ stiffness=25, damping=8, inertia=1 } }, pairs=[] }";
    let linear = Trace::fly("examples/revolute.toml", &[linear])?;
    let mut angle = Panel::new("", "rad").titled("Angle");
    let mut error = Panel::new("t [s]", "rad").titled("Error");
    for panel in [&mut angle, &mut error] {
        panel.x = Axis {
            tight: true,
            ..panel.x.clone()
        };
        panel.height = 190.0;
    }
    let reference = energy.over_time(|tick| tick.reference[0][0]);
    angle.add(
        Curve::new(reference, Color::Faint)
            .width(5.0)
            .labelled("reference"),
    );
    for (i, (trace, label, stroke)) in [
        (&energy, "energy-based", Stroke::Solid),
        (&particle, "particle-based", Stroke::Dashed),
        (&linear, "linear", Stroke::Dotted),
    ]
    .into_iter()
    .enumerate()
    {
        let own = |points| {
            Curve::new(points, Color::Series(i))
                .stroke(stroke)
                .width(2.0)
        };
        angle.add(own(trace.over_time(|tick| tick.configuration[0])).labelled(label));
        let difference = |tick: &crate::flights::Tick| tick.configuration[0] - tick.reference[0][0];
        error.add(own(trace.over_time(difference)));
    }
    Ok(Figure {
        panels: vec![angle, error],
        ..Figure::default()
    })
}
