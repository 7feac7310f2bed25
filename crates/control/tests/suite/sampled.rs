//! Sampled loops against closed forms, simulation, and the continuous loop.

#![allow(non_snake_case)]

use crate::common;

use common::{QUADCOPTER, TRICOPTER, TRICOPTER_PAIR, controller};
use fly_control::analysis::{AnalysisError, ClosedLoop, SampledLoop, spectral_radius};
use fly_control::{ControllerSettings, ReferencePoint, SystemPoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, System};
use nalgebra::{DMatrix, DVector, Vector3, Vector6};

/// A mass of 1 kg on a rail with a motor, held to a point by a stiffness of k N/m and a damping of d N s/m.
fn slider(k: f64, d: f64) -> ClosedLoop {
    let system = System::from_toml(
        "name = 'slider'
         [bodies.cart]
         joint = { type = 'prismatic', axis = [1, 0, 0] }
         mass = 1
         inertia = [1, 1, 1]
         [[motors]]
         joint = 'cart'",
    )
    .unwrap();
    let settings: ControllerSettings = toml::from_str(&format!(
        "allocation = 'none'
         pairs = [{{ to = 'cart', stiffness = {k}, damping = {d}, inertia = 1 }}]"
    ))
    .unwrap();
    let controller = settings.build_for_system(&system).unwrap();
    let start = SystemPoint::new(&system.model).configuration;
    ClosedLoop::new(&system, &controller, &start).unwrap()
}

/// `z^2 + (k h^2/2 + d h - 2) z + (1 + k h^2/2 - d h)`, by Jury stable for `k h/2 < d < 2/h`, whatever k above zero.
#[test]
fn a_sampled_double_integrator_is_that_of_the_textbook() {
    let (k, d) = (9.0, 6.0);
    for h in [0.001, 0.01, 0.1, 0.3] {
        let sampled = slider(k, d).sampled(h, &[0.0]).unwrap();
        let poles = sampled.poles().unwrap();
        let (sum, product) = (poles[0] + poles[1], poles[0] * poles[1]);
        assert!((sum.re - (2.0 - d * h - 0.5 * k * h * h)).abs() < 1e-12);
        assert!((product.re - (1.0 - d * h + 0.5 * k * h * h)).abs() < 1e-12);
        // With both gains scaled the pole at -1 comes first.
        let margins = sampled.gain_margins().unwrap();
        let most = 2.0 / (d * h);
        match margins.most {
            Some(found) => assert!((found / most - 1.0).abs() < 1e-6, "{found} {most}"),
            None => assert!(most > SampledLoop::MOST_GAIN),
        }
        assert_eq!(margins.least, None);
    }
    // Stable when continuous, not when sampled at 2 Hz.
    let too_slow = slider(k, d).sampled(0.5, &[0.0]).unwrap();
    assert!(matches!(too_slow.gain_margins(), Err(AnalysisError::Unstable(rate)) if rate > 0.0));
    assert!(matches!(
        too_slow.delay_margin(),
        Err(AnalysisError::Unstable(_))
    ));
}

