//! Signals: the table of canonical names, units and groups.
//!
//! A name is a dotted path whose last component selects one number of a *group*; the numbers of a group share one time
//! stamp and one validity. `{i}` stands for an index 0, 1, 2, ….
//!
//! ```
//! use fly_hal::signal::{Class, meaning};
//!
//! let speed = meaning("rotor.2.speed").unwrap();
//! assert_eq!((speed.unit, speed.class, speed.group.as_str()), ("rad/s", Class::Measurement, "rotor.2"));
//! assert!(meaning("rotor.two.speed").is_none());
//!
//! // Every command has a recorded counterpart.
//! let recorded = meaning("recorded.rotor.2.thrust").unwrap();
//! assert_eq!((recorded.unit, recorded.class, recorded.group.as_str()), ("N", Class::Auxiliary, "recorded"));
//!
//! // Every measurement and every command has a true counterpart, which a simulation knows.
//! let truth = meaning("truth.twist.linear.x").unwrap();
//! assert_eq!((truth.unit, truth.class, truth.group.as_str()), ("m/s", Class::Auxiliary, "truth"));
//! ```

/// Tolerance of the norm of a quaternion's four numbers, above the rounding of single precision and of 16-bit encodings.
pub const UNIT_TOLERANCE: f64 = 1e-2;

/// Direction and use of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// From the vehicle to the controller: enters the estimated state.
    Measurement,
    /// From the controller to the vehicle.
    Command,
    /// From the backend, not used by the control law: recorded commands, setpoints, battery.
    Auxiliary,
}

impl Class {
    /// Its name in messages and listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measurement => "measurement",
            Self::Command => "command",
            Self::Auxiliary => "auxiliary",
        }
    }

    /// The class of this [name](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Measurement, Self::Command, Self::Auxiliary]
            .into_iter()
            .find(|class| class.name() == name)
    }
}

/// Group of the recorded commands and first component of their names: `recorded.rotor.0.thrust`.
pub const RECORDED: &str = "recorded";

/// The name of a recorded command: `recorded.<command>`.
pub fn recorded(command: &str) -> String {
    format!("{RECORDED}.{command}")
}

/// The command of a recorded signal; `None` if the name is not `recorded.<command>`.
pub fn recorded_command(name: &str) -> Option<&str> {
    name.strip_prefix(RECORDED)?.strip_prefix('.')
}

/// Group of the true values and first component of their names: `truth.pose.position.x`. Only a simulation knows them;
/// the control path never reads them.
pub const TRUTH: &str = "truth";

/// The name of a true value: `truth.<measurement>`, or `truth.<command>` for the actuator's true output.
pub fn truth(name: &str) -> String {
    format!("{TRUTH}.{name}")
}

/// The measurement or command of a true value; `None` if the name is not `truth.<name>`.
pub fn true_signal(name: &str) -> Option<&str> {
    name.strip_prefix(TRUTH)?.strip_prefix('.')
}

/// One value that a backend provides or takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signal {
    /// The canonical name, such as `pose.position.x`.
    pub name: String,
    /// Its unit, such as `m/s`; `1` for dimensionless numbers.
    pub unit: String,
    /// Its class.
    pub class: Class,
    /// Index into [`Description::groups`](crate::Description::groups); commands belong to none.
    pub group: Option<usize>,
}

/// A row of the table: a group and its components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canonical {
    /// Name of the group, with `{i}` for an index.
    pub group: &'static str,
    /// Last components of the names.
    pub components: &'static [&'static str],
    /// Unit of each component.
    pub unit: &'static str,
    /// Their class.
    pub class: Class,
    /// The quantity and its frame.
    pub summary: &'static str,
}

/// Meaning of one name, looked up by [`meaning`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// Unit.
    pub unit: &'static str,
    /// Its class.
    pub class: Class,
    /// Name of its group: the name without its last component, but `recorded` for every recorded command and `truth` for every true
    /// value.
    pub group: String,
    /// The quantity and its frame.
    pub summary: &'static str,
}

const XYZ: &[&str] = &["x", "y", "z"];
const WXYZ: &[&str] = &["w", "x", "y", "z"];

const fn row(
    class: Class,
    group: &'static str,
    components: &'static [&'static str],
    unit: &'static str,
    summary: &'static str,
) -> Canonical {
    Canonical {
        group,
        components,
        unit,
        class,
        summary,
    }
}

