//! Products of vectors, rotations and inertias, written out: what the passes along the tree are made of.

use nalgebra::{Matrix3, RealField, Vector3};

use super::motion::Twist;

/// `a b + c`, fused where the machine has an instruction for it and not emulated where it has none.
#[inline]
pub fn fma<T: RealField + Copy>(a: T, b: T, c: T) -> T {
    if cfg!(target_feature = "fma") {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// `R v`.
#[inline]
pub fn turn<T: RealField + Copy>(R: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        fma(R.m13, v.z, fma(R.m12, v.y, R.m11 * v.x)),
        fma(R.m23, v.z, fma(R.m22, v.y, R.m21 * v.x)),
        fma(R.m33, v.z, fma(R.m32, v.y, R.m31 * v.x)),
    )
}

/// `R^T v`.
#[inline]
pub fn turn_back<T: RealField + Copy>(R: &Matrix3<T>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        fma(R.m31, v.z, fma(R.m21, v.y, R.m11 * v.x)),
        fma(R.m32, v.z, fma(R.m22, v.y, R.m12 * v.x)),
        fma(R.m33, v.z, fma(R.m23, v.y, R.m13 * v.x)),
    )
}

/// `a × b`.
#[inline]
pub fn cross<T: RealField + Copy>(a: &Vector3<T>, b: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        fma(a.y, b.z, -(a.z * b.y)),
        fma(a.z, b.x, -(a.x * b.z)),
        fma(a.x, b.y, -(a.y * b.x)),
    )
}

/// `a s + b`.
#[inline]
pub fn scaled<T: RealField + Copy>(a: &Vector3<T>, s: T, b: &Vector3<T>) -> Vector3<T> {
    Vector3::new(fma(a.x, s, b.x), fma(a.y, s, b.y), fma(a.z, s, b.z))
}

/// `a . b`.
#[inline]
pub fn dot<T: RealField + Copy>(a: &Vector3<T>, b: &Vector3<T>) -> T {
    fma(a.z, b.z, fma(a.y, b.y, a.x * b.x))
}

/// `A B`.
#[inline]
pub fn product<T: RealField + Copy>(A: &Matrix3<T>, B: &Matrix3<T>) -> Matrix3<T> {
    let column = |x, y, z| turn(A, &Vector3::new(x, y, z));
    Matrix3::from_columns(&[
        column(B.m11, B.m21, B.m31),
        column(B.m12, B.m22, B.m32),
        column(B.m13, B.m23, B.m33),
    ])
}

/// `wed(alpha) + wed(omega)²`: multiplied by the position of a point of a body it is the point's acceleration relative to the origin.
#[inline]
pub fn acceleration_matrix<T: RealField + Copy>(
    omega: &Vector3<T>,
    alpha: &Vector3<T>,
) -> Matrix3<T> {
    let (xx, yy, zz) = (omega.x * omega.x, omega.y * omega.y, omega.z * omega.z);
    let (xy, xz, yz) = (omega.x * omega.y, omega.x * omega.z, omega.y * omega.z);
    Matrix3::new(
        -(yy + zz),
        xy - alpha.z,
        xz + alpha.y,
        xy + alpha.z,
        -(xx + zz),
        yz - alpha.x,
        xz - alpha.y,
        yz + alpha.x,
        -(xx + yy),
    )
}

/// A symmetric 3x3 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symmetric3<T> {
    pub xx: T,
    pub xy: T,
    pub xz: T,
    pub yy: T,
    pub yz: T,
    pub zz: T,
}

impl<T: RealField + Copy> Symmetric3<T> {
    /// The upper triangle of a matrix.
    pub fn of(A: &Matrix3<T>) -> Self {
        Self {
            xx: A.m11,
            xy: A.m12,
            xz: A.m13,
            yy: A.m22,
            yz: A.m23,
            zz: A.m33,
        }
    }

    #[inline]
    pub fn scalar(s: T) -> Self {
        let o = T::zero();
        Self {
            xx: s,
            xy: o,
            xz: o,
            yy: s,
            yz: o,
            zz: s,
        }
    }

    #[inline]
    pub fn matrix(&self) -> Matrix3<T> {
        Matrix3::new(
            self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz,
        )
    }

