//! What the air does: against RotorPy, closed forms and energies.

#![allow(non_snake_case)]

use std::fmt::Write;
use std::path::Path;

use crate::random_tree::Random;

use fly_lie::{SE3, SO3};
use fly_mechanics::aerodynamics::WindProfile;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Frame};
use fly_mechanics::{ActuatedDynamics, Air, System, Vehicle};
use fly_testing::golden::{array, json, number, numbers};
use nalgebra::{Matrix3, Vector3, Vector6};
use serde_json::Value;

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_column_slice(&numbers(value))
}

/// A free body in a state, with these thrusts and tilts behind it.
fn state(system: &System, pose: &SE3<f64>, twist: &[f64], commands: &[f64]) -> SystemState<f64> {
    let mut state = SystemState::at_rest(&system.model);
    let rotation = pose.rotation.matrix();
    state.configuration[..3].copy_from_slice(pose.translation.as_slice());
    state.configuration[3..12].copy_from_slice(rotation.as_slice());
    state.velocity[..twist.len()].copy_from_slice(twist);
    state.velocity.extend_from_slice(commands);
    state
}

/// The force of rotors and air along the velocity coordinates.
fn force(system: &System, air: Option<Air>, state: &SystemState<f64>) -> Vec<f64> {
    let mut dynamics = ActuatedDynamics::new(system, 1e-3).expect("dynamics");
    if let Some(air) = air {
        dynamics.set_air(air);
    }
    let mut acceleration = vec![0.0; system.model.dof()];
    dynamics
        .force(system, state, &mut acceleration)
        .expect("an acceleration")
        .to_vec()
}

/// RotorPy's vehicle as a description.
fn described(vehicle: &Value) -> System {
    let get = |key: &str| number(&vehicle[key]);
    let mut text = format!(
        "name = 'rotorpy'
        [bodies.airframe]
        mass = 0.5
        inertia = [3.65e-3, 3.68e-3, 7.03e-3]
        drag = {{ quadratic = {:?} }}\n",
        numbers(&vehicle["c_D"])
    );
    let directions = numbers(&vehicle["rotor_directions"]);
    for (position, direction) in array(&vehicle["rotor_positions"]).iter().zip(directions) {
        write!(
            text,
            "[[rotors]]
            body = 'airframe'
            position = {:?}
            axis = [0, 0, 1]
            thrust = [0, 1000]
            drag_ratio = {:e}
            thrust_coefficient = {:e}
            aerodynamics = {{ drag = {:e}, inflow = {:e}, translational_lift = {:e}, flapping = {:e} }}\n",
            numbers(position),
            direction * get("k_m") / get("k_eta"),
            get("k_eta"),
            get("k_d"),
            get("k_z"),
            get("k_h"),
            get("k_flap"),
        )
        .expect("a string");
    }
    System::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Force and moment of `compute_body_wrench` at random states: in wind, so that airspeed and velocity differ.
#[test]
fn it_is_that_of_rotorpy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rotorpy/wrenches.json");
    let mut random = Random::new(11);
    let (mut count, mut worst) = (0, 0.0_f64);
    for vehicle in array(&json(&path)["vehicles"]) {
        let system = described(vehicle);
        for case in array(&vehicle["states"]) {
            let speeds = numbers(&case["rotor_speeds"]);
            let k_eta = number(&vehicle["k_eta"]);
            let thrusts: Vec<f64> = speeds.iter().map(|speed| k_eta * speed * speed).collect();
            let pose = random.pose();
            let wind: Vector3<f64> = random.vector3(10.0);
            let v = vector(&case["airspeed"]) + pose.rotation.inverse().act(&wind);
            let twist = [v.as_slice(), &numbers(&case["angular_velocity"])].concat();
            let state = state(&system, &pose, &twist, &thrusts);
            let found = force(&system, Some(Air::with_wind(wind)), &state);
            for (found, expected) in [
                (&found[..3], vector(&case["force"])),
                (&found[3..], vector(&case["moment"])),
            ] {
                let error = (Vector3::from_column_slice(found) - expected).norm() / expected.norm();
                worst = worst.max(error);
                assert!(error < 1e-9, "{found:?} {expected}");
            }
            count += 1;
        }
    }
    println!("{count} states, worst relative error {worst:.1e}");
    assert_eq!(count, 72);
}

const ROTOR: &str = "
thrust = [0, 30]
drag_ratio = 0.02
thrust_coefficient = 6e-6
radius = 0.15
aerodynamics = { drag = 1e-4, inflow = 2e-4, translational_lift = 4e-3, flapping = 1e-4 }
";

