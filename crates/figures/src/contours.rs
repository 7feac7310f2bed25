//! Level curves of a function of two numbers.

/// The curve on which a function has a given value, from its values at the corners of a grid: straight lines within
/// each cell (marching squares), joined to long curves.
pub fn contour(values: &[Vec<f64>], [x, y]: [&[f64]; 2], level: f64) -> Vec<Vec<[f64; 2]>> {
    // An end of a line segment is on an edge of the grid: the edge's first node, and whether it goes along y.
    type Edge = (usize, usize, bool);
    let inside = |i: usize, j: usize| values[i][j] > level;
    let mut pieces: Vec<[Edge; 2]> = Vec::new();
    for i in 0..x.len() - 1 {
        for j in 0..y.len() - 1 {
            // Around the cell: bottom, right, top, left.
            let edges = [
                (i, j, false),
                (i + 1, j, true),
                (i, j + 1, false),
                (i, j, true),
            ];
            let corners = [
                inside(i, j),
                inside(i + 1, j),
                inside(i + 1, j + 1),
                inside(i, j + 1),
            ];
            let crossed: Vec<Edge> = (0..4)
                .filter(|k| corners[*k] != corners[(k + 1) % 4])
                .map(|k| edges[k])
                .collect();
            match crossed.as_slice() {
                [a, b] => pieces.push([*a, *b]),
                [a, b, c, d] => {
                    // A saddle: its centre decides which corners are connected.
                    let sum =
                        values[i][j] + values[i + 1][j] + values[i][j + 1] + values[i + 1][j + 1];
                    if (0.25 * sum > level) == corners[0] {
                        pieces.extend([[*a, *b], [*c, *d]]);
                    } else {
                        pieces.extend([[*d, *a], [*b, *c]]);
                    }
                }
                _ => {}
            }
        }
    }
    let point = |(i, j, up): Edge| {
        let (k, l) = if up { (i, j + 1) } else { (i + 1, j) };
        let part = (level - values[i][j]) / (values[k][l] - values[i][j]);
        [x[i] + part * (x[k] - x[i]), y[j] + part * (y[l] - y[j])]
    };
    let mut curves = Vec::new();
    while let Some([first, second]) = pieces.pop() {
        let mut curve = std::collections::VecDeque::from([first, second]);
        // Continue from both ends.
        loop {
            let ends = [curve[0], curve[curve.len() - 1]];
            let next = pieces
                .iter()
                .position(|piece| piece.iter().any(|end| ends.contains(end)));
            let Some(next) = next else { break };
            let [a, b] = pieces.swap_remove(next);
            match () {
                () if a == ends[1] => curve.push_back(b),
                () if b == ends[1] => curve.push_back(a),
                () if a == ends[0] => curve.push_front(b),
                () => curve.push_front(a),
            }
        }
        curves.push(curve.into_iter().map(point).collect());
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_one_closed_curve_at_its_radius() {
        let axis: Vec<f64> = (0..=40).map(|i| -1.0 + 0.05 * f64::from(i)).collect();
        let values: Vec<Vec<f64>> = axis
            .iter()
            .map(|x| axis.iter().map(|y| x * x + y * y).collect())
            .collect();
        let curves = contour(&values, [&axis, &axis], 0.5);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].first(), curves[0].last());
        for [x, y] in &curves[0] {
            assert!((x.hypot(*y) - 0.5_f64.sqrt()).abs() < 1e-3);
        }
    }

    #[test]
    fn a_saddle_has_two_branches() {
        let axis: Vec<f64> = (0..=20).map(|i| -1.0 + 0.1 * f64::from(i)).collect();
        let values: Vec<Vec<f64>> = axis
            .iter()
            .map(|x| axis.iter().map(|y| x * y).collect())
            .collect();
        for level in [-0.3, 0.3] {
            assert_eq!(contour(&values, [&axis, &axis], level).len(), 2);
        }
    }
}
