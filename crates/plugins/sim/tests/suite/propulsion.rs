//! Motors, a battery and stepwise commands: their effect on the plant and on its frames.

use fly_hal::{Backend, Configuration, Deadline, Frame};
use fly_plugin_sim::Simulation;

/// One rotor on a rail, weightless; it has this motor.
fn rail(motor: &str, battery: &str) -> String {
    format!(
        "name = 'rail'
        gravity = [0, 0, 0]
        [bodies.cart]
        joint = {{ type = 'prismatic', axis = [0, 0, 1] }}
        shape = {{ sphere = {{ radius = 0.1 }} }}
        mass = 2
        [[rotors]]
        body = 'cart'
        position = [0, 0, 0]
        axis = [0, 0, 1]
        thrust = [0, 10]
        drag_ratio = 0.02
        thrust_coefficient = 1e-5
        {motor}
        {battery}"
    )
}

struct Run {
    simulation: Simulation,
    frames: Vec<Frame>,
}

impl Run {
    fn new(text: &str, vehicle: &str, command: f64, count: usize) -> Self {
        let configuration = Configuration {
            rate_hz: 500.0,
            ..Configuration::new(text, vehicle)
        };
        let mut simulation = Simulation::configure(&configuration).unwrap();
        simulation.start().unwrap();
        let mut frame = simulation.description().frame();
        let mut frames = Vec::new();
        for _ in 0..count {
            simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
            simulation.write(frame.time, &[command]).unwrap();
            frames.push(frame.clone());
        }
        Self { simulation, frames }
    }

    fn at(&self, frame: usize, name: &str) -> f64 {
        let index = self.simulation.description().value_index(name);
        self.frames[frame].values[index.expect(name)]
    }
}

const LAG: &str = "motor = { time_constant = 0.02, efficiency = 0.8 }";
const BATTERY: &str =
    "[battery]\ncells = 1\ncapacity_ah = 0.01\nresistance = 0.1\nopen_circuit = [[0, 10], [1, 10]]";

/// The speed goes to `sqrt(T / k)` with the motor's time constant, the thrust with its square.
#[test]
fn frames_tell_speed_and_thrust() {
    let run = Run::new("substeps = 10", &rail(LAG, ""), 9.0, 40);
    for k in 1..40 {
        // The first command is given at the first frame.
        let t = 0.002 * k as f64;
        let speed = (9.0_f64 / 1e-5).sqrt() * (1.0 - (-t / 0.02).exp());
        assert!((run.at(k, "truth.rotor.0.speed") / speed - 1.0).abs() < 1e-9);
        assert!((run.at(k, "truth.rotor.0.thrust") / (1e-5 * speed * speed) - 1.0).abs() < 1e-9);
    }
    let tells = |name: &str| run.simulation.description().value_index(name).is_some();
    assert!(!tells("battery.voltage"));
}

/// `V = E - R P / V`, and the charge falls by the current.
#[test]
fn frames_tell_the_battery() {
    let text = "initial.charge = 0.5\ninitial.commands = [4]";
    let run = Run::new(text, &rail(LAG, BATTERY), 4.0, 1001);
    let power = 0.02 * 4.0 * (4.0_f64 / 1e-5).sqrt() / 0.8;
    let voltage = 5.0 + (25.0 - 0.1 * power).sqrt();
    assert_eq!(run.at(0, "battery.remaining"), 0.5);
    for k in [0, 1000] {
        assert!((run.at(k, "battery.voltage") - voltage).abs() < 1e-9);
    }
    let left = 0.5 - power / voltage * 2.0 / 36.0;
    assert!(
        (run.at(1000, "battery.remaining") - left).abs() < 1e-9,
        "{left}"
    );
    let report = run.simulation.report();
    let line = report.iter().find(|(name, _)| name == "battery").unwrap();
    assert_eq!(
        line.1,
        format!("{:.1} % left, at least {voltage:.2} V", 100.0 * left)
    );
}

/// An empty battery gives nothing: the rotor runs down.
#[test]
fn an_empty_battery_gives_nothing() {
    let run = Run::new(
        "initial.charge = 0\ninitial.commands = [4]",
        &rail(LAG, BATTERY),
        4.0,
        200,
    );
    assert_eq!(run.at(199, "battery.remaining"), 0.0);
    assert_eq!(run.at(1, "battery.voltage"), 0.0);
    assert!(run.at(199, "truth.rotor.0.thrust") < 1e-6);
}

/// To the nearest of eleven values from 0 to 10 N.
#[test]
fn commands_come_in_steps() {
    let of = |command: f64| {
        let run = Run::new("[[actuators]]\nsteps = 10", &rail("", ""), command, 3);
        run.at(2, "truth.rotor.0.thrust")
    };
    for (command, expected) in [
        (3.4, 3.0),
        (3.6, 4.0),
        (0.4, 0.0),
        (9.7, 10.0),
        (12.0, 10.0),
    ] {
        assert!((of(command) - expected).abs() < 1e-12, "{command}");
    }
}

#[test]
fn wrong_keys_are_named() {
    for (text, vehicle, message) in [
        (
            "initial.charge = 1.5",
            rail(LAG, BATTERY),
            "expected a charge from 0 to 1, found 1.5",
        ),
        (
            "initial.charge = 0.5",
            rail(LAG, ""),
            "`rail` has no battery: expected no `charge`",
        ),
        (
            "[[actuators]]\nsteps = 0",
            rail(LAG, ""),
            "expected at least 1 step, found 0",
        ),
        (
            "[[actuators]]\nsteps = 8\n[[actuators]]\nsteps = 9",
            rail(LAG, ""),
            "expected `steps` of all commands once, found it twice",
        ),
        (
            "[[actuators]]\nsteps = 8",
            format!("{}\n[[motors]]\njoint = 'cart'", rail(LAG, "")),
            "expected no steps of `motor.0.effort`, which has no limits between which they could lie",
        ),
    ] {
        let configuration = Configuration {
            rate_hz: 500.0,
            ..Configuration::new(text, &vehicle)
        };
        let Err(error) = Simulation::configure(&configuration).map(|_| ()) else {
            panic!("accepted: {text}");
        };
        assert_eq!(error.message, message);
        assert!(error.location.is_some());
    }
}