/// A frame with a tilting rotor, and an arm on a hinge with another.
fn crane() -> System {
    let text = format!(
        "name = 'crane'
        [bodies.frame]
        mass = 1.5
        center_of_mass = [0.02, 0.01, -0.03]
        inertia = [0.02, 0.03, 0.04]
        drag = {{ linear = [0.1, 0.2, 0.15], quadratic = [0.01, 0.02, 0.03] }}
        [bodies.arm]
        parent = 'frame'
        position = [0.3, 0, 0.1]
        orientation = {{ rpy_deg = [20, -35, 70] }}
        joint = {{ type = 'revolute', axis = [0, 1, 0] }}
        mass = 0.3
        center_of_mass = [0.1, 0.02, 0]
        inertia = [0.002, 0.004, 0.004]
        drag = {{ quadratic = [0.002, 0.01, 0.02] }}
        [[rotors]]
        body = 'frame'
        position = [-0.2, 0.1, 0.05]
        axis = [0, 0, 1]
        tilt = {{ axis = [0, 1, 0], limit_deg = 60 }}
        {ROTOR}
        [[rotors]]
        body = 'arm'
        position = [0.15, 0, 0.03]
        axis = [0.3, -0.2, 1]
        {ROTOR}"
    );
    System::from_toml(&text).expect("a crane")
}

const AIR: Air = Air {
    wind: Vector3::new(5.0, -3.0, 1.0),
    profile: WindProfile::Logarithmic {
        roughness: 0.05,
        reference: 6.0,
    },
    fluctuation: Vector3::new(0.5, 0.3, -0.7),
    ground: Some(-0.5),
};

/// The power of rotors and air, each as its model writes it with its own axes and matrices: force times the velocity of its point, moment
/// times angular velocity. Linear drag included.
fn power(
    system: &System,
    dynamics: &mut ActuatedDynamics,
    state: &SystemState<f64>,
    air: &Air,
) -> f64 {
    let model = &system.model;
    let n = model.dof();
    let workspace = dynamics.workspace_mut();
    workspace.update(model, &state.configuration, &state.velocity[..n]);
    let wind = |z: f64| {
        let factor = ((z + 0.5) / 0.05).max(1.0).ln() / (6.0_f64 / 0.05).ln();
        air.wind * factor + air.fluctuation
    };
    let mut total = 0.0;
    let [frame, arm] = ["frame", "arm"].map(|name| model.body_id(name).expect("a body"));
    let commands = &state.velocity[n..];
    let tilted = SO3::exp(&(Vector3::y() * commands[1])).act(&Vector3::z());
    let rotors = system.inputs.rotors().as_slice();
    for (rotor, body, thrust, direction) in [
        (&rotors[0], frame, commands[0], tilted),
        (&rotors[1], arm, commands[2], rotors[1].axis),
    ] {
        // Axes of the rotor, the third along the thrust.
        let turn = SO3::from_matrix(
            nalgebra::Rotation3::rotation_between(&Vector3::z(), &direction)
                .expect("not opposite")
                .into_inner(),
        );
        let hub = Frame::new(body, SE3::new(turn, rotor.position));
        let pose = workspace.pose(BodyId::WORLD, hub);
        let twist: Vector6<f64> = workspace.twist(BodyId::WORLD, hub);
        let velocity = twist.fixed_rows::<3>(0).into_owned();
        let omega = twist.fixed_rows::<3>(3).into_owned();
        let v = velocity - pose.rotation.inverse().act(&wind(pose.translation.z));
        let speed = (thrust / 6e-6).sqrt();
        let H = Matrix3::from_diagonal(&Vector3::new(1e-4, 1e-4, 2e-4)) * v * -speed;
        let upward = pose.rotation.act(&Vector3::z()).z;
        let ground = if upward > 0.0 {
            let way = ((pose.translation.z + 0.5) / upward).max(0.075);
            1.0 / (1.0 - (0.15 / 4.0 / way).powi(2))
        } else {
            1.0
        };
        let lift = 4e-3 * (v.x * v.x + v.y * v.y);
        let force = H + Vector3::z() * (thrust * ground + lift);
        let moment = v.cross(&Vector3::z()) * (-1e-4 * speed) + Vector3::z() * (0.02 * thrust);
        total += force.dot(&velocity) + moment.dot(&omega);
    }
    for (body, linear, quadratic) in [
        (
            frame,
            Vector3::new(0.1, 0.2, 0.15),
            Vector3::new(0.01, 0.02, 0.03),
        ),
        (arm, Vector3::zeros(), Vector3::new(0.002, 0.01, 0.02)),
    ] {
        let center = model.inertia(body).expect("a mass").center_of_mass();
        let at = Frame::new(body, SE3::new(SO3::identity(), center));
        let pose = workspace.pose(BodyId::WORLD, at);
        let twist: Vector6<f64> = workspace.twist(BodyId::WORLD, at);
        let velocity = twist.fixed_rows::<3>(0).into_owned();
        let v = velocity - pose.rotation.inverse().act(&wind(pose.translation.z));
        let force = -linear.component_mul(&v) - quadratic.component_mul(&v) * v.norm();
        total += force.dot(&velocity);
    }
    total
}

