//! Readers and schemas know the same keys. An unknown key is written to every table that a schema knows; the keys that
//! the reader then expects must be those of the schema.

use std::collections::{BTreeMap, BTreeSet};

use fly_flight::config::{
    ConfigError, Configuration, Document, FleetConfiguration, Options, shipped,
};
use fly_hal::Backend;
use fly_mechanics::System;
use fly_sweep::{Plan, PlanOptions};
use serde_json::Value;
use toml::Table;

use crate::shipped::schema_of;

/// An unknown key.
const NOBODY: &str = "zzzzzzzz";

/// Keys that are read to say that they have another name now.
const RENAMED: [&str; 1] = ["projection_weight"];

/// Keys by the tables of the schema that they are in.
type Keys = BTreeMap<String, BTreeSet<String>>;

/// What a reader says of a text, if it does not like it.
type Reader = fn(&str) -> Option<String>;

struct Walk<'a> {
    schema: &'a Value,
    read: Reader,
    /// What the schema has, and what readers have said that they expect.
    schemas: Keys,
    readers: Keys,
}

impl<'a> Walk<'a> {
    fn new(schema: &'a Value, read: Reader) -> Self {
        Self {
            schema,
            read,
            schemas: Keys::new(),
            readers: Keys::new(),
        }
    }

    /// The tables that may stand where this schema is.
    fn tables(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return self.tables(&self.schema["definitions"][name]);
        }
        let inner: Vec<&Value> = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| schema[*key].as_array())
            .flatten()
            .collect();
        if inner.is_empty() {
            return vec![schema];
        }
        inner
            .into_iter()
            .flat_map(|schema| self.tables(schema))
            .collect()
    }

    /// Looks at the table at a path of the document, and at all that may stand in it.
    fn look(&mut self, document: &Table, path: &[String], schema: &'a Value, place: &str) {
        let kind =
            at(document, path).and_then(|table| table.get("kind")?.as_str().map(str::to_owned));
        for table in self.tables(schema) {
            let of = |key: &str| table["properties"][key]["const"].as_str();
            let right = of("kind").is_none_or(|own| Some(own) == kind.as_deref());
            let here = at(document, path).is_some() && right;
            if let (Some(properties), true) = (table["properties"].as_object(), here) {
                let place = match of("kind") {
                    Some(kind) => format!("{place} {kind}"),
                    None => place.to_owned(),
                };
                self.table(document, path, properties, &place);
            }
            if table["additionalProperties"].is_object() && table["properties"].is_null() {
                let names: Vec<String> = at(document, path)
                    .into_iter()
                    .flat_map(|table| table.keys().cloned())
                    .collect();
                for name in names {
                    let inner = [path, &[name]].concat();
                    if at(document, &inner).is_some() {
                        self.look(
                            document,
                            &inner,
                            &table["additionalProperties"],
                            &format!("{place}.NAME"),
                        );
                    }
                }
            }
            if table["items"].is_object() {
                let first = [path, &["0".to_owned()]].concat();
                if at(document, &first).is_some() {
                    self.look(document, &first, &table["items"], &format!("{place}[]"));
                }
            }
        }
    }

    fn table(
        &mut self,
        document: &Table,
        path: &[String],
        properties: &'a serde_json::Map<String, Value>,
        place: &str,
    ) {
        let own = self.schemas.entry(place.to_owned()).or_default();
        own.extend(properties.keys().cloned());
        let mut wrong = document.clone();
        if let Some(table) = at_mut(&mut wrong, path) {
            table.insert(NOBODY.to_owned(), toml::Value::Integer(1));
        }
        let told = (self.read)(&toml::to_string(&wrong).unwrap());
        let told =
            told.unwrap_or_else(|| panic!("{place}: an unknown key was read without a word"));
        if let Some(expected) = expected(&told) {
            let readers = self.readers.entry(place.to_owned()).or_default();
            readers.extend(expected);
        }
        for (key, schema) in properties {
            let mut inner = document.clone();
            let below = [path, std::slice::from_ref(key)].concat();
            let table = at_mut(&mut inner, path).unwrap();
            if !matches!(
                table.get(key),
                Some(toml::Value::Table(_) | toml::Value::Array(_))
            ) {
                if place.matches('.').count() > 6 {
                    continue;
                }
                // A table of nothing, where one may stand.
                let forms = self.tables(schema);
                if let Some(form) = forms.iter().find(|form| form["properties"].is_object()) {
                    let mut empty = Table::new();
                    if let Some(kind) = form["properties"]["kind"]["const"].as_str() {
                        empty.insert("kind".to_owned(), kind.into());
                    }
                    table.insert(key.clone(), toml::Value::Table(empty));
                } else if let Some(form) = forms.iter().find(|form| form["items"].is_object()) {
                    if self
                        .tables(&form["items"])
                        .iter()
                        .all(|form| form["properties"].is_null())
                    {
                        continue;
                    }
                    table.insert(
                        key.clone(),
                        toml::Value::Array(vec![toml::Value::Table(Table::new())]),
                    );
                } else {
                    continue;
                }
            }
            self.look(&inner, &below, schema, &format!("{place}.{key}"));
        }
    }

    /// Fails where the two differ; `partial` are tables whose readers expect only some keys at a time.
    fn compare(&self) {
        for (place, schema) in &self.schemas {
            let Some(reader) = self.readers.get(place) else {
                continue;
            };
            let known = reader.iter().filter(|key| !RENAMED.contains(&key.as_str()));
            let mut reader: BTreeSet<String> = known.cloned().collect();
            // Where there are kinds, theirs are read after these.
            let first = ["kind", "tolerance"]
                .iter()
                .filter(|key| schema.contains("kind") && schema.contains(**key));
            reader.extend(first.map(|key| (*key).to_owned()));
            let reader = &reader;
            assert_eq!(
                reader, schema,
                "`{place}`: what the reader expects, and what the schema has"
            );
        }
        // Those that complained of something else first are few.
        let silent: Vec<&String> = self
            .schemas
            .keys()
            .filter(|place| !self.readers.contains_key(*place))
            .collect();
        println!(
            "{} tables compared; not reached: {silent:#?}",
            self.readers.len()
        );
        assert!(silent.len() * 5 < self.schemas.len(), "{silent:#?}");
    }
}

