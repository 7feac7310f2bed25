//! Messages of plugins as events of the host's `tracing`, under the plugin's own targets, so that filters such as
//! `RUST_LOG=fly_plugin_sim=debug` work as if it were linked in.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use tracing::callsite::{Callsite, Identifier};
use tracing::field::{FieldSet, Value};
use tracing::metadata::Kind;
use tracing::{Event, Level, Metadata, dispatcher, subscriber::Interest};

/// Whether messages of that level and target are enabled.
pub(super) fn enabled(level: Level, target: &str) -> bool {
    level <= tracing::level_filters::LevelFilter::current()
        && dispatcher::get_default(|dispatch| dispatch.enabled(metadata(level, target)))
}

/// Dispatches the message to the subscriber.
pub(super) fn message(level: Level, target: &str, message: &str) {
    let metadata = metadata(level, target);
    let Some(field) = metadata.fields().field("message") else {
        return;
    };
    dispatcher::get_default(|dispatch| {
        if dispatch.enabled(metadata) {
            let value = format_args!("{message}");
            let values = [(&field, Some(&value as &dyn Value))];
            dispatch.event(&Event::new(metadata, &metadata.fields().value_set(&values)));
        }
    });
}

/// A callsite made at run time; `tracing` requires `'static` ones.
struct Remote {
    metadata: OnceLock<Metadata<'static>>,
}

impl Callsite for Remote {
    fn set_interest(&self, _: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        self.metadata
            .get_or_init(|| unreachable!("set before anybody sees the callsite"))
    }
}

/// Maximum number of targets; later ones are logged as `plugin`, so that memory stays bounded.
const MOST: usize = 1024;

fn metadata(level: Level, target: &str) -> &'static Metadata<'static> {
    static KNOWN: LazyLock<Mutex<HashMap<Level, HashMap<String, &'static Metadata<'static>>>>> =
        LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let of_level = known.entry(level).or_default();
    if let Some(metadata) = of_level.get(target) {
        return metadata;
    }
    let target = if of_level.len() < MOST {
        target
    } else if let Some(metadata) = of_level.get("plugin") {
        return metadata;
    } else {
        "plugin"
    };
    let metadata = make(level, target);
    of_level.insert(target.to_owned(), metadata);
    metadata
}

fn make(level: Level, target: &str) -> &'static Metadata<'static> {
    let callsite: &'static Remote = Box::leak(Box::new(Remote {
        metadata: OnceLock::new(),
    }));
    let target: &'static str = String::leak(target.to_owned());
    let fields = FieldSet::new(&["message"], Identifier(callsite));
    callsite.metadata.get_or_init(|| {
        Metadata::new(
            "plugin event",
            target,
            level,
            None,
            None,
            None,
            fields,
            Kind::EVENT,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_targets_renames_none_that_was_there_before() {
        let first = metadata(Level::TRACE, "an honest plugin");
        for number in 0..2 * MOST {
            metadata(Level::TRACE, &number.to_string());
        }
        assert_eq!(metadata(Level::TRACE, "one more").target(), "plugin");
        assert_eq!(
            metadata(Level::TRACE, "an honest plugin").target(),
            first.target()
        );
    }
}
