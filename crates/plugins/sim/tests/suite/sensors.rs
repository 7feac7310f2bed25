//! Sensors without errors: what they measure is exact.

use fly_lie::SO3;
use nalgebra::Vector3;

use super::run::{CUBE, DRIFTER, Run};

/// Settings of an IMU without errors.
pub(super) const EXACT_IMU: &str = "gyro_noise = 0, gyro_bias_walk = 0, gyro_bias = [0, 0, 0], \
    accelerometer_noise = 0, accelerometer_bias_walk = 0, accelerometer_bias = [0, 0, 0]";

pub(super) fn close(found: &Vector3<f64>, expected: &Vector3<f64>, tolerance: f64) {
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

        // 60 degrees down, and its horizontal part points east, which is -y.
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

/// Turning about a principal axis in free fall, the specific force is that of the lever arm: `omega x (omega x r)`.
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
pub(super) fn tumbling(imu: &str, rate_hz: f64, count: usize) -> Run {
    let text = format!(
        "initial = {{ position = [0, 0, 5], velocity = [1, 2, 3], angular_velocity = [2, -1, 3] }}
        [sensors]
        imu = {{ position = [0.1, -0.2, 0.3], {EXACT_IMU}, {imu} }}"
    );
    Run::commanded(&text, CUBE, (rate_hz, 1), count, |frame, commands| {
        let wave = (20.0 * frame as f64 / rate_hz).sin();
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
