//! Led by a governor, every shipped vehicle returns from any attitude, far away, fast and spinning, with the lags of its actuators.
//!
//! The tests fly a few starts near by. `cargo xtask recovery --led` flies 2000 of each vehicle, from up to 1 km away, in release, and the shipped
//! quadcopter from the grid of attitudes of [`super`]; with names of vehicles only theirs, with `grid` only that.
#![allow(non_snake_case)]

use std::f64::consts::TAU;

use fly_control::analysis::ClosedLoop;
use fly_control::governor::Governor;
use fly_control::{Controller, ControllerSettings, ReferencePoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::Integrator;
use fly_mechanics::{State, System, Vehicle};
use nalgebra::{DVector, Quaternion, UnitQuaternion, Vector3, Vector6};

/// Vehicles, and the flights whose controllers they have.
const VEHICLES: [(&str, &str); 8] = [
    ("quadcopter", "quadcopter"),
    ("tricopter", "tricopter"),
    ("hexacopter", "hexacopter"),
    ("octocopter", "octocopter"),
    ("coaxial_x8", "coaxial_x8"),
    ("y6", "y6"),
    ("hexacopter_canted", "hexacopter_canted"),
    ("octocopter_canted", "octocopter_canted"),
];
/// Fastest start, m/s and rad/s.
const SPEED: f64 = 15.0;
const SPIN: f64 = 8.0;
/// Control step, s.
const STEP: f64 = 2e-3;
/// The vehicles of the campaign, separated by commas: all, if it is not set.
const ONLY: &str = "FLY_RECOVERY";
/// The whole of the grid.
const GRID: &str = "grid";
/// Returned is who is and stays this near (m and rad) …
const CLOSE: f64 = 0.05;
/// … until it is this near, with all velocities.
const THERE: f64 = 1e-3;
/// What recovering may take, s, beyond the way home at the slowest limit.
const TIME: f64 = 60.0;
/// Where the reference has not been drawn to it for so long, s, it has recovered, and keeps to the largest tilt, with this slack: what the law still had to
/// take away has settled (four time constants of the slowest poles, -2 1/s).
const RECOVERED: f64 = 2.0;
const SLACK: f64 = 1.25;

/// A vehicle, its controller and what leads it.
struct Fleet {
    name: &'static str,
    vehicle: Vehicle,
    settings: ControllerSettings,
    governor: Governor,
}

/// How a flight went.
struct Return {
    /// When it came close for good, s.
    settled: f64,
    /// How far it fell below start and goal, m.
    drop: f64,
    /// The largest tilt (rad) once it had recovered.
    tilt: f64,
}

fn file(name: &str) -> String {
    let path = format!("{}/../../configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

impl Fleet {
    fn new((name, flight): (&'static str, &'static str)) -> Self {
        let system = System::from_toml(&file(&format!("vehicles/{name}"))).unwrap();
        let vehicle = Vehicle::try_from(system.clone()).unwrap();
        let table: toml::Table = toml::from_str(&file(flight)).unwrap();
        let mut settings: ControllerSettings = table["controller"].clone().try_into().unwrap();
        settings.allocation = fly_control::settings::AllocationMethod::ActiveSet;
        let settings = settings.governed(&vehicle);
        let controller = settings.build(&vehicle).unwrap();
        let level = system.model.neutral_configuration();
        let closed = ClosedLoop::new(&system, &controller, &level).unwrap();
        let governor = settings.governor(&vehicle, Some(&closed)).unwrap();
        Self {
            name,
            vehicle,
            settings,
            governor: governor.unwrap(),
        }
    }

    /// Flies from this state to hover in the origin; `None` if it does not return.
    fn fly(&self, controller: &mut Controller, start: State<f64>) -> Option<Return> {
        let rotors = &self.vehicle.rotors;
        let goal = ReferencePoint::at_rest(SE3::identity());
        let mut governor = self.governor.clone();
        let limits = *governor.limits();
        let commands = rotors.command_limits().len();
        let lags = rotors.time_constants();
        let mut actual: Vec<f64> = (rotors.command_limits().iter())
            .map(|[low, _]| low.max(0.0))
            .collect();
        let (mut wanted, mut input) = (vec![0.0; commands], vec![0.0; rotors.input_dim()]);
        let mut integrator = Integrator::new(commands);
        let mut state = start;
        let lowest = start.pose.translation.z.min(0.0);
        let way = start.pose.translation.norm() / limits.descent.min(limits.climb);
        let mut flight = Return {
            settled: 0.0,
            drop: 0.0,
            tilt: 0.0,
        };
        let (mut time, mut drawn, mut elapsed) = (0.0, 0.0, f64::INFINITY);
        while time < way + TIME {
            let (position, rotation) = (&state.pose.translation, &state.pose.rotation);
            let off = position.norm().max(rotation.log().norm());
            if off > CLOSE {
                flight.settled = time;
            } else if off.max(state.twist.norm()) < THERE {
                return Some(flight);
            }
            flight.drop = flight.drop.max(lowest - position.z);
            let point = governor.govern(elapsed, &state, &goal);
            if governor.has_jumped() {
                drawn = time;
            }
            if time - drawn > RECOVERED {
                let up = state.pose.rotation.matrix()[(2, 2)];
                flight.tilt = flight.tilt.max(up.clamp(-1.0, 1.0).acos());
            }
            let step = controller.step(&state, &point);
            rotors.commands_from_input(step.input.as_slice(), &mut wanted);
            for _ in 0..2 {
                integrator.step(&mut state, &mut actual, 0.5 * STEP, |s, actual, rates| {
                    for (i, rate) in rates.iter_mut().enumerate() {
                        *rate = (wanted[i] - actual[i]) / lags[i];
                    }
                    rotors.input_from_commands(actual, &mut input);
                    let wrench = rotors.input_matrix() * DVector::from_column_slice(&input);
                    let body = &self.vehicle.body;
                    body.acceleration(s, &Vector6::from_column_slice(wrench.as_slice()))
                });
            }
            time += STEP;
            elapsed = STEP;
        }
        None
    }

    /// Flies all these starts, on two threads; `None` for those that do not return.
    fn fly_all(&self, starts: &[State<f64>]) -> Vec<Option<Return>> {
        let part = |starts: &[State<f64>]| {
            let mut controller = self.settings.build(&self.vehicle).unwrap();
            (starts.iter())
                .map(|start| self.fly(&mut controller, *start))
                .collect::<Vec<_>>()
        };
        let (first, second) = starts.split_at(starts.len() / 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| part(second));
            let mut flights = part(first);
            flights.extend(other.join().unwrap());
            flights
        })
    }

    /// How many of these did not return, and how far tilted the worst was on its way; prints a row of the table.
    fn report(&self, starts: &str, flights: &[Option<Return>]) -> (usize, f64) {
        let sorted = |of: fn(&Return) -> f64| {
            let mut values: Vec<f64> = flights.iter().flatten().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let [settled, drop, tilt] = [
            sorted(|f| f.settled),
            sorted(|f| f.drop),
            sorted(|f| f.tilt),
        ];
        let at = |values: &[f64], percent: usize| {
            let last = values.len().saturating_sub(1);
            (values.get(last * percent / 100))
                .copied()
                .unwrap_or(f64::NAN)
        };
        let lost = flights.len() - settled.len();
        println!(
            "| `{}`{starts} | {lost} of {} | {:.1} s | {:.1} s | {:.1} s | {:.1} m | {:.1} m | {:.0}° of {:.0}° |",
            self.name,
            flights.len(),
            at(&settled, 50),
            at(&settled, 99),
            at(&settled, 100),
            at(&drop, 99),
            at(&drop, 100),
            at(&tilt, 100).to_degrees(),
            self.governor.limits().tilt.to_degrees(),
        );
        for (i, _) in (flights.iter().enumerate()).filter(|(_, flight)| flight.is_none()) {
            eprintln!("{}{starts}: start {i} is lost", self.name);
        }
        (lost, at(&tilt, 100))
    }

    /// So many seeded starts, from at most this far away.
    fn fly_seeded(&self, starts: u64, far: f64) -> (usize, f64) {
        let starts: Vec<_> = (0..starts).map(|i| start(i, far)).collect();
        self.report("", &self.fly_all(&starts))
    }

    /// Every attitude of the grid, at rest and at 5 m/s in 14 directions.
    fn fly_grid(&self) -> [(usize, f64); 2] {
        let attitudes = super::grid();
        let state = |R: &SO3<f64>, velocity: Vector3<f64>| {
            let v = R.inverse().act(&velocity);
            State {
                pose: SE3::new(*R, Vector3::zeros()),
                twist: Vector6::new(v.x, v.y, v.z, 0.0, 0.0, 0.0),
            }
        };
        let at_rest: Vec<_> = (attitudes.iter())
            .map(|R| state(R, Vector3::zeros()))
            .collect();
        let directions = super::directions_of_motion();
        let moving: Vec<_> = (attitudes.iter())
            .flat_map(|R| directions.iter().map(|v| state(R, *v * 5.0)))
            .collect();
        [(", grid at rest", at_rest), (", grid at 5 m/s", moving)]
            .map(|(name, starts)| self.report(name, &self.fly_all(&starts)))
    }
}

/// Start number i: any attitude, position (denser near by), velocity and spin.
fn start(i: u64, far: f64) -> State<f64> {
    let mut numbers = (0..).map(|k| {
        // SplitMix64.
        let mut z = (16 * i + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    });
    let mut next = || numbers.next().unwrap_or(0.0);
    // Uniform in SO(3) (Shoemake 1992).
    let (r, a, b) = (next(), TAU * next(), TAU * next());
    let (q, p) = ((1.0 - r).sqrt(), r.sqrt());
    let quaternion = Quaternion::new(p * b.cos(), q * a.sin(), q * a.cos(), p * b.sin());
    let rotation = UnitQuaternion::from_quaternion(quaternion).to_rotation_matrix();
    let R = SO3::from_matrix(*rotation.matrix());
    let mut direction = || {
        let (z, a) = (2.0 * next() - 1.0, TAU * next());
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * a.cos(), r * a.sin(), z)
    };
    let directions = [direction(), direction(), direction()];
    let [position, velocity, spin] = directions;
    let (p, v, w) = (next(), next(), next());
    let velocity = R.inverse().act(&(velocity * (SPEED * v)));
    let spin = spin * (SPIN * w);
    State {
        pose: SE3::new(R, position * (far * p * p)),
        twist: Vector6::new(velocity.x, velocity.y, velocity.z, spin.x, spin.y, spin.z),
    }
}

#[test]
fn led_it_returns_from_far_away() {
    for which in VEHICLES {
        let fleet = Fleet::new(which);
        let (lost, tilt) = fleet.fly_seeded(12, 40.0);
        let most = SLACK * fleet.governor.limits().tilt;
        assert!(lost == 0 && tilt <= most, "{}: {lost}, {tilt}", fleet.name);
    }
}

/// Thrown with a spin about its thrust: large errors that turn about the vehicle would take all that the rotors have, and it would spin for ever.
#[test]
fn a_fast_spin_is_stopped() {
    let fleet = Fleet::new(("hexacopter", "hexacopter"));
    let mut controller = fleet.settings.build(&fleet.vehicle).unwrap();
    let flight = fleet.fly(&mut controller, start(1670, 1000.0));
    assert!(flight.is_some_and(|flight| flight.settled < TIME));
}

#[test]
#[ignore = "flies 2000 times with each vehicle, and 36000 with one: cargo xtask recovery --led"]
fn led_every_vehicle_returns() {
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_asked = |name: &str| only.is_empty() || only.split(',').any(|asked| asked == name);
    println!(
        "\n| vehicle | lost | median | 99 % | last | fell (99 %) | fell (most) | tilt after recovering |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let mut failures = Vec::new();
    let mut judge = |fleet: &Fleet, (lost, tilt): (usize, f64)| {
        if lost > 0 || tilt > SLACK * fleet.governor.limits().tilt {
            failures.push((fleet.name, lost, tilt));
        }
    };
    for which in VEHICLES.into_iter().filter(|(name, _)| is_asked(name)) {
        let fleet = Fleet::new(which);
        judge(&fleet, fleet.fly_seeded(2000, 1000.0));
    }
    if is_asked(GRID) {
        let fleet = Fleet::new(VEHICLES[0]);
        for result in fleet.fly_grid() {
            judge(&fleet, result);
        }
    }
    assert_eq!(failures, []);
}
