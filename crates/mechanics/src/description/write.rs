//! A system as a description in TOML.

use std::fmt::{self, Write};

use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, Vector3};

use super::{constraints, propulsion};
use crate::contact::Compliance;
use crate::multibody::constraints::{
    Coupling, LoopClosure, LoopKind, Rolling, RollingKind, RollingSurface,
};
use crate::multibody::{
    AngleCoordinates, AttitudeCoordinates, BodyId, Damper, Joint, JointKind, JointSpring, Spring,
};
use crate::outline::joint_type;
use crate::propulsion::{Battery, MotorDynamics, OpenCircuit};
use crate::system::{JointData, JointLimits, System, TiltServo};
use crate::visual::{Visual, VisualShape};
use crate::{
    ContactShape, Motor, PseudoInertia, Rope, Rotor, RotorAerodynamics, RotorMotor, SecondMoment,
    Tilt,
};

/// The system's description. It says in numbers what shapes, parts, points and the damping of joints may have said before.
pub(crate) fn toml(system: &System) -> String {
    let mut out = Text(String::new());
    out.key("name", &quoted(&system.name));
    out.key("gravity", &vector(system.model.gravity()));
    for body in system.model.described() {
        if let Some(joint) = system.joint(body) {
            out.body(system, body, joint);
        }
    }
    for spring in system.model.springs() {
        out.spring(&spring);
    }
    for damper in system.model.dampers() {
        out.damper(&damper);
    }
    let rotors = system.inputs.rotors().as_slice();
    for (index, (rotor, carrier)) in rotors.iter().zip(system.inputs.carriers()).enumerate() {
        out.rotor(system, rotor, system.model.name(*carrier), index);
    }
    for motor in system.inputs.motors() {
        out.motor(system, motor);
    }
    if let Some(battery) = &system.battery {
        out.battery(battery);
    }
    for closure in &system.loops {
        out.closure(closure);
    }
    for coupling in &system.couplings {
        out.coupling(system, coupling);
    }
    for rolling in &system.rolling {
        out.rolling(rolling);
    }
    for rope in &system.ropes {
        out.rope(system, rope);
    }
    out.0
}

struct Text(String);

