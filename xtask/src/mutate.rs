//! `cargo xtask mutate`: mutated files, more than the tests have time for.

use crate::{Failure, Outcome, workspace};

const CASES: &str = "1000000";

pub fn run(arguments: &[String]) -> Outcome {
    let mut cases = CASES;
    let mut environment = Vec::new();
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        let variable = match flag.as_str() {
            "--cases" => "FLY_MUTATIONS",
            "--seed" => "FLY_MUTATION_SEED",
            "--kind" => "FLY_MUTATION_KIND",
            "--case" => "FLY_MUTATION_CASE",
            other => {
                return Err(Failure::Usage(format!(
                    "`mutate` takes `--cases`, `--seed`, `--kind` and `--case`, found `{other}`"
                )));
            }
        };
        let value = rest
            .next()
            .ok_or_else(|| Failure::Usage(format!("`{flag}` needs a value")))?;
        if variable == "FLY_MUTATIONS" {
            cases = value;
        } else {
            environment.push((variable, value.as_str()));
        }
    }
    environment.push(("FLY_MUTATIONS", cases));
    let program = [&["--release"], &workspace::TESTS_OF_FLY[..]].concat();
    let test = "mutations::whatever_a_file_holds_it_is_read_or_refused";
    Ok(workspace::run_test(&program, &[test], &environment)?)
}
