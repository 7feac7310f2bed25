//! The inertia that a body seems to have when the joints that it carries are free to move, and what a joint passes on of it.

use std::cmp::Ordering;

use nalgebra::{Matrix3, RealField, Vector3};

use super::motion::{Motion, Twist};
use super::scratch::Place;
use super::spatial::{
    MassMoments, Symmetric3, Wrench, cross, dot, fma, product, product_transposed, scaled, turn,
    turn_back,
};

/// The articulated inertia `[[A, B], [B^T, C]]` for accelerations `[a; alpha]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T: RealField + Copy> {
    pub linear: Symmetric3<T>,
    pub coupling: Matrix3<T>,
    pub angular: Symmetric3<T>,
}

/// A node's factors: how its joint answers a force, and what it passes on to its parent.
///
/// With the joint's directions `S`: `U = I_A S`, `D = S^T U`; passed on is `I_A - U D^-1 U^T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Articulated<T: RealField + Copy> {
    /// What is passed on.
    pub passed: ArticulatedInertia<T>,
    /// `U`, of joints with one to four directions.
    columns: [Wrench<T>; 4],
    /// `D = L d L^T`: `L` below the diagonal, the inverse of `d` on it.
    pivots: [[T; 4]; 4],
    /// Of ball joints and free ones, in place of the columns: `B`, `C^-1`, and `(A - B C^-1 B^T)^-1`.
    coupling: Matrix3<T>,
    angular_inverse: Symmetric3<T>,
    linear_inverse: Symmetric3<T>,
}

/// A joint moves nothing that has mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Massless;

impl<T: RealField + Copy> Articulated<T> {
    pub fn zero() -> Self {
        let zero = Symmetric3::scalar(T::zero());
        Self {
            passed: ArticulatedInertia::zero(),
            columns: [Wrench::zero(); 4],
            pivots: [[T::zero(); 4]; 4],
            coupling: Matrix3::zeros(),
            angular_inverse: zero,
            linear_inverse: zero,
        }
    }

    /// The factors of a joint that moves this inertia.
    #[inline]
    pub fn release(
        &mut self,
        motion: &Motion<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), Massless> {
        match motion {
            Motion::Revolute(_) => self.release_hinge(inertia),
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => self.release_ball(inertia),
            Motion::Free(_) => self.release_free(inertia),
            _ => self.release_any(motion, inertia),
        }
    }

    #[inline]
    fn release_hinge(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), Massless> {
        let (B, C) = (&inertia.coupling, &inertia.angular);
        let force = Vector3::new(B.m13, B.m23, B.m33);
        let inverse = reciprocal(C.zz, C.trace())?;
        self.columns[0] = Wrench {
            force,
            torque: Vector3::new(C.xz, C.yz, C.zz),
        };
        self.pivots[0][0] = inverse;
        let (f, x, y) = (force * -inverse, C.xz, C.yz);
        let (x_d, y_d, o) = (x * -inverse, y * -inverse, T::zero());
        self.passed = ArticulatedInertia {
            linear: inertia.linear.plus_outer(&f, &force),
            coupling: Matrix3::new(
                fma(f.x, x, B.m11),
                fma(f.x, y, B.m12),
                o,
                fma(f.y, x, B.m21),
                fma(f.y, y, B.m22),
                o,
                fma(f.z, x, B.m31),
                fma(f.z, y, B.m32),
                o,
            ),
            // Exactly zero about the axis, which `place_hinge` relies on.
            angular: Symmetric3 {
                xx: fma(x_d, x, C.xx),
                xy: fma(x_d, y, C.xy),
                xz: o,
                yy: fma(y_d, y, C.yy),
                yz: o,
                zz: o,
            },
        };
        Ok(())
    }

    #[inline]
    fn release_ball(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), Massless> {
        let B = inertia.coupling;
        let angular_inverse = inverse(&inertia.angular)?;
        let BC = product(&B, &angular_inverse.matrix());
        let linear = Symmetric3::of_product_transposed(&BC, &-B).plus(&inertia.linear);
        self.coupling = B;
        self.angular_inverse = angular_inverse;
        self.passed = ArticulatedInertia::zero();
        self.passed.linear = linear;
        Ok(())
    }

    #[inline]
    fn release_free(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), Massless> {
        self.release_ball(inertia)?;
        self.linear_inverse = inverse(&self.passed.linear)?;
        self.passed = ArticulatedInertia::zero();
        Ok(())
    }

