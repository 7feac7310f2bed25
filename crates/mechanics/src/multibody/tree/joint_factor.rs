//! The factored joint-space inertia `D = S^T I_A S` of one joint: what the articulated-body algorithm stores per node.

use std::cmp::Ordering;

use nalgebra::RealField;

use super::JointType;
use crate::multibody::simd::{Mat3, Vec3, fma};
use crate::multibody::spatial::{ArticulatedInertia, Placement, SpatialVector};

/// `U = I_A S`, `D = S^T U` and `I_a = I_A - U D^-1 U^T` of a joint with motion subspace `S` that carries the articulated inertia
/// `I_A`, RBDA (7.43), (7.44), (7.47).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFactor<T> {
    /// `I_a`: the inertia passed through the joint to the parent.
    pub passed: ArticulatedInertia<T>,
    /// `U`, for joints with one to four degrees of freedom.
    columns: [SpatialVector<T>; 4],
    /// `D = L d L^T`: `L` below the diagonal, the inverse of `d` on it.
    pivots: [[T; 4]; 4],
    /// For ball and free joints, in place of the columns: `B`, `B^T`, `C^-1`, and `(A - B C^-1 B^T)^-1`.
    coupling: Mat3<T>,
    transposed: Mat3<T>,
    angular_inverse: Mat3<T>,
    linear_inverse: Mat3<T>,
}

/// `D` is singular: the joint carries no inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoInertia;

impl<T: RealField + Copy> JointFactor<T> {
    pub fn zero() -> Self {
        Self {
            passed: ArticulatedInertia::zero(),
            columns: [SpatialVector::zero(); 4],
            pivots: [[T::zero(); 4]; 4],
            coupling: Mat3::zero(),
            transposed: Mat3::zero(),
            angular_inverse: Mat3::zero(),
            linear_inverse: Mat3::zero(),
        }
    }

    /// Factors `D`.
    #[inline]
    pub fn factor(
        &mut self,
        joint: &JointType<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), NoInertia> {
        if joint.is_revolute() {
            self.factor_revolute(inertia)
        } else {
            self.factor_joint(joint, inertia)
        }
    }

    #[inline(never)]
    fn factor_joint(
        &mut self,
        joint: &JointType<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), NoInertia> {
        match joint {
            JointType::Spherical(_) | JointType::AbsoluteSpherical(_) => self.factor_ball(inertia),
            JointType::Free(_) => self.factor_free(inertia),
            _ => self.factor_any(joint, inertia),
        }
    }

    #[inline]
    fn factor_revolute(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), NoInertia> {
        let ([b0, b1, force], [c0, c1, torque]) = (inertia.coupling.0, inertia.angular.0);
        let inverse = reciprocal(torque.z(), inertia.angular.trace())?;
        let (f, n) = (force * -inverse, torque * -inverse);
        self.columns[0] = SpatialVector {
            linear: force,
            angular: torque,
        };
        self.pivots[0][0] = inverse;
        // Nothing passes about z: the last column and row are not read.
        self.passed = ArticulatedInertia {
            linear: inertia.linear.plus_outer(f, force),
            coupling: Mat3([f.mul_add(torque.x(), b0), f.mul_add(torque.y(), b1), force]),
            angular: Mat3([n.mul_add(torque.x(), c0), n.mul_add(torque.y(), c1), torque]),
        };
        Ok(())
    }

