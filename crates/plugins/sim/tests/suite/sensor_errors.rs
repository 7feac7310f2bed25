//! Errors of sensors: as large as was asked for, and drawn as was said.

use nalgebra::Vector3;

use super::run::{DRIFTER, Run};
use super::sensors::{EXACT_IMU, close};

fn mean_square(values: impl Iterator<Item = Vector3<f64>>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value.norm_squared();
        count += 3.0;
    }
    sum / count
}

/// Whether a mean square of so many independent normal numbers is within four of its standard deviations.
fn expect_variance(found: f64, expected: f64, count: f64) {
    let bound = 4.0 * (2.0 / count).sqrt();
    let error = found / expected - 1.0;
    assert!(
        error.abs() < bound,
        "{found:e} {expected:e}: {error} {bound}"
    );
}

/// White noise of density sigma has the variance `sigma² / T`, and the mean of m samples `sigma² / (m T)`.
#[test]
fn imu_noise_has_its_density() {
    for (rate, seed) in [(500.0, 1), (500.0, 2), (125.0, 3)] {
        let text = format!(
            "sensors.imu = {{ {}, rate = {rate} }}",
            EXACT_IMU
                .replace("gyro_noise = 0,", "gyro_noise = 0.002,")
                .replace("accelerometer_noise = 0,", "accelerometer_noise = 0.03,")
        );
        let run = Run::new(&text, DRIFTER, (500.0, seed), 20_001);
        for (group, density) in [
            ("imu.angular_velocity", 0.002),
            ("imu.specific_force", 0.03),
        ] {
            let samples: Vec<_> = run
                .arrivals(group)
                .iter()
                .map(|&i| run.vector(i, group))
                .collect();
            let count = samples.len() as f64;
            assert!((count - 20_000.0 * rate / 500.0).abs() < 1.5, "{count}");
            let variance = density * density * rate;
            expect_variance(mean_square(samples.iter().copied()), variance, 3.0 * count);
            let means = samples
                .chunks_exact(50)
                .map(|m| m.iter().sum::<Vector3<f64>>() / 50.0);
            let found = mean_square(means);
            expect_variance(found, variance / 50.0, (3.0 * count / 50.0).floor());
        }
    }
}

/// `E (b(t + s) - b(t))² = walk² s`, for any s; the first bias is drawn anew from each seed, or as given.
#[test]
fn biases_walk_from_their_start() {
    let text = format!(
        "sensors.imu = {{ {} }}",
        EXACT_IMU
            .replace("gyro_bias_walk = 0", "gyro_bias_walk = 0.01")
            .replace("gyro_bias = [0, 0, 0]", "gyro_bias = [0.1, 0.2, 0.3]")
    );
    let group = "imu.angular_velocity";
    let run = Run::new(&text, DRIFTER, (500.0, 5), 20_001);
    close(&run.vector(1, group), &Vector3::new(0.1, 0.2, 0.3), 1e-12);
    for lag in [1, 10, 100] {
        let starts = (1..20_001 - lag).step_by(lag);
        let count = starts.len() as f64 * 3.0;
        let changes = starts.map(|i| run.vector(i + lag, group) - run.vector(i, group));
        let expected = 1e-4 * lag as f64 / 500.0;
        expect_variance(mean_square(changes), expected, count);
    }
    let drawn = text.replace(
        "gyro_bias = [0.1, 0.2, 0.3]",
        "gyro_bias_deviation = 0.05, gyro_scale_deviation = 0",
    );
    let first = |seed| Run::new(&drawn, DRIFTER, (500.0, seed), 2).vector(1, group);
    expect_variance(mean_square((0..400).map(first)), 0.0025, 1200.0);
}

/// The error of each axis' scale is drawn once.
#[test]
fn scales_are_drawn() {
    let text = format!(
        "initial.angular_velocity = [0, 0, 2]
        sensors.imu = {{ {EXACT_IMU}, gyro_scale_deviation = 0.03 }}"
    );
    let errors = (0..300).map(|seed| {
        let run = Run::new(&text, DRIFTER, (500.0, seed), 3);
        let [one, two] = [1, 2].map(|frame| run.value(frame, "imu.angular_velocity.z"));
        assert!((one - two).abs() < 1e-12);
        Vector3::repeat(one / 2.0 - 1.0)
    });
    expect_variance(mean_square(errors), 9e-4, 300.0);
}

