//! The report of a conformance run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::loader::PluginInfo;

/// The results of all checks.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file that was checked.
    pub plugin: PathBuf,
    /// The plugin's own description, if it could be loaded.
    pub info: Option<PluginInfo>,
    /// The checks in the order in which they ran. No check runs after one that hangs, or a wrong description.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The requirement, in a few words.
    pub name: &'static str,
    /// The result.
    pub outcome: Outcome,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The requirement holds.
    Passed,
    /// The requirement is violated: expected and found.
    Failed(String),
    /// Timeout.
    Hanging(Duration),
    /// Not tested, and why.
    Skipped(String),
}

impl Report {
    /// Whether no check failed; skipped checks are ignored.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Name, version, clock and file of the plugin.
    pub fn heading(&self) -> impl fmt::Display {
        let file = self.plugin.display();
        match &self.info {
            Some(info) => {
                let clock = info.clock.name();
                format!("{} {} ({clock}), {file}", info.name, info.version)
            }
            None => file.to_string(),
        }
    }

    /// How many checks ran and failed.
    pub fn count(&self) -> impl fmt::Display {
        let failed = self.failures().count();
        format!("{} checks, {failed} failed", self.checks.len())
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(|check| matches!(check.outcome, Outcome::Failed(_) | Outcome::Hanging(_)))
    }
}

impl fmt::Display for Report {
    /// One line each, then a count.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.heading())?;
        for check in &self.checks {
            writeln!(formatter, "  {check}")?;
        }
        write!(formatter, "{}", self.count())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match &self.outcome {
            Outcome::Passed => write!(formatter, "ok       {name}"),
            Outcome::Skipped(why) => write!(formatter, "skipped  {name}: {why}"),
            Outcome::Failed(why) => write!(formatter, "FAILED   {name}: {why}"),
            Outcome::Hanging(time) => {
                write!(formatter, "FAILED   {name}: no answer within {time:?}")
            }
        }
    }
}
