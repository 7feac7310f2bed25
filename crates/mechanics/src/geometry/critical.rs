//! All critical points of a function on a manifold, and their kind.

use fly_lie::CriticalKind;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use num_dual::HyperDual64;

use super::chart::orthonormal;
use super::error::{expect_finite, expect_size};
use super::kinematics::pseudo_inverse;
use super::{CoordinatesError, Embedded};
use crate::PseudoInverse;
use crate::multibody::{Model, Workspace};

/// A critical point `x` of a function V on the manifold `φ(x) = 0`, or one of a connected set of them, Konz (A.112):
///
/// ```text
/// ∂V/∂x + Φᵀ λ = 0,   φ(x) = 0          K = Aᵀ (∂²V/∂x² + λ_κ ∂²φ^κ/∂x²) A          (A.112), (A.116)
/// ```
///
/// with an orthonormal basis A of the tangent space.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPoint {
    /// `x`, ν entries; for a set, one of its points.
    pub configuration: DVector<f64>,
    /// `V(x)`
    pub value: f64,
    /// `λ`, one per equation of the constraint; of least norm if the equations are dependent.
    pub multipliers: DVector<f64>,
    /// The orthonormal basis of the tangent space, ν x n, to which the Hessian refers.
    pub tangent_basis: DMatrix<f64>,
    /// `K`, n x n. In the velocities of [`Coordinates`](super::Coordinates) it is what
    /// [`second_directional_derivatives`](super::second_directional_derivatives) returns there.
    pub hessian: DMatrix<f64>,
    /// Its eigenvalues, the smallest first.
    pub eigenvalues: DVector<f64>,
    /// The Morse index: the number of directions in which V decreases.
    pub index: usize,
    /// The dimension of the set of critical points that it belongs to: 0 if it is isolated.
    pub dimension: usize,
    /// Its kind, (A.114): strict if it is isolated. None if second derivatives do not decide: some vanish although it is isolated.
    pub kind: Option<CriticalKind>,
}

/// The search for all critical points of a function on an [`Embedded`] manifold, Konz (A.110) to (A.116).
///
/// From starts spread over a box it takes Newton steps on Lagrange's system (A.112), which converge to minima, saddle points and maxima alike, and also steps
/// that reduce `|∂V|`, which reach points that Newton's method misses but stall elsewhere. Points found are deflated, and further starts follow, until a round
/// of them finds nothing new. Completeness is not proven.
///
/// Non-isolated points are recognised by walking along the directions without curvature. Each connected set is listed once, with its dimension.
///
/// ```
/// use fly_lie::CriticalKind::{Maximum, Minimum, Saddle};
/// use fly_mechanics::geometry::{CriticalSearch, RotationMatrix};
/// use nalgebra::{DVector, RealField, convert};
///
/// // The attitude potential tr(P (I - R)) of a controller: it wants R = I and may come to rest at three half turns.
/// fn potential<T: RealField + Copy>(x: &DVector<T>) -> T {
///     (T::one() - x[0]) * convert(3.0) + (T::one() - x[4]) * convert(2.0) + (T::one() - x[8])
/// }
/// let found = CriticalSearch::new(&RotationMatrix, vec![[-1.0, 1.0]; 9])?.find(potential)?;
/// let kinds: Vec<_> = found.iter().map(|point| point.kind.unwrap()).collect();
/// assert_eq!(kinds, [Minimum, Saddle, Saddle, Maximum]);
/// let values: Vec<_> = found.iter().map(|point| point.value.round()).collect();
/// assert_eq!(values, [0.0, 6.0, 8.0, 10.0]);
///
/// // With two weights equal, two of the half turns are part of a circle of them.
/// fn symmetric<T: RealField + Copy>(x: &DVector<T>) -> T {
///     (T::one() - x[0]) * convert(3.0) + (T::one() - x[4]) + (T::one() - x[8])
/// }
/// let found = CriticalSearch::new(&RotationMatrix, vec![[-1.0, 1.0]; 9])?.find(symmetric)?;
/// let dimensions: Vec<_> = found.iter().map(|point| point.dimension).collect();
/// assert_eq!(dimensions, [0, 0, 1]);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CriticalSearch<'a, M> {
    manifold: &'a M,
    bounds: Vec<[f64; 2]>,
}

