//! The equations of motion in the forms that mechanics knows.

pub mod projection;
