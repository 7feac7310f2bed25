//! "Did you mean …?"

/// The candidate nearest to a misspelt name, if its edit distance (a transposition counts once) is at most a third of the
/// letters.
///
/// ```
/// assert_eq!(fly_hal::nearest("substep", ["noise", "substeps"]), Some("substeps"));
/// assert_eq!(fly_hal::nearest("colour", ["noise", "substeps"]), None);
/// ```
pub fn nearest<C: AsRef<str>>(written: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(written, candidate.as_ref()),
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
