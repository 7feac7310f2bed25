//! Faults, injected while the real command flies an armed vehicle: what happens, and how long until the first safe command.
//!
//! The tests run most of them at once. `cargo xtask faults` runs all of them one by one, with every core busy, demands a command
//! within 100 ms and prints the table of `docs/safety.md`.

use crate::common::Folder;
use crate::real_time;

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// External events during the flight.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    Nothing,
    /// This signal, half a second after the first command.
    Signal(&'static str),
    /// The same, to a flight that `nohup` has started.
    Ignored(&'static str),
    /// Nobody takes the messages from standard error.
    FullPipe,
}

struct Fault {
    name: &'static str,
    /// What the vehicle's plugin does, and for how many calls.
    statue: &'static str,
    calls: Option<u32>,
    outside: Outside,
    /// More arguments of the command.
    set: &'static [&'static str],
    /// The exit code, and a part of what is printed.
    code: i32,
    says: &'static str,
    /// In words, for the table.
    happens: &'static str,
    /// It takes longer than the tests have.
    slow: bool,
}

const USUAL: Fault = Fault {
    name: "",
    statue: "",
    calls: None,
    outside: Outside::Nothing,
    set: &[],
    code: 4,
    says: "",
    happens: "",
    slow: false,
};

/// A fault of the plugin's that lasts.
const fn lasting(name: &'static str, says: &'static str, happens: &'static str) -> Fault {
    Fault {
        name,
        statue: name,
        says,
        happens,
        ..USUAL
    }
}

const fn signal(name: &'static str, signal: &'static str) -> Fault {
    Fault {
        name,
        outside: Outside::Signal(signal),
        code: INTERRUPTED,
        says: "interrupted after",
        happens: "lands, log finished",
        ..USUAL
    }
}

/// The exit code of an interrupted flight, and of one whose backend does not return.
const INTERRUPTED: i32 = 130;
const HUNG: i32 = 8;