/// The most Newton steps: quadratic convergence needs few, points without curvature many.
const STEPS: i32 = 120;
/// The number of starts per round.
const STARTS: usize = 48;
/// The longest step, as a fraction of the box: far away the slope is a poor guide.
const LONGEST: f64 = 0.15;
/// Tolerance for identical points and for leaving the box, as a fraction of the box.
const SAME: f64 = 1e-5;
/// Slopes below this fraction of the steepest one are zero.
const FLAT: f64 = 1e-11;
/// Eigenvalues below this fraction of the largest one are zero.
const ZERO: f64 = 1e-6;
/// The number of paths tried from one set to another.
const ENDS: usize = 3;
/// The step along a direction without curvature, as a fraction of the box.
const WALK: f64 = 2e-3;

/// # Construction
impl<'a, M: Embedded> CriticalSearch<'a, M> {
    /// For this manifold, within these bounds of every configuration coordinate.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`] unless there is one pair of bounds per coordinate; [`CoordinatesError::NotFinite`] for bounds that are not finite or
    /// empty.
    pub fn new(manifold: &'a M, bounds: Vec<[f64; 2]>) -> Result<Self, CoordinatesError> {
        let least = DVector::from_iterator(bounds.len(), bounds.iter().map(|[low, _]| *low));
        expect_size("the bounds", (manifold.config_dim(), 1), &least)?;
        let holds_space =
            |[low, high]: &[f64; 2]| low.is_finite() && high.is_finite() && low < high;
        if !bounds.iter().all(holds_space) {
            return Err(CoordinatesError::NotFinite {
                what: "a bound, or the space between two,",
                configuration: super::error::list(&least),
            });
        }
        Ok(Self { manifold, bounds })
    }
}

/// # Search
impl<M: Embedded> CriticalSearch<'_, M> {
    /// The critical points of V within the bounds, in ascending order of V.
    ///
    /// # Errors
    /// [`CoordinatesError::NotFinite`] if no start has a finite value.
    pub fn find(
        &self,
        V: impl Fn(&DVector<HyperDual64>) -> HyperDual64,
    ) -> Result<Vec<CriticalPoint>, CoordinatesError> {
        // Relative to the box, so that newtons and radians are comparable.
        let extents =
            DVector::from_iterator(self.bounds.len(), self.bounds.iter().map(|[a, b]| b - a));
        let whole = |y: &DVector<HyperDual64>| y.zip_map(&extents, |y, extent| y * extent);
        let phi = |x: &DVector<HyperDual64>| self.manifold.constraint(x);
        let (scaled_V, scaled_phi) = (
            |y: &DVector<HyperDual64>| V(&whole(y)),
            |y: &DVector<HyperDual64>| phi(&whole(y)),
        );
        let scaled = self.bounds.iter().zip(&extents);
        let scaled: Vec<_> = scaled.map(|(b, extent)| b.map(|b| b / extent)).collect();
        let mut problem = Problem {
            V: &scaled_V,
            phi: &scaled_phi,
            bounds: &scaled,
            steepest: 0.0,
        };
        let mut starts: Vec<_> = (0..STARTS).filter_map(|k| problem.start(k)).collect();
        let slopes = starts.iter().map(|(_, here)| here.steepness);
        problem.steepest = slopes.fold(0.0, f64::max);
        if starts.is_empty() {
            return Err(CoordinatesError::NotFinite {
                what: "the function, or the constraint, at every start",
                configuration: "any start in the bounds".to_owned(),
            });
        }

        let (mut isolated, mut sets) = (Vec::<CriticalPoint>::new(), Vec::<Set>::new());
        let mut rounds = 0;
        loop {
            let known = isolated.len() + sets.len();
            for ((start, _), method) in starts.iter().flat_map(|start| [(start, 0), (start, 1)]) {
                let found = match method {
                    0 => problem.converge(start.clone(), &isolated),
                    _ => problem.descend(start.clone()),
                };
                let Some((x, here)) = found else {
                    continue;
                };
                let point = problem.classify(&x, here);
                if point.dimension == 0 {
                    let same = |other: &CriticalPoint| {
                        problem.distance(&x, &other.configuration) < SAME.sqrt()
                    };
                    if !isolated.iter().any(same) {
                        isolated.push(point);
                    }
                } else if let Some(set) = sets.iter_mut().find(|set| problem.joins(&point, set)) {
                    set.members.push(x);
                } else {
                    let members = vec![x];
                    sets.push(Set { point, members });
                }
            }
            if isolated.len() + sets.len() == known {
                break;
            }
            rounds += 1;
            let fresh = rounds * STARTS..(rounds + 1) * STARTS;
            starts = fresh.filter_map(|k| problem.start(k)).collect();
        }
        // Points from distant ends of one set may have been taken for two sets.
        let mut k = 1;
        while k < sets.len() {
            let (before, rest) = sets.split_at_mut(k);
            let joins = |set: &&mut Set| {
                let mut ends = rest[0].members.iter().take(ENDS);
                let mut from = rest[0].point.clone();
                ends.any(|x| {
                    from.configuration.copy_from(x);
                    problem.joins(&from, set)
                })
            };
            match before.iter_mut().find(joins) {
                Some(set) => {
                    set.members.append(&mut rest[0].members);
                    sets.remove(k);
                }
                None => k += 1,
            }
        }
        isolated.extend(sets.into_iter().map(|set| set.point));
        isolated.sort_by(|a, b| a.value.total_cmp(&b.value));
        let plain = Problem {
            V: &V,
            phi: &phi,
            bounds: &self.bounds,
            steepest: problem.steepest,
        };
        let plain = |point: CriticalPoint| {
            let x = point.configuration.component_mul(&extents);
            let here = plain.at(&x)?;
            Some(CriticalPoint {
                eigenvalues: sorted(here.hessian.symmetric_eigenvalues()),
                configuration: x,
                multipliers: here.multipliers,
                tangent_basis: here.tangent,
                hessian: here.hessian,
                ..point
            })
        };
        Ok(isolated.into_iter().filter_map(plain).collect())
    }
}

