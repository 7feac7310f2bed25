//! The names of vehicles, and of their parts in the world.

use super::super::diagnostic::{ConfigError, Diagnostic, nearest};
use super::super::tree::{Node, Value};
use super::member::Read;

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

/// Rejects two vehicles of one name.
pub(super) fn check(members: &[Read]) -> Result<(), ConfigError> {
    for (index, member) in members.iter().enumerate() {
        let twin = |other: &Read| other.name == member.name;
        if members[..index].iter().any(twin) {
            let label = "expected a name that no other vehicle has";
            return Err(
                Diagnostic::new(format!("two vehicles are named `{}`", member.name))
                    .at(member.name_place.clone(), label)
                    .into(),
            );
        }
    }
    Ok(())
}

/// In what a flag says of `vehicles`, replaces the name of a vehicle by its index, so that it is merged into that element.
pub(in crate::config) fn by_name(root: &Node, over: &mut Node) -> Result<(), Diagnostic> {
    let given = root.as_table().and_then(|table| table.get("vehicles"));
    let Some(Value::Array(elements)) = given.map(|entry| &entry.node.value) else {
        return Ok(());
    };
    let entry = over
        .as_table_mut()
        .and_then(|table| table.get_mut("vehicles"));
    let Some(flagged) = entry.and_then(|entry| entry.node.as_table_mut()) else {
        return Ok(());
    };
    let name = |node: &Node| node.as_table()?.get("name")?.node.as_string();
    let names: Vec<_> = elements.iter().map(name).collect();
    for entry in &mut flagged.entries {
        let by_index = entry
            .key
            .parse()
            .is_ok_and(|index: usize| index < names.len());
        if by_index {
            continue;
        }
        let of_this_name = |name: &Option<String>| name.as_ref() == Some(&entry.key);
        let Some(index) = names.iter().position(of_this_name) else {
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let diagnostic = Diagnostic::new(format!("there is no vehicle `{}`", entry.key)).at(
                entry.key_place.clone(),
                format!(
                    "expected an index below {} or one of the names {}",
                    names.len(),
                    known.join(", ")
                ),
            );
            return Err(match nearest(&entry.key, known) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            });
        };
        entry.key = index.to_string();
    }
    Ok(())
}
