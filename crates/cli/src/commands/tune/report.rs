//! The report of `fly tune`.
#![allow(non_snake_case)]

use std::fmt;

use fly_control::analysis::{AnalysisError, ClosedLoop, HoverMargins, Mode, modes};
use fly_control::linear::LinearModel;
use fly_control::pair::Pair;
use fly_control::plant::SystemPlant;
use fly_control::settings::{EnergySettings, PairSettings};
use fly_control::template::general::GeneralPair;
use fly_control::{Controller, ControllerSettings, Strategy};
use fly_mechanics::{SecondMoment, System, Vehicle};
use nalgebra::{Complex, DMatrix, Matrix3, Matrix4, Vector3};

use serde_json::{Value, json};

use super::found::Found;
use super::{limits, redundancy};
use crate::commands::as_flown::{self, Finding};
use crate::config::Model;
use crate::telemetry::{Table, significant};

/// Sections of the analysis in printing order, and the problems.
#[derive(Debug, Default)]
pub struct Report {
    sections: Vec<(String, Table)>,
    /// Poles of the closed loop without lags, 1/s.
    poles: Vec<Complex<f64>>,
    warnings: Vec<String>,
    problems: Vec<String>,
}

impl Report {
    /// For a system under its controller, about rest in this configuration.
    pub fn new(
        model: &Model,
        settings: &ControllerSettings,
        controller: &Controller<SystemPlant>,
        rest: &[f64],
        found: &Found,
    ) -> Self {
        let system = &model.system;
        let mut report = Self::default();
        if let Some(table) = found.table() {
            report.section("as fast as the margins allow", table);
        }
        if settings.approach != model.kept.approach {
            let mut table = Table::default();
            table.row("", [settings.approach.name()]);
            report.section("approach", table);
        }
        report.parameters(system, controller, rest);
        let whose = if model.vehicle.is_some() {
            "the vehicle's own"
        } else {
            report.configuration(system, rest);
            "the system's own"
        };
        match ClosedLoop::new(system, controller, rest) {
            Ok(closed) => {
                let own = system.inputs.time_constants();
                let told = (report.closed_loop(&closed, own, whose))
                    .and_then(|()| report.as_flown(&closed, model));
                if let Err(error) = told {
                    report.problems.push(error.to_string());
                }
                if let Some(vehicle) = &model.vehicle {
                    report.hover(vehicle);
                    match limits::table(settings, vehicle, &closed) {
                        Ok(Some(table)) => report.section("governor limits", table),
                        Ok(None) => {}
                        Err(error) => report.problems.push(format!("controller.{error}")),
                    }
                }
                if let Some(table) = redundancy::table(system, settings, rest) {
                    report.section("redundant inputs", table);
                }
            }
            Err(error) => report.problems.push(error.to_string()),
        }
        report
    }

    /// The sections as printed, and the poles with all digits.
    pub fn as_json(&self) -> Value {
        let sections = self.sections.iter();
        let sections =
            sections.map(|(title, table)| json!({ "title": title, "rows": table.as_json() }));
        let poles: Vec<[f64; 2]> = self.poles.iter().map(|pole| [pole.re, pole.im]).collect();
        json!({ "sections": sections.collect::<Value>(), "poles": poles, "problems": self.problems })
    }

    /// The warnings and the problems alone, a line each.
    pub fn alarms(&self) -> String {
        let warnings = (self.warnings.iter()).map(|told| format!("WARNING: {told}\n"));
        let problems = (self.problems.iter()).map(|told| format!("PROBLEM: {told}\n"));
        warnings.chain(problems).collect()
    }

