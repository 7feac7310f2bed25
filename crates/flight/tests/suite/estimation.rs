//! Flights on the state estimated from simulated sensors, some of which fail.

#![allow(non_snake_case)]

use fly_flight::config::{Configuration, EstimatorSection};
use fly_flight::estimation::Estimation;
use fly_flight::pilot::Reading;
use fly_flight::{
    Discard, EstimatorReport, Flight, FlightError, Memory, SensorReport, Summary, Verdict,
};
use fly_hal::{
    Backend, Clock, Deadline, Description, Error, Frame, FrameMut, GroupStatus, Info, Instance,
    ReadOutcome, Request,
};
use fly_lie::{SE23, SO3};
use fly_plugin_sim::Simulation;
use nalgebra::{SMatrix, SVector, Vector3, Vector4};

use crate::common::configuration;

mod faults;

const EXAMPLE: &str = "examples/quadcopter-estimated.toml";
const CAPTURE: &str = "motion_capture.position";
const GYRO: &str = "imu.angular_velocity";

/// Modifies a frame that was read: time (s), description, frame.
type Spoil = Box<dyn FnMut(f64, &Description, &mut FrameMut) + Send>;

/// The simulation, with its frames modified.
struct Spoiled {
    simulation: Simulation,
    spoil: Spoil,
}

impl Backend for Spoiled {
    const INFO: Info = Info {
        name: "spoiled",
        version: "1.0.0",
        summary: "a simulation with broken sensors",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(configuration: &fly_hal::Configuration) -> Result<Self, Error> {
        Ok(Self {
            simulation: Simulation::configure(configuration)?,
            spoil: Box::new(|_, _, _| ()),
        })
    }

    fn description(&self) -> &Description {
        self.simulation.description()
    }

    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let outcome = self.simulation.read(deadline, frame)?;
        let time = *frame.time as f64 * 1e-9;
        (self.spoil)(time, self.simulation.description(), frame);
        Ok(outcome)
    }

    fn write(&mut self, time: i64, commands: &[f64]) -> Result<(), Error> {
        self.simulation.write(time, commands)
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        self.simulation.request(request)
    }
}

fn spoiled(
    configuration: &Configuration,
    spoil: impl FnMut(f64, &Description, &mut FrameMut) + Send + 'static,
) -> Instance {
    let given = fly_hal::Configuration {
        rate_hz: configuration.flight.rate_hz,
        seed: configuration.flight.seed,
        ..fly_hal::Configuration::new(
            configuration.backend.table.text(),
            configuration.vehicle_text.text(),
        )
    };
    let mut backend = Spoiled::configure(&given).unwrap_or_else(|error| panic!("{error}"));
    backend.spoil = Box::new(spoil);
    Instance::of(backend).expect("a backend")
}

fn fly(
    set: &[&str],
    spoil: impl FnMut(f64, &Description, &mut FrameMut) + Send + 'static,
) -> Summary {
    let configuration = configuration(EXAMPLE, set);
    let mut sink = Discard;
    let plant = spoiled(&configuration, spoil);
    let flight = Flight::new(&configuration, plant, &mut sink);
    flight.unwrap_or_else(|error| panic!("{error}")).run()
}

fn report(summary: &Summary) -> &EstimatorReport {
    summary.estimator.as_ref().expect("an estimator")
}

fn sensor<'a>(summary: &'a Summary, name: &str) -> &'a SensorReport {
    let mut sensors = report(summary).sensors.iter();
    sensors
        .find(|sensor| sensor.name == name)
        .expect("it is used")
}

/// Index of a group in a frame, and indices of its values.
fn place(description: &Description, group: &str) -> (usize, Vec<usize>) {
    let values = fly_hal::signal::group_names(group)
        .map(|name| description.value_index(&name).expect("a value"))
        .collect();
    (description.find_group(group).expect("a group"), values)
}

/// Freezes a group at its values at this time, and its stamp as well unless the stamp advances.
fn holds(
    group: &'static str,
    from: f64,
    stamps_go_on: bool,
) -> impl FnMut(f64, &Description, &mut FrameMut) + Send {
    let mut kept: Option<(Vec<f64>, GroupStatus)> = None;
    move |time, description, frame| {
        let (at, values) = place(description, group);
        if time < from {
            return;
        }
        let now = || {
            (
                values.iter().map(|i| frame.values[*i]).collect(),
                frame.groups[at],
            )
        };
        let (numbers, status) = kept.get_or_insert_with(now);
        for (i, number) in values.iter().zip(numbers) {
            frame.values[*i] = *number;
        }
        if !stamps_go_on {
            frame.groups[at] = *status;
        }
    }
}