impl Text {
    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Nothing fails that writes to a string.
        let _ = writeln!(self.0, "{line}");
    }

    fn key(&mut self, key: &str, value: &str) {
        self.line(format_args!("{key} = {value}"));
    }

    fn number(&mut self, key: &str, value: f64, default: f64) {
        if value != default {
            self.key(key, &number(value));
        }
    }

    fn header(&mut self, header: &str) {
        self.line(format_args!("\n{header}"));
    }

    fn ends(&mut self, from: &str, to: &str) {
        if from != "world" {
            self.key("from", &quoted(from));
        }
        self.key("to", &quoted(to));
    }

    fn body(&mut self, system: &System, body: BodyId, data: &JointData) {
        let model = &system.model;
        self.header(&format!("[bodies.{}]", key(model.name(body))));
        if let Some(parent) = model.parent(body).filter(|p| *p != BodyId::WORLD) {
            self.key("parent", &quoted(model.name(parent)));
        }
        let joint = model.joint(body);
        if let Some(placement) = model.placement(body) {
            let absolute = joint.is_some_and(Joint::is_absolute);
            for (key, value) in place(placement) {
                // Attitudes relative to the world have its axes.
                if key != "orientation" || !absolute {
                    self.key(key, &value);
                }
            }
        }
        if let Some(joint) = joint {
            self.key(
                "joint",
                &self::joint(joint, data, model.joint_spring(body), model.name(body)),
            );
        }
        if let Some(inertia) = model.inertia(body) {
            self.inertia(inertia);
        }
        let mut drags = Vec::new();
        if let Some(drag) = model.drag(body) {
            drags.push(("linear", vector(drag.linear())));
            drags.push(("angular", vector(drag.angular())));
        }
        let mut quadratic = system.quadratic_drag.iter();
        if let Some((_, drag)) = quadratic.find(|(other, _)| *other == body) {
            drags.push(("quadratic", vector(drag.coefficients())));
        }
        if !drags.is_empty() {
            self.key("drag", &inline(&drags));
        }
        let own = (system.contacts.iter()).filter(|shape| shape.body == body);
        let shapes: Vec<String> = own.map(contact_shape).collect();
        if !shapes.is_empty() {
            self.key("contacts", &format!("[{}]", shapes.join(", ")));
        }
        let own = system.visuals.iter().filter(|visual| visual.body == body);
        let visuals: Vec<String> = own.map(self::visual).collect();
        if !visuals.is_empty() {
            self.key("visuals", &format!("[{}]", visuals.join(", ")));
        }
    }

    fn inertia(&mut self, inertia: &PseudoInertia<f64>) {
        let mass = number(inertia.mass());
        let center = inertia.center_of_mass();
        let moments = inertia.inertia_about_center();
        // What rounding leaves of a point mass.
        let point = 16.0 * f64::EPSILON * inertia.mass() * center.norm_squared();
        if moments.amax() <= point {
            let keys = [("mass", mass), ("position", vector(&center))];
            self.key("parts", &format!("[{}]", inline(&keys)));
            return;
        }
        self.key("mass", &mass);
        if center != Vector3::zeros() {
            self.key("center_of_mass", &vector(&center));
        }
        self.key("inertia", &matrix(&moments));
    }

    fn spring(&mut self, spring: &Spring<f64>) {
        self.header("[[springs]]");
        self.ends(&spring.a, &spring.b);
        self.key("stiffness", &moment(&spring.stiffness));
        let rest = place(&spring.rest);
        if !rest.is_empty() {
            self.key("rest", &inline(&rest));
        }
    }

    fn damper(&mut self, damper: &Damper<f64>) {
        self.header("[[dampers]]");
        self.ends(&damper.a, &damper.b);
        self.key("damping", &moment(&damper.damping));
    }

    fn rotor(&mut self, system: &System, rotor: &Rotor, body: &str, index: usize) {
        self.header("[[rotors]]");
        self.key("name", &quoted(&rotor.name));
        self.key("body", &quoted(body));
        self.key("position", &vector(&rotor.position));
        self.key("axis", &vector(&rotor.axis));
        self.number("drag_ratio", rotor.drag_ratio, 0.0);
        self.key("thrust", &array(&rotor.thrust));
        if rotor.propeller.motor.is_none() {
            self.number("time_constant", rotor.time_constant, 0.0);
        }
        if let Some(tilt) = &rotor.tilt {
            let mut servos = system.servos.iter();
            let servo = servos.find(|servo| servo.rotor == index);
            let servo = servo.map(|it| self::servo(it, &joint_of(system, it.joint)));
            self.key("tilt", &self::tilt(tilt, servo));
        }
        let propeller = &rotor.propeller;
        for (key, value) in [
            ("thrust_coefficient", propeller.thrust_coefficient),
            ("radius", propeller.radius),
        ] {
            if let Some(value) = value {
                self.key(key, &number(value));
            }
        }
        if let Some(aerodynamics) = &propeller.aerodynamics {
            self.key("aerodynamics", &self::aerodynamics(aerodynamics));
        }
        if let Some(motor) = &propeller.motor {
            self.key("motor", &rotor_motor(motor));
        }
    }

    fn motor(&mut self, system: &System, motor: &Motor) {
        self.header("[[motors]]");
        self.key("name", &quoted(&motor.name));
        self.key("joint", &joint_of(system, motor.joint));
        self.key("component", &motor.component.to_string());
        self.key("effort", &array(&motor.effort));
        self.number("time_constant", motor.time_constant, 0.0);
    }

    fn battery(&mut self, battery: &Battery) {
        self.header("[battery]");
        self.key("cells", &battery.cells.to_string());
        self.key("capacity_ah", &number(battery.capacity));
        self.number("resistance", battery.resistance, 0.0);
        if let OpenCircuit::Table(rows) = &battery.open_circuit {
            let rows: Vec<String> = rows.iter().map(|row| array(row)).collect();
            self.key("open_circuit", &format!("[{}]", rows.join(", ")));
        }
    }

    fn closure(&mut self, closure: &LoopClosure<f64>) {
        self.header("[[loops]]");
        self.key("name", &quoted(&closure.name));
        self.key("type", &quoted(constraints::name_of(&closure.kind)));
        if let LoopKind::Distance { length } = closure.kind {
            self.key("length", &number(length));
        }
        self.ends(&closure.a, &closure.b);
        self.frame("from_frame", &closure.frame_in_a);
        self.frame("to_frame", &closure.frame_in_b);
    }

    fn coupling(&mut self, system: &System, coupling: &Coupling<f64>) {
        self.header("[[couplings]]");
        self.key("name", &quoted(&coupling.name));
        let terms = coupling.terms.iter().map(|(body, component, factor)| {
            let joint = system.model.body_id(body);
            let joint = joint.map_or_else(|_| quoted(body), |body| joint_of(system, body));
            let factor = number(*factor);
            format!("{{ joint = {joint}, component = {component}, factor = {factor} }}")
        });
        let terms: Vec<String> = terms.collect();
        self.key("terms", &format!("[{}]", terms.join(", ")));
        self.number("offset", coupling.offset, 0.0);
    }

    fn rolling(&mut self, rolling: &Rolling<f64>) {
        self.header("[[rolling]]");
        self.key("name", &quoted(&rolling.name));
        let surface = match rolling.kind {
            RollingKind::Rolls(surface) | RollingKind::Slides(surface) => Some(surface),
            RollingKind::Blade => None,
        };
        match surface {
            Some(RollingSurface::Disc(disc)) => {
                self.key("type", "\"disc\"");
                self.key("radius", &number(disc.radius()));
                self.number("rim", disc.rim(), 0.0);
            }
            Some(RollingSurface::Ellipsoid(ellipsoid)) => {
                self.key("type", "\"ellipsoid\"");
                self.key("semi_axes", &array(&ellipsoid.semi_axes()));
            }
            None => self.key("type", "\"blade\""),
        }
        if let RollingKind::Slides(_) = rolling.kind {
            self.key("slides", "true");
        }
        self.ends(&rolling.a, &rolling.b);
        if surface.is_some() {
            self.frame("from_frame", &rolling.frame_in_a);
        }
        self.frame("to_frame", &rolling.frame_in_b);
    }

    /// A frame in a body, unless it is the body's.
    fn frame(&mut self, key: &str, frame: &SE3<f64>) {
        let frame = place(frame);
        if !frame.is_empty() {
            self.key(key, &inline(&frame));
        }
    }

    fn rope(&mut self, system: &System, rope: &Rope) {
        self.header("[[ropes]]");
        self.key("name", &quoted(&rope.name));
        self.ends(system.model.name(rope.a), system.model.name(rope.b));
        for (key, point) in [
            ("from_point", rope.point_in_a),
            ("to_point", rope.point_in_b),
        ] {
            if point != Vector3::zeros() {
                self.key(key, &vector(&point));
            }
        }
        self.key("length", &number(rope.length));
        self.key("stiffness", &number(rope.compliance.stiffness()));
        self.number("damping", rope.compliance.damping(), 0.0);
    }
}

