//! The library itself: loaded as the host loads it.

use fly_hal::{Clock, Configuration, Deadline, ErrorKind, Plugin, SearchPath};

use super::run::CUBE;

/// Every sensor, with everything that can happen to its samples.
const ALL: &str = include_str!("../all_sensors.toml");

fn plugin() -> Plugin {
    Plugin::load("sim", &SearchPath::standard([])).unwrap()
}

#[test]
fn it_says_what_it_is() {
    let plugin = plugin();
    let info = plugin.info();
    assert_eq!((info.name.as_str(), info.clock), ("sim", Clock::Stepped));
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
}

#[test]
fn its_errors_keep_their_place_on_the_way() {
    let error = plugin()
        .configure(&Configuration::new("\nsubstep = 1", CUBE))
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
    assert_eq!(error.help.as_deref(), Some("did you mean `substeps`?"));
    assert_eq!(error.location.unwrap().span, 1..8);
}

#[test]
fn a_tick_allocates_nothing() {
    let faults = format!(
        "faults = [
            {{ kind = 'link', from = 0.02, until = 0.04 }},
            {{ kind = 'offset', from = 0.05, until = 0.1, group = 'pose.quaternion', offset = [1, 0, 0] }},
            {{ kind = 'dropout', from = 0.1, until = 0.15, part = 0.5 }},
            {{ kind = 'mass', from = 0.02, until = 0.1, masses = [{{ mass = 0.3 }}] }},
            {{ kind = 'wind', from = 0.02, until = 0.1, velocity = [1, 2, 3], ramp = 0.1 }},
            {{ kind = 'stuck', from = 0.02, until = 0.1, actuator = 'rotor.1.tilt' }},
            {{ kind = 'weak', from = 0.02, until = 0.1, actuator = 'rotor.0.thrust', effectiveness = 0.3 }},
        ]\n{ALL}"
    );
    for text in ["noise = { position = 0.01, attitude = 0.02 }", ALL, &faults] {
        let mut instance = plugin().configure(&Configuration::new(text, CUBE)).unwrap();
        instance.start().unwrap();
        let mut frame = instance.description().frame();
        let allocations = fly_testing::allocations(|| {
            for _ in 0..100 {
                instance.read(Deadline::NOW, &mut frame).unwrap();
                instance.write(frame.time, &[9.0, 9.0, 0.1]).unwrap();
            }
        });
        assert_eq!(allocations, 0);
    }
}
