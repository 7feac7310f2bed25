//! Derivatives of the recursive Newton-Euler algorithm, in the closed forms of Singh, Russell and Wensing (2022).
//!
//! Run after the recursive Newton-Euler algorithm in the same state, with the composite inertias `I` of the composite-rigid-body algorithm, in
//! the axes of the root:
//!
//! ```text
//! forward    for each coordinate j with its direction S, and the twist V and acceleration A of its joint's carrier:
//!            u = V × S,   w = A × S + V × u,   w' = 2 u    (column.rs)
//! backward   for each coordinate i:   I S_i,   B^T S_i,   I w_i + B u_i + S_i ×* F,   I w'_i + B S_i    (probe.rs)
//!            down the branch, each coordinate j:  both derivatives both ways, four products    (column.rs, lanes)
//!            B_p += B_i about the parent's origin
//! ```

use nalgebra::{DMatrix, RealField};

use super::column::{CarrierAcceleration, Column, lane_products};
use super::elements::ElementScratch;
use super::entries::Entries;
use super::probe::{Composite, Probe};
use crate::multibody::simd::Vec3;
use crate::multibody::spatial::MomentumMoments;
use crate::multibody::tree::{Node, Tree};
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{Model, Workspace};

/// The derivatives of the forces `tau` of [`Model::inverse_dynamics`]: three n x n matrices with one column per
/// coordinate.
///
/// ```text
/// δtau = configuration ε + velocity δξ + acceleration δξ̇
/// ```
///
/// `ε` displaces the configuration as [`Model::integrate`] does, along the velocity coordinates: for a free joint, `[v; omega]` in the axes of
/// the moved body; for a joint on SO(3), the rotation vector in body axes; for a planar or Schönflies joint, the translations in the axes of
/// the moved body; for all others the entries of the configuration themselves. An absolute joint keeps its attitude in the world while those
/// below it rotate. The components of `ξ` and `ξ̇` are constant while the configuration moves. The result does not depend on the coordinates of
/// attitudes and angles: derivatives with respect to the entries of `x`, restricted to admissible motions, are those along `A(x)`.
#[derive(Clone, Debug)]
pub struct InverseDynamicsDerivatives<T: RealField + Copy> {
    /// With respect to the configuration, N/m, N, N m.
    pub configuration: DMatrix<T>,
    /// With respect to the velocity, N s/m, N s, N m s.
    pub velocity: DMatrix<T>,
    /// With respect to the acceleration: the mass matrix `M`, kg, kg m, kg m².
    pub acceleration: DMatrix<T>,
    scratch: Scratch<T>,
}

impl<T: RealField + Copy> InverseDynamicsDerivatives<T> {
    /// Allocates for this model; all zero.
    pub fn new(model: &Model<T>) -> Self {
        let zeros = DMatrix::zeros(model.dof(), model.dof());
        Self {
            configuration: zeros.clone(),
            velocity: zeros.clone(),
            acceleration: zeros,
            scratch: Scratch::new(model),
        }
    }
}

/// # Derivatives of inverse dynamics
impl<T: RealField + Copy> Model<T> {
    /// Computes the forces of [`inverse_dynamics`](Self::inverse_dynamics) and their derivatives with respect to configuration, velocity and
    /// acceleration, including springs and dampers. Without these, the cost is proportional to the number of coordinates times the depth of
    /// the tree.
    ///
    /// For two coordinates `i`, `j` on one branch, `j` closer to the world or in the same joint, with directions `S` (twists in axes common
    /// to the branch), the twist `V` and acceleration `A` of the carrier of joint `j` (minus gravity), and the inertia `I`, the momentum `p`
    /// and the wrench `F` of everything that joint `i` carries:
    ///
    /// ```text
    /// u_j = V × S_j     w_j = A × S_j + V × u_j     w'_j = 2 u_j, of one coordinate; (V + V_j) × S_j of a joint
    /// ∂tau_i/∂x_j = S_i . (I w_j + B u_j)           ∂tau_j/∂x_i = S_j . (I w_i + B u_i + S_i ×* F)
    /// ∂tau_i/∂ξ_j = S_i . (I w'_j + B S_j)          ∂tau_j/∂ξ_i = S_j . (I w'_i + B S_i)
    /// B u = 2 sum [u × p; r × (u × p)]  over the mass points at r with their momenta p, u's angular part
    /// ```
    ///
    /// These are the closed forms of Singh, Russell and Wensing[^idsva]. Their 6x6 matrix `B` has only twelve independent entries, the
    /// moments of the momenta, which makes it cheap here. An absolute joint moves everything below it like a point.
    ///
    /// [^idsva]: S. Singh, R. P. Russell, P. M. Wensing: Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra.
    ///     IEEE Robotics and Automation Letters 7 (2022), arXiv:2105.05102.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, InverseDynamicsDerivatives, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // A pendulum: tau = (I + m l²) q'' + m g l sin q.
    /// let bob = PseudoInertia::from_center(2.0, Vector3::new(0.0, 0.0, -0.5), Matrix3::identity() * 0.1)?;
    /// let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob);
    /// let model = Model::builder().body(pendulum).build()?;
    /// let mut workspace = Workspace::new(&model);
    /// let (mut tau, mut derivatives) = ([0.0], InverseDynamicsDerivatives::new(&model));
    /// model.inverse_dynamics_derivatives(&mut workspace, &[0.3], &[2.0], &[1.0], &mut tau, &mut derivatives);
    /// assert!((tau[0] - (0.6 + 9.81 * 0.3_f64.sin())).abs() < 1e-14);
    /// assert!((derivatives.configuration[0] - 9.81 * 0.3_f64.cos()).abs() < 1e-14);
    /// assert!(derivatives.velocity[0].abs() < 1e-15);
    /// assert!((derivatives.acceleration[0] - 0.6).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the sizes of slices or matrices are not the model's.
    pub fn inverse_dynamics_derivatives(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
        derivatives: &mut InverseDynamicsDerivatives<T>,
    ) {
        let n = self.dof();
        assert_eq!(xi_dot.len(), n, "length of the acceleration");
        assert_eq!(tau.len(), n, "length of the force");
        self.check(x, xi);
        let data = &mut workspace.dynamics;
        self.apply_loads(data, x, xi, &[]);
        data.placements.update(&self.tree, x);
        let InverseDynamicsDerivatives {
            configuration,
            velocity,
            acceleration,
            scratch,
        } = derivatives;
        let entries = Entries::new(&self.tree, n, configuration, velocity, Some(acceleration));
        self.derive_newton_euler(data, xi, xi_dot, tau, entries, scratch);
        self.add_joint_springs(x, T::one(), tau);
    }

