//! The resolved document says what the user wrote, and knows where each byte of it came from.

use std::path::Path;

use fly::config::{Document, Options};
use fly_testing::Random;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

fn load(folder: &Path, text: &str, set: &[&str]) -> Document {
    let config = folder.join("flight.toml");
    std::fs::write(&config, text).unwrap();
    let set = set.iter().map(ToString::to_string).collect();
    Document::load(&Options {
        config,
        set,
        ..Options::default()
    })
    .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn parse(text: &str) -> toml::Table {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A random document: nested tables, arrays of tables, inline tables in arrays, quoted keys, every kind of scalar.
struct Writer(Random);

impl Writer {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    fn index(&mut self, length: usize) -> usize {
        self.0.index(length)
    }

    fn key(&mut self) -> String {
        let keys = [
            "a",
            "mass",
            "b-c",
            "two words",
            "x.y",
            "tilt_deg",
            "\"quoted\"",
            "7",
            "ü",
            "name",
            "e",
            "f",
        ];
        keys[self.index(keys.len())].to_owned()
    }

    fn value(&mut self, depth: u64) -> toml::Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => toml::Value::Integer(i64::try_from(self.below(1000)).unwrap() - 500),
            1 => toml::Value::Float(self.below(1_000_000) as f64 * 1e-3 - 100.0),
            2 => toml::Value::Boolean(self.below(2) == 0),
            3 => toml::Value::String(
                ["", "plain", "with \"quotes\"", "two\nlines", "\\ # ü"][self.index(5)].to_owned(),
            ),
            4 => toml::Value::Datetime("2026-11-20T12:00:00Z".parse().unwrap()),
            5 => toml::Value::Array((0..self.below(4)).map(|_| self.value(depth - 1)).collect()),
            6 => toml::Value::Array(
                (0..=self.below(3))
                    .map(|_| toml::Value::Table(self.table(depth - 1)))
                    .collect(),
            ),
            _ => toml::Value::Table(self.table(depth - 1)),
        }
    }

    fn table(&mut self, depth: u64) -> toml::Table {
        (0..self.below(5))
            .map(|_| (self.key(), self.value(depth)))
            .collect()
    }
}

#[test]
fn canonical_text_means_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut keys = 0;
    for seed in 1..=500 {
        let table = Writer(Random::new(seed)).table(4);
        let text = toml::to_string(&table).unwrap();
        let document = load(folder.path(), &text, &[]);
        assert_eq!(
            parse(document.text()),
            table,
            "seed {seed}\nwritten:\n{text}\ncanonical:\n{}",
            document.text()
        );
        keys += table.len();
    }
    assert!(keys > 500, "the documents were nearly empty: {keys} keys");
}

/// Every scalar of a canonical text, with its bytes.
fn scalars(value: &Spanned<DeValue<'_>>, spans: &mut Vec<std::ops::Range<usize>>) {
    match value.get_ref() {
        DeValue::Table(table) => table.values().for_each(|value| scalars(value, spans)),
        DeValue::Array(array) => array.iter().for_each(|value| scalars(value, spans)),
        _ => spans.push(value.span()),
    }
}

#[test]
fn every_scalar_maps_back_to_its_own_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for seed in 1..=300 {
        let mut table = toml::Table::new();
        table.insert(
            "flight".into(),
            toml::Value::Table(Writer(Random::new(seed)).table(4)),
        );
        let document = load(folder.path(), &toml::to_string(&table).unwrap(), &[]);
        let fragment = document.table("flight").unwrap();
        let mut spans = Vec::new();
        for value in DeTable::parse(fragment.text()).unwrap().get_ref().values() {
            scalars(value, &mut spans);
        }
        for span in spans {
            let place = fragment.place(&span).unwrap();
            assert_eq!(
                &place.source.text[place.span.clone()],
                &fragment.text()[span],
                "seed {seed}"
            );
            compared += 1;
        }
    }
    assert!(compared > 1000, "only {compared} scalars");
}

#[test]
fn flags_change_values_and_leave_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[flight]\nduration = 20\nseed = 1\n[[vehicle.rotors]]\nthrust = [0, 1]\n[[vehicle.rotors]]\nthrust = [0, 2]\n";
    let set = [
        "flight.duration=2.5",
        "flight.log=a folder/x.mcap",
        "vehicle.rotors.1.thrust=[0.5, 3]",
        "backend . sim.\"odd key\" = { on = true }",
        "reference=recorded",
    ];
    let document = load(folder.path(), text, &set);
    let expected = "
        reference = { kind = 'recorded' }
        flight = { duration = 2.5, seed = 1, log = 'a folder/x.mcap' }
        vehicle = { rotors = [{ thrust = [0, 1] }, { thrust = [0.5, 3] }] }
        backend = { sim = { 'odd key' = { on = true } } }";
    assert_eq!(parse(document.text()), parse(expected));

    let place = document.place("flight.duration").unwrap();
    assert_eq!(
        (place.to_string(), &place.source.text[place.span]),
        ("--set".to_owned(), "2.5")
    );
    let place = document.place("flight.seed").unwrap();
    assert!(place.to_string().ends_with("flight.toml:3:8"), "{place}");
}

