//! Index of the topics' samples in the file, and the parameters.
//!
//! The samples stay in the file. For each topic and each [page](PAGE) of the file, the index holds the time span of the
//! samples, so that any part of a flight can be found without having all of it in memory, whatever the order of its
//! samples.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::REQUIRED;
use super::fields::WANTED;
use super::formats::{Formats, Layout, Number};
use super::order::{
    Backwards, LeftOut, Order, Part, Setback, Stamp, Step, around, contains, places,
};
use super::records::{Damage, LEVELS, Record, RecordSpan, Visitor, Walker, is_known, scan};
use crate::recording::source::Source;

/// Bytes of a page of the index.
const PAGE: u64 = 1 << 18;
/// Largest number of time spans of a topic's samples in one page; further samples extend the last one.
const MAX_STRETCHES: usize = 8;
/// Samples this far apart, ns, belong to different spans.
pub const APART: i64 = 60_000_000_000;
/// Memory of a parameter besides its name, bytes.
const PARAMETER: usize = 64;

/// A part of the file, read in one go.
#[derive(Clone, Copy, Debug)]
struct Page {
    from: RecordSpan,
    until: u64,
}

/// Samples of a topic in one page that are close in time.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The earliest, ns.
    first: i64,
    /// The latest, ns.
    last: i64,
    count: u32,
    page: u32,
}

/// A logged topic.
#[derive(Debug)]
struct Topic {
    layout: Layout,
    stretches: Vec<Stretch>,
    order: Order,
}

/// The topic that a sample's number refers to, and from which offset of the file on.
#[derive(Clone, Copy, Debug)]
struct Subscription {
    topic: &'static str,
    since: u64,
}

/// Lengths of the samples of a number, and from which offset of the file on they are known.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    /// As the format says.
    declared: Option<(usize, u64)>,
    /// As they are, where that is another.
    seen: Option<(usize, u64)>,
}

impl Lengths {
    /// Whether this length is known from before an offset.
    fn contain(&self, length: usize, before: u64) -> bool {
        let mut known = [self.declared, self.seen].into_iter().flatten();
        known.any(|(known, since)| known == length && since < before)
    }
}

/// Index of the samples. They stay in the file; the index has their times per topic and page.
#[derive(Debug)]
struct Index {
    source: Source,
    pages: Vec<Page>,
    topics: BTreeMap<&'static str, Topic>,
    subscriptions: BTreeMap<u16, Subscription>,
    /// Of all topics, wanted or not: they tell samples from damage.
    lengths: BTreeMap<u16, Lengths>,
}

/// Visits the records of a file that is in the index.
struct Again<'a, F> {
    index: &'a Index,
    visit: F,
}

impl<F: FnMut(RecordSpan, Record<'_>)> Visitor for Again<'_, F> {
    fn visit(&mut self, place: RecordSpan, record: Record<'_>) {
        (self.visit)(place, record);
    }

    fn is_sample(&self, number: u16, length: usize, before: u64) -> bool {
        self.index.is_sample(number, length, before)
    }
}

/// A sample of a wanted topic: its time, ns, and its fields.
struct Sample<'a> {
    topic: &'static str,
    time: i64,
    data: &'a [u8],
}

impl Index {
    /// The topic and data of a sample, if wanted; an error if the data's length differs from the declared one.
    fn sample<'a>(&self, start: u64, body: &'a [u8]) -> Result<Option<Sample<'a>>, ()> {
        let (number, data) = body.split_first_chunk().ok_or(())?;
        let number = u16::from_le_bytes(*number);
        let Some(subscription) = self.subscriptions.get(&number) else {
            return Ok(None);
        };
        let Some(topic) = self.topics.get(subscription.topic) else {
            return Ok(None);
        };
        if start < subscription.since {
            return Ok(None);
        }
        if data.len() != topic.layout.size {
            return Err(());
        }
        let time = |offset: usize| Some(u64::from_le_bytes(*data.get(offset..)?.first_chunk()?));
        // The sampling time, if the topic contains it, else the publication time.
        let sampled = (topic.layout.sampled.and_then(time)).filter(|&time| time > 0);
        let time = sampled.or_else(|| time(topic.layout.timestamp)).ok_or(())?;
        // A time that overflows is corrupt and far from all others.
        let time = i64::try_from(time).unwrap_or(i64::MAX / 1000);
        Ok(Some(Sample {
            topic: subscription.topic,
            time: time.saturating_mul(1000),
            data,
        }))
    }
}