impl Visual {
    /// As one of the `visuals` of a body in a description.
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use fly_mechanics::multibody::BodyId;
    /// use fly_mechanics::visual::{Visual, VisualShape};
    ///
    /// let ball = Visual {
    ///     body: BodyId::WORLD,
    ///     pose: SE3::identity(),
    ///     shape: VisualShape::Sphere { radius: 0.5 },
    ///     color: Some([1.0, 0.0, 0.0, 1.0]),
    /// };
    /// assert_eq!(ball.to_toml(), "{ sphere = { radius = 0.5 }, color = [1.0, 0.0, 0.0, 1.0] }");
    /// ```
    pub fn to_toml(&self) -> String {
        visual(self)
    }
}

fn visual(visual: &Visual) -> String {
    let shape = match &visual.shape {
        VisualShape::Box(lengths) => ("box", array(lengths)),
        VisualShape::Cylinder { radius, height } => {
            let keys = [("radius", number(*radius)), ("height", number(*height))];
            ("cylinder", inline(&keys))
        }
        VisualShape::Sphere { radius } => ("sphere", inline(&[("radius", number(*radius))])),
        // Its lines as lines: no letter of them needs to be escaped.
        VisualShape::Mesh(surface) => ("mesh", format!("'''\n{}'''", surface.to_obj_text())),
    };
    let mut keys = vec![shape];
    keys.extend(place(&visual.pose));
    keys.extend(visual.color.map(|color| ("color", array(&color))));
    inline(&keys)
}

