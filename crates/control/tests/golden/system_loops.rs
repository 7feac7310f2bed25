//! Closed loops of whole systems: the law in every stage of the integration.
#![allow(non_snake_case)]

use fly_control::ReferenceSettings;
use fly_control::law::Law;
use fly_control::template::{DesiredMotion, Template};
use fly_control::{SystemPoint, Trajectory};
use fly_lie::SO3;
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{Inputs, Motor, Rotor, Rotors};
use fly_testing::golden::{File, number, numbers};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Vector3};
use serde_json::Value;

use crate::data::{absolute, matrix, relative};
use crate::solve::solve;
use crate::systems::{System, terms};

/// The reference of a file, as a configuration says it.
fn reference(system: &System, data: &Value) -> Box<dyn Trajectory<SystemPoint>> {
    let config = &data["config"];
    let get = |key: &str| number(&config[key]);
    let lissajous = || {
        let in_plane = |key: &str| [&numbers(&config[key])[..2], &[0.0]].concat();
        let (A, w, ph) = (in_plane("A"), in_plane("w"), in_plane("ph"));
        format!(
            "path = {{ kind = 'lissajous', amplitude = {A:?}, angular_frequency = {w:?}, phase = {ph:?} }}\n"
        )
    };
    let line = |to: Vec<f64>| {
        let (start, duration) = (get("t1"), get("t2") - get("t1"));
        format!(
            "path = {{ kind = 'line', to = {to:?}, start = {start:?}, duration = {duration:?} }}\n"
        )
    };
    let sine = |name: usize, i: usize, offset: f64| {
        let part = |key: &str| config.get(key).map_or(0.0, |x| numbers(x)[i]);
        let (A, w, ph) = (part("A"), part("w"), part("ph"));
        format!(
            "[joints.{name}]\noffset = {offset:?}\namplitude = {A:?}\nangular_frequency = {w:?}\nphase = {ph:?}\n"
        )
    };
    let text = match system.example.as_str() {
        "prismatic" => "kind = 'joints'\n".to_owned() + &sine(1, 0, 0.0),
        "revolute" => "kind = 'joints'\n".to_owned() + &sine(1, 0, get("off")),
        "arm" => {
            let offsets = numbers(&config["off"]).into_iter().enumerate();
            let joints = offsets.map(|(i, offset)| sine(i + 1, i, offset));
            "kind = 'joints'\n".to_owned() + &joints.collect::<String>()
        }
        "orientation" => {
            let [A, w, ph] = ["A", "w", "ph"].map(|key| numbers(&config[key]));
            format!(
                "kind = 'joints'\njoints.1 = {{ amplitude = {A:?}, angular_frequency = {w:?}, phase = {ph:?} }}"
            )
        }
        "planar" => {
            let [a0, a1, a2, a3] = ["a0", "a1", "a2", "a3"].map(get);
            let angle = format!(
                "angle = {{ offset = {a0:?}, rate = {a1:?}, amplitude = {a2:?}, angular_frequency = {a3:?} }}\n"
            );
            "kind = 'planar'\n".to_owned() + &lissajous() + &angle
        }
        "pvtol" => "kind = 'pvtol'\n".to_owned() + &lissajous(),
        "two_masses" => "kind = 'two_masses'\n".to_owned() + &line(vec![get("dz"), 0.0, 0.0]),
        "scara" => {
            let (start, l2) = (numbers(&config["thA"]), get("l2"));
            let joints = format!("joints = {{ 1 = {:?}, 2 = {:?} }}\n", start[0], start[1]);
            let tool = format!("kind = 'tool'\nbody = '2'\npoint = [{l2:?}, 0, 0]\n");
            tool + &joints + &line([numbers(&config["rB"]), vec![0.0]].concat())
        }
        other => panic!("no reference for {other}"),
    };
    let settings: ReferenceSettings = toml::from_str(&text).expect("valid settings");
    let described = driven(system, data);
    match settings.build_for_system(&described) {
        Ok(reference) => reference,
        Err(error) => panic!("{text}{error}"),
    }
}

