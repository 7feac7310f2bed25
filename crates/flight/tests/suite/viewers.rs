//! What logs hold for viewers: named frames, shapes and joints, placed by forward kinematics.

use std::collections::{BTreeMap, BTreeSet};

use fly_flight::config::Configuration;
use fly_flight::{Flight, McapFile, Verdict, backend};
use fly_lie::{SE3, SO3};
use fly_log::schema::{fly, foxglove};
use fly_log::{Messages, Options};
use fly_mechanics::System;
use fly_mechanics::multibody::BodyId;
use fly_mechanics::scene::BodyPoses;
use fly_plugin_sim::Simulation;
use prost::Message;

use crate::common::configuration;

/// The names and poses of frames.
type Frames = Vec<(String, [f64; 7])>;

/// Every message of a log, by its topic, with its time.
struct Log {
    messages: BTreeMap<String, Vec<(u64, Vec<u8>)>>,
    folder: tempfile::TempDir,
}

impl Log {
    fn of(configuration: &Configuration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flight.mcap");
        let mut sink = McapFile::new(path.clone());
        let world = backend::configure::<Simulation>(configuration, false).unwrap();
        let summary = Flight::new(configuration, world, &mut sink).unwrap().run();
        assert_eq!(summary.verdict, Verdict::Flown);
        let mut log = Messages::open(&path, &Options::default()).unwrap();
        let mut messages: BTreeMap<String, Vec<_>> = BTreeMap::new();
        while let Some(message) = log.read().unwrap() {
            let of_topic = messages.entry(message.topic.to_owned()).or_default();
            of_topic.push((message.time, message.data.to_vec()));
        }
        Self { messages, folder }
    }

    fn all<M: Message + Default>(&self, topic: &str) -> Vec<(u64, M)> {
        let messages = self.messages.get(topic);
        let messages = messages.unwrap_or_else(|| panic!("{topic} of {:?}", self.topics()));
        let decode = |(time, data): &(u64, Vec<u8>)| (*time, M::decode(&data[..]).unwrap());
        messages.iter().map(decode).collect()
    }

    fn topics(&self) -> BTreeSet<&str> {
        self.messages.keys().map(String::as_str).collect()
    }

    /// Names and poses of all frames of a message.
    fn frames(&self, topic: &str) -> Vec<(u64, Frames)> {
        let all = self.all::<foxglove::FrameTransforms>(topic);
        let poses = |message: foxglove::FrameTransforms| {
            let transforms = message.transforms.into_iter();
            let pose = |frame: foxglove::FrameTransform| {
                assert_eq!(frame.parent_frame_id, "world");
                let (r, q) = (frame.translation.unwrap(), frame.rotation.unwrap());
                (frame.child_frame_id, [r.x, r.y, r.z, q.w, q.x, q.y, q.z])
            };
            transforms.map(pose).collect()
        };
        all.into_iter()
            .map(|(time, message)| (time, poses(message)))
            .collect()
    }

    /// The shapes' frames of a topic with one message.
    fn shapes(&self, topic: &str) -> BTreeMap<String, foxglove::SceneEntity> {
        let mut all = self.all::<foxglove::SceneUpdate>(topic);
        assert_eq!(all.len(), 1, "{topic}");
        let entities = all.remove(0).1.entities;
        (entities.into_iter())
            .map(|entity| (entity.frame_id.clone(), entity))
            .collect()
    }
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

/// The log shows the load, although the controller's model has one body only.
#[test]
fn a_load_that_the_controller_does_not_know_is_in_the_log() {
    let configuration = configuration("tricopter-load.toml", &["flight.duration=1.0"]);
    let log = Log::of(&configuration);
    let names = ["truth/airframe", "truth/load"];
    let shapes = log.shapes("/truth/scene");
    assert!(shapes.keys().eq(&names), "{:?}", shapes.keys());
    assert!(!shapes["truth/load"].cubes.is_empty(), "the load has a box");
    assert!(log.shapes("/scene").keys().eq(["tricopter"]));
    assert!(
        log.shapes("/reference/scene")
            .keys()
            .eq(["reference/tricopter"])
    );

    // 50 Hz of the 500 of the flight, both ends of a second included.
    let truth = log.frames("/truth/tf");
    assert_eq!(truth.len(), 51);
    assert_eq!(log.frames("/reference/tf").len(), 51);
    let text = configuration.document.table("backend.sim.vehicle").unwrap();
    let plant = System::from_toml(text.text()).unwrap();
    // Where the load is: the ball joint 0.1 m below the airframe's origin, by hand.
    let joint = plant.model.placement(plant.model.body_id("load").unwrap());
    let offset = joint.unwrap().translation;
    for (time, frames) in &truth {
        assert!(frames.iter().map(|(name, _)| name).eq(&names), "{time}");
        let [airframe, load] = [0, 1].map(|i| frames[i].1);
        let turn = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(
            airframe[3],
            airframe[4],
            airframe[5],
            airframe[6],
        ));
        let hung = turn * offset + nalgebra::Vector3::from_column_slice(&airframe[..3]);
        assert!(near(hung.as_slice(), &load[..3], 1e-12), "{time}");
    }
    // It swings: the first pose differs from the last.
    let swing = |i: usize| truth[i].1[1].1;
    assert!(!near(&swing(0)[3..], &swing(50)[3..], 1e-3));
    // The airframe's pose equals that of the pose topic.
    for (time, pose) in log.all::<foxglove::PoseInFrame>("/truth/pose") {
        if let Some((_, frames)) = truth.iter().find(|(at, _)| *at == time) {
            let at = pose.pose.unwrap().position.unwrap();
            assert_eq!([at.x, at.y, at.z], frames[0].1[..3]);
        }
    }
    // Three rotors thrust.
    let forces = log.all::<foxglove::SceneUpdate>("/forces");
    let (_, last) = forces.last().unwrap();
    let arrows = last.entities.iter().map(|entity| entity.arrows.len());
    assert_eq!(arrows.sum::<usize>(), 3);
    assert!(
        last.entities
            .iter()
            .all(|entity| entity.frame_id == "truth/airframe")
    );
    drop(log.folder);
}

