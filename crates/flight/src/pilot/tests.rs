//! The pilot with its own plant: the model, integrated between the ticks.

use fly_control::settings::{ControllerSettings, HoverSettings, ReferenceSettings};
use fly_hal::{Description, GroupStatus};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::rk4;
use fly_mechanics::{State, System, Vehicle};
use nalgebra::Vector3;

use super::super::binding::bind_part;
use super::super::guidance::Guidance;
use super::super::reference::FlightReference;
use super::super::supervisor::{Limit, Mode, OnLoss, Policy, Response};
use super::*;

mod failsafe;

const MS: i64 = 1_000_000;
const TICK: i64 = 2 * MS;

const VEHICLE: &str = r#"
    name = "quad"
    [bodies.airframe]
    mass = 0.9
    inertia = [0.006, 0.006, 0.011]
    [[rotors]]
    body = "airframe"
    position = [0.18, 0.0, 0.0]
    axis = [0.0, 0.0, 1.0]
    drag_ratio = 0.016
    thrust = [0.2, 7.0]
    [[rotors]]
    body = "airframe"
    position = [0.0, 0.18, 0.0]
    axis = [0.0, 0.0, 1.0]
    drag_ratio = -0.016
    thrust = [0.2, 7.0]
    [[rotors]]
    body = "airframe"
    position = [-0.18, 0.0, 0.0]
    axis = [0.0, 0.0, 1.0]
    drag_ratio = 0.016
    thrust = [0.2, 7.0]
    [[rotors]]
    body = "airframe"
    position = [0.0, -0.18, 0.0]
    axis = [0.0, 0.0, 1.0]
    drag_ratio = -0.016
    thrust = [0.2, 7.0]
"#;

const CONTROLLER: &str = r"
    allocation = 'active_set'
    poles = { polynomial = [625, 500, 150, 20], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }
";

/// The vehicle, the frames it sends, and the pilot.
struct Bench {
    pilot: Pilot,
    vehicle: Vehicle,
    plant: State<f64>,
    /// An acceleration that the model does not know, m/s^2, world.
    wind: Vector3<f64>,
    /// Whether it says that it hears.
    hears: bool,
    /// The states of all ticks.
    flown: Vec<State<f64>>,
    frame: Frame,
    time: i64,
}

/// What is wrong with a tick's frame.
#[derive(Clone, Copy)]
enum Wrong {
    Nothing,
    NoFrame,
    NotFinite(usize),
    Stale(usize),
    /// All groups are as old as this, ns.
    Late(i64),
    /// The values of the last frame under new stamps.
    Frozen,
}

/// A hold of 50 ms and a failsafe of 4 s.
fn policy(on_loss: OnLoss) -> Policy {
    Policy {
        step: TICK,
        hold: 50 * MS,
        on_loss,
        longest_gap: i64::MAX,
        longest_failsafe: 4000 * MS,
        longest_blind: i64::MAX,
        resume: false,
        must_arm: false,
        steady_for: 0,
        slow_frames: false,
        begins: i64::MIN,
    }
}

impl Bench {
    fn new(on_loss: OnLoss, start: State<f64>) -> Self {
        Self::with("", on_loss, start)
    }

    /// Adds keys to the section `[controller]`.
    fn with(keys: &str, on_loss: OnLoss, start: State<f64>) -> Self {
        let hover = ReferenceSettings::Hover(HoverSettings::default());
        Self::following(&hover, keys, on_loss, start)
    }