/// Where the plant is the model the observer adds its own poles and changes no other; where it is not, its loop is that of a simulation.
#[test]
fn an_observer_of_disturbances_is_part_of_the_loop() {
    let (k, d, h, bandwidth) = (9.0, 6.0, 0.01, 4.0);
    for lag in [0.0, 0.05] {
        let system = System::from_toml(&format!(
            "name = 'slider'
             [bodies.cart]
             joint = {{ type = 'prismatic', axis = [1, 0, 0] }}
             mass = 2
             inertia = [1, 1, 1]
             [[motors]]
             joint = 'cart'
             time_constant = {lag}"
        ))
        .unwrap();
        let settings = format!(
            "allocation = 'none'
             pairs = [{{ to = 'cart', stiffness = {k}, damping = {d}, inertia = 1 }}]
             [disturbance]
             bandwidth = {bandwidth}"
        );
        let with: ControllerSettings = toml::from_str(&settings).unwrap();
        let mut controller = with.build_for_system(&system).unwrap();
        let without = ControllerSettings {
            disturbance: None,
            ..with
        };
        let plain = without.build_for_system(&system).unwrap();
        let start = SystemPoint::new(&system.model).configuration;
        let sampled = |controller: &_| {
            let closed = ClosedLoop::new(&system, controller, &start).unwrap();
            closed.sampled(h, &[lag]).unwrap()
        };
        let (observed, plain) = (sampled(&controller), sampled(&plain));
        let mut poles = observed.poles().unwrap();
        let mut expected = plain.poles().unwrap();
        expected.push(((-bandwidth * h).exp()).into());
        if lag > 0.0 {
            expected.push(((-h / lag).exp()).into());
        }
        assert_eq!(poles.len(), expected.len());
        for pole in expected {
            let near = |a: &nalgebra::Complex<f64>| (a - pole).norm();
            let (i, _) = (poles.iter().enumerate())
                .min_by(|a, b| near(a.1).total_cmp(&near(b.1)))
                .unwrap();
            assert!(near(&poles.remove(i)) < 1e-6, "{pole}");
        }
        // A motor with an effectiveness of 0.6: errors decay as the slowest pole says.
        let factor = 0.6;
        let growth_of = spectral_radius(&observed.poles_with_gain(factor).unwrap());
        let (mut x, mut v, mut force, mut model) = (0.1, 0.0, 0.0, 0.0);
        let mut mean = 0.0;
        let mut sizes = [0.0; 2];
        let left = if lag > 0.0 { (-h / lag).exp() } else { 0.0 };
        for step in 0..1200_u32 {
            controller.set_applied(Some(&[mean]));
            let goal = fly_control::SystemReference {
                configuration: &[0.0],
                velocity: &[0.0],
                acceleration: &[0.0],
            };
            let command = controller.step_after(h, &[x], &[v], &goal).unwrap().input[0];
            let part = if lag > 0.0 {
                (1.0 - left) * lag / h
            } else {
                0.0
            };
            mean = command + (model - command) * part;
            model = command + (model - command) * left;
            // The same first-order lag on the plant, a thousand times finer.
            for _ in 0..1000 {
                let fine = h / 1000.0;
                let given = if lag > 0.0 { force } else { command };
                let a = factor * given / 2.0;
                x += v * fine + 0.5 * a * fine * fine;
                v += a * fine;
                force += (command - force)
                    * if lag > 0.0 {
                        1.0 - (-fine / lag).exp()
                    } else {
                        1.0
                    };
            }
            if step % 400 == 399 {
                sizes = [sizes[1], f64::hypot(x, v)];
            }
        }
        let decay = (sizes[1] / sizes[0]).ln() / 400.0;
        assert!(
            (decay / growth_of.ln() - 1.0).abs() < 0.02,
            "{lag}: {decay} {}",
            growth_of.ln()
        );
    }
}

/// Phase margin over crossover frequency: `|k + i d w| = w^2`, `delay = atan(d w/k)/w`; a held command is late by half a step.
#[test]
fn the_delay_margin_is_the_continuous_one_for_short_steps() {
    let (k, d) = (9.0_f64, 6.0_f64);
    let w = f64::midpoint(d * d, (d.powi(4) + 4.0 * k * k).sqrt()).sqrt();
    let continuous = (d * w / k).atan() / w;
    let h = 1e-4;
    let margin = (slider(k, d).sampled(h, &[0.0]).unwrap())
        .delay_margin()
        .unwrap()
        .expect("a margin");
    assert!((margin.frequency - w).abs() < 1e-3 * w, "{margin:?} {w}");
    let expected = continuous - 0.5 * h;
    assert!(
        (margin.delay - expected).abs() < 1e-6,
        "{margin:?} {expected}"
    );
}