    /// The forces in a state with all nodes placed and loaded, and their derivatives.
    pub(super) fn derive_newton_euler(
        &self,
        data: &mut DynamicsData<T>,
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
        mut entries: Entries<'_, T>,
        scratch: &mut Scratch<T>,
    ) {
        let tree = &*self.tree;
        tree.propagate_motions(self.gravity(), None, xi, Some(xi_dot), data);
        tree.transmit_wrenches(data, tau);
        let kinematics = &mut data.kinematics;
        tree.propagate_poses(&data.placements.nodes, &mut kinematics.poses);
        tree.propagate_velocities(&kinematics.poses, xi, &mut kinematics.velocities);
        tree.own_inertias(data);
        let own = data.composites.iter().zip(&data.kinematics.velocities);
        for (momenta, (inertia, velocity)) in scratch.momenta.iter_mut().zip(own) {
            *momenta = MomentumMoments::momenta(inertia, &velocity.twist);
        }
        tree.composite_inertias(data, entries.mass.take());
        tree.propagate_columns(Vec3::from(-self.gravity()), data, scratch);
        for i in (0..tree.nodes.len()).rev() {
            tree.derive_node(i, data, scratch, &mut entries);
        }
        if self.has_elements() {
            self.derive_elements(data, xi, &mut scratch.elements, &mut entries);
        }
        self.for_each_joint_spring(|spring, _, at| {
            entries.add(at, at, spring.stiffness, T::zero());
        });
    }
}

/// The arrays of the derivatives.
#[derive(Clone, Debug)]
pub(super) struct Scratch<T: RealField + Copy> {
    /// One per coordinate.
    columns: Vec<Column<T>>,
    carriers: Vec<CarrierAcceleration<T>>,
    momenta: Vec<MomentumMoments<T>>,
    /// The part of the nodes' forces that keeps its world direction when a node rotates: the forces transmitted by
    /// absolute joints.
    absolute_forces: Vec<MomentumMoments<T>>,
    elements: ElementScratch<T>,
}

