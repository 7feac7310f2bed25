//! What is measured of a system: groups of numbers that tell its state, whatever its joints.

use std::ops::Range;

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector4};

use crate::multibody::{AngleCoordinates, BodyId, Joint, JointKind, Model};

/// The groups of numbers that tell the state of a system, where they stand among all that are measured, and both ways between them and the
/// coordinates.
///
/// One body that is free in the world may be *tracked*: its pose and twist are measured in the world. All others are measured in their joints:
/// body i, counted from 0 in the order of [`Model::bodies`], has the groups of `joint.{i}`, as far as they can change; fixed joints have none.
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
/// An angle that is one number counts its turns in `joint.{i}`; as cosine and sine it is measured from -π to π.
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
    /// Where the joint of the tracked body is in the world; `None` in its origin.
    placement: Option<SE3<f64>>,
}

/// A group of numbers that are measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name, such as `joint.2.quaternion`.
    pub name: String,
    /// The body that it tells of.
    pub body: BodyId,
    /// What it tells.
    pub quantity: Quantity,
    /// Where its numbers stand among all.
    pub range: Range<usize>,
}

/// What a group of numbers tells.
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
    /// How many numbers it has.
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
    /// What is measured of this system. A `tracked` body that is not [free in the world](Self::is_free) is measured in its joint, as all are.
    pub fn new(model: &Model<f64>, tracked: Option<BodyId>) -> Self {
        let tracked = tracked.filter(|body| Self::is_free(model, *body));
        let placement = tracked.and_then(|body| model.placement(body).copied());
        let mut all = Self {
            groups: Vec::new(),
            dim: 0,
            tracked,
            placement: placement.filter(|placement| *placement != SE3::identity()),
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

    /// The body to track where nobody says which: the only one that is [free in the world](Self::is_free); `None` where there is none, or more
    /// than one.
    pub fn tracked(model: &Model<f64>) -> Option<BodyId> {
        let mut free = model.bodies().filter(|body| Self::is_free(model, *body));
        free.next().filter(|_| free.next().is_none())
    }

    /// Whether nothing holds the body: its joint is free, and placed in the world.
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

/// # Reading
///
/// The model is that of the construction. `x` and `xi` have [`config_dim`](Model::config_dim) and [`dof`](Model::dof) numbers; where a slice is
/// shorter, these functions panic. None of them allocates.
impl Measurements {
    /// The groups, in the order of their numbers: those of the tracked body first.
    #[inline]
    pub fn groups(&self) -> &[Measured] {
        &self.groups
    }

    /// How many numbers all groups have together.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Measures everything in a state: `values` has [`dim`](Self::dim) numbers.
    pub fn read(&self, model: &Model<f64>, x: &[f64], xi: &[f64], values: &mut [f64]) {
        // The groups of a body follow each other.
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

    /// The pose that is measured of a body: of the tracked one in the world, of any other one in its joint's frame. The identity for the world.
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

    /// The joint's frame in the frame that the body is measured in; `None` where they are one.
    fn placement(&self, body: BodyId) -> Option<&SE3<f64>> {
        (self.placement.as_ref()).filter(|_| self.tracked == Some(body))
    }
}

/// # Writing
impl Measurements {
    /// Makes the state agree with the numbers of one group, and leaves the rest of it as it is: the inverse of [`read`](Self::read), group by
    /// group.
    ///
    /// What the joint cannot follow is left out, and of coordinates that fit equally well those nearest to `x` are taken, see
    /// [`Joint::coordinates`]: so angles count their turns, which a quaternion does not tell. A quaternion may have any length; one of length 0
    /// is no attitude, and nothing changes. The velocities of a universal joint depend on its angles: write its attitude first, as the order of
    /// the groups does.
    ///
    /// Slices are as for [`read`](Self::read).
    ///
    /// # Panics
    /// If there is no such group, or it has more numbers than `values`.
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

/// What is measured of a body in its joint, and how it is named behind the joint.
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
