//! The plugin's table with `command = "hil"`.
//!
//! ```toml
//! [backend.quadcopter]
//! command = "hil"
//! link = "tcpout:127.0.0.1:4560" # the simulator
//! connect_timeout = 10.0       # s, for the simulator
//! origin = { latitude = 47.397742, longitude = 8.545594, altitude = 488.0 } # degrees, m: of the world, as the simulator has it
//! thrust_curve = 0.0           # c: thrust = full ((1 - c) u + c u^2), as the simulator has it
//! outputs = [{ command = "rotor.0.thrust", channel = 1 }] # which control drives what; without as PX4 numbers its motors
//! ```
//!
//! What the table says for vehicles with an autopilot of their own does not count.

use std::time::Duration;

use fly_hal::Spanned;
use fly_hal::{Configuration, Error};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::backend::settings::within;
use crate::hil::Origin;
use crate::outputs::OutputSettings;
use crate::{Address, AddressError, HostPort};

/// The value of `command` that chooses it.
pub(crate) const COMMAND: &str = "hil";

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "keys that do not count are read for their names alone"
)]
struct Table {
    command: IgnoredAny,
    link: Option<Spanned<String>>,
    connect_timeout: Option<Spanned<f64>>,
    origin: Option<Spanned<Origin>>,
    thrust_curve: Option<Spanned<f64>>,
    outputs: Option<Spanned<Vec<OutputSettings>>>,
    system: Option<IgnoredAny>,
    own_system: Option<IgnoredAny>,
    own_component: Option<IgnoredAny>,
    stale_after: Option<IgnoredAny>,
    attitude_rate_hz: Option<IgnoredAny>,
    position_rate_hz: Option<IgnoredAny>,
    listen_only: Option<IgnoredAny>,
    signing_key: Option<IgnoredAny>,
    signing_link: Option<IgnoredAny>,
    any_type: Option<IgnoredAny>,
    setpoint_rate_hz: Option<IgnoredAny>,
    hover_thrust: Option<IgnoredAny>,
    thrust_limits: Option<IgnoredAny>,
    set_parameters: Option<IgnoredAny>,
    parameters_file: Option<IgnoredAny>,
}

/// The table, checked.
#[derive(Debug)]
pub(crate) struct Settings {
    pub simulator: HostPort,
    pub connect_timeout: Duration,
    pub origin: Origin,
    pub curve: Option<f64>,
    pub outputs: Spanned<Vec<OutputSettings>>,
}

/// Whether a table asks for it.
pub(crate) fn is_chosen(configuration: &Configuration) -> Result<bool, Error> {
    #[derive(Deserialize)]
    struct Chosen {
        command: Option<toml::Value>,
    }
    let chosen: Chosen = configuration.settings()?;
    Ok(chosen
        .command
        .is_some_and(|command| command.as_str() == Some(COMMAND)))
}

impl Settings {
    pub fn read(configuration: &Configuration) -> Result<Self, Error> {
        let table: Table = configuration.settings()?;
        let link = table
            .link
            .unwrap_or_else(|| Spanned::new(0..0, "tcpout:127.0.0.1:4560".to_owned()));
        let refused =
            |message: String| Err(Error::configuration(message).in_configuration(link.span()));
        let simulator = match link.get_ref().parse() {
            Ok(Address::TcpOut(simulator)) => simulator,
            Ok(other) => {
                return refused(format!(
                    "`link` is `{other}`, and a simulator for PX4 listens: expected `tcpout:HOST:PORT`, such as \
                     `tcpout:127.0.0.1:4560`"
                ));
            }
            Err(error) => {
                let error: AddressError = error;
                return refused(error.to_string());
            }
        };
        let wait = within("connect_timeout", table.connect_timeout, 0.01..=3600.0, "s")?;
        let origin = table
            .origin
            .unwrap_or_else(|| Spanned::new(0..0, Origin::default()));
        if !origin.get_ref().is_valid() {
            let message = "`origin` is no place that can be used: expected a latitude within 89 and a longitude within 180 degrees, an \
                           altitude of -1000 to 100000 m";
            return Err(Error::configuration(message).in_configuration(origin.span()));
        }
        Ok(Self {
            simulator,
            connect_timeout: Duration::from_secs_f64(wait.unwrap_or(10.0)),
            origin: *origin.get_ref(),
            curve: within("thrust_curve", table.thrust_curve, 0.0..=1.0, "")?,
            outputs: table
                .outputs
                .unwrap_or_else(|| Spanned::new(0..0, Vec::new())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, Error> {
        Settings::read(&Configuration::new(text, ""))
    }

    #[test]
    fn the_table_is_read_and_others_keys_do_not_count() {
        let settings = read("command = 'hil'").unwrap();
        assert_eq!(settings.simulator.to_string(), "127.0.0.1:4560");
        assert_eq!(settings.origin, Origin::default());
        let settings = read(
            "command = 'hil'\nlink = 'tcpout:[::1]:4561'\norigin = { latitude = 1, longitude = 2 }\nstale_after = 'x'\n\
             outputs = [{ command = 'rotor.0.thrust', channel = 3 }]\nthrust_curve = 1",
        )
        .unwrap();
        assert_eq!(settings.simulator.to_string(), "[::1]:4561");
        assert_eq!(
            (settings.origin.latitude, settings.origin.altitude),
            (1.0, 488.0)
        );
        assert_eq!(settings.outputs.get_ref()[0].channel, 3);
        let chosen = |text| is_chosen(&Configuration::new(text, "")).unwrap();
        assert!(
            chosen("command = 'hil'")
                && !chosen("command = 'rates'")
                && !chosen("command = 3")
                && !chosen("")
        );
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let check = |text: &str, message: &str, place: &str| {
            let text = format!("command = 'hil'\n{text}");
            let error = read(&text).unwrap_err();
            assert!(error.message.contains(message), "{}", error.message);
            assert_eq!(&text[error.location.unwrap().span], place, "{text}");
        };
        check(
            "link = 'udpin:0.0.0.0:14550'",
            "expected `tcpout:HOST:PORT`",
            "'udpin:0.0.0.0:14550'",
        );
        check("link = 'tcpout:x'", "the port is missing", "'tcpout:x'");
        check(
            "thrust_curve = 2",
            "`thrust_curve` is 2, expected 0 to 1",
            "2",
        );
        check(
            "origin = { latitude = 90 }",
            "no place that can be used",
            "{ latitude = 90 }",
        );
        check("orign = 1", "unknown key `orign`", "orign");
    }
}
