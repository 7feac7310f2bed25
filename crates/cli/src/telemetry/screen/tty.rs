//! The terminal as a screen, and back again on every way out of the program that this program takes itself.
//!
//! Keys are not read: Ctrl-C and its like stay signals, what is typed is not echoed and thrown away at the end.

use std::io::{self, Write as _};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush,
    tcgetattr, tcsetattr,
};

/// How the terminal was before, while it is a screen. Who holds it draws.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// How long leaving may take on a terminal that takes nothing.
const LAST: Duration = Duration::from_millis(300);

/// The code of no key (`_POSIX_VDISABLE`).
const DISABLED: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

/// Makes the terminal at standard error a screen.
pub fn enter() -> io::Result<()> {
    let terminal = io::stderr();
    let before = tcgetattr(&terminal)?;
    let mut now = before.clone();
    now.local_modes
        .remove(LocalModes::ECHO | LocalModes::ICANON);
    // Ctrl-S would stop the picture, Ctrl-Z leave it to the shell.
    now.input_modes.remove(InputModes::IXON);
    now.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
    let mut saved = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    tcsetattr(&terminal, OptionalActions::Now, &now)?;
    *saved = Some(before);
    execute!(&terminal, EnterAlternateScreen, Hide)
}

/// Draws, unless the screen was left.
pub fn draw<T>(draw: impl FnOnce() -> T) -> Option<T> {
    let saved = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    saved.is_some().then(draw)
}

/// Makes the terminal what it was; nothing, if it is no screen. Whoever ends the process calls this first. Waits for a terminal that takes nothing, but not long.
pub fn leave() {
    let (left, wait) = sync_channel(1);
    let leaving = thread::Builder::new().spawn(move || {
        let mut saved = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = saved.take() {
            let mut terminal = io::stderr();
            // The modes first: they do not wait. A terminal that is gone needs neither.
            let _ = tcflush(&terminal, QueueSelector::IFlush);
            let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
            let _ = execute!(&terminal, LeaveAlternateScreen, Show);
            let _ = terminal.flush();
        }
        let _ = left.send(());
    });
    if leaving.is_ok() {
        let _ = wait.recv_timeout(LAST);
    }
}
