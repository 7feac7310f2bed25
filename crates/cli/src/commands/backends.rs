//! `fly backends`: lists the plugins on the search path, and those that do not load.

use std::io::Write;
use std::path::PathBuf;

use fly_hal::{Clock, Plugin, SearchPath};
use serde_json::json;

use crate::args::AsData;
use crate::exit::{Exit, Failure};

/// Lists every plugin on the search path; [`Exit::ProblemsFound`] when one of them does not load.
pub fn run(plugin_dirs: &[PathBuf], data: AsData) -> Result<Exit, Failure> {
    let search = SearchPath::standard(plugin_dirs.iter().cloned());
    let mut out = Vec::new();
    let found = search.discover();
    if found.is_empty() {
        let folders: Vec<String> = search
            .folders()
            .iter()
            .map(|folder| format!("\n  {}", folder.display()))
            .collect();
        let message = format!("no backend was found; searched in{}", folders.concat());
        return Err(Failure::new(Exit::Backend, message));
    }
    let mut exit = Exit::Flown;
    let mut all = Vec::new();
    for (index, found) in found.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        match Plugin::open(&found.path) {
            Ok(plugin) => {
                let info = plugin.info();
                let clock = match info.clock {
                    Clock::Stepped => "stepped (as fast as possible)",
                    Clock::RealTime => "real time",
                };
                all.push(json!({
                    "name": info.name,
                    "version": info.version,
                    "summary": info.summary,
                    "file": found.path.to_string_lossy(),
                    "abi": info.abi,
                    "clock": match info.clock {
                        Clock::Stepped => "stepped",
                        Clock::RealTime => "real_time",
                    },
                    "signals": info.signals,
                }));
                writeln!(out, "{} {}: {}", info.name, info.version, info.summary)?;
                writeln!(out, "  file     {}", found.path.display())?;
                writeln!(out, "  ABI      {}.{}", info.abi.0, info.abi.1)?;
                writeln!(out, "  clock    {clock}")?;
                for (index, line) in wrap(&info.signals, 88).iter().enumerate() {
                    writeln!(
                        out,
                        "  {:8} {line}",
                        if index == 0 { "signals" } else { "" }
                    )?;
                }
            }
            Err(error) => {
                exit = Exit::ProblemsFound;
                let error_text = error.to_string();
                all.push(json!({ "name": found.name, "file": found.path.to_string_lossy(), "error": error_text }));
                writeln!(out, "{}: does not load", found.name)?;
                writeln!(out, "  file     {}", found.path.display())?;
                writeln!(out, "  error    {error}")?;
            }
        }
    }
    if data.json {
        super::print_data(&all.into())?;
    } else {
        super::print(&out)?;
    }
    Ok(exit)
}

/// Words in lines of at most `width` characters, unless one word alone is longer.
fn wrap(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}
