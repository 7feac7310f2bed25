//! The flight thread's side of the writer does not touch the heap.

use crate::common;

use common::{Tick, header};
use fly_log::{Level, Pace, Pushed, RunMetadata, Writer, tap};

#[test]
fn pushing_rows_and_events_does_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    for pace in [Pace::Stepped, Pace::RealTime] {
        let mut writer = Writer::create(folder.path().join("log.mcap"), &header(), pace).unwrap();
        let (ticks, inputs): (Vec<_>, _) = ((0..4000).map(Tick::number).collect(), [0.0; 3]);
        assert_eq!(writer.push(&ticks[0].row(&inputs)), Pushed::Queued);
        let allocations = fly_testing::allocations(|| {
            for tick in &ticks[1..] {
                writer.push(&tick.row(&inputs));
                writer.event(tick.time, Level::Info, "fly::flight", "nothing new");
            }
        });
        assert_eq!(allocations, 0, "{pace:?}");
        let stats = writer.finish(RunMetadata::default()).unwrap();
        assert_eq!(stats.rows + stats.events + stats.dropped, 7999, "{pace:?}");
    }
}

/// Neither does that of a tap, whether or not the rows are taken.
#[test]
fn handing_over_rows_and_events_does_not_allocate() {
    let (mut tap, mut tapped) = tap(&header(), 100);
    let (ticks, inputs): (Vec<_>, _) = ((0..1000).map(Tick::number).collect(), [0.0; 3]);
    let allocations = fly_testing::allocations(|| {
        for tick in &ticks {
            tap.push(&tick.row(&inputs));
            tap.event(tick.time, Level::Info, "fly::flight", "nothing new");
        }
    });
    assert_eq!(allocations, 0);
    // The oldest are there, in order; lost ones are counted.
    let mut count = 0;
    while tapped.take().is_some() {
        count += 1;
    }
    assert!(count >= 100 && count + tap.lost() == 2000, "{count}");
    assert!(!tapped.is_over());
    drop(tap);
    assert!(tapped.is_over());
}
