//! From the tables of a description to a system.

use std::ops::Range;
use std::path::Path;

use nalgebra::Vector3;
use toml::Spanned;
use toml::de::DeTable;

use super::constraints;
use super::contact;
use super::drag;
use super::elements::{self, Names, damper, spring};
use super::joint::{self, Described};
use super::keys::{Key, VECTOR, Value};
use super::reader::{Entry, Table};
use super::{
    DescriptionError, Problem, mass, motors, pose, propulsion, rope, rotors, servo, visual,
};
use crate::multibody::{Body, BodyId, Damper, Joint, Model, ModelBuilder, ModelError};
use crate::system::{JointData, System};
use crate::visual::Visual;
use crate::{ContactShape, Inputs, QuadraticDrag};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// The keys of a description.
pub(super) const SYSTEM: [Key; 12] = [
    Key::required("name", Value::Text, "Its name."),
    Key::new(
        "gravity",
        VECTOR,
        "m/s^2 in the world, z up. Default [0, 0, -9.81].",
    ),
    Key::required(
        "bodies",
        Value::Named(&BODY),
        "The bodies by their names, of your choice; `world` is the inertial frame.",
    ),
    Key::new(
        "rotors",
        Value::List(&Value::Table(&rotors::ROTOR)),
        "The rotors, in the order of their commands `rotor.0.thrust`, `rotor.0.tilt`, `rotor.1.thrust`, ...",
    ),
    Key::new(
        "motors",
        Value::List(&Value::Table(&motors::MOTOR)),
        "Motors of joints, in the order of their commands `motor.0.effort`, ...",
    ),
    Key::new(
        "battery",
        Value::Table(&propulsion::BATTERY),
        "Supplies the motors of rotors in the simulation. Default: unlimited voltage.",
    ),
    Key::new(
        "springs",
        Value::List(&Value::Table(&elements::SPRING)),
        "Springs between any two bodies.",
    ),
    Key::new(
        "dampers",
        Value::List(&Value::Table(&elements::DAMPER)),
        "Dampers between any two bodies.",
    ),
    Key::new(
        "loops",
        Value::List(&Value::Table(&constraints::LOOP)),
        "Loop closures: constraints between two frames. Only in simulated plants.",
    ),
    Key::new(
        "couplings",
        Value::List(&Value::Table(&constraints::COUPLING)),
        "Gears and belts: the sum of factor times position equals `offset`. Only in simulated plants.",
    ),
    Key::new(
        "rolling",
        Value::List(&Value::Table(&constraints::ROLLING)),
        "Bodies that roll without slipping, slide, or move like a blade on ice.",
    ),
    Key::new(
        "ropes",
        Value::List(&Value::Table(&rope::ROPE)),
        "Ropes, which transmit tension only; controllers and references ignore them.",
    ),
];

/// The keys of a body.
const BODY: [Key; 14] = [
    Key::new(
        "parent",
        Value::Text,
        "The body that carries it. Default \"world\".",
    ),
    Key::new(
        "joint",
        Value::Any(&[Value::Word(&joint::WORDS), Value::Table(&joint::JOINT)]),
        "The joint on its parent: a type, or a table. Default \"free\" if the parent is the world; required otherwise.",
    ),
    Key::new(
        "position",
        VECTOR,
        "Of the joint in the parent's frame, m. Default: the parent's origin.",
    ),
    Key::new(
        "orientation",
        pose::ORIENTATION,
        "Of the joint in the parent's frame. Default: the parent's axes.",
    ),
    mass::MASS,
    mass::DENSITY,
    mass::CENTER_OF_MASS,
    mass::INERTIA,
    mass::INERTIA_ABOUT_ORIGIN,
    mass::SHAPE,
    Key::new(
        "parts",
        Value::List(&Value::Table(&mass::PART)),
        "Instead of mass, inertia and shape: the parts of the body, each at its pose in the body frame. A part with only a `mass` is a point.",
    ),
    Key::new(
        "drag",
        Value::Table(&drag::DRAG),
        "Of its motion through the air. Default: none.",
    ),
    Key::new(
        "contacts",
        Value::List(&Value::Table(&contact::CONTACT)),
        "What touches the ground and other bodies in a simulation. Default: none.",
    ),
    Key::new(
        "visuals",
        Value::List(&Value::Table(&visual::VISUAL)),
        "Its appearance in logs, reports and live views. Default: bars, boxes and drums of its masses and joints.",
    ),
];

/// Reads a whole document.
pub(crate) fn document(text: &str) -> Result<Spanned<DeTable<'_>>, DescriptionError> {
    DeTable::parse(text).map_err(|error| DescriptionError {
        problem: Problem::Syntax(error.message().to_owned()),
        path: String::new(),
        span: error.span().unwrap_or(0..0),
        help: None,
    })
}

