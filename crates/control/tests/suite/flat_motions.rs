//! The motions that a bicopter follows exactly, and those that it does not.

#![allow(non_snake_case)]

use crate::common;

use common::{controller, planned, vehicle};
use fly_control::Trajectory;
use fly_control::inputs::{FORCE_TOLERANCE, ReferenceInputs};
use fly_mechanics::{State, Vehicle};
use nalgebra::Vector3;

/// Two rotors above the centre of mass, canted outward by 10 degrees, that tilt forward and backward.
const BICOPTER: &str = include_str!("../../../../configs/vehicles/bicopter.toml");

const POLES: &str = "[poles]\nhorizontal = [-4, -4, -4, -4]\nyaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }\n";

/// Motions that turn about body y, whichever way it points.
const PITCHING: [&str; 7] = [
    "kind = 'lissajous'\namplitude = [1, 0, 0.3]\nangular_frequency = [1.4, 0.8, 0.9]\nphase = [0.2, 0, 1]",
    "kind = 'loop'\nradius = 0.5\nduration = 1.6\nstart = 0.5\nposition = [1, 0, 2]\nheading_deg = 40",
    "kind = 'waypoints'\npoints = [{ position = [0, 0, 1], yaw_deg = 90 }, { position = [0, 3, 2], yaw_deg = 90, hold = 1 }, { position = [0, 1, 2], yaw_deg = 90 }]",
    "kind = 'waypoints'\npoints = [{ position = [0, 0, 1] }, { position = [0, 0, 2], yaw_deg = 90 }, { position = [0, 3, 2], yaw_deg = 90 }]",
    "kind = 'flip'\nduration = 1.2\nheading_deg = 30\nstart = 0.4",
    "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [2, 0, 2] }, { position = [3, 0, 1] }]",
    "kind = 'minimum_snap'\nmax_rate = 1\npoints = [{ position = [0, 0, 1], yaw_deg = 60 }, { position = [1, 1.7320508075688772, 2], yaw_deg = 60 }]",
];

/// Motions that turn about body x.
const ROLLING: [&str; 4] = [
    "kind = 'lissajous'\namplitude = [0, 1, 0.3]\nangular_frequency = [1.4, 0.8, 0.9]\nphase = [0.2, 0, 1]",
    "kind = 'waypoints'\npoints = [{ position = [0, 0, 1], yaw_deg = 90 }, { position = [3, 0, 2], yaw_deg = 90 }]",
    "kind = 'flip'\nduration = 1.2\naxis = 'roll'\nheading_deg = 30\nstart = 0.4",
    "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [0, 2, 2] }, { position = [0, 3, 1] }]",
];

/// Vertical motion, with and without yaw.
const VERTICAL: [&str; 3] = [
    "kind = 'takeoff'\nheight = 2\nposition = [1, 2, 0.1]\nyaw_deg = 40",
    "kind = 'landing'\nposition = [1, 2, 1]",
    "kind = 'lissajous'\namplitude = [0, 0, 0.4]\nangular_frequency = [0, 0, 1.3]\nyaw_rate = 0.7",
];

/// Motions that turn about several axes.
const OTHERS: [&str; 4] = [
    "kind = 'lissajous'\namplitude = [1, 1, 0.3]\nangular_frequency = [0.8, 0.8, 0.5]\nphase = [0, 1.5707963267948966, 0]\nyaw_rate = 0.3",
    "kind = 'lissajous'\namplitude = [1, 0, 0.3]\nangular_frequency = [1.4, 0.8, 0.9]\nyaw_rate = 0.3",
    "kind = 'circle'\nradius = 2\nperiod = 5\ncenter = [1, 0, 2]",
    "kind = 'barrel_roll'\nradius = 0.5\ndistance = 3\nduration = 1.8\nheading_deg = -60\nstart = 0.4",
];

/// With its centre of mass elsewhere on the body's z axis, and 1.7 kg.
fn moved() -> String {
    let text = BICOPTER.replace("mass = 1.0", "mass = 1.7\ncenter_of_mass = [0, 0, 0.02]");
    assert_ne!(text, BICOPTER);
    text
}

/// The heights of the points of pitching and rolling motions, from the numbers of the description.
fn heights(mass: f64, center: f64) -> [f64; 2] {
    let (s, c) = 10.0_f64.to_radians().sin_cos();
    // tau_y = z f_x, tau_x = (0.2 c - z s)/s f_y about the centre of mass.
    let z = 0.06 - center;
    [-0.004 / (mass * z), 0.01 * s / (mass * (0.2 * c - z * s))]
}

/// The greatest part of the wrench that is missing.
fn missing(vehicle: &Vehicle, text: &str) -> f64 {
    let (mut trajectory, mut inputs) = (planned(vehicle, text), ReferenceInputs::new(vehicle));
    let end = trajectory.duration().unwrap_or(8.0);
    let instants = (0..=400).map(|i| end * f64::from(i) / 400.0);
    instants.fold(0.0, |worst, t| {
        worst.max(inputs.at(&trajectory.sample(t).unwrap()).missing_fraction())
    })
}

