//! The sections that belong to the flight itself: `[flight]`, `[safety]` and `[backend]`.

use std::path::PathBuf;

use fly_hal::CommandSet;
use serde::Deserialize;

use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Fragment, backend_table};
use super::limits::LimitsSection;
use super::section::{out_of_range, section};
use super::source::Origin;
use super::take_off::TakeOff;
use crate::supervisor::Response;

/// The longest flight, s: 31 years. Time is counted in 64-bit nanoseconds, which overflow after nine times that.
const LONGEST: f64 = 1e9;

/// `[flight]`: duration, rate, seed, log.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlightSection {
    /// Seconds until the flight ends by itself, > 0, at most 1e9. Without it the flight ends with its reference, with its
    /// recording, or when it is interrupted.
    #[serde(default)]
    pub duration: Option<f64>,
    /// Control steps per second, 1 to 10 000. Default 500.
    #[serde(default = "default_rate")]
    pub rate_hz: f64,
    /// Seed of all random numbers. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// Automatic take-off of a real vehicle on the ground once it is armed: `true`: to the height at which the reference begins, or a height
    /// above the ground, m, at most 1000. Default false.
    #[serde(default)]
    pub take_off: TakeOff,
    /// Whether the reference of a vehicle is relative to the vehicle's initial position and heading, instead of the world. Default false.
    #[serde(default)]
    pub relative: bool,
    /// Real-time scheduling of the loop, if the system permits it. Default: none.
    #[serde(default)]
    pub real_time: Option<RealTimeSection>,
    /// The log file. Without it `<config>-<UTC time>.mcap` in the current folder. Replaced when it exists.
    #[serde(default)]
    pub log: Option<PathBuf>,
}

/// `[flight.real_time]`: real-time scheduling of the loop.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RealTimeSection {
    /// Priority of `SCHED_FIFO`, 1 to 99; 0: none. Default 50.
    pub priority: u8,
    /// Whether the memory of the process is locked. Default true.
    pub lock_memory: bool,
    /// The core to which the loop is pinned. Default any.
    pub core: Option<usize>,
}

impl Default for RealTimeSection {
    fn default() -> Self {
        Self {
            priority: 50,
            lock_memory: true,
            core: None,
        }
    }
}

fn default_rate() -> f64 {
    500.0
}

impl Default for FlightSection {
    fn default() -> Self {
        Self {
            duration: None,
            rate_hz: default_rate(),
            seed: 0,
            take_off: TakeOff::None,
            relative: false,
            real_time: None,
            log: None,
        }
    }
}

impl FlightSection {
    /// Duration of one control step, rounded to whole nanoseconds, in which a flight counts time.
    #[allow(clippy::cast_possible_truncation)] // 1e5..=1e9 by validation
    pub fn step_ns(&self) -> i64 {
        (1e9 / self.rate_hz).round() as i64
    }

    pub(super) fn read(document: &Document) -> Result<Self, ConfigError> {
        let Some(fragment) = section(document, "flight")? else {
            return Ok(Self::default());
        };
        let mut flight: Self = fragment.decode()?;
        let mut problems = Problems::default();
        if !(1.0..=10_000.0).contains(&flight.rate_hz) {
            problems.push(out_of_range(
                document,
                "flight.rate_hz",
                "expected 1 to 10000 Hz",
                flight.rate_hz,
            ));
        }
        if let Some(real_time) = flight.real_time.as_ref().filter(|it| it.priority > 99) {
            problems.push(out_of_range(
                document,
                "flight.real_time.priority",
                "expected 0 to 99",
                real_time.priority.into(),
            ));
        }
        if let Some(duration) = flight.duration
            && (duration <= 0.0 || duration > LONGEST)
        {
            problems.push(out_of_range(
                document,
                "flight.duration",
                "expected more than 0 s and at most 1e9 s",
                duration,
            ));
        }
        problems.finish()?;
        if let Some(log) = &mut flight.log
            && let Some(place) = document.place("flight.log")
        {
            *log = place.source.resolve(&log.to_string_lossy());
        }
        Ok(flight)
    }
}

