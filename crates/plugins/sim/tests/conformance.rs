//! The library follows the rules of the plugin interface. A separate process, so that no other test allocates while memory is watched.

use fly_hal::conformance::{self, Outcome, Setup};
use fly_hal::{Plugin, SearchPath};

const CUBE: &str = include_str!("cube.toml");
const ALL: &str = include_str!("all_sensors.toml");

#[test]
fn it_conforms() {
    let plugin = Plugin::load("sim", &SearchPath::standard([])).unwrap();
    for text in [
        "",
        "substeps = 3\n[noise]\nposition = 0.1\n[[faults]]\nkind = 'stale'\nfrom = 0.02\nuntil = 0.04",
        ALL,
        &format!("sensors.ideal = false\n{ALL}"),
    ] {
        let report = conformance::run(plugin.path(), &Setup::new(text, CUBE));
        assert!(report.checks.len() >= 11, "{report}");
        assert!(
            report
                .checks
                .iter()
                .all(|check| check.outcome == Outcome::Passed),
            "{report}"
        );
    }
}
