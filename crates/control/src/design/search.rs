//! Numerical search for matched parameters of any system.
#![allow(non_snake_case)]

use fly_lie::operators::vee_matrix6;
use nalgebra::{Complex, DMatrix, DVector, Dyn, Matrix4, Matrix6xX, SymmetricEigen};

use super::polynomial::{Characteristic, remainder};
use crate::lehmer::Lehmer;
use crate::linear::{LinearModel, companion};
use crate::pair::Pair;
use crate::poles::polynomial;

/// Searches for desired energies that a system can follow and that place given poles.
///
/// ```text
/// minimise |L_D|^2 + |L_K|^2 + |rest|^2,   L_D, L_K: Konz (5.82),   rest: what the requested polynomial leaves of det(Mbar0 s^2 + Dbar0 s + Kbar0)
/// ```
///
/// over the 30 parameters K', D', M' of every pair, subject to positive energies, by the Levenberg-Marquardt method, in units in which the
/// inertias and the mean of the requested poles are 1.
///
/// It is meant for a few dominant poles: with a polynomial of many, or with a pole that two modes should share, the search is slow and may end in
/// a local minimum. [`MatchingResult::residual`] tells.
///
/// ```
/// use fly_control::design::MatchingSearch;
/// use fly_control::linear::LinearModel;
/// use fly_control::template::Pair;
/// use nalgebra::{Complex, Matrix4, Matrix6xX, dmatrix};
///
/// // A force on the first of two masses, 1 kg and 0.5 kg, with a spring of 20 N/m between them.
/// let model = LinearModel {
///     inertia: dmatrix![1.0, 0.0; 0.0, 0.5],
///     damping: dmatrix![0.0, 0.0; 0.0, 0.0],
///     stiffness: dmatrix![20.0, -20.0; -20.0, 20.0],
///     inputs: dmatrix![1.0; 0.0],
/// };
/// // Pairs (world, first), (world, second), (first, second): they move along x.
/// let along_x = |row: [f64; 2]| Matrix6xX::from_fn(2, |i, j| if i == 0 { row[j] } else { 0.0 });
/// let jacobians = [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]].map(along_x).to_vec();
/// let weight = |w: f64| Matrix4::from_diagonal(&nalgebra::Vector4::new(0.0, 0.0, 0.0, w));
/// let start = [1.0; 3].map(|m| Pair::new(weight(9.0 * m), weight(6.0 * m), weight(m))).to_vec();
///
/// let poles = [-3.0, -3.5, -4.0, -5.0].map(|re| Complex::new(re, 0.0));
/// let found = MatchingSearch { model: &model, jacobians, start, poles: &poles }.solve()?;
/// assert!(found.residual < 1e-9 && found.positive);
/// let slowest = found.poles.iter().map(|s| s.re).fold(f64::NEG_INFINITY, f64::max);
/// assert!((slowest + 3.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatchingSearch<'a> {
    /// The linearised system.
    pub model: &'a LinearModel,
    /// The Jacobian of each pair at the reference, 6 x n.
    pub jacobians: Vec<Matrix6xX<f64>>,
    /// Initial guess of each pair's energies. Their sum must give every degree of freedom some inertia.
    pub start: Vec<Pair>,
    /// Requested poles, 1/s: complex ones with their conjugates, at most 2n. The others follow from the matching.
    pub poles: &'a [Complex<f64>],
}

/// The best energies found.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingResult {
    /// For each pair, scaled so that the desired inertia is as large as the model's.
    pub pairs: Vec<Pair>,
    /// Their sum at the reference.
    pub template: LinearModel,
    /// The largest entry of the minimised residual, dimensionless: below about 1e-9 the system follows the template for small errors, and
    /// the requested poles are among its poles.
    pub residual: f64,
    /// Whether Mbar0 and Kbar0 are positive definite and Dbar0 is positive semidefinite: then W is an energy.
    pub positive: bool,
    /// The poles of the template, 1/s.
    pub poles: Vec<Complex<f64>>,
}

/// Why a search cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatchingSearchError {
    /// The number of Jacobians is not that of the pairs, or the number of columns not n.
    #[error("found {jacobians} Jacobians for {pairs} pairs; expected one for each, 6 x {dof}")]
    Pairs {
        /// Number of Jacobians.
        jacobians: usize,
        /// Number of pairs.
        pairs: usize,
        /// n.
        dof: usize,
    },
    /// The requested poles are not those of a stable system of this size.
    #[error(
        "expected at most {most} requested poles with negative real parts, complex ones with their conjugates"
    )]
    Poles {
        /// 2n.
        most: usize,
    },
    /// A matrix is not positive definite.
    #[error("the inertia of {0} is not positive definite: every degree of freedom needs mass")]
    Inertia(&'static str),
}