/// Two ways to the same delay: the poles of the loop with the commands on their way as states, and its frequency response.
#[test]
fn delays_beside_the_margin_are_stable_and_not() {
    let quadcopter = "[poles]\nhorizontal = [-4, -4, -4, -4]\nyaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }\n";
    for (description, tables) in [(QUADCOPTER, quadcopter), (TRICOPTER, TRICOPTER_PAIR)] {
        let controller = controller(description, "", tables);
        let closed = common::closed_loop(description, &controller, &SO3::identity()).unwrap();
        let lags = vec![0.03; closed.input().len()];
        let sampled = closed.sampled(0.02, &lags).unwrap();
        let margin = sampled.delay_margin().unwrap().expect("a margin");
        let steps = margin.delay / sampled.step();
        let stable = |delay| spectral_radius(&sampled.poles_with_delay(delay).unwrap()) < 1.0;
        assert!(stable(steps.floor() * 0.02), "{margin:?}");
        assert!(!stable(steps.ceil() * 0.02), "{margin:?}");
        assert!(
            stable(0.9999 * margin.delay) && !stable(1.0001 * margin.delay),
            "{margin:?}"
        );

        // Only a vehicle that tilts to move sideways needs its gain.
        let margins = sampled.gain_margins().unwrap();
        assert_eq!(margins.least.is_some(), description == QUADCOPTER);
        let limits = [(margins.least, 1.01), (margins.most, 0.99)];
        for (limit, inside) in limits
            .into_iter()
            .filter_map(|(limit, inside)| Some((limit?, inside)))
        {
            let at = |gain| spectral_radius(&sampled.poles_with_gain(gain).unwrap());
            assert!(
                at(limit * inside) < 1.0 && at(limit / inside) > 1.0,
                "{margins:?}"
            );
        }
    }
}

/// With few steps in a settling time the delay acts between two of them: four poles at -5 without lag, 20 steps a second.
#[test]
fn delay_margins_of_slow_loops_are_exact() {
    let tables = "[poles]\nhorizontal = [-5, -5, -5, -5]\nyaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }\n";
    let controller = controller(QUADCOPTER, "", tables);
    let closed = common::closed_loop(QUADCOPTER, &controller, &SO3::identity()).unwrap();
    let sampled = closed
        .sampled(0.05, &vec![0.0; closed.input().len()])
        .unwrap();
    let margin = sampled.delay_margin().unwrap().expect("a margin").delay;
    let radius = |delay| spectral_radius(&sampled.poles_with_delay(delay).unwrap());
    assert!(margin < sampled.step(), "{margin}");
    assert!(
        radius(0.9999 * margin) < 1.0 && radius(1.0001 * margin) > 1.0,
        "{margin}"
    );
}

/// The delayed loop against its simulation in small steps.
#[test]
fn a_delay_acts_as_it_does_in_simulation() {
    let (k, d, h, delay) = (9.0, 6.0, 0.05, 0.12);
    let sampled = slider(k, d).sampled(h, &[0.04]).unwrap();
    let poles = sampled.poles_with_delay(delay).unwrap();
    // Substeps of 1 ms, each exact: x' = v, v' = u, T u' + u = command.
    let (dt, T): (f64, f64) = (1e-3, 0.04);
    let decay = (-dt / T).exp();
    let (mut x, mut v, mut u) = (1.0, 0.0, 0.0);
    let mut commands = vec![0.0; 121];
    let mut trace = Vec::new();
    for i in 0..30_000 {
        if i % 50 == 0 {
            trace.push(x);
            commands.push(-k * x - d * v);
        } else {
            commands.push(*commands.last().unwrap());
        }
        let command = commands[commands.len() - 1 - 120];
        let step = u - command;
        x += v * dt + 0.5 * command * dt * dt + step * T * (dt - T * (1.0 - decay));
        v += command * dt + step * T * (1.0 - decay);
        u = command + step * decay;
    }
    // What is left obeys the recursion whose characteristic polynomial has these poles.
    let n = poles.len();
    let mut polynomial = DVector::from_element(1, nalgebra::Complex::new(1.0, 0.0));
    for pole in &poles {
        let mut next = polynomial
            .clone()
            .resize_vertically(polynomial.len() + 1, 0.0.into());
        for i in 0..polynomial.len() {
            next[i + 1] -= polynomial[i] * pole;
        }
        polynomial = next;
    }
    let largest = trace.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for window in trace.windows(n + 1).skip(5) {
        let sum: f64 = (0..=n).map(|i| polynomial[i].re * window[n - i]).sum();
        assert!(sum.abs() < 1e-9 * largest, "{sum:e}");
    }
}

