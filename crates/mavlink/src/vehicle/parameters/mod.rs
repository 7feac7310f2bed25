//! Parameters: read one, set one and read it back, or read all, repeating lost requests. Begun and polled, like
//! commands.

mod value;

use std::collections::BTreeMap;

use mavlink::types::CharArray;

use super::commands::Ticket;
use crate::dialect::{
    MavMessage, MavParamError, PARAM_ERROR_DATA, PARAM_REQUEST_LIST_DATA, PARAM_REQUEST_READ_DATA,
    PARAM_SET_DATA, PARAM_VALUE_DATA,
};

pub use value::{Encoding, ParameterValue};

const MS: i64 = 1_000_000;

/// An unanswered request is repeated after this, ns.
const RETRY: i64 = 400 * MS;

/// A list that has not grown for this long (ns) has gaps.
const QUIET: i64 = 600 * MS;

/// Number of missing parameters requested at once.
const BATCH: usize = 16;

/// How often a value is set that the vehicle does not accept.
const SETS: u32 = 3;

/// A parameter's name has at most 16 characters.
const NAME: usize = 16;

/// The progress of a read or set operation.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterOutcome {
    /// In progress; for a whole list, with the number of values so far.
    Waiting {
        /// Values that have arrived.
        have: usize,
        /// Values in total, if known.
        of: Option<usize>,
    },
    /// Read.
    Value(ParameterValue),
    /// Set, and read back as it was set.
    Set {
        /// The value before.
        before: ParameterValue,
    },
    /// The vehicle keeps another value.
    NotApplied {
        /// Its current value.
        has: ParameterValue,
    },
    /// The vehicle's parameter is of another type; nothing was set.
    WrongType {
        /// Its current value.
        has: ParameterValue,
    },
    /// The vehicle refuses, for this reason.
    Refused(MavParamError),
    /// All have been read; see [`Parameters::values`].
    Complete {
        /// How many there are.
        count: usize,
    },
    /// The deadline passed; a value may or may not have been set.
    Expired {
        /// Missing values of a list, if their number is known.
        missing: Option<usize>,
    },
    /// Never begun here.
    Unknown,
}

impl ParameterOutcome {
    /// Whether the outcome is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Waiting { .. })
    }
}

/// Why parameters cannot be requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// Not a valid name.
    #[error("`{0}` is no parameter's name: expected 1 to 16 characters of ASCII")]
    Name(String),
    /// The number cannot be sent exactly.
    #[error(
        "{0} cannot be set: this autopilot takes integers as floats, which are exact up to 16777216"
    )]
    Inexact(String),
    /// No vehicle has been heard yet.
    #[error("no vehicle has been heard yet; wait for its heartbeat")]
    NoVehicle,
    /// The link only listens.
    #[error("the link only listens (`listen_only`)")]
    ListenOnly,
}

enum Kind {
    Read,
    /// `before` is known after the first answer.
    Set {
        value: ParameterValue,
        before: Option<ParameterValue>,
        /// Whether the next answer is that of the read-back.
        reads_back: bool,
        sets: u32,
    },
    All,
}

struct Operation {
    ticket: Ticket,
    name: String,
    kind: Kind,
    deadline: i64,
    due: i64,
    outcome: ParameterOutcome,
}

/// The parameters of one vehicle.
pub struct Parameters {
    target: (u8, u8),
    encoding: Encoding,
    operations: Vec<Operation>,
    values: BTreeMap<String, ParameterValue>,
    /// By index, while a list is read.
    list: BTreeMap<u16, String>,
    count: Option<u16>,
    grown: i64,
    next_ticket: u64,
    undecodable: u64,
}

impl Parameters {
    pub(super) fn new(target: (u8, u8), encoding: Encoding) -> Self {
        Self {
            target,
            encoding,
            operations: Vec::new(),
            values: BTreeMap::new(),
            list: BTreeMap::new(),
            count: None,
            grown: i64::MIN,
            next_ticket: 1,
            undecodable: 0,
        }
    }