fn joint_of(system: &System, body: BodyId) -> String {
    let named = system.joint(body).map(|joint| joint.name.as_str());
    quoted(named.unwrap_or_default())
}

/// A word, or a table.
fn joint(
    joint: &Joint<f64>,
    data: &JointData,
    spring: Option<&JointSpring<f64>>,
    body: &str,
) -> String {
    let axis = joint.axes().act(&Vector3::z());
    let mut keys = Vec::new();
    if data.name != body {
        keys.push(("name", quoted(&data.name)));
    }
    keys.push(("type", quoted(joint_type(joint.kind()))));
    if !matches!(
        joint.kind(),
        JointKind::Fixed
            | JointKind::Spherical(_)
            | JointKind::AbsoluteSpherical(_)
            | JointKind::Free(_)
    ) {
        keys.push(("axis", vector(&axis)));
    }
    match joint.kind() {
        JointKind::Screw { pitch } => keys.push(("pitch", number(*pitch))),
        JointKind::Universal { second } => {
            keys.push(("second_axis", vector(&joint.axes().act(second))));
        }
        JointKind::AbsoluteSpherical(_) => keys.push(("velocity", quoted("absolute"))),
        _ => {}
    }
    match joint.kind() {
        JointKind::Revolute(AngleCoordinates::CosSin)
        | JointKind::Cylindrical(AngleCoordinates::CosSin)
        | JointKind::Planar(AngleCoordinates::CosSin)
        | JointKind::Schoenflies(AngleCoordinates::CosSin) => {
            keys.push(("coordinates", quoted("cos_sin")));
        }
        JointKind::Spherical(AttitudeCoordinates::Quaternion)
        | JointKind::AbsoluteSpherical(AttitudeCoordinates::Quaternion)
        | JointKind::Free(AttitudeCoordinates::Quaternion) => {
            keys.push(("coordinates", quoted("quaternion")));
        }
        _ => {}
    }
    if data.limits != JointLimits::default() {
        keys.push(("limits", limits(&data.limits)));
    }
    if let Some(spring) = spring {
        let keys_of = [
            ("stiffness", number(spring.stiffness)),
            ("rest", number(spring.rest)),
        ];
        keys.push(("spring", inline(&keys_of)));
    }
    match keys.as_slice() {
        [("type", word)] => word.clone(),
        _ => inline(&keys),
    }
}

fn contact_shape(shape: &ContactShape) -> String {
    let [start, end] = &shape.ends;
    let place = if shape.is_ball() {
        ("position", vector(start))
    } else {
        ("capsule", format!("[{}, {}]", vector(start), vector(end)))
    };
    inline(&[place, ("radius", number(shape.radius))])
}

/// The stop of a joint, which is linear.
fn stop(stop: Compliance) -> String {
    inline(&[
        ("stiffness", number(stop.stiffness())),
        ("damping", number(stop.damping())),
    ])
}

