//! Released joints: the continued motion, the reported frames, and refused settings.

use fly_hal::{Backend, Configuration, Deadline, Frame};
use fly_plugin_sim::Simulation;

/// A frame with a load on a boom.
const CRANE: &str = "name = 'crane'
    [bodies.frame]
    mass = 2.0
    inertia = [0.02, 0.02, 0.02]
    [bodies.boom]
    parent = 'frame'
    joint = { type = 'revolute', axis = [0, 1, 0] }
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [0.004, 0.004, 1e-4]
    [bodies.load]
    parent = 'boom'
    position = [0, 0, -0.4]
    joint = { name = 'hook', type = 'spherical', damping = 0.01 }
    mass = 0.5
    center_of_mass = [0, 0, -0.1]
    inertia = [0.001, 0.001, 0.001]
    contacts = [{ position = [0, 0, -0.1], radius = 0.05 }]
    [[rotors]]
    body = 'frame'
    position = [0, 0, 0]
    axis = [0, 0, 1]
    thrust = [0, 60]
    time_constant = 0.02";

const START: &str = "initial.position = [0, 0, 3]
    initial.joints = { boom = 0.3, hook = [0.2, 0, 0] }
    initial.joint_velocities = { boom = 1.0, hook = [0, 0.5, 0] }
    ground.height = 0";

fn frames(text: &str, count: usize) -> (Simulation, Vec<Frame>) {
    let configuration = Configuration {
        rate_hz: 500.0,
        ..Configuration::new(text, CRANE)
    };
    let mut simulation = Simulation::configure(&configuration)
        .unwrap_or_else(|error| panic!("{}\n{text}", error.message));
    simulation.start().unwrap();
    let mut frame = simulation.description().frame();
    let mut frames = Vec::new();
    for _ in 0..count {
        simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        simulation.write(frame.time, &[27.0]).unwrap();
        frames.push(frame.clone());
    }
    (simulation, frames)
}

#[test]
fn a_released_body_falls_and_comes_to_rest_and_the_others_fly_on() {
    let open = format!("{START}\nreleases = [{{ joint = 'hook', time = 0.1 }}]");
    let (simulation, loose) = frames(&open, 4000);
    let (_, fixed) = frames(START, 4000);
    let description = simulation.description();
    let value = |frames: &[Frame], i: usize, name: &str| {
        frames[i].values[description.value_index(name).expect(name)]
    };
    // Until the frame at 0.1 s they are the same, bit for bit; in the next one they differ, by the effect of gravity in a step.
    assert_eq!(loose[50].values, fixed[50].values);
    for name in [
        "truth.body.2.position.z",
        "truth.body.0.position.z",
        "truth.body.2.position.x",
    ] {
        let parted = (value(&loose, 51, name) - value(&fixed, 51, name)).abs();
        assert!(parted > 1e-9 && parted < 1e-4, "{name}: {parted:e}");
        let step = (value(&loose, 51, name) - value(&loose, 50, name)).abs();
        assert!(step < 0.01, "{name} jumps by {step}");
    }
    // The load's centre falls on a parabola: its second difference is that of gravity.
    let center = |i: usize| {
        let [x, y, z] =
            ["x", "y", "z"].map(|c| value(&loose, i, &format!("truth.body.2.position.{c}")));
        let [w, a, b, c] =
            ["w", "x", "y", "z"].map(|c| value(&loose, i, &format!("truth.body.2.quaternion.{c}")));
        // The third column of its rotation, 0.1 m along its -z.
        let up = [
            2.0 * (a * c + w * b),
            2.0 * (b * c - w * a),
            w * w + c * c - a * a - b * b,
        ];
        [x - 0.1 * up[0], y - 0.1 * up[1], z - 0.1 * up[2]]
    };
    let (before, middle, after) = (center(60), center(110), center(160));
    for (k, expected) in [(0, 0.0), (1, 0.0), (2, -9.81 * 0.01)] {
        let second = after[k] - 2.0 * middle[k] + before[k];
        assert!((second - expected).abs() < 1e-9, "{k}: {second}");
    }
    let [.., z] = center(3999);
    let depth = 0.05 - z;
    assert!(
        (depth - 0.5 * 9.81 / 5000.0).abs() < 1e-4,
        "it lies on the ground: {depth}"
    );
    // What has lost half a kilogram climbs faster.
    let gained = value(&loose, 100, "pose.position.z") - value(&fixed, 100, "pose.position.z");
    assert!(gained > 5e-3, "{gained}");
    // The load hits the ground when it has come down; the frame, whose speed is prescribed, never.
    assert_eq!(value(&loose, 3999, "truth.contact.speed"), 0.0);

    // Its joint is not measured any more; the others are.
    let group = |name: &str| {
        let mut groups = description.groups.iter();
        groups.position(|group| *group == name).expect(name)
    };
    for (name, valid) in [
        ("joint.2.quaternion", false),
        ("joint.2.angular", false),
        ("joint.1", true),
        ("pose.position", true),
    ] {
        assert!(loose[50].groups[group(name)].valid);
        assert_eq!(loose[51].groups[group(name)].valid, valid, "{name}");
    }
    let told = ("released".to_owned(), "hook at 0.1 s".to_owned());
    assert!(simulation.report().contains(&told));
}

