//! The tests of `fly-mechanics`: one program, so that they link once.

mod actuators;
mod air;
mod bodies;

mod constrained;
mod constraints;
mod constraints_joints;
mod constraints_laws;
mod constraints_motion;
mod constraints_rank;
mod constraints_redundant;
mod coordinates;
mod derivatives;
mod description;
mod description_errors;
mod description_mutations;
mod description_systems;
mod drag;
mod dynamics;
mod dynamics_laws;
mod examples;
mod fixed_point;
mod forces;
mod forms;
mod frames;
mod hamel;
mod hamel_systems;
mod integrators;
mod invariance;
mod joint_springs;
mod measurements;
mod moving;
mod multibody_laws;
mod pseudo_inverse;
mod random_tree;
mod regressor;
mod rolling;
mod round_trip;
#[path = "../special_bodies/mod.rs"]
mod special_bodies;
mod springs;
mod systems;
mod urdf;
mod urdf_errors;
mod urdf_pinocchio;
mod vehicles;