impl Index {
    /// Whether the sample at this offset counts.
    fn uses(&self, topic: &str, offset: u64) -> bool {
        let order = self.topics.get(topic).map(|topic| &topic.order);
        order.is_some_and(|order| order.uses(offset))
    }

    /// Whether samples of this number have this length, by the records that start before this offset.
    fn is_sample(&self, number: u16, length: usize, before: u64) -> bool {
        let lengths = self.lengths.get(&number);
        lengths.is_some_and(|lengths| lengths.contain(length, before))
    }

    /// Visits all records once more.
    fn scan(&self, visit: impl FnMut(RecordSpan, Record<'_>)) -> io::Result<()> {
        scan(&self.source, &mut Again { index: self, visit })?;
        Ok(())
    }

    /// Decides which samples count if time runs backwards, the same for all topics: those of the longest part of the
    /// file in which it does not, and of the parts whose times do not overlap it. Tells what it found.
    fn keep_one_time(&mut self) -> io::Result<(Option<Setback>, Vec<Backwards>)> {
        for topic in self.topics.values_mut() {
            topic.order.finish();
        }
        let required = REQUIRED.iter().filter_map(|name| self.topics.get(name));
        let steps: Vec<Step> = required
            .flat_map(|topic| &topic.order.steps)
            .copied()
            .collect();
        let all = 0..self.source.len();
        let common = places(steps.clone());
        let mut is_whole = true;
        let mut parts = BTreeMap::new();
        for (&name, topic) in &mut self.topics {
            let order = &mut topic.order;
            order.kept = vec![all.clone()];
            let steps = order.steps.iter().copied();
            // Steps of this topic alone.
            let own = places(steps.filter(|step| !step.is_at(&common)).collect());
            is_whole &= common.is_empty() && own.is_empty() && order.dropped.is_empty();
            parts.insert(name, (!own.is_empty(), Part::between(&all, &common, &own)));
        }
        if is_whole {
            return Ok((None, Vec::new()));
        }
        self.scan(|place, record| {
            if let Some((topic, time)) = self.stamp(place, record)
                && self.uses(topic, place.start)
                && let Some((_, parts)) = parts.get_mut(topic)
            {
                Part::extend(parts, place.start, time);
            }
        })?;
        let mut of_all = Part::between(&all, &common, &[]);
        for part in REQUIRED.iter().filter_map(|name| parts.get(name)) {
            for (of_all, part) in of_all.iter_mut().zip(&part.1) {
                of_all.span = around(of_all.span, part.span);
            }
        }
        let kept = Part::longest(of_all);
        for (name, topic) in &mut self.topics {
            if let Some((true, mut parts)) = parts.remove(name) {
                parts.retain(|part| contains(&kept, part.range.start));
                topic.order.kept = Part::longest(parts);
            } else {
                topic.order.kept.clone_from(&kept);
            }
        }
        let mut left_out = BTreeMap::new();
        self.scan(|place, record| {
            if let Some((topic, time)) = self.stamp(place, record)
                && let Some(order) = self.topics.get(topic).map(|topic| &topic.order)
                && !order.uses(place.start)
            {
                let found = left_out.entry(topic).or_insert(Backwards {
                    samples: LeftOut::new(topic),
                    by: order.by,
                    offset: place.start,
                });
                found.samples.extend(1, (time, time));
            }
        })?;
        // Pages without samples that count would only make segments longer.
        for topic in self.topics.values_mut() {
            let kept = &topic.order.kept;
            topic.stretches.retain(|stretch| {
                let page = self.pages[stretch.page as usize];
                let overlaps =
                    |part: &Range<u64>| page.from.start < part.end && part.start < page.until;
                kept.iter().any(overlaps)
            });
        }
        let left_out = left_out.into_values().collect();
        Ok((Setback::of(&steps, &common), left_out))
    }

    /// Topic and time of a record, if it is a sample of a wanted topic.
    fn stamp(&self, place: RecordSpan, record: Record) -> Option<(&'static str, i64)> {
        let body = (record.kind == b'D').then(|| record.body())?;
        let sample = self.sample(place.start, body).ok()??;
        Some((sample.topic, sample.time))
    }
}

/// The contents of a file: an index of the samples, and the parameters.
#[derive(Debug)]
pub struct Topics {
    index: Arc<Index>,
    /// Parameters as they were at the start.
    parameters: BTreeMap<String, f64>,
    /// The first other instance of each topic: only instance 0 is read.
    others: BTreeMap<&'static str, u8>,
    /// Records that could not be parsed.
    pub bad_records: usize,
    /// Places where the chain of records broke.
    pub damage: Damage,
    /// Time during which the logger lost data, s.
    pub dropout: f64,
    /// Memory limit for each part that is kept, bytes.
    pub memory: u64,
    /// Places where the clock is set back.
    pub setback: Option<Setback>,
    /// Samples that are not used because their time runs backwards.
    pub backwards: Vec<Backwards>,
}

impl Topics {
    /// Layout of a topic, if it has samples.
    fn layout(&self, topic: &str) -> Option<&Layout> {
        let topic = self.index.topics.get(topic);
        let topic = topic.filter(|topic| !topic.stretches.is_empty());
        topic.map(|topic| &topic.layout)
    }