/// `[safety]`: what happens when frames are stale, not finite or missing.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SafetySection {
    /// How long the last command is held, ms, 0 to 50. Default 50.
    pub hold_ms: f64,
    /// The response, which cannot be `"warn"`. Default: `"descend"` for vehicles of one body, `"hold"` for other systems.
    pub then: Option<Response>,
    /// Whether a failsafe due to lost frames ends when frames return. Default true.
    pub resume: bool,
    /// Sink rate of the descent, m/s, more than 0, at most 10. Default 0.5.
    pub descent_rate: f64,
    /// How long a descent or a position hold may last before the backend is asked to land by itself, s, at most 3600. Default 30.
    pub max_descent_time: f64,
    /// How long a failsafe may fly on the model's prediction, without a complete frame, before the backend is asked to land by itself, s, at most 3600. Default 5; 1 where a real autopilot takes rates.
    pub max_blind_time: Option<f64>,
    /// Measured height at which a descent or position hold has reached the ground, m, of the one body that is free in the world.
    pub ground_height: Option<f64>,
    /// Largest distance between the vehicle and the start of the reference at which it is armed, m, at most 10 km. Default 1.
    pub start_distance: f64,
    /// The same in attitude, deg, at most 180. Default 30.
    pub start_angle_deg: f64,
    /// How late a call of the backend of a real vehicle may return before the vehicle is told to land, ms, 10 to 10 000. Default 80.
    pub hang_ms: f64,
    /// How long a real vehicle may take to arm, to disarm, or to begin to land on request, s, at most 600. Default 10.
    pub request_timeout: f64,
    /// How long a real vehicle may take to take off by itself, s, at most 600. Default 30.
    pub take_off_time: f64,
    /// How long the end of a flight waits for a real vehicle that lands to be disarmed, and how long a landing goes on without any telemetry, s, at most 600. Default 60.
    pub landing_time: f64,
    /// A measurement older than this counts as stale, ms, at most 10 000. Default 100.
    pub stale_ms: f64,
    /// The limits of the flight, and the responses.
    pub limits: LimitsSection,
}

/// The default of `safety.max_blind_time`, s …
const BLIND: f64 = 5.0;
/// … and where an autopilot takes rates: the model knows not how it follows them, and the attitude drifts at once.
const BLIND_WITH_RATES: f64 = 1.0;

impl SafetySection {
    /// How long a failsafe may fly without a complete frame, s, over these commands of a real vehicle.
    pub fn longest_blind(&self, commands: Option<CommandSet>) -> f64 {
        self.max_blind_time.unwrap_or(match commands {
            Some(CommandSet::Rates) => BLIND_WITH_RATES,
            _ => BLIND,
        })
    }
}

impl Default for SafetySection {
    fn default() -> Self {
        Self {
            hold_ms: 50.0,
            then: None,
            resume: true,
            descent_rate: 0.5,
            max_descent_time: 30.0,
            max_blind_time: None,
            ground_height: None,
            start_distance: 1.0,
            start_angle_deg: 30.0,
            hang_ms: 80.0,
            request_timeout: 10.0,
            take_off_time: 30.0,
            landing_time: 60.0,
            stale_ms: 100.0,
            limits: LimitsSection::default(),
        }
    }
}

impl SafetySection {
    fn read(document: &Document) -> Result<Self, ConfigError> {
        let Some(fragment) = section(document, "safety")? else {
            return Ok(Self::default());
        };
        let safety: Self = fragment.decode()?;
        let mut problems = Problems::default();
        if !(0.0..=50.0).contains(&safety.hold_ms) {
            let problem = out_of_range(
                document,
                "safety.hold_ms",
                "expected 0 to 50 ms",
                safety.hold_ms,
            );
            problems.push(problem.note("a command held for longer than 50 ms is flying blind"));
        }
        for (key, value, most) in [
            ("safety.descent_rate", safety.descent_rate, 10.0),
            ("safety.max_descent_time", safety.max_descent_time, 3600.0),
            (
                "safety.max_blind_time",
                safety.max_blind_time.unwrap_or(BLIND),
                3600.0,
            ),
            ("safety.stale_ms", safety.stale_ms, 10_000.0),
            ("safety.request_timeout", safety.request_timeout, 600.0),
            ("safety.take_off_time", safety.take_off_time, 600.0),
            ("safety.landing_time", safety.landing_time, 600.0),
            ("safety.start_distance", safety.start_distance, 1e4),
            ("safety.start_angle_deg", safety.start_angle_deg, 180.0),
        ] {
            if !(value > 0.0 && value <= most) {
                let expected = format!("expected more than 0, at most {most}");
                problems.push(out_of_range(document, key, &expected, value));
            }
        }
        if !(10.0..=10_000.0).contains(&safety.hang_ms) {
            let expected = "expected 10 to 10000 ms";
            problems.push(out_of_range(
                document,
                "safety.hang_ms",
                expected,
                safety.hang_ms,
            ));
        }
        if safety.then == Some(Response::Warn) {
            let problem = Diagnostic::new("`safety.then` is not possible");
            let label = "expected \"hold\", \"descend\", \"land\" or \"terminate\"";
            problems.push(match document.place("safety.then") {
                Some(place) => problem.at(place, label),
                None => problem.note(label),
            });
        }
        safety.limits.validate(document, &mut problems);
        problems.finish()?;
        Ok(safety)
    }
}

