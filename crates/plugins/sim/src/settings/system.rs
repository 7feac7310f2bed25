//! The simulated system.

use fly_hal::Spanned;
use fly_hal::{Error, nearest};
use fly_mechanics::System;
use fly_mechanics::description::DescriptionError;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::BodyId;
use toml::de::DeValue;

use super::contact::longest_step;
use super::correspondence;
use super::variant::Variant;
use crate::contacts::Contacts;
use crate::plant::{Plant, Start};

/// The system in the plugin's own table, or else the controller's.
pub(super) fn read(own: Option<&toml::Spanned<DeValue>>, vehicle: &str) -> Result<System, Error> {
    let Some(table) = own else {
        return System::from_toml(vehicle)
            .map_err(|error| described(&error).in_vehicle(error.span.clone()));
    };
    let span = table.span();
    let DeValue::Table(entries) = table.get_ref() else {
        let found = table.get_ref().type_str();
        return Err(
            Error::configuration(format!("`vehicle`: expected a table, found {found}"))
                .in_configuration(span),
        );
    };
    let read = System::from_table(entries, span).map_err(|error| {
        let mut ours = described(&error);
        ours.message.insert_str(
            0,
            if error.path.is_empty() {
                "vehicle: "
            } else {
                "vehicle."
            },
        );
        ours.in_configuration(error.span.clone())
    });
    if let (Ok(plant), Ok(model)) = (&read, System::from_toml(vehicle)) {
        for doubt in correspondence::doubts(plant, &model) {
            tracing::warn!("{doubt}");
        }
    }
    read
}

fn described(error: &DescriptionError) -> Error {
    let ours = Error::configuration(error.to_string());
    match &error.help {
        Some(help) => ours.with_help(help),
        None => ours,
    }
}

/// The body whose pose and twist are measured in the world: the one of this name, or the only free one, if there is one.
pub(super) fn tracked_body(
    system: &System,
    name: Option<&Spanned<String>>,
) -> Result<Option<BodyId>, Error> {
    let Some(name) = name else {
        return Ok(Measurements::tracked(&system.model));
    };
    let free = free_bodies(system);
    let found = (free.iter()).find(|(_, free)| free == name.get_ref());
    if let Some((body, _)) = found {
        return Ok(Some(*body));
    }
    let names: Vec<&str> = free.into_iter().map(|(_, name)| name).collect();
    let expected = match names.as_slice() {
        [] => format!(
            "but `{}` has none: its bodies are measured in their joints",
            system.name
        ),
        _ => format!("one of `{}`", names.join("`, `")),
    };
    let message = format!(
        "expected a free body, {expected}; found `{}`",
        name.get_ref()
    );
    let error = Error::configuration(message).in_configuration(name.span());
    Err(match nearest(name.get_ref(), names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    })
}

/// The bodies that may be tracked, with their names.
pub(super) fn free_bodies(system: &System) -> Vec<(BodyId, &str)> {
    let model = &system.model;
    let free = (model.bodies()).filter(|body| Measurements::is_free(model, *body));
    free.map(|body| (body, model.name(body))).collect()
}

/// How a plant begins, and what it may touch.
pub(super) struct InitialState {
    pub(super) motion: SystemState<f64>,
    pub(super) start: Start,
    /// Of the battery, 0 to 1.
    pub(super) charge: f64,
    pub(super) contacts: Contacts,
}

/// The most steps from one frame to the next.
pub(super) const MOST_SUBSTEPS: f64 = 1000.0;
/// Integration steps per control step, where none are given.
pub(super) const SUBSTEPS: u32 = 2;

pub(super) fn plant(
    system: System,
    initial: InitialState,
    substeps: Option<&Spanned<u32>>,
    rate_hz: f64,
    (releases, variants): (&[(f64, System, String)], &[Variant]),
) -> Result<Plant, Error> {
    let InitialState {
        motion,
        start,
        charge,
        contacts,
    } = initial;
    let count = substeps.map_or(SUBSTEPS, |given| *given.get_ref());
    // The default has no location.
    let placed = |error: Error| match substeps {
        Some(given) => error.in_configuration(given.span()),
        None => error,
    };
    if !(1..=1000).contains(&count) {
        let message = format!("expected 1 to 1000 substeps, found {count}");
        return Err(placed(Error::configuration(message)));
    }
    let step = 1.0 / rate_hz / f64::from(count);
    // With steps above 2.78 time constants the scheme diverges; at 1 it errs by one per cent.
    let shortest = system
        .inputs
        .time_constants()
        .iter()
        .copied()
        .filter(|tau| *tau > 0.0)
        .fold(f64::INFINITY, f64::min);
    if step > shortest {
        let needed = (1.0 / rate_hz / shortest).ceil();
        let message = format!(
            "expected simulation steps no longer than the shortest time constant of an actuator, {shortest:?} s, found {step} s"
        );
        let help = if needed > MOST_SUBSTEPS {
            "take 0, an actuator without lag, for one that is so much faster than the flight"
                .to_owned()
        } else {
            format!("`substeps = {needed}` is enough")
        };
        return Err(placed(Error::configuration(message).with_help(help)));
    }
    let steps = variants.iter().map(|variant| {
        let (longest, of) = longest_step(variant, &contacts);
        (longest, of, variant.by.as_str())
    });
    let shortest = steps.min_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let (longest, of, by) = shortest.unwrap_or((f64::INFINITY, "", ""));
    if step > longest {
        let needed = (1.0 / rate_hz / longest).ceil();
        let message = format!(
            "expected simulation steps of at most {longest:.3e} s for the stiffness and damping of {of}{by}, found {step} s"
        );
        let help = if needed > MOST_SUBSTEPS {
            "they are too stiff for the masses that move on them".to_owned()
        } else {
            format!("`substeps = {needed}` is enough; so is less stiffness or damping")
        };
        return Err(placed(Error::configuration(message).with_help(help)));
    }
    let name = system.name.clone();
    Plant::new(
        system,
        motion,
        start,
        [charge, step],
        &contacts,
        count,
        releases,
    )
    .map_err(|error| Error::configuration(format!("`{name}` cannot be simulated: {error}")))
}
