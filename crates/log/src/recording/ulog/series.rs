//! Samples of one quantity, and interpolation between them.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;

use fly_lie::{LieGroup as _, UnitQuaternion};
use fly_mavlink::frames;

use super::order::LeftOut;
use super::topics::{APART, Samples, Segment, Topics, too_much};

/// Samples this far from the others, ns, have corrupt time stamps.
pub const FAR: i64 = 4 * 3_600_000_000_000;
/// Memory per interval while intervals are counted, bytes.
const INTERVAL: u64 = 32;

/// Reads the samples of a segment in order of time, keeping one of those with equal times; `repeated` is given the times of
/// the others.
fn read<T>(
    source: &mut dyn Source<T>,
    segment: &Segment,
    samples: &mut Vec<(i64, T)>,
    mut repeated: impl FnMut(i64),
) -> io::Result<()> {
    samples.clear();
    source.read(segment, samples)?;
    samples.sort_by_key(|&(time, _)| time);
    samples.dedup_by(|later, kept| {
        let is_repeated = later.0 == kept.0;
        if is_repeated {
            repeated(kept.0);
        }
        is_repeated
    });
    Ok(())
}

/// Samples at increasing times, of which those around the last requested time are in memory.
///
/// Requests at increasing times read the file once from beginning to end.
pub struct Series<T> {
    source: Box<dyn Source<T>>,
    /// The segments; `first` and `last` are times of samples.
    segments: Vec<Segment>,
    /// Longest time between two samples that is interpolated across, ns.
    reach: i64,
    period: i64,
    /// Samples that are dropped because their times are those of others.
    repeated: LeftOut,
    /// The segments that are in memory.
    held: Range<usize>,
    times: Vec<i64>,
    values: Vec<T>,
}

impl<T> fmt::Debug for Series<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} segments", self.segments.len())
    }
}

/// A source of samples.
trait Source<T>: Send {
    /// Appends the samples of a segment in the order of the file.
    fn read(&mut self, segment: &Segment, into: &mut Vec<(i64, T)>) -> io::Result<()>;
}

struct Converted<const N: usize, F> {
    samples: Samples<N>,
    convert: F,
}

impl<T, const N: usize, F: Fn([f64; N]) -> Option<T> + Send> Source<T> for Converted<N, F> {
    fn read(&mut self, segment: &Segment, into: &mut Vec<(i64, T)>) -> io::Result<()> {
        let Self { samples, convert } = self;
        samples.visit(segment, |time, values| {
            into.extend(convert(values).map(|value| (time, value)));
        })
    }
}

/// A time between samples: indices of the samples before and after it (equal at a sample), and the fraction of the
/// interval, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    before: usize,
    after: usize,
    pub fraction: f64,
}

/// Median of the intervals, ns, and mean of those at most twice as long; 0 without any. `intervals` has how often each
/// occurs.
fn usual(intervals: &BTreeMap<i64, i64>) -> [i64; 2] {
    let half = intervals.values().sum::<i64>() / 2;
    let mut passed = 0;
    let median = intervals.iter().find_map(|(&interval, &count)| {
        passed += count;
        (passed > half).then_some(interval)
    });
    let Some(median) = median else { return [0; 2] };
    let usual = || intervals.range(..=median.saturating_mul(2));
    let time: i64 = usual().map(|(interval, count)| interval * count).sum();
    [median, time / usual().map(|(_, count)| count).sum::<i64>()]
}

