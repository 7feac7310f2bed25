//! Several vehicles in one world.

use fly_flight::config::FleetConfiguration;
use fly_flight::fleet::{Fleet, FleetSummary};
use fly_flight::{Discard, Flight, Memory, Verdict, backend};
use fly_plugin_sim::Simulation;

/// Reads a valid fleet configuration.
fn read(text: &str) -> FleetConfiguration {
    FleetConfiguration::from_toml("fleet", text)
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Flies and keeps the rows of every vehicle and of the world.
fn fly(configuration: &FleetConfiguration) -> (FleetSummary, Vec<Memory>, Memory) {
    let world = backend::configure::<Simulation>(configuration, false).expect("a world");
    let mut rows = vec![Memory::default(); configuration.vehicles.len()];
    let mut of_world = Memory::default();
    let fleet = Fleet::new(configuration, world, &mut rows, &mut of_world);
    let summary = fleet.unwrap_or_else(|error| panic!("{error}")).run();
    (summary, rows, of_world)
}

/// Everything that a log would hold of the flight, bit for bit: the text distinguishes all numbers, and NaN equals
/// itself.
fn told(rows: &Memory) -> Vec<String> {
    rows.rows.iter().map(|row| format!("{row:?}")).collect()
}

const APART: &str = r#"
    flight = { duration = 2.0, rate_hz = 500, seed = 3 }
    [[vehicles]]
    name = "one"
    config = "quadcopter.toml"
    [[vehicles]]
    name = "two"
    config = "tricopter-load.toml"
    [[vehicles]]
    name = "three"
    config = "quadcopter.toml"
    initial = { position = [0.0, -3.0, 0.0], attitude = { rpy_deg = [10, -20, 30] }, velocity = [0.5, 0.2, -0.1] }
    reference = { kind = "hover", position = [0.5, -3.0, 0.3] }
    [world.bodies.stone]
    mass = 1.0
    inertia = [0.1, 0.1, 0.1]
    [backend]
    plugin = "sim"
    [backend.sim]
    initial = { bodies = { stone = { position = [0, 0, 9] } } }
"#;

#[test]
fn what_shares_nothing_flies_as_alone_bit_for_bit() {
    let configuration = read(APART);
    let (summary, rows, of_world) = fly(&configuration);
    assert_eq!(summary.verdict(), Verdict::Flown);
    for (member, together) in configuration.vehicles.iter().zip(&rows) {
        let alone = backend::configure::<Simulation>(&member.configuration, false);
        let mut rows = Memory::default();
        let flight = Flight::new(&member.configuration, alone.expect("a plant"), &mut rows);
        flight.expect("a flight").run();
        assert_eq!(together.header.description, rows.header.description);
        assert_eq!(rows.rows.len(), 1001, "{}", member.name);
        for (k, (alone, together)) in told(&rows).iter().zip(told(together)).enumerate() {
            assert_eq!(*alone, together, "`{}` at step {k}", member.name);
        }
        assert_eq!(rows.rows.len(), together.rows.len());
    }
    // The world holds all bodies, and the stone falls freely.
    assert_eq!(of_world.rows.len(), 1001);
    assert_eq!(
        of_world.header.bodies,
        [
            "one/airframe",
            "two/airframe",
            "two/load",
            "three/airframe",
            "stone"
        ]
        .map(str::to_owned)
    );
    let last = of_world
        .rows
        .last()
        .and_then(|row| row.system.as_ref())
        .expect("a state");
    let model = &configuration.world.model;
    let stone = model.config_range(model.body_id("stone").expect("a stone"));
    let height = last[0][stone.start + 2];
    assert!(
        (height - (9.0 - 0.5 * 9.81 * 4.0)).abs() < 1e-9,
        "{height} m"
    );
    // Repeated.
    let (_, again, world_again) = fly(&configuration);
    assert!(rows.iter().zip(&again).all(|(a, b)| told(a) == told(b)));
    assert_eq!(told(&of_world), told(&world_again));
}

/// All actuators of the world begin with the first commands, and each controller knows it of its own.
#[test]
fn vehicles_of_a_world_in_motion_start_in_motion() {
    for (initial, expected) in [("", false), ("initial.commands = 'first'", true)] {
        let configuration = read(&format!(
            "flight = {{ duration = 0.1 }}
            [[vehicles]]
            name = 'one'
            config = 'quadcopter.toml'
            [[vehicles]]
            name = 'two'
            config = 'quadcopter.toml'
            initial = {{ position = [0.0, 5.0, 0.0] }}
            [backend]
            plugin = 'sim'
            [backend.sim]
            {initial}"
        ));
        let (_, rows, of_world) = fly(&configuration);
        for told in rows.iter().chain([&of_world]) {
            assert_eq!(told.header.description.starts_in_motion, expected);
        }
    }
}

/// A vehicle that diverges ends; its rotors run at their minimum, and the other flies on.
#[test]
fn one_that_ends_does_not_end_the_others() {
    let configuration = read(
        r#"
        flight = { duration = 3.0 }
        [[vehicles]]
        name = "lost"
        config = "quadcopter.toml"
        safety = { then = "terminate", limits = { position_error = { max = 0.5, then = "terminate" } } }
        initial = { position = [0.0, 0.0, 0.0] }
        reference = { kind = "hover", position = [9.0, 0.0, 0.0] }
        [[vehicles]]
        name = "steady"
        config = "quadcopter.toml"
        [backend]
        plugin = "sim"
        "#,
    );
    let (summary, rows, of_world) = fly(&configuration);
    assert_ne!(summary.vehicles[0].1.verdict, Verdict::Flown);
    assert_eq!(summary.vehicles[1].1.verdict, Verdict::Flown);
    assert_eq!(summary.verdict(), summary.vehicles[0].1.verdict);
    assert!(rows[0].rows.len() < 300, "{} steps", rows[0].rows.len());
    assert_eq!(rows[1].rows.len(), 1501);
    assert_eq!(of_world.rows.len(), 1501);
    let commands = of_world
        .rows
        .last()
        .and_then(|row| row.commands.as_ref())
        .expect("commands");
    assert_eq!(commands[..4], [0.2; 4]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (from, to, expected) in [
        (
            "name = \"two\"",
            "name = \"one\"",
            "two vehicles are named `one`",
        ),
        (
            "name = \"two\"",
            "name = \"7\"",
            "not the name of a vehicle",
        ),
        (
            "name = \"two\"",
            "nme = \"two\"",
            "unknown key `nme` of a vehicle",
        ),
        (
            "tricopter-load.toml",
            "tricopter-lod.toml",
            "tricopter-load.toml",
        ),
        ("duration = 2.0, ", "", "`flight.duration` is missing"),
        (
            "[world.bodies.stone]",
            "[world.rotors]",
            "unknown key `world.rotors`",
        ),
        (
            "[world.bodies.stone]",
            "[world.bodies.\"one/airframe\"]",
            "`one/airframe`",
        ),
        ("kind = \"hover\"", "kind = \"hovr\"", "`hover`"),
        ("plugin = \"sim\"", "", "no backend is chosen"),
        ("[backend]", "[controller]\n[backend]", "each has its own"),
    ] {
        let text = APART.replacen(from, to, 1);
        let error = FleetConfiguration::from_toml("fleet", &text).expect_err(to);
        let error = error.render(false);
        assert!(
            error.contains(expected),
            "{to}: expected {expected} in\n{error}"
        );
    }
    let text = APART.replace("bodies = { stone", "bodies = { ston");
    let error = backend::configure::<Simulation>(&read(&text), false).expect_err("no such body");
    assert!(error.to_string().contains("stone"), "{error}");
}

/// Without a sink that wants rows of the world, none are built.
#[test]
fn a_world_without_a_record() {
    let configuration = read(APART);
    let world = backend::configure::<Simulation>(&configuration, false).expect("a world");
    let mut sinks = [Discard; 3];
    let mut none = Discard;
    let mut fleet = Fleet::new(&configuration, world, &mut sinks, &mut none).expect("a fleet");
    while !fleet.tick() {}
    assert!(fleet.finish().log.is_none());
}
