//! A compiled system of bodies: names resolved, parents before children.

use std::collections::HashMap;
use std::sync::Arc;

use fly_lie::SE3;
use nalgebra::{Matrix6, RealField, Vector3, convert};

use super::tree::{Link, Tree};
use super::{Body, Damper, Joint, ModelError, Spring, UnknownBody};
use crate::text::nearest;
use crate::{Drag, PseudoInertia, SecondMoment, Stiffness};

/// A body of a [`Model`], or the inertial frame [`BodyId::WORLD`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(usize);

impl BodyId {
    /// The inertial frame.
    pub const WORLD: Self = Self(0);

    /// 0 for the world; bodies count from 1, parents before children.
    #[inline]
    pub fn index(self) -> usize {
        self.0
    }

    /// The body of this index.
    pub(super) fn at(index: usize) -> Self {
        Self(index)
    }
}

/// A system of rigid bodies: a tree of bodies on joints, with springs and dampers between any of them.
///
/// See the module for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<T: RealField + Copy> {
    pub(super) gravity: Vector3<T>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) links: Vec<Link<T>>,
    /// The number of joints with springs.
    pub(super) joint_springs: usize,
    pub(super) springs: Vec<SpringLink<T>>,
    pub(super) dampers: Vec<DamperLink<T>>,
    /// The dampers and the drag of the bodies.
    pub(super) resistances: Vec<Resistance<T>>,
    pub(super) config_dim: usize,
    pub(super) dof: usize,
    /// The tree along which the algorithms of the dynamics recurse.
    pub(super) tree: Arc<Tree<T>>,
}

/// A [`Spring`] with its bodies resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpringLink<T: RealField + Copy> {
    pub a: BodyId,
    pub b: BodyId,
    pub stiffness: Stiffness<T>,
}

/// A [`Damper`] with its bodies resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DamperLink<T: RealField + Copy> {
    pub a: BodyId,
    pub b: BodyId,
    pub damping: SecondMoment<T>,
}

/// Resistance to the motion of b relative to a: a [`Damper`], or the [`Drag`] of b.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resistance<T: RealField + Copy> {
    pub a: BodyId,
    pub b: BodyId,
    /// `D`: with the twist of b relative to a, the wrench `D a_b xi` on b, a left-hand side.
    pub matrix: Matrix6<T>,
}

/// # Construction
impl<T: RealField + Copy> Model<T> {
    /// A builder with gravity of 9.81 m/s² along -z.
    pub fn builder() -> ModelBuilder<T> {
        ModelBuilder {
            gravity: Vector3::new(T::zero(), T::zero(), convert(-9.81)),
            bodies: Vec::new(),
            springs: Vec::new(),
            dampers: Vec::new(),
        }
    }

    /// A builder with the description of this system, to which bodies, springs and dampers can be added. The coordinates of the existing bodies
    /// come first, unchanged.
    ///
    /// ```
    /// use fly_lie::{SE3, SO3};
    /// use fly_mechanics::multibody::{Body, Joint, Model};
    /// use fly_mechanics::PseudoInertia;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // An arm as it was loaded, a payload of 2 kg that it holds, and the frame of a camera.
    /// let link = PseudoInertia::from_center(1.0, Vector3::z() * 0.2, Matrix3::identity() * 0.01)?;
    /// let arm = Model::builder().body(Body::new("arm", Joint::revolute(Vector3::y())?).inertia(link)).build()?;
    /// let tip = SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, 0.4));
    /// let payload = Body::new("payload", Joint::fixed()).parent("arm").placed(tip);
    /// let loaded = arm
    ///     .to_builder()
    ///     .body(payload.inertia(PseudoInertia::point_mass(2.0, Vector3::zeros())?))
    ///     .body(Body::new("camera", Joint::fixed()).parent("arm").placed(tip))
    ///     .build()?;
    /// assert_eq!((loaded.mass(), loaded.dof()), (3.0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_builder(&self) -> ModelBuilder<T> {
        let bodies = self.described().map(|body| {
            let link = &self.links[body.index() - 1];
            Body {
                name: self.name(body).to_owned(),
                parent: self.names[link.parent].to_string(),
                placement: link.placement,
                joint: link.joint,
                inertia: link.inertia,
                spring: link.spring,
                drag: link.drag,
            }
        });
        ModelBuilder {
            gravity: self.gravity,
            bodies: bodies.collect(),
            springs: self.springs().collect(),
            dampers: self.dampers().collect(),
        }
    }

    /// The bodies in the order of the description, which is that of their coordinates: a child may stand before its parent.
    pub(crate) fn described(&self) -> impl Iterator<Item = BodyId> {
        let mut bodies: Vec<_> = self.bodies().zip(&self.links).collect();
        bodies.sort_by_key(|(_, link)| link.described);
        bodies.into_iter().map(|(body, _)| body)
    }

    /// The same system with another inertia of a body: same bodies and coordinates, but it needs its own [`Workspace`](super::Workspace), which stores the
    /// inertias. Has no effect on the world.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn with_inertia(
        &self,
        body: BodyId,
        inertia: PseudoInertia<T>,
    ) -> Result<Self, ModelError> {
        let mut builder = self.to_builder();
        if body != BodyId::WORLD {
            let name = self.name(body);
            let others = builder.bodies.iter_mut();
            for found in others.filter(|found| found.name == name) {
                found.inertia = Some(inertia);
            }
        }
        builder.build()
    }
}

