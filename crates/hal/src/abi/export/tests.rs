//! Hosts of other minor versions.

use super::*;
use crate::{Clock, Info};

struct Nothing(Description);

impl Backend for Nothing {
    const INFO: Info = Info {
        name: "nothing",
        version: "1.0.0",
        summary: "does nothing",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(_: &Configuration) -> Result<Self, Error> {
        Ok(Self(Description::new()))
    }

    fn description(&self) -> &Description {
        &self.0
    }

    fn read(&mut self, _: Deadline, _: &mut FrameMut) -> Result<ReadOutcome, Error> {
        Ok(ReadOutcome::End)
    }

    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn the_groups_of_a_host_with_longer_elements_are_found() {
    // Three elements of five words: stamp, validity, and fields that a later version added.
    let mut words = [1_u64, 1, 7, 7, 7, 2, 0, 7, 7, 7, 3, 1, 7, 7, 7];
    let frame = c::Frame {
        size: size_of::<c::Frame>(),
        time: 0,
        values: std::ptr::null_mut(),
        value_count: 0,
        groups: words.as_mut_ptr().cast(),
        group_count: 3,
        group_size: 40,
    };
    let status = |stamp, valid| GroupStatus { stamp, valid };
    let mut statuses = [GroupStatus::default(); 3];
    let groups = Groups::of(&frame, 3).unwrap();
    groups.fetch(&mut statuses);
    assert_eq!(
        statuses,
        [status(1, true), status(2, false), status(3, true)]
    );
    groups.store(&[status(4, false), status(5, true), status(6, true)]);
    assert_eq!(words, [4, 0, 7, 7, 7, 5, 1, 7, 7, 7, 6, 1, 7, 7, 7]);
    assert!(Groups::of(&frame, 2).is_err());
    assert!(
        Groups::of(
            &c::Frame {
                group_size: 12,
                ..frame
            },
            3
        )
        .is_err()
    );
}

#[test]
fn a_configuration_is_not_read_beyond_its_end() {
    let (mut room, mut instance) = (ErrorRoom::new(), std::ptr::null_mut());
    // The structure contains nothing but its size.
    let short = size_of::<usize>();
    // SAFETY: everything is ours, and as large as it says.
    let status =
        unsafe { configure::<Nothing>((&raw const short).cast(), &raw mut instance, room.lend()) };
    assert_eq!(status, c::FLY_FAILED);
    assert!(instance.is_null());
    let error = room.take(status);
    assert!(
        error
            .message
            .starts_with("expected a configuration of at least 88 bytes, found 8"),
        "{error}"
    );
}

/// A signal may interrupt the thread that holds the functions: its handler must end all the same.
#[test]
fn an_emergency_never_waits() {
    let held = emergencies();
    // SAFETY: an address that is only looked up.
    let answer = unsafe { emergency(std::ptr::null_mut(), 0) };
    assert_eq!(answer, c::FLY_FAILED);
    drop(held);
}