    /// The autopilot's capabilities may arrive later than its heartbeat.
    pub(super) fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// Begins to read a parameter.
    ///
    /// # Errors
    /// [`ParameterError::Name`].
    pub fn read(&mut self, name: &str, now: i64, deadline: i64) -> Result<Ticket, ParameterError> {
        let name = checked(name)?;
        Ok(self.begin(name, Kind::Read, now, deadline))
    }

    /// Begins to set a parameter: reads it (its type, and the previous value), sets it, and reads it back.
    ///
    /// # Errors
    /// [`ParameterError::Name`], [`ParameterError::Inexact`].
    pub fn set(
        &mut self,
        name: &str,
        value: ParameterValue,
        now: i64,
        deadline: i64,
    ) -> Result<Ticket, ParameterError> {
        let name = checked(name)?;
        if value.encode(self.encoding).is_none() {
            return Err(ParameterError::Inexact(format!("`{name}` = {value}")));
        }
        let kind = Kind::Set {
            value,
            before: None,
            reads_back: false,
            sets: 0,
        };
        Ok(self.begin(name, kind, now, deadline))
    }

    /// Begins to read all parameters.
    pub fn read_all(&mut self, now: i64, deadline: i64) -> Ticket {
        self.list.clear();
        self.count = None;
        self.grown = now;
        self.begin(String::new(), Kind::All, now, deadline)
    }

    /// The progress of an operation.
    pub fn outcome(&self, ticket: Ticket) -> ParameterOutcome {
        let Some(operation) = self.operations.iter().find(|o| o.ticket == ticket) else {
            return ParameterOutcome::Unknown;
        };
        match (&operation.outcome, &operation.kind) {
            (ParameterOutcome::Waiting { .. }, Kind::All) => ParameterOutcome::Waiting {
                have: self.list.len(),
                of: self.count.map(usize::from),
            },
            (outcome, _) => outcome.clone(),
        }
    }

    /// The known values, by name.
    pub fn values(&self) -> &BTreeMap<String, ParameterValue> {
        &self.values
    }

    /// Values that arrived but do not fit their type.
    pub fn undecodable(&self) -> u64 {
        self.undecodable
    }

