//! Robots in URDF.

mod inertial;
mod joint;
mod mesh;
mod motor;
mod tree;
mod unknown;
mod visual;
mod xml;

use nalgebra::Vector3;

use super::{DescriptionError, Problem};
use crate::multibody::{Body, Damper, Model};
use crate::system::System;
use crate::text::some;
use crate::{Inputs, Rotors};
pub use mesh::MeshFolders;
use tree::Tree;
use xml::Element;

/// What the format leaves open.
///
/// ```
/// use fly_mechanics::System;
/// use fly_mechanics::description::{UrdfOptions, UrdfRoot};
///
/// let text = r#"
///     <robot name="flying arm">
///       <link name="base">
///         <inertial>
///           <mass value="2"/>
///           <inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/>
///         </inertial>
///       </link>
///       <joint name="shoulder" type="revolute">
///         <parent link="base"/>
///         <child link="arm"/>
///         <origin xyz="0 0 -0.1" rpy="0 0 0"/>
///         <axis xyz="0 1 0"/>
///         <limit lower="-1.5" upper="1.5" effort="4" velocity="3"/>
///       </joint>
///       <link name="arm">
///         <inertial>
///           <origin xyz="0 0 -0.2"/>
///           <mass value="0.3"/>
///           <inertia ixx="0.004" iyy="0.004" izz="0.0001" ixy="0" ixz="0" iyz="0"/>
///         </inertial>
///       </link>
///     </robot>"#;
/// let options = UrdfOptions { root: UrdfRoot::Free, ..UrdfOptions::default() };
/// let system = System::from_urdf(text, &options)?;
/// assert_eq!(system.model.dof(), 7);
/// assert_eq!(system.joints[1].name, "shoulder");
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UrdfOptions {
    /// How the root link moves in the world. A root link named `world` is the world.
    pub root: UrdfRoot,
    /// Which joints have a motor.
    pub motors: UrdfMotors,
    /// What to do with a non-physical inertia.
    pub non_physical_inertia: NonPhysicalInertia,
    /// The acceleration of free fall in the world, m/s².
    pub gravity: Vector3<f64>,
    /// Where the files of meshes are.
    pub meshes: MeshFolders,
}

impl Default for UrdfOptions {
    fn default() -> Self {
        Self {
            root: UrdfRoot::default(),
            motors: UrdfMotors::default(),
            non_physical_inertia: NonPhysicalInertia::default(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            meshes: MeshFolders::default(),
        }
    }
}

/// How the root link moves in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UrdfRoot {
    /// Not at all.
    #[default]
    Fixed,
    /// Freely.
    Free,
}

/// Which joints have a motor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UrdfMotors {
    /// Those with a `<transmission>` of their own.
    #[default]
    Transmissions,
    /// All with one degree of freedom but those that mimic others or whose effort is limited to zero. A motor has its joint's name.
    EveryJoint,
}

/// What to do with a non-physical inertia, which no distribution of mass has, as many files contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonPhysicalInertia {
    /// An error that says why. A point mass, which has no moments of inertia of its own, is none.
    #[default]
    Refuse,
    /// Raises the principal moments until they are those of a distribution of mass, and notes by how much.
    Raise,
}

/// Reads a robot.
pub(crate) fn urdf(text: &str, options: &UrdfOptions) -> Result<System, DescriptionError> {
    let document = xml::parse(text)?;
    let robot = Element::root(&document, "robot")?;
    let name = robot.attribute("name")?.value().to_owned();
    let tree = Tree::read(&robot)?;
    let mut notes = Vec::new();
    let branches = tree.branches(options.root)?;
    let masses = inertial::masses(&tree, &branches, options.non_physical_inertia, &mut notes)?;

    let mut builder = Model::builder().gravity(options.gravity);
    let (mut joints, mut elements) = (Vec::new(), Vec::new());
    let root = tree.root_joint();
    for branch in branches {
        let joint = joint::joint(&branch, &root)?;
        let mut body = Body::new(branch.link, joint.motion)
            .parent(branch.parent)
            .placed(joint.placement);
        body.inertia = masses[branch.index];
        builder = builder.body(body);
        if let Some(damping) = joint.damping {
            builder = builder.damper(Damper {
                a: branch.parent.to_owned(),
                b: branch.link.to_owned(),
                damping,
            });
        }
        joints.push(joint.data);
        elements.push(branch.joint);
    }
    let model = builder.build().map_err(|error| robot.error(error))?;
    let couplings = joint::couplings(&model, &joints, &elements, &mut notes)?;
    let motors = match options.motors {
        UrdfMotors::EveryJoint => motor::every(&model, &joints, &couplings, &mut notes),
        UrdfMotors::Transmissions => motor::transmissions(&robot, &model, &joints, &mut notes)?,
    };
    let inputs = Inputs::new(&model, Rotors::none(), Vec::new(), motors)
        .map_err(|error| robot.error(error))?;
    notes.extend(unknown::notes(&robot, &name, &tree));
    notes.extend(joint::remarks(&couplings, &elements)?);
    notes.extend(System::remarks(&model));
    let visuals = visual::visuals(text, &robot, &tree, &model, &options.meshes, &mut notes);
    Ok(System {
        name,
        model,
        joints,
        inputs,
        quadratic_drag: Vec::new(),
        contacts: Vec::new(),
        servos: Vec::new(),
        battery: None,
        loops: Vec::new(),
        couplings,
        rolling: Vec::new(),
        ropes: Vec::new(),
        visuals,
        notes,
    })
}
