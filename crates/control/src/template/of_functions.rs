//! The desired closed loop of a user-defined potential, metric and damping.
//!
//! [`ErrorEnergies`] defines error coordinates `e = chi(x, x_R)` and a potential `V(x, x_R)` once, for any scalar; dual numbers differentiate
//! them.
//!
//! ```text
//! energy-based     Mbar xi_E' + Gamma(xi) xi_E + D xi_E + grad V = 0,   xi_E = xi - Q xi_R              Konz (5.56)
//!                  Q = -(grad chi)^+ grad_R chi                                                         Konz (B.46)
//! particle-based   grad chi^T (W e'' + D e') + grad V = 0                                               Konz (5.11)
//! ```
//!
//! In the energy-based form Mbar and D are matrices in the velocity coordinates and may depend on x. In the particle-based form they are constant weights of
//! the error coordinates: if these are the distances of particles from their references, the particles' masses and dampers.
#![allow(non_snake_case)]

use fly_mechanics::PseudoInverse;
use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{DMatrix, DVector, RealField};
use num_dual::{Dual64, HyperDual64};

use super::user::SystemTemplate;
use super::{Approach, DesiredMotion};
use crate::Energies;
use crate::linear::LinearModel;
use crate::system::SystemReference;
use crate::transport::{Map, TransportError};

/// Error coordinates and a potential between a configuration x and its reference x_R (nu entries each).
///
/// ```
/// use fly_control::system::SystemReference;
/// use fly_control::template::{DesiredMotion, ErrorEnergies, ErrorMetric, FunctionTemplate, SystemTemplate};
/// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
/// use nalgebra::{DMatrix, RealField, Vector3, convert};
///
/// /// A slider on a spring that stiffens: V = e^2 / 2 + e^4 / 4.
/// struct Stiffening;
///
/// impl ErrorEnergies for Stiffening {
///     fn error_dim(&self) -> usize {
///         1
///     }
///     fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]) {
///         e[0] = x[0] - x_R[0];
///     }
///     fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T {
///         let square = (x[0] - x_R[0]) * (x[0] - x_R[0]);
///         square * convert(0.5) + square * square * convert(0.25)
///     }
/// }
///
/// impl ErrorMetric for Stiffening {
///     fn inertia<T: RealField + Copy>(&self, _: &[T], M: &mut DMatrix<T>) {
///         M[(0, 0)] = convert(2.0);
///     }
///     fn damping(&self, _: &[f64], D: &mut DMatrix<f64>) {
///         D[(0, 0)] = 3.0;
///     }
/// }
///
/// let model = Model::builder().body(Body::new("slider", Joint::prismatic(Vector3::x())?)).build()?;
/// let mut template = FunctionTemplate::energy_based(&model, Stiffening);
/// template.check(&model, [(&[0.5][..], &[-0.2][..])], 1e-12)?;
///
/// let (workspace, mut desired) = (Workspace::new(&model), DesiredMotion::new(&model));
/// let goal = SystemReference { configuration: &[0.0], velocity: &[0.0], acceleration: &[0.0] };
/// template.evaluate(&model, &workspace, (&[2.0], &[1.0]), &goal, &mut desired)?;
/// assert_eq!((desired.stiffness[0], desired.damping[0]), (2.0 + 8.0, 3.0));
/// assert_eq!(desired.energies.total, 1.0 + 2.0 + 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ErrorEnergies: Send {
    /// The number of error coordinates, at least n.
    fn error_dim(&self) -> usize;

    /// Writes `e = chi(x, x_R)`, Konz (B.39): zero, or any constant, at x = x_R, with a Jacobian in x of rank n.
    fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]);

    /// V, J: positive, and zero only at x = x_R, Konz (5.42). The energy-based approach requires a V that depends on e alone, (B.44).
    fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T;
}

/// The metric of the energy-based approach.
pub trait ErrorMetric: ErrorEnergies {
    /// Writes Mbar, n x n, symmetric and positive definite. `M` is zero on entry.
    fn inertia<T: RealField + Copy>(&self, x: &[T], M: &mut DMatrix<T>);

    /// Writes D, n x n, symmetric and positive semidefinite. `D` is zero on entry.
    fn damping(&self, x: &[f64], D: &mut DMatrix<f64>);
}

