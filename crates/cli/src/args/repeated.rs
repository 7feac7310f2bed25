//! Options that may be repeated, before and after a subcommand.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::Parser;
use clap_lex::RawArgs;

use super::Arguments;

impl Arguments {
    /// Reads a command line that begins with the program's name; what is wrong with it ends the program.
    ///
    /// Of a repeated option that is given before and after a subcommand clap keeps the latter values alone; here all count, in order.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Self {
        let line: Vec<OsString> = line.into_iter().collect();
        let mut arguments = Self::parse_from(&line);
        let line = RawArgs::new(line);
        let configuration = &mut arguments.configuration;
        // Clap has refused what is no text.
        configuration.set = (values(&line, "set").into_iter())
            .filter_map(|value| value.into_string().ok())
            .collect();
        configuration.plugin_dir = (values(&line, "plugin-dir").into_iter())
            .map(PathBuf::from)
            .collect();
        arguments
    }
}

/// All values of an option that takes one, `--option value` or `--option=value`.
fn values(line: &RawArgs, option: &str) -> Vec<OsString> {
    let mut values = Vec::new();
    let mut cursor = line.cursor();
    while let Some(word) = line.next(&mut cursor).filter(|word| !word.is_escape()) {
        let Some((Ok(name), value)) = word.to_long() else {
            continue;
        };
        if name == option {
            let value = value.or_else(|| line.next_os(&mut cursor));
            values.extend(value.map(OsStr::to_owned));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_subcommand_count() {
        let line = "fly --set a=1 --set=b=2 check --config x.toml --set c=3 --plugin-dir /tmp --set=d=--set";
        let read = Arguments::read(line.split(' ').map(OsString::from));
        assert_eq!(read.configuration.set, ["a=1", "b=2", "c=3", "d=--set"]);
        assert_eq!(read.configuration.plugin_dir, [PathBuf::from("/tmp")]);
    }
}
