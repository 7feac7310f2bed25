//! Serial chains from home poses and space screws: products of exponentials.

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{DVector, Matrix6xX, Vector3, Vector6};

use super::dynamics::ExternalWrench;
use super::{Body, Joint, JointError, Model, ModelError, Workspace};
use crate::PseudoInertia;

/// A link of a [`ScrewChain`] and the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScrewLink {
    /// `M_0i`: the pose of the link's frame in frame 0 with all joints at zero.
    pub home: SE3<f64>,
    /// `S_i = [v; ω]`: the joint's screw in frame 0 with all joints at zero, of unit length: `ω` of length 1 and `v = -ω x q + pitch ω` for an axis through the
    /// point q, or `ω = 0` and `v` of length 1 for a prismatic joint. [`angular_first::twist`](fly_lie::angular_first::twist) converts from `[ω; v]`.
    pub screw: Vector6<f64>,
    /// The inertia in the link's frame, whose origin need not be the centre of mass.
    pub inertia: PseudoInertia<f64>,
}

/// Why links do not form a chain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScrewChainError {
    /// A screw is not of unit length.
    #[error(
        "the screw of link {link} is [v; omega] = {screw:?}; expected omega of length 1, or omega = 0 and v of length 1 for a slider"
    )]
    Screw {
        /// The link, counted from 1 as in the papers.
        link: usize,
        /// `[v; ω]`
        screw: [f64; 6],
    },
    /// An invalid joint.
    #[error("link {link}: {error}")]
    Joint {
        /// The link, counted from 1.
        link: usize,
        /// The reason.
        error: JointError,
    },
    /// An invalid system.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The length of a vector is not the number of joints.
    #[error("the chain has {expected} joints, found {found} numbers of their {what}")]
    Size {
        /// The vector: `positions`, `rates`, `accelerations`.
        what: &'static str,
        /// The number of joints.
        expected: usize,
        /// Its length.
        found: usize,
    },
}

/// The motion of a chain's base: frame 0, to which homes and screws refer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseMotion {
    /// In the world.
    pub pose: SE3<f64>,
    /// `[v; ω]` relative to the world, in frame 0.
    pub twist: Vector6<f64>,
    /// Its derivative: `[v_dot; ω_dot]`, in frame 0.
    pub acceleration: Vector6<f64>,
}

impl Default for BaseMotion {
    /// At rest in the world's frame.
    fn default() -> Self {
        Self {
            pose: SE3::identity(),
            twist: Vector6::zeros(),
            acceleration: Vector6::zeros(),
        }
    }
}

/// The forces required by a motion of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainForces {
    /// Of each joint, N m or N.
    pub joints: DVector<f64>,
    /// The reaction at the base: the external wrench `[f; τ]` on it, in frame 0.
    pub base: Vector6<f64>,
}

/// A serial chain as in Modern Robotics and the notes on the recursive Newton-Euler algorithm: every link by its home pose, every joint by its screw in frame
/// 0.
///
/// ```text
/// T_0i(θ) = exp(S_1 θ_1) ... exp(S_i θ_i) M_0i          the product of exponentials
/// ```
///
/// [`model`](Self::model) converts it to a [`Model`] for everything else in this crate; [`inverse_dynamics`](Self::inverse_dynamics) allows for a moving base
/// and a wrench at the tool.
///
/// ```
/// use fly_lie::{SE3, SO3};
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::multibody::{BaseMotion, ScrewChain, ScrewLink};
/// use nalgebra::{Matrix3, Vector3, Vector6};
///
/// // Two links of 1 m along x that turn about z; their frames are at their centres.
/// let at = |x| SE3::new(SO3::identity(), Vector3::new(x, 0.0, 0.0));
/// let inertia = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity() * 0.2)?;
/// let link = |start: f64| ScrewLink {
///     home: at(start + 0.5),
///     // v = -ω x q
///     screw: Vector6::new(0.0, -start, 0.0, 0.0, 0.0, 1.0),
///     inertia,
/// };
/// let arm = ScrewChain::new(vec![link(0.0), link(1.0)], at(2.0))?;
/// let quarter = std::f64::consts::FRAC_PI_2;
/// assert!((arm.tool(&[quarter, -quarter])?.translation - Vector3::new(1.0, 1.0, 0.0)).norm() < 1e-15);
///
/// // At rest and stretched out on a base that accelerates sideways at 1 m/s²: the second joint moves 2 kg at half a metre.
/// let base = BaseMotion { acceleration: Vector6::y(), ..BaseMotion::default() };
/// let forces = arm.with_gravity(Vector3::zeros())?.inverse_dynamics([&[0.0; 2], &[0.0; 2], &[0.0; 2]], &base, &Vector6::zeros())?;
/// assert!((forces.joints[1] - 2.0 * 0.5).abs() < 1e-15);
/// assert!((forces.base[1] - 4.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScrewChain {
    links: Vec<ScrewLink>,
    tool: SE3<f64>,
    base: Option<PseudoInertia<f64>>,
    /// The chain on a free base.
    floating: Model<f64>,
}

