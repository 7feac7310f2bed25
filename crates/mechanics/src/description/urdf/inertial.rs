//! `<inertial>`.

use std::collections::HashMap;

use fly_lie::SE3;
use fly_lie::operators::vee_matrix3;
use nalgebra::{Matrix3, Vector3};

use super::joint::origin;
use super::tree::{Branch, Tree};
use super::xml::Element;
use super::{DescriptionError, NonPhysicalInertia, Problem, some};
use crate::text::short;
use crate::{InertiaError, PseudoInertia, SecondMoment};

/// What `<inertial>` says.
#[derive(Clone)]
struct Mass {
    /// In the link's frame.
    moment: SecondMoment<f64>,
    /// The centre of mass in the link's frame, m.
    center: Vector3<f64>,
    /// As a body by itself, if it is physical.
    alone: Result<PseudoInertia<f64>, InertiaError<f64>>,
}

impl Mass {
    fn new(moment: SecondMoment<f64>, center: Vector3<f64>) -> Self {
        Self {
            moment,
            center,
            alone: PseudoInertia::new(moment),
        }
    }

    /// Orders by mass; physical inertias come after all others.
    fn rank(&self) -> (bool, f64) {
        (self.alone.is_ok(), self.moment.weight())
    }

    /// Whether it is physical, or the limit of physical ones as extent or mass vanishes: a point, a rod, an inertia without mass.
    fn is_physical_limit(&self) -> bool {
        /// Relative, for moments written with few digits.
        const SLACK: f64 = 1e-9;
        let spread = spread(&self.moment);
        self.alone.is_ok() || spread.symmetric_eigenvalues().min() >= -SLACK * spread.amax()
    }
}

