//! What turns the rotors: against RotorPy, closed forms, momentum and energies.

#![allow(non_snake_case)]

use std::path::Path;

use crate::random_tree::Random;

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Frame};
use fly_mechanics::propulsion::{Battery, Circuit, OpenCircuit};
use fly_mechanics::{ActuatedDynamics, System, Vehicle};
use fly_testing::golden::{array, json, number, numbers};
use nalgebra::{Vector3, Vector6};

/// A free body with these rotors and this battery.
fn system(rotors: &[&str], battery: &str) -> System {
    let mut text = String::from(
        "name = 'one'
        [bodies.frame]
        mass = 0.8
        inertia = [0.004, 0.005, 0.007]\n",
    );
    for rotor in rotors {
        text += "[[rotors]]\nbody = 'frame'\n";
        text += rotor;
        text += "\n";
    }
    text += battery;
    System::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// At rest, with these thrusts and the battery's charge.
fn start(system: &System, thrusts: &[f64], charge: f64) -> (ActuatedDynamics, SystemState<f64>) {
    let mut dynamics = ActuatedDynamics::new(system, 1e-3).expect("dynamics");
    let mut state = SystemState::at_rest(&system.model);
    state.velocity.extend_from_slice(thrusts);
    dynamics.start_propulsion(system, charge, &mut state);
    (dynamics, state)
}

fn rates(
    dynamics: &mut ActuatedDynamics,
    system: &System,
    command: &[f64],
    state: &SystemState<f64>,
) -> Vec<f64> {
    let mut rates = vec![0.0; state.velocity.len()];
    dynamics.rates(system, command, state, &mut rates);
    rates
}

/// The rates of the speeds in `Multirotor._s_dot_fn`, for commands that are clamped as the plant does.
#[test]
fn speeds_lag_as_those_of_rotorpy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rotorpy/motors.json");
    let (mut count, mut worst) = (0, 0.0_f64);
    for vehicle in array(&json(&path)["vehicles"]) {
        let get = |key: &str| number(&vehicle[key]);
        let (k_eta, most) = (get("k_eta"), get("rotor_speed_max"));
        let rotor = format!(
            "position = [0, 0, 0]\naxis = [0, 0, 1]\nthrust = [0, {:e}]\nthrust_coefficient = {k_eta:e}
            motor = {{ time_constant = {:e} }}",
            k_eta * most * most,
            get("tau_m")
        );
        let system = system(&[rotor.as_str(); 4], "");
        for case in array(&vehicle["states"]) {
            let speeds = numbers(&case["speeds"]);
            let thrusts: Vec<f64> = speeds.iter().map(|speed| k_eta * speed * speed).collect();
            let limits = system.inputs.command_limits().iter();
            let commands = numbers(&case["commands"]);
            let commands: Vec<f64> = (commands.iter().zip(limits))
                .map(|(c, [low, high])| (k_eta * c * c.abs()).clamp(*low, *high))
                .collect();
            let (mut dynamics, state) = start(&system, &thrusts, 1.0);
            for (found, speed) in state.velocity[6..].iter().zip(&speeds) {
                assert!((found / speed - 1.0).abs() < 1e-14);
            }
            let found = rates(&mut dynamics, &system, &commands, &state);
            for (found, expected) in found[6..].iter().zip(numbers(&case["rates"])) {
                let error = (found - expected).abs() / expected.abs().max(most / get("tau_m"));
                worst = worst.max(error);
                assert!(error < 1e-9, "{found} {expected}");
                count += 1;
            }
        }
    }
    println!("{count} rates, worst relative error {worst:.1e}");
    assert_eq!(count, 12 * 6 * 4);
}

