//! Flights as one page of HTML.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::blob::{Blob, BlobRange};
use crate::error::ReportError;
use crate::flight::{Cursor, Event, Flight, LiveFlight, Number};
use crate::grid::Grid;
use crate::labels::labels;
use crate::panels::{self, Panel};
use fly_mechanics::scene::Scene;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The scripts, in order.
const SCRIPTS: [&str; 6] = [
    include_str!("page/data.js"),
    include_str!("page/plot.js"),
    include_str!("page/vectors.js"),
    include_str!("page/scene.js"),
    include_str!("page/live.js"),
    include_str!("page/page.js"),
];

/// The content of the page, except the arrays.
#[derive(Serialize)]
struct Contents<'a> {
    program: &'static str,
    /// For a flight in progress: the page's cursor.
    live: Option<Cursor>,
    flights: Vec<Shown<'a>>,
}

/// A flight.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    /// What tells it from the others.
    label: String,
    file: String,
    verdict: Verdict<'a>,
    facts: Vec<[String; 2]>,
    numbers: Vec<Number>,
    notes: &'a [String],
    span: [f64; 2],
    /// Width of a cell of the plots, s, and whether it is a single step.
    cell: f64,
    whole: bool,
    columns: BTreeMap<&'a str, [Option<BlobRange>; 2]>,
    panels: Vec<Panel>,
    spectra: Vec<Panel>,
    densities: BTreeMap<&'a str, [BlobRange; 2]>,
    scene: &'a Scene,
    /// Width of a cell of the poses, s.
    track_cell: f64,
    track_length: usize,
    /// 7 numbers for each body, and for its reference.
    poses: [Vec<Option<BlobRange>>; 2],
    /// Name, unit and the columns of thrust and tilt of each rotor.
    rotors: Vec<[Option<usize>; 2]>,
    modes: &'a [(f64, String)],
    gaps: &'a [[f64; 2]],
    events: &'a [Event],
    more_events: usize,
    configuration: Cow<'a, str>,
    vehicle: Cow<'a, str>,
}

/// How the flight went.
#[derive(Serialize)]
pub struct Verdict<'a> {
    /// The text.
    pub text: &'a str,
    /// `good`, `bad` or `unknown`.
    pub tone: &'static str,
}

impl<'a> Verdict<'a> {
    /// The verdict on a flight.
    pub fn of(flight: &'a Flight) -> Self {
        let outcome = flight.run.as_ref().map(|run| run.outcome.as_str());
        match outcome.filter(|text| !text.is_empty()) {
            Some(text) if text.starts_with("flown") => Self { text, tone: "good" },
            Some(text) if text.starts_with("interrupted") => Self {
                text,
                tone: "unknown",
            },
            Some(text) => Self { text, tone: "bad" },
            None if flight.is_live => Self {
                text: "flying",
                tone: "unknown",
            },
            None if flight.run.is_some() => Self {
                // The world of a fleet has no verdict; its vehicles do.
                text: "recorded, without a verdict of its own",
                tone: "unknown",
            },
            None if flight.header.is_some() => Self {
                text: "not finished",
                tone: "unknown",
            },
            None => Self {
                text: "recorded",
                tone: "unknown",
            },
        }
    }
}

/// The report of one flight, or of several side by side, as a self-contained page.
///
/// ```no_run
/// let flight = fly_report::Flight::open("flight.mcap")?;
/// std::fs::write("report.html", fly_report::report(&[flight])?)?;
/// # Ok::<(), fly_report::ReportError>(())
/// ```
///
/// # Errors
/// [`ReportError::NoLog`] without a flight.
pub fn report(flights: &[Flight]) -> Result<String, ReportError> {
    if flights.is_empty() {
        return Err(ReportError::NoLog);
    }
    page(flights, None)
}

/// The page of a flight in progress, in its current state. It requests updates from its server over a WebSocket at
/// `live`: it sends its [`Cursor`] and receives [`Update`](crate::flight::Update)s, all as JSON.
///
/// # Errors
/// [`ReportError::Io`](ReportError) if its numbers cannot be packed.
pub fn live(live: &LiveFlight) -> Result<String, ReportError> {
    let flight = std::slice::from_ref(live.flight());
    page(flight, Some(live.cursor()))
}

fn page(flights: &[Flight], cursor: Option<Cursor>) -> Result<String, ReportError> {
    // The page's only permission.
    let allowed = cursor.map_or("", |_| "; connect-src 'self'");
    let mut blob = Blob::default();
    let contents = Contents {
        program: concat!("fly ", env!("CARGO_PKG_VERSION")),
        live: cursor,
        flights: (flights.iter().zip(labels(flights)))
            .map(|(flight, label)| shown(flight, label, &mut blob))
            .collect(),
    };
    let json = serde_json::to_string(&contents).map_err(std::io::Error::other)?;
    let title = format!("{}: flight report", labels(flights).join(", "));
    let data = blob.finish()?;
    let scripts = SCRIPTS.join("\n");
    let mut page =
        String::with_capacity(PAGE.len() + STYLE.len() + json.len() + data.len() + scripts.len());
    // The template is read once, so inserted text is not searched again.
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("<!--{") {
        page.push_str(before);
        let (key, after) = after.split_once("}-->").unwrap_or((after, ""));
        match key {
            "title" => escape(&title, &mut page),
            "style" => page.push_str(STYLE),
            "contents" => page.push_str(&in_script(&json)),
            "data" => page.push_str(&data),
            "allowed" => page.push_str(allowed),
            "script" => page.push_str(&scripts),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// Escapes text between tags.
fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '&' => into.push_str("&amp;"),
            '"' => into.push_str("&quot;"),
            c => into.push(c),
        }
    }
}

