//! Batteries of which more is wanted than they can give.

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::propulsion::{Circuit, Supply};
use fly_mechanics::{ActuatedDynamics, System, sustained_fraction};

use crate::random_tree::Random;

/// Voltage wanted, back-EMF, resistance.
type Motor = [f64; 3];

/// What windings take at this voltage, W.
fn windings(motors: &[Motor], voltage: f64) -> f64 {
    let taken = motors.iter().map(|[wanted, emf, r]| {
        let v = wanted.clamp(-voltage, voltage);
        v * (v - emf) / r
    });
    taken.sum()
}

/// Every state obeys Kirchhoff and keeps energy; others get less than they want only where there is no voltage at which the battery gives that much, and then the most that there is.
#[test]
fn what_is_taken_is_what_the_battery_gives() {
    let mut random = Random::new(17);
    // Fed in full, in an overload, with no voltage left.
    let mut count = [0; 3];
    for i in 0..4000 {
        let numbers = random.numbers(16, 1.0);
        let positive = |i: usize| numbers[i].abs();
        let (open, resistance) = (8.0 + 8.0 * positive(0), 0.02 + 0.5 * positive(1));
        let motors: Vec<Motor> = (0..4)
            .map(|i| {
                // Also those that turn the other way than they are told.
                [
                    20.0 * numbers[2 + i],
                    25.0 * numbers[6 + i],
                    0.05 + 0.5 * positive(10 + i),
                ]
            })
            .collect();
        let power = if i % 3 == 0 {
            0.0
        } else {
            600.0 * positive(14)
        };
        let mut circuit = Circuit::with_capacity(4);
        circuit.begin(power);
        for [wanted, emf, r] in &motors {
            circuit.add(*wanted, *emf, *r);
        }
        let Supply {
            voltage,
            current,
            given,
        } = circuit.solve(open, resistance);
        let scale = open * open / resistance;
        assert!(
            voltage >= 0.0 && (0.0..=1.0).contains(&given),
            "{voltage} {given}"
        );
        assert!((open - resistance * current - voltage).abs() < 1e-9 * open);
        let taken = given * power + windings(&motors, voltage);
        let missing = (voltage * current - taken) / scale;
        assert!(missing.abs() < 1e-9, "{missing:e}");
        // What would be left for the others at other voltages.
        let left =
            |voltage: f64| voltage * (open - voltage) / resistance - windings(&motors, voltage);
        let most = (1..4000).map(|k| left(3.0 * open * f64::from(k) / 4000.0));
        let most = most.fold(0.0, f64::max);
        if given < 1.0 {
            count[1] += 1;
            assert!(
                most <= given * power + 1e-9 * scale,
                "{most} W, {given} of {power} W"
            );
            assert!(given * power < power);
        } else if voltage > 0.0 {
            count[0] += 1;
        } else {
            count[2] += 1;
            assert!(power == 0.0 && most == 0.0, "{most}");
        }
    }
    println!("in full, overload, no voltage: {count:?}");
    assert!(count.iter().all(|count| *count > 50), "{count:?}");
}

/// A lagging motor is commanded more than a weak battery can supply: it slows to the available power, and the charge balance holds.
#[test]
fn a_weak_battery_slows_rotors_down_to_what_it_has() {
    let text = "name = 'rail'
        [bodies.frame]
        joint = { type = 'prismatic', axis = [0, 0, 1] }
        mass = 1
        inertia = [1, 1, 1]
        [[rotors]]
        body = 'frame'
        position = [0, 0, 0]
        axis = [0, 0, 1]
        thrust = [0, 12]
        drag_ratio = 0.02
        thrust_coefficient = 8e-6
        motor = { time_constant = 0.03, efficiency = 0.7 }
        [battery]
        cells = 3
        capacity_ah = 0.1
        resistance = RESISTANCE
        open_circuit = [[0, 3.6], [1, 4.0]]";
    // 420 W at 12 N: a resistance of 0.05 ohm gives 720 W at most, 0.6 ohm 60 W, which is what its eighth at half of the speed takes, 3 ohm 12 W.
    for resistance in [0.05, 0.3, 0.6, 1.0, 3.0] {
        let system = System::from_toml(&text.replace("RESISTANCE", &resistance.to_string()))
            .expect("a rail");
        let battery = system.battery.clone().expect("a battery");
        let mut dynamics = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        state.velocity.push(12.0);
        dynamics.start_propulsion(&system, 1.0, &mut state);
        let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
        let mut rates = vec![0.0; state.velocity.len()];
        let mut taken = |state: &SystemState<f64>, dynamics: &mut ActuatedDynamics| {
            dynamics.rates(&system, &[12.0], state, &mut rates);
            let current = -rates[2] * 3600.0 * battery.capacity;
            let voltage = dynamics.voltage().expect("a battery");
            let source = battery.open_circuit_voltage(state.velocity[2]);
            let kirchhoff = source - resistance * current - voltage;
            assert!(kirchhoff.abs() < 1e-9 * source, "{kirchhoff}");
            voltage * current
        };
        taken(&state, &mut dynamics);
        for _ in 0..1000 {
            integrator.step(&system.model, &mut state, 1e-3, |state, rates| {
                dynamics.rates(&system, &[12.0], state, rates);
            });
        }
        let electrical = taken(&state, &mut dynamics);
        let mechanical = 0.02 * 8e-6 * state.velocity[1].powi(3) / 0.7;
        println!(
            "{resistance} ohm: {:.0} rad/s, {electrical:.2} W taken, {mechanical:.2} W turned",
            state.velocity[1]
        );
        // The charge still falls meanwhile.
        let error = (mechanical / electrical - 1.0).abs();
        assert!(
            error < 1e-2,
            "{resistance} ohm: {mechanical} W of {electrical} W"
        );
        assert!(electrical <= 12.0 * 12.0 / 4.0 / resistance);
    }
}

