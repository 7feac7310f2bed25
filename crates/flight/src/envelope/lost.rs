//! Detects that a loop has lost the attitude of its reference.

use super::Observed;

/// No linearised loop holds above this angle error, rad.
pub(super) const LOST: f64 = 1.0;
/// W has settled below this fraction of its largest value.
const SETTLED_ENERGY: f64 = 0.01;

/// Blocks of a settling time.
const BLOCKS: usize = 8;

/// Mean square of the angle error and largest energy W over the last settling time, in blocks of an eighth of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lost {
    /// When the block that is not full began, s.
    start: Option<f64>,
    block: Block,
    /// The last full ones.
    full: [Option<Block>; BLOCKS],
    count: usize,
    /// The largest W of the flight, J, and the largest square of the angle error.
    largest: [f64; 2],
    /// Since when the attitude has been lost, s, and the root mean square over the last settling time, rad.
    now: Option<[f64; 2]>,
    /// For how long it has been lost in the whole flight, s.
    total: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Block {
    squares: f64,
    count: u64,
    /// The largest W, infinite without one, and the largest square of the angle error, infinite where that is not a number.
    most: [f64; 2],
}

impl Lost {
    /// Counts a step.
    pub fn record(&mut self, step: &Observed, settling: f64) {
        let start = *self.start.get_or_insert(step.time);
        let square = step.errors[1] * step.errors[1];
        self.block.squares += square;
        self.block.count += 1;
        let numbers = [step.energy, square].map(|it| if it.is_nan() { f64::INFINITY } else { it });
        for (i, number) in numbers.into_iter().enumerate() {
            self.block.most[i] = self.block.most[i].max(number);
            if number.is_finite() {
                self.largest[i] = self.largest[i].max(number);
            }
        }
        let length = step.time - start;
        if length < settling / BLOCKS as f64 {
            return;
        }
        self.full[self.count % BLOCKS] = Some(std::mem::take(&mut self.block));
        self.count += 1;
        self.start = Some(step.time);
        let all = self.full.iter().flatten();
        let (squares, count) = all.fold((0.0, 0), |(squares, count), block| {
            (squares + block.squares, count + block.count)
        });
        let rms = (squares / count as f64).sqrt();
        // A NaN exceeds every bound.
        let [energy, _] = self.recent();
        let lost = (rms.is_nan() || rms > LOST) && !self.has_settled(energy);
        if lost {
            self.total += length;
        }
        let since = self.now.map_or(start, |[since, _]| since);
        self.now = lost.then_some([since, rms]);
    }

    /// Whether an energy W is small compared with the largest one of the flight; of a law without energies, whether the angle over the last settling
    /// time is.
    pub fn has_settled(&self, energy: f64) -> bool {
        let [_, square] = self.recent();
        if energy == f64::INFINITY {
            square < SETTLED_ENERGY * self.largest[1]
        } else {
            energy < SETTLED_ENERGY * self.largest[0]
        }
    }

    /// The largest W and square of the angle error over the last settling time.
    fn recent(&self) -> [f64; 2] {
        let all = self.full.iter().flatten().chain([&self.block]);
        all.fold([0.0; 2], |most, block| {
            [0, 1].map(|i| f64::max(most[i], block.most[i]))
        })
    }

    /// For how long the attitude has been lost in the whole flight, s.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Root mean square of the angle error over the last settling time, rad, and for how long it has been too large, s;
    /// `None` if it is not.
    pub fn now(&self, time: f64) -> Option<[f64; 2]> {
        self.now.map(|[since, rms]| [rms, time - since])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Following;
    use super::*;

    /// For how long the attitude is lost at the end of 10 s, with a settling time of 1 s.
    fn lost(error: impl Fn(f64) -> f64, energy: impl Fn(f64) -> f64) -> f64 {
        flown(error, energy)
            .now(10.0)
            .map_or(0.0, |[_, duration]| duration)
    }

    /// After 10 s, with a settling time of 1 s.
    fn flown(error: impl Fn(f64) -> f64, energy: impl Fn(f64) -> f64) -> Lost {
        let mut lost = Lost::default();
        for k in 0..=5000 {
            let time = f64::from(k) * 2e-3;
            let step = Observed {
                time,
                errors: [0.0, error(time)],
                energy: energy(time),
                saturated: false,
                following: Following::Reference,
                upward: nalgebra::Vector3::z(),
            };
            lost.record(&step, 1.0);
        }
        lost
    }

    /// Each interval counts, wherever it lies and however often it is interrupted.
    #[test]
    fn the_time_of_all_losses_adds_up() {
        let twice = |t: f64| f64::from((2.0..4.0).contains(&t) || t > 7.0) * 2.5;
        let total = flown(twice, |_| 5.0).total();
        // The mean over a settling time includes up to half of it before and after each loss.
        assert!((5.0..=7.0).contains(&total), "{total}");
        assert!(flown(|_| 2.0, |_| 5.0).total() > 9.4);
        assert_eq!(flown(|_| 0.9, |_| 5.0).total(), 0.0);
        // W falls below 1 % after 1.15 s; the largest one over a settling time does so up to one such time later.
        let settling = flown(|_| 2.0, |t| (-4.0 * t).exp()).total();
        assert!((1.15..=2.15).contains(&settling), "{settling}");
    }

    #[test]
    fn what_tumbles_is_lost_and_what_settles_is_not() {
        let tumbling = |t: f64| (7.0 * t).sin().abs() * std::f64::consts::PI;
        assert!(lost(tumbling, |_| 5.0) > 9.9);
        assert!(lost(tumbling, |_| 0.0) > 9.9, "without energies as well");
        assert_eq!(lost(|t| 3.1 * (-t).exp(), |t| (-t).exp()), 0.0);
        assert!((lost(|t| f64::from(t > 5.0) * 2.0, |_| 5.0) - 5.0).abs() < 1.0);
        assert!(lost(|_| f64::NAN, |_| 5.0) > 9.9);
    }

    /// A law without energies has settled where the angle has, and never where that is not known.
    #[test]
    fn without_energies_the_angle_settles() {
        let none = |_: f64| f64::INFINITY;
        let regained = flown(|t| if t < 6.0 { 2.0 } else { 0.1 }, none);
        assert!(regained.has_settled(f64::INFINITY));
        let tumbling = flown(|t| (7.0 * t).sin().abs() * 3.0, none);
        assert!(!tumbling.has_settled(f64::INFINITY));
        let unknown = |t: f64| if t < 3.0 { 0.1 } else { f64::NAN };
        assert!(lost(unknown, none) > 6.0);
        // Its own energies are no measure for what another law, without any, has lost.
        let handed_over = |t: f64| if t < 3.0 { 1500.0 } else { f64::INFINITY };
        let spins = |t: f64| if t < 3.0 { 0.1 } else { std::f64::consts::PI };
        assert!(lost(spins, handed_over) > 6.0);
    }

    #[test]
    fn another_configuration_with_the_same_tool_is_not_lost() {
        assert_eq!(lost(|_| 3.0, |t| (-4.0 * t).exp()), 0.0);
    }
}
