//! Tests of a power cut at any time. No acknowledged release may be lost, and the next run completes.
//!
//! A crawl is killed at a system call. The trace of the crawl shows which data was not synced, and which names were not
//! synced into their directories. The disk then gets a state that is possible after a power cut: data that was not
//! synced is lost (an empty file, or zeros), and so are such names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kill::{contents, copy, releases};
use crate::support::{Haat, files, get, has_program};

/// System calls that change data on disk or make changes durable.
const CALLS: &[&str] = &[
    "openat",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "copy_file_range",
    "sendfile",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
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
/// System calls that change the state of the disk, at each of which the power is cut.
const CUT_AT: &[&str] = &[
    "fsync",
    "fdatasync",
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
/// Number of cuts, spread evenly. `TEST_CUTS=all` tries every one.
const CUTS_SPREAD: usize = 12;

/// State of data that was not synced, after a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    /// The file is empty.
    Nothing,
    /// The file has zeros, with the same length and modification time.
    Zeros,
}

/// Directory entry that can be lost.
#[derive(Debug)]
enum UnsyncedName {
    File(PathBuf),
    Directory(PathBuf),
    Moved { from: PathBuf, to: PathBuf },
    Removed(PathBuf),
}

impl UnsyncedName {
    fn directory(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Directory(path) | Self::Removed(path) | Self::Moved { to: path, .. } => {
                path.parent()
            }
        }
    }
}

/// Content of a folder that would not survive a power cut.
#[derive(Debug, Default)]
struct UnsyncedFiles {
    /// File of each name. A file can have several names.
    ids: HashMap<PathBuf, usize>,
    files: usize,
    /// Files with data that was not synced.
    dirty: HashSet<usize>,
    /// Names that were not synced, in the order of their creation.
    names: Vec<UnsyncedName>,
}

/// System call: name, arguments and result. The result is `None` if the process was killed in the call.
struct Call<'a> {
    name: &'a str,
    given: String,
    answered: Option<i64>,
}

/// Returns the calls of a trace in the order in which they ended. Unfinished calls come last.
fn calls(trace: &str) -> Vec<Call<'_>> {
    let (mut begun, mut calls) = (BTreeMap::<&str, (&str, String)>::new(), Vec::new());
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        let (name, given) = if let Some(resumed) = rest.strip_prefix("<... ") {
            let Some((_, more)) = resumed.split_once(" resumed>") else {
                continue;
            };
            let Some((name, given)) = begun.remove(thread) else {
                continue;
            };
            (name, given + more)
        } else {
            let Some((name, given)) = rest.split_once('(') else {
                continue;
            };
            (name, given.to_owned())
        };
        match given.rsplit_once(" = ") {
            Some((given, answered)) => {
                let answered = answered.split_whitespace().next().unwrap_or_default();
                let answered = answered.split('<').next().unwrap_or_default().parse().ok();
                calls.push(Call {
                    name,
                    given: given.to_owned(),
                    answered,
                });
            }
            None => {
                begun.insert(thread, (name, given.replace(" <unfinished ...>", "")));
            }
        }
    }
    let unended = begun.into_values();
    calls.extend(unended.map(|(name, given)| Call {
        name,
        given,
        answered: None,
    }));
    calls
}

/// Returns the paths in a call's arguments: those of its file descriptors, and those given by name.
fn paths(given: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut of_fds, mut named) = (Vec::new(), Vec::new());
    let mut rest = given;
    while let Some(at) = rest.find(['<', '"']) {
        let close = if rest[at..].starts_with('<') { '>' } else { '"' };
        let Some(end) = rest[at + 1..].find(close) else { break };
        let path = Path::new(&rest[at + 1..at + 1 + end]);
        if close == '>' {
            of_fds.push(path.to_owned());
        } else {
            let base = of_fds.last().cloned().unwrap_or_default();
            named.push(base.join(path));
        }
        rest = &rest[at + 2 + end..];
    }
    (of_fds, named)
}

