//! Check of every response of a test with the protocol's own validator, `ucp-schema`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::CART;
use crate::support::has_program;

/// Base URL of the schemas' ids. The files are below `source` in the folder of their version.
const SITE: &str = "https://ucp.dev/";

/// Asserts that the program finds no errors in the responses, and finds errors in corrupted ones.
pub(super) fn finds_nothing_wrong(answers: &[Value], schemas: &Path) {
    if !has_program("ucp-schema", &["--version"]) {
        return;
    }
    let found = faults(answers, schemas);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let mut spoiled = answers.to_vec();
    spoiled.retain(|one| one["schema"].as_str().unwrap().ends_with(CART));
    for one in &mut spoiled {
        one["document"]["currency"] = json!(7);
    }
    assert_eq!(faults(&spoiled, schemas).len(), spoiled.len(), "it tells what is wrong");
}

/// Returns the errors that the program finds in the responses. Each error names its version (`of`), its schema and the
/// operation (`op`).
fn faults(answers: &[Value], schemas: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let payload = folder.path().join("answer.json");
    let mut faults = Vec::new();
    for answer in answers {
        std::fs::write(&payload, answer["document"].to_string()).unwrap();
        let source = schemas.join(answer["of"].as_str().unwrap()).join("source");
        let schema = answer["schema"].as_str().unwrap().strip_prefix(SITE).unwrap();
        let (file, definition) = schema
            .split_once("#/$defs/")
            .map_or((schema, None), |(file, name)| (file, Some(name)));
        let mut command = Command::new("ucp-schema");
        command.args([
            "validate",
            "--response",
            "--json",
            "--op",
            answer["op"].as_str().unwrap(),
        ]);
        command
            .args(["--schema-remote-base", SITE, "--schema-local-base"])
            .arg(&source);
        command.arg("--schema").arg(source.join(file));
        command.args(definition.map(|name| ["--def", name]).into_iter().flatten());
        let output = command.arg(&payload).output().unwrap();
        if !output.status.success() {
            let told = [output.stdout, output.stderr].concat();
            faults.push(format!(
                "{} {}: {}",
                answer["of"],
                answer["name"],
                String::from_utf8_lossy(&told)
            ));
        }
    }
    faults
}
