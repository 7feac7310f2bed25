//! Shows the planned flight and asks the user to confirm it.

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufRead, IsTerminal, Write};

use fly_control::{Reference, ReferencePoint, Trajectory};
use fly_flight::supervisor::Response;
use fly_hal::{Clock, CommandSet, Instance, ReferenceSource};

use crate::config::{Configuration, FlownModel, TakeOff};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

/// What the user must type.
const YES: &str = "yes";

/// If the commands move a real vehicle, shows what will fly and where, and asks for confirmation: once, on a terminal,
/// unless it was given on the command line (`yes`). Never asks for simulations.
///
/// # Errors
/// The user did not agree, or there is no terminal to ask on.
pub(super) fn ask(
    configuration: &Configuration,
    backend: &Instance,
    yes: bool,
) -> Result<(), Failure> {
    if backend.clock() != Clock::RealTime || !backend.is_armed() {
        return Ok(());
    }
    let plan = plan(configuration, backend)?;
    let what = if flies_simulator(configuration) {
        "the vehicle of a simulator"
    } else {
        "a real vehicle"
    };
    agree(
        &format!("--arm: {what} will be armed and flown\n{plan}"),
        "arm and fly",
        yes,
    )
}

/// Shows the plan and asks once on a terminal for confirmation, unless it was given on the command line (`yes`).
///
/// # Errors
/// The user did not agree, or there is no terminal to ask on.
pub(super) fn agree(plan: &str, what: &str, yes: bool) -> Result<(), Failure> {
    let mut out = io::stderr().lock();
    // If the plan cannot be shown, the question below fails as well.
    let _ = write!(out, "{plan}");
    if yes {
        return Ok(());
    }
    let (flag, done) = match what {
        "move" => ("this", "moved"),
        _ => ("--arm", "armed"),
    };
    let refused = |why: &str| {
        Failure::new(
            Exit::NotConfirmed,
            format_args!("nothing was {done}: {why}"),
        )
    };
    if !io::stdin().is_terminal() || !out.is_terminal() {
        return Err(refused(&format!(
            "{flag} asks for confirmation on a terminal, and there is none; in scripts use --yes"
        )));
    }
    let _ = write!(out, "Type `{YES}` to {what} it: ").and_then(|()| out.flush());
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == YES {
        Ok(())
    } else {
        Err(refused("the answer was not `yes`"))
    }
}

/// The planned flight, line by line.
fn plan(configuration: &Configuration, backend: &Instance) -> Result<Table, Failure> {
    let (flight, safety) = (&configuration.flight, &configuration.safety);
    let mut table = Table::default();
    let mut line = |what: &str, finding: &dyn Display| table.lines(what, [finding.to_string()]);
    line("vehicle", &vehicle(configuration));
    let info = backend.info();
    line("backend", &format_args!("{} {}", info.name, info.version));
    for setting in link(configuration) {
        line("", &setting);
    }
    line("commands", &commands(backend));
    let takes_setpoints =
        (backend.description().command_set()).is_ok_and(|set| set != CommandSet::Actuators);
    let rotors = configuration.system.inputs.rotors().as_slice();
    if takes_setpoints && rotors.iter().any(|rotor| rotor.tilt.is_some()) {
        line(
            "",
            &"the autopilot controls the rotor tilts: the vehicle tilts to move sideways and cannot hold an independent attitude",
        );
    }
    line("reference", &reference(configuration, backend)?);
    line(
        "begins",
        &format_args!(
            "within {} m and {} degrees of the vehicle; {}",
            safety.start_distance,
            safety.start_angle_deg,
            match flight.take_off {
                TakeOff::None => "no automatic take-off".to_owned(),
                TakeOff::ToReference =>
                    "automatic take-off to there if the vehicle is on the ground".to_owned(),
                TakeOff::To(height) => format!(
                    "automatic take-off to {height} m above the ground if the vehicle is on it"
                ),
            }
        ),
    );
    let end = if flies_simulator(configuration) {
        "its motors stop"
    } else {
        "it lands"
    };
    match flight.duration {
        Some(duration) => line("ends", &format_args!("after {duration} s: {end}")),
        None => line(
            "ends",
            &format_args!("with its reference, or by Ctrl-C: {end}"),
        ),
    }
    line("limits", &limits(configuration));
    let then = words(fly_flight::usual_response(configuration));
    line(
        "on loss",
        &format_args!(
            "of frames for longer than {} ms: {then}; a pilot who changes the mode takes over at once",
            safety.hold_ms
        ),
    );
    Ok(table)
}

