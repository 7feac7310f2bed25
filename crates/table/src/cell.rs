//! The content of a table.

use std::borrow::Cow;

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Missing: a value that is undefined in this row.
    Null,
    /// A number.
    Float(f64),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
    /// A string.
    Text(String),
}

/// The type of a column's cells, apart from [`Cell::Null`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Cell::Float`].
    Float,
    /// [`Cell::Integer`].
    Integer,
    /// [`Cell::Boolean`].
    Boolean,
    /// [`Cell::Text`].
    Text,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Type of its cells.
    pub kind: Kind,
    /// Their unit; empty if there is none, or if it is documented with the key.
    pub unit: Cow<'static, str>,
}

impl Column {
    /// A column of this name, kind and unit.
    pub fn new(name: impl Into<String>, kind: Kind, unit: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            kind,
            unit: unit.into(),
        }
    }
}

impl Cell {
    /// A number if it is finite, else [`Cell::Null`].
    pub fn finite(number: impl Into<Option<f64>>) -> Self {
        match number.into() {
            Some(number) if f64::is_finite(number) => Self::Float(number),
            _ => Self::Null,
        }
    }

    /// A count.
    pub fn count(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }
}

/// The shortest text that reads back as the same value; empty for [`Cell::Null`].
impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// # Bytes
impl Cell {
    /// Appends the encoded cell: a tag, then the value, little-endian.
    pub fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Null => to.push(0),
            Self::Float(number) => {
                to.push(1);
                to.extend(number.to_bits().to_le_bytes());
            }
            Self::Integer(number) => {
                to.push(2);
                to.extend(number.to_le_bytes());
            }
            Self::Boolean(value) => to.extend([3, u8::from(*value)]),
            Self::Text(text) => {
                to.push(4);
                // Rows hold short texts, never longer than 4 GiB.
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                to.extend(length.to_le_bytes());
                to.extend(&text.as_bytes()[..length as usize]);
            }
        }
    }

    /// Decodes one cell and advances past it; `None` if the bytes are invalid.
    pub fn decode(from: &mut &[u8]) -> Option<Self> {
        let (tag, rest) = from.split_first()?;
        *from = rest;
        Some(match tag {
            0 => Self::Null,
            1 => Self::Float(f64::from_le_bytes(take(from)?)),
            2 => Self::Integer(i64::from_le_bytes(take(from)?)),
            3 => Self::Boolean(take::<1>(from)? == [1]),
            4 => {
                let length = u32::from_le_bytes(take(from)?) as usize;
                let (text, rest) = from.split_at_checked(length)?;
                *from = rest;
                Self::Text(String::from_utf8(text.to_vec()).ok()?)
            }
            _ => return None,
        })
    }
}

/// The next bytes.
pub fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_bit_for_bit() {
        let cells = [
            Cell::Null,
            Cell::Float(-0.1),
            Cell::Float(f64::MIN_POSITIVE / 3.0),
            Cell::Integer(i64::MIN),
            Cell::Boolean(true),
            Cell::Text("a \u{1f681}, \"b\"\n".to_owned()),
        ];
        let mut bytes = Vec::new();
        for cell in &cells {
            cell.encode(&mut bytes);
        }
        let mut rest = bytes.as_slice();
        for cell in &cells {
            assert_eq!(Cell::decode(&mut rest).as_ref(), Some(cell));
        }
        assert_eq!((rest.len(), Cell::decode(&mut rest)), (0, None));
        for end in 0..bytes.len() {
            let mut rest = &bytes[..end];
            while Cell::decode(&mut rest).is_some() {}
        }
    }
}
