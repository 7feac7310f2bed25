//! Springs and dampers between any two bodies.

use nalgebra::{Matrix3, Vector3};

use super::keys::{Key, MATRIX, VECTOR, Value};
use super::pose::{POSE, pose};
use super::reader::{Entry, Table, suggestion};
use super::{DescriptionError, Problem};
use crate::multibody::{Damper, ModelError, Spring};
use crate::{SecondMoment, Stiffness};

pub(super) const FROM: Key = Key::new(
    "from",
    Value::Text,
    "The body at its one end. Default \"world\".",
);
pub(super) const TO: Key = Key::required("to", Value::Text, "The body at its other end.");

/// The keys of a spring.
pub(super) const SPRING: [Key; 5] = [
    FROM,
    TO,
    Key::new(
        "rest",
        Value::Table(&POSE),
        "The pose of `to` in `from` in which it is relaxed. Default: the same frame.",
    ),
    Key::new(
        "stiffness",
        Value::Table(&MOMENT),
        "The sum over all points, N/m and N m/rad. This, or `points`.",
    ),
    Key::new(
        "points",
        Value::List(&Value::Table(&SPRING_POINT)),
        "Springs between points. These, or `stiffness`.",
    ),
];

const SPRING_POINT: [Key; 3] = [
    Key::required("stiffness", Value::Number, "N/m."),
    Key::required("position", VECTOR, "The point, m in the frame of `to`."),
    Key::new(
        "anchor",
        VECTOR,
        "Where it is held, m in the frame of `from`. Default: where the point is at `rest`.",
    ),
];

/// The keys of a damper.
pub(super) const DAMPER: [Key; 4] = [
    FROM,
    TO,
    Key::new(
        "damping",
        Value::Table(&MOMENT),
        "The sum over all points, N s/m and N m s/rad. This, or `points`.",
    ),
    Key::new(
        "points",
        Value::List(&Value::Table(&DAMPER_POINT)),
        "Dampers between points. These, or `damping`.",
    ),
];

const DAMPER_POINT: [Key; 2] = [
    Key::required(
        "damping",
        Value::Number,
        "Against the motion of the point in the frame of `from`, N s/m.",
    ),
    Key::required("position", VECTOR, "The point, m in the frame of `to`."),
];

const MOMENT: [Key; 5] = [
    Key::new(
        "weight",
        Value::Number,
        "The sum of the weights. Default 0.",
    ),
    Key::new("center", VECTOR, "Its centre, m. Default: the origin."),
    Key::new(
        "first_moment",
        VECTOR,
        "Instead of `center`: the sum of weight times position.",
    ),
    Key::new(
        "moment",
        MATRIX,
        "About the centre: the diagonal, or three rows. Default 0.",
    ),
    Key::new(
        "moment_about_origin",
        MATRIX,
        "Instead of `moment`: about the origin.",
    ),
];

/// The names of the bodies, and of the inertial frame.
pub(super) struct Names<'a> {
    pub bodies: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// The body that the value names, `world` included.
    pub fn frame(&self, entry: &Entry<'a>) -> Result<&'a str, DescriptionError> {
        let name = entry.string()?;
        if name == "world" {
            Ok(name)
        } else {
            self.body(entry)
        }
    }

    /// The body that the value names.
    pub fn body(&self, entry: &Entry<'a>) -> Result<&'a str, DescriptionError> {
        let name = entry.string()?;
        if self.bodies.contains(&name) {
            return Ok(name);
        }
        let help = suggestion(name, &self.bodies).unwrap_or_else(|| match self.bodies.as_slice() {
            [one] => format!("the body is named `{one}`"),
            many => format!("the bodies are named {}", super::reader::list(many)),
        });
        let error = entry.error(Problem::UnknownBody(name.to_owned()));
        Err(error.helped(Some(help)))
    }

    /// `from` (the world, if it is not given) and `to`.
    pub fn ends(
        &self,
        table: &Table<'a>,
        element: &'static str,
    ) -> Result<(&'a str, &'a str), DescriptionError> {
        let from = match table.get("from") {
            Some(entry) => self.frame(&entry)?,
            None => "world",
        };
        let entry = table.required("to")?;
        let to = self.frame(&entry)?;
        if from == to {
            let name = to.to_owned();
            return Err(entry.error(ModelError::SameEnds { element, name }));
        }
        Ok((from, to))
    }
}

/// One of `[[springs]]`: `stiffness`, relaxed at `rest`, or `points` with their anchors.
pub(super) fn spring<'a>(
    table: &Table<'a>,
    names: &Names<'a>,
) -> Result<Spring<f64>, DescriptionError> {
    table.only(&SPRING)?;
    let (a, b) = names.ends(table, "spring")?;
    let mut rest = match table.get("rest") {
        Some(entry) => {
            let table = entry.table()?;
            table.only(&POSE)?;
            pose(&table)?
        }
        None => fly_lie::SE3::identity(),
    };
    let (key, value) = table.one_of(&["stiffness", "points"])?;
    let stiffness = if key == "stiffness" {
        moment(&value.table()?)?
    } else {
        let mut springs = Vec::new();
        let mut anchored = false;
        for entry in value.array("an array of tables, one for each point")? {
            let point = entry.table()?;
            point.only(&SPRING_POINT)?;
            let position = point.required("position")?.vector()?;
            let anchor = point.get("anchor");
            anchored |= anchor.is_some();
            springs.push(crate::PointSpring {
                stiffness: point.required("stiffness")?.number()?,
                point: position,
                anchor: match anchor {
                    Some(entry) => entry.vector()?,
                    None => rest.act(&position),
                },
            });
        }
        // Springs that are all relaxed at one pose keep it exactly as it was written.
        if anchored {
            let total = Stiffness::from_springs(&springs).map_err(|error| value.error(error))?;
            rest = *total.minimum();
            *total.moment()
        } else {
            SecondMoment::from_points(springs.iter().map(|s| (s.stiffness, s.point)))
        }
    };
    Ok(Spring {
        a: a.to_owned(),
        b: b.to_owned(),
        rest,
        stiffness: computable(stiffness, &value)?,
    })
}