/// Inputs come to their limits where the linear law says they do.
#[test]
fn errors_saturate_where_the_gain_takes_the_input_to_its_limits() {
    let description = QUADCOPTER;
    let tables = "[poles]\nhorizontal = [-4, -4, -4, -4]\nyaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }\n";
    let mut controller = controller(description, "", tables);
    let closed = common::closed_loop(description, &controller, &SO3::identity()).unwrap();
    let rotors = common::vehicle(description).rotors;
    let limits = rotors.limits();
    // A step in height is followed by a force that is proportional to it.
    let height = closed.unsaturated_error(limits, 2..3);
    let goal = ReferencePoint::default();
    let mut violation = |error: f64| {
        let place = SE3::new(SO3::identity(), Vector3::z() * error);
        limits.violation(
            controller
                .step(&State::at_rest(place), &goal)
                .unconstrained
                .as_slice(),
        )
    };
    let most = [-1.0, 1.0].map(|sign| violation(sign * height));
    assert!(most[0].max(most[1]).abs() < 1e-9, "{most:?}");
    assert!(violation(0.99 * height) < 0.0 && violation(-0.99 * height) < 0.0);
    assert!(closed.unsaturated_error(limits, 0..3) <= height);
    let empty = fly_mechanics::Polytope {
        matrix: DMatrix::zeros(0, limits.dim()),
        bound: DVector::zeros(0),
    };
    assert_eq!(closed.unsaturated_error(&empty, 0..3), f64::INFINITY);
}

/// `T s^3 + s^2 + d s + k`, by Routh stable below `T = d/k`, where it is `(T s + 1) (s^2 + k)`.
#[test]
fn lag_margins_of_a_double_integrator_are_those_of_routh() {
    // The last ones hardly damp: their largest lag is that with which the search begins, and one below. A pole counts as unstable from 1e-9 of
    // the fastest to the left of the axis, which is more of so little damping.
    for (k, d, near) in [
        (9.0, 6.0, 1e-6),
        (4.0, 0.8, 1e-6),
        (100.0, 7.0, 1e-6),
        (1.0, 0.001, 1e-5),
        (100.0, 0.005, 1e-5),
    ] {
        let closed = slider(k, d);
        assert_eq!(closed.is_stable(), Ok(true));
        let [common, own] = closed.lag_margins(&[0.02]).unwrap().map(Option::unwrap);
        assert!((common.factor / (d / k) - 1.0).abs() < near, "{common:?}");
        assert!((own.factor / (d / k / 0.02) - 1.0).abs() < near, "{own:?}");
        for margin in [common, own] {
            assert!((margin.frequency - f64::sqrt(k)).abs() < 1e-3, "{margin:?}");
        }
        // Without an actuator lag there is nothing to scale.
        assert_eq!(closed.lag_margins(&[0.0]).unwrap()[1], None);
    }
    // Here rounding errors hide the damping, which is no failure of the poles.
    let closed = slider(1.0, 1e-7);
    assert_eq!(closed.largest_lag(), Err(AnalysisError::LagSearch));
    assert_eq!(closed.is_stable(), Ok(true));
    assert_eq!(slider(1.0, 0.0).is_stable(), Ok(false));
}

