//! The fastest loops that keep margins: they meet the exact margins of the sampled loop, and a loop 5 % faster does not.

use fly_control::ControllerSettings;
use fly_control::analysis::{ClosedLoop, Margins, SampledLoop, Shortfall, spectral_radius};
use fly_control::settings::{
    ApproachSettings, DisturbanceSettings, FastestError, FastestSettings, LoopRequirements,
};
use fly_control::tuning::{BandwidthLimit, PoleSpec, SCAN};
use fly_mechanics::System;

macro_rules! shipped {
    ($name:literal) => {
        include_str!(concat!("../../../../configs/", $name, ".toml"))
    };
}

const QUADCOPTER: &str = shipped!("vehicles/quadcopter");
const BICOPTER: &str = shipped!("vehicles/bicopter");
const TRICOPTER: &str = shipped!("vehicles/tricopter");
const Y6: &str = shipped!("vehicles/y6");
const ARM: &str = shipped!("systems/arm_two_motors");
const WELDING: &str = shipped!("systems/welding_arm");

fn demands(observer: bool) -> LoopRequirements {
    LoopRequirements {
        margins: Margins::default(),
        error: 0.0,
        heading_error: 0.35,
        step: 2e-3,
        observer,
    }
}

fn of(approach: ApproachSettings) -> ControllerSettings {
    ControllerSettings {
        approach,
        ..ControllerSettings::default()
    }
}

fn closed(system: &System, settings: &ControllerSettings) -> ClosedLoop {
    let controller = settings.build_for_system(system).expect("a controller");
    let x = system.model.neutral_configuration();
    ClosedLoop::new(system, &controller, &x).expect("rest")
}

fn sampled(system: &System, settings: &ControllerSettings, step: f64) -> SampledLoop {
    let lags = system.inputs.time_constants();
    closed(system, settings)
        .sampled(step, lags)
        .expect("a loop")
}

/// Whether the loop has the margins, computed independently: scanned gains, the frequencies of the open loop, damping of the poles.
#[track_caller]
fn has(sampled: &SampledLoop, margins: &Margins) -> bool {
    let poles = sampled.poles().expect("poles");
    if spectral_radius(&poles) >= 1.0 {
        return false;
    }
    let damped = poles.iter().all(|z| {
        let s = z.ln();
        -s.re >= (margins.damping - 1e-9) * s.norm()
    });
    let gains = sampled.gain_margins().expect("margins");
    let delay = sampled.delay_margin().expect("a margin");
    damped
        && gains.most.is_none_or(|most| most > margins.gain)
        && gains.least.is_none_or(|least| least < margins.gain.recip())
        && delay.is_none_or(|margin| margin.delay > margins.delay)
}

/// The settings with one of the bandwidths faster.
fn faster(
    system: &System,
    approach: ApproachSettings,
    found: &FastestSettings,
    times: [f64; 3],
) -> ControllerSettings {
    let x = system.model.neutral_configuration();
    let motion = PoleSpec::Bandwidth(times[0] * found.motion.bandwidth);
    let attitude = found.attitude.as_ref();
    let attitude = attitude.map(|a| PoleSpec::Bandwidth(times[1] * a.bandwidth));
    let tuned = ControllerSettings::tuned(approach, system, &x, &motion, attitude.as_ref());
    let observer = found.observer.as_ref();
    ControllerSettings {
        disturbance: observer.map(|observer| DisturbanceSettings {
            bandwidth: Some(times[2] * observer.bandwidth),
            ..DisturbanceSettings::default()
        }),
        ..tuned.expect("parameters")
    }
}

#[test]
fn what_is_found_holds_and_what_is_faster_does_not() {
    for (name, description, approach) in [
        ("quadcopter", QUADCOPTER, ApproachSettings::Energy),
        ("bicopter", BICOPTER, ApproachSettings::Energy),
        ("tricopter", TRICOPTER, ApproachSettings::Energy),
        ("y6", Y6, ApproachSettings::Energy),
        ("arm", ARM, ApproachSettings::Energy),
        ("welding arm", WELDING, ApproachSettings::ComputedTorque),
        ("quadcopter, lee", QUADCOPTER, ApproachSettings::Lee),
    ] {
        let system = System::from_toml(description).expect("a system");
        let x = system.model.neutral_configuration();
        // With the observer the states are twice as many, and the search takes its time.
        let observers: &[bool] = match name {
            "quadcopter" | "arm" => &[false, true],
            _ => &[false],
        };
        for &observer in observers {
            let demands = demands(observer);
            let found = of(approach).fastest(&system, &x, None, &demands);
            let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
            let loop_of = |settings: &ControllerSettings| sampled(&system, settings, demands.step);
            assert!(
                has(&loop_of(&found.settings), &demands.margins),
                "{name} {observer}"
            );
            let same = faster(&system, approach, &found, [1.0; 3]);
            assert_eq!(
                same.with_others_of(&found.settings),
                found.settings,
                "{name}"
            );

            let is_one = [true, found.attitude.is_some(), observer];
            assert_eq!(found.observer.is_some(), observer, "{name}");
            let limits = [
                Some(&found.motion),
                found.attitude.as_ref(),
                found.observer.as_ref(),
            ];
            for (i, is_one) in is_one.into_iter().enumerate() {
                let Some(limit) = limits[i]
                    .and_then(|found| found.limit.as_ref())
                    .filter(|_| is_one)
                else {
                    continue;
                };
                let mut times = [1.0; 3];
                times[i] = SCAN;
                let settings = faster(&system, approach, &found, times);
                if let BandwidthLimit::Saturation { free, .. } = limit {
                    let error =
                        closed(&system, &settings).unsaturated_error(system.inputs.limits(), 5..6);
                    assert!(
                        error < demands.heading_error && (error - free).abs() < 1e-9,
                        "{name}"
                    );
                } else {
                    let lacks = !has(&loop_of(&settings), &demands.margins);
                    assert!(lacks, "{name} {observer} {i}: {limit}");
                }
            }
        }
    }
}

