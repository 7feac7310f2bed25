//! Samples of one quantity, and its value at any time between them.

use fly_lie::{LieGroup as _, UnitQuaternion};
use fly_mavlink::frames;

/// Samples at increasing times.
#[derive(Clone, Debug)]
pub struct Series<T> {
    times: Vec<i64>,
    values: Vec<T>,
    /// Longest time between two samples that is bridged, ns.
    reach: i64,
}

/// A time between samples: indices of the samples before and after it (the same at a sample), and the fraction
/// of the interval, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub before: usize,
    pub after: usize,
    pub fraction: f64,
}

/// Samples further than this from the rest have a corrupt time stamp, µs.
const ISLAND: u64 = 60_000_000;

impl<T: Copy> Series<T> {
    /// Samples in any order with times in µs. Those for which `convert` returns `None` are left out; the rest is sorted, one of two
    /// samples at the same time is dropped, and so are those separated from the largest connected part of the log by
    /// more than a minute.
    pub fn new<S: Copy>(
        times: &[u64],
        samples: &[S],
        convert: impl Fn(S) -> Option<T>,
    ) -> Option<Self> {
        let mut all: Vec<(u64, T)> = times
            .iter()
            .zip(samples)
            .filter_map(|(&time, &sample)| Some((time, convert(sample)?)))
            .collect();
        all.sort_by_key(|&(time, _)| time);
        all.dedup_by_key(|&mut (time, _)| time);
        let island = all
            .chunk_by(|a, b| b.0 - a.0 <= ISLAND)
            .max_by_key(|island| island.len())?;
        let times: Vec<i64> = island
            .iter()
            .map(|&(time, _)| {
                i64::try_from(time)
                    .unwrap_or(i64::MAX / 1000)
                    .saturating_mul(1000)
            })
            .collect();
        let mut intervals: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        intervals.sort_unstable();
        let median = intervals.get(intervals.len() / 2).copied().unwrap_or(0);
        Some(Self {
            values: island.iter().map(|&(_, value)| value).collect(),
            times,
            reach: (5 * median).max(300_000_000),
        })
    }

    /// Time of the first and of the last sample, ns.
    pub fn span(&self) -> (i64, i64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    /// Usual interval, ns: the mean of those that are at most twice the median, so that gaps do not count; 0 for a
    /// single sample.
    pub fn period(&self) -> i64 {
        let mut intervals: Vec<i64> = self
            .times
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        intervals.sort_unstable();
        let Some(&median) = intervals.get(intervals.len() / 2) else {
            return 0;
        };
        let usual: Vec<i64> = intervals
            .into_iter()
            .filter(|&interval| interval <= 2 * median)
            .collect();
        usual.iter().sum::<i64>() / i64::try_from(usual.len()).unwrap_or(1)
    }

    /// All values.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The samples around `time`; `None` outside of the log and in gaps longer than five intervals and 0.3 s.
    pub fn place(&self, time: i64) -> Option<Place> {
        let after = self.times.partition_point(|&t| t < time);
        if self.times.get(after) == Some(&time) {
            return Some(Place {
                before: after,
                after,
                fraction: 0.0,
            });
        }
        let before = after.checked_sub(1)?;
        let gap = self.times.get(after)? - self.times[before];
        let fraction = (time - self.times[before]) as f64 / gap as f64;
        (gap <= self.reach).then_some(Place {
            before,
            after,
            fraction,
        })
    }

    /// The samples at a place, with the time between them in seconds.
    pub fn around(&self, place: Place) -> (T, T, f64) {
        let dt = (self.times[place.after] - self.times[place.before]) as f64 * 1e-9;
        (self.values[place.before], self.values[place.after], dt)
    }

    /// The sample closest in time, however far; of two the later one.
    pub fn nearest(&self, time: i64) -> T {
        let after = self
            .times
            .partition_point(|&t| t < time)
            .min(self.times.len() - 1);
        let before = after.saturating_sub(1);
        let later = self.times[after] - time <= time - self.times[before];
        self.values[if later { after } else { before }]
    }

    /// The last sample at or before `time`, however old.
    pub fn held(&self, time: i64) -> Option<T> {
        let after = self.times.partition_point(|&t| t <= time);
        Some(self.values[after.checked_sub(1)?])
    }
}

impl<const N: usize> Series<[f64; N]> {
    /// Linear interpolation.
    pub fn linear(&self, time: i64) -> Option<[f64; N]> {
        let place = self.place(time)?;
        let (a, b, _) = self.around(place);
        Some(std::array::from_fn(|i| {
            a[i] + place.fraction * (b[i] - a[i])
        }))
    }
}

/// Position and velocity of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    /// Changes when the estimator jumps.
    pub resets: [f64; 2],
}