impl UnsyncedFiles {
    /// Follows a run that started with the files of `folder`.
    fn follow(folder: &Path, existed: &BTreeSet<PathBuf>, trace: &str) -> Self {
        let mut unsynced = Self::default();
        for call in calls(trace)
            .iter()
            .filter(|call| call.answered.is_none_or(|answered| answered >= 0))
        {
            let (of_fds, named) = paths(&call.given);
            let inside = |path: Option<&PathBuf>| path.filter(|path| path.starts_with(folder)).cloned();
            unsynced.take(
                call,
                inside(of_fds.first()),
                inside(named.first()),
                inside(named.get(1)),
                existed,
            );
        }
        unsynced
    }

    fn take(
        &mut self,
        call: &Call<'_>,
        fd: Option<PathBuf>,
        named: Option<PathBuf>,
        second: Option<PathBuf>,
        existed: &BTreeSet<PathBuf>,
    ) {
        match (call.name, fd, named, second) {
            ("openat", _, Some(path), _) if call.given.contains("O_CREAT") => {
                if !self.ids.contains_key(&path) && !existed.contains(&path) {
                    let id = self.id(&path);
                    self.dirty.insert(id);
                    self.names.push(UnsyncedName::File(path));
                } else if call.given.contains("O_TRUNC") {
                    let id = self.id(&path);
                    self.dirty.insert(id);
                }
            }
            // An unfinished call made nothing durable.
            ("fsync" | "fdatasync", Some(path), ..) if call.answered.is_some() => {
                if let Some(id) = self.ids.get(&path) {
                    self.dirty.remove(id);
                }
                self.names.retain(|named| named.directory() != Some(&path));
            }
            ("write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "ftruncate" | "fallocate", Some(path), ..)
                if !path.to_string_lossy().ends_with("(deleted)") =>
            {
                let id = self.id(&path);
                self.dirty.insert(id);
            }
            ("copy_file_range" | "sendfile", ..) => panic!("data copied in a way that is not followed: {}", call.given),
            // A directory may have existed before its creation was interrupted.
            ("mkdir" | "mkdirat", _, Some(path), _) if !existed.iter().any(|old| old.starts_with(&path)) => {
                self.names.push(UnsyncedName::Directory(path));
            }
            ("link" | "linkat", _, Some(from), Some(to)) => {
                let id = self.id(&from);
                self.ids.insert(to.clone(), id);
                self.names.push(UnsyncedName::File(to));
            }
            ("rename" | "renameat" | "renameat2", _, Some(from), Some(to)) => {
                let id = self.id(&from);
                self.ids.remove(&from);
                self.ids.insert(to.clone(), id);
                self.names.push(UnsyncedName::Moved { from, to });
            }
            ("unlink" | "unlinkat", _, Some(path), _) => {
                self.ids.remove(&path);
                self.names.push(UnsyncedName::Removed(path));
            }
            _ => {}
        }
    }

    fn id(&mut self, path: &Path) -> usize {
        if let Some(id) = self.ids.get(path) {
            return *id;
        }
        self.files += 1;
        self.ids.insert(path.to_owned(), self.files);
        self.files
    }

    /// Gives the folder a state that is possible after a power cut. Files that the run replaced or removed come from
    /// `before`.
    fn cut(&self, folder: &Path, before: &Path, data: Data, with_names: bool) {
        for (path, _) in self.ids.iter().filter(|(_, id)| self.dirty.contains(id)) {
            let Ok(meta) = fs::metadata(path) else { continue };
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(0).unwrap();
            if data == Data::Zeros {
                file.set_len(meta.len()).unwrap();
                file.set_modified(meta.modified().unwrap()).unwrap();
            }
        }
        if with_names {
            return;
        }
        let back = |path: &Path| {
            let old = before.join(path.strip_prefix(folder).unwrap());
            if old.is_file() && path.parent().is_some_and(Path::is_dir) {
                fs::copy(old, path).unwrap();
            }
        };
        for named in self.names.iter().rev() {
            match named {
                UnsyncedName::File(path) => drop(fs::remove_file(path)),
                UnsyncedName::Directory(path) => drop(fs::remove_dir_all(path)),
                UnsyncedName::Moved { from, to } => {
                    let _ = fs::rename(to, from);
                    back(to);
                }
                UnsyncedName::Removed(path) if !path.exists() => back(path),
                UnsyncedName::Removed(_) => {}
            }
        }
    }
}

/// Runs a crawl under strace, which kills it at the n-th call of a name in any thread. Returns the exit code and the
/// trace.
fn traced(haat: &Haat, kill: Option<&(String, usize)>) -> (Option<i32>, String) {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-s", "0", "-o"]).arg(trace.path());
    strace.args(["-e", &format!("trace=?{}", CALLS.join(",?"))]);
    if let Some((name, nth)) = kill {
        strace.args(["-e", &format!("inject={name}:signal=KILL:when={nth}")]);
    }
    let crawl = haat.command(&["crawl", "--release"]);
    strace
        .arg(crawl.get_program())
        .args(crawl.get_args())
        .current_dir(haat.path());
    strace.envs(crawl.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = strace.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    (status.code(), fs::read_to_string(trace.path()).unwrap())
}

/// Returns the calls at which a run can be cut: each name up to its maximum number of calls in one thread.
fn moments(trace: &str) -> Vec<(String, usize)> {
    let (mut counts, mut moments) = (BTreeMap::<(&str, &str), usize>::new(), BTreeSet::new());
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, _)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if CUT_AT.contains(&name) {
            let nth = counts.entry((thread, name)).or_default();
            *nth += 1;
            moments.insert((name.to_owned(), *nth));
        }
    }
    moments.into_iter().collect()
}

