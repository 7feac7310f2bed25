//! What the length of the steps, and the instant in a step at which a contact begins, make of the energy of undamped impacts.

use fly_mechanics::contact::{Compliance, Friction};
use fly_mechanics::integrate::SystemState;
use fly_mechanics::{
    ActuatedDynamics, ContactIntegrator, Ground, Surroundings, System, contact_frequency,
    contact_rate,
};
use nalgebra::Vector3;

use crate::contact::on;
use crate::random_tree::Random;

/// What an undamped impact may add to its energy.
const MOST: f64 = 1e-4;
/// The longest step times the frequency, and shorter ones.
const LENGTHS: [f64; 12] = [
    1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.28, 0.2, 0.1, 0.05,
];
/// Instants in the step at which the contact begins.
const INSTANTS: u32 = 25;

struct Run {
    system: System,
    dynamics: ActuatedDynamics,
    state: SystemState<f64>,
    integrator: ContactIntegrator,
    step: f64,
}

impl Run {
    fn new(system: &System, step: f64, ground: Option<Ground>) -> Self {
        let mut dynamics = ActuatedDynamics::new(system, step).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        if let Some(ground) = ground {
            dynamics.start_ground(system, ground, &mut state);
        }
        Self {
            integrator: ContactIntegrator::new(&system.model),
            system: system.clone(),
            dynamics,
            state,
            step,
        }
    }

    fn step(&mut self) {
        let system = &self.system;
        self.integrator.step(
            system,
            &mut self.dynamics,
            &mut self.state,
            self.step,
            |dynamics, state, rates| dynamics.rates(system, &[], state, rates),
        );
    }
}

/// With the largest gain and loss of all lengths and instants; `start(run, way)` lets it begin `way` (m, rad) before the contact with the speed 1, and
/// `speed` says how fast it leaves.
fn sweep(
    name: &str,
    run: impl Fn(f64) -> Run,
    frequency: f64,
    start: impl Fn(&mut Run, f64),
    speed: impl Fn(&Run) -> f64,
) {
    let mut most = f64::NEG_INFINITY;
    for length in LENGTHS {
        let (mut gain, mut loss) = (f64::NEG_INFINITY, f64::INFINITY);
        for instant in 0..INSTANTS {
            let mut run = run(length / frequency);
            let part = (f64::from(instant) + 0.5) / f64::from(INSTANTS);
            let way = part * run.step;
            start(&mut run, way);
            // Twice the half period that it lasts.
            let end = run.state.time + 12.0 / frequency + 4.0 * run.step;
            while run.state.time < end {
                run.step();
            }
            let leaves = speed(&run);
            assert!(leaves > 0.0, "{name}: it leaves with {leaves}");
            gain = gain.max(leaves * leaves - 1.0);
            loss = loss.min(leaves * leaves - 1.0);
        }
        println!("{name}, w h = {length}: {loss:.1e} to {gain:.1e} of the energy");
        most = most.max(gain);
    }
    assert!(most < MOST, "{name}: an impact adds {most:e} of its energy");
    assert!(most > -0.1 * MOST, "{name}: the shortest step is exact");
}

#[test]
fn an_undamped_stop_gives_back_what_it_got() {
    for stiffness in [3.0_f64, 40.0, 5000.0] {
        let text = format!(
            "name = 'slider'
            gravity = [0, 0, 0]
            [bodies.slider]
            mass = 0.7
            inertia = [1, 1, 1]
            joint = {{ type = 'prismatic', axis = [1, 0, 0], limits = {{ position = [-1e3, 0.0], stop = {{ stiffness = {stiffness} }} }} }}"
        );
        let system = System::from_toml(&text).expect("a slider");
        let x = system.model.neutral_configuration();
        let frequency =
            contact_frequency(&system, Surroundings::default(), &x, 5.0).expect("a stop");
        assert!((frequency - (stiffness / 0.7).sqrt()).abs() < 1e-9);
        assert_eq!(
            contact_rate(&system, Surroundings::default(), &x, 5.0),
            Some(frequency)
        );
        sweep(
            &format!("stop of {stiffness} N/m"),
            |step| Run::new(&system, step, None),
            frequency,
            |run, way| {
                run.state.configuration[0] = -way;
                run.state.velocity[0] = 1.0;
            },
            |run| -run.state.velocity[0],
        );
    }
}

fn ground(compliance: Compliance) -> Ground {
    let friction = Friction {
        coefficient: 0.0,
        stiffness: compliance.stiffness(),
        relaxation: 0.1,
    };
    Ground::new(0.0, Vector3::z(), compliance, friction).expect("a plane")
}

