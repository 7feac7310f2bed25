//! A tree of bodies for any scalar, its equations of motion by summing over the bodies.

use std::collections::BTreeMap;

use fly_lie::operators::{ad, angular, join, linear, vee2_4};
use fly_lie::{SE3, SO3};
use fly_mechanics::SecondMoment;
use fly_mechanics::coordinates::{Coordinates, Minimal, PlanarPose, Pose, RotationMatrix, Symbols};
use fly_testing::golden::{array, count, matrix, number, numbers, vector};
use nalgebra::{
    DMatrix, DVector, Matrix3, Matrix4, Matrix6, Matrix6xX, RealField, Vector3, Vector6, convert,
};
use serde_json::Value;

pub struct Tree {
    dof: usize,
    gravity: Vector3<f64>,
    joints: Vec<Joint>,
    inertias: BTreeMap<usize, Matrix6<f64>>,
    springs: Vec<Pairing>,
    dampers: Vec<Pairing>,
}

pub struct Joint {
    parent: usize,
    child: usize,
    offset: usize,
    before: SE3<f64>,
    axis: Vector3<f64>,
    kind: Kind,
}

enum Kind {
    Fixed,
    Revolute,
    Prismatic,
    Spherical { absolute: bool },
    Planar,
    Free,
}

/// A spring or damper with its second moment, a spring with its rest pose.
struct Pairing {
    a: usize,
    b: usize,
    rest: Option<Matrix4<f64>>,
    moment: Matrix4<f64>,
}

/// A frame's pose, Jacobian, twist and acceleration, in the frame itself; the acceleration is that of the world plus `-gravity`.
#[derive(Clone)]
struct Frame<T: RealField + Copy> {
    pose: SE3<T>,
    jacobian: Matrix6xX<T>,
    twist: Vector6<T>,
    acceleration: Vector6<T>,
}

impl Tree {
    pub fn read(system: &Value) -> Self {
        let pairings = |key: &str, moment: &str| {
            let read = |pairing: &Value| Pairing {
                a: count(&pairing["a"]),
                b: count(&pairing["b"]),
                rest: (!pairing["G_R"].is_null()).then(|| matrix(&pairing["G_R"])),
                moment: matrix(&pairing[moment]),
            };
            array(&system[key]).iter().map(read).collect()
        };
        let inertia = |body: &Value| {
            let (mass, center) = (number(&body["m"]), vector(&body["s"]));
            let moment = SecondMoment::from_origin(mass, center, matrix(&body["Theta"]));
            (count(&body["id"]), moment.matrix6())
        };
        Self {
            dof: count(&system["n"]),
            gravity: vector(&system["gravity"]),
            joints: array(&system["joints"]).iter().map(Joint::read).collect(),
            inertias: array(&system["bodies"]).iter().map(inertia).collect(),
            springs: pairings("springs", "K_prime"),
            dampers: pairings("dampers", "D_prime"),
        }
    }

    /// The configuration coordinates are those of the joints, one after the other.
    pub fn coordinates(&self) -> &Vec<Joint> {
        &self.joints
    }

    pub fn configuration(&self, state: &Value) -> DVector<f64> {
        let entries = self.joints.iter().zip(array(state));
        DVector::from_vec(
            entries
                .flat_map(|(joint, state)| joint.configuration(state))
                .collect(),
        )
    }

