//! The dynamics of three systems in 256 states each: `cargo xtask bench dynamics`, which builds for this machine's instruction set and
//! adds Pinocchio where it installs.
//!
//! One line per measurement, `TIME,lib,model,algo,median_ns,min_ns,p90_ns`: time per call, quaternions in the configuration, all results
//! stored. Then the time per body of chains of 1 to 1000 bodies. `CHECK` values are sums over the states: kinetic energy, power of gravity, and
//! absolute values of the accelerations without forces.

#![allow(non_snake_case)]

mod models;

use std::hint::black_box;
use std::time::Instant;

use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{
    Body, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, Joint, Model, ModelBuilder,
    Workspace,
};
use models::{Sample, bench_model, samples};
use nalgebra::{DMatrix, Matrix3, Vector3};

/// Passes over all states.
const ROUNDS: usize = 400;

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let chosen = |name: &str| filter.as_ref().is_none_or(|f| name.contains(f.as_str()));
    let native = cfg!(target_feature = "avx2") && cfg!(target_feature = "fma");
    println!(
        "built {}",
        if native {
            "for this machine's instruction set (AVX2 and FMA)"
        } else {
            "for every machine; `cargo xtask bench dynamics` builds for this one's instruction set"
        }
    );
    for name in ["arm6", "quad", "tri"] {
        if chosen(name) {
            bench(name);
        }
    }
    if chosen("chain") {
        curve();
    }
}

fn bench(name: &str) {
    let model = bench_model(name);
    let states = samples(name, &model);
    let n = model.dof();
    let workspace = &mut Workspace::new(&model);
    let (mut M, mut out) = (DMatrix::zeros(n, n), vec![0.0; n]);
    check(name, &model, &states, workspace);

    time(name, "rnea", &states, |s| {
        model.inverse_dynamics(workspace, &s.x, &s.xi, &s.xi_dot, &mut out);
    });
    time(name, "crba", &states, |s| {
        model.mass_matrix(workspace, &s.x, &mut M);
    });
    time(name, "fd", &states, |s| {
        let result = model.forward_dynamics(workspace, &s.x, &s.xi, &s.tau, &mut out);
        result.expect("mass everywhere");
    });
    time(name, "bias", &states, |s| {
        model.bias(workspace, &s.x, &s.xi, &mut out);
    });
    time(name, "jacobians_bias", &states, |s| {
        workspace.update(&model, &s.x, &s.xi);
        workspace.update_jacobians(&model);
        model.bias(workspace, &s.x, &s.xi, &mut out);
    });
    let mut inverse = InverseDynamicsDerivatives::new(&model);
    time(name, "drnea", &states, |s| {
        let (x, xi, xi_dot) = (&s.x, &s.xi, &s.xi_dot);
        model.inverse_dynamics_derivatives(workspace, x, xi, xi_dot, &mut out, &mut inverse);
    });
    let mut forward = ForwardDynamicsDerivatives::new(&model);
    time(name, "daba", &states, |s| {
        let (x, xi, tau) = (&s.x, &s.xi, &s.tau);
        let result =
            model.forward_dynamics_derivatives(workspace, x, xi, tau, &mut out, &mut forward);
        result.expect("mass everywhere");
    });
}

fn check(name: &str, model: &Model<f64>, states: &[Sample], workspace: &mut Workspace<f64>) {
    let (mut energy, mut power, mut acceleration) = (0.0, 0.0, 0.0);
    let mut out = vec![0.0; model.dof()];
    let still = vec![0.0; model.dof()];
    for s in states {
        workspace.update(model, &s.x, &s.xi);
        energy += workspace.kinetic_energy(model);
        // Without velocity and acceleration the forces bear the weights.
        model.bias(workspace, &s.x, &still, &mut out);
        power -= out.iter().zip(&s.xi).map(|(g, xi)| g * xi).sum::<f64>();
        let result = model.forward_dynamics(workspace, &s.x, &s.xi, &still, &mut out);
        result.expect("mass everywhere");
        acceleration += out.iter().map(|a| a.abs()).sum::<f64>();
    }
    println!("CHECK,fly,{name},kinetic_energy,{energy:.12e}");
    println!("CHECK,fly,{name},gravity_power,{power:.12e}");
    println!("CHECK,fly,{name},free_acceleration,{acceleration:.12e}");
}

/// Prints the time of `f` for a state.
fn time<S>(model: &str, algo: &str, states: &[S], f: impl FnMut(&S)) {
    let times = measure(states, ROUNDS, f);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!(
        "TIME,fly,{model},{algo},{:.1},{:.1},{:.1}",
        at(50),
        times[0],
        at(90)
    );
}

/// Nanoseconds for a state, one number for every pass over all states, sorted.
fn measure<S>(states: &[S], rounds: usize, mut f: impl FnMut(&S)) -> Vec<f64> {
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds + 20 {
        let start = Instant::now();
        for state in states {
            f(black_box(state));
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
        if round >= 20 {
            times.push(start.elapsed().as_nanos() as f64 / states.len() as f64);
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The time per body of the recursive algorithms: it stays the same however long the chain.
fn curve() {
    println!("\nbodies  rnea, ns per body  fd, ns per body");
    for count in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] {
        let model = chain(count);
        let workspace = &mut Workspace::new(&model);
        let numbers =
            |seed: f64| -> Vec<f64> { (0..count).map(|i| (seed * (i + 1) as f64).sin()).collect() };
        let sample = Sample {
            x: numbers(1.7),
            xi: numbers(2.3),
            xi_dot: numbers(3.1),
            tau: numbers(0.7),
        };
        let states = vec![sample; (1000 / count).max(1)];
        let mut out = vec![0.0; count];
        let rnea = measure(&states, 100, |s| {
            model.inverse_dynamics(workspace, &s.x, &s.xi, &s.xi_dot, &mut out);
        });
        let fd = measure(&states, 100, |s| {
            let result = model.forward_dynamics(workspace, &s.x, &s.xi, &s.tau, &mut out);
            result.expect("mass everywhere");
        });
        let per_body = |times: &[f64]| times[times.len() / 2] / count as f64;
        println!("{count:6}{:19.1}{:17.1}", per_body(&rnea), per_body(&fd));
    }
}

/// Rods on hinges about x and y in turn.
fn chain(count: usize) -> Model<f64> {
    let rod = PseudoInertia::from_center(1.0, Vector3::z() * 0.1, Matrix3::identity() * 0.01);
    let rod = rod.expect("a rod");
    let bodies = (0..count).map(|i| {
        let axis = if i % 2 == 0 {
            Vector3::x()
        } else {
            Vector3::y()
        };
        let body = Body::new(format!("b{i}"), Joint::revolute(axis).expect("an axis")).inertia(rod);
        match i.checked_sub(1) {
            None => body,
            Some(parent) => body.parent(format!("b{parent}")).placed(fly_lie::SE3::new(
                fly_lie::SO3::identity(),
                Vector3::z() * 0.2,
            )),
        }
    });
    bodies
        .fold(Model::builder(), ModelBuilder::body)
        .build()
        .expect("a chain")
}