/// The system that a table describes, which may be one of a larger document. `span` is the place of the table, `folder` that of files it names.
pub(crate) fn system(
    table: &DeTable<'_>,
    span: Range<usize>,
    folder: Option<&Path>,
) -> Result<System, DescriptionError> {
    let root = Table::root(table, span, folder);
    root.only(&SYSTEM)?;
    let name = root.required("name")?.string()?.to_owned();
    let gravity = match root.get("gravity") {
        Some(entry) => entry.vector()?,
        None => GRAVITY,
    };
    let bodies = Bodies::read(&root)?;
    let mut builder = bodies.add_to(Model::builder().gravity(gravity));
    for table in root.tables("springs")? {
        builder = builder.spring(spring(&table, &bodies.names)?);
    }
    for table in root.tables("dampers")? {
        builder = builder.damper(damper(&table, &bodies.names)?);
    }
    let model = builder.build().map_err(|error| bodies.place(error))?;
    let joints = bodies.joints_of(&model);
    let inputs = inputs(&root, &model, &joints, &bodies.names)?;
    let constraints = constraints::constraints(&root, &model, &joints, &bodies.names)?;
    let quadratic_drag = bodies.quadratic_drag_of(&model);
    let contacts = bodies.contacts_of(&model);
    let servos = servo::servos(&root, &model, &joints, &inputs)?;
    let battery = propulsion::battery(&root, inputs.rotors())?;
    let ropes = rope::ropes(&root, &model, &bodies.names)?;
    let visuals = bodies.visuals_of(&model);
    Ok(System {
        name,
        notes: System::remarks(&model),
        model,
        joints,
        inputs,
        quadratic_drag,
        contacts,
        servos,
        battery,
        loops: constraints.loops,
        couplings: constraints.couplings,
        rolling: constraints.rolling,
        ropes,
        visuals,
    })
}

fn inputs<'a>(
    root: &Table<'a>,
    model: &Model<f64>,
    joints: &[JointData],
    names: &Names<'a>,
) -> Result<Inputs, DescriptionError> {
    let (rotors, carriers) = rotors::rotors(root, names)?;
    let carriers = carriers.into_iter().map(|name| {
        let body = model.body_id(name);
        body.map_err(|error| root.error(Problem::UnknownBody(error.name)))
    });
    let carriers = carriers.collect::<Result<_, _>>()?;
    let motors = motors::motors(root, model, joints)?;
    Inputs::new(model, rotors, carriers, motors).map_err(|error| root.error(error))
}

