//! The content of the new files.

use std::fmt::Write as _;

use super::Request;
use super::estimate::{self, Estimate};
use super::frame::{Level, RotorPlacement};

/// The body of the vehicle, without its rotors' positions.
#[derive(Clone, Debug)]
pub struct Body {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, m, body frame.
    pub center: [f64; 3],
    /// Inertia, kg m^2, about the centre of mass.
    pub inertia: [[f64; 3]; 3],
    /// Source of the inertia, for a comment.
    pub source: String,
    /// What it looks like, each in TOML.
    pub visuals: Vec<String>,
}

impl Body {
    /// Estimated from mass (kg) and arm length (m).
    pub fn estimated(mass: f64, arm: f64) -> Self {
        let [x, y, z] = estimate::inertia(mass, arm);
        Self {
            mass,
            center: [0.0; 3],
            inertia: [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
            source: format!(
                "estimated: {} % of the mass at the ends of the arms, {} % along them, {} % in a box of {} x {} x {} m in the middle",
                percent(estimate::AT_ENDS),
                percent(estimate::IN_ARMS),
                percent(estimate::IN_MIDDLE),
                number(estimate::WIDTH * arm),
                number(estimate::WIDTH * arm),
                number(estimate::HEIGHT * arm),
            ),
            visuals: Vec::new(),
        }
    }
}

/// The description of the vehicle.
pub fn vehicle(name: &str, request: &Request, body: &Body, estimate: &Estimate) -> String {
    let mut text = String::new();
    let ratio = estimate.thrust_to_weight(request.frame, body.mass);
    let _ = write!(
        text,
        "\
# {about}
# Made by `fly new` from the mass and the length of the arms. What is marked as estimated should be measured or looked up
# in data sheets, the thrust and its lag first; then the line that {name}.toml names finds its controller again.
# Body frame: x forward, y left, z up; its origin is where the arms meet.
name = \"{name}\"

[bodies.airframe]
joint = \"free\"                       # it moves in the world as it likes
mass = {mass}                          # kg, ready to fly
",
        about = request.frame.about(),
        mass = number(body.mass),
    );
    if body.center.iter().any(|x| x.abs() > 1e-9) {
        let _ = writeln!(
            text,
            "center_of_mass = {}             # m, body frame",
            list(&body.center)
        );
    }
    let diagonal = (0..3)
        .all(|i| (0..3).all(|j| i == j || body.inertia[i][j].abs() < 1e-9 * body.inertia[i][i]));
    let inertia = if diagonal {
        list(&[0, 1, 2].map(|i| body.inertia[i][i]))
    } else {
        let rows = body.inertia.map(|row| list(&row));
        format!("[{}]", rows.join(", "))
    };
    let _ = write!(
        text,
        "\
# kg m^2 about the centre of mass; {source}.
inertia = {inertia}
{visuals}
# Every rotor:
# thrust              N; the largest is {thrust_source}, the least {idle} % of it: motors that idle
# radius              m, of the propeller; estimated: {radius_part} of the distance of neighbouring axes
# drag_ratio          N m of drag torque per N of thrust, m; its sign is the sense of rotation. Estimated by C_P D / (2 pi C_T), with C_T = {ct},
#                     C_P = {cp} of propellers at rest, D their diameter
# thrust_coefficient  N/(rad/s)^2: C_T rho D^4 / (2 pi)^2 with rho = 1.225 kg/m^3; estimated
# time_constant       s, of the thrust; estimated: {lag} s per m of diameter
# All together lift {ratio} times the weight.
",
        source = body.source,
        visuals = visuals(&body.visuals),
        thrust_source = if request.thrust.is_some() { "as given".to_owned() } else { format!("estimated: all together {} times the weight", number(estimate::THRUST_TO_WEIGHT)) },
        idle = percent(estimate::IDLE),
        radius_part = number(estimate::RADIUS),
        ct = number(estimate::THRUST_COEFFICIENT),
        cp = number(estimate::POWER_COEFFICIENT),
        lag = number(estimate::LAG),
        ratio = number(ratio),
    );
    if request
        .frame
        .places()
        .iter()
        .any(|place| place.level == Level::Lower)
    {
        let _ = writeln!(
            text,
            "# A lower rotor has {} % of the thrust of the upper one, in whose wake it is.",
            percent(estimate::IN_WAKE)
        );
    }
    for place in request.frame.places() {
        rotor(&mut text, request, estimate, &place);
    }
    text
}

/// What it looks like, a line each but for meshes.
fn visuals(visuals: &[String]) -> String {
    if visuals.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = visuals.iter().map(|one| format!("    {one},\n")).collect();
    format!("visuals = [\n{}]\n", lines.concat())
}

/// One of its rotors.
fn rotor(text: &mut String, request: &Request, estimate: &Estimate, place: &RotorPlacement) {
    let (sin, cos) = place.angle_deg.to_radians().sin_cos();
    let height = match place.level {
        Level::Single => 0.0,
        Level::Upper => 0.12 * request.arm_length,
        Level::Lower => -0.12 * request.arm_length,
    };
    let thrust = estimate.thrust * estimate::part(place.level);
    let ratio = if place.positive {
        estimate.drag_ratio
    } else {
        -estimate.drag_ratio
    };
    let _ = write!(
        text,
        "
[[rotors]]
name = \"{name}\"
body = \"airframe\"
position = [{x}, {y}, {z}]
axis = [0.0, 0.0, 1.0]
drag_ratio = {ratio}
thrust = [{least}, {most}]
radius = {radius}
thrust_coefficient = {coefficient}
time_constant = {lag}
",
        name = place.name,
        x = length(request.arm_length * cos),
        y = length(request.arm_length * sin),
        z = length(height),
        ratio = number(ratio),
        least = number(estimate::IDLE * thrust),
        most = number(thrust),
        radius = number(estimate.radius),
        coefficient = number(estimate.thrust_coefficient),
        lag = number(estimate.time_constant),
    );
    if request.frame.tilts() {
        let _ = write!(
            text,
            "
[rotors.tilt]                         # a servo turns it about its arm
axis = [{x}, {y}, 0.0]
limit_deg = 60.0                      # to either side
time_constant = {lag}                  # s, of the servo; estimated
",
            x = length(cos),
            y = length(sin),
            lag = number(estimate::SERVO_LAG),
        );
    }
}

/// The flight. Its controller has no parameters yet; tuning adds them.
pub fn flight(name: &str, request: &Request, estimate: &Estimate) -> String {
    let attitude = if request.frame.tilts() {
        "approach = \"energy\"                  # the closed loop is that of a body held by a spring and a damper (docs/energies.md)"
    } else {
        "approach = \"energy\"                  # the closed loop is that of the energies of these poles (docs/energies.md)"
    };
    format!(
        "\
# {about}
# Made by `fly new`. Fly it: fly --config {name}.toml --report

[flight]                               # it ends with its reference
rate_hz = 500                          # control steps per second
seed = 1                               # of all random numbers: the same seed gives the same flight

[vehicle]
file = \"{name}-vehicle.toml\"

# The fastest controller that keeps its margins, found by
# fly tune --config {name}.toml {tuning} --write {name}.toml
[controller]
{attitude}
allocation = \"active_set\"              # keeps thrusts within their limits

[reference]                            # up to four corners and back, from rest to rest
kind = \"waypoints\"
max_speed = 1.5                        # m/s
max_acceleration = {acceleration}                 # m/s^2: gentler where rotors are slow
points = [                             # m, world: x, y, z up
    {{ position = [0.0, 0.0, 1.0], hold = 1.0 }},
    {{ position = [2.0, 0.0, 1.0] }},
    {{ position = [2.0, 2.0, 2.0], yaw_deg = 90.0 }},
    {{ position = [0.0, 2.0, 2.0], yaw_deg = 180.0 }},
    {{ position = [0.0, 0.0, 1.0], hold = 1.0 }},
]

[safety]                               # what follows if measurements fail (docs/safety.md)
# then = \"land\"                        # default: it descends, level, and lands

[backend]
plugin = \"sim\"                         # --backend quadcopter reads a real one over MAVLink, --arm flies it (docs/vehicles.md)

[backend.sim]                          # wind, sensors, ground, faults: docs/configuration.md
initial = {{ position = [0.0, 0.0, 1.0], commands = \"first\" }} # m: where the reference begins, in hover
",
        about = request.frame.about(),
        tuning = estimate.tuning(request.frame).join(" "),
        acceleration = number(estimate.acceleration()),
    )
}

/// Four digits, which is more than is known.
fn number(x: f64) -> String {
    let digits = format!("{x:.3e}").parse().unwrap_or(x);
    let digits: f64 = digits;
    if digits != 0.0 && !(1e-3..1e5).contains(&digits.abs()) {
        return format!("{digits:e}");
    }
    format!("{digits:?}")
}

/// A length to the nanometre, so that arms keep their symmetry.
fn length(x: f64) -> String {
    let rounded = (x * 1e9).round() / 1e9;
    // Without the sign of a zero.
    format!("{:?}", rounded + 0.0)
}

fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
    format!("[{}]", numbers.join(", "))
}

fn percent(part: f64) -> String {
    format!("{:.0}", 100.0 * part)
}
