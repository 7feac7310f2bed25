//! The Lyapunov monitor along sampled flights of whole systems.

#![allow(non_snake_case)]

#[allow(dead_code)]
use crate::eleven;

use crate::solve::solve;
use fly_control::allocation::{Allocation, Outcome, Solver};
use fly_control::analysis::{Balance, LyapunovGuarantee, LyapunovMonitor, Report, UncheckedReason};
use fly_control::law::Law;
use fly_control::plant::SystemPlant;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template, Transport};
use fly_control::transport::{JointMap, PairMap, TransportMap};
use fly_control::{Controller, Step};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Matrix4, Vector3};

/// Time between control steps, s.
const STEP: f64 = 2e-3;

fn moment(weight: f64) -> Matrix4<f64> {
    let points = [Vector3::x(), Vector3::y(), Vector3::z(), Vector3::zeros()];
    *SecondMoment::from_points(points.map(|h| (weight, h * 0.3))).matrix4()
}

fn energies() -> Pair {
    Pair::new(moment(9.0), moment(6.0), moment(1.0))
}

fn template(model: &Model<f64>, approach: Approach) -> Template<Model<f64>> {
    let pairs = model.bodies().map(|b| SystemPair {
        a: model.parent(b).unwrap_or(BodyId::WORLD),
        b,
        energies: energies(),
    });
    Template::of_system(model, approach, pairs.collect(), Box::new(JointMap))
}

/// The reference.
struct Flight {
    approach: Approach,
    /// How far from the reference it starts (m, rad in every coordinate), and how fast that moves (m/s, rad/s).
    away: f64,
    speed: f64,
    /// A force on the first body that the model does not know, N, from 2 s to 2.5 s.
    gust: f64,
    /// Lag of the inputs, s.
    lag: f64,
    time: f64,
    /// Whether the template computes the power that a moving reference extracts.
    known: bool,
}

const CALM: Flight = Flight {
    approach: Approach::Energy,
    away: 0.4,
    speed: 0.3,
    gust: 0.0,
    lag: 0.0,
    time: 3.0,
    known: true,
};

impl Flight {
    /// The system with eleven degrees of freedom, an input for each, held between steps.
    fn fly(&self) -> Report {
        let model = eleven::model();
        let n = model.dof();
        let mut template = template(&model, self.approach);
        let guarantee = LyapunovGuarantee::of_system(&model, &mut template, n);
        let mut monitor = LyapunovMonitor::new(guarantee, n);
        let mut law = Law::new(Dyn(n), Dyn(n));
        let (mut actual, mut reference) = (Workspace::new(&model), Workspace::new(&model));
        let mut desired = DesiredMotion::new(&model);
        let mut integrator = RungeKutta::new(&model, Scheme::DormandPrince8);
        let B = DMatrix::identity(n, n);

        let signs = |size: f64| -> Vec<f64> {
            (0..n)
                .map(|i| if i % 3 == 1 { -size } else { size })
                .collect()
        };
        let (velocity, rest) = (signs(self.speed), vec![0.0; n]);
        let mut goal = model.neutral_configuration();
        let mut motion = SystemState::at_rest(&model);
        model.integrate(&mut motion.configuration, &signs(self.away));
        // Off the reference by the position alone.
        motion.velocity.clone_from(&velocity);
        let mut given: Option<DVector<f64>> = None;
        let mut k = 0.0;
        while k * STEP < self.time {
            let time = k * STEP;
            k += 1.0;
            let (x, xi) = (&motion.configuration, &motion.velocity);
            actual.update(&model, x, xi);
            actual.update_jacobians(&model);
            let at = SystemReference {
                configuration: &goal,
                velocity: &velocity,
                acceleration: &rest,
            };
            template
                .evaluate(&model, &actual, xi, &mut reference, &at, &mut desired)
                .expect("a map");
            let (mut M, mut b) = (DMatrix::zeros(n, n), DVector::zeros(n));
            model.mass_matrix(&mut actual, x, &mut M);
            model.bias(&mut actual, x, xi, b.as_mut_slice());
            let input = solve(&mut law, &M, &b, &B, &desired);
            let xi_dot = -(desired.mass_matrix.clone().cholesky())
                .expect("a desired mass")
                .solve(&desired.bias);
            let taken = desired.reference_power_at(&xi_dot).expect("a power");
            let step = Step {
                unconstrained: input.clone(),
                demanded: input.clone(),
                input: input.clone(),
                energies: Some(desired.energies),
                reference_power: self.known.then_some(taken),
                allocation: free(),
            };
            monitor.observe(time, &step, law.metric(), self.speed != 0.0);

            // The first input is there at once; the others follow with the lag.
            let before = given.take().unwrap_or_else(|| input.clone());
            let decay = if self.lag > 0.0 {
                (-STEP / self.lag).exp()
            } else {
                0.0
            };
            let after = &before * decay + &input * (1.0 - decay);
            let mut force = 0.5 * (&before + &after);
            if self.lag == 0.0 {
                force.copy_from(&input);
            }
            given = Some(after);
            if (2.0..2.5).contains(&time) {
                force[0] += self.gust;
            }
            integrator.step(&model, &mut motion, STEP, |at, rates| {
                let (x, xi) = (&at.configuration, &at.velocity);
                model.mass_matrix(&mut actual, x, &mut M);
                model.bias(&mut actual, x, xi, b.as_mut_slice());
                let factors = M.clone().cholesky().expect("a mass");
                rates.copy_from_slice(factors.solve(&(&force - &b)).as_slice());
            });
            let ahead: Vec<f64> = velocity.iter().map(|v| v * STEP).collect();
            model.integrate(&mut goal, &ahead);
        }
        monitor.report().clone()
    }
}

