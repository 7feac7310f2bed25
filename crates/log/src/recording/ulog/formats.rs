//! Layout of a topic's samples, from the formats that a ULog declares.

use std::collections::BTreeMap;

/// Total size of all formats, bytes; PX4's have 60 kB.
const MAX_BYTES: usize = 4 << 20;
/// Number of fields examined for one topic, including those of nested formats.
const MAX_FIELDS: usize = 1 << 14;
/// Largest nesting depth of formats.
const MAX_DEPTH: usize = 8;
/// Longest sample, bytes: the limit of a record.
const MAX_SIZE: usize = u16::MAX as usize;

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float,
    Double,
    Bool,
    Char,
}

impl Number {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "int8_t" => Self::Int8,
            "uint8_t" => Self::UInt8,
            "int16_t" => Self::Int16,
            "uint16_t" => Self::UInt16,
            "int32_t" => Self::Int32,
            "uint32_t" => Self::UInt32,
            "int64_t" => Self::Int64,
            "uint64_t" => Self::UInt64,
            "float" => Self::Float,
            "double" => Self::Double,
            "bool" => Self::Bool,
            "char" => Self::Char,
            _ => return None,
        })
    }

    const fn size(self) -> usize {
        match self {
            Self::Int8 | Self::UInt8 | Self::Bool | Self::Char => 1,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
        }
    }

    /// The number at the start of `bytes`; NaN if there are too few.
    pub fn read(self, bytes: &[u8]) -> f64 {
        macro_rules! number {
            ($type:ty) => {
                bytes
                    .first_chunk()
                    .map(|bytes| <$type>::from_le_bytes(*bytes))
            };
        }
        let number = match self {
            Self::Int8 => number!(i8).map(f64::from),
            Self::UInt8 | Self::Char => number!(u8).map(f64::from),
            Self::Int16 => number!(i16).map(f64::from),
            Self::UInt16 => number!(u16).map(f64::from),
            Self::Int32 => number!(i32).map(f64::from),
            Self::UInt32 => number!(u32).map(f64::from),
            Self::Int64 => number!(i64).map(|number| number as f64),
            Self::UInt64 => number!(u64).map(|number| number as f64),
            Self::Float => number!(f32).map(f64::from),
            Self::Double => number!(f64),
            Self::Bool => number!(u8).map(|byte| f64::from(u8::from(byte != 0))),
        };
        number.unwrap_or(f64::NAN)
    }
}

/// A field of a sample: its name, with the index of an array's element, its type and its offset.
pub type Field = (&'static str, Number, usize);

/// The offsets of a topic's wanted fields in its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The wanted fields that exist.
    pub fields: Vec<Field>,
    /// Offset of the publication time, µs.
    pub timestamp: usize,
    /// Offset of the sampling time, µs.
    pub sampled: Option<usize>,
    /// Length of a sample.
    pub size: usize,
}

/// The declared formats.
#[derive(Debug, Default)]
pub struct Formats {
    /// The text after a format's name: `type name;type[length] name;…`.
    texts: BTreeMap<String, String>,
    bytes: usize,
}

impl Formats {
    /// Adds the body of a record; `false` if it is not a format, or there are too many.
    pub fn add(&mut self, body: &[u8]) -> bool {
        let text = std::str::from_utf8(body).ok();
        let Some((name, fields)) = text.and_then(|text| text.split_once(':')) else {
            return false;
        };
        self.bytes += body.len();
        let known = name.is_empty() || self.texts.contains_key(name);
        if known || self.bytes > MAX_BYTES {
            return self.texts.get(name).is_some_and(|known| known == fields);
        }
        self.texts.insert(name.to_owned(), fields.to_owned());
        true
    }

