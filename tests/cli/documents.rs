//! Runs every command and request in README.md and docs/*.md unchanged.
//!
//! A document's test runs its blocks. A mark before a block names another test, or the reason not to run it. Blocks for
//! visitors run on `haat demo`, those for operators on a home with emulated stores, and those for analysts on the home
//! of their demo.

mod blocks;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) use blocks::{Block, Document, Mark, command, document, documents, project};

use crate::discover::node;
use crate::support::{Haat, ServerProcess, get, has_program};

const HERE: &str = "tests/cli/documents.rs";
const README: &str = "README.md";
const ANALYSTS: &str = "docs/analysts.md";
const OPERATIONS: &str = "docs/operations.md";
/// Address of the demo in documents.
const DEMO: &str = "http://127.0.0.1:8080";
/// Maximum number of blocks that are not run: steps that tests carry out themselves, and steps for third-party
/// programs.
const NOT_RUN_MAX: usize = 4;

/// Returns the blocks of a document that its own test runs.
fn to_run(document: &Document) -> Vec<Block> {
    let blocks = document.blocks().into_iter();
    // A block without a language is a drawing or a list of files.
    blocks
        .filter(|block| block.mark.is_none() && !block.language.is_empty())
        .collect()
}

#[test]
fn a_block_that_no_test_here_runs_says_who_does_or_why_nobody() {
    let mut not_run = Vec::new();
    for document in documents() {
        for block in document.blocks() {
            let at = &block.at;
            match &block.mark {
                Some(Mark::NotRun(reason)) => {
                    assert!(reason.split(' ').count() > 3, "{at}: no reason: {reason:?}");
                    not_run.push(at.clone());
                }
                Some(Mark::RunBy(file)) => {
                    let test = std::fs::read_to_string(project().join(file));
                    let test = test.unwrap_or_else(|error| panic!("{at}: {file}: {error}"));
                    let programs = block.text.split_whitespace().filter(|word| word.contains('/'));
                    let mut named = programs.chain([document.path.as_str()]);
                    assert!(named.any(|name| test.contains(name)), "{at}: {file} does not run it");
                }
                None if block.language.is_empty() => {
                    let is_command =
                        |line: &str| ["haat ", "curl ", "cargo "].iter().any(|start| line.starts_with(start));
                    assert!(!block.text.lines().any(is_command), "{at}: commands without a language");
                }
                None => {
                    let known = ["sh", "json", "toml", "python"].contains(&block.language.as_str());
                    assert!(known, "{at}: nothing runs {:?}", block.language);
                }
            }
        }
    }
    assert!(not_run.len() <= NOT_RUN_MAX, "{not_run:?}");
}

/// Returns a `PATH` with the binary's folder first, then `also`, then the environment's `PATH`.
pub(crate) fn path(also: Option<&Path>) -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_haat")).parent().unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let all = [Some(binary), also].into_iter().flatten().map(PathBuf::from);
    std::env::join_paths(all.chain(std::env::split_paths(&usual))).unwrap()
}

/// Returns a Bash command that stops at any error.
fn bash(script: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(["-eu", "-o", "pipefail", "-c", script]);
    bash
}

/// Runs a command, which must succeed, and returns its output.
pub(crate) fn printed(at: &str, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (printed, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{at}: {printed}\n{told}");
    printed.into_owned()
}

/// Runs the blocks in order in one shell and returns the output of each.
fn printed_by_each(blocks: &[Block], shell: impl FnOnce(&str) -> Command) -> Vec<String> {
    const END: &str = "-- the end of a block --";
    let Some(first) = blocks.first() else { return Vec::new() };
    let script: String = blocks
        .iter()
        .map(|block| format!("{}\necho '{END}'\n", block.text))
        .collect();
    let printed = printed(&first.at, &mut shell(&script));
    let parts = printed.split(END).map(|part| part.trim().to_owned());
    parts.take(blocks.len()).collect()
}

/// Writes the configuration file of a block and loads it. Every key must exist and get its value from the file.
fn configures(block: &Block) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("haat.toml"), &block.text).unwrap();
    let mut haat = Command::new(env!("CARGO_BIN_EXE_haat"));
    let config = printed(&block.at, haat.current_dir(folder.path()).args(["config", "--json"]));
    let config: Value = serde_json::from_str(&config).unwrap();
    let settings = config["settings"].as_array().unwrap().iter();
    let from_file = settings.filter(|setting| setting["from"] == "file").count();
    let lines = block
        .text
        .lines()
        .filter(|line| line.contains(" = ") && !line.starts_with('#'));
    assert_eq!(from_file, lines.count(), "{}", block.at);
}

