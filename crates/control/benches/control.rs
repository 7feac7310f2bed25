//! Allocation and whole control steps: `cargo xtask bench control [FILTER]`.
//!
//! One line per measurement, `TIME,lib,model,algo,median_ns,min_ns,p90_ns,p99_ns`: time per step over all steps of a sequence,
//! many times over, each step timed alone and the clock's own time taken off. So the tail is that of the hardest
//! steps, and the state that a solver carries from one step to the next is that of a flight.
//!
//! The sequences of limited inputs are `testdata/bench` (bounds that move with every step) and the flights of a
//! quadcopter that recovers from upside down and of a tricopter that comes from afar (fixed bounds; 8 and 33 rows).

#[path = "../tests/suite/common/mod.rs"]
mod common;
#[path = "../tests/suite/common/eleven.rs"]
mod eleven;

use std::hint::black_box;
use std::time::Instant;

use common::{
    Flight, QUADCOPTER, QUADCOPTER_POLES, Sequence, TRICOPTER, TRICOPTER_PAIR, controller, vehicle,
};
#[cfg(feature = "osqp")]
use fly_control::allocation::Osqp;
use fly_control::allocation::{ActiveSet, Allocator, Limits};
use fly_control::estimator::{EstimatorParameters, Imu, InvariantFilter, Measurement};
use fly_control::predictor::StatePredictor;
use fly_control::system::SystemReference;
use fly_control::template::{DesiredMotion, PairKinematics, Tracking};
use fly_control::{Controller, ReferencePoint};
use fly_lie::{SE3, SE23, SO3};
use fly_mechanics::State;
use nalgebra::{DMatrix, DVector, Matrix3, Vector3, Vector6};

const HEXACOPTER: &str = include_str!("../../../configs/vehicles/hexacopter.toml");
const OCTOCOPTER: &str = include_str!("../../../configs/vehicles/octocopter.toml");
const COAXIAL_X8: &str = include_str!("../../../configs/vehicles/coaxial_x8.toml");

/// Passes over a sequence.
const PASSES: usize = 100;

fn main() {
    let filter = std::env::args()
        .skip(1)
        .find(|a| !a.starts_with('-'))
        .unwrap_or_default();
    let bench = Bench {
        filter,
        clock: clock(),
    };
    for name in ["quad4", "tri6", "oct8"] {
        let sequence = Sequence::read(name);
        bench.allocation(
            name,
            &sequence.limits(),
            &sequence.metric,
            |solver, input, time| {
                for step in &sequence.steps {
                    time(&mut || {
                        solver
                            .set_bounds(&step.lower, &step.upper)
                            .expect("bounds that fit");
                        black_box(solver.solve(step.desired.as_slice(), input));
                    });
                }
            },
        );
    }
    bench.flight(
        "quadcopter",
        QUADCOPTER,
        &format!("tilt_priority = 3.0\n{QUADCOPTER_POLES}"),
        Vector6::new(0.0, 0.0, 0.0, 3.11, 0.0, 0.0),
    );
    // Redundant rotors: a step costs at most 1.5 times the quadcopter's.
    for (name, description) in [
        ("hexacopter", HEXACOPTER),
        ("octocopter", OCTOCOPTER),
        ("coaxial_x8", COAXIAL_X8),
    ] {
        bench.flight(
            name,
            description,
            &format!("tilt_priority = 3.0\n{QUADCOPTER_POLES}"),
            Vector6::new(0.0, 0.0, 0.0, 3.11, 0.0, 0.0),
        );
    }
    bench.actuators();
    bench.flight(
        "tricopter",
        TRICOPTER,
        TRICOPTER_PAIR,
        Vector6::new(1.5, 1.0, -1.0, 0.7, -0.6, 2.0),
    );
    for approach in ["particle", "body", "energy"] {
        bench.template(approach);
    }
    for approach in ["particle", "body", "energy"] {
        bench.system(approach);
    }
    bench.estimator();
}

struct Bench {
    filter: String,
    /// ns that timing nothing takes.
    clock: f64,
}

