//! One resolved configuration: file, included vehicles and flags, merged, with the origin of every byte.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::assignment::Assignment;
use super::canonical::{self, SourceMap};
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::given::Given;
use super::source::{Origin, Source, SourceSpan};
use super::tree::{Entry, Node, Table, Value};
use super::{locate, mesh, set, urdf};

/// How deep vehicle files may include each other; more is treated as a cycle.
const MAX_INCLUDE_DEPTH: usize = 8;

/// The command line's part of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--config`.
    pub config: PathBuf,
    /// `--backend`, the same as `--set backend.plugin=…`.
    pub backend: Option<String>,
    /// Every `--set`, in order.
    pub set: Vec<String>,
    /// Values that other options give, in order, after those of `--set`.
    pub given: Vec<Given>,
    /// `--allow-plugin`: a file may name a plugin by path, whose code then runs.
    pub allow_plugin: bool,
}

/// The whole configuration as one TOML text.
///
/// The text is canonical: no comments, includes and flags resolved, values as they were written. A log contains it, so
/// that a flight can be repeated from its log alone.
#[derive(Clone, Debug)]
pub struct Document {
    root: Table,
    text: String,
    name: String,
    allow_plugin: bool,
}

/// A configuration as it was written, before vehicles are included. It is read once, and builds a [`Document`] for each
/// set of values. Each vehicle file is read when a document first names it, and not again.
#[derive(Clone, Debug)]
pub struct Template {
    root: Node,
    name: String,
    allow_plugin: bool,
    included: Included,
}

impl Template {
    /// Reads the configuration and merges flags.
    ///
    /// # Errors
    /// Anything that cannot be found, read or parsed, with its place.
    pub fn load(options: &Options) -> Result<Self, ConfigError> {
        let source = urdf::as_toml(locate::configuration(&options.config)?, None)?;
        Self::build(&source, options)
    }

    /// The same, for text that has been read already.
    fn build(source: &Arc<Source>, options: &Options) -> Result<Self, ConfigError> {
        let mut root = Node::parse(source)?;
        let mut problems = Problems::default();
        if let Some(backend) = &options.backend {
            root.overlay(set::backend(backend))?;
        }
        let overs = (options.set.iter().map(|assignment| set::set(assignment)))
            .chain(options.given.iter().map(set::given));
        for over in overs {
            write_out(&mut root);
            let notes = over.and_then(|mut over| {
                set::by_name(&root, &mut over)?;
                set::merge(&mut root, over)
            });
            for note in problems
                .take(notes.map_err(ConfigError::from))
                .into_iter()
                .flatten()
            {
                tracing::warn!("{note}");
            }
        }
        problems.finish()?;
        write_out(&mut root);
        let name = options
            .config
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self {
            root,
            name,
            allow_plugin: options.allow_plugin,
            included: Included::default(),
        })
    }

    /// The document with these values set, in this order, and its vehicles included.
    ///
    /// # Errors
    /// A key or value that is not TOML, or a vehicle that cannot be included, with its place.
    pub fn with(&self, assignments: &[Assignment]) -> Result<Document, ConfigError> {
        let mut root = self.root.clone();
        for assignment in assignments {
            let over = set::assign(assignment)?;
            set::merge(&mut root, over)?;
            write_out(&mut root);
        }
        Document::resolved_from(root, self.name.clone(), self.allow_plugin, &self.included)
    }
}

/// # Reading
impl Document {
    /// Reads the configuration and merges includes and flags.
    ///
    /// # Errors
    /// Anything that cannot be found, read or parsed, with its place.
    pub fn load(options: &Options) -> Result<Self, ConfigError> {
        Template::load(options)?.with(&[])
    }

    /// A document without flags from this text; `name` identifies it in messages, summary and logs.
    pub(super) fn from_toml(name: &str, text: &str) -> Result<Self, ConfigError> {
        let source = Arc::new(Source {
            name: name.to_owned(),
            text: text.to_owned(),
            origin: Origin::Text,
            included_by: None,
        });
        let options = Options {
            config: name.into(),
            ..Options::default()
        };
        Self::build(&source, &options)
    }

    /// The same as [`load`](Self::load), for text that has been read already.
    pub(super) fn build(source: &Arc<Source>, options: &Options) -> Result<Self, ConfigError> {
        Template::build(source, options)?.with(&[])
    }

    pub(super) fn resolved(
        root: Node,
        name: String,
        allow_plugin: bool,
    ) -> Result<Self, ConfigError> {
        Self::resolved_from(root, name, allow_plugin, &Included::default())
    }

