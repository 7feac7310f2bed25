//! The laws of constrained motion on random trees: d'Alembert, Gauss, powers, dependent equations.

#![allow(non_snake_case)]

use crate::constrained;
use crate::random_tree;

use constrained::Simulation;
use fly_lie::SE3;
use fly_mechanics::PseudoInverse;
use fly_mechanics::multibody::constraints::{
    ConstrainedInverse, ConstraintKind, ConstraintSet, ConstraintSetBuilder, LoopClosure, LoopKind,
    PlaneContact, PrescribedVelocity, Stabilization,
};
use fly_mechanics::multibody::constraints::{Disc, Ellipsoid, Surface};
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use nalgebra::{DMatrix, DVector, Vector3, Vector6};
use num_dual::Dual64;
use random_tree::{Random, state, tree, tree_with_springs};

/// Constraints between random bodies of a tree that all hold in this state: loops of every kind, rolling bodies, blades, and nothing that
/// would not be there without them.
struct Constrained {
    model: Model<f64>,
    set: ConstraintSetBuilder<f64>,
    x: Vec<f64>,
    xi: Vec<f64>,
}

fn constrained(model: Model<f64>, seed: usize, loops: usize) -> Constrained {
    let bodies = model.body_count();
    let mut random = Random::new(1000 + seed);
    let (x, xi) = state(&model, &mut random);
    let mut workspace = Workspace::new(&model);
    workspace.update(&model, &x, &xi);
    let mut set = ConstraintSet::builder();
    for k in 0..loops {
        let b = 1 + random.index(bodies);
        let a = (b + 1 + random.index(bodies)) % (bodies + 1);
        let named = |index| match index {
            0 => BodyId::WORLD,
            index => model.bodies().nth(index - 1).expect("a body"),
        };
        let (a, b) = (named(a), named(b));
        let pose = workspace.pose(a, b);
        let (name_a, name_b) = (model.name(a), model.name(b));
        let (in_a, in_b): (SE3<f64>, SE3<f64>) = (random.pose(), random.pose());
        let closure = |kind| LoopClosure::new(format!("loop {k}"), name_a, name_b, kind);
        // Where frame B must be for the frames to coincide.
        let there = pose.inverse() * in_a;
        set = match random.index(9) {
            0 => set.with(closure(LoopKind::Spherical).at(in_a, there)),
            1 => set.with(closure(LoopKind::Planar).at(in_a, there)),
            2 => set.with(closure(LoopKind::Orientation).at(in_a, there)),
            3 => set.with(closure(LoopKind::PointOnLine).at(in_a, there)),
            4 => set.with(closure(LoopKind::Cylindrical).at(in_a, there)),
            5 => {
                let length = (pose.act(&in_b.translation) - in_a.translation).norm();
                set.with(closure(LoopKind::Distance { length }).at(in_a, in_b))
            }
            6 => {
                let egg = Ellipsoid::new([0.2, 0.3, 0.5]).expect("an egg");
                let plane = touching(&pose, in_a, &in_b, &egg);
                let name = format!("egg {k}");
                set.with(PlaneContact::rolling(name, name_a, name_b, egg).at(plane, in_b))
            }
            7 => {
                let wheel = Disc::with_rim(0.3, 0.02).expect("a wheel");
                let plane = touching(&pose, in_a, &in_b, &wheel);
                let name = format!("wheel {k}");
                set.with(PlaneContact::rolling(name, name_a, name_b, wheel).at(plane, in_b))
            }
            _ => {
                let row = Vector6::from_fn(|_, _| random.next());
                set.with(PrescribedVelocity {
                    name: format!("blade {k}"),
                    a: name_a.to_owned(),
                    b: name_b.to_owned(),
                    frame_in_b: in_b,
                    components: vec![(row, 0.0)],
                })
            }
        };
    }
    Constrained { model, set, x, xi }
}

