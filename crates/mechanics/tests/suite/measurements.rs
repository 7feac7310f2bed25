//! What is measured of random systems, and back.

use crate::random_tree;

use std::f64::consts::TAU;

use fly_lie::operators::angular;
use fly_lie::{SE3, SO3};
use fly_mechanics::measurements::{Measurements, Quantity};
use fly_mechanics::multibody::{
    AngleCoordinates, AttitudeCoordinates, Body, BodyId, Joint, JointKind, Model, Workspace,
};
use nalgebra::{Vector3, Vector4, Vector6};
use random_tree::{KINDS, Random, state, tree};

fn all(measurements: &Measurements, model: &Model<f64>, x: &[f64], xi: &[f64]) -> Vec<f64> {
    let mut values = vec![f64::NAN; measurements.dim()];
    measurements.read(model, x, xi, &mut values);
    values
}

fn write_all(
    measurements: &Measurements,
    model: &Model<f64>,
    values: &[f64],
    x: &mut [f64],
    xi: &mut [f64],
) {
    for (index, group) in measurements.groups().iter().enumerate() {
        measurements.write(model, index, &values[group.range.clone()], x, xi);
    }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error < tolerance,
            "{what}: number {i} is {found}, expected {expected}"
        );
    }
}

/// The same attitudes, whatever the quaternions' signs: those of `values` like those of `like`.
fn like(measurements: &Measurements, values: &mut [f64], like: &[f64]) {
    for group in measurements.groups() {
        if group.quantity == Quantity::Quaternion {
            let quaternion = &mut values[group.range.clone()];
            let same: f64 = (quaternion.iter().zip(&like[group.range.clone()]))
                .map(|(a, b)| a * b)
                .sum();
            for q in quaternion {
                *q *= same.signum();
            }
        }
    }
}

/// Random trees, with one body in the world that is tracked or not.
fn systems() -> impl Iterator<Item = (Model<f64>, Measurements, Random)> {
    (0..60).map(|seed| {
        let model = tree(seed, 1 + seed % 12);
        let measurements = Measurements::new(&model, Measurements::tracked(&model));
        (model, measurements, Random::new(1000 + seed))
    })
}

#[test]
fn a_state_is_written_as_it_was_read() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut tracked = 0;
    for (model, measurements, mut random) in systems() {
        let (x, xi) = state(&model, &mut random);
        let values = all(&measurements, &model, &x, &xi);
        tracked += usize::from(
            measurements
                .groups()
                .first()
                .is_some_and(|g| g.name == "pose.position"),
        );
        for body in model.bodies() {
            kinds.insert(format!(
                "{:?}",
                std::mem::discriminant(model.joint(body).unwrap().kind())
            ));
        }

        // Onto itself, and onto a state nearby; quaternions and angles are those near the state that is written to.
        let (mut near, mut rates) = (x.clone(), xi.clone());
        write_all(&measurements, &model, &values, &mut near, &mut rates);
        assert_near(&near, &x, 1e-13, "x");
        assert_near(&rates, &xi, 1e-13, "xi");

        model.integrate(&mut near, &random.numbers(model.dof(), 0.5));
        let mut rates = random.numbers(model.dof(), 1.0);
        write_all(&measurements, &model, &values, &mut near, &mut rates);
        assert_near(&near, &x, 1e-12, "x from nearby");
        assert_near(&rates, &xi, 1e-12, "xi from nearby");

        // Written to any other state, the values read back are those written.
        let (mut other, mut rates) = state(&model, &mut random);
        write_all(&measurements, &model, &values, &mut other, &mut rates);
        let mut found = all(&measurements, &model, &other, &rates);
        like(&measurements, &mut found, &values);
        assert_near(&found, &values, 1e-12, "values");
    }
    assert_eq!(kinds.len(), KINDS, "every kind of joint was there");
    assert!(tracked > 3, "{tracked} were tracked");
}

