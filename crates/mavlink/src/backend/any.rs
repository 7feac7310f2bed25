//! A vehicle with its own autopilot, or a simulator for which this program is the autopilot.

use fly_hal::{
    Backend, Configuration, Deadline, Description, Emergency, Error, FrameMut, Info, Progress,
    ReadOutcome, Request,
};

use super::airframe::Airframe;
use super::hil::{self, HilVehicle};
use super::vehicle::MavlinkVehicle;

/// The type that a plugin exports; the key `command` selects one of the two.
pub struct AnyVehicle<A>(Kind<A>);

#[allow(clippy::large_enum_variant)] // there is one of them
enum Kind<A> {
    Vehicle(MavlinkVehicle<A>),
    Hil(HilVehicle<A>),
}

/// Forwards a call to the selected one.
macro_rules! either {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        match &$self.0 {
            Kind::Vehicle(vehicle) => vehicle.$call($($argument),*),
            Kind::Hil(vehicle) => vehicle.$call($($argument),*),
        }
    };
    (mut $self:ident.$call:ident($($argument:expr),*)) => {
        match &mut $self.0 {
            Kind::Vehicle(vehicle) => vehicle.$call($($argument),*),
            Kind::Hil(vehicle) => vehicle.$call($($argument),*),
        }
    };
}

impl<A: Airframe> Backend for AnyVehicle<A> {
    const INFO: Info = A::INFO;

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        Ok(Self(if hil::is_chosen(configuration)? {
            Kind::Hil(HilVehicle::configure(configuration)?)
        } else {
            Kind::Vehicle(MavlinkVehicle::configure(configuration)?)
        }))
    }

    fn description(&self) -> &Description {
        either!(self.description())
    }

    fn start(&mut self) -> Result<(), Error> {
        either!(mut self.start())
    }

    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        either!(mut self.read(deadline, frame))
    }

    fn write(&mut self, time: i64, commands: &[f64]) -> Result<(), Error> {
        either!(mut self.write(time, commands))
    }

    fn stop(&mut self) -> Result<(), Error> {
        either!(mut self.stop())
    }

    fn arm(&mut self) -> Result<(), Error> {
        either!(mut self.arm())
    }

    fn disarm(&mut self) -> Result<(), Error> {
        either!(mut self.disarm())
    }

    fn take_off(&mut self, height: f64) -> Result<(), Error> {
        either!(mut self.take_off(height))
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        either!(mut self.request(request))
    }

    fn poll(&mut self) -> Result<Progress, Error> {
        either!(mut self.poll())
    }

    fn emergency(&self) -> Option<Emergency> {
        either!(self.emergency())
    }

    fn report(&self) -> Vec<(String, String)> {
        either!(self.report())
    }
}
