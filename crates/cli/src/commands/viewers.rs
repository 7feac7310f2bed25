//! `--view` and `--tui`: a flight that people watch in a browser, in Foxglove, or on the terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use fly_view::{Hub, View};

use super::interruptions::Interruptions;
use crate::exit::{Exit, Failure};
use crate::telemetry::{Progress, Screen, Terminal, can_draw};

/// Polling period of a waiting command.
const PERIOD: Duration = Duration::from_millis(50);

/// The viewers of a flight.
#[derive(Debug, Default)]
pub(super) struct Viewers {
    /// `None` if nobody watches.
    hub: Option<Arc<Hub>>,
    view: Option<View>,
    tui: bool,
}

/// Shows the progress of a flight.
pub(super) enum Indicator {
    Bar(Progress),
    Screen(Screen),
    None,
}

impl Viewers {
    /// Begins to serve, and prints the address.
    ///
    /// # Errors
    /// The port is not available, or there is no terminal.
    pub fn open(port: Option<u16>, tui: bool) -> Result<Self, Failure> {
        if tui {
            can_draw().map_err(|error| Failure::new(Exit::Usage, error))?;
        }
        if port.is_none() && !tui {
            return Ok(Self::default());
        }
        let hub = Arc::new(Hub::default());
        let view = port.map(|port| serve(port, &hub)).transpose()?;
        Ok(Self {
            hub: Some(hub),
            view,
            tui,
        })
    }

    /// The hub that the flight fills.
    pub fn hub(&self) -> Option<Arc<Hub>> {
        self.hub.clone()
    }

    /// Whether nobody watches.
    pub const fn is_alone(&self) -> bool {
        self.hub.is_none()
    }

    /// Shows a flight of so many seconds: on the whole terminal, or unless it should be `quiet` as a bar. If the terminal is gone,
    /// the flight goes on without it.
    pub fn indicate(&self, duration: Option<f64>, quiet: bool, terminal: &Terminal) -> Indicator {
        if let (Some(hub), true) = (self.hub(), self.tui) {
            let note = self.view.as_ref().map(View::url);
            match Screen::start(hub, duration, note, terminal) {
                Ok(screen) => return Indicator::Screen(screen),
                Err(error) => tracing::warn!("{error}"),
            }
        }
        let bar = (!quiet).then(|| Progress::start(duration, terminal));
        bar.flatten().map_or(Indicator::None, Indicator::Bar)
    }

    /// Keeps serving after the flight until Ctrl-C, on a terminal.
    pub fn stay(self) {
        let Some(view) = self.view else {
            return;
        };
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return;
        }
        // Installed before the address is printed.
        let interruptions = Interruptions::watch(false);
        tell(&format!(
            "the flight is over; its page stays until Ctrl-C: {}",
            view.url()
        ));
        while !interruptions.interrupted() {
            std::thread::sleep(PERIOD);
        }
    }
}

fn serve(port: u16, hub: &Arc<Hub>) -> Result<View, Failure> {
    let view = View::open(port, hub).map_err(|error| {
        let message = format!("--view {port}: 127.0.0.1 cannot listen there: {error}; expected a free port, or --view alone");
        Failure::new(Exit::Usage, message)
    })?;
    tell(&format!("in a browser: {}", view.url()));
    tell(&format!(
        "in Foxglove, Open connection: {}",
        view.foxglove_url()
    ));
    Ok(view)
}

/// Writes a line to standard error, apart from the summary. Nobody need read it.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
