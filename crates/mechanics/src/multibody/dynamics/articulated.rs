//! The inertia that a body seems to have when the joints that it carries are free to move.

use nalgebra::RealField;

use super::lanes::{LaneMatrix, LanePair, Lanes};
use super::motion::Motion;
use super::place::LanePlace;
use super::spatial::MassMoments;

/// The articulated inertia `[[A, B], [B^T, C]]` for accelerations `[a; alpha]`; A and C are symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    pub linear: LaneMatrix<T>,
    pub coupling: LaneMatrix<T>,
    pub angular: LaneMatrix<T>,
}

impl<T: RealField + Copy> ArticulatedInertia<T> {
    pub fn zero() -> Self {
        Self {
            linear: LaneMatrix::zero(),
            coupling: LaneMatrix::zero(),
            angular: LaneMatrix::zero(),
        }
    }

    /// Of a body alone: `[[m I, -wed(h)], [wed(h), Theta]]`.
    pub fn of(moments: &MassMoments<T>) -> Self {
        let (o, m, h) = (T::zero(), moments.mass, &moments.first);
        Self {
            linear: LaneMatrix([
                Lanes::new(m, o, o),
                Lanes::new(o, m, o),
                Lanes::new(o, o, m),
            ]),
            coupling: LaneMatrix([
                Lanes::new(o, -h.z, h.y),
                Lanes::new(h.z, o, -h.x),
                Lanes::new(-h.y, h.x, o),
            ]),
            angular: moments.second.moment_of_inertia().matrix().into(),
        }
    }

    pub fn times(&self, twist: &LanePair<T>) -> LanePair<T> {
        let (v, w) = (twist.linear, twist.angular);
        let by_turning = self.angular.times(w);
        let transposed = self.coupling.transposed();
        LanePair {
            linear: self.linear.times_plus(v, self.coupling.times(w)),
            angular: transposed.times_plus(v, by_turning),
        }
    }

    /// `I - u s u^T`.
    pub fn subtract(&mut self, u: &LanePair<T>, s: T) {
        let (f, n) = (u.linear, u.angular);
        self.linear = self.linear.plus_outer(f * -s, f);
        self.coupling = self.coupling.plus_outer(f * -s, n);
        self.angular = self.angular.plus_outer(n * -s, n);
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            linear: self.linear.plus(&other.linear),
            coupling: self.coupling.plus(&other.coupling),
            angular: self.angular.plus(&other.angular),
        }
    }

    /// What a joint passes on, as the parent feels it: `Ad(G^-1)^T I Ad(G^-1)`, through an absolute joint the forces alone.
    #[inline]
    pub fn placed(&self, motion: &Motion<T>, place: &LanePlace<T>) -> Self {
        if motion.is_hinge() {
            self.placed_hinge(place)
        } else {
            self.placed_other(motion, place)
        }
    }

    /// Nothing acts about z.
    #[inline]
    fn placed_hinge(&self, place: &LanePlace<T>) -> Self {
        let (R, E) = (&place.rotation, &place.inverse);
        let ([b0, b1, _], [c0, c1, _]) = (self.coupling.0, self.angular.0);
        let ([r0, r1, _], [e0, e1, e2]) = (R.0, E.0);
        let mixed = |a: Lanes<T>, b: Lanes<T>| {
            let mixed = |column: Lanes<T>| b.times_plus(column.y(), a * column.x());
            LaneMatrix([mixed(e0), mixed(e1), mixed(e2)])
        };
        let turned = |c: Lanes<T>| r1.times_plus(c.y(), r0 * c.x());
        Self {
            linear: R.product(&self.linear).product(E),
            coupling: mixed(R.times(b0), R.times(b1)),
            angular: mixed(turned(c0), turned(c1)),
        }
        .shifted(place.translation)
    }

    #[inline(never)]
    fn placed_other(&self, motion: &Motion<T>, place: &LanePlace<T>) -> Self {
        let (R, E) = (&place.rotation, &place.inverse);
        let linear = R.product(&self.linear).product(E);
        if let Motion::Spherical(_) | Motion::AbsoluteSpherical(_) = motion {
            // Neither of them passes on a torque.
            let p = place.translation;
            let coupling = LaneMatrix::zero().minus(&linear.times_wed(p));
            let angular = coupling.wed_times(p);
            return Self {
                linear,
                coupling,
                angular,
            };
        }
        Self {
            linear,
            coupling: R.product(&self.coupling).product(E),
            angular: R.product(&self.angular).product(E),
        }
        .shifted(place.translation)
    }

    /// About another origin: `[[A, N], [N^T, C + wed(p) N - B^T wed(p)]]` with `N = B - A wed(p)`.
    #[inline]
    fn shifted(&self, p: Lanes<T>) -> Self {
        let coupling = self.coupling.minus(&self.linear.times_wed(p));
        let angular = (self.angular).minus(&self.coupling.transposed().times_wed(p));
        let moments = coupling.wed_times(p);
        Self {
            linear: self.linear,
            coupling,
            angular: angular.plus(&moments),
        }
    }
}