    fn release_any(
        &mut self,
        motion: &Motion<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), Massless> {
        let mut rest = *inertia;
        let size = inertia.linear.trace() + inertia.angular.trace();
        let mut unit = [T::zero(); 6];
        for k in 0..motion.dof() {
            unit[k] = T::one();
            let column = rest.times(&motion.twist(&unit));
            unit[k] = T::zero();
            let mut pivot = [T::zero(); 6];
            motion.force(&column, &mut pivot);
            let inverse = reciprocal(pivot[k], size)?;
            for (row, pivot) in self.pivots.iter_mut().zip(pivot) {
                row[k] = pivot * inverse;
            }
            self.pivots[k][k] = inverse;
            rest.subtract(&column, inverse);
            self.columns[k] = column;
        }
        self.passed = rest;
        Ok(())
    }
}

/// # Solving
impl<T: RealField + Copy> Articulated<T> {
    /// From the leaves to the root: `wrench`, which the joint's children ask for, becomes that which the joint asks its parent for, and
    /// `force` becomes what [`accelerate`](Self::accelerate) needs.
    #[inline]
    pub fn take(&self, motion: &Motion<T>, force: &mut [T], wrench: &mut Wrench<T>) {
        match motion {
            Motion::Revolute(_) => {
                let s = (force[0] - wrench.torque.z) * self.pivots[0][0];
                let U = &self.columns[0];
                wrench.force = scaled(&U.force, s, &wrench.force);
                wrench.torque = scaled(&U.torque, s, &wrench.torque);
                force[0] = s;
            }
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => {
                let tau = Vector3::new(force[0], force[1], force[2]);
                let s = self.angular_inverse.times(&(tau - wrench.torque));
                wrench.force += turn(&self.coupling, &s);
                wrench.torque = tau;
                force[..3].copy_from_slice(s.as_slice());
            }
            Motion::Free(_) => {
                let own = Wrench {
                    force: Vector3::new(force[0], force[1], force[2]),
                    torque: Vector3::new(force[3], force[4], force[5]),
                };
                let torque = self.angular_inverse.times(&(own.torque - wrench.torque));
                let rest = own.force - wrench.force - turn(&self.coupling, &torque);
                let a = self.linear_inverse.times(&rest);
                let alpha = torque - self.angular_inverse.times(&turn_back(&self.coupling, &a));
                force[..3].copy_from_slice(a.as_slice());
                force[3..6].copy_from_slice(alpha.as_slice());
                *wrench = own;
            }
            _ => self.take_any(motion, force, wrench),
        }
    }

    fn take_any(&self, motion: &Motion<T>, force: &mut [T], wrench: &mut Wrench<T>) {
        let dof = motion.dof();
        let mut taken = [T::zero(); 6];
        motion.force(wrench, &mut taken);
        for (force, taken) in force.iter_mut().zip(taken) {
            *force -= taken;
        }
        for k in 0..dof {
            let s = force[k] * self.pivots[k][k];
            for j in k + 1..dof {
                force[j] = fma(-self.pivots[j][k], force[k], force[j]);
            }
            let column = &self.columns[k];
            wrench.force = scaled(&column.force, s, &wrench.force);
            wrench.torque = scaled(&column.torque, s, &wrench.torque);
            force[k] = s;
        }
    }

    /// From the root to the leaves: `acceleration`, to which the parent carries the body, becomes the body's, and `force` the joint's
    /// acceleration.
    #[inline]
    pub fn accelerate(&self, motion: &Motion<T>, force: &mut [T], acceleration: &mut Twist<T>) {
        let (a, alpha) = (&mut acceleration.linear, &mut acceleration.angular);
        match motion {
            Motion::Revolute(_) => {
                let U = &self.columns[0];
                let taken = dot(&U.force, a) + dot(&U.torque, alpha);
                force[0] = fma(-taken, self.pivots[0][0], force[0]);
                alpha.z += force[0];
            }
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => {
                let s = Vector3::new(force[0], force[1], force[2]);
                let answer = s - self.angular_inverse.times(&turn_back(&self.coupling, a));
                let rate = answer - *alpha;
                *alpha = answer;
                force[..3].copy_from_slice(rate.as_slice());
            }
            Motion::Free(_) => {
                let own = Twist {
                    linear: Vector3::new(force[0], force[1], force[2]),
                    angular: Vector3::new(force[3], force[4], force[5]),
                };
                force[..3].copy_from_slice((own.linear - *a).as_slice());
                force[3..6].copy_from_slice((own.angular - *alpha).as_slice());
                *acceleration = own;
            }
            _ => self.accelerate_any(motion, force, acceleration),
        }
    }

