//! Sensors: exact without errors, with the errors that were asked for, and when their samples arrive.

use fly_hal::{Backend, Configuration, Deadline, Frame, ReadOutcome};
use fly_lie::SO3;
use fly_plugin_sim::Simulation;
use nalgebra::{Vector3, Vector4};

const CUBE: &str = include_str!("../cube.toml");
/// A body on which nothing acts.
const DRIFTER: &str = "
    name = 'drifter'
    gravity = [0, 0, 0]
    [bodies.drifter]
    mass = 1.0
    inertia = [0.01, 0.02, 0.03]";
/// What has no errors of its own.
const EXACT_IMU: &str = "gyro_noise = 0, gyro_bias_walk = 0, gyro_bias = [0, 0, 0], \
    accelerometer_noise = 0, accelerometer_bias_walk = 0, accelerometer_bias = [0, 0, 0]";

struct Run {
    simulation: Simulation,
    frames: Vec<Frame>,
    fresh: Vec<bool>,
}

impl Run {
    fn new(text: &str, vehicle: &str, (rate_hz, seed): (f64, u64), count: usize) -> Self {
        Self::commanded(text, vehicle, (rate_hz, seed), count, |_, commands| {
            commands.fill(0.0);
        })
    }

    fn commanded(
        text: &str,
        vehicle: &str,
        (rate_hz, seed): (f64, u64),
        count: usize,
        command: impl Fn(f64, &mut [f64]),
    ) -> Self {
        let configuration = Configuration {
            rate_hz,
            seed,
            ..Configuration::new(text, vehicle)
        };
        let mut simulation = Simulation::configure(&configuration).unwrap();
        simulation.start().unwrap();
        let mut commands = vec![0.0; simulation.description().commands().count()];
        let mut frame = simulation.description().frame();
        let (mut frames, mut fresh) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let outcome = simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
            command(frame.time as f64 / 1e9, &mut commands);
            simulation.write(frame.time, &commands).unwrap();
            frames.push(frame.clone());
            fresh.push(outcome == ReadOutcome::Fresh);
        }
        Self {
            simulation,
            frames,
            fresh,
        }
    }

    fn has(&self, signal: &str) -> bool {
        self.simulation.description().value_index(signal).is_some()
    }

    fn value(&self, frame: usize, signal: &str) -> f64 {
        let index = self.simulation.description().value_index(signal);
        self.frames[frame].values[index.expect(signal)]
    }

    fn vector(&self, frame: usize, group: &str) -> Vector3<f64> {
        let all = ["x", "y", "z"].map(|c| self.value(frame, &format!("{group}.{c}")));
        Vector3::from(all)
    }

    fn rotation(&self, frame: usize, group: &str) -> SO3<f64> {
        let all = ["w", "x", "y", "z"].map(|c| self.value(frame, &format!("{group}.{c}")));
        SO3::from_quaternion(&Vector4::from(all))
    }

    /// Stamp (ns) and validity.
    fn status(&self, frame: usize, group: &str) -> (i64, bool) {
        let index = self
            .simulation
            .description()
            .find_group(group)
            .expect(group);
        let status = self.frames[frame].groups[index];
        (status.stamp, status.valid)
    }

    /// The frames in which a group is new.
    fn arrivals(&self, group: &str) -> Vec<usize> {
        let status = |frame: usize| self.status(frame, group);
        (0..self.frames.len())
            .filter(|&i| status(i).1 && (i == 0 || status(i) != status(i - 1)))
            .collect()
    }

    fn line(&self, name: &str) -> Option<String> {
        let report = self.simulation.report();
        report.into_iter().find(|line| line.0 == name).map(|l| l.1)
    }
}

fn close(found: &Vector3<f64>, expected: &Vector3<f64>, tolerance: f64) {
    let error = (found - expected).norm();
    assert!(error < tolerance, "{found} {expected}: {error:e}");
}

