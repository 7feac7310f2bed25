//! Round tick values of an axis, and their labels.

/// The ticks of an axis, with labels.
pub(crate) fn ticks(log: bool, [low, high]: [f64; 2], wanted: f64) -> Vec<(f64, String)> {
    if log {
        decades(low, high, wanted)
    } else {
        round(low, high, wanted)
    }
}

/// About `wanted` multiples of 1, 2 or 5 times a power of ten, at least two.
fn round(low: f64, high: f64, wanted: f64) -> Vec<(f64, String)> {
    let raw = (high - low) / wanted.max(1.0);
    if raw <= 0.0 || !raw.is_finite() {
        return Vec::new();
    }
    let power = raw.log10().floor();
    let unit = 10_f64.powf(power);
    let [one, two, five, ten] = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    let step = match raw * 0.999 / unit {
        r if r <= 1.0 => one,
        r if r <= 2.0 => two,
        r if r <= 5.0 => five,
        _ => ten,
    };
    let exponent = if step == ten { power + 1.0 } else { power };
    let first = (low / step - 1e-9).ceil();
    // At most a few times the wanted number: the step is at least half of `raw`.
    let count = ((high / step + 1e-9).floor() - first).clamp(-1.0, 1e3);
    let largest = low.abs().max(high.abs());
    let mut found = Vec::new();
    let mut k = 0.0;
    while k <= count {
        let number = first + k;
        found.push((number * step, label(number * step, exponent, largest)));
        k += 1.0;
    }
    // From five steps on there are at least two multiples.
    if found.len() < 2 && wanted < 5.0 {
        return round(low, high, 2.0 * wanted.max(1.0));
    }
    found
}

/// A number whose last digit is that of 10 to `exponent`; beside one as large as `largest`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both are small whole numbers"
)]
fn label(value: f64, exponent: f64, largest: f64) -> String {
    let order = largest.log10().floor();
    if (-4.0..6.0).contains(&order) && exponent >= -6.0 {
        let digits = (-exponent).max(0.0) as usize;
        return signed(&format!("{value:.digits$}"));
    }
    let digits = (order - exponent).clamp(0.0, 12.0) as usize;
    let mantissa = format!("{:.digits$}", value / 10_f64.powf(order));
    if mantissa.trim_matches(['0', '.', '-']).is_empty() {
        return "0".to_owned();
    }
    format!("{}·{}", signed(&mantissa), power_of_ten(order as i32))
}

/// With a true minus sign, but not before a zero.
fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(zero) if zero.trim_matches(['0', '.']).is_empty() => zero.to_owned(),
        Some(number) => format!("−{number}"),
        None => text.to_owned(),
    }
}

fn power_of_ten(exponent: i32) -> String {
    let raised = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
        })
        .collect::<String>();
    format!("10{raised}")
}

/// Powers of ten, all or every few; for a range of a few decades also 2 and 5 times these, and where fewer than two remain,
/// as few more as make two.
#[expect(
    clippy::cast_possible_truncation,
    reason = "exponents of f64 are small"
)]
fn decades(low: f64, high: f64, wanted: f64) -> Vec<(f64, String)> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Vec::new();
    }
    let span = high.log10() - low.log10();
    if span < 0.9 {
        return round(low, high, wanted);
    }
    let every = (span / wanted.max(1.0)).ceil().max(1.0) as i32;
    let usual: &[f64] = if 3.0 * span <= wanted {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let choices: [(i32, &[f64]); 5] = [
        (every, usual),
        ((every / 2).max(1), &[1.0]),
        ((every / 4).max(1), &[1.0]),
        (1, &[1.0, 3.0]),
        (1, &[1.0, 2.0, 5.0]),
    ];
    let mut found = choices
        .into_iter()
        .map(|(every, factors)| multiples(low, high, every, factors));
    found.find(|ticks| ticks.len() > 1).unwrap_or_default()
}

/// These multiples of powers of ten, of all or every few exponents.
#[expect(
    clippy::cast_possible_truncation,
    reason = "exponents of f64 are small"
)]
fn multiples(low: f64, high: f64, every: i32, factors: &[f64]) -> Vec<(f64, String)> {
    let mut found = Vec::new();
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    for exponent in (from..=to).filter(|exponent| exponent % every == 0) {
        for factor in factors {
            let value = factor * 10_f64.powi(exponent);
            if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                let text = if (-2..4).contains(&exponent) {
                    label(value, f64::from(exponent.min(0)), value)
                } else if *factor == 1.0 {
                    power_of_ten(exponent)
                } else {
                    format!("{factor}·{}", power_of_ten(exponent))
                };
                found.push((value, text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(log: bool, range: [f64; 2], wanted: f64) -> Vec<String> {
        let found = ticks(log, range, wanted).into_iter();
        found.map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_labelled_with_as_many_digits_as_they_need() {
        assert_eq!(
            labels(false, [0.0, 10.0], 5.0),
            ["0", "2", "4", "6", "8", "10"]
        );
        assert_eq!(
            labels(false, [-0.31, 0.12], 5.0),
            ["−0.3", "−0.2", "−0.1", "0.0", "0.1"]
        );
        assert_eq!(
            labels(false, [1.0, 1.001], 2.0),
            ["1.0000", "1.0005", "1.0010"]
        );
        assert_eq!(
            labels(false, [0.0, 3e-7], 3.0),
            ["0", "1·10⁻⁷", "2·10⁻⁷", "3·10⁻⁷"]
        );
        assert_eq!(labels(false, [-2e8, 0.0], 2.0), ["−2·10⁸", "−1·10⁸", "0"]);
        assert_eq!(labels(false, [95.0, 105.0], 2.0), ["95", "100", "105"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades() {
        assert_eq!(
            labels(true, [1e-6, 1.0], 3.0),
            ["10⁻⁶", "10⁻⁴", "0.01", "1"]
        );
        assert_eq!(
            labels(true, [0.9, 100.0], 8.0),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(labels(true, [2.0, 4.0], 2.0), ["2", "3", "4"]);
    }

    /// One tick tells no scale.
    #[test]
    fn axes_have_at_least_two_ticks() {
        assert_eq!(labels(true, [1.2, 80.0], 4.7), ["3", "10", "30"]);
        assert_eq!(labels(true, [0.002, 0.9], 1.2), ["0.01", "0.1"]);
        assert_eq!(
            labels(false, [5.1, 14.6], 4.7),
            ["6", "8", "10", "12", "14"]
        );
        for log in [false, true] {
            for tenths in 10..100 {
                for high in (1..200).chain([1000, 10_000]) {
                    let range = [0.37, 0.37 * 1.05_f64.powi(high)];
                    let wanted = f64::from(tenths) * 0.1;
                    let found = ticks(log, range, wanted);
                    let sensible = 2.0..=2.0 * wanted + 6.0;
                    assert!(
                        sensible.contains(&(found.len() as f64)),
                        "{log} {range:?} {wanted}: {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn ranges_without_extent_have_no_ticks() {
        for range in [
            [1.0, 1.0],
            [2.0, 1.0],
            [f64::NAN, 1.0],
            [0.0, f64::INFINITY],
        ] {
            assert!(ticks(false, range, 5.0).is_empty());
            assert!(ticks(true, range, 5.0).is_empty());
        }
        assert!(ticks(true, [-1.0, 1.0], 5.0).is_empty());
    }
}
