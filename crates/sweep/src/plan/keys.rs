//! Keys of a configuration in a plan: every value of a flight has one origin.

use fly_flight::config::{Assignment, Diagnostic, SourceSpan, read_key};

use super::SEED;
use super::variation::Variation;

/// How two keys lie to each other, if a value belongs to both.
enum Overlap {
    Equal,
    /// The first contains the second.
    Above,
    /// The second contains the first.
    Below,
}

/// A key, where it is written, and what is done to it.
struct Use<'a> {
    key: &'a str,
    parts: Vec<String>,
    place: &'a SourceSpan,
    done: &'static str,
}

impl<'a> Use<'a> {
    fn varied(variation: &'a Variation) -> Self {
        Self {
            key: &variation.key,
            parts: parts(&variation.key),
            place: &variation.key_place,
            done: "varied",
        }
    }

    fn set(assignment: &'a Assignment) -> Self {
        Self {
            key: &assignment.key,
            parts: parts(&assignment.key),
            place: &assignment.key_place,
            done: "set",
        }
    }

    fn overlap(&self, other: &Self) -> Option<Overlap> {
        let common = self.parts.len().min(other.parts.len());
        if self.parts[..common] != other.parts[..common] {
            return None;
        }
        Some(match self.parts.len().cmp(&other.parts.len()) {
            std::cmp::Ordering::Equal => Overlap::Equal,
            std::cmp::Ordering::Less => Overlap::Above,
            std::cmp::Ordering::Greater => Overlap::Below,
        })
    }
}

/// What is wrong with keys that are set or varied together: none may be a part of a varied one.
pub(crate) fn conflicts(fixed: &[Assignment], varied: &[Variation]) -> Vec<Diagnostic> {
    let varied: Vec<Use<'_>> = varied.iter().map(Use::varied).collect();
    let mut found = Vec::new();
    for (place, later) in varied.iter().enumerate() {
        let earlier = varied[..place].iter();
        found.extend(earlier.filter_map(|earlier| conflict(later, earlier)));
    }
    for set in fixed.iter().map(Use::set) {
        // A part of what is set may be varied: an element of an array.
        let contains = |varied: &&Use<'_>| matches!(set.overlap(varied), Some(Overlap::Above));
        let others = varied.iter().filter(|varied| !contains(varied));
        found.extend(others.filter_map(|varied| conflict(&set, varied)));
        if set.parts == parts(SEED) && varied.iter().all(|one| one.parts != set.parts) {
            found.push(lost_seed(set.place.clone()));
        }
    }
    found
}

/// A seed that is set here is that of no flight.
pub(crate) fn lost_seed(place: SourceSpan) -> Diagnostic {
    let title = format!("`{SEED}` is set, but every flight gets its own");
    let seed = Diagnostic::new(title).at(place, "expected it in [vary]");
    seed.help(format!(
        "the same in all flights: \"{SEED}\" = {{ values = [1] }} in [vary]; another draw of all: --seed"
    ))
}

/// The problem of two keys, at the place of the first.
fn conflict(one: &Use<'_>, other: &Use<'_>) -> Option<Diagnostic> {
    let (key, done) = (one.key, one.done);
    let title = match one.overlap(other)? {
        Overlap::Equal if done == other.done => format!("`{key}` is {done} twice"),
        Overlap::Equal => format!("`{key}` is {done} and {}", other.done),
        Overlap::Above => format!(
            "`{key}`, which is {done}, contains `{}`, which is {}",
            other.key, other.done
        ),
        Overlap::Below => format!(
            "`{key}`, which is {done}, is a part of `{}`, which is {}",
            other.key, other.done
        ),
    };
    let place = one.place.clone();
    let diagnostic = Diagnostic::new(title).at(place, "expected every key once");
    Some(diagnostic.note(format!(
        "`{}` is {} at {}",
        other.key, other.done, other.place
    )))
}

/// The names in a dotted key; the text itself if it is not a key.
pub(crate) fn parts(key: &str) -> Vec<String> {
    names(key).unwrap_or_else(|| vec![key.to_owned()])
}

fn names(key: &str) -> Option<Vec<String>> {
    Some(read_key(key)?.into_iter().map(|(name, _)| name).collect())
}

/// The key without quotes and spaces that it does not need, so that equal keys are equal texts.
pub(crate) fn plain(key: &str) -> String {
    let is_bare = |part: &String| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !part.is_empty() && part.chars().all(fits)
    };
    match names(key) {
        Some(parts) if parts.iter().all(is_bare) => parts.join("."),
        _ => key.to_owned(),
    }
}
