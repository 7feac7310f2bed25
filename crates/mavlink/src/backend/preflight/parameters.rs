//! The relevant parameters: read, reported if wrong, set if allowed, and restored.

use std::fmt;
use std::time::Duration;

use fly_hal::{Error, ErrorKind, monotonic_now};

use super::Record;
use crate::{ParameterOutcome, ParameterValue, Ticket, Vehicle};

/// Longest time for reading parameters, ns.
const READ_TIMEOUT: i64 = 3_000_000_000;

/// An answer to the first question comes within this, ns; it is asked again after 0.4 s.
const AT_ONCE: i64 = 380_000_000;

/// After three questions without an answer, on a link that lost none of the others, a parameter is not there, ns.
/// Where arming depends on it, it is asked for as long as [`READ_TIMEOUT`] lasts: all three may have been lost.
const QUIET: i64 = 1_200_000_000;

/// Pause between two polls.
const NAP: Duration = Duration::from_millis(5);

/// The required value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Any value; it is shown.
    Any,
    /// Has these bits.
    Bits(i64),
    /// Has these bits if the vehicle has no radio, or must ignore its sticks.
    WithoutRadio(i64),
    /// Between the two.
    Within(f64, f64),
    /// Is none of these.
    NoneOf(&'static [i64]),
    /// 0 or less, which turns it off, or at least this.
    OffOrAtLeast(f64),
}

/// A parameter and why it matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Requirement {
    pub name: &'static str,
    pub rule: Rule,
    pub why: &'static str,
    /// Whether arming is refused while it is wrong or unknown.
    pub refuses: bool,
}

impl Requirement {
    pub fn show(name: &'static str, why: &'static str) -> Self {
        Self::warn(name, Rule::Any, why)
    }

    pub fn warn(name: &'static str, rule: Rule, why: &'static str) -> Self {
        Self {
            name,
            rule,
            why,
            refuses: false,
        }
    }

    pub fn refuse(name: &'static str, rule: Rule, why: &'static str) -> Self {
        Self {
            refuses: true,
            ..Self::warn(name, rule, why)
        }
    }

    /// What it should be in place of `value`; `None` where that is right.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "parameters with bits are integers of at most 32 bits"
    )]
    fn wanted(&self, value: f64, radio: bool) -> Option<f64> {
        let bits = |mask: i64| {
            let has = value as i64;
            (has & mask != mask).then_some((has | mask) as f64)
        };
        match self.rule {
            Rule::Any => None,
            Rule::Bits(mask) => bits(mask),
            Rule::WithoutRadio(mask) => bits(mask).filter(|_| !radio),
            Rule::Within(least, most) => {
                let nearest = value.clamp(least, most);
                (nearest != value).then_some(nearest)
            }
            Rule::NoneOf(values) => values
                .iter()
                .any(|wrong| *wrong as f64 == value)
                .then_some(0.0),
            Rule::OffOrAtLeast(least) => {
                (value.is_nan() || (value > 0.0 && value < least)).then_some(least)
            }
        }
    }
}

/// A parameter that was checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checked {
    pub requirement: Requirement,
    /// The vehicle's current value; `None` if it did not report it.
    pub value: Option<ParameterValue>,
    /// The required value.
    pub wanted: Option<f64>,
    /// The value before it was set.
    pub before: Option<ParameterValue>,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requirement { name, why, .. } = self.requirement;
        match (self.value, self.wanted, self.before) {
            (None, ..) => write!(f, "{name} is not known ({why})"),
            (Some(value), Some(wanted), _) => {
                write!(f, "{name} is {value}, and should be {wanted}: {why}")
            }
            (Some(value), None, Some(before)) => {
                write!(f, "{name} = {value}, was {before} ({why})")
            }
            (Some(value), None, None) => write!(f, "{name} = {value} ({why})"),
        }
    }
}

/// All checked parameters.
#[derive(Debug, Default)]
pub(crate) struct CheckedParameters {
    pub all: Vec<Checked>,
    /// Results of restoring them.
    pub restored: Vec<String>,
}

impl CheckedParameters {
    /// The value of one.
    pub fn value(&self, name: &str) -> Option<f64> {
        let found = self.all.iter().find(|c| c.requirement.name == name)?;
        found.value.map(ParameterValue::number)
    }

    /// Reads them, which takes at most some seconds, and reports what is wrong.
    pub fn read(
        vehicle: &mut Vehicle,
        requirements: Vec<Requirement>,
        radio: bool,
    ) -> Result<Self, Error> {
        let asked: Vec<_> = requirements.iter().map(|r| (r.name, r.refuses)).collect();
        let mut all = Vec::new();
        let values = read(vehicle, &asked)?;
        let sticks = asked.iter().zip(&values).any(|((name, _), value)| {
            *name == "COM_RC_IN_MODE" && value.map(ParameterValue::number) == Some(4.0)
        });
        for (requirement, value) in requirements.into_iter().zip(values) {
            let wanted = value.and_then(|v| requirement.wanted(v.number(), radio || sticks));
            all.push(Checked {
                requirement,
                value,
                wanted,
                before: None,
            });
        }
        Ok(Self {
            all,
            restored: Vec::new(),
        })
    }