/// A law with integrals and derivatives is as stable as its flights, with delays on both sides of the margin, of whole steps and between. The margin
/// without them is another one.
#[test]
fn integrals_and_derivatives_are_part_of_the_loop() {
    let system = System::from_toml(QUADCOPTER).unwrap();
    let vehicle = common::vehicle(QUADCOPTER);
    let start = system.model.neutral_configuration();
    let h = 0.01;
    let fast = "velocity_integral = 2, rate_integral = 4";
    let own = "velocity_derivative = 0.15, rate_derivative = 0.1";
    let none = "velocity_integral = 0, rate_integral = 0";
    let of = |gains: &str| -> (ControllerSettings, SampledLoop) {
        let settings: ControllerSettings = toml::from_str(&format!(
            "approach = 'cascade'
             allocation = 'none'
             cascade = {{ {gains} }}
             [poles]
             horizontal = [-4, -4, -4, -4]
             yaw = {{ inertia = 0.02, damping = 0.16, stiffness = 0.32 }}"
        ))
        .unwrap();
        let controller = settings.build_for_system(&system).unwrap();
        let closed = ClosedLoop::new(&system, &controller, &start).unwrap();
        (settings, closed.sampled(h, &[0.0; 4]).unwrap())
    };
    let margin = |gains: &str| of(gains).1.delay_margin().unwrap().unwrap().delay;
    let plain = margin(none);
    let both = format!("{fast}, {own}");
    let observed = format!("{both} }}\ndisturbance = {{ bandwidth = 3");
    for gains in [fast, own, &both, &observed] {
        let (settings, sampled) = of(gains);
        let limit = sampled.delay_margin().unwrap().unwrap().delay;
        assert!(
            (limit / plain - 1.0).abs() > 0.02,
            "{gains}: {limit} {plain}"
        );
        for delay in [0.99 * limit, 1.1 * limit, (limit / h).ceil() * h] {
            let expected = spectral_radius(&sampled.poles_with_delay(delay).unwrap());
            let mut controller = settings.build_for_system(&system).unwrap();
            // Small until the end, and above the rounding; and late enough that all other modes have decayed.
            let (size, windows) = if delay > limit {
                (1e-11, [300, 600])
            } else {
                (1e-4, [1500, 3000])
            };
            let found = growth(&vehicle, &mut controller, (size, windows), delay, h);
            assert!(
                (found / expected - 1.0).abs() < 2e-4,
                "{gains}, {delay} s: {found} {expected}"
            );
        }
    }
}

/// By which factor errors grow in a step, from one of these windows to the other.
fn growth(
    vehicle: &fly_mechanics::Vehicle,
    controller: &mut fly_control::Controller<fly_control::plant::SystemPlant>,
    (size, windows): (f64, [usize; 2]),
    delay: f64,
    h: f64,
) -> f64 {
    let system = System::from_toml(QUADCOPTER).unwrap();
    let goal = SystemPoint::new(&system.model);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of steps
    let steps = (delay / h + 1e-9).floor() as usize;
    let late = (delay - steps as f64 * h).max(0.0);
    let pose = SE3::exp(&(Vector6::new(1.0, 2.0, 1.0, 1.0, -1.0, 1.0) * size));
    let twist = Vector6::zeros();
    let mut flight = common::Flight::new(vehicle, State { pose, twist });
    let at = goal.as_reference();
    let rest = controller.step_after(h, at.configuration, at.velocity, &at);
    let hover = rest.unwrap().input.clone();
    let mut sent = vec![hover; steps + 2];
    let mut sizes = Vec::new();
    for _ in 0..windows[1] + 301 {
        let (pose, twist) = (flight.state.pose, flight.state.twist);
        let mut x = goal.configuration.clone();
        system.model.integrate(&mut x, pose.log().as_slice());
        let step = controller.step_after(h, &x, twist.as_slice(), &at);
        sent.push(step.unwrap().input.clone());
        let now = sent.len() - 1 - steps;
        if late > 0.0 {
            flight.advance(sent[now - 1].as_slice(), late);
        }
        flight.advance(sent[now].as_slice(), h - late);
        sizes.push(pose.log().norm());
    }
    // From the largest peak of one window to that of another.
    let peak = |from: usize| {
        let peaks = (from..from + 300).filter(|i| sizes[*i] > sizes[i - 1].max(sizes[i + 1]));
        peaks
            .max_by(|i, j| sizes[*i].total_cmp(&sizes[*j]))
            .unwrap()
    };
    let [first, last] = windows.map(peak);
    (sizes[last] / sizes[first]).powf(1.0 / (last - first) as f64)
}