/// The equilibria of a system without inputs: the critical points of its potential energy, [`potential_energy`](crate::multibody::Workspace::potential_energy),
/// stable at its minima. Angles should be [`with_cos_sin`](crate::multibody::Joint::with_cos_sin), so that full turns are not different configurations.
///
/// ```
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::geometry::equilibria;
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// let bob = PseudoInertia::point_mass(2.0, -Vector3::z())?;
/// let hinge = Joint::revolute(Vector3::y())?.with_cos_sin();
/// let pendulum = Model::builder().body(Body::new("pendulum", hinge).inertia(bob)).build()?;
/// let rest = equilibria(&pendulum, vec![[-1.0, 1.0]; 2])?;
/// assert_eq!(rest.len(), 2);
/// // It hangs, or stands on its tip.
/// assert_eq!((rest[0].index, rest[1].index), (0, 1));
/// assert!((rest[1].value - rest[0].value - 2.0 * 9.81 * 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`CriticalSearch::new`] and [`CriticalSearch::find`].
pub fn equilibria(
    model: &Model<f64>,
    bounds: Vec<[f64; 2]>,
) -> Result<Vec<CriticalPoint>, CoordinatesError> {
    let system = model.cast::<HyperDual64>();
    let rest = vec![HyperDual64::from_re(0.0); model.dof()];
    CriticalSearch::new(model, bounds)?.find(|x| {
        let mut workspace = Workspace::new(&system);
        workspace.update(&system, x.as_slice(), &rest);
        workspace.potential_energy(&system)
    })
}

/// Function, constraint and box.
struct Problem<'a> {
    V: &'a dyn Fn(&DVector<HyperDual64>) -> HyperDual64,
    phi: &'a dyn Fn(&DVector<HyperDual64>) -> DVector<HyperDual64>,
    bounds: &'a [[f64; 2]],
    /// The steepest slope at a start.
    steepest: f64,
}

/// A connected set of critical points, as far as explored.
struct Set {
    point: CriticalPoint,
    members: Vec<DVector<f64>>,
}

/// V and its derivatives at a point.
struct Here {
    value: f64,
    /// `|∂V/∂x|`
    steepness: f64,
    multipliers: DVector<f64>,
    tangent: DMatrix<f64>,
    /// `Aᵀ ∂V/∂x`
    slope: DVector<f64>,
    hessian: DMatrix<f64>,
}

