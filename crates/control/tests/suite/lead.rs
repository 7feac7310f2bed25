//! Commands that lead lags, and states that are predicted over delays: against the closed form of the lag, and the linear analysis against loops of the real controller
//! and predictor around an exactly solved plant.

#![allow(non_snake_case)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small counts

use crate::common;

use common::{QUADCOPTER, QUADCOPTER_POLES, TRICOPTER, TRICOPTER_PAIR, lagging, planned, vehicle};
use fly_control::analysis::{ClosedLoop, SampledLoop, spectral_radius};
use fly_control::lead::{Lead, LeadError};
use fly_control::plant::SystemPlant;
use fly_control::predictor::StatePredictor;
use fly_control::{Controller, ControllerSettings, ReferencePoint, SystemPoint, SystemReference};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::{ActuatedDynamics, State, System};
use nalgebra::{Complex, DVector, Vector3, Vector6};

/// A system whose actuators lag, integrated finely.
struct Plant {
    system: System,
    motion: SystemState<f64>,
    dynamics: ActuatedDynamics,
    integrator: RungeKutta<f64>,
}

impl Plant {
    fn new(system: &System, configuration: Vec<f64>, velocity: &[f64], actuators: &[f64]) -> Self {
        let mut motion = SystemState::at_rest(&system.model);
        motion.configuration = configuration;
        motion.velocity = [velocity, actuators].concat();
        Self {
            dynamics: ActuatedDynamics::new(system, 1e-3).unwrap(),
            integrator: RungeKutta::new(&system.model, Scheme::RungeKutta4),
            system: system.clone(),
            motion,
        }
    }

    fn advance(&mut self, commands: &[f64], time: f64) {
        let (system, dynamics) = (&self.system, &mut self.dynamics);
        (self.integrator).step(&system.model, &mut self.motion, time, |motion, rates| {
            dynamics.rates(system, commands, motion, rates);
        });
    }

    fn actuators(&self) -> &[f64] {
        &self.motion.velocity[self.system.model.dof()..]
    }

    fn state(&self) -> State<f64> {
        let joint = self
            .system
            .model
            .joint(self.system.model.bodies().next().unwrap());
        State {
            pose: joint.unwrap().pose(&self.motion.configuration),
            twist: Vector6::from_column_slice(&self.motion.velocity[..6]),
        }
    }
}

/// A controller of either kind, with a plant.
trait Pilot {
    /// The commands that it asks for, and those that the law asks the actuators to do.
    fn step(&mut self, elapsed: f64, plant: &Plant, told: bool) -> [Vec<f64>; 2];
}

fn commands(system: &System, input: &DVector<f64>) -> Vec<f64> {
    let mut commands = vec![0.0; input.len()];
    system
        .inputs
        .commands_from_input(input.as_slice(), &mut commands);
    commands
}

/// About a goal that moves on a straight line with constant acceleration, or rests.
struct OfVehicle(Controller, ReferencePoint);

impl Pilot for OfVehicle {
    fn step(&mut self, elapsed: f64, plant: &Plant, told: bool) -> [Vec<f64>; 2] {
        if told {
            self.0.set_actuators(Some(plant.actuators()));
        }
        let step = self.0.step_after(elapsed, &plant.state(), &self.1);
        [&step.input, &step.unconstrained].map(|input| commands(&plant.system, input))
    }
}

struct OfSystem(Controller<SystemPlant>, SystemPoint);

impl Pilot for OfSystem {
    fn step(&mut self, elapsed: f64, plant: &Plant, told: bool) -> [Vec<f64>; 2] {
        if told {
            self.0.set_actuators(Some(plant.actuators()));
        }
        let (x, xi) = plant.motion.velocity.split_at(plant.system.model.dof());
        let (xi, x) = (x, (&plant.motion.configuration, xi).0);
        let goal = self.1.as_reference();
        let step = self.0.step_after(elapsed, x, xi, &goal).unwrap();
        [&step.input, &step.unconstrained].map(|input| commands(&plant.system, input))
    }
}

