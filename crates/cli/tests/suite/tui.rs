//! `--tui` on a terminal of its own: what it draws, and how it leaves the terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::common::{self, Folder};

/// What makes a screen of a terminal, and what ends it; the cursor comes back.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const CURSOR: &str = "\u{1b}[?25h";

/// Said where a page stays until Ctrl-C.
const STAYS: &str = "its page stays";

/// How a flight is ended.
enum End {
    /// By itself.
    Itself,
    Signal(Signal),
    /// The keys that somebody presses.
    Keys(&'static [u8]),
}

struct Ended {
    status: ExitStatus,
    /// All that was written to the terminal.
    shown: String,
    /// What went to standard output.
    summary: String,
}

/// Flies on a terminal with so many columns and rows, and checks that it is as before in the end.
fn flown(arguments: &[&str], size: [u16; 2], environment: &[(&str, &str)], end: &End) -> Ended {
    let folder = Folder::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let open = || {
        let path = Path::new(name.to_str().unwrap());
        File::options().read(true).write(true).open(path).unwrap()
    };
    let ours = open();
    let resize = |[columns, rows]: [u16; 2]| {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size).unwrap();
    };
    resize(size);
    let before = tcgetattr(&ours).unwrap();
    // A session of its own, so that keys become signals.
    let mut flight = Command::new("setsid")
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_fly")])
        .args(arguments)
        .args(["--tui", "--log", "flight.mcap"])
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .env("TERM", "xterm")
        .env_remove("RUST_LOG")
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .stdin(Stdio::from(open()))
        .stdout(Stdio::piped())
        .stderr(Stdio::from(open()))
        .spawn()
        .unwrap();
    let mut terminal = File::from(master);
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let mut ended = false;
    let mut screen = ours;
    loop {
        // It says so itself when it leaves.
        let count = terminal.read(&mut buffer).unwrap();
        bytes.extend(&buffer[..count]);
        let shown = String::from_utf8_lossy(&bytes);
        if !ended && shown.contains("flying") && shown.contains("Inputs") {
            ended = true;
            let modes = tcgetattr(&screen).unwrap().local_modes;
            assert!(!modes.contains(LocalModes::ECHO) && modes.contains(LocalModes::ISIG));
            tcsetwinsize(
                &screen,
                Winsize {
                    ws_col: 50,
                    ws_row: 20,
                    ws_xpixel: 0,
                    ws_ypixel: 0,
                },
            )
            .unwrap();
            match end {
                End::Itself => {}
                End::Signal(signal) => {
                    let id = i32::try_from(flight.id()).unwrap();
                    kill_process(Pid::from_raw(child(id)).unwrap(), *signal).unwrap();
                }
                End::Keys(keys) => terminal.write_all(keys).unwrap(),
            }
        }
        let is_left = (shown.split_once(LEAVE)).is_some_and(|(_, rest)| rest.contains(CURSOR));
        let stays = arguments.contains(&"--view");
        if is_left && (!stays || shown.contains(STAYS)) {
            break;
        }
    }
    if arguments.contains(&"--view") {
        terminal.write_all(b"\x03").unwrap();
    }
    let mut summary = String::new();
    (flight.stdout.take().unwrap())
        .read_to_string(&mut summary)
        .unwrap();
    let status = flight.wait().unwrap();
    let after = tcgetattr(&screen).unwrap();
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
    assert_eq!(
        format!("{:?}", after.special_codes),
        format!("{:?}", before.special_codes)
    );
    // What was written last, without waiting for more.
    screen.write_all(b"\x04").unwrap();
    while !bytes.ends_with(b"\x04") {
        let count = terminal.read(&mut buffer).unwrap();
        bytes.extend(&buffer[..count]);
    }
    bytes.pop();
    Ended {
        status,
        shown: String::from_utf8(bytes).unwrap(),
        summary,
    }
}

/// The process that another one waits for.
fn child(of: i32) -> i32 {
    let path = format!("/proc/{of}/task/{of}/children");
    let children = std::fs::read_to_string(path).unwrap();
    children
        .split_whitespace()
        .next()
        .map_or(of, |id| id.parse().unwrap())
}

/// The codes that set a colour; 39 and 49 are the terminal's own.
fn colors(shown: &str) -> impl Iterator<Item = &str> {
    let codes = shown.split("\u{1b}[").skip(1).filter_map(|text| {
        let end = text.find(|c: char| c.is_ascii_alphabetic())?;
        text[end..].starts_with('m').then(|| &text[..end])
    });
    codes.filter(|codes| {
        let mut numbers = codes.split(';').filter_map(|code| code.parse::<u32>().ok());
        numbers.any(|code| matches!(code, 30..=38 | 40..=48 | 90..=97 | 100..=107))
    })
}

#[test]
fn a_flight_is_drawn_and_the_terminal_is_as_before() {
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=1.0",
        "--view",
    ];
    let ended = flown(&arguments, [100, 30], &[], &End::Itself);
    assert!(ended.status.success(), "{}", ended.shown);
    let (before, rest) = ended.shown.split_once(ENTER).unwrap();
    common::contains(before, "in a browser: http://127.0.0.1:");
    let (screen, after) = rest.split_once(LEAVE).unwrap();
    for word in [
        "position",
        "attitude",
        "rotor.3.thrust",
        "Timing",
        "Messages",
        "http://127.0.0.1:",
    ] {
        common::contains(screen, word);
    }
    assert!(colors(screen).count() > 0);
    common::contains(after, STAYS);
    common::contains(&ended.summary, "quadcopter: flown after 1.000 s");
}

#[test]
fn signals_and_keys_end_it_as_without() {
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=100.0",
    ];
    for end in [
        End::Signal(Signal::TERM),
        // What is typed before is not echoed, and Ctrl-Z does nothing.
        End::Keys(b"ls -l\n\x1a\x03"),
    ] {
        let ended = flown(&arguments, [40, 24], &[("NO_COLOR", "1")], &end);
        assert_eq!(ended.status.code(), Some(130), "{}", ended.shown);
        common::contains(&ended.summary, "interrupted");
        assert!(!ended.shown.contains("ls -l"), "{}", ended.shown);
        let colors: Vec<&str> = colors(&ended.shown).collect();
        assert!(
            colors.is_empty(),
            "colours in spite of NO_COLOR: {colors:?}"
        );
    }
}

#[test]
fn what_does_not_begin_leaves_the_terminal_alone() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter.toml", "--tui"];
    // Into a pipe nothing is drawn.
    let (stdout, stderr) = folder.ends(&arguments, 2);
    common::contains(
        &stderr,
        "--tui: standard error is not a terminal; expected one to draw on",
    );
    assert!(stdout.is_empty() && folder.files().is_empty());
    folder.ends(&[&arguments[..], &["--quiet"]].concat(), 2);
}