/// The number of random starts beside the given one.
const RESTARTS: usize = 8;
/// The most steps from each.
const STEPS: usize = 2000;
/// The least eigenvalue of the desired stiffness, relative to the mean desired inertia and in units of the requested
/// poles.
const LEAST_STIFFNESS: f64 = 1e-4;
/// A result counts as matched below this residual.
const MATCHED: f64 = 1e-10;

impl MatchingSearch<'_> {
    /// Searches from the given start and, if that ends in a poor minimum, from others around it, which are the same on
    /// every machine.
    ///
    /// # Errors
    /// [`MatchingSearchError`]. Failure to match is not an error: see [`MatchingResult::residual`].
    pub fn solve(&self) -> Result<MatchingResult, MatchingSearchError> {
        let problem = Problem::new(self)?;
        let start = problem.start(&self.start);
        if problem.inertia(&start).cholesky().is_none() {
            return Err(MatchingSearchError::Inertia("the start"));
        }
        let mut numbers = Lehmer(1_788_401);
        let mut best: Option<(bool, f64, DVector<f64>)> = None;
        for attempt in 0..=RESTARTS {
            let from = match attempt {
                0 => start.clone(),
                _ => start.map(|x| x * (1.0 + 0.9 * numbers.next())),
            };
            let Some((theta, residual)) = problem.descend(from) else {
                continue;
            };
            let positive = problem.positive(&theta);
            let better = best.as_ref().is_none_or(|(was, least, _)| {
                let settled = |r: f64| r.max(MATCHED);
                (positive && !was && settled(residual) <= 10.0 * settled(*least))
                    || (positive == *was && residual < *least)
                    || settled(residual) < 0.1 * settled(*least)
            });
            if better {
                best = Some((positive, residual, theta));
            }
            if best
                .as_ref()
                .is_some_and(|(positive, residual, _)| *positive && *residual < MATCHED)
            {
                break;
            }
        }
        let (positive, residual, theta) = best.ok_or(MatchingSearchError::Inertia("the start"))?;
        let (pairs, template) = problem.energies(&theta, &self.jacobians);
        let poles = template
            .poles()
            .ok_or(MatchingSearchError::Inertia("the template"))?;
        Ok(MatchingResult {
            pairs,
            template,
            residual,
            positive,
            poles,
        })
    }
}

/// The problem in units in which the model's inertias and the mean requested pole are 1.
struct Problem {
    model: LinearModel,
    complement: DMatrix<f64>,
    /// `J^T Vee(E) J` of each pair and each of the ten basis matrices E of the symmetric 4 x 4 matrices.
    effects: Vec<DMatrix<f64>>,
    requested: Vec<f64>,
    /// The mean modulus of the requested poles, 1/s.
    frequency: f64,
}

/// Index pairs of a symmetric 4 x 4 matrix.
const MOMENTS: [(usize, usize); 10] = [
    (0, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 2),
    (1, 3),
    (2, 3),
];

fn unit_moment((i, j): (usize, usize)) -> Matrix4<f64> {
    let mut E = Matrix4::zeros();
    (E[(i, j)], E[(j, i)]) = (1.0, 1.0);
    E
}

/// # Conversion between problem and user
impl Problem {
    fn new(request: &MatchingSearch<'_>) -> Result<Self, MatchingSearchError> {
        let model = request.model;
        let n = model.dof();
        let fits = request.jacobians.len() == request.start.len()
            && request.jacobians.iter().all(|J| J.ncols() == n);
        if !fits {
            return Err(MatchingSearchError::Pairs {
                jacobians: request.jacobians.len(),
                pairs: request.start.len(),
                dof: n,
            });
        }
        let stable = request.poles.iter().all(|s| s.re < 0.0 && s.is_finite());
        if !stable || request.poles.len() > 2 * n {
            return Err(MatchingSearchError::Poles { most: 2 * n });
        }
        if model.inertia.clone().cholesky().is_none() {
            return Err(MatchingSearchError::Inertia("the model"));
        }
        let count = request.poles.len().max(1) as f64;
        let sizes = request.poles.iter().map(|s| s.norm().ln());
        let frequency = (sizes.sum::<f64>() / count).exp();
        let unit = DMatrix::from_diagonal(&model.inertia.diagonal().map(|m| m.sqrt().recip()));
        let scaled = LinearModel {
            inertia: &unit * &model.inertia * &unit,
            damping: &unit * &model.damping * &unit / frequency,
            stiffness: &unit * &model.stiffness * &unit / frequency.powi(2),
            inputs: &unit * &model.inputs,
        };
        let effects = request.jacobians.iter().flat_map(|J| {
            let J = J * &unit;
            MOMENTS.map(|at| J.transpose() * vee_matrix6(&unit_moment(at)) * &J)
        });
        let requested: Vec<_> = request.poles.iter().map(|s| s / frequency).collect();
        Ok(Self {
            complement: scaled.complement(),
            effects: effects.collect(),
            model: scaled,
            requested: polynomial(&requested).ok_or(MatchingSearchError::Poles { most: 2 * n })?,
            frequency,
        })
    }

