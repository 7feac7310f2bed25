//! `cargo xtask recovery`: recoveries from arbitrary attitudes, more than the tests have time for.

use crate::{Failure, Outcome, workspace};

pub fn run(arguments: &[String]) -> Outcome {
    let mut only = String::new();
    let test = match arguments {
        [] => "with_rho_it_recovers_from_a_stratified_2000",
        [all] if all == "--all" => "with_rho_it_recovers_from_the_whole_grid",
        [led, vehicles @ ..] if led == "--led" => {
            only = vehicles.join(",");
            "led::led_every_vehicle_returns"
        }
        [other, ..] => {
            return Err(Failure::Usage(format!(
                "`recovery` takes `--all`, or `--led` and names of vehicles or `grid`, found `{other}`"
            )));
        }
    };
    let program = [
        "--release",
        "--package",
        "fly-control",
        "--test",
        "recovery",
    ];
    let environment = [("FLY_RECOVERY", only.as_str())];
    Ok(workspace::run_test(
        &program,
        &["--ignored", test],
        &environment,
    )?)
}
