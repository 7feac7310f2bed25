//! `fly configs`: what is shipped.

use std::io::Write;

use crate::config::shipped::{self, SHIPPED};
use crate::exit::{Exit, Failure};

/// Lists every shipped configuration with its first comment, or prints the named one as it is.
pub fn run(name: Option<&str>) -> Result<Exit, Failure> {
    let mut out = std::io::stdout().lock();
    let Some(name) = name else {
        let width = SHIPPED.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for shipped in SHIPPED {
            writeln!(out, "{:width$}  {}", shipped.name, shipped.title())?;
        }
        return Ok(Exit::Flown);
    };
    let shipped = shipped::find(name).ok_or_else(|| {
        let names: Vec<&str> = SHIPPED.iter().map(|one| one.name).collect();
        let message = format!(
            "no configuration `{name}` is shipped\n\nShipped are {}.",
            names.join(", ")
        );
        Failure::new(Exit::Usage, message)
    })?;
    write!(out, "{}", shipped.text)?;
    Ok(Exit::Flown)
}
