//! Vectors of three numbers in a four-lane register.

use std::any::Any;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::{RealField, Vector3};
use wide::f64x4;

/// `a b + c`, fused if the machine has an instruction for it, and not emulated otherwise.
#[inline]
pub fn fma<T: RealField + Copy>(a: T, b: T, c: T) -> T {
    if cfg!(target_feature = "fma") {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// A vector of three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Vec3<T>([T; 4]);

/// The lanes as a register if they are `f64`, which is known at compile time.
#[inline]
fn register<T: RealField + Copy>(v: Vec3<T>) -> Option<f64x4> {
    (&v.0 as &dyn Any).downcast_ref().copied().map(f64x4::new)
}

#[inline]
fn from_register<T: RealField + Copy>(register: f64x4) -> Option<Vec3<T>> {
    let lanes = register.to_array();
    (&lanes as &dyn Any).downcast_ref().copied().map(Vec3)
}

impl<T: RealField + Copy> Vec3<T> {
    #[inline]
    pub fn new(x: T, y: T, z: T) -> Self {
        let scalars = Self([x, y, z, T::zero()]);
        // Through a register, so that it is stored as one.
        register(scalars).and_then(from_register).unwrap_or(scalars)
    }

    #[inline]
    pub fn zero() -> Self {
        Self([T::zero(); 4])
    }

    /// The first three of these numbers.
    #[inline]
    pub fn from_slice(numbers: &[T]) -> Self {
        Self::new(numbers[0], numbers[1], numbers[2])
    }

    #[inline]
    pub fn vector(&self) -> Vector3<T> {
        Vector3::new(self.x(), self.y(), self.z())
    }

    #[inline]
    pub fn write(&self, numbers: &mut [T]) {
        numbers[..3].copy_from_slice(&self.0[..3]);
    }

    #[inline]
    pub fn x(&self) -> T {
        self.0[0]
    }

    #[inline]
    pub fn y(&self) -> T {
        self.0[1]
    }

    #[inline]
    pub fn z(&self) -> T {
        self.0[2]
    }

    /// The same number in all lanes, including the fourth: it multiplies zeros.
    #[inline]
    fn splat(s: T) -> Self {
        Self([s; 4])
    }

    /// `self s + b`.
    #[inline]
    pub fn mul_add(self, s: T, b: Self) -> Self {
        self.component_mul_add(Self::splat(s), b)
    }

    /// Lane by lane `self a`.
    #[inline]
    pub fn component_mul(self, a: Self) -> Self {
        if let (Some(v), Some(a)) = (register(self), register(a))
            && let Some(product) = from_register(v * a)
        {
            return product;
        }
        let ([x, y, z, w], [ax, ay, az, aw]) = (self.0, a.0);
        Self([x * ax, y * ay, z * az, w * aw])
    }

    /// Lane by lane `self a + b`.
    #[inline]
    pub fn component_mul_add(self, a: Self, b: Self) -> Self {
        if let (Some(v), Some(a), Some(b)) = (register(self), register(a), register(b)) {
            let sum = if cfg!(target_feature = "fma") {
                v.mul_add(a, b)
            } else {
                v * a + b
            };
            if let Some(sum) = from_register(sum) {
                return sum;
            }
        }
        self.component_mul(a) + b
    }

    /// `[y, z, x]`.
    #[inline]
    pub fn cycled(self) -> Self {
        let [x, y, z, w] = self.0;
        Self([y, z, x, w])
    }

    /// `[z, x, y]`.
    #[inline]
    pub fn cycled_back(self) -> Self {
        let [x, y, z, w] = self.0;
        Self([z, x, y, w])
    }

    /// Lane by lane `self a - b`.
    #[inline]
    pub fn component_mul_sub(self, a: Self, b: Self) -> Self {
        self.component_mul_add(a, -b)
    }

    /// `self × b`.
    #[inline]
    pub fn cross(self, b: Self) -> Self {
        let minus = -(self.cycled().component_mul(b));
        self.component_mul_add(b.cycled(), minus).cycled()
    }

    /// Entry k, from 0.
    #[inline]
    pub fn get(self, k: usize) -> T {
        self.0[k]
    }

    /// The unit vector along the k-th axis.
    #[inline]
    pub fn unit(k: usize) -> Self {
        let at = |i: usize| if i == k { T::one() } else { T::zero() };
        Self::new(at(0), at(1), at(2))
    }

    /// `self × z` times s.
    #[inline]
    pub fn cross_z(self, s: T) -> Self {
        let [x, y, z, w] = self.0;
        Self([y, x, z, w]).component_mul(Self::new(s, -s, T::zero()))
    }

    /// `Rz^T self` of a rotation about z.
    #[inline]
    pub fn rotate_back_about_z(self, sine: T, cosine: T) -> Self {
        let [x, y, z, w] = self.0;
        let across = Self([y, x, z, w]).component_mul(Self::new(sine, -sine, T::zero()));
        self.component_mul_add(Self::new(cosine, cosine, T::one()), across)
    }

    /// `R^T self` of the rotation with the quaternion `[w, x, y, z]` of any length: `v + 2/|q|² (u × (u × v) - w u × v)`.
    #[inline]
    pub fn rotate_back_by(self, q: &[T]) -> Self {
        let (w, u) = (q[0], Self::from_slice(&q[1..]));
        let scale = (T::one() + T::one()) / (w * w + u.dot(u));
        let across = u.cross(self);
        let change = across.mul_add(-w, u.cross(across));
        change.mul_add(scale, self)
    }

    /// `self . b`.
    #[inline]
    pub fn dot(self, b: Self) -> T {
        self.component_mul(b).sum()
    }

    /// The sum of its numbers.
    #[inline]
    pub fn sum(self) -> T {
        self.x() + self.y() + self.z()
    }
}

impl<T: RealField + Copy> From<Vector3<T>> for Vec3<T> {
    #[inline]
    fn from(v: Vector3<T>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl<T: RealField + Copy> Add for Vec3<T> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        if let (Some(v), Some(b)) = (register(self), register(b))
            && let Some(result) = from_register(v + b)
        {
            return result;
        }
        let ([x, y, z, w], [bx, by, bz, bw]) = (self.0, b.0);
        Self([x + bx, y + by, z + bz, w + bw])
    }
}

impl<T: RealField + Copy> AddAssign for Vec3<T> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<T: RealField + Copy> Sub for Vec3<T> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        if let (Some(v), Some(b)) = (register(self), register(b))
            && let Some(result) = from_register(v - b)
        {
            return result;
        }
        let ([x, y, z, w], [bx, by, bz, bw]) = (self.0, b.0);
        Self([x - bx, y - by, z - bz, w - bw])
    }
}

impl<T: RealField + Copy> Neg for Vec3<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        if let Some(negative) = register(self).and_then(|v| from_register(-v)) {
            return negative;
        }
        let [x, y, z, w] = self.0;
        Self([-x, -y, -z, -w])
    }
}

impl<T: RealField + Copy> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline]
    fn mul(self, s: T) -> Self {
        self.component_mul(Self::splat(s))
    }
}
