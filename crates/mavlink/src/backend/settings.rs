//! The plugin's own table.
//!
//! ```toml
//! [backend.quadcopter]
//! link = "udpin:127.0.0.1:14550" # where the vehicle is; udpin:0.0.0.0:14550 listens to the whole network
//! system = 1                   # its system id; without it, the first autopilot that is heard
//! own_system = 255             # our system id
//! own_component = 190          # our component number: 190 a ground station, 191 a companion computer
//! connect_timeout = 10.0       # s, for the first heartbeat
//! ready_timeout = 60.0         # s, for a vehicle that is to be commanded to know where it is; ArduPilot also to pass its checks
//! stale_after = 0.5            # s, after which a measurement is no longer valid
//! attitude_rate_hz = 50.0      # how often the attitude is asked for; 0: not at all
//! position_rate_hz = 30.0      # how often position and velocity are asked for; 0: not at all
//! listen_only = false          # true: send nothing at all
//! signing_key = "fly.key"      # signs what is sent and refuses what is not signed; see the crate's README
//! signing_link = 0             # our number of this link, 0 to 255, where several share a key
//! any_type = false             # true: only warn when the vehicle is of another kind
//! command = "attitude"         # what it is commanded by: "attitude", "rates" or "trajectory"; "hil": the simulator whose autopilot we are
//! setpoint_rate_hz = 200.0     # at most so many setpoints a second; without: 200, or as many as a serial line carries
//! hover_thrust = 0.4           # the autopilot's thrust in hover, 0 to 1; without: measured after the take-off, before that its parameter
//! thrust_curve = 0.0           # 0: the autopilot linearises its thrust; 1: thrust goes with the square of the command; or what was measured:
//!                              # [[0.2, 1.5], [0.5, 7.2], [0.8, 15.1]], points of command and force in N
//! thrust_limits = [0.03, 0.95] # of the autopilot's thrust
//! set_parameters = false       # true: parameters that are wrong are set for the flight
//! outputs = [{ command = "rotor.0.thrust", channel = 1 }] # which output drives what, for `fly actuators`; without as PX4 numbers its motors
//! parameters_file = "old.txt"  # where their old values are kept meanwhile; without: in the user's folder for states
//! ```

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::curve::{Curve, CurveSettings};
use crate::outputs::OutputSettings;
use crate::{Address, AddressError, Identity, LinkSettings, SigningSettings, VehicleSettings};
use fly_hal::Spanned;
use fly_hal::{CommandSet, Configuration, Error};
use serde::Deserialize;

/// The table as it is written; defaults as in the example above.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// `udpin:ADDRESS:PORT`, `udpout:HOST:PORT`, `tcpin:ADDRESS:PORT`, `tcpout:HOST:PORT` or `serial:PATH:BAUD`. Default `udpin:127.0.0.1:14550`.
    #[serde(default = "default_link")]
    link: Spanned<String>,
    /// The vehicle's system id, 1 to 255. Default: that of the first autopilot that is heard.
    system: Option<Spanned<i64>>,
    /// Our system id, 1 to 255. Default 255.
    own_system: Option<Spanned<i64>>,
    /// Our component id: 190 a ground station, 191 a companion computer. Default 190.
    own_component: Option<Spanned<i64>>,
    /// For the first heartbeat, s. Default 10.
    connect_timeout: Option<Spanned<f64>>,
    /// How long a vehicle that will be commanded may take to have a position estimate, s. Default 60.
    ready_timeout: Option<Spanned<f64>>,
    /// Age at which a measurement is invalid, s. Default 0.5.
    stale_after: Option<Spanned<f64>>,
    /// Requested rate of attitude messages, Hz; 0: none. Default 50.
    attitude_rate_hz: Option<Spanned<f64>>,
    /// Requested rate of position and velocity messages, Hz; 0: none. Default 30.
    position_rate_hz: Option<Spanned<f64>>,
    /// File of the key of a signed link. Default: not signed.
    signing_key: Option<Spanned<String>>,
    /// Our number of the link, 0 to 255, where several share a key. Default 0.
    signing_link: Option<Spanned<i64>>,
    /// Send nothing at all. Default false.
    #[serde(default)]
    listen_only: bool,
    /// Only warn if the vehicle has another type. Default false.
    #[serde(default)]
    any_type: bool,
    /// Kind of setpoints: `attitude`, `rates` or `trajectory`; `hil`: act as the autopilot of a simulator. Default `attitude`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<CommandName>"))]
    command: Option<Spanned<String>>,
    /// Setpoints a second at most, 5 to 1000. Default 200, or as many as a serial line carries.
    setpoint_rate_hz: Option<Spanned<f64>>,
    /// The autopilot's thrust in hover, 0.05 to 0.95. Default: measured.
    hover_thrust: Option<Spanned<f64>>,
    /// f of the thrust f u^2 + (1 - f) u, 0 to 1, or points [command, force in N]. Default 0.
    thrust_curve: Option<Spanned<CurveSettings>>,
    /// Least and most of the autopilot's thrust. Default [0.03, 0.95].
    thrust_limits: Option<Spanned<[f64; 2]>>,
    /// Set parameters of the vehicle that are wrong for the flight, and restore them afterwards. Default false.
    #[serde(default)]
    set_parameters: bool,
    /// File for their old values. Default: in the user's state folder.
    parameters_file: Option<Spanned<String>>,
    /// The actuator of each output. Default: PX4's motor numbers.
    outputs: Option<Spanned<Vec<OutputSettings>>>,
}

