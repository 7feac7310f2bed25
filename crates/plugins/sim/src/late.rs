//! Samples of a group that a fault holds up.

use std::collections::VecDeque;

use crate::sensors::Arrival;

/// Samples on their way, the oldest first.
#[derive(Default)]
pub(crate) struct Late {
    /// When each arrives, ns, and what it is.
    samples: VecDeque<(i64, Arrival)>,
    values: VecDeque<f64>,
}

impl Late {
    /// Holds up a sample until `arrives`, ns.
    pub(crate) fn hold(&mut self, arrives: i64, arrival: Arrival, values: &[f64]) {
        // A shorter delay overtakes a longer one.
        while (self.samples.pop_back_if(|(later, _)| *later > arrives)).is_some() {
            self.values.truncate(self.values.len() - values.len());
        }
        self.samples.push_back((arrives, arrival));
        self.values.extend(values);
    }

    /// The newest sample that has arrived by now, ns.
    pub(crate) fn release(&mut self, now: i64, values: &mut [f64]) -> Option<Arrival> {
        let mut newest = None;
        while let Some((_, arrival)) = self.samples.pop_front_if(|(arrives, _)| *arrives <= now) {
            let of_sample = self.values.drain(..values.len());
            values
                .iter_mut()
                .zip(of_sample)
                .for_each(|(to, value)| *to = value);
            newest = Some(arrival);
        }
        newest
    }

    /// Others have overtaken them.
    pub(crate) fn forget(&mut self) {
        self.samples.clear();
        self.values.clear();
    }
}