    #[inline]
    pub fn times(&self, v: &Vector3<T>) -> Vector3<T> {
        Vector3::new(
            fma(self.xz, v.z, fma(self.xy, v.y, self.xx * v.x)),
            fma(self.yz, v.z, fma(self.yy, v.y, self.xy * v.x)),
            fma(self.zz, v.z, fma(self.yz, v.y, self.xz * v.x)),
        )
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            xx: self.xx + other.xx,
            xy: self.xy + other.xy,
            xz: self.xz + other.xz,
            yy: self.yy + other.yy,
            yz: self.yz + other.yz,
            zz: self.zz + other.zz,
        }
    }

    /// `A + a s b^T` where that is symmetric.
    #[inline]
    pub fn plus_outer(&self, a: &Vector3<T>, b: &Vector3<T>) -> Self {
        Self {
            xx: fma(a.x, b.x, self.xx),
            xy: fma(a.x, b.y, self.xy),
            xz: fma(a.x, b.z, self.xz),
            yy: fma(a.y, b.y, self.yy),
            yz: fma(a.y, b.z, self.yz),
            zz: fma(a.z, b.z, self.zz),
        }
    }

    /// `R A R^T`.
    #[inline]
    pub fn turned(&self, R: &Matrix3<T>) -> Self {
        let B = product(R, &self.matrix());
        Self::of_product_transposed(&B, R)
    }

    /// The upper triangle of `A B^T`.
    #[inline]
    pub fn of_product_transposed(A: &Matrix3<T>, B: &Matrix3<T>) -> Self {
        Self {
            xx: fma(A.m13, B.m13, fma(A.m12, B.m12, A.m11 * B.m11)),
            xy: fma(A.m13, B.m23, fma(A.m12, B.m22, A.m11 * B.m21)),
            xz: fma(A.m13, B.m33, fma(A.m12, B.m32, A.m11 * B.m31)),
            yy: fma(A.m23, B.m23, fma(A.m22, B.m22, A.m21 * B.m21)),
            yz: fma(A.m23, B.m33, fma(A.m22, B.m32, A.m21 * B.m31)),
            zz: fma(A.m33, B.m33, fma(A.m32, B.m32, A.m31 * B.m31)),
        }
    }

    /// The moment of inertia `tr(A) I - A` of this second moment.
    #[inline]
    pub fn moment_of_inertia(&self) -> Self {
        Self {
            xx: self.yy + self.zz,
            xy: -self.xy,
            xz: -self.xz,
            yy: self.xx + self.zz,
            yz: -self.yz,
            zz: self.xx + self.yy,
        }
    }
}

/// A force and a torque about the origin, in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench<T: RealField + Copy> {
    pub force: Vector3<T>,
    pub torque: Vector3<T>,
}

impl<T: RealField + Copy> Wrench<T> {
    #[inline]
    pub fn zero() -> Self {
        Self {
            force: Vector3::zeros(),
            torque: Vector3::zeros(),
        }
    }

    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// A body's mass distribution, ten numbers: mass, first moment, and second moment `sum m_p h_p h_p^T` about the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassMoments<T: RealField + Copy> {
    pub mass: T,
    pub first: Vector3<T>,
    pub second: Symmetric3<T>,
}

impl<T: RealField + Copy> MassMoments<T> {
    pub fn zero() -> Self {
        Self::of_point(T::zero(), &Vector3::zeros())
    }

    /// All mass in one point.
    #[inline]
    pub fn of_point(mass: T, position: &Vector3<T>) -> Self {
        let first = position * mass;
        Self {
            mass,
            first,
            second: Symmetric3::scalar(T::zero()).plus_outer(&first, position),
        }
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second.plus(&other.second),
        }
    }

    /// The wrench of inertia of a body whose origin has the acceleration `a`: `[m a + K h; h × a + vee2(K S)]`, the corrected Konz (4.20).
    #[inline]
    pub fn force(&self, a: &Vector3<T>, K: &Matrix3<T>) -> Wrench<T> {
        let (h, S) = (&self.first, &self.second);
        let force = scaled(a, self.mass, &turn(K, h));
        let x = fma(K.m31, S.xy, fma(K.m32, S.yy, K.m33 * S.yz))
            - fma(K.m21, S.xz, fma(K.m22, S.yz, K.m23 * S.zz));
        let y = fma(K.m11, S.xz, fma(K.m12, S.yz, K.m13 * S.zz))
            - fma(K.m31, S.xx, fma(K.m32, S.xy, K.m33 * S.xz));
        let z = fma(K.m21, S.xx, fma(K.m22, S.xy, K.m23 * S.xz))
            - fma(K.m11, S.xy, fma(K.m12, S.yy, K.m13 * S.yz));
        Wrench {
            force,
            torque: Vector3::new(
                fma(h.y, a.z, fma(-h.z, a.y, x)),
                fma(h.z, a.x, fma(-h.x, a.z, y)),
                fma(h.x, a.y, fma(-h.y, a.x, z)),
            ),
        }
    }

    /// Momentum and angular momentum about the origin: `M` times the twist.
    #[inline]
    pub fn momentum(&self, twist: &Twist<T>) -> Wrench<T> {
        let (v, w, h) = (&twist.linear, &twist.angular, &self.first);
        let force: Vector3<T> = scaled(v, self.mass, &cross(w, h));
        let torque = self.second.moment_of_inertia().times(w) + cross(h, v);
        Wrench { force, torque }
    }

    /// The columns of the 6x6 matrix `[[m I, -wed(h)], [wed(h), Theta]]`.
    #[inline]
    pub fn matrix(&self) -> [[T; 6]; 6] {
        let (o, m, h) = (T::zero(), self.mass, &self.first);
        let I = self.second.moment_of_inertia();
        [
            [m, o, o, o, h.z, -h.y],
            [o, m, o, -h.z, o, h.x],
            [o, o, m, h.y, -h.x, o],
            [o, -h.z, h.y, I.xx, I.xy, I.xz],
            [h.z, o, -h.x, I.xy, I.yy, I.yz],
            [-h.y, h.x, o, I.xz, I.yz, I.zz],
        ]
    }
}
