//! Contact with the ground and stops of joints: against closed forms and energies.

use fly_lie::{SE3, SO3};
use fly_mechanics::contact::{Compliance, Friction};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::Workspace;
use fly_mechanics::{
    ActuatedDynamics, Ground, Surroundings, System, contact_frequency, contact_rate,
};
use nalgebra::Vector3;

use crate::random_tree::Random;

const G: f64 = 9.81;

/// A plane that is inclined about y, so that bodies go towards x.
fn ground(angle: f64, compliance: Compliance, coefficient: f64) -> Ground {
    let normal = Vector3::new(angle.sin(), 0.0, angle.cos());
    let friction = Friction {
        coefficient,
        stiffness: compliance.stiffness(),
        relaxation: 0.005,
    };
    Ground::new(0.0, normal, compliance, friction).expect("a plane")
}

/// This ground alone.
pub fn on(ground: &Ground) -> Surroundings<'_> {
    Surroundings {
        ground: Some(ground),
        ..Surroundings::default()
    }
}

fn linear(damping: f64) -> Compliance {
    Compliance::new(5000.0, 1.0, damping).expect("a compliance")
}

/// Writes the pose of a free body to its coordinates.
pub fn place(pose: &SE3<f64>, configuration: &mut [f64]) {
    configuration[..3].copy_from_slice(pose.translation.as_slice());
    configuration[3..12].copy_from_slice(pose.rotation.matrix().as_slice());
}

/// A system with its dynamics and its state.
pub struct Run {
    pub system: System,
    pub dynamics: ActuatedDynamics,
    pub state: SystemState<f64>,
    integrator: RungeKutta<f64>,
    step: f64,
    /// The energy dissipated since the start, J.
    pub taken: f64,
}

impl Run {
    fn new(text: &str, step: f64, pose: &SE3<f64>, ground: Option<Ground>) -> Self {
        Self::begin(text, step, |system, dynamics, state| {
            if state.configuration.len() >= 12 {
                place(pose, &mut state.configuration);
            }
            if let Some(ground) = ground {
                dynamics.start_ground(system, ground, state);
            }
        })
    }

    pub fn begin(
        text: &str,
        step: f64,
        start: impl FnOnce(&System, &mut ActuatedDynamics, &mut SystemState<f64>),
    ) -> Self {
        let system = System::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        start(&system, &mut dynamics, &mut state);
        Self {
            integrator: RungeKutta::new(&system.model, Scheme::RungeKutta4),
            system,
            dynamics,
            state,
            step,
            taken: 0.0,
        }
    }

    pub fn step(&mut self) {
        let (system, dynamics) = (&self.system, &mut self.dynamics);
        // Simpson's rule over the stages of RK4: 1, 2, 2, 1 sixths.
        let weights = [1.0, 2.0, 2.0, 1.0];
        let (mut stage, mut sum) = (0, 0.0);
        self.integrator
            .step(&system.model, &mut self.state, self.step, |state, rates| {
                dynamics.rates(system, &[], state, rates);
                let taken = dynamics.contact_dissipation();
                assert!(taken >= 0.0, "{taken} W at {} s", state.time);
                sum += weights[stage] / 6.0 * taken;
                stage += 1;
            });
        self.taken += sum * self.step;
    }

    pub fn run(&mut self, time: f64) {
        let end = self.state.time + time - 0.5 * self.step;
        while self.state.time < end {
            self.step();
        }
    }

    /// Of motion, gravity and contacts, J.
    pub fn energy(&mut self) -> f64 {
        let (system, n) = (&self.system, self.system.model.dof());
        let mut acceleration = vec![0.0; n];
        (self.dynamics)
            .acceleration(system, &self.state, &mut acceleration)
            .expect("an acceleration");
        let mut workspace = Workspace::new(&system.model);
        let (x, xi) = (&self.state.configuration, &self.state.velocity[..n]);
        workspace.update(&system.model, x, xi);
        workspace.energy(&system.model) + self.dynamics.contact_energy()
    }