#[test]
fn a_group_changes_nothing_of_the_others() {
    for (model, measurements, mut random) in systems() {
        let (x, xi) = state(&model, &mut random);
        let before = all(&measurements, &model, &x, &xi);
        let (y, eta) = state(&model, &mut random);
        let other = all(&measurements, &model, &y, &eta);
        let elsewhere = all(&measurements, &model, &x, &eta);
        for (index, group) in measurements.groups().iter().enumerate() {
            let (mut x, mut xi) = (x.clone(), xi.clone());
            // The possible velocities of a universal joint depend on where its axes are.
            let from = match group.quantity {
                Quantity::Angular => &elsewhere,
                _ => &other,
            };
            let numbers = &from[group.range.clone()];
            measurements.write(&model, index, numbers, &mut x, &mut xi);
            let mut found = all(&measurements, &model, &x, &xi);
            let mut expected = before.clone();
            expected[group.range.clone()].copy_from_slice(numbers);
            like(&measurements, &mut found, &expected);
            // A universal joint's angular velocity turns with its second angle while its rates stay.
            let kind = model.joint(group.body).unwrap().kind();
            if matches!(kind, JointKind::Universal { .. }) && group.quantity == Quantity::Quaternion
            {
                let angular = &measurements.groups()[index + 1];
                assert_eq!(
                    (angular.body, angular.quantity),
                    (group.body, Quantity::Angular)
                );
                expected[angular.range.clone()].copy_from_slice(&found[angular.range.clone()]);
            }
            assert_near(&found, &expected, 1e-12, &group.name);
        }
    }
}

/// The poses and twists of the bodies, by the recursion along the tree.
#[test]
fn numbers_are_poses_and_twists() {
    let mut checked = [0; 5];
    for (model, measurements, mut random) in systems() {
        let (x, xi) = state(&model, &mut random);
        let values = all(&measurements, &model, &x, &xi);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        for group in measurements.groups() {
            let (body, found) = (group.body, &values[group.range.clone()]);
            let joint = model.joint(body).unwrap();
            let parent = model.parent(body).unwrap();
            let index = model.bodies().position(|other| other == body).unwrap();
            let is_tracked = !group.name.starts_with("joint.");
            let absolute = joint.is_absolute();
            if !is_tracked {
                let prefix = format!("joint.{index}");
                assert!(group.name == prefix || group.name.starts_with(&format!("{prefix}.")));
            }
            let pose = if is_tracked {
                workspace.pose(BodyId::WORLD, body)
            } else {
                model.placement(body).unwrap().inverse() * workspace.pose(parent, body)
            };
            let base = if is_tracked { BodyId::WORLD } else { parent };
            let twist = workspace.twist(base, body);
            let expected: Vec<f64> = match group.quantity {
                Quantity::Translation => pose.translation.as_slice().to_vec(),
                Quantity::Quaternion => {
                    let rotation = if absolute {
                        workspace.pose(BodyId::WORLD, body).rotation
                    } else {
                        pose.rotation
                    };
                    let found = SO3::from_quaternion(&Vector4::from_column_slice(found));
                    assert!((found.matrix() - rotation.matrix()).amax() < 1e-12);
                    found.to_quaternion().as_slice().to_vec()
                }
                Quantity::Linear => twist.as_slice()[..3].to_vec(),
                Quantity::Angular if absolute => {
                    workspace.twist(BodyId::WORLD, body).as_slice()[3..].to_vec()
                }
                Quantity::Angular => twist.as_slice()[3..].to_vec(),
                Quantity::Joint => {
                    let axis = joint.axes().act(&Vector3::z());
                    let (along, speed) = match joint.kind() {
                        JointKind::Prismatic => (pose.translation, twist.fixed_rows::<3>(0)),
                        _ => (pose.rotation.log(), twist.fixed_rows::<3>(3)),
                    };
                    vec![axis.dot(&along), axis.dot(&speed)]
                }
            };
            let found = match group.quantity {
                Quantity::Quaternion => {
                    let q = Vector4::from_column_slice(found);
                    assert!((q.norm() - 1.0).abs() < 1e-14 && q[0] >= 0.0);
                    continue;
                }
                _ => found,
            };
            assert_near(found, &expected, 1e-12, &group.name);
            checked[match group.quantity {
                Quantity::Joint => 0,
                Quantity::Translation => 1,
                Quantity::Linear => 2,
                Quantity::Angular => 3,
                Quantity::Quaternion => 4,
            }] += 1;
        }
    }
    assert!(checked[..4].iter().all(|count| *count > 20), "{checked:?}");
}

