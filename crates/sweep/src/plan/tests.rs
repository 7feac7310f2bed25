//! Reading and checking plans, without flights.

use super::*;

/// A plan of the shipped quadcopter.
fn plan(tables: &str) -> Result<Plan, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let text = format!("config = \"quadcopter.toml\"\n{tables}\n");
    std::fs::write(&file, text).unwrap();
    Plan::read(&PlanOptions {
        file: Some(file),
        ..PlanOptions::default()
    })
}

/// The errors of a plan, and the place of the first.
fn told(tables: &str) -> (Vec<String>, (usize, usize)) {
    let error = plan(tables).unwrap_err();
    let all = error.diagnostics();
    let titles = all.iter().map(|one| one.title.clone()).collect();
    (titles, all[0].place.as_ref().unwrap().line_column())
}

/// What is said beside the caret of `flight.duration`.
fn label(variation: &str) -> String {
    let error = plan(&format!("[vary]\nflight.duration = {variation}")).unwrap_err();
    error.diagnostics()[0].label.to_string()
}

#[test]
fn of_varied_keys_none_is_a_part_of_another() {
    let position = "backend.sim.initial.position";
    let (titles, place) = told(&format!(
        "[vary]\n'{position}' = {{ ball = 1 }}\n'{position}.0' = {{ uniform = [5, 6] }}"
    ));
    assert_eq!(
        titles,
        [format!(
            "`{position}.0`, which is varied, is a part of `{position}`, which is varied"
        )]
    );
    assert_eq!(place, (4, 1));
    let (titles, _) = told(
        "[vary]\n'controller.limits.speed' = { values = [3] }\n'controller.limits' = { values = [false, { tilt_deg = 30 }] }",
    );
    let expected =
        "`controller.limits`, which is varied, contains `controller.limits.speed`, which is varied";
    assert_eq!(titles, [expected]);
    let (titles, place) =
        told("[vary]\nflight.duration = { values = [1] }\n'flight.duration' = { values = [2] }");
    assert_eq!(
        (titles, place),
        (vec!["`flight.duration` is varied twice".to_owned()], (4, 1))
    );
    // A name that needs quotes.
    let (titles, _) = told("[vary]\n'a.\"b=c\"' = { values = [1] }\na = { values = [2] }");
    let expected = "`a`, which is varied, contains `a.\"b=c\"`, which is varied";
    assert_eq!(titles, [expected]);
    // Siblings, and keys that only begin with the same letters.
    let apart = format!(
        "[vary]\n'{position}.0' = {{ uniform = [5, 6] }}\n'{position}.1' = {{ uniform = [5, 6] }}\n'{position}.10' = {{ uniform = [5, 6] }}"
    );
    plan(&apart).unwrap();
}

#[test]
fn a_flag_replaces_the_same_key_however_it_is_written() {
    let with = |vary: &str| {
        Plan::read(&PlanOptions {
            base: Options {
                config: "quadcopter.toml".into(),
                ..Options::default()
            },
            vary: vec!["flight.duration={values=[1]}".into(), vary.into()],
            ..PlanOptions::default()
        })
    };
    let replaced = with("\"flight\" . 'duration'={values=[2, 3]}").unwrap();
    assert_eq!(replaced.flights(), 2);
    assert_eq!(replaced.columns()[0].name, "flight.duration");
    let error = with("flight={values=[{duration=2}]}").unwrap_err();
    let first = &error.diagnostics()[0];
    assert_eq!(
        first.title,
        "`flight`, which is varied, contains `flight.duration`, which is varied"
    );
    assert_eq!(first.notes, ["`flight.duration` is varied at --vary"]);
}

#[test]
fn no_key_is_set_and_varied() {
    for (set, title) in [
        (
            "backend.sim.initial.position = [0, 0, 1]",
            "`backend.sim.initial.position` is set and varied",
        ),
        (
            "backend.sim.initial.position.0 = 1",
            "`backend.sim.initial.position.0`, which is set, is a part of `backend.sim.initial.position`, which is varied",
        ),
        (
            "flight.seed = 7",
            "`flight.seed` is set, but every flight gets its own",
        ),
    ] {
        let vary = "[vary]\n'backend.sim.initial.position' = { ball = 1 }";
        let (titles, (line, _)) = told(&format!("[set]\n{set}\n{vary}"));
        assert_eq!((titles, line), (vec![title.to_owned()], 3));
    }
    let (titles, _) = told("[set]\n'flight.seed' = 7\n[vary]\n'flight.seed' = { values = [1] }");
    assert_eq!(titles, ["`flight.seed` is set and varied"]);
    // A part of what is set.
    plan("[set]\n'backend.sim.initial.angular_velocity' = [0, 0, 0]\n[vary]\n'backend.sim.initial.angular_velocity.1' = { uniform = [-1, 1] }")
        .unwrap();
    plan("[set]\nflight = { duration = 2 }\n[vary]\n'controller.limits' = { values = [false] }")
        .unwrap();
}