/// # Changes
impl<T: RealField + Copy> Model<T> {
    /// The same system with a body detached: free in the world instead of on its joint, without that joint's spring and without the dampers
    /// between it and its parent. Bodies that it carries stay on it. The other bodies keep their order and their coordinates in it.
    ///
    /// # Errors
    /// None for a body of this model.
    pub fn with_free(&self, body: BodyId) -> Result<Self, ModelError> {
        let mut builder = self.to_builder();
        let name = self.name(body);
        let Some(opened) = builder.bodies.iter_mut().find(|b| b.name == name) else {
            return builder.build();
        };
        opened.placement = SE3::identity();
        opened.joint = Joint::free();
        opened.spring = None;
        let carrier = std::mem::replace(&mut opened.parent, "world".to_owned());
        builder.dampers.retain(|damper| {
            let ends = [damper.a.as_str(), damper.b.as_str()];
            ends != [carrier.as_str(), name] && ends != [name, carrier.as_str()]
        });
        builder.build()
    }
}

/// # Access
impl<T: RealField + Copy> Model<T> {
    /// `nu`: the dimension of the configuration.
    #[inline]
    pub fn config_dim(&self) -> usize {
        self.config_dim
    }

    /// `n`: the dimension of the velocity, the degrees of freedom.
    #[inline]
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// The number of bodies, massless frames included, the world excluded.
    #[inline]
    pub fn body_count(&self) -> usize {
        self.links.len()
    }

    /// Whether it is one body that is free in the world: its velocity is its twist, in its own axes.
    #[inline]
    pub(crate) fn is_one_free_body(&self) -> bool {
        self.tree.is_one_body && self.links.len() == 1
    }

    /// The acceleration of free fall in the world, m/s².
    #[inline]
    pub fn gravity(&self) -> &Vector3<T> {
        &self.gravity
    }

