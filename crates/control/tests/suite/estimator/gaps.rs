//! Measurements for which there is no room.

use super::*;

/// Between two samples, ns.
const TICK: i64 = 5_000_000;

/// Which measurements found no room is told apart from those that are too old; there is room again once the horizon has passed some.
#[test]
fn measurements_without_room_are_not_too_old() {
    let late = EstimatorParameters {
        delay: 0.02,
        ..EstimatorParameters::default()
    };
    let mut flight = Flight::new(2, late);
    let mut filter = Delayed::<8, 2>::new(flight.filter(), 0);
    let mut order = Vec::new();
    for i in 1..=8_i64 {
        let imu = flight.step();
        let note = |judged: Judged<'_>| order.push(judged.stamp / TICK);
        filter.sample(i * TICK, &imu, note).expect("newer");
        let seen = flight.capture();
        let taken = [i, i - 1].map(|at| filter.measure(at * TICK, 0, &seen, |_| ()));
        match i {
            1 => assert_eq!(taken, [Ok(()), Ok(())], "the other is at the horizon"),
            2 => assert_eq!(taken, [Ok(()), Err(Refused::Full)]),
            3 | 4 => assert_eq!(taken, [Err(Refused::Full); 2]),
            _ => assert_eq!(taken[1], Err(Refused::Full)),
        }
    }
    assert_eq!(
        filter.measure(0, 0, &flight.capture(), |_| ()),
        Err(Refused::TooOld)
    );
    assert_eq!(order, [1, 2]);
}
