//! Removes points that make no visible difference.

/// Largest deviation from the original curve, px.
const TOLERANCE: f64 = 0.08;

/// The parts of a curve between its gaps, in px, without the points that make no visible difference.
pub(crate) fn stretches(points: impl Iterator<Item = [f64; 2]>) -> Vec<Vec<[f64; 2]>> {
    let mut all = Vec::new();
    let mut one: Vec<[f64; 2]> = Vec::new();
    for point in points {
        if point.iter().all(|value| value.is_finite()) {
            one.push(point);
        } else if !one.is_empty() {
            all.push(std::mem::take(&mut one));
        }
    }
    if !one.is_empty() {
        all.push(one);
    }
    for stretch in &mut all {
        let fewer = columns(stretch);
        *stretch = straight(&fewer);
    }
    all
}

/// Of successive points in the same half px of the abscissa, keeps the first, the lowest, the highest and the last, in
/// order: the same picture.
fn columns(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let column = |point: &[f64; 2]| (2.0 * point[0]).floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let by_height = |a: &usize, b: &usize| run[*a][1].total_cmp(&run[*b][1]);
        let all = 0..run.len();
        let (lowest, highest) = (all.clone().min_by(by_height), all.max_by(by_height));
        let mut places = [0, lowest.unwrap_or(0), highest.unwrap_or(0), run.len() - 1];
        places.sort_unstable();
        for (i, place) in places.into_iter().enumerate() {
            if i == 0 || place != places[i - 1] {
                kept.push(run[place]);
            }
        }
    }
    kept
}

/// Douglas and Peucker: removes points that are nearly on the line between their neighbours.
fn straight(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    (keep[0], keep[points.len() - 1]) = (true, true);
    let mut open = vec![(0, points.len() - 1)];
    while let Some((first, last)) = open.pop() {
        let distance = |i: usize| from_segment(points[i], points[first], points[last]);
        let farthest = (first + 1..last).max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        if let Some(middle) = farthest.filter(|i| distance(*i) > TOLERANCE) {
            keep[middle] = true;
            open.extend([(first, middle), (middle, last)]);
        }
    }
    let kept = points.iter().zip(keep);
    kept.filter_map(|(point, keep)| keep.then_some(*point))
        .collect()
}

fn from_segment([x, y]: [f64; 2], [ax, ay]: [f64; 2], [bx, by]: [f64; 2]) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 {
        (((x - ax) * dx + (y - ay) * dy) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x - ax - along * dx).hypot(y - ay - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_two_points_and_a_gap_stays() {
        let line = (0..100).map(|i| [f64::from(i), 2.0 * f64::from(i)]);
        let found = stretches(line.clone().chain([[f64::NAN, 0.0]]).chain([[200.0, 0.0]]));
        assert_eq!(found, [vec![[0.0, 0.0], [99.0, 198.0]], vec![[200.0, 0.0]]]);
    }

    /// A single outlier among a hundred thousand points stays visible, and no point deviates more than allowed.
    #[test]
    fn extremes_are_kept_and_nothing_moves() {
        let count = 100_000;
        let mut points: Vec<[f64; 2]> = (0..count)
            .map(|i| {
                let x = 600.0 * f64::from(i) / f64::from(count);
                [x, 50.0 + 40.0 * (0.1 * x).sin()]
            })
            .collect();
        points[54_321][1] = 7.0;
        let found = stretches(points.iter().copied()).concat();
        assert!(found.len() < 500, "{}", found.len());
        assert!(found.contains(&points[54_321]));
        for point in points.iter().step_by(97) {
            let nearest = found
                .windows(2)
                .map(|ab| from_segment(*point, ab[0], ab[1]));
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!(nearest < TOLERANCE + 0.5, "{point:?}: {nearest}");
        }
    }
}
