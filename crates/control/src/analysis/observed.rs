//! The observer of disturbances in the sampled loop.
#![allow(non_snake_case)]

use nalgebra::DMatrix;

/// What a controller makes of the estimate of its observer of disturbances.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compensation {
    /// K, rad/s.
    pub bandwidth: f64,
    /// From `M^-1 r` to commands, p x n.
    pub gain: DMatrix<f64>,
}

/// A sampled loop `z_k+1 = Phi z_k + Gamma v_k, v_k = L z_k` with an observer, whose states follow those of the plant.
pub(super) struct Observed {
    /// Of all states, with what the observer makes of the commands that it believes to act.
    pub Phi: DMatrix<f64>,
    /// From states of the plant to all, so that what acts on the plant through Gamma acts on all through `lift Gamma`.
    pub lift: DMatrix<f64>,
    /// L of all states.
    pub gain: DMatrix<f64>,
}

/// With `delta = M^-1 r`, commands that lag by the model and `A_2` the lower rows of the held system:
///
/// ```text
/// delta_k+1 = exp(-K h) delta_k + (1 - exp(-K h)) ((eps'_k+1 - eps'_k)/h - A_2 (y_k+1 + y_k)/2 - M^-1 B m_k),   y = [eps; eps']
/// v_k = L z_k + C delta_k
/// ```
///
/// m is the mean of the commands over the step as the observer's model of the actuators has it: it believes that its own commands act, undelayed and with the gain 1,
/// whatever acts on the plant. Where the plant is the model delta is not excited, and its n poles are `exp(-K h)`.
#[allow(clippy::too_many_arguments)] // a loop
pub(super) fn observed(
    compensation: &Compensation,
    held: &DMatrix<f64>,
    effect: &DMatrix<f64>,
    lags: &[f64],
    slow: &[usize],
    step: f64,
    [Phi, Gamma, gain]: [&DMatrix<f64>; 3],
) -> Observed {
    let (s, p, n) = (Phi.nrows(), Gamma.ncols(), effect.nrows());
    let q = slow.len();
    let kept = (-compensation.bandwidth * step).exp();
    // From states of the plant to the balance: at the end of the step, and at its beginning.
    let mut after = DMatrix::zeros(n, s);
    after
        .columns_mut(0, 2 * n)
        .copy_from(&(held.rows(n, n) * -0.5));
    let mut before = after.clone();
    for i in 0..n {
        after[(i, n + i)] += step.recip();
        before[(i, n + i)] -= step.recip();
    }
    let mut lift = DMatrix::zeros(s + q + n, s);
    lift.view_mut((0, 0), (s, s)).fill_with_identity();
    lift.rows_mut(s + q, n).copy_from(&(&after * (1.0 - kept)));

    let mut all = DMatrix::zeros(s + q + n, s + q + n);
    all.columns_mut(0, s).copy_from(&(&lift * Phi));
    let mut of_plant = all.view_mut((s + q, 0), (n, s));
    of_plant += before * (1.0 - kept);
    // What the observer believes of the commands: those that lag, and the mean of all.
    let mut internal = DMatrix::zeros(s + q + n, p);
    let mut mean = DMatrix::identity(p, p);
    for (k, &i) in slow.iter().enumerate() {
        let ratio = step / lags[i];
        let left = (-ratio).exp();
        all[(s + k, s + k)] = left;
        internal[(s + k, i)] = 1.0 - left;
        let missing = (1.0 - left) / ratio;
        mean[(i, i)] = 1.0 - missing;
        let column = effect.column(i) * (-(1.0 - kept) * missing);
        all.view_mut((s + q, s + k), (n, 1)).copy_from(&column);
    }
    internal
        .rows_mut(s + q, n)
        .copy_from(&(effect * mean * -(1.0 - kept)));
    for i in 0..n {
        all[(s + q + i, s + q + i)] = kept;
    }
    let mut whole = DMatrix::zeros(p, s + q + n);
    whole.columns_mut(0, s).copy_from(gain);
    whole.columns_mut(s + q, n).copy_from(&compensation.gain);
    Observed {
        Phi: all + internal * &whole,
        lift,
        gain: whole,
    }
}
