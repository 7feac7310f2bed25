//! `--view`: a flight that people watch in a browser or in Foxglove.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use fly_view::View;

use super::interruptions::Interruptions;
use crate::exit::{Exit, Failure};

/// How often somebody who waits looks.
const PERIOD: Duration = Duration::from_millis(50);

/// Begins to serve, and says where.
///
/// # Errors
/// The port cannot be had.
pub(super) fn open(port: Option<u16>) -> Result<Option<View>, Failure> {
    let Some(port) = port else {
        return Ok(None);
    };
    let view = View::open(port).map_err(|error| {
        let message = format!("--view {port}: 127.0.0.1 cannot listen there: {error}; expected a free port, or --view alone");
        Failure::new(Exit::Usage, message)
    })?;
    // What follows is not waited for by whoever reads the summary.
    eprintln!("in a browser: {}", view.url());
    eprintln!("in Foxglove, Open connection: {}", view.foxglove_url());
    Ok(Some(view))
}

/// Serves on after the flight until Ctrl-C, where somebody is there to press it.
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