    /// With this reference.
    fn following(
        reference: &ReferenceSettings,
        keys: &str,
        on_loss: OnLoss,
        start: State<f64>,
    ) -> Self {
        let vehicle = Vehicle::from_toml(VEHICLE).expect("a vehicle");
        let system = System::from_toml(VEHICLE).expect("a system");
        let text = keys.to_owned() + CONTROLLER;
        let settings: ControllerSettings = toml::from_str(&text).expect("settings");
        let controller = settings.build(&vehicle).expect("a controller");
        let predictor = StatePredictor::new(&system).expect("dynamics").with_past();
        let commands = vehicle.rotors.command_names();
        let description = predictor
            .groups()
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })
            .and_then(|description| description.with_signals(commands))
            .and_then(|description| description.with_signal("vehicle.uplink"))
            .expect("canonical");
        let binding =
            Binding::new("bench", &description, &predictor.groups(), commands).expect("complete");
        let reference = reference.build(&vehicle).expect("a reference");
        let reference = FlightReference::new(reference, &description).expect("planned");
        let guidance =
            Guidance::of_vehicle(&vehicle, &system.model, reference, controller, None, 0.5);
        let policy = policy(on_loss);
        let pilot = Pilot::new(Parts {
            health: None,
            guidance,
            setpoints: None,
            uplink: bind_part(&description, "vehicle", "uplink"),
            take_off: None,
            control_began: None,
            is_relative: false,
            supervisor: Supervisor::new(policy),
            stale_after: 20 * MS,
            ground_height: None,
            descent_rate: 0.5,
            start_tolerance: [1.0, 0.5],
            envelope: None,
            ground: None,
            jump: Bound {
                limit: Limit::PositionJump,
                max: 1.0,
                after: 0.0,
                then: None,
            },
            recorded: None,
            is_shadow: false,
            predictor,
            binding,
        });
        Self {
            pilot,
            vehicle,
            plant: start,
            wind: Vector3::zeros(),
            hears: true,
            flown: Vec::new(),
            frame: description.frame(),
            time: 0,
        }
    }

    fn tick(&mut self, wrong: Wrong) -> Decision {
        self.flown.push(self.plant);
        let age = match wrong {
            Wrong::Late(age) => age,
            _ => 0,
        };
        let reading = if matches!(wrong, Wrong::NoFrame) {
            Reading::None(Fault::Missing)
        } else {
            Reading::Fresh
        };
        if reading == Reading::Fresh {
            self.frame.time = self.time;
            for (index, group) in self.frame.groups.iter_mut().enumerate() {
                if !matches!(wrong, Wrong::Stale(stale) if stale == index) {
                    *group = GroupStatus {
                        stamp: self.time - age,
                        valid: true,
                    };
                }
            }
            let values = &mut self.frame.values;
            if !matches!(wrong, Wrong::Frozen) {
                let ago = usize::try_from(age / TICK).expect("not negative");
                let seen = &self.flown[self.flown.len() - 1 - ago];
                values[..3].copy_from_slice(seen.pose.translation.as_slice());
                values[3..7].copy_from_slice(seen.pose.rotation.to_quaternion().as_slice());
                values[7..13].copy_from_slice(seen.twist.as_slice());
                values[13] = f64::from(u8::from(self.hears));
            }
            if let Wrong::NotFinite(value) = wrong {
                values[value] = f64::NAN;
            }
        }
        let decision = self.pilot.decide(self.time, reading, &self.frame);
        if let Some(commands) = self.pilot.commands() {
            let vehicle = &self.vehicle;
            let wrench = vehicle.rotors.wrench(commands);
            let wind = self.wind;
            self.plant = rk4(&self.plant, seconds(TICK), |state| {
                let mut acceleration = vehicle.body.acceleration(state, &wrench);
                let wind = state.pose.rotation.inverse().act(&wind);
                let mut linear = acceleration.fixed_rows_mut::<3>(0);
                linear += wind;
                acceleration
            });
        }
        self.time += TICK;
        decision
    }

    fn run(&mut self, ticks: usize, wrong: Wrong) -> Vec<Decision> {
        (0..ticks).map(|_| self.tick(wrong)).collect()
    }

    /// The state known to the pilot.
    fn known(&self) -> State<f64> {
        let state = self.pilot.state().expect("flying");
        let (pose, twist) = state.tracked_motion().expect("a free body");
        State { pose, twist }
    }

    fn tilt(&self) -> f64 {
        self.plant
            .pose
            .rotation
            .act(&Vector3::z())
            .z
            .clamp(-1.0, 1.0)
            .acos()
    }
}

const DESCEND: OnLoss = OnLoss::Respond(Response::Descend);

/// Away from its reference, tilted and moving.
fn disturbed() -> State<f64> {
    State {
        pose: SE3::new(
            SO3::exp(&Vector3::new(0.3, -0.2, 0.8)),
            Vector3::new(0.5, -0.4, 0.2),
        ),
        twist: [0.5, 0.3, -0.2, 0.4, 0.2, -0.3].into(),
    }
}

