//! Which actuator has failed, from the force that the model does not explain.
#![allow(non_snake_case)]

use std::ops::Range;

use nalgebra::{DVector, DefaultAllocator, Dim, Dyn, OMatrix, OVector, U1};

use crate::sizes::Sizes;

/// Finds the actuator of a free body that gives nothing any more.
///
/// An actuator g with the inputs `u_g` and the columns `B_g` that has lost the part `lambda` leaves the force `d = d_0 - lambda B_g u_g` unexplained, whatever
/// is asked of it meanwhile; `d_0` is what was unexplained before (wind, mass, centre of mass). Both d and every `B_g u_g` pass the same second-order filter, so
/// that the relation holds from the first step. Each actuator explains best with
///
/// ```text
/// lambda_g = -<f_g, e>/<f_g, f_g>,    e = d - d_0,   f_g = B_g u_g,      and leaves   |e + lambda_g f_g|
/// ```
///
/// where forces and moments are compared by the accelerations that they make: `<a, b> = sum a_i b_i/M_ii`.
///
/// One has failed if it explains e nearly alone with a lambda near 1, no other one does, and this lasts. Where no single one explains e, pairs are tried in the
/// same way, with a lambda each: two that fail before the first was known. What two can explain is more, so they must leave less. Three at once are not
/// found, nor are two of a pair that others would explain as well (opposite rotors of an octocopter that give the same): then [`is_unexplained`](Self::is_unexplained)
/// says that something is wrong. An actuator that does nearly nothing cannot be
/// judged, nor can it be missed. Two whose forces differ little, as the rotors of a coaxial pair, are told apart as far as model and noise allow; otherwise none is
/// named.
#[derive(Clone, Debug)]
pub struct FailureDetector<N: Dim = Dyn>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// The inputs of each actuator.
    actuators: Vec<Range<usize>>,
    /// d, after each stage of the filter.
    unexplained: [OVector<f64, N>; 2],
    /// `B_g u_g` in columns (n x actuators), after each stage of the filter.
    effects: [OMatrix<f64, N, Dyn>; 2],
    /// d_0.
    usual: OVector<f64, N>,
    /// e.
    sudden: OVector<f64, N>,
    /// Who explains e, and for how long, s.
    suspect: Option<(Failure, f64)>,
    /// How long e has been as large as that of a failure, s.
    large_for: f64,
    effect: OVector<f64, N>,
}

/// The actuators that were found to have failed at once, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This one.
    One(usize),
    /// These two, the lower number first.
    Two(usize, usize),
}

