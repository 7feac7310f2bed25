//! A vehicle, its controllers and its reference from the `config` of a file.

use std::f64::consts::{FRAC_PI_3, PI};
use std::fmt::Write;

use fly_control::allocation::Limits;
use fly_control::settings::{
    AllocationMethod, HoverSettings, IndependentSettings, LissajousSettings, LoopSettings, Moment,
    PairSettings, PoleSettings, SecondMomentSettings, TransportSettings, VehiclePoleSettings,
    YawSettings,
};
use fly_control::template::{Approach, Transport};
use fly_control::trajectory::{Independent, Sinusoid};
use fly_control::{Controller, ControllerSettings, Reference, ReferenceSettings, Trajectory};
use fly_mechanics::{FreeBody, PseudoInertia, Vehicle};
use fly_testing::golden::{number, numbers};
use nalgebra::{DVector, Matrix6, Matrix6xX, Vector3};
use serde_json::Value;

use crate::data::{matrix3, vector3};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// What a file is about.
pub struct Example {
    pub body: FreeBody<f64>,
    pub inputs: Matrix6xX<f64>,
    pub limits: Option<Limits>,
    vehicle: Option<Vehicle>,
    config: Value,
    /// Whether inputs are limited.
    pub constrained: bool,
}

impl Example {
    pub fn new(file: &Value) -> Self {
        let config = file["config"].clone();
        let text = match file["example"].as_str() {
            Some("quad") => quadcopter(&config),
            Some("bicopter") => bicopter(&config),
            Some("tricopter") => tricopter(&config),
            _ => return Self::free_body(config),
        };
        let vehicle = Vehicle::from_toml(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let polytope = vehicle.rotors.limits();
        let interior = DVector::from_column_slice(vehicle.rotors.interior());
        Self {
            body: vehicle.body,
            inputs: vehicle.rotors.input_matrix().clone(),
            limits: Some(
                Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior).unwrap(),
            ),
            constrained: config["constrained"].as_bool().unwrap_or(true),
            vehicle: Some(vehicle),
            config,
        }
    }

    /// A body on which six independent inputs act as its wrench.
    fn free_body(config: Value) -> Self {
        let inertia = PseudoInertia::from_center(
            number(&config["m"]),
            vector3(&config["s"]),
            matrix3(&config["Thc"]),
        );
        Self {
            body: FreeBody::new(inertia.unwrap(), Vector3::from(GRAVITY)),
            inputs: Matrix6xX::from_column_slice(Matrix6::<f64>::identity().as_slice()),
            limits: None,
            vehicle: None,
            constrained: false,
            config,
        }
    }

    /// The controller of an approach as the file names it.
    pub fn controller(&self, approach: &str, allocation: AllocationMethod) -> Controller {
        let settings = self.settings(approach, allocation);
        let controller = match &self.vehicle {
            Some(vehicle) => settings.build(vehicle),
            None => settings.build_for_body(&self.body, "body", &self.inputs, None),
        };
        controller.unwrap_or_else(|error| panic!("{error}"))
    }

    fn settings(&self, approach: &str, allocation: AllocationMethod) -> ControllerSettings {
        let config = &self.config;
        let (approach, transport) = match approach {
            "particle" => (Approach::Particle, Transport::Adjoint),
            "body" => (Approach::Body, Transport::Adjoint),
            "energy" => (Approach::Energy, Transport::Adjoint),
            "energy_alt" => (Approach::Energy, Transport::Centred),
            other => panic!("unknown approach {other}"),
        };
        let pairs = config.get("ctrl").map(pair).into_iter().collect();
        let poles = config.get("p").map(|p| VehiclePoleSettings {
            horizontal: None,
            polynomial: Some(numbers(p).try_into().unwrap()),
            mass: Some(number(&config["mbar"])),
            yaw: YawSettings {
                inertia: number(&config["Thz"]),
                damping: number(&config["Upz"]),
                stiffness: number(&config["Piz"]),
            },
        });
        ControllerSettings {
            approach: approach.into(),
            transport: Some(TransportSettings::Pair(transport, None)),
            pairs,
            poles: poles.map(PoleSettings::Vehicle),
            gains: std::collections::BTreeMap::new(),
            tilt_priority: config["rho"].as_f64(),
            input_rate_limit: None,
            allocation: if self.constrained {
                allocation
            } else {
                AllocationMethod::None
            },
            ..ControllerSettings::default()
        }
    }

    /// The reference.
    pub fn reference(&self) -> Box<dyn Trajectory> {
        let Some(vehicle) = &self.vehicle else {
            return Box::new(self.independent());
        };
        let settings = self.reference_settings();
        match settings.build(vehicle) {
            Ok(Reference::Planned(trajectory)) => trajectory,
            Ok(Reference::Recorded(_)) => unreachable!("no file has recorded setpoints"),
            Err(error) => panic!("{error}"),
        }
    }

