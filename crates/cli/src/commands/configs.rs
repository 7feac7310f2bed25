//! `fly configs`: lists and prints the shipped configurations.

use std::io::Write;

use crate::config::shipped::{self, SHIPPED};
use crate::exit::{Exit, Failure};

/// Lists every shipped configuration with its first comment, or prints the named one as it is.
pub fn run(name: Option<&str>) -> Result<Exit, Failure> {
    let Some(name) = name else {
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
    super::print(shipped.text.as_bytes())?;
    Ok(Exit::Flown)
}