/// Actuator outputs minus demands of the law after this time, in steps of h.
fn missing(
    pilot: &mut dyn Pilot,
    mut plant: Plant,
    time: f64,
    h: f64,
    told: bool,
) -> [Vec<f64>; 2] {
    let off = |plant: &Plant, asked: &[f64]| -> Vec<f64> {
        let lags = plant.system.inputs.time_constants();
        let each = plant.actuators().iter().zip(asked).zip(lags);
        // Actuators without lag follow their commands.
        each.map(|((a, b), lag)| if *lag > 0.0 { a - b } else { 0.0 })
            .collect()
    };
    let count = (time / h).round() as u32;
    let mut first = None;
    for _ in 0..count {
        let [command, asked] = pilot.step(h, &plant, told);
        first.get_or_insert_with(|| off(&plant, &asked));
        plant.advance(&command, h);
    }
    let [_, asked] = pilot.step(h, &plant, told);
    [first.unwrap(), off(&plant, &asked)]
}

/// The error `v - v_0` of every actuator decays with its own lag, whatever the motion; held commands add an error of first order.
fn decays(what: &str, system: &System, start: impl Fn() -> (Box<dyn Pilot>, Plant), most: f64) {
    let lags = system.inputs.time_constants();
    let time = 0.08;
    let [coarse, fine] = [4e-4, 2e-4].map(|h| {
        let (mut pilot, plant) = start();
        let [before, after] = missing(&mut *pilot, plant, time, h, true);
        let errors = before.iter().zip(after).zip(lags);
        let errors = errors.map(|((before, after), lag)| {
            let expected = if *lag > 0.0 {
                before * (-time / lag).exp()
            } else {
                0.0
            };
            after - expected
        });
        (before.clone(), errors.collect::<Vec<_>>())
    });
    let largest = |of: &[f64]| of.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    // What is left when the error of first order in the step is taken away.
    let left: Vec<f64> = fine
        .1
        .iter()
        .zip(&coarse.1)
        .map(|(f, c)| 2.0 * f - c)
        .collect();
    println!(
        "{what}: {:.2e} at first, {:.2e} and {:.2e} off the closed form, {:.2e} without the first order",
        largest(&fine.0),
        largest(&coarse.1),
        largest(&fine.1),
        largest(&left)
    );
    assert!(largest(&fine.0) > 0.1);
    assert!(largest(&left) < most, "{what}: {left:?}");
}

const FREE: &str = "allocation = 'none'\nactuators = { lead = 1 }";

/// Off its goal, tilted and moving.
fn moved(model: &System) -> (Vec<f64>, [f64; 6]) {
    let mut x = model.model.neutral_configuration();
    model
        .model
        .integrate(&mut x, &[0.3, -0.2, 0.1, 0.3, -0.2, 0.5]);
    (x, [0.5, 0.3, -0.4, 0.6, -0.5, 0.3])
}

#[test]
fn thrusts_do_what_the_law_asks_but_for_an_error_that_decays_with_their_lags() {
    let text = lagging(QUADCOPTER, [0.03, 0.06], 0.0);
    let system = System::from_toml(&text).unwrap();
    decays(
        "quadcopter",
        &system,
        || {
            let (x, xi) = moved(&system);
            let controller = common::controller(&text, FREE, QUADCOPTER_POLES);
            let pilot = OfVehicle(controller, ReferencePoint::default());
            (
                Box::new(pilot),
                Plant::new(&system, x, &xi, &[2.0, 3.0, 2.5, 1.5]),
            )
        },
        2e-4,
    );
}

