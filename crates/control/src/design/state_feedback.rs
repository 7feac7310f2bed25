//! State feedback by pole placement or LQR: the classical methods, as a baseline.
#![allow(non_snake_case)]

use nalgebra::{Complex, DMatrix, DVector};

use super::eigenvectors;
use super::riccati::riccati;
use super::sylvester::sylvester;
use crate::lehmer::Lehmer;
use crate::linear::{LinearModel, eigenvalues};

/// The design of a state feedback.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedbackDesign {
    /// Places these poles, 1/s, two per degree of freedom.
    Poles(Vec<Complex<f64>>),
    /// Minimises this cost.
    Optimal(QuadraticCost),
}

/// The quadratic cost of a linear-quadratic regulator, in small errors and inputs, with weights by Bryson's rule (A. E. Bryson, Y.-C. Ho, *Applied optimal
/// control*, 1975): each term is 1 at the largest acceptable value.
///
/// ```text
/// J = integral( sum (eps_i/e_i)^2 + sum (eps'_i/r_i)^2 + sum (du_j/u_j)^2 ) dt
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticCost {
    /// e, n entries, m or rad, > 0; infinite for an error without cost.
    pub errors: DVector<f64>,
    /// r, n entries, m/s or rad/s, > 0; infinite for a velocity without cost.
    pub rates: DVector<f64>,
    /// u, p entries, N or N m, > 0.
    pub inputs: DVector<f64>,
}

impl QuadraticCost {
    /// Q (2n x 2n) and `G R^-1 G^T`.
    fn matrices(&self, G: &DMatrix<f64>) -> [DMatrix<f64>; 2] {
        let weight = |largest: &f64| largest.powi(-2);
        let states = self.errors.iter().chain(&self.rates).map(weight);
        let Q = DVector::from_iterator(self.errors.len() + self.rates.len(), states);
        let cheap = DMatrix::from_diagonal(&self.inputs.map(|u| u * u));
        [DMatrix::from_diagonal(&Q), G * cheap * G.transpose()]
    }

    /// X of the least cost `z^T X z` from a small error `z = [eps; eps']`, 2n x 2n.
    ///
    /// # Errors
    /// [`PlacementError::Mass`], [`PlacementError::Unstabilisable`].
    ///
    /// # Panics
    /// If there are not n errors, n rates and p inputs.
    pub fn least(&self, model: &LinearModel) -> Result<DMatrix<f64>, PlacementError> {
        let (F, G) = model.first_order().ok_or(PlacementError::Mass)?;
        let (n, p) = (model.dof(), G.ncols());
        let sizes = [self.errors.len(), self.rates.len(), self.inputs.len()];
        assert_eq!(sizes, [n, n, p], "errors, rates and inputs");
        let [Q, spread] = self.matrices(&G);
        // Scale time and states such that the entries are near 1.
        let fastest = F.norm().max((Q.norm() * spread.norm()).sqrt().sqrt());
        let unit = |i: usize| if i < n { 1.0 } else { fastest };
        let scale = |M: &DMatrix<f64>, power: [i32; 2]| {
            DMatrix::from_fn(2 * n, 2 * n, |i, j| {
                M[(i, j)] * unit(i).powi(power[0]) * unit(j).powi(power[1])
            })
        };
        let F_s = scale(&F, [-1, 1]) / fastest;
        let Q_s = scale(&Q, [1, 1]) / fastest;
        let spread_s = scale(&spread, [-1, -1]) / fastest;
        // Scale the cost such that that of the errors is 1.
        let size = Q_s.norm();
        let X = riccati(&F_s, &(&spread_s * size), &(Q_s / size))
            .ok_or(PlacementError::Unstabilisable)?;
        Ok(scale(&X, [-1, -1]) * size)
    }
}

impl FeedbackDesign {
    /// The gains for this system.
    ///
    /// # Errors
    /// [`PlacementError`].
    pub fn feedback(&self, model: &LinearModel) -> Result<StateFeedback, PlacementError> {
        match self {
            Self::Poles(poles) => StateFeedback::place(model, poles),
            Self::Optimal(cost) => StateFeedback::optimal(model, cost),
        }
    }

