//! A part of a campaign.

use std::fmt;
use std::str::FromStr;

/// Every `of`-th flight of a campaign, from index `number - 1` on; the whole campaign is shard 1 of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// The whole campaign.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether it contains the flight of this index.
    pub fn has(self, index: u64) -> bool {
        index % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// Position of this flight among its own; `None` if it does not contain the flight.
    pub(crate) fn place(self, index: u64) -> Option<usize> {
        self.has(index)
            .then(|| usize::try_from(index / u64::from(self.of)).ok())
            .flatten()
    }

    /// Number of its flights in a campaign of `flights`.
    pub fn count(self, flights: u64) -> u64 {
        (flights.saturating_sub(u64::from(self.number - 1))).div_ceil(u64::from(self.of))
    }

    /// Indices of its flights in a campaign of `flights`.
    pub fn indices(self, flights: u64) -> impl Iterator<Item = u64> {
        (u64::from(self.number - 1)..flights).step_by(self.of as usize)
    }

    /// Suffix of its file names: empty for the whole campaign, `-2-of-4` for a part.
    pub fn suffix(self) -> String {
        match self {
            Self::WHOLE => String::new(),
            Self { number, of } => format!("-{number}-of-{of}"),
        }
    }

    pub(crate) fn parts(self) -> [u32; 2] {
        [self.number, self.of]
    }

    pub(crate) fn of_parts([number, of]: [u32; 2]) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(number, of)| Some([number.parse().ok()?, of.parse().ok()?]));
        (parts.and_then(Self::of_parts))
            .ok_or_else(|| "expected NUMBER/SHARDS from 1/1 on, such as 2/4".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_all_flights() {
        let mut all: Vec<u64> = Vec::new();
        for number in 1..=3 {
            let shard: Shard = format!("{number}/3").parse().unwrap();
            assert!(shard.indices(11).all(|index| shard.has(index)));
            assert_eq!(shard.indices(11).count() as u64, shard.count(11));
            for (place, index) in shard.indices(11).enumerate() {
                assert_eq!(shard.place(index), Some(place));
                assert_eq!(shard.place(index + 1), None);
            }
            all.extend(shard.indices(11));
        }
        all.sort_unstable();
        assert_eq!(all, (0..11).collect::<Vec<_>>());
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