/// Why a function is not a potential of the error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PotentialError {
    /// It is not zero at the reference.
    #[error("the potential should vanish where x = x_R, Konz (5.42); found {0:e} J")]
    NotZero(f64),
    /// It is not positive near the reference.
    #[error("the potential should be positive where x is not x_R, Konz (5.42); found {0:e} J")]
    NotPositive(f64),
    /// The transport map of the error coordinates is singular, or does not match the potential.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// The template of [`ErrorEnergies`]. Evaluation does not allocate.
pub struct FunctionTemplate<W> {
    weights: W,
    scratch: Scratch,
    terms: Terms,
}

/// Energies and metric of the energy-based approach.
pub struct EnergyBased<E>(E);

/// Energies of the particle-based approach, with inertia and damping of the error coordinates.
pub struct ParticleBased<E> {
    energies: E,
    inertia: DMatrix<f64>,
    damping: DMatrix<f64>,
}

impl<E: ErrorMetric> FunctionTemplate<EnergyBased<E>> {
    /// The energy-based template, with the transport map (B.46) of the error coordinates.
    pub fn energy_based(model: &Model<f64>, energies: E) -> Self {
        let nu_e = energies.error_dim();
        Self {
            scratch: Scratch::new(model, nu_e),
            terms: Terms::new(model, nu_e),
            weights: EnergyBased(energies),
        }
    }

    /// Checks (5.42) and, to this relative tolerance, (5.43) at pairs `(x, x_R)` of configurations. Allocates.
    ///
    /// # Errors
    /// [`PotentialError`].
    pub fn check<'x>(
        &mut self,
        model: &Model<f64>,
        pairs: impl IntoIterator<Item = (&'x [f64], &'x [f64])>,
        tolerance: f64,
    ) -> Result<(), PotentialError> {
        let potential = |x: &[f64], x_R: &[f64]| self.weights.0.potential(x, x_R);
        for (x, x_R) in pairs {
            let beside = potential(x, x_R);
            let there = potential(x, x);
            if there.is_nan() || there.abs() > tolerance * beside.abs() {
                return Err(PotentialError::NotZero(there));
            }
            let mut steps = vec![0.0; model.dof()];
            model.difference(x_R, x, &mut steps);
            let apart = steps.iter().any(|step| step.abs() > tolerance);
            if apart && (beside.is_nan() || beside <= 0.0) {
                return Err(PotentialError::NotPositive(beside));
            }
            let mut map = Map::new(nalgebra::Dyn(model.dof()));
            let rest = vec![0.0; model.dof()];
            let goal = at_rest(x_R, &rest);
            self.scratch
                .update(&self.weights.0, model, (x, &rest), &goal);
            self.scratch.map(&mut self.terms, &mut map)?;
            self.scratch.fit(&map, tolerance)?;
        }
        Ok(())
    }
}

impl<E: ErrorEnergies> FunctionTemplate<ParticleBased<E>> {
    /// The particle-based template with inertia and damping of the error coordinates: symmetric matrices, kg and N s/m if these are lengths.
    ///
    /// # Panics
    /// If the size of a matrix is not the number of error coordinates.
    pub fn particle_based(
        model: &Model<f64>,
        energies: E,
        inertia: DMatrix<f64>,
        damping: DMatrix<f64>,
    ) -> Self {
        let nu_e = energies.error_dim();
        for matrix in [&inertia, &damping] {
            assert_eq!(matrix.shape(), (nu_e, nu_e), "weights of error coordinates");
        }
        Self {
            scratch: Scratch::new(model, nu_e),
            terms: Terms::new(model, nu_e),
            weights: ParticleBased {
                energies,
                inertia,
                damping,
            },
        }
    }
}

fn at_rest<'a>(x_R: &'a [f64], rest: &'a [f64]) -> SystemReference<'a> {
    SystemReference {
        configuration: x_R,
        velocity: rest,
        acceleration: rest,
    }
}

// ---- Derivatives

/// chi and V with their derivatives along the motion.
struct Scratch {
    dual: Model<Dual64>,
    own: Side,
    reference: Side,
    e: Vec<HyperDual64>,
    potential: f64,
}

/// Derivatives along the velocity coordinates of x, or of x_R.
struct Side {
    /// The configuration as a dual number along the motion.
    x: Vec<Dual64>,
    x_dot: DVector<f64>,
    A: DMatrix<f64>,
    /// A as a dual number along the motion.
    A_dual: DMatrix<Dual64>,
    /// The configuration varied along one coordinate and along the motion.
    varied: Vec<HyperDual64>,
    /// grad chi, nu_e x n, and its rate.
    J: DMatrix<f64>,
    J_dot: DMatrix<f64>,
    /// grad V.
    gradient: DVector<f64>,
}

