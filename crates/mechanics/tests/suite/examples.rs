//! The examples run; each checks its own claims.

// Each example includes its plotting code.
#![allow(clippy::duplicate_mod)]

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[path = "../../examples/arm_6_axis.rs"]
mod arm_6_axis;
#[path = "../../examples/body_about_a_fixed_point.rs"]
mod body_about_a_fixed_point;
#[path = "../../examples/double_pendulum_3d.rs"]
mod double_pendulum_3d;
#[path = "../../examples/four_bar.rs"]
mod four_bar;
#[path = "../../examples/heavy_top.rs"]
mod heavy_top;
#[path = "../../examples/planar_body.rs"]
mod planar_body;
#[path = "../../examples/prismatic_and_revolute.rs"]
mod prismatic_and_revolute;
#[path = "../../examples/rolling_ellipsoid.rs"]
mod rolling_ellipsoid;
#[path = "../../examples/scara.rs"]
mod scara;
#[path = "../../examples/tricopter_with_load.rs"]
mod tricopter_with_load;
#[path = "../../examples/two_link_arm.rs"]
mod two_link_arm;
#[path = "../../examples/two_masses.rs"]
mod two_masses;

#[test]
fn body_about_a_fixed_point() -> Outcome {
    body_about_a_fixed_point::main()
}

#[test]
fn double_pendulum_3d() -> Outcome {
    double_pendulum_3d::main()
}

#[test]
fn heavy_top() -> Outcome {
    heavy_top::main()
}

#[test]
fn planar_body() -> Outcome {
    planar_body::main()
}

#[test]
fn prismatic_and_revolute() -> Outcome {
    prismatic_and_revolute::main()
}

#[test]
fn rolling_ellipsoid() -> Outcome {
    rolling_ellipsoid::main()
}

#[test]
fn two_link_arm() -> Outcome {
    two_link_arm::main()
}

#[test]
fn two_masses() -> Outcome {
    two_masses::main()
}

#[test]
fn arm_6_axis() -> Outcome {
    arm_6_axis::main()
}

#[test]
fn four_bar() -> Outcome {
    four_bar::main()
}

#[test]
fn scara() -> Outcome {
    scara::main()
}

#[test]
fn tricopter_with_load() -> Outcome {
    tricopter_with_load::main()
}
