//! One of `[[vehicles]]`: a configuration and the fleet's changes to it.

use fly_mechanics::System;

use super::super::configuration::Configuration;
use super::super::decode::hint;
use super::super::diagnostic::{ConfigError, Diagnostic};
use super::super::document::{Document, Fragment, write_out};
use super::super::sections::FlightSection;
use super::super::source::SourceSpan;
use super::super::tree::{Entry, Node, Table, Value};
use super::super::{locate, set, urdf, vehicle};
use super::{Member, names};

/// Its keys.
const KEYS: &[&str] = &{
    let [vehicle, controller, reference, safety] = SECTIONS;
    [
        "name", "config", "initial", vehicle, controller, reference, safety,
    ]
};

/// Sections of the vehicle's file that the fleet can change.
pub const SECTIONS: [&str; 4] = ["vehicle", "controller", "reference", "safety"];

/// Keys of a backend's table that belong to a vehicle; the second one holds the initial state.
const OWN: [&str; 2] = ["vehicle", "initial"];
/// Keys of the initial state that belong to a vehicle.
pub const INITIAL: [&str; 6] = [
    "position",
    "attitude",
    "velocity",
    "angular_velocity",
    "joints",
    "joint_velocities",
];

/// Keys of the fleet's table that refer to commands and bodies of the whole world.
const OF_THE_WORLD: [&str; 4] = ["initial", "faults", "actuators", "body"];

/// A vehicle that has been read.
pub(super) struct Read {
    pub name: String,
    pub name_place: SourceSpan,
    pub configuration: Configuration,
    pub plant: System,
    /// The plant's description, as written.
    pub description: Table,
    /// The initial state, as written.
    pub initial: Table,
}

impl Read {
    pub fn into_member(self) -> Member {
        Member {
            name: self.name,
            configuration: self.configuration,
            plant: self.plant,
        }
    }
}

/// Reads one vehicle; `path` is the path of the fleet backend's table.
pub(super) fn read(fleet: &Document, node: &Node, path: &str) -> Result<Read, ConfigError> {
    let Some(keys) = node.as_table() else {
        let diagnostic = Diagnostic::new("an element of `vehicles` has the wrong type");
        let label = "expected a table with `name` and `config`";
        return Err(diagnostic.at(node.place.clone(), label).into());
    };
    check_keys(keys)?;
    let (name, name_place) = string(node, keys, "name")?;
    if !names::is_name(&name) {
        let label = "expected letters, digits, `-` and `_`, and not a number";
        let diagnostic = Diagnostic::new(format!("`{name}` is not the name of a vehicle"));
        return Err(diagnostic.at(name_place, label).into());
    }
    let (file, file_place) = string(node, keys, "config")?;
    let source = urdf::as_toml(locate::flight(&file, &file_place)?, None)?;
    let mut root = Node::parse(&source)?;
    write_out(&mut root);
    let mut changes = Node {
        value: Value::Table(Table {
            entries: (keys.entries.iter())
                .filter(|entry| SECTIONS.contains(&entry.key.as_str()))
                .cloned()
                .collect(),
        }),
        place: node.place.clone(),
    };
    write_out(&mut changes);
    set::merge(&mut root, changes)?;
    tell_lost(fleet, &root, &name)?;
    let initial = put_into(fleet, &mut root, &name, keys.get("initial"), path);

    let own_name = format!("{}-{name}", fleet.name());
    let document = Document::resolved(root, own_name, fleet.allows_plugin())?;
    let own_plant = document.node(&format!("{path}.vehicle"));
    let described = own_plant.or_else(|| document.node("vehicle"));
    let described = described.and_then(|node| Some((node.as_table()?, &node.place)));
    let description = described
        .map(|(table, _)| table.clone())
        .unwrap_or_default();
    let plant = match (own_plant, described) {
        (Some(_), Some((table, place))) => {
            let fragment = Fragment::new(&format!("{path}.vehicle"), table, place.clone());
            Some(vehicle::system(&fragment)?)
        }
        _ => None,
    };
    let configuration = Configuration::read(document)?;
    Ok(Read {
        plant: plant.unwrap_or_else(|| configuration.system.clone()),
        name,
        name_place,
        configuration,
        description,
        initial,
    })
}

/// Reports what the vehicle's file says of `[flight]` other than the fleet does.
fn tell_lost(fleet: &Document, root: &Node, name: &str) -> Result<(), ConfigError> {
    let flight = root.as_table().and_then(|table| table.get("flight"));
    let only = Node {
        value: Value::Table(Table {
            entries: flight.cloned().into_iter().collect(),
        }),
        place: root.place.clone(),
    };
    let own = FlightSection::read(&Document::resolved(only, name.to_owned(), false)?)?;
    let all = FlightSection::read(fleet)?;
    let lost = [
        ("rate_hz", own.rate_hz.to_bits() != all.rate_hz.to_bits()),
        ("relative", own.relative != all.relative),
    ];
    let lost = lost.into_iter().filter(|(_, differs)| *differs);
    ignored(name, "flight", lost.map(|(key, _)| key));
    Ok(())
}