/// The frames of a plant whose bodies are not listed in alphabetical order have the poses of their own bodies.
#[test]
fn every_true_frame_is_that_of_its_body() {
    let configuration = configuration(
        "examples/tricopter-eight-bodies.toml",
        &["flight.duration=0.1"],
    );
    let log = Log::of(&configuration);
    let text = configuration.document.table("backend.sim.vehicle").unwrap();
    let model = System::from_toml(text.text()).unwrap().model;
    let (_, frames) = log.frames("/truth/tf").pop().unwrap();
    let pose = |body: BodyId| {
        let name = format!("truth/{}", model.name(body));
        let (_, found) = frames.iter().find(|(frame, _)| *frame == name).unwrap();
        let [x, y, z, w, i, j, k] = *found;
        SE3::new(
            SO3::from_quaternion(&nalgebra::Vector4::new(w, i, j, k)),
            nalgebra::Vector3::new(x, y, z),
        )
    };
    assert_eq!(frames.len(), 8);
    for body in model.bodies().skip(1) {
        let parent = model.parent(body).unwrap();
        // Joints turn about their own origin.
        let seen = pose(parent).inverse() * pose(body);
        let expected = model.placement(body).unwrap().translation;
        let name = model.name(body);
        assert!(
            near(seen.translation.as_slice(), expected.as_slice(), 1e-12),
            "{name}: {} {expected}",
            seen.translation
        );
    }
    drop(log.folder);
}

/// State, reference and truth of a six-body arm: each body's pose follows from the coordinates beside it.
#[test]
fn the_frames_of_a_system_are_its_forward_kinematics() {
    let configuration = configuration("examples/arm-joints.toml", &["flight.duration=0.3"]);
    let log = Log::of(&configuration);
    let system = &configuration.system;
    let names: Vec<&str> = system
        .model
        .bodies()
        .map(|body| system.model.name(body))
        .collect();
    let mut kinematics = BodyPoses::new(system);
    for (topic, motion, prefix, every) in [
        ("/tf", "/fly/system/state", "", 1),
        ("/reference/tf", "/fly/system/reference", "reference/", 10),
    ] {
        let frames = log.frames(topic);
        let motion = log.all::<fly::SystemMotion>(motion);
        assert_eq!(frames.len(), motion.len().div_ceil(every), "{topic}");
        for (time, frames) in &frames {
            let prefixed = names.iter().map(|name| format!("{prefix}{name}"));
            assert!(frames.iter().map(|(name, _)| name.clone()).eq(prefixed));
            let (_, motion) = motion.iter().find(|(at, _)| at == time).unwrap();
            let poses = kinematics.of(&motion.configuration).unwrap();
            for ((name, found), expected) in frames.iter().zip(poses) {
                assert!(near(found, expected, 1e-12), "{topic} {time} {name}");
            }
        }
    }
    let shapes = log.shapes("/truth/scene");
    assert!(
        names
            .iter()
            .all(|name| shapes.contains_key(&format!("truth/{name}")))
    );
    let third = &system.joints[2].name;
    // Named joints with the motors' commands.
    let joints = log.all::<foxglove::JointStates>("/joints");
    let motion = log.all::<fly::SystemMotion>("/fly/system/state");
    let (time, last) = joints.last().unwrap();
    let (_, motion) = motion.iter().find(|(at, _)| at == time).unwrap();
    let arm = last
        .joints
        .iter()
        .find(|joint| &joint.name == third)
        .unwrap();
    let body = system.model.bodies().nth(2).unwrap();
    assert_eq!(
        arm.position,
        Some(motion.configuration[system.model.config_range(body).start])
    );
    assert_eq!(
        arm.velocity,
        Some(motion.velocity[system.model.velocity_range(body).start])
    );
    assert!(arm.effort.is_some() && arm.acceleration.is_none());
    // The truth is logged separately and is close to the noise-free measured state.
    let (_, truth) = log
        .all::<foxglove::JointStates>("/truth/joints")
        .pop()
        .unwrap();
    let real = truth
        .joints
        .iter()
        .find(|joint| &joint.name == third)
        .unwrap();
    assert!((real.position.unwrap() - arm.position.unwrap()).abs() < 1e-9);
    let (_, wanted) = log
        .all::<foxglove::JointStates>("/reference/joints")
        .pop()
        .unwrap();
    assert!(
        wanted
            .joints
            .iter()
            .all(|joint| joint.acceleration.is_some())
    );
    drop(log.folder);
}

/// Only the joint of a pendulum is measured; its true frame is logged nevertheless.
#[test]
fn one_body_on_a_joint_has_its_true_frame() {
    let configuration = configuration("examples/revolute.toml", &["flight.duration=0.2"]);
    let log = Log::of(&configuration);
    let system = &configuration.system;
    let name = system.model.name(system.model.bodies().next().unwrap());
    let (_, frames) = log.frames("/truth/tf").pop().unwrap();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].0, format!("truth/{name}"));
    let (_, joints) = log
        .all::<foxglove::JointStates>("/truth/joints")
        .pop()
        .unwrap();
    let position = joints.joints[0].position.unwrap();
    let mut kinematics = BodyPoses::new(system);
    let expected = kinematics.of(&[position]).unwrap()[0];
    assert!(near(&frames[0].1, &expected, 1e-12));
}
