//! The Jacobians and the bias accelerations of all bodies.

use nalgebra::{Matrix3, Matrix6xX, RealField, Vector3, Vector6};

use super::motion::Twist;
use super::scratch::{NodeMotion, Place, Scratch};
use super::spatial::{cross, product, turn, turn_back};
use super::tree::{Mount, Tree};
use crate::multibody::{BodyId, Model, Workspace};

/// The Jacobians `0J_b` (6 x n) of all bodies relative to the world, and their bias accelerations `0J_b_dot ξ`, in the bodies' frames.
///
/// ```text
/// 0ξ_b = 0J_b ξ          0ξ_b_dot = 0J_b ξ̇ + 0J_b_dot ξ
/// ```
///
/// They are those of [`Workspace::jacobian`] and [`Workspace::bias_acceleration`], sooner: columns of joints that do not move a body are zero and
/// stay so, and those of the body's own joint are constant.
#[derive(Clone, Debug)]
pub struct BodyJacobians<T: RealField + Copy> {
    /// The world first.
    jacobians: Vec<Matrix6xX<T>>,
    biases: Vec<Vector6<T>>,
    nodes: Vec<NodeFrame<T>>,
    /// For every coordinate its direction, in the axes and about the origin of its root: the node that stands on the world.
    directions: Vec<Twist<T>>,
}

/// A node in the axes and about the origin of its root.
#[derive(Clone, Copy, Debug)]
struct NodeFrame<T: RealField + Copy> {
    rotation: Matrix3<T>,
    position: Vector3<T>,
    /// The velocity of its origin and the acceleration of gravity, in its own axes.
    velocity: Vector3<T>,
    gravity: Vector3<T>,
}

/// # Reading
impl<T: RealField + Copy> BodyJacobians<T> {
    /// For this model: of all Jacobians the constant columns.
    pub fn new(model: &Model<T>) -> Self {
        let (tree, n) = (&model.tree, model.dof());
        let frame = NodeFrame {
            rotation: Matrix3::identity(),
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
            gravity: Vector3::zeros(),
        };
        Self {
            jacobians: tree.mounts.iter().map(|m| tree.own_columns(m, n)).collect(),
            biases: vec![Vector6::zeros(); tree.mounts.len()],
            nodes: vec![frame; tree.nodes.len()],
            directions: vec![Twist::zero(); n],
        }
    }

    /// `0J_b`, 6 x n, rows `[v; omega]` in the frame of the body.
    ///
    /// # Panics
    /// If the model does not have this body.
    #[inline]
    pub fn jacobian(&self, body: BodyId) -> &Matrix6xX<T> {
        &self.jacobians[body.index()]
    }

    /// `0J_b_dot ξ`: the rate of the body's twist `[v; omega]` while the velocity is constant, in the frame of the body, m/s², rad/s².
    ///
    /// # Panics
    /// If the model does not have this body.
    #[inline]
    pub fn bias(&self, body: BodyId) -> &Vector6<T> {
        &self.biases[body.index()]
    }
}

