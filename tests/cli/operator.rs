//! Tests of messages to an operator and of exit codes.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Haat, files};

/// Returns a home with two crawled stores and a release.
fn market() -> Haat {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "2", "--seed", "3"]);
    haat.run(&["crawl", "--release"]).json();
    haat
}

fn findings(told: &Value, subject: &str) -> Vec<Value> {
    let all = told["findings"].as_array().unwrap();
    all.iter()
        .filter(|finding| finding["subject"] == subject)
        .cloned()
        .collect()
}

#[test]
fn a_script_for_a_shell_that_nobody_reads_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let haat = Haat::new();
    let output = haat
        .command(&["completions", "bash"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(haat.run(&["completions", "bash"]).stdout.contains("complete -F _haat"));
}

#[test]
fn a_crawl_that_is_interrupted_before_its_release_is_done_in_part() {
    // This model accepts a request and never responds.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (asked, asking) = mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0]);
            let _ = asked.send(());
            held.push(stream);
        }
    });
    let haat = Haat::new()
        .with("HAAT_EMBEDDING__EMBEDDER", "endpoint")
        .with("HAAT_EMBEDDING__ENDPOINT__URL", &base)
        .with("HAAT_EMBEDDING__ENDPOINT__MODEL", "silent")
        .with("HAAT_EMBEDDING__ENDPOINT__DIMENSIONS", "8");
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "1"]);
    let mut command = haat.command(&["crawl", "--release"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    asking.recv_timeout(Duration::from_secs(120)).unwrap();
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&document["state"], &document["interrupted"], &document["release"]),
        (&"finished".into(), &true.into(), &Value::Null)
    );
    assert_eq!(haat.run(&["release", "list"]).json()["releases"], json!([]));
}

#[test]
fn the_doctor_tells_a_damaged_registry_from_a_damaged_lake() {
    let haat = market();
    let entry = files(&haat.path().join("registry"), ".json").remove(0);
    let bytes = std::fs::read(&entry).unwrap();
    std::fs::write(&entry, &bytes[..20]).unwrap();
    let told = haat.run(&["doctor"]).document();
    let brands = findings(&told, "brands");
    let name = entry.file_name().unwrap().to_str().unwrap();
    assert!(brands[0]["found"].as_str().unwrap().contains(name), "{told}");
    assert_eq!(findings(&told, "lake")[0]["ok"], true, "{told}");
    assert!(!haat.path().join("doctor").exists());
    haat.run(&["lake", "repair"]).json();
    assert_eq!(std::fs::read(&entry).unwrap(), bytes);
}

#[test]
fn the_doctor_names_the_damaged_file_of_a_log_and_prints_no_backtrace() {
    let haat = market().with("RUST_BACKTRACE", "1");
    let log = files(&haat.path().join("lake/products/_delta_log"), "1.json").remove(0);
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 9]).unwrap();
    let told = haat.run(&["doctor"]);
    assert_eq!(told.code, 1);
    let name = log.strip_prefix(haat.path()).unwrap().to_str().unwrap();
    let lake = findings(&told.document(), "lake");
    assert_eq!(lake.len(), 1, "{lake:?}");
    assert!(lake[0]["found"].as_str().unwrap().starts_with(name), "{lake:?}");
    assert!(
        lake[0]["advice"].as_str().unwrap().contains("copy of the lake"),
        "{lake:?}"
    );
    assert!(!told.stdout.contains("poll_next"), "{}", told.stdout);
}