/// First-order Gauss-Markov, correlated by `exp(-s / tau)` whatever the rate: from zero or, where absolute, stationary from the start.
#[test]
fn drifts_are_stationary_and_correlated() {
    let drift = |rate: f64, absolute: bool| {
        format!(
            "sensors.gnss = {{ rate = {rate}, delay = 0, position_noise = [0, 0, 0], drift = [2, 2, 2], drift_time = 3, absolute = {absolute}, velocity_noise = [0, 0, 0] }}
            sensors.barometer = {{ rate = {rate}, noise = 0, drift = 2, drift_time = 3, absolute = {absolute} }}"
        )
    };
    let text = |rate| drift(rate, true);
    for (rate, lag) in [(10.0, 30), (2.0, 6)] {
        let run = Run::new(&text(rate), DRIFTER, (10.0, 7), 100_000);
        let all = run.arrivals("gnss.position");
        let values: Vec<_> = all
            .iter()
            .map(|&i| run.vector(i, "gnss.position"))
            .collect();
        // 10 000 s have as many independent values as there are pairs of time constants.
        let count = 3.0 * 10_000.0 / 6.0;
        expect_variance(mean_square(values.iter().copied()), 4.0, count);
        let pairs = values.iter().zip(&values[lag..]);
        let products: f64 = pairs.map(|(a, b)| a.dot(b)).sum();
        let correlation = products / 3.0 / (values.len() - lag) as f64 / 4.0;
        let expected = (-1.0_f64).exp();
        assert!(
            (correlation - expected).abs() < 4.0 / count.sqrt(),
            "{correlation} {expected}"
        );
        let heights = all
            .iter()
            .map(|&i| Vector3::repeat(run.value(i, "barometer.altitude")));
        expect_variance(mean_square(heights), 4.0, count / 3.0);
    }
    let first = (0..400).map(|seed| {
        let run = Run::new(&text(10.0), DRIFTER, (10.0, seed), 1);
        run.vector(0, "gnss.position")
    });
    expect_variance(mean_square(first), 4.0, 1200.0);
    // Zero at first; 1 - exp(-2) of the variance after a time constant.
    for (frame, part) in [(0, 0.0), (30, -(-2.0_f64).exp_m1())] {
        let values = (0..400).map(|seed| {
            let run = Run::new(&drift(10.0, false), DRIFTER, (10.0, seed), frame + 1);
            run.vector(frame, "gnss.position")
        });
        let variance = mean_square(values);
        if frame == 0 {
            assert_eq!(variance, 0.0);
        } else {
            expect_variance(variance, 4.0 * part, 1200.0);
        }
    }
    // A constant error is one from the start.
    let constant = drift(10.0, false).replace("drift_time = 3", "drift_time = inf");
    let run = Run::new(&constant, DRIFTER, (10.0, 5), 2);
    let [first, second] = [0, 1].map(|frame| run.vector(frame, "gnss.position"));
    assert!(first == second && first.norm() > 0.1, "{first}");
}

/// White noises with the deviations that were asked for.
#[test]
fn white_noises() {
    let text = "
        initial.position = [0, 0, 3]
        sensors.motion_capture = { rate = 500, delay = 0, position_noise = 0.02, attitude_noise = 0.01 }
        sensors.gnss = { rate = 500, delay = 0, position_noise = [1, 2, 3], drift = [0, 0, 0], velocity_noise = [0.3, 0.2, 0.1] }
        sensors.barometer = { rate = 500, noise = 0.3, drift = 0 }
        sensors.magnetometer = { rate = 500, noise = 2e-6, field = [1e-5, 0, 0] }
        sensors.airspeed = { rate = 500, noise = 0.5, bias_deviation = 0 }
        sensors.range = { rate = 500, noise = 0.04 }";
    let run = Run::new(
        &format!("initial.velocity = [20, 0, 0]\n{text}"),
        DRIFTER,
        (500.0, 9),
        10_000,
    );
    let all = || 0..10_000;
    let check = |values: &mut dyn Iterator<Item = Vector3<f64>>, deviation: f64, axes: f64| {
        expect_variance(mean_square(values), deviation * deviation, axes * 1e4);
    };
    let position = |i| run.vector(i, "truth.pose.position");
    check(
        &mut all().map(|i| run.vector(i, "motion_capture.position") - position(i)),
        0.02,
        3.0,
    );
    check(
        &mut all().map(|i| run.rotation(i, "motion_capture.quaternion").log()),
        0.01,
        3.0,
    );
    let scale = |v: Vector3<f64>, by: [f64; 3]| v.component_div(&Vector3::from(by));
    check(
        &mut all().map(|i| {
            scale(
                run.vector(i, "gnss.position") - position(i),
                [1.0, 2.0, 3.0],
            )
        }),
        1.0,
        3.0,
    );
    let speed = Vector3::new(20.0, 0.0, 0.0);
    check(
        &mut all().map(|i| scale(run.vector(i, "gnss.velocity") - speed, [0.3, 0.2, 0.1])),
        1.0,
        3.0,
    );
    check(
        &mut all().map(|i| run.vector(i, "magnetometer.field") - Vector3::x() * 1e-5),
        2e-6,
        3.0,
    );
    let one = |signal: &'static str, truth: f64| {
        let run = &run;
        all().map(move |i| Vector3::repeat(run.value(i, signal) - truth))
    };
    check(&mut one("barometer.altitude", 3.0), 0.3, 1.0);
    check(&mut one("range.distance", 3.0), 0.04, 1.0);
    // 1/2 rho v² with 0.5 Pa: dv = dp / (rho v), but for the curvature.
    let deviation = 0.5 / (1.225 * 20.0);
    check(&mut one("airspeed.speed", 20.0), deviation, 1.0);
}

