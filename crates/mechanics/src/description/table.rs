//! From the tables of a description to a system.

use std::ops::Range;

use nalgebra::Vector3;
use toml::Spanned;
use toml::de::DeTable;

use super::constraints;
use super::contact;
use super::drag;
use super::elements::{Names, damper, spring};
use super::joint::{self, Described};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem, mass, motors, pose, propulsion, rope, rotors, servo};
use crate::multibody::{Body, BodyId, Damper, Joint, Model, ModelBuilder, ModelError};
use crate::system::{JointData, System};
use crate::{ContactPoint, Inputs, QuadraticDrag};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Reads a whole document.
pub(crate) fn document(text: &str) -> Result<Spanned<DeTable<'_>>, DescriptionError> {
    DeTable::parse(text).map_err(|error| DescriptionError {
        problem: Problem::Syntax(error.message().to_owned()),
        path: String::new(),
        span: error.span().unwrap_or(0..0),
        help: None,
    })
}

/// The system that a table describes, which may be one of a larger document. `span` is the place of the table.
pub(crate) fn system(table: &DeTable<'_>, span: Range<usize>) -> Result<System, DescriptionError> {
    let root = Table::root(table, span);
    root.only(&[
        "name",
        "gravity",
        "bodies",
        "rotors",
        "motors",
        "battery",
        "springs",
        "dampers",
        "loops",
        "couplings",
        "rolling",
        "ropes",
    ])?;
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
    contacts: Vec<(&'a str, contact::Point)>,
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
        };
        for (name, entry) in entries {
            let table = entry.table()?;
            if name == "world" {
                return Err(entry.error(ModelError::ReservedName));
            }
            let (mut body, joint) = body(name, &table, &bodies.names)?;
            let quadratic;
            (body.drag, quadratic) = drag::drag(&table)?;
            (bodies.quadratic_drag).extend(quadratic.map(|quadratic| (name, quadratic)));
            for point in contact::points(&table)? {
                bodies.contacts.push((name, point));
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

    /// What of the bodies touches the ground, in the model's order.
    fn contacts_of(&self, model: &Model<f64>) -> Vec<ContactPoint> {
        let of = |body: BodyId| {
            let all = self.contacts.iter();
            let own = all.filter(move |(name, _)| *name == model.name(body));
            own.map(move |(_, (position, radius))| ContactPoint {
                body,
                position: *position,
                radius: *radius,
            })
        };
        model.bodies().flat_map(of).collect()
    }

    /// The error with its place. Parents that are not there have been found before.
    fn place(&self, error: ModelError) -> DescriptionError {
        let ModelError::Circle(left) = &error else {
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
                let error = ModelError::Circle(names.collect());
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
    let mut known = vec!["parent", "joint", "position", "orientation"];
    known.extend(mass::KEYS);
    known.extend(["drag", "contacts"]);
    table.only(&known)?;
    let parent = match table.get("parent") {
        Some(entry) => names.frame(&entry)?,
        None => "world",
    };
    let joint = match table.get("joint") {
        Some(entry) => joint::joint(&entry, name)?,
        None if parent == "world" => Described::new(Joint::free(), name),
        None => {
            let missing = table.error(Problem::MissingKey("joint".to_owned()));
            let help = "say how the body moves on its parent: `joint = \"fixed\"`, `joint = { type = \"revolute\", axis = [0, 0, 1] }`, …";
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
