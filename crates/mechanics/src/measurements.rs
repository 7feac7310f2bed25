//! Measurements of a system's state, as groups of numbers, for any joints.

use std::ops::Range;

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector4};

use crate::multibody::{AngleCoordinates, BodyId, Joint, JointKind, Model};

/// The groups of numbers that determine the state of a system, their positions among all measurements, and the conversion between them and the
/// coordinates, both ways.
///
/// One body that is free in the world may be *tracked*: its pose and twist are measured in the world. All others are measured in their joints:
/// body i, counted from 0 in the order of [`Model::bodies`], has those groups of `joint.{i}` that can change; fixed joints have none.
///
/// | group | numbers | |
/// |---|---|---|
/// | `pose.position` | x, y, z | of the tracked body's origin, m, world |
/// | `pose.quaternion` | w, x, y, z | its attitude, world from body |
/// | `twist.linear` | x, y, z | velocity of its origin, m/s, body |
/// | `twist.angular` | x, y, z | its angular velocity, rad/s, body |
/// | `joint.{i}` | position, velocity | of a revolute joint or a screw, rad and rad/s; of a prismatic one, m and m/s |
/// | `joint.{i}.translation` | x, y, z | of any other joint: the body's frame in the joint's frame, [`Joint::pose`], m |
/// | `joint.{i}.quaternion` | w, x, y, z | its attitude there; absolute joints: in the world |
/// | `joint.{i}.linear` | x, y, z | its velocity relative to the joint's frame, m/s, body |
/// | `joint.{i}.angular` | x, y, z | its angular velocity relative to that, rad/s, body; absolute joints: to the world |
///
/// An angle that is a single number is unwrapped in `joint.{i}`; as cosine and sine it is measured from -π to π.
///
/// ```
/// use fly_mechanics::measurements::Measurements;
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// let model = Model::builder()
///     .body(Body::new("arm", Joint::revolute(Vector3::y())?))
///     .body(Body::new("ball", Joint::spherical().with_quaternion()).parent("arm"))
///     .build()?;
/// let measurements = Measurements::new(&model, Measurements::tracked(&model));
/// let names: Vec<_> = measurements.groups().iter().map(|group| group.name.as_str()).collect();
/// assert_eq!(names, ["joint.0", "joint.1.quaternion", "joint.1.angular"]);
///
/// // Measured, and told to another model of the same system.
/// let (x, xi) = ([7.0, 0.6, 0.0, 0.8, 0.0], [0.1, 0.2, 0.3, 0.4]);
/// let mut values = vec![0.0; measurements.dim()];
/// measurements.read(&model, &x, &xi, &mut values);
/// assert_eq!(values[..2], [7.0, 0.1]);
///
/// let (mut found, mut rates) = (model.neutral_configuration(), [0.0; 4]);
/// for (index, group) in measurements.groups().iter().enumerate() {
///     measurements.write(&model, index, &values[group.range.clone()], &mut found, &mut rates);
/// }
/// assert!(x.iter().zip(&found).all(|(x, found)| (x - found).abs() < 1e-15));
/// assert_eq!(rates, xi);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    groups: Vec<Measured>,
    dim: usize,
    tracked: Option<BodyId>,
    /// The pose of the tracked body's joint in the world; `None` at the origin.
    placement: Option<SE3<f64>>,
    counts_turns: bool,
}

/// A group of numbers measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name, such as `joint.2.quaternion`.
    pub name: String,
    /// The measured body.
    pub body: BodyId,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Its range among all measurements.
    pub range: Range<usize>,
}

/// The quantity that a group measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Position and velocity of a joint with one degree of freedom: two numbers.
    Joint,
    /// A position: x, y, z, m.
    Translation,
    /// An attitude: a unit quaternion w, x, y, z.
    Quaternion,
    /// A velocity: x, y, z, m/s.
    Linear,
    /// An angular velocity: x, y, z, rad/s.
    Angular,
}

impl Quantity {
    /// The number of values.
    pub fn dim(self) -> usize {
        match self {
            Self::Joint => 2,
            Self::Translation | Self::Linear | Self::Angular => 3,
            Self::Quaternion => 4,
        }
    }
}

/// # Construction
impl Measurements {
    /// The measurements of this system. A `tracked` body that is not [free in the world](Self::is_free) is measured in its joint like all
    /// others.
    pub fn new(model: &Model<f64>, tracked: Option<BodyId>) -> Self {
        let tracked = tracked.filter(|body| Self::is_free(model, *body));
        let placement = tracked.and_then(|body| model.placement(body).copied());
        let mut all = Self {
            groups: Vec::new(),
            dim: 0,
            tracked,
            placement: placement.filter(|placement| *placement != SE3::identity()),
            counts_turns: false,
        };
        for (name, quantity) in [
            ("pose.position", Quantity::Translation),
            ("pose.quaternion", Quantity::Quaternion),
            ("twist.linear", Quantity::Linear),
            ("twist.angular", Quantity::Angular),
        ] {
            if let Some(body) = tracked {
                all.add(name.to_owned(), body, quantity);
            }
        }
        for (i, body) in model.bodies().enumerate() {
            let Some(joint) = model.joint(body).filter(|_| Some(body) != tracked) else {
                continue;
            };
            for (part, quantity) in quantities(joint) {
                all.add(format!("joint.{i}{part}"), body, *quantity);
            }
        }
        all
    }

