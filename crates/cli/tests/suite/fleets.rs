//! Several vehicles in one world, as the command flies them.

use crate::common::{Folder, begins, contains};

fn json(folder: &Folder, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&folder.flies(arguments)).expect("JSON")
}

#[test]
fn two_fly_side_by_side_and_each_has_its_log() {
    let folder = Folder::new();
    let config = [
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        "flight.duration=3",
    ];
    let table = folder.flies(&[&config[..], &["--log", "pair.mcap"]].concat());
    begins(&table, "side-by-side: flown after 3.000 s, 2 vehicles\n");
    contains(
        &table,
        "\nside-by-side-left: flown after 3.000 s at 500 Hz\n",
    );
    contains(
        &table,
        "\nside-by-side-right: flown after 3.000 s at 500 Hz\n",
    );
    assert_eq!(
        folder.files(),
        ["pair-left.mcap", "pair-right.mcap", "pair.mcap"]
    );

    let data = json(
        &folder,
        &[&config[..], &["--json", "--log", "pair.mcap"]].concat(),
    );
    assert_eq!(data["verdict"], "flown");
    assert_eq!(data["vehicles"][1]["vehicle"], "right");
    // As it flies alone.
    let alone = json(
        &folder,
        &[
            "--config",
            "quadcopter.toml",
            "--set",
            "flight.duration=3",
            "--json",
            "--log",
            "alone.mcap",
        ],
    );
    for key in [
        "position_error",
        "attitude_error",
        "steps",
        "saturated_steps",
    ] {
        assert_eq!(data["vehicles"][0][key], alone[key], "{key}");
    }
}

/// At first the load is unknown: 8 cm over the whole flight, 5 mm once it is found, as docs/several-vehicles.md states.
#[test]
fn two_carry_a_load_on_ropes() {
    let folder = Folder::new();
    let data = json(
        &folder,
        &[
            "--config",
            "fleets/carried-load.toml",
            "--json",
            "--log",
            "load.mcap",
        ],
    );
    assert_eq!(data["verdict"], "flown");
    for vehicle in data["vehicles"].as_array().expect("vehicles") {
        let error = &vehicle["position_error"];
        let number = |key: &str| error[key].as_f64().expect("a number");
        assert!(number("rms") < 0.08, "{error}");
        assert!(number("rms_settled") < 0.005, "{error}");
        // Half of the load's weight hangs on each.
        let mass = vehicle["disturbance"]["hover_mass"].as_f64();
        let mass = mass.expect("an observer");
        assert!((mass - 1.1).abs() < 0.02, "{mass} kg");
    }
}

/// A ball of 50 g falls on the arm of one of two, which flies on; without collisions nobody notices.
#[test]
fn a_falling_ball_hits_one_of_two() {
    let folder = Folder::new();
    let fly = |more: &[&str]| {
        let mut arguments = vec!["--config", "fleets/side-by-side.toml", "--json"];
        let set = [
            "flight.duration=4",
            "vehicles.right.initial.position=[0.5, -3, 0.3]",
            // Above the hub of the front rotor.
            "backend.sim.initial.bodies.ball.position=[0.68, -3, 0.83]",
            "backend.sim.substeps=4",
            "world.bodies.ball.mass=0.05",
            "world.bodies.ball.shape={ sphere = { radius = 0.05 } }",
            "world.bodies.ball.contacts=[{ radius = 0.05 }]",
        ];
        let set = set.iter().chain(more);
        arguments.extend(set.flat_map(|one| ["--set", *one]));
        arguments.extend(["--log", "ball.mcap"]);
        json(&folder, &arguments)
    };
    let (hit, past) = (fly(&["backend.sim.collisions={}"]), fly(&[]));
    let report = |data: &serde_json::Value| data["backend"]["report"].to_string();
    assert_eq!(
        (&hit["verdict"], &past["verdict"]),
        (&"flown".into(), &"flown".into())
    );
    // It falls 45 cm; the vehicle moves by the first delay of its rotors.
    let told = report(&hit);
    let (_, speed) = told.split_once("right/airframe and ball at ").expect(&told);
    let speed: f64 = speed
        .split(' ')
        .next()
        .expect("a word")
        .parse()
        .expect("m/s");
    assert!(
        (speed - (2.0_f64 * 9.81 * 0.45).sqrt()).abs() < 0.2,
        "{speed}"
    );
    assert!(!report(&past).contains("ball"), "{}", report(&past));
    let error = |data: &serde_json::Value, vehicle: usize| {
        data["vehicles"][vehicle]["position_error"]["max"].as_f64()
    };
    assert_eq!(
        error(&hit, 0),
        error(&past, 0),
        "the left one notices nothing"
    );
    assert!(error(&hit, 1) > error(&past, 1));
}

