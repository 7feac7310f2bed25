//! Finds samples whose time runs backwards.
//!
//! A few neighbours that are out of place have corrupt time stamps. If more go on from there, the clock was set back, or
//! parts of the file are out of order. Parts with different times are used in the order of time; of those with the same
//! times, only the longest one.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Samples may be out of order by this much, ns.
const JITTER: i64 = 20_000_000;
/// At most so many neighbours have corrupt time stamps.
const CORRUPT: usize = 4;
/// Parts may overlap by this much, ns: a logger does not write all topics in the order of time.
const OVERLAP: i64 = 100_000_000;

/// Time of a sample, ns, and the offset of its record.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub time: i64,
    pub offset: u64,
}

impl Stamp {
    /// Whether it may follow a sample of this time.
    const fn follows(self, time: i64) -> bool {
        self.time >= time.saturating_sub(JITTER)
    }
}

/// A place where a topic's clock is set back: the offsets of the samples before and after it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    before: u64,
    after: u64,
    /// By how much, ns.
    by: i64,
}

impl Step {
    /// Whether it may be at one of these offsets, which are in order: before the sample there.
    pub fn is_at(self, places: &[u64]) -> bool {
        let next = places.partition_point(|&place| place <= self.before);
        places.get(next).is_some_and(|&place| place <= self.after)
    }
}

/// The fewest offsets that explain all steps, in order.
pub fn places(mut steps: Vec<Step>) -> Vec<u64> {
    steps.sort_by_key(|step| step.after);
    let mut places: Vec<u64> = Vec::new();
    for step in steps {
        if places.last().is_none_or(|&place| place <= step.before) {
            places.push(step.after);
        }
    }
    places
}

/// Whether one of these ranges, which are in order, contains an offset.
pub fn contains(ranges: &[Range<u64>], offset: u64) -> bool {
    let next = ranges.partition_point(|range| range.end <= offset);
    ranges.get(next).is_some_and(|range| range.start <= offset)
}