/// JSON that cannot end its script by `</script>` or `<!--`: a `<` occurs only in strings.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn shown<'a>(flight: &'a Flight, label: String, blob: &mut Blob) -> Shown<'a> {
    let plots = &flight.plots;
    let columns = (plots.columns().iter())
        .map(|column| {
            let low = blob.add(&column.low);
            // In cells of one number both are equal.
            let same = column
                .low
                .iter()
                .zip(&column.high)
                .all(|(a, b)| a.to_bits() == b.to_bits());
            let high = (!same).then(|| blob.add(&column.high));
            (column.name.as_str(), [Some(low), high])
        })
        .collect();
    let densities = (flight.spectra.iter())
        .map(|spectrum| {
            let places =
                [&spectrum.frequencies, &spectrum.densities].map(|values| blob.add(values));
            (spectrum.name.as_str(), places)
        })
        .collect();
    let bodies = flight.scene.bodies.len();
    let poses = ["pose", "reference"].map(|name| {
        (0..7 * bodies)
            .map(|i| {
                let column = flight.track.find(&format!("{name}.{i}"));
                column.map(|column| blob.add(&column.low))
            })
            .collect()
    });
    let command = |name: String| flight.commands.iter().position(|(own, _)| *own == name);
    let rotors = (0..flight.scene.rotors.len()).map(|i| {
        let thrust = command(format!("rotor.{i}.thrust")).or_else(|| command(format!("motor {i}")));
        [thrust, command(format!("rotor.{i}.tilt"))]
    });
    let header = flight.header.as_ref();
    Shown {
        name: &flight.name,
        label,
        file: flight.path.display().to_string(),
        verdict: Verdict::of(flight),
        facts: facts(flight),
        numbers: flight.numbers(),
        notes: &flight.notes,
        span: flight.span,
        cell: plots.width(),
        whole: plots.is_whole(),
        columns,
        panels: panels::panels(flight),
        spectra: panels::spectra(flight),
        densities,
        scene: &flight.scene,
        track_cell: flight.track.width(),
        track_length: track_length(&flight.track),
        poses,
        rotors: rotors.collect(),
        modes: &flight.modes,
        gaps: &flight.gaps,
        events: &flight.events,
        more_events: flight.more_events,
        configuration: without_meshes(header.map_or("", |header| &header.configuration)),
        vehicle: without_meshes(header.map_or("", |header| &header.vehicle)),
    }
}

/// A description to be read: of its meshes only how many triangles they have.
fn without_meshes(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "mesh = '''";
    const CLOSE: &str = "'''";
    let mut parts = text.split(OPEN);
    let first = parts.next().unwrap_or_default();
    let mut shown = Cow::Borrowed(first);
    for part in parts {
        let (mesh, rest) = part.split_once(CLOSE).unwrap_or((part, ""));
        let triangles = mesh.lines().filter(|line| line.starts_with("f ")).count();
        let shown = shown.to_mut();
        let _ = write!(
            shown,
            "mesh = '… {triangles} triangles, in the log …'{rest}"
        );
    }
    shown
}

fn track_length(track: &Grid) -> usize {
    track
        .columns()
        .iter()
        .map(|column| column.low.len())
        .max()
        .unwrap_or_default()
}

/// Facts about the flight, as pairs of a label and a text.
fn facts(flight: &Flight) -> Vec<[String; 2]> {
    let mut facts: Vec<[String; 2]> = Vec::new();
    let mut add = |label: &str, text: String| {
        if !text.trim().is_empty() {
            facts.push([label.to_owned(), text]);
        }
    };
    let [start, end] = flight.span;
    let ticks = flight.statistics.ticks;
    let mut length = format!("{:.3} s, {ticks} ticks", end - start);
    if let Some(header) = &flight.header {
        let _ = write!(length, " at {} Hz", header.rate_hz);
    }
    add("flight", length);
    if let Some(header) = &flight.header {
        add("backend", header.backend.clone());
        add("seed", header.seed.to_string());
    } else {
        add("source", flight.kind.name().to_owned());
    }
    if let Some(run) = &flight.run {
        add("began", run.wall_start.clone());
        add("host", run.host.clone());
        add("versions", run.versions.clone());
        if run.real_time_factor > 0.0 {
            add("real-time factor", format!("{:.3}", run.real_time_factor));
        }
    }
    if flight.statistics.steps > 0 {
        let source = if flight.statistics.is_true {
            "of the true state, while the controller flew"
        } else {
            "of the state that the controller used, while it flew"
        };
        add("errors", source.to_owned());
    }
    add("log", flight.path.display().to_string());
    facts
}
