//! `--view`: shows a flight in a browser or in Foxglove.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use fly_view::View;

use super::interruptions::Interruptions;
use crate::exit::{Exit, Failure};

/// Polling period of a waiting command.
const PERIOD: Duration = Duration::from_millis(50);

/// Starts the server and prints its addresses.
///
/// # Errors
/// The port is not available.
pub(super) fn open(port: Option<u16>) -> Result<Option<View>, Failure> {
    let Some(port) = port else {
        return Ok(None);
    };
    let view = View::open(port).map_err(|error| {
        let message = format!("--view {port}: 127.0.0.1 cannot listen there: {error}; expected a free port, or --view alone");
        Failure::new(Exit::Usage, message)
    })?;
    // On standard error, apart from the summary.
    eprintln!("in a browser: {}", view.url());
    eprintln!("in Foxglove, Open connection: {}", view.foxglove_url());
    Ok(Some(view))
}

/// Keeps serving after the flight until Ctrl-C, if there is a terminal for it.
pub(super) fn stay(view: Option<View>) {
    let Some(view) = view else {
        return;
    };
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return;
    }
    eprintln!(
        "the flight is over; its page stays until Ctrl-C: {}",
        view.url()
    );
    let interruptions = Interruptions::watch(false);
    while !interruptions.interrupted() {
        std::thread::sleep(PERIOD);
    }
}
