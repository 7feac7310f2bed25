//! Closed loops: smooth ones integrated with the law in every stage, and sampled ones whose input is held.

use fly_control::settings::AllocationMethod;
use fly_control::{Controller, ReferencePoint, Trajectory};
use fly_mechanics::State;
use fly_mechanics::integrate::Integrator;
use fly_testing::golden::{File, number, numbers};
use serde_json::Value;

use crate::data::{absolute, configuration, relative, state};
use crate::example::Example;

pub fn compare(example: &Example, file: &Value, report: &mut File) {
    for (name, given) in file["trajectories"].as_object().into_iter().flatten() {
        smooth(example, file, name, given, report);
    }
    let methods: &[AllocationMethod] = if cfg!(feature = "osqp") {
        &[AllocationMethod::ActiveSet, AllocationMethod::Osqp]
    } else {
        &[AllocationMethod::ActiveSet]
    };
    for (name, given) in file["zoh_trajectories"].as_object().into_iter().flatten() {
        for method in methods {
            sampled(example, file, name, given, *method, report);
        }
    }
}

/// What a file holds at its sample times, and the scalars over the whole flight.
#[derive(Default)]
struct Flight {
    x: Vec<f64>,
    xi: Vec<f64>,
    u: Vec<f64>,
    total: Vec<f64>,
    potential: Vec<f64>,
    active: Vec<f64>,
    actual: Vec<f64>,
    errors: Vec<[f64; 3]>,
    saturated: usize,
    samples: usize,
    lowest: f64,
    least: f64,
    largest: f64,
}

impl Flight {
    fn error(&mut self, t: f64, state: &State<f64>, reference: &ReferencePoint) {
        let position = (state.pose.translation - reference.pose.translation).norm();
        let turn = reference.pose.rotation.inverse() * state.pose.rotation;
        self.errors.push([t, position, turn.log().norm()]);
        self.lowest = self.lowest.min(state.pose.translation.z);
    }

    fn column(&self, i: usize) -> impl Iterator<Item = f64> {
        self.errors.iter().map(move |e| e[i])
    }

    fn scalars(&self, name: &str, given: &Value, report: &mut File, upside_down: bool) {
        let part = if upside_down { 1e-2 } else { 1e-4 };
        let rms =
            |i| (self.column(i).map(|e| e * e).sum::<f64>() / self.errors.len() as f64).sqrt();
        let max = |i| self.column(i).fold(0.0, f64::max);
        let tolerance = numbers(&given["settling_tol"]);
        let settled = self
            .errors
            .iter()
            .rfind(|e| e[1] > tolerance[0] || e[2] > tolerance[1]);
        let settled = settled.map_or(0.0, |e| e[0]);
        let last = self.errors.last().copied().unwrap_or_default();
        let mut check = |key: &str, found: f64, tolerance: f64, of_value: bool| {
            let Some(expected) = given.get(key).and_then(Value::as_f64) else {
                return;
            };
            let title = format!("{name}: {key}");
            if of_value {
                relative(report, &title, &[found], &[expected], tolerance);
            } else {
                absolute(report, &title, &[found], &[expected], tolerance);
            }
        };
        check("settling_time", settled, 0.02, false);
        check("rms_pos", rms(1), part, true);
        check("rms_ang", rms(2), part, true);
        check("max_pos", max(1), part, true);
        check("max_ang", max(2), part, true);
        let finals = if upside_down { 1e-4 } else { 1e-6 };
        check("final_pos", last[1], finals, false);
        check("final_ang", last[2], finals, false);
        check(
            "saturated_control_samples",
            self.saturated as f64,
            2.0,
            false,
        );
        check("control_samples", self.samples as f64, 0.0, false);
        check("min_z", self.lowest, part * 0.1, false);
        check("u_min", self.least, part, false);
        check("u_max", self.largest, part, false);
    }
}

/// Every stage asks the law: RK4 with steps of 2 ms, the time as one more state.
fn smooth(example: &Example, file: &Value, name: &str, given: &Value, report: &mut File) {
    const STEP: f64 = 2e-3;
    let mut controller = example.controller(name, AllocationMethod::None);
    let mut trajectory = example.reference();
    let mut state = state(&file["x0"], &file["xi0"]);
    let mut time = [0.0];
    let mut integrator = Integrator::new(1);
    let times = numbers(&file["t"]);
    let end = number(&file["T"]);
    let mut flight = Flight::default();
    // The scalars are those of 1001 samples; the numbers of steps between them and between the file's times differ.
    let mut stops: Vec<(f64, bool)> = times.iter().map(|t| (*t, true)).collect();
    stops.extend((0..=1000).map(|i| (end * f64::from(i) / 1000.0, false)));
    stops.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (stop, in_file) in stops {
        while stop - time[0] > 1e-9 {
            let step = STEP.min(stop - time[0]);
            integrator.step(&mut state, &mut time, step, |state, time, rate| {
                rate[0] = 1.0;
                let reference = trajectory.sample(time[0]).expect("feasible");
                let step = controller.step(state, &reference);
                example
                    .body
                    .acceleration(state, &(&example.inputs * &step.input))
            });
        }
        let reference = trajectory.sample(time[0]).expect("feasible");
        let step = controller.step(&state, &reference);
        if in_file {
            flight.x.extend(configuration(&state.pose));
            flight.xi.extend(state.twist.iter());
            flight.u.extend(step.input.iter());
            flight.total.push(step.energies.expect("energies").total);
            flight
                .potential
                .push(step.energies.expect("energies").potential);
        } else {
            flight.error(time[0], &state, &reference);
        }
    }
    let title = format!("smooth {name}");
    for (key, found) in [
        ("x", &flight.x),
        ("xi", &flight.xi),
        ("u", &flight.u),
        ("W", &flight.total),
        ("V", &flight.potential),
    ] {
        absolute(
            report,
            &format!("{title}: {key}"),
            found,
            &numbers(&given[key]),
            1e-7,
        );
    }
    let scalars = &file["scalars"][name];
    flight.scalars(&title, scalars, report, false);
    let middle = flight.total[flight.total.len() / 2];
    for (key, found) in [
        ("W0", flight.total[0]),
        ("W_mid", middle),
        ("W_end", flight.total[flight.total.len() - 1]),
    ] {
        let Some(expected) = scalars.get(key).and_then(Value::as_f64) else {
            continue;
        };
        // 1e-4 relative, values below 1e-10 absolutely to 1e-10.
        let tolerance = 1e-4 * expected.abs() + 1e-10;
        absolute(
            report,
            &format!("{title}: {key}/tolerance"),
            &[found / tolerance],
            &[expected / tolerance],
            1.0,
        );
    }
}

