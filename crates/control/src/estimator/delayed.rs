//! The filter at a delayed horizon, so that it processes delayed measurements in time order.

use fly_lie::SE23;

use super::filter::InvariantFilter;
use super::gap::{Gaps, Unseen};
use super::measurement::{Measurement, Verdict};
use super::propagation::Imu;
use crate::time::{nanoseconds_up, seconds};

/// Why a measurement or a sample was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Older than the horizon.
    #[error("older than the horizon of the filter")]
    TooOld,
    /// The buffer of waiting measurements is full.
    #[error("too many measurements wait")]
    Full,
    /// An IMU sample that is not newer than the last one, or not finite.
    #[error("a sample of the IMU that is not newer than the last, or not finite")]
    Unusable,
}

/// An [`InvariantFilter`] that runs behind the newest of at most `S` IMU samples by the largest delay; at most `M` measurements wait for it. Stamps are
/// in ns.
///
/// A sample holds from the previous stamp to its own; where more than two samples are missing, with a variance for what the vehicle may have done meanwhile.
/// Measurements between two samples divide the step. Allocates nothing. Without delay and gaps every call is bitwise that of the plain filter.
#[derive(Clone, Debug)]
pub struct Delayed<const S: usize, const M: usize> {
    filter: InvariantFilter,
    delay: i64,
    /// The time of the filter.
    time: i64,
    samples: [Sample; S],
    /// The index of the oldest sample, and the number of samples.
    first: usize,
    stored: usize,
    /// The first `held` are sorted by stamp, for equal stamps by kind and source, then by arrival.
    waiting: [Option<Waiting>; M],
    held: usize,
    gaps: Gaps,
    refused: u64,
}

/// A sample of the IMU that holds for `step` s up to its stamp, ns.
#[derive(Clone, Copy, Debug)]
struct Sample {
    stamp: i64,
    imu: Imu,
    step: f64,
    unseen: Unseen,
}

/// A measurement that waits for the horizon.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    stamp: i64,
    source: usize,
    measurement: Measurement,
}

/// A measurement that the horizon has passed.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// When it was measured, ns.
    pub stamp: i64,
    /// The caller's number of its source.
    pub source: usize,
    /// The measurement.
    pub measurement: &'a Measurement,
    /// The filter's verdict on it.
    pub verdict: Verdict,
}

impl<const S: usize, const M: usize> Delayed<S, M> {
    /// Starts the filter at the stamp `time`, ns.
    pub fn new(filter: InvariantFilter, time: i64) -> Self {
        const {
            assert!(
                S > 0 && M > 0,
                "a filter remembers at least one sample and one measurement"
            );
        };
        let none = Sample {
            stamp: time,
            imu: Imu {
                gyro: nalgebra::Vector3::zeros(),
                accelerometer: nalgebra::Vector3::zeros(),
            },
            step: 0.0,
            unseen: Unseen::default(),
        };
        Self {
            // Rounded up: a measurement with exactly the largest delay is not too old.
            delay: nanoseconds_up(filter.delay()),
            filter,
            time,
            samples: [none; S],
            first: 0,
            stored: 0,
            waiting: [None; M],
            held: 0,
            gaps: Gaps::default(),
            refused: 0,
        }
    }

    /// Starts anew with this filter at the stamp `time`, ns, in place: the memory is more than a stack should hold twice.
    pub fn restart(&mut self, filter: InvariantFilter, time: i64) {
        self.delay = nanoseconds_up(filter.delay());
        (self.filter, self.time) = (filter, time);
        (self.first, self.stored, self.held) = (0, 0, 0);
        self.waiting.fill(None);
        (self.gaps, self.refused) = (Gaps::default(), 0);
    }

    /// The filter at its horizon.
    pub const fn filter(&self) -> &InvariantFilter {
        &self.filter
    }

    /// The horizon's stamp, ns.
    pub const fn time(&self) -> i64 {
        self.time
    }

    /// The number of rejected measurements.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The extended pose at the newest sample, propagated with the buffered samples.
    pub fn present(&self) -> SE23<f64> {
        let (mut pose, mut time) = (*self.filter.pose(), self.time);
        for Sample { stamp, imu, .. } in self.ahead() {
            pose = (self.filter).ahead(&pose, imu, seconds(stamp.saturating_sub(time)));
            time = *stamp;
        }
        pose
    }

