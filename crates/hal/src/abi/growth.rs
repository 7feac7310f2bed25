//! Structures of another minor version: shorter or longer than ours, with the same layout in their common part.

use std::mem::MaybeUninit;

use super::types as c;

/// A structure of the ABI that may grow at its end.
///
/// # Safety
/// The all-zero bit pattern is a valid value, and so is any combination of valid values of the fields after the first
/// `FIRST` bytes.
pub(crate) unsafe trait Grows: Copy {
    /// Size in bytes in the first minor version of this major version; no structure is shorter.
    const FIRST: usize;
}

/// End of `$field`, the last field of the first minor version.
macro_rules! grows {
    ($($type:ident up to $field:ident: $last:ty),+ $(,)?) => {$(
        // SAFETY: numbers, pointers that may be null, and optional functions.
        unsafe impl Grows for c::$type {
            // Including padding up to the alignment of pointers and 64-bit numbers, which all of them contain.
            const FIRST: usize = (std::mem::offset_of!(c::$type, $field) + size_of::<$last>())
                .next_multiple_of(align_of::<c::$type>());
        }
    )+};
}

grows! {
    Plugin up to destroy: usize,
    Host up to log: usize,
    Configuration up to resolve_path: usize,
    Description up to configuration: c::Text,
    Signal up to group: u32,
    Frame up to group_size: usize,
    GroupStatus up to valid: u8,
}

/// Reads the part of `source` that both sides know; the rest is zero.
///
/// # Safety
/// `source` points to `size` readable bytes, a `T` of some minor version.
pub(crate) unsafe fn read<T: Grows>(source: *const T, size: usize) -> T {
    let mut whole = MaybeUninit::<T>::zeroed();
    // SAFETY: both have that many bytes; what is not copied is zero, which `Grows` vouches for.
    unsafe {
        std::ptr::copy_nonoverlapping(
            source.cast::<u8>(),
            whole.as_mut_ptr().cast(),
            size.min(size_of::<T>()),
        );
        whole.assume_init()
    }
}

/// Writes the part of `value` that both sides know.
///
/// # Safety
/// `target` points to `size` writable bytes, a `T` of some minor version.
pub(crate) unsafe fn write<T: Grows>(value: &T, target: *mut T, size: usize) {
    // SAFETY: both have that many bytes, and `value` is ours.
    unsafe {
        std::ptr::copy_nonoverlapping(
            std::ptr::from_ref(value).cast::<u8>(),
            target.cast(),
            size.min(size_of::<T>()),
        );
    }
}

/// Address of an element in an array of the other side, whose elements have `size` bytes.
pub(crate) fn element<T: Grows>(array: *mut T, index: usize, size: usize) -> *mut T {
    array.wrapping_byte_add(index * size)
}