    #[inline]
    fn factor_ball(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), NoInertia> {
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
    fn factor_free(&mut self, inertia: &ArticulatedInertia<T>) -> Result<(), NoInertia> {
        self.factor_ball(inertia)?;
        self.linear_inverse = inverse(&self.passed.linear)?;
        self.passed = ArticulatedInertia::zero();
        Ok(())
    }

    fn factor_any(
        &mut self,
        joint: &JointType<T>,
        inertia: &ArticulatedInertia<T>,
    ) -> Result<(), NoInertia> {
        let size = inertia.linear.trace() + inertia.angular.trace();
        self.passed = eliminate(joint, inertia, 0..joint.dof(), |k, column, pivot| {
            let inverse = reciprocal(pivot[k], size)?;
            for (row, pivot) in self.pivots.iter_mut().zip(pivot) {
                row[k] = pivot * inverse;
            }
            self.pivots[k][k] = inverse;
            self.columns[k] = column;
            Ok(inverse)
        })?;
        Ok(())
    }

    /// Treats the joint as a chain of one-coordinate joints, the first of which carries the others, and calls `each` with every coordinate's index in the
    /// joint, its column of `U` and the inverse of its pivot. `inertia` is the one that was factored.
    #[inline]
    pub fn for_each_coordinate(
        &self,
        joint: &JointType<T>,
        inertia: &ArticulatedInertia<T>,
        mut each: impl FnMut(usize, SpatialVector<T>, T),
    ) {
        if joint.dof() == 1 {
            return each(0, self.columns[0], self.pivots[0][0]);
        }
        // The factorisation succeeded, so no pivot is zero.
        let eliminated = eliminate(
            joint,
            inertia,
            (0..joint.dof()).rev(),
            |k, column, pivot| {
                let inverse = T::one() / pivot[k];
                each(k, column, inverse);
                Ok(inverse)
            },
        );
        debug_assert!(eliminated.is_ok());
    }
}

/// Eliminates the coordinates of a joint one after the other: `pivot` receives the index of each in the joint, its column of `U` and the projection of that
/// column on all coordinates, and returns the inverse of the pivot. Returns the remaining inertia.
#[inline]
fn eliminate<T: RealField + Copy>(
    joint: &JointType<T>,
    inertia: &ArticulatedInertia<T>,
    order: impl Iterator<Item = usize>,
    mut pivot: impl FnMut(usize, SpatialVector<T>, [T; 6]) -> Result<T, NoInertia>,
) -> Result<ArticulatedInertia<T>, NoInertia> {
    let mut rest = *inertia;
    for k in order {
        let column = rest.times(&joint.direction(k));
        let mut projected = [T::zero(); 6];
        joint.project(column, &mut projected);
        let inverse = pivot(k, column, projected)?;
        rest.subtract(&column, inverse);
    }
    Ok(rest)
}

impl<T: RealField + Copy> JointFactor<T> {
    /// The columns of `D^-1` of a free joint, by the Schur complement `A - B C^-1 B^T` of `D = [[A, B], [B^T, C]]`.
    pub fn inverse_of_free(&self) -> [SpatialVector<T>; 6] {
        let (C, S) = (&self.angular_inverse, &self.linear_inverse);
        let taken = C.product(&self.transposed);
        let coupling = taken.product(S);
        let angular = C.plus(&coupling.times_transposed(&taken)).0;
        let across = coupling.transposed().0;
        let (along, about) = (S.0, coupling.0);
        let linear = |k: usize| SpatialVector::new(along[k], -about[k]);
        let turning = |k: usize| SpatialVector::new(-across[k], angular[k]);
        [
            linear(0),
            linear(1),
            linear(2),
            turning(0),
            turning(1),
            turning(2),
        ]
    }
}

/// # Passes
impl<T: RealField + Copy> JointFactor<T> {
    /// The inertia passed through the joint, in the parent; an absolute joint passes forces only.
    #[inline]
    pub fn push(&self, joint: &JointType<T>, placement: &Placement<T>) -> ArticulatedInertia<T> {
        if joint.is_revolute() {
            self.passed.push_through_revolute(placement)
        } else {
            self.push_joint(joint, placement)
        }
    }

    #[inline(never)]
    fn push_joint(&self, joint: &JointType<T>, placement: &Placement<T>) -> ArticulatedInertia<T> {
        match joint {
            JointType::Spherical(_) | JointType::AbsoluteSpherical(_) => {
                self.passed.push_through_ball(placement)
            }
            _ => self.passed.push(placement),
        }
    }
}

impl<T: RealField + Copy> JointFactor<T> {
    /// The step of the backward pass: writes `u = D^-1 (τ - S^T p_A)` over the joint's force `τ`, and returns `p_A + U u`, RBDA (7.45), (7.48).
    #[inline]
    pub fn backward(
        &self,
        joint: &JointType<T>,
        force: &mut [T],
        wrench: SpatialVector<T>,
    ) -> SpatialVector<T> {
        if joint.is_revolute() {
            let s = (force[0] - wrench.angular.z()) * self.pivots[0][0];
            force[0] = s;
            self.columns[0].mul_add(s, wrench)
        } else {
            self.backward_joint(joint, force, wrench)
        }
    }

