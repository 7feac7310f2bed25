//! Descriptions of systems: TOML, and URDF.
//!
//! # TOML
//!
//! A quadcopter with a load on a rod, and everything that a description can say:
//!
//! ```
//! # let text = r#"
//! name = "quadcopter with load"
//! gravity = [0.0, 0.0, -9.81]          # m/s^2 in the world, z up; optional
//!
//! [bodies.airframe]                    # the names of bodies are yours; `world` is the inertial frame
//! joint = "free"                       # how it moves on its parent, here the world; optional for bodies of the world
//! mass = 1.0                           # kg
//! center_of_mass = [0.0, 0.0, 0.0]     # m, body frame (x forward, y left, z up); optional
//! inertia = [0.012, 0.012, 0.022]      # kg m^2 about the centre of mass, or inertia_about_origin; the diagonal, or three rows
//! drag = { linear = [0.3, 0.3, 0.1], angular = [0.0, 0.0, 0.001], quadratic = [0.005, 0.005, 0.01] } # N s/m, N m s, N/(m/s)^2, see `Drag` and `QuadraticDrag`; optional
//!
//! [[bodies.airframe.visuals]]          # what it looks like: one of `box`, `cylinder = { radius, height }`, `sphere = { radius }` and `mesh`, the text of an OBJ file; optional
//! box = [0.2, 0.1, 0.05]               # m; with `position` and `orientation`, optional
//! color = [1.0, 0.5, 0.0, 1.0]         # red, green, blue, opacity; optional
//!
//! [[bodies.airframe.contacts]]         # what touches ground and other bodies in a simulation: a point, a ball with its `radius` (m), a `capsule` between two points, or the corners of `box = [x, y, z]`; optional
//! position = [0.1, 0.1, -0.05]         # m; a box may have an orientation
//! radius = 0.01
//!
//! [bodies.rod]
//! parent = "airframe"
//! position = [0.0, 0.0, -0.05]         # m: the joint in the parent's frame; optional
//! orientation = { rpy_deg = [0, 0, 90] } # its axes: roll, pitch, yaw; or one of the other ways below; optional
//! shape = { cylinder = { radius = 0.005, height = 0.8 } } # box, ellipsoid, sphere too, and closed meshes: see below
//! mass = 0.1                           # or density, kg/m^3
//! center_of_mass = [0.0, 0.0, -0.4]
//!
//! [bodies.rod.joint]
//! name = "hinge"                       # optional: else it has the body's name
//! type = "revolute"
//! axis = [0.0, 1.0, 0.0]               # of any length, in the joint's frame
//! damping = 0.002                      # N m s; optional
//! limits = { position_deg = [-80, 80], stop = { stiffness = 20, damping = 0.1 }, velocity = 10, effort = 2 } # optional; see `Compliance`: N m/rad, s/rad
//!
//! [bodies.load]
//! parent = "rod"
//! position = [0.0, 0.0, -0.8]
//! joint = { type = "spherical", velocity = "absolute" }
//! parts = [                            # what it is made of; a part with nothing but a mass is a point
//!     { mass = 0.2, shape = { box = [0.1, 0.1, 0.05] } },
//!     { mass = 0.02, position = [0.0, 0.0, 0.03] },
//! ]
//!
//! [bodies.camera]                      # a frame without mass
//! parent = "airframe"
//! joint = "fixed"
//! position = [0.1, 0.0, 0.0]
//!
//! [[springs]]                          # between any two bodies
//! from = "airframe"                    # optional: else the world
//! to = "load"
//! points = [{ stiffness = 20.0, position = [0.05, 0.0, 0.0], anchor = [0.05, 0.0, 0.0] }]
//!
//! [[dampers]]
//! to = "airframe"
//! damping = { weight = 0.1, moment = [0.01, 0.01, 0.01] } # of all its dampers together: N s/m, N m s
//!
//! [[rotors]]                           # in the order of the commands: rotor.0, rotor.1, ...
//! name = "front left"                  # optional
//! body = "airframe"
//! position = [0.11, 0.19, 0.0]         # m, body frame
//! axis = [0.0, 0.0, 1.0]               # direction of the thrust with zero tilt, any length
//! drag_ratio = 0.016                   # drag torque about the thrust direction per thrust, m, signed; optional, 0
//! thrust = [0.5, 8.0]                  # smallest and largest, N
//! radius = 0.1                         # m, of the ground effect; optional
//! thrust_coefficient = 5.57e-6         # N/(rad/s)^2: thrust by speed squared; optional
//! aerodynamics = { drag = 1.2e-4, inflow = 2.3e-4, translational_lift = 3.4e-3, flapping = 0.0 } # see `RotorAerodynamics`; optional
//!
//! [rotors.motor]                       # the speed is the state, see `RotorMotor`; optional, else `time_constant = 0.04` of the rotor is that of its thrust
//! time_constant = 0.005                # s, first-order lag of the speed
//! inertia = 1e-5                       # kg m^2, of what turns, not in that of the body; optional, 0
//! efficiency = 0.8                     # of the electrical power, what turns the rotor; optional, 1. Or, in place of both, `kv_rpm` (1/min per V), `resistance` (ohm), `no_load_current` (A)
//!
//! [battery]                            # feeds these motors; optional, else they have any voltage
//! cells = 4                            # in series
//! capacity_ah = 5.0                    # A h
//! resistance = 0.02                    # ohm, of all together; optional, 0
//! open_circuit = [[0.0, 3.3], [0.2, 3.7], [1.0, 4.2]] # V of a cell by its charge; optional: else a lithium polymer cell, see `OpenCircuit`
//!
//! [rotors.tilt]                        # only for a rotor that tilts
//! axis = [0.5, 0.0, 0.0]               # at the angle th the thrust points along cos(th) axis + sin(th) (tilt axis x axis)
//! limit_deg = 60.0                     # to either side, degrees
//! time_constant = 0.04                 # s, first-order lag of the servo; optional, 0 = none
//! segments = 8                         # chords that replace the arc of the largest thrust; optional, 8
//! ## servo = { joint = "nacelle", stiffness = 0.5, damping = 0.02, effort = 0.25 } turns a joint of the body, see `TiltServo`: N m/rad, N m s/rad, N m; optional
//!
//! [[motors]]                           # after the rotors: motor.0, motor.1, ...
//! joint = "hinge"                      # a joint's name
//! effort = [-2.0, 1.5]                 # or one number for both sides, N m or N; optional: else the joint's limit
//! time_constant = 0.01                 # s; optional, 0 = none
//!
//! [[loops]]                            # what closes a loop of the tree: frames that stay together
//! name = "rod"                         # optional
//! type = "distance"                    # fixed, revolute, prismatic, cylindrical, universal, spherical, planar, orientation,
//! length = 1.2                         # point_on_line, point_on_plane; only a distance has a length, m
//! from = "airframe"                    # optional: else the world
//! from_frame = { position = [0.2, 0.0, 0.0] } # in the body; with an orientation, or the axis that is its z axis; optional
//! to = "load"
//!
//! [[ropes]]                            # see `Rope`: they pull and never push; no controller and no reference knows them
//! from = "airframe"                    # optional: else the world; with `from_point` and `to_point` in the bodies' frames, optional
//! to = "load"
//! to_point = [0.0, 0.0, 0.02]          # m
//! length = 1.3                         # m: straight, and not yet pulling
//! stiffness = 2000.0                   # N/m
//! damping = 0.5                        # s/m, as of `Compliance`; optional, 0
//!
//! [[couplings]]                        # gears and belts: sum of factor * coordinate = offset
//! terms = [{ joint = "hinge", factor = 1 }, { joint = "pulley", factor = -2 }] # factor is optional, 1
//! offset = 0.0                         # rad or m; optional
//!
//! [[rolling]]                          # wheels, balls, eggs and blades: see `Rolling`
//! name = "wheel on the ground"         # optional
//! type = "disc"                        # about the z axis of its frame; or sphere (`radius`), ellipsoid (`semi_axes`), blade (along x)
//! radius = 0.02                        # m; with `rim = 0.005`, the radius of a rounded edge, optional
//! slides = false                       # without friction in place of rolling; optional
//! to = "pulley"                        # what rolls, on the plane z = 0 of `from` (optional: else the world); `from_frame` as of a loop
//! to_frame = { axis = [0.0, 1.0, 0.0] } # optional
//!
//! [bodies.pulley]
//! parent = "airframe"
//! joint = { type = "revolute", axis = [0, 1, 0] }
//! shape = { sphere = { radius = 0.02 } }
//! density = 1000
//! # "#;
//! let system = fly_mechanics::System::from_toml(text)?;
//! assert_eq!((system.model.body_count(), system.model.dof()), (5, 6 + 1 + 3 + 1));
//! # Ok::<(), fly_mechanics::description::DescriptionError>(())
//! ```
//!
//! A shape can also be the closed triangle mesh of a file, STL or OBJ, in the frame of the body or of the part: `shape = { mesh = { file = "hull.stl", scale = 0.001 } }` with `mass` or
//! `density`. The path is relative to the file that names it, the scale makes metres of its unit (default 1), and an `orientation` of the shape turns it about its origin. What is read is the
//! inertia of the solid. In a description that is no file the `volume` (m^3), its `center` (m) and its `inertia` for the density 1 (m^5, about the centre) stand in the place of the file, as
//! [`mesh_numbers`] writes them.
//!
//! An orientation is one of `{ rpy_deg = [roll, pitch, yaw] }` (about the parent's x, y, z in this order), `{ quaternion = [w, x, y, z] }`,
//! `{ rotation_vector = [x, y, z] }` in rad, `{ axis = [x, y, z], angle_deg = 30 }`.
//!
//! The joints, with the keys that each has besides `type`, `name` and `damping`:
//!
//! | `type` | keys | `damping` |
//! |---|---|---|
//! | `"fixed"` | | none |
//! | `"revolute"` | `axis`, `coordinates` = `"angle"` or `"cos_sin"`, `limits`, `spring` | N m s |
//! | `"prismatic"` | `axis`, `limits`, `spring` | N s/m |
//! | `"screw"` | `axis`, `pitch` (m/rad) or `lead` (m per turn), `limits`, `spring` | N m s |
//! | `"cylindrical"`, `"planar"`, `"schoenflies"` | `axis` (of a plane its normal), `coordinates` = `"angle"` or `"cos_sin"` | `{ linear, angular }` |
//! | `"universal"` | `axis`, `second_axis` | N m s |
//! | `"spherical"` | `coordinates` = `"matrix"` or `"quaternion"`, `velocity` = `"relative"` or `"absolute"` | N m s |
//! | `"free"` | `coordinates` = `"matrix"` or `"quaternion"` | `{ linear, angular }` |
//!
//! A joint with neither axis nor other keys is just a word, `joint = "fixed"`. What stands in configuration and velocity is on the page of
//! [`JointKind`](crate::multibody::JointKind). Damping becomes a damper between the two bodies;
//! `spring = { stiffness = 3.0, rest = 0.1 }` is a [`JointSpring`](crate::multibody::JointSpring) in the joint, which needs `coordinates = "angle"`. The types of loops are on the page of
//! [`LoopKind`](crate::multibody::constraints::LoopKind).
//!
//! Every key is checked; one that is not known is an error that names the nearest known one. A [`Vehicle`](crate::Vehicle) is read from the same
//! format: one free body with rotors, and nothing else.
//!
//! # URDF
//!
//! [`System::from_urdf`](crate::System::from_urdf) reads robots as ROS describes them; [`UrdfOptions`] say what the format leaves open. Links become
//! bodies of their names, `<dynamics damping>` dampers, simple `<transmission>`s motors. Visuals become [`System::visuals`](crate::System::visuals), with the
//! meshes that are found in [`MeshFolders`]; collision shapes are not read. `<mimic>`
//! becomes a coupling, which acts on those who build [`System::constraints`](crate::System::constraints). What is left out, as dry friction is,
//! is said in [`System::notes`](crate::System::notes).

mod constraints;
mod contact;
mod drag;
mod elements;
mod error;
mod file;
mod joint;
mod keys;
mod mass;
mod mesh;
mod motors;
mod pose;
mod propulsion;
mod reader;
mod rope;
mod rotors;
mod servo;
mod table;
mod urdf;
mod vehicle;
mod visual;
mod write;

pub use crate::read::{MAX_TEXT, read_text};
pub use error::{DescriptionError, Problem};
pub use file::FileError;
pub use keys::{Key, Value};
pub use mesh::mesh_numbers;
/// The keys of a description.
pub const KEYS: &[Key] = &table::SYSTEM;

pub use urdf::{MeshFolders, NonPhysicalInertia, UrdfMotors, UrdfOptions, UrdfRoot};
