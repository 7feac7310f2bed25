//! Parameters: read one, or set one and read it back, repeating lost requests. Begun and polled, like commands.

mod value;

use mavlink::types::CharArray;

use super::commands::Ticket;
use crate::dialect::{
    MavMessage, MavParamError, PARAM_ERROR_DATA, PARAM_REQUEST_READ_DATA, PARAM_SET_DATA,
    PARAM_VALUE_DATA,
};

pub use value::{Encoding, ParameterValue};

const MS: i64 = 1_000_000;

/// An unanswered request is repeated after this, ns.
const RETRY: i64 = 400 * MS;

/// How often a value is set that the vehicle does not accept.
const SETS: u32 = 3;

/// A parameter's name has at most 16 characters.
const NAME: usize = 16;

/// The progress of a read or set operation.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterOutcome {
    /// In progress.
    Waiting,
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
    /// The deadline passed; a value may or may not have been set.
    Expired,
    /// Never begun here.
    Unknown,
}

impl ParameterOutcome {
    /// Whether the outcome is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Waiting)
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
    next_ticket: u64,
}

impl Parameters {
    pub(super) fn new(target: (u8, u8), encoding: Encoding) -> Self {
        Self {
            target,
            encoding,
            operations: Vec::new(),
            next_ticket: 1,
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

    /// The progress of an operation.
    pub fn outcome(&self, ticket: Ticket) -> ParameterOutcome {
        let found = self.operations.iter().find(|o| o.ticket == ticket);
        found.map_or(ParameterOutcome::Unknown, |o| o.outcome.clone())
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
            outcome: ParameterOutcome::Waiting,
        });
        ticket
    }

    pub(super) fn take(&mut self, m: &PARAM_VALUE_DATA, now: i64) {
        // Names that are not text, and values that do not fit their type, belong to nothing that was asked for.
        let Ok(name) = m.param_id.to_str() else {
            return;
        };
        let Some(value) = ParameterValue::decode(m.param_value, m.param_type, self.encoding) else {
            return;
        };
        let concerned = |o: &&mut Operation| !o.outcome.is_final() && o.name == name;
        for operation in self.operations.iter_mut().filter(concerned) {
            operation.take(value, now);
        }
    }

    pub(super) fn take_error(&mut self, m: &PARAM_ERROR_DATA) {
        let name = m.param_id.to_str().unwrap_or_default();
        let concerned = |o: &&mut Operation| !o.outcome.is_final() && o.name == name;
        for operation in self.operations.iter_mut().filter(concerned) {
            operation.outcome = ParameterOutcome::Refused(m.error);
        }
    }

    /// Ends expired operations and sends what is due; `send` takes a message and its latest time of sending.
    pub(super) fn poll(&mut self, now: i64, mut send: impl FnMut(MavMessage, i64) -> bool) {
        for operation in self.operations.iter_mut().filter(|o| !o.outcome.is_final()) {
            if now > operation.deadline {
                operation.outcome = ParameterOutcome::Expired;
                continue;
            }
            if now < operation.due {
                continue;
            }
            let until = operation.deadline.min(now.saturating_add(RETRY));
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
                    let read = PARAM_REQUEST_READ_DATA {
                        param_index: -1,
                        target_system: self.target.0,
                        target_component: self.target.1,
                        param_id: CharArray::from(operation.name.as_str()),
                    };
                    send(MavMessage::PARAM_REQUEST_READ(read), until);
                }
            }
        }
    }
}

impl Operation {
    /// Processes a value of this name.
    fn take(&mut self, has: ParameterValue, now: i64) {
        match &mut self.kind {
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
