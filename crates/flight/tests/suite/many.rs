//! Many flights at once in one process: each is the same as alone.

use std::path::Path;

use fly_flight::{End, Flight, McapFile, Memory, backend};
use fly_plugin_sim::Simulation;
use fly_testing::mcap::without_run;

use crate::common;

/// Configurations, and whether the simulation is loaded or linked when they fly together.
const FLIGHTS: [(&str, &str, bool); 8] = [
    ("tricopter.toml", "flight.seed=3", true),
    ("tricopter-load.toml", "flight.seed=4", false),
    ("tricopter-tilted.toml", "flight.seed=5", true),
    (
        "quadcopter.toml",
        "backend.sim.faults=[{ kind = \"missing\", from = 0.3, until = 0.34 }]",
        false,
    ),
    ("quadcopter-loop.toml", "flight.seed=6", true),
    (
        "quadcopter-upside-down.toml",
        "backend.sim.faults=[{ kind = \"non_finite\", from = 0.5, until = 0.53 }]",
        true,
    ),
    ("examples/prismatic.toml", "flight.seed=7", false),
    ("examples/arm-joints.toml", "flight.seed=8", true),
];

/// Flies these configurations in turns of one tick each, and returns their logs.
fn fly(folder: &Path, flights: &[(&str, &str, bool)]) -> Vec<Vec<u8>> {
    let paths: Vec<_> = (flights.iter())
        .map(|(name, ..)| folder.join(name.replace('/', "-")).with_extension("mcap"))
        .collect();
    let mut sinks: Vec<_> = paths.iter().map(McapFile::new).collect();
    let mut under_way: Vec<_> = flights
        .iter()
        .zip(&mut sinks)
        .map(|((name, set, loaded), sink)| {
            let configuration = common::configuration(name, &["flight.duration=1", set]);
            let plant = if *loaded {
                backend::load(&configuration, &common::plugins(), false)
            } else {
                backend::configure::<Simulation>(&configuration, false)
            };
            let flight = Flight::new(&configuration, plant.expect("a plant"), sink);
            flight.unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect();
    while !under_way.is_empty() {
        let mut index = 0;
        while index < under_way.len() {
            match under_way[index].tick() {
                None => index += 1,
                Some(end) => {
                    let summary = under_way.remove(index).finish(end);
                    assert_eq!(summary.end, End::Completed, "{}", summary.name);
                    assert!(summary.log.is_some_and(|log| log.failure.is_none()));
                }
            }
        }
    }
    let logs = paths.iter().map(|path| std::fs::read(path).unwrap());
    logs.map(|log| without_run(&log)).collect()
}

#[test]
fn eight_flights_on_two_threads_leave_the_logs_of_eight_single_ones() {
    let folder = tempfile::tempdir().unwrap();
    let single: Vec<Vec<u8>> = FLIGHTS
        .map(|(name, set, _)| fly(folder.path(), &[(name, set, true)]).remove(0))
        .into();
    let (first, second) = FLIGHTS.split_at(4);
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let together = std::thread::scope(|scope| {
        let threads = [(first, &folders[0]), (second, &folders[1])]
            .map(|(flights, folder)| scope.spawn(|| fly(folder.path(), flights)));
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    for (((name, ..), single), together) in FLIGHTS.iter().zip(&single).zip(&together) {
        assert!(single == together, "{name}");
    }
    assert_ne!(single[0], single[2], "the comparison tells logs apart");
}

#[test]
fn each_flight_has_its_own_messages() {
    let missing = |from: f64| {
        let until = from + 0.02;
        let fault = format!("{{ kind = \"missing\", from = {from}, until = {until} }}");
        common::configuration(
            "quadcopter.toml",
            &[
                "flight.duration=1",
                &format!("backend.sim.faults=[{fault}]"),
            ],
        )
    };
    let configurations = [missing(0.2), missing(0.6)];
    let mut sinks = [Memory::default(), Memory::default()];
    let mut flights = Vec::new();
    for (configuration, sink) in configurations.iter().zip(&mut sinks) {
        let plant = backend::load(configuration, &common::plugins(), false).expect("a plant");
        flights.push(Flight::new(configuration, plant, sink).expect("a flight"));
    }
    for _ in 0..400 {
        for flight in &mut flights {
            assert_eq!(flight.tick(), None);
        }
    }
    drop(flights);
    for (sink, at) in sinks.iter().zip(["0.2", "0.6"]) {
        let warnings: Vec<&str> = (sink.messages.iter())
            .filter(|(_, level, ..)| *level == tracing::Level::WARN)
            .map(|(.., text)| text.as_str())
            .collect();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings.iter().all(|text| text.starts_with(at)),
            "{warnings:?}"
        );
        assert_eq!(sink.rows.len(), 400);
    }
}