#[test]
fn vehicles_are_included_and_overridden() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(
        folder.path().join("parts/base.toml"),
        "name = 'base'\n[bodies.airframe]\nmass = 1\njoint = 'free'\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("parts/heavy.toml"),
        "file = 'base.toml'\nname = 'heavy'\nbodies.airframe.mass = 2\n",
    )
    .unwrap();
    let text = "[vehicle]\nfile = 'parts/heavy.toml'\ngravity = 1.6\n[backend]\nplugin = 'sim'\nsim.vehicle.bodies.airframe.mass = 2.2\n";
    let document = load(folder.path(), text, &[]);
    let expected = "
        vehicle = { name = 'heavy', gravity = 1.6, bodies = { airframe = { mass = 2, joint = 'free' } } }
        [backend]
        plugin = 'sim'
        sim.vehicle = { name = 'heavy', gravity = 1.6, bodies = { airframe = { mass = 2.2, joint = 'free' } } }";
    assert_eq!(parse(document.text()), parse(expected));
    let of = |path| {
        document
            .place(path)
            .unwrap()
            .to_string()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(of("vehicle.bodies.airframe.joint"), "base.toml:4:9");
    assert_eq!(of("vehicle.bodies.airframe.mass"), "heavy.toml:3:24");
    assert_eq!(of("vehicle.gravity"), "flight.toml:3:11");
    assert_eq!(
        of("backend.sim.vehicle.bodies.airframe.mass"),
        "flight.toml:6:36"
    );

    // The short form, and a flag that chooses another file: paths of flags are relative to the current folder.
    let other = folder.path().join("parts/base.toml");
    let set = format!("vehicle={}", other.display());
    let document = load(
        folder.path(),
        "vehicle = 'parts/heavy.toml'",
        &[&set, "vehicle.bodies.airframe.mass=3"],
    );
    let expected =
        "vehicle = { name = 'base', bodies = { airframe = { mass = 3, joint = 'free' } } }";
    assert_eq!(parse(document.text()), parse(expected));
}

#[test]
fn paths_belong_to_where_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let document = load(
        folder.path(),
        "[backend]\nreplay.log = 'a.mcap'\nreplay.other = 1\n",
        &["backend.replay.other=b.mcap"],
    );
    let table = document.table("backend.replay").unwrap();
    let offset = |text: &str| table.text().find(text).unwrap();
    assert_eq!(
        table.resolve_path(offset("'a.mcap'"), "a.mcap"),
        folder.path().join("a.mcap")
    );
    assert_eq!(
        table.resolve_path(offset("\"b.mcap\""), "b.mcap"),
        Path::new("b.mcap")
    );
}

/// A mesh is read where the vehicle is, and the text of the flight needs the file no more.
#[test]
fn meshes_are_included() {
    let folder = tempfile::tempdir().unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let file = |name: &str| folder.path().join("parts").join(name);
    let closed = format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    std::fs::write(file("wedge.obj"), closed).unwrap();
    std::fs::write(file("open.obj"), format!("{corners}f 1 3 2\n")).unwrap();
    let vehicle = "name = 'wedge'\n[bodies.hull]\nmass = 6\nshape.mesh = { file = 'wedge.obj' }\n";
    std::fs::write(file("wedge.toml"), vehicle).unwrap();
    let text = "vehicle = 'parts/wedge.toml'\n[backend]\nplugin = 'sim'\nsim.vehicle.bodies.hull.shape.mesh.scale = 2\n";
    let document = load(folder.path(), text, &[]);
    let hull = |path: &str| {
        let text = document.table(path).unwrap().text().to_owned();
        let system = fly_mechanics::System::from_toml(&text).expect("no file is needed");
        let hull = system.model.body_id("hull").unwrap();
        let inertia = *system.model.inertia(hull).unwrap();
        (inertia.mass(), inertia.center_of_mass())
    };
    for (path, edge) in [("vehicle", 1.0), ("backend.sim.vehicle", 2.0)] {
        let (mass, center) = hull(path);
        assert!((mass - 6.0).abs() < 1e-14, "{path}: {mass}");
        let expected = nalgebra::Vector3::repeat(edge / 4.0);
        assert!((center - expected).amax() < 1e-15, "{path}: {center}");
    }
    // So no log is written over it.
    assert!(document.files().contains(&file("wedge.obj")));

    let config = folder.path().join("flight.toml");
    let set = vec!["vehicle.bodies.hull.shape.mesh.file=parts/open.obj".to_owned()];
    std::fs::write(&config, text).unwrap();
    std::fs::write(file("wedge.toml"), vehicle.replace("wedge.obj", "open.obj")).unwrap();
    let error = Document::load(&Options {
        config: config.clone(),
        ..Options::default()
    })
    .expect_err("a hole")
    .to_string();
    for part in [
        "the mesh `open.obj` cannot be used",
        "wedge.toml:4:23",
        "the mesh has a hole",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = Document::load(&Options {
        config,
        set,
        ..Options::default()
    });
    // Of a flag the path counts from the current folder.
    let error = error.expect_err("not there").to_string();
    assert!(error.contains("No such file"), "{error}");
}
