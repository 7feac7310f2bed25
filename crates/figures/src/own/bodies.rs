//! Uncontrolled bodies.

use std::f64::consts::TAU;

use anyhow::Result;
use fly_lie::SO3;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState, constrained, unforced};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintWorkspace, ContactForce, Ellipsoid, PlaneContact, Stabilization,
    Surface,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use fly_plot::{Color, Curve, Dots, Figure, Panel, Stroke};
use nalgebra::{Matrix3, Vector3};

/// An ellipsoid rolling on a plane: its contact point and the contact force.
pub fn rolling_ellipsoid() -> Result<Figure> {
    let semi_axes = [0.3, 0.45, 0.6];
    let surface = Ellipsoid::new(semi_axes)?;
    let inertia = PseudoInertia::new(SecondMoment::solid_ellipsoid(1.4, semi_axes))?;
    let model = Model::builder()
        .body(Body::new("ellipsoid", Joint::free()).inertia(inertia))
        .build()?;
    let floor = ConstraintSet::builder()
        .with(PlaneContact::rolling(
            "floor",
            "world",
            "ellipsoid",
            surface,
        ))
        .stabilized(Stabilization::critically_damped(20.0))
        .build(&model)?;
    // It touches the plane, and its lowest point has no velocity.
    let rotation = SO3::exp(&Vector3::new(0.9, -0.4, 0.2));
    let omega = Vector3::new(-0.9, 0.4, 1.5);
    let up = rotation.inverse().act(&Vector3::z());
    let mut state = SystemState::at_rest(&model);
    state.configuration[..3].copy_from_slice(&[0.0, 0.0, surface.height(&up)]);
    state.configuration[3..].copy_from_slice(rotation.matrix().as_slice());
    state.velocity[..3].copy_from_slice(surface.contact(&up).cross(&omega).as_slice());
    state.velocity[3..].copy_from_slice(omega.as_slice());

    let mut workspace = Workspace::new(&model);
    let mut contact = ConstraintWorkspace::new(&floor);
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
    let (mut touched, mut centers, mut outlines) = (Vec::new(), Vec::new(), Vec::new());
    let (mut normal, mut ratio) = (Vec::new(), Vec::new());
    for step in 0..=4000 {
        let (x, xi) = (&state.configuration, &state.velocity);
        if step % 10 == 0 {
            contact.forward_dynamics(&floor, &model, &mut workspace, x, xi, 0.0, &[0.0; 6])?;
            let force = ContactForce(Vector3::from_column_slice(contact.multipliers().as_slice()));
            normal.push([state.time, force.0.z]);
            ratio.push([state.time, force.friction_ratio()]);
            let rotation = Matrix3::from_column_slice(&x[3..]);
            let center = Vector3::new(x[0], x[1], x[2]);
            let touch = center + rotation * surface.contact(&rotation.tr_mul(&Vector3::z()));
            touched.push([touch.x, touch.y]);
            centers.push([center.x, center.y]);
            if step % 1000 == 0 {
                outlines.push(outline(&rotation, &center, semi_axes));
            }
        }
        let free = constrained(&model, &floor, |_, force| force.fill(0.0));
        integrator.step(&model, &mut state, 2e-3, free);
    }
    let mut plane = Panel::new("x [m]", "y [m]").titled("From above").equal();
    let starts: Vec<[f64; 2]> = touched.iter().step_by(100).copied().collect();
    for (i, outline) in outlines.into_iter().enumerate() {
        let curve = Curve::new(outline, Color::Soft).width(1.0);
        plane.add(if i == 0 {
            curve.labelled("outline every 2 s")
        } else {
            curve
        });
    }
    plane
        .add(
            Curve::new(centers, Color::Series(1))
                .stroke(Stroke::Dashed)
                .labelled("centre"),
        )
        .add(
            Curve::new(touched, Color::Series(0))
                .width(2.0)
                .labelled("point of contact"),
        )
        .add(Dots::new(starts, Color::Series(0)));
    let over_time = |title: &str, unit: &str, points, color| {
        let mut panel = Panel::new("t [s]", unit).titled(title);
        panel.x = panel.x.tight();
        panel.with(Curve::new(points, Color::Series(color)))
    };
    Ok(Figure {
        panels: vec![
            plane,
            over_time("Normal force of the plane", "N", normal, 2),
            over_time(
                "Friction that rolling takes, by the normal force",
                "",
                ratio,
                1,
            ),
        ],
        ..Figure::default()
    })
}

/// The outline of an ellipsoid from above: all `x` with `x' C^-1 x = 1` of the upper left block of `C = R diag(a^2) R'`.
fn outline(rotation: &Matrix3<f64>, center: &Vector3<f64>, semi_axes: [f64; 3]) -> Vec<[f64; 2]> {
    let squares = Matrix3::from_diagonal(&Vector3::from(semi_axes).map(|a| a * a));
    let shadow = (rotation * squares * rotation.transpose())
        .fixed_view::<2, 2>(0, 0)
        .into_owned();
    let root = shadow
        .cholesky()
        .map(|factor| factor.l())
        .unwrap_or_default();
    let points = (0..=72).map(|i| {
        let (sin, cos) = (TAU * f64::from(i) / 72.0).sin_cos();
        let edge = root * nalgebra::Vector2::new(cos, sin);
        [center.x + edge.x, center.y + edge.y]
    });
    points.collect()
}

/// Lagrange's top: the tip of its axis from above, and its tilt, for three initial motions.
pub fn heavy_top() -> Result<Figure> {
    let (height, lean, spin) = (0.06, 0.4_f64, 250.0);
    let disc = SecondMoment::solid_cylinder(0.15, 0.04, 0.012);
    let stem = SecondMoment::rod(
        0.01,
        [
            Vector3::new(0.0, 0.0, -height),
            Vector3::new(0.0, 0.0, 0.03),
        ],
    );
    let inertia = PseudoInertia::new(disc + stem)?;
    let tip = Vector3::new(0.0, 0.0, -height);
    let model = Model::builder()
        .body(Body::on_point("top", inertia, tip))
        .build()?;
    let arm = inertia.mass() * 9.81 * (inertia.center_of_mass().z + height);
    let precession = arm / (inertia.inertia_about(&tip)[(2, 2)] * spin);
    let mut path = Panel::new("x", "y").titled("The axis from above").equal();
    let mut leans = Panel::new("t [s]", "rad").titled("Lean");
    leans.x = leans.x.tight();
    leans.height = 190.0;
    for (i, (rate, label)) in [
        (0.0, "released"),
        (1.0, "with the precession of a fast top"),
        (-2.0, "against it"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut state = SystemState::at_rest(&model);
        let start = SO3::exp(&Vector3::new(0.0, lean, 0.0));
        state.configuration = start.matrix().as_slice().to_vec();
        let turn = start
            .inverse()
            .act(&Vector3::new(0.0, 0.0, rate * precession));
        state.velocity = vec![turn.x, turn.y, spin];
        let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
        let (mut points, mut angles) = (Vec::new(), Vec::new());
        for step in 0..=6400 {
            // The third column of R is the axis in the world.
            let axis = &state.configuration[6..9];
            if step % 4 == 0 {
                points.push([axis[0], axis[1]]);
                angles.push([state.time, axis[2].clamp(-1.0, 1.0).acos()]);
            }
            integrator.step(&model, &mut state, 2.5e-4, unforced(&model));
        }
        path.add(Curve::new(points, Color::Series(i)).labelled(label));
        leans.add(Curve::new(angles, Color::Series(i)));
    }
    Ok(Figure {
        panels: vec![path, leans],
        width: 560.0,
        ..Figure::default()
    })
}
