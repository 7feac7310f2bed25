//! Ropes, and rods between free bodies: against closed forms, momenta and energies.

use fly_lie::SO3;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::Workspace;
use fly_mechanics::{ActuatedDynamics, System};
use nalgebra::{Matrix2, Vector2, Vector3};

const G: f64 = 9.81;

/// A system with its dynamics and its state.
struct Run {
    system: System,
    dynamics: ActuatedDynamics,
    state: SystemState<f64>,
    integrator: RungeKutta<f64>,
    step: f64,
    command: Vec<f64>,
    /// What ropes took and rotors gave since the start, J.
    taken: f64,
    given: f64,
}

impl Run {
    fn new(text: &str, step: f64) -> Self {
        let system = System::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        let command = vec![0.0; system.inputs.input_dim()];
        state.velocity.extend(&command);
        Self {
            integrator: RungeKutta::new(&system.model, Scheme::RungeKutta4),
            system,
            dynamics,
            state,
            step,
            command,
            taken: 0.0,
            given: 0.0,
        }
    }

    /// Puts a free body somewhere, in motion: m, m/s in the world, rad/s.
    fn place(&mut self, name: &str, position: [f64; 3], velocity: [f64; 3], turning: [f64; 3]) {
        let model = &self.system.model;
        let body = model.body_id(name).expect("a body");
        let (x, xi) = (
            model.config_range(body).start,
            model.velocity_range(body).start,
        );
        self.state.configuration[x..x + 3].copy_from_slice(&position);
        let columns = &self.state.configuration[x + 3..x + 12];
        let attitude = nalgebra::Matrix3::from_column_slice(columns);
        let velocity = attitude.transpose() * Vector3::from(velocity);
        self.state.velocity[xi..xi + 3].copy_from_slice(velocity.as_slice());
        self.state.velocity[xi + 3..xi + 6].copy_from_slice(&turning);
    }

    fn turn(&mut self, name: &str, attitude: &SO3<f64>) {
        let model = &self.system.model;
        let x = model
            .config_range(model.body_id(name).expect("a body"))
            .start;
        self.state.configuration[x + 3..x + 12].copy_from_slice(attitude.matrix().as_slice());
    }

    fn position(&self, name: &str) -> Vector3<f64> {
        let model = &self.system.model;
        let x = model
            .config_range(model.body_id(name).expect("a body"))
            .start;
        Vector3::from_column_slice(&self.state.configuration[x..x + 3])
    }

    fn step(&mut self) {
        let (system, dynamics, command) = (&self.system, &mut self.dynamics, &self.command);
        let n = system.model.dof();
        // Simpson's rule over the stages of RK4: 1, 2, 2, 1 sixths.
        let weights = [1.0, 2.0, 2.0, 1.0];
        let (mut stage, mut taken, mut given) = (0, 0.0, 0.0);
        let mut acceleration = vec![0.0; n];
        self.integrator
            .step(&system.model, &mut self.state, self.step, |state, rates| {
                dynamics.rates(system, command, state, rates);
                let power = dynamics.contact_dissipation();
                assert!(power >= 0.0, "{power} W at {} s", state.time);
                taken += weights[stage] / 6.0 * power;
                // The power of rotors alone: each pushes along its body's z axis at the origin.
                for (carrier, thrust) in system.inputs.carriers().iter().zip(command) {
                    let own = system.model.velocity_range(*carrier);
                    given += weights[stage] / 6.0 * thrust * state.velocity[own.start + 2];
                }
                stage += 1;
            });
        let _ = dynamics.acceleration(system, &self.state, &mut acceleration);
        self.taken += taken * self.step;
        self.given += given * self.step;
    }

    fn run(&mut self, time: f64) {
        let end = self.state.time + time - 0.5 * self.step;
        while self.state.time < end {
            self.step();
        }
    }

    fn acceleration(&mut self) -> Vec<f64> {
        let mut acceleration = vec![0.0; self.system.model.dof()];
        (self.dynamics)
            .acceleration(&self.system, &self.state, &mut acceleration)
            .expect("an acceleration");
        acceleration
    }

    fn workspace(&self) -> Workspace<f64> {
        let model = &self.system.model;
        let mut workspace = Workspace::new(model);
        let xi = &self.state.velocity[..model.dof()];
        workspace.update(model, &self.state.configuration, xi);
        workspace
    }

