//! The recursive Newton-Euler algorithm.

use nalgebra::{RealField, Vector3};

use super::lanes::{LanePair, Lanes};
use super::motion::Motion;
use super::place::LanePlace;
use super::scratch::{NodeMotion, Scratch};
use super::tree::{Fixed, Node, Tree};
use crate::multibody::{AngleCoordinates, AttitudeCoordinates, Model, Workspace};

/// # Inverse dynamics
impl<T: RealField + Copy> Model<T> {
    /// `tau = M xi_dot + c + D xi + grad V`: the forces that the joints' coordinates need for this acceleration, by the recursive
    /// Newton-Euler algorithm. Its cost is proportional to the number of bodies.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn inverse_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
    ) {
        self.check(x, xi);
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        assert_eq!(tau.len(), self.dof(), "length of the force");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place_nodes(x, scratch, false);
        let state = State {
            x: Some(x),
            xi,
            xi_dot: Some(xi_dot),
        };
        self.tree.newton_euler(self.gravity(), &state, scratch, tau);
    }

    /// `b = c + D xi + grad V`: the forces that keep the velocity constant, [`inverse_dynamics`](Self::inverse_dynamics) without acceleration.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn bias(&self, workspace: &mut Workspace<T>, x: &[T], xi: &[T], bias: &mut [T]) {
        self.bias_and_places(workspace, x, xi, bias, false);
    }

    /// The same, with all nodes placed afterwards if those on the world are asked for too.
    pub(super) fn bias_and_places(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        bias: &mut [T],
        on_world: bool,
    ) {
        self.check(x, xi);
        assert_eq!(bias.len(), self.dof(), "length of the bias");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place_nodes(x, scratch, on_world);
        let state = State {
            x: (!on_world).then_some(x),
            xi,
            xi_dot: None,
        };
        self.tree
            .newton_euler(self.gravity(), &state, scratch, bias);
    }

    pub(super) fn check(&self, x: &[T], xi: &[T]) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        assert_eq!(xi.len(), self.dof(), "length of the velocity");
    }

    /// What springs, dampers and drag take up, as wrenches on the bodies.
    pub(super) fn apply_forces(&self, workspace: &mut Workspace<T>, x: &[T], xi: &[T]) {
        if self.springs.is_empty() && self.resistances.is_empty() {
            return;
        }
        workspace.update(self, x, xi);
        let mut applied = std::mem::take(&mut workspace.dynamics.applied);
        applied.fill(nalgebra::zero());
        workspace.spring_wrenches(self, &mut applied);
        workspace.damper_wrenches(self, &mut applied);
        for (mount, wrench) in self.tree.mounts.iter().zip(&mut applied) {
            *wrench = mount.pose.adjoint_inverse().tr_mul(wrench);
        }
        workspace.dynamics.applied = applied;
    }
}

/// How a system moves.
#[derive(Clone, Copy, Debug)]
pub struct State<'a, T> {
    /// Given where the nodes on the world are not placed: all that is asked of them is how they see gravity.
    pub x: Option<&'a [T]>,
    pub xi: &'a [T],
    /// Without it there is no acceleration of the joints.
    pub xi_dot: Option<&'a [T]>,
}

impl<T: RealField + Copy> Tree<T> {
    /// The forces for this state, after [`place_nodes`](Self::place_nodes).
    fn newton_euler(
        &self,
        gravity: &Vector3<T>,
        state: &State<'_, T>,
        scratch: &mut Scratch<T>,
        tau: &mut [T],
    ) {
        self.resist(gravity, state, scratch);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let wrench = scratch.wrenches[i + 1];
            node.motion.project(wrench, &mut tau[node.xi..]);
            if node.parent > 0 {
                let carried = scratch.places[i].carry_wrench(&wrench, node.motion.is_absolute());
                scratch.wrenches[node.parent] = scratch.wrenches[node.parent] + carried;
            }
        }
    }

    /// The nodes' motions in this state, and the wrenches that each needs for its own part.
    ///
    /// With classical accelerations: of each body the angular velocity and acceleration and the acceleration `a` of its origin; at `p` it is
    /// `a + alpha × p + omega × (omega × p)`. The linear velocity is not needed, but relative to the parent where a joint translates.
    pub fn resist(&self, gravity: &Vector3<T>, state: &State<'_, T>, scratch: &mut Scratch<T>) {
        let up = Lanes::from(-gravity);
        scratch.wrenches[0] = LanePair::zero();
        for (i, node) in self.nodes.iter().enumerate() {
            let (place, xi) = (&scratch.places[i], &state.xi[node.xi..]);
            let xi_dot = state.xi_dot.map(|xi_dot| &xi_dot[node.xi..]);
            let parent = &scratch.motions[node.parent];
            // Every branch stores by itself, so that what it computes stays in registers.
            if node.parent == 0 {
                let up = match state.x {
                    Some(x) => node.turned_back(up, &x[node.x..], scratch),
                    None => place.inverse.times(up),
                };
                let motion = node.start(up, xi, xi_dot);
                scratch.wrenches[i + 1] = node.fixed.wrench(&motion);
                scratch.motions[i + 1] = motion;
            } else if node.motion.is_hinge() {
                let motion = place.swing(parent, xi, xi_dot);
                scratch.wrenches[i + 1] = node.fixed.wrench(&motion);
                scratch.motions[i + 1] = motion;
            } else {
                let motion = node.follow(place, parent, xi, xi_dot);
                scratch.wrenches[i + 1] = node.fixed.wrench(&motion);
                scratch.motions[i + 1] = motion;
            }
        }
        // What acts on the bodies beside gravity and inertia.
        for (mount, wrench) in self.mounts.iter().zip(&scratch.applied) {
            let applied = LanePair::of(wrench.as_slice());
            scratch.wrenches[mount.node] = scratch.wrenches[mount.node] + applied;
        }
    }
}

