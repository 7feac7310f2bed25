//! The motion of golden systems, integrated from their first samples.

use fly_lie::SE3;
use fly_mechanics::PseudoInertia;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, unforced};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_testing::golden::{File, array, matrix, number, numbers, only, tolerances, vector};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use super::{SYSTEM, compare, configuration, model, rows};

/// A motion without applied forces, and its energies.
struct Free<'a> {
    model: &'a Model<f64>,
    workspace: Workspace<f64>,
    integrator: Adaptive<f64>,
    motion: SystemState<f64>,
}

impl<'a> Free<'a> {
    fn new(model: &'a Model<f64>, motion: SystemState<f64>) -> Self {
        let tolerance = Tolerance {
            absolute: 1e-13,
            relative: 1e-13,
            ..Tolerance::default()
        };
        Self {
            model,
            workspace: Workspace::new(model),
            integrator: Adaptive::new(model, tolerance),
            motion,
        }
    }

    fn advance(&mut self, until: f64) {
        let (model, motion) = (self.model, &mut self.motion);
        let arrived = self
            .integrator
            .advance(model, motion, until, unforced(model));
        arrived.expect("a smooth motion");
        let (x, xi) = (&self.motion.configuration, &self.motion.velocity);
        self.workspace.update(model, x, xi);
    }
}

/// Everything that a `trajectory` file expects of its samples.
pub fn trajectory(file: &mut File, data: &Value) {
    only(
        data,
        &format!(
            "{SYSTEM} parameters{{*}} invariants energy_drift_of_reference
             samples[t state{{*}} xi T V_G V_K dissipated_power]"
        ),
    );
    let model = model(&data["system"]);
    let [within] = tolerances(data, [1e-9]);
    let samples = array(&data["samples"]);
    let state = |sample: &Value| configuration(&data["system"], &sample["state"]);
    let start = SystemState {
        time: number(&samples[0]["t"]),
        configuration: state(&samples[0]),
        velocity: numbers(&samples[0]["xi"]),
    };
    let mut free = Free::new(&model, start);
    for sample in samples {
        free.advance(number(&sample["t"]));
        let mut is = |what: &str, got: &[f64]| {
            compare(file, &sample[what], what, &rows(got), within);
        };
        is("xi", &free.motion.velocity);
        is("T", &[free.workspace.kinetic_energy(&model)]);
        is("V_G", &[free.workspace.gravity_energy(&model)]);
        is("V_K", &[free.workspace.spring_energy(&model)]);
        let power = free.workspace.dissipated_power(&model);
        is("dissipated_power", &[power]);
        let expected = DVector::from_vec(state(sample));
        let error = (DVector::from_column_slice(&free.motion.configuration) - &expected).amax();
        file.error("state", error / expected.amax().max(1.0), within);
    }
}

/// Tops and gyroscopes as systems: a body on a spherical joint.
pub fn gyroscopes(file: &mut File, data: &Value) {
    only(
        data,
        "cases[Theta m s gravity invariants samples[t R omega omegadot energy angular_momentum_world]]",
    );
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        // Without gravity the mass does not matter, and is left out.
        let mass = Some(number(&case["m"])).filter(|m| *m != 0.0);
        let (center, moment) = (vector(&case["s"]), matrix(&case["Theta"]));
        let inertia = PseudoInertia::from_origin(mass.unwrap_or(1.0), center, moment);
        let body = Body::new("gyroscope", Joint::spherical())
            .inertia(inertia.expect("an inertia"))
            .placed(SE3::identity());
        let builder = Model::builder().gravity(vector(&case["gravity"]));
        let model = builder.body(body).build().expect("a gyroscope");
        let samples = array(&case["samples"]);
        let start = SystemState {
            time: number(&samples[0]["t"]),
            configuration: matrix::<3, 3>(&samples[0]["R"]).as_slice().to_vec(),
            velocity: numbers(&samples[0]["omega"]),
        };
        let mut free = Free::new(&model, start);
        for sample in samples {
            free.advance(number(&sample["t"]));
            let mut is = |what: &str, got: DMatrix<f64>| {
                let name = format!("system: {what}");
                compare(file, &sample[what], &name, &got, within);
            };
            let R = DMatrix::from_column_slice(3, 3, &free.motion.configuration);
            is("R", R);
            is("omega", rows(&free.motion.velocity));
            is("energy", rows(&[free.workspace.energy(&model)]));
            let momentum = free.workspace.momentum(&model);
            is("angular_momentum_world", rows(&momentum.as_slice()[3..]));
        }
    }
}