fn free() -> Allocation {
    Allocation {
        solver: Solver::None,
        outcome: Outcome::Optimal,
        active: 0,
        iterations: 0,
    }
}

#[test]
fn a_calm_flight_of_a_system_raises_no_alarm() {
    // From near, from far, from the reference itself, fast and at rest: W falls in every step, down to rounding.
    for (away, speed) in [(0.4, 0.3), (0.9, 1.0), (0.0, 0.5), (0.4, 0.0), (0.0, 0.0)] {
        let report = Flight {
            away,
            speed,
            ..CALM
        }
        .fly();
        assert_eq!(
            report.to_string(),
            "W fell as expected in 1499 of 1499 steps",
            "{away} {speed}"
        );
        assert!(report.longest_rise == 0.0 && report.checked == report.steps);
    }
}

#[test]
fn a_gust_shows() {
    let calm = CALM.fly();
    for gust in [0.5, 5.0] {
        let report = Flight { gust, ..CALM }.fly();
        // It blows for 250 steps, and its force does work in most of them; afterwards W falls again.
        let missed = report.checked - report.as_expected;
        assert!((150..=250).contains(&missed), "{gust}: {report}");
        assert!(calm.as_expected == calm.checked);
        if gust > 1.0 {
            assert!(report.rise.energy > 1e-3, "{report}");
            assert!((2.0..2.6).contains(&report.rise.time), "{report}");
            assert!(report.longest_rise > 0.05, "{report:?}");
            let text = report.to_string();
            assert!(
                text.starts_with("W grew by ") && text.contains(" instead of falling (at 2."),
                "{text}"
            );
        }
    }
}

#[test]
fn a_lag_shows() {
    let report = Flight { lag: 0.03, ..CALM }.fly();
    assert!(report.as_expected < report.checked, "{report}");
}

