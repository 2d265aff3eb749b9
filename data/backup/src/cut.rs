//! Decides which objects of a home belong to a backup. The module does no I/O.

use std::collections::BTreeMap;

/// State of the lake in a backup: the newest commit batch that has ended, and the version of each table at that time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LakeCut {
    /// Number of the commit batch.
    pub tick: u64,
    /// Version of each table, by table name.
    pub versions: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyPhase {
    /// The object is copied before the lake's state is fixed, so that it may be older than the lake but not newer.
    Before,
    /// The object is copied after the lake's state is fixed, if it was listed before. The objects that it refers to
    /// exist by then.
    Listed,
    /// The object is copied after the lake's state is fixed.
    After,
    /// The object is not part of a backup.
    Never,
}

/// Folders with objects that record completed work, or that wait to be merged into the lake.
const BEFORE: [&str; 4] = ["checks/", "crawl-state/", "held/", "observations/"];
/// Folders and files that every home recreates, or that are backed up in another way.
const NEVER: [&str; 6] = [
    "cache/",
    "doctor/",
    "state/",
    ".staging/",
    crate::RESTORING,
    crate::BACKED_UP,
];

pub(crate) fn turn(path: &str, with_landing: bool) -> CopyPhase {
    let is_below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    if is_below(&NEVER) || (!with_landing && path.starts_with("landing/")) {
        CopyPhase::Never
    } else if is_below(&BEFORE) {
        CopyPhase::Before
    } else if path.starts_with("releases/log/") || path.starts_with("releases/manifests/") || is_end_of_landing(path) {
        CopyPhase::Listed
    } else {
        CopyPhase::After
    }
}

/// The marker states that all pages of a store have landed.
fn is_end_of_landing(path: &str) -> bool {
    path.starts_with("landing/") && path.ends_with("/done.json")
}

/// Only objects of the lake can be newer than the cut.
pub(crate) fn is_within(path: &str, cut: Option<&LakeCut>) -> bool {
    let Some(within) = path.strip_prefix("lake/") else {
        return true;
    };
    let Some(cut) = cut else {
        return false;
    };
    let Some((table, rest)) = within.split_once('/') else {
        return true;
    };
    if table == "_ticks" {
        return number(rest).is_none_or(|tick| tick <= cut.tick);
    }
    let Some(entry) = rest.strip_prefix("_delta_log/") else {
        return true;
    };
    // This file may name a checkpoint that is newer than the cut. Without it, a reader lists the log and finds the
    // newest checkpoint.
    if entry == "_last_checkpoint" {
        return false;
    }
    let version = cut.versions.get(table);
    number(entry).is_none_or(|entry| version.is_some_and(|version| entry <= *version))
}

/// Parses the twenty digits at the start of a name.
fn number(name: &str) -> Option<u64> {
    name.get(..20)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut() -> LakeCut {
        LakeCut {
            tick: 7,
            versions: [("products".to_owned(), 3)].into(),
        }
    }

    fn within(path: &str) -> bool {
        is_within(path, Some(&cut()))
    }

    #[test]
    fn entries_and_ticks_behind_the_cut_are_left_out() {
        assert!(within("lake/products/_delta_log/00000000000000000003.json"));
        assert!(!within("lake/products/_delta_log/00000000000000000004.json"));
        assert!(!within(
            "lake/products/_delta_log/00000000000000000004.checkpoint.parquet"
        ));
        assert!(!within("lake/products/_delta_log/_last_checkpoint"));
        assert!(within("lake/_ticks/00000000000000000007.done.json"));
        assert!(!within("lake/_ticks/00000000000000000008-abc.arrow"));
        assert!(!within("lake/unknown/_delta_log/00000000000000000000.json"));
        assert!(within("lake/products/part-0001.parquet"));
        assert!(within("registry/00000000000000000009.json"));
    }

    #[test]
    fn nothing_of_the_lake_is_copied_where_there_is_none() {
        assert!(!is_within("lake/products/part-0001.parquet", None));
        assert!(is_within("registry/00000000000000000009.json", None));
    }

    #[test]
    fn what_promises_that_something_was_done_is_copied_before_the_cut() {
        assert_eq!(turn("crawl-state/a.example.json", true), CopyPhase::Before);
        assert_eq!(turn("observations/2026-01-01/1.jsonl.zst", true), CopyPhase::Before);
        assert_eq!(turn("releases/log/00000000000000000001.json", true), CopyPhase::Listed);
        assert_eq!(turn("landing/r/s/done.json", true), CopyPhase::Listed);
        assert_eq!(turn("landing/r/s/products-00001.json.zst", true), CopyPhase::After);
        assert_eq!(turn("landing/r/s/products-00001.json.zst", false), CopyPhase::Never);
        assert_eq!(turn("state/state.sqlite3", true), CopyPhase::Never);
        assert_eq!(turn("cache/files/a", true), CopyPhase::Never);
        assert_eq!(turn("lake/products/part-0001.parquet", true), CopyPhase::After);
    }
}
