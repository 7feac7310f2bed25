//! The plugins, through the loader, as a host sees them.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::PathBuf;
use std::time::Duration;

use fly_hal::{Configuration, Deadline, Error, Frame, Instance, Plugin, ReadOutcome, SearchPath};

#[path = "port.rs"]
mod port;
pub use port::free_port;

/// The plugin that cargo has built beside this test.
pub fn load(name: &str) -> Plugin {
    let beside: PathBuf = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    Plugin::load(name, &SearchPath::new([beside.clone(), beside.join("..")])).unwrap()
}

pub fn configure(name: &str, text: &str) -> Result<Instance, Error> {
    load(name).configure(&Configuration {
        rate_hz: 100.0,
        ..Configuration::new(text, "")
    })
}

/// A configured and started plugin.
pub fn start(name: &str, text: &str) -> Instance {
    let mut instance = configure(name, text).unwrap();
    instance.start().unwrap();
    instance
}

pub fn read(instance: &mut Instance, frame: &mut Frame) -> ReadOutcome {
    instance
        .read(Deadline::after(Duration::from_millis(100)), frame)
        .unwrap()
}

/// Reads until the condition holds, for at most ten seconds of frames.
#[track_caller]
pub fn read_until(
    instance: &mut Instance,
    frame: &mut Frame,
    what: &str,
    condition: impl Fn(&Frame) -> bool,
) {
    for _ in 0..1000 {
        read(instance, frame);
        if condition(frame) {
            return;
        }
    }
    panic!("read in vain until: {what}; the frame is {frame:?}");
}

/// The values of a group, by the names of its signals.
pub fn values<const N: usize>(instance: &Instance, frame: &Frame, names: [&str; N]) -> [f64; N] {
    names.map(|name| frame.values[instance.description().value_index(name).unwrap()])
}

pub fn valid(instance: &Instance, frame: &Frame, group: &str) -> bool {
    frame.groups[instance.description().find_group(group).unwrap()].valid
}

pub const POSE: [&str; 7] = [
    "pose.position.x",
    "pose.position.y",
    "pose.position.z",
    "pose.quaternion.w",
    "pose.quaternion.x",
    "pose.quaternion.y",
    "pose.quaternion.z",
];

pub const TWIST: [&str; 6] = [
    "twist.linear.x",
    "twist.linear.y",
    "twist.linear.z",
    "twist.angular.x",
    "twist.angular.y",
    "twist.angular.z",
];

pub const STATE_GROUPS: [&str; 4] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
];

#[track_caller]
pub fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < 1e-6, "{a:?} is not {b:?}");
    }
}