    /// Whether it should not be flown.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    fn section(&mut self, title: impl Into<String>, table: Table) {
        self.sections.push((title.into(), table));
    }

    /// For a template its pairs, for the textbook joint controllers their effect on every velocity, for state feedback
    /// its gains.
    fn parameters(&mut self, system: &System, controller: &Controller<SystemPlant>, rest: &[f64]) {
        let model = &system.model;
        let mut joints: Vec<(String, [String; 3])> = Vec::new();
        match controller.strategy() {
            Strategy::Template(template) => {
                for pair in template.pairs() {
                    let settings = PairSettings::of_pair(model, pair);
                    let (from, to) = (&settings.from, &settings.to);
                    match numbers(&settings) {
                        Some(numbers) => joints.push((format!("{from} to {to}"), numbers)),
                        None if template.pairs().len() == 1 => {
                            self.pair("parameters".to_owned(), &pair.energies);
                        }
                        None => {
                            self.pair(format!("parameters of {from} to {to}"), &pair.energies);
                        }
                    }
                }
            }
            Strategy::Matrices(template) => {
                for pair in template.pairs() {
                    let GeneralPair {
                        stiffness,
                        damping,
                        inertia,
                    } = &pair.energies;
                    let of = format!("{} to {}", model.name(pair.a), model.name(pair.b));
                    for (name, moment) in [
                        ("stiffness, N/m and N m/rad", stiffness),
                        ("damping, N s/m and N m s/rad", damping),
                        ("inertia, kg and kg m^2", inertia),
                    ] {
                        let mut table = Table::default();
                        let axes = ["x", "y", "z", "about x", "about y", "about z"];
                        for (axis, row) in axes.into_iter().zip(moment.matrix().row_iter()) {
                            table.row(axis, row.iter().map(|x| significant(*x, 4)));
                        }
                        self.section(format!("{of}: {name}"), table);
                    }
                }
            }
            Strategy::Euclidean(template) => {
                let linear = template.linear(&DMatrix::zeros(0, 0));
                for (body, joint) in model.bodies().zip(&system.joints) {
                    for i in model.velocity_range(body) {
                        let gain = |of: &DMatrix<f64>| {
                            of.get((i, i))
                                .map_or("the model's".to_owned(), |x| significant(*x, 4))
                        };
                        let gains = [&linear.stiffness, &linear.damping, &linear.inertia].map(gain);
                        joints.push((joint.name.clone(), gains));
                    }
                }
            }
            Strategy::Feedback(feedback) => {
                if let Ok((linear, _)) = LinearModel::of_system(model, &system.inputs, rest)
                    && let Ok(gains) = feedback.gains(&linear)
                {
                    self.gains(system, &gains);
                }
            }
            Strategy::User(_) | Strategy::Multirotor(_) => {}
        }
        if !joints.is_empty() {
            let mut table = Table::default();
            table.row("", ["stiffness", "damping", "inertia"]);
            for (joint, numbers) in joints {
                table.row(&joint, numbers);
            }
            self.section("parameters of joints, in SI units", table);
        }
    }

    /// For state feedback, the response of each input to each error and its rate.
    fn gains(&mut self, system: &System, [F_K, F_D]: &[DMatrix<f64>; 2]) {
        let mut table = Table::default();
        let inputs = (1..=F_K.nrows()).map(|j| format!("input {j}"));
        table.row("", inputs);
        for (body, joint) in system.model.bodies().zip(&system.joints) {
            let range = system.model.velocity_range(body);
            for (way, i) in range.clone().enumerate() {
                let name = match range.len() {
                    1 => joint.name.clone(),
                    _ => format!("{} {way}", joint.name),
                };
                for (name, gain) in [(name.clone(), F_K), (format!("{name}, rate"), F_D)] {
                    let column = gain.column(i);
                    let noise = 1e-12 * gain.amax();
                    let clean = column
                        .iter()
                        .map(|x| if x.abs() < noise { 0.0 } else { *x });
                    table.row(&name, clean.map(|x| significant(x, 4)));
                }
            }
        }
        self.section("gains, in SI units", table);
    }

    fn pair(&mut self, title: String, pair: &Pair) {
        let mut table = Table::default();
        table.row("", ["weight", "moment about its centre", "centre, m"]);
        for (name, matrix, units) in [
            ("stiffness", pair.stiffness(), ["N/m", "N m/rad"]),
            ("damping", pair.damping(), ["N s/m", "N m s/rad"]),
            ("inertia", pair.inertia(), ["kg", "kg m^2"]),
        ] {
            table.row(name, moment(matrix, units));
        }
        self.section(title, table);
    }

    /// The rest configuration.
    fn configuration(&mut self, system: &System, rest: &[f64]) {
        let mut table = Table::default();
        for (body, joint) in system.model.bodies().zip(&system.joints) {
            let numbers = &rest[system.model.config_range(body)];
            if !numbers.is_empty() {
                let numbers: Vec<_> = numbers.iter().map(|x| significant(*x, 3)).collect();
                table.row(&joint.name, [numbers.join(", ")]);
            }
        }
        self.section("at rest in", table);
    }

    fn closed_loop(
        &mut self,
        closed: &ClosedLoop,
        own: &[f64],
        whose: &'static str,
    ) -> Result<(), AnalysisError> {
        self.poles = closed.poles()?;
        self.section("closed loop", poles(&self.poles));
        let mut table = Table::default();
        let [common, multiple] = closed.lag_margins(own)?;
        table.row(
            "common to all",
            [match common {
                Some(margin) => format!(
                    "stable below {} s (there it oscillates with {} rad/s)",
                    significant(margin.factor, 3),
                    significant(margin.frequency, 3)
                ),
                None => "stable with any".to_owned(),
            }],
        );
        let longest = own.iter().copied().fold(0.0, f64::max);
        if longest == 0.0 {
            table.row(whose, ["none"]);
            self.section("lag of the actuators", table);
            return Ok(());
        }
        let finding = match multiple {
            Some(margin) if margin.factor <= 1.0 => {
                let problem = format!(
                    "the closed loop is not stable with {whose} lags: expected at most {} times those, up to {} s",
                    significant(margin.factor, 3),
                    significant(longest, 3)
                );
                self.problems.push(problem);
                format!(
                    "up to {} s: not stable, {} times as much would be the limit",
                    significant(longest, 3),
                    significant(margin.factor, 3)
                )
            }
            Some(margin) => format!(
                "up to {} s: stable up to {} times as much",
                significant(longest, 3),
                significant(margin.factor, 3)
            ),
            None => format!(
                "up to {} s: stable with any multiple",
                significant(longest, 3)
            ),
        };
        table.row(whose, [finding]);
        self.section("lag of the actuators", table);
        self.section(
            "closed loop with that lag",
            poles(&closed.poles_with_lags(own)?),
        );
        Ok(())
    }

    fn as_flown(&mut self, closed: &ClosedLoop, model: &Model) -> Result<(), AnalysisError> {
        let mut table = Table::default();
        for finding in as_flown::findings(closed, &model.system, model.rate_hz)? {
            match finding {
                Finding::Passed(told) => table.row("", [told]),
                Finding::Warning(told) => {
                    table.row("", [format!("WARNING: {told}")]);
                    self.warnings.push(told);
                }
                Finding::Problem(told) => {
                    table.row("", [&told]);
                    let label = as_flown::label(model.rate_hz);
                    self.problems
                        .push(format!("the closed loop {label}: {told}"));
                }
            }
        }
        self.section(
            format!("as it is flown, {}", as_flown::label(model.rate_hz)),
            table,
        );
        Ok(())
    }

    fn hover(&mut self, vehicle: &Vehicle) {
        let margins = match HoverMargins::new(vehicle) {
            Ok(margins) => margins,
            Err(error) => return self.problems.push(error.to_string()),
        };
        let mut table = Table::default();
        for command in &margins.commands {
            let (scale, unit) = if command.name.rsplit('.').next() == Some("tilt") {
                (1.0_f64.to_degrees(), "degrees")
            } else {
                (1.0, "N")
            };
            let hover = if command.hover.abs() < 1e-9 {
                0.0
            } else {
                command.hover * scale
            };
            let [least, most] = command.limits.map(|limit| significant(limit * scale, 3));
            table.row(
                &command.name,
                [
                    format!("{} {unit}", significant(hover, 3)),
                    format!("of {least} to {most}"),
                ],
            );
        }
        let metres = |acceleration: f64| format!("{} m/s^2", significant(acceleration, 3));
        table.row(
            "climb, sink",
            [
                metres(margins.climb_acceleration),
                metres(margins.sink_acceleration),
            ],
        );
        table.row(
            "turn about x, y, z",
            [format!(
                "{} rad/s^2, either way",
                vector(&margins.angular_acceleration)
            )],
        );
        let tilt = significant(margins.tilt.to_degrees(), 3);
        match margins.lateral_acceleration {
            None => table.row(
                "lean",
                [format!("{tilt} degrees until the weight is not carried")],
            ),
            Some(side) => {
                table.row("sideways", [format!("{} without tilting", metres(side))]);
                table.row(
                    "tilt at rest",
                    [format!("{tilt} degrees in every direction")],
                );
            }
        }
        if margins.input_margin < 0.0 {
            self.problems.push(format!(
                "hover needs inputs {} N beyond the limits of the actuators",
                significant(-margins.input_margin, 3)
            ));
        }
        self.section("hover", table);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, table) in &self.sections {
            write!(f, "{title}\n{table}")?;
        }
        for problem in &self.problems {
            writeln!(f, "PROBLEM: {problem}")?;
        }
        Ok(())
    }
}