#[test]
fn tilts_and_thrusts_have_lags_of_their_own() {
    let text = lagging(TRICOPTER, [0.03, 0.05], 0.08);
    let system = System::from_toml(&text).unwrap();
    assert_eq!(system.inputs.time_constants()[..2], [0.03, 0.08]);
    decays(
        "tricopter",
        &system,
        || {
            let (x, xi) = moved(&system);
            let controller = common::controller(&text, FREE, TRICOPTER_PAIR);
            let pilot = OfVehicle(controller, ReferencePoint::default());
            let actuators = [3.0, 0.2, 2.0, -0.3, 4.0, 0.1];
            (Box::new(pilot), Plant::new(&system, x, &xi, &actuators))
        },
        2e-4,
    );
}

/// An arm of two links whose motors lag: one of them only, in one case.
fn arm(lags: [f64; 2]) -> System {
    System::from_toml(&format!(
        "name = 'arm'
         [bodies.upper]
         joint = {{ type = 'revolute', axis = [0, 1, 0] }}
         shape = {{ sphere = {{ radius = 0.1 }} }}
         mass = 1
         center_of_mass = [0, 0, -0.5]
         [bodies.lower]
         parent = 'upper'
         position = [0, 0, -1]
         joint = {{ type = 'revolute', axis = [0, 1, 0] }}
         shape = {{ sphere = {{ radius = 0.1 }} }}
         mass = 0.5
         center_of_mass = [0, 0, -0.4]
         [[motors]]
         joint = 'upper'
         time_constant = {}
         [[motors]]
         joint = 'lower'
         time_constant = {}",
        lags[0], lags[1]
    ))
    .unwrap()
}

#[test]
fn motors_of_systems_lead_as_well() {
    let pairs = "pairs = [
            { to = 'upper', stiffness = 16, damping = 8, inertia = 1 },
            { from = 'upper', to = 'lower', stiffness = 25, damping = 10, inertia = 1 },
        ]";
    let torque = "approach = 'computed_torque'
        gains = { upper = { stiffness = 16, damping = 8 }, lower = { stiffness = 25, damping = 10 } }";
    let feedback = "approach = 'state_feedback'\npoles = [-4, -4.5, -5, -5.5]";
    let observed = format!("{pairs}\ndisturbance = {{ bandwidth = 4 }}");
    for lags in [[0.03, 0.05], [0.04, 0.0]] {
        let system = arm(lags);
        for (what, keys) in [
            ("energies", pairs),
            ("computed torque", torque),
            ("state feedback", feedback),
            ("observed", &observed),
        ] {
            decays(
                what,
                &system,
                || {
                    let settings: ControllerSettings =
                        toml::from_str(&format!("{FREE}\n{keys}")).unwrap();
                    let mut controller = settings.build_for_system(&system).unwrap();
                    controller.set_applied(None);
                    let mut goal = SystemPoint::new(&system.model);
                    goal.configuration = vec![0.4, -0.3];
                    let plant = Plant::new(&system, vec![0.1, 0.5], &[0.6, -0.8], &[1.0, -1.0]);
                    (Box::new(OfSystem(controller, goal)), plant)
                },
                1e-3,
            );
        }
    }
}

/// Without measured actuator outputs the result is the same as long as the actuators behave as modelled.
#[test]
fn the_controller_knows_its_own_commands() {
    let text = lagging(QUADCOPTER, [0.03, 0.06], 0.0);
    let system = System::from_toml(&text).unwrap();
    let [told, untold] = [true, false].map(|told| {
        let controller = common::controller(&text, FREE, QUADCOPTER_POLES);
        let mut pilot = OfVehicle(controller, ReferencePoint::default());
        let (x, xi) = moved(&system);
        // They begin where the first commands, which nothing leads, want them.
        let [first, _] = pilot.step(1e-3, &Plant::new(&system, x.clone(), &xi, &[0.0; 4]), false);
        let plant = Plant::new(&system, x, &xi, &first);
        missing(&mut pilot, plant, 0.1, 1e-3, told)[1].clone()
    });
    for (told, untold) in told.iter().zip(&untold) {
        // The first of its steps is of a controller that has just begun, too.
        assert!((told - untold).abs() < 2e-2, "{told} {untold}");
    }
}

