//! Closed loops of whole systems: the law in every stage of the integration.

use fly_control::system::reference::{
    InJoints, InverseKinematics, JointSines, PlanarBody, Pvtol, SystemPoint, SystemTrajectory,
    Target, TwoMasses,
};
use fly_control::system::{DesiredMotion, SystemLaw, SystemTemplate};
use fly_control::trajectory::jet::Jet;
use fly_control::trajectory::{Lissajous, Path, PathPoint, smooth};
use fly_lie::SO3;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_testing::golden::{File, number, numbers};
use nalgebra::{DMatrix, DVector, Matrix3, Vector2, Vector3};
use serde_json::Value;

use crate::data::{absolute, matrix, relative};
use crate::systems::{System, terms};

/// The reference of a file.
fn reference(system: &System, data: &Value) -> Box<dyn SystemTrajectory> {
    let config = &data["config"];
    let get = |key: &str| number(&config[key]);
    let model = &system.model;
    let sines = |offset: Vec<f64>| {
        Box::new(InJoints::new(
            model,
            JointSines {
                amplitude: numbers(&config["A"]),
                angular_frequency: numbers(&config["w"]),
                phase: config.get("ph").map_or(vec![0.0; offset.len()], numbers),
                ..JointSines::at_rest(offset)
            },
        ))
    };
    let in_plane = |key: &str| {
        let v = numbers(&config[key]);
        Vector3::new(v[0], v[1], 0.0)
    };
    match system.example.as_str() {
        "prismatic" => sines(vec![0.0]),
        "revolute" => sines(vec![get("off")]),
        "arm" => sines(numbers(&config["off"])),
        "orientation" => sines(vec![0.0; 3]),
        "planar" => {
            let path = Waving {
                position: lissajous(&in_plane),
                angle: [get("a0"), get("a1"), get("a2"), get("a3")],
            };
            Box::new(InJoints::new(model, PlanarBody(Box::new(path))))
        }
        "pvtol" => {
            let motion = Pvtol {
                output: Box::new(lissajous(&in_plane)),
                offset: get("Th") * get("beta").tan() / (get("m") * get("l")),
                gravity: Vector2::new(0.0, -9.81),
                up: Vector2::y(),
                center: Vector2::zeros(),
            };
            Box::new(InJoints::new(model, motion))
        }
        "two_masses" => {
            let motion = TwoMasses {
                output: Box::new(Line {
                    from: Vector3::zeros(),
                    to: Vector3::z() * get("dz"),
                    start: get("t1"),
                    end: get("t2"),
                }),
                ratio: get("k") / get("m2"),
                length: 0.0,
                gravity: 0.0,
                carried: false,
                swapped: false,
            };
            Box::new(InJoints::new(model, motion))
        }
        "scara" => {
            let (start, l2) = (numbers(&config["thA"]), get("l2"));
            let tool = Vector3::new(l2, 0.0, 0.0);
            let body = system.model.body_id("2").expect("the second link");
            let mut workspace = Workspace::new(&system.model);
            workspace.update(&system.model, &start, &[0.0; 2]);
            let line = Line {
                from: workspace.pose(BodyId::WORLD, body).act(&tool),
                to: in_plane("rB"),
                start: get("t1"),
                end: get("t2"),
            };
            let target = Target::Point(tool, Box::new(line));
            Box::new(InverseKinematics::new(
                system.model.clone(),
                body,
                target,
                &start,
            ))
        }
        other => panic!("no reference for {other}"),
    }
}

fn lissajous(in_plane: &dyn Fn(&str) -> Vector3<f64>) -> Lissajous {
    Lissajous {
        amplitude: in_plane("A"),
        angular_frequency: in_plane("w"),
        phase: in_plane("ph"),
        offset: Vector3::zeros(),
        yaw_rate: 0.0,
    }
}

/// A lissajous figure with the heading `a0 + a1 t + a2 sin(a3 t)`.
struct Waving {
    position: Lissajous,
    angle: [f64; 4],
}

impl Path for Waving {
    fn at(&self, t: f64) -> PathPoint {
        let [a0, a1, a2, a3] = self.angle;
        let (sine, _) = Jet::<3>::linear(a3 * t, a3).sin_cos();
        let (s, c) = (Jet::linear(a0 + a1 * t, a1) + sine.scale(a2)).sin_cos();
        PathPoint {
            position: self.position.position(t),
            side: [-s, c, Jet::constant(0.0)],
        }
    }
    fn duration(&self) -> Option<f64> {
        None
    }
    fn horizon(&self) -> f64 {
        0.0
    }
}

/// From one point to another between two times.
struct Line {
    from: Vector3<f64>,
    to: Vector3<f64>,
    start: f64,
    end: f64,
}

impl Path for Line {
    fn at(&self, t: f64) -> PathPoint {
        let duration = self.end - self.start;
        let s = smooth(Jet::linear((t - self.start) / duration, 1.0 / duration));
        let way = self.to - self.from;
        PathPoint {
            position: [0, 1, 2].map(|i| Jet::constant(self.from[i]) + s.scale(way[i])),
            side: [Jet::constant(0.0), Jet::constant(1.0), Jet::constant(0.0)],
        }
    }
    fn duration(&self) -> Option<f64> {
        Some(self.end)
    }
    fn horizon(&self) -> f64 {
        self.end
    }
}

/// Everything that acts in the closed loop.
struct Loop<'a> {
    system: &'a System,
    trajectory: Box<dyn SystemTrajectory>,
    template: SystemTemplate,
    law: SystemLaw,
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
        self.u.copy_from(
            self.law
                .solve(&M, &b, &self.B, &self.desired)
                .expect("a law"),
        );
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
            law: SystemLaw::new(n, B.ncols()),
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
                1e-10,
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