impl Failure {
    /// Their numbers.
    pub fn actuators(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::One(first) => (first, None),
            Self::Two(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

/// How well a loss explains e.
#[derive(Clone, Copy, Debug)]
struct Explanation {
    who: Option<Failure>,
    /// The lambdas.
    lost: [f64; 2],
    /// What the best and the second best leave, squared.
    left: [f64; 2],
}

impl Explanation {
    fn none() -> Self {
        Self {
            who: None,
            lost: [0.0; 2],
            left: [f64::INFINITY; 2],
        }
    }

    /// Compares another one, which leaves so much.
    fn consider(&mut self, who: Failure, lost: [f64; 2], left: f64) {
        if left < self.left[0] {
            self.left[1] = self.left[0];
            (self.who, self.lost, self.left[0]) = (Some(who), lost, left);
        } else {
            self.left[1] = self.left[1].min(left);
        }
    }

    /// Who it is, if the best one leaves at most this part of `all` and stands out.
    fn accepted(&self, all: f64, unexplained: f64) -> Option<Failure> {
        let [best, second] = self.left;
        let is_it = self
            .lost
            .iter()
            .all(|lost| (LOST[0]..LOST[1]).contains(lost))
            && best <= unexplained * all
            && second > (CLEARER * CLEARER * best).max(DISTINCT * DISTINCT * all);
        self.who.filter(|_| is_it)
    }
}

/// Bandwidth of the filter, rad/s: a failure is known after about four of its time constants.
const BANDWIDTH: f64 = 25.0;
/// Time in which what is unexplained becomes usual, s.
const USUAL: f64 = 2.0;
/// An actuator has failed if it seems to have lost a part between these …
const LOST: [f64; 2] = [0.7, 1.3];
/// … leaving at most this part of e unexplained …
const UNEXPLAINED: f64 = 0.35;
/// … and every other one leaves so many times as much …
const CLEARER: f64 = 2.0;
/// … and at least this part of e …
const DISTINCT: f64 = 0.02;
/// … for so long, s.
const LASTING: f64 = 2.0 / BANDWIDTH;
/// Where e is as large as what the strongest actuator would leave for so long, s, and no failure has been found, something else is wrong. Nobody is named
/// until e is small again, for by and by it becomes usual, and what is left of it may look like a failure.
const MYSTERY: f64 = 0.4;
/// Actuators that do less than this part of what the strongest does are not judged.
const IDLE: f64 = 0.1;

impl<N: Dim> FailureDetector<N>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// Of n degrees of freedom and actuators with these inputs.
    pub fn new(n: N, actuators: Vec<Range<usize>>) -> Self {
        let zero = OVector::zeros_generic(n, U1);
        let columns = OMatrix::zeros_generic(n, Dyn(actuators.len()));
        Self {
            actuators,
            unexplained: [zero.clone(), zero.clone()],
            effects: [columns.clone(), columns],
            usual: zero.clone(),
            sudden: zero.clone(),
            suspect: None,
            large_for: 0.0,
            effect: zero,
        }
    }

    /// Takes in what the last `elapsed` seconds left unexplained (d, n numbers) under the applied input u (p numbers), with B and M there. Returns
    /// what has failed, once. Allocates nothing.
    ///
    /// # Panics
    /// If an argument has another size.
    pub fn observe(
        &mut self,
        elapsed: f64,
        d: &OVector<f64, N>,
        u: &DVector<f64>,
        B: &OMatrix<f64, N, Dyn>,
        M: &OMatrix<f64, N, N>,
    ) -> Option<Failure> {
        let part = -f64::exp_m1(-BANDWIDTH * elapsed);
        for (g, inputs) in self.actuators.iter().enumerate() {
            let effect = &mut self.effect;
            effect.fill(0.0);
            for i in inputs.clone() {
                effect.axpy(u[i], &B.column(i), 1.0);
            }
            let [first, second] = &mut self.effects;
            let (mut first, mut second) = (first.column_mut(g), second.column_mut(g));
            first.axpy(part, effect, 1.0 - part);
            second.axpy(part, &first, 1.0 - part);
        }
        let [first, second] = &mut self.unexplained;
        first.axpy(part, d, 1.0 - part);
        second.axpy(part, &*first, 1.0 - part);
        self.sudden.copy_from(second);
        self.sudden -= &self.usual;
        let (explained, is_large) = self.explained_by(M);
        self.large_for = if is_large {
            self.large_for + elapsed
        } else {
            0.0
        };
        self.suspect = explained.map(|found| match self.suspect {
            Some((before, lasting)) if before == found => (found, lasting + elapsed),
            _ => (found, 0.0),
        });
        match self.suspect {
            Some((found, lasting)) if lasting >= LASTING => {
                self.restart();
                Some(found)
            }
            Some(_) => None,
            None => {
                let part = -f64::exp_m1(-elapsed / USUAL);
                self.usual.axpy(part, &self.sudden, 1.0);
                None
            }
        }
    }

    /// d_0: what was unexplained before, n numbers.
    pub fn usual(&self) -> &OVector<f64, N> {
        &self.usual
    }

    /// Whether there is suddenly as much as a failed actuator would leave, and no failure explains it.
    pub fn is_unexplained(&self) -> bool {
        self.large_for >= MYSTERY
    }

    /// Forgets what it has seen but for what is usual: the inputs are others now.
    pub fn restart(&mut self) {
        self.suspect = None;
        self.large_for = 0.0;
        for filter in &mut self.unexplained {
            filter.copy_from(&self.usual);
        }
        for filter in &mut self.effects {
            filter.fill(0.0);
        }
    }

    /// Whose loss explains e, one or two; and whether e is as large as that of a failure.
    fn explained_by(&self, M: &OMatrix<f64, N, N>) -> (Option<Failure>, bool) {
        let (e, effects) = (&self.sudden, &self.effects[1]);
        let product = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| {
            (0..e.len()).map(|i| a(i) * b(i) / M[(i, i)]).sum::<f64>()
        };
        let between = |g: usize, h: usize| product(&|i| effects[(i, g)], &|i| effects[(i, h)]);
        let all = product(&|i| e[i], &|i| e[i]);
        let count = self.actuators.len();
        let strongest = (0..count).map(|g| between(g, g)).fold(0.0, f64::max);
        let is_large = all > LOST[0] * LOST[0] * strongest && strongest > 0.0;
        let is_judged = |g: &usize| between(*g, *g) > IDLE * IDLE * strongest;
        let along = |g: usize| product(&|i| e[i], &|i| effects[(i, g)]);
        let alone = |g: usize| {
            let (along, size) = (along(g), between(g, g));
            let lost = (-along / size).clamp(0.0, LOST[1]);
            (lost, all + lost * (2.0 * along + lost * size))
        };
        let mut single = Explanation::none();
        for g in (0..count).filter(is_judged) {
            let (lost, left) = alone(g);
            single.consider(Failure::One(g), [lost; 2], left);
        }
        let most = UNEXPLAINED * UNEXPLAINED;
        if self.is_unexplained() {
            return (None, is_large);
        }
        let found = single.accepted(all, most);
        if found.is_some() || !is_large {
            return (found, is_large);
        }
        let mut pair = Explanation::none();
        for g in (0..count).filter(is_judged) {
            for h in (g + 1..count).filter(is_judged) {
                let (a, b, c) = (between(g, g), between(h, h), between(g, h));
                let (x, y) = (-along(g), -along(h));
                let det = a * b - c * c;
                let both = [(x * b - y * c) / det, (y * a - x * c) / det];
                // Outside of what may be lost the best is on the border, where it is as good as one alone, or no failure of two.
                if both.iter().all(|lost| (0.0..=LOST[1]).contains(lost)) {
                    let left = all - both[0] * x - both[1] * y;
                    pair.consider(Failure::Two(g, h), both, left.max(0.0));
                } else {
                    let left = alone(g).1.min(alone(h).1);
                    pair.consider(Failure::Two(g, h), [0.0; 2], left);
                }
            }
        }
        // A direction that nothing explains is explained twice as well by two.
        (pair.accepted(all, 0.5 * most), is_large)
    }
}