/// With its lag led a vehicle tracks a curve as one without lag does.
#[test]
fn a_led_vehicle_tracks_like_one_without_lag() {
    let reference = "kind = 'lissajous'\namplitude = [1.5, 1.0, 0.4]\nangular_frequency = [1.6, 2.1, 1.2]\nphase = [0.0, 0.5, 1.0]\nyaw_rate = 0.5";
    let rms = |lag: f64, lead: f64| {
        let text = lagging(QUADCOPTER, [lag; 2], 0.0);
        let system = System::from_toml(&text).unwrap();
        let keys = format!("allocation = 'active_set'\nactuators = {{ lead = {lead} }}");
        let mut controller = common::controller(&text, &keys, QUADCOPTER_POLES);
        let mut trajectory = planned(&vehicle(&text), reference);
        let start = trajectory.sample(0.0).unwrap();
        let mut x = system.model.neutral_configuration();
        let joint = system
            .model
            .joint(system.model.bodies().next().unwrap())
            .unwrap();
        joint.coordinates(&start.pose, &mut x);
        let mut plant = Plant::new(&system, x, start.twist.as_slice(), &[2.2; 4]);
        let (mut sum, mut count, h) = (0.0, 0, 2e-3);
        for k in 0..3000_u32 {
            let goal = trajectory.sample(f64::from(k) * h).unwrap();
            let state = plant.state();
            if k > 0 {
                controller.set_actuators((lag > 0.0).then(|| plant.actuators()));
            }
            let command = controller.step_after(h, &state, &goal).input.clone();
            if k >= 1000 {
                sum += (state.pose.translation - goal.pose.translation).norm_squared();
                count += 1;
            }
            for _ in 0..2 {
                plant.advance(command.as_slice(), 0.5 * h);
            }
        }
        (sum / f64::from(count)).sqrt()
    };
    let without = rms(0.0, 0.0);
    for lag in [0.03, 0.06] {
        let (plain, half, led) = (rms(lag, 0.0), rms(lag, 0.5), rms(lag, 1.0));
        println!(
            "lag {lag} s: rms {plain:.2e} m, half led {half:.2e} m, led {led:.2e} m, without lag {without:.2e} m"
        );
        assert!(led < 1.1 * without + 1e-6 && plain > 5.0 * led && half < plain);
    }
}

/// Where a reference jumps, in its acceleration or altogether, the commands jump with the law, and nothing is led.
#[test]
fn jumps_of_the_reference_do_not_kick() {
    let text = lagging(QUADCOPTER, [0.05; 2], 0.0);
    let mut controller = common::controller(&text, FREE, QUADCOPTER_POLES);
    let state = State::at_rest(SE3::identity());
    let hover = ReferencePoint::at_rest(SE3::identity());
    let up = |a: f64| ReferencePoint {
        acceleration: Vector6::new(0.0, 0.0, a, 0.0, 0.0, 0.0),
        ..hover
    };
    let place =
        |x: f64| ReferencePoint::at_rest(SE3::new(SO3::identity(), Vector3::new(x, 0.0, 0.0)));
    let weight = 0.9 * 9.81 / 4.0;
    for goal in [up(4.0), place(0.3)] {
        for _ in 0..3 {
            controller.set_actuators(Some(&[weight; 4]));
            controller.step_after(2e-3, &state, &hover);
        }
        for k in 0..5 {
            controller.set_actuators(Some(&[weight; 4]));
            let step = controller.step_after(2e-3, &state, &goal);
            // Except the damper's response to the velocity that an acceleration causes: 3.6 N s/m times 4 m/s^2 times 0.05 s, by four rotors.
            let led = (&step.demanded - &step.unconstrained).amax();
            assert!(led < 0.181, "{led} N in step {k}");
            assert!(step.unconstrained.max() - weight > 0.1);
        }
    }
    // A ramp is led, from its third step on.
    for k in 0..5_u32 {
        controller.set_actuators(Some(&[weight; 4]));
        let step = controller.step_after(2e-3, &state, &up(0.02 * f64::from(k)));
        let led = step.demanded[0] - step.unconstrained[0];
        // 0.05 s times 10 m/s^3 times a quarter of the mass.
        let ramp = if k >= 2 { 0.05 * 10.0 * 0.9 / 4.0 } else { 0.0 };
        let damper = 0.05 * 3.6 * 0.02 * f64::from(k) / 4.0;
        assert!((led - ramp - damper).abs() < 1e-6, "{k}: {led}");
    }
}

