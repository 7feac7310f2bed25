//! Flights whose backend takes setpoints: an autopilot with its own inner loops, slow and delayed telemetry, and a
//! thrust that differs from the commanded one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use fly_flight::{Configuration, Discard, Flight, Summary, Verdict};
use fly_hal::{
    Backend, Clock, CommandSet, Deadline, Description, Error, FrameMut, GroupStatus, Info,
    Instance, ReadOutcome, Ticks,
};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector4};

use crate::common;

const GRAVITY: f64 = 9.81;
/// Gains of the attitude loop, 1/s: roll, pitch and yaw.
const ATTITUDE_GAINS: [f64; 3] = [6.5, 6.5, 2.8];
/// Largest angular velocity, rad/s.
const LARGEST_RATE: f64 = 3.84;
/// Time constant of the thrust, s.
const THRUST_LAG: f64 = 0.03;
/// Integration steps per tick.
const SUBSTEPS: u32 = 4;
/// Ticks between two telemetry frames, and their delay: 20 ms each.
const TELEMETRY: u64 = 10;
const LATENCY: usize = 10;

/// The vehicle's track: time (s), position and attitude.
type Track = Arc<Mutex<Vec<(f64, Vector3<f64>, SO3<f64>)>>>;

/// A multicopter under an autopilot that takes setpoints.
struct Autopilot {
    description: Description,
    set: CommandSet,
    ticks: Ticks,
    tick: u64,
    mass: f64,
    /// Ratio of actual to commanded thrust.
    scale: f64,
    /// Response time of the rate loop, s.
    rate_time: f64,
    pose: SE3<f64>,
    /// World frame.
    velocity: Vector3<f64>,
    /// Body frame.
    angular_velocity: Vector3<f64>,
    thrust: f64,
    told: Option<Vec<f64>>,
    /// Integral of the velocity loop, with a trajectory.
    integral: Vector3<f64>,
    late: VecDeque<(i64, [f64; 13])>,
    /// Interval without telemetry, s.
    silence: [f64; 2],
    track: Track,
}

impl Autopilot {
    fn new(set: CommandSet, configuration: &Configuration, start: SE3<f64>) -> (Self, Track) {
        let groups = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ];
        let description = (groups.iter())
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })
            .and_then(|description| description.with_commands(set))
            .expect("canonical names");
        let track = Track::default();
        let vehicle = configuration.vehicle.as_ref().expect("a vehicle");
        let mass = vehicle.body.inertia().mass();
        let autopilot = Self {
            description,
            set,
            ticks: Ticks::new(configuration.flight.rate_hz).expect("a rate"),
            tick: 0,
            mass,
            scale: 1.0,
            rate_time: 0.03,
            pose: start,
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            thrust: mass * GRAVITY,
            told: None,
            integral: Vector3::zeros(),
            late: VecDeque::new(),
            silence: [f64::INFINITY; 2],
            track: Arc::clone(&track),
        };
        (autopilot, track)
    }

    /// Angular velocity and thrust demanded by the outer loops.
    fn inner(&mut self, step: f64) -> (Vector3<f64>, f64) {
        let Some(told) = self.told.as_ref().filter(|told| !told.is_empty()) else {
            return (Vector3::zeros(), self.mass * GRAVITY);
        };
        let three = |at: usize| Vector3::new(told[at], told[at + 1], told[at + 2]);
        match self.set {
            CommandSet::Rates => (three(0), told[3]),
            CommandSet::Attitude => {
                let wanted = Vector4::new(told[0], told[1], told[2], told[3]);
                (self.turn_to(&SO3::from_quaternion(&wanted)), told[4])
            }
            _ => {
                // P position and PI velocity control with feed-forward, as in PX4.
                let slow = three(3) + (three(0) - self.pose.translation) * 0.95;
                let error = slow - self.velocity;
                self.integral += error.component_mul(&Vector3::new(0.4, 0.4, 2.0)) * step;
                let acceleration =
                    three(6) + error.component_mul(&Vector3::new(1.8, 1.8, 4.0)) + self.integral;
                let force = (acceleration + Vector3::z() * GRAVITY) * self.mass;
                let z = force.normalize();
                let heading = Vector3::new(told[9].cos(), told[9].sin(), 0.0);
                let y = z.cross(&heading).normalize();
                let x = y.cross(&z);
                let wanted = SO3::from_matrix(nalgebra::Matrix3::from_columns(&[x, y, z]));
                let mut rates = self.turn_to(&wanted);
                rates += self.pose.rotation.inverse().act(&Vector3::z()) * told[10];
                (rates, force.norm())
            }
        }
    }

    fn turn_to(&self, wanted: &SO3<f64>) -> Vector3<f64> {
        let q = (self.pose.rotation.inverse() * *wanted).to_quaternion();
        let sign = if q[0] < 0.0 { -2.0 } else { 2.0 };
        Vector3::from_fn(|i, _| sign * ATTITUDE_GAINS[i] * q[i + 1])
    }

    fn advance(&mut self, duration: f64) {
        let step = duration / f64::from(SUBSTEPS);
        for _ in 0..SUBSTEPS {
            let (rates, thrust) = self.inner(step);
            let rates = rates.map(|rate| rate.clamp(-LARGEST_RATE, LARGEST_RATE));
            self.angular_velocity += (rates - self.angular_velocity) * (step / self.rate_time);
            self.thrust +=
                (thrust.clamp(0.0, 28.0) * self.scale - self.thrust) * (step / THRUST_LAG);
            let force = self.pose.rotation.act(&Vector3::z()) * (self.thrust / self.mass);
            self.velocity += (force - Vector3::z() * GRAVITY) * step;
            self.pose.translation += self.velocity * step;
            self.pose.rotation = self.pose.rotation * SO3::exp(&(self.angular_velocity * step));
        }
    }

    fn measured(&self) -> [f64; 13] {
        let mut values = [0.0; 13];
        let rotation = &self.pose.rotation;
        values[..3].copy_from_slice(self.pose.translation.as_slice());
        values[3..7].copy_from_slice(rotation.to_quaternion().as_slice());
        values[7..10].copy_from_slice(rotation.inverse().act(&self.velocity).as_slice());
        values[10..].copy_from_slice(self.angular_velocity.as_slice());
        values
    }
}