    /// M', D', K' of all pairs, each energy for all pairs in turn.
    fn start(&self, pairs: &[Pair]) -> DVector<f64> {
        let w = self.frequency;
        let numbers = |of: fn(&Pair) -> &Matrix4<f64>, scale: f64| {
            pairs
                .iter()
                .flat_map(move |pair| MOMENTS.map(|at| of(pair)[at] / scale))
        };
        let all = numbers(Pair::inertia, 1.0)
            .chain(numbers(Pair::damping, w))
            .chain(numbers(Pair::stiffness, w * w));
        DVector::from_vec(all.collect())
    }

    fn energies(
        &self,
        theta: &DVector<f64>,
        jacobians: &[Matrix6xX<f64>],
    ) -> (Vec<Pair>, LinearModel) {
        let w = self.frequency;
        let (third, per_pair) = (self.effects.len(), MOMENTS.len());
        let scale = self.model.inertia.trace() / self.inertia(theta).trace();
        let moment = |part: usize, pair: usize, unit: f64| {
            let mut X = Matrix4::zeros();
            for (k, (i, j)) in MOMENTS.into_iter().enumerate() {
                let x = theta[part * third + pair * per_pair + k] * unit * scale;
                (X[(i, j)], X[(j, i)]) = (x, x);
            }
            X
        };
        let pairs: Vec<_> = (0..jacobians.len())
            .map(|i| Pair::new(moment(2, i, w * w), moment(1, i, w), moment(0, i, 1.0)))
            .collect();
        let sum = jacobians.iter().cloned().zip(&pairs);
        let template = LinearModel::of_jacobians(self.model.dof(), sum);
        (pairs, template)
    }
}

/// The residual at some parameters, and the terms of its derivative.
struct Residual {
    values: DVector<f64>,
    /// `B_perp^T M0`.
    force: DMatrix<f64>,
    /// `Mbar0^-1`.
    inverse: DMatrix<f64>,
    /// `Mbar0^-1 Dbar0`.
    A_D: DMatrix<f64>,
    /// `Mbar0^-1 Kbar0`.
    A_K: DMatrix<f64>,
    characteristic: Characteristic,
    /// The mean of the diagonal of Mbar0.
    size: f64,
    /// Dbar0 / size.
    damping: Eigen,
    /// Kbar0 / size.
    stiffness: Eigen,
}

type Eigen = SymmetricEigen<f64, Dyn>;

/// The shortfall of each eigenvalue from its least value.
fn lacks(eigen: &Eigen, least: f64) -> impl Iterator<Item = f64> {
    eigen
        .eigenvalues
        .iter()
        .map(move |value| (least - value).max(0.0))
}

fn stack(
    L_D: &DMatrix<f64>,
    L_K: &DMatrix<f64>,
    rest: Vec<f64>,
    lacks: impl Iterator<Item = f64>,
) -> DVector<f64> {
    let all = L_D.iter().chain(L_K).copied().chain(rest).chain(lacks);
    DVector::from_vec(all.collect())
}

/// # The search
impl Problem {
    fn sum(&self, theta: &[f64]) -> DMatrix<f64> {
        let n = self.model.dof();
        (self.effects.iter().zip(theta)).fold(DMatrix::zeros(n, n), |mut sum, (effect, x)| {
            sum += effect * *x;
            sum
        })
    }

    fn inertia(&self, theta: &DVector<f64>) -> DMatrix<f64> {
        self.sum(&theta.as_slice()[..self.effects.len()])
    }

    fn template(&self, theta: &DVector<f64>) -> LinearModel {
        let mut parts = theta
            .as_slice()
            .chunks_exact(self.effects.len())
            .map(|part| self.sum(part));
        let mut next = || parts.next().unwrap_or_default();
        LinearModel::without_inputs(next(), next(), next())
    }