    #[inline(never)]
    fn backward_joint(
        &self,
        joint: &JointType<T>,
        force: &mut [T],
        mut wrench: SpatialVector<T>,
    ) -> SpatialVector<T> {
        match joint {
            JointType::Spherical(_) | JointType::AbsoluteSpherical(_) => {
                let tau = Vec3::from_slice(force);
                let s = self.angular_inverse.times(tau - wrench.angular);
                s.write(force);
                SpatialVector {
                    linear: self.coupling.mul_add(s, wrench.linear),
                    angular: tau,
                }
            }
            JointType::Free(_) => {
                let own = SpatialVector::from_slice(force);
                let torque = self.angular_inverse.times(own.angular - wrench.angular);
                let rest = own.linear - wrench.linear - self.coupling.times(torque);
                let a = self.linear_inverse.times(rest);
                let alpha = torque - self.angular_inverse.times(self.transposed.times(a));
                let answer = SpatialVector {
                    linear: a,
                    angular: alpha,
                };
                answer.write(force);
                own
            }
            _ => {
                let mut taken = [T::zero(); 6];
                joint.project(wrench, &mut taken);
                for (force, taken) in force.iter_mut().zip(&taken[..joint.dof()]) {
                    *force -= *taken;
                }
                for k in 0..joint.dof() {
                    let s = force[k] * self.pivots[k][k];
                    for j in k + 1..joint.dof() {
                        force[j] = fma(-self.pivots[j][k], force[k], force[j]);
                    }
                    wrench = self.columns[k].mul_add(s, wrench);
                    force[k] = s;
                }
                wrench
            }
        }
    }

    /// The step of the forward pass: writes the joint's acceleration `ξ̇ = u - D^-1 U^T a'` over `u`, and returns `a' + S ξ̇`, where `a'` is the
    /// acceleration of the joint's carrier, RBDA (7.50), (7.51).
    #[inline]
    pub fn forward(
        &self,
        joint: &JointType<T>,
        force: &mut [T],
        carried: SpatialVector<T>,
    ) -> SpatialVector<T> {
        if joint.is_revolute() {
            let taken = self.columns[0].dot(&carried);
            force[0] = fma(-taken, self.pivots[0][0], force[0]);
            let rate = Vec3::new(T::zero(), T::zero(), force[0]);
            SpatialVector {
                linear: carried.linear,
                angular: carried.angular + rate,
            }
        } else {
            self.forward_joint(joint, force, carried)
        }
    }

    #[inline(never)]
    fn forward_joint(
        &self,
        joint: &JointType<T>,
        force: &mut [T],
        carried: SpatialVector<T>,
    ) -> SpatialVector<T> {
        let SpatialVector { linear, angular } = carried;
        match joint {
            JointType::Spherical(_) | JointType::AbsoluteSpherical(_) => {
                let taken = self.angular_inverse.times(self.transposed.times(linear));
                let alpha = Vec3::from_slice(force) - taken;
                (alpha - angular).write(force);
                SpatialVector {
                    linear,
                    angular: alpha,
                }
            }
            JointType::Free(_) => {
                let own = SpatialVector::from_slice(force);
                (own - carried).write(force);
                own
            }
            _ => {
                for k in (0..joint.dof()).rev() {
                    let taken = self.columns[k].dot(&carried);
                    let mut own = fma(-taken, self.pivots[k][k], force[k]);
                    let answered = self.pivots.iter().zip(&*force).skip(k + 1);
                    for (pivots, rate) in answered.take(joint.dof() - k - 1) {
                        own = fma(-pivots[k], *rate, own);
                    }
                    force[k] = own;
                }
                carried + joint.twist(force)
            }
        }
    }
}

#[inline]
fn is_greater<T: RealField + Copy>(a: T, b: T) -> bool {
    // NaN compares false.
    a.partial_cmp(&b) == Some(Ordering::Greater)
}

/// The rounding error at this magnitude.
#[inline]
fn rounding<T: RealField + Copy>(size: T) -> T {
    size * T::default_epsilon() * nalgebra::convert(16.0)
}

/// The inverse of a pivot, which must exceed the rounding error at this magnitude.
#[inline]
fn reciprocal<T: RealField + Copy>(pivot: T, size: T) -> Result<T, NoInertia> {
    if is_greater(pivot, rounding(size)) {
        Ok(T::one() / pivot)
    } else {
        Err(NoInertia)
    }
}

/// The inverse of a positive definite matrix.
#[inline]
fn inverse<T: RealField + Copy>(A: &Mat3<T>) -> Result<Mat3<T>, NoInertia> {
    let [x, y, z] = A.0;
    let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
    let determinant = x.dot(cofactors[0]);
    // The pivots of an elimination are zz, the first cofactor over it, and the determinant over that.
    let (small, first) = (rounding(A.trace()), cofactors[0].x());
    let regular = is_greater(z.z(), small)
        && is_greater(first, z.z() * small)
        && is_greater(determinant, first * small);
    if !regular {
        return Err(NoInertia);
    }
    let scale = T::one() / determinant;
    let [x, y, z] = cofactors;
    Ok(Mat3([x * scale, y * scale, z * scale]))
}
