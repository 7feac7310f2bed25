//! Position of the world's origin on the globe.

use serde::Deserialize;

use crate::frames::Vector;

/// Mean radius of the earth, m, as PX4 takes it.
const RADIUS: f64 = 6_371_000.0;

/// The place of the world's origin.
///
/// Positions are mapped by the azimuthal equidistant projection on a sphere, as in PX4: distances from the origin are right.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Origin {
    /// Degrees, north positive.
    pub latitude: f64,
    /// Degrees, east positive.
    pub longitude: f64,
    /// Above mean sea level, m.
    pub altitude: f64,
}

impl Default for Origin {
    /// Irchel park in Zurich, where the simulators of PX4 begin.
    fn default() -> Self {
        Self {
            latitude: 47.397_742,
            longitude: 8.545_594,
            altitude: 488.0,
        }
    }
}

impl Origin {
    /// Whether it is a place on the globe.
    pub fn is_valid(&self) -> bool {
        // The projection has no north at the poles.
        self.latitude.abs() <= 89.0
            && self.longitude.abs() <= 180.0
            && (-1000.0..=100_000.0).contains(&self.altitude)
    }

    /// Latitude and longitude (degrees) and altitude (m) of a position in the world, NED, m.
    pub fn global(&self, [north, east, down]: Vector) -> [f64; 3] {
        let (sin0, cos0) = self.latitude.to_radians().sin_cos();
        let (x, y) = (north / RADIUS, east / RADIUS);
        let c = x.hypot(y);
        let (sin_c, cos_c) = c.sin_cos();
        // sin(c) / c
        let ratio = if c < 1e-12 { 1.0 } else { sin_c / c };
        let latitude = (cos_c * sin0 + x * ratio * cos0).clamp(-1.0, 1.0).asin();
        let longitude = (y * ratio).atan2(cos0 * cos_c - x * ratio * sin0);
        [
            latitude.to_degrees(),
            wrapped(self.longitude + longitude.to_degrees()),
            self.altitude - down,
        ]
    }

    /// The position in the world, NED, m, of a latitude and longitude (degrees) and an altitude (m).
    pub fn local(&self, [latitude, longitude, altitude]: [f64; 3]) -> Vector {
        let (sin0, cos0) = self.latitude.to_radians().sin_cos();
        let (sin1, cos1) = latitude.to_radians().sin_cos();
        let difference = wrapped(longitude - self.longitude).to_radians();
        let (sin_d, cos_d) = difference.sin_cos();
        let across = [cos0 * sin1 - sin0 * cos1 * cos_d, cos1 * sin_d];
        let sin_c = across[0].hypot(across[1]);
        let c = sin_c.atan2(sin0 * sin1 + cos0 * cos1 * cos_d);
        let ratio = if sin_c < 1e-12 { 1.0 } else { c / sin_c };
        [
            across[0] * ratio * RADIUS,
            across[1] * ratio * RADIUS,
            self.altitude - altitude,
        ]
    }
}

/// Degrees, wrapped to within half a turn.
fn wrapped(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINS: [Origin; 3] = [
        Origin {
            latitude: 47.397_742,
            longitude: 8.545_594,
            altitude: 488.0,
        },
        Origin {
            latitude: -35.363_262,
            longitude: 149.165_237,
            altitude: 584.0,
        },
        Origin {
            latitude: 0.0,
            longitude: 179.9999,
            altitude: 0.0,
        },
    ];

    #[test]
    fn positions_come_back() {
        for origin in ORIGINS {
            for at in [
                [0.0; 3],
                [1e-3, 0.0, 1.0],
                [30.0, -40.0, -10.0],
                [-9e3, 2e4, 500.0],
            ] {
                let global = origin.global(at);
                assert!(global[1].abs() <= 180.0, "{global:?}");
                let back = origin.local(global);
                for (a, b) in at.iter().zip(back) {
                    // Double precision of degrees is 1e-14 of 180, a nanometre.
                    assert!((a - b).abs() < 1e-7, "{at:?} {back:?}");
                }
            }
        }
    }

    /// Great circles: distance by the haversine, azimuth by the four-part formula.
    #[test]
    fn distance_and_direction_are_those_of_the_sphere() {
        for origin in ORIGINS {
            let at = [3000.0, -4000.0, 0.0];
            let [lat, lon, _] = origin.global(at);
            let (a, b) = (origin.latitude.to_radians(), lat.to_radians());
            let d = (lon - origin.longitude).to_radians();
            let h = ((b - a) / 2.0).sin().powi(2) + a.cos() * b.cos() * (d / 2.0).sin().powi(2);
            let distance = 2.0 * RADIUS * h.sqrt().asin();
            assert!((distance - 5000.0).abs() < 1e-6, "{distance}");
            let azimuth =
                (d.sin() * b.cos()).atan2(a.cos() * b.sin() - a.sin() * b.cos() * d.cos());
            assert!((azimuth - (-4.0_f64).atan2(3.0)).abs() < 1e-9, "{azimuth}");
        }
    }

    #[test]
    fn a_degree_to_the_north_is_its_arc() {
        let origin = Origin::default();
        let [lat, lon, _] = origin.global([RADIUS.to_radians(), 0.0, 0.0]);
        assert!(
            (lat - origin.latitude - 1.0).abs() < 1e-10 && (lon - origin.longitude).abs() < 1e-12
        );
    }
}
