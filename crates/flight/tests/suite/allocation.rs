//! After its first tick a flight does not allocate: neither the loop nor the pilot, the plugin or the log's queue, C
//! code included.
//!
//! With `active_set` the count is 0. OSQP allocates when it polishes a solution; that is counted and printed.

use fly_flight::{Flight, McapFile, backend};

use crate::common;

/// Flies to the end and counts the allocations of the flying thread after the first tick, and the steps.
fn fly(config: &str, set: &[&str]) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = McapFile::new(folder.path().join("flight.mcap"));
    let configuration = common::configuration(config, set);
    let plant = backend::load(&configuration, &common::plugins(), false).expect("a plant");
    let mut flight = Flight::new(&configuration, plant, &mut log).expect("a flight");
    assert_eq!(flight.tick(), None);
    let (mut steps, mut end) = (0, None);
    let allocations = fly_testing::allocations(|| {
        while end.is_none() {
            end = flight.tick();
            steps += 1;
        }
    });
    let summary = flight.finish(end.expect("it ended"));
    assert!(summary.log.is_some_and(|log| log.failure.is_none()));
    (allocations, steps)
}

#[test]
fn no_step_but_the_first_allocates() {
    let limited = ["flight.duration=3", "controller.allocation=active_set"];
    for config in [
        "tricopter.toml",
        "tricopter-load.toml",
        "tricopter-tilted.toml",
        "quadcopter.toml",
        "quadcopter-loop.toml",
        "quadcopter-upside-down.toml",
        "octocopter.toml",
    ] {
        let (allocations, steps) = fly(config, &limited);
        assert!(steps >= 1500, "{config} took {steps} steps");
        assert_eq!(allocations, 0, "{config}, in {steps} steps");
    }
}

/// The disturbance observer, with a weak rotor, and the textbook controllers.
#[test]
fn neither_do_the_observer_and_the_controllers_of_others() {
    let wind = "backend.sim.wind.velocity=[3, 0, 0]";
    let weak = "backend.sim.actuators=[{ command = \"rotor.1.thrust\", effectiveness = 0.8 }]";
    let common = [
        "flight.duration=2",
        "controller.allocation=active_set",
        wind,
        weak,
    ];
    let observed = "controller.disturbance.bandwidth=4";
    for config in ["quadcopter.toml", "tricopter.toml", "tricopter-load.toml"] {
        let (allocations, steps) = fly(config, &[&common[..], &[observed]].concat());
        assert_eq!(allocations, 0, "{config}, in {steps} steps");
    }
    for approach in ["lee", "rotorpy_se3", "cascade", "indi"] {
        let approach = format!("controller.approach={approach}");
        let others = [approach.as_str(), "safety.then=hold"];
        let set: Vec<&str> = common.iter().copied().chain(others).collect();
        let (allocations, steps) = fly("quadcopter.toml", &set);
        assert_eq!(allocations, 0, "{approach}, in {steps} steps");
    }
}

/// Lead compensation and prediction, apart from an observer, lost frames and changed input bounds.
#[test]
fn neither_do_leads_and_predictions() {
    let faults = "backend.sim.faults=[{ kind = \"missing\", from = 0.5, until = 0.54 }]";
    let late = "controller.actuators.delay=0.03";
    let common = [
        "flight.duration=2",
        "controller.allocation=active_set",
        "controller.disturbance.bandwidth=4",
        faults,
        late,
    ];
    for config in [
        "examples/quadcopter-delay.toml",
        "examples/scara-joints.toml",
        "tricopter.toml",
        "tricopter-load.toml",
    ] {
        for lead in ["0", "1"] {
            let lead = format!("controller.actuators.lead={lead}");
            let (allocations, steps) = fly(config, &[&common[..], &[&lead]].concat());
            assert_eq!(allocations, 0, "{config}, in {steps} steps");
        }
    }
}

/// Wind, gusts, turbulence and the aerodynamics of the rotors.
#[test]
fn neither_does_the_air() {
    let set = ["flight.duration=2", "controller.allocation=active_set"];
    let (allocations, steps) = fly("examples/quadcopter-wind.toml", &set);
    assert_eq!(allocations, 0, "in {steps} steps");
}

/// Contacts with the ground, a load dropped on it, arms turned by servos.
#[test]
fn neither_do_contacts_releases_and_servos() {
    let drop = [
        "backend.sim.releases.0.time=1",
        "backend.sim.ground.height=2.3",
    ];
    let two = ["flight.duration=2", "controller.allocation=active_set"];
    for (config, set) in [
        ("examples/quadcopter-take-off.toml", &[][..]),
        ("examples/tricopter-drop.toml", &drop[..]),
        ("examples/tricopter-tilting-arms.toml", &[][..]),
    ] {
        let (allocations, steps) = fly(config, &[&two[..], set].concat());
        assert!(steps >= 1000, "{config} took {steps} steps");
        assert_eq!(allocations, 0, "{config}, in {steps} steps");
    }
}

/// The estimator: flying on its state, and running beside the measured one.
#[test]
fn neither_does_the_estimator() {
    let common = ["flight.duration=3", "controller.allocation=active_set"];
    for more in [
        &[][..],
        &["estimator.state=measured", "backend.sim.sensors.ideal=true"],
    ] {
        let set = [&common[..], more].concat();
        let (allocations, steps) = fly("examples/quadcopter-estimated.toml", &set);
        assert!(steps >= 1500, "{steps} steps");
        assert_eq!(allocations, 0, "{more:?}, in {steps} steps");
    }
}

#[test]
fn what_osqp_allocates_is_known() {
    // Within the limits there is nothing to solve.
    assert_eq!(
        fly(
            "tricopter.toml",
            &["flight.duration=3", "controller.allocation=osqp"]
        )
        .0,
        0
    );
    let (allocations, steps) = fly("quadcopter-loop.toml", &["controller.allocation=osqp"]);
    println!(
        "quadcopter-loop with osqp: {allocations} allocations in {steps} steps, 290 of them at the limits"
    );
    // OSQP polishes each solution, which allocates.
    assert!(allocations <= 290 * 100, "{allocations} allocations");
}

/// But for the queues of the simulation, of four groups, which double until they hold what is on its way.
#[test]
fn neither_do_late_measurements() {
    let late = "backend.sim.faults=[{ kind = \"late\", delay = 0.3, from = 0.5, until = 9.0 }]";
    let set = [
        "controller.allocation=active_set",
        "safety.max_descent_time=2",
        late,
    ];
    let (allocations, steps) = fly("quadcopter.toml", &set);
    assert!(steps > 1200, "{steps} steps");
    assert!(allocations < 100, "{allocations} allocations");
}

#[test]
fn neither_do_dropouts_nor_the_descent() {
    let bridged = "{ kind = \"missing\", from = 0.5, until = 0.54 }, { kind = \"non_finite\", from = 1.0, until = 1.04 }";
    let lasting = "{ kind = \"stale\", group = \"pose.position\", from = 1.5, until = 9.0 }";
    let faults = format!("backend.sim.faults=[{bridged}, {lasting}]");
    let set = [
        "controller.allocation=active_set",
        "safety.max_descent_time=2",
        &faults,
    ];
    // Messages go to the log; keeping them does not allocate either.
    let (allocations, steps) = fly("quadcopter.toml", &set);
    assert!(
        (1700..1900).contains(&steps),
        "1.65 s until the descent, 2 s of it: {steps} steps"
    );
    assert_eq!(allocations, 0);
}
