//! `fly actuators`: lists the outputs, and tests one actuator at a time on a bench.

use std::io::{self, Write as _};
use std::sync::atomic::Ordering;

use fly_flight::backend;
use fly_mavlink::backend::bench::{Actuator, Bench, BenchError, Connection};
use serde_json::{Value, json};

use super::consent;
use super::interruptions::Interruptions;
use crate::args::{ActuatorsAction, ActuatorsArguments, MoveArguments};
use crate::config::{Configuration, Document, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

/// Backends whose vehicles have an autopilot with outputs.
const BACKENDS: [&str; 2] = ["quadcopter", "tricopter"];

/// Default positions of a motor and a servo in a test: fractions of full output.
const MOTOR: f64 = 0.1;
const SERVO: f64 = 0.3;

/// Lists the actuators, or moves them one after the other.
///
/// # Errors
/// The configuration is invalid, the user did not agree, or the vehicle did not carry out a command.
pub fn run(
    command: &ActuatorsArguments,
    options: &Options,
    yes: bool,
    as_data: bool,
) -> Result<Exit, Failure> {
    let configuration = Configuration::read(Document::load(options)?)?;
    let bench = bench(&configuration)?;
    for note in bench.notes() {
        tracing::warn!("{note}");
    }
    let (actuators, moved) = match &command.action {
        ActuatorsAction::List(data) => {
            if data.json || as_data {
                super::print_data(&bench.actuators().iter().map(as_json).collect())?;
            } else {
                super::print(table(bench.actuators()).to_string().as_bytes())?;
            }
            return Ok(Exit::Flown);
        }
        ActuatorsAction::Test { name, moved } => {
            let actuator = named(&bench, name)?;
            is_possible(actuator, moved)?;
            (vec![actuator], moved)
        }
        ActuatorsAction::Sweep { moved } => (bench.actuators().iter().collect(), moved),
    };
    let moves: Vec<(&Actuator, f64)> = (actuators.into_iter())
        .flat_map(|actuator| parts(actuator, moved).map(move |part| (actuator, part)))
        .collect();
    for (actuator, _) in &moves {
        (actuator.is_testable()).map_err(|error| Failure::new(Exit::Usage, error))?;
    }
    let mut plan = Table::default();
    plan.row(
        "vehicle",
        [format!(
            "{} on {}",
            configuration.system.name,
            bench.address()
        )],
    );
    for (actuator, part) in &moves {
        plan.row("moves", [told(actuator, *part, moved.seconds)]);
    }
    consent::agree(
        &format!("one actuator at a time will move: TAKE THE PROPELLERS OFF\n{plan}"),
        "move",
        yes,
    )?;
    let interruptions = Interruptions::watch(true);
    interruptions.begin();
    let mut connection = bench.connect().map_err(failure)?;
    let _ = writeln!(io::stderr(), "{}", connection.name());
    for (actuator, part) in moves {
        if !one(
            &mut connection,
            actuator,
            part,
            moved.seconds,
            &interruptions,
        )? {
            return Ok(Exit::Interrupted);
        }
    }
    Ok(Exit::Flown)
}

/// Moves one actuator and prints that; returns whether it was not interrupted.
fn one(
    connection: &mut Connection,
    actuator: &Actuator,
    part: f64,
    seconds: f64,
    interruptions: &Interruptions,
) -> Result<bool, Failure> {
    let tested = connection
        .test(actuator, part, seconds, interruptions.flag())
        .map_err(failure)?;
    let line = format!("moved {}\n", told(actuator, tested.part, tested.seconds));
    super::print(line.as_bytes())?;
    Ok(!interruptions.flag().load(Ordering::Relaxed))
}

fn bench(configuration: &Configuration) -> Result<Bench, Failure> {
    let section = &configuration.backend;
    if !BACKENDS.contains(&section.plugin.as_str()) {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "the backend `{}` has no outputs that could be tested; expected one of a real vehicle: --backend {}",
                section.plugin,
                BACKENDS.join(" or --backend ")
            ),
        ));
    }
    let table = &section.table;
    let resolve = |offset: usize, path: &str| backend::resolve(table, offset, path);
    let given = fly_hal::Configuration {
        rate_hz: configuration.flight.rate_hz,
        resolve: &resolve,
        ..fly_hal::Configuration::new(table.text(), configuration.vehicle_text.text())
    };
    Bench::new(&given, &configuration.system.inputs)
        .map_err(|error| backend::explain(configuration, &error).into())
}

