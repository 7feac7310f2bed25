//! A program that provides its own backend, without a plugin or a section `[backend]`.

use fly_flight::{Configuration, Discard, End, Flight, FlightError, Memory};
use fly_hal::{
    Backend, Clock, Deadline, Description, Error, FrameMut, GroupStatus, Info, Instance,
    ReadOutcome,
};

/// A mass on a rail, pushed by one motor.
struct Slider {
    description: Description,
    time: i64,
    position: f64,
    velocity: f64,
    force: f64,
}

const MASS: f64 = 2.0;
const STEP: f64 = 2e-3;

impl Slider {
    fn at(position: f64) -> Self {
        Self {
            description: Description::new()
                .with_group("joint.0")
                .and_then(|description| description.with_signal("motor.0.effort"))
                .expect("canonical names"),
            time: 0,
            position,
            velocity: 0.0,
            force: 0.0,
        }
    }
}

impl Backend for Slider {
    const INFO: Info = Info {
        name: "slider",
        version: "1.0.0",
        summary: "a mass on a rail",
        clock: Clock::Stepped,
        signals: "joint.0.* motor.0.effort",
    };

    fn configure(_: &fly_hal::Configuration) -> Result<Self, Error> {
        Ok(Self::at(0.0))
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        // The force is constant over a step.
        let acceleration = self.force / MASS;
        self.position += self.velocity * STEP + 0.5 * acceleration * STEP * STEP;
        self.velocity += acceleration * STEP;
        self.time += 2_000_000;
        *frame.time = self.time;
        frame
            .values
            .copy_from_slice(&[self.position, self.velocity]);
        frame.groups[0] = GroupStatus {
            stamp: self.time,
            valid: true,
        };
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        tracing::info!(force = commands[0], "pushed");
        self.force = commands[0];
        Ok(())
    }
}

fn configuration(mass: &str) -> Result<Configuration, FlightError> {
    let text = format!(
        r#"
            flight = {{ duration = 4.0, rate_hz = 500 }}
            [vehicle]
            name = "slider"
            bodies.slider = {{ joint = {{ type = "prismatic", axis = [1, 0, 0] }}, mass = {mass}, inertia = [1, 1, 1] }}
            motors = [{{ joint = "slider" }}]
            [controller]
            pairs = [{{ to = "slider", stiffness = 4.0, damping = 4.0, inertia = 1.0 }}]
            [reference]
            kind = "rest"
        "#
    );
    Ok(Configuration::from_toml("slider", &text)?)
}

#[test]
fn an_object_is_flown_and_its_messages_are_the_flights() {
    let configuration = configuration("2.0").expect("a configuration");
    let mut rows = Memory::default();
    let plant = Instance::of(Slider::at(0.3)).expect("a plant");
    let summary = Flight::new(&configuration, plant, &mut rows)
        .expect("a flight")
        .run();
    assert_eq!(
        (summary.name.as_str(), summary.end),
        ("slider", End::Completed)
    );
    assert_eq!(summary.backend, "slider 1.0.0");
    assert!(summary.log.is_none());
    let commands = rows.header.description.commands();
    let names: Vec<&str> = commands.map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["motor.0.effort"]);
    // m x'' + d x' + k x = 0 with a double root at -2: x(4 s) = 0.3 (1 + 8) e^-8.
    let last = rows.rows.last().expect("rows");
    let expected = 0.3 * 9.0 * (-8.0_f64).exp();
    assert!(
        (last.values[0] - expected).abs() < 1e-4,
        "{} {expected}",
        last.values[0]
    );
    let pushed = rows
        .messages
        .iter()
        .filter(|(.., text)| text.starts_with("pushed"));
    assert_eq!(pushed.count(), rows.rows.len());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let FlightError::Configuration(error) = configuration("-2.0").expect_err("no mass") else {
        panic!("an error of the configuration")
    };
    assert!(error.to_string().contains("--> slider:5:"), "{error}");
    let configuration = configuration("2.0").expect("a configuration");
    let error =
        fly_flight::backend::load(&configuration, &fly_hal::SearchPath::standard([]), false);
    let error = error.expect_err("no backend is named").to_string();
    assert!(error.contains("no backend is chosen"), "{error}");
    // Dropping a flight stops its backend and releases everything.
    let mut sink = Discard;
    let plant = Instance::of(Slider::at(0.3)).expect("a plant");
    let mut flight = Flight::new(&configuration, plant, &mut sink).expect("a flight");
    assert_eq!(flight.tick(), None);
}
