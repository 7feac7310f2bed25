//! The parameters' values before they were set, in a file that survives a crash.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use fly_hal::Error;

use crate::dialect::MavParamType;
use crate::{Board, ParameterValue};

/// Name, previous value and set value.
type Entry = (String, ParameterValue, ParameterValue);

/// The file of one vehicle: its board, and a parameter a line, `NAME TYPE BEFORE SET`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    path: PathBuf,
    board: Option<Board>,
}

/// The line with the board begins with this; readers that do not know it skip it.
const BOARD: &str = "# board ";

impl Record {
    /// In this file, of a vehicle with this board.
    pub fn at(path: PathBuf, board: Option<Board>) -> Self {
        Self { path, board }
    }

    /// In a file of its own below `$XDG_STATE_HOME`, else `~/.local/state`, else the folder for temporary files. Firmware that does not tell
    /// its board shares one with all others of its autopilot and system id.
    pub fn of(autopilot: &str, system: u8, board: Option<Board>) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let state = set("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")));
        let folder = state.unwrap_or_else(std::env::temp_dir).join("fly");
        let autopilot = autopilot.to_lowercase();
        let unique = board.map_or_else(String::new, |board| format!("-{board}"));
        let name = format!("parameters-{autopilot}-{system}{unique}.txt");
        Self::at(folder.join(name), board)
    }

    /// The file of vehicles that do not tell their board.
    pub fn shared(autopilot: &str, system: u8) -> PathBuf {
        Self::of(autopilot, system, None).path
    }

    /// The other files of vehicles with this autopilot and system id: of boards, or of none.
    pub fn others(&self, autopilot: &str, system: u8) -> Vec<PathBuf> {
        let shared = Self::shared(autopilot, system);
        let (Some(folder), Some(stem)) = (shared.parent(), shared.file_stem()) else {
            return Vec::new();
        };
        let stem = stem.to_string_lossy();
        let found = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_other = |path: &PathBuf| {
            let name = path.file_stem().map(OsStr::to_string_lossy);
            let rest = name.as_deref().and_then(|name| name.strip_prefix(&*stem));
            let is_text = path.extension().is_some_and(|end| end == "txt");
            is_text && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let paths = found.map(|entry| entry.path());
        paths
            .filter(|path| *path != self.path)
            .filter(is_other)
            .collect()
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
        if let Some(board) = self.board {
            let line = format!("{BOARD}{board}\n");
            text.push_str(&line);
        }
        for (name, before, set) in entries {
            text.push_str(&line(name, *before, *set));
        }
        // Nobody else's: not that of a file beside it, nor of another flight of this vehicle.
        let mut new = self.path.clone().into_os_string();
        new.push(format!(".{}.new", std::process::id()));
        let new = PathBuf::from(new);
        let write = || -> std::io::Result<()> {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&new, text)?;
            fs::File::open(&new)?.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|error| {
            // Where it was not renamed, it is of no use.
            let _ = fs::remove_file(&new);
            Error::io(
                format_args!("cannot write `{}`", self.path.display()),
                &error,
            )
        })
    }

    /// What an earlier flight has left; nothing where there is no file.
    ///
    /// # Errors
    /// The file cannot be read or understood, or is that of another board.
    pub fn read(&self) -> Result<Vec<Entry>, Error> {
        let path = self.path.display();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(format_args!("cannot read `{path}`"), &error)),
        };
        let ours = self.board.map(|board| board.to_string());
        let of_file = text.lines().find_map(|line| line.strip_prefix(BOARD));
        if let Some(of_file) = of_file.filter(|of_file| Some(*of_file) != ours.as_deref()) {
            let ours = ours.unwrap_or_else(|| "does not tell its own".to_owned());
            return Err(Error::configuration(format!(
                "`{path}` keeps parameters of the vehicle with the board {of_file}; this vehicle's board: {ours}"
            ))
            .with_help("give each vehicle a `parameters_file` of its own, or none"));
        }
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
    use crate::dialect::AUTOPILOT_VERSION_DATA;
    use ParameterValue as V;

    #[test]
    fn what_is_kept_comes_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::at(folder.path().join("deep/er.txt"), None);
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
        let record = Record::at(folder.path().join("parameters.txt"), None);
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

    fn board(number: u64) -> Option<Board> {
        Board::of(&AUTOPILOT_VERSION_DATA {
            uid: number,
            ..AUTOPILOT_VERSION_DATA::default()
        })
    }

    /// Two vehicles may share a file by mistake; what was set on one is not set on the other.
    #[test]
    fn a_file_is_that_of_one_board() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parameters.txt");
        let entry = [("A".to_owned(), V::I32(1), V::I32(2))];
        let record = |board| Record::at(path.clone(), board);
        record(board(1)).add(&entry).unwrap();
        assert_eq!(record(board(1)).read().unwrap(), entry);
        for other in [board(2), None] {
            let refused = record(other).add(&entry).unwrap_err();
            assert!(
                refused.message.contains("board 0000000000000001"),
                "{refused}"
            );
            assert!(refused.help.is_some());
        }
        // A file of firmware that tells none, or of before this line was there.
        record(None).write(&entry).unwrap();
        assert_eq!(record(board(2)).read().unwrap(), entry);
    }

    #[test]
    fn boards_have_files_of_their_own() {
        let of = |board| Record::of("PX4", 1, board).path;
        assert_ne!(of(board(1)), of(board(2)));
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(
            name(of(board(0x1200))),
            "parameters-px4-1-00000000000012.txt"
        );
        assert_eq!(name(of(None)), "parameters-px4-1.txt");
    }

    /// Several flights may keep theirs in one folder, at the same time.
    #[test]
    fn files_that_differ_in_their_extensions_are_written_apart() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::at(folder.path().join("parameters.1"), None);
        // What another flight is about to rename to `parameters.2`.
        let theirs = folder.path().join("parameters.new");
        std::fs::write(&theirs, "A i32 1 2\n").unwrap();
        let entry = [("B".to_owned(), V::I32(3), V::I32(4))];
        record.write(&entry).unwrap();
        assert_eq!(record.read().unwrap(), entry);
        assert_eq!(std::fs::read_to_string(theirs).unwrap(), "A i32 1 2\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_is_none_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let record = Record::at(path, None);
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
