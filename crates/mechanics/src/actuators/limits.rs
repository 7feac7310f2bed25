//! The convex limits `W u <= l` of rotors.

use nalgebra::{DMatrix, DVector};

use super::{Polytope, Rotor, Tilt};

/// One inequality: the coefficients of the rotor's inputs, starting with the first, and the bound.
struct Row {
    first: usize,
    normal: [f64; 2],
    bound: f64,
}

/// See [`Rotors::limits`](super::Rotors::limits) for the order of the rows.
pub(super) fn limits(rotors: &[Rotor]) -> Polytope {
    let mut rows = Vec::new();
    let with_first = || {
        rotors.iter().scan(0, |next, rotor| {
            let first = *next;
            *next += 1 + usize::from(rotor.tilt.is_some());
            Some((first, rotor))
        })
    };
    let fixed = || with_first().filter(|(_, rotor)| rotor.tilt.is_none());
    for (first, rotor) in fixed() {
        let ([_, bound], normal) = (rotor.thrust, [1.0, 0.0]);
        rows.push(Row {
            first,
            normal,
            bound,
        });
    }
    for (first, rotor) in fixed() {
        let ([low, _], normal) = (rotor.thrust, [-1.0, 0.0]);
        let bound = -low;
        rows.push(Row {
            first,
            normal,
            bound,
        });
    }
    for (first, rotor) in with_first() {
        if let Some(tilt) = &rotor.tilt {
            let tilting = tilting_rows(rotor.thrust, tilt);
            rows.extend(tilting.map(|(normal, bound)| Row {
                first,
                normal,
                bound,
            }));
        }
    }

    let dim = with_first().map(|(first, rotor)| first + 1 + usize::from(rotor.tilt.is_some()));
    let mut matrix = DMatrix::zeros(rows.len(), dim.last().unwrap_or(0));
    for (i, row) in rows.iter().enumerate() {
        for (k, value) in row.normal.into_iter().enumerate() {
            // The second coefficient of a fixed rotor is a zero placeholder.
            if value != 0.0 {
                matrix[(i, row.first + k)] = value;
            }
        }
    }
    Polytope {
        matrix,
        bound: DVector::from_iterator(rows.len(), rows.iter().map(|row| row.bound)),
    }
}

/// A polygon inside `{F_min <= F <= F_max, |theta| <= limit}` in the plane of `(F sin, F cos)`, Konz Figure 5.20: the
/// lower arc is replaced by its tangent at zero tilt, the upper one by inscribed chords.
fn tilting_rows(thrust: [f64; 2], tilt: &Tilt) -> impl Iterator<Item = ([f64; 2], f64)> {
    let [low, high] = thrust;
    let (sin, cos) = tilt.limit.sin_cos();
    let (limit, angle) = (tilt.limit, tilt.segment_angle());
    let reach = high * (0.5 * angle).cos();
    let sides = [([0.0, -1.0], -low), ([cos, -sin], 0.0), ([-cos, -sin], 0.0)];
    let chords = (0..tilt.segments).map(move |i| {
        let (sin, cos) = (-limit + angle * (i as f64 + 0.5)).sin_cos();
        ([sin, cos], reach)
    });
    sides.into_iter().chain(chords)
}

/// A point strictly inside: zero tilt, half way between the limits along the axis.
pub(super) fn interior(rotors: &[Rotor]) -> Vec<f64> {
    let mut u = Vec::new();
    for rotor in rotors {
        let [low, high] = rotor.thrust;
        if let Some(tilt) = &rotor.tilt {
            u.push(0.0);
            u.push(f64::midpoint(low, tilt.reachable_thrust(high)));
        } else {
            u.push(f64::midpoint(low, high));
        }
    }
    u
}