#[test]
fn a_lead_that_there_is_not_is_refused() {
    let vehicle = vehicle(QUADCOPTER);
    for part in [-0.1, 1.1, f64::NAN] {
        let found = Lead::of_rotors(&vehicle.rotors, part);
        assert!(matches!(found, Err(LeadError::Fraction(_))), "{found:?}");
    }
    let system = System::from_toml(&lagging(QUADCOPTER, [0.03; 2], 0.0)).unwrap();
    let keys = format!("approach = 'cascade'\n{FREE}\n{QUADCOPTER_POLES}");
    let settings: ControllerSettings = toml::from_str(&keys).unwrap();
    let Err(error) = settings.build_for_system(&system) else {
        panic!("a cascade that leads");
    };
    assert!(error.to_string().contains("integrals"), "{error}");
}

// ---- The linear analysis

const SLIDER: &str = "name = 'slider'
    [bodies.cart]
    joint = { type = 'prismatic', axis = [1, 0, 0] }
    mass = 2
    inertia = [1, 1, 1]
    [[motors]]
    joint = 'cart'
    time_constant = 0.05";

/// Deviation of the plant from the controller's model.
#[derive(Clone, Copy, Debug)]
struct Truth {
    lag: f64,
    delay: f64,
    gain: f64,
}

/// The real controller and predictor around an exactly solved slider: positions at each step.
fn fly(keys: &str, h: f64, truth: Truth, steps: usize) -> Vec<f64> {
    let system = System::from_toml(SLIDER).unwrap();
    let settings: ControllerSettings = toml::from_str(keys).unwrap();
    let mut controller = settings.build_for_system(&system).unwrap();
    let mut predictor = StatePredictor::new(&system)
        .unwrap()
        .with_delay(settings.actuators.delay);
    let goal = SystemReference {
        configuration: &[0.0],
        velocity: &[0.0],
        acceleration: &[0.0],
    };
    let (mut x, mut v, mut force) = (1.0, 0.0, 0.0);
    let mut given: Vec<f64> = Vec::new();
    let mut trace = Vec::new();
    for k in 0..steps {
        trace.push(x);
        if let Some(last) = given.last() {
            predictor.advance_actuators(&[*last], h);
            controller.set_applied(Some(predictor.mean_actuators()));
        } else {
            predictor.advance_actuators(&[0.0], 0.0);
            controller.set_applied(None);
        }
        predictor.measure(0, &[x, v]);
        if settings.actuators.delay > 0.0 {
            controller.observe_measured(h, &[x], &[v]);
            let found = controller.disturbance().map(|found| found.force()[0]);
            predictor.look_ahead(found.map(|force| [force]).as_ref().map(|force| &force[..]));
        }
        let ahead = predictor.ahead();
        controller.set_actuators(ahead.actuators);
        let step = controller
            .step_after(h, ahead.configuration, ahead.velocity, &goal)
            .unwrap();
        given.push(step.input[0]);
        // The plant: commands of the past, each held for h, act after the delay.
        let late = truth.delay / h;
        let whole = (late + 1e-9).floor();
        let rest = (late - whole).max(0.0) * h;
        let of = |back: f64| {
            let at = k as f64 - back;
            if at < 0.0 { 0.0 } else { given[at as usize] }
        };
        for (command, time) in [(of(whole + 1.0), rest), (of(whole), h - rest)] {
            let (T, m) = (truth.lag, 2.0 / truth.gain);
            let left = (-time / T).exp();
            let off = force - command;
            x += v * time + (0.5 * command * time * time + off * T * (time - T * (1.0 - left))) / m;
            v += (command * time + off * T * (1.0 - left)) / m;
            force = command + off * left;
        }
    }
    trace
}