#[test]
fn names_follow_the_bodies() {
    let on = |name: &str, joint| Body::new(name, joint);
    let axis = Vector3::x();
    let bodies = [
        on("drone", Joint::free()),
        on("hinge", Joint::revolute(axis).unwrap()).parent("drone"),
        on("plate", Joint::fixed()).parent("drone"),
        on("slider", Joint::prismatic(axis).unwrap()).parent("plate"),
        on("screw", Joint::screw(axis, 0.1).unwrap()).parent("drone"),
        on("shaft", Joint::cylindrical(axis).unwrap()).parent("drone"),
        on("cardan", Joint::universal(axis, Vector3::y()).unwrap()).parent("drone"),
        on("ball", Joint::absolute_spherical()).parent("drone"),
        on("loose", Joint::free()).parent("drone"),
    ];
    let model = (bodies.into_iter())
        .fold(
            Model::builder(),
            fly_mechanics::multibody::ModelBuilder::body,
        )
        .build()
        .unwrap();
    let names = |tracked| {
        let measurements = Measurements::new(&model, tracked);
        let names = measurements.groups().iter().map(|group| group.name.clone());
        names.collect::<Vec<_>>()
    };
    let tracked = Measurements::tracked(&model);
    assert_eq!(
        tracked,
        model.body_id("drone").ok(),
        "the loose one is on the drone"
    );
    let of_joints = [
        "joint.1",
        "joint.3",
        "joint.4",
        "joint.5.translation",
        "joint.5.quaternion",
        "joint.5.linear",
        "joint.5.angular",
        "joint.6.quaternion",
        "joint.6.angular",
        "joint.7.quaternion",
        "joint.7.angular",
        "joint.8.translation",
        "joint.8.quaternion",
        "joint.8.linear",
        "joint.8.angular",
    ];
    let first = [
        "pose.position",
        "pose.quaternion",
        "twist.linear",
        "twist.angular",
    ];
    assert_eq!(names(tracked), [&first[..], &of_joints[..]].concat());
    let in_its_joint = [
        "joint.0.translation",
        "joint.0.quaternion",
        "joint.0.linear",
        "joint.0.angular",
    ];
    let expected = [&in_its_joint[..], &of_joints[..]].concat();
    assert_eq!(names(None), expected);
    // What is not free in the world is not tracked.
    assert_eq!(names(model.body_id("loose").ok()), expected);
    assert_eq!(names(Some(BodyId::WORLD)), expected);
}

#[test]
fn two_free_bodies_are_tracked_by_name_only() {
    let two = Model::builder()
        .body(Body::new("a", Joint::free()))
        .body(Body::new("b", Joint::free()));
    let two = two.build().unwrap();
    assert_eq!(Measurements::tracked(&two), None);
    let b = two.body_id("b").unwrap();
    let measurements = Measurements::new(&two, Some(b));
    assert_eq!(measurements.groups()[0].body, b);
    assert_eq!(measurements.groups()[4].name, "joint.0.translation");
    assert_eq!(measurements.dim(), 26);
    let none = Model::builder().body(Body::new("a", Joint::fixed()));
    let none = none.build().unwrap();
    assert_eq!(Measurements::tracked(&none), None);
    assert_eq!(Measurements::new(&none, None).groups(), []);
}

#[test]
fn angles_count_their_turns_and_quaternions_keep_their_signs() {
    let axis = Vector3::new(1.0, 2.0, -0.5);
    let model = Model::builder()
        .body(Body::new("hinge", Joint::revolute(axis).unwrap()))
        .body(Body::new("planar", Joint::planar(axis).unwrap()))
        .body(Body::new(
            "cardan",
            Joint::universal(axis, Vector3::y()).unwrap(),
        ))
        .body(Body::new("ball", Joint::spherical().with_quaternion()));
    let model = model.build().unwrap();
    let measurements = Measurements::new(&model, None);
    let x = [100.0, 0.1, 0.2, -50.0, 20.0, 30.0, -0.8, 0.0, 0.6, 0.0];
    let xi = vec![0.0; model.dof()];
    let values = all(&measurements, &model, &x, &xi);
    assert_eq!(values[0], 100.0);
    let mut found = x;
    // As the state of a moment ago.
    for i in [0, 3, 4, 5] {
        found[i] += 3.0;
    }
    write_all(&measurements, &model, &values, &mut found, &mut xi.clone());
    assert_near(&found, &x, 1e-12, "x");
}

