//! Where a row tells the true poses of a simulation.

use fly_hal::Description;
use fly_hal::signal::{TRUTH, group_names, truth};

use super::row::Row;

/// Indices of the true poses in a row's values.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    group: usize,
    pose: Option<[usize; 7]>,
    /// Of each body, with the name of its frame.
    bodies: Vec<(String, [usize; 7])>,
}

impl Truth {
    /// Of rows of these signals.
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
        let bodies = (0..).map_while(|i| {
            let name = format!("body.{i}");
            Some((truth(&name).replacen('.', "/", 1), pose(&name)?))
        });
        Self {
            group,
            pose: pose("pose"),
            bodies: bodies.collect(),
        }
    }

    /// Whether no row tells any.
    pub fn is_empty(&self) -> bool {
        self.pose.is_none() && self.bodies.is_empty()
    }

    /// Whether this row does.
    pub fn is_told(&self, row: &Row) -> bool {
        let status = row.groups.get(self.group);
        !self.is_empty() && status.is_some_and(|status| status.valid && status.stamp == row.time)
    }

    /// Pose of the tracked body.
    pub fn pose(&self, values: &[f64]) -> Option<[f64; 7]> {
        self.pose.map(|places| places.map(|place| values[place]))
    }

    /// Poses of all bodies, if there are several, with the names of their frames: `truth/body.{i}`.
    pub fn bodies(&self, values: &[f64]) -> impl Iterator<Item = (&str, [f64; 7])> {
        let bodies = self.bodies.iter();
        bodies.map(|(name, places)| (name.as_str(), places.map(|place| values[place])))
    }
}