    fn resolved_from(
        mut root: Node,
        name: String,
        allow_plugin: bool,
        included: &Included,
    ) -> Result<Self, ConfigError> {
        include_vehicles(&mut root, included)?;
        let place = root.place.clone();
        let root = root.into_table();
        let (text, _) = canonical::print(&root, place);
        Ok(Self {
            root,
            text,
            name,
            allow_plugin,
        })
    }

    /// Converts a vehicle file to a configuration with nothing but `[vehicle]`; leaves any other document unchanged.
    pub(super) fn with_vehicle(self) -> Result<Self, ConfigError> {
        let body = self.entry("bodies").map(|entry| entry.key_place.clone());
        let (Some(key_place), None) = (body, self.entry("vehicle")) else {
            return Ok(self);
        };
        let place = SourceSpan {
            source: Arc::clone(&key_place.source),
            span: 0..0,
        };
        let table = |root| Node {
            value: Value::Table(root),
            place: place.clone(),
        };
        let vehicle = Entry {
            key: "vehicle".to_owned(),
            key_place,
            node: table(self.root),
        };
        let root = Table {
            entries: vec![vehicle],
        };
        Self::resolved(table(root), self.name, self.allow_plugin)
    }
}

/// # Access
impl Document {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The configuration's file name without folder and extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a file may name a plugin by path.
    pub(super) fn allows_plugin(&self) -> bool {
        self.allow_plugin
    }

    /// The table at a dotted path such as `backend.sim`, as a separate document; `None` if there is no table.
    pub fn table(&self, path: &str) -> Option<Fragment> {
        let node = self.node(path)?;
        Some(Fragment::new(path, node.as_table()?, node.place.clone()))
    }

    /// The place of the value at a dotted path.
    pub fn place(&self, path: &str) -> Option<SourceSpan> {
        self.node(path).map(|node| node.place.clone())
    }

    /// The keys of the table at a dotted path that the command line set, or anything below them.
    pub fn set_keys(&self, path: &str) -> impl Iterator<Item = &str> {
        let table = self.node(path).and_then(Node::as_table);
        let entries = table.into_iter().flat_map(|table| &table.entries);
        let set = entries.filter(|entry| {
            let mut is_set = false;
            entry.node.visit(&mut |node| {
                is_set |= matches!(node.place.source.origin, Origin::Flag(_));
            });
            is_set
        });
        set.map(|entry| entry.key.as_str())
    }

    /// Files that a flight of this configuration may read: the configuration's own files, and every value that is the
    /// path of a file, except the log that the flight writes.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let log = self.node("flight.log");
        self.root.visit(&mut |node| {
            if let Origin::File(path) = &node.place.source.origin
                && !files.contains(path)
            {
                files.push(path.clone());
            }
            if let Some(text) = node.as_string()
                && !log.is_some_and(|log| std::ptr::eq(log, node))
            {
                let path = node.place.source.resolve(&text);
                if path.is_file() {
                    files.push(path);
                }
            }
        });
        files
    }

    pub(super) fn root_table(&self) -> &Table {
        &self.root
    }

    /// The place of a dotted path, or of the deepest table on the way to it. Numbers are indices of arrays of tables.
    pub fn nearest_place(&self, path: &str) -> Option<SourceSpan> {
        let mut parts = path.split('.');
        let mut node = &self.root.get(parts.next()?)?.node;
        for part in parts {
            let below = match &node.value {
                Value::Table(table) => table.get(part).map(|entry| &entry.node),
                Value::Array(elements) => part
                    .parse()
                    .ok()
                    .and_then(|index: usize| elements.get(index)),
                Value::Leaf { .. } => None,
            };
            let Some(below) = below else { break };
            node = below;
        }
        Some(node.place.clone())
    }

    /// The value at a dotted path; `[i]` after a key is a table in an array.
    pub(super) fn node(&self, path: &str) -> Option<&Node> {
        match path
            .strip_suffix(']')
            .and_then(|path| path.rsplit_once('['))
        {
            Some((array, index)) => {
                (self.node(array)?.as_array()?).get(index.parse::<usize>().ok()?)
            }
            None => Some(&self.entry(path)?.node),
        }
    }

    /// The entry (key and value) at a dotted path.
    pub(super) fn entry(&self, path: &str) -> Option<&Entry> {
        match path.rsplit_once('.') {
            Some((above, key)) => self.node(above)?.as_table()?.get(key),
            None => self.root.get(path),
        }
    }
}

