//! Bodies that touch each other.

use fly_hal::Backend;
use fly_mechanics::contact::Compliance;

use crate::ground::{Run, message};

/// A vehicle that a lighter ball hits in the middle.
const BALLS: &str = "name = 'balls'
    gravity = [0, 0, 0]
    [bodies.vehicle]
    mass = 2.0
    inertia = [0.02, 0.02, 0.02]
    contacts = [{ radius = 0.1 }]
    [bodies.ball]
    mass = 0.5
    inertia = [0.001, 0.001, 0.001]
    contacts = [{ radius = 0.05 }]";

/// What is left of the speed after an impact with 1 m/s with the default law.
fn restitution() -> f64 {
    let law = Compliance::new(5000.0, 1.0, 2.0).expect("the default");
    law.restitution(1.0)
}

#[test]
fn a_ball_hits_a_vehicle_and_the_report_says_so() {
    let text = |collisions: &str| {
        format!(
            "{collisions}
            body = 'vehicle'
            substeps = 40
            initial.bodies.ball = {{ position = [0.65, 0, 0], velocity = [-1, 0, 0] }}"
        )
    };
    let mut run = Run::new(&text("collisions = {}"), BALLS);
    run.fly(240, &[]);
    assert_eq!(run.simulation.report().len(), 1, "before it has arrived");
    run.fly(260, &[]);
    let gained = 0.5 * (1.0 + restitution()) / 2.5;
    let speed = run.value("truth.twist.linear.x");
    assert!((speed + gained).abs() < 1e-4, "{speed} {gained}");
    let report = run.simulation.report();
    let line = (
        "collision".to_owned(),
        "vehicle and ball at 1.00 m/s".to_owned(),
    );
    assert!(report.contains(&line), "{report:?}");
    // Without the table they pass through each other.
    let mut run = Run::new(&text(""), BALLS);
    run.fly(1000, &[]);
    assert_eq!(run.value("truth.twist.linear.x"), 0.0);
    assert_eq!(run.simulation.report().len(), 1);
}

/// On the ground lies a ball, and a ball on it: the lower carries both.
#[test]
fn balls_lie_on_each_other_and_on_the_ground() {
    let stack = BALLS.replace("gravity = [0, 0, 0]", "");
    let text = "ground.height = 0
        collisions = { stiffness = 3000 }
        body = 'vehicle'
        initial.position = [0, 0, 0.1]
        initial.bodies.ball = { position = [0, 0, 0.25] }";
    let mut run = Run::new(text, &stack);
    // They are centred to the last digit: nothing tips the upper one over.
    run.fly(2000, &[]);
    let height = run.value("truth.pose.position.z");
    let lower = 0.1 - 2.5 * 9.81 / 5000.0;
    assert!((height - lower).abs() < 1e-6, "{height} {lower}");
    let upper = run.value("truth.body.1.position.z");
    let distance = 0.15 - 0.5 * 9.81 / 3000.0;
    assert!((upper - height - distance).abs() < 1e-6, "{upper} {height}");
}

/// The load falls from a vehicle that cannot move on a bar below it: a released body keeps its contacts.
#[test]
fn a_released_load_hits_what_lies_below() {
    let vehicle = "name = 'carrier'
        [bodies.bar]
        joint = 'fixed'
        position = [0, 0, -1]
        contacts = [{ capsule = [[0, -1, 0], [0, 1, 0]], radius = 0.1 }]
        [bodies.vehicle]
        mass = 2.0
        inertia = [0.02, 0.02, 0.02]
        contacts = [{ radius = 0.1 }]
        [bodies.load]
        parent = 'vehicle'
        mass = 0.5
        inertia = [0.001, 0.001, 0.001]
        joint = { type = 'revolute', axis = [1, 0, 0] }
        contacts = [{ radius = 0.05 }]
        [[rotors]]
        body = 'vehicle'
        position = [0, 0, 0]
        axis = [0, 0, 1]
        thrust = [0, 40]
        time_constant = 0.001";
    let text = "collisions = {}
        body = 'vehicle'
        substeps = 10
        initial.commands = [24.525]
        releases = [{ joint = 'load', time = 0.2 }]";
    let mut run = Run::new(text, vehicle);
    run.fly(500, &[24.525]);
    let report = run.simulation.report();
    // 0.85 m, and nothing else: the vehicle rises, and hits nothing.
    let falls = (2.0 * 9.81 * 0.85_f64).sqrt();
    let hits: Vec<_> = (report.iter().filter(|(label, _)| label == "collision")).collect();
    let [(_, hit)] = hits.as_slice() else {
        panic!("{report:?}");
    };
    let speed = hit.strip_prefix("bar and load at ").expect(hit);
    let speed: f64 = speed
        .split(' ')
        .next()
        .expect("a word")
        .parse()
        .expect("m/s");
    assert!((speed - falls).abs() < 0.011, "{speed} {falls}");
}

