//! `fly plot`: flights as a picture.

use std::fs;

use crate::common::{Folder, begins, contains};

/// A quarter of a second of the quadcopter.
fn flight(folder: &Folder, log: &str) {
    let short = "flight.duration=0.25";
    folder.flies(&[
        "-q",
        "--config",
        "quadcopter.toml",
        "--set",
        short,
        "--log",
        log,
    ]);
}

fn text(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

/// The panels are those of the report, for vehicles and for systems.
#[test]
fn the_page_has_the_panels_of_the_report() {
    for configuration in ["quadcopter.toml", "examples/arm-joints.toml"] {
        let folder = Folder::new();
        let short = "flight.duration=0.25";
        folder.flies(&[
            "-q",
            "--config",
            configuration,
            "--set",
            short,
            "--log",
            "a.mcap",
            "--report",
        ]);
        assert_eq!(folder.flies(&["plot", "a.mcap"]), "a.svg\n");
        let (page, picture) = (text(&folder, "a.html"), text(&folder, "a.svg"));
        let (_, rest) = page.split_once(r#"id="contents">"#).unwrap();
        let contents: serde_json::Value =
            serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        let mut count = 0;
        for kind in ["panels", "spectra"] {
            for panel in contents["flights"][0][kind].as_array().unwrap() {
                contains(
                    &picture,
                    &format!(">{}</text>", panel["title"].as_str().unwrap()),
                );
                count += 1;
            }
        }
        assert!(count > 6, "{count}");
        contains(&picture, "prefers-color-scheme");
        // The same log gives the same bytes, in the place of the older picture.
        folder.flies(&["plot", "a.mcap"]);
        assert_eq!(text(&folder, "a.svg"), picture);
    }
}

#[test]
fn chosen_columns_have_their_names_and_units() {
    let folder = Folder::new();
    flight(&folder, "a.mcap");
    let arguments = [
        "plot",
        "a.mcap",
        "-o",
        "chosen.svg",
        "--theme",
        "dark",
        "--signals",
        "state.position.x,reference.position.x",
        "--signals",
        "command.rotor.*.thrust",
        "--xy",
        "state.position.x,state.position.y",
        "--phase",
        "state.position.z",
        "--spectrum",
        "state.angular_velocity.*",
    ];
    assert_eq!(folder.flies(&arguments), "chosen.svg\n");
    let picture = text(&folder, "chosen.svg");
    for label in [
        "m",
        "N",
        "state.position.x",
        "command.rotor.3.thrust",
        "state.position.y [m]",
        "d state.position.z/dt [m/s]",
        "(rad/s)²/Hz",
        "frequency [Hz]",
        "t [s]",
    ] {
        contains(&picture, &format!(">{label}</text>"));
    }
    assert!(!picture.contains("prefers-color-scheme"));
}

#[test]
fn several_logs_are_laid_over_each_other() {
    let folder = Folder::new();
    flight(&folder, "a.mcap");
    fs::copy(folder.path("a.mcap"), folder.path("b.mcap")).unwrap();
    let both = ["plot", "a.mcap", "b.mcap"];
    assert_eq!(folder.flies(&both), "plot.svg\n");
    contains(&text(&folder, "plot.svg"), ">b: x</text>");
    folder.flies(&[&both[..], &["--signals", "state.position.x"]].concat());
    contains(&text(&folder, "plot.svg"), ">b: state.position.x</text>");
}

#[test]
fn png_is_as_wide_as_asked() {
    let folder = Folder::new();
    flight(&folder, "a.mcap");
    let arguments = [
        "plot",
        "a.mcap",
        "-o",
        "a.png",
        "--width",
        "400",
        "--signals",
        "state.position.x",
        "--to",
        "0.1",
    ];
    folder.flies(&arguments);
    let bytes = fs::read(folder.path("a.png")).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(bytes[16..20].try_into().unwrap()), 800);
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new();
    flight(&folder, "a.mcap");
    let wrong = |arguments: &[&str], message: &str| {
        let (_, error) = folder.ends(&[&["plot"], arguments].concat(), 2);
        contains(&error, message);
    };
    wrong(&["missing.mcap"], "cannot read the log `missing.mcap`");
    wrong(
        &["a.mcap", "--signals", "state.positon.x"],
        "nothing of this name; is `state.position.x` meant?",
    );
    wrong(
        &["a.mcap", "--signals", "nonsense*"],
        "`fly log info a.mcap --signals` lists what there is",
    );
    wrong(
        &["a.mcap", "--phase", "control.mode"],
        "expected numbers, found text",
    );
    wrong(
        &["a.mcap", "--xy", "state.position.*,time"],
        "found 3 columns, from `state.position.x` and `state.position.y` on; name one",
    );
    wrong(
        &["a.mcap", "--xy", "time"],
        "expected two names of columns, found 1 name",
    );
    wrong(
        &["a.mcap", "--signals", "time,,fresh"],
        "found an empty name",
    );
    wrong(
        &["a.mcap", "--from", "2", "--to", "1"],
        "expected --from before --to, found 2 s and 1 s",
    );
    let beyond = "`a.mcap` has no tick from 3 s on: it lasts from 0.000 s to 0.250 s";
    wrong(&["a.mcap", "--from", "3"], beyond);
    wrong(&["a.mcap", "--from", "3", "--signals", "fresh"], beyond);
    let between = &["a.mcap", "--from", "0.1005", "--to", "0.1015"];
    let nothing = "`a.mcap` has no value from 0.1005 s to 0.1015 s: it has a gap there, or no tick";
    wrong(between, nothing);
    wrong(&[&between[..], &["--signals", "fresh"]].concat(), nothing);
    wrong(&["a.mcap", "-o", "a.pdf"], "ends in .svg or .png");
    wrong(
        &["a.mcap", "-o", "nodir/a.svg"],
        "error: the folder `nodir` does not exist\n",
    );
    wrong(&["a.mcap", "--columns", "0"], "1..=8");
    wrong(
        &["a.mcap", "--width", "200", "--columns", "8"],
        "expected a width of at least 1382 px for 8 columns of panels, found 200 px",
    );
    wrong(
        &["a.mcap", "--signals", "*"],
        "of 1 log apart in one panel: expected at most 32 columns; others go into further panels",
    );
    // A picture replaces a picture, nothing else.
    fs::write(folder.path("notes.svg"), "my notes").unwrap();
    wrong(
        &["a.mcap", "-o", "notes.svg"],
        "expected nothing there or an SVG picture",
    );
    begins(&text(&folder, "notes.svg"), "my notes");
}