impl<T: RealField + Copy> Node<T> {
    /// How it moves on the world, which accelerates upward in place of gravity: `up` in the node's axes.
    #[inline(never)]
    fn start(&self, up: Lanes<T>, xi: &[T], xi_dot: Option<&[T]>) -> NodeMotion<T> {
        let rate = self.motion.rates(xi);
        let rate_dot = self.rates_dot(xi_dot);
        let acceleration = rate_dot.linear + rate.angular.cross(rate.linear);
        NodeMotion {
            omega: rate.angular,
            alpha: rate_dot.angular,
            acceleration: up + acceleration,
        }
    }

    /// A direction of the world in the axes of a node on the world, whether that is placed or not.
    #[inline]
    fn turned_back(&self, v: Lanes<T>, x: &[T], scratch: &Scratch<T>) -> Lanes<T> {
        let at_joint = self.fixed.inverse.times(v);
        match self.motion {
            Motion::Revolute(AngleCoordinates::Angle) => {
                let (s, c) = (scratch.sines[self.angle], scratch.cosines[self.angle]);
                at_joint.turned_back_about_z(s, c)
            }
            Motion::Revolute(AngleCoordinates::CosSin) => at_joint.turned_back_about_z(x[1], x[0]),
            Motion::Prismatic => at_joint,
            Motion::Free(AttitudeCoordinates::Quaternion) => at_joint.turned_back_by(&x[3..]),
            Motion::Spherical(AttitudeCoordinates::Quaternion) => at_joint.turned_back_by(x),
            _ => self.place(x).inverse.times(v),
        }
    }

    /// How another joint's body moves.
    #[inline(never)]
    fn follow(
        &self,
        place: &LanePlace<T>,
        parent: &NodeMotion<T>,
        xi: &[T],
        xi_dot: Option<&[T]>,
    ) -> NodeMotion<T> {
        let E = &place.inverse;
        let at_joint = parent.acceleration_at(place.translation);
        let acceleration = E.times(at_joint);
        let rate = self.motion.rates(xi);
        let rate_dot = self.rates_dot(xi_dot);
        if self.motion.is_absolute() {
            return NodeMotion {
                omega: rate.angular,
                alpha: rate_dot.angular,
                acceleration,
            };
        }
        let carried = E.times(parent.omega);
        let omega = carried + rate.angular;
        let own = rate_dot.angular + carried.cross(rate.angular);
        let alpha = E.times_plus(parent.alpha, own);
        let along = rate_dot.linear + (omega + carried).cross(rate.linear);
        NodeMotion {
            omega,
            alpha,
            acceleration: acceleration + along,
        }
    }

    #[inline]
    fn rates_dot(&self, xi_dot: Option<&[T]>) -> LanePair<T> {
        xi_dot.map_or_else(LanePair::zero, |xi_dot| self.motion.rates(xi_dot))
    }
}

impl<T: RealField + Copy> LanePlace<T> {
    /// How a hinge's body moves, from how its parent moves and from the joint's own rates.
    #[inline]
    fn swing(&self, parent: &NodeMotion<T>, xi: &[T], xi_dot: Option<&[T]>) -> NodeMotion<T> {
        let E = &self.inverse;
        let at_joint = parent.acceleration_at(self.translation);
        let (rate, rate_dot) = (xi[0], xi_dot.map_or(T::zero(), |xi_dot| xi_dot[0]));
        let carried = E.times(parent.omega);
        let omega = carried + Lanes::new(T::zero(), T::zero(), rate);
        let own = carried.cross_z(rate) + Lanes::new(T::zero(), T::zero(), rate_dot);
        NodeMotion {
            omega,
            alpha: E.times_plus(parent.alpha, own),
            acceleration: E.times(at_joint),
        }
    }
}

impl<T: RealField + Copy> NodeMotion<T> {
    /// The acceleration of the point at `p`.
    #[inline]
    pub fn acceleration_at(&self, p: Lanes<T>) -> Lanes<T> {
        self.acceleration + (self.alpha.cross(p) + self.omega.cross(self.omega.cross(p)))
    }
}

impl<T: RealField + Copy> Fixed<T> {
    /// The wrench of inertia `[m a + alpha × h + omega × (omega × h); h × a + I alpha + omega × I omega]`, the corrected Konz (4.20).
    #[inline]
    fn wrench(&self, motion: &NodeMotion<T>) -> LanePair<T> {
        let (omega, alpha, a) = (motion.omega, motion.alpha, motion.acceleration);
        let (h, inertia) = (self.body.first, &self.inertia.angular);
        let turning = omega.cross(inertia.times(omega)) + h.cross(a);
        LanePair {
            linear: a.times_plus(self.body.mass, alpha.cross(h) + omega.cross(omega.cross(h))),
            angular: inertia.times_plus(alpha, turning),
        }
    }
}
