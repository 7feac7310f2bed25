//! A node with all that it carries, as a rigid body that moves and on which forces act.

use nalgebra::{Matrix3, RealField, Vector3};

use crate::multibody::dynamics::motion::Twist;
use crate::multibody::dynamics::spatial::{
    MassMoments, Wrench, cross, dot, scaled, turn, turn_back,
};

/// The sums `sum q_p` and `sum q_p h_p^T` of vectors at points: momenta, or forces.
#[derive(Clone, Copy, Debug)]
pub struct VectorMoments<T: RealField + Copy> {
    pub sum: Vector3<T>,
    pub first: Matrix3<T>,
}

impl<T: RealField + Copy> VectorMoments<T> {
    pub fn zero() -> Self {
        Self::at_origin(Vector3::zeros())
    }

    /// One vector in the origin.
    #[inline]
    pub fn at_origin(sum: Vector3<T>) -> Self {
        Self {
            sum,
            first: Matrix3::zeros(),
        }
    }

    /// The momenta of a body's mass points.
    #[inline]
    pub fn momenta(mass: &MassMoments<T>, twist: &Twist<T>) -> Self {
        let (v, w, h, S) = (&twist.linear, &twist.angular, &mass.first, &mass.second);
        // v h^T + wed(omega) S
        let column = |x, y, z, h| scaled(v, h, &cross(w, &Vector3::new(x, y, z)));
        Self {
            sum: scaled(v, mass.mass, &cross(w, h)),
            first: Matrix3::from_columns(&[
                column(S.xx, S.xy, S.xz, h.x),
                column(S.xy, S.yy, S.yz, h.y),
                column(S.xz, S.yz, S.zz, h.z),
            ]),
        }
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            first: self.first + other.first,
        }
    }

    /// All points `d` farther from the origin.
    #[inline]
    pub fn shifted(&self, d: &Vector3<T>) -> Self {
        let column = |k: usize| scaled(&self.sum, d[k], &self.first.column(k).into_owned());
        Self {
            sum: self.sum,
            first: Matrix3::from_columns(&[column(0), column(1), column(2)]),
        }
    }

    /// The wrench of the forces `u × q_p`: `[u × sum q_p; sum h_p × (u × q_p)]`.
    #[inline]
    pub fn turned(&self, u: &Vector3<T>) -> Wrench<T> {
        Wrench {
            force: cross(u, &self.sum),
            torque: u * self.first.trace() - turn(&self.first, u),
        }
    }

    /// Its transpose: the vector whose product with `u` is that of the twist with [`turned`](Self::turned).
    #[inline]
    pub fn against(&self, twist: &Twist<T>) -> Vector3<T> {
        cross(&self.sum, &twist.linear) + self.against_rotation(&twist.angular)
    }

    #[inline]
    pub fn against_rotation(&self, axis: &Vector3<T>) -> Vector3<T> {
        axis * self.first.trace() - turn_back(&self.first, axis)
    }
}

/// Mass, momentum and forces of a node and of what it carries, in the root's axes about the node's origin.
#[derive(Clone, Copy, Debug)]
pub struct Composite<T: RealField + Copy> {
    pub mass: MassMoments<T>,
    /// The momenta of all mass points.
    pub momentum: VectorMoments<T>,
    /// What the joint transmits.
    pub wrench: Wrench<T>,
}

impl<T: RealField + Copy> Composite<T> {
    pub fn zero() -> Self {
        Self {
            mass: MassMoments::zero(),
            momentum: VectorMoments::zero(),
            wrench: Wrench::zero(),
        }
    }

    /// What acts on mass points that accelerate by `w(p) + 2 u × V(p)`.
    #[inline]
    pub fn resistance(&self, w: &Twist<T>, u: &Vector3<T>) -> Wrench<T> {
        let turned = self.momentum.turned(u);
        let two = T::one() + T::one();
        let inertia = self.mass.momentum(w);
        Wrench {
            force: scaled(&turned.force, two, &inertia.force),
            torque: scaled(&turned.torque, two, &inertia.torque),
        }
    }
}

/// The moments of a body, in other axes with the same origin.
#[inline]
pub fn in_axes<T: RealField + Copy>(moments: &MassMoments<T>, R: &Matrix3<T>) -> MassMoments<T> {
    MassMoments {
        mass: moments.mass,
        first: turn(R, &moments.first),
        second: moments.second.turned(R),
    }
}

/// The moments about an origin from which the body's is `d` away.
#[inline]
pub fn shifted<T: RealField + Copy>(moments: &MassMoments<T>, d: &Vector3<T>) -> MassMoments<T> {
    let first = scaled(d, moments.mass, &moments.first);
    MassMoments {
        mass: moments.mass,
        first,
        second: moments
            .second
            .plus_outer(&moments.first, d)
            .plus_outer(d, &first),
    }
}

/// The momentum of a body that turns about its origin: `M [0; axis]`.
#[inline]
pub fn momentum_about<T: RealField + Copy>(
    moments: &MassMoments<T>,
    axis: &Vector3<T>,
) -> Wrench<T> {
    Wrench {
        force: cross(axis, &moments.first),
        torque: moments.second.moment_of_inertia().times(axis),
    }
}

/// A wrench about an origin from which its own is `d` away.
#[inline]
pub fn wrench_at<T: RealField + Copy>(wrench: &Wrench<T>, d: &Vector3<T>) -> Wrench<T> {
    Wrench {
        force: wrench.force,
        torque: wrench.torque + cross(d, &wrench.force),
    }
}

/// The product of a twist and a wrench.
#[inline]
pub fn power<T: RealField + Copy>(twist: &Twist<T>, wrench: &Wrench<T>) -> T {
    dot(&twist.linear, &wrench.force) + dot(&twist.angular, &wrench.torque)
}
