//! A body that slides on a table, drawn home by springs (Konz 5.7.4): its matrices by hand, and when translation and rotation mind each other.
//!
//! `cargo run -p fly-mechanics --example planar_body`

// The source's symbols are the names here: M, K, V.
#![allow(non_snake_case)]

use std::error::Error;

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, unforced};
use fly_mechanics::multibody::{Body, Damper, EquationOfMotion, Joint, Model, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, Matrix3, Vector3};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    by_hand()?;
    println!("\nreleased at [0, 1] m, turned by 2.5 rad: how far it leaves the straight way home");
    let centred = model(Vector3::zeros(), Vector3::zeros(), SE3::identity())?;
    let offset = model(
        Vector3::zeros(),
        Vector3::new(0.3, 0.0, 0.0),
        SE3::identity(),
    )?;
    let (straight, curved) = (released(&centred)?, released(&offset)?);
    let sideways = |path: &[[f64; 2]]| path.iter().fold(0.0, |m: f64, [x, _]| m.max(x.abs()));
    println!(
        "  springs and dampers centred in the centre of mass: {:.1e} m",
        sideways(&straight)
    );
    println!(
        "  springs centred 0.3 m beside it:                   {:.3} m",
        sideways(&curved)
    );
    assert!(sideways(&straight) < 1e-12 && sideways(&curved) > 0.1);
    Ok(())
}

/// A body of 2 kg with its centre of mass at `s` and a constellation of springs centred at `h`.
fn model(s: Vector3<f64>, h: Vector3<f64>, home: SE3<f64>) -> Result<Model<f64>, Box<dyn Error>> {
    let around = |weight: f64, center: Vector3<f64>| {
        let ends = [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y()];
        SecondMoment::from_points(ends.map(|end| (weight / 4.0, center + end * 0.5)))
    };
    let inertia = PseudoInertia::from_center(2.0, s, Matrix3::identity() * 0.3)?;
    let joint = Joint::planar(Vector3::z())?.with_cos_sin();
    let builder = Model::builder()
        .body(Body::new("body", joint).inertia(inertia))
        .spring(Spring {
            a: "world".into(),
            b: "body".into(),
            rest: home,
            stiffness: around(8.0, h),
        })
        .damper(Damper {
            a: "world".into(),
            b: "body".into(),
            damping: around(5.0, Vector3::zeros()),
        });
    Ok(builder.build()?)
}

/// (5.106), (5.108) and (5.110a, b) in a state, beside what the model computes.
fn by_hand() -> Result<(), Box<dyn Error>> {
    let (s, h) = (Vector3::new(0.1, -0.2, 0.0), Vector3::new(0.3, 0.1, 0.0));
    let (rx_home, ry_home, turned) = (0.4, -0.1, 0.7_f64);
    let home = SE3::new(
        SO3::exp(&(Vector3::z() * turned)),
        Vector3::new(rx_home, ry_home, 0.0),
    );
    let model = model(s, h, home)?;
    let (alpha, r, xi) = (2.1_f64, [-0.6, 0.9], [0.5, -0.8, 1.3]);
    let (sin, cos) = alpha.sin_cos();
    let x = [r[0], r[1], cos, sin];

    let mut A = DMatrix::zeros(4, 3);
    model.kinematic_matrix(&x, &mut A);
    println!(
        "x = [r_x, r_y, cos, sin], xi = [v_x, v_y, omega_z]: four numbers and three\n\nA = {A:.4}"
    );

    let (mut workspace, mut equation) = (Workspace::new(&model), EquationOfMotion::new(&model));
    workspace.update(&model, &x, &xi);
    workspace.update_jacobians(&model);
    equation.update(&model, &workspace);
    let (m, theta) = (2.0, 0.3 + 2.0 * s.norm_squared());
    let M = Matrix3::new(m, 0.0, -m * s.y, 0.0, m, m * s.x, -m * s.y, m * s.x, theta);
    let [vx, vy, w] = xi;
    let c = m * w * Vector3::new(-vy - s.x * w, vx - s.y * w, s.x * vx + s.y * vy);

    // The springs: k and h, and Pi_z about the body's origin. The print has a wrong sign in the last terms of V and of its gradient.
    let (k, pi) = (8.0, 8.0 * (0.25 + h.norm_squared()));
    let (dx, dy) = (r[0] - rx_home, r[1] - ry_home);
    let (sin_e, cos_e) = (alpha - turned).sin_cos();
    let (d_cos, d_sin) = (cos - turned.cos(), sin - turned.sin());
    let V = 0.5 * k * (dx * dx + dy * dy)
        + pi * (1.0 - cos_e)
        + k * ((h.x * d_cos - h.y * d_sin) * dx + (h.y * d_cos + h.x * d_sin) * dy);
    let gradient = Vector3::new(
        k * (cos * dx + sin * dy + h.x * (1.0 - cos_e) - h.y * sin_e),
        k * (-sin * dx + cos * dy + h.x * sin_e + h.y * (1.0 - cos_e)),
        k * ((h.x * cos - h.y * sin) * dy - (h.y * cos + h.x * sin) * dx) + pi * sin_e,
    );
    println!(
        "M = {:.4}c = {:.4}grad V = {:.4}",
        equation.mass_matrix, equation.coriolis_force, equation.potential_force
    );
    let differences = [
        (&equation.mass_matrix - M).amax(),
        (&equation.coriolis_force - c).amax(),
        (&equation.potential_force - gradient).amax(),
        (workspace.spring_energy(&model) - V).abs(),
    ];
    println!(
        "by hand they come out {:.1e}, {:.1e}, {:.1e} beside that; the potential, {V:.6} J, {:.1e}",
        differences[0], differences[1], differences[2], differences[3]
    );
    assert!(differences.iter().all(|d| *d < 1e-13));
    Ok(())
}

fn released(model: &Model<f64>) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    let mut motion = SystemState::at_rest(model);
    motion.configuration = vec![0.0, 1.0, 2.5_f64.cos(), 2.5_f64.sin()];
    let mut integrator = Adaptive::new(model, Tolerance::default());
    let mut path = Vec::new();
    for step in 0..=500 {
        integrator.advance(model, &mut motion, 0.02 * f64::from(step), unforced(model))?;
        path.push([motion.configuration[0], motion.configuration[1]]);
    }
    Ok(path)
}