    /// Of motion, gravity and ropes, J.
    fn energy(&mut self) -> f64 {
        self.acceleration();
        self.workspace().energy(&self.system.model) + self.dynamics.contact_energy()
    }
}

fn on_a_rope(gravity: f64, length: f64, stiffness: f64, damping: f64) -> String {
    format!(
        "name = 'on a rope'
        gravity = [0, 0, {}]
        [bodies.load]
        mass = {MASS}
        inertia = [0.001, 0.001, 0.001]
        [[ropes]]
        to = 'load'
        length = {length}
        stiffness = {stiffness}
        damping = {damping}",
        -gravity
    )
}

const MASS: f64 = 0.8;

/// Round a circle at the angle `a` from the vertical `T cos a = m g`, and `w^2 d sin a = T sin a / m`: exact for a rope that stretches by `T / k`.
#[test]
fn a_conical_pendulum_goes_round_its_circle() {
    let (angle, length, stiffness) = (0.6_f64, 1.2, 400.0);
    let distance = length + MASS * G / angle.cos() / stiffness;
    let speed = (G / (distance * angle.cos())).sqrt();
    let radius = distance * angle.sin();
    let depth = -distance * angle.cos();
    let mut run = Run::new(&on_a_rope(G, length, stiffness, 0.7), 1e-3);
    run.place(
        "load",
        [radius, 0.0, depth],
        [0.0, radius * speed, 0.0],
        [0.0; 3],
    );
    for _ in 0..8 {
        run.run(0.5);
        let at = speed * run.state.time;
        let expected = Vector3::new(radius * at.cos(), radius * at.sin(), depth);
        let error = (run.position("load") - expected).norm();
        assert!(error < 1e-9, "{error} m at {} s", run.state.time);
        let tension = run.dynamics.tensions()[0];
        assert!(
            (tension - MASS * G / angle.cos()).abs() < 1e-6,
            "{tension} N"
        );
    }
}

/// The stiffer a taut rope, the closer to a rod: the difference falls as 1/k.
#[test]
fn a_taut_rope_is_a_pendulum_in_the_limit() {
    let (length, start) = (1.0_f64, 0.5_f64);
    let rod = format!(
        "name = 'pendulum'
        [bodies.load]
        joint = {{ type = 'revolute', axis = [0, 1, 0] }}
        parts = [{{ mass = {MASS}, position = [0, 0, {}] }}]",
        -length
    );
    let mut rigid = Run::new(&rod, 1e-4);
    rigid.state.configuration[0] = start;
    let mut missing = Vec::new();
    for stiffness in [1e4, 1e5] {
        // In balance along the rope at the start, so that it does not swing along itself.
        let stretch = MASS * G * start.cos() / stiffness;
        let mut rope = Run::new(&on_a_rope(G, length, stiffness, 0.0), 1e-4);
        let distance = length + stretch;
        let at = [-distance * start.sin(), 0.0, -distance * start.cos()];
        rope.place("load", at, [0.0; 3], [0.0; 3]);
        let mut worst = 0.0_f64;
        rigid.state = SystemState::at_rest(&rigid.system.model);
        rigid.state.configuration[0] = start;
        for _ in 0..40 {
            rigid.run(0.05);
            rope.run(0.05);
            let p = rope.position("load");
            let angle = (-p.x).atan2(-p.z);
            worst = worst.max((angle - rigid.state.configuration[0]).abs());
        }
        missing.push(worst);
    }
    assert!(missing[1] < 1e-3, "{missing:?}");
    let ratio = missing[0] / missing[1];
    assert!((8.0..12.0).contains(&ratio), "{missing:?}");
}

/// What runs into the end of its rope comes back with the restitution of Hunt and Crossley, and without damping after half a period.
#[test]
fn a_slack_rope_lets_go_and_throws_back() {
    for damping in [0.0, 0.2, 1.0] {
        let (length, stiffness, speed) = (1.0, 900.0, 2.0);
        let mut run = Run::new(&on_a_rope(0.0, length, stiffness, damping), 1e-4);
        run.place("load", [0.4, 0.0, 0.0], [speed, 0.0, 0.0], [0.0; 3]);
        run.run(0.2);
        assert!(
            (run.position("load").x - 0.8).abs() < 1e-12,
            "it flies freely"
        );
        assert_eq!(run.dynamics.tensions(), [0.0]);
        run.run(0.8);
        let back = -run.state.velocity[0];
        let (x, y) = (damping * speed, damping * back);
        let missing = x - x.ln_1p() + y + (-y).ln_1p();
        assert!(missing.abs() < 1e-7, "{damping}: {back} m/s, {missing}");
        if damping == 0.0 {
            assert!((back - speed).abs() < 1e-7, "{back} m/s");
            let half = std::f64::consts::PI * (MASS / stiffness).sqrt();
            let expected = length - speed * (run.state.time - 0.3 - half);
            let x = run.position("load").x;
            assert!((x - expected).abs() < 1e-6, "{x} m, expected {expected}");
        }
    }
}

