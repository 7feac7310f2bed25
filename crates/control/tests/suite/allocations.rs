//! What a control step allocates, C code included.

#![allow(non_snake_case)]

use crate::common;
use crate::eleven;

use common::{
    QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, TRICOPTER_PAIR, controller, vehicle,
};
use fly_control::analysis::{LyapunovGuarantee, LyapunovMonitor};
use fly_control::settings::ReferenceSettings;
use fly_control::trajectory::Setpoint;
use fly_control::{Reference, Trajectory};
use fly_testing::allocations;

#[test]
fn a_step_with_active_set_allocates_nothing() {
    for approach in ["particle", "body", "energy"] {
        for (description, pair) in [(TRICOPTER, TRICOPTER_PAIR), (QUADCOPTER, QUADCOPTER_POLES)] {
            let keys = format!(
                "approach = '{approach}'\nallocation = 'active_set'\ninput_rate_limit = 1000"
            );
            let mut controller = controller(description, &keys, pair);
            let mut random = Random::new(41);
            controller.step(&random.state(), &random.reference());
            let mut saturated = 0;
            for _ in 0..200 {
                let (state, reference) = (random.state(), random.reference());
                let count = allocations(|| {
                    let step = controller.step_after(0.01, &state, &reference);
                    saturated += usize::from(step.saturated());
                });
                assert_eq!(count, 0);
            }
            assert!(saturated > 50, "{saturated}");
        }
    }
}

#[test]
fn the_monitor_allocates_nothing() {
    for (description, pair) in [(TRICOPTER, TRICOPTER_PAIR), (QUADCOPTER, QUADCOPTER_POLES)] {
        let mut controller = controller(description, "allocation = 'active_set'", pair);
        let mut monitor = LyapunovMonitor::new(LyapunovGuarantee::Always, controller.input_dim());
        let mut random = Random::new(5);
        for i in 0..50 {
            let (state, reference) = (random.state(), random.reference());
            controller.step(&state, &reference);
            let count = allocations(|| {
                let metric = controller.law().metric();
                let balance = monitor.observe(f64::from(i), controller.last(), metric, true);
                std::hint::black_box(balance);
            });
            assert_eq!(count, 0);
        }
    }
}

#[test]
fn a_step_of_a_whole_system_allocates_nothing() {
    for approach in ["particle", "body", "energy"] {
        let mut controller = eleven::controller(approach, 20.0);
        let mut random = Random::new(12);
        let mut limited = 0;
        for _ in 0..50 {
            let [x, xi, _] = eleven::motion(controller.model(), || random.next());
            let [x_R, xi_R, xi_dot_R] = eleven::motion(controller.model(), || random.next());
            let goal = fly_control::system::SystemReference {
                configuration: &x_R,
                velocity: &xi_R,
                acceleration: &xi_dot_R,
            };
            let count = allocations(|| {
                let step = controller.step_after(0.01, &x, &xi, &goal).unwrap();
                limited += usize::from(step.saturated());
            });
            assert_eq!(count, 0, "{approach}");
        }
        assert!(limited > 20, "{limited}");
    }
}

#[test]
fn no_trajectory_allocates() {
    let kinds = [
        "kind = 'hover'\nattitude_deg = [0, 30, 0]",
        "kind = 'lissajous'\namplitude = [1, 1, 1]\nangular_frequency = [1, 2, 3]\nposture = 'thrust'",
        "kind = 'loop'\nradius = 0.5\nduration = 1.6",
        "kind = 'waypoints'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 3], yaw_deg = 90, hold = 1 }]",
        "kind = 'helix'\nradius = 1\nperiod = 3\nclimb = 1\nturns = 2",
        "kind = 'flip'\nduration = 1.5",
        "kind = 'barrel_roll'\nradius = 0.5\ndistance = 1\nduration = 2",
        "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 3] }, { position = [0, 1, 0] }]",
        "kind = 'independent'\namplitude = [1, 1, 1]\nattitude_amplitude_deg = [9, 9, 9]",
    ];
    for text in kinds {
        let settings: ReferenceSettings = toml::from_str(text).unwrap();
        let Ok(Reference::Planned(mut trajectory)) = settings.build(&vehicle(TRICOPTER)) else {
            panic!("{text}");
        };
        let count = allocations(|| {
            for i in 0..1000 {
                std::hint::black_box(trajectory.sample(f64::from(i) * 0.01).unwrap());
            }
        });
        assert_eq!(count, 0, "{text}");
    }
    let settings: ReferenceSettings = toml::from_str("kind = 'recorded'").unwrap();
    let Ok(Reference::Recorded(mut recorded)) = settings.build(&vehicle(QUADCOPTER)) else {
        panic!("recorded");
    };
    let setpoint = Setpoint {
        position: Some(nalgebra::Vector3::x()),
        ..Setpoint::default()
    };
    let count = allocations(|| {
        recorded.update(0.0, &setpoint).unwrap();
        std::hint::black_box(recorded.sample(0.0).unwrap());
    });
    assert_eq!(count, 0);
}

#[cfg(feature = "osqp")]
#[test]
fn osqp_allocates_only_where_limits_are_met() {
    let mut controller = controller(TRICOPTER, "allocation = 'osqp'", TRICOPTER_PAIR);
    let mut random = Random::new(43);
    controller.step(&random.state(), &random.reference());
    let (mut free, mut most, mut calls) = (0, 0, 0);
    for _ in 0..300 {
        let (state, reference) = (random.state(), random.reference());
        let mut saturated = false;
        let count = allocations(|| saturated = controller.step(&state, &reference).saturated());
        if saturated {
            calls += 1;
            most = most.max(count);
        } else {
            free += count;
        }
    }
    println!("osqp: at most {most} allocations in each of {calls} calls that met limits");
    assert_eq!(free, 0, "inside the limits nothing is allocated");
    // Polishing sets up and factorises one system; the number does not grow with time.
    assert!(calls > 50 && (1..=200).contains(&most), "{most}");
}
