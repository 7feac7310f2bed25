//! The regressor of inverse dynamics, after C. G. Atkeson, C. H. An, J. M. Hollerbach: Estimation of inertial parameters of manipulator loads and
//! links. International Journal of Robotics Research 5 (1986).
//!
//! ```text
//! w_b = [a, ∂/∂h, 0; 0, -hat3(a), ∂/∂Θ] p_b        the inertial wrench of a body is linear in its ten parameters
//! τ = Σ J_b^T w_b = Y(x, ξ, ξ̇) p
//! ```
//!
//! The forward pass is that of the recursive Newton-Euler algorithm; the backward pass propagates ten unit wrenches of each body to the
//! root.

use nalgebra::{DMatrix, RealField};

use crate::multibody::simd::{Mat3, Vec3};
use crate::multibody::spatial::{Placement, RigidInertia, SpatialVector};
use crate::multibody::tree::Tree;
use crate::multibody::workspace::NodeMotion;
use crate::multibody::{BodyId, Model, Workspace};

/// The number of inertial parameters of a body.
const PARAMETERS: usize = 10;

/// # Inertial parameters
impl<T: RealField + Copy> Model<T> {
    /// `p`, ten numbers per body in the order of [`bodies`](Self::bodies): `m`, `h_x`, `h_y`, `h_z`, `Θ_xx`, `Θ_xy`, `Θ_yy`, `Θ_xz`, `Θ_yz`,
    /// `Θ_zz` with the first moment `h = m c` (kg m) and the moment of inertia `Θ` about the body's origin (kg m²), in the body's axes. Zero for
    /// frames without mass.
    ///
    /// # Panics
    /// If the length is not ten per body.
    pub fn inertial_parameters(&self, parameters: &mut [T]) {
        assert_eq!(
            parameters.len(),
            PARAMETERS * self.body_count(),
            "length of the inertial parameters"
        );
        parameters.fill(T::zero());
        for (body, inertia) in self.massive() {
            let inertia = RigidInertia::from(inertia);
            let [x, y, z] = inertia.moment_of_inertia().0;
            let own = &mut parameters[start(body)..start(body) + PARAMETERS];
            own[0] = inertia.mass;
            inertia.first.write(&mut own[1..]);
            own[4..].copy_from_slice(&[x.x(), y.x(), y.y(), z.x(), z.y(), z.z()]);
        }
    }

    /// `Y`, n x 10 b with b bodies: `tau = Y p + D xi + f_K` are the forces of [`inverse_dynamics`](Self::inverse_dynamics) for the
    /// [`inertial_parameters`](Self::inertial_parameters) `p`, gravity included; the forces of springs, dampers and drag do not depend on `p`.
    /// So `p` follows from measured motions and forces by least squares. `Y` does not depend on the model's own inertias.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
    /// use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
    ///
    /// // A pendulum about y: tau = Θ_yy q'' - g (h_x cos q + h_z sin q), of which the columns are the factors.
    /// let bob = PseudoInertia::from_center(2.0, Vector3::new(0.0, 0.0, -0.5), Matrix3::identity() * 0.1)?;
    /// let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob);
    /// let model = Model::builder().body(pendulum).build()?;
    /// let (mut Y, mut p) = (DMatrix::zeros(1, 10), DVector::zeros(10));
    /// model.regressor(&mut Workspace::new(&model), &[0.3], &[2.0], &[1.5], &mut Y);
    /// model.inertial_parameters(p.as_mut_slice());
    /// assert_eq!(Y[(0, 6)], 1.5);
    /// assert!((Y[(0, 3)] + 9.81 * 0.3_f64.sin()).abs() < 1e-14);
    /// assert!(((Y * p)[0] - (0.6 * 1.5 + 9.81 * 0.3_f64.sin())).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the size of a slice or the matrix is wrong.
    pub fn regressor(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        Y: &mut DMatrix<T>,
    ) {
        let n = self.dof();
        self.check(x, xi);
        assert_eq!(xi_dot.len(), n, "length of the acceleration");
        let shape = (n, PARAMETERS * self.body_count());
        assert_eq!(Y.shape(), shape, "shape of the regressor");
        let data = &mut workspace.dynamics;
        data.is_loaded = false;
        data.placements.update(&self.tree, x);
        self.tree
            .propagate_motions(self.gravity(), None, xi, Some(xi_dot), data);
        Y.fill(T::zero());
        for body in self.bodies() {
            let mount = &self.tree.mounts[body.index()];
            let motion = &data.motions[mount.node];
            let E = &mount.placement.inverse;
            let in_body = NodeMotion {
                omega: E.times(motion.omega),
                alpha: E.times(motion.alpha),
                acceleration: E.times(motion.acceleration_at(mount.placement.translation)),
            };
            for (k, wrench) in unit_wrenches(&in_body).iter().enumerate() {
                let mut column = Y.column_mut(start(body) + k);
                let wrench = mount.placement.push_wrench(wrench);
                let placements = &data.placements.nodes;
                self.tree
                    .transmit_to_root(mount.node, wrench, placements, column.as_mut_slice());
            }
        }
    }
}

/// The offset of a body's parameters.
fn start(body: BodyId) -> usize {
    PARAMETERS * (body.index() - 1)
}

/// A body's inertial wrenches per unit of each parameter.
fn unit_wrenches<T: RealField + Copy>(motion: &NodeMotion<T>) -> [SpatialVector<T>; PARAMETERS] {
    let (omega, alpha, a) = (motion.omega, motion.alpha, motion.acceleration);
    let first = |k: usize| {
        let e = Vec3::unit(k);
        SpatialVector::new(alpha.cross(e) + omega.cross(omega.cross(e)), e.cross(a))
    };
    let moment = |i: usize, j: usize| {
        let (e_i, e_j) = (Vec3::unit(i), Vec3::unit(j));
        let mut Theta = Mat3::zero().plus_outer(e_i, e_j);
        if i != j {
            Theta = Theta.plus_outer(e_j, e_i);
        }
        let torque = Theta.times(alpha) + omega.cross(Theta.times(omega));
        SpatialVector::new(Vec3::zero(), torque)
    };
    [
        SpatialVector::new(a, Vec3::zero()),
        first(0),
        first(1),
        first(2),
        moment(0, 0),
        moment(0, 1),
        moment(1, 1),
        moment(0, 2),
        moment(1, 2),
        moment(2, 2),
    ]
}

impl<T: RealField + Copy> Tree<T> {
    /// The joint forces that balance a wrench on one node.
    fn transmit_to_root(
        &self,
        mut node: usize,
        mut wrench: SpatialVector<T>,
        placements: &[Placement<T>],
        tau: &mut [T],
    ) {
        while let Some(i) = node.checked_sub(1) {
            let joint = &self.nodes[i];
            joint.joint.project(wrench, &mut tau[joint.xi..]);
            wrench = joint.transmit(&placements[i], &wrench);
            node = joint.parent;
        }
    }
}
