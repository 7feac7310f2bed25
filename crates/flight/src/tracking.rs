//! Tracking errors of a flight: overall, in the transient and after it, in constant memory.

use fly_control::predictor::StatePredictor;
use fly_log::Settling;
use nalgebra::Vector3;

use crate::statistics::Magnitude;

/// Errors below this, m or rad, count as zero.
const RESOLUTION: f64 = 1e-9;
/// An error that begins below this fraction of the largest one is not a step response: rise time and overshoot are
/// meaningless.
const STEP: f64 = 0.5;
/// Final fraction of the flight over which the steady offset is measured.
const STEADY: f64 = 0.25;
/// Largest number of blocks of the mean error. A mean begins with a block, so at most a four-hundredth of the flight late.
const BLOCKS: usize = 1 << 10;

/// The errors of one kind over a flight: distances in m, or angles in rad.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrackingError {
    /// Over the whole flight.
    pub magnitude: Magnitude,
    /// At the beginning.
    pub initial: f64,
    /// Time from 90 % to 10 % of the initial error, s; `None` if 10 % was never reached, or if the initial error is
    /// small.
    pub rise_time: Option<f64>,
    /// Overshoot beyond zero, along the initial direction of the error, as a fraction of the initial error; `None` if
    /// that is small.
    pub overshoot: Option<f64>,
    /// When the error entered the band of 2 % of the largest one for good, s after the beginning; `None` if it never
    /// did.
    pub settling_time: Option<f64>,
    /// The tolerance of `[reference]`, m or rad.
    pub tolerance: Option<f64>,
    /// When the error entered the tolerance for good, s after the beginning; `None` if it never did, or if there is no
    /// tolerance.
    pub time_to_tolerance: Option<f64>,
    /// Root mean square after entering the tolerance or, without one, after the settling time.
    pub rms_settled: Option<f64>,
    /// Magnitude of the mean error over the last quarter of the flight.
    pub steady_offset: f64,
}

/// Records the distance and angle errors of a flight.
#[derive(Debug, Clone)]
pub(crate) struct Tracking {
    /// Displacement and rotation vector of each body, initial and current.
    initial: Vec<[Vector3<f64>; 2]>,
    now: Vec<[Vector3<f64>; 2]>,
    started: bool,
    kinds: [Transient; 2],
    means: Means,
}

impl Tracking {
    /// For a model with this many bodies and these tolerances of distance (m) and angle (rad).
    pub fn new(bodies: usize, tolerances: [Option<f64>; 2]) -> Self {
        let none = vec![[Vector3::zeros(); 2]; bodies];
        Self {
            initial: none.clone(),
            now: none,
            started: false,
            kinds: tolerances.map(Transient::new),
            means: Means::new(6 * bodies),
        }
    }

    /// Counts the errors of a configuration at `time`, s, and returns distance (m) and angle (rad). Does not allocate.
    pub fn record(
        &mut self,
        time: f64,
        predictor: &StatePredictor,
        configuration: &[f64],
        reference: &[f64],
    ) -> [f64; 2] {
        let bodies = predictor.system().model.bodies();
        for (now, body) in self.now.iter_mut().zip(bodies) {
            *now = predictor.body_error(body, configuration, reference);
        }
        if !std::mem::replace(&mut self.started, true) {
            self.initial.copy_from_slice(&self.now);
        }
        let numbers = self.now.iter().flatten().flatten();
        self.means.add(time, numbers.copied());
        let mut errors = [0.0; 2];
        for (kind, transient) in self.kinds.iter_mut().enumerate() {
            let (mut squared, mut along) = (0.0, 0.0);
            for (now, initial) in self.now.iter().zip(&self.initial) {
                squared += now[kind].norm_squared();
                along += now[kind].dot(&initial[kind]);
            }
            errors[kind] = squared.sqrt();
            transient.record(time, errors[kind], along);
        }
        errors
    }

    /// Returns the errors of distance and angle. Allocates.
    pub fn finish(&self) -> [TrackingError; 2] {
        let means = self.means.of_last(STEADY);
        let offset = |kind: usize| {
            let own = means.chunks_exact(3).skip(kind).step_by(2).flatten();
            own.map(|mean| mean * mean).sum::<f64>().sqrt()
        };
        [0, 1].map(|kind| TrackingError {
            steady_offset: offset(kind),
            ..self.kinds[kind].finish()
        })
    }
}

/// One error over time.
#[derive(Debug, Clone, Default)]
struct Transient {
    magnitude: Magnitude,
    initial: f64,
    /// When it first was at or below 90 % and 10 % of the initial error.
    passed: [Option<f64>; 2],
    /// The smallest product of the error's component along the initial error and the initial error; 0 if never
    /// negative.
    beyond: f64,
    band: Inside,
    tolerance: Option<f64>,
    within: Inside,
}

