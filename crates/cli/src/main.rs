//! The command `fly`.

use std::io::{IsTerminal, Write};

use fly::args::Arguments;
use fly::exit::Exit;

fn main() -> Exit {
    let arguments = Arguments::read(std::env::args_os());
    match fly::commands::run(&arguments) {
        Ok(exit) => exit,
        Err(failure) => {
            let coloured =
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            // Not `eprintln!`, which panics if standard error is closed.
            let _ = writeln!(std::io::stderr(), "{}", failure.render(coloured));
            failure.exit
        }
    }
}