#[test]
fn it_flies_to_its_reference() {
    let mut bench = Bench::new(DESCEND, disturbed());
    let decisions = bench.run(2500, Wrong::Nothing);
    assert!(decisions.iter().all(|decision| *decision
        == Decision {
            action: Action::Control,
            computed: true
        }));
    assert!(
        bench.plant.pose.translation.norm() < 1e-3,
        "{}",
        bench.plant.pose.translation
    );
    assert!(bench.tilt() < 1e-3);
}

#[test]
fn commands_change_no_faster_than_their_rate_times_the_time_between_them() {
    let rate = 20.0;
    let mut bench = Bench::with("input_rate_limit = 20\n", DESCEND, disturbed());
    bench.tick(Wrong::Nothing);
    let mut before = bench.pilot.commands().expect("commands").to_vec();
    let (mut ticks, mut fastest, mut after_a_gap) = (0, 0.0_f64, 0.0_f64);
    for i in 0..1500 {
        // Some frames are lost from time to time; the next command may then jump further.
        let wrong = if i % 100 < 5 {
            Wrong::NoFrame
        } else {
            Wrong::Nothing
        };
        ticks += 1;
        if !bench.tick(wrong).computed {
            continue;
        }
        let commands = bench.pilot.commands().expect("commands");
        let change = before.iter().zip(commands).map(|(a, b)| (a - b).abs());
        let speed = change.fold(0.0, f64::max) / (f64::from(ticks) * seconds(TICK));
        assert!(speed <= rate + 1e-9, "{speed} N/s at tick {i}");
        if ticks > 1 {
            after_a_gap = after_a_gap.max(speed);
        }
        fastest = fastest.max(speed);
        before.copy_from_slice(commands);
        ticks = 0;
    }
    assert!(
        fastest > rate - 1e-9 && after_a_gap > 0.0,
        "{fastest} {after_a_gap}"
    );
    assert!(bench.plant.pose.log().norm() < 0.02, "{:?}", bench.plant);
}

#[test]
fn a_dropout_within_the_hold_time_holds_the_last_command_and_flies_on() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.run(100, Wrong::Nothing);
    let before = bench.pilot.commands().expect("flying").to_vec();
    for decision in bench.run(24, Wrong::NoFrame) {
        assert_eq!(
            decision,
            Decision {
                action: Action::Hold,
                computed: false
            }
        );
        assert_eq!(bench.pilot.commands(), Some(before.as_slice()));
    }
    assert_eq!(bench.tick(Wrong::Nothing).action, Action::Control);
    bench.run(2500, Wrong::Nothing);
    assert_eq!(bench.pilot.supervisor().report().dropouts, 1);
    assert!(bench.plant.pose.translation.norm() < 1e-3);
}

#[test]
fn a_read_that_failed_never_feeds_the_prediction() {
    for fault in [Fault::Backend, Fault::Missing, Fault::Time] {
        let mut bench = Bench::new(DESCEND, disturbed());
        bench.run(150, Wrong::Nothing);
        let known = bench.known();
        // A failed read left another position in the frame, newer than the last one.
        bench.frame.values[0] += 100.0;
        for group in &mut bench.frame.groups {
            group.stamp = bench.time;
        }
        bench
            .pilot
            .decide(bench.time, Reading::None(fault), &bench.frame);
        let moved = bench.known().pose.translation - known.pose.translation;
        assert!(moved.norm() < 0.1, "{fault:?}: {moved}");
    }
}

#[test]
fn groups_that_are_still_good_correct_the_prediction() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.run(150, Wrong::Nothing);
    bench.run(100, Wrong::NotFinite(0));
    // A gust, unknown to the model.
    bench.plant.twist[5] += 0.3;
    bench.tick(Wrong::NotFinite(0));
    let state = bench.known();
    assert!(
        (state.twist[5] - bench.plant.twist[5]).abs() < 0.02,
        "the gyroscope is believed"
    );
}

#[test]
fn what_repeats_itself_is_predicted_onwards() {
    for group in 0..4 {
        let mut bench = Bench::new(DESCEND, disturbed());
        bench.run(50, Wrong::Nothing);
        // Not stale yet: that takes 20 ms.
        for decision in bench.run(9, Wrong::Stale(group)) {
            assert_eq!(decision.action, Action::Control);
            let (known, true_state) = (bench.known(), &bench.plant);
            // The plant is one tick ahead of the frame.
            let ahead = true_state.velocity_in_world().norm() * seconds(TICK) + 1e-5;
            assert!((known.pose.translation - true_state.pose.translation).norm() < ahead);
        }
    }
}

