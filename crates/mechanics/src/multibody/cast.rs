//! The same system for another scalar.

use std::sync::Arc;

use fly_lie::{SE3, SO3};
use nalgebra::{RealField, convert};

use super::model::{DamperLink, Resistance, SpringLink};
use super::tree::{Link, Tree};
use super::{Joint, JointKind, JointSpring, Model};
use crate::{Drag, PseudoInertia, SecondMoment, Stiffness};

/// # Other scalars
impl Model<f64> {
    /// The same system in another scalar type: `f32`, or dual numbers, which differentiate anything computed with it.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Vector3};
    /// use num_dual::Dual64;
    ///
    /// // The slope of a pendulum's potential energy, held out to the side.
    /// let bob = PseudoInertia::from_center(2.0, -Vector3::z(), Matrix3::identity() * 0.1)?;
    /// let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob);
    /// let model = Model::builder().body(pendulum).build()?.cast::<Dual64>();
    /// let mut workspace = Workspace::new(&model);
    /// let angle = Dual64::from(-std::f64::consts::FRAC_PI_2).derivative();
    /// workspace.update(&model, &[angle], &[Dual64::from(0.0)]);
    /// assert!((workspace.potential_energy(&model).eps + 2.0 * 9.81).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cast<T: RealField + Copy>(&self) -> Model<T> {
        let link = |link: &Link<f64>| Link {
            parent: link.parent,
            placement: pose(&link.placement),
            joint: joint(&link.joint),
            inertia: link.inertia.as_ref().map(PseudoInertia::cast),
            spring: link.spring.as_ref().map(JointSpring::cast),
            drag: link.drag.as_ref().map(Drag::cast),
            described: link.described,
            x: link.x,
            xi: link.xi,
        };
        let spring = |spring: &SpringLink<f64>| SpringLink {
            a: spring.a,
            b: spring.b,
            stiffness: Stiffness::new(
                pose(spring.stiffness.minimum()),
                moment(spring.stiffness.moment()),
            ),
        };
        let damper = |damper: &DamperLink<f64>| DamperLink {
            a: damper.a,
            b: damper.b,
            damping: moment(&damper.damping),
        };
        let resistance = |resistance: &Resistance<f64>| Resistance {
            a: resistance.a,
            b: resistance.b,
            matrix: resistance.matrix.map(convert),
        };
        let links: Vec<_> = self.links.iter().map(link).collect();
        Model {
            tree: Arc::new(Tree::new(&links)),
            links,
            joint_springs: self.joint_springs,
            gravity: self.gravity.map(convert),
            names: self.names.clone(),
            springs: self.springs.iter().map(spring).collect(),
            dampers: self.dampers.iter().map(damper).collect(),
            resistances: self.resistances.iter().map(resistance).collect(),
            config_dim: self.config_dim,
            dof: self.dof,
        }
    }
}

fn joint<T: RealField + Copy>(joint: &Joint<f64>) -> Joint<T> {
    let kind = match joint.kind {
        JointKind::Fixed => JointKind::Fixed,
        JointKind::Revolute(angle) => JointKind::Revolute(angle),
        JointKind::Prismatic => JointKind::Prismatic,
        JointKind::Screw { pitch } => JointKind::Screw {
            pitch: convert(pitch),
        },
        JointKind::Cylindrical(angle) => JointKind::Cylindrical(angle),
        JointKind::Universal { second } => JointKind::Universal {
            second: second.map(convert),
        },
        JointKind::Spherical(attitude) => JointKind::Spherical(attitude),
        JointKind::AbsoluteSpherical(attitude) => JointKind::AbsoluteSpherical(attitude),
        JointKind::Planar(angle) => JointKind::Planar(angle),
        JointKind::Schoenflies(angle) => JointKind::Schoenflies(angle),
        JointKind::Free(attitude) => JointKind::Free(attitude),
    };
    Joint {
        kind,
        axes: SO3::from_matrix(joint.axes.matrix().map(convert)),
    }
}

fn pose<T: RealField + Copy>(pose: &SE3<f64>) -> SE3<T> {
    SE3::from_matrix(&pose.matrix().map(convert))
}

fn moment<T: RealField + Copy>(moment: &SecondMoment<f64>) -> SecondMoment<T> {
    SecondMoment::from_matrix4(moment.matrix4().map(convert))
}