/// Along a flight in sheared wind near the ground, the energy changes by the work of all forces: to the fourth order of the integrator.
#[test]
fn energy_goes_where_the_forces_take_it() {
    let system = crane();
    let n = system.model.dof();
    let audit = |steps: u32| {
        let mut dynamics = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
        dynamics.set_air(AIR);
        let mut watch = dynamics.clone();
        let mut motion = SystemState::at_rest(&system.model);
        motion.velocity[..n].copy_from_slice(&[1.0, -0.5, 0.3, 0.4, -0.2, 0.5, 1.0]);
        // Thrust, tilt, thrust; behind them the work.
        let commands = [17.0, 0.4, 1.0];
        motion.velocity.extend_from_slice(&commands);
        motion.velocity.push(0.0);
        let mut energy = |motion: &SystemState<f64>| {
            let workspace = watch.workspace_mut();
            workspace.update(&system.model, &motion.configuration, &motion.velocity[..n]);
            workspace.kinetic_energy(&system.model) + workspace.potential_energy(&system.model)
        };
        let start = energy(&motion);
        let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
        let mut powers = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
        let step = 0.3 / f64::from(steps);
        for _ in 0..steps {
            integrator.step(&system.model, &mut motion, step, |motion, rates| {
                let n_actuators = n + commands.len();
                let mut known = motion.clone();
                known.velocity.truncate(n_actuators);
                dynamics.rates(&system, &commands, &known, &mut rates[..n_actuators]);
                rates[n_actuators] = power(&system, &mut powers, &known, &AIR);
            });
        }
        let work = *motion.velocity.last().expect("the work");
        (energy(&motion) - start - work, work)
    };
    let [(coarse, _), (fine, work)] = [150, 300].map(audit);
    println!("work {work:.3} J, audit {coarse:.2e} J and {fine:.2e} J");
    assert!(fine.abs() < 1e-8 * work.abs().max(1.0), "{fine}");
    assert!(fine.abs() < 0.1 * coarse.abs(), "{coarse} {fine}");
}

/// A tilted rotor is one with a turned axis; a rotor on a body that is fixed to another is one on that body.
#[test]
fn rotors_tilt_and_stand_on_any_body() {
    let angle: f64 = 0.5;
    let text = |bodies: &str, rotor: &str| {
        System::from_toml(&format!(
            "name = 'one'
            [bodies.frame]
            mass = 1
            inertia = [0.01, 0.01, 0.02]
            {bodies}
            [[rotors]]
            {rotor}
            {ROTOR}"
        ))
        .expect("a system")
    };
    let turned = SO3::exp(&(Vector3::y() * angle)).act(&Vector3::z());
    let position = Vector3::new(0.2, -0.1, 0.05);
    let fixed = text(
        "",
        &format!(
            "body = 'frame'\nposition = {:?}\naxis = {:?}",
            position.as_slice(),
            turned.as_slice()
        ),
    );
    let tilting = text(
        "",
        "body = 'frame'\nposition = [0.2, -0.1, 0.05]\naxis = [0, 0, 1]\ntilt = { axis = [0, 1, 0], limit_deg = 60 }",
    );
    let mount = SE3::new(
        SO3::exp(&Vector3::new(0.3, -0.7, 0.2)),
        Vector3::new(0.1, 0.2, 0.3),
    );
    let (hub, axis) = (
        mount.inverse().act(&position),
        mount.rotation.inverse().act(&turned),
    );
    let carried = text(
        "[bodies.mount]
        parent = 'frame'
        joint = 'fixed'
        position = [0.1, 0.2, 0.3]
        orientation = { rotation_vector = [0.3, -0.7, 0.2] }",
        &format!(
            "body = 'mount'\nposition = {:?}\naxis = {:?}",
            hub.as_slice(),
            axis.as_slice()
        ),
    );
    let mut random = Random::new(5);
    for _ in 0..20 {
        let mut pose: SE3<f64> = random.pose();
        pose.translation.z = pose.translation.z.abs();
        let twist = random.numbers(6, 8.0);
        let of = |system: &System, commands: &[f64]| {
            let found = force(system, Some(AIR), &state(system, &pose, &twist, commands));
            Vector6::from_column_slice(&found)
        };
        let expected = of(&fixed, &[9.0]);
        assert!((of(&tilting, &[9.0, angle]) - expected).norm() < 1e-12 * expected.norm());
        assert!((of(&carried, &[9.0]) - expected).norm() < 1e-12 * expected.norm());
    }
}