    fn begin(&mut self, name: String, kind: Kind, now: i64, deadline: i64) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.operations.push(Operation {
            ticket,
            name,
            kind,
            deadline,
            due: now,
            outcome: ParameterOutcome::Waiting { have: 0, of: None },
        });
        ticket
    }

    pub(super) fn take(&mut self, m: &PARAM_VALUE_DATA, now: i64) {
        let Ok(name) = m.param_id.to_str().map(str::to_owned) else {
            self.undecodable += 1;
            return;
        };
        let Some(value) = ParameterValue::decode(m.param_value, m.param_type, self.encoding) else {
            self.undecodable += 1;
            return;
        };
        self.values.insert(name.clone(), value);
        // 65535 means "not part of the list": the echo of a set value, or PX4's hash.
        if m.param_index < m.param_count && m.param_count != u16::MAX {
            if self.count.is_some_and(|count| count != m.param_count) {
                // Some parameters appeared or disappeared, which renumbered others.
                self.list.clear();
            }
            self.count = Some(m.param_count);
            if self.list.insert(m.param_index, name.clone()).is_none() {
                self.grown = now;
            }
        }
        let whole = self
            .count
            .filter(|&count| self.list.len() == usize::from(count));
        for operation in self.operations.iter_mut().filter(|o| !o.outcome.is_final()) {
            match operation.kind {
                Kind::All => {
                    if let Some(count) = whole {
                        let count = usize::from(count);
                        operation.outcome = ParameterOutcome::Complete { count };
                    }
                }
                _ if operation.name == name => operation.take(value, now),
                _ => {}
            }
        }
    }

    pub(super) fn take_error(&mut self, m: &PARAM_ERROR_DATA) {
        let name = m.param_id.to_str().unwrap_or_default();
        let concerned =
            |o: &&mut Operation| !o.outcome.is_final() && !name.is_empty() && o.name == name;
        for operation in self.operations.iter_mut().filter(concerned) {
            operation.outcome = ParameterOutcome::Refused(m.error);
        }
    }

    /// Ends expired operations and sends what is due; `send` takes a message and its latest time of sending.
    pub(super) fn poll(&mut self, now: i64, mut send: impl FnMut(MavMessage, i64) -> bool) {
        let missing = self
            .count
            .map(|count| usize::from(count).saturating_sub(self.list.len()));
        for operation in self.operations.iter_mut().filter(|o| !o.outcome.is_final()) {
            if now > operation.deadline {
                let missing = missing.filter(|_| matches!(operation.kind, Kind::All));
                operation.outcome = ParameterOutcome::Expired { missing };
                continue;
            }
            if now < operation.due {
                continue;
            }
            let until = operation.deadline.min(now.saturating_add(RETRY));
            let read = |index: i16, name: &str| {
                MavMessage::PARAM_REQUEST_READ(PARAM_REQUEST_READ_DATA {
                    param_index: index,
                    target_system: self.target.0,
                    target_component: self.target.1,
                    param_id: CharArray::from(name),
                })
            };
            operation.due = now.saturating_add(RETRY);
            match &mut operation.kind {
                Kind::Set {
                    value,
                    before: Some(_),
                    reads_back: false,
                    sets,
                } => {
                    let set = PARAM_SET_DATA {
                        param_value: value.encode(self.encoding).unwrap_or_default(),
                        target_system: self.target.0,
                        target_component: self.target.1,
                        param_id: CharArray::from(operation.name.as_str()),
                        param_type: value.kind(),
                    };
                    if send(MavMessage::PARAM_SET(set), until) {
                        *sets += 1;
                    }
                }
                Kind::Read | Kind::Set { .. } => {
                    send(read(-1, &operation.name), until);
                }
                Kind::All => match self.count {
                    None => {
                        let list = PARAM_REQUEST_LIST_DATA {
                            target_system: self.target.0,
                            target_component: self.target.1,
                        };
                        // Over a radio, the first answers take longer than those to a single request.
                        operation.due = now.saturating_add(2 * QUIET);
                        send(MavMessage::PARAM_REQUEST_LIST(list), until);
                    }
                    Some(_) if now < self.grown.saturating_add(QUIET) => {
                        operation.due = self.grown.saturating_add(QUIET);
                    }
                    Some(count) => {
                        let holes = (0..count).filter(|index| !self.list.contains_key(index));
                        for hole in holes.take(BATCH) {
                            let index = i16::try_from(hole).unwrap_or(i16::MAX);
                            send(read(index, ""), until);
                        }
                    }
                },
            }
        }
    }
}

impl Operation {
    /// Processes a value of this name.
    fn take(&mut self, has: ParameterValue, now: i64) {
        match &mut self.kind {
            Kind::All => {}
            Kind::Read => self.outcome = ParameterOutcome::Value(has),
            Kind::Set {
                value,
                before,
                reads_back,
                sets,
            } => {
                let Some(before) = *before else {
                    if has.kind() == value.kind() {
                        *before = Some(has);
                        self.due = now;
                    } else {
                        self.outcome = ParameterOutcome::WrongType { has };
                    }
                    return;
                };
                if !*reads_back {
                    // The echo of the set value, if one was sent; it is read back in any case.
                    if *sets > 0 {
                        *reads_back = true;
                        self.due = now;
                    }
                } else if has.is(*value) {
                    self.outcome = ParameterOutcome::Set { before };
                } else if *sets < SETS {
                    *reads_back = false;
                    self.due = now;
                } else {
                    self.outcome = ParameterOutcome::NotApplied { has };
                }
            }
        }
    }
}

fn checked(name: &str) -> Result<String, ParameterError> {
    if (1..=NAME).contains(&name.len()) && name.bytes().all(|c| c.is_ascii_graphic()) {
        Ok(name.to_owned())
    } else {
        Err(ParameterError::Name(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
