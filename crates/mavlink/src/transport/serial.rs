//! Serial ports, pseudo-terminals included.

use std::io::{self, Write};
use std::time::Duration;

use serialport::{DataBits, FlowControl, Parity, SerialPort, StopBits};

use super::{Output, READ_TIMEOUT, Streams};

/// A device that is reopened after it vanished (an unplugged USB cable).
pub(crate) struct Port {
    path: String,
    baud: u32,
    opened: Option<Streams>,
}

impl Port {
    pub fn open(path: &str, baud: u32) -> io::Result<Self> {
        let opened = Some(open(path, baud)?);
        Ok(Self {
            path: path.to_owned(),
            baud,
            opened,
        })
    }

    pub fn streams(&mut self) -> io::Result<Streams> {
        match self.opened.take() {
            Some(streams) => Ok(streams),
            None => open(&self.path, self.baud),
        }
    }
}

fn open(path: &str, baud: u32) -> io::Result<Streams> {
    let named = |error: serialport::Error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{error}{}", there_are()))
    };
    let port = serialport::new(path, baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(true)
        .timeout(READ_TIMEOUT)
        .open()
        .map_err(named)?;
    // The write half shares the read half's time limit: what a slow line cannot take in that time is dropped.
    let writer = port.try_clone().map_err(named)?;
    Ok(Streams {
        reader: Box::new(port),
        writer: Box::new(Line { port: writer, baud }),
        senders: None,
        peer: path.to_owned(),
    })
}

/// The write half. It knows the driver's backlog and how long the line takes for it.
struct Line {
    port: Box<dyn SerialPort>,
    baud: u32,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.port.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.port.flush()
    }
}

impl Output for Line {
    fn backlog(&mut self) -> Duration {
        let bytes = self.port.bytes_to_write().unwrap_or(0);
        // A start bit, eight bits and a stop bit each.
        Duration::from_secs_f64(10.0 * f64::from(bytes) / f64::from(self.baud.max(1)))
    }
}

/// The serial ports of this computer, for the end of an error message.
fn there_are() -> String {
    let names: Vec<_> = serialport::available_ports()
        .unwrap_or_default()
        .into_iter()
        .map(|p| p.port_name)
        .collect();
    if names.is_empty() {
        "; this computer has no serial port".to_owned()
    } else {
        format!("; there are {}", names.join(", "))
    }
}
