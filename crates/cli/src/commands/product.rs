//! Files that a command regenerates each time: they replace files of their own kind, and nothing else.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use fly_table::Existing;

use crate::exit::{Exit, Failure};

/// A kind of file.
pub struct Kind {
    /// Its name in messages, with its article.
    pub name: &'static str,
    /// The beginning of its files, ignoring case.
    pub begins: &'static [u8],
    /// The end of their names.
    pub end: &'static str,
}

/// A page.
pub const PAGE: Kind = Kind {
    name: "an HTML page",
    begins: b"<!doctype html>",
    end: "html",
};
/// A drawing.
pub const SVG: Kind = Kind {
    name: "an SVG picture",
    begins: b"<svg ",
    end: "svg",
};
/// A picture.
pub const PNG: Kind = Kind {
    name: "a PNG picture",
    begins: b"\x89PNG\r\n\x1a\n",
    end: "png",
};

/// A table of a campaign, as comma-separated values.
pub const CSV_TABLE: Kind = Kind {
    name: "a table of a campaign",
    begins: b"index,",
    end: "csv",
};

/// A Parquet file.
pub const PARQUET_TABLE: Kind = Kind {
    name: "a Parquet table",
    begins: b"PAR1",
    end: "parquet",
};

/// The end of a log's name.
pub const LOG: &str = "mcap";

/// Ends of names that tell a format: a file of another one is not named so.
const ENDS: [&str; 9] = [
    "csv", "parquet", "mcap", "ulg", "html", "svg", "png", "pdf", "json",
];

/// Rejects a path in a folder that does not exist.
///
/// # Errors
/// There is no such folder.
pub fn expect_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::new(
            Exit::Usage,
            format_args!("the folder `{}` does not exist", folder.display()),
        )),
        _ => Ok(()),
    }
}

/// Rejects a place where no new file can be, or that its name reserves for files of another format than this `end`.
///
/// # Errors
/// The folder does not exist, something other than a file is there, or the name is of another format.
pub fn expect_place(out: &Path, end: &str) -> Result<(), Failure> {
    refuse_standard_output(out)?;
    expect_folder(out)?;
    fly_table::refuse_other_than_file(out)?;
    let named = out.extension().and_then(|named| named.to_str());
    let is_other = |named: &str| {
        let is = |end: &&str| named.eq_ignore_ascii_case(end);
        !is(&end) && ENDS.iter().any(is)
    };
    if named.is_some_and(is_other) {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "`{}` ends with the name of another format than {}, which is written: name it `{}`",
                out.display(),
                end.to_uppercase(),
                out.with_extension(end).display()
            ),
        ));
    }
    Ok(())
}

/// Rejects `-`, which would be a file of that name.
///
/// # Errors
/// It is `-`.
pub fn refuse_standard_output(out: &Path) -> Result<(), Failure> {
    if out.as_os_str() != "-" {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        "cannot write to standard output, which `-` often stands for: name a file (`./-` is a file of that name)",
    ))
}

/// Rejects a name that JSON cannot tell, if it is to be told `as_data`.
///
/// # Errors
/// It is not UTF-8.
pub fn expect_name(out: &Path, as_data: bool) -> Result<(), Failure> {
    if !as_data || out.to_str().is_some() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        format_args!(
            "JSON cannot tell the name of the new file `{}`, which is not UTF-8: name another one, or leave out --json",
            out.display()
        ),
    ))
}

/// Makes a folder, unless it is there.
///
/// # Errors
/// A file is there, or it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::new(
            Exit::Usage,
            format_args!("cannot write to `{name}`: expected a folder, found a file"),
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::new(
            Exit::Internal,
            format_args!("cannot make the folder {name}: {error}"),
        )
    })
}

/// Rejects a path where a file of another kind exists, above all the log itself.
///
/// # Errors
/// The path is taken, or its folder does not exist.
pub fn refuse_foreign(out: &Path, kind: &Kind) -> Result<(), Failure> {
    expect_place(out, kind.end)?;
    let mut first = Vec::new();
    let length = kind.begins.len() as u64;
    let read = File::open(out).and_then(|file| file.take(length).read_to_end(&mut first));
    let is_foreign = match read {
        Ok(_) => !first.is_empty() && !first.eq_ignore_ascii_case(kind.begins),
        // What cannot be read may be anything.
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    };
    if is_foreign {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "cannot write `{}`: expected nothing there or {}, which would be replaced, found another file; name another place, or \
                 remove it",
                out.display(),
                kind.name
            ),
        ));
    }
    Ok(())
}

/// Writes the file as a whole or not at all.
///
/// # Errors
/// It cannot be written, or a file of another kind has appeared in its place.
pub fn write(out: &Path, kind: &Kind, bytes: &[u8]) -> Result<(), Failure> {
    fly_table::whole(out, Existing::Replace, |file| {
        file.write_all(bytes)?;
        refuse_foreign(out, kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also a file that appears after the first check.
    #[test]
    fn no_file_of_another_kind_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("page.html");
        let page = b"<!doctype html><p>";
        write(&out, &PAGE, page).unwrap();
        write(&out, &PAGE, page).unwrap();
        std::fs::write(&out, "mine").unwrap();
        assert!(write(&out, &PAGE, page).is_err());
        assert_eq!(std::fs::read(&out).unwrap(), b"mine");
    }
}