#[test]
fn two_ropes_carry_what_statics_say() {
    let anchors = [Vector3::new(-1.0, 0.0, 0.3), Vector3::new(0.6, 0.0, 0.0)];
    let load = Vector3::new(0.1, 0.0, -0.9);
    let to = anchors.map(|anchor| anchor - load);
    // Sum of T_i to_i / |to_i| = m g upwards.
    let units = to.map(|to| to.normalize());
    let matrix = Matrix2::new(units[0].x, units[1].x, units[0].z, units[1].z);
    let tensions = matrix
        .lu()
        .solve(&Vector2::new(0.0, MASS * G))
        .expect("two directions");
    let stiffness = 1500.0;
    let lengths = [0, 1].map(|i| to[i].norm() - tensions[i] / stiffness);
    let rope = |i: usize| {
        let anchor = anchors[i];
        format!(
            "[[ropes]]
            from_point = [{}, {}, {}]
            to = 'load'
            length = {}
            stiffness = {stiffness}
            damping = 0.5\n",
            anchor.x, anchor.y, anchor.z, lengths[i]
        )
    };
    let text = format!(
        "name = 'two ropes'
        [bodies.load]
        mass = {MASS}
        inertia = [0.001, 0.001, 0.001]
        drag = {{ linear = [2, 2, 2] }}
        {}{}",
        rope(0),
        rope(1)
    );
    let mut run = Run::new(&text, 1e-3);
    run.place("load", load.into(), [0.0; 3], [0.0; 3]);
    let acceleration = run.acceleration();
    assert!(
        acceleration.iter().all(|a| a.abs() < 1e-11),
        "{acceleration:?}"
    );
    // It comes there from elsewhere, too.
    run.place("load", [0.3, 0.1, -0.7], [0.0; 3], [0.0; 3]);
    run.run(20.0);
    run.acceleration();
    for (found, expected) in run.dynamics.tensions().iter().zip(tensions.iter()) {
        assert!(
            (found - expected).abs() < 1e-6,
            "{found} N, expected {expected} N"
        );
    }
}

/// Two bodies in free space, tied together off their centres: nothing but the rope acts.
#[test]
fn momenta_stay_and_energy_is_only_lost_in_the_rope() {
    let text = |damping: f64| {
        format!(
            "name = 'bolas'
            gravity = [0, 0, 0]
            [bodies.one]
            mass = 0.7
            inertia = [0.01, 0.02, 0.025]
            [bodies.two]
            mass = 1.3
            inertia = [0.03, 0.02, 0.04]
            center_of_mass = [0.02, 0, 0.01]
            [[ropes]]
            from = 'one'
            from_point = [0.1, 0, 0.05]
            to = 'two'
            to_point = [-0.05, 0.1, 0]
            length = 0.6
            stiffness = 300
            damping = {damping}"
        )
    };
    // The tension has a kink where the rope becomes taut: there the integrator is of second order.
    for (damping, error) in [(0.0, 1e-7), (0.8, 1e-6)] {
        let mut run = Run::new(&text(damping), 2e-4);
        run.turn("two", &SO3::exp(&Vector3::new(0.3, -0.4, 1.1)));
        run.place("one", [0.1, 0.0, 0.0], [0.4, -0.9, 0.2], [1.0, -2.0, 0.5]);
        run.place(
            "two",
            [-0.55, 0.1, 0.2],
            [-0.6, 0.5, -0.3],
            [-0.4, 0.8, 1.5],
        );
        let momentum = |run: &Run| run.workspace().momentum(&run.system.model);
        let (before, start) = (momentum(&run), run.energy());
        let (mut slack, mut taut) = (0, 0);
        for _ in 0..15_000 {
            run.step();
            if run.dynamics.tensions()[0] > 0.0 {
                taut += 1;
            } else {
                slack += 1;
            }
        }
        assert!(
            slack > 1000 && taut > 1000,
            "{slack} steps slack, {taut} taut"
        );
        let change = (momentum(&run) - before).amax();
        assert!(change < 1e-8, "{change} kg m/s or kg m^2/s");
        let missing = run.energy() + run.taken - start;
        assert!(missing.abs() < error * start, "{missing} J of {start} J");
        assert_eq!(run.taken > 0.01 * start, damping > 0.0, "{} J", run.taken);
    }
}

