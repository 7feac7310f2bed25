//! The laws of coordinates, for every kind of them.

#![allow(non_snake_case)]

mod change;
mod constraints;
pub mod examples;
mod geometry;
mod kinematics;
mod linearization;
