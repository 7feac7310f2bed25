//! A SCARA's two arms by two parameterisations: Konz 5.7.6.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use anyhow::Result;
use fly_lie::{SE3, SO3};
use fly_mechanics::SecondMoment;
use fly_mechanics::geometry::equilibria;
use fly_mechanics::multibody::{Body, Joint, Model, Spring, Workspace};
use fly_plot::{Axis, Color, Curve, Dots, Figure, Panel, Stroke};
use nalgebra::Vector3;

use crate::contours::contour;
use crate::flights::{Tick, Trace};

/// Lengths of the arms, m.
const L: [f64; 2] = [0.35, 0.25];
const LABELS: [&str; 2] = ["by its joints", "by its tool"];

fn flights() -> Result<[Trace; 2]> {
    Ok([
        Trace::fly("examples/scara-joints.toml", &[])?,
        Trace::fly("examples/scara-tool.toml", &[])?,
    ])
}

/// Shoulder, elbow and tool of two joint angles.
fn arms(angles: &[f64]) -> [[f64; 2]; 3] {
    let (sin, cos) = angles[0].sin_cos();
    let elbow = [L[0] * cos, L[0] * sin];
    let (sin, cos) = (angles[0] + angles[1]).sin_cos();
    [
        [0.0; 2],
        elbow,
        [elbow[0] + L[1] * cos, elbow[1] + L[1] * sin],
    ]
}

