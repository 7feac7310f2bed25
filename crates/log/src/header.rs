//! The header of a log, known before the first tick.

use fly_hal::Description;
use fly_mechanics::System;
use fly_mechanics::description::DescriptionError;
use toml::de::DeTable;

use crate::origin::Origin;

/// Configuration and backend of a flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlightHeader {
    /// Name of the flight, from its configuration's file name. Empty in logs of versions that did not write it.
    pub name: String,
    /// The resolved configuration, TOML.
    pub configuration: String,
    /// The vehicle's description, TOML.
    pub vehicle: String,
    /// Name of the vehicle: the child frame of `/tf`.
    pub vehicle_name: String,
    /// Name of the backend's plugin.
    pub backend: String,
    /// Ticks per second, Hz.
    pub rate_hz: f64,
    /// Seed of the flight.
    pub seed: u64,
    /// Time of the backend's clock at which the flight starts, ns; 0 in simulation.
    pub start: i64,
    /// Whether errors of angles [count whole turns](fly_mechanics::measurements::Measurements::counting_turns), as the controller's law does.
    pub counts_turns: bool,
    /// Of a log that was [converted](crate::convert): what the original says of its ticks.
    pub origin: Option<Origin>,
}

/// # The systems described
impl FlightHeader {
    /// The controller's model.
    ///
    /// # Errors
    /// The vehicle's description is missing or invalid, or of another version.
    pub fn model(&self) -> Result<System, DescriptionError> {
        System::from_toml(&self.vehicle)
    }

    /// The simulated plant, if the configuration describes a system other than the vehicle: the table `vehicle` in the
    /// backend's table. `None` without one, or if it cannot be read. Its bodies keep the order of the description, as the
    /// true values do.
    pub fn plant(&self) -> Option<System> {
        // Not written anew, which would sort the bodies by their names.
        let configuration = DeTable::parse(&self.configuration).ok()?;
        let own = configuration.get_ref().get("backend")?.get_ref();
        let vehicle = own.get(self.backend.as_str())?.get_ref().get("vehicle")?;
        System::from_table(vehicle.get_ref().as_table()?, vehicle.span()).ok()
    }
}

/// The header of a log: the flight, and shape and names of every array in its [rows](crate::Row).
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The flight.
    pub flight: FlightHeader,
    /// The signals: those of a frame in the order of [`Row::values`](crate::Row::values), the groups in the order of
    /// [`Row::groups`](crate::Row::groups), the commands in the order of [`Row::commands`](crate::Row::commands).
    pub description: Description,
    /// Length of [`Control::u0`](crate::Control::u0) and [`Control::u`](crate::Control::u).
    pub input_dim: usize,
    /// Bodies of a system, the child frames of `/tf` in the order of [`SystemState::poses`](crate::SystemState::poses);
    /// empty for a vehicle of one body.
    pub bodies: Vec<String>,
    /// Length of [`SystemState::configuration`](crate::SystemState::configuration); 0 for a vehicle of one body.
    pub config_dim: usize,
    /// Length of [`SystemState::velocity`](crate::SystemState::velocity); 0 for a vehicle of one body.
    pub dof: usize,
    /// Length of [`Control::disturbance`](crate::Control::disturbance); 0 without an observer.
    pub disturbance_dim: usize,
    /// The sensors that correct an estimate, in the order of the last values of
    /// [`Row::estimate`](crate::Row::estimate); `None` without an estimator.
    pub estimate: Option<Vec<String>>,
    /// Names of the modes, indexed by [`Row::mode`](crate::Row::mode).
    pub modes: Vec<String>,
    /// Names of the solvers, indexed by [`Control::solver`](crate::Control::solver).
    pub solvers: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the true poses of a simulation would be taken for those of other bodies.
    #[test]
    fn bodies_of_the_plant_stay_in_their_order() {
        let flight = FlightHeader {
            backend: "sim".into(),
            configuration: "
                [backend.sim.vehicle]
                name = 'plant'
                [backend.sim.vehicle.bodies.quadcopter]
                mass = 1
                inertia = [1, 1, 1]
                [backend.sim.vehicle.bodies.load]
                parent = 'quadcopter'
                joint = 'spherical'
                mass = 1
                inertia = [1, 1, 1]
                [backend.sim.vehicle.bodies.arm]
                parent = 'quadcopter'
                joint = 'fixed'"
                .into(),
            ..FlightHeader::default()
        };
        let plant = flight.plant().expect("a plant");
        let names: Vec<_> = (plant.model.bodies())
            .map(|body| plant.model.name(body))
            .collect();
        assert_eq!(names, ["quadcopter", "load", "arm"]);
        let other = FlightHeader {
            backend: "replay".into(),
            ..flight
        };
        assert!(other.plant().is_none());
    }
}