/// How many steps of `dt` a time is.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Small and not negative.
fn steps(time: f64, dt: f64) -> usize {
    (time / dt).round() as usize
}

/// The input is held for 2 ms; the plant takes two steps of 1 ms, its actuators with a lag if the name says so.
fn sampled(
    example: &Example,
    file: &Value,
    name: &str,
    given: &Value,
    method: AllocationMethod,
    report: &mut File,
) {
    let (approach, lag) = name.split_once("|tau=").unwrap_or((name, "0"));
    let lag: f64 = lag.parse().expect("a lag");
    let dt = number(&file["zoh"]["dt"]);
    let substeps = file["zoh"]["substeps"].as_u64().unwrap_or(2);
    let count = steps(number(&file["T"]), dt);
    let times = numbers(&file["t"]);
    let mut next = times.iter().map(|t| steps(*t, dt)).peekable();

    let mut controller: Controller = example.controller(approach, method);
    let mut trajectory: Box<dyn Trajectory> = example.reference();
    let mut state = state(&file["x0"], &file["xi0"]);
    let mut actual = vec![0.0; controller.input_dim()];
    let mut integrator = Integrator::new(actual.len());
    let mut flight = Flight {
        least: f64::INFINITY,
        largest: f64::NEG_INFINITY,
        lowest: f64::INFINITY,
        ..Flight::default()
    };
    for k in 0..=count {
        let t = k as f64 * dt;
        let reference = trajectory.sample(t).expect("feasible");
        let step = controller.step(&state, &reference);
        if k == 0 {
            actual.copy_from_slice(step.input.as_slice());
        }
        flight.samples += 1;
        flight.saturated += usize::from(step.saturated());
        if k % 5 == 0 {
            flight.error(t, &state, &reference);
            flight.least = step.input.iter().copied().fold(flight.least, f64::min);
            flight.largest = step.input.iter().copied().fold(flight.largest, f64::max);
        }
        while next.peek() == Some(&k) {
            next.next();
            flight.x.extend(configuration(&state.pose));
            flight.xi.extend(state.twist.iter());
            flight.u.extend(step.input.iter());
            flight.actual.extend(actual.iter());
            flight.total.push(step.energies.expect("energies").total);
            flight.active.push(step.active() as f64);
        }
        if lag == 0.0 {
            // The files hold what acted until now, so without a lag it follows after it was noted.
            actual.copy_from_slice(step.input.as_slice());
        }
        for _ in 0..substeps {
            integrator.step(
                &mut state,
                &mut actual,
                dt / substeps as f64,
                |state, actual, rate| {
                    for ((rate, actual), u) in rate.iter_mut().zip(actual).zip(&step.input) {
                        *rate = if lag > 0.0 { (u - actual) / lag } else { 0.0 };
                    }
                    let mut wrench = nalgebra::Vector6::zeros();
                    for (column, actual) in example.inputs.column_iter().zip(actual) {
                        wrench += column * *actual;
                    }
                    example.body.acceleration(state, &wrench)
                },
            );
        }
    }

    let upside_down = number(&file["config"]["rotvec0"][0]).abs() > 2.5;
    // The slow recovery falls for seconds at the limits, where every rounding grows.
    let slow = upside_down && number(&file["T"]) > 10.0;
    let tolerance = match (method, upside_down) {
        (AllocationMethod::Osqp, _) if slow => 1e-3,
        (AllocationMethod::Osqp, _) | (_, true) => 1e-4,
        _ => 1e-6,
    };
    let method = if method == AllocationMethod::Osqp {
        "osqp"
    } else {
        "active_set"
    };
    let title = format!("{method} {name}");
    for (key, found) in [
        ("x", &flight.x),
        ("xi", &flight.xi),
        ("u", &flight.u),
        ("ua", &flight.actual),
        ("W", &flight.total),
    ] {
        absolute(
            report,
            &format!("{title}: {key}"),
            found,
            &numbers(&given[key]),
            tolerance,
        );
    }
    absolute(
        report,
        &format!("{title}: n_active"),
        &flight.active,
        &numbers(&given["n_active"]),
        0.0,
    );
    flight.scalars(&title, &file["scalars"][name], report, upside_down);
}