/// One of `[[dampers]]`: `damping`, or `points`.
pub(super) fn damper<'a>(
    table: &Table<'a>,
    names: &Names<'a>,
) -> Result<Damper<f64>, DescriptionError> {
    table.only(&DAMPER)?;
    let (a, b) = names.ends(table, "damper")?;
    let (key, value) = table.one_of(&["damping", "points"])?;
    let damping = if key == "damping" {
        moment(&value.table()?)?
    } else {
        let mut points = Vec::new();
        for entry in value.array("an array of tables, one for each point")? {
            let point = entry.table()?;
            point.only(&DAMPER_POINT)?;
            let damping = point.required("damping")?.not_negative()?;
            points.push((damping, point.required("position")?.vector()?));
        }
        SecondMoment::from_points(points)
    };
    let damping = computable(damping, &value)?;
    let least = damping.matrix6().symmetric_eigenvalues().min();
    if least < -1e-9 * damping.matrix6().amax() {
        return Err(value.error(Problem::OutOfRange {
            expected: "a damper that takes energy out of every motion".to_owned(),
            found: "one that feeds energy into some".to_owned(),
        }));
    }
    Ok(Damper {
        a: a.to_owned(),
        b: b.to_owned(),
        damping,
    })
}

/// `{ weight, center | first_moment, moment | moment_about_origin }`.
fn moment(table: &Table<'_>) -> Result<SecondMoment<f64>, DescriptionError> {
    table.only(&MOMENT)?;
    let weight = table.get("weight").map_or(Ok(0.0), |e| e.number())?;
    if let Some(entry) = table.get("first_moment") {
        return from_first_moment(weight, entry.vector()?, table);
    }
    let center = table
        .get("center")
        .map_or(Ok(Vector3::zeros()), |e| e.vector())?;
    match (table.get("moment"), table.get("moment_about_origin")) {
        (Some(_), Some(second)) => {
            let text = "give `moment` (about the centre) or `moment_about_origin`, not both";
            Err(second.error(Problem::Keys(text.to_owned())))
        }
        (None, Some(entry)) => {
            let moment = symmetric(&entry)?;
            Ok(SecondMoment::from_origin(weight, center, moment))
        }
        (Some(entry), None) => {
            let moment = symmetric(&entry)?;
            Ok(SecondMoment::from_center(weight, center, moment))
        }
        (None, None) => Ok(SecondMoment::from_center(weight, center, Matrix3::zeros())),
    }
}

/// The sum of weight times position, which is there even if the weights sum to zero, so that there is no centre.
fn from_first_moment(
    weight: f64,
    first: Vector3<f64>,
    table: &Table<'_>,
) -> Result<SecondMoment<f64>, DescriptionError> {
    if let Some((key, entry)) = table.present(&["center", "moment"]).first() {
        let text = format!("`first_moment` goes with `moment_about_origin`, not with `{key}`");
        return Err(entry.error(Problem::Keys(text)));
    }
    let moment = match table.get("moment_about_origin") {
        Some(entry) => symmetric(&entry)?,
        None => Matrix3::zeros(),
    };
    let about_origin = SecondMoment::from_origin(weight, Vector3::zeros(), moment);
    let mut matrix = *about_origin.matrix4();
    matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(&first);
    matrix
        .fixed_view_mut::<1, 3>(3, 0)
        .copy_from(&first.transpose());
    Ok(SecondMoment::from_matrix4(matrix))
}

/// A symmetric matrix: its diagonal, or three rows.
fn symmetric(entry: &Entry<'_>) -> Result<Matrix3<f64>, DescriptionError> {
    let matrix = entry.matrix()?;
    let asymmetry = (matrix - matrix.transpose()).amax();
    if asymmetry > 1e-9 * matrix.amax() {
        return Err(entry.error(Problem::OutOfRange {
            expected: "a symmetric matrix".to_owned(),
            found: "one that is not".to_owned(),
        }));
    }
    Ok(matrix)
}

/// Numbers whose products are numbers.
fn computable(
    moment: SecondMoment<f64>,
    entry: &Entry<'_>,
) -> Result<SecondMoment<f64>, DescriptionError> {
    if moment.matrix4().iter().all(|number| number.is_finite()) {
        Ok(moment)
    } else {
        Err(entry.error(Problem::NotFinite("products that overflow".to_owned())))
    }
}
