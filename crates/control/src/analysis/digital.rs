//! The controller as a sampled linear system: its law, its lead, its observer of disturbances and its prediction.
#![allow(non_snake_case)]

use nalgebra::DMatrix;

use super::closed_loop::{ClosedLoop, Compensation};

/// What a controller computes from the errors `y = [eps; eps']` that it measures each step h, with states s of its own and its commands c so far:
///
/// ```text
/// c_k = G y_k + G_s s_k + sum_j P_j c_k-j
/// s_k+1 = S s_k + S_y y_k + S_+ y_k+1 + S_c c_k + sum_j Q_j c_k-j         j = 1, 2, ...
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Digital {
    /// S.
    pub own: DMatrix<f64>,
    /// `S_y`.
    pub before: DMatrix<f64>,
    /// `S_+`.
    pub after: DMatrix<f64>,
    /// `S_c`.
    pub command: DMatrix<f64>,
    /// G.
    pub gain: DMatrix<f64>,
    /// `G_s`.
    pub own_gain: DMatrix<f64>,
    /// `[P_j, Q_j]`.
    pub past: Vec<[DMatrix<f64>; 2]>,
}

/// A delay in whole steps and the rest of it, s.
pub(super) fn steps_of(delay: f64, step: f64) -> (usize, f64) {
    let whole = (delay / step + 1e-9).floor();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of steps
    let steps = whole.max(0.0) as usize;
    (steps, (delay - whole * step).max(0.0))
}

/// `e^(A t)` and its integral times B: the motion in a time t under a command that holds.
pub(super) fn held(A: &DMatrix<f64>, B: &DMatrix<f64>, time: f64) -> (DMatrix<f64>, DMatrix<f64>) {
    let (s, p) = B.shape();
    let mut whole = DMatrix::zeros(s + p, s + p);
    whole.view_mut((0, 0), (s, s)).copy_from(&(A * time));
    whole.view_mut((0, s), (s, p)).copy_from(&(B * time));
    let whole = whole.exp();
    (
        whole.view((0, 0), (s, s)).into_owned(),
        whole.view((0, s), (s, p)).into_owned(),
    )
}

/// What follows from `[y; s; c_k, c_k-1, ...]`: a block of columns for each.
#[derive(Clone)]
struct Map {
    y: DMatrix<f64>,
    s: DMatrix<f64>,
    c: Vec<DMatrix<f64>>,
}

impl Map {
    fn zero(rows: usize, y: usize, s: usize, p: usize, commands: usize) -> Self {
        Self {
            y: DMatrix::zeros(rows, y),
            s: DMatrix::zeros(rows, s),
            c: vec![DMatrix::zeros(rows, p); commands],
        }
    }