    fn position(&self) -> Vector3<f64> {
        Vector3::from_column_slice(&self.state.configuration[..3])
    }

    /// The body's z axis in the world.
    fn upward(&self) -> Vector3<f64> {
        Vector3::from_column_slice(&self.state.configuration[9..12])
    }
}

const MASS: f64 = 0.8;
const RADIUS: f64 = 0.1;

fn ball(gravity: f64) -> String {
    format!(
        "name = 'ball'
        gravity = [0, 0, {}]
        [bodies.ball]
        mass = {MASS}
        shape = {{ sphere = {{ radius = {RADIUS} }} }}
        [[bodies.ball.contacts]]
        radius = {RADIUS}",
        -gravity
    )
}

fn upright(x: f64, y: f64, z: f64) -> SE3<f64> {
    SE3::new(SO3::identity(), Vector3::new(x, y, z))
}

/// `c v - ln(1 + c v) = -c e v - ln(1 - c e v)` whatever mass, stiffness and exponent are.
#[test]
fn a_ball_leaves_with_the_restitution_of_hunt_and_crossley() {
    for (stiffness, exponent) in [(5000.0, 1.0), (2e5, 1.5), (800.0, 1.0)] {
        for (damping, speed) in [(0.0, 2.0), (0.2, 0.5), (0.5, 2.0), (2.0, 1.0), (1.0, 5.0)] {
            let compliance = Compliance::new(stiffness, exponent, damping).expect("a compliance");
            let plane = ground(0.0, compliance, 0.5);
            let mut run = Run::new(&ball(0.0), 1e-4, &upright(0.0, 0.0, 0.11), Some(plane));
            run.state.velocity[2] = -speed;
            run.run(0.02 / speed + 0.3);
            let leaves = run.state.velocity[2];
            let (x, y) = (damping * speed, damping * leaves);
            let missing = x - x.ln_1p() + y + (-y).ln_1p();
            assert!(missing.abs() < 1e-6 * (1.0 + x), "{missing}");
            let expected = compliance.restitution(speed) * speed;
            assert!((leaves - expected).abs() < 1e-5, "{leaves} {expected}");
        }
    }
}

/// If gravity is negligible against the forces of the impact.
#[test]
fn a_ball_bounces_less_high_each_time_and_comes_to_rest() {
    let compliance = Compliance::new(1e8, 1.0, 0.3).expect("a compliance");
    let plane = ground(0.0, compliance, 0.5);
    let mut run = Run::new(
        &ball(G),
        2e-6,
        &upright(0.0, 0.0, RADIUS + 1.0),
        Some(plane),
    );
    let mut speed = (2.0 * G).sqrt();
    for bounce in 0..5 {
        speed *= compliance.restitution(speed);
        while run.state.velocity[2] <= 0.0 {
            run.step();
        }
        while run.state.velocity[2] > 0.0 {
            run.step();
        }
        let (height, expected) = (run.position().z - RADIUS, 0.5 * speed * speed / G);
        let error = (height / expected - 1.0).abs();
        assert!(
            error < 5e-3,
            "bounce {bounce}: {height} {expected} {error:e}"
        );
    }
    // Damping of Hunt and Crossley vanishes with the depth: rest takes long where it is stiff.
    let hertz = Compliance::new(2e4, 1.5, 2.0).expect("a compliance");
    let rest = (MASS * G / 2e4_f64).powf(1.0 / 1.5);
    let start = upright(0.0, 0.0, RADIUS - 1.2 * rest);
    let mut run = Run::new(&ball(G), 1e-3, &start, Some(ground(0.0, hertz, 0.5)));
    run.run(60.0);
    let depth = RADIUS - run.position().z;
    assert!((depth / rest - 1.0).abs() < 1e-4, "{depth} {rest}");
}

const SIDES: [f64; 3] = [0.2, 0.3, 0.4];

fn cuboid() -> String {
    format!(
        "name = 'cuboid'
        [bodies.cuboid]
        mass = {MASS}
        shape = {{ box = {SIDES:?} }}
        [[bodies.cuboid.contacts]]
        box = {SIDES:?}"
    )
}

