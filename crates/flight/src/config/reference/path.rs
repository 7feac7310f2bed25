//! Locates errors in `path` of `[reference]`.

use fly_control::settings::{
    HelixSettings, IndependentSettings, LineSettings, LissajousSettings, MinimumSnapSettings,
    PathSettings, SampledSettings, WaypointsSettings,
};
use serde::de::DeserializeOwned;

use super::super::diagnostic::ConfigError;
use super::super::document::{Document, Fragment};
use super::{KIND, kind_of, no_kind};

const PATH: &str = "reference.path";

/// Decodes the table by its kind, only to locate errors: decoded as part of `[reference]`, they lose their places.
pub(super) fn look_at(document: &Document) -> Result<(), ConfigError> {
    // If it is missing or not a table, the reader of the whole section reports that.
    let Some(fragment) = document.table(PATH) else {
        return Ok(());
    };
    let kinds = PathSettings::KINDS;
    let (kind, place) = kind_of(document, &fragment, &kinds)?;
    match kind.as_str() {
        "line" => is::<LineSettings>(&fragment),
        "lissajous" => is::<LissajousSettings>(&fragment),
        "circle" | "helix" => is::<HelixSettings>(&fragment),
        "waypoints" => is::<WaypointsSettings>(&fragment),
        "minimum_snap" => is::<MinimumSnapSettings>(&fragment),
        "sampled" => is::<SampledSettings>(&fragment),
        "independent" => is::<IndependentSettings>(&fragment),
        _ => Err(no_kind("path", &kind, place, &kinds).into()),
    }
}

fn is<T: DeserializeOwned>(fragment: &Fragment) -> Result<(), ConfigError> {
    fragment.decode_without::<T>(&[KIND]).map(drop)
}
