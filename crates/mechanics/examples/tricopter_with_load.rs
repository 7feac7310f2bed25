//! Konz's Example 13: a tricopter whose arms tilt, with a load below that swings on a ball joint. Eight bodies, 15 degrees of freedom, 30
//! coordinates: the attitudes are matrices, the propellers' angles cosine and sine, the load's velocity is its own.
//!
//! `cargo run -p fly-mechanics --example tricopter_with_load`

#![allow(non_snake_case)]

use std::error::Error;

use fly_mechanics::System;
use fly_mechanics::geometry::Coordinates;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("../../../configs/systems/tricopter_with_load.toml");
    let tricopter = System::from_toml(text)?;
    let (model, mut workspace) = (&tricopter.model, Workspace::new(&tricopter.model));
    let (n, nu) = (model.dof(), model.config_dim());
    println!(
        "{} bodies, n = {n}, nu = {nu}, {:.2} kg",
        model.body_count(),
        model.mass()
    );
    for body in model.bodies() {
        println!(
            "  {:11} x {:?}, xi {:?}",
            model.name(body),
            model.config_range(body),
            model.velocity_range(body)
        );
    }

    // Hovering with the load straight down.
    let mut motion = SystemState::at_rest(model);
    let (x, xi) = (&motion.configuration, &motion.velocity);
    let (mut M, mut hold) = (DMatrix::zeros(n, n), DVector::zeros(n));
    model.mass_matrix(&mut workspace, x, &mut M);
    model.bias(&mut workspace, x, xi, hold.as_mut_slice());
    println!("\nmass matrix in hover [kg, kg m, kg m^2]{M:.4}");
    println!(
        "force that holds the airframe [N, N m] {:.4?}",
        &hold.as_slice()[..6]
    );

    let weight = model.mass() * 9.81;
    assert!((hold.fixed_rows::<3>(0) - Vector3::z() * weight).amax() < 1e-12 * weight);

    // The load swings, the propellers spin, and each of them pushes with a third of the weight along its axis.
    let load = model.body_id("load")?;
    motion.velocity[model.velocity_range(load).start] = 1.5;
    let (mut arms, mut spins) = (Vec::new(), Vec::new());
    for (name, spin) in [("1", 400.0), ("2", -400.0), ("3", 400.0)] {
        let arm = model.body_id(&format!("arm{name}"))?;
        arms.push((
            model.config_range(arm).start,
            model.velocity_range(arm).start,
        ));
        let propeller = model.body_id(&format!("propeller{name}"))?;
        spins.push(model.velocity_range(propeller).start);
        motion.velocity[model.velocity_range(propeller).start] = spin;
    }
    // One more state: the work of the inputs, less what the dampers take.
    motion.velocity.push(0.0);
    let (mut J, mut B) = (
        Matrix6xX::zeros(n),
        DMatrix::zeros(n, tricopter.inputs.input_dim()),
    );
    let mut input = DVector::zeros(B.ncols());
    input.rows_mut(0, 3).fill(weight / 3.0);

    let mut scratch = Workspace::new(model);
    let mut dynamics = |stage: &SystemState<f64>, rates: &mut [f64]| {
        let (x, xi) = (&stage.configuration, &stage.velocity[..n]);
        scratch.update(model, x, xi);
        scratch.update_jacobians(model);
        tricopter.inputs.input_matrix(&scratch, &mut J, &mut B);
        for k in 0..3 {
            // The motors balance the drag of the air, the servos hold the arms upright.
            input[3 + k] = -B[(spins[k], k)] * input[k];
            input[6 + k] = -4.0 * x[arms[k].0] - 0.04 * xi[arms[k].1];
        }
        let force = &B * &input;
        let power: f64 = force.iter().zip(xi).map(|(f, v)| f * v).sum();
        rates[n] = power - scratch.dissipated_power(model);
        let solved = model.forward_dynamics(&mut scratch, x, xi, force.as_slice(), &mut rates[..n]);
        if solved.is_err() {
            rates.fill(f64::NAN);
        }
    };
    workspace.update(model, &motion.configuration, &motion.velocity[..n]);
    let start = workspace.energy(model);
    let mut integrator = RungeKutta::new(model, Scheme::DormandPrince8);
    println!(
        "\n  t [s]   airframe [m]                 load: rad   energy [J]    less work    off the manifold"
    );
    let mut swing: f64 = 0.0;
    for count in 0..=2000 {
        if count % 200 == 0 {
            let x = &motion.configuration;
            workspace.update(model, x, &motion.velocity[..n]);
            let pose = |body| workspace.pose(BodyId::WORLD, body);
            let place = pose(model.body_id("airframe")?).translation;
            let lean = pose(load).rotation.act(&Vector3::z()).z.acos();
            let energy = workspace.energy(model);
            let gain = energy - start - motion.velocity[n];
            let missed = model.constraint(&DVector::from_column_slice(x)).amax();
            // The energy is the work of the inputs, less what the dampers take.
            assert!(gain.abs() < 1e-6 && missed < 1e-9);
            swing = lean.max(swing);
            print!(
                "  {:5.2}   {:8.4} {:8.4} {:8.4}",
                motion.time, place.x, place.y, place.z
            );
            println!("   {lean:9.5}   {energy:11.6}   {gain:10.2e}   {missed:10.1e}");
        }
        integrator.step(model, &mut motion, 5e-4, &mut dynamics);
    }
    assert!(swing > 0.2, "{swing}");
    Ok(())
}
