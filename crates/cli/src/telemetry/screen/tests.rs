//! What the screen shows is what the rows of a flight say.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fly_flight::config::{Configuration, Options};
use fly_flight::{Flight, Memory, MemoryRow, Punctuality, backend};
use fly_hal::signal::truth;
use fly_mechanics::scene::single_joints;
use fly_plugin_sim::Simulation;
use fly_view::{Hub, ViewSink};
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::draw::{Paint, draw, fixed};
use super::snapshot::{About, Snapshot};

/// Flies so many ticks, and what those who watch have of it.
fn flown(name: &str, set: &[&str], ticks: usize) -> (Memory, Snapshot) {
    let options = Options {
        config: name.into(),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Options::default()
    };
    let configuration = Configuration::load(&options).unwrap_or_else(|error| panic!("{error}"));
    let hub = Arc::new(Hub::default());
    let mut sink = ViewSink::new(Memory::default(), Some(Arc::clone(&hub)));
    let world = backend::configure::<Simulation>(&configuration, false).unwrap();
    let mut flight = Flight::new(&configuration, world, &mut sink).unwrap();
    for _ in 0..ticks {
        assert_eq!(flight.tick(), None);
    }
    let times = flight.punctuality();
    let time = flight.flight_time();
    let about = About {
        duration: flight.duration(),
        note: Some("http://127.0.0.1:1".to_owned()),
    };
    let began = Instant::now();
    let snapshot = loop {
        let snapshot = hub.look(|live| Snapshot::new(live, &about, times));
        match snapshot {
            Some(snapshot) if (snapshot.time - time).abs() < 1e-9 => break snapshot,
            _ => assert!(began.elapsed() < Duration::from_secs(10), "nothing comes"),
        }
        thread::sleep(Duration::from_millis(1));
    };
    drop(flight);
    (sink.into_sink(), snapshot)
}

/// The lines of a screen of this size.
fn lines(snapshot: &Snapshot, width: u16, height: u16) -> Vec<String> {
    let mut terminal = ratatui::Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(frame, snapshot, Paint::new(false)))
        .unwrap();
    let buffer = terminal.backend().buffer();
    assert!(
        buffer
            .content
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset),
        "colours without colours"
    );
    let line = |y: u16| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

/// The words of the first line that has this one, from it on.
fn after(lines: &[String], word: &str) -> Vec<String> {
    let found = lines
        .iter()
        .find_map(|line| Some(&line[line.find(word)?..]));
    let found = found.unwrap_or_else(|| panic!("no `{word}` in\n{}", lines.join("\n")));
    found
        .split_whitespace()
        .skip(1)
        .map(str::to_owned)
        .collect()
}

/// Roll, pitch and yaw of a quaternion, degrees, by their textbook formulas.
fn angles([w, x, y, z]: [f64; 4]) -> [f64; 3] {
    let roll = (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y));
    let pitch = (2.0 * (w * y - z * x)).asin();
    let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
    [roll, pitch, yaw].map(f64::to_degrees)
}

fn shown(values: &[f64]) -> Vec<String> {
    values.iter().map(|value| format!("{value:.3}")).collect()
}

fn last(memory: &Memory) -> &MemoryRow {
    memory.rows.last().unwrap()
}

#[test]
fn the_numbers_on_the_screen_are_those_of_the_rows() {
    let (memory, snapshot) = flown("quadcopter.toml", &["flight.duration=20.0"], 600);
    let row = last(&memory);
    let state = row.state.unwrap();
    let reference = row.control.as_ref().unwrap().reference.unwrap();
    let [x, y, z, quaternion @ ..] = reference.pose;
    for (width, height) in [(100, 30), (40, 40), (200, 60)] {
        let lines = lines(&snapshot, width, height);
        assert_eq!(after(&lines, "position")[..3], shown(&state.pose[..3]));
        assert_eq!(after(&lines, "ref.")[..3], shown(&[x, y, z]));
        let own = [3, 4, 5, 6].map(|i| state.pose[i]);
        assert_eq!(after(&lines, "attitude")[..3], shown(&angles(own)));
        let second = lines
            .iter()
            .filter(|line| line.contains("ref."))
            .nth(1)
            .unwrap();
        assert_eq!(
            after(std::slice::from_ref(second), "ref.")[..3],
            shown(&angles(quaternion))
        );
        assert_eq!(after(&lines, "velocity")[..3], shown(&state.twist[..3]));
        let rates = [3, 4, 5].map(|i| state.twist[i].to_degrees());
        assert_eq!(after(&lines, "rates")[..3], shown(&rates));
        // The true position, as in reports.
        let told = |axis: &str| {
            let place = memory
                .header
                .description
                .value_index(&truth(&format!("pose.position.{axis}")));
            row.values[place.unwrap()]
        };
        let distance =
            ((told("x") - x).powi(2) + (told("y") - y).powi(2) + (told("z") - z).powi(2)).sqrt();
        let errors = lines
            .iter()
            .position(|line| line.starts_with("Errors"))
            .unwrap();
        assert_eq!(
            after(&lines[errors..], "position")[0],
            format!("{distance:.3}")
        );
        for (i, command) in row.commands.as_ref().unwrap().iter().enumerate() {
            let words = after(&lines, &format!("rotor.{i}.thrust"));
            assert!(
                words.contains(&format!("{command:.3}")),
                "{words:?} {command}"
            );
        }
        let text = lines.join("\n");
        assert!(
            lines[0].starts_with("quadcopter") && lines[0].contains("flying"),
            "{text}"
        );
        assert!(lines[1].contains("1.2 / 20.0 s"), "{text}");
        assert!(text.contains("500 Hz"), "{text}");
    }
}

