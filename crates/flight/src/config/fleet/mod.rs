//! Several vehicles in one world: `[[vehicles]]`, each from its own configuration, and `[world]`, the bodies that are
//! not controlled.

mod member;
mod names;
mod world;

use std::sync::Arc;

use fly_mechanics::System;

use super::configuration::Configuration;
use super::decode::hint;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Fragment, Options};
use super::sections::{BackendSection, FlightSection};
use super::tree::{Node, Value};

#[cfg(feature = "schema")]
pub use member::{INITIAL, SECTIONS as CHANGED};
pub use names::{SEPARATOR, name_in_world};
#[cfg(feature = "schema")]
pub use world::KEYS as WORLD;

/// The names of the sections.
const SECTIONS: &[&str] = &["flight", "vehicles", "world", "backend"];

/// Several vehicles in one simulated world, with every key checked.
///
/// ```toml
/// flight = { duration = 10.0 }
///
/// [[vehicles]]
/// name = "left"
/// config = "quadcopter.toml"                 # its vehicle, controller, reference and safety
/// initial = { position = [0, 1, 0] }         # else as in that file
/// reference = { position = [0, 1, 0] }       # sections of that file, changed
///
/// [world]                                    # what nobody controls, as in the description of a system
/// [world.bodies.load]                        # bodies of vehicles are `left/airframe`
/// mass = 0.2
/// inertia = [1e-3, 1e-3, 1e-3]
///
/// [backend]
/// plugin = "sim"
/// ```
#[derive(Clone, Debug)]
pub struct FleetConfiguration {
    /// The text it was read from, with the origin of every byte.
    pub document: Arc<Document>,
    /// `[flight]`, for all vehicles; its duration is required.
    pub flight: FlightSection,
    /// `[[vehicles]]`, in the order of the file.
    pub vehicles: Vec<Member>,
    /// The world's description: the bodies of all vehicles, named by [`name_in_world`], and those of `[world]`.
    pub world_text: Fragment,
    /// The world as a system.
    pub world: System,
    /// `[backend]`, and the plugin's table with the initial state of all vehicles.
    pub backend: BackendSection,
}

/// One of `[[vehicles]]`.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its unique name.
    pub name: String,
    /// The configuration as for a flight alone: its file, the fleet's changes, the fleet's `[flight]` and `[backend]`,
    /// and its initial state.
    pub configuration: Configuration,
    /// The simulated plant: its vehicle, or the `vehicle` of its file's backend.
    pub plant: System,
}

/// # Reading
impl FleetConfiguration {
    /// Whether a document describes several vehicles.
    pub fn is_fleet(document: &Document) -> bool {
        document.entry("vehicles").is_some()
    }

    /// Reads and checks the configuration that the command line names.
    ///
    /// # Errors
    /// All problems found, with their places.
    pub fn load(options: &Options) -> Result<Self, ConfigError> {
        Self::read(Document::load(options)?)
    }

    /// Reads and checks a configuration in TOML. `name` identifies it in messages, summary and logs. Files are found
    /// relative to the current folder, then among the shipped ones.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ConfigError> {
        Self::read(Document::from_toml(name, text)?)
    }

    /// Reads and checks a document.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn read(document: Document) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        check_names(&document, &mut problems);
        let flight = problems.take(read_flight(&document));
        let backend = problems.take(BackendSection::read(&document));
        problems.finish()?;
        refuse_replay(&document, backend.as_ref())?;
        let (Some(flight), Some(mut backend)) = (flight, backend) else {
            return Err(Diagnostic::new("the configuration could not be read").into());
        };
        let table = backend.table.path().to_owned();
        refuse_sensors(&document, &backend)?;
        let mut problems = Problems::default();
        let read: Vec<_> = elements(&document)?
            .iter()
            .filter_map(|node| problems.take(member::read(&document, node, &table)))
            .collect();
        problems.finish()?;
        member::check(&read)?;
        let (world_text, world) = world::describe(&document, &read)?;
        backend.table = world::initial(&document, &table, &read, &world)?;
        Ok(Self {
            document: Arc::new(document),
            flight,
            vehicles: read.into_iter().map(member::Read::into_member).collect(),
            world_text,
            world,
            backend,
        })
    }
}

/// Refuses to replay all at once: a recording is of one vehicle.
fn refuse_replay(document: &Document, backend: Option<&BackendSection>) -> Result<(), ConfigError> {
    if backend.is_none_or(|backend| backend.plugin != "replay") {
        return Ok(());
    }
    let diagnostic = Diagnostic::new("several vehicles cannot be replayed at once");
    let diagnostic = match document.place("backend.plugin") {
        Some(place) => diagnostic.at(place, "expected a backend that simulates"),
        None => diagnostic,
    };
    Err(diagnostic
        .note("each vehicle has a log of its own, beside that of the world: FLIGHT-NAME.mcap")
        .help(
            "replay one vehicle with the file that its `config` names, and with --set what `[[vehicles]]` changes in it: \
             fly --config VEHICLE.toml --backend replay --set backend.replay.log=FLIGHT-NAME.mcap",
        )
        .into())
}

/// Refuses what belongs to one tracked body: each vehicle measures its own state.
fn refuse_sensors(document: &Document, backend: &BackendSection) -> Result<(), ConfigError> {
    if backend.plugin != "sim" {
        return Ok(());
    }
    for key in ["body", "sensors"] {
        let path = format!("{}.{key}", backend.table.path());
        if let Some(place) = document.place(&path) {
            let diagnostic =
                Diagnostic::new(format!("`{path}` is not possible with several vehicles"));
            let label = "it belongs to one vehicle, and each of these measures its own state";
            return Err(diagnostic.at(place, label).help("remove it").into());
        }
    }
    Ok(())
}

/// `[flight]`, which sets the duration for all vehicles.
fn read_flight(document: &Document) -> Result<FlightSection, ConfigError> {
    let flight = FlightSection::read(document)?;
    if flight.duration.is_none() {
        return Err(Diagnostic::new("`flight.duration` is missing")
            .note("several vehicles fly for one time")
            .help("add `[flight]` with `duration = 10.0`, in s")
            .into());
    }
    Ok(flight)
}

/// The elements of `[[vehicles]]`.
fn elements(document: &Document) -> Result<&[Node], ConfigError> {
    let node = document.node("vehicles");
    if let Some(Value::Array(elements)) = node.map(|node| &node.value) {
        return Ok(elements);
    }
    let expected = "expected an array of tables, [[vehicles]], each with `name` and `config`";
    let diagnostic = Diagnostic::new("`vehicles` has the wrong type");
    Err(match node {
        Some(node) => diagnostic.at(node.place.clone(), expected),
        None => diagnostic.note(expected),
    }
    .into())
}

/// Reports unknown sections.
fn check_names(document: &Document, problems: &mut Problems) {
    for entry in &document.root_table().entries {
        if SECTIONS.contains(&entry.key.as_str()) {
            continue;
        }
        let known = ["vehicle", "controller", "reference", "safety"].contains(&entry.key.as_str());
        let diagnostic = Diagnostic::new(format!("unknown key `{}`", entry.key)).at(
            entry.key_place.clone(),
            format!("expected one of the sections {}", SECTIONS.join(", ")),
        );
        problems.push(if known {
            diagnostic.help("of several vehicles each has its own: it stands in its `[[vehicles]]`")
        } else {
            hint(diagnostic, &entry.key, SECTIONS)
        });
    }
}