impl<T: Copy + 'static> Series<T> {
    /// Reads samples in any order. Samples for which `convert` returns `None` are skipped; the rest is sorted, and one
    /// of two samples at the same time is dropped. `None` if nothing is left, or if the topic lacks a field.
    ///
    /// # Errors
    /// The file cannot be read, or [`io::ErrorKind::OutOfMemory`] if too many samples are out of order.
    pub fn new<const N: usize>(
        topics: &Topics,
        topic: &'static str,
        fields: [&str; N],
        convert: impl Fn([f64; N]) -> Option<T> + Send + 'static,
    ) -> io::Result<Option<Self>> {
        Self::with(topics, topic, fields, N, convert)
    }

    /// As [`new`](Self::new), but only the first `needed` fields must exist; others are NaN if the topic lacks them.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with<const N: usize>(
        topics: &Topics,
        topic: &'static str,
        fields: [&str; N],
        needed: usize,
        convert: impl Fn([f64; N]) -> Option<T> + Send + 'static,
    ) -> io::Result<Option<Self>> {
        let Some(samples) = topics.samples(topic, fields, needed) else {
            return Ok(None);
        };
        let most = topics.memory / 4;
        let segments = samples.segments();
        let each = size_of::<(i64, T)>() as u64;
        if let Some(segment) = segments.iter().find(|s| s.count * each > most) {
            let count = segment.count;
            return Err(too_much(format!(
                "{count} samples of {topic} are out of order"
            )));
        }
        let mut source = Box::new(Converted { samples, convert });
        let mut intervals = BTreeMap::new();
        let mut found: Vec<Segment> = Vec::new();
        let mut last = None;
        let mut repeated = LeftOut::new(topic);
        let mut samples = Vec::new();
        for segment in segments {
            read(&mut *source, &segment, &mut samples, |time| {
                repeated.extend(1, (time, time));
            })?;
            let mut is_new = true;
            for &(time, _) in &samples {
                let interval = last.map(|last| time - last);
                let is_apart = interval.is_some_and(|interval| interval > APART);
                if let Some(interval) = interval.filter(|_| !is_apart) {
                    *intervals.entry(interval).or_default() += 1;
                }
                last = Some(time);
                match found.last_mut() {
                    Some(open) if !is_new && !is_apart => {
                        open.last = time;
                        open.count += 1;
                    }
                    _ => {
                        let mut open = segment.clone();
                        (open.first, open.last, open.count) = (time, time, 1);
                        found.push(open);
                    }
                }
                is_new = false;
            }
            if intervals.len() as u64 * INTERVAL > most {
                let count = intervals.len();
                let what = format!("samples of {topic} have {count} different intervals");
                return Err(too_much(what));
            }
        }
        let [median, period] = usual(&intervals);
        Ok((!found.is_empty()).then(|| Self {
            source,
            segments: found,
            reach: (5 * median).max(300_000_000),
            period,
            repeated,
            held: 0..0,
            times: Vec::new(),
            values: Vec::new(),
        }))
    }

    /// Drops all but the largest part of the samples if there are gaps that are too long to be part of one flight, and
    /// tells what it dropped. Nothing may have been read before.
    pub fn drop_far(&mut self, topic: &'static str) -> Option<LeftOut> {
        let mut all = std::mem::take(&mut self.segments).into_iter().peekable();
        let mut left_out = LeftOut::new(topic);
        let count = |part: &[Segment]| part.iter().map(|segment| segment.count).sum::<u64>();
        let mut part: Vec<Segment> = Vec::new();
        while let Some(segment) = all.next() {
            let last = segment.last;
            part.push(segment);
            let next = all.peek().map(|next| next.first);
            if next.is_some_and(|next| next.saturating_sub(last) <= FAR) {
                continue;
            }
            let mut smaller = std::mem::take(&mut part);
            if count(&smaller) >= count(&self.segments) {
                std::mem::swap(&mut smaller, &mut self.segments);
            }
            for segment in smaller {
                left_out.extend(segment.count, (segment.first, segment.last));
            }
        }
        (left_out.count > 0).then_some(left_out)
    }

    /// Samples that are not used because their times are those of others, unless all of them are dropped as far away.
    pub fn repeated(&self) -> Option<LeftOut> {
        let ((first, last), (from, to)) = (self.span(), self.repeated.span);
        (from.max(first) <= to.min(last)).then_some(self.repeated)
    }

    /// Time of the first and of the last sample, ns.
    pub fn span(&self) -> (i64, i64) {
        let first = self.segments.first().map_or(0, |segment| segment.first);
        (
            first,
            self.segments.last().map_or(0, |segment| segment.last),
        )
    }

    /// Usual interval, ns: the mean of those at most twice the median, so that gaps are ignored; 0 for a single sample.
    pub const fn period(&self) -> i64 {
        self.period
    }

    /// Whether any value is accepted; checks values in order up to the first accepted one.
    pub fn any(&mut self, accept: impl Fn(&T) -> bool) -> io::Result<bool> {
        for segment in 0..self.segments.len() {
            self.hold(segment..segment + 1)?;
            if self.values.iter().any(&accept) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Loads the samples around `time` into memory: the last one before it, and the first one at or after it.
    fn reach(&mut self, time: i64) -> io::Result<()> {
        let after = self.segments.partition_point(|segment| segment.last < time);
        let after = after.min(self.segments.len() - 1);
        self.hold(after.saturating_sub(1)..after + 1)
    }

    /// Loads these segments into memory.
    fn hold(&mut self, wanted: Range<usize>) -> io::Result<()> {
        if self.held == wanted {
            return Ok(());
        }
        let kept = if self.held.contains(&wanted.start) && self.held.end < wanted.end {
            let first = self.segments[wanted.start].first;
            let passed = self.times.partition_point(|&time| time < first);
            self.times.drain(..passed);
            self.values.drain(..passed);
            self.held.end
        } else {
            self.times.clear();
            self.values.clear();
            wanted.start
        };
        // If reading fails, nothing is held.
        self.held = 0..0;
        let mut samples = Vec::new();
        for segment in &self.segments[kept..wanted.end] {
            read(&mut *self.source, segment, &mut samples, |_| ())?;
            let ends = [samples.first(), samples.last()].map(|end| end.map(|&(time, _)| time));
            if ends != [segment.first, segment.last].map(Some) {
                let what = "the log changed while it was read";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.times.extend(samples.iter().map(|&(time, _)| time));
            self.values.extend(samples.iter().map(|&(_, value)| value));
        }
        self.held = wanted;
        Ok(())
    }

    /// The samples around `time`; `None` outside the log and in gaps longer than five intervals and 0.3 s.
    pub fn place(&mut self, time: i64) -> io::Result<Option<Interval>> {
        self.reach(time)?;
        Ok(self.find(time))
    }

    fn find(&self, time: i64) -> Option<Interval> {
        let after = self.times.partition_point(|&t| t < time);
        if self.times.get(after) == Some(&time) {
            return Some(Interval {
                before: after,
                after,
                fraction: 0.0,
            });
        }
        let before = after.checked_sub(1)?;
        let gap = self.times.get(after)? - self.times[before];
        let fraction = (time - self.times[before]) as f64 / gap as f64;
        (gap <= self.reach).then_some(Interval {
            before,
            after,
            fraction,
        })
    }

    /// The samples at a place, with the time between them in seconds.
    pub fn around(&self, place: Interval) -> (T, T, f64) {
        let dt = (self.times[place.after] - self.times[place.before]) as f64 * 1e-9;
        (self.values[place.before], self.values[place.after], dt)
    }

    /// The sample closest in time, at any distance; the later one of two equally close ones.
    pub fn nearest(&mut self, time: i64) -> io::Result<T> {
        self.reach(time)?;
        let after = self
            .times
            .partition_point(|&t| t < time)
            .min(self.times.len() - 1);
        let before = after.saturating_sub(1);
        let later = self.times[after] - time <= time - self.times[before];
        Ok(self.values[if later { after } else { before }])
    }

    /// The last sample at or before `time`, of any age, with its own time.
    pub fn held(&mut self, time: i64) -> io::Result<Option<(i64, T)>> {
        self.reach(time)?;
        let after = self.times.partition_point(|&t| t <= time);
        Ok(after
            .checked_sub(1)
            .map(|last| (self.times[last], self.values[last])))
    }
}

impl<const N: usize> Series<[f64; N]> {
    /// Linear interpolation.
    pub fn linear(&mut self, time: i64) -> io::Result<Option<[f64; N]>> {
        Ok(self.place(time)?.map(|place| {
            let (a, b, _) = self.around(place);
            std::array::from_fn(|i| a[i] + place.fraction * (b[i] - a[i]))
        }))
    }
}

/// Position and velocity of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    /// Counts the estimator's resets of position and velocity, each horizontally and vertically.
    pub resets: [f64; 4],
}

impl Series<Motion> {
    /// Position by the cubic through positions and velocities, velocity linearly. No interpolation across an estimator
    /// reset.
    pub fn motion(&mut self, time: i64) -> io::Result<Option<Motion>> {
        let Some(place) = self.place(time)? else {
            return Ok(None);
        };
        let (a, b, dt) = self.around(place);
        if a.resets != b.resets {
            return self.nearest(time).map(Some);
        }
        let s = place.fraction;
        // Hermite's basis on [0, 1].
        let (h00, h10) = (
            (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s),
            s * (1.0 - s) * (1.0 - s),
        );
        let (h01, h11) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
        Ok(Some(Motion {
            position: std::array::from_fn(|i| {
                h00 * a.position[i]
                    + h10 * dt * a.velocity[i]
                    + h01 * b.position[i]
                    + h11 * dt * b.velocity[i]
            }),
            velocity: std::array::from_fn(|i| a.velocity[i] + s * (b.velocity[i] - a.velocity[i])),
            resets: a.resets,
        }))
    }
}

/// The attitude of FLU in NWU from a recorded quaternion w, x, y, z, NED from FRD; `None` if it is unknown.
pub fn rotation(q: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    UnitQuaternion::try_from(frames::nwu_flu_from_ned_frd(frames::normalized(q)?)).ok()
}

/// An attitude and the estimator's reset counter.
#[derive(Clone, Copy, Debug)]
pub struct Attitude {
    /// World from body.
    pub rotation: UnitQuaternion<f64>,
    pub resets: f64,
}

impl Series<Attitude> {
    /// Attitude on the shortest arc between the samples (slerp). No interpolation across an estimator reset.
    pub fn attitude(&mut self, time: i64) -> io::Result<Option<UnitQuaternion<f64>>> {
        let Some(place) = self.place(time)? else {
            return Ok(None);
        };
        let (a, b, _) = self.around(place);
        if a.resets != b.resets {
            return Ok(Some(self.nearest(time)?.rotation));
        }
        Ok(Some(a.rotation.interpolate(&b.rotation, place.fraction)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of `vehicle_local_position`: x to vz, and a counter of resets.
    type Row = [f64; 7];

    const FIELDS: [&str; 7] = ["x", "y", "z", "vx", "vy", "vz", "xy_reset_counter"];

    /// A series of samples with times in µs, read from a ULog.
    fn series<T: Copy + 'static>(
        samples: &[(u64, Row)],
        convert: fn(Row) -> Option<T>,
    ) -> Series<T> {
        let mut bytes = [&super::super::MAGIC[..], &[1; 9]].concat();
        let mut record = |kind: u8, body: &[u8]| {
            bytes.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
            bytes.push(kind);
            bytes.extend(body);
        };
        let fields = FIELDS.map(|field| format!("double {field};")).concat();
        let format = format!("vehicle_local_position:uint64_t timestamp;{fields}");
        record(b'F', format.as_bytes());
        record(b'A', b"\0\x07\0vehicle_local_position");
        for (time, row) in samples {
            let mut body = vec![7, 0];
            body.extend(time.to_le_bytes());
            body.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            record(b'D', &body);
        }
        let source = crate::recording::source::Source::Bytes(bytes.into());
        let topics = Topics::read(&source, 1 << 20).unwrap();
        let series = Series::new(&topics, "vehicle_local_position", FIELDS, convert);
        series.unwrap().unwrap()
    }

    /// A series of scalars, without those that are not finite.
    fn numbers(samples: &[(u64, f64)]) -> Series<[f64; 1]> {
        let row = |&(time, x): &(u64, f64)| (time, [x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let samples: Vec<_> = samples.iter().map(row).collect();
        series(&samples, |row| row[0].is_finite().then_some([row[0]]))
    }

    #[test]
    fn a_cubic_path_is_met_between_its_samples() {
        // x = t^3 - t, a cubic: Hermite's interpolation is exact.
        let sample = |k: u64| {
            let t = k as f64 * 0.1;
            let row = [t * t * t - t, 0.0, 0.0, 3.0 * t * t - 1.0, 0.0, 0.0, 0.0];
            (k * 100_000, row)
        };
        let samples: Vec<_> = (0..20).map(sample).collect();
        let mut series = series(&samples, |[x, y, z, vx, vy, vz, resets]| {
            Some(Motion {
                position: [x, y, z],
                velocity: [vx, vy, vz],
                resets: [resets, 0.0, 0.0, 0.0],
            })
        });
        for k in 0..190 {
            let t = f64::from(k) * 0.01;
            let motion = series.motion(i64::from(k) * 10_000_000).unwrap().unwrap();
            assert!((motion.position[0] - (t * t * t - t)).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn samples_are_ordered_and_far_ones_dropped() {
        let samples = [
            (300, 3.0),
            (100, 1.0),
            (150, f64::NAN),
            (200, 2.0),
            (200, 2.5),
        ];
        let far = [(20_000_000_000, 9.0), (u64::MAX, 8.0)];
        let mut series = numbers(&[&samples[..], &far].concat());
        let dropped = series.drop_far("topic").unwrap();
        assert_eq!((dropped.count, dropped.span.0), (2, 20_000_000_000_000));
        assert_eq!(series.drop_far("topic").map(|dropped| dropped.count), None);
        assert_eq!(series.span(), (100_000, 300_000));
        assert_eq!(series.linear(200_000).unwrap(), Some([2.0]));
        assert_eq!(series.linear(250_000).unwrap(), Some([2.5]));
        assert_eq!(series.linear(301_000).unwrap(), None);
        assert_eq!(series.period(), 100_000);
    }

    #[test]
    fn a_long_gap_is_not_bridged() {
        let mut series = numbers(&[(0, 0.0), (10_000, 1.0), (20_000, 2.0), (1_020_000, 3.0)]);
        assert_eq!(series.linear(15_000_000).unwrap(), Some([1.5]));
        assert_eq!(series.linear(500_000_000).unwrap(), None);
        assert_eq!(series.held(500_000_000).unwrap(), Some((20_000_000, [2.0])));
        assert_eq!(series.held(-1).unwrap(), None);
        assert_eq!(series.nearest(-1).unwrap(), [0.0]);
        assert_eq!(series.nearest(i64::MAX / 2).unwrap(), [3.0]);
    }

    /// Many pages, partly out of order: the result at each time equals that from all samples at once, in forward and in
    /// any other order.
    #[test]
    fn samples_of_many_pages_are_found_in_any_order() {
        let mut samples: Vec<(u64, f64)> = (0..20_000).map(|k| (k * 1000, k as f64)).collect();
        samples.swap(3000, 3015);
        samples.swap(100, 101);
        let mut series = numbers(&samples);
        assert!(series.segments.len() > 2, "{}", series.segments.len());
        assert_eq!(series.span(), (0, 19_999_000_000));
        let forwards = (0..39_990).map(|k| k * 500_000);
        let anywhere = (0..300).map(|k| (k * 7_919_000_000) % 19_990_000_000);
        for time in forwards.chain(anywhere) {
            let expected = time as f64 * 1e-6;
            let found = series.linear(time).unwrap().unwrap()[0];
            assert!((found - expected).abs() < 1e-6, "{found} at {expected}");
            let at = time - time % 1_000_000;
            assert_eq!(series.held(time).unwrap(), Some((at, [expected.floor()])));
            assert_eq!(series.nearest(time).unwrap(), [expected.round()]);
        }
        assert!(series.values.len() < 15_000, "{}", series.values.len());
        assert!(series.any(|value| value[0] == 9000.0).unwrap());
        assert!(!series.any(|value| value[0] == -1.0).unwrap());
    }

    /// Slerp takes the shorter way for either sign of a quaternion, and does not cross an estimator reset.
    #[test]
    fn halfway_of_a_quarter_turn_is_an_eighth() {
        let half = std::f64::consts::FRAC_PI_4;
        let halfway = |resets: [f64; 2]| {
            let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, resets[0]];
            let end = [-half.cos(), 0.0, 0.0, -half.sin(), 0.0, 0.0, resets[1]];
            let mut series = series(&[(0, start), (10, end)], |[w, x, y, z, _, _, resets]| {
                let rotation = UnitQuaternion::try_from([w, x, y, z]).ok()?;
                Some(Attitude { rotation, resets })
            });
            series.attitude(5000).unwrap().unwrap().log()
        };
        assert!((halfway([0.0; 2]).z - half).abs() < 1e-15);
        assert!((halfway([0.0, 1.0]).z - 2.0 * half).abs() < 1e-15);
    }
}
