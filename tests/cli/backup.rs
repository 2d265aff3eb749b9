//! Backups of a whole home, and what a restored one answers.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::documents::documents;
use crate::support::{Haat, files, get, has_program};

/// Another home, for what is restored.
fn elsewhere() -> Haat {
    Haat::new()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Every row of every table, by table.
fn rows(haat: &Haat) -> Vec<Vec<Value>> {
    ["products", "variants", "price_history", "crawl_runs", "brands"]
        .map(|table| haat.sql(&format!("select * from {table} order by 1, 2, 3, 4")))
        .to_vec()
}

/// With which status a server answers what needs this key.
fn status_with_key(base: &str, key: &str) -> String {
    let asked = Command::new("curl")
        .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H"])
        .arg(format!("Authorization: Bearer {key}"))
        .arg(format!("{base}/v1/quota"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&asked.stdout).into_owned()
}

#[test]
fn a_restored_home_answers_what_the_first_one_did_and_goes_on_from_there() {
    let first = Haat::new();
    let (stores, _) = first.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    first.run(&["crawl", "--release"]).json();
    let key = first.run(&["keys", "create", "app"]).json()["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));

    // Taken while servers are at work, and a second time: then next to nothing is copied.
    let (up, at) = first.serve(&["up", "--listen", "127.0.0.1:0"]);
    let answer = get(&format!(
        "{}/v1/search?q=cotton&limit=5",
        at["address"].as_str().unwrap()
    ));
    let would = first.run(&["backup", "create", &place, "--dry-run"]).json();
    assert!(!Path::new(&place).exists(), "a dry run makes no folder");
    let taken = first.run(&["backup", "create", &place]).json();
    assert_eq!(would["objects"], taken["objects"]);
    assert_eq!(
        [&taken["has_state"], &taken["has_master_key"], &taken["vanished"]],
        [&json!(true), &json!(false), &json!(0)]
    );
    let again = first.run(&["backup", "create", &place]).json();
    assert!(again["copied"].as_u64().unwrap() <= 2, "{again}");
    drop(up);
    assert_eq!(
        first.run(&["backup", "list", &place]).json()["backups"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(first.run(&["backup", "verify", &place]).json()["damaged"], json!([]));

    let second = elsewhere();
    let restored = second.run(&["restore", &place]).json();
    assert_eq!(restored["written"], again["objects"]);
    assert_eq!(rows(&second), rows(&first));
    assert_eq!(
        second.run(&["keys", "list"]).json(),
        first.run(&["keys", "list"]).json()
    );
    // Nobody starts on a state whose secrets were sealed with a key that is elsewhere.
    let refused = second.run(&["keys", "create", "another"]);
    assert_eq!(
        (refused.code, refused.stderr.contains("master key")),
        (2, true),
        "{}",
        refused.stderr
    );
    std::fs::copy(
        first.path().join("state/master.key"),
        second.path().join("state/master.key"),
    )
    .unwrap();
    let (_up, at) = second.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = at["address"].as_str().unwrap();
    let mut found = get(&format!("{base}/v1/search?q=cotton&limit=5"));
    for answer in [&mut found, &mut answer.clone()] {
        answer.1["request_id"] = Value::Null;
    }
    assert_eq!(found.1["data"], answer.1["data"]);
    assert_eq!(status_with_key(base, &key), "200");

    // Nothing has changed at the stores: the crawl sees that, and the lake stays as it is.
    let crawled = second.run(&["crawl"]).json();
    let stores_crawled = crawled["stores"].as_array().unwrap();
    assert!(
        stores_crawled.iter().all(|store| store["outcome"] == "unchanged"),
        "{crawled}"
    );
    drop(stores);
    let refused = second.run(&["restore", &place]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// The commands of docs/operations.md as they stand there, but for the place.
#[test]
fn the_documented_commands_run_one_after_another() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "2", "--seed", "8"]);
    haat.run(&["crawl", "--release"]).json();
    let all = documents();
    let guide = all
        .iter()
        .find(|document| document.path == "docs/operations.md")
        .unwrap();
    let blocks = guide.blocks();
    let block = blocks
        .iter()
        .find(|block| block.text.contains("haat backup create"))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    let mut ran = 0;
    for line in block.text.lines() {
        let command = line.split("  #").next().unwrap().replace("/mnt/backups/haat", &place);
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        match words.split_last_chunk::<2>() {
            // To another home: the option is given already.
            Some((rest, ["--home", _])) => elsewhere().run(rest).json(),
            _ => haat.run(&words).json(),
        };
        ran += 1;
    }
    assert_eq!(ran, 5);
}

#[test]
fn a_home_whose_master_key_is_lost_comes_back_without_what_that_key_sealed() {
    let first = Haat::new();
    let (_stores, _) = first.with_stores(&["--products", "20", "--stores", "2", "--seed", "9"]);
    first.run(&["crawl", "--release"]).json();
    first.run(&["keys", "create", "app"]).json();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    first.run(&["backup", "create", &place]).json();
    let second = elsewhere();
    let absent = folder.path().join("absent");
    let dry = Haat::new().at(&text(&absent));
    assert_eq!(dry.run(&["restore", &place, "--dry-run"]).json()["dry_run"], true);
    assert!(!absent.exists(), "a dry run makes no folder");
    second.run(&["restore", &place, "--without-sealed"]).json();
    assert_eq!(
        second.run(&["keys", "list"]).json(),
        first.run(&["keys", "list"]).json()
    );
    let (_up, at) = second.serve(&["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(get(&format!("{}/readyz", at["address"].as_str().unwrap())).0, 200);
}

#[test]
fn what_a_backup_has_lost_is_named_and_left_out_only_when_that_is_accepted() {
    let first = Haat::new();
    let (_stores, _) = first.with_stores(&["--products", "20", "--stores", "2", "--seed", "6"]);
    first.run(&["crawl", "--release"]).json();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    first.run(&["backup", "create", &place, "--without-landing"]).json();
    let objects = files(&folder.path().join("backups/objects"), "");
    let largest = objects
        .iter()
        .max_by_key(|file| file.metadata().unwrap().len())
        .unwrap();
    std::fs::remove_file(largest).unwrap();
    let verified = first.run(&["backup", "verify", &place]);
    assert_eq!(verified.code, 1);
    let lost = verified.document()["damaged"].clone();
    assert_eq!(lost.as_array().unwrap().len(), 1);

    let second = elsewhere();
    assert_eq!(second.run(&["restore", &place]).code, 1);
    assert_eq!(files(second.path(), "").len(), 0, "nothing was written");
    let restored = second.run(&["restore", &place, "--accept-loss"]);
    assert_eq!((restored.code, &restored.document()["lost"]), (3, &lost));
    // The next backup of the first home heals the place.
    first.run(&["backup", "create", &place, "--without-landing"]).json();
    first.run(&["backup", "verify", &place]).json();
    let pruned = first.run(&["backup", "prune", &place, "--keep", "1"]).json();
    assert_eq!(pruned["removed"].as_array().unwrap().len(), 1);
    elsewhere().run(&["restore", &place]).json();
}

/// Runs a command that is killed at the n-th time that a thread of it syncs a file; `false` where none does so often.
fn kill_at(haat: &Haat, args: &[&str], nth: usize) -> bool {
    let command = haat.command(args);
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"])
        .args(["-e", &format!("inject=fdatasync:signal=KILL:when={nth}")])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(haat.path())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap().code().is_none()
}

#[test]
fn a_restore_that_was_killed_goes_on_and_no_command_takes_its_home_for_whole() {
    if !has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        return;
    }
    let first = Haat::new();
    let (_stores, _) = first.with_stores(&["--products", "20", "--stores", "2", "--seed", "7"]);
    first.run(&["crawl", "--release"]).json();
    first.run(&["keys", "create", "app"]).json();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    first.run(&["backup", "create", &place]).json();
    let whole = rows(&first);
    let mut kills = 0;
    for nth in 2..8 {
        let second = elsewhere();
        // No thread may come to sync a file so often.
        if !kill_at(&second, &["restore", &place], nth) {
            break;
        }
        kills += 1;
        let refused = second.run(&["lake", "tables"]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("half restored"), "{}", refused.stderr);
        second.run(&["restore", &place]).json();
        assert_eq!(rows(&second), whole);
        assert_eq!(
            second.run(&["keys", "list"]).json(),
            first.run(&["keys", "list"]).json()
        );
    }
    assert!(kills > 1, "{kills}");
}