fn limits(limits: &JointLimits) -> String {
    let position = limits.position.map(|position| array(&position));
    let keys = [
        ("position", position),
        ("stop", limits.stop.map(stop)),
        ("velocity", limits.velocity.map(number)),
        ("effort", limits.effort.map(number)),
    ];
    let keys: Vec<_> = (keys.into_iter())
        .filter_map(|(key, value)| Some((key, value?)))
        .collect();
    inline(&keys)
}

fn servo(servo: &TiltServo, joint: &str) -> String {
    let mut keys = vec![
        ("joint", joint.to_owned()),
        ("stiffness", number(servo.stiffness)),
        ("damping", number(servo.damping)),
    ];
    if servo.effort.is_finite() {
        keys.push(("effort", number(servo.effort)));
    }
    inline(&keys)
}

fn tilt(tilt: &Tilt, servo: Option<String>) -> String {
    let mut keys = vec![
        ("axis", vector(&tilt.axis)),
        ("limit_deg", number(tilt.limit.to_degrees())),
        ("time_constant", number(tilt.time_constant)),
        ("segments", tilt.segments.to_string()),
    ];
    keys.extend(servo.map(|servo| ("servo", servo)));
    inline(&keys)
}

fn aerodynamics(aerodynamics: &RotorAerodynamics) -> String {
    inline(&[
        ("drag", number(aerodynamics.drag)),
        ("inflow", number(aerodynamics.inflow)),
        (
            "translational_lift",
            number(aerodynamics.translational_lift),
        ),
        ("flapping", number(aerodynamics.flapping)),
    ])
}

fn rotor_motor(motor: &RotorMotor) -> String {
    let mut keys = match motor.dynamics {
        MotorDynamics::Lag {
            time_constant,
            efficiency,
        } => vec![
            ("time_constant", number(time_constant)),
            ("efficiency", number(efficiency)),
        ],
        MotorDynamics::Winding {
            speed_constant,
            resistance,
            no_load_current,
        } => vec![
            ("kv_rpm", number(propulsion::rpm(speed_constant))),
            ("resistance", number(resistance)),
            ("no_load_current", number(no_load_current)),
        ],
    };
    keys.push(("inertia", number(motor.inertia)));
    inline(&keys)
}

fn moment(moment: &SecondMoment<f64>) -> String {
    inline(&[
        ("weight", number(moment.weight())),
        ("first_moment", {
            let first = moment.matrix4().fixed_view::<3, 1>(0, 3).into_owned();
            vector(&first)
        }),
        ("moment_about_origin", matrix(&moment.moment_about_origin())),
    ])
}

/// What is not zero of a pose.
fn place(pose: &SE3<f64>) -> Vec<(&'static str, String)> {
    let mut keys = Vec::new();
    if pose.translation != Vector3::zeros() {
        keys.push(("position", vector(&pose.translation)));
    }
    if pose.rotation != SO3::identity() {
        let quaternion = array(pose.rotation.to_quaternion().as_slice());
        keys.push(("orientation", format!("{{ quaternion = {quaternion} }}")));
    }
    keys
}

fn inline(keys: &[(&str, String)]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|(k, value)| format!("{k} = {value}"))
        .collect();
    format!("{{ {} }}", keys.join(", "))
}

/// With as many digits as it takes to read the same number.
pub(super) fn number(number: f64) -> String {
    format!("{number:?}")
}

fn array(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().copied().map(number).collect();
    format!("[{}]", numbers.join(", "))
}

pub(super) fn vector(vector: &Vector3<f64>) -> String {
    array(vector.as_slice())
}

/// A symmetric matrix: its diagonal, if there is nothing else.
pub(super) fn matrix(matrix: &Matrix3<f64>) -> String {
    // Without the last digits' difference between two entries that are one.
    let matrix = (matrix + matrix.transpose()) * 0.5;
    let diagonal = matrix.diagonal();
    if matrix == Matrix3::from_diagonal(&diagonal) {
        return vector(&diagonal);
    }
    let rows = matrix.row_iter().map(|row| vector(&row.transpose()));
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// A key, quoted if it has to be.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