/// All canonical names. `recorded.<command>`, `truth.<measurement>` and `truth.<command>` are not listed: they follow from these.
#[rustfmt::skip] // a table reads as a table
pub const TABLE: &[Canonical] = &{
    use Class::{Auxiliary, Command, Measurement};
    [
        row(Measurement, "pose.position",             XYZ,          "m",     "position of the body's origin, world frame"),
        row(Measurement, "pose.quaternion",           WXYZ,         "1",     "attitude, world from body"),
        row(Measurement, "twist.linear",              XYZ,          "m/s",   "velocity of the body's origin, body frame"),
        row(Measurement, "twist.angular",             XYZ,          "rad/s", "angular velocity, body frame"),
        row(Measurement, "joint.{i}",                 &["position"], "rad",  "angle of the joint that carries body i; m if it is prismatic"),
        row(Measurement, "joint.{i}",                 &["velocity"], "rad/s", "its rate; m/s if it is prismatic"),
        row(Measurement, "joint.{i}.translation",     XYZ,          "m",     "position of body i, frame of its joint"),
        row(Measurement, "joint.{i}.quaternion",      WXYZ,         "1",     "attitude, joint's frame from body i; world from body if the joint is absolute"),
        row(Measurement, "joint.{i}.linear",          XYZ,          "m/s",   "velocity relative to the joint's frame, frame of body i"),
        row(Measurement, "joint.{i}.angular",         XYZ,          "rad/s", "angular velocity relative to the joint's frame, frame of body i; relative to the world if the joint is absolute"),
        row(Measurement, "body.{i}.position",         XYZ,          "m",     "position of body i's origin, world frame"),
        row(Measurement, "body.{i}.quaternion",       WXYZ,         "1",     "attitude of body i, world from body"),
        row(Measurement, "rotor.{i}",                 &["speed"],   "rad/s", "speed of the rotor"),
        row(Measurement, "wind",                      XYZ,          "m/s",   "velocity of the air at the body's origin, world frame"),
        row(Measurement, "wind.{i}",                  XYZ,          "m/s",   "the same at the origin of body i, if several bodies are free in the world"),
        row(Measurement, "contact",                   &["speed"],   "m/s",   "largest penetration speed of the vehicle's contact points since the previous frame"),
        row(Measurement, "contact.{i}",               &["speed"],   "m/s",   "the same of what moves with body i, if several bodies are free in the world"),
        row(Measurement, "imu.angular_velocity",      XYZ,          "rad/s", "angular velocity from the gyroscope, body frame"),
        row(Measurement, "imu.specific_force",        XYZ,          "m/s^2", "specific force from the accelerometer: acceleration minus gravity, body frame"),
        row(Measurement, "motion_capture.position",   XYZ,          "m",     "position of the body's origin from motion capture, world frame"),
        row(Measurement, "motion_capture.quaternion", WXYZ,         "1",     "attitude from motion capture, world from body"),
        row(Measurement, "gnss.position",             XYZ,          "m",     "position of the antenna, world frame"),
        row(Measurement, "gnss.velocity",             XYZ,          "m/s",   "velocity of the antenna, world frame"),
        row(Measurement, "barometer",                 &["altitude"], "m",    "height from the air pressure, world frame"),
        row(Measurement, "magnetometer.field",        XYZ,          "T",     "magnetic field, body frame"),
        row(Measurement, "airspeed",                  &["speed"],   "m/s",   "airspeed along the body's x axis"),
        row(Measurement, "range",                     &["distance"], "m",    "distance to the ground along the sensor's ray"),
        row(Command,     "rotor.{i}",                 &["thrust"],  "N",     "thrust of the rotor along its axis"),
        row(Command,     "rotor.{i}",                 &["tilt"],    "rad",   "angle of the rotor's tilt servo"),
        row(Command,     "motor.{i}",                 &["effort"],  "N m",   "torque of the motor in a joint; N if it is prismatic"),
        row(Command,     "command.quaternion",        WXYZ,         "1",     "commanded attitude, world from body"),
        row(Command,     "command.angular_velocity",  XYZ,          "rad/s", "commanded angular velocity, body frame"),
        row(Command,     "command",                   &["thrust"],  "N",     "collective thrust along the body's z axis"),
        row(Command,     "command.position",          XYZ,          "m",     "commanded position, world frame"),
        row(Command,     "command.velocity",          XYZ,          "m/s",   "commanded velocity, world frame"),
        row(Command,     "command.acceleration",      XYZ,          "m/s^2", "commanded acceleration, world frame"),
        row(Command,     "command",                   &["yaw"],     "rad",   "commanded heading: angle of the body's x axis about the world's z axis"),
        row(Command,     "command",                   &["yaw_rate"], "rad/s", "commanded rate of the heading, about the world's z axis"),
        row(Auxiliary,   "setpoint.position",         XYZ,          "m",     "position setpoint, world frame"),
        row(Auxiliary,   "setpoint.velocity",         XYZ,          "m/s",   "velocity setpoint, world frame"),
        row(Auxiliary,   "setpoint.acceleration",     XYZ,          "m/s^2", "acceleration setpoint, world frame"),
        row(Auxiliary,   "setpoint.quaternion",       WXYZ,         "1",     "attitude setpoint, world from body"),
        row(Auxiliary,   "setpoint.angular_velocity", XYZ,          "rad/s", "angular velocity setpoint, body frame"),
        row(Auxiliary,   "setpoint",                  &["source"],  "1",     "0: setpoints were logged, 1: smoothed from the flown path, 2: the attitude was logged, the position smoothed, 3: the position was logged, the attitude smoothed"),
        row(Auxiliary,   "battery",                   &["voltage"], "V",     "voltage of the battery"),
        row(Auxiliary,   "battery",                   &["remaining"], "1",   "remaining charge, 0 to 1"),
        row(Auxiliary,   "vehicle",                   &["armed"],   "1",     "1: armed, 0: not"),
        row(Auxiliary,   "vehicle",                   &["control"], "1",     "1: the vehicle accepts our commands, or we do not have control yet; 0: a pilot, another program or its own failsafe has taken control"),
        row(Auxiliary,   "vehicle",                   &["uplink"],  "1",     "1: the vehicle answers what it is sent, or has never done so; 0: it still sends, but has stopped answering"),
        row(Auxiliary,   "inner",                     &["attitude_gain"], "1/s", "gain of the vehicle's attitude loop for roll and pitch"),
        row(Auxiliary,   "inner",                     &["yaw_gain"], "1/s",  "gain of the vehicle's attitude loop for yaw"),
        row(Auxiliary,   "actuator.{i}",              &["health"],  "1",     "effectiveness of the actuator of command i: 1 full, 0 none"),
    ]
};

