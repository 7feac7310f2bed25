//! The command `fly`.

use std::io::{IsTerminal, Write};

use fly::args::Arguments;
use fly::exit::Exit;
use fly_hal::loader::{ExitGuard, tell_crashes};

fn main() -> Exit {
    let arguments = Arguments::read(std::env::args_os());
    // Without it the shell tells the signal alone.
    let _ = tell_crashes();
    // Until the end of main: whatever else ends the process is not this program.
    let _guard = ExitGuard::new(Exit::Backend as i32);
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