impl Side {
    fn new(model: &Model<f64>, nu_e: usize) -> Self {
        let (nu, n) = (model.config_dim(), model.dof());
        Self {
            x: vec![Dual64::from(0.0); nu],
            x_dot: DVector::zeros(nu),
            A: DMatrix::zeros(nu, n),
            A_dual: DMatrix::from_element(nu, n, Dual64::from(0.0)),
            varied: vec![HyperDual64::from(0.0); nu],
            J: DMatrix::zeros(nu_e, n),
            J_dot: DMatrix::zeros(nu_e, n),
            gradient: DVector::zeros(n),
        }
    }

    fn begin(&mut self, model: &Model<f64>, dual: &Model<Dual64>, x: &[f64], xi: &[f64]) {
        model.kinematic_matrix(x, &mut self.A);
        self.x_dot.fill(0.0);
        for (column, xi) in self.A.column_iter().zip(xi) {
            self.x_dot.axpy(*xi, &column, 1.0);
        }
        for ((to, x), rate) in self.x.iter_mut().zip(x).zip(&self.x_dot) {
            *to = Dual64::new(*x, *rate);
        }
        dual.kinematic_matrix(&self.x, &mut self.A_dual);
    }

    /// Seeds the configuration with its rate, and with a variation along this coordinate, if any.
    fn vary(&mut self, along: Option<usize>) {
        for (a, (to, x)) in self.varied.iter_mut().zip(&self.x).enumerate() {
            let (by, rate) =
                along.map_or((0.0, 0.0), |i| (self.A[(a, i)], self.A_dual[(a, i)].eps));
            *to = HyperDual64::new(x.re, by, x.eps, rate);
        }
    }

    fn store(&mut self, i: usize, e: &[HyperDual64], potential: HyperDual64) {
        for (k, e) in e.iter().enumerate() {
            self.J[(k, i)] = e.eps1;
            self.J_dot[(k, i)] = e.eps1eps2;
        }
        self.gradient[i] = potential.eps1;
    }
}

impl Scratch {
    fn new(model: &Model<f64>, nu_e: usize) -> Self {
        Self {
            dual: model.cast(),
            own: Side::new(model, nu_e),
            reference: Side::new(model, nu_e),
            e: vec![HyperDual64::from(0.0); nu_e],
            potential: 0.0,
        }
    }

    fn update(
        &mut self,
        energies: &impl ErrorEnergies,
        model: &Model<f64>,
        (x, xi): (&[f64], &[f64]),
        goal: &SystemReference<'_>,
    ) {
        let (own, reference, e) = (&mut self.own, &mut self.reference, &mut self.e);
        own.begin(model, &self.dual, x, xi);
        reference.begin(model, &self.dual, goal.configuration, goal.velocity);
        reference.vary(None);
        for i in 0..model.dof() {
            own.vary(Some(i));
            energies.error(&own.varied, &reference.varied, e);
            let potential = energies.potential(&own.varied, &reference.varied);
            own.store(i, e, potential);
            self.potential = potential.re;
        }
        own.vary(None);
        for i in 0..model.dof() {
            reference.vary(Some(i));
            energies.error(&own.varied, &reference.varied, e);
            let potential = energies.potential(&own.varied, &reference.varied);
            reference.store(i, e, potential);
        }
    }

    /// `Q = -J^+ J_R` and, as `J Q = -J_R` holds identically, its rate `-J^+ (J_R' + J' Q)`, Konz (B.46).
    fn map(&self, terms: &mut Terms, map: &mut Map) -> Result<(), TransportError> {
        let (own, reference) = (&self.own, &self.reference);
        let rank = terms.inverse.decompose(&own.J);
        let dof = own.J.ncols();
        if rank < dof {
            return Err(TransportError::ErrorCoordinates { rank, dof });
        }
        for j in 0..dof {
            terms.e.copy_from(&reference.J.column(j));
            terms.inverse.apply(&terms.e, &mut terms.column);
            terms.column.neg_mut();
            map.Q.set_column(j, &terms.column);
            terms.e.copy_from(&reference.J_dot.column(j));
            terms.e.gemv(1.0, &own.J_dot, &map.Q.column(j), 1.0);
            terms.inverse.apply(&terms.e, &mut terms.column);
            terms.column.neg_mut();
            map.Q_dot.set_column(j, &terms.column);
        }
        Ok(())
    }

