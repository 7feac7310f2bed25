//! Vectors of three numbers in four places: a whole one is one vector register, loaded and stored at once.
//!
//! For `f64` the operations are those of [`f64x4`], for other numbers, dual ones among them, the same lane by lane. The fourth lane is zero
//! and stays zero. Triples without it would be worse than no vectors at all: a register that is loaded across the border of two earlier
//! stores has to wait until both have reached the cache.

use std::any::Any;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::{Matrix3, RealField, Vector3};
use wide::f64x4;

/// A vector of three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Lanes<T>([T; 4]);

/// The lanes as a register where they are `f64`, which is known when this is compiled.
#[inline]
fn register<T: RealField + Copy>(v: Lanes<T>) -> Option<f64x4> {
    (&v.0 as &dyn Any).downcast_ref().copied().map(f64x4::new)
}

#[inline]
fn lanes<T: RealField + Copy>(register: f64x4) -> Option<Lanes<T>> {
    let lanes = register.to_array();
    (&lanes as &dyn Any).downcast_ref().copied().map(Lanes)
}

impl<T: RealField + Copy> Lanes<T> {
    #[inline]
    pub fn new(x: T, y: T, z: T) -> Self {
        let scalars = Self([x, y, z, T::zero()]);
        // Through a register, so that it is stored as one.
        register(scalars).and_then(lanes).unwrap_or(scalars)
    }

    #[inline]
    pub fn zero() -> Self {
        Self([T::zero(); 4])
    }

    /// The first three of these numbers.
    #[inline]
    pub fn of(numbers: &[T]) -> Self {
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

    /// The same number in all lanes, the fourth included: it multiplies zeros.
    #[inline]
    fn splat(s: T) -> Self {
        Self([s; 4])
    }

    /// `self s + b`.
    #[inline]
    pub fn times_plus(self, s: T, b: Self) -> Self {
        self.by_lane_plus(Self::splat(s), b)
    }

    /// Lane by lane `self a`.
    #[inline]
    pub fn by_lane(self, a: Self) -> Self {
        if let (Some(v), Some(a)) = (register(self), register(a))
            && let Some(product) = lanes(v * a)
        {
            return product;
        }
        let ([x, y, z, w], [ax, ay, az, aw]) = (self.0, a.0);
        Self([x * ax, y * ay, z * az, w * aw])
    }

    /// Lane by lane `self a + b`.
    #[inline]
    pub fn by_lane_plus(self, a: Self, b: Self) -> Self {
        if let (Some(v), Some(a), Some(b)) = (register(self), register(a), register(b)) {
            let sum = if cfg!(target_feature = "fma") {
                v.mul_add(a, b)
            } else {
                v * a + b
            };
            if let Some(sum) = lanes(sum) {
                return sum;
            }
        }
        self.by_lane(a) + b
    }

    /// `[y, z, x]`.
    #[inline]
    fn cycled(self) -> Self {
        let [x, y, z, w] = self.0;
        Self([y, z, x, w])
    }

    /// `self × b`.
    #[inline]
    pub fn cross(self, b: Self) -> Self {
        let minus = -(self.cycled().by_lane(b));
        self.by_lane_plus(b.cycled(), minus).cycled()
    }

    /// `self × z` times s.
    #[inline]
    pub fn cross_z(self, s: T) -> Self {
        let [x, y, z, w] = self.0;
        Self([y, x, z, w]).by_lane(Self::new(s, -s, T::zero()))
    }

    /// `Rz^T self` of a rotation about z.
    #[inline]
    pub fn turned_back_about_z(self, sine: T, cosine: T) -> Self {
        let [x, y, z, w] = self.0;
        let across = Self([y, x, z, w]).by_lane(Self::new(sine, -sine, T::zero()));
        self.by_lane_plus(Self::new(cosine, cosine, T::one()), across)
    }

    /// `R^T self` of the rotation with the quaternion `[w, x, y, z]` of any length: `v + 2/|q|² (u × (u × v) - w u × v)`.
    #[inline]
    pub fn turned_back_by(self, q: &[T]) -> Self {
        let (w, u) = (q[0], Self::of(&q[1..]));
        let scale = (T::one() + T::one()) / (w * w + u.dot(u));
        let across = u.cross(self);
        let change = across.times_plus(-w, u.cross(across));
        change.times_plus(scale, self)
    }

    /// `self . b`.
    #[inline]
    pub fn dot(self, b: Self) -> T {
        self.by_lane(b).sum()
    }

    #[inline]
    fn sum(self) -> T {
        self.x() + self.y() + self.z()
    }
}

impl<T: RealField + Copy> From<Vector3<T>> for Lanes<T> {
    #[inline]
    fn from(v: Vector3<T>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl<T: RealField + Copy> Add for Lanes<T> {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        if let (Some(v), Some(b)) = (register(self), register(b))
            && let Some(result) = lanes(v + b)
        {
            return result;
        }
        let ([x, y, z, w], [bx, by, bz, bw]) = (self.0, b.0);
        Self([x + bx, y + by, z + bz, w + bw])
    }
}

impl<T: RealField + Copy> AddAssign for Lanes<T> {
    #[inline]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<T: RealField + Copy> Sub for Lanes<T> {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        if let (Some(v), Some(b)) = (register(self), register(b))
            && let Some(result) = lanes(v - b)
        {
            return result;
        }
        let ([x, y, z, w], [bx, by, bz, bw]) = (self.0, b.0);
        Self([x - bx, y - by, z - bz, w - bw])
    }
}

impl<T: RealField + Copy> Neg for Lanes<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        if let Some(negative) = register(self).and_then(|v| lanes(-v)) {
            return negative;
        }
        let [x, y, z, w] = self.0;
        Self([-x, -y, -z, -w])
    }
}

