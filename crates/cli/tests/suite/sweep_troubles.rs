//! Campaigns on machines that fail, by other builds, and with values that are wrong only together.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::sweeps::{cell, rows, tables};
use crate::common;

use common::{Folder, contains};

const SAMPLES: &str = "time,x,y,z,yaw\n0,0,0,0,0\n0.5,0,0,0,0\n1,0,0,0,0\n1.5,0,0,0.1,0\n2,0,0,0.1,0\n2.5,0,0,0.1,0\n3,0,0,0.1,0\n4,0,0,0.1,0\n";

/// Its reference is read for every flight.
const PLAN: &str = r#"
config = "quadcopter.toml"
flights = 300
[set]
flight.duration = 0.6
reference = { kind = "sampled", file = "samples.csv" }
[vary]
"backend.sim.initial.position" = { ball = 0.2 }
"#;

/// How many whole rows there are, at least.
fn rows_of(folder: &Folder) -> usize {
    let journal = fs::read(folder.path("plan.journal")).unwrap_or_default();
    let mut rest = journal.get(8..).unwrap_or_default();
    let mut count = 0_usize;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
        let Some((_, after)) = after.split_at_checked(length) else {
            break;
        };
        count += 1;
        rest = after;
    }
    count.saturating_sub(1)
}

/// Every flight draws its own seed, so one of the command line would be that of none, as one in `[set]`.
#[test]
fn a_seed_that_is_set_is_refused() {
    let folder = Folder::new();
    folder.write("plan.toml", "config = \"quadcopter.toml\"\nflights = 2\n");
    let arguments = ["sweep", "plan.toml", "--set", "flight.seed=4"];
    let (_, error) = folder.ends(&arguments, 2);
    contains(
        &error,
        "`flight.seed` is set, but every flight gets its own",
    );
    contains(&error, "--set:1");
}

/// A file that is gone for a while is no verdict on a flight: the campaign stops, and flies on where it was once the file is back.
#[test]
fn what_the_machine_fails_at_becomes_no_row() {
    let folder = Folder::new();
    folder.write("plan.toml", PLAN);
    folder.write("samples.csv", SAMPLES);
    folder.ends(&["sweep", "plan.toml", "--out", "whole", "-q"], 0);
    let expected = tables(&folder, "whole");
    let child = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args(["sweep", "plan.toml", "-q"])
        .current_dir(folder.path(""))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while rows_of(&folder) == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    fs::remove_file(folder.path("samples.csv")).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    contains(&told, "cannot begin, for a reason outside the plan");
    contains(&told, "samples.csv");
    contains(
        &told,
        "finished flights are in `plan.journal`, and the same command continues",
    );
    let there = rows_of(&folder);
    assert!((1..300).contains(&there), "{there}");
    folder.write("samples.csv", SAMPLES);
    folder.ends(&["sweep", "plan.toml", "-q"], 0);
    assert!(expected == tables(&folder, "plan"));
    let all = rows(&folder, "plan");
    assert!(all.iter().all(|row| cell(row, "verdict") != "not_flown"));
}

/// Wrong for one value of another key alone: those flights are rows, the others are flown. Wrong for all: nothing is flown.
#[test]
fn values_that_are_wrong_together_are_rows_of_their_own() {
    let folder = Folder::new();
    let plan = |rates: &str| {
        format!(
            r#"
config = "quadcopter.toml"
[set]
flight.duration = 0.2
[vary]
"backend.sim.vehicle.rotors.0.time_constant" = {{ values = [0.001, 0.05] }}
"backend.sim.substeps" = {{ values = {rates} }}
"#
        )
    };
    // Steps of 2 ms are too long for the first time constant alone.
    folder.write("plan.toml", &plan("[1, 4]"));
    let (_, told) = folder.ends(&["sweep", "plan.toml"], 0);
    contains(
        &told,
        "`backend.sim.vehicle.rotors.0.time_constant` = 0.001 cannot be flown with `backend.sim.substeps` = 1: ",
    );
    contains(
        &told,
        "such flights become rows with the verdict `not_flown`",
    );
    let all = rows(&folder, "plan");
    let verdicts: Vec<&str> = all.iter().map(|row| cell(row, "verdict")).collect();
    assert_eq!(verdicts, ["not_flown", "flown", "flown", "flown"]);
    contains(cell(&all[0], "message"), "time constant of an actuator");
    // Beside every value of the other key.
    folder.write("plan.toml", &plan("[1, 0]"));
    let before = folder.files();
    let (_, told) = folder.ends(&["sweep", "plan.toml", "--restart"], 2);
    contains(&told, "expected 1 to 1000 substeps, found 0");
    contains(&told, "plan.toml:7:");
    assert_eq!(folder.files(), before, "nothing was flown");
}

const SHORT: &str = r#"
config = "quadcopter.toml"
flights = 12
[set]
flight.duration = 0.3
[vary]
"backend.sim.initial.position" = { ball = 0.2 }
"#;

