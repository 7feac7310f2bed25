//! The signals of one vehicle in the world.

use std::collections::HashMap;

use fly_hal::signal::{true_signal, truth};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

use crate::config::{Member, name_in_world};

/// Maps the world's signal groups to one vehicle's names; groups of other vehicles are not included.
#[derive(Debug)]
pub(super) struct Signals(HashMap<String, String>);

impl Signals {
    /// For the vehicle at this index. In the world its rotors and motors come after those of the vehicles before it.
    pub fn of(vehicles: &[Member], index: usize, world: &System) -> Self {
        let (name, plant) = (&vehicles[index].name, &vehicles[index].plant);
        let mut names = HashMap::new();
        let place = |body: &str| (world.model.bodies()).position(|b| world.model.name(b) == body);
        let measurements = |system: &System| {
            let model = &system.model;
            Measurements::new(model, Measurements::tracked(model))
        };
        let (own, all) = (measurements(plant), measurements(world));
        for group in own.groups() {
            let body = name_in_world(name, plant.model.name(group.body));
            let same = (all.groups().iter()).find(|other| {
                world.model.name(other.body) == body && other.quantity == group.quantity
            });
            if let Some(other) = same {
                names.insert(other.name.clone(), group.name.clone());
            }
        }
        if plant.model.body_count() > 1 {
            for (i, body) in plant.model.bodies().enumerate() {
                let body = name_in_world(name, plant.model.name(body));
                let place = place(&body);
                if let Some(place) = place {
                    for part in ["position", "quaternion"] {
                        names.insert(format!("body.{place}.{part}"), format!("body.{i}.{part}"));
                    }
                }
            }
        }
        // What the vehicle itself touches and the air that it is in, not those of another one.
        if let Some(own) = Measurements::tracked(&plant.model) {
            let own = name_in_world(name, plant.model.name(own));
            let alone = Measurements::tracked(&world.model);
            let is_alone = alone.is_some_and(|body| world.model.name(body) == own);
            let group = place(&own).filter(|_| !is_alone);
            for name in ["contact", "wind"] {
                let group = group.map_or(name.to_owned(), |place| format!("{name}.{place}"));
                names.insert(group, name.to_owned());
            }
        } else {
            names.insert("wind".to_owned(), "wind".to_owned());
        }
        let before = &vehicles[..index];
        let rotors = |system: &System| system.inputs.rotors().as_slice().len();
        let motors = |system: &System| system.inputs.motors().len();
        for (kind, count) in [
            ("rotor", &rotors as &dyn Fn(&System) -> usize),
            ("motor", &motors),
        ] {
            let first: usize = before.iter().map(|vehicle| count(&vehicle.plant)).sum();
            for i in 0..count(plant) {
                names.insert(format!("{kind}.{}", first + i), format!("{kind}.{i}"));
            }
        }
        names.insert("battery".to_owned(), "battery".to_owned());
        let mut signals = Self(names);
        // Actuator health is numbered by command.
        for (place, command) in world.inputs.command_names().iter().enumerate() {
            let own = signals.own(command);
            let mut all = plant.inputs.command_names().iter();
            if let Some(i) = own.and_then(|own| all.position(|command| *command == own)) {
                let names = &mut signals.0;
                names.insert(format!("actuator.{place}"), format!("actuator.{i}"));
            }
        }
        signals
    }

    /// The vehicle's name of a signal of the world; `None` if the signal is not one of the vehicle's.
    pub fn own(&self, signal: &str) -> Option<String> {
        if let Some(name) = true_signal(signal) {
            return Some(truth(&self.own(name)?));
        }
        let (group, component) = signal.rsplit_once('.')?;
        Some(format!("{}.{component}", self.0.get(group)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FleetConfiguration;

    #[test]
    fn each_vehicle_has_its_own_numbers() {
        let fleet = FleetConfiguration::from_toml(
            "two",
            r#"
            flight = { duration = 1.0 }
            vehicles = [
                { name = "a", config = "quadcopter.toml" },
                { name = "b", config = "tricopter-load.toml" },
            ]
            world.bodies.load = { mass = 1.0, inertia = [1, 1, 1] }
            backend = { plugin = "sim" }
            "#,
        )
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
        let [a, b] = [0, 1].map(|i| Signals::of(&fleet.vehicles, i, &fleet.world));
        let own = |signals: &Signals, name: &str| signals.own(name).unwrap_or_default();
        assert_eq!(own(&a, "joint.0.translation.x"), "pose.position.x");
        assert_eq!(own(&a, "truth.joint.0.angular.z"), "truth.twist.angular.z");
        assert_eq!(own(&a, "rotor.3.thrust"), "rotor.3.thrust");
        assert_eq!(own(&a, "actuator.3.health"), "actuator.3.health");
        assert_eq!(
            own(&a, "truth.body.0.position.x"),
            "",
            "one body tells its pose itself"
        );
        assert_eq!(own(&b, "joint.1.quaternion.w"), "pose.quaternion.w");
        assert_eq!(own(&b, "joint.2.quaternion.w"), "joint.1.quaternion.w");
        assert_eq!(own(&a, "truth.contact.0.speed"), "truth.contact.speed");
        assert_eq!(own(&b, "truth.contact.1.speed"), "truth.contact.speed");
        assert_eq!(own(&b, "truth.contact.speed"), "");
        assert_eq!(own(&b, "truth.wind.1.z"), "truth.wind.z");
        assert_eq!(own(&b, "rotor.4.tilt"), "rotor.0.tilt");
        assert_eq!(own(&b, "actuator.5.health"), "actuator.1.health");
        assert_eq!(
            own(&b, "truth.body.2.position.x"),
            "truth.body.1.position.x"
        );
        for other in [
            "joint.0.translation.x",
            "joint.3.translation.x",
            "rotor.0.thrust",
        ] {
            assert_eq!(b.own(other), None, "{other}");
        }
    }
}
