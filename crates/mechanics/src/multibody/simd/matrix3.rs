//! 3x3 matrices in three vector registers.

use nalgebra::{Matrix3, RealField};

use super::Vec3;

/// A 3x3 matrix, column by column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<T>(pub [Vec3<T>; 3]);

impl<T: RealField + Copy> Mat3<T> {
    #[inline]
    pub fn zero() -> Self {
        Self([Vec3::zero(); 3])
    }

    /// `s I`.
    #[inline]
    pub fn scalar(s: T) -> Self {
        let o = T::zero();
        Self([Vec3::new(s, o, o), Vec3::new(o, s, o), Vec3::new(o, o, s)])
    }

    #[inline]
    pub fn identity() -> Self {
        Self::scalar(T::one())
    }

    /// `hat3(a)`, with `hat3(a) b = a × b`.
    #[inline]
    pub fn hat(a: Vec3<T>) -> Self {
        let (o, x, y, z) = (T::zero(), a.x(), a.y(), a.z());
        Self([
            Vec3::new(o, z, -y),
            Vec3::new(-z, o, x),
            Vec3::new(y, -x, o),
        ])
    }

    #[inline]
    pub fn matrix(&self) -> Matrix3<T> {
        let [a, b, c] = &self.0;
        Matrix3::new(
            a.x(),
            b.x(),
            c.x(),
            a.y(),
            b.y(),
            c.y(),
            a.z(),
            b.z(),
            c.z(),
        )
    }

    /// `self v`.
    #[inline]
    pub fn times(&self, v: Vec3<T>) -> Vec3<T> {
        let [a, b, c] = self.0;
        c.mul_add(v.z(), b.mul_add(v.y(), a * v.x()))
    }

    /// `self v + w`.
    #[inline]
    pub fn mul_add(&self, v: Vec3<T>, w: Vec3<T>) -> Vec3<T> {
        let [a, b, c] = self.0;
        c.mul_add(v.z(), b.mul_add(v.y(), a.mul_add(v.x(), w)))
    }

    /// `self B`.
    #[inline]
    pub fn product(&self, B: &Self) -> Self {
        let [a, b, c] = B.0;
        Self([self.times(a), self.times(b), self.times(c)])
    }

    /// `self B^T`.
    #[inline]
    pub fn times_transposed(&self, B: &Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.0, B.0);
        let column = |k: usize| z.mul_add(c.get(k), y.mul_add(b.get(k), x * a.get(k)));
        Self([column(0), column(1), column(2)])
    }

    #[inline]
    pub fn transposed(&self) -> Self {
        let [a, b, c] = &self.0;
        Self([
            Vec3::new(a.x(), b.x(), c.x()),
            Vec3::new(a.y(), b.y(), c.y()),
            Vec3::new(a.z(), b.z(), c.z()),
        ])
    }

    #[inline]
    pub fn plus(&self, B: &Self) -> Self {
        let ([a, b, c], [ba, bb, bc]) = (self.0, B.0);
        Self([a + ba, b + bb, c + bc])
    }

    #[inline]
    pub fn minus(&self, B: &Self) -> Self {
        let ([a, b, c], [ba, bb, bc]) = (self.0, B.0);
        Self([a - ba, b - bb, c - bc])
    }

    #[inline]
    pub fn trace(&self) -> T {
        let [x, y, z] = &self.0;
        x.x() + y.y() + z.z()
    }

    /// `self + a b^T`.
    #[inline]
    pub fn plus_outer(&self, a: Vec3<T>, b: Vec3<T>) -> Self {
        let [x, y, z] = self.0;
        Self([
            a.mul_add(b.x(), x),
            a.mul_add(b.y(), y),
            a.mul_add(b.z(), z),
        ])
    }

    /// `hat3(p) self`, `p ×` each column.
    #[inline]
    pub fn hat_times(&self, p: Vec3<T>) -> Self {
        let [a, b, c] = self.0;
        Self([p.cross(a), p.cross(b), p.cross(c)])
    }

    /// `self hat3(p)`.
    #[inline]
    pub fn times_hat(&self, p: Vec3<T>) -> Self {
        let [a, b, c] = self.0;
        Self([
            c.mul_add(-p.y(), b * p.z()),
            a.mul_add(-p.z(), c * p.x()),
            b.mul_add(-p.x(), a * p.y()),
        ])
    }
}

impl<T: RealField + Copy> From<Matrix3<T>> for Mat3<T> {
    #[inline]
    fn from(A: Matrix3<T>) -> Self {
        Self([
            Vec3::new(A.m11, A.m21, A.m31),
            Vec3::new(A.m12, A.m22, A.m32),
            Vec3::new(A.m13, A.m23, A.m33),
        ])
    }
}
