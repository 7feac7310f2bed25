//! MAVLink 2 signatures: outgoing messages are signed, and messages without a valid signature are rejected.
//!
//! <https://mavlink.io/en/guide/message_signing.html>. A signature is the first 48 bits of SHA-256 over key and frame.
//! Its time stamp, in 10 µs since 2015, must increase from message to message of each (system, component, link). The
//! `mavlink` crate computes the hash. Its own check of the time stamps does not survive a restart, so that check is
//! here ([`Window`]), and its state is kept in a file ([`state`]).

mod error;
mod key;
mod state;
mod window;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use mavlink::{MAVLinkMessageRaw, MAVLinkV2MessageRaw};

pub use error::SigningError;
pub use key::Key;
use state::StateFile;
use window::{SECOND, Stream, Window};

/// Number of `RADIO_STATUS`, which a radio adds to the stream and cannot sign.
const RADIO_STATUS: u32 = 109;

/// Bit of the incompatibility flags that says that a signature follows.
const SIGNED: u8 = 0x01;

/// How often the state is saved while messages arrive.
const KEEP_PERIOD: Duration = Duration::from_secs(1);

/// While the link runs, the saved times are ahead of the received ones by two periods. After a crash no accepted
/// message is accepted again, and a peer's first messages may be rejected for that long.
const RECEIVED_AHEAD: u64 = 2 * SECOND;

/// The same for sent messages, so that a clock that was set back has no effect.
const SENT_AHEAD: u64 = 10 * SECOND;

/// Settings of a signed link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSettings {
    /// File of the key: 32 bytes, or 64 hexadecimal digits. Only its owner may read it.
    pub key: PathBuf,
    /// Our number of this link, which distinguishes links that share a key.
    pub link: u8,
    /// Whether `RADIO_STATUS` may be unsigned, as the standard allows: radios add it and have no key. Nothing here uses
    /// it.
    pub unsigned_radio_status: bool,
    /// File for the signatures' time stamps; by default next to the key, as `KEY.link0.state`.
    pub state: Option<PathBuf>,
}

impl SigningSettings {
    /// The key's file, link 0, nothing accepted unsigned, the state next to the key.
    pub fn new(key: impl Into<PathBuf>) -> Self {
        Self {
            key: key.into(),
            link: 0,
            unsigned_radio_status: false,
            state: None,
        }
    }

    fn state_path(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(|| {
            let mut name = self.key.clone().into_os_string();
            name.push(format!(".link{}.state", self.link));
            name.into()
        })
    }
}

/// Why a frame is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    Signed,
    /// A `RADIO_STATUS` that may be unsigned, from whomever.
    Exempt,
}

/// Why a frame is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Unsigned,
    BadSignature,
    Replayed,
}

/// Whether a frame carries a signature, of whatever key.
pub(crate) fn is_signed(frame: &MAVLinkMessageRaw) -> bool {
    matches!(frame, MAVLinkMessageRaw::V2(raw) if raw.incompatibility_flags() & SIGNED != 0)
}

/// The key of a link and its signatures' time stamps.
pub(crate) struct Signing {
    key: Key,
    link: u8,
    unsigned_radio_status: bool,
    window: Mutex<Window>,
    file: StateFile,
}

impl Signing {
    /// Reads key and state, and verifies that the state can be written.
    pub fn open(settings: &SigningSettings) -> Result<Self, SigningError> {
        let key = Key::from_file(&settings.key)?;
        let file = StateFile::open(&settings.state_path())?;
        let mut window = Window::default();
        if let Some(kept) = file.read()? {
            window = kept;
        }
        let signing = Self {
            key,
            link: settings.link,
            unsigned_radio_status: settings.unsigned_radio_status,
            window: Mutex::new(window),
            file,
        };
        signing.save(true)?;
        Ok(signing)
    }

    /// Adds link, time stamp and signature to a frame serialised with room for them.
    pub fn sign(&self, raw: &mut MAVLinkV2MessageRaw) {
        let time = self.window().next(now());
        *raw.signature_link_id_mut() = self.link;
        raw.signature_timestamp_bytes_mut()
            .copy_from_slice(&time.to_le_bytes()[..6]);
        let mut signature = [0; 6];
        raw.calculate_signature(self.key.bytes(), &mut signature);
        raw.signature_value_mut().copy_from_slice(&signature);
    }

    /// Whether the frame was signed with our key, and later than all before it.
    pub fn verify(&self, frame: &MAVLinkMessageRaw) -> Result<Accepted, Refusal> {
        let raw = match frame {
            MAVLinkMessageRaw::V2(raw) if raw.incompatibility_flags() & SIGNED != 0 => raw,
            _ if self.unsigned_radio_status && frame.message_id() == RADIO_STATUS => {
                return Ok(Accepted::Exempt);
            }
            _ => return Err(Refusal::Unsigned),
        };
        let mut right = [0; 6];
        raw.calculate_signature(self.key.bytes(), &mut right);
        // Compares all bytes, so that the duration reveals nothing.
        let differences = right
            .iter()
            .zip(raw.signature_value())
            .fold(0, |all, (a, b)| all | (a ^ b));
        if differences != 0 {
            return Err(Refusal::BadSignature);
        }
        let stream = Stream {
            system: raw.system_id(),
            component: raw.component_id(),
            link: raw.signature_link_id(),
        };
        if self
            .window()
            .accept(stream, raw.signature_timestamp(), now())
        {
            Ok(Accepted::Signed)
        } else {
            Err(Refusal::Replayed)
        }
    }

    /// Saves the state while the link runs, and its final value when it ends.
    pub fn keep(&self, stopped: impl Fn() -> bool) {
        let mut failed = false;
        let mut waited = Duration::ZERO;
        while !stopped() {
            sleep(Duration::from_millis(50));
            waited += Duration::from_millis(50);
            if waited < KEEP_PERIOD {
                continue;
            }
            waited = Duration::ZERO;
            let saved = self.save(true);
            if let Err(error) = &saved
                && !failed
            {
                tracing::error!(
                    "{error}; after a restart, messages of this flight could be replayed"
                );
            }
            failed = saved.is_err();
        }
    }

    fn save(&self, ahead: bool) -> Result<(), SigningError> {
        let window = self.window().clone();
        self.file.write(&if ahead {
            window.ahead(RECEIVED_AHEAD, SENT_AHEAD, now())
        } else {
            window
        })
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        if let Err(error) = self.save(false) {
            tracing::error!("{error}");
        }
    }
}

/// The current time, in 10 µs since the beginning of 2015 (UTC).
fn now() -> u64 {
    const BEGIN: Duration = Duration::from_hours(394_464);
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .saturating_sub(BEGIN);
    u64::try_from(since.as_micros() / 10).unwrap_or(u64::MAX)
}

/// Instructions for creating a key, for messages.
fn how_to_make(path: &Path) -> String {
    format!(
        "make one by `(umask 077; head -c 32 /dev/urandom > '{}')`, or from a passphrase of Mission Planner or MAVProxy by \
         `(umask 077; printf %s PASSPHRASE | sha256sum | cut -c1-64 > '{0}')`",
        path.display()
    )
}

#[cfg(test)]
mod tests;
