//! Everything that a host may ask of any plugin, with a vehicle and without one.

use crate::common;
use crate::plugin;

use std::time::Duration;

use common::Flying;
use fly_hal::conformance::{self, Outcome, Report, Setup};
use fly_mavlink::dialect::MavType;
use plugin::{free_port, load};

fn check(text: String) -> Report {
    let setup = Setup {
        rate_hz: 100.0,
        check_timeout: Duration::from_mins(2),
        ..Setup::new(text, "")
    };
    let report = conformance::run(load("quadcopter").path(), &setup);
    println!("{report}");
    report
}

/// In sequence: the last check counts this process's resources.
#[test]
fn the_plugin_conforms() {
    let _alone = crate::ALONE.write();
    let nobody = check(format!(
        "link = 'udpin:127.0.0.1:{}'\nconnect_timeout = 0.05",
        free_port()
    ));
    assert!(nobody.passed());

    let port = free_port();
    let _flying = Flying::udp(
        MavType::MAV_TYPE_QUADROTOR,
        1,
        1000,
        ([127, 0, 0, 1], port).into(),
    );
    let report = check(format!("link = 'udpin:127.0.0.1:{port}'"));
    assert!(report.passed());
    let skipped = report
        .checks
        .iter()
        .filter(|check| matches!(check.outcome, Outcome::Skipped(_)));
    let skipped: Vec<_> = skipped.map(|check| check.name).collect();
    assert_eq!(
        skipped,
        ["is deterministic, bit for bit"],
        "its clock is the world's"
    );
}
