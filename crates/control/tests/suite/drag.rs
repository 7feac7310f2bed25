//! References, poles and steps of vehicles with drag.

#![allow(non_snake_case)]

use crate::common;

use common::{
    QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, TRICOPTER_PAIR, controller, planned, vehicle,
};
use fly_control::Trajectory;
use fly_control::inputs::ReferenceInputs;
use fly_control::linear::LinearModel;
use fly_control::poles::{PoleError, Poles, polynomial_of_roots};
use fly_control::settings::ReferenceSettings;
use fly_control::trajectory::flat::{ExternalForces, attitude, attitude_forward, least_thrust};
use fly_control::trajectory::jet::Jet;
use fly_control::trajectory::{AttitudeMode, Recorded, Setpoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, System, Vehicle};
use fly_testing::allocations;
use nalgebra::{DMatrix, Matrix3, Vector3, Vector6};

/// Every kind that a quadcopter can follow by its thrust.
const REFERENCES: [&str; 11] = [
    "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nphase = [0, 0.5, 1]\nyaw_rate = 0.5",
    "kind = 'loop'\nradius = 0.5\nduration = 1.6\nstart = 0.5\nposition = [1, 0, 2]\nheading_deg = 40",
    "kind = 'waypoints'\nmax_speed = 6\nmax_acceleration = 6\npoints = [{ position = [0, 0, 1] }, { position = [9, 1, 3], yaw_deg = 90 }]",
    "kind = 'circle'\nradius = 3\nperiod = 4\ncenter = [1, 0, 2]",
    "kind = 'helix'\nradius = 1\nperiod = 2.5\nclimb = 0.5\nturns = 1.5\nyaw_deg = 20",
    "kind = 'takeoff'\nheight = 2\nposition = [1, 2, 0.1]\nyaw_deg = 40",
    "kind = 'landing'\nposition = [1, 2, 1]",
    "kind = 'flip'\nduration = 1.2\nheading_deg = 30\nstart = 0.4",
    "kind = 'flip'\nduration = 1.2\naxis = 'roll'\nheading_deg = 30\nstart = 0.4",
    "kind = 'barrel_roll'\nradius = 0.5\ndistance = 3\nduration = 1.8\nheading_deg = -60\nstart = 0.4",
    "kind = 'minimum_snap'\nmax_speed = 5\nmax_acceleration = 5\n\
     points = [{ position = [0, 0, 1] }, { position = [6, 1, 2], yaw_deg = 60 }, { position = [3, -4, 1] }]",
];

/// The same vehicle with this drag.
fn dragged(description: &str, drag: &str) -> String {
    description.replacen("mass = ", &format!("drag = {drag}\nmass = "), 1)
}

fn any_drag(description: &str) -> String {
    let text = dragged(
        description,
        "{ linear = [0.35, 0.2, 0.1], angular = [0.002, 0.001, 0.003] }",
    );
    // The centre of mass is not the origin.
    text.replacen("mass = ", "center_of_mass = [0.0, 0.0, 0.02]\nmass = ", 1)
}

/// (5.80): on the reference nothing is missing, neither for the inputs nor for the desired closed loop.
#[test]
fn a_quadcopter_can_follow_its_references_exactly() {
    let text = any_drag(QUADCOPTER);
    let vehicle = vehicle(&text);
    let without = common::vehicle(&text.replace("drag = ", "# drag = "));
    assert_eq!(without.body.drag(), None);
    let controller = controller(&text, "", QUADCOPTER_POLES);
    let mut inputs = ReferenceInputs::new(&vehicle);
    for text in REFERENCES {
        let (mut reference, mut other) = (planned(&vehicle, text), planned(&without, text));
        let end = reference.duration().unwrap_or(8.0);
        let mut ignored = 0.0_f64;
        for i in 0..=400 {
            let t = end * f64::from(i) / 400.0;
            let point = reference.sample(t).unwrap();
            let on = State {
                pose: point.pose,
                twist: point.twist,
            };
            let missing = inputs.at(&point).missing;
            assert!(
                missing < 1e-12 * (1.0 + point.acceleration.norm()),
                "{text} at {t}: {missing}"
            );
            let matching = controller.matching_force(&on, &point).expect("regular");
            assert!(
                matching.force.norm() < 1e-9,
                "{text} at {t}: {}",
                matching.force
            );
            // A thrust that pushes.
            let needed = inputs.at(&point).input.sum();
            assert!(needed > 0.0, "{text} at {t}");
            ignored = ignored.max(inputs.at(&other.sample(t).unwrap()).missing);
        }
        // Vertical motion needs no other attitude.
        let vertical = text.contains("takeoff") || text.contains("landing");
        assert_eq!(ignored > 0.05, !vertical, "{text}: {ignored}");
    }
}

