//! Checks that documents refer only to existing things: files, links, decisions, crates and alerts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
});
static FILES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let (mut files, mut folders) = (Vec::new(), vec![ROOT.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_skipped = name == "target" || name == "node_modules" || name.to_string_lossy().starts_with('.');
            if !path.is_dir() {
                files.push(path);
            } else if !is_skipped {
                folders.push(path);
            }
        }
    }
    files
});

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension()
        .is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Returns documents with their folders, without fenced blocks.
fn documents() -> Vec<(PathBuf, String)> {
    let all = FILES.iter().filter(|path| has_ending(path, &["md"]));
    all.map(|path| (path.clone(), read(path).split("\n```").step_by(2).collect()))
        .collect()
}

/// True if `named` can refer to a file: from the root, from the document's folder, or by its name alone.
fn is_there(document: &Path, named: &str) -> bool {
    let folder = document.parent().unwrap();
    let is_name = || FILES.iter().any(|file| file.ends_with(named));
    ROOT.join(named).exists() || folder.join(named).exists() || (!named.contains('/') && is_name())
}

#[test]
fn every_source_file_that_a_document_names_is_there() {
    let mut missing = BTreeSet::new();
    let mut named = 0;
    for (document, text) in documents() {
        for span in text.split('`').skip(1).step_by(2) {
            let is_path = span
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || "/_-.".contains(char));
            if !is_path || !has_ending(Path::new(span), &["rs", "tsv", "py", "mjs", "graphql"]) {
                continue;
            }
            named += 1;
            if !is_there(&document, span) {
                missing.insert(format!("{}: {span}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(named > 50, "{named}");
}

/// Returns the anchor that GitHub creates for a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    kept.map(|char| if char == ' ' { '-' } else { char }).collect()
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading() {
    let mut broken = BTreeSet::new();
    for (document, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => document.clone(),
                path => document.parent().unwrap().join(path),
            };
            let leads = || {
                let text = read(&target);
                text.lines()
                    .any(|line| line.starts_with('#') && anchor(line) == heading)
            };
            if !target.exists() || (!heading.is_empty() && !leads()) {
                broken.insert(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_decision_that_code_cites_is_there_and_short() {
    let decisions: Vec<PathBuf> = FILES
        .iter()
        .filter(|path| path.parent().unwrap().ends_with("docs/adr"))
        .cloned()
        .collect();
    for decision in &decisions {
        let words = read(decision).split_whitespace().count();
        assert!(words <= 250, "{} has {words} words", decision.display());
    }
    let mut cited = 0;
    for file in FILES.iter().filter(|path| has_ending(path, &["rs", "md", "toml"])) {
        let text = read(file);
        let after = ["docs/adr/", "ADR "].map(|start| text.split(start).skip(1));
        for rest in after.into_iter().flatten() {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if number.len() != 3 {
                continue;
            }
            let is_there = decisions.iter().any(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with(&format!("{number}-"))
            });
            assert!(is_there, "{}: there is no decision {number}", file.display());
            cited += 1;
        }
    }
    assert!(cited > 20, "{cited}");
}

#[test]
fn the_page_of_the_architecture_names_every_crate() {
    let page = read(&ROOT.join("ARCHITECTURE.md"));
    let manifests = FILES.iter().filter(|path| path.ends_with("Cargo.toml"));
    for folder in manifests.filter_map(|path| path.parent()?.strip_prefix(&*ROOT).ok()) {
        let name = folder.to_string_lossy();
        let is_named = name.is_empty() || name == "fuzz" || page.contains(&format!("`{name}`"));
        assert!(is_named, "ARCHITECTURE.md does not name {name}");
    }
}

#[test]
fn the_guide_of_operators_says_what_every_alert_means() {
    let alerts = read(&ROOT.join("deploy/prometheus/alerts.yml"));
    let guide = read(&ROOT.join("docs/operations.md"));
    let names: Vec<&str> = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(
            guide.contains(&format!("`{name}`")),
            "docs/operations.md does not explain {name}"
        );
    }
}

#[test]
fn the_page_of_the_api_names_every_error_code_with_its_status() {
    let page = read(&ROOT.join("docs/api.md"));
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let codes = read(&ROOT.join("data/model/src/error.rs"));
    let mut named = 0;
    for line in codes.lines() {
        let Some((code, rest)) = line.split_once(" = \"").and_then(|(_, rest)| rest.split_once("\", ")) else {
            continue;
        };
        let status = rest.split(',').next().unwrap();
        let is_told = |row: &&str| row.contains(&format!("`{code}`")) && row.contains(status);
        assert!(
            rows.iter().any(is_told),
            "docs/api.md does not tell {code} with {status}"
        );
        named += 1;
    }
    assert!(named > 20, "{named}");
}