/// Each of them in closed form from the true state, with arm and misalignment.
#[test]
fn without_errors_they_tell_the_truth() {
    let text = "
        initial = { position = [1, 2, 5], velocity = [3, -1, 0.5], angular_velocity = [0.3, -0.4, 0.9], attitude = { rpy_deg = [10, -20, 60] } }
        ground.height = -1
        wind.velocity = [-6, 2, 0]
        [sensors.motion_capture]
        delay = 0
        rate = 500
        position = [0.1, -0.2, 0.05]
        misalignment_deg = [1, 2, -3]
        position_noise = 0
        attitude_noise = 0
        [sensors.gnss]
        delay = 0
        rate = 500
        position = [0.3, 0.1, 0.2]
        position_noise = [0, 0, 0]
        drift = [0, 0, 0]
        velocity_noise = [0, 0, 0]
        [sensors.barometer]
        rate = 500
        position = [0.3, 0.1, 0.2]
        noise = 0
        drift = 0
        [sensors.magnetometer]
        rate = 500
        misalignment_deg = [1, 2, -3]
        strength = 50e-6
        inclination_deg = 60
        declination_deg = 90
        hard_iron = [1e-6, 2e-6, -3e-6]
        noise = 0
        [sensors.airspeed]
        rate = 500
        position = [0.3, 0.1, 0.2]
        noise = 0
        bias_deviation = 0
        [sensors.range]
        rate = 500
        position = [0.1, 0, -0.05]
        direction = [0.2, 0, -2]
        noise = 0";
    let run = Run::new(text, DRIFTER, (500.0, 1), 400);
    let misalignment = SO3::exp(&Vector3::new(1.0, 2.0, -3.0).map(f64::to_radians));
    let antenna = Vector3::new(0.3, 0.1, 0.2);
    let mut ahead = 0;
    for frame in 0..400 {
        let position = run.vector(frame, "truth.pose.position");
        let attitude = run.rotation(frame, "truth.pose.quaternion");
        let linear = run.vector(frame, "truth.twist.linear");
        let angular = run.vector(frame, "truth.twist.angular");
        let at = |arm: &Vector3<f64>| position + attitude.act(arm);
        let moving = |arm: &Vector3<f64>| attitude.act(&(linear + angular.cross(arm)));

        let seen = run.vector(frame, "motion_capture.position");
        close(&seen, &at(&Vector3::new(0.1, -0.2, 0.05)), 1e-12);
        let seen = run.rotation(frame, "motion_capture.quaternion");
        let beside = (seen.inverse() * (attitude * misalignment)).log();
        assert!(beside.norm() < 1e-12, "{beside}");

        close(&run.vector(frame, "gnss.position"), &at(&antenna), 1e-12);
        close(
            &run.vector(frame, "gnss.velocity"),
            &moving(&antenna),
            1e-12,
        );
        let height = run.value(frame, "barometer.altitude");
        assert!((height - at(&antenna).z).abs() < 1e-12);

        // 60 degrees down, and what is level points east, which is -y.
        let field = Vector3::new(0.0, -25e-6, -50e-6 * 0.75_f64.sqrt());
        let iron = Vector3::new(1e-6, 2e-6, -3e-6);
        let sensed = misalignment
            .inverse()
            .act(&(attitude.inverse().act(&field) + iron));
        close(&run.vector(frame, "magnetometer.field"), &sensed, 1e-18);

        let flow = moving(&antenna) - Vector3::new(-6.0, 2.0, 0.0);
        let speed = attitude.inverse().act(&flow).x;
        ahead += usize::from(speed > 0.0);
        let found = run.value(frame, "airspeed.speed");
        assert!((found - speed.max(0.0)).abs() < 1e-9, "{found} {speed}");

        // The end of the ray is on the ground.
        let ray = Vector3::new(0.2, 0.0, -2.0).normalize();
        let (stamp, valid) = run.status(frame, "range");
        assert_eq!((stamp, valid), (run.frames[frame].time, true));
        let distance = run.value(frame, "range.distance");
        let end = at(&(Vector3::new(0.1, 0.0, -0.05) + ray * distance));
        assert!((end.z + 1.0).abs() < 1e-10, "{end}");
    }
    assert!(
        (1..400).contains(&ahead),
        "it flies into the wind and with it"
    );
}

