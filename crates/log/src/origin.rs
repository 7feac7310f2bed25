//! What the log of another program says of its flight besides the ticks.

use serde::{Deserialize, Serialize};

/// What the log of another program says of its ticks, as a [`Recording`](crate::Recording) of it does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Origin {
    /// Parts that could not be read, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Notes on how the data was processed: a short name and a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<(String, String)>,
    /// The motors.
    pub motors: Option<Motors>,
}

/// Recorded motors of a ULog.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Motors {
    /// Number of motors.
    pub count: usize,
    /// Geometry of the motors, from the autopilot's parameters; empty unless the log has all of them.
    pub geometry: Vec<MotorGeometry>,
    /// Output in hover, a fraction, if the log contains it.
    pub hover: Option<f64>,
    /// The source of `hover`.
    pub hover_source: String,
    /// The source of the outputs.
    pub source: String,
}

/// A motor of the autopilot's control allocation. Often only directions are valid: many configurations have arms of
/// length 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct MotorGeometry {
    /// Forward of the centre of mass, body x (FLU), m or arbitrary unit.
    pub x: f64,
    /// Left of the centre of mass, body y (FLU), m or arbitrary unit.
    pub y: f64,
    /// Above the centre of mass, body z (FLU), m or arbitrary unit.
    #[serde(default)]
    pub z: f64,
    /// Direction of the thrust, a unit vector in the body frame (FLU).
    #[serde(default = "MotorGeometry::up")]
    pub axis: [f64; 3],
    /// Torque about the axis over thrust, m or arbitrary unit.
    pub yaw_ratio: f64,
}

impl MotorGeometry {
    /// Largest angle between the vertical and a motor that lifts: its cosine.
    const LIFTING: f64 = 0.5;

    /// The direction of most motors.
    const fn up() -> [f64; 3] {
        [0.0, 0.0, 1.0]
    }

    /// A motor that points up.
    pub const fn upright([x, y]: [f64; 2], yaw_ratio: f64) -> Self {
        Self {
            x,
            y,
            z: 0.0,
            axis: Self::up(),
            yaw_ratio,
        }
    }

    /// Whether it carries the vehicle in hover; a pusher of a vehicle that takes off vertically does not.
    pub fn lifts(&self) -> bool {
        self.axis[2] > Self::LIFTING
    }
}