const DESCENT: &str = "held, then a descent, then landed";

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    lasting("no frames", "no frame: levelling and descending", DESCENT),
    Fault { calls: Some(20), code: 0, says: "frames are back", happens: "held, flown on",
        set: &["-vv"], ..lasting("no frames", "", "") }.named("no frames for 40 ms"),
    Fault { calls: Some(100), code: 0, says: "frames are back: resuming", happens: "held, then a descent, then flown on",
        ..lasting("no frames", "", "") }.named("no frames for 200 ms"),
    Fault { set: &["--set", "safety.then=land"], happens: "held, then landed",
        ..lasting("no frames", "no frame: landing", "") }.named("no frames, `then = \"land\"`"),
    lasting("stale data", "is stale: levelling and descending", DESCENT),
    lasting("invalid data", "is marked invalid: levelling and descending", DESCENT),
    lasting("data that is not finite", "is not finite: levelling and descending", DESCENT),
    Fault { set: &["--set", "flight.duration=4"],
        ..lasting("frozen state", "repeats itself: levelling and descending", "noticed after 0.5 s; held, then a descent, then landed") }
        .named("the same values with new stamps, of a vehicle that moves by its own account"),
    lasting("absurd data", "levelling and descending", "held; the law fails in the descent, too: sinks with 95 % of its weight; landed"),
    lasting("late reads without a frame", "no frame: levelling and descending", DESCENT).named("reads that are 20 ms late and bring nothing"),
    lasting("frames that repeat at once", "did not advance: levelling and descending", DESCENT),
    lasting("time stands still", "did not advance: levelling and descending", DESCENT),
    Fault { calls: Some(1), code: 0, says: "flown after", happens: "held for one tick, flown on",
        ..lasting("an hour ahead", "", "") }.named("one frame an hour ahead"),
    Fault { code: 0, says: "jumps of the backend's clock", happens: "held for one tick, flown on",
        ..lasting("an hour ahead", "", "") }.named("frames an hour ahead from now on"),
    Fault { code: 3, ..lasting("failing reads", "the backend reports an error: levelling and descending", DESCENT) },
    Fault { code: 3, ..lasting("failing writes", "the backend does not send the commands: landing", "landed") },
    Fault { calls: Some(10), code: 0, says: "10 commands were not sent", happens: "flown on",
        ..lasting("failing writes", "", "") }.named("failing writes for 20 ms"),
    Fault { calls: Some(20_000), code: 0, says: "flown after", happens: "flown on",
        ..lasting("early reads", "", "") }.named("20000 reads that return early"),
    Fault { code: HUNG, ..lasting("hang in read", "`read` of the backend does not return", "told to land past the call; the process ends") },
    lasting("late calls", "of the backend does not return: the vehicle was told to land", "told to land past the calls; ends in order")
        .named("reads and writes that are 75 ms late each"),
    Fault { calls: Some(1), says: "`read` of the backend does not return", happens: "told to land past the call; ends in order",
        ..lasting("hang in read", "", "") }.named("a read that takes 300 ms"),
    Fault { code: HUNG, ..lasting("hang in write", "`write` of the backend does not return", "told to land past the call; the process ends") },
    Fault { code: HUNG, ..lasting("hang in arm", "`arm` of the backend does not return", "never commanded; the process ends") },
    Fault { code: HUNG, set: &["--set", "flight.duration=1"],
        ..lasting("hang in request", "`request` of the backend does not return", "told to land past the call; the process ends") },
    Fault { code: HUNG, set: &["--set", "flight.duration=1"],
        ..lasting("hang in stop", "`stop` of the backend does not return", "landed before; the process ends") },
    Fault { outside: Outside::FullPipe, code: 0, says: "flown after", happens: "flown on, messages counted",
        ..lasting("flood of messages", "", "") }.named("messages that nobody takes from the pipe"),
    signal("Ctrl-C", "-INT"),
    signal("SIGTERM", "-TERM"),
    signal("SIGHUP: the terminal is closed", "-HUP"),
    signal("SIGHUP and SIGTERM at once", "-HUP -TERM"),
    signal("SIGXCPU: the time is used up", "-XCPU"),
    signal("SIGPWR: the power fails", "-PWR"),
    signal("SIGUSR1", "-USR1"),
    Fault { code: 128 + 6, ..lasting("abort", "", "told to land; the process ends") }.named("`abort` in the plugin"),
    Fault { code: 128 + 11, ..lasting("invalid address", "", "told to land; the process ends") }.named("the plugin writes to an invalid address"),
    Fault { code: 128 + 6, says: "overflowed its stack", ..lasting("endless recursion", "", "told to land; the process ends") }.named("the plugin calls itself for ever"),
    Fault { code: 3, ..lasting("exit", "ended from within", "told to land; the process ends") }.named("`exit` in the plugin"),
    Fault { code: 3, ..lasting("end of the frames", "its frames end while the vehicle is commanded", "landed") },
    Fault { outside: Outside::Ignored("-HUP"), code: 0, says: "flown after", happens: "flown on",
        ..signal("SIGHUP of a flight under nohup", "") },
    signal("SIGQUIT", "-QUIT"),
    signal("Ctrl-Z", "-TSTP"),
    Fault { statue: "no landing of its own", happens: "flown to the ground, disarmed",
        ..signal("Ctrl-C; the vehicle cannot land by itself", "-INT") },
    Fault { code: 3, slow: true, ..lasting("far from the reference", "not armed: the reference begins 5.00 m", "never armed") },
];

impl Fault {
    const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}

/// What became of a fault.
struct Outcome {
    /// Commands and requests after the fault, ms.
    told: Vec<(f64, String)>,
    /// Longest time without one, from the fault on until the vehicle lands by itself or the flight is over, ms.
    gap: f64,
}

fn now() -> i64 {
    fly_hal::monotonic_now()
}