    /// Checks the cost for a system with n degrees of freedom and p inputs.
    ///
    /// # Errors
    /// [`PlacementError::Count`], [`PlacementError::Conjugates`], [`PlacementError::Sizes`].
    pub fn check(&self, dof: usize, inputs: usize) -> Result<(), PlacementError> {
        match self {
            Self::Poles(poles) => StateFeedback::check_poles(dof, poles),
            Self::Optimal(cost) => {
                let found = [cost.errors.len(), cost.rates.len(), cost.inputs.len()];
                let expected = [dof, dof, inputs];
                let fits = found == expected;
                (fits.then_some(())).ok_or(PlacementError::Sizes { expected, found })
            }
        }
    }
}

/// `u = u_R - F_K eps - F_D eps'`, which places the poles of the linearised closed loop or minimises a cost.
///
/// A baseline: it is valid only for small errors about one reference at rest. `docs/baselines.md` in the repository compares it in flight
/// with the energy-based approach with the same poles.
///
/// ```
/// use fly_control::design::StateFeedback;
/// use fly_control::linear::LinearModel;
/// use nalgebra::{Complex, dmatrix, dvector};
///
/// // A force on the first of two masses, 1 kg and 0.5 kg, with a spring of 20 N/m between them.
/// let model = LinearModel {
///     inertia: dmatrix![1.0, 0.0; 0.0, 0.5],
///     damping: dmatrix![0.0, 0.0; 0.0, 0.0],
///     stiffness: dmatrix![20.0, -20.0; -20.0, 20.0],
///     inputs: dmatrix![1.0; 0.0],
/// };
/// let poles = [-3.0, -3.0, -4.0, -5.0].map(|re| Complex::new(re, 0.0));
/// let feedback = StateFeedback::place(&model, &poles)?;
/// // s^3 has the coefficient 3 + 3 + 4 + 5: the damping of the first mass.
/// assert!((feedback.damping[(0, 0)] - 15.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StateFeedback {
    /// `F_K`, p x n.
    pub stiffness: DMatrix<f64>,
    /// `F_D`, p x n.
    pub damping: DMatrix<f64>,
}

/// Why the gains do not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The number of poles is not two per degree of freedom.
    #[error("found {found} poles; expected {expected}, two for each degree of freedom")]
    Count {
        /// 2n.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A complex pole without its conjugate, or one that is not finite.
    #[error(
        "the poles are not those of a real system: expected finite numbers, complex ones with their conjugates"
    )]
    Conjugates,
    /// The model has entries that are not finite.
    #[error("the model has entries that are not finite")]
    NotFinite,
    /// The inertia is not positive definite.
    #[error("the model's inertia M0 is not positive definite: every degree of freedom needs mass")]
    Mass,
    /// The system is not controllable.
    #[error(
        "the system is not controllable: some of the model's own poles are the same for all gains"
    )]
    Uncontrollable,
    /// The number of acceptable errors or rates is not n, or that of acceptable inputs not p.
    #[error("found {} errors, {} rates and {} inputs; expected {}, {} and {}", .found[0], .found[1], .found[2], .expected[0], .expected[1], .expected[2])]
    Sizes {
        /// n, n, p.
        expected: [usize; 3],
        /// The numbers given.
        found: [usize; 3],
    },
    /// Rounding moves poles: the system can hardly be moved so by its inputs.
    #[error(
        "rounding moves the pole {asked} to {found}: the inputs hardly act on this motion; choose slower poles, or poles further apart"
    )]
    Inaccurate {
        /// The pole, or the mean of those near each other, 1/s.
        asked: Complex<f64>,
        /// Its place, 1/s.
        found: Complex<f64>,
    },
    /// No stabilising optimal gains exist.
    #[error(
        "there are no optimal gains: the system is not stabilisable, or an unstable mode has no cost"
    )]
    Unstabilisable,
}