/// Small errors are the same either way; of a whole turn only the one that counts turns knows.
#[test]
fn errors_count_whole_turns_where_they_are_asked_to() {
    let mut turned = 0;
    for (model, measurements, mut random) in systems() {
        let (x, _) = state(&model, &mut random);
        let counting = measurements.clone().counting_turns(true);
        let mut near = x.clone();
        model.integrate(&mut near, &random.numbers(model.dof(), 1e-6));
        let (plain, counted) = (
            measurements.errors(&model, &x, &near),
            counting.errors(&model, &x, &near),
        );
        assert_near(&counted, &plain, 1e-11, "small errors");

        for body in model.bodies() {
            let joint = model.joint(body).unwrap();
            let counts = match joint.kind() {
                JointKind::Revolute(AngleCoordinates::Angle) => 0..1,
                JointKind::Cylindrical(AngleCoordinates::Angle) => 1..2,
                JointKind::Universal { .. } => 0..2,
                _ => continue,
            };
            for place in counts {
                let mut reference = x.clone();
                reference[model.config_range(body).start + place] += 3.0 * TAU;
                let plain = measurements.errors(&model, &x, &reference);
                assert_near(&plain, &[0.0; 2], 1e-6, "the pose is the same");
                let counted = counting.errors(&model, &x, &reference);
                assert_near(&counted, &[0.0, 3.0 * TAU], 1e-12, "three turns");
                let [_, way] = counting.body_error(&model, body, &x, &reference);
                let mut xi = vec![0.0; model.dof()];
                xi[model.velocity_range(body).start + place] = 3.0 * TAU;
                let range = model.config_range(body);
                let twist = joint.twist(&x[range], &xi[model.velocity_range(body)]);
                assert_near(
                    way.as_slice(),
                    angular(&twist).as_slice(),
                    1e-12,
                    "its axis",
                );
                turned += 1;
            }
        }
    }
    assert!(turned > 50, "{turned} angles");
}

#[test]
fn a_quaternion_may_have_any_length_but_none() {
    let model = Model::builder().body(Body::new("ball", Joint::spherical()));
    let model = model.build().unwrap();
    let measurements = Measurements::new(&model, None);
    let rotation = SO3::exp(&Vector3::new(0.3, -0.2, 0.9));
    let long = rotation.to_quaternion() * 1.01;
    let (mut x, mut xi) = (model.neutral_configuration(), vec![0.0; 3]);
    measurements.write(&model, 0, long.as_slice(), &mut x, &mut xi);
    assert_near(&x, rotation.matrix().as_slice(), 1e-15, "attitude");
    measurements.write(&model, 0, &[0.0; 4], &mut x, &mut xi);
    assert_near(&x, rotation.matrix().as_slice(), 1e-15, "attitude");
}

/// Every kind of joint in every coordinates.
fn joints() -> Vec<Joint<f64>> {
    let mut random = Random::new(5);
    (0..40 * KINDS).map(|i| random.joint(i % KINDS)).collect()
}

/// A configuration of a single joint, and the model that gives it.
fn alone(joint: Joint<f64>) -> Model<f64> {
    Model::builder()
        .body(Body::new("body", joint))
        .build()
        .unwrap()
}

#[test]
fn coordinates_invert_the_pose_and_velocities_the_twist() {
    let mut random = Random::new(6);
    for joint in joints() {
        let model = alone(joint);
        let (x, xi) = state(&model, &mut random);
        let (mut y, mut eta) = state(&model, &mut random);
        joint.coordinates(&joint.pose(&x), &mut y);
        let (found, expected) = (joint.pose(&y), joint.pose(&x));
        assert!(
            (found.matrix() - expected.matrix()).amax() < 1e-13,
            "{joint:?}"
        );
        let mut near = x.clone();
        model.integrate(&mut near, &random.numbers(model.dof(), 0.3));
        joint.coordinates(&joint.pose(&x), &mut near);
        assert_near(&near, &x, 1e-12, &format!("{joint:?}"));
        joint.velocities(&x, &joint.subspace(&x).twist(&xi), &mut eta);
        assert_near(&eta, &xi, 1e-12, &format!("{joint:?}"));
    }
}

