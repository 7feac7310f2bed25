//! Which call of a plugin is under way on a thread, told if the process crashes in it.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};
use std::thread::LocalKey;

thread_local! {
    /// The plugin whose call is under way.
    static PLUGIN: Lent = const { Lent::none() };
    /// What is done with it.
    static DOING: Lent = const { Lent::none() };
}

/// A text that outlives its use, by its address and its length: the handler of a signal, which may come at any time, borrows nothing.
struct Lent {
    text: AtomicPtr<u8>,
    /// 0 without a text, and while the address changes.
    length: AtomicUsize,
}

impl Lent {
    const fn none() -> Self {
        Self {
            text: AtomicPtr::new(ptr::null_mut()),
            length: AtomicUsize::new(0),
        }
    }

    fn get(&self) -> (*mut u8, usize) {
        let length = self.length.load(Ordering::Relaxed);
        (self.text.load(Ordering::Relaxed), length)
    }

    fn set(&self, (text, length): (*mut u8, usize)) {
        self.length.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.text.store(text, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.length.store(length, Ordering::Relaxed);
    }
}

/// A text of this thread, until it is dropped.
pub(crate) struct Under<'a> {
    place: &'static LocalKey<Lent>,
    before: (*mut u8, usize),
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

    fn of(place: &'static LocalKey<Lent>, text: &'a [u8]) -> Self {
        let before = place.with(Lent::get);
        place.with(|lent| lent.set((text.as_ptr().cast_mut(), text.len())));
        Self {
            place,
            before,
            text: std::marker::PhantomData,
        }
    }
}

impl Drop for Under<'_> {
    fn drop(&mut self) {
        self.place.with(|lent| lent.set(self.before));
    }
}

/// Tells in which call the process crashes, if it is one. Neither waits nor allocates.
pub(super) fn tell() {
    let plugin = PLUGIN.with(Lent::get);
    if plugin.1 == 0 {
        return;
    }
    write(b"error: the process crashed in a call of the plugin `");
    write_lent(plugin);
    let check = DOING.with(Lent::get);
    if check.1 > 0 {
        write(b"`, in the check `");
        write_lent(check);
    }
    write(b"`\n");
}

fn write_lent((text, length): (*mut u8, usize)) {
    // SAFETY: the text lives until its `Under` is dropped, which has not happened; the length is that of this address.
    write(unsafe { std::slice::from_raw_parts(text, length) });
}

fn write(bytes: &[u8]) {
    // SAFETY: `write` is safe in a signal's handler, and the bytes are there. What cannot be written is lost.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