/// # Construction
impl StateFeedback {
    /// Gains that place these 2n poles, 1/s.
    ///
    /// With as many independent inputs as degrees of freedom each coordinate gets two poles and is decoupled from the others. With fewer,
    /// the gains are unique for a single input; for several inputs, of the many solutions one with well-conditioned eigenvectors is
    /// chosen, so that it is robust to model errors. A pole that is repeated more often than there are inputs has too few eigenvectors for that.
    ///
    /// # Errors
    /// [`PlacementError`]; [`PlacementError::Inaccurate`] if rounding moves a pole by more than a hundredth.
    pub fn place(model: &LinearModel, poles: &[Complex<f64>]) -> Result<Self, PlacementError> {
        let factors = Self::check(model.dof(), poles)?;
        let parts = [
            &model.inertia,
            &model.damping,
            &model.stiffness,
            &model.inputs,
        ];
        if !parts.into_iter().flatten().all(|entry| entry.is_finite()) {
            return Err(PlacementError::NotFinite);
        }
        if model.inertia.clone().cholesky().is_none() {
            return Err(PlacementError::Mass);
        }
        if let Some(feedback) = Self::decoupled(model, &factors) {
            return Ok(feedback);
        }
        let (F, G) = model.first_order().ok_or(PlacementError::Mass)?;
        if G.ncols() == 0 || rank_of_reachable(&F, &G) < F.nrows() {
            return Err(PlacementError::Uncontrollable);
        }
        let found = [
            eigenvectors::gains(&F, &G, poles),
            chained_gains(&F, &G, &factors),
        ];
        let judged = found.into_iter().flatten().filter_map(|K| {
            let missed = missed(poles, &eigenvalues(&(&F - &G * &K))?);
            Some((missed, K))
        });
        let (accurate, others): (Vec<_>, Vec<_>) =
            judged.partition(|(missed, _)| missed.error <= ACCURATE);
        // Which of both bears a wrong model better depends on how near the poles are to each other.
        let scattered = accurate
            .into_iter()
            .map(|(_, K)| (scatter(&F, &G, &K, poles), K));
        let Some((_, K)) = scattered.min_by(|(a, _), (b, _)| a.total_cmp(b)) else {
            let best = others
                .iter()
                .min_by(|(a, _), (b, _)| a.error.total_cmp(&b.error));
            return Err(best.map_or(PlacementError::Uncontrollable, |(missed, _)| {
                let Missed { asked, found, .. } = *missed;
                PlacementError::Inaccurate { asked, found }
            }));
        };
        let n = model.dof();
        Ok(Self {
            stiffness: K.columns(0, n).into_owned(),
            damping: K.columns(n, n).into_owned(),
        })
    }

    /// The gains of least cost, from the algebraic [Riccati equation](super::riccati), for the continuous loop, which is stable for any gain above half of
    /// these and has a phase margin of 60 degrees in each input. The sampled loop tells how much holding, delay and lag leave of that.
    ///
    /// ```
    /// use fly_control::design::{QuadraticCost, StateFeedback};
    /// use fly_control::linear::LinearModel;
    /// use nalgebra::{dmatrix, dvector};
    ///
    /// // A mass of 1 kg: gains of 1 and sqrt(3) where position, velocity and force cost the same.
    /// let one = dmatrix![1.0];
    /// let none = dmatrix![0.0];
    /// let model = LinearModel { inertia: one.clone(), damping: none.clone(), stiffness: none, inputs: one };
    /// let cost = QuadraticCost { errors: dvector![1.0], rates: dvector![1.0], inputs: dvector![1.0] };
    /// let feedback = StateFeedback::optimal(&model, &cost)?;
    /// assert!((feedback.stiffness[(0, 0)] - 1.0).abs() < 1e-12);
    /// assert!((feedback.damping[(0, 0)] - 3.0_f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlacementError`].
    pub fn optimal(model: &LinearModel, cost: &QuadraticCost) -> Result<Self, PlacementError> {
        let n = model.dof();
        FeedbackDesign::Optimal(cost.clone()).check(n, model.inputs.ncols())?;
        let X = cost.least(model)?;
        let (_, G) = model.first_order().ok_or(PlacementError::Mass)?;
        let cheap = DMatrix::from_diagonal(&cost.inputs.map(|u| u * u));
        let K = cheap * G.transpose() * X;
        Ok(Self {
            stiffness: K.columns(0, n).into_owned(),
            damping: K.columns(n, n).into_owned(),
        })
    }

    /// Checks that these can be the poles of a system with n degrees of freedom.
    ///
    /// # Errors
    /// [`PlacementError::Count`], [`PlacementError::Conjugates`].
    pub fn check_poles(dof: usize, poles: &[Complex<f64>]) -> Result<(), PlacementError> {
        Self::check(dof, poles).map(|_| ())
    }

    fn check(dof: usize, poles: &[Complex<f64>]) -> Result<Vec<[f64; 2]>, PlacementError> {
        let (expected, found) = (2 * dof, poles.len());
        if found != expected {
            return Err(PlacementError::Count { expected, found });
        }
        factors(poles).ok_or(PlacementError::Conjugates)
    }

