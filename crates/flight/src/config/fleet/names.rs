//! Names of vehicles and of their parts in the world.

/// Separates the name of a vehicle from that of its part.
pub const SEPARATOR: char = '/';

/// The name in the world of a vehicle's body, joint or rotor: `left/airframe`.
///
/// ```
/// assert_eq!(fly_flight::config::name_in_world("left", "airframe"), "left/airframe");
/// ```
pub fn name_in_world(vehicle: &str, part: &str) -> String {
    format!("{vehicle}{SEPARATOR}{part}")
}

/// Whether this is a valid name of a vehicle, which becomes part of file names.
pub(super) fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    // A number would be taken for an index in `--set vehicles.0.…`.
    !name.is_empty() && name.chars().all(letter) && name.parse::<usize>().is_err()
}