/// `1 / (1 - (R / 4 z)^2)` upright, by the length of the wake if it is tilted, no more below half a radius, nothing upside down.
#[test]
fn the_ground_lifts_as_cheeseman_and_bennett_say() {
    let system = System::from_toml(
        "name = 'one'
        [bodies.frame]
        mass = 1
        inertia = [0.01, 0.01, 0.02]
        [[rotors]]
        body = 'frame'
        position = [0, 0, 0.1]
        axis = [0, 0, 1]
        thrust = [-5, 30]
        radius = 0.2",
    )
    .expect("a system");
    let air = Air {
        ground: Some(1.0),
        ..Air::default()
    };
    for (height, roll, thrust, factor) in [
        (1.1, 0.0, 10.0, 1.0 / (1.0 - 0.0625)),
        (1.3, 0.0, 10.0, 64.0 / 63.0),
        (1.0, 0.0, 10.0, 4.0 / 3.0),
        (0.5, 0.0, 10.0, 4.0 / 3.0),
        (1000.0, 0.0, 10.0, 1.0),
        (1.3, 0.0, -5.0, 1.0),
        (1.3, std::f64::consts::PI, -5.0, 1.0 / (1.0 - 1.0 / 16.0)),
        (1.3, std::f64::consts::PI, 10.0, 1.0),
        (
            1.25,
            std::f64::consts::FRAC_PI_3,
            10.0,
            1.0 / (1.0 - (1.0_f64 / 12.0).powi(2)),
        ),
    ] {
        let rotation = SO3::exp(&Vector3::new(roll, 0.0, 0.0));
        let pose = SE3::new(rotation, Vector3::new(3.0, 4.0, height));
        let state = state(&system, &pose, &[0.0; 6], &[thrust]);
        let found = force(&system, Some(air), &state)[2] / thrust;
        assert!(
            (found - factor).abs() < 1e-7,
            "{height} {roll}: {found} {factor}"
        );
        assert_eq!(force(&system, Some(Air::default()), &state)[2], thrust);
    }
}

/// Drag in the wind of each body's own height: `ln(z / z0) / ln(10 / z0)` and `(z / 10)^(1/7)` of the wind at 10 m.
#[test]
fn wind_is_that_of_the_height() {
    let system = System::from_toml(
        "name = 'kite'
        [bodies.kite]
        mass = 1
        inertia = [1, 1, 1]
        drag = { linear = [1, 1, 1] }",
    )
    .expect("a system");
    let wind = Vector3::new(8.0, 0.0, 0.0);
    let logarithmic = WindProfile::logarithmic(0.1, 10.0).expect("a profile");
    let power = WindProfile::power(1.0 / 7.0, 10.0).expect("a profile");
    for (profile, height, factor) in [
        (logarithmic, 10.0, 1.0),
        (logarithmic, 1.0, 0.5),
        (logarithmic, 1000.0, 2.0),
        (logarithmic, 0.05, 0.0),
        (logarithmic, -3.0, 0.0),
        (power, 10.0, 1.0),
        (power, 1280.0, 2.0),
        (power, -1.0, 0.0),
        (WindProfile::Uniform, -1.0, 1.0),
    ] {
        let air = Air {
            profile,
            ground: Some(5.0),
            ..Air::with_wind(wind)
        };
        let pose = SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, 5.0 + height));
        let found = force(&system, Some(air), &state(&system, &pose, &[0.0; 6], &[]));
        assert!(
            (found[0] - 8.0 * factor).abs() < 1e-12,
            "{profile:?} {height}: {found:?}"
        );
    }
    for (roughness, reference) in [(0.0, 10.0), (10.0, 10.0), (f64::NAN, 10.0), (0.1, 0.0)] {
        assert!(WindProfile::logarithmic(roughness, reference).is_err());
    }
    for (exponent, reference) in [(-0.1, 10.0), (f64::NAN, 10.0), (0.1, f64::INFINITY)] {
        assert!(WindProfile::power(exponent, reference).is_err());
    }
}

