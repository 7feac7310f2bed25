//! Riemannian curvature.

use nalgebra::{DMatrix, DVector};
use num_dual::{Dual64, HyperDual64};

use super::connection::factor;
use super::{
    Coordinates, CoordinatesError, Symbols, commutation_coefficients, connection_coefficients,
};

/// The curvature of a metric at one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Curvature {
    metric: DMatrix<f64>,
    inverse: DMatrix<f64>,
    riemann: Vec<Symbols<f64>>,
}

/// # Computation
impl Curvature {
    /// Riemann's tensor with all indices lowered,
    ///
    /// ```text
    /// R_ijkl = ∂_k Γ_ijl - ∂_l Γ_ijk - Γ_sik Γ^s_jl + Γ_sil Γ^s_jk - Γ_ijs γ^s_kl     (A.77b)
    /// ```
    ///
    /// whose first two terms are printed without the index i. It is zero if and only if coordinates exist in which the metric is
    /// constant.
    ///
    /// ```
    /// use fly_mechanics::geometry::{Curvature, Minimal};
    /// use nalgebra::{DMatrix, DVector, RealField, dvector};
    ///
    /// // Latitude and longitude on a sphere of radius 2.
    /// fn metric<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
    ///     let four: T = nalgebra::convert(4.0);
    ///     DMatrix::from_diagonal(&dvector![four, four * x[0].cos() * x[0].cos()])
    /// }
    /// let curvature = Curvature::new(&Minimal(2), metric, &dvector![0.6, 1.0])?;
    /// assert!((curvature.sectional(&dvector![1.0, 0.0], &dvector![0.3, 1.0]) - 0.25).abs() < 1e-15);
    /// assert!((curvature.scalar() - 0.5).abs() < 1e-15);
    /// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
    /// ```
    ///
    /// # Errors
    /// [`CoordinatesError::Size`], [`CoordinatesError::NotFinite`], [`CoordinatesError::Metric`], and what
    /// [`Coordinates::kinematic_inverse`] reports.
    pub fn new(
        coordinates: &impl Coordinates,
        metric: impl Fn(&DVector<HyperDual64>) -> DMatrix<HyperDual64>,
        x: &DVector<f64>,
    ) -> Result<Self, CoordinatesError> {
        super::error::expect_size("x", (coordinates.config_dim(), 1), x)?;
        let gamma = commutation_coefficients(coordinates, x)?;
        let at_x = |there: DVector<Dual64>| connection_coefficients(coordinates, &metric, &there);
        let Gamma = at_x(x.map(Dual64::from))?.map(|c| c.re);
        let dGamma = coordinates
            .kinematic_matrix(x)
            .column_iter()
            .map(|a| Ok(at_x(x.zip_map(&a, Dual64::new))?.map(|c| c.eps)))
            .collect::<Result<Vec<_>, _>>()?;

        let metric = metric(&x.map(HyperDual64::from)).map(|m| m.re);
        let inverse = factor(metric.clone(), x)?.inverse();
        Ok(Self::of(&gamma, &Gamma, &dGamma, metric, inverse))
    }

    /// (A.77b) from its terms.
    fn of(
        gamma: &Symbols<f64>,
        Gamma: &Symbols<f64>,
        dGamma: &[Symbols<f64>],
        metric: DMatrix<f64>,
        inverse: DMatrix<f64>,
    ) -> Self {
        let n = gamma.dof();
        let raised = Gamma.premultiplied(&inverse);
        let riemann = |i| {
            Symbols::from_fn(n, |j, k, l| {
                let products: f64 = (0..n)
                    .map(|s| {
                        Gamma[s][(i, l)] * raised[s][(j, k)]
                            - Gamma[s][(i, k)] * raised[s][(j, l)]
                            - Gamma[i][(j, s)] * gamma[s][(k, l)]
                    })
                    .sum();
                dGamma[k][i][(j, l)] - dGamma[l][i][(j, k)] + products
            })
        };
        let riemann = (0..n).map(riemann).collect();
        Self {
            metric,
            inverse,
            riemann,
        }
    }
}

/// # Results
impl Curvature {
    /// `R_ijkl` is `riemann()[i][j][(k, l)]`.
    pub fn riemann(&self) -> &[Symbols<f64>] {
        &self.riemann
    }

    /// Ricci's tensor `R_jl = M^ik R_ijkl`.
    pub fn ricci(&self) -> DMatrix<f64> {
        let n = self.metric.nrows();
        DMatrix::from_fn(n, n, |j, l| {
            let pairs = (0..n).flat_map(|i| (0..n).map(move |k| (i, k)));
            pairs
                .map(|(i, k)| self.inverse[(i, k)] * self.riemann[i][j][(k, l)])
                .sum()
        })
    }

    /// The scalar curvature `M^jl R_jl`.
    pub fn scalar(&self) -> f64 {
        self.inverse.component_mul(&self.ricci()).sum()
    }

    /// The sectional curvature of the plane of `u` and `v`, that of the surface of geodesics in it: `R_ijkl u^i v^j u^k v^l` over the
    /// squared area of the parallelogram; `1 / r²` on a sphere. NaN if `u` and `v` are parallel.
    pub fn sectional(&self, u: &DVector<f64>, v: &DVector<f64>) -> f64 {
        let along: DVector<f64> = DVector::from_iterator(
            self.riemann.len(),
            // R_ijkl v^j u^k v^l
            self.riemann.iter().map(|R| R.contract(u, v).dot(v)),
        );
        let product = |a: &DVector<f64>, b: &DVector<f64>| a.dot(&(&self.metric * b));
        along.dot(u) / (product(u, u) * product(v, v) - product(u, v).powi(2))
    }
}
