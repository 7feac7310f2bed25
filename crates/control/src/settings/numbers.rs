//! One number or a list of them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// One number, which counts for all, or a list with one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// The same for all.
    One(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl Numbers {
    /// For `count` of them; `None` if the list has another length.
    pub fn expand(&self, count: usize) -> Option<Vec<f64>> {
        match self {
            Self::One(number) => Some(vec![*number; count]),
            Self::Each(numbers) => (numbers.len() == count).then(|| numbers.clone()),
        }
    }

    /// As they are written.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Self::One(number) => std::slice::from_ref(number),
            Self::Each(numbers) => numbers,
        }
    }
}

written_as!(Numbers: f64, Vec<f64>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumbersVisitor;
        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Numbers, E> {
                Ok(Numbers::One(value))
            }
            integers_are_numbers!();
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element()? {
                    numbers.push(number);
                }
                Ok(Numbers::Each(numbers))
            }
        }
        deserializer.deserialize_any(NumbersVisitor)
    }
}