#[test]
fn before_the_first_complete_frame_nothing_is_commanded() {
    let mut bench = Bench::new(DESCEND, disturbed());
    for decision in bench.run(100, Wrong::NotFinite(3)) {
        assert_eq!(
            decision,
            Decision {
                action: Action::Wait,
                computed: false
            }
        );
        assert_eq!(bench.pilot.commands(), None);
    }
    bench.tick(Wrong::Nothing);
    assert_eq!(bench.pilot.start(), Some(100 * TICK));
}

#[test]
fn the_reference_runs_from_the_first_complete_frame() {
    use fly_control::settings::LissajousSettings;

    let settings: LissajousSettings =
        toml::from_str("amplitude = [1, 0, 0]\nangular_frequency = [0.7, 0, 0]").expect("settings");
    let start = State::at_rest(SE3::identity());
    let mut bench = Bench::following(&ReferenceSettings::Lissajous(settings), "", DESCEND, start);
    bench.time = 777 * TICK;
    bench.run(100, Wrong::NotFinite(0));
    bench.run(251, Wrong::Nothing);
    // The last of 251 ticks is half a second after the first.
    let predictor = bench.pilot.predictor();
    let body = predictor.tracked().expect("a free body");
    let reference = predictor.pose(body, &bench.pilot.point().configuration);
    let x = reference.translation.x;
    assert!((x - (0.7_f64 * 0.5).sin()).abs() < 1e-12, "{x}");
}

#[test]
fn an_absurd_state_is_refused_and_ends_in_a_descent() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.run(100, Wrong::Nothing);
    // Finite, and so large that the law overflows.
    bench.plant.twist[3] = 1e200;
    assert_eq!(
        bench.tick(Wrong::Nothing),
        Decision {
            action: Action::Hold,
            computed: false
        }
    );
    let held = bench.pilot.commands().expect("the last good ones").to_vec();
    bench.plant = disturbed();
    assert_eq!(bench.tick(Wrong::Nothing).action, Action::Control);
    assert_ne!(bench.pilot.commands(), Some(held.as_slice()));
}

#[test]
fn the_same_frames_give_the_same_commands() {
    let fly = || {
        let mut bench = Bench::new(DESCEND, disturbed());
        let mut commands = Vec::new();
        for wrong in [
            Wrong::Nothing,
            Wrong::NoFrame,
            Wrong::Nothing,
            Wrong::NotFinite(7),
        ] {
            for _ in 0..20 {
                bench.tick(wrong);
                commands.extend(bench.pilot.commands().map(<[f64]>::to_vec));
            }
        }
        commands
    };
    assert_eq!(fly(), fly());
}

#[test]
fn a_vehicle_is_armed_only_where_its_reference_begins() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.pilot.parts.supervisor = Supervisor::new(Policy {
        resume: true,
        must_arm: true,
        steady_for: 1000 * MS,
        slow_frames: true,
        ..policy(DESCEND)
    });
    let there = bench.plant;
    for (far, turned) in [(3.0, 0.0), (0.0, 0.7)] {
        bench.plant = State::at_rest(SE3::new(
            SO3::exp(&Vector3::new(0.0, 0.0, turned)),
            Vector3::new(far, 0.0, 0.0),
        ));
        for decision in bench.run(600, Wrong::Nothing) {
            assert_eq!(decision.action, Action::Wait, "{far} m, {turned} rad");
        }
    }
    // Near the start, but incomplete.
    bench.plant = State::at_rest(SE3::identity());
    assert_eq!(bench.tick(Wrong::NotFinite(2)).action, Action::Wait);
    assert_eq!(bench.tick(Wrong::Nothing).action, Action::Arm);
    assert_eq!(bench.tick(Wrong::NoFrame).action, Action::Arm);
    assert_eq!(bench.pilot.commands(), None);
    bench.pilot.armed(bench.time);
    bench.plant = there;
    assert_eq!(bench.tick(Wrong::Nothing).action, Action::Control);
    assert_eq!(bench.pilot.start(), Some(bench.time - TICK));
}
