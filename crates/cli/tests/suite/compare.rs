//! Controllers side by side: the same vehicle, references, limits and poles, with the errors that models have. `cargo xtask compare` flies all of it and writes
//! the tables of docs/controllers.md; the tests fly some of it and compare.

use std::fmt::Write as _;

use crate::common;

use common::Folder;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/controllers.md");
const VEHICLE: &str = include_str!("../../../../configs/vehicles/quadcopter.toml");

/// Name, and what `[controller]` has beside poles and allocation.
const CONTROLLERS: [(&str, &str); 7] = [
    ("energy, observer", "[controller.disturbance]"),
    ("energy", ""),
    ("lee", "approach = 'lee'"),
    ("rotorpy_se3", "approach = 'rotorpy_se3'"),
    (
        "cascade, no integral",
        "approach = 'cascade'\ncascade = { velocity_integral = 0, rate_integral = 0 }",
    ),
    ("cascade", "approach = 'cascade'"),
    ("indi", "approach = 'indi'"),
];

const REFERENCES: [(&str, &str); 3] = [
    ("hover", "kind = 'hover'"),
    ("circle", "kind = 'circle'\nradius = 1.5\nperiod = 5"),
    (
        "lemniscate",
        "kind = 'lissajous'\namplitude = [2, 1, 0]\nangular_frequency = [1.2566370614359172, 2.5132741228718345, 1]\nphase = [1.5707963267948966, 0, 0]",
    ),
];

/// Name, and keys of `[backend.sim]`.
const WORLDS: [(&str, &str); 8] = [
    ("the model", ""),
    ("mass +30 %", "vehicle.bodies.airframe.mass = 1.17"),
    ("mass -20 %", "vehicle.bodies.airframe.mass = 0.72"),
    (
        "centre of mass 2 cm off",
        "vehicle.bodies.airframe.center_of_mass = [0.015, -0.0132, 0]",
    ),
    ("wind of 8 m/s", "wind.velocity = [6, -5.3, 0]"),
    (
        "one rotor 20 % weak",
        "actuators = [{ command = 'rotor.1.thrust', effectiveness = 0.8 }]",
    ),
    (
        "battery sags 20 % in a minute",
        "actuators = [{ rate = -0.0033333 }]",
    ),
    (
        "noise",
        "noise = { position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }",
    ),
];

/// s; errors count from the second number on.
const TIMES: [f64; 2] = [14.0, 4.0];

/// Root mean squares of a flight: error of position (m), and of the first rotor's command about its mean (N).
struct Cell {
    error: f64,
    command: f64,
}

fn fly(controller: &str, reference: &str, world: &str) -> Option<Cell> {
    let folder = Folder::new();
    folder.write("quadcopter.toml", VEHICLE);
    let poles = if controller.contains("rotorpy") {
        ""
    } else {
        "[controller.poles]
         horizontal = [-5, -5, -5, -5]
         yaw = { inertia = 0.011, damping = 0.11, stiffness = 0.275 }"
    };
    let (keys, table) = match controller.find('[') {
        Some(at) => controller.split_at(at),
        None => (controller, ""),
    };
    folder.write(
        "flight.toml",
        &format!(
            "[flight]
             duration = {}
             rate_hz = 500
             [vehicle]
             file = 'quadcopter.toml'
             bodies.airframe.drag = {{ linear = [0.25, 0.25, 0.1] }}
             [controller]
             allocation = 'active_set'
             {keys}
             {poles}
             {table}
             [reference]
             {reference}
             [backend]
             plugin = 'sim'
             [backend.sim]
             vehicle.file = 'quadcopter.toml'
             vehicle.bodies.airframe.drag = {{ linear = [0.25, 0.25, 0.1] }}
             initial.commands = 'first'
             {world}
             ",
            TIMES[0]
        ),
    );
    let output = folder.fly(&["--config", "flight.toml", "--log", "flight.mcap", "-q"]);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| [0, 4, 6].contains(&code)),
        "{controller}, {reference}, {world}: {code:?} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    (code == Some(0)).then(|| measure(&folder, reference))
}

