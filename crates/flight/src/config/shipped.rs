//! The configurations inside the executable, found by name from any folder.

/// A configuration of `configs/`: its name below that folder, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// For example `tricopter.toml` or `vehicles/tricopter.toml`.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

impl Shipped {
    /// Its title: the first comment below the schema line.
    pub fn title(&self) -> &'static str {
        let mut lines = self.text.lines().filter(|line| !line.starts_with("#:"));
        let first = lines.next().and_then(|line| line.strip_prefix('#'));
        first.unwrap_or_default().trim()
    }
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../../../../configs/", $name)) }),*]
    };
}

/// Every file below `configs/`. A test compares this list with the folder.
pub const SHIPPED: &[Shipped] = shipped![
    "baselines/gimbal-computed-torque.toml",
    "baselines/gimbal-pair.toml",
    "baselines/pi-joint-pd.toml",
    "baselines/pi-pair.toml",
    "baselines/tilt-energy.toml",
    "baselines/tilt-state-feedback.toml",
    "baselines/two-link-joint-pd.toml",
    "baselines/two-link-pairs.toml",
    "coaxial_x8.toml",
    "examples/acrobot.toml",
    "examples/arm-joints.toml",
    "examples/arm-tool.toml",
    "examples/arm-two-motors.toml",
    "examples/bicopter-hover.toml",
    "examples/cart-pole.toml",
    "examples/differential-drive.toml",
    "examples/double-pendulum-absolute.toml",
    "examples/double-pendulum-relative.toml",
    "examples/orientation.toml",
    "examples/planar-spinning.toml",
    "examples/planar.toml",
    "examples/prismatic.toml",
    "examples/pvtol.toml",
    "examples/quadcopter-delay.toml",
    "examples/quadcopter-estimated.toml",
    "examples/quadcopter-hover.toml",
    "examples/quadcopter-sensors.toml",
    "examples/quadcopter-take-off.toml",
    "examples/quadcopter-wind.toml",
    "examples/revolute.toml",
    "examples/scara-joints.toml",
    "examples/scara-tool.toml",
    "examples/tricopter-axes.toml",
    "examples/tricopter-drop.toml",
    "examples/tricopter-eight-bodies.toml",
    "examples/tricopter-pitching.toml",
    "examples/tricopter-tilting-arms.toml",
    "examples/two-masses.toml",
    "fleets/carried-load.toml",
    "fleets/side-by-side.toml",
    "hexacopter.toml",
    "hexacopter_canted.toml",
    "octocopter.toml",
    "octocopter_canted.toml",
    "quadcopter-loop.toml",
    "quadcopter-upside-down.toml",
    "quadcopter.toml",
    "sweeps/quadcopter.toml",
    "systems/acrobot.toml",
    "systems/arm6.toml",
    "systems/arm_two_motors.toml",
    "systems/cart_pole.toml",
    "systems/differential_drive.toml",
    "systems/double_pendulum.toml",
    "systems/double_pendulum_driven.toml",
    "systems/four_bar.toml",
    "systems/scara.toml",
    "systems/scara_two_links.toml",
    "systems/tricopter_carrying.toml",
    "systems/tricopter_eight_bodies.toml",
    "systems/tricopter_tilting_arms.toml",
    "systems/tricopter_with_load.toml",
    "systems/welding_arm.toml",
    "tricopter-load.toml",
    "tricopter-tilted.toml",
    "tricopter.toml",
    "vehicles/bicopter.toml",
    "vehicles/coaxial_x8.toml",
    "vehicles/hexacopter.toml",
    "vehicles/hexacopter_canted.toml",
    "vehicles/hummingbird.toml",
    "vehicles/octocopter.toml",
    "vehicles/octocopter_canted.toml",
    "vehicles/quadcopter.toml",
    "vehicles/tricopter.toml",
    "vehicles/y6.toml",
    "y6.toml",
];

/// The shipped configurations that can be flown: all except vehicles, systems and campaign plans.
pub fn flights() -> impl Iterator<Item = &'static Shipped> + Clone {
    (SHIPPED.iter())
        .filter(|shipped| !is_system(shipped) && !is_sweep(shipped) && !is_fleet(shipped))
}

/// The shipped configurations with several vehicles.
pub fn fleets() -> impl Iterator<Item = &'static Shipped> + Clone {
    SHIPPED.iter().filter(|shipped| is_fleet(shipped))
}

fn is_fleet(shipped: &Shipped) -> bool {
    shipped.name.starts_with("fleets/")
}

/// The shipped campaign plans.
pub fn sweeps() -> impl Iterator<Item = &'static Shipped> + Clone {
    SHIPPED.iter().filter(|shipped| is_sweep(shipped))
}

/// The shipped systems and vehicles, which cannot be flown by themselves.
pub fn systems() -> impl Iterator<Item = &'static Shipped> + Clone {
    SHIPPED.iter().filter(|shipped| is_system(shipped))
}

fn is_sweep(shipped: &Shipped) -> bool {
    shipped.name.starts_with("sweeps/")
}

fn is_system(shipped: &Shipped) -> bool {
    ["systems/", "vehicles/"]
        .iter()
        .any(|folder| shipped.name.starts_with(folder))
}

/// Lists the names in a sentence, with the number of examples among them.
pub fn listed(all: impl Iterator<Item = &'static Shipped>) -> String {
    let names = all.map(|one| one.name);
    let (examples, others): (Vec<_>, Vec<_>) =
        names.partition(|name| name.starts_with("examples/") || name.starts_with("baselines/"));
    let names = others.join(", ");
    match examples.len() {
        0 => names,
        count => format!("{names}, and {count} examples: `fly configs` lists them"),
    }
}

/// The shipped configuration of this name; `.toml` may be left out.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED
        .iter()
        .find(|shipped| shipped.name == name || shipped.name.strip_suffix(".toml") == Some(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::SHIPPED;

    fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                collect(&entry.path(), &format!("{name}/"), names);
            } else if entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                names.push(name);
            }
        }
    }

    #[test]
    fn every_file_of_configs_is_shipped() {
        let mut names = Vec::new();
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs"),
            "",
            &mut names,
        );
        names.sort();
        let shipped: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        assert_eq!(names, shipped);
    }
}
