//! What the vehicle says of what has become of it.

use super::{Hold, SECOND, Session};

/// Warnings this long before a mode change may be its reason, ns.
const REASON: i64 = 3 * SECOND;

/// So may what it says without a warning, if it comes this long before, ns.
const REMARK: i64 = 3 * SECOND / 2;

/// ArduCopter says why it has changed its mode after the heartbeat that tells so, within this, ns.
const EXPLAINS: i64 = SECOND / 2;

/// An event whose reasons may still come.
pub(super) struct Unexplained {
    what: String,
    /// When it happened, ns.
    at: i64,
    /// Whether what it says without a warning may be a reason: a pilot's sticks are none to warn.
    counts_remarks: bool,
    /// As it was told.
    told: String,
}

impl Session {
    /// An event at `now`, ns, with the reasons that have come so far.
    pub(super) fn with_reasons(&mut self, what: String, counts_remarks: bool, now: i64) -> String {
        let told = self.why(&what, counts_remarks, now);
        self.unexplained = Some(Unexplained {
            what,
            at: now,
            counts_remarks,
            told: told.clone(),
        });
        told
    }

    fn why(&self, what: &str, counts_remarks: bool, now: i64) -> String {
        let (since, until) = (now.saturating_sub(REASON), now.saturating_add(EXPLAINS));
        let mut reasons = self.health.reasons_between(since, until);
        if reasons.is_empty() && counts_remarks {
            let since = now.saturating_sub(REMARK);
            reasons = self.health.remarks_between(since, until);
        }
        if reasons.is_empty() {
            what.to_owned()
        } else {
            format!("{what}, saying: {reasons}")
        }
    }

    /// Until when, ns, the vehicle may still say why it was lost, or how it has landed.
    pub fn explains_until(&self) -> Option<i64> {
        (self.unexplained.as_ref()).map(|event| event.at.saturating_add(EXPLAINS))
    }

    /// Adds the reasons that came after the event.
    pub fn explain(&mut self) {
        let Some(event) = self.unexplained.take() else {
            return;
        };
        let full = self.why(&event.what, event.counts_remarks, event.at);
        if full == event.told {
            return;
        }
        tracing::error!("{full}");
        let told = self.events.iter_mut().filter(|it| **it == event.told);
        told.for_each(|it| it.clone_from(&full));
        if let Hold::Lost(why) = &mut self.hold {
            *why = full;
        }
    }
}