const WINDING: &str = "thrust = [0, 12]
drag_ratio = 0.016
thrust_coefficient = 9e-6
motor = { kv_rpm = 950, resistance = 0.12, no_load_current = 0.4, inertia = 6e-5 }";
const LAG: &str = "thrust = [-4, 12]
drag_ratio = -0.02
thrust_coefficient = 8e-6
motor = { time_constant = 0.03, inertia = 4e-5, efficiency = 0.7 }";
const BATTERY: &str = "[battery]\ncells = 3\ncapacity_ah = 0.02\nresistance = 0.05\n";

/// A frame with a tilting rotor, and an arm on a hinge with two others. The factor makes the rotors push less at the same speed.
fn crane(factor: f64, battery: &str) -> System {
    let weaken = |rotor: &str| {
        (rotor.replace("[0, 12]", &format!("[0, {:e}]", 12.0 * factor)))
            .replace(
                "[-4, 12]",
                &format!("[{:e}, {:e}]", -4.0 * factor, 12.0 * factor),
            )
            .replace("9e-6", &format!("{:e}", 9e-6 * factor))
            .replace("8e-6", &format!("{:e}", 8e-6 * factor))
    };
    let (winding, lag) = (weaken(WINDING), weaken(LAG));
    let gravity = if factor < 1.0 { 0.0 } else { -9.81 };
    let text = format!(
        "name = 'crane'
        gravity = [0, 0, {gravity}]
        [bodies.frame]
        mass = 1.5
        center_of_mass = [0.02, 0.01, -0.03]
        inertia = [0.02, 0.03, 0.04]
        [bodies.arm]
        parent = 'frame'
        position = [0.3, 0, 0.1]
        orientation = {{ rpy_deg = [20, -35, 70] }}
        joint = {{ type = 'revolute', axis = [0, 1, 0] }}
        mass = 0.3
        center_of_mass = [0.1, 0.02, 0]
        inertia = [0.002, 0.004, 0.004]
        [[rotors]]
        body = 'frame'
        position = [-0.2, 0.1, 0.05]
        axis = [0, 0, 1]
        tilt = {{ axis = [0, 1, 0], limit_deg = 60, time_constant = 0.1 }}
        {winding}
        [[rotors]]
        body = 'arm'
        position = [0.15, 0, 0.03]
        axis = [0.3, -0.2, 1]
        {lag}
        [[rotors]]
        body = 'arm'
        position = [0.1, 0.1, 0.03]
        axis = [1, 0.1, 0]
        {winding}
        {battery}"
    );
    System::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Of the crane's rotors: sense and inertia, drag coefficient by that of the thrust, and the index of the thrust.
const ROTORS: [(f64, f64, f64, usize); 3] = [
    (-6e-5, 0.016, 9e-6, 0),
    (4e-5, 0.02, 8e-6, 2),
    (-6e-5, 0.016, 9e-6, 3),
];

/// Where each rotor of the crane is, with its axis, and its twist; the first one tilts with this rate.
fn hubs(
    system: &System,
    dynamics: &mut ActuatedDynamics,
    state: &SystemState<f64>,
    tilt_rate: f64,
) -> [(SE3<f64>, Vector3<f64>, Vector6<f64>); 3] {
    let (model, n) = (&system.model, system.model.dof());
    let workspace = dynamics.workspace_mut();
    workspace.update(model, &state.configuration, &state.velocity[..n]);
    let tilted = SO3::exp(&(Vector3::y() * state.velocity[n + 1])).act(&Vector3::z());
    let rotors = system.inputs.rotors().as_slice();
    let [frame, arm] = ["frame", "arm"].map(|name| model.body_id(name).expect("a body"));
    let axes = [tilted, rotors[1].axis, rotors[2].axis];
    let rates = [tilt_rate, 0.0, 0.0];
    [0, 1, 2].map(|i| {
        let body = if i == 0 { frame } else { arm };
        let hub = Frame::new(body, SE3::new(SO3::identity(), rotors[i].position));
        let pose = workspace.pose(BodyId::WORLD, hub);
        let mut twist: Vector6<f64> = workspace.twist(BodyId::WORLD, hub);
        twist[4] += rates[i];
        (pose, axes[i], twist)
    })
}

/// About the world's origin, of bodies and rotors, kg m^2/s.
fn angular_momentum(
    system: &System,
    dynamics: &mut ActuatedDynamics,
    state: &SystemState<f64>,
) -> Vector3<f64> {
    let (model, n) = (&system.model, system.model.dof());
    let hubs = hubs(system, dynamics, state, 0.0);
    let mut total = Vector3::zeros();
    for ((inertia, _, _, command), (pose, axis, _)) in ROTORS.iter().zip(&hubs) {
        total += pose.rotation.act(axis) * (inertia * state.velocity[n + command]);
    }
    let workspace = dynamics.workspace_mut();
    for body in model.bodies() {
        let inertia = model.inertia(body).expect("a mass");
        let center = Frame::new(body, SE3::new(SO3::identity(), inertia.center_of_mass()));
        let pose = workspace.pose(BodyId::WORLD, center);
        let twist: Vector6<f64> = workspace.twist(BodyId::WORLD, center);
        let [v, omega] = [0, 3].map(|i| Vector3::from_column_slice(&twist.as_slice()[i..i + 3]));
        let spin = pose.rotation.act(&(inertia.inertia_about_center() * omega));
        let momentum = pose.rotation.act(&v) * inertia.mass();
        total += spin + pose.translation.cross(&momentum);
    }
    total
}

fn fly(
    system: &System,
    dynamics: &mut ActuatedDynamics,
    state: &mut SystemState<f64>,
    time: f64,
    steps: u32,
    command: impl Fn(f64) -> Vec<f64>,
) {
    let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
    for _ in 0..steps {
        let step = time / f64::from(steps);
        integrator.step(&system.model, state, step, |state, rates| {
            dynamics.rates(system, &command(state.time), state, rates);
        });
    }
}

/// Rotors that turn but do not push: whatever their motors do, and however they tilt and swing, the angular momentum stays.
#[test]
fn angular_momentum_stays() {
    let system = crane(1e-20, "");
    let n = system.model.dof();
    let audit = |steps| {
        let thrusts = [6e-20, 0.3, 5e-20, 2e-20];
        let (mut dynamics, mut state) = start(&system, &thrusts, 1.0);
        state.velocity[..n].copy_from_slice(&[0.1, -0.2, 0.3, 0.5, -1.0, 0.8, 1.0]);
        let before = angular_momentum(&system, &mut dynamics, &state);
        let omega = state.velocity[3..6].to_vec();
        fly(&system, &mut dynamics, &mut state, 0.3, steps, |t| {
            let swing = (30.0 * t).sin();
            vec![6e-20 + 5e-20 * swing, 0.8 * swing, -3e-20 * swing, 1e-20]
        });
        let turned =
            Vector3::from_column_slice(&state.velocity[3..6]) - Vector3::from_column_slice(&omega);
        assert!(turned.norm() > 0.3, "the motors turn the body: {turned}");
        let after = angular_momentum(&system, &mut dynamics, &state);
        (after - before).norm() / before.norm()
    };
    let [coarse, fine] = [600, 1200].map(audit);
    println!("angular momentum changes by {coarse:.1e} and {fine:.1e}");
    assert!(fine < 1e-9 && fine < 0.1 * coarse, "{coarse} {fine}");
}

/// What the battery gives up is in bodies, rotors and height, or went into air, friction and resistances: to the order of the integrator.
#[test]
fn energy_goes_where_the_currents_take_it() {
    let system = crane(1.0, BATTERY);
    let n = system.model.dof();
    let battery = system.battery.clone().expect("a battery");
    // 12 N want more than the sagging battery has.
    let commands = [12.0, 0.4, 3.0, 5.0];
    let audit = |steps: u32| {
        let (mut dynamics, mut state) = start(&system, &[4.0, -0.2, 2.0, 6.0], 0.6);
        state.velocity[..n].copy_from_slice(&[1.0, -0.5, 0.3, 0.4, -0.2, 0.5, 1.0]);
        // Two appended states: the input minus the losses, and the losses in the windings.
        state.velocity.extend([0.0, 0.0]);
        let mut watch = dynamics.clone();
        let mut energy = |state: &SystemState<f64>| {
            let workspace = watch.workspace_mut();
            workspace.update(&system.model, &state.configuration, &state.velocity[..n]);
            let rotors = ROTORS.iter().map(|(inertia, _, _, command)| {
                0.5 * inertia.abs() * state.velocity[n + command].powi(2)
            });
            workspace.kinetic_energy(&system.model)
                + workspace.potential_energy(&system.model)
                + rotors.sum::<f64>()
        };
        let before = energy(&state);
        let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
        let mut frames = dynamics.clone();
        for _ in 0..steps {
            let step = 0.2 / f64::from(steps);
            integrator.step(&system.model, &mut state, step, |state, rates| {
                let last = state.velocity.len() - 2;
                let mut known = state.clone();
                known.velocity.truncate(last);
                dynamics.rates(&system, &commands, &known, &mut rates[..last]);
                let tilt_rate = rates[n + 1];
                let (source, voltage) = (
                    battery.open_circuit_voltage(known.velocity[last - 1]),
                    dynamics.voltage().expect("a battery"),
                );
                // I from the charge, V from the battery.
                let current = -rates[last - 1] * 3600.0 * battery.capacity;
                assert!((source - 0.05 * current - voltage).abs() < 1e-9 * source);
                let (mut power, mut heat) = (source * current - 0.05 * current * current, 0.0);
                let hubs = hubs(&system, &mut frames, &known, tilt_rate);
                for (i, (_, axis, twist)) in hubs.iter().enumerate() {
                    let (inertia, ratio, k_eta, command) = ROTORS[i];
                    let speed = known.velocity[n + command];
                    let thrust = k_eta * speed * speed.abs();
                    let v = Vector3::new(twist[0], twist[1], twist[2]);
                    let omega = Vector3::new(twist[3], twist[4], twist[5]);
                    let relative = speed - inertia.signum() * omega.dot(axis);
                    power += thrust * axis.dot(&v) - ratio * k_eta * speed.abs().powi(3);
                    if i == 1 {
                        // The lagging motor: its battery power does not follow its torque.
                        let drag = ratio * k_eta * speed * speed.abs();
                        let torque = inertia.abs() * rates[n + command] + drag;
                        power += torque * relative - drag * speed / 0.7;
                        continue;
                    }
                    let K = 60.0 / (950.0 * std::f64::consts::TAU);
                    let wanted = (commands[command] / k_eta).sqrt();
                    let holding = ratio * k_eta * wanted * wanted / K + 0.4;
                    let v = (K * wanted + 0.12 * holding).min(voltage);
                    let i = (v - K * relative) / 0.12;
                    heat += 0.12 * i * i;
                    power -= 0.12 * i * i + K * 0.4 * relative;
                }
                // What the servo does, which turns a turning rotor.
                let (_, axis, twist) = &hubs[0];
                let omega = Vector3::new(twist[3], twist[4], twist[5]);
                let momentum = ROTORS[0].0 * known.velocity[n];
                power += momentum * tilt_rate * omega.cross(axis).y;
                rates[last] = power;
                rates[last + 1] = heat;
            });
        }
        let [work, heat] = [2, 1].map(|i| state.velocity[state.velocity.len() - i]);
        (energy(&state) - before - work, work, heat)
    };
    let [(coarse, ..), (fine, work, heat)] = [200, 400].map(audit);
    println!("work {work:.3} J, windings {heat:.3} J, audit {coarse:.2e} J and {fine:.2e} J");
    assert!(work.abs() > 1.0 && heat > 1.0);
    assert!(fine.abs() < 1e-7 * work.abs(), "{fine}");
}

/// The voltage is the highest at which the battery supplies the demand of the motors: against a search over all voltages.
#[test]
fn circuits_are_solved() {
    let mut random = Random::new(3);
    let mut saturated = [0; 5];
    for _ in 0..2000 {
        let numbers = random.numbers(16, 1.0);
        let positive = |i: usize| numbers[i].abs();
        let (open, resistance) = (8.0 + 8.0 * positive(0), 0.3 * positive(1));
        let motors: Vec<[f64; 3]> = (0..4)
            .map(|i| {
                let wanted = 20.0 * numbers[2 + i];
                let emf = 0.9 * wanted * positive(6 + i);
                [wanted, emf, 0.05 + 0.5 * positive(10 + i)]
            })
            .collect();
        let power = 20.0 * positive(14);
        let mut circuit = Circuit::with_capacity(4);
        circuit.begin(power);
        for [wanted, emf, r] in &motors {
            circuit.add(*wanted, *emf, *r);
        }
        let found = circuit.solve(open, resistance).voltage;
        let missing = |voltage: f64| {
            let taken = motors.iter().map(|[wanted, emf, r]| {
                let v = wanted.clamp(-voltage, voltage);
                v * (v - emf) / r
            });
            voltage - open + resistance * (power + taken.sum::<f64>()) / voltage
        };
        // From above to the first change of sign; nothing gives energy back here that lifts the voltage above twice that of the source.
        let count = 4000;
        let at = |k: u32| 2.0 * open * f64::from(k) / f64::from(count);
        let below = (1..count).rev().find(|k| missing(at(*k)) <= 0.0);
        let Some(below) = below else {
            let most = (0..1000)
                .map(|k| at(4 * k + 1))
                .fold(f64::INFINITY, |least, v| least.min(missing(v)));
            // An overload, which `overload.rs` tests.
            assert!(most > 0.0);
            continue;
        };
        let (mut low, mut high) = (at(below), at(below + 1));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if missing(middle) <= 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        assert!((found - low).abs() < 1e-9 * open, "{found} {low}");
        saturated[motors.iter().filter(|motor| motor[0].abs() > found).count()] += 1;
    }
    println!("motors that got less than they wanted: {saturated:?}");
    assert!(saturated.iter().all(|count| *count > 20), "{saturated:?}");
}

/// A winding gets the thrust that it is told, or as much as the voltage allows: `K (V - K Omega) / R - K i_0 = k_m Omega^2`.
#[test]
fn motors_give_what_the_voltage_allows() {
    let K: f64 = 60.0 / (950.0 * std::f64::consts::TAU);
    let battery = |volts: f64| {
        format!(
            "[battery]\ncells = 1\ncapacity_ah = 1e9\nopen_circuit = [[0, {volts:e}], [1, {volts:e}]]"
        )
    };
    let rotor = format!("position = [0, 0, 0]\naxis = [0, 0, 1]\n{WINDING}");
    for volts in [16.0, 9.0, 6.0] {
        // On a rail, which does not turn.
        let text = format!(
            "name = 'rail'
            [bodies.frame]
            joint = {{ type = 'prismatic', axis = [0, 0, 1] }}
            shape = {{ sphere = {{ radius = 0.1 }} }}
            mass = 1
            [[rotors]]
            body = 'frame'
            {rotor}
            {}",
            battery(volts)
        );
        let system = System::from_toml(&text).expect("a rail");
        let (mut dynamics, mut state) = start(&system, &[3.0], 1.0);
        fly(&system, &mut dynamics, &mut state, 4.0, 4000, |_| {
            vec![10.0]
        });
        // a Omega^2 + b Omega + c = 0.
        let (a, b, c) = (0.016 * 9e-6, K * K / 0.12, K * 0.4 - K * volts / 0.12);
        let full = (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
        let expected = full.min((10.0_f64 / 9e-6).sqrt());
        let speed = state.velocity[1];
        println!("{volts} V: {speed:.3} rad/s, at most {full:.3}");
        assert!((speed / expected - 1.0).abs() < 1e-9, "{speed} {expected}");
        assert_eq!(expected < full, volts == 16.0);
    }
}

/// The thrust lags with the time constant that a controller reads, for small changes at half of the largest thrust.
#[test]
fn the_controller_knows_the_lag() {
    for (rotor, lag) in [(LAG, Some(0.03)), (WINDING, None)] {
        let rotor = format!("position = [0, 0, 0]\naxis = [0, 0, 1]\n{rotor}");
        let system = system(&[&rotor], "");
        let tau = system.inputs.time_constants()[0];
        assert!(
            lag.is_none_or(|lag| tau == lag) && tau > 0.005 && tau < 0.1,
            "{tau}"
        );
        let rate = |thrust: f64, command: f64| {
            let (mut dynamics, state) = start(&system, &[thrust], 1.0);
            let speed_rate = rates(&mut dynamics, &system, &[command], &state)[6];
            let k = system.inputs.rotors().as_slice()[0]
                .propeller
                .thrust_coefficient
                .expect("one");
            2.0 * k * state.velocity[6] * speed_rate
        };
        let h = 1e-4;
        let by_thrust = (rate(6.0 + h, 6.0) - rate(6.0 - h, 6.0)) / (2.0 * h);
        let by_command = (rate(6.0, 6.0 + h) - rate(6.0, 6.0 - h)) / (2.0 * h);
        assert!((by_thrust * tau + 1.0).abs() < 1e-6, "{by_thrust} {tau}");
        assert!((by_command * tau - 1.0).abs() < 1e-6, "{by_command} {tau}");
    }
}

/// At a constant speed the charge falls evenly; an empty battery is off, and stays empty.
#[test]
fn batteries_run_flat() {
    let rotor = format!("position = [0, 0, 0]\naxis = [0, 0, 1]\n{LAG}");
    let table = "[battery]\ncells = 2\ncapacity_ah = 0.001\nopen_circuit = [[0, 4], [1, 4]]";
    let system = system(&[&rotor], table);
    let (mut dynamics, mut state) = start(&system, &[8.0], 0.5);
    let power = 0.02 * 8.0 * 1000.0 / 0.7;
    let life = 0.5 * 3600.0 * 0.001 * 8.0 / power;
    fly(&system, &mut dynamics, &mut state, 0.5 * life, 50, |_| {
        vec![8.0]
    });
    let charge = |state: &SystemState<f64>| *state.velocity.last().expect("a charge");
    assert!((charge(&state) - 0.25).abs() < 1e-12, "{}", charge(&state));
    assert_eq!(dynamics.voltage(), Some(8.0));
    fly(
        &system,
        &mut dynamics,
        &mut state,
        0.5 * life + 0.3,
        2000,
        |_| vec![8.0],
    );
    assert_eq!(dynamics.voltage(), Some(0.0));
    let empty = charge(&state);
    assert!(empty <= 0.0 && empty > -1e-3, "{empty}");
    assert!(state.velocity[6] < 0.1 && state.velocity[6] >= 0.0);
    fly(&system, &mut dynamics, &mut state, 0.1, 100, |_| vec![8.0]);
    assert_eq!(charge(&state), empty);
    // Voltage sag lowers the maximum speed in proportion.
    let weak = self::system(
        &[&rotor],
        "[battery]\ncells = 2\ncapacity_ah = 1\nresistance = 0.02",
    );
    let (mut dynamics, state) = start(&weak, &[12.0], 1.0);
    let found = rates(&mut dynamics, &weak, &[12.0], &state)[6];
    let (voltage, speed) = (dynamics.voltage().expect("one"), state.velocity[6]);
    let full = 2.0 * OpenCircuit::LithiumPolymer.voltage(1.0);
    let current = 0.02 * 12.0 * speed / 0.7 / voltage;
    assert!((voltage - full + 0.02 * current).abs() < 1e-12 && voltage < full - 0.5);
    assert!((found - speed * (voltage / full - 1.0) / 0.03).abs() < 1e-9 * speed / 0.03);
}

/// Table and formula, at points known by hand.
#[test]
fn open_circuit_voltages() {
    let curve = OpenCircuit::LithiumPolymer;
    for (charge, volts) in [
        (1.0, 4.1029),
        (0.0, 2.654),
        (0.5, 3.803_362_474),
        (2.0, 4.1029),
    ] {
        assert!((curve.voltage(charge) - volts).abs() < 1e-7, "{charge}");
    }
    assert!((0..1000).all(|k| {
        let s = f64::from(k) / 1000.0;
        curve.voltage(s) < curve.voltage(s + 1e-3)
    }));
    let table = OpenCircuit::Table(vec![[0.0, 3.0], [0.2, 3.6], [1.0, 4.2]]);
    for (charge, volts) in [(0.1, 3.3), (0.2, 3.6), (0.6, 3.9), (1.0, 4.2), (-1.0, 3.0)] {
        assert!((table.voltage(charge) - volts).abs() < 1e-12, "{charge}");
    }
    let battery = Battery {
        cells: 3,
        capacity: 2.0,
        resistance: 0.0,
        open_circuit: table,
    };
    assert!((battery.open_circuit_voltage(1.0) - 12.6).abs() < 1e-12);
    assert_eq!(battery.open_circuit_voltage(0.0), 0.0);
}

/// In every state without an allocation.
#[test]
fn propulsion_does_not_allocate() {
    let system = crane(1.0, BATTERY);
    let commands = [12.0, 0.4, 3.0, 5.0];
    let (mut dynamics, state) = start(&system, &[4.0, -0.2, 2.0, 6.0], 0.6);
    let mut rates = rates(&mut dynamics, &system, &commands, &state);
    let allocations = fly_testing::allocations(|| {
        dynamics.rates(&system, &commands, &state, &mut rates);
    });
    assert_eq!(allocations, 0);
}

/// Writing and reading preserves it; controllers get a vehicle with the lag.
#[test]
fn descriptions_hold_it() {
    let table = "[battery]\ncells = 3\ncapacity_ah = 0.5\nresistance = 0.05\nopen_circuit = [[0, 3], [0.1, 3.5], [1, 4]]";
    for battery in [BATTERY, table] {
        let system = crane(1.0, battery);
        let read = System::from_toml(&system.to_toml()).expect("what was written");
        assert_eq!(read.battery, system.battery);
        for (a, b) in read
            .inputs
            .rotors()
            .as_slice()
            .iter()
            .zip(system.inputs.rotors().as_slice())
        {
            assert!((a.time_constant / b.time_constant - 1.0).abs() < 1e-12);
            assert_eq!(a.propeller.motor.is_some(), b.propeller.motor.is_some());
        }
        let more = (crane(1.0, battery).with(|model| model)).expect("nothing more");
        assert_eq!(more.battery, system.battery);
    }
    let rotor = format!("position = [0, 0, 0]\naxis = [0, 0, 1]\n{WINDING}");
    let text = format!(
        "name = 'v'\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n[[rotors]]\nbody = 'a'\n{rotor}\n{BATTERY}"
    );
    let vehicle = Vehicle::from_toml(&text).expect("a vehicle");
    assert!(vehicle.rotors.time_constants()[0] > 0.0);
}

/// A free body with this rotor and a battery.
fn described(rotor: &str) -> String {
    format!(
        "name = 'v'
        [bodies.a]
        mass = 1
        inertia = [1, 1, 1]
        [[rotors]]
        body = 'a'
        position = [0, 0, 0]
        axis = [0, 0, 1]
        {rotor}
        {BATTERY}"
    )
}

/// The description with one part replaced is refused with this message.
fn refused(good: &str, from: &str, to: &str, message: &str) {
    assert!(good.contains(from), "{from:?}\n{good}");
    let error = System::from_toml(&good.replacen(from, to, 1)).expect_err(to);
    assert_eq!(error.to_string(), message);
}

#[test]
fn wrong_motors_are_named() {
    let (winding, lag) = (described(WINDING), described(LAG));
    for (good, from, to, message) in [
        (
            &winding,
            "kv_rpm = 950",
            "kv_rpm = 0",
            "rotors[0].motor.kv_rpm: rotor `0`: `motor.kv_rpm` must be a number above 0, found 0",
        ),
        (
            &winding,
            "resistance = 0.12",
            "resistance = -1",
            "rotors[0].motor.resistance: rotor `0`: `motor.resistance` must be a number above 0, found -1",
        ),
        (
            &winding,
            "no_load_current = 0.4",
            "no_load_current = -1",
            "rotors[0].motor.no_load_current: rotor `0`: `motor.no_load_current` must be a finite number of at least 0, found -1",
        ),
        (
            &winding,
            "kv_rpm = 950",
            "kv_rpm = 950, time_constant = 0.1",
            "rotors[0].motor.kv_rpm: give `time_constant` or `kv_rpm`, not both",
        ),
        (
            &winding,
            "kv_rpm = 950,",
            "",
            "rotors[0].motor: expected one of `time_constant`, `kv_rpm`",
        ),
        (
            &winding,
            ", inertia = 6e-5",
            "",
            "rotors[0].motor: missing key `inertia`",
        ),
        (
            &winding,
            "drag_ratio = 0.016",
            "",
            "rotors[0].motor.inertia: rotor `0`: a motor with `inertia` needs a `drag_ratio`, whose sign is the rotor's sense of rotation",
        ),
        (
            &winding,
            "thrust_coefficient = 9e-6",
            "",
            "rotors[0].motor: rotor `0`: `motor` needs `thrust_coefficient`, N/(rad/s)^2, which relates thrust and rotor speed",
        ),
        (
            &winding,
            "drag_ratio",
            "time_constant = 0.1\ndrag_ratio",
            "rotors[0].time_constant: rotor `0`: give `time_constant` or `motor`, not both: the thrust lags as the motor's speed does",
        ),
        (
            &lag,
            "time_constant = 0.03",
            "time_constant = 0",
            "rotors[0].motor.time_constant: rotor `0`: `motor.time_constant` must be a number above 0, found 0",
        ),
        (
            &lag,
            "efficiency = 0.7",
            "efficiency = 1.2",
            "rotors[0].motor.efficiency: rotor `0`: `motor.efficiency` must be above 0 and at most 1, found 1.2",
        ),
        (
            &lag,
            "efficiency",
            "resistance",
            "rotors[0].motor: unknown key `resistance`, expected one of `time_constant`, `efficiency`, `inertia`",
        ),
    ] {
        refused(good, from, to, message);
    }
}

#[test]
fn wrong_batteries_are_named() {
    let good = described(LAG);
    for (from, to, message) in [
        (
            "cells = 3",
            "cells = 0",
            "battery.cells: expected at least 1 cell, found none",
        ),
        (
            "capacity_ah = 0.02",
            "capacity_ah = 0",
            "battery.capacity_ah: expected a capacity above 0 A h, found 0",
        ),
        (
            "resistance = 0.05",
            "resistance = -1",
            "battery.resistance: expected a resistance of at least 0 ohm, found -1",
        ),
        (
            "resistance = 0.05",
            "open_circuit = [[0, 3], [0.5, 4]]",
            "battery.open_circuit: expected pairs of charge and V, the charge growing from 0 to 1, found the charge 0.5",
        ),
        (
            "resistance = 0.05",
            "open_circuit = [[0, 3], [1, 2]]",
            "battery.open_circuit: expected voltages above 0 V that do not fall with growing charge, found 2 V",
        ),
        (
            "motor = { time_constant = 0.03, inertia = 4e-5, efficiency = 0.7 }",
            "",
            "battery: no rotor has a `motor` that the battery would feed",
        ),
    ] {
        refused(&good, from, to, message);
    }
}