/// # Construction
impl ScrewChain {
    /// From the links, starting at the base, and the tool's home pose in frame 0, with gravity of 9.81 m/s² along -z of the
    /// world.
    ///
    /// # Errors
    /// See [`ScrewChainError`].
    pub fn new(links: Vec<ScrewLink>, tool: SE3<f64>) -> Result<Self, ScrewChainError> {
        for (k, link) in links.iter().enumerate() {
            let (v, omega) = (linear(&link.screw), angular(&link.screw));
            let turns = omega.norm() > 1e-12;
            let length = if turns { omega.norm() } else { v.norm() };
            // Written so that NaN fails.
            let is_unit = (length - 1.0).abs() <= 1e-9 && v.iter().all(|v| v.is_finite());
            if !is_unit {
                return Err(ScrewChainError::Screw {
                    link: k + 1,
                    screw: link.screw.into(),
                });
            }
        }
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let floating = build(&links, &tool, Some(floating(None)), gravity)?;
        Ok(Self {
            links,
            tool,
            base: None,
            floating,
        })
    }

    /// Sets the gravity, m/s², in the world.
    ///
    /// # Errors
    /// See [`ScrewChainError`].
    pub fn with_gravity(self, gravity: Vector3<f64>) -> Result<Self, ScrewChainError> {
        let floating = build(&self.links, &self.tool, Some(floating(self.base)), gravity)?;
        Ok(Self { floating, ..self })
    }

    /// Sets the inertia of the base, in frame 0: a satellite, a vehicle.
    ///
    /// # Errors
    /// See [`ScrewChainError`].
    pub fn with_base(self, inertia: PseudoInertia<f64>) -> Result<Self, ScrewChainError> {
        let base = Some(inertia);
        let floating = build(
            &self.links,
            &self.tool,
            Some(floating(base)),
            *self.floating.gravity(),
        )?;
        Ok(Self {
            base,
            floating,
            ..self
        })
    }

    /// The chain on a base fixed at the world's frame. The bodies are `joint1`, …, on the axes, with the links `link1`, …, in their own frames, and `tool`.
    ///
    /// # Errors
    /// See [`ScrewChainError`].
    pub fn model(&self) -> Result<Model<f64>, ScrewChainError> {
        build(&self.links, &self.tool, None, *self.floating.gravity())
    }

    /// The chain whose first body, `base`, is free: six velocity coordinates precede those of the joints. Without gravity its momentum,
    /// [`Workspace::momentum`], is conserved whatever the joints do.
    pub fn floating_model(&self) -> &Model<f64> {
        &self.floating
    }
}

/// # Kinematics
impl ScrewChain {
    /// The number of joints.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Returns whether it has no joints.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// `T_0i`: the poses of all links in frame 0, and that of the tool, by the product of exponentials.
    ///
    /// # Errors
    /// [`ScrewChainError::Size`].
    pub fn poses(&self, positions: &[f64]) -> Result<Vec<SE3<f64>>, ScrewChainError> {
        self.expect("positions", positions)?;
        let mut product = SE3::identity();
        let mut poses = Vec::with_capacity(self.len() + 1);
        for (link, position) in self.links.iter().zip(positions) {
            product = product * SE3::exp(&(link.screw * *position));
            poses.push(product * link.home);
        }
        poses.push(product * self.tool);
        Ok(poses)
    }

    /// The pose of the tool in frame 0.
    ///
    /// # Errors
    /// [`ScrewChainError::Size`].
    pub fn tool(&self, positions: &[f64]) -> Result<SE3<f64>, ScrewChainError> {
        let poses = self.poses(positions)?;
        Ok(poses.last().copied().unwrap_or(self.tool))
    }