#[test]
fn twist_and_acceleration_are_the_derivatives_of_the_pose() {
    let vehicle = vehicle(&any_drag(QUADCOPTER));
    for text in REFERENCES {
        let mut trajectory = planned(&vehicle, text);
        common::derivatives_agree(trajectory.as_mut(), 60, text);
    }
}

/// The way of the centre of mass is the same with and without drag.
#[test]
fn drag_turns_the_body_and_leaves_its_path() {
    for (description, turns) in [(QUADCOPTER, true), (TRICOPTER, false)] {
        let text = any_drag(description);
        let (with, without) = (
            vehicle(&text),
            vehicle(&text.replace("drag = ", "# drag = ")),
        );
        let center = with.body.inertia().center_of_mass();
        let (mut a, mut b) = (
            planned(&with, REFERENCES[3]),
            planned(&without, REFERENCES[3]),
        );
        let [p, q] = [a.sample(3.3).unwrap(), b.sample(3.3).unwrap()].map(|point| point.pose);
        assert!((p.act(&center) - q.act(&center)).norm() < 1e-12);
        assert_eq!(
            (p.rotation.inverse() * q.rotation).log().norm() > 0.05,
            turns
        );
        // A level tricopter only pushes harder.
        let needed = |vehicle: &Vehicle, point| ReferenceInputs::new(vehicle).at(point);
        let (with, without) = (
            needed(&with, &a.sample(3.3).unwrap()),
            needed(&without, &b.sample(3.3).unwrap()),
        );
        assert!(with.is_exact() && without.is_exact());
        assert!((with.input - without.input).norm() > 0.05);
    }
}

/// A system of one free body has the same references; bodies fixed to it may not have drag at other points.
#[test]
fn systems_of_one_body_follow_the_same_references() {
    let text = any_drag(QUADCOPTER);
    let (vehicle, system) = (vehicle(&text), System::from_toml(&text).unwrap());
    let settings: ReferenceSettings = toml::from_str(REFERENCES[3]).unwrap();
    let mut of_system = settings.build_for_system(&system).unwrap();
    let mut point = fly_control::SystemPoint::new(&system.model);
    of_system.at(3.3, &mut point).unwrap();
    let expected = planned(&vehicle, REFERENCES[3]).sample(3.3).unwrap();
    let twist = Vector6::from_column_slice(&point.velocity);
    assert!((twist - expected.twist).amax() < 1e-12);
    let load = "[bodies.load]\nparent = 'airframe'\njoint = 'fixed'\nmass = 0.1\nposition = [0.1, 0, 0]\nshape = { sphere = { radius = 0.1 } }\n";
    let loaded = System::from_toml(&(text + load)).unwrap();
    let Err(error) = settings.build_for_system(&loaded) else {
        panic!("it is not followed");
    };
    assert!(
        error
            .to_string()
            .contains("its drag acts beside the centre of mass"),
        "{error}"
    );
}

