//! A quadcopter thrown into the air returns to hover inside its thrust limits, from any attitude, with the weight rho; and
//! without it, from nearly upside down, it does not.
//!
//! The tests fly a sample. `cargo xtask recovery` flies a stratified 2000 in release; `cargo xtask recovery --all` the whole grid of 2400 attitudes,
//! at rest and at 5 m/s in 14 directions, for nine controllers: 324000 flights, a quarter of an hour on two cores. What that prints stands in
//! short at `fly_control::law::Law::metric_with_priority`.

#[path = "../suite/common/mod.rs"]
mod common;
mod led;

use std::f64::consts::TAU;

use common::controller;
use fly_control::{Controller, ReferencePoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{Integrator, rk4};
use fly_mechanics::{State, Vehicle};
use nalgebra::{Matrix6x4, Quaternion, UnitQuaternion, Vector3, Vector4, Vector6};

/// The lag of the shipped rotors, s.
const LAG: f64 = 0.03;
/// Time between control steps, s.
const STEP: f64 = 2e-3;
/// Recovered is who is within this of hover (m and rad) after at most so long (s), and stays for 5 s more.
const CLOSE: f64 = 0.05;
const TIME: f64 = 15.0;
/// Far inside, where the limits are met no more and the linear closed loop takes over.
const THERE: f64 = 1e-3;
/// The flights known from elsewhere are given to 0.1 s and 0.1 m, and were flown with control in continuous time.
const NEAR: f64 = 0.1;
/// The angle (degrees) from which Lee (2010) flies.
const LEE: f64 = 178.2;

/// The shipped quadcopter, whose rotors' lag (s) may be left away, and its controller.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Four poles of the horizontal motion here, 1/s.
    pole: f64,
    /// kg m^2.
    rho: f64,
    /// s.
    lag: f64,
}

/// How a flight went.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// When it came close for good, s.
    settled: f64,
    /// How far it fell, m.
    drop: f64,
}

impl Case {
    fn description() -> String {
        let path = "/../../configs/vehicles/quadcopter.toml";
        std::fs::read_to_string(env!("CARGO_MANIFEST_DIR").to_owned() + path).unwrap()
    }

    fn controller(self, description: &str) -> Controller {
        let Self { pole, rho, .. } = self;
        controller(
            description,
            &format!("allocation = 'active_set'\ntilt_priority = {rho}"),
            &format!(
                "[poles]\nhorizontal = [{pole}, {pole}, {pole}, {pole}]\n\
                 yaw = {{ inertia = 0.02, damping = 0.16, stiffness = 0.32 }}"
            ),
        )
    }

    /// Flies from the origin with this attitude and velocity (m/s, in the world) to hover there.
    fn fly(
        self,
        vehicle: &Vehicle,
        controller: &mut Controller,
        attitude: SO3<f64>,
        velocity: Vector3<f64>,
    ) -> Option<Recovery> {
        let goal = ReferencePoint::at_rest(SE3::identity());
        let v = attitude.inverse().act(&velocity);
        let mut state = State {
            pose: SE3::new(attitude, Vector3::zeros()),
            twist: Vector6::new(v.x, v.y, v.z, 0.0, 0.0, 0.0),
        };
        let matrix = vehicle.rotors.input_matrix();
        let matrix = Matrix6x4::from_fn(|i, j| matrix[(i, j)]);
        let mut thrusts = [0.2; 4];
        let mut integrator = Integrator::new(4);
        let mut flight = Recovery {
            settled: 0.0,
            drop: 0.0,
        };
        let mut time = 0.0;
        while time < TIME + 5.0 {
            let position = state.pose.translation;
            let (off, angle) = (position.norm(), state.pose.rotation.log().norm());
            flight.drop = flight.drop.max(-position.z);
            if off > CLOSE || angle > CLOSE {
                flight.settled = time;
            } else if off.max(angle).max(state.twist.norm()) < THERE {
                break;
            }
            let input = &controller.step(&state, &goal).input;
            assert!(input.iter().all(|thrust| (0.2..=7.0).contains(thrust)));
            let input = Vector4::from_column_slice(input.as_slice());
            for _ in 0..2 {
                if self.lag > 0.0 {
                    integrator.step(
                        &mut state,
                        &mut thrusts,
                        0.5 * STEP,
                        |state, actual, rates| {
                            let actual = Vector4::from_column_slice(actual);
                            rates.copy_from_slice(((input - actual) / self.lag).as_slice());
                            vehicle.body.acceleration(state, &(matrix * actual))
                        },
                    );
                } else {
                    let wrench = matrix * input;
                    state = rk4(&state, 0.5 * STEP, |s| {
                        vehicle.body.acceleration(s, &wrench)
                    });
                }
            }
            time += STEP;
        }
        (flight.settled <= TIME).then_some(flight)
    }

