//! The world of a fleet: one description of all bodies and one initial state.

use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

use super::super::decode::hint;
use super::super::diagnostic::{ConfigError, Diagnostic};
use super::super::document::{Document, Fragment};
use super::super::source::SourceSpan;
use super::super::tree::{Entry, Node, Table, Value};
use super::super::vehicle;
use super::member::Read;
use super::name_in_world;

/// The keys of `[world]`: those of a description that bodies without a controller have.
pub const KEYS: &[&str] = &[
    "gravity",
    "bodies",
    "springs",
    "dampers",
    "loops",
    "couplings",
    "rolling",
    "ropes",
];

/// Keys of a description whose values name bodies or joints; `name` is the name of the table's own part.
const REFERENCES: [&str; 5] = ["parent", "body", "from", "to", "joint"];

/// Path of the description, for messages.
const PATH: &str = "world";

/// The world's description, as text and as a system.
pub(super) fn describe(
    fleet: &Document,
    members: &[Read],
) -> Result<(Fragment, System), ConfigError> {
    let place = fleet.place("vehicles");
    let Some(place) = place.or_else(|| fleet.place("flight")) else {
        return Err(Diagnostic::new("no vehicles are described").into());
    };
    let mut all = Table::default();
    set(&mut all, "name", Node::string(fleet.name(), place.clone()));
    let own = fleet.entry(PATH);
    let own = own.map(|entry| &entry.node);
    if let Some(node) = own {
        check_keys(node)?;
    }
    gravity(&mut all, own, members)?;
    for member in members {
        add(&mut all, renamed(member)?)?;
    }
    if let Some(table) = own.and_then(Node::as_table) {
        let mut table = table.clone();
        table.remove("gravity");
        add(&mut all, table)?;
    }
    let text = Fragment::new(PATH, &all, place);
    let system = vehicle::system(&text)?;
    Ok((text, system))
}

/// The gravity of `[world]` or, without it, that of all vehicles.
fn gravity(all: &mut Table, own: Option<&Node>, members: &[Read]) -> Result<(), ConfigError> {
    let given = own
        .and_then(Node::as_table)
        .and_then(|table| table.get("gravity"));
    if let Some(entry) = given {
        all.entries.push(entry.clone());
        return Ok(());
    }
    let Some((first, others)) = members.split_first() else {
        return Ok(());
    };
    let differs = |other: &&Read| other.plant.model.gravity() != first.plant.model.gravity();
    if let Some(other) = others.iter().find(differs) {
        let diagnostic = Diagnostic::new("the vehicles differ in their gravity");
        let label = format!("its gravity is not that of `{}`", first.name);
        return Err(diagnostic
            .at(other.name_place.clone(), label)
            .help("say which holds in the world: `[world]` with `gravity = [0.0, 0.0, -9.81]`")
            .into());
    }
    (all.entries).extend(first.description.get("gravity").cloned());
    Ok(())
}

fn check_keys(node: &Node) -> Result<(), ConfigError> {
    let Some(table) = node.as_table() else {
        let diagnostic = Diagnostic::new("`world` has the wrong type");
        return Err(diagnostic
            .at(node.place.clone(), "expected a table [world]")
            .into());
    };
    let mut entries = table.entries.iter();
    let Some(entry) = entries.find(|entry| !KEYS.contains(&entry.key.as_str())) else {
        return Ok(());
    };
    let diagnostic = Diagnostic::new(format!("unknown key `world.{}`", entry.key)).at(
        entry.key_place.clone(),
        format!("expected one of {}", KEYS.join(", ")),
    );
    let acts = ["rotors", "motors", "battery"].contains(&entry.key.as_str());
    Err(if acts {
        diagnostic
            .help("bodies of the world have no controller: a driven body belongs in [[vehicles]]")
    } else {
        hint(diagnostic, &entry.key, KEYS)
    }
    .into())
}

/// Adds the bodies and lists of one description to another.
fn add(all: &mut Table, description: Table) -> Result<(), ConfigError> {
    for entry in description.entries {
        let Some(base) = all.get_mut(&entry.key) else {
            all.entries.push(entry);
            continue;
        };
        match (&mut base.node.value, entry.node.value) {
            (Value::Table(base), Value::Table(more)) => {
                for body in more.entries {
                    if base.get(&body.key).is_some() {
                        let title = format!("two bodies of the world are named `{}`", body.key);
                        let label = "expected a name that no other body has";
                        return Err(Diagnostic::new(title).at(body.key_place, label).into());
                    }
                    base.entries.push(body);
                }
            }
            (Value::Array(base), Value::Array(more)) => base.extend(more),
            // An array without tables, or something that the description's reader will reject.
            (base, more) => *base = more,
        }
    }
    Ok(())
}