/// On an inclined plane, as deep as it rests.
fn standing(angle: f64, stiffness: f64) -> SE3<f64> {
    let rest = MASS * G * angle.cos() / (4.0 * stiffness);
    let rotation = SO3::exp(&Vector3::new(0.0, angle, 0.0));
    let center = rotation.act(&Vector3::new(0.0, 0.0, 0.5 * SIDES[2] - rest));
    SE3::new(rotation, center)
}

#[test]
fn a_box_rests_on_a_slope_below_the_friction_angle_and_slides_above() {
    let mu = 0.35_f64;
    let friction_angle = mu.atan();
    // It would tip over at atan(0.2 / 0.4) only.
    for (angle, rests) in [
        (0.0, true),
        (0.6 * friction_angle, true),
        (0.97 * friction_angle, true),
        (1.03 * friction_angle, false),
        (1.3 * friction_angle, false),
    ] {
        let plane = ground(angle, linear(2.0), mu);
        let mut run = Run::new(&cuboid(), 1e-3, &standing(angle, 5000.0), Some(plane));
        run.run(8.0);
        let (before, speed) = (run.position(), run.state.velocity[0]);
        run.run(if rests { 10.0 } else { 1.0 });
        let way = (run.position() - before).norm();
        if rests {
            assert!(way < 1e-6, "{angle}: creeps by {way:e} m in 10 s");
        } else {
            let acceleration = run.state.velocity[0] - speed;
            let expected = G * (angle.sin() - mu * angle.cos());
            assert!(way > 0.1);
            let error = (acceleration / expected - 1.0).abs();
            assert!(error < 1e-3, "{acceleration} {expected}");
        }
    }
}

#[test]
fn a_load_that_swings_inside_the_cone_does_not_make_a_box_drift() {
    let mut run = Run::new(
        &cuboid(),
        1e-3,
        &standing(0.0, 5000.0),
        Some(ground(0.0, linear(2.0), 0.5)),
    );
    let most = 0.5 * MASS * G;
    let push = |run: &mut Run, cycles: usize| {
        for i in 0..cycles * 1000 {
            let swing = (std::f64::consts::TAU * i as f64 / 1000.0).sin();
            let force = most * (0.5 + 0.48 * swing);
            // On the ground, so that the box does not rock.
            let push = [force, 0.0, 0.0, 0.0, -0.5 * SIDES[2] * force, 0.0];
            run.dynamics.external_force_mut().copy_from_slice(&push);
            run.step();
        }
        run.position()
    };
    let before = push(&mut run, 5);
    let drift = (push(&mut run, 50) - before).norm();
    assert!(drift < 1e-7, "{drift:e} m in 50 cycles");
}

/// `a = g sin / (1 + I / m r²)` with `I = 2/5 m r²`, where `tan <= 7/2 mu`.
#[test]
fn a_ball_rolls_down_with_five_sevenths() {
    let angle = 0.3_f64;
    let start = SE3::new(
        SO3::identity(),
        Vector3::new(angle.sin(), 0.0, angle.cos()) * (RADIUS - MASS * G * angle.cos() / 5000.0),
    );
    let plane = ground(angle, linear(2.0), 0.5);
    let mut run = Run::new(&ball(G), 2e-4, &start, Some(plane));
    let speed = |run: &Run| Vector3::from_column_slice(&run.state.velocity[..3]).norm();
    run.run(2.0);
    let before = speed(&run);
    run.run(2.0);
    let (found, expected) = (0.5 * (speed(&run) - before), 5.0 / 7.0 * G * angle.sin());
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    let rolls = speed(&run) / run.state.velocity[4] / RADIUS;
    assert!((rolls - 1.0).abs() < 1e-6, "{rolls}");
}

