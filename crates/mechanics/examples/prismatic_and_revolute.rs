//! A body on a slider and one on a hinge, both with a spring and a damper: the simplest systems (Konz 5.7.1, 5.7.2).
//!
//! The slider is a linear oscillator. The hinge's angle lives on a circle, and so does its spring: the torque is `Pi sin(angle)`, smooth
//! everywhere, where a law `Pi angle` jumps by a whole `2 pi Pi` behind the body's back. A body that is pushed hard turns over a few times
//! and comes to rest.
//!
//! `cargo run -p fly-mechanics --example prismatic_and_revolute`

use std::error::Error;
use std::f64::consts::{PI, TAU};

use fly_lie::SE3;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, unforced};
use fly_mechanics::multibody::{Body, Damper, Joint, Model, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{Matrix3, Vector3};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    slider()?;
    hinge()
}

/// A body with a spring and a damper to the world that act at one of its points.
fn body(
    joint: Joint<f64>,
    mass: f64,
    point: Vector3<f64>,
    stiffness: f64,
    damping: f64,
) -> Result<Model<f64>, Box<dyn Error>> {
    let inertia = PseudoInertia::from_center(mass, Vector3::zeros(), Matrix3::identity())?;
    let model = Model::builder()
        .gravity(Vector3::zeros())
        .body(Body::new("body", joint).inertia(inertia))
        .spring(Spring {
            a: "world".into(),
            b: "body".into(),
            rest: SE3::identity(),
            stiffness: SecondMoment::point(stiffness, point),
        })
        .damper(Damper {
            a: "world".into(),
            b: "body".into(),
            damping: SecondMoment::point(damping, point),
        });
    Ok(model.build()?)
}

fn slider() -> Result<(), Box<dyn Error>> {
    let (m, d, k) = (2.0, 1.0, 8.0);
    let model = body(Joint::prismatic(Vector3::x())?, m, Vector3::zeros(), k, d)?;
    let mut motion = SystemState::at_rest(&model);
    motion.configuration[0] = 1.0;

    println!("slider: m x'' + d x' + k x = 0 (5.90), released at 1 m\n");
    println!("  t [s]      x [m]    difference from the closed form");
    let (decay, frequency) = (d / (2.0 * m), (k / m - (d / (2.0 * m)).powi(2)).sqrt());
    let mut integrator = Adaptive::new(&model, Tolerance::default());
    for step in 0..=6 {
        integrator.advance(&model, &mut motion, f64::from(step), unforced(&model))?;
        let (t, x) = (motion.time, motion.configuration[0]);
        let wave = (frequency * t).cos() + decay / frequency * (frequency * t).sin();
        let difference = x - (-decay * t).exp() * wave;
        println!("  {t:5.2}  {x:9.6}    {difference:9.1e}");
        assert!(difference.abs() < 1e-8);
    }
    Ok(())
}

fn hinge() -> Result<(), Box<dyn Error>> {
    // Theta = 1 kg m², and at half a metre a spring and a damper with Pi = 2 N m, Upsilon = 0.8 N m s.
    let (arm, pi) = (0.5, 2.0);
    let (k, d) = (pi / (arm * arm), 0.8 / (arm * arm));
    let joint = Joint::revolute(Vector3::z())?.with_cos_sin();
    let model = body(joint, 1.0, Vector3::x() * arm, k, d)?;
    let mut workspace = Workspace::new(&model);

    println!(
        "\nhinge: Theta a'' + Upsilon a' + Pi sin a = 0 (5.98); held at an angle it pulls with\n"
    );
    println!("  a [rad]   torque [N m]   Pi sin a   a linear law would say Pi a");
    for step in -4..=4 {
        let angle = f64::from(step) * PI / 4.0;
        let mut torque = [0.0];
        model.bias(
            &mut workspace,
            &[angle.cos(), angle.sin()],
            &[0.0],
            &mut torque,
        );
        println!(
            "  {angle:7.4}   {:12.4}   {:8.4}   {:8.4}",
            torque[0],
            pi * angle.sin(),
            pi * angle
        );
        assert!((torque[0] - pi * angle.sin()).abs() < 1e-14);
    }

    println!(
        "\npushed from its rest; behind the velocity, angle and dissipated energy are integrated too\n"
    );
    println!(
        "  push [rad/s]   rests at [rad]   turns   kinetic energy given [J]   taken by the damper [J]"
    );
    for push in [1.0, 3.0, 5.0, 7.0, 9.0] {
        let mut motion = SystemState::at_rest(&model);
        motion.velocity = vec![push, 0.0, 0.0];
        let mut turn = unforced(&model);
        let mut integrator = Adaptive::new(&model, Tolerance::default());
        for step in 1..=1600 {
            let until = 0.02 * f64::from(step);
            integrator.advance(&model, &mut motion, until, |motion, rates| {
                turn(motion, rates);
                rates[1] = motion.velocity[0];
                rates[2] = 0.8 * motion.velocity[0].powi(2);
            })?;
        }
        let (angle, taken) = (motion.velocity[1], motion.velocity[2]);
        let (turns, given) = ((angle / TAU).round() + 0.0, 0.5 * push * push);
        println!("  {push:12.1}   {angle:14.6}   {turns:5}   {given:24.6}   {taken:23.6}");
        assert!((angle - turns * TAU).abs() < 1e-4 && (taken - given).abs() < 1e-6);
    }
    Ok(())
}
