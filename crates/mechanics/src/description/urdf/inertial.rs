//! `<inertial>`.

use std::cmp::Ordering;

use fly_lie::SE3;
use nalgebra::{Matrix3, Vector3};

use super::joint::origin;
use super::tree::Tree;
use super::xml::Element;
use super::{DescriptionError, Problem, Unphysical, some};
use crate::{InertiaError, PseudoInertia, SecondMoment};

/// What `<inertial>` says.
#[derive(Clone)]
struct Mass {
    /// In the link's frame.
    moment: SecondMoment<f64>,
    /// What it is as a body by itself.
    alone: Result<PseudoInertia<f64>, InertiaError<f64>>,
}

/// The inertia of every link.
///
/// A link that is no body by itself (a point mass, as sensors are described) counts on a link that is fixed to it, on the heaviest
/// that is a body, which changes no motion.
pub(super) fn masses(
    tree: &Tree<'_>,
    unphysical: Unphysical,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<PseudoInertia<f64>>>, DescriptionError> {
    let mut masses = Vec::with_capacity(tree.links.len());
    for (_, link) in &tree.links {
        masses.push(read(link)?);
    }
    let groups = groups(tree)?;
    let mut lumped = Vec::new();
    for index in 0..masses.len() {
        let Some(point) = masses[index].clone().filter(|mass| mass.alone.is_err()) else {
            continue;
        };
        let (group, pose) = &groups[index];
        // A body before a point, the heavier before the lighter.
        let rank = |i: &usize| {
            let other = masses[*i].as_ref()?;
            Some((other.alone.is_ok(), other.moment.weight()))
        };
        let fixed = (0..masses.len()).filter(|i| groups[*i].0 == *group && *i != index);
        let best = fixed.max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal));
        let Some(best) = best.filter(|best| rank(best) >= rank(&index)) else {
            continue;
        };
        let there = point.moment.placed(&(groups[best].1.inverse() * *pose));
        if let Some(carrier) = &mut masses[best] {
            carrier.moment = symmetric(&(carrier.moment + there));
            carrier.alone = PseudoInertia::new(carrier.moment);
            masses[index] = None;
            lumped.push(tree.links[index].0);
        }
    }
    if !lumped.is_empty() {
        let names = some(&lumped);
        notes.push(format!(
            "point masses count on a link that they are fixed to: {names}"
        ));
    }
    let mut raised = Vec::new();
    let mut inertias = Vec::with_capacity(masses.len());
    for (mass, (name, link)) in masses.into_iter().zip(&tree.links) {
        let Some(mass) = mass else {
            inertias.push(None);
            continue;
        };
        inertias.push(match (mass.alone, unphysical) {
            (Ok(inertia), _) => Some(inertia),
            (Err(error), Unphysical::Refuse) => return Err(refused(link, error)),
            (Err(_), Unphysical::Raise) => {
                raised.push(*name);
                raise(&mass.moment).map_err(|error| refused(link, error))?
            }
        });
    }
    if !raised.is_empty() {
        let names = some(&raised);
        notes.push(format!(
            "links with moments of inertia that no mass has, which were raised: {names}"
        ));
    }
    Ok(inertias)
}

/// For every link, the first of those that fixed joints connect with it, and the link's pose there.
fn groups(tree: &Tree<'_>) -> Result<Vec<(usize, SE3<f64>)>, DescriptionError> {
    let mut groups = Vec::with_capacity(tree.links.len());
    for index in 0..tree.links.len() {
        let (mut first, mut pose) = (index, SE3::identity());
        // As many steps as there are links: what hangs on itself is found elsewhere.
        for _ in 0..tree.links.len() {
            let Some((parent, joint)) = tree.fixed_to(first)? else {
                break;
            };
            pose = origin(joint)? * pose;
            first = parent;
        }
        groups.push((first, pose));
    }
    Ok(groups)
}

/// `None` without mass.
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
        return Err(inertial.error(Problem::NotFinite("products that are not".to_owned())));
    }
    // An error shows the numbers as they were written.
    let alone = PseudoInertia::from_center(mass, Vector3::zeros(), inertia)
        .and_then(|_| PseudoInertia::from_center(mass, pose.translation, turned));
    Ok(Some(Mass { moment, alone }))
}

/// Without the rounding that makes a matrix of small moments look skew.
fn symmetric(moment: &SecondMoment<f64>) -> SecondMoment<f64> {
    let X = moment.matrix4();
    SecondMoment::from_matrix4((X + X.transpose()) * 0.5)
}

fn refused(link: &Element<'_>, error: InertiaError<f64>) -> DescriptionError {
    let place = || link.required("inertial")?.required("inertia");
    match place() {
        Ok(place) => place.error(error).helped(Some(
            "`UrdfOptions::unphysical` can raise the moments to the nearest possible ones",
        )),
        Err(error) => error,
    }
}

/// Raises the principal moments of the mass's spread until each is that of a mass with some extent: then the moments of inertia are positive,
/// and none exceeds the sum of the others. The largest one does not change if the triangle inequality alone was violated. Without mass nothing is
/// left.
fn raise(moment: &SecondMoment<f64>) -> Result<Option<PseudoInertia<f64>>, InertiaError<f64>> {
    /// The radius of gyration that a body has at least, m.
    const EXTENT: f64 = 1e-4;
    let mass = moment.weight();
    if mass <= 0.0 {
        return Ok(None);
    }
    let spread = moment.second_about_center();
    let symmetric = (spread + spread.transpose()) * 0.5;
    let mut eigen = symmetric.symmetric_eigen();
    for value in eigen.eigenvalues.iter_mut() {
        *value = value.max(mass * EXTENT * EXTENT);
    }
    let spread = eigen.recompose();
    let inertia = fly_lie::operators::vee_matrix3(&spread);
    PseudoInertia::from_center(mass, moment.center(), inertia).map(Some)
}