/// The same journal as another build would have begun it: the first line of its identity names one.
fn by_another_build(journal: &[u8]) -> Vec<u8> {
    let length = u32::from_le_bytes(journal[8..12].try_into().unwrap()) as usize;
    let mut header = journal[16..16 + length].to_vec();
    let digit = 8 + "build = fly ".len();
    header[digit] = if header[digit] == b'0' { b'1' } else { b'0' };
    let mut changed = journal[..12].to_vec();
    changed.extend(crc32(&header).to_le_bytes());
    changed.extend(&header);
    changed.extend(&journal[16 + length..]);
    changed
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[test]
fn rows_of_another_build_are_not_mixed_unasked() {
    let folder = Folder::new();
    folder.write("plan.toml", SHORT);
    folder.ends(&["sweep", "plan.toml", "--shard", "1/2"], 0);
    folder.ends(&["sweep", "plan.toml", "--shard", "2/2"], 0);
    let path = folder.path("plan-2-of-2.journal");
    let changed = by_another_build(&fs::read(&path).unwrap());
    fs::write(&path, &changed).unwrap();
    let merge = [
        "sweep",
        "plan.toml",
        "--merge",
        "plan-1-of-2.journal",
        "plan-2-of-2.journal",
    ];
    for arguments in [&merge[..], &["sweep", "plan.toml", "--shard", "2/2"]] {
        let (_, told) = folder.ends(arguments, 2);
        contains(
            &told,
            "`plan-2-of-2.journal` was begun by another build of this version of `fly`",
        );
        contains(&told, "mix both with --any-build");
    }
    folder.write("other.journal", "no journal");
    for other in ["other.journal", "plan-2-of-2.journal"] {
        let (_, told) = folder.ends(&["sweep", "plan.toml", "--merge", other], 2);
        contains(&told, &format!("cannot merge: `{other}`"));
        assert!(
            !told.contains("--restart") && !told.contains("--out"),
            "{told}"
        );
    }
    assert!(changed == fs::read(&path).unwrap());
    let mixed = ["sweep", "plan.toml", "--any-build", "--merge"];
    folder.ends(&[&mixed[..], &merge[3..]].concat(), 0);
    assert_eq!(rows(&folder, "plan").len(), 12);
}

#[test]
fn a_flight_that_is_not_its_row_says_so() {
    let folder = Folder::new();
    folder.write("plan.toml", SHORT);
    let again = ["sweep", "plan.toml", "--rerun", "5"];
    folder.ends(&["sweep", "plan.toml"], 0);
    let (printed, _) = folder.ends(&again, 0);
    contains(&printed, "the same in `plan.journal`, number for number");
    // Another row, with the right checksum: the first number behind a text is changed.
    let path = folder.path("plan.journal");
    let journal = fs::read(&path).unwrap();
    let mut changed = journal.clone();
    let mut at = 8;
    loop {
        let length = u32::from_le_bytes(changed[at..at + 4].try_into().unwrap()) as usize;
        let record = at + 8..at + 8 + length;
        if at > 8 && changed[record.start..record.start + 8] == 5_u64.to_le_bytes() {
            let row = &mut changed[record.clone()];
            let place = row.windows(5).position(|part| part == b"flown").unwrap();
            row[place..place + 5].copy_from_slice(b"blown");
            let crc = crc32(row);
            changed[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
            break;
        }
        at = record.end;
    }
    fs::write(&path, &changed).unwrap();
    let (_, told) = folder.ends(&again, 0);
    contains(
        &told,
        "flight 5 is not its row in `plan.journal`: verdict was blown, is flown",
    );
    fs::write(&path, by_another_build(&journal)).unwrap();
    let (_, told) = folder.ends(&again, 0);
    contains(
        &told,
        "not compared with `plan.journal`, which another build began",
    );
    // A shard's.
    fs::remove_file(&path).unwrap();
    folder.ends(&["sweep", "plan.toml", "--shard", "2/4"], 0);
    let (printed, _) = folder.ends(&again, 0);
    contains(&printed, "the same in `plan-2-of-4.journal`");
}

/// A flipped bit in the middle, as of a bad disk, costs its row, not those behind it.
#[test]
fn a_damaged_row_costs_itself() {
    let folder = Folder::new();
    folder.write("plan.toml", SHORT);
    folder.ends(&["sweep", "plan.toml"], 0);
    let table = fs::read(folder.path("plan.csv")).unwrap();
    let path = folder.path("plan.journal");
    let mut journal = fs::read(&path).unwrap();
    let header = u32::from_le_bytes(journal[8..12].try_into().unwrap()) as usize;
    let whole = journal.clone();
    let row = 8 + 8 + header;
    let second = row + 8 + u32::from_le_bytes(journal[row..row + 4].try_into().unwrap()) as usize;
    // In the first row behind its length and checksum; in the length of the second, which hides the third.
    for (place, flip) in [(row + 8 + 20, 1), (second, 3)] {
        journal.clone_from(&whole);
        journal[place] ^= flip;
        fs::write(&path, &journal).unwrap();
        let (_, told) = folder.ends(&["sweep", "plan.toml"], 0);
        contains(&told, "damaged places, as by a bad disk: 1;");
        assert!(!told.contains("are removed"), "{told}");
        let longer = fs::read(&path).unwrap();
        assert_eq!(longer[..journal.len()], journal, "nothing else is lost");
        let again = longer.len() - journal.len();
        assert!(
            again > 0 && again < 2 * (second - row),
            "one flight is flown again"
        );
        assert!(fs::read(folder.path("plan.csv")).unwrap() == table);
        // That is told once.
        let (_, told) = folder.ends(&["sweep", "plan.toml"], 0);
        assert!(!told.contains("damaged"), "{told}");
    }
}

/// More journals than stay open, and fewer files than there are journals.
#[test]
fn many_shards_are_merged_with_few_open_files() {
    let folder = Folder::new();
    folder.write(
        "plan.toml",
        &SHORT.replace("12", "300").replace("0.3", "0.02"),
    );
    folder.ends(&["sweep", "plan.toml", "--out", "whole", "-q"], 0);
    let all = 300;
    // What `--shard` would write: the rows of the whole, one in a journal, each with the header of its shard.
    let whole = fs::read(folder.path("whole.journal")).unwrap();
    let length = u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
    let identity = &whole[24..16 + length];
    let mut at = 16 + length;
    let mut names = Vec::new();
    for _ in 0..all {
        let length = u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
        let record = &whole[at..at + 8 + length];
        at += record.len();
        let index = u64::from_le_bytes(record[8..16].try_into().unwrap());
        let mut header = Vec::new();
        header.extend(u32::try_from(index + 1).unwrap().to_le_bytes());
        header.extend(u32::try_from(all).unwrap().to_le_bytes());
        header.extend(identity);
        let mut journal = whole[..8].to_vec();
        journal.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
        journal.extend(crc32(&header).to_le_bytes());
        journal.extend(&header);
        journal.extend(record);
        let name = format!("plan-{}-of-{all}.journal", index + 1);
        fs::write(folder.path(&name), journal).unwrap();
        names.push(name);
    }
    let command = format!(
        "ulimit -n 200; exec {} sweep plan.toml -q --merge {}",
        env!("CARGO_BIN_EXE_fly"),
        names.join(" ")
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path(""))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(tables(&folder, "whole") == tables(&folder, "plan"));
}

/// `--out` names the files without their extensions, but one of them is no part of the name.
#[test]
fn out_is_a_path_in_a_folder_that_exists() {
    let folder = Folder::new();
    folder.write("plan.toml", &SHORT.replace("12", "1"));
    let sweep = |out: &str| folder.ends(&["sweep", "plan.toml", "--out", out], 0);
    for (out, name) in [
        ("a.csv", "a"),
        ("b.parquet", "b"),
        ("c.journal", "c"),
        ("v1.2", "v1.2"),
        ("./", "plan"),
    ] {
        sweep(out);
        for end in ["journal", "parquet", "csv"] {
            assert!(folder.path(&format!("{name}.{end}")).is_file(), "{out}");
            assert!(!folder.path(&format!("{out}.{end}")).exists() || name == out);
        }
    }
    let before = folder.files();
    let nowhere = ["sweep", "plan.toml", "--out", "nodir/vv"];
    for more in [&[][..], &["--rerun", "0"], &["--merge", "a.journal"]] {
        folder.fails(
            &[&nowhere[..], more].concat(),
            2,
            "error: the folder `nodir` does not exist\n",
        );
    }
    assert_eq!(folder.files(), before);
}

/// Tables replace tables of campaigns, never another file: above all not one that the flights read.
#[test]
fn files_of_others_are_not_replaced() {
    let folder = Folder::new();
    folder.write("samples.csv", SAMPLES);
    folder.write("plan.toml", &PLAN.replace("300", "2"));
    let sweep = |out: &str, code: i32| folder.ends(&["sweep", "plan.toml", "--out", out], code);
    let (_, error) = sweep("samples", 2);
    contains(&error, "expected nothing there or a table of a campaign");
    assert_eq!(
        fs::read_to_string(folder.path("samples.csv")).unwrap(),
        SAMPLES
    );
    // A table without its journal is another campaign's.
    folder.write("other.csv", "index,flight.seed\n");
    let (_, error) = sweep("other", 2);
    contains(&error, "no journal of this campaign is beside it");
    // Its own are replaced.
    sweep("own", 0);
    sweep("own", 0);
    // Devices, pipes and folders are no files.
    fs::create_dir(folder.path("folder.csv")).unwrap();
    let (_, error) = sweep("folder", 2);
    contains(&error, "expected a file or nothing there, found a folder");
    let report = ["--config", "quadcopter.toml", "--report", "folder.csv"];
    let (_, error) = folder.ends(&report, 2);
    contains(&error, "expected a file or nothing there, found a folder");
}