    fn reference_settings(&self) -> ReferenceSettings {
        let config = &self.config;
        let three = |value: &Value| <[f64; 3]>::from(vector3(value));
        let Some(reference) = config.get("ref").and_then(Value::as_array) else {
            let Independent { position, attitude } = self.independent();
            return ReferenceSettings::Independent(IndependentSettings {
                amplitude: position.map(|x| x.amplitude),
                angular_frequency: position.map(|x| x.angular_frequency),
                phase: position.map(|x| x.phase),
                offset: position.map(|x| x.offset),
                attitude_amplitude_deg: attitude.map(|angle| angle.amplitude.to_degrees()),
                attitude_angular_frequency: attitude.map(|angle| angle.angular_frequency),
                attitude_phase: attitude.map(|angle| angle.phase),
                yaw_rate: attitude[2].rate,
            });
        };
        match reference[0].as_str() {
            Some("hover") => ReferenceSettings::Hover(HoverSettings {
                position: three(&reference[1]),
                yaw_deg: Some(number(&reference[2]).to_degrees()),
                attitude_deg: None,
            }),
            Some("lissajous") => ReferenceSettings::Lissajous(LissajousSettings {
                amplitude: three(&reference[1]["A"]),
                angular_frequency: three(&reference[1]["w"]),
                phase: three(&reference[1]["ph"]),
                offset: [0.0; 3],
                yaw_rate: number(&reference[1]["psi1"]),
                posture: None,
                point_height: None,
            }),
            Some("loop") => ReferenceSettings::Loop(LoopSettings {
                radius: number(&reference[1]),
                duration: number(&reference[2]),
                start: number(&reference[3]),
                position: [0.0; 3],
                heading_deg: 0.0,
                posture: None,
                point_height: None,
            }),
            other => panic!("unknown reference {other:?}"),
        }
    }

    fn independent(&self) -> Independent {
        let config = &self.config;
        let optional = |key: &str| config.get(key).map(vector3).unwrap_or_default();
        let sinusoids = |keys: [&str; 4]| {
            let [amplitude, frequency, phase, offset] = keys.map(optional);
            std::array::from_fn(|i| Sinusoid {
                amplitude: amplitude[i],
                angular_frequency: frequency[i],
                phase: phase[i],
                ..Sinusoid::constant(offset[i])
            })
        };
        let mut attitude: [Sinusoid; 3] = sinusoids(["Aa", "wa", "pha", ""]);
        attitude[2].rate = config["psi1"].as_f64().unwrap_or(0.0);
        Independent {
            position: sinusoids(["A", "w", "ph", "off"]),
            attitude,
        }
    }
}

fn pair(ctrl: &Value) -> PairSettings {
    let part = |weight: &str, center: &str, moment: &str| {
        SecondMomentSettings::new(
            number(&ctrl[weight]),
            vector3(&ctrl[center]).into(),
            Moment::Matrix(matrix3(&ctrl[moment])),
        )
        .into()
    };
    PairSettings {
        from: "world".into(),
        to: "body".into(),
        stiffness: part("k", "h", "Pi"),
        damping: part("d", "l", "Up"),
        inertia: part("m", "s", "Th"),
    }
}

fn head(config: &Value) -> String {
    let inertia = vector3(&config["Th"]);
    format!(
        "name = \"golden\"\ngravity = {GRAVITY:?}\n[bodies.body]\nmass = {:?}\ninertia = {:?}\n",
        number(&config["m"]),
        inertia.as_slice()
    )
}

struct Mount {
    position: Vector3<f64>,
    axis: Vector3<f64>,
    drag: f64,
    tilt_axis: Option<Vector3<f64>>,
}

fn rotor(text: &mut String, config: &Value, mount: &Mount) {
    let thrust = [number(&config["Fmin"]), number(&config["Fmax"])];
    writeln!(
        text,
        "[[rotors]]\nbody = \"body\"\nposition = {:?}\naxis = {:?}\ndrag_ratio = {:?}\nthrust = {thrust:?}",
        mount.position.as_slice(),
        mount.axis.as_slice(),
        mount.drag
    )
    .unwrap();
    if let Some(axis) = mount.tilt_axis {
        let limit = number(&config["thmax"]).to_degrees();
        let segments = &config["nseg"];
        let axis = axis.as_slice();
        writeln!(
            text,
            "tilt = {{ axis = {axis:?}, limit_deg = {limit:?}, segments = {segments} }}"
        )
        .unwrap();
    }
}

/// Konz (5.165): propellers at +x, +y, -x, -y with drag torques -b, +b, -b, +b.
fn quadcopter(config: &Value) -> String {
    let (mut text, l, b) = (head(config), number(&config["l"]), number(&config["bF"]));
    for (x, y, drag) in [(l, 0.0, -b), (0.0, l, b), (-l, 0.0, -b), (0.0, -l, b)] {
        let position = Vector3::new(x, y, 0.0);
        rotor(
            &mut text,
            config,
            &Mount {
                position,
                axis: Vector3::z(),
                drag,
                tilt_axis: None,
            },
        );
    }
    text
}

/// Konz (5.171): two rotors at the sides, leaning outwards by beta, tilting forward.
fn bicopter(config: &Value) -> String {
    let mut text = head(config);
    let (ly, lz) = (number(&config["ly"]), number(&config["lz"]));
    let (s, c) = number(&config["beta"]).sin_cos();
    for side in [1.0, -1.0] {
        let axis = Vector3::new(0.0, side * s, c);
        let mount = Mount {
            position: Vector3::new(0.0, side * ly, lz),
            axis,
            drag: 0.0,
            tilt_axis: Some(axis.cross(&Vector3::x())),
        };
        rotor(&mut text, config, &mount);
    }
    text
}

/// Three rotors that tilt about their arms.
fn tricopter(config: &Value) -> String {
    let (mut text, l, b) = (head(config), number(&config["l"]), number(&config["bF"]));
    for (phi, zeta) in [FRAC_PI_3, PI, -FRAC_PI_3]
        .into_iter()
        .zip(numbers(&config["zeta"]))
    {
        let arm = Vector3::new(phi.cos(), phi.sin(), 0.0);
        let mount = Mount {
            position: arm * l,
            axis: Vector3::z(),
            drag: zeta * b,
            tilt_axis: Some(arm),
        };
        rotor(&mut text, config, &mount);
    }
    text
}
