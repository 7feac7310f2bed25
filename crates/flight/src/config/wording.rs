//! Messages for problems in a description of bodies.

use fly_mechanics::description::Problem;

/// The problem at this key: what is wrong, and what was expected and found.
pub(super) fn wording(path: &str, problem: &Problem) -> (String, String) {
    match problem {
        Problem::UnknownKey { key, expected } => {
            // Some paths end with the key itself.
            let table = path.strip_suffix(&format!(".{key}")).unwrap_or(path);
            let key = [table, key].join(if table.is_empty() { "" } else { "." });
            (
                format!("unknown key `{key}`"),
                format!("expected one of {expected}"),
            )
        }
        Problem::MissingKey(key) => (
            format!(
                "missing key `{}`",
                [path, key].join(if path.is_empty() { "" } else { "." })
            ),
            format!("`{key}` is required in this table"),
        ),
        Problem::Syntax(message) if path.is_empty() => {
            ("the text cannot be read".to_owned(), message.clone())
        }
        problem if path.is_empty() => ("not a system of bodies".to_owned(), problem.to_string()),
        Problem::WrongType { .. } => (format!("`{path}` has the wrong type"), problem.to_string()),
        Problem::WrongLength { .. } => (
            format!("`{path}` has the wrong length"),
            problem.to_string(),
        ),
        Problem::NotFinite(_) => (format!("`{path}` is not finite"), problem.to_string()),
        Problem::OutOfRange { .. } => (format!("`{path}` is out of range"), problem.to_string()),
        problem => (format!("`{path}` is not possible"), problem.to_string()),
    }
}