/// Pushed at the height p with P, a box of width w tips over its edge where `P p > m g w / 2`, and slides where `P > mu m g`.
#[test]
fn a_pushed_box_slides_or_tips_over() {
    let (width, weight) = (SIDES[0], MASS * G);
    for (mu, height) in [(0.9, 0.38), (0.9, 0.2), (0.4, 0.1), (0.4, 0.35)] {
        let tipping = 0.5 * weight * width / height;
        let sliding = mu * weight;
        let tips = tipping < sliding;
        let least = tipping.min(sliding);
        for (part, moves) in [(0.96, false), (1.04, true)] {
            let plane = ground(0.0, linear(2.0), mu);
            let mut run = Run::new(&cuboid(), 1e-3, &standing(0.0, 5000.0), Some(plane));
            // Grows slowly, so that it does not overshoot.
            for i in 0..2500 {
                let force = part * least * (f64::from(i) / 1500.0).min(1.0);
                let push = [force, 0.0, 0.0, 0.0, force * (height - 0.5 * SIDES[2]), 0.0];
                run.dynamics.external_force_mut().copy_from_slice(&push);
                run.step();
            }
            let (way, tilt) = (run.position().x, run.upward().x);
            let found = (way.abs() > 0.03, tilt > 0.1);
            let expected = (moves, moves && tips);
            assert_eq!(
                found, expected,
                "mu {mu}, at {height} m: {way} m, tilt {tilt}"
            );
        }
    }
}

/// It tips over when the centre of mass passes the edge: `tan > w / h`.
#[test]
fn a_box_tips_over_on_a_steep_slope() {
    let limit = (SIDES[0] / SIDES[2]).atan();
    // Its rest on springs tilts it a little beyond the plane.
    for (angle, tips) in [(0.96 * limit, false), (1.02 * limit, true)] {
        let stiff = Compliance::new(1e5, 1.0, 2.0).expect("a compliance");
        let plane = ground(angle, stiff, 2.0);
        let mut run = Run::new(&cuboid(), 2e-4, &standing(angle, 1e5), Some(plane));
        run.run(4.0);
        let beyond = run.upward().dot(plane.normal());
        assert_eq!(beyond < 0.9, tips, "{angle}: {beyond}");
    }
}

/// Thrown with spin on a slope: the energy lost is that dissipated by the contacts, and the energy never grows.
#[test]
fn energy_is_only_taken() {
    let mut random = Random::new(5);
    let mut worst = [0.0_f64; 2];
    for i in 0..12 {
        let angle = 0.1 * f64::from(i % 4);
        let exponent = if i % 3 == 0 { 1.5 } else { 1.0 };
        let compliance = Compliance::new(4000.0, exponent, 0.4).expect("a compliance");
        let mut pose: SE3<f64> = random.pose();
        pose.translation = Vector3::new(0.0, 0.0, 0.5);
        let plane = ground(angle, compliance, 0.3 + 0.1 * f64::from(i % 5));
        let step = 1e-4;
        let mut run = Run::new(&cuboid(), step, &pose, Some(plane));
        let (v, omega): (Vector3<f64>, Vector3<f64>) = (random.vector3(2.0), random.vector3(8.0));
        run.state.velocity[..3].copy_from_slice(v.as_slice());
        run.state.velocity[3..6].copy_from_slice(omega.as_slice());
        let start = run.energy();
        let mut before = start;
        while run.state.time < 2.0 {
            run.step();
            let energy = run.energy();
            worst[0] = worst[0].max(energy - before);
            before = energy;
        }
        let missing = (start - before - run.taken).abs() / run.taken;
        worst[1] = worst[1].max(missing);
        assert!(
            run.taken > 0.2 * MASS * G * 0.3,
            "it touched: {}",
            run.taken
        );
    }
    println!("grows by {:e} J in a step, audit {:e}", worst[0], worst[1]);
    assert!(worst[0] < 2e-7, "grows by {:e} J in a step", worst[0]);
    assert!(worst[1] < 1e-4, "misses {:e} of what was taken", worst[1]);
}