/// Changes the values of a group in a time interval.
fn changes(
    group: &'static str,
    from: f64,
    until: f64,
    change: impl Fn(f64) -> f64 + Send,
) -> impl FnMut(f64, &Description, &mut FrameMut) + Send {
    let mut last: Option<GroupStatus> = None;
    move |time, description, frame| {
        let (at, values) = place(description, group);
        // A frame keeps its values until new ones arrive.
        let is_new = last.replace(frame.groups[at]) != Some(frame.groups[at]);
        if is_new && (from..until).contains(&time) {
            let first = values[0];
            frame.values[first] = change(frame.values[first]);
        }
    }
}

fn given_up(summary: &Summary) -> &str {
    let failsafe = summary.interventions.failsafe.as_ref();
    failsafe.map_or("", |failsafe| failsafe.reason.as_str())
}

#[test]
fn it_flies_as_on_the_measured_state() {
    let estimated = fly(&[], |_, _, _| ());
    let measured = fly(
        &["estimator.state=measured", "backend.sim.sensors.ideal=true"],
        |_, _, _| (),
    );
    assert_eq!(
        (estimated.verdict, measured.verdict),
        (Verdict::Flown, Verdict::Flown)
    );
    for summary in [&estimated, &measured] {
        let [position, attitude] = report(summary).errors.expect("the truth is told");
        let [tracked, turned] = [0, 1].map(|kind| summary.errors[kind].magnitude.rms());
        println!(
            "estimate: {} m, {} degrees; flight: {tracked} m, {} degrees",
            position.rms(),
            attitude.rms().to_degrees(),
            turned.to_degrees()
        );
        assert!(position.rms() < 0.05 && attitude.rms() < 1_f64.to_radians());
        let capture = sensor(summary, "motion_capture");
        assert!(
            capture.accepted > 900 && capture.rejected <= 5,
            "{capture:?}"
        );
    }
    for kind in [0, 1] {
        let [with, without] =
            [&estimated, &measured].map(|summary| summary.errors[kind].magnitude.rms());
        assert!(with < 2.0 * without, "{kind}: {with} {without}");
    }
    // The biases configured in the simulation.
    let [gyro, accelerometer] = report(&estimated).biases;
    for (found, bias) in gyro.iter().zip([0.01, -0.02, 0.005]) {
        assert!((found - bias).abs() < 3e-3, "{gyro:?}");
    }
    for (found, bias) in accelerometer.iter().zip([0.1, -0.05, 0.08]) {
        assert!((found - bias).abs() < 0.05, "{accelerometer:?}");
    }
}

#[test]
fn a_position_sensor_that_stops_or_freezes_ends_in_the_failsafe() {
    for goes_on in [false, true] {
        let summary = fly(&["safety.max_descent_time=1"], holds(CAPTURE, 5.0, goes_on));
        assert_eq!(summary.verdict, Verdict::SafetyStop, "{goes_on}");
        assert_eq!(
            given_up(&summary),
            "nothing has corrected the estimated position for too long"
        );
        let time = summary
            .interventions
            .failsafe
            .as_ref()
            .map_or(0.0, |failsafe| failsafe.time);
        // The timeout, the filter's delay and the hold time after the last measurement.
        assert!((5.5..5.65).contains(&time), "{time}");
        let repeated = sensor(&summary, "motion_capture").repeated;
        assert_eq!(repeated > 0, goes_on, "{repeated}");
        // The IMU continues in the failsafe, so the estimate drifts slowly.
        let [position, _] = report(&summary).errors.expect("the truth is told");
        assert!(position.max() < 0.5, "{}", position.max());
    }
}

