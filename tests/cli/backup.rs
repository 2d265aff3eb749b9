//! Tests of backups of a whole home, and of the responses of a restored home.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::documents::documents;
use crate::support::{Haat, files, get, has_program};

/// Returns another home for the restore.
fn elsewhere() -> Haat {
    Haat::new()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn rows(haat: &Haat) -> Vec<Vec<Value>> {
    ["products", "variants", "price_history", "crawl_runs", "brands"]
        .map(|table| haat.sql(&format!("select * from {table} order by 1, 2, 3, 4")))
        .to_vec()
}

/// Writes the list of a home's keys to a file for a restore.
fn key_list(haat: &Haat, folder: &Path) -> String {
    let file = folder.join("keys.json");
    std::fs::write(&file, haat.run(&["keys", "list"]).json().to_string()).unwrap();
    text(&file)
}

fn key_statuses(haat: &Haat) -> Value {
    let keys = haat.run(&["keys", "list"]).json();
    let status = |key: &Value| (key["name"].as_str().unwrap().to_owned(), key["status"].clone());
    keys["keys"].as_array().unwrap().iter().map(status).collect()
}

/// Returns the HTTP status of a request that needs this key.
fn status_with_key(base: &str, key: &str) -> String {
    let asked = Command::new("curl")
        .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H"])
        .arg(format!("Authorization: Bearer {key}"))
        .arg(format!("{base}/v1/quota"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&asked.stdout).into_owned()
}

/// Asserts that a program refuses a state whose secrets were sealed with a missing key.
fn refuses_secrets_of_a_key_that_is_elsewhere(restored: &Haat) {
    let refused = restored.run(&["keys", "create", "another"]);
    assert_eq!(
        (refused.code, refused.stderr.contains("master key")),
        (2, true),
        "{}",
        refused.stderr
    );
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

    // Servers handle requests during the backup. A second backup copies almost nothing.
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
    let listed = first.run(&["backup", "list", &place]).json();
    assert_eq!(listed["backups"].as_array().unwrap().len(), 2);
    assert_eq!(first.run(&["backup", "verify", &place]).json()["damaged"], json!([]));

    let second = elsewhere();
    let restored = second.run(&["restore", &place]).json();
    assert_eq!(
        [
            &restored["written"],
            &restored["keys_valid"],
            &restored["keys_unconfirmed"]
        ],
        [&again["objects"], &json!(0), &json!(1)]
    );
    assert_eq!(rows(&second), rows(&first));
    refuses_secrets_of_a_key_that_is_elsewhere(&second);
    std::fs::copy(
        first.path().join("state/master.key"),
        second.path().join("state/master.key"),
    )
    .unwrap();
    second.run(&["keys", "confirm", "--all"]).json();
    assert_eq!(
        second.run(&["keys", "list"]).json(),
        first.run(&["keys", "list"]).json()
    );
    let (_up, at) = second.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = at["address"].as_str().unwrap();
    let mut found = get(&format!("{base}/v1/search?q=cotton&limit=5"));
    for answer in [&mut found, &mut answer.clone()] {
        answer.1["request_id"] = Value::Null;
    }
    assert_eq!(found.1["data"], answer.1["data"]);
    assert_eq!(status_with_key(base, &key), "200");

    // The stores have not changed, so the crawl does not change the lake.
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

/// Creates a home with a catalogue and the keys `kept` and `leaked`, and revokes `leaked` after the first backup.
/// Returns both keys.
fn with_a_key_revoked_after_a_backup(first: &Haat, place: &str) -> [String; 2] {
    let (_stores, _) = first.with_stores(&["--products", "20", "--stores", "2", "--seed", "11"]);
    first.run(&["crawl", "--release"]).json();
    let made = ["kept", "leaked"].map(|name| first.run(&["keys", "create", name]).json());
    first.run(&["backup", "create", place, "--with-master-key"]).json();
    first.run(&["keys", "revoke", made[1]["id"].as_str().unwrap()]).json();
    made.map(|key| key["key"].as_str().unwrap().to_owned())
}

#[test]
fn a_backup_is_its_owners_alone_and_doctor_names_one_that_is_not() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Haat::new();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("backups");
    home.run(&["keys", "create", "one"]).json();
    home.run(&["backup", "create", &text(&place), "--with-master-key"])
        .json();
    let mut left = vec![place.clone()];
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            left.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            assert_eq!(mode & 0o177, 0, "{}", path.display());
            files.push(path);
        }
    }
    assert!(files.len() > 2, "{files:?}");
    let of_backups = |home: &Haat| {
        let told: Value = serde_json::from_str(&home.run(&["doctor"]).stdout).unwrap();
        let mut findings = told["findings"].as_array().unwrap().clone();
        findings.retain(|finding| finding["subject"] == "backups");
        findings.pop().unwrap()
    };
    assert_eq!(of_backups(&home)["ok"], true);
    // Older versions left such permissions.
    for path in [&place, &files[0]] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let told = of_backups(&home);
    assert_eq!(told["severity"], "warning");
    assert!(
        told["found"].as_str().unwrap().contains("2 files and folders"),
        "{told}"
    );
}