#[test]
fn wrong_keys_and_steps_that_are_too_long_are_refused() {
    let (text, help) = message("collisions = { stiffness = 1e8 }", BALLS);
    assert!(
        text.contains("for the stiffness and damping of contacts"),
        "{text}"
    );
    assert!(help.is_some_and(|help| help.starts_with("`substeps = ")));
    for (keys, expected) in [
        (
            "stiffness = 0",
            "`collisions.stiffness`: expected a stiffness above 0, found 0",
        ),
        (
            "friction = -1",
            "`collisions.friction`: expected a coefficient of at least 0, found -1",
        ),
        ("height = 1", "unknown key `height`"),
    ] {
        let (text, _) = message(&format!("collisions = {{ {keys} }}"), BALLS);
        assert!(text.starts_with(expected), "{text}");
    }
}

/// Six balls that fly into each other, and three far away.
fn swarm() -> (String, String) {
    let ball = |i: u32| {
        let body = format!(
            "[bodies.b{i}]
            mass = 0.5
            inertia = [0.001, 0.001, 0.001]
            contacts = [{{ radius = 0.05 }}, {{ position = [0.05, 0, 0], radius = 0.03 }}]\n"
        );
        let angle = f64::from(i) * std::f64::consts::FRAC_PI_3;
        let (x, y, speed) = match i {
            0..6 => (0.6 * angle.cos(), 0.6 * angle.sin(), -1.5),
            _ => (f64::from(i), 5.0, 0.2),
        };
        let name = if i == 0 {
            "initial".to_owned()
        } else {
            format!("initial.bodies.b{i}")
        };
        let [vx, vy] = [speed * x, speed * y];
        let start = format!("{name}.position = [{x}, {y}, 0]\n{name}.velocity = [{vx}, {vy}, 0]\n");
        (body, start)
    };
    let (bodies, starts): (Vec<_>, Vec<_>) = (0..9).map(ball).unzip();
    (
        format!(
            "collisions = {{}}\nsubsteps = 10\nbody = 'b0'\n{}",
            starts.concat()
        ),
        format!("name = 'swarm'\ngravity = [0, 0, 0]\n{}", bodies.concat()),
    )
}

/// What comes near and what parts moves within what the start has allocated.
#[test]
fn collisions_allocate_nothing() {
    let (text, vehicle) = swarm();
    let mut run = Run::new(&text, &vehicle);
    let allocations = fly_testing::allocations(|| run.fly(500, &[]));
    assert_eq!(allocations, 0);
    let touched = run.simulation.report().len() - 1;
    assert!(touched >= 5, "{:?}", run.simulation.report());
}

/// A sledge holds on a slope by friction while a load elsewhere is released: the bristles stay as they are.
#[test]
fn a_release_leaves_the_contacts_of_others() {
    let bar = "joint = 'fixed'
        contacts = [{ capsule = [[-1, 0, -0.15], [1, 0, 0.15]], radius = 0.05 }]";
    let vehicle = format!(
        "name = 'slope'
        [bodies.left]
        position = [0, 0.1, 0]
        {bar}
        [bodies.right]
        position = [0, -0.1, 0]
        {bar}
        [bodies.crane]
        joint = 'fixed'
        position = [0, 5, 5]
        [bodies.load]
        parent = 'crane'
        mass = 0.5
        inertia = [0.001, 0.001, 0.001]
        joint = {{ type = 'revolute', axis = [1, 0, 0] }}
        [bodies.sledge]
        mass = 1.0
        inertia = [0.01, 0.01, 0.01]
        contacts = [
            {{ position = [0.1, 0.1, 0], radius = 0.02 }},
            {{ position = [-0.1, 0.1, 0], radius = 0.02 }},
            {{ position = [0.1, -0.1, 0], radius = 0.02 }},
            {{ position = [-0.1, -0.1, 0], radius = 0.02 }},
        ]"
    );
    // Against the slope of the bars, on their normal.
    let text = "collisions = {}
        substeps = 10
        body = 'sledge'
        initial.position = [-0.010384, 0, 0.069226]
        initial.attitude = { rpy_deg = [0, -8.530766, 0] }
        releases = [{ joint = 'load', time = 3.0 }]";
    let mut run = Run::new(text, &vehicle);
    let place = |run: &Run| ["x", "y", "z"].map(|c| run.value(&format!("truth.pose.position.{c}")));
    run.fly(1500, &[]);
    let before = place(&run);
    for _ in 0..100 {
        run.fly(1, &[]);
        for (now, before) in place(&run).iter().zip(before) {
            assert!((now - before).abs() < 1e-8, "{now} m, {before} m");
        }
    }
    let released = run.simulation.report();
    assert!(
        released.iter().any(|(label, _)| label == "released"),
        "{released:?}"
    );
}