/// The system with the inputs from which a reference takes its flat output.
fn driven(system: &System, data: &Value) -> fly_mechanics::System {
    let model = &system.model;
    let get = |key: &str| number(&data["config"][key]);
    let (mut rotors, mut motors) = (Vec::new(), Vec::new());
    let first = model.body_id("1").expect("the first body");
    match system.example.as_str() {
        "pvtol" => {
            for side in [1.0, -1.0] {
                let (sin, cos) = get("beta").sin_cos();
                rotors.push(Rotor {
                    name: side.to_string(),
                    position: Vector3::new(side * get("l"), 0.0, 0.0),
                    axis: Vector3::new(side * sin, cos, 0.0),
                    drag_ratio: 0.0,
                    thrust: [0.0, 10.0],
                    time_constant: 0.0,
                    tilt: None,
                    propeller: fly_mechanics::Propeller::default(),
                });
            }
        }
        "two_masses" => motors.push(Motor {
            name: "force".to_owned(),
            joint: first,
            component: 0,
            effort: [-10.0, 10.0],
            time_constant: 0.0,
        }),
        _ => {}
    }
    let carriers = vec![first; rotors.len()];
    let rotors = Rotors::new(rotors).expect("rotors");
    let mut described = fly_mechanics::System::new(&system.example, model.clone());
    described.inputs = Inputs::new(model, rotors, carriers, motors).expect("inputs");
    described
}

/// Everything that acts in the closed loop.
struct Loop<'a> {
    system: &'a System,
    trajectory: Box<dyn Trajectory<SystemPoint>>,
    template: Template<Model<f64>>,
    law: Law,
    B: DMatrix<f64>,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    goal: SystemPoint,
    desired: DesiredMotion,
    u: DVector<f64>,
}

impl Loop<'_> {
    /// The rates of `[x, xi]`; leaves the input and the energies.
    fn rate(&mut self, t: f64, y: &[f64]) -> Vec<f64> {
        let model = &self.system.model;
        let (x, xi) = y.split_at(model.config_dim());
        self.actual.update(model, x, xi);
        self.actual.update_jacobians(model);
        self.trajectory
            .at(t, &mut self.goal)
            .expect("a feasible reference");
        self.template
            .evaluate(
                model,
                &self.actual,
                xi,
                &mut self.reference,
                &self.goal.as_reference(),
                &mut self.desired,
            )
            .expect("a transport map");
        let (M, b) = terms(model, &self.actual, xi);
        self.u = solve(&mut self.law, &M, &b, &self.B, &self.desired);
        let xi_dot = M
            .cholesky()
            .expect("a mass matrix")
            .solve(&(&self.B * &self.u - b));
        let mut rate = vec![0.0; model.config_dim()];
        model.configuration_rate(x, xi, &mut rate);
        rate.extend(xi_dot.iter());
        rate
    }

    /// The classical Runge-Kutta step: rotation matrices are integrated entry by entry, as in the files.
    fn step(&mut self, t: f64, y: &mut [f64], h: f64) {
        let mut sum = vec![0.0; y.len()];
        let mut slope = vec![0.0; y.len()];
        for (at, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            let stage: Vec<f64> = y.iter().zip(&slope).map(|(y, k)| y + at * h * k).collect();
            slope = self.rate(t + at * h, &stage);
            sum.iter_mut()
                .zip(&slope)
                .for_each(|(s, k)| *s += weight * k);
        }
        y.iter_mut().zip(&sum).for_each(|(y, s)| *y += h / 6.0 * s);
    }

    /// The errors of position and angle as the files define them.
    fn errors(&self, x: &[f64]) -> (f64, f64) {
        let x_R = &self.goal.configuration;
        let largest = x
            .iter()
            .zip(x_R)
            .map(|(x, r)| (x - r).abs())
            .fold(0.0, f64::max);
        let pose = |workspace: &Workspace<f64>, name: &str| {
            workspace.pose(
                BodyId::WORLD,
                self.system.model.body_id(name).expect("a body"),
            )
        };
        match self.system.example.as_str() {
            "prismatic" | "two_masses" => (largest, 0.0),
            "orientation" => {
                let R = |x: &[f64]| SO3::from_matrix(Matrix3::from_column_slice(x));
                (0.0, (R(x_R).inverse() * R(x)).log().norm())
            }
            "planar" | "pvtol" => {
                let turn = x[2] - x_R[2];
                (
                    (x[0] - x_R[0]).hypot(x[1] - x_R[1]),
                    turn.sin().atan2(turn.cos()).abs(),
                )
            }
            "scara" => match self.system.tool {
                Some((_, tool)) => {
                    let at = |workspace| pose(workspace, "2").act(&tool);
                    ((at(&self.actual) - at(&self.reference)).norm(), 0.0)
                }
                None => (0.0, largest),
            },
            "arm" if self.system.pairs.len() == 1 => {
                let (now, goal) = (pose(&self.actual, "7"), pose(&self.reference, "7"));
                let turn = (goal.rotation.inverse() * now.rotation).log().norm();
                ((now.translation - goal.translation).norm(), turn)
            }
            _ => (0.0, largest),
        }
    }
}