/// The values of `command`.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is used")]
enum CommandName {
    /// Attitude and collective thrust.
    Attitude,
    /// Angular velocity and collective thrust.
    Rates,
    /// Position, velocity, acceleration and heading.
    Trajectory,
    /// We are the autopilot of a simulator.
    Hil,
}

/// The keys of the table, those of `command = "hil"` as well.
#[cfg(feature = "schema")]
pub fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = <Table as schemars::JsonSchema>::json_schema(generator);
    let origin = generator.subschema_for::<crate::hil::Origin>();
    if let Some(properties) = schema
        .get_mut("properties")
        .and_then(|it| it.as_object_mut())
    {
        properties.insert("origin".into(), origin.into());
    }
    schema
}

/// Where ground stations listen, to this machine alone: whoever reaches an open port can claim to be the vehicle.
fn default_link() -> Spanned<String> {
    Spanned::new(0..0, "udpin:127.0.0.1:14550".to_owned())
}

/// The table, checked.
#[derive(Debug, PartialEq)]
pub(crate) struct Settings {
    pub address: Address,
    pub vehicle: VehicleSettings,
    pub connect_timeout: Duration,
    pub ready_timeout: Duration,
    pub stale_after: Duration,
    pub any_type: bool,
    pub command: CommandSet,
    /// Hz; `None`: as many as fit.
    pub setpoint_rate: Option<Spanned<f64>>,
    /// 0 to 1; `None`: as the vehicle says.
    pub hover_thrust: Option<f64>,
    pub thrust_curve: Curve,
    pub thrust_limits: [f64; 2],
    pub set_parameters: bool,
    pub parameters_file: Option<PathBuf>,
    pub outputs: Spanned<Vec<OutputSettings>>,
}

impl Settings {
    pub fn read(configuration: &Configuration) -> Result<Self, Error> {
        let table: Table = configuration.settings()?;
        let address = table
            .link
            .get_ref()
            .parse()
            .map_err(|error: AddressError| {
                Error::configuration(error.to_string()).in_configuration(table.link.span())
            })?;
        let ours = Identity::default();
        let default = VehicleSettings::default();
        let identity = Identity {
            system: number("own_system", table.own_system)?.unwrap_or(ours.system),
            component: number("own_component", table.own_component)?.unwrap_or(ours.component),
        };
        let seconds = |name, value: Option<Spanned<f64>>, default| {
            let checked = within(name, value, 0.01..=3600.0, "s")?;
            Ok::<_, Error>(Duration::from_secs_f64(checked.unwrap_or(default)))
        };
        let rate = |name, value, default| {
            Ok::<_, Error>(within(name, value, 0.0..=1000.0, "Hz")?.unwrap_or(default))
        };
        Ok(Self {
            address,
            connect_timeout: seconds("connect_timeout", table.connect_timeout, 10.0)?,
            ready_timeout: seconds("ready_timeout", table.ready_timeout, 60.0)?,
            stale_after: seconds("stale_after", table.stale_after, 0.5)?,
            vehicle: VehicleSettings {
                messages: default.messages,
                link: LinkSettings {
                    identity,
                    signing: signing(configuration, table.signing_key, table.signing_link)?,
                    ..default.link
                },
                system: number("system", table.system)?,
                attitude_rate: rate(
                    "attitude_rate_hz",
                    table.attitude_rate_hz,
                    default.attitude_rate,
                )?,
                position_rate: rate(
                    "position_rate_hz",
                    table.position_rate_hz,
                    default.position_rate,
                )?,
                listen_only: table.listen_only,
            },
            any_type: table.any_type,
            command: command(table.command)?,
            setpoint_rate: {
                let asked = table.setpoint_rate_hz;
                within("setpoint_rate_hz", asked.clone(), 5.0..=1000.0, "Hz")?;
                asked
            },
            hover_thrust: within("hover_thrust", table.hover_thrust, 0.05..=0.95, "")?,
            thrust_curve: Curve::read(table.thrust_curve)?,
            thrust_limits: limits(table.thrust_limits)?,
            set_parameters: table.set_parameters,
            parameters_file: table
                .parameters_file
                .map(|path| configuration.resolve_path(path.span().start, path.get_ref()))
                .transpose()?,
            outputs: (table.outputs).unwrap_or_else(|| Spanned::new(0..0, Vec::new())),
        })
    }
}