/// A stop between two free bodies of equal weight.
fn hinged(extra: &str) -> String {
    format!(
        "name = 'hinged'
        gravity = [0, 0, 0]
        [bodies.frame]
        mass = 2.0
        center_of_mass = [0.1, 0, 0.02]
        inertia = [0.02, 0.03, 0.04]
        [bodies.arm]
        parent = 'frame'
        position = [0.3, 0, 0.1]
        mass = 0.5
        center_of_mass = [0.2, 0.01, 0]
        inertia = [0.001, 0.01, 0.01]
        joint = {{ type = 'revolute', axis = [0, 0.6, 0.8], limits = {{ position = [-0.5, 0.3], {extra} }} }}"
    )
}

#[test]
fn stops_keep_momentum_and_take_energy() {
    let start = upright(0.0, 0.0, 0.0);
    let mut run = Run::new(
        &hinged("stop = { stiffness = 200, damping = 0.2 }"),
        1e-4,
        &start,
        None,
    );
    run.state
        .velocity
        .copy_from_slice(&[0.3, -0.2, 0.1, 0.4, 1.0, -0.5, 6.0]);
    let momentum = |run: &Run| {
        let mut workspace = Workspace::new(&run.system.model);
        workspace.update(
            &run.system.model,
            &run.state.configuration,
            &run.state.velocity,
        );
        workspace.momentum(&run.system.model)
    };
    let (before, energy) = (momentum(&run), run.energy());
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for _ in 0..20_000 {
        run.step();
        let q = run.state.configuration[12];
        (least, most) = (least.min(q), most.max(q));
    }
    assert!(
        (-0.9..-0.5).contains(&least) && (0.3..0.7).contains(&most),
        "{least} {most}"
    );
    let change = (momentum(&run) - before).amax();
    assert!(change < 1e-9, "{change:e}");
    let missing = energy - run.energy() - run.taken;
    assert!(
        run.taken > 0.1 && missing.abs() < 1e-5 * run.taken,
        "{missing:e} of {}",
        run.taken
    );
}

