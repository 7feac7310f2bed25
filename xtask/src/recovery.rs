//! `cargo xtask recovery`: recoveries from arbitrary attitudes, more than the tests have time for.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;

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
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--release", "--package", "fly-control"])
        .args(["--test", "recovery", "--", "--ignored", "--exact"])
        .args(["--nocapture", test])
        .env("FLY_RECOVERY", only);
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
