//! The rows of a campaign, in the order of their indices.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::error::SweepError;
use crate::journal::Journal;
use crate::outcome;
use crate::plan::Plan;
use fly_table::{Cell, Column, Kind};

/// All rows of a plan, in one journal or in those of its shards. They are read one by one, so their number does not
/// affect memory.
#[derive(Debug)]
pub struct Rows<'a> {
    plan: &'a Plan,
    journals: Vec<Journal>,
    /// The journals of every shard, and the shard counts of the campaigns, usually one.
    of_shard: HashMap<[u32; 2], Vec<usize>>,
    divisions: BTreeSet<u32>,
}

/// Number of journals that stay open; others are reopened for every row.
const OPEN: usize = 128;

impl<'a> Rows<'a> {
    /// The rows of these journals, which must contain every flight of the plan exactly once.
    ///
    /// # Errors
    /// Flights are missing or occur twice.
    pub fn new(plan: &'a Plan, journals: Vec<Journal>) -> Result<Self, SweepError> {
        let mut rows = Self {
            plan,
            journals,
            of_shard: HashMap::new(),
            divisions: BTreeSet::new(),
        };
        for (place, journal) in rows.journals.iter().enumerate() {
            let [number, of] = journal.shard().parts();
            rows.of_shard.entry([number, of]).or_default().push(place);
            rows.divisions.insert(of);
        }
        let (mut missing, mut first) = (0, None);
        for index in 0..plan.flights() {
            let mut with = rows.with(index);
            match (with.next(), with.next()) {
                (Some(_), None) => {}
                (Some(one), Some(other)) => {
                    return Err(SweepError::DuplicateFlight {
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
                shards: remedy(&rows.journals, first),
            });
        }
        Ok(rows)
    }

    /// The journals that contain this flight.
    fn with(&self, index: u64) -> impl Iterator<Item = &Journal> {
        let shards = self.divisions.iter().filter_map(move |of| {
            let number = index % u64::from(*of) + 1;
            self.of_shard.get(&[u32::try_from(number).ok()?, *of])
        });
        let journals = shards.flatten().map(|place| &self.journals[*place]);
        journals.filter(move |journal| journal.has(index))
    }

    /// Reads the journals of a plan's shards.
    ///
    /// # Errors
    /// A journal does not belong to this plan or cannot be read, or flights are missing or occur twice.
    pub fn merge(plan: &'a Plan, paths: &[PathBuf]) -> Result<Self, SweepError> {
        let journals = paths.iter().enumerate().map(|(place, path)| {
            let mut journal = Journal::read(path, plan).map_err(SweepError::in_merge)?;
            if place >= OPEN {
                journal.close();
            }
            Ok(journal)
        });
        Self::new(plan, journals.collect::<Result<_, SweepError>>()?)
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.plan.flights()
    }

    /// Whether the plan has no flights.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns: the index, the varied values, then the outcome.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::new("index", Kind::Integer, "")];
        columns.extend(self.plan.columns());
        columns.extend(outcome::columns());
        columns
    }

    /// A row: one cell per column.
    ///
    /// # Errors
    /// The row cannot be read.
    pub fn row(&self, index: u64) -> Result<Vec<Cell>, SweepError> {
        for journal in self.with(index) {
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

/// Names the part of the campaign that contains this flight.
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
