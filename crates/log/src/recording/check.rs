//! Checks that a log is complete and its values are finite.

use std::path::Path;

use fly_table::{Cell, Kind};

use super::container::Damage;
use super::head::Head;
use super::messages::limits;
use super::{Kind as LogKind, Options, Recording, Rows, Survey};
use crate::RunMetadata;
use crate::error::LogError;

/// A gap is longer than this many steps, and than this many s.
const GAP: (f64, f64) = (4.0, 0.05);
/// Column that tells the ticks with data, in the log of another program: its ticks are on a grid.
const GRID: &str = "valid.pose.position";
/// Number of findings of each kind that are listed.
const TOLD: usize = 20;

/// The longest time between two ticks that is not a gap, in a log with this time between ticks, s.
pub fn longest_step(step: f64) -> f64 {
    (GAP.0 * step).max(GAP.1)
}

/// An interval without data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Flight time of the last tick before it, s.
    pub from: f64,
    /// Flight time of the first tick after it, s.
    pub to: f64,
}

/// A column with values that are infinite or NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct NonFinite {
    /// Its name.
    pub column: String,
    /// Number of such values.
    pub count: u64,
    /// Flight time of the first such value, s.
    pub first: f64,
}

/// The findings in a log.
#[derive(Clone, Debug)]
pub struct Check {
    /// Kind of the file.
    pub kind: LogKind,
    /// Number of complete ticks.
    pub ticks: u64,
    /// Damage in a log of this program, with byte offsets.
    pub damage: Damage,
    /// Parts that are damaged or were never written, one line each.
    pub damaged: Vec<String>,
    /// Whether the log was finished; `None` for a ULog, which does not record that.
    pub finished: Option<bool>,
    /// The record of the run.
    pub run: Option<RunMetadata>,
    /// Flight times (s) of the first ticks that are not later than the one before.
    pub backwards: Vec<f64>,
    /// Number of all such ticks.
    pub backwards_count: u64,
    /// The first gaps.
    pub gaps: Vec<Gap>,
    /// Number of all gaps.
    pub gaps_count: u64,
    /// Columns with values that are not finite although their group is valid. Innovations of sensors without
    /// measurements so far do not count.
    pub non_finite: Vec<NonFinite>,
}

impl Check {
    /// Reads a whole log.
    ///
    /// # Errors
    /// The file cannot be read, or is not a log. Damage is a finding, not an error.
    pub fn of(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        let options = Options {
            allow_truncated: true,
            ..options.clone()
        };
        match LogKind::of(path)? {
            LogKind::Own => {
                let survey = Survey::of(path, &options)?;
                let rows = Rows::of_survey(path, &survey, &options)?;
                let header = survey.header;
                let mut check = Self::begin(LogKind::Own);
                check.finished = Some(survey.run.is_some());
                check.run = survey.run;
                check.damaged = Head::damaged_copies(&super::open(path)?, limits(&options))
                    .map_err(|source| LogError::Open {
                        path: path.into(),
                        source,
                    })?;
                check.damaged.extend(survey.damage.lines());
                check.damage = survey.damage;
                let data = header.origin.as_ref().map(|origin| {
                    check.foreign(&origin.skipped, &origin.notes);
                    GRID
                });
                check.rows(rows, header.rate_hz.recip(), data)?;
                Ok(check)
            }
            LogKind::Ulog => {
                let recording = Recording::stream(path, &options)?;
                let count = recording.frames.len().saturating_sub(1).max(1);
                let step = recording.duration() / count as f64;
                let mut check = Self::begin(LogKind::Ulog);
                check.foreign(&recording.skipped, &recording.notes);
                let rows = Rows::of_recording(recording)?;
                check.rows(rows, step, Some(GRID))?;
                Ok(check)
            }
        }
    }

    /// Whether there are no findings.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
            && self.finished != Some(false)
            && self.backwards_count == 0
            && self.gaps_count == 0
            && self.non_finite.is_empty()
            && self.ticks > 0
    }

    fn begin(kind: LogKind) -> Self {
        Self {
            kind,
            ticks: 0,
            damage: Damage::default(),
            damaged: Vec::new(),
            finished: None,
            run: None,
            backwards: Vec::new(),
            backwards_count: 0,
            gaps: Vec::new(),
            gaps_count: 0,
            non_finite: Vec::new(),
        }
    }

    /// What the reader of another program's log found.
    fn foreign(&mut self, skipped: &[String], notes: &[(String, String)]) {
        self.damaged.extend_from_slice(skipped);
        let dropouts = notes.iter().filter(|(name, _)| name == "dropouts");
        let dropouts = dropouts.map(|(name, text)| format!("{name}: {text}"));
        self.damaged.extend(dropouts);
    }

    /// Checks all rows. In a log whose ticks are on a grid, only those count in which the column `data` is true.
    fn rows(&mut self, mut rows: Rows, step: f64, data: Option<&str>) -> Result<(), LogError> {
        let columns = rows.columns().to_vec();
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let data = data.and_then(place);
        // The validity column of each value.
        let groups: Vec<&str> = (columns.iter())
            .filter_map(|column| column.name.strip_prefix("valid."))
            .collect();
        let validity: Vec<Option<usize>> = (columns.iter())
            .map(|column| {
                let within = |group: &&&str| {
                    let rest = column.name.strip_prefix(**group);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                // The most specific one: `setpoint.position` before `setpoint`.
                let group = groups
                    .iter()
                    .filter(within)
                    .max_by_key(|group| group.len())?;
                place(&format!("valid.{group}"))
            })
            .collect();
        let counts = |i: usize| {
            let name = &columns[i].name;
            columns[i].kind == Kind::Float && !name.starts_with("estimate.innovation")
        };
        let counted: Vec<usize> = (0..columns.len()).filter(|i| counts(*i)).collect();
        let mut found: Vec<(u64, f64)> = vec![(0, 0.0); columns.len()];
        let longest = longest_step(if step.is_finite() { step } else { 0.0 });
        let (mut before, mut last): (Option<i64>, Option<f64>) = (None, None);
        while let Some(row) = rows.read()? {
            self.ticks += 1;
            let time = row.time as f64 * 1e-9;
            if let Some(Cell::Integer(clock)) = row.cells.get(1) {
                if before.is_some_and(|before| *clock <= before) {
                    self.backwards_count += 1;
                    if self.backwards.len() < TOLD {
                        self.backwards.push(time);
                    }
                }
                before = Some(*clock);
            }
            let is_true = |i: usize| row.cells[i] == Cell::Boolean(true);
            if data.is_none_or(is_true) {
                if let Some(from) = last.filter(|last| time - last > longest) {
                    self.gaps_count += 1;
                    if self.gaps.len() < TOLD {
                        self.gaps.push(Gap { from, to: time });
                    }
                }
                last = Some(time);
            }
            for &i in &counted {
                if let Cell::Float(value) = row.cells[i]
                    && !value.is_finite()
                    && validity[i].is_none_or(is_true)
                {
                    let (count, first) = &mut found[i];
                    if *count == 0 {
                        *first = time;
                    }
                    *count += 1;
                }
            }
        }
        let columns = columns.into_iter().zip(found);
        self.non_finite = columns
            .filter(|(_, (count, _))| *count > 0)
            .map(|(column, (count, first))| NonFinite {
                column: column.name,
                count,
                first,
            })
            .collect();
        Ok(())
    }
}