/// Looks up a name in the [table](TABLE); `None` if it is not canonical.
pub fn meaning(name: &str) -> Option<Meaning> {
    if let Some(command) = recorded_command(name) {
        let recorded = meaning(command).filter(|found| found.class == Class::Command)?;
        return Some(Meaning {
            class: Class::Auxiliary,
            group: RECORDED.into(),
            ..recorded
        });
    }
    if let Some(signal) = true_signal(name) {
        let truth = meaning(signal).filter(|found| found.class != Class::Auxiliary)?;
        return Some(Meaning {
            class: Class::Auxiliary,
            group: TRUTH.into(),
            ..truth
        });
    }
    let (group, component) = name.rsplit_once('.')?;
    TABLE
        .iter()
        .find(|row| row.components.contains(&component) && matches(row.group, group))
        .map(|row| Meaning {
            unit: row.unit,
            class: row.class,
            group: group.to_owned(),
            summary: row.summary,
        })
}

/// The unit of this value of a joint or its motor if the joint is prismatic; `None` for other values.
///
/// ```
/// use fly_hal::signal::unit_if_prismatic;
/// assert_eq!(unit_if_prismatic("joint.2.velocity"), Some("m/s"));
/// assert_eq!(unit_if_prismatic("truth.motor.0.effort"), Some("N"));
/// assert_eq!(unit_if_prismatic("joint.2.angular.x"), None);
/// ```
pub fn unit_if_prismatic(name: &str) -> Option<&'static str> {
    let plain = recorded_command(name).or_else(|| true_signal(name));
    let (group, component) = plain.unwrap_or(name).rsplit_once('.')?;
    match component {
        "position" if matches("joint.{i}", group) => Some("m"),
        "velocity" if matches("joint.{i}", group) => Some("m/s"),
        "effort" if matches("motor.{i}", group) => Some("N"),
        _ => None,
    }
}

/// The names of one group, in the order of the table: `group_names("twist.linear")`. Empty if there is no such group,
/// and for commands, `recorded` and `truth`: commands have no group, and the other two have as many names as the
/// backend provides.
pub fn group_names(group: &str) -> impl Iterator<Item = String> + '_ {
    TABLE
        .iter()
        .filter(move |row| row.class != Class::Command && matches(row.group, group))
        .flat_map(move |row| {
            row.components
                .iter()
                .map(move |component| format!("{group}.{component}"))
        })
}

