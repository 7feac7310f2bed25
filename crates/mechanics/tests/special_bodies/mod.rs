//! A body about a fixed point and a rolling body, as systems of one body on a ball joint or with a contact, in the state of a free body.

use fly_lie::operators::{angular, join, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintWorkspace, ContactForce, PlaneContact, Surface,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, State, integrate};
use nalgebra::{Matrix3, RealField, Vector2, Vector3, Vector6};
use std::fmt::Debug;

/// A body that turns about its point `pivot`, which is fixed in the world.
pub struct FixedPointBody<T: RealField + Copy> {
    pub free: FreeBody<T>,
    pub pivot: Vector3<T>,
    model: Model<T>,
}

impl<T: RealField + Copy> FixedPointBody<T> {
    pub fn new(inertia: PseudoInertia<T>, pivot: Vector3<T>, gravity: Vector3<T>) -> Self {
        let body = Body::on_point("body", inertia, pivot);
        let model = Model::builder().gravity(gravity).body(body).build();
        Self {
            free: FreeBody::new(inertia, gravity),
            pivot,
            model: model.expect("a system"),
        }
    }

    /// With this attitude and angular velocity in the body, the fixed point in the world's origin.
    pub fn state(&self, rotation: SO3<T>, omega: Vector3<T>) -> State<T> {
        State {
            pose: SE3::new(rotation, -rotation.act(&self.pivot)),
            twist: join(&self.pivot.cross(&omega), &omega),
        }
    }

    pub fn acceleration(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector6<T> {
        let (x, omega) = (state.pose.rotation.matrix(), angular(&state.twist));
        let torque = angular(wrench) - self.pivot.cross(&linear(wrench));
        let mut rate = Vector3::zeros();
        let (mut workspace, tau) = (Workspace::new(&self.model), torque.as_slice());
        let model = &self.model;
        model
            .forward_dynamics(
                &mut workspace,
                x.as_slice(),
                omega.as_slice(),
                tau,
                rate.as_mut_slice(),
            )
            .expect("mass");
        join(&self.pivot.cross(&rate), &rate)
    }

    pub fn step(&self, state: &State<T>, step: T) -> State<T> {
        let none = Vector6::zeros();
        let next = integrate::rk4(state, step, |s| self.acceleration(s, &none));
        self.state(next.pose.rotation.orthonormalized(), angular(&next.twist))
    }

    pub fn energy(&self, state: &State<T>) -> T {
        self.free.energy(state)
    }

    /// About the fixed point, in the world.
    pub fn angular_momentum_in_world(&self, state: &State<T>) -> Vector3<T> {
        let inertia: Matrix3<T> = self.free.inertia().inertia_about(&self.pivot);
        state.pose.rotation.act(&(inertia * angular(&state.twist)))
    }
}

/// A body that rolls on the plane `z = 0` of the world.
pub struct RollingBody<T: RealField + Copy, S> {
    pub free: FreeBody<T>,
    pub surface: S,
    model: Model<T>,
    constraints: ConstraintSet<T>,
}

/// Where it touches, how fast that point wanders over the body, and the force.
pub struct Contact<T: RealField + Copy> {
    pub point: Vector3<T>,
    pub point_rate: Vector3<T>,
    pub force: ContactForce<T>,
}

impl<T: RealField + Copy, S: Surface<T> + Copy + Debug + Send + Sync + 'static> RollingBody<T, S> {
    pub fn new(inertia: PseudoInertia<T>, surface: S, gravity: Vector3<T>) -> Self {
        let body = Body::new("body", Joint::free()).inertia(inertia);
        let model = Model::builder().gravity(gravity).body(body).build();
        let model = model.expect("a system");
        let floor = PlaneContact::rolling("floor", "world", "body", surface);
        Self {
            free: FreeBody::new(inertia, gravity),
            surface,
            constraints: ConstraintSet::builder()
                .with(floor)
                .build(&model)
                .expect("a contact"),
            model,
        }
    }

    /// On the plane and rolling, with this attitude, angular velocity in the body and horizontal position.
    pub fn state(&self, rotation: SO3<T>, omega: Vector3<T>, position: Vector2<T>) -> State<T> {
        let up = up(&rotation);
        State {
            pose: SE3::new(rotation, position.push(self.surface.height(&up))),
            twist: join(&self.surface.contact(&up).cross(&omega), &omega),
        }
    }

    /// Acceleration and contact force; not numbers where there is no contact point.
    fn solve(&self, state: &State<T>, wrench: &Vector6<T>) -> (Vector6<T>, ContactForce<T>) {
        let position = state.pose.translation.xy();
        let state = self.state(state.pose.rotation, angular(&state.twist), position);
        let mut x = state.pose.translation.as_slice().to_vec();
        x.extend_from_slice(state.pose.rotation.matrix().as_slice());
        let mut workspace = Workspace::new(&self.model);
        let mut constrained = ConstraintWorkspace::new(&self.constraints);
        let solved = constrained.forward_dynamics(
            &self.constraints,
            &self.model,
            &mut workspace,
            &x,
            state.twist.as_slice(),
            T::zero(),
            wrench.as_slice(),
        );
        let nan = T::zero() / T::zero();
        match solved {
            Ok(()) => (
                Vector6::from_column_slice(constrained.acceleration().as_slice()),
                ContactForce(Vector3::from_column_slice(
                    constrained.multipliers().as_slice(),
                )),
            ),
            Err(_) => (
                Vector6::from_element(nan),
                ContactForce(Vector3::from_element(nan)),
            ),
        }
    }

    pub fn acceleration(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector6<T> {
        self.solve(state, wrench).0
    }

    pub fn contact(&self, state: &State<T>, wrench: &Vector6<T>) -> Contact<T> {
        let (up, omega) = (up(&state.pose.rotation), angular(&state.twist));
        Contact {
            point: self.surface.contact(&up),
            point_rate: self.surface.contact_rate(&up, &up.cross(&omega)),
            force: self.solve(state, wrench).1,
        }
    }

    pub fn step(&self, state: &State<T>, step: T) -> State<T> {
        let none = Vector6::zeros();
        let next = integrate::rk4(state, step, |s| self.acceleration(s, &none));
        let rotation = next.pose.rotation.orthonormalized();
        self.state(rotation, angular(&next.twist), next.pose.translation.xy())
    }

    pub fn energy(&self, state: &State<T>) -> T {
        self.free.energy(state)
    }
}

fn up<T: RealField + Copy>(rotation: &SO3<T>) -> Vector3<T> {
    rotation.matrix().row(2).transpose()
}