    /// All bodies, parents before children.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyId> + use<T> {
        (1..self.names.len()).map(BodyId)
    }

    /// The body of this name; `world` is the inertial frame.
    ///
    /// # Errors
    /// [`UnknownBody`] with the nearest name.
    pub fn body_id(&self, name: &str) -> Result<BodyId, UnknownBody> {
        let found = self.names.iter().position(|known| **known == *name);
        found.map(BodyId).ok_or_else(|| UnknownBody {
            name: name.to_owned(),
            nearest: nearest(name, self.names.iter().map(AsRef::as_ref)).map(str::to_owned),
        })
    }

    /// The name of a body.
    pub fn name(&self, body: BodyId) -> &str {
        &self.names[body.0]
    }

    /// The name of a body, shared without a copy.
    pub(super) fn shared_name(&self, body: BodyId) -> Arc<str> {
        Arc::clone(&self.names[body.0])
    }

    /// The body that carries this one; `None` for the world.
    pub fn parent(&self, body: BodyId) -> Option<BodyId> {
        let link = self.links.get(body.0.checked_sub(1)?)?;
        Some(BodyId(link.parent))
    }

    /// The joint that carries a body; `None` for the world.
    pub fn joint(&self, body: BodyId) -> Option<&Joint<T>> {
        Some(&self.links.get(body.0.checked_sub(1)?)?.joint)
    }

    /// The pose of a body's joint in the parent's frame; `None` for the world.
    pub fn placement(&self, body: BodyId) -> Option<&SE3<T>> {
        Some(&self.links.get(body.0.checked_sub(1)?)?.placement)
    }

    /// A body's inertia; `None` for the world and for frames without mass.
    pub fn inertia(&self, body: BodyId) -> Option<&PseudoInertia<T>> {
        self.links.get(body.0.checked_sub(1)?)?.inertia.as_ref()
    }

    /// A body's drag; `None` for the world and for bodies without any.
    pub fn drag(&self, body: BodyId) -> Option<&Drag<T>> {
        self.links.get(body.0.checked_sub(1)?)?.drag.as_ref()
    }

    /// The range of a body's joint in the configuration; empty for the world.
    pub fn config_range(&self, body: BodyId) -> std::ops::Range<usize> {
        match body.0.checked_sub(1) {
            Some(i) => self.links[i].x..self.links[i].x + self.links[i].joint.config_dim(),
            None => 0..0,
        }
    }

    /// The range of a body's joint in the velocity; empty for the world.
    pub fn velocity_range(&self, body: BodyId) -> std::ops::Range<usize> {
        match body.0.checked_sub(1) {
            Some(i) => self.links[i].xi..self.links[i].xi + self.links[i].joint.dof(),
            None => 0..0,
        }
    }

    /// The springs as described.
    pub fn springs(&self) -> impl ExactSizeIterator<Item = Spring<T>> + '_ {
        self.springs.iter().map(|spring| Spring {
            a: self.name(spring.a).to_owned(),
            b: self.name(spring.b).to_owned(),
            rest: *spring.stiffness.minimum(),
            stiffness: *spring.stiffness.moment(),
        })
    }

    /// The dampers as described.
    pub fn dampers(&self) -> impl ExactSizeIterator<Item = Damper<T>> + '_ {
        self.dampers.iter().map(|damper| Damper {
            a: self.name(damper.a).to_owned(),
            b: self.name(damper.b).to_owned(),
            damping: damper.damping,
        })
    }

    pub(super) fn check(&self, x: &[T], xi: &[T]) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        assert_eq!(xi.len(), self.dof(), "length of the velocity");
    }

    /// The total mass, kg.
    pub fn mass(&self) -> T {
        let masses = self.massive().map(|(_, inertia)| inertia.mass());
        masses.fold(T::zero(), |sum, mass| sum + mass)
    }

    /// The dampers and the drag of the bodies.
    fn resist(&self) -> Vec<Resistance<T>> {
        let dampers = self.dampers.iter().map(|damper| Resistance {
            a: damper.a,
            b: damper.b,
            matrix: damper.damping.matrix6(),
        });
        let drags = self.links.iter().enumerate().filter_map(|(i, link)| {
            let drag = link.drag?;
            let center =
                (link.inertia).map_or_else(Vector3::zeros, |inertia| inertia.center_of_mass());
            Some(Resistance {
                a: BodyId::WORLD,
                b: BodyId(i + 1),
                matrix: drag.matrix6(&center),
            })
        });
        dampers.chain(drags).collect()
    }

    /// The bodies with mass.
    pub(super) fn massive(&self) -> impl Iterator<Item = (BodyId, &PseudoInertia<T>)> {
        let links = self.links.iter().enumerate();
        links.filter_map(|(i, link)| Some((BodyId(i + 1), link.inertia.as_ref()?)))
    }
}

/// The description of a [`Model`].
#[derive(Clone, Debug)]
pub struct ModelBuilder<T: RealField + Copy> {
    gravity: Vector3<T>,
    bodies: Vec<Body<T>>,
    springs: Vec<Spring<T>>,
    dampers: Vec<Damper<T>>,
}

/// # Description
impl<T: RealField + Copy> ModelBuilder<T> {
    /// The acceleration of free fall in the world, m/s².
    #[must_use]
    pub fn gravity(mut self, gravity: Vector3<T>) -> Self {
        self.gravity = gravity;
        self
    }

    /// Adds a body. The order of the bodies determines that of the coordinates; a body may be added before its parent.
    #[must_use]
    pub fn body(mut self, body: Body<T>) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds a spring.
    #[must_use]
    pub fn spring(mut self, spring: Spring<T>) -> Self {
        self.springs.push(spring);
        self
    }

    /// Adds a damper.
    #[must_use]
    pub fn damper(mut self, damper: Damper<T>) -> Self {
        self.dampers.push(damper);
        self
    }

