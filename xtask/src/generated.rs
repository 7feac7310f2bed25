//! Checks that the generated files match their sources, by checksums of both: building the generators takes longer than
//! most tests.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The checksums, one `crc32  path` a line; `cargo xtask generate` writes them.
const SUMS: &str = "xtask/generated.sums";

/// The generators' inputs and outputs: files and whole folders.
const FILES: [&str; 6] = [
    "crates/hal/cbindgen.toml",
    "crates/hal/include/fly_plugin.h",
    "crates/hal/src/abi/types.rs",
    "crates/log/proto",
    "crates/log/src/generated",
    "xtask/src/generate.rs",
];

/// Fails if a file has changed since the generators ran.
pub fn check() -> Result<()> {
    let path = workspace::root().join(SUMS);
    let recorded = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (recorded, current) = (parse(&recorded)?, sums(workspace::root())?);
    let stale: Vec<&str> = recorded
        .keys()
        .chain(current.keys())
        .filter(|&path| recorded.get(path) != current.get(path))
        .map(String::as_str)
        .collect();
    if let Some(first) = stale.first() {
        bail!(
            "{first} changed since the last `cargo xtask generate`: run it, and commit what it writes"
        );
    }
    Ok(())
}

/// Records the checksums of the current files.
#[cfg(feature = "generate")]
pub fn record() -> Result<()> {
    let lines = sums(workspace::root())?;
    let text: String = lines
        .iter()
        .map(|(path, sum)| format!("{sum:08x}  {path}\n"))
        .collect();
    let path = workspace::root().join(SUMS);
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}

type Sums = BTreeMap<String, u32>;

fn parse(text: &str) -> Result<Sums> {
    text.lines()
        .map(|line| {
            let (sum, path) = line
                .split_once("  ")
                .with_context(|| format!("{SUMS}: {line}"))?;
            let sum = u32::from_str_radix(sum, 16).with_context(|| format!("{SUMS}: {line}"))?;
            Ok((path.to_owned(), sum))
        })
        .collect()
}

fn sums(root: &Path) -> Result<Sums> {
    let mut sums = Sums::new();
    for path in FILES {
        add(root, path, &mut sums)?;
    }
    Ok(sums)
}

fn add(root: &Path, path: &str, sums: &mut Sums) -> Result<()> {
    let full = root.join(path);
    if !full.is_dir() {
        let content = fs::read(&full).with_context(|| full.display().to_string())?;
        sums.insert(path.to_owned(), crc32fast::hash(&content));
        return Ok(());
    }
    for entry in fs::read_dir(&full).with_context(|| full.display().to_string())? {
        let name = entry?.file_name();
        add(root, &format!("{path}/{}", name.to_string_lossy()), sums)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Sums, add, check, parse};

    #[test]
    fn the_committed_files_belong_together() {
        check().unwrap();
    }

    #[test]
    fn a_changed_byte_changes_its_line_alone() {
        let folder = std::env::temp_dir().join(format!("fly-sums-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        let sums = |one: &str| {
            std::fs::write(folder.join("a/one"), one).unwrap();
            std::fs::write(folder.join("a/two"), "two").unwrap();
            let mut sums = Sums::new();
            add(&folder, "a", &mut sums).unwrap();
            sums
        };
        let (before, after) = (sums("one"), sums("onf"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_ne!(before["a/one"], after["a/one"]);
        assert_eq!(before["a/two"], after["a/two"]);
    }

    #[test]
    fn lines_are_sums_and_paths() {
        assert_eq!(parse("000000ff  a/b c\n").unwrap()["a/b c"], 255);
        assert!(parse("000000ff a").is_err());
        assert!(parse("xyz  a").is_err());
    }
}