#[test]
fn what_the_reference_takes_is_part_of_the_balance() {
    for approach in [Approach::Particle, Approach::Body] {
        let flight = Flight { approach, ..CALM };
        assert_eq!(
            flight.fly().to_string(),
            "W fell as expected in 1499 of 1499 steps",
            "{approach:?}"
        );
        // A gust shows all the same.
        let report = Flight {
            gust: 5.0,
            ..flight
        }
        .fly();
        assert!(report.as_expected + 150 < report.checked, "{report}");
        let flight = Flight {
            known: false,
            ..flight
        };
        assert_eq!(
            flight.fly().to_string(),
            "not checked: the template does not predict dW/dt for a moving reference"
        );
        // At rest all approaches are one.
        let report = Flight {
            speed: 0.0,
            ..flight
        }
        .fly();
        assert_eq!(
            report.to_string(),
            "W fell as expected in 1499 of 1499 steps"
        );
    }
}

/// Hinges and sliders with a tool at the end: six of them move it any way, three parallel ones in a plane.
fn arm(planar: bool) -> Model<f64> {
    let inertia = PseudoInertia::from_center(1.0, Vector3::x() * 0.1, Matrix3::identity() * 0.1);
    let inertia = inertia.expect("an inertia");
    let axes: Vec<Vector3<f64>> = if planar {
        vec![Vector3::z(); 3]
    } else {
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        vec![z, y, y, x, z, x]
    };
    let mut builder = Model::builder();
    for (i, axis) in axes.iter().enumerate() {
        let parent = if i == 0 {
            "world".to_owned()
        } else {
            (i - 1).to_string()
        };
        let place = SE3::new(SO3::identity(), Vector3::new(0.4, 0.05, 0.1));
        let joint = Joint::revolute(*axis).expect("an axis");
        let body = Body::new(i.to_string(), joint).parent(parent).placed(place);
        builder = builder.body(body.inertia(inertia));
    }
    builder.build().expect("an arm")
}

#[test]
fn the_guarantee_is_found_from_the_template() {
    let guarantee =
        |model: &Model<f64>, approach, pairs: &[(BodyId, BodyId)], map: Box<dyn TransportMap>| {
            let pairs = pairs.iter().map(|(a, b)| SystemPair {
                a: *a,
                b: *b,
                energies: energies(),
            });
            let mut template = Template::of_system(model, approach, pairs.collect(), map);
            LyapunovGuarantee::of_system(model, &mut template, model.dof())
        };
    let (by_energy, by_body) = (Approach::Energy, Approach::Body);
    for planar in [false, true] {
        let model = arm(planar);
        let ids: Vec<BodyId> = model.bodies().collect();
        let tool = [(BodyId::WORLD, *ids.last().expect("a tool"))];
        let joints: Vec<_> = ids
            .iter()
            .map(|b| (model.parent(*b).expect("a parent"), *b))
            .collect();
        let of_joints = || Box::new(JointMap) as Box<dyn TransportMap>;
        let of_tool =
            || Box::new(PairMap::new(&model, Transport::Centred, 0)) as Box<dyn TransportMap>;
        // The map of joints fits pairs across joints, that of the tool the tool; the other way round they do not.
        assert_eq!(
            guarantee(&model, by_energy, &joints, of_joints()),
            LyapunovGuarantee::Always
        );
        assert_eq!(
            guarantee(&model, by_energy, &tool, of_tool()),
            LyapunovGuarantee::Always
        );
        assert_eq!(
            guarantee(&model, by_energy, &tool, of_joints()),
            LyapunovGuarantee::AtRest(by_energy)
        );
        assert_eq!(
            guarantee(&model, by_energy, &joints, of_tool()),
            LyapunovGuarantee::AtRest(by_energy)
        );
        // The tool can have every twist, or every one in the plane.
        assert_eq!(
            guarantee(&model, by_body, &tool, of_joints()),
            LyapunovGuarantee::Always
        );
        assert_eq!(
            guarantee(&model, by_body, &joints, of_joints()),
            LyapunovGuarantee::AtRest(by_body)
        );
        let few = LyapunovGuarantee::of_system(&model, &mut template(&model, by_energy), 2);
        assert_eq!(
            few,
            LyapunovGuarantee::Underactuated {
                rank: 2,
                dof: model.dof()
            }
        );
    }
    // A free body on an arm's end has more degrees of freedom than the pair has rows.
    let model = eleven::model();
    let load = model.body_id("load").expect("the load");
    let pairs = [(BodyId::WORLD, load)];
    assert_eq!(
        guarantee(&model, by_body, &pairs, Box::new(JointMap)),
        LyapunovGuarantee::AtRest(by_body)
    );
}

