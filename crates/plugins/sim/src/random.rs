//! Random numbers, from the flight's seed.

use nalgebra::Vector3;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of independent random numbers. Streams of the same seed do not overlap.
#[derive(Clone)]
pub(crate) struct Random {
    generator: Xoshiro256PlusPlus,
}

/// The streams other than those of the groups: each starts 2^128 numbers after the previous one, the first as far after that of the first group,
/// however many groups there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Turbulence = 1,
    /// The transmission of joint samples.
    EncoderLink,
    /// For each sensor its errors, then the transmission of its samples.
    Imu,
    ImuLink,
    MotionCapture,
    MotionCaptureLink,
    Gnss,
    GnssLink,
    Barometer,
    BarometerLink,
    Magnetometer,
    MagnetometerLink,
    Airspeed,
    AirspeedLink,
    Range,
    RangeLink,
}

/// The number of streams reserved before those of the faults.
const FIRST_FAULT: usize = 64;

impl Random {
    /// The stream of the measurement group with this index. Those of the groups are 2^192 numbers apart.
    pub(crate) fn of_group(seed: u64, group: usize) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..group).for_each(|_| generator.long_jump());
        Self { generator }
    }

    /// The stream of the fault with this index, after all of these.
    pub(crate) fn of_fault(seed: u64, fault: usize) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..FIRST_FAULT + fault).for_each(|_| generator.jump());
        Self { generator }
    }

    /// The stream itself.
    pub(crate) fn of_stream(seed: u64, stream: Stream) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..stream as usize).for_each(|_| generator.jump());
        Self { generator }
    }

    /// Two independent standard normal numbers, by the Box-Muller transform[^1].
    ///
    /// [^1]: G. E. P. Box, M. E. Muller, A note on the generation of random normal deviates, 1958.
    pub(crate) fn pair(&mut self) -> [f64; 2] {
        let (radius, angle) = (
            (-2.0 * self.uniform().ln()).sqrt(),
            std::f64::consts::TAU * self.uniform(),
        );
        let (sin, cos) = angle.sin_cos();
        [radius * cos, radius * sin]
    }

    /// Three independent standard normal numbers.
    pub(crate) fn vector(&mut self) -> Vector3<f64> {
        let ([x, y], [z, _]) = (self.pair(), self.pair());
        Vector3::new(x, y, z)
    }

    /// A uniform number above 0, up to and including 1, in steps of 2^-53.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) + 1) as f64 * (-53.0_f64).exp2()
    }
}
