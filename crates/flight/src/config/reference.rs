//! `[reference]`: one structure for each `kind`.

mod path;

use fly_control::ReferenceSettings;
use fly_control::settings::{
    PathSettings, PlanarSettings, PvtolSettings, SampledSettings, ToolSettings, TwoMassesSettings,
};

use super::controller::explain;
use super::decode::hint;
use super::diagnostic::{ConfigError, Diagnostic, list};
use super::document::{Document, Fragment};
use super::keys::{KIND, TOLERANCE};
use super::section::section;
use super::source::SourceSpan;

/// Decodes the kind first, then its keys. Decoded in one pass, errors inside would lose their places.
pub(super) fn read(document: &Document) -> Result<ReferenceSettings, ConfigError> {
    let fragment = section(document, "reference")?.ok_or_else(|| {
        Diagnostic::new("no reference is described")
            .note("the configuration has no section `[reference]`")
            .help("add `[reference]` with `kind = \"hover\"`")
    })?;
    let kinds = ReferenceSettings::KINDS;
    let (kind, place) = kind_of(document, &fragment, &kinds)?;
    let settings = read_kind(document, &fragment, &kind)?
        .ok_or_else(|| no_kind("reference", &kind, place, &kinds))?;
    settings
        .validate()
        .map_err(|error| explain(document, "reference", &error))?;
    Ok(settings)
}

/// The `kind` of this table, and its place.
fn kind_of(
    document: &Document,
    fragment: &Fragment,
    kinds: &[&str],
) -> Result<(String, SourceSpan), ConfigError> {
    let key = format!("{}.{KIND}", fragment.path());
    let Some(entry) = document.entry(&key) else {
        let label = format!("expected `kind`, one of {}", list(kinds));
        let diagnostic = Diagnostic::new(format!("missing key `{key}`"));
        return Err(match fragment.whole() {
            Some(table) => diagnostic.at(table, label).into(),
            None => diagnostic.note(label).into(),
        });
    };
    let place = entry.node.place.clone();
    match entry.node.as_string() {
        Some(kind) => Ok((kind, place)),
        None => Err(Diagnostic::new(format!("`{key}` has the wrong type"))
            .at(place, format!("expected a string, one of {}", list(kinds)))
            .into()),
    }
}

/// The error for an unknown kind.
fn no_kind(what: &str, kind: &str, place: SourceSpan, kinds: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new(format!("there is no {what} of kind `{kind}`"));
    hint(
        diagnostic.at(place, format!("expected {}", list(kinds))),
        kind,
        kinds,
    )
}

fn read_kind(
    document: &Document,
    fragment: &Fragment,
    kind: &str,
) -> Result<Option<ReferenceSettings>, ConfigError> {
    if matches!(kind, "tool" | "two_masses" | "pvtol" | "planar") {
        path::look_at(document)?;
    }
    macro_rules! decode {
        ($($name:literal => $Kind:ident,)*) => {
            match kind {
                $($name => ReferenceSettings::$Kind(fragment.decode_without(&[KIND, TOLERANCE])?),)*
                _ => return Ok(None),
            }
        };
    }
    let mut settings = decode! {
        "hover" => Hover,
        "lissajous" => Lissajous,
        "loop" => Loop,
        "takeoff" => Takeoff,
        "landing" => Landing,
        "circle" => Circle,
        "helix" => Helix,
        "flip" => Flip,
        "barrel_roll" => BarrelRoll,
        "waypoints" => Waypoints,
        "minimum_snap" => MinimumSnap,
        "sampled" => Sampled,
        "independent" => Independent,
        "recorded" => Recorded,
        "rest" => Rest,
        "joints" => Joints,
        "transfer" => Transfer,
        "tool" => Tool,
        "two_masses" => TwoMasses,
        "pvtol" => Pvtol,
        "planar" => Planar,
    };
    match &mut settings {
        ReferenceSettings::Sampled(sampled) => resolve(document, "reference.file", sampled),
        ReferenceSettings::Tool(ToolSettings { path, .. })
        | ReferenceSettings::TwoMasses(TwoMassesSettings { path, .. })
        | ReferenceSettings::Pvtol(PvtolSettings { path, .. })
        | ReferenceSettings::Planar(PlanarSettings { path, .. }) => {
            if let PathSettings::Sampled(sampled) = path {
                resolve(document, "reference.path.file", sampled);
            }
        }
        _ => {}
    }
    Ok(Some(settings))
}

/// Resolves a relative path against the file in which it was written.
fn resolve(document: &Document, key: &str, sampled: &mut SampledSettings) {
    if let Some(file) = document.place(key) {
        let written = sampled.file.to_string_lossy().into_owned();
        sampled.file = file.source.resolve(&written);
    }
}
