//! Servos that tilt rotors by described joints, and joints that open.

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, JointRelease, ReleaseError, System};
use nalgebra::{Vector3, Vector6};

fn read(text: &str) -> System {
    System::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A frame with a rotor that tilts about x, by a nacelle with this inertia about its axis or without one.
fn tilting(inertia: Option<f64>, rotor: &str, servo: &str) -> System {
    let (nacelle, servo) = match inertia {
        None => (String::new(), String::new()),
        Some(inertia) => (
            format!(
                "[bodies.nacelle]
                parent = 'frame'
                position = [0.1, 0.2, 0.05]
                mass = {inertia:e}
                inertia = {:?}
                joint = {{ name = 'tilt', type = 'revolute', axis = [1, 0, 0] }}",
                [inertia; 3]
            ),
            format!(", servo = {{ joint = 'tilt', {servo} }}"),
        ),
    };
    read(&format!(
        "name = 'tilting'
        [bodies.frame]
        mass = 1.5
        center_of_mass = [0.02, 0.01, -0.03]
        inertia = [0.02, 0.03, 0.04]
        {nacelle}
        [[rotors]]
        body = 'frame'
        position = [0.25, 0.2, 0.05]
        axis = [0, 0, 1]
        {rotor}
        tilt = {{ axis = [1, 0, 0], limit_deg = 80, time_constant = 0.04 {servo} }}"
    ))
}

const ROTOR: &str = "thrust = [0, 30]
    drag_ratio = 0.02
    time_constant = 0.03";

struct Run {
    system: System,
    dynamics: ActuatedDynamics,
    state: SystemState<f64>,
    integrator: RungeKutta<f64>,
    step: f64,
}

impl Run {
    fn new(system: System, step: f64, actual: &[f64]) -> Self {
        let mut dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        state.velocity.extend_from_slice(actual);
        dynamics.start_propulsion(&system, 1.0, &mut state);
        Self {
            integrator: RungeKutta::new(&system.model, Scheme::RungeKutta4),
            system,
            dynamics,
            state,
            step,
        }
    }

    fn run(&mut self, time: f64, command: &[f64]) {
        let (system, dynamics) = (&self.system, &mut self.dynamics);
        let end = self.state.time + time - 0.5 * self.step;
        while self.state.time < end {
            (self.integrator).step(&system.model, &mut self.state, self.step, |state, rates| {
                dynamics.rates(system, command, state, rates);
            });
        }
    }

    fn workspace(&self) -> Workspace<f64> {
        let (model, n) = (&self.system.model, self.system.model.dof());
        let mut workspace = Workspace::new(model);
        workspace.update(model, &self.state.configuration, &self.state.velocity[..n]);
        workspace
    }
}

/// With less and less tilted inertia it flies as with a tilt without inertia, and lags by `D / K`.
#[test]
fn a_servo_that_turns_nothing_is_a_lag() {
    let fly = |inertia: Option<f64>| {
        // D / K is the time constant.
        let system = tilting(inertia, ROTOR, "stiffness = 0.5");
        let mut run = Run::new(system, 1e-5, &[10.0, 0.0]);
        run.run(0.25, &[15.0, 0.6]);
        run.run(0.25, &[12.0, -0.4]);
        run.state
    };
    let massless = fly(None);
    let errors = [1e-5, 1e-6].map(|inertia| {
        let state = fly(Some(inertia));
        let x = (state.configuration[..12].iter()).zip(&massless.configuration);
        let error = x.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        let tilt = state.configuration[12];
        let lagging = massless.velocity[7];
        assert!((tilt - lagging).abs() < 200.0 * inertia, "{tilt} {lagging}");
        // Behind the velocities, the state of the tilt is that of the joint.
        assert!((state.velocity[8] - tilt).abs() < 1e-9);
        error
    });
    println!("{errors:?}");
    assert!(errors[0] > 1e-6, "the inertia is felt: {errors:?}");
    let ratio = errors[0] / errors[1];
    assert!((8.0..12.0).contains(&ratio), "of first order: {errors:?}");
}

/// The frame turns back, so that the angular momentum stays zero.
#[test]
fn a_servo_turns_the_frame_the_other_way() {
    let system = tilting(Some(0.005), ROTOR, "stiffness = 2, damping = 0.15");
    let mut run = Run::new(system, 1e-4, &[0.0, 0.0]);
    let start = run.workspace().centroidal_momentum(&run.system.model);
    run.run(0.05, &[0.0, 0.7]);
    let moving = run.state.velocity[6];
    assert!(moving > 1.0, "{moving}");
    let workspace = run.workspace();
    let change = workspace.centroidal_momentum(&run.system.model) - start;
    let change = change.fixed_rows::<3>(3).norm();
    assert!(change < 1e-12, "{change:e}");
    let frame = run.state.velocity[3];
    assert!(frame < -0.1, "{frame}");
    run.run(3.0, &[0.0, 0.7]);
    let q = run.state.configuration[12];
    assert!((q - 0.7).abs() < 1e-6, "{q}");
}

#[test]
fn a_servo_pushes_with_its_effort_at_most() {
    let system = tilting(
        Some(0.001),
        ROTOR,
        "stiffness = 50, damping = 0.1, effort = 0.2",
    );
    let mut run = Run::new(system, 1e-4, &[0.0, 0.0]);
    run.run(0.01, &[0.0, 1.0]);
    // The torque on the joint by the inertia that it moves: of the nacelle against the frame's, nearly its own.
    let rate = run.state.velocity[6] / 0.01;
    assert!((190.0..215.0).contains(&rate), "{rate} rad/s^2");
}

/// A rotor that turns fast in a nacelle that tilts: the angular momentum it takes from the frame returns through the servo, and the total is
/// conserved.
#[test]
fn a_spinning_rotor_feels_that_it_is_tilted() {
    // A thrust of nothing at 1000 rad/s.
    let rotor = "thrust = [0, 1e-9]
        thrust_coefficient = 1e-15
        drag_ratio = 0.02
        motor = { time_constant = 0.05, inertia = 2e-4 }";
    let system = tilting(Some(0.002), rotor, "stiffness = 3, damping = 0.2");
    let (spin, along) = (-2e-4, Vector3::z());
    let mut run = Run::new(system, 1e-4, &[1e-9, 0.0]);
    let nacelle = run.system.model.body_id("nacelle").expect("it is there");
    let momentum = |run: &Run| {
        let workspace = run.workspace();
        let turned = workspace.pose(BodyId::WORLD, nacelle).rotation;
        let mut momentum: Vector6<f64> = workspace.centroidal_momentum(&run.system.model);
        let own = turned.act(&along) * (spin * run.state.velocity[7]);
        let angular = momentum.fixed_rows::<3>(3) + own;
        momentum.fixed_rows_mut::<3>(3).copy_from(&angular);
        momentum.fixed_rows::<3>(3).into_owned()
    };
    let start = momentum(&run);
    assert!((start.z - spin * 1000.0).abs() < 1e-9, "{start}");
    run.run(0.5, &[2.5e-10, 0.8]);
    let speed = run.state.velocity[7];
    assert!((speed - 500.0).abs() < 1.0, "{speed}");
    let change = (momentum(&run) - start).norm();
    // The drag torque is 2e-11 N m.
    assert!(change < 1e-9, "{change:e}");
    let turned = run.workspace().twist(BodyId::WORLD, BodyId::WORLD).norm()
        + Vector3::from_column_slice(&run.state.velocity[3..6]).norm();
    assert!(turned > 1e-3, "the frame precesses: {turned}");
}

#[test]
fn servos_are_described_and_written() {
    let system = tilting(Some(0.001), ROTOR, "stiffness = 0.5, effort = 0.3");
    let [servo] = system.servos[..] else {
        panic!("one servo");
    };
    assert_eq!((servo.stiffness, servo.effort), (0.5, 0.3));
    assert!((servo.damping - 0.02).abs() < 1e-15);
    let again = read(&system.to_toml());
    assert_eq!(again.servos, system.servos);
    let more = system.clone().with(|builder| builder).expect("a system");
    assert_eq!(more.servos, system.servos);
    let text = system.to_toml();
    for (from, to, expected) in [
        (
            "joint = \"tilt\"",
            "joint = \"tilts\"",
            "there is no joint `tilts`",
        ),
        (
            "position = [0.25, 0.2, 0.05]",
            "position = [0.25, 0.2, 0.06]",
            "beside the axis",
        ),
        (
            "tilt = { axis = [1.0, 0.0, 0.0]",
            "tilt = { axis = [-1.0, 0.0, 0.0]",
            "about another axis",
        ),
        ("stiffness = 0.5", "stiffness = -1", "a number above 0"),
        ("damping = 0.02", "damping = 0", "needs `damping`"),
        (
            "type = \"revolute\"",
            "coordinates = \"cos_sin\", type = \"revolute\"",
            "`coordinates = \"angle\"`",
        ),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let error = System::from_toml(&text.replace(from, to))
            .expect_err(to)
            .to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

/// A frame that carries a load on a ball joint, and that a hook.
const LOADED: &str = "name = 'loaded'
    [bodies.frame]
    mass = 1.5
    center_of_mass = [0.02, 0.01, -0.03]
    inertia = [0.02, 0.03, 0.04]
    [bodies.load]
    parent = 'frame'
    position = [0.1, 0, -0.1]
    mass = 0.5
    center_of_mass = [0.01, 0, -0.4]
    inertia = [0.004, 0.005, 0.006]
    joint = { type = 'spherical', damping = 0.01 }
    contacts = [{ position = [0, 0, -0.5] }]
    [bodies.hook]
    parent = 'load'
    position = [0, 0, -0.5]
    mass = 0.1
    center_of_mass = [0, 0, -0.05]
    inertia = [1e-4, 1e-4, 1e-4]
    joint = { type = 'revolute', axis = [0, 1, 0], spring = { stiffness = 0.1 } }";

#[test]
fn what_comes_loose_keeps_its_motion() {
    let system = read(LOADED);
    let load = system.model.body_id("load").expect("a load");
    let open = system.with_released_joint(load).expect("it is released");
    assert_eq!((system.model.dof(), open.model.dof()), (10, 13));
    assert_eq!(
        open.model.dampers().len(),
        0,
        "the joint's damper went with it"
    );
    assert_eq!(open.contacts.len(), 1);

    let mut run = Run::new(system, 1e-4, &[]);
    run.state
        .velocity
        .copy_from_slice(&[1.0, -0.5, 0.3, 0.4, 0.8, -0.2, 1.5, -1.0, 0.5, 2.0]);
    run.run(0.5, &[]);
    let mut after = SystemState::at_rest(&open.model);
    let mut release = JointRelease::new(&run.system, &open);
    release.apply(&run.state, &mut after);
    let before = run.workspace();
    let (time, state) = (run.state.time, run.state.clone());
    let mut loose = Run::new(open, 1e-4, &[]);
    loose.state = after;
    let workspace = loose.workspace();
    let (old, new) = (&run.system.model, &loose.system.model.clone());
    for name in ["frame", "load", "hook"] {
        let [a, b] = [old, new].map(|model| model.body_id(name).expect(name));
        let (p, q) = (
            before.pose(BodyId::WORLD, a),
            workspace.pose(BodyId::WORLD, b),
        );
        assert!((p.translation - q.translation).norm() < 1e-12, "{name}");
        assert!(
            (p.rotation.inverse() * q.rotation).log().norm() < 1e-12,
            "{name}"
        );
        let change = before.twist(BodyId::WORLD, a) - workspace.twist(BodyId::WORLD, b);
        assert!(change.amax() < 1e-12, "{name}: {change}");
    }
    assert!((before.momentum(old) - workspace.momentum(new)).amax() < 1e-12);
    assert!((before.energy(old) - workspace.energy(new)).abs() < 1e-12);
    assert_eq!(loose.state.time, time);

    // Both fall: the frame's centre of mass and that of the load with its hook are on parabolas.
    let frame = new.body_id("frame").expect("a frame");
    let center = Vector3::new(0.02, 0.01, -0.03);
    let place = |workspace: &Workspace<f64>| workspace.pose(BodyId::WORLD, frame).act(&center);
    let twist = workspace.twist(BodyId::WORLD, frame);
    let rotation = workspace.pose(BodyId::WORLD, frame).rotation;
    let velocity = rotation.act(&fly_mechanics::velocity_of_point(&twist, &center));
    let (start, whole) = (place(&workspace), workspace.center_of_mass_velocity(new));
    let all = workspace.center_of_mass(new);
    loose.run(0.6, &[]);
    let workspace = loose.workspace();
    let fall = Vector3::new(0.0, 0.0, -0.5 * 9.81 * 0.36);
    let expected = start + velocity * 0.6 + fall;
    assert!((place(&workspace) - expected).norm() < 1e-9);
    let expected = all + whole * 0.6 + fall;
    assert!((workspace.center_of_mass(new) - expected).norm() < 1e-9);

    // Back in the coordinates before: those of the open joint stay.
    let mut seen = state.clone();
    release.reduce(&loose.state, &mut seen);
    assert_eq!(seen.configuration[..12], loose.state.configuration[..12]);
    assert_eq!(seen.configuration[12..21], state.configuration[12..21]);
    assert_ne!(seen.configuration[21], state.configuration[21]);
}

#[test]
fn joints_that_cannot_open_are_refused() {
    let motor = format!("{LOADED}\n[[motors]]\njoint = 'hook'\neffort = 1");
    let system = read(&motor);
    let of = |name: &str| system.with_released_joint(system.model.body_id(name).expect(name));
    assert!(matches!(of("frame"), Err(ReleaseError::Free { joint }) if joint == "frame"));
    assert!(matches!(of("hook"), Err(ReleaseError::Driven { joint }) if joint == "hook"));
    assert!(of("load").is_ok());
}
