//! A simulation under external control.

use std::time::{Duration, Instant};

use fly_flight::{Discard, Plant, backend};
use fly_plugin_sim::Simulation;

use crate::common::configuration;

/// How fast it was does not depend on how long its controller kept it waiting before and after.
#[test]
fn waiting_for_a_controller_is_no_time_of_the_simulation() {
    let configuration = configuration("quadcopter.toml", &[]);
    let simulation = backend::configure::<Simulation>(&configuration, false).expect("a simulation");
    let mut discard = Discard;
    let mut plant = Plant::new(&configuration, simulation, &mut discard).expect("a plant");
    let pause = Duration::from_millis(50);
    std::thread::sleep(pause);
    let begun = Instant::now();
    for _ in 0..20 {
        plant.step().expect("a step").expect("a frame");
    }
    let stepping = begun.elapsed().as_secs_f64();
    std::thread::sleep(pause);
    let summary = plant.finish();
    assert_eq!(summary.steps, 20);
    let wall_time = summary.wall_time;
    assert!(
        wall_time > 0.0 && wall_time <= stepping,
        "{wall_time} s of {stepping} s"
    );
}
