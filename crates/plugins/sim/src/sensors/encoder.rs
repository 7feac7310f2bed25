//! Encoders of joints with one degree of freedom.

/// Resolution of position (rad or m) and velocity (rad/s or m/s); 0: exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Encoder {
    pub(crate) resolutions: [f64; 2],
}

impl Encoder {
    /// Rounds position and velocity to the resolution.
    pub(crate) fn round(&self, values: &mut [f64]) {
        for (value, resolution) in values.iter_mut().zip(self.resolutions) {
            if resolution > 0.0 {
                *value = (*value / resolution).round() * resolution;
            }
        }
    }
}