    /// Sets what is wrong, keeping the old values in a file until they are [set back](Record::restore).
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn correct(&mut self, vehicle: &mut Vehicle, record: &Record) -> Result<(), Error> {
        let wrong: Vec<_> = self
            .all
            .iter_mut()
            .filter_map(|checked| {
                let (value, wanted) = (checked.value?, checked.wanted?);
                let to = ParameterValue::of(value.kind(), wanted)?;
                Some((checked, value, to))
            })
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let old: Vec<_> = wrong
            .iter()
            .map(|(checked, before, to)| (checked.requirement.name.to_owned(), *before, *to))
            .collect();
        record.add(&old)?;
        for (checked, before, to) in wrong {
            let outcome = set(vehicle, checked.requirement.name, to)?;
            if matches!(outcome, ParameterOutcome::Set { .. }) {
                checked.value = Some(to);
                checked.wanted = None;
                checked.before = Some(before);
                tracing::warn!("set {checked}; it is set back after the flight");
            } else {
                tracing::error!(?outcome, "could not set {}", checked.requirement.name);
            }
        }
        Ok(())
    }

    /// The reasons against arming.
    pub fn faults(&self) -> impl Iterator<Item = String> + '_ {
        let faulty =
            |c: &&Checked| c.requirement.refuses && (c.wanted.is_some() || c.value.is_none());
        self.all.iter().filter(faulty).map(Checked::to_string)
    }

    /// Reports what was found.
    pub fn tell(&self) {
        for checked in &self.all {
            match (checked.wanted, checked.value) {
                (Some(_), _) => tracing::warn!("{checked}"),
                (None, Some(_)) => tracing::info!("{checked}"),
                (None, None) => tracing::debug!("{checked}"),
            }
        }
    }
}

impl Record {
    /// Sets back what the file of an earlier flight or of this one holds, but begins nothing after `until` (ns of `CLOCK_MONOTONIC`). Says what
    /// was done, and keeps the file where that failed.
    pub fn restore(&self, vehicle: &mut Vehicle, until: i64) -> Vec<String> {
        let old = match self.read() {
            Ok(old) => old,
            Err(error) => return vec![error.message],
        };
        let (mut said, mut left) = (Vec::new(), Vec::new());
        for (name, before, ours) in old {
            if monotonic_now() > until {
                left.push((name, before, ours));
                continue;
            }
            let has = read(vehicle, &[(name.as_str(), true)])
                .ok()
                .and_then(|v| v[0]);
            match has {
                Some(has) if has == before => {}
                Some(has) if has != ours => {
                    said.push(format!(
                        "{name} is {has}, which was not set here: left as it is"
                    ));
                }
                Some(_) => match set(vehicle, &name, before) {
                    Ok(ParameterOutcome::Set { .. }) => {
                        said.push(format!("{name} = {before} again, was {ours}"));
                    }
                    _ => left.push((name, before, ours)),
                },
                None => left.push((name, before, ours)),
            }
        }
        if left.is_empty() {
            self.remove();
            return said;
        }
        for (name, before, _) in &left {
            said.push(format!(
                "{name} could not be set back to {before}: the next start tries it again"
            ));
        }
        if let Err(error) = self.write(&left) {
            said.push(error.message);
        }
        said
    }

    /// The changes that remain because the vehicle is armed, one line each. The file stays, and the next start restores
    /// them.
    pub fn remaining(&self) -> Vec<String> {
        let old = match self.read() {
            Ok(old) => old,
            Err(error) => return vec![error.message],
        };
        (old.iter())
            .map(|(name, before, ours)| {
                format!(
                    "{name} remains {ours}, was {before}: the vehicle is still armed, and the next start sets it back"
                )
            })
            .collect()
    }
}

/// Reads these parameters, each with whether it is needed; `None` for those that do not arrive.
///
/// # Errors
/// The link takes nothing, or none arrives from a vehicle that signs its messages while we do not: it answers nothing.
pub(crate) fn read(
    vehicle: &mut Vehicle,
    asked: &[(&str, bool)],
) -> Result<Vec<Option<ParameterValue>>, Error> {
    let now = monotonic_now();
    let deadline = now.saturating_add(READ_TIMEOUT);
    let mut tickets = Vec::new();
    for (name, needed) in asked {
        let parameters = vehicle.parameters().map_err(unusable)?;
        let ticket = parameters.read(name, now, deadline).map_err(unusable)?;
        tickets.push((ticket, *needed));
    }
    let outcomes = wait(vehicle, &tickets)?;
    let unanswered = |outcome: &ParameterOutcome| *outcome == ParameterOutcome::Expired;
    if vehicle.statistics().signed > 0 && outcomes.iter().all(unanswered) {
        let why =
            "the vehicle answers nothing: it signs its messages, and `signing_key` is not given";
        return Err(Error::new(ErrorKind::Refused, why)
            .with_help("set it to the file of the vehicle's key"));
    }
    Ok(outcomes
        .into_iter()
        .map(|outcome| match outcome {
            ParameterOutcome::Value(value) => Some(value),
            _ => None,
        })
        .collect())
}