/// The boom with its load, then the load.
#[test]
fn joints_are_released_one_after_another() {
    let text = format!(
        "{START}\nreleases = [{{ joint = 'hook', time = 0.3 }}, {{ joint = 'boom', time = 0.1 }}]"
    );
    let (simulation, frames) = frames(&text, 300);
    let description = simulation.description();
    let value = |i: usize, name: &str| frames[i].values[description.value_index(name).expect(name)];
    // After the first release the frame alone is under the thrust.
    let second = |i: usize| {
        let z = |i: usize| value(i, "pose.position.z");
        (z(i + 1) - 2.0 * z(i) + z(i - 1)) / (0.002 * 0.002)
    };
    for i in [140, 250] {
        let [a, b] = ["x", "y"].map(|c| value(i, &format!("pose.quaternion.{c}")));
        let upward = 1.0 - 2.0 * (a * a + b * b);
        let expected = 27.0 / 2.0 * upward - 9.81;
        assert!(
            (second(i) - expected).abs() < 0.01,
            "{} {expected}",
            second(i)
        );
    }
    for i in 1..300 {
        for body in 0..3 {
            let name = format!("truth.body.{body}.position.z");
            let step = (value(i, &name) - value(i - 1, &name)).abs();
            assert!(step < 0.03, "{name} jumps by {step} at {i}");
        }
    }
    assert_eq!(
        simulation
            .report()
            .iter()
            .filter(|(key, _)| key == "released")
            .count(),
        2
    );
}

/// Two arms with a rod between their tips: with both arms at zero, which point away from each other, no rod is long enough, and no small turn changes that.
#[test]
fn loops_are_closed_where_the_flight_begins() {
    let vehicle = "name = 'arms'
        [bodies.left]
        joint = { type = 'revolute', axis = [0, 1, 0] }
        mass = 0.2
        center_of_mass = [-0.05, 0, 0]
        inertia = [1e-4, 1e-4, 1e-4]
        [bodies.right]
        position = [0.3, 0, 0]
        joint = { type = 'revolute', axis = [0, 1, 0] }
        mass = 0.2
        center_of_mass = [0.05, 0, 0]
        inertia = [1e-4, 1e-4, 1e-4]
        [bodies.load]
        parent = 'left'
        joint = 'fixed'
        position = [-0.1, 0, 0]
        mass = 0.1
        inertia = [1e-5, 1e-5, 1e-5]
        [[loops]]
        type = 'distance'
        length = 0.3
        from = 'left'
        from_frame.position = [-0.1, 0, 0]
        to = 'right'
        to_frame.position = [0.1, 0, 0]";
    let half = std::f64::consts::FRAC_PI_2;
    // Both point upwards, as far from each other as their axes; then the left one loses its load.
    let text = format!(
        "initial.joints = {{ left = {half}, right = {} }}
        releases = [{{ joint = 'load', time = 0.05 }}]",
        -half
    );
    let mut simulation = Simulation::configure(&Configuration {
        rate_hz: 500.0,
        ..Configuration::new(&text, vehicle)
    })
    .unwrap_or_else(|error| panic!("{}", error.message));
    simulation.start().unwrap();
    let mut frame = simulation.description().frame();
    for _ in 0..200 {
        simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        simulation.write(frame.time, &[]).unwrap();
        let value = |name: &str| {
            let index = simulation.description().value_index(name);
            frame.values[index.expect(name)]
        };
        let [a, b] = [0, 1].map(|i| value(&format!("truth.joint.{i}.position")));
        // The tips: x and z.
        let across = 0.3 + 0.1 * b.cos() + 0.1 * a.cos();
        let up = -0.1 * b.sin() - 0.1 * a.sin();
        let length = across.hypot(up);
        assert!((length - 0.3).abs() < 1e-5, "{length}");
    }
}

#[test]
fn a_joint_that_cannot_be_released_is_refused() {
    for (keys, expected) in [
        (
            "joint = 'hooks', time = 1",
            "there is no joint `hooks`, expected one of `frame`, `boom`, `hook`",
        ),
        (
            "joint = 'frame', time = 1",
            "joint `frame` is free in the world already",
        ),
        (
            "joint = 'hook', time = -1",
            "expected a time of at least 0 s, found -1",
        ),
        ("joint = 'hook'", "missing field `time`"),
    ] {
        let text = format!("releases = [{{ {keys} }}]");
        let Err(error) = Simulation::configure(&Configuration::new(&text, CRANE)) else {
            panic!("accepted: {keys}");
        };
        assert!(error.message.contains(expected), "{}", error.message);
    }
}
