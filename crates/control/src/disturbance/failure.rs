//! Detection of a failed actuator from the force that the model does not explain.
#![allow(non_snake_case)]

use std::ops::Range;

use nalgebra::{DVector, DefaultAllocator, Dim, Dyn, OMatrix, OVector, U1};

use crate::sizes::Sizes;

/// Detects a failed actuator of a free body.
///
/// An actuator g with the inputs `u_g` and the columns `B_g` that has lost the fraction `lambda` leaves the force `d = d_0 - lambda B_g u_g` unexplained,
/// whatever it is commanded meanwhile; `d_0` is the residual before the failure (wind, mass, centre of mass). Both d and every `B_g u_g` pass the same
/// second-order filter, so that the relation holds from the first step. The best explanation by each actuator is
///
/// ```text
/// lambda_g = -<f_g, e>/<f_g, f_g>,    e = d - d_0,   f_g = B_g u_g,      and leaves   |e + lambda_g f_g|
/// ```
///
/// where forces and moments are weighted by the accelerations that they cause: `<a, b> = sum a_i b_i/M_ii`.
///
/// An actuator has failed if it explains e nearly alone with a lambda near 1, no other actuator does, and this lasts. If no single one explains e, pairs are
/// tried in the same way, with a lambda each: two that fail before the first was detected. Two have more freedom to explain e, so their residual must be
/// smaller. Three simultaneous failures are not detected, nor are two that another pair would explain as well (opposite rotors of an octocopter with the same
/// effect): then [`has_unexplained_disturbance`](Self::has_unexplained_disturbance) reports an unidentified failure. An actuator with nearly no effect cannot be judged, nor does its
/// loss matter. Two with similar effects, such as the rotors of a coaxial pair, are distinguished as far as model and noise allow; otherwise none is reported.
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
    /// The actuators that explain e, and for how long, s.
    suspect: Option<(Failure, f64)>,
    /// How long e has been as large as after a failure, s.
    large_for: f64,
    effect: OVector<f64, N>,
}

/// The actuators detected as failed at once, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This one.
    One(usize),
    /// These two, the lower index first.
    Two(usize, usize),
}

impl Failure {
    /// Their indices.
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
    /// The residuals of the best and the second-best explanation, squared.
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

    /// Considers another candidate with this residual.
    fn consider(&mut self, who: Failure, lost: [f64; 2], left: f64) {
        if left < self.left[0] {
            self.left[1] = self.left[0];
            (self.who, self.lost, self.left[0]) = (Some(who), lost, left);
        } else {
            self.left[1] = self.left[1].min(left);
        }
    }

    /// The best candidate, if its residual is at most this fraction of `all` and it stands out.
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

/// Bandwidth of the filter, rad/s: a failure is detected after about four of its time constants.
const BANDWIDTH: f64 = 25.0;
/// Time constant with which an unexplained force becomes part of d_0, s.
const USUAL: f64 = 2.0;
/// An actuator has failed if its lost fraction is between these …
const LOST: [f64; 2] = [0.7, 1.3];
/// … with a residual of at most this fraction of e …
const UNEXPLAINED: f64 = 0.35;
/// … and every other candidate's residual is larger by this factor …
const CLEARER: f64 = 2.0;
/// … and at least this fraction of e …
const DISTINCT: f64 = 0.02;
/// … for this long, s.
const LASTING: f64 = 2.0 / BANDWIDTH;
/// If e has been as large as the strongest actuator's loss for this long, s, without a detection, something else is wrong. Nothing is reported until e is
/// small again, because as e fades into d_0 its remainder may look like a failure.
const MYSTERY: f64 = 0.4;
/// Actuators with less than this fraction of the strongest one's effect are not judged.
const IDLE: f64 = 0.1;

impl<N: Dim> FailureDetector<N>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// For n degrees of freedom and actuators with these inputs.
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

    /// Processes the force left unexplained over the last `elapsed` seconds (d, n entries) under the applied input u (p entries), with B and M
    /// there. Returns a detected failure, once. Allocates nothing.
    ///
    /// # Panics
    /// If the size of an argument is wrong.
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

    /// d_0: the residual before the failure, n entries.
    pub fn nominal_residual(&self) -> &OVector<f64, N> {
        &self.usual
    }

    /// Returns whether a sudden residual is as large as a failed actuator's, and no failure explains it.
    pub fn has_unexplained_disturbance(&self) -> bool {
        self.large_for >= MYSTERY
    }

    /// Restarts after a change of the inputs; keeps only d_0.
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

    /// The one or two actuators whose loss explains e; and whether e is as large as after a failure.
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
        if self.has_unexplained_disturbance() {
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
                // Otherwise the best fit lies on the boundary, where it is either a single failure, or no failure of two.
                if both.iter().all(|lost| (0.0..=LOST[1]).contains(lost)) {
                    let left = all - both[0] * x - both[1] * y;
                    pair.consider(Failure::Two(g, h), both, left.max(0.0));
                } else {
                    let left = alone(g).1.min(alone(h).1);
                    pair.consider(Failure::Two(g, h), [0.0; 2], left);
                }
            }
        }
        // Two actuators explain an arbitrary direction twice as well as one.
        (pair.accepted(all, 0.5 * most), is_large)
    }
}
