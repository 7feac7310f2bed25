//! Why nothing can follow a trajectory at an instant.

/// Why nothing can follow a trajectory at an instant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Infeasible {
    /// No attitude follows from the motion: the thrust that it needs is too small, or parallel to the body's side direction.
    #[error(
        "at {time:.2} s the motion needs a specific thrust of {thrust:.2} m/s^2: expected more than {least} (free fall defines no attitude), in \
         another direction than that of the body's side"
    )]
    NoAttitude {
        /// When, s.
        time: f64,
        /// The specific thrust that the motion needs then, m/s^2.
        thrust: f64,
        /// How much it must be, m/s^2.
        least: f64,
    },
    /// No configuration takes the body where it should be.
    #[error(
        "at {time} s `{body}` cannot reach its target: the nearest configuration found leaves {distance:.2e} (m, rad)"
    )]
    Unreachable {
        /// When, s.
        time: f64,
        /// The body.
        body: String,
        /// What is left.
        distance: f64,
    },
    /// What rolls would have to slip.
    #[error(
        "at {time:.2} s the motion slips by {speed:.2e} (m/s, rad/s): expected one along which everything rolls, such as a path of a point that does not go sideways"
    )]
    Slips {
        /// When, s.
        time: f64,
        /// How fast.
        speed: f64,
    },
    /// A path stands still, and so points nowhere.
    #[error(
        "at {time:.2} s the path moves at {speed:.2e} m/s: expected at least {least:e} m/s, as its direction is the heading"
    )]
    StandsStill {
        /// When, s.
        time: f64,
        /// How fast it moves, m/s.
        speed: f64,
        /// How fast it must move, m/s.
        least: f64,
    },
    /// The Jacobian of the body is singular.
    #[error(
        "at {time} s the Jacobian of `{body}` is singular: lead the target around this configuration"
    )]
    Singular {
        /// When, s.
        time: f64,
        /// The body.
        body: String,
    },
}
