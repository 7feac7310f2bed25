//! Descriptions with random mistakes are read or refused, and nothing else: whatever stands in the text, no panic, and errors that stand inside
//! of it.

use fly_mechanics::System;
use fly_mechanics::description::{
    DescriptionError, NonPhysicalInertia, UrdfMotors, UrdfOptions, UrdfRoot,
};
use fly_testing::Random;

const URDF: &str = include_str!("../../testdata/urdf/arm6.urdf");

/// What a hand at the keyboard, a generator or a bad disk puts in the place of something else.
const SNIPPETS: [&str; 24] = [
    "nan",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-1",
    "1e999",
    "99999999999999999999",
    "\"\"",
    "[]",
    "{}",
    "[[",
    "é",
    "\0",
    "\"world\"",
    "world",
    "<",
    "/>",
    "&amp;",
    "&x;",
    "<!--",
    "true",
    "1 2 3",
];

/// One to four mistakes: characters that are gone, twice there, or replaced; words that are exchanged with others.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.index(4) {
        let at = text.floor_char_boundary(random.index(text.len()));
        let end = text.floor_char_boundary(at + random.index(12)).max(at);
        match random.index(5) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, SNIPPETS[random.index(SNIPPETS.len())]),
            2 => {
                let copy = text[at..end].to_owned();
                text.insert_str(at, &copy);
            }
            // A number or a word becomes another one of the same text.
            3 | 4 => {
                let words: Vec<(usize, &str)> = text
                    .split(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)))
                    .filter(|word| !word.is_empty())
                    .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
                    .collect();
                if words.is_empty() {
                    continue;
                }
                let (start, word) = words[random.index(words.len())];
                let new = match random.index(2) {
                    0 => words[random.index(words.len())].1,
                    _ => SNIPPETS[random.index(SNIPPETS.len())],
                };
                let (range, new) = (start..start + word.len(), new.to_owned());
                text.replace_range(range, &new);
            }
            _ => {}
        }
    }
    text
}

/// Reads many mutations; returns how many were refused.
fn survive(
    original: &str,
    count: usize,
    read: impl Fn(&str, &mut Random) -> Result<System, DescriptionError>,
) -> usize {
    let mut random = Random::new(7);
    let mut refused = 0;
    for _ in 0..count {
        let text = mutated(original, &mut random);
        match read(&text, &mut random) {
            Ok(system) => {
                assert_eq!(system.joints.len(), system.model.body_count());
                assert!(system.model.mass().is_finite(), "{text}");
            }
            Err(error) => {
                refused += 1;
                assert!(
                    text.get(error.span.clone()).is_some(),
                    "{error}: {:?}\n{text}",
                    error.span
                );
                assert!(!error.to_string().is_empty());
                let (line, column) = error.line_column(&text);
                assert!(line >= 1 && column >= 1);
            }
        }
    }
    refused
}

#[test]
fn toml() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/systems");
    let (mut all, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        refused += survive(&text, 1000, |text, _| System::from_toml(text));
        all += 1000;
    }
    // Both happen, else the mutations test nothing.
    assert!(refused > all / 4 && refused < all, "{refused} of {all}");
}

#[test]
fn urdf() {
    let refused = survive(URDF, 2000, |text, random| {
        let options = UrdfOptions {
            root: [UrdfRoot::Fixed, UrdfRoot::Free][random.index(2)],
            motors: [UrdfMotors::Transmissions, UrdfMotors::EveryJoint][random.index(2)],
            non_physical_inertia: [NonPhysicalInertia::Refuse, NonPhysicalInertia::Raise]
                [random.index(2)],
            ..UrdfOptions::default()
        };
        System::from_urdf(text, &options)
    });
    assert!(refused > 500 && refused < 2000, "{refused} of 2000");
}