/// Turning about a principal axis in free fall, the body's own acceleration is that of the arm: `omega x (omega x r)`.
#[test]
fn a_spinning_body_feels_its_spin_alone() {
    let text = format!(
        "initial = {{ velocity = [3, -1, 5], angular_velocity = [0, 0, 12], attitude = {{ rpy_deg = [40, 20, 0] }} }}
        sensors.imu = {{ rate = 100, position = [0.1, 0.2, 0.3], misalignment_deg = [0, 0, 90], {EXACT_IMU} }}"
    );
    let vehicle = DRIFTER.replace("[0, 0, 0]", "[0, 0, -9.81]");
    let run = Run::new(&text, &vehicle, (500.0, 1), 501);
    assert!(!run.status(4, "imu.specific_force").1, "no interval yet");
    for frame in (5..501).step_by(5) {
        let time = run.frames[frame].time;
        assert_eq!(run.status(frame, "imu.specific_force"), (time, true));
        close(
            &run.vector(frame, "imu.angular_velocity"),
            &Vector3::new(0.0, 0.0, 12.0),
            1e-9,
        );
        // In the body (-14.4, -28.8, 0); the sensor's x is the body's y.
        // A constant force that is held turns with the body: the mean is that of the spin.
        close(
            &run.vector(frame, "imu.specific_force"),
            &Vector3::new(-28.8, 14.4, 0.0),
            1e-6,
        );
    }
}

/// A cube that tumbles under changing thrusts.
fn tumbling(imu: &str, rate_hz: f64, count: usize) -> Run {
    let text = format!(
        "initial = {{ position = [0, 0, 5], velocity = [1, 2, 3], angular_velocity = [2, -1, 3] }}
        [sensors]
        imu = {{ position = [0.1, -0.2, 0.3], {EXACT_IMU}, {imu} }}"
    );
    Run::commanded(&text, CUBE, (rate_hz, 1), count, |time, commands| {
        let wave = (20.0 * time).sin();
        commands.copy_from_slice(&[9.0 + 4.0 * wave, 10.0 - 3.0 * wave, 0.4 * wave]);
    })
}