#[test]
fn a_key_that_was_revoked_after_a_backup_is_not_taken_after_a_restore_of_it() {
    let first = Haat::new();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    let [kept, leaked] = with_a_key_revoked_after_a_backup(&first, &place);
    let told_by_nobody = elsewhere();
    let told = told_by_nobody.told(&["restore", &place]);
    assert!(told.contains("2 keys refused until you confirm them"), "{told}");
    assert_eq!(
        key_statuses(&told_by_nobody),
        json!({"kept": "unconfirmed", "leaked": "unconfirmed"})
    );
    let (server, at) = told_by_nobody.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = at["address"].as_str().unwrap();
    assert_eq!([&kept, &leaked].map(|key| status_with_key(base, key)), ["401", "401"]);
    drop(server);
    let id = first.run(&["keys", "list"]).json()["keys"][0]["id"].clone();
    let confirmed = told_by_nobody.run(&["keys", "confirm", id.as_str().unwrap()]).json();
    assert_eq!(confirmed, json!({"confirmed": [{"id": id, "name": "kept"}]}));

    // The list of the last used state has both keys, so none needs a confirmation.
    let told_by_list = elsewhere();
    let keys = key_list(&first, folder.path());
    let restored = told_by_list.run(&["restore", &place, "--keys", &keys]).json();
    assert_eq!(
        [&restored["keys_valid"], &restored["keys_unconfirmed"]],
        [&json!(1), &json!(0)]
    );
    assert_eq!(
        told_by_list.run(&["keys", "list"]).json(),
        first.run(&["keys", "list"]).json()
    );
    let (_server, at) = told_by_list.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = at["address"].as_str().unwrap();
    assert_eq!([&kept, &leaked].map(|key| status_with_key(base, key)), ["200", "401"]);
    assert_eq!(restored["keys_missing"], json!([]));

    // The backup lacks a key that was created after it, and a list alone cannot restore the key.
    first.run(&["keys", "create", "later"]).json();
    let keys = key_list(&first, folder.path());
    let restored = elsewhere().run(&["restore", &place, "--keys", &keys]).json();
    let listed = first.run(&["keys", "list"]).json();
    let later = listed["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["name"] == "later");
    assert_eq!(restored["keys_missing"], json!([later.unwrap()["id"]]));
}

#[test]
fn a_later_backup_tells_a_restore_of_an_earlier_one_which_keys_were_revoked() {
    let first = Haat::new();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    with_a_key_revoked_after_a_backup(&first, &place);
    let earlier = first.run(&["backup", "list", &place]).json()["backups"][0]["backup"].clone();
    let earlier = earlier.as_str().unwrap();
    first.run(&["backup", "create", &place]).json();

    let restored = elsewhere();
    restored.run(&["restore", &place, "--backup", earlier]).json();
    let found = json!({"kept": "unconfirmed", "leaked": "revoked"});
    assert_eq!(key_statuses(&restored), found);
    restored.run(&["keys", "confirm", "--all"]).json();
    assert_eq!(key_statuses(&restored), json!({"kept": "active", "leaked": "revoked"}));

    // An invalid list is an error of the command line, and nothing is written.
    let none = elsewhere();
    let file = folder.path().join("none.json");
    std::fs::write(&file, "{}").unwrap();
    let refused = none.run(&["restore", &place, "--keys", &text(&file)]);
    assert_eq!((refused.code, files(none.path(), "").len()), (2, 0), "{refused:?}");
    // A damaged later backup is reported. The restore continues, and every key needs a confirmation.
    let later = first.run(&["backup", "list", &place]).json()["backups"][1]["backup"].clone();
    let list = folder
        .path()
        .join(format!("backups/backups/{}.json.zst", later.as_str().unwrap()));
    std::fs::write(list, "damaged").unwrap();
    let restored = elsewhere();
    let told = restored.run(&["restore", &place, "--backup", earlier]).json();
    assert_eq!(told["backups_unread"], json!([later]));
    let found = json!({"kept": "unconfirmed", "leaked": "unconfirmed"});
    assert_eq!(key_statuses(&restored), found);
}

/// Runs the commands of docs/operations.md unchanged, except for the location of the backups.
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
            // The command restores to another home, whose `--home` is already set.
            Some((rest, ["--home", _])) => elsewhere().run(rest).json(),
            _ => haat.run(&words).json(),
        };
        ran += 1;
    }
    assert_eq!(ran, 6);
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
    let keys = key_list(&first, folder.path());
    second
        .run(&["restore", &place, "--without-sealed", "--keys", &keys])
        .json();
    assert_eq!(
        second.run(&["keys", "list"]).json(),
        first.run(&["keys", "list"]).json()
    );
    let (_up, at) = second.serve(&["up", "--listen", "127.0.0.1:0"]);
    assert_eq!(get(&format!("{}/readyz", at["address"].as_str().unwrap())).0, 200);
}