    /// One flight from this angle (degrees) about body x, at rest.
    fn roll(self, degrees: f64) -> Option<Recovery> {
        let description = Self::description();
        let vehicle = common::vehicle(&description);
        let attitude = SO3::exp(&(Vector3::x() * degrees.to_radians()));
        let mut controller = self.controller(&description);
        self.fly(&vehicle, &mut controller, attitude, Vector3::zeros())
    }

    /// Flies from every attitude at rest and with as many of the directions; how many fail, and a line about the others.
    fn fly_grid(self, attitudes: &[SO3<f64>], directions: usize) -> usize {
        let description = Self::description();
        let vehicle = common::vehicle(&description);
        let all = directions_of_motion();
        let half = |attitudes: &[SO3<f64>], first: usize| {
            // Nothing that a flight leaves behind in the solver makes a difference beyond rounding.
            let mut controller = self.controller(&description);
            let mut flights = [Vec::new(), Vec::new()];
            for (i, attitude) in (first..).zip(attitudes) {
                let velocities = (0..directions).map(|k| all[(i + k) % all.len()] * 5.0);
                let rest = std::iter::once(Vector3::zeros());
                for velocity in rest.chain(velocities) {
                    let flight = self.fly(&vehicle, &mut controller, *attitude, velocity);
                    flights[usize::from(velocity.norm() > 0.0)].push(flight);
                }
            }
            flights
        };
        let (a, b) = attitudes.split_at(attitudes.len() / 2);
        let [at_rest, moving] = std::thread::scope(|scope| {
            let other = scope.spawn(|| half(b, a.len()));
            let mut flights = half(a, 0);
            for (flights, more) in flights.iter_mut().zip(other.join().unwrap()) {
                flights.extend(more);
            }
            flights
        });
        println!("{self:?}");
        report("at rest", &at_rest) + report("at 5 m/s", &moving)
    }
}

