//! `fly configs`: lists and prints the shipped configurations.

use std::io::Write;

use serde_json::{Value, json};

use crate::args::AsData;
use crate::config::shipped::{self, SHIPPED};
use crate::exit::{Exit, Failure};

/// Lists every shipped configuration with its first comment, or prints the named one unchanged.
pub fn run(name: Option<&str>, data: AsData) -> Result<Exit, Failure> {
    let Some(name) = name else {
        if data.json {
            let all = SHIPPED
                .iter()
                .map(|one| json!({ "name": one.name, "title": one.title() }));
            super::print_data(&all.collect::<Value>())?;
            return Ok(Exit::Flown);
        }
        let mut out = Vec::new();
        let width = SHIPPED.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for shipped in SHIPPED {
            writeln!(out, "{:width$}  {}", shipped.name, shipped.title())?;
        }
        super::print(&out)?;
        return Ok(Exit::Flown);
    };
    let shipped = shipped::find(name).ok_or_else(|| {
        let hint = match fly_hal::nearest(name, SHIPPED.iter().map(|one| one.name)) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Shipped are {}.", shipped::listed(SHIPPED.iter())),
        };
        let message = format!("no configuration `{name}` is shipped\n\n{hint}");
        Failure::new(Exit::Usage, message)
    })?;
    if data.json {
        let (name, title, text) = (shipped.name, shipped.title(), shipped.text);
        super::print_data(&json!({ "name": name, "title": title, "text": text }))?;
    } else {
        super::print(shipped.text.as_bytes())?;
    }
    Ok(Exit::Flown)
}
