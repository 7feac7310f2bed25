//! "Did you mean …?"

/// The candidate nearest to a misspelt name, if its edit distance is at most a third of the letters. A transposition counts
/// once, a capital as the small letter, and a missing last word (`rate` for `rate_hz`) as one letter.
///
/// ```
/// assert_eq!(fly_hal::nearest("substep", ["noise", "substeps"]), Some("substeps"));
/// assert_eq!(fly_hal::nearest("SubSteps", ["noise", "substeps"]), Some("substeps"));
/// assert_eq!(fly_hal::nearest("rate", ["seed", "rate_hz"]), Some("rate_hz"));
/// assert_eq!(fly_hal::nearest("colour", ["noise", "substeps"]), None);
/// ```
pub fn nearest<C: AsRef<str>>(written: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    let written = written.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (
                distance(&written, &candidate.as_ref().to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| {
            let length = written
                .chars()
                .count()
                .max(candidate.as_ref().chars().count());
            *distance <= (length / 3).max(1)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(written: &str, name: &str) -> usize {
    let lacks_word = (name.rsplit_once('_')).is_some_and(|(start, _)| start == written);
    if lacks_word {
        1
    } else {
        strsim::damerau_levenshtein(written, name)
    }
}
