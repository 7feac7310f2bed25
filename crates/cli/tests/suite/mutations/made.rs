//! What is changed: small logs and a plugin's description.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::OnceLock;

use fly::config::{Configuration, Options};
use fly_flight::{Destination, Flight, McapFile, backend};
use fly_hal::{
    Backend, Class, Clock, Deadline, Description, Error, FrameMut, Info, Instance, ReadOutcome,
    ReferenceSource, SearchPath, Signal,
};

use super::change::Random;
use crate::common;
use crate::ulog;

/// The shipped flight of a quadcopter, a tenth of a second.
pub fn configuration() -> &'static Configuration {
    static ONE: OnceLock<Configuration> = OnceLock::new();
    ONE.get_or_init(|| {
        let options = Options {
            config: "quadcopter.toml".into(),
            set: vec!["flight.duration=0.1".into()],
            ..Options::default()
        };
        Configuration::load(&options).unwrap()
    })
}

/// Logs of a short flight: as it was written, and without packing and checksums, so that changes reach the messages.
pub fn logs() -> Vec<Vec<u8>> {
    let folder = common::Folder::new();
    let path = folder.path("flight.mcap");
    let search = SearchPath::standard([common::plugins()]);
    let plant = backend::load(configuration(), &search, false).unwrap();
    let mut log = McapFile::new(Destination::from(&path));
    Flight::new(configuration(), plant, &mut log).unwrap().run();
    let packed = std::fs::read(&path).unwrap();
    vec![unpacked(&packed), packed]
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Cursor::new(Vec::new());
    let mut writer = mcap::WriteOptions::new()
        .compression(None)
        .profile("fly")
        .calculate_chunk_crcs(false)
        .create(&mut plain)
        .unwrap();
    let mut metadata = BTreeMap::new();
    for record in mcap::read::LinearReader::new(bytes).unwrap() {
        if let mcap::records::Record::Metadata(record) = record.unwrap() {
            metadata.insert(record.name.clone(), record);
        }
    }
    for record in metadata.values() {
        writer.write_metadata(record).unwrap();
    }
    for message in mcap::MessageStream::new(bytes).unwrap() {
        writer.write(&message.unwrap()).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    plain.into_inner()
}

pub fn ulogs() -> Vec<Vec<u8>> {
    let mut resets = ulog::head_with_resets();
    for k in 0..60 {
        resets.extend(ulog::tick_with_resets(k, if k < 30 { 0.0 } else { 10.0 }));
    }
    vec![ulog::flight(60), resets]
}

/// A plugin's description as text: a line for each signal (class, group, name, unit), then a line for each group.
pub fn description() -> Vec<u8> {
    let search = SearchPath::standard([common::plugins()]);
    let plant = backend::load(configuration(), &search, false).unwrap();
    let description = plant.instance().description();
    let signals = description.signals.iter().map(|signal| {
        let group = signal.group.map_or(-1, |group| group as i64);
        format!(
            "{}\t{group}\t{}\t{}",
            signal.class.name(),
            signal.name,
            signal.unit
        )
    });
    let groups = description.groups.iter().cloned();
    let lines: Vec<String> = signals.chain(groups).collect();
    lines.join("\n").into_bytes()
}

/// A backend with that description, and frames of nothing.
struct Made(Description);

impl Backend for Made {
    const INFO: Info = Info {
        name: "made",
        version: "1.0.0",
        summary: "a backend that was made up",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(_: &fly_hal::Configuration) -> Result<Self, Error> {
        Err(Error::internal("made otherwise"))
    }

    fn description(&self) -> &Description {
        &self.0
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        *frame.time += 10_000_000;
        frame.values.fill(0.5);
        for group in frame.groups.iter_mut() {
            (group.stamp, group.valid) = (*frame.time, true);
        }
        Ok(if *frame.time > 100_000_000 {
            ReadOutcome::End
        } else {
            ReadOutcome::Fresh
        })
    }

    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }
}

/// Behind the boundary that plugins are behind.
pub fn backend(text: &[u8], random: &mut Random) -> Option<Instance> {
    let text = String::from_utf8_lossy(text);
    let (mut signals, mut groups) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        match parts.as_slice() {
            [class, group, name, unit] => signals.push(Signal {
                name: (*name).into(),
                unit: (*unit).into(),
                class: Class::from_name(class).unwrap_or(Class::Auxiliary),
                group: group.parse().ok(),
            }),
            _ => groups.push(line.to_owned()),
        }
    }
    let description = Description {
        signals,
        groups,
        wants_reference: if random.below(8) == 1 {
            ReferenceSource::Recorded
        } else {
            ReferenceSource::Configured
        },
        configuration: (random.below(4) == 1).then(|| text.into_owned()),
        starts_in_motion: random.below(4) == 1,
        control_began: (random.below(4) == 1).then_some(i64::MIN),
    };
    Instance::of(Made(description)).ok()
}
