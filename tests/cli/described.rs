//! Checks that names in documents exist: commands, options, configuration keys, metrics.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::documents::{documents, project};
use crate::support::Haat;

/// Outputs of `--help`, each requested once.
#[derive(Default)]
struct Help(BTreeMap<Vec<String>, String>);

impl Help {
    fn of(&mut self, command: &[String]) -> &str {
        self.0.entry(command.to_vec()).or_insert_with(|| {
            let mut haat = Command::new(env!("CARGO_BIN_EXE_haat"));
            let output = haat.args(command).arg("--help").output().unwrap();
            assert!(output.status.success(), "{command:?}");
            String::from_utf8(output.stdout).unwrap()
        })
    }

    fn has_command(&mut self, above: &[String], name: &str) -> bool {
        let listed = self.of(above).lines().skip_while(|line| *line != "Commands:").skip(1);
        let mut listed = listed.take_while(|line| line.starts_with("  "));
        listed.any(|line| line.split_whitespace().next() == Some(name))
    }

    fn has_option(&mut self, command: &[String], option: &str) -> bool {
        let words = |text: &str| {
            text.split(|char: char| !char.is_ascii_alphanumeric() && char != '-')
                .any(|word| word == option)
        };
        words(self.of(command))
    }
}

/// Returns the words of a command in a document that do not exist: `haat release list · show`, `haat sql "select …"
/// [--as-of TIME]`.
fn unknown_in(written: &str, help: &mut Help) -> Vec<String> {
    let mut command: Vec<String> = Vec::new();
    let (mut unknown, mut beside, mut quoted) = (Vec::new(), false, false);
    for word in written.split(' ').skip(1) {
        let quotes = word.matches('"').count();
        if quoted || quotes > 0 {
            quoted ^= quotes % 2 == 1;
            continue;
        }
        if word == "·" {
            // The next name is an alternative to the last command.
            command.pop();
            beside = true;
            continue;
        }
        for part in word.split(['[', ']', '|', '=']).filter(|part| !part.is_empty()) {
            if part.starts_with("--") {
                if !help.has_option(&command, part) {
                    unknown.push(format!("{part} of {command:?}"));
                }
            } else if help.has_command(&command, part) {
                command.push(part.to_owned());
            } else if command.is_empty() || beside {
                unknown.push(format!("command {part:?} of {command:?}"));
            }
        }
        beside = false;
    }
    unknown
}

#[test]
fn every_command_and_option_that_a_document_names_exists() {
    let mut help = Help::default();
    let mut named = 0;
    for document in documents() {
        for span in document.spans().iter().filter(|span| span.starts_with("haat ")) {
            assert_eq!(
                unknown_in(span, &mut help),
                Vec::<String>::new(),
                "{}: {span}",
                document.path
            );
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
    for wrong in [
        "haat serve",
        "haat release list · shew",
        "haat crawl --releases",
        "haat keys list --grace-hours",
    ] {
        assert_eq!(unknown_in(wrong, &mut help).len(), 1, "{wrong}");
    }
}

#[test]
fn every_key_of_the_configuration_that_a_document_names_exists() {
    let config = Haat::new().run(&["config"]).json();
    let keys: Vec<&str> = config["settings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|setting| setting["key"].as_str())
        .collect();
    let is_section = |name: &str| {
        keys.iter()
            .any(|key| key.split_once('.').is_some_and(|(section, _)| section == name))
    };
    let exists = |key: &str| {
        let is_within = |known: &&str| {
            known
                .strip_prefix(key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        keys.iter().any(is_within)
    };
    let is_key = |text: &str| {
        text.split('.').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        })
    };
    let mut named = 0;
    for document in documents() {
        for span in document.spans() {
            let text = span.split(" = ").next().unwrap_or_default();
            let key = match text.strip_prefix("HAAT_") {
                Some(variable)
                    if variable
                        .bytes()
                        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') =>
                {
                    variable.to_lowercase().replace("__", ".")
                }
                _ => text.to_owned(),
            };
            let is_variable = key != text;
            if is_variable || key.split_once('.').is_some_and(|(section, _)| is_section(section)) && is_key(&key) {
                assert!(exists(&key), "{}: there is no key {key}", document.path);
                named += 1;
            }
        }
    }
    assert!(named > 50, "{named}");
}

/// Appends the text of every source file below a folder, except tests.
fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_own = !name.starts_with('.') && !["target", "tests", "docs"].contains(&name.as_str());
        if path.is_dir() && is_own {
            sources(&path, all);
        } else if name.ends_with(".rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_metric_that_a_document_names_is_measured() {
    let mut measured = String::new();
    sources(&project(), &mut measured);
    let mut named = 0;
    for document in documents() {
        let mut is_of_metrics = false;
        for line in document.text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            is_of_metrics = match cells.get(1) {
                Some(&"metric") => true,
                Some(_) => is_of_metrics,
                None => false,
            };
            let first = cells.get(1).filter(|_| is_of_metrics).copied().unwrap_or_default();
            for metric in first.split('`').skip(1).step_by(2) {
                let name = metric.split('{').next().unwrap_or(metric);
                assert!(
                    measured.contains(&format!("\"{name}\"")),
                    "{}: nothing measures {name}",
                    document.path
                );
                named += 1;
            }
        }
    }
    assert!(named > 40, "{named}");
}