    /// Lets [errors](Self::body_error) count whole turns, or not: those of a joint whose angle is one number, for a law that drives this number to
    /// its reference, as [`Model::difference`] has it. By default two configurations with the same poses are equal.
    #[must_use]
    pub const fn counting_turns(mut self, counts: bool) -> Self {
        self.counts_turns = counts;
        self
    }

    /// The default body to track: the only one that is [free in the world](Self::is_free); `None` if there is none, or more than one.
    pub fn tracked(model: &Model<f64>) -> Option<BodyId> {
        let mut free = model.bodies().filter(|body| Self::is_free(model, *body));
        free.next().filter(|_| free.next().is_none())
    }

    /// Returns whether the body is free in the world: its joint is free and has the world as parent.
    pub fn is_free(model: &Model<f64>, body: BodyId) -> bool {
        let free = |joint: &Joint<f64>| matches!(joint.kind(), JointKind::Free(_));
        model.parent(body) == Some(BodyId::WORLD) && model.joint(body).is_some_and(free)
    }

    fn add(&mut self, name: String, body: BodyId, quantity: Quantity) {
        let start = self.dim;
        self.dim += quantity.dim();
        self.groups.push(Measured {
            name,
            body,
            quantity,
            range: start..self.dim,
        });
    }
}

/// # Access
///
/// The model must be that of the construction. `x` and `xi` have [`config_dim`](Model::config_dim) and [`dof`](Model::dof) entries; these
/// functions panic if a slice is shorter. None of them allocates.
impl Measurements {
    /// The groups, in the order of their numbers: those of the tracked body first.
    #[inline]
    pub fn groups(&self) -> &[Measured] {
        &self.groups
    }

    /// The total number of values.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Writes all measurements of a state: `values` has [`dim`](Self::dim) entries.
    pub fn read(&self, model: &Model<f64>, x: &[f64], xi: &[f64], values: &mut [f64]) {
        // The groups of a body are contiguous.
        let mut of_body = None;
        for group in &self.groups {
            let values = &mut values[group.range.clone()];
            let Some(joint) = model.joint(group.body) else {
                continue; // only the world has none, and it is in no group
            };
            let own_x = &x[model.config_range(group.body)];
            let own_xi = &xi[model.velocity_range(group.body)];
            let mut pose = || match of_body {
                Some((body, pose)) if body == group.body => pose,
                _ => {
                    let pose = self.pose(model, group.body, x);
                    of_body = Some((group.body, pose));
                    pose
                }
            };
            match group.quantity {
                Quantity::Joint => {
                    let position = match joint.kind() {
                        JointKind::Revolute(AngleCoordinates::CosSin) => own_x[1].atan2(own_x[0]),
                        _ => own_x[0],
                    };
                    values.copy_from_slice(&[position, own_xi[0]]);
                }
                Quantity::Translation => values.copy_from_slice(pose().translation.as_slice()),
                Quantity::Quaternion => {
                    values.copy_from_slice(pose().rotation.to_quaternion().as_slice());
                }
                Quantity::Linear => {
                    let twist = joint.twist(own_x, own_xi);
                    values.copy_from_slice(linear(&twist).as_slice());
                }
                Quantity::Angular => {
                    let twist = joint.twist(own_x, own_xi);
                    values.copy_from_slice(angular(&twist).as_slice());
                }
            }
        }
    }

    /// Distance (m) and angle (rad) between a configuration and its reference: root sums of squares over all joints.
    pub fn errors(&self, model: &Model<f64>, x: &[f64], reference: &[f64]) -> [f64; 2] {
        let mut squares = [0.0; 2];
        for body in model.bodies() {
            let error = self.body_error(model, body, x, reference);
            for (square, part) in squares.iter_mut().zip(error) {
                *square += part.norm_squared();
            }
        }
        squares.map(f64::sqrt)
    }

    /// The error of a body's [pose](Self::pose): displacement from the reference (m), and the rotation vector (rad, body frame) from the
    /// body to the reference; with [whole turns](Self::counting_turns) where they count.
    pub fn body_error(
        &self,
        model: &Model<f64>,
        body: BodyId,
        x: &[f64],
        reference: &[f64],
    ) -> [Vector3<f64>; 2] {
        let (to, is) = (self.pose(model, body, reference), self.pose(model, body, x));
        let rotation = match model.joint(body).filter(|_| self.counts_turns) {
            Some(joint) => {
                let range = model.config_range(body);
                let (x, mut way) = (&x[range.clone()], [0.0; 6]);
                joint.difference(x, &reference[range], &mut way[..joint.dof()]);
                angular(&joint.twist(x, &way))
            }
            None => (is.rotation.inverse() * to.rotation).log(),
        };
        [is.translation - to.translation, rotation]
    }