#[test]
fn a_jump_is_rejected_and_one_that_lasts_is_taken_in_the_end() {
    let summary = fly(&[], changes(CAPTURE, 5.0, 5.3, |x| x + 1.0));
    assert_eq!((summary.verdict, given_up(&summary)), (Verdict::Flown, ""));
    let capture = sensor(&summary, "motion_capture");
    assert!(
        (13..=20).contains(&capture.rejected) && capture.widened == 0,
        "{capture:?}"
    );
    let [position, _] = report(&summary).errors.expect("the truth is told");
    assert!(position.max() < 0.1, "{}", position.max());

    let summary = fly(&[], changes(CAPTURE, 5.0, 1e9, |x| x + 1.0));
    assert_eq!(summary.interventions.resumed, 1, "{}", given_up(&summary));
    assert!(sensor(&summary, "motion_capture").widened >= 1);
    // It flies where the motion capture says it is.
    let error = summary.errors[0].steady_offset;
    assert!((error - 1.0).abs() < 0.1, "{error}");
}

/// GNSS besides the simulation's pose: the attitude comes from the motion or, with a magnetometer, from the field.
#[test]
fn outdoors_it_finds_its_attitude() {
    let gnss = "backend.sim.sensors={ imu = {}, gnss = { drift = [0, 0, 0] }, barometer = { drift = 0 }, magnetometer = { field = [2e-5, 0, -4.3e-5] } }";
    let common = [
        gnss,
        "flight.duration=40",
        "backend.sim.sensors.ideal=true",
        "estimator.state=measured",
        "estimator.motion_capture.use=false",
        // Brisk enough for the heading to be observable from the motion.
        "reference.amplitude=[5, 4, 0.5]",
        "estimator.filter.start_accelerometer_bias=0.1",
        "estimator.filter.start_gyro_bias=0.01",
        "estimator.filter.delay=0.25",
        "estimator.filter.start_velocity=2",
    ];
    let field = "estimator.magnetometer.field=[2e-5, 0, -4.3e-5]";
    for field in [&[][..], &[field]] {
        let summary = fly(&[&common[..], field].concat(), |_, _, _| ());
        let report = report(&summary);
        let [distance, angle] = report.errors.expect("it has converged");
        println!(
            "{field:?}: converged after {:?} s, {} m, {} degrees, {:?}",
            report.converged,
            distance.rms(),
            angle.rms().to_degrees(),
            report.sensors
        );
        assert!(report.converged.is_some_and(|time| time < 15.0));
        assert!(distance.rms() < 0.5, "{}", distance.rms());
        assert!(
            angle.rms().to_degrees() < 3.0,
            "{}",
            angle.rms().to_degrees()
        );
        let mut sensors = report.sensors.iter();
        let has_field = sensors.any(|one| one.name == "magnetometer.field");
        assert_eq!(
            (has_field, report.unused.is_empty()),
            (!field.is_empty(), !field.is_empty())
        );
    }
}

/// All sensors with their defaults, which drift, and an estimator with its own: nothing need be tuned to each other.
#[test]
fn with_all_defaults_it_flies_outdoors() {
    for seed in 1..=4 {
        let seed = format!("flight.seed={seed}");
        let set = [
            seed.as_str(),
            "estimator={ magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
            "backend.sim.sensors={ ideal = false, imu = {}, gnss = {}, barometer = {}, magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
        ];
        let configuration = configuration("examples/quadcopter-take-off.toml", &set);
        let backend = spoiled(&configuration, |_, _, _| ());
        let mut nowhere = Discard;
        let flight = Flight::new(&configuration, backend, &mut nowhere).unwrap();
        let summary = flight.run();
        assert_eq!(summary.verdict, Verdict::Flown, "{seed}: {:?}", summary.end);
        for sensor in ["gnss.position", "barometer"] {
            let counts = self::sensor(&summary, sensor);
            assert!(
                counts.rejected <= counts.accepted / 100 && counts.accepted > 100,
                "{seed}: {counts:?}"
            );
        }
    }
}

