//! Two masses on one rail with a spring between them: a force on the first moves the second (Konz 5.8.1), and a wall stops it.
//!
//! `cargo run -p fly-mechanics --example two_masses`

// The source's symbols are the names here: M, K, V.
#![allow(non_snake_case)]

use std::error::Error;

use fly_lie::SE3;
use fly_mechanics::integrate::{Adaptive, Direction, SystemState, Tolerance, forced, unforced};
use fly_mechanics::multibody::{Body, EquationOfMotion, Joint, Model, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{Matrix2, Matrix3, Vector3};

const MASSES: [f64; 2] = [2.0, 1.0];
const STIFFNESS: f64 = 12.0;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    matrices(&model);
    pulled(&model)?;
    bouncing(&model)
}

fn model() -> Result<Model<f64>, Box<dyn Error>> {
    let mut builder = Model::builder();
    for (name, mass) in ["first", "second"].into_iter().zip(MASSES) {
        let inertia = PseudoInertia::from_center(mass, Vector3::zeros(), Matrix3::identity())?;
        builder = builder.body(Body::new(name, Joint::prismatic(Vector3::x())?).inertia(inertia));
    }
    let spring = Spring {
        a: "first".into(),
        b: "second".into(),
        rest: SE3::identity(),
        stiffness: SecondMoment::point(STIFFNESS, Vector3::zeros()),
    };
    Ok(builder.spring(spring).build()?)
}

/// `M z'' + K z = B F` (5.137), whose print has `2k` in a corner.
fn matrices(model: &Model<f64>) {
    let mut workspace = Workspace::new(model);
    let mut equation = EquationOfMotion::new(model);
    // The potential force is linear here: its columns are those of K.
    let columns = [[1.0, 0.0], [0.0, 1.0]].map(|z| {
        workspace.update(model, &z, &[0.0, 0.0]);
        workspace.update_jacobians(model);
        equation.update(model, &workspace);
        [equation.potential_force[0], equation.potential_force[1]]
    });
    let K = Matrix2::from(columns);
    println!("M = {}K = {K}", equation.mass_matrix);
    let [m1, m2] = MASSES;
    let k = STIFFNESS;
    assert_eq!(equation.mass_matrix, Matrix2::new(m1, 0.0, 0.0, m2));
    assert!((K - Matrix2::new(k, -k, -k, k)).amax() < 1e-14);
}

/// 3 N on the first mass: the centre of mass accelerates with F / (m1 + m2), and the distance oscillates about F m2 / (k (m1 + m2)).
fn pulled(model: &Model<f64>) -> Result<(), Box<dyn Error>> {
    let ([m1, m2], force) = (MASSES, 3.0);
    let frequency = (STIFFNESS * (m1 + m2) / (m1 * m2)).sqrt();
    let shift = force * m2 / (STIFFNESS * (m1 + m2));
    println!("pulled with {force} N; the closed form has {frequency:.6} rad/s\n");
    println!("  t [s]    z1 [m]      z2 [m]     difference from the closed form");
    let mut motion = SystemState::at_rest(model);
    let mut integrator = Adaptive::new(model, Tolerance::default());
    for step in 0..=6 {
        let until = 0.5 * f64::from(step);
        integrator.advance(
            model,
            &mut motion,
            until,
            forced(model, |_, f| f[0] += force),
        )?;
        let (t, z) = (motion.time, &motion.configuration);
        let center = 0.5 * force / (m1 + m2) * t * t;
        let ahead = shift * (1.0 - (frequency * t).cos());
        let expected = [
            center + m2 / (m1 + m2) * ahead,
            center - m1 / (m1 + m2) * ahead,
        ];
        let difference = (z[0] - expected[0]).abs().max((z[1] - expected[1]).abs());
        println!(
            "  {t:4.1}  {:9.6}   {:9.6}     {difference:.1e}",
            z[0], z[1]
        );
        assert!(difference < 1e-8);
    }
    Ok(())
}

/// Both fly towards a wall; the second bounces off it, again and again while the first still pushes.
fn bouncing(model: &Model<f64>) -> Result<(), Box<dyn Error>> {
    println!("\nboth fly at 1 m/s towards a wall 1 m away, off which the second bounces\n");
    println!("  impact at [s]   with [m/s]   energy [J]");
    let mut motion = SystemState::at_rest(model);
    motion.velocity = vec![1.0, 1.0];
    let mut workspace = Workspace::new(model);
    let wall = [Direction::Falling];
    let mut integrator = Adaptive::new(model, Tolerance::default()).with_events(&wall);
    for step in 1..=400 {
        let until = 0.01 * f64::from(step);
        let gap =
            |motion: &SystemState<f64>, gap: &mut [f64]| gap[0] = 1.0 - motion.configuration[1];
        while let Some(_wall) =
            integrator.advance_to_event(model, &mut motion, until, unforced(model), gap)?
        {
            let speed = motion.velocity[1];
            motion.velocity[1] = -speed;
            workspace.update(model, &motion.configuration, &motion.velocity);
            let energy = workspace.energy(model);
            println!("  {:13.9}   {speed:10.6}   {energy:.9}", motion.time);
            assert!((energy - 1.5).abs() < 1e-8 && motion.configuration[1] >= 1.0);
        }
    }
    println!(
        "they fly away at {:.6} m/s and {:.6} m/s",
        motion.velocity[0], motion.velocity[1]
    );
    Ok(())
}