#[test]
fn a_jump_of_the_reference_and_numbers_that_are_none_count_for_nothing() {
    let mut monitor = LyapunovMonitor::new(LyapunovGuarantee::Always, 1);
    let metric = DMatrix::identity(1, 1);
    let step = |total: f64| {
        let one = DVector::from_element(1, 0.0);
        Step {
            input: one.clone(),
            unconstrained: one.clone(),
            demanded: one,
            energies: Some(fly_control::Energies::new(0.0, total, 0.0)),
            reference_power: None,
            allocation: free(),
        }
    };
    let mut observe = |time: f64, total: f64, jumps: bool| {
        if jumps {
            monitor.restart();
        }
        monitor.observe(time, &step(total), &metric, false)
    };
    let first = Balance::Unchecked(UncheckedReason::First);
    assert_eq!(observe(0.0, 1.0, false), first);
    assert!(observe(0.1, 1.0, false).holds());
    assert_eq!(observe(0.2, 5.0, true), first);
    assert_eq!(observe(0.3, f64::NAN, false), first);
    assert_eq!(observe(0.4, 7.0, false), first);
    assert!(observe(0.5, 7.0, false).holds());
    assert!(!observe(0.6, 7.25, false).holds());
    assert!(!observe(0.7, 7.5, false).holds());
    assert!(observe(0.8, 7.0, false).holds());
    let report = monitor.report();
    assert_eq!(
        report.to_string(),
        "W grew by 0.50 J (6.7 % of its maximum) instead of falling (at 0.70 s); it fell as expected in 3 of 5 steps"
    );
    assert!((report.longest_rise - 0.2).abs() < 1e-12);
}

#[test]
fn inputs_that_do_the_same_do_not_count_twice() {
    // Two motors for two joints, but both turn the first: B has rank 1.
    let system = |joints: [&str; 2]| {
        let arm = "name = 'arm'
            [bodies.upper]
            joint = { type = 'revolute', axis = [0, 1, 0] }
            shape = { sphere = { radius = 0.1 } }
            mass = 1
            center_of_mass = [0, 0, 0.5]
            [bodies.lower]
            parent = 'upper'
            position = [0, 0, 1]
            joint = { type = 'revolute', axis = [0, 1, 0] }
            shape = { sphere = { radius = 0.1 } }
            mass = 1
            center_of_mass = [0, 0, 0.5]\n";
        let motors =
            joints.map(|joint| format!("[[motors]]\njoint = '{joint}'\neffort = [-9, 9]\n"));
        fly_mechanics::System::from_toml(&(arm.to_owned() + &motors.concat())).expect("an arm")
    };
    let guarantee = |system: &fly_mechanics::System| {
        let model = &system.model;
        let ids: Vec<BodyId> = model.bodies().collect();
        let pairs = [(BodyId::WORLD, ids[0]), (ids[0], ids[1])].map(|(a, b)| SystemPair {
            a,
            b,
            energies: energies(),
        });
        let template =
            Template::of_system(model, Approach::Energy, pairs.to_vec(), Box::new(JointMap));
        let controller = Controller::new(SystemPlant::new(system).expect("a plant"), template);
        controller.expect("a controller").lyapunov_guarantee()
    };
    assert_eq!(
        guarantee(&system(["upper", "lower"])),
        LyapunovGuarantee::Always
    );
    assert_eq!(
        guarantee(&system(["upper", "upper"])),
        LyapunovGuarantee::Underactuated { rank: 1, dof: 2 }
    );
}