/// Lines of the vehicle's journal: when, and what.
fn journal(path: &Path) -> Vec<(i64, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(time, what)| (time.parse().unwrap(), what.to_owned()))
        .collect()
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(fault: &Fault, folder: &Folder, library: &Path, journal: &Path) -> Child {
    let config = real_time::configuration_of(folder, 2.0, library);
    let fly = env!("CARGO_BIN_EXE_fly");
    let mut command = match fault.outside {
        Outside::Ignored(_) => Command::new("nohup"),
        _ => Command::new(fly),
    };
    if command.get_program() != fly {
        command.arg(fly);
    }
    command
        .args([
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ])
        .args(["--set", "safety.max_descent_time=0.5"])
        .args(["--set", "safety.request_timeout=1"])
        .args(fault.set)
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", library.parent().unwrap())
        .env("STATUE_FAULT", fault.statue)
        .env("STATUE_JOURNAL", journal)
        .env_remove("RUST_LOG")
        .stdout(Stdio::from(
            std::fs::File::create(folder.path("stdout")).unwrap(),
        ));
    if let Some(calls) = fault.calls {
        command.env("STATUE_FOR", calls.to_string());
    }
    match fault.outside {
        Outside::FullPipe => command.stderr(Stdio::piped()),
        _ => command.stderr(Stdio::from(
            std::fs::File::create(folder.path("stderr")).unwrap(),
        )),
    };
    command.spawn().unwrap()
}

/// Flies with a fault. It must end as the table says.
fn fly(fault: &Fault, library: &Path) -> Outcome {
    let (begun, journal) = flown(fault, library);
    outcome(&journal, begun, fault)
}

/// When the fault came from outside, and the vehicle's journal.
fn flown(fault: &Fault, library: &Path) -> (Option<i64>, Vec<(i64, String)>) {
    let folder = Folder::new();
    let path = folder.path("journal");
    let mut flight = start(fault, &folder, library, &path);
    let mut begun = None;
    if let Outside::Signal(signal) | Outside::Ignored(signal) = fault.outside {
        let flies = || journal(&path).iter().any(|(_, what)| what == "write");
        wait_until(fault.name, flies);
        std::thread::sleep(Duration::from_millis(500));
        begun = Some(now());
        let pid = flight.id().to_string();
        for signal in signal.split(' ') {
            let killed = Command::new("kill").args([signal, &pid]).status().unwrap();
            // The second one may come too late.
            assert!(killed.success() || signal == "-TERM");
        }
    }
    let mut status = None;
    wait_until(fault.name, || {
        status = flight.try_wait().unwrap();
        status.is_some()
    });
    let read = |name| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    let printed = format!("{}\n{}", read("stdout"), read("stderr"));
    let case = format!("{}:\n{printed}", fault.name);
    let status = status.unwrap();
    let killed = status.signal().map(|signal| 128 + signal);
    assert_eq!(status.code().or(killed), Some(fault.code), "{case}");
    assert!(
        printed.contains(fault.says),
        "expected `{}` in {case}",
        fault.says
    );
    let ends_the_process = fault.code == HUNG || killed.is_some() || fault.statue == "exit";
    if !ends_the_process {
        assert!(
            folder.path("flight.mcap").exists(),
            "the log is finished: {case}"
        );
    }
    (begun, journal(&path))
}

fn outcome(journal: &[(i64, String)], begun: Option<i64>, fault: &Fault) -> Outcome {
    // A call of the fault's name hangs from its own line on.
    let call = match fault.statue {
        "hang in arm" => "arm",
        "hang in request" => "land",
        "hang in stop" => "stop",
        _ => "fault",
    };
    let line = journal.iter().find(|(_, what)| what == call);
    let Some(begun) = begun.or(line.map(|(time, _)| *time)) else {
        assert!(
            journal.iter().all(|(_, what)| what == "stop"),
            "{}",
            fault.name
        );
        return Outcome {
            told: Vec::new(),
            gap: 0.0,
        };
    };
    let ms = |from: i64, to: i64| (to - from) as f64 * 1e-6;
    let mut told = Vec::new();
    let (mut last, mut gap) = (begun, 0.0_f64);
    // Before its first command, and after it lands by itself, it needs none.
    if matches!(call, "arm" | "stop") {
        return Outcome {
            told: Vec::new(),
            gap: 0.0,
        };
    }
    let mut landing = false;
    for (time, what) in journal.iter().filter(|(time, _)| *time > begun) {
        if matches!(what.as_str(), "write" | "land" | "disarm" | "terminate") {
            told.push((ms(begun, *time), what.clone()));
            if !landing {
                gap = gap.max(ms(last, *time));
            }
            last = *time;
            landing |= what != "write";
        }
    }
    assert!(landing, "{}: nobody told it to land: {told:?}", fault.name);
    assert!(
        told.iter().all(|(_, what)| what != "terminate"),
        "{}",
        fault.name
    );
    Outcome { told, gap }
}