/// A sensor that jumps for good while another contradicts it loses nobody: the vehicle is never taken for one on the ground, nor turned over by it. At the
/// end it flies, or has been flown down.
#[test]
fn a_sensor_that_lies_outdoors_brings_no_vehicle_down() {
    for (group, offset, verdict) in [
        ("barometer", vec![10.0], Verdict::Flown),
        ("barometer", vec![-10.0], Verdict::Flown),
        ("magnetometer.field", vec![0.0, 12e-6, 0.0], Verdict::Flown),
        ("gnss.position", vec![0.0, 0.0, -20.0], Verdict::SafetyStop),
        ("gnss.velocity", vec![3.0, 0.0, 0.0], Verdict::Flown),
    ] {
        let set = [
            "flight.duration=36",
            "safety.max_descent_time=20",
            "reference.points=[{position=[0,0,-0.02],hold=1},{position=[0,0,3]},{position=[2,0,3],hold=8},{position=[2,0,-0.02]}]",
            "estimator={ magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
            "backend.sim.sensors={ ideal = false, imu = {}, gnss = {}, barometer = {}, magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
        ];
        let configuration = configuration("examples/quadcopter-take-off.toml", &set);
        let lies = move |time: f64, description: &Description, frame: &mut FrameMut| {
            let (_, values) = place(description, group);
            if time > 10.0 {
                for (value, offset) in values.iter().zip(&offset) {
                    frame.values[*value] += offset;
                }
            }
        };
        let mut rows = Memory::default();
        let plant = spoiled(&configuration, lies);
        let flight = Flight::new(&configuration, plant, &mut rows).unwrap();
        let summary = flight.run();
        assert_eq!(summary.verdict, verdict, "{group}: {}", given_up(&summary));
        let (height, rate) = last_height(&rows);
        // The barometer knows the ground to about a metre.
        assert!(
            height < 1.0 && rate.abs() < 1.0,
            "{group}: it ends {height} m high, at {rate} m/s"
        );
        let [_, attitude] = &summary.errors;
        assert!(
            attitude.magnitude.max() < 0.5,
            "{group}: {} rad",
            attitude.magnitude.max()
        );
    }
}

/// The true height (m) and its rate (m/s) in the last rows of a flight.
fn last_height(flown: &Memory) -> (f64, f64) {
    let name = "truth.pose.position.z";
    let place = flown.header.description.value_index(name).expect("told");
    let [before, last] = [20, 1].map(|back| &flown.rows[flown.rows.len() - back]);
    let [from, to] = [before, last].map(|row| row.values[place]);
    let elapsed = (last.time - before.time) as f64 * 1e-9;
    (to, (to - from) / elapsed)
}

/// What keeps an estimate from its start is told: without the field that a magnetometer is to measure, a vehicle at rest has no heading.
#[test]
fn an_estimate_that_does_not_begin_says_why() {
    let set = [
        "estimator={}",
        "backend.sim.sensors={ ideal = false, imu = {}, gnss = {}, magnetometer = {} }",
    ];
    let configuration = configuration("examples/quadcopter-take-off.toml", &set);
    let backend = spoiled(&configuration, |_, _, _| ());
    let mut nowhere = Discard;
    let summary = Flight::new(&configuration, backend, &mut nowhere)
        .unwrap()
        .run();
    assert_eq!(summary.verdict, Verdict::NotFlown);
    let end = format!("{:?}", summary.end);
    for part in [
        "has not converged, as nothing measures the attitude",
        "`magnetometer.field` is not used: `estimator.magnetometer.field` is not given",
    ] {
        assert!(end.contains(part), "{end}");
    }
}

/// In the coordinates of a map a flight on GNSS and field is that at the map's corner: its reference and its start are shifted, nothing else.
#[test]
fn in_the_coordinates_of_a_map_it_flies_as_at_its_corner() {
    let fly_at = |x: f64, y: f64| {
        let start = format!("backend.sim.initial.position=[{x}, {y}, 1]");
        let hover = format!("reference={{ kind = 'hover', position = [{x}, {y}, 1] }}");
        let sensors = "backend.sim.sensors={ imu = {}, gnss = { position_noise = [0.02, 0.02, 0.02], drift = [0, 0, 0] }, magnetometer = { field = [2e-5, 0, -4.3e-5] } }";
        let field = "estimator.magnetometer.field=[2e-5, 0, -4.3e-5]";
        fly(&[&start, &hover, sensors, field], |_, _, _| ())
    };
    let largest = |summary: &Summary| {
        assert_eq!(summary.verdict, Verdict::Flown, "{:?}", summary.end);
        let [position, attitude] = report(summary).errors.expect("the truth is told");
        [position.rms(), attitude.rms()]
    };
    let corner = largest(&fly_at(0.0, 0.0));
    for (x, y) in [(2e3, 0.0), (5e5, 5e6)] {
        let there = largest(&fly_at(x, y));
        for (there, corner) in there.iter().zip(corner) {
            assert!(
                (there - corner).abs() < 0.01 * corner,
                "{there} {corner} at {x}, {y}"
            );
        }
    }
}