/// When the error has settled inside a band, and its root mean square since then.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    settling: Settling,
    magnitude: Magnitude,
}

impl Inside {
    fn record(&mut self, time: f64, error: f64, band: f64) {
        if self.settling.record(time, error, band) {
            self.magnitude.record(error);
        } else {
            self.magnitude = Magnitude::default();
        }
    }
}

impl Transient {
    fn new(tolerance: Option<f64>) -> Self {
        Self {
            tolerance,
            ..Self::default()
        }
    }

    fn record(&mut self, time: f64, error: f64, along: f64) {
        if self.magnitude.count() == 0 {
            self.initial = error;
        }
        self.magnitude.record(error);
        for (passed, part) in self.passed.iter_mut().zip([0.9, 0.1]) {
            if passed.is_none() && error <= part * self.initial {
                *passed = Some(time);
            }
        }
        self.beyond = self.beyond.min(along);
        let band = Settling::BAND * self.magnitude.max();
        self.band.record(time, error, band);
        if let Some(tolerance) = self.tolerance {
            self.within.record(time, error, tolerance);
        }
    }

    fn finish(&self) -> TrackingError {
        let is_step = self.initial > RESOLUTION && self.initial >= STEP * self.magnitude.max();
        let [first, second] = self.passed;
        let rise = first.zip(second).map(|(first, second)| second - first);
        let settling_time = self.band.settling.time();
        let time_to_tolerance = self.within.settling.time();
        let settled = match self.tolerance {
            Some(_) => time_to_tolerance.map(|_| &self.within),
            None => settling_time.map(|_| &self.band),
        };
        TrackingError {
            magnitude: self.magnitude,
            initial: self.initial,
            rise_time: rise.filter(|_| is_step),
            overshoot: is_step.then(|| -self.beyond / (self.initial * self.initial) + 0.0),
            settling_time,
            tolerance: self.tolerance,
            time_to_tolerance,
            rms_settled: settled.map(|inside| inside.magnitude.rms()),
            steady_offset: 0.0,
        }
    }
}

/// Sums of values in at most [`BLOCKS`] blocks with the same number of samples each; when the blocks run out, neighbouring ones are merged.
#[derive(Debug, Clone)]
struct Means {
    width: usize,
    /// The sums of successive blocks; the last block is not full.
    sums: Vec<f64>,
    /// The time of each block's first sample, and that of the last sample of all, s.
    starts: Vec<f64>,
    last: f64,
    /// Full blocks.
    full: usize,
    /// Number of samples in a full block and in the last one.
    length: u64,
    filled: u64,
}

impl Means {
    fn new(width: usize) -> Self {
        Self {
            width,
            sums: vec![0.0; (BLOCKS + 1) * width],
            starts: vec![0.0; BLOCKS + 1],
            last: 0.0,
            full: 0,
            length: 1,
            filled: 0,
        }
    }

    fn add(&mut self, time: f64, numbers: impl Iterator<Item = f64>) {
        if self.filled == 0 {
            self.starts[self.full] = time;
        }
        self.last = time;
        let block = &mut self.sums[self.full * self.width..][..self.width];
        for (sum, number) in block.iter_mut().zip(numbers) {
            *sum += number;
        }
        self.filled += 1;
        if self.filled < self.length {
            return;
        }
        (self.full, self.filled) = (self.full + 1, 0);
        if self.full == BLOCKS {
            for half in 0..BLOCKS / 2 {
                for i in 0..self.width {
                    let pair = 2 * half * self.width + i;
                    self.sums[half * self.width + i] =
                        self.sums[pair] + self.sums[pair + self.width];
                }
                self.starts[half] = self.starts[2 * half];
            }
            (self.full, self.length) = (BLOCKS / 2, 2 * self.length);
            self.sums[self.full * self.width..].fill(0.0);
        }
    }