/// Without air in the description there is none: the rotors follow their commands, and a vehicle is its linear model.
#[test]
fn without_air_the_model_is_the_controllers() {
    let system = crane();
    let mut state = SystemState::at_rest(&system.model);
    state.velocity[..7].copy_from_slice(&[3.0, 1.0, 2.0, 0.1, 0.2, 0.3, 0.4]);
    state.velocity.extend_from_slice(&[12.0, 0.4, 6.0]);
    let mut workspace = fly_mechanics::multibody::Workspace::new(&system.model);
    workspace.update(&system.model, &state.configuration, &state.velocity[..7]);
    workspace.update_jacobians(&system.model);
    let mut expected = vec![0.0; 7];
    (system.inputs).add_force(&workspace, &state.velocity[7..], &mut expected);
    assert_eq!(force(&system, None, &state), expected);
    assert_ne!(force(&system, Some(Air::default()), &state), expected);
    let plain = "name = 'a'\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\n";
    let vehicle = |drag: &str| Vehicle::from_toml(&format!("{plain}drag = {{ {drag} }}")).unwrap();
    assert!(vehicle("quadratic = [1, 1, 1]").body.drag().is_none());
    let both = vehicle("linear = [1, 2, 3], quadratic = [1, 1, 1]");
    assert_eq!(both.body.drag(), vehicle("linear = [1, 2, 3]").body.drag());
}

/// In every state without an allocation.
#[test]
fn air_does_not_allocate() {
    let system = crane();
    let mut dynamics = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
    let mut state = SystemState::at_rest(&system.model);
    state.velocity.extend_from_slice(&[12.0, 0.4, 6.0]);
    let mut rates = [0.0; 10];
    dynamics.rates(&system, &[12.0, 0.4, 6.0], &state, &mut rates);
    let allocations = fly_testing::allocations(|| {
        dynamics.set_air(AIR);
        dynamics.rates(&system, &[12.0, 0.4, 6.0], &state, &mut rates);
    });
    assert_eq!(allocations, 0);
}

/// Writing and reading preserves it, also after adding bodies.
#[test]
fn descriptions_hold_it() {
    let system = crane();
    let read = System::from_toml(&system.to_toml()).expect("what was written");
    assert_eq!(read.quadratic_drag, system.quadratic_drag);
    assert_eq!(read.quadratic_drag.len(), 2);
    for (a, b) in (read.inputs.rotors().as_slice().iter()).zip(system.inputs.rotors().as_slice()) {
        assert_eq!(a.propeller, b.propeller);
        assert!(a.propeller.aerodynamics.is_some() && a.propeller.radius == Some(0.15));
    }
    let more = (crane().with(|model| model)).expect("nothing more");
    assert_eq!(more.quadratic_drag, system.quadratic_drag);
    assert!(system.feels_wind());
}

#[test]
fn wrong_numbers_are_named() {
    let good = crane().to_toml();
    for (from, to, message) in [
        (
            "thrust_coefficient = 6e-6",
            "thrust_coefficient = 0",
            "rotors[0].thrust_coefficient: rotor `0`: `thrust_coefficient` must be a number above 0, found 0",
        ),
        (
            "radius = 0.15",
            "radius = -1",
            "rotors[0].radius: rotor `0`: `radius` must be a number above 0, found -1",
        ),
        (
            "inflow = 0.0002",
            "inflow = -2",
            "rotors[0].aerodynamics.inflow: rotor `0`: `aerodynamics.inflow` must be a finite number of at least 0, found -2",
        ),
        (
            "thrust_coefficient = 6e-6",
            "",
            "rotors[0].aerodynamics: rotor `0`: `aerodynamics` needs `thrust_coefficient`, N/(rad/s)^2, which relates thrust and rotor speed",
        ),
        (
            "flapping = 0.0001",
            "flaping = 1",
            "rotors[0].aerodynamics: unknown key `flaping`, expected one of `drag`, `inflow`, `translational_lift`, `flapping`",
        ),
        (
            "quadratic = [0.01, 0.02, 0.03]",
            "quadratic = [0.01, -0.02, 0.03]",
            "bodies.frame.drag.quadratic: the quadratic drag must be three finite numbers that are not negative, found -0.02: negative drag would add energy",
        ),
    ] {
        assert!(good.contains(from), "{from:?}\n{good}");
        let error = System::from_toml(&good.replacen(from, to, 1)).expect_err(to);
        assert_eq!(error.to_string(), message);
    }
}