#[test]
fn joints_stand_beside_what_they_should_be() {
    for name in ["examples/arm-joints.toml", "examples/two-masses.toml"] {
        let (memory, snapshot) = flown(name, &[], 300);
        let [configuration, _] = last(&memory).system.as_ref().unwrap();
        let system = memory.header.flight.model().unwrap();
        let screen = lines(&snapshot, 120, 60);
        let joints = single_joints(&system);
        assert!(!joints.is_empty());
        for joint in joints {
            let is = configuration[joint.coordinate];
            let is = if joint.slides { is } else { is.to_degrees() };
            let words = after(&screen, &format!("{} ", joint.name));
            assert_eq!(words[0], format!("{is:.3}"), "{}", screen.join("\n"));
            assert!(
                words[1].parse::<f64>().is_ok(),
                "what it should be: {words:?}"
            );
        }
    }
}

#[test]
fn limits_warnings_and_modes_are_words() {
    let (memory, mut snapshot) = flown("quadcopter-upside-down.toml", &[], 20);
    let commands = last(&memory).commands.clone().unwrap();
    assert!(snapshot.inputs.iter().any(|input| input.at().is_some()));
    for (width, height) in [(100, 30), (40, 40)] {
        let screen = lines(&snapshot, width, height);
        for (i, command) in commands.iter().enumerate() {
            let words = after(&screen, &format!("rotor.{i}.thrust"));
            let [low, high] = snapshot.inputs[i].limits;
            let part = (command - low) / (high - low);
            let expected = match part {
                0.999.. => "max",
                ..=0.001 => "min",
                _ => "N",
            };
            assert_eq!(words.last().unwrap(), expected, "{words:?} {command}");
        }
    }
    // A mode of the supervisor and its message.
    let mode = snapshot.mode.as_mut().unwrap();
    "landing".clone_into(&mut mode.name);
    mode.is_alarm = true;
    snapshot.messages = vec![
        event(1.0, "warning", "1.000 s: holding the last command"),
        event(
            1.25,
            "error",
            "1.250 s: no frame has come for 250 ms, which is much longer than may be: landing",
        ),
    ];
    let screen = lines(&snapshot, 40, 45).join("\n");
    assert!(screen.contains(" LANDING"), "{screen}");
    assert!(
        screen.contains("1.000 s: warning: holding the last"),
        "{screen}"
    );
    assert!(
        screen.contains("1.250 s: error: no frame has come for"),
        "{screen}"
    );
    assert!(
        screen.contains("landing\n") || screen.ends_with("landing"),
        "the end of the last message:\n{screen}"
    );
}

fn event(time: f64, level: &'static str, text: &str) -> fly_report::flight::Event {
    fly_report::flight::Event {
        time,
        level,
        source: "fly".to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn any_size_is_drawn_with_the_mode_and_the_last_message() {
    let (_, mut snapshot) = flown("hexacopter.toml", &[], 50);
    snapshot.messages = vec![event(0.1, "error", "this is the last one")];
    for width in [1, 2, 10, 20, 39, 40, 79, 80, 83, 84, 85, 132, 300] {
        for height in [1, 2, 3, 5, 8, 12, 24, 80] {
            let screen = lines(&snapshot, width, height);
            if width >= 20 {
                assert!(screen[0].contains("flying"), "{width}: {}", screen[0]);
            }
            if width >= 30 && height >= 12 {
                let text = screen.join("\n");
                assert!(text.contains("last one"), "{width} x {height}\n{text}");
            }
        }
    }
    // What there is no room for is counted.
    let screen = lines(&snapshot, 40, 16).join("\n");
    assert!(screen.contains("more"), "{screen}");
}

#[test]
fn before_the_first_row_it_says_so() {
    let about = About::default();
    let screen = lines(&Snapshot::waiting(&about), 40, 10);
    assert!(screen[0].contains("not begun"), "{screen:?}");
}

#[test]
fn deadlines_matter_in_real_time_alone() {
    let (_, snapshot) = flown("quadcopter.toml", &[], 10);
    let said = |snapshot: &Snapshot| lines(snapshot, 100, 40).join("\n");
    assert!(said(&snapshot).contains("longest") && !said(&snapshot).contains("deadlines"));
    let hub = Arc::new(Hub::default());
    assert!(hub.look(|_| ()).is_none(), "nothing has begun");
    let late = Punctuality {
        last_step: Duration::from_micros(120),
        longest_step: Duration::from_micros(2500),
        deadline_misses: 3,
        is_real_time: true,
    };
    let mut snapshot = snapshot;
    snapshot.timing = super::snapshot::punctuality(late).collect();
    let text = said(&snapshot);
    assert!(
        text.contains("120 µs, longest 2500 µs") && text.contains("3 missed"),
        "{text}"
    );
}

#[test]
fn numbers_have_as_many_decimals_as_fit() {
    for (value, expected) in [
        (1.0, "1.000"),
        (-1234.5678, "-1234.57"),
        (123_456.789, "123456.8"),
        (-12_345_678.0, "-1.2e7"),
        (f64::NAN, "-"),
        (f64::INFINITY, "inf"),
    ] {
        assert_eq!(fixed(value), expected);
        assert!(fixed(value).len() <= 8);
    }
}
