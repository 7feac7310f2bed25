//! Damage in a file.

use std::path::Path;

use crate::error::LogError;

/// Number of faults that are described.
const DESCRIBED: usize = 20;

/// A fault in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Start of the record with the fault.
    pub offset: u64,
    /// What was expected there.
    pub expected: String,
    /// What was found; `None` at the end of the file.
    pub found: Option<String>,
}

impl Fault {
    /// The error for a file that begins with this fault, after this many complete ticks.
    pub(in crate::recording) fn refuse(&self, path: &Path, frames: usize) -> LogError {
        let (path, offset, expected) = (path.into(), self.offset, self.expected.clone());
        match self.found.clone() {
            None => LogError::Truncated {
                path,
                offset,
                expected,
                frames,
            },
            Some(found) => LogError::Corrupt {
                path,
                offset,
                expected,
                found,
                frames,
            },
        }
    }

    pub(super) fn truncated(offset: u64, expected: impl Into<String>) -> Self {
        Self {
            offset,
            expected: expected.into(),
            found: None,
        }
    }

    pub(super) fn corrupt(
        offset: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            offset,
            expected: expected.into(),
            found: Some(found.into()),
        }
    }
}

/// The faults of a file.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    /// The first faults.
    pub faults: Vec<Fault>,
    /// Number of all faults.
    pub count: u64,
}

impl Damage {
    pub(super) fn add(&mut self, fault: Fault) {
        self.count += 1;
        if self.faults.len() < DESCRIBED {
            self.faults.push(fault);
        }
    }

    /// Whether what is read now follows no damage: the end of a truncated file comes after all that is left of it.
    pub(in crate::recording) fn hides_nothing(&self) -> bool {
        self.faults.iter().all(|fault| fault.found.is_none())
    }

    /// The faults, one line each.
    pub fn lines(&self) -> Vec<String> {
        let line = |fault: &Fault| {
            let Fault {
                offset, expected, ..
            } = fault;
            match &fault.found {
                Some(found) => {
                    format!("skipped at byte {offset}: expected {expected}, found {found}")
                }
                None => format!("truncated at byte {offset}: expected {expected}"),
            }
        };
        let mut lines: Vec<String> = self.faults.iter().map(line).collect();
        let more = self.count - lines.len() as u64;
        if more > 0 {
            lines.push(format!("skipped at {more} more places"));
        }
        lines
    }
}
