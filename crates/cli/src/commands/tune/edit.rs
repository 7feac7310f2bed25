//! Writes parameters to a configuration and leaves everything else unchanged.

use std::collections::BTreeMap;
use std::path::Path;

use fly_control::settings::{
    ApproachSettings, ControllerSettings, EnergySettings, GainSettings, LqrSettings, Moment,
    Numbers, PairSettings, PoleSettings, SecondMomentSettings, TransportSettings,
    VehiclePoleSettings, YawSettings,
};
use fly_mechanics::description::read_text;
use nalgebra::{Complex, Matrix3};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::replace::replace;
use crate::config::{self, Diagnostic, Model};
use crate::exit::{Exit, Failure};

/// The parts to replace.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    /// Pairs, poles or gains.
    pub parameters: bool,
    /// The bandwidth of the disturbance observer.
    pub observer: bool,
    /// The approach, which the parameters bring with them.
    pub approach: bool,
}

/// Replaces the parts of the file's controller that have changed; `model` is what was tuned, unless that is this file.
///
/// # Errors
/// The file is not a configuration that can hold these parameters of this model, or it cannot be read or replaced; it is
/// then unchanged.
pub fn write(
    file: &Path,
    model: Option<&Model>,
    settings: &ControllerSettings,
    changes: Changes,
) -> Result<(), Failure> {
    let name = file.display();
    let failed = |what: &str, why: &dyn std::fmt::Display| {
        Failure::new(
            Exit::Internal,
            format_args!("cannot {what} `{name}`: {why}"),
        )
    };
    let text = read_text(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(
            Exit::Usage,
            format_args!(
                "the configuration `{name}` does not exist\n\nMake one first: fly configs quadcopter.toml > {name}"
            ),
        ),
        _ => failed("read", &error),
    })?;
    // An existing error is reported at its place in the user's text.
    config::check_sections(file, &text)?;
    if let Some(model) = model {
        model.check_same(file, &text, changes.approach)?;
    }
    let mut document: DocumentMut = text.parse().map_err(|error| failed("read", &error))?;
    if put_settings(&mut document, settings, changes).is_none() {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "`controller` in `{name}` has the wrong type: expected a table [controller]"
            ),
        ));
    }
    let text = document.to_string();
    let found = config::controller_in(file, &text)?;
    let parameters = |settings: &ControllerSettings| {
        let ControllerSettings {
            pairs,
            poles,
            gains,
            lqr,
            disturbance,
            ..
        } = settings.clone();
        let parameters = changes.parameters.then_some((pairs, poles, gains, lqr));
        (parameters, changes.observer.then_some(disturbance))
    };
    if parameters(&found) != parameters(settings) {
        let diagnostic = Diagnostic::new(format!("the parameters do not fit into `{name}`"))
            .note("the text read back differs from the text written")
            .help("write `[controller]` as a table of its own");
        return Err(Failure::diagnosed(Exit::Internal, diagnostic));
    }
    let bytes = std::fs::read(file).map_err(|error| failed("read", &error))?;
    let text = with_marks_of(&bytes, text);
    replace(file, &text).map_err(|error| failed("replace", &error))
}

/// The text with the line ends of `before`, and its byte order mark: some editors write both.
fn with_marks_of(before: &[u8], text: String) -> String {
    let lines = || before.split_inclusive(|byte| *byte == b'\n');
    let returns = lines().filter(|line| line.ends_with(b"\r\n")).count();
    let mut text = if 2 * returns > lines().count() {
        text.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        text
    };
    if before.starts_with("\u{feff}".as_bytes()) {
        text.insert(0, '\u{feff}');
    }
    text
}

/// The parameters as they would appear in `[controller]`, as data.
pub fn as_json(settings: &ControllerSettings) -> serde_json::Value {
    let mut document = DocumentMut::new();
    let changes = Changes {
        parameters: true,
        observer: true,
        approach: true,
    };
    put_settings(&mut document, settings, changes);
    let read: Option<serde_json::Value> = toml::from_str(&document.to_string()).ok();
    read.map_or(serde_json::Value::Null, |mut all| all["controller"].take())
}

