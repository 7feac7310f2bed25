//! When samples of sensors arrive, and which do not.

use super::run::{CUBE, DRIFTER, Run};

/// The stamp is the time of measurement, the frame that of arrival.
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

/// Each has its own random stream: an additional sensor changes neither the others nor the motion.
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

/// A vehicle observed by its sensors alone: the true state is reported as before.
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
    // Ticks between two samples of the fastest sensor are complete, once there is one.
    for frame in 0..300 {
        assert_eq!(run.fresh[frame], frame >= 5, "{frame}");
    }
}

/// Ticks bring nothing while a sample of the fastest sensor is overdue, and no other one arrives.
#[test]
fn overdue_samples_are_missed() {
    let text = "sensors = { ideal = false, imu = { rate = 100, delay = 0.003, dropout = 0.3 } }";
    let run = Run::new(text, CUBE, (500.0, 3), 2000);
    let arrivals = run.arrivals("imu.specific_force");
    let lost = arrivals
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 5)
        .count();
    assert!(lost > 50, "{lost} gaps");
    for pair in arrivals.windows(2) {
        for frame in pair[0]..pair[1] {
            assert_eq!(run.fresh[frame], frame < pair[0] + 5, "{frame} of {pair:?}");
        }
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