    /// The residual; `None` if the desired inertia is not positive definite.
    fn residual(&self, theta: &DVector<f64>) -> Option<Residual> {
        let template = self.template(theta);
        let desired = template.inertia.clone().cholesky()?;
        let A_D = desired.solve(&template.damping);
        let A_K = desired.solve(&template.stiffness);
        let force = self.complement.transpose() * &self.model.inertia;
        let own = |own: &DMatrix<f64>| self.complement.transpose() * own;
        let L_D = &force * &A_D - own(&self.model.damping);
        let L_K = &force * &A_K - own(&self.model.stiffness);
        let characteristic = Characteristic::new(&companion(&A_D, &A_K));
        let rest = remainder(&characteristic.coefficients, 1.0, &self.requested);
        let size = template.inertia.trace() / self.model.dof() as f64;
        let [damping, stiffness] =
            [template.damping, template.stiffness].map(|X| (X / size).symmetric_eigen());
        let lacks = lacks(&damping, 0.0).chain(lacks(&stiffness, LEAST_STIFFNESS));
        let values = stack(&L_D, &L_K, rest, lacks);
        values.iter().all(|x| x.is_finite()).then_some(Residual {
            values,
            force,
            inverse: desired.inverse(),
            A_D,
            A_K,
            characteristic,
            size,
            damping,
            stiffness,
        })
    }

    /// The Jacobian of the residual: `dA_X = Mbar^-1 (dX - dMbar A_X)`.
    fn derivative(&self, at: &Residual) -> DMatrix<f64> {
        let third = self.effects.len();
        let zero = DMatrix::zeros(self.model.dof(), self.model.dof());
        let columns = (0..3 * third).map(|i| {
            let moved = &self.effects[i % third];
            let effect = &at.inverse * moved;
            let (dA_D, dA_K) = match i / third {
                0 => (-&effect * &at.A_D, -effect * &at.A_K),
                1 => (effect, zero.clone()),
                _ => (zero.clone(), effect),
            };
            let mut change = companion(&dA_D, &dA_K);
            let n = self.model.dof();
            change.view_mut((0, n), (n, n)).fill(0.0);
            let rest = remainder(&at.characteristic.derivative(&change), 0.0, &self.requested);
            // lambda of X / size changes by v^T dX v / size - lambda dsize / size.
            let growth = if i < third {
                moved.trace() / n as f64
            } else {
                0.0
            };
            let lack = |eigen: &Eigen, least: f64, part: usize| {
                let changes = (0..n).map(|k| {
                    let (value, v) = (eigen.eigenvalues[k], eigen.eigenvectors.column(k));
                    let own = if i / third == part {
                        v.dot(&(moved * v))
                    } else {
                        0.0
                    };
                    if value < least {
                        (value * growth - own) / at.size
                    } else {
                        0.0
                    }
                });
                changes.collect::<Vec<_>>()
            };
            let lacks = lack(&at.damping, 0.0, 1).into_iter();
            let lacks = lacks.chain(lack(&at.stiffness, LEAST_STIFFNESS, 2));
            stack(&(&at.force * dA_D), &(&at.force * dA_K), rest, lacks)
        });
        DMatrix::from_columns(&columns.collect::<Vec<_>>())
    }

    /// The end point of the descent, with the largest entry of the residual; `None` if the start is invalid.
    fn descend(&self, mut theta: DVector<f64>) -> Option<(DVector<f64>, f64)> {
        let mut residual = self.residual(&theta)?;
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            if residual.values.amax() < 1e-14 {
                break;
            }
            let J = self.derivative(&residual);
            // (J^T J + mu D)^-1 J^T r = D^-1 J^T (J D^-1 J^T + mu)^-1 r: there are far fewer residuals than parameters.
            let squares = DVector::from_iterator(
                theta.len(),
                J.column_iter().map(|column| column.norm_squared()),
            );
            let floor = (1e-14 * squares.max()).max(f64::MIN_POSITIVE);
            let mut weighted = J.transpose();
            for (mut row, square) in weighted.row_iter_mut().zip(&squares) {
                row /= square.max(floor);
            }
            let square = &J * &weighted;
            let step = loop {
                let mut matrix = square.clone();
                for i in 0..matrix.nrows() {
                    matrix[(i, i)] += damping;
                }
                let solved = matrix.cholesky().map(|c| c.solve(&residual.values));
                let moved = solved.map(|solved| &theta - &weighted * solved);
                let next = moved.and_then(|moved| Some((self.residual(&moved)?, moved)));
                match next {
                    Some((next, moved)) if next.values.norm() < residual.values.norm() => {
                        break Some((next, moved));
                    }
                    _ if damping > 1e12 => break None,
                    _ => damping *= 4.0,
                }
            };
            let Some((next, moved)) = step else { break };
            (residual, theta) = (next, moved);
            damping = (damping / 10.0).max(1e-15);
        }
        let largest = residual.values.amax();
        Some((theta, largest))
    }

    fn positive(&self, theta: &DVector<f64>) -> bool {
        let LinearModel {
            inertia,
            damping,
            stiffness,
            ..
        } = self.template(theta);
        let least = |X: DMatrix<f64>| {
            let values = X.symmetric_eigenvalues();
            values.min() / values.amax().max(f64::MIN_POSITIVE)
        };
        least(inertia) > 0.0 && least(stiffness) > 0.0 && least(damping) > -1e-9
    }
}
