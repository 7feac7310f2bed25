//! Kinds of vehicles.

use crate::dialect::MavType;
use fly_hal::{CommandSet, Description, Error, Info};
use fly_mechanics::System;

/// A kind of vehicle.
pub trait Airframe: Send + 'static {
    /// The plugin's name, version and summary.
    const INFO: Info;
    /// The vehicle types that are accepted in a heartbeat.
    const TYPES: &'static [MavType];
    /// How many rotors its model must have; `None`: any number.
    const ROTORS: Option<usize>;
}

/// m/s².
const STANDARD_GRAVITY: f64 = 9.806_65;

/// The groups of a frame, in its order.
pub(crate) const GROUPS: [&str; 7] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
    "battery",
    "vehicle",
    "inner",
];

/// The signals: the state, and the commands of the set.
pub(crate) fn describe(set: CommandSet) -> Result<Description, Error> {
    let mut description = Description::new();
    for group in GROUPS {
        description = description.with_group(group)?;
    }
    description.with_commands(set)
}

/// The parameters of the controller's model that the thrust needs; without a model, those of an airframe of 1 kg.
pub(crate) struct Model {
    /// m g, N.
    pub weight: f64,
    /// How many rotors.
    pub rotors: usize,
}

impl Model {
    /// Reads them from this description (TOML).
    ///
    /// # Errors
    /// The description is invalid, or its number of rotors differs from the airframe's.
    pub fn read<A: Airframe>(vehicle: &str) -> Result<Self, Error> {
        if vehicle.is_empty() {
            return Ok(Self {
                weight: STANDARD_GRAVITY,
                rotors: A::ROTORS.unwrap_or(4),
            });
        }
        let system = System::from_toml(vehicle).map_err(|error| {
            Error::configuration(error.to_string()).in_vehicle(error.span.clone())
        })?;
        let rotors = system.inputs.rotors().as_slice().len();
        if let Some(expected) = A::ROTORS
            && rotors != expected
        {
            return Err(Error::configuration(format!(
                "`{}` is for vehicles with {expected} rotors, but `{}` has {rotors}",
                A::INFO.name,
                system.name,
            ))
            .in_vehicle(0..0));
        }
        let weight = system.model.mass() * system.model.gravity().norm();
        if weight.is_finite() && weight > 0.0 {
            return Ok(Self { weight, rotors });
        }
        Err(Error::configuration(format!(
            "`{}` has the weight {weight} N: expected a positive one, which scales the thrust",
            system.name
        ))
        .in_vehicle(0..0))
    }

    /// Describes a mismatch with the vehicle's reported type.
    pub fn mismatch(&self, kind: MavType) -> Option<String> {
        let rotors = rotors_of(kind).filter(|rotors| *rotors != self.rotors)?;
        Some(format!(
            "the vehicle reports a {} with {rotors} rotors, but the model has {}",
            crate::type_name(kind),
            self.rotors
        ))
    }
}

/// Number of rotors of a vehicle type, if the type determines it.
fn rotors_of(kind: MavType) -> Option<usize> {
    Some(match kind {
        MavType::MAV_TYPE_TRICOPTER => 3,
        MavType::MAV_TYPE_QUADROTOR => 4,
        MavType::MAV_TYPE_HEXAROTOR => 6,
        MavType::MAV_TYPE_OCTOROTOR => 8,
        MavType::MAV_TYPE_DECAROTOR => 10,
        MavType::MAV_TYPE_DODECAROTOR => 12,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_hal::{Clock, Text};

    const TRICOPTER: &str = include_str!("../../../../configs/vehicles/tricopter.toml");
    const QUADCOPTER: &str = include_str!("../../../../configs/vehicles/quadcopter.toml");

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
        const ROTORS: Option<usize> = Some(3);
    }

    struct Any;

    impl Airframe for Any {
        const INFO: Info = Tri::INFO;
        const TYPES: &'static [MavType] = Tri::TYPES;
        const ROTORS: Option<usize> = None;
    }

    #[test]
    fn the_description_is_canonical() {
        for set in CommandSet::SETPOINTS {
            let description = describe(set).unwrap();
            assert_eq!(description.faults(), Vec::<String>::new());
            assert_eq!(description.groups, GROUPS);
            assert_eq!(description.command_set().unwrap(), set);
        }
    }

    #[test]
    fn the_model_gives_weight_and_rotors() {
        // 0.9 kg, as the file says.
        let model = Model::read::<Any>(QUADCOPTER).unwrap();
        assert!((model.weight - 0.9 * 9.81).abs() < 0.01, "{}", model.weight);
        assert_eq!(model.rotors, 4);
        assert_eq!(model.mismatch(MavType::MAV_TYPE_QUADROTOR), None);
        assert_eq!(model.mismatch(MavType::MAV_TYPE_COAXIAL), None);
        assert_eq!(
            model.mismatch(MavType::MAV_TYPE_HEXAROTOR).unwrap(),
            "the vehicle reports a hexarotor with 6 rotors, but the model has 4"
        );
        assert_eq!(Model::read::<Tri>(TRICOPTER).unwrap().rotors, 3);
        assert_eq!(Model::read::<Tri>("").unwrap().rotors, 3);
    }

    #[test]
    fn another_number_of_rotors_is_refused() {
        let error = Model::read::<Tri>(QUADCOPTER).err().unwrap();
        assert_eq!(
            error.message,
            "`tri` is for vehicles with 3 rotors, but `quadcopter` has 4"
        );
        assert_eq!(error.location.unwrap().text, Text::Vehicle);
        assert!(Model::read::<Tri>("rotors = 3").is_err());
        assert!(Model::read::<Tri>("rotors = [").is_err());
    }
}