#[test]
fn an_undamped_ground_gives_back_what_it_got() {
    let ball = "name = 'ball'
        gravity = [0, 0, 0]
        [bodies.ball]
        mass = 0.8
        shape = { sphere = { radius = 0.1 } }
        [[bodies.ball.contacts]]
        radius = 0.1";
    let system = System::from_toml(ball).expect("a ball");
    for (stiffness, exponent) in [(800.0, 1.0), (2e5, 1.0), (2e5, 1.5), (1e6, 2.0)] {
        let compliance = Compliance::new(stiffness, exponent, 0.0).expect("a compliance");
        // Of the way in, at the speed of the impact.
        let frequency = (compliance.tangent_stiffness(0.8, 1.0) / 0.8).sqrt();
        sweep(
            &format!("ground of {stiffness} N/m^{exponent}"),
            |step| Run::new(&system, step, Some(ground(compliance))),
            frequency,
            |run, way| {
                run.state.configuration[2] = 0.1 + way;
                run.state.velocity[2] = -1.0;
            },
            |run| run.state.velocity[2],
        );
    }
}

/// Two masses on a rope: `sqrt(k (1 / m + 1 / M))` along it, and the same for every direction; its steps are asked for as those of a stop.
#[test]
fn ropes_ask_for_short_steps() {
    let text = "name = 'pair'
        gravity = [0, 0, 0]
        [bodies.near]
        mass = 0.5
        inertia = [1, 1, 1]
        [bodies.far]
        mass = 2.0
        inertia = [1, 1, 1]
        [[ropes]]
        from = 'near'
        to = 'far'
        length = 1.0
        stiffness = 800.0";
    let system = System::from_toml(text).expect("two bodies");
    let x = system.model.neutral_configuration();
    let found = contact_frequency(&system, Surroundings::default(), &x, 5.0).expect("a rope");
    let expected = (800.0_f64 * (1.0 / 0.5 + 1.0 / 2.0)).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    // It becomes straight with 1 m/s.
    sweep(
        "rope",
        |step| Run::new(&system, step, None),
        found,
        |run, way| {
            run.state.configuration[12] = 1.0 - way;
            run.state.velocity[0] = -0.8;
            run.state.velocity[6] = 0.2;
        },
        |run| run.state.velocity[0] - run.state.velocity[6],
    );
}

/// Thrown with spin onto undamped ground, corners hitting it one after another and together.
#[test]
fn a_tumbling_box_gains_nothing() {
    let sides = [0.2, 0.3, 0.4];
    let text = format!(
        "name = 'cuboid'
        [bodies.cuboid]
        mass = 0.8
        shape = {{ box = {sides:?} }}
        [[bodies.cuboid.contacts]]
        box = {sides:?}"
    );
    let system = System::from_toml(&text).expect("a box");
    let plane = ground(Compliance::new(5000.0, 1.0, 0.0).expect("a compliance"));
    let x = system.model.neutral_configuration();
    let frequency = contact_frequency(&system, on(&plane), &x, 5.0).expect("contacts");
    let mut random = Random::new(11);
    let mut worst = f64::NEG_INFINITY;
    for length in [1.0, 0.7, 0.5, 0.28] {
        let mut run = Run::new(&system, length / frequency, Some(plane));
        let pose: fly_lie::SE3<f64> = random.pose();
        run.state.configuration[2] = 0.6;
        run.state.configuration[3..12].copy_from_slice(pose.rotation.matrix().as_slice());
        let turning: Vector3<f64> = random.vector3(6.0);
        run.state.velocity[3..6].copy_from_slice(turning.as_slice());
        let energy = |run: &mut Run| {
            let mut acceleration = vec![0.0; 6];
            (run.dynamics)
                .acceleration(&run.system, &run.state, &mut acceleration)
                .expect("an acceleration");
            let mut workspace = fly_mechanics::multibody::Workspace::new(&run.system.model);
            let (x, xi) = (&run.state.configuration, &run.state.velocity[..6]);
            workspace.update(&run.system.model, x, xi);
            workspace.energy(&run.system.model) + run.dynamics.contact_energy()
        };
        let start = energy(&mut run);
        let (mut impacts, mut in_contact) = (0_u32, false);
        while run.state.time < 20.0 {
            run.step();
            let touches = run.dynamics.contact_energy() > 0.0;
            impacts += u32::from(touches && !in_contact);
            in_contact = touches;
        }
        let gain = energy(&mut run) / start - 1.0;
        println!("w h = {length}: {impacts} impacts, {gain:.1e} of the energy");
        assert!(impacts > 20);
        worst = worst.max(gain / f64::from(impacts));
    }
    assert!(worst < MOST, "{worst:e} in an impact");
}