/// Starts a server and returns the number of products that it serves.
fn served(haat: &Haat) -> u64 {
    let (_server, serving) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (code, stats) = get(&format!("{}/v1/stats", serving["address"].as_str().unwrap()));
    assert_eq!(code, 200, "{stats}");
    stats["data"]["products"].as_u64().unwrap()
}

#[test]
fn a_power_cut_is_recovered_from_and_takes_nothing_that_was_acknowledged() {
    if !has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        return;
    }
    let source = ["--products", "24", "--stores", "2", "--seed", "9"];
    let before = Haat::new();
    let (_old, old) = before.with_stores(&source);
    before.run(&["crawl", "--release"]).json();
    let (_new, new) = before.serve(&[&["emulate"], source.as_slice(), &["--epoch", "1"]].concat());
    drop(old);
    before.register(&new);
    let existed = |haat: &Haat| files(haat.path(), "").into_iter().collect::<BTreeSet<_>>();

    // The power is cut as soon as the command has ended successfully.
    let whole = copy(&before);
    let held = existed(&whole);
    let (code, trace) = traced(&whole, None);
    assert_eq!(code, Some(0));
    let expected = contents(&whole);
    UnsyncedFiles::follow(whole.path(), &held, &trace).cut(whole.path(), before.path(), Data::Zeros, false);
    assert_eq!(contents(&whole), expected);
    assert_eq!(releases(&whole), 2);
    let shown = whole.run(&["release", "show"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(served(&whole), 24);

    let moments = moments(&trace);
    assert!(moments.len() > CUTS_SPREAD, "{moments:?}");
    let all = std::env::var_os("TEST_CUTS").is_some();
    let step = if all { 1 } else { moments.len().div_ceil(CUTS_SPREAD) };
    for (at, moment) in moments.iter().step_by(step).enumerate() {
        let killed = copy(&before);
        let held = existed(&killed);
        let (_, trace) = traced(&killed, Some(moment));
        let unsynced = UnsyncedFiles::follow(killed.path(), &held, &trace);
        let data = if at % 2 == 0 { Data::Zeros } else { Data::Nothing };
        // Names can be durable although the data is not, or both are lost.
        let with_names = at % 4 < 2;
        unsynced.cut(killed.path(), before.path(), data, with_names);
        let told = format!(
            "power cut at {moment:?}, {data:?}, names kept: {with_names}, {:?}",
            unsynced.names
        );
        assert!((1..=2).contains(&releases(&killed)), "{told}");
        let shown = killed.run(&["release", "show"]);
        assert_eq!(shown.code, 0, "{told}: {}", shown.stderr);
        let again = killed.run(&["crawl", "--release"]);
        assert_eq!(again.code, 0, "{told}: {}", again.stderr);
        assert_eq!(contents(&killed), expected, "{told}");
        assert_eq!(releases(&killed), 2, "{told}");
        assert_eq!(served(&killed), 24, "{told}");
    }
}
