//! Link addresses: `udpin:0.0.0.0:14550`, `tcpout:127.0.0.1:5760`, `serial:/dev/ttyACM0:57600`, …

use std::fmt;
use std::str::FromStr;

/// The address of a MAVLink peer.
///
/// ```
/// use fly_mavlink::Address;
/// let address: Address = "udpin:0.0.0.0:14550".parse()?;
/// assert_eq!(address.to_string(), "udpin:0.0.0.0:14550");
/// # Ok::<(), fly_mavlink::AddressError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Listens on a UDP port and replies to the sender: `udpin:0.0.0.0:14550`.
    UdpIn(HostPort),
    /// Sends to a UDP port, whose peer finds us by our heartbeat: `udpout:192.168.4.1:14550`.
    UdpOut(HostPort),
    /// Listens on a TCP port, for one peer at a time: `tcpin:0.0.0.0:5760`.
    TcpIn(HostPort),
    /// Connects to a TCP port: `tcpout:127.0.0.1:5760`. A host's name is looked up once, when the link is opened.
    TcpOut(HostPort),
    /// Opens a serial port (8N1, no flow control): `serial:/dev/ttyACM0:57600`.
    Serial {
        /// Device path.
        path: String,
        /// Symbols per second.
        baud: u32,
    },
}

/// A host name or address, and a port. IPv6 addresses are in brackets: `[::1]:14550`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Name or numeric address, without brackets.
    pub host: String,
    /// Port number; 0 lets the system choose one for a listening link.
    pub port: u16,
}

/// Why the text is not a valid link address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("link address `{text}`: {problem}; expected {expected}")]
pub struct AddressError {
    /// The whole text as given.
    pub text: String,
    /// The problem.
    pub problem: String,
    /// The expected form, with an example.
    pub expected: &'static str,
}

const ANY: &str = "`udpin:0.0.0.0:14550`, `udpout:HOST:PORT`, `tcpin:0.0.0.0:5760`, `tcpout:HOST:PORT` \
                   or `serial:/dev/ttyACM0:57600`";

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let fail = |problem: String, expected| AddressError {
            text: text.to_owned(),
            problem,
            expected,
        };
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(fail("the kind of link is missing".to_owned(), ANY));
        };
        let network = |expected| host_port(rest).map_err(|problem| fail(problem, expected));
        match kind {
            "udpin" => Ok(Self::UdpIn(network(
                "`udpin:ADDRESS:PORT`, such as `udpin:0.0.0.0:14550`",
            )?)),
            "udpout" => Ok(Self::UdpOut(network(
                "`udpout:HOST:PORT`, such as `udpout:127.0.0.1:14550`",
            )?)),
            "tcpin" => Ok(Self::TcpIn(network(
                "`tcpin:ADDRESS:PORT`, such as `tcpin:0.0.0.0:5760`",
            )?)),
            "tcpout" => Ok(Self::TcpOut(network(
                "`tcpout:HOST:PORT`, such as `tcpout:127.0.0.1:5760`",
            )?)),
            "serial" => {
                let (path, baud) = serial(rest).map_err(|problem| {
                    fail(
                        problem,
                        "`serial:PATH:BAUD`, such as `serial:/dev/ttyACM0:57600`",
                    )
                })?;
                Ok(Self::Serial { path, baud })
            }
            other => Err(fail(format!("`{other}` is not a kind of link"), ANY)),
        }
    }
}

fn host_port(text: &str) -> Result<HostPort, String> {
    let (host, port) = text.rsplit_once(':').ok_or("the port is missing")?;
    let port = port
        .parse()
        .map_err(|_| format!("`{port}` is not a port (0 to 65535)"))?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner
            .strip_suffix(']')
            .ok_or("the bracket of an IPv6 address is not closed")?,
        None if host.contains(':') => {
            return Err("an IPv6 address must be in brackets, `[::1]:14550`".to_owned());
        }
        None => host,
    };
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    Ok(HostPort {
        host: host.to_owned(),
        port,
    })
}

fn serial(text: &str) -> Result<(String, u32), String> {
    let (path, baud) = text.rsplit_once(':').ok_or("the baud rate is missing")?;
    if path.is_empty() {
        return Err("the device path is missing".to_owned());
    }
    match baud.parse() {
        Ok(0) | Err(_) => Err(format!("`{baud}` is not a baud rate")),
        Ok(baud) => Ok((path.to_owned(), baud)),
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UdpIn(at) => write!(f, "udpin:{at}"),
            Self::UdpOut(at) => write!(f, "udpout:{at}"),
            Self::TcpIn(at) => write!(f, "tcpin:{at}"),
            Self::TcpOut(at) => write!(f, "tcpout:{at}"),
            Self::Serial { path, baud } => write!(f, "serial:{path}:{baud}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_back_as_they_are_written() {
        for text in [
            "udpin:0.0.0.0:14550",
            "udpout:vehicle.local:14551",
            "tcpin:[::1]:5760",
            "tcpout:127.0.0.1:0",
            "serial:/dev/serial/by-id/usb-3D:1-if00:57600",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong_and_what_is_right() {
        let check = |text: &str, problem: &str, example: &str| {
            let message = text.parse::<Address>().unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
            assert!(message.contains(problem), "{message}");
            assert!(message.contains(example), "{message}");
        };
        check(
            "14550",
            "the kind of link is missing",
            "udpin:0.0.0.0:14550",
        );
        check(
            "udp:0.0.0.0:14550",
            "`udp` is not a kind of link",
            "udpin:0.0.0.0:14550",
        );
        check("udpin:14550", "the port is missing", "udpin:0.0.0.0:14550");
        check(
            "udpout::14550",
            "the host is missing",
            "udpout:127.0.0.1:14550",
        );
        check(
            "tcpout:localhost:99999",
            "`99999` is not a port",
            "tcpout:127.0.0.1:5760",
        );
        check("tcpin:::1:5760", "brackets", "tcpin:0.0.0.0:5760");
        check("tcpin:[::1:5760", "not closed", "tcpin:0.0.0.0:5760");
        check(
            "serial:/dev/ttyACM0",
            "the baud rate is missing",
            "serial:/dev/ttyACM0:57600",
        );
        check(
            "serial:/dev/ttyACM0:fast",
            "`fast` is not a baud rate",
            "serial:/dev/ttyACM0:57600",
        );
        check(
            "serial:/dev/ttyACM0:0",
            "`0` is not a baud rate",
            "serial:/dev/ttyACM0:57600",
        );
        check(
            "serial::57600",
            "the device path is missing",
            "serial:/dev/ttyACM0:57600",
        );
    }
}
