//! What was compared and how well it agreed.

use std::fmt;

/// Worst error of everything compared under one name.
struct Entry {
    name: String,
    values: usize,
    worst: f64,
    tolerance: f64,
}

/// The comparisons of one file.
#[derive(Default)]
pub struct Report {
    entries: Vec<Entry>,
}

impl Report {
    /// Compares to `tolerance` times the largest magnitude expected (1 if that is zero).
    pub fn relative(&mut self, name: &str, found: &[f64], expected: &[f64], tolerance: f64) {
        let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        self.scaled(
            name,
            found,
            expected,
            tolerance,
            if scale > 0.0 { scale } else { 1.0 },
        );
    }

    /// Compares to an absolute tolerance.
    pub fn absolute(&mut self, name: &str, found: &[f64], expected: &[f64], tolerance: f64) {
        self.scaled(name, found, expected, tolerance, 1.0);
    }

    fn scaled(&mut self, name: &str, found: &[f64], expected: &[f64], tolerance: f64, scale: f64) {
        let same_length = found.len() == expected.len();
        // NaN must not pass: `max` would drop it.
        let worst = found
            .iter()
            .zip(expected)
            .map(|(a, b)| (a - b).abs() / scale)
            .fold(0.0_f64, |m, e| {
                if e.is_nan() || e > m {
                    if e.is_nan() { f64::INFINITY } else { e }
                } else {
                    m
                }
            });
        let worst = if same_length { worst } else { f64::INFINITY };
        let known = self
            .entries
            .iter_mut()
            .find(|e| e.name == name && e.tolerance == tolerance);
        if let Some(entry) = known {
            entry.values += expected.len();
            entry.worst = entry.worst.max(worst);
        } else {
            self.entries.push(Entry {
                name: name.into(),
                values: expected.len(),
                worst,
                tolerance,
            });
        }
    }

    /// How many numbers were compared.
    pub fn values(&self) -> usize {
        self.entries.iter().map(|e| e.values).sum()
    }

    /// How many comparisons were worse than their tolerance.
    pub fn failures(&self) -> usize {
        self.entries
            .iter()
            .filter(|e| e.worst > e.tolerance)
            .count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for Entry {
            name,
            values,
            worst,
            tolerance,
        } in &self.entries
        {
            let verdict = if worst > tolerance { "  FAILED" } else { "" };
            writeln!(
                f,
                "    {name:<44} {values:>6} values, worst {worst:.1e} of {tolerance:.0e}{verdict}"
            )?;
        }
        Ok(())
    }
}
