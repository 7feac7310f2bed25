//! The ground and the stops of joints: their effect on the plant and on its frames.

use fly_hal::{Backend, Configuration, Deadline, Frame};
use fly_plugin_sim::Simulation;

/// Stands on four feet 0.1 m below its origin.
const STOOL: &str = "name = 'stool'
    [bodies.stool]
    mass = 2.0
    inertia = [0.02, 0.02, 0.02]
    contacts = [
        { position = [0.1, 0.1, -0.1] },
        { position = [-0.1, 0.1, -0.1] },
        { position = [-0.1, -0.1, -0.1] },
        { position = [0.1, -0.1, -0.1] },
    ]
    [[rotors]]
    body = 'stool'
    position = [0, 0, 0]
    axis = [0, 0, 1]
    thrust = [0, 40]
    time_constant = 0.02";

pub struct Run {
    pub simulation: Simulation,
    frame: Frame,
}

impl Run {
    pub fn new(text: &str, vehicle: &str) -> Self {
        let configuration = Configuration {
            rate_hz: 500.0,
            ..Configuration::new(text, vehicle)
        };
        let mut simulation = Simulation::configure(&configuration)
            .unwrap_or_else(|error| panic!("{}\n{text}", error.message));
        simulation.start().unwrap();
        let frame = simulation.description().frame();
        Self { simulation, frame }
    }

    pub fn fly(&mut self, frames: usize, commands: &[f64]) {
        for _ in 0..frames {
            let frame = &mut self.frame;
            (self.simulation)
                .read(Deadline::NOW, &mut frame.as_mut())
                .unwrap();
            self.simulation.write(frame.time, commands).unwrap();
        }
    }

    pub fn value(&self, name: &str) -> f64 {
        let index = self.simulation.description().value_index(name);
        self.frame.values[index.expect(name)]
    }
}

pub fn message(text: &str, vehicle: &str) -> (String, Option<String>) {
    let configuration = Configuration {
        rate_hz: 500.0,
        ..Configuration::new(text, vehicle)
    };
    match Simulation::configure(&configuration) {
        Err(error) => (error.message, error.help),
        Ok(_) => panic!("accepted: {text}"),
    }
}

/// `m g = 4 k d`.
#[test]
fn it_comes_down_stands_takes_off_and_stands_again() {
    let text = "ground.height = 1.0\ninitial.position = [0, 0, 1.3]";
    let mut run = Run::new(text, STOOL);
    run.fly(2, &[0.0]);
    let mut hit = 0.0_f64;
    for _ in 0..1998 {
        run.fly(1, &[0.0]);
        hit = hit.max(run.value("truth.contact.speed"));
    }
    // From 0.2 m; the last 0.1 % was lost within a stage.
    let falls = (2.0 * 9.81 * 0.2_f64).sqrt();
    assert!((hit / falls - 1.0).abs() < 5e-3, "{hit} {falls}");
    assert!(run.value("truth.contact.speed") < 1e-6);
    let rest = 1.1 - 2.0 * 9.81 / (4.0 * 5000.0);
    let height = run.value("truth.pose.position.z");
    assert!((height - rest).abs() < 1e-6, "{height} {rest}");
    // Half of the weight is carried: it stands half as deep.
    run.fly(2000, &[9.81]);
    let half = run.value("truth.pose.position.z");
    assert!((half - 0.5 * (1.1 + rest)).abs() < 1e-6, "{half}");
    run.fly(250, &[25.0]);
    let flown = run.value("truth.pose.position.z");
    assert!(flown > 1.3, "{flown}");
    run.fly(3000, &[0.0]);
    let again = run.value("truth.pose.position.z");
    assert!((again - rest).abs() < 1e-6, "{again}");
    for component in ["x", "y", "z"] {
        let speed = run.value(&format!("truth.twist.linear.{component}"));
        assert!(speed.abs() < 1e-6, "{speed}");
    }
}

/// Of the two heights to begin below the ground the second would throw the stool.
#[test]
fn a_start_deep_in_the_ground_is_refused() {
    let text = |z: f64| format!("ground.height = 0\ninitial.position = [0, 0, {z}]");
    Run::new(&text(0.095), STOOL).fly(10, &[0.0]);
    let (told, help) = message(&text(-0.2), STOOL);
    assert!(
        told.starts_with("`initial`: expected bodies that touch at most lightly, found `stool` so deep in the ground"),
        "{told}"
    );
    let expected = Some("raise `initial.position`, or move the bodies apart");
    assert_eq!(help.as_deref(), expected);
}

#[test]
fn without_contacts_or_without_a_ground_nothing_stops_it() {
    let bare = STOOL
        .replace("contacts", "#")
        .replace("{ position", "# { position");
    let bare = bare.replace("\n    ]", "");
    let fall = -0.5 * 9.81;
    for (text, vehicle) in [("ground.height = -1", bare.as_str()), ("", STOOL)] {
        let mut run = Run::new(text, vehicle);
        run.fly(501, &[0.0]);
        let height = run.value("pose.position.z");
        assert!((height - fall).abs() < 1e-9, "{height}");
    }
}

