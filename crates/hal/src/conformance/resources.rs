//! Files, threads and memory of this process, from Linux's `/proc`.

/// Counts of the resources that an instance may leak.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    files: usize,
    threads: usize,
    /// Pages of memory in use.
    pages: usize,
}

impl Held {
    /// The current counts; `None` without `/proc`.
    pub(super) fn now() -> Option<Self> {
        let count = |folder: &str| std::fs::read_dir(folder).ok().map(Iterator::count);
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        Some(Self {
            files: count("/proc/self/fd")?,
            threads: count("/proc/self/task")?,
            pages: statm.split_whitespace().nth(1)?.parse().ok()?,
        })
    }

    /// The resources that grew by at least one in every second one of `cycles`. Other threads of the process may come
    /// and go meanwhile, but not that regularly.
    pub(super) fn leaked_since(self, before: Self, cycles: usize) -> Option<String> {
        let grown = |now: usize, then: usize| now.saturating_sub(then);
        let (files, threads) = (
            grown(self.files, before.files),
            grown(self.threads, before.threads),
        );
        // Less than 16 KiB per cycle may be the allocator's normal growth.
        let pages = grown(self.pages, before.pages);
        if files >= cycles / 2 {
            Some(format!(
                "{files} files stayed open after {cycles} instances"
            ))
        } else if threads >= cycles / 2 {
            Some(format!(
                "{threads} threads stayed alive after {cycles} instances"
            ))
        } else if pages >= 4 * cycles {
            Some(format!(
                "memory grew by {pages} pages in {cycles} instances"
            ))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_found() {
        let before = Held::now().unwrap();
        let kept: Vec<_> = (0..20)
            .map(|_| std::fs::File::open("/dev/null").unwrap())
            .collect();
        let leaked = Held::now().unwrap().leaked_since(before, 20).unwrap();
        assert!(
            leaked.ends_with("files stayed open after 20 instances"),
            "{leaked}"
        );
        drop(kept);
        let before = Held::now().unwrap();
        let kept = vec![1_u8; 1 << 22];
        let leaked = Held::now().unwrap().leaked_since(before, 20).unwrap();
        assert!(leaked.starts_with("memory grew by "), "{leaked}");
        drop(kept);
    }
}
