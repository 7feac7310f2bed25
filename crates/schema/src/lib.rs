//! The JSON Schemas of the configuration, with which editors complete keys.
//!
//! The structures that serde reads provide their schemas (`schemars`); descriptions of bodies use the same tables of
//! keys with which their reader rejects all others. So no key of a reader can be missing here. Only the readers know
//! the constraints on a value beyond its type (ranges, valid combinations); `fly check` reports them.
//!
//! The schemas are of draft 7, which editors understand. They are committed as `configs/schema/*.json`, embedded in the
//! command (`fly schema`), and compared with this crate by a test that can also write them: `cargo xtask generate`.

mod description;
mod fleet;
mod flight;
pub mod page;
// A program can link only one plugin; of the second one, only the settings.
#[path = "../../plugins/replay/src/settings.rs"]
pub mod replay;
mod shape;
mod sweep;

use serde_json::Value;

/// A schema: its name, the files that it applies to (a heading), and the schema itself.
pub type Named = (&'static str, &'static str, Value);

/// All schemas.
pub fn all() -> [Named; 4] {
    [
        ("flight", "Flights", flight::schema()),
        ("system", "Vehicles and systems", description::schema()),
        ("fleet", "Several vehicles", fleet::schema()),
        ("sweep", "Plans of campaigns", sweep::schema()),
    ]
}
