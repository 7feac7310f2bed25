//! What a frame says of the vehicle's state, group by group, and whether it can be believed.

use fly_hal::Frame;
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use nalgebra::{Vector3, Vector4, Vector6};

use super::binding::{ANGULAR, Binding, LINEAR, POSITION, QUATERNION};
use super::supervisor::Fault;

/// How far the length of a quaternion may be from 1: sensors round to single precision or send 16-bit numbers, both of
/// which stay below; what is further off is not an attitude.
pub const UNIT_TOLERANCE: f64 = 1e-2;

/// The four groups of one frame.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// For each group in the order of [`STATE_GROUPS`](super::binding::STATE_GROUPS): whether it can be believed.
    pub groups: [Result<(), Fault>; 4],
    /// When each was measured, ns.
    pub stamps: [i64; 4],
    position: Vector3<f64>,
    rotation: SO3<f64>,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl Observation {
    /// Reads a frame at `time` (ns), in which groups older than `stale_after` (ns) are not believed.
    pub fn new(binding: &Binding, frame: &Frame, time: i64, stale_after: i64) -> Self {
        let mut rotation = SO3::identity();
        let groups = std::array::from_fn(|index| {
            let group = &binding.state[index];
            let status = frame.groups[group.group];
            if !status.valid {
                return Err(Fault::Invalid(group.group));
            }
            // Taken for known, it would shut out every later measurement.
            if status.stamp > time {
                return Err(Fault::Early(group.group));
            }
            if time.saturating_sub(status.stamp) > stale_after {
                return Err(Fault::Stale(group.group));
            }
            if !group.is_finite(&frame.values) {
                return Err(Fault::NonFinite(group.group));
            }
            if index == QUATERNION {
                let quaternion = Vector4::from(group.quaternion(&frame.values));
                let norm = quaternion.norm();
                if (norm - 1.0).abs() > UNIT_TOLERANCE {
                    return Err(Fault::NotUnit(group.group));
                }
                rotation = SO3::from_quaternion(&(quaternion / norm));
            }
            Ok(())
        });
        let vector = |index: usize| Vector3::from(binding.state[index].vector(&frame.values));
        Self {
            groups,
            stamps: binding.state.map(|group| frame.groups[group.group].stamp),
            position: vector(POSITION),
            rotation,
            linear: vector(LINEAR),
            angular: vector(ANGULAR),
        }
    }

    /// Whether the whole state can be believed.
    ///
    /// # Errors
    /// The first fault of the frame.
    pub fn verdict(&self) -> Result<(), Fault> {
        self.groups.iter().try_for_each(|group| *group)
    }

    /// The measured state. Means something only when the [verdict](Self::verdict) is good.
    pub fn state(&self) -> State<f64> {
        let mut twist = Vector6::zeros();
        twist.fixed_rows_mut::<3>(0).copy_from(&self.linear);
        twist.fixed_rows_mut::<3>(3).copy_from(&self.angular);
        State {
            pose: SE3::new(self.rotation, self.position),
            twist,
        }
    }

    /// `predicted` with every group replaced that can be believed and is newer than `known` (stamps in ns), which is
    /// brought up to date.
    pub fn correct(&self, predicted: &State<f64>, known: &mut [i64; 4]) -> State<f64> {
        let mut state = *predicted;
        let groups = self.groups.iter().zip(&self.stamps).zip(known).enumerate();
        for (index, ((group, stamp), known)) in groups {
            if group.is_err() || *stamp <= *known {
                continue;
            }
            *known = *stamp;
            match index {
                POSITION => state.pose.translation = self.position,
                QUATERNION => state.pose.rotation = self.rotation,
                LINEAR => state.twist.fixed_rows_mut::<3>(0).copy_from(&self.linear),
                _ => state.twist.fixed_rows_mut::<3>(3).copy_from(&self.angular),
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use fly_hal::{Description, GroupStatus};

    use super::*;

    const STALE: i64 = 100;

    fn binding() -> (Binding, Frame) {
        let description = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .iter()
        .try_fold(Description::new(), |description, group| {
            description.with_group(group)
        })
        .expect("canonical");
        let binding = Binding::new("test", &description, &[]).expect("complete");
        let mut frame = description.frame();
        frame.values.copy_from_slice(&[
            1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
        ]);
        frame.groups.fill(GroupStatus {
            stamp: 1000,
            valid: true,
        });
        (binding, frame)
    }

    fn verdict(change: impl FnOnce(&mut Frame)) -> Result<(), Fault> {
        let (binding, mut frame) = binding();
        change(&mut frame);
        Observation::new(&binding, &frame, 1000, STALE).verdict()
    }

    #[test]
    fn each_way_of_being_wrong_is_found() {
        assert_eq!(verdict(|_| {}), Ok(()));
        assert_eq!(
            verdict(|frame| frame.groups[2].valid = false),
            Err(Fault::Invalid(2))
        );
        assert_eq!(
            verdict(|frame| frame.groups[3].stamp = 1000 - STALE),
            Ok(())
        );
        assert_eq!(
            verdict(|frame| frame.groups[3].stamp = 999 - STALE),
            Err(Fault::Stale(3))
        );
        for stamp in [1001, i64::MAX] {
            assert_eq!(
                verdict(|frame| frame.groups[1].stamp = stamp),
                Err(Fault::Early(1))
            );
        }
        assert_eq!(
            verdict(|frame| frame.groups[1].stamp = i64::MIN),
            Err(Fault::Stale(1))
        );
        for (value, group) in [(0, 0), (2, 0), (6, 1), (7, 2), (12, 3)] {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!(
                    verdict(|frame| frame.values[value] = bad),
                    Err(Fault::NonFinite(group))
                );
            }
        }
        assert_eq!(
            verdict(|frame| frame.values[3] = 0.98),
            Err(Fault::NotUnit(1))
        );
        assert_eq!(
            verdict(|frame| frame.values[3] = 0.0),
            Err(Fault::NotUnit(1))
        );
        assert_eq!(verdict(|frame| frame.values[3] = -1.005), Ok(()));
    }

    #[test]
    fn quaternions_are_normalised_within_the_tolerance() {
        let (binding, mut frame) = binding();
        let (sin, cos) = 0.4_f64.sin_cos();
        frame.values[3..7].copy_from_slice(&[1.004 * cos, 0.0, 0.0, 1.004 * sin]);
        let state = Observation::new(&binding, &frame, 1000, STALE).state();
        let turned = state.pose.rotation.act(&Vector3::x());
        assert!((turned - Vector3::new(0.8_f64.cos(), 0.8_f64.sin(), 0.0)).norm() < 1e-15);
        assert_eq!(state.pose.translation, Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(state.twist, Vector6::new(4.0, 5.0, 6.0, 7.0, 8.0, 9.0));
    }

    #[test]
    fn only_new_and_valid_groups_correct_a_prediction() {
        let (binding, mut frame) = binding();
        frame.groups[1].valid = false;
        frame.groups[2].stamp = 950;
        let mut known = [900, 900, 950, 999];
        let predicted = State::at_rest(SE3::new(
            SO3::exp(&Vector3::new(0.0, 0.0, 1.0)),
            Vector3::zeros(),
        ));
        let state = Observation::new(&binding, &frame, 1000, STALE).correct(&predicted, &mut known);
        assert_eq!(state.pose.translation, Vector3::new(1.0, 2.0, 3.0), "new");
        assert_eq!(state.pose.rotation, predicted.pose.rotation, "invalid");
        assert_eq!(
            state.twist,
            Vector6::new(0.0, 0.0, 0.0, 7.0, 8.0, 9.0),
            "the linear velocity is known already"
        );
        assert_eq!(known, [1000, 900, 950, 1000]);
    }

    #[test]
    fn a_stamp_of_the_future_shuts_out_nothing() {
        let (binding, mut frame) = binding();
        frame.groups[0].stamp = i64::MAX;
        let mut known = [900; 4];
        let predicted = State::at_rest(SE3::identity());
        let state = Observation::new(&binding, &frame, 1000, STALE).correct(&predicted, &mut known);
        assert_eq!(state.pose.translation, Vector3::zeros());
        assert_eq!(known[0], 900);
    }
}
