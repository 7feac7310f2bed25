//! Which call of a plugin is under way on a thread, told if the process crashes in it.
#![allow(unsafe_code)]

use std::cell::Cell;

/// A text that outlives its use: address and length, because a signal's handler borrows nothing.
type Lent = Option<(*const u8, usize)>;

thread_local! {
    /// The plugin whose call is under way.
    static PLUGIN: Cell<Lent> = const { Cell::new(None) };
    /// What is done with it.
    static DOING: Cell<Lent> = const { Cell::new(None) };
}

/// A text of this thread, until it is dropped.
pub(crate) struct Under<'a> {
    cell: &'static std::thread::LocalKey<Cell<Lent>>,
    before: Lent,
    text: std::marker::PhantomData<&'a [u8]>,
}

impl<'a> Under<'a> {
    /// A call of the plugin with this name begins.
    pub(super) fn call(name: &'a [u8]) -> Self {
        Self::of(&PLUGIN, name)
    }

    /// The conformance check of this name begins.
    pub(crate) fn check(name: &'a str) -> Self {
        Self::of(&DOING, name.as_bytes())
    }

    fn of(cell: &'static std::thread::LocalKey<Cell<Lent>>, text: &'a [u8]) -> Self {
        Self {
            cell,
            before: cell.replace(Some((text.as_ptr(), text.len()))),
            text: std::marker::PhantomData,
        }
    }
}

impl Drop for Under<'_> {
    fn drop(&mut self) {
        self.cell.set(self.before);
    }
}

/// Tells in which call the process crashes, if it is one. Neither waits nor allocates.
pub(super) fn tell() {
    let Some(plugin) = PLUGIN.get() else {
        return;
    };
    write(b"error: the process crashed in a call of the plugin `");
    write_lent(plugin);
    if let Some(check) = DOING.get() {
        write(b"`, in the check `");
        write_lent(check);
    }
    write(b"`\n");
}

fn write_lent((text, length): (*const u8, usize)) {
    // SAFETY: the text lives until its `Under` is dropped, which has not happened.
    write(unsafe { std::slice::from_raw_parts(text, length) });
}

fn write(bytes: &[u8]) {
    // SAFETY: `write` is safe in a signal's handler, and the bytes are there. What cannot be written is lost.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