#[test]
fn the_doctor_says_which_lost_files_of_the_lake_a_new_crawl_can_make_good() {
    let haat = market();
    let advice = || {
        let told = haat.run(&["doctor"]);
        assert_eq!(told.code, 1, "{told:?}");
        findings(&told.document(), "lake")[0]["advice"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (table, removable) in [("price_history", false), ("variants", true)] {
        let file = files(&haat.path().join("lake").join(table), ".parquet").remove(0);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(advice().contains("from a copy of the lake"), "{table}");
        assert_eq!(advice().contains("`haat brands remove`"), removable, "{table}");
        std::fs::write(&file, bytes).unwrap();
    }
}

#[test]
fn the_doctor_names_a_log_that_lost_its_newest_entry_and_no_command_writes_over_it() {
    let haat = market();
    let log = files(&haat.path().join("lake/variants/_delta_log"), ".json");
    let newest = log.last().unwrap();
    let bytes = std::fs::read(newest).unwrap();
    let cut = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
    let name = newest.strip_prefix(haat.path().join("lake")).unwrap();
    for left in [None, Some(0), Some(cut)] {
        match left {
            Some(left) => std::fs::write(newest, &bytes[..left]).unwrap(),
            None => std::fs::remove_file(newest).unwrap(),
        }
        for args in [
            ["crawl"].as_slice(),
            &["sql", "select 1"],
            &["release", "build"],
            &["lake", "compact"],
        ] {
            let refused = haat.run(args);
            assert_eq!(refused.code, 1, "{args:?}: {refused:?}");
            assert!(refused.stderr.contains(name.to_str().unwrap()), "{}", refused.stderr);
            assert!(refused.stderr.contains("restore it from a copy"), "{}", refused.stderr);
        }
        let told = haat.run(&["doctor"]);
        let lake = findings(&told.document(), "lake");
        assert_eq!((told.code, lake.len()), (1, 1), "{lake:?}");
        assert!(
            lake[0]["found"].as_str().unwrap().contains(name.to_str().unwrap()),
            "{lake:?}"
        );
    }
    std::fs::write(newest, &bytes).unwrap();
    assert_eq!(haat.run(&["doctor"]).code, 0);
}

#[test]
fn the_doctor_names_an_entry_that_is_empty_in_the_middle_of_a_log() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "2", "--seed", "3"]);
    // The stores are added one after the other, so that the logs have entries in the middle.
    let brands = haat.run(&["brands", "list"]).json();
    for brand in brands["brands"].as_array().unwrap() {
        haat.run(&["crawl", "--brand", brand["slug"].as_str().unwrap()]).json();
    }
    for table in ["variants", "price_history"] {
        let log = files(&haat.path().join("lake").join(table).join("_delta_log"), ".json");
        assert_eq!(log.len(), 3, "{log:?}");
        let bytes = std::fs::read(&log[1]).unwrap();
        std::fs::write(&log[1], "").unwrap();
        let name = log[1].strip_prefix(haat.path().join("lake")).unwrap().to_str().unwrap();
        for args in [["crawl"].as_slice(), &["sql", "select 1"], &["release", "build"]] {
            let refused = haat.run(args);
            assert_eq!(refused.code, 1, "{args:?}: {refused:?}");
            assert!(refused.stderr.contains(name), "{}", refused.stderr);
        }
        let told = haat.run(&["doctor"]);
        let lake = findings(&told.document(), "lake");
        assert_eq!(told.code, 1, "{lake:?}");
        assert!(lake[0]["found"].as_str().unwrap().contains(name), "{lake:?}");
        std::fs::write(&log[1], bytes).unwrap();
    }
    haat.run(&["crawl", "--release"]).json();
}

#[test]
fn a_flipped_bit_is_found_by_the_doctor_keeps_its_brand_as_it_was_and_is_mended_by_a_forced_crawl() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "40", "--stores", "2", "--seed", "3"]);
    haat.run(&["crawl", "--release"]).json();
    let rows = || haat.sql("select count(*) n, count(distinct variant_id) v, sum(price_minor) s from price_history");
    let before = rows();
    for table in ["products", "variants"] {
        let file = files(&haat.path().join("lake").join(table), ".parquet").remove(0);
        let mut bytes = std::fs::read(&file).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 4;
        std::fs::write(&file, bytes).unwrap();
        let told = haat.run(&["doctor", "--thorough"]);
        let lake = findings(&told.document(), "lake");
        assert_eq!(told.code, 1, "{lake:?}");
        let name = file.strip_prefix(haat.path().join("lake")).unwrap().to_str().unwrap();
        assert!(lake[0]["found"].as_str().unwrap().contains(name), "{lake:?}");
        assert!(
            lake[0]["advice"].as_str().unwrap().contains("`haat crawl --force`"),
            "{lake:?}"
        );
        let kept = haat.run(&["release", "build", "--full"]);
        assert_eq!(kept.code, 3, "{kept:?}");
        let unreadable = &kept.document()["unreadable"];
        assert!(
            unreadable[0]["kept"] == true && unreadable[0]["files"][0] == name,
            "{kept:?}"
        );
        haat.run(&["crawl", "--force", "--release"]).json();
        haat.run(&["doctor", "--thorough"]).json();
        haat.run(&["release", "build", "--full"]).json();
    }
    assert_eq!(rows(), before, "no price changed");
}