/// The recursion whose characteristic polynomial has these poles, applied to a trace: the residual.
fn residual(poles: &[Complex<f64>], trace: &[f64]) -> f64 {
    let polynomial = common::polynomial(poles);
    let n = poles.len();
    let size: f64 = polynomial.iter().map(|p| p.norm()).sum();
    let largest = trace.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let sums = trace.windows(n + 1).map(|window| {
        let sum: f64 = (0..=n).map(|i| polynomial[i].re * window[n - i]).sum();
        sum.abs() / (size * largest)
    });
    sums.fold(0.0, f64::max)
}

/// The poles of the analysis are those of the controller as it is, whatever it makes up for and whatever the plant is.
#[test]
fn the_sampled_loop_is_that_of_the_real_controller() {
    let pair = "allocation = 'none'
        pairs = [{ to = 'cart', stiffness = 18, damping = 12, inertia = 2 }]";
    let right = Truth {
        lag: 0.05,
        delay: 0.0,
        gain: 1.0,
    };
    let observer = "\ndisturbance = { bandwidth = 4 }";
    for (keys, h, truth) in [
        ("actuators = { lead = 1 }", 0.02, right),
        (
            "actuators = { lead = 0.6 }",
            0.02,
            Truth {
                lag: 0.08,
                gain: 1.3,
                ..right
            },
        ),
        (
            "actuators = { delay = 0.05 }",
            0.02,
            Truth {
                delay: 0.05,
                ..right
            },
        ),
        (
            "actuators = { delay = 0.04 }",
            0.02,
            Truth {
                delay: 0.07,
                gain: 0.8,
                ..right
            },
        ),
        (
            "actuators = { lead = 1, delay = 0.05 }",
            0.02,
            Truth {
                lag: 0.03,
                delay: 0.03,
                gain: 1.2,
            },
        ),
        (
            "actuators = { lead = 1, delay = 0.012 }",
            0.02,
            Truth {
                lag: 0.05,
                delay: 0.0,
                gain: 1.0,
            },
        ),
        (
            observer,
            0.02,
            Truth {
                lag: 0.07,
                delay: 0.0,
                gain: 1.2,
            },
        ),
        (
            "actuators = { lead = 1, delay = 0.05 }\ndisturbance = { bandwidth = 4 }",
            0.02,
            Truth {
                lag: 0.07,
                delay: 0.06,
                gain: 1.1,
            },
        ),
    ] {
        let all = format!("{pair}\n{keys}");
        let system = System::from_toml(SLIDER).unwrap();
        let settings: ControllerSettings = toml::from_str(&all).unwrap();
        let controller = settings.build_for_system(&system).unwrap();
        let closed = ClosedLoop::new(&system, &controller, &[0.0]).unwrap();
        let sampled = closed.sampled(h, &[truth.lag]).unwrap();
        // A gain is a lighter cart, too.
        let poles = sampled
            .poles_with(truth.delay - settings.actuators.delay, truth.gain)
            .unwrap();
        let trace = fly(&all, h, truth, 60 + 2 * poles.len());
        let left = residual(&poles, &trace[8..]);
        println!("{keys} {truth:?}: {} poles, {left:.1e}", poles.len());
        assert!(left < 1e-9, "{keys} {truth:?}: {left}");
        // And no others.
        let wrong = sampled.poles_with(truth.delay - settings.actuators.delay, 1.02 * truth.gain);
        let wrong = residual(&wrong.unwrap(), &trace[8..]);
        assert!(wrong > 1e4 * left, "{keys} {truth:?}: {wrong}");
    }
}