    fn accelerate_any(&self, motion: &Motion<T>, force: &mut [T], acceleration: &mut Twist<T>) {
        for k in (0..motion.dof()).rev() {
            let U = &self.columns[k];
            let taken = dot(&U.force, &acceleration.linear) + dot(&U.torque, &acceleration.angular);
            let mut own = fma(-taken, self.pivots[k][k], force[k]);
            let answered = self.pivots.iter().zip(&*force).skip(k + 1);
            for (pivots, rate) in answered.take(motion.dof() - k - 1) {
                own = fma(-pivots[k], *rate, own);
            }
            force[k] = own;
        }
        let rate = motion.twist(force);
        acceleration.linear += rate.linear;
        acceleration.angular += rate.angular;
    }
}

impl<T: RealField + Copy> ArticulatedInertia<T> {
    pub fn zero() -> Self {
        Self::of(&MassMoments::zero())
    }

    #[inline]
    pub fn of(moments: &MassMoments<T>) -> Self {
        let (o, h) = (T::zero(), &moments.first);
        Self {
            linear: Symmetric3::scalar(moments.mass),
            coupling: Matrix3::new(o, h.z, -h.y, -h.z, o, h.x, h.y, -h.x, o),
            angular: moments.second.moment_of_inertia(),
        }
    }

    #[inline]
    fn times(&self, twist: &Twist<T>) -> Wrench<T> {
        let (v, w) = (&twist.linear, &twist.angular);
        Wrench {
            force: self.linear.times(v) + turn(&self.coupling, w),
            torque: turn_back(&self.coupling, v) + self.angular.times(w),
        }
    }

    /// `I - u s u^T`.
    #[inline]
    fn subtract(&mut self, u: &Wrench<T>, s: T) {
        let (f, n) = (&u.force, &u.torque);
        let (sf, sn) = (f * -s, n * -s);
        self.linear = self.linear.plus_outer(&sf, f);
        self.angular = self.angular.plus_outer(&sn, n);
        let B = &self.coupling;
        let column = |x, y, z, n| scaled(f, n, &Vector3::new(x, y, z));
        self.coupling = Matrix3::from_columns(&[
            column(B.m11, B.m21, B.m31, sn.x),
            column(B.m12, B.m22, B.m32, sn.y),
            column(B.m13, B.m23, B.m33, sn.z),
        ]);
    }

    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.linear = self.linear.plus(&other.linear);
        self.coupling += other.coupling;
        self.angular = self.angular.plus(&other.angular);
    }

    /// What is passed on, as the parent feels it: `Ad(G^-1)^T I Ad(G^-1)`, through an absolute joint the forces alone.
    #[inline]
    pub fn placed(&self, motion: &Motion<T>, place: &Place<T>) -> Self {
        let (R, p) = (&place.rotation, &place.translation);
        let linear = self.linear.turned(R);
        match motion {
            Motion::Revolute(_) => {
                let (coupling, angular) = self.turned_hinge(R);
                shifted(linear, &coupling, &angular, p)
            }
            // Neither of them passes on a torque.
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => {
                let zero = Symmetric3::scalar(T::zero());
                shifted(linear, &Matrix3::zeros(), &zero, p)
            }
            _ => {
                let coupling = product_transposed(&product(R, &self.coupling), R);
                shifted(linear, &coupling, &self.angular.turned(R), p)
            }
        }
    }

    /// `R B R^T` and `R C R^T` where nothing acts about z.
    #[inline]
    fn turned_hinge(&self, R: &Matrix3<T>) -> (Matrix3<T>, Symmetric3<T>) {
        let (B, C) = (&self.coupling, &self.angular);
        let c0 = turn(R, &Vector3::new(B.m11, B.m21, B.m31));
        let c1 = turn(R, &Vector3::new(B.m12, B.m22, B.m32));
        let column = |x: T, y: T| scaled(&c1, y, &(c0 * x));
        let coupling = Matrix3::from_columns(&[
            column(R.m11, R.m12),
            column(R.m21, R.m22),
            column(R.m31, R.m32),
        ]);
        let row = |x: T, y: T| (fma(C.xy, y, C.xx * x), fma(C.yy, y, C.xy * x));
        let (r0, r1, r2) = (row(R.m11, R.m12), row(R.m21, R.m22), row(R.m31, R.m32));
        let angular = Symmetric3 {
            xx: fma(r0.1, R.m12, r0.0 * R.m11),
            xy: fma(r0.1, R.m22, r0.0 * R.m21),
            xz: fma(r0.1, R.m32, r0.0 * R.m31),
            yy: fma(r1.1, R.m22, r1.0 * R.m21),
            yz: fma(r1.1, R.m32, r1.0 * R.m31),
            zz: fma(r2.1, R.m32, r2.0 * R.m31),
        };
        (coupling, angular)
    }
}