/// The part of the thrusts that is said to be held is the one to which simulated rotors come.
#[test]
fn the_sustained_thrusts_are_those_that_rotors_reach() {
    for (motor, cells) in [
        (
            "kv_rpm = 950, resistance = 0.12, no_load_current = 0.4, inertia = 6e-5",
            3,
        ),
        ("time_constant = 0.03, efficiency = 0.7", 3),
    ] {
        let mut text = format!(
            "name = 'rail'
            [bodies.frame]
            joint = {{ type = 'prismatic', axis = [1, 0, 0] }}
            mass = 1
            inertia = [1, 1, 1]
            [battery]
            cells = {cells}
            capacity_ah = 1e9
            resistance = 0.03\n"
        );
        let rotor = format!(
            "[[rotors]]
                body = 'frame'
                position = [0, 0, 0]
                axis = [0, 0, 1]
                thrust = [0, 12]
                drag_ratio = 0.016
                thrust_coefficient = 9e-6
                motor = {{ {motor} }}\n"
        );
        text += &rotor.repeat(4);
        let system = System::from_toml(&text).expect("a rail");
        let commands = [12.0; 4];
        for charge in [1.0, 0.2] {
            let part = sustained_fraction(&system, charge, &commands).expect("a battery");
            let mut dynamics = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
            let mut state = SystemState::at_rest(&system.model);
            state.velocity.extend([6.0; 4]);
            dynamics.start_propulsion(&system, charge, &mut state);
            let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
            for _ in 0..4000 {
                integrator.step(&system.model, &mut state, 1e-3, |state, rates| {
                    dynamics.rates(&system, &commands, state, rates);
                });
            }
            let reached = dynamics
                .thrust_of_speed(0, state.velocity[1])
                .expect("a motor")
                / 12.0;
            println!("{motor}, charge {charge}: {part:.4}, reached {reached:.4}");
            assert!((reached / part - 1.0).abs() < 1e-6, "{reached} {part}");
            assert!(part < 0.99);
        }
    }
    let without = System::from_toml("name = 'a'\n[bodies.a]\nmass = 1\ninertia = [1, 1, 1]");
    assert_eq!(
        sustained_fraction(&without.expect("a body"), 1.0, &[]),
        None
    );
}

/// A number that is not finite gives no supply that looks like one.
#[test]
fn no_supply_of_what_is_not_a_number() {
    let nan = f64::NAN;
    for [voltage, emf, power, open] in [
        [nan, 1.0, 0.0, 12.0],
        [5.0, nan, 0.0, 12.0],
        [5.0, 1.0, nan, 12.0],
        [5.0, 1.0, 0.0, nan],
        [f64::INFINITY, 1.0, 0.0, 12.0],
    ] {
        let mut circuit = Circuit::with_capacity(2);
        circuit.begin(power);
        circuit.add(voltage, emf, 0.5);
        circuit.add(20.0, 6.0, 0.5);
        let supply = circuit.solve(open, 0.1);
        assert!(
            supply.voltage.is_nan() && supply.current.is_nan(),
            "{supply:?}"
        );
    }
}
