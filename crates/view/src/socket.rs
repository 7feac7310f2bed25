//! Messages over a WebSocket.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use tungstenite::{Message, WebSocket};

/// Waits at most this long for a message. `None` if there is none.
///
/// # Errors
/// The other side has disconnected.
pub fn read(socket: &mut WebSocket<TcpStream>, wait: Duration) -> io::Result<Option<Message>> {
    socket.get_ref().set_read_timeout(Some(wait))?;
    match socket.read() {
        Ok(Message::Close(_)) => Err(io::ErrorKind::ConnectionAborted.into()),
        Ok(message) => Ok(Some(message)),
        Err(tungstenite::Error::Io(error))
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(io::Error::other(error.to_string())),
    }
}

/// Sends a message.
///
/// # Errors
/// The other side has disconnected, or accepts no more data.
pub fn send(socket: &mut WebSocket<TcpStream>, message: Message) -> io::Result<()> {
    let sent = socket.send(message);
    sent.map_err(|error| io::Error::other(error.to_string()))
}
