//! Short texts that tell flights apart.

use std::path::Path;

use crate::flight::Flight;

/// Short names of logs: their file names without extension, and with their folders if two are the same.
pub fn names<'a>(paths: impl Iterator<Item = &'a Path> + Clone) -> Vec<String> {
    let stem = |path: &Path| {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        stem.to_string_lossy().into_owned()
    };
    let all = paths.clone();
    paths
        .map(|path| {
            let alike = all.clone().filter(|other| stem(other) == stem(path));
            if alike.count() > 1 {
                path.display().to_string()
            } else {
                stem(path)
            }
        })
        .collect()
}

/// The names of flights, and of their logs where two are the same.
pub fn labels(flights: &[Flight]) -> Vec<String> {
    let logs = names(flights.iter().map(|flight| flight.path.as_path()));
    (flights.iter().zip(logs))
        .map(|(flight, log)| {
            let alike = flights.iter().filter(|other| other.name == flight.name);
            if alike.count() > 1 {
                log
            } else {
                flight.name.clone()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_one_name_are_told_apart_by_their_folders() {
        let found = names(
            ["a/f.mcap", "b/f.mcap", "b/g.ulg"]
                .map(Path::new)
                .into_iter(),
        );
        assert_eq!(found, ["a/f.mcap", "b/f.mcap", "g"]);
    }
}
