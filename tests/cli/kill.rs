//! Tests of a kill at any state-changing system call. The old or the new release remains, no acknowledged commit is
//! lost, and no row is doubled. The next run completes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Haat, has_program};

/// System calls by which the program changes data on disk.
const CALLS: &[&str] = &[
    "openat",
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
];

/// Number of kills, spread evenly. `TEST_KILLS=all` tries every one.
const KILLS_SPREAD: usize = 24;

/// The n-th call of one name in any thread, at which strace can kill the process.
pub(crate) type Call = (String, usize);

/// Returns the content that must not depend on interrupted runs. One statement reads all of it, because each statement
/// starts a process.
pub(crate) fn contents(haat: &Haat) -> BTreeMap<&'static str, Vec<Value>> {
    let changes = "(select variant_id, price_minor, available, count(*) times from price_history group by 1, 2, 3)";
    let tables = [
        ("products", "product_id, title, price_min_minor, in_stock", "products"),
        ("variants", "product_id, variant_id, price_minor, available", "variants"),
        ("brands", "slug, product_count, catalogue_hash", "brands"),
        ("price_history", "variant_id, price_minor, available, times", changes),
    ];
    let rows = tables.map(|(name, columns, from)| {
        let members: Vec<_> = columns
            .split(", ")
            .map(|column| format!("'{column}', {column}"))
            .collect();
        let row = format!("named_struct({})", members.join(", "));
        format!("(select array_agg({row} order by {columns}) from {from}) {name}")
    });
    let read = haat.sql(&format!("select {}", rows.join(", "))).remove(0);
    let rows = |name: &str| read[name].as_array().cloned().unwrap_or_default();
    tables.map(|(name, ..)| (name, rows(name))).into()
}

pub(crate) fn releases(haat: &Haat) -> usize {
    let listed = haat.run(&["release", "list"]).json();
    listed["releases"].as_array().unwrap().len()
}

/// Runs a command under strace, which kills it at the call `inject`. Returns the exit code and the system calls.
pub(crate) fn traced(haat: &Haat, args: &[&str], inject: Option<&Call>) -> (Option<i32>, BTreeSet<Call>) {
    let trace = haat.path().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o"])
        .arg(&trace)
        .args(["-e", &format!("trace=?{}", CALLS.join(",?"))]);
    if let Some((name, nth)) = inject {
        strace.args(["-e", &format!("inject={name}:signal=KILL:when={nth}")]);
    }
    let crawl = haat.command(args);
    strace
        .arg(crawl.get_program())
        .args(crawl.get_args())
        .current_dir(haat.path());
    strace.envs(crawl.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = strace.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let text = std::fs::read_to_string(&trace).unwrap();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut calls = BTreeSet::new();
    for line in text.lines().filter(|line| !line.contains("O_RDONLY")) {
        // A line has the format `12345 fsync(7) = 0`.
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, _)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if CALLS.contains(&name) {
            let nth = counts.entry((thread.to_owned(), name.to_owned())).or_default();
            *nth += 1;
            calls.insert((name.to_owned(), *nth));
        }
    }
    (status.code(), calls)
}

#[test]
fn a_kill_at_any_state_changing_call_is_recovered_from() {
    if !has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        return;
    }
    // Crawls of the same stores at two epochs give an old and a new release.
    let source = ["--products", "24", "--stores", "2", "--seed", "9"];
    let before = Haat::new();
    let (_old, old) = before.with_stores(&source);
    before.run(&["crawl", "--release"]).json();
    let (_new, new) = before.serve(&[&["emulate"], source.as_slice(), &["--epoch", "1"]].concat());
    drop(old);
    before.register(&new);

    let whole = copy(&before);
    let (code, calls) = traced(&whole, &["crawl", "--release"], None);
    assert_eq!(code, Some(0));
    let expected = contents(&whole);
    assert_eq!(releases(&whole), 2);

    let all = std::env::var_os("TEST_KILLS").is_some();
    assert!(calls.len() > KILLS_SPREAD, "{calls:?}");
    let step = if all { 1 } else { calls.len().div_ceil(KILLS_SPREAD) };
    for call in calls.iter().step_by(step) {
        let haat = copy(&before);
        let (code, _) = traced(&haat, &["crawl", "--release"], Some(call));
        // A reader sees either the old or the new release now.
        assert!((1..=2).contains(&releases(&haat)), "killed at call {call:?} ({code:?})");
        let shown = haat.run(&["release", "show"]);
        assert_eq!(shown.code, 0, "killed at call {call:?}: {}", shown.stderr);
        let again = haat.run(&["crawl", "--release"]);
        assert_eq!(again.code, 0, "killed at call {call:?}: {}", again.stderr);
        assert_eq!(contents(&haat), expected, "killed at call {call:?}");
        assert_eq!(releases(&haat), 2, "killed at call {call:?}");
    }
}

pub(crate) fn copy(from: &Haat) -> Haat {
    let to = Haat::new();
    let status = Command::new("cp")
        .args(["-a", "--"])
        .arg(from.path().join("."))
        .arg(to.path())
        .status()
        .unwrap();
    assert!(status.success());
    to
}