/// # One point
impl Problem<'_> {
    /// Derivatives on the constraint.
    fn at(&self, x: &DVector<f64>) -> Option<Here> {
        let nu = x.len();
        let along = |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| {
            x.map_with_location(|k, _, x| HyperDual64::new(x, a(k), b(k), 0.0))
        };
        let mut gradient = DVector::zeros(nu);
        let mut columns = Vec::with_capacity(nu);
        let mut value = f64::NAN;
        for alpha in 0..nu {
            let there = along(&|k| f64::from(u8::from(k == alpha)), &|_| 0.0);
            let V = (self.V)(&there);
            (value, gradient[alpha]) = (V.re, V.eps1);
            columns.push((self.phi)(&there).map(|phi| phi.eps1));
        }
        let Phi = DMatrix::from_columns(&columns);
        expect_finite("", &gradient, x).ok()?;
        expect_finite("", &Phi, x).ok()?;
        let (inverse, rank) = pseudo_inverse(&Phi);
        let multipliers = -inverse.tr_mul(&gradient);
        let projector = DMatrix::identity(nu, nu) - &inverse * &Phi;
        let tangent = orthonormal(&projector, nu - rank);
        let n = tangent.ncols();
        let mut hessian = DMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let there = along(&|k| tangent[(k, i)], &|k| tangent[(k, j)]);
                let phi = (self.phi)(&there).map(|phi| phi.eps1eps2);
                hessian[(i, j)] = (self.V)(&there).eps1eps2 + multipliers.dot(&phi);
                hessian[(j, i)] = hessian[(i, j)];
            }
        }
        expect_finite("", &hessian, x).ok()?;
        Some(Here {
            slope: tangent.tr_mul(&gradient),
            steepness: gradient.norm(),
            value,
            multipliers,
            tangent,
            hessian,
        })
    }

    /// The point of the constraint near `x`.
    fn project(&self, mut x: DVector<f64>) -> Option<DVector<f64>> {
        for _ in 0..50 {
            let mut columns = Vec::with_capacity(x.len());
            let mut violation = DVector::zeros(0);
            for alpha in 0..x.len() {
                let unit = |k| f64::from(u8::from(k == alpha));
                let there = x.map_with_location(|k, _, x| HyperDual64::new(x, unit(k), 0.0, 0.0));
                let phi = (self.phi)(&there);
                columns.push(phi.map(|phi| phi.eps1));
                violation = phi.map(|phi| phi.re);
            }
            let Phi = DMatrix::from_columns(&columns);
            expect_finite("", &Phi, &x).ok()?;
            let step = pseudo_inverse(&Phi).0 * &violation;
            x -= &step;
            if step.norm() <= 1e-14 * x.norm().max(1e-3) && violation.norm() < 1e-6 {
                return Some(x);
            }
        }
        None
    }

    /// The distance of two points relative to the box.
    fn distance(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        let scaled = (a - b).map_with_location(|k, _, d| d / self.extent(k));
        scaled.norm()
    }

    fn extent(&self, k: usize) -> f64 {
        self.bounds[k][1] - self.bounds[k][0]
    }

    /// The start with this index: a point of the box, evenly spread (an additive recurrence with irrational steps), projected onto the
    /// constraint.
    fn start(&self, number: usize) -> Option<(DVector<f64>, Here)> {
        // The root of g^(ν+1) = g + 1, the generalised golden ratio.
        let nu = self.bounds.len();
        let ratio = (0..60).fold(1.5_f64, |g, _| (1.0 + g).powf(1.0 / (nu as f64 + 1.0)));
        let x = DVector::from_fn(nu, |k, _| {
            let step = ratio.powf(-(k as f64 + 1.0));
            let part = (0.5 + step * (number as f64 + 1.0)).fract();
            self.bounds[k][0] + part * self.extent(k)
        });
        let x = self.project(x)?;
        let here = self.at(&x)?;
        Some((x, here))
    }
}

