//! Checks the container file, units and archive in `deploy/` with linters and with this program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Haat, files, has_program};

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a program in the project's folder. Fails with the program's output.
#[track_caller]
pub(crate) fn succeeds(program: &str, args: &[&str]) -> Output {
    let output = Command::new(program).args(args).current_dir(root()).output().unwrap();
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(
        output.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&told)
    );
    output
}

/// Returns the files in `deploy/` whose path ends in `end`.
fn deployed(end: &str) -> Vec<PathBuf> {
    let found = files(&root().join("deploy"), "");
    found
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect()
}

/// Asserts that this program accepts the arguments of a command line.
pub(crate) fn understands(words: &[String], told: &str) {
    let haat = Haat::new();
    // `--help` is handled after the other arguments are parsed, so nothing runs.
    let output = Command::new(env!("CARGO_BIN_EXE_haat"))
        .args(words)
        .arg("--help")
        .current_dir(haat.path())
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{told}: {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn units_are_understood_by_systemd_and_leave_little_to_attack() {
    if !has_program("systemd-analyze", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for path in deployed(".service").into_iter().chain(deployed(".timer")) {
        // Systemd requires that the program exists. A template is checked as one of its instances.
        let text = read(&path).replace("/usr/bin/haat", env!("CARGO_BIN_EXE_haat"));
        let name = path.file_name().unwrap().to_string_lossy().replace("@.", "@8080.");
        std::fs::write(folder.path().join(&name), text).unwrap();
        names.push(folder.path().join(name).to_string_lossy().into_owned());
    }
    assert!(names.len() > 6, "{names:?}");
    let all: Vec<_> = names.iter().map(String::as_str).collect();
    let output = succeeds("systemd-analyze", &[["verify", "--man=no"].as_slice(), &all].concat());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "systemd has something to say"
    );
    // A score of 15 means 1.5 of 10. A service without these settings has 9.6.
    for unit in all.iter().filter(|name| name.ends_with(".service")) {
        succeeds(
            "systemd-analyze",
            &["security", "--offline=true", "--threshold=15", "--no-pager", unit],
        );
    }
}

#[test]
fn the_container_file_has_nothing_for_a_linter_to_say() {
    if has_program("hadolint", &["--version"]) {
        succeeds("hadolint", &["deploy/Containerfile"]);
    }
}

/// Returns the names of variables in a text, such as `HAAT_QUERY_SERVER__LISTEN`.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    words
        .filter(|word| word.starts_with("HAAT_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_setting_and_command_of_the_files_is_one_of_this_program() {
    let haat = Haat::new();
    let config = haat.run(&["config"]).json();
    let settings = config["settings"].as_array().unwrap();
    let known: BTreeSet<_> = settings
        .iter()
        .map(|setting| setting["variable"].as_str().unwrap().to_owned())
        .collect();
    // These variables are for the compose file and the proxy, not for `haat`.
    let own = [
        "HAAT_IMAGE",
        "HAAT_SITE",
        "HAAT_PROXY_BUFFERS",
        "HAAT_MASTER_KEY",
        "HAAT_CURSOR_SECRET",
    ];
    let mut seen = BTreeMap::new();
    for path in files(&root().join("deploy"), "") {
        for name in variables(&std::fs::read_to_string(&path).unwrap_or_default()) {
            seen.insert(name, path.clone());
        }
    }
    let unknown: Vec<_> = seen
        .iter()
        .filter(|(name, _)| !known.contains(*name) && !own.contains(&name.as_str()))
        .collect();
    assert!(unknown.is_empty() && seen.len() > 10, "{unknown:?} of {seen:?}");

    for path in deployed(".toml").into_iter().chain(deployed(".toml.example")) {
        haat.run(&["config", "--config", &path.to_string_lossy()]).json();
    }
    for path in deployed(".service") {
        let text = read(&path);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart=/usr/bin/haat "))
            .unwrap();
        let words: Vec<_> = line
            .replace("%i", "8080")
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        understands(&words, &path.to_string_lossy());
    }
}

#[test]
fn the_archive_holds_the_program_its_pages_completions_and_units() {
    let folder = tempfile::tempdir().unwrap();
    let [program, out] = ["haat", "out"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    // The packed program is a script that starts the real one, because packing the real one takes long.
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_haat"));
    std::fs::write(&program, script).unwrap();
    succeeds("chmod", &["+x", &program]);
    let output = succeeds("deploy/dist", &["--binary", &program, "--out", &out, "--level", "1"]);
    let archive = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let checked = Command::new("sha256sum")
        .args(["--check", "--quiet", &format!("{archive}.sha256")])
        .current_dir(&out)
        .status();
    assert!(checked.unwrap().success());
    succeeds("tar", &["-C", folder.path().to_str().unwrap(), "-xzf", &archive]);
    let name = Path::new(&archive)
        .file_name()
        .unwrap()
        .to_string_lossy()
        .replace(".tar.gz", "");
    let unpacked = folder.path().join(&name);
    let has = |path: &str| assert!(unpacked.join(path).is_file(), "{path} is not in {name}");
    for path in [
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "etc/haat/haat.toml.example",
        "lib/sysusers.d/haat.conf",
    ] {
        has(path);
    }
    for path in deployed(".service").into_iter().chain(deployed(".timer")) {
        has(&format!(
            "lib/systemd/system/{}",
            path.file_name().unwrap().to_string_lossy()
        ));
    }
    // Every command in the help has a page, which states the command's purpose.
    for page in [
        "haat",
        "haat-query-server",
        "haat-live-gateway",
        "haat-up",
        "haat-brands-add",
        "haat-release-rollback",
    ] {
        has(&format!("share/man/man1/{page}.1.gz"));
    }
    let page = succeeds(
        "gzip",
        &[
            "-dc",
            unpacked.join("share/man/man1/haat-brands-add.1.gz").to_str().unwrap(),
        ],
    )
    .stdout;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("Probe domains") && page.contains("\\-\\-from"), "{page}");
    succeeds(
        "bash",
        &[
            "-n",
            unpacked
                .join("share/bash-completion/completions/haat")
                .to_str()
                .unwrap(),
        ],
    );
    has("share/zsh/site-functions/_haat");
    has("share/fish/vendor_completions.d/haat.fish");
    let told = succeeds(unpacked.join("bin/haat").to_str().unwrap(), &["--version"]);
    assert_eq!(told.stdout, format!("haat {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
}
