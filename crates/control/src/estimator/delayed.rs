//! The filter at a horizon behind the present, so that delayed measurements come in their order.

use fly_lie::SE23;

use super::filter::InvariantFilter;
use super::measurement::{Measurement, Verdict};
use super::propagation::Imu;

/// Why a measurement or a sample was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Older than the horizon.
    #[error("older than the horizon of the filter")]
    TooOld,
    /// The memory is full of those that wait.
    #[error("too many measurements wait")]
    Full,
    /// A sample of the IMU that is not newer than the last one, or not finite.
    #[error("a sample of the IMU that is not newer than the last, or not finite")]
    Unusable,
}

/// An [`InvariantFilter`] that runs the largest delay behind the newest of at most `S` IMU samples; at most `M` measurements wait for it. Stamps are ns.
///
/// A sample holds from the one before it to its own stamp. Measurements that stand between two samples divide the step.
/// Nothing allocates. Without delay every call does what the plain filter does, bit for bit.
#[derive(Clone, Debug)]
pub struct Delayed<const S: usize, const M: usize> {
    filter: InvariantFilter,
    delay: i64,
    /// Where the filter is.
    time: i64,
    samples: [(i64, Imu); S],
    /// The oldest sample's place, and how many there are.
    first: usize,
    stored: usize,
    /// By stamp, those of one stamp by kind and source, then in the order of arrival.
    waiting: [Option<Waiting>; M],
    refused: u64,
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
    /// The caller's number of whoever measured it.
    pub source: usize,
    /// What was measured.
    pub measurement: &'a Measurement,
    /// What became of it.
    pub verdict: Verdict,
}

impl<const S: usize, const M: usize> Delayed<S, M> {
    /// The filter stands at the stamp `time`, ns.
    pub fn new(filter: InvariantFilter, time: i64) -> Self {
        let none = Imu {
            gyro: nalgebra::Vector3::zeros(),
            accelerometer: nalgebra::Vector3::zeros(),
        };
        Self {
            delay: nanoseconds(filter.delay()),
            filter,
            time,
            samples: [(time, none); S],
            first: 0,
            stored: 0,
            waiting: [None; M],
            refused: 0,
        }
    }

    /// The filter at its horizon.
    pub const fn filter(&self) -> &InvariantFilter {
        &self.filter
    }

    /// The horizon's stamp, ns.
    pub const fn time(&self) -> i64 {
        self.time
    }

    /// How many measurements were refused.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The extended pose at the newest sample, by the stored ones.
    pub fn present(&self) -> SE23<f64> {
        let (mut pose, mut time) = (*self.filter.pose(), self.time);
        for i in 0..self.stored {
            let (stamp, imu) = &self.samples[(self.first + i) % S];
            pose = self.filter.ahead(&pose, imu, seconds(stamp - time));
            time = *stamp;
        }
        pose
    }

    /// Takes a sample; the horizon moves on, with the measurements that it passes told to `judged`. Where the memory is full, the horizon
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
            n => self.samples[(self.first + n - 1) % S].0,
        };
        let mut numbers = imu.gyro.iter().chain(imu.accelerometer.iter());
        if stamp <= newest || !numbers.all(|x| x.is_finite()) {
            return Err(Refused::Unusable);
        }
        if self.stored == S {
            self.pass(&mut judged);
        }
        self.samples[(self.first + self.stored) % S] = (stamp, *imu);
        self.stored += 1;
        while self.stored > 0 && self.samples[self.first].0 <= stamp.saturating_sub(self.delay) {
            self.pass(&mut judged);
        }
        Ok(())
    }

    /// Takes a measurement of the time `stamp` by `source`, any number of the caller's. One of the horizon itself is used at once and told to `judged`, others
    /// wait.
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
        let key = |one: &Waiting| (one.stamp, one.measurement.kind(), one.source);
        let place = (self.waiting.iter())
            .position(|waiting| waiting.as_ref().is_none_or(|other| key(other) > key(&new)));
        match place {
            Some(place) if self.waiting[M - 1].is_none() => {
                self.waiting[place..].rotate_right(1);
                self.waiting[place] = Some(new);
                Ok(())
            }
            _ => {
                self.refused += 1;
                Err(Refused::Full)
            }
        }
    }

    /// The horizon passes the oldest sample, and the measurements up to it.
    fn pass(&mut self, judged: &mut impl FnMut(Judged)) {
        let (stamp, imu) = self.samples[self.first];
        while let Some(next) = self.waiting.first().copied().flatten() {
            if next.stamp > stamp {
                break;
            }
            self.advance(next.stamp, &imu);
            judged(Judged {
                stamp: next.stamp,
                source: next.source,
                measurement: &next.measurement,
                verdict: self.filter.correct(&next.measurement),
            });
            self.waiting[0] = None;
            self.waiting.rotate_left(1);
        }
        self.advance(stamp, &imu);
        self.first = (self.first + 1) % S;
        self.stored -= 1;
    }

    fn advance(&mut self, stamp: i64, imu: &Imu) {
        if stamp > self.time {
            self.filter.predict(imu, seconds(stamp - self.time));
            self.time = stamp;
        }
    }
}

/// Rounded up, so that a measurement as late as is allowed is not too old; the cast saturates.
#[allow(clippy::cast_possible_truncation)]
fn nanoseconds(seconds: f64) -> i64 {
    nalgebra::ComplexField::ceil(seconds * 1e9) as i64
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}
