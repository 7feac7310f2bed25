//! What simulated flights cost on one core: `cargo xtask bench sim`.
//!
//! `flight` is the whole of one: plugin ABI, plant, supervisor, reference, law and limits, 500 control steps per second of 10 s, log off; building it from
//! its configuration is not counted; `full` has, instead of lags of the thrusts, RotorPy's motors and aerodynamics, wind with shear and turbulence, ground effect, an IMU in every frame,
//! motion capture at 50 Hz and the estimator, on whose state it flies. At the end stands by how much that is slower: the median over pairs of flights, one after the other. `physics` is 1000 Runge-Kutta steps (RK4, 1 ms) of the plant alone, actuators with their lags included.

use std::hint::black_box;
use std::time::Instant;

use divan::Bencher;
use divan::counter::ItemsCount;
use fly_flight::config::{Configuration, Options};
use fly_flight::{Discard, End, Flight, backend};
use fly_hal::{Plugin, SearchPath};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::{ActuatedDynamics, System};

fn main() {
    divan::main();
    if std::env::args()
        .skip(1)
        .all(|argument| argument == "--bench")
    {
        ratio();
    }
}

/// A quadcopter tracks a curve, with what else is to be simulated.
const FLIGHTS: [(&str, &[&str]); 2] = [
    ("plain", &["flight.duration=10", "backend.sim.substeps=2"]),
    (
        "full",
        &[
            "flight.duration=10",
            "backend.sim.substeps=2",
            "vehicle.file='vehicles/hummingbird.toml'",
            "backend.sim.wind={ velocity = [4, 2, 0], shear = { exponent = 0.14 }, turbulence = { w20 = 7.7 } }",
            "backend.sim.ground={ height = -6 }",
            "backend.sim.sensors={ ideal = false, imu = {}, motion_capture = { rate = 50, delay = 0.01 } }",
            "estimator={ state = 'estimated', filter = { delay = 0.02, start_velocity = 1.5 }, motion_capture = {} }",
        ],
    ),
];

#[divan::bench(args = FLIGHTS.map(|(name, _)| name), sample_count = 20)]
fn flight(bencher: Bencher, name: &str) {
    let (configuration, plugin) = configured(name);
    bencher
        .with_inputs(|| backend::configure_plugin(&configuration, &plugin, false).expect("a plant"))
        .bench_local_values(|plant| fly(&configuration, plant));
}

fn configured(name: &str) -> (Configuration, Plugin) {
    let mut flights = FLIGHTS.iter();
    let (_, set) = (flights.find(|(known, _)| *known == name)).expect("the name of a flight");
    let configuration = Configuration::load(&Options {
        config: "quadcopter.toml".into(),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Options::default()
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let plugin =
        backend::plugin(&configuration, &SearchPath::standard([])).expect("cargo built it");
    (configuration, plugin)
}

fn fly(configuration: &Configuration, plant: backend::Backend) {
    let mut sink = Discard;
    let flight = Flight::new(configuration, plant, &mut sink).expect("a flight");
    assert_eq!(black_box(flight.run()).end, End::Completed);
}

/// How many times as long as the plain flight the full one takes.
fn ratio() {
    let both = ["plain", "full"].map(configured);
    let time = |(configuration, plugin): &(Configuration, Plugin)| {
        let plant = backend::configure_plugin(configuration, plugin, false).expect("a plant");
        let begin = Instant::now();
        fly(configuration, plant);
        begin.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..41)
        .map(|_| {
            let [plain, full] = both.each_ref().map(time);
            full / plain
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "the full model takes {:.2} times as long as the plain one (median of {} pairs; quartiles {:.2} and {:.2})",
        ratios[20],
        ratios.len(),
        ratios[10],
        ratios[30]
    );
}

/// A vehicle or system that is shipped, by its file.
const SYSTEMS: [&str; 3] = [
    "vehicles/quadcopter.toml",
    "vehicles/hummingbird.toml",
    "systems/tricopter_eight_bodies.toml",
];

#[divan::bench(args = SYSTEMS)]
fn physics(bencher: Bencher, file: &str) {
    const STEPS: usize = 1000;
    let path = format!("{}/../../configs/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a shipped file");
    let system = System::from_toml(&text).expect("a system");
    let step = 1e-3;
    let mut dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
    let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
    let mut start = SystemState::at_rest(&system.model);
    let command: Vec<f64> = system.inputs.at_rest().collect();
    start.velocity.extend(&command);
    dynamics.start_propulsion(&system, 1.0, &mut start);
    let mut motion = start.clone();
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        motion.clone_from(&start);
        for _ in 0..STEPS {
            integrator.step(&system.model, &mut motion, step, |motion, rates| {
                dynamics.rates(&system, &command, motion, rates);
            });
        }
        assert!(
            black_box(&motion)
                .configuration
                .iter()
                .all(|x| x.is_finite())
        );
    });
}
