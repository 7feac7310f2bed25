//! Checks the requests of viewers.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest request head, bytes.
const LONGEST: usize = 8192;
/// How long the head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Origin of Foxglove's app in a browser.
const FOXGLOVE: &str = "https://app.foxglove.dev";
/// Origins of apps that are not web pages.
const LOCAL: [&str; 2] = ["null", "file://"];

/// The subprotocols of Foxglove's WebSocket.
const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// The requested resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The page.
    Page,
    /// Updates of the flight for the page.
    Live,
    /// The topics of the flight, with this subprotocol.
    Topics(&'static str),
}

/// Why a request is refused: status and reason.
pub type Refusal = (&'static str, &'static str);

/// The head of an HTTP request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Waits for the head without consuming it. Returns its length, too.
    ///
    /// # Errors
    /// The head is too long, too late, or missing.
    pub fn peek(stream: &TcpStream) -> io::Result<(Self, usize)> {
        let mut bytes = vec![0; LONGEST];
        let began = Instant::now();
        stream.set_read_timeout(Some(HEAD_TIMEOUT))?;
        let mut known = 0;
        loop {
            let count = stream.peek(&mut bytes)?;
            let end = bytes[..count]
                .windows(4)
                .position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let text = std::str::from_utf8(&bytes[..end]);
                let head = text.ok().and_then(Self::parse);
                let head = head.ok_or(io::ErrorKind::InvalidData)?;
                return Ok((head, end + 4));
            }
            // The other side has closed, sends too much, or is too slow.
            if count == 0 || count == LONGEST || began.elapsed() > HEAD_TIMEOUT {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if count == known {
                std::thread::sleep(Duration::from_millis(5));
            }
            known = count;
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?, first.next()?);
        first.next()?.strip_prefix("HTTP/1.")?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: lines.map(header).collect::<Option<_>>()?,
        })
    }

    /// All values of a header.
    fn all<'a>(&'a self, name: &'static str) -> impl Iterator<Item = &'a str> {
        let headers = self.headers.iter().filter(move |(own, _)| own == name);
        headers.map(|(_, value)| value.as_str())
    }

    /// The only value of a header; `None` if it is missing or occurs several times.
    fn one(&self, name: &'static str) -> Option<&str> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }

    /// The requested resource, if this port and token permit it.
    ///
    /// # Errors
    /// The status and the reason.
    pub fn resource(&self, port: u16, token: &str) -> Result<Resource, Refusal> {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let is_here = |host: &str| names.iter().any(|name| name == host);
        // A foreign page whose host name resolves to this machine sends its own name.
        if !self.one("host").is_some_and(is_here) {
            return Err(("403 Forbidden", "wrong Host header"));
        }
        let is_upgrade = self
            .all("upgrade")
            .any(|to| to.eq_ignore_ascii_case("websocket"));
        let offered: Vec<&str> = (self.all("sec-websocket-protocol"))
            .flat_map(|list| list.split(','))
            .map(str::trim)
            .collect();
        let subprotocol = SUBPROTOCOLS.into_iter().find(|own| offered.contains(own));
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_here);
        let is_app =
            |origin: &str| subprotocol.is_some() && (origin == FOXGLOVE || LOCAL.contains(&origin));
        let mut origins = self.all("origin");
        if !origins.all(|origin| is_own(origin) || is_app(origin)) {
            return Err(("403 Forbidden", "the request comes from another site"));
        }
        let mut pairs = self.query.split('&');
        let given = pairs.find_map(|pair| pair.strip_prefix("token="));
        if !given.is_some_and(|given| same(given, token)) {
            let why = "the token is missing or wrong: use the address that fly has printed";
            return Err(("403 Forbidden", why));
        }
        let path = self.path.as_str();
        match (self.method.as_str(), is_upgrade, subprotocol, path) {
            ("GET", true, Some(subprotocol), _) => Ok(Resource::Topics(subprotocol)),
            ("GET", true, None, "/live") => Ok(Resource::Live),
            ("GET", false, _, "/") => Ok(Resource::Page),
            ("GET", ..) => Err(("404 Not Found", "not found")),
            _ => Err(("405 Method Not Allowed", "only GET")),
        }
    }
}