    /// The space Jacobian, 6 x n: `d/dt T T⁻¹ = hat(J_s θ_dot)` of the tool; its columns are the screws in the current positions of
    /// the joints.
    ///
    /// # Errors
    /// [`ScrewChainError::Size`].
    pub fn space_jacobian(&self, positions: &[f64]) -> Result<Matrix6xX<f64>, ScrewChainError> {
        self.expect("positions", positions)?;
        let mut J = Matrix6xX::zeros(self.len());
        let mut product = SE3::identity();
        for (mut column, (link, position)) in
            (J.column_iter_mut()).zip(self.links.iter().zip(positions))
        {
            column.copy_from(&(product.adjoint() * link.screw));
            product = product * SE3::exp(&(link.screw * *position));
        }
        Ok(J)
    }

    fn expect(&self, what: &'static str, numbers: &[f64]) -> Result<(), ScrewChainError> {
        if numbers.len() == self.len() {
            return Ok(());
        }
        Err(ScrewChainError::Size {
            what,
            expected: self.len(),
            found: numbers.len(),
        })
    }
}

/// # Dynamics
impl ScrewChain {
    /// The forces for these positions, rates and accelerations of the joints, with a moving base and with the tool exerting the wrench `[f; τ]` on its
    /// surroundings, in the tool's frame. Allocates.
    ///
    /// # Errors
    /// [`ScrewChainError::Size`].
    pub fn inverse_dynamics(
        &self,
        [positions, rates, accelerations]: [&[f64]; 3],
        base: &BaseMotion,
        tip: &Vector6<f64>,
    ) -> Result<ChainForces, ScrewChainError> {
        self.expect("positions", positions)?;
        self.expect("rates", rates)?;
        self.expect("accelerations", accelerations)?;
        let model = &self.floating;
        let pose = &base.pose;
        let mut x: Vec<f64> = pose.translation.iter().copied().collect();
        x.extend(pose.rotation.matrix().iter());
        x.extend(positions);
        let joined = |base: &Vector6<f64>, joints: &[f64]| {
            let numbers = base.iter().chain(joints).copied();
            numbers.collect::<Vec<_>>()
        };
        let (xi, xi_dot) = (
            joined(&base.twist, rates),
            joined(&base.acceleration, accelerations),
        );
        let mut wrenches = Vec::new();
        if let Ok(tool) = model.body_id("tool") {
            wrenches.push(ExternalWrench::new(tool, -tip));
        }
        let mut tau = vec![0.0; model.dof()];
        let mut workspace = Workspace::new(model);
        model.inverse_dynamics_with(&mut workspace, &x, &xi, &xi_dot, &wrenches, &mut tau);
        Ok(ChainForces {
            base: Vector6::from_column_slice(&tau[..6]),
            joints: DVector::from_column_slice(&tau[6..]),
        })
    }
}

/// Frame 0 on a free joint.
fn floating(inertia: Option<PseudoInertia<f64>>) -> Body<f64> {
    let mut body = Body::new("base", Joint::free());
    body.inertia = inertia;
    body
}

/// Frames of joints lie on their axes and are parallel to frame 0 at home. `base` is the carrying body, if not the world.
fn build(
    links: &[ScrewLink],
    tool: &SE3<f64>,
    base: Option<Body<f64>>,
    gravity: Vector3<f64>,
) -> Result<Model<f64>, ScrewChainError> {
    let at = |point: Vector3<f64>| SE3::new(SO3::identity(), point);
    let mut builder = Model::builder().gravity(gravity);
    let (mut parent, mut origin) = ("world".to_owned(), Vector3::zeros());
    if let Some(base) = base {
        parent.clone_from(&base.name);
        builder = builder.body(base);
    }
    for (k, link) in links.iter().enumerate() {
        let (v, omega) = (linear(&link.screw), angular(&link.screw));
        let (point, pitch) = (omega.cross(&v), omega.dot(&v));
        let joint = if omega.norm() <= 1e-12 {
            Joint::prismatic(v)
        } else if pitch.abs() <= 1e-12 {
            Joint::revolute(omega)
        } else {
            Joint::screw(omega, pitch)
        };
        let link_number = k + 1;
        let joint = joint.map_err(|error| ScrewChainError::Joint {
            link: link_number,
            error,
        })?;
        let name = format!("joint{link_number}");
        let axis = Body::new(name.clone(), joint).parent(parent);
        let body = Body::new(format!("link{link_number}"), Joint::fixed())
            .parent(name.clone())
            .placed(at(-point) * link.home)
            .inertia(link.inertia);
        builder = builder.body(axis.placed(at(point - origin))).body(body);
        (parent, origin) = (name, point);
    }
    let tool = Body::new("tool", Joint::fixed())
        .parent(parent)
        .placed(at(-origin) * *tool);
    Ok(builder.body(tool).build()?)
}