/// # Newton's method
impl Problem<'_> {
    /// The critical point within the bounds that Newton's method reaches, with the known points deflated.
    fn converge(
        &self,
        mut x: DVector<f64>,
        known: &[CriticalPoint],
    ) -> Option<(DVector<f64>, Here)> {
        let mut before = f64::INFINITY;
        for it in 0..STEPS {
            let here = self.at(&x)?;
            let slope = here.slope.norm();
            if slope <= FLAT * self.steepest.max(here.steepness) {
                // Down to rounding.
                if slope == 0.0 || slope >= before {
                    return self.is_inside(&x).then_some((x, here));
                }
                before = slope;
                x = self.moved(&x, newton(&here))?;
                continue;
            }
            let mut step = newton(&here);
            // Deflation multiplies the equations by a factor that is infinite at the known points; it affects only the length of the step.
            let pull: f64 = known
                .iter()
                .map(|point| {
                    let away = &x - &point.configuration;
                    let square = self.distance(&x, &point.configuration).powi(2).max(1e-30);
                    let inward = away
                        .map_with_location(|k, _, d| d / self.extent(k).powi(2))
                        .dot(&step);
                    -2.0 * inward / (square * (1.0 + square))
                })
                .sum();
            step /= 1.0 - pull;
            let length = self.distance(&step, &DVector::zeros(x.len()));
            if !length.is_finite() {
                return None;
            }
            // Shrinking steps end cycles of Newton's method.
            let longest = LONGEST * 0.93_f64.powi(it).max(0.02);
            if length > longest {
                step *= longest / length;
            }
            x = self.moved(&x, step)?;
        }
        None
    }

    /// The critical point reached by minimising `|Aᵀ ∂V|` with Levenberg-Marquardt steps: where Newton's method oscillates, it reaches points that would be
    /// missed. Where the slope has a nonzero minimum it fails.
    fn descend(&self, mut x: DVector<f64>) -> Option<(DVector<f64>, Here)> {
        let mut here = self.at(&x)?;
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            let slope = here.slope.norm();
            if slope <= 1e-4 * self.steepest {
                let x = self.settle(x)?;
                let here = self.at(&x)?;
                return self.is_inside(&x).then_some((x, here));
            }
            let K = &here.hessian;
            let n = K.nrows();
            let mut normal = K * K;
            let most = normal.diagonal().amax().max(f64::MIN_POSITIVE);
            for i in 0..n {
                normal[(i, i)] += damping * most;
            }
            let step = &here.tangent * normal.cholesky()?.solve(&-(K * &here.slope));
            let length = self.distance(&step, &DVector::zeros(x.len()));
            let step = step * (LONGEST / length).min(1.0);
            let next = self.moved(&x, step);
            let tried = next.and_then(|next| self.at(&next).map(|there| (next, there)));
            match tried {
                Some((next, there)) if there.slope.norm() < slope => {
                    (x, here) = (next, there);
                    damping = (0.3 * damping).max(1e-12);
                }
                _ => damping *= 5.0,
            }
            if damping > 1e6 {
                return None;
            }
        }
        None
    }

    fn moved(&self, x: &DVector<f64>, step: DVector<f64>) -> Option<DVector<f64>> {
        self.project(x + step)
    }

    fn is_inside(&self, x: &DVector<f64>) -> bool {
        x.iter().enumerate().all(|(k, x)| {
            let slack = SAME * self.extent(k);
            (self.bounds[k][0] - slack..=self.bounds[k][1] + slack).contains(x)
        })
    }
}