/// Runs the blocks of a document for readers who have started a demo.
fn visit(document: &Document, demo: &Value) {
    let text = |member: &str| demo[member].as_str().unwrap().to_owned();
    let mut shown = Vec::new();
    let mut commands: Vec<Block> = Vec::new();
    for block in to_run(document) {
        match block.language.as_str() {
            "sh" => commands.push(Block {
                text: block.text.replace(DEMO, &text("address")),
                ..block
            }),
            // The block shows the output of the commands before it.
            "json" => {
                assert!(!commands.is_empty(), "{}: whose answer is this?", block.at);
                shown.push((commands.len() - 1, block));
            }
            "toml" => configures(&block),
            other => panic!("{}: nothing runs {other}", block.at),
        }
    }
    let node = node();
    if node.is_none() && commands.iter().any(|block| block.text.contains("node ")) {
        return;
    }
    let answers = printed_by_each(&commands, |script| {
        let mut bash = bash(script);
        let beside = node
            .as_deref()
            .and_then(Path::parent)
            .filter(|folder| folder.is_absolute());
        bash.env("PATH", path(beside)).current_dir(project());
        bash.env("HAAT", text("address")).env("KEY", text("key"));
        bash
    });
    for (block, answer) in commands.iter().zip(&answers) {
        let asks = ["curl ", "mcp ", "api "].iter().any(|word| block.text.contains(word));
        let nothing = ["", "null", "[]"].contains(&answer.as_str());
        assert!(!asks || !nothing, "{}: nothing is printed", block.at);
    }
    for (at, block) in shown {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read(&answers[at]), read(&block.text), "{}", block.at);
    }
}

/// True if the OpenAPI description has a request of a document: `GET /v1/browse?category=shoes`, `POST …/lines`.
fn is_described(request: &str, description: &Value) -> bool {
    let Some((method, target)) = request.split_once(' ') else {
        return true;
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, is_end) = path.strip_prefix('…').map_or((path, false), |path| (path, true));
    let is_same = |known: &str| {
        let (own, known): (Vec<_>, Vec<_>) = (path.split('/').collect(), known.split('/').collect());
        let skipped = if is_end {
            known.len().saturating_sub(own.len() - 1)
        } else {
            0
        };
        let own = if is_end { &own[1..] } else { &own[..] };
        let matching = |(one, other): (&&str, &&str)| one == other || other.starts_with('{');
        own.len() == known.len() - skipped && own.iter().zip(&known[skipped..]).all(matching)
    };
    let paths = description["paths"].as_object().unwrap().iter();
    let mut operations = paths
        .filter(|(known, _)| is_same(known))
        .filter_map(|(_, item)| item.get(method.to_lowercase()));
    let names: BTreeSet<&str> = query
        .split('&')
        .filter_map(|pair| pair.split('=').next())
        .filter(|name| !name.is_empty())
        .collect();
    operations.any(|operation| {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let known: BTreeSet<&str> = parameters.filter_map(|one| one["name"].as_str()).collect();
        names.is_subset(&known)
    })
}

#[test]
fn what_documents_tell_visitors_to_run_is_answered_by_the_demo() {
    if !["jq", "curl", "python3"]
        .iter()
        .all(|program| has_program(program, &["--version"]))
    {
        return;
    }
    // The description has statements only if keys may send them.
    let haat = Haat::new().with("HAAT_SQL__KEYS", "granted");
    let (_demo, demo) = haat.serve(&["demo", "--listen", "127.0.0.1:0"]);
    let (_, description) = get(&format!("{}/openapi.json", demo["address"].as_str().unwrap()));
    for document in documents() {
        let methods = ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "];
        for span in document.spans() {
            if methods.iter().any(|method| span.starts_with(method)) && span.contains('/') {
                assert!(
                    is_described(&span, &description),
                    "{}: there is no {span}",
                    document.path
                );
            }
        }
        if ![ANALYSTS, OPERATIONS].contains(&document.path.as_str()) {
            visit(&document, &demo);
        }
    }
}

