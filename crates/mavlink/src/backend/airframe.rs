//! What tells one kind of vehicle from another.

use std::ops::Range;

use crate::dialect::MavType;
use fly_hal::{Description, Error, Info};
use toml::Spanned;

/// A kind of vehicle.
pub trait Airframe: Send + 'static {
    /// The plugin's name, version and summary.
    const INFO: Info;
    /// The kinds that the vehicle's heartbeat may name.
    const TYPES: &'static [MavType];
    /// How many rotors it has.
    const ROTORS: usize;
    /// Whether its rotors tilt, where the vehicle's description does not say.
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

/// The signals: the state, and the commands of the rotors that the vehicle's description (TOML) holds. Without a
/// description they are those of the airframe.
pub(crate) fn describe<A: Airframe>(vehicle: &str) -> Result<Description, Error> {
    let mut description = Description::new();
    for group in GROUPS {
        description = description.with_group(group)?;
    }
    let tilting = match rotors(vehicle)? {
        None => vec![A::TILTING; A::ROTORS],
        Some(found) if found.tilting.len() == A::ROTORS => found.tilting,
        Some(found) => {
            return Err(Error::configuration(format!(
                "`{}` flies a vehicle with {} rotors, and this one has {}",
                A::INFO.name,
                A::ROTORS,
                found.tilting.len()
            ))
            .in_vehicle(found.span));
        }
    };
    for (i, tilts) in tilting.into_iter().enumerate() {
        description = description.with_signal(&format!("rotor.{i}.thrust"))?;
        if tilts {
            description = description.with_signal(&format!("rotor.{i}.tilt"))?;
        }
    }
    Ok(description)
}

/// The `[[rotors]]` of a vehicle: for each whether it tilts, and where the first stands.
struct Rotors {
    tilting: Vec<bool>,
    span: Range<usize>,
}

/// Only what is needed here: the host has checked the rest.
#[derive(serde::Deserialize)]
struct VehicleText {
    rotors: Option<Spanned<Vec<Spanned<RotorText>>>>,
}

#[derive(serde::Deserialize)]
struct RotorText {
    tilt: Option<toml::Value>,
}

fn rotors(vehicle: &str) -> Result<Option<Rotors>, Error> {
    let parsed: VehicleText = toml::from_str(vehicle).map_err(|error| {
        let span = error.span().unwrap_or(0..vehicle.len());
        Error::configuration(error.message()).in_vehicle(span)
    })?;
    Ok(parsed.rotors.map(|rotors| {
        let span = rotors
            .get_ref()
            .first()
            .map_or_else(|| rotors.span(), Spanned::span);
        let tilting = rotors
            .get_ref()
            .iter()
            .map(|rotor| rotor.get_ref().tilt.is_some())
            .collect();
        Rotors { tilting, span }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_hal::{Clock, Text};

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
        let tail = "[[rotors]]\n[[rotors]]\n[[rotors]]\ntilt = { axis = [1, 0, 0] }\n";
        assert_eq!(
            commands(tail),
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
    fn another_number_of_rotors_is_refused_with_its_place() {
        let error = describe::<Tri>("name = 'x'\n[[rotors]]\n[[rotors]]\n").unwrap_err();
        assert_eq!(
            error.message,
            "`tri` flies a vehicle with 3 rotors, and this one has 2"
        );
        let location = error.location.unwrap();
        assert_eq!(location.text, Text::Vehicle);
        assert!(location.span.start >= 11, "{location:?}");
        assert!(describe::<Tri>("rotors = 3").is_err());
        assert!(describe::<Tri>("rotors = [").is_err());
    }
}