/// A level flight at a constant velocity, where the lean follows from a triangle of forces.
#[test]
fn it_leans_against_the_wind_of_its_motion() {
    let body = vehicle(&dragged(QUADCOPTER, "{ linear = [0.3, 0.3, 0.0] }")).body;
    let velocity = Vector3::new(8.0, 0.0, 0.0);
    let mut recorded = Recorded::new(
        AttitudeMode::ThrustAligned,
        *body.gravity(),
        SE3::identity(),
    )
    .of_body(&body);
    recorded
        .update(
            0.0,
            &Setpoint {
                velocity: Some(velocity),
                ..Setpoint::default()
            },
        )
        .unwrap();
    let R = recorded.sample(0.0).unwrap().pose.rotation;
    // The drag lies in the plane of the rotors, and its component along gravity enters the balance: F z = m g e_z + d (I - z z^T) v.
    let lean = (0.3 * 8.0 / (0.9 * 9.81_f64)).atan();
    let expected = SO3::exp(&(Vector3::y() * lean));
    assert!(
        (R.inverse() * expected).log().norm() < 1e-12,
        "{}",
        R.matrix()
    );
}

/// Sinking so fast that the drag across the rotors, if it acted along them, would carry more than the weight: it stays upright.
#[test]
fn the_thrust_pushes_at_any_speed() {
    let body = vehicle(&dragged(QUADCOPTER, "{ linear = [0.5, 0.4, 0.1] }")).body;
    let load = ExternalForces::of_body(&body);
    let constant = |v: [f64; 3]| v.map(Jet::<3>::constant);
    for sink in [-30.0, 0.0, 5.0, 19.0, 21.0, 30.0, 60.0] {
        // A little aside, so that nothing is parallel to anything.
        let thrust = load.specific_thrust(&constant([0.4, 0.2, -sink]), &constant([0.0; 3]));
        for (side, forward) in [
            ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]),
            ([-0.6, 0.8, 0.0], [0.8, 0.6, 0.0]),
        ] {
            let found = attitude(&thrust, &constant(side)).expect("an attitude");
            assert!(least_thrust(&thrust, Some(&found)) > 0.0, "{sink}");
            let R = Matrix3::from_columns(
                &found
                    .each_ref()
                    .map(|b| Vector3::from(b.map(|x| x.value()))),
            );
            assert!((R.determinant() - 1.0).abs() < 1e-12);
            assert!(R.column(1).dot(&Vector3::from(side)) > 0.9, "{sink}: {R}");
            assert!(R[(2, 2)] > 0.9, "{sink}: {R}");
            let found = attitude_forward(&thrust, &constant(forward)).expect("an attitude");
            let b1 = Vector3::from(found[0].map(|x| x.value()));
            assert!(b1.dot(&Vector3::from(forward)) > 0.9, "{sink}: {b1}");
            assert!(least_thrust(&thrust, Some(&found)) > 0.0, "{sink}");
        }
    }
    // At the speed at which drag along the rotors alone carries the weight they need not push at all.
    let terminal = 0.9 * 9.81 / 0.1;
    let thrust = load.specific_thrust(&constant([0.0, 0.0, -terminal]), &constant([0.0; 3]));
    let found = attitude(&thrust, &constant([0.0, 1.0, 0.0])).expect("an attitude");
    assert!(least_thrust(&thrust, Some(&found)).abs() < 1e-12);
}

#[test]
fn a_path_through_the_singular_speed_is_refused() {
    // 20 m/s down, in between 9.81 0.9/0.5 m/s.
    let vehicle = vehicle(&dragged(QUADCOPTER, "{ linear = [0.5, 0.5, 0.1] }"));
    let text = "kind = 'waypoints'\nmax_speed = 20\npoints = [{ position = [0, 0, 500] }, { position = [0, 0, 0] }]";
    let settings: ReferenceSettings = toml::from_str(text).unwrap();
    let Err(error) = settings.build(&vehicle) else {
        panic!("it is not followed");
    };
    let error = error.to_string();
    assert!(error.contains("a specific thrust of 0."), "{error}");
    let slower = text.replace("max_speed = 20", "max_speed = 15");
    planned(&vehicle, &slower);
}