#[test]
fn a_state_that_lost_its_database_is_not_backed_up_as_if_there_were_none() {
    let haat = Haat::new();
    haat.run(&["keys", "create", "app"]).json();
    let folder = tempfile::tempdir().unwrap();
    let place = text(&folder.path().join("backups"));
    let whole = haat.run(&["backup", "create", &place]).json();
    assert_eq!(whole["has_state"], true);
    for file in ["state.sqlite3", "state.sqlite3-wal", "state.sqlite3-shm"] {
        let _ = std::fs::remove_file(haat.path().join("state").join(file));
    }
    let refused = haat.run(&["backup", "create", &place]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("the database of the state is lost"),
        "{refused:?}"
    );
    assert!(!haat.path().join("state/state.sqlite3").exists(), "none is begun");
    let held = haat.run(&["backup", "list", &place]).json();
    assert_eq!(held["backups"].as_array().unwrap().len(), 1, "{held}");
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
    assert!(!second.path().join("state").exists());
    let restored = second.run(&["restore", &place, "--accept-loss"]);
    assert_eq!((restored.code, &restored.document()["lost"]), (3, &lost));
    // The next backup of the first home repairs the backups.
    first.run(&["backup", "create", &place, "--without-landing"]).json();
    first.run(&["backup", "verify", &place]).json();
    let pruned = first.run(&["backup", "prune", &place, "--keep", "1"]).json();
    assert_eq!(pruned["removed"].as_array().unwrap().len(), 1);
    elsewhere().run(&["restore", &place]).json();
}

/// Runs a command and kills it at the n-th file sync of one of its threads. Returns false if no thread syncs so often.
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
    let keys = key_list(&first, folder.path());
    let mut kills = 0;
    for nth in 2..8 {
        let second = elsewhere();
        // The loop ends when no thread syncs files so often.
        if !kill_at(&second, &["restore", &place, "--keys", &keys], nth) {
            break;
        }
        kills += 1;
        let refused = second.run(&["lake", "tables"]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("only partly restored"), "{}", refused.stderr);
        second.run(&["restore", &place, "--keys", &keys]).json();
        assert_eq!(rows(&second), whole);
        assert_eq!(
            second.run(&["keys", "list"]).json(),
            first.run(&["keys", "list"]).json()
        );
    }
    assert!(kills > 1, "{kills}");
}