/// A pendulum in still space meets its stop with `omega` and leaves it with `e omega`; with gravity it rests where `k d = m g l cos`.
#[test]
fn a_pendulum_bounces_at_its_stop() {
    let pendulum = |gravity: f64, stop: &str| {
        format!(
            "name = 'pendulum'
            gravity = [0, 0, {}]
            [bodies.rod]
            mass = 0.7
            center_of_mass = [0.5, 0, 0]
            inertia = [0.001, 0.05, 0.05]
            joint = {{ type = 'revolute', axis = [0, 1, 0], limits = {{ position = [-1, 0.4], {stop} }} }}",
            -gravity
        )
    };
    let start = upright(0.0, 0.0, 0.0);
    let compliance = Compliance::new(300.0, 1.0, 0.25).expect("a compliance");
    let stop = "stop = { stiffness = 300, damping = 0.25 }";
    for speed in [0.5, 3.0] {
        let mut run = Run::new(&pendulum(0.0, stop), 1e-4, &start, None);
        run.state.velocity[0] = speed;
        while run.state.velocity[0] > 0.0 || run.state.configuration[0] > 0.4 {
            run.step();
        }
        let (found, expected) = (
            -run.state.velocity[0],
            compliance.restitution(speed) * speed,
        );
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let stop = "stop = { stiffness = 300, damping = 2 }";
    let mut run = Run::new(&pendulum(G, stop), 1e-3, &start, None);
    run.run(120.0);
    let q = run.state.configuration[0];
    let missing = 300.0 * (q - 0.4) - 0.7 * G * 0.5 * q.cos();
    assert!(missing.abs() < 1e-3, "{q} {missing}");
}

/// The frequency of a ball on the ground: `sqrt(7/2 k / m)` of rolling to and fro on its bristle; of a pendulum in its stop `sqrt(k / I)`.
#[test]
fn frequencies_are_those_of_the_modes() {
    let plane = ground(0.2, linear(0.5), 0.5);
    let run = Run::new(&ball(G), 1e-3, &upright(0.0, 0.0, 1.0), None);
    let x = &run.state.configuration;
    let found = contact_frequency(&run.system, on(&plane), x, 5.0).expect("contacts");
    let expected = (3.5 * 5000.0 / MASS).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    assert_eq!(
        contact_frequency(&run.system, Surroundings::default(), x, 5.0),
        None
    );
    let rate = contact_rate(&run.system, on(&plane), x, 5.0).expect("contacts");
    assert!(rate >= found && rate < 2.0 * found, "{rate} {found}");

    // A step is as long as it may be: the hardest impact it is meant for is still one that takes energy.
    for damping in [0.0, 0.5, 5.0, 40.0] {
        let plane = ground(0.2, linear(damping), 0.5);
        let rate = contact_rate(&run.system, on(&plane), x, 5.0).expect("contacts");
        let mut run = Run::new(&ball(G), 1.0 / rate, &upright(0.0, 0.0, 0.2), Some(plane));
        run.state.velocity[..3].copy_from_slice(&[2.0, 1.0, -4.5]);
        let start = run.energy();
        for _ in 0..20_000 {
            run.step();
        }
        let end = run.energy();
        assert!(
            end.is_finite() && end < start * (1.0 + 1e-9),
            "{damping}: {start} J, {end} J"
        );
    }
}

#[test]
fn contacts_and_stops_are_described_and_written() {
    let text = "name = 'both'
        [bodies.frame]
        mass = 1
        inertia = [1, 1, 1]
        contacts = [{ position = [0, 0, -0.1], radius = 0.02 }, { box = [0.2, 0.3, 0.4], radius = 0.01, orientation = { rpy_deg = [0, 0, 90] } }]
        [bodies.arm]
        parent = 'frame'
        mass = 1
        inertia = [1, 1, 1]
        joint = { type = 'prismatic', axis = [1, 0, 0], limits = { position = [-0.1, 0.2], stop = { stiffness = 50, damping = 3 } } }
        contacts = [{}, { capsule = [[0.1, 0.3, 0], [1, 2, 3]], radius = 0.3 }]";
    let system = System::from_toml(text).expect("a description");
    assert_eq!(system.contacts.len(), 11);
    assert_eq!(system.contacts[10].ends[1], Vector3::new(1.0, 2.0, 3.0));
    assert_eq!(system.contacts[0].ends[0], Vector3::new(0.0, 0.0, -0.1));
    // The corners of a box that is turned by a right angle.
    let corner = system.contacts[1].ends[0].abs() - Vector3::new(0.14, 0.09, 0.19);
    assert!(corner.amax() < 1e-12, "{corner}");
    let stop = system.joints[1].limits.stop.expect("a stop");
    assert_eq!((stop.stiffness(), stop.damping()), (50.0, 3.0));
    let again = System::from_toml(&system.to_toml()).expect("what was written");
    assert_eq!(again.contacts, system.contacts);
    assert_eq!(again.joints, system.joints);
    let more = system.clone().with(|builder| builder).expect("a system");
    assert_eq!(more.contacts, system.contacts);

    for (from, to, expected) in [
        ("radius = 0.02", "radius = -1", "a number of at least 0"),
        (
            "radius = 0.02",
            "radius = 1, orientation = { rpy_deg = [1, 0, 0] }",
            "beside `box`",
        ),
        ("radius = 0.01", "radius = 0.2", "twice the `radius`"),
        ("radius = 0.01", "width = 1", "unknown key `width`"),
        (
            "[1, 2, 3]]",
            "[1, 2, 3], [4, 5, 6]]",
            "expected two points, found 3",
        ),
        (
            "[1, 2, 3]]",
            "[1, 2, 3]], position = [0, 0, 0]",
            "expected no `position` beside `capsule`",
        ),
        ("position = [-0.1, 0.2], stop", "stop", "beside `stop`"),
        ("stiffness = 50", "stiffness = 0", "a number above 0"),
    ] {
        let error = System::from_toml(&text.replace(from, to))
            .expect_err(to)
            .to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
    let turning = text.replace("'prismatic'", "'revolute', coordinates = 'cos_sin'");
    let error = System::from_toml(&turning).expect_err("turns").to_string();
    assert!(error.contains("coordinates = \"angle\""), "{error}");
}