    /// Whether the topic has samples.
    pub fn has(&self, topic: &str) -> bool {
        self.layout(topic).is_some()
    }

    /// An instance of a topic that is not read.
    pub fn other_instance(&self, topic: &str) -> Option<u8> {
        self.others.get(topic).copied()
    }

    /// A parameter's value at the start.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.get(name).copied()
    }

    /// These fields of the topic's samples; `None` if it has no samples, or lacks one of the first `needed` fields. Other
    /// fields that it lacks are NaN.
    pub fn samples<const N: usize>(
        &self,
        topic: &'static str,
        fields: [&str; N],
        needed: usize,
    ) -> Option<Samples<N>> {
        let layout = self.layout(topic)?;
        let mut columns = [None; N];
        for (i, (column, field)) in columns.iter_mut().zip(fields).enumerate() {
            let found = layout.fields.iter().find(|(name, ..)| *name == field);
            *column = found.map(|&(_, number, offset)| (number, offset));
            if i < needed && column.is_none() {
                return None;
            }
        }
        Some(Samples {
            walker: Walker::new(&self.index.source),
            index: Arc::clone(&self.index),
            topic,
            columns,
        })
    }

    /// Reads a file, which starts with the magic bytes. The parts that are kept may use up to `memory` bytes.
    ///
    /// # Errors
    /// The file cannot be read, or [`io::ErrorKind::OutOfMemory`].
    pub fn read(source: &Source, memory: u64) -> io::Result<Self> {
        let mut reader = Reader {
            index: Index {
                source: source.clone(),
                pages: Vec::new(),
                topics: BTreeMap::new(),
                subscriptions: BTreeMap::new(),
                lengths: BTreeMap::new(),
            },
            parameters: BTreeMap::new(),
            others: BTreeMap::new(),
            formats: Formats::default(),
            bad_records: 0,
            dropout: 0.0,
            taken: 0,
            most: memory,
        };
        let damage = scan(source, &mut reader)?;
        if reader.taken > memory {
            let taken = reader.taken;
            return Err(too_much(format!(
                "its index and parameters are {taken} bytes"
            )));
        }
        let (setback, backwards) = reader.index.keep_one_time()?;
        for topic in reader.index.topics.values_mut() {
            topic.stretches.sort_by_key(|stretch| stretch.first);
        }
        Ok(Self {
            index: Arc::new(reader.index),
            parameters: reader.parameters,
            others: reader.others,
            bad_records: reader.bad_records,
            damage,
            dropout: reader.dropout,
            memory,
            setback,
            backwards,
        })
    }
}

/// The error for exceeding the memory limit.
pub fn too_much(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}

/// Collects the wanted topics.
struct Reader {
    index: Index,
    parameters: BTreeMap<String, f64>,
    others: BTreeMap<&'static str, u8>,
    formats: Formats,
    bad_records: usize,
    dropout: f64,
    /// Bytes that the index and the parameters use, or would use.
    taken: u64,
    most: u64,
}

impl Visitor for Reader {
    fn visit(&mut self, place: RecordSpan, record: Record<'_>) {
        if self.record(place, record).is_none() {
            self.bad_records += 1;
        }
    }