/// What is commanded.
fn command(name: Option<Spanned<String>>) -> Result<CommandSet, Error> {
    let Some(name) = name else {
        return Ok(CommandSet::Attitude);
    };
    if name.get_ref() == CommandSet::Actuators.name() {
        return Err(Error::configuration(
            "`command` is \"actuators\", and no autopilot takes rotors and tilts one by one in flight: PX4 has dropped \
             SET_ACTUATOR_CONTROL_TARGET, ArduPilot never had it",
        )
        .in_configuration(name.span())
        .with_help(
            "fly by \"attitude\", \"rates\" or \"trajectory\"; \"hil\" commands them in a simulator; `fly actuators` moves one at a time on a bench",
        ));
    }
    let found = CommandSet::SETPOINTS
        .into_iter()
        .find(|set| set.name() == name.get_ref());
    found.ok_or_else(|| {
        Error::configuration(format!(
            "`command` is \"{}\", expected \"attitude\", \"rates\", \"trajectory\" or \"hil\"",
            name.get_ref()
        ))
        .in_configuration(name.span())
    })
}

/// The least and the most thrust.
fn limits(value: Option<Spanned<[f64; 2]>>) -> Result<[f64; 2], Error> {
    let Some(value) = value else {
        return Ok([0.03, 0.95]);
    };
    let [least, most] = *value.get_ref();
    if 0.0 <= least && least < most && most <= 1.0 {
        return Ok([least, most]);
    }
    Err(Error::configuration(format!(
        "`thrust_limits` is [{least}, {most}], expected two rising numbers from 0 to 1"
    ))
    .in_configuration(value.span()))
}

/// Key and link number; a number without a key signs nothing, which is not what was meant.
fn signing(
    configuration: &Configuration,
    key: Option<Spanned<String>>,
    link: Option<Spanned<i64>>,
) -> Result<Option<SigningSettings>, Error> {
    let number = match &link {
        None => 0,
        Some(link) => u8::try_from(*link.get_ref()).map_err(|_| {
            Error::configuration(format!(
                "`signing_link` is {}, expected 0 to 255",
                link.get_ref()
            ))
            .in_configuration(link.span())
        })?,
    };
    match (key, link) {
        (Some(key), _) => Ok(Some(SigningSettings {
            link: number,
            ..SigningSettings::new(configuration.resolve_path(key.span().start, key.get_ref())?)
        })),
        (None, Some(link)) => Err(Error::configuration(
            "`signing_link` without `signing_key` signs nothing; name the key's file".to_owned(),
        )
        .in_configuration(link.span())),
        (None, None) => Ok(None),
    }
}

/// A system or component number.
fn number(name: &str, value: Option<Spanned<i64>>) -> Result<Option<u8>, Error> {
    let Some(value) = value else { return Ok(None) };
    match u8::try_from(*value.get_ref()) {
        Ok(number @ 1..) => Ok(Some(number)),
        _ => Err(Error::configuration(format!(
            "`{name}` is {}, expected 1 to 255",
            value.get_ref()
        ))
        .in_configuration(value.span())),
    }
}

