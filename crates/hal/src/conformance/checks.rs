//! The checks, in the order in which they run.

use super::resources::Held;
use super::trial::{Stop, Tick, Watch, commands, configure, difference, failed, fly, start};
use super::{Outcome, Setup};
use crate::{
    Clock, Deadline, Error, ErrorKind, Instance, Location, Plugin, ReadOutcome, Text, signal,
};

/// A check.
pub(super) type Function = fn(&Plugin, &Setup) -> Outcome;

/// The check without which the others would tell nothing.
pub(super) const DESCRIBES: &str = "describes canonical signals";

/// All checks, named by what a correct plugin does.
pub(super) const ALL: &[(&str, Function)] = &[
    ("reports its name and version", |plugin, _| {
        outcome(information(plugin))
    }),
    (DESCRIBES, |plugin, setup| {
        outcome(description(plugin, setup))
    }),
    ("rejects invalid configurations", |plugin, setup| {
        outcome(nonsense(plugin, setup))
    }),
    (
        "rejects reads and writes before the start",
        |plugin, setup| outcome(before_start(plugin, setup)),
    ),
    ("reads and writes in time and in order", |plugin, setup| {
        outcome(flight(plugin, setup))
    }),
    ("is deterministic, bit for bit", |plugin, setup| {
        outcome(determinism(plugin, setup))
    }),
    ("survives invalid commands", |plugin, setup| {
        outcome(bad_commands(plugin, setup))
    }),
    ("stays stopped, even if stopped twice", |plugin, setup| {
        outcome(stop(plugin, setup))
    }),
    ("keeps instances independent", |plugin, setup| {
        outcome(instances(plugin, setup))
    }),
    ("releases all resources", |plugin, setup| {
        outcome(cycles(plugin, setup))
    }),
];

type Result = std::result::Result<(), Stop>;

fn outcome(result: Result) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(Stop(outcome)) => outcome,
    }
}

