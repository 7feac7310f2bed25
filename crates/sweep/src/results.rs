//! The results of a campaign: verdicts, percentiles of the errors, the worst flights.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::SweepError;
use crate::rows::Rows;
use fly_table::Cell;

/// The columns with percentiles.
const ERRORS: [&str; 8] = [
    "position_error.rms",
    "position_error.max",
    "position_error.rms_settled",
    "position_error.steady_offset",
    "attitude_error.rms",
    "attitude_error.max",
    "attitude_error.rms_settled",
    "attitude_error.steady_offset",
];
/// Verdicts, worst first; all others are better.
const WORST: [&str; 6] = [
    "internal_error",
    "backend_failed",
    "not_flown",
    "crashed",
    "diverged",
    "safety_stop",
];
/// Number of worst flights kept.
const KEPT: usize = 5;

/// The results of a campaign.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// Number of flights.
    pub flights: u64,
    /// Number of flights with each verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Percentiles of the errors that any flight has.
    pub percentiles: Vec<Percentiles>,
    /// The worst flights, worst first: by verdict, then by largest position error, else attitude error.
    pub worst: Vec<Worst>,
}

/// Percentiles of a column: nearest ranks over the flights with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// The column's name.
    pub name: String,
    /// Its unit.
    pub unit: Cow<'static, str>,
    /// Number of flights with a value.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
}

/// A flight with a bad result.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// Its index.
    pub index: u64,
    /// Its verdict.
    pub verdict: String,
    /// Its largest position error (m), else attitude error (rad); `None` if it has neither.
    pub error: Option<f64>,
    /// Unit of that error.
    pub unit: Cow<'static, str>,
    /// Names and values of what was varied, including the seed.
    pub parameters: Vec<(String, Cell)>,
    severity: usize,
}

impl Results {
    /// Computes the results of these rows.
    ///
    /// # Errors
    /// A row cannot be read.
    pub fn of(rows: &Rows<'_>) -> Result<Self, SweepError> {
        let columns = rows.columns();
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let [verdict, position, attitude] =
            ["verdict", ERRORS[1], ERRORS[5]].map(|name| place(name).unwrap_or(0));
        let mut errors: Vec<Vec<f64>> = vec![Vec::new(); ERRORS.len()];
        let mut results = Self {
            flights: rows.len(),
            ..Self::default()
        };
        for index in 0..rows.len() {
            let cells = rows.row(index)?;
            let number = |place: usize| cells.get(place).and_then(Cell::number);
            for (values, name) in errors.iter_mut().zip(ERRORS) {
                values.extend(place(name).and_then(number));
            }
            let name = match cells.get(verdict) {
                Some(Cell::Text(name)) => name.as_str(),
                _ => "",
            };
            *results.verdicts.entry(name.to_owned()).or_default() += 1;
            let varied = 1..verdict;
            let error = [position, attitude]
                .into_iter()
                .find_map(|place| Some((number(place)?, columns[place].unit.clone())));
            let (error, unit) = error.unzip();
            results.rank(Worst {
                index,
                verdict: name.to_owned(),
                error,
                unit: unit.unwrap_or_default(),
                severity: WORST
                    .iter()
                    .position(|one| *one == name)
                    .unwrap_or(WORST.len()),
                parameters: varied
                    .filter_map(|place| {
                        Some((columns[place].name.clone(), cells.get(place)?.clone()))
                    })
                    .collect(),
            });
        }
        for (mut values, name) in errors.into_iter().zip(ERRORS) {
            if values.is_empty() {
                continue;
            }
            values.sort_by(f64::total_cmp);
            let rank = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
            results.percentiles.push(Percentiles {
                name: name.to_owned(),
                unit: place(name).map_or("".into(), |place| columns[place].unit.clone()),
                count: values.len() as u64,
                p50: rank(50),
                p90: rank(90),
                p99: rank(99),
                max: rank(100),
            });
        }
        Ok(results)
    }

    /// Keeps the flight if it is one of the worst; of equal ones, the first.
    fn rank(&mut self, flight: Worst) {
        let error = |one: &Worst| one.error.unwrap_or(f64::NEG_INFINITY);
        let order = |a: &Worst, b: &Worst| {
            let severity = a.severity.cmp(&b.severity);
            severity.then(error(b).total_cmp(&error(a)))
        };
        let at = self
            .worst
            .partition_point(|one| order(one, &flight).is_le());
        if at < KEPT {
            self.worst.insert(at, flight);
            self.worst.truncate(KEPT);
        }
    }
}