fn put_settings(
    document: &mut DocumentMut,
    settings: &ControllerSettings,
    changes: Changes,
) -> Option<()> {
    let controller = table(document.as_table_mut(), "controller")?;
    if let (true, Some(bandwidth)) = (changes.observer, settings.observer()) {
        let observed = table(controller, "disturbance")?;
        put(observed, "bandwidth", bandwidth);
    }
    if !changes.parameters {
        return Some(());
    }
    for (key, given) in [
        ("lqr", settings.lqr.is_some()),
        ("pairs", !settings.pairs.is_empty()),
        ("poles", settings.poles.is_some()),
        ("gains", !settings.gains.is_empty()),
    ] {
        if !given {
            controller.remove(key);
        }
    }
    match &settings.poles {
        Some(PoleSettings::Vehicle(poles)) => put_poles(table(controller, "poles")?, poles)?,
        Some(PoleSettings::List(poles)) => put_list(controller, poles),
        None => {}
    }
    let approach = settings.approach.name();
    let before = controller.get("approach").and_then(Item::as_str);
    if before.unwrap_or(ApproachSettings::default().name()) != approach {
        put(controller, "approach", approach);
    }
    if let Some(lqr) = &settings.lqr {
        // It has no transport map.
        controller.remove("transport");
        put_lqr(table(controller, "lqr")?, lqr)?;
    }
    if !settings.gains.is_empty() {
        put_gains(table(controller, "gains")?, &settings.gains)?;
    }
    if controller.contains_key("transport")
        && let Some(TransportSettings::Joint) = settings.transport
    {
        put(controller, "transport", "joint");
    }
    make_pairs(controller, settings.pairs.len());
    for (index, pair) in settings.pairs.iter().enumerate() {
        put_pair(pair_table(controller, index)?, pair)?;
    }
    Some(())
}

/// All poles of state feedback.
fn put_list(controller: &mut dyn TableLike, poles: &[Complex<f64>]) {
    let pole = |pole: &Complex<f64>| match pole.im {
        0.0 => Value::from(pole.re),
        im => Value::Array([pole.re, im].into_iter().collect()),
    };
    put(
        controller,
        "poles",
        poles.iter().map(pole).collect::<Array>(),
    );
}

fn put_lqr(table: &mut dyn TableLike, lqr: &LqrSettings) -> Option<()> {
    for (key, joints) in [("errors", &lqr.errors), ("rates", &lqr.rates)] {
        if joints.is_empty() {
            table.remove(key);
            continue;
        }
        let table = inline(table, key)?;
        let old: Vec<String> = table.iter().map(|(joint, _)| joint.to_owned()).collect();
        for joint in old.iter().filter(|joint| !joints.contains_key(*joint)) {
            table.remove(joint);
        }
        for (joint, numbers) in joints {
            put_one_or_each(table, joint, numbers);
        }
    }
    match &lqr.inputs {
        Some(inputs) => put_one_or_each(table, "inputs", inputs),
        None => {
            table.remove("inputs");
        }
    }
    Some(())
}

fn put_one_or_each(table: &mut dyn TableLike, key: &str, numbers: &Numbers) {
    match numbers {
        Numbers::One(number) => put(table, key, *number),
        Numbers::Each(numbers) => put_numbers(table, key, numbers),
    }
}

fn put_gains(table: &mut dyn TableLike, gains: &BTreeMap<String, GainSettings>) -> Option<()> {
    let old: Vec<String> = table.iter().map(|(joint, _)| joint.to_owned()).collect();
    for joint in old.iter().filter(|joint| !gains.contains_key(*joint)) {
        table.remove(joint);
    }
    for (joint, gains) in gains {
        let table = inline(table, joint)?;
        for (key, numbers) in [
            ("stiffness", Some(&gains.stiffness)),
            ("damping", Some(&gains.damping)),
            ("inertia", gains.inertia.as_ref()),
        ] {
            if let Some(numbers) = numbers {
                put_one_or_each(table, key, numbers);
            }
        }
    }
    Some(())
}

fn put_poles(table: &mut dyn TableLike, poles: &VehiclePoleSettings) -> Option<()> {
    for (key, numbers) in [
        ("horizontal", poles.horizontal),
        ("polynomial", poles.polynomial),
    ] {
        match numbers {
            Some(numbers) => put_numbers(table, key, &numbers),
            None => {
                table.remove(key);
            }
        }
    }
    match poles.mass {
        Some(mass) => put(table, "mass", mass),
        None => {
            table.remove("mass");
        }
    }
    let YawSettings {
        inertia,
        damping,
        stiffness,
    } = poles.yaw;
    let yaw = inline(table, "yaw")?;
    for (key, number) in [
        ("inertia", inertia),
        ("damping", damping),
        ("stiffness", stiffness),
    ] {
        put(yaw, key, number);
    }
    Some(())
}