    /// The model.
    ///
    /// # Errors
    /// The first error, with the names of the bodies concerned.
    pub fn build(self) -> Result<Model<T>, ModelError> {
        if !self.gravity.iter().all(nalgebra::ComplexField::is_finite) {
            let what = "gravity".to_owned();
            return Err(ModelError::NotFinite { what });
        }
        let order = parents_first(&self.bodies)?;
        let mut model = Model {
            gravity: self.gravity,
            names: vec!["world".into()],
            links: Vec::with_capacity(self.bodies.len()),
            joint_springs: 0,
            springs: Vec::new(),
            dampers: Vec::new(),
            resistances: Vec::new(),
            config_dim: 0,
            dof: 0,
            tree: Arc::new(Tree::new(&[])),
        };
        // The coordinates keep the order of the description, whatever the order of the tree.
        let mut starts = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            starts.push((model.config_dim, model.dof));
            model.config_dim += body.joint.config_dim();
            model.dof += body.joint.dof();
        }
        for index in order {
            let body = &self.bodies[index];
            if !is_finite(&body.placement) {
                let what = format!("the placement of body `{}`", body.name);
                return Err(ModelError::NotFinite { what });
            }
            if let Some(spring) = &body.spring {
                spring.check(&body.name, &body.joint)?;
                model.joint_springs += 1;
            }
            let parent = model.names.iter().position(|name| **name == *body.parent);
            model.links.push(Link {
                // `parents_first` has found it.
                parent: parent.unwrap_or(0),
                placement: body.placement,
                joint: body.joint,
                inertia: body.inertia,
                spring: body.spring,
                drag: body.drag,
                described: index,
                x: starts[index].0,
                xi: starts[index].1,
            });
            model.names.push(body.name.as_str().into());
        }
        model.tree = Arc::new(Tree::new(&model.links));
        for spring in self.springs {
            let (a, b) = ends(&model, "spring", &spring.a, &spring.b)?;
            let numbers = is_finite(&spring.rest) && is_finite_moment(&spring.stiffness);
            expect_finite(numbers, "spring", &spring.a, &spring.b)?;
            model.springs.push(SpringLink {
                a,
                b,
                stiffness: Stiffness::new(spring.rest, spring.stiffness),
            });
        }
        for damper in self.dampers {
            let (a, b) = ends(&model, "damper", &damper.a, &damper.b)?;
            let numbers = is_finite_moment(&damper.damping);
            expect_finite(numbers, "damper", &damper.a, &damper.b)?;
            model.dampers.push(DamperLink {
                a,
                b,
                damping: damper.damping,
            });
        }
        model.resistances = model.resist();
        Ok(model)
    }
}

fn is_finite<T: RealField + Copy>(pose: &SE3<T>) -> bool {
    let numbers = pose.rotation.matrix().iter().chain(pose.translation.iter());
    numbers.copied().all(|number| number.is_finite())
}

fn is_finite_moment<T: RealField + Copy>(moment: &SecondMoment<T>) -> bool {
    moment
        .matrix4()
        .iter()
        .all(nalgebra::ComplexField::is_finite)
}

fn expect_finite(are_finite: bool, element: &str, a: &str, b: &str) -> Result<(), ModelError> {
    let what = || format!("all numbers of the {element} between `{a}` and `{b}`");
    are_finite
        .then_some(())
        .ok_or_else(|| ModelError::NotFinite { what: what() })
}

/// An order of the bodies in which parents precede children and which otherwise preserves that of the description.
fn parents_first<T: RealField + Copy>(bodies: &[Body<T>]) -> Result<Vec<usize>, ModelError> {
    let mut index_of = HashMap::new();
    for (index, body) in bodies.iter().enumerate() {
        if body.name == "world" {
            return Err(ModelError::ReservedName);
        }
        if index_of.insert(body.name.as_str(), index).is_some() {
            return Err(ModelError::DuplicateName(body.name.clone()));
        }
    }
    for body in bodies {
        if body.parent != "world" && !index_of.contains_key(body.parent.as_str()) {
            return Err(ModelError::UnknownParent {
                body: body.name.clone(),
                parent: body.parent.clone(),
                nearest: nearest(&body.parent, bodies.iter().map(|body| body.name.as_str()))
                    .map(str::to_owned),
            });
        }
    }
    let mut placed = vec![false; bodies.len()];
    let mut order = Vec::with_capacity(bodies.len());
    // One pass places every body whose parent has been placed; an ordered description needs only one.
    while order.len() < bodies.len() {
        let before = order.len();
        for (index, body) in bodies.iter().enumerate() {
            let parent = index_of.get(body.parent.as_str());
            if !placed[index] && parent.is_none_or(|parent| placed[*parent]) {
                placed[index] = true;
                order.push(index);
            }
        }
        if order.len() == before {
            let left = bodies.iter().zip(&placed).filter(|(_, placed)| !**placed);
            return Err(ModelError::Cycle(
                left.map(|(body, _)| body.name.clone()).collect(),
            ));
        }
    }
    Ok(order)
}

/// The bodies that a spring or damper connects.
fn ends<T: RealField + Copy>(
    model: &Model<T>,
    element: &'static str,
    a: &str,
    b: &str,
) -> Result<(BodyId, BodyId), ModelError> {
    let find = |name: &str| {
        model
            .body_id(name)
            .map_err(|UnknownBody { name, nearest }| ModelError::UnknownEnd {
                element,
                name,
                nearest,
            })
    };
    let ends = (find(a)?, find(b)?);
    if ends.0 == ends.1 {
        let name = a.to_owned();
        return Err(ModelError::SameEnds { element, name });
    }
    Ok(ends)
}