/// Where the plant is as believed, the poles are those that the law asks for, then those of the lags twice.
#[test]
fn led_loops_have_the_poles_that_were_asked_for() {
    for (description, tables, keys) in [
        (lagging(QUADCOPTER, [0.03, 0.05], 0.0), QUADCOPTER_POLES, ""),
        (lagging(TRICOPTER, [0.03, 0.05], 0.07), TRICOPTER_PAIR, ""),
        (lagging(QUADCOPTER, [0.03, 0.0], 0.0), QUADCOPTER_POLES, ""),
    ] {
        let all = format!("{FREE}\n{keys}");
        let controller = common::controller(&description, &all, tables);
        let closed = common::closed_loop(&description, &controller, &SO3::identity()).unwrap();
        let system = System::from_toml(&description).unwrap();
        let lags = system.inputs.time_constants();
        let mut expected = closed.poles().unwrap();
        for lag in lags.iter().filter(|lag| **lag > 0.0) {
            expected.extend([Complex::from(-1.0 / lag); 2]);
        }
        let found = closed.poles_with_lags(lags).unwrap();
        same_polynomial(&found, &expected, 1e-7);
    }
}

/// A prediction takes a delay out of the loop: its poles are those without it, and zeros.
#[test]
fn a_predicted_delay_moves_no_pole() {
    let description = lagging(QUADCOPTER, [0.03; 2], 0.0);
    for (lead, delay) in [(0.0, 0.02), (0.0, 0.013), (1.0, 0.02)] {
        let poles = |delay: f64| {
            let keys =
                format!("allocation = 'none'\nactuators = {{ lead = {lead}, delay = {delay} }}");
            let controller = common::controller(&description, &keys, QUADCOPTER_POLES);
            let closed = common::closed_loop(&description, &controller, &SO3::identity()).unwrap();
            let sampled = closed.sampled(0.005, &[0.03; 4]).unwrap();
            let mut poles = sampled.poles().unwrap();
            let margin = sampled.delay_margin().unwrap().expect("a margin");
            poles.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
            (
                poles,
                margin.delay,
                sampled.delay_reduction_margin().unwrap(),
            )
        };
        let ((without, ..), (with, more, less)) = (poles(0.0), poles(delay));
        println!("lead {lead}, delay {delay}: bears {more} s more, {less:?} s less");
        // Double ones split by the root of rounding: compare their largest moduli alone.
        for (a, b) in without.iter().zip(&with).take(8) {
            assert!((a.norm() - b.norm()).abs() < 2e-3, "{a} {b}");
        }
        assert!(more > 0.0);
    }
}

/// A long delay has hundreds of poles, which are not looked at one by one: margins and poles are those that shorter ones, and all of them, have.
#[test]
fn a_long_delay_has_the_poles_and_margins_of_all_its_states() {
    let description = lagging(QUADCOPTER, [0.03; 2], 0.0);
    let sampled = |delay: f64, keys: &str| {
        let keys =
            format!("allocation = 'none'\nactuators = {{ lead = 0, delay = {delay} }}\n{keys}");
        let controller = common::controller(&description, &keys, QUADCOPTER_POLES);
        let closed = common::closed_loop(&description, &controller, &SO3::identity()).unwrap();
        closed.sampled(0.002, &[0.03; 4]).unwrap()
    };
    for keys in ["", "disturbance = { bandwidth = 3 }"] {
        let (short, long) = (sampled(0.0, keys), sampled(0.08, keys));
        assert!(long.has_dominant_poles_only() && !short.has_dominant_poles_only());
        // It is out of the loop.
        let largest = |sampled: &SampledLoop| {
            let poles = sampled.poles().unwrap();
            let mut moduli: Vec<f64> = poles.iter().map(|pole| pole.norm()).collect();
            moduli.sort_by(|a, b| b.total_cmp(a));
            moduli.truncate(8);
            moduli
        };
        assert!(long.poles().unwrap().len() < 80);
        for (a, b) in largest(&short).iter().zip(largest(&long)) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
        // Both sides of the margins by all poles.
        let margins = long.gain_margins().unwrap();
        let growth_with = |gain: f64| spectral_radius(&long.poles_with_gain(gain).unwrap());
        for (margin, inside) in [(margins.least, 1.01), (margins.most, 0.99)] {
            if let Some(margin) = margin {
                let (inside, outside) = (margin * inside, margin / inside);
                assert!(growth_with(inside) < 1.0, "{keys} {margins:?}");
                assert!(growth_with(outside) > 1.0, "{keys} {margins:?}");
            }
        }
        assert!(margins.most.is_some());
        let less = long.delay_reduction_margin().unwrap().expect("a margin");
        let step = 0.002;
        let growth_early =
            |steps: f64| spectral_radius(&long.poles_with_delay(-steps * step).unwrap());
        assert!(growth_early((less / step).floor()) < 1.0);
        assert!(growth_early((less / step).ceil()) > 1.0, "{less}");
    }
}