/// The mean of `R^T (a - g) + omega_dot x r + omega x (omega x r)`, all by differences of the true motion at 8 kHz and by Simpson's rule. What is left
/// is coning and sculling, which fall with the square of the interval.
#[test]
fn samples_are_means_of_what_the_body_feels() {
    let rate_hz = 8000.0;
    let mut errors = [0.0, 0.0];
    for (rate, error) in [(200.0, 0), (400.0, 1)] {
        let run = tumbling(&format!("rate = {rate}"), rate_hz, 2000);
        let h = 1.0 / rate_hz;
        let arm = Vector3::new(0.1, -0.2, 0.3);
        let felt = |i: usize| {
            let twist = |i: usize| {
                let part = |name: &str| run.vector(i, &format!("truth.twist.{name}"));
                (part("linear"), part("angular"))
            };
            // Of fourth order.
            let rate = |of: &dyn Fn(usize) -> Vector3<f64>| {
                (of(i - 2) - of(i + 2) + (of(i + 1) - of(i - 1)) * 8.0) / (12.0 * h)
            };
            let (v, w) = twist(i);
            let (v_dot, w_dot) = (rate(&|i| twist(i).0), rate(&|i| twist(i).1));
            let attitude = run.rotation(i, "truth.pose.quaternion");
            let gravity = attitude.inverse().act(&Vector3::new(0.0, 0.0, -9.81));
            let force = v_dot + w.cross(&v) - gravity + w_dot.cross(&arm) + w.cross(&w.cross(&arm));
            (w, force)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let period = (rate_hz / rate) as usize;
        for end in (2 * period..1990).step_by(period) {
            let (mut turn, mut force) = (Vector3::zeros(), Vector3::zeros());
            for k in 0..=period {
                let weight = match k {
                    k if k == 0 || k == period => 1.0,
                    k if k % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                let (w, f) = felt(end - period + k);
                turn += w * (weight / 3.0 / period as f64);
                force += f * (weight / 3.0 / period as f64);
            }
            let found = run.vector(end, "imu.angular_velocity");
            let felt = run.vector(end, "imu.specific_force");
            assert!((found - turn).norm() < 1e-3, "{found} {turn}");
            errors[error] = f64::max(errors[error], (felt - force).norm());
        }
    }
    let [slow, fast] = errors;
    assert!(slow < 5e-3, "{slow}");
    assert!(fast < 0.3 * slow, "{fast} {slow}");
}

/// Held, a sample takes the true velocity of the sensor's place from the one before to its own: by integration in small steps.
#[test]
fn samples_carry_the_state_from_one_to_the_next() {
    let run = tumbling("rate = 100", 500.0, 500);
    let arm = Vector3::new(0.1, -0.2, 0.3);
    let state = |frame: usize| {
        let attitude = run.rotation(frame, "truth.pose.quaternion");
        let angular = run.vector(frame, "truth.twist.angular");
        let velocity = run.vector(frame, "truth.twist.linear") + angular.cross(&arm);
        (attitude, attitude.act(&velocity))
    };
    for end in (10..500).step_by(5) {
        let (mut attitude, mut velocity) = state(end - 5);
        let w = run.vector(end, "imu.angular_velocity");
        let f = run.vector(end, "imu.specific_force");
        let (parts, h) = (1000, 0.01 / 1000.0);
        let half = SO3::exp(&(w * (0.5 * h)));
        for _ in 0..parts {
            attitude = attitude * half;
            velocity += (attitude.act(&f) + Vector3::new(0.0, 0.0, -9.81)) * h;
            attitude = attitude * half;
        }
        let (expected, speed) = state(end);
        assert!((expected.inverse() * attitude).log().norm() < 1e-9);
        close(&velocity, &speed, 1e-8);
    }
}

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

/// First-order Gauss-Markov: stationary from the start, correlated by `exp(-s / tau)`, whatever the rate.
#[test]
fn drifts_are_stationary_and_correlated() {
    let text = |rate: f64| {
        format!(
            "sensors.gnss = {{ rate = {rate}, delay = 0, position_noise = [0, 0, 0], drift = [2, 2, 2], drift_time = 3, velocity_noise = [0, 0, 0] }}
            sensors.barometer = {{ rate = {rate}, noise = 0, drift = 2, drift_time = 3 }}"
        )
    };
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

/// The stamp says when it was measured, the frame when it arrives.
#[test]
fn samples_come_at_their_rate_and_late() {
    let text = "
        initial.velocity = [5, 0, 0]
        sensors.motion_capture = { rate = 50, delay = 0.013, position_noise = 0 }
        sensors.barometer = {}";
    let run = Run::new(text, DRIFTER, (500.0, 1), 500);
    let arrivals = run.arrivals("motion_capture.position");
    assert_eq!(run.arrivals("motion_capture.quaternion"), arrivals);
    // 13 ms are seven frames of 2 ms, rounded up.
    assert_eq!(
        arrivals,
        (0..50)
            .map(|i| 10 * i + 7)
            .filter(|i| *i < 500)
            .collect::<Vec<_>>()
    );
    assert!(!run.status(6, "motion_capture.position").1);
    for frame in 7..500 {
        let (stamp, valid) = run.status(frame, "motion_capture.position");
        assert!(valid);
        assert_eq!(stamp, run.frames[(frame - 7) / 10 * 10].time);
        let x = run.value(frame, "motion_capture.position.x");
        assert!((x - 5.0 * stamp as f64 / 1e9).abs() < 1e-9);
    }
    assert_eq!(
        run.arrivals("barometer").len(),
        50,
        "50 Hz if nobody says otherwise"
    );
    assert!(
        run.fresh.iter().all(|fresh| *fresh),
        "the ideal state is always new"
    );
    assert_eq!(run.line("motion_capture samples"), None);
}

#[test]
fn samples_are_lost() {
    let text = "sensors.gnss = { rate = 500, delay = 0, dropout = 0.3 }";
    let run = Run::new(text, DRIFTER, (500.0, 1), 10_000);
    let arrived = run.arrivals("gnss.position").len();
    assert!(
        (arrived as f64 - 7000.0).abs() < 4.0 * 2100.0_f64.sqrt(),
        "{arrived}"
    );
    let line = format!("{} dropped, 0 overtaken of 10000", 10_000 - arrived);
    assert_eq!(run.line("gnss samples"), Some(line));
}

/// What is overtaken on its way is lost: stamps never go back.
#[test]
fn samples_overtake_each_other() {
    let text = "sensors.gnss = { rate = 100, delay = 0.02, jitter = 0.05 }";
    let run = Run::new(text, DRIFTER, (500.0, 1), 50_000);
    let arrivals = run.arrivals("gnss.position");
    let (mut last, mut latest) = (-1, [f64::INFINITY, 0.0]);
    for &frame in &arrivals {
        let (stamp, _) = run.status(frame, "gnss.position");
        assert!(stamp > last);
        last = stamp;
        let late = (run.frames[frame].time - stamp) as f64 / 1e9;
        latest = [latest[0].min(late), latest[1].max(late)];
    }
    let [least, most] = latest;
    assert!((0.02..0.025).contains(&least), "{least}");
    assert!((0.03..0.072).contains(&most), "{most}");
    // A sample is overtaken if the next one is more than 10 ms faster: if there were but two, 0.5 (0.04 / 0.05)² of them.
    let overtaken = 10_000 - arrivals.len();
    assert!((3_200..9_000).contains(&overtaken), "{overtaken}");
    let line = run.line("gnss samples").unwrap();
    let count: usize = line.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(
        overtaken - count <= 8,
        "{line}: the others are still on their way"
    );
}

/// Each has random numbers of its own: one more changes neither the others nor the motion.
#[test]
fn sensors_do_not_know_each_other() {
    let alone = "noise.position = 0.1\nsensors.imu = {}\n";
    let more = "sensors = { gnss = { jitter = 0.1, dropout = 0.1 }, barometer = {}, range = {}, magnetometer = {}, airspeed = {}, \
        motion_capture = {}, imu = { dropout = 0, jitter = 0 } }\nnoise.position = 0.1";
    let [one, two, other] = [(alone, 3), (more, 3), (alone, 4)]
        .map(|(text, seed)| Run::commanded(text, CUBE, (500.0, seed), 300, |_, c| c.fill(5.0)));
    for frame in 2..300 {
        for group in [
            "imu.specific_force",
            "imu.angular_velocity",
            "pose.position",
            "truth.pose.position",
        ] {
            assert_eq!(
                one.vector(frame, group),
                two.vector(frame, group),
                "{group}"
            );
        }
        assert_ne!(
            one.vector(frame, "imu.specific_force"),
            other.vector(frame, "imu.specific_force")
        );
    }
}

/// A vehicle that is known by its sensors alone: the truth is told as before.
#[test]
fn the_ideal_state_can_be_left_out() {
    let text = "sensors = { ideal = false, imu = { rate = 100 }, gnss = { delay = 0.1 } }\nnoise.position = 0.1";
    let run = Run::new(text, CUBE, (500.0, 3), 300);
    for name in [
        "pose.position.x",
        "pose.quaternion.w",
        "twist.linear.x",
        "twist.angular.z",
    ] {
        assert!(
            !run.has(name) && run.has(&format!("truth.{name}")),
            "{name}"
        );
    }
    let with = Run::new(&text.replace("ideal = false, ", ""), CUBE, (500.0, 3), 300);
    for frame in 10..300 {
        for group in ["truth.pose.position", "imu.specific_force"] {
            assert_eq!(run.vector(frame, group), with.vector(frame, group));
        }
        assert_eq!(
            run.status(frame, "imu.specific_force"),
            with.status(frame, "imu.specific_force")
        );
    }
    // Ticks in which no sample arrives bring nothing.
    let expected: Vec<bool> = (0..300).map(|i| i > 0 && i % 5 == 0).collect();
    let fresh: Vec<bool> = (0..300).map(|i| run.fresh[i]).collect();
    for frame in 0..300 {
        let gnss = frame >= 50 && (frame - 50) % 100 == 0;
        assert_eq!(fresh[frame], expected[frame] || gnss, "{frame}");
    }
}

/// Encoders see joints in steps, at their rate, and late.
#[test]
fn encoders_count_steps() {
    let vehicle = "
        name = 'pendulum'
        [bodies.rod]
        joint = { name = 'hinge', type = 'revolute', axis = [0, 1, 0] }
        mass = 1.0
        center_of_mass = [0, 0, -1]
        inertia = [0.1, 0.1, 0.1]";
    let text = "
        initial.joints.hinge = 1.0
        sensors.encoders = { resolution = 0.01, velocity_resolution = 0.25, rate = 100, delay = 0.02 }";
    let run = Run::new(text, vehicle, (500.0, 1), 500);
    for frame in 10..500 {
        let (stamp, valid) = run.status(frame, "joint.0");
        assert!(valid);
        let measured = (frame - 10) / 5 * 5;
        assert_eq!(stamp, run.frames[measured].time);
        for (component, step) in [("position", 0.01), ("velocity", 0.25)] {
            let found = run.value(frame, &format!("joint.0.{component}"));
            let truth = run.value(measured, &format!("truth.joint.0.{component}"));
            assert!(
                ((found / step).round() * step - found).abs() < 1e-12,
                "{found}"
            );
            assert!(
                (found - truth).abs() <= 0.5 * step + 1e-12,
                "{found} {truth}"
            );
        }
    }
}

/// The faults of groups are those of sensors, too.
#[test]
fn faults_strike_sensors() {
    let fault = |kind: &str, group: &str| {
        format!("{{ kind = '{kind}', from = 0.1, until = 0.2, group = '{group}' }}")
    };
    let text = format!(
        "sensors = {{ imu = {{}}, barometer = {{}} }}
        faults = [{}, {}, {}]",
        fault("missing", "imu.specific_force"),
        fault("non_finite", "imu.angular_velocity"),
        fault("stale", "barometer")
    );
    let run = Run::new(&text, DRIFTER, (500.0, 3), 150);
    for frame in 1..150 {
        let strikes = (50..100).contains(&frame);
        let (stamp, valid) = run.status(frame, "imu.specific_force");
        assert_eq!(
            (valid, strikes || stamp == run.frames[frame].time),
            (!strikes, true)
        );
        let (stamp, valid) = run.status(frame, "imu.angular_velocity");
        assert_eq!((stamp, valid), (run.frames[frame].time, true));
        assert_eq!(run.value(frame, "imu.angular_velocity.x").is_nan(), strikes);
        let stamp = if strikes {
            80_000_000
        } else {
            run.frames[frame / 10 * 10].time
        };
        assert_eq!(run.status(frame, "barometer"), (stamp, true), "{frame}");
    }
}