impl<T: RealField + Copy> Scratch<T> {
    pub fn new(model: &Model<T>) -> Self {
        let count = model.tree.nodes.len();
        let at_rest = CarrierAcceleration {
            linear: Vec3::zero(),
            angular: Vec3::zero(),
        };
        Self {
            columns: vec![Column::zero(); model.dof()],
            carriers: vec![at_rest; count],
            momenta: vec![MomentumMoments::zero(); count],
            absolute_forces: vec![MomentumMoments::zero(); count],
            elements: ElementScratch::new(model),
        }
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The forward pass: the changes of motion along every direction.
    #[inline]
    fn propagate_columns(&self, up: Vec3<T>, data: &DynamicsData<T>, scratch: &mut Scratch<T>) {
        let (poses, velocities) = (&data.kinematics.poses, &data.kinematics.velocities);
        for (i, node) in self.nodes.iter().enumerate() {
            let (pose, velocity) = (&poses[i], &velocities[i]);
            if node.carries_absolute {
                scratch.absolute_forces[i] = MomentumMoments::zero();
            }
            let placement = &data.placements.nodes[i];
            let mut carrier = CarrierAcceleration {
                linear: placement.inverse.times(up),
                angular: Vec3::zero(),
            };
            if let Some(parent) = node.parent.checked_sub(1) {
                let (R, motion) = (&poses[parent].rotation, &data.motions[parent + 1]);
                carrier.linear = R.times(motion.acceleration_at(placement.translation));
                if !node.joint.is_absolute() {
                    carrier.angular = R.times(motion.alpha);
                }
            }
            scratch.carriers[i] = carrier;
            if node.is_free_root() {
                continue;
            }
            let rotates = node.joint.is_rotation();
            for coordinate in node.coordinates() {
                let direction = &data.directions[coordinate];
                scratch.columns[coordinate] = if rotates {
                    Column::of_rotation(direction.angular, pose, velocity, &carrier)
                } else {
                    Column::of_direction(direction, pose, velocity, &carrier)
                };
            }
        }
    }

    /// A node's step of the backward pass; does not write entries of coordinates on different branches.
    #[inline]
    fn derive_node(
        &self,
        i: usize,
        data: &DynamicsData<T>,
        scratch: &mut Scratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let (node, pose) = (&self.nodes[i], &data.kinematics.poses[i]);
        if node.is_free_root() {
            entries.free(
                node.xi,
                &data.composites[i],
                &scratch.momenta[i],
                &data.kinematics.velocities[i],
                &scratch.carriers[i],
                node.carries_absolute.then(|| &scratch.absolute_forces[i]),
            );
            return;
        }
        let composite = Composite {
            inertia: data.composites[i],
            momentum: scratch.momenta[i],
            wrench: pose.turn(&data.wrenches[i + 1]),
        };
        let rotates = node.joint.is_rotation();
        for row in node.coordinates() {
            let (direction, momentum) = (&data.directions[row], &data.momenta[row]);
            let column = &scratch.columns[row];
            let mut probe = if rotates {
                Probe::of_rotation(&composite, direction.angular, momentum, column)
            } else {
                Probe::of_direction(&composite, direction, momentum, column)
            };
            if node.carries_absolute {
                probe.add_absolute_forces(&scratch.absolute_forces[i], direction);
            }
            for column in node.coordinates() {
                let (e, other) = (data.directions[column].angular, &scratch.columns[column]);
                let along_configuration = other.configuration.dot(&probe.inertia)
                    + other.turn.dot(probe.turning)
                    + e.dot(probe.absolute);
                let along_velocity = other.velocity.dot(&probe.inertia) + e.dot(probe.turning);
                entries.set(row, column, along_configuration, along_velocity);
            }
            if node.parent > 0 {
                let probe = probe.at_root(pose.position);
                self.derive_below(i, row, probe, data, scratch, entries);
            }
        }
        if let Some(parent) = node.parent.checked_sub(1) {
            let velocity = data.kinematics.velocities[i].twist.linear;
            pass_on(node, i, parent, pose.arm, velocity, &composite, scratch);
        }
    }

    /// The derivatives both ways between the coordinate `row` of node `i` and all coordinates of the joints below it.
    #[inline]
    fn derive_below(
        &self,
        mut i: usize,
        row: usize,
        mut probe: Probe<T>,
        data: &DynamicsData<T>,
        scratch: &Scratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let (poses, velocities) = (&data.kinematics.poses, &data.kinematics.velocities);
        let mut lanes = probe.lanes();
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].joint.is_absolute() {
                let acceleration = scratch.carriers[i].linear;
                probe.through_absolute(&poses[i], &velocities[i], acceleration);
                lanes = probe.lanes();
            }
            i = parent;
            let node = &self.nodes[i];
            if node.is_free_root() {
                entries.on_free(row, node.xi, &probe, &velocities[i], &scratch.carriers[i]);
                return;
            }
            for below in node.coordinates() {
                let products = lane_products(&scratch.columns[below].lanes, &lanes);
                let absolute = data.directions[below].angular.dot(probe.absolute);
                entries.set(row, below, products[0] + absolute, products[1]);
                entries.set(below, row, products[2], products[3]);
            }
        }
    }
}

/// Adds the momenta carried by node `i` to its parent's, and the forces transmitted by absolute joints.
#[inline]
fn pass_on<T: RealField + Copy>(
    node: &Node<T>,
    i: usize,
    parent: usize,
    arm: Vec3<T>,
    velocity: Vec3<T>,
    composite: &Composite<T>,
    scratch: &mut Scratch<T>,
) {
    let mut momentum = composite.momentum;
    if node.joint.is_absolute() {
        // A point mass at the joint, and the part of the force not due to the joint's acceleration.
        let mass = composite.inertia.mass;
        let carrier = scratch.carriers[i].linear;
        momentum = MomentumMoments::at_origin(velocity * mass);
        let force = carrier.mul_add(-mass, composite.wrench.linear);
        let absolute = MomentumMoments::at_origin(force).about(arm);
        scratch.absolute_forces[parent] = scratch.absolute_forces[parent].plus(&absolute);
    } else if node.carries_absolute {
        let absolute = scratch.absolute_forces[i].about(arm);
        scratch.absolute_forces[parent] = scratch.absolute_forces[parent].plus(&absolute);
    }
    scratch.momenta[parent] = scratch.momenta[parent].plus(&momentum.about(arm));
}