fn information(plugin: &Plugin) -> Result {
    let info = plugin.info();
    for (what, text) in [("version", &info.version), ("summary", &info.summary)] {
        if text.trim().is_empty() {
            return Err(format!("it has no {what}").into());
        }
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if !info.name.chars().all(plain) {
        return Err(format!(
            "expected a name of a-z, 0-9, _ and -, found `{}`",
            info.name
        )
        .into());
    }
    match info.signals.iter().find(|pattern| !known_pattern(pattern)) {
        Some(pattern) => Err(format!("no canonical signal matches its pattern `{pattern}`").into()),
        None => Ok(()),
    }
}

/// Whether a pattern, with `*` for any last component and `{i}` for any index, matches a canonical signal.
fn known_pattern(pattern: &str) -> bool {
    let sample = pattern.replace("{i}", "0");
    match sample.strip_suffix(".*") {
        None => signal::meaning(&sample).is_some(),
        Some(signal::RECORDED | signal::TRUTH) => true,
        Some(group) => {
            let within = |row: &signal::Canonical| {
                let row = row.group.replace("{i}", "0");
                row == group || row.starts_with(&format!("{group}."))
            };
            let group_of_recorded = group.strip_prefix("recorded.");
            signal::TABLE.iter().any(within)
                || group_of_recorded.is_some_and(|group| group.starts_with("rotor."))
        }
    }
}

fn description(plugin: &Plugin, setup: &Setup) -> Result {
    let instance = configure(plugin, setup)?;
    let description = instance.description();
    let faults = description.faults();
    if !faults.is_empty() {
        return Err(faults.join("; ").into());
    }
    if description.frame_signals().next().is_none() {
        return Err(String::from("it provides no signals").into());
    }
    let again = configure(plugin, setup)?;
    if again.description() != description {
        return Err(
            String::from("a second instance of the same configuration has other signals").into(),
        );
    }
    Ok(())
}

fn nonsense(plugin: &Plugin, setup: &Setup) -> Result {
    let long = format!("key = \"{}\"", "x".repeat(1 << 16));
    for text in [
        "][",
        "no_such_key_exists = 1",
        "\u{0}\u{1}\u{7f}",
        "[[a]]\nb = {",
        long.as_str(),
    ] {
        let shown = text.get(..30).unwrap_or(text).escape_debug();
        let Err(error) = plugin.configure(&setup.with(text)).map(drop) else {
            return Err(format!("`{shown}` is accepted as a configuration").into());
        };
        if error.kind != ErrorKind::Configuration {
            return Err(format!(
                "expected an error about the configuration `{shown}`, found: {error}"
            )
            .into());
        }
        if let Some(Location {
            text: Text::Configuration,
            span,
        }) = &error.location
            && text.get(span.clone()).is_none()
        {
            return Err(format!(
                "the error about `{shown}` points at the bytes {span:?}, which are outside it"
            )
            .into());
        }
    }
    Ok(())
}

/// The call must be refused. A panic is not a refusal.
fn refused<T>(doing: &str, result: std::result::Result<T, Error>) -> Result {
    match result {
        Ok(_) => Err(format!("{doing} is accepted").into()),
        Err(error) if error.kind == ErrorKind::Panic => Err(failed(doing)(error)),
        Err(_) => Ok(()),
    }
}

fn before_start(plugin: &Plugin, setup: &Setup) -> Result {
    let mut instance = configure(plugin, setup)?;
    let mut frame = instance.description().frame();
    refused(
        "read before start",
        instance.read(Deadline::NOW, &mut frame),
    )?;
    let commands = commands(&instance, 0);
    refused("write before start", instance.write(0, &commands))?;
    instance.stop().map_err(failed("stop before start"))
}

fn flight(plugin: &Plugin, setup: &Setup) -> Result {
    let mut instance = start(plugin, setup)?;
    let ticks = fly(&mut instance, setup)?;
    if plugin.info().clock == Clock::Stepped {
        let fresh: Vec<_> = (ticks.iter())
            .filter(|tick| tick.outcome == ReadOutcome::Fresh)
            .collect();
        let Some(first) = fresh.first() else {
            return Err(format!("{} reads returned no fresh frame", ticks.len()).into());
        };
        if (fresh.iter()).all(|tick| tick.groups.iter().all(|(_, valid)| !valid)) {
            return Err(
                String::from("no group was ever valid: set `valid` with the values").into(),
            );
        }
        let stamps = |tick: &Tick| tick.groups.iter().map(|group| group.0).collect::<Vec<_>>();
        if fresh.len() > 1 && fresh.iter().all(|tick| stamps(tick) == stamps(first)) {
            return Err(String::from(
                "no group was ever stamped anew: set `stamp` with the values",
            )
            .into());
        }
    }
    instance.report();
    instance.stop().map_err(failed("stop"))
}

fn determinism(plugin: &Plugin, setup: &Setup) -> Result {
    if plugin.info().clock == Clock::RealTime {
        return Err(Stop(Outcome::Skipped("its clock is real time".into())));
    }
    let (mut one, mut two) = (start(plugin, setup)?, start(plugin, setup)?);
    let (first, second) = (fly(&mut one, setup)?, fly(&mut two, setup)?);
    match difference(&one, &first, &second) {
        Some(difference) => {
            Err(format!("two runs with the same seed and commands differ: {difference}").into())
        }
        None => Ok(()),
    }
}

fn bad_commands(plugin: &Plugin, setup: &Setup) -> Result {
    let mut instance = start(plugin, setup)?;
    let mut watch = Watch::new(&instance, setup);
    watch.tick(&mut instance)?;
    let time = watch.frame.time;
    let good = commands(&instance, 0);
    let count = good.len();
    // The buffer is longer than the count, so that a plugin that ignores the count still reads valid memory.
    let mut room = good.clone();
    room.resize(count + 8, 1.0);
    for wrong in [count + 1, count + 7]
        .into_iter()
        .chain(count.checked_sub(1))
    {
        refused(
            &format!("a write of {wrong} instead of {count} commands"),
            instance.write(time, &room[..wrong]),
        )?;
    }
    'values: for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        for index in 0..count {
            let mut commands = good.clone();
            commands[index] = bad;
            if let Err(error) = instance.write(time, &commands)
                && error.kind == ErrorKind::Panic
            {
                return Err(failed(&format!("a write of {bad}"))(error));
            }
            // The plugin may have rejected or accepted the commands; its measurements must stay valid.
            if watch.tick(&mut instance).map_err(after_bad_commands)? == ReadOutcome::End {
                break 'values;
            }
        }
    }
    instance.stop().map_err(failed("stop"))
}