/// Inserts the fleet's `[flight]` and `[backend]` into a configuration, and the vehicle's keys of its own backend.
/// Returns the initial state.
fn put_into(
    fleet: &Document,
    root: &mut Node,
    name: &str,
    initial: Option<&Entry>,
    table: &str,
) -> Table {
    let key = table.rsplit('.').next().unwrap_or(table);
    let place = root.place.clone();
    let Some(root) = root.as_table_mut() else {
        return Table::default();
    };
    root.remove("flight");
    root.entries
        .extend(fleet.entry("flight").cloned().map(|mut flight| {
            if let Some(table) = flight.node.as_table_mut() {
                table.remove("log");
            }
            flight
        }));
    let mut own = root.remove("backend").and_then(|backend| {
        let mut backends = backend.node.into_table();
        Some(backends.remove(key)?.node.into_table())
    });
    let mut state = Table::default();
    let mut all = fleet
        .node(table)
        .and_then(Node::as_table)
        .cloned()
        .unwrap_or_default();
    all.entries
        .retain(|entry| !OF_THE_WORLD.contains(&entry.key.as_str()));
    if let Some(own) = &mut own {
        let (kept, others): (Vec<_>, Vec<_>) =
            (own.entries.drain(..)).partition(|entry| OWN.contains(&entry.key.as_str()));
        ignored(name, table, others.iter().map(|entry| entry.key.as_str()));
        for entry in kept {
            if entry.key == "initial" {
                state = entry.node.into_table();
            } else {
                all.entries.push(entry);
            }
        }
    }
    if let Some(given) = initial.and_then(|entry| entry.node.as_table()) {
        state = given.clone();
    } else {
        let (kept, others): (Vec<_>, Vec<_>) =
            (state.entries.drain(..)).partition(|entry| INITIAL.contains(&entry.key.as_str()));
        let path = format!("{table}.initial");
        ignored(name, &path, others.iter().map(|entry| entry.key.as_str()));
        state.entries = kept;
    }
    let place = initial.map_or(place, |entry| entry.node.place.clone());
    let table_of = |key: &str, table: Table, place: &SourceSpan| Entry {
        key: key.to_owned(),
        key_place: place.clone(),
        node: Node {
            value: Value::Table(table),
            place: place.clone(),
        },
    };
    if !state.entries.is_empty() {
        all.entries.push(table_of("initial", state.clone(), &place));
    }
    if let Some(backend) = fleet.entry("backend") {
        let plugin = backend
            .node
            .as_table()
            .and_then(|table| table.get("plugin"));
        let mut backends = Table {
            entries: plugin.cloned().into_iter().collect(),
        };
        backends
            .entries
            .push(table_of(key, all, &backend.node.place));
        let mut backend = backend.clone();
        backend.node.value = Value::Table(backends);
        root.entries.push(backend);
    }
    state
}

/// Reports the keys of a vehicle's file that have no effect.
fn ignored<'a>(name: &str, path: &str, keys: impl Iterator<Item = &'a str>) {
    let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
    if !keys.is_empty() {
        tracing::warn!(
            "`{name}`: {} of `{path}` in its file have no effect: the fleet's `{path}` holds for all",
            keys.join(", ")
        );
    }
}

fn check_keys(keys: &Table) -> Result<(), ConfigError> {
    let mut all = keys.entries.iter();
    let Some(entry) = all.find(|entry| !KEYS.contains(&entry.key.as_str())) else {
        return Ok(());
    };
    let diagnostic = Diagnostic::new(format!("unknown key `{}` of a vehicle", entry.key)).at(
        entry.key_place.clone(),
        format!("expected one of {}", KEYS.join(", ")),
    );
    Err(hint(diagnostic, &entry.key, KEYS).into())
}

/// The string of a required key, and its place.
fn string(node: &Node, keys: &Table, key: &str) -> Result<(String, SourceSpan), ConfigError> {
    let Some(entry) = keys.get(key) else {
        let diagnostic = Diagnostic::new(format!("a vehicle has no `{key}`"));
        let label = "expected a table with `name` and `config`";
        return Err(diagnostic.at(node.place.clone(), label).into());
    };
    let place = entry.node.place.clone();
    match entry.node.as_string() {
        Some(text) => Ok((text, place)),
        None => Err(Diagnostic::new(format!("`{key}` has the wrong type"))
            .at(place, "expected a string")
            .into()),
    }
}

/// Rejects two vehicles with the same name.
pub(super) fn check(members: &[Read]) -> Result<(), ConfigError> {
    for (index, member) in members.iter().enumerate() {
        let twin = |other: &Read| other.name == member.name;
        if members[..index].iter().any(twin) {
            let label = "expected a name that no other vehicle has";
            return Err(
                Diagnostic::new(format!("two vehicles are named `{}`", member.name))
                    .at(member.name_place.clone(), label)
                    .into(),
            );
        }
        let document = &member.configuration.document;
        if member.configuration.estimator.is_some() {
            let place = document.place("estimator");
            let title = format!("`[estimator]` of `{}` is not possible", member.name);
            let label = "expected none: each of several vehicles measures its own state";
            let diagnostic = Diagnostic::new(title).help(format!(
                "let `{}` fly by its measured state: name a configuration without `[estimator]`",
                member.name
            ));
            let place = place.unwrap_or_else(|| member.name_place.clone());
            return Err(diagnostic.at(place, label).into());
        }
    }
    Ok(())
}