/// Prints the distribution and returns how many failed.
fn report(name: &str, flights: &[Option<Recovery>]) -> usize {
    let sorted = |of: fn(&Recovery) -> f64| {
        let mut values: Vec<f64> = flights.iter().flatten().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (settled, drop) = (sorted(|f| f.settled), sorted(|f| f.drop));
    let failed = flights.len() - settled.len();
    let at = |values: &[f64], percent: usize| {
        let last = values.len().saturating_sub(1);
        values
            .get(last * percent / 100)
            .copied()
            .unwrap_or(f64::NAN)
    };
    println!(
        "  {name:8} {failed:4} of {:5} fail; settled after {:.2} s (median), {:.2} (90 %), {:.2} (99 %), {:.2} (last); \
         fell {:.2} m (median), {:.2} (99 %), {:.2} (most)",
        flights.len(),
        at(&settled, 50),
        at(&settled, 90),
        at(&settled, 99),
        at(&settled, 100),
        at(&drop, 50),
        at(&drop, 99),
        at(&drop, 100),
    );
    failed
}

/// Attitudes spread evenly over all of SO(3): super-Fibonacci spirals (Alexa, CVPR 2022).
fn everywhere(count: u32) -> Vec<SO3<f64>> {
    // psi^4 = psi + 4.
    let (phi, psi) = (2.0_f64.sqrt(), 1.533_751_168_755_204_3);
    let spiral = |i: u32| {
        let s = f64::from(i) + 0.5;
        let (a, b, t) = (TAU * s / phi, TAU * s / psi, s / f64::from(count));
        let (r, q) = (t.sqrt(), (1.0 - t).sqrt());
        let quaternion = Quaternion::new(q * b.cos(), r * a.sin(), r * a.cos(), q * b.sin());
        assert!(
            quaternion.w.abs() > 1e-6,
            "an exact half turn is an equilibrium"
        );
        let rotation = UnitQuaternion::from_quaternion(quaternion).to_rotation_matrix();
        SO3::from_matrix(*rotation.matrix())
    };
    (0..count).map(spiral).collect()
}

/// Turns by one angle (degrees) about axes spread evenly over the sphere: a Fibonacci spiral.
fn turns(degrees: f64, count: u32) -> Vec<SO3<f64>> {
    let golden = TAU * (1.5 - 0.5 * 5.0_f64.sqrt());
    let turn = |i: u32| {
        let z = 1.0 - f64::from(2 * i + 1) / f64::from(count);
        let (r, angle) = ((1.0 - z * z).sqrt(), golden * f64::from(i));
        let axis = Vector3::new(r * angle.cos(), r * angle.sin(), z);
        SO3::exp(&(axis * degrees.to_radians()))
    };
    (0..count).map(turn).collect()
}

/// The whole grid: 2400 attitudes.
fn grid() -> Vec<SO3<f64>> {
    let mut attitudes = everywhere(2000);
    for (degrees, count) in [(LEE, 200), (179.5, 100), (179.9, 100)] {
        attitudes.extend(turns(degrees, count));
    }
    attitudes
}

/// Towards the faces and the corners of a cube.
fn directions_of_motion() -> Vec<Vector3<f64>> {
    let signs = [-1.0, 0.0, 1.0];
    let mut all = Vec::new();
    for (x, y, z) in signs.iter().flat_map(|x| {
        let signs = &signs;
        signs
            .iter()
            .flat_map(move |y| signs.iter().map(move |z| (*x, *y, *z)))
    }) {
        let v = Vector3::new(x, y, z);
        if v.amax() > 0.0 && (v.abs().sum() == 1.0 || v.abs().sum() == 3.0) {
            all.push(v.normalize());
        }
    }
    assert_eq!(all.len(), 14);
    all
}

/// The controllers that recover from everywhere: rotors as the law believes them to be, and with their lag.
const SAFE: [Case; 5] = [
    Case {
        pole: -5.0,
        rho: 3.0,
        lag: 0.0,
    },
    Case {
        pole: -4.0,
        rho: 3.0,
        lag: 0.0,
    },
    Case {
        pole: -3.5,
        rho: 3.0,
        lag: 0.0,
    },
    Case {
        pole: -3.5,
        rho: 3.0,
        lag: LAG,
    },
    Case {
        pole: -3.0,
        rho: 3.0,
        lag: LAG,
    },
];

#[test]
fn with_rho_it_recovers_from_everywhere() {
    let mut attitudes = everywhere(24);
    attitudes.extend(turns(LEE, 8));
    for case in [SAFE[0], SAFE[1], SAFE[3]] {
        assert_eq!(case.fly_grid(&attitudes, 1), 0, "{case:?}");
    }
}

/// For each controller the strata of the whole grid, each attitude at rest and in one of the directions in turn.
#[test]
#[ignore = "flies 2000 times: cargo xtask recovery"]
fn with_rho_it_recovers_from_a_stratified_2000() {
    let mut attitudes = everywhere(140);
    // Even counts as in the whole grid, so that no axis is exactly horizontal.
    for (degrees, count) in [(LEE, 30), (179.5, 14), (179.9, 16)] {
        attitudes.extend(turns(degrees, count));
    }
    assert_eq!(SAFE.len() * attitudes.len() * 2, 2000);
    for case in SAFE {
        assert_eq!(case.fly_grid(&attitudes, 1), 0, "{case:?}");
    }
}

#[test]
#[ignore = "flies 324000 times, a quarter of an hour: cargo xtask recovery --all"]
fn with_rho_it_recovers_from_the_whole_grid() {
    let attitudes = grid();
    for case in SAFE {
        assert_eq!(case.fly_grid(&attitudes, 14), 0, "{case:?}");
    }
    // Beyond: what the lag does to faster poles, and what is lost without rho.
    for (pole, rho, lag) in [
        (-4.0, 3.0, LAG),
        (-5.0, 3.0, LAG),
        (-4.0, 0.0, 0.0),
        (-5.0, 0.0, 0.0),
    ] {
        assert!(Case { pole, rho, lag }.fly_grid(&attitudes, 14) > 0);
    }
}

/// From 178.2 degrees about x at rest: seconds until close, metres fallen; computed independently, to the digits given.
#[test]
fn with_rho_it_turns_over_from_178_degrees() {
    for (pole, settled, drop) in [(-2.5, 6.4, 8.5), (-4.0, 3.7, 3.5), (-5.0, 2.9, 2.4)] {
        let flight = Case {
            pole,
            rho: 3.0,
            lag: 0.0,
        }
        .roll(LEE)
        .unwrap();
        assert!(
            (flight.settled - settled).abs() < NEAR,
            "{pole}: {flight:?}"
        );
        assert!((flight.drop - drop).abs() < NEAR, "{pole}: {flight:?}");
    }
}

/// Without the weight giving up thrust comes before giving up torque: all rotors idle and it falls as it is, unless the poles
/// are slow. Up to 170 degrees it needs no weight.
#[test]
fn without_rho_it_recovers_from_170_degrees_but_not_from_178() {
    let literal = |pole: f64| Case {
        pole,
        rho: 0.0,
        lag: 0.0,
    };
    for pole in [-3.0, -4.0, -5.0] {
        assert!(literal(pole).roll(LEE).is_none(), "{pole}");
    }
    let slow = literal(-2.5).roll(LEE).unwrap();
    assert!(
        (slow.settled - 6.9).abs() < NEAR && (slow.drop - 13.8).abs() < NEAR,
        "{slow:?}"
    );
    let known = [
        (
            -2.5,
            [
                (60.0, 4.2, 0.4),
                (90.0, 4.6, 0.9),
                (120.0, 5.0, 1.5),
                (150.0, 5.4, 2.6),
                (170.0, 5.9, 4.8),
            ],
        ),
        (
            -4.0,
            [
                (60.0, 2.2, 0.2),
                (90.0, 2.4, 0.3),
                (120.0, 2.7, 0.6),
                (150.0, 3.0, 1.1),
                (170.0, 3.5, 2.3),
            ],
        ),
        (
            -5.0,
            [
                (60.0, 1.6, 0.1),
                (90.0, 1.8, 0.2),
                (120.0, 2.0, 0.4),
                (150.0, 2.3, 0.7),
                (170.0, 2.8, 1.8),
            ],
        ),
    ];
    for (pole, flights) in known {
        for (degrees, settled, drop) in flights {
            let flight = literal(pole).roll(degrees).unwrap();
            assert!(
                (flight.settled - settled).abs() < NEAR,
                "{pole}, {degrees}: {flight:?}"
            );
            assert!(
                (flight.drop - drop).abs() < NEAR,
                "{pole}, {degrees}: {flight:?}"
            );
        }
    }
}

/// What no grid of ours holds: at rest a tenth of a degree from upside down about an axis that is exactly horizontal, nothing turns the vehicle about
/// the vertical, and it falls as it is; a slight heading error is enough to bring it back.
#[test]
fn next_to_the_half_turn_an_exactly_horizontal_axis_is_not_recovered() {
    let description = Case::description();
    let vehicle = common::vehicle(&description);
    let case = SAFE[2];
    let from = |z: f64| {
        let axis = Vector3::new(1.0, 0.2, z).normalize();
        let attitude = SO3::exp(&(axis * 179.9_f64.to_radians()));
        let mut controller = case.controller(&description);
        case.fly(&vehicle, &mut controller, attitude, Vector3::zeros())
    };
    assert!(from(0.0).is_none());
    assert!(from(0.003).is_some());
}

/// An exact half turn at rest is an equilibrium of the template: nothing says which way to turn.
#[test]
fn an_exact_half_turn_at_rest_is_an_equilibrium_of_the_template() {
    let description = Case::description();
    let case = SAFE[1];
    let controller = case.controller(&description);
    let state = |degrees: f64| State::at_rest(SE3::new(turns(degrees, 1)[0], Vector3::zeros()));
    let goal = ReferencePoint::at_rest(SE3::identity());
    let moment = |degrees| {
        controller
            .desired(&state(degrees), &goal)
            .bias
            .fixed_rows::<3>(3)
            .norm()
    };
    assert!(
        moment(180.0) < 1e-12 && moment(LEE) > 1e-2,
        "{} {}",
        moment(180.0),
        moment(LEE)
    );
}
