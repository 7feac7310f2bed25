//! A node with all that it carries, as a rigid body that moves and on which forces act.

use nalgebra::{Matrix3, RealField, Vector3};

use super::column::Column;
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
        Self {
            sum: Vector3::zeros(),
            first: Matrix3::zeros(),
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

    /// A body with these moments in the root's axes, that moves with the twist and accelerates with the acceleration `a` of its origin and
    /// `K = wed(alpha) + wed(omega)²`.
    #[inline]
    pub fn of_body(mass: MassMoments<T>, twist: &Twist<T>, a: &Vector3<T>, K: &Matrix3<T>) -> Self {
        let (v, w, h, S) = (&twist.linear, &twist.angular, &mass.first, &mass.second);
        // v h^T + wed(omega) S
        let column = |x, y, z, h| scaled(v, h, &cross(w, &Vector3::new(x, y, z)));
        let first = Matrix3::from_columns(&[
            column(S.xx, S.xy, S.xz, h.x),
            column(S.xy, S.yy, S.yz, h.y),
            column(S.xz, S.yz, S.zz, h.z),
        ]);
        Self {
            momentum: VectorMoments {
                sum: scaled(v, mass.mass, &cross(w, h)),
                first,
            },
            wrench: mass.force(a, K),
            mass,
        }
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        let mut wrench = self.wrench;
        wrench.add(&other.wrench);
        Self {
            mass: self.mass.plus(&other.mass),
            momentum: self.momentum.plus(&other.momentum),
            wrench,
        }
    }

    /// About the parent's origin, from which the node's is `d` away.
    #[inline]
    pub fn shifted(&self, d: &Vector3<T>) -> Self {
        let MassMoments {
            mass,
            first,
            second,
        } = &self.mass;
        let moved = scaled(d, *mass, first);
        let Wrench { force, torque } = self.wrench;
        Self {
            mass: MassMoments {
                mass: *mass,
                first: moved,
                second: second.plus_outer(first, d).plus_outer(d, &moved),
            },
            momentum: self.momentum.shifted(d),
            wrench: Wrench {
                force,
                torque: torque + cross(d, &force),
            },
        }
    }

    /// What an absolute joint passes on: a mass point in its origin, which has this velocity, and the force.
    #[inline]
    pub fn point(&self, velocity: &Vector3<T>) -> Self {
        let o = Vector3::zeros();
        Self {
            mass: MassMoments::of_point(self.mass.mass, &o),
            momentum: VectorMoments {
                sum: velocity * self.mass.mass,
                first: Matrix3::zeros(),
            },
            wrench: Wrench {
                force: self.wrench.force,
                torque: o,
            },
        }
    }

    /// `I S`.
    #[inline]
    pub fn inertia(&self, twist: &Twist<T>) -> Wrench<T> {
        self.mass.momentum(twist)
    }

    #[inline]
    pub fn inertia_about(&self, axis: &Vector3<T>) -> Wrench<T> {
        let torque = self.mass.second.moment_of_inertia().times(axis);
        Wrench {
            force: cross(axis, &self.mass.first),
            torque,
        }
    }

    /// What acts on mass points that accelerate by `w(p) + 2 u × V(p)`.
    #[inline]
    pub fn resistance(&self, w: &Twist<T>, u: &Vector3<T>) -> Wrench<T> {
        let turned = self.momentum.turned(u);
        let two = T::one() + T::one();
        let inertia = self.inertia(w);
        Wrench {
            force: scaled(&turned.force, two, &inertia.force),
            torque: scaled(&turned.torque, two, &inertia.torque),
        }
    }

    /// The change of [`wrench`](Self::wrench) along the configuration, about the node's origin in axes that stay: that of the motion, and
    /// that of the displacement which turns and moves the wrench itself.
    #[inline]
    pub fn change(&self, column: &Column<T>) -> Wrench<T> {
        let mut change = self.resistance(&column.configuration, &column.turn);
        let (l, e) = (&column.direction.linear, &column.direction.angular);
        let Wrench { force, torque } = &self.wrench;
        change.force += cross(e, force);
        change.torque += cross(e, torque) + cross(l, force);
        change
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

/// The product of a twist and a wrench.
#[inline]
pub fn power<T: RealField + Copy>(twist: &Twist<T>, wrench: &Wrench<T>) -> T {
    dot(&twist.linear, &wrench.force) + dot(&twist.angular, &wrench.torque)
}