/// Not the bound of `cargo xtask faults`: other tests have the machine as well, and so may compilers.
const BUSY: f64 = 2000.0;

#[test]
fn no_fault_leaves_a_vehicle_alone() {
    let folder = Folder::new();
    let library = real_time::statue(&folder, &[]);
    let faults: Vec<_> = FAULTS.iter().filter(|fault| !fault.slow).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = fly(fault, &library);
                    assert!(outcome.gap < BUSY, "{}: {} ms", fault.name, outcome.gap);
                }
            });
        }
    });
}

/// A plugin that hangs cannot be called, and without `emergency` there is no other way to the vehicle. The process
/// reports this and ends, so that the vehicle's own failsafe takes over.
#[test]
fn a_hang_that_nobody_gets_past_is_told_and_ends_the_process() {
    const SECOND: &[&str] = &["--set", "flight.duration=1"];
    let libraries = [Folder::new(), Folder::new()];
    let mute = real_time::statue(&libraries[0], &["-DMUTE"]);
    let talks = real_time::statue(&libraries[1], &[]);
    let hangs = [
        (
            "hang in read",
            "`read` of the backend does not return: LAND failed",
            &[][..],
            "fault",
        ),
        (
            "hang in read and emergency",
            "`read` of the backend does not return: LAND failed",
            &[],
            "fault",
        ),
        (
            "hang in write",
            "`write` of the backend does not return: LAND failed",
            &[],
            "fault",
        ),
        (
            "hang in request",
            "`request` of the backend does not return: LAND failed",
            SECOND,
            "land",
        ),
    ];
    for (statue, says, set, begins) in hangs {
        let folder = Folder::new();
        let path = folder.path("journal");
        let fault = Fault {
            set,
            code: HUNG,
            ..lasting(statue, says, "")
        };
        let library = if statue.contains("emergency") {
            &talks
        } else {
            &mute
        };
        let mut flight = start(&fault, &folder, library, &path);
        let begun = || {
            journal(&path)
                .iter()
                .find(|(_, what)| what == begins)
                .map(|(at, _)| *at)
        };
        wait_until(statue, || begun().is_some());
        let status = flight.wait().unwrap();
        let took = (now() - begun().unwrap()) as f64 * 1e-9;
        let printed = std::fs::read_to_string(folder.path("stderr")).unwrap();
        assert_eq!(status.code(), Some(HUNG), "{printed}");
        assert!(
            printed.contains(says) && printed.contains("uncommanded"),
            "{printed}"
        );
        // 80 ms and a second; the busy machine takes the rest.
        assert!((1.0..5.0).contains(&took), "{statue}: {took} s");
        assert!(folder.path("flight.mcap.part").exists(), "its log stays");
    }
}

/// A vehicle that really sinks, in real time: it is flown down, and disarmed on the ground and not before.
#[test]
fn a_landing_in_real_time_ends_on_the_ground() {
    const DOWN: &[&str] = &[
        "--set",
        "reference.position=[0, 0, 0.4]",
        "--set",
        "safety.max_descent_time=20",
        "--set",
        "flight.duration=60",
    ];
    // Without it the ground's height is unknown: the vehicle just stops sinking.
    const GROUND: &[&str] = &["--set", "safety.ground_height=0.02"];
    let build = Folder::new();
    let library = real_time::statue(&build, &["-DHEIGHT=0.4", "-DMASS=0.9"]);
    for (set, highest) in [([DOWN, GROUND].concat(), 0.02), (DOWN.to_vec(), 0.0)] {
        let fault = Fault {
            statue: "no landing of its own",
            set: set.leak(),
            ..signal("a landing", "-INT")
        };
        let (_, journal) = flown(&fault, &library);
        let disarmed = journal.iter().position(|(_, what)| what == "disarm");
        let (_, height) = &journal[disarmed.expect("it is disarmed") + 1];
        let height: f64 = height.strip_prefix("height ").unwrap().parse().unwrap();
        assert!((0.0..=highest).contains(&height), "disarmed at {height} m");
    }
}