    /// `f = M ξ_dot + c + D ξ + f_K - f_G`
    pub fn forces<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
        xi: &DVector<T>,
        xi_dot: &DVector<T>,
    ) -> DVector<T> {
        let frames = self.frames(x, xi, xi_dot);
        let mut f = DVector::zeros(self.dof);
        for (id, M) in &self.inertias {
            let (M, body) = (M.map(convert::<f64, T>), &frames[id]);
            let wrench = M * body.acceleration - ad(&body.twist).transpose() * (M * body.twist);
            f += body.jacobian.tr_mul(&wrench);
        }
        for pairing in self.springs.iter().chain(&self.dampers) {
            let (a, b) = (&frames[&pairing.a], &frames[&pairing.b]);
            let G = a.pose.inverse() * b.pose;
            let J = &b.jacobian - G.adjoint_inverse() * &a.jacobian;
            let moment = pairing.moment.map(convert::<f64, T>);
            let wrench = match pairing.rest {
                Some(rest) => {
                    let rest = rest.map(convert::<f64, T>);
                    vee2_4(&((Matrix4::identity() - G.inverse().matrix() * rest) * moment))
                }
                None => SecondMoment::from_matrix4(moment).matrix6() * (&J * xi).fixed_rows::<6>(0),
            };
            f += J.tr_mul(&wrench);
        }
        f
    }

    fn frames<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
        xi: &DVector<T>,
        xi_dot: &DVector<T>,
    ) -> BTreeMap<usize, Frame<T>> {
        let world = Frame {
            pose: SE3::identity(),
            jacobian: Matrix6xX::zeros(self.dof),
            twist: Vector6::zeros(),
            acceleration: join(&-self.gravity.map(convert::<f64, T>), &Vector3::zeros()),
        };
        let mut frames = BTreeMap::from([(0, world)]);
        let mut start = 0;
        for joint in &self.joints {
            let own = &x.as_slice()[start..][..joint.config_dim()];
            start += joint.config_dim();
            let frame = joint.child_frame(&frames[&joint.parent], own, xi, xi_dot);
            frames.insert(joint.child, frame);
        }
        frames
    }
}

impl Joint {
    fn read(joint: &Value) -> Self {
        let kind = match joint["type"].as_str() {
            Some("fixed") => Kind::Fixed,
            Some("revolute") => Kind::Revolute,
            Some("prismatic") => Kind::Prismatic,
            Some("spherical") => Kind::Spherical { absolute: false },
            Some("spherical_abs") => Kind::Spherical { absolute: true },
            Some("planar") => Kind::Planar,
            Some("free") => Kind::Free,
            other => panic!("no such joint: {other:?}"),
        };
        let axis = match &joint["axis"] {
            Value::Null => Vector3::z(),
            axis => vector::<3>(axis).normalize(),
        };
        Self {
            parent: count(&joint["parent"]),
            child: count(&joint["child"]),
            offset: count(&joint["xi_offset"]),
            before: SE3::from_matrix(&matrix(&joint["G_pre"])),
            axis,
            kind,
        }
    }

    fn configuration(&self, state: &Value) -> Vec<f64> {
        let G = || matrix::<4, 4>(&state["G"]);
        match self.kind {
            Kind::Fixed => Vec::new(),
            Kind::Revolute | Kind::Prismatic => numbers(&state["q"]),
            Kind::Spherical { .. } => matrix::<3, 3>(&state["R"]).as_slice().to_vec(),
            Kind::Planar => vec![G()[(0, 3)], G()[(1, 3)], G()[(1, 0)], G()[(0, 0)]],
            Kind::Free => {
                let (G, mut x) = (G(), Vec::new());
                x.extend((0..3).map(|i| G[(i, 3)]));
                x.extend((0..9).map(|i| G[(i % 3, i / 3)]));
                x
            }
        }
    }

    /// The pose behind the joint, and the twist of each of its velocities.
    fn motion<T: RealField + Copy>(&self, x: &[T]) -> (SE3<T>, Vec<Vector6<T>>) {
        let none = Vector3::zeros();
        let axis = self.axis.map(convert::<f64, T>);
        let units = |n: usize| -> Vec<Vector3<T>> {
            (0..n)
                .map(|i| Vector3::from_fn(|j, _| if i == j { T::one() } else { T::zero() }))
                .collect()
        };
        let turn = |entries: &[T]| SO3::from_matrix(Matrix3::from_column_slice(entries));
        let turned = |entries: &[T]| SE3::new(turn(entries), none);
        match self.kind {
            Kind::Fixed => (SE3::identity(), Vec::new()),
            Kind::Revolute => (
                SE3::new(SO3::exp(&(axis * x[0])), none),
                vec![join(&none, &axis)],
            ),
            Kind::Prismatic => (
                SE3::new(SO3::identity(), axis * x[0]),
                vec![join(&axis, &none)],
            ),
            Kind::Spherical { .. } => {
                (turned(x), units(3).iter().map(|w| join(&none, w)).collect())
            }
            Kind::Planar => {
                let (s, c, o, one) = (x[2], x[3], T::zero(), T::one());
                let R = Matrix3::new(c, -s, o, s, c, o, o, o, one);
                let mut twists: Vec<_> = units(2).iter().map(|v| join(v, &none)).collect();
                twists.push(join(&none, &Vector3::z()));
                (
                    SE3::new(SO3::from_matrix(R), Vector3::new(x[0], x[1], o)),
                    twists,
                )
            }
            Kind::Free => {
                let pose = SE3::new(turn(&x[3..]), Vector3::from_column_slice(&x[..3]));
                let linear = units(3).into_iter().map(|v| join(&v, &none));
                let twists = linear.chain(units(3).into_iter().map(|w| join(&none, &w)));
                (pose, twists.collect())
            }
        }
    }