/// Below the friction angle; above it, it slides.
#[test]
fn it_rests_on_a_slope() {
    for (slope, slides) in [(0.3, false), (0.7, true)] {
        let text = format!(
            "ground = {{ height = 0, normal = [{slope}, 0, 1], friction = 0.5, stiffness = 20000 }}
            initial.position = [0.03, 0, 0.12]
            initial.attitude = {{ rotation_vector = [0, {}, 0] }}",
            f64::atan(slope)
        );
        let mut run = Run::new(&text, STOOL);
        run.fly(1000, &[0.0]);
        let before = run.value("pose.position.x");
        run.fly(1000, &[0.0]);
        let way = run.value("pose.position.x") - before;
        if slides {
            assert!(way > 1.0, "{way}");
        } else {
            assert!(way.abs() < 1e-6, "{way:e}");
        }
    }
}

#[test]
fn too_stiff_a_ground_and_wrong_keys_are_refused() {
    let (text, help) = message("ground = { height = 0, stiffness = 1e7 }", STOOL);
    assert!(
        text.contains("for the stiffness and damping of contacts"),
        "{text}"
    );
    let help = help.expect("a way out");
    assert!(help.starts_with("`substeps = "), "{help}");
    let needed: u32 = help
        .split([' ', '`'])
        .find_map(|word| word.parse().ok())
        .unwrap();
    let enough = format!(
        "initial.position = [0, 0, 0.1]\nsubsteps = {needed}\nground = {{ height = 0, stiffness = 1e7 }}"
    );
    let mut run = Run::new(&enough, STOOL);
    run.fly(500, &[0.0]);
    assert!((run.value("pose.position.z") - 0.1).abs() < 1e-6);
    for (keys, expected) in [
        (
            "stiffness = 0",
            "`ground.stiffness`: expected a stiffness above 0, found 0",
        ),
        (
            "friction = -1",
            "`ground.friction`: expected a coefficient of at least 0, found -1",
        ),
        (
            "normal = [1, 0, 0]",
            "`ground.normal`: expected a direction that points upwards",
        ),
        (
            "exponent = 0.5",
            "`ground.exponent`: expected an exponent from 1 to 3, found 0.5",
        ),
        (
            "relaxation = nan",
            "`ground.relaxation`: expected a number above 0, found NaN",
        ),
        ("hardness = 1", "unknown key `hardness`"),
    ] {
        let (text, _) = message(&format!("ground = {{ height = 0, {keys} }}"), STOOL);
        assert!(text.starts_with(expected), "{text}");
    }
}

/// The ground is as stiff as steps allow of the whole stool. Three quarters of its mass leave: the same ground is too stiff, and with shorter steps
/// the rest of the stool comes to rest.
#[test]
fn steps_suit_what_is_left_after_a_fault_of_masses() {
    let text = |stiffness: f64, substeps: u32| {
        format!(
            "initial.position = [0, 0, 0.11]
            substeps = {substeps}
            ground = {{ height = 0, stiffness = {stiffness} }}
            [[faults]]
            kind = 'mass'
            masses = [{{ mass = -1.5 }}]
            from = 1.0
            until = inf"
        )
    };
    let whole = "initial.position = [0, 0, 0.11]\nground = { height = 0, stiffness = 50000 }";
    Run::new(whole, STOOL).fly(10, &[0.0]);
    let (told, help) = message(&text(5e4, 2), STOOL);
    assert!(
        told.contains("ropes with the masses of a fault, found"),
        "{told}"
    );
    let help = help.expect("a way out");
    let needed = (help.split([' ', '`'])).find_map(|word| word.parse().ok());
    let mut run = Run::new(&text(5e4, needed.expect("substeps")), STOOL);
    run.fly(2000, &[0.0]);
    let rest = 0.1 - 0.5 * 9.81 / (4.0 * 5e4);
    let height = run.value("truth.pose.position.z");
    assert!((height - rest).abs() < 1e-6, "{height} {rest}");
}

/// A flap falls on its stop.
#[test]
fn a_joint_rests_on_its_stop() {
    let flap = |stop: &str| {
        format!(
            "name = 'flap'
            [bodies.flap]
            mass = 0.5
            center_of_mass = [0.2, 0, 0]
            inertia = [0.001, 0.002, 0.002]
            joint = {{ type = 'revolute', axis = [0, 1, 0], limits = {{ position = [-1, 0.5], stop = {stop} }} }}"
        )
    };
    let mut run = Run::new("", &flap("{ stiffness = 100, damping = 5 }"));
    run.fly(10_000, &[]);
    let q = run.value("joint.0.position");
    let missing = 100.0 * (q - 0.5) - 0.5 * 9.81 * 0.2 * q.cos();
    assert!(missing.abs() < 1e-6, "{q} {missing}");
    let (text, _) = message("", &flap("{ stiffness = 1e6 }"));
    assert!(text.contains("contacts, stops and ropes"), "{text}");
}