fn put_pair(table: &mut dyn TableLike, pair: &PairSettings) -> Option<()> {
    if table.contains_key("from") || pair.from != "world" {
        put(table, "from", pair.from.as_str());
    }
    put(table, "to", pair.to.as_str());
    for (key, moment) in [
        ("stiffness", &pair.stiffness),
        ("damping", &pair.damping),
        ("inertia", &pair.inertia),
    ] {
        match moment {
            EnergySettings::Number(number) => put(table, key, *number),
            EnergySettings::Moments(moments) => put_moment(inline(table, key)?, moments),
            EnergySettings::Matrix(matrix) => {
                let rows = matrix.row_iter();
                let rows = rows.map(|row| row.iter().copied().collect::<Array>());
                let energy = inline(table, key)?;
                for other in ["weight", "center", "moment", "moment_about_origin"] {
                    energy.remove(other);
                }
                put(energy, "matrix", rows.collect::<Array>());
            }
        }
    }
    Some(())
}

fn put_moment(table: &mut dyn TableLike, moment: &SecondMomentSettings) {
    put(table, "weight", moment.weight.unwrap_or(0.0));
    if moment.center != [0.0; 3] || table.contains_key("center") {
        put_numbers(table, "center", &moment.center);
    }
    table.remove("moment_about_origin");
    table.remove("matrix");
    let about = match moment.moment {
        Some(Moment::Matrix(about)) => about,
        Some(Moment::AboutAxis(number)) => {
            put(table, "moment", number);
            return;
        }
        None => {
            table.remove("moment");
            return;
        }
    };
    if about == Matrix3::from_diagonal(&about.diagonal()) {
        put_numbers(table, "moment", about.diagonal().as_slice());
    } else {
        let rows = about
            .row_iter()
            .map(|row| row.iter().copied().collect::<Array>());
        put(table, "moment", rows.collect::<Array>());
    }
}

/// Keeps the pairs with their comments if their number matches, else replaces them by new ones.
fn make_pairs(controller: &mut dyn TableLike, count: usize) {
    let found = match controller.get("pairs") {
        Some(Item::ArrayOfTables(tables)) => tables.len(),
        Some(Item::Value(Value::Array(array))) => array.len(),
        _ => 0,
    };
    if found != count {
        let pairs: ArrayOfTables = (0..count).map(|_| Table::new()).collect();
        controller.insert("pairs", Item::ArrayOfTables(pairs));
    }
}

fn pair_table(controller: &mut dyn TableLike, index: usize) -> Option<&mut dyn TableLike> {
    match controller.get_mut("pairs")? {
        Item::ArrayOfTables(tables) => {
            (tables.get_mut(index)).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(Value::Array(array)) => (array.get_mut(index)?)
            .as_inline_table_mut()
            .map(|table| table as &mut dyn TableLike),
        _ => None,
    }
}

/// The table at this key; creates it if it is missing.
fn table<'a>(above: &'a mut dyn TableLike, key: &str) -> Option<&'a mut dyn TableLike> {
    above
        .entry(key)
        .or_insert_with(|| Item::Table(Table::new()))
        .as_table_like_mut()
}

/// The table at this key; creates an inline table if it is missing, or replaces a value that is not a table.
fn inline<'a>(above: &'a mut dyn TableLike, key: &str) -> Option<&'a mut dyn TableLike> {
    if above.get(key).is_some_and(|item| !item.is_table_like()) {
        above.remove(key);
    }
    above
        .entry(key)
        .or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())))
        .as_table_like_mut()
}

/// Sets a value and keeps its comment and spacing; leaves an equal value as it is written.
fn put(table: &mut dyn TableLike, key: &str, value: impl Into<Value>) {
    let value = value.into();
    match table.get_mut(key) {
        Some(Item::Value(old)) => replace_value(old, value),
        _ => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Sets an array of numbers, element by element if there is one of the same length.
fn put_numbers(table: &mut dyn TableLike, key: &str, numbers: &[f64]) {
    match table.get_mut(key).and_then(Item::as_array_mut) {
        Some(array) if array.len() == numbers.len() => {
            for (old, new) in array.iter_mut().zip(numbers) {
                replace_value(old, Value::from(*new));
            }
        }
        _ => put(table, key, numbers.iter().copied().collect::<Array>()),
    }
}

fn replace_value(old: &mut Value, mut new: Value) {
    let number = |value: &Value| match value {
        #[allow(clippy::cast_precision_loss)] // only compared
        Value::Integer(number) => Some(*number.value() as f64),
        Value::Float(number) => Some(*number.value()),
        _ => None,
    };
    if number(old).is_some() && number(old) == number(&new) {
        return;
    }
    *new.decor_mut() = old.decor().clone();
    *old = new;
}