    /// The means over this last fraction of the time: from the first block on that begins in it, and of at least one block.
    fn of_last(&self, part: f64) -> Vec<f64> {
        let count = self.full + usize::from(self.filled > 0);
        let begin = self.last - part * (self.last - self.starts[0]);
        let early = self.starts[..count].partition_point(|start| *start < begin);
        let first = early.min(count.saturating_sub(1));
        let (mut means, blocks) = (
            vec![0.0; self.width],
            self.sums.chunks_exact(self.width.max(1)),
        );
        for block in blocks.skip(first) {
            for (mean, sum) in means.iter_mut().zip(block) {
                *mean += sum;
            }
        }
        let samples = (self.full - first.min(self.full)) as u64 * self.length + self.filled;
        for mean in &mut means {
            *mean /= samples.max(1) as f64;
        }
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a second-order step response, every millisecond for ten seconds.
    fn response(tolerance: Option<f64>, error: impl Fn(f64) -> f64) -> TrackingError {
        let mut transient = Transient::new(tolerance);
        for k in 0..=10_000 {
            let time = f64::from(k) * 1e-3;
            let e = error(time);
            transient.record(time, e.abs(), e * error(0.0));
        }
        transient.finish()
    }

    #[test]
    fn a_step_response_is_described_as_in_textbooks() {
        // Undamped frequency 2 rad/s, damping ratio 0.5.
        let (omega, zeta) = (2.0_f64, 0.5_f64);
        let damped = omega * (1.0 - zeta * zeta).sqrt();
        let found = response(None, |t| {
            let phase = damped * t;
            3.0 * (-zeta * omega * t).exp() * (phase.cos() + zeta * omega / damped * phase.sin())
        });
        // exp(-pi zeta / sqrt(1 - zeta^2))
        let overshoot = (-std::f64::consts::PI * zeta / (1.0 - zeta * zeta).sqrt()).exp();
        assert!((found.overshoot.unwrap() - overshoot).abs() < 1e-5);
        // For this damping ratio omega t_r = 1.64 and omega t_s = 8.08, see Franklin, Powell and Emami-Naeini.
        assert!(
            (omega * found.rise_time.unwrap() - 1.64).abs() < 0.01,
            "{found:?}"
        );
        assert!(
            (omega * found.settling_time.unwrap() - 8.08).abs() < 0.02,
            "{found:?}"
        );
        assert_eq!((found.initial, found.magnitude.max()), (3.0, 3.0));
        assert!(found.rms_settled.unwrap() < 0.02 * 3.0);
    }

    #[test]
    fn the_tolerance_has_a_time_of_its_own() {
        let found = response(Some(0.5), |t| (-t).exp());
        assert!((found.time_to_tolerance.unwrap() - 2.0_f64.ln()).abs() < 1.1e-3);
        assert!((found.settling_time.unwrap() - 50.0_f64.ln()).abs() < 1.1e-3);
        assert_eq!(found.overshoot, Some(0.0));
        // sqrt of the mean of 0.25 exp(-2 t) over the rest.
        let rest = 10.0 - 2.0_f64.ln();
        let rms = (0.125 / rest).sqrt();
        assert!((found.rms_settled.unwrap() - rms).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn what_goes_on_swinging_has_not_settled() {
        let found = response(Some(0.1), f64::cos);
        assert_eq!((found.settling_time, found.time_to_tolerance), (None, None));
        assert_eq!(found.rms_settled, None);
        // An error that is inside only at the end has not settled either.
        let found = response(Some(0.1), |t| if t < 9.9 { 1.0 } else { 0.0 });
        assert_eq!((found.settling_time, found.time_to_tolerance), (None, None));
        // An error that begins at zero is not a step response.
        let found = response(None, |t| if t < 1.0 { 0.0 } else { (1.0 - t).exp() });
        assert_eq!((found.rise_time, found.overshoot), (None, None));
        assert!((found.settling_time.unwrap() - 1.0 - 50.0_f64.ln()).abs() < 2.1e-3);
    }

    #[test]
    fn the_mean_of_the_last_quarter_takes_constant_memory() {
        for count in [1_u32, 3, 1023, 1024, 1025, 3000, 123_456] {
            // A gap of as much time as all samples together lies before the last eighth of them.
            for gap in [0.0, f64::from(count)] {
                let mut means = Means::new(2);
                let room = means.sums.capacity();
                let time = |k: u32| {
                    let is_late = 8 * k >= 7 * count;
                    f64::from(k) + if is_late { gap } else { 0.0 }
                };
                let [first, last] = [time(0), time(count - 1)];
                let begin = last - 0.25 * (last - first);
                for k in 0..count {
                    let inside = if time(k) >= begin { 2.0 } else { 9.0 };
                    means.add(time(k), [f64::from(k), inside].into_iter());
                }
                assert_eq!(means.sums.capacity(), room);
                let found = means.of_last(0.25);
                let all: Vec<_> = (0..count).filter(|k| time(*k) >= begin).collect();
                let expected = all.iter().copied().map(f64::from).sum::<f64>() / all.len() as f64;
                let block = f64::from(count) / 512.0;
                assert!(
                    (found[0] - expected).abs() <= block,
                    "{count}: {found:?} {expected}"
                );
                assert!((found[1] - 2.0).abs() < 1e-12, "{count}: {found:?}");
            }
        }
    }
}
