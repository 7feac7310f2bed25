//! The table `[backend.replay]`.

use fly_hal::Spanned;
use serde::Deserialize;

/// The settings of a replay.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The recorded flight: a log of this program or a PX4 ULog. Required.
    pub log: Option<Spanned<String>>,
    /// Start here, s after the first frame. Default: 0.
    pub from: Option<Spanned<f64>>,
    /// End here, s after the first frame. Default: the last frame.
    pub until: Option<Spanned<f64>>,
    /// Replay the whole frames of a truncated or damaged log. Default: false, such a log is an error.
    #[serde(default)]
    pub allow_truncated: bool,
    /// Memory that reading the log may take, MB. Default: 512. A log takes a fraction of it, however long it is, unless it is made to take more.
    pub memory_mb: Option<Spanned<u32>>,
    /// How recorded motors of a ULog become thrusts.
    #[serde(default)]
    pub motors: MotorSettings,
}

/// The table `[backend.replay.motors]`: needed only if the log has not enough data.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotorSettings {
    /// Maximum thrust of one recorded motor, N. Default: such that the recorded hover output carries the weight of the
    /// configured vehicle; without a recorded hover output, the maximum thrust of the configured rotors.
    pub thrust_max: Option<Spanned<f64>>,
    /// Output at which the recorded vehicle hovers, 0 to 1. Default: as the log says.
    pub hover: Option<Spanned<f64>>,
    /// For every rotor of the configured vehicle, the recorded motor that is compared with it (PX4's order: 0 front
    /// right, 1 rear left, 2 front left, 3 rear right). Default: by the wrench, see the crate's documentation.
    pub order: Option<Spanned<Vec<usize>>>,
}