/// What one of them hits is its own crash, and no other's; the same as in a flight alone.
#[test]
fn one_that_hits_the_ground_has_crashed_and_the_other_has_not() {
    let folder = Folder::new();
    // The low one goes down to 1.3 m below its origin.
    let vehicle = |name: &str, y: i32, is_low: bool| {
        let reference = if is_low {
            format!(
                "kind = 'lissajous', amplitude = [0, 0, 1.3], angular_frequency = [1, 1, 2.5], phase = [0, 0, 0], offset = [0, {y}, 0]"
            )
        } else {
            format!("kind = 'hover', position = [0, {y}, 0]")
        };
        format!(
            "[[vehicles]]\nname = '{name}'\nconfig = 'quadcopter.toml'\ninitial = {{ position = [0, {y}, 0] }}\nreference = {{ {reference} }}\n"
        )
    };
    for low in [0, 1] {
        let text = [
            "flight = { duration = 4.0 }\nbackend = { plugin = 'sim', sim = { ground = { height = -1.0 } } }\n",
            &vehicle("left", 0, low == 0),
            &vehicle("right", -3, low == 1),
        ];
        folder.write("both.toml", &text.concat());
        let output = folder.fly(&["--config", "both.toml", "--json", "--log", "both.mcap"]);
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let data: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(data["vehicles"][low]["verdict"], "crashed");
        assert_eq!(data["vehicles"][1 - low]["verdict"], "flown");
        let said = String::from_utf8_lossy(&output.stderr);
        let named = format!("vehicle{{name={}}}", ["left", "right"][low]);
        let of_ground = said
            .lines()
            .filter(|line| line.contains("touched the ground"));
        let of_ground: Vec<_> = of_ground.collect();
        assert_eq!(of_ground.len(), 1, "{said}");
        contains(of_ground[0], &named);
        // The world's log, which is also what people watch, has the messages of all.
        let world = fly_report::Flight::open(folder.path("both.mcap")).unwrap();
        let texts: Vec<_> = world.events.iter().map(|event| &event.text).collect();
        let told = format!("{}: ", ["left", "right"][low]);
        let of_ground = |text: &&&String| text.contains("touched the ground");
        let found: Vec<_> = texts.iter().filter(of_ground).collect();
        assert!(found.len() == 1 && found[0].starts_with(&told), "{texts:?}");
    }
}

#[test]
fn a_vehicle_is_set_by_name_or_number() {
    let folder = Folder::new();
    let config = [
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        "flight.duration=0.1",
        "--log",
        "x.mcap",
    ];
    for key in ["right", "1"] {
        let set = format!("vehicles.{key}.reference.kind=hovr");
        let (_, error) = folder.ends(&[&config[..], &["--set", &set]].concat(), 2);
        contains(&error, "hovr");
        contains(&error, "--set");
        let set = format!("vehicles.{key}.reference.position=[0, -3, 1]");
        folder.flies(&[&config[..], &["--set", &set]].concat());
        // The keys of another kind go, as in a flight alone.
        let curve = "{ kind = 'lissajous', amplitude = [0.1, 0.1, 0.1], angular_frequency = [1, 1, 1], phase = [0, 0, 0], offset = [0, -3, 0] }";
        let set = format!("vehicles.{key}.reference={curve}");
        folder.flies(&[&config[..], &["--set", &set]].concat());
    }
    let (_, error) = folder.ends(
        &[
            &config[..],
            &["--set", "vehicles.rigt.initial.position=[0, 0, 0]"],
        ]
        .concat(),
        2,
    );
    contains(&error, "there is no vehicle `rigt`");
    contains(&error, "did you mean `right`?");
}

#[test]
fn what_ends_worst_is_the_exit_code() {
    let folder = Folder::new();
    let safety = "vehicles.left.safety={ then = \"terminate\", limits = { position_error = { max = 0.1, then = \"terminate\" } } }";
    let arguments = [
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        "flight.duration=1",
        "--log",
        "x.mcap",
        "--set",
        safety,
    ];
    let (table, _) = folder.ends(&arguments, 4);
    begins(
        &table,
        "side-by-side: SAFETY STOP after 1.000 s, `left` of 2 vehicles\n",
    );
}

#[test]
fn a_fleet_is_checked_and_other_commands_refuse_it() {
    let folder = Folder::new();
    let (table, _) = folder.ends(&["check", "--config", "fleets/carried-load.toml"], 0);
    contains(&table, "2 vehicles, 3 bodies, 2 ropes");
    let (_, error) = folder.ends(&["tune", "--config", "fleets/carried-load.toml"], 2);
    contains(&error, "this describes several vehicles, not one flight");
}