#[test]
fn the_doctor_looks_at_the_files_of_a_lake_whose_tick_is_stuck() {
    let haat = market();
    // The rows of this unfinished tick are lost.
    let ticks = haat.path().join("lake/_ticks");
    let record = std::fs::read(ticks.join("00000000000000000001.json")).unwrap();
    let mut record: Value = serde_json::from_slice(&record).unwrap();
    (record["tick"], record["token"]) = (2.into(), "gone".into());
    // An unfinished tick of a crawl would be abandoned and repeated.
    record["kind"] = "compact".into();
    std::fs::write(ticks.join("00000000000000000002.json"), record.to_string()).unwrap();
    std::fs::remove_file(files(&haat.path().join("lake/variants"), ".parquet").remove(0)).unwrap();
    let told = haat.run(&["doctor"]);
    assert_eq!(told.code, 1);
    let lake = findings(&told.document(), "lake");
    let found = |at: usize| lake[at]["found"].as_str().unwrap();
    assert_eq!(lake.len(), 2, "{lake:?}");
    assert!(found(0).contains("tick 2 is incomplete"), "{lake:?}");
    assert!(found(1).contains(": missing"), "{lake:?}");
    assert_ne!(lake[0]["advice"], lake[1]["advice"]);
}

#[test]
fn a_release_that_was_rolled_back_does_not_come_back_unnoticed() {
    let haat = Haat::new();
    let source = ["--products", "40", "--stores", "2", "--seed", "3"];
    let (first, _) = haat.with_stores(&source);
    haat.run(&["crawl", "--release"]).json();
    drop(first);
    let (_second, _) = haat.with_stores(&[source.as_slice(), &["--epoch", "1"]].concat());
    let next = haat.run(&["crawl", "--release"]);
    assert_eq!(next.json()["release"]["rolled_back"], Value::Null);
    let bad = next.json()["release"]["release"].clone();
    haat.run(&["release", "rollback"]).json();
    // The exit codes of a build and of an unattended crawl report that they undo a rollback.
    let tried = haat.run(&["release", "build", "--dry-run"]);
    assert_eq!((tried.code, &tried.document()["rolled_back"]), (3, &bad));
    let back = haat.run(&["crawl", "--release"]);
    assert_eq!(back.code, 3, "{back:?}");
    assert_eq!(back.document()["release"]["rolled_back"], bad);
    assert!(back.stderr.contains(bad.as_str().unwrap()), "{}", back.stderr);
    // The release is current again, so nothing more is undone.
    assert_eq!(haat.run(&["release", "build"]).json()["rolled_back"], Value::Null);
}

#[test]
fn a_roll_back_from_a_release_whose_manifest_is_lost_says_so_and_goes_to_the_newest_that_is_there() {
    let haat = market();
    let manifests = || files(&haat.path().join("releases"), "/manifests/");
    let first = haat.run(&["release", "show"]).json()["id"].clone();
    let slug = haat.run(&["brands", "list"]).json()["brands"][0]["slug"].clone();
    haat.run(&["brands", "remove", slug.as_str().unwrap()]).json();
    let lost = haat.run(&["release", "build", "--accept-collapse"]).json()["release"].clone();
    let lost = lost.as_str().unwrap();
    let is_lost = |path: &std::path::PathBuf| path.to_string_lossy().contains(lost);
    let manifest = manifests().into_iter().find(is_lost).unwrap();
    std::fs::remove_file(manifest).unwrap();
    for (args, changed) in [
        (vec!["release", "rollback", "--dry-run"], false),
        (vec!["release", "rollback"], true),
    ] {
        let back = haat.run(&args);
        let said = format!("the manifest of the current release {lost} is missing");
        assert!(back.stderr.contains(&said), "{}", back.stderr);
        assert_eq!(back.json(), json!({ "from": lost, "to": first, "changed": changed }));
    }
    assert_eq!(haat.run(&["release", "show"]).json()["id"], first);
    std::fs::remove_file(manifests().remove(0)).unwrap();
    let nowhere = haat.run(&["release", "rollback"]);
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    assert!(nowhere.stderr.contains("there is no other release"), "{nowhere:?}");
}