/// The inertia of every link.
///
/// The limit of physical inertias (a point mass, as sensors are described) counts on the heaviest link that is fixed to it, which
/// changes no motion. Everything else that is not physical is refused or raised.
pub(super) fn masses(
    tree: &Tree<'_>,
    branches: &[Branch<'_>],
    non_physical_inertia: NonPhysicalInertia,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<PseudoInertia<f64>>>, DescriptionError> {
    let mut masses = Vec::with_capacity(tree.links.len());
    for (name, link) in &tree.links {
        let mut mass = read(link)?;
        if let Some(mass) = mass.as_mut().filter(|mass| !mass.is_physical_limit()) {
            make_physical(mass, name, link, non_physical_inertia, notes)?;
        }
        masses.push(mass);
    }
    lump(&mut masses, tree, branches, notes)?;
    let mut inertias = Vec::with_capacity(masses.len());
    for (mass, (name, link)) in masses.iter_mut().zip(&tree.links) {
        inertias.push(match mass {
            Some(mass) => Some(make_physical(
                mass,
                name,
                link,
                non_physical_inertia,
                notes,
            )?),
            None => None,
        });
    }
    Ok(inertias)
}

/// Adds limits of physical inertias to the heaviest of the links that are fixed to them.
fn lump(
    masses: &mut [Option<Mass>],
    tree: &Tree<'_>,
    branches: &[Branch<'_>],
    notes: &mut Vec<String>,
) -> Result<(), DescriptionError> {
    let groups = groups(tree, branches)?;
    let mut carriers: HashMap<usize, usize> = HashMap::new();
    for (index, mass) in masses.iter().enumerate() {
        let Some(mass) = mass else { continue };
        let carrier = carriers.entry(groups[index].0).or_insert(index);
        if masses[*carrier]
            .as_ref()
            .is_none_or(|other| mass.rank() >= other.rank())
        {
            *carrier = index;
        }
    }
    let mut lumped = Vec::new();
    for index in 0..masses.len() {
        let (group, pose) = &groups[index];
        let Some(carrier) = carriers
            .get(group)
            .copied()
            .filter(|carrier| *carrier != index)
        else {
            continue;
        };
        let Some(limit) = masses[index].take_if(|mass| mass.alone.is_err()) else {
            continue;
        };
        let there = limit.moment.placed(&(groups[carrier].1.inverse() * *pose));
        if let Some(carrier) = &mut masses[carrier] {
            let sum = symmetric(&(carrier.moment + there));
            *carrier = Mass::new(sum, sum.center());
        }
        lumped.push(tree.links[index].0);
    }
    if !lumped.is_empty() {
        let names = some(&lumped);
        notes.push(format!(
            "point masses are added to the link to which they are fixed: {names}"
        ));
    }
    Ok(())
}

/// For every link, the first of those that fixed joints connect with it, and the link's pose there.
fn groups(
    tree: &Tree<'_>,
    branches: &[Branch<'_>],
) -> Result<Vec<(usize, SE3<f64>)>, DescriptionError> {
    let mut groups: Vec<_> = (0..tree.links.len())
        .map(|index| (index, SE3::identity()))
        .collect();
    // Parents before children.
    for branch in branches {
        if let Some((parent, joint)) = tree.fixed_to(branch.index)? {
            let (first, pose) = groups[parent];
            groups[branch.index] = (first, pose * origin(joint)?);
        }
    }
    Ok(groups)
}

/// `None` without mass and inertia.
fn read(link: &Element<'_>) -> Result<Option<Mass>, DescriptionError> {
    let Some(inertial) = link.child("inertial")? else {
        return Ok(None);
    };
    let mass_value = inertial.required("mass")?.attribute("value")?;
    let mass = mass_value.number()?;
    let tensor = inertial.required("inertia")?;
    let entry = |name: &str| tensor.attribute(name)?.number();
    let [xx, yy, zz] = [entry("ixx")?, entry("iyy")?, entry("izz")?];
    let entry = |name: &str| Ok(tensor.number(name)?.unwrap_or(0.0));
    let [xy, xz, yz] = [entry("ixy")?, entry("ixz")?, entry("iyz")?];
    let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    if mass < 0.0 {
        return Err(mass_value.error(InertiaError::MassNotPositive { mass }));
    }
    if mass == 0.0 && inertia == Matrix3::zeros() {
        return Ok(None);
    }
    // About the centre of mass, along the axes of the inertial's own frame: now along the link's.
    let pose = origin(&inertial)?;
    let R = pose.rotation.matrix();
    let turned = R * inertia * R.transpose();
    let turned = (turned + turned.transpose()) * 0.5;
    let moment = SecondMoment::from_center(mass, pose.translation, turned);
    if !moment.matrix4().iter().all(|number| number.is_finite()) {
        return Err(inertial.error(Problem::NotFinite("products that overflow".to_owned())));
    }
    // An error shows the numbers as they were written.
    let alone = PseudoInertia::from_center(mass, Vector3::zeros(), inertia)
        .and_then(|_| PseudoInertia::from_center(mass, pose.translation, turned));
    Ok(Some(Mass {
        moment,
        center: pose.translation,
        alone,
    }))
}

/// Without the rounding that makes a matrix of small moments look skew.
fn symmetric(moment: &SecondMoment<f64>) -> SecondMoment<f64> {
    let X = moment.matrix4();
    SecondMoment::from_matrix4((X + X.transpose()) * 0.5)
}

/// The second moments about the centre, kg m².
fn spread(moment: &SecondMoment<f64>) -> Matrix3<f64> {
    let spread = moment.second_about_center();
    (spread + spread.transpose()) * 0.5
}

fn refused(link: &Element<'_>, error: InertiaError<f64>) -> DescriptionError {
    let place = || link.required("inertial")?.required("inertia");
    match place() {
        Ok(place) => place.error(error).helped(Some(
            "`fly system --raise-inertias --toml` writes the system with the nearest possible moments, as `UrdfOptions::non_physical_inertia` reads it",
        )),
        Err(error) => error,
    }
}

/// The inertia of a link, raised if it is non-physical and that is wanted.
fn make_physical(
    mass: &mut Mass,
    name: &str,
    link: &Element<'_>,
    non_physical_inertia: NonPhysicalInertia,
    notes: &mut Vec<String>,
) -> Result<PseudoInertia<f64>, DescriptionError> {
    let error = match (mass.alone, non_physical_inertia) {
        (Ok(inertia), _) => return Ok(inertia),
        (Err(error), NonPhysicalInertia::Refuse) => {
            // A mass without extent has an inertia about a joint that swings it.
            let is_point = spread(&mass.moment).amax() == 0.0;
            let point = PseudoInertia::point_mass(mass.moment.weight(), mass.center);
            return point
                .ok()
                .filter(|_| is_point)
                .ok_or_else(|| refused(link, error));
        }
        (Err(error), NonPhysicalInertia::Raise) => error,
    };
    let (raised, change) = raise(mass, error).map_err(|error| refused(link, error))?;
    notes.push(format!(
        "the non-physical inertia of link `{name}` is raised: {change}"
    ));
    mass.moment = *raised.second_moment();
    mass.alone = Ok(raised);
    Ok(raised)
}

/// Raises the principal second moments until each is that of a mass with some extent: then the moments of inertia are positive, and none
/// exceeds the sum of the others. The largest one does not change if the triangle inequality alone was violated. A mass of zero becomes one
/// that is as good as none. Returns the inertia and what has changed, in words.
///
/// # Errors
/// Nothing is positive: `error`.
fn raise(
    mass: &Mass,
    error: InertiaError<f64>,
) -> Result<(PseudoInertia<f64>, String), InertiaError<f64>> {
    /// The radii of gyration between which a body's are, m.
    const EXTENT: [f64; 2] = [1e-4, 10.0];
    let mut eigen = spread(&mass.moment).symmetric_eigen();
    let before = eigen.eigenvalues;
    let weight = match mass.moment.weight() {
        weight if weight > 0.0 => weight,
        _ => before.max() / (EXTENT[1] * EXTENT[1]),
    };
    let least = weight * EXTENT[0] * EXTENT[0];
    eigen.eigenvalues = before.map(|moment| moment.max(least));
    let inertia = vee_matrix3(&eigen.recompose());
    let center = if mass.moment.weight() > 0.0 {
        mass.moment.center()
    } else {
        mass.center
    };
    if weight <= 0.0 {
        return Err(error);
    }
    let raised = PseudoInertia::from_center(weight, center, inertia)?;
    let change = change(mass.moment.weight(), weight, &before, &eigen.eigenvalues);
    Ok((raised, change))
}

/// `principal moments 1, 1.5, 3 -> 1.25, 1.75, 3 kg m^2, at most 25 % more`; of the principal second moments before and after.
fn change(weight: f64, raised_weight: f64, before: &Vector3<f64>, after: &Vector3<f64>) -> String {
    let moments = |second: &Vector3<f64>| second.map(|moment| second.sum() - moment);
    let mut pairs: Vec<(f64, f64)> = (moments(before).iter().copied())
        .zip(moments(after).iter().copied())
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let list = |of: fn(&(f64, f64)) -> f64| {
        let numbers: Vec<String> = pairs
            .iter()
            .map(|pair| short(of(pair)).to_string())
            .collect();
        numbers.join(", ")
    };
    let mut text = format!(
        "principal moments {} -> {} kg m^2",
        list(|pair| pair.0),
        list(|pair| pair.1)
    );
    // Of what was zero or negative there is no percentage.
    let growth = (pairs.iter().filter(|pair| pair.0 > 0.0))
        .map(|(before, after)| 100.0 * (after - before) / before)
        .fold(0.0, f64::max);
    if growth > 0.0 {
        let percent: f64 = format!("{growth:.1e}").parse().unwrap_or(growth);
        text.extend([format!(", at most {percent} % more")]);
    }
    if weight != raised_weight {
        text.extend([format!("; mass {weight} -> {} kg", short(raised_weight))]);
    }
    text
}
