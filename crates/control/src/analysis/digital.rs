//! The controller as a sampled linear system: law, lead, disturbance observer and prediction.
#![allow(non_snake_case)]

use nalgebra::{DMatrix, DVector};

use super::closed_loop::{ClosedLoop, Compensation};
use crate::baselines::LinearMemory;

/// A controller that measures the errors `y = [eps; eps']` in each step h, with internal states s and commands c:
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

/// A delay in whole steps and the remainder, s.
pub(super) fn steps_of(delay: f64, step: f64) -> (usize, f64) {
    let whole = (delay / step + 1e-9).floor();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of steps
    let steps = whole.max(0.0) as usize;
    (steps, (delay - whole * step).max(0.0))
}

/// `e^(A t)` and its integral times B: zero-order hold over a time t.
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

/// A linear map of `[y; s; c_k, c_k-1, ...]`: a block of columns for each.
struct Map {
    y: DMatrix<f64>,
    s: DMatrix<f64>,
    c: Vec<DMatrix<f64>>,
}

impl Map {
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

    fn put(&mut self, first: usize, rows: &Self) {
        let put = |to: &mut DMatrix<f64>, from: &DMatrix<f64>| {
            to.rows_mut(first, from.nrows()).copy_from(from);
        };
        put(&mut self.y, &rows.y);
        put(&mut self.s, &rows.s);
        for (to, from) in self.c.iter_mut().zip(&rows.c) {
            put(to, from);
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
    /// The controller with this step, s. Its internal states are the commands that lag in its model, those with a lag above `least`, and with an observer
    /// `delta = M^-1 r`:
    ///
    /// ```text
    /// delta_k+1 = exp(-K h) delta_k + (1 - exp(-K h)) ((eps'_k+1 - eps'_k)/h - A_2 (y_k+1 + y_k)/2 - M^-1 B m_k)
    /// c = K y + C delta + L d/dt(K y + C delta)        after the delay, L the lead, d/dt by the model
    /// ```
    ///
    /// m is the mean of the commands over the step by the actuator model, which assumes that its own commands act after the delay, with gain 1, whatever really
    /// acts on the plant. If the plant equals the model, neither delta nor the error of the lag estimates is excited: their poles are `exp(-K h)` and
    /// `exp(-h/T)`.
    ///
    /// A law with integrals s and derivatives adds them and its last velocities nu:
    ///
    /// ```text
    /// c = K y + U [s; d] + ...,   s_k+1 = s_k + h S [y; s; d; delta],   d = (nu_k - nu_k-1)/h,   nu = V eps'
    /// ```
    pub(super) fn digital(&self, step: f64, least: f64) -> Digital {
        let (n, p) = self.effect.shape();
        let remembers = self.compensation.is_some() || self.lead.is_some() || self.delay > 0.0;
        let slow = (0..p).filter(|i| remembers && self.lags[*i] > least);
        let (whole, late) = steps_of(self.delay, step);
        let model = Model {
            of: self,
            step,
            slow: slow.collect(),
            observed: self.compensation.as_ref().map_or(0, |_| n),
            carried: (self.memory.as_ref()).map_or(0, |memory| 2 * memory.velocity.nrows()),
            whole,
            late,
        };
        let q = model.slow.len();
        let (actuators, mean) = model.over_a_step();
        let command = model.command();

        let mut own = model.zero(model.states());
        own.put(0, &actuators);
        if let Some(memory) = &self.memory {
            own.put(q + model.observed, &model.memory(memory).1);
        }
        let mut after = DMatrix::zeros(model.states(), 2 * n);
        if let Some(Compensation { bandwidth, .. }) = &self.compensation {
            let kept = (-bandwidth * step).exp();
            let mut delta = model.delta().times(&(DMatrix::identity(n, n) * kept));
            delta.add(&mean.times(&(&self.effect * (kept - 1.0))));
            // The errors at the beginning and at the end of the step.
            let mut end = self.held.rows(n, n) * (-0.5 * (1.0 - kept));
            delta.y += &end;
            for i in 0..n {
                let part = (1.0 - kept) / step;
                delta.y[(i, n + i)] -= part;
                end[(i, n + i)] += part;
            }
            own.put(q, &delta);
            after.rows_mut(q, n).copy_from(&end);
        }
        let used = whole + usize::from(late > 0.0);
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
}

/// The controller's model of its loop.
struct Model<'a> {
    of: &'a ClosedLoop,
    step: f64,
    /// The lagged commands.
    slow: Vec<usize>,
    /// n with an observer, else 0.
    observed: usize,
    /// The integrals and last velocities of a law that has them.
    carried: usize,
    /// The delay in whole steps, and the remainder, s.
    whole: usize,
    late: f64,
}

impl Model<'_> {
    /// The controller's internal states.
    fn states(&self) -> usize {
        self.slow.len() + self.observed + self.carried
    }

    fn zero(&self, rows: usize) -> Map {
        let (n, p) = self.of.effect.shape();
        Map {
            y: DMatrix::zeros(rows, 2 * n),
            s: DMatrix::zeros(rows, self.states()),
            c: vec![DMatrix::zeros(rows, p); self.whole + 2],
        }
    }

    /// `M^-1 r`, n entries.
    fn delta(&self) -> Map {
        let mut delta = self.zero(self.of.effect.nrows());
        let (q, n) = (self.slow.len(), self.observed);
        delta.s.view_mut((0, q), (n, n)).fill_with_identity();
        delta
    }

    /// The lagged commands after a step, and the mean of all commands over it: the previous command acts for the remainder of the delay, then the last
    /// one.
    fn over_a_step(&self) -> (Map, Map) {
        let (p, q, lags) = (self.of.effect.ncols(), self.slow.len(), &self.of.lags);
        let (mut actuators, mut mean) = (self.zero(q), self.zero(p));
        actuators.s.columns_mut(0, q).fill_with_identity();
        let parts = [
            (self.whole + 1, self.late),
            (self.whole, self.step - self.late),
        ];
        for (command, time) in parts.into_iter().filter(|(_, time)| *time > 0.0) {
            let mut of_part = self.zero(p);
            of_part.c[command].fill_with_identity();
            let mut left = DMatrix::zeros(q, q);
            for (k, &i) in self.slow.iter().enumerate() {
                let ratio = time / lags[i];
                left[(k, k)] = (-ratio).exp();
                let missing = (1.0 - left[(k, k)]) / ratio;
                of_part.c[command][(i, i)] = 1.0 - missing;
                let mut row = DMatrix::zeros(p, q);
                row[(i, k)] = missing;
                of_part.add(&actuators.times(&row));
            }
            mean.add(&of_part.times(&(DMatrix::identity(p, p) * (time / self.step))));
            actuators = actuators.times(&left);
            for (k, &i) in self.slow.iter().enumerate() {
                actuators.c[command][(k, i)] += 1.0 - left[(k, k)];
            }
        }
        (actuators, mean)
    }

    /// The errors and the lagged commands when this step's command acts.
    fn ahead(&self) -> Map {
        let ((n, p), q) = (self.of.effect.shape(), self.slow.len());
        let (A, B) = self.of.model(&self.slow);
        let mut ahead = self.zero(2 * n + q);
        ahead.y.rows_mut(0, 2 * n).fill_with_identity();
        ahead.s.view_mut((2 * n, 0), (q, q)).fill_with_identity();
        let mut pushes = DMatrix::zeros(2 * n + q, p + n);
        pushes.columns_mut(0, p).copy_from(&B);
        pushes.view_mut((n, p), (n, n)).fill_with_identity();
        let first = std::iter::once((self.whole + 1, self.late));
        let others = (1..=self.whole).rev().map(|command| (command, self.step));
        for (command, time) in first.chain(others).filter(|(_, time)| *time > 0.0) {
            let (Phi, Gamma) = held(&A, &pushes, time);
            ahead = ahead.times(&Phi);
            ahead.add(&self.delta().times(&Gamma.columns(p, n).into_owned()));
            ahead.c[command] += Gamma.columns(0, p);
        }
        ahead
    }

    /// `[s; d]` when this step's command acts, and `[s; nu]` after it.
    fn memory(&self, memory: &LinearMemory) -> (Map, Map) {
        let (n, m) = (self.of.effect.nrows(), memory.velocity.nrows());
        let first = self.slow.len() + self.observed;
        let errors = self.ahead().rows(0, 2 * n);
        let nu = errors.rows(n, n).times(&memory.velocity);
        let own = |at: usize| {
            let mut own = self.zero(m);
            own.s.view_mut((0, at), (m, m)).fill_with_identity();
            own
        };
        let (integrals, mut d) = (own(first), own(first + m));
        d = d.times(&-DMatrix::identity(m, m));
        d.add(&nu);
        d = d.times(&(DMatrix::identity(m, m) / self.step));
        let mut now = self.zero(2 * m);
        now.put(0, &integrals);
        now.put(m, &d);

        let columns = |at: usize, count: usize| memory.rate.columns(at, count) * self.step;
        let mut next = integrals;
        next.add(&errors.times(&columns(0, 2 * n)));
        next.add(&now.times(&columns(2 * n, 2 * m)));
        if self.observed > 0 {
            next.add(&self.delta().times(&columns(2 * n + 2 * m, n)));
        }
        let mut after = self.zero(2 * m);
        after.put(0, &next);
        after.put(m, &nu);
        (now, after)
    }

    /// The law and its lead at that time.
    fn command(&self) -> Map {
        let of = self.of;
        let ((n, p), q) = (of.effect.shape(), self.slow.len());
        let (ahead, delta) = (self.ahead(), self.delta());
        let y = ahead.rows(0, 2 * n);
        let mut command = y.times(&of.gain);
        if let Some(Compensation { gain, .. }) = &of.compensation {
            command.add(&delta.times(gain));
        }
        if let Some(memory) = &of.memory {
            command.add(&self.memory(memory).0.times(&memory.input));
        }
        let Some(lead) = &of.lead else {
            return command;
        };
        // Commands without lag act at once.
        let mut quick = DMatrix::identity(p, p);
        let mut lagging = DMatrix::zeros(p, q);
        for (k, &i) in self.slow.iter().enumerate() {
            quick[(i, i)] = 0.0;
            lagging[(i, k)] = 1.0;
        }
        let mut acceleration = y.times(&of.held.rows(n, n).into_owned());
        acceleration.add(&command.times(&(&of.effect * quick)));
        acceleration.add(&ahead.rows(2 * n, q).times(&(&of.effect * lagging)));
        acceleration.add(&delta);
        let mut rate = self.zero(2 * n);
        rate.put(0, &y.rows(n, n));
        rate.put(n, &acceleration);
        let lead = DMatrix::from_diagonal(&DVector::from_column_slice(lead));
        command.add(&rate.times(&(lead * &of.gain)));
        command
    }
}
