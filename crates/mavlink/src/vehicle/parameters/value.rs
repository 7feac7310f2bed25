//! A parameter's value, and the two encodings that autopilots use for it in a float.

use std::fmt;

use crate::dialect::{MavAutopilot, MavParamType, MavProtocolCapability};

/// A parameter's value, in the vehicle's own type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterValue {
    /// `UINT8`
    U8(u8),
    /// `INT8`
    I8(i8),
    /// `UINT16`
    U16(u16),
    /// `INT16`
    I16(i16),
    /// `UINT32`
    U32(u32),
    /// `INT32`
    I32(i32),
    /// `REAL32`
    F32(f32),
}

/// Encoding of integers in the float of `PARAM_VALUE` and `PARAM_SET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The float has the integer's bytes: PX4.
    Bytewise,
    /// The float has the integer's value, exact up to 2^24: ArduPilot.
    CCast,
}

impl Encoding {
    /// From the autopilot's reported capabilities (`AUTOPILOT_VERSION`), else from its known type.
    pub fn of(capabilities: Option<MavProtocolCapability>, autopilot: MavAutopilot) -> Self {
        let says = |bit| capabilities.is_some_and(|all| all.contains(bit));
        if says(MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE) {
            Self::Bytewise
        } else if says(MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST) {
            Self::CCast
        } else if autopilot == MavAutopilot::MAV_AUTOPILOT_PX4 {
            Self::Bytewise
        } else {
            Self::CCast
        }
    }
}

impl ParameterValue {
    /// MAVLink's type.
    pub fn kind(self) -> MavParamType {
        match self {
            Self::U8(_) => MavParamType::MAV_PARAM_TYPE_UINT8,
            Self::I8(_) => MavParamType::MAV_PARAM_TYPE_INT8,
            Self::U16(_) => MavParamType::MAV_PARAM_TYPE_UINT16,
            Self::I16(_) => MavParamType::MAV_PARAM_TYPE_INT16,
            Self::U32(_) => MavParamType::MAV_PARAM_TYPE_UINT32,
            Self::I32(_) => MavParamType::MAV_PARAM_TYPE_INT32,
            Self::F32(_) => MavParamType::MAV_PARAM_TYPE_REAL32,
        }
    }

    /// The number.
    pub fn number(self) -> f64 {
        match self {
            Self::U8(v) => v.into(),
            Self::I8(v) => v.into(),
            Self::U16(v) => v.into(),
            Self::I16(v) => v.into(),
            Self::U32(v) => v.into(),
            Self::I32(v) => v.into(),
            Self::F32(v) => v.into(),
        }
    }

