//! Small messages that others consist of.

use prost_types::Timestamp;

use crate::schema::foxglove;

/// Name of the world frame.
pub const WORLD: &str = "world";

/// The transform of a child frame in the world.
pub fn transform(time: u64, child: &str, at: &[f64; 7]) -> foxglove::FrameTransform {
    let pose = pose(at);
    foxglove::FrameTransform {
        timestamp: Some(timestamp(time)),
        parent_frame_id: WORLD.to_owned(),
        child_frame_id: child.to_owned(),
        translation: pose.position,
        rotation: pose.orientation,
    }
}

/// A pose in the world.
pub fn pose_in_world(time: u64, pose: foxglove::Pose) -> foxglove::PoseInFrame {
    foxglove::PoseInFrame {
        timestamp: Some(timestamp(time)),
        frame_id: WORLD.to_owned(),
        pose: Some(pose),
    }
}

/// Position, then quaternion w, x, y, z.
pub fn pose(pose: &[f64; 7]) -> foxglove::Pose {
    let [x, y, z, qw, qx, qy, qz] = *pose;
    foxglove::Pose {
        position: Some(vector([x, y, z])),
        orientation: Some(foxglove::Quaternion {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        }),
    }
}

/// A vector of three components.
pub const fn vector([x, y, z]: [f64; 3]) -> foxglove::Vector3 {
    foxglove::Vector3 { x, y, z }
}

/// Flight time as a protobuf time stamp, counted from 1970 as viewers expect.
pub fn timestamp(time: u64) -> Timestamp {
    Timestamp {
        seconds: i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX),
        nanos: (time % 1_000_000_000) as i32,
    }
}