/// # Kinds of points
impl Problem<'_> {
    fn classify(&self, x: &DVector<f64>, here: Here) -> CriticalPoint {
        let eigen = SymmetricEigen::new(here.hessian.clone());
        let eigenvalues = sorted(eigen.eigenvalues.clone());
        let least = self.zero_below(&eigenvalues);
        let mut dimension = 0;
        for (k, value) in eigen.eigenvalues.iter().enumerate() {
            if value.abs() > least {
                continue;
            }
            let direction = &here.tangent * eigen.eigenvectors.column(k);
            let length = self.distance(&direction, &DVector::zeros(x.len()));
            let there = self
                .moved(x, direction * (WALK / length))
                .and_then(|there| self.settle(there));
            if there.is_some_and(|there| self.distance(x, &there) > 0.5 * WALK) {
                dimension += 1;
            }
        }
        let count = |is: &dyn Fn(f64) -> bool| eigenvalues.iter().filter(|k| is(**k)).count();
        let (up, down) = (count(&|k| k > least), count(&|k| k < -least));
        let flat = eigenvalues.len() - up - down;
        let kind = match (up, down) {
            (0, 0) if eigenvalues.len() == dimension => Some(CriticalKind::Constant),
            (_, 0) if up > 0 && flat == dimension => Some(CriticalKind::Minimum),
            (0, _) if down > 0 && flat == dimension => Some(CriticalKind::Maximum),
            (1.., 1..) => Some(CriticalKind::Saddle),
            _ => None,
        };
        CriticalPoint {
            configuration: x.clone(),
            value: here.value,
            multipliers: here.multipliers,
            tangent_basis: here.tangent,
            hessian: here.hessian,
            eigenvalues,
            index: down,
            dimension,
            kind,
        }
    }

    /// The threshold of zero curvature relative to these eigenvalues, or to the function's typical ones.
    fn zero_below(&self, eigenvalues: &DVector<f64>) -> f64 {
        let extents = (0..self.bounds.len()).map(|k| self.extent(k));
        let usual = 1e-2 * self.steepest / extents.fold(0.0, f64::max);
        ZERO * eigenvalues.amax().max(usual)
    }

    /// The critical point that Newton's method finds nearby, without deflation.
    fn settle(&self, mut x: DVector<f64>) -> Option<DVector<f64>> {
        for _ in 0..STEPS {
            let here = self.at(&x)?;
            if here.slope.norm() <= FLAT * self.steepest.max(here.steepness) {
                return Some(x);
            }
            x = self.moved(&x, newton(&here))?;
        }
        None
    }

    /// Whether a path of critical points connects a point with this set; tries the nearest ones.
    fn joins(&self, point: &CriticalPoint, set: &Set) -> bool {
        let size = self.steepest
            * (0..self.bounds.len())
                .map(|k| self.extent(k))
                .fold(0.0, f64::max);
        if set.point.dimension != point.dimension
            || (set.point.value - point.value).abs() > SAME * size
        {
            return false;
        }
        let x = &point.configuration;
        let mut members: Vec<_> = set.members.iter().collect();
        members.sort_by(|a, b| self.distance(x, a).total_cmp(&self.distance(x, b)));
        members
            .into_iter()
            .take(ENDS)
            .any(|goal| self.walk(x, goal))
    }

    fn walk(&self, x: &DVector<f64>, goal: &DVector<f64>) -> bool {
        /// Several times around a box.
        const MOST: usize = 100;
        let scale = 20.0 * WALK;
        let mut x = x.clone();
        // Directions at opposite points of a circle are ambiguous: continue in the last one.
        let mut last: Option<DVector<f64>> = None;
        for _ in 0..MOST {
            let apart = self.distance(&x, goal);
            if apart < 0.5 * scale {
                return true;
            }
            let Some(here) = self.at(&x) else {
                return false;
            };
            let eigen = SymmetricEigen::new(here.hessian.clone());
            let least = self.zero_below(&eigen.eigenvalues);
            let mut free = DMatrix::zeros(x.len(), 0);
            for (k, value) in eigen.eigenvalues.iter().enumerate() {
                if value.abs() <= least {
                    let at = free.ncols();
                    free = free.insert_column(at, 0.0);
                    free.set_column(at, &(&here.tangent * eigen.eigenvectors.column(k)));
                }
            }
            if free.ncols() == 0 {
                return false;
            }
            let toward = &free * free.tr_mul(&(goal - &x));
            let ahead = last.as_ref().map(|last| &free * free.tr_mul(last));
            let direction = if self.distance(&toward, &DVector::zeros(x.len())) > 0.05 * apart {
                toward
            } else {
                ahead.unwrap_or_else(|| free.column(0).into_owned())
            };
            let length = self.distance(&direction, &DVector::zeros(x.len()));
            let step = direction * (scale.min(apart) / length);
            let next = self.moved(&x, step).and_then(|next| self.settle(next));
            match next {
                Some(next) if self.distance(&x, &next) > 0.1 * scale.min(apart) => {
                    last = Some(&next - &x);
                    x = next;
                }
                _ => return false,
            }
        }
        false
    }
}

/// `-A K⁺ Aᵀ ∂V`: the Newton step on (A.112) with the best-fitting multipliers; of least norm if K is singular.
fn newton(here: &Here) -> DVector<f64> {
    let n = here.hessian.nrows();
    let mut inverse = PseudoInverse::new(n, n);
    inverse.tolerance = 1e-9;
    inverse.decompose(&here.hessian);
    let mut step = DVector::zeros(n);
    inverse.apply(&-&here.slope, &mut step);
    &here.tangent * step
}

fn sorted(mut numbers: DVector<f64>) -> DVector<f64> {
    numbers.as_mut_slice().sort_by(f64::total_cmp);
    numbers
}