/// In still air a Pitot tube at rest shows the noise of its pressure: never negative, about `sqrt(2 sigma / rho)`.
#[test]
fn slow_airspeeds_are_poor() {
    let text = "sensors.airspeed = { noise = 1, bias_deviation = 0 }";
    let run = Run::new(text, DRIFTER, (50.0, 2), 4000);
    let values = (0..4000).map(|i| run.value(i, "airspeed.speed"));
    let (zero, fast): (Vec<f64>, Vec<f64>) = values.partition(|value| *value == 0.0);
    assert!((zero.len() as f64 - 2000.0).abs() < 130.0, "{}", zero.len());
    // The mean of the square is that of the positive half of the pressure: sqrt(2 / pi) Pa.
    let mean = fast.iter().map(|v| v * v).sum::<f64>() / fast.len() as f64;
    let expected = 2.0 / 1.225 * (2.0 / std::f64::consts::PI).sqrt();
    assert!((mean / expected - 1.0).abs() < 0.07, "{mean} {expected}");
}

#[test]
fn triads_saturate() {
    let text = format!(
        "initial.angular_velocity = [3, 0, 0]
        sensors.imu = {{ {EXACT_IMU}, gyro_range = 2.5, accelerometer_range = 0.5, position = [0, 0.1, 0] }}"
    );
    let run = Run::new(&text, DRIFTER, (500.0, 1), 10);
    for frame in 1..10 {
        assert_eq!(
            run.vector(frame, "imu.angular_velocity"),
            Vector3::new(2.5, 0.0, 0.0)
        );
        let force = run.vector(frame, "imu.specific_force");
        assert!(
            (force.y + 0.5).abs() < 1e-12,
            "{force}: 0.9 m/s² towards the axis"
        );
    }
}

/// Beyond its range, below the ground and upwards there is no distance.
#[test]
fn distances_have_limits() {
    let text = "
        initial = { position = [0, 0, 9], velocity = [0, 0, -1], angular_velocity = [0, 0, 0] }
        sensors.range = { rate = 10, noise = 0, min = 2, max = 7 }";
    let run = Run::new(text, DRIFTER, (10.0, 1), 120);
    for frame in 0..120 {
        let height = 9.0 - frame as f64 / 10.0;
        let (stamp, valid) = run.status(frame, "range");
        assert_eq!(stamp, run.frames[frame].time);
        assert_eq!(valid, (1.9999..7.0001).contains(&height), "{height}");
        if valid {
            assert!((run.value(frame, "range.distance") - height).abs() < 1e-9);
        }
    }
    let upwards = text.replace(
        "velocity = [0, 0, -1]",
        "attitude = { rpy_deg = [180, 0, 0] }",
    );
    let run = Run::new(&upwards, DRIFTER, (10.0, 1), 20);
    assert!((0..20).all(|frame| !run.status(frame, "range").1));
}

/// A rotor turns at 2 pi 450 Hz, sampled at 500 Hz: the sample turns back by a tenth of a turn each time, as long as averaging leaves it.
#[test]
fn vibration_is_aliased() {
    let speed = std::f64::consts::TAU * 450.0;
    let coefficient = 9.81 / (speed * speed);
    let vehicle = format!(
        "name = 'one'
        [bodies.one]
        mass = 1.0
        inertia = [0.01, 0.01, 0.01]
        [[rotors]]
        body = 'one'
        position = [0, 0, 0]
        axis = [0, 0, 1]
        thrust = [0, 20]
        thrust_coefficient = {coefficient:e}"
    );
    let text = format!(
        "initial.commands = [9.81]
        sensors.imu = {{ {EXACT_IMU}, accelerometer_vibration = 1e-6, gyro_vibration = 2e-9 }}"
    );
    let run = Run::commanded(&text, &vehicle, (500.0, 4), 100, |_, c| c[0] = 9.81);
    let half = 0.5 * speed / 500.0;
    let length = 1e-6 * speed * speed * (half.sin() / half).abs();
    assert!(length > 0.5);
    for frame in 2..100 {
        let [before, now] = [frame - 1, frame].map(|i| run.vector(i, "imu.specific_force"));
        assert!((now.z - 9.81).abs() < 1e-9);
        assert!((now.xy().norm() - length).abs() < 1e-6 * length, "{now}");
        let turn = before
            .xy()
            .perp(&now.xy())
            .atan2(before.xy().dot(&now.xy()));
        assert!((turn + std::f64::consts::TAU / 10.0).abs() < 1e-6, "{turn}");
        let gyro = run.vector(frame, "imu.angular_velocity");
        close(&gyro, &Vector3::new(now.x * 2e-3, now.y * 2e-3, 0.0), 1e-9);
    }
}
