//! Coordinate vectors of tangent spaces and points, and linear maps between them: of fixed size, or pairs of these.

use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};

use nalgebra::{RealField, SMatrix, SVector};

/// A fixed number of coordinates: a tangent vector, or a point on which a group acts.
///
/// Implemented by [`SVector`] and, for direct products, by [`Pair`](crate::Pair).
pub trait CoordinateVector<T>:
    Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<T, Output = Self>
{
    /// The number of coordinates.
    const DIM: usize;

    /// The vector whose entry `i` is `entry(i)`, called in order.
    ///
    /// ```
    /// use fly_lie::{CoordinateVector, Pair};
    /// use nalgebra::{Vector2, Vector3};
    ///
    /// let x: Pair<Vector3<f64>, Vector2<f64>> = CoordinateVector::from_fn(|i| 10.0 * i as f64);
    /// assert_eq!(x, Pair(Vector3::new(0.0, 10.0, 20.0), Vector2::new(30.0, 40.0)));
    /// assert_eq!(x.entry(4), 40.0);
    /// ```
    fn from_fn(entry: impl FnMut(usize) -> T) -> Self;

    /// Entry `i`.
    ///
    /// # Panics
    /// If `i >= DIM`.
    fn entry(&self, i: usize) -> T;
}

impl<T: RealField + Copy, const N: usize> CoordinateVector<T> for SVector<T, N> {
    const DIM: usize = N;

    #[inline]
    fn from_fn(mut entry: impl FnMut(usize) -> T) -> Self {
        Self::from_fn(|i, _| entry(i))
    }

    #[inline]
    fn entry(&self, i: usize) -> T {
        self[i]
    }
}

/// A linear map of the tangent vectors to themselves: an adjoint or a Jacobian.
///
/// Implemented by [`SMatrix`] and, for direct products, whose maps are block diagonal, by [`Pair`](crate::Pair).
pub trait Operator<T>:
    Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<T, Output = Self>
    + Mul<Self, Output = Self>
{
    /// The vectors that it maps.
    type Coordinates: CoordinateVector<T>;

    /// The identity map.
    fn identity() -> Self;

    /// The map that takes the `j`-th unit vector to `column(j)`; for a direct product only the diagonal blocks of the columns are
    /// used.
    ///
    /// ```
    /// use fly_lie::Operator;
    /// use nalgebra::{Matrix2, Vector2};
    ///
    /// let turn = Matrix2::<f64>::new(0.0, -1.0, 1.0, 0.0);
    /// let same: Matrix2<f64> = Operator::from_columns(|j| turn * Vector2::ith(j, 1.0));
    /// assert_eq!(same, turn);
    /// ```
    fn from_columns(column: impl FnMut(usize) -> Self::Coordinates) -> Self;

    /// Applies the map to a vector.
    ///
    /// ```
    /// use fly_lie::{LieGroup, Operator, Pair, Product, Rn, SO3};
    /// use nalgebra::{Vector1, Vector3};
    ///
    /// // The adjoint of a product is kept as its blocks.
    /// type Arm = Product<SO3<f64>, Rn<f64, 1>>;
    /// let x = Pair(Vector3::z(), Vector1::new(2.0));
    /// let A = Arm::exp(&x).adjoint();
    /// assert_eq!(A.apply(&x), x);
    /// assert_eq!((A.entry(3, 3), A.entry(0, 3)), (1.0, 0.0));
    /// ```
    fn apply(&self, x: &Self::Coordinates) -> Self::Coordinates;

    /// The transposed map.
    #[must_use]
    fn transpose(&self) -> Self;

    /// The entry in row `i` and column `j`.
    ///
    /// # Panics
    /// If `i` or `j` is not below the dimension.
    fn entry(&self, i: usize, j: usize) -> T;
}

impl<T: RealField + Copy, const N: usize> Operator<T> for SMatrix<T, N, N> {
    type Coordinates = SVector<T, N>;

    #[inline]
    fn identity() -> Self {
        Self::identity()
    }

    fn from_columns(mut column: impl FnMut(usize) -> SVector<T, N>) -> Self {
        let mut map = Self::zeros();
        for (j, mut written) in map.column_iter_mut().enumerate() {
            written.copy_from(&column(j));
        }
        map
    }

    #[inline]
    fn apply(&self, x: &SVector<T, N>) -> SVector<T, N> {
        self * x
    }

    #[inline]
    fn transpose(&self) -> Self {
        self.transpose()
    }

    #[inline]
    fn entry(&self, i: usize, j: usize) -> T {
        self[(i, j)]
    }
}
