//! Gaps between the samples of an IMU, and measurements for which there is no room.

use super::*;

/// Between two samples, ns.
const TICK: i64 = 5_000_000;

/// A step of a multicopter that turns by 3 rad/s and accelerates by 8 m/s².
fn brisk(flight: &mut Flight) -> Imu {
    let t = flight.time;
    let (roll, pitch, yaw) = ((5.0 * t).sin(), 2.0 * (4.0 * t).cos(), (3.0 * t).sin());
    flight.measure(&Imu {
        gyro: Vector3::new(roll, pitch, 3.0 * yaw),
        accelerometer: Vector3::new(0.0, 0.0, 9.81 + 8.0 * (6.0 * t).sin()),
    })
}

/// What a vehicle does in a gap is within the covariance, and the measurements after it pass.
#[test]
fn through_a_gap_the_covariance_is_not_less_than_the_errors() {
    let ignore = |_: Judged<'_>| ();
    let (mut sum, mut rejected) = (0.0, 0);
    for seed in 0..100 {
        let mut flight = Flight::new(seed, EstimatorParameters::default());
        let mut filter = Delayed::<32, 16>::new(flight.filter(), 0);
        // The sensors pause for 0.1 s, somewhere in the motion.
        let from = 240 + 2 * i64::try_from(seed).expect("small");
        for i in 1..=600 {
            let imu = brisk(&mut flight);
            if (from..from + 20).contains(&i) {
                continue;
            }
            filter.sample(i * TICK, &imu, ignore).expect("newer");
            if i == from + 20 {
                let (e, P) = (flight.error(filter.filter()), filter.filter().covariance());
                sum += e.dot(&(P.try_inverse().expect("positive") * e));
            }
            if i % 4 == 0 {
                let count = |judged: Judged<'_>| {
                    let is_rejected = matches!(judged.verdict, Verdict::Rejected { .. });
                    rejected += u32::from(i > from && is_rejected);
                };
                let seen = flight.capture();
                filter.measure(i * TICK, 0, &seen, count).expect("room");
            }
        }
    }
    let mean = sum / 100.0;
    println!("NEES {mean} of 15, {rejected} rejected");
    assert!(mean < 15.0, "{mean}");
    // Of 100 flights with 60 right measurements each the gate rejects a thousandth.
    assert!(rejected < 20, "{rejected}");
}

/// Until the horizon has passed a gap only the filter around it knows of it.
#[test]
fn a_gap_ahead_of_the_horizon_is_told() {
    let late = EstimatorParameters {
        delay: 0.1,
        ..EstimatorParameters::default()
    };
    let mut flight = Flight::new(3, late);
    let mut filter = Delayed::<64, 4>::new(flight.filter(), 0);
    for i in 1..=300_i64 {
        let imu = brisk(&mut flight);
        if !(101..140).contains(&i) {
            filter.sample(i * TICK, &imu, |_| ()).expect("newer");
            let is_ahead = (140..160).contains(&i);
            let [turn, velocity] = filter.unseen();
            assert_eq!((turn > 0.1, velocity > 0.5), (is_ahead, is_ahead), "{i}");
        }
    }
}

/// One or two lost samples are held.
#[test]
fn a_few_lost_samples_are_as_one_longer_step() {
    let mut flight = Flight::new(5, EstimatorParameters::default());
    let mut plain = flight.filter();
    let mut delayed = Delayed::<4, 4>::new(plain.clone(), 0);
    let mut time = 0;
    for i in 1..=100_i64 {
        let imu = flight.step();
        if ![40, 60, 61].contains(&i) {
            let now = i * TICK;
            plain.predict(&imu, (now - time) as f64 * 1e-9);
            delayed.sample(now, &imu, |_| ()).expect("newer");
            time = now;
        }
    }
    assert_eq!(delayed.filter().covariance(), plain.covariance());
    assert_eq!(delayed.filter().pose(), plain.pose());
}

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
