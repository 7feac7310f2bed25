//! Where a row contains the true poses of a simulation.

use fly_hal::Description;
use fly_hal::signal::{TRUTH, group_names, truth};

use super::row::Row;

/// Indices of the true poses in a row's values.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    group: usize,
    pose: Option<[usize; 7]>,
    /// Pose of each body, if there are several.
    bodies: Vec<[usize; 7]>,
}

impl Truth {
    /// For rows with these signals.
    pub fn of(description: &Description) -> Self {
        let Some(group) = description.find_group(TRUTH) else {
            return Self::default();
        };
        let pose = |prefix: &str| {
            let groups = ["position", "quaternion"].map(|part| format!("{prefix}.{part}"));
            let names = groups.iter().flat_map(|group| group_names(group));
            let places: Option<Vec<usize>> = names
                .map(|name| description.value_index(&truth(&name)))
                .collect();
            <[usize; 7]>::try_from(places?).ok()
        };
        Self {
            group,
            pose: pose("pose"),
            bodies: (0..).map_while(|i| pose(&format!("body.{i}"))).collect(),
        }
    }

    /// Whether rows contain the pose of the tracked body.
    pub const fn has_pose(&self) -> bool {
        self.pose.is_some()
    }

    /// Number of body poses, which rows contain for systems of several bodies.
    pub const fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Whether this row contains the truth.
    pub fn is_available(&self, row: &Row) -> bool {
        let status = row.groups.get(self.group);
        status.is_some_and(|status| status.valid && status.stamp == row.time)
    }

    /// Pose of the tracked body.
    pub fn pose(&self, values: &[f64]) -> Option<[f64; 7]> {
        self.pose.map(|places| places.map(|place| values[place]))
    }

    /// Poses of all bodies, if there are several.
    pub fn bodies(&self, values: &[f64]) -> impl Iterator<Item = [f64; 7]> {
        let bodies = self.bodies.iter();
        bodies.map(|places| places.map(|place| values[place]))
    }
}