    fn is_sample(&self, number: u16, length: usize, before: u64) -> bool {
        self.index.is_sample(number, length, before)
    }
}

impl Reader {
    /// Processes a record; `None` if it is invalid.
    fn record(&mut self, place: RecordSpan, record: Record) -> Option<()> {
        let body = record.body();
        match record.kind {
            b'F' => self.formats.add(body).then_some(()),
            b'A' => self.subscription(place, body),
            b'D' => self.sample(place, body),
            b'P' => self.parameter(body),
            b'O' => {
                let milliseconds = u16::from_le_bytes(*body.first_chunk()?);
                self.dropout += f64::from(milliseconds) * 1e-3;
                Some(())
            }
            b'L' | b'C' => LEVELS.contains(body.first()?).then_some(()),
            // A sample whose kind is damaged, rather than a record of the format's future.
            kind if !is_known(kind) => {
                let sample = body.split_first_chunk();
                let is_sample = sample.is_some_and(|(number, data)| {
                    self.is_sample(u16::from_le_bytes(*number), data.len(), place.start)
                });
                (!is_sample).then_some(())
            }
            _ => Some(()),
        }
    }

    /// Whether this many more bytes may be kept; they are counted in any case.
    const fn take(&mut self, bytes: usize) -> bool {
        self.taken += bytes as u64;
        self.taken <= self.most
    }

    /// Instance, number and name of a topic.
    fn subscription(&mut self, place: RecordSpan, body: &[u8]) -> Option<()> {
        let (&[instance, low, high], name) = body.split_first_chunk()?;
        let name = std::str::from_utf8(name).ok()?;
        let number = u16::from_le_bytes([low, high]);
        let lengths = self.index.lengths.entry(number).or_default();
        if lengths.declared.is_none() {
            let layout = self.formats.layout(name, &[]);
            lengths.declared = layout.map(|layout| (layout.size, place.start));
        }
        let Some(&(topic, fields)) = WANTED.iter().find(|(topic, _)| *topic == name) else {
            return Some(());
        };
        if instance != 0 {
            self.others.entry(topic).or_insert(instance);
            return Some(());
        }
        let Index {
            topics,
            subscriptions,
            ..
        } = &mut self.index;
        if !topics.contains_key(topic) {
            let layout = self.formats.layout(topic, &fields.concat())?;
            let topic_data = Topic {
                layout,
                stretches: Vec::new(),
                order: Order::default(),
            };
            topics.insert(topic, topic_data);
        }
        let since = place.start;
        // A number refers to one topic throughout a log.
        let known = subscriptions
            .entry(number)
            .or_insert(Subscription { topic, since });
        (known.topic == topic).then_some(())
    }

    fn sample(&mut self, place: RecordSpan, body: &[u8]) -> Option<()> {
        let (number, data) = body.split_first_chunk()?;
        let number = u16::from_le_bytes(*number);
        if !self.is_sample(number, data.len(), place.start) {
            let lengths = self.index.lengths.entry(number).or_default();
            lengths.seen.get_or_insert((data.len(), place.start));
        }
        let Some(Sample { topic, time, .. }) = self.index.sample(place.start, body).ok()? else {
            return Some(());
        };
        let pages = &mut self.index.pages;
        let until = place.start + 1;
        match pages.last_mut() {
            Some(page) if page.from.end == place.end && until - page.from.start <= PAGE => {
                page.until = until;
            }
            _ => {
                let page = Page { from: place, until };
                if !self.take(size_of::<Page>()) {
                    return Some(());
                }
                self.index.pages.push(page);
            }
        }
        let page = u32::try_from(self.index.pages.len() - 1).ok()?;
        let found = self.index.topics.get_mut(topic)?;
        let findings = found.order.add(Stamp {
            time,
            offset: place.start,
        });
        if findings > 0 && !self.take(findings * size_of::<Step>()) {
            return Some(());
        }
        let stretches = &mut self.index.topics.get_mut(topic)?.stretches;
        let before = stretches
            .iter()
            .rev()
            .take_while(|stretch| stretch.page == page)
            .count();
        let start = stretches.len() - before;
        let near = |stretch: &Stretch| {
            time >= stretch.first.saturating_sub(APART)
                && time <= stretch.last.saturating_add(APART)
        };
        let found = stretches[start..].iter().position(near);
        let found = found.or_else(|| (before == MAX_STRETCHES).then(|| before - 1));
        if let Some(found) = found {
            let stretch = &mut stretches[start + found];
            stretch.first = stretch.first.min(time);
            stretch.last = stretch.last.max(time);
            stretch.count += 1;
            return Some(());
        }
        let stretch = Stretch {
            first: time,
            last: time,
            count: 1,
            page,
        };
        // A span becomes at most one segment.
        if self.take(size_of::<Stretch>() + size_of::<Segment>()) {
            self.index.topics.get_mut(topic)?.stretches.push(stretch);
        }
        Some(())
    }