    fn times(&self, by: &DMatrix<f64>) -> Self {
        Self {
            y: by * &self.y,
            s: by * &self.s,
            c: self.c.iter().map(|c| by * c).collect(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.y += &other.y;
        self.s += &other.s;
        for (to, c) in self.c.iter_mut().zip(&other.c) {
            *to += c;
        }
    }

    fn rows(&self, first: usize, count: usize) -> Self {
        let rows = |of: &DMatrix<f64>| of.rows(first, count).into_owned();
        Self {
            y: rows(&self.y),
            s: rows(&self.s),
            c: self.c.iter().map(rows).collect(),
        }
    }
}

impl ClosedLoop {
    /// The controller with this step, s. States of its own are the commands that lag by its model, those with a lag above `least`, and with an observer `delta = M^-1 r`:
    ///
    /// ```text
    /// delta_k+1 = exp(-K h) delta_k + (1 - exp(-K h)) ((eps'_k+1 - eps'_k)/h - A_2 (y_k+1 + y_k)/2 - M^-1 B m_k)
    /// c = K y + C delta + L d/dt(K y + C delta)        where the delay has passed, L the lead, d/dt by the model
    /// ```
    ///
    /// m is the mean of the commands over the step as the model of the actuators has it: it believes that its own commands act after the delay, with the gain 1,
    /// whatever acts on the plant. Where the plant is the model neither delta nor what is wrong about the lags is excited: their poles are `exp(-K h)` and
    /// `exp(-h/T)`.
    pub(super) fn digital(&self, step: f64, least: f64) -> Digital {
        let (n, p) = self.effect.shape();
        let lags = &self.lags;
        let remembers = self.compensation.is_some() || self.lead.is_some() || self.delay > 0.0;
        let slow: Vec<usize> = (0..p).filter(|i| remembers && lags[*i] > least).collect();
        let q = slow.len();
        let observed = self.compensation.as_ref().map_or(0, |_| n);
        let (whole, late) = steps_of(self.delay, step);
        let is_late = late > 0.0;
        let size = q + observed;
        let zero = |rows| Map::zero(rows, 2 * n, size, p, whole + 2);

        // The actuators over a step: what acts for the rest of the step before, then for the rest of this one.
        let parts = [(whole + 1, late), (whole, step - late)];
        let (mut actuators, mut mean) = (zero(q), zero(p));
        for k in 0..q {
            actuators.s[(k, k)] = 1.0;
        }
        for (command, time) in parts {
            if time == 0.0 {
                continue;
            }
            let mut of_part = zero(p);
            for i in 0..p {
                of_part.c[command][(i, i)] = 1.0;
            }
            for (k, &i) in slow.iter().enumerate() {
                let ratio = time / lags[i];
                let left = (-ratio).exp();
                let missing = (1.0 - left) / ratio;
                of_part.c[command][(i, i)] = 1.0 - missing;
                let before = actuators.rows(k, 1);
                let mut row = DMatrix::zeros(p, 1);
                row[(i, 0)] = missing;
                of_part.add(&before.times(&row));
                let mut after = before.times(&DMatrix::from_element(1, 1, left));
                after.c[command][(0, i)] += 1.0 - left;
                actuators.y.row_mut(k).copy_from(&after.y.row(0));
                actuators.s.row_mut(k).copy_from(&after.s.row(0));
                for (to, c) in actuators.c.iter_mut().zip(&after.c) {
                    to.row_mut(k).copy_from(&c.row(0));
                }
            }
            mean.add(&of_part.times(&(DMatrix::identity(p, p) * (time / step))));
        }

        // The motion until this step's command acts.
        let (A, B) = self.model(&slow);
        let mut ahead = zero(2 * n + q);
        for i in 0..2 * n {
            ahead.y[(i, i)] = 1.0;
        }
        for k in 0..q {
            ahead.s[(2 * n + k, k)] = 1.0;
        }
        let mut delta = zero(n);
        if observed > 0 {
            delta.s.view_mut((0, q), (n, n)).fill_with_identity();
        }
        let mut both = DMatrix::zeros(2 * n + q, p + n);
        both.columns_mut(0, p).copy_from(&B);
        both.view_mut((n, p), (n, n)).fill_with_identity();
        let first = (whole + 1, late);
        for (command, time) in
            std::iter::once(first).chain((1..=whole).rev().map(|command| (command, step)))
        {
            if time == 0.0 {
                continue;
            }
            let (Phi, Gamma) = held(&A, &both, time);
            ahead = ahead.times(&Phi);
            ahead.add(&delta.times(&Gamma.columns(p, n).into_owned()));
            ahead.c[command] += Gamma.columns(0, p);
        }

        // The law and its lead there.
        let (y, v) = (ahead.rows(0, 2 * n), ahead.rows(2 * n, q));
        let mut command = y.times(&self.gain);
        if let Some(Compensation { gain, .. }) = &self.compensation {
            command.add(&delta.times(gain));
        }
        if let Some(lead) = &self.lead {
            // What the actuators do: what does not lag does what the law asks for.
            let mut acting = command.times(&DMatrix::from_fn(p, p, |r, c| {
                f64::from(u8::from(r == c && !slow.contains(&r)))
            }));
            acting.add(&v.times(&DMatrix::from_fn(p, q, |r, k| {
                f64::from(u8::from(r == slow[k]))
            })));
            let mut rate = y.times(&self.held);
            let mut below = DMatrix::zeros(2 * n, p);
            below.rows_mut(n, n).copy_from(&self.effect);
            rate.add(&acting.times(&below));
            let mut below = DMatrix::zeros(2 * n, n);
            below.rows_mut(n, n).fill_with_identity();
            rate.add(&delta.times(&below));
            let times = DMatrix::from_diagonal(&nalgebra::DVector::from_column_slice(lead));
            command.add(&rate.times(&(times * &self.gain)));
        }

        let mut own = zero(size);
        let put = |to: &mut Map, first: usize, from: &Map| {
            let rows = from.y.nrows();
            to.y.rows_mut(first, rows).copy_from(&from.y);
            to.s.rows_mut(first, rows).copy_from(&from.s);
            for (to, from) in to.c.iter_mut().zip(&from.c) {
                to.rows_mut(first, rows).copy_from(from);
            }
        };
        put(&mut own, 0, &actuators);
        let mut after = DMatrix::zeros(size, 2 * n);
        if let Some(Compensation { bandwidth, .. }) = &self.compensation {
            let kept = (-bandwidth * step).exp();
            let mut of_delta = delta.times(&(DMatrix::identity(n, n) * kept));
            of_delta.add(&mean.times(&(&self.effect * (kept - 1.0))));
            // What the errors say at the beginning and at the end.
            let mut end = self.held.rows(n, n) * (-0.5 * (1.0 - kept));
            of_delta.y += &end;
            for i in 0..n {
                let part = (1.0 - kept) / step;
                of_delta.y[(i, n + i)] -= part;
                end[(i, n + i)] += part;
            }
            put(&mut own, q, &of_delta);
            after.rows_mut(q, n).copy_from(&end);
        }
        let used = whole + usize::from(is_late);
        Digital {
            past: (1..=used)
                .map(|j| [command.c[j].clone(), own.c[j].clone()])
                .collect(),
            own: own.s,
            before: own.y,
            after,
            command: own.c[0].clone(),
            gain: command.y,
            own_gain: command.s,
        }
    }

    /// The controller's model `z' = A z + B c` of `z = [y; v]`, v these commands that lag.
    pub(super) fn model(&self, slow: &[usize]) -> (DMatrix<f64>, DMatrix<f64>) {
        plant(&self.held, &self.effect, &self.lags, slow)
    }
}

/// `z' = A z + B c` of `z = [y; v]`, v these commands with their lags; all others act at once.
pub(super) fn plant(
    held: &DMatrix<f64>,
    effect: &DMatrix<f64>,
    lags: &[f64],
    slow: &[usize],
) -> (DMatrix<f64>, DMatrix<f64>) {
    let (n, p) = effect.shape();
    let states = held.nrows();
    let size = states + slow.len();
    let (mut A, mut B) = (DMatrix::zeros(size, size), DMatrix::zeros(size, p));
    A.view_mut((0, 0), (states, states)).copy_from(held);
    B.view_mut((n, 0), (n, p)).copy_from(effect);
    for (k, &i) in slow.iter().enumerate() {
        let at = states + k;
        A.view_mut((n, at), (n, 1)).copy_from(&effect.column(i));
        A[(at, at)] = -lags[i].recip();
        B.column_mut(i).fill(0.0);
        B[(at, i)] = lags[i].recip();
    }
    (A, B)
}
