//! Loads on the bodies beside gravity and inertia: springs, dampers, drag, and external wrenches.

use nalgebra::{RealField, Vector6};

use crate::multibody::spatial::SpatialVector;
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{Frame, Model};

/// An external wrench on a body: a contact, a thrust, a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalWrench<T: RealField + Copy> {
    /// A frame fixed to the body.
    pub frame: Frame<T>,
    /// `[f; tau]` in this frame's axes and about its origin, N and N m.
    pub wrench: Vector6<T>,
}

impl<T: RealField + Copy> ExternalWrench<T> {
    /// A wrench `[f; tau]` in a frame, or in that of a [`BodyId`](crate::multibody::BodyId).
    pub fn new(frame: impl Into<Frame<T>>, wrench: Vector6<T>) -> Self {
        Self {
            frame: frame.into(),
            wrench,
        }
    }
}

impl<T: RealField + Copy> Model<T> {
    pub(in crate::multibody) fn has_elements(&self) -> bool {
        !self.springs.is_empty() || !self.resistances.is_empty()
    }

    /// Collects the loads on all nodes in this state.
    #[inline]
    pub(super) fn apply_loads(
        &self,
        data: &mut DynamicsData<T>,
        x: &[T],
        xi: &[T],
        wrenches: &[ExternalWrench<T>],
    ) {
        data.is_loaded = self.has_elements() || !wrenches.is_empty();
        if data.is_loaded {
            self.collect_loads(data, x, xi, wrenches);
        }
    }

    #[inline(never)]
    fn collect_loads(
        &self,
        data: &mut DynamicsData<T>,
        x: &[T],
        xi: &[T],
        wrenches: &[ExternalWrench<T>],
    ) {
        data.loads.fill(SpatialVector::zero());
        if self.has_elements() {
            data.placements.update(&self.tree, x);
            data.kinematics.update_motion(&data.placements.nodes, xi);
            data.elements.fill(Vector6::zeros());
            data.kinematics.spring_wrenches(self, &mut data.elements);
            data.kinematics.damper_wrenches(self, &mut data.elements);
            for (mount, wrench) in self.tree.mounts.iter().zip(&data.elements) {
                let load = mount.placement.push_wrench(&(*wrench).into());
                data.loads[mount.node] += load;
            }
        }
        for ExternalWrench { frame, wrench } in wrenches {
            if *wrench == Vector6::zeros() {
                continue;
            }
            let on_body = match frame.own_offset() {
                Some(offset) => offset.adjoint_inverse().tr_mul(wrench),
                None => *wrench,
            };
            let mount = &self.tree.mounts[frame.body().index()];
            let load = mount.placement.push_wrench(&on_body.into());
            data.loads[mount.node] += -load;
        }
    }
}
