//! An arm with six axes: forward kinematics, the singularities of its wrist and its elbow, gravity, and the three algorithms of its dynamics.
//!
//! `cargo run -p fly-mechanics --example arm_6_axis`

#![allow(non_snake_case)]

use std::error::Error;

use fly_lie::attitude::{Euler, EulerSequence};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let arm = System::from_toml(include_str!("../../../configs/systems/arm6.toml"))?;
    let (model, mut workspace) = (&arm.model, Workspace::new(&arm.model));
    let flange = model.body_id("l6")?;
    println!(
        "{} bodies, n = {}, {:.1} kg\n",
        model.body_count(),
        model.dof(),
        model.mass()
    );

    println!(
        "posture            flange: position [m]           XYX angles [rad]            |det J|     smallest singular value"
    );
    let postures = [
        ("at work", [0.3, 0.4, 0.9, 0.5, 0.7, -0.2]),
        ("wrist straight", [0.3, 0.4, 0.9, 0.5, 0.0, -0.2]),
        // The elbow's link has a kink of atan(0.1 / 0.3) towards the wrist.
        (
            "arm stretched",
            [0.3, 0.4, -(0.25_f64 / 0.3).atan(), 0.0, 0.7, -0.2],
        ),
    ];
    for (name, x) in postures {
        workspace.update(model, &x, &[0.0; 6]);
        workspace.update_jacobians(model);
        let G = workspace.pose(BodyId::WORLD, flange);
        let mut J = Matrix6xX::zeros(6);
        workspace.jacobian(BodyId::WORLD, flange, &mut J);
        let J = DMatrix::from_column_slice(6, 6, J.as_slice());
        let [a, b, c] = Euler::from_rotation(&G.rotation, EulerSequence::XYX).angles;
        let p = G.translation;
        println!(
            "{name:15}   {:8.4} {:8.4} {:8.4}   {a:8.4} {b:8.4} {c:8.4}   {:10.3e}   {:10.3e}",
            p.x,
            p.y,
            p.z,
            J.determinant().abs(),
            J.singular_values().min(),
        );
    }

    // The torques that hold it still, and their slope: the energy's.
    let x = postures[0].1;
    let mut hold = [0.0; 6];
    model.bias(&mut workspace, &x, &[0.0; 6], &mut hold);
    println!("\ngravity: torques that hold the arm at work, and what the motors can give");
    for (joint, torque) in arm.joints.iter().zip(hold) {
        println!(
            "  {:14} {torque:9.4} of {:4.0} N m",
            joint.name,
            joint.limits.effort.unwrap_or(f64::INFINITY)
        );
    }

    let (xi, xi_dot) = (
        [0.5, -0.3, 0.8, 1.2, -0.9, 2.0],
        [1.0, -2.0, 0.5, 3.0, -1.0, 4.0],
    );
    let (mut tau, mut M, mut bias) = (DVector::zeros(6), DMatrix::zeros(6, 6), DVector::zeros(6));
    model.inverse_dynamics(&mut workspace, &x, &xi, &xi_dot, tau.as_mut_slice());
    model.mass_matrix(&mut workspace, &x, &mut M);
    model.bias(&mut workspace, &x, &xi, bias.as_mut_slice());
    println!("\nmass matrix by composite bodies [kg m^2]{M:.5}");
    println!("a motion: recursive Newton-Euler, and M xi_dot + b [N m]");
    let assembled = &M * DVector::from_column_slice(&xi_dot) + &bias;
    println!(
        "  {:11.6?}\n  {:11.6?}",
        tau.as_slice(),
        assembled.as_slice()
    );
    let mut back = [0.0; 6];
    model.forward_dynamics(&mut workspace, &x, &xi, tau.as_slice(), &mut back)?;
    let error = back
        .iter()
        .zip(&xi_dot)
        .fold(0.0_f64, |e, (a, b)| e.max((a - b).abs()));
    assert!((assembled - &tau).amax() < 1e-13 && error < 1e-12);
    println!("the articulated body algorithm gives the accelerations back to {error:.1e} rad/s^2");

    let mut fall = [0.0; 6];
    model.forward_dynamics(&mut workspace, &x, &[0.0; 6], &[0.0; 6], &mut fall)?;
    println!("let go it falls with {fall:.4?} rad/s^2");
    workspace.update(model, &x, &[0.0; 6]);
    workspace.update_jacobians(model);
    let tip = workspace.acceleration(flange, &fall);
    let R = workspace.pose(BodyId::WORLD, flange).rotation;
    let tip: Vector3<f64> = R.act(&tip.fixed_rows::<3>(0).into_owned());
    println!(
        "and its flange with {:.4?} m/s^2 in the world",
        tip.as_slice()
    );
    Ok(())
}
