//! The groups of the host's frame, whose elements may be longer or shorter than ours.

use crate::abi::growth::{self, Grows};
use crate::abi::types as c;
use crate::{Error, GroupStatus};

/// The host's array of groups during a read.
pub(super) struct Groups {
    first: *mut c::GroupStatus,
    /// Stride in bytes: larger or smaller than our type with a host of another minor version.
    size: usize,
}

impl Groups {
    pub fn of(frame: &c::Frame, expected: usize) -> Result<Self, Error> {
        let (first, size) = (frame.groups, frame.group_size);
        let fits = frame.group_count == expected
            && size >= c::GroupStatus::FIRST
            && size.is_multiple_of(align_of::<c::GroupStatus>())
            && (expected == 0 || !first.is_null());
        if fits {
            Ok(Self { first, size })
        } else {
            Err(wrong_groups(frame, expected))
        }
    }

    pub fn fetch(&self, statuses: &mut [GroupStatus]) {
        for (index, status) in statuses.iter_mut().enumerate() {
            // SAFETY: the host's array has that many elements of that size, as `of` checked, and is ours during the call.
            let given =
                unsafe { growth::read(growth::element(self.first, index, self.size), self.size) };
            *status = GroupStatus {
                stamp: given.stamp,
                valid: given.valid != 0,
            };
        }
    }

    pub fn store(&self, statuses: &[GroupStatus]) {
        for (index, status) in statuses.iter().enumerate() {
            let place = growth::element(self.first, index, self.size);
            // SAFETY: as in `fetch`. The fields are in every version; those that we do not know stay as they are.
            unsafe {
                (&raw mut (*place).stamp).write(status.stamp);
                (&raw mut (*place).valid).write(u8::from(status.valid));
            }
        }
    }
}

#[cold]
fn wrong_groups(frame: &c::Frame, expected: usize) -> Error {
    Error::usage(format!(
        "expected a frame with {expected} groups of at least {} bytes each, found {} of {} bytes at {:p}",
        c::GroupStatus::FIRST,
        frame.group_count,
        frame.group_size,
        frame.groups
    ))
}
