//! Joints that are released in flight.

use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{
    ActuatedDynamics, ActuatedDynamicsError, ContactIntegrator, JointRelease, System,
};

use crate::contacts::Contacts;

/// A system and its motion, with all that it takes to integrate it.
pub(crate) struct Stage {
    pub(crate) system: System,
    /// Configuration and velocity, then what the actuators do: thrusts (speeds of rotors with motors), tilts and efforts, in the order of the
    /// commands, the charge of a battery, and the bristles of contacts.
    pub(crate) motion: SystemState<f64>,
    pub(crate) dynamics: ActuatedDynamics,
    pub(crate) integrator: ContactIntegrator,
    /// For poses of bodies.
    pub(crate) workspace: Workspace<f64>,
}

impl Stage {
    /// In that configuration and with that velocity, both projected to closed loops, while the actuators do `actual`, its battery with that `charge` (0 to 1), among
    /// these contacts. `step` is the time of an integration step, s.
    pub(crate) fn new(
        system: System,
        mut motion: SystemState<f64>,
        actual: &[f64],
        [charge, step]: [f64; 2],
        contacts: &Contacts,
    ) -> Result<Self, ActuatedDynamicsError> {
        let mut dynamics = ActuatedDynamics::new(&system, step)?;
        dynamics.close_loops(&system, &mut motion, [&[], &[]])?;
        motion.velocity.extend_from_slice(actual);
        dynamics.start_servos(&system, &mut motion);
        dynamics.start_propulsion(&system, charge, &mut motion);
        contacts.start(&system, &mut dynamics, &mut motion);
        let mut rates = vec![0.0; motion.velocity.len()];
        dynamics.acceleration(&system, &motion, &mut rates[..system.model.dof()])?;
        // What the first frame tells, such as the voltage.
        dynamics.rates(&system, actual, &motion, &mut rates);
        let mut integrator = ContactIntegrator::new(&system.model);
        integrator.reserve(&motion);
        Ok(Self {
            workspace: Workspace::new(&system.model),
            system,
            motion,
            dynamics,
            integrator,
        })
    }
}

/// Joints that are released, one after another. Every stage of the flight is made before it.
#[derive(Default)]
pub(crate) struct Releases {
    all: Vec<ScheduledRelease>,
    /// How many have happened.
    count: usize,
}

struct ScheduledRelease {
    /// Since the start, s.
    time: f64,
    joint: String,
    /// From the stage before, and from the first one.
    from_previous: JointRelease,
    from_start: JointRelease,
    /// What follows; after the release the stage before.
    other: Stage,
}

impl Releases {
    /// Of a system that starts like this: the joints by name, with the times at which they are released (s), and what each makes of it.
    pub(crate) fn push(
        &mut self,
        start: &System,
        (time, joint): (f64, &str),
        before: &System,
        after: Stage,
    ) {
        self.all.push(ScheduledRelease {
            time,
            joint: joint.to_owned(),
            from_previous: JointRelease::new(before, &after.system),
            from_start: JointRelease::new(start, &after.system),
            other: after,
        });
    }

    /// Releases the joints whose time has come (s since the start); `watched` stay the same bodies. Does not allocate.
    pub(crate) fn advance(&mut self, time: f64, stage: &mut Stage, watched: &mut [BodyId]) {
        while let Some(next) = self.all.get_mut(self.count) {
            // Frames come every so many whole nanoseconds.
            if next.time > time + 1e-9 {
                return;
            }
            let after = &mut next.other;
            next.from_previous.apply(&stage.motion, &mut after.motion);
            after.dynamics.copy_environment(&stage.dynamics);
            std::mem::swap(stage, after);
            for body in &mut *watched {
                *body = next.from_previous.counterpart(*body);
            }
            self.count += 1;
        }
    }

    /// The way from the system of the start to that of now; `None` as long as it is the same.
    pub(crate) fn since_start(&self) -> Option<&JointRelease> {
        Some(&self.all[self.count.checked_sub(1)?].from_start)
    }

    /// The stage of the start, once it has been left.
    pub(crate) fn start(&self) -> Option<&Stage> {
        (self.count > 0).then(|| &self.all[0].other)
    }

    /// Brings the motion of the start's system up to that of the stage, except for released bodies.
    pub(crate) fn reduce(&mut self, stage: &Stage) {
        let Some(last) = self.count.checked_sub(1) else {
            return;
        };
        let (done, rest) = self.all.split_at_mut(last);
        let ScheduledRelease {
            from_start, other, ..
        } = &mut rest[0];
        // What was left first is kept with the first release.
        let first = done.first_mut().map_or(other, |first| &mut first.other);
        from_start.reduce(&stage.motion, &mut first.motion);
    }

    /// The released joints, with their scheduled times (s).
    pub(crate) fn released(&self) -> impl Iterator<Item = (&str, f64)> {
        (self.all[..self.count].iter()).map(|one| (one.joint.as_str(), one.time))
    }
}
