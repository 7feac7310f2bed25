//! glibc's allocation functions, with a counter.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::hint::black_box;

unsafe extern "C" {
    // glibc's own names of the replaced functions.
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
}

thread_local! {
    // Constant and without a destructor, so accessing it does not allocate.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn counted() {
    COUNT.set(COUNT.get() + 1);
}

/// Number of allocations of this thread since it began.
pub fn count() -> usize {
    COUNT.get()
}

/// Whether allocations are counted: the linker may have been given another `malloc`.
pub(crate) fn counts() -> bool {
    // Referenced, so that the linker takes them from this crate.
    black_box([
        malloc as *const (),
        calloc as *const (),
        realloc as *const (),
        memalign as *const (),
        posix_memalign as *const (),
        aligned_alloc as *const (),
    ]);
    let before = count();
    drop(black_box(Box::new(black_box(0_u8))));
    count() > before
}

/// As C's.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    counted();
    // SAFETY: glibc's function of the same meaning.
    unsafe { __libc_malloc(size) }
}

/// As C's.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    counted();
    // SAFETY: glibc's function of the same meaning.
    unsafe { __libc_calloc(count, size) }
}

/// As C's.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    counted();
    // SAFETY: glibc's function of the same meaning; the caller vouches for `old`, which came from glibc too.
    unsafe { __libc_realloc(old, size) }
}

/// As glibc's.
#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    counted();
    // SAFETY: glibc's function of the same meaning.
    unsafe { __libc_memalign(alignment, size) }
}

/// As C's.
#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    memalign(alignment, size)
}

/// As POSIX's.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    const EINVAL: c_int = 22;
    const ENOMEM: c_int = 12;
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*const ()>()) {
        return EINVAL;
    }
    let memory = memalign(alignment, size);
    if memory.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's place for the result.
    unsafe { result.write(memory) };
    0
}