    /// (5.43). Allocates.
    fn fit(&self, map: &Map, tolerance: f64) -> Result<(), TransportError> {
        let gradient = &self.own.gradient;
        let error = (&self.reference.gradient + map.Q.tr_mul(gradient)).amax();
        let scale = gradient.amax();
        if error <= tolerance * scale.max(f64::MIN_POSITIVE) {
            Ok(())
        } else {
            Err(TransportError::Mismatch { error, scale })
        }
    }
}

/// The Hessian of V at x = x_R. Allocates.
fn hessian(energies: &impl ErrorEnergies, model: &Model<f64>, x: &[f64]) -> DMatrix<f64> {
    let (nu, n) = (model.config_dim(), model.dof());
    let dual = model.cast::<Dual64>();
    let mut A = DMatrix::zeros(nu, n);
    model.kinematic_matrix(x, &mut A);
    let mut A_dual = DMatrix::from_element(nu, n, Dual64::from(0.0));
    let fixed: Vec<_> = x.iter().map(|x| HyperDual64::from(*x)).collect();
    let mut second = DMatrix::zeros(n, n);
    for j in 0..n {
        // d_j (d_i V), with A_i moving along A_j.
        let along = x.iter().enumerate();
        let along: Vec<_> = along.map(|(a, x)| Dual64::new(*x, A[(a, j)])).collect();
        dual.kinematic_matrix(&along, &mut A_dual);
        for i in 0..n {
            let varied = x.iter().enumerate();
            let varied =
                varied.map(|(a, x)| HyperDual64::new(*x, A[(a, i)], A[(a, j)], A_dual[(a, i)].eps));
            let varied: Vec<_> = varied.collect();
            second[(i, j)] = energies.potential(&varied, &fixed).eps1eps2;
        }
    }
    second
}

/// The terms of a template.
struct Terms {
    inverse: PseudoInverse<f64>,
    M: DMatrix<f64>,
    M_dual: DMatrix<Dual64>,
    D: DMatrix<f64>,
    varied: Vec<Dual64>,
    xi: DVector<f64>,
    xi_E: DVector<f64>,
    column: DVector<f64>,
    product: DVector<f64>,
    e: DVector<f64>,
    weighted: DVector<f64>,
}

impl Terms {
    fn new(model: &Model<f64>, nu_e: usize) -> Self {
        let n = model.dof();
        let zero = DVector::zeros(n);
        Self {
            inverse: PseudoInverse::new(nu_e, n),
            M: DMatrix::zeros(n, n),
            M_dual: DMatrix::from_element(n, n, Dual64::from(0.0)),
            D: DMatrix::zeros(n, n),
            varied: Vec::with_capacity(model.config_dim()),
            xi: zero.clone(),
            xi_E: zero.clone(),
            column: zero.clone(),
            product: zero,
            e: DVector::zeros(nu_e),
            weighted: DVector::zeros(nu_e),
        }
    }

    /// Mbar, with its rate, at configurations seeded along the motion.
    fn inertia(&mut self, energies: &impl ErrorMetric, x: &[Dual64]) {
        self.M_dual.fill(Dual64::from(0.0));
        energies.inertia(x, &mut self.M_dual);
    }

    /// `dM u`.
    fn rate_times(&self, u: &DVector<f64>, i: usize) -> f64 {
        let row = self.M_dual.row(i);
        row.iter().zip(u).map(|(m, u)| m.eps * u).sum()
    }

    /// `Gamma_ijk xi^k xi_E^j` of Mbar, Konz (5.49), (5.56), added to `out`.
    fn add_connection(
        &mut self,
        energies: &impl ErrorMetric,
        model: &Model<f64>,
        side: &Side,
        out: &mut DVector<f64>,
    ) {
        let n = out.len();
        let along = |varied: &mut Vec<Dual64>, direction: &dyn Fn(usize) -> f64| {
            varied.clear();
            let each = side.x.iter().enumerate();
            varied.extend(each.map(|(a, x)| Dual64::new(x.re, direction(a))));
        };
        // Derivatives along the motion, times xi_E; along xi_E, times xi; along each coordinate, between the two.
        let mut varied = core::mem::take(&mut self.varied);
        self.inertia(energies, &side.x);
        for i in 0..n {
            out[i] += 0.5 * self.rate_times(&self.xi_E, i);
        }
        let xi_E = &self.xi_E;
        along(&mut varied, &|a| {
            (0..n).map(|j| side.A[(a, j)] * xi_E[j]).sum()
        });
        self.inertia(energies, &varied);
        for i in 0..n {
            out[i] += 0.5 * self.rate_times(&self.xi, i);
        }
        for i in 0..n {
            along(&mut varied, &|a| side.A[(a, i)]);
            self.inertia(energies, &varied);
            let between: f64 = (0..n)
                .map(|j| self.xi_E[j] * self.rate_times(&self.xi, j))
                .sum();
            out[i] -= 0.5 * between;
        }
        self.varied = varied;
        // gamma^s_ij xi_E^j (M xi)_s + gamma^s_ik xi^k (M xi_E)_s - (M [xi_E, xi])_i
        self.product.gemv(1.0, &self.M, &self.xi, 0.0);
        model.commutation_force(self.xi_E.as_slice(), self.product.as_mut_slice());
        out.axpy(0.5, &self.product, 1.0);
        self.product.gemv(1.0, &self.M, &self.xi_E, 0.0);
        model.commutation_force(self.xi.as_slice(), self.product.as_mut_slice());
        out.axpy(0.5, &self.product, 1.0);
        self.column.copy_from(&self.xi);
        model.bracket(self.xi_E.as_slice(), self.column.as_mut_slice());
        out.gemv(-0.5, &self.M, &self.column, 1.0);
    }
}