    /// Writes du for an error and its rate (n entries each) to `out` (p entries). Does not allocate.
    pub fn input(&self, eps: &DVector<f64>, eps_dot: &DVector<f64>, out: &mut DVector<f64>) {
        out.gemv(-1.0, &self.stiffness, eps, 0.0);
        out.gemv(-1.0, &self.damping, eps_dot, 1.0);
    }

    /// `F_K`, `F_D` in the form of [`LinearModel::closed`].
    pub fn gains(&self) -> [DMatrix<f64>; 2] {
        [self.stiffness.clone(), self.damping.clone()]
    }
}

/// # The two cases
impl StateFeedback {
    /// `eps_i'' + d_i eps_i' + k_i eps_i = 0`, if there is an input for every degree of freedom.
    fn decoupled(model: &LinearModel, factors: &[[f64; 2]]) -> Option<Self> {
        let inputs = model.inputs.clone();
        if inputs.nrows() != inputs.ncols() {
            return None;
        }
        let singular = inputs.singular_values();
        if singular.min() <= 1e-9 * singular.max() {
            return None;
        }
        let inverse = inputs.lu();
        let of = |i: usize| {
            DMatrix::from_diagonal(&DVector::from_iterator(
                model.dof(),
                factors.iter().map(|f| f[i]),
            ))
        };
        let gains = Self {
            stiffness: inverse.solve(&(&model.inertia * of(0) - &model.stiffness))?,
            damping: inverse.solve(&(&model.inertia * of(1) - &model.damping))?,
        };
        let mut entries = gains.stiffness.iter().chain(&gains.damping);
        entries.all(|entry| entry.is_finite()).then_some(gains)
    }
}

/// K of `(F - G K) X = X L`, where L has the poles, for X with `K X = Y` given: `F X - X L = G Y`, `K = Y X^-1`.
fn chained_gains(F: &DMatrix<f64>, G: &DMatrix<f64>, factors: &[[f64; 2]]) -> Option<DMatrix<f64>> {
    let (m, p) = (F.nrows(), G.ncols());
    let L = chained(factors);
    let mut numbers = Lehmer(20_210_427);
    let mut best: Option<(f64, DMatrix<f64>)> = None;
    for _ in 0..64 {
        // F - G K0 must share no pole with L: apply a preliminary gain K0, and add it afterwards.
        let scale = F.norm() / G.norm();
        let before = DMatrix::from_fn(p, m, |_, _| scale * numbers.next());
        let Y = DMatrix::from_fn(p, m, |_, _| numbers.next());
        let Some(X) = sylvester(&(F - G * &before), &L, &(G * &Y)) else {
            continue;
        };
        // Columns of unit length: only their directions matter to the conditioning.
        let lengths = X.column_iter().map(|c| c.norm());
        let unit = &X * DMatrix::from_diagonal(&DVector::from_iterator(m, lengths.map(f64::recip)));
        let singular = unit.singular_values();
        let condition = singular.max() / singular.min();
        let Some(gain) = X.transpose().lu().solve(&Y.transpose()) else {
            continue;
        };
        if condition.is_finite() && best.as_ref().is_none_or(|(least, _)| condition < *least) {
            best = Some((condition, before + gain.transpose()));
        }
    }
    best.map(|(_, K)| K)
}

/// Poles are accurate to this part of them.
const ACCURATE: f64 = 0.01;
/// Poles that are nearer to each other than this part of them are counted together: rounding moves each of them far, but not their mean.
const TOGETHER: f64 = 0.05;

/// The pole that is missed most.
struct Missed {
    error: f64,
    asked: Complex<f64>,
    found: Complex<f64>,
}

/// How far poles move, as a part of what was asked, in models whose entries are wrong by a thousandth.
fn scatter(F: &DMatrix<f64>, G: &DMatrix<f64>, K: &DMatrix<f64>, asked: &[Complex<f64>]) -> f64 {
    let mut numbers = Lehmer(2026);
    let mut of_model = || {
        let wrong = F.map(|entry| entry * (1.0 + 1e-3 * numbers.next()));
        let found = eigenvalues(&(wrong - G * K)).unwrap_or_default();
        let away = |s: &Complex<f64>| {
            let distances = asked.iter().map(|t| (s - t).norm() / t.norm());
            distances.fold(f64::INFINITY, f64::min)
        };
        found.iter().map(away).fold(0.0, f64::max)
    };
    (0..8).map(|_| of_model()).sum()
}

