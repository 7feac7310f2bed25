//! The JSON Schemas of the configuration, which editors complete keys by.
//!
//! What serde reads is described by the structures that read it (`schemars`); a description of bodies by the tables of keys that its reader refuses all
//! others by. So no key of a reader can be missing here. What a value must be beyond its type (ranges, what goes with what) only the readers know: `fly check`
//! says it.
//!
//! The schemas are of draft 7, which editors understand. They are committed as `configs/schema/*.json`, embedded in the command (`fly schema`), and compared with this
//! by a test, which also writes them: `cargo xtask generate`.

mod description;
mod fleet;
mod flight;
pub mod page;
// A program can link one plugin: of the second its settings alone.
#[path = "../../plugins/replay/src/settings.rs"]
pub mod replay;
mod shape;
mod sweep;

use serde_json::Value;

/// A schema: its name, the files that it is for (a heading), and itself.
pub type Named = (&'static str, &'static str, Value);

/// All of them.
pub fn all() -> [Named; 4] {
    [
        ("flight", "Flights", flight::schema()),
        ("system", "Vehicles and systems", description::schema()),
        ("fleet", "Several vehicles", fleet::schema()),
        ("sweep", "Plans of campaigns", sweep::schema()),
    ]
}
