//! Bodies made of particles, and one body with springs and dampers.

use fly_lie::operators::{join, vee2_4};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::rk4;
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State, wrench_of_force};
use fly_testing::golden::{File, array, matrix, number, vector};
use nalgebra::{Matrix4, Matrix6, Vector3, Vector6};
use serde_json::Value;

/// A body made of particles: every quantity was summed over the particles.
pub fn particles(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        let expected = &case["expected"];
        let points = |weights: &dyn Fn(usize, &Value) -> f64| {
            let particles = array(&case["particles"]).iter().enumerate();
            SecondMoment::from_points(particles.map(|(i, p)| (weights(i, p), vector(&p["h"]))))
        };
        let moment = points(&|_, particle| number(&particle["m"]));
        let damping = points(&|i, _| number(&case["particle_damping"][i]));
        let inertia = PseudoInertia::from_origin(
            moment.weight(),
            moment.center(),
            moment.moment_about_origin(),
        );
        let inertia = inertia.expect("a body of particles");
        let body = FreeBody::new(inertia, vector(&case["a_G"]));
        let G: Matrix4<f64> = matrix(&case["G"]);
        let state = State {
            pose: SE3::try_from_matrix(&G, 1e-12).expect("a pose"),
            twist: vector(&case["xi"]),
        };
        let acceleration: Vector6<f64> = vector(&case["xidot"]);
        let inertial = body.mass_matrix() * acceleration;

        let mut is = file.case(expected, 1e-12);
        is.is_number("m", inertia.mass());
        is.is("s", &inertia.center_of_mass());
        is.is("Theta", &inertia.inertia_about_origin());
        is.is("M_prime", inertia.second_moment().matrix4());
        is.is("M", body.mass_matrix());
        is.is("c", &body.coriolis_force(&state.twist));
        is.is("f_M", &(inertial + body.coriolis_force(&state.twist)));
        is.is("f_G", &-body.potential_force(&state.pose));
        is.is_number("V_G", body.potential_energy(&state.pose));
        is.is_number("T", body.kinetic_energy(&state.twist));
        is.is("D", &damping.matrix6());
        is.is("f_D", &(damping.matrix6() * state.twist));

        let forces = array(&case["particle_forces_world"]).iter();
        let wrench = forces
            .zip(array(&case["particles"]))
            .map(|(force, particle)| {
                let in_body = state.pose.rotation.inverse().act(&vector(force));
                wrench_of_force(&in_body, &vector(&particle["h"]))
            });
        is.is("f_E", &wrench.sum::<Vector6<f64>>());
        // The wrench that brings this acceleration about brings it about.
        let wrench = inertial + body.bias(&state);
        let error = (body.acceleration(&state, &wrench) - acceleration).amax();
        file.error("xidot", error, 1e-12);

        let G_ab = SE3::try_from_matrix(&matrix(&case["G_ab"]), 1e-12).expect("a pose");
        let other = inertia.second_moment().in_frame(&G_ab);
        let mut is = file.case(&expected["frame_b"], 1e-12);
        is.is_number("m", other.weight());
        is.is("s", &other.center());
        is.is("Theta", &other.moment_about_origin());
        is.is("M_prime", other.matrix4());
    }
}

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

/// Forces, energies and the unforced acceleration of one body with springs and dampers.
pub fn forces(file: &mut File, data: &Value) {
    let system = System::read(&data["system"]);
    let body = &system.body;
    for case in array(&data["cases"]) {
        let state = state(case);
        let c = body.coriolis_force(&state.twist);
        let mut is = file.case(&case["expected"], 1e-12);
        is.is("M", body.mass_matrix());
        is.is("c", &c);
        is.is(
            "f_M",
            &(body.mass_matrix() * vector::<6>(&case["xidot"]) + c),
        );
        is.is("f_G", &-body.potential_force(&state.pose));
        is.is("f_K", &system.spring_force(&state.pose));
        is.is("D", &system.damping());
        is.is_number("T", body.kinetic_energy(&state.twist));
        is.is_number("V_G", body.potential_energy(&state.pose));
        is.is_number("V_K", system.spring_energy(&state.pose));
        let power = state.twist.dot(&(system.damping() * state.twist));
        is.is_number("R", 0.5 * power);
        // M^-1 of a small body magnifies the rounding of the forces.
        is.within(1e-11)
            .is("xidot_free", &system.acceleration(&state));
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

/// Torque-free gyroscopes: their attitude does not depend on the mass, which the files leave out.
pub fn gyroscopes(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        if number(&case["m"]) != 0.0 {
            // A body about a fixed point is not free.
            continue;
        }
        let inertia = PseudoInertia::from_center(1.0, Vector3::zeros(), matrix(&case["Theta"]));
        let body = FreeBody::new(inertia.expect("an inertia"), Vector3::zeros());
        let samples = array(&case["samples"]);
        let read = |sample: &Value| State {
            pose: SE3::new(SO3::from_matrix(matrix(&sample["R"])), Vector3::zeros()),
            twist: join(&Vector3::zeros(), &vector(&sample["omega"])),
        };
        let (mut t, mut now) = (0.0, read(&samples[0]));
        for sample in samples {
            let until = number(&sample["t"]);
            // Steps of 1 ms but for the last of each interval.
            while until - t > 1e-12 {
                let step = f64::min(0.001, until - t);
                now = rk4(&now, step, |state| {
                    body.acceleration(state, &Vector6::zeros())
                });
                t += step;
            }
            let expected = read(sample);
            let R = now.pose.rotation.matrix() - expected.pose.rotation.matrix();
            file.error("R", R.amax(), 1e-8);
            file.error("omega", (now.twist - expected.twist).amax(), 1e-8);
            let momentum = body.momentum_in_world(&now).fixed_rows::<3>(3).into_owned();
            let mut is = file.case(sample, 1e-9);
            is.is("angular_momentum_world", &momentum);
            is.is_number("energy", body.kinetic_energy(&now.twist));
        }
    }
}
