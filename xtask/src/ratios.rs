//! `fly` beside the fastest of its peers, from the lines `TIME,lib,model,algo,median_ns,min_ns,p90_ns` of one run.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The library whose times are the reference.
const OURS: &str = "fly";

/// One row for each algorithm that was also measured on a peer: the ratio of the medians, below 1 if `fly` is faster.
pub fn table(output: &str) -> String {
    let mut times: BTreeMap<(&str, &str), Vec<(&str, f64)>> = BTreeMap::new();
    for line in output.lines() {
        if let ["TIME", lib, model, algo, median, _, _] = line.split(',').collect::<Vec<_>>()[..]
            && let Ok(median) = median.parse()
        {
            times.entry((model, algo)).or_default().push((lib, median));
        }
    }
    let mut table = String::new();
    for ((model, algo), libs) in times {
        let ours = libs.iter().find(|(lib, _)| *lib == OURS);
        let peers = libs.iter().filter(|(lib, _)| *lib != OURS);
        let fastest = peers.min_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some((_, ours)), Some((peer, theirs))) = (ours, fastest) {
            if table.is_empty() {
                let _ = writeln!(
                    table,
                    "\n{:30}{:>6}{:>10}{:>7}",
                    "median, ns", OURS, "fastest", "ratio"
                );
            }
            let name = format!("{model} {algo}");
            let ratio = ours / theirs;
            let _ = writeln!(table, "{name:30}{ours:6.2}{theirs:10.2}{ratio:7.2}  {peer}");
        }
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_fastest_peer_counts() {
        let output = "\
Running benches/lie.rs
TIME,fly,SE3,exp,10.00,9.0,11.0
TIME,slow,SE3,exp,40.00,1.0,41.0
TIME,quick,SE3,exp,20.00,19.0,21.0
TIME,fly,SE3,alone,1.00,1.0,1.0
TIME,quick,SE3,strange,1.00,1.0,1.0
";
        let table = super::table(output);
        let rows: Vec<Vec<&str>> = table
            .lines()
            .skip(2)
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(rows, [["SE3", "exp", "10.00", "20.00", "0.50", "quick"]]);
        assert_eq!(super::table("nothing was measured\n"), "");
    }
}
