//! What a joint answers to a force, and what it passes on of the inertia that it moves.

use std::cmp::Ordering;

use nalgebra::RealField;

use super::articulated::ArticulatedInertia;
use super::lanes::{LaneMatrix, LanePair, Lanes};
use super::motion::Motion;
use super::spatial::fma;

/// A node's factors: how its joint answers a force, and what it passes on to its parent.
///
/// With the joint's directions `S`: `U = I_A S`, `D = S^T U`; passed on is `I_A - U D^-1 U^T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Articulated<T> {
    /// What is passed on.
    pub passed: ArticulatedInertia<T>,
    /// `U`, of joints with one to four directions.
    columns: [LanePair<T>; 4],
    /// `D = L d L^T`: `L` below the diagonal, the inverse of `d` on it.
    pivots: [[T; 4]; 4],
    /// Of ball joints and free ones, in place of the columns: `B`, `B^T`, `C^-1`, and `(A - B C^-1 B^T)^-1`.
    coupling: LaneMatrix<T>,
    transposed: LaneMatrix<T>,
    angular_inverse: LaneMatrix<T>,
    linear_inverse: LaneMatrix<T>,
}

/// A joint moves nothing that has mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Massless;

impl<T: RealField + Copy> Articulated<T> {
    pub fn zero() -> Self {
        Self {
            passed: ArticulatedInertia::zero(),
            columns: [LanePair::zero(); 4],
            pivots: [[T::zero(); 4]; 4],
            coupling: LaneMatrix::zero(),
            transposed: LaneMatrix::zero(),
            angular_inverse: LaneMatrix::zero(),
            linear_inverse: LaneMatrix::zero(),
        }
    }

    /// The factors of a joint that moves this inertia.
    #[inline]
    pub fn release(
        &mut self,
        motion: &Motion<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), Massless> {
        if motion.is_hinge() {
            self.release_hinge(inertia)
        } else {
            self.release_other(motion, inertia)
        }
    }

    #[inline(never)]
    fn release_other(
        &mut self,
        motion: &Motion<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), Massless> {
        match motion {
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => self.release_ball(inertia),
            Motion::Free(_) => self.release_free(inertia),
            _ => self.release_any(motion, inertia),
        }
    }

    #[inline]
    fn release_hinge(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), Massless> {
        let ([b0, b1, force], [c0, c1, torque]) = (inertia.coupling.0, inertia.angular.0);
        let inverse = reciprocal(torque.z(), trace(&inertia.angular))?;
        let (f, n) = (force * -inverse, torque * -inverse);
        self.columns[0] = LanePair {
            linear: force,
            angular: torque,
        };
        self.pivots[0][0] = inverse;
        // Nothing passes about z: the last column and row are not read.
        self.passed = ArticulatedInertia {
            linear: inertia.linear.plus_outer(f, force),
            coupling: LaneMatrix([
                f.times_plus(torque.x(), b0),
                f.times_plus(torque.y(), b1),
                force,
            ]),
            angular: LaneMatrix([
                n.times_plus(torque.x(), c0),
                n.times_plus(torque.y(), c1),
                torque,
            ]),
        };
        Ok(())
    }

