//! What `fly tune` prints.

use std::fmt;

use fly_control::Controller;
use fly_control::analysis::{AnalysisError, ClosedLoop, HoverMargins, Mode, modes};
use fly_mechanics::{SecondMoment, System, Vehicle};
use nalgebra::{Complex, Matrix3, Matrix4, Vector3};

use crate::telemetry::{Table, significant};

/// Sections of the analysis in the order of printing, and what is wrong.
#[derive(Debug, Default)]
pub struct Report {
    sections: Vec<(&'static str, Table)>,
    problems: Vec<String>,
}

impl Report {
    /// Of a vehicle under its controller.
    pub fn new(vehicle: &Vehicle, system: &System, controller: &Controller) -> Self {
        let mut report = Self::default();
        report.parameters(controller);
        match ClosedLoop::new(system, controller, &system.model.neutral_configuration()) {
            Ok(closed) => {
                if let Err(error) = report.closed_loop(&closed, vehicle) {
                    report.problems.push(error.to_string());
                }
                report.hover(vehicle);
            }
            Err(error) => report.problems.push(error.to_string()),
        }
        report
    }

    /// Whether it should not be flown.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    fn section(&mut self, title: &'static str, table: Table) {
        self.sections.push((title, table));
    }

    fn parameters(&mut self, controller: &Controller) {
        let pair = controller.template().pair();
        let mut table = Table::default();
        table.row("", ["weight", "moment about its centre", "centre, m"]);
        for (name, matrix, units) in [
            ("stiffness", pair.stiffness(), ["N/m", "N m/rad"]),
            ("damping", pair.damping(), ["N s/m", "N m s/rad"]),
            ("inertia", pair.inertia(), ["kg", "kg m^2"]),
        ] {
            table.row(name, moment(matrix, units));
        }
        self.section("parameters", table);
    }

    fn closed_loop(&mut self, closed: &ClosedLoop, vehicle: &Vehicle) -> Result<(), AnalysisError> {
        self.section("closed loop", poles(&closed.poles()?));
        let mut table = Table::default();
        let common = closed.largest_lag()?;
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
        let own = vehicle.rotors.time_constants();
        let longest = own.iter().copied().fold(0.0, f64::max);
        if longest == 0.0 {
            table.row("the vehicle's own", ["none"]);
            self.section("lag of the actuators", table);
            return Ok(());
        }
        let finding = match closed.largest_factor(own)? {
            Some(margin) if margin.factor <= 1.0 => {
                let problem = format!(
                    "the closed loop is not stable with the vehicle's own lags: expected at most {} times those, up to {} s",
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
        table.row("the vehicle's own", [finding]);
        self.section("lag of the actuators", table);
        self.section(
            "closed loop with that lag",
            poles(&closed.poles_with_lags(own)?),
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
        table.row("climb, sink", [metres(margins.climb), metres(margins.sink)]);
        table.row(
            "turn about x, y, z",
            [format!("{} rad/s^2, either way", vector(&margins.turn))],
        );
        let tilt = significant(margins.tilt.to_degrees(), 3);
        match margins.side {
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
        if margins.inside < 0.0 {
            self.problems.push(format!(
                "hover needs inputs {} N beyond the limits of the actuators",
                significant(-margins.inside, 3)
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

/// One row for every mode, the slowest first.
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

fn moment(matrix: &Matrix4<f64>, [weight, about]: [&str; 2]) -> [String; 3] {
    let moment = SecondMoment::from_matrix4(*matrix);
    let tensor = moment.moment_about_center();
    // What is left of differences of large numbers is nothing.
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