fn after_bad_commands(Stop(outcome): Stop) -> Stop {
    Stop(match outcome {
        Outcome::Failed(why) => {
            Outcome::Failed(format!("after commands that are not finite: {why}"))
        }
        other => other,
    })
}

fn stop(plugin: &Plugin, setup: &Setup) -> Result {
    let mut instance = start(plugin, setup)?;
    refused("a second start", instance.start())?;
    let mut watch = Watch::new(&instance, setup);
    watch.tick(&mut instance)?;
    instance.stop().map_err(failed("stop"))?;
    instance.stop().map_err(failed("a second stop"))?;
    let commands = commands(&instance, 0);
    refused(
        "read after stop",
        instance.read(Deadline::NOW, &mut watch.frame),
    )?;
    refused(
        "write after stop",
        instance.write(watch.frame.time, &commands),
    )
}

/// Instances that run at the same time do not affect each other.
fn instances(plugin: &Plugin, setup: &Setup) -> Result {
    let stepped = plugin.info().clock == Clock::Stepped;
    if !stepped {
        // Two links to one vehicle may exclude each other; two configurations must not.
        let _several = [
            configure(plugin, setup)?,
            configure(plugin, setup)?,
            configure(plugin, setup)?,
        ];
        return Ok(());
    }
    let alone = fly(&mut start(plugin, setup)?, setup)?;
    let mut several: Vec<(Instance, Watch, Vec<_>)> = (0..3)
        .map(|_| {
            let instance = start(plugin, setup)?;
            let watch = Watch::new(&instance, setup);
            Ok((instance, watch, Vec::new()))
        })
        .collect::<std::result::Result<_, Stop>>()?;
    for _ in 0..alone.len() {
        for (instance, watch, ticks) in &mut several {
            let outcome = watch.tick(instance)?;
            ticks.push(watch.bits(outcome));
        }
    }
    for (instance, _, ticks) in &several {
        if let Some(difference) = difference(instance, &alone, ticks) {
            return Err(
                format!("an instance beside others differs from one alone: {difference}").into(),
            );
        }
    }
    Ok(())
}

fn cycles(plugin: &Plugin, setup: &Setup) -> Result {
    const CYCLES: usize = 40;
    let starts = match start(plugin, setup) {
        Ok(_) => true,
        Err(Stop(Outcome::Skipped(_))) => false,
        Err(stop) => return Err(stop),
    };
    let cycle = |index: usize| -> Result {
        if !starts {
            return configure(plugin, setup).map(drop);
        }
        let mut instance = start(plugin, setup)?;
        Watch::new(&instance, setup).tick(&mut instance)?;
        // Every second instance is dropped while running.
        if index.is_multiple_of(2) {
            instance.stop().map_err(failed("stop"))
        } else {
            Ok(())
        }
    };
    // The first ones may fill permanent caches, and other threads of this process may look like a leak once, but not
    // three times in a row.
    (0..10).try_for_each(cycle)?;
    let mut leaked = None;
    for _ in 0..3 {
        let before = Held::now();
        (0..CYCLES).try_for_each(cycle)?;
        let (Some(before), Some(after)) = (before, Held::now()) else {
            return Err(Stop(Outcome::Skipped("this system has no /proc".into())));
        };
        leaked = after.leaked_since(before, CYCLES);
        if leaked.is_none() {
            return Ok(());
        }
    }
    leaked.map_or(Ok(()), |leaked| Err(leaked.into()))
}

#[cfg(test)]
mod tests {
    use super::known_pattern;

    #[test]
    fn patterns() {
        for known in [
            "pose.position.*",
            "pose.*",
            "rotor.{i}.thrust",
            "rotor.{i}.*",
            "recorded.*",
            "setpoint.*",
            "battery.voltage",
        ] {
            assert!(known_pattern(known), "{known}");
        }
        for unknown in [
            "pose",
            "position.*",
            "*",
            "rotor.thrust",
            "engine.{i}.*",
            "recorded.pose.*",
        ] {
            assert!(!known_pattern(unknown), "{unknown}");
        }
    }
}