/// Konz, Fig. 5.10.
pub fn motion() -> Result<Figure> {
    let flights = flights()?;
    let mut panels = [
        Panel::new("", "m").titled("Tool"),
        Panel::new("", "rad").titled("Joints"),
        Panel::new("t [s]", "J").titled("Energy of the error"),
        Panel::new("t [s]", "N m").titled("Torques"),
    ];
    for panel in &mut panels {
        panel.x = panel.x.clone().tight();
        panel.height = 190.0;
    }
    panels[2].y = Axis::new("J").log();
    let [first, _] = &flights;
    for i in 0..2 {
        let tool = first.over_time(|tick| arms(&tick.reference[0])[2][i]);
        let joint = first.over_time(|tick| tick.reference[0][i]);
        for (panel, points) in panels.iter_mut().zip([tool, joint]) {
            let curve = Curve::new(points, Color::Faint).width(5.0);
            panel.add(if i == 0 {
                curve.labelled("reference")
            } else {
                curve
            });
        }
    }
    for (flight, trace) in flights.iter().enumerate() {
        let stroke = [Stroke::Solid, Stroke::Dashed][flight];
        let own = |points, color: usize, label: String| {
            let curve = Curve::new(points, Color::Series(color))
                .stroke(stroke)
                .width(1.8);
            curve.labelled(label)
        };
        for i in 0..2 {
            let tool = trace.over_time(|tick| arms(&tick.configuration)[2][i]);
            panels[0].add(own(
                tool,
                i,
                format!("{}, {}", ["x", "y"][i], LABELS[flight]),
            ));
            let joint = trace.over_time(|tick| tick.configuration[i]);
            let name = ["shoulder", "elbow"][i];
            panels[1].add(own(joint, i, format!("{name}, {}", LABELS[flight])));
            let torque = trace.over_time(|tick| tick.input[i]);
            panels[3].add(own(torque, i, format!("{name}, {}", LABELS[flight])));
        }
        let energy = trace.over_time(|tick| tick.energy);
        panels[2].add(own(energy, 3, LABELS[flight].to_owned()));
    }
    Ok(Figure {
        panels: panels.into(),
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}

/// Konz, Fig. 5.11.
pub fn snapshots() -> Result<Figure> {
    let flights = flights()?;
    let panels = flights.iter().zip(LABELS).map(|(trace, label)| {
        let mut panel = Panel::new("x [m]", "y [m]")
            .titled(format!("Parameterised {label}"))
            .equal();
        panel.x = panel.x.range(-0.3, 0.7);
        panel.y = panel.y.range(-0.2, 0.65);
        let tool = |angles: &[f64]| arms(angles)[2];
        panel.add(
            Curve::new(trace.path(|tick| tool(&tick.reference[0])), Color::Faint)
                .width(5.0)
                .labelled("reference of the tool"),
        );
        for i in 0..=10 {
            let tick: &Tick = trace.at(0.5 * f64::from(i));
            let points = arms(&tick.configuration);
            let (color, width) = match i {
                0 => (Color::Series(1), 3.0),
                10 => (Color::Series(2), 3.0),
                _ => (Color::Soft, 1.2),
            };
            let curve = Curve::new(points.to_vec(), color).width(width);
            panel.add(match i {
                0 => curve.labelled("at the start"),
                1 => curve.labelled("every 0.5 s"),
                10 => curve.labelled("at 5 s"),
                _ => curve,
            });
            panel.add(Dots::new(points[..2].to_vec(), color).radius(2.5));
        }
        panel.add(
            Curve::new(
                trace.path(|tick| tool(&tick.configuration)),
                Color::Series(0),
            )
            .width(2.0)
            .labelled("path of the tool"),
        );
        panel
    });
    Ok(Figure {
        panels: panels.collect(),
        columns: 2,
        width: 900.0,
        ..Figure::default()
    })
}

fn turned(angle: f64, x: f64) -> SE3<f64> {
    SE3::new(SO3::exp(&(Vector3::z() * angle)), Vector3::x() * x)
}

/// A spring of 1 N/m in all at these points of `b`, at rest where `b` has this pose in `a`.
fn spring(a: &str, b: &str, rest: SE3<f64>, points: &[f64]) -> Spring<f64> {
    let each = 1.0 / points.len() as f64;
    let points = points.iter().map(|x| (each, Vector3::x() * *x));
    Spring {
        a: a.to_owned(),
        b: b.to_owned(),
        rest,
        stiffness: SecondMoment::from_points(points),
    }
}

/// Arms with the desired potentials (5.124), (5.128), zero at the angles 0 and a quarter turn.
fn desired() -> Result<[Model<f64>; 2]> {
    let arms = || -> Result<_> {
        let joint = || Joint::revolute(Vector3::z()).map(Joint::with_cos_sin);
        let fore = Body::new("fore", joint()?)
            .parent("upper")
            .placed(turned(0.0, L[0]));
        Ok(Model::builder()
            .body(Body::new("upper", joint()?))
            .body(fore))
    };
    let shoulder = spring("world", "upper", turned(0.0, 0.0), &[1.0, -1.0]);
    let elbow = spring("upper", "fore", turned(FRAC_PI_2, L[0]), &[1.0, -1.0]);
    let tool = spring("world", "fore", turned(FRAC_PI_2, L[0]), &[L[1]]);
    Ok([
        arms()?.spring(shoulder).spring(elbow).build()?,
        arms()?.spring(tool).build()?,
    ])
}

/// The potential at these angles.
fn potential(model: &Model<f64>, angles: [f64; 2]) -> f64 {
    let x = angles.map(|angle| [angle.cos(), angle.sin()]).concat();
    let mut workspace = Workspace::new(model);
    workspace.update(model, &x, &[0.0; 2]);
    workspace.spring_energy(model)
}

/// The angles where a potential is stationary: minima, saddle points, maxima.
fn stationary(model: &Model<f64>) -> Result<[Vec<[f64; 2]>; 3]> {
    let mut found: [Vec<[f64; 2]>; 3] = Default::default();
    for point in equilibria(model, vec![[-1.0, 1.0]; 4])? {
        let x = &point.configuration;
        // In (-pi, pi], whatever the rounding of a half turn.
        let angles = [0, 2].map(|i| (-x[i + 1]).atan2(-x[i]) + PI);
        let angles = angles.map(|angle| PI - (PI - angle + 1e-9).rem_euclid(TAU) + 1e-9);
        found[point.index].push(angles);
    }
    Ok(found)
}

/// Konz, Fig. 5.12.
pub fn potentials() -> Result<Figure> {
    let count = 72;
    let axis: Vec<f64> = (0..=count)
        .map(|i| -PI + TAU * f64::from(i) / f64::from(count))
        .collect();
    let mut panels = Vec::new();
    // J, for about twenty lines up to the maximum.
    let steps = [0.2, 0.03];
    for ((model, label), step) in desired()?.iter().zip(LABELS).zip(steps) {
        let mut panel = Panel::new("shoulder [rad]", "elbow [rad]")
            .titled(format!("Parameterised {label}"))
            .equal();
        // A little more than a turn, for points at its ends.
        let shown = 1.04 * PI;
        (panel.x, panel.y) = (panel.x.range(-shown, shown), panel.y.range(-shown, shown));
        let values: Vec<Vec<f64>> = axis
            .iter()
            .map(|x| axis.iter().map(|y| potential(model, [*x, *y])).collect())
            .collect();
        for level in 1..20 {
            let part = f64::from(level) / 20.0;
            for curve in contour(&values, [&axis, &axis], f64::from(level) * step) {
                panel.add(Curve::new(curve, Color::Soft).width(0.6 + 1.2 * part));
            }
        }
        let names = ["minimum", "saddle point", "maximum"];
        for (kind, (points, name)) in stationary(model)?.into_iter().zip(names).enumerate() {
            // On the edge a point is on both sides.
            let mirrored = points.iter().flat_map(|[x, y]| {
                let both = |angle: f64| {
                    if angle > PI - 1e-6 {
                        vec![angle, -angle]
                    } else {
                        vec![angle]
                    }
                };
                let ys = both(*y);
                both(*x)
                    .into_iter()
                    .flat_map(move |x| ys.clone().into_iter().map(move |y| [x, y]))
            });
            let color = Color::Series([0, 2, 1][kind]);
            panel.add(
                Dots::new(mirrored.collect(), color)
                    .radius(5.0)
                    .labelled(name),
            );
        }
        panels.push(panel);
    }
    Ok(Figure {
        note: "The lines are the thicker, the higher the potential: every 0.2 J on the left, every 0.03 J on the right.".into(),
        panels,
        columns: 2,
        width: 820.0,
        ..Figure::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Konz 5.7.6: 1 minimum, 2 saddle points and 1 maximum by the joints; 2, 3 and 1 by the tool.
    #[test]
    fn the_potentials_have_the_stationary_points_of_the_book() {
        let counts = desired()
            .unwrap()
            .map(|model| stationary(&model).unwrap().map(|points| points.len()));
        assert_eq!(counts, [[1, 2, 1], [2, 3, 1]]);
    }
}