/// The plane, moved along its normal until the surface touches it.
fn touching(
    pose: &SE3<f64>,
    plane: SE3<f64>,
    in_b: &SE3<f64>,
    surface: &impl Surface<f64>,
) -> SE3<f64> {
    let relative = plane.inverse() * *pose * *in_b;
    let up = relative.rotation.matrix().row(2).transpose();
    let height = relative.translation.z - surface.height(&up);
    let rise = plane.rotation.act(&(Vector3::z() * height));
    SE3::new(plane.rotation, plane.translation + rise)
}

/// All of it, in motion that the constraints allow, under random forces of the joints.
fn simulations() -> Vec<(usize, Simulation)> {
    let mut all = Vec::new();
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (bodies, loops) = (1 + random.index(15), 1 + random.index(5));
        let system = constrained(tree_with_springs(seed, bodies), seed, loops);
        let constraints = system.set.build(&system.model).expect("constraints");
        let mut simulation = Simulation::new(system.model, constraints, system.x, system.xi);
        simulation.tau = random.numbers(simulation.model.dof(), 5.0);
        simulation.project().expect("consistent");
        simulation.solve().expect("consistent");
        all.push((seed, simulation));
    }
    all
}

/// `M xi_dot + b - tau`, which is what the constraints contribute, by the recursive Newton-Euler algorithm.
fn unbalanced(simulation: &mut Simulation) -> DVector<f64> {
    let mut force = vec![0.0; simulation.model.dof()];
    simulation.model.inverse_dynamics(
        &mut simulation.workspace,
        &simulation.x,
        &simulation.xi,
        simulation.constrained.acceleration().as_slice(),
        &mut force,
    );
    DVector::from_vec(force) - DVector::from_column_slice(&simulation.tau)
}

/// What is left of a force for the motions that the constraints allow: `(I - Z^+ Z) f`.
fn allowed(Z: &DMatrix<f64>, force: &DVector<f64>) -> DVector<f64> {
    let mut inverse = PseudoInverse::new(Z.nrows(), Z.ncols());
    inverse.tolerance = 1e-9;
    inverse.decompose(Z);
    let mut blocked = DVector::zeros(Z.ncols());
    inverse.apply(&(Z * force), &mut blocked);
    force - blocked
}

/// Newton and d'Alembert: the constraint force is the residual of the tree's equation of motion, and has no component along any allowed motion; its
/// power is zero; the accelerations keep the constraints.
#[test]
fn reactions_do_no_work() {
    let (mut free, mut moving) = (0, 0);
    for (seed, mut simulation) in simulations() {
        let rest = unbalanced(&mut simulation);
        let constrained = &simulation.constrained;
        let size = 1.0 + rest.amax();
        assert!((&rest - constrained.force()).amax() < 1e-9 * size, "{seed}");
        let Z = constrained.jacobian();
        assert!(allowed(Z, &rest).amax() < 1e-9 * size, "{seed}");
        let xi = DVector::from_column_slice(&simulation.xi);
        let power = constrained.force().dot(&xi);
        assert!(power.abs() < 1e-9 * size * (1.0 + xi.amax()), "{seed}");
        let missed = (Z * constrained.acceleration() - constrained.bias()).amax();
        let fastest = 1.0 + constrained.acceleration().amax();
        assert!(missed < 1e-9 * fastest, "{seed} {missed:e}");
        free += usize::from(constrained.rank() < xi.len());
        moving += usize::from(xi.amax() > 0.1);
    }
    // Some systems are held so well that they cannot move.
    assert!(free >= 40 && moving >= 40, "{free} {moving}");
}