/// # Jacobians
impl<T: RealField + Copy> Model<T> {
    /// The Jacobians of all bodies, their bias accelerations, and the forces of [`bias`](Self::bias), at once.
    ///
    /// Each joint's directions are found once, in axes that its branch shares; the columns of a body on the branch are these twists in its
    /// frame. An absolute joint carries on the velocity of its origin alone.
    ///
    /// ```
    /// use fly_lie::{SE3, SO3};
    /// use fly_mechanics::multibody::{Body, BodyJacobians, Joint, Model, Workspace};
    /// use nalgebra::Vector3;
    ///
    /// // Two links of 1 m that turn about z, stretched out along x.
    /// let place = SE3::new(SO3::identity(), Vector3::x());
    /// let model = Model::builder()
    ///     .body(Body::new("upper", Joint::revolute(Vector3::z())?))
    ///     .body(Body::new("lower", Joint::revolute(Vector3::z())?).parent("upper").placed(place))
    ///     .body(Body::new("tool", Joint::fixed()).parent("lower").placed(place))
    ///     .build()?;
    /// let (mut workspace, mut all) = (Workspace::new(&model), BodyJacobians::new(&model));
    /// let mut bias = [0.0; 2];
    /// model.body_jacobians(&mut workspace, &[0.0; 2], &[1.0, 2.0], &mut bias, &mut all);
    /// let tool = model.body_id("tool")?;
    /// // v_y of the tool for a unit of each joint's velocity, and the centripetal acceleration 1² + 3².
    /// assert_eq!((all.jacobian(tool)[(1, 0)], all.jacobian(tool)[(1, 1)]), (2.0, 1.0));
    /// let (acceleration, twist) = (all.bias(tool), all.jacobian(tool) * nalgebra::Vector2::new(1.0, 2.0));
    /// let in_world = acceleration.fixed_rows::<3>(0) + Vector3::z().cross(&twist.fixed_rows::<3>(0)) * twist[5];
    /// assert!((in_world - Vector3::new(-10.0, 0.0, 0.0)).norm() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`]; if the Jacobians are another model's.
    pub fn body_jacobians(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        bias: &mut [T],
        all: &mut BodyJacobians<T>,
    ) {
        self.bias_and_places(workspace, x, xi, bias, true);
        let scratch = &workspace.dynamics;
        self.tree.directions(self.gravity(), xi, scratch, all);
        for (body, mount) in self.tree.mounts.iter().enumerate() {
            if let Some(node) = mount.node.checked_sub(1) {
                let frame = &all.nodes[node];
                all.biases[body] = frame.bias(&scratch.motions[node + 1], mount);
                let J = all.jacobians[body].as_mut_slice();
                self.tree
                    .columns(node, mount, &all.nodes, &all.directions, J);
            }
        }
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The columns of the joint that a body is mounted on.
    fn own_columns(&self, mount: &Mount<T>, n: usize) -> Matrix6xX<T> {
        let mut J = Matrix6xX::zeros(n);
        if let Some(node) = mount.node.checked_sub(1) {
            let node = &self.nodes[node];
            let Ad = mount.pose.adjoint_inverse();
            let mut unit = [T::zero(); 6];
            for k in 0..node.motion.dof() {
                unit[k] = T::one();
                let S = node.motion.twist(&unit);
                unit[k] = T::zero();
                let S = fly_lie::operators::join(&S.linear, &S.angular);
                J.set_column(node.xi + k, &(Ad * S));
            }
        }
        J
    }

    /// The nodes in their roots, and the directions of their joints, after [`newton_euler`](Self::newton_euler) without acceleration.
    fn directions(
        &self,
        gravity: &Vector3<T>,
        xi: &[T],
        scratch: &Scratch<T>,
        all: &mut BodyJacobians<T>,
    ) {
        for (i, node) in self.nodes.iter().enumerate() {
            let place = &scratch.places[i].plain();
            let rate = node.motion.twist(&xi[node.xi..]);
            let frame = match node.parent.checked_sub(1) {
                Some(parent) => {
                    let omega = &scratch.motions[node.parent].omega.vector();
                    all.nodes[parent].carry(place, omega, &rate)
                }
                None => NodeFrame {
                    rotation: Matrix3::identity(),
                    position: Vector3::zeros(),
                    velocity: rate.linear,
                    gravity: turn_back(&place.rotation, gravity),
                },
            };
            all.nodes[i] = frame;
            if node.is_leaf {
                continue;
            }
            let mut unit = [T::zero(); 6];
            for k in 0..node.motion.dof() {
                unit[k] = T::one();
                let S = node.motion.twist(&unit);
                unit[k] = T::zero();
                let angular = turn(&frame.rotation, &S.angular);
                all.directions[node.xi + k] = Twist {
                    linear: turn(&frame.rotation, &S.linear) + cross(&frame.position, &angular),
                    angular,
                };
            }
        }
    }

    /// The columns of the joints below that of a body on node `i`.
    #[inline]
    fn columns(
        &self,
        mut i: usize,
        mount: &Mount<T>,
        frames: &[NodeFrame<T>],
        directions: &[Twist<T>],
        J: &mut [T],
    ) {
        if self.nodes[i].parent == 0 {
            return;
        }
        let (R, p) = frames[i].mounted(mount);
        // Below an absolute joint, its origin takes the place of the body, and the body does not turn.
        let (mut point, mut turns) = (p, true);
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].motion.is_absolute() {
                (point, turns) = (frames[i].position, false);
            }
            i = parent;
            let node = &self.nodes[i];
            let range = node.xi..node.xi + node.motion.dof();
            let columns = J[6 * range.start..6 * range.end].chunks_exact_mut(6);
            for (column, S) in columns.zip(&directions[range]) {
                let v = turn_back(&R, &(S.linear + cross(&S.angular, &point)));
                column[..3].copy_from_slice(v.as_slice());
                if turns {
                    let w = turn_back(&R, &S.angular);
                    column[3..].copy_from_slice(w.as_slice());
                }
            }
        }
    }
}

impl<T: RealField + Copy> NodeFrame<T> {
    /// A node on this one, which turns with `omega`.
    #[inline]
    fn carry(&self, place: &Place<T>, omega: &Vector3<T>, rate: &Twist<T>) -> Self {
        let R = &place.rotation;
        let velocity = self.velocity + cross(omega, &place.translation);
        Self {
            rotation: product(&self.rotation, R),
            position: self.position + turn(&self.rotation, &place.translation),
            velocity: turn_back(R, &velocity) + rate.linear,
            gravity: turn_back(R, &self.gravity),
        }
    }

    /// A body's rotation and position.
    #[inline]
    fn mounted(&self, mount: &Mount<T>) -> (Matrix3<T>, Vector3<T>) {
        let (R, p) = (mount.pose.rotation.matrix(), &mount.pose.translation);
        (
            product(&self.rotation, R),
            self.position + turn(&self.rotation, p),
        )
    }

    /// The rate of a body's twist.
    #[inline]
    fn bias(&self, motion: &NodeMotion<T>, mount: &Mount<T>) -> Vector6<T> {
        let (R, p) = (mount.pose.rotation.matrix(), &mount.pose.translation);
        let (omega, alpha) = (motion.omega.vector(), motion.alpha.vector());
        let velocity = self.velocity + cross(&omega, p);
        let acceleration = motion.acceleration_at((*p).into()).vector() + self.gravity;
        // The acceleration of the origin is v_dot + omega × v.
        let rate = acceleration - cross(&omega, &velocity);
        fly_lie::operators::join(&turn_back(R, &rate), &turn_back(R, &alpha))
    }
}
