//! The statistics of a flight.

use serde::Serialize;

/// A statistic of the report, by which flights are compared.
#[derive(Clone, Debug, Serialize)]
pub struct Number {
    /// Its key, for programs.
    pub key: &'static str,
    /// Its label, for readers.
    pub label: String,
    /// Its value, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Whether a smaller value is better; `None` if neither is.
    pub less_is_better: Option<bool>,
}

/// Root mean square and largest value of a non-negative quantity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Magnitude {
    squares: f64,
    count: u64,
    largest: f64,
    /// When it was largest, s.
    pub time_of_largest: f64,
}

impl Magnitude {
    /// Adds a value.
    pub fn add(&mut self, time: f64, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.squares += value * value;
        self.count += 1;
        if value > self.largest || self.count == 1 {
            (self.largest, self.time_of_largest) = (value, time);
        }
    }

    /// The root mean square; `None` without a value.
    pub fn rms(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares / self.count as f64).sqrt())
    }

    /// The largest one; `None` without a value.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.largest)
    }
}

/// Statistics accumulated over a flight.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Number of ticks.
    pub ticks: u64,
    /// Number of ticks without new data.
    pub without_data: u64,
    /// Number of controller steps while it flew.
    pub steps: u64,
    /// Number of these steps with inputs at their limits.
    pub saturated: u64,
    /// Errors of distance (m) and angle (rad) while it flew.
    pub errors: [Magnitude; 2],
    /// Whether they are errors of the true state.
    pub is_true: bool,
    /// Names of the errors; `None` for an error that does not exist.
    pub error_names: [Option<&'static str>; 2],
    /// When they settled within 2 % of their largest value, s; `None` if they did not.
    pub settled: [Option<f64>; 2],
    /// W at the first and at the last of these steps, J.
    pub energy: [Option<f64>; 2],
    /// Speed, m/s.
    pub speed: Magnitude,
    /// Angular rate, rad/s.
    pub rate: Magnitude,
    /// Angle between the body's z axis and the vertical, rad.
    pub tilt: Magnitude,
    /// Sum of all thrusts, N.
    pub thrust: Magnitude,
    /// Length of the path, m.
    pub path: f64,
    /// Iterations of the allocation's solver.
    pub iterations: Magnitude,
}

/// Whether less is better.
const LESS: Option<bool> = Some(true);

/// Adds a statistic, if it exists.
fn push(
    numbers: &mut Vec<Number>,
    key: &'static str,
    label: String,
    value: Option<f64>,
    unit: &'static str,
    less_is_better: Option<bool>,
) {
    if let Some(value) = value.filter(|value| value.is_finite()) {
        numbers.push(Number {
            key,
            label,
            value,
            unit,
            less_is_better,
        });
    }
}

impl Statistics {
    /// The statistics that exist, in order.
    pub fn numbers(&self) -> Vec<Number> {
        let mut numbers = Vec::new();
        let mut add = |key, label: String, value: Option<f64>, unit, less_is_better| {
            push(&mut numbers, key, label, value, unit, less_is_better);
        };
        self.add_errors(&mut add);
        let share = (self.steps > 0).then(|| 100.0 * self.saturated as f64 / self.steps as f64);
        add(
            "saturated",
            "steps with inputs at their limits".into(),
            share,
            "%",
            LESS,
        );
        let [start, end] = self.energy;
        add(
            "energy_start",
            "error energy W, start".into(),
            start,
            "J",
            None,
        );
        add("energy_end", "error energy W, end".into(), end, "J", LESS);
        add(
            "thrust",
            "total thrust, rms".into(),
            self.thrust.rms(),
            "N",
            None,
        );
        add("speed", "speed, max".into(), self.speed.max(), "m/s", None);
        add(
            "rate",
            "angular velocity, max".into(),
            self.rate.max(),
            "rad/s",
            None,
        );
        let tilt = self.tilt.max().map(f64::to_degrees);
        add("tilt", "tilt, max".into(), tilt, "°", None);
        let path = (self.path > 0.0).then_some(self.path);
        add("path", "length of the path".into(), path, "m", None);
        let iterations = self.iterations.max().filter(|most| *most > 0.0);
        add(
            "iterations",
            "iterations of the allocation, max".into(),
            iterations,
            "",
            LESS,
        );
        let lost = (self.without_data > 0).then_some(self.without_data as f64);
        add(
            "without_data",
            "ticks without new data".into(),
            lost,
            "",
            LESS,
        );
        numbers
    }

    /// Adds the statistics of the errors.
    fn add_errors(
        &self,
        add: &mut impl FnMut(&'static str, String, Option<f64>, &'static str, Option<bool>),
    ) {
        let degrees = f64::to_degrees;
        let keys = [
            ["distance_rms", "distance_max", "distance_settled"],
            ["angle_rms", "angle_max", "angle_settled"],
        ];
        for (kind, [rms, max, settled]) in keys.into_iter().enumerate() {
            let Some(name) = self.error_names[kind] else {
                continue;
            };
            let error = &self.errors[kind];
            let unit = ["m", "°"][kind];
            let shown = |value: f64| if kind == 0 { value } else { degrees(value) };
            add(
                rms,
                format!("{name}, rms"),
                error.rms().map(shown),
                unit,
                LESS,
            );
            add(
                max,
                format!("{name}, max"),
                error.max().map(shown),
                unit,
                LESS,
            );
            let label = format!("{name} within 2 % after");
            add(settled, label, self.settled[kind], "s", LESS);
        }
    }
}