#[test]
fn each_margin_can_be_the_one_that_limits() {
    let system = System::from_toml(QUADCOPTER).expect("a system");
    let x = system.model.neutral_configuration();
    let limit = |demands: LoopRequirements| {
        let found = of(ApproachSettings::Energy).fastest(&system, &x, None, &demands);
        let found = found.expect("one");
        (found.motion.bandwidth, found.motion.limit.expect("a limit"))
    };
    let usual = demands(false);
    let with = |gain: f64, delay: f64, damping: f64| LoopRequirements {
        margins: Margins {
            gain,
            delay,
            damping,
        },
        ..usual.clone()
    };
    let (damped, found) = limit(with(1.1, 0.0, 0.7));
    assert!(
        matches!(found, BandwidthLimit::Margin(Shortfall::Damping { ratio, .. }) if ratio < 0.7)
    );
    let (_, found) = limit(with(4.0, 0.0, 0.1));
    assert!(
        matches!(found, BandwidthLimit::Margin(Shortfall::Gain(_))),
        "{found}"
    );
    let (_, found) = limit(with(1.1, 0.1, 0.1));
    assert!(
        matches!(found, BandwidthLimit::Margin(Shortfall::Delay(_))),
        "{found}"
    );
    let (loose, _) = limit(with(1.1, 0.0, 0.3));
    assert!(loose > damped);
    let (held, found) = limit(LoopRequirements {
        error: 1.5,
        ..usual.clone()
    });
    assert!(
        matches!(found, BandwidthLimit::Saturation { .. }),
        "{found}"
    );
    let settings = of(ApproachSettings::Energy);
    let demands = LoopRequirements {
        error: 1.5,
        ..usual.clone()
    };
    let found = settings.fastest(&system, &x, None, &demands).expect("one");
    let free = closed(&system, &found.settings).unsaturated_error(system.inputs.limits(), 0..3);
    assert!(
        found.motion.bandwidth == held && (1.5..1.8).contains(&free),
        "{free}"
    );

    // Nothing keeps more than there is.
    let impossible = LoopRequirements {
        error: 1e6,
        ..usual.clone()
    };
    let error = settings
        .fastest(&system, &x, None, &impossible)
        .unwrap_err();
    assert!(
        matches!(error, FastestError::NoFeasibleBandwidth(_)),
        "{error}"
    );
    // A turn that was asked for stays.
    let turn = PoleSpec::Bandwidth(0.5);
    let found = settings
        .fastest(&system, &x, Some(&turn), &usual)
        .expect("one");
    assert_eq!(found.attitude, None);
}

#[test]
fn many_steps_of_delay_are_looked_at_by_frequencies() {
    // 10 ms are 100 steps: the poles with so many commands on their way are not computed.
    let system = System::from_toml(QUADCOPTER).expect("a system");
    let x = system.model.neutral_configuration();
    let motion = PoleSpec::Bandwidth(1.5);
    let tuned = ControllerSettings::tuned(ApproachSettings::Energy, &system, &x, &motion, None);
    let tuned = tuned.expect("parameters");
    let fast = sampled(&system, &tuned, 1e-4);
    let margin = fast.delay_margin().expect("a margin").expect("one").delay;
    let short = |delay: f64| {
        let margins = Margins {
            gain: 1.0,
            delay,
            damping: 0.0,
        };
        margins.shortfall(&fast).expect("poles")
    };
    assert_eq!(short(0.99 * margin), None);
    assert_eq!(short(1.01 * margin), Some(Shortfall::Delay(margin)));
    // As the poles say, at a rate at which they can be asked.
    let slow = sampled(&system, &tuned, 1e-2);
    let margin = slow.delay_margin().expect("a margin").expect("one").delay;
    let short = |delay: f64| {
        let margins = Margins {
            gain: 1.0,
            delay,
            damping: 0.0,
        };
        margins.shortfall(&slow).expect("poles").is_some()
    };
    assert!(!short(0.95 * margin) && short(1.05 * margin));
}

#[test]
fn without_parameters_at_any_bandwidth_the_reason_stands_once() {
    let text = QUADCOPTER.replace("drag_ratio", "# drag_ratio");
    let system = System::from_toml(&text).expect("a quadcopter");
    let x = system.model.neutral_configuration();
    let error = of(ApproachSettings::default())
        .fastest(&system, &x, None, &demands(false))
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("keeps the margins: there are no parameters: poles"),
        "{error}"
    );
    assert_eq!(
        error.matches("without torque about z").count(),
        1,
        "{error}"
    );
}

#[test]
fn a_system_without_inputs_has_no_joint_loops() {
    let text = "name = 'arm'\n[bodies.link]\njoint = { type = 'revolute', axis = [0, 0, 1] }\nmass = 1\ninertia = [1, 1, 1]\n";
    let system = System::from_toml(text).expect("an arm");
    let poles = PoleSpec::Bandwidth(2.0);
    let found = fly_control::tuning::joint_loops(&system, &[0.0], &poles, None);
    assert_eq!(found, Err(fly_control::tuning::TuningError::NoInputs));
}
