//! Wind, gusts and turbulence: their effect on the plant and on its frames.

use std::f64::consts::PI;

use fly_hal::{Backend, Configuration, Deadline, Frame};
use fly_plugin_sim::Simulation;

/// A ball that falls without rotors, with drag.
fn ball(drag: &str) -> String {
    format!(
        "name = 'ball'
        [bodies.ball]
        mass = 0.5
        inertia = [0.01, 0.01, 0.01]
        drag = {{ {drag} }}"
    )
}

struct Run {
    simulation: Simulation,
    frames: Vec<Frame>,
}

impl Run {
    fn new(text: &str, vehicle: &str, seed: u64, count: usize) -> Self {
        let configuration = Configuration {
            rate_hz: 500.0,
            seed,
            ..Configuration::new(text, vehicle)
        };
        let mut simulation = Simulation::configure(&configuration).unwrap();
        simulation.start().unwrap();
        let commands = vec![0.0; simulation.description().commands().count()];
        let mut frame = simulation.description().frame();
        let mut frames = Vec::new();
        for _ in 0..count {
            simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
            simulation.write(frame.time, &commands).unwrap();
            frames.push(frame.clone());
        }
        Self { simulation, frames }
    }

    fn at<const N: usize>(&self, frame: usize, group: &str, components: [&str; N]) -> [f64; N] {
        let description = self.simulation.description();
        components.map(|component| {
            let index = description.value_index(&format!("{group}.{component}"));
            self.frames[frame].values[index.expect(group)]
        })
    }

    fn wind(&self, frame: usize) -> [f64; 3] {
        self.at(frame, "truth.wind", ["x", "y", "z"])
    }
}

/// `sqrt(m g / c)` downwards, and with the wind sideways.
#[test]
fn a_ball_falls_with_its_terminal_velocity() {
    let vehicle = ball("quadratic = [0.05, 0.05, 0.05]");
    let run = Run::new("wind = { velocity = [3, -4, 0] }", &vehicle, 1, 10_000);
    let [x, y, z] = run.at(9_999, "twist.linear", ["x", "y", "z"]);
    let fall = (0.5 * 9.81_f64 / 0.05).sqrt();
    for (found, expected) in [(x, 3.0), (y, -4.0), (z, -fall)] {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(run.wind(5), [3.0, -4.0, 0.0]);
}

/// The mean wind of the height, and a gust that is half there in its middle.
#[test]
fn frames_tell_the_wind() {
    let text = "
        wind.velocity = [8, 0, 0]
        wind.shear = { exponent = 0.5, reference_height = 10 }
        wind.gusts = [{ start = 0.2, amplitude = [0, 2, -1], time = 0.4 }]
        ground.height = -3
        initial.position = [0, 0, 1000]
        initial.velocity = [0, 0, -5]";
    let run = Run::new(text, &ball("linear = [0, 0, 0.1]"), 1, 501);
    for frame in [0, 50, 150, 200, 250, 300, 500] {
        let time = frame as f64 / 500.0;
        let [z] = run.at(frame, "truth.pose.position", ["z"]);
        let part = 0.5 * (1.0 - (PI * ((time - 0.2) / 0.4).clamp(0.0, 1.0)).cos());
        let expected = [8.0 * ((z + 3.0) / 10.0_f64).sqrt(), 2.0 * part, -part];
        for (found, expected) in run.wind(frame).iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-9,
                "{time}: {found} {expected}"
            );
        }
    }
}

/// In a shear as `z^(1/2)`.
#[test]
fn each_free_body_has_its_own_wind() {
    let body = |name: &str| {
        format!("[bodies.{name}]\nmass = 1\ninertia = [1, 1, 1]\ndrag.linear = [0.1, 0.1, 0.1]\n")
    };
    let vehicle = format!(
        "name = 'two'\ngravity = [0, 0, 0]\n{}{}",
        body("low"),
        body("high")
    );
    let text = "
        wind.velocity = [8, 0, 0]
        wind.shear = { exponent = 0.5, reference_height = 10 }
        initial.joints = { low = [0, 0, 2.5, 0, 0, 0], high = [0, 0, 40, 0, 0, 0] }";
    let run = Run::new(text, &vehicle, 1, 1);
    for (group, expected) in [
        ("truth.wind", 4.0),
        ("truth.wind.0", 4.0),
        ("truth.wind.1", 16.0),
    ] {
        let [found] = run.at(0, group, ["x"]);
        assert!((found - expected).abs() < 1e-12, "{group}: {found}");
    }
}

