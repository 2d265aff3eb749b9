//! Runs the twelve questions of docs/questions.md in every engine of the market that the document creates, and the
//! notebook that draws the answers.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::documents::{Block, Mark, command, document, path, printed, project};
use crate::support::{Haat, ServerProcess, has_program, is_built_with};

const HERE: &str = "tests/cli/questions.rs";
const QUESTIONS: &str = "docs/questions.md";
const NOTEBOOK: &str = "docs/notebooks/market.ipynb";
const PACKAGES: &str = "import adbc_driver_flightsql, datafusion, deltalake, duckdb, ipykernel, matplotlib, nbclient, pandas, polars, pyarrow";

/// Returns the document's blocks in a language that are run here.
fn blocks(language: &str) -> Vec<Block> {
    let all = document(QUESTIONS).blocks().into_iter();
    let here = |block: &Block| matches!(&block.mark, Some(Mark::RunBy(file)) if file == HERE);
    all.filter(|block| block.language == language && here(block)).collect()
}

/// Market of the document: its home, its demo, and the reader's working folder.
struct Market {
    haat: Haat,
    _demo: ServerProcess,
    desk: tempfile::TempDir,
}

/// Returns a Bash command with the environment of the document's reader.
fn shell(haat: &Haat, desk: &Path, script: &str) -> Command {
    let mut bash = Command::new("bash");
    bash.args(["-eu", "-o", "pipefail", "-c", script]);
    bash.current_dir(desk)
        .env("PATH", path(None))
        .env("HAAT_HOME", haat.path());
    bash
}

/// Starts the demo of the document with the document's additions.
fn market() -> Market {
    let commands = blocks("sh");
    let (setting, rest) = commands[0].text.split_once('\n').unwrap();
    let setting = command(setting).trim().strip_prefix("export ").unwrap();
    let (name, value) = setting.split_once('=').unwrap();
    let (haat, desk) = (Haat::new().with(name, value), tempfile::tempdir().unwrap());
    let first = rest.lines().map(command).next().unwrap();
    let told: Vec<&str> = first.split_whitespace().skip(1).collect();
    assert_eq!(told[..2], ["demo", "--home"], "{first}");
    let (demo, _) = haat.serve(&[&["demo"], &told[3..], &["--listen", "127.0.0.1:0"]].concat());
    let text = document(QUESTIONS).text;
    let rates = text
        .split("```\n")
        .find(|part| part.starts_with("date,base,quote,rate\n"))
        .unwrap();
    std::fs::write(desk.path().join("rates.csv"), rates).unwrap();
    printed(&commands[1].at, &mut shell(&haat, desk.path(), &commands[1].text));
    Market {
        haat,
        _demo: demo,
        desk,
    }
}

pub(crate) fn python(script: &str, args: &[&str]) -> Value {
    let mut python = Command::new("python3");
    let told = printed(script, python.arg(project().join(script)).args(args));
    serde_json::from_str(&told).unwrap()
}

#[test]
fn twelve_questions_have_rows_and_one_answer_in_every_engine_and_the_notebook_draws_them() {
    if !is_built_with("flight", cfg!(feature = "flight")) || !has_program("python3", &["-c", PACKAGES]) {
        return;
    }
    let Market { haat, desk, .. } = &market();
    let home = haat.path().to_str().unwrap();
    let asking = blocks("sh");
    printed(&asking[2].at, &mut shell(haat, desk.path(), &asking[2].text));
    assert!(desk.path().join("products.csv").exists());
    let example = &blocks("python")[0];
    let script = example.text.replace("haat-home", home);
    let told = printed(&example.at, Command::new("python3").args(["-c", &script]));
    assert!(told.contains("brand_slug"), "{told}");

    let (_server, served) = haat.serve(&["lake", "serve", "--listen", "127.0.0.1:0"]);
    let root = project();
    let answered = python(
        "tests/peers/questions.py",
        &[
            root.to_str().unwrap(),
            home,
            env!("CARGO_BIN_EXE_haat"),
            served["address"].as_str().unwrap(),
        ],
    );
    assert_eq!(answered["unequal"], serde_json::json!([]), "{}", answered["rows"]);
    let engines = answered["rows"].as_object().unwrap();
    assert_eq!(engines.len(), 6, "{engines:?}");
    for (engine, rows) in engines {
        let rows: Vec<u64> = rows.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        assert_eq!((rows.len(), blocks("sql").len()), (12, 12));
        assert!(rows.iter().all(|rows| *rows > 0), "{engine}: {rows:?}");
    }

    if crate::ballista::has_ballista() {
        let statements: Vec<String> = blocks("sql").iter().map(|block| block.text.trim().to_owned()).collect();
        crate::ballista::answers_alike(haat, &statements, false);
    }

    let notebook = root.join(NOTEBOOK);
    let drawn = python(
        "tests/peers/notebook.py",
        &[notebook.to_str().unwrap(), home, desk.path().to_str().unwrap()],
    );
    assert_eq!(drawn["stored_outputs"], 0, "the notebook is kept without what it drew");
    let charts = drawn["charts"].as_array().unwrap();
    assert_eq!(Value::from(charts.len()), drawn["drawing_cells"]);
    assert!(charts.len() >= 6);
    for chart in charts {
        // An empty chart has only the colours of its text.
        let at_least = |member: &str, least: u64| chart[member].as_u64().unwrap() >= least;
        assert!(at_least("width", 400) && at_least("colours", 200), "{chart}");
    }
}
