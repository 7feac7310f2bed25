//! Symmetric 3x3 matrices in two vector registers.

use nalgebra::RealField;

use super::{Mat3, Vec3};

/// A symmetric 3x3 matrix: six numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symmetric3<T> {
    /// `xx`, `yy`, `zz`.
    pub diagonal: Vec3<T>,
    /// `xy`, `yz`, `zx`.
    pub others: Vec3<T>,
}

impl<T: RealField + Copy> Symmetric3<T> {
    #[inline]
    pub fn zero() -> Self {
        Self {
            diagonal: Vec3::zero(),
            others: Vec3::zero(),
        }
    }

    #[inline]
    pub fn matrix(&self) -> Mat3<T> {
        let (d, o) = (self.diagonal, self.others);
        Mat3([
            Vec3::new(d.x(), o.x(), o.z()),
            Vec3::new(o.x(), d.y(), o.y()),
            Vec3::new(o.z(), o.y(), d.z()),
        ])
    }

    #[inline]
    pub fn plus(&self, B: &Self) -> Self {
        Self {
            diagonal: self.diagonal + B.diagonal,
            others: self.others + B.others,
        }
    }

    /// `self + a b^T`: of products that are symmetric only as a sum, it adds the entries `xy`, `yz` and `zx`.
    #[inline]
    pub fn plus_outer(&self, a: Vec3<T>, b: Vec3<T>) -> Self {
        Self {
            diagonal: a.component_mul_add(b, self.diagonal),
            others: a.component_mul_add(b.cycled(), self.others),
        }
    }

    /// `R self R^T`.
    #[inline]
    pub fn rotated(&self, R: &Mat3<T>) -> Self {
        let (d, o) = (self.diagonal, self.others);
        let [x, y, z] = R.0;
        // The columns of `R self`.
        let a = z.mul_add(o.z(), y.mul_add(o.x(), x * d.x()));
        let b = z.mul_add(o.y(), y.mul_add(d.y(), x * o.x()));
        let c = z.mul_add(d.z(), y.mul_add(o.y(), x * o.z()));
        let zero = Self::zero();
        (zero.plus_outer(a, x)).plus_outer(b, y).plus_outer(c, z)
    }

    #[inline]
    pub fn trace(&self) -> T {
        self.diagonal.sum()
    }

    /// `(tr(self) I - self) v`.
    #[inline]
    pub fn moment_times(&self, v: Vec3<T>) -> Vec3<T> {
        let (d, o) = (self.diagonal.cycled(), self.others);
        let across = o.component_mul(v).cycled_back();
        let across = o.component_mul_add(v.cycled(), across);
        (d + d.cycled()).component_mul_sub(v, across)
    }
}

impl<T: RealField + Copy> From<Mat3<T>> for Symmetric3<T> {
    fn from(A: Mat3<T>) -> Self {
        let [a, b, c] = A.0;
        Self {
            diagonal: Vec3::new(a.x(), b.y(), c.z()),
            others: Vec3::new(b.x(), c.y(), a.z()),
        }
    }
}
