//! Test-only helpers: the malloc counter, random numbers, golden files, skipped tests, builds without std, logs compared byte for byte,
//! Python with packages of PyPI.
//!
//! Linking this crate into a test puts its `malloc`, `calloc`, `realloc`, `memalign`, `posix_memalign` and
//! `aligned_alloc` in front of glibc's, for the whole process: Rust, C code and libraries loaded later. Each counts on
//! the calling thread, then lets glibc do the work.
//!
//! ```
//! let mut numbers = Vec::with_capacity(2);
//! assert_eq!(fly_testing::allocations(|| numbers.extend([1, 2])), 0);
//! assert_eq!(fly_testing::allocations(|| numbers.push(3)), 1);
//! ```

use std::io::Write;

pub mod golden;
mod malloc;
pub mod mcap;
mod no_std;
mod python;
mod random;

pub use malloc::count;
pub use no_std::builds_without_std;
pub use python::python;
pub use random::Random;

/// Runs `action` and counts the allocations of this thread in it, including reallocations, from any source: Rust code,
/// C code, loaded libraries. Deallocations are not counted.
///
/// # Panics
/// If the counter does not work because something else has replaced `malloc`. A test that proves nothing must not pass.
pub fn allocations(action: impl FnOnce()) -> usize {
    assert!(malloc::counts(), "malloc is not counted in this process");
    let before = count();
    action();
    count() - before
}

/// Reports that a test proves nothing here because a prerequisite is missing. Return from the test afterwards.
///
/// # Panics
/// In continuous integration, if the environment variable `CI` is set: a skipped test there would look like a passing
/// one.
pub fn skip(missing: impl std::fmt::Display) {
    assert!(std::env::var_os("CI").is_none(), "missing: {missing}");
    // `eprintln!` would be captured by the test harness.
    let _ = writeln!(std::io::stderr(), "SKIPPED, missing: {missing}");
}