/// Compares the means of the poles that lie together with those of the nearest poles found.
fn missed(asked: &[Complex<f64>], found: &[Complex<f64>]) -> Missed {
    let mean = |of: &[Complex<f64>]| of.iter().sum::<Complex<f64>>() / of.len() as f64;
    let (mut left, mut found) = (asked.to_vec(), found.to_vec());
    let mut worst = Missed {
        error: 0.0,
        asked: Complex::default(),
        found: Complex::default(),
    };
    while let Some(first) = left.pop() {
        let mut cluster = vec![first];
        while let Some(next) = left.iter().position(|s| {
            let near = |t: &Complex<f64>| (s - t).norm() <= TOGETHER * t.norm();
            cluster.iter().any(near)
        }) {
            cluster.push(left.swap_remove(next));
        }
        let wanted = mean(&cluster);
        found.sort_by(|a, b| (a - wanted).norm().total_cmp(&(b - wanted).norm()));
        let nearest: Vec<_> = found.drain(..cluster.len().min(found.len())).collect();
        let got = mean(&nearest);
        let error = (got - wanted).norm() / wanted.norm().max(f64::MIN_POSITIVE);
        if error.is_nan() || error > worst.error {
            worst = Missed {
                error,
                asked: wanted,
                found: got,
            };
        }
    }
    worst
}

/// Real quadratic factors `s^2 + d s + k` as `[k, d]` of all the poles, pairing the slowest real ones; `None` if they are not those of a real
/// system.
fn factors(poles: &[Complex<f64>]) -> Option<Vec<[f64; 2]>> {
    let size = |s: &Complex<f64>| s.norm().max(f64::MIN_POSITIVE);
    if poles.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let is_real = |s: &&Complex<f64>| s.im.abs() <= 1e-12 * size(s);
    let mut real: Vec<f64> = poles.iter().filter(is_real).map(|s| s.re).collect();
    let mut complex: Vec<_> = poles.iter().filter(|s| !is_real(s)).copied().collect();
    let mut factors = Vec::new();
    while let Some(s) = complex.pop() {
        let conjugate = complex
            .iter()
            .position(|t| (t - s.conj()).norm() <= 1e-9 * size(&s))?;
        complex.swap_remove(conjugate);
        factors.push([s.norm_sqr(), -2.0 * s.re]);
    }
    real.sort_by(f64::total_cmp);
    for pair in real.chunks_exact(2) {
        factors.push([pair[0] * pair[1], -(pair[0] + pair[1])]);
    }
    Some(factors)
}

/// A matrix whose eigenvalues are the roots of all factors, with a single eigenvector for a root shared by several factors: the companion
/// matrices of the factors along the diagonal, each chained to the next.
fn chained(factors: &[[f64; 2]]) -> DMatrix<f64> {
    let size = 2 * factors.len();
    let mut L = DMatrix::zeros(size, size);
    for (i, [k, d]) in factors.iter().enumerate() {
        let at = 2 * i;
        let frequency = k.sqrt().max(d.abs()).max(f64::MIN_POSITIVE);
        L[(at, at + 1)] = frequency;
        L[(at + 1, at)] = -k / frequency;
        L[(at + 1, at + 1)] = -d;
        if at + 2 < size {
            L[(at + 1, at + 2)] = frequency;
        }
    }
    L
}

/// The rank of `[G, F G, F^2 G, ..]`, by orthonormal bases: powers of F would swamp the small directions.
fn rank_of_reachable(F: &DMatrix<f64>, G: &DMatrix<f64>) -> usize {
    let m = F.nrows();
    // Scale time such that positions and velocities are comparable.
    let time = F.norm().max(f64::MIN_POSITIVE).recip();
    let scaled = F * time;
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let mut front: Vec<DVector<f64>> = G.column_iter().map(nalgebra::Matrix::into_owned).collect();
    while let Some(mut v) = front.pop() {
        let length = v.norm();
        // Twice: the first pass leaves rounding errors.
        for _ in 0..2 {
            for b in &basis {
                v.axpy(-b.dot(&v), b, 1.0);
            }
        }
        if v.norm() > 1e-9 * length && v.norm() > 0.0 && basis.len() < m {
            v.normalize_mut();
            front.push(&scaled * &v);
            basis.push(v);
        }
    }
    basis.len()
}