/// The span that contains both.
pub fn around(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Of no samples.
const NOTHING: (i64, i64) = (i64::MAX, i64::MIN);

/// A part of the file in which time does not run backwards.
#[derive(Clone, Debug)]
pub struct Part {
    pub range: Range<u64>,
    /// The earliest and the latest time, ns.
    pub span: (i64, i64),
}

impl Part {
    /// The parts of a file between these offsets, which are in order, without samples yet.
    pub fn between(all: &Range<u64>, places: &[u64], more: &[u64]) -> Vec<Self> {
        let mut places = [&[all.start], places, more, &[all.end]].concat();
        places.sort_unstable();
        let part = |ends: &[u64]| Self {
            range: ends[0]..ends[1],
            span: NOTHING,
        };
        places.windows(2).map(part).collect()
    }

    /// Adds a sample to the part that contains its offset.
    pub fn extend(parts: &mut [Self], offset: u64, time: i64) {
        let place = parts.partition_point(|part| part.range.end <= offset);
        if let Some(part) = parts.get_mut(place) {
            part.span = around(part.span, (time, time));
        }
    }

    /// The longest parts that do not overlap in time, in the order of the file.
    pub fn longest(mut parts: Vec<Self>) -> Vec<Range<u64>> {
        parts.retain(|part| part.span.0 <= part.span.1);
        parts.sort_by_key(|part| std::cmp::Reverse(part.range.end - part.range.start));
        let (mut kept, mut spans) = (Vec::new(), BTreeMap::<i64, i64>::new());
        for Self { range, span } in parts {
            let (first, last) = span;
            let before = spans.range(..=first).next_back();
            let after = spans.range(first..).next();
            let is_after = |end: i64| first >= end.saturating_sub(OVERLAP);
            if before.is_none_or(|(_, &end)| is_after(end))
                && after.is_none_or(|(&start, _)| last <= start.saturating_add(OVERLAP))
            {
                spans.insert(first, last);
                kept.push(range);
            }
        }
        kept.sort_by_key(|range| range.start);
        kept
    }
}

/// Places where the clock of all topics is set back.
#[derive(Clone, Copy, Debug)]
pub struct Setback {
    count: usize,
    first: u64,
    by: i64,
}

impl Setback {
    /// From the steps of the topics, and the places that explain them.
    pub fn of(steps: &[Step], places: &[u64]) -> Option<Self> {
        Some(Self {
            count: places.len(),
            first: *places.first()?,
            by: steps.iter().map(|step| step.by).max().unwrap_or_default(),
        })
    }

    /// Tells them.
    pub fn words(&self) -> String {
        let Self { count, first, by } = self;
        let by = *by as f64 * 1e-9;
        match count {
            1 => format!("time runs backwards by {by:.3} s at byte {first}"),
            _ => format!(
                "time runs backwards at {count} places, the first at byte {first}, by up to {by:.3} s"
            ),
        }
    }
}

/// The order of a topic's samples.
#[derive(Debug, Default)]
pub struct Order {
    /// The last samples in order, at most one more than may be corrupt.
    recent: VecDeque<Stamp>,
    /// Neighbours that are earlier than those: out of place themselves, or the first after a step.
    earlier: Vec<Stamp>,
    pub steps: Vec<Step>,
    /// Offsets of samples that are out of place; in order once [finished](Self::finish).
    pub dropped: Vec<u64>,
    /// The parts of the file in which samples count, in order.
    pub kept: Vec<Range<u64>>,
    /// By how much a sample is earlier than the one before it, at most, ns.
    pub by: i64,
}

impl Order {
    /// Adds the next sample in the file; returns the number of new findings.
    pub fn add(&mut self, next: Stamp) -> usize {
        let found = self.steps.len() + self.dropped.len();
        match self.recent.back() {
            Some(&last) if !next.follows(last.time) => {
                self.by = self.by.max(last.time.saturating_sub(next.time));
                if (self.earlier.last()).is_some_and(|earlier| !next.follows(earlier.time)) {
                    self.drop_earlier();
                }
                self.earlier.push(next);
                if self.earlier.len() > CORRUPT {
                    self.go_back();
                }
            }
            _ => {
                self.drop_earlier();
                self.go_on(next);
            }
        }
        self.steps.len() + self.dropped.len() - found
    }

    /// A sample that follows the last one.
    fn go_on(&mut self, next: Stamp) {
        if (self.recent.back()).is_some_and(|last| next.time < last.time) {
            return;
        }
        if self.recent.len() > CORRUPT {
            self.recent.pop_front();
        }
        self.recent.push_back(next);
    }

    fn drop_earlier(&mut self) {
        self.dropped
            .extend(self.earlier.drain(..).map(|it| it.offset));
    }

    /// Goes on with the earlier samples: those in between are out of place if they are few, else the clock steps back.
    fn go_back(&mut self) {
        let earlier = std::mem::take(&mut self.earlier);
        let (Some(&last), Some(&first)) = (self.recent.back(), earlier.first()) else {
            return;
        };
        let fit = (self.recent.iter()).rposition(|recent| first.follows(recent.time));
        let fit = fit.map_or(0, |fit| fit + 1);
        if fit > 0 || self.recent.len() <= CORRUPT {
            let dropped = self.recent.drain(fit..);
            self.dropped.extend(dropped.map(|it| it.offset));
        } else {
            self.recent.clear();
            self.steps.push(Step {
                before: last.offset,
                after: first.offset,
                by: last.time.saturating_sub(first.time),
            });
        }
        for sample in earlier {
            self.go_on(sample);
        }
    }

    /// Ends the samples.
    pub fn finish(&mut self) {
        self.drop_earlier();
        self.dropped.sort_unstable();
    }

    /// Whether the sample at this offset counts.
    pub fn uses(&self, offset: u64) -> bool {
        contains(&self.kept, offset) && self.dropped.binary_search(&offset).is_err()
    }
}

/// Samples that are not used.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    pub topic: &'static str,
    pub count: u64,
    /// The earliest and the latest time, ns.
    pub span: (i64, i64),
}

impl LeftOut {
    /// None of a topic.
    pub const fn new(topic: &'static str) -> Self {
        Self {
            topic,
            count: 0,
            span: NOTHING,
        }
    }

    /// Adds samples within this span.
    pub fn extend(&mut self, count: u64, span: (i64, i64)) {
        self.count += count;
        self.span = around(self.span, span);
    }

    /// Tells them, for a log that starts at this time.
    pub fn words(&self, start: i64) -> String {
        let Self { topic, count, .. } = self;
        let samples = if *count == 1 { "sample" } else { "samples" };
        let seconds = |time: i64| time.saturating_sub(start) as f64 * 1e-9;
        let (from, to) = (seconds(self.span.0), seconds(self.span.1));
        format!("{topic}: {count} {samples} left out, stamped {from:.3} s to {to:.3} s")
    }
}

/// Samples that are not used because their topic's time runs backwards.
#[derive(Clone, Copy, Debug)]
pub struct Backwards {
    pub samples: LeftOut,
    /// By how much at most, ns.
    pub by: i64,
    /// Offset of the first one.
    pub offset: u64,
}

impl Backwards {
    /// Tells them, for a log that starts at this time.
    pub fn words(&self, start: i64) -> String {
        let (samples, by) = (self.samples.words(start), self.by as f64 * 1e-9);
        let offset = self.offset;
        let cause = match self.by {
            0 => "the clock runs backwards".to_owned(),
            _ => format!("time runs backwards by up to {by:.3} s"),
        };
        format!("{samples}, the first at byte {offset}: {cause}")
    }
}