    /// Parses length and text `float NAME` or `int32_t NAME`, then the value.
    fn parameter(&mut self, body: &[u8]) -> Option<()> {
        let (&length, rest) = body.split_first()?;
        let (key, value) = rest.split_at_checked(usize::from(length))?;
        let value: [u8; 4] = value.try_into().ok()?;
        let (kind, name) = std::str::from_utf8(key).ok()?.split_once(' ')?;
        let value = match kind {
            "float" => f64::from(f32::from_le_bytes(value)),
            "int32_t" => f64::from(i32::from_le_bytes(value)),
            _ => return None,
        };
        // The first value is the initial one; later ones are changes in flight.
        if !self.parameters.contains_key(name) && self.take(PARAMETER + name.len()) {
            self.parameters.insert(name.to_owned(), value);
        }
        Some(())
    }
}

/// Samples of a topic that are all later than those of the previous segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The earliest, ns.
    pub first: i64,
    /// The latest, ns.
    pub last: i64,
    /// Upper bound of the number of samples.
    pub count: u64,
    /// Its time spans in the index.
    stretches: Range<usize>,
}

/// Some fields of the samples of a topic, read from the file.
#[derive(Debug)]
pub struct Samples<const N: usize> {
    index: Arc<Index>,
    walker: Walker,
    /// Name of the topic.
    pub topic: &'static str,
    columns: [Option<(Number, usize)>; N],
}

impl<const N: usize> Samples<N> {
    fn stretches(&self) -> &[Stretch] {
        let topic = self.index.topics.get(self.topic);
        topic.map_or(&[], |topic| &topic.stretches)
    }

    /// The segments in order of time.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for (i, stretch) in self.stretches().iter().enumerate() {
            let (first, last, count) = (stretch.first, stretch.last, u64::from(stretch.count));
            match segments.last_mut() {
                Some(segment) if first <= segment.last => {
                    segment.last = segment.last.max(last);
                    segment.count += count;
                    segment.stretches.end = i + 1;
                }
                _ => segments.push(Segment {
                    first,
                    last,
                    count,
                    stretches: i..i + 1,
                }),
            }
        }
        segments
    }

    /// Visits the samples of a segment in file order.
    pub fn visit(
        &mut self,
        segment: &Segment,
        mut visit: impl FnMut(i64, [f64; N]),
    ) -> io::Result<()> {
        let stretches = &self.stretches()[segment.stretches.clone()];
        let mut pages: Vec<u32> = stretches.iter().map(|stretch| stretch.page).collect();
        pages.sort_unstable();
        pages.dedup();
        for page in pages {
            let Page { from, until } = self.index.pages[page as usize];
            let index = &self.index;
            let visit = |place: RecordSpan, record: Record<'_>| {
                if record.kind == b'D'
                    && let Ok(Some(Sample { topic, time, data })) =
                        index.sample(place.start, record.body())
                    && topic == self.topic
                    && (segment.first..=segment.last).contains(&time)
                    && index.uses(topic, place.start)
                {
                    let value = |column: Option<(Number, usize)>| {
                        column.map_or(f64::NAN, |(number, offset)| {
                            number.read(data.get(offset..).unwrap_or_default())
                        })
                    };
                    visit(time, self.columns.map(value));
                }
            };
            self.walker
                .again(from, until, &mut Again { index, visit })?;
        }
        Ok(())
    }

    /// Visits all samples.
    pub fn visit_all(&mut self, mut visit: impl FnMut([f64; N])) -> io::Result<()> {
        for segment in self.segments() {
            self.visit(&segment, |_, values| visit(values))?;
        }
        Ok(())
    }
}