/// One row for every mode, slowest first.
fn poles(poles: &[Complex<f64>]) -> Table {
    let mut table = Table::default();
    table.row(
        "",
        [
            "pole, 1/s",
            "times",
            "damping ratio",
            "time constant",
            "frequency",
        ],
    );
    for mode in modes(poles) {
        table.row("", row(&mode));
    }
    table
}

fn row(mode: &Mode) -> [String; 5] {
    let real = significant(mode.pole.re, 3);
    [
        if mode.oscillates() {
            format!("{real} +- {}i", significant(mode.pole.im, 3))
        } else {
            real
        },
        mode.count.to_string(),
        significant(mode.damping_ratio(), 3),
        format!("{} s", significant(mode.time_constant(), 3)),
        format!("{} rad/s", significant(mode.natural_frequency(), 3)),
    ]
}

/// A pair of bodies connected by a revolute or prismatic joint, in three numbers.
fn numbers(pair: &PairSettings) -> Option<[String; 3]> {
    match (&pair.stiffness, &pair.damping, &pair.inertia) {
        (EnergySettings::Number(k), EnergySettings::Number(d), EnergySettings::Number(m)) => {
            Some([k, d, m].map(|x| significant(*x, 4)))
        }
        _ => None,
    }
}

fn moment(matrix: &Matrix4<f64>, [weight, about]: [&str; 2]) -> [String; 3] {
    let moment = SecondMoment::from_matrix4(*matrix);
    let tensor = moment.moment_about_center();
    // Round-off of differences of large numbers is zero.
    let clean = tensor.map(|x| {
        if x.abs() < 1e-9 * tensor.amax() {
            0.0
        } else {
            x
        }
    });
    let about_center = if clean == Matrix3::from_diagonal(&clean.diagonal()) {
        vector(&clean.diagonal())
    } else {
        let rows: Vec<String> = clean
            .row_iter()
            .map(|row| vector(&row.transpose()))
            .collect();
        format!("[{}]", rows.join(", "))
    };
    let center = moment
        .center()
        .map(|x| if x.abs() < 1e-12 { 0.0 } else { x });
    [
        format!("{} {weight}", significant(moment.weight(), 4)),
        format!("{about_center} {about}"),
        vector(&center),
    ]
}

fn vector(vector: &Vector3<f64>) -> String {
    let [x, y, z] = [vector.x, vector.y, vector.z].map(|x| significant(x, 3));
    format!("[{x}, {y}, {z}]")
}