    /// The samples ahead of the horizon, from the oldest.
    fn ahead(&self) -> impl Iterator<Item = &Sample> {
        (0..self.stored).map(|i| &self.samples[(self.first + i) % S])
    }

    /// Standard deviations of attitude, rad, and velocity, m/s, for what the vehicle may have done in gaps of the IMU ahead of the horizon. Those of the
    /// [`filter`](Self::filter) do not contain it yet.
    pub fn unseen(&self) -> [f64; 2] {
        let all = self.ahead().fold([0.0; 2], |[turn, velocity], sample| {
            let Unseen {
                turn: t,
                velocity: v,
            } = sample.unseen;
            [turn + t, velocity + v]
        });
        all.map(nalgebra::ComplexField::sqrt)
    }

    /// Adds a sample and advances the horizon; `judged` receives the measurements that it passes. If the buffer is full, the horizon
    /// passes the oldest sample early.
    ///
    /// # Errors
    /// [`Refused::Unusable`].
    pub fn sample(
        &mut self,
        stamp: i64,
        imu: &Imu,
        mut judged: impl FnMut(Judged),
    ) -> Result<(), Refused> {
        let newest = match self.stored {
            0 => self.time,
            n => self.samples[(self.first + n - 1) % S].stamp,
        };
        let mut numbers = imu.gyro.iter().chain(imu.accelerometer.iter());
        if stamp <= newest || !numbers.all(|x| x.is_finite()) {
            return Err(Refused::Unusable);
        }
        if self.stored == S {
            self.pass(&mut judged);
        }
        let interval = stamp.saturating_sub(newest);
        self.samples[(self.first + self.stored) % S] = Sample {
            stamp,
            imu: *imu,
            step: seconds(interval),
            unseen: self.gaps.next(interval),
        };
        self.stored += 1;
        while self.stored > 0 && self.samples[self.first].stamp <= stamp.saturating_sub(self.delay)
        {
            self.pass(&mut judged);
        }
        Ok(())
    }

    /// Adds a measurement stamped `stamp` from `source`, a number that the caller chooses. One at the horizon is used at once and passed to `judged`; later
    /// ones wait.
    ///
    /// # Errors
    /// [`Refused::TooOld`], [`Refused::Full`]; both are counted.
    pub fn measure(
        &mut self,
        stamp: i64,
        source: usize,
        measurement: &Measurement,
        mut judged: impl FnMut(Judged),
    ) -> Result<(), Refused> {
        if stamp < self.time {
            self.refused += 1;
            return Err(Refused::TooOld);
        }
        if stamp == self.time {
            judged(Judged {
                stamp,
                source,
                measurement,
                verdict: self.filter.correct(measurement),
            });
            return Ok(());
        }
        let new = Waiting {
            stamp,
            source,
            measurement: *measurement,
        };
        if self.held == M {
            self.refused += 1;
            return Err(Refused::Full);
        }
        let key = |one: &Waiting| (one.stamp, one.measurement.kind(), one.source);
        let place = self.waiting[..self.held]
            .partition_point(|other| other.as_ref().is_some_and(|other| key(other) <= key(&new)));
        self.held += 1;
        self.waiting[place..self.held].rotate_right(1);
        self.waiting[place] = Some(new);
        Ok(())
    }

    /// Advances the horizon past the oldest sample, and the measurements up to it.
    fn pass(&mut self, judged: &mut impl FnMut(Judged)) {
        let sample = self.samples[self.first];
        let stamp = sample.stamp;
        while let Some(next) = self.waiting.first().copied().flatten() {
            if next.stamp > stamp {
                break;
            }
            self.advance(next.stamp, &sample);
            judged(Judged {
                stamp: next.stamp,
                source: next.source,
                measurement: &next.measurement,
                verdict: self.filter.correct(&next.measurement),
            });
            self.waiting[0] = None;
            self.waiting[..self.held].rotate_left(1);
            self.held -= 1;
        }
        self.advance(stamp, &sample);
        self.first = (self.first + 1) % S;
        self.stored -= 1;
    }

    fn advance(&mut self, stamp: i64, sample: &Sample) {
        if stamp > self.time {
            let step = seconds(stamp.saturating_sub(self.time));
            let unseen = sample.unseen.densities(sample.step);
            self.filter.predict_through(&sample.imu, step, unseen);
            self.time = stamp;
        }
    }
}