/// Whole numbers fit keys of both types.
#[test]
fn whole_steps_are_integers() {
    let plan_of = |key: &str, steps: &str| {
        plan(&format!("[vary]\n'{key}' = {{ linspace = {steps} }}")).unwrap()
    };
    let cells = |plan: &Plan| -> Vec<Cell> {
        let flights = 0..plan.flights();
        flights.map(|i| plan.parameters(i)[0].clone()).collect()
    };
    let seeds = plan_of("flight.seed", "[1, 7, 3]");
    assert_eq!(cells(&seeds), [1, 4, 7].map(Cell::Integer));
    assert_eq!(seeds.columns()[0].kind, Kind::Integer);
    for (flight, seed) in [(0, 1), (1, 4), (2, 7)] {
        let configuration = seeds.configuration(flight).unwrap();
        assert_eq!(configuration.flight.seed, seed);
    }
    let duration = plan_of("flight.duration", "[8, 2, 3]");
    assert_eq!(cells(&duration), [8, 5, 2].map(Cell::Integer));
    duration.configuration(1).unwrap();
    // Every step of these is beyond an `i64` or an `f64`.
    let far = plan_of(
        "flight.seed",
        "[-9223372036854775807, 9223372036854775807, 3]",
    );
    assert_eq!(cells(&far), [-i64::MAX, 0, i64::MAX].map(Cell::Integer),);
    for (steps, expected) in [
        ("[1, 2, 3]", vec![1.0, 1.5, 2.0]),
        ("[1.0, 3, 3]", vec![1.0, 2.0, 3.0]),
        ("[1, 3e0, 3]", vec![1.0, 2.0, 3.0]),
    ] {
        let floats = plan_of("flight.duration", steps);
        let expected: Vec<Cell> = expected.into_iter().map(Cell::Float).collect();
        assert_eq!(cells(&floats), expected, "{steps}");
        assert_eq!(floats.columns()[0].kind, Kind::Float);
    }
    // Their tables differ, so their journals must.
    assert_ne!(
        plan_of("flight.duration", "[1, 3, 3]").identity(),
        plan_of("flight.duration", "[1.0, 3, 3]").identity()
    );
}

#[test]
fn one_step_has_equal_ends() {
    assert_eq!(
        label("{ linspace = [100, 500, 1] }"),
        "expected [from, to, count] with a count of at least 2, as both ends are included, found [100, 500, 1]"
    );
    // Equal as floats.
    let near = label("{ linspace = [9007199254740993, 9007199254740992, 1] }");
    assert!(near.contains("a count of at least 2"), "{near}");
    let one = plan("[vary]\nflight.duration = { linspace = [5, 5, 1] }").unwrap();
    assert_eq!(one.parameters(0)[0], Cell::Integer(5));
    assert_eq!(one.flights(), 1);
    plan("[vary]\nflight.duration = { linspace = [5.5, 5.5, 1] }").unwrap();
}

#[test]
fn errors_show_what_was_found() {
    for (variation, expected) in [
        (
            "{ uniform = [1, -1] }",
            "expected two numbers, the smaller first, found [1, -1]",
        ),
        (
            "{ log_uniform = [0, 500] }",
            "expected two positive numbers, the smaller first, found [0, 500]",
        ),
        (
            "{ normal = [500, -1] }",
            "expected [mean, standard deviation], which is not negative, found [500, -1]",
        ),
        (
            "{ linspace = [1, 2, 2.5] }",
            "expected [from, to, count] with a whole count from 1 to 1000000, found [1, 2, 2.5]",
        ),
        (
            "{ ball = { r = 1 } }",
            "expected a radius, not negative, found { r = 1 }",
        ),
        (
            "{ uniform = [1,\n2, 3] }",
            "expected numbers [from, to], found an array of 3",
        ),
    ] {
        assert_eq!(label(variation), expected);
    }
    let flag = |vary: &str| {
        let error = read::flag(vary).unwrap_err();
        error.diagnostics()[0].label.to_string()
    };
    let expected = "expected two numbers, the smaller first, found [1, -1]";
    assert_eq!(flag("flight.duration={uniform=[1, -1]}"), expected);
}

/// Keys of the configuration are enough to see it: nothing is flown.
fn checked(tables: &str) -> Result<Vec<String>, FlightError> {
    let plan = plan(tables).unwrap();
    plan.checked(&|all| {
        Configuration::read(plan.template.with(all)?)?;
        Ok(())
    })
}