/// The power of the joints' forces minus the dissipation is the rate of the energy: by dual numbers along the motion.
#[test]
fn energy_flows_through_joints_and_dampers_only() {
    for (seed, mut simulation) in simulations() {
        let model = simulation.model.cast::<Dual64>();
        let mut x_dot = vec![0.0; model.config_dim()];
        let (x, xi) = (&simulation.x, &simulation.xi);
        simulation.model.configuration_rate(x, xi, &mut x_dot);
        let along = |value: &[f64], rate: &[f64]| -> Vec<Dual64> {
            let pairs = value.iter().zip(rate);
            pairs
                .map(|(value, rate)| Dual64::new(*value, *rate))
                .collect()
        };
        let acceleration = simulation.constrained.acceleration().as_slice();
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &along(x, &x_dot), &along(xi, acceleration));
        let rate = workspace.energy(&model).eps;

        simulation.workspace.update(&simulation.model, x, xi);
        let taken = 2.0 * simulation.workspace.dissipation(&simulation.model);
        let given: f64 = xi.iter().zip(&simulation.tau).map(|(v, f)| v * f).sum();
        let size = 1.0 + given.abs() + taken + simulation.constrained.force().amax();
        assert!((rate - (given - taken)).abs() < 1e-9 * size, "{seed}");
    }
}

/// Gauss: of all accelerations that keep the constraints, the real one is nearest to that of the free system, measured by the mass matrix.
#[test]
fn nature_deviates_as_little_as_it_can() {
    for (seed, mut simulation) in simulations() {
        let n = simulation.model.dof();
        let mut free = vec![0.0; n];
        let Simulation {
            model,
            workspace,
            x,
            xi,
            tau,
            constrained,
            ..
        } = &mut simulation;
        model
            .forward_dynamics(workspace, x, xi, tau, &mut free)
            .expect("mass everywhere");
        let mut M = DMatrix::zeros(n, n);
        model.mass_matrix(workspace, x, &mut M);
        let deviation = constrained.acceleration() - DVector::from_vec(free);
        let compulsion = |v: &DVector<f64>| 0.5 * v.dot(&(&M * v));
        let least = compulsion(&deviation);
        let mut random = Random::new(seed + 77);
        for _ in 0..5 {
            let any = DVector::from_vec(random.numbers(n, 1.0 + deviation.amax()));
            let other = &deviation + allowed(constrained.jacobian(), &any);
            assert!(compulsion(&other) >= least * (1.0 - 1e-9), "{seed}");
        }
    }
}

/// Inverse dynamics returns the components of the joint forces that cause motion, and with them the same motion; what the inputs cannot do,
/// it reports.
#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    for (seed, mut simulation) in simulations() {
        let n = simulation.model.dof();
        let needed = unbalanced(&mut simulation) + DVector::from_column_slice(&simulation.tau);
        let mut random = Random::new(seed);
        let expected = simulation.constrained.acceleration().clone();
        let size = 1.0 + needed.amax();
        for inputs in [n, n + 2, 1] {
            let B = DMatrix::from_fn(n, inputs, |_, _| random.next());
            let mut inverse = ConstrainedInverse::new(&simulation.constraints, inputs);
            let solved = inverse.solve(&simulation.constrained, &B, &needed);
            assert!(solved.is_ok(), "{seed} {solved:?}");
            // Forces of inputs and constraints plus the residual equal the required force.
            let Z = simulation.constrained.jacobian();
            let given = &B * inverse.input() + Z.tr_mul(inverse.multipliers());
            let rest = &needed - given;
            assert!(
                (allowed(Z, &rest) - inverse.residual()).amax() < 1e-8 * size,
                "{seed}"
            );
            if inputs < n {
                continue;
            }
            assert!(inverse.residual().amax() < 1e-8 * size, "{seed}");
            assert_eq!(inverse.rank(), n - simulation.constrained.rank(), "{seed}");
            let tau = simulation.tau.clone();
            simulation
                .tau
                .copy_from_slice((&B * inverse.input()).as_slice());
            simulation.solve().expect("consistent");
            simulation.tau = tau;
            let error = (simulation.constrained.acceleration() - &expected).amax();
            assert!(error < 1e-7 * (1.0 + expected.amax()), "{seed} {error:e}");
        }
    }
}

