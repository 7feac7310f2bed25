//! The International Standard Atmosphere up to 11 km: pressure and temperature by altitude.

/// At sea level, hPa, K, and the lapse rate, K/m.
const PRESSURE: f64 = 1013.25;
const TEMPERATURE: f64 = 288.15;
const LAPSE: f64 = 0.0065;
/// g M / (R lapse) of the standard's constants.
const EXPONENT: f64 = 9.806_65 * 0.028_964_4 / (8.314_32 * LAPSE);
/// Air density at sea level, kg/m³.
pub(crate) const DENSITY: f64 = 1.225;

/// Air temperature at this altitude (m), degrees Celsius.
pub(crate) fn temperature(altitude: f64) -> f64 {
    kelvin(altitude) - 273.15
}

/// Air pressure at this altitude (m), hPa.
pub(crate) fn pressure(altitude: f64) -> f64 {
    PRESSURE * (kelvin(altitude) / TEMPERATURE).powf(EXPONENT)
}

/// The altitude (m) with this pressure, hPa; `None` if it is outside the standard's range.
pub(crate) fn altitude(pressure: f64) -> Option<f64> {
    (pressure > 100.0 && pressure < 2000.0)
        .then(|| TEMPERATURE / LAPSE * (1.0 - (pressure / PRESSURE).powf(1.0 / EXPONENT)))
}

fn kelvin(altitude: f64) -> f64 {
    TEMPERATURE - LAPSE * altitude.clamp(-1000.0, 11_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ISO 2533, table 1.
    #[test]
    fn the_table_of_the_standard() {
        for (altitude, hpa, celsius) in [
            (0.0, 1013.25, 15.0),
            (1000.0, 898.746, 8.5),
            (5000.0, 540.199, -17.5),
            (11_000.0, 226.321, -56.5),
        ] {
            assert!(
                (pressure(altitude) - hpa).abs() < 2e-3,
                "{}",
                pressure(altitude)
            );
            assert!((temperature(altitude) - celsius).abs() < 1e-9);
            assert!((super::altitude(hpa).unwrap() - altitude).abs() < 0.1);
        }
        assert_eq!(super::altitude(0.0), None);
        assert_eq!(super::altitude(f64::NAN), None);
    }
}