fn vehicle(configuration: &Configuration) -> String {
    match configuration.flown_model() {
        FlownModel::Vehicle(vehicle) => {
            let mass = vehicle.body.inertia().mass();
            format!("{}, {mass} kg", configuration.system.name)
        }
        FlownModel::System(system) => system.name.clone(),
    }
}

/// The plugin's own table, line by line.
fn link(configuration: &Configuration) -> Vec<String> {
    let text = configuration.backend.table.text();
    let lines = text.lines().map(str::trim);
    let told = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    told.map(str::to_owned).collect()
}

/// Whether it takes an autopilot's place in a simulator, which no flight brings down.
fn flies_simulator(configuration: &Configuration) -> bool {
    let table: toml::Table = toml::from_str(configuration.backend.table.text()).unwrap_or_default();
    table.get("command").and_then(toml::Value::as_str) == Some("hil")
}

fn commands(backend: &Instance) -> String {
    match backend.description().command_set() {
        Ok(CommandSet::Attitude) => "attitude and thrust".to_owned(),
        Ok(CommandSet::Rates) => "angular velocity and thrust".to_owned(),
        Ok(CommandSet::Trajectory) => "position, velocity, acceleration and yaw".to_owned(),
        // The flight reports a mixture of sets.
        Ok(CommandSet::Actuators) | Err(_) => {
            let names = backend.description().commands();
            let names: Vec<&str> = names.map(|signal| signal.name.as_str()).collect();
            names.join(", ")
        }
    }
}

fn reference(configuration: &Configuration, backend: &Instance) -> Result<String, Failure> {
    let mut text = configuration.reference.kind().to_owned();
    let is_recorded = backend.description().wants_reference == ReferenceSource::Recorded;
    if let (FlownModel::Vehicle(vehicle), false) = (configuration.flown_model(), is_recorded)
        && let Reference::Planned(mut path) = configuration.build_reference(vehicle)?
    {
        let mut start = ReferencePoint::default();
        if configuration.flight.relative {
            text.push_str(", moved to begin at the vehicle (`flight.relative`)");
        } else if path.at(0.0, &mut start).is_ok() {
            let r = start.pose.translation;
            // Writing to a string cannot fail.
            let _ = write!(text, " from ({:.2}, {:.2}, {:.2}) m", r.x, r.y, r.z);
        }
    }
    Ok(text)
}

/// The limits of the flight and the responses.
fn limits(configuration: &Configuration) -> impl Display {
    let usual = fly_flight::usual_response(configuration);
    let bounds = configuration.safety.limits.bounds(usual);
    fmt::from_fn(move |f| {
        if bounds.is_empty() {
            return f.write_str(
                "none except the defaults derived from the control loop (`[safety.limits]`)",
            );
        }
        for (index, bound) in bounds.iter().enumerate() {
            let gap = if index == 0 { "" } else { ", " };
            let then = words(bound.then.unwrap_or(usual));
            write!(f, "{gap}{}: {then}", bound.limit.name())?;
        }
        Ok(())
    })
}

fn words(response: Response) -> &'static str {
    match response {
        Response::Warn => "a warning",
        Response::Hold => "holds its position",
        Response::Descend => "levels and descends",
        Response::Land => "lands",
        Response::Terminate => "STOPS ITS MOTORS",
    }
}