impl<T: RealField + Copy> Mul<T> for Lanes<T> {
    type Output = Self;
    #[inline]
    fn mul(self, s: T) -> Self {
        self.by_lane(Self::splat(s))
    }
}

/// A 3x3 matrix, by columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneMatrix<T>(pub [Lanes<T>; 3]);

impl<T: RealField + Copy> LaneMatrix<T> {
    #[inline]
    pub fn zero() -> Self {
        Self([Lanes::zero(); 3])
    }

    #[inline]
    pub fn identity() -> Self {
        Self::from(Matrix3::identity())
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
    pub fn times(&self, v: Lanes<T>) -> Lanes<T> {
        let [a, b, c] = self.0;
        c.times_plus(v.z(), b.times_plus(v.y(), a * v.x()))
    }

    /// `self v + w`.
    #[inline]
    pub fn times_plus(&self, v: Lanes<T>, w: Lanes<T>) -> Lanes<T> {
        let [a, b, c] = self.0;
        c.times_plus(v.z(), b.times_plus(v.y(), a.times_plus(v.x(), w)))
    }

    /// `self B`.
    #[inline]
    pub fn product(&self, B: &Self) -> Self {
        let [a, b, c] = B.0;
        Self([self.times(a), self.times(b), self.times(c)])
    }

    #[inline]
    pub fn transposed(&self) -> Self {
        let [a, b, c] = &self.0;
        Self([
            Lanes::new(a.x(), b.x(), c.x()),
            Lanes::new(a.y(), b.y(), c.y()),
            Lanes::new(a.z(), b.z(), c.z()),
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

    /// `self + a b^T`.
    #[inline]
    pub fn plus_outer(&self, a: Lanes<T>, b: Lanes<T>) -> Self {
        let [x, y, z] = self.0;
        Self([
            a.times_plus(b.x(), x),
            a.times_plus(b.y(), y),
            a.times_plus(b.z(), z),
        ])
    }

    /// `wed(p) self`.
    #[inline]
    pub fn wed_times(&self, p: Lanes<T>) -> Self {
        let [a, b, c] = self.0;
        Self([p.cross(a), p.cross(b), p.cross(c)])
    }

    /// `self wed(p)`.
    #[inline]
    pub fn times_wed(&self, p: Lanes<T>) -> Self {
        let [a, b, c] = self.0;
        Self([
            c.times_plus(-p.y(), b * p.z()),
            a.times_plus(-p.z(), c * p.x()),
            b.times_plus(-p.x(), a * p.y()),
        ])
    }
}

impl<T: RealField + Copy> From<Matrix3<T>> for LaneMatrix<T> {
    #[inline]
    fn from(A: Matrix3<T>) -> Self {
        Self([
            Lanes::new(A.m11, A.m21, A.m31),
            Lanes::new(A.m12, A.m22, A.m32),
            Lanes::new(A.m13, A.m23, A.m33),
        ])
    }
}

/// A force and a torque, or a velocity and an angular velocity, about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanePair<T> {
    pub linear: Lanes<T>,
    pub angular: Lanes<T>,
}

impl<T: RealField + Copy> LanePair<T> {
    #[inline]
    pub fn zero() -> Self {
        Self {
            linear: Lanes::zero(),
            angular: Lanes::zero(),
        }
    }

    /// Of six numbers.
    #[inline]
    pub fn of(numbers: &[T]) -> Self {
        Self {
            linear: Lanes::of(numbers),
            angular: Lanes::of(&numbers[3..]),
        }
    }

    #[inline]
    pub fn write(&self, numbers: &mut [T]) {
        self.linear.write(numbers);
        self.angular.write(&mut numbers[3..]);
    }

    #[inline]
    pub fn dot(&self, other: &Self) -> T {
        let products = self.angular.by_lane(other.angular);
        (self.linear.by_lane_plus(other.linear, products)).sum()
    }

    /// `self s + b`.
    #[inline]
    pub fn times_plus(&self, s: T, b: Self) -> Self {
        Self {
            linear: self.linear.times_plus(s, b.linear),
            angular: self.angular.times_plus(s, b.angular),
        }
    }
}

impl<T: RealField + Copy> Sub for LanePair<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            linear: self.linear - other.linear,
            angular: self.angular - other.angular,
        }
    }
}

impl<T: RealField + Copy> Add for LanePair<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            linear: self.linear + other.linear,
            angular: self.angular + other.angular,
        }
    }
}