/// Whether `name` is `pattern` with every `{i}` replaced by an index.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = name.split('.');
    pattern
        .split('.')
        .all(|expected| match (expected, parts.next()) {
            ("{i}", Some(part)) => is_index(part),
            (expected, found) => found == Some(expected),
        })
        && parts.next().is_none()
}

/// A decimal number in its one spelling: no sign, no leading zero.
fn is_index(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_under_its_own_names() {
        assert!(TABLE.len() >= 22);
        for row in TABLE {
            for component in row.components {
                let name = format!("{}.{component}", row.group).replace("{i}", "7");
                let found = meaning(&name).unwrap_or_else(|| panic!("{name} is not found"));
                assert_eq!((found.unit, found.class), (row.unit, row.class), "{name}");
                assert_eq!(format!("{}.{component}", found.group), name);
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_has_no_meaning() {
        for name in [
            "",
            ".",
            "pose",
            "pose.position",
            "pose.position.w",
            "pose.position.x.x",
            "rotor.thrust",
            "rotor.01.thrust",
            "rotor.-1.thrust",
            "rotor..thrust",
            "rotor.{i}.thrust",
            "joint.0",
            "joint.position",
            "joint.0.x",
            "joint.0.quaternion",
            "joint.0.quaternion.position",
            "joint.0.translation.w",
            "joint.0.position.x",
            "joint.0.1.position",
            "joint.00.translation.x",
            "recorded.pose.position.x",
            "recorded",
            "recorded.recorded.rotor.0.thrust",
            "truth",
            "truth.truth.pose.position.x",
            "truth.recorded.rotor.0.thrust",
            "truth.battery.voltage",
            "recorded.truth.rotor.0.thrust",
            " pose.position.x",
        ] {
            assert_eq!(meaning(name), None, "{name:?}");
        }
    }

    #[test]
    fn what_is_measured_or_commanded_has_a_truth() {
        for (name, unit) in [
            ("truth.pose.quaternion.w", "1"),
            ("truth.joint.3.velocity", "rad/s"),
            ("truth.rotor.1.thrust", "N"),
            ("truth.rotor.1.tilt", "rad"),
            ("truth.motor.0.effort", "N m"),
            ("truth.body.2.position.z", "m"),
            ("truth.wind.y", "m/s"),
        ] {
            let found = meaning(name).unwrap_or_else(|| panic!("{name} is not found"));
            assert_eq!(
                (found.unit, found.class, found.group.as_str()),
                (unit, Class::Auxiliary, TRUTH),
                "{name}"
            );
            assert_eq!(truth(true_signal(name).unwrap()), name);
        }
    }

    #[test]
    fn a_group_lists_its_names_in_order() {
        let names: Vec<_> = group_names("pose.quaternion").collect();
        assert_eq!(
            names,
            [
                "pose.quaternion.w",
                "pose.quaternion.x",
                "pose.quaternion.y",
                "pose.quaternion.z"
            ]
        );
        assert_eq!(group_names("battery").count(), 2);
        assert_eq!(
            group_names("rotor.3").collect::<Vec<_>>(),
            ["rotor.3.speed"]
        );
        assert_eq!(group_names("nothing").count(), 0);
    }

    #[test]
    fn a_joint_is_one_group_or_several() {
        let names = |group| group_names(group).collect::<Vec<_>>();
        assert_eq!(names("joint.2"), ["joint.2.position", "joint.2.velocity"]);
        assert_eq!(
            names("joint.12.linear"),
            [
                "joint.12.linear.x",
                "joint.12.linear.y",
                "joint.12.linear.z"
            ]
        );
        assert_eq!(names("joint.0.quaternion").len(), 4);
        assert_eq!(names("joint"), [""; 0]);
        for (name, unit, group) in [
            ("joint.2.position", "rad", "joint.2"),
            ("joint.2.velocity", "rad/s", "joint.2"),
            ("joint.2.translation.x", "m", "joint.2.translation"),
            ("joint.2.quaternion.w", "1", "joint.2.quaternion"),
            ("joint.2.linear.y", "m/s", "joint.2.linear"),
            ("joint.2.angular.z", "rad/s", "joint.2.angular"),
        ] {
            let found = meaning(name).unwrap();
            assert_eq!((found.unit, found.group.as_str()), (unit, group), "{name}");
            assert_eq!(found.class, Class::Measurement, "{name}");
        }
    }
}