/// A number in a range, of this unit; none for numbers without.
pub(super) fn within(
    name: &str,
    value: Option<Spanned<f64>>,
    range: RangeInclusive<f64>,
    unit: &str,
) -> Result<Option<f64>, Error> {
    match value {
        // A NaN is in no range.
        Some(value) if !range.contains(value.get_ref()) => {
            let space = if unit.is_empty() { "" } else { " " };
            Err(Error::configuration(format!(
                "`{name}` is {}{space}{unit}, expected {} to {}{space}{unit}",
                value.get_ref(),
                range.start(),
                range.end()
            ))
            .in_configuration(value.span()))
        }
        value => Ok(value.map(Spanned::into_inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, Error> {
        Settings::read(&Configuration::new(text, ""))
    }

    #[test]
    fn an_empty_table_listens_where_ground_stations_do() {
        let settings = read("").unwrap();
        assert_eq!(settings.address.to_string(), "udpin:127.0.0.1:14550");
        assert_eq!(settings.vehicle, VehicleSettings::default());
        assert_eq!(settings.command, CommandSet::Attitude);
        assert_eq!(
            (settings.hover_thrust, settings.set_parameters),
            (None, false)
        );
    }

    #[test]
    fn every_key_is_read() {
        let settings = read(
            "link = 'serial:/dev/ttyACM0:115200'\nsystem = 3\nown_system = 3\nown_component = 191\n\
             connect_timeout = 2\nready_timeout = 5\nstale_after = 0.25\nattitude_rate_hz = 100\nposition_rate_hz = 0\n\
             listen_only = true\nany_type = true\nsigning_key = '/etc/fly.key'\nsigning_link = 2\n\
             command = 'rates'\nsetpoint_rate_hz = 50\nhover_thrust = 0.4\nthrust_curve = 0.7\n\
             thrust_limits = [0.1, 0.9]\nset_parameters = true\nparameters_file = '/tmp/old'",
        )
        .unwrap();
        assert_eq!(settings.address.to_string(), "serial:/dev/ttyACM0:115200");
        assert_eq!(settings.vehicle.system, Some(3));
        assert_eq!(
            settings.vehicle.link.identity,
            Identity {
                system: 3,
                component: 191
            }
        );
        assert_eq!(
            [
                settings.connect_timeout,
                settings.ready_timeout,
                settings.stale_after
            ],
            [2000, 5000, 250].map(Duration::from_millis)
        );
        assert_eq!(
            (
                settings.vehicle.attitude_rate,
                settings.vehicle.position_rate
            ),
            (100.0, 0.0)
        );
        assert!(settings.vehicle.listen_only && settings.any_type);
        let signing = settings.vehicle.link.signing.unwrap();
        assert_eq!(signing.key.to_str(), Some("/etc/fly.key"));
        assert_eq!((signing.link, signing.unsigned_radio_status), (2, false));
        assert_eq!(settings.command, CommandSet::Rates);
        assert_eq!(
            (
                settings.setpoint_rate.map(Spanned::into_inner),
                settings.hover_thrust,
                settings.thrust_curve,
                settings.thrust_limits
            ),
            (Some(50.0), Some(0.4), Curve::Quadratic(0.7), [0.1, 0.9])
        );
        assert!(settings.set_parameters);
        assert_eq!(settings.parameters_file, Some(PathBuf::from("/tmp/old")));
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let check = |text: &str, message: &str, place: &str| {
            let error = read(text).unwrap_err();
            assert!(error.message.contains(message), "{}", error.message);
            assert_eq!(&text[error.location.unwrap().span], place, "{text}");
        };
        check(
            "link = 'udp:14550'",
            "`udp` is not a kind of link",
            "'udp:14550'",
        );
        check("link = 14550", "expected a string", "14550");
        check(
            "link = 'udpin:0.0.0.0'",
            "the port is missing; expected `udpin:ADDRESS:PORT`",
            "'udpin:0.0.0.0'",
        );
        check("system = 0", "`system` is 0, expected 1 to 255", "0");
        check(
            "own_component = 256",
            "`own_component` is 256, expected 1 to 255",
            "256",
        );
        check(
            "stale_after = -1",
            "`stale_after` is -1 s, expected 0.01 to 3600 s",
            "-1",
        );
        check(
            "attitude_rate_hz = nan",
            "`attitude_rate_hz` is NaN Hz, expected 0 to 1000 Hz",
            "nan",
        );
        check(
            "signing_key = 'k'\nsigning_link = 256",
            "`signing_link` is 256, expected 0 to 255",
            "256",
        );
        check("signing_link = 1", "without `signing_key`", "1");
        check(
            "command = 'thrust'",
            "`command` is \"thrust\", expected \"attitude\"",
            "'thrust'",
        );
        check(
            "command = 'actuators'",
            "no autopilot takes rotors and tilts one by one in flight",
            "'actuators'",
        );
        check(
            "outputs = [{ command = 'rotor.0.thrust', chanel = 1 }]",
            "unknown key `chanel`",
            "chanel",
        );
        check(
            "hover_thrust = 2.0",
            "`hover_thrust` is 2, expected 0.05 to 0.95",
            "2.0",
        );
        check(
            "thrust_limits = [0.9, 0.1]",
            "expected two rising numbers",
            "[0.9, 0.1]",
        );
        check("lnk = 'x'", "unknown key `lnk`", "lnk");
    }
}
