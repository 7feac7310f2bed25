//! Random changes of bytes and texts, the same for the same number.

/// Random numbers: `SplitMix64` (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    /// Of a case of a seed.
    pub fn new(seed: u64, case: u64) -> Self {
        let mut random = Self(seed ^ case.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Numbers at the limits of what fields hold.
const NUMBERS: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    u64::MAX,
];

/// Texts in place of a number or a word.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e308",
    "-1e-320",
    "nan",
    "inf",
    "-inf",
    "99999999999999999999",
    "1_000",
    "0x7f",
    "true",
    "\"\"",
    "[]",
    "[[]]",
    "{}",
    "\u{0}",
    "é",
    "'''",
    "[[[[[[[[",
    "a.b.c.d = 1\n",
    "\n[",
    "<a>",
    "</robot>",
    "&amp;",
];

/// Changes a few places; `other` is a source of foreign pieces.
pub fn change(bytes: &mut Vec<u8>, other: &[u8], is_text: bool, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let length = bytes.len();
        let place = random.below(length + 1).min(length.saturating_sub(1));
        let piece = |random: &mut Random, most: usize| {
            let end = (place + 1 + random.below(most)).min(length);
            place.min(end)..end
        };
        match random.below(if is_text { 14 } else { 10 }) {
            0 | 1 if length > 0 => bytes[place] ^= 1 << random.below(8),
            2 if length > 0 => bytes[place] = random.next() as u8,
            3 => drop(bytes.drain(piece(random, 64))),
            4 => {
                let copy = bytes[piece(random, 400)].to_vec();
                let at = random.below(length + 1);
                bytes.splice(at..at, copy);
            }
            5 => {
                let from = random.below(other.len());
                let to = (from + random.below(400)).min(other.len());
                let range = piece(random, 64);
                bytes.splice(range, other[from..to].iter().copied());
            }
            6 => bytes.truncate(random.below(length + 1)),
            7 | 8 => {
                let width = 1 << random.below(4);
                let number = match random.below(3) {
                    0 => random.next(),
                    1 => length as u64,
                    _ => NUMBERS[random.below(NUMBERS.len())],
                };
                let end = (place + width).min(length);
                let number = number.to_le_bytes();
                bytes[place..end].copy_from_slice(&number[..end - place]);
            }
            9 => {
                let many = vec![random.next() as u8; random.below(2000)];
                bytes.splice(place..place, many);
            }
            10 | 11 => {
                let word = word_at(bytes, place);
                let new = random.choose(&WORDS);
                bytes.splice(word, new.bytes());
            }
            12 => {
                let many = random.choose(&WORDS).repeat(1 + random.below(300));
                bytes.splice(place..place, many.into_bytes());
            }
            _ => {
                // A line in another place.
                let line = line_at(bytes, place);
                let text = bytes[line].to_vec();
                let at = line_at(bytes, random.below(length)).start;
                bytes.splice(at..at, text);
            }
        }
    }
}

fn around(bytes: &[u8], place: usize, within: impl Fn(u8) -> bool) -> std::ops::Range<usize> {
    let place = place.min(bytes.len());
    let start = bytes[..place].iter().rposition(|&byte| !within(byte));
    let end = bytes[place..].iter().position(|&byte| !within(byte));
    start.map_or(0, |at| at + 1)..end.map_or(bytes.len(), |at| place + at)
}

fn word_at(bytes: &[u8], place: usize) -> std::ops::Range<usize> {
    around(bytes, place, |byte| {
        byte.is_ascii_alphanumeric() || b"._-+".contains(&byte)
    })
}

fn line_at(bytes: &[u8], place: usize) -> std::ops::Range<usize> {
    let line = around(bytes, place, |byte| byte != b'\n');
    line.start..(line.end + 1).min(bytes.len())
}