/// Equations that stand there twice change neither the motion nor the force; the multipliers are the shortest ones.
#[test]
fn dependent_equations_change_nothing() {
    for seed in 0..30 {
        let solve = |times: usize| {
            let system = constrained(tree_with_springs(seed, 6), seed, 3);
            let set = (1..times).fold(system.set, |set, copy| {
                // One more time, under other names, with the ends swapped for variety of signs.
                let pin = pin(&system.model, &system.x, &system.xi, copy);
                set.with(pin)
            });
            let set = set.with(pin(&system.model, &system.x, &system.xi, 0));
            let constraints = set.build(&system.model).expect("constraints");
            let mut simulation = Simulation::new(system.model, constraints, system.x, system.xi);
            simulation.project().expect("consistent");
            simulation.solve().expect("consistent");
            simulation
        };
        let (one, three) = (solve(1), solve(3));
        let (one, three) = (&one.constrained, &three.constrained);
        assert_eq!(one.rank(), three.rank(), "{seed}");
        let close = |a: &DVector<f64>, b: &DVector<f64>| {
            let error = (a - b).amax() / (1.0 + b.amax());
            assert!(error < 1e-8, "{seed} {error:e}");
        };
        close(three.acceleration(), one.acceleration());
        close(three.force(), one.force());
        // Shortest: without a part that no force would follow from.
        let multipliers = three.multipliers();
        let idle = allowed(&three.jacobian().transpose(), multipliers);
        assert!(idle.amax() < 1e-9 * (1.0 + multipliers.amax()), "{seed}");
    }
}

/// The origin of the first body and the place in the world where it is.
fn pin(model: &Model<f64>, x: &[f64], xi: &[f64], copy: usize) -> LoopClosure<f64> {
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, xi);
    let last = model.bodies().last().expect("a body");
    let place = workspace.pose(BodyId::WORLD, last).translation;
    let pin = LoopClosure::new(
        format!("pin {copy}"),
        "world",
        model.name(last),
        LoopKind::Spherical,
    );
    pin.between(place, Vector3::zeros())
}

/// Geometric and kinematic violations of random systems decay critically damped.
#[test]
fn violations_decay_on_random_trees() {
    let rate = 10.0;
    let mut count = 0;
    for seed in 0..40 {
        let system = constrained(tree(seed, 6), seed, 1);
        let set = system
            .set
            .stabilized(Stabilization::critically_damped(rate));
        let constraints = set.build(&system.model).expect("constraints");
        let mut simulation = Simulation::new(system.model, constraints, system.x, system.xi);
        // Off the constraints in configuration and velocity.
        let mut random = Random::new(seed);
        let n = simulation.model.dof();
        let away = random.numbers(n, 0.01);
        simulation.model.integrate(&mut simulation.x, &away);
        simulation.xi = random.numbers(n, 0.2);
        if simulation.solve().is_err()
            || simulation.constrained.rank() < simulation.constraints.equations()
        {
            continue; // equations that depend on each other cannot be violated one by one
        }
        let (psi, psi_rate) = (
            simulation.constrained.residual().clone(),
            simulation.constrained.rate().clone(),
        );
        let h = 5e-4;
        let steps = 400;
        for _ in 0..steps {
            simulation.step(h);
        }
        simulation.solve().expect("a solution");
        let t = h * f64::from(steps);
        for row in 0..simulation.constraints.equations() {
            let (got, expected, start) = match simulation.constraints.kind(row) {
                ConstraintKind::Holonomic => (
                    simulation.constrained.residual()[row],
                    (-rate * t).exp() * (psi[row] + (psi_rate[row] + rate * psi[row]) * t),
                    psi[row].abs() + psi_rate[row].abs(),
                ),
                ConstraintKind::Nonholonomic => (
                    simulation.constrained.rate()[row],
                    (-rate * t).exp() * psi_rate[row],
                    psi_rate[row].abs(),
                ),
            };
            assert!(
                (got - expected).abs() < 1e-6 * start,
                "{seed} {row}: {got:e} {expected:e}"
            );
            count += 1;
        }
    }
    assert!(count >= 30, "{count}");
}