/// Where the fixes of GNSS are exact but for their height, the error is that of the height: a barometer brings it below half of its own noise, a range finder below its own, in flight
/// at up to 25 degrees, where a slanted ray is 10 % longer than the height.
#[test]
fn heights_are_known_better_than_their_sensors_say() {
    let error = |sensor: &str, key: &str| {
        let sensors = format!(
            "backend.sim.sensors={{ ideal = true, imu = {{}}, gnss = {{ drift = [0, 0, 0], position_noise = [0.02, 0.02, 1.5] }}, \
             magnetometer = {{ field = [2e-5, 0, -4.3e-5] }}{sensor} }}"
        );
        let set = [
            sensors.as_str(),
            "backend.sim.ground={ height = -4 }",
            "backend.sim.initial={ position = [4, 3, 0] }",
            "reference.amplitude=[4, 3, 0.5]",
            "reference.phase=[1.57, 1.57, 0]",
            "flight.duration=15",
            "estimator.state=measured",
            "estimator.motion_capture.use=false",
            "estimator.gnss.position_noise=[0.02, 0.02, 1.5]",
            "estimator.magnetometer.field=[2e-5, 0, -4.3e-5]",
            "estimator.filter.delay=0.25",
            key,
        ];
        let summary = fly(&set, |_, _, _| ());
        let [distance, _] = report(&summary).errors.expect("it has converged");
        println!("{sensor}: {:.4} m", distance.rms());
        distance.rms()
    };
    let alone = error("", "estimator.range.use=false");
    let pressed = error(
        ", barometer = { noise = 0.2, drift = 0 }",
        "estimator.barometer.noise=0.2",
    );
    let ranged = error(
        ", range = { noise = 0.05 }",
        "estimator.range={ use = true, noise = 0.05, ground_height = -4 }",
    );
    assert!(pressed < 0.1 && pressed < 0.5 * alone, "{pressed} {alone}");
    assert!(ranged < 0.05 && ranged < pressed, "{ranged} {pressed}");
}

#[test]
fn what_is_no_number_corrects_nothing() {
    let summary = fly(&[], changes(CAPTURE, 5.0, 5.3, |_| f64::NAN));
    assert_eq!((summary.verdict, given_up(&summary)), (Verdict::Flown, ""));
    assert!((13..=17).contains(&sensor(&summary, "motion_capture").invalid));
    let summary = fly(
        &["safety.max_descent_time=1"],
        changes(CAPTURE, 5.0, 1e9, |_| f64::NAN),
    );
    assert_eq!(
        given_up(&summary),
        "nothing has corrected the estimated position for too long"
    );
}

#[test]
fn an_imu_that_fails_is_a_sensor_that_fails() {
    let summary = fly(&[], changes(GYRO, 5.0, 5.03, |_| f64::NAN));
    assert_eq!((summary.verdict, given_up(&summary)), (Verdict::Flown, ""));
    assert_eq!(summary.interventions.dropouts, 1);
    let short = ["safety.max_descent_time=1"];
    let summary = fly(&short, changes(GYRO, 5.0, 1e9, |_| f64::NAN));
    assert_eq!(given_up(&summary), "`imu.angular_velocity` is not finite");
    let summary = fly(&short, holds(GYRO, 5.0, false));
    assert_eq!(given_up(&summary), "`imu.angular_velocity` is stale");
    // A single triad may be rounded, but not for long.
    for name in [GYRO, "imu.specific_force"] {
        let summary = fly(&short, holds(name, 5.0, true));
        assert_eq!(given_up(&summary), format!("`{name}` repeats itself"));
    }
    let (mut gyro, mut force) = (
        holds(GYRO, 5.0, true),
        holds("imu.specific_force", 5.0, true),
    );
    let summary = fly(&short, move |time, description, frame| {
        gyro(time, description, frame);
        force(time, description, frame);
    });
    assert_eq!(given_up(&summary), "`imu.angular_velocity` repeats itself");
}