#[test]
fn a_crawl_that_writes_nothing_makes_no_release() {
    let refused = Haat::new().run(&["crawl", "--dry-run", "--release"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("cannot be used with"), "{}", refused.stderr);
}

#[test]
fn a_home_without_brands_has_nothing_to_crawl_and_no_release_before() {
    let haat = Haat::new();
    for args in [["crawl"].as_slice(), &["crawl", "--release"]] {
        let told = haat.run(args);
        assert_eq!(told.code, 2, "{told:?}");
        assert!(
            told.stderr.contains("no brand is registered: run `haat brands add"),
            "{}",
            told.stderr
        );
    }
    let built = haat.run(&["release", "build"]);
    assert_eq!(built.code, 1, "{built:?}");
    assert!(built.stderr.contains("no release was published"), "{}", built.stderr);
    assert!(!built.stderr.contains("the previous one"), "{}", built.stderr);
}

#[test]
fn rows_with_two_columns_of_one_name_are_no_json() {
    let haat = Haat::new();
    let from = "from (values (1)) a(size), (values (2)) b(size)";
    let refused = haat.run(&["sql", &format!("select a.size, b.size {from}")]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("have the name size"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`as`"), "{}", refused.stderr);
    let named = haat.sql(&format!("select a.size, b.size as other {from}"));
    assert_eq!(named, [json!({"size": 1, "other": 2})]);
}

#[test]
fn a_brand_that_nobody_registered_is_wrong_usage() {
    let haat = market();
    for args in [
        ["brands", "remove", "nope"].as_slice(),
        &["crawl", "--brand", "nope"],
        &["crawl", "--confirm", "nope"],
    ] {
        let told = haat.run(args);
        assert_eq!(told.code, 2, "{args:?}: {told:?}");
        assert!(told.stderr.contains("nope"), "{}", told.stderr);
    }
    let brands = haat.run(&["brands", "list"]).json();
    let slug = brands["brands"][0]["slug"].as_str().unwrap();
    let tried = haat.run(&["brands", "remove", slug, "--dry-run"]).json();
    assert_eq!((&tried["dry_run"], &tried["removed"]), (&true.into(), &false.into()));
}

#[test]
fn a_choice_that_is_none_lists_those_that_are() {
    for (key, listed) in [
        ("HAAT_LOG__FORMAT", "log.format must be one of text, json"),
        (
            "HAAT_EMBEDDING__EMBEDDER",
            "embedding.embedder must be one of table, transformer, endpoint, none",
        ),
    ] {
        let told = Haat::new().with(key, "xml").run(&["config"]);
        assert_eq!(told.code, 2, "{told:?}");
        assert!(told.stderr.contains(listed), "{}", told.stderr);
    }
}

#[test]
fn lists_are_counted_in_words_and_stand_in_columns() {
    let haat = market();
    let brands = haat.told(&["brands", "list"]);
    let columns: Vec<_> = brands.lines().filter_map(|line| line.find("http://")).collect();
    assert_eq!(columns.len(), 2, "{brands}");
    assert_eq!(columns[0], columns[1], "{brands}");
    assert!(brands.ends_with("\n2 brands\n"), "{brands}");
    let releases = haat.told(&["release", "list"]);
    assert!(releases.ends_with("\n1 release\n"), "{releases}");
    let haat = haat.with("HAAT_RELEASE__GC_MIN_AGE_S", "1800");
    let tried = haat.told(&["release", "gc", "--dry-run"]);
    assert!(tried.contains("0 bytes of the cache would be removed"), "{tried}");
    assert!(tried.contains("younger than 30 min are kept"), "{tried}");
}

#[test]
fn a_look_at_an_address_makes_no_home_and_says_what_to_try_where_nothing_answers() {
    let haat = Haat::new().with("HAAT_STOREFRONT__RETRIES_MAX", "0");
    let home = haat.path().join("new");
    let haat = haat.at(home.to_str().unwrap());
    let tried = haat.run(&["brands", "add", "--dry-run", "127.0.0.1:9"]);
    assert_eq!(tried.code, 3, "{tried:?}");
    let found = tried.document()["brands"][0]["found"].as_str().unwrap().to_owned();
    assert!(found.contains("write http://127.0.0.1:9"), "{found}");
    assert!(!home.exists());
    let named = haat.run(&["brands", "add", "--dry-run", "http://127.0.0.1:9"]);
    assert!(!named.stdout.contains("write http"), "{}", named.stdout);
}

#[test]
fn stores_are_registered_from_a_file_or_from_standard_input() {
    let haat = Haat::new();
    let (_serving, stores) = haat.serve(&["emulate", "--products", "30", "--stores", "3"]);
    let urls: Vec<_> = stores["stores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|store| store["base_url"].as_str().unwrap())
        .collect();
    let list = haat.path().join("stores.txt");
    std::fs::write(&list, format!("# ours\n{}  # the first\n\n{}\n", urls[0], urls[1])).unwrap();
    let added = haat
        .run(&["brands", "add", "--moved", "--from", list.to_str().unwrap()])
        .json();
    assert_eq!((&added["named"], &added["interrupted"]), (&2.into(), &false.into()));
    // Each registration is an event of its own, so brands that were registered before a signal stay.
    assert_eq!(files(&haat.path().join("registry"), ".json").len(), 2);
    let mut command = haat.command(&["brands", "add", "--moved", "--from", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), urls[2].as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(
        haat.run(&["brands", "list"]).json()["brands"].as_array().unwrap().len(),
        3
    );
    for (file, told) in [
        ("/nowhere.txt", "--from /nowhere.txt"),
        ("/dev/null", "no store is given"),
    ] {
        let refused = haat.run(&["brands", "add", "--from", file]);
        assert!(refused.code == 2 && refused.stderr.contains(told), "{refused:?}");
    }
}

#[test]
fn a_crawl_leaves_its_metrics_in_a_file_that_is_whole() {
    let haat = Haat::new();
    let folder = haat.path().join("collector");
    std::fs::create_dir(&folder).unwrap();
    let haat = haat.with("HAAT_METRICS__TEXTFILE", folder.join("haat.prom").to_str().unwrap());
    let (stores, _) = haat.with_stores(&["--products", "30", "--stores", "3"]);
    let crawled = haat.run(&["crawl"]).json();
    let metrics = || std::fs::read_to_string(folder.join("haat.prom")).unwrap();
    let text = metrics();
    let bytes = format!("crawl_last_received_bytes {}\n", crawled["totals"]["bytes"]);
    for line in [
        "crawl_last_stores{outcome=\"changed\"} 3\n",
        "crawl_last_stores{outcome=\"failed\"} 0\n",
        "crawl_last_products 30\n",
        "crawl_last_exit_code 0\n",
        "# TYPE crawl_last_end_timestamp_seconds gauge\n",
        &bytes,
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    drop(stores);
    let haat = haat.with("HAAT_STOREFRONT__RETRIES_MAX", "0");
    assert_eq!(haat.run(&["crawl"]).code, 3);
    let text = metrics();
    assert!(text.contains("crawl_last_stores{outcome=\"failed\"} 3\n"), "{text}");
    assert!(text.contains("crawl_last_exit_code 3\n"), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    // A file that cannot be written causes only a warning.
    std::fs::remove_dir_all(&folder).unwrap();
    let unwritten = haat.run(&["crawl"]);
    assert!(
        unwritten.code == 3 && unwritten.stderr.contains("metrics.textfile: cannot write"),
        "{unwritten:?}"
    );
}

#[test]
fn a_server_without_a_release_says_what_to_run() {
    let haat = Haat::new();
    let mut command = haat.command(&["query-server", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stderr.take().unwrap()), &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        line.contains("no release exists under") && line.contains("`haat crawl --release`"),
        "{line}"
    );
}
