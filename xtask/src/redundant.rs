//! `cargo xtask redundant`: random vehicles with redundant inputs, more than the tests have time for.

use crate::{Failure, Outcome, workspace};

pub fn run(arguments: &[String]) -> Outcome {
    if let [other, ..] = arguments {
        return Err(Failure::Usage(format!(
            "`redundant` takes no arguments, found `{other}`"
        )));
    }
    let program = ["--release", "--package", "fly-control", "--test", "suite"];
    let test = "redundant::accelerations_of_a_hundred_thousand_vehicles";
    Ok(workspace::run_test(&program, &["--ignored", test], &[])?)
}
