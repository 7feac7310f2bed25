//! Viewers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fly_view::View;
use serde_json::Value;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// Where a view is.
#[derive(Clone)]
pub struct Address {
    pub port: u16,
    pub token: String,
}

impl Address {
    pub fn of(view: &View) -> Self {
        let url = view.url();
        let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        assert!(token.len() == 32 && token.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_eq!(view.foxglove_url(), url.replacen("http", "ws", 1));
        Self {
            port: port.parse().unwrap(),
            token: token.to_owned(),
        }
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Status line and body of what is answered.
    pub fn get(&self, target: &str, headers: &str) -> (String, String) {
        let mut stream = self.connect();
        let port = self.port;
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: 127.0.0.1:{port}\r\n")
        };
        write!(stream, "GET {target} HTTP/1.1\r\n{host}{headers}\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    pub fn page(&self) -> String {
        let (status, body) = self.get(&format!("/?token={}", self.token), "");
        assert_eq!(status, "HTTP/1.1 200 OK", "{body}");
        body
    }

    /// A WebSocket.
    pub fn socket(&self, path: &str, subprotocol: Option<&str>) -> WebSocket<TcpStream> {
        let Self { port, token } = self;
        let url = format!("ws://127.0.0.1:{port}{path}?token={token}");
        let mut request = url.into_client_request().unwrap();
        if let Some(name) = subprotocol {
            let name = name.parse().unwrap();
            request.headers_mut().insert("Sec-WebSocket-Protocol", name);
        }
        let stream = self.connect();
        let (socket, response) = tungstenite::client(request, stream).unwrap();
        let agreed = response.headers().get("Sec-WebSocket-Protocol");
        assert_eq!(agreed.map(|name| name.to_str().unwrap()), subprotocol);
        let patience = Some(Duration::from_secs(10));
        socket.get_ref().set_read_timeout(patience).unwrap();
        socket
    }
}

/// The next message that is text, as JSON.
pub fn json(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

/// Receives an update and requests the next.
pub fn update(socket: &mut WebSocket<TcpStream>) -> Value {
    let update = json(socket);
    let _ = socket.send(Message::text("more"));
    update
}

/// The number of seconds since.
pub fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64()
}
