//! The law, and the solver of its limits, in another scalar.
#![allow(non_snake_case)]

use nalgebra::{Cholesky, DefaultAllocator, Dim, OMatrix, RealField, convert};

use super::{Factor, Law, Products};
use crate::allocation::{ActiveSet, AllocationError, Limits, inverse_factor, tolerance_of};
use crate::sizes::Sizes;

impl<N: Dim, P: Dim> Law<f64, N, P>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// The same law in another scalar.
    ///
    /// Single precision suffices to fly but not to compute the gains: H contains squared accelerations, and its condition number is that of
    /// `Mbar^1/2 A` squared, some thousands for a multicopter with slow yaw. Build a law for `f32` in `f64` and cast it. The solver of its limits
    /// needs [`active_set`](Self::active_set) for the same reason.
    ///
    /// ```
    /// use fly_control::law::Law;
    /// use nalgebra::{Const, Matrix2, Vector2};
    ///
    /// let law = Law::constant(&Matrix2::identity(), &Matrix2::from_diagonal(&Vector2::new(9.0, 1e-3)), &Matrix2::new(1.0, 1.0, 1.0, -1.0))?;
    /// let mut law: Law<f32, Const<2>, Const<2>> = law.cast();
    /// # Ok::<(), fly_control::law::LawError>(())
    /// ```
    pub fn cast<T: RealField + Copy>(&self) -> Law<T, N, P> {
        let mut law = Law {
            mass: cast(&self.mass),
            metric: cast(&self.metric),
            M_bar: self.M_bar.map(convert::<f64, T>),
            A: self.A.map(convert::<f64, T>),
            weighted: self.weighted.map(convert::<f64, T>),
            H: self.H.map(convert::<f64, T>),
            drift: self.drift.map(convert::<f64, T>),
            force: self.force.map(convert::<f64, T>),
            constant: self.constant.as_ref().map(|products| Products {
                ratio: products.ratio.map(convert::<f64, T>),
                gain: products.gain.map(convert::<f64, T>),
            }),
            null_space: self.null_space.cast(),
            weights: self.weights.map(convert::<f64, T>),
            preferred: self.preferred.map(convert::<f64, T>),
            offset: self.offset.map(convert::<f64, T>),
            H_N: self.H_N.map(convert::<f64, T>),
            factor: self.factor.map(convert::<f64, T>),
            scratch: self.scratch.map(convert::<f64, T>),
            eps: convert(self.eps),
        };
        if law.redundancy() > 0 {
            law.spend_null_space(convert(self.eps_in::<T>()));
        }
        law
    }

    /// The exact solver of these limits for this law in another scalar, in its [`metric`](Self::metric) or one [with
    /// priority](Self::metric_with_priority).
    ///
    /// The condition number of a metric with redundant inputs, a priority for tilt or slow yaw is above what `f32` can factorise, and
    /// [`ActiveSet::new`] refuses it there. Here everything is computed in `f64` and then rounded.
    ///
    /// ```
    /// use fly_control::allocation::{ActiveSet, Allocator, Limited, Limits};
    /// use fly_control::law::Law;
    /// use nalgebra::{Const, Matrix2, SMatrix, SVector, matrix};
    ///
    /// // Three inputs for two accelerations: the last one, at its limit, costs the null space and no acceleration.
    /// let B: SMatrix<f64, 2, 3> = matrix![1.0, 1.0, 1.0; 1.0, 0.0, -1.0];
    /// let law = Law::constant(&Matrix2::identity(), &Matrix2::identity(), &B)?;
    /// let limits = Limits::between(SMatrix::identity(), &SVector::zeros(), &SVector::repeat(1.0), SVector::repeat(0.5))?;
    /// let solver: ActiveSet<f32, Const<3>, Const<3>> = law.active_set(&limits, law.metric())?;
    /// let mut limited = Limited::new(limits.cast()?, None, |_| Ok(solver))?;
    /// let mut input = [0.0; 3];
    /// limited.allocate(&[0.7, 0.8, 1.1], 2e-3, &mut input);
    /// assert!(input.iter().zip([0.6, 1.0, 1.0]).all(|(u, expected)| (u - expected).abs() < 2e-3), "{input:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if the metric is not positive definite, and those of [`Limits::cast`].
    pub fn active_set<T: RealField + Copy, M: Dim>(
        &self,
        limits: &Limits<f64, P, M>,
        metric: &OMatrix<f64, P, P>,
    ) -> Result<ActiveSet<T, P, M>, AllocationError>
    where
        DefaultAllocator: Sizes<P, M>,
    {
        let mut factor = self.factor.clone();
        if self.redundancy() == 0 {
            inverse_factor(metric, factor.as_mut_slice())?;
        } else {
            let without_null_space = |i, j| metric[(i, j)] - (self.H_N[(i, j)] - self.H[(i, j)]);
            let (eps, scratch) = (self.eps_in::<T>(), &mut self.scratch.clone());
            let found = (self.null_space).inverse_factor(
                without_null_space,
                eps,
                &self.weights,
                scratch,
                &mut factor,
            );
            if !found {
                return Err(AllocationError::Metric);
            }
        }
        ActiveSet::of_inverse_factor(limits.cast()?, &factor.map(convert::<f64, T>))
    }

    /// The eps of redundant inputs as large as another scalar needs it.
    fn eps_in<T: RealField>(&self) -> f64 {
        self.eps * tolerance_of::<T>(1.0, 1e-3 / 1e-8)
    }
}

/// The same factorisation in another scalar.
fn cast<T: RealField + Copy, N: Dim>(factor: &Factor<f64, N>) -> Factor<T, N>
where
    DefaultAllocator: nalgebra::allocator::Allocator<N, N>,
{
    let factors = factor.0.as_ref();
    let cast = |factors: &Cholesky<f64, N>| Cholesky::pack_dirty(factors.l_dirty().map(convert));
    Factor(factors.map(cast), factor.1)
}