    /// The measured pose of a body: in the world for the tracked one, in its joint's frame for any other. The identity for the world.
    pub fn pose(&self, model: &Model<f64>, body: BodyId, x: &[f64]) -> SE3<f64> {
        let Some(joint) = model.joint(body) else {
            return SE3::identity();
        };
        let pose = joint.pose(&x[model.config_range(body)]);
        match self.placement(body) {
            Some(placement) => *placement * pose,
            None => pose,
        }
    }

    /// The joint's frame in the frame of the measurement; `None` if they coincide.
    fn placement(&self, body: BodyId) -> Option<&SE3<f64>> {
        (self.placement.as_ref()).filter(|_| self.tracked == Some(body))
    }
}

/// # Updates
impl Measurements {
    /// Moves the tracked body, if there is one, by this vector of the world, m. Everything else, joints relative to it included, stays.
    pub fn translate(&self, model: &Model<f64>, by: &Vector3<f64>, x: &mut [f64]) {
        let Some((body, joint)) = self.tracked.and_then(|it| Some((it, model.joint(it)?))) else {
            return;
        };
        let mut moved = self.pose(model, body, x).translation + by;
        if let Some(placement) = self.placement(body) {
            moved = placement.inverse().act(&moved);
        }
        joint.fit_translation(&moved, &mut x[model.config_range(body)]);
    }

    /// Sets the part of the state measured by one group, and leaves the rest unchanged: the inverse of [`read`](Self::read), group by group.
    ///
    /// Components that the joint cannot follow are ignored, and of coordinates that fit equally well those nearest to `x` are chosen, see
    /// [`Joint::coordinates`]: so angles remain unwrapped, although a quaternion does not count turns. A quaternion may have any length; one of
    /// length 0 is ignored. The velocities of a universal joint depend on its angles: write its attitude first, in the order of the groups.
    ///
    /// Slices are as for [`read`](Self::read).
    ///
    /// # Panics
    /// If there is no such group, or `values` is too short for it.
    pub fn write(
        &self,
        model: &Model<f64>,
        group: usize,
        values: &[f64],
        x: &mut [f64],
        xi: &mut [f64],
    ) {
        let Measured { body, quantity, .. } = self.groups[group];
        let Some(joint) = model.joint(body) else {
            return;
        };
        let x = &mut x[model.config_range(body)];
        let xi = &mut xi[model.velocity_range(body)];
        match quantity {
            Quantity::Joint => {
                match joint.kind() {
                    JointKind::Revolute(AngleCoordinates::CosSin) => {
                        (x[1], x[0]) = values[0].sin_cos();
                    }
                    _ => x[0] = values[0],
                }
                xi[0] = values[1];
            }
            Quantity::Translation => {
                let mut measured = Vector3::from_column_slice(&values[..3]);
                if let Some(placement) = self.placement(body) {
                    measured = placement.inverse().act(&measured);
                }
                joint.fit_translation(&measured, x);
            }
            Quantity::Quaternion => {
                let measured = Vector4::from_column_slice(&values[..4]);
                if let Some(unit) = measured.try_normalize(0.0) {
                    let mut rotation = SO3::from_quaternion(&unit);
                    if let Some(placement) = self.placement(body) {
                        rotation = placement.rotation.inverse() * rotation;
                    }
                    joint.fit_rotation(&rotation, x);
                }
            }
            Quantity::Linear => joint.fit_linear(&Vector3::from_column_slice(&values[..3]), xi),
            Quantity::Angular => {
                joint.fit_angular(x, &Vector3::from_column_slice(&values[..3]), xi);
            }
        }
    }
}

/// The quantities measured of a body in its joint, and their names after the joint's.
fn quantities(joint: &Joint<f64>) -> &'static [(&'static str, Quantity)] {
    use Quantity::{Angular, Linear, Quaternion, Translation};
    match joint.kind() {
        JointKind::Fixed => &[],
        JointKind::Revolute(_) | JointKind::Prismatic | JointKind::Screw { .. } => {
            &[("", Quantity::Joint)]
        }
        JointKind::Universal { .. } | JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {
            &[(".quaternion", Quaternion), (".angular", Angular)]
        }
        JointKind::Cylindrical(_)
        | JointKind::Planar(_)
        | JointKind::Schoenflies(_)
        | JointKind::Free(_) => &[
            (".translation", Translation),
            (".quaternion", Quaternion),
            (".linear", Linear),
            (".angular", Angular),
        ],
    }
}