/// (5.80): on the reference nothing is missing, neither for the inputs nor for the desired closed loop.
#[test]
fn pitching_rolling_and_vertical_motions_are_exact() {
    for (text, mass, center) in [(BICOPTER.to_owned(), 1.0, 0.0), (moved(), 1.7, 0.02)] {
        let (vehicle, controller) = (vehicle(&text), controller(&text, "", POLES));
        let mut inputs = ReferenceInputs::new(&vehicle);
        let [pitching, rolling] = heights(mass, center);
        let cases = (PITCHING.iter().map(|text| (text, pitching)))
            .chain(ROLLING.iter().map(|text| (text, rolling)))
            .chain(VERTICAL.iter().map(|text| (text, 0.0)));
        for (text, height) in cases {
            let mut exact = planned(&vehicle, text);
            // The same path, whose centre of mass follows it: `point_height` goes before the tables of points.
            let of_center = text.replacen('\n', "\npoint_height = 0\n", 1);
            let comparable = !["flip", "takeoff", "landing", "minimum_snap"]
                .iter()
                .any(|kind| text.contains(kind));
            let mut other = comparable.then(|| planned(&vehicle, &of_center));
            let end = exact.duration().unwrap_or(8.0);
            for i in 0..=500 {
                let t = end * f64::from(i) / 500.0;
                let point = exact.sample(t).unwrap();
                let share = inputs.at(&point).missing_fraction();
                assert!(share < 1e-10, "{text} at {t}: {share}");
                let on = State {
                    pose: point.pose,
                    twist: point.twist,
                };
                let matching = controller.matching_force(&on, &point).expect("regular");
                let force = matching.force.norm();
                assert!(force < 1e-9, "{text} at {t}: {force}");
                if let Some(other) = &mut other {
                    let center = Vector3::z() * center;
                    let path = other.sample(t).unwrap().pose.act(&center);
                    let raised = point.pose.act(&(center + Vector3::z() * height));
                    let off = raised - path - Vector3::z() * height;
                    assert!(off.norm() < 1e-9, "{text} at {t}: {off}");
                }
            }
            if comparable && height != 0.0 {
                let share = missing(&vehicle, &of_center);
                assert!(share > 10.0 * FORCE_TOLERANCE, "{text}: {share} without");
            }
        }
    }
    // What the shipped description says.
    let [pitching, rolling] = heights(1.0, 0.0);
    assert!((pitching + 1.0 / 15.0).abs() < 1e-12 && (rolling - 0.0093).abs() < 5e-5);
}

#[test]
fn twist_and_acceleration_are_the_derivatives_of_the_pose() {
    let vehicle = vehicle(&moved());
    for text in PITCHING.iter().chain(&ROLLING) {
        let mut trajectory = planned(&vehicle, text);
        common::derivatives_agree(trajectory.as_mut(), 30, text);
    }
}

/// Where no point is exact it is the centre of mass that follows the path, unless another is named.
#[test]
fn other_motions_are_those_of_the_centre_of_mass() {
    let vehicle = vehicle(&moved());
    let center = Vector3::z() * 0.02;
    for text in OTHERS {
        assert!(missing(&vehicle, text) > 10.0 * FORCE_TOLERANCE, "{text}");
        let at_height =
            |height: f64| text.replacen('\n', &format!("\npoint_height = {height}\n"), 1);
        if text.contains("barrel") {
            continue;
        }
        let (mut usual, mut of_center) =
            (planned(&vehicle, text), planned(&vehicle, &at_height(0.0)));
        let mut named = planned(&vehicle, &at_height(0.3));
        for i in 0..50 {
            let t = 0.1 * f64::from(i);
            let point = usual.sample(t).unwrap();
            assert_eq!(point, of_center.sample(t).unwrap(), "{text}");
            let other = named.sample(t).unwrap().pose;
            let raised = other.act(&(center + Vector3::z() * 0.3)) - Vector3::z() * 0.3;
            assert!((raised - point.pose.act(&center)).norm() < 1e-12, "{text}");
            assert_eq!(other.rotation, point.pose.rotation);
        }
    }
}

/// Drag along the plane of the rotors leaves no flat output; drag along the thrust does.
#[test]
fn drag_along_the_rotors_plane_is_missing() {
    for (drag, texts, exact) in [
        ("[0, 0, 0.4]", [PITCHING[0], ROLLING[0]], true),
        ("[0.3, 0, 0]", [PITCHING[0], PITCHING[2]], false),
        ("[0, 0.3, 0]", [ROLLING[0], ROLLING[1]], false),
        // Across the motion it is not felt.
        ("[0, 0.3, 0]", [PITCHING[0], PITCHING[2]], true),
    ] {
        let text = BICOPTER.replace(
            "mass = 1.0",
            &format!("mass = 1.0\ndrag = {{ linear = {drag} }}"),
        );
        let vehicle = vehicle(&text);
        for text in texts {
            let share = missing(&vehicle, text);
            if exact {
                assert!(share < 1e-10, "{drag} {text}: {share}");
            } else {
                assert!(share > 10.0 * FORCE_TOLERANCE, "{drag} {text}: {share}");
            }
        }
    }
    let text = BICOPTER.replace(
        "mass = 1.0",
        "mass = 1.0\ndrag = { angular = [0, 0.002, 0] }",
    );
    assert!(missing(&vehicle(&text), PITCHING[0]) > 10.0 * FORCE_TOLERANCE);
}