fn named<'a>(bench: &'a Bench, name: &str) -> Result<&'a Actuator, Failure> {
    bench.find(name).ok_or_else(|| {
        let names: Vec<&str> = (bench.actuators().iter())
            .map(|actuator| actuator.command.as_str())
            .collect();
        Failure::new(
            Exit::Usage,
            format_args!(
                "there is no actuator `{name}`; the vehicle has {}",
                names.join(", ")
            ),
        )
    })
}

/// Whether an actuator drives to that side.
fn is_possible(actuator: &Actuator, moved: &MoveArguments) -> Result<(), Failure> {
    match moved.value {
        Some(value) if value < 0.0 && !actuator.output.is_two_sided() => Err(Failure::new(
            Exit::Usage,
            format_args!(
                "--value is {value}, and `{}` drives in one direction: expected 0 to 1",
                actuator.command
            ),
        )),
        _ => Ok(()),
    }
}

/// The fractions of full output for one actuator, in order.
fn parts(actuator: &Actuator, moved: &MoveArguments) -> impl Iterator<Item = f64> {
    let usual = if actuator.is_motor() { MOTOR } else { SERVO };
    let part = moved.value.unwrap_or(usual);
    // A servo without a given value moves to both sides.
    let back = moved.value.is_none() && actuator.output.is_two_sided();
    let output = actuator.output;
    [Some(part), back.then_some(-part)]
        .into_iter()
        .flatten()
        .map(move |part| output.within_limits(part))
}

fn told(actuator: &Actuator, part: f64, seconds: f64) -> String {
    let value = if actuator.is_motor() {
        "SPINS".to_owned()
    } else if actuator.is_tilt() {
        format!(
            "{:+.1} deg",
            actuator.output.value_of_part(part).to_degrees()
        )
    } else {
        format!("{:+.3}", actuator.output.value_of_part(part))
    };
    let rotor = actuator.rotor.as_deref().unwrap_or("motor");
    format!(
        "{} ({rotor}) to {:+.0} % of full output for {seconds:.1} s: {value} ({})",
        actuator.command,
        100.0 * part,
        actuator.sent(part)
    )
}

/// SI units; pulse widths in µs.
fn as_json(actuator: &Actuator) -> Value {
    let output = &actuator.output;
    let unit = if actuator.is_tilt() {
        "rad"
    } else if actuator.is_motor() {
        "N"
    } else {
        "N m"
    };
    let pulses = [-1.0, 0.0, 1.0].map(|part| output.pulse_of_part(part));
    json!({
        "command": actuator.command,
        "rotor": actuator.rotor,
        "output": output.channel(),
        "pulse_us": pulses,
        "reversed": output.is_reversed(),
        "limits": output.limits(),
        "unit": unit,
        "px4": actuator.px4(),
        "ardupilot": actuator.ardupilot(),
    })
}

fn table(actuators: &[Actuator]) -> Table {
    let mut table = Table::default();
    let heads = [
        "rotor",
        "output",
        "PWM low, rest, full",
        "direction",
        "limits",
        "PX4",
        "ArduPilot",
    ];
    table.row("command", heads);
    for actuator in actuators {
        let output = &actuator.output;
        let [low, rest, full] = [-1.0, 0.0, 1.0].map(|part| output.pulse_of_part(part));
        let [least, most] = output.limits();
        let limits = if actuator.is_tilt() {
            format!("{:.1} to {:.1} deg", least.to_degrees(), most.to_degrees())
        } else {
            let unit = if actuator.is_motor() { "N" } else { "N m" };
            format!("{least} to {most} {unit}")
        };
        table.row(
            &actuator.command,
            [
                actuator.rotor.clone().unwrap_or_default(),
                output.channel().to_string(),
                format!("{low}, {rest}, {full} us"),
                if output.is_reversed() {
                    "reversed"
                } else {
                    "straight"
                }
                .to_owned(),
                limits,
                actuator.px4(),
                actuator.ardupilot(),
            ],
        );
    }
    table
}

fn failure(error: BenchError) -> Failure {
    Failure::new(Exit::Backend, error)
}
