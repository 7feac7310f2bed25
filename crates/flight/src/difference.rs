//! Differences between a recorded flight's configuration and the current one.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// Sections that affect the commands that the controller computes from a frame.
const SECTIONS: [&str; 5] = ["vehicle", "controller", "reference", "estimator", "safety"];
/// Keys of other sections that affect them, and their values where they are not given.
const KEYS: [(&str, &str); 3] = [
    ("flight.rate_hz", "500"),
    ("flight.take_off", "false"),
    ("flight.relative", "false"),
];
/// Number of differences listed; the others are counted.
const TOLD: usize = 6;

/// Returns one line for each value that differs: `key: recorded a, now b`. Empty if the same commands are expected. For
/// a configuration that is not TOML it returns one line with the parser's error.
pub fn differences(recorded: &str, present: &str) -> Vec<String> {
    let (recorded, present) = match (flatten(recorded), flatten(present)) {
        (Ok(recorded), Ok(present)) => (recorded, present),
        (Err(error), _) => {
            return vec![format!(
                "the recorded configuration cannot be read: {error}"
            )];
        }
        (_, Err(error)) => return vec![format!("the configuration cannot be read: {error}")],
    };
    let keys: std::collections::BTreeSet<&String> = recorded.keys().chain(present.keys()).collect();
    let absent = "nothing".to_owned();
    let mut lines: Vec<String> = keys
        .into_iter()
        .filter(|key| recorded.get(*key) != present.get(*key))
        .map(|key| {
            let (then, now) = (
                recorded.get(key).unwrap_or(&absent),
                present.get(key).unwrap_or(&absent),
            );
            format!("{key}: recorded {then}, now {now}")
        })
        .collect();
    if lines.len() > TOLD {
        let rest = lines.len() - TOLD;
        lines.truncate(TOLD);
        lines.push(format!("and {rest} more"));
    }
    lines
}

/// Dotted keys and values of these sections and keys.
fn flatten(text: &str) -> Result<BTreeMap<String, String>, toml::de::Error> {
    let root: Table = toml::from_str(text)?;
    let mut flat = BTreeMap::new();
    for (key, value) in &root {
        collect(key, value, &mut flat);
    }
    flat.retain(|key, _| {
        let section = key.split(['.', '[']).next().unwrap_or(key);
        SECTIONS.contains(&section) || KEYS.iter().any(|(known, _)| known == key)
    });
    for (key, usual) in KEYS {
        let value = flat.entry(key.to_owned());
        value.or_insert_with(|| usual.to_owned());
    }
    Ok(flat)
}

fn collect(path: &str, value: &Value, flat: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                collect(&format!("{path}.{key}"), value, flat);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (index, value) in values.iter().enumerate() {
                collect(&format!("{path}[{index}]"), value, flat);
            }
        }
        // 2 and 2.0 are the same number.
        Value::Integer(number) => {
            flat.insert(path.to_owned(), (*number as f64).to_string());
        }
        Value::Float(number) => {
            flat.insert(path.to_owned(), number.to_string());
        }
        other => {
            flat.insert(path.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = r#"
        [flight]
        duration = 20
        rate_hz = 500
        [vehicle]
        name = "a"
        [[vehicle.rotors]]
        thrust = [0.2, 7.0]
        [controller]
        allocation = "osqp"
        [backend]
        plugin = "sim"
    "#;

    #[test]
    fn what_does_not_change_the_commands_does_not_count() {
        let present = RECORDED
            .replace("\"sim\"", "\"replay\"")
            .replace("= 20", "= 4")
            .replace("500", "500.0");
        assert_eq!(differences(RECORDED, &present), [""; 0]);
    }

    #[test]
    fn what_does_is_told_with_both_values() {
        let present = RECORDED
            .replace("7.0", "8.0")
            .replace("allocation = \"osqp\"", "approach = \"body\"");
        let expected = [
            "controller.allocation: recorded \"osqp\", now nothing",
            "controller.approach: recorded nothing, now \"body\"",
            "vehicle.rotors[0].thrust: recorded [0.2, 7.0], now [0.2, 8.0]",
        ];
        assert_eq!(differences(RECORDED, &present), expected);
        assert_eq!(differences(RECORDED, "[flight").len(), 1);
        // Where the reference begins.
        let lifted = "[flight]\ntake_off = 2.0\nrelative = true\nduration = 3\n";
        let expected = [
            "flight.relative: recorded true, now false",
            "flight.take_off: recorded 2, now false",
        ];
        assert_eq!(differences(lifted, ""), expected);
        // The usual values may be left out, and are those of the section.
        let usual: crate::config::FlightSection = toml::from_str("").unwrap();
        assert_eq!(KEYS[0].1, usual.rate_hz.to_string());
        assert!(!usual.relative && usual.take_off == crate::config::TakeOff::None);
        assert_eq!(
            differences("[flight]\nrate_hz = 500\nrelative = false\n", ""),
            [""; 0]
        );
    }

    #[test]
    fn many_differences_are_counted() {
        let many: Vec<String> = (0..10).map(|index| format!("k{index} = 1")).collect();
        let lines = differences("", &format!("[controller]\n{}", many.join("\n")));
        assert_eq!(lines.len(), TOLD + 1);
        assert_eq!(lines[TOLD], "and 4 more");
    }
}