    /// The layout of a topic's wanted fields; `None` if the topic is not declared or its format is invalid.
    pub fn layout(&self, topic: &str, wanted: &[&'static str]) -> Option<Layout> {
        let mut left = MAX_FIELDS;
        let (mut fields, mut times) = (Vec::new(), [None; 2]);
        let (mut offset, mut size) = (0_usize, 0);
        for field in fields_of(self.texts.get(topic)?) {
            let Declared { kind, count, name } = Declared::parse(field)?;
            let element = self.size(kind, &mut left, 0)?;
            let number = Number::named(kind);
            if let (Some(Number::UInt64), None) = (number, count) {
                match name {
                    "timestamp" => times[0] = Some(offset),
                    "timestamp_sample" => times[1] = Some(offset),
                    _ => {}
                }
            }
            for wanted in wanted {
                if let (Some(number), Some(index)) = (number, index_in(wanted, name, count)) {
                    fields.push((*wanted, number, offset + index * element));
                }
            }
            offset = offset.checked_add(element.checked_mul(count.unwrap_or(1))?)?;
            if offset > MAX_SIZE {
                return None;
            }
            // Trailing padding is not logged.
            if !name.starts_with("_padding") {
                size = offset;
            }
        }
        fields.sort_by_key(|(name, ..)| wanted.iter().position(|wanted| wanted == name));
        fields.dedup_by_key(|(name, ..)| *name);
        Some(Layout {
            fields,
            timestamp: times[0]?,
            sampled: times[1],
            size,
        })
    }

    /// Bytes of one value of this type.
    fn size(&self, kind: &str, left: &mut usize, depth: usize) -> Option<usize> {
        *left = left.checked_sub(1)?;
        if let Some(number) = Number::named(kind) {
            return Some(number.size());
        }
        if depth == MAX_DEPTH {
            return None;
        }
        let mut size = 0_usize;
        for field in fields_of(self.texts.get(kind)?) {
            let Declared { kind, count, .. } = Declared::parse(field)?;
            let element = self.size(kind, left, depth + 1)?;
            size = size.checked_add(element.checked_mul(count.unwrap_or(1))?)?;
        }
        (size <= MAX_SIZE).then_some(size)
    }
}

fn fields_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter(|field| !field.is_empty())
}

/// A field as it is declared: `kind name`, or `kind[count] name`.
struct Declared<'a> {
    kind: &'a str,
    count: Option<usize>,
    name: &'a str,
}

impl<'a> Declared<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (kind, name) = text.split_once(' ')?;
        let (kind, count) = match kind.split_once('[') {
            Some((kind, count)) => {
                let count: u16 = count.strip_suffix(']')?.parse().ok()?;
                (kind, Some(usize::from(count)))
            }
            None => (kind, None),
        };
        let sound = !kind.is_empty() && !name.is_empty() && !name.contains(' ');
        sound.then_some(Self { kind, count, name })
    }
}

/// The element of the declared field that a wanted `name` or `name[index]` refers to.
fn index_in(wanted: &str, name: &str, count: Option<usize>) -> Option<usize> {
    let rest = wanted.strip_prefix(name)?;
    match count {
        None => rest.is_empty().then_some(0),
        Some(count) => {
            let index = rest.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
            (index < count).then_some(index)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats(texts: &[&str]) -> Formats {
        let mut formats = Formats::default();
        assert!(texts.iter().all(|text| formats.add(text.as_bytes())));
        formats
    }

    #[test]
    fn fields_are_found_behind_arrays_and_nested_formats() {
        let formats = formats(&[
            "inner:uint16_t a;float[3] b;uint8_t[2] _padding0;",
            "topic:uint64_t timestamp;uint64_t timestamp_sample;inner[2] i;float[4] q;bool ok;uint8_t[7] _padding0;",
        ]);
        let layout = formats
            .layout("topic", &["ok", "q[0]", "q[3]", "q[4]", "i"])
            .unwrap();
        // 8 + 8, two times 2 + 12 + 2, then 16 and 1.
        let expected = [
            ("ok", Number::Bool, 64),
            ("q[0]", Number::Float, 48),
            ("q[3]", Number::Float, 60),
        ];
        assert_eq!(layout.fields, expected);
        assert_eq!(
            (layout.timestamp, layout.sampled, layout.size),
            (0, Some(8), 65)
        );
    }

    /// Each of these formats looped for ever, or panicked, in a reader that expands nested formats.
    #[test]
    fn formats_that_make_no_sense_have_no_layout() {
        let level = |n: usize| format!("l{n}:l{m}[65535] a;l{m}[65535] b;", m = n + 1);
        let levels: Vec<String> = (0..20).map(level).collect();
        let mut wide = formats(&["topic:uint64_t timestamp;l0 x;"]);
        assert!(levels.iter().all(|text| wide.add(text.as_bytes())));
        for formats in [
            wide,
            formats(&["topic:uint64_t timestamp;topic x;"]),
            formats(&["topic:uint64_t timestamp;a x;", "a:b x;b y;", "b:a x;a y;"]),
            formats(&["topic:uint64_t timestamp;nothing x;"]),
            formats(&["topic:uint64_t timestamp;float[-3] x;"]),
            formats(&["topic:uint64_t timestamp;double[9000] x;"]),
            formats(&["topic:uint64_t timestamp;float"]),
            formats(&["topic:float timestamp;float x;"]),
            formats(&["topic:float x;"]),
            formats(&["other:uint64_t timestamp;"]),
        ] {
            assert_eq!(formats.layout("topic", &["x"]), None, "{formats:?}");
        }
    }
}