pub fn compare(data: &Value, report: &mut File) {
    const STEP: f64 = 2e-3;
    let system = System::new(data);
    let n = system.model.dof();
    let times = numbers(&data["t"]);
    let end = number(&data["T"]);
    for (name, given) in data["trajectories"].as_object().into_iter().flatten() {
        let B = matrix(&data["samples"][0]["B"]);
        let mut flight = Loop {
            trajectory: reference(&system, data),
            template: system.template(name),
            law: Law::new(Dyn(n), Dyn(B.ncols())),
            actual: Workspace::new(&system.model),
            reference: Workspace::new(&system.model),
            goal: SystemPoint::new(&system.model),
            desired: DesiredMotion::new(&system.model),
            u: DVector::zeros(B.ncols()),
            system: &system,
            B,
        };
        let mut y = system.configuration(&numbers(&data["x0"]));
        y.extend(numbers(&data["xi0"]));
        let nu = system.model.config_dim();

        // The scalars are those of 1001 samples; the numbers of steps between them and between the file's times differ.
        let mut stops: Vec<(f64, bool)> = times.iter().map(|t| (*t, true)).collect();
        stops.extend((0..=1000).map(|i| (end * f64::from(i) / 1000.0, false)));
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut found: [Vec<f64>; 5] = Default::default();
        let mut references: [Vec<f64>; 3] = Default::default();
        let mut errors: Vec<[f64; 3]> = Vec::new();
        let mut t = 0.0;
        for (stop, in_file) in stops {
            while stop - t > 1e-9 {
                let h = STEP.min(stop - t);
                flight.step(t, &mut y, h);
                t += h;
            }
            flight.rate(t, &y);
            if in_file {
                found[0].extend(system.as_in_file(&y[..nu]));
                found[1].extend(&y[nu..]);
                found[2].extend(flight.u.iter());
                found[3].push(flight.desired.energies.total);
                found[4].push(flight.desired.energies.potential);
                references[0].extend(system.as_in_file(&flight.goal.configuration));
                references[1].extend(&flight.goal.velocity);
                references[2].extend(&flight.goal.acceleration);
            } else {
                let (position, angle) = flight.errors(&y[..nu]);
                errors.push([t, position, angle]);
            }
        }
        for (key, found) in ["x", "xi", "u", "W", "V"].iter().zip(&found) {
            absolute(
                report,
                &format!("{name}: {key}"),
                found,
                &numbers(&given[*key]),
                1e-7,
            );
        }
        for (key, found) in ["xR", "xiR", "xiRd"].iter().zip(&references) {
            relative(
                report,
                &format!("reference {key}"),
                found,
                &numbers(&data["reference"][*key]),
                1e-12,
            );
        }
        scalars(name, &data["scalars"][name], &found[3], &errors, report);
    }
}

fn scalars(name: &str, given: &Value, total: &[f64], errors: &[[f64; 3]], report: &mut File) {
    let rms =
        |i: usize| (errors.iter().map(|e| e[i] * e[i]).sum::<f64>() / errors.len() as f64).sqrt();
    let max = |i: usize| errors.iter().map(|e| e[i]).fold(0.0, f64::max);
    let last = errors.last().copied().unwrap_or_default();
    let tolerance = numbers(&given["settling_tol"]);
    let settled = errors
        .iter()
        .rfind(|e| e[1] > tolerance[0] || e[2] > tolerance[1]);
    // 1e-4 of the value; values below 1e-10 absolutely to 1e-10.
    let relative = |key: &str| 1e-4 * number(&given[key]).abs() + 1e-10;
    for (key, found, tolerance) in [
        ("settling_time", settled.map_or(0.0, |e| e[0]), 0.02),
        ("rms_pos", rms(1), relative("rms_pos")),
        ("rms_ang", rms(2), relative("rms_ang")),
        ("max_pos", max(1), relative("max_pos")),
        ("max_ang", max(2), relative("max_ang")),
        ("final_pos", last[1], 1e-6),
        ("final_ang", last[2], 1e-6),
        ("W0", total[0], relative("W0")),
        ("W_mid", total[total.len() / 2], relative("W_mid")),
        ("W_end", total[total.len() - 1], relative("W_end")),
    ] {
        let error = (found - number(&given[key])).abs() / tolerance;
        report.error(&format!("{name}: {key}, in tolerances"), error, 1.0);
    }
}
