//! One body with springs and dampers.

use fly_lie::SE3;
use fly_lie::operators::vee2_4;
use fly_mechanics::integrate::rk4;
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State};
use fly_testing::golden::{File, array, matrix, number, vector};
use nalgebra::{Matrix4, Matrix6, Vector6};
use serde_json::Value;

/// Whether a system file is about one free body and nothing else.
pub fn is_one_free_body(data: &Value) -> bool {
    let system = &data["system"];
    let joints = array(&system["joints"]);
    array(&system["bodies"]).len() == 1 && joints.len() == 1 && joints[0]["type"] == "free"
}

/// The one body of a system with its springs and dampers to the world.
struct System {
    body: FreeBody<f64>,
    /// K' and the relaxed pose.
    springs: Vec<(Matrix4<f64>, SE3<f64>)>,
    dampers: Vec<Matrix6<f64>>,
}

impl System {
    fn read(system: &Value) -> Self {
        let body = &system["bodies"][0];
        let inertia = PseudoInertia::from_origin(
            number(&body["m"]),
            vector(&body["s"]),
            matrix(&body["Theta"]),
        );
        let springs = array(&system["springs"]).iter().map(|spring| {
            let relaxed = SE3::try_from_matrix(&matrix(&spring["G_R"]), 1e-12);
            (*points(spring, "k").matrix4(), relaxed.expect("a pose"))
        });
        let dampers = array(&system["dampers"]).iter();
        Self {
            body: FreeBody::new(inertia.expect("an inertia"), vector(&system["gravity"])),
            springs: springs.collect(),
            dampers: dampers
                .map(|damper| points(damper, "d").matrix6())
                .collect(),
        }
    }

    /// `f_K = sum vee2((I - G^-1 G_R) K')`, Konz (4.103h) corrected.
    fn spring_force(&self, pose: &SE3<f64>) -> Vector6<f64> {
        let force = |(K, relaxed): &(Matrix4<f64>, SE3<f64>)| {
            vee2_4(&((Matrix4::identity() - (pose.inverse() * *relaxed).matrix()) * K))
        };
        self.springs.iter().map(force).sum()
    }

    fn spring_energy(&self, pose: &SE3<f64>) -> f64 {
        let energy = |(K, relaxed): &(Matrix4<f64>, SE3<f64>)| {
            let difference = pose.matrix() - relaxed.matrix();
            0.5 * (difference * K * difference.transpose()).trace()
        };
        self.springs.iter().map(energy).sum()
    }

    fn damping(&self) -> Matrix6<f64> {
        self.dampers.iter().sum()
    }

    fn acceleration(&self, state: &State<f64>) -> Vector6<f64> {
        let wrench = -self.spring_force(&state.pose) - self.damping() * state.twist;
        self.body.acceleration(state, &wrench)
    }
}

fn points(element: &Value, weight: &str) -> SecondMoment<f64> {
    let points = array(&element["points"]).iter();
    SecondMoment::from_points(points.map(|p| (number(&p[weight]), vector(&p["h"]))))
}

fn state(sample: &Value) -> State<f64> {
    let pose = SE3::try_from_matrix(&matrix(&sample["state"][0]["G"]), 1e-12);
    State {
        pose: pose.expect("a pose"),
        twist: vector(&sample["xi"]),
    }
}

/// The motion of the same, integrated with steps of 1 ms: the scheme's error is 1e-10.
pub fn motion(file: &mut File, data: &Value) {
    let system = System::read(&data["system"]);
    let samples = array(&data["samples"]);
    let (mut t, mut now) = (number(&samples[0]["t"]), state(&samples[0]));
    for sample in samples {
        let until = number(&sample["t"]);
        while until - t > 1e-12 {
            let step = f64::min(0.001, until - t);
            now = rk4(&now, step, |state| system.acceleration(state));
            t += step;
        }
        let expected = state(sample);
        let pose = now.pose.matrix() - expected.pose.matrix();
        file.error("G", pose.amax(), 1e-8);
        file.error("xi", (now.twist - expected.twist).amax(), 1e-7);
        let mut is = file.case(sample, 1e-7);
        is.is_number("T", system.body.kinetic_energy(&now.twist));
        is.is_number("V_G", system.body.potential_energy(&now.pose));
        is.is_number("V_K", system.spring_energy(&now.pose));
        let power = now.twist.dot(&(system.damping() * now.twist));
        is.is_number("dissipated_power", power);
    }
}