    #[inline]
    fn release_ball(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), Massless> {
        self.coupling = inertia.coupling;
        self.transposed = inertia.coupling.transposed();
        self.angular_inverse = inverse(&inertia.angular)?;
        let taken = self.coupling.product(&self.angular_inverse);
        let linear = inertia.linear.minus(&taken.product(&self.transposed));
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
        let size = trace(&inertia.linear) + trace(&inertia.angular);
        let mut unit = [T::zero(); 6];
        for k in 0..motion.dof() {
            unit[k] = T::one();
            let column = rest.times(&motion.rates(&unit));
            unit[k] = T::zero();
            let mut pivot = [T::zero(); 6];
            motion.project(column, &mut pivot);
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
    /// From the leaves to the root: from the wrench that node and children ask for, that which the joint asks its parent for; `force`, that
    /// on the joint, becomes what [`accelerate`](Self::accelerate) needs.
    #[inline]
    pub fn take(&self, motion: &Motion<T>, force: &mut [T], wrench: LanePair<T>) -> LanePair<T> {
        if motion.is_hinge() {
            let s = (force[0] - wrench.angular.z()) * self.pivots[0][0];
            force[0] = s;
            self.columns[0].times_plus(s, wrench)
        } else {
            self.take_other(motion, force, wrench)
        }
    }

    #[inline(never)]
    fn take_other(
        &self,
        motion: &Motion<T>,
        force: &mut [T],
        mut wrench: LanePair<T>,
    ) -> LanePair<T> {
        match motion {
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => {
                let tau = Lanes::of(force);
                let s = self.angular_inverse.times(tau - wrench.angular);
                s.write(force);
                LanePair {
                    linear: self.coupling.times_plus(s, wrench.linear),
                    angular: tau,
                }
            }
            Motion::Free(_) => {
                let own = LanePair::of(force);
                let torque = self.angular_inverse.times(own.angular - wrench.angular);
                let rest = own.linear - wrench.linear - self.coupling.times(torque);
                let a = self.linear_inverse.times(rest);
                let alpha = torque - self.angular_inverse.times(self.transposed.times(a));
                let answer = LanePair {
                    linear: a,
                    angular: alpha,
                };
                answer.write(force);
                own
            }
            _ => {
                let mut taken = [T::zero(); 6];
                motion.project(wrench, &mut taken);
                for (force, taken) in force.iter_mut().zip(&taken[..motion.dof()]) {
                    *force -= *taken;
                }
                for k in 0..motion.dof() {
                    let s = force[k] * self.pivots[k][k];
                    for j in k + 1..motion.dof() {
                        force[j] = fma(-self.pivots[j][k], force[k], force[j]);
                    }
                    wrench = self.columns[k].times_plus(s, wrench);
                    force[k] = s;
                }
                wrench
            }
        }
    }

    /// From the root to the leaves: from the acceleration to which the parent carries the body, the body's; `force` becomes the joint's
    /// acceleration.
    #[inline]
    pub fn accelerate(
        &self,
        motion: &Motion<T>,
        force: &mut [T],
        carried: LanePair<T>,
    ) -> LanePair<T> {
        if motion.is_hinge() {
            let taken = self.columns[0].dot(&carried);
            force[0] = fma(-taken, self.pivots[0][0], force[0]);
            let rate = Lanes::new(T::zero(), T::zero(), force[0]);
            LanePair {
                linear: carried.linear,
                angular: carried.angular + rate,
            }
        } else {
            self.accelerate_other(motion, force, carried)
        }
    }

    #[inline(never)]
    fn accelerate_other(
        &self,
        motion: &Motion<T>,
        force: &mut [T],
        carried: LanePair<T>,
    ) -> LanePair<T> {
        let LanePair { linear, angular } = carried;
        match motion {
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => {
                let taken = self.angular_inverse.times(self.transposed.times(linear));
                let alpha = Lanes::of(force) - taken;
                (alpha - angular).write(force);
                LanePair {
                    linear,
                    angular: alpha,
                }
            }
            Motion::Free(_) => {
                let own = LanePair::of(force);
                (own - carried).write(force);
                own
            }
            _ => {
                for k in (0..motion.dof()).rev() {
                    let taken = self.columns[k].dot(&carried);
                    let mut own = fma(-taken, self.pivots[k][k], force[k]);
                    let answered = self.pivots.iter().zip(&*force).skip(k + 1);
                    for (pivots, rate) in answered.take(motion.dof() - k - 1) {
                        own = fma(-pivots[k], *rate, own);
                    }
                    force[k] = own;
                }
                carried + motion.rates(force)
            }
        }
    }
}

#[inline]
fn trace<T: RealField + Copy>(A: &LaneMatrix<T>) -> T {
    let [x, y, z] = &A.0;
    x.x() + y.y() + z.z()
}

#[inline]
fn is_greater<T: RealField + Copy>(a: T, b: T) -> bool {
    // A number that is none is not greater.
    a.partial_cmp(&b) == Some(Ordering::Greater)
}

/// What is rounding beside numbers of this size.
#[inline]
fn rounding<T: RealField + Copy>(size: T) -> T {
    size * T::default_epsilon() * nalgebra::convert(16.0)
}

/// The inverse of a pivot that is positive beyond rounding beside numbers of this size.
#[inline]
fn reciprocal<T: RealField + Copy>(pivot: T, size: T) -> Result<T, Massless> {
    if is_greater(pivot, rounding(size)) {
        Ok(T::one() / pivot)
    } else {
        Err(Massless)
    }
}

/// The inverse of a positive definite matrix.
#[inline]
fn inverse<T: RealField + Copy>(A: &LaneMatrix<T>) -> Result<LaneMatrix<T>, Massless> {
    let [x, y, z] = A.0;
    let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
    let determinant = x.dot(cofactors[0]);
    // The pivots of an elimination are zz, the first cofactor over it, and the determinant over that.
    let (small, first) = (rounding(trace(A)), cofactors[0].x());
    let regular = is_greater(z.z(), small)
        && is_greater(first, z.z() * small)
        && is_greater(determinant, first * small);
    if !regular {
        return Err(Massless);
    }
    let scale = T::one() / determinant;
    let [x, y, z] = cofactors;
    Ok(LaneMatrix([x * scale, y * scale, z * scale]))
}
