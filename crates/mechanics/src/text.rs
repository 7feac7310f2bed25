//! Formatting of numbers and names in messages.

use nalgebra::RealField;

/// A computed number rounded to six significant digits: 0.01, not 0.009999999999999988.
pub(crate) fn short<T: RealField + Copy>(x: T) -> f64 {
    let x: f64 = x.to_subset_unchecked();
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// The first names, and the number of further ones.
pub(crate) fn some(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The most similar known name, if any is similar.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let likeness = |k: &&str| strsim::jaro_winkler(name, k);
    let best = (known.into_iter()).max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then_some(best)
}
