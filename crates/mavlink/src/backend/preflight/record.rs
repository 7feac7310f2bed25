//! The parameters' values before they were set, in a file that survives a crash.

use std::fs;
use std::path::PathBuf;

use fly_hal::Error;

use crate::ParameterValue;
use crate::dialect::MavParamType;

/// Name, previous value and set value.
type Entry = (String, ParameterValue, ParameterValue);

/// The file of one vehicle: a parameter a line, `NAME TYPE BEFORE SET`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub path: PathBuf,
}

impl Record {
    /// Below `$XDG_STATE_HOME`, else `~/.local/state`, else the folder for temporary files.
    pub fn of(autopilot: &str, system: u8) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let state = set("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")));
        let folder = state.unwrap_or_else(std::env::temp_dir).join("fly");
        let autopilot = autopilot.to_lowercase();
        Self {
            path: folder.join(format!("parameters-{autopilot}-{system}.txt")),
        }
    }

    /// Keeps the entries beside those that an earlier flight has left, whose values before it are the first ones.
    ///
    /// # Errors
    /// The file cannot be read, understood or written.
    pub fn add(&self, entries: &[Entry]) -> Result<(), Error> {
        let mut all = self.read()?;
        for (name, before, set) in entries {
            match all.iter_mut().find(|entry| entry.0 == *name) {
                Some(left) if left.1.kind() == set.kind() => left.2 = *set,
                Some(left) => *left = (name.clone(), *before, *set),
                None => all.push((name.clone(), *before, *set)),
            }
        }
        self.write(&all)
    }

    /// Keeps these entries only.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, entries: &[Entry]) -> Result<(), Error> {
        let mut text = String::from("# what `fly` has set on a vehicle: NAME TYPE BEFORE SET\n");
        for (name, before, set) in entries {
            text.push_str(&line(name, *before, *set));
        }
        let new = self.path.with_extension("new");
        let write = || -> std::io::Result<()> {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&new, text)?;
            fs::File::open(&new)?.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|error| {
            Error::io(
                format_args!("cannot write `{}`", self.path.display()),
                &error,
            )
        })
    }

    /// What an earlier flight has left; nothing where there is no file.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn read(&self) -> Result<Vec<Entry>, Error> {
        let path = self.path.display();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(format_args!("cannot read `{path}`"), &error)),
        };
        text.lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| {
                entry(line).ok_or_else(|| {
                    Error::configuration(format!(
                        "`{path}` has `{line}`, expected NAME TYPE BEFORE SET"
                    ))
                })
            })
            .collect()
    }

    /// Removes the file: everything is restored.
    pub fn remove(&self) {
        // None was there, or it says the truth at the next start as well.
        let _ = fs::remove_file(&self.path);
    }
}

const KINDS: [(&str, MavParamType); 7] = [
    ("u8", MavParamType::MAV_PARAM_TYPE_UINT8),
    ("i8", MavParamType::MAV_PARAM_TYPE_INT8),
    ("u16", MavParamType::MAV_PARAM_TYPE_UINT16),
    ("i16", MavParamType::MAV_PARAM_TYPE_INT16),
    ("u32", MavParamType::MAV_PARAM_TYPE_UINT32),
    ("i32", MavParamType::MAV_PARAM_TYPE_INT32),
    ("f32", MavParamType::MAV_PARAM_TYPE_REAL32),
];

fn line(name: &str, before: ParameterValue, set: ParameterValue) -> String {
    let kind = KINDS.iter().find(|(_, kind)| *kind == before.kind());
    let kind = kind.map_or("f32", |(name, _)| name);
    format!("{name} {kind} {} {}\n", before.number(), set.number())
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_owned();
    let kind = words.next()?;
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == kind)?;
    let mut value = || ParameterValue::of(*kind, words.next()?.parse().ok()?);
    let entry = (name, value()?, value()?);
    words.next().is_none().then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ParameterValue as V;

    #[test]
    fn what_is_kept_comes_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record {
            path: folder.path().join("deep/er.txt"),
        };
        assert_eq!(record.read().unwrap(), []);
        let entries = [
            ("GUID_OPTIONS", V::I32(-7), V::I32(8)),
            ("COM_OF_LOSS_T", V::F32(0.1), V::F32(1.0)),
            ("A", V::U32(u32::MAX), V::U32(0)),
        ]
        .map(|(name, before, set)| (name.to_owned(), before, set));
        record.write(&entries).unwrap();
        assert_eq!(record.read().unwrap(), entries);
        record.remove();
        assert_eq!(record.read().unwrap(), []);
    }

    /// What an earlier flight has set and nobody could set back is not forgotten by the next one.
    #[test]
    fn what_an_earlier_flight_has_left_stays() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record {
            path: folder.path().join("parameters.txt"),
        };
        let entry = |name: &str, before, set| (name.to_owned(), V::I32(before), V::I32(set));
        record
            .write(&[entry("GUID_OPTIONS", 0, 8), entry("A", 1, 2)])
            .unwrap();
        record
            .add(&[entry("GUID_OPTIONS", 1, 9), entry("DISARM_DELAY", 2, 5)])
            .unwrap();
        let expected = [
            entry("GUID_OPTIONS", 0, 9),
            entry("A", 1, 2),
            entry("DISARM_DELAY", 2, 5),
        ];
        assert_eq!(record.read().unwrap(), expected);
    }

    #[test]
    fn a_file_that_is_none_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let record = Record { path };
        for text in [
            "A i32 1",
            "A i9 1 2",
            "A i32 1 2 3",
            "A u8 -1 2",
            "A i32 x 2",
        ] {
            std::fs::write(&record.path, text).unwrap();
            assert!(record.read().unwrap_err().message.contains(text), "{text}");
        }
    }
}