/// Of the true position, from the log.
fn measure(folder: &Folder, reference: &str) -> Cell {
    let text = VEHICLE.replace(
        "mass = 0.9",
        "mass = 0.9\ndrag = { linear = [0.25, 0.25, 0.1] }",
    );
    let vehicle = fly_mechanics::Vehicle::from_toml(&text).unwrap();
    let settings: fly_control::ReferenceSettings = toml::from_str(reference).unwrap();
    let fly_control::Reference::Planned(mut reference) = settings.build(&vehicle).unwrap() else {
        panic!("a planned reference")
    };
    let options = fly_log::Options::default();
    let recording = fly_log::Recording::open(folder.path("flight.mcap"), &options).unwrap();
    let place = |name: &str| recording.description.value_index(name).unwrap();
    let (position, command) = (
        place("truth.pose.position.x"),
        place("recorded.rotor.0.thrust"),
    );
    let (mut square, mut sum, mut of_command, mut count) = (0.0, 0.0, 0.0, 0.0);
    for frame in recording.frames.iter() {
        let time = frame.time as f64 * 1e-9;
        if time < TIMES[1] {
            continue;
        }
        let at = nalgebra::Vector3::from_column_slice(&frame.values[position..position + 3]);
        let goal = reference.sample(time).unwrap().pose.translation;
        square += (at - goal).norm_squared();
        let command = frame.values[command];
        if command.is_finite() {
            sum += command;
            of_command += command * command;
            count += 1.0;
        }
    }
    assert!(count > 1000.0);
    let mean = sum / count;
    Cell {
        error: (square / count).sqrt(),
        command: (of_command / count - mean * mean).max(0.0).sqrt(),
    }
}

fn millimetres(cell: Option<&Cell>) -> String {
    match cell.map(|cell| 1e3 * cell.error) {
        None => "lost".to_owned(),
        Some(error) if error < 9.95 => format!("{error:.1}"),
        Some(error) => format!("{error:.0}"),
    }
}

fn table() -> String {
    let mut text = String::new();
    for (path, reference) in REFERENCES {
        let names = CONTROLLERS.map(|(name, _)| format!(" {name} |")).concat();
        writeln!(
            text,
            "\n### {path}\n\n| |{names}\n|---|{}",
            "---|".repeat(CONTROLLERS.len())
        )
        .unwrap();
        for (world, keys) in WORLDS {
            let cells = CONTROLLERS.map(|(_, keys_of)| fly(keys_of, reference, keys));
            let order = |cell: &&Cell| (1e4 * cell.error).round();
            let best = cells
                .iter()
                .flatten()
                .min_by(|a, b| order(a).total_cmp(&order(b)));
            let best = millimetres(best);
            write!(text, "| {world} |").unwrap();
            for cell in &cells {
                let told = millimetres(cell.as_ref());
                if told == best {
                    write!(text, " **{told}** |").unwrap();
                } else {
                    write!(text, " {told} |").unwrap();
                }
            }
            text.push('\n');
            if world == "noise" && path == "hover" {
                write!(text, "| noise: rms of a rotor's command, N |").unwrap();
                for cell in &cells {
                    let told = cell
                        .as_ref()
                        .map_or("lost".to_owned(), |cell| format!("{:.2}", cell.command));
                    write!(text, " {told} |").unwrap();
                }
                text.push('\n');
            }
        }
    }
    text.push('\n');
    text
}

/// All of it, some minutes: `cargo xtask compare`, and with `--write` into the page.
#[test]
#[ignore = "flies everything: cargo xtask compare"]
fn every_controller_in_every_world() {
    let table = table();
    println!("{table}");
    if std::env::var_os("FLY_GENERATE").is_some() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (begin, end) = ("<!-- compare: begin -->\n", "<!-- compare: end -->");
        let (before, rest) = page.split_once(begin).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        std::fs::write(PAGE, [before, begin, &table, end, after].concat()).unwrap();
    }
}

/// What the page says of one row, in its words.
fn row<'a>(page: &'a str, path: &str, world: &str) -> Vec<&'a str> {
    let section = page.split_once(&format!("\n### {path}\n")).expect(path).1;
    let line = section
        .lines()
        .find_map(|line| line.strip_prefix(&format!("| {world} |")));
    line.expect(world)
        .split('|')
        .map(|cell| cell.trim().trim_matches('*'))
        .collect()
}

/// A row of the page is what is flown; and with every error of the model the observer is at least ten times better than Lee's law and a cascade without integrals, on
/// curves, and better than one with them.
#[test]
fn the_page_tells_what_is_flown() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (path, reference) = REFERENCES[1];
    let (world, keys) = WORLDS[1];
    let told = row(&page, path, world);
    for ((_, controller), told) in CONTROLLERS.iter().zip(&told) {
        assert_eq!(
            millimetres(fly(controller, reference, keys).as_ref()),
            *told,
            "{controller}"
        );
    }
    for (path, _) in &REFERENCES[1..] {
        for (world, _) in &WORLDS[1..7] {
            let cells = row(&page, path, world);
            let error = |i: usize| cells[i].parse().unwrap_or(f64::INFINITY);
            let ours = error(0);
            assert!(10.0 * ours <= error(2), "{path}, {world}: lee {cells:?}");
            assert!(
                10.0 * ours <= error(4),
                "{path}, {world}: cascade without integral {cells:?}"
            );
            assert!(ours < error(5), "{path}, {world}: cascade {cells:?}");
        }
    }
}