/// The power of a gradient along a velocity.
fn power(velocity: &[f64], gradient: &DVector<f64>) -> f64 {
    velocity.iter().zip(gradient).map(|(v, g)| v * g).sum()
}

// ---- Energy-based

impl<E: ErrorMetric> SystemTemplate for FunctionTemplate<EnergyBased<E>> {
    fn evaluate(
        &mut self,
        model: &Model<f64>,
        _: &Workspace<f64>,
        state: (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError> {
        let (energies, scratch, terms) = (&self.weights.0, &mut self.scratch, &mut self.terms);
        scratch.update(energies, model, state, goal);
        scratch.map(terms, &mut out.map)?;
        let (x, xi) = state;
        let (Q, Q_dot) = (&out.map.Q, &out.map.Q_dot);
        terms.xi.copy_from_slice(xi);
        terms.xi_E.copy_from_slice(xi);
        // Q xi_R, and Q xi_R_dot + Q_dot xi_R.
        terms.column.fill(0.0);
        for (j, (xi_R, xi_dot_R)) in goal.velocity.iter().zip(goal.acceleration).enumerate() {
            terms.xi_E.axpy(-xi_R, &Q.column(j), 1.0);
            terms.column.axpy(*xi_dot_R, &Q.column(j), 1.0);
            terms.column.axpy(*xi_R, &Q_dot.column(j), 1.0);
        }
        terms.inertia(energies, &scratch.own.x);
        for (to, from) in terms.M.iter_mut().zip(&terms.M_dual) {
            *to = from.re;
        }
        terms.D.fill(0.0);
        energies.damping(x, &mut terms.D);

        out.mass_matrix.copy_from(&terms.M);
        out.inertial.gemv(-1.0, &terms.M, &terms.column, 0.0);
        terms.add_connection(energies, model, &scratch.own, &mut out.inertial);
        out.damping.gemv(1.0, &terms.D, &terms.xi_E, 0.0);
        out.stiffness.copy_from(&scratch.own.gradient);
        out.momentum.gemv(1.0, &terms.M, &terms.xi_E, 0.0);
        out.energies = Energies::new(
            0.5 * terms.xi_E.dot(&out.momentum),
            scratch.potential,
            0.5 * terms.xi_E.dot(&out.damping),
        );
        out.sum_up();
        // -xi_R (grad_R V + Q^T grad V), with Q xi_R = xi - xi_E
        terms.xi -= &terms.xi_E;
        let carried = terms.xi.dot(&scratch.own.gradient);
        out.reference_power = Some(-carried - power(goal.velocity, &scratch.reference.gradient));
        Ok(())
    }

    fn linear(&self, model: &Model<f64>, x: &[f64]) -> LinearModel {
        let n = model.dof();
        let [mut M, mut D] = [(); 2].map(|()| DMatrix::zeros(n, n));
        self.weights.0.inertia(x, &mut M);
        self.weights.0.damping(x, &mut D);
        LinearModel::without_inputs(M, D, hessian(&self.weights.0, model, x))
    }

    fn approach(&self) -> Approach {
        Approach::Energy
    }

    fn map_fits(
        &mut self,
        model: &Model<f64>,
        x: &[f64],
        x_R: &[f64],
        tolerance: f64,
    ) -> Option<bool> {
        let rest = vec![0.0; model.dof()];
        self.scratch
            .update(&self.weights.0, model, (x, &rest), &at_rest(x_R, &rest));
        let mut map = Map::new(nalgebra::Dyn(model.dof()));
        self.scratch.map(&mut self.terms, &mut map).ok()?;
        Some(self.scratch.fit(&map, tolerance).is_ok())
    }
}

// ---- Particle-based

impl<E: ErrorEnergies> SystemTemplate for FunctionTemplate<ParticleBased<E>> {
    fn evaluate(
        &mut self,
        model: &Model<f64>,
        _: &Workspace<f64>,
        state: (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError> {
        let (weights, scratch, terms) = (&self.weights, &mut self.scratch, &mut self.terms);
        scratch.update(&weights.energies, model, state, goal);
        let (own, reference) = (&scratch.own, &scratch.reference);
        let J = &own.J;
        for j in 0..J.ncols() {
            terms
                .weighted
                .gemv(1.0, &weights.inertia, &J.column(j), 0.0);
            terms.column.gemv_tr(1.0, J, &terms.weighted, 0.0);
            out.mass_matrix.set_column(j, &terms.column);
        }
        // e', and e'' without J xi_dot.
        let (_, xi) = state;
        terms.e.fill(0.0);
        for (j, (xi, xi_R)) in xi.iter().zip(goal.velocity).enumerate() {
            terms.e.axpy(*xi, &J.column(j), 1.0);
            terms.e.axpy(*xi_R, &reference.J.column(j), 1.0);
        }
        terms.weighted.gemv(1.0, &weights.inertia, &terms.e, 0.0);
        out.momentum.gemv_tr(1.0, J, &terms.weighted, 0.0);
        let kinetic = 0.5 * terms.e.dot(&terms.weighted);
        terms.weighted.gemv(1.0, &weights.damping, &terms.e, 0.0);
        out.damping.gemv_tr(1.0, J, &terms.weighted, 0.0);
        let dissipation = 0.5 * terms.e.dot(&terms.weighted);
        // What is left of the forces does work on the reference, whose motion changes e by J_R xi_R.
        let J_R = &reference.J;
        let on_reference = |weighted: &DVector<f64>| {
            let columns = J_R.column_iter().zip(goal.velocity);
            let powers = columns.map(|(column, xi_R)| xi_R * column.dot(weighted));
            powers.sum::<f64>()
        };
        let damped = on_reference(&terms.weighted);
        terms.e.fill(0.0);
        let velocities = xi.iter().zip(goal.velocity).zip(goal.acceleration);
        for (j, ((xi, xi_R), xi_dot_R)) in velocities.enumerate() {
            terms.e.axpy(*xi, &own.J_dot.column(j), 1.0);
            terms.e.axpy(*xi_R, &reference.J_dot.column(j), 1.0);
            terms.e.axpy(*xi_dot_R, &reference.J.column(j), 1.0);
        }
        terms.weighted.gemv(1.0, &weights.inertia, &terms.e, 0.0);
        out.inertial.gemv_tr(1.0, J, &terms.weighted, 0.0);
        let accelerated = on_reference(&terms.weighted);
        out.stiffness.copy_from(&own.gradient);
        out.energies = Energies::new(kinetic, scratch.potential, dissipation);
        out.sum_up();
        let pulled = power(goal.velocity, &reference.gradient);
        out.reference_power = Some(-(accelerated + damped + pulled));
        terms.e.fill(0.0);
        for (column, xi_R) in J_R.column_iter().zip(goal.velocity) {
            terms.e.axpy(-xi_R, &column, 1.0);
        }
        terms.weighted.gemv(1.0, &weights.inertia, &terms.e, 0.0);
        out.reference_momentum.gemv_tr(1.0, J, &terms.weighted, 0.0);
        Ok(())
    }

    fn linear(&self, model: &Model<f64>, x: &[f64]) -> LinearModel {
        let weights = &self.weights;
        let mut scratch = Scratch::new(model, weights.energies.error_dim());
        let rest = vec![0.0; model.dof()];
        scratch.update(&weights.energies, model, (x, &rest), &at_rest(x, &rest));
        let J = &scratch.own.J;
        LinearModel::without_inputs(
            J.transpose() * &weights.inertia * J,
            J.transpose() * &weights.damping * J,
            hessian(&weights.energies, model, x),
        )
    }

    fn approach(&self) -> Approach {
        Approach::Particle
    }

    fn map_fits(&mut self, _: &Model<f64>, _: &[f64], _: &[f64], _: f64) -> Option<bool> {
        Some(false)
    }
}
