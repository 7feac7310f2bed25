//! The names of vehicles, and of their parts in the world.

/// Between the name of a vehicle and that of its part.
pub const SEPARATOR: char = '/';

/// What a body, joint or rotor of a vehicle is called in the world: `left/airframe`.
///
/// ```
/// assert_eq!(fly_flight::config::name_in_world("left", "airframe"), "left/airframe");
/// ```
pub fn name_in_world(vehicle: &str, part: &str) -> String {
    format!("{vehicle}{SEPARATOR}{part}")
}

/// Whether this can be the name of a vehicle, and a part of a file's name.
pub(super) fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    // A number would be an index in `--set vehicles.0.…`.
    !name.is_empty() && name.chars().all(letter) && name.parse::<usize>().is_err()
}