/// Two vehicles that push against a rod between them.
#[test]
fn a_rod_between_two_vehicles_keeps_its_length_and_does_no_work() {
    let vehicle = |name: &str| {
        format!(
            "[bodies.{name}]
            mass = 0.9
            inertia = [0.006, 0.006, 0.011]
            [[rotors]]
            body = '{name}'
            position = [0, 0, 0]
            axis = [0, 0, 1]
            thrust = [0, 30]\n"
        )
    };
    let text = format!(
        "name = 'pair'
        {}{}
        [[loops]]
        type = 'distance'
        length = 1.0
        from = 'left'
        from_frame = {{ position = [0, 0, -0.1] }}
        to = 'right'
        to_frame = {{ position = [0, 0, -0.1] }}",
        vehicle("left"),
        vehicle("right")
    );
    let mut run = Run::new(&text, 5e-4);
    run.turn("left", &SO3::exp(&Vector3::new(0.2, 0.3, 0.0)));
    let below = |run: &Run, name: &str| {
        let body = run.system.model.body_id(name).expect("a body");
        let pose = run
            .workspace()
            .pose(fly_mechanics::multibody::BodyId::WORLD, body);
        pose.act(&Vector3::new(0.0, 0.0, -0.1))
    };
    run.place("left", [0.0; 3], [0.0; 3], [0.0; 3]);
    let right = below(&run, "left") + Vector3::new(0.0, -1.0, 0.1);
    run.place("right", right.into(), [0.0; 3], [0.0; 3]);
    run.command = vec![11.0, 7.5];
    run.state.velocity[12..].copy_from_slice(&[11.0, 7.5]);
    let start = run.energy();
    for _ in 0..4 {
        run.run(0.5);
        let distance = (below(&run, "left") - below(&run, "right")).norm();
        assert!((distance - 1.0).abs() < 1e-8, "{distance} m");
        let missing = run.energy() - run.given - start;
        assert!(
            missing.abs() < 1e-7 * run.given.abs(),
            "{missing} J of {} J",
            run.given
        );
    }
    assert!(run.given.abs() > 1.0, "{} J", run.given);
}

#[test]
fn ropes_are_described_and_written() {
    let text = "name = 'both'
        [bodies.crane]
        joint = { type = 'revolute', axis = [0, 0, 1] }
        mass = 1
        inertia = [1, 1, 1]
        [bodies.load]
        mass = 1
        inertia = [1, 1, 1]
        [[ropes]]
        from = 'crane'
        from_point = [1, 0, 0.1]
        to = 'load'
        length = 0.5
        stiffness = 100
        damping = 0.25
        [[ropes]]
        name = 'guy'
        to = 'load'
        to_point = [0, 0.1, 0]
        length = 2
        stiffness = 10";
    let system = System::from_toml(text).expect("a description");
    assert_eq!(system.ropes[0].name, "rope 0");
    assert_eq!(system.ropes[1].point_in_b, Vector3::new(0.0, 0.1, 0.0));
    assert_eq!(system.ropes[0].compliance.damping(), 0.25);
    let again = System::from_toml(&system.to_toml()).expect("what was written");
    assert_eq!(again.ropes, system.ropes);
    let more = system.clone().with(|builder| builder).expect("a system");
    assert_eq!(more.ropes, system.ropes);
    assert!(system.to_string().contains("2 ropes"), "{system}");

    for (from, to, expected) in [
        ("length = 0.5", "length = 0", "a number above 0"),
        ("length = 0.5", "", "missing key `length`"),
        ("stiffness = 100", "stiffness = -1", "a number above 0"),
        ("damping = 0.25", "damping = -1", "a number of at least 0"),
        ("damping = 0.25", "dampng = 1", "unknown key `dampng`"),
        ("to = 'load'", "to = 'lod'", "`lod`"),
        ("to = 'load'", "to = 'crane'", "`crane`"),
    ] {
        let error = System::from_toml(&text.replacen(from, to, 1))
            .expect_err(to)
            .to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}