impl Backend for Autopilot {
    const INFO: Info = Info {
        name: "autopilot",
        version: "1.0.0",
        summary: "a multicopter with inner loops of its own",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(_: &fly_hal::Configuration) -> Result<Self, Error> {
        Err(Error::unsupported("made by hand"))
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let time = self.ticks.time(self.tick);
        if self.tick > 0 {
            self.advance((time - self.ticks.time(self.tick - 1)) as f64 * 1e-9);
        }
        let now = time as f64 * 1e-9;
        let mut track = self.track.lock().unwrap();
        track.push((now, self.pose.translation, self.pose.rotation));
        self.late.push_back((time, self.measured()));
        if self.late.len() > LATENCY + 1 {
            self.late.pop_front();
        }
        let has_come = self.tick.is_multiple_of(TELEMETRY);
        let is_silent = (self.silence[0]..self.silence[1]).contains(&now);
        self.tick += 1;
        *frame.time = time;
        if !has_come || is_silent {
            return Ok(ReadOutcome::None);
        }
        let (stamp, values) = &self.late[0];
        frame.values.copy_from_slice(values);
        frame.groups.fill(GroupStatus {
            stamp: *stamp,
            valid: true,
        });
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        let told = self.told.get_or_insert_default();
        told.clear();
        told.extend_from_slice(commands);
        Ok(())
    }
}

/// The reference of `quadcopter.toml`.
fn lissajous(time: f64) -> Vector3<f64> {
    let (a, w, phase) = ([1.5, 1.0, 0.4], [1.1, 1.6, 0.8], [0.0, 0.5, 1.0]);
    Vector3::from_fn(|i, _| a[i] * f64::sin(w[i] * time + phase[i]))
}

/// Flies and returns the root mean square of the true distance from the reference after settling, m.
fn fly(
    set: CommandSet,
    settings: &[&str],
    change: impl FnOnce(&mut Autopilot),
) -> (Summary, f64, Track) {
    let settings = [
        &["flight.duration=30", "controller.allocation=\"active_set\""],
        settings,
    ]
    .concat();
    let configuration = common::configuration("quadcopter.toml", &settings);
    let start = SE3::new(SO3::identity(), lissajous(0.0));
    let (mut autopilot, track) = Autopilot::new(set, &configuration, start);
    change(&mut autopilot);
    let instance = Instance::of(autopilot).expect("a backend");
    let mut sink = Discard;
    let summary = Flight::new(&configuration, instance, &mut sink)
        .unwrap_or_else(|error| panic!("{error}"))
        .run();
    let rms = {
        let track = track.lock().unwrap();
        let settled = || track.iter().filter(|(time, ..)| *time > 4.0);
        let sum: f64 = settled()
            .map(|(time, position, _)| (position - lissajous(*time)).norm_squared())
            .sum();
        (sum / settled().count() as f64).sqrt()
    };
    (summary, rms, track)
}

/// With inner loops from fast to slow.
#[test]
fn the_lissajous_is_tracked_with_each_set() {
    let observed = &["controller.disturbance.bandwidth=4"][..];
    for (set, scales, settings, most) in [
        (CommandSet::Attitude, &[0.95, 1.0, 1.05][..], &[][..], 0.15),
        (CommandSet::Rates, &[1.0], &[], 0.1),
        (CommandSet::Rates, &[0.95, 1.05], observed, 0.1),
        (CommandSet::Trajectory, &[0.95, 1.0, 1.05], &[], 0.3),
    ] {
        for (rate_time, scale) in [0.02, 0.03, 0.05]
            .into_iter()
            .flat_map(|time| scales.iter().map(move |scale| (time, *scale)))
        {
            let (summary, rms, _) = fly(set, settings, |autopilot| {
                (autopilot.scale, autopilot.rate_time) = (scale, rate_time);
            });
            println!("{set:?}, rate loop {rate_time} s, thrust {scale}: {rms:.4} m");
            assert_eq!(summary.verdict, Verdict::Flown, "{set:?} {scale}");
            assert!(
                rms < most,
                "{set:?}, {rate_time} s, thrust {scale}: {rms} m"
            );
        }
    }
}

/// The curve continues from the vehicle as it would from its own beginning, rotated as a whole.
#[test]
fn a_relative_reference_is_moved_and_turned() {
    // Level at its beginning, without sideways acceleration.
    let settings = ["flight.relative=true", "reference.phase=[0, 0, 1]"];
    let (turn, place) = (
        SO3::exp(&Vector3::new(0.0, 0.0, 1.2)),
        Vector3::new(30.0, -40.0, 5.0),
    );
    let (summary, _, track) = fly(CommandSet::Attitude, &settings, |autopilot| {
        autopilot.pose = SE3::new(turn, place);
    });
    assert_eq!(summary.verdict, Verdict::Flown);
    let curve = |time: f64| {
        let (a, w, phase) = ([1.5, 1.0, 0.4], [1.1, 1.6, 0.8], [0.0, 0.0, 1.0]);
        Vector3::from_fn(|i, _| a[i] * f64::sin(w[i] * time + phase[i]))
    };
    for (time, position, attitude) in track.lock().unwrap().iter().filter(|it| it.0 > 4.0) {
        let expected = place + turn.act(&(curve(*time) - curve(0.0)));
        let away = (position - expected).norm();
        assert!(away < 0.15, "{away} m at {time} s");
        let x = turn.inverse().act(&attitude.act(&Vector3::x()));
        let turned = SO3::exp(&Vector3::new(0.0, 0.0, -0.5 * time)).act(&x);
        assert!(turned.y.atan2(turned.x).abs() < 0.2, "{x} at {time} s");
    }
}

/// The observer finds the missing thrust, although it does not know the torques and sees one tick in ten.
#[test]
fn another_thrust_is_found_and_made_up_for() {
    for set in [CommandSet::Attitude, CommandSet::Rates] {
        for scale in [0.8, 1.2] {
            let observed = ["controller.disturbance.bandwidth=4"];
            let (summary, rms, _) = fly(set, &observed, |autopilot| autopilot.scale = scale);
            let found = summary.disturbance.expect("an observer");
            let body = found.body.expect("of a body");
            println!(
                "{set:?}, thrust {scale}: {rms:.4} m, found {:.3}",
                body.thrust_scale
            );
            assert!(rms < 0.1, "{set:?}, thrust {scale}: {rms} m");
            assert!(
                (body.thrust_scale - scale).abs() < 0.03,
                "{}",
                body.thrust_scale
            );
            // The moments are unknown and must not be reported.
            assert_eq!(body.moment, Vector3::zeros());
            // The whole force is the missing or excess thrust.
            let weight = body.model_mass * GRAVITY;
            let rest = body.force - Vector3::z() * ((scale - 1.0) * weight);
            assert!(rest.norm() < 0.1 * weight, "{rest}");
        }
    }
    // An autopilot that follows trajectories compensates by itself.
    let observed = ["controller.disturbance.bandwidth=4"];
    let (summary, rms, _) = fly(CommandSet::Trajectory, &observed, |autopilot| {
        autopilot.scale = 0.9;
    });
    assert!(rms < 0.3, "{rms} m");
    assert_eq!(summary.disturbance.expect("an observer").force, [0.0; 6]);
}

/// Without telemetry the vehicle levels and sinks, with every set of setpoints.
#[test]
fn a_failsafe_levels_and_sinks() {
    for set in CommandSet::SETPOINTS {
        let (summary, _, track) = fly(set, &["safety.max_descent_time=60"], |autopilot| {
            autopilot.silence = [8.0, 100.0];
        });
        assert_eq!(summary.verdict, Verdict::SafetyStop, "{set:?}");
        let track = track.lock().unwrap();
        let at = |time: f64| {
            track
                .iter()
                .find(|(now, ..)| *now >= time)
                .expect("flown so far")
        };
        let ((_, before, _), (_, after, attitude)) = (at(10.0), at(11.0));
        let moved = after - before;
        println!("{set:?}: {moved:.3?} m in a second without telemetry");
        // It flies on prediction alone: attitude and height are as good as the model.
        assert!((-1.0..-0.1).contains(&moved.z), "{set:?}: {moved}");
        assert!(moved.xy().norm() < 1.5, "{set:?}: {moved}");
        let tilt = attitude.act(&Vector3::z()).z.acos();
        assert!(tilt < 0.15, "{set:?}: {tilt}");
    }
}

/// Its own law would push it sideways; with attitude setpoints it tilts.
#[test]
fn a_fully_actuated_vehicle_leans_where_it_cannot_push() {
    let settings = [
        "flight.duration=12",
        "controller.allocation=\"active_set\"",
        "reference={ kind = \"hover\", yaw_deg = 40 }",
    ];
    let configuration = common::configuration("tricopter.toml", &settings);
    for set in [CommandSet::Attitude, CommandSet::Rates] {
        let start = SE3::new(SO3::identity(), Vector3::new(0.6, -0.4, 0.2));
        let (autopilot, track) = Autopilot::new(set, &configuration, start);
        let mut sink = Discard;
        let instance = Instance::of(autopilot).expect("a backend");
        let flight = Flight::new(&configuration, instance, &mut sink).expect("a flight");
        assert_eq!(flight.run().verdict, Verdict::Flown);
        let track = track.lock().unwrap();
        let (_, position, attitude) = track.last().expect("flown");
        println!("{set:?}: {:.4} m from hover", position.norm());
        assert!(position.norm() < 0.05, "{set:?}: {position}");
        let x = attitude.act(&Vector3::x());
        assert!((x.y.atan2(x.x).to_degrees() - 40.0).abs() < 1.0, "{x}");
        let leaned = track
            .iter()
            .map(|(.., attitude)| attitude.act(&Vector3::z()).z.acos());
        assert!(leaned.fold(0.0, f64::max) > 0.05, "it leaned");
    }
}

#[test]
fn steps_with_setpoints_do_not_allocate() {
    for set in CommandSet::SETPOINTS {
        let settings = [
            "flight.duration=3",
            "controller.allocation=\"active_set\"",
            "controller.disturbance.bandwidth=4",
        ];
        let configuration = common::configuration("quadcopter.toml", &settings);
        let start = SE3::new(SO3::identity(), lissajous(0.0));
        let (mut autopilot, track) = Autopilot::new(set, &configuration, start);
        autopilot.silence = [1.0, 1.3];
        track.lock().unwrap().reserve(40_000);
        autopilot.told = Some(Vec::with_capacity(16));
        autopilot.late.reserve(100);
        let instance = Instance::of(autopilot).expect("a backend");
        let mut sink = Discard;
        let mut flight = Flight::new(&configuration, instance, &mut sink).expect("a flight");
        assert_eq!(flight.tick(), None);
        let (mut steps, mut end) = (0, None);
        // The first messages and those of the failsafe in the middle are not counted.
        let mut allocations = 0;
        while end.is_none() {
            let of_tick = fly_testing::allocations(|| end = flight.tick());
            steps += 1;
            if steps > 20 && !(490..720).contains(&steps) && end.is_none() {
                allocations += of_tick;
            }
        }
        assert!(steps >= 1490, "{steps}");
        assert_eq!(allocations, 0, "{set:?}");
    }
}

/// A law without an attitude demand cannot fly by setpoints.
#[test]
fn a_system_has_no_setpoints() {
    let settings = ["controller.approach=\"lee\"", "safety.then=\"hold\""];
    let configuration = common::configuration("quadcopter.toml", &settings);
    let (autopilot, _) = Autopilot::new(CommandSet::Attitude, &configuration, SE3::identity());
    let instance = Instance::of(autopilot).expect("a backend");
    let mut sink = Discard;
    let error = Flight::new(&configuration, instance, &mut sink)
        .err()
        .expect("no flight");
    assert_eq!(
        error.to_string(),
        "the backend `autopilot` takes setpoints (attitude), which a vehicle of one body flown by the law of `[controller]` has, but not `quadcopter`"
    );
}