/// `[backend]`: the chosen plugin and its table only.
#[derive(Clone, Debug)]
pub struct BackendSection {
    /// `plugin = …`: a name such as `sim`, or the path of a library.
    pub plugin: String,
    /// The path, if `plugin` is one, resolved against where it was written.
    pub path: Option<PathBuf>,
    /// The plugin's own table `[backend.<name>]`; empty if it is missing.
    pub table: Fragment,
}

impl BackendSection {
    /// No plugin: for a program that provides its own backend.
    pub(super) fn none() -> Self {
        Self {
            plugin: String::new(),
            path: None,
            table: Fragment::empty("backend"),
        }
    }

    /// The error when a plugin is needed but none is named.
    pub(crate) fn missing() -> Diagnostic {
        Diagnostic::new("no backend is chosen")
            .note("the configuration has no `plugin` in a section `[backend]`")
            .help("add `[backend]` with `plugin = \"sim\"`, or use --backend sim")
    }

    pub(super) fn read(document: &Document) -> Result<Self, ConfigError> {
        let missing = Self::missing;
        section(document, "backend")?.ok_or_else(missing)?;
        let Some(entry) = document.entry("backend.plugin") else {
            return Err(missing().into());
        };
        let Some(plugin) = entry.node.as_string() else {
            return Err(Diagnostic::new("`backend.plugin` has the wrong type")
                .at(
                    entry.node.place.clone(),
                    "expected a plugin's name such as \"sim\", or the path of a library",
                )
                .into());
        };
        let mut problems = Problems::default();
        for other in document
            .node("backend")
            .and_then(super::tree::Node::as_table)
            .iter()
            .flat_map(|t| &t.entries)
        {
            if other.key != "plugin" && other.node.as_table().is_none() {
                let diagnostic = Diagnostic::new(format!("unknown key `backend.{}`", other.key))
                    .at(
                        other.key_place.clone(),
                        "expected `plugin`, or one table for each plugin",
                    );
                problems.push(match fly_hal::nearest(&other.key, ["plugin"]) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.help(format!(
                        "a plugin's keys belong in its own table, [backend.{plugin}]"
                    )),
                });
            }
        }
        problems.finish()?;

        if plugin.is_empty() {
            return Err(Diagnostic::new("`backend.plugin` is empty")
                .at(
                    entry.node.place.clone(),
                    "expected a plugin's name such as \"sim\", or the path of a library",
                )
                .into());
        }

        let is_path = fly_hal::loader::is_path(&plugin);
        let from_file = matches!(entry.node.place.source.origin, Origin::File(_));
        if is_path && from_file && !document.allows_plugin() {
            return Err(Diagnostic::new("`backend.plugin` is the path of a library")
                .at(
                    entry.node.place.clone(),
                    "expected a plugin's name: code of this library would run with all your rights",
                )
                .help(format!(
                    "if you trust it: --allow-plugin, or name it yourself with --backend {plugin}"
                ))
                .into());
        }
        let path = is_path.then(|| entry.node.place.source.resolve(&plugin));
        let name = backend_table(&plugin);
        let path_of_table = format!("backend.{name}");
        let table = document
            .table(&path_of_table)
            .unwrap_or_else(|| Fragment::empty(&path_of_table));
        Ok(Self {
            plugin,
            path,
            table,
        })
    }
}

/// The three sections, or all problems in any of them.
pub(super) fn read(
    document: &Document,
    own_backend: bool,
    problems: &mut Problems,
) -> Option<(FlightSection, SafetySection, BackendSection)> {
    let flight = problems.take(FlightSection::read(document));
    let safety = problems.take(SafetySection::read(document));
    let backend = if own_backend {
        Some(BackendSection::none())
    } else {
        problems.take(BackendSection::read(document))
    };
    Some((flight?, safety?, backend?))
}