fn set(
    vehicle: &mut Vehicle,
    name: &str,
    value: ParameterValue,
) -> Result<ParameterOutcome, Error> {
    let now = monotonic_now();
    let deadline = now.saturating_add(READ_TIMEOUT);
    let parameters = vehicle.parameters().map_err(unusable)?;
    let ticket = parameters
        .set(name, value, now, deadline)
        .map_err(unusable)?;
    let mut outcomes = wait(vehicle, &[(ticket, true)])?;
    Ok(outcomes.pop().unwrap_or(ParameterOutcome::Unknown))
}

/// Waits until all are final, which their deadlines see to, or until those that are not needed are given up: a parameter
/// that a vehicle lacks is not answered for by older firmware (newer says `PARAM_ERROR`). On a link that has answered
/// every other question at once, [`QUIET`] is enough for them.
fn wait(vehicle: &mut Vehicle, tickets: &[(Ticket, bool)]) -> Result<Vec<ParameterOutcome>, Error> {
    let begun = monotonic_now();
    let (mut answered, mut at_once) = (0, true);
    loop {
        let now = monotonic_now();
        vehicle.poll(now);
        let parameters = vehicle.parameters().map_err(unusable)?;
        let outcomes: Vec<_> = tickets
            .iter()
            .map(|(ticket, _)| parameters.outcome(*ticket))
            .collect();
        let mut open = tickets.iter().zip(&outcomes).filter(|(_, o)| !o.is_final());
        let needs_more = open.clone().any(|((_, needed), _)| *needed);
        let finished = tickets.len() - open.clone().count();
        if finished > answered {
            answered = finished;
            at_once &= now.saturating_sub(begun) < AT_ONCE;
        }
        let quiet = at_once && answered > 0 && now.saturating_sub(begun) > QUIET;
        if open.next().is_none() || (quiet && !needs_more) {
            return Ok(outcomes);
        }
        std::thread::sleep(NAP);
    }
}

fn unusable(error: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_say_what_a_value_should_be() {
        let wanted = |rule, value, radio| Requirement::warn("X", rule, "").wanted(value, radio);
        assert_eq!(wanted(Rule::Any, -3.0, true), None);
        assert_eq!(wanted(Rule::Bits(8), 1.0, true), Some(9.0));
        assert_eq!(wanted(Rule::Bits(8), 12.0, true), None);
        assert_eq!(wanted(Rule::WithoutRadio(4), 0.0, true), None);
        assert_eq!(wanted(Rule::WithoutRadio(4), 0.0, false), Some(4.0));
        assert_eq!(wanted(Rule::Within(0.2, 5.0), 30.0, true), Some(5.0));
        assert_eq!(wanted(Rule::Within(0.2, 5.0), 3.0, true), None);
        assert_eq!(wanted(Rule::NoneOf(&[6, 7]), 7.0, true), Some(0.0));
        assert_eq!(wanted(Rule::NoneOf(&[6, 7]), 3.0, true), None);
        assert_eq!(wanted(Rule::OffOrAtLeast(5.0), 0.0, true), None);
        // PX4's COM_DISARM_PRFLT is off where it is negative.
        assert_eq!(wanted(Rule::OffOrAtLeast(5.0), -1.0, true), None);
        assert_eq!(wanted(Rule::OffOrAtLeast(5.0), 0.5, true), Some(5.0));
        assert_eq!(wanted(Rule::OffOrAtLeast(5.0), 10.0, true), None);
    }

    #[test]
    fn only_what_refuses_keeps_from_arming() {
        let checked = |requirement, value: Option<i32>, wanted| Checked {
            requirement,
            value: value.map(ParameterValue::I32),
            wanted,
            before: None,
        };
        let refuse = Requirement::refuse("GUID_OPTIONS", Rule::Bits(8), "why");
        let warn = Requirement::warn("COM_RCL_EXCEPT", Rule::Bits(4), "why");
        let parameters = CheckedParameters {
            all: vec![
                checked(warn, Some(0), Some(4.0)),
                checked(warn, None, None),
                checked(refuse, Some(8), None),
                checked(refuse, Some(1), Some(9.0)),
                checked(refuse, None, None),
            ],
            restored: Vec::new(),
        };
        let faults: Vec<_> = parameters.faults().collect();
        assert_eq!(
            faults,
            [
                "GUID_OPTIONS is 1, and should be 9: why",
                "GUID_OPTIONS is not known (why)"
            ]
        );
        assert_eq!(parameters.value("GUID_OPTIONS"), Some(8.0));
    }
}