/// `[[A, B - A p^], [., C + p^ B + (p^ B)^T - p^ A p^]]` with `p^ = wed(p)`.
#[inline]
fn shifted<T: RealField + Copy>(
    linear: Symmetric3<T>,
    B: &Matrix3<T>,
    angular: &Symmetric3<T>,
    p: &Vector3<T>,
) -> ArticulatedInertia<T> {
    let (A, C) = (&linear, angular);
    // The rows of A p^ are a × p.
    let row = |x, y, z| cross(&Vector3::new(x, y, z), p);
    let (r0, r1, r2) = (
        row(A.xx, A.xy, A.xz),
        row(A.xy, A.yy, A.yz),
        row(A.xz, A.yz, A.zz),
    );
    let coupling = Matrix3::new(
        B.m11 - r0.x,
        B.m12 - r0.y,
        B.m13 - r0.z,
        B.m21 - r1.x,
        B.m22 - r1.y,
        B.m23 - r1.z,
        B.m31 - r2.x,
        B.m32 - r2.y,
        B.m33 - r2.z,
    );
    // p^ B + (p^ B)^T - p^ A p^ = p^ (B - A p^) + (p^ B)^T; (p^ B) has the columns p × b.
    let N = &coupling;
    let angular = Symmetric3 {
        xx: fma(p.y, N.m31 + B.m31, fma(-p.z, N.m21 + B.m21, C.xx)),
        xy: fma(
            p.y,
            N.m32,
            fma(-p.z, N.m22, fma(p.z, B.m11, fma(-p.x, B.m31, C.xy))),
        ),
        xz: fma(
            p.y,
            N.m33,
            fma(-p.z, N.m23, fma(p.x, B.m21, fma(-p.y, B.m11, C.xz))),
        ),
        yy: fma(p.z, N.m12 + B.m12, fma(-p.x, N.m32 + B.m32, C.yy)),
        yz: fma(
            p.z,
            N.m13,
            fma(-p.x, N.m33, fma(p.x, B.m22, fma(-p.y, B.m12, C.yz))),
        ),
        zz: fma(p.x, N.m23 + B.m23, fma(-p.y, N.m13 + B.m13, C.zz)),
    };
    ArticulatedInertia {
        linear,
        coupling,
        angular,
    }
}

/// The inverse of a pivot that is positive beyond rounding beside numbers of this size.
#[inline]
fn reciprocal<T: RealField + Copy>(pivot: T, size: T) -> Result<T, Massless> {
    let rounding: T = size * T::default_epsilon() * nalgebra::convert(16.0);
    // A number that is none is not greater.
    if pivot.partial_cmp(&rounding) == Some(Ordering::Greater) {
        Ok(T::one() / pivot)
    } else {
        Err(Massless)
    }
}

/// The inverse of a positive definite matrix.
#[inline]
fn inverse<T: RealField + Copy>(A: &Symmetric3<T>) -> Result<Symmetric3<T>, Massless> {
    let size = A.trace();
    // Cofactors; the pivots of an elimination are zz, zz's first cofactor over it, and the determinant over that.
    let xx = fma(A.yy, A.zz, -(A.yz * A.yz));
    let xy = fma(A.xz, A.yz, -(A.xy * A.zz));
    let xz = fma(A.xy, A.yz, -(A.xz * A.yy));
    let determinant = fma(A.xz, xz, fma(A.xy, xy, A.xx * xx));
    let small: T = size * T::default_epsilon() * nalgebra::convert(16.0);
    let greater = |a: T, b: T| a.partial_cmp(&b) == Some(Ordering::Greater);
    if !(greater(A.zz, small) && greater(xx, A.zz * small) && greater(determinant, xx * small)) {
        return Err(Massless);
    }
    let scale = T::one() / determinant;
    Ok(Symmetric3 {
        xx: xx * scale,
        xy: xy * scale,
        xz: xz * scale,
        yy: fma(A.xx, A.zz, -(A.xz * A.xz)) * scale,
        yz: fma(A.xy, A.xz, -(A.xx * A.yz)) * scale,
        zz: fma(A.xx, A.yy, -(A.xy * A.xy)) * scale,
    })
}
