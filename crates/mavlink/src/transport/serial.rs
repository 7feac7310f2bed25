//! Serial ports, pseudo-terminals included.

use std::io;

use super::{READ_TIMEOUT, Streams};

/// A device that is opened again after it vanished (a USB plug pulled and put back).
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
        .timeout(READ_TIMEOUT)
        .open()
        .map_err(named)?;
    // The write half shares the read half's time limit: what a slow line cannot take in that time is dropped.
    let writer = port.try_clone().map_err(named)?;
    Ok(Streams {
        reader: Box::new(port),
        writer: Box::new(writer),
        peer: path.to_owned(),
    })
}

/// The serial ports of this computer, as the end of an error message.
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
