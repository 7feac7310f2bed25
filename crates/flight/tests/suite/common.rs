//! Configurations and plugins for these tests.

use fly_flight::config::{Configuration, Options};
use fly_hal::SearchPath;

/// A shipped configuration with changes.
pub fn configuration(name: &str, set: &[&str]) -> Configuration {
    Configuration::load(&Options {
        config: name.into(),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Options::default()
    })
    .unwrap_or_else(|error| panic!("{error}"))
}

/// Where cargo puts the plugins that these tests depend on: next to the test program.
pub fn plugins() -> SearchPath {
    let program = std::env::current_exe().unwrap();
    SearchPath::standard([program.parent().unwrap().to_owned()])
}