/// Compares in constant time.
fn same(a: &str, b: &str) -> bool {
    let pairs = a.bytes().zip(b.bytes());
    a.len() == b.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn resource(target: &str, headers: &[&str]) -> Result<Resource, &'static str> {
        let first = format!("GET {target} HTTP/1.1");
        let head = [&[first.as_str()], headers].concat().join("\r\n");
        let head = Head::parse(&head).expect("a head");
        head.resource(8000, TOKEN)
            .map_err(|(status, _)| &status[..3])
    }

    const HOST: &str = "Host: 127.0.0.1:8000";
    const UPGRADE: &str = "Upgrade: WebSocket";
    const FOX: &str = "Sec-WebSocket-Protocol: foxglove.other, foxglove.sdk.v1";
    const APP: &str = "Origin: https://app.foxglove.dev";

    #[test]
    fn who_knows_the_token_gets_what_is_asked_for() {
        let own = "Origin: http://localhost:8000";
        let target = format!("/?a=b&token={TOKEN}");
        assert_eq!(resource(&target, &[HOST]), Ok(Resource::Page));
        let named = ["host: localhost:8000", own];
        assert_eq!(resource(&target, &named), Ok(Resource::Page));
        let live = format!("/live?token={TOKEN}");
        assert_eq!(resource(&live, &[HOST, UPGRADE, own]), Ok(Resource::Live));
        let topics = Ok(Resource::Topics("foxglove.sdk.v1"));
        assert_eq!(resource(&target, &[HOST, UPGRADE, FOX]), topics);
        assert_eq!(resource(&target, &[HOST, UPGRADE, FOX, APP]), topics);
        assert_eq!(resource(&target, &[HOST, UPGRADE]), Err("404"));
        assert_eq!(resource(&live, &[HOST]), Err("404"));
    }

    #[test]
    fn nobody_else_gets_anything() {
        let target = format!("/?token={TOKEN}");
        for wrong in [
            "/",
            "/?token=",
            "/?token=0123456789abcdeF",
            "/?token=0123456789abcdef0",
            "/?Token=0123456789abcdef",
        ] {
            assert_eq!(resource(wrong, &[HOST]), Err("403"), "{wrong}");
        }
        // DNS rebinding: a foreign name that resolves to this machine.
        for host in [
            "Host: evil.example:8000",
            "Host: evil.example",
            "Host: 127.0.0.1:8001",
            "Host: 127.0.0.1",
            "X: y",
        ] {
            assert_eq!(resource(&target, &[host]), Err("403"), "{host}");
        }
        let two = [HOST, "Host: evil.example:8000"];
        assert_eq!(resource(&target, &two), Err("403"));
        for origin in [
            "http://evil.example",
            "http://evil.example:8000",
            "https://app.foxglove.dev",
            "null",
            "http://127.0.0.1:8001",
            "",
        ] {
            let origin = format!("Origin: {origin}");
            assert_eq!(resource(&target, &[HOST, &origin]), Err("403"), "{origin}");
        }
        // Foxglove's app requests only its own protocol.
        let live = format!("/live?token={TOKEN}");
        assert_eq!(resource(&live, &[HOST, UPGRADE, APP]), Err("403"));
        let near = format!("{APP}.evil.example");
        assert_eq!(resource(&target, &[HOST, UPGRADE, FOX, &near]), Err("403"));
        let post = Head::parse(&format!("POST {target} HTTP/1.1\r\n{HOST}")).expect("a head");
        let (status, _) = post.resource(8000, TOKEN).expect_err("only GET");
        assert_eq!(status, "405 Method Not Allowed");
    }

    #[test]
    fn what_is_no_request_is_none() {
        for text in [
            "",
            "GET",
            "GET /",
            "GET / FTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
        ] {
            assert_eq!(Head::parse(text), None, "{text}");
        }
    }
}