/// With the same drag along x and y the poles are where they were asked for, however strong it is.
#[test]
fn poles_are_placed_with_drag() {
    let roots = [-2.0, -3.0, -4.5, -6.0];
    let tables = format!(
        "[poles]\nhorizontal = {roots:?}\nyaw = {{ inertia = 0.02, damping = 0.18, stiffness = 0.32 }}\n"
    );
    for (drag, angular) in [(0.0, 0.0), (0.1, 0.001), (0.4, 0.0), (1.2, 0.01)] {
        let drag =
            format!("{{ linear = [{drag}, {drag}, 0.2], angular = [{angular}, 0.002, 0.003] }}");
        let text = dragged(QUADCOPTER, &drag).replacen(
            "mass = ",
            "center_of_mass = [0.0, 0.0, 0.02]\nmass = ",
            1,
        );
        let controller = controller(&text, "", &tables);
        let closed = common::closed_loop(&text, &controller, &SO3::identity()).unwrap();
        let poles = closed.poles().unwrap();
        for root in roots {
            let near = poles.iter().filter(|p| (**p - root).norm() < 1e-6);
            assert_eq!(near.count(), 2, "{drag}: {root} in {poles:?}");
        }
        // And nothing is left that the inputs cannot give.
        let rest = fly_control::ReferencePoint::at_rest(SE3::identity());
        let moving = State {
            pose: SE3::identity(),
            twist: Vector6::new(0.3, -0.2, 0.1, 0.4, 0.5, 0.6) * 1e-6,
        };
        let matching = controller.matching_force(&moving, &rest).unwrap();
        assert!(matching.force.norm() < 1e-11, "{}", matching.force);
    }
}

#[test]
fn more_drag_than_the_poles_allow_is_refused() {
    let text = dragged(QUADCOPTER, "{ linear = [9.0, 9.0, 0.0] }");
    let vehicle = vehicle(&text);
    let poles = Poles {
        polynomial: polynomial_of_roots([-2.0; 4]),
        mass: 1.0,
        yaw_inertia: 0.02,
        yaw_damping: 0.16,
        yaw_stiffness: 0.32,
    };
    let found = poles.place(&vehicle.body, vehicle.rotors.input_matrix());
    assert_eq!(found, Err(PoleError::Drag(10.0)));
    let weightless = self::vehicle(&format!("gravity = [0.0, 0.0, 0.0]\n{text}"));
    let found = poles.place(&weightless.body, weightless.rotors.input_matrix());
    assert_eq!(found, Err(PoleError::Weightless));
}

/// The linear model of the system is that of the free body.
#[test]
fn linear_models_have_it() {
    let text = any_drag(QUADCOPTER);
    let model = System::from_toml(&text).unwrap().model;
    let x = model.neutral_configuration();
    let vehicle = vehicle(&text);
    let B = vehicle.rotors.input_matrix();
    let inputs = DMatrix::from_fn(6, 4, |i, j| B[(i, j)]);
    let linear = LinearModel::at_rest(&model, &x, inputs).unwrap();
    assert!((linear.damping - vehicle.body.damping_matrix()).amax() < 1e-14);
}

#[test]
fn neither_step_nor_reference_allocates() {
    for (description, pair) in [(QUADCOPTER, QUADCOPTER_POLES), (TRICOPTER, TRICOPTER_PAIR)] {
        let text = any_drag(description);
        let mut controller = controller(&text, "allocation = 'active_set'", pair);
        let mut random = Random::new(3);
        controller.step(&random.state(), &random.reference());
        let mut reference = planned(&vehicle(&text), REFERENCES[3]);
        let state = random.state();
        let count = allocations(|| {
            for i in 0..100 {
                let point = reference.sample(f64::from(i) * 0.1).unwrap();
                controller.step(&state, &point);
            }
        });
        assert_eq!(count, 0);
    }
}