/// Each vehicle has its own log, which is replayed with its own configuration, number for number.
#[test]
fn a_fleet_is_replayed_one_vehicle_at_a_time() {
    let folder = Folder::new();
    let fleet = ["--config", "fleets/side-by-side.toml"];
    let short = ["--set", "flight.duration=0.5"];
    folder.flies(&[&fleet[..], &short, &["--log", "pair.mcap"]].concat());
    let replay = ["--backend", "replay", "--set"];
    let whole = ["backend.replay.log=pair.mcap"];
    let (_, error) = folder.ends(&[&fleet[..], &replay, &whole].concat(), 2);
    begins(
        &error,
        "error: several vehicles cannot be replayed at once\n",
    );
    contains(
        &error,
        "fly --config VEHICLE.toml --backend replay --set backend.replay.log=FLIGHT-NAME.mcap",
    );
    let left = [
        &["--config", "quadcopter.toml", "--json"][..],
        &short,
        &replay,
        &["backend.replay.log=pair-left.mcap"],
    ];
    let data = json(&folder, &left.concat());
    assert_eq!(data["replay"]["exactly_equal"], true, "{data}");
}

/// What the world tells at its start is of no vehicle.
#[test]
fn messages_of_the_world_name_no_vehicle() {
    let folder = Folder::new();
    let fault = "backend.sim.faults=[{ kind = 'dead', actuator = 'rotor.0.thrust', from = 1, until = inf }]";
    let arguments = [
        "-v",
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        "flight.duration=0.05",
        "--set",
        fault,
        "--log",
        "pair.mcap",
    ];
    let (_, said) = folder.ends(&arguments, 0);
    let of_world = said.lines().find(|line| line.contains("simulated fault"));
    let of_world = of_world.expect(&said);
    contains(of_world, "world: ");
    assert!(!of_world.contains("vehicle{"), "{of_world}");
}

/// Each vehicle measures its own state: what needs the sensors of one is refused, by the check as by the flight.
#[test]
fn sensors_and_estimators_of_fleets_are_refused() {
    let folder = Folder::new();
    let fleet = |config: &str, backend: &str| {
        format!(
            "flight = {{ duration = 0.1 }}\nbackend = {{ plugin = 'sim', sim = {{ {backend} }} }}\n[[vehicles]]\nname = 'a'\nconfig = '{config}'\n\
             [[vehicles]]\nname = 'b'\nconfig = 'quadcopter.toml'\ninitial = {{ position = [0, 3, 0] }}\n"
        )
    };
    for (config, backend, told) in [
        (
            "examples/quadcopter-estimated.toml",
            "",
            &["`[estimator]` of `a` is not possible"][..],
        ),
        (
            "quadcopter.toml",
            "body = 'a/airframe'",
            &["`backend.sim.body` is not possible with several vehicles"],
        ),
        (
            "quadcopter.toml",
            "sensors = { imu = {} }",
            &["`backend.sim.sensors` is not possible with several vehicles"],
        ),
        (
            "quadcopter.toml",
            "initial = { bodies = { 'b/airframe' = { position = [0, 2, 0] } } }",
            &[
                "`initial.position` of `b` is given twice\n --> both.toml:2:77",
                "the vehicle has it at both.toml:9:13",
            ],
        ),
    ] {
        folder.write("both.toml", &fleet(config, backend));
        for command in [
            &["check", "--config", "both.toml"][..],
            &["--config", "both.toml"],
        ] {
            let (_, error) = folder.ends(command, 2);
            for told in told {
                contains(&error, told);
            }
        }
    }
}

/// The fleet's `[flight]` holds for all, which is told where a vehicle's own says something else.
#[test]
fn a_rate_of_its_own_that_does_not_count_is_told() {
    let folder = Folder::new();
    for (rate, told) in [(500, false), (1000, true)] {
        let text = include_str!("../../../../configs/quadcopter.toml");
        let own = text.replace("rate_hz = 500", &format!("rate_hz = {rate}"));
        folder.write("own.toml", &own);
        folder.write(
            "one.toml",
            "flight = { duration = 0.1, rate_hz = 500 }\nbackend = { plugin = 'sim' }\n[[vehicles]]\nname = 'a'\nconfig = 'own.toml'\n",
        );
        let (_, said) = folder.ends(&["--config", "one.toml", "--log", "one.mcap"], 0);
        let warning = "`rate_hz` of `flight` in its file have no effect";
        assert_eq!(said.contains(warning), told, "{said}");
    }
}