/// Over a length, a gust is half there after half of it: at 10 m/s through the air, whatever the wind.
#[test]
fn gusts_pass_with_the_airspeed() {
    let text = "
        wind.velocity = [0, -6, 0]
        wind.gusts = [{ start = 0.1, amplitude = [0, 0, 4], length = 5.0 }]
        initial.velocity = [8, 0, 0]";
    let vehicle = format!("gravity = [0, 0, 0]\n{}", ball("linear = [0, 0, 0.001]"));
    let run = Run::new(text, &vehicle, 1, 400);
    for (frame, expected) in [(50, 0.0), (175, 2.0), (300, 4.0), (399, 4.0)] {
        let [.., z] = run.wind(frame);
        assert!((z - expected).abs() < 1e-5, "{frame}: {z} {expected}");
    }
}

const TURBULENT: &str = "
    noise.position = 0.01
    wind = { velocity = [5, 2, 0], turbulence = { w20 = 10 } }
    initial.position = [0, 0, 20]";

/// The same seed gives the same frames, another one other winds; the noise of the sensors does not hear of it.
#[test]
fn the_seed_makes_the_turbulence() {
    let vehicle = ball("linear = [0.1, 0.1, 0.1]");
    let [first, again, other] = [3, 3, 4].map(|seed| Run::new(TURBULENT, &vehicle, seed, 300));
    for (a, b) in first.frames.iter().zip(&again.frames) {
        let bits = |frame: &Frame| frame.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(a), bits(b));
    }
    assert_ne!(first.wind(0), other.wind(0));
    assert_ne!(first.wind(0), first.wind(1));
    let calm = Run::new("noise.position = 0.01", &vehicle, 3, 300);
    for frame in [0, 100, 299] {
        let noise = |run: &Run| {
            let [measured] = run.at(frame, "pose.position", ["x"]);
            let [truth] = run.at(frame, "truth.pose.position", ["x"]);
            measured - truth
        };
        assert!((noise(&first) - noise(&calm)).abs() < 1e-12);
    }
    assert!(
        calm.simulation
            .description()
            .value_index("truth.wind.x")
            .is_none()
    );
}

/// The wind at the frames is that of the flight's frames, however many steps lie between them.
#[test]
fn substeps_do_not_change_the_turbulence() {
    let vehicle = ball("quadratic = [1e-9, 1e-9, 1e-9]");
    let [one, many] = [1, 8].map(|substeps| {
        Run::new(
            &format!("substeps = {substeps}\n{TURBULENT}"),
            &vehicle,
            3,
            500,
        )
    });
    for frame in [1, 100, 499] {
        for (a, b) in one.wind(frame).iter().zip(many.wind(frame)) {
            assert!((a - b).abs() < 1e-9, "{frame}: {a} {b}");
        }
    }
}

/// No table `wind`, or one in which nothing blows: the same motion, bit for bit.
/// Of a vehicle that feels everything that air does, but the ground.
#[test]
fn still_air_changes_nothing() {
    let cube = include_str!("../cube.toml");
    let aerodynamics = "thrust_coefficient = 1e-5
        aerodynamics = { drag = 1e-4, inflow = 2e-4, translational_lift = 0.01, flapping = 1e-5 }
        time_constant = 0.05";
    let airy = cube
        .replace(
            "inertia = [0.02, 0.03, 0.04]",
            "inertia = [0.02, 0.03, 0.04]
            drag = { linear = [0.3, 0.2, 0.1], quadratic = [0.03, 0.02, 0.01] }",
        )
        .replacen("time_constant = 0.05", aerodynamics, 1);
    let fly = |vehicle: &str, text: &str| {
        let text = format!("initial.velocity = [1, 2, 3]\ninitial.commands = [5, 5, 0]\n{text}");
        Run::new(&text, vehicle, 1, 200)
    };
    let none = fly(&airy, "");
    let still = fly(&airy, "wind = {}\nground.height = 0");
    let calm = fly(&airy, "wind.velocity = [0, 0, 0]");
    let [vacuum, breeze] = [fly(cube, ""), fly(&airy, "wind.velocity = [1e-6, 0, 0]")];
    let all = ["x", "y", "z"];
    for frame in [1, 199] {
        let bits = |run: &Run| run.at(frame, "pose.position", all).map(f64::to_bits);
        assert_eq!(bits(&none), bits(&still));
        assert_eq!(bits(&none), bits(&calm));
    }
    // What there is to change.
    let parted = |other: &Run| {
        let [a, b] = [&none, other].map(|run| run.at(199, "pose.position", all));
        (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max)
    };
    assert!(parted(&vacuum) > 1e-2, "{}", parted(&vacuum));
    assert!(parted(&breeze) > 1e-9, "{}", parted(&breeze));
}
