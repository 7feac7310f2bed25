//! Every kind of manoeuvre, chosen in a configuration, checked and flown.

use crate::common;

use std::fmt::Write as _;

use common::Folder;
use fly::config::shipped;

/// The shipped quadcopter's configuration with another reference, without noise and from where the reference begins.
fn flight(reference: &str) -> String {
    let text = shipped::find("quadcopter.toml").unwrap().text;
    let (start, rest) = text.split_once("[reference]").unwrap();
    let (_, rest) = rest.split_once("[safety]").unwrap();
    let (rest, _) = rest.split_once("[backend.sim]").unwrap();
    let start = start.replace("duration = 12.0", "");
    format!("{start}[reference]\n{reference}\n\n[safety]{rest}")
}

#[test]
fn manoeuvres_are_checked_and_flown() {
    let folder = Folder::new();
    // Samples of a circle that is slow at both ends.
    let mut samples = "time,x,y,z,yaw\n".to_owned();
    for i in 0..=120 {
        let s = f64::from(i) / 120.0;
        let part =
            s.powi(5) * (126.0 - 420.0 * s + 540.0 * s * s - 315.0 * s.powi(3) + 70.0 * s.powi(4));
        let angle = std::f64::consts::TAU * part;
        let (t, x, y) = (8.0 * s, 1.0 - angle.cos(), angle.sin());
        writeln!(samples, "{t},{x},{y},0,{part}").unwrap();
    }
    // As a spreadsheet writes it.
    folder.write("below/samples.csv", &format!("\u{feff}{samples}"));
    for reference in [
        "kind = \"takeoff\"\nheight = 1",
        "kind = \"landing\"\nposition = [0, 0, 0]\nground = -1",
        "kind = \"circle\"\nradius = 1\nperiod = 3\nturns = 1\ncenter = [-1, 0, 0]\nyaw_deg = 0",
        "kind = \"helix\"\nradius = 1\nperiod = 3\nturns = 1\nclimb = 0.5\ncenter = [-1, 0, 0]\nyaw_deg = 0",
        "kind = \"flip\"\nduration = 1.5",
        "kind = \"flip\"\nduration = 1.5\naxis = \"roll\"\nheading_deg = 90",
        "kind = \"barrel_roll\"\nradius = 0.5\ndistance = 1\nduration = 2",
        "kind = \"minimum_snap\"\npoints = [{ position = [0, 0, 0] }, { position = [2, 1, 1] }, { position = [3, -1, 0] }]",
        "kind = \"sampled\"\nfile = \"samples.csv\"",
    ] {
        folder.write("below/flight.toml", &flight(reference));
        let arguments = ["--config", "below/flight.toml"];
        let (report, _) = folder.ends(&[&["check"], &arguments[..]].concat(), 0);
        assert!(
            report.ends_with("everything is in order\n"),
            "{reference}\n{report}"
        );
        folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
        let errors = common::measure(&folder, &arguments, "flight.mcap", f64::INFINITY);
        // The rotors' lag of 0.03 s is what keeps it from following exactly.
        assert!(
            errors.position.rms() < 0.15,
            "{reference}: {}",
            errors.position.rms()
        );
        assert!(
            errors.last_position < 0.1,
            "{reference}: {}",
            errors.last_position
        );
    }
}

#[test]
fn a_file_of_samples_that_is_wrong_is_shown_where_it_is_named() {
    let folder = Folder::new();
    folder.write(
        "flight.toml",
        &flight("kind = \"sampled\"\nfile = \"none.csv\""),
    );
    let (_, stderr) = folder.ends(&["check", "--config", "flight.toml"], 2);
    common::contains(&stderr, "`reference.file` cannot be used");
    common::contains(&stderr, "file = \"none.csv\"");
    common::contains(&stderr, "none.csv: No such file or directory");
    folder.write("none.csv", "time,x,y,z\n0,0,0,0\n1,0,0\n");
    let (_, stderr) = folder.ends(&["check", "--config", "flight.toml"], 2);
    common::contains(
        &stderr,
        "none.csv: line 3: expected 4 finite numbers separated by commas, found `1,0,0`",
    );
}

/// A bicopter follows pitch and roll exactly and any other motion approximately, which is reported.
#[test]
fn a_bicopter_is_told_what_it_follows_only_nearly() {
    let folder = Folder::new();
    let poles =
        "horizontal = [-4, -4, -4, -4]\nyaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }";
    let text = |reference: &str, drag: &str| {
        format!(
            "[flight]\nduration = 6.0\n[vehicle]\nfile = \"vehicles/bicopter.toml\"\n{drag}\n[controller]\napproach = \"particle\"\n\
             [controller.poles]\n{poles}\n[reference]\n{reference}\n[backend]\nplugin = \"sim\"\n"
        )
    };
    let pitching =
        "kind = \"lissajous\"\namplitude = [1, 0, 0.3]\nangular_frequency = [0.8, 0, 0.5]";
    let round = "kind = \"circle\"\nradius = 1\nperiod = 5";
    let drag = "bodies.airframe.drag.linear = [0.3, 0.3, 0]";
    for (reference, drag, exact) in [
        (pitching, "", true),
        (pitching, drag, false),
        (round, "", false),
    ] {
        folder.write("flight.toml", &text(reference, drag));
        let (report, _) = folder.ends(&["check", "--config", "flight.toml"], 0);
        let said = report.contains("% of the wrench that it needs at");
        assert_eq!(said, !exact, "{report}");
        assert_eq!(
            report.contains("it is followed nearly, not exactly"),
            !exact
        );
        assert!(!report.contains("PROBLEM"), "{report}");
    }
    folder.write("flight.toml", &text(pitching, ""));
    let named = "reference.point_height=inf";
    let (_, stderr) = folder.ends(&["check", "--config", "flight.toml", "--set", named], 2);
    common::contains(&stderr, "`reference.point_height` is not finite");
}

#[test]
fn another_kind_drops_the_keys_of_the_old_one() {
    let folder = Folder::new();
    let flight = ["check", "--config", "quadcopter-loop.toml"];
    let set = ["--set", "reference.kind=circle", "--set"];
    let period = ["reference.period=4"];
    let (stdout, stderr) = folder.ends(
        &[&flight[..], &["--set", "reference.kind=hover"]].concat(),
        0,
    );
    common::contains(
        &stderr,
        "`reference.kind` is \"hover\" in place of \"loop\": the other keys of `reference` are dropped (`radius`, `duration`, `start`)",
    );
    common::contains(&stdout, "everything is in order");
    // What flags give stays, before and after the kind.
    let radius = ["--set", "reference.radius=0.7"];
    for order in [
        [&flight[..], &radius, &set, &period].concat(),
        [&flight[..], &set, &period, &radius].concat(),
    ] {
        folder.ends(&order, 0);
    }
    let (_, stderr) = folder.ends(&[&flight[..], &set, &period].concat(), 2);
    common::contains(&stderr, "missing key `reference.radius`");
}