impl Series<Motion> {
    /// Position by the cubic through positions and velocities, velocity linearly. Across a jump of the
    /// estimator nothing is interpolated.
    pub fn motion(&self, time: i64) -> Option<Motion> {
        let place = self.place(time)?;
        let (a, b, dt) = self.around(place);
        if a.resets != b.resets {
            return Some(self.nearest(time));
        }
        let s = place.fraction;
        // Hermite's basis on [0, 1].
        let (h00, h10) = (
            (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s),
            s * (1.0 - s) * (1.0 - s),
        );
        let (h01, h11) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
        Some(Motion {
            position: std::array::from_fn(|i| {
                h00 * a.position[i]
                    + h10 * dt * a.velocity[i]
                    + h01 * b.position[i]
                    + h11 * dt * b.velocity[i]
            }),
            velocity: std::array::from_fn(|i| a.velocity[i] + s * (b.velocity[i] - a.velocity[i])),
            resets: a.resets,
        })
    }
}

/// A recorded quaternion w, x, y, z, NED from FRD, as the attitude of FLU in NWU; none where it is unknown.
pub fn rotation(q: [f64; 4]) -> Option<UnitQuaternion<f64>> {
    UnitQuaternion::try_from(frames::nwu_flu_from_ned_frd(frames::normalized(q)?)).ok()
}

/// An attitude and the estimator's count of jumps.
#[derive(Clone, Copy, Debug)]
pub struct Attitude {
    /// World from body.
    pub rotation: UnitQuaternion<f64>,
    pub resets: f64,
}

impl Series<Attitude> {
    /// Attitude on the shortest arc between the samples (slerp). Across a jump nothing is interpolated.
    pub fn attitude(&self, time: i64) -> Option<UnitQuaternion<f64>> {
        let place = self.place(time)?;
        let (a, b, _) = self.around(place);
        if a.resets != b.resets {
            return Some(self.nearest(time).rotation);
        }
        Some(a.rotation.interpolate(&b.rotation, place.fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_path_is_met_between_its_samples() {
        // x = t^3 - t, a cubic: Hermite's interpolation is exact.
        let times: Vec<u64> = (0..20).map(|k| k * 100_000).collect();
        let samples: Vec<f64> = times.iter().map(|&t| t as f64 * 1e-6).collect();
        let series = Series::new(&times, &samples, |t| {
            Some(Motion {
                position: [t * t * t - t, 0.0, 0.0],
                velocity: [3.0 * t * t - 1.0, 0.0, 0.0],
                resets: [0.0; 2],
            })
        })
        .unwrap();
        for k in 0..190 {
            let t = f64::from(k) * 0.01;
            let motion = series.motion(i64::from(k) * 10_000_000).unwrap();
            assert!((motion.position[0] - (t * t * t - t)).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn samples_are_ordered_and_lone_ones_dropped() {
        let times = [300, 100, 200, 200, 9_000_000_000_000];
        let series = Series::new(&times, &[3.0, 1.0, 2.0, 2.5, 9.0], |v: f64| {
            v.is_finite().then_some([v])
        })
        .unwrap();
        assert_eq!(series.values(), [[1.0], [2.0], [3.0]]);
        assert_eq!(series.span(), (100_000, 300_000));
        assert_eq!(series.linear(250_000), Some([2.5]));
        assert_eq!(series.linear(301_000), None);
    }

    #[test]
    fn a_long_gap_is_not_bridged() {
        let times = [0, 10_000, 20_000, 1_020_000];
        let series = Series::new(&times, &[0.0, 1.0, 2.0, 3.0], |v: f64| Some([v])).unwrap();
        assert_eq!(series.linear(15_000_000), Some([1.5]));
        assert_eq!(series.linear(500_000_000), None);
        assert_eq!(series.held(500_000_000), Some([2.0]));
    }

    /// Slerp takes the shorter way whichever sign a quaternion has, and does not cross a jump of the estimator.
    #[test]
    fn halfway_of_a_quarter_turn_is_an_eighth() {
        let half = std::f64::consts::FRAC_PI_4;
        let start = [1.0, 0.0, 0.0, 0.0];
        let end = [-half.cos(), 0.0, 0.0, -half.sin()];
        let halfway = |resets: [f64; 2]| {
            let series = Series::new(
                &[0, 10],
                &[(start, resets[0]), (end, resets[1])],
                |(q, resets)| {
                    let rotation = UnitQuaternion::try_from(q).ok()?;
                    Some(Attitude { rotation, resets })
                },
            );
            series.unwrap().attitude(5000).unwrap().log()
        };
        assert!((halfway([0.0; 2]).z - half).abs() < 1e-15);
        assert!((halfway([0.0, 1.0]).z - 2.0 * half).abs() < 1e-15);
    }
}
