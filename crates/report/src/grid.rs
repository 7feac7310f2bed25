//! Columns of numbers over time in a bounded number of cells, without losing an extreme.

/// What a cell keeps of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The smallest and the largest, for plots.
    Extremes,
    /// The first, for quantities such as a pose that change from sample to sample.
    First,
}

/// A column: one quantity over time.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, such as `position.x`.
    pub name: String,
    /// The smallest number of each cell, NaN without any; with [`Keep::First`] the first one.
    pub low: Vec<f32>,
    /// The largest number of each cell; with [`Keep::First`] empty.
    pub high: Vec<f32>,
}

/// Columns over a common time.
///
/// The cells begin with the first time. A cell initially has the width of one step of the flight and holds one number. Whenever there would be too many
/// cells, pairs of cells are merged into cells of twice the width. A flight of any length is thus read once, in bounded
/// memory. Cells without a number are NaN, so a gap in the data remains a gap. Numbers are single precision, seven
/// digits.
#[derive(Clone, Debug)]
pub struct Grid {
    keep: Keep,
    /// Time at which the first cell begins, s.
    begin: Option<f64>,
    /// Width of the first cells, s.
    step: f64,
    most: usize,
    /// How often pairs have been merged.
    halvings: u32,
    columns: Vec<Column>,
    cell: usize,
    length: usize,
}

impl Grid {
    /// For numbers every `step` seconds, in at most `most` cells.
    pub fn new(keep: Keep, step: f64, most: usize) -> Self {
        Self {
            keep,
            begin: None,
            step: if step > 0.0 && step.is_finite() {
                step
            } else {
                1e-3
            },
            most: most.max(2),
            halvings: 0,
            columns: Vec::new(),
            cell: 0,
            length: 0,
        }
    }

    /// Index of a column; adds it if there is none of this name.
    pub fn column(&mut self, name: &str) -> usize {
        if let Some(found) = self.columns.iter().position(|column| column.name == name) {
            return found;
        }
        self.columns.push(Column {
            name: name.to_owned(),
            low: Vec::new(),
            high: Vec::new(),
        });
        self.columns.len() - 1
    }

    /// Moves to the cell of a time, s. Times before the first one belong to the first cell.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a time beyond any log ends in the last cell"
    )]
    pub fn go_to(&mut self, time: f64) {
        let since = time - *self.begin.get_or_insert(time);
        let step = (since / self.step).round().max(0.0) as u64;
        while step >> self.halvings >= self.most as u64 {
            self.halve();
        }
        self.cell = (step >> self.halvings) as usize;
        self.length = self.length.max(self.cell + 1);
    }

    /// Adds a number to the current cell of a column; ignores values that are not finite.
    #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
    pub fn put(&mut self, column: usize, value: f64) {
        let value = value as f32;
        if !value.is_finite() {
            return;
        }
        let Column { low, high, .. } = &mut self.columns[column];
        let cell = self.cell;
        if low.len() <= cell {
            low.resize(cell + 1, f32::NAN);
        }
        match self.keep {
            Keep::First if low[cell].is_nan() => low[cell] = value,
            Keep::First => {}
            Keep::Extremes => {
                if high.len() <= cell {
                    high.resize(cell + 1, f32::NAN);
                }
                // `min` returns the other operand of a NaN.
                low[cell] = low[cell].min(value);
                high[cell] = high[cell].max(value);
            }
        }
    }

    fn halve(&mut self) {
        self.halvings += 1;
        for column in &mut self.columns {
            halve(
                &mut column.low,
                match self.keep {
                    Keep::First => |a, b| if a.is_nan() { b } else { a },
                    Keep::Extremes => f32::min,
                },
            );
            halve(&mut column.high, f32::max);
        }
        self.length = self.length.div_ceil(2);
    }

    /// Width of a cell, s.
    pub fn width(&self) -> f64 {
        self.step * f64::from(2_u32.saturating_pow(self.halvings))
    }

    /// The time of a cell: that of its number, or after this part of its width if several were merged, s.
    pub fn time(&self, cell: usize, part: f64) -> f64 {
        let part = if self.is_whole() { 0.0 } else { part };
        self.begin.unwrap_or_default() + (cell as f64 + part) * self.width()
    }

    /// Whether a cell has the width of a step: nothing was merged.
    pub const fn is_whole(&self) -> bool {
        self.halvings == 0
    }

    /// Number of cells.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no cells.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The columns, in the order of their addition.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column by its name.
    pub fn find(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

fn halve(values: &mut Vec<f32>, join: fn(f32, f32) -> f32) {
    let half = values.len().div_ceil(2);
    for i in 0..half {
        let second = values.get(2 * i + 1).copied().unwrap_or(f32::NAN);
        values[i] = join(values[2 * i], second);
    }
    values.truncate(half);
}
