//! Plugin messages as events of the host's `tracing`, under the plugin's own targets, so that filters such as
//! `RUST_LOG=fly_plugin_sim=debug` work as if the plugin were linked in.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::callsite::{Callsite, Identifier};
use tracing::field::{FieldSet, Value};
use tracing::metadata::Kind;
use tracing::{Dispatch, Event, Level, Metadata, dispatcher, subscriber::Interest};

/// Registers the subscriber of an instance's messages until this is dropped: the one that was current when the instance
/// was configured.
#[derive(Debug)]
pub(super) struct Listener(u64);

static LISTENERS: Mutex<BTreeMap<u64, Dispatch>> = Mutex::new(BTreeMap::new());

impl Listener {
    /// Registers a new instance.
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let listener = Self(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        listener.listen();
        listener
    }

    /// Makes the current subscriber the instance's.
    pub(super) fn listen(&self) {
        let current = dispatcher::get_default(Dispatch::clone);
        let before = listeners().insert(self.0, current);
        drop(before);
    }

    /// The instance's number at the boundary; never 0.
    pub(super) fn instance(&self) -> u64 {
        self.0
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let removed = listeners().remove(&self.0);
        // Dropped without the lock: a subscriber may be dropped with it.
        drop(removed);
    }
}

fn listeners() -> MutexGuard<'static, BTreeMap<u64, Dispatch>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `by` with the subscriber of an instance's messages; for an unknown instance, with the current one.
fn heard<R>(instance: u64, mut by: impl FnMut(&Dispatch) -> R) -> R {
    let listener = listeners().get(&instance).cloned();
    match listener {
        Some(listener) => by(&listener),
        None => dispatcher::get_default(by),
    }
}

/// Whether messages of this instance, level and target are enabled.
pub(super) fn enabled(instance: u64, level: Level, target: &str) -> bool {
    level <= tracing::level_filters::LevelFilter::current()
        && heard(instance, |dispatch| {
            dispatch.enabled(metadata(level, target))
        })
}

/// Passes a message of an instance to its subscriber.
pub(super) fn message(instance: u64, level: Level, target: &str, message: &str) {
    let metadata = metadata(level, target);
    let Some(field) = metadata.fields().field("message") else {
        return;
    };
    heard(instance, |dispatch| {
        if dispatch.enabled(metadata) {
            let value = format_args!("{message}");
            let values = [(&field, Some(&value as &dyn Value))];
            dispatch.event(&Event::new(metadata, &metadata.fields().value_set(&values)));
        }
    });
}

/// A callsite created at run time; `tracing` requires `'static` ones.
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