/// The description of a vehicle's plant, with the names that its parts have in the world.
fn renamed(member: &Read) -> Result<Table, ConfigError> {
    let mut table = member.description.clone();
    table.remove("name");
    table.remove("gravity");
    if let Some(entry) = table.get("battery") {
        let title = format!("`{}` has a battery of its own", member.name);
        let label = "expected none: it would supply the motors of all vehicles of the world";
        return Err(Diagnostic::new(title)
            .at(entry.key_place.clone(), label)
            .into());
    }
    let system = &member.plant;
    let bodies = system.model.bodies().map(|body| system.model.name(body));
    let joints = system.joints.iter().map(|joint| joint.name.as_str());
    let names: Vec<&str> = bodies.chain(joints).collect();
    let rename = |name: &str| name_in_world(&member.name, name);
    for entry in &mut table.entries {
        if let ("bodies", Some(bodies)) = (entry.key.as_str(), entry.node.as_table_mut()) {
            for body in &mut bodies.entries {
                body.key = rename(&body.key);
                rename_in(&mut body.node, &names, &rename, true);
            }
        } else {
            rename_in(&mut entry.node, &names, &rename, false);
        }
    }
    Ok(table)
}

/// Renames the parts of a description and its references to them. A body's `joint` is a type, not a reference.
fn rename_in(node: &mut Node, names: &[&str], rename: &impl Fn(&str) -> String, of_body: bool) {
    match &mut node.value {
        Value::Table(table) => {
            for entry in &mut table.entries {
                let text = entry.node.as_string();
                let refers =
                    REFERENCES.contains(&entry.key.as_str()) && !(of_body && entry.key == "joint");
                let new = match text {
                    Some(text) if entry.key == "name" => Some(rename(&text)),
                    Some(text) if refers && names.contains(&text.as_str()) => Some(rename(&text)),
                    Some(_) => None,
                    None => {
                        rename_in(&mut entry.node, names, rename, false);
                        None
                    }
                };
                if let Some(new) = new {
                    entry.node = Node::string(&new, entry.node.place.clone());
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                rename_in(element, names, rename, false);
            }
        }
        Value::Leaf { .. } => {}
    }
}

/// The table of the fleet's backend at this path, with the initial states of all vehicles.
pub(super) fn initial(
    fleet: &Document,
    path: &str,
    members: &[Read],
    world: &System,
) -> Result<Fragment, ConfigError> {
    let node = fleet.node(path);
    let mut table = node.and_then(Node::as_table).cloned().unwrap_or_default();
    let given = fleet.place(path).or_else(|| fleet.place("backend"));
    let Some(place) = given else {
        return Ok(Fragment::empty(path));
    };
    let mut state = (table.remove("initial"))
        .map(|entry| entry.node.into_table())
        .unwrap_or_default();
    let alone = Measurements::tracked(&world.model).map(|body| world.model.name(body));
    for member in members {
        let model = &member.plant.model;
        let tracked = Measurements::tracked(model);
        for entry in &member.initial.entries {
            let mut joints = |key: &str| {
                let to = inner(&mut state, key, &entry.node.place);
                for joint in entry
                    .node
                    .as_table()
                    .iter()
                    .flat_map(|table| &table.entries)
                {
                    let mut joint = joint.clone();
                    joint.key = name_in_world(&member.name, &joint.key);
                    to.entries.push(joint);
                }
            };
            match (entry.key.as_str(), tracked) {
                ("joints" | "joint_velocities", _) => joints(&entry.key),
                (_, Some(body)) => {
                    let name = name_in_world(&member.name, model.name(body));
                    let own = if alone == Some(&name) {
                        &mut state
                    } else {
                        let bodies = inner(&mut state, "bodies", &entry.node.place);
                        inner(bodies, &name, &entry.node.place)
                    };
                    if let Some(other) = own.entries.iter().find(|other| other.key == entry.key) {
                        let key = &entry.key;
                        let title = format!("`initial.{key}` of `{}` is given twice", member.name);
                        let label = format!("expected it in `initial` of `{}` alone", member.name);
                        let diagnostic = Diagnostic::new(title).at(other.key_place.clone(), label);
                        return Err(diagnostic
                            .note(format!("the vehicle has it at {}", entry.key_place))
                            .into());
                    }
                    own.entries.push(entry.clone());
                }
                ("bodies", None) => joints("bodies"),
                (key, None) => {
                    let title = format!("`initial.{key}` of `{}` is not possible", member.name);
                    let label =
                        "expected `joints`: it has no body, or several, that are free in the world";
                    let diagnostic = Diagnostic::new(title);
                    return Err(diagnostic.at(entry.key_place.clone(), label).into());
                }
            }
        }
    }
    if !state.entries.is_empty() {
        set(
            &mut table,
            "initial",
            Node {
                value: Value::Table(state),
                place: place.clone(),
            },
        );
    }
    Ok(Fragment::new(path, &table, place))
}

/// The table at this key; creates it if necessary.
fn inner<'a>(table: &'a mut Table, key: &str, place: &SourceSpan) -> &'a mut Table {
    let is_table = |entry: &Entry| entry.node.as_table().is_some();
    if !table.get(key).is_some_and(is_table) {
        table.remove(key);
        let value = Value::Table(Table::default());
        set(
            table,
            key,
            Node {
                value,
                place: place.clone(),
            },
        );
    }
    let last = table.entries.iter_mut().find(|entry| entry.key == key);
    match last.map(|entry| &mut entry.node.value) {
        Some(Value::Table(inner)) => inner,
        _ => unreachable!("a table of this key is there"),
    }
}

fn set(table: &mut Table, key: &str, node: Node) {
    let key_place = node.place.clone();
    table.entries.push(Entry {
        key: key.to_owned(),
        key_place,
        node,
    });
}