/// Whoever interrupts a second time, while the vehicle is flown down, ends the process, but not without telling it to land.
#[test]
fn a_second_interruption_tells_the_vehicle_to_land() {
    let build = Folder::new();
    let library = real_time::statue(&build, &["-DHEIGHT=40.0", "-DMASS=0.9"]);
    let (folder, fault) = (
        Folder::new(),
        Fault {
            statue: "no landing of its own",
            set: &["--set", "reference.position=[0, 0, 40]"],
            ..signal("a second interruption", "")
        },
    );
    let path = folder.path("journal");
    let mut flight = start(&fault, &folder, &library, &path);
    let flies = || journal(&path).iter().any(|(_, what)| what == "write");
    wait_until("it flies", flies);
    for pause in [1500, 0] {
        let pid = flight.id().to_string();
        let killed = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(killed.success());
        std::thread::sleep(Duration::from_millis(pause));
    }
    assert_eq!(flight.wait().unwrap().code(), Some(INTERRUPTED));
    let journal = journal(&path);
    let mut told = journal.iter().skip_while(|(_, what)| what != "land");
    assert!(told.next().is_some(), "it is told to land");
    // Whatever the machine does before the process is gone, at most the command that was under way follows.
    let commands = told.filter(|(_, what)| what == "write").count();
    assert!(commands <= 1, "{commands} commands while it lands");
    assert!(folder.path("flight.mcap.part").exists(), "its log stays");
}

/// Where the table stands.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/safety.md");

/// The rows of the table, without times.
fn rows() -> impl Iterator<Item = String> {
    FAULTS
        .iter()
        .map(|fault| format!("| {} | {} | {} |", fault.name, fault.happens, fault.code))
}

#[test]
fn the_documentation_lists_every_fault() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    for row in rows() {
        assert!(
            page.contains(&row),
            "docs/safety.md is stale: run `cargo xtask faults --write`; it lacks\n{row}"
        );
    }
}

#[test]
#[ignore = "with every core busy, for a minute: cargo xtask faults"]
fn every_fault_one_by_one() {
    let folder = Folder::new();
    let library = real_time::statue(&folder, &[]);
    let mut table = String::from(
        "| fault | what happens | exit code | first safe command, ms | longest time without one, ms |\n|---|---|---|---|---|\n",
    );
    let over = AtomicBool::new(false);
    let slowest = std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..cores {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let mut slowest = 0.0_f64;
        for (fault, row) in FAULTS.iter().zip(rows()) {
            let outcome = fly(fault, &library);
            if fault.happens == DESCENT {
                // It lasts as long as configured, on the wall clock.
                let land = outcome.told.iter().find(|(_, what)| what == "land");
                let (descent, _) = land.expect("it lands");
                assert!(*descent > 500.0, "{}: {descent} ms", fault.name);
            }
            let first = outcome
                .told
                .first()
                .map_or("none is needed".to_owned(), |(time, _)| {
                    format!("{time:.1}")
                });
            writeln!(table, "{row} {first} | {:.1} |", outcome.gap).unwrap();
            println!("{row} {first} | {:.1} |", outcome.gap);
            slowest = slowest.max(outcome.gap);
        }
        over.store(true, Ordering::Relaxed);
        slowest
    });
    assert!(slowest <= 100.0, "{slowest} ms without a command");
    if std::env::var_os("FLY_GENERATE").is_some() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (begin, end) = ("<!-- faults: begin -->\n", "<!-- faults: end -->");
        let (before, rest) = page.split_once(begin).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        std::fs::write(PAGE, [before, begin, &table, end, after].concat()).unwrap();
    }
}