/// Starts a server or the jobs in a folder with the command line of a document, but on port 0.
fn serve(line: &str, folder: &Path, variables: &[(&str, String)]) -> (ServerProcess, Value) {
    let mut words = line.split_whitespace().peekable();
    let mut command = Command::new(env!("CARGO_BIN_EXE_haat"));
    command
        .current_dir(folder)
        .envs(variables.iter().map(|(name, value)| (name, value)));
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        command.env(name, value);
        words.next();
    }
    assert_eq!(words.next(), Some("haat"), "{line}");
    let mut given: Vec<&str> = words.collect();
    if let Some(at) = given.iter().position(|word| *word == "--listen") {
        given.drain(at..at + 2);
    }
    let listen = ["--listen", "127.0.0.1:0"];
    if given.first() != Some(&"jobs") {
        given.extend(listen);
    }
    command.args(given).args(["--json", "--quiet"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let serving = ServerProcess { child };
    let served = serde_json::from_str(&first).unwrap_or_else(|error| panic!("{line}: {error}: {first:?}"));
    (serving, served)
}

/// Returns the blocks of the README's own market and of the operators' guide, which continues with it.
fn blocks_of_operators() -> Vec<Block> {
    let blocks = blocks::document(README).blocks().into_iter();
    let mut market: Vec<Block> = blocks
        .filter(|block| block.mark == Some(Mark::RunBy(HERE.to_owned())))
        .collect();
    assert!(!market.is_empty(), "the README makes no market");
    market.extend(to_run(&blocks::document(OPERATIONS)));
    market
}

/// Address of the internal listener in the operators' document.
const INTERNAL: &str = "10.0.0.5:8082";

#[test]
fn what_operators_are_told_to_run_works_on_a_home_of_its_own() {
    let haat = Haat::new();
    let (_stores, stores) = haat.serve(&["emulate", "--products", "60", "--stores", "2"]);
    let stores: Vec<&str> = stores["stores"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|store| store["base_url"].as_str())
        .collect();
    let mut replaced = vec![
        ("blue-tokai.example kith.example".to_owned(), stores.join(" ")),
        (
            format!("INTERNAL_LISTEN={INTERNAL}"),
            "INTERNAL_LISTEN=127.0.0.1:0".to_owned(),
        ),
    ];
    let folder = haat.path();
    let variables = [
        ("HAAT_HOME", folder.join("home").to_string_lossy().into_owned()),
        ("HAAT_STOREFRONT__ALLOW_LOOPBACK", "true".to_owned()),
        ("HAAT_STOREFRONT__RATE_START_PER_S", "1e9".to_owned()),
    ];
    let mut servers = Vec::new();
    for block in blocks_of_operators() {
        if block.language == "toml" {
            configures(&block);
            continue;
        }
        assert_eq!(block.language, "sh", "{}", block.at);
        for line in block.text.lines().map(blocks::command).filter(|line| !line.is_empty()) {
            let mut line = line.to_owned();
            for (one, other) in &replaced {
                line = line.replace(one, other);
            }
            if line.starts_with("haat jobs run") {
                // Due jobs would do the work of the next lines.
                let (mut jobs, told) = serve(&line, folder, &variables);
                assert!(!told["jobs"].as_array().unwrap().is_empty(), "{}: {told}", block.at);
                let id = jobs.child.id().to_string();
                assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
                jobs.child.wait().unwrap();
                continue;
            }
            if ["haat up", "haat query-server", "haat live-gateway"]
                .iter()
                .any(|server| line.contains(server))
            {
                let (server, served) = serve(&line, folder, &variables);
                let ready = format!("{}/readyz", served["address"].as_str().unwrap());
                assert_eq!(get(&ready).0, 200, "{}: {line}", block.at);
                if let Some(internal) = served["internal_address"].as_str() {
                    replaced.push((format!("http://{INTERNAL}"), internal.to_owned()));
                }
                servers.push(server);
                continue;
            }
            let mut run = bash(&line);
            run.current_dir(folder).env("PATH", path(None));
            run.envs(variables.iter().map(|(name, value)| (name, value)));
            let told = printed(&format!("{}: {line}", block.at), &mut run);
            assert!(!told.trim().is_empty(), "{}: {line}", block.at);
            // The next lines use the key that was created here.
            let mut words = told.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
            if let Some(key) = words.find(|word| word.starts_with("key_") && word.len() > 8) {
                replaced.retain(|(one, _)| one != "key_…");
                replaced.push(("key_…".to_owned(), key.to_owned()));
            }
        }
    }
    assert!(servers.len() >= 3);
}

#[test]
fn what_analysts_are_told_to_run_prints_rows_on_the_home_of_their_demo() {
    let folder = tempfile::tempdir().unwrap();
    let document = blocks::document(ANALYSTS);
    let mut demo = None;
    for block in to_run(&document) {
        match block.language.as_str() {
            "sh" => {
                for line in block.text.lines().map(blocks::command).filter(|line| !line.is_empty()) {
                    if line.starts_with("haat demo") {
                        demo = Some(serve(line, folder.path(), &[]));
                    } else {
                        prints_rows(&block.at, line, folder.path());
                    }
                }
            }
            "python" => {
                if !has_program("python3", &["-c", "import deltalake, duckdb, polars, pyarrow"]) {
                    continue;
                }
                let mut python = Command::new("python3");
                let told = printed(&block.at, python.args(["-c", &block.text]).current_dir(folder.path()));
                assert!(
                    told.contains("count_star()") && told.contains("shape: ("),
                    "{}: {told}",
                    block.at
                );
                assert!(!told.contains("shape: (0,"), "{}: {told}", block.at);
            }
            other => panic!("{}: nothing runs {other}", block.at),
        }
    }
    assert!(demo.is_some(), "the document starts no demo");
    for document in documents() {
        let whole = |span: &String| span.starts_with("haat sql \"") && !span.contains('…');
        for span in document.spans().iter().filter(|span| whole(span)) {
            printed(&format!("{}: {span}", document.path), &mut at_home(span, folder.path()));
        }
    }
}

/// Returns a command on the home in a folder.
fn at_home(line: &str, folder: &Path) -> Command {
    let mut run = bash(line);
    run.current_dir(folder).env("PATH", path(None));
    run
}

/// Runs a command on the home in a folder, and asserts that it prints a table with rows.
fn prints_rows(at: &str, line: &str, folder: &Path) {
    let told = printed(&format!("{at}: {line}"), &mut at_home(line, folder));
    let rows = told.lines().filter(|line| line.starts_with("| ")).count();
    // The first row has the names of the columns.
    assert!(rows > 1, "{at}: {line}: {told}");
}