/// Of a pose that it cannot reach: no other angle of a joint about one axis is nearer to the rotation, and a universal joint's second angle is
/// the best beside its first.
#[test]
fn coordinates_are_the_nearest() {
    let mut random = Random::new(7);
    let mut checked = 0;
    for joint in joints() {
        let model = alone(joint);
        let (mut x, _) = state(&model, &mut random);
        let pose: SE3<f64> = random.pose();
        joint.coordinates(&pose, &mut x);
        let distance =
            |x: &[f64]| (joint.pose(x).rotation.matrix() - pose.rotation.matrix()).norm_squared();
        let least = distance(&x);
        let angles: &[usize] = match joint.kind() {
            JointKind::Revolute(AngleCoordinates::Angle) | JointKind::Screw { .. } => &[0],
            JointKind::Cylindrical(AngleCoordinates::Angle) | JointKind::Universal { .. } => &[1],
            JointKind::Planar(AngleCoordinates::Angle) => &[2],
            JointKind::Schoenflies(AngleCoordinates::Angle) => &[3],
            _ => &[],
        };
        for angle in angles {
            for k in 1..16 {
                let mut other = x.clone();
                other[*angle] += f64::from(k) * std::f64::consts::TAU / 16.0;
                assert!(distance(&other) > least + 1e-3, "{joint:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000);
}

#[test]
fn no_finite_numbers_make_them_panic() {
    let mut random = Random::new(8);
    let sizes = [0.0, 1e-320, 1e-160, 1.0, 1e160, f64::MAX];
    for joint in joints() {
        let model = alone(joint);
        let (start, _) = state(&model, &mut random);
        for size in sizes {
            let mut numbers = |n| random.numbers(n, size);
            let rotation = nalgebra::Matrix3::from_column_slice(&numbers(9));
            let translation = Vector3::from_column_slice(&numbers(3));
            let pose = SE3::new(SO3::from_matrix(rotation), translation);
            let twist = Vector6::from_column_slice(&numbers(6));
            let (mut x, mut xi) = (start.clone(), vec![0.0; model.dof()]);
            joint.coordinates(&pose, &mut x);
            joint.velocities(&start, &twist, &mut xi);
            let mut x = numbers(model.config_dim());
            joint.coordinates(&pose, &mut x);
        }
        // A half turn about a perpendicular axis does not determine the angle.
        let across = joint.axes().act(&Vector3::x());
        let half = SO3::exp(&(across * std::f64::consts::PI));
        let mut x = start.clone();
        joint.coordinates(&SE3::new(half, Vector3::zeros()), &mut x);
        assert!(x.iter().all(|x| x.is_finite()), "{joint:?}");
    }
    // An invalid configuration is refused as an initial guess.
    let hinge = Joint::<f64>::revolute(Vector3::z()).unwrap();
    for start in [f64::NAN, f64::INFINITY] {
        let mut x = [start];
        hinge.coordinates(&hinge.pose(&[0.5]), &mut x);
        assert_near(&x, &[0.5], 1e-15, "angle");
    }
}

#[test]
fn nothing_is_allocated() {
    for (model, measurements, mut random) in systems() {
        let (mut x, mut xi) = state(&model, &mut random);
        let mut values = vec![0.0; measurements.dim()];
        let allocations = fly_testing::allocations(|| {
            measurements.read(&model, &x, &xi, &mut values);
            write_all(&measurements, &model, &values, &mut x, &mut xi);
        });
        assert_eq!(allocations, 0);
    }
}

#[test]
fn every_coordinate_is_measured_both_ways() {
    let both = |joint: Joint<f64>| [joint, joint.with_cos_sin(), joint.with_quaternion()];
    let attitude = |kind: &JointKind<f64>| match kind {
        JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) | JointKind::Free(a) => Some(*a),
        _ => None,
    };
    let joints: Vec<_> = joints().into_iter().flat_map(both).collect();
    for kind in [AttitudeCoordinates::Matrix, AttitudeCoordinates::Quaternion] {
        assert!(
            joints
                .iter()
                .any(|joint| attitude(joint.kind()) == Some(kind))
        );
    }
    for joint in joints {
        let model = alone(joint);
        let measurements = Measurements::new(&model, None);
        let dims = measurements
            .groups()
            .iter()
            .map(|group| group.quantity.dim());
        assert_eq!(dims.sum::<usize>(), measurements.dim());
        assert_eq!(measurements.dim() == 0, joint.dof() == 0);
    }
}

#[test]
fn the_tracked_body_alone_is_translated_in_the_world() {
    let by = Vector3::new(0.5, -2.0, 3.0);
    for (model, measurements, mut random) in systems() {
        let (x, xi) = state(&model, &mut random);
        let mut moved = x.clone();
        measurements.translate(&model, &by, &mut moved);
        let mut expected = all(&measurements, &model, &x, &xi);
        if Measurements::tracked(&model).is_some() {
            for (value, by) in expected.iter_mut().zip(&by) {
                *value += by;
            }
        }
        let found = all(&measurements, &model, &moved, &xi);
        assert_near(&found, &expected, 1e-12, "values");
    }
}
