//! Kinds of vehicles.

use crate::dialect::MavType;
use fly_hal::{Description, Error, Info};
use fly_mechanics::System;

/// A kind of vehicle.
pub trait Airframe: Send + 'static {
    /// The plugin's name, version and summary.
    const INFO: Info;
    /// The vehicle types that are accepted in a heartbeat.
    const TYPES: &'static [MavType];
    /// How many rotors it has.
    const ROTORS: usize;
    /// Whether its rotors tilt, if there is no description of the vehicle.
    const TILTING: bool;
}

/// The groups of a frame, in its order.
pub(crate) const GROUPS: [&str; 6] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
    "battery",
    "vehicle",
];

/// The signals: the state, and the commands of the vehicle with this description (TOML). Without a description they are those of
/// the airframe.
pub(crate) fn describe<A: Airframe>(vehicle: &str) -> Result<Description, Error> {
    let mut description = Description::new();
    for group in GROUPS {
        description = description.with_group(group)?;
    }
    if vehicle.is_empty() {
        for i in 0..A::ROTORS {
            description = description.with_signal(&format!("rotor.{i}.thrust"))?;
            if A::TILTING {
                description = description.with_signal(&format!("rotor.{i}.tilt"))?;
            }
        }
        return Ok(description);
    }
    let system = System::from_toml(vehicle)
        .map_err(|error| Error::configuration(error.to_string()).in_vehicle(error.span.clone()))?;
    let rotors = system.inputs.rotors();
    let count = rotors.as_slice().len();
    if count != A::ROTORS {
        return Err(Error::configuration(format!(
            "`{}` is for vehicles with {} rotors, but `{}` has {count}",
            A::INFO.name,
            A::ROTORS,
            system.name,
        ))
        .in_vehicle(0..0));
    }
    description.with_signals(rotors.command_names())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_hal::{Clock, Text};

    const TRICOPTER: &str = include_str!("../../../../configs/vehicles/tricopter.toml");

    struct Tri;

    impl Airframe for Tri {
        const INFO: Info = Info {
            name: "tri",
            version: "0",
            summary: "three rotors",
            clock: Clock::RealTime,
            signals: "",
        };
        const TYPES: &'static [MavType] = &[MavType::MAV_TYPE_TRICOPTER];
        const ROTORS: usize = 3;
        const TILTING: bool = true;
    }

    fn commands(vehicle: &str) -> Vec<String> {
        describe::<Tri>(vehicle)
            .unwrap()
            .commands()
            .map(|signal| signal.name.clone())
            .collect()
    }

    #[test]
    fn commands_follow_the_description_and_else_the_airframe() {
        let all = [
            "rotor.0.thrust",
            "rotor.0.tilt",
            "rotor.1.thrust",
            "rotor.1.tilt",
            "rotor.2.thrust",
            "rotor.2.tilt",
        ];
        assert_eq!(commands(""), all);
        assert_eq!(commands(TRICOPTER), all);
        let parts: Vec<_> = TRICOPTER.split("[[rotors]]").collect();
        let fixed = |part: &str| part.split("[rotors.tilt]").next().unwrap().to_owned();
        let tail = [parts[0], &fixed(parts[1]), &fixed(parts[2]), parts[3]].join("[[rotors]]");
        assert_eq!(
            commands(&tail),
            [
                "rotor.0.thrust",
                "rotor.1.thrust",
                "rotor.2.thrust",
                "rotor.2.tilt"
            ]
        );
    }

    #[test]
    fn the_description_is_canonical() {
        let description = describe::<Tri>("").unwrap();
        assert_eq!(description.faults(), Vec::<String>::new());
        assert_eq!(description.groups, GROUPS);
    }

    #[test]
    fn another_number_of_rotors_is_refused() {
        let four = include_str!("../../../../configs/vehicles/quadcopter.toml");
        let error = describe::<Tri>(four).unwrap_err();
        assert_eq!(
            error.message,
            "`tri` is for vehicles with 3 rotors, but `quadcopter` has 4"
        );
        assert_eq!(error.location.unwrap().text, Text::Vehicle);
        assert!(describe::<Tri>("rotors = 3").is_err());
        assert!(describe::<Tri>("rotors = [").is_err());
    }
}
