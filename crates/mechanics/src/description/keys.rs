//! The keys of a description, each with its value and what it means: readers refuse all others, and the schema of the format is made of them.

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What stands there.
    pub value: Value,
    /// Whether it must be there, where the table is not one that changes another.
    pub required: bool,
    /// What it means, with unit, frame and default.
    pub about: &'static str,
}

/// What stands at a key.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A string.
    Text,
    /// A number.
    Number,
    /// A whole number of at least 0.
    Count,
    /// `true` or `false`.
    Boolean,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An array of so many numbers.
    Numbers(usize),
    /// An array of any number of these.
    List(&'static Value),
    /// An array of so many of these.
    Several(usize, &'static Value),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table of tables whose keys are names, each with these keys.
    Named(&'static [Key]),
    /// Any of these.
    Any(&'static [Value]),
}

impl Key {
    /// A key that may be left out.
    pub(super) const fn new(name: &'static str, value: Value, about: &'static str) -> Self {
        Self {
            name,
            value,
            required: false,
            about,
        }
    }

    /// A key that must be there.
    pub(super) const fn required(name: &'static str, value: Value, about: &'static str) -> Self {
        Self {
            required: true,
            ..Self::new(name, value, about)
        }
    }
}

/// Three numbers.
pub(super) const VECTOR: Value = Value::Numbers(3);
/// A symmetric matrix: its diagonal, or three rows.
pub(super) const MATRIX: Value = Value::Any(&[VECTOR, Value::Several(3, &VECTOR)]);