    /// Konz (4.103a-d), corrected.
    fn child_frame<T: RealField + Copy>(
        &self,
        parent: &Frame<T>,
        x: &[T],
        xi: &DVector<T>,
        xi_dot: &DVector<T>,
    ) -> Frame<T> {
        let absolute = matches!(self.kind, Kind::Spherical { absolute: true });
        let (mut behind, twists) = self.motion(x);
        let before = SE3::from_matrix(&self.before.matrix().map(convert::<f64, T>));
        if absolute {
            behind.rotation = (parent.pose * before).rotation.inverse() * behind.rotation;
        }
        let G = before * behind;
        let back = G.adjoint_inverse();
        let mut carried = Frame {
            pose: parent.pose * G,
            jacobian: back * &parent.jacobian,
            twist: back * parent.twist,
            acceleration: back * parent.acceleration,
        };
        if absolute {
            // What turns is given whole; only the origin is carried along.
            let own = join(&Vector3::zeros(), &-angular(&carried.twist));
            carried.jacobian.fixed_rows_mut::<3>(3).fill(T::zero());
            let relative = own + self.own(&twists, xi);
            carried.acceleration -= ad(&relative) * carried.twist;
            carried.acceleration = join(&linear(&carried.acceleration), &Vector3::zeros());
            carried.twist = join(&linear(&carried.twist), &Vector3::zeros());
        } else {
            carried.acceleration -= ad(&self.own(&twists, xi)) * carried.twist;
        }
        for (i, twist) in twists.iter().enumerate() {
            let mut column = carried.jacobian.column_mut(self.offset + i);
            column += twist;
        }
        carried.twist += self.own(&twists, xi);
        carried.acceleration += self.own(&twists, xi_dot);
        carried
    }

    fn own<T: RealField + Copy>(&self, twists: &[Vector6<T>], values: &DVector<T>) -> Vector6<T> {
        let rates = values.iter().skip(self.offset);
        twists
            .iter()
            .zip(rates)
            .fold(Vector6::zeros(), |sum, (twist, &rate)| sum + twist * rate)
    }
}

/// Every joint is of a standard kind.
macro_rules! by_kind {
    ($joint:expr, $coordinates:ident => $what:expr) => {
        match $joint.kind {
            Kind::Fixed => {
                let $coordinates = Minimal(0);
                $what
            }
            Kind::Revolute | Kind::Prismatic => {
                let $coordinates = Minimal(1);
                $what
            }
            Kind::Spherical { .. } => {
                let $coordinates = RotationMatrix;
                $what
            }
            Kind::Planar => {
                let $coordinates = PlanarPose;
                $what
            }
            Kind::Free => {
                let $coordinates = Pose;
                $what
            }
        }
    };
}

impl Coordinates for Joint {
    fn config_dim(&self) -> usize {
        by_kind!(self, c => c.config_dim())
    }
    fn dof(&self) -> usize {
        by_kind!(self, c => c.dof())
    }
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        by_kind!(self, c => c.constraint(x))
    }
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        by_kind!(self, c => c.kinematic_matrix(x))
    }
    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        by_kind!(self, c => c.constant_commutation_coefficients())
    }
}
