//! Files that are changed at random: they are read or refused, without a panic, in bounded time and memory.
//!
//! `cargo xtask mutate` runs a million cases and more; a few thousand run with every test. A case depends on nothing but its kind, the
//! seed and its number.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)] // small numbers, or any

mod change;
mod made;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use change::{Random, change};
use fly::config::Configuration;
use fly_flight::{Discard, Flight};
use fly_log::{Options, Recording};
use fly_mechanics::System;
use fly_mechanics::description::UrdfOptions;

/// Memory that reading a recording may take in a case, bytes.
const READER: u64 = 64 << 20;
/// Memory that the whole process may take, bytes.
const MEMORY: u64 = 400 << 20;
/// Longest time of a case, s: optimised code needs a tenth of it.
const TIME: f64 = 5.0;

/// The file that is mutated, and its reader.
struct Kind {
    name: &'static str,
    is_text: bool,
    corpus: Vec<Vec<u8>>,
    /// Whether it was accepted.
    read: fn(&[u8], &mut Random) -> bool,
    /// Cases among a hundred.
    share: u64,
}

fn kinds() -> Vec<Kind> {
    let shipped = fly::config::shipped::SHIPPED.iter();
    // As text they have no folder.
    let flights = fly::config::shipped::flights().map(|one| {
        one.text
            .replace("../vehicles/", "vehicles/")
            .replace("../systems/", "systems/")
            .into_bytes()
    });
    let systems = fly::config::shipped::systems().map(|one| one.text.into());
    assert!(shipped.len() > 30);
    let urdf = ["arm6.urdf", "mobile_arm.urdf"].map(|name| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../mechanics/testdata/urdf");
        std::fs::read(format!("{folder}/{name}")).unwrap()
    });
    vec![
        Kind {
            name: "configuration",
            is_text: true,
            corpus: flights.collect(),
            read: |bytes, _| {
                std::str::from_utf8(bytes)
                    .is_ok_and(|text| Configuration::from_toml("mutated", text).is_ok())
            },
            share: 15,
        },
        Kind {
            name: "system",
            is_text: true,
            corpus: systems.collect(),
            read: |bytes, _| {
                std::str::from_utf8(bytes).is_ok_and(|text| System::from_toml(text).is_ok())
            },
            share: 15,
        },
        Kind {
            name: "urdf",
            is_text: true,
            corpus: urdf.into(),
            read: |bytes, _| {
                let options = UrdfOptions::default();
                std::str::from_utf8(bytes)
                    .is_ok_and(|text| System::from_urdf(text, &options).is_ok())
            },
            share: 20,
        },
        Kind {
            name: "mcap",
            is_text: false,
            corpus: made::logs(),
            read: recording,
            share: 20,
        },
        Kind {
            name: "ulog",
            is_text: false,
            corpus: made::ulogs(),
            read: recording,
            share: 20,
        },
        Kind {
            name: "plugin",
            is_text: true,
            corpus: vec![made::description()],
            read: |bytes, random| {
                let configuration = made::configuration();
                let backend = made::backend(bytes, random);
                let mut sink = Discard;
                let flight = backend
                    .map(|backend| Flight::new(configuration, backend, &mut sink).map(Flight::run));
                flight.is_some_and(|flight| flight.is_ok())
            },
            share: 10,
        },
    ]
}

fn recording(bytes: &[u8], random: &mut Random) -> bool {
    let options = Options {
        allow_truncated: random.below(4) > 0,
        memory: READER,
    };
    Recording::from_bytes("mutated".as_ref(), bytes, &options).is_ok()
}

/// The current case, for the observer: index of its kind, number, and start time, ms.
static CASE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Ends the process with the case's number when it takes too long or too much.
fn watch(names: Vec<&'static str>, seed: u64, began: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let [kind, case, start] = CASE.each_ref().map(|one| one.load(Relaxed));
            if start == u64::MAX {
                return;
            }
            let seconds = began.elapsed().as_secs_f64() - start as f64 * 1e-3;
            let memory = status("VmRSS:");
            if seconds > 4.0 * TIME || memory > MEMORY {
                let name = names[kind as usize];
                eprintln!("{name} case {case} of seed {seed}: {seconds:.1} s, {memory} bytes");
                std::process::exit(1);
            }
        }
    });
}

/// A line of `/proc/self/status`, bytes.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) << 10
}

/// Runs one case; what took how long, and whether it was accepted.
fn run(kind: &Kind, seed: u64, case: u64) -> (Duration, bool) {
    let mut random = Random::new(seed, case);
    let mut bytes = kind.corpus[random.below(kind.corpus.len())].clone();
    let other = &kind.corpus[random.below(kind.corpus.len())];
    change(&mut bytes, other, kind.is_text, &mut random);
    let start = Instant::now();
    let read = catch_unwind(AssertUnwindSafe(|| (kind.read)(&bytes, &mut random)));
    let Ok(accepted) = read else {
        let path = std::env::temp_dir().join(format!("fly-{}-{seed}-{case}", kind.name));
        let _ = std::fs::write(&path, &bytes);
        panic!(
            "{} case {case} of seed {seed} panicked: {}",
            kind.name,
            path.display()
        );
    };
    (start.elapsed(), accepted)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// `FLY_MUTATIONS`: how many; `FLY_MUTATION_SEED`; `FLY_MUTATION_KIND` and `FLY_MUTATION_CASE`: this one alone.
#[test]
fn whatever_a_file_holds_it_is_read_or_refused() {
    let total = number("FLY_MUTATIONS").unwrap_or(6000);
    let seed = number("FLY_MUTATION_SEED").unwrap_or(1);
    let only = std::env::var("FLY_MUTATION_KIND").ok();
    let one = number("FLY_MUTATION_CASE");
    let kinds = kinds();
    for kind in &kinds {
        for bytes in &kind.corpus {
            // Without a change nothing is refused.
            let accepted = (kind.read)(bytes, &mut Random::new(0, 0));
            assert!(
                accepted,
                "{}: {}",
                kind.name,
                String::from_utf8_lossy(bytes)
            );
        }
    }
    let began = Instant::now();
    // Other tests of this process run in parallel; only a separate command watches the memory.
    if number("FLY_MUTATIONS").is_some() {
        watch(kinds.iter().map(|kind| kind.name).collect(), seed, began);
    }
    println!("kind             cases  accepted   cases/s   worst ms    peak MB");
    for (index, kind) in kinds.iter().enumerate() {
        if only.as_ref().is_some_and(|only| only != kind.name) {
            continue;
        }
        // The highest use so far is forgotten.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let cases = one.map_or(0..total * kind.share / 100, |one| one..one + 1);
        let (start, mut worst, mut accepted) = (Instant::now(), (Duration::ZERO, 0), 0);
        let count = cases.end - cases.start;
        for case in cases {
            CASE[0].store(index as u64, Relaxed);
            CASE[1].store(case, Relaxed);
            CASE[2].store(began.elapsed().as_millis() as u64, Relaxed);
            let (time, read) = run(kind, seed, case);
            worst = worst.max((time, case));
            accepted += u64::from(read);
        }
        let (worst, at) = (worst.0.as_secs_f64(), worst.1);
        println!(
            "{:13} {count:8} {accepted:9} {:9.0} {:10.2} {:10.1}   (worst: case {at})",
            kind.name,
            count as f64 / start.elapsed().as_secs_f64(),
            worst * 1e3,
            status("VmHWM:") as f64 * 1e-6
        );
        assert!(
            worst < TIME,
            "{} case {at} of seed {seed}: {worst} s",
            kind.name
        );
    }
    CASE[2].store(u64::MAX, Relaxed);
}