#[test]
fn a_refused_plan_blames_no_other_key() {
    let error = checked(
        "[vary]\n'flight.rate_hz' = { values = [250, 500] }\n'flight.duraton' = { values = [1.0] }",
    );
    let FlightError::Configuration(error) = error.unwrap_err() else {
        panic!("another error");
    };
    let titles: Vec<&str> = (error.diagnostics().iter())
        .map(|one| one.title.as_str())
        .collect();
    assert_eq!(titles, ["unknown key `flight.duraton`"]);
}

/// Both values are right, but not together: what is said of them is TOML.
#[test]
fn combinations_are_told_as_toml() {
    let plan = plan(
        "[vary]\n'flight.log' = { values = [\"a.mcap\", [\n1, # one\n2]] }\n'controller.limits' = { values = [false, { tilt_deg = 30 }] }",
    )
    .unwrap();
    let not_both = |all: &[Assignment]| {
        let has = |key: &str| all.iter().any(|one| one.key == key);
        if has("flight.log") && has("controller.limits") && has(SEED) {
            let first = all.iter().map(variation::shown).collect::<Vec<_>>();
            if first[..2] == ["\"a.mcap\"", "false"] || first[0] == "[1, 2]" {
                return Err(ConfigError::from(Diagnostic::new("not both")).into());
            }
        }
        Ok(())
    };
    let end = ": not both; such flights become rows with the verdict `not_flown`";
    let log = "cannot be flown with `controller.limits` = false";
    assert_eq!(
        plan.checked(&not_both).unwrap(),
        [
            format!("`flight.log` = \"a.mcap\" {log}{end}"),
            format!("`flight.log` = [1, 2] {log}{end}"),
            format!(
                "`controller.limits` = false cannot be flown with `flight.log` = \"a.mcap\"{end}"
            ),
        ]
    );
}

/// A mass that is drawn negative is one of the outermost values, not the mean.
#[test]
fn the_outermost_values_of_a_normal_distribution_are_tried() {
    let plan = plan("[vary]\n'flight.duration' = { normal = [1, 0.5] }").unwrap();
    let drawn = |flight: u64| plan.drawn(flight).cells[0].clone();
    let value = |cell: Cell| match cell {
        Cell::Float(value) => value,
        other => panic!("{other:?}"),
    };
    let all: Vec<f64> = (0..plan.flights()).map(drawn).map(value).collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let refused = |all: &[Assignment]| {
        let own = all.iter().find(|one| one.key == "flight.duration");
        let number = own.and_then(|one| variation::shown(one).parse::<f64>().ok());
        match number {
            Some(number) if number <= least => {
                Err(ConfigError::from(Diagnostic::new("too short")).into())
            }
            _ => Ok(()),
        }
    };
    let told = plan.checked(&refused).unwrap();
    let expected = format!(
        "`flight.duration` = {least:?} cannot be flown: too short; such flights become rows with the verdict `not_flown`"
    );
    assert_eq!(told, [expected]);
}

/// A warning is told with the value that gives it, not with that of another key, and not once more if it has been shown.
#[test]
fn a_warning_names_the_value_that_gives_it() {
    let plan = plan(
        "[vary]\n'flight.duration' = { values = [1, 2] }\n'flight.relative' = { values = [true, false] }",
    )
    .unwrap();
    let warns = |all: &[Assignment]| {
        let has = |key: &str, value: &str| {
            (all.iter()).any(|one| one.key == key && variation::shown(one) == value)
        };
        tracing::warn!("of every flight");
        if has("flight.relative", "true") {
            tracing::warn!("relative");
        }
        if has("flight.duration", "2") && has("flight.relative", "true") {
            tracing::warn!("both");
        }
        Ok(())
    };
    assert_eq!(
        plan.checked(&warns).unwrap(),
        [
            "with `flight.relative` = true: relative",
            "with `flight.duration` = 2, `flight.relative` = true: both",
        ]
    );
}

/// Of a text for every value a few are told.
#[test]
fn warnings_about_varied_values_are_bounded() {
    let plan = plan("[vary]\n'flight.duration' = { values = [1, 2, 3, 4, 5, 6, 7] }").unwrap();
    let warns = |all: &[Assignment]| {
        let values = all.iter().filter(|one| one.key == "flight.duration");
        for value in values.map(variation::shown) {
            tracing::warn!("short: {value} s");
        }
        Ok(())
    };
    let told = plan.checked(&warns).unwrap();
    assert_eq!(told.len(), 6);
    assert_eq!(told[0], "with `flight.duration` = 1: short: 1 s");
    assert_eq!(told[5], "there are more warnings about varied values");
}
