//! Frames fixed to bodies, and the reference frames of twists and Jacobians.

use fly_lie::SE3;
use nalgebra::RealField;

use super::BodyId;

/// A frame fixed to a body, given by its pose in the body's frame: a tool, a sensor or an attachment point.
///
/// Functions that take frames also accept a [`BodyId`]: the body's own frame.
///
/// ```
/// use fly_lie::{SE3, SO3};
/// use fly_mechanics::multibody::{Body, BodyId, Frame, Joint, Model, ReferenceFrame, Workspace};
/// use nalgebra::{Matrix6xX, Vector3};
///
/// // A link of 1 m that turns about z, a quarter turn from x; its tip.
/// let model = Model::builder().body(Body::new("link", Joint::revolute(Vector3::z())?)).build()?;
/// let tip = Frame::new(model.body_id("link")?, SE3::new(SO3::identity(), Vector3::x()));
/// let mut workspace = Workspace::new(&model);
/// workspace.update(&model, &[std::f64::consts::FRAC_PI_2], &[2.0]);
/// workspace.update_jacobians(&model);
/// assert!((workspace.pose(BodyId::WORLD, tip).translation - Vector3::y()).norm() < 1e-15);
///
/// // It moves along -x of the world, along y of its own axes.
/// let mut J = Matrix6xX::zeros(1);
/// workspace.jacobian_in(ReferenceFrame::LocalWorldAligned, BodyId::WORLD, tip, &mut J);
/// assert!((J[(0, 0)] + 1.0).abs() < 1e-15);
/// workspace.jacobian(BodyId::WORLD, tip, &mut J);
/// assert!((J[(1, 0)] - 1.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<T: RealField + Copy> {
    body: BodyId,
    /// `None`: the body's own frame.
    offset: Option<SE3<T>>,
}

impl<T: RealField + Copy> Frame<T> {
    /// The frame with this pose in a body's frame.
    pub fn new(body: BodyId, offset: SE3<T>) -> Self {
        Self {
            body,
            offset: Some(offset),
        }
    }

    /// The body that it is fixed to.
    #[inline]
    pub fn body(&self) -> BodyId {
        self.body
    }

    /// Its pose in the body's frame.
    pub fn offset(&self) -> SE3<T> {
        self.offset.unwrap_or_else(SE3::identity)
    }

    /// The pose in the body's frame; `None` for the body's own frame.
    #[inline]
    pub(super) fn own_offset(&self) -> Option<&SE3<T>> {
        self.offset.as_ref()
    }
}

impl<T: RealField + Copy> From<BodyId> for Frame<T> {
    fn from(body: BodyId) -> Self {
        Self { body, offset: None }
    }
}

impl<T: RealField + Copy> From<&Frame<T>> for Frame<T> {
    fn from(frame: &Frame<T>) -> Self {
        *frame
    }
}

/// The axes and the point to which a twist `[v; omega]` or the columns of a Jacobian refer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceFrame {
    /// The moving frame's own axes and origin; the default.
    #[default]
    Local,
    /// The moving frame's origin and the world's axes: `diag(R, R)` times the local twist. Its first three entries are the velocity of
    /// the frame's origin in the world.
    LocalWorldAligned,
    /// The world's axes and origin: `Ad(G)` times the local twist, the spatial twist.
    World,
}
