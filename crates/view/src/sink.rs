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
    server: Server,
}

impl View {
    /// Listens at a port of 127.0.0.1, 0 is any that is free, and shows what comes to the hub.
    ///
    /// # Errors
    /// The port is taken, or the system's own.
    pub fn open(port: u16, hub: &Arc<Hub>) -> io::Result<Self> {
        Ok(Self {
            server: Server::open(port, hub)?,
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
}

/// A sink, and the flight shown beside it. It records what the sink does; who watches changes nothing of it.
#[derive(Debug)]
pub struct ViewSink<S> {
    sink: S,
    hub: Option<Arc<Hub>>,
    tap: Option<Tap>,
}

impl<S> ViewSink<S> {
    /// The sink, and a hub for those who watch; without one the sink alone.
    pub const fn new(sink: S, hub: Option<Arc<Hub>>) -> Self {
        Self {
            sink,
            hub,
            tap: None,
        }
    }

    /// The sink, with what it has recorded.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn show(&mut self, header: &Header) {
        let Some(hub) = &self.hub else {
            return;
        };
        let (tap, tapped) = tap(header, ROWS);
        match hub.begin(header, tapped) {
            Ok(()) => self.tap = Some(tap),
            Err(error) => tracing::warn!("the flight is not shown: {error}"),
        }
    }

    /// The flight is over.
    fn end(&mut self, run: RunMetadata) {
        let (Some(hub), Some(tap)) = (&self.hub, self.tap.take()) else {
            return;
        };
        if tap.lost() > 0 {
            tracing::info!("{} rows and messages were not shown in time", tap.lost());
        }
        hub.finish(run);
        drop(tap);
        let began = Instant::now();
        while !hub.has_told_end() && began.elapsed() < LAST {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl<S: Sink> Sink for ViewSink<S> {
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError> {
        self.sink.begin(header, pace)?;
        self.show(header);
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        self.hub.is_some() || self.sink.wants_rows()
    }

    /// On the flight's thread: showing neither waits nor allocates.
    fn row(&mut self, row: &Row) {
        self.sink.row(row);
        if let Some(tap) = &mut self.tap {
            tap.push(row);
        }
    }

    fn message(&mut self, time: i64, message: Message) {
        if let Some(tap) = &mut self.tap {
            let level = Level::from(message.level);
            tap.event(time, level, message.target, message.text);
        }
        self.sink.message(time, message);
    }

    fn handed_back(&mut self, armed: Option<bool>) {
        self.sink.handed_back(armed);
    }

    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary> {
        let log = self.sink.finish(run.clone());
        self.end(run);
        log
    }
}
