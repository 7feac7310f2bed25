//! Plain aligned text: a label, then cells in columns.

use std::fmt::{self, Write as _};

use fly_flight::short_numbers;
use serde_json::Value;

/// Rows of a label and cells; every column is as wide as its widest cell.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<(String, Vec<String>)>,
}

impl Table {
    /// Adds a row of a label and its cells.
    pub fn row<C: Into<String>>(&mut self, label: &str, cells: impl IntoIterator<Item = C>) {
        self.rows.push((
            printable(label),
            cells
                .into_iter()
                .map(|cell| printable(&short_numbers(&cell.into())))
                .collect(),
        ));
    }

    /// Adds one line of free text under `label` for each item; only the first carries the label.
    pub fn lines<C: Into<String>>(&mut self, label: &str, lines: impl IntoIterator<Item = C>) {
        for (index, line) in lines.into_iter().enumerate() {
            self.row(if index == 0 { label } else { "" }, [line]);
        }
    }
}

/// # As data
impl Table {
    /// The rows as printed, each with its label first.
    pub fn as_json(&self) -> Value {
        let rows = self.rows.iter().map(|(label, cells)| {
            let cells = cells.iter().map(String::as_str);
            std::iter::once(label.as_str())
                .chain(cells)
                .collect::<Value>()
        });
        rows.collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label_width = self
            .rows
            .iter()
            .map(|(label, _)| label.chars().count())
            .max()
            .unwrap_or(0);
        // A single cell is free text and sets no column.
        let mut widths: Vec<usize> = Vec::new();
        for (_, cells) in self.rows.iter().filter(|(_, cells)| cells.len() > 1) {
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for (label, cells) in &self.rows {
            let mut line = format!("  {label:label_width$}");
            for (index, cell) in cells.iter().enumerate() {
                let width = if cells.len() > 1 { widths[index] } else { 0 };
                write!(line, "  {cell:width$}")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The text with control characters escaped: a plugin's must not clear the screen or break the table.
fn printable(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut shown, c| {
            if c.is_control() {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
            shown
        })
}

/// `value` with `digits` significant digits: plain if that is short, else in powers of ten.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    // The exponent after rounding: 9.996 with three digits is 10.0, not 9.996e0.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let digits = i32::try_from(digits).unwrap_or(i32::MAX);
    if (-4..digits.max(6)).contains(&exponent) {
        let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
        format!("{value:.decimals$}")
    } else {
        scientific
    }
}

/// A duration in nanoseconds in a suitable unit.
pub fn duration(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{} us", significant(value / 1e3, 3)),
        1_000_000..1_000_000_000 => format!("{} ms", significant(value / 1e6, 3)),
        _ => format!("{} s", significant(value / 1e9, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let mut table = Table::default();
        table.row("a\u{1b}[2Jb", ["one\ntwo", "µ"]);
        assert_eq!(table.to_string(), "  a\\u{1b}[2Jb  one\\ntwo  µ\n");
    }

    #[test]
    fn columns_line_up_and_free_text_sets_no_width() {
        let mut table = Table::default();
        table.row("position error", ["rms 0.1 m", "max 2 m"]);
        table.row("W", ["start 10.25 J", "end 0 J"]);
        table.lines(
            "supervisor",
            [
                "a line that is much longer than the columns above it",
                "another",
            ],
        );
        let expected = "  \
  position error  rms 0.1 m      max 2 m
  W               start 10.25 J  end 0 J
  supervisor      a line that is much longer than the columns above it
                  another
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn significant_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (0.095_308_6, "0.0953"),
            (9.996, "10.0"),
            (12345.6, "12346"),
            (0.000_123_456, "0.000123"),
            (0.000_012_345_6, "1.23e-5"),
            (-0.5, "-0.500"),
            (1.5e9, "1.50e9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(significant(value, 3), expected, "{value}");
        }
    }

    #[test]
    fn durations_take_their_unit() {
        for (nanoseconds, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (12_345, "12.3 us"),
            (2_500_000, "2.50 ms"),
            (3_000_000_000, "3.00 s"),
        ] {
            assert_eq!(duration(nanoseconds), expected);
        }
    }
}
