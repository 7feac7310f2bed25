//! Rejects libraries by their ELF header: those for another machine, which the dynamic linker may tell as a missing file,
//! and truncated ones, which it would map, so that the process would die of SIGBUS.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LoadError;

/// Length of the part of the header that is the same in all ELF files, bytes.
const COMMON: usize = 20;
/// Length of the header of a 64-bit ELF file, bytes.
const HEADER: usize = 64;
/// Length of an entry of the program header table, bytes.
const ENTRY: usize = 56;
/// A segment that is mapped into memory.
const PT_LOAD: u32 = 1;

/// Machines and their names, by the numbers of ELF.
const MACHINES: [(u16, &str); 9] = [
    (3, "x86"),
    (8, "MIPS"),
    (21, "PowerPC64"),
    (22, "s390"),
    (40, "32-bit Arm"),
    (62, "x86-64"),
    (183, "AArch64"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// That of this program; `None` for one that is not listed.
const OWN: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else if cfg!(target_arch = "arm") {
    Some(40)
} else if cfg!(target_arch = "riscv64") {
    Some(243)
} else if cfg!(target_arch = "x86") {
    Some(3)
} else {
    None
};

/// What a file is built for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Target {
    machine: u16,
    is_64_bit: bool,
    is_big_endian: bool,
}

impl Target {
    /// That of this program.
    fn own() -> Option<Self> {
        Some(Self {
            machine: OWN?,
            is_64_bit: cfg!(target_pointer_width = "64"),
            is_big_endian: cfg!(target_endian = "big"),
        })
    }

    /// That of a file; `None` if it is not ELF, or cannot be read.
    fn of(file: &File) -> Option<Self> {
        let mut header = [0; COMMON];
        file.read_exact_at(&mut header, 0).ok()?;
        let is_big_endian = header[5] == 2;
        let machine = half(&header, 18);
        header.starts_with(b"\x7fELF").then_some(Self {
            machine: if is_big_endian {
                machine.swap_bytes()
            } else {
                machine
            },
            is_64_bit: header[4] == 2,
            is_big_endian,
        })
    }
}

impl fmt::Display for Target {
    /// `AArch64`, or `{:#}`: `AArch64 (64 bits, little-endian)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MACHINES.iter().find(|(number, _)| *number == self.machine);
        match name {
            Some((_, name)) => f.write_str(name)?,
            None => write!(f, "machine {} of ELF", self.machine)?,
        }
        let bits = if self.is_64_bit { 64 } else { 32 };
        let order = if self.is_big_endian { "big" } else { "little" };
        if f.alternate() {
            write!(f, " ({bits} bits, {order}-endian)")?;
        }
        Ok(())
    }
}

/// Checks that the file is for this program's machine, and contains all segments that would be mapped. What is not ELF, or
/// cannot be read, is left to the linker.
pub(super) fn check(path: &Path, file: &File) -> Result<(), LoadError> {
    if let (Some(found), Some(own)) = (Target::of(file), Target::own())
        && found != own
    {
        let reason = if found.machine == own.machine {
            format!("it is built for {found:#}, this program runs on {own:#}")
        } else {
            format!("it is built for {found}, this program runs on {own}")
        };
        let path = path.to_owned();
        return Err(LoadError::NotALibrary { path, reason });
    }
    let lengths = mapped(file).and_then(|end| Ok((end, file.metadata()?.len())));
    match lengths {
        Ok((expected, found)) if found < expected => Err(LoadError::NotALibrary {
            path: path.to_owned(),
            reason: format!("it is truncated: expected {expected} bytes, found {found}"),
        }),
        _ => Ok(()),
    }
}

/// The end of the last segment in the file; 0 for another kind of file.
fn mapped(file: &File) -> io::Result<u64> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(0);
    }
    let (table, count) = (number(&header, 32), half(&header, 56));
    let mut end = 0;
    for i in 0..u64::from(count) {
        let mut entry = [0; ENTRY];
        file.read_exact_at(&mut entry, table.saturating_add(i * ENTRY as u64))?;
        let kind = u32::from(half(&entry, 0)) | u32::from(half(&entry, 2)) << 16;
        if kind == PT_LOAD {
            end = end.max(number(&entry, 8).saturating_add(number(&entry, 32)));
        }
    }
    Ok(end)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    (0..8).fold(0, |sum, i| sum | u64::from(bytes[at + i]) << (8 * i))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from(bytes[at]) | u16::from(bytes[at + 1]) << 8
}