/// The keys listed in a message about the unknown key.
fn expected(told: &str) -> Option<Vec<String>> {
    let (_, after) = told.split_once(&format!("{NOBODY}`"))?;
    let (_, after) = after.split_once("expected ")?;
    let line = after.lines().next()?;
    let line = line
        .trim_start_matches("one of the sections ")
        .trim_start_matches("one of ");
    if line.contains('`') {
        return Some(
            line.split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect(),
        );
    }
    Some(line.split(", ").map(|key| key.trim().to_owned()).collect())
}

fn at<'a>(document: &'a Table, path: &[String]) -> Option<&'a Table> {
    let Some((first, rest)) = path.split_first() else {
        return Some(document);
    };
    let mut value = document.get(first)?;
    for part in rest {
        value = match value {
            toml::Value::Table(table) => table.get(part)?,
            toml::Value::Array(elements) => elements.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    value.as_table()
}

fn at_mut<'a>(document: &'a mut Table, path: &[String]) -> Option<&'a mut Table> {
    let Some((first, rest)) = path.split_first() else {
        return Some(document);
    };
    let mut value = document.get_mut(first)?;
    for part in rest {
        value = match value {
            toml::Value::Table(table) => table.get_mut(part)?,
            toml::Value::Array(elements) => elements.get_mut(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    value.as_table_mut()
}

fn schema(name: &str) -> Value {
    let all = fly_schema::all();
    all.into_iter()
        .find(|(other, ..)| *other == name)
        .unwrap()
        .2
}

#[test]
fn the_reader_of_descriptions_knows_the_keys_of_the_schema() {
    let schema = schema("system");
    let mut walk = Walk::new(&schema, |text| {
        System::from_toml(text).err().map(|error| error.to_string())
    });
    for shipped in shipped::systems() {
        walk.look(&shipped.text.parse().unwrap(), &[], &schema, "system");
    }
    // Some keys go with others alone: all that readers have ever expected counts.
    let mut document: Table = EVERYTHING.parse().unwrap();
    walk.look(&document, &[], &schema, "system");
    // Of arrays the first element is looked at.
    for key in ["rotors", "rolling"] {
        while let Some(toml::Value::Array(elements)) = document
            .get_mut(key)
            .filter(|all| all.as_array().is_some_and(|all| all.len() > 1))
        {
            elements.remove(0);
            walk.look(&document, &[], &schema, "system");
        }
    }
    walk.compare();
}

/// Parts of a description that no shipped one has.
const EVERYTHING: &str = r#"
name = "all"
[bodies]
a = { joint = "free", mass = 1, inertia = [1, 1, 1] }
b = { parent = "a", joint = { type = "screw", axis = [0, 0, 1], lead = 1 }, parts = [{ mass = 1 }] }
c = { parent = "a", joint = { type = "universal", axis = [0, 0, 1], second_axis = [1, 0, 0] }, shape = { sphere = { radius = 1 } }, mass = 1 }
d = { parent = "a", joint = { type = "spherical" }, shape = { cylinder = { radius = 1, height = 1 } }, mass = 1 }
e = { parent = "a", joint = { type = "cylindrical", axis = [0, 0, 1] }, mass = 1, inertia = [1, 1, 1] }
f = { parent = "a", joint = { type = "revolute", axis = [0, 0, 1] }, mass = 1, inertia = [1, 1, 1] }
[[rotors]]
body = "a"
position = [0, 0, 0]
axis = [0, 0, 1]
thrust = [0, 1]
thrust_coefficient = 1e-5
drag_ratio = 0.01
motor = { kv_rpm = 1000, resistance = 0.1, inertia = 1e-5 }
[[rotors]]
body = "a"
position = [1, 0, 0]
axis = [0, 0, 1]
thrust = [0, 1]
thrust_coefficient = 1e-5
drag_ratio = 0.01
motor = { time_constant = 0.1 }
[[loops]]
to = "b"
type = "distance"
length = 1
[[rolling]]
to = "c"
type = "disc"
radius = 1
[[rolling]]
to = "c"
type = "ellipsoid"
semi_axes = [1, 1, 1]
[[rolling]]
to = "c"
type = "blade"
"#;

/// What a configuration's sections say. A text has no path, so that nothing is included.
fn flight(text: &str) -> Option<String> {
    let error = Configuration::from_toml("flight", text).err()?;
    Some(told(&error))
}

fn told(error: &ConfigError) -> String {
    let told = error
        .diagnostics()
        .iter()
        .map(|one| format!("{}\n{}\n{}\n", one.title, one.label, one.notes.join("\n")));
    told.collect()
}

/// A file of this text.
fn file(name: &str, text: &str) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_readers_of_flights_know_the_keys_of_the_schema() {
    let mut schema = schema("flight");
    // `vehicle` is read as a description, which has its test, `backend` by its plugin, `serve` by the command.
    for key in ["vehicle", "backend", "serve"] {
        schema["properties"][key] = Value::Bool(true);
    }
    let mut walk = Walk::new(&schema, flight);
    for shipped in shipped::flights().filter(|one| schema_of(one) == "flight") {
        let mut document: Table = shipped.text.parse().unwrap();
        if let Some(file) = document["vehicle"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| document["vehicle"].get("file")?.as_str().map(str::to_owned))
        {
            let name = file.trim_start_matches("../");
            document.insert(
                "vehicle".to_owned(),
                toml::Value::Table(shipped::find(name).unwrap().text.parse().unwrap()),
            );
        }
        walk.look(&document, &[], &schema, "flight");
    }
    walk.compare();
}

fn vehicle() -> &'static str {
    shipped::find("vehicles/quadcopter.toml").unwrap().text
}

#[test]
fn plugins_know_the_keys_of_the_schema() {
    fn sim(text: &str) -> Option<String> {
        let error =
            fly_plugin_sim::Simulation::configure(&fly_hal::Configuration::new(text, vehicle()))
                .err()?;
        Some(error.message)
    }
    fn replay(text: &str) -> Option<String> {
        let configuration = fly_hal::Configuration::new(text, vehicle());
        let settings = configuration.settings::<fly_schema::replay::Settings>();
        settings.err().map(|error| error.message)
    }
    fn serve(text: &str) -> Option<String> {
        toml::from_str::<fly_mavlink::hil::ServeSettings>(text)
            .err()
            .map(|error| error.message().to_owned())
    }
    let mut whole = schema("flight");
    let sim_schema = &mut whole["properties"]["backend"]["properties"]["sim"];
    // A description.
    sim_schema["properties"]["vehicle"] = Value::Bool(true);
    let backend = whole["properties"]["backend"]["properties"].clone();
    let faults = "[[faults]]\nkind = 'missing'\nfrom = 0\nuntil = 1\n[wind]\nvelocity = [0, 0, 0]\n[ground]\nheight = 0";
    for (name, place, read, text) in [
        ("sim", &backend["sim"], sim as Reader, ""),
        ("sim", &backend["sim"], sim, faults),
        ("replay", &backend["replay"], replay, ""),
        ("serve", &whole["properties"]["serve"], serve, ""),
    ] {
        let mut walk = Walk::new(&whole, read);
        walk.look(&text.parse().unwrap(), &[], place, name);
        walk.compare();
    }
}

#[test]
fn the_reader_of_fleets_knows_the_keys_of_the_schema() {
    fn fleet(text: &str) -> Option<String> {
        let options = Options {
            config: file("fleet.toml", text),
            ..Options::default()
        };
        let document = Document::load(&options);
        document
            .and_then(FleetConfiguration::read)
            .err()
            .map(|error| told(&error))
    }
    let mut schema = schema("fleet");
    let anything = |schema: &mut Value| *schema = Value::Bool(true);
    // Read as the sections of a flight, and as descriptions.
    for key in ["flight", "backend"] {
        anything(&mut schema["properties"][key]);
    }
    for key in ["vehicle", "controller", "reference", "safety", "initial"] {
        anything(&mut schema["properties"]["vehicles"]["items"]["properties"][key]);
    }
    for schema in schema["properties"]["world"]["properties"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        anything(schema);
    }
    let mut walk = Walk::new(&schema, fleet);
    let text = shipped::find("fleets/carried-load.toml")
        .unwrap()
        .text
        .replace("../", "");
    walk.look(&text.parse().unwrap(), &[], &schema, "fleet");
    walk.compare();
    assert_eq!(walk.readers.len(), 3, "the fleet, a vehicle, the world");
}

#[test]
fn the_reader_of_plans_knows_the_keys_of_the_schema() {
    fn plan(text: &str) -> Option<String> {
        let options = PlanOptions {
            file: Some(file("plan.toml", text)),
            ..PlanOptions::default()
        };
        Plan::read(&options).err().map(|error| told(&error))
    }
    let schema = schema("sweep");
    let text = shipped::find("sweeps/quadcopter.toml").unwrap().text;
    let wrong = plan(&format!("{NOBODY} = 1\n{text}")).unwrap();
    let known: BTreeSet<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        expected(&wrong)
            .unwrap()
            .into_iter()
            .collect::<BTreeSet<_>>(),
        known
    );

    let wrong = plan("config = 'quadcopter'\n[vary]\n'flight.seed' = 1").unwrap();
    let (_, list) = wrong.split_once("a table with one of ").unwrap();
    let list: BTreeSet<&str> = list.split_once(", found").unwrap().0.split(", ").collect();
    let forms = schema["definitions"]["Variation"]["anyOf"]
        .as_array()
        .unwrap();
    let forms: BTreeSet<&str> = forms
        .iter()
        .filter_map(|form| form["required"][0].as_str())
        .collect();
    assert_eq!(list, forms);
}
