//! How the desired motion is formed, as a user names it.

use serde::Deserialize;

use crate::template::Approach;

/// What the controller makes of the errors.
///
/// The first three form the desired closed loop from the energies of pairs of bodies and fly anything. The others are baselines
/// for [whole systems](crate::system): what robotics textbooks do.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApproachSettings {
    /// Particle-based, Konz (5.18).
    Particle,
    /// Body-based, Konz (5.26).
    Body,
    /// Energy-based, Konz (5.56).
    #[default]
    Energy,
    /// Springs and dampers between joint coordinates, with the inertia of the model, Konz (5.60).
    JointPd,
    /// The same with every joint for itself and an inertia of 1, Konz (5.62).
    ComputedTorque,
    /// The same with a user-defined constant inertia for every joint: the linear closed loop of Konz (5.99) in every joint.
    Linear,
    /// Poles placed by linear state feedback about a reference at rest.
    StateFeedback,
    /// Geometric tracking control on SE(3), Lee 2010: for a vehicle of one body, like the next three.
    Lee,
    /// The simplified law on SE(3) of the simulator RotorPy.
    RotorpySe3,
    /// P position, PID velocity, P attitude, PID angular velocity, and a mixer.
    Cascade,
    /// Incremental nonlinear dynamic inversion.
    Indi,
}

impl ApproachSettings {
    /// Which template it is; `None` for the baselines.
    pub fn template(self) -> Option<Approach> {
        match self {
            Self::Particle => Some(Approach::Particle),
            Self::Body => Some(Approach::Body),
            Self::Energy => Some(Approach::Energy),
            Self::JointPd
            | Self::ComputedTorque
            | Self::Linear
            | Self::StateFeedback
            | Self::Lee
            | Self::RotorpySe3
            | Self::Cascade
            | Self::Indi => None,
        }
    }

    /// Whether its law drives angles that are single numbers to the reference's number, whole turns included; the others turn bodies the short way.
    pub fn counts_turns(self) -> bool {
        matches!(
            self,
            Self::JointPd | Self::ComputedTorque | Self::Linear | Self::StateFeedback
        )
    }

    /// Its name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Particle => "particle",
            Self::Body => "body",
            Self::Energy => "energy",
            Self::JointPd => "joint_pd",
            Self::ComputedTorque => "computed_torque",
            Self::Linear => "linear",
            Self::StateFeedback => "state_feedback",
            Self::Lee => "lee",
            Self::RotorpySe3 => "rotorpy_se3",
            Self::Cascade => "cascade",
            Self::Indi => "indi",
        }
    }
}

impl From<Approach> for ApproachSettings {
    fn from(approach: Approach) -> Self {
        match approach {
            Approach::Particle => Self::Particle,
            Approach::Body => Self::Body,
            Approach::Energy => Self::Energy,
        }
    }
}
