//! Reads a command line: options that may be repeated, before and after a subcommand, and a configuration that is no option.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap_lex::RawArgs;

use fly_flight::config::shipped::SHIPPED;

use super::Arguments;
use crate::exit::Exit;

impl Arguments {
    /// Reads a command line that begins with the program's name; what is wrong with it ends the program.
    ///
    /// Of a repeated option that is given before and after a subcommand clap keeps the latter values alone; here all count, in order.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Self {
        let line: Vec<OsString> = line.into_iter().collect();
        let mut arguments = Self::try_parse_from(&line).unwrap_or_else(|error| end(&advise(error)));
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

/// Prints it, and ends the program. What is asked for, such as `--help`, must reach standard output; a closed pipe is not an error.
fn end(error: &Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    let code = match printed {
        Err(failed) if !error.use_stderr() && failed.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(
                io::stderr(),
                "error: cannot write to standard output: {failed}"
            );
            Exit::Internal as i32
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

/// Where a word that is no command is a configuration, says how one is named.
fn advise(mut error: Error) -> Error {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return error,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else {
        return error;
    };
    let file = Path::new(word);
    let names_one = |extension: &str| file.extension().is_some_and(|is| is == extension);
    let is_shipped = || {
        let shipped = SHIPPED.iter();
        shipped
            .map(|one| Path::new(one.name))
            .any(|name| name.with_extension("") == file)
    };
    if names_one("toml") || names_one("urdf") || is_shipped() {
        let tip = format!("a configuration is named with `--config {word}`");
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
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

    #[test]
    fn a_configuration_that_is_no_option_is_told_how() {
        for (line, told) in [
            ("fly mine.toml", true),
            ("fly quadcopter", true),
            ("fly examples/prismatic.toml", true),
            ("fly check mine.toml", true),
            ("fly tune arm.urdf", true),
            ("fly nothing", false),
            ("fly --nothing", false),
        ] {
            let error = Arguments::try_parse_from(line.split(' ')).expect_err("no such word");
            let text = advise(error).to_string();
            assert_eq!(text.contains("--config "), told, "{text}");
        }
    }
}
