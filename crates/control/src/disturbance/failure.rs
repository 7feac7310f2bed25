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
/// One has failed if it explains e nearly alone with a lambda near 1, no other one does, and this lasts. An actuator that does nearly nothing cannot be
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
    suspect: Option<(usize, f64)>,
    effect: OVector<f64, N>,
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
            effect: zero,
        }
    }

    /// Takes in what the last `elapsed` seconds left unexplained (d, n numbers) under the applied input u (p numbers), with B and M there. Returns
    /// the number of an actuator that has failed, once. Allocates nothing.
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
    ) -> Option<usize> {
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
        self.suspect = (self.explained_by(M)).map(|found| match self.suspect {
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

    /// Forgets what it has seen but for what is usual: the inputs are others now.
    pub fn restart(&mut self) {
        self.suspect = None;
        for filter in &mut self.unexplained {
            filter.copy_from(&self.usual);
        }
        for filter in &mut self.effects {
            filter.fill(0.0);
        }
    }

    /// The one actuator whose loss explains e.
    fn explained_by(&self, M: &OMatrix<f64, N, N>) -> Option<usize> {
        let (e, effects) = (&self.sudden, &self.effects[1]);
        let product = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| {
            (0..e.len()).map(|i| a(i) * b(i) / M[(i, i)]).sum::<f64>()
        };
        let all = product(&|i| e[i], &|i| e[i]);
        let size = |g: usize| product(&|i| effects[(i, g)], &|i| effects[(i, g)]);
        let strongest = (0..self.actuators.len()).map(size).fold(0.0, f64::max);
        let (mut best, mut second) = (None, f64::INFINITY);
        let (mut least, mut loss) = (f64::INFINITY, 0.0);
        for g in 0..self.actuators.len() {
            let size = size(g);
            if size <= IDLE * IDLE * strongest {
                continue;
            }
            let along = product(&|i| e[i], &|i| effects[(i, g)]);
            let lost = (-along / size).clamp(0.0, LOST[1]);
            let left = all + lost * (2.0 * along + lost * size);
            if left < least {
                second = least;
                (best, least, loss) = (Some(g), left, lost);
            } else {
                second = second.min(left);
            }
        }
        let is_it = (LOST[0]..LOST[1]).contains(&loss)
            && least <= UNEXPLAINED * UNEXPLAINED * all
            && second > (CLEARER * CLEARER * least).max(DISTINCT * DISTINCT * all);
        best.filter(|_| is_it)
    }
}
