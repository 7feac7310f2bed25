//! The file that keeps the signatures' time stamps across restarts, replaced as a whole or not at all.
//!
//! Text, a line each: `sent TIME` and `received SYSTEM COMPONENT LINK TIME`, after a first line that names the format.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::SigningError;
use super::window::{Stream, Window};

const FORMAT: &str = "fly-mavlink signing state 1";

/// The file, locked for this process while this value exists.
pub(super) struct StateFile {
    path: PathBuf,
    _lock: File,
}

impl StateFile {
    pub fn open(path: &Path) -> Result<Self, SigningError> {
        let failed = |problem: String| SigningError::State {
            path: path.to_owned(),
            action: "locked",
            problem,
        };
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(beside(path, "lock"))
            .map_err(|error| failed(error.to_string()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(failed(
                "another link uses it; give each link that shares a key its own `signing_link`"
                    .to_owned(),
            )),
            Err(TryLockError::Error(error)) => Err(failed(error.to_string())),
        }
    }

    /// The saved state; `None` the first time.
    pub fn read(&self) -> Result<Option<Window>, SigningError> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => parse(&text)
                .map(Some)
                .map_err(|problem| self.failed("read", problem)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", error.to_string())),
        }
    }

    pub fn write(&self, window: &Window) -> Result<(), SigningError> {
        self.replace(&format(window))
            .map_err(|error| self.failed("written", error.to_string()))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let new = beside(&self.path, "new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)
    }

    fn failed(&self, action: &'static str, problem: String) -> SigningError {
        SigningError::State {
            path: self.path.clone(),
            action,
            problem,
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn format(window: &Window) -> String {
    let mut text = format!("{FORMAT}\nsent {}\n", window.sent);
    for (stream, time) in &window.received {
        let Stream {
            system,
            component,
            link,
        } = stream;
        let _ = writeln!(text, "received {system} {component} {link} {time}");
    }
    // A truncated text has no such end.
    text.push_str("end\n");
    text
}

fn parse(text: &str) -> Result<Window, String> {
    let refused = |number: usize, line: &str| {
        format!(
            "line {} is `{line}`, which is not what this program writes; whoever removes the file gives up the protection \
             against messages that are up to a minute old",
            number + 1
        )
    };
    let mut window = Window::default();
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, FORMAT)) => {}
        other => return Err(refused(0, other.map_or("", |(_, line)| line))),
    }
    let mut ended = false;
    for (number, line) in lines {
        let words: Vec<_> = line.split(' ').collect();
        let taken = match words.as_slice() {
            _ if ended => None,
            ["end"] => {
                ended = true;
                Some(())
            }
            ["sent", time] => time.parse().ok().map(|time| window.sent = time),
            ["received", system, component, link, time] => (|| {
                let stream = Stream {
                    system: system.parse().ok()?,
                    component: component.parse().ok()?,
                    link: link.parse().ok()?,
                };
                window.received.insert(stream, time.parse().ok()?);
                Some(())
            })(),
            _ => None,
        };
        taken.ok_or_else(|| refused(number, line))?;
    }
    if ended {
        Ok(window)
    } else {
        Err(refused(text.lines().count(), ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.link0.state");
        let file = StateFile::open(&path).unwrap();
        assert_eq!(file.read().unwrap(), None);
        let mut window = Window {
            sent: 42,
            ..Window::default()
        };
        for (system, time) in [(1, 7), (70_000, u64::MAX)] {
            let stream = Stream {
                system,
                component: 3,
                link: 255,
            };
            window.received.insert(stream, time);
        }
        file.write(&window).unwrap();
        assert_eq!(file.read().unwrap(), Some(window));
        let message = StateFile::open(&path).err().unwrap().to_string();
        assert!(message.contains("signing_link"), "{message}");
    }

    #[test]
    fn a_file_that_is_not_ours_is_not_taken_for_an_empty_one() {
        let whole = format(&Window::default());
        assert_eq!(parse(&whole), Ok(Window::default()));
        for end in 0..whole.len() - 1 {
            assert!(parse(&whole[..end]).is_err(), "{}", &whole[..end]);
        }
        for line in ["sent -1", "received 1 2 3", "received 1 2 256 4", "x"] {
            let message = parse(&format!("{FORMAT}\n{line}\nend\n")).unwrap_err();
            assert!(message.contains("line 2"), "{message}");
        }
    }
}