impl Bench {
    /// Both solvers over a sequence, in which `pass` hands every step to its last argument.
    fn allocation(
        &self,
        model: &str,
        limits: &Limits,
        metric: &DMatrix<f64>,
        mut pass: impl FnMut(&mut dyn Allocator, &mut [f64], &mut dyn FnMut(&mut dyn FnMut())),
    ) {
        let mut input = vec![0.0; limits.input_dim()];
        let mut exact = ActiveSet::new(limits, metric).expect("a solver");
        self.measure(model, "active_set", |time| {
            pass(&mut exact, &mut input, time);
        });
        #[cfg(feature = "osqp")]
        {
            let mut splitting = Osqp::new(limits, metric).expect("a solver");
            self.measure(model, "osqp", |time| pass(&mut splitting, &mut input, time));
        }
    }

    /// A flight back to the origin from `start`: steps with limits inactive and active, and the allocation problems alone.
    fn flight(&self, model: &str, description: &str, settings: &str, start: Vector6<f64>) {
        let vehicle = vehicle(description);
        let goal = ReferencePoint::at_rest(SE3::identity());
        let with = |keys: &str| controller(description, keys, settings);
        let mut pilot = with("allocation = 'active_set'");
        let mut flight = Flight::new(&vehicle, State::at_rest(SE3::exp(&start)));
        let (mut free, mut limited, mut desired) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3000 {
            let state = flight.state;
            let step = pilot.step(&state, &goal);
            if step.saturated() {
                limited.push(state);
                desired.push(step.unconstrained.clone());
            } else {
                free.push(state);
            }
            flight.advance(step.input.as_slice(), 2e-3);
        }

        let run = |controller: &mut Controller,
                   states: &[State<f64>],
                   time: &mut dyn FnMut(&mut dyn FnMut())| {
            for state in states {
                time(&mut || {
                    black_box(controller.step(black_box(state), &goal).input[0]);
                });
            }
        };
        for approach in ["particle", "body", "energy"] {
            let mut controller = with(&format!(
                "approach = '{approach}'\nallocation = 'active_set'"
            ));
            self.measure(model, &format!("step_free_{approach}"), |time| {
                run(&mut controller, &free, time);
            });
        }
        let solvers: &[_] = if cfg!(feature = "osqp") {
            &["active_set", "osqp"]
        } else {
            &["active_set"]
        };
        for solver in solvers {
            let mut controller = with(&format!("allocation = '{solver}'"));
            self.measure(model, &format!("step_limited_{solver}"), |time| {
                run(&mut controller, &limited, time);
            });
        }

        let polytope = vehicle.rotors.limits();
        let interior = DVector::from_column_slice(vehicle.rotors.interior());
        let limits =
            Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior).expect("limits");
        let name = format!("{model}_{}_rows", limits.len());
        self.allocation(
            &name,
            &limits,
            pilot.allocation_metric(),
            |solver, input, time| {
                for desired in &desired {
                    time(&mut || {
                        black_box(solver.solve(desired.as_slice(), input));
                    });
                }
            },
        );
    }

    /// A step of a quadcopter whose rotors lag, with and without commands that lead, and a prediction of its state over a delay of 30 ms.
    fn actuators(&self) {
        let text = common::lagging(QUADCOPTER, [0.03; 2], 0.0);
        let mut random = common::Random::new(57);
        let motions: Vec<_> = (0..1000)
            .map(|_| (random.state(), random.reference()))
            .collect();
        for (name, lead) in [("step_unled", 0), ("step_led", 1)] {
            let keys = format!("allocation = 'none'\nactuators = {{ lead = {lead} }}");
            let mut controller = controller(&text, &keys, QUADCOPTER_POLES);
            self.measure("quadcopter", name, |time| {
                for (state, reference) in &motions {
                    time(&mut || {
                        controller.set_actuators(Some(&[2.0; 4]));
                        let step = controller.step_after(2e-3, black_box(state), reference);
                        black_box(step.input[0]);
                    });
                }
            });
        }
        let system = fly_mechanics::System::from_toml(&text).expect("a system");
        let predictor = StatePredictor::new(&system).expect("dynamics");
        let mut predictor = predictor.with_delay(0.03);
        for k in 0..30 {
            predictor.advance_actuators(&[2.0 + 0.01 * f64::from(k); 4], 2e-3);
        }
        self.measure("quadcopter", "look_ahead_30_ms", |time| {
            for _ in 0..10 {
                time(&mut || {
                    predictor.look_ahead(None);
                    black_box(predictor.ahead().velocity[0]);
                });
            }
        });
    }

    /// The invariant filter: a sample of the IMU, and the kinds of measurements.
    fn estimator(&self) {
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let parameters = EstimatorParameters::default();
        let start = InvariantFilter::new(parameters, SE23::identity(), gravity);
        let start = start.expect("the default parameters");
        let rest = Imu {
            gyro: Vector3::new(0.1, -0.2, 0.3),
            accelerometer: -gravity,
        };
        let mut filter = start.clone();
        self.measure("imu", "predict", |time| {
            filter = start.clone();
            for _ in 0..100 {
                time(&mut || {
                    black_box(filter.predict(black_box(&rest), 2e-3));
                });
            }
        });
        let (zero, one) = (Vector3::zeros(), Matrix3::identity());
        let position = Measurement::Position {
            value: zero,
            arm: zero,
            covariance: one,
        };
        let pose = Measurement::Pose {
            attitude: SO3::identity(),
            position: zero,
            arm: zero,
            attitude_covariance: one,
            position_covariance: one,
        };
        for (name, measurement) in [("correct_position", position), ("correct_pose", pose)] {
            let mut filter = start.clone();
            self.measure("imu", name, |time| {
                for _ in 0..100 {
                    filter.predict(&rest, 2e-3);
                    time(&mut || {
                        black_box(filter.correct(black_box(&measurement)));
                    });
                }
            });
        }
    }

    fn template(&self, approach: &str) {
        let controller = controller(
            TRICOPTER,
            &format!("approach = '{approach}'"),
            TRICOPTER_PAIR,
        );
        let mut template = controller.template().clone();
        let mut desired = DesiredMotion::of_dof(nalgebra::Const);
        let mut random = common::Random::new(51);
        let motions: Vec<_> = (0..1000)
            .map(|_| (PairKinematics::from(&random.state()), random.reference()))
            .collect();
        self.measure("pair", &format!("template_{approach}"), |time| {
            for (motion, reference) in &motions {
                time(&mut || {
                    let at = Tracking::new(black_box(motion), black_box(reference));
                    let Ok(()) = template.form(&at, &mut desired);
                    black_box(&desired);
                });
            }
        });
    }

    /// A whole step of a system with eleven degrees of freedom and as many inputs, limits inactive.
    fn system(&self, approach: &str) {
        let mut controller = eleven::controller(approach, f64::INFINITY);
        let mut random = common::Random::new(53);
        let mut motion = || eleven::motion(controller.model(), || random.next());
        let motions: Vec<_> = (0..200).map(|_| (motion(), motion())).collect();
        self.measure("system11", &format!("step_{approach}"), |time| {
            for ([x, xi, _], [x_r, xi_r, xi_dot_r]) in &motions {
                let goal = SystemReference {
                    configuration: x_r,
                    velocity: xi_r,
                    acceleration: xi_dot_r,
                };
                time(&mut || {
                    black_box(controller.step(x, xi, &goal).is_ok());
                });
            }
        });
    }

    /// Times what `pass` hands to its argument and prints a line.
    fn measure(
        &self,
        model: &str,
        algo: &str,
        mut pass: impl FnMut(&mut dyn FnMut(&mut dyn FnMut())),
    ) {
        if !format!("fly {model} {algo}").contains(&self.filter) {
            return;
        }
        let mut times = Vec::new();
        pass(&mut |step| step());
        for _ in 0..PASSES {
            pass(&mut |step| {
                let start = Instant::now();
                step();
                times.push(start.elapsed().as_nanos() as f64 - self.clock);
            });
        }
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "TIME,fly,{model},{algo},{:.0},{:.0},{:.0},{:.0}",
            at(50),
            at(0),
            at(90),
            at(99)
        );
    }
}

/// What timing nothing takes, ns.
fn clock() -> f64 {
    let mut times: Vec<u128> = (0..10_001)
        .map(|_| {
            let start = Instant::now();
            black_box(&mut || {})();
            start.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2] as f64
}
