//! The report page of a flight in progress.

use std::io;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use fly_report::Verdict;
use serde::Serialize;
use tungstenite::{Message, WebSocket};

use crate::hub::Hub;
use crate::socket::{read, send};

/// Period of a page's updates.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a page may take to close after the end.
const LAST: Duration = Duration::from_secs(1);

/// Shown until there is data.
const WAITING: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\"><title>fly</title>\
    <p style=\"font: 16px system-ui; margin: 2em\">The flight has not begun yet.</p></html>\n";

/// The flight is over, with this result.
#[derive(Serialize)]
struct Over<'a> {
    over: Verdict<'a>,
}

/// The page in its current state.
pub fn page(hub: &Hub) -> io::Result<String> {
    let page = hub.look(|live| {
        let begun = live.flight().statistics.ticks > 0;
        begun.then(|| fly_report::live(live).map_err(io::Error::other))
    });
    page.flatten().unwrap_or_else(|| Ok(WAITING.to_owned()))
}

/// Sends updates to a page until it disconnects. The page first sends the cursor that it was created with. It requests
/// each further update with any message, once it has shown the last one. A slow page is updated less often, and the
/// next update contains everything that it missed.
pub fn live(
    mut socket: WebSocket<TcpStream>,
    hub: &Hub,
    is_closed: &dyn Fn() -> bool,
) -> io::Result<()> {
    let (mut cursor, mut asks, mut last) = (None, false, Instant::now());
    let untold = hub.end_listener();
    loop {
        if let Some(Message::Text(text)) = read(&mut socket, PERIOD)? {
            asks = true;
            cursor = cursor.or_else(|| serde_json::from_str(&text).ok());
        }
        let is_over = hub.is_over() || is_closed();
        let Some(seen) = cursor.as_mut().filter(|_| asks || is_over) else {
            continue;
        };
        thread::sleep(PERIOD.saturating_sub(last.elapsed()));
        (asks, last) = (false, Instant::now());
        if let Some(update) = hub.look(|live| serde_json::to_string(&live.update(seen))) {
            send(&mut socket, Message::text(update?))?;
        }
        if is_over {
            let over = hub.look(|live| {
                let over = Verdict::of(live.flight());
                serde_json::to_string(&Over { over })
            });
            if let Some(over) = over {
                send(&mut socket, Message::text(over?))?;
            }
            drop(untold);
            // The page closes.
            while read(&mut socket, LAST)?.is_some() {}
            return Ok(());
        }
    }
}