/// One table of a [`Document`], printed as a small separate document.
///
/// A parser of [`text`](Self::text) reports errors as byte ranges in it; [`place`](Self::place) maps them to what the
/// user wrote.
#[derive(Clone, Debug)]
pub struct Fragment {
    path: String,
    text: String,
    map: SourceMap,
}

impl Fragment {
    pub(super) fn new(path: &str, table: &Table, place: SourceSpan) -> Self {
        let (text, map) = canonical::print(table, place);
        Self {
            path: path.to_owned(),
            text,
            map,
        }
    }

    /// An empty table without a place.
    pub(super) fn empty(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: String::new(),
            map: SourceMap::default(),
        }
    }

    /// The dotted path of this table in the configuration.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The table as TOML.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a byte range of the text was written; `None` if the user did not write this table.
    pub fn place(&self, span: &Range<usize>) -> Option<SourceSpan> {
        self.map.place(span)
    }

    /// SourceSpan of the table itself; `None` if the user did not write it.
    pub fn whole(&self) -> Option<SourceSpan> {
        self.map.whole()
    }

    /// Resolves a relative path at byte `offset` of the text: relative to the file it was written in, or to the current
    /// folder if it comes from a flag or a shipped configuration.
    pub fn resolve_path(&self, offset: usize, path: &str) -> PathBuf {
        match self.place(&(offset..offset + 1)) {
            Some(place) => place.source.resolve(path),
            None => PathBuf::from(path),
        }
    }

    /// A diagnostic about a byte range of the text.
    pub fn diagnostic(
        &self,
        title: impl Into<String>,
        span: &Range<usize>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let diagnostic = Diagnostic::new(title);
        match self.place(span) {
            Some(place) => diagnostic.at(place, label),
            None => diagnostic.note(label),
        }
    }
}

/// Formats a dotted path for messages: `pairs.0.to` as `pairs[0].to`.
pub(super) fn show_path(path: &str) -> String {
    let mut shown = String::new();
    for part in path.split('.') {
        let index = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match (index, shown.is_empty()) {
            (true, _) => shown.extend(["[", part, "]"]),
            (false, true) => shown.push_str(part),
            (false, false) => shown.extend([".", part]),
        }
    }
    shown
}

/// Expands every short form: `vehicle = "file"` to `vehicle.file = "file"`, so that keys can be merged into it, and
/// `reference = "recorded"` to `reference.kind = "recorded"`; also for several vehicles.
pub(super) fn write_out(root: &mut Node) {
    let Some(root) = root.as_table_mut() else {
        return;
    };
    if let Some(Value::Array(vehicles)) =
        (root.get_mut("vehicles")).map(|entry| &mut entry.node.value)
    {
        vehicles.iter_mut().for_each(write_out);
    }
    write_out_entry(root, "reference", "kind");
    write_out_entry(root, "vehicle", "file");
    let Some(backends) = root
        .get_mut("backend")
        .and_then(|entry| entry.node.as_table_mut())
    else {
        return;
    };
    for backend in &mut backends.entries {
        if let Some(table) = backend.node.as_table_mut() {
            write_out_entry(table, "vehicle", "file");
        }
    }
}

fn write_out_entry(table: &mut Table, key: &str, inner: &str) {
    if let Some(entry) = table.get_mut(key)
        && entry.node.as_string().is_some()
    {
        let place = entry.node.place.clone();
        let inner = Entry {
            key: inner.to_owned(),
            key_place: entry.key_place.clone(),
            node: entry.node.clone(),
        };
        entry.node = Node {
            value: Value::Table(Table {
                entries: vec![inner],
            }),
            place,
        };
    }
}

/// Replaces `vehicle.file` by the content of that file with the table's other keys merged into it, for the model and
/// for the chosen backend. A backend's vehicle without a file is the model's vehicle with those keys changed. Meshes are
/// read, including those of a fleet's world.
fn include_vehicles(root: &mut Node, included: &Included) -> Result<(), ConfigError> {
    let Some(root) = root.as_table_mut() else {
        return Ok(());
    };
    if let Some(entry) = root.get_mut("world") {
        mesh::include(&mut entry.node, &included.meshes)?;
    }
    if let Some(entry) = root.get_mut("vehicle") {
        include(&mut entry.node, None, 0, included)?;
    }
    let model = root.get("vehicle").map(|entry| entry.node.clone());
    if let Some(entry) = root.get_mut("vehicle") {
        mesh::include(&mut entry.node, &included.meshes)?;
    }
    let Some(backends) = root
        .get_mut("backend")
        .and_then(|entry| entry.node.as_table_mut())
    else {
        return Ok(());
    };
    let Some(name) = backends
        .get("plugin")
        .and_then(|entry| entry.node.as_string())
    else {
        return Ok(());
    };
    let chosen = backends
        .get_mut(&backend_table(&name))
        .and_then(|entry| entry.node.as_table_mut());
    if let Some(entry) = chosen.and_then(|table| table.get_mut("vehicle")) {
        include(&mut entry.node, model.as_ref(), 0, included)?;
        mesh::include(&mut entry.node, &included.meshes)?;
    }
    Ok(())
}