/// The coefficients of two polynomials with these roots, scaled to the largest of them.
fn same_polynomial(found: &[Complex<f64>], expected: &[Complex<f64>], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let scaled = |poles: &[Complex<f64>]| {
        let poles: Vec<_> = poles.iter().map(|pole| pole / size).collect();
        common::polynomial(&poles)
    };
    let (found, expected) = (scaled(found), scaled(expected));
    let largest = expected.iter().map(|c| c.norm()).fold(0.0, f64::max);
    for (found, expected) in found.iter().zip(&expected) {
        assert!(
            (found - expected).norm() < tolerance * largest,
            "{found} {expected}"
        );
    }
}

// ---- Prediction

/// The state that is predicted is the one that comes.
#[test]
fn what_is_predicted_comes() {
    let text = lagging(QUADCOPTER, [0.03, 0.05], 0.0);
    let system = System::from_toml(&text).unwrap();
    let (delay, h) = (0.025, 2e-3);
    let predictor = StatePredictor::new(&system).unwrap();
    let mut predictor = predictor.with_delay(delay).from_first_commands();
    let (x, xi) = moved(&system);
    let first = [2.0, 2.4, 2.2, 2.6];
    let mut plant = Plant::new(&system, x, &xi, &first);
    let command = |k: i32| -> Vec<f64> {
        if k < 0 {
            return first.to_vec();
        }
        let t = f64::from(k) * h;
        (0..4)
            .map(|i| 2.2 + 0.4 * (7.0 * t + f64::from(i)).sin())
            .collect()
    };
    let measure = |predictor: &mut StatePredictor, plant: &Plant| {
        let state = plant.state();
        let q = state.pose.rotation.to_quaternion();
        predictor.measure(0, state.pose.translation.as_slice());
        predictor.measure(1, q.as_slice());
        predictor.measure(2, &state.twist.as_slice()[..3]);
        predictor.measure(3, &state.twist.as_slice()[3..]);
    };
    let mut expected: Vec<Vec<f64>> = Vec::new();
    predictor.advance_actuators(&first, 0.0);
    for k in 0..60_i32 {
        measure(&mut predictor, &plant);
        predictor.look_ahead(None);
        let ahead = predictor.ahead();
        expected.push(
            [
                ahead.configuration,
                ahead.velocity,
                ahead.actuators.unwrap(),
            ]
            .concat(),
        );
        // 12.5 steps later, half way between two of them.
        for half in 0..2 {
            if half == 1 && k >= 12 {
                let found = [&plant.motion.configuration[..], &plant.motion.velocity].concat();
                let expected = &expected[k as usize - 12];
                let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                let off = off.fold(0.0, f64::max);
                assert!(off < 1e-7, "{off} at step {k}");
            }
            plant.advance(&command(k - 13 + half), 0.5 * h);
        }
        predictor.advance_actuators(&command(k), h);
        let model = predictor.actuators().iter().zip(plant.actuators());
        assert!(model.into_iter().all(|(a, b)| (a - b).abs() < 1e-7));
    }
}
