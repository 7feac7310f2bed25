//! A sink that shows a flight.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fly_flight::{LogError, LogSummary, Message, Sink};
use fly_log::{Header, Level, Pace, Row, RunMetadata, Tap, tap};

use crate::hub::Hub;
use crate::server::Server;

/// Rows that wait for the thread that shows them: some seconds of a flight.
const ROWS: usize = 2048;
/// How long the end of a flight waits until its viewers have been told.
const LAST: Duration = Duration::from_secs(2);

/// A server that shows a flight. Dropping it ends the connections.
#[derive(Debug)]
pub struct View {
    hub: Arc<Hub>,
    server: Server,
    tap: Option<Tap>,
}

impl View {
    /// Listens on a port of 127.0.0.1; 0 selects a free port.
    ///
    /// # Errors
    /// The port is in use or reserved.
    pub fn open(port: u16) -> io::Result<Self> {
        let hub = Arc::new(Hub::default());
        Ok(Self {
            server: Server::open(port, &hub)?,
            hub,
            tap: None,
        })
    }

    /// URL of the page for browsers. It contains a secret of this flight.
    pub fn url(&self) -> String {
        let Server { port, token, .. } = &self.server;
        format!("http://127.0.0.1:{port}/?token={token}")
    }

    /// URL of the topics for Foxglove: *Open connection, Foxglove WebSocket*.
    pub fn foxglove_url(&self) -> String {
        let Server { port, token, .. } = &self.server;
        format!("ws://127.0.0.1:{port}/?token={token}")
    }

    fn begin(&mut self, header: &Header) {
        let (tap, tapped) = tap(header, ROWS);
        match self.hub.begin(header, tapped) {
            Ok(()) => self.tap = Some(tap),
            Err(error) => tracing::warn!("the flight is not shown: {error}"),
        }
    }

    /// Called on the flight thread; neither waits nor allocates.
    fn row(&mut self, row: &Row) {
        if let Some(tap) = &mut self.tap {
            tap.push(row);
        }
    }

    fn message(&mut self, time: i64, message: &Message) {
        if let Some(tap) = &mut self.tap {
            let level = match message.level {
                tracing::Level::ERROR => Level::Error,
                tracing::Level::WARN => Level::Warning,
                tracing::Level::INFO => Level::Info,
                _ => Level::Debug,
            };
            tap.event(time, level, message.target, message.text);
        }
    }

    /// The flight is over.
    fn finish(&mut self, run: &RunMetadata) {
        let Some(tap) = self.tap.take() else {
            return;
        };
        if tap.lost() > 0 {
            tracing::info!("{} rows and messages were not shown in time", tap.lost());
        }
        self.hub.finish(run.clone());
        drop(tap);
        let began = Instant::now();
        while !self.hub.is_told() && began.elapsed() < LAST {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A sink combined with a view of the flight. It records what the sink records; viewers have no influence on it.
#[derive(Debug)]
pub struct Viewed<S> {
    sink: S,
    view: Option<View>,
}

impl<S> Viewed<S> {
    /// Without a view, only the sink.
    pub const fn new(sink: S, view: Option<View>) -> Self {
        Self { sink, view }
    }

    /// Returns the view, to keep it after the flight.
    pub fn into_view(self) -> Option<View> {
        self.view
    }
}

impl<S: Sink> Sink for Viewed<S> {
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError> {
        self.sink.begin(header, pace)?;
        if let Some(view) = &mut self.view {
            view.begin(header);
        }
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        self.view.is_some() || self.sink.wants_rows()
    }

    fn row(&mut self, row: &Row) {
        self.sink.row(row);
        if let Some(view) = &mut self.view {
            view.row(row);
        }
    }

    fn message(&mut self, time: i64, message: Message) {
        if let Some(view) = &mut self.view {
            view.message(time, &message);
        }
        self.sink.message(time, message);
    }

    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary> {
        let log = self.sink.finish(run.clone());
        if let Some(view) = &mut self.view {
            view.finish(&run);
        }
        log
    }
}