/// All bodies as they are described, in that order.
struct Bodies<'a> {
    names: Names<'a>,
    entry: Entry<'a>,
    tables: Vec<Table<'a>>,
    read: Vec<(Body<f64>, Described)>,
    quadratic_drag: Vec<(&'a str, QuadraticDrag)>,
    contacts: Vec<(&'a str, contact::Shape)>,
    visuals: Vec<(&'a str, visual::Seen)>,
}

impl<'a> Bodies<'a> {
    fn read(root: &Table<'a>) -> Result<Self, DescriptionError> {
        let entry = root.required("bodies")?;
        let entries = entry.table()?.entries();
        if entries.is_empty() {
            return Err(entry.error(Problem::OutOfRange {
                expected: "at least one body, [bodies.<name>]".to_owned(),
                found: "none".to_owned(),
            }));
        }
        let mut bodies = Self {
            names: Names {
                bodies: entries.iter().map(|(name, _)| *name).collect(),
            },
            entry,
            tables: Vec::new(),
            read: Vec::new(),
            quadratic_drag: Vec::new(),
            contacts: Vec::new(),
            visuals: Vec::new(),
        };
        let mut triangles = 0;
        for (name, entry) in entries {
            let table = entry.table()?;
            if name == "world" {
                return Err(entry.error(ModelError::ReservedName));
            }
            let (mut body, joint) = body(name, &table, &bodies.names)?;
            let quadratic;
            (body.drag, quadratic) = drag::drag(&table)?;
            (bodies.quadratic_drag).extend(quadratic.map(|quadratic| (name, quadratic)));
            for shape in contact::shapes(&table)? {
                bodies.contacts.push((name, shape));
            }
            for seen in visual::visuals(&table, &mut triangles)? {
                bodies.visuals.push((name, seen));
            }
            let mut others = bodies.read.iter();
            if others.any(|(_, other)| other.name == joint.name) {
                let name = joint.name;
                return Err(table
                    .deepest(&["joint", "name"])
                    .error(Problem::DuplicateName {
                        what: "joints",
                        name,
                    }));
            }
            bodies.tables.push(table);
            bodies.read.push((body, joint));
        }
        Ok(bodies)
    }

    fn add_to(&self, mut builder: ModelBuilder<f64>) -> ModelBuilder<f64> {
        for (body, joint) in &self.read {
            if let Some(damping) = joint.damping {
                builder = builder.damper(Damper {
                    a: body.parent.clone(),
                    b: body.name.clone(),
                    damping,
                });
            }
            builder = builder.body(body.clone());
        }
        builder
    }

    /// What is known of the model's joints, in the model's order.
    fn joints_of(&self, model: &Model<f64>) -> Vec<JointData> {
        let data = model.bodies().filter_map(|id| {
            let (_, joint) = (self.read.iter()).find(|(body, _)| body.name == model.name(id))?;
            Some(JointData {
                name: joint.name.clone(),
                limits: joint.limits,
            })
        });
        data.collect()
    }

    /// The quadratic drag of the bodies that have one, in the model's order.
    fn quadratic_drag_of(&self, model: &Model<f64>) -> Vec<(BodyId, QuadraticDrag)> {
        let named = |id: BodyId| {
            let mut all = self.quadratic_drag.iter();
            all.find(|(name, _)| *name == model.name(id))
        };
        (model.bodies())
            .filter_map(|id| Some((id, named(id)?.1)))
            .collect()
    }

    /// The contact shapes of the bodies, in the model's order.
    fn contacts_of(&self, model: &Model<f64>) -> Vec<ContactShape> {
        let of = |body: BodyId| {
            let all = self.contacts.iter();
            let own = all.filter(move |(name, _)| *name == model.name(body));
            own.map(move |(_, (ends, radius))| ContactShape {
                body,
                ends: *ends,
                radius: *radius,
            })
        };
        model.bodies().flat_map(of).collect()
    }

    /// What the bodies look like, in the model's order.
    fn visuals_of(&self, model: &Model<f64>) -> Vec<Visual> {
        let of = |body: BodyId| {
            let all = self.visuals.iter();
            let own = all.filter(move |(name, _)| *name == model.name(body));
            own.map(move |(_, (pose, shape, color))| Visual {
                body,
                pose: *pose,
                shape: shape.clone(),
                color: *color,
            })
        };
        model.bodies().flat_map(of).collect()
    }

    /// The error with its place. Parents that are not there have been found before.
    fn place(&self, error: ModelError) -> DescriptionError {
        let ModelError::Cycle(left) = &error else {
            return self.entry.error(error);
        };
        // What was left includes bodies that only hang on the circle: following parents leads into it.
        let parent = |i: usize| {
            let parent = self.read[i].0.parent.as_str();
            self.names.bodies.iter().position(|name| *name == parent)
        };
        let first = self
            .names
            .bodies
            .iter()
            .position(|name| left.iter().any(|l| l == name));
        let mut way: Vec<usize> = Vec::new();
        let mut next = first;
        while let Some(body) = next {
            if let Some(start) = way.iter().position(|before| *before == body) {
                let circle = &way[start..];
                let names = circle.iter().map(|i| self.read[*i].0.name.clone());
                let error = ModelError::Cycle(names.collect());
                return self.tables[circle[0]].deepest(&["parent"]).error(error);
            }
            way.push(body);
            next = parent(body);
        }
        self.entry.error(error)
    }
}

/// One of `[bodies]`.
fn body<'a>(
    name: &str,
    table: &Table<'a>,
    names: &Names<'a>,
) -> Result<(Body<f64>, Described), DescriptionError> {
    table.only(&BODY)?;
    let parent = match table.get("parent") {
        Some(entry) => names.frame(&entry)?,
        None => "world",
    };
    let joint = match table.get("joint") {
        Some(entry) => joint::joint(&entry, name)?,
        None if parent == "world" => Described::new(Joint::free(), name),
        None => {
            let missing = table.error(Problem::MissingKey("joint".to_owned()));
            let help = "expected the joint on its parent: `joint = \"fixed\"`, `joint = { type = \"revolute\", axis = [0, 0, 1] }`, …";
            return Err(missing.helped(Some(help)));
        }
    };
    if let (true, Some(entry)) = (joint.joint.is_absolute(), table.get("orientation")) {
        let text = "a joint with absolute velocity has the world's axes, whatever its orientation";
        return Err(entry.error(Problem::Keys(text.to_owned())));
    }
    let mut body = Body::new(name, joint.joint)
        .parent(parent)
        .placed(pose::pose(table)?);
    body.inertia = mass::inertia(table)?;
    body.spring = joint.spring;
    Ok((body, joint))
}
