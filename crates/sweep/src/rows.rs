//! The rows of a campaign in the order of their index.

use std::path::PathBuf;

use crate::cell::{Cell, Column, Kind};
use crate::error::SweepError;
use crate::journal::Journal;
use crate::outcome;
use crate::plan::Plan;

/// All rows of a plan, in one journal or in those of its shards. They are read one by one: their number takes no memory.
#[derive(Debug)]
pub struct Rows<'a> {
    plan: &'a Plan,
    journals: Vec<Journal>,
}

impl<'a> Rows<'a> {
    /// Of these journals, which must have every flight of the plan exactly once.
    ///
    /// # Errors
    /// Flights are missing, or are there twice.
    pub fn new(plan: &'a Plan, journals: Vec<Journal>) -> Result<Self, SweepError> {
        let (mut missing, mut first) = (0, None);
        for index in 0..plan.flights() {
            let mut with = journals.iter().filter(|journal| journal.has(index));
            match (with.next(), with.next()) {
                (Some(_), None) => {}
                (Some(one), Some(other)) => {
                    return Err(SweepError::Twice {
                        index,
                        first: one.path().to_owned(),
                        second: other.path().to_owned(),
                    });
                }
                (None, _) => {
                    missing += 1;
                    first.get_or_insert(index);
                }
            }
        }
        if let Some(first) = first {
            return Err(SweepError::Missing {
                missing,
                of: plan.flights(),
                first,
                shards: remedy(&journals, first),
            });
        }
        Ok(Self { plan, journals })
    }

    /// Reads the journals of a plan's shards.
    ///
    /// # Errors
    /// A journal is not of this plan, or cannot be read; flights are missing, or are there twice.
    pub fn merge(plan: &'a Plan, paths: &[PathBuf]) -> Result<Self, SweepError> {
        let journals = paths.iter().map(|path| Journal::read(path, plan));
        Self::new(plan, journals.collect::<Result<_, _>>()?)
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.plan.flights()
    }

    /// Whether the plan has no flights.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns: the index, what is varied, then what became of it.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column {
            name: "index".to_owned(),
            kind: Kind::Integer,
            unit: "",
        }];
        columns.extend(self.plan.columns());
        columns.extend(outcome::columns());
        columns
    }

    /// A row: one cell for each column.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn row(&self, index: u64) -> Result<Vec<Cell>, SweepError> {
        for journal in &self.journals {
            if let Some(outcome) = journal.row(index)? {
                let mut cells = vec![Cell::count(index)];
                cells.extend(self.plan.parameters(index));
                cells.extend(outcome);
                return Ok(cells);
            }
        }
        Err(SweepError::NoFlight {
            index,
            flights: self.len(),
        })
    }
}

/// Which part of the campaign has this flight.
fn remedy(journals: &[Journal], first: u64) -> String {
    match journals {
        [] => "a journal".to_owned(),
        [one, ..] => {
            let [_, of] = one.shard().parts();
            let number = first % u64::from(of) + 1;
            match journals.iter().find(|journal| journal.shard().has(first)) {
                Some(journal) => format!(
                    "shard {number}/{of} (`{}`) to its end",
                    journal.path().display()
                ),
                None => format!("the journal of shard {number}/{of}"),
            }
        }
    }
}