#[test]
fn late_measurements_count_where_they_were_made() {
    let late = |filter: &'static str| {
        fly(
            &[
                "backend.sim.sensors.motion_capture.delay=0.08",
                "backend.sim.sensors.motion_capture.jitter=0.03",
                filter,
            ],
            |_, _, _| (),
        )
    };
    let summary = late("estimator.filter.delay=0.12");
    assert_eq!(summary.verdict, Verdict::Flown);
    let [position, attitude] = report(&summary).errors.expect("the truth is told");
    assert!(
        position.rms() < 0.02 && attitude.rms() < 1_f64.to_radians(),
        "{position:?}"
    );
    let capture = sensor(&summary, "motion_capture");
    assert!(capture.accepted > 850 && capture.late == 0, "{capture:?}");
    // Measurements later than the filter's memory are useless, and the flight does not begin.
    let summary = late("estimator.filter.delay=0.02");
    assert_eq!(summary.verdict, Verdict::NotFlown);
    assert!(sensor(&summary, "motion_capture").late > 100);
    let end = format!("{:?}", summary.end);
    let expected = "the estimate has not converged, as `motion_capture` came more than `estimator.filter.delay`, 0.02 s, after the measurement";
    assert!(end.contains(expected), "{end}");
}

/// The example's section, with changes, against a backend with these groups.
fn bind(set: &[&str], groups: &[&str]) -> Result<Vec<&'static str>, String> {
    let section = configuration(EXAMPLE, set).estimator.expect("a section");
    let described = groups
        .iter()
        .try_fold(Description::new(), |all, group| all.with_group(group));
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let described = described.expect("canonical");
    match Estimation::new(&section, gravity, 0, "radio", &described) {
        Ok((estimation, _)) => Ok(estimation.sensors().collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn what_is_missing_is_named() {
    let imu = [GYRO, "imu.specific_force"];
    let all = [
        &imu[..],
        &[
            CAPTURE,
            "gnss.position",
            "gnss.velocity",
            "barometer",
            "range",
        ],
    ]
    .concat();
    assert_eq!(
        bind(&[], &all).expect("enough"),
        [
            GYRO,
            "imu.specific_force",
            CAPTURE,
            "gnss.position",
            "gnss.velocity",
            "barometer"
        ]
    );
    let used = [
        "estimator.motion_capture.use=false",
        "estimator.range.use=true",
    ];
    assert_eq!(
        bind(&used, &all).expect("enough"),
        [
            GYRO,
            "imu.specific_force",
            "gnss.position",
            "gnss.velocity",
            "barometer",
            "range"
        ]
    );
    for (set, groups, expected) in [
        (
            &[][..],
            &[CAPTURE][..],
            "`[estimator]` needs `imu.angular_velocity` and `imu.specific_force`, which the backend `radio` does not measure; it measures \
             `motion_capture.position`",
        ),
        (
            &[],
            &imu,
            "`[estimator]` needs `motion_capture.position` or `gnss.position`, which the backend `radio` does not measure; it measures \
             `imu.angular_velocity`, `imu.specific_force`",
        ),
        (
            &["estimator.barometer.use=true"],
            &[GYRO, "imu.specific_force", CAPTURE],
            "`[estimator]` needs `barometer`, which the backend `radio` does not measure; it measures `imu.angular_velocity`, \
             `imu.specific_force`, `motion_capture.position`",
        ),
        (
            &["estimator.magnetometer.use=true"],
            &[GYRO, "imu.specific_force", CAPTURE, "magnetometer.field"],
            "`estimator.magnetometer.use` needs `estimator.magnetometer.field`: the magnetic field of the world, T",
        ),
    ] {
        assert_eq!(bind(set, groups).expect_err(expected), expected);
    }
    // Without a delay of its own the filter has that of its sensors, which a timeout must exceed.
    let mut section = configuration(EXAMPLE, &[]).estimator.expect("a section");
    (section.delay, section.correction_timeout) = (None, Some(0.25));
    let groups = [GYRO, "imu.specific_force", "gnss.position"];
    let described =
        (groups.iter()).try_fold(Description::new(), |all, group| all.with_group(group));
    let described = described.expect("canonical");
    let error = Estimation::new(&section, Vector3::zeros(), 0, "radio", &described).err();
    assert_eq!(
        error.expect("too short").to_string(),
        "`estimator.correction_timeout`: expected more than the filter's delay, 0.25 s with these sensors unless `estimator.filter.delay` is given, found 0.25"
    );
    // A flight reports the same.
    let configuration = configuration(EXAMPLE, &["estimator.barometer.use=true"]);
    let mut sink = Discard;
    let flight = Flight::new(
        &configuration,
        spoiled(&configuration, |_, _, _| ()),
        &mut sink,
    );
    assert!(matches!(flight.err(), Some(FlightError::Estimator(_))));
}

#[test]
fn keys_are_checked_where_they_stand() {
    let text = |line: &str| {
        format!(
            "[vehicle]\nname = 'brick'\nbodies.brick = {{ mass = 1, inertia = [1, 1, 1] }}\n\
             rotors = [{{ body = 'brick', axis = [0, 0, 1] }}]\n[controller]\n[reference]\nkind = 'hover'\n[estimator]\n{line}\n"
        )
    };
    for (line, expected) in [
        ("gates = 1", "unknown"),
        ("max_position = 0", "expected more than 0"),
        ("max_attitude_deg = 200", "at most 180"),
        (
            "filter.gyro_noise = -1",
            "expected a positive number, found -1",
        ),
        ("filter.delay = 2", "expected at most 1 s"),
        (
            "correction_timeout = 0.5\nfilter.delay = 0.5",
            "expected more than `estimator.filter.delay`, 0.5 s",
        ),
        ("gnss.position_noise = [1, 0, 1]", "expected more than 0"),
        (
            "magnetometer.field = [0, 0, 0]",
            "expected a vector with a finite length of more than 0",
        ),
        ("state = 'guessed'", "expected"),
    ] {
        let error = Configuration::from_toml("brick", &text(line))
            .expect_err(line)
            .to_string();
        assert!(error.contains(expected), "{line}: {error}");
        assert!(error.contains("brick:9:"), "{line}: {error}");
    }
    let same = EstimatorSection::default();
    assert_eq!(same.delay, None);
}

/// Rows of a flight as a frame each.
fn frames(configuration: &Configuration) -> (Description, Vec<Frame>) {
    let mut sink = Memory::default();
    let plant = spoiled(configuration, |_, _, _| ());
    // What a row does not keep: the groups.
    let summary = Flight::new(configuration, plant, &mut sink)
        .expect("a flight")
        .run();
    assert_eq!(summary.verdict, Verdict::Flown);
    let description = sink.header.description.clone();
    let frames = sink.rows.iter().map(|row| Frame {
        time: row.time,
        values: row.values.clone(),
        groups: row.groups.clone(),
    });
    (description, frames.collect())
}

/// The normalised squared errors of attitude, velocity and position against the simulation's truth, over seeded flights
/// with simulated sensors.
#[test]
fn through_the_flight_the_covariance_is_that_of_the_errors() {
    let n = 100;
    let (mut sum, mut attitude, mut position) = (0.0, 0.0, 0.0);
    for seed in 0..n {
        let seed = format!("flight.seed={}", 100 + seed);
        let set = [
            "flight.duration=4",
            "estimator.filter.gate=0.999999",
            "estimator.filter.gyro_noise=1.6968e-4",
            "estimator.filter.gyro_bias_walk=1.9393e-5",
            "estimator.filter.delay=0.02",
            &seed,
        ];
        let configuration = configuration(EXAMPLE, &set);
        let (description, frames) = frames(&configuration);
        let section = configuration.estimator.as_ref().expect("a section");
        let gravity = *configuration.system.model.gravity();
        let (mut estimation, _) =
            Estimation::new(section, gravity, 100_000_000, "rows", &description).expect("enough");
        let truth = |frame: &Frame| {
            let get = |name: &str| {
                let names = fly_hal::signal::group_names(name).map(|name| {
                    frame.values[description
                        .value_index(&fly_hal::signal::truth(&name))
                        .expect("told")]
                });
                names.collect::<Vec<f64>>()
            };
            let rotation =
                SO3::from_quaternion(&Vector4::from_column_slice(&get("pose.quaternion")));
            let velocity = rotation.act(&Vector3::from_column_slice(&get("twist.linear")));
            SE23::new(
                rotation,
                velocity,
                Vector3::from_column_slice(&get("pose.position")),
            )
        };
        for frame in &frames {
            estimation.take(frame.time, Reading::Fresh, frame);
        }
        let (time, filter) = estimation.filter().expect("it has started");
        let at = frames
            .iter()
            .find(|frame| frame.time == time)
            .expect("a frame");
        let truth = truth(at);
        let zero = Vector3::zeros();
        let e: SVector<f64, 9> = filter
            .error(&truth, &zero, &zero)
            .fixed_rows::<9>(0)
            .into_owned();
        let P: SMatrix<f64, 9, 9> = filter.covariance().fixed_view::<9, 9>(0, 0).into_owned();
        sum += e.dot(&(P.try_inverse().expect("positive") * e));
        attitude += (truth.rotation * filter.pose().rotation.inverse())
            .log()
            .norm_squared();
        position += (truth.position - filter.pose().position).norm_squared();
    }
    let n = f64::from(n);
    let (mean, band) = (sum / n, 1.96 * (18.0 / n).sqrt());
    let (attitude, position) = ((attitude / n).sqrt().to_degrees(), (position / n).sqrt());
    println!("NEES {mean} of 9 (band {band}); {attitude} degrees, {position} m");
    assert!((mean - 9.0).abs() < band, "{mean} is not 9 within {band}");
    assert!(attitude < 1.0 && position < 0.05, "{attitude} {position}");
}

/// Root mean square of the distance of the true position from the reference in the second half of a flight, m.
fn second_half(flown: &Memory) -> f64 {
    let names = ["x", "y", "z"].map(|axis| format!("truth.pose.position.{axis}"));
    let places = names.map(|name| flown.header.description.value_index(&name).expect("told"));
    let rows = &flown.rows[flown.rows.len() / 2..];
    let squares = rows.iter().filter_map(|row| {
        let to = row.control.as_ref()?.reference?.pose;
        let square = |k: usize| (row.values[places[k]] - to[k]).powi(2);
        Some((0..3).map(square).sum::<f64>())
    });
    let (sum, count) = squares.fold((0.0, 0.0), |(sum, count), square| {
        (sum + square, count + 1.0)
    });
    (sum / f64::max(count, 1.0)).sqrt()
}

/// Every shipped vehicle flight, on motion capture at 50 Hz and an IMU, compared with the same flight on the true
/// state.
#[test]
fn shipped_flights_err_at_most_twice_as_much() {
    let sensors = [
        "estimator.filter.delay=0.02",
        "estimator.filter.gyro_noise=3e-4",
        "estimator.filter.accelerometer_noise=3e-3",
        "estimator.filter.accelerometer_bias_walk=3e-3",
        "estimator.filter.start_velocity=1",
        "estimator.motion_capture.position_noise=6e-4",
        "estimator.motion_capture.attitude_noise=2.5e-3",
        "backend.sim.sensors={ ideal = false, imu = {}, motion_capture = { rate = 50 } }",
    ];
    let mut failed = Vec::new();
    for name in [
        "quadcopter",
        "quadcopter-loop",
        "quadcopter-upside-down",
        "hexacopter",
        "hexacopter_canted",
        "octocopter",
        "octocopter_canted",
        "coaxial_x8",
        "y6",
        "tricopter",
        "tricopter-tilted",
        "tricopter-load",
    ] {
        let flown = |set: &[&str]| {
            let configuration = configuration(&format!("{name}.toml"), set);
            let mut rows = Memory::default();
            let plant = spoiled(&configuration, |_, _, _| ());
            let flight = Flight::new(&configuration, plant, &mut rows);
            let flight = flight.unwrap_or_else(|error| panic!("{name}: {error}"));
            let summary = flight.run();
            (summary, second_half(&rows))
        };
        let ((ideal, late), (estimated, late_estimated)) = (flown(&[]), flown(&sensors));
        let rms = |summary: &Summary| [0, 1].map(|kind| summary.errors[kind].magnitude.rms());
        let ([p, a], [q, b]) = (rms(&ideal), rms(&estimated));
        let [position, attitude] = report(&estimated).errors.unwrap_or_default();
        println!(
            "| `{name}` | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.3} |",
            1e3 * p,
            1e3 * q,
            1e3 * late,
            1e3 * late_estimated,
            a.to_degrees(),
            b.to_degrees(),
            1e3 * position.rms(),
            attitude.rms().to_degrees()
        );
        let is_flown = estimated.verdict == Verdict::Flown;
        let is_good = position.rms() < 0.05 && attitude.rms() < 1_f64.to_radians();
        // What remains at the end comes from the sensors; on the true state nothing remains.
        let is_near = late_estimated <= (2.0 * late).max(5e-3);
        if !(is_flown && is_good && q <= 2.0 * p && b <= 2.0 * a && is_near) {
            failed.push(format!(
                "{name}: {} {}",
                estimated.verdict.name(),
                given_up(&estimated)
            ));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