/// Name of a plugin's table: the plugin's name or, for a path `…/libfly_plugin_sim.so`, the name in its file name.
pub(crate) fn backend_table(plugin: &str) -> String {
    let file = Path::new(plugin)
        .file_name()
        .map_or(plugin.into(), |file| file.to_string_lossy());
    let stem = file.split('.').next().unwrap_or(&file);
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    stem.strip_prefix("fly_plugin_").unwrap_or(stem).to_owned()
}

/// The name of a file, of the source that names it, and the folder of its meshes.
type Named = (String, String, Option<PathBuf>);

/// The files read so far. Each is read once, even if the file changes later.
#[derive(Clone, Debug, Default)]
struct Included {
    /// Vehicles by their names, the sources that name them and the folders of their visuals' meshes.
    vehicles: Arc<Mutex<BTreeMap<Named, Node>>>,
    meshes: mesh::Meshes,
}

impl Included {
    /// The file named by a value in another source; a URDF's meshes may be in `mesh_dir`.
    fn vehicle(
        &self,
        name: &str,
        by: &SourceSpan,
        mesh_dir: Option<PathBuf>,
    ) -> Result<Node, ConfigError> {
        let key = (name.to_owned(), by.source.name.clone(), mesh_dir);
        let mut known = (self.vehicles)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = known.get(&key) {
            return Ok(node.clone());
        }
        let node = Node::parse(&urdf::as_toml(
            locate::vehicle(name, by)?,
            key.2.as_deref(),
        )?)?;
        known.insert(key, node.clone());
        Ok(node)
    }
}

fn include(
    node: &mut Node,
    otherwise: Option<&Node>,
    depth: usize,
    included: &Included,
) -> Result<(), ConfigError> {
    let Some(table) = node.as_table_mut() else {
        return Ok(());
    };
    let Some(file) = table.remove("file") else {
        if let Some(base) = otherwise {
            let over = std::mem::replace(node, base.clone());
            node.overlay(over)?;
        }
        return Ok(());
    };
    let mesh_dir = table.remove("mesh_dir");
    let place = file.node.place.clone();
    let Some(name) = file.node.as_string() else {
        return Err(Diagnostic::new("`vehicle.file` has the wrong type")
            .at(place, "expected the path of a vehicle file")
            .into());
    };
    if depth == MAX_INCLUDE_DEPTH {
        return Err(
            Diagnostic::new("vehicle files include each other in a circle")
                .at(place, "named here")
                .into(),
        );
    }
    let mesh_dir = mesh_dir.map(|entry| match entry.node.as_string() {
        Some(dir) => Ok(entry.node.place.source.resolve(&dir)),
        None => Err(Diagnostic::new("`vehicle.mesh_dir` has the wrong type").at(
            entry.node.place,
            "expected the path of a folder with meshes",
        )),
    });
    let mut base = included.vehicle(&name, &place, mesh_dir.transpose()?)?;
    include(&mut base, None, depth + 1, included)?;
    let over = std::mem::replace(node, base);
    node.overlay(over)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A campaign's configuration must not change while it runs.
    #[test]
    fn files_are_read_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        std::fs::write(path("v.obj"), mesh).expect("written");
        let vehicle = "name = \"first\"\nbodies.hull.shape.mesh.file = \"v.obj\"";
        std::fs::write(path("v.toml"), vehicle).expect("written");
        std::fs::write(path("flight.toml"), "vehicle.file = \"v.toml\"").expect("written");
        let options = Options {
            config: path("flight.toml"),
            ..Options::default()
        };
        let template = Template::load(&options).expect("a template");
        let first = template.with(&[]).expect("a document").text().to_owned();
        std::fs::write(path("v.toml"), "name = \"second\"").expect("written");
        assert_eq!(template.with(&[]).expect("a document").text(), first);
        std::fs::remove_file(path("v.toml")).expect("removed");
        std::fs::remove_file(path("v.obj")).expect("removed");
        assert_eq!(template.with(&[]).expect("a document").text(), first);
        assert!(
            first.contains("first") && first.contains("volume"),
            "{first}"
        );
    }
}