    /// The value of that type nearest to none: `None` where the number is not one of the type's.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: the value must come back"
    )]
    pub fn of(kind: MavParamType, number: f64) -> Option<Self> {
        let value = match kind {
            MavParamType::MAV_PARAM_TYPE_UINT8 => Self::U8(number as u8),
            MavParamType::MAV_PARAM_TYPE_INT8 => Self::I8(number as i8),
            MavParamType::MAV_PARAM_TYPE_UINT16 => Self::U16(number as u16),
            MavParamType::MAV_PARAM_TYPE_INT16 => Self::I16(number as i16),
            MavParamType::MAV_PARAM_TYPE_UINT32 => Self::U32(number as u32),
            MavParamType::MAV_PARAM_TYPE_INT32 => Self::I32(number as i32),
            MavParamType::MAV_PARAM_TYPE_REAL32 => return Some(Self::F32(number as f32)),
            _ => return None,
        };
        (value.number() == number).then_some(value)
    }

    /// The float that carries it; `None` where it would arrive as another number.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked: it must come back"
    )]
    pub fn encode(self, encoding: Encoding) -> Option<f32> {
        if let Self::F32(value) = self {
            return Some(value);
        }
        match encoding {
            Encoding::CCast => {
                let float = self.number() as f32;
                (f64::from(float) == self.number()).then_some(float)
            }
            Encoding::Bytewise => {
                let bytes = match self {
                    Self::U8(v) => [v, 0, 0, 0],
                    Self::I8(v) => [v.to_le_bytes()[0], 0, 0, 0],
                    Self::U16(v) => [v.to_le_bytes()[0], v.to_le_bytes()[1], 0, 0],
                    Self::I16(v) => [v.to_le_bytes()[0], v.to_le_bytes()[1], 0, 0],
                    Self::U32(v) => v.to_le_bytes(),
                    Self::I32(v) => v.to_le_bytes(),
                    Self::F32(v) => v.to_le_bytes(),
                };
                Some(f32::from_le_bytes(bytes))
            }
        }
    }

    /// The value that a float carries; `None` for types of eight bytes, which do not fit, and for values outside the
    /// type's range.
    pub fn decode(float: f32, kind: MavParamType, encoding: Encoding) -> Option<Self> {
        let [a, b, ..] = float.to_le_bytes();
        match encoding {
            Encoding::CCast => Self::of(kind, f64::from(float)),
            Encoding::Bytewise => Some(match kind {
                MavParamType::MAV_PARAM_TYPE_UINT8 => Self::U8(a),
                MavParamType::MAV_PARAM_TYPE_INT8 => Self::I8(i8::from_le_bytes([a])),
                MavParamType::MAV_PARAM_TYPE_UINT16 => Self::U16(u16::from_le_bytes([a, b])),
                MavParamType::MAV_PARAM_TYPE_INT16 => Self::I16(i16::from_le_bytes([a, b])),
                MavParamType::MAV_PARAM_TYPE_UINT32 => {
                    Self::U32(u32::from_le_bytes(float.to_le_bytes()))
                }
                MavParamType::MAV_PARAM_TYPE_INT32 => {
                    Self::I32(i32::from_le_bytes(float.to_le_bytes()))
                }
                MavParamType::MAV_PARAM_TYPE_REAL32 => Self::F32(float),
                _ => return None,
            }),
        }
    }

    /// Whether both are the same number of the same type, bit for bit.
    pub fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => a.to_bits() == b.to_bits() || a == b,
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::F32(value) => write!(f, "{value}"),
            other => write!(f, "{}", other.number()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ParameterValue as V;

    #[test]
    fn values_come_back_in_both_encodings() {
        for value in [
            V::U8(0),
            V::U8(255),
            V::I8(-128),
            V::U16(65_535),
            V::I16(-32_768),
            V::U32(16_777_216),
            V::I32(-16_777_216),
            V::F32(0.1),
            V::F32(-0.0),
        ] {
            for encoding in [Encoding::Bytewise, Encoding::CCast] {
                let float = value.encode(encoding).unwrap();
                let back = V::decode(float, value.kind(), encoding).unwrap();
                assert!(back.is(value), "{value:?} came back as {back:?}");
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_a_c_union() {
        // By hand: 0x3f80_0000 is 1.0; as an integer 1 065 353 216.
        assert_eq!(V::I32(1_065_353_216).encode(Encoding::Bytewise), Some(1.0));
        // -1 is all ones, which no arithmetic may touch: it is a NaN.
        let float = V::I32(-1).encode(Encoding::Bytewise).unwrap();
        assert_eq!(float.to_bits(), u32::MAX);
        assert_eq!(
            V::decode(
                float,
                MavParamType::MAV_PARAM_TYPE_INT32,
                Encoding::Bytewise
            ),
            Some(V::I32(-1))
        );
    }

    #[test]
    fn what_a_float_cannot_carry_is_refused() {
        assert_eq!(V::I32(16_777_217).encode(Encoding::CCast), None);
        assert_eq!(V::U32(u32::MAX).encode(Encoding::CCast), None);
        let decode = |float, kind| V::decode(float, kind, Encoding::CCast);
        assert_eq!(decode(256.0, MavParamType::MAV_PARAM_TYPE_UINT8), None);
        assert_eq!(decode(-1.0, MavParamType::MAV_PARAM_TYPE_UINT16), None);
        assert_eq!(decode(0.5, MavParamType::MAV_PARAM_TYPE_INT32), None);
        assert_eq!(decode(f32::NAN, MavParamType::MAV_PARAM_TYPE_INT32), None);
        assert_eq!(decode(1.0, MavParamType::MAV_PARAM_TYPE_INT64), None);
    }

    #[test]
    fn the_encoding_is_what_the_autopilot_says() {
        let bytewise = MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE;
        let cast = MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST;
        let (px4, ardupilot) = (
            MavAutopilot::MAV_AUTOPILOT_PX4,
            MavAutopilot::MAV_AUTOPILOT_ARDUPILOTMEGA,
        );
        assert_eq!(Encoding::of(Some(bytewise), ardupilot), Encoding::Bytewise);
        assert_eq!(Encoding::of(Some(cast), px4), Encoding::CCast);
        assert_eq!(Encoding::of(None, px4), Encoding::Bytewise);
        assert_eq!(Encoding::of(None, ardupilot), Encoding::CCast);
    }
}
