//! Spatial vectors.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::{RealField, Vector3, Vector6};

use crate::multibody::simd::Vec3;

/// A twist `[v; ω]` or a wrench `[f; τ]` about the origin, in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialVector<T> {
    pub linear: Vec3<T>,
    pub angular: Vec3<T>,
}

impl<T: RealField + Copy> SpatialVector<T> {
    #[inline]
    pub fn new(linear: Vec3<T>, angular: Vec3<T>) -> Self {
        Self { linear, angular }
    }

    #[inline]
    pub fn zero() -> Self {
        Self::new(Vec3::zero(), Vec3::zero())
    }

    /// From six numbers.
    #[inline]
    pub fn from_slice(numbers: &[T]) -> Self {
        Self::new(Vec3::from_slice(numbers), Vec3::from_slice(&numbers[3..]))
    }

    #[inline]
    pub fn write(&self, numbers: &mut [T]) {
        self.linear.write(numbers);
        self.angular.write(&mut numbers[3..]);
    }

    #[inline]
    pub fn vector(&self) -> Vector6<T> {
        let mut vector = Vector6::zeros();
        self.write(vector.as_mut_slice());
        vector
    }

    /// The product of a twist and a wrench: power.
    #[inline]
    pub fn dot(&self, other: &Self) -> T {
        let products = self.angular.component_mul(other.angular);
        (self.linear.component_mul_add(other.linear, products)).sum()
    }

    /// `self s + b`.
    #[inline]
    pub fn mul_add(&self, s: T, b: Self) -> Self {
        Self::new(
            self.linear.mul_add(s, b.linear),
            self.angular.mul_add(s, b.angular),
        )
    }

    /// `self × m`: the rate of a twist m that moves with this twist, RBDA (2.29).
    #[inline]
    pub fn cross(&self, m: &Self) -> Self {
        Self::new(
            self.angular.cross(m.linear) + self.linear.cross(m.angular),
            self.angular.cross(m.angular),
        )
    }

    /// A twist about an origin at `-p` from its own.
    #[inline]
    pub fn twist_about(&self, p: Vec3<T>) -> Self {
        Self::new(self.linear + p.cross(self.angular), self.angular)
    }

    /// A wrench about an origin at `-p` from its own.
    #[inline]
    pub fn wrench_about(&self, p: Vec3<T>) -> Self {
        Self::new(self.linear, self.angular + p.cross(self.linear))
    }
}

impl<T: RealField + Copy> From<Vector6<T>> for SpatialVector<T> {
    #[inline]
    fn from(v: Vector6<T>) -> Self {
        let part = |k: usize| Vec3::from(Vector3::new(v[k], v[k + 1], v[k + 2]));
        Self::new(part(0), part(3))
    }
}

impl<T: RealField + Copy> Add for SpatialVector<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(self.linear + other.linear, self.angular + other.angular)
    }
}

impl<T: RealField + Copy> AddAssign for SpatialVector<T> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: RealField + Copy> Sub for SpatialVector<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::new(self.linear - other.linear, self.angular - other.angular)
    }
}

impl<T: RealField + Copy> Neg for SpatialVector<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.linear, -self.angular)
    }
}

impl<T: RealField + Copy> Mul<T> for SpatialVector<T> {
    type Output = Self;
    #[inline]
    fn mul(self, s: T) -> Self {
        Self::new(self.linear * s, self.angular * s)
    }
}
