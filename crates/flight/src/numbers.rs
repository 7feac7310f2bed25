//! Numbers in a readable form.

use std::borrow::Cow;

/// An `f64` has at most 17 significant digits; a longer number consists mostly of zeros.
const LONGEST: usize = 20;

/// Writes every number of more than 20 digits in the text as a power of ten. Rust prints all 309 digits of `1e308`.
///
/// ```
/// let text = format!("expected at most 1e9 s, found {}", 1e30);
/// assert_eq!(fly_flight::short_numbers(&text), "expected at most 1e9 s, found 1e30");
/// ```
pub fn short_numbers(text: &str) -> Cow<'_, str> {
    let mut short = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(begin) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let begin = at + begin;
        let end = end_of_number(text, begin);
        at = end;
        let token = &text[begin..end];
        let in_word = text[..begin]
            .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
            || text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let digits = token.bytes().filter(u8::is_ascii_digit).count();
        if digits <= LONGEST || in_word {
            continue;
        }
        if let Ok(value) = token.parse::<f64>() {
            let powers = format!("{value:e}");
            short.extend([&text[kept..begin], &powers]);
            kept = end;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    short.push_str(&text[kept..]);
    Cow::Owned(short)
}

/// Index at which the number ends that begins here, with at most one decimal point.
fn end_of_number(text: &str, begin: usize) -> usize {
    let digits = |from: usize| {
        let end = text[from..].find(|c: char| !c.is_ascii_digit());
        end.map_or(text.len(), |length| from + length)
    };
    let whole = digits(begin);
    match text[whole..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => digits(whole + 1),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_numbers_are_shortened() {
        let same = [
            "found 0.30000000000000004 s",
            "12345678901234567890",
            "flight-20260101T000000.00000000000000000000000Z",
            "no digits",
            "",
        ];
        for text in same {
            assert_eq!(short_numbers(text), text);
        }
    }

    #[test]
    fn every_float_is_read_back() {
        for value in [
            1e308,
            -1e308,
            1e-308,
            f64::MIN_POSITIVE / 3.0,
            1.5e22,
            f64::MAX,
        ] {
            let text = format!("found {value}, {value} kg.");
            let short = short_numbers(&text);
            assert_eq!(short, format!("found {value:e}, {value:e} kg."));
        }
    }
}
